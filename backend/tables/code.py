"""Code under construction: instructions on virtual registers, and how they become those of a body.

Virtual registers and frame descriptors are numbered together from 0. What a body finds in place has negative numbers:
-1 - k is number k of its use where a register is meant, and static descriptor k where a descriptor is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from ...runtime.tables.instructions import (
    CONTROL_NUMBER,
    FIRST_SCALAR,
    FRAME_DESCRIPTOR,
    NO_REGISTER,
    OPERANDS,
    SCALARS,
    STATIC_DESCRIPTOR,
)

MOVE, SELECT = CONTROL_NUMBER["move"], CONTROL_NUMBER["select"]
JUMP, TICK, DESCRIPTOR = CONTROL_NUMBER["jump"], CONTROL_NUMBER["tick"], CONTROL_NUMBER["descriptor"]

ROLES: dict[int, str] = {CONTROL_NUMBER[name]: roles for name, roles in OPERANDS.items()} | {
    FIRST_SCALAR + place: "wr." if len(row.kinds) == 1 else "wrr" if len(row.kinds) == 2 else "mrr"
    for place, row in enumerate(SCALARS)
}
"""Roles of the operands a, b and c, as in `instructions.OPERANDS`."""

PURE = frozenset({MOVE, CONTROL_NUMBER["column"], CONTROL_NUMBER["coordinate"]})
"""Instructions, beside those on scalars, that do nothing but write register a."""

_JUMPS = frozenset(CONTROL_NUMBER[name] for name in ("jump", "branch_false", "branch_true", "for_test"))

COPIES = frozenset({MOVE, DESCRIPTOR})

_MAX_LOOK_BACK = 64

NOTHING = -(1 << 40)
"""In place of a virtual register: none."""

Place: TypeAlias = Callable[[int], int]
"""Returns the operand of a virtual register or descriptor."""


class Late:
    """A row of a slot that names registers or descriptors: made when these have their numbers."""

    __slots__ = ("kind", "make")

    def __init__(self, kind: str, make: Callable[[Place, Place], Any]):
        self.kind = kind
        self.make = make


Slot: TypeAlias = "tuple[str, Any] | Late"
"""A kind of slot, and the row of it, or what `Units` finds the row by."""


class Instruction:
    """An instruction with its virtual operands, the ones it writes and the ones it reads, from 0.

    `early` says that it writes before it has read everything.
    """

    __slots__ = ("a", "b", "c", "defs", "early", "op", "uses", "where")

    def __init__(
        self,
        op: int,
        a: int | Slot,
        b: int | Slot,
        c: int | Slot,
        where: int,
        defs: Sequence[int],
        uses: Sequence[int],
        early: bool = False,
    ):
        self.op = op
        self.a = a
        self.b = b
        self.c = c
        self.where = where
        self.defs = defs
        self.uses = uses
        self.early = early


Code: TypeAlias = "list[Instruction | None]"
"""With None in place of an instruction that has been removed; jumps name labels."""


def forward_copies(code: Code, labels: Iterable[int], count: int, grouped: Iterable[int]) -> None:
    """Let what computes a value that is only copied write to where the copy goes; remove values that nothing reads.

    `labels` are the positions that jumps lead to, `count` is that of virtual registers, those `grouped` have their
    places beside others.
    """
    reads, writes = [0] * count, [0] * count
    for instruction in code:
        if instruction is not None:
            for register in instruction.uses:
                reads[register] += 1
            for register in instruction.defs:
                writes[register] += 1
    targets, fixed = set(labels), set(grouped)
    for position, copy in enumerate(code):
        if copy is None or copy.op != MOVE:
            continue
        source, target = copy.b, copy.a
        assert isinstance(source, int) and isinstance(target, int)
        if source < 0 or reads[source] != 1 or writes[source] != 1 or source in fixed or position in targets:
            continue
        for place in range(position - 1, max(position - _MAX_LOOK_BACK, 0) - 1, -1):
            before = code[place]
            if before is None:
                if place in targets:
                    break
                continue
            if source in before.defs:
                if before.a == source and (before.op >= FIRST_SCALAR or ROLES[before.op][0] == "w"):
                    before.a = target
                    before.defs = (target,)
                    code[position] = None
                break
            if place in targets or before.op in _JUMPS or target in before.defs or target in before.uses:
                break
    for position in range(len(code) - 1, -1, -1):
        instruction = code[position]
        if instruction is None or not (instruction.op >= FIRST_SCALAR or instruction.op in PURE):
            continue
        if not reads[instruction.defs[0]]:
            for register in instruction.uses:
                reads[register] -= 1
            code[position] = None


def encode(
    code: Code,
    labels: Sequence[int],
    places: Sequence[int],
    numbers: int,
    slots: dict[tuple[str, Any], int],
) -> tuple[list[int], list[int]]:
    """Return the halfwords of the instructions, and their source places.

    `places` has the register or frame descriptor of each virtual one, behind `numbers` numbers. Slots are added.
    """

    def register(operand: int) -> int:
        if operand < 0:
            return NO_REGISTER if operand == NOTHING else -1 - operand
        return numbers + places[operand]

    def descriptor(operand: int) -> int:
        return STATIC_DESCRIPTOR - 1 - operand if operand < 0 else FRAME_DESCRIPTOR + places[operand]

    kept: list[Instruction] = []
    position_of: list[int] = []
    for instruction in code:
        position_of.append(len(kept))
        if instruction is None:
            continue
        if instruction.op in COPIES:
            source, target = instruction.b, instruction.a
            assert isinstance(source, int) and isinstance(target, int)
            if source >= 0 and places[source] == places[target]:
                continue
        kept.append(instruction)
    position_of.append(len(kept))
    words: list[int] = []
    for instruction in kept:
        words.append(instruction.op)
        jump = -1
        for role, operand in zip(ROLES[instruction.op], (instruction.a, instruction.b, instruction.c), strict=True):
            if isinstance(operand, int):
                if role in "rwm":
                    words.append(register(operand))
                elif role in "dDM":
                    words.append(descriptor(operand))
                elif role in "tix":
                    words.append(operand)
                elif role == "j":
                    jump = position_of[labels[operand]]
                    words += (jump & 0xFFFF, jump >> 16)
                elif jump < 0:
                    words.append(0)
                continue
            key = (operand.kind, operand.make(register, descriptor)) if isinstance(operand, Late) else operand
            words.append(slots.setdefault(key, len(slots)))
    return words, [instruction.where for instruction in kept]
