"""State of a machine at rest, as records for reports: who waits for what, and wavelets that nothing has read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..fabric.model import PARTLY_UNREAD, UNBOUNDED
from ..reports.rest import (
    AT_ROUTER,
    BLOCKED,
    HEADER,
    HELD,
    IN_TEARDOWN,
    MESSAGE,
    QUEUED,
    READS_FIFO,
    RECEIVES,
    SENDS,
    SENDS_MESSAGE,
    TASK,
    WAIT,
    WAVELETS,
    WRITES_FIFO,
    Rest,
)
from ..tables.format import NONE
from .credits import Path
from .descriptors import Wavelets
from .microthreads import gate_of
from .pes import PE, Issue
from .queues import InputQueue
from .receiving import OpenOperation
from .tasks import NEVER

if TYPE_CHECKING:
    from .machine import Machine
    from .messages import Worm
    from .switches import Router

Record = tuple[Any, ...]


def rest_of(machine: Machine) -> Rest:
    """Return the state of a machine in which nothing can happen any more."""
    pes = [machine.pes[number] for number in sorted(machine.pes)]
    worms = [worm for network in machine.networks for worm in network.worms]
    colors = machine.switched.values()
    return Rest(
        _records([*_receives(pes), *_held_back(pes), *_sends(machine, worms), *_blocked(machine, pes)], WAIT),
        _records(_tasks(pes), TASK),
        _records([*_queued(pes), *_not_handed_over(machine)], QUEUED),
        _records(_partly_unread(pes), WAVELETS),
        _records((record for color in colors for record in _at_routers(machine, color.color)), AT_ROUTER),
        _records(
            ((color.color, router.pe, router.unread) for color in colors for router in color.routers if router.unread),
            WAVELETS,
        ),
        _records(
            (
                (color.color, router.pe, port, *_state(router), count)
                for color in colors
                for router in color.routers
                for port, count in enumerate(router.left_grid)
                if count
            ),
            AT_ROUTER,
        ),
        _records((_message(network.number, network.blocker(worm), worm) for network in machine.networks
                  for worm in network.worms), MESSAGE),
    )  # fmt: skip


def lost_of(machine: Machine) -> NDArray[Any]:
    """Return how often tasks were activated while they were active, by task and PE."""
    tasks = ((pe, task) for pe in machine.pes.values() for task in pe.tasks.values())
    return _records(((task.number, pe.number, task.lost) for pe, task in tasks if task.lost), WAVELETS)


def _records(rows: Iterable[Record], dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.array(list(rows), dtype)


# Waits


def _wait(issue: Issue, kind: int, row: int, output: int, *, header: bool, count: int, position: int) -> Record:
    pe, held = issue.pe, not issue.is_async
    flags = HELD * held | HEADER * header
    use, pc = NONE, NONE
    if held:
        assert pe.frame is not None
        use, pc = pe.frame.use.number, pe.frame.pc - 1
    settings = NONE if issue.load is None else issue.load
    return (
        pe.number, issue.operation.number, settings, issue.user.task, issue.user.where, row, output, use, pc, kind,
        flags, count, position,
    )  # fmt: skip


def _receives(pes: Iterable[PE]) -> Iterator[Record]:
    """Yield the operations that lack something, for each queue and end of a FIFO that has nothing for them."""
    for pe in pes:
        for fifo in pe.fifos.values():
            yield from _lacking(fifo.reading.queue, READS_FIFO)
            yield from _lacking(fifo.writing.queue, WRITES_FIFO)
        for queue in pe.inputs.values():
            yield from _lacking(queue, RECEIVES)


def _lacking(queue: InputQueue, kind: int) -> Iterator[Record]:
    # If the queue has something for it, it is another that lacks wavelets.
    for operation in queue.waiting if not queue.runs else ():
        yield _lack(operation, queue, kind)


def _held_back(pes: Iterable[PE]) -> Iterator[Record]:
    """Yield the operations that have something to send, and no room for it."""
    found: dict[int, OpenOperation] = {}
    for pe in pes:
        ends = [side.queue for fifo in pe.fifos.values() for side in (fifo.reading, fifo.writing)]
        for queue in [*pe.inputs.values(), *ends]:
            for operation in queue.waiting:
                if all(each.runs for each in operation.queues):
                    found[id(operation)] = operation
    for operation in found.values():
        destination = operation.destination
        if _is_blocked(operation.issue) or not isinstance(destination, Wavelets):
            continue  # a mistake has ended the run before it took what is there
        count = operation.count - operation.position
        if operation.count == UNBOUNDED:
            count = operation.queues[0].runs[0].remaining
        number = destination.queue
        yield _wait(operation.issue, SENDS, number, number, header=False, count=count, position=0)


def _lack(operation: OpenOperation, queue: InputQueue, kind: int) -> Record:
    destination = operation.destination
    output = destination.queue if isinstance(destination, Wavelets) else NONE
    return _wait(
        operation.issue, kind, queue.number, output, header=operation.header, count=operation.count,
        position=operation.position,
    )  # fmt: skip


def _sends(machine: Machine, worms: list[Worm]) -> Iterator[Record]:
    """Yield the sends that find no room."""
    for send in machine.sends:
        output = send.queue.number
        if send.queue.network is None and _is_blocked(send.issue):
            continue
        if send.queue.network is None:
            yield _wait(send.issue, SENDS, output, output, header=False, count=send.count, position=0)
            continue
        for place, worm in enumerate(worms):
            if worm.send is send:
                yield _wait(
                    send.issue, SENDS_MESSAGE, place, output, header=False, count=len(worm.elements), position=0
                )


def _blocked(machine: Machine, pes: Iterable[PE]) -> Iterator[Record]:
    """Yield the operations whose microthreads are blocked."""
    for pe in pes:
        ends = [side.queue for fifo in pe.fifos.values() for side in (fifo.reading, fifo.writing)]
        found = {id(each): each for queue in (*pe.inputs.values(), *ends) for each in queue.waiting}
        for operation in found.values():
            if _is_blocked(operation.issue):
                destination = operation.destination
                output = destination.queue if isinstance(destination, Wavelets) else NONE
                yield _wait_blocked(operation.issue, output, operation.count, operation.position)
    for send in machine.sends:
        if send.queue.network is None and _is_blocked(send.issue):
            yield _wait_blocked(send.issue, send.queue.number, send.count, 0)


def _wait_blocked(issue: Issue, output: int, count: int, position: int) -> Record:
    gate = gate_of(issue)
    assert gate is not None
    assert gate.blocked_at is not None
    return _wait(issue, BLOCKED, gate.blocked_at, output, header=False, count=count, position=position)


def _is_blocked(issue: Issue) -> bool:
    gate = gate_of(issue)
    return gate is not None and gate.is_blocked


def _tasks(pes: Iterable[PE]) -> Iterator[Record]:
    """Yield the tasks that are active."""
    for pe in pes:
        for task in pe.tasks.values():
            if task.active < NEVER:
                yield pe.number, task.number, task.unblocked == NEVER


# Wavelets


def _queued(pes: Iterable[PE]) -> Iterator[Record]:
    """Yield the wavelets in input queues, and on and before the ways there."""
    for pe in pes:
        for queue in pe.inputs.values():
            count = sum(run.remaining for run in queue.runs)
            paths = {id(run.path): run.path for run in queue.runs if isinstance(run.path, Path)}.values()
            held = sum(max(0, path.pending - path.capacity) for path in paths)
            if count:
                yield queue.number, pe.number, count, min(held, count)


def _not_handed_over(machine: Machine) -> Iterator[Record]:
    """Yield the wavelets of multicasts, and to queues where senders meet, that wait for room at their senders."""
    for multicast in machine.multicasts:
        left = sum(len(wavelets) for wavelets, _, _ in multicast.parts)
        for way in multicast.ways:
            if left and way.path is not None:
                yield way.queue, way.pe, left, left


def _partly_unread(pes: Iterable[PE]) -> Iterator[Record]:
    """Yield how many wavelets have been sent of which some receivers have no queue for the color."""
    for pe in pes:
        for queue in pe.outputs.values():
            if queue.flags & PARTLY_UNREAD:
                yield queue.number, pe.number, queue.unread


def _at_routers(machine: Machine, number: int) -> Iterator[Record]:
    """Yield the wavelets that wait at routers."""
    color = machine.switched[number]
    for port, pe, count in color.left_waiting():
        yield (number, pe, port, *_state(color.router(pe)), count)


def _state(router: Router) -> tuple[int, int]:
    """Return the position of a router's switch, and the ports that it takes its color from."""
    return IN_TEARDOWN if router.is_torn else router.position, router.taken


def _message(network: int, blocker: Worm, worm: Worm) -> Record:
    link = worm.waits_at
    held_by = None if link is None else link.holder
    at, port, source, target = NONE, 0, NONE, NONE
    if link is not None and held_by is not None:
        at, port, source, target = link.pe, link.port, held_by.source, held_by.target
    return (
        network, worm.source, worm.target, len(worm.elements), worm.is_delivered, blocker.target, at, port, source,
        target,
    )  # fmt: skip
