"""States of a search: where each core is, what is in flight between them, and what is known of integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ..symbolic_integers import (
    Bounds,
    Terms,
)
from .iterations import IterationPath, LoopInstance


@dataclass
class Core:
    pc: int = 0
    path: IterationPath = ()
    entered: tuple[int, ...] = (0,)
    """The number of loops entered, and exited, at each depth."""

    def loop_instance(self, depth: int) -> LoopInstance:
        return (*self.path[:depth], self.path[depth][:1])

    def order(self) -> tuple[tuple[int, int], ...]:
        """Return a key that grows as the core advances."""
        return (*self.path, (self.entered[-1], -1))

    has_loops: bool = True
    """True if the core may enter more loops."""

    def position_of(self, loop_instance: LoopInstance) -> int:
        """Return -1 before a loop, or an iteration of one, 0 in it, 1 after it."""
        if not self.has_loops:
            return 1
        for depth, part in enumerate(loop_instance):
            if depth >= len(self.path):
                return 1 if self.entered[depth] > part[0] else -1
            for mine, other in zip(self.path[depth], part, strict=False):
                if mine != other:
                    return 1 if mine > other else -1
        return 0


@dataclass
class Token:
    """An entry or a credit in flight: the frees that its sender had not seen, and its signal."""

    unseen_frees: list[int]
    signal: bool | None = None


@dataclass
class EndState:
    """The progress of one core on one ring buffer."""

    acquires: int = 0
    popped: int = 0
    outstanding: int = 0
    credit_surplus: int = 0
    """Slots for which credits were returned, less the freed ones; bounded below."""


Pair: TypeAlias = tuple[str, int, int]
"""A ring buffer, a producer and a consumer."""


@dataclass
class State:
    cores: list[Core]
    ends: dict[tuple[str, int], EndState]
    occupancy: dict[Pair, int]
    """The entries that a producer has pushed and a consumer has not freed."""
    entries: dict[Pair, list[Token]]
    credits: dict[Pair, list[Token]]
    unseen_frees: list[list[int]]
    """The frees of each consumer that each core has not seen."""
    bounds: Bounds
    base_iterations: dict[LoopInstance, int]
    """The iteration of each loop from which the iterations of cores in it are counted."""
    scopes: dict[Terms, LoopInstance]
    """The iteration in which a bound was recorded that other iterations do not query."""
    is_wrong: bool = False

    def copy(self) -> State:
        def tokens(queues: dict[Pair, list[Token]]) -> dict[Pair, list[Token]]:
            return {pair: [Token(list(t.unseen_frees), t.signal) for t in queue] for pair, queue in queues.items()}

        return State(
            [Core(core.pc, core.path, core.entered, core.has_loops) for core in self.cores],
            {
                key: EndState(end.acquires, end.popped, end.outstanding, end.credit_surplus)
                for key, end in self.ends.items()
            },
            dict(self.occupancy),
            tokens(self.entries),
            tokens(self.credits),
            [list(unseen_frees) for unseen_frees in self.unseen_frees],
            Bounds(self.bounds),
            dict(self.base_iterations),
            dict(self.scopes),
            self.is_wrong,
        )

    def key(self) -> object:
        def tokens(queues: dict[Pair, list[Token]]) -> object:
            return tuple(tuple((*t.unseen_frees, t.signal) for t in queue) for queue in queues.values())

        return (
            tuple((core.pc, core.path, core.entered) for core in self.cores),
            tuple((end.acquires, end.popped, end.outstanding, end.credit_surplus) for end in self.ends.values()),
            tuple(self.occupancy.values()),
            tokens(self.entries),
            tokens(self.credits),
            tuple(map(tuple, self.unseen_frees)),
            frozenset(self.bounds.items()),
            frozenset(self.base_iterations.items()),
            self.is_wrong,
        )
