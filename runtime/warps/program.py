"""Compiler from the functions of a `flow.units` to closures over value slots.

One pass over the operations; afterwards nothing walks IR. Constants become initial slots, structured control flow
becomes jumps with a known join.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation, SSAValue

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...dialects import flow
from ...operations import integers
from .codegen import Nesting, assertion, division_by_zero, generate, worth_generating
from .scalars import DTYPES, constant, function_of, kind_of
from .tile_entries import compile_entry, entry_at
from .tile_program import HANDLERS as TILE_HANDLERS
from .units import UnitSet, every, from_mask, some
from .warp import FINISHED, Code, Instruction, LoopTest, Warp, diverge

if TYPE_CHECKING:
    from .machine import WarpMachine
    from .unit_class import UnitClass


def compile_body(machine: WarpMachine, cls: UnitClass, name: str, block: Block) -> Code:
    """Return the code of a function. Raises LoomError for an operation that cores do not execute."""
    return Body(machine, cls, name, block).compile(block)


class Body:
    """One body on its way to a `Code`: the slots of its values and the instructions so far."""

    def __init__(self, machine: WarpMachine, cls: UnitClass, name: str, block: Block):
        self.machine = machine
        self.cls = cls
        parent = block.parent_op()
        self.code = Code(name, None if parent is None else location_of(parent))
        self.slots: dict[SSAValue, int] = {}
        self.known: set[int] = set()
        """Slots whose initial value never changes."""
        self.static: set[SSAValue] = set()
        """Values that depend on nothing but constants and coordinates."""
        self.nesting = Nesting()
        self.retry_at: int | None = None
        """The instruction that a warp tries again while an entry of a channel is missing; None outside of entries."""

    # Slots

    def new_slot(self, value: Any = None, dtype: np.dtype[Any] | None = None) -> int:
        self.code.template.append(value)
        self.code.dtypes.append(dtype)
        return len(self.code.template) - 1

    def define(self, value: SSAValue) -> int:
        kind = kind_of(value.type)
        slot = self.new_slot(None, DTYPES[kind] if kind else None)
        self.slots[value] = slot
        return slot

    def define_known(self, value: SSAValue, number: Any) -> None:
        slot = self.define(value)
        self.code.template[slot] = number
        self.known.add(slot)

    def use(self, value: SSAValue) -> int:
        return self.slots[value]

    def emit(self, instruction: Instruction) -> int:
        self.code.instructions.append(instruction)
        return len(self.code.instructions) - 1

    @property
    def here(self) -> int:
        return len(self.code.instructions)

    # Bodies

    def compile(self, block: Block) -> Code:
        for argument in block.args:
            kind = kind_of(argument.type)
            if kind is None:
                raise LoomError(f"argument of type {argument.type} in {self.code.name} is not a scalar")
            self.code.arguments.append(self.define(argument))
            self.code.argument_kinds.append(kind)
        # What is constant for a unit is read first, so that runs of scalar code are not interrupted.
        for op in block.walk():
            if isinstance(op, flow.CoordinateOp):
                self.operation(op)
        self.block(block)
        self.emit(_finish)
        self.code.variable = [slot for slot in range(len(self.code.template)) if slot not in self.known]
        return self.code

    def block(self, block: Block) -> None:
        """Compile the operations of a block; runs of scalar operations also become generated code."""
        ops = list(block.ops)
        position = 0
        while position < len(ops):
            end = position
            while end < len(ops) and self.nesting.can_generate(ops[end]):
                end += 1
            if worth_generating(ops[position:end]):
                self.generated(ops[position:end])
                position = end
            else:
                stop = max(end, position + 1)
                while position < stop:
                    entry = entry_at(ops, position)
                    if entry:
                        compile_entry(self, entry)
                        position += len(entry)
                    else:
                        self.operation(ops[position])
                        position += 1

    def generated(self, ops: Sequence[Operation]) -> None:
        """Compile a run of scalar operations: as generated code, and as instructions for values that differ."""
        place = self.emit(_nothing)
        for op in ops:
            self.operation(op)
        after = self.here
        function, inputs = generate(ops, self.slots, self.code.template, self.known, self.machine)
        scheduler = self.machine.scheduler

        def enter(warp: Warp) -> int | None:
            slots = warp.slots
            for slot in inputs:
                if type(slots[slot]) is np.ndarray:
                    return None
            scheduler.steps += function(warp, slots, scheduler.budget())
            return after

        self.code.instructions[place] = enter

    def operation(self, op: Operation) -> None:
        handler = _HANDLERS.get(type(op))
        if handler is not None:
            handler(self, op)
            if isinstance(op, flow.CoordinateOp | arith.ConstantOp):
                self.static.add(op.results[0])
            return
        function = function_of(op)
        if function is None:
            raise LoomError(_cannot_execute(op), location_of(op))
        self.scalar(op, function)
        if self.static.issuperset(op.operands):
            self.static.add(op.results[0])

    def scalar(self, op: Operation, function: Callable[..., Any]) -> None:
        operands = [self.use(value) for value in op.operands]
        if op.name in integers.DIVISIONS:
            self.divisor(op, operands[1])
        if self.is_constant(op, operands):
            self.define_known(op.results[0], function(*(self.code.template[slot] for slot in operands)))
            return
        result = self.define(op.results[0])
        if len(operands) == 1:
            first = operands[0]

            def unary(warp: Warp) -> None:
                slots = warp.slots
                slots[result] = function(slots[first])

            self.emit(unary)
        elif len(operands) == 2:
            first, second = operands

            def binary(warp: Warp) -> None:
                slots = warp.slots
                slots[result] = function(slots[first], slots[second])

            self.emit(binary)
        else:

            def several(warp: Warp) -> None:
                slots = warp.slots
                slots[result] = function(*(slots[operand] for operand in operands))

            self.emit(several)

    def is_constant(self, op: Operation, operands: Sequence[int]) -> bool:
        """Return True if an operation can be computed now; one that stops the run waits until it is reached."""
        return all(slot in self.known for slot in operands) and not (
            op.name in integers.DIVISIONS and not self.code.template[operands[1]]
        )

    def divisor(self, op: Operation, slot: int) -> None:
        """Emit the check of a divisor, which raises LoomError for 0 when the division is reached."""
        if slot in self.known and self.code.template[slot]:
            return
        failed = division_by_zero(op)

        def check(warp: Warp) -> None:
            value = warp.slots[slot]
            if not (value.all() if type(value) is np.ndarray else value):
                raise failed(warp, value)

        self.emit(check)

    def copies(self, sources: Sequence[int], targets: Sequence[int]) -> Callable[[Warp], None]:
        """Return a parallel copy between slots."""
        if not sources:
            return _nothing
        if len(sources) == 1:
            source, target = sources[0], targets[0]

            def one(warp: Warp) -> None:
                warp.slots[target] = warp.slots[source]

            return one

        def several(warp: Warp) -> None:
            slots = warp.slots
            values = [slots[source] for source in sources]
            for target, value in zip(targets, values, strict=True):
                slots[target] = value

        return several

    # Structured control flow

    def constant(self, op: arith.ConstantOp) -> None:
        self.define_known(op.result, constant(op.value))

    def if_(self, op: scf.IfOp) -> None:
        condition = self.use(op.cond)
        results = [self.define(result) for result in op.results]
        join = 0
        other = 0
        start = self.here + 1
        cache: dict[UnitSet, list[tuple[int, UnitSet]]] | None = {} if op.cond in self.static else None

        def branch(warp: Warp) -> int | None:
            value = warp.slots[condition]
            if type(value) is np.ndarray:
                units = warp.units
                ways = cache.get(units) if cache is not None else None
                if ways is None:
                    if every(value):
                        ways = [(start, units)]
                    elif not some(value):
                        ways = [(other, units)]
                    else:
                        ways = [(start, part) for part in from_mask(units, value)]
                        ways += [(other, part) for part in from_mask(units, ~value)]
                    if cache is not None and len(cache) < 4096:
                        cache[units] = ways
                return ways[0][0] if len(ways) == 1 else diverge(warp, ways, join, results)
            return None if value else other

        self.emit(branch)
        self.arm(op.true_region.block, results)
        self.emit(lambda warp: join)
        other = self.here
        if op.false_region.blocks:
            self.arm(op.false_region.block, results)
        join = self.here

    def arm(self, block: Block, results: Sequence[int]) -> None:
        self.block(block)
        terminator = block.last_op
        if isinstance(terminator, scf.YieldOp) and results:
            self.emit(self.copies([self.use(value) for value in terminator.operands], results))

    def for_(self, op: scf.ForOp) -> None:
        lower, upper, step = self.use(op.lb), self.use(op.ub), self.use(op.step)
        body = op.body.block
        index, *carried = [self.define(argument) for argument in body.args]
        results = [self.define(result) for result in op.results]
        self.emit(self.copies([lower, *(self.use(value) for value in op.iter_args)], [index, *carried]))

        def test(warp: Warp) -> Any:
            return warp.slots[index] < warp.slots[upper]

        scheduler = self.machine.scheduler
        loop = LoopTest(
            test, _nothing, self.copies(carried, results), self.here, results, scheduler.count_step, location_of(op)
        )

        def head(warp: Warp) -> int:
            slots = warp.slots
            counter, end = slots[index], slots[upper]
            if type(counter) is not int or type(end) is not int or counter >= end:
                return loop(warp)
            scheduler.count_step(warp, loop.where)
            return loop.body

        self.emit(head)
        loop.body = self.here
        self.block(body)
        terminator = body.last_op
        assert terminator is not None
        advance = self.copies([self.use(value) for value in terminator.operands], carried)
        start = loop.head

        def repeat(warp: Warp) -> int:
            slots = warp.slots
            slots[index] = slots[index] + slots[step]
            return start

        def advance_and_repeat(warp: Warp) -> int:
            advance(warp)
            return repeat(warp)

        self.emit(advance_and_repeat if carried else repeat)
        loop.exit = self.here

    def while_(self, op: scf.WhileOp) -> None:
        before, after = op.before_region.block, op.after_region.block
        carried = [self.define(argument) for argument in before.args]
        passed = [self.define(argument) for argument in after.args]
        results = [self.define(result) for result in op.results]
        self.emit(self.copies([self.use(value) for value in op.arguments], carried))
        start = self.here
        self.block(before)
        terminator = before.last_op
        assert isinstance(terminator, scf.ConditionOp)
        condition = self.use(terminator.condition)
        arguments = [self.use(value) for value in terminator.args]
        loop = LoopTest(
            lambda warp: warp.slots[condition], self.copies(arguments, passed), self.copies(arguments, results),
            self.here, results, self.machine.scheduler.count_step, location_of(op),
        )  # fmt: skip
        self.emit(loop)
        loop.body = self.here
        self.block(after)
        last = after.last_op
        assert last is not None
        advance = self.copies([self.use(value) for value in last.operands], carried)

        def repeat(warp: Warp) -> int:
            advance(warp)
            return start

        self.emit(repeat)
        loop.exit = self.here

    def skip(self, op: Operation) -> None:
        """Skip a terminator, which its parent handles."""

    # Units

    def coordinate(self, op: flow.CoordinateOp) -> None:
        if op.result in self.slots:
            return
        result = self.define(op.result)
        values = self.cls.placement.coordinates(op.axis.data, DTYPES[str(kind_of(op.result.type))])

        def load(warp: Warp) -> None:
            units = warp.units
            value = values[units.index]
            warp.slots[result] = value.item() if units.count == 1 else value

        self.emit(load)

    def check(self, op: flow.AssertOp) -> None:
        condition = self.use(op.condition)
        shown = None if op.value is None else self.use(op.value)
        failed = assertion(op)

        def check(warp: Warp) -> None:
            value = warp.slots[condition]
            if not (every(value) if type(value) is np.ndarray else value):
                raise failed(warp, value, None if shown is None else warp.slots[shown])

        self.emit(check)


def _nothing(warp: Warp) -> None:
    del warp


def _finish(warp: Warp) -> int:
    del warp
    return FINISHED


def _cannot_execute(op: Operation) -> str:
    """Return why cores do not execute an operation: a type that they do not compute with, or the operation itself."""
    for type in (*op.operand_types, *op.result_types):
        if kind_of(type) is None:
            return f"the engine cannot execute {op.name} on {type}; compute with {', '.join(DTYPES)} instead"
    return f"the engine cannot execute {op.name} on cores of a chip; lower it to arith, scf and flow first"


_HANDLERS: dict[type[Operation], Callable[[Body, Any], None]] = {
    arith.ConstantOp: Body.constant,
    scf.IfOp: Body.if_,
    scf.ForOp: Body.for_,
    scf.WhileOp: Body.while_,
    scf.YieldOp: Body.skip,
    scf.ConditionOp: Body.skip,
    flow.ReturnOp: Body.skip,
    flow.CoordinateOp: Body.coordinate,
    flow.AssertOp: Body.check,
    **TILE_HANDLERS,
}
