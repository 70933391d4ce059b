"""Sets of units of one class, in the class's own coordinates: rectangles first, cells as the fallback.

A `Rectangle` is two ranges, so its members are slices of an array and cost nothing to select; `Cells` is an
explicit list, five times dearer per unit. Values that belong to a set are arrays of its `shape`: [rows, columns]
for a rectangle, [units, 1] for cells, and vectors put their length in the middle. Code that computes needs no
case distinction; only selecting does, and it is all here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..places import pieces, progression

Array: TypeAlias = npt.NDArray[Any]
Index: TypeAlias = tuple[Any, Any]
"""Selects rows and columns: two slices, or two arrays that broadcast against each other."""


class Rectangle:
    """The product of two non-empty ranges with positive steps; interned, so identity is equality."""

    __slots__ = ("columns", "count", "index", "located", "rows", "shape")

    def __init__(self, rows: range, columns: range):
        self.rows = rows
        self.columns = columns
        self.shape = (len(rows), len(columns))
        self.count = len(rows) * len(columns)
        self.index: Index = (
            slice(rows.start, rows[-1] + 1, rows.step),
            slice(columns.start, columns[-1] + 1, columns.step),
        )
        self.located: dict[Rectangle, Index] = {}
        """Where subsets are, see `locate`."""

    def __repr__(self) -> str:
        return f"Rectangle(rows={self.rows}, columns={self.columns})"

    def cells(self) -> tuple[Array, Array]:
        """Return row and column of every unit, each of the set's shape."""
        rows, columns = np.meshgrid(np.asarray(self.rows), np.asarray(self.columns), indexing="ij")
        return rows, columns


class Cells:
    """Any non-empty set of units, ordered by row, then column."""

    __slots__ = ("columns", "count", "index", "rows", "shape")

    def __init__(self, rows: Array, columns: Array):
        self.rows = rows
        self.columns = columns
        self.count = len(rows)
        self.shape = (self.count, 1)
        self.index: Index = (rows[:, None], columns[:, None])

    def __repr__(self) -> str:
        return f"Cells({self.count})"

    def cells(self) -> tuple[Array, Array]:
        """Return row and column of every unit, each of the set's shape."""
        return self.index


UnitSet: TypeAlias = Rectangle | Cells


@lru_cache(maxsize=65536)
def _interned(rows: range, columns: range) -> Rectangle:
    return Rectangle(rows, columns)


def _canonical(indices: range) -> range:
    return range(indices.start, indices.start + 1) if len(indices) == 1 else indices


def rectangle(rows: range, columns: range) -> Rectangle:
    """Return the rectangle of two non-empty ranges."""
    return _interned(_canonical(rows), _canonical(columns))


def cells(rows: Array, columns: Array) -> UnitSet:
    """Return the set of the given distinct units, as a rectangle where they form one."""
    order = np.lexsort((columns, rows))
    rows, columns = rows[order], columns[order]
    y, x = progression(np.unique(rows)), progression(np.unique(columns))
    if y is not None and x is not None and len(y) * len(x) == len(rows):
        return rectangle(y, x)
    return Cells(rows, columns)


def _compose(outer: range, inner: range) -> range:
    """Return the members of `outer` at the positions `inner`."""
    return outer[inner.start : inner[-1] + 1 : inner.step]


def from_mask(units: UnitSet, mask: Array) -> list[UnitSet]:
    """Return the units of a set where `mask` (of its shape) holds, as few sets."""
    if isinstance(units, Rectangle):
        found = pieces(mask)
        if found is not None:
            return [rectangle(_compose(units.rows, y), _compose(units.columns, x)) for y, x in found]
        rows, columns = np.nonzero(mask)
        return [Cells(np.asarray(units.rows)[rows], np.asarray(units.columns)[columns])]
    chosen = mask[:, 0]
    if not bool(chosen.any()):
        return []
    return [cells(units.rows[chosen], units.columns[chosen])]


def _common(a: range, b: range) -> range | None:
    """Return the common members of two ranges, None where they are none; raises ValueError for unequal steps."""
    if a.step != b.step:
        if len(a) == 1:
            return a if a.start in b else None
        if len(b) == 1:
            return b if b.start in a else None
        if a.step != 1 and b.step != 1:
            raise ValueError("steps differ")
        fine, coarse = (a, b) if a.step == 1 else (b, a)
        start = coarse.start
        if start < fine.start:
            start += -((start - fine.start) // coarse.step) * coarse.step
        common = range(start, min(coarse.stop, fine.stop), coarse.step)
        return common or None
    if (a.start - b.start) % a.step:
        return None
    common = range(max(a.start, b.start), min(a.stop, b.stop), a.step)
    return common or None


def _trim(indices: range) -> range:
    return range(indices.start, indices[-1] + 1, indices.step)


def intersect(a: UnitSet, b: UnitSet) -> UnitSet | None:
    """Return the units in both sets."""
    if a is b:
        return a
    if isinstance(a, Rectangle) and isinstance(b, Rectangle):
        try:
            rows, columns = _common(a.rows, b.rows), _common(a.columns, b.columns)
        except ValueError:
            pass
        else:
            if rows is None or columns is None:
                return None
            if rows == a.rows and columns == a.columns:
                return a
            if rows == b.rows and columns == b.columns:
                return b
            return rectangle(_trim(rows), _trim(columns))
    inside = contains(b, a)
    if bool(inside.all()):
        return a
    found = from_mask(a, inside)
    return union(found) if found else None


def contains(units: UnitSet, candidates: UnitSet) -> Array:
    """Return True if each unit of `candidates` is in `units`, bool of the shape of `candidates`."""
    rows, columns = candidates.cells()
    if isinstance(units, Rectangle):
        return _member(units.rows, rows) & _member(units.columns, columns)
    keys, wanted = position_keys(units.rows, units.columns), position_keys(rows, columns)
    position = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return keys[position] == wanted


def _member(indices: range, values: Array) -> Array:
    offset = values - indices.start
    return (offset >= 0) & (values < indices.stop) & (offset % indices.step == 0)


def position_keys(rows: Array, columns: Array) -> Array:
    """Return a number for each (row, column), in the order of `Cells`."""
    return (rows.astype(np.int64) << 32) | columns


def union(sets: Sequence[UnitSet]) -> UnitSet:
    """Return all units of disjoint sets as one set."""
    if len(sets) == 1:
        return sets[0]
    joined = _join_rectangles(sets)
    if joined is not None:
        return joined
    parts = [part.cells() for part in sets]
    return cells(
        np.concatenate([rows.ravel() for rows, _ in parts]), np.concatenate([columns.ravel() for _, columns in parts])
    )


def _join_rectangles(sets: Sequence[UnitSet]) -> Rectangle | None:
    """Return the bounding rectangle of dense disjoint rectangles that fill it."""
    total = 0
    top = left = 1 << 60
    bottom = right = -1
    for part in sets:
        if not isinstance(part, Rectangle) or part.rows.step != 1 or part.columns.step != 1:
            return None
        total += part.count
        top, bottom = min(top, part.rows.start), max(bottom, part.rows.stop)
        left, right = min(left, part.columns.start), max(right, part.columns.stop)
    if (bottom - top) * (right - left) != total:
        return None
    return rectangle(range(top, bottom), range(left, right))


def some(mask: Array) -> bool:
    """Return True if a mask holds anywhere. Much faster than `mask.any()` on the few units of a small grid."""
    return b"\x01" in mask.tobytes()


def every(mask: Array) -> bool:
    """Return True if a mask holds everywhere; see `some`."""
    return b"\x00" not in mask.tobytes()


def singles(units: UnitSet) -> list[Rectangle]:
    """Return every unit of a set as a set of its own."""
    rows, columns = units.cells()
    return [
        rectangle(range(y, y + 1), range(x, x + 1))
        for y, x in zip(rows.ravel().tolist(), columns.ravel().tolist(), strict=True)
    ]


def locate(outer: UnitSet, inner: UnitSet) -> Index:
    """Select a subset's values, of the subset's shape, out of an array of the outer set's shape."""
    if outer is inner:
        return (slice(None), slice(None))
    if isinstance(outer, Rectangle):
        if isinstance(inner, Rectangle):
            index = outer.located.get(inner)
            if index is None:
                index = (_relative(outer.rows, inner.rows), _relative(outer.columns, inner.columns))
                outer.located[inner] = index
            return index
        return (
            ((inner.rows - outer.rows.start) // outer.rows.step)[:, None],
            ((inner.columns - outer.columns.start) // outer.columns.step)[:, None],
        )
    rows, columns = inner.cells()
    position = np.searchsorted(position_keys(outer.rows, outer.columns), position_keys(rows, columns))
    return (position, np.zeros_like(position))


def _relative(outer: range, inner: range) -> slice:
    first, last = outer.index(inner[0]), outer.index(inner[-1])
    return slice(first, last + 1, 1 if len(inner) == 1 else (last - first) // (len(inner) - 1))


def select(outer: UnitSet, inner: UnitSet, value: Any) -> Any:
    """Return a value of the outer set restricted to a subset; a uniform value stays itself."""
    if outer is inner or type(value) is not np.ndarray:
        return value
    return value[locate(outer, inner)]


def assemble(units: UnitSet, parts: Iterable[tuple[UnitSet, Any]], dtype: npt.DTypeLike) -> Array:
    """Return an array of the set's shape put together from the values of disjoint subsets that cover it."""
    result = np.empty(units.shape, dtype)
    for part, value in parts:
        result[locate(units, part)] = value
    return result
