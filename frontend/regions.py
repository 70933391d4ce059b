"""Sets of PEs as few rectangular, possibly strided regions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..dialects.machine.region import RegionAttr


def _ranges(numbers: NDArray[np.int64]) -> Iterable[range]:
    """Yield sorted distinct numbers as few ranges."""
    position, count = 0, len(numbers)
    while position < count:
        if position + 1 == count:
            yield range(int(numbers[position]), int(numbers[position]) + 1)
            return
        step = int(numbers[position + 1] - numbers[position])
        end = position + 1
        while end + 1 < count and numbers[end + 1] - numbers[end] == step:
            end += 1
        if end == position + 1 and step > 1 and end + 1 < count:
            # Two numbers apart are no pattern yet; the second may start one.
            yield range(int(numbers[position]), int(numbers[position]) + 1)
            position += 1
            continue
        yield range(int(numbers[position]), int(numbers[end]) + 1, step)
        position = end + 1


def regions(columns: NDArray[np.int64], rows: NDArray[np.int64]) -> list[RegionAttr]:
    """Return the PEs at these coordinates: rows that hold the same columns go together."""
    order = np.lexsort((columns, rows))
    columns, rows = columns[order], rows[order]
    starts = np.flatnonzero(np.diff(rows, prepend=rows[0] - 1))
    groups: dict[bytes, tuple[NDArray[np.int64], list[int]]] = {}
    for part in np.split(np.arange(len(rows)), starts[1:]):
        here = np.ascontiguousarray(columns[part])
        groups.setdefault(here.tobytes(), (here, []))[1].append(int(rows[part[0]]))
    found: list[RegionAttr] = []
    for here, heights in groups.values():
        for x in _ranges(here):
            for y in _ranges(np.array(heights, np.int64)):
                found.append(RegionAttr.get(x, y))
    return found
