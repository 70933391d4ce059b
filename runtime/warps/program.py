"""Compiler from the tasks and functions of a `flow.units` to closures over value slots.

One pass over the operations; afterwards nothing walks IR. Constants and streams of known shape become initial
slots, calls are inlined (recursive ones cannot be run), structured control flow becomes jumps with a known join. The
cycles of straight-line code are summed here and charged by the next instruction that looks at the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...dialects import flow
from ...operations import integers, nans
from ...operations.dsd_table import DsdOperation, unavailable
from ...operations.print_format import shown, split_format
from ...targets.model import Timing
from ...targets.wavelets import WORD_BITS, WORD_MASK
from .arithmetic import Kernel, kernel
from .codegen import (
    Functions,
    Generated,
    Inlined,
    accesses,
    addressing,
    assertion,
    can_generate,
    division_by_zero,
    generate,
    leaving,
    may_trap,
    recursion,
    worth_generating,
)
from .fifos import FifoStream, Side
from .memory import DTYPES, WIDE, is_odd
from .prices import access_price, scalar_price
from .queues import InputQueue, OutputQueue
from .registers import Held, behind
from .resources import Resource
from .scalars import bitcast, constant, function_of, kind_of
from .streams import Buffer, MemoryStream, Mixed, QueueStream
from .tile_entries import compile_entry, entry_at
from .tile_program import HANDLERS as TILE_HANDLERS
from .units import Array, UnitSet, every, from_mask, some
from .warp import CLOCK, REACHED, SUSPENDED, Code, Instruction, LoopTest, Warp, diverge, rejoin, run

if TYPE_CHECKING:
    from .machine import WarpMachine
    from .tasks import Task
    from .unit_class import UnitClass


@dataclass(frozen=True)
class Settings:
    """How an operation runs on a microthread: what happens at its end, and when a control wavelet comes."""

    microthread: int | None = None
    thread: Resource | None = None
    """The microthread of every unit."""
    activate: Task | None = None
    unblock: Task | None = None
    on_control: bool = False
    """True if a control wavelet ends it."""
    control_activate: Task | None = None
    control_unblock: Task | None = None


@dataclass(eq=False)
class _Subroutine:
    """A function that a code has once and jumps to: where it begins, and the slots of its arguments and results."""

    function: flow.FuncOp
    slots: dict[SSAValue, int]
    arguments: list[int]
    results: list[int]
    back: int
    """Holds the program counter to return to."""
    start: int = 0
    """The first instruction."""


@dataclass(eq=False)
class Application:
    """A compiled `flow.apply`: what it computes and what happens at its end."""

    row: DsdOperation
    """The operation, of the table of DSD operations."""
    kernel: Kernel
    where: str | None
    task: str
    text: str
    settings: Settings
    result: int | None = None
    """The slot that says if it has completed."""
    op: flow.ApplyOp | None = None
    """The operation of IR it was compiled from."""
    variants: dict[Settings, Application] = field(default_factory=dict["Settings", "Application"])
    """The same operation with the settings of registers that it reads."""

    def __post_init__(self) -> None:
        settings = self.settings
        self.microthread = settings.microthread
        self.thread = settings.thread
        self.activate, self.unblock = settings.activate, settings.unblock
        self.on_control = settings.on_control
        self.control_activate, self.control_unblock = settings.control_activate, settings.control_unblock

    def variant(self, settings: Settings) -> Application:
        """Return the operation with other settings."""
        found = self.variants.get(settings)
        if found is None:
            found = Application(self.row, self.kernel, self.where, self.task, self.text, settings, self.result, self.op)
            self.variants[settings] = found
        return found

    @property
    def is_async(self) -> bool:
        return self.microthread is not None

    @property
    def has_completion(self) -> bool:
        return any(
            task is not None for task in (self.activate, self.unblock, self.control_activate, self.control_unblock)
        )


class Compiler:
    """Compiles the bodies of one class."""

    def __init__(self, machine: WarpMachine, cls: UnitClass):
        self.machine = machine
        self.cls = cls
        self.timing: Timing = machine.target.timing
        self.functions = Functions(cls.functions, cls.name, traps=cls.unmasked is not None)

    def compile(self, name: str, block: Block) -> Code:
        """Return the code of a task or function body. Raises LoomError for an operation the engine does not know."""
        return Body(self, name, block).compile(block)


class Body:
    """One body on its way to a `Code`: the slots of its values and the instructions so far."""

    def __init__(self, compiler: Compiler, name: str, block: Block):
        self.compiler = compiler
        self.machine = compiler.machine
        self.cls = compiler.cls
        self.timing = compiler.timing
        parent = block.parent_op()
        self.code = Code(name, None if parent is None else location_of(parent))
        self.slots: dict[SSAValue, int] = {}
        self.known: set[int] = set()
        """Slots whose initial value never changes."""
        self.static: set[SSAValue] = set()
        """Values that depend on nothing but constants, coordinates and parameters."""
        self.pending = 0
        self.functions = compiler.functions
        self.calls: dict[flow.CallOp, Inlined] = {}
        """The inlined calls of the code being compiled."""
        self.own: dict[SSAValue, int] = {}
        """Values that are constant for a unit: coordinates and parameters."""
        self.subroutines: dict[str, _Subroutine] = {}
        self.inside_generated = False
        self.retry_at: int | None = None
        """The instruction that a warp tries again while an entry of a channel is missing; None outside of entries."""
        self.whole: tuple[Sequence[Operation], Generated] | None = None

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

    def charge(self) -> int:
        """Return the cycles of the instructions since the last charge."""
        cost, self.pending = self.pending, 0
        return cost

    def settle(self) -> None:
        """Charge what is pending now, so that a loop does not charge it again and again."""
        cost = self.charge()
        if cost:

            def settle(warp: Warp) -> None:
                warp.elapsed += cost

            self.emit(settle)

    # Bodies

    def compile(self, block: Block) -> Code:
        for argument in block.args:
            kind = kind_of(argument.type)
            if kind is None:
                raise LoomError(f"argument of type {argument.type} in {self.code.name} is not a scalar")
            self.code.arguments.append(self.define(argument))
            self.code.argument_kinds.append(kind)
        self.block(block, top=True)
        cost = self.charge()

        def finish(warp: Warp) -> int:
            warp.elapsed += cost
            return -1

        self.emit(finish)
        self.write_subroutines()
        body = [op for op in block.ops if not isinstance(op, flow.ReturnOp)]
        self.code.isolated = all(can_generate(op, self.functions) for op in body)
        if self.whole is not None and self.code.isolated and list(self.whole[0]) == body:
            self.code.alone = (self.whole[1].function, cost)
        self.code.variable = [slot for slot in range(len(self.code.template)) if slot not in self.known]
        return self.code

    def block(self, block: Block, *, top: bool = False) -> None:
        ops = list(block.ops)
        if not top:
            self.sequence(ops)
            return
        before = set(self.slots)
        for body in (block, *(function.body.block for function in self.functions.reachable(block))):
            self.own_values(body)
        self.own = {value: slot for value, slot in self.slots.items() if value not in before}
        if len(self.cls.blocks) > 1:
            received = False
            for position, op in enumerate(ops):
                receives, sends = _fabric_uses(op)
                if received and sends:
                    self.sequence(ops[:position])
                    self.emit(self.machine.scheduler.pause)
                    ops = ops[position:]
                    break
                received |= receives
        self.sequence(ops)

    def own_values(self, block: Block) -> None:
        """Read what is constant for a unit first, so that runs of scalar code are not interrupted."""
        for op in block.walk():
            if isinstance(op, flow.CoordinateOp | flow.GetParamOp):
                self.operation(op)

    def sequence(self, ops: Sequence[Operation]) -> None:
        """Compile the operations of a block; runs of scalar operations also become generated code."""
        position = 0
        while position < len(ops):
            end = position
            while end < len(ops) and can_generate(ops[end], self.functions, memory=not self.inside_generated):
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
        """Compile a run of scalar operations: generated code for single units, instructions for the rest."""
        cost = self.charge()
        place = self.emit(_nothing)
        if self.inside_generated or all(can_generate(op, self.functions, memory=False) for op in ops):
            for op in ops:
                self.operation(op)
        else:
            # The rest of the warps still gain where a loop touches no memory and its values are uniform.
            self.inside_generated = True
            self.sequence(ops)
            self.inside_generated = False
        # Nested runs charge what came before them, so both ways must have charged everything when they meet.
        self.settle()
        after = self.here
        part = generate(ops, self.slots, self.code.template, self.known, self.cls, self.functions, self.calls)
        scheduler = self.machine.scheduler
        function, inputs, memory = part.function, part.inputs, self.cls.memory if part.uses_memory else None

        def enter(warp: Warp) -> int | None:
            warp.elapsed += cost
            units = warp.units
            if memory is None:
                slots = warp.slots
                for slot in inputs:
                    if type(slots[slot]) is np.ndarray:
                        return None
                base = 0
            elif units.count == 1:
                base = memory.base(units)
            else:
                return None
            elapsed, steps = function(warp, warp.slots, base, scheduler.budget())
            warp.elapsed += elapsed
            scheduler.steps += steps
            return after

        self.code.instructions[place] = enter
        if not cost and part.uses_memory:
            self.whole = (ops, part)

    def operation(self, op: Operation) -> None:
        handler = _HANDLERS.get(type(op))
        if handler is not None:
            handler(self, op)
            if isinstance(op, flow.CoordinateOp | flow.ExtentOp | flow.GetParamOp | arith.ConstantOp):
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
        self.pending += scalar_price(self.timing, op)
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
        if self.cls.unmasked is not None and may_trap(op):
            self.trap(op, operands, result)

    def trap(self, op: Operation, operands: Sequence[int], result: int) -> None:
        """Emit the check of a scalar operation for floating point exceptions that stop a unit."""
        cls, name, where = self.cls, op.name, location_of(op)
        kind = str(kind_of(op.results[0].type))

        def trap(warp: Warp) -> None:
            slots = warp.slots
            shape = warp.units.shape
            values = [np.broadcast_to(np.asarray(slots[slot]), shape) for slot in operands]
            cls.stop_at_exceptions(warp.units, name, values, np.broadcast_to(slots[result], shape), kind, where)

        self.emit(trap)

    def set_exception_mask(self, op: flow.SetExceptionMaskOp) -> None:
        mask = self.use(op.mask)
        unmasked = self.cls.unmasked
        self.pending += self.timing.instruction

        def set_mask(warp: Warp) -> None:
            unmasked[warp.units.index] = ~np.broadcast_to(np.asarray(warp.slots[mask], np.int64), warp.units.shape)

        self.emit(set_mask)

    def is_known(self, value: SSAValue) -> bool:
        """Return True if the number that a value is does not change."""
        return self.slots[value] in self.known

    def is_constant(self, op: Operation, operands: Sequence[int]) -> bool:
        """Return True if an operation can be computed now; one that stops the run waits until it is reached."""
        if self.cls.unmasked is not None and may_trap(op):
            return False
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
        cost = self.charge()
        taken, straight = cost + self.timing.branch_taken, cost + self.timing.branch_not_taken
        join = 0
        other = 0
        start = self.here + 1
        cache: dict[UnitSet, list[tuple[int, UnitSet, int]]] | None = {} if op.cond in self.static else None

        def branch(warp: Warp) -> int | None:
            value = warp.slots[condition]
            if type(value) is np.ndarray:
                units = warp.units
                ways = cache.get(units) if cache is not None else None
                if ways is None:
                    if every(value):
                        ways = [(start, units, straight)]
                    elif not some(value):
                        ways = [(other, units, taken)]
                    else:
                        ways = [(start, part, straight) for part in from_mask(units, value)]
                        ways += [(other, part, taken) for part in from_mask(units, ~value)]
                    if cache is not None and len(cache) < 4096:
                        cache[units] = ways
                if len(ways) == 1:
                    warp.elapsed += ways[0][2]
                    return ways[0][0]
                return diverge(warp, ways, join, results)
            if value:
                warp.elapsed += straight
                return None
            warp.elapsed += taken
            return other

        self.emit(branch)
        self.arm(op.true_region.block, results)
        jump_cost = self.charge()

        def jump(warp: Warp) -> int:
            warp.elapsed += jump_cost
            return join

        self.emit(jump)
        other = self.here
        if op.false_region.blocks:
            self.arm(op.false_region.block, results)
        final_cost = self.charge()
        if final_cost:

            def fall(warp: Warp) -> None:
                warp.elapsed += final_cost

            self.emit(fall)
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
        self.settle()
        self.emit(self.copies([lower, *(self.use(value) for value in op.iter_args)], [index, *carried]))

        def test(warp: Warp) -> Any:
            return warp.slots[index] < warp.slots[upper]

        tested = self.charge() + self.timing.instruction
        loop = LoopTest(
            test, _nothing, self.copies(carried, results), self.here, results, self.machine.scheduler.count_step,
            tested + self.timing.loop, tested + self.timing.branch_not_taken, location_of(op),
        )  # fmt: skip
        scheduler, head_cost = self.machine.scheduler, loop.again

        def head(warp: Warp) -> int:
            slots = warp.slots
            counter, end = slots[index], slots[upper]
            if type(counter) is not int or type(end) is not int or counter >= end:
                return loop(warp)
            warp.elapsed += head_cost
            scheduler.steps += 1
            if scheduler.steps > scheduler.bound:
                scheduler.overrun(warp, loop.where)
            return loop.body

        self.emit(head)
        loop.body = self.here
        self.block(body)
        terminator = body.last_op
        assert terminator is not None
        advance = self.copies([self.use(value) for value in terminator.operands], carried)
        cost = self.charge() + self.timing.instruction
        start = loop.head

        def repeat(warp: Warp) -> int:
            slots = warp.slots
            slots[index] = slots[index] + slots[step]
            warp.elapsed += cost
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
        self.settle()
        self.emit(self.copies([self.use(value) for value in op.arguments], carried))
        start = self.here
        self.block(before)
        terminator = before.last_op
        assert isinstance(terminator, scf.ConditionOp)
        condition = self.use(terminator.condition)
        arguments = [self.use(value) for value in terminator.args]
        tested = self.charge()
        loop = LoopTest(
            lambda warp: warp.slots[condition], self.copies(arguments, passed), self.copies(arguments, results),
            self.here, results, self.machine.scheduler.count_step, tested + self.timing.loop,
            tested + self.timing.branch_not_taken, location_of(op),
        )  # fmt: skip
        self.emit(loop)
        loop.body = self.here
        self.block(after)
        last = after.last_op
        assert last is not None
        advance = self.copies([self.use(value) for value in last.operands], carried)
        cost = self.charge()

        def repeat(warp: Warp) -> int:
            advance(warp)
            warp.elapsed += cost
            return start

        self.emit(repeat)
        loop.exit = self.here

    def skip(self, op: Operation) -> None:
        """Skip a terminator of a structured region, which its parent handles."""

    def call(self, op: flow.CallOp) -> None:
        """Compile a call: a small function is inlined, a large one is emitted once and jumped to."""
        function = self.functions.called(op)
        if self.functions.is_recursive(op):
            self.refuse(op)
            return
        if not self.functions.is_inlined(op):
            self.jump_to(op, self.subroutine(function))
            return
        block = function.body.block
        targets = [self.define(argument) for argument in block.args]
        self.emit(self.copies([self.use(value) for value in op.arguments], targets))
        self.pending += self.timing.call
        results = [self.define(result) for result in op.results_]
        outer, self.slots = self.slots, {**self.slots}
        calls, self.calls = self.calls, {}
        self.block(block)
        self.give(block, results)
        calls[op] = Inlined(self.slots, self.calls)
        self.slots, self.calls = outer, calls

    def refuse(self, op: flow.CallOp) -> None:
        """Compile a recursive call: an error, if it is reached."""
        failed = recursion(op)
        for result in op.results_:
            self.define(result)

        def refuse(warp: Warp) -> None:
            raise failed(warp)

        self.emit(refuse)

    def give(self, block: Block, results: Sequence[int]) -> None:
        """Copy what a function returns."""
        terminator = block.last_op
        if isinstance(terminator, flow.ReturnOp) and results:
            self.emit(self.copies([self.use(value) for value in terminator.values], results))

    def subroutine(self, function: flow.FuncOp) -> _Subroutine:
        found = self.subroutines.get(function.sym_name.data)
        if found is None:
            outer, self.slots = self.slots, {**self.own}
            arguments = [self.define(argument) for argument in function.body.block.args]
            results = [
                self.new_slot(None, DTYPES[kind] if (kind := kind_of(type)) else None)
                for type in function.function_type.outputs
            ]
            found = _Subroutine(function, self.slots, arguments, results, self.new_slot(None, CLOCK))
            self.subroutines[function.sym_name.data] = found
            self.slots = outer
        return found

    def jump_to(self, op: flow.CallOp, subroutine: _Subroutine) -> None:
        self.pending += self.timing.call
        cost = self.charge()
        copy = self.copies([self.use(value) for value in op.arguments], subroutine.arguments)
        back, after = subroutine.back, self.here + 1

        def enter(warp: Warp) -> int:
            warp.elapsed += cost
            copy(warp)
            warp.slots[back] = after
            return subroutine.start

        self.emit(enter)
        self.emit(self.copies(subroutine.results, [self.define(result) for result in op.results_]))

    def write_subroutines(self) -> None:
        """Emit the functions that are jumped to, behind the body; they may add more of them."""
        written: set[str] = set()
        while missing := [name for name in self.subroutines if name not in written]:
            subroutine = self.subroutines[missing[0]]
            written.add(missing[0])
            block = subroutine.function.body.block
            subroutine.start = self.here
            self.slots, self.calls = subroutine.slots, {}
            self.block(block)
            self.give(block, subroutine.results)
            self.settle()
            back = subroutine.back
            # Warps that met in the function may have come from different calls.
            self.uniform([back])

            def leave(warp: Warp, back: int = back) -> int:
                return warp.slots[back]

            self.emit(leave)

    # Units and memory

    def coordinate(self, op: flow.CoordinateOp) -> None:
        if op.result in self.slots:
            return
        result = self.define(op.result)
        kind = str(kind_of(op.result.type))
        values = self.cls.placement.coordinates(op.axis.data, DTYPES[kind])
        self.pending += self.timing.instruction

        def load(warp: Warp) -> None:
            units = warp.units
            value = values[units.index]
            warp.slots[result] = value.item() if units.count == 1 else value

        self.emit(load)

    def extent(self, op: flow.ExtentOp) -> None:
        self.define_known(op.result, self.machine.width if op.axis.data == "x" else self.machine.height)

    def get_param(self, op: flow.GetParamOp) -> None:
        if op.result in self.slots:
            return
        values = self.cls.params.get(op.param.root_reference.data)
        if values is None:
            raise LoomError(f"{op.param} is not a parameter of {self.cls.name}", location_of(op))
        if type(values) is not np.ndarray:
            self.define_known(op.result, values)
            return
        result = self.define(op.result)
        self.pending += self.timing.instruction

        def load(warp: Warp) -> None:
            units = warp.units
            value = values[units.index]
            warp.slots[result] = value.item() if units.count == 1 else value

        self.emit(load)

    def buffer(self, op: flow.LoadOp | flow.StoreOp | flow.StreamOp) -> Buffer:
        """Return the buffer an operation names, or all of memory if it names an address."""
        if op.buffer is None:
            return self.cls.whole_memory
        name = op.buffer.root_reference.data
        buffer = self.cls.buffers.get(name)
        if buffer is None:
            raise LoomError(f"@{name} is not a buffer of {self.cls.name}", location_of(op))
        return buffer

    def place(self, op: flow.LoadOp | flow.StoreOp, type: Attribute) -> tuple[str, Callable[[Warp], Any]]:
        """Return the kind of an element and a function that returns its address: in words, of i8 in bytes."""
        if op.address is not None:
            kind = str(kind_of(type))
            return kind, self.pointed(op, op.address, kind)
        return self.buffer(op).kind, self.element(op)

    def pointed(self, op: flow.LoadOp | flow.StoreOp, pointer: SSAValue, kind: str) -> Callable[[Warp], Any]:
        """Return the address of an element behind a pointer; raises LoomError where none can be."""
        base = self.use(pointer)
        index = self.use(op.indices[0]) if op.indices else None
        size = DTYPES[kind].itemsize
        last = 2 * self.cls.memory.words - size
        wide, unit = kind in WIDE, min(size, 2)
        what, where = accesses(op), location_of(op)

        def address(warp: Warp) -> Any:
            slots = warp.slots
            result = whole(slots[base])
            if index is not None:
                result = result + slots[index] * size
            result = result & WORD_MASK
            if type(result) is np.ndarray:
                if result.max() > last or (unit == 2 and some(result & 1 == 1)):
                    raise self.cls.stray(warp.units, result, kind, where)
                result = result // unit
                if wide and is_odd(result):
                    self.cls.warn_of_odd_word(warp.units, result, what, where)
                first = result[0, 0]
                return int(first) if every(result == first) else result
            if result > last or result % unit:
                raise self.cls.stray(warp.units, result, kind, where)
            result //= unit
            if wide and result & 1:
                self.cls.warn_of_odd_word(warp.units, result, what, where)
            return result

        return address

    def element(self, op: flow.LoadOp | flow.StoreOp) -> Callable[[Warp], Any]:
        """Return the address of an element of a buffer.

        An index outside the buffer is a warning while the element is in memory in use, else LoomError.
        """
        buffer = self.buffer(op)
        indices = [self.use(value) for value in op.indices]
        where = location_of(op)
        if len(indices) != len(buffer.shape):
            raise LoomError(f"@{buffer.name} has {len(buffer.shape)} dimensions, not {len(indices)}", where)
        shape = buffer.shape
        base, scales = addressing(buffer)
        leave = leaving(self.cls, op, buffer)

        if all(slot in self.known for slot in indices):
            values = [self.code.template[slot] for slot in indices]
            for position, value in enumerate(values):
                if not 0 <= value < shape[position]:
                    raise LoomError(
                        f"index {value} of dimension {position} is outside @{buffer.name}, which has "
                        f"{shape[position]} elements there; check the subscript", where,
                    )  # fmt: skip
            fixed = base + sum(value * scale for value, scale in zip(values, scales, strict=True))
            return lambda warp: fixed

        def address(warp: Warp) -> Any:
            slots = warp.slots
            result = base
            inside = True
            for position, slot in enumerate(indices):
                value = slots[slot]
                if type(value) is np.ndarray:
                    inside &= value.min() >= 0 and value.max() < shape[position]
                elif not 0 <= value < shape[position]:
                    inside = False
                result = result + value * scales[position]
            if not inside:
                leave(warp, [slots[slot] for slot in indices], result)
            return result

        return address

    def load(self, op: flow.LoadOp) -> None:
        kind, address = self.place(op, op.result.type)
        memory = self.cls.memory
        result = self.define(op.result)
        self.pending += access_price(self.timing, op, self.is_known)
        integer = isinstance(op.result.type, IntegerType)

        def load(warp: Warp) -> None:
            units = warp.units
            value = memory.load(kind, units, address(warp))
            if units.count == 1:
                warp.slots[result] = (
                    value.item() if kind != "bf16" else nans.bf16_from_bits(value.view(np.int16).item())
                )
                return
            if integer:
                # Loop counters and offsets mostly agree; as a number they keep addresses and branches uniform.
                first = value[0, 0]
                if every(value == first):
                    warp.slots[result] = first.item()
                    return
            warp.slots[result] = value.copy()

        self.emit(load)

    def store(self, op: flow.StoreOp) -> None:
        kind, address = self.place(op, op.value.type)
        memory = self.cls.memory
        value = self.use(op.value)
        self.pending += access_price(self.timing, op, self.is_known)

        def store(warp: Warp) -> None:
            memory.store(kind, warp.units, address(warp), warp.slots[value])

        self.emit(store)

    # What a program says and asks of itself

    def check(self, op: flow.AssertOp) -> None:
        condition = self.use(op.condition)
        shown = None if op.value is None else self.use(op.value)
        failed = assertion(op)

        def check(warp: Warp) -> None:
            value = warp.slots[condition]
            if not (every(value) if type(value) is np.ndarray else value):
                raise failed(warp, value, None if shown is None else warp.slots[shown])

        self.pending += self.timing.branch_not_taken
        self.emit(check)

    def print_(self, op: flow.PrintOp) -> None:
        texts, conversions = split_format(op.format.data)
        operands = [self.use(value) for value in op.arguments]
        kinds = [str(kind_of(value.type)) for value in op.arguments]
        cost = self.charge()
        log = self.machine.print_log

        def print_(warp: Warp) -> None:
            warp.elapsed += cost
            units = warp.units
            rows, columns = units.cells()
            times = np.broadcast_to(warp.now, units.shape)
            values = [np.broadcast_to(warp.slots[slot], units.shape) for slot in operands]
            for place in np.ndindex(units.shape):
                text = texts[0]
                for conversion, kind, value, after in zip(conversions, kinds, values, texts[1:], strict=True):
                    text += shown(conversion, kind, value[place].item()) + after
                x, y = self.cls.grid_position(int(rows[place]), int(columns[place]))
                log.append((int(times[place]), x, y, text))

        self.emit(print_)

    def directive(self, op: flow.DirectiveOp) -> None:
        root, count = self.use(op.root), self.use(op.count)
        directives, name, axis, where = self.machine.directives, op.directive.data, op.axis.data, location_of(op)
        position = self.cls.grid_position

        def compare(warp: Warp) -> None:
            units = warp.units
            rows, columns = (cells.ravel().tolist() for cells in np.broadcast_arrays(*units.cells()))
            roots, counts = (
                np.broadcast_to(np.asarray(warp.slots[slot]), units.shape).astype(np.uint16).ravel().tolist()
                for slot in (root, count)
            )
            for row, column, *call in zip(rows, columns, roots, counts, strict=True):
                directives.call(axis, position(row, column), (name, call[0], call[1]), where)

        self.emit(compare)

    def timestamp(self, op: flow.TimestampOp) -> None:
        words = [self.define(result) for result in op.results]
        self.pending += self.timing.timestamp
        cost = self.charge()

        def read(warp: Warp) -> None:
            warp.elapsed += cost
            now = np.asarray(warp.now)
            slots = warp.slots
            for place, slot in enumerate(words):
                word = (now >> WORD_BITS * place).astype(np.int16)
                slots[slot] = word.item() if word.size == 1 else word

        self.emit(read)

    # Tasks

    def target_task(self, op: Operation, name: str) -> Task | None:
        """Return the task of a name, or the one that wavelets of the input queue of that name start, if any."""
        task, queue = self.cls.tasks.get(name), self.cls.inputs.get(name)
        if task is None and queue is None:
            raise LoomError(f"@{name} is neither a task nor an input queue of {self.cls.name}", location_of(op))
        return queue.task if task is None and queue is not None else task

    def task_control(self, op: Operation, name: str, change: Callable[[Task], Callable[..., None]]) -> None:
        task = self.target_task(op, name)
        self.pending += self.timing.task_control
        if task is None:
            return
        cost = self.charge()
        apply = change(task)

        def control(warp: Warp) -> None:
            warp.elapsed += cost
            apply(warp.units, warp.now)

        self.emit(control)

    def activate(self, op: flow.ActivateOp) -> None:
        name = op.symbol.root_reference.data
        task = self.target_task(op, name)
        if task is None or task.kind != "local":
            raise LoomError(f"{op.symbol} is activated but is not a local task; only local tasks can be activated",
                            location_of(op))  # fmt: skip
        self.task_control(op, name, lambda task: task.activate)

    def block_task(self, op: flow.BlockOp) -> None:
        self.task_control(op, op.symbol.root_reference.data, lambda task: task.block)

    def unblock(self, op: flow.UnblockOp) -> None:
        self.task_control(op, op.symbol.root_reference.data, lambda task: task.unblock)

    # Streams

    def uniform(self, slots: Sequence[int]) -> None:
        """Part the warp so that the slots hold numbers from here on."""
        wanted = [slot for slot in slots if slot not in self.known]
        if not wanted:
            return
        here = self.here

        def part(warp: Warp) -> int | None:
            for slot in wanted:
                value = warp.slots[slot]
                if type(value) is not np.ndarray:
                    continue
                distinct = np.unique(value)
                if len(distinct) == 1:
                    warp.slots[slot] = distinct[0].item()
                    continue
                return part_ways(
                    warp, [units for number in distinct for units in from_mask(warp.units, value == number)],
                    here, fix=lambda other, slot=slot: _first(other, slot),
                )  # fmt: skip
            return None

        self.emit(part)

    def stream(self, op: flow.StreamOp) -> None:
        buffer = self.buffer(op)
        kind = kind_of(op.result.type.element_type) or "i32"
        words = 2 if kind in WIDE else 1
        where = location_of(op)
        strides = self.mixed(op.static_strides.get_values(), op.strides)
        extents = self.mixed(op.static_extents.get_values(), op.extents)
        (offset,) = self.mixed([op.static_offset.value.data], [op.offset] if op.offset else [])
        base = self.use(op.address) if op.address is not None else self.new_known(2 * buffer.address)
        shape_slots = [slot for slot in (*strides, *extents) if slot not in self.known]
        template = self.code.template

        def stream(units: UnitSet, slots: list[Any]) -> MemoryStream:
            first = self.first_word(units, slots[base], where) + whole(slots[offset]) * words
            return MemoryStream(
                buffer, kind, first, tuple(slots[s] for s in strides), tuple(slots[s] & WORD_MASK for s in extents)
            )

        if not shape_slots and offset in self.known and base in self.known:
            self.define_known(op.result, stream(self.cls.units, template))
            return
        self.uniform(shape_slots)
        result = self.define(op.result)
        self.pending += self.timing.descriptor

        def make(warp: Warp) -> None:
            warp.slots[result] = stream(warp.units, warp.slots)

        self.emit(make)

    def first_word(self, units: UnitSet, address: Any, where: str | None) -> Any:
        """Return the word at a byte address, uniform or one for each unit. Raises LoomError for an odd address."""
        address = whole(address) & WORD_MASK
        if is_odd(address):
            raise self.cls.stray(units, address, "i16", where)
        return address >> 1

    def mixed(self, static: Sequence[int], dynamic: Sequence[SSAValue]) -> list[int]:
        operands = iter(dynamic)
        slots: list[int] = []
        for value in static:
            if value == flow.DYNAMIC:
                slots.append(self.use(next(operands)))
            else:
                slots.append(self.new_known(value))
        return slots

    def new_known(self, value: Any) -> int:
        slot = self.new_slot(value)
        self.known.add(slot)
        return slot

    def queue_stream(self, op: flow.QueueStreamOp) -> None:
        name = op.queue.root_reference.data
        queue: InputQueue | OutputQueue | None = self.cls.inputs.get(name) or self.cls.outputs.get(name)
        if queue is None:
            raise LoomError(f"@{name} is not a queue of {self.cls.name}", location_of(op))
        kind = kind_of(op.result.type.element_type) or "i32"
        control, advance = op.control is not None, op.advance_switch is not None
        lanes = 1 if op.packed is None else 2
        message = op.message is not None
        (extent,) = self.mixed([op.static_extent.value.data], [op.extent] if op.extent else [])
        if extent in self.known:
            count = self.code.template[extent] & WORD_MASK
            stream = QueueStream(queue, kind, count, control, advance=advance, lanes=lanes, message=message)
            self.define_known(op.result, stream)
            return
        self.uniform([extent])
        result = self.define(op.result)
        self.pending += self.timing.descriptor

        def make(warp: Warp) -> None:
            count = warp.slots[extent] & WORD_MASK
            warp.slots[result] = QueueStream(queue, kind, count, control, advance=advance, lanes=lanes, message=message)

        self.emit(make)

    def fifo_stream(self, op: flow.FifoStreamOp) -> None:
        fifo = self.cls.fifos.get(op.fifo.root_reference.data)
        if fifo is None:
            raise LoomError(f"{op.fifo} is not a FIFO of {self.cls.name}", location_of(op))
        self.define_known(op.result, FifoStream(fifo, kind_of(op.result.type.element_type) or "i32"))

    def update(
        self,
        op: flow.AdvanceOp | flow.ResizeOp | flow.RestrideOp | flow.RebaseOp | flow.IndexedOp,
        change: Callable[[UnitSet, Any, Any], Any],
        *,
        shape: bool,
    ) -> None:
        stream, amount = self.use(op.stream), self.use(op.amount)
        self.part_mixed([stream])
        if shape:
            self.uniform([amount])
        result = self.define(op.result)
        self.pending += self.timing.descriptor
        where = location_of(op)

        def make(warp: Warp) -> None:
            slots = warp.slots
            changed = change(warp.units, slots[stream], slots[amount])
            if changed is None:
                raise LoomError(f"{op.name} needs a one-dimensional stream of memory or of a queue", where)
            slots[result] = changed

        self.emit(make)

    def advance(self, op: flow.AdvanceOp) -> None:
        def moved(units: UnitSet, stream: Any, words: Any) -> Any:
            if type(stream) is not MemoryStream:
                return None
            return stream.moved(whole(words))

        self.update(op, moved, shape=False)

    def resize(self, op: flow.ResizeOp) -> None:
        def resized(units: UnitSet, stream: Any, count: int) -> Any:
            if type(stream) is QueueStream:
                return stream.resized(count & WORD_MASK)
            if type(stream) is not MemoryStream or len(stream.extents) != 1:
                return None
            return MemoryStream(stream.buffer, stream.kind, stream.address, stream.strides, (count & WORD_MASK,))

        self.update(op, resized, shape=True)

    def restride(self, op: flow.RestrideOp) -> None:
        def restrided(units: UnitSet, stream: Any, stride: int) -> Any:
            if type(stream) is not MemoryStream or len(stream.extents) != 1:
                return None
            return MemoryStream(stream.buffer, stream.kind, stream.address, (stride,), stream.extents)

        self.update(op, restrided, shape=True)

    def rebase(self, op: flow.RebaseOp) -> None:
        memory, where = self.cls.whole_memory, location_of(op)

        def rebased(units: UnitSet, stream: Any, address: Any) -> Any:
            if type(stream) is not MemoryStream:
                return None
            first = self.first_word(units, address, where)
            return MemoryStream(memory, stream.kind, first, stream.strides, stream.extents)

        self.update(op, rebased, shape=False)

    def indexed(self, op: flow.IndexedOp) -> None:
        def marked(units: UnitSet, stream: Any, index: Any) -> Any:
            return stream.marked(index)

        self.update(op, marked, shape=False)

    def part_mixed(self, slots: Sequence[int]) -> None:
        """Part the warp where a join brought streams of different shapes together."""
        wanted = [slot for slot in slots if slot not in self.known]
        if not wanted:
            return
        here = self.here

        def part(warp: Warp) -> int | None:
            for slot in wanted:
                value = warp.slots[slot]
                if type(value) is Mixed:
                    return part_ways(warp, [units for units, _ in value.parts], here)
            return None

        self.emit(part)

    def as_kind(self, slot: int, value: SSAValue, kind: str) -> int:
        """Return the slot of a scalar operand as the operation reads it: the bits of any type of the right width."""
        own = str(kind_of(value.type))
        if own == kind or DTYPES[own].itemsize != DTYPES[kind].itemsize:
            return slot
        convert = bitcast(own, kind)
        result = self.new_slot(None, DTYPES[kind])
        if slot in self.known:
            self.code.template[result] = convert(self.code.template[slot])
            self.known.add(result)
            return result

        def reinterpret(warp: Warp) -> None:
            warp.slots[result] = convert(warp.slots[slot])

        self.emit(reinterpret)
        return result

    def apply(self, op: flow.ApplyOp) -> None:
        row = op.entry
        reason = unavailable(row)
        if reason is not None:
            raise LoomError(reason, location_of(op))
        operands = [self.use(op.destination), *(self.use(source) for source in op.sources)]
        streams = [
            slot for slot, value in zip(operands, op.operands, strict=True) if isinstance(value.type, flow.StreamType)
        ]
        self.part_mixed(streams)
        application = Application(
            row, kernel(row, self.machine.scratch, op.format), location_of(op), self.code.name,
            f"{row.name} in @{self.code.name}", self.settings(op), op=op,
        )  # fmt: skip
        fifos = self.fifo_sides(op)
        if op.result is not None:
            # Only a FIFO can end an operation without its having done its work.
            if fifos or any(isinstance(value.owner, flow.RegisterOp) for value in op.operands):
                application.result = self.define(op.result)
            else:
                self.define_known(op.result, True)
        result = application.result
        cost = self.charge()
        executor = self.machine.executor
        destination, *sources = [
            slot if slot in streams else self.as_kind(slot, value, kind)
            for slot, value, kind in zip(operands, op.operands, (row.destination, *row.sources), strict=True)
        ]
        place = self.here
        if any(isinstance(value.owner, flow.RegisterOp) for value in op.operands):
            self.emit(self.apply_to_registers(application, destination, sources, cost, place))
            return

        def apply(warp: Warp) -> int | None:
            slots = warp.slots
            for side in fifos:
                lengths = side.lengths(warp.units)
                if type(lengths) is np.ndarray:
                    return part_ways(warp, by_value(warp.units, lengths), place)
            # An operation that waits leaves the warp here.
            warp.pc = place
            warp.elapsed += cost
            if result is not None:
                slots[result] = True
            return executor.execute(warp, application, slots[destination], [slots[source] for source in sources])

        self.emit(apply)

    def apply_to_registers(
        self, application: Application, destination: int, sources: Sequence[int], cost: int, place: int
    ) -> Instruction:
        """Compile an operation with registers among its operands, which say how it runs and may advance."""
        executor, every = self.machine.executor, (destination, *sources)

        def apply(warp: Warp) -> int | None:
            slots, chosen = warp.slots, application
            values: list[Any] = []
            moving: list[Held] = []
            # The first operand that says how the operation runs decides, destination before sources.
            settled = False
            for slot, kind in zip(every, (application.row.destination, *application.row.sources), strict=True):
                value = slots[slot]
                if type(value) is Held:
                    held, value = value, value.stream
                    # The width of wavelets is the operation's.
                    if type(value) is not QueueStream and (value.kind in WIDE) != (kind in WIDE):
                        raise LoomError(
                            f"{application.text} takes {kind} from {held.register.name}, which was loaded with "
                            f"elements of {value.kind} on {warp.cls.describe(warp.units)}", application.where,
                        )  # fmt: skip
                    if held.settings is not None and not settled:
                        chosen, settled = application.variant(held.settings), True
                    if held.save_address:
                        moving.append(held)
                elif type(value) is QueueStream:
                    settled = settled or application.is_async
                if type(value) is FifoStream:
                    side = value.fifo.reading if values else value.fifo.writing
                    lengths = side.lengths(warp.units)
                    if type(lengths) is np.ndarray:
                        return part_ways(warp, by_value(warp.units, lengths), place)
                values.append(value)
            warp.pc = place
            warp.elapsed += cost
            if application.result is not None:
                slots[application.result] = True
            if moving:
                count = executor.count(warp.units, values[0], values[1:])
                for held in moving:
                    held.register.load(warp.units, behind(held.stream, count), save_address=True, settings=None)
            in_registers = all(
                type(slots[slot]) is Held or not isinstance(slots[slot], MemoryStream | QueueStream | FifoStream)
                for slot in every
            )
            return executor.execute(warp, chosen, values[0], values[1:], moving, in_registers=in_registers)

        return apply

    def fifo_sides(self, op: flow.ApplyOp) -> list[Side]:
        """Return the sides of FIFOs that an operation uses itself, not by a register."""
        sides: list[Side] = []
        for value in op.operands:
            if isinstance(value.owner, flow.FifoStreamOp):
                fifo = self.cls.fifos[value.owner.fifo.root_reference.data]
                sides.append(fifo.writing if value is op.destination else fifo.reading)
        return sides

    def set_fifo_length(self, op: flow.SetFifoLengthOp) -> None:
        fifo = self.cls.fifos[op.fifo.root_reference.data]
        side = fifo.reading if op.side.data == "read" else fifo.writing
        length = self.use(op.length)
        self.pending += self.timing.descriptor

        def set_length(warp: Warp) -> None:
            side.set_length(warp.units, whole(warp.slots[length]) & WORD_MASK)

        self.emit(set_length)

    def settings(self, op: flow.AsynchronousOp) -> Settings:
        """Return how an operation runs, with the tasks that its end starts."""
        early = None if op.on_control is None else op.on_control.data
        tasks = [
            None if symbol is None else self.target_task(op, symbol.root_reference.data)
            for symbol in (
                op.activate, op.unblock, op.control_task if early == "activate" else None,
                op.control_task if early == "unblock" else None,
            )
        ]  # fmt: skip
        for task, activate in zip(tasks, (True, False, True, False), strict=True):
            if task is not None:
                task.expect_completions(activate=activate)
        if op.microthread is None:
            return Settings()
        number = op.microthread.value.data
        return Settings(number, self.cls.microthread(number), tasks[0], tasks[1], early is not None, tasks[2], tasks[3])

    def load_register(self, op: flow.LoadRegisterOp) -> None:
        stream = self.use(op.stream)
        self.part_mixed([stream])
        register = self.cls.register(op.file.data, op.number.value.data)
        save_address = op.save_address is not None
        settings = self.settings(op) if op.is_async else None
        self.pending += self.timing.register_load

        def load(warp: Warp) -> None:
            register.load(warp.units, warp.slots[stream], save_address=save_address, settings=settings)

        self.emit(load)

    def register(self, op: flow.RegisterOp) -> None:
        register = self.cls.register(op.file.data, op.number.value.data)
        result = self.define(op.result)
        where = location_of(op)
        here = self.here
        wants_fifo = op.fifo is not None

        def read(warp: Warp) -> int | None:
            held = register.read(warp.units, where)
            if type(held) is Mixed:
                return part_ways(warp, [units for units, _ in held.parts], here)
            if type(held.stream) is FifoStream:
                if not wants_fifo:
                    held = Held(register, held.stream.plainly_in(register.name), held.save_address, held.settings)
            elif wants_fifo:
                raise LoomError(
                    f"{register.name} of {warp.cls.describe(warp.units)} does not hold a FIFO, as an operation "
                    "expects; give the FIFO this register (DSR-015)", where,
                )  # fmt: skip
            warp.slots[result] = held
            return None

        self.emit(read)


def part_ways(warp: Warp, sets: Sequence[UnitSet], start: int, fix: Callable[[Warp], None] | None = None) -> int:
    """Run parts of a warp one after another from `start` to where the warp itself would stop."""
    stop = warp.stop
    arrived: list[Warp] = []
    for units in sets:
        part = warp.part(units)
        part.pc, part.stop = start, stop
        if fix is not None:
            fix(part)
        status = run(part)
        if status == REACHED:
            arrived.append(part)
        elif status == -1:
            warp.cls.machine.scheduler.finish(part)
    if stop < 0:
        return SUSPENDED
    return rejoin(warp, arrived, stop, None)


def by_value(units: UnitSet, values: Array) -> list[UnitSet]:
    """Return some units grouped by their values, [rows, columns]."""
    return [part for value in np.unique(values) for part in from_mask(units, values == value)]


def _first(warp: Warp, slot: int) -> None:
    value = warp.slots[slot]
    if type(value) is np.ndarray:
        warp.slots[slot] = value[0, 0].item()


def _nothing(warp: Warp) -> None:
    del warp


def whole(value: Any) -> Any:
    """Return an integer of any width, or an array of them, to compute addresses with."""
    return value.astype(np.int64) if type(value) is np.ndarray else value


def _cannot_execute(op: Operation) -> str:
    """Return why the engine does not know an operation: a type it does not compute with, or the operation itself."""
    for type in (*op.operand_types, *op.result_types):
        if kind_of(type) is None:
            return f"the engine cannot execute {op.name} on {type}; compute with {', '.join(DTYPES)} instead"
    return f"the engine cannot execute {op.name}; lower it to arith, scf and flow first"


def _fabric_uses(op: Operation) -> tuple[bool, bool]:
    """Return True if an operation, or one inside it, posts a receive, and whether one sends."""
    receives = sends = False
    for inner in op.walk():
        if isinstance(inner, flow.ApplyOp):
            sends |= isinstance(inner.destination.owner, flow.QueueStreamOp)
            receives |= any(isinstance(source.owner, flow.QueueStreamOp) for source in inner.sources)
    return receives, sends


@lru_cache(maxsize=4096)
def element_cycles(timing: Timing, row: DsdOperation, strides: tuple[int, ...]) -> Fraction:
    """Return the estimated cycles for one element of an operation."""
    return timing.element_cycles(row.function, row.operand_bits, strides, row.name)


@lru_cache(maxsize=4096)
def cycles(timing: Timing, row: DsdOperation, strides: tuple[int, ...], count: int) -> int:
    """Return the estimated cycles for `count` elements, without the setup."""
    return ceil(count * element_cycles(timing, row, strides))


_HANDLERS: dict[type[Operation], Callable[[Body, Any], None]] = {
    arith.ConstantOp: Body.constant,
    scf.IfOp: Body.if_,
    scf.ForOp: Body.for_,
    scf.WhileOp: Body.while_,
    scf.YieldOp: Body.skip,
    scf.ConditionOp: Body.skip,
    flow.ReturnOp: Body.skip,
    flow.CallOp: Body.call,
    flow.CoordinateOp: Body.coordinate,
    flow.ExtentOp: Body.extent,
    flow.GetParamOp: Body.get_param,
    flow.LoadOp: Body.load,
    flow.StoreOp: Body.store,
    flow.ActivateOp: Body.activate,
    flow.BlockOp: Body.block_task,
    flow.UnblockOp: Body.unblock,
    flow.StreamOp: Body.stream,
    flow.QueueStreamOp: Body.queue_stream,
    flow.FifoStreamOp: Body.fifo_stream,
    flow.SetFifoLengthOp: Body.set_fifo_length,
    flow.AdvanceOp: Body.advance,
    flow.ResizeOp: Body.resize,
    flow.RestrideOp: Body.restride,
    flow.RebaseOp: Body.rebase,
    flow.AssertOp: Body.check,
    flow.PrintOp: Body.print_,
    flow.TimestampOp: Body.timestamp,
    flow.DirectiveOp: Body.directive,
    flow.SetExceptionMaskOp: Body.set_exception_mask,
    flow.IndexedOp: Body.indexed,
    flow.LoadRegisterOp: Body.load_register,
    flow.RegisterOp: Body.register,
    flow.ApplyOp: Body.apply,
    **TILE_HANDLERS,
}
