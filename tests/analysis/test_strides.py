"""Tensor accesses: every worked vector of the rules, and random ones against enumeration of their indices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomir.analysis.strides import AffineIndex, Walk, WalkError, check_walk, linearize, walk_of_access

KINDS = st.sampled_from(["mem1d", "mem4d"])


def index(*coefficients: int, constant: int = 0) -> AffineIndex:
    return AffineIndex(coefficients, constant)


def stepped(walk: Walk) -> list[int]:
    """The elements of a walk, by moving one odometer: the dimension that advances adds its stride, and only that
    (DSD-061)."""
    visited = []
    address = walk.offset
    previous = None
    for point in product(*(range(extent) for extent in walk.extents)):
        if previous is not None:
            moved = max(d for d in range(len(point)) if point[d] > previous[d])
            address += walk.strides[len(point) - 1 - moved]
        visited.append(address)
        previous = point
    return visited


def test_vectors_of_one_dimension() -> None:
    # DSD-038
    assert walk_of_access("mem1d", [10], [index(1)], [10]) == Walk(0, (1,), (10,))
    # DSD-039
    walk = walk_of_access("mem1d", [10], [index(2, constant=1)], [5])
    assert walk == Walk(1, (2,), (5,))
    assert stepped(walk) == [1, 3, 5, 7, 9]
    # DSD-040: the same element ten times
    walk = walk_of_access("mem1d", [10], [index(0)], [10])
    assert walk == Walk(0, (0,), (10,))
    assert stepped(walk) == [0] * 10
    # DSD-041: the diagonal; DSD-028: any rank with one variable
    walk = walk_of_access("mem1d", [20, 20], [index(1), index(1)], [20])
    assert walk == Walk(0, (21,), (20,))
    assert stepped(walk)[:3] + stepped(walk)[-1:] == [0, 21, 42, 399]
    # DSD-042: leaving the array is legal here (AMB-02)
    assert walk_of_access("mem1d", [10], [index(2, constant=42)], [10]) == Walk(42, (2,), (10,))
    # DSD-017
    assert stepped(Walk(42, (2,), (3,))) == [42, 44, 46]


def test_vectors_of_several_dimensions() -> None:
    # DSD-062
    assert stepped(Walk(0, (1, -2), (2, 4))) == [0, 1, 2, 3, 1, 2, 3, 4]
    # DSD-064
    assert stepped(Walk(0, (1, 1), (2, 3))) == [0, 1, 2, 3, 4, 5]
    # DSD-066, DSD-027
    walk = walk_of_access("mem4d", [4, 3], [index(1, 0), index(0, 1)], [2, 2])
    assert walk == Walk(0, (1, 2), (2, 2))
    assert stepped(walk) == [0, 1, 3, 4]
    # DSD-067
    unit = [index(*(int(d == v) for v in range(4)), constant=int(d == 2)) for d in range(4)]
    walk = walk_of_access("mem4d", [1, 2, 3, 4], unit, [1, 2, 1, 4])
    assert walk == Walk(4, (1, 1, 9, 9), (1, 2, 1, 4))
    assert stepped(walk) == [4, 5, 6, 7, 16, 17, 18, 19]
    # DSD-068, DSD-065
    walk = walk_of_access("mem4d", [8], [index(1, 1, 1, 1)], [1, 1, 1, 1])
    assert walk == Walk(0, (1, 1, 1, 1), (1, 1, 1, 1))
    assert stepped(walk) == [0]
    # DSD-069
    walk = walk_of_access("mem4d", [20], [index(2, 1)], [5, 5])
    assert walk == Walk(0, (1, -2), (5, 5))
    assert stepped(walk) == [start + step for start in (0, 2, 4, 6, 8) for step in range(5)]
    # DSD-070, DSD-071, DSD-061, DSD-063
    access = [index(1, 1, 0, 0), index(0, 0, 1, 1, constant=2)]
    assert walk_of_access("mem4d", [4, 5], access, [5, 5, 5, 5]) == Walk(2, (1, -3, -3, -23), (5, 5, 5, 5))


def test_a_single_mem4d_dimension_is_an_ordinary_walk() -> None:
    # AMB-05
    assert walk_of_access("mem4d", [10], [index(-3, constant=9)], [4]) == Walk(9, (-3,), (4,))


@st.composite
def accesses(draw) -> tuple[list[int], list[AffineIndex], list[int]]:
    """An access that stays in its array, so that numpy can be asked what it visits."""
    variables = draw(st.integers(1, 4))
    extents = draw(st.lists(st.integers(0, 4), min_size=variables, max_size=variables))
    indices, shape = [], []
    for _ in range(draw(st.integers(1, 4))):
        coefficients = draw(st.lists(st.integers(-3, 3), min_size=variables, max_size=variables))
        reached = [
            sum(c * x for c, x in zip(coefficients, point, strict=True))
            for point in product(*(range(max(extent, 1)) for extent in extents))
        ]
        constant = draw(st.integers(0, 2)) - min(reached)
        indices.append(AffineIndex(tuple(coefficients), constant))
        shape.append(constant + max(reached) + 1 + draw(st.integers(0, 2)))
    return shape, indices, extents


def enumerated(shape: list[int], indices: list[AffineIndex], extents: list[int]) -> Iterator[int]:
    """The element numbers an access visits: evaluate every index at every point, and ask numpy for the element."""
    dimensions = np.array(shape, dtype=np.int64)
    for point in product(*(range(extent) for extent in extents)):
        where = [sum(c * x for c, x in zip(i.coefficients, point, strict=True)) + i.constant for i in indices]
        assert all(0 <= w < n for w, n in zip(where, shape, strict=True))
        yield int(np.ravel_multi_index(where, tuple(dimensions)))


@given(accesses())
def test_walks_visit_what_the_indices_say(access: tuple[list[int], list[AffineIndex], list[int]]) -> None:
    shape, indices, extents = access
    try:
        walk = walk_of_access("mem4d", shape, indices, extents)
    except WalkError:
        return
    assert walk.extents == tuple(extents)
    assert stepped(walk) == list(enumerated(shape, indices, extents))


@given(accesses())
def test_a_stride_is_refused_exactly_when_it_does_not_fit(
    access: tuple[list[int], list[AffineIndex], list[int]],
) -> None:
    # DSD-032, on one dimension: the stride is the distance of two neighbors.
    shape, indices, extents = access
    if len(extents) != 1 or extents[0] < 2:
        return
    visited = list(enumerated(shape, indices, extents))
    distance = visited[1] - visited[0]
    fits = -128 <= distance <= 127 and visited[0] < 1 << 15
    try:
        walk_of_access("mem1d", shape, indices, extents)
    except WalkError:
        assert not fits
    else:
        assert fits


@pytest.mark.parametrize(
    ("kind", "walk", "message"),
    [
        ("mem1d", Walk(32768, (1,), (1,)), "offset 32768 does not fit an i16"),
        ("mem1d", Walk(-32769, (1,), (1,)), "offset -32769 does not fit an i16"),
        ("mem1d", Walk(0, (128,), (2,)), "stride 128 does not fit the i8 of a mem1d descriptor"),
        ("mem1d", Walk(0, (-129,), (2,)), "stride -129 does not fit the i8"),
        ("mem4d", Walk(0, (1, 32768), (2, 2)), "stride 32768 does not fit the i16 of a mem4d descriptor"),
        ("mem1d", Walk(0, (1,), (65536,)), "extent 65536 is above 65535"),
        ("mem1d", Walk(0, (1,), (-1,)), "extent -1 is negative"),
        ("mem1d", Walk(0, (1, 1), (2, 2)), "a mem1d descriptor has one dimension, not 2"),
        ("mem4d", Walk(0, (1,) * 5, (1,) * 5), "one to four dimensions, not 5"),
        ("mem4d", Walk(0, (), ()), "one to four dimensions, not 0"),
    ],
)
def test_what_no_descriptor_holds_is_refused(kind, walk: Walk, message: str) -> None:
    # DSD-020, DSD-021, DSD-032, DSD-057
    with pytest.raises(WalkError, match=message):
        check_walk(kind, walk)


@pytest.mark.parametrize(
    ("kind", "walk"),
    [
        ("mem1d", Walk(-32768, (-128,), (65535,))),
        ("mem1d", Walk(32767, (127,), (0,))),
        ("mem4d", Walk(0, (-32768, 32767), (2, 2))),
    ],
)
def test_the_ends_of_the_ranges_are_accepted(kind, walk: Walk) -> None:
    # DSD-032, DSD-022
    check_walk(kind, walk)


def test_as_many_indices_as_dimensions() -> None:
    # DSD-024
    with pytest.raises(WalkError, match="1 index expressions but the array has rank 2"):
        linearize([4, 5], [index(1)])
    # DSD-058
    with pytest.raises(WalkError, match="2 induction variables but 1 extents"):
        walk_of_access("mem4d", [4], [index(1, 1)], [3])
