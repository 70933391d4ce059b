"""FIFOs in unit memory, as two queues: elements that wait to be popped, and free places that wait to be filled.

A push takes free places and leaves elements, a pop takes elements and leaves free places. Both are messages with
time stamps like those of the fabric, so an operation that finds a FIFO full or empty waits as it would for wavelets,
and results depend on neither order nor batching.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .memory import WIDE
from .queues import InputQueue, Message
from .resources import Resource
from .streams import Buffer, Mixed, Parts
from .units import Array, UnitSet, from_mask, rectangle, select, some

if TYPE_CHECKING:
    from .tasks import Task
    from .unit_class import UnitClass


@dataclass(eq=False)
class Fifo:
    """A FIFO of every unit of a class."""

    cls: UnitClass
    name: str
    buffer: Buffer
    filled: InputQueue
    """Elements, with the time from which they can be popped."""
    free: InputQueue
    """Places, with the time from which they can be filled; their payload means nothing."""
    pushed: Array
    """Elements pushed so far into each unit's FIFO, [rows, columns]: where the next goes."""
    on_push: Task | None
    on_pop: Task | None

    @property
    def has_tasks(self) -> bool:
        return self.on_push is not None or self.on_pop is not None

    def places(self, units: UnitSet, count: int, first: Any, rate: int) -> Message:
        """`count` places that become free, one by one."""
        payload = np.broadcast_to(np.zeros(1, np.uint16), (units.shape[0], count, units.shape[1]))
        return Message(units, payload, first, rate, 0, False, owned=True)

    def store(self, units: UnitSet, values: Array) -> None:
        """Put raw elements [rows, elements, columns] into the memory of the FIFO, behind those pushed before."""
        count = values.shape[1]
        wide = self.buffer.kind in WIDE
        before = self.pushed[units.index]
        steps: Array = np.arange(count, dtype=np.int64)
        place: Array = np.remainder(before[:, None, :] + steps[None, :, None], self.buffer.elements)
        words: Array = self.buffer.address + place * self.buffer.element_words
        rows, columns = units.cells()
        rows, columns = rows[:, None, :], columns[:, None, :]
        raw = self.cls.memory.raw[self.buffer.kind]
        raw[(rows, words >> 1, columns) if wide else (rows, words >> 1, columns, words & 1)] = values
        self.pushed[units.index] = before + count


def empty_fifo(units: UnitClass, name: str, buffer: Buffer, on_push: Task | None, on_pop: Task | None) -> Fifo:
    """A FIFO on a buffer of all units of a class."""
    shape = units.shape

    def queue(side: str) -> InputQueue:
        remedy = f"let the second start when the first has completed: a FIFO has one {side} at a time"
        resource = Resource(units, f"the {side} of FIFO @{name}", remedy)
        return InputQueue(units, name, -1, np.full(shape, -1, np.int16), resource, 0)

    fifo = Fifo(units, name, buffer, queue("reader"), queue("writer"), np.zeros(shape, np.int64), on_push, on_pop)
    whole = rectangle(range(shape[0]), range(shape[1]))
    fifo.free.messages.append(fifo.places(whole, buffer.elements, 0, 0))
    return fifo


def wake(task: Task | None, units: UnitSet, message: Message, ready: Any, rate: int, count: int) -> None:
    """Activate the task of a FIFO's other side where an operation waited for elements or places of a message.

    The operation was ready for the first at `ready`, and for the others `rate` cycles after the one before.
    """
    if task is None:
        return
    last = count if message.rate > rate else 1
    for k in range(last):
        time = message.head_time + k * message.rate
        late = np.broadcast_to(np.asarray(time > ready), units.shape)
        if some(late):
            for part in from_mask(units, late):
                task.complete(part, select(units, part, time), activate=True)
        ready = np.maximum(ready, time) + rate


class FifoStream:
    """A FIFO as the operand of an operation; it has no length of its own."""

    __slots__ = ("fifo", "kind")

    def __init__(self, fifo: Fifo, kind: str):
        self.fifo = fifo
        self.kind = kind

    @staticmethod
    def merge(units: UnitSet, parts: Parts) -> Mixed:
        return Mixed(parts)
