"""Scheduling: which task a PE picks, and how tasks of each kind begin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...operations import integers
from ...targets.wavelets import CONTROL_TASK_BITS, CONTROL_TASK_SHIFT, WORD_BITS
from ..findings import Code
from ..tables.instructions import BITS
from .endings import taken
from .interpreter import enter, run
from .pes import NOT_BEGUN, PE
from .queues import InputQueue
from .scalars import from_bits
from .tasks import NEVER, Task

if TYPE_CHECKING:
    from .machine import Machine


def next_task(pe: PE) -> tuple[int, Task | None]:
    """Return when a PE picks a task, and which: of those that are ready first the one that comes first in its class.

    If tasks have a high priority, these come first of all that are ready when the PE is free.
    """
    time, found = _first(pe.tasks.values())
    if found is None or not pe.high_tasks:
        return time, found
    time = max(time, pe.clock)
    preferred = pe.high_tasks
    ready, high = _first(
        task for task in pe.tasks.values() if task.priority_id >= 0 and preferred >> task.priority_id & 1
    )
    return time, high if ready <= time else found


def _first(tasks: Iterable[Task]) -> tuple[int, Task | None]:
    time, found = NEVER, None
    for task in tasks:
        if task.ready < time:
            time, found = task.ready, task
    return time, found


def pick(machine: Machine, pe: PE, cycle: int) -> None:
    """Let a free PE begin the task that is ready at a cycle."""
    if cycle != pe.queued:
        return
    pe.queued = NEVER
    if pe.frame is not None:
        return
    ready, task = next_task(pe)
    if task is None or ready != cycle:
        machine.touch(pe)
    elif task.queue is None:
        begin = max(pe.clock, ready)
        task.pick(begin)
        start(machine, pe, task, begin, task.arguments)
    else:
        _start_data(machine, pe, task, task.queue)


def start(machine: Machine, pe: PE, task: Task, begin: int, arguments: list[int]) -> None:
    """Run a task that is picked at a cycle until it ends or waits."""
    machine.task_runs += 1
    if machine.races is not None:
        machine.races.start(pe, task, begin)
    if machine.statistics is not None:
        machine.statistics.starts(pe, task, begin)
    pe.task, pe.now = task, begin + machine.timing.task_start
    pe.frame = enter(machine.program.use(task.row.use), arguments)
    pe.frame.pc = NOT_BEGUN  # its start is a step, which may have to wait
    run(machine, pe)


def _start_data(machine: Machine, pe: PE, task: Task, queue: InputQueue) -> None:
    """Begin the task of a wavelet: the queue's data task, or the control task that it names."""
    head = queue.runs[0]
    begin = max(pe.clock, task.ready)
    position, word = head.taken, head.payload[head.taken]
    if machine.statistics is not None:
        machine.statistics.takes(pe, queue, head, 1, begin, 1)
    head.taken += 1
    queue.recount()
    taken(machine, head, position, begin)
    machine.deliver()
    if not head.control:
        _start_with(machine, pe, task, begin, word)
    elif head.piece is not None:
        with machine.at_cycle(begin):
            head.piece.check_last(pe, word)
        machine.touch(pe)
    else:
        _start_control(machine, pe, task, queue, begin, word)


def _start_with(machine: Machine, pe: PE, task: Task, begin: int, word: int) -> None:
    """Begin a data or control task with a wavelet: one argument of 16 or 32 bits, or two halves."""
    kinds = machine.program.use(task.row.use).argument_kinds
    halves = [word, word >> WORD_BITS]
    arguments = [
        from_bits(integers.unsigned(half, BITS[kind]), kind) for half, kind in zip(halves, kinds, strict=False)
    ]
    start(machine, pe, task, begin, arguments)


def _start_control(machine: Machine, pe: PE, taker: Task, queue: InputQueue, begin: int, word: int) -> None:
    """Begin the task that a control wavelet names by its id: a control task, or a data task if none has the id."""
    id = word >> CONTROL_TASK_SHIFT & (1 << CONTROL_TASK_BITS) - 1
    entry = id + queue.row.control_offset
    task = pe.control_tasks.get(entry) or pe.data_tasks.get(entry)
    if task is None:
        pe.task, pe.now = taker, begin
        machine.fail(pe, Code.CONTROL_TASK_MISSING, 0, id, queue.number)
    _start_with(machine, pe, task, begin, word)
