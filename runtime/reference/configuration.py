"""Configuration registers of PEs, which programs read and write as memory behind its end.

An access happens in the order of time: the task waits until nothing earlier can happen. Registers of a color that
`changes` are views of the state of its router; all others are unknown.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ...targets.wavelets import WORD_BITS, WORD_MASK
from ..findings import Code
from .order import Kind

if TYPE_CHECKING:
    from .machine import Machine
    from .pes import PE, Frame


def is_register(machine: Machine, address: int, size: int) -> bool:
    """Return True if an element at a byte address is a configuration register."""
    return size == 2 and not address & 1 and address // 2 in machine.registers.addresses


def waits_for_turn(machine: Machine, pe: PE, frame: Frame) -> bool:
    """Return True if the task has to wait for its turn; it then goes on at the same instruction."""
    if pe.turn == pe.now:
        return False
    frame.pc -= 1
    machine.order.schedule(pe.now, Kind.ACCESS, pe.number, (), partial(_go_on, machine, pe))
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
    found = machine.router_at(pe, address)
    if found is None:
        machine.fail(pe, Code.REGISTER_UNKNOWN, where, address)
    return found[0].read(machine.registers, found[1])


def write(machine: Machine, pe: PE, address: int, value: int, where: int) -> None:
    """Write the register at a word address."""
    found = machine.router_at(pe, address)
    if found is None:
        machine.fail(pe, Code.REGISTER_UNKNOWN, where, address)
    router, first = found
    missing = router.write(machine.registers, first, value & WORD_MASK, pe.now)
    if missing:
        machine.fail(pe, Code.SWITCH_POSITION_MISSING, where, router.color.color, missing)
    router.color.changed(router)
    machine.settle(router.color)
