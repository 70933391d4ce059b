"""Floating point exceptions: which operations have them, against the processor's own flags and exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from loomir.operations.float_exceptions import DIVISION_BY_0, INEXACT, INVALID, OVERFLOW, UNDERFLOW, raises
from loomir.runtime.reference.exceptions import raised

FLAGS = {"divide by zero": DIVISION_BY_0, "overflow": OVERFLOW, "underflow": UNDERFLOW, "invalid value": INVALID}
OPERATIONS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "arith.divf": np.divide}


def numbers() -> list[np.float32]:
    rng = np.random.default_rng(3)
    special = [0.0, -0.0, 1.0, -1.5, 1e-45, -1e-40, 1.1754944e-38, 3.4028235e38, -3.4028235e38, np.inf, -np.inf, np.nan]
    spread = rng.normal(size=14) * 10.0 ** rng.integers(-38, 38, 14)
    return [np.float32(value) for value in (*special, *spread)]


def of_processor(name: str, x: np.float32, y: np.float32) -> tuple[int, np.float32]:
    """Return the bits of the flags that numpy sees after one operation, and its result."""
    seen: list[str] = []
    with np.errstate(all="call", call=lambda kind, _: seen.append(kind)):
        result = OPERATIONS[name](np.array([x]), np.array([y]))[0]
    return sum(FLAGS[kind] for kind in set(seen)), result


@pytest.mark.parametrize("name", OPERATIONS)
def test_exceptions_are_those_of_the_processor(name: str) -> None:
    for x in numbers():
        for y in numbers():
            expected, result = of_processor(name, x, y)
            found = raised(name, [float(x), float(y)], float(result), "f32")
            assert found & ~INEXACT == expected, (x, y, result)
            if np.isfinite([x, y, result]).all() and (name != "arith.divf" or y):
                exact = {
                    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
                    "arith.divf": lambda a, b: a / b,
                }[name](Fraction(float(x)), Fraction(float(y)))  # fmt: skip
                assert bool(found & INEXACT) == (exact != Fraction(float(result))), (x, y, result)


def test_exceptions_of_half_precision() -> None:
    def of_product(x: float, y: float) -> int:
        with np.errstate(all="ignore"):
            x, y = float(np.float16(x)), float(np.float16(y))
            return raised("multiply", [x, y], float(np.float16(x * y)), "f16")

    assert of_product(60000, 2) == OVERFLOW | INEXACT
    assert of_product(1e-5, 1e-4) == UNDERFLOW | INEXACT
    assert of_product(2, 3) == 0
    assert raised("multiply_add", [2.0, 60000.0, 2.0], math.inf, "f16") & OVERFLOW
    assert not raised("add", [math.nan, 1.0], math.nan, "f32")


def test_operations_without_exceptions() -> None:
    assert not any(map(raises, ("move", "negate", "arith.negf", "math.floor", "maximum")))
    assert all(map(raises, ("add", "multiply_add", "math.exp", "arith.truncf", "convert")))
