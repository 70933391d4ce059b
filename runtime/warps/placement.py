"""Placement of the units of a class: coordinates of the grid, and the dense coordinates of the class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...diagnostics.errors import LoomError
from ...dialects.machine.region import indices_text
from .units import Array, Rectangle, UnitSet, cells, rectangle


class Placement:
    """Ranges of grid columns (`across`) and rows (`down`), and the units among them in class coordinates.

    Raises LoomError if the regions, given as (columns, rows), select no unit of the grid.
    """

    def __init__(
        self, name: str, regions: Sequence[tuple[range, range]], width: int, height: int, where: str | None
    ) -> None:
        self.grid = height, width
        regions = [(columns, rows) for columns, rows in regions if columns and rows]
        if not regions:
            raise LoomError(
                f"units @{name} contain no core of the grid, which has {indices_text(width, height)}; correct their "
                "region or remove them", where,
            )  # fmt: skip
        whole: UnitSet
        if len(regions) == 1:
            columns, rows = regions[0]
            whole = rectangle(rows, columns)
        else:
            mask = np.zeros(self.grid, np.bool_)
            for columns, rows in regions:
                mask[rectangle(rows, columns).index] = True
            whole = cells(*np.nonzero(mask))
        if isinstance(whole, Rectangle):
            self.down, self.across = whole.rows, whole.columns
        else:
            self.down = range(int(whole.rows.min()), int(whole.rows.max()) + 1)
            self.across = range(int(whole.columns.min()), int(whole.columns.max()) + 1)
        self.shape = (len(self.down), len(self.across))
        self.units: UnitSet = rectangle(range(self.shape[0]), range(self.shape[1]))
        if not isinstance(whole, Rectangle):
            inside = self.local(np.stack(whole.cells(), axis=-1).reshape(-1, 2))
            self.units = cells(inside[:, 0], inside[:, 1])

    def on_grid(self) -> Array:
        """Return where the units of the class are, bool [grid rows, grid columns]."""
        here = np.zeros(self.shape, np.bool_)
        here[self.units.index] = True
        result = np.zeros(self.grid, np.bool_)
        result[rectangle(self.down, self.across).index] = here
        return result

    def places(self, units: UnitSet) -> Array:
        """Return the places [n, (x, y)] in the grid of units of the class, by rows of the grid."""
        rows, columns = (np.broadcast_to(values, units.shape).ravel() for values in units.cells())
        return np.stack(
            [self.across.start + columns * self.across.step, self.down.start + rows * self.down.step], axis=1
        )

    def local(self, points: Array) -> Array:
        """Return grid points [n, 2] (row, column) in class coordinates."""
        down = (points[:, 0] - self.down.start) // self.down.step
        across = (points[:, 1] - self.across.start) // self.across.step
        return np.stack([down, across], 1)

    def position(self, row: int, column: int) -> tuple[int, int]:
        """Return (x, y) in the grid of a unit of the class."""
        return self.across[column], self.down[row]

    def coordinates(self, axis: str, dtype: np.dtype[Any]) -> Array:
        """Return the grid column (`x`) or row (`y`) of every unit, [rows, columns]."""
        values = np.asarray(self.across if axis == "x" else self.down, dtype)
        return np.broadcast_to(values[None, :] if axis == "x" else values[:, None], self.shape)
