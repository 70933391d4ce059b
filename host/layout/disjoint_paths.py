"""Disjoint paths on a grid: from each of several starts to one of as many ends, of the least total price.

Paths are found one after the other, each by Dijkstra's algorithm in the residual graph of those before, as for flows of
least cost (Suurballe, 1974; with potentials, Edmonds and Karp, 1972). No two share a node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import pairwise

SOURCE, SINK = -1, -2

UNREACHED = float("inf")


class DisjointPaths:
    """Nodes are numbers from 0; `steps` are the differences to neighbors, `price` that of a node, None if closed."""

    def __init__(
        self, starts: Sequence[int], ends: Sequence[int], steps: Sequence[int], price: Callable[[int], float | None]
    ) -> None:
        self.starts, self.ends, self.steps = starts, ends, steps
        self._price = price
        self._prices: dict[int, float | None] = {}
        self.following: dict[int, int] = {}
        """The next node of each node on a path, or SINK."""
        self.previous: dict[int, int] = {}
        """The node before, or SOURCE."""
        self._potentials: dict[int, float] = {}
        """The distance of a node from the source, less `_farthest`; 0 for those that are farther."""
        self._farthest = 0.0

    def find(self) -> list[list[int]] | None:
        """Return the path from each start, in their order, or None if there are not so many."""
        for _ in self.starts:
            if not self._augment():
                return None
        paths: list[list[int]] = []
        for start in self.starts:
            path = [start]
            while (node := self.following[path[-1]]) != SINK:
                path.append(node)
            paths.append(path)
        return paths

    def _price_of(self, node: int) -> float | None:
        if node not in self._prices:
            self._prices[node] = self._price(node)
        return self._prices[node]

    def _augment(self) -> bool:
        """Add one path, and change the others where that is cheaper; return False if there is none."""
        # Each node is two, where a path enters it (even) and where it leaves it (odd).
        distance: dict[int, float] = {}
        before: dict[int, int] = {}
        heap: list[tuple[float, int]] = []
        potentials = self._potentials
        ends = set(self.ends)
        done: set[int] = set()

        def reach(state: int, spent: float, source: int) -> None:
            if spent < distance.get(state, UNREACHED):
                distance[state], before[state] = spent, source
                heappush(heap, (spent, state))

        for start in self.starts:
            if self.previous.get(start) != SOURCE and self._price_of(start) is not None:
                # With distances as potentials no price is negative.
                reach(2 * start, -self._farthest - potentials.get(2 * start, 0.0), SOURCE)
        last, length = SOURCE, UNREACHED
        while heap:
            spent, state = heappop(heap)
            if spent >= length:
                break
            if state in done:
                continue
            done.add(state)
            node, leaving = state >> 1, state & 1
            here = spent + potentials.get(state, 0.0)
            if leaving:
                if node in ends and self.following.get(node) != SINK and here < length:
                    last, length = state, here
                if node in self.following:
                    # Back through the node itself.
                    price = self._price_of(node) or 0.0
                    reach(2 * node, here - price - potentials.get(2 * node, 0.0), state)
                for step in self.steps:
                    other = node + step
                    if self.following.get(node) != other and self._price_of(other) is not None:
                        reach(2 * other, here - potentials.get(2 * other, 0.0), state)
            elif node not in self.following:
                reach(2 * node + 1, here + (self._price_of(node) or 0.0) - potentials.get(2 * node + 1, 0.0), state)
            elif self.previous[node] != SOURCE:
                other = self.previous[node]
                reach(2 * other + 1, here - potentials.get(2 * other + 1, 0.0), state)
        if last == SOURCE:
            return False
        for state, spent in distance.items():
            if spent < length:
                potentials[state] = potentials.get(state, 0.0) + spent - length
        self._farthest += length
        self._apply(last, before)
        return True

    def _apply(self, last: int, before: dict[int, int]) -> None:
        """Add the path that ends in a state: undo the steps that it takes back, then add its own."""
        states = [last]
        while (state := before[states[-1]]) != SOURCE:
            states.append(state)
        states.reverse()
        added: list[tuple[int, int]] = [(SOURCE, states[0] >> 1)]
        for first, second in pairwise(states):
            if first & 1 and not second & 1 and first >> 1 != second >> 1:
                added.append((first >> 1, second >> 1))
            elif not first & 1 and first >> 1 != second >> 1:
                del self.following[second >> 1], self.previous[first >> 1]
        added.append((last >> 1, SINK))
        for first, second in added:
            if first != SOURCE:
                self.following[first] = second
            if second != SINK:
                self.previous[second] = first
