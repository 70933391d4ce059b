"""Sets of units as rectangles of their class and in words, against sets of points."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from loomir.runtime.places import MAX_PIECES, Lattice, describe, pieces


class Grid(NamedTuple):
    member: np.ndarray
    """Where a class has units."""
    chosen: np.ndarray
    """Some of them."""


@st.composite
def grids(draw) -> Grid:
    height, width = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    member = np.zeros((height, width), np.bool_)
    rows = range(draw(st.integers(0, height - 1)), height, draw(st.integers(1, 3)))
    columns = range(draw(st.integers(0, width - 1)), width, draw(st.integers(1, 3)))
    member[np.ix_(rows, columns)] = True
    if draw(st.booleans()):
        member[draw(st.integers(0, height - 1)), draw(st.integers(0, width - 1))] = True
    kept = draw(st.lists(st.booleans(), min_size=height * width, max_size=height * width))
    return Grid(member, member & np.array(kept).reshape(height, width))


def points(mask: np.ndarray) -> set[tuple[int, int]]:
    return {(x, y) for y, x in np.argwhere(mask).tolist()}


def is_product(places: list[tuple[int, int]]) -> bool:
    columns, rows = {x for x, _ in places}, {y for _, y in places}
    return len(places) == len(columns) * len(rows)


def is_even(numbers: set[int]) -> bool:
    ordered = sorted(numbers)
    return len({after - before for before, after in pairwise(ordered)}) <= 1


@given(grids())
def test_sets_are_the_units_chosen(grid: Grid) -> None:
    lattice = Lattice(grid.member)
    mask = np.zeros(lattice.shape, np.bool_)
    places = np.argwhere(grid.chosen)[:, ::-1]
    mask[lattice.index(places)] = True
    found = [([(x, y) for x, y in some.tolist()], whole) for some, whole in lattice.sets(mask)]
    everything = [place for some, _ in found for place in some]
    assert len(everything) == len(set(everything))
    assert set(everything) == points(grid.chosen)
    assert len(found) <= MAX_PIECES
    for some, whole in found:
        assert some == sorted(some, key=lambda place: place[::-1])
        assert not whole or is_product(some)


@given(grids())
def test_all_units_of_a_regular_class_are_one_rectangle(grid: Grid) -> None:
    lattice = Lattice(grid.member)
    units = list(points(grid.member))
    if is_product(units) and is_even({x for x, _ in units}) and is_even({y for _, y in units}):
        inside = np.zeros(lattice.shape, np.bool_)
        inside[lattice.index(np.argwhere(grid.member)[:, ::-1])] = True
        ((places, whole),) = lattice.sets(inside)
        assert whole and {(x, y) for x, y in places.tolist()} == points(grid.member)


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=6))
def test_pieces_are_disjoint_and_cover_the_mask(rows: list[list[bool]]) -> None:
    mask = np.array(rows)
    found = pieces(mask)
    if found is not None:
        covered = np.zeros(mask.shape, np.int64)
        for down, across in found:
            covered[np.ix_(down, across)] += 1
        assert (covered == mask).all()


def test_words() -> None:
    def name(x: int, y: int) -> str:
        return f"PE ({x}, {y})"

    assert describe(np.array([[3, 1]]), True, name, "PEs") == "PE (3, 1)"
    assert describe(np.array([[0, 1], [2, 1]]), True, name, "PEs") == "2 PEs from (0, 1) to (2, 1)"
    assert describe(np.array([[0, 1], [2, 1]]), False, name, "PEs") == "2 PEs, the first (0, 1)"
