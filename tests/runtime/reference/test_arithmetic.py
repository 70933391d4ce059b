"""Elements of DSD operations in the reference, against exact arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from loomir.operations.dsd_table import OPERATIONS
from loomir.runtime.reference.arithmetic import bits_of, element

from .. import oracle
from .test_scalars import EDGES

ROWS = [row for row in OPERATIONS.values() if row.function not in ("add_with_carry", "normalize")]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("format", [None, "bf16", "cb16"])
@pytest.mark.parametrize("name", [row.name for row in ROWS])
def test_one_element(name: str, format: str | None) -> None:
    row = OPERATIONS[name]
    if format is not None and not row.has_format:
        pytest.skip("without 16-bit floats")
    half = format or "f16"
    kind, *kinds = [half if each == "f16" else each for each in (row.destination, *row.sources)]
    random = np.random.default_rng(len(name))
    for _ in range(80):
        bits = [
            int(random.choice(EDGES[each])) ^ int(random.integers(2)) << (bits_of(each) - 1)
            if each in EDGES and random.random() < 0.6 else int(random.integers(1 << bits_of(each)))
            for each in kinds
        ]  # fmt: skip
        found = element(name, format)(*bits)
        if row.function == "scale":
            # The oracle is exact, and slow with very large powers.
            bits[1] = int(random.integers(-300, 300)) & 0xFFFF
            found = element(name, format)(*bits)
        if row.function == "move":
            assert found == bits[0]
            continue
        values = [oracle.from_bits(pattern, each) for pattern, each in zip(bits, kinds, strict=True)]
        expected = oracle.to_bits(oracle.compute(name, values, half), kind)
        both_nan = oracle.is_nan(found, kind) and oracle.is_nan(expected, kind)
        assert found == expected or both_nan, [hex(pattern) for pattern in (*bits, found, expected)]
