"""Disjoint paths against all that there are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.host.layout.disjoint_paths import DisjointPaths
from tests.searches import examples

WIDTH, HEIGHT = 5, 4
ROW = WIDTH + 2
STEPS = (-ROW, 1, ROW, -1)


def least_price(starts: list[int], ends: list[int], prices: dict[int, int]) -> float | None:
    """Return the price of the cheapest disjoint paths, by networkx."""
    graph: nx.DiGraph[object] = nx.DiGraph()
    for node, price in prices.items():
        graph.add_edge((node, "in"), (node, "out"), capacity=1, weight=price)
        for step in STEPS:
            if node + step in prices:
                graph.add_edge((node, "out"), (node + step, "in"), capacity=1, weight=0)
    graph.add_node("source", demand=-len(starts))
    graph.add_node("sink", demand=len(ends))
    for node in starts:
        graph.add_edge("source", (node, "in"), capacity=1, weight=0)
    for node in ends:
        graph.add_edge((node, "out"), "sink", capacity=1, weight=0)
    try:
        return nx.min_cost_flow_cost(graph)
    except nx.NetworkXUnfeasible:
        return None


def nodes() -> Iterator[int]:
    for y in range(HEIGHT):
        for x in range(WIDTH):
            yield (y + 1) * ROW + x + 1


@settings(max_examples=examples(300))
@given(data=st.data(), count=st.integers(1, 4))
@pytest.mark.slow
def test_paths_are_disjoint_and_the_cheapest(data: st.DataObject, count: int) -> None:
    places = list(nodes())
    ends = data.draw(st.permutations(places))[: 2 * count]
    starts, ends = list(ends[:count]), list(ends[count:])
    closed = data.draw(st.sets(st.sampled_from(places), max_size=6)) - {*starts, *ends}
    prices = {node: data.draw(st.integers(1, 3)) for node in places if node not in closed}
    found = DisjointPaths(starts, ends, STEPS, prices.get).find()
    expected = least_price(starts, ends, prices)
    if found is None:
        assert expected is None
        return
    steps = [step for path in found for step in path]
    assert len(steps) == len(set(steps))
    assert [path[0] for path in found] == starts
    assert sorted(path[-1] for path in found) == sorted(ends)
    assert all(second - first in STEPS for path in found for first, second in itertools.pairwise(path))
    assert sum(prices[step] for step in steps) == expected
