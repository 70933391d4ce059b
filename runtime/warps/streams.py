"""Stream values: descriptors (DSDs) at run time.

A stream is a value of a warp like any number. Its address may differ from unit to unit; its shape (strides and
extents) is uniform, because a warp with unequal lengths has parted before it makes the stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .memory import DTYPES, WIDE, Walk, walk
from .units import UnitSet, assemble, intersect, select
from .warp import restrict

if TYPE_CHECKING:
    from .queues import InputQueue, OutputQueue

UNBOUNDED = 1 << 40
"""Elements of a transfer that has no end, and room of a queue that is never full."""

Parts: TypeAlias = list[tuple[UnitSet, Any]]
"""Disjoint sets of units, each with its value."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """An array in unit memory: where it is, in 16-bit words, and how many elements it has."""

    name: str
    """Empty for the whole of memory, which pointers point into."""
    kind: str
    address: int
    shape: tuple[int, ...]
    elements: int

    @property
    def element_bytes(self) -> int:
        return DTYPES[self.kind].itemsize

    @property
    def element_words(self) -> int:
        """Return the words of an element that walks can visit."""
        return 2 if self.kind in WIDE else 1

    @property
    def end(self) -> int:
        """Return the first word after the buffer."""
        return self.address + (self.elements * self.element_bytes + 1) // 2


class MemoryStream:
    """A walk over a buffer of elements of `kind`.

    `address` is the word address of its first element, a number or an array [rows, columns]. Strides are in elements
    and innermost first, extents are outermost first.
    """

    __slots__ = ("address", "buffer", "extents", "kind", "strides", "walk")

    def __init__(self, buffer: Buffer, kind: str, address: Any, strides: tuple[int, ...], extents: tuple[int, ...]):
        self.buffer = buffer
        self.kind = kind
        self.address = address
        self.strides = strides
        self.extents = extents
        self.walk: Walk = walk(strides, extents)

    @property
    def count(self) -> int:
        return self.walk.count

    def moved(self, words: Any) -> MemoryStream:
        """Return the same walk `words` 16-bit words further."""
        return MemoryStream(self.buffer, self.kind, self.address + words, self.strides, self.extents)

    def restrict(self, outer: UnitSet, inner: UnitSet) -> MemoryStream:
        if type(self.address) is not np.ndarray:
            return self
        return MemoryStream(self.buffer, self.kind, select(outer, inner, self.address), self.strides, self.extents)

    @staticmethod
    def merge(units: UnitSet, parts: Parts) -> MemoryStream | Mixed:
        """Return the stream of a joined warp: one stream where only addresses differ."""
        first = parts[0][1]
        if any(
            type(part) is not MemoryStream
            or part.buffer is not first.buffer
            or (part.strides, part.extents) != (first.strides, first.extents)
            for _, part in parts
        ):
            return Mixed(parts)
        address = first.address
        if any(type(part.address) is not int or part.address != address for _, part in parts):
            address = assemble(units, [(s, part.address) for s, part in parts], np.int64)
        return MemoryStream(first.buffer, first.kind, address, first.strides, first.extents)


class QueueStream:
    """A run of `count` wavelets of an input or output queue.

    `control` marks them as control wavelets, `advance` moves the switch on behind them; `index` is what they
    carry in their high half, a number or an array [rows, columns], None for nothing. A wavelet carries `lanes` values,
    and `count` is that of the values. `message` makes them part of a message of a network: what is received begins with
    its header, and the last that is sent ends it; `count` is the most that the other operand has room for.
    """

    __slots__ = ("advance", "control", "count", "index", "kind", "lanes", "message", "queue")

    def __init__(
        self,
        queue: InputQueue | OutputQueue,
        kind: str,
        count: int,
        control: bool,
        index: Any = None,
        *,
        advance: bool = False,
        lanes: int = 1,
        message: bool = False,
    ):
        self.lanes = lanes
        self.message = message
        self.queue = queue
        self.kind = kind
        self.count = count
        self.control = control
        self.index = index
        self.advance = advance

    def resized(self, count: int) -> QueueStream:
        """Return the same for another number of wavelets."""
        return self._with(count, self.index)

    def marked(self, index: Any) -> QueueStream:
        """Return the same with what the wavelets carry in their high half."""
        return self._with(self.count, index)

    def _with(self, count: int, index: Any) -> QueueStream:
        return QueueStream(
            self.queue, self.kind, count, self.control, index, advance=self.advance, lanes=self.lanes,
            message=self.message,
        )  # fmt: skip

    def restrict(self, outer: UnitSet, inner: UnitSet) -> QueueStream:
        if type(self.index) is not np.ndarray:
            return self
        return self.marked(select(outer, inner, self.index))

    @staticmethod
    def merge(units: UnitSet, parts: Parts) -> Mixed:
        return Mixed(parts)


class Mixed:
    """Streams of different shapes brought together by a join; whoever uses it parts the warp again."""

    __slots__ = ("parts",)

    def __init__(self, parts: Parts):
        self.parts = parts

    @staticmethod
    def merge(units: UnitSet, parts: Parts) -> Mixed:
        flat: Parts = []
        for part, value in parts:
            flat += value.parts if type(value) is Mixed else [(part, value)]
        return Mixed(flat)

    def restrict(self, outer: UnitSet, inner: UnitSet) -> Any:
        found = [
            (common, restrict(part, common, value))
            for part, value in self.parts
            if (common := intersect(part, inner)) is not None
        ]
        return found[0][1] if len(found) == 1 else Mixed(found)
