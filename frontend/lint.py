"""Lint of CSL programs: warnings about tasks, queues and variables that cannot do what they are declared for.

Only what the program's own files declare is looked at, not the libraries, and only what no PE program uses: params rule
out parts of the code of each. What one looks for in the text (is a task named anywhere?) counts code that is ruled out,
too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.dialects import memref
from xdsl.dialects.builtin import FileLineColLoc, SymbolRefAttr
from xdsl.ir import Operation, SSAValue

from ..csl import syntax
from ..dialects import dsd, wse
from ..dialects.machine.code import Bodies
from ..dialects.machine.region import RegionAttr
from ..dialects.traversal import walk
from .modules import is_of_library

if TYPE_CHECKING:
    from ..csl.source import Source
    from .evaluator import Session

Place = tuple[str, int, int]
"""A file, a line and a column."""


def lint(session: Session, program: wse.ProgramOp) -> list[str]:
    """Return warnings about a program, in the order of its files and of their lines."""
    files = [file for file in session.files.all() if not is_of_library(file.source)]
    order = {file.source.path: number for number, file in enumerate(files)}
    found = [*_unnamed(files), *_unused_queues(session, files), *_Events(session, program).warnings(files)]
    found.sort(key=lambda each: (order.get(each.source.path, len(order)), each.start))
    return list(dict.fromkeys(map(str, found)))


@dataclass(frozen=True)
class _Warning:
    source: Source
    start: int
    message: str

    def __str__(self) -> str:
        return f"{self.source.location(self.start)}: warning: {self.message}"


# In the text


def _names(files: Iterable[syntax.File]) -> Counter[str]:
    """Count the names in expressions of files, fields of modules among them."""
    found: Counter[str] = Counter()
    for file in files:
        for node in syntax.walk(file):
            if isinstance(node, syntax.Name | syntax.Field):
                found[node.name] += 1
            elif isinstance(node, syntax.String):
                # @field and @has_field take names as strings.
                found[node.value.decode(errors="replace")] += 1
    return found


def _unnamed(files: Sequence[syntax.File]) -> Iterator[_Warning]:
    """Yield warnings about tasks that nothing binds: their names are nowhere."""
    tasks = [
        (file.source, node)
        for file in files
        for node in file.declarations
        if isinstance(node, syntax.Function) and node.keyword == "task" and not node.storage
    ]
    names = _names(files) if tasks else Counter[str]()
    for source, node in tasks:
        if not names[node.name]:
            advice = "bind it to an id, as with @bind_local_task in a comptime block, or remove it"
            yield _Warning(source, node.start, f"task '{node.name}' is never bound; {advice}")


def _unused_queues(session: Session, files: Sequence[syntax.File]) -> Iterator[_Warning]:
    """Yield warnings about queues that are initialized, and that no DSD or data task of any PE program uses.

    One whose name is elsewhere, in code that is ruled out, say, is left out.
    """
    if session.asks_for_queues:
        return
    texts = {file.source.path: file for file in files}
    for (path, start, output, number), is_used in session.queues.items():
        file = texts.get(path)
        node = None if file is None else _builtin_at(file, start)
        if is_used or file is None or node is None or not node.arguments or not _is_named_once(file, node.arguments[0]):
            continue
        if output:
            message = f"output queue {number} is initialized, but nothing is sent by it; remove it, or use it in a DSD"
        else:
            message = (
                f"input queue {number} is initialized, but nothing receives by it; give it a DSD or a data task, or "
                "remove it"
            )
        yield _Warning(file.source, start, message)


def _builtin_at(file: syntax.File, start: int) -> syntax.Builtin | None:
    found = (node for node in syntax.walk(file) if isinstance(node, syntax.Builtin) and node.start == start)
    return next(found, None)


def _is_named_once(file: syntax.File, queue: syntax.Expression) -> bool:
    """Return True if a queue is named by calls of @initialize_queue only."""
    initialized: set[int] = set()
    for node in syntax.walk(file):
        if isinstance(node, syntax.Builtin) and node.name == "initialize_queue":
            initialized |= {id(inner) for inner in syntax.walk(node.arguments[0])} if node.arguments else set()
    if isinstance(queue, syntax.Name):
        return all(
            id(node) in initialized
            for node in syntax.walk(file)
            if isinstance(node, syntax.Name | syntax.Field) and node.name == queue.name
        )
    if isinstance(queue, syntax.Builtin):
        return all(
            id(node) in initialized
            for node in syntax.walk(file)
            if isinstance(node, syntax.Builtin) and node.name == queue.name
        )
    return False


# In the IR


@dataclass
class _Body:
    """Effects of a function or task: the symbols that it activates or unblocks, the buffers that it reads or writes."""

    activated: set[str] = field(default_factory=set[str])
    unblocked: set[str] = field(default_factory=set[str])
    read: set[str] = field(default_factory=set[str])
    written: set[str] = field(default_factory=set[str])
    sends_control: bool = False


@dataclass
class _Seen:
    """Uses of a declaration, of all PE programs together."""

    names: set[str] = field(default_factory=set[str])
    is_reached: bool = False
    is_unblocked: bool = False
    has_wavelets: bool = False
    is_read: bool = False
    is_written: bool = False
    kind: str = ""


class _Events:
    """The tasks and variables of all PE programs, by where the source declares them."""

    def __init__(self, session: Session, program: wse.ProgramOp) -> None:
        self._target = session.target
        self._analyses = session.analyses
        self._program = program
        self._bodies = Bodies(program)
        self._found: dict[int, tuple[Operation, _Body]] = {}
        self._tasks: dict[Place, _Seen] = {}
        self._buffers: dict[Place, _Seen] = {}
        self._ways = _Ways(program)
        self._sends_control = False
        for pe in program.pes:
            self._add(pe)

    def warnings(self, files: Sequence[syntax.File]) -> Iterator[_Warning]:
        """Yield what is wrong with the tasks and variables that files declare."""
        of_modules = {node.name for file in files for node in syntax.walk(file) if isinstance(node, syntax.Field)}
        for file in files:
            # Code that no PE program contains may write them.
            written = of_modules | self._analyses.assigned(file) | self._analyses.addressed(file)
            for node in file.declarations:
                place = (file.source.path, *file.source.line_and_column(node.start))
                if isinstance(node, syntax.Function) and node.keyword == "task" and place in self._tasks:
                    message = self._of_task(node.name, self._tasks[place])
                elif isinstance(node, syntax.Variable) and node.value is None and place in self._buffers:
                    message = None if node.name in written else self._of_variable(node, self._buffers[place])
                else:
                    continue
                if message is not None:
                    yield _Warning(file.source, node.start, message)

    def _of_task(self, name: str, task: _Seen) -> str | None:
        if not task.is_unblocked:
            return f"task '{name}' never runs: it is blocked at the start, and nothing unblocks it"
        if task.kind == "local" and not task.is_reached and not self._sends_control:
            return (
                f"task '{name}' never runs: nothing activates it; use @activate, or '.activate' of an asynchronous "
                "operation"
            )
        if task.kind == "data" and not task.has_wavelets:
            return (
                f"task '{name}' never runs: no route leads its color to the PE; give the color a route with '.tx' RAMP "
                "there"
            )
        return None

    def _of_variable(self, node: syntax.Variable, variable: _Seen) -> str | None:
        if node.kind != "var" or node.storage or not variable.is_read or variable.is_written:
            return None
        return f"variable '{node.name}' is read, but never written; initialize it, with @zeros for example, or write it"

    def _add(self, pe: wse.PeOp) -> None:
        """Take note of the tasks and buffers of a PE program."""
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
                    activated |= _symbols(op)
                case wse.ExportOp() | wse.InitializeOp():
                    # The host writes what is exported, and pointers write what their address is taken of.
                    written |= _symbols(op)
                case _:
                    pass
        written |= activated
        for op in pe.body.block.ops:
            place = _place(op)
            if place is None:
                continue
            if isinstance(op, wse.TaskOp):
                self._add_task(pe, op, self._tasks.setdefault(place, _Seen()), queues, activated, unblocked)
            elif isinstance(op, wse.BufferOp):
                seen = self._buffers.setdefault(place, _Seen())
                name = op.sym_name.data
                seen.is_read |= name in read
                seen.is_written |= name in written or op.value is not None

    def _add_task(
        self,
        pe: wse.PeOp,
        op: wse.TaskOp,
        seen: _Seen,
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


def _place(op: Operation) -> Place | None:
    where = op.location
    if not isinstance(where, FileLineColLoc):
        return None
    return where.filename.data, where.line.data, where.column.data


def _symbols(op: Operation) -> set[str]:
    """Return the symbols that the properties of an operation name, but its own."""
    return {
        value.root_reference.data
        for value in (*op.properties.values(), *op.attributes.values())
        if isinstance(value, SymbolRefAttr)
    }


def _read(owner: Operation) -> _Body:
    """Return what the code of a function or task does."""
    body = _Body()
    for op in walk(owner):
        match op:
            case wse.ActivateOp():
                body.activated |= _symbols(op)
            case wse.UnblockOp():
                body.unblocked |= _symbols(op)
            case wse.BlockOp():
                pass
            case wse.GetBufferOp():
                _follow(op.buffer.root_reference.data, op.result, body)
            case wse.TaskOp() | wse.FuncOp():
                pass
            case _:
                symbols = _symbols(op)
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
    """Take note of how a buffer is used: what is not known to read it alone may write it."""
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
