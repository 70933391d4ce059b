"""Variables of a class of units by their addresses: which one a run-time pointer points into."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

import numpy as np

from .streams import Buffer


class Variables:
    """Buffers in the order of their addresses; those that share words count as one."""

    def __init__(self, buffers: Iterable[Buffer], words: int):
        self._found: list[Buffer] = []
        ends: list[int] = []
        for buffer in sorted((each for each in buffers if each.elements), key=lambda each: (each.address, -each.end)):
            if ends and buffer.address < ends[-1]:
                ends[-1] = max(ends[-1], buffer.end)
            else:
                self._found.append(buffer)
                ends.append(buffer.end)
        self._starts = [buffer.address for buffer in self._found]
        self._ends = ends
        # Row 0 is for addresses in front of all, and a word in no variable belongs to all of memory.
        self._start_of = np.array([0, *self._starts], np.int64)
        self._end_of = np.array([0, *ends], np.int64)
        self._words = words

    def around(self, address: Any) -> tuple[Any, Any]:
        """Return the first word of the variables at word addresses, and the word behind: numbers or arrays, as given.

        An address in no variable has all of memory around it.
        """
        if isinstance(address, int):
            row = bisect_right(self._starts, address) - 1
            return (self._starts[row], self._ends[row]) if row >= 0 and address < self._ends[row] else (0, self._words)
        addresses: np.ndarray = np.asarray(address)
        row = np.searchsorted(self._start_of[1:], addresses, side="right")
        inside = addresses < self._end_of[row]
        return np.where(inside, self._start_of[row], 0), np.where(inside, self._end_of[row], self._words)

    def at(self, address: int) -> Buffer | None:
        """Return the variable that a word address is in, or None."""
        row = bisect_right(self._starts, address) - 1
        return self._found[row] if row >= 0 and address < self._ends[row] else None
