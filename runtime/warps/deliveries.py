"""Deliveries: the pairs of one output and one input queue in groups, which decide who comes first.

Of wavelets that reach a PE in one cycle those of the earlier group come first, and within a group of pairs those of the
earlier pair. Coordinates are class coordinates of the sending and of the receiving class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

MAX_DISPLACEMENTS = 16
"""More distinct displacements than this and pairs are listed one by one."""

MAX_LINES = 64
"""More lines of senders than this are no group of multicasts."""


@dataclass(frozen=True)
class Group:
    """Pairs of one kind: a `shift` by one displacement, with one latency; multicasts from one line of senders, each
    `spread` along an axis; or any `pairs`, in the order of their receivers."""

    kind: Literal["shift", "spread", "pairs"]
    members: Array
    """Which pairs: their numbers, those of each sender in the order in which its wavelets arrive."""
    axis: int = 0
    """Of a spread: 0 along rows, 1 along columns..."""
    line: range = range(0)
    """... and the places on that axis..."""
    latency: Array | None = None
    """... and the latency of each."""


def group(source: Array, target: Array, latency: Array) -> list[Group]:
    """Return the groups of pairs of places [n, 2]."""
    if not len(source):
        return []
    shifts = _shifts(source, target, latency)
    if shifts is not None:
        return shifts
    for axis in (0, 1):
        spreads = _spreads(source, target, latency, axis)
        if spreads is not None:
            return spreads
    return [Group("pairs", np.lexsort((target[:, 1], target[:, 0])))]


def _shifts(source: Array, target: Array, latency: Array) -> list[Group] | None:
    """Group pairs by displacement and latency; None if there are many."""
    rest = np.arange(len(source))
    rows, columns = (target - source).T
    groups: list[Group] = []
    while len(rest):
        if len(groups) == MAX_DISPLACEMENTS:
            return None
        first = rest[0]
        same = (rows[rest] == rows[first]) & (columns[rest] == columns[first]) & (latency[rest] == latency[first])
        groups.append(Group("shift", rest[same]))
        rest = rest[~same]
    return groups


def _spreads(source: Array, target: Array, latency: Array, axis: int) -> list[Group] | None:
    """Group multicasts along `axis`, one group for every line of senders; None if the pairs are not of that kind."""
    other = 1 - axis
    if not bool((source[:, other] == target[:, other]).all()):
        return None
    groups: list[Group] = []
    positions = np.unique(source[:, axis])
    if len(positions) > MAX_LINES:
        return None
    for position in positions.tolist():
        chosen = np.flatnonzero(source[:, axis] == position)
        reached, across = target[chosen, axis], source[chosen, other]
        lines, columns = np.unique(reached), np.unique(across)
        if len(lines) * len(columns) != len(reached):
            return None
        order = chosen[np.lexsort((across, reached))]
        table = latency[order].reshape(len(lines), len(columns))
        if not bool((table == table[:, :1]).all()):
            return None
        line = range(int(lines[0]), int(lines[-1]) + 1)
        if len(line) != len(lines):
            return None
        groups.append(Group("spread", order, axis, line, table[:, 0]))
    return groups
