"""Arithmetic on numbers of format `cb16`, which the engine keeps as the signed 16-bit integers with their bits.

It is done on f32, which holds every cb16 and more than twice its digits, so that rounding a sum, product, quotient or
root of two once more gives the nearest cb16. `operations/cb16.py` has the format, and the same for single numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ...operations import cb16, integers
from ...operations.dsd_table import DsdOperation
from .units import Array

_CUT = 52 - cb16.MANTISSA_BITS
"""Bits of a float64's mantissa beyond that of a cb16."""

_REBIAS = (1023 - (1 - cb16.LOWEST_EXPONENT)) << cb16.MANTISSA_BITS
_SMALLEST_NORMAL = 2.0**cb16.LOWEST_EXPONENT
_STEPS = 2.0 ** (cb16.MANTISSA_BITS - cb16.LOWEST_EXPONENT)
"""Subnormals in 1.0."""


@cache
def _numbers() -> Array:
    """Return the number of each of the 65,536 patterns, as f32. Made at first use."""
    patterns = np.arange(1 << 16)
    exponents = (patterns >> cb16.MANTISSA_BITS) & 63
    mantissas = patterns & ((1 << cb16.MANTISSA_BITS) - 1)
    hidden = np.where(exponents == 0, 0, 1 << cb16.MANTISSA_BITS)
    scale = np.maximum(exponents, 1) - 1 + cb16.LOWEST_EXPONENT - cb16.MANTISSA_BITS
    numbers = np.ldexp(mantissas + hidden, scale).astype(np.float32)
    numbers[exponents == 63] = np.inf
    numbers[(exponents == 63) & (mantissas != 0)] = np.nan
    return np.where(patterns & cb16.SIGN, -numbers, numbers)


def decode(bits: Any) -> Array:
    """Return the numbers, as f32, that signed integers of 16 bits stand for."""
    return _numbers()[np.asarray(bits, np.int16).view(np.uint16)]


def encode(numbers: Any) -> Array:
    """Return the bits of the nearest cb16 of each number, to even on a tie, as signed integers."""
    wide = np.asarray(numbers, np.float64)
    bits = wide.view(np.int64)
    magnitudes = bits & np.int64((1 << 63) - 1)
    # Half a step less one, and one more where the last bit that stays is odd; a carry goes on into the exponent.
    normal = ((magnitudes + ((1 << (_CUT - 1)) - 1) + ((magnitudes >> _CUT) & 1)) >> _CUT) - _REBIAS
    size = np.abs(wide)
    small = size < _SMALLEST_NORMAL
    subnormal = np.rint(np.where(small, size, 0) * _STEPS).astype(np.int64)
    result = np.where(small, subnormal, np.minimum(normal, cb16.INFINITY))
    result = np.where(np.isnan(wide), cb16.NAN, result) | ((bits >> 48) & cb16.SIGN)
    return result.astype(np.uint16).view(np.int16)


def function(name: str, of_floats: Callable[..., Any] | None, kinds: tuple[str, ...]) -> Callable[..., Any]:
    """Return a function of `operations/cb16.py`, of numbers and of arrays, from the same function of f32.

    `kinds` are those of the operands and the result. Without a function of f32, the operand is only converted.
    """
    signature = cb16.FUNCTIONS[name]
    of_cb16 = [letter == "c" for letter in signature[:-1]]
    gives_cb16 = signature[-1] == "c"

    def number(bits: int) -> int:
        return integers.signed(bits, 16)

    def compute(*values: Any) -> Any:
        if np.ndarray in map(type, values):
            numbers = [decode(value) if narrow else value for value, narrow in zip(values, of_cb16, strict=True)]
            result = numbers[0] if of_floats is None else of_floats(*numbers)
            # Which of two NaNs a sum is, and so its sign, differs between numbers and arrays; here it is neither.
            return np.where(np.isnan(result), np.int16(cb16.NAN), encode(result)) if gives_cb16 else result
        numbers = [cb16.from_bits(value) if narrow else value for value, narrow in zip(values, of_cb16, strict=True)]
        result = numbers[0] if of_floats is None else of_floats(*numbers)
        if not gives_cb16:
            return result
        return cb16.NAN if result != result else number(cb16.bits(float(result)))

    return {"negf": _negated, "absf": _absolute}.get(name, compute)


def _negated(value: Any) -> Any:
    return value ^ np.int16(-0x8000) if type(value) is np.ndarray else integers.signed(value ^ cb16.SIGN, 16)


def _absolute(value: Any) -> Any:
    return value & np.int16(0x7FFF) if type(value) is np.ndarray else value & 0x7FFF


def kernel(row: DsdOperation) -> Callable[..., None]:
    """Return the kernel of a DSD operation whose operands of f16 are numbers of format cb16, kept as i16."""
    if row.function in _OF_BITS:
        return _OF_BITS[row.function]
    compute = _OF_NUMBERS[row.function]
    of_cb16 = [element == "f16" for element in row.sources]
    gives = row.destination

    def apply(out: Array, *sources: Any) -> None:
        result = compute(*(decode(a) if narrow else np.asarray(a) for a, narrow in zip(sources, of_cb16, strict=True)))
        if gives == "i16":
            whole = np.clip(np.rint(result), *integers.limits(16, is_signed=True))
            out[...] = np.where(np.isnan(whole), 0, whole).astype(np.int16)
        else:
            out[...] = encode(result) if gives == "f16" else result

    def multiply_add(out: Array, first: Any, second: Any, factor: Any) -> None:
        # A product of two is exact in f32.
        product = decode(second) * decode(factor)
        if gives == "f32":
            out[...] = np.asarray(first, np.float32) + product
        else:
            out[...] = encode(decode(first) + decode(encode(product)))

    return multiply_add if row.function == "multiply_add" else apply


def _copied(out: Array, source: Any) -> None:
    out[...] = source


def _negated_into(out: Array, source: Any) -> None:
    out[...] = np.asarray(source, np.int16) ^ np.int16(-0x8000)


def _absolute_into(out: Array, source: Any) -> None:
    out[...] = np.asarray(source, np.int16) & np.int16(0x7FFF)


def _larger(out: Array, first: Any, second: Any) -> None:
    one, other = decode(first), decode(second)
    out[...] = np.where((other > one) | np.isnan(one), second, first)


def _scaled(value: Array, exponent: Array) -> Array:
    return np.ldexp(value.astype(np.float64), exponent.astype(np.int32))


def _itself(value: Array) -> Array:
    return value


_OF_BITS: dict[str, Callable[..., None]] = {
    "move": _copied, "negate": _negated_into, "absolute": _absolute_into, "maximum": _larger,
}  # fmt: skip
_OF_NUMBERS: dict[str, Callable[..., Array]] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "multiply_add": np.add, "convert": _itself,
    "scale": _scaled,
}  # fmt: skip
