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
from .flushes import flush, status
from .order import Kind

CLOCK_WORDS = 3
"""Of the clock, behind which its control register is."""

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
    of_clock = address - machine.registers.clock
    if of_clock in range(CLOCK_WORDS):
        return _clock(pe) >> WORD_BITS * of_clock & WORD_MASK
    if of_clock == CLOCK_WORDS:
        return pe.clock_control
    if machine.has_settings and address in machine.fabric.target.settings:
        return pe.settings[address - machine.registers.settings]
    of_queues = address - machine.registers.queues if machine.is_ordered else -1
    if of_queues in (0, 1):
        return status(machine, pe, of_queues == 1)
    if of_queues in (2, 3):
        return pe.flushed[of_queues - 2]
    if address in machine.registers.queue_priorities:
        return 0
    if address in machine.filter_registers:
        return _filter_at(machine, pe, address, where)[1].read(_field(machine, address))
    found = machine.router_at(pe, address)
    if found is None:
        machine.fail(pe, Code.REGISTER_UNKNOWN, where, address)
    return found[0].read(machine.registers, found[1])


def _clock(pe: PE) -> int:
    """Return the clock of a PE, which it may have set."""
    return (pe.now - pe.clock_origin) % (1 << WORD_BITS * CLOCK_WORDS)


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
    of_clock = address - machine.registers.clock
    if of_clock in range(CLOCK_WORDS):
        shift = WORD_BITS * of_clock
        before = _clock(pe)
        pe.clock_origin = pe.now - (before & ~(WORD_MASK << shift) | (value & WORD_MASK) << shift)
        return
    if of_clock == CLOCK_WORDS:
        pe.clock_control = value & WORD_MASK
        return
    if machine.has_settings and address in machine.fabric.target.settings:
        pe.settings[address - machine.registers.settings] = value & WORD_MASK
        return
    of_queues = address - machine.registers.queues if machine.is_ordered else -1
    if of_queues in (2, 3):
        pe.flushed[of_queues - 2] &= value
        return
    if of_queues in (4, 5):
        flush(machine, pe, of_queues == 5, value & 7, where)
        return
    if address in machine.registers.queue_priorities:
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
