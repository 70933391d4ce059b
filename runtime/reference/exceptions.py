"""Floating point exceptions of scalar operations and of elements, for programs that unmask some of them.

They are computed from the operands and the result. Operations on cb16 and functions of `math` other than roots and
logarithms are judged by overflow and undefined results alone.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from math import isfinite, isinf, isnan

from ...operations import floats
from ...operations.float_exceptions import DIVISION_BY_0, INEXACT, INVALID, OVERFLOW, UNDERFLOW
from ...operations.floats import LOWEST_NORMAL

_SUMS = {"arith.addf": 1, "arith.subf": -1, "add": 1, "subtract": -1}
_PRODUCTS = frozenset({"arith.mulf", "multiply"})
_POLES = frozenset({"math.log", "math.log2", "math.log10", "math.rsqrt"})
"""Functions that are infinite at 0."""


def raised(name: str, values: Sequence[float], result: float, kind: str) -> int:
    """Return the exceptions of an operation whose result is a float of a kind, as bits."""
    if name == "multiply_add":
        addend, *factors = values
        product = floats.rounded(factors[0] * factors[1], "f16" if kind == "f16" else "f32")
        return raised("multiply", factors, product, kind) | raised("add", [addend, product], result, kind)
    is_pole = _is_pole(name, values)
    all_finite = all(map(isfinite, values))
    overflow = isinf(result) and all_finite and not is_pole
    inexact = isfinite(result) and all_finite and _is_inexact(name, values, result)
    underflow = inexact and abs(result) < LOWEST_NORMAL[kind] and name not in _SUMS
    invalid = isnan(result) and not any(map(isnan, values))
    return (
        DIVISION_BY_0 * is_pole | INVALID * invalid | OVERFLOW * overflow | UNDERFLOW * underflow
        | INEXACT * (inexact or overflow)
    )  # fmt: skip


def _is_pole(name: str, values: Sequence[float]) -> bool:
    if name == "arith.divf":
        return values[1] == 0 and values[0] != 0 and isfinite(values[0])
    if name == "math.powf":
        return values[0] == 0 and values[1] < 0 and isfinite(values[1])
    return name in _POLES and values[0] == 0


def _is_inexact(name: str, values: Sequence[float], result: float) -> bool:
    """Return True if a finite result is not what the operation gives without rounding."""
    if name in _SUMS:
        first, second = values[0], _SUMS[name] * values[1]
        total = first + second
        part = total - first
        lost = (first - (total - part)) + (second - part)
        return total != result or lost != 0
    if name == "scale":
        return math.ldexp(values[0], int(max(-2000, min(2000, values[1])))) != result
    if name in _PRODUCTS:
        return values[0] * values[1] != result
    if name == "arith.divf":
        return result * values[1] != values[0]
    if name == "math.sqrt":
        return result * result != values[0]
    if len(values) == 1 and (name.startswith("arith.") or name == "convert"):
        return values[0] != result
    return result != floats.number(floats.function("math.roundeven", "f32")(floats.bits(result, "f32")), "f32")


def finding_values(exceptions: int, values: Sequence[float], result: float) -> list[int]:
    """Return the values of the finding of some exceptions."""
    wide = [struct.unpack("<q", struct.pack("<d", value))[0] for value in (result, *values)]
    return [exceptions, len(values), *wide]
