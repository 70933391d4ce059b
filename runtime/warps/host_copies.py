"""Copies between arrays of the host and the memory of units: regions of the grid become blocks of each class's memory.

The time of a copy grows with the grid rows and the data, not with the units, where all units have the same address.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..places import Region
from .units import Array, Rectangle

if TYPE_CHECKING:
    from .unit_class import UnitClass


@dataclass(frozen=True)
class _Part:
    """The share of one class in a region of the grid."""

    cls: UnitClass
    rows: slice
    columns: slice
    down: slice
    across: slice
    """Rows and columns of class memory, and of the host's array."""
    address: int | Array
    """A byte address, or [rows, columns] of them where they differ."""
    member: Array | None
    """Which of them are units that take part, [rows, columns]; None if all are."""

    def of_host(self, values: Array) -> Array:
        """Return its units' share of the host's array [h, w, elements], as a view [rows, columns, elements]."""
        part = values[self.down, self.across]
        return part.swapaxes(0, 1) if self.cls.placement.transposed else part


def write_region(classes: Sequence[UnitClass], region: Region, address: int | Array, values: Array) -> None:
    """Write unsigned elements [h, w, elements] from byte addresses on; see `Executor.write`."""
    for part in _parts(classes, region, address):
        memory, mine = part.cls.memory, part.of_host(values)
        if part.member is None:
            memory.write_block(part.rows, part.columns, part.address, mine)
            continue
        kept = np.zeros(mine.shape, mine.dtype)
        memory.read_block(part.rows, part.columns, part.address, kept)
        kept[part.member] = mine[part.member]
        memory.write_block(part.rows, part.columns, part.address, kept)


def read_region(classes: Sequence[UnitClass], region: Region, address: int | Array, values: Array) -> None:
    """Read unsigned elements [h, w, elements] from byte addresses on; see `Executor.read`."""
    for part in _parts(classes, region, address):
        target = part.of_host(values)
        if part.member is None:
            _read_part(part, target)
        else:
            copied = np.zeros(target.shape, target.dtype)
            _read_part(part, copied)
            target[part.member] = copied[part.member]


def _read_part(part: _Part, target: Array) -> None:
    """Read the memory in use; what is beyond is 0."""
    memory, address = part.cls.memory, part.address
    count = target.shape[2]
    available: Any = np.clip((2 * memory.words - address) // target.dtype.itemsize, 0, count)
    if type(address) is not np.ndarray or int(available.min()) == count:
        present = int(np.min(available))
        memory.read_block(part.rows, part.columns, address, target[:, :, :present])
        target[:, :, present:] = 0
        return
    target[...] = 0
    for row, column in np.ndindex(*address.shape):
        rows = slice(part.rows.start + row, part.rows.start + row + 1)
        columns = slice(part.columns.start + column, part.columns.start + column + 1)
        unit = target[row : row + 1, column : column + 1, : int(available[row, column])]
        memory.read_block(rows, columns, int(address[row, column]), unit)


def _parts(classes: Sequence[UnitClass], region: Region, address: int | Array) -> Iterator[_Part]:
    x, y, w, h = region
    for cls in classes:
        placement = cls.placement
        across, columns = _cut(placement.across, x, w)
        down, rows = _cut(placement.down, y, h)
        if columns.start == columns.stop or rows.start == rows.stop:
            continue
        if placement.transposed:
            rows, columns = columns, rows
        member = None
        if not isinstance(cls.units, Rectangle):
            inside = np.zeros(cls.shape, np.bool_)
            inside[cls.units.index] = True
            member = inside[rows, columns]
        mine: int | Array = address
        if isinstance(address, np.ndarray):
            mine = address[down, across]
            mine = mine.T if placement.transposed else mine
            chosen = mine >= 0
            if not chosen.all():
                member = chosen if member is None else member & chosen
            if member is not None and member.any():
                # What is between the units is nobody's memory.
                mine = np.where(member, mine, mine[member][0])
            first = int(mine[0, 0])
            mine = first if bool((mine == first).all()) else mine
        if member is None or member.any():
            yield _Part(cls, rows, columns, down, across, mine, member)


def _cut(indices: range, start: int, count: int) -> tuple[slice, slice]:
    """Return which of `start`..`start + count` are in `indices`: as a slice of those, and of the indices."""
    first = max(0, -((indices.start - start) // indices.step)) if start > indices.start else 0
    last = max(first, min(len(indices), -((indices.start - start - count) // indices.step)))
    if first >= last:
        return slice(0, 0), slice(0, 0)
    chosen = indices[first:last]
    return slice(chosen[0] - start, chosen[-1] - start + 1, indices.step), slice(first, last)
