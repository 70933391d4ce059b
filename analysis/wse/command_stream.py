"""Receives that are sure to go on when a PE lets its host go on, found without a run.

That an asynchronous receive does without the host is not known in general: its wavelets may be what the host sends
next, or what the next launch sends. It is known of a color on which every PE program that sends does so in the function
that the same launch starts, before it waits for anything, and on which no other function receives: then the launch that
issues the receive sends what ends it. Functions are followed in a straight line, with what they call; behind a branch
or a loop that sends, receives or calls, nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from xdsl.dialects import memref
from xdsl.ir import Operation, SSAValue

from ...diagnostics.locations import location_of
from ...diagnostics.records import record
from ...dialects import dsd, dsr, wse
from ...dialects.machine.code import Bodies, CodeOperation
from ...dialects.symbols import symbols_named
from ...dialects.traversal import walk
from .memory_use import array_of, fabric_length, walk_of
from .wavelet_types import open_colors

COMMAND_STREAM = "loom.cmd_stream"
"""The name that the library exports the word by which a PE lets its host go on."""

_Step = dsd.DsdOperation | memref.StoreOp | wse.CallOp


def early_unblocks(program: wse.ProgramOp) -> Iterator[tuple[Operation, str]]:
    """Yield the receives that go on when their launch lets the host go on, each with what is wrong."""
    opened = open_colors(program)
    if opened is None:
        return
    bodies = Bodies(program)
    letting = [_Pe(pe, bodies) for pe in program.pes if _streams_of(pe)]
    if not any(launch.early for pe in letting for launch in pe.launches.values()):
        return
    senders: dict[str, list[_Pe]] = {}
    for pe in (*letting, *(_Pe(pe, bodies) for pe in program.pes if not _streams_of(pe))):
        for color in pe.used_colors(dsd.FaboutOp):
            senders.setdefault(color, []).append(pe)
    told: set[Operation] = set()
    for pe in letting:
        for name, launch in pe.launches.items():
            for early in launch.early:
                sent = senders.get(early.color, [])
                if early.color in opened or early.op in told or not sent or pe.may_take(early.color, name):
                    continue
                if all(_sends(sender, name, early) for sender in sent):
                    told.add(early.op)
                    yield early.op, _message(early, launch.function)


@record
class _Early:
    """An asynchronous receive that has not ended when the host is let go on."""

    op: dsd.DsdOperation
    color: str
    count: int
    """The wavelets of the color that the launch has asked for until then."""
    unblock: Operation


@dataclass
class _Launch:
    """What a function that the host launches does in any case, up to the first branch."""

    function: str
    early: list[_Early] = field(default_factory=list[_Early])
    sent: dict[str, int] = field(default_factory=dict[str, int])
    """By color, the wavelets that it sends before it waits."""


class _Pe:
    """A PE program: its queues, and its functions that the host launches."""

    def __init__(self, pe: wse.PeOp, bodies: Bodies) -> None:
        members = [op for op in pe.body.block.ops if isinstance(op, wse.TaskOp | wse.FuncOp)]
        self._homes: Mapping[str, CodeOperation] = {op.sym_name.data: bodies.home(op) for op in members}
        self._queues = {
            op.sym_name.data: frozenset(entry.color_name for entry in op.colors)
            for op in pe.body.block.ops
            if isinstance(op, wse.InputQueueOp | wse.OutputQueueOp)
        }
        self._streams = _streams_of(pe)
        data = [op.queue.string_value() for op in members if isinstance(op, wse.TaskOp) and op.queue is not None]
        self._data_colors = {color for queue in data for color in self._queues.get(queue, ())}
        self.launches: dict[str, _Launch] = {}
        functions = {op.sym_name.data for op in members if isinstance(op, wse.FuncOp)}
        # What runs without being named: launched functions, active tasks, and tasks that wavelets start.
        self._roots = [
            op.sym_name.data
            for op in members
            if isinstance(op, wse.TaskOp) and (op.active is not None or op.task_kind is not wse.TaskKind.LOCAL)
        ]
        for op in pe.body.block.ops:
            if isinstance(op, wse.ExportOp) and (name := op.symbol.string_value()) in functions:
                self._roots.append(name)
                self.launches[op.exported_name] = self._launch(name)
            elif isinstance(op, wse.FifoOp):
                self._roots += symbols_named(op)

    def used_colors(self, kind: type[dsd.FabricDescriptorOp], start: str | None = None) -> set[str]:
        """Return the colors of descriptors of a kind in what runs at all, or once a function or task has started."""
        found: set[str] = set()
        for name in self._reached(self._roots if start is None else [start]):
            for op in walk(self._homes[name]):
                if isinstance(op, kind):
                    found |= self._colors_of(op.results[0])
        return found

    def may_take(self, color: str, launched: str) -> bool:
        """Return True if something else than what a launch starts may take wavelets of a color."""
        own = self.launches[launched].function
        others = (name for name in self._roots if name != own)
        return color in self._data_colors or any(color in self.used_colors(dsd.FabinOp, name) for name in others)

    def _reached(self, names: Iterable[str]) -> set[str]:
        """Return the functions and tasks that run once some have started, or whose names they mention."""
        found: set[str] = set()
        ahead = list(names)
        while ahead:
            name = ahead.pop()
            if name in self._homes and name not in found:
                found.add(name)
                for op in walk(self._homes[name]):
                    ahead += symbols_named(op)
                    ahead += _tasks_of_ends(op)
        return found

    def _colors_of(self, descriptor: SSAValue) -> frozenset[str]:
        """Return the colors that a descriptor of wavelets may have."""
        maker = dsd.defining_op(descriptor)
        if not isinstance(maker, dsd.FabinOp | dsd.FaboutOp):
            return frozenset()
        if maker.color_name is not None:
            return frozenset({maker.color_name})
        return frozenset() if maker.queue_name is None else self._queues.get(maker.queue_name, frozenset())

    def _launch(self, name: str) -> _Launch:
        launch = _Launch(name)
        flights: dict[dsd.DsdOperation, tuple[str, int]] = {}
        taken: dict[str, int] = {}
        has_waited = False
        for op in self._steps(self._homes[name], set()):
            match op:
                case memref.StoreOp():
                    array = array_of(op.memref)
                    if array is not None and array[0] in self._streams:
                        launch.early += [_Early(each, *flight, op) for each, flight in flights.items()]
                        break
                case dsd.DsdOperation():
                    inputs = [value for value in op.sources if isinstance(value.type, dsd.FabinType)]
                    ends = any(isinstance(value.type, dsd.FifoType | dsr.RegisterType) for value in op.table_operands)
                    is_send = isinstance(op.destination.type, dsd.FaboutType)
                    if op.asynchronous is None and (inputs or ends):
                        has_waited = True
                        flights.clear()
                    if is_send and not inputs and not ends and not has_waited:
                        for color in self._colors_of(op.destination):
                            launch.sent[color] = launch.sent.get(color, 0) + (_sent_by(op) or 0)
                    # Whatever holds a synchronous send back may need the host.
                    has_waited |= is_send and op.asynchronous is None
                    for value in inputs:
                        count, colors = fabric_length(value), self._colors_of(value)
                        if count is None or len(colors) != 1:
                            return launch
                        (color,) = colors
                        taken[color] = taken.get(color, 0) + count
                        if op.asynchronous is not None and not is_send and op.drops_data is None:
                            flights[op] = color, taken[color]
                case _:
                    break
        return launch

    def _steps(self, home: CodeOperation, within: set[CodeOperation]) -> Iterator[Operation]:
        """Yield what a body does in any case, in order; at last what ends the straight line, if something does."""
        for block in home.body.blocks:
            for op in block.ops:
                if isinstance(op, wse.CallOp):
                    callee = self._homes.get(op.callee.string_value())
                    if callee is None or callee in within:
                        yield op
                        return
                    for step in self._steps(callee, {*within, home}):
                        yield step
                        if not isinstance(step, dsd.DsdOperation | memref.StoreOp):
                            return
                elif isinstance(op, dsd.DsdOperation | memref.StoreOp):
                    yield op
                elif op.regions and any(isinstance(inner, _Step) for inner in walk(op)):
                    if any(self._matters(inner) for inner in walk(op)):
                        yield op
                        return

    def _matters(self, op: Operation) -> bool:
        if isinstance(op, memref.StoreOp):
            array = array_of(op.memref)
            return array is not None and array[0] in self._streams
        return isinstance(op, dsd.DsdOperation | wse.CallOp)


def _streams_of(pe: wse.PeOp) -> set[str]:
    exports = (op for op in pe.body.block.ops if isinstance(op, wse.ExportOp))
    return {op.symbol.string_value() for op in exports if op.exported_name == COMMAND_STREAM}


def _tasks_of_ends(op: Operation) -> Iterator[str]:
    """Yield the tasks that the end of an asynchronous operation activates or unblocks."""
    for settings in op.properties.values():
        if isinstance(settings, dsd.AsyncAttr):
            control = settings.control
            names = (settings.activated, settings.unblocked, None if control is None else control.task)
            yield from (name for name in names if name is not None)


def _sent_by(op: dsd.DsdOperation) -> int | None:
    """Return how many wavelets a send sends, None if it is not known."""
    walks = [walk_of(value) for value in op.sources if isinstance(value.type, dsd.MemoryDescriptorType)]
    lengths = [None if each is None else each.length for each in walks] or [fabric_length(op.destination)]
    known = [length for length in lengths if length is not None]
    return min(known) if len(known) == len(lengths) else None


def _sends(pe: _Pe, name: str, early: _Early) -> bool:
    """Return True if a launch is sure to send what a receive waits for."""
    launch = pe.launches.get(name)
    return launch is not None and launch.sent.get(early.color, 0) >= early.count


def _message(early: _Early, function: str) -> str:
    place = location_of(early.unblock)
    return (
        f"{early.op.shown_name} in @{function}, which is asynchronous, still receives when @{function} calls "
        f"unblock_cmd_stream(){'' if place is None else f' at {place}'}, and the host may read what it receives too "
        "early; call it in a task that this operation activates or unblocks when it has ended"
    )
