"""The state of queues as programs ask for it, and queues that are flushed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..findings import Code
from .order import Kind

if TYPE_CHECKING:
    from .machine import Machine
    from .pes import PE


def _wavelets(machine: Machine, pe: PE, number: int, cycle: int) -> tuple[int, int]:
    """Return how many wavelets are in the input queues of an id that nothing at work has taken, and their room."""
    count, room = 0, 0
    for queue in pe.inputs.values():
        if queue.row.id == number:
            room += queue.room
            for run in queue.runs:
                if run.head_time <= cycle:
                    count += min(run.remaining, (cycle - run.head_time) // max(run.rate, 1) + 1)
    return count, room


def is_empty(machine: Machine, pe: PE, output: bool, number: int, cycle: int) -> bool:
    """Return True if no wavelet is in the queues of an id; of output queues, if no operation sends."""
    if output:
        return all(queue.resource.ends <= cycle for queue in pe.outputs.values() if queue.row.id == number)
    return not _wavelets(machine, pe, number, cycle)[0]


def status(machine: Machine, pe: PE, output: bool) -> int:
    """Return the register of the state of input or output queues: which are empty, and which are full."""
    target = machine.fabric.target
    word = 0
    for number in range(target.output_queues if output else target.input_queues):
        empty = is_empty(machine, pe, output, number, pe.now)
        if output:
            full = not empty
        else:
            count, room = _wavelets(machine, pe, number, pe.now)
            full = count > 0 and count >= room
        word |= empty << number | full << number + 8
    return word


def flush(machine: Machine, pe: PE, output: bool, number: int, where: int) -> None:
    """Flush a queue: its bit is set, and the task of teardowns is activated, once it is empty."""
    bit = 1 << number
    if pe.teardown_task is None:
        machine.fail(pe, Code.FLUSH_UNHANDLED, where, number, int(output))
    if (pe.flushing[output] | pe.flushed[output]) & bit:
        machine.fail(pe, Code.FLUSHED_TWICE, where, number, int(output))
    pe.flushing[output] |= bit
    # The task goes on, so something else happens.
    look(machine, pe, output, number, pe.now, others=True)


def look(machine: Machine, pe: PE, output: bool, number: int, cycle: int, *, others: bool) -> None:
    """End the flush of an empty queue, else look again at the next poll; without `others`, after the next event."""
    assert pe.teardown_task is not None
    if is_empty(machine, pe, output, number, cycle):
        pe.flushing[output] &= ~(1 << number)
        pe.flushed[output] |= 1 << number
        pe.teardown_task.complete(cycle, activate=True)
    elif others:
        look_at(machine, pe, output, number, cycle)
    else:
        machine.looks_later.append((pe, output, number))


def look_at(machine: Machine, pe: PE, output: bool, number: int, cycle: int) -> None:
    """Look at a queue at the next cycle behind one that is a multiple of `flush_poll`."""

    def act(now: int) -> None:
        machine.looks -= 1
        look(machine, pe, output, number, now, others=len(machine.order) > machine.looks)

    step = machine.fabric.target.flush_poll
    machine.looks += 1
    machine.order.schedule((cycle // step + 1) * step, Kind.ACCESS, pe.number, (1 + 8 * output + number,), act)
