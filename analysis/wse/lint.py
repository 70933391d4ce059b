"""Lint of wafer programs: warnings about tasks, queues and variables that cannot do what they are declared for.

Declarations are those of all PE programs together, by their place in the source: what one of them does is done.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from xdsl.dialects import memref
from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Operation, SSAValue

from ... import targets
from ...dialects import dsd, wse
from ...dialects.machine.code import Bodies
from ...dialects.machine.region import RegionAttr
from ...dialects.symbols import symbol_name, symbols_named
from ...dialects.traversal import walk
from .command_stream import early_unblocks
from .lengths import unequal_lengths
from .microthreads import never_unblocked
from .races import find_races
from .wavelet_types import mixed_floats

Place = Hashable
"""A file, a line and a column, or the names of a PE program and of what it declares, if no place is known."""


CODES = {
    "unbound-task": "a task is never bound",
    "idle-task": "a task never runs",
    "unused-queue": "a queue is initialized, but nothing receives or is sent by it",
    "unwritten-variable": "a variable without initial value is read, but never written",
    "unused-mistake": "a constant, variable, function or task that nothing uses could not be used",
    "race": "memory is used while an asynchronous operation uses it, or a task cannot know its end",
    "blocked-microthread": "a microthread is blocked and never unblocked",
    "mixed-floats": "floats are sent as one type and received as another",
    "lengths": "operands of an operation have different lengths",
}
"""The codes of warnings, which end their messages, and what each warns of."""


def coded(code: str, message: str) -> str:
    """Return a warning with its code."""
    assert code in CODES
    return f"{message} [{code}]"


def lint_program(program: wse.ProgramOp) -> Iterator[tuple[Operation, str]]:
    """Yield warnings about a program, each with the operation that it is about, in the order of the program."""
    declared = Declared(program)
    told: set[Place] = set()
    for pe in program.pes:
        used = declared.symbols_used(pe)
        for op in pe.body.block.ops:
            place = place_of(pe, op)
            if place is None or place in told:
                continue
            message = _message(declared, op, place, used)
            if message is not None:
                told.add(place)
                yield op, message
    yield from lint_behavior(program)


def lint_behavior(program: wse.ProgramOp) -> Iterator[tuple[Operation, str]]:
    """Yield warnings about what a program does, whatever it declares, each with the operation that it is about."""
    for op, message in (*find_races(program), *early_unblocks(program)):
        yield op, coded("race", message)
    for op, message in never_unblocked(program):
        yield op, coded("blocked-microthread", message)
    for op, message in mixed_floats(program):
        yield op, coded("mixed-floats", message)
    for op, message in unequal_lengths(program):
        yield op, coded("lengths", message)


def _message(declared: Declared, op: Operation, place: Place, used: set[str]) -> str | None:
    match op:
        case wse.TaskOp():
            return declared.of_task(op.sym_name.data, declared.tasks[place])
        case wse.BufferOp() if op.address is None:
            buffer = declared.buffers[place]
            if buffer.is_read and not buffer.is_written:
                return unwritten(op.sym_name.data, "give it a value, as = dense<0>, or write it")
        case wse.InputQueueOp() if op.sym_name.data not in used:
            return unused_queue(output=False, name=f"@{op.sym_name.data}")
        case wse.OutputQueueOp() if op.sym_name.data not in used:
            return unused_queue(output=True, name=f"@{op.sym_name.data}")
        case _:
            pass
    return None


def unused_queue(*, output: bool, name: str | int) -> str:
    """Return the warning about a queue that is initialized and not used."""
    if output:
        message = f"output queue {name} is initialized, but nothing is sent by it; remove it, or use it in a DSD"
    else:
        remedy = "give it a DSD or a data task, or remove it"
        message = f"input queue {name} is initialized, but nothing receives by it; {remedy}"
    return coded("unused-queue", message)


def unwritten(name: str, remedy: str) -> str:
    """Return the warning about a variable that is read and not written."""
    return coded("unwritten-variable", f"variable '{name}' is read, but never written; {remedy}")


@dataclass
class _Body:
    """Effects of a function or task: the symbols that it activates or unblocks, the buffers that it reads or writes."""

    activated: set[str] = field(default_factory=set[str])
    unblocked: set[str] = field(default_factory=set[str])
    read: set[str] = field(default_factory=set[str])
    written: set[str] = field(default_factory=set[str])
    sends_control: bool = False


@dataclass
class Seen:
    """Uses of a declaration, of all PE programs together."""

    names: set[str] = field(default_factory=set[str])
    is_reached: bool = False
    is_unblocked: bool = False
    has_wavelets: bool = False
    is_read: bool = False
    is_written: bool = False
    kind: str = ""


class Declared:
    """The tasks and variables of all PE programs, by where the source declares them."""

    def __init__(self, program: wse.ProgramOp) -> None:
        self._target = targets.get(program.target.data)
        self._program = program
        self._bodies = Bodies(program)
        self._found: dict[int, tuple[Operation, _Body]] = {}
        self.tasks: dict[Place, Seen] = {}
        self.buffers: dict[Place, Seen] = {}
        self._ways = _Ways(program)
        self._sends_control = False
        for pe in program.pes:
            self._add(pe)

    def symbols_used(self, pe: wse.PeOp) -> set[str]:
        """Return the symbols that a PE program names somewhere."""
        found: set[str] = set()
        for op in pe.body.block.ops:
            found |= symbols_named(op)
            if isinstance(op, wse.FuncOp | wse.TaskOp):
                for inner in walk(self._bodies.home(op)):
                    found |= symbols_named(inner)
            elif op.regions:
                for inner in walk(op):
                    found |= symbols_named(inner)
        return found

    def of_task(self, name: str, task: Seen) -> str | None:
        """Return the warning about a task that never runs, None if it may."""
        if not task.is_unblocked:
            why = "it is blocked at the start, and nothing unblocks it"
        elif task.kind == "local" and not task.is_reached and not self._sends_control:
            why = "nothing activates it; use @activate, or '.activate' of an asynchronous operation"
        elif task.kind == "data" and not task.has_wavelets:
            why = "no route leads its color to the PE; give the color a route with '.tx' RAMP there"
        else:
            return None
        return coded("idle-task", f"task '{name}' never runs: {why}")

    def _add(self, pe: wse.PeOp) -> None:
        """Record the tasks and buffers of a PE program."""
        activated: set[str] = set()
        unblocked: set[str] = set()
        read: set[str] = set()
        written: set[str] = set()
        queues: dict[str, wse.InputQueueOp] = {}
        for op in pe.body.block.ops:
            match op:
                case wse.FuncOp() | wse.TaskOp():
                    body = self._body(self._bodies.home(op))
                    activated |= body.activated
                    unblocked |= body.unblocked
                    read |= body.read
                    written |= body.written
                    self._sends_control |= body.sends_control
                case wse.InitialOp():
                    body = _read(op)
                    activated |= body.activated
                    unblocked |= body.unblocked
                    read |= body.read
                    written |= body.written
                case wse.InputQueueOp():
                    queues[op.sym_name.data] = op
                case wse.FifoOp():
                    activated |= symbols_named(op)
                case wse.ExportOp() | wse.InitializeOp():
                    # The host writes what is exported, and pointers write what their address is taken of.
                    written |= symbols_named(op)
                case _:
                    pass
        written |= activated
        for op in pe.body.block.ops:
            place = place_of(pe, op)
            if place is None:
                continue
            if isinstance(op, wse.TaskOp):
                self._add_task(pe, op, self.tasks.setdefault(place, Seen()), queues, activated, unblocked)
            elif isinstance(op, wse.BufferOp):
                seen = self.buffers.setdefault(place, Seen())
                name = op.sym_name.data
                seen.is_read |= name in read
                seen.is_written |= name in written or op.value is not None

    def _add_task(
        self,
        pe: wse.PeOp,
        op: wse.TaskOp,
        seen: Seen,
        queues: dict[str, wse.InputQueueOp],
        activated: set[str],
        unblocked: set[str],
    ) -> None:
        name, id = op.sym_name.data, None if op.id is None else op.id.value.data
        names = {name}
        kind = op.task_kind.value
        seen.kind = kind if seen.kind in ("", kind) else "several"
        seen.is_reached |= op.active is not None or name in activated or id == self._target.teardown_task
        if op.queue is not None:
            queue = queues.get(op.queue.string_value())
            names.add(op.queue.string_value())
            colors = [] if queue is None else [entry.color_name for entry in queue.colors]
            names |= set(colors)
            seen.has_wavelets |= not colors or any(self._ways.may_reach(color, pe) for color in colors)
        seen.is_unblocked |= op.blocked is None or not names.isdisjoint(unblocked)

    def _body(self, home: Operation) -> _Body:
        found = self._found.get(id(home))
        if found is None:
            found = self._found[id(home)] = home, _read(home)
        return found[1]


def place_of(pe: wse.PeOp, op: Operation) -> Place | None:
    """Return where an operation of a PE program is declared, None if it declares nothing."""
    where = op.location
    if isinstance(where, FileLineColLoc):
        return where.filename.data, where.line.data, where.column.data
    name = symbol_name(op)
    return None if name is None else (pe.sym_name.data, name)


def _read(owner: Operation) -> _Body:
    """Return what the code of a function or task does."""
    body = _Body()
    for op in walk(owner):
        match op:
            case wse.ActivateOp():
                body.activated |= symbols_named(op)
            case wse.UnblockOp():
                body.unblocked |= symbols_named(op)
            case wse.BlockOp():
                pass
            case wse.GetBufferOp():
                _follow(op.buffer.root_reference.data, op.result, body)
            case wse.TaskOp() | wse.FuncOp():
                pass
            case _:
                symbols = symbols_named(op)
                body.activated |= symbols
                # As an address may be written by, so may what it is of.
                body.written |= symbols
                body.sends_control |= "control" in op.properties or "control_transform" in op.properties
        for settings in (*op.properties.values(), *op.attributes.values()):
            if isinstance(settings, dsd.AsyncAttr):
                _completions(settings, body)
    return body


def _completions(settings: dsd.AsyncAttr, body: _Body) -> None:
    if settings.activated is not None:
        body.activated.add(settings.activated)
    if settings.unblocked is not None:
        body.unblocked.add(settings.unblocked)
    control = settings.control
    if control is not None and control.task is not None:
        body.activated.add(control.task)
        body.unblocked.add(control.task)


def _follow(buffer: str, value: SSAValue, body: _Body) -> None:
    """Record how a buffer is used: what is not known to read it alone may write it."""
    for use in value.uses:
        op = use.operation
        match op:
            case memref.LoadOp():
                body.read.add(buffer)
            case memref.StoreOp():
                body.written.add(buffer)
            case dsd.MemoryDescriptorOp() | dsd.DerivedDescriptorOp() if use.index == 0:
                _follow(buffer, op.results[0], body)
            case dsd.DsdOperation() if op.operands[use.index] is not op.destination:
                body.read.add(buffer)
            case _:
                body.written.add(buffer)


class _Ways:
    """Regions of PEs that wavelets of each color may reach."""

    def __init__(self, program: wse.ProgramOp) -> None:
        self._rectangle = program.rectangle
        self._regions: dict[str, list[RegionAttr]] = {}
        self._anywhere: set[str] = set()
        swapped = False
        for op in program.body.block.ops:
            match op:
                case wse.RouteOp():
                    swapped |= op.swap is not None
                    if op.switch is not None or any(port.data.value == "ramp" for port in op.outputs):
                        self._regions.setdefault(op.color.string_value(), []).extend(op.placement)
                case wse.HostStreamOp():
                    self._regions.setdefault(op.color.string_value(), []).extend(op.placement)
                case wse.MessageNetworkOp():
                    self._anywhere.add(op.color.string_value())
                case wse.ColorOp() if op.changes is not None:
                    self._anywhere.add(op.sym_name.data)
                case _:
                    pass
        self._all = swapped

    def may_reach(self, color: str, pe: wse.PeOp) -> bool:
        """Return True if wavelets of a color may come to some of the PEs of a program."""
        if self._all or color in self._anywhere:
            return True
        mine = [region.resolve(*self._rectangle) for region in pe.placement]
        others = [region.resolve(*self._rectangle) for region in self._regions.get(color, ())]
        return any(_meet(x, u) and _meet(y, v) for x, y in mine for u, v in others)


def _meet(one: range, other: range) -> bool:
    return any(number in other for number in one)
