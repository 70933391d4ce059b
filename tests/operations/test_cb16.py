"""Numbers of format cb16 and their bits, against exact fractions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from loomir.operations import cb16

from ..runtime import oracle

INFINITY = 0x7E00
"""Above it are NaNs."""


@pytest.fixture(scope="module")
def numbers() -> list[float]:
    """Return the number of each pattern, by the definition of the format."""
    return [float(oracle.from_bits(pattern, "cb16")) for pattern in range(1 << 16)]


def same(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))


def test_known_patterns() -> None:
    """The example of the manual (Types, FP16 types), and the ends of the format."""
    assert cb16.bits(6.0) == 0b0101100100000000
    largest = 2.0**20 * (2 - 2.0**-9)
    assert [cb16.bits(x) for x in (largest, -math.inf, 2.0**-50, -0.0)] == [0x7DFF, 0xFE00, 1, 0x8000]
    assert [cb16.bits(x) for x in (math.nan, 2.0**-51, 1.5 * 2.0**-51)] == [0x7F00, 0, 1]
    # Half a step above the largest one rounds to an infinity, anything less does not.
    assert cb16.bits(2.0**21 - 2.0**10) == INFINITY
    assert cb16.bits(math.nextafter(2.0**21 - 2.0**10, 0)) == 0x7DFF


@pytest.mark.slow
def test_every_pattern_is_its_number(numbers: list[float]) -> None:
    assert all(same(cb16.from_bits(pattern), number) for pattern, number in enumerate(numbers))
    wanted = [0x7F00 | pattern & 0x8000 if number != number else pattern for pattern, number in enumerate(numbers)]
    assert [cb16.bits(number) for number in numbers] == wanted


@pytest.mark.slow
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
        assert [cb16.bits(value) for value in values[::11].tolist()] == expected[::11].tolist()
