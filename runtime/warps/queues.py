"""Queues, the wavelets in them and the operations that wait for them.

Wavelets travel in messages: a run of `count` of them for a set of units, with the time of the first and the cycles
between two, so that no wavelet is ever an object of its own. An operation that reads a queue is a `Transfer`; where
only some of its units have data it is split, and what is left waits on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ..places import Unit
from ..wait_sentences import SEND_FIRST, no_wavelets, on_input_queue, on_output_queue
from .fabric import Delivery, reach
from .resources import Resource
from .sends import Send
from .streams import QueueStream
from .units import Array, UnitSet, from_mask, intersect, locate, select, select_vector, some, subtract
from .waits import Wait, completion_tasks, waiter
from .warp import Warp, restrict

if TYPE_CHECKING:
    from .fifos import Side
    from .messages import Network, Piece
    from .program import Application
    from .registers import Held
    from .switches import SwitchedColor
    from .tasks import Task
    from .unit_class import UnitClass


class Message:
    """`count` wavelets for each of some units, of which `position` are consumed.

    `payload` is unsigned, [rows, count, columns]. Wavelet k is there at `first + k * rate`. `owned` means that the
    payload is the message's own and not a view of a sender's memory. `origin` numbers the sender, for messages that
    arrive in one cycle. Where the sender may have to wait for room, `send` is notified when wavelet `threshold` is
    taken. `piece` is what it is of a message of a network.
    """

    __slots__ = (
        "control", "count", "delivery", "first", "origin", "owned", "payload", "piece", "position", "rate", "send",
        "threshold", "units",
    )  # fmt: skip

    def __init__(
        self,
        units: UnitSet,
        payload: Array,
        first: Any,
        rate: int,
        origin: Any,
        control: bool,
        *,
        owned: bool,
        position: int = 0,
    ):
        self.units = units
        self.payload = payload
        self.count = payload.shape[1]
        self.first = first
        self.rate = rate
        self.origin = origin
        self.control = control
        self.owned = owned
        self.position = position
        self.send: Send | None = None
        self.delivery: Delivery | None = None
        self.threshold = -1
        self.piece: Piece | None = None

    @property
    def remaining(self) -> int:
        return self.count - self.position

    @property
    def head_time(self) -> Any:
        """Return when the next wavelet is available."""
        return self.first + self.position * self.rate

    def part(self, units: UnitSet) -> Message:
        """Return the same wavelets for a subset of the units."""
        if units is self.units:
            return self
        part = Message(
            units, select_vector(self.units, units, self.payload), select(self.units, units, self.first), self.rate,
            select(self.units, units, self.origin), self.control, owned=self.owned, position=self.position,
        )  # fmt: skip
        part.send, part.delivery, part.threshold = self.send, self.delivery, self.threshold
        part.piece = self.piece
        return part

    def keep(self) -> Message:
        """Return a message that outlives the sender's memory."""
        if not self.owned:
            self.payload = self.payload[:, self.position :, :].copy()
            self.first = self.head_time
            self.count -= self.position
            self.threshold -= self.position
            self.position = 0
            self.owned = True
        return self


def in_time(messages: list[Message]) -> list[Message]:
    """Return messages of several senders for one queue, split so that every unit gets its earliest first."""
    pending = sorted(messages, key=lambda message: int(np.min(message.head_time)))
    ordered: list[Message] = []
    while pending:
        following: list[Message] = []
        for index, message in enumerate(pending):
            late = np.zeros(message.units.shape, np.bool_)
            for other in pending[:index] + pending[index + 1 :]:
                common = intersect(message.units, other.units)
                if common is None:
                    continue
                mine, theirs = message.part(common), other.part(common)
                later = (theirs.head_time < mine.head_time) | (
                    (theirs.head_time == mine.head_time) & (theirs.origin < mine.origin)
                )
                late[locate(message.units, common)] |= later
            ordered += [message.part(units) for units in from_mask(message.units, ~late)]
            following += [message.part(units) for units in from_mask(message.units, late)]
        pending = following
    return ordered


class Transfer:
    """A DSD operation of some units under way that reads input queues.

    `position` elements are done; the next can be processed at `time`. A synchronous one holds its warp.
    """

    __slots__ = (
        "application",
        "before",
        "by_control",
        "count",
        "destination",
        "header",
        "moving",
        "polled",
        "position",
        "queues",
        "rate",
        "signals_end",
        "sources",
        "stopped",
        "time",
        "units",
        "warp",
    )  # fmt: skip

    def __init__(
        self,
        application: Application,
        units: UnitSet,
        queues: list[InputQueue],
        destination: Any,
        sources: list[Any],
        count: int,
        time: Any,
        rate: int,
        warp: Warp | None,
        signals_end: bool,
    ):
        self.application = application
        self.units = units
        self.queues = queues
        self.destination = destination
        self.sources = sources
        self.count = count
        self.position = 0
        self.time = time
        self.rate = rate
        self.warp = warp
        self.by_control = False
        """True if a control wavelet has ended it."""
        self.header = any(isinstance(source, QueueStream) and source.message for source in sources)
        """True if it takes a message whose header has not come: `count` is the most that there is room for."""
        self.signals_end = signals_end
        """True if it may start a task, at its end or before."""
        self.polled: list[Side | None] = []
        """For each queue the side of a FIFO it belongs to, if the operation ends where that has nothing for it; empty
        if it waits for all of them."""
        self.stopped = False
        """True if it has ended like that, and says so."""
        self.before: Array | None = None
        """What a scalar destination held before, raw, if it is to get that back then."""
        self.moving: list[Held] = []
        """The registers that move on behind what it has done."""

    @property
    def resources(self) -> list[Resource]:
        """Return the resources it holds: its queues and, if asynchronous, its microthread."""
        found = [queue.resource for queue in self.queues]
        if isinstance(self.destination, QueueStream):
            found.append(self.destination.queue.resource)
        if self.application.thread is not None:
            found.append(self.application.thread)
        return found

    def part(self, units: UnitSet) -> Transfer:
        """Return the same operation for a subset of the units."""
        if units is self.units:
            return self
        outer = self.units
        part = Transfer(
            self.application, units, self.queues, restrict(outer, units, self.destination),
            [restrict(outer, units, source) for source in self.sources], self.count,
            select(outer, units, self.time), self.rate, self.warp, self.signals_end,
        )  # fmt: skip
        part.position, part.polled, part.header = self.position, self.polled, self.header
        if self.before is not None:
            part.before = select_vector(outer, units, self.before)
        part.moving = [held.restrict(outer, units) for held in self.moving]
        return part


@dataclass(eq=False)
class InputQueue:
    """An input queue of a class: messages not yet consumed, and operations waiting for more.

    A unit has both only while its operation waits for another queue. `senders` is the largest number of units that
    send to one unit of this queue: with several, what arrives first depends on time, and the scheduler hands messages
    over in that order.
    """

    cls: UnitClass
    name: str
    label: str
    """Its name in messages."""
    number: int
    colors: Array
    resource: Resource
    room: int
    """Wavelets the queue holds."""
    messages: list[Message] = field(default_factory=list[Message])
    waiting: list[Transfer] = field(default_factory=list[Transfer])
    task: Task | None = None
    """What its wavelets start."""
    control_offset: int = 0
    """What is added to the ids that control wavelets carry."""
    control_only: bool = False
    """True if only control wavelets start anything: the queue has no data task."""
    senders: int = 0
    colorless: bool = False
    """True if the queue has no color on some units."""
    unrouted: Array | None = None
    """Units to whose ramps no route brings the color, [rows, columns]; None if there are none."""
    waits_for_all: bool = False
    network: Network | None = None
    """The network whose messages it receives."""
    by_unit: dict[tuple[int, int], deque[Transfer]] = field(default_factory=dict[tuple[int, int], "deque[Transfer]"])
    """Operations that wait for messages of a network, by row and column of their unit; they are not in `waiting`."""

    def first(self, units: UnitSet) -> UnitSet | None:
        """Return those of some units that the first message for any of them is for."""
        for message in self.messages:
            common = intersect(message.units, units)
            if common is not None:
                return common
        return None

    def take(self, units: UnitSet) -> Message:
        """Return the first message for some units, cut to them; it leaves the queue. `first` has found it for all."""
        for index, message in enumerate(self.messages):
            common = intersect(message.units, units)
            if common is not None:
                rest = subtract(message.units, common)
                self.messages[index : index + 1] = [message.part(other) for other in rest]
                return message.part(common)
        raise AssertionError("no message for these units")

    def put_back(self, message: Message) -> None:
        """Put back the unconsumed rest of a message, in front."""
        self.messages.insert(0, message.keep())

    def head_times(self, units: UnitSet, absent: int, *, to_read: bool = False) -> Array:
        """Return when the next wavelet of each unit is there, `absent` where none is queued.

        One that could start no task counts only if an operation is `to_read` it.
        """
        result = np.full(units.shape, absent, np.int64)
        found = np.zeros(units.shape, np.bool_)
        for message in self.messages:
            common = intersect(message.units, units)
            if common is None:
                continue
            index = locate(units, common)
            fresh = ~found[index]
            starts = to_read or message.control or not self.control_only
            head = select(message.units, common, message.head_time) if starts else absent
            times = np.broadcast_to(np.asarray(head), common.shape)
            result[index] = np.where(fresh, times, result[index])
            found[index] = True
            if found.all():
                break
        return result

    # Who waits here

    def stuck(self, *, allow_pending: bool, all_of_them: bool = False) -> Iterator[Transfer]:
        """Yield operations that lack wavelets here and signal their end, or with `allow_pending` hold a task."""
        for transfer in chain(self.waiting, *self.by_unit.values()):
            signals_end = transfer.application.has_completion and not allow_pending
            counts = all_of_them or signals_end or transfer.warp is not None
            # If the queue has something for it, it is another that lacks wavelets.
            if counts and not (self.messages and self.first(transfer.units) is not None):
                yield transfer

    def waits(self, *, allow_pending: bool, all_of_them: bool = False) -> Iterator[Wait]:
        """Yield who waits for wavelets that never come."""
        for transfer in self.stuck(allow_pending=allow_pending, all_of_them=all_of_them):
            application, missing = transfer.application, transfer.count - transfer.position
            held = transfer.warp is not None
            destination = transfer.destination
            for units, color in by_color(self, transfer.units):
                awaits = "a message" if transfer.header else f"{missing} of {transfer.count} wavelets"
                text = on_input_queue(waiter(application), self.label, self.number, color, awaits)
                yield Wait(
                    self.cls, units, text, application.where, self, held, self.name, missing,
                    () if held else completion_tasks(application), application.op if held else None,
                    (destination.queue.name,) if isinstance(destination, QueueStream) else (),
                    not held and transfer.position > 0,
                )  # fmt: skip

    def _senders(self) -> list[tuple[UnitClass, OutputQueue, Delivery]]:
        return [
            (cls, sender, delivery)
            for cls in self.cls.machine.classes
            for sender in cls.outputs.values()
            for delivery in sender.deliveries
            if delivery.receiver is self
        ]

    def pairs(self, wait: Wait) -> Iterator[tuple[Unit, Unit, str]]:
        """Yield each receiver with a unit that sends to it, and the queue it sends by."""
        for cls, queue, delivery in self._senders():
            for sender, receiver in reach(delivery, wait.units):
                yield self.cls.grid_position(*receiver), cls.grid_position(*sender), queue.name

    def remedy(self, *, held: bool) -> str:
        """Return what to do about units that wait for each other's wavelets."""
        return SEND_FIRST[held]

    def explanation(self, wait: Wait, units: str) -> str | None:
        """Return why nobody sends; None if wavelets may wait at routers or come from the host, reported elsewhere."""
        if any(reader is self for color in self.cls.machine.switched.values() for reader, _ in color.readers):
            return None
        if any(reader is self for stream in self.cls.machine.host_inputs.values() for reader, _ in stream.readers):
            return None
        if self.network is not None:
            return no_wavelets(self.label, units, "no message")
        if self.unrouted is not None and some(self.unrouted[wait.units.index]):
            return no_wavelets(self.label, units, "no route")
        if next(iter(self.pairs(wait)), None) is None:
            return no_wavelets(self.label, units, "no sender")
        return no_wavelets(self.label, units, "too little")


@dataclass(eq=False)
class OutputQueue:
    """An output queue of a class and where its wavelets go."""

    cls: UnitClass
    name: str
    label: str
    """Its name in messages."""
    number: int
    colors: Array
    resource: Resource
    deliveries: list[Delivery] = field(default_factory=list[Delivery])
    switched: list[tuple[SwitchedColor, Array]] = field(default_factory=list["tuple[SwitchedColor, Array]"])
    """Colors with switches, and the units that send them, [rows, columns]."""
    room: int = 1 << 16
    """Wavelets of one send that every receiver's queue is sure to hold."""
    covers: dict[UnitSet, bool] = field(default_factory=dict["UnitSet", bool])
    colorless: bool = False
    """True if the queue has no color on some units."""
    swallowed: Array | None = None
    """Units whose wavelets end at their own router or ramp, [rows, columns]; None if there are none."""
    lost: Array | None = None
    """Units some of whose wavelets are lost, [rows, columns]; None if none are."""
    lost_at: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict[tuple[int, int], tuple[int, int]])
    unread_from: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Units that also send to a PE without a queue for the color, one element for each such PE..."""
    unread_at: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """... and that PE, row and column of the grid."""
    unread_count: Array | None = None
    """Wavelets that each unit has sent, [rows, columns], where some go unread."""
    waits_for_all: bool = True
    network: Network | None = None
    """The network that carries its messages."""

    # Who waits here

    def waits(self, send: Send) -> Iterator[Wait]:
        """Yield the units of a send whose receivers make no room."""
        if self.network is not None:
            yield from self.network.waits(self, send)
            return
        application = send.application
        full = sorted({delivery.receiver.label for delivery in self.deliveries})
        held = send.warp is not None
        stuck = from_mask(send.units, send.waiting > 0)
        for units, color in [found for part in stuck for found in by_color(self, part)]:
            text = on_output_queue(waiter(application), self.label, self.number, color, send.count, full)
            yield Wait(
                self.cls, units, text, application.where, self, held, self.name, send.count,
                () if held else completion_tasks(application), application.op if held else None,
            )  # fmt: skip

    def pairs(self, wait: Wait) -> Iterable[tuple[Unit, Unit, str]]:
        """Yield each sender with a unit that it sends to, and the queue that this one reads."""
        for delivery in self.deliveries:
            receivers: InputQueue = delivery.receiver
            for sender, receiver in reach(delivery, receivers.cls.units):
                yield self.cls.grid_position(*sender), receivers.cls.grid_position(*receiver), receivers.name

    def remedy(self, *, held: bool) -> str:
        """Return what to do about units that wait for room at each other."""
        return SEND_FIRST[held]

    def explanation(self, wait: Wait, units: str) -> str | None:
        """Return None: the wait itself says who does not read."""
        return None


def by_color(queue: InputQueue | OutputQueue, units: UnitSet) -> Iterator[tuple[UnitSet, str]]:
    """Yield those of some units on which a queue serves the same color, with that color in words."""
    colors = queue.colors[units.index]
    machine = queue.cls.machine
    for number in np.unique(colors).tolist():
        for part in from_mask(units, colors == number):
            yield part, machine.color_label(number)


def without_color(queue: InputQueue | OutputQueue, units: UnitSet) -> Array | None:
    """Return the units among some on which a queue has no color, None if there are none."""
    if not queue.colorless:
        return None
    missing = queue.colors[units.index] < 0
    return missing if some(missing) else None
