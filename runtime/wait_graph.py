"""The wait graph of a machine at rest: who waits for what only another unit can do, and the circles in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

from .continuations import Continuations
from .tasks import NEVER
from .units import some
from .waits import Unit, Wait

if TYPE_CHECKING:
    import networkx as nx

    from .unit_class import UnitClass

MAX_NODES = 4096
"""Beyond this many waits of single units the graph is built over the first of them."""

Node: TypeAlias = tuple[Unit, int]
"""A unit and the number of one of its waits."""


def circle(waits: Sequence[Wait]) -> list[tuple[Unit, Wait]]:
    """Return units that wait for each other in a circle, in its order, each with its wait; none without a circle.

    Each edge is a wait for something that one other unit alone can do, and still does if what it waits for comes.
    """
    import networkx as nx  # takes as long to import as the rest of the engine, and only programs that hang need it

    graph = _graph(waits)
    try:
        edges = cast("list[tuple[Node, Node]]", nx.find_cycle(graph))  # pyright: ignore[reportUnknownMemberType]
    except nx.NetworkXNoCycle:
        return []
    return [(place, waits[number]) for (place, number), _ in edges]


def _graph(waits: Sequence[Wait]) -> nx.DiGraph[Node]:
    import networkx as nx

    known: dict[int, Continuations] = {}
    at: dict[Unit, list[int]] = {}
    followed: list[int] = []
    later: dict[int, frozenset[str]] = {}
    nodes = 0
    for number, wait in enumerate(waits):
        if nodes > MAX_NODES:
            break
        places = wait.places()
        nodes += len(places)
        for place in places:
            at.setdefault(place, []).append(number)
        followed.append(number)
        later[number] = _later(wait, known)
    graph: nx.DiGraph[Node] = nx.DiGraph()
    for number in followed:
        wait = waits[number]
        if wait.awaited is None:
            continue
        givers: dict[Unit, set[Node]] = {}
        for place, other, symbol in wait.awaited.pairs(wait):
            if number in at.get(place, ()):
                able = {(other, theirs) for theirs in at.get(other, ()) if symbol in later[theirs]}
                givers.setdefault(place, set()).update(able)
        for place, others in givers.items():
            if wait.awaited.all_have_to_act or len({other for other, _ in others}) == 1:
                graph.add_edges_from(((place, number), other) for other in others)
    return graph


def _later(wait: Wait, known: dict[int, Continuations]) -> frozenset[str]:
    """The queues and channels that the units of a wait may still use once it is over."""
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
    """The input queues that data tasks among some tasks read."""
    found = set(tasks)
    return {task.queue.name for task in cls.task_list if task.queue is not None and task.name in found}
