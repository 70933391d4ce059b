"""Floating point exceptions of scalar and DSD operations, for programs that unmask some of them.

Computed from the operands and the result of each operation, only in programs that set an exception mask. Operations on
`cb16` and functions of `math` other than roots and logarithms are judged by overflow and undefined results alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...operations.float_exceptions import DIVISION_BY_0, INEXACT, INVALID, OVERFLOW, UNDERFLOW
from ...operations.floats import LOWEST_NORMAL

Numbers: TypeAlias = NDArray[np.float64]

_SUMS = {"arith.addf": 1, "arith.subf": -1, "add": 1, "subtract": -1}
_PRODUCTS = frozenset({"arith.mulf", "multiply", "scale"})
_POLES = frozenset({"math.log", "math.log2", "math.log10", "math.rsqrt"})
"""Functions that are infinite at 0."""


def raised(name: str, operands: Sequence[Any], result: Any, kind: str) -> NDArray[np.int64]:
    """Return the exceptions of an operation whose result is of a float type, element by element, as bits."""
    values = [np.asarray(operand, np.float64) for operand in operands]
    out = np.asarray(result, np.float64)
    with np.errstate(all="ignore"):
        if name == "multiply_add":
            addend, *factors = values
            product = (factors[0] * factors[1]).astype({"f16": np.float16}.get(kind, np.float32)).astype(np.float64)
            return _one("multiply", factors, product, kind) | _one("add", [addend, product], out, kind)
        return _one(name, values, out, kind)


def _one(name: str, values: Sequence[Numbers], out: Numbers, kind: str) -> NDArray[np.int64]:
    any_nan = np.zeros(out.shape, np.bool_)
    all_finite = np.ones(out.shape, np.bool_)
    for value in values:
        any_nan = any_nan | np.isnan(value)
        all_finite = all_finite & np.isfinite(value)
    pole = np.zeros(out.shape, np.bool_)
    if name == "arith.divf":
        pole = (values[1] == 0) & (values[0] != 0) & np.isfinite(values[0])
    elif name == "math.powf":
        pole = (values[0] == 0) & (values[1] < 0) & np.isfinite(values[1])
    elif name in _POLES:
        pole = values[0] == 0
    overflow = np.isinf(out) & all_finite & ~pole
    inexact = np.isfinite(out) & all_finite & _is_inexact(name, values, out)
    underflow = inexact & (np.abs(out) < LOWEST_NORMAL.get(kind, 0.0)) & (name not in _SUMS)
    bits = np.zeros(out.shape, np.int64)
    for bit, found in (
        (DIVISION_BY_0, pole), (INVALID, np.isnan(out) & ~any_nan), (OVERFLOW, overflow), (UNDERFLOW, underflow),
        (INEXACT, inexact | overflow),
    ):  # fmt: skip
        bits[found] |= bit
    return bits


def _is_inexact(name: str, values: Sequence[Numbers], out: Numbers) -> NDArray[np.bool_]:
    """Return True where a finite result is not what the operation gives without rounding."""
    if name in _SUMS:
        first, second = values[0], _SUMS[name] * values[1]
        total = first + second
        part = total - first
        lost = (first - (total - part)) + (second - part)
        return (total != out) | (lost != 0)
    if name == "scale":
        return np.asarray(np.ldexp(values[0], np.clip(values[1], -2000, 2000).astype(np.int32)) != out)
    if name in _PRODUCTS:
        return np.asarray(values[0] * values[1] != out)
    if name == "arith.divf":
        return np.asarray(out * values[1] != values[0])
    if name == "math.sqrt":
        return np.asarray(out * out != values[0])
    if len(values) == 1 and (name.startswith("arith.") or name == "convert"):
        return np.asarray(values[0] != out)
    return np.asarray(out != np.rint(out))
