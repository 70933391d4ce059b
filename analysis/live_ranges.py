"""Live ranges of stores: which of them hold something of use at the same time. Knows nothing of IR.

A program is a graph of steps. A step may read a store, overwrite all of it, or touch it otherwise: write a part, or
use it as scratch. A store is live where what it holds may be read later and something may have been put into it
before: from its first write to its last read, in loops as far as values go round.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Generic, TypeVar

Store = TypeVar("Store", bound=Hashable)


@dataclass
class Step(Generic[Store]):
    """One step: what it does with which stores, and the steps that may come next, by their places in the program."""

    reads: set[Store] = field(default_factory=set[Store])
    overwrites: set[Store] = field(default_factory=set[Store])
    touches: set[Store] = field(default_factory=set[Store])
    next: list[int] = field(default_factory=list[int])

    @property
    def stores(self) -> set[Store]:
        """All stores the step has to do with; they are in use while it runs."""
        return self.reads | self.overwrites | self.touches


def in_use(steps: Sequence[Step[Store]]) -> list[set[Store]]:
    """Return, for every step, the stores that it uses itself, or that keep a value while it runs."""
    previous: list[list[int]] = [[] for _ in steps]
    for place, step in enumerate(steps):
        for following in step.next:
            previous[following].append(place)
    needed_before: list[set[Store]] = [set() for _ in steps]
    needed_after: list[set[Store]] = [set() for _ in steps]
    pending = list(range(len(steps)))
    while pending:
        place = pending.pop()
        step = steps[place]
        after = set[Store]().union(*(needed_before[following] for following in step.next))
        before = step.reads | (after - step.overwrites)
        needed_after[place] = after
        if before != needed_before[place]:
            needed_before[place] = before
            pending += previous[place]
    filled: list[set[Store]] = [set() for _ in steps]
    pending = list(reversed(range(len(steps))))
    while pending:
        place = pending.pop()
        after = steps[place].stores.union(*(filled[earlier] for earlier in previous[place]))
        if after != filled[place]:
            filled[place] = after
            pending += steps[place].next
    return [
        step.stores | ((needed_before[place] | needed_after[place]) & filled[place]) for place, step in enumerate(steps)
    ]


def used_together(steps: Sequence[Step[Store]]) -> dict[Store, set[Store]]:
    """Return every store with the others that are in use in a step in which it is."""
    together: dict[Store, set[Store]] = {}
    for stores in {frozenset(stores) for stores in in_use(steps)}:
        for store in stores:
            together.setdefault(store, set())
        for first, second in combinations(stores, 2):
            together[first].add(second)
            together[second].add(first)
    return together
