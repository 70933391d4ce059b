"""Scalar operations of the reference, each row of the tables, against exact arithmetic and numpy's functions."""

from __future__ import annotations

import numpy as np
import pytest

from loomir.runtime.reference.scalars import FUNCTIONS
from loomir.runtime.tables.instructions import BITS, FLOATS, SCALARS, Scalar

from .. import oracle
from ..scalar_oracle import agree, expected, kinds_of

PLACES = {row.mnemonic: place for place, row in enumerate(SCALARS)}
EDGES = {
    "f64": [0, 1, (1 << 52) - 1, 1 << 52, 0x3FF << 52, 0x3FF << 52 | 1, 0x400921FB54442D18, 0x40862E42FEFA39EF,
            0x41E << 52, 0x433 << 52 | 1, 0x43E << 52, 0x7FEFFFFFFFFFFFFF, 0x7FF << 52, 0x7FF8 << 48 | 0x123],
    "f32": [0, 1, 0x7FFFFF, 0x800000, 0x3F800000, 0x3FC00000, 0x3FFFFFFF, 0x40490FDB, 0x42B17218, 0x4B000001,
            0x4F000000, 0x5F000000, 0x7F7FFFFF, 0x7F800000, 0x7FC00123],
    "f16": [0, 1, 0x3FF, 0x400, 0x3C00, 0x3E00, 0x3C01, 0x4248, 0x5BFF, 0x7800, 0x7BFF, 0x7C00, 0x7E55],
    "bf16": [0, 1, 0x7F, 0x80, 0x3F80, 0x3FC0, 0x3F81, 0x4049, 0x42B1, 0x4F00, 0x7F7F, 0x7F80, 0x7FC5],
    "cb16": [0, 1, 0x1FF, 0x200, 0x5400, 0x5600, 0x5401, 0x5900, 0x7DFF, 0x7E00, 0x7F00],
}  # fmt: skip
"""Zero, subnormals, ordinary numbers, the largest, infinity, a NaN; the same with the sign follows."""


def patterns(kind: str) -> list[int]:
    if kind == "i1":
        return [0, 1]
    if kind in EDGES:
        bits = 16 if kind == "cb16" else BITS[kind]
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
    return bits if BITS[kind] < 64 and (kind in FLOATS or kind == "i1") else oracle.signed(bits, BITS[kind])


def run(row: Scalar, operands: tuple[int, ...]) -> int:
    """Return the bits of what the reference computes; a register holds it as the tables say."""
    found = FUNCTIONS[PLACES[row.mnemonic]](*map(register, operands, row.kinds))
    bits = found & (1 << BITS[row.result]) - 1
    assert type(found) is int
    assert found == register(bits, row.result)
    return bits


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["i1", "i8", "i16", "i32", "i64", "index", *FLOATS, "cb16"])
@pytest.mark.one_in(2)
def test_results(kind: str) -> None:
    for row in SCALARS:
        if kinds_of(row)[0] == kind:
            for operands in cases(row):
                found, wanted = run(row, operands), expected(row, operands)
                assert agree(row, found, wanted), (row.mnemonic, list(map(hex, (*operands, found, wanted))))
