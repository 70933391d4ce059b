"""Skeletons of PE programs, read off their IR for the analyses that must not know IR.

Operations are named by themselves, tasks and functions by their symbols. Structured control flow of `scf` becomes
branches and loops; of an operation that is not known but holds code, nothing is assumed about how often it runs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.utils.hints import isa

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...dialects import dsd, dsr, wse
from ...dialects.traversal import walk
from .. import skeleton


def pe_programs(module: ModuleOp) -> Iterator[wse.PeOp]:
    """Yield every PE program of a module."""
    for op in module.body.block.ops:
        if isinstance(op, wse.ProgramOp):
            yield from op.pes


def members(pe: wse.PeOp, kind: type[Operation]) -> Iterator[Operation]:
    """Yield the operations of one kind at the top level of a PE program."""
    return (op for op in pe.body.block.ops if isinstance(op, kind))


def described(op: dsd.DsdOperation) -> str:
    """Return the text of a DSD operation in messages: name, task or function, source location."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, wse.TaskOp | wse.FuncOp):
        parent = parent.parent_op()
    name = op.name.partition(".")[2]
    if parent is not None:
        kind = "task" if isinstance(parent, wse.TaskOp) else "function"
        name = f"{name} in {kind} @{parent.sym_name.data}"
    location = location_of(op)
    return name if location is None else f"{name} ({location})"


def descriptor_makers(value: SSAValue) -> list[Operation]:
    """Return the operations that may have made the descriptor `value`, through what derives, selects and carries it.

    Raises LoomError if it comes in as an argument of a function.
    """
    found: dict[Operation, None] = {}
    seen: set[SSAValue] = set()
    pending = [value]
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        owner = current.owner
        if isinstance(owner, dsd.DerivedDescriptorOp):
            pending.append(owner.descriptor)
        elif isinstance(owner, Operation):
            carried = list(_carried(owner, cast(OpResult, current).index))
            pending.extend(carried)
            if not carried:
                found[owner] = None
        else:
            pending.extend(_passed_to(owner, cast(BlockArgument, current).index))
    return list(found)


def _carried(op: Operation, index: int) -> Iterator[SSAValue]:
    """Yield what a result of structured control flow may be."""
    if isinstance(op, scf.IfOp | scf.IndexSwitchOp | scf.ForOp | scf.WhileOp):
        for region in op.regions:
            last = region.blocks.last.last_op if region.blocks.last is not None else None
            if isinstance(last, scf.YieldOp) and not isinstance(op, scf.WhileOp):
                yield last.operands[index]
            elif isinstance(last, scf.ConditionOp):
                yield last.args[index]
    if isinstance(op, scf.ForOp):
        yield op.iter_args[index]
    if isinstance(op, arith.SelectOp):
        yield from (op.lhs, op.rhs)


def _passed_to(block: Block, index: int) -> Iterator[SSAValue]:
    """Yield what an argument of a block may be."""
    op = block.parent_op()
    if isinstance(op, scf.ForOp):
        yield op.iter_args[index - 1]
        yield cast(Operation, op.body.block.last_op).operands[index - 1]
    elif isinstance(op, scf.WhileOp) and block.parent is op.before_region:
        yield op.arguments[index]
        yield cast(Operation, op.after_region.block.last_op).operands[index]
    elif isinstance(op, scf.WhileOp):
        yield cast(scf.ConditionOp, op.before_region.block.last_op).args[index]
    else:
        message = (
            "a descriptor is passed as an argument, so its queue is not known; make the descriptor where it is used"
        )
        raise LoomError(message, None if op is None else location_of(op))


class Registers:
    """What the registers of a PE program may hold where an operation takes them.

    A register that the body of an operation does not load itself may hold what any load of the program puts into it.
    """

    def __init__(self, pe: wse.PeOp):
        self._loads: dict[tuple[str, int | None], list[dsr.LoadOp]] = {}
        inside = list(walk(pe))
        if any(isinstance(op, dsr.GetDsrOp) for op in inside):
            for op in inside:
                if isinstance(op, dsr.LoadOp):
                    self._loads.setdefault((op.register.file(), op.register.number), []).append(op)

    def loads(self, operand: SSAValue) -> Sequence[dsr.LoadOp]:
        """Return the loads that may have filled an operand; none for what is not a register."""
        match operand.owner:
            case dsr.LoadOp() as load:
                return (load,)
            case dsr.GetDsrOp() as get:
                return self._loads.get((get.register.file(), get.register.number), ())
            case _:
                return ()

    def descriptors(self, operand: SSAValue) -> tuple[SSAValue, ...]:
        """Return the descriptors that an operand is or may hold."""
        if isinstance(operand.type, dsd.DescriptorType):
            return (operand,)
        return tuple(load.descriptor for load in self.loads(operand))

    def settings(self, op: dsd.DsdOperation) -> list[dsd.AsyncAttr | None]:
        """Return every way in which an operation may run, None for a synchronous one.

        The first register loaded with `async` decides, destination before sources (DSD-182, DSD-195).
        """
        if not any(isinstance(operand.owner, dsr.GetDsrOp) for operand in op.table_operands):
            return [op.settings]
        ways: dict[dsd.AsyncAttr | None, None] = {}
        for operand in op.table_operands:
            given = [load.asynchronous for load in self.loads(operand)]
            ways |= dict.fromkeys(each for each in given if each is not None)
            if given and None not in given:
                return list(ways)
        return [*ways, None]

    def is_async(self, op: dsd.DsdOperation, *, surely: bool = False) -> bool:
        """Return True if an operation may run on a microthread, or with `surely` whether it always does."""
        ways = self.settings(op)
        return all(way is not None for way in ways) if surely else any(way is not None for way in ways)


def skeleton_of(pe: wse.PeOp) -> skeleton.Program:
    """Return the skeleton of one PE program; its DSD operations are the keys of the skeleton's operations.

    A function that nothing calls is taken to be launched by the host, exported or not.
    """
    exported = {cast(wse.ExportOp, op).symbol.string_value() for op in members(pe, wse.ExportOp)}
    called = {op.callee.string_value() for op in walk(pe) if isinstance(op, wse.CallOp)}
    reader = _Reader(_unblocked_tasks(pe), _silent_functions(pe), Registers(pe))
    result = skeleton.Program()
    for op in pe.body.block.ops:
        if isinstance(op, wse.TaskOp):
            result.tasks[op.sym_name.data] = skeleton.Task(
                reader.body(op.body),
                op.task_kind.value,
                active=op.active is not None,
                blocked=op.blocked is not None,
            )
        elif isinstance(op, wse.FuncOp):
            name = op.sym_name.data
            result.functions[name] = skeleton.Function(
                reader.body(op.body), exported=name in exported or name not in called
            )
    return result


def _silent_functions(pe: wse.PeOp) -> set[str]:
    """Return the functions that start no operation and signal no task, neither by themselves nor by what they call."""
    callers: dict[str, set[str]] = {}
    speaking: list[str] = []
    functions = {cast(wse.FuncOp, op).sym_name.data: op for op in members(pe, wse.FuncOp)}
    for name, function in functions.items():
        inside = list(walk(function))
        if any(isinstance(op, dsd.DsdOperation | wse.ActivateOp | wse.BlockOp | wse.UnblockOp) for op in inside):
            speaking.append(name)
        for op in inside:
            if isinstance(op, wse.CallOp):
                callers.setdefault(op.callee.string_value(), set()).add(name)
    silent = set(functions)
    while speaking:
        name = speaking.pop()
        if name in silent:
            silent.remove(name)
            speaking.extend(callers.get(name, ()))
    return silent


def _unblocked_tasks(pe: wse.PeOp) -> dict[str, list[str]]:
    """Return the tasks meant by each symbol that can be blocked: a task itself, a queue, or on WSE-2 a color."""
    tasks: dict[str, list[str]] = {}
    queues = {
        op.sym_name.data: [entry.color_name for entry in op.colors]
        for op in pe.body.block.ops
        if isinstance(op, wse.InputQueueOp)
    }
    for op in pe.body.block.ops:
        if isinstance(op, wse.TaskOp):
            name = op.sym_name.data
            queue = None if op.queue is None else op.queue.string_value()
            for symbol in (name, *([] if queue is None else [queue, *queues.get(queue, [])])):
                tasks.setdefault(symbol, []).append(name)
    return tasks


@lru_cache(maxsize=512)
def _is_silent(kind: type[Operation]) -> bool:
    """Return True if operations of a class without code inside neither start an operation nor signal a task."""
    return not issubclass(kind, dsd.DsdOperation | wse.ActivateOp | wse.BlockOp | wse.UnblockOp | wse.CallOp)


class _Reader:
    """Reads bodies; what neither starts an operation nor signals a task is left out."""

    def __init__(self, tasks: Mapping[str, list[str]], silent: set[str], registers: Registers):
        self._tasks = tasks
        self._silent = silent
        self._registers = registers

    def body(self, region: Region) -> tuple[skeleton.Statement, ...]:
        return tuple(
            statement
            for block in region.blocks
            for op in block.ops
            if op.regions or not _is_silent(type(op))
            for statement in self._statements(op)
        )

    def _statements(self, op: Operation) -> Iterator[skeleton.Statement]:
        match op:
            case dsd.DsdOperation():
                ways = [way for way in self._registers.settings(op) if way is not None]
                if not ways:
                    yield skeleton.Operation(op)
                else:
                    # What may be asynchronous goes on before it has ended.
                    completions = [end for way in ways for end in self._completions(way)]
                    yield skeleton.Operation(op, True, tuple(dict.fromkeys(completions)))
            case wse.ActivateOp():
                yield skeleton.Signal("activate", op.task.string_value())
            case wse.BlockOp():
                yield from self._signals("block", op.symbol.string_value())
            case wse.UnblockOp():
                yield from self._signals("unblock", op.symbol.string_value())
            case wse.CallOp():
                if op.callee.string_value() not in self._silent:
                    yield skeleton.Call(op.callee.string_value())
            case scf.IfOp() | scf.IndexSwitchOp():
                arms = tuple(self.body(region) for region in op.regions)
                if any(arms):
                    yield skeleton.Branch(arms)
            case scf.ForOp():
                if body := self.body(op.body):
                    yield skeleton.Loop(body, _least_trips(op), op)
            case scf.WhileOp():
                before, after = self.body(op.before_region), self.body(op.after_region)
                if before or after:
                    # The condition's region runs once more than the body's.
                    yield skeleton.Loop((*before, skeleton.Branch((after, ()), separate=True)), 1, op)
            case _ if op.regions:
                arms = tuple(self.body(region) for region in op.regions)
                if any(arms):
                    yield skeleton.Loop((skeleton.Branch(arms, separate=True),), 0, op)
            case _:
                pass

    def _signals(self, action: str, symbol: str) -> tuple[skeleton.Signal, ...]:
        kind = cast("skeleton.Action", action)
        return tuple(skeleton.Signal(kind, task) for task in self._tasks.get(symbol, ()))

    def _completions(self, settings: dsd.AsyncAttr) -> tuple[tuple[skeleton.Signal, ...], ...]:
        normal: tuple[skeleton.Signal, ...] = ()
        if settings.activated is not None:
            normal = (skeleton.Signal("activate", settings.activated),)
        elif settings.unblocked is not None:
            normal = self._signals("unblock", settings.unblocked)
        control = settings.control
        if control is None:
            return (normal,)
        task = control.task
        match control.control_action:
            case dsd.ControlAction.ACTIVATE if task is not None:
                return normal, (skeleton.Signal("activate", task),)
            case dsd.ControlAction.UNBLOCK if task is not None:
                return normal, self._signals("unblock", task)
            case _:
                return normal, ()


def _least_trips(loop: scf.ForOp) -> int:
    bounds = [_constant(value) for value in (loop.lb, loop.ub, loop.step)]
    first, end, step = bounds
    if first is None or end is None or step is None or step < 1:
        return 0
    return len(range(first, end, step))


def _constant(value: SSAValue) -> int | None:
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isa(owner.value, IntegerAttr):
        return owner.value.value.data
    return None
