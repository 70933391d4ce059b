"""Flags between cores in a dry run: `pto.sync.set`, `pto.sync.wait` and their kin, as counters that sets raise.

The mode of a flag says between whom it is (FFTS): 0 all cores of one kind, 1 both vector cores of a block, 2 the cube
core and the vector cores of a block. A wait takes one set of each of them. `pto.set_intra_block` is between these too,
and its flags are others: on a5 those of a cube core from 16 on are of the second vector core, if the program has any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Operation

from ....dialects.pto.attributes import HardwarePipe, HardwarePipeAttr
from ....dialects.pto.instructions import OPERATIONS, InstructionOp
from .core_flags_state import CoreFlags
from .core_state import CoreState, Waiting
from .trace import Core, Problem

ALL_OF_A_KIND, VECTORS_OF_A_BLOCK, BLOCK, INTRA_BLOCK = 0, 1, 2, 3
"""The modes, and what is none of them."""

FLAGS_OF_A_CORE = 16
"""Flags of a vector core of a5; those of the second are behind them."""

_MODES = {"set_cross_block": ALL_OF_A_KIND, "wait_cross_block": ALL_OF_A_KIND, "set_intra_block": INTRA_BLOCK,
          "wait_intra_block": INTRA_BLOCK}  # fmt: skip
"""The modes of operations that state none."""


class CoreFlagOperations(CoreState):
    """Executes the operations of a core on flags between cores."""

    def _flag_of(self, op: InstructionOp) -> int | None:
        """Return the number of the flag; None if it is not known, which is noted."""
        stated, dynamic = op.attribute("event_id"), op.operand("event_id_dyn")
        number: Any = None
        if isinstance(stated, IntegerAttr):
            number = cast("IntegerAttr[IntegerType]", stated).value.data
        elif dynamic is not None:
            number = self.values.get(dynamic)
        if number is None:
            self.trace.orders_cores = True
            self.trace.unchecked.setdefault(op, "the number of its flag is not known here")
        return number

    def _mode_of(self, op: InstructionOp, number: int) -> int:
        stated = op.attribute("ffts_mode")
        if isinstance(stated, IntegerAttr):
            return cast("IntegerAttr[IntegerType]", stated).value.data
        if op.row.name in _MODES:
            return _MODES[op.row.name]
        modes = self.core_flags.modes.get(number, set())
        return next(iter(modes)) if op.row.name == "sync.wait" and len(modes) == 1 else BLOCK

    def _partners(self, mode: int, number: int) -> list[int]:
        """Return the cores of which a wait takes a set."""
        here, cores = self.place, self.trace.cores

        def is_partner(core: Core) -> bool:
            if core.device != here.device:
                return False
            if mode == ALL_OF_A_KIND:
                return (core.column == 0) == (here.column == 0)
            if core.block != here.block:
                return False
            if mode == VECTORS_OF_A_BLOCK:
                return core.column > 0
            if here.column > 0:
                return core.column == 0
            if mode == INTRA_BLOCK and self.core_flags.uses_second:
                return core.column == (2 if number >= FLAGS_OF_A_CORE else 1)
            return core.column > 0

        return [place for place, core in enumerate(cores) if is_partner(core)]

    def _key(self, mode: int, number: int) -> int:
        """Return the number by which both ends know a flag: that of the second vector core is the cube core's."""
        if mode != INTRA_BLOCK or not self.core_flags.uses_second:
            return number
        return number % FLAGS_OF_A_CORE + FLAGS_OF_A_CORE * (
            self.place.column == 2 if self.place.column else number >= FLAGS_OF_A_CORE
        )

    def _set(self, op: InstructionOp) -> None:
        number = self._flag_of(op)
        pipe = op.attribute("pipe")
        if number is None:
            return
        mode = self._mode_of(op, number)
        step = self._step(op, "set", pipe.data if isinstance(pipe, HardwarePipeAttr) else HardwarePipe.S)
        self.core_flags.raised.setdefault((mode, self._key(mode, number), self.core), []).append(step)

    def _wait(self, op: InstructionOp) -> Waiting:
        number = self._flag_of(op)
        if number is None:
            return
        flags, mode = self.core_flags, self._mode_of(op, number)
        key, partners = self._key(mode, number), self._partners(mode, number)
        if not partners:
            # Whoever raises it is not in this program.
            self.trace.orders_cores = True
            self.trace.unchecked.setdefault(op, "no core of this program sets its flag")
            return
        count = flags.taken.get((mode, key, self.core), 0)
        flags.taken[mode, key, self.core] = count + 1

        def missing() -> list[int]:
            return [core for core in partners if len(flags.raised.get((mode, key, core), ())) <= count]

        while late := missing():
            flags.stuck[self.core] = op, number, late
            yield
        flags.stuck.pop(self.core, None)
        self._step(op, "wait", HardwarePipe.S, after=tuple(flags.raised[mode, key, core][count] for core in partners))

    HANDLERS: ClassVar[Mapping[type[Operation], Callable[[Any, Any], None]]] = {
        OPERATIONS["sync.set"]: _set,
        OPERATIONS["set_cross_block"]: _set,
        OPERATIONS["set_intra_block"]: _set,
    }

    WAITING: ClassVar[Mapping[type[Operation], Callable[[Any, Any], Waiting]]] = {
        OPERATIONS["sync.wait"]: _wait,
        OPERATIONS["wait_cross_block"]: _wait,
        OPERATIONS["wait_intra_block"]: _wait,
    }

    def report_stuck(self, ended: set[int]) -> None:
        """Report that the core waits for a flag of a core that has ended."""
        if self.core not in self.core_flags.stuck:
            return
        op, number, late = self.core_flags.stuck[self.core]
        gone = next((core for core in late if core in ended), None)
        if gone is not None:
            self.trace.report(
                Problem(
                    "unset-flag",
                    op,
                    f"{self.place} waits for flag {number} of {self.trace.cores[gone]}, which has ended without "
                    "setting it for this wait, so it waits forever; set it before",
                )
            )


def flags_of(operations: Sequence[Operation], chip: str) -> CoreFlags:
    """Return the flags of a program, with what its text says of them."""
    found = CoreFlags()
    for op in operations:
        if not isinstance(op, InstructionOp) or op.attribute("pipe") is None:
            continue
        stated = op.attribute("event_id")
        number = cast("IntegerAttr[IntegerType]", stated).value.data if isinstance(stated, IntegerAttr) else None
        if number is None:
            continue
        found.uses_second |= chip == "a5" and op.row.name.endswith("_intra_block") and number >= FLAGS_OF_A_CORE
        if op.row.name == "sync.set":
            mode = op.attribute("ffts_mode")
            value = cast("IntegerAttr[IntegerType]", mode).value.data if isinstance(mode, IntegerAttr) else BLOCK
            found.modes.setdefault(number, set()).add(value)
    return found
