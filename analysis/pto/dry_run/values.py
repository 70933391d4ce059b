"""Values of a dry run: pointers, views of arrays, tiles, and regions of memory; unknown numbers are None."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from ....diagnostics.records import record
from ....dialects.pto.attributes import AddressSpace
from ....dialects.pto.types import TileBufType, element_bytes
from ....targets.chip import BOX_ROWS
from ..local_memory import tile_strides

PACKED = 1
"""The `compact` mode in which a tile has the pitch of its valid rows."""


def whole_boxes(rows: int) -> int:
    """Return a number of rows rounded up to whole boxes."""
    return -(-rows // BOX_ROWS) * BOX_ROWS


class Pointer(NamedTuple):
    """An address in an array: its name, and an offset in bytes."""

    array: str
    offset: int | None


class Region(NamedTuple):
    """Elements of `size` bytes from byte `start` on: an extent and a stride in bytes of each dimension."""

    start: int
    dimensions: tuple[tuple[int, int], ...]
    size: int

    @property
    def low(self) -> int:
        """The first byte."""
        return self.start + sum((extent - 1) * stride for extent, stride in self.dimensions if stride < 0)

    @property
    def high(self) -> int:
        """The byte behind the last."""
        return self.start + self.size + sum((extent - 1) * stride for extent, stride in self.dimensions if stride > 0)

    @property
    def is_empty(self) -> bool:
        """True if there are no elements."""
        return any(extent <= 0 for extent, _ in self.dimensions)

    @property
    def bytes(self) -> int:
        """The bytes of all elements."""
        return self.size * prod(extent for extent, _ in self.dimensions)

    def rows(self) -> list[tuple[int, int]]:
        """Return the contiguous pieces, as first byte and the one behind the last, in ascending order."""
        pieces = [(self.start, self.start + self.size)]
        for extent, stride in sorted(self.dimensions, key=lambda dimension: abs(dimension[1])):
            length = pieces[0][1] - pieces[0][0]
            if len(pieces) == 1 and stride == length:
                pieces = [(pieces[0][0], pieces[0][0] + extent * length)]
            else:
                pieces = [(a + k * stride, b + k * stride) for k in range(extent) for a, b in pieces]
        return sorted(pieces)


def overlap(left: Region, right: Region) -> int | None:
    """Return the first byte that is in both of two regions; None if there is none."""
    if left.low >= right.high or right.low >= left.high:
        return None
    first, second = left.rows(), right.rows()
    i = j = 0
    while i < len(first) and j < len(second):
        start, end = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if start < end:
            return start
        if first[i][1] <= second[j][1]:
            i += 1
        else:
            j += 1
    return None


@record
class View:
    """A tensor in an array: strides count elements, outermost dimension first."""

    array: str
    offset: int | None
    extents: tuple[int | None, ...]
    strides: tuple[int | None, ...]
    size: int
    shape: tuple[int | None, ...] = ()
    """The extents of the whole tensor that it is a part of."""

    def region(self) -> Region | None:
        """Return its bytes; None if a number is unknown."""
        numbers = (self.offset, *self.extents, *self.strides)
        if any(number is None for number in numbers):
            return None
        offset, extents, strides = self.offset, self.extents, self.strides
        dimensions = tuple(
            (extent, stride * self.size)
            for extent, stride in zip(extents, strides, strict=True)
            if extent is not None and stride is not None and extent != 1
        )
        return Region(offset or 0, dimensions, self.size)

    def part(self, offsets: Sequence[int | None], extents: Sequence[int | None]) -> View:
        """Return a part of the tensor."""
        moved = self.offset
        for offset, stride in zip(offsets, self.strides[-len(offsets) :], strict=True):
            if moved is None or offset is None or stride is None:
                moved = None
                break
            moved += offset * stride * self.size
        return View(self.array, moved, tuple(extents), self.strides[-len(extents) :], self.size, self.extents)


@dataclass
class Tile:
    """A tile in a memory of its core: its address in bytes, and its valid rows and columns."""

    type: TileBufType
    address: int | None
    valid: tuple[int | None, int | None]
    strides: tuple[int, int]
    entry: tuple[str, int] | None = None
    """The channel and number of the entry it is bound to."""
    rows: int = 0
    """The rows of the tile that it is, or is a part of."""
    origin: object = None
    """The same object for all parts of one tile, another for each time that one is allocated; None for entries."""

    @staticmethod
    def of(kind: TileBufType, address: int | None, valid: tuple[int | None, int | None], origin: object = None) -> Tile:
        """Return a tile of a type at an address."""
        return Tile(kind, address, valid, tile_strides(kind), rows=kind.rows, origin=origin)

    @property
    def pitch(self) -> int | None:
        """The rows by which columns of boxes are apart in the accumulator: of valid boxes if it is packed."""
        if self.type.compact.data != PACKED:
            return self.rows
        return None if self.valid[0] is None else whole_boxes(self.valid[0])

    @property
    def space(self) -> AddressSpace:
        return self.type.location

    @property
    def size(self) -> int:
        """The bytes of an element."""
        return element_bytes(self.type.element_type) or 1

    @property
    def is_empty(self) -> bool:
        """True if no element is valid."""
        return 0 in self.valid

    def region(self) -> Region | None:
        """Return the bytes of its valid part; None if a number is unknown."""
        rows, columns = self.valid
        if self.address is None or rows is None or columns is None:
            return None
        dimensions = tuple(
            (extent, stride * self.size)
            for extent, stride in zip((rows, columns), self.strides, strict=True)
            if extent != 1
        )
        return Region(self.address, dimensions, self.size)
