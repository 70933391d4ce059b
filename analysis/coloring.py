"""Graph coloring: numbered resources for competitors, with some colors fixed beforehand.

Nodes are the competitors, an edge joins two that must not get the same number. Nodes are colored by saturation
(networkx); only if that takes more numbers than there are, an exact search decides whether it can be done at all.
networkx takes as long to import as the rest of the compiler, so it is imported only when there is a choice to make.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from ..diagnostics.records import record

if TYPE_CHECKING:
    import networkx as nx

Node = TypeVar("Node", bound=Hashable)

Graph = Mapping[Node, Collection[Node]]
"""Each node with its neighbors; see `graph_of`."""

MAX_ROUNDS = 100_000
"""Steps of the exact search after which the machine is said to have run out."""

MAX_SATURATION_NODES = 500
"""The largest graph colored by saturation; beyond it the search starts at once."""


@dataclass
class Clash(Exception):
    """Two neighbors were given the same number beforehand."""

    first: Hashable
    second: Hashable
    number: int


@dataclass
class Exhausted(Exception):
    """There are too few numbers: `competitors` all need different ones, or no assignment exists for them."""

    competitors: tuple[Hashable, ...]


def graph_of(nodes: Iterable[Node], edges: Iterable[tuple[Node, Node]]) -> Graph[Node]:
    """Return the graph with these nodes and edges, both in their order, which decides where several results are
    possible."""
    graph: dict[Node, dict[Node, None]] = {node: {} for node in nodes}
    for first, second in edges:
        graph[first][second] = None
        graph[second][first] = None
    return graph


def color_graph(
    graph: Graph[Node],
    allowed: Mapping[Node, Sequence[int]],
    fixed: Mapping[Node, int] | None = None,
    preferred: Mapping[Node, int] | None = None,
    *,
    exact: bool = True,
) -> dict[Node, int]:
    """Return a number for every node, from its `allowed` ones, different from the numbers of its neighbors.

    Nodes in `fixed` keep their numbers, allowed or not. Those in `preferred` get theirs, in order, unless a neighbor
    has the same; if the graph cannot be colored with them, all preferences are ignored. Raises Clash if neighbors are
    fixed to one number, Exhausted if the numbers do not suffice; without `exact`, also if they might.
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
    found: dict[Node, int] = {}
    for start in (wished, numbers) if wished != numbers else (numbers,):
        if (first := _first_choices(graph, allowed, start)) is not None:
            return first
        found.clear()
        for part in _components(graph):
            some = _colored(part, allowed, {node: start[node] for node in part if node in start}, exact=exact)
            if some is None:
                break
            found.update(some)
        else:
            return {node: found[node] for node in graph}
    raise Exhausted(_competitors(graph, allowed, numbers))


def color_by_weight(
    graph: Graph[Node],
    allowed: Mapping[Node, Sequence[int]],
    fixed: Mapping[Node, int],
    start: Mapping[Node, int],
    weights: Mapping[Node, int],
    worth: Callable[[Node, int], int],
    *,
    exact: bool = True,
) -> dict[Node, int]:
    """Return a coloring that gives each node the number worth most to it: the heaviest node chooses first.

    `start` is a coloring that keeps to `fixed`, from which the nodes choose in turn, of one weight the earlier first.
    Nodes without a weight do not choose; their numbers change where a node that chooses needs one of them.
    """
    found, settled = dict(start), dict(fixed)
    heaviest = sorted(
        (node for node in graph if weights.get(node) and node not in fixed), key=lambda node: -weights[node]
    )
    for node in heaviest:
        better = [number for number in allowed[node] if worth(node, number) > worth(node, found[node])]
        for number in sorted(better, key=lambda number: (-worth(node, number), number)):
            try:
                found = color_graph(graph, allowed, {**settled, node: number}, found, exact=exact)
                break
            except (Clash, Exhausted):
                continue
        settled[node] = found[node]
    return found


def _components(graph: Graph[Node]) -> Iterator[Graph[Node]]:
    """Yield the parts of a graph that no edge joins: each can be colored by itself."""
    order = {node: position for position, node in enumerate(graph)}
    seen: set[Node] = set()
    for first in graph:
        if first in seen:
            continue
        part, pending = {first}, [first]
        while pending:
            for other in graph[pending.pop()]:
                if other not in part:
                    part.add(other)
                    pending.append(other)
        seen |= part
        yield {node: graph[node] for node in sorted(part, key=order.__getitem__)}


def _colored(
    graph: Graph[Node], allowed: Mapping[Node, Sequence[int]], start: Mapping[Node, int], *, exact: bool
) -> dict[Node, int] | None:
    """Return numbers for all nodes of a connected graph, or None if none are found."""
    found = _first_choices(graph, allowed, start)
    # networkx takes time that grows with the square of the nodes.
    if found is None and (len(graph) <= MAX_SATURATION_NODES or not exact):
        found = _by_saturation(graph, allowed, start)
    if found is None and exact:
        found = _by_search(graph, allowed, start)
    return found


def _clash(graph: Graph[Node], numbers: Mapping[Node, int]) -> Clash | None:
    """Return two neighbors with the same number, if there are any."""
    for first in graph:
        if first in numbers:
            for second in graph[first]:
                if first != second and numbers[first] == numbers.get(second):
                    return Clash(first, second, numbers[first])
    return None


def _first_choices(
    graph: Graph[Node], allowed: Mapping[Node, Sequence[int]], start: Mapping[Node, int]
) -> dict[Node, int] | None:
    """Return the lowest number each may have, if that keeps neighbors apart: any greedy coloring is the same then."""
    if not all(node in start or allowed[node] for node in graph):
        return None
    numbers = {node: start[node] if node in start else min(allowed[node]) for node in graph}
    return numbers if _clash(graph, numbers) is None else None


def _by_saturation(
    graph: Graph[Node], allowed: Mapping[Node, Sequence[int]], start: Mapping[Node, int]
) -> dict[Node, int] | None:
    """Return the greedy coloring of networkx, or None if a node got a number it is not allowed."""
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
    colored: dict[object, int] = {**start}
    # networkx takes the lowest free number: a number that is not allowed is a neighbor that has it.
    most = 1 + max((number for numbers in allowed.values() for number in numbers), default=-1)
    for number in range(most):
        excluding = [node for node in graph if node not in start and number not in allowed[node]]
        if excluding:
            holder = _Holder(number)
            colored[holder] = number
            simple.add_edges_from((holder, node) for node in excluding)

    def order(working: nx.Graph[object], colors: dict[object, int]) -> Iterator[object]:
        colors.update(colored)
        yield from saturation_order(working, colors)

    found = greedy_color(simple, order)
    result = {node: found[node] for node in graph}
    if all(result[node] in allowed[node] for node in graph if node not in start):
        return result
    return None


_Order = Callable[["nx.Graph[object]", dict[object, int]], Iterator[object]]


@record
class _Holder:
    number: int


def _by_search(
    graph: Graph[Node], allowed: Mapping[Node, Sequence[int]], start: Mapping[Node, int]
) -> dict[Node, int] | None:
    """Return the first coloring in a depth-first search that takes the most constrained node next, or None."""
    group = _mutual_neighbors(graph)
    if len(group) > len({number for node in group for number in (*allowed[node], start.get(node, -1))} - {-1}):
        return None
    search = _Search(graph, allowed, start)
    return search.numbers if search.succeeds() else None


class _Search(Generic[Node]):
    """A depth-first search that keeps its place itself, since it goes as deep as there are nodes."""

    def __init__(self, graph: Graph[Node], allowed: Mapping[Node, Sequence[int]], start: Mapping[Node, int]) -> None:
        self._graph, self._allowed = graph, allowed
        self.numbers: dict[Node, int] = dict(start)
        self._order = {node: position for position, node in enumerate(graph)}
        self._nodes = list(graph)
        self._taken: dict[Node, Counter[int]] = {node: Counter() for node in graph if node not in start}
        """Of each node that is open at first, the number of neighbors with each number."""
        for node in self._taken:
            self._taken[node].update(start[other] for other in graph[node] if other in start)
        self._heap = [self._urgency(node) for node in self._taken]
        heapify(self._heap)

    def succeeds(self) -> bool:
        """Give every node a number; False if that is impossible or takes too long."""
        trail: list[tuple[Node, Iterator[int]]] = []
        for _ in range(MAX_ROUNDS):
            node = self._most_constrained()
            if node is None:
                return True
            trail.append((node, iter(self._choices(node))))
            while trail:
                node, rest = trail[-1]
                self._free(node)
                number = next(rest, None)
                if number is not None:
                    self._give(node, number)
                    break
                trail.pop()
            else:
                return False
        return False

    def _choices(self, node: Node) -> list[int]:
        taken = self._taken[node]
        return [number for number in self._allowed[node] if not taken[number]]

    def _urgency(self, node: Node) -> tuple[int, int, int]:
        return len(self._choices(node)), -len(self._graph[node]), self._order[node]

    def _most_constrained(self) -> Node | None:
        """Return the open node with the fewest choices, and of these one with the most neighbors."""
        while self._heap:
            entry = heappop(self._heap)
            node = self._nodes[entry[2]]
            # The current state of a node is in another entry.
            if node not in self.numbers and entry == self._urgency(node):
                return node
        return None

    def _give(self, node: Node, number: int) -> None:
        self.numbers[node] = number
        self._tell(node, number, 1)

    def _free(self, node: Node) -> None:
        """Take a node's number away, if it has one."""
        number = self.numbers.pop(node, None)
        if number is not None:
            self._tell(node, number, -1)
        heappush(self._heap, self._urgency(node))

    def _tell(self, node: Node, number: int, change: int) -> None:
        for other in self._graph[node]:
            if other != node and other in self._taken:
                self._taken[other][number] += change
                if other not in self.numbers:
                    heappush(self._heap, self._urgency(other))


def _competitors(
    graph: Graph[Node], allowed: Mapping[Node, Sequence[int]], fixed: Mapping[Node, int]
) -> tuple[Node, ...]:
    """Return nodes to name when the numbers do not suffice: a node without a choice and those that took its numbers,
    else a largest group of mutual neighbors."""
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
    return tuple(sorted(_mutual_neighbors(graph), key=order.__getitem__))


def _mutual_neighbors(graph: Graph[Node]) -> list[Node]:
    """Return a large group of nodes that are all neighbors of each other: grown from each node in turn, by degree."""
    by_degree = sorted(graph, key=lambda node: -len(graph[node]))
    rank = {node: position for position, node in enumerate(by_degree)}
    largest: list[Node] = []
    for start in by_degree:
        if len(graph[start]) < len(largest):
            break
        group = [start]
        for node in sorted(graph[start], key=rank.__getitem__):
            if node != start and all(node in graph[member] for member in group):
                group.append(node)
        if len(group) > len(largest):
            largest = group
    return largest
