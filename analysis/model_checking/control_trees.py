"""Control trees: the loops, branches and exits of a core, with its events on ring buffers as leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..event_graph import Event
from ..symbolic_integers import (
    ITERATION,
    Affine,
    Condition,
    Symbol,
)


@dataclass(frozen=True, eq=False)
class EventNode:
    """An event. A push may send a signal, which is a condition; a pop may receive one, as an integer of 0 or 1."""

    event: Event
    origin: Any = None
    signal: Condition | None = None
    received: Affine | None = None


@dataclass(frozen=True, eq=False)
class Loop:
    """A loop that runs while `condition` holds; `iteration(key)` is its iteration number in conditions.

    `trip_count` is the number of iterations, if it is known.
    """

    key: object
    condition: Condition
    body: Sequence[Node]
    trip_count: int | None = None
    origin: Any = None
    symbolic_trip_count: Affine | None = None
    """The number of iterations as an integer, where it can be expressed; a negative one means none."""


@dataclass(frozen=True, eq=False)
class Branch:
    """A branch."""

    condition: Condition
    then: Sequence[Node]
    otherwise: Sequence[Node]
    origin: Any = None


@dataclass(frozen=True, eq=False)
class Exit:
    """An exit of the innermost loop, taken unless a condition holds."""

    condition: Condition
    origin: Any = None


Node: TypeAlias = EventNode | Loop | Branch | Exit


def iteration(key: object) -> Affine:
    """Return the iteration number of a loop, counted from 0, as conditions within the loop use it."""
    return Affine(0, ((Symbol(ITERATION, (), (key,)), 1),))


def event_nodes_in(nodes: Sequence[Node]) -> Iterator[EventNode]:
    """Yield the events in a tree, each once however often it repeats."""
    for node in nodes:
        match node:
            case EventNode():
                yield node
            case Loop():
                yield from event_nodes_in(node.body)
            case Branch():
                yield from event_nodes_in(node.then)
                yield from event_nodes_in(node.otherwise)
            case Exit():
                pass
