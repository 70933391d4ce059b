"""Rows of tiles in a dry run: of which rows of arrays, or of numbers, each row of a tile is made.

Two stores of tiles made alike store the same rows where both have them, also if one begins some rows further down.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....diagnostics.records import record
from .values import View


@record
class Rows:
    """Contents of which row r is made, in the same way for every r, of the rows `first` + r of arrays.

    `key` is equal for equal ways; `first` is None for what is made of numbers alone.
    """

    key: int
    first: int | None

    @staticmethod
    def loaded(view: View) -> Rows | None:
        """Return the rows of a part of a tensor; None if a number is unknown."""
        place = _place(view)
        return None if place is None else Rows(hash((view.array, *place[1:])), place[0])

    @staticmethod
    def computed(how: Sequence[object], sources: Sequence[Rows | None]) -> Rows | None:
        """Return the rows that are made of those of several tiles; `how` has what they depend on besides.

        Returns None if those of one are not known.
        """
        known = [source for source in sources if source is not None]
        if len(known) < len(sources):
            return None
        first = next((source.first for source in known if source.first is not None), None)
        parts = [(source.key, None if source.first is None else source.first - (first or 0)) for source in known]
        return Rows(hash((*how, *parts)), first)

    def stored(self, view: View) -> object:
        """Return a key that is equal for stores that give each row of an array, if they store it, the same contents."""
        place = _place(view)
        return None if place is None else (self.key, None if self.first is None else self.first - place[0], *place[1:])


def _place(view: View) -> tuple[int, ...] | None:
    """Return the first row of a part, and what its rows have in common: a column, a distance, and columns."""
    if len(view.extents) != 2 or view.offset is None:
        return None
    (_, columns), (pitch, distance) = view.extents, view.strides
    if columns is None or pitch is None or distance is None or pitch <= 0:
        return None
    row, column = divmod(view.offset, pitch * view.size)
    return row, column, pitch, columns, distance, view.size
