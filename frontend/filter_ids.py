"""The ids of filters on their PEs, by which code names them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..csl.errors import CslError
from ..csl.source import Diagnostic
from .effects import Effect

NO_FILTER = -1


class FilterIds:
    """The ids of filters on their PEs: those of the layout by color, then those of the code of PEs as they come."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.by_color: dict[int, NDArray[np.int8]] = {}
        """The id on each PE, [height, width], `NO_FILTER` without one."""
        self._waiting: list[tuple[int, Effect]] = []

    def wait(self, color: int, effect: Effect) -> None:
        """Note a filter of the layout, which gets its id when all are known."""
        self._waiting.append((color, effect))

    def number(self, shape: tuple[int, int]) -> None:
        """Give the filters of the layout their ids."""
        for color, effect in sorted(self._waiting, key=lambda each: each[0]):
            self.add(color, effect, shape)
        self._waiting.clear()

    def add(self, color: int, effect: Effect, shape: tuple[int, int]) -> None:
        """Give a filter its id. Raises CslError if a PE has no more filters."""
        columns, rows = effect.arguments[1:3]
        taken = self.count(columns, rows)
        if (taken >= self.limit).any():
            lane = int(np.argmax(taken >= self.limit))
            message = f"PE ({columns[lane]}, {rows[lane]}) is given more than its {self.limit} filters; remove one"
            raise CslError([Diagnostic(effect.source, effect.node.start, effect.node.end, message)])
        self.by_color.setdefault(color, np.full(shape, NO_FILTER, np.int8))[rows, columns] = taken

    def count(self, columns: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return how many filters some PEs have."""
        return sum(
            ((ids[rows, columns] != NO_FILTER).astype(np.int64) for ids in self.by_color.values()),
            np.zeros(len(columns), np.int64),
        )
