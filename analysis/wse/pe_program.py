"""Skeletons of PE programs, read off their IR for the analyses that must not know IR.

Structured control flow of `scf` becomes branches and loops; of an operation that is not known but holds code, nothing
is assumed about how often it runs it. A body that several PE programs share is read once, and programs whose skeletons
are equal, which mostly differ in numbers only, have one outline, whose analyses are carried out once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TypeVar, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.utils.hints import isa

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...diagnostics.records import record
from ...dialects import dsd, dsr, wse
from ...dialects.machine.code import Bodies, CodeOperation
from ...dialects.machine.sharing import Ask, Variants
from ...dialects.traversal import walk
from .. import skeleton
from ..concurrency import Concurrency


def programs(module: ModuleOp) -> Iterator[wse.ProgramOp]:
    """Yield every program of a module."""
    return (op for op in module.body.block.ops if isinstance(op, wse.ProgramOp))


_OperationT = TypeVar("_OperationT", bound=Operation)


def members_of(pe: wse.PeOp, kind: type[_OperationT]) -> Iterator[_OperationT]:
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
    """Possible contents of the registers of a PE program where an operation takes them.

    A register that the body of an operation does not load itself may hold what any load of the program puts into it.
    """

    def __init__(self, loads: Sequence[dsr.LoadOp]):
        """Take the loads of a PE program, none if no operation takes a register that another body loads."""
        self._loads: dict[tuple[str, int | None], list[dsr.LoadOp]] = {}
        self._stepped: set[tuple[str, int | None]] = set()
        for op in loads:
            register = op.register.file(), op.register.number
            if op.single_step is None:
                self._loads.setdefault(register, []).append(op)
            else:
                self._stepped.add(register)

    def loads(self, operand: SSAValue) -> Sequence[dsr.LoadOp]:
        """Return the loads that may have filled an operand; none for what is not a register."""
        match operand.owner:
            case dsr.LoadOp() as load:
                return (load,)
            case dsr.GetDsrOp() as get:
                return self._loads.get((get.register.file(), get.register.number), ())
            case _:
                return ()

    def is_for_map(self, operand: SSAValue) -> bool:
        """Return True if an operand is a register that is loaded with `single_step` alone (DSR-069)."""
        match operand.owner:
            case dsr.LoadOp() as load:
                return load.single_step is not None
            case dsr.GetDsrOp() as get:
                register = get.register.file(), get.register.number
                return register in self._stepped and register not in self._loads
            case _:
                return False

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


Position = tuple[str, int]
"""A DSD operation or a loop of a PE program: its function or task, and its number there."""


@record
class _Read:
    """A body as a skeleton, whose operations and loops are numbers, and what those are."""

    statements: tuple[skeleton.Statement, ...]
    items: tuple[Operation, ...]
    number: int
    """The same for bodies with the same statements."""


class Outline:
    """The skeleton of PE programs that differ at most in what their operations compute. Keys are positions."""

    def __init__(self, program: skeleton.Program):
        self.program = program

    @cached_property
    def concurrency(self) -> Concurrency:
        return Concurrency(self.program)


def _is_register(value: SSAValue) -> bool:
    return isinstance(value.type, dsr.RegisterType)


class _Body:
    """A body, read once: its operations and callees."""

    def __init__(self, home: CodeOperation):
        self.inside = [inner for block in home.body.blocks for op in block.ops for inner in walk(op)]
        self.callees = tuple(
            dict.fromkeys(op.callee.string_value() for op in self.inside if isinstance(op, wse.CallOp))
        )
        self.operations = [op for op in self.inside if isinstance(op, dsd.DsdOperation)]
        self.loads = [op for op in self.inside if isinstance(op, dsr.LoadOp)]
        self.takes_registers = any(isinstance(op, dsr.GetDsrOp) for op in self.inside)
        self.register_makers = [op for op in self.inside if any(_is_register(result) for result in op.results)]
        self.is_silent = all(
            not isinstance(op, dsd.DsdOperation | wse.ActivateOp | wse.BlockOp | wse.UnblockOp) for op in self.inside
        )


class ProgramReader:
    """Reads the PE programs of a program, which must not change meanwhile."""

    def __init__(self, program: wse.ProgramOp):
        self.bodies = Bodies(program)
        self._found: dict[CodeOperation, _Body] = {}
        self._read: Variants[_Read] = Variants()
        self._numbers: dict[tuple[skeleton.Statement, ...], int] = {}
        self._outlines: dict[Hashable, Outline] = {}

    def body(self, home: CodeOperation) -> _Body:
        """Return what is read of a body once."""
        found = self._found.get(home)
        if found is None:
            found = self._found[home] = _Body(home)
        return found

    def statements(self, home: CodeOperation, answer: Callable[..., object]) -> _Read:
        """Return the skeleton of a body, for a PE program that answers the questions of `_Reader`."""

        def read(ask: Ask) -> _Read:
            reader = _Reader(ask)
            statements = reader.body(home.body)
            number = self._numbers.setdefault(statements, len(self._numbers))
            return _Read(statements, tuple(reader.items), number)

        return self._read.of(home, answer, read)

    def outline(self, tasks: Mapping[str, skeleton.Task], functions: Mapping[str, skeleton.Function], key: Hashable):
        """Return the outline for bodies whose keys are numbers; `key` tells whether there is an equal one."""
        found = self._outlines.get(key)
        if found is None:
            program = skeleton.Program(
                {name: replace(task, body=_named(task.body, name)) for name, task in tasks.items()},
                {name: replace(code, body=_named(code.body, name)) for name, code in functions.items()},
            )
            found = self._outlines[key] = Outline(program)
        return found


def _named(body: tuple[skeleton.Statement, ...], member: str) -> tuple[skeleton.Statement, ...]:
    """Return a body in which operations and loops are called by their positions."""

    def one(statement: skeleton.Statement) -> skeleton.Statement:
        match statement:
            case skeleton.Operation():
                return replace(statement, key=(member, statement.key))
            case skeleton.Branch():
                return replace(statement, arms=tuple(_named(arm, member) for arm in statement.arms))
            case skeleton.Loop():
                body = _named(statement.body, member)
                return replace(statement, body=body, key=None if statement.key is None else (member, statement.key))
            case _:
                return statement

    return tuple(map(one, body))


class PeCode:
    """The functions and tasks of one PE program, with their outline.

    A function that nothing calls is taken to be launched by the host, exported or not.
    """

    def __init__(self, pe: wse.PeOp, reader: ProgramReader):
        self.pe = pe
        self.bodies = reader.bodies
        members = [op for op in pe.body.block.ops if isinstance(op, wse.TaskOp | wse.FuncOp)]
        self.members: dict[str, CodeOperation] = {op.sym_name.data: op for op in members}
        """Functions and tasks by name."""
        found = {name: reader.body(reader.bodies.home(op)) for name, op in self.members.items()}
        self.operations = [inner for body in found.values() for inner in body.operations]
        """All DSD operations, in order."""
        self.takes_registers = any(body.takes_registers for body in found.values())
        """True if an operation takes a register that another body loads."""
        first = [inner for op in members_of(pe, wse.InitialOp) for inner in walk(op)]
        initial = [op for op in first if isinstance(op, dsr.LoadOp)]
        loads = [load for body in found.values() for load in body.loads]
        self.register_makers = [op for op in first if any(_is_register(result) for result in op.results)]
        """The operations that name or load registers, in order."""
        for body in found.values():
            self.register_makers += body.register_makers
        self.registers = Registers([*initial, *loads] if self.takes_registers else [])
        exported = {op.symbol.string_value() for op in members_of(pe, wse.ExportOp)}
        called = {callee for body in found.values() for callee in body.callees}
        unblocked, silent = _unblocked_tasks(pe), _silent_functions(pe, found)

        def answer(question: str, about: str | dsd.DsdOperation) -> object:
            match about:
                case str():
                    return unblocked.get(about, []) if question == "unblocked" else about in silent
                case _:
                    return self.registers.settings(about)

        read = {name: reader.statements(reader.bodies.home(op), answer) for name, op in self.members.items()}
        tasks: dict[str, skeleton.Task] = {}
        functions: dict[str, skeleton.Function] = {}
        key: list[Hashable] = []
        for op in members:
            name = op.sym_name.data
            if isinstance(op, wse.TaskOp):
                active, blocked = op.active is not None, op.blocked is not None
                tasks[name] = skeleton.Task(read[name].statements, op.task_kind.value, active=active, blocked=blocked)
                key.append((name, op.task_kind, active, blocked, read[name].number))
            else:
                is_launched = name in exported or name not in called
                functions[name] = skeleton.Function(read[name].statements, exported=is_launched)
                key.append((name, is_launched, read[name].number))
        self.outline: Outline = reader.outline(tasks, functions, tuple(key))
        self._items = {name: body.items for name, body in read.items()}
        self._positions: dict[Operation, Position] = {
            item: (name, number) for name, items in self._items.items() for number, item in enumerate(items)
        }
        self._overlapping: dict[dsd.DsdOperation, Sequence[dsd.DsdOperation]] = {}

    def position(self, op: Operation) -> Position:
        """Return what the outline calls a DSD operation or a loop."""
        return self._positions[op]

    def items(self, name: str) -> tuple[Operation, ...]:
        """Return the DSD operations and loops of a function or task, by their numbers."""
        return self._items[name]

    def at(self, position: Hashable) -> Operation:
        """Return the DSD operation or loop at a position."""
        name, number = cast(Position, position)
        return self._items[name][number]

    def started(self) -> Iterator[tuple[dsd.DsdOperation, bool]]:
        """Yield the DSD operations, those of tasks first, each with whether it may be asynchronous."""
        for entry in self.outline.program.operations():
            yield cast(dsd.DsdOperation, self.at(entry.key)), entry.asynchronous

    def overlapping(self, op: dsd.DsdOperation) -> Sequence[dsd.DsdOperation]:
        """Return the operations that may be under way while `op` is; see `Concurrency`."""
        found = self._overlapping.get(op)
        if found is None:
            positions = self.outline.concurrency.overlapping(self.position(op))
            found = self._overlapping[op] = [cast(dsd.DsdOperation, self.at(position)) for position in positions]
        return found

    def certainly_overlap(self, op: dsd.DsdOperation, other: dsd.DsdOperation) -> bool:
        """Return True if every run that issues both has them under way together."""
        return self.outline.concurrency.certainly_overlap(self.position(op), self.position(other))


def _silent_functions(pe: wse.PeOp, found: Mapping[str, _Body]) -> set[str]:
    """Return the functions that start no operation and signal no task, neither by themselves nor by what they call."""
    callers: dict[str, set[str]] = {}
    functions = [op.sym_name.data for op in members_of(pe, wse.FuncOp)]
    for name in functions:
        for callee in found[name].callees:
            callers.setdefault(callee, set()).add(name)
    silent = set(functions)
    speaking = [name for name in functions if not found[name].is_silent]
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
    """Reads a body; what neither starts an operation nor signals a task is left out.

    Asks of the PE program which tasks a symbol that is unblocked means, which functions are silent, and how operations
    run whose registers another body loads.
    """

    def __init__(self, ask: Ask):
        self._ask = ask
        self.items: list[Operation] = []
        """The DSD operations and loops, by their numbers."""

    def _number(self, item: Operation) -> int:
        self.items.append(item)
        return len(self.items) - 1

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
                takes_registers = any(isinstance(operand.owner, dsr.GetDsrOp) for operand in op.table_operands)
                settings = self._ask("settings", op) if takes_registers else [op.settings]
                ways = [way for way in settings if way is not None]
                if not ways:
                    yield skeleton.Operation(self._number(op), waits=_may_wait(op))
                else:
                    # What may be asynchronous goes on before it has ended.
                    completions = [end for way in ways for end in self._completions(way)]
                    yield skeleton.Operation(self._number(op), True, tuple(dict.fromkeys(completions)))
            case wse.ActivateOp():
                yield skeleton.Signal("activate", op.task.string_value())
            case wse.BlockOp():
                yield from self._signals("block", op.symbol.string_value())
            case wse.UnblockOp():
                yield from self._signals("unblock", op.symbol.string_value())
            case wse.CallOp():
                if not self._ask("silent", op.callee.string_value()):
                    yield skeleton.Call(op.callee.string_value())
            case scf.IfOp() | scf.IndexSwitchOp():
                arms = tuple(self.body(region) for region in op.regions)
                if any(arms):
                    yield skeleton.Branch(arms)
            case scf.ForOp():
                if body := self.body(op.body):
                    yield skeleton.Loop(body, _least_trips(op), self._number(op))
            case scf.WhileOp():
                before, after = self.body(op.before_region), self.body(op.after_region)
                if before or after:
                    # The condition's region runs once more than the body's.
                    body = (*before, skeleton.Branch((after, ()), separate=True))
                    yield skeleton.Loop(body, 1, self._number(op))
            case _ if op.regions:
                arms = tuple(self.body(region) for region in op.regions)
                if any(arms):
                    yield skeleton.Loop((skeleton.Branch(arms, separate=True),), 0, self._number(op))
            case _:
                pass

    def _signals(self, action: str, symbol: str) -> tuple[skeleton.Signal, ...]:
        kind = cast("skeleton.Action", action)
        return tuple(skeleton.Signal(kind, task) for task in self._ask("unblocked", symbol))

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


def _may_wait(op: dsd.DsdOperation) -> bool:
    """Return True if a synchronous operation may wait for wavelets or for a FIFO."""
    for operand in op.table_operands:
        owner = operand.owner
        if isinstance(owner, dsr.GetDsrOp):
            return True
        type = owner.descriptor.type if isinstance(owner, dsr.LoadOp) else operand.type
        if isinstance(type, dsd.FabinType | dsd.FifoType):
            return True
    return False


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
