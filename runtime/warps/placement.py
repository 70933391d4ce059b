"""Placement of the units of a class: grid coordinates and the class's own coordinates.

A class covers ranges of grid columns and rows. Its own coordinates are dense, and transposed where the class is tall
and narrow: vectors of units run along class columns, and a column one or two units wide would leave numpy loops of
that length. Everything that crosses between the two worlds goes through here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...diagnostics.errors import LoomError
from ...dialects.machine.region import indices_text
from .units import Array, Cells, Rectangle, UnitSet, cells, rectangle

NARROW = 64
"""A class fewer units wide than this is transposed if it is taller than wide."""


class Placement:
    """Ranges of grid columns (`across`) and rows (`down`), and the units among them in class coordinates.

    `upright` classes are never transposed. Raises LoomError if the regions, given as (columns, rows), select no unit of
    the grid.
    """

    def __init__(
        self,
        name: str,
        regions: Sequence[tuple[range, range]],
        width: int,
        height: int,
        where: str | None,
        *,
        upright: bool = False,
    ):
        self.width = width
        self.height = height
        regions = [(columns, rows) for columns, rows in regions if columns and rows]
        if not regions:
            raise LoomError(
                f"units @{name} contain no PE of the grid, which has {indices_text(width, height)}; correct their "
                "region or remove them", where,
            )  # fmt: skip
        whole: UnitSet
        if len(regions) == 1:
            columns, rows = regions[0]
            whole = rectangle(rows, columns)
        else:
            mask = np.zeros((height, width), np.bool_)
            for columns, rows in regions:
                mask[rectangle(rows, columns).index] = True
            whole = cells(*np.nonzero(mask))
        if isinstance(whole, Rectangle):
            self.down, self.across = whole.rows, whole.columns
        else:
            self.down = range(int(whole.rows.min()), int(whole.rows.max()) + 1)
            self.across = range(int(whole.columns.min()), int(whole.columns.max()) + 1)
        self._index = rectangle(self.down, self.across).index
        self.transposed = not upright and len(self.across) < NARROW and len(self.across) < len(self.down)
        self.shape = (len(self.across), len(self.down)) if self.transposed else (len(self.down), len(self.across))
        self.units: UnitSet = rectangle(range(self.shape[0]), range(self.shape[1]))
        if not isinstance(whole, Rectangle):
            inside = self.local(np.stack(whole.cells(), axis=-1).reshape(-1, 2))
            self.units = cells(inside[:, 0], inside[:, 1])

    def from_grid(self, values: Array) -> Array:
        """Return the class's share, [rows, columns, ...], of values [grid rows, grid columns, ...]; a view."""
        part = values[self._index]
        return part.swapaxes(0, 1) if self.transposed else part

    def on_grid(self, member: Array) -> Array:
        """Return a mask [rows, columns] of the class as one of the grid, false outside the class's units."""
        here = np.zeros(self.shape, np.bool_)
        here[self.units.index] = True
        mask = np.zeros((self.height, self.width), np.bool_)
        here &= member
        mask[self._index] = here.T if self.transposed else here
        return mask

    def places(self, units: UnitSet) -> Array:
        """Return the places [n, (x, y)] in the grid of units of the class, by rows of the grid."""
        rows, columns = (np.broadcast_to(values, units.shape).ravel() for values in units.cells())
        if self.transposed:
            rows, columns = columns, rows
        order = np.lexsort((columns, rows)) if self.transposed else slice(None)
        return np.stack(
            [
                self.across.start + columns[order] * self.across.step,
                self.down.start + rows[order] * self.down.step,
            ],
            axis=1,
        )

    def local(self, points: Array) -> Array:
        """Return grid points [n, 2] (row, column) in class coordinates."""
        down = (points[:, 0] - self.down.start) // self.down.step
        across = (points[:, 1] - self.across.start) // self.across.step
        return np.stack([across, down] if self.transposed else [down, across], 1)

    def to_grid(self, units: UnitSet, payload: Array, first: Any) -> tuple[UnitSet, Array, Any]:
        """Return units of the class in grid coordinates, with their wavelets [rows, count, columns] and a number or an
        array [rows, columns]."""
        if isinstance(units, Rectangle):
            rows, columns = (units.columns, units.rows) if self.transposed else (units.rows, units.columns)
            places = rectangle(_compose(self.down, rows), _compose(self.across, columns))
            return (places, *self._turned(payload, first))
        rows, columns = (units.columns, units.rows) if self.transposed else (units.rows, units.columns)
        return self._sorted(
            self.down.start + rows * self.down.step, self.across.start + columns * self.across.step, payload, first
        )

    def to_class(self, places: UnitSet, payload: Array, first: Any) -> tuple[UnitSet, Array, Any]:
        """Return the inverse of `to_grid`, for places of units of the class."""
        if isinstance(places, Rectangle):
            rows, columns = _positions(self.down, places.rows), _positions(self.across, places.columns)
            units = rectangle(columns, rows) if self.transposed else rectangle(rows, columns)
            return (units, *self._turned(payload, first))
        rows = (places.rows - self.down.start) // self.down.step
        columns = (places.columns - self.across.start) // self.across.step
        return (
            self._sorted(columns, rows, payload, first)
            if self.transposed
            else self._sorted(rows, columns, payload, first)
        )

    def _turned(self, payload: Array, first: Any) -> tuple[Array, Any]:
        if not self.transposed:
            return payload, first
        return payload.transpose(2, 1, 0), np.transpose(first) if type(first) is np.ndarray else first

    def _sorted(self, rows: Array, columns: Array, payload: Array, first: Any) -> tuple[UnitSet, Array, Any]:
        """Return values of cells in the order of cells."""
        if not self.transposed:
            return Cells(rows, columns), payload, first
        order = np.lexsort((columns, rows))
        when: Any = first[order] if type(first) is np.ndarray else first
        return Cells(rows[order], columns[order]), payload[order], when

    def position(self, row: int, column: int) -> tuple[int, int]:
        """Return (x, y) in the grid of a unit of the class."""
        if self.transposed:
            row, column = column, row
        return self.across[column], self.down[row]

    def coordinates(self, axis: str, dtype: np.dtype[Any]) -> Array:
        """Return the grid column (`x`) or row (`y`) of every unit, [rows, columns]."""
        values = np.asarray(self.across if axis == "x" else self.down, dtype)
        along_columns = (axis == "x") != self.transposed
        return np.broadcast_to(values[None, :] if along_columns else values[:, None], self.shape)


def _compose(outer: range, inner: range) -> range:
    """Return the members of `outer` at the positions `inner`."""
    return outer[inner.start : inner[-1] + 1 : inner.step]


def _positions(outer: range, inner: range) -> range:
    """Return the positions in `outer` of its members `inner`."""
    first, last = outer.index(inner[0]), outer.index(inner[-1])
    return range(first, last + 1, (last - first) // (len(inner) - 1) if len(inner) > 1 else 1)
