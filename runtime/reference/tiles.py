"""Tiles: strided walks over byte-addressed memories, and their elements as numpy views, which write to memory."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ...operations.scalar_types import numpy_type
from ..chips.records import MAX_TILE_ELEMENTS, Code
from ..places import Array
from ..tables.format import NONE, TILE_DIMENSIONS
from ..tables.instructions import ELEMENTS, ROLES, TILE_ELEMENTS

if TYPE_CHECKING:
    from .cores import Core

TYPES = tuple(numpy_type(name) for name in ELEMENTS[:TILE_ELEMENTS])
"""numpy's type of each element of a tile, by number."""


@dataclass(frozen=True, slots=True)
class Tile:
    """A walk over a memory, from a byte address on, strides in elements, outermost dimension first."""

    row: Any
    """Its row of the tables."""
    address: int
    lane: int
    """The column of the class whose memory it is, if that is not the core's own."""
    number: int
    """The entry of the channel it belongs to; below 0 for none."""
    extents: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def dtype(self) -> np.dtype[Any]:
        """numpy's type of its elements."""
        number: int = self.row.element
        return TYPES[number]

    @property
    def channel(self) -> int | None:
        """The channel whose entry it is, if it is one."""
        channel: int = self.row.channel
        return None if channel == NONE or self.number < 0 else channel

    @property
    def role(self) -> str:
        """What it is to its entry."""
        number: int = self.row.role
        return ROLES[number]

    @property
    def bytes(self) -> int:
        """The bytes from the first to behind the last, if strides are not negative."""
        reach = sum((extent - 1) * stride for extent, stride in zip(self.extents, self.strides, strict=True))
        return (reach + 1) * self.dtype.itemsize


def make(row: Any, numbers: list[int]) -> Tile:
    """Return the tile of a row with the numbers that its registers hold."""
    given = iter(numbers)
    address = next(given)
    lane = 0 if row.owner == NONE else next(given)
    number = -1 if row.channel == NONE else next(given)
    extents = tuple(next(given) if row.open >> k & 1 else row.extents[k] for k in range(row.rank))
    strides = tuple(next(given) if row.open >> TILE_DIMENSIONS + k & 1 else row.strides[k] for k in range(row.rank))
    if number >= 0:
        address += number % row.slot_count * row.slot_size
    return Tile(row, address, lane, number, extents, strides)


def view(core: Core, tile: Tile) -> Array:
    """Return the elements of a tile of a core; an error outside the memory ends the run."""
    if any(extent < 0 for extent in tile.extents):
        core.fail(Code.TILE_NEGATIVE, len(tile.extents), *tile.extents)
    if 0 in tile.extents:
        return np.empty(tile.extents, tile.dtype)
    if prod(tile.extents) > MAX_TILE_ELEMENTS:
        core.fail(Code.TILE_TOO_LARGE, len(tile.extents), *tile.extents)
    first = _first_byte(core, tile)
    itemsize = tile.dtype.itemsize
    reaches = [(extent - 1) * stride for extent, stride in zip(tile.extents, tile.strides, strict=True)]
    # Strides may be negative: then the first element is not the lowest.
    low = tile.address + itemsize * sum(reach for reach in reaches if reach < 0)
    end = tile.address + itemsize * (1 + sum(reach for reach in reaches if reach > 0))
    _guard(core, tile, low, end)
    number: int = tile.row.space
    memory = core.row.machine.spaces.bytes[number]
    strides = tuple(
        stride * itemsize if extent > 1 else 0 for extent, stride in zip(tile.extents, tile.strides, strict=True)
    )
    return np.ndarray(tile.extents, tile.dtype, memory.data, first + tile.address, strides)


def _first_byte(core: Core, tile: Tile) -> int:
    """Return where the memory that a tile is in begins among the bytes of its space."""
    machine = core.row.machine
    space = machine.program["spaces"][tile.row.space]
    if space.owner == NONE:
        return 0
    unit = core.unit
    if tile.row.owner != NONE:
        columns = np.flatnonzero(machine.chip.class_of[core.row.y] == tile.row.owner)
        if not 0 <= tile.lane < len(columns):
            core.fail(Code.LANE_OUTSIDE, tile.row.owner, tile.lane)
        unit = core.row.y * machine.chip.width + int(columns[tile.lane])
    return int(machine.chip.ordinal.ravel()[unit]) * space.size


def _guard(core: Core, tile: Tile, low: int, end: int) -> None:
    """Find a tile whose bytes from `low` to `end` are not in its memory, or not in one array."""
    spaces = core.row.machine.spaces
    space: int = tile.row.space
    shape = (len(tile.extents), *tile.extents)
    arrays = spaces.arrays[space]
    inside = next((place for place in reversed(range(len(arrays))) if arrays[place][0] <= low), None)
    if inside is not None and end > arrays[inside][1] and arrays[inside][2]:
        core.fail(Code.TILE_BEYOND_ARRAY, *shape, space, low, inside, end)
    if low < 0 or end > spaces.size(space):
        core.fail(Code.TILE_OUTSIDE, *shape, space, low)
