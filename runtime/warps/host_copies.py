"""Copies between arrays of the host and the memory of units, by exported names.

A host speaks of rectangles of the grid and of elements from the start of a symbol; here these become blocks of the
memory of each class. A symbol is a buffer, or what a pointer points to on each unit at the moment of the copy. The
time of a copy grows with the grid rows and the data, not with the units.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...diagnostics.errors import LoomError
from .streams import Buffer
from .units import Array, Rectangle

if TYPE_CHECKING:
    from .loader import Exported
    from .machine import Machine
    from .unit_class import UnitClass


@dataclass(frozen=True)
class Place:
    """Where a class of units has an exported symbol: in a buffer, or behind the pointer that the buffer holds."""

    cls: UnitClass
    buffer: Buffer
    is_pointer: bool = False


@dataclass(frozen=True)
class _Part:
    """The share of one class in a rectangle of the grid."""

    place: Place
    rows: slice
    columns: slice
    down: slice
    across: slice
    """Rows and columns of class memory, and of the host's array."""
    member: Array | None
    """Which of them are units of the class, [rows, columns]; None if all are."""

    @property
    def count(self) -> int:
        """Return the number of units of the class in the rectangle."""
        if self.member is not None:
            return int(np.count_nonzero(self.member))
        return (self.rows.stop - self.rows.start) * (self.columns.stop - self.columns.start)

    def of_host(self, values: Array) -> Array:
        """Return its units' share of the host's array [h, w, elements], as a view [rows, columns, elements]."""
        part = values[self.down, self.across]
        return part.swapaxes(0, 1) if self.place.cls.placement.transposed else part

    def address(self) -> Any:
        """Return the byte address of the symbol: a number, or [rows, columns] where the pointers differ."""
        buffer = self.place.buffer
        if not self.place.is_pointer:
            return 2 * buffer.address
        memory = self.place.cls.memory
        shape = (self.rows.stop - self.rows.start, self.columns.stop - self.columns.start, 1)
        pointers = np.empty(shape, np.uint16)
        memory.read_block(self.rows, self.columns, 2 * buffer.address, pointers)
        addresses = pointers[:, :, 0].astype(np.int64)
        if self.member is not None:
            # What is between the units is nobody's memory.
            addresses = np.where(self.member, addresses, addresses[self.member][0])
        first = int(addresses[0, 0])
        return first if bool((addresses == first).all()) else addresses


def write(parts: Sequence[_Part], name: str, raw: Array) -> None:
    """Write unsigned words [h, w, elements] to the parts of their region."""
    for part in parts:
        address = part.address()
        memory = part.place.cls.memory
        end = address + _bytes(raw)
        limit = 2 * part.place.cls.words_in_use
        if np.any(end > limit):
            raise LoomError(
                f"a copy of {raw.shape[2]} elements to '{name}' ends at byte {int(np.max(end)) - 1} of memory on "
                f"{_first(part, end > limit)}, where bytes 0 to {limit - 1} are in use; copy fewer"
            )
        memory.write_block(part.rows, part.columns, address, part.of_host(raw))


def read(parts: Sequence[_Part], name: str, raw: Array) -> None:
    """Read the parts of a region into its unsigned words [h, w, elements], zeros at first."""
    for part in parts:
        address = part.address()
        target = part.of_host(raw)
        end = address + _bytes(raw)
        limit = part.place.cls.machine.target.memory_bytes
        if np.any(end > limit):
            raise LoomError(
                f"a copy of {raw.shape[2]} elements of '{name}' ends at byte {int(np.max(end)) - 1} of memory on "
                f"{_first(part, end > limit)}, which has {limit} bytes; copy fewer"
            )
        if part.member is None:
            _read_part(part, address, target)
        else:
            copied = np.zeros(target.shape, raw.dtype)
            _read_part(part, address, copied)
            target[part.member] = copied[part.member]


def _read_part(part: _Part, address: Any, target: Array) -> None:
    """Read the memory in use; what is beyond stays zero."""
    memory = part.place.cls.memory
    count = target.shape[2]
    available = np.clip((2 * memory.words - address) // target.dtype.itemsize, 0, count)
    if type(address) is not np.ndarray or int(available.min()) == count:
        memory.read_block(part.rows, part.columns, address, target[:, :, : int(np.min(available))])
        return
    for row, column in np.ndindex(*address.shape):
        rows = slice(part.rows.start + row, part.rows.start + row + 1)
        columns = slice(part.columns.start + column, part.columns.start + column + 1)
        unit = target[row : row + 1, column : column + 1, : int(available[row, column])]
        memory.read_block(rows, columns, int(address[row, column]), unit)


def _bytes(raw: Array) -> int:
    """Return the bytes of memory that a copy takes on a unit."""
    return raw.shape[2] * raw.dtype.itemsize


def whole_shape(exported: Exported) -> tuple[int, ...]:
    """Return the shape of a symbol on one PE. Raises LoomError if its extent is open."""
    if any(extent < 0 for extent in exported.shape):
        raise LoomError(
            f"'{exported.name}' points to an array of unknown length; copy a region with a count of elements"
        )
    return exported.shape


def parts_of(exported: Exported, region: tuple[int, int, int, int]) -> list[_Part]:
    """Return the shares of the classes in a region (x, y, w, h) of the grid."""
    return list(_shares(exported.places, region))


def all_parts_of(machine: Machine, exported: Exported, region: tuple[int, int, int, int]) -> list[_Part]:
    """Return `parts_of` the region. Raises LoomError if it leaves the grid, or the symbol is not on all of it."""
    x, y, w, h = region
    name = exported.name
    if x < 0 or y < 0 or w < 1 or h < 1 or x + w > machine.width or y + h > machine.height:
        raise LoomError(
            f"a copy of '{name}' on {w} x {h} PEs from ({x}, {y}) leaves the grid of {machine.width} x "
            f"{machine.height}; correct the region"
        )
    parts = parts_of(exported, region)
    if sum(part.count for part in parts) != w * h:
        covered = np.zeros((h, w, 1), np.bool_)
        for part in parts:
            share = part.of_host(covered)[:, :, 0]
            share |= True if part.member is None else part.member
        row, column, _ = np.argwhere(~covered)[0].tolist()
        raise LoomError(f"PE ({x + column}, {y + row}) has no symbol '{name}'; copy a region where every PE exports it")
    return parts


def _shares(places: Sequence[Place], region: tuple[int, int, int, int]) -> Iterator[_Part]:
    x, y, w, h = region
    for place in places:
        placement = place.cls.placement
        across, columns = _cut(placement.across, x, w)
        down, rows = _cut(placement.down, y, h)
        if columns.start == columns.stop or rows.start == rows.stop:
            continue
        if placement.transposed:
            rows, columns = columns, rows
        member = None
        if not isinstance(place.cls.units, Rectangle):
            inside = np.zeros(place.cls.shape, np.bool_)
            inside[place.cls.units.index] = True
            member = inside[rows, columns]
            if not member.any():
                continue
        yield _Part(place, rows, columns, down, across, member)


def _cut(indices: range, start: int, count: int) -> tuple[slice, slice]:
    """Return which of `start`..`start + count` are in `indices`: as a slice of those, and of the indices."""
    first = max(0, -((indices.start - start) // indices.step)) if start > indices.start else 0
    last = max(first, min(len(indices), -((indices.start - start - count) // indices.step)))
    if first >= last:
        return slice(0, 0), slice(0, 0)
    chosen = indices[first:last]
    return slice(chosen[0] - start, chosen[-1] - start + 1, indices.step), slice(first, last)


def _first(part: _Part, wrong: Any) -> str:
    """Return the first PE where something is wrong, in words."""
    shape = (part.rows.stop - part.rows.start, part.columns.stop - part.columns.start)
    row, column = np.argwhere(np.broadcast_to(wrong, shape))[0].tolist()
    x, y = part.place.cls.grid_position(part.rows.start + row, part.columns.start + column)
    return f"PE ({x}, {y})"
