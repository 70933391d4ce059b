"""Ways of the wavelets of output queues, in lists that units which send alike share."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .model import WAY

Array: TypeAlias = NDArray[Any]

_STEP, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


class Ways:
    """Lists of ways on their way to a `Fabric`; list 0 is empty."""

    def __init__(self) -> None:
        self._ways: list[Array] = []
        self._counts: list[Array] = [np.zeros(1, np.int64)]
        self._lists = 1

    def add(self, units: Array, ways: Array, number: int) -> Array:
        """Add the ways of one queue; way k is of unit `units[k]`.

        Returns the number of the list of each of the queue's `number` units.
        """
        lists = np.zeros(number, np.uint32)
        if not len(units):
            return lists
        distinct, which = _distinct(ways)
        order = np.argsort(units, kind="stable")
        which = which[order]
        counts = np.bincount(units, minlength=number)
        users = np.flatnonzero(counts)
        lengths = counts[users]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        samples, kinds = _alike(which, starts, len(distinct))
        lists[users] = self._lists + kinds
        lengths = lengths[samples]
        before = np.cumsum(lengths) - lengths
        taken: Array = np.repeat(starts[samples] - before, lengths) + np.arange(int(lengths.sum()))
        self._ways.append(distinct[which[taken]])
        self._counts.append(lengths)
        self._lists += len(samples)
        return lists

    def first(self) -> Array:
        """Return where each list begins, and behind it where the last one ends."""
        counts = np.concatenate(self._counts)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32)

    def all(self) -> Array:
        """Return the ways of all lists."""
        return np.concatenate([np.zeros(0, WAY), *self._ways])


def _distinct(ways: Array) -> tuple[Array, Array]:
    """Return the distinct records of an array, and which of them each element is."""
    first = ways[0]
    if all(bool((ways[field] == first[field]).all()) for field in WAY.names or ()):
        return ways[:1], np.zeros(len(ways), np.int64)
    codes = np.zeros(len(ways), np.int64)
    for field in WAY.names or ():
        values, inverse = np.unique(ways[field], return_inverse=True)
        codes = np.unique(codes * len(values) + inverse, return_inverse=True)[1]
    _, samples = np.unique(codes, return_index=True)
    return ways[samples], codes


def _alike(which: Array, starts: Array, kinds: int) -> tuple[Array, Array]:
    """Return samples of the distinct sequences among `which[starts[k] : starts[k + 1]]`, and which one each k is."""
    lengths = np.diff(starts)
    count = len(lengths)
    if bool((lengths == 1).all()):
        samples = np.full(kinds, -1)
        samples[which[::-1]] = np.arange(count)[::-1]
        used = samples >= 0
        return samples[used], (np.cumsum(used) - 1)[which]
    place = np.arange(len(which)) - np.repeat(starts[:-1], lengths)
    mixed = (which.astype(np.uint64) + np.uint64(1)) * _STEP
    mixed ^= mixed >> np.uint64(29)
    mixed = (mixed + place.astype(np.uint64) * _MIX) * _MIX
    mixed ^= mixed >> np.uint64(32)
    hashes = np.add.reduceat(mixed * _STEP, starts[:-1]) + lengths.astype(np.uint64)
    _, samples, found = np.unique(hashes, return_index=True, return_inverse=True)
    chosen = samples[found]
    same = bool((lengths[chosen] == lengths).all())
    if same and bool((which == which[np.repeat(starts[chosen], lengths) + place]).all()):
        return samples, found
    return np.arange(count), np.arange(count)
