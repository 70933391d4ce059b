"""A body on its way to code: values and their registers, costs that are not charged yet, labels.

What each operation becomes is in the modules beside this one; they call the methods here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...diagnostics.errors import LoomError
from ...diagnostics.records import record
from ...dialects import flow
from ...dialects.scalar_types import kind_of
from ...runtime.tables.format import COST_CLASSES
from ...runtime.tables.instructions import CONTROL_NUMBER, COST, COSTS, FRAME_DESCRIPTOR, KIND, SLOT, STATIC_DESCRIPTOR
from .branches import Branches
from .code import DESCRIPTOR, JUMP, MOVE, NOTHING, TICK, Code, Instruction, Slot, encode, forward_copies
from .registers import allocate
from .values import Known

if TYPE_CHECKING:
    from .units import Units

Handler: TypeAlias = "Callable[[Body, Any], None]"

MAX_HALFWORD = 0xFFFF

MAX_REGISTERS = STATIC_DESCRIPTOR
"""Registers that an operation can name."""

MAX_DESCRIPTORS = (1 << 16) - FRAME_DESCRIPTOR - 1
"""Static descriptors, and frame descriptors, that an operation can name."""


@record
class Template:
    """Code, and what a use of it names, before it has rows.

    It is the code of every class that has these `answers` to `Units.answer`. `numbers` are rows; `descriptors` and
    `slots` are named by what `Units` finds their rows by.
    """

    body: int
    numbers: tuple[int, ...]
    descriptors: tuple[tuple[Any, ...], ...]
    slots: tuple[tuple[str, Any], ...]
    answers: dict[tuple[str, str], Any]
    sees_clock: bool


class Body:
    """The code of a task, of a function, or of what runs at the start.

    `is_free` code costs nothing. A value of IR is `Known`, or the number of a virtual register or descriptor.
    """

    def __init__(
        self,
        units: Units,
        name: str,
        where: str | None,
        handlers: Mapping[type[Operation], Handler],
        *,
        is_free: bool = False,
    ):
        self.units = units
        self.sections = units.sections
        self.name = name
        self.place = units.sections.string(where)
        self.handlers = handlers
        self.is_free = is_free
        self.values: dict[SSAValue, Any] = {}
        self.code: Code = []
        self.prologue: Code = []
        """Reads of values that are constant for a PE, before everything else."""
        self.own: dict[Any, int] = {}
        self.labels: list[int] = []
        self.loops: list[tuple[int, int]] = []
        self.is_descriptor: list[bool] = []
        self.groups: list[Sequence[int]] = []
        self.numbers: dict[int, int] = {}
        self.descriptors: dict[tuple[Any, ...], int] = {}
        self.answers: dict[tuple[str, str], Any] = {("traps", ""): units.traps}
        self.pending = [0] * len(COSTS)
        self.branches = Branches()
        self.where = self.place
        """The place of the operation that instructions are emitted for."""
        self.inlined: list[str] = []
        self.sees_clock = False
        """True if something in it, or called by it, depends on the clock."""
        self.arguments: list[int] = []
        self.kinds: list[int] = []
        self.results = 0

    # Values

    def new(self, type: Attribute) -> int:
        """Return a new virtual register, or descriptor for a stream or tile."""
        self.is_descriptor.append(isinstance(type, flow.StreamType | flow.TileType))
        return len(self.is_descriptor) - 1

    def register(self) -> int:
        """Return a new virtual register."""
        self.is_descriptor.append(False)
        return len(self.is_descriptor) - 1

    def group(self, count: int) -> list[int]:
        """Return new virtual registers that are to be consecutive."""
        members = [self.register() for _ in range(count)]
        if count > 1:
            self.groups.append(members)
        return members

    def number(self, bits: int) -> int:
        """Return the register of a number of the use."""
        return -1 - self.numbers.setdefault(bits, len(self.numbers))

    def static(
        self, type: int, name: str | None, address: int, extents: Sequence[int], strides: Sequence[int], kind: int,
        dimensions: int, flags: int,
    ) -> int:  # fmt: skip
        """Return the operand of a static descriptor of the use; `address` is that in the buffer of a name."""
        key = type, name, address, tuple(extents), tuple(strides), kind, dimensions, flags
        return -1 - self.descriptors.setdefault(key, len(self.descriptors))

    def depend(self, what: str, name: str) -> None:
        """Note that the code depends on something of the class."""
        question = what, name
        if question not in self.answers:
            self.answers[question] = self.units.answer(what, name)

    def use(self, value: SSAValue) -> int:
        """Return the register or descriptor of a value."""
        found = self.values[value]
        if type(found) is not Known:
            return found
        if found.kind is None:
            raise LoomError(f"the engine cannot compute with a value of type {value.type}; use another type")
        return self.number(found.bits)

    def known(self, value: SSAValue) -> Any:
        """Return what a value is known to be, as a register holds it; None if it is not known."""
        found = self.values[value]
        return found.bits if type(found) is Known else None

    def define(self, value: SSAValue) -> int:
        """Return the new virtual register or descriptor of a value."""
        found = self.values[value] = self.new(value.type)
        return found

    def define_known(self, value: SSAValue, number: int) -> None:
        """Note what a value is, as a register holds it."""
        self.values[value] = Known(number, kind_of(value.type))

    def together(self, operands: Sequence[int]) -> tuple[int, Sequence[int]]:
        """Return the first of consecutive registers that hold some values, and all of them."""
        if len(operands) < 2:
            return (operands[0] if operands else NOTHING), operands
        members = self.group(len(operands))
        for member, operand in zip(members, operands, strict=True):
            self.emit(MOVE, member, operand, 0, [member], [operand])
        return members[0], members

    # Instructions

    def emit(
        self,
        op: int,
        a: int | Slot = 0,
        b: int | Slot = 0,
        c: int | Slot = 0,
        defs: Sequence[int] = (),
        uses: Sequence[int] = (),
        *,
        early: bool = False,
    ) -> None:
        """Append an instruction; of `defs` and `uses` those below 0 do not count."""
        self.code.append(
            Instruction(op, a, b, c, self.where, defs, [operand for operand in uses if operand >= 0], early)
        )

    def control(
        self,
        name: str,
        a: int | Slot = 0,
        b: int | Slot = 0,
        c: int | Slot = 0,
        defs: Sequence[int] = (),
        uses: Sequence[int] = (),
        *,
        early: bool = False,
    ) -> None:
        """Append an instruction of `instructions.CONTROL`."""
        self.emit(CONTROL_NUMBER[name], a, b, c, defs, uses, early=early)

    def label(self) -> int:
        """Return a new label, which is here until it is moved by `mark`."""
        self.labels.append(len(self.code))
        return len(self.labels) - 1

    def mark(self, label: int) -> None:
        """Put a label here."""
        self.labels[label] = len(self.code)

    def jump(self, label: int) -> None:
        """Append a jump to a label."""
        self.emit(JUMP, 0, label)

    def copies(self, sources: Sequence[int], targets: Sequence[int]) -> None:
        """Append a parallel copy between registers, and between descriptors."""
        waiting = {target: source for source, target in zip(sources, targets, strict=True) if source != target}
        while waiting:
            read = set(waiting.values())
            free = [target for target in waiting if target not in read]
            if not free:
                # All that is left are circles: one value steps aside.
                target = next(iter(waiting))
                self.is_descriptor.append(self.is_descriptor[target])
                aside = len(self.is_descriptor) - 1
                self._copy(target, aside)
                for other, source in waiting.items():
                    if source == target:
                        waiting[other] = aside
                continue
            for target in free:
                self._copy(waiting.pop(target), target)

    def _copy(self, source: int, target: int) -> None:
        self.emit(DESCRIPTOR if self.is_descriptor[target] else MOVE, target, source, 0, [target], [source])

    # Costs

    def charge(self, *costs: str) -> None:
        """Note an instruction of each of these classes of costs."""
        for cost in costs:
            self.pending[COST[cost]] += 1

    def pending_with(self, cost: str) -> list[int]:
        """Return what is pending, and one instruction of a class more."""
        pending = list(self.pending)
        pending[COST[cost]] += 1
        return pending

    def settle(self) -> None:
        """Charge what is pending."""
        while any(self.pending) and not self.is_free:
            share = tuple(min(count, MAX_HALFWORD) for count in self.pending)
            row = self.sections.intern("costs", share + (0,) * (COST_CLASSES - len(share)))
            if row > MAX_HALFWORD:
                raise LoomError(f"the program has more than {MAX_HALFWORD + 1} kinds of costs; make it smaller")
            self.emit(TICK, row)
            for cost, count in enumerate(share):
                self.pending[cost] -= count

    def observe(self) -> None:
        """Charge what is pending, since what follows depends on the clock."""
        self.sees_clock = True
        self.settle()

    # Operations

    def own_value(self, key: Any, name: str, operand: int | Slot) -> int:
        """Return the register of what is constant for a PE, read once, at the start."""
        found = self.own.get(key)
        if found is None:
            found = self.own[key] = self.register()
            self.prologue.append(Instruction(CONTROL_NUMBER[name], found, operand, 0, self.where, [found], []))
        return found

    def block(self, block: Block) -> None:
        """Append the code of a block."""
        for op in block.ops:
            self.operation(op)

    def operation(self, op: Operation) -> None:
        """Append the code of an operation."""
        self.where = self.sections.place(op)
        self.handlers.get(type(op), self.handlers[Operation])(self, op)

    # The body

    def start(self, block: Block) -> None:
        """Define the arguments."""
        for argument in block.args:
            kind = kind_of(argument.type)
            if kind is None:
                raise LoomError(f"argument of type {argument.type} in {self.name} is not a scalar")
            self.arguments.append(self.define(argument))
            self.kinds.append(KIND[kind])

    def finish(self) -> Template:
        """Return the code."""
        offset = len(self.prologue)
        code = self.prologue + self.code
        labels = [place + offset for place in self.labels]
        grouped = {register for group in self.groups for register in group}
        forward_copies(code, labels, len(self.is_descriptor), grouped)
        loops = [(start + offset, end + offset) for start, end in self.loops]
        places, registers, descriptors = allocate(code, self.is_descriptor, self.groups, loops, self.arguments)
        numbers = len(self.numbers)
        slots: dict[Any, int] = {}
        words, where = encode(code, labels, places, numbers, slots)
        if (
            numbers + registers > MAX_REGISTERS
            or max(descriptors, len(self.descriptors)) > MAX_DESCRIPTORS
            or len(slots) > MAX_HALFWORD
        ):
            raise LoomError(
                f"@{self.name} is too large: it needs {numbers + registers} registers, {descriptors} and "
                f"{len(self.descriptors)} descriptors, and names {len(slots)} things; put a part of it into a "
                "function of its own"
            )
        body = self.sections.intern_body(
            np.asarray(words, np.uint16).reshape(-1, 4), where, self.kinds, [SLOT[kind] for kind, _ in slots],
            (
                numbers + registers, numbers, len(self.descriptors), descriptors, len(self.arguments), self.results,
                len(slots),
            ),
            self.name, self.place,
        )  # fmt: skip
        rows = tuple(self.sections.number(bits) for bits in self.numbers)
        return Template(body, rows, tuple(self.descriptors), tuple(slots), self.answers, self.sees_clock)
