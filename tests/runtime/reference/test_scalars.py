"""Scalar operations of the reference, each row of the tables, against the first engine."""

from __future__ import annotations

import math

import numpy as np
import pytest

from loomir.operations.scalar_types import numpy_type
from loomir.runtime.reference.scalars import FUNCTIONS
from loomir.runtime.tables.instructions import BITS, FLOATS, SCALARS, Scalar
from loomir.runtime.warps import scalars

from .. import oracle

PLACES = {row.mnemonic: place for place, row in enumerate(SCALARS)}
EDGES = {
    "f32": [0, 1, 0x7FFFFF, 0x800000, 0x3F800000, 0x3FC00000, 0x3FFFFFFF, 0x40490FDB, 0x42B17218, 0x4B000001,
            0x4F000000, 0x5F000000, 0x7F7FFFFF, 0x7F800000, 0x7FC00123],
    "f16": [0, 1, 0x3FF, 0x400, 0x3C00, 0x3E00, 0x3C01, 0x4248, 0x5BFF, 0x7800, 0x7BFF, 0x7C00, 0x7E55],
    "bf16": [0, 1, 0x7F, 0x80, 0x3F80, 0x3FC0, 0x3F81, 0x4049, 0x42B1, 0x4F00, 0x7F7F, 0x7F80, 0x7FC5],
    "cb16": [0, 1, 0x1FF, 0x200, 0x5400, 0x5600, 0x5401, 0x5900, 0x7DFF, 0x7E00, 0x7F00],
}  # fmt: skip
"""Zero, subnormals, ordinary numbers, the largest, infinity, a NaN; the same with the sign follows."""


def kinds_of(row: Scalar) -> list[str]:
    """Return the kinds of the operands and of the result, with cb16 where an i16 stands for one."""
    names = row.name.startswith("cb16.")
    whole = ("fptosi", "fptoui") if names else ()
    every = [*row.kinds, row.result]
    return [
        "cb16" if names and kind == "i16" and not (row.name[5:] in whole and place == len(row.kinds))
        and not (row.name[5:] in ("sitofp", "uitofp") and place == 0) else kind
        for place, kind in enumerate(every)
    ]  # fmt: skip


def patterns(kind: str) -> list[int]:
    if kind == "i1":
        return [0, 1]
    if kind in EDGES:
        bits = 32 if kind == "f32" else 16
        return [pattern | sign for pattern in EDGES[kind] for sign in (0, 1 << (bits - 1))]
    bits = BITS[kind]
    values = [0, 1, 2, 3, bits - 1, bits, bits + 1, (1 << (bits - 1)) - 1, 1 << (bits - 1), 1 << (bits // 2)]
    return sorted({value & (1 << bits) - 1 for one in values for value in (one, -one)})


def cases(row: Scalar) -> list[tuple[int, ...]]:
    """Return operands as bits: some pairs of edges, and random patterns."""
    random = np.random.default_rng(len(row.mnemonic))
    *kinds, _ = kinds_of(row)
    lists = [patterns(kind) for kind in kinds]
    found = [tuple(values[random.integers(len(values))] for values in lists) for _ in range(40)]
    widths = [1 << BITS[kind] for kind in row.kinds]
    found += [tuple(int(random.integers(0, 1 << 63)) % width for width in widths) for _ in range(10)]
    return found


def register(bits: int, kind: str) -> int:
    return bits if kind in FLOATS or kind == "i1" else oracle.signed(bits, BITS[kind])


def run(row: Scalar, operands: tuple[int, ...]) -> int:
    """Return the bits of what the reference computes; a register holds it as the tables say."""
    found = FUNCTIONS[PLACES[row.mnemonic]](*map(register, operands, row.kinds))
    bits = found & (1 << BITS[row.result]) - 1
    assert type(found) is int
    assert found == register(bits, row.result)
    return bits


def of_first_engine(bits: int, kind: str) -> object:
    if kind == "bf16":
        return float(oracle.from_bits(bits, kind))
    if kind in FLOATS:
        return np.dtype(f"u{BITS[kind] // 8}").type(bits).view(numpy_type(kind)).item()
    return bool(bits) if kind == "i1" else oracle.signed(bits, BITS[kind])


@pytest.mark.parametrize("kind", ["i1", "i8", "i16", "i32", "i64", "index", *FLOATS, "cb16"])
def test_the_first_engine_computes_the_same(kind: str) -> None:
    with np.errstate(all="ignore"):
        for row in SCALARS:
            if kinds_of(row)[0] == kind and row.name != "arith.bitcast":
                check(row)


def check(row: Scalar) -> None:
    if row.name.startswith("cb16."):
        apply = scalars._cb16_function(row.name[5:], (*row.kinds, row.result))
    else:
        apply = scalars._function(row.name, (*row.kinds, row.result), row.predicate)
    assert apply is not None
    result = kinds_of(row)[-1]
    for operands in cases(row):
        if ("div" in row.name or "rem" in row.name) and row.result not in FLOATS and result != "cb16":
            if not operands[1]:
                assert run(row, operands) == 0, "a forged program may not check its divisor"
                continue
        value = apply(*map(of_first_engine, operands, row.kinds))
        if result in ("f32", "f16", "bf16"):
            expected = oracle.to_bits(float(value) if value == value else math.nan, result)
        else:
            expected = int(value) & (1 << BITS[row.result]) - 1
        found = run(row, operands)
        both_nan = result in oracle.FLOATS and oracle.is_nan(found, result) and oracle.is_nan(expected, result)
        assert found == expected or both_nan, (row.mnemonic, [hex(bits) for bits in (*operands, found, expected)])


@pytest.mark.parametrize("row", [row for row in SCALARS if row.name == "arith.bitcast"], ids=lambda row: row.mnemonic)
def test_a_bitcast_keeps_all_bits(row: Scalar) -> None:
    for operands in cases(row):
        assert run(row, operands) == operands[0]
