"""Arithmetic of DSD operations: one element from the bits of the elements of its sources.

A multiply-add rounds its product before it adds. Conversions to integers round to nearest, to even on a tie, and
saturate; a NaN becomes 0. A normalized number is exact. The carry of an element goes to the next one of the same
operation; the first gets none, and that of the last is lost. In a program whose 16-bit floats are cb16, which tables
keep as i16, a result is computed as an f32 and rounded once more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import TypeAlias

from ...operations import cb16, floats, integers
from ...operations.dsd_table import OPERATIONS

Element: TypeAlias = Callable[..., int]
"""Gives the bits of a result from those of the sources, all from 0 on."""

Number: TypeAlias = "int | float"

WIDE = ("f32", "i32")
"""Kinds that take two words of memory and a whole wavelet."""


def bits_of(kind: str) -> int:
    """Return the bits of an element of a kind."""
    return 32 if kind in WIDE else 16


def read(pattern: int, kind: str) -> Number:
    """Return the number with the bits of an element; integers are signed."""
    if kind == "cb16":
        return cb16.from_bits(pattern)
    return floats.number(pattern, kind) if kind in floats.WIDTH else integers.signed(pattern, bits_of(kind))


def written(value: Number, kind: str) -> int:
    """Return the bits of the element that is nearest to a number; integers wrap."""
    if kind == "cb16":
        return cb16.bits(floats.rounded(value, "f32"))
    return floats.bits(value, kind) if kind in floats.WIDTH else integers.unsigned(int(value), bits_of(kind))


def element(name: str, format: str | None) -> Element:
    """Return what an operation computes, in the names of the table of DSD operations.

    It serves one operation from its first element to its last: a carry goes from each to the next.
    """
    return _WithCarry().add if OPERATIONS[name].function == "add_with_carry" else _element(name, format)


class _WithCarry:
    """Sums of words in which each gets the carry of the one before."""

    def __init__(self) -> None:
        self.carry = 0

    def add(self, a: int, b: int) -> int:
        """Return the next sum."""
        total = a + b + self.carry
        self.carry = total >> 16
        return total & 0xFFFF


@cache
def _element(name: str, format: str | None) -> Element:
    row = OPERATIONS[name]
    kind, *kinds = [format if format and each == "f16" else each for each in (row.destination, *row.sources)]
    match row.function:
        case "move":
            return _one(lambda a: a)
        case "negate":
            return _one(lambda a: a ^ 1 << (bits_of(kind) - 1))
        case "absolute":
            return _one(lambda a: a & ~(1 << (bits_of(kind) - 1)))
        case "maximum":
            return _two(lambda a, b: _larger(a, b, kind))
        case "multiply_add":
            return partial(_multiply_add, kind, kinds)
        case "convert" if kind == "i16":
            return _one(lambda a: written(to_integer(read(a, kinds[0])), kind))
        case _:
            compute = _COMPUTE[row.function]
            return partial(_apply, compute, kind, kinds)


def _one(function: Callable[[int], int]) -> Element:
    return function


def _two(function: Callable[[int, int], int]) -> Element:
    return function


def _apply(compute: Callable[..., Number], kind: str, kinds: list[str], *sources: int) -> int:
    return written(compute(*map(read, sources, kinds)), kind)


def _larger(a: int, b: int, kind: str) -> int:
    first, second = read(a, kind), read(b, kind)
    return b if second > first or first != first else a


def _multiply_add(kind: str, kinds: list[str], a: int, b: int, c: int) -> int:
    product = read(written(read(b, kinds[1]) * read(c, kinds[2]), kind), kind)
    return written(read(a, kinds[0]) + product, kind)


def to_integer(value: Number) -> int:
    """Return the 16-bit integer that is nearest to a number."""
    lowest, highest = integers.limits(16, is_signed=True)
    return 0 if value != value else lowest if value <= lowest else highest if value >= highest else round(value)


def _scale(value: float, exponent: int) -> float:
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.copysign(math.inf, value)


def _normalize(value: float) -> float:
    return value if value == 0 or not math.isfinite(value) else 2 * math.frexp(value)[0]


def _add(a: Number, b: Number) -> Number:
    return a + b


def _subtract(a: Number, b: Number) -> Number:
    return a - b


def _multiply(a: Number, b: Number) -> Number:
    return a * b


def _same(a: Number) -> Number:
    return a


def _words(name: str) -> Callable[..., int]:
    return integers.function(name, 16)


_COMPUTE: dict[str, Callable[..., Number]] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "convert": _same,
    "scale": _scale,
    "normalize": _normalize,
    "and": _words("arith.andi"),
    "or": _words("arith.ori"),
    "xor": _words("arith.xori"),
    "shift_left": _words("arith.shli"),
    "shift_right_logical": _words("arith.shrui"),
    "shift_right_arithmetic": _words("arith.shrsi"),
    "count_leading_zeros": _words("math.ctlz"),
    "count_trailing_zeros": _words("math.cttz"),
    "population_count": _words("math.ctpop"),
}
