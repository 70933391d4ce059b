"""Who waits in a machine at rest: the waits of tasks, queues, FIFOs and channels, as nodes of the wait graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from xdsl.ir import Operation

from .. import wait_graph, wait_sentences
from ..places import Array, Unit
from ..unread_wavelets import plain
from .continuations import Continuations
from .streams import UNBOUNDED
from .tasks import NEVER
from .units import UnitSet, cells, from_mask, some

if TYPE_CHECKING:
    from .machine import WarpMachine
    from .program import Application
    from .tasks import Task
    from .unit_class import UnitClass


class Wait(NamedTuple):
    """Units of a class that wait for the same thing."""

    cls: UnitClass
    units: UnitSet
    text: str
    where: str | None
    awaited: Awaited | None = None
    """The queue or channel that other units have to act on, if any."""
    held: bool = False
    """True if a task waits, and not only a microthread."""
    queue: str | None = None
    """The name of the queue, FIFO or channel in IR."""
    missing: int | None = None
    """Wavelets, elements or entries that each unit lacks, or cannot send."""
    tasks: tuple[str, ...] = ()
    """The tasks and functions that go on, or start, once what is awaited has come."""
    op: Operation | None = None
    """The operation behind which a held task goes on, where that is known; else it is all of `tasks`."""
    sends: tuple[str, ...] = ()
    """The output queues that the operation itself sends to."""
    begun: bool = False
    """True if a microthread has received some of its wavelets."""


class Awaited(Protocol):
    """What gives a wait its edges, as in `wait_graph.Awaited`: one end of a queue or channel."""

    waits_for_all: bool

    def pairs(self, wait: Wait) -> Iterable[tuple[Unit, Unit, str]]: ...

    def remedy(self, *, held: bool) -> str: ...

    def explanation(self, wait: Wait, units: str) -> str | None: ...


def completion_tasks(application: Application) -> tuple[str, ...]:
    """Return the tasks that an asynchronous operation starts or unblocks."""
    tasks: list[Task | None] = [
        application.activate, application.unblock, application.control_activate, application.control_unblock
    ]  # fmt: skip
    return tuple(task.name for task in tasks if task is not None)


def waiter(application: Application) -> str:
    """Return a task or microthread and its operation, in words."""
    microthread = application.microthread if application.is_async else None
    return wait_sentences.waiter(microthread, application.task, application.text, application.where)


def waits(machine: WarpMachine, *, allow_pending: bool, all_of_them: bool) -> list[wait_graph.Wait]:
    """Return the waits that never end, as `Executor.waits` has them."""
    known: dict[int, Continuations] = {}
    return [
        _node(machine, wait, known)
        for wait in _found(machine, allow_pending=allow_pending, all_of_them=all_of_them)
    ]  # fmt: skip


def _found(machine: WarpMachine, *, allow_pending: bool, all_of_them: bool) -> Iterator[Wait]:
    for channel in machine.channels.values():
        yield from channel.waits()
    for cls in machine.classes:
        if not allow_pending:
            yield from _blocked_tasks(cls)
        for send in machine.scheduler.sends:
            if send.queue.cls is cls:
                yield from send.waits(allow_pending=allow_pending)
        for fifo in cls.fifos.values():
            yield from fifo.waits(allow_pending=allow_pending, all_of_them=all_of_them)
        for queue in cls.inputs.values():
            yield from queue.waits(allow_pending=allow_pending, all_of_them=all_of_them)


def _blocked_tasks(cls: UnitClass) -> list[Wait]:
    """Return the waits of tasks that could run if they were not blocked."""
    found: list[Wait] = []
    for task in cls.task_list:
        if task.unblocked is None:
            continue
        stuck = (task.active[cls.units.index] != NEVER) & (task.unblocked[cls.units.index] == NEVER)
        text = wait_sentences.blocked_task(task.name, task.code.where, None if task.queue is None else task.queue.label)
        if task.queue is not None and task.queue.control_only:
            text = wait_sentences.blocked_queue(task.queue.label, task.code.where)
        found += [Wait(cls, units, text, task.code.where, tasks=(task.name,)) for units in from_mask(cls.units, stuck)]
    return found


def _node(machine: WarpMachine, wait: Wait, known: dict[int, Continuations]) -> wait_graph.Wait:
    queue = wait.cls.inputs.get(wait.queue or "") or wait.cls.outputs.get(wait.queue or "")
    numbers: list[int] = [] if queue is None else np.unique(queue.colors[wait.units.index]).tolist()

    def used_after(places: Array) -> frozenset[str]:
        return _used_after(_at(wait, places), known)

    return wait_graph.Wait(
        machine.classes.index(wait.cls),
        wait.cls.placement.places(wait.units),
        wait.text,
        wait.where,
        None if wait.awaited is None else _End(wait.awaited, wait),
        wait.held,
        wait.queue if queue is None else plain(queue.label),
        tuple(plain(machine.color_label(number)) for number in numbers if number >= 0),
        wait.missing,
        wait.begun,
        wait.missing is not None and wait.missing > UNBOUNDED // 2,
        used_after,
    )


class _End:
    """One end of a queue or channel, of which the wait graph asks by places of the grid."""

    def __init__(self, awaited: Awaited, wait: Wait) -> None:
        self.waits_for_all = awaited.waits_for_all
        self.remedy = awaited.remedy
        self._awaited = awaited
        self._wait = wait

    def pairs(self, places: Array) -> Iterable[tuple[Unit, Unit, str]]:
        return self._awaited.pairs(_at(self._wait, places))

    def explanation(self, places: Array, units: str) -> str | None:
        return self._awaited.explanation(_at(self._wait, places), units)


def _at(wait: Wait, places: Array) -> Wait:
    """Return the wait for units at places of the grid."""
    local = wait.cls.placement.local(places[:, ::-1])
    return wait._replace(units=cells(local[:, 0], local[:, 1]))


def _used_after(wait: Wait, known: dict[int, Continuations]) -> frozenset[str]:
    """Return the queues and channels that the units of a wait may use once it is over."""
    cls = wait.cls
    program = known.setdefault(id(cls), Continuations(cls))
    tasks = set(wait.tasks)
    names = frozenset(wait.sends)
    if wait.held:
        # A task in the middle of an operation keeps from running all others that are active.
        tasks |= {task.name for task in cls.task_list if some(task.active[wait.units.index] != NEVER)}
    if wait.op is not None:
        names |= program.after(wait.op)
    names |= program.of(tasks)
    return names | _read_by(cls, tasks | names)


def _read_by(cls: UnitClass, tasks: Iterable[str]) -> set[str]:
    """Return the input queues that data tasks among some tasks read."""
    found = set(tasks)
    return {task.queue.name for task in cls.task_list if task.queue is not None and task.name in found}
