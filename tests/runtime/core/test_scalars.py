"""Scalar operations of the core, each row of the tables: against exact arithmetic and numpy's functions."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from loomir.runtime.core import compile_core, generate, library
from loomir.runtime.reference.scalars import FUNCTIONS
from loomir.runtime.tables.instructions import BITS, FIRST_SCALAR, FLOATS, SCALARS, Scalar

from ...searches import examples
from .. import oracle
from ..scalar_oracle import agree, expected, is_division

ROWS = {row.mnemonic: FIRST_SCALAR + place for place, row in enumerate(SCALARS)}


@cache
def compute() -> Callable[[int, int, int, int], int]:
    function = library.load().loom_scalar
    function.argtypes = [ctypes.c_uint32, *[ctypes.c_int64] * 3]
    function.restype = ctypes.c_int64
    return function


def run(row: Scalar, operands: tuple[int, ...]) -> int:
    """Return the bits of what the core computes; a register holds it as the tables say."""
    b, c, a = (*(to_register(value, kind) for value, kind in zip(operands, row.kinds, strict=True)), 0, 0)[:3]
    result = compute()(ROWS[row.mnemonic], a, b, c)
    assert result == to_register(result, row.result), row
    return result & mask(row.result)


def mask(kind: str) -> int:
    return (1 << BITS[kind]) - 1


def to_register(bits: int, kind: str) -> int:
    bits &= mask(kind)
    return bits if BITS[kind] < 64 and (kind in FLOATS or kind == "i1") else oracle.signed(bits, BITS[kind])


FLOAT_EDGES = {
    "f64": [0, 1, (1 << 52) - 1, 1 << 52, 0x3FF << 52, 0x3FF8 << 48, 0x3FF << 52 | 1, 0x400921FB54442D18,
            0x40862E42FEFA39EF, 0x41E << 52, 0x41DFFFFFFFE00000, 0x433 << 52 | 1, 0x43E << 52, 0x47EFFFFFF0000000,
            0x380 << 52, 0x7FEFFFFFFFFFFFFF, 0x7FF << 52, 0x7FF << 52 | 1, 0x7FF8 << 48 | 0x123],
    "f32": [0, 1, 0x7FFFFF, 0x800000, 0x3F800000, 0x3FC00000, 0x3FFFFFFF, 0x40490FDB, 0x42B17218, 0x477FE000,
            0x4B000001, 0x4EFFFFFF, 0x4F000000, 0x5F000000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00123],
    "f16": [0, 1, 0x3FF, 0x400, 0x3C00, 0x3E00, 0x3C01, 0x4248, 0x5BFF, 0x7800, 0x7BFF, 0x7C00, 0x7C01, 0x7E55],
    "bf16": [0, 1, 0x7F, 0x80, 0x3F80, 0x3FC0, 0x3F81, 0x4049, 0x42B1, 0x4F00, 0x5F00, 0x7F7F, 0x7F80, 0x7F81, 0x7FC5],
}  # fmt: skip
"""Zero, subnormals, ordinary numbers, the largest, infinity, NaNs; the same with the sign follows."""


def edges(kind: str) -> list[int]:
    if kind == "i1":
        return [0, 1]
    n = BITS[kind]
    if kind in FLOATS:
        return [bits | sign for bits in FLOAT_EDGES[kind] for sign in (0, 1 << (n - 1))]
    chosen = [0, 1, 2, 3, 7, n - 1, n, n + 1, 1 << (n // 2), (1 << (n - 1)) - 1, 1 << (n - 1), (1 << (n - 1)) + 1]
    if n == 64:
        chosen += [(1 << 53) + 1, (1 << 62) + (1 << 38), (1 << 62) + (1 << 38) + 1, (1 << 62) + (1 << 54) + 1]
    return sorted({bits & mask(kind) for value in chosen for bits in (value, -value)})


def cases(row: Scalar) -> Iterator[tuple[int, ...]]:
    """Yield operands: all edges, or where these are very many a part, and random patterns."""
    kinds = [("cb16" if letter == "i16" and row.name.startswith("cb16") else letter) for letter in row.kinds]
    lists = [[0, 0x8000, 1, 0x8001, 0x1FF, 0x200, 0x5400, 0x7DFF, 0xFDFF, 0x7E00, 0xFE00, 0x7F00, 0x7E01, 0x5900]
             if kind == "cb16" else edges(kind) for kind in kinds]  # fmt: skip
    every = list(product(*lists))
    random = np.random.default_rng(len(every))
    some = random.permutation(len(every))[: examples(450)]
    yield from (every[place] for place in sorted(some.tolist()))
    for _ in range(examples(90)):
        yield tuple(int(random.integers(0, 1 << 32)) << 32 | int(random.integers(0, 1 << 32)) for _ in kinds)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("row", SCALARS, ids=lambda row: row.mnemonic)
def test_results(row: Scalar) -> None:
    for operands in cases(row):
        found, wanted = run(row, operands), expected(row, operands)
        assert agree(row, found, wanted), list(map(hex, (*operands, found, wanted)))


OF_DOUBLES = [row for row in SCALARS if "f64" in (*row.kinds, row.result)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("row", OF_DOUBLES, ids=lambda row: row.mnemonic)
def test_functions_of_f64_are_those_of_the_reference(row: Scalar) -> None:
    """Both take them from the C library, of which numpy's differ in the last bits."""
    computes = FUNCTIONS[SCALARS.index(row)]
    for operands in cases(row):
        wanted = computes(*map(to_register, operands, row.kinds)) & mask(row.result)
        found = run(row, operands)
        both = row.result in FLOATS and oracle.is_nan(found, row.result) and oracle.is_nan(wanted, row.result)
        assert found == wanted or both, list(map(hex, (*operands, found, wanted)))


@pytest.mark.parametrize("row", [row for row in SCALARS if is_division(row)], ids=lambda row: row.mnemonic)
def test_a_division_by_0_is_0(row: Scalar) -> None:
    """A forged program may divide without a check of the divisor."""
    assert [run(row, (bits, 0)) for bits in edges(row.kinds[0])] == [0] * len(edges(row.kinds[0]))


# Exact arithmetic


def quotient(a: float, b: float, kind: str) -> float:
    negative = (math.copysign(1, a) < 0) != (math.copysign(1, b) < 0)
    if math.isnan(a) or math.isnan(b) or (a == 0 == b) or (math.isinf(a) and math.isinf(b)):
        return math.nan
    if b == 0 or math.isinf(a):
        return -math.inf if negative else math.inf
    if math.isinf(b):
        return -0.0 if negative else 0.0
    return oracle.round_to(Fraction(a) / Fraction(b), kind, negative)


def fused(a: float, b: float, c: float, kind: str) -> float:
    if not all(map(math.isfinite, (a, b, c))):
        return oracle.add(oracle.multiply(a, b, kind) if not (math.isfinite(a) and math.isfinite(b)) else 1.0, c, kind)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    negative = (math.copysign(1, a) < 0) != (math.copysign(1, b) < 0) and math.copysign(1, c) < 0
    return oracle.round_to(exact, kind, negative)


EXACT: dict[str, Callable[..., float]] = {
    "arith.addf": oracle.add, "arith.subf": lambda a, b, kind: oracle.add(a, -b, kind), "arith.mulf": oracle.multiply,
    "arith.divf": quotient, "math.fma": fused, "arith.negf": lambda a, kind: -a,
    "math.absf": lambda a, kind: math.copysign(a, 1), "math.copysign": lambda a, b, kind: math.copysign(a, b),
    "flow.remf": lambda a, b, kind: oracle.remainder(a, b),
    "arith.extf": oracle.to_kind, "arith.truncf": oracle.to_kind,
    "cb16.addf": oracle.add, "cb16.subf": lambda a, b, kind: oracle.add(a, -b, kind), "cb16.mulf": oracle.multiply,
    "cb16.divf": quotient, "cb16.truncf": oracle.to_kind, "cb16.extf": oracle.to_kind,
}  # fmt: skip


@pytest.mark.parametrize("row", [row for row in SCALARS if row.name in EXACT], ids=lambda row: row.mnemonic)
def test_floats_are_exact_and_rounded_once(row: Scalar) -> None:
    kinds = ["cb16" if kind == "i16" else kind for kind in row.kinds]
    result = "cb16" if row.result == "i16" else row.result
    for operands in cases(row):
        values = [
            oracle.from_bits(bits & mask(kind), k) for bits, kind, k in zip(operands, row.kinds, kinds, strict=True)
        ]
        expected = oracle.to_bits(EXACT[row.name](*values, result), result)
        found = run(row, operands)
        if oracle.is_nan(expected, result):
            assert oracle.is_nan(found, result), values
        else:
            assert found == expected, values


@pytest.mark.parametrize(
    "row", [row for row in SCALARS if row.mnemonic.startswith(("sitofp", "uitofp", "cb16_sitofp", "cb16_uitofp"))],
    ids=lambda row: row.mnemonic,
)  # fmt: skip
def test_integers_become_the_nearest_float(row: Scalar) -> None:
    result = "cb16" if row.result == "i16" else row.result
    for (bits,) in cases(row):
        number = bits & mask(row.kinds[0])
        if "sitofp" in row.mnemonic:
            number = oracle.signed(number, BITS[row.kinds[0]])
        assert run(row, (bits,)) == oracle.to_bits(oracle.round_to(Fraction(number), result), result), number


@pytest.mark.parametrize(
    "row", [row for row in SCALARS if "fpto" in row.mnemonic and row.result != "i1"], ids=lambda row: row.mnemonic
)
def test_floats_become_integers_within_limits(row: Scalar) -> None:
    n, kind = BITS[row.result], "cb16" if row.kinds[0] == "i16" else row.kinds[0]
    low, high = (0, (1 << n) - 1) if "fptoui" in row.mnemonic else (-(1 << (n - 1)), (1 << (n - 1)) - 1)
    for (bits,) in cases(row):
        value = float(oracle.from_bits(bits & mask(row.kinds[0]), kind))
        whole = 0 if value != value else (high if value > 0 else low) if math.isinf(value) else math.trunc(value)
        assert run(row, (bits,)) == max(low, min(high, whole)) & mask(row.result), value


@pytest.mark.parametrize("name", sorted(oracle.INTEGER))
def test_integers_wrap(name: str) -> None:
    for kind in ("i8", "i16", "i32", "i64", "index"):
        row = next(row for row in SCALARS if row.mnemonic == f"{name}_{kind}")
        n = BITS[kind]
        for operands in cases(row):
            a, b = (oracle.signed(value, n) for value in operands)
            if b or not is_division(row):
                # A shift by very much would take the memory of the computer.
                b = min(b % 2**n, 2 * n) if name == "shli" else b
                assert run(row, operands) == oracle.INTEGER[name](a, b, n) % 2**n, (kind, a, b)


def test_the_headers_are_generated_from_the_tables() -> None:
    """`python -m loomir.runtime.core.generate` writes them again."""
    for name, text in generate.HEADERS.items():
        assert (compile_core.FOLDER / name).read_text() == text(), name
