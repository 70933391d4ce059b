"""Dominators of random graphs, against what cannot be reached any more without a node."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.analysis.dominators import Dominance

from ..searches import examples

Edges = list[tuple[int, int]]


def reached(edges: Edges, start: int, without: int | None) -> set[int]:
    """The nodes that paths from the start lead to which avoid one node."""
    found = {start} - {without}
    while new := {behind for node, behind in edges if node in found} - found - {without}:
        found |= new
    return found


@settings(max_examples=examples(300))
@given(st.integers(1, 9).flatmap(lambda size: st.tuples(
    st.just(size), st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=3 * size),
)))  # fmt: skip
def test_random_graphs(graph: tuple[int, Edges]) -> None:
    size, edges = graph
    following = [[behind for node, behind in edges if node == before] for before in range(size)]
    preceding = [[node for node, behind in edges if behind == after] for after in range(size)]
    found = Dominance(following, preceding, 0)
    known = reached(edges, 0, None)
    for above in range(size):
        free = reached(edges, 0, above)
        for below in range(size):
            wanted = above in known and below in known and below not in free
            assert found.holds(above, below) == wanted, (above, below)
