"""Integer arithmetic of `arith` and `math`: what each operation computes, as functions of Python integers.

An integer of more than one bit is kept as a signed number and a truth value (`i1`) as 0 or 1; an operation that reads
its operands as unsigned says so. Results wrap to their width. Where MLIR leaves a result undefined, it is this:

- a shift by the width or more is a shift by the width: 0, or the sign in every bit (`shrsi`);
- the least number divided by -1 wraps to itself, with remainder 0;
- a division by 0 raises ZeroDivisionError, and whoever computes says what that means to a program;
- a float beyond the limits of an integer becomes that limit, and NaN becomes 0.

Knows neither IR nor numpy.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import cache
from typing import Literal, TypeAlias

from ..diagnostics.records import record

Compute: TypeAlias = Callable[..., int]

INDEX_BITS = 64
"""Bits of the `index` type."""

MAX_SHIFT = 1 << 17
"""Bits beyond which a shift to the left moves no further; no integer of a program is as wide."""


# Reading and wrapping


def unsigned(value: int, bits: int) -> int:
    """Return the integer with these low bits, from 0."""
    return value & ((1 << bits) - 1)


def signed(value: int, bits: int) -> int:
    """Return the integer with these low bits, the highest of which is the sign. A true `i1` is -1."""
    half = 1 << (bits - 1)
    return ((value + half) & ((1 << bits) - 1)) - half


@cache
def wrapper(bits: int) -> Callable[[int], int]:
    """Return the function that wraps an integer to a width as it is kept: signed, a truth value as 0 or 1."""
    if bits == 1:
        return lambda value: value & 1
    half, mask = 1 << (bits - 1), (1 << bits) - 1
    return lambda value: ((value + half) & mask) - half


def limits(bits: int, *, is_signed: bool) -> tuple[int, int]:
    """Return the least and the greatest integer of a width."""
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)


def fits(value: int, bits: int) -> bool:
    """Return True if a width holds an integer, be it signed or unsigned."""
    return -(1 << (bits - 1)) <= value < 1 << bits


# Operations


def quotient(dividend: int, divisor: int) -> int:
    """Return the quotient rounded towards zero. Raises ZeroDivisionError."""
    result = abs(dividend) // abs(divisor)
    return result if (dividend < 0) == (divisor < 0) else -result


def remainder(dividend: int, divisor: int) -> int:
    """Return the remainder of `quotient`, which has the sign of the dividend. Raises ZeroDivisionError."""
    return dividend - quotient(dividend, divisor) * divisor


def shift_left(value: int, amount: int) -> int:
    """Return `value` times two to the power of `amount`."""
    return value << min(amount, MAX_SHIFT)


def _floor(dividend: int, divisor: int) -> int:
    return dividend // divisor


def _ceiling(dividend: int, divisor: int) -> int:
    return -(-dividend // divisor)


def _and(left: int, right: int) -> int:
    return left & right


def _or(left: int, right: int) -> int:
    return left | right


def _xor(left: int, right: int) -> int:
    return left ^ right


def _shift_right(value: int, amount: int) -> int:
    return value >> amount


def _absolute(value: int) -> int:
    return abs(value)


def _count_ones(value: int, bits: int) -> int:
    return value.bit_count()


def _leading_zeros(value: int, bits: int) -> int:
    return bits - value.bit_length()


def _trailing_zeros(value: int, bits: int) -> int:
    return (value & -value).bit_length() - 1 if value else bits


@record
class IntegerOperation:
    """An operation on integers of one width.

    `exact` computes on operands as they are read, signed ("s") or unsigned ("u"), before the result wraps.
    """

    name: str
    reads: Literal["ss", "uu", "su", "s"]
    exact: Compute


def _operations() -> dict[str, IntegerOperation]:
    operation = IntegerOperation
    rows = [
        operation("arith.addi", "ss", operator.add),
        operation("arith.subi", "ss", operator.sub),
        operation("arith.muli", "ss", operator.mul),
        operation("arith.divsi", "ss", quotient),
        operation("arith.divui", "uu", quotient),
        operation("arith.remsi", "ss", remainder),
        operation("arith.remui", "uu", remainder),
        operation("arith.floordivsi", "ss", _floor),
        operation("arith.ceildivsi", "ss", _ceiling),
        operation("arith.ceildivui", "uu", _ceiling),
        operation("arith.andi", "ss", _and),
        operation("arith.ori", "ss", _or),
        operation("arith.xori", "ss", _xor),
        operation("arith.shli", "su", shift_left),
        operation("arith.shrsi", "su", _shift_right),
        operation("arith.shrui", "uu", _shift_right),
        operation("arith.minsi", "ss", min),
        operation("arith.maxsi", "ss", max),
        operation("arith.minui", "uu", min),
        operation("arith.maxui", "uu", max),
        operation("math.absi", "s", _absolute),
    ]
    return {row.name: row for row in rows}


OPERATIONS: dict[str, IntegerOperation] = _operations()
"""The operations on integers of one width, by name."""

DIVISIONS = frozenset(name for name in OPERATIONS if "div" in name or "rem" in name)
"""The operations that raise ZeroDivisionError."""

COUNTS: dict[str, Callable[[int, int], int]] = {
    "math.ctpop": _count_ones, "math.ctlz": _leading_zeros, "math.cttz": _trailing_zeros,
}  # fmt: skip
"""Counts of the bits of an unsigned integer, given its width."""


@cache
def function(name: str, bits: int) -> Compute:
    """Return the function of an operation of `OPERATIONS` or `COUNTS` on integers of a width, as they are kept."""
    if name in COUNTS:
        return _counting(COUNTS[name], bits)
    op = OPERATIONS[name]
    exact, reads = op.exact, op.reads
    half, mask = 1 << (bits - 1), (1 << bits) - 1

    def of_truth_values(*operands: int) -> int:
        read = (signed(value, 1) if letter == "s" else value & 1 for letter, value in zip(reads, operands, strict=True))
        return exact(*read) & 1

    def of_signed(a: int, b: int) -> int:
        return ((exact(a, b) + half) & mask) - half

    def of_unsigned(a: int, b: int) -> int:
        return ((exact(a & mask, b & mask) + half) & mask) - half

    def of_signed_and_unsigned(a: int, b: int) -> int:
        return ((exact(a, b & mask) + half) & mask) - half

    def of_one(a: int) -> int:
        return ((exact(a) + half) & mask) - half

    if bits == 1:
        return of_truth_values
    return {"ss": of_signed, "uu": of_unsigned, "su": of_signed_and_unsigned, "s": of_one}[reads]


def _counting(count: Callable[[int, int], int], bits: int) -> Compute:
    wrap = wrapper(bits)

    def counted(a: int) -> int:
        return wrap(count(unsigned(a, bits), bits))

    return counted


# Comparisons


@record
class Predicate:
    """A predicate of `arith.cmpi`; its place in `PREDICATES` is its number."""

    name: str
    compare: Callable[[int, int], bool]
    is_unsigned: bool = False


PREDICATES: tuple[Predicate, ...] = (
    Predicate("eq", operator.eq),
    Predicate("ne", operator.ne),
    Predicate("slt", operator.lt),
    Predicate("sle", operator.le),
    Predicate("sgt", operator.gt),
    Predicate("sge", operator.ge),
    Predicate("ult", operator.lt, is_unsigned=True),
    Predicate("ule", operator.le, is_unsigned=True),
    Predicate("ugt", operator.gt, is_unsigned=True),
    Predicate("uge", operator.ge, is_unsigned=True),
)


def comparison(predicate: int, bits: int) -> Callable[[int, int], bool]:
    """Return the function that decides a predicate on two integers of a width, as they are kept."""
    test = PREDICATES[predicate]
    read, compare = unsigned if test.is_unsigned else signed, test.compare
    return lambda a, b: compare(read(a, bits), read(b, bits))


# Conversions


CONVERSIONS: dict[str, bool] = {
    "arith.extsi": True, "arith.extui": False, "arith.trunci": True, "arith.index_cast": True,
}  # fmt: skip
"""Conversions of integers, and whether each reads its operand as signed."""


def conversion(name: str, source: int, result: int) -> Callable[[int], int]:
    """Return the function that converts an integer of `source` bits to `result` bits, as they are kept."""
    wrap, mask = wrapper(result), (1 << source) - 1

    def of_unsigned(value: int) -> int:
        return wrap(value & mask)

    def of_truth_value(value: int) -> int:
        return wrap(-(value & 1))

    return of_unsigned if not CONVERSIONS[name] else of_truth_value if source == 1 else wrap


def saturated(value: float, bits: int, *, is_signed: bool) -> int:
    """Truncate a number and saturate it to a width; NaN is 0."""
    if value != value:
        return 0
    lowest, highest = limits(bits, is_signed=is_signed)
    return highest if value >= highest else lowest if value <= lowest else math.trunc(value)
