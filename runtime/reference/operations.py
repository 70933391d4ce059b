"""Operations: what each needs, and whether it works in memory, sends, or receives."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from ...targets.model import pace
from ...targets.wavelets import ENDLESS_EXTENT, MAX_DIMENSIONS
from ..counted import ELEMENTS, IN_MEMORY, IN_REGISTERS, TO_RECEIVE, TO_SEND
from ..fabric.model import UNBOUNDED
from ..findings import MAX_WALK, Code
from ..tables.instructions import CONTROL_NUMBER
from .arithmetic import WIDE
from .configuration import awaits_order
from .descriptors import Descriptor, FifoEnd, Held, Walk, Wavelets
from .elements import Operand, compute, set_to_zero, zeroed_place
from .endings import settle, signal
from .microthreads import gate_of
from .pes import PE, Issue
from .priorities import HeldSend, may_be_held, note_work, turn_of
from .races import Flight
from .receiving import deliver, receive
from .sending import transmit
from .sends import Send
from .tasks import NEVER

if TYPE_CHECKING:
    from .machine import Machine


def execute(machine: Machine, issue: Issue, operands: list[Operand]) -> bool:
    """Run or start an operation on its operands, the destination first; return False if its task has to wait, for
    the end of that or to apply it later."""
    _check_operands(machine, issue, operands)
    in_registers = all(isinstance(operand, Held | int) for operand in operands)
    registers = [operand.register for operand in operands if isinstance(operand, Held)]
    issue, operands, moving = _from_registers(machine, issue, operands)
    destination, *sources = operands
    assert not isinstance(destination, int)
    receives = isinstance(destination, FifoEnd) or any(isinstance(source, Wavelets | FifoEnd) for source in sources)
    if _has_to_be_in_order(machine, issue, destination, receives=receives) and awaits_order(machine, issue.pe):
        return False
    if machine.trace is not None:
        machine.trace.issues(issue)
    count = element_count(issue.pe, destination, sources)
    for held in moving:
        assert isinstance(held.descriptor, Walk)
        moved = held.descriptor.behind(count)
        issue.pe.registers[held.register] = held._replace(descriptor=moved, load=None)
    if machine.counted is not None:
        kind = TO_RECEIVE if receives else TO_SEND if isinstance(destination, Wavelets) else IN_MEMORY
        kind = IN_REGISTERS if in_registers else kind
        counts = machine.counted.issued[issue.operation.number]
        counts[kind] += 1
        counts[ELEMENTS] += 0 if count == UNBOUNDED else count
    if machine.statistics is not None:
        machine.statistics.issues(issue)
    flight = None
    if machine.races is not None:
        flight = machine.races.issue(issue, destination, sources, count, registers, receives=receives)
    timing = machine.timing
    if receives:
        setup = timing.register_setup if in_registers else timing.receive_setup
        rate = pace(_price(machine, issue, [destination, *sources]))
        return receive(machine, issue, destination, sources, count, setup, rate, moving, flight)
    if isinstance(destination, Wavelets):
        setup = timing.register_setup if in_registers else timing.send_setup
        return _send(machine, issue, destination, sources, count, setup, flight)
    setup = timing.register_setup if in_registers else timing.memory_setup
    cycles = setup + ceil(count * _price(machine, issue, [destination, *sources]))
    compute(machine, issue, destination, sources, 0, count, {})
    issue.pe.now += cycles
    if machine.statistics is not None:
        machine.statistics.works_in_memory(issue, cycles, count)
    if machine.trace is not None:
        machine.trace.completes(issue, issue.pe.now, count)
    return True


def _has_to_be_in_order(machine: Machine, issue: Issue, destination: Descriptor, *, receives: bool) -> bool:
    """Return True if an operation is to be issued behind all that happens earlier, and some of that may be open.

    Its wavelets come behind those of a use of the queue before it, and what is under way then decides if it can be held
    back.
    """
    if isinstance(destination, Wavelets) and issue.pe.outputs[destination.queue].resource.is_open:
        return True
    return (receives or isinstance(destination, Wavelets)) and may_be_held(machine, issue)


def _check_operands(machine: Machine, issue: Issue, operands: list[Operand]) -> None:
    """Find operands that are not what the operation takes, and walks that are too long.

    Of the widths of registers `_from_registers` says more.
    """
    pe, row = issue.pe, issue.operation.row
    streams = [operand.descriptor if isinstance(operand, Held) else operand for operand in operands]
    zeroed = zeroed_place(streams[0], streams[1:])
    for place, (operand, kind) in enumerate(zip(operands, (row.destination, *row.sources), strict=True)):
        if isinstance(operand, int):
            continue
        stream, is_wide = operand.descriptor if isinstance(operand, Held) else operand, kind in WIDE
        if isinstance(stream, Wavelets):
            packs = stream.packed and not isinstance(operand, Held)
            wrong = stream.queue not in (pe.inputs if place else pe.outputs) or (packs and is_wide)
            wrong = wrong or (place == 0 and zeroed is not None and not isinstance(streams[1 + zeroed], Walk))
        else:
            wrong = not isinstance(operand, Held) and (stream.kind in WIDE) != is_wide
        if wrong:
            machine.fail(pe, Code.DESCRIPTOR_SHAPE, issue.user.where, CONTROL_NUMBER["apply"])
        if isinstance(stream, Walk) and stream.length > MAX_WALK:
            extents = (*stream.extents, 0, 0, 0)[:MAX_DIMENSIONS]
            machine.fail(pe, Code.WALK_TOO_LONG, 0, *extents)


def element_count(pe: PE, destination: Descriptor, sources: list[Operand]) -> int:
    """Return the iterations: the length of the shortest operand that has one.

    A sending queue counts only if there is no other (AMB-01), and a FIFO only if its length is set (AMB-16).
    """
    every = [destination, *sources]
    ends = [
        pe.fifos[operand.fifo].writing if k == 0 else pe.fifos[operand.fifo].reading
        for k, operand in enumerate(every)
        if isinstance(operand, FifoEnd)
    ]
    lengths = [end.length for end in ends if end.length]
    streams = [operand for operand in every if isinstance(operand, Walk | Wavelets)]
    if isinstance(destination, Wavelets):
        streams = streams[1:] or ([] if lengths else streams)
    elif ends and not lengths and all(isinstance(stream, Walk) and stream.repeats for stream in streams):
        return 1  # a scalar takes one element from a FIFO, and a FIFO one from a scalar
    lengths += [stream.length for stream in streams]
    count = min(lengths, default=1)
    if count == ENDLESS_EXTENT and (ends or any(isinstance(source, Wavelets) for source in sources)):
        return UNBOUNDED
    return count


def _price(machine: Machine, issue: Issue, operands: list[Operand]) -> Fraction:
    """Return the cycles of an element."""
    row = issue.operation.row
    strides = tuple(operand.strides[0] for operand in operands if isinstance(operand, Walk))
    return machine.timing.element_cycles(row.function, row.operand_bits, strides, row.name)


def _from_registers(machine: Machine, issue: Issue, operands: list[Operand]) -> tuple[Issue, list[Operand], list[Held]]:
    """Return an operation with what registers hold instead of these, and the registers that it moves on.

    The first operand that says how the operation runs decides, the destination before the sources.
    """
    row = issue.operation.row
    moving: list[Held] = []
    found: list[Operand] = []
    is_settled = False
    for operand, kind in zip(operands, (row.destination, *row.sources), strict=True):
        if not isinstance(operand, Held):
            is_settled = is_settled or (isinstance(operand, Wavelets) and issue.is_async)
            found.append(operand)
            continue
        descriptor = operand.descriptor
        if not isinstance(descriptor, Wavelets) and (descriptor.kind in WIDE) != (kind in WIDE):
            machine.fail_of(issue, Code.REGISTER_WIDTH, issue.operation.number, *operand.register,
                machine.kind(kind), machine.kind(descriptor.kind),
            )  # fmt: skip
        if operand.load is not None and not is_settled:
            settings = machine.program.loads[operand.load]
            if not settings.priority:
                settings = replace(settings, priority=issue.settings.priority)
            issue, is_settled = issue._replace(settings=settings, load=operand.load), True
        if operand.saves_address:
            moving.append(operand)
        if isinstance(descriptor, Wavelets) and kind in WIDE:
            descriptor = descriptor._replace(packed=False)  # a SIMD mode packs values of 16 bits alone (DSD-239)
        found.append(descriptor)
    return issue, found, moving


def _send(
    machine: Machine, issue: Issue, destination: Wavelets, sources: list[Operand], count: int, setup: int,
    flight: Flight | None,
) -> bool:  # fmt: skip
    """Send: operands are read now, and wavelet k leaves k times the rate after the first, which is set up before."""
    timing, pe = machine.timing, issue.pe
    queue = pe.outputs[destination.queue]
    rate = pace(_price(machine, issue, sources))
    issued = pe.now
    if destination.message:
        _check_message(machine, issue, destination, count)
    gate = gate_of(issue)
    if queue.network is not None and gate is not None and gate.is_blocked:
        machine.fail_of(issue, Code.MESSAGE_BLOCKED, issue.operation.number, issue.settings.microthread or 0)
    begins = issued if issue.is_async else issued + setup
    ending = timing.inject if issue.is_async else 0
    done = begins + rate * count + ending
    wavelets = -(-count // destination.lanes)
    own = begins + timing.inject + (wavelets - 1) * rate * destination.lanes
    send = Send(issue, queue, wavelets, issued, done, own, unheld=done, flight=flight)
    used = [queue.resource]
    if issue.settings.microthread is not None:
        used.append(machine.thread(pe, issue.settings.microthread))
    for resource in used:
        resource.use(issue.user, issued, done)
    turn = turn_of(machine, issue) if count and queue.network is None else None

    def read() -> list[int]:
        payload = compute(machine, issue, destination, sources, 0, count, {})
        set_to_zero(issue, destination, sources, 0, count)
        return payload

    if turn is not None:
        send.waiting = 1
        HeldSend(send, destination, read, count, begins, rate, ending, turn).begin(machine)
    elif count:
        note_work(machine, issue, begins, rate, rate, count)
    if queue.network is not None and (destination.message or destination.control):
        send.waiting = 1
    if count and turn is None:
        transmit(machine, issue, destination, read(), begins + timing.inject, rate, last=True, send=send)
        deliver(machine)
    if send.waiting or send.done > done:
        for resource in used:
            resource.extend(NEVER if send.waiting else send.done)
    if machine.statistics is not None:
        machine.statistics.sends(send, done - issued, count)
        if not send.waiting:
            machine.statistics.sent(send)
    if machine.trace is not None and not send.waiting:
        machine.trace.completes(issue, send.done, wavelets)
    if flight is not None and machine.races is not None:
        # Of what the queue holds, the memory has been read before the wavelets leave, unless something blocks the
        # microthread.
        is_held = wavelets <= queue.row.room and gate_of(issue) is None
        if is_held or not send.waiting:
            machine.races.end(flight, send.unheld - timing.inject if is_held else send.done)
            send.flight = None
    if issue.is_async:
        pe.now += timing.async_issue
        if send.waiting:
            settle(machine, send)
        else:
            signal(machine, issue, send.done)
        return True
    if not send.waiting:
        pe.now = send.done
        return True
    send.holds_task = True
    settle(machine, send)
    return False


def _check_message(machine: Machine, issue: Issue, destination: Wavelets, count: int) -> None:
    """Find a message without elements, or with more than its array has."""
    if not count:
        machine.fail_of(issue, Code.MESSAGE_EMPTY, issue.operation.number)
    if count > destination.length:
        machine.fail_of(issue, Code.MESSAGE_TOO_LONG, issue.operation.number, count, destination.length)
