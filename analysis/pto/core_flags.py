"""Flags between cores as the text has them: numbers, modes, and which cores a wait is for.

The mode of a flag says between whom it is (FFTS): 0 all cores of one kind, 1 both vector cores of a block, 2 the cube
core and the vector cores of a block. A wait takes one set of each of them. `pto.set_intra_block` is between these too,
and its flags are others: on a5 those of a cube core from 16 on are of the second vector core, if the program has any.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation

from ...dialects.pto.instructions import InstructionOp

ALL_OF_A_KIND, VECTORS_OF_A_BLOCK, BLOCK, INTRA_BLOCK = MODES = range(4)
"""The modes, and what is none of them."""

FLAGS_OF_A_CORE = 16
"""Flags of a vector core of a5; those of the second are behind them."""

FLAGS = 2 * FLAGS_OF_A_CORE
"""Numbers of flags that any chip has."""

_MODES = {"set_cross_block": ALL_OF_A_KIND, "wait_cross_block": ALL_OF_A_KIND, "set_intra_block": INTRA_BLOCK,
          "wait_intra_block": INTRA_BLOCK}  # fmt: skip
"""The modes of operations that state none."""

SETS = ("sync.set", "set_cross_block", "set_intra_block")
WAITS = ("sync.wait", "wait_cross_block", "wait_intra_block")
"""Operations that raise a flag, and that wait for one."""


def _integer(attribute: Attribute | None) -> int | None:
    return cast("IntegerAttr[IntegerType]", attribute).value.data if isinstance(attribute, IntegerAttr) else None


def stated_number(op: InstructionOp) -> int | None:
    """Return the number of a flag that the text has; None for one that is computed."""
    return _integer(op.attribute("event_id"))


def _stated_mode(op: InstructionOp) -> int | None:
    mode = _integer(op.attribute("ffts_mode"))
    return _MODES.get(op.row.name) if mode is None else mode


@dataclass
class FlagsOfProgram:
    """Flags between cores as a program states them."""

    uses_second: bool = False
    """True if it has flags of the second vector core."""
    of_a_block: bool = False
    """True if some are between cores of one block."""
    modes: dict[int | None, set[int]] = field(default_factory=dict[int | None, "set[int]"])
    """The modes in which each is set somewhere; None is for numbers that are computed."""

    sets: list[InstructionOp] = field(default_factory=list[InstructionOp])
    """The operations that raise flags."""

    def sets_of(self, number: int | None, mode: int) -> list[InstructionOp]:
        """Return the operations that raise a flag, or may: those with its number, and with one that is computed."""
        size = FLAGS_OF_A_CORE if mode == INTRA_BLOCK and self.uses_second else FLAGS
        known = [(op, stated_number(op)) for op in self.sets]
        return [op for op, own in known if number is None or own is None or own % size == number % size]

    def mode_of(self, op: InstructionOp, number: int | None) -> int:
        """Return the mode of an operation: the stated one; that of all sets of its flag for a wait that has none."""
        stated = _stated_mode(op)
        if stated is not None or op.row.name not in WAITS:
            return BLOCK if stated is None else stated
        modes = self.modes_of(number)
        return next(iter(modes)) if len(modes) == 1 else BLOCK

    def modes_of(self, number: int | None) -> set[int]:
        """Return the modes in which a flag may be set; those of all flags if none says that it is this one."""
        of_it = set[int]() if number is None else self.modes.get(number, set()) | self.modes.get(None, set())
        return of_it or set[int]().union(*self.modes.values())

    def key(self, mode: int, number: int, column: int) -> int:
        """Return the number by which both ends know a flag: that of the second vector core is the cube core's."""
        if mode != INTRA_BLOCK or not self.uses_second:
            return number
        is_second = column == 2 if column else number >= FLAGS_OF_A_CORE
        return number % FLAGS_OF_A_CORE + FLAGS_OF_A_CORE * is_second

    def columns(self, mode: int, number: int, column: int, present: Iterable[int]) -> list[int]:
        """Return the columns of a block, of those present, of whose cores a wait takes a set.

        The cube core is in column 0. In mode 0 those of all other blocks are meant too.
        """
        if mode == ALL_OF_A_KIND:
            return [each for each in present if (each == 0) == (column == 0)]
        if mode == VECTORS_OF_A_BLOCK:
            return [each for each in present if each]
        if column:
            return [each for each in present if each == 0]
        if mode == INTRA_BLOCK and self.uses_second:
            return [each for each in present if each == (2 if number >= FLAGS_OF_A_CORE else 1)]
        return [each for each in present if each]


def flags_of_program(operations: Iterable[Operation], chip: str) -> FlagsOfProgram:
    """Return what the operations of a program say of its flags between cores."""
    found = FlagsOfProgram()
    flags = [op for op in operations if isinstance(op, InstructionOp) and op.row.name in (*SETS, *WAITS)]
    for op in flags:
        number = stated_number(op)
        of_second = op.row.name.endswith("_intra_block") and (number or 0) >= FLAGS_OF_A_CORE
        found.uses_second |= chip == "a5" and of_second
        if op.row.name in SETS:
            found.sets.append(op)
        if op.row.name == "sync.set":
            found.modes.setdefault(number, set()).add(found.mode_of(op, number))
    found.of_a_block = any(found.mode_of(op, stated_number(op)) != ALL_OF_A_KIND for op in flags)
    return found
