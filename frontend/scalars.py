"""Arithmetic on known numbers, as the machine does it: integers wrap, floats are rounded to their type.

Each function also takes `Column`s, one number for each lane.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..operations import cb16, integers, nans
from ..operations.bit_patterns import are_all_same, patterns
from ..operations.scalar_types import numpy_type
from . import types
from .types import Type
from .values import Column, Lanes

_SCALARS: tuple[Type, ...] = (
    types.F16, types.F32, types.BF16, types.I8, types.I16, types.I32, types.I64, types.U8, types.U16, types.U32,
    types.U64, types.BOOL,
)  # fmt: skip

NUMPY: dict[Type, Any] = {type: numpy_type("i1" if type is types.BOOL else str(type)).type for type in _SCALARS}
"""The numpy type of each scalar that has one."""

_MANTISSA_BITS: dict[Type, int] = {types.F16: 10, types.BF16: 7, types.CB16: cb16.MANTISSA_BITS, types.F32: 23}


def rounded(type: Type, value: float) -> float:
    """Return the nearest value of a float type; to even on a tie, beyond its range infinite."""
    if type is types.COMPTIME_FLOAT:
        return value
    if type is types.CB16:
        return cb16.rounded(value)
    with np.errstate(over="ignore"):
        return float(NUMPY[type](_odd_singles(np.float64(value)) if type is types.BF16 else value))


def _odd_singles(values: Any) -> Any:
    """Return doubles as floats of 32 bits that round to bf16 as the doubles do: the last bit says if any is lost."""
    nearest = np.asarray(values, np.float32)
    toward_zero = np.where(np.abs(nearest) > np.abs(values), np.nextafter(nearest, np.float32(0)), nearest)
    return (toward_zero.view(np.uint32) | (toward_zero < values) | (toward_zero > values)).view(np.float32)


_EXACT_BITS = 53
"""Bits of the integers that a double holds, with a sign beside them."""


def nearest(type: Type, number: int) -> float:
    """Return the nearest value of a float type to an integer, as `rounded` does."""
    lost = 0 if type is types.COMPTIME_FLOAT else max(0, abs(number).bit_length() - _EXACT_BITS)
    # Rounding twice is rounding once if the last bit says that others were set.
    kept = abs(number) >> lost
    kept |= kept << lost != abs(number)
    try:
        magnitude = math.ldexp(kept, lost)
    except OverflowError:
        magnitude = math.inf
    return rounded(type, math.copysign(magnitude, number))


def _divide_float(left: float, right: float) -> float:
    if right == 0:
        if left == 0 or math.isnan(left):
            return math.nan
        return math.copysign(math.inf, left) * math.copysign(1.0, right)
    return left / right


def _remainder_float(left: float, right: float) -> float:
    if right == 0 or math.isinf(left):
        return math.nan
    return math.fmod(left, right)


_EXACT: dict[str, Callable[[Any, Any], Any]] = {
    symbol: integers.OPERATIONS[name].exact
    for symbol, name in (
        ("+", "arith.addi"), ("-", "arith.subi"), ("*", "arith.muli"), ("/", "arith.divsi"), ("%", "arith.remsi"),
        ("&", "arith.andi"), ("|", "arith.ori"), ("^", "arith.xori"), ("<<", "arith.shli"), (">>", "arith.shrsi"),
    )
}  # fmt: skip
"""Operators on integers, signed or unsigned, before their results wrap to a type."""

ARITHMETIC = {symbol: _EXACT[symbol] for symbol in "+-*"}
"""Operators that floats have too."""
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
BITWISE = {symbol: _EXACT[symbol] for symbol in ("&", "|", "^", "<<", ">>")}


def _divide_columns(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    quotient = np.abs(left) // np.abs(right)
    return np.where((left < 0) != (right < 0), -quotient, quotient)


def _remainder_columns(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    return left - right * _divide_columns(left, right)


DIVISIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    _EXACT["/"]: _divide_columns,
    _EXACT["%"]: _remainder_columns,
}
"""Functions of numbers that have a form for whole columns without zeros."""

FAST = {*(_EXACT[symbol] for symbol in "+-*&|^"), *COMPARISONS.values()}
"""Operations numpy does on whole columns as Python does on numbers."""

SAFE = 1 << 31
"""Numbers below it cannot overflow 64 bits in one operation."""


def lifted(lanes: Lanes, function: Callable[..., Any], *arguments: Any) -> Any:
    """Apply `function` to numbers, or in each lane of `Column`s."""
    # Most numbers are no columns, and there are many: a generator for `any` would take half the time.
    for argument in arguments:
        if argument.__class__ is Column:
            break
    else:
        return function(*arguments)
    arrays = [lanes.spread(argument) if isinstance(argument, Column) else None for argument in arguments]
    if function in FAST and all(_is_small(a, b) for a, b in zip(arrays, arguments, strict=True)):
        return column(lanes, function(*(b if a is None else a for a, b in zip(arrays, arguments, strict=True))))
    if function in DIVISIONS and all(_is_small(a, b) for a, b in zip(arrays, arguments, strict=True)):
        left, right = (np.asarray(b, np.int64) if a is None else a for a, b in zip(arrays, arguments, strict=True))
        if np.all(right != 0) and left.dtype.kind == right.dtype.kind == "i":
            return column(lanes, DIVISIONS[function](left, right))
    return _one_by_one(lanes, function, arrays, arguments)


def _is_small(array: NDArray[Any] | None, number: Any) -> bool:
    if array is None:
        return isinstance(number, float) or -SAFE < number < SAFE
    if array.dtype.kind in "bf":
        return True
    return array.dtype.kind == "i" and bool(np.abs(array).max(initial=0) < SAFE)


def _one_by_one(
    lanes: Lanes, function: Callable[..., Any], arrays: list[NDArray[Any] | None], arguments: tuple[Any, ...]
) -> Any:
    """Call `function` once for each distinct combination of arguments."""
    code: NDArray[np.int64] = np.zeros(lanes.count, np.int64)
    for array in arrays:
        if array is not None:
            distinct, inverse = np.unique(patterns(array), return_inverse=True)
            _, code = np.unique(code * len(distinct) + inverse.ravel(), return_inverse=True)
    _, first, inverse = np.unique(code, return_index=True, return_inverse=True)
    results = [
        function(*(b if a is None else one(a, lane) for a, b in zip(arrays, arguments, strict=True)))
        for lane in first.tolist()
    ]
    return column(lanes, as_array(results)[inverse])


def one(values: NDArray[Any], position: int) -> Any:
    """Return a number of a column as Python has it; columns of integers too long for 64 bits hold such already."""
    return values.item(position)


def as_array(numbers: list[Any]) -> NDArray[Any]:
    """Return numbers as one array: floats, truth values, or integers of any size."""
    if all(isinstance(number, bool) for number in numbers):
        return np.array(numbers, np.bool_)
    if any(isinstance(number, float) for number in numbers):
        return np.array(numbers, np.float64)
    if all(-(1 << 63) <= number < 1 << 63 for number in numbers):
        return np.array(numbers, np.int64)
    return np.array(numbers, object)


def column(lanes: Lanes, values: NDArray[Any]) -> Any:
    """Return a column, or the number if it is the same in all lanes."""
    if values.ndim == 0:
        return values.item()
    if are_all_same(values):
        return one(values, 0)
    return Column(lanes, values)


def binary(lanes: Lanes, symbol: str, type: Type, left: Any, right: Any) -> Any:
    """Compute `left symbol right` for operands of one type, constants or columns. Raises ZeroDivisionError."""
    if symbol in COMPARISONS:
        return lifted(lanes, COMPARISONS[symbol], left, right)
    if types.is_float(type):
        function = ARITHMETIC.get(symbol) or {"/": _divide_float, "%": _remainder_float}[symbol]
        with np.errstate(all="ignore"):
            return _fit(lanes, type, lifted(lanes, function, left, right))
    return _fit(lanes, type, lifted(lanes, _EXACT[symbol], left, right))


def _fit(lanes: Lanes, type: Type, data: Any) -> Any:
    if isinstance(data, Column) and data.values.dtype.kind in "bif":
        return column(lanes, _fit_column(type, lanes.spread(data)))
    if isinstance(type, types.Int):
        return lifted(lanes, type.wrap, data)
    if isinstance(type, types.Float):
        return lifted(lanes, partial(rounded, type), data)
    return data


def _fit_column(type: Type, values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers wrapped or rounded to their type."""
    if isinstance(type, types.Int) and values.dtype.kind != "f":
        if type.lowest <= values.min() and values.max() <= type.highest:
            return values
        if type.bits >= 64 or not type.bits:
            return as_array([type.wrap(number) for number in values.tolist()])
        wide = values.astype(np.int64) & ((1 << type.bits) - 1)
        return np.where(wide > type.highest, wide - (1 << type.bits), wide) if type.signed else wide
    if isinstance(type, types.Float) and type in NUMPY:
        with np.errstate(all="ignore"):
            singles = _odd_singles(values) if type is types.BF16 else values
            return singles.astype(NUMPY[type]).astype(np.float64)
    return values


def cast_column(type: Type, column_: Column, lanes: Lanes) -> Any:
    """Return a column of numbers converted as @as does; None where only one number at a time can be."""
    values = lanes.spread(column_)
    if values.dtype.kind not in "bif":
        return None
    if type is types.BOOL:
        return column(lanes, values != 0)
    if types.is_float(type):
        if values.dtype.kind == "i" and np.abs(values).max(initial=0) >= 1 << _EXACT_BITS:
            return None
        return column(lanes, _fit_column(type, values.astype(np.float64)))
    if values.dtype.kind == "f":
        return None
    return column(lanes, _fit_column(type, values.astype(np.int64)))


def fit(lanes: Lanes, type: Type, data: Any) -> Any:
    """Return a number wrapped or rounded to its type."""
    return _fit(lanes, type, data)


def bits(type: Type, value: Any) -> int:
    """Return the bits of a number of a type of known width, as an unsigned integer."""
    if isinstance(type, types.Float):
        if math.isnan(value):
            return nans.bits(value, type.bits, _MANTISSA_BITS[type])
        if type is types.CB16:
            return cb16.bits(value)
        array = np.array(value, NUMPY[type])
        return int(array.view(np.uint16 if type.bits == 16 else np.uint32))
    width = type.bits if isinstance(type, types.Int) else 16
    return integers.unsigned(int(value), width)


def from_bits(type: Type, pattern: int) -> Any:
    """Return the number of a type with these bits."""
    if isinstance(type, types.Float):
        if nans.is_nan(pattern, type.bits, _MANTISSA_BITS[type]):
            return nans.from_bits(pattern, type.bits, _MANTISSA_BITS[type])
        if type is types.CB16:
            return cb16.from_bits(pattern)
        array = np.array(pattern, np.uint16 if type.bits == 16 else np.uint32)
        return float(array.view(NUMPY[type]))
    if isinstance(type, types.Int):
        return type.wrap(pattern)
    if type is types.BOOL:
        return bool(pattern & 1)
    return pattern
