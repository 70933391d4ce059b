"""Floating point exceptions: the bits of the mask register, and what a report says of one that stops a PE."""

from __future__ import annotations

from collections.abc import Sequence

UNDERFLOW, OVERFLOW, INEXACT, INVALID, DIVISION_BY_0 = 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7
"""Bits of the exception mask register, in which a bit that is set keeps an exception from stopping the PE."""

NAMES = {
    DIVISION_BY_0: "a division by 0",
    INVALID: "an undefined result",
    OVERFLOW: "an overflow",
    UNDERFLOW: "an underflow",
    INEXACT: "an inexact result",
}
CONSTANTS = {
    DIVISION_BY_0: "FP_DIV_BY_0",
    INVALID: "FP_INVALID",
    OVERFLOW: "FP_OVERFLOW",
    UNDERFLOW: "FP_UNDERFLOW",
    INEXACT: "FP_INEXACT",
}


_EXACT = frozenset(
    {
        "arith.negf", "arith.extf", "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf", "math.absf",
        "math.floor", "math.ceil", "math.trunc", "math.round", "math.roundeven", "math.copysign", "arith.constant",
        "arith.select", "arith.bitcast", "move", "maximum", "negate", "absolute", "normalize",
    }
)  # fmt: skip
"""Operations without exceptions."""


def raises(name: str) -> bool:
    """Return True if an operation may have exceptions, given that its operands or result are floats."""
    return name not in _EXACT


def message(bits: int, values: Sequence[float], result: float, place: str) -> str:
    """Return the report of the first unmasked exception among `bits`."""
    bit = next(bit for bit in NAMES if bits & bit)
    given = ", ".join(f"{value:g}" for value in values)
    return (
        f"{NAMES[bit]} stops {place}, which has unmasked {CONSTANTS[bit]}: the result of this operation on {given} is "
        f"{result:g}; guard the operands, or mask the exception"
    )
