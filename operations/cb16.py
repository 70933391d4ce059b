"""Cerebras float16, `cb16`: 16 bits, of them six of exponent and nine of mantissa (Types, FP16 types).

The manual gives the widths and, by an example, the bias. Otherwise the format is taken to be as IEEE's: subnormals, the
highest exponent for infinities and NaNs, results rounded to nearest, to even on a tie. MLIR has no type for it: in IR a
`cb16` is the integer with its bits, and an operation on it is a `wse.cb16` or `flow.cb16` of the table here.
"""

from __future__ import annotations

import math

from ..targets.wavelets import CB16_BIAS

MANTISSA_BITS = 9
"""Bits of the mantissa, without the leading one that is not stored."""

INFINITY = 0x7E00
"""The bits of positive infinity."""

NAN = 0x7F00
"""The bits of the NaN that operations give."""

SIGN = 0x8000
"""The bit of the sign."""

LOWEST_EXPONENT, HIGHEST_EXPONENT = 1 - CB16_BIAS, 62 - CB16_BIAS
"""Of normal numbers."""

FUNCTIONS = {
    **dict.fromkeys(("addf", "subf", "mulf", "divf", "remf", "minimumf", "maximumf", "powf", "atan2"), "ccc"),
    **dict.fromkeys(
        ("negf", "absf", "sqrt", "rsqrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "tanh", "atan", "ceil",
         "floor", "round"), "cc",
    ),
    **dict.fromkeys(("oeq", "une", "olt", "ogt", "ole", "oge"), "ccb"),
    "extf": "cf", "truncf": "fc", "sitofp": "ic", "uitofp": "ic", "fptosi": "ci", "fptoui": "ci",
}  # fmt: skip
"""What is computed on cb16, by the names of MLIR's operations on floats and of its comparisons of them.

A letter for each operand and for the result: c for a cb16, f for an f32, i for an integer, b for a truth value.
"""


def rounded(value: float) -> float:
    """Return the nearest cb16, to even on a tie; beyond the largest one an infinity."""
    return from_bits(bits(value))


def bits(value: float) -> int:
    """Return the bits of the nearest cb16 as an unsigned integer."""
    sign = SIGN if math.copysign(1.0, value) < 0 else 0
    value = abs(value)
    if math.isnan(value):
        return sign | NAN
    if math.isinf(value):
        return sign | INFINITY
    if value == 0:
        return sign
    # In steps of the least one of its exponent; a sum of all steps carries into the exponent where it has to.
    exponent = max(math.frexp(value)[1] - 1, LOWEST_EXPONENT)
    if exponent > HIGHEST_EXPONENT:
        return sign | INFINITY
    steps = round(math.ldexp(value, MANTISSA_BITS - exponent))
    return sign | ((exponent - LOWEST_EXPONENT) << MANTISSA_BITS) + steps


def from_bits(pattern: int) -> float:
    """Return the number with the bits of a cb16."""
    sign = -1.0 if pattern & SIGN else 1.0
    exponent, mantissa = (pattern & ~SIGN & 0xFFFF) >> MANTISSA_BITS, pattern & ((1 << MANTISSA_BITS) - 1)
    if exponent == INFINITY >> MANTISSA_BITS:
        return math.copysign(math.nan if mantissa else math.inf, sign)
    if exponent == 0:
        return sign * math.ldexp(mantissa, LOWEST_EXPONENT - MANTISSA_BITS)
    return sign * math.ldexp(mantissa + (1 << MANTISSA_BITS), exponent - CB16_BIAS - MANTISSA_BITS)
