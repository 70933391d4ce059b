"""Walks over memory against nested counters, and the vectors of the documents."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.runtime.reference.descriptors import Walk

from ...searches import examples
from .. import oracle


def walked(strides: tuple[int, ...], extents: tuple[int, ...], offset: int = 0) -> list[int]:
    """Return where the reference finds the elements of a walk."""
    walk = Walk(offset, None, "i16", extents, strides)
    return list(walk.words(0, walk.length))


@pytest.mark.parametrize(
    ("offset", "strides", "extents", "elements"),
    [
        # DSD-017: offset 42, stride 2, extent 3
        pytest.param(42, (2,), (3,), [42, 44, 46], id="DSD-017"),
        pytest.param(0, (1,), (10,), list(range(10)), id="DSD-038"),
        pytest.param(1, (2,), (5,), [1, 3, 5, 7, 9], id="DSD-039"),
        pytest.param(0, (0,), (10,), [0] * 10, id="DSD-040"),
        pytest.param(0, (21,), (20,), list(range(0, 400, 21)), id="DSD-041"),
        # DSD-061, DSD-062: strides innermost first, extents outermost first
        pytest.param(0, (1, -2), (2, 4), [0, 1, 2, 3, 1, 2, 3, 4], id="DSD-062"),
        pytest.param(0, (1, 1), (2, 3), [0, 1, 2, 3, 4, 5], id="DSD-064"),
        pytest.param(0, (1, 2), (2, 2), [0, 1, 3, 4], id="DSD-066"),
        pytest.param(4, (1, 1, 9, 9), (1, 2, 1, 4), [4, 5, 6, 7, 16, 17, 18, 19], id="DSD-067"),
        pytest.param(0, (1, 1, 1, 1), (1, 1, 1, 1), [0], id="DSD-068"),
        pytest.param(
            0, (1, -2), (5, 5), [i * 2 + j for i in range(5) for j in range(5)], id="DSD-069",
        ),
        pytest.param(
            2, (1, -3, -3, -23), (5, 5, 5, 5),
            [5 * (i + j) + k + m + 2 for i in range(5) for j in range(5) for k in range(5) for m in range(5)],
            id="DSD-070",
        ),
    ],
)  # fmt: skip
def test_vectors(offset: int, strides: tuple[int, ...], extents: tuple[int, ...], elements: list[int]) -> None:
    """DSD-059, DSD-061 to DSD-071: the walks that the documents write out."""
    assert walked(strides, extents, offset) == elements
    assert [offset + k for k in oracle.walk(strides, extents)] == elements


DIMENSIONS = st.lists(
    st.tuples(st.integers(-7, 7), st.integers(0, 4)), min_size=1, max_size=4
)  # fmt: skip


@settings(max_examples=examples(200, seldom=True))
@given(DIMENSIONS)
def test_walk_against_counters(dimensions: list[tuple[int, int]]) -> None:
    """DSD-022, DSD-059, DSD-061, DSD-062: only the stride of the advancing dimension is applied at each step."""
    strides = tuple(stride for stride, _ in dimensions)
    extents = tuple(extent for _, extent in reversed(dimensions))
    assert walked(strides, extents) == list(oracle.walk(strides, extents))


@settings(max_examples=examples(200, seldom=True))
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=4))
def test_walk_of_an_affine_access(terms: list[tuple[int, int]]) -> None:
    """DSD-063, DSD-071: stride(d) = c_d - sum over faster dimensions of c_e * (n_e - 1) walks the affine access."""
    strides = []
    for position, (coefficient, _) in enumerate(terms):
        faster = terms[position + 1 :]
        strides.append(coefficient - sum(c * (n - 1) for c, n in faster))
    expected = [0]
    for coefficient, extent in terms:
        expected = [base + coefficient * k for base in expected for k in range(extent)]
    extents = tuple(extent for _, extent in terms)
    assert walked(tuple(reversed(strides)), extents) == expected
