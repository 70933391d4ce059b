"""Coloring against a search through all assignments."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomir.analysis.coloring import Clash, Exhausted, Graph, color_by_weight, color_graph, graph_of


def graph(nodes: int, *edges: tuple[int, int]) -> Graph[int]:
    return graph_of(range(nodes), edges)


def crowd(nodes: int, *others: int) -> Graph[int]:
    """So many nodes that are all neighbors of each other, and some that are nobody's."""
    return graph_of([*range(nodes), *others], combinations(range(nodes), 2))


@st.composite
def problems(draw):
    nodes = draw(st.integers(0, 6))
    edges = draw(st.sets(st.tuples(st.integers(0, max(nodes - 1, 0)), st.integers(0, max(nodes - 1, 0)))))
    allowed = {node: sorted(draw(st.sets(st.integers(0, 3), min_size=1))) for node in range(nodes)}
    fixed = {node: draw(st.integers(0, 3)) for node in range(nodes) if draw(st.integers(0, 3)) == 0}
    preferred = {node: draw(st.integers(0, 3)) for node in range(nodes) if draw(st.booleans())}
    return graph(nodes, *(edges if nodes else ())), allowed, fixed, preferred


@given(problems())
def test_a_coloring_is_found_exactly_when_there_is_one(problem) -> None:
    g, allowed, fixed, preferred = problem
    edges = [(a, b) for a in g for b in g[a] if a != b]
    choices = [[fixed[node]] if node in fixed else allowed[node] for node in g]
    exists = any(all(numbers[a] != numbers[b] for a, b in edges) for numbers in product(*choices))
    try:
        found = color_graph(g, allowed, fixed, preferred)
    except Clash as clash:
        assert fixed[clash.first] == fixed[clash.second] == clash.number
        assert clash.second in g[clash.first]
        return
    except Exhausted as error:
        assert not exists
        assert error.competitors
        return
    assert list(found) == list(g)
    assert all(found[node] in choices[node] for node in g)
    assert all(found[a] != found[b] for a, b in edges)


def test_preferred_numbers_are_kept_where_they_fit() -> None:
    assert color_graph(graph(3, (0, 1)), dict.fromkeys(range(3), range(4)), preferred={0: 2, 1: 2, 2: 2}) == {
        0: 2,
        1: 0,
        2: 2,
    }


def test_preferred_numbers_are_given_up_for_a_solution() -> None:
    # With 1 on both ends nothing would be left for the middle.
    path = graph(3, (0, 1), (1, 2))
    found = color_graph(path, {0: [0, 1], 1: [1], 2: [0, 1]}, preferred={0: 1})
    assert found == {0: 0, 1: 1, 2: 0}


def test_two_neighbors_with_one_number_are_named() -> None:
    with pytest.raises(Clash) as error:
        color_graph(graph(2, (0, 1)), dict.fromkeys(range(2), range(4)), {0: 3, 1: 3})
    assert (error.value.first, error.value.second, error.value.number) == (0, 1, 3)


def test_the_competitors_are_named() -> None:
    nodes = crowd(4, 99)
    with pytest.raises(Exhausted) as error:
        color_graph(nodes, dict.fromkeys(nodes, range(3)))
    assert error.value.competitors == (0, 1, 2, 3)


def test_a_large_crowd_is_refused_at_once() -> None:
    # A search would try all orders of the first eight.
    with pytest.raises(Exhausted):
        color_graph(crowd(30), dict.fromkeys(range(30), range(8)))


@pytest.mark.slow
def test_many_graphs_in_one() -> None:
    # Four nodes for which the greedy order finds nothing, so that the search has to, and many copies of them.
    nodes, copies = 4, 300
    edges, allowed = [(0, 1), (0, 2), (0, 3), (1, 2)], {0: [0, 1], 1: [0, 2], 2: [0, 2], 3: [1, 2]}
    g = graph(nodes * copies, *((nodes * k + a, nodes * k + b) for k in range(copies) for a, b in edges))
    found = color_graph(g, {node: allowed[node % nodes] for node in g})
    assert list(found) == list(g)
    assert all(found[node] in allowed[node % nodes] for node in g)
    assert all(found[a] != found[b] for a in g for b in g[a])


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [(3, 4), (0, 1, 2)])
def test_a_graph_of_many_nodes(numbers: tuple[int, ...]) -> None:
    count = 5000
    ring = graph(count, *((k, (k + 1) % count) for k in range(count)))
    found = color_graph(ring, dict.fromkeys(ring, numbers), {0: numbers[1]}, {7: numbers[0]})
    assert found[0] == numbers[1]
    assert set(found.values()) <= set(numbers)
    assert all(found[k] != found[(k + 1) % count] for k in range(count))


@pytest.mark.slow
def test_many_nodes_without_a_coloring() -> None:
    # A ring of odd length takes three numbers.
    count = 4999
    ring = graph(count, *((k, (k + 1) % count) for k in range(count)))
    with pytest.raises(Exhausted) as error:
        color_graph(ring, dict.fromkeys(ring, range(2)))
    assert len(error.value.competitors) == 2


@given(
    problems(), st.lists(st.integers(0, 3), min_size=6, max_size=6), st.lists(st.integers(1, 3), min_size=4, max_size=4)
)
def test_heavier_nodes_have_numbers_worth_more(problem, weights: list[int], worths: list[int]) -> None:
    """In the order of their weights, no coloring gives the first node that differs a number worth more."""
    g, allowed, fixed, _ = problem
    try:
        start = color_graph(g, allowed, fixed)
    except (Clash, Exhausted):
        return
    found = color_by_weight(g, allowed, fixed, start, dict(enumerate(weights)), lambda node, number: worths[number])
    edges = [(a, b) for a in g for b in g[a] if a != b]
    choices = [[fixed[node]] if node in fixed else allowed[node] for node in g]
    colorings = [numbers for numbers in product(*choices) if all(numbers[a] != numbers[b] for a, b in edges)]
    heavy = sorted((node for node in g if node not in fixed and weights[node]), key=lambda node: -weights[node])
    assert tuple(found.values()) in colorings
    best = max(tuple(worths[numbers[node]] for node in heavy) for numbers in colorings)
    assert tuple(worths[found[node]] for node in heavy) == best
