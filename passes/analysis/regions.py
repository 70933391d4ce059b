"""Where regions of a rectangle meet. A region is a range of columns and a range of rows; no IR here."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
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


def first_overlap(regions: Sequence[tuple[Hashable, Region]]) -> tuple[int, int, tuple[int, int]] | None:
    """The positions of two regions of different owners that share a PE, and that PE (x, y); None if no two do.

    Each region comes with its owner. Sweeps over the rows, so that regions far from each other are never compared.
    """
    places = [(p, owner, columns, rows) for p, (owner, (columns, rows)) in enumerate(regions) if columns and rows]
    places.sort(key=lambda place: place[3][0])
    open_places: list[tuple[int, Hashable, range, range]] = []
    for place in places:
        position, owner, columns, rows = place
        open_places = [other for other in open_places if other[3][-1] >= rows[0]]
        for other, other_owner, other_columns, other_rows in open_places:
            if other_owner == owner:
                continue
            x, y = first_common(other_columns, columns), first_common(other_rows, rows)
            if x is not None and y is not None:
                return min(other, position), max(other, position), (x, y)
        open_places.append(place)
    return None
