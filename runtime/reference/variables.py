"""Variables of a class by their addresses: which one a run-time pointer points into."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple


class Variable(NamedTuple):
    """A variable: its row of the buffers, its first word and the one behind its last."""

    buffer: int
    start: int
    end: int


class Variables:
    """Variables in the order of their addresses; those that share words count as one."""

    def __init__(self, variables: Iterable[Variable], words: int) -> None:
        self._found: list[Variable] = []
        for each in sorted(variables, key=lambda each: (each.start, -each.end)):
            if self._found and each.start < self._found[-1].end:
                last = self._found[-1]
                self._found[-1] = last._replace(end=max(last.end, each.end))
            else:
                self._found.append(each)
        self._starts = [each.start for each in self._found]
        self._all = Variable(-1, 0, words)

    def around(self, address: int) -> Variable:
        """Return the variable at a word address; all of memory, as number -1, if that is in none."""
        place = bisect_right(self._starts, address) - 1
        return self._found[place] if place >= 0 and address < self._found[place].end else self._all
