"""Cycles and roots of the wait graph of a machine at rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from .continuations import Continuations
from .tasks import NEVER
from .units import from_mask, rectangle, some
from .wait_graph import Unit, Wait

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .unit_class import UnitClass

MAX_NODES = 4096
"""Waits of single units from which the graph is built; more are left out."""

Node: TypeAlias = tuple[Unit, int]
"""A unit and the number of one of its waits."""


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


def root_waits(waits: Sequence[Wait]) -> Iterator[Wait]:
    """Yield the waits that no unit that waits itself can end, cut to the units for which that holds.

    The cause is found there: the other units go on once these do.
    """
    alone: dict[int, NDArray[np.bool_]] = {}
    for number, place, successors in _edges(waits):
        if not successors:
            cls = waits[number].cls
            mask = alone.setdefault(number, np.zeros(cls.shape, np.bool_))
            mask[tuple(cls.placement.local(np.array([place[::-1]]))[0].tolist())] = True
    for number, mask in alone.items():
        wait = waits[number]
        height, width = wait.cls.shape
        yield from (wait._replace(units=units) for units in from_mask(rectangle(range(height), range(width)), mask))


def _edges(waits: Sequence[Wait]) -> Iterator[tuple[int, Unit, set[Node]]]:
    """Yield each unit that waits for others, with the number of its wait and the waits behind which they can act."""
    known: dict[int, Continuations] = {}
    at: dict[Unit, list[int]] = {}
    followed: list[int] = []
    used_after: dict[int, frozenset[str]] = {}
    nodes = 0
    for number, wait in enumerate(waits):
        if nodes > MAX_NODES:
            break
        places = wait.places()
        nodes += len(places)
        for place in places:
            at.setdefault(place, []).append(number)
        followed.append(number)
        used_after[number] = _used_after(wait, known)
    for number in followed:
        wait = waits[number]
        if wait.awaited is None:
            continue
        successors: dict[Unit, set[Node]] = {place: set() for place in wait.places()}
        for place, other, symbol in wait.awaited.pairs(wait):
            if number in at.get(place, ()):
                able = {(other, theirs) for theirs in at.get(other, ()) if symbol in used_after[theirs]}
                successors[place].update(able)
        yield from ((number, place, others) for place, others in successors.items())


def _used_after(wait: Wait, known: dict[int, Continuations]) -> frozenset[str]:
    """Return the queues and channels that the units of a wait may use once it is over."""
    cls = wait.cls
    program = known.setdefault(id(cls), Continuations(cls))
    tasks = set(wait.tasks)
    names = frozenset(wait.sends)
    if wait.held:
        # A task in the middle of an operation keeps from running all others that are active.
        tasks |= {task.name for task in cls.task_list if some(task.active[wait.units.index] != NEVER)}
    if wait.op is not None:
        names |= program.after(wait.op)
    names |= program.of(tasks)
    return names | _read_by(cls, tasks | names)


def _read_by(cls: UnitClass, tasks: Iterable[str]) -> set[str]:
    """Return the input queues that data tasks among some tasks read."""
    found = set(tasks)
    return {task.queue.name for task in cls.task_list if task.queue is not None and task.name in found}
