"""Races that every run has which comes to them: accesses to memory, and loads of registers, that an asynchronous
operation uses, found without a run.

A task, or a function that the host launches, is followed with the functions that it calls, statement by statement. What
is kept is what holds on every path: which asynchronous operations have been issued since the last time that the task
waited for wavelets. No task is interrupted, so nothing can have told it of their ends, and an access to their memory
races with them by the same rule as in a run (see "Races" in docs/design.md). Accesses are compared where arrays and
ranges are known at compile time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import memref, scf
from xdsl.ir import Block, Operation, Region

from ...diagnostics.locations import location_of
from ...diagnostics.records import record
from ...dialects import dsd, dsr, wse
from ...dialects.machine.code import Bodies, CodeOperation
from ...dialects.traversal import walk
from .command_stream import COMMAND_STREAM
from .memory_use import Access, Register, Use, access_of_element, array_of, registers_of, use_of
from .microthreads import Blocks

_Found = tuple[tuple[object, ...], Operation, str]
"""A finding: the places of the race, the later operation, and the message."""


@dataclass(frozen=True, eq=False)
class _Flight:
    """An asynchronous operation that has been issued."""

    op: dsd.DsdOperation
    root: str
    """The task or function that runs it."""
    settings: dsd.AsyncAttr
    accesses: tuple[Access, ...]
    registers: frozenset[Register]
    number: int
    """In the order in which operations have been found."""

    @property
    def end(self) -> str | None:
        """The task that starts when it has ended."""
        control = self.settings.control
        return self.settings.activated or self.settings.unblocked or (None if control is None else control.task)

    def __str__(self) -> str:
        where = location_of(self.op)
        return f"{self.op.shown_name} in @{self.root}{'' if where is None else f' at {where}'}, which is asynchronous"


@record
class _State:
    """Facts that hold on every path from the start of a task to a place in it."""

    flights: frozenset[_Flight] = frozenset()
    """Operations that it cannot know the ends of."""
    activated: frozenset[str] = frozenset()
    unblocked: Operation | None = None
    """The store that called `unblock_cmd_stream`."""
    registers: frozenset[tuple[Register, dsr.LoadOp]] = frozenset()
    started: frozenset[tuple[_Flight, str]] = frozenset()
    """On some path: an operation in flight when the task ends, and a task that it activates."""

    def joined(self) -> _State:
        """Return the state after a wait for wavelets."""
        return replace(self, flights=frozenset(), started=frozenset())

    def meet(self, other: _State) -> _State:
        """Return what holds on two paths."""
        return _State(
            self.flights & other.flights,
            self.activated & other.activated,
            self.unblocked if other.unblocked is self.unblocked else None,
            self.registers & other.registers,
            self.started | other.started,
        )


def find_races(program: wse.ProgramOp) -> Iterator[tuple[Operation, str]]:
    """Yield the races of a program, each with the operation that comes later, in the order of the PE programs."""
    bodies = Bodies(program)
    code = _Code()
    effects: dict[CodeOperation, bool] = {}
    seen: set[tuple[object, ...]] = set()
    told: set[tuple[object, ...]] = set()
    for pe in program.pes:
        members = [op for op in pe.body.block.ops if isinstance(op, wse.TaskOp | wse.FuncOp)]
        homes = {op.sym_name.data: bodies.home(op) for op in members}
        for home in homes.values():
            if home not in effects:
                effects[home] = any(_starts_something(op) for op in walk(home))
        if not any(effects[home] for home in homes.values()):
            continue
        tasks = _Pe(pe, members, homes, code, Blocks(pe, bodies))
        if tasks.key in seen:
            continue
        seen.add(tasks.key)
        for places, op, message in tasks.find():
            if places not in told:
                told.add(places)
                yield op, message


def _starts_something(op: Operation) -> bool:
    match op:
        case dsd.DsdOperation():
            return op.asynchronous is not None or isinstance(op, dsr.RegisterOperation)
        case memref.StoreOp():
            return True
        case _:
            return False


_Statement = memref.LoadOp | memref.StoreOp | dsd.DsdOperation | dsr.LoadOp | wse.ActivateOp | wse.CallOp
"""Operations that change a state or are compared with it."""

_Branch = scf.IfOp | scf.IndexSwitchOp | scf.ForOp | scf.WhileOp
"""Control flow: operations whose regions may contain statements."""


class _Code:
    """What holds of code in whichever PE program it is: bodies are shared, and a task is followed several times."""

    def __init__(self) -> None:
        self._statements: dict[Block, list[Operation]] = {}
        self._uses: dict[tuple[dsd.DsdOperation, tuple[dsr.LoadOp | None, ...]], Use] = {}
        self._next: dict[CodeOperation, frozenset[str]] = {}
        self._blocked: dict[CodeOperation, frozenset[str]] = {}
        self.followed: set[tuple[object, ...]] = set()
        """Tasks, by all that what is found in them depends on."""

    def next(self, home: CodeOperation) -> frozenset[str]:
        """Return the functions that code calls, and the tasks that it activates."""
        if home not in self._next:
            called = {op.callee.string_value() for op in walk(home) if isinstance(op, wse.CallOp)}
            activated = {op.task.string_value() for op in walk(home) if isinstance(op, wse.ActivateOp)}
            self._next[home] = frozenset(called | activated)
        return self._next[home]

    def blocked(self, home: CodeOperation) -> frozenset[str]:
        """Return the tasks that code blocks."""
        if home not in self._blocked:
            blocks = (op.symbol.string_value() for op in walk(home) if isinstance(op, wse.BlockOp))
            self._blocked[home] = frozenset(blocks)
        return self._blocked[home]

    def statements(self, block: Block) -> list[Operation]:
        """Return the operations of a block that matter: statements, and what has them inside."""
        found = self._statements.get(block)
        if found is None:
            found = [op for op in block.ops if self._matters(op)]
            self._statements[block] = found
        return found

    def _matters(self, op: Operation) -> bool:
        if isinstance(op, _Branch):
            return any(self.statements(block) for region in op.regions for block in region.blocks)
        return bool(op.regions) or isinstance(op, _Statement)

    def use(self, op: dsd.DsdOperation, registers: Iterable[tuple[Register, dsr.LoadOp]]) -> Use:
        """Return what an operation uses after registers have been loaded."""
        gets = [operand.owner for operand in op.operands if isinstance(operand.owner, dsr.GetDsrOp)]
        loads: dict[dsr.GetDsrOp, dsr.LoadOp | None] = {}
        if gets:
            held = dict(registers)
            loads = {get: held.get((get.register.file(), get.register.number)) for get in gets}
        key = op, tuple(loads.values())
        use = self._uses.get(key)
        if use is None:
            use = self._uses[key] = use_of(op, loads.get)
        return use


class _Pe:
    """The tasks and functions of one PE program."""

    def __init__(
        self,
        pe: wse.PeOp,
        members: Sequence[wse.TaskOp | wse.FuncOp],
        homes: Mapping[str, CodeOperation],
        code: _Code,
        blocks: Blocks,
    ) -> None:
        self._homes = homes
        self._blocks = blocks
        self._code = code
        self._tasks = {op.sym_name.data: op for op in members if isinstance(op, wse.TaskOp)}
        self._blocked = {name for home in homes.values() for name in code.blocked(home)}
        exports = [op for op in pe.body.block.ops if isinstance(op, wse.ExportOp)]
        self._stream = {op.symbol.string_value() for op in exports if op.exported_name == COMMAND_STREAM}
        self._launched = {op.symbol.string_value() for op in exports}
        self._found: list[_Found] = []
        self._ends: dict[tuple[CodeOperation, _State, bool, bool], _State] = {}
        self._flights: dict[tuple[dsd.DsdOperation, str], _Flight] = {}
        self._open: set[CodeOperation] = set()
        self._root = ""

    @property
    def key(self) -> tuple[object, ...]:
        """The same for PE programs in which the same is found."""
        tasks = tuple((name, task.blocked is not None) for name, task in self._tasks.items())
        launched = tuple(name for name in self._homes if name in self._launched)
        return tuple(self._homes.items()), tasks, launched, frozenset(self._stream), frozenset(self._blocks.numbers)

    def find(self) -> list[_Found]:
        """Return what is wrong."""
        for name in self._homes:
            if name in self._tasks or name in self._launched:
                key = name, self._reached(name), frozenset(self._stream), frozenset(self._blocks.numbers)
                if key in self._code.followed:
                    continue
                self._code.followed.add(key)
                state = self._follow_root(name, _State(), head=False)
                self._follow_started(name, state.started, set())
        return self._found

    def _reached(self, name: str) -> frozenset[tuple[object, ...]]:
        """Return what runs after a task or function starts, with what is known of each task."""
        reached: set[str] = set()
        ahead = [name]
        while ahead:
            name = ahead.pop()
            if name in self._homes and name not in reached:
                reached.add(name)
                ahead += self._code.next(self._homes[name])
        return frozenset((each, self._homes[each], *self._kind(each)) for each in reached)

    def _kind(self, name: str) -> tuple[object, ...]:
        op = self._tasks.get(name)
        return () if op is None else (op.task_kind, op.blocked is not None, name in self._blocked)

    def _follow_root(self, name: str, state: _State, *, head: bool) -> _State:
        self._root = name
        self._ends.clear()
        return self._called(self._homes[name], state, certain=True, head=head)

    def _follow_started(self, name: str, started: Iterable[tuple[_Flight, str]], seen: set[object]) -> None:
        """Follow tasks that start, for all that the program does, while operations are in flight."""
        for flight, task in sorted(started, key=lambda each: (each[1], each[0].number)):
            op = self._tasks.get(task)
            if op is None or op.task_kind is not wse.TaskKind.LOCAL or task in self._blocked or (flight, task) in seen:
                continue
            seen.add((flight, task))
            if op.blocked is not None:
                if task == name and flight.settings.unblocked == task:
                    self._tell(flight.op, flight.op, _starts_unblocked(task, flight))
                continue
            following = self._follow_root(task, _State(frozenset({flight})), head=True)
            self._follow_started(task, {(flight, next) for each, next in following.started if each is flight}, seen)

    def _tell(self, op: Operation, other: Operation, message: str) -> None:
        places = tuple(each if (where := location_of(each)) is None else where for each in (op, other))
        self._found.append((places, op, message))

    # Statements. `certain` is False where nothing says that a statement is ever reached; `head` is True in a task that
    # starts while operations are in flight, of which only what it does in any case counts.

    def _called(self, home: CodeOperation, state: _State, *, certain: bool, head: bool) -> _State:
        key = home, state, certain, head
        if (known := self._ends.get(key)) is not None:
            return known
        if home in self._open:
            return state.joined()
        self._open.add(home)
        state = self._region(home.body, state, certain, head)
        self._open.remove(home)
        self._ends[key] = state
        return state

    def _region(self, region: Region, state: _State, certain: bool, head: bool) -> _State:
        for block in region.blocks:
            for op in self._code.statements(block):
                state = self._statement(op, state, certain, head)
        return state

    def _statement(self, op: Operation, state: _State, certain: bool, head: bool) -> _State:
        match op:
            case memref.LoadOp():
                if isinstance(view := op.memref.owner, wse.ViewOp):
                    # Registers of the PE are at known addresses; what they hold may show an end.
                    return state if dsd.constant_value(view.address) is None else state.joined()
                if certain and state.flights:
                    self._access(op, access_of_element(op.memref, op.indices, writes=False), state)
            case memref.StoreOp():
                array = array_of(op.memref) if self._stream else None
                if array is not None and array[0] in self._stream:
                    return self._unblocks(op, state, certain)
                if certain and state.flights:
                    self._access(op, access_of_element(op.memref, op.indices, writes=True), state)
            case dsd.DsdOperation():
                return self._operation(op, state, certain)
            case dsr.LoadOp():
                return self._load(op, state, certain)
            case wse.ActivateOp():
                task = op.task.string_value()
                started = {(flight, task) for flight in state.flights}
                return replace(state, activated=state.activated | {task}, started=state.started | started)
            case wse.CallOp():
                home = self._homes.get(op.callee.string_value())
                return state.joined() if home is None else self._called(home, state, certain=certain, head=head)
            case scf.IfOp() | scf.IndexSwitchOp():
                arms = [self._region(region, state, certain and not head, head) for region in op.regions]
                state = arms[0]
                for arm in arms[1:]:
                    state = state.meet(arm)
            case scf.ForOp():
                return self._for(op, state, certain, head)
            case scf.WhileOp():
                first = self._region(op.before_region, state, certain, head)
                body = self._region(op.after_region, first, certain and not head, head)
                again = self._region(op.before_region, body, False, head)
                return first.meet(again)
            case _ if op.regions:
                return _State()
            case _:
                pass
        return state

    def _for(self, op: scf.ForOp, state: _State, certain: bool, head: bool) -> _State:
        bounds = [dsd.constant_value(value) for value in (op.lb, op.ub, op.step)]
        first, end, step = bounds
        if first is None or end is None or step is None or step < 1:
            return state.meet(self._region(op.body, state, certain and not head, head))
        return self._region(op.body, state, certain, head) if first < end else state

    def _access(self, op: Operation, access: Access | None, state: _State) -> None:
        if access is not None:
            self._compare(op, access, state)

    def _compare(self, op: Operation, access: Access, state: _State) -> None:
        for flight in _in_order(state.flights):
            for used in flight.accesses:
                element = access.common(used)
                if element is not None:
                    whole = "an element" if access.elements is None else f"element {element}"
                    does, uses = ("writes" if each.writes else "reads" for each in (access, used))
                    scalar = f"this {'store' if access.writes else 'load'}"
                    who = f"{op.shown_name} in @{self._root}" if isinstance(op, dsd.DsdOperation) else scalar
                    message = f"{who} {does} {whole} of @{access.buffer} while {flight}, {uses} it"
                    self._tell(op, flight.op, f"{message}; {self._remedy(flight)}")
                    return

    def _remedy(self, flight: _Flight) -> str:
        end = flight.end
        if end is None:
            return "give that operation a task to activate or unblock when it has ended, and do it there"
        if end == self._root == flight.root:
            return f"do it before that is issued, and let nothing else start @{end} before that has ended"
        if end == self._root:
            return f"@{end} has started for another reason: let nothing else start it before that has ended"
        return f"do it in @{end}, which starts when that has ended"

    def _operation(self, op: dsd.DsdOperation, state: _State, certain: bool) -> _State:
        use = self._code.use(op, state.registers)
        if not use.is_known:
            # It may wait for wavelets, and registers may move on.
            return state.joined()
        if certain and state.flights:
            for access in use.accesses:
                self._compare(op, access, state)
        if use.settings is None or not use.uses_fabric:
            return state.joined() if use.receives else state
        if self._blocks.may_block(use.settings.microthread):
            return state  # it may not begin before the code unblocks its microthread
        flight = self._flights.get((op, self._root))
        if flight is None:
            flight = self._flights[op, self._root] = _Flight(
                op, self._root, use.settings, use.accesses, use.registers, len(self._flights)
            )
        started = {(flight, task) for task in state.activated}
        return replace(state, flights=state.flights | {flight}, started=state.started | started)

    def _load(self, op: dsr.LoadOp, state: _State, certain: bool) -> _State:
        written = registers_of(op)
        for flight in _in_order(state.flights) if certain else ():
            for file, number in sorted(written & flight.registers, key=str)[:1]:
                message = f"{file} register {number} is loaded again while {flight}, uses it; {self._remedy(flight)}"
                self._tell(op, flight.op, message)
        register = op.register.file(), op.register.number
        kept = {each for each in state.registers if each[0] not in written}
        return replace(state, registers=frozenset({*kept, (register, op)} if written else kept))

    def _unblocks(self, op: memref.StoreOp, state: _State, certain: bool) -> _State:
        if state.unblocked is not None and certain:
            place = location_of(state.unblocked)
            self._tell(op, state.unblocked, _unblocks_again(self._root, None if place is None else str(place)))
        return replace(state, unblocked=state.unblocked or op)


def _in_order(flights: Iterable[_Flight]) -> list[_Flight]:
    return sorted(flights, key=lambda flight: flight.number)


def _starts_unblocked(task: str, flight: _Flight) -> str:
    return (
        f"@{task} starts before {flight} and unblocks it at its end: nothing has blocked it since it was unblocked "
        "last; @block it again each time that it has started"
    )


def _unblocks_again(root: str, place: str | None) -> str:
    return (
        f"@{root} calls unblock_cmd_stream() again, which it has called{'' if place is None else f' at {place}'} since "
        "the launch; call it once for each launch, where the work that this starts ends, since the first call lets the "
        "host go on"
    )
