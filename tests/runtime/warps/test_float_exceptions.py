"""Floating point exceptions: which operations have them, against the processor's own flags and exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from loomir.operations.float_exceptions import DIVISION_BY_0, INEXACT, INVALID, OVERFLOW, UNDERFLOW, raises
from loomir.runtime.warps.float_exceptions import raised

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
            found = int(raised(name, [x, y], result, "f32"))
            assert found & ~INEXACT == expected, (x, y, result)
            if np.isfinite([x, y, result]).all() and (name != "arith.divf" or y):
                exact = {
                    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
                    "arith.divf": lambda a, b: a / b,
                }[name](Fraction(float(x)), Fraction(float(y)))  # fmt: skip
                assert bool(found & INEXACT) == (exact != Fraction(float(result))), (x, y, result)


def test_exceptions_of_half_precision_and_elements() -> None:
    x, y = np.array([[[60000, 1e-5, 2]]], np.float16), np.array([[[2, 1e-4, 3]]], np.float16)
    with np.errstate(all="ignore"):
        product = x * y
    found = raised("multiply", [x, y], product, "f16")
    assert found.tolist() == [[[OVERFLOW | INEXACT, UNDERFLOW | INEXACT, 0]]]
    assert raised("multiply_add", [y, x, y], y + product, "f16")[0, 0, 0] & OVERFLOW
    assert not raised("add", [np.float32(np.nan), np.float32(1)], np.float32(np.nan), "f32")


def test_operations_without_exceptions() -> None:
    assert not any(map(raises, ("move", "negate", "arith.negf", "math.floor", "maximum")))
    assert all(map(raises, ("add", "multiply_add", "math.exp", "arith.truncf", "convert")))
