"""Where regions of a rectangle meet. A region is a range of columns and a range of rows; no IR here."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

Region = tuple[range, range]


def first_common(one: range, other: range) -> int | None:
    """The smallest number in both ranges, whose steps are positive; None if there is none."""
    if not one or not other:
        return None
    divisor = gcd(one.step, other.step)
    distance, remainder = divmod(other.start - one.start, divisor)
    if remainder:
        return None
    # one.start + k * one.step lies on the other's grid for this k and every period after it.
    period = other.step // divisor
    k = distance * pow(one.step // divisor, -1, period) % period
    candidate, stride = one.start + k * one.step, one.step * period
    start = max(one.start, other.start)
    if candidate < start:
        candidate += -(-(start - candidate) // stride) * stride
    return candidate if candidate <= min(one[-1], other[-1]) else None


def first_overlap(regions: Sequence[Region]) -> tuple[int, int, tuple[int, int]] | None:
    """The positions of two regions that share a PE, and that PE (x, y); None if no two do.

    Sweeps over the rows, so that regions far from each other are never compared.
    """
    order = sorted((p for p, (columns, rows) in enumerate(regions) if columns and rows), key=lambda p: regions[p][1][0])
    open_regions: list[int] = []
    for position in order:
        columns, rows = regions[position]
        open_regions = [other for other in open_regions if regions[other][1][-1] >= rows[0]]
        for other in open_regions:
            x = first_common(regions[other][0], columns)
            y = first_common(regions[other][1], rows)
            if x is not None and y is not None:
                return min(other, position), max(other, position), (x, y)
        open_regions.append(position)
    return None
