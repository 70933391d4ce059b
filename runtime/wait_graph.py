"""Wait graph of a machine at rest: units that wait, and whom they wait for; its circles and its roots.

An executor says who waits (`Executor.waits`) and answers the questions of `Awaited`. Everything else is here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, cast

import numpy as np

from .places import Array, Lattice, Unit

if TYPE_CHECKING:
    import networkx as nx

MAX_NODES = 4096
"""Waits of single units from which the graph is built; more are left out."""

Node: TypeAlias = tuple[Unit, int]
"""A unit and the number of one of its waits."""


class Awaited(Protocol):
    """What gives a wait its edges: one end of a queue or channel."""

    waits_for_all: bool
    """True if a unit waits for all that `pairs` names, and not for any one of them."""

    def pairs(self, places: Array) -> Iterable[tuple[Unit, Unit, str]]:
        """Return each of some waiting units, [n, (x, y)], with one it waits for and the queue that one has to use."""
        ...

    def remedy(self, *, held: bool) -> str:
        """Return what to do where units wait for each other; `held` means that a task of one of them waits."""
        ...

    def explanation(self, places: Array, units: str) -> str | None:
        """Return why no unit ends the wait of some units, `units` in words, if that is known; they form no circle."""
        ...


def _nothing(places: Array) -> frozenset[str]:
    return frozenset()


class Wait(NamedTuple):
    """A node of the wait graph: units of one class that wait for the same thing."""

    cls: int
    """The number of their class."""
    places: Array
    """The units, [n, (x, y)], by rows."""
    text: str
    """Which task or microthread waits at which operation for what, in words."""
    where: str | None
    """The place of the operation in the source."""
    awaited: Awaited | None = None
    """The queue or channel that other units have to act on, if any."""
    held: bool = False
    """True if a task waits, and not only a microthread."""
    queue: str | None = None
    """The name of the queue, FIFO or channel in messages."""
    colors: tuple[str, ...] = ()
    """The colors of the queue, by their names in messages."""
    missing: int | None = None
    """Wavelets, elements or entries that each unit lacks, or cannot send."""
    begun: bool = False
    """True if a microthread has received some of its wavelets."""
    endless: bool = False
    """True for an operation that has no end of its own."""
    used_after: Callable[[Array], frozenset[str]] = _nothing
    """Gives the queues and channels that some of the units may use once the wait is over; rather too many."""
    is_rectangle: bool = True
    """True if the units are a rectangle of their class; known once waits are grouped."""

    def first(self) -> Unit:
        """Return (x, y) of the first unit."""
        x, y = self.places[0].tolist()
        return x, y


def grouped(waits: Iterable[Wait], lattices: Mapping[int, Lattice]) -> list[Wait]:
    """Return waits with those of one class for the same thing joined, and cut into as few sets of units as possible."""
    groups: dict[tuple[int, str], list[Wait]] = {}
    for wait in waits:
        groups.setdefault((wait.cls, wait.text), []).append(wait)
    found: list[Wait] = []
    for (cls, _), group in groups.items():
        mask = np.zeros(lattices[cls].shape, np.bool_)
        for wait in group:
            mask[lattices[cls].index(wait.places)] = True
        found += _cut(group[0], mask, lattices[cls])
    found.sort(key=lambda wait: wait.first()[::-1])
    return found


def _cut(wait: Wait, mask: Array, lattice: Lattice) -> list[Wait]:
    return [wait._replace(places=places, is_rectangle=whole) for places, whole in lattice.sets(mask)]


def find_cycle(waits: Sequence[Wait]) -> list[tuple[Unit, Wait]]:
    """Return the units of a circular wait, in its order, each with its wait; none if there is no such cycle.

    Each edge is a wait for something that one other unit alone can do, and still does if what it waits for comes.
    """
    import networkx as nx  # takes as long to import as the rest of the engine, and only programs that hang need it

    graph: nx.DiGraph[Node] = nx.DiGraph()
    for number, place, successors in _edges(waits):
        awaited = waits[number].awaited
        assert awaited is not None
        if awaited.waits_for_all or len({other for other, _ in successors}) == 1:
            graph.add_edges_from(((place, number), other) for other in successors)
    try:
        edges = cast("list[tuple[Node, Node]]", nx.find_cycle(graph))  # pyright: ignore[reportUnknownMemberType]
    except nx.NetworkXNoCycle:
        return []
    return [(place, waits[number]) for (place, number), _ in edges]


def root_waits(waits: Sequence[Wait], lattices: Mapping[int, Lattice]) -> Iterator[Wait]:
    """Yield the waits that no unit that waits itself can end, cut to the units for which that holds.

    The cause is found there: the other units go on once these do.
    """
    alone: dict[int, list[Unit]] = {}
    for number, place, successors in _edges(waits):
        if not successors:
            alone.setdefault(number, []).append(place)
    for number, places in alone.items():
        lattice = lattices[waits[number].cls]
        mask = np.zeros(lattice.shape, np.bool_)
        mask[lattice.index(np.array(places))] = True
        yield from _cut(waits[number], mask, lattice)


def _edges(waits: Sequence[Wait]) -> Iterator[tuple[int, Unit, set[Node]]]:
    """Yield each unit that waits for others, with the number of its wait and the waits behind which they can act."""
    at: dict[Unit, list[int]] = {}
    used_after: dict[int, frozenset[str]] = {}
    units: dict[int, list[Unit]] = {}
    nodes = 0
    for number, wait in enumerate(waits):
        if nodes > MAX_NODES:
            break
        units[number] = [(x, y) for x, y in wait.places.tolist()]
        nodes += len(units[number])
        for place in units[number]:
            at.setdefault(place, []).append(number)
        used_after[number] = wait.used_after(wait.places)
    for number, places in units.items():
        wait = waits[number]
        if wait.awaited is None:
            continue
        successors: dict[Unit, set[Node]] = {place: set() for place in places}
        for place, other, symbol in wait.awaited.pairs(wait.places):
            if number in at.get(place, ()):
                able = {(other, theirs) for theirs in at.get(other, ()) if symbol in used_after[theirs]}
                successors[place].update(able)
        yield from ((number, place, others) for place, others in successors.items())
