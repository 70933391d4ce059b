"""Interpreter: one function for each instruction of the tables.

`machine` is the machine, `pe` the PE whose task runs, `frame` the activation it is in; `a`, `b` and `c` are the
operands. An instruction returns True if the task has ended or waits, and the interpreter with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from ...operations import floats, integers
from ...targets.wavelets import TIMESTAMP_WORDS, WORD_BITS, WORD_MASK
from ..engine import Printed
from ..findings import Code
from ..tables.format import ACCESS_POINTER, LOAD_ASYNC, LOAD_SAVES_ADDRESS, NONE
from ..tables.instructions import (
    BITS,
    CONTROL,
    FIRST_SCALAR,
    FRAME_DESCRIPTOR,
    NO_REGISTER,
    OF_CHIPS,
    SCALARS,
    STATIC_DESCRIPTOR,
)
from . import configuration, microthreads
from .arithmetic import WIDE, element
from .descriptors import Descriptor, FifoEnd, Held, Walk, Wavelets, kind_name
from .elements import Operand
from .exceptions import finding_values, raised
from .faults import EpochEnds, Fault
from .operations import execute
from .pes import NOT_BEGUN, PE, WANTS_STEP, Frame, Issue
from .program import Row, Use
from .resources import User
from .scalars import FUNCTIONS, from_bits, to_bits

if TYPE_CHECKING:
    from .machine import Machine

Instruction: TypeAlias = "Callable[[Machine, PE, Frame, int, int, int], bool | None]"


def enter(use: Use, arguments: list[int], caller: Frame | None = None, results: int = 0) -> Frame:
    """Return a frame for a use with some arguments."""
    registers = [0] * use.registers
    registers[: len(use.numbers)] = use.numbers
    registers[len(use.numbers) : len(use.numbers) + len(arguments)] = arguments
    frame = Frame(use, registers, [None] * use.frame_descriptors, caller, results)
    if caller is not None:
        frame.depth = caller.depth + 1
        frame.stack = caller.stack + use.call_bytes
    return frame


def run(machine: Machine, pe: PE) -> None:
    """Run the task of a PE until it ends, waits, or meets an error, after which it stays where it is."""
    machine.begin(pe)
    try:
        _run(machine, pe)
    except EpochEnds:
        machine.ahead.append(pe)
    except Fault as fault:
        machine.note_error(fault.finding)


def _run(machine: Machine, pe: PE) -> None:
    while True:
        frame = pe.frame
        assert frame is not None
        if frame.pc < 0:
            if frame.pc == NOT_BEGUN:
                frame.pc = WANTS_STEP
                if machine.trace is not None and pe.task is not None:
                    machine.trace.starts(pe, pe.task)
            assert pe.task is not None
            machine.count_step(pe, pe.task.row.where)
            frame.pc = 0
            if machine.statistics is not None:
                machine.statistics.steps(pe.task.row.where)
        op, a, b, c = frame.use.code[frame.pc]
        frame.pc += 1
        if op >= FIRST_SCALAR:
            _compute(frame.registers, op - FIRST_SCALAR, a, b, c)
        elif INSTRUCTIONS[op](machine, pe, frame, a, b, c):
            return


def _compute(registers: list[int], number: int, a: int, b: int, c: int) -> None:
    """Compute register a from b, from b and c, or from b, c and a itself."""
    operands = [registers[register] for register in (b, c, a)[: len(SCALARS[number].kinds)]]
    registers[a] = FUNCTIONS[number](*operands)


def place(frame: Frame) -> int:
    """Return the source place of the instruction that runs."""
    return frame.use.where[frame.pc - 1]


# Flow of control


def tick(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Charge the costs of a row."""
    pe.now += machine.program.prices[a]
    if machine.counted is not None:
        machine.counted.ticked[a] += 1
    if machine.statistics is not None:
        machine.statistics.computes(place(frame), machine.program.prices[a])


def jump(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Go on elsewhere in the body."""
    frame.pc = b | c << 16


def branch_false(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Jump if a register is 0."""
    if not frame.registers[a]:
        frame.pc = b | c << 16


def branch_true(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Jump if a register is not 0."""
    if frame.registers[a]:
        frame.pc = b | c << 16


def step(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Count an iteration of a loop."""
    _count_step(machine, pe, frame)


def _count_step(machine: Machine, pe: PE, frame: Frame) -> None:
    # If it has to wait, the task goes on at the same instruction.
    where = place(frame)
    frame.pc -= 1
    machine.count_step(pe, where)
    frame.pc += 1
    if machine.statistics is not None:
        machine.statistics.steps(place(frame))


def for_test(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Leave a loop whose counter has reached its end, else count an iteration."""
    if frame.registers[a] < frame.registers[a + 1]:
        _count_step(machine, pe, frame)
    else:
        frame.pc = b | c << 16


def call(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Make a frame for a use; it goes on there."""
    if pe.now > machine.until:
        frame.pc -= 1
        raise EpochEnds
    use = machine.program.use(frame.use.slots[a])
    stack, room = frame.stack + use.call_bytes, pe.cls.stack_room
    if stack > room:
        machine.fail(pe, Code.STACK_FULL, place(frame), use.number, frame.depth, stack, room)
    arguments = frame.registers[b : b + len(use.argument_kinds)]
    pe.frame = enter(use, arguments, caller=frame, results=c)


def return_(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Give results to the caller, which goes on."""
    caller, count = frame.caller, frame.use.results
    assert caller is not None
    caller.registers[frame.results : frame.results + count] = frame.registers[a : a + count]
    pe.frame = caller


def end(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> bool:
    """End the task."""
    if machine.trace is not None and pe.task is not None:
        machine.trace.ends(pe, pe.task)
    pe.frame = pe.task = None
    pe.clock = pe.now
    machine.touch(pe)
    return True


# Registers


def move(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Copy a register."""
    frame.registers[a] = frame.registers[b]


def select(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Copy a register if another is true."""
    if frame.registers[b]:
        frame.registers[a] = frame.registers[c]


def column(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Read the PE's own value of a column."""
    frame.registers[a] = machine.column_value(frame.use.slots[b], pe.unit)


def coordinate(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Read the column or row of the PE in the grid."""
    frame.registers[a] = pe.y if b else pe.x


def check_divisor(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Find a division by 0 before it is computed."""
    if not frame.registers[a]:
        machine.fail(pe, Code.DIVISION_BY_ZERO, place(frame))


# Memory


def load(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> bool | None:
    """Read an element, or a configuration register."""
    access = machine.program["accesses"][frame.use.slots[c]]
    kind = kind_name(access.kind)
    address = address_of(machine, pe, frame, access, b, is_load=True)
    if address < pe.bytes:
        if machine.races is not None:
            machine.races.element(pe, address, bytes_of(kind), place(frame), writes=False)
        bits = pe.read(address, bytes_of(kind))
    elif configuration.awaits_order(machine, pe):
        return True
    else:
        bits = configuration.read(machine, pe, address // 2, place(frame))
    frame.registers[a] = from_bits(bits, kind)
    return False


def store(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> bool | None:
    """Write an element, or a configuration register."""
    access = machine.program["accesses"][frame.use.slots[c]]
    kind = kind_name(access.kind)
    address = address_of(machine, pe, frame, access, b, is_load=False)
    bits = to_bits(frame.registers[a], kind)
    if address < pe.bytes:
        if machine.races is not None:
            machine.races.element(pe, address, bytes_of(kind), place(frame), writes=True)
        pe.write(address, bytes_of(kind), bits)
    elif configuration.awaits_order(machine, pe):
        return True
    else:
        configuration.write(machine, pe, address // 2, bits, place(frame))
    return False


def bytes_of(kind: str) -> int:
    """Return the bytes of an element in memory."""
    return max(BITS[kind] // 8, 1)


def address_of(machine: Machine, pe: PE, frame: Frame, access: Row, first: int, *, is_load: bool) -> int:
    """Return the byte address of an element, from the registers from `first` on."""
    if access.flags & ACCESS_POINTER:
        return _pointed(machine, pe, frame, access, first, is_load=is_load)
    size = bytes_of(kind_name(access.kind))
    dims = machine.program["access_dims"][access.dims : access.dims + access.rank]
    indices = frame.registers[first : first + access.rank]
    address = access.base + sum(index * dim.scale for index, dim in zip(indices, dims, strict=True))
    for number, (index, dim) in enumerate(zip(indices, dims, strict=True)):
        if not 0 <= index < dim.extent:
            where, values = place(frame), (index, number, access.buffer)
            if not 0 <= address <= pe.bytes - size:
                machine.fail(pe, Code.INDEX_OUTSIDE_MEMORY, where, *values)
            machine.warn(pe, Code.INDEX_OUTSIDE, where, *values)
            break
    return address


def _pointed(machine: Machine, pe: PE, frame: Frame, access: Row, first: int, *, is_load: bool) -> int:
    """Return the address of an element behind a pointer."""
    kind, size = kind_name(access.kind), bytes_of(kind_name(access.kind))
    address = frame.registers[first]
    if access.rank:
        address += frame.registers[first + 1] * size
    address &= WORD_MASK
    where = place(frame)
    if configuration.is_register(machine, address, size):
        return address
    if address > pe.bytes - size:
        machine.fail(pe, Code.ADDRESS_OUTSIDE, where, address)
    if size > 1 and address & 1:
        machine.fail(pe, Code.ADDRESS_ODD, where, address, size)
    if kind in WIDE and address & 2:
        machine.warn(pe, Code.ODD_LOAD if is_load else Code.ODD_STORE, where, address // 2)
    return address


# Descriptors


def operand(frame: Frame, number: int) -> Operand:
    """Return an operand: a descriptor of the frame or of the use, or what a register holds."""
    if number >= FRAME_DESCRIPTOR:
        found = frame.descriptors[number - FRAME_DESCRIPTOR]
        assert found is not None
        return found
    if number >= STATIC_DESCRIPTOR:
        return frame.use.descriptors[number - STATIC_DESCRIPTOR]
    return frame.registers[number]


def descriptor(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Copy a descriptor into the frame."""
    _put(frame, a, operand(frame, b))


def _put(frame: Frame, number: int, value: Operand) -> None:
    assert not isinstance(value, int)
    frame.descriptors[number & ~FRAME_DESCRIPTOR] = value


def _change(machine: Machine, pe: PE, frame: Frame, a: int, change: Callable[[Descriptor], Descriptor | None]) -> None:
    """Change a descriptor of the frame; find one of another kind than the change needs."""
    before = frame.descriptors[a & ~FRAME_DESCRIPTOR]
    assert before is not None
    after = change(before)
    if after is None:
        machine.fail(pe, Code.DESCRIPTOR_SHAPE, place(frame), frame.use.code[frame.pc - 1][0])
    _put(frame, a, after)


def _word_of(machine: Machine, pe: PE, frame: Frame, address: int) -> int:
    """Return the word at a byte address that a descriptor is set to."""
    address &= WORD_MASK
    if address & 1:
        if address + 2 > pe.bytes:
            machine.fail(pe, Code.ADDRESS_OUTSIDE, place(frame), address)
        machine.fail(pe, Code.ADDRESS_ODD, place(frame), address, 2)
    return address // 2


def set_address(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Set the address of a walk."""
    word = _word_of(machine, pe, frame, frame.registers[b])
    _change(machine, pe, frame, a, lambda it: it._replace(address=word) if isinstance(it, Walk) else None)


def set_offset(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Move a walk by some elements."""
    count = frame.registers[b]
    _change(machine, pe, frame, a, lambda it: it.moved(count * it.width) if isinstance(it, Walk) else None)


def set_stride(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Set a stride of a walk, the innermost is number 0."""
    stride = integers.signed(frame.registers[b], WORD_BITS)

    def change(it: Descriptor) -> Descriptor | None:
        if not isinstance(it, Walk) or it.places is not None:
            return None
        return it._replace(strides=_with(it.strides, c, stride))

    _change(machine, pe, frame, a, change)


def set_extent(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Set an extent of a walk, the outermost is number 0, or that of a run of wavelets."""
    extent = frame.registers[b] & WORD_MASK

    def change(it: Descriptor) -> Descriptor | None:
        if isinstance(it, Wavelets):
            return it._replace(length=extent)
        if not isinstance(it, Walk) or it.places is not None:
            return None
        return it._replace(extents=_with(it.extents, c, extent))

    _change(machine, pe, frame, a, change)


def _with(values: tuple[int, ...], place: int, value: int) -> tuple[int, ...]:
    return (*values[:place], value, *values[place + 1 :])


def advance(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Move a walk by some words."""
    words = frame.registers[b]
    _change(machine, pe, frame, a, lambda it: it.moved(words) if isinstance(it, Walk) else None)


def resize(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Set the only extent of a walk or of a run of wavelets."""
    count = frame.registers[b] & WORD_MASK

    def change(it: Descriptor) -> Descriptor | None:
        if isinstance(it, Wavelets):
            return it._replace(length=count)
        return it._replace(extents=(count,)) if isinstance(it, Walk) and len(it.extents) == 1 else None

    _change(machine, pe, frame, a, change)


def restride(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Set the only stride of a walk."""
    stride = integers.signed(frame.registers[b], WORD_BITS)

    def change(it: Descriptor) -> Descriptor | None:
        return it._replace(strides=(stride,)) if isinstance(it, Walk) and it.is_line else None

    _change(machine, pe, frame, a, change)


def rebase(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Set the address of a walk, which is one over all of memory then."""
    word = _word_of(machine, pe, frame, frame.registers[b])
    _change(machine, pe, frame, a, lambda it: it._replace(address=word, buffer=None) if isinstance(it, Walk) else None)


def mark(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Set what wavelets carry in their high half."""
    value = frame.registers[b] & WORD_MASK
    _change(machine, pe, frame, a, lambda it: it._replace(mark=value) if isinstance(it, Wavelets) else None)


def load_register(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Put a descriptor into a data structure register."""
    number = frame.use.slots[c]
    row, value = machine.program["register_loads"][number], operand(frame, a)
    if isinstance(value, Held):
        value = value.descriptor
    assert not isinstance(value, int)
    load = number if row.flags & LOAD_ASYNC else None
    register = row.file, row.number
    if machine.races is not None:
        machine.races.load(pe, register, place(frame))
    pe.registers[register] = Held(register, value, bool(row.flags & LOAD_SAVES_ADDRESS), load)


def read_register(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Read a data structure register. One that was never loaded is found (DSR-003)."""
    row = machine.program["register_reads"][frame.use.slots[c]]
    register = row.file, row.number
    held = pe.registers.get(register)
    if held is None:
        machine.fail(pe, Code.REGISTER_EMPTY, place(frame), *register)
    if isinstance(held.descriptor, FifoEnd):
        if not row.fifo:
            held = held._replace(descriptor=held.descriptor._replace(register=register))
    elif row.fifo:
        machine.fail(pe, Code.REGISTER_WITHOUT_FIFO, place(frame), *register)
    _put(frame, a, held)


# Operations and tasks


def apply(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> bool:
    """Run or start an operation; the task may have to wait for it."""
    operation = machine.program.operations[frame.use.slots[a]]
    result = None if b == NO_REGISTER else b
    if result is not None:
        frame.registers[result] = 1
    user = User(operation.number, NONE if pe.task is None else pe.task.number, place(frame))
    computed = element(operation.name, operation.format)
    issue = Issue(pe, operation, operation.settings, user, computed, result)
    return not execute(machine, issue, [_bits(operand(frame, each)) for each in operation.operands])


def _bits(value: Operand) -> Operand:
    return value & (1 << 64) - 1 if isinstance(value, int) else value


def activate(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Activate a task."""
    pe.tasks[frame.use.slots[a]].activate(pe.now)


def block(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Block a task."""
    pe.tasks[frame.use.slots[a]].block(pe.now)


def unblock(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Unblock a task."""
    pe.tasks[frame.use.slots[a]].unblock(pe.now)


def block_microthread(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> bool:
    """Block a microthread, behind all that happens up to now."""
    return _change_microthread(machine, pe, frame, a, blocks=True)


def unblock_microthread(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> bool:
    """Unblock a microthread, behind all that happens up to now."""
    return _change_microthread(machine, pe, frame, a, blocks=False)


def _change_microthread(machine: Machine, pe: PE, frame: Frame, a: int, *, blocks: bool) -> bool:
    if configuration.awaits_order(machine, pe):
        return True
    microthreads.change(machine, pe, frame.registers[a], place(frame), blocks=blocks)
    return False


def set_fifo_length(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Set how many elements the following operations read from, or write to, a FIFO."""
    fifo = pe.fifos[frame.use.slots[b]]
    side = fifo.writing if c else fifo.reading
    side.set_length(frame.registers[a] & WORD_MASK)


# What a program says and asks of itself


def assert_(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Find a condition that does not hold."""
    if not frame.registers[a]:
        value = 0 if b == NO_REGISTER else frame.registers[b]
        machine.fail(pe, Code.ASSERTION, place(frame), frame.use.slots[c], value)


def print_(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Print numbers."""
    number = frame.use.slots[a]
    count = machine.program["prints"][number].arguments
    machine.prints.append(Printed(pe.now, pe.number, number, frame.registers[b : b + count]))


def directive(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Compare a collective directive with those of the other PEs of the row or column."""
    root, count = frame.registers[b] & WORD_MASK, frame.registers[c] & WORD_MASK
    machine.directives.call(pe, frame.use.slots[a], root, count, place(frame))


def timestamp(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Read the clock, the low word first."""
    shown = pe.now - pe.clock_origin
    for word, register in zip(range(TIMESTAMP_WORDS), (a, a + 1, a + 2), strict=True):
        frame.registers[register] = integers.signed(shown >> WORD_BITS * word, WORD_BITS)


def set_clock(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Let the clock count from 0, if it has not been started (c = 0) or always (c = 1)."""
    if c or not pe.clock_is_started:
        pe.clock_origin, pe.clock_is_started = pe.now, True


def set_exception_mask(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Say which floating point exceptions stop the PE: those whose bits are not set."""
    pe.unmasked = ~frame.registers[a]


def check_exceptions(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Find a floating point exception of a scalar operation that the PE has unmasked."""
    trap = machine.program["traps"][frame.use.slots[a]]
    if not pe.unmasked:
        return
    name, kind = machine.program.string(trap.name), kind_name(trap.kind)
    operands: list[int] = trap.operands[: trap.count]
    registers = [frame.registers[register] for register in operands]
    if name in ("arith.sitofp", "arith.uitofp") or name.startswith("flow.cb16"):
        values = [float(register) for register in registers]
    else:
        values = [floats.number(register, "f32" if name == "arith.truncf" else kind) for register in registers]
    place_of_result: int = trap.result
    result = floats.number(frame.registers[place_of_result], kind)
    found = raised(name, values, result, kind) & pe.unmasked
    if found:
        machine.fail(pe, Code.FLOAT_EXCEPTION, place(frame), *finding_values(found, values, result))


def fail(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Find that what cannot be run has been reached."""
    machine.fail(pe, Code.FAILURE, place(frame), frame.use.slots[c])


def invalid(machine: Machine, pe: PE, frame: Frame, a: int, b: int, c: int) -> None:
    """Be what checked tables do not have."""
    raise AssertionError("an invalid instruction")


_NAMES = {"return": return_, "assert": assert_, "print": print_}
INSTRUCTIONS: list[Instruction] = [
    _NAMES.get(name) or globals()[name] for name in CONTROL if name not in OF_CHIPS
]  # fmt: skip
"""The function of each instruction of PEs, by its number."""
