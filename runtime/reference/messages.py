"""Message networks: a color that carries whole messages between any two PEs of the grid.

The first wavelet of a message is its address, the second its header, the last, a control wavelet, its end. A message
travels as a worm: its head goes east or west to the receiver's column, then north or south, and takes each link, and at
last the receiver's ramp, for the whole message; the others follow it one a cycle, or as slowly as the sender makes
them. Where a link is taken the head waits, and the worm with it, in the order of arrival. Heads that arrive in one
cycle go by the port they come in by: ramp, north, east, south, west. The receiver's queue holds a few wavelets; once it
is full, the worm stalls until some are taken.

A worm has a clock of its own, which stalls while the worm does: what happens to it is a list of events in its own
time, and its lag is all that it has waited. Wavelets are given to the receiver's queue at once, with the times at which
they come if nothing holds them back; an operation or task that takes them later decides, and when it makes room the
worm goes on.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...targets.wavelets import WORD_BITS, WORD_MASK
from ..fabric.model import NOWHERE
from ..findings import Code
from .descriptors import Wavelets
from .order import Kind
from .pes import PE, Issue
from .queues import InputQueue, Run
from .sends import Send
from .switches import EAST, NORTH, OPPOSITE, RAMP, SOUTH, STEP, WEST
from .tasks import NEVER

if TYPE_CHECKING:
    from .machine import Machine

IN_FRONT = 2
"""Wavelets in front of the elements: the address and the header."""

RELEASE, HEAD = range(2)
"""What happens to a worm at a link, the first before the second if both do in one cycle."""


@dataclass(eq=False, slots=True)
class Link:
    """A link from a router to its neighbor, or the ramp down to its PE."""

    pe: int
    port: int
    holder: Worm | None = None
    waiting: deque[Worm] = field(default_factory=deque["Worm"])


@dataclass(eq=False, slots=True)
class Worm:
    """A message on its way. Its own times are cycles from when its address is at its sender's router."""

    source: int
    target: int
    header: int
    elements: list[int]
    start: int
    rate: int
    issue: Issue
    send: Send | None
    links: list[Link]
    came_by: list[int]
    """For each link the port by which its head comes to the link's router."""
    heads: list[int]
    """For each link when its head comes there."""
    events: deque[tuple[int, int, int]] = field(default_factory=deque[tuple[int, int, int]])
    """What will happen to it: its own time, the kind, and the number of the link."""
    lag: int = 0
    """What it has waited for links."""
    stops: int = NEVER
    """When it stalls, because its receiver's queue is full..."""
    pause: int | None = None
    """... and for how long, None if that is not known."""
    is_planned: bool = False
    """True if its next event is in the order."""
    is_delivered: bool = False

    @property
    def last(self) -> int:
        """The cycles from its address to its last wavelet."""
        return IN_FRONT + (len(self.elements) - 1) * self.rate

    def when(self, time: int) -> int:
        """Return a time of its own as a cycle of the machine."""
        pause = (self.pause or 0) if time >= self.stops else 0
        return self.start + time + self.lag + pause

    @property
    def waits_at(self) -> Link | None:
        """The link that its head waits for."""
        return next((link for link in self.links if self in link.waiting), None)


@dataclass(eq=False, slots=True)
class Inbox:
    """What the input queue of a PE has been given and what has been taken, counted from the first wavelet on."""

    queue: InputQueue
    given: int = 0
    taken: int = 0
    times: deque[tuple[int, int, int, int]] = field(default_factory=deque[tuple[int, int, int, int]])
    """When the last ones were taken: runs of a first number, a count, a time and a rate."""
    worm: Worm | None = None
    """The message that waits for room."""

    def take(self, first: int, count: int, time: int, rate: int) -> None:
        """Note when wavelets are taken."""
        self.taken = first + count
        self.times.append((first, count, time, rate))
        while len(self.times) > 1 and self.times[1][0] < self.taken - self.queue.room:
            self.times.popleft()

    def room_for(self, number: int) -> int | None:
        """Return when there is room for a wavelet, 0 if always, None if that is not known."""
        needed = number - self.queue.room
        if needed >= self.taken:
            return None
        known = (at + (needed - low) * rate for low, count, at, rate in self.times if low <= needed < low + count)
        return next(known, 0)


@dataclass(eq=False, slots=True)
class Piece:
    """The part of a message that a run holds; `first` is the number of its first wavelet."""

    network: Network
    inbox: Inbox
    first: int
    worm: Worm

    def taken(self, position: int, count: int, time: int, rate: int) -> None:
        """Note that wavelets have been taken, the first at a time."""
        self.inbox.take(self.first + position, count, time, rate)
        self.network.resume(self.inbox)

    def check_cut(self, issue: Issue) -> None:
        """Warn if an operation takes 16 bits of each element, and some have more."""
        large = [element for element in self.worm.elements if element > WORD_MASK]
        if large:
            values = (issue.operation.number, self.worm.source, len(large), large[0])
            self.network.machine.warn_of(issue, Code.ELEMENTS_CUT, *values)

    def check_last(self, receiver: PE, value: int) -> None:
        """Warn if the last wavelet, which starts no data task, is more than padding (LIB-032)."""
        is_single = len(self.worm.elements) == 1
        if value or is_single:
            where = self.worm.issue.user.where
            self.network.machine.warn(receiver, Code.LAST_ELEMENT_LOST, where, value, int(is_single))


class Network:
    """A color that is a network of messages, and the messages on their way."""

    def __init__(self, machine: Machine, number: int, row: Any) -> None:
        self.machine = machine
        self.number = number
        self.color: int = row.color
        self.worms: dict[Worm, None] = {}
        self._readers: list[int] = machine.fabric.network_readers[number].tolist()
        """The input queue of each PE that gets messages."""
        self._links: dict[tuple[int, int], Link] = {}
        self._inboxes: dict[int, Inbox] = {}
        self._begun: dict[int, list[list[int]]] = {}
        """Wavelets of messages whose end has not been sent, by PE."""
        self._count = 0

    def reader(self, pe: int) -> InputQueue | None:
        """Return the input queue of a PE that gets messages."""
        number = self._readers[pe]
        return None if number == NOWHERE else self.machine.queue(pe, number)

    # Sending

    def inject(
        self, issue: Issue, stream: Wavelets, wavelets: list[int], first: int, rate: int, *, last: bool,
        send: Send | None,
    ) -> None:  # fmt: skip
        """Take wavelets of a queue; `last` means that the operation sends no more.

        A message leaves when all of it is there, as if it had been at the time of the first wavelet of its last
        operation.
        """
        begun = self._begun.setdefault(issue.pe.number, [])
        begun.append(wavelets)
        if stream.control or (stream.message and last):
            del self._begun[issue.pe.number]
            self._depart(issue, begun, first, rate, send)

    def _depart(self, issue: Issue, parts: list[list[int]], first: int, rate: int, send: Send | None) -> None:
        machine, pe = self.machine, issue.pe
        front = [word for part in parts[:-1] for word in part]
        elements = parts[-1]
        if len(front) != IN_FRONT or not elements:
            count = len(front) + len(elements)
            machine.fail_of(issue, Code.MESSAGE_WITHOUT_FRONT, issue.operation.number, count)
        address, header = front
        row, column = address >> WORD_BITS, address & WORD_MASK
        if row >= machine.height or column >= machine.width:
            machine.fail_of(issue, Code.MESSAGE_OFF_GRID, column, row)
        target = row * machine.width + column
        if self._readers[target] == NOWHERE:
            machine.fail_of(issue, Code.MESSAGE_TO_NOBODY, column, row, self.color)
        links, came_by, heads = self._way(pe.number, target)
        worm = Worm(pe.number, target, header, elements, first, rate, issue, send, links, came_by, heads)
        events = [(time, HEAD, number) for number, time in enumerate(heads)]
        events += [(time + worm.last + 1, RELEASE, number) for number, time in enumerate(heads)]
        worm.events = deque(sorted(events))
        self.worms[worm] = None
        self._plan(worm)

    def _way(self, source: int, target: int) -> tuple[list[Link], list[int], list[int]]:
        """Return the links between two PEs, by which port a message comes to each, and when its head does."""
        links: list[Link] = []
        came_by: list[int] = []
        heads: list[int] = []
        width, timing = self.machine.width, self.machine.timing
        (y, x), (to_y, to_x) = divmod(source, width), divmod(target, width)
        port, time = RAMP, 0
        while True:
            if x != to_x:
                out = EAST if x < to_x else WEST
            elif y != to_y:
                out = SOUTH if y < to_y else NORTH
            else:
                out = RAMP
            pe = y * width + x
            links.append(self._links.setdefault((pe, out), Link(pe, out)))
            came_by.append(port)
            heads.append(time)
            if out == RAMP:
                return links, came_by, heads
            turned = port not in (RAMP, OPPOSITE[out])
            time += timing.hop + (timing.turn if turned else 0)
            dx, dy = STEP[out]
            x, y, port = x + dx, y + dy, OPPOSITE[out]

    # Time

    def _plan(self, worm: Worm) -> None:
        """Order what happens next to a worm, unless it stalls."""
        if worm.is_planned or not worm.events:
            return
        time, kind, number = worm.events[0]
        if time >= worm.stops and worm.pause is None:
            return
        link = worm.links[number]
        self._count += 1
        worm.is_planned = True
        now = worm.when(time)
        # What a PE that picks a task sends because of it comes no earlier than this much later.
        ahead = self.machine.timing.inject - 1
        self.machine.order.schedule(
            now - ahead, Kind.MESSAGE, link.pe, (kind, link.port, worm.came_by[number], self._count),
            lambda cycle: self._happen(worm, now),
        )  # fmt: skip

    def _happen(self, worm: Worm, now: int) -> None:
        """Let what is next happen to a worm."""
        worm.is_planned = False
        _, kind, number = worm.events.popleft()
        if kind == RELEASE:
            self._release(worm, number, now)
        elif worm.links[number].holder is None:
            self._take(worm, number)
        else:
            worm.links[number].waiting.append(worm)
            return
        self._plan(worm)
        self.machine.deliver()

    def _take(self, worm: Worm, number: int) -> None:
        """Let the head of a worm take a link."""
        link = worm.links[number]
        link.holder = worm
        if self.machine.statistics is not None:
            count = len(worm.elements) + (1 if link.port == RAMP else IN_FRONT)
            self.machine.statistics.carries(self.number, link.pe, link.port, count)
        if number + 1 == len(worm.links):
            self._deliver(worm)

    def _release(self, worm: Worm, number: int, now: int) -> None:
        """Let go of a link behind the last wavelet of a worm; the next in line takes it."""
        link = worm.links[number]
        link.holder = None
        if number == 0 and worm.send is not None:
            self.machine.accept(worm.send, now - 1 + worm.rate)
        if number + 1 == len(worm.links):
            del self.worms[worm]
        if link.waiting:
            following = link.waiting.popleft()
            position = following.links.index(link)
            following.lag = max(following.lag, now - following.start - following.heads[position])
            self._take(following, position)
            self._plan(following)

    # Arriving

    def _deliver(self, worm: Worm) -> None:
        """Give a message whose head is at the receiver's ramp to its queue."""
        queue = self.reader(worm.target)
        assert queue is not None
        inbox = self._inboxes.setdefault(worm.target, Inbox(queue))
        count, before = len(worm.elements), inbox.given
        at = worm.heads[-1]
        first = worm.when(at) + self.machine.timing.ramp
        worm.is_delivered = True
        inbox.given += 1 + count
        # It stalls at the first wavelet that finds no room.
        fit = queue.room - (before - inbox.taken)
        worm.stops = at + min(worm.last, max(1, fit + 1 if fit < IN_FRONT else IN_FRONT + (fit - 1) * worm.rate))
        inbox.worm = worm
        *front, last = worm.elements
        pieces = [([worm.header], first + 1, 1, before)]
        if front and worm.rate == 1:
            pieces = [([worm.header, *front], first + 1, 1, before)]
        elif front:
            pieces.append((front, first + IN_FRONT, worm.rate, before + 1))
        pieces.append(([last], first + worm.last, 1, before + count))
        for payload, time, rate, number in pieces:
            run = Run(payload, time, rate, number == before + count)
            run.piece = Piece(self, inbox, number, worm)
            self.machine.admit(queue, run)
        self.resume(inbox)

    def resume(self, inbox: Inbox) -> None:
        """Let the message at a receiver's ramp go on once it is known when its last wavelet has room."""
        worm = inbox.worm
        if worm is None:
            return
        room = inbox.room_for(inbox.given - 1)
        if room is not None:
            inbox.worm = None
            # The last wavelet is never before the stop.
            worm.pause = max(0, room - worm.when(worm.heads[-1] + worm.last))
        self._plan(worm)

    # Reports

    def blocker(self, worm: Worm) -> Worm:
        """Return the message at a receiver's ramp that a message waits for, in the end; it may be itself."""
        while (link := worm.waits_at) is not None and link.holder is not None:
            worm = link.holder
        return worm
