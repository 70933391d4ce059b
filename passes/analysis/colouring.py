"""Giving numbered resources to competitors: graph colouring with some colours fixed beforehand.

Nodes are the competitors, an edge joins two that must not get the same number. Nodes are coloured by saturation
(networkx); only if that takes more numbers than there are, an exact search decides whether it can be done at all.
networkx takes as long to import as the rest of the compiler, so it is imported only when there is a choice to make.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    import networkx as nx

Node = TypeVar("Node", bound=Hashable)

Graph = Mapping[Node, Collection[Node]]
"""Each node with its neighbours; see `graph_of`."""

SEARCH_LIMIT = 100_000
"""Steps of the exact search after which the machine is said to have run out."""


@dataclass
class Clash(Exception):
    """Two neighbours were given the same number beforehand."""

    first: Hashable
    second: Hashable
    number: int


@dataclass
class Exhausted(Exception):
    """There are too few numbers: `competitors` all need different ones, or no assignment exists for them."""

    competitors: tuple[Hashable, ...]


def graph_of(nodes: Iterable[Node], edges: Iterable[tuple[Node, Node]]) -> Graph[Node]:
    """The graph with these nodes and edges, both in their order, which decides where several results are possible."""
    graph: dict[Node, dict[Node, None]] = {node: {} for node in nodes}
    for first, second in edges:
        graph[first][second] = None
        graph[second][first] = None
    return graph


def colour(
    graph: Graph[Node],
    allowed: Mapping[Node, Sequence[int]],
    fixed: Mapping[Node, int] | None = None,
    preferred: Mapping[Node, int] | None = None,
    *,
    exact: bool = True,
) -> dict[Node, int]:
    """A number for every node, from its `allowed` ones, different from the numbers of its neighbours.

    Numbers in `fixed` are kept, also where they are not allowed ones. Those in `preferred` are kept where no
    neighbour has them already, in their order, and given up if there is no solution with them. Raises Clash or
    Exhausted; without `exact`, Exhausted may be raised although a solution exists.
    """
    numbers = dict(fixed or {})
    clash = _clash(graph, numbers)
    if clash is not None:
        raise clash
    wished = dict(numbers)
    for node, number in (preferred or {}).items():
        taken = {wished[other] for other in graph[node] if other in wished and other != node}
        if node not in wished and number in allowed[node] and number not in taken:
            wished[node] = number
    for start in (wished, numbers) if wished != numbers else (numbers,):
        found = _first_choices(graph, allowed, start)
        if found is None:
            found = _by_saturation(graph, allowed, start)
        if found is None and exact:
            found = _by_search(graph, allowed, start)
        if found is not None:
            return {node: found[node] for node in graph}
    raise Exhausted(_competitors(graph, allowed, numbers))


def _clash(graph: Graph[Node], numbers: Mapping[Node, int]) -> Clash | None:
    """Two neighbours with the same number, if there are any."""
    for first in graph:
        if first in numbers:
            for second in graph[first]:
                if first != second and numbers[first] == numbers.get(second):
                    return Clash(first, second, numbers[first])
    return None


def _first_choices(
    graph: Graph[Node], allowed: Mapping[Node, Sequence[int]], start: Mapping[Node, int]
) -> dict[Node, int] | None:
    """The lowest number each may have, if that keeps neighbours apart: any greedy colouring is the same then."""
    if not all(node in start or allowed[node] for node in graph):
        return None
    numbers = {node: start[node] if node in start else min(allowed[node]) for node in graph}
    return numbers if _clash(graph, numbers) is None else None


def _by_saturation(
    graph: Graph[Node], allowed: Mapping[Node, Sequence[int]], start: Mapping[Node, int]
) -> dict[Node, int] | None:
    """The greedy colouring of networkx, or None if a node got a number it is not allowed."""
    import networkx as nx

    # The stubs of networkx know neither function fully.
    saturation_order = cast(
        "_Order",
        nx.coloring.strategy_saturation_largest_first,  # pyright: ignore[reportUnknownMemberType]
    )
    greedy_color = cast(
        "Callable[[nx.Graph[object], _Order], dict[object, int]]",
        nx.coloring.greedy_color,  # pyright: ignore[reportUnknownMemberType]
    )
    simple: nx.Graph[object] = nx.Graph()
    simple.add_nodes_from(graph)
    simple.add_edges_from((node, other) for node in graph for other in graph[node] if node != other)
    coloured: dict[object, int] = {**start}
    # networkx takes the lowest free number: a number that is not allowed is a neighbour that has it.
    most = 1 + max((number for numbers in allowed.values() for number in numbers), default=-1)
    for number in range(most):
        excluding = [node for node in graph if node not in start and number not in allowed[node]]
        if excluding:
            holder = _Holder(number)
            coloured[holder] = number
            simple.add_edges_from((holder, node) for node in excluding)

    def order(working: nx.Graph[object], colours: dict[object, int]) -> Iterator[object]:
        colours.update(coloured)
        yield from saturation_order(working, colours)

    found = greedy_color(simple, order)
    result = {node: found[node] for node in graph}
    if all(result[node] in allowed[node] for node in graph if node not in start):
        return result
    return None


_Order = Callable[["nx.Graph[object]", dict[object, int]], Iterator[object]]


@dataclass(frozen=True)
class _Holder:
    number: int


def _by_search(
    graph: Graph[Node], allowed: Mapping[Node, Sequence[int]], start: Mapping[Node, int]
) -> dict[Node, int] | None:
    """The first colouring in a depth-first search that takes the most constrained node next, or None."""
    group = _mutual_neighbours(graph)
    if len(group) > len({number for node in group for number in (*allowed[node], start.get(node, -1))} - {-1}):
        return None
    numbers = dict(start)
    open_nodes = [node for node in graph if node not in numbers]
    steps = 0

    def choices(node: Node) -> list[int]:
        taken = {numbers[other] for other in graph[node] if other in numbers and other != node}
        return [number for number in allowed[node] if number not in taken]

    def place() -> bool:
        nonlocal steps
        steps += 1
        if not open_nodes:
            return True
        if steps > SEARCH_LIMIT:
            return False
        node = min(open_nodes, key=lambda n: (len(choices(n)), -len(graph[n])))
        open_nodes.remove(node)
        for number in choices(node):
            numbers[node] = number
            if place():
                return True
            del numbers[node]
        open_nodes.append(node)
        return False

    return numbers if place() else None


def _competitors(
    graph: Graph[Node], allowed: Mapping[Node, Sequence[int]], fixed: Mapping[Node, int]
) -> tuple[Node, ...]:
    """Nodes to name when the numbers do not suffice: a node without a choice and those that took its numbers, else
    a largest group of mutual neighbours."""
    order = {node: position for position, node in enumerate(graph)}
    for node in graph:
        if node in fixed:
            continue
        holders: dict[int, Node] = {}
        for other in graph[node]:
            if other in fixed:
                holders.setdefault(fixed[other], other)
        if all(number in holders for number in allowed[node]):
            named = {holders[number] for number in allowed[node]} | {node}
            return tuple(sorted(named, key=order.__getitem__))
    return tuple(sorted(_mutual_neighbours(graph), key=order.__getitem__))


def _mutual_neighbours(graph: Graph[Node]) -> list[Node]:
    """A large group of nodes that are all neighbours of each other: grown from each node in turn, by degree."""
    by_degree = sorted(graph, key=lambda node: -len(graph[node]))
    largest: list[Node] = []
    for start in by_degree:
        if len(graph[start]) < len(largest):
            break
        group = [start]
        for node in by_degree:
            if node != start and all(node in graph[member] for member in group):
                group.append(node)
        if len(group) > len(largest):
            largest = group
    return largest
