"""Tiles: strided walks over byte-addressed memories, and their elements as numpy views over many units at once.

A view of several units is [rows, columns, *extents] of the set, one of a single unit is [*extents]; writing to it
writes to memory. Where extents differ from unit to unit, or addresses are irregular, there is no view of all units:
then the set is taken apart. Nothing here knows what is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects import builtin
from xdsl.dialects.builtin import IntegerType, Signedness
from xdsl.ir import Attribute

from ...diagnostics.errors import LoomError
from ...operations import scalar_types
from .units import Array, Rectangle, UnitSet, assemble, from_mask, locate, singles

if TYPE_CHECKING:
    from .channels import Channel
    from .unit_class import UnitClass

_FLOATS: tuple[type[Attribute], ...] = (
    builtin.Float64Type, builtin.Float32Type, builtin.Float16Type, builtin.BFloat16Type, builtin.Float8E4M3FNType,
    builtin.Float8E5M2Type,
)  # fmt: skip


def element_dtype(type: Attribute) -> np.dtype[Any] | None:
    """Return the numpy type of the elements of a tile; None for a type that numpy does not have."""
    if isinstance(type, IntegerType):
        if type.bitwidth not in (8, 16, 32, 64):
            return None
        unsigned = type == IntegerType(type.bitwidth, Signedness.UNSIGNED)
        return scalar_types.numpy_type(f"{'u' if unsigned else 'i'}{type.bitwidth}")
    return scalar_types.numpy_type(type.name) if isinstance(type, _FLOATS) else None


BETWEEN_ARRAYS = 1 << 16
"""Bytes left free behind an array, so that an access beyond its end is reported and does not reach the next."""


class Space:
    """A byte-addressed memory of the units of a class, `size` bytes each, or one that all units share."""

    def __init__(self, name: str, size: int, shape: tuple[int, int] | None):
        self.name = name
        self.size = size
        self.shape = shape
        """Rows and columns of the class; None for a memory that is shared."""
        units = 1 if shape is None else shape[0] * shape[1]
        self.bytes: Array = np.zeros(units * size, np.uint8)
        self.arrays: list[tuple[int, int, str]] = []
        """What the host has put into a shared memory: first byte, the one behind the last, and a name."""
        self.row_pitch = 0 if shape is None else shape[1] * size
        self.column_pitch = 0 if shape is None else size

    def extend(self, count: int, name: str = "", alignment: int = 512) -> int:
        """Extend a shared memory by an array of `count` zero bytes and return its address.

        Tiles must not reach beyond the array; `name` is its name in errors. Views made before are of the old memory.
        """
        before = self.size + BETWEEN_ARRAYS if self.arrays else self.size
        address = -(-before // alignment) * alignment
        self.arrays.append((address, address + count, name))
        self.bytes = np.concatenate([self.bytes, np.zeros(address + count - self.size, np.uint8)])
        self.size = address + count
        return address

    def fetch(self, address: int, count: int, dtype: np.dtype[Any]) -> Array:
        """Return `count` elements of a shared memory, as a view."""
        return self.bytes[address : address + count * dtype.itemsize].view(dtype)


Number = Any
"""An integer for all units of a set, or an array of its shape."""


class Walk:
    """Where the elements of a tile are: the same for every entry of a channel that uses the slot again."""

    __slots__ = ("address", "dtype", "extents", "lane", "owner", "space", "strides", "views")

    def __init__(
        self,
        space: Space,
        dtype: np.dtype[Any],
        address: Number,
        extents: tuple[Number, ...],
        strides: tuple[Number, ...],
        owner: UnitClass | None = None,
        lane: Number = 0,
    ):
        self.space = space
        self.dtype = dtype
        self.address = address
        self.extents = extents
        self.strides = strides
        self.owner = owner
        """The class whose memory it is, if it is not that of the unit's own."""
        self.lane = lane
        """The column of the owner."""
        self.views: dict[UnitSet, Array] = {}

    def numbers(self) -> tuple[Number, ...]:
        return (self.address, self.lane, *self.extents, *self.strides)

    def with_numbers(self, numbers: Sequence[Number]) -> Walk:
        rank = len(self.extents)
        return Walk(
            self.space, self.dtype, numbers[0], tuple(numbers[2 : 2 + rank]), tuple(numbers[2 + rank :]), self.owner,
            numbers[1],
        )  # fmt: skip

    def shapes_differ(self) -> list[Array]:
        """Return the extents, strides and lanes that are not the same for all units."""
        return [n for n in (self.lane, *self.extents, *self.strides) if type(n) is np.ndarray]

    def bytes(self) -> int:
        """Return the bytes from the first to behind the last; the most, where units differ."""
        steps = (np.max((extent - 1) * stride) for extent, stride in zip(self.extents, self.strides, strict=True))
        return (int(sum(steps)) + 1) * self.dtype.itemsize

    def end(self) -> int:
        """Return the byte behind the last, where the address is one number."""
        return self.address + self.bytes()

    def view(self, units: UnitSet, where: str | None) -> Array | None:
        """Return the elements for some units; None if they have no common view. Raises LoomError outside the memory."""
        found = self.views.get(units)
        if found is None:
            found = self._view(units, where)
            if found is not None and len(self.views) < 64:
                self.views[units] = found
        return found

    def _view(self, units: UnitSet, where: str | None) -> Array | None:
        if type(units) is not Rectangle or self.shapes_differ():
            return None
        space, itemsize = self.space, self.dtype.itemsize
        rows, columns = units.rows, units.columns
        if any(extent < 0 for extent in self.extents):
            shape = " x ".join(map(str, self.extents))
            raise LoomError(f"a tile cannot have {shape} elements; check its valid rows and columns", where)
        reaches = [(extent - 1) * stride for extent, stride in zip(self.extents, self.strides, strict=True)]
        if 0 in self.extents:
            return np.empty((*(units.shape if units.count > 1 else ()), *self.extents), self.dtype)
        down = across = 0
        address = self.address
        if type(address) is np.ndarray:
            first = int(address[0, 0])
            down = int(address[1, 0]) - first if len(rows) > 1 else 0
            across = int(address[0, 1]) - first if len(columns) > 1 else 0
            grid = first + down * np.arange(len(rows))[:, None] + across * np.arange(len(columns))[None, :]
            if not (address == grid).all():
                return None
            low, high = int(address.min()), int(address.max())
            address = first
        else:
            low = high = address
        # Strides may be negative: then the first element is not the lowest.
        low += itemsize * sum(reach for reach in reaches if reach < 0)
        end = high + itemsize * (1 + sum(reach for reach in reaches if reach > 0))
        if low < 0 or end > space.size or space.arrays:
            self._guard(low, end, where)
        if self.owner is not None:
            column, column_step = int(self.lane), 0
        else:
            column, column_step = columns.start, columns.step
        offset = rows.start * space.row_pitch + column * space.column_pitch + address
        inner = tuple(stride * itemsize for stride in self.strides)
        if units.count == 1:
            return np.ndarray(self.extents, self.dtype, space.bytes.data, offset, inner)
        outer = (rows.step * space.row_pitch + down, column_step * space.column_pitch + across)
        return np.ndarray((*units.shape, *self.extents), self.dtype, space.bytes.data, offset, (*outer, *inner))

    def _guard(self, low: int, end: int, where: str | None) -> None:
        """Raise LoomError for a tile whose bytes from `low` to `end` are not in its memory, or not in one array."""
        space = self.space
        shape = " x ".join(map(str, self.extents))
        first, last, name = next((array for array in reversed(space.arrays) if array[0] <= low), (0, space.size, ""))
        if name and end > last:
            raise LoomError(
                f"a tile of {shape} elements at byte {low - first} of '{name}' ends {end - last} bytes beyond the "
                f"array, which has {last - first}; check the shape of the tile, or give a larger array",
                where,
            )
        if low < 0 or end > space.size:
            raise LoomError(
                f"a tile of {shape} elements at byte {low} reaches outside memory @{space.name}, which has "
                f"{space.size} bytes; check its address and its shape",
                where,
            )


class Tile:
    """A walk as a value of a warp, and the entry of a channel it belongs to."""

    __slots__ = ("channel", "count", "number", "role", "walk")

    def __init__(self, walk: Walk, channel: Channel | None = None, number: Number = 0, role: str = "", count: int = 0):
        self.walk = walk
        self.channel = channel
        self.number = number
        self.role = role
        self.count = count
        """Slots its place is one of."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Tile)
            and self.walk is other.walk
            and self.channel is other.channel
            and type(self.number) is int
            and self.number == other.number
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def restrict(self, outer: UnitSet, inner: UnitSet) -> Tile:
        """Return the tile for a subset of the units."""
        if not any(type(n) is np.ndarray for n in (*self.walk.numbers(), self.number)):
            return self
        index = locate(outer, inner)
        walk = self.walk.with_numbers([_share(n, index, inner) for n in self.walk.numbers()])
        return Tile(walk, self.channel, _share(self.number, index, inner), self.role, self.count)

    def merge(self, units: UnitSet, parts: list[tuple[UnitSet, Tile]]) -> Tile:
        """Merge the tiles of the parts of a set, which are walks over one memory, into one."""
        first = parts[0][1]
        if any(part.walk.space is not first.walk.space for _, part in parts):
            raise LoomError("a tile is in different memories on different units; use one memory")
        columns = zip(*((*part.walk.numbers(), part.number) for _, part in parts), strict=True)
        sets = [units for units, _ in parts]
        *numbers, number = (_combine(units, sets, column) for column in columns)
        return Tile(first.walk.with_numbers(numbers), first.channel, number, first.role, first.count)


def _share(number: Number, index: Any, inner: UnitSet) -> Number:
    if type(number) is not np.ndarray:
        return number
    share = number[index]
    return int(share.ravel()[0]) if inner.count == 1 else _uniform(share)


def _uniform(values: Array) -> Number:
    first = values.ravel()[0]
    return int(first) if (values == first).all() else values


def _combine(units: UnitSet, sets: list[UnitSet], values: Sequence[Number]) -> Number:
    first = values[0]
    if all(type(value) is int for value in values) and len(set(values)) == 1:
        return first
    return assemble(units, list(zip(sets, values, strict=True)), np.int64)


def pieces(units: UnitSet, tiles: Sequence[Tile]) -> Iterator[UnitSet]:
    """Yield parts of the units in which every tile has one shape; single units where addresses are irregular."""
    if type(units) is Rectangle:
        differing = [numbers for tile in tiles for numbers in tile.walk.shapes_differ()]
        if differing:
            stacked = np.stack([np.broadcast_to(numbers, units.shape) for numbers in differing], axis=-1)
            _, labels = np.unique(stacked.reshape(-1, len(differing)), axis=0, return_inverse=True)
            labels = labels.reshape(units.shape)
            if labels.max() > 0:
                for label in range(int(labels.max()) + 1):
                    yield from from_mask(units, labels == label)
                return
            yield units  # all alike after all: the arrays become numbers when the tiles are restricted
            return
    yield from singles(units)
