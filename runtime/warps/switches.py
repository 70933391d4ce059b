"""Fabric switches: colors whose routes change while the program runs; wavelets go from router to router.

Wavelets of such a color cannot be delivered by a table made beforehand, for control wavelets move the switches of the
routers that they pass. So runs of them travel hop by hop, for all routers at once that see the same: each router
takes them from one port at a time, the others wait until its switch moves. What a router does next hence depends on
the order of the wavelets on each link alone, not on when this is worked out; times follow from time stamps. Only where
a router takes a color from several ports at once must time decide, and the scheduler says how far that is certain.

A control wavelet is routed by the current position of the switch and then obeyed. It holds eight commands of three
bits, a code and a bit that keeps it from the compute engine: the first in bits 22 to 24, the second from bit 25, and on
through bits 28, 29 and 0 to 15. A router that pops the first one moves the others forward, and an ignored no-operation
comes in behind.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ...diagnostics.errors import LoomError
from ...dialects.machine.switches import POP_MODES, SwitchAttr, settings
from ...targets.model import Timing
from ...targets.wavelets import (
    ADVANCE,
    COMMAND_BITS,
    COMMANDS,
    COMMANDS_SHIFT,
    HIGH_COMMANDS,
    NOP,
    PORTS,
    RESET,
    SWITCH_POSITIONS,
    TEARDOWN,
)
from .fabric import EAST, NORTH, OPPOSITE, RAMP, SOUTH, STEP, WEST, Color, port_mask
from .placement import Placement
from .queues import InputQueue, Message
from .tasks import NEVER
from .units import Array, UnitSet, from_mask, intersect, locate, rectangle, select, select_vector, shift, some, subtract

if TYPE_CHECKING:
    from .queues import OutputQueue

IGNORED = 1 << COMMAND_BITS - 1
"""The bit of a command that keeps its wavelet from the compute engine."""

IGNORED_NOP = (IGNORED | NOP) << COMMAND_BITS * (COMMANDS - 1)
"""What comes in behind the last command when the first is popped."""

LOW_COMMANDS = COMMAND_BITS * COMMANDS - HIGH_COMMANDS
"""Bits of the last commands, from bit 0 on."""

_COUNT = np.array([mask.bit_count() for mask in range(32)], np.int8)


def popped(words: Array) -> Array:
    """Return control wavelets without their first command."""
    high, low = (1 << HIGH_COMMANDS) - 1, (1 << LOW_COMMANDS) - 1
    commands = ((words >> COMMANDS_SHIFT) & high) | ((words & low) << HIGH_COMMANDS)
    commands = (commands >> COMMAND_BITS) | IGNORED_NOP
    kept = words & ~np.uint32((high << COMMANDS_SHIFT) | low)
    return kept | ((commands & high) << COMMANDS_SHIFT) | (commands >> HIGH_COMMANDS)


def is_ignored(words: Array) -> Array:
    """Return True if the first command of control wavelets keeps them from the compute engine."""
    return (words.astype(np.uint32, copy=False) >> (COMMANDS_SHIFT + COMMAND_BITS - 1)) & 1 == 1


@dataclass
class Run:
    """Wavelets on their way to one port of each of some routers, in grid coordinates.

    `payload` is unsigned, [rows, count, columns]; wavelet k is there at `first + k * rate`.
    """

    units: UnitSet
    payload: Array
    first: Any
    rate: int
    control: bool
    marker: bool = False
    """True if it is not a wavelet but moves the switch of the sender's router on."""
    hops: int = 0

    @property
    def count(self) -> int:
        return self.payload.shape[1]

    def part(self, units: UnitSet) -> Run:
        """Return the same for a subset of the routers."""
        if units is self.units:
            return self
        return self._with(
            units, select_vector(self.units, units, self.payload), select(self.units, units, self.first), self.rate
        )

    def cut(self, low: int, high: int) -> Run:
        """Return the wavelets `low` to `high`."""
        return self._with(self.units, self.payload[:, low:high, :], self.first + low * self.rate, self.rate)

    def at(self, first: Any, rate: int) -> Run:
        """Return the same at another time."""
        return self._with(self.units, self.payload, first, rate)

    def _with(self, units: UnitSet, payload: Array, first: Any, rate: int) -> Run:
        return Run(units, payload, first, rate, self.control, self.marker, self.hops)


class SwitchedColor:
    """All routers of a color that has a switch somewhere, and the wavelets on their way between them.

    Grids are [rows, columns], those of positions [4, rows, columns].
    """

    def __init__(self, color: Color, number: int, timing: Timing):
        shape = color.receive.shape
        self.color = color
        self.number = number
        """Its position in the color table."""
        self.timing = timing
        self.receive = np.zeros((SWITCH_POSITIONS, *shape), np.uint8)
        self.transmit = np.zeros((SWITCH_POSITIONS, *shape), np.uint8)
        self.valid = np.zeros((SWITCH_POSITIONS, *shape), np.bool_)
        self.valid[0] = True
        self.ring = np.zeros(shape, np.bool_)
        self.pop_mode = np.zeros(shape, np.uint8)
        self.position = np.zeros(shape, np.uint8)
        self.free = np.zeros(shape, np.int64)
        """When each router can pass the next wavelet."""
        self.unread = np.zeros(shape, np.int64)
        """Wavelets that came down the ramp of a PE without a queue for the color."""
        self.left_grid = np.zeros((len(PORTS), *shape), np.int64)
        """Wavelets of data that each router has sent over the edge of the grid."""
        self.readers: list[tuple[InputQueue, Array]] = []
        self.senders = np.zeros(shape, np.int8)
        """Output queues that send the color."""
        self.waiting: list[list[Run]] = [[] for _ in PORTS]
        self.backlog = np.zeros((len(PORTS), *shape), np.int32)
        """Runs that wait at each port of each router."""
        self._fresh: deque[tuple[int, Run]] = deque()
        self._stirred: list[UnitSet] = []
        self._delivered: list[tuple[InputQueue, Message]] = []
        self._crowded: Array | None = None
        self._live = np.zeros(shape, np.uint8)
        self._most_hops = 16 * shape[0] * shape[1] + 64

    # Loading

    def set_route(
        self,
        regions: Iterable[tuple[range, range]],
        receive: Sequence[str],
        transmit: Sequence[str],
        switch: SwitchAttr | None,
    ) -> None:
        """Configure the routers of regions (columns, rows)."""
        every = settings(receive, transmit, switch)
        for columns, rows in regions:
            index = rectangle(rows, columns).index
            for position in range(SWITCH_POSITIONS):
                setting = every[position] if position < len(every) else None
                self.valid[position][index] = setting is not None
                if setting is not None:
                    self.receive[position][index] = port_mask(setting[0])
                    self.transmit[position][index] = port_mask(setting[1])
            self.ring[index] = switch is not None and switch.is_ring
            self.pop_mode[index] = 0 if switch is None else POP_MODES.index(switch.pop_mode.data)
            self.position[index] = 0 if switch is None else switch.current.data

    def add_sender(self, place: Array) -> None:
        """Add an output queue that sends the color, from the PEs of a mask of the grid."""
        self.senders += place

    def join(self) -> None:
        """Find where several ports can bring wavelets at once, when all routes and senders are known."""
        sends = np.bitwise_or.reduce(np.where(self.valid, self.transmit, 0), axis=0)
        self._live[self.senders > 0] |= 1 << RAMP
        for out in (NORTH, EAST, SOUTH, WEST):
            dy, dx = STEP[out]
            reached = np.zeros(self._live.shape, np.bool_)
            here = (sends >> out) & 1 == 1
            reached[max(dy, 0) : here.shape[0] + min(dy, 0), max(dx, 0) : here.shape[1] + min(dx, 0)] = here[
                max(-dy, 0) : here.shape[0] + min(-dy, 0), max(-dx, 0) : here.shape[1] + min(-dx, 0)
            ]
            self._live[reached] |= 1 << OPPOSITE[out]
        crowded = np.zeros((SWITCH_POSITIONS, *self._live.shape), np.bool_)
        for position in range(SWITCH_POSITIONS):
            taken = self.receive[position] & self._live
            from_ramp = (taken & 1 == 1) & (self.senders > 1)
            crowded[position] = self.valid[position] & ((_COUNT[taken] > 1) | from_ramp)
        if crowded.any():
            self._crowded = crowded

    # Sending

    def send(
        self, placement: Placement, units: UnitSet, payload: Array, first: Any, rate: int, *, control: bool,
        advance: bool,
    ) -> None:  # fmt: skip
        """Send wavelets of units of a class into their routers; `advance` moves the switches on behind the last one.

        `payload` is kept.
        """
        count = payload.shape[1]
        if control and payload.dtype != np.uint32:
            payload = payload.astype(np.uint32)
        places, payload, first = placement.to_grid(units, payload, first)
        self._fresh.append((RAMP, Run(places, payload, first, rate, control)))
        if advance:
            nothing = np.zeros((places.shape[0], 1, places.shape[1]), np.uint32)
            behind = first + (count - 1) * rate + 1
            self._fresh.append((RAMP, Run(places, nothing, behind, 1, control=True, marker=True)))

    def settle(self) -> list[tuple[InputQueue, Message]]:
        """Let wavelets go on until none can; return those that have come down a ramp."""
        while self._stirred or self._fresh:
            if self._stirred:
                self._release(self._stirred.pop())
                continue
            port, run = self._fresh.popleft()
            held = self._held(port, run.units) | (self.backlog[port][run.units.index] > 0)
            if not some(held):
                self._go(port, run)
                continue
            for units in from_mask(run.units, held):
                self._wait(port, run.part(units))
            for units in from_mask(run.units, ~held):
                self._go(port, run.part(units))
        delivered, self._delivered = self._delivered, []
        return delivered

    def _current(self, table: Array, units: UnitSet) -> Array:
        """Return the values of a table of positions for the current positions of some routers."""
        rows, columns = units.index
        return np.choose(self.position[units.index], table[:, rows, columns])

    def _held(self, port: int, units: UnitSet) -> Array:
        """Return the routers that do not take wavelets from a port now, or that time must decide for."""
        held = (self._current(self.receive, units) >> port) & 1 == 0
        if self._crowded is not None:
            held = held | self._current(self._crowded, units)
        return held

    def _wait(self, port: int, run: Run) -> None:
        self.backlog[port][run.units.index] += 1
        self.waiting[port].append(run)

    def _release(self, units: UnitSet) -> None:
        """Pass what waits at routers whose switches have moved, as far as they take it now."""
        for port in range(len(PORTS)):
            active = (self.backlog[port][units.index] > 0) & ~self._held(port, units)
            if not some(active):
                continue
            before, self.waiting[port] = self.waiting[port], []
            kept = self.waiting[port]
            for run in before:
                common = intersect(run.units, units) if some(active) else None
                if common is None:
                    kept.append(run)
                    continue
                place = locate(units, common)
                chosen = active[place]
                if not some(chosen):
                    kept.append(run)
                    continue
                kept += [run.part(rest) for rest in subtract(run.units, common)]
                kept += [run.part(rest) for rest in from_mask(common, ~chosen)]
                for part in from_mask(common, chosen):
                    self.backlog[port][part.index] -= 1
                    rest = self._go(port, run.part(part), stop=True)
                    if run.control:
                        # The switch may have moved: look again.
                        active[locate(units, part)] = False
                        self._stirred.append(part)
                    if rest is not None:
                        self.backlog[port][part.index] += 1
                        kept.append(rest)

    def _go(self, port: int, run: Run, *, stop: bool = False) -> Run | None:
        """Let a run pass, of control wavelets one at a time; the others wait, or are returned to `stop`."""
        if not run.control or run.count == 1:
            self._pass(port, run)
            return None
        self._pass(port, run.cut(0, 1))
        rest = run.cut(1, run.count)
        if stop:
            return rest
        self._wait(port, rest)
        self._stirred.append(run.units)
        return None

    # Time decides

    @property
    def is_crowded(self) -> bool:
        """Return True if some router takes wavelets from several ports at once."""
        return self._crowded is not None

    def _heads(self) -> Array | None:
        """Return when the first wavelet came to each port of each router for which time decides, NEVER where none did.

        None if there are no such wavelets."""
        found: Array | None = None
        for port, runs in enumerate(self.waiting if self._crowded is not None else ()):
            for run in runs:
                units = run.units
                mask = self._current(self._crowded, units)  # pyright: ignore[reportArgumentType]
                mask = mask & ((self._current(self.receive, units) >> port) & 1 == 1)
                if not some(mask):
                    continue
                if found is None:
                    found = np.full(self.backlog.shape, NEVER, np.int64)
                known = found[port][units.index]
                # A link keeps its order; what several queues of a PE send goes by time.
                mask = mask & ((known == NEVER) | (port == RAMP))
                found[port][units.index] = np.where(mask, np.minimum(known, run.first), known)
        return found

    def earliest(self) -> int:
        """Return when the first of the wavelets that time decides for came to its router; NEVER if there are none."""
        heads = self._heads()
        return NEVER if heads is None else int(heads.min())

    def decide(self, limit: int) -> None:
        """Let the wavelets from before `limit` pass, when no more of them can come.

        They pass in the order of time, and among wavelets of one time in that of ports.
        """
        while (heads := self._heads()) is not None:
            times = heads.min(axis=0)
            ports = heads.argmin(axis=0)
            places = np.argwhere(times < limit).tolist()
            if not places:
                return
            for row, column in places:
                unit = rectangle(range(row, row + 1), range(column, column + 1))
                self._decide_one(int(ports[row, column]), unit, int(times[row, column]))

    def _decide_one(self, port: int, unit: UnitSet, time: int) -> None:
        """Let the first wavelet pass that came to a port of one router at a time."""
        runs = self.waiting[port]
        for number, run in enumerate(runs):
            if intersect(run.units, unit) is None:
                continue
            mine = run.part(unit)
            if int(np.max(mine.first)) != time:
                continue
            rest = [run.part(units) for units in subtract(run.units, unit)]
            if mine.count > 1:
                rest.append(mine.cut(1, mine.count))
            else:
                self.backlog[port][unit.index] -= 1
            runs[number : number + 1] = rest
            self._pass(port, mine.cut(0, 1))
            self._stirred.append(unit)
            return

    # Passing a router

    def _pass(self, port: int, run: Run) -> None:
        """Let data, or one control wavelet, pass; wavelets leave in order, one a cycle at most."""
        units = run.units
        free = self.free[units.index]
        late = free > run.first
        if not some(late):
            self._pass_at(port, run)
            return
        first = np.maximum(run.first, free)
        if run.rate == 1 or run.count == 1:
            self._pass_at(port, run.at(first, run.rate))
            return
        # Those that have been waiting leave one a cycle until they have caught up with those that still come.
        behind = np.minimum(-((run.first - free) // (run.rate - 1)), run.count)
        behind = np.broadcast_to(np.where(late, behind, 0), units.shape)
        for number in np.unique(behind).tolist():
            for part in from_mask(units, behind == number):
                mine = run.part(part)
                if number:
                    self._pass_at(port, mine.cut(0, number).at(select(units, part, first), 1))
                if number < run.count:
                    self._pass_at(port, mine.cut(number, run.count))

    def _pass_at(self, port: int, run: Run) -> None:
        """Send a run on from the routers it is at, when it is there, and obey it."""
        units = run.units
        index = units.index
        if run.marker:
            self.free[index] = run.first
            self._move(units, np.full(units.shape, ADVANCE))
            return
        if run.hops > self._most_hops:
            x, y = int(units.cells()[1].ravel()[0]), int(units.cells()[0].ravel()[0])
            raise LoomError(
                f"wavelets of color {self.color.label} loop through PE ({x}, {y}); end it at a ramp",
                self.color.where,
            )
        self.free[index] = run.first + ((run.count - 1) * run.rate + 1)
        outputs = self._current(self.transmit, units)
        code = ignored = None
        if run.control:
            words = run.payload[:, 0, :]
            code = (words >> COMMANDS_SHIFT) & (IGNORED - 1)
            ignored = is_ignored(words)
            if some(code == TEARDOWN):
                self._refuse_teardown(units, code == TEARDOWN)
            run = self._after_pop(run, words, code)
        for out in range(len(PORTS)):
            goes = (outputs >> out) & 1 == 1
            if out == RAMP and ignored is not None:
                goes = goes & ~ignored
            if (out == port and out != RAMP) or not some(goes):
                continue
            for part in from_mask(units, goes):
                if out == RAMP:
                    self._deliver(run.part(part))
                else:
                    self._hop(port, out, run.part(part))
        if code is not None:
            self._move(units, code)

    def _after_pop(self, run: Run, words: Array, code: Array) -> Run:
        """Return control wavelets as they leave the routers: where the pop mode says so, without the first command."""
        mode = self.pop_mode[run.units.index]
        if not mode.any():
            return run
        moves = (code == ADVANCE) & (self._next(run.units) != self.position[run.units.index])
        taken = (mode == 1) | ((mode >= 2) & moves) | ((mode == 3) & (code == 0))
        if not some(taken):
            return run
        words = np.where(taken, popped(words), words)
        return Run(run.units, words[:, None, :], run.first, run.rate, control=True, hops=run.hops)

    def _next(self, units: UnitSet) -> Array:
        """Return the next positions of switches."""
        now = self.position[units.index]
        following = np.minimum(now + 1, SWITCH_POSITIONS - 1)
        rows, columns = units.index
        possible = (now + 1 < SWITCH_POSITIONS) & np.choose(following, self.valid[:, rows, columns])
        return np.where(possible, following, np.where(self.ring[units.index], 0, now))

    def _move(self, units: UnitSet, code: Array) -> None:
        """Obey a command at each of some routers."""
        now = self.position[units.index]
        then = np.where(code == ADVANCE, self._next(units), np.where(code == RESET, 0, now)).astype(np.uint8)
        moved = then != now
        if not some(moved):
            return
        self.position[units.index] = then
        for part in from_mask(units, moved):
            if any(some(self.backlog[port][part.index] > 0) for port in range(len(PORTS))):
                self._stirred.append(part)

    def _refuse_teardown(self, units: UnitSet, mask: Array) -> NoReturn:
        rows, columns = units.cells()
        x, y = int(columns[mask][0]), int(rows[mask][0])
        raise LoomError(
            f"a control wavelet of color {self.color.label} has a teardown command for the router of PE ({x}, {y}), "
            "which is not simulated yet; use another command",
            self.color.where,
        )

    def _hop(self, port: int, out: int, run: Run) -> None:
        """Send a run to the neighbors on one side."""
        dy, dx = STEP[out]
        height, width = self.color.receive.shape
        rows, columns = run.units.cells()
        inside = (rows + dy >= 0) & (rows + dy < height) & (columns + dx >= 0) & (columns + dx < width)
        turned = port not in (RAMP, OPPOSITE[out])
        time = self.timing.hop + (self.timing.turn if turned else 0)
        if not run.control:
            for part in from_mask(run.units, ~inside) if not inside.all() else []:
                self.left_grid[out][part.index] += run.count
        for part in from_mask(run.units, inside) if not inside.all() else [run.units]:
            mine = run.part(part)
            following = Run(
                shift(part, dy, dx), mine.payload, mine.first + time, mine.rate, mine.control, hops=mine.hops + 1
            )
            self._fresh.append((OPPOSITE[out], following))

    def _deliver(self, run: Run) -> None:
        """Give wavelets to the queues at the end of the ramps."""
        unclaimed = np.ones(run.units.shape, np.bool_)
        for queue, mask in self.readers:
            mine = mask[run.units.index]
            if not some(mine):
                continue
            unclaimed &= ~mine
            for part in from_mask(run.units, mine):
                piece = run.part(part)
                arrival = piece.first + self.timing.ramp
                units, payload, first = queue.cls.placement.to_class(part, piece.payload, arrival)
                self._delivered.append(
                    (queue, Message(units, payload, first, run.rate, 0, run.control, owned=True))
                )  # fmt: skip
        if some(unclaimed):
            for part in from_mask(run.units, unclaimed):
                self.unread[part.index] += run.count

    # What is left

    def left_waiting(self) -> list[tuple[int, int, int, int]]:
        """Return the wavelets that wait at routers: port, row, column and how many."""
        counts = np.zeros((len(PORTS), *self.free.shape), np.int64)
        for port, runs in enumerate(self.waiting):
            for run in runs:
                if not run.marker:
                    counts[port][run.units.index] += run.count
        return [
            (port, row, column, int(counts[port, row, column])) for port, row, column in np.argwhere(counts).tolist()
        ]

    def taken_ports(self, row: int, column: int) -> list[str]:
        """Return the ports a router takes the color from in its current position."""
        mask = int(self.receive[self.position[row, column], row, column])
        return [name for port, name in enumerate(PORTS) if mask >> port & 1]


def switched_parts(queue: OutputQueue, units: UnitSet) -> list[tuple[SwitchedColor, UnitSet]]:
    """Return the units of a set that send a switched color by a queue, by color."""
    return [
        (color, part)
        for color, mask in queue.switched
        if some(mask[units.index])
        for part in from_mask(units, mask[units.index])
    ]
