"""Dominators of a graph: which nodes are on all paths to another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence


class Dominance:
    """The dominator tree of a graph, numbered so that dominance is a comparison."""

    def __init__(self, following: Sequence[Sequence[int]], preceding: Sequence[Sequence[int]], start: int):
        children: dict[int, list[int]] = defaultdict(list)
        for node, parent in _immediate_dominators(following, preceding, start).items():
            if parent != node:
                children[parent].append(node)
        self._enter: dict[int, int] = {}
        self._leave: dict[int, int] = {}
        pending = [(start, False)]
        while pending:
            node, done = pending.pop()
            if done:
                self._leave[node] = len(self._enter)
                continue
            self._enter[node] = len(self._enter)
            pending.append((node, True))
            pending.extend((child, False) for child in children[node])

    def holds(self, above: int, below: int) -> bool:
        """Return True if every path from the start to `below` passes `above`."""
        if above not in self._enter or below not in self._enter:
            return False
        return self._enter[above] <= self._enter[below] < self._leave[above]


def _immediate_dominators(
    following: Sequence[Sequence[int]], preceding: Sequence[Sequence[int]], start: int
) -> dict[int, int]:
    """Return for each node that `start` leads to the last other one that is on all paths there; `start` has itself.

    The algorithm of Cooper, Harvey and Kennedy. networkx has it too, and takes as long to import as the rest of the
    compiler.
    """
    order = _postorder(following, start)
    number = {node: position for position, node in enumerate(order)}
    found = {start: start}
    changed = True
    while changed:
        changed = False
        for node in reversed(order[:-1]):
            above: int | None = None
            for other in preceding[node]:
                if other not in found:
                    continue
                if above is None:
                    above = other
                while above != other:
                    if number[above] < number[other]:
                        above = found[above]
                    else:
                        other = found[other]
            assert above is not None, "the nodes before one in reverse postorder include one that leads to it"
            if found.get(node) != above:
                found[node] = above
                changed = True
    return found


def _postorder(following: Sequence[Sequence[int]], start: int) -> list[int]:
    """Return the nodes that `start` leads to, each behind those that it leads to but for edges back."""
    order: list[int] = []
    seen = {start}
    pending = [(start, iter(following[start]))]
    while pending:
        node, others = pending[-1]
        other = next((each for each in others if each not in seen), None)
        if other is None:
            pending.pop()
            order.append(node)
        else:
            seen.add(other)
            pending.append((other, iter(following[other])))
    return order
