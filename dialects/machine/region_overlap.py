"""Overlap of regions of a rectangle. A region is a range of columns and a range of rows; no IR here."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import gcd

from ...diagnostics.records import record

Region = tuple[range, range]


def first_common(one: range, other: range) -> int | None:
    """Return the smallest number in both ranges, whose steps are positive; None if there is none."""
    if not one or not other:
        return None
    divisor = gcd(one.step, other.step)
    distance, remainder = divmod(other.start - one.start, divisor)
    if remainder:
        return None
    # one.start + k * one.step is on the other's grid for this k and every period after it.
    period = other.step // divisor
    k = distance * pow(one.step // divisor, -1, period) % period
    candidate, stride = one.start + k * one.step, one.step * period
    start = max(one.start, other.start)
    if candidate < start:
        candidate += -(-(start - candidate) // stride) * stride
    return candidate if candidate <= min(one[-1], other[-1]) else None


@record
class _Place:
    position: int
    owner: Hashable
    columns: range
    rows: range


def first_overlap(regions: Sequence[tuple[Hashable, Region]]) -> tuple[int, int, tuple[int, int]] | None:
    """Return the positions of two regions of different owners that share a PE, and that PE (x, y); None if no two do.

    Each region comes with its owner. Sweeps over the rows and keeps regions one column wide apart by column, so that
    a layout of very many small regions costs no more than a few steps for each.
    """
    places = [_Place(p, owner, columns, rows) for p, (owner, (columns, rows)) in enumerate(regions) if columns and rows]
    places.sort(key=lambda place: place.rows[0])
    narrow: dict[int, list[_Place]] = {}
    wide: list[_Place] = []
    for place in places:
        wide = _open(wide, place)
        candidates = [*wide]
        few = len(place.columns) <= len(narrow)
        for x in place.columns if few else [x for x in narrow if x in place.columns]:
            if x in narrow:
                narrow[x] = _open(narrow[x], place)
                candidates += narrow[x]
        for other in candidates:
            if other.owner == place.owner:
                continue
            x, y = first_common(other.columns, place.columns), first_common(other.rows, place.rows)
            if x is not None and y is not None:
                return min(other.position, place.position), max(other.position, place.position), (x, y)
        if len(place.columns) == 1:
            narrow.setdefault(place.columns[0], []).append(place)
        else:
            wide.append(place)
    return None


def _open(places: list[_Place], current: _Place) -> list[_Place]:
    """Return those that reach the first row of `current`; none below it starts higher."""
    return [place for place in places if place.rows[-1] >= current.rows[0]]
