"""Cores of a chip: a machine that runs tables in plain Python, one core at a time.

The rows of the grid, blocks of cores, have nothing in common but shared memories: the first runs until nothing can
happen on it, then the next. On a row a core runs until it has to wait for a channel, or ends. Then the first that has
been launched begins, or the last that has been woken goes on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np

from ...operations.scalar_types import numpy_type
from ...targets import fabric
from ..chips.chip import ChannelCounts, Chip, Ring, Spaces, Waiting
from ..chips.engine import Position, Printed
from ..chips.records import RECORD, SUBJECT_VALUES, Code
from ..engine import BUDGET, DONE, ERROR
from ..places import Array
from ..tables.format import CHANNEL_DRAINED, NONE
from ..tables.instructions import (
    BITS,
    CONTROL,
    ELEMENTS,
    FIRST_SCALAR,
    FLOATS,
    FRAME_DESCRIPTOR,
    KIND,
    NO_REGISTER,
    OF_CHIPS,
    SCALARS,
    SHARED,
)
from .channels import Channel, Copy
from .program import Program, Use
from .scalars import FUNCTIONS as SCALAR_FUNCTIONS
from .scalars import from_bits, to_bits
from .tile_functions import FUNCTIONS as TILE_FUNCTIONS
from .tile_functions import IndexOutside, ShapesDiffer
from .tiles import Tile, make, view

Instruction: TypeAlias = "Callable[[Core, int, int, int], bool | None]"
"""Returns True if the core has ended its task, or does not go on now."""


LEAST, MOST = -(1 << 63), (1 << 63) - 1
"""Limits of what a record holds."""

WANTS_STEP = -1
"""In place of a program counter: the task begins with its next step."""


class Stopped(Exception):
    """An error that ends the run: its record."""

    def __init__(self, record: Any) -> None:
        super().__init__()
        self.record = record


class Core:
    """A core: the task that it runs, if any, and those that it has yet to begin."""

    def __init__(self, row: Row, unit: int, cls: int) -> None:
        self.row = row
        self.unit = unit
        self.cls = cls
        self.column = int(row.machine.chip.column.ravel()[unit])
        self.launched: dict[int, list[int]] = {}
        """The arguments of tasks that have not begun, by task."""
        self.task: int | None = None
        self.use: Use | None = None
        self.registers: list[int] = []
        self.tiles: list[Tile | None] = []
        self.pc = 0
        self.waits_at: tuple[Channel, str, int] | None = None
        """The channel and action for which it waits, and its place there."""
        self.rests_at: int | None = None
        """The place behind the instruction at which it rested last, if nothing has ended that since."""
        self.compares: tuple[int, int] = (0, 0)
        """What it found there, and what it wants."""
        self.steps_left = 0

    # What instructions ask

    def code(self) -> Use:
        """Return the code that it runs."""
        assert self.use is not None
        return self.use

    @property
    def where(self) -> int:
        """The source place of the instruction that runs; that of the task before the first."""
        if self.pc == WANTS_STEP:
            assert self.task is not None
            return self.row.machine.program["tasks"][self.task].where
        return self.code().where[self.pc - 1]

    def fail(self, code: Code, *values: int, channel: int = NONE) -> NoReturn:
        """Stop the run with an error."""
        raise Stopped(self.record(code, channel, values))

    def record(self, code: Code, channel: int, values: Sequence[int]) -> Any:
        """Return a record of what happens at the instruction that runs."""
        found = np.zeros((), RECORD)
        found["code"], found["unit"], found["channel"], found["where"] = code, self.unit, channel, self.where
        found["values"][: len(values)] = [min(max(value, LEAST), MOST) for value in values]
        return found

    def tile(self, operand: int) -> Tile:
        """Return a tile of the frame."""
        found = self.tiles[operand - FRAME_DESCRIPTOR]
        assert found is not None
        return found

    def count_step(self) -> bool:
        """Count a step; return True if it is one too many for now. Stop the run at the limit."""
        machine = self.row.machine
        if machine.budget <= 0:
            return True
        if machine.is_limited:
            if self.steps_left <= 0:
                assert self.task is not None
                self.fail(Code.STEP_LIMIT, self.task)
            self.steps_left -= 1
        machine.budget -= 1
        machine.steps += 1
        return False

    # Channels

    def end_of(self, number: int, *, producing: bool) -> tuple[Channel, int]:
        """Return the channel of a number on the core's row, and the core's place at its end."""
        channel = self.row.channels[number]
        many = channel.many_produce if producing else channel.many_consume
        if many and self.column >= channel.lanes:
            self.fail(Code.BEYOND_LANES, channel=number)
        return channel, channel.member(self.column, producing=producing)


class Row:
    """A row of the grid: its cores and channels, and what has been found there."""

    def __init__(self, machine: Cores, y: int) -> None:
        self.machine = machine
        self.y = y
        chip = machine.chip
        self.cores = {
            y * chip.width + x: Core(self, y * chip.width + x, cls)
            for x, cls in enumerate(chip.class_of[y].tolist())
            if cls >= 0
        }
        self.channels = {
            number: Channel(chip, number, self.find) for number in range(len(chip.sides)) if y in chip.rows(number)
        }
        for channel in self.channels.values():
            channel.answered = [self.channels[other] for other in chip.answered[channel.number]]
        self.starting: deque[Core] = deque()
        """Cores with tasks to begin, in the order of launches."""
        self.woken: list[Core] = []
        self.paused: deque[Core] = deque()
        """Cores that let all others go on first."""
        self.resting: list[Core] = []
        """Cores that go on in the next turn of the row."""
        self.turn = 0
        self.running: Core | None = None
        self.findings: list[Any] = []
        self.known: set[tuple[int, ...]] = set()
        self.rings: list[Ring] = []
        self.known_rings: set[tuple[int, int]] = set()
        self.printed: list[Printed] = []

    def find(self, code: Code, channel: int, *values: int) -> None:
        """Note a finding, the first of its code, channel, source place and subject."""
        core = self.running
        assert core is not None
        key = (int(code), channel, core.where, *values[: SUBJECT_VALUES.get(code, 0)])
        if key not in self.known:
            self.known.add(key)
            self.findings.append(core.record(code, channel, values))

    def run(self) -> bool:
        """Run until nothing can happen; return True if steps are wanting before."""
        if self.turn != self.machine.turn:
            self.turn = self.machine.turn
            # The first of them goes on first.
            self.woken += sorted(self.resting, key=lambda core: -core.unit)
            self.resting = []
        while True:
            if self.running is None:
                self.running = self._next()
            if self.running is None:
                return False
            if not self._go_on(self.running):
                return True
            self.running = None

    def _next(self) -> Core | None:
        if self.starting:
            core = self.starting.popleft()
            self._begin(core)
            return core
        if self.woken:
            return self.woken.pop()
        return self.paused.popleft() if self.paused else None

    def _begin(self, core: Core) -> None:
        program = self.machine.program
        core.task = min(core.launched)
        arguments = core.launched.pop(core.task)
        use = core.use = program.use(program["tasks"][core.task].use)
        core.registers = [0] * use.registers
        core.registers[: len(use.numbers) + len(arguments)] = [*use.numbers, *arguments]
        core.tiles = [None] * use.frame_descriptors
        core.pc = WANTS_STEP
        self.machine.task_runs += 1

    def _go_on(self, core: Core) -> bool:
        """Run a core until it ends, or waits; return False if steps are wanting."""
        if core.pc == WANTS_STEP:
            if core.count_step():
                return False
            core.pc = 0
        while True:
            op, a, b, c = core.code().code[core.pc]
            core.pc += 1
            if op >= FIRST_SCALAR:
                operands = [core.registers[place] for place in (b, c, a)[: len(SCALARS[op - FIRST_SCALAR].kinds)]]
                core.registers[a] = SCALAR_FUNCTIONS[op - FIRST_SCALAR](*operands)
            elif INSTRUCTIONS[op](core, a, b, c):
                return core.task is None or core.waits_at is not None or core in self.paused or core in self.resting

    def wake(self, channel: Channel, *, producers: bool) -> None:
        """Wake the cores at an end of a channel that wait and need not any more."""
        for core in self.cores.values():
            if core.waits_at is None or core.waits_at[0] is not channel:
                continue
            _, action, member = core.waits_at
            if (action != "wait") == producers and channel.can_go_on(member, action):
                core.waits_at = None
                self.woken.append(core)


class Cores:
    """A machine of cores; `ChipEngine` says what a host asks of it.

    With `prompt` a core lets the others go first after every entry that it has pushed.
    """

    def __init__(self, chip: Chip, spaces: Spaces, *, prompt: bool = False) -> None:
        self.chip = chip
        self.spaces = spaces
        self.prompt = prompt
        target = chip.text(chip.tables["program"]["target"][0])
        self.program = Program(chip.tables, fabric(target))
        self.rows = [Row(self, y) for y in range(chip.height)]
        self.budget = self.steps = self.task_runs = 0
        self.is_limited = False
        self.turn = 0
        """Rows take turns as long as cores rest and others do something."""
        self.has_progress = False
        self._is_running = False
        self._error: Any = None
        self._place: Core | None = None

    def run(self, steps: int) -> int:
        """Run about so many steps more, or until nothing can happen."""
        self.budget = steps
        if not self._is_running:
            self._is_running = True
            self.turn += 1
        with np.errstate(all="ignore"):
            while True:
                for row in self.rows:
                    try:
                        if row.run():
                            self._place = row.running
                            return BUDGET
                    except Stopped as stopped:
                        self._error = stopped.record
                        self._is_running = False
                        return ERROR
                if not self.has_progress:
                    self._is_running = False
                    return DONE
                self.has_progress = False
                self.turn += 1

    def limit(self, steps: int | None) -> None:
        """Let each core take so many steps from now on."""
        self.is_limited = steps is not None
        for row in self.rows:
            for core in row.cores.values():
                core.steps_left = steps or 0

    def place(self) -> Position:
        """Return where the core is that stopped last for want of steps."""
        core = self._place
        assert core is not None and core.task is not None
        task = self.program["tasks"][core.task]
        return Position(core.unit, core.task, task.where if core.pc == WANTS_STEP else core.code().where[core.pc])

    def error(self) -> Any:
        """Return the record of the error that has ended the run."""
        return self._error

    def take_findings(self) -> Array:
        """Return the records of findings since the last call, by rows of the grid."""
        found = [record for row in self.rows for record in row.findings]
        for row in self.rows:
            row.findings = []
            row.known.clear()
        return np.array(found, RECORD) if found else np.zeros(0, RECORD)

    def take_rings(self) -> Sequence[Ring]:
        """Return the rings of slots used in shared memories since the last call."""
        found = [ring for row in self.rows for ring in row.rings]
        for row in self.rows:
            row.rings = []
        return found

    def launch(self, task: int, arguments: Sequence[int]) -> None:
        """Activate a launch task on all cores of its class."""
        owner = self.program["tasks"][task].owner
        for row in self.rows:
            for core in row.cores.values():
                if core.cls == owner:
                    core.launched[task] = list(arguments)
                    if core.task is None and core not in row.starting:
                        row.starting.append(core)

    def active(self, unit: int) -> set[int]:
        """Return the launch tasks of a core that have not begun."""
        return set(self.rows[unit // self.chip.width].cores[unit].launched)

    def totals(self) -> tuple[int, int]:
        """Return the tasks started and the steps taken so far."""
        return self.task_runs, self.steps

    def take_printed(self) -> Sequence[Printed]:
        """Return the tiles printed since the last call."""
        found = [printed for row in self.rows for printed in row.printed]
        for row in self.rows:
            row.printed = []
        return found

    def waiting(self) -> Sequence[Waiting]:
        """Return the cores that wait."""
        found: list[Waiting] = []
        for row in self.rows:
            for core in row.cores.values():
                if core in row.resting:
                    assert core.task is not None
                    where = core.code().where[core.pc - 1]
                    found.append(Waiting(core.unit, NONE, "rest", where, core.task, *core.compares))
                if core.waits_at is not None:
                    assert core.task is not None
                    channel, action, _ = core.waits_at
                    where = core.code().where[core.pc]
                    found.append(Waiting(core.unit, channel.number, action, where, core.task))
        return found

    def counts(self, channel: int, row: int) -> ChannelCounts:
        """Return the state of a channel on a row of the grid."""
        return self.rows[row].channels[channel].counts()

    def renew(self) -> None:
        """Begin a new launch."""
        for row in self.rows:
            for channel in row.channels.values():
                channel.renew(keep=bool(channel.flags & CHANNEL_DRAINED))


# Instructions


def jump(core: Core, a: int, b: int, c: int) -> None:
    """Go on elsewhere in the body."""
    core.pc = b | c << 16


def branch_false(core: Core, a: int, b: int, c: int) -> None:
    """Jump if a register is 0."""
    if not core.registers[a]:
        core.pc = b | c << 16


def branch_true(core: Core, a: int, b: int, c: int) -> None:
    """Jump if a register is not 0."""
    if core.registers[a]:
        core.pc = b | c << 16


def step(core: Core, a: int, b: int, c: int) -> bool:
    """Count an iteration of a loop."""
    if core.count_step():
        core.pc -= 1
        return True
    return False


def for_test(core: Core, a: int, b: int, c: int) -> bool:
    """Leave a loop whose counter has reached its end, else count an iteration."""
    if core.registers[a] < core.registers[a + 1]:
        return step(core, a, b, c)
    core.pc = b | c << 16
    return False


def end(core: Core, a: int, b: int, c: int) -> bool:
    """End the task; the next that has been launched begins behind those of other cores."""
    core.task = core.use = None
    if core.launched:
        core.row.starting.append(core)
    return True


def move(core: Core, a: int, b: int, c: int) -> None:
    """Copy a register."""
    core.registers[a] = core.registers[b]


def select(core: Core, a: int, b: int, c: int) -> None:
    """Copy a register if another is true."""
    if core.registers[b]:
        core.registers[a] = core.registers[c]


def coordinate(core: Core, a: int, b: int, c: int) -> None:
    """Read the column or row of the core in the grid."""
    y, x = divmod(core.unit, core.row.machine.chip.width)
    core.registers[a] = y if b else x


def check_divisor(core: Core, a: int, b: int, c: int) -> None:
    """Find a division by 0 before it is computed."""
    if not core.registers[a]:
        core.fail(Code.DIVISION_BY_ZERO)


def descriptor(core: Core, a: int, b: int, c: int) -> None:
    """Copy a tile."""
    core.tiles[a - FRAME_DESCRIPTOR] = core.tile(b)


def assert_(core: Core, a: int, b: int, c: int) -> None:
    """Find an assertion that does not hold."""
    if not core.registers[a]:
        message = core.code().slots[c]
        shows = core.row.machine.program["messages"][message].shows_value
        core.fail(Code.ASSERTION, message, core.registers[b] if shows else 0)


def fail(core: Core, a: int, b: int, c: int) -> None:
    """Find that what cannot be run has been reached."""
    core.fail(Code.FAILURE, core.code().slots[c])


# Tiles


def tile(core: Core, a: int, b: int, c: int) -> None:
    """Make a tile; one in a shared memory that belongs to an entry uses the slots of its channel there."""
    row = core.row.machine.program["tiles"][core.code().slots[c]]
    registers = 1 + (row.owner != NONE) + (row.channel != NONE) + row.open.bit_count()
    made = make(row, core.registers[b : b + registers])
    core.tiles[a - FRAME_DESCRIPTOR] = made
    channel = made.channel
    if channel is None:
        return
    if made.role != "copied":
        space = core.row.machine.program["spaces"][row.space]
        base = core.registers[b]
        if space.owner == NONE and (channel, base) not in core.row.known_rings:
            core.row.known_rings.add((channel, base))
            end = base + (row.slot_count - 1) * row.slot_size + made.bytes
            core.row.rings.append(Ring(core.row.y, channel, row.space, base, end, core.where))
    elif row.flags:
        state = core.row.channels[channel]
        member = state.member(core.column, producing=False)
        state.copies.append(Copy(member, made.number, made.address, made.address + made.bytes))


def tile_apply(core: Core, a: int, b: int, c: int) -> None:
    """Compute a function on tiles."""
    number = core.code().slots[a]
    row = core.row.machine.program["tile_applies"][number]
    destination = core.tile(row.destination)
    _check_use(core, destination, writes=True)
    out = view(core, destination)
    operands: list[Array] = []
    sources: list[tuple[int, int]] = list(zip(row.sources, row.kinds, strict=True))
    for operand, kind in sources:
        if operand == NO_REGISTER:
            continue
        if operand >= FRAME_DESCRIPTOR:
            source = core.tile(operand)
            _check_use(core, source, writes=False)
            operands.append(view(core, source))
        else:
            operands.append(_number(core.registers[operand], ELEMENTS[kind]))
    try:
        _check_alike(out, operands, row.alike)
        TILE_FUNCTIONS[row.function](out, operands, row)
    except IndexOutside as error:
        core.fail(Code.INDEX_OUTSIDE, number, error.index, error.count)
    except ShapesDiffer:
        shapes = [each.shape for each in (out, *operands) if each.ndim]
        core.fail(Code.SHAPES, number, len(shapes), *(n for shape in shapes for n in (len(shape), *shape)))


def _number(value: int, kind: str) -> Array:
    """Return what a register holds as an array without dimensions."""
    if kind == "f64":
        return np.array(value, np.int64).view(np.float64)
    if kind in FLOATS:
        width = BITS[kind]
        return np.array(to_bits(value, kind), f"u{width // 8}").view(numpy_type(kind))
    return np.array(value, np.int64)


def _check_alike(out: Array, operands: Sequence[Array], alike: Sequence[int]) -> None:
    """Raise ShapesDiffer where an operand would be repeated that must not be."""
    for operand, dimensions in zip(operands, alike, strict=False):
        for dimension in range(operand.ndim):
            differ = dimension >= out.ndim or operand.shape[-1 - dimension] != out.shape[-1 - dimension]
            if dimensions >> dimension & 1 and differ:
                raise ShapesDiffer


def _check_use(core: Core, tile: Tile, *, writes: bool) -> None:
    """Find a tile that is used outside the lifetime of its entry."""
    number = tile.channel
    if number is None:
        return
    channel, produced = core.row.channels[number], tile.role == "written"
    many = channel.many_produce if produced else channel.many_consume
    if many and core.column >= channel.lanes:
        if writes and produced:
            core.row.find(Code.OUTSIDER, number)
        return
    member = channel.member(core.column, producing=produced)
    if produced:
        if writes:
            channel.written[member] = max(channel.written[member], tile.number)
        if channel.committed[member] > tile.number:
            core.row.find(Code.STORE_AFTER_PUSH, number, tile.number, int(writes))
    elif tile.role == "read":
        if channel.released[member] > tile.number:
            core.row.find(Code.USE_AFTER_FREE, number, tile.number, int(writes))
    else:
        _check_copy(core, channel, member, tile)


def _check_copy(core: Core, channel: Channel, member: int, tile: Tile) -> None:
    """Find a copy of an entry that is used after the copy of a later one has overwritten it."""
    start, end = tile.address, tile.address + tile.bytes
    for later in channel.copies:
        if later.member == member and later.number > tile.number and later.start < end and later.end > start:
            alike = later.end - later.start == end - start
            core.row.find(
                Code.COPY_OVERWRITTEN, channel.number, int(alike), tile.number, later.number, tile.row.slot_count
            )
            return


def tile_print(core: Core, a: int, b: int, c: int) -> None:
    """Keep the elements of a tile for the host."""
    source = core.tile(a)
    _check_use(core, source, writes=False)
    core.row.printed.append(Printed(core.unit, core.code().slots[b], view(core, source).copy()))


def tile_get(core: Core, a: int, b: int, c: int) -> None:
    """Read the first element of a tile, 0 of an empty one."""
    source = core.tile(b)
    elements = view(core, source).ravel()
    number: int = source.row.element
    kind = ELEMENTS[number]
    bits = int(elements[:1].view(f"u{elements.itemsize}")[0]) if elements.size else 0
    signed = kind.replace("u", "i")
    core.registers[a] = from_bits(bits, signed) if signed in KIND else bits


# Channels


def acquire(core: Core, a: int, b: int, c: int) -> bool:
    """Take the producer's next entry, or wait."""
    channel, member = core.end_of(core.code().slots[b], producing=True)
    return _take(core, a, channel, member, "acquire", channel.acquire(member))


def wait(core: Core, a: int, b: int, c: int) -> bool:
    """Take the consumer's next entry, or wait."""
    channel, member = core.end_of(core.code().slots[b], producing=False)
    return _take(core, a, channel, member, "wait", channel.wait(member))


def _take(core: Core, result: int, channel: Channel, member: int, action: str, number: int | None) -> bool:
    if number is None:
        return _suspend(core, channel, action, member)
    core.registers[result] = number
    return False


def _suspend(core: Core, channel: Channel, action: str, member: int) -> bool:
    """Let a core wait at its instruction, which it tries again."""
    core.pc -= 1
    core.waits_at = channel, action, member
    return True


def commit(core: Core, a: int, b: int, c: int) -> bool:
    """Complete the producer's entry, and let others go first if the machine is prompt."""
    channel, member = core.end_of(core.code().slots[a], producing=True)
    channel.commit(member)
    core.row.wake(channel, producers=False)
    if core.row.machine.prompt:
        core.row.paused.append(core)
        return True
    return False


def release(core: Core, a: int, b: int, c: int) -> None:
    """Release the consumer's entry."""
    channel, member = core.end_of(core.code().slots[a], producing=False)
    channel.release(member)
    core.row.wake(channel, producers=True)


def drain(core: Core, a: int, b: int, c: int) -> bool:
    """Take the outstanding credits, or wait for them."""
    channel, member = core.end_of(core.code().slots[a], producing=True)
    return False if channel.drain(member) else _suspend(core, channel, "drain", member)


def rest(core: Core, a: int, b: int, c: int) -> bool:
    """Let all other cores go on, unless a condition holds. To rest again where it has just rested does not count."""
    machine = core.row.machine
    if core.registers[a]:
        machine.has_progress |= core.rests_at is not None
        core.rests_at = None
        return False
    machine.has_progress |= core.rests_at != core.pc
    core.rests_at = core.pc
    core.compares = core.registers[b], core.registers[c]
    core.row.resting.append(core)
    return True


def _none(core: Core, a: int, b: int, c: int) -> bool:
    raise AssertionError("checked tables have no such instruction of cores")


_NAMES = {"assert": assert_}
INSTRUCTIONS: list[Instruction] = [
    (_NAMES.get(name) or globals()[name]) if name in (*SHARED, *OF_CHIPS) else _none for name in CONTROL
]  # fmt: skip
"""The function of each instruction, by its number."""
