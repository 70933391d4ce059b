"""Configuration registers of PEs, which programs read and write as memory behind its end.

An access happens in the order of time: the task waits until nothing earlier can happen. Registers of a color that
`changes` are views of the state of its router; all others are unknown.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ...targets.wavelets import FILTER_WORDS, WORD_BITS, WORD_MASK
from ..findings import Code
from .filters import RANGE, Filter
from .order import Kind

if TYPE_CHECKING:
    from .machine import Machine
    from .pes import PE
    from .switches import Router


def is_register(machine: Machine, address: int, size: int) -> bool:
    """Return True if an element at a byte address is a configuration register."""
    return size == 2 and not address & 1 and address // 2 in machine.registers.addresses


def awaits_order(machine: Machine, pe: PE) -> bool:
    """Return True if the task has to wait until nothing earlier can happen; it then goes on at the same instruction."""
    if pe.turn == pe.now:
        return False
    assert pe.frame is not None
    pe.frame.pc -= 1
    machine.order.schedule(pe.now, Kind.ACCESS, pe.number, (0,), partial(_go_on, machine, pe))
    return True


def _go_on(machine: Machine, pe: PE, cycle: int) -> None:
    pe.turn = cycle
    machine.resumed.append(pe)


def read(machine: Machine, pe: PE, address: int, where: int) -> int:
    """Return what the register at a word address holds."""
    pending = address - machine.registers.teardown_pending
    if pending in (0, 1):
        word = pe.torn_down >> WORD_BITS * pending & WORD_MASK
        pe.torn_down &= ~(WORD_MASK << WORD_BITS * pending)
        return word
    of_queues = address - machine.registers.queues if machine.is_ordered else -1
    if of_queues in (0, 1):
        return _status(machine, pe, of_queues == 1)
    if of_queues in (2, 3):
        return pe.flushed[of_queues - 2]
    if address in machine.filter_registers:
        return _filter_at(machine, pe, address, where)[1].read(_field(machine, address))
    found = machine.router_at(pe, address)
    if found is None:
        machine.fail(pe, Code.REGISTER_UNKNOWN, where, address)
    return found[0].read(machine.registers, found[1])


def _field(machine: Machine, address: int) -> int:
    return (address - machine.registers.filters) % FILTER_WORDS


def _filter_at(machine: Machine, pe: PE, address: int, where: int) -> tuple[Router, Filter]:
    """Return the filter of a PE that has a register, and its router."""
    number = (address - machine.registers.filters) // FILTER_WORDS
    routers = [color.router(pe.number) for color in machine.switched.values() if color.changes]
    for router in routers:
        filter = router.filter
        if filter is not None and filter.id == number and filter.kind != RANGE:
            break
    else:
        machine.fail(pe, Code.FILTER_MISSING, where, number)
    return router, filter


def write(machine: Machine, pe: PE, address: int, value: int, where: int) -> None:
    """Write the register at a word address."""
    of_queues = address - machine.registers.queues if machine.is_ordered else -1
    if of_queues in (2, 3):
        pe.flushed[of_queues - 2] &= value
        return
    if of_queues in (4, 5):
        _flush(machine, pe, of_queues == 5, value & 7, where)
        return
    if address in machine.filter_registers:
        router, filter = _filter_at(machine, pe, address, where)
        filter.write(_field(machine, address), value & WORD_MASK)
        router.free, router.is_full = max(router.free, pe.now + 1), False
        router.color.changed(router)
        machine.settle(router.color)
        return
    found = machine.router_at(pe, address)
    if found is None:
        machine.fail(pe, Code.REGISTER_UNKNOWN, where, address)
    router, first = found
    missing = router.write(machine.registers, first, value & WORD_MASK, pe.now)
    if missing:
        machine.fail(pe, Code.SWITCH_POSITION_MISSING, where, router.color.color, missing)
    router.color.changed(router)
    machine.settle(router.color)


# Queues


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


def _status(machine: Machine, pe: PE, output: bool) -> int:
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


def _flush(machine: Machine, pe: PE, output: bool, number: int, where: int) -> None:
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
    """Look at a queue that is to be flushed, and again later unless it is empty; without others, when some happen."""
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
