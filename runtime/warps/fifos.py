"""FIFOs in unit memory, as two queues: elements that wait to be popped, and free places that wait to be filled.

A push takes free places and leaves elements, a pop takes elements and leaves free places. Both are messages with
time stamps like those of the fabric, so an operation that finds a FIFO full or empty waits as it would for wavelets, or
stops if nothing can have come by the time it looks, and results depend on neither order nor batching.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..wait_sentences import on_fifo
from .memory import WIDE, walk
from .queues import InputQueue, Message
from .resources import Resource
from .streams import Buffer, Mixed, Parts, QueueStream
from .tasks import NEVER
from .units import Array, UnitSet, every, from_mask, rectangle, select, some
from .waits import Wait, completion_tasks, waiter

if TYPE_CHECKING:
    from .tasks import Task
    from .unit_class import UnitClass


class Side:
    """One end of a FIFO, on every unit of a class: the operations that read it, or those that write to it."""

    def __init__(self, cls: UnitClass, fifo: str, name: str, action: str, task: Task | None):
        self.cls = cls
        self.fifo = fifo
        self.name = name
        self.lacks = "empty" if name == "read" else "full"
        """The state of the FIFO when this side finds nothing."""
        self.action = action
        """What an operation does then."""
        self.task = task
        """What the other side starts when this one can go on."""
        noun = "reader" if name == "read" else "writer"
        remedy = f"let the second start when the first has completed: a FIFO has one {noun} at a time"
        resource = Resource(cls, f"the {noun} of FIFO @{fifo}", remedy)
        self.queue = InputQueue(cls, fifo, f"@{fifo}", -1, np.full(cls.shape, -1, np.int16), resource, 0)
        """What operations of this side take: elements, or places."""
        self.set_lengths: Array | None = None
        """How many elements an operation moves, [rows, columns], 0 where its other operands say; None if everywhere."""
        self.outstanding: Array | None = None
        """How many the last operation lacked when it stopped, [rows, columns]: the length of the next one."""
        self.missed: Array | None = None
        """When an operation stopped because it found nothing, NEVER where none did since the task was started."""

    def waits(self, *, is_async: bool) -> bool:
        """Return True if an operation that finds nothing waits; otherwise it ends."""
        return self.action == "suspend" or (self.action == "test_or_suspend" and is_async)

    # Lengths

    def lengths(self, units: UnitSet) -> Any:
        """Return how many elements the next operation of some units moves; [rows, columns] where they differ.

        0 is a length that is not set.
        """
        if self.set_lengths is None and self.outstanding is None:
            return 0
        found: Any = 0 if self.set_lengths is None else self.set_lengths[units.index]
        if self.outstanding is not None:
            left = self.outstanding[units.index]
            found = np.where(left > 0, left, found)
        first = int(found[0, 0])
        return first if every(found == first) else found

    def set_length(self, units: UnitSet, length: Any) -> None:
        """Set the length, a number or [rows, columns], of the operations that follow."""
        if self.set_lengths is None:
            self.set_lengths = np.zeros(self.cls.shape, np.int64)
        self.set_lengths[units.index] = length
        if self.outstanding is not None:
            self.outstanding[units.index] = 0

    def done(self, units: UnitSet) -> None:
        """Note that an operation has moved all its elements."""
        if self.outstanding is not None:
            self.outstanding[units.index] = 0

    # Tasks

    def stopped(self, units: UnitSet, time: Any, lacking: int) -> None:
        """Note that an operation found nothing at a time and ends without the last `lacking` elements."""
        if self.outstanding is None:
            self.outstanding = np.zeros(self.cls.shape, np.int64)
        self.outstanding[units.index] = lacking
        if self.task is None:
            return
        if self.missed is None:
            self.missed = np.full(self.cls.shape, NEVER, np.int64)
        self.missed[units.index] = time
        # What comes later may be known already.
        heads = self.queue.head_times(units, NEVER)
        if some(heads < NEVER):
            self._start(units, heads)

    def arrived(self, message: Message) -> None:
        """Start the task of this side when the other side leaves something to take."""
        if self.missed is not None:
            self._start(message.units, np.broadcast_to(np.asarray(message.head_time), message.units.shape))

    def _start(self, units: UnitSet, times: Array) -> None:
        assert self.missed is not None and self.task is not None
        for part in from_mask(units, (self.missed[units.index] < NEVER) & (times < NEVER)):
            self.missed[part.index] = NEVER
            self.task.complete(part, select(units, part, times), activate=True)

    def woken(self, units: UnitSet, message: Message, ready: Any, rate: int, count: int) -> None:
        """Start the task where an operation of this side waited for elements or places of a message.

        The operation was ready for the first at `ready`, and for the others `rate` cycles after the one before.
        """
        if self.task is None:
            return
        last = count if message.rate > rate else 1
        for k in range(last):
            time = message.head_time + k * message.rate
            late = np.broadcast_to(np.asarray(time > ready), units.shape)
            if some(late):
                for part in from_mask(units, late):
                    self.task.complete(part, select(units, part, time), activate=True)
            ready = np.maximum(ready, time) + rate


@dataclass(eq=False)
class Fifo:
    """A FIFO of every unit of a class."""

    cls: UnitClass
    name: str
    buffer: Buffer
    reading: Side
    """Takes elements, from the time at which they can be popped."""
    writing: Side
    """Takes places, from the time at which they can be filled; their payload means nothing."""
    pushed: Array
    """Elements pushed so far into each unit's FIFO, [rows, columns]: where the next goes."""

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.reading, self.writing

    @property
    def has_tasks(self) -> bool:
        return any(side.task is not None for side in self.sides)

    def other(self, side: Side) -> Side:
        """Return the side that leaves what a side takes."""
        return self.writing if side is self.reading else self.reading

    def places(self, units: UnitSet, count: int, first: Any, rate: int) -> Message:
        """Return `count` places that become free, one by one."""
        return Message(units, _nothing(units.shape[0], count, units.shape[1]), first, rate, 0, False, owned=True)

    def store(self, units: UnitSet, values: Array) -> None:
        """Put raw elements [rows, elements, columns] into the memory of the FIFO, behind those pushed before."""
        count = values.shape[1]
        before = self.pushed[units.index]
        first = int(before.flat[0])
        if every(before == first) and self._store_alike(units, values, first % self.buffer.elements):
            self.pushed[units.index] = first + count
            return
        wide = self.buffer.kind in WIDE
        steps: Array = np.arange(count, dtype=np.int64)
        place: Array = np.remainder(before[:, None, :] + steps[None, :, None], self.buffer.elements)
        words: Array = self.buffer.address + place * self.buffer.element_words
        rows, columns = units.cells()
        rows, columns = rows[:, None, :], columns[:, None, :]
        raw = self.cls.memory.raw[self.buffer.kind]
        raw[(rows, words >> 1, columns) if wide else (rows, words >> 1, columns, words & 1)] = values
        self.pushed[units.index] = before + count

    def _store_alike(self, units: UnitSet, values: Array, place: int) -> bool:
        """Put elements at a place that is the same for all units, if memory can be seen so."""
        buffer, count = self.buffer, values.shape[1]
        steps = walk((1,), (buffer.elements,))
        fitting = min(count, buffer.elements - place)
        for at, low, high in ((place, 0, fitting), (0, fitting, count)):
            if low == high:
                continue
            address = buffer.address + at * buffer.element_words
            view = self.cls.memory.view(buffer.kind, units, address, steps, 0, high - low, raw=True)
            if view is None:
                return False
            view[...] = values[:, low:high]
        return True

    def waits(self, *, allow_pending: bool, all_of_them: bool = False) -> Iterator[Wait]:
        """Yield who waits for elements or places that never come. Only operations of the same unit could give them."""
        for side in self.sides:
            for transfer in side.queue.stuck(allow_pending=allow_pending, all_of_them=all_of_them):
                application, missing = transfer.application, transfer.count - transfer.position
                text = on_fifo(waiter(application), self.name, side.lacks, missing, transfer.count)
                held = transfer.warp is not None
                destination = transfer.destination
                yield Wait(
                    self.cls, transfer.units, text, application.where, None, held, self.name, missing,
                    () if held else completion_tasks(application), application.op if held else None,
                    (destination.queue.name,) if type(destination) is QueueStream else (),
                )  # fmt: skip


@lru_cache(maxsize=1024)
def _nothing(rows: int, count: int, columns: int) -> Array:
    """Return the payload of free places, which means nothing, [rows, count, columns]."""
    return np.broadcast_to(np.zeros(1, np.uint16), (rows, count, columns))


def empty_fifo(
    units: UnitClass, name: str, buffer: Buffer, actions: tuple[str, str], tasks: tuple[Task | None, Task | None]
) -> Fifo:
    """Return a FIFO on a buffer of all units of a class.

    `actions` are for operations that find it empty and full, `tasks` what a push and a pop start.
    """
    shape = units.shape
    reading, writing = (
        Side(units, name, side, action, task)
        for side, action, task in zip(("read", "write"), actions, tasks, strict=True)
    )
    fifo = Fifo(units, name, buffer, reading, writing, np.zeros(shape, np.int64))
    whole = rectangle(range(shape[0]), range(shape[1]))
    fifo.writing.queue.messages.append(fifo.places(whole, buffer.elements, 0, 0))
    return fifo


class FifoStream:
    """A FIFO as the operand of an operation; its length is what its side of the FIFO says."""

    __slots__ = ("fifo", "kind", "register")

    def __init__(self, fifo: Fifo, kind: str, register: str | None = None):
        self.fifo = fifo
        self.kind = kind
        self.register = register
        """The register it was read from, if the code does not say that it holds a FIFO."""

    def plainly_in(self, register: str) -> FifoStream:
        """Return the stream as what a register holds."""
        return FifoStream(self.fifo, self.kind, register)

    @staticmethod
    def merge(units: UnitSet, parts: Parts) -> Mixed:
        return Mixed(parts)
