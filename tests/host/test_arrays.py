"""Conversion and spreading of the arrays a host program passes in."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from loomir import LoomError
from loomir.host.arrays import convert, spread

INTEGERS = ["int16", "uint16", "int32", "uint32"]


@given(st.sampled_from(INTEGERS), st.lists(st.integers(-(2**40), 2**40), min_size=1))
def test_integers_keep_their_value_or_are_refused(dtype: str, values: list[int]) -> None:
    array = np.array(values, np.int64)
    limits = np.iinfo(dtype)
    if all(limits.min <= value <= limits.max for value in values):
        assert convert(array, np.dtype(dtype), "x").tolist() == values
    else:
        with pytest.raises(LoomError, match=f"{dtype} only {limits.min} to {limits.max}"):
            convert(array, np.dtype(dtype), "x")


def test_floats_lose_precision_only() -> None:
    assert convert([1.1, np.inf], np.dtype("float32"), "x").tolist() == [np.float32(1.1), np.inf]
    assert np.isnan(convert([np.nan], np.dtype("float16"), "x")).all()
    assert convert([1, 2], np.dtype("float16"), "x").dtype == np.float16


@pytest.mark.parametrize(("value", "dtype"), [(1e300, "float32"), (-65520.0, "float16"), (70000, "float16")])
def test_numbers_do_not_become_infinite_in_silence(value: float, dtype: str) -> None:
    with pytest.raises(LoomError, match=f"x holds {re.escape(str(value))}, which is too large for {dtype}"):
        convert([0, value], np.dtype(dtype), "x")


def test_integers_beyond_64_bits() -> None:
    with pytest.raises(LoomError, match="more than 64 bits"):
        convert([1 << 70], np.dtype("int16"), "x")


@pytest.mark.parametrize("value", [["a"], [None], np.array([1j]), np.array(["2020"], "datetime64")])
def test_not_numbers(value: object) -> None:
    with pytest.raises(LoomError):
        convert(value, np.dtype("float32"), "x")  # pyright: ignore[reportArgumentType]


def test_floats_do_not_become_integers_in_silence() -> None:
    with pytest.raises(LoomError, match="holds float64, but the program takes int16"):
        convert([1.5], np.dtype("int16"), "x")


def test_ragged() -> None:
    with pytest.raises(LoomError, match="x is not an array"):
        convert([[1], [1, 2]], np.dtype("int16"), "x")  # pyright: ignore[reportArgumentType]


def test_spread() -> None:
    whole = np.arange(24).reshape(2, 3, 4)
    assert spread(whole, (4,), (3, 2), "x") is whole
    assert_array_equal(spread(np.arange(4), (4,), (3, 2), "x"), np.tile(np.arange(4), (2, 3, 1)))
    assert_array_equal(spread(np.array(7), (4,), (3, 2), "x"), np.full((2, 3, 4), 7))
    assert_array_equal(spread(np.array(7), (), (3, 2), "x"), np.full((2, 3), 7))


@pytest.mark.parametrize("shape", [(3, 2, 4), (2, 3), (5,), (1, 2, 3, 4), (24,)])
def test_shapes_that_do_not_fit(shape: tuple[int, ...]) -> None:
    with pytest.raises(LoomError) as caught:
        spread(np.zeros(shape), (4,), (3, 2), "x")
    assert f"has shape {list(shape)}, needs [2, 3, 4]" in str(caught.value)
