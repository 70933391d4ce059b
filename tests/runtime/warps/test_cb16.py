"""Scalar operations on numbers of format cb16: single numbers and arrays give the same bits, and the bits are right."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.operations import cb16
from loomir.runtime.warps.cb16 import decode, encode

from ...searches import examples
from .. import oracle
from .test_scalars import function

LISTS = settings(max_examples=examples(12), derandomize=True)
PATTERNS = np.arange(1 << 16, dtype=np.uint16)
INFINITY = 0x7E00
"""Above it are NaNs."""


@pytest.fixture(scope="module")
def numbers() -> list[float]:
    """Return the number of each pattern, by the definition of the format."""
    return [float(oracle.from_bits(pattern, "cb16")) for pattern in range(1 << 16)]


def same(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))


def of_cb16(name: str, operands: str, result: str) -> Callable[..., Any]:
    values = ", ".join(f"%{letter}" for letter, _ in zip("ab", operands.split(), strict=False))
    types = operands.split()
    return function(f'flow.cb16 "{name}" {values} : ({", ".join(types)}) -> {result}', *types)


def everywhere(apply: Callable[..., Any], *operands: list[int]) -> list[Any]:
    """Return the results for each tuple of operands, which arrays, single numbers and both together have to give."""
    with np.errstate(all="ignore"):
        columns = [np.array([column], np.int16) for column in operands]
        found = apply(*columns)[0].tolist()
        one_by_one = [apply(*values) for values in zip(*operands, strict=True)]
        assert all(same(float(a), float(b)) for a, b in zip(found, one_by_one, strict=True))
        if len(operands) == 2:
            mixed = apply(operands[0][0], columns[1])[0].tolist()
            expected = [apply(operands[0][0], other) for other in operands[1]]
            assert all(same(float(a), float(b)) for a, b in zip(mixed, expected, strict=True))
    return found


def test_known_patterns() -> None:
    """The example of the manual (Types, FP16 types), and the ends of the format."""
    assert cb16.bits(6.0) == 0b0101100100000000
    largest = 2.0**20 * (2 - 2.0**-9)
    assert [cb16.bits(x) for x in (largest, -math.inf, 2.0**-50, -0.0)] == [0x7DFF, 0xFE00, 1, 0x8000]
    assert [cb16.bits(x) for x in (math.nan, 2.0**-51, 1.5 * 2.0**-51)] == [0x7F00, 0, 1]
    # Half a step above the largest one rounds to an infinity, anything less does not.
    assert cb16.bits(2.0**21 - 2.0**10) == INFINITY
    assert cb16.bits(math.nextafter(2.0**21 - 2.0**10, 0)) == 0x7DFF


def test_every_pattern_is_its_number(numbers: list[float]) -> None:
    assert all(same(cb16.from_bits(pattern), number) for pattern, number in enumerate(numbers))
    decoded = decode(PATTERNS.view(np.int16))
    assert decoded.dtype == np.float32
    assert all(same(a, b) for a, b in zip(decoded.tolist(), numbers, strict=True))
    wanted = [0x7F00 | pattern & 0x8000 if number != number else pattern for pattern, number in enumerate(numbers)]
    assert encode(decoded).view(np.uint16).tolist() == wanted
    assert [cb16.bits(number) for number in numbers] == wanted


@pytest.mark.parametrize("sign", [0, 0x8000])
def test_rounding_between_all_neighbors(numbers: list[float], sign: int) -> None:
    """Half way between two numbers the even one is nearest; a little to one side, the one there."""
    below = np.arange(sign, sign | INFINITY - 1)
    low, high = (np.array(numbers)[below + step] for step in (0, 1))
    middle = (low + high) / 2
    nearest = {
        "middle": (middle, below + below % 2), "below": (np.nextafter(middle, low), below),
        "above": (np.nextafter(middle, high), below + 1),
    }  # fmt: skip
    for values, expected in nearest.values():
        assert (encode(values).view(np.uint16) == expected).all()
        assert [cb16.bits(value) for value in values[::41].tolist()] == expected[::41].tolist()
    truncated = of_cb16("truncf", "f32", "i16")(middle.astype(np.float32).reshape(1, -1))
    assert (truncated.view(np.uint16) == below + below % 2).all()


UNARY = {"negf": lambda x: -x, "absf": abs, "extf": lambda x: x}


@pytest.mark.parametrize("name", UNARY)
def test_unary(numbers: list[float], name: str) -> None:
    result = "f32" if name == "extf" else "i16"
    found = everywhere(of_cb16(name, "i16", result), PATTERNS.view(np.int16).tolist())
    if result == "i16":
        found = [numbers[bits & 0xFFFF] for bits in found]
    assert all(same(a, UNARY[name](number)) for a, number in zip(found, numbers, strict=True))


def root(number: float) -> float:
    if number != number or number < 0:
        return math.nan
    if number in (0, math.inf):
        return number
    # Far more digits than needed, and a last one that says if there are more.
    scaled = Fraction(number) * 4**200
    whole = math.isqrt(int(scaled))
    return oracle.round_to(Fraction(2 * whole + (whole * whole != scaled), 2**201), "cb16")


def test_square_roots(numbers: list[float]) -> None:
    chosen = [*range(0, 1 << 16, 61), 0x8000, 0xFE00, 0x7E00, 0x7F00, 1, 0x8001]
    found = everywhere(of_cb16("sqrt", "i16", "i16"), [oracle.signed(bits, 16) for bits in chosen])
    assert all(same(numbers[a & 0xFFFF], root(numbers[bits])) for a, bits in zip(found, chosen, strict=True))


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_conversions_of_integers(bits: int, signed: bool) -> None:
    """An integer becomes the nearest number, and a number loses its fraction and ends at the limits of an integer."""
    kind = f"i{bits}"
    random = np.random.default_rng(bits)
    edges = [0, 1, -1, 1023, 1024, 1025, 1027, 2_096_127, 2_096_128, (1 << (bits - 1)) - 1, -(1 << (bits - 1))]
    given = [oracle.signed(n, bits) for n in (*edges, *random.integers(-(1 << 21), 1 << 21, 300).tolist())]
    as_float = of_cb16("sitofp" if signed else "uitofp", kind, "i16")
    found = as_float(np.array([given], f"i{bits // 8}"))[0].tolist()
    assert found == [as_float(number) for number in given]
    for number, result in zip(given, found, strict=True):
        value = number if signed else number % (1 << bits)
        assert result & 0xFFFF == oracle.to_bits(oracle.round_to(Fraction(value), "cb16"), "cb16"), value
    as_integer = of_cb16("fptosi" if signed else "fptoui", "i16", kind)
    patterns = PATTERNS[::17].view(np.int16)
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    cut = as_integer(patterns.reshape(1, -1))[0].tolist()
    assert cut == [as_integer(pattern) for pattern in patterns.tolist()]
    for pattern, result in zip(patterns.tolist(), cut, strict=True):
        value = float(oracle.from_bits(pattern, "cb16"))
        whole = 0 if value != value else (high if value > 0 else low) if math.isinf(value) else math.trunc(value)
        assert result == oracle.signed(max(low, min(high, whole)), bits), value


def divide(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b) or (a == 0 == b) or (math.isinf(a) and math.isinf(b)):
        return math.nan
    negative = (math.copysign(1, a) < 0) != (math.copysign(1, b) < 0)
    if b == 0 or math.isinf(a):
        return -math.inf if negative else math.inf
    if math.isinf(b):
        return -0.0 if negative else 0.0
    return oracle.round_to(Fraction(a) / Fraction(b), "cb16", negative)


BINARY = {
    "addf": lambda a, b: oracle.add(a, b, "cb16"), "subf": lambda a, b: oracle.add(a, -b, "cb16"),
    "mulf": lambda a, b: oracle.multiply(a, b, "cb16"), "divf": divide, "remf": oracle.remainder,
}  # fmt: skip
COMPARE = {
    "oeq": lambda a, b: a == b, "une": lambda a, b: a != b, "olt": lambda a, b: a < b, "ogt": lambda a, b: a > b,
    "ole": lambda a, b: a <= b, "oge": lambda a, b: a >= b,
}  # fmt: skip
EDGES = st.sampled_from([0, 0x8000, 1, 0x8001, 0x1FF, 0x200, 0x7DFF, 0xFDFF, 0x7E00, 0xFE00, 0x7F00, 0x5900])
NEAR = st.integers(0x4E00, 0x5A00)
"""Of numbers that are no powers of two apart."""
PAIRS = st.lists(
    st.tuples(*[st.one_of(EDGES, NEAR, st.integers(0, 0xFFFF)).map(lambda bits: oracle.signed(bits, 16))] * 2),
    min_size=1, max_size=40,
)  # fmt: skip


@pytest.mark.parametrize("name", [*BINARY, *COMPARE])
def test_binary(numbers: list[float], name: str) -> None:
    apply = of_cb16(name, "i16 i16", "i16" if name in BINARY else "i1")

    @LISTS
    @given(PAIRS)
    def run(pairs: list[tuple[int, int]]) -> None:
        found = everywhere(apply, *(list(column) for column in zip(*pairs, strict=True)))
        for (a, b), result in zip(pairs, found, strict=True):
            one, other = numbers[a & 0xFFFF], numbers[b & 0xFFFF]
            if name in COMPARE:
                assert result == COMPARE[name](one, other)
            else:
                assert same(numbers[result & 0xFFFF], BINARY[name](one, other)), (one, other)

    run()


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
def test_remainders_of_other_formats(kind: str) -> None:
    """The remainder is exact in every format, and has the sign of the first operand, as numpy.fmod has."""
    apply = function(f"flow.remf %a, %b : {kind}", kind, kind)
    width = 32 if kind == "f32" else 16
    values = st.integers(0, (1 << width) - 1).map(lambda bits: float(oracle.from_bits(bits, kind)))
    dtype = {"f32": np.float32, "f16": np.float16}.get(kind)

    @LISTS
    @given(st.lists(st.tuples(values, values), min_size=1, max_size=20))
    def run(pairs: list[tuple[float, float]]) -> None:
        with np.errstate(all="ignore"):
            single = [apply(a, b) for a, b in pairs]
            assert all(same(x, oracle.remainder(a, b)) for x, (a, b) in zip(single, pairs, strict=True))
            if dtype is None:
                return
            a, b = (np.array([column], dtype) for column in zip(*pairs, strict=True))
            assert apply(a, b).dtype == dtype
            assert all(map(same, apply(a, b)[0].tolist(), single))
            assert all(map(same, np.fmod(a, b)[0].tolist(), single))

    run()
