"""Switches, filters and color swaps: colors whose wavelets go from router to router.

Control wavelets move the switches of the routers that they pass, so runs of wavelets travel hop by hop. Each router
takes them from one port at a time, the others wait until its switch moves. What a router does next depends on the order
of the wavelets on each link alone, and times follow from time stamps. Only where a router takes a color from several
ports at once must time decide.

A router passes a wavelet on when there is room for it on all links that it goes by, and in the queues at its ramp. What
has none waits, and what is behind it on its link; so the links fill up as far as the sender, whose send does not end.

A control wavelet is routed by the current position of the switch and then obeyed. It holds eight commands of three
bits, a code and a bit that keeps it from the compute engine: the first in bits 22 to 24, the second from bit 25, and on
through bits 28, 29 and 0 to 15. A router that pops the first one moves the others forward, and an ignored no-operation
comes in behind.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ...targets.wavelets import (
    ADVANCE,
    COMMAND_BITS,
    COMMANDS,
    COMMANDS_SHIFT,
    HIGH_COMMANDS,
    INPUT_SHIFT,
    INVALID_PORT,
    NOP,
    POP_MODE_SHIFT,
    PORTS,
    POSITION_BITS,
    POSITION_SHIFT,
    REGISTER_PORTS,
    RESET,
    RING_SHIFT,
    SETS_RECEIVE_SHIFT,
    SETS_TRANSMIT_SHIFT,
    SWITCH_POSITIONS,
    TEARDOWN,
    TEARDOWN_SHIFT,
)
from ..fabric import model
from ..findings import Code
from ..tables.format import SETS_RECEIVE, SETS_TRANSMIT
from .credits import Path, Takes
from .filters import Filter, filter_of
from .order import Kind
from .queues import Run
from .room import room
from .tasks import NEVER

if TYPE_CHECKING:
    from ...targets.model import Registers
    from .machine import Machine

RAMP, NORTH, EAST, SOUTH, WEST = range(len(PORTS))
OPPOSITE = {NORTH: SOUTH, SOUTH: NORTH, EAST: WEST, WEST: EAST}
STEP = {NORTH: (0, -1), SOUTH: (0, 1), EAST: (1, 0), WEST: (-1, 0)}
"""Columns and rows to the neighbor at each port."""

IGNORED = 1 << COMMAND_BITS - 1
"""The bit of a command that keeps its wavelet from the compute engine."""

IGNORED_NOP = (IGNORED | NOP) << COMMAND_BITS * (COMMANDS - 1)
"""What comes in behind the last command when the first is popped."""

LOW_COMMANDS = COMMAND_BITS * COMMANDS - HIGH_COMMANDS
"""Bits of the last commands, from bit 0 on."""

NO_POP, ALWAYS_POP, POP_ON_ADVANCE, POP_ON_ADVANCE_NOP = range(4)


def command(word: int) -> int:
    """Return the command of a control wavelet for the first router."""
    return word >> COMMANDS_SHIFT & IGNORED - 1


def is_ignored(word: int) -> bool:
    """Return True if the first command of a control wavelet keeps it from the compute engine."""
    return bool(word >> (COMMANDS_SHIFT + COMMAND_BITS - 1) & 1)


def popped(word: int) -> int:
    """Return a control wavelet without its first command."""
    high, low = (1 << HIGH_COMMANDS) - 1, (1 << LOW_COMMANDS) - 1
    commands = ((word >> COMMANDS_SHIFT) & high) | ((word & low) << HIGH_COMMANDS)
    commands = (commands >> COMMAND_BITS) | IGNORED_NOP
    kept = word & ~((high << COMMANDS_SHIFT) | low)
    return kept | ((commands & high) << COMMANDS_SHIFT) | (commands >> HIGH_COMMANDS)


@dataclass(frozen=True, slots=True)
class Passage:
    """Wavelets on their way to one port of a router; wavelet k is there at `first` + k * `rate`."""

    payload: list[int]
    first: int
    rate: int
    control: bool
    path: Path | None = None
    """The link that they come by, or the way from their queue."""
    is_marker: bool = False
    """True if it is not a wavelet but moves the switch of the sender's router on."""
    hops: int = 0

    def cut(self, low: int, high: int) -> Passage:
        """Return the wavelets `low` to `high`."""
        return replace(self, payload=self.payload[low:high], first=self.first + low * self.rate)


@dataclass(eq=False, slots=True)
class Router:
    """The router of a PE for one color: its switch, and the wavelets that wait at its ports."""

    color: SwitchedColor
    pe: int
    x: int
    y: int
    receive: list[int]
    """For each position the ports that it takes wavelets from, as bits..."""
    transmit: list[int]
    """... and those that it sends them to."""
    valid: list[bool]
    crowded: list[bool]
    """For each position, True if time decides between wavelets of several ports."""
    ring: bool
    pop_mode: int
    position: int
    readers: list[int]
    """Input queues of the PE that get what comes down the ramp."""
    links: list[Path]
    """What is on the links to its ports."""
    down: list[Path]
    """What is on the way down its ramp, to each of `readers`."""
    filter: Filter | None
    """That at its ramp."""
    free: int = 0
    """When it can pass the next wavelet."""
    is_full: bool = False
    """True if it has chosen a wavelet for which there is no room: it passes nothing before that."""
    waiting: tuple[list[Passage], ...] = field(default_factory=lambda: tuple([] for _ in PORTS))
    """By port, in the order in which they came."""
    unread: int = 0
    """Wavelets that came down the ramp of a PE without a queue for the color."""
    left_grid: list[int] = field(default_factory=lambda: [0] * len(PORTS))
    """Wavelets of data that it has sent over the edge of the grid, by port."""

    # Of colors that change
    sets: list[int] = field(default_factory=list[int])
    """Which of its ports each position names itself; `receive` and `transmit` have the others as the one before has."""
    is_torn: bool = False
    """True in a teardown phase: nothing passes."""
    flags: int = 0
    """Bits of the color's register that mean nothing here."""
    selects: int = 0
    """On WSE-2, positions that are not given whose registers name where the color comes from, as bits."""

    def holds(self, port: int) -> bool:
        """Return True if it does not take wavelets from a port now, or if time must decide, or there is no room."""
        return not self.receive[self.position] >> port & 1 or self.crowded[self.position] or self.is_full

    @property
    def taken(self) -> int:
        """The ports that it takes wavelets from now, as bits."""
        return 0 if self.is_torn else self.receive[self.position]

    @property
    def following(self) -> int:
        """The next position of the switch."""
        then = self.position + 1
        if then < SWITCH_POSITIONS and self.valid[then]:
            return then
        return 0 if self.ring else self.position

    def decision(self) -> tuple[int, int]:
        """Return when the first wavelet came that time decides about, NEVER if there is none, and at which port."""
        if not self.crowded[self.position] or self.is_torn:
            return NEVER, RAMP
        heads = [
            # A link keeps its order; what several queues of a PE send goes by time.
            (min(run.first for run in runs) if port == RAMP else runs[0].first, port)
            for port, runs in enumerate(self.waiting)
            if runs and self.receive[self.position] >> port & 1
        ]
        return min(heads, default=(NEVER, RAMP))

    # Its registers

    def read(self, registers: Registers, first: int) -> int:
        """Return its register among those that begin at a word address."""
        if first == registers.colors:
            ports = _register_bits(self.transmit[0]) | _register_bits(self.receive[0]) << len(PORTS)
            return ports | self.pop_mode << POP_MODE_SHIFT | self.is_torn << TEARDOWN_SHIFT | self.flags
        if first == registers.switches:
            word = self.ring << RING_SHIFT | self.position << POSITION_SHIFT
            places = () if registers.positions else range(1, SWITCH_POSITIONS)
            return word | sum(self._packed(place) << POSITION_BITS * (place - 1) for place in places)
        place = 1 + registers.positions.index(first)
        sets, word = self.sets[place], 0
        if sets & SETS_TRANSMIT:
            word |= _register_bits(self.transmit[place]) | 1 << SETS_TRANSMIT_SHIFT
        if sets & SETS_RECEIVE:
            word |= _register_bits(self.receive[place]) << len(PORTS) | 1 << SETS_RECEIVE_SHIFT
        return word

    def _packed(self, place: int) -> int:
        """Return a position as the register of a switch has it on WSE-2."""
        if not self.sets[place]:
            return INVALID_PORT | (self.selects >> place & 1) << INPUT_SHIFT
        is_input = bool(self.sets[place] & SETS_RECEIVE)
        ports = self.receive[place] if is_input else self.transmit[place]
        return is_input << INPUT_SHIFT | (_register_bits(ports).bit_length() - 1)

    def write(self, registers: Registers, first: int, word: int, cycle: int) -> int:
        """Write its register; return the position that a switch is set to and does not have, or 0."""
        missing = 0
        self.free, self.is_full = max(self.free, cycle + 1), False
        if first == registers.colors:
            self.transmit[0], self.receive[0] = _ports_of(word), _ports_of(word >> len(PORTS))
            self.pop_mode = word >> POP_MODE_SHIFT & 3
            self.is_torn = bool(word >> TEARDOWN_SHIFT & 1)
            self.flags = word & ~((1 << 2 * len(PORTS)) - 1 | 3 << POP_MODE_SHIFT | 1 << TEARDOWN_SHIFT)
        elif first == registers.switches:
            self.ring = bool(word >> RING_SHIFT & 1)
            for place in () if registers.positions else range(1, SWITCH_POSITIONS):
                self._unpack(place, word >> POSITION_BITS * (place - 1))
            self.position = word >> POSITION_SHIFT & SWITCH_POSITIONS - 1
            missing = 0 if not self.position or self.sets[self.position] else self.position
        else:
            place = 1 + registers.positions.index(first)
            self.sets[place] = (word >> SETS_TRANSMIT_SHIFT & 1) * SETS_TRANSMIT
            self.sets[place] |= (word >> SETS_RECEIVE_SHIFT & 1) * SETS_RECEIVE
            self.transmit[place], self.receive[place] = _ports_of(word), _ports_of(word >> len(PORTS))
        self._follow()
        return missing

    def _unpack(self, place: int, word: int) -> None:
        number = word & (1 << INPUT_SHIFT) - 1
        ports = _ports_of(1 << number) if number < INVALID_PORT else 0
        is_input = word >> INPUT_SHIFT & 1
        self.sets[place] = 0 if not ports else SETS_RECEIVE if is_input else SETS_TRANSMIT
        self.selects = self.selects & ~(1 << place) | is_input << place
        self.receive[place] = self.transmit[place] = ports

    def _follow(self) -> None:
        """Let each position have of the one before what it does not name itself."""
        taken, sent = self.receive[0], self.transmit[0]
        for place in range(1, SWITCH_POSITIONS):
            sets = self.sets[place]
            self.valid[place] = sets != 0
            taken = self.receive[place] if sets & SETS_RECEIVE else taken
            sent = self.transmit[place] if sets & SETS_TRANSMIT else sent
            self.receive[place], self.transmit[place] = (taken, sent) if sets else (0, 0)


_TO_REGISTER = [REGISTER_PORTS.index(port) for port in PORTS]
"""The bit of each port in registers."""


def _register_bits(ports: int) -> int:
    """Return ports as registers have them."""
    return sum(1 << bit for port, bit in enumerate(_TO_REGISTER) if ports >> port & 1)


def _ports_of(word: int) -> int:
    """Return the ports that the low bits of a register name."""
    return sum(1 << port for port, bit in enumerate(_TO_REGISTER) if word >> bit & 1)


class SwitchedColor:
    """All routers of a color that has a switch somewhere, or whose routes programs change."""

    def __init__(self, machine: Machine, color: model.SwitchedColor) -> None:
        self.machine = machine
        self.color = color.color
        self.id: int = machine.program["colors"][color.color].number
        self.changes = color.changes
        """True if programs may change its routes, or tear it down."""
        self.senders: list[int] = color.senders.tolist()
        """Output queues of each PE that send the color."""
        self._tables = color
        self._routers: dict[int, Router] = {}
        self._fresh: deque[tuple[int, Router, Passage]] = deque()
        self._stirred: list[Router] = []
        """Routers whose switches have moved while something waited."""
        self._most_hops = 16 * machine.width * machine.height + 64
        self.other: SwitchedColor | None = None
        """The color that it swaps with; both settle together."""

    def pair(self, other: SwitchedColor) -> None:
        """Let this color and another one swap."""
        self.other, other.other = other, self
        other._fresh, other._stirred = self._fresh, self._stirred

    def router(self, pe: int) -> Router:
        """Return the router of a PE."""
        found = self._routers.get(pe)
        if found is None:
            color = self._tables
            y, x = divmod(pe, self.machine.width)
            readers = [queue for queue in color.readers[:, pe].tolist() if queue != model.NOWHERE]
            timing = self.machine.timing
            back = timing.hop
            rooms = [max(int(self.machine.fabric.room[queue]), timing.ramp + back) for queue in readers]
            found = self._routers[pe] = Router(
                self, pe, x, y, color.receive[:, pe].tolist(), color.transmit[:, pe].tolist(),
                _truths(color.valid[:, pe]), _truths(color.crowded[:, pe]), bool(color.ring[pe]),
                int(color.pop_mode[pe]), int(color.current[pe]),
                readers, [Path(words, back, words) for words in color.held[:, pe].tolist()],
                [Path(words, back, words) for words in rooms], filter_of(color, pe),
                sets=color.sets[:, pe].tolist(), is_torn=bool(color.teardown[pe]),
            )  # fmt: skip
        return found

    @property
    def routers(self) -> list[Router]:
        """The routers that have seen a wavelet, by number of their PEs."""
        return [self._routers[pe] for pe in sorted(self._routers)]

    def takers(self, pe: int, port: int) -> list[Router]:
        """Return the routers of a PE that take what comes to a port on this color."""
        colors = [self] if self.other is None else [self, self.other]
        return [color.router(pe) for color in colors if (color is not self) == color.swaps(pe, port)]

    def swaps(self, pe: int, port: int) -> bool:
        """Return True if the router of a PE takes what comes to a port on the other color."""
        swap = self._tables.swap
        return len(swap) > 0 and bool(swap[pe] >> port & 1)

    def send(self, pe: int, run: Passage, *, advances: bool) -> None:
        """Send wavelets of a PE into its router; with `advances` its switch moves on behind the last one."""
        for number, router in enumerate(self._takers_of(pe, RAMP, run)):
            self._fresh.append((RAMP, router, run if number == 0 else replace(run, path=None)))
            if advances:
                behind = run.first + (len(run.payload) - 1) * run.rate + 1
                self._fresh.append((RAMP, router, Passage([0], behind, 1, control=True, is_marker=True)))

    def _takers_of(self, pe: int, port: int, run: Passage) -> list[Router]:
        """Return the routers of a PE that take some wavelets, which must be one at least."""
        takers = self.takers(pe, port)
        if not takers:
            other = model.NOWHERE if self.other is None else self.other.color
            where = self.machine.program["colors"][self.color].where
            self.machine.note_at_router(pe, Code.COLOR_NOT_TAKEN, run.first, where, self.color, port, other)
        return takers

    def changed(self, router: Router) -> None:
        """Look again at what waits at a router whose registers have been written."""
        self._stirred.append(router)

    def settle(self) -> None:
        """Let wavelets go on until none can."""
        while self._stirred or self._fresh:
            if self._stirred:
                router = self._stirred.pop()
                router.color._release(router)
                continue
            port, router, run = self._fresh.popleft()
            if router.holds(port) or router.waiting[port]:
                router.waiting[port].append(run)
                router.color._plan(router)
            else:
                rest = router.color._go(router, port, run)
                if rest is not None:
                    router.waiting[port].append(rest)
                    self._stirred.append(router)

    def _release(self, router: Router) -> None:
        """Pass what waits at a router whose switch has moved, as far as it takes it now."""
        for port, runs in enumerate(router.waiting):
            while runs and not router.holds(port):
                run = runs.pop(0)
                rest = self._go(router, port, run)
                if rest is not None:
                    runs.insert(0, rest)
                if run.control:
                    # The switch may have moved: look again.
                    self._stirred.append(router)
                    break
        self._plan(router)

    def _go(self, router: Router, port: int, run: Passage) -> Passage | None:
        """Let a run pass as far as there is room, of control wavelets only the first; return the others."""
        if not run.control or len(run.payload) == 1:
            return self._pass(router, port, run)
        return run if self._pass(router, port, run.cut(0, 1)) else run.cut(1, len(run.payload))

    # Time decides

    def _plan(self, router: Router) -> None:
        """Have a router choose when nothing earlier can reach it."""
        time, _ = router.decision()
        if time < NEVER and not router.is_full:
            self._schedule(router, time, time)

    def _schedule(self, router: Router, time: int, cycle: int) -> None:
        """Have a router choose, at a cycle, what came first, at a time."""
        self.machine.order.schedule(cycle, Kind.ROUTER, router.pe, (self.color,), partial(self._decide, router, time))

    def _decide(self, router: Router, due: int, cycle: int) -> None:
        """Let the first wavelet pass, which came at a cycle; of those that came in one that of the first port."""
        time, port = router.decision()
        if time != due or router.is_full:
            return
        runs = router.waiting[port]
        place = next(place for place, run in enumerate(runs) if run.first == time)
        run = runs[place]
        if self.changes and not run.is_marker:
            # It passes by the routes of the cycle in which it does.
            found = self._room(router, port, run.cut(0, 1))
            if not found.count:
                router.is_full = True
                return
            if found.first > cycle:
                self._schedule(router, time, found.first)
                return
        if self._pass(router, port, run.cut(0, 1)) is None:
            runs[place : place + 1] = [run.cut(1, len(run.payload))] if len(run.payload) > 1 else []
        self._stirred.append(router)
        self.machine.settle(self)

    # Passing a router

    def _pass(self, router: Router, port: int, run: Passage) -> Passage | None:
        """Let data, or one control wavelet, pass as far as there is room; return the rest.

        Wavelets leave in order, one a cycle at most.
        """
        if run.is_marker:
            router.free = max(router.free, run.first)
            self._move(router, ADVANCE)
            return None
        count = len(run.payload)
        while count:
            outputs, _ = self._exits(router, port, run)
            found = self._room(router, port, run)
            if not found.count:
                router.is_full = True
                return run
            for path in self._paths(router, outputs):
                path.send(found.count, None)
            if run.path is not None:
                run.path.taken(self.machine, found.first, found.rate, found.count)
            if router.filter is not None and self._comes_down(router, run):
                router.filter.count_all(found.count, control=run.control)
            self._pass_at(router, port, outputs, replace(run.cut(0, found.count), first=found.first, rate=found.rate))
            run, count = run.cut(found.count, count), count - found.count
        return None

    def _room(self, router: Router, port: int, run: Passage) -> Takes:
        """Return how many wavelets may pass, and when; if none, the router goes on when there may be room."""
        outputs, count = self._exits(router, port, run)
        lines = [(run.first, run.rate), (router.free, 1)]
        return room(self._paths(router, outputs), count, lines, partial(self._go_on, router))

    def _go_on(self, router: Router) -> None:
        """Let what there was no room for pass when there may be some."""
        router.is_full = False
        self._stirred.append(router)
        self.settle()

    def _exits(self, router: Router, port: int, run: Passage) -> tuple[list[int], int]:
        """Return the ports by which the first wavelets of a run leave a router, and how many leave by the same."""
        outputs = router.transmit[router.position] & ~(1 << RAMP)
        count = len(run.payload)
        if self._comes_down(router, run):
            passes = True
            if router.filter is not None:
                passes, count = router.filter.first(run.payload, control=run.control)
            outputs |= passes << RAMP
        if port != RAMP and not router.color.swaps(router.pe, port):
            outputs &= ~(1 << port)
        return [out for out in range(len(PORTS)) if outputs >> out & 1], count

    def _comes_down(self, router: Router, run: Passage) -> bool:
        """Return True if a router sends a run down its ramp, as far as a filter lets it pass."""
        ignored = run.control and is_ignored(run.payload[0])
        return bool(router.transmit[router.position] >> RAMP & 1) and not ignored

    def _paths(self, router: Router, outputs: list[int]) -> list[Path]:
        """Return the links, and ways down the ramp, that lead from some ports of a router to others and queues."""
        found: list[Path] = []
        for out in outputs:
            there = self._neighbor(router, out)
            found += router.down if out == RAMP else []
            found += [] if there is None else [to.links[OPPOSITE[out]] for to in self.takers(there, OPPOSITE[out])]
        return found

    def _neighbor(self, router: Router, out: int) -> int | None:
        """Return the PE beside a router, None over the edge of the grid and at the ramp."""
        dx, dy = STEP.get(out, (0, 0))
        x, y = router.x + dx, router.y + dy
        is_inside = out != RAMP and 0 <= x < self.machine.width and 0 <= y < self.machine.height
        return y * self.machine.width + x if is_inside else None

    def _pass_at(self, router: Router, port: int, outputs: list[int], run: Passage) -> None:
        """Send a run on from a router when it is there, and obey it."""
        machine = self.machine
        where = machine.program["colors"][self.color].where
        if run.hops > self._most_hops:
            machine.note_at_router(router.pe, Code.SWITCHES_LOOP, run.first, where, self.color)
            return
        router.free = run.first + (len(run.payload) - 1) * run.rate + 1
        code = None
        if run.control:
            word = run.payload[0]
            code = command(word)
            if code == TEARDOWN and not self.changes:
                machine.note_at_router(router.pe, Code.TEARDOWN, run.first, where, self.color)
                return
            if self._pops(router, code):
                run = replace(run, payload=[popped(word)])
        for out in outputs:
            if machine.statistics is not None:
                machine.statistics.passes(self.color, router.pe, out, len(run.payload))
            if out == RAMP:
                self._deliver(router, run)
            else:
                self._hop(router, port, out, run)
        if code == TEARDOWN:
            router.is_torn = True
            machine.tear_down(router, run.first)
        elif code is not None:
            self._move(router, code)

    def _pops(self, router: Router, code: int) -> bool:
        """Return True if a router takes the first command off a control wavelet that passes."""
        moves = code == ADVANCE and router.following != router.position
        mode = router.pop_mode
        return (
            mode == ALWAYS_POP
            or (mode >= POP_ON_ADVANCE and moves)
            or (mode == POP_ON_ADVANCE_NOP and code == NOP)
        )  # fmt: skip

    def _move(self, router: Router, code: int) -> None:
        """Obey a command."""
        then = router.following if code == ADVANCE else 0 if code == RESET else router.position
        if then != router.position:
            router.position = then
            if any(router.waiting):
                self._stirred.append(router)

    def _hop(self, router: Router, port: int, out: int, run: Passage) -> None:
        """Send a run to the neighbor on one side."""
        timing = self.machine.timing
        there = self._neighbor(router, out)
        if there is None:
            if not run.control:
                router.left_grid[out] += len(run.payload)
            return
        turned = port not in (RAMP, OPPOSITE[out])
        run = replace(run, first=run.first + timing.hop + (timing.turn if turned else 0), hops=run.hops + 1)
        for to in self._takers_of(there, OPPOSITE[out], run):
            self._fresh.append((OPPOSITE[out], to, replace(run, path=to.links[OPPOSITE[out]])))

    def _deliver(self, router: Router, run: Passage) -> None:
        """Give wavelets to the queues at the end of the ramp."""
        arrival = run.first + self.machine.timing.ramp
        for number, path in zip(router.readers, router.down, strict=True):
            queue = self.machine.queue(router.pe, number)
            self.machine.arrive(router.pe, queue, Run(run.payload, arrival, run.rate, run.control, path=path))
        if not router.readers:
            router.unread += len(run.payload)

    # What is left

    def left_waiting(self) -> list[tuple[int, int, int]]:
        """Return the wavelets that wait at routers: port, PE and how many, by port and PE."""
        return [
            (port, router.pe, count)
            for port in range(len(PORTS))
            for router in self.routers
            if (count := sum(len(run.payload) for run in router.waiting[port] if not run.is_marker))
        ]


def _truths(values: Any) -> list[bool]:
    return [bool(value) for value in values.tolist()]
