"""Walks over memory against nested counters, and the vectors of the documents."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.runtime.warps.memory import Memory, walk
from loomir.runtime.warps.units import cells, rectangle

from ...searches import examples
from .. import oracle


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
    assert (offset + walk(strides, extents).table).tolist() == elements
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
    found, wanted = walk(strides, extents), list(oracle.walk(strides, extents))
    assert found.table.tolist() == wanted
    assert found.count == len(wanted)
    if wanted:
        assert (found.low, found.high) == (min(wanted), max(wanted))
    steps = {after - before for before, after in itertools.pairwise(wanted)}
    assert len(wanted) < 2 or (found.stride is not None) == (len(steps) == 1)


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
    assert walk(tuple(reversed(strides)), extents).table.tolist() == expected


UNITS = {
    "all": rectangle(range(3), range(4)),
    "one": rectangle(range(1, 2), range(2, 3)),
    "strided": rectangle(range(0, 3, 2), range(1, 4, 2)),
    "cells": cells(np.array([0, 1, 2]), np.array([3, 0, 1])),
}


@pytest.mark.slow
@settings(max_examples=examples(150, seldom=True))
@given(
    kind=st.sampled_from(["f32", "i32", "f16", "i16", "bf16"]), units=st.sampled_from(sorted(UNITS)),
    dimensions=st.lists(st.tuples(st.integers(-3, 3), st.integers(1, 3)), min_size=1, max_size=3),
    at=st.integers(0, 30), per_unit=st.sampled_from([0, 1, 2]), odd=st.booleans(), raw=st.booleans(), data=st.data(),
)  # fmt: skip
def test_gather_and_scatter(kind, units, dimensions, at, per_unit, odd, raw, data) -> None:
    """Elements are read from, and written to, the words that the walk names; the last of several writes stays."""
    strides = tuple(stride for stride, _ in dimensions)
    extents = tuple(extent for _, extent in reversed(dimensions))
    offsets = list(oracle.walk(strides, extents))
    width = 2 if kind in ("f32", "i32") else 1
    words = 240
    base = (at - min(offsets)) * width + odd
    chosen = UNITS[units]
    memory = Memory(3, words, 4)
    memory.flat[...] = np.random.default_rng(at).integers(0, 1 << 32, memory.flat.shape, np.uint32) & 0x3BFF3BFF
    low = data.draw(st.integers(0, len(offsets) - 1))
    high = data.draw(st.integers(low + 1, len(offsets)))
    rows, columns = (v.ravel().tolist() for v in np.broadcast_arrays(*chosen.cells()))
    address = base
    extra = dict.fromkeys(zip(rows, columns, strict=True), 0)
    if per_unit:
        extra = {place: (k % 4) * per_unit for k, place in enumerate(extra)}
        address = np.array([base + step for step in extra.values()], np.int64).reshape(chosen.shape)

    def word(row: int, column: int, number: int) -> int:
        return int(memory.flat[row, number >> 1, column]) >> (16 * (number & 1)) & 0xFFFF

    def element(row: int, column: int, k: int) -> int:
        number = base + extra[row, column] + offsets[k] * width
        low_word = word(row, column, number)
        return low_word | word(row, column, number + 1) << 16 if width == 2 else low_word

    def bits(values):
        return np.ascontiguousarray(values).view(np.uint32 if width == 2 else np.uint16)

    found = bits(memory.gather(kind, chosen, address, walk(strides, extents), low, high, raw=raw))
    expected = [[element(row, column, k) for k in range(low, high)] for row, column in extra]
    assert np.moveaxis(found, 1, 2).reshape(-1, high - low).tolist() == expected

    new = np.random.default_rng(at + 1).integers(0, 1 << (16 * width), (chosen.shape[0], high - low, chosen.shape[1]))
    values = new.astype(np.uint32 if width == 2 else np.uint16)
    if not raw:
        values = (values & (0x7F7FFFFF if width == 2 else 0x7B7F)).view(memory.typed[kind].dtype)
    before = {(r, c, w): word(r, c, w) for r in range(3) for c in range(4) for w in range(words)}
    memory.scatter(kind, chosen, address, walk(strides, extents), low, high, values, raw=raw)
    flat = np.moveaxis(bits(values), 1, 2).reshape(-1, high - low).tolist()
    for (row, column), numbers in zip(extra, flat, strict=True):
        for k, number in zip(range(low, high), numbers, strict=True):
            first = base + extra[row, column] + offsets[k] * width
            before[row, column, first] = number & 0xFFFF
            if width == 2:
                before[row, column, first + 1] = number >> 16
    assert {key: word(*key) for key in before} == before
