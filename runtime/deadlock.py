"""Why a program that came to rest has not come to its end: who waits for what."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

import numpy as np

from ..diagnostics import LoomError
from .channels import Channel, Rows, Waiter, by_lane
from .fabric import Delivery, reach
from .leftovers import unread
from .queues import InputQueue, OutputQueue
from .tasks import NEVER
from .units import Cells, Rectangle, UnitSet, from_mask, rectangle, union

if TYPE_CHECKING:
    import networkx as nx

    from .machine import Machine
    from .program import Application
    from .unit_class import UnitClass

MAX_LINES = 20
MAX_UNREAD = 5
MAX_GRAPH_UNITS = 4096
"""Beyond this many waiting units the wait-for graph is built over the first of them."""


Place: TypeAlias = tuple[int, int]
"""(x, y) of a unit in the grid."""


class Deadlock(LoomError):
    """The program waits for what never comes; the message is the report."""


class Wait(NamedTuple):
    """Units that wait: for what, in words, and on which queue if it is one."""

    cls: UnitClass
    units: UnitSet
    text: str
    where: str | None
    queue: InputQueue | None = None
    """The input queue that lacks wavelets, if it is one."""
    output: OutputQueue | None = None
    """The output queue whose wavelets find no room, if it is one."""
    channel: Channel | None = None
    """The channel that lacks entries or credits, if it is one."""
    held: bool = False
    """Whether a task waits, and not only a microthread."""


def _waits(machine: Machine, *, allow_pending: bool) -> list[Wait]:
    """Everything that waits for what never comes; with `allow_pending` only what holds a task."""
    found: list[Wait] = []
    for channel in machine.channels.values():
        for group, waiter in channel.waiters():
            found.append(
                Wait(waiter.warp.cls, waiter.warp.units, _channel_wait(channel, group, waiter), waiter.where,
                     channel=channel, held=True)
            )  # fmt: skip
    for cls in machine.classes:
        if not allow_pending:
            found += _blocked_tasks(cls)
        for send in machine.scheduler.sends:
            application, output = send.application, send.queue
            if output.cls is not cls or (send.warp is None and (allow_pending or not application.has_completion)):
                continue
            full = sorted({f"@{delivery.receiver.name}" for delivery in output.deliveries})
            for units in from_mask(send.units, send.waiting > 0):
                found.append(
                    Wait(
                        cls, units,
                        f"{_who(application)} cannot send its {send.count} wavelets on output queue @{output.name} "
                        f"(id {output.number}, color {_colors(machine, output, units)}): input queue "
                        f"{' or '.join(full)} at the other end is full and is not read", application.where,
                        output=output, held=send.warp is not None,
                    )
                )  # fmt: skip
        for fifo in cls.fifos.values():
            for side in fifo.sides:
                for transfer in side.queue.waiting:
                    application = transfer.application
                    if transfer.warp is None and (allow_pending or not application.has_completion):
                        continue
                    if side.queue.messages and side.queue.first(transfer.units) is not None:
                        continue  # it is another input that lacks wavelets
                    found.append(
                        Wait(
                            cls, transfer.units,
                            f"{_who(application)} waits on FIFO @{fifo.name}, which is {side.lacks}, for "
                            f"{transfer.count - transfer.position} of {transfer.count} elements", application.where,
                            held=transfer.warp is not None,
                        )
                    )  # fmt: skip
        for queue in cls.inputs.values():
            for transfer in queue.waiting:
                application = transfer.application
                if transfer.warp is None and (allow_pending or not application.has_completion):
                    continue
                if queue.messages and queue.first(transfer.units) is not None:
                    continue  # it is another input that lacks wavelets
                found.append(
                    Wait(
                        cls, transfer.units,
                        f"{_who(application)} waits on input queue @{queue.name} (id {queue.number}, "
                        f"color {_colors(machine, queue, transfer.units)}) for {transfer.count - transfer.position} of "
                        f"{transfer.count} wavelets", application.where, queue=queue, held=transfer.warp is not None,
                    )
                )  # fmt: skip
    return found


def _channel_wait(channel: Channel, group: Rows, waiter: Waiter) -> str:
    """What units wait for at a channel, in words."""
    member = waiter.members.start
    where = f" ({waiter.where})" if waiter.where else ""
    pushed, popped, freed = (by_lane(counts) for counts in (group.committed, group.waited, group.released))
    state = f"{pushed} pushed, {popped} popped, {freed} freed"
    match waiter.action:
        case "wait":
            entry = group.waited[member]
            late = [f"lane {lane}" for lane, count in enumerate(group.committed) if count <= entry]
            some = 0 < len(late) < len(group.committed)
            return (
                f"@{waiter.warp.code.name} waits to pop entry {entry} of channel @{channel.name}, which "
                f"{' and '.join(late) + ' has not' if some else 'nobody has'} pushed{where}: {state}"
            )
        case "acquire":
            return (
                f"@{waiter.warp.code.name} waits for a free slot to push entry {group.acquired[member]} to channel "
                f"@{channel.name} of {channel.depth}{where}: {state}, a credit for every {channel.period} freed"
            )
        case _:
            return (
                f"@{waiter.warp.code.name} waits at its end for the last credits of channel @{channel.name}{where}: "
                f"{state}, a credit for every {channel.period} freed"
            )


def _blocked_tasks(cls: UnitClass) -> list[Wait]:
    """Tasks that could run but for being blocked."""
    found: list[Wait] = []
    for task in cls.task_list:
        if task.unblocked is None:
            continue
        stuck = (task.active[cls.units.index] != NEVER) & (task.unblocked[cls.units.index] == NEVER)
        reason = "is active" if task.queue is None else f"has wavelets waiting on input queue @{task.queue.name}"
        location = f" ({task.code.where})" if task.code.where else ""
        text = f"task @{task.name}{location} {reason} but is blocked, and nothing unblocks it"
        if task.queue is not None and task.queue.control_only:
            text = f"input queue @{task.queue.name}{location} has control wavelets but is blocked; unblock it"
        found += [Wait(cls, units, text, task.code.where) for units in from_mask(cls.units, stuck)]
    return found


def _who(application: Application) -> str:
    """A task or microthread and its operation, in words."""
    who = f"microthread {application.microthread}" if application.is_async else f"task @{application.task}"
    return f"{who}: {application.text}{f' ({application.where})' if application.where else ''}"


def _pieces(units: UnitSet) -> list[UnitSet]:
    """Scattered units as few rectangles where that is possible: they read better."""
    if not isinstance(units, Cells):
        return [units]
    top, left = int(units.rows.min()), int(units.columns.min())
    around = rectangle(range(top, int(units.rows.max()) + 1), range(left, int(units.columns.max()) + 1))
    mask = np.zeros(around.shape, np.bool_)
    mask[units.rows - top, units.columns - left] = True
    return from_mask(around, mask)


def _grouped(waits: list[Wait]) -> list[Wait]:
    """Units that wait for the same as one set, whatever warps they came in."""
    groups: dict[tuple[int, str], list[Wait]] = {}
    for wait in waits:
        groups.setdefault((id(wait.cls), wait.text), []).append(wait)
    return [
        group[0]._replace(units=part)
        for group in groups.values()
        for part in _pieces(union([wait.units for wait in group]))
    ]


def _colors(machine: Machine, queue: InputQueue | OutputQueue, units: UnitSet) -> str:
    numbers = np.unique(queue.colors[units.index]).tolist()
    return " or ".join(f"@{machine.color_name(number)}" if number >= 0 else "none" for number in numbers)


def explain(machine: Machine, *, allow_pending: bool) -> Deadlock | None:
    """The deadlock of a machine at rest, None if nothing waits that should not."""
    waits = _grouped(_waits(machine, allow_pending=allow_pending))
    if not waits:
        return None
    stuck = sum(wait.units.count for wait in waits)
    remain = "1 wait remains" if stuck == 1 else f"{stuck} waits remain"
    when = "deadlock" if machine.is_chip else f"deadlock at cycle {machine.cycles} (estimated)"
    lines = [f"{when}: nothing can happen any more, and {remain}"]
    lines += [f"  {wait.cls.describe(wait.units)}: {wait.text}" for wait in waits[:MAX_LINES]]
    if len(waits) > MAX_LINES:
        lines.append(f"  and {len(waits) - MAX_LINES} more groups of PEs")
    cycle = _cycle(machine, waits)
    if cycle:
        path = " -> ".join(machine.unit_name(*place) for place in [*cycle, cycle[0]])
        lines.append(f"  they wait for each other in a circle: {path}")
        if machine.channels:
            lines.append("  let one of them push before it pops, or give the channel more slots")
        elif any(wait.held for wait in waits):
            lines.append("  let one of them send before it receives, or send and receive asynchronously")
        else:
            lines.append("  let one of them send before it has received")
    else:
        silent = _silent(machine, waits)
        if silent:
            lines.append(f"  {silent}")
    left = unread(machine)
    lines += [f"  {wavelets}" for wavelets in left[:MAX_UNREAD]]
    if len(left) > MAX_UNREAD:
        lines.append(f"  and wavelets of {len(left) - MAX_UNREAD} more PEs and colors have not been read")
    return Deadlock("\n".join(lines), waits[0].where)


def _senders(machine: Machine, queue: InputQueue) -> list[tuple[UnitClass, Delivery]]:
    return [
        (sender.cls, delivery)
        for cls in machine.classes
        for sender in cls.outputs.values()
        for delivery in sender.deliveries
        if delivery.receiver is queue
    ]


def _graph(machine: Machine, waits: list[Wait]) -> nx.DiGraph[Place]:
    """Who waits for whom: a receiver for the units that send to its queue, a sender for those that do not make room.

    Only units that wait are nodes.
    """
    import networkx as nx  # takes as long to import as the rest of the engine, and only programs that hang need it

    graph: nx.DiGraph[Place] = nx.DiGraph()
    waiting: set[Place] = set()
    edges: list[Wait] = []
    for wait in waits:
        if (wait.queue is None and wait.output is None and wait.channel is None) or len(waiting) > MAX_GRAPH_UNITS:
            continue
        rows, columns = wait.units.cells()
        waiting |= {
            wait.cls.grid_position(y, x) for y, x in zip(rows.ravel().tolist(), columns.ravel().tolist(), strict=True)
        }
        edges.append(wait)
    for wait in edges:
        if wait.channel is not None:
            _add_channel_edges(graph, wait, wait.channel, waiting)
            continue
        deliveries = (
            _senders(machine, wait.queue)
            if wait.queue is not None
            else [(wait.cls, delivery) for delivery in wait.output.deliveries]
            if wait.output is not None
            else []
        )
        for cls, delivery in deliveries:
            receivers: InputQueue = delivery.receiver
            for (sy, sx), (ty, tx) in reach(delivery, receivers.cls.units):
                source, target = cls.grid_position(sy, sx), receivers.cls.grid_position(ty, tx)
                if source not in waiting or target not in waiting:
                    continue
                if wait.queue is not None:
                    graph.add_edge(target, source)
                else:
                    graph.add_edge(source, target)
    return graph


def _add_channel_edges(graph: nx.DiGraph[Place], wait: Wait, channel: Channel, waiting: set[Place]) -> None:
    """Who waits at a channel waits for the units of its row on the other side that have not done their part."""
    pops = wait.cls is channel.consumer
    other = channel.producer if pops else channel.consumer
    rows, columns = wait.units.cells()
    for row, column in zip(rows.ravel().tolist(), columns.ravel().tolist(), strict=True):
        source = wait.cls.grid_position(row, column)
        ready = next(group.ready for group in channel.groups if row in group.rows)
        for across in other.units.columns if isinstance(other.units, Rectangle) else ():
            target = other.grid_position(row, across)
            done = pops and channel.many_produce and across < channel.lanes and ready[across] > 0
            if target in waiting and not done:
                graph.add_edge(source, target)


def _cycle(machine: Machine, waits: list[Wait]) -> list[Place]:
    """Units that wait for each other in a circle, in its order; none if there is no circle."""
    import networkx as nx

    graph = _graph(machine, waits)
    try:
        edges = cast("list[tuple[Place, Place]]", nx.find_cycle(graph))  # pyright: ignore[reportUnknownMemberType]
    except nx.NetworkXNoCycle:
        return []
    return [place for place, _ in edges]


def _silent(machine: Machine, waits: list[Wait]) -> str | None:
    """A hint when nobody who could send to a waiting unit is left to do so."""
    for wait in waits:
        cls, units, queue = wait.cls, wait.units, wait.queue
        if queue is None:
            continue
        if any(reader is queue for color in machine.switched.values() for reader, _ in color.readers):
            return None  # The wavelets that wait at routers are told below.
        if not _senders(machine, queue):
            return f"no route leads to input queue @{queue.name}; add one from a PE that sends"
        return (
            f"the PEs that send to input queue @{queue.name} of {cls.describe(units)} have finished; "
            "they sent too little, or the receiver expects too much"
        )
    return None
