"""Floating-point arithmetic of `arith`, `math` and `flow`, on the bits of f16, bf16, f32 and f64.

A float is the unsigned integer of its bits. A result is computed in double precision, with the functions of the C
library, and rounded once to the nearest float of its format, to even on a tie; a double holds more than twice the
digits of each other format, so that sums, products, quotients and roots are exact until then. A multiply-add of scalars
(`math.fma`) is rounded once too. Operations that choose between their operands, and
those that change a sign, keep all bits; what sign and payload a NaN has that is computed is not defined.

Knows neither IR nor numpy.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import inf, nan
from typing import TypeAlias

from . import integers

Function: TypeAlias = Callable[..., int]
"""Of the bits of floats, and of integers as they are kept."""

WIDTH = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
"""Bits of each format."""

LOWEST_NORMAL = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126}
"""Of the formats whose exceptions are computed, those of PEs."""

_NAN = {"f16": 0x7E00, "bf16": 0x7FC0, "f32": 0x7FC00000, "f64": 0x7FF8 << 48}


# Formats


def number(pattern: int, kind: str) -> float:
    """Return the number with the bits of a float, the lowest ones of a pattern."""
    if kind == "f64":
        return struct.unpack("<d", (pattern & (1 << 64) - 1).to_bytes(8, "little"))[0]
    if kind == "f32":
        return struct.unpack("<f", (pattern & 0xFFFFFFFF).to_bytes(4, "little"))[0]
    if kind == "f16":
        return struct.unpack("<e", (pattern & 0xFFFF).to_bytes(2, "little"))[0]
    return struct.unpack("<f", ((pattern & 0xFFFF) << 16).to_bytes(4, "little"))[0]


def bits(value: float, kind: str) -> int:
    """Return the bits of the float that is nearest to a number, to even on a tie."""
    if kind == "f64":
        return int.from_bytes(struct.pack("<d", value), "little")
    if value != value:
        return _NAN[kind] | sign_of(kind) * (math.copysign(1.0, value) < 0)
    if kind == "bf16":
        return _bf16(value)
    try:
        return int.from_bytes(struct.pack("<e" if kind == "f16" else "<f", value), "little")
    except OverflowError:
        return bits(math.copysign(inf, value), kind)


def _bf16(value: float) -> int:
    """Return the bits of the nearest bf16, by way of an f32 that is rounded to odd, so that it is rounded once."""
    wide = bits(value, "f32")
    near = number(wide, "f32")
    if near != value and not wide & 1:
        wide += 1 if abs(near) < abs(value) else -1
    return (wide + 0x7FFF + (wide >> 16 & 1)) >> 16


def rounded(value: float, kind: str) -> float:
    """Return the nearest number of a format."""
    return number(bits(value, kind), kind)


def bits_of_fraction(value: Fraction, kind: str) -> int:
    """Return the bits of the float that is nearest to a rational number, which is rounded once."""
    # A double rounded to odd keeps what decides.
    near = _to_double(value)
    if kind == "f64":
        return bits(near, kind)
    exact = Fraction(near) if math.isfinite(near) else value
    if exact != value:
        pattern = int.from_bytes(struct.pack("<d", near), "little")
        if not pattern & 1:
            pattern += 1 if (exact < value) == (value > 0) else -1
            near = struct.unpack("<d", pattern.to_bytes(8, "little"))[0]
    return bits(near, kind)


def _to_double(value: Fraction) -> float:
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return inf if value > 0 else -inf


def sign_of(kind: str) -> int:
    """Return the bit of the sign."""
    return 1 << (WIDTH[kind] - 1)


# Functions of numbers


def quotient(a: float, b: float) -> float:
    """Return a / b, infinite or no number where b is 0."""
    if b != 0:
        return a / b
    if a == 0 or a != a:
        return nan
    return math.copysign(inf, a) * math.copysign(1.0, b)


def _whole(round_: Callable[[float], int]) -> Callable[[float], float]:
    def apply(a: float) -> float:
        return math.copysign(float(round_(a)), a) if math.isfinite(a) else a

    return apply


def _half_away(a: float) -> int:
    whole = math.trunc(a)
    return whole + (1 if a > 0 else -1) if abs(a - whole) >= 0.5 else whole


def _reciprocal_root(a: float) -> float:
    return quotient(1.0, math.sqrt(a)) if a >= 0 else nan


def remainder(a: float, b: float) -> float:
    """Return what is left of `a` after as many whole `b` as fit, with the sign of `a`."""
    return nan if math.isinf(a) or b == 0 or a != a or b != b else math.fmod(a, b)


def _power(a: float, b: float) -> float:
    try:
        return math.pow(a, b)
    except (OverflowError, ValueError):
        odd = b == math.floor(b) and math.isfinite(b) and b % 2 == 1
        if a == 0 or b == math.floor(b) or a > 0:
            return math.copysign(inf, a) if odd else inf
        return nan


_POLES: dict[str, dict[float, float]] = {
    "math.log": {0.0: -inf}, "math.log2": {0.0: -inf}, "math.log10": {0.0: -inf}, "math.log1p": {-1.0: -inf},
    "math.atanh": {1.0: inf, -1.0: -inf},
}  # fmt: skip
"""Where a function is infinite."""


def _of_library(name: str, function: Callable[[float], float]) -> Callable[[float], float]:
    """Return a function of Python's library as C has it, without exceptions."""
    poles = _POLES.get(name, {})

    def apply(a: float) -> float:
        if a in poles:
            return poles[a]
        try:
            return function(a)
        except ValueError:
            return nan
        except OverflowError:
            return math.copysign(inf, a) if name in ("math.sinh", "math.cbrt") else inf

    return apply


_UNARY: dict[str, Callable[[float], float]] = {
    "math.rsqrt": _reciprocal_root, "math.floor": _whole(math.floor), "math.ceil": _whole(math.ceil),
    "math.trunc": _whole(math.trunc), "math.round": _whole(_half_away), "math.roundeven": _whole(round),
} | {
    f"math.{name}": _of_library(f"math.{name}", getattr(math, name))
    for name in ("sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin",
                 "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf")
}  # fmt: skip
_BINARY: dict[str, Callable[[float, float], float]] = {
    "arith.addf": operator.add, "arith.subf": operator.sub, "arith.mulf": operator.mul, "arith.divf": quotient,
    "math.atan2": math.atan2, "math.powf": _power, "flow.remf": remainder,
}  # fmt: skip


def unary(name: str) -> Callable[[float], float]:
    """Return a function of one number, by the name of its operation, in double precision."""
    return _UNARY[name]


_CHOICES: dict[str, Callable[[float, float], bool | None]] = {
    "arith.maximumf": lambda a, b: None if a == 0 == b else a > b or a != a,
    "arith.minimumf": lambda a, b: None if a == 0 == b else a < b or a != a,
    "arith.maxnumf": lambda a, b: not (b > a or a != a),
    "arith.minnumf": lambda a, b: not (b < a or a != a),
}
"""True to choose the first operand; None where two zeros decide by their signs."""


def _choice(name: str, kind: str) -> Function:
    choose = _CHOICES[name]

    def apply(a: int, b: int) -> int:
        first = choose(number(a, kind), number(b, kind))
        if first is None:
            return a & b if name == "arith.maximumf" else a | b
        return a if first else b

    return apply


def fused(a: float, b: float, c: float, kind: str) -> int:
    """Return the bits of a * b + c, rounded once."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        # The product of two numbers of f64 may be above all of them, but is not infinite.
        return bits(c if math.isfinite(a) and math.isfinite(b) else a * b + c, kind)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return bits_of_fraction(exact, kind) if exact else bits(a * b + c, kind)


@cache
def function(name: str, kind: str) -> Function:
    """Return the function of an operation on floats of one format that gives such a float."""
    if name in _CHOICES:
        return _choice(name, kind)
    if name in _UNARY:
        unary = _UNARY[name]

        def of_one(a: int) -> int:
            return bits(unary(number(a, kind)), kind)

        return of_one
    if name in _BINARY:
        binary = _BINARY[name]

        def of_two(a: int, b: int) -> int:
            return bits(binary(number(a, kind), number(b, kind)), kind)

        return of_two
    return _OF_BITS[name](kind)


def _negated(kind: str) -> Function:
    def apply(a: int) -> int:
        return a ^ sign_of(kind)

    return apply


def _absolute(kind: str) -> Function:
    def apply(a: int) -> int:
        return a & ~sign_of(kind)

    return apply


def _with_sign(kind: str) -> Function:
    def apply(a: int, b: int) -> int:
        return (a & ~sign_of(kind)) | (b & sign_of(kind))

    return apply


def _fused(kind: str) -> Function:
    def apply(a: int, b: int, c: int) -> int:
        return fused(number(a, kind), number(b, kind), number(c, kind), kind)

    return apply


_OF_BITS: dict[str, Callable[[str], Function]] = {
    "arith.negf": _negated, "math.absf": _absolute, "math.copysign": _with_sign, "math.fma": _fused,
}  # fmt: skip


# Comparisons


_ORDERED: dict[str, Callable[[float, float], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip


@cache
def comparison(predicate: str) -> Callable[[float, float], bool]:
    """Return a predicate of `arith.cmpf`, by name: "oeq", "une", "uno"."""

    def unordered(a: float, b: float) -> bool:
        return a != a or b != b

    if predicate in ("false", "true"):
        return lambda a, b: predicate == "true"
    if predicate == "uno":
        return unordered
    if predicate == "ord":
        return lambda a, b: not unordered(a, b)
    compare = _ORDERED[predicate[1:]]
    if predicate[0] == "u":
        return lambda a, b: unordered(a, b) or compare(a, b)
    return lambda a, b: not unordered(a, b) and compare(a, b)


# Conversions


def to_integer(value: float, width: int, *, is_signed: bool) -> int:
    """Return a number as an integer of a width, as it is kept: without its fraction, and saturated; NaN is 0.

    Of a truth value the lowest bit alone is left, and an infinity has none.
    """
    if width == 1:
        return int(math.isfinite(value) and math.trunc(value) & 1)
    return integers.wrapper(width)(integers.saturated(value, width, is_signed=is_signed))


def from_integer(value: int, width: int, kind: str, *, is_signed: bool) -> int:
    """Return the bits of the float that is nearest to an integer, as it is kept."""
    exact = integers.signed(value, width) if is_signed else integers.unsigned(value, width)
    return bits_of_fraction(Fraction(exact), kind)
