"""Sets of units in words, and as rectangles of their class.

The units of a class are on columns and rows of the grid that are equally far apart, so a set of them that looks torn on
the grid may be a rectangle of the class: every second PE of some rows is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .distinct import distinct

Array: TypeAlias = npt.NDArray[Any]

Unit: TypeAlias = tuple[int, int]
"""(x, y) of a unit in the grid."""

Region: TypeAlias = tuple[int, int, int, int]
"""The first column and row of a rectangle of units, its width and its height."""

MAX_PIECES = 4
"""Rectangles that one mask may become; a mask that needs more becomes a list of units."""


def progression(values: Array) -> range | None:
    """Return sorted distinct values as a range, or None where the steps differ."""
    first = int(values[0])
    if len(values) == 1:
        return range(first, first + 1)
    step = int(values[1]) - first
    if len(values) > 2 and not bool((np.diff(values) == step).all()):
        return None
    return range(first, int(values[-1]) + 1, step)


def pieces(mask: Array) -> list[tuple[range, range]] | None:
    """Return a two-dimensional mask as few rectangles (rows, columns), or None if more than MAX_PIECES are needed."""
    rows_any: Array = np.logical_or.reduce(mask, axis=1)
    rows = np.flatnonzero(rows_any)
    if not len(rows):
        return []
    first = mask[rows[0]]
    if bool((mask[rows] == first).all()):
        vertical, horizontal = _runs(rows_any), _runs(first)
        if len(vertical) * len(horizontal) > MAX_PIECES:
            return None
        return [(y, x) for y in vertical for x in horizontal]
    found: list[tuple[range, range]] = []
    changes = np.flatnonzero((mask[1:] != mask[:-1]).any(axis=1)) + 1
    if len(changes) > 2 * MAX_PIECES:
        return None
    bounds = [0, *changes.tolist(), len(mask)]
    for top, bottom in pairwise(bounds):
        if rows_any[top]:
            found += [(range(top, bottom), run) for run in _runs(mask[top])]
        if len(found) > MAX_PIECES:
            return None
    return found


def _runs(mask: Array) -> list[range]:
    """Return the true positions of a one-dimensional mask as ranges, strided where that gives a single one."""
    positions = np.flatnonzero(mask)
    whole = progression(positions)
    if whole is not None:
        return [whole]
    breaks = np.flatnonzero(np.diff(positions) != 1) + 1
    return [range(int(run[0]), int(run[-1]) + 1) for run in np.split(positions, breaks)]


class Lattice:
    """The columns and rows of the grid on which a class has units."""

    def __init__(self, member: Array) -> None:
        rows, columns = np.nonzero(member)
        down, across = progression(distinct(rows)), progression(distinct(columns))
        if down is None or across is None or len(down) * len(across) != len(rows):
            down = range(int(rows.min()), int(rows.max()) + 1)
            across = range(int(columns.min()), int(columns.max()) + 1)
        self.down = down
        self.across = across
        self.shape = (len(down), len(across))

    def index(self, places: Array) -> tuple[Array, Array]:
        """Return row and column in the lattice of units at places [n, (x, y)] of the grid."""
        return (
            (places[:, 1] - self.down.start) // self.down.step,
            (places[:, 0] - self.across.start) // self.across.step,
        )

    def places(self, rows: Array, columns: Array) -> Array:
        """Return the places [n, (x, y)] in the grid of units of the lattice."""
        return np.stack(
            [self.across.start + columns * self.across.step, self.down.start + rows * self.down.step], axis=1
        )

    def sets(self, mask: Array) -> Iterator[tuple[Array, bool]]:
        """Yield the units of a mask of the lattice as few sets: places [n, (x, y)] by rows, and True for a rectangle.

        A set of one unit is a rectangle.
        """
        rectangles = pieces(mask)
        if rectangles is None:
            yield self.places(*np.nonzero(mask)), False
            return
        for rows, columns in rectangles:
            across, down = np.meshgrid(np.asarray(columns), np.asarray(rows))
            yield self.places(down.ravel(), across.ravel()), True


def describe(places: Array, is_rectangle: bool, name: Callable[[int, int], str], noun: str) -> str:
    """Return units in words: "PE (1, 0)", "12 PEs from (0, 0) to (3, 2)"; `name` is that of one, `noun` of several."""
    first: list[int] = places[0].tolist()
    if len(places) == 1:
        return name(*first)
    at = name(*first).removeprefix("PE ")
    if not is_rectangle:
        return f"{len(places)} {noun}, the first {at}"
    last: list[int] = places[-1].tolist()
    return f"{len(places)} {noun} from {at} to {name(*last).removeprefix('PE ')}"
