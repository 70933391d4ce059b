"""Arithmetic at compile time: numbers of a width as numpy has them, on single numbers and on columns of lanes."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.frontend import scalars, types
from loomir.frontend.values import Column, Lanes

from ..searches import examples

INTEGERS = [types.I8, types.I16, types.I32, types.I64, types.U8, types.U16, types.U32, types.U64]
FLOATS = {types.F16: np.float16, types.F32: np.float32, types.BF16: ml_dtypes.bfloat16}
LANE = Lanes(1)


def integers(type: types.Int) -> st.SearchStrategy[int]:
    return st.integers(type.lowest, type.highest) | st.sampled_from([type.lowest, type.highest, 0, 1])


@st.composite
def integer_pairs(draw: st.DrawFn) -> tuple[types.Int, int, int]:
    type = draw(st.sampled_from(INTEGERS))
    return type, draw(integers(type)), draw(integers(type))


def wrapped(type: types.Int, value: int) -> int:
    return int(np.array([value & ((1 << type.bits) - 1)], f"u{type.bits // 8}").view(scalars.NUMPY[type])[0])


@given(integer_pairs(), st.sampled_from("+-*&|^"))
@settings(max_examples=examples(300))
def test_integers(pair: tuple[types.Int, int, int], symbol: str) -> None:
    type, left, right = pair
    exact = {"+": left + right, "-": left - right, "*": left * right, "&": left & right, "|": left | right}
    exact["^"] = left ^ right
    assert scalars.binary(LANE, symbol, type, left, right) == wrapped(type, exact[symbol])


@given(integer_pairs())
@settings(max_examples=examples(200))
def test_division(pair: tuple[types.Int, int, int]) -> None:
    type, left, right = pair
    if right == 0:
        with pytest.raises(ZeroDivisionError):
            scalars.binary(LANE, "/", type, left, right)
        return
    quotient = (
        math.trunc(left / right)
        if abs(left) < 1 << 50
        else abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    )
    if abs(left) < 1 << 50:
        quotient = int(np.trunc(np.longdouble(left) / np.longdouble(right)))
    assert scalars.binary(LANE, "/", type, left, right) == wrapped(type, quotient)
    assert scalars.binary(LANE, "%", type, left, right) == wrapped(type, left - right * quotient)


@given(st.sampled_from(INTEGERS).flatmap(lambda t: st.tuples(st.just(t), integers(t))), st.integers(0, 80))
@settings(max_examples=examples(200))
def test_shifts(value: tuple[types.Int, int], amount: int) -> None:
    type, left = value
    assert scalars.binary(LANE, "<<", type, left, amount) == wrapped(type, left << amount)
    assert scalars.binary(LANE, ">>", type, left, amount) == left >> amount


@given(
    st.sampled_from(list(FLOATS)),
    st.floats(width=32),
    st.floats(width=32),
    st.sampled_from(["+", "-", "*", "/", "<", "=="]),
)
@settings(max_examples=examples(300))
def test_floats(type: types.Float, left: float, right: float, symbol: str) -> None:
    kind = FLOATS[type]
    with np.errstate(all="ignore"):
        a, b = kind(left), kind(right)
        functions: dict[str, Any] = {"+": a + b, "-": a - b, "*": a * b, "<": bool(a < b), "==": bool(a == b)}
        functions["/"] = a / b
        want = functions[symbol]
        have = scalars.binary(LANE, symbol, type, float(a), float(b))
    if isinstance(want, bool):
        assert have == want
    elif math.isnan(float(want)):
        assert math.isnan(have)
    else:
        # A double holds the sums and products of two halves or floats closely enough to be rounded once.
        assert have == float(want) and math.copysign(1, have) == math.copysign(1, float(want))


@given(st.sampled_from(list(FLOATS)), st.floats(width=64))
@settings(max_examples=examples(200))
def test_bits_of_floats(type: types.Float, value: float) -> None:
    rounded = scalars.rounded(type, value)
    pattern = scalars.bits(type, rounded)
    assert 0 <= pattern < 1 << type.bits
    again = scalars.from_bits(type, pattern)
    assert again == rounded or (math.isnan(again) and math.isnan(rounded))


@given(st.integers(0, 0xFFFF))
@settings(max_examples=examples(300))
def test_bits_of_cb16(pattern: int) -> None:
    value = scalars.from_bits(types.CB16, pattern)
    if math.isnan(value):
        assert math.isnan(scalars.rounded(types.CB16, value))
    else:
        assert scalars.rounded(types.CB16, value) == value
        assert scalars.bits(types.CB16, value) == pattern


@given(
    st.integers(1, 9).flatmap(
        lambda n: st.tuples(
            st.lists(st.integers(-(1 << 40), 1 << 40), min_size=n, max_size=n),
            st.lists(st.integers(-9, 9), min_size=n, max_size=n),
        )
    ),
    st.sampled_from(["+", "-", "*", "/", "%", "&", "|", "^", "<", "==", "<<", ">>"]),
    st.sampled_from([*INTEGERS, types.COMPTIME_INT]),
)
@settings(max_examples=examples(300))
def test_columns(numbers: tuple[list[int], list[int]], symbol: str, type: Any) -> None:
    """A column is treated as its numbers one by one."""
    left, right = numbers
    if isinstance(type, types.Int):
        left, right = [type.wrap(n) for n in left], [type.wrap(n) for n in right]
    if symbol in ("<<", ">>"):
        right = [abs(n) % 40 for n in right]
    lanes = Lanes(len(left))
    columns = [scalars.column(lanes, scalars.as_array(values)) for values in (left, right)]
    try:
        want = [scalars.binary(LANE, symbol, type, a, b) for a, b in zip(left, right, strict=True)]
    except ZeroDivisionError:
        with pytest.raises(ZeroDivisionError):
            scalars.binary(lanes, symbol, type, *columns)
        return
    have = scalars.binary(lanes, symbol, type, *columns)
    spread = have.values.tolist() if isinstance(have, Column) else [have] * len(left)
    assert spread == want
    assert isinstance(have, Column) == (len(set(want)) > 1)


def test_columns_of_inner_lanes() -> None:
    outer = Lanes(3)
    inner = Lanes(4, outer, np.array([2, 0, 0, 1]))
    ids = Column(outer, np.array([10, 20, 30]))
    assert inner.spread(ids).tolist() == [30, 10, 10, 20]
    total = scalars.binary(inner, "+", types.I16, ids, Column(inner, np.array([1, 2, 3, 4])))
    assert total.lanes is inner and total.values.tolist() == [31, 12, 13, 24]
