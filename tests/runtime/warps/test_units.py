"""Sets of units against Python sets of (row, column)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.runtime.warps.units import (
    Cells,
    Rectangle,
    assemble,
    cells,
    contains,
    from_mask,
    intersect,
    locate,
    rectangle,
    select,
    union,
)

from ...searches import examples

HEIGHT, WIDTH = 6, 7
EXAMPLES = settings(max_examples=examples(250, seldom=True))


def members(units) -> set[tuple[int, int]]:
    rows, columns = (v.ravel().tolist() for v in np.broadcast_arrays(*units.cells()))
    found = set(zip(rows, columns, strict=True))
    assert len(found) == len(rows) == units.count
    assert int(np.prod(units.shape)) == units.count
    return found


def of(places: set[tuple[int, int]]):
    ordered = sorted(places)
    return cells(np.array([y for y, _ in ordered]), np.array([x for _, x in ordered]))


@st.composite
def ranges(draw, size: int) -> range:
    start = draw(st.integers(0, size - 1))
    return range(start, draw(st.integers(start + 1, size)), draw(st.integers(1, 3)))


@st.composite
def rectangles(draw):
    return rectangle(draw(ranges(HEIGHT)), draw(ranges(WIDTH)))


PLACES = st.sets(st.tuples(st.integers(0, HEIGHT - 1), st.integers(0, WIDTH - 1)), min_size=1)
SETS = st.one_of(rectangles(), PLACES.map(of))


def subset(data, units):
    chosen = data.draw(st.sets(st.sampled_from(sorted(members(units))), min_size=1))
    return of(chosen)


@pytest.mark.slow
@EXAMPLES
@given(SETS, SETS)
def test_intersect_and_contains(a, b) -> None:
    common = intersect(a, b)
    assert (members(common) if common is not None else set()) == members(a) & members(b)
    rows, columns = np.broadcast_arrays(*b.cells())
    expected = [place in members(a) for place in zip(rows.ravel().tolist(), columns.ravel().tolist(), strict=True)]
    assert contains(a, b).ravel().tolist() == expected


@pytest.mark.slow
@EXAMPLES
@given(SETS, st.data())
def test_union(a, data) -> None:
    b = subset(data, a)
    rest = from_mask(a, ~contains(b, a))
    assert members(union([b, *rest])) == members(a)


@pytest.mark.slow
@EXAMPLES
@given(SETS, st.data())
def test_from_mask(units, data) -> None:
    mask = np.array(
        data.draw(st.lists(st.booleans(), min_size=units.count, max_size=units.count)), np.bool_
    ).reshape(units.shape)  # fmt: skip
    rows, columns = np.broadcast_arrays(*units.cells())
    expected = set(zip(rows[mask].tolist(), columns[mask].tolist(), strict=True))
    parts = from_mask(units, mask)
    assert sum(part.count for part in parts) == len(expected)
    assert set().union(*(members(part) for part in parts)) == expected


@pytest.mark.slow
@EXAMPLES
@given(SETS, st.data())
def test_values_of_a_subset(outer, data) -> None:
    inner = subset(data, outer)
    rows, columns = np.broadcast_arrays(*outer.cells())
    values = rows * 100 + columns
    rows, columns = np.broadcast_arrays(*inner.cells())
    expected = rows * 100 + columns
    assert values[locate(outer, inner)].tolist() == expected.tolist()
    assert select(outer, inner, values).shape == inner.shape
    assert select(outer, inner, 7) == 7


@pytest.mark.slow
@EXAMPLES
@given(SETS, st.data())
def test_assemble(units, data) -> None:
    first = subset(data, units)
    parts = [first, *from_mask(units, ~contains(first, units))]
    result = assemble(units, [(part, number) for number, part in enumerate(parts)], np.int64)
    rows, columns = np.broadcast_arrays(*units.cells())
    for row, column, number in zip(rows.ravel(), columns.ravel(), result.ravel(), strict=True):
        assert (int(row), int(column)) in members(parts[number])


@EXAMPLES
@given(SETS)
def test_index_selects_the_members(units) -> None:
    grid = np.arange(HEIGHT * WIDTH).reshape(HEIGHT, WIDTH)
    rows, columns = np.broadcast_arrays(*units.cells())
    assert (grid[units.index] == rows * WIDTH + columns).all()


@pytest.mark.slow
@EXAMPLES
@given(rectangles(), st.data())
def test_rectangles_are_interned_and_found(units, data) -> None:
    """A set of cells that is a rectangle becomes that very rectangle: identity is equality."""
    again = of(members(units))
    assert isinstance(again, Rectangle) and members(again) == members(units)
    assert again is of(members(units))
    rest = subset(data, units)
    assert isinstance(rest, Rectangle | Cells)
