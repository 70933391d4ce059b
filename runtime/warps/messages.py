"""Message networks: a color that carries whole messages between any two units of the grid.

The first wavelet of a message is its address, the second its header, the last, a control wavelet, its end. A message
travels as a worm: its head goes east or west to the receiver's column, then north or south, and takes each link, and at
last the receiver's ramp, for the whole message; the others follow it one a cycle, or as slowly as the sender makes
them. Where a link is taken the head waits, and the worm with it, in the order of arrival. Heads that arrive in one
cycle go by the port they come in by: ramp, north, east, south, west. The receiver's queue holds a few wavelets; once
it is full, the worm stands still until some are taken. Since every way goes along the row before it goes along the
column, no circle of messages can wait for each other.

A worm has a clock of its own, which stands still while the worm does: what happens to it is a list of events in its
own time, and its lag is all that it has waited. Wavelets are given to the receiver's queue at once, with the times at
which they come if nothing holds them back; an operation or task that takes them later decides, as for other colors,
and when it makes room the worm goes on. Times of units that are close to each other decide about links as the
scheduler says that they are certain.

An engine that replaces this one has to provide: `inject`, `earliest` and `decide` for the scheduler, `Piece.taken` when
wavelets are taken, and `waits` and `left` for its reports.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...diagnostics.errors import LoomError
from ...targets.model import Timing
from ...targets.wavelets import PORTS, WORD_BITS, WORD_MASK
from ..places import Unit
from ..unread_wavelets import Unread, in_message
from ..wait_sentences import RECEIVE_FIRST
from .fabric import EAST, NORTH, OPPOSITE, RAMP, SOUTH, STEP, WEST, Color
from .queues import InputQueue, Message, OutputQueue
from .streams import QueueStream
from .tasks import NEVER
from .units import Array, UnitSet, cell, rectangle, select, select_vector, singles
from .waits import Wait, completion_tasks, waiter

if TYPE_CHECKING:
    from .machine import WarpMachine
    from .program import Application
    from .sends import Send

Place = tuple[int, int]
"""Row and column of the grid."""

IN_FRONT = 2
"""Wavelets in front of the elements: the address and the header."""

RELEASE, HEAD = range(2)
"""What happens to a worm at a link, the first before the second if both do in one cycle."""


@dataclass(eq=False)
class Link:
    """A link from a router to its neighbor, or the ramp down to its unit."""

    place: Place
    port: int
    holder: Worm | None = None
    waiting: deque[Worm] = field(default_factory=deque["Worm"])


@dataclass(eq=False)
class Worm:
    """A message on its way. Its own times are cycles from when its address is at its sender's router."""

    source: Place
    target: Place
    header: int
    elements: Array
    """Raw, [elements]."""
    start: int
    rate: int
    application: Application
    queue: OutputQueue
    unit: UnitSet
    """Its sender, among the units of the class of `queue`."""
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
    """When it stands still, because its receiver's queue is full..."""
    pause: int | None = None
    """... and for how long, None if that is not known."""
    planned: bool = False
    """True if its next event is on the agenda."""
    delivered: bool = False

    @property
    def last(self) -> int:
        """Return the cycles from its address to its last wavelet."""
        return IN_FRONT + (len(self.elements) - 1) * self.rate

    def when(self, time: int) -> int:
        """Return a time of its own as a cycle of the machine."""
        pause = (self.pause or 0) if time >= self.stops else 0
        return self.start + time + self.lag + pause

    @property
    def waits_at(self) -> Link | None:
        """Return the link that its head waits for."""
        return next((link for link in self.links if self in link.waiting), None)


@dataclass(eq=False)
class Inbox:
    """What the input queue of a unit has been given and what has been taken, counted from the first wavelet on."""

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
        return next((at + (needed - low) * rate for low, count, at, rate in self.times if low <= needed < low + count),
                    0)  # fmt: skip


@dataclass
class Piece:
    """The part of a message that a `queues.Message` holds; `first` is the number of its first wavelet."""

    network: Network
    inbox: Inbox
    first: int
    worm: Worm

    def taken(self, position: int, count: int, time: Any, rate: int) -> None:
        """Note that wavelets have been taken, the first at a time."""
        self.network.taken(self.inbox, self.first + position, count, int(np.max(time)), rate)

    def cut(self, receiver: Application) -> None:
        """Warn if an operation takes 16 bits of each element, and some have more."""
        elements = self.worm.elements
        large = elements[elements > WORD_MASK]
        if not len(large):
            return
        (row, column), (source_row, source_column) = self.worm.target, self.worm.source
        self.network.machine.warn(
            receiver.where,
            f"{receiver.text} on PE ({column}, {row}) receives elements of 32 bits from PE ({source_column}, "
            f"{source_row}) into an array of 16 bits, and cuts {len(large)} of them, the first from 0x{large[0]:x} to "
            f"0x{large[0] & WORD_MASK:x}; send and receive arrays of the same type",
        )

    def lost(self, raw: Array) -> None:
        """Warn if the last wavelet of a message, which starts no data task, is more than padding (LIB-032)."""
        worm, value = self.worm, int(np.max(raw))
        single = len(worm.elements) == 1
        if not value and not single:
            return
        row, column = worm.target
        what = "the only element" if single else "the last element"
        worm.queue.cls.machine.warn(
            worm.application.where,
            f"{what} of this message to PE ({column}, {row}), with the bits 0x{value:x}, does not reach the data task "
            "there, because it ends the message; append one element of 0 as padding (LIB-032)",
        )


class Network:
    """A color that is a network of messages, and the messages on their way."""

    def __init__(self, machine: WarpMachine, color: Color, timing: Timing):
        self.machine = machine
        self.color = color
        self.timing = timing
        self.readers: dict[Place, InputQueue] = {}
        self._links: dict[tuple[Place, int], Link] = {}
        self._inboxes: dict[Place, Inbox] = {}
        self._begun: dict[Place, list[Array]] = {}
        """Wavelets of messages whose end has not been sent."""
        self._agenda: list[tuple[int, int, Place, int, int, int, Worm]] = []
        """A heap of what happens next to each worm that moves: the time and what decides in one cycle first."""
        self._worms: dict[Worm, None] = {}
        self._count = 0

    def add_reader(self, queue: InputQueue, mask: Array) -> None:
        """Add the input queue that receives messages, on the PEs of a mask of the grid."""
        queue.network = self
        for row, column in np.argwhere(mask).tolist():
            self.readers[row, column] = queue

    # Sending

    def inject(
        self, stream: QueueStream, units: UnitSet, payload: Array, first: Any, rate: int, *, application: Application,
        last: bool, send: Send | None,
    ) -> None:  # fmt: skip
        """Take wavelets of a queue, [rows, count, columns]; `last` means that the operation sends no more.

        A message leaves when all of it is there, as if it had been at the time of the first wavelet of its last
        operation.
        """
        queue = stream.queue
        assert isinstance(queue, OutputQueue)
        ends = stream.control or (stream.message and last)
        for unit in singles(units):
            x, y = queue.cls.grid_position(*cell(unit))
            wavelets = np.array(select_vector(units, unit, payload)[0, :, 0])
            begun = self._begun.setdefault((y, x), [])
            begun.append(wavelets)
            if ends:
                del self._begun[y, x]
                self._depart((y, x), begun, int(np.max(select(units, unit, first))), rate, queue, unit, application,
                             send)  # fmt: skip

    def _depart(
        self, source: Place, parts: list[Array], first: int, rate: int, queue: OutputQueue, unit: UnitSet,
        application: Application, send: Send | None,
    ) -> None:  # fmt: skip
        where, sender = application.where, f"PE ({source[1]}, {source[0]})"
        words = np.concatenate([part.astype(np.uint32) for part in parts[:-1]] or [np.zeros(0, np.uint32)])
        if len(words) != IN_FRONT or not len(parts[-1]):
            raise LoomError(
                f"{application.text} on {sender} ends a message of {len(words) + len(parts[-1])} wavelets, which has "
                f"no elements behind its address and header; send it with send_message",
                where,
            )
        address, header = (int(word) for word in words)
        row, column = address >> WORD_BITS, address & WORD_MASK
        if row >= self.machine.height or column >= self.machine.width:
            raise LoomError(
                f"{sender} sends a message to PE ({column}, {row}), which is outside the program rectangle of "
                f"{self.machine.width} x {self.machine.height} PEs; correct its column or row (LIB-020)",
                where,
            )
        reader = self.readers.get((row, column))
        if reader is None:
            raise LoomError(
                f"{sender} sends a message to PE ({column}, {row}), where no operation and no data task receives color "
                f"{self.color.label}; let one receive messages there, or correct the destination",
                where,
            )
        links, came_by, heads = self._way(source, (row, column))
        worm = Worm(
            source, (row, column), header, parts[-1], first, rate, application, queue, unit, send, links, came_by, heads
        )
        events = [(time, HEAD, number) for number, time in enumerate(heads)]
        events += [(time + worm.last + 1, RELEASE, number) for number, time in enumerate(heads)]
        worm.events = deque(sorted(events))
        self._worms[worm] = None
        self._plan(worm)

    def _way(self, source: Place, target: Place) -> tuple[list[Link], list[int], list[int]]:
        """Return the links between two units, by which port a message comes to each, and when its head does."""
        links: list[Link] = []
        came_by: list[int] = []
        heads: list[int] = []
        place, port, time = source, RAMP, 0
        while True:
            (row, column), (to_row, to_column) = place, target
            if column != to_column:
                out = EAST if column < to_column else WEST
            elif row != to_row:
                out = SOUTH if row < to_row else NORTH
            else:
                out = RAMP
            links.append(self._links.setdefault((place, out), Link(place, out)))
            came_by.append(port)
            heads.append(time)
            if out == RAMP:
                return links, came_by, heads
            turned = port not in (RAMP, OPPOSITE[out])
            time += self.timing.hop + (self.timing.turn if turned else 0)
            dy, dx = STEP[out]
            place, port = (row + dy, column + dx), OPPOSITE[out]

    # Time

    def earliest(self) -> int:
        """Return when something happens next to a message, NEVER if nothing does by itself."""
        return self._agenda[0][0] if self._agenda else NEVER

    def decide(self, limit: int) -> None:
        """Let happen what happens before `limit`, when no more messages can come from before it."""
        while self._agenda and self._agenda[0][0] < limit:
            now, *_, worm = heapq.heappop(self._agenda)
            worm.planned = False
            _, kind, number = worm.events.popleft()
            if kind == RELEASE:
                self._release(worm, number, now)
            elif worm.links[number].holder is None:
                self._take(worm, number)
            else:
                worm.links[number].waiting.append(worm)
                continue
            self._plan(worm)

    def _plan(self, worm: Worm) -> None:
        """Put what happens next to a worm on the agenda, unless it stands still."""
        if worm.planned or not worm.events:
            return
        time, kind, number = worm.events[0]
        if time >= worm.stops and worm.pause is None:
            return
        link = worm.links[number]
        self._count += 1
        worm.planned = True
        order = (kind, link.place, link.port, worm.came_by[number], self._count)
        heapq.heappush(self._agenda, (worm.when(time), *order, worm))

    def _take(self, worm: Worm, number: int) -> None:
        """Let the head of a worm take a link."""
        worm.links[number].holder = worm
        if number + 1 == len(worm.links):
            self._deliver(worm)

    def _release(self, worm: Worm, number: int, now: int) -> None:
        """Let go of a link behind the last wavelet of a worm; the next in line takes it."""
        link = worm.links[number]
        link.holder = None
        if number == 0 and worm.send is not None:
            self.machine.executor.sent(worm.send, worm.unit, now - 1 + worm.rate)
        if number + 1 == len(worm.links):
            del self._worms[worm]
        if link.waiting:
            following = link.waiting.popleft()
            position = following.links.index(link)
            following.lag = max(following.lag, now - following.start - following.heads[position])
            self._take(following, position)
            self._plan(following)

    # Arriving

    def _deliver(self, worm: Worm) -> None:
        """Give a message whose head is at the receiver's ramp to its queue."""
        queue = self.readers[worm.target]
        inbox = self._inboxes.setdefault(worm.target, Inbox(queue))
        count, before = len(worm.elements), inbox.given
        at = worm.heads[-1]
        first = worm.when(at) + self.timing.ramp
        worm.delivered = True
        inbox.given += 1 + count
        # It stands still at the first wavelet that finds no room.
        fit = queue.room - (before - inbox.taken)
        worm.stops = at + min(worm.last, max(1, fit + 1 if fit < 2 else IN_FRONT + (fit - 1) * worm.rate))
        inbox.worm = worm
        elements = worm.elements.reshape(1, count, 1)
        pieces = [(np.full((1, 1, 1), worm.header, np.uint32), first + 1, 1, before)]
        if count > 1 and worm.rate == 1:
            pieces = [(np.concatenate([pieces[0][0], elements[:, :-1, :]], axis=1), first + 1, 1, before)]
        elif count > 1:
            pieces.append((elements[:, :-1, :], first + IN_FRONT, worm.rate, before + 1))
        pieces.append((elements[:, -1:, :], first + worm.last, 1, before + count))
        row, column = worm.target
        place = rectangle(range(row, row + 1), range(column, column + 1))
        for payload, time, rate, number in pieces:
            units, payload, time = queue.cls.placement.to_class(place, payload, time)
            message = Message(units, payload, time, rate, 0, number == before + count, owned=True)
            message.piece = Piece(self, inbox, number, worm)
            self.machine.executor.admit(queue, message)
        self._resume(inbox)

    def taken(self, inbox: Inbox, first: int, count: int, time: int, rate: int) -> None:
        """Note which wavelets of a unit have been taken, and when."""
        inbox.take(first, count, time, rate)
        self._resume(inbox)

    def _resume(self, inbox: Inbox) -> None:
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

    def _blocker(self, worm: Worm) -> Worm:
        """Return the message at a receiver's ramp that a message waits for, in the end; it may be itself."""
        while (link := worm.waits_at) is not None and link.holder is not None:
            worm = link.holder
        return worm

    def waits(self, queue: OutputQueue, send: Send) -> Iterator[Wait]:
        """Yield the units of a send whose messages stand still."""
        application, held = send.application, send.warp is not None
        for worm in self._worms:
            if worm.send is not send:
                continue
            text = f"{waiter(application)} cannot send {self._named(worm)}: {self._reason(worm)}"
            yield Wait(
                queue.cls, worm.unit, text, application.where, _Blocked(self, worm), held, queue.name,
                len(worm.elements), () if held else completion_tasks(application), application.op if held else None,
            )  # fmt: skip

    def _named(self, worm: Worm) -> str:
        count, (row, column) = len(worm.elements), worm.target
        return f"its message of {count} element{'' if count == 1 else 's'} to PE ({column}, {row})"

    def _reason(self, worm: Worm) -> str:
        link, blocker = worm.waits_at, self._blocker(worm)
        row, column = blocker.target
        full = f"input queue {self.readers[blocker.target].label} of PE ({column}, {row}) is full and is not read"
        if link is None or link.holder is None:
            return full
        (source_row, source_column), (at_row, at_column) = link.holder.source, link.place
        way = "the ramp" if link.port == RAMP else f"the way {PORTS[link.port]}"
        (to_row, to_column) = link.holder.target
        return (
            f"{way} at PE ({at_column}, {at_row}) is held by the message from PE ({source_column}, {source_row}) to "
            f"PE ({to_column}, {to_row}), and {full}"
        )

    def left(self) -> list[Unread]:
        """Return the messages that have not come to a queue."""
        found: list[Unread] = []
        for worm in self._worms:
            if not worm.delivered:
                (row, column), (source_row, source_column) = worm.target, worm.source
                sender, count = (source_column, source_row), 1 + len(worm.elements)
                found.append(in_message(self.color.label, (column, row), count, sender, self._reason(worm)))
        return found


class _Blocked:
    """What a message that stands still waits for: the receiver at the head of its line."""

    waits_for_all = True

    def __init__(self, network: Network, worm: Worm):
        self._network, self._worm = network, worm

    def pairs(self, wait: Wait) -> Iterable[tuple[Unit, Unit, str]]:
        """Return the sender with the receiver that has to take a message, and its queue."""
        blocker = self._network._blocker(self._worm)  # pyright: ignore[reportPrivateUsage]
        (row, column), (to_row, to_column) = self._worm.source, blocker.target
        return [((column, row), (to_column, to_row), self._network.readers[blocker.target].name)]

    def remedy(self, *, held: bool) -> str:
        """Return what to do about units whose messages wait for each other."""
        return RECEIVE_FIRST

    def explanation(self, wait: Wait, units: str) -> str | None:
        """Return None: the wait itself says who does not read."""
        return None
