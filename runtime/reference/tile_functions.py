"""Functions on tiles, in numpy: each computes whole views, in place.

Elements are computed in the type of the destination; matrix products and sums of rows in float32 (integers in their
own width, which wraps), one product or element after the other, each rounded. Floats of 8 and 16 bits are computed in
float32 and rounded. `exp` and `log` are those of the C library in double precision, rounded once. Of two equal numbers
the second is the larger and the smaller one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias, cast

import ml_dtypes
import numpy as np

from ...operations import floats
from ..places import Array
from ..tables.format import ACCUMULATES, RELU, RESHAPES, SATURATES, VALUE_IS_FLOAT, WRAPS
from ..tables.instructions import ROUNDINGS, TILE_FUNCTIONS

Function: TypeAlias = "Callable[[Array, Sequence[Array], Any], None]"
"""Of a destination, its sources (a number is an array without dimensions) and the row of the function."""


class ShapesDiffer(Exception):
    """The shapes of a function's tiles do not belong together."""


def is_float(dtype: np.dtype[Any]) -> bool:
    """Return True for a type of floats, those of `ml_dtypes` included."""
    return dtype.kind not in "iub"


# Conversions


def wide(source: Array) -> Array:
    """Return numbers as doubles: those that are none, integers of 64 bits, as the doubles next to them that are odd, so
    that rounding these once more rounds once."""
    if source.dtype.kind in "iu" and source.dtype.itemsize == 8:
        low = np.asarray(0x7FF, source.dtype)
        large = (source > 1 << 53) | (source < -(1 << 53)) if source.dtype.kind == "i" else source > 1 << 53
        odd: Array = (source & ~low) | np.where(source & low != 0, low + low.dtype.type(1), low - low)
        source = np.where(large, odd, source)
    return source.astype(np.float64)


def odd_singles(values: Array) -> Array:
    """Return doubles as float32 rounded to odd: rounding that once more, to a narrower type, is rounding once."""
    singles = values.astype(np.float32)
    bits, back = singles.view(np.int32), singles.astype(np.float64)
    inexact = (back != values) & ~np.isnan(values) & (bits & 1 == 0)
    step = np.where(np.abs(back) < np.abs(values), 1, -1).astype(np.int32)
    return (bits + np.where(inexact, step, 0).astype(np.int32)).view(np.float32)


def narrow(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return floats rounded once to a type, to even on a tie."""
    if values.dtype == np.float64 and dtype.itemsize < 4:
        values = odd_singles(values)
    return values.astype(dtype)


def _half_away(values: Array) -> Array:
    return np.where(values < 0, np.ceil(values - 0.5), np.floor(values + 0.5))


_WHOLE: dict[str, Callable[[Array], Array]] = {
    "rint": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": _half_away, "odd": np.rint,
}  # fmt: skip
"""How floats are rounded to whole numbers."""


def convert(source: Array, dtype: np.dtype[Any], rounding: str | None, *, saturate: bool, wrap: bool = False) -> Array:
    """Return elements converted to another type, rounded as `rounding` says, by default to nearest even.

    Floats of one type are rounded to whole numbers if `rounding` is given, as the cores do. Floats too large for an
    integer are held at its limits; with `wrap` the lower bits of the integer of 64 bits are kept.
    """
    if source.dtype == dtype:
        if rounding is None or not is_float(dtype):
            return source
        return narrow(_WHOLE[rounding](source.astype(np.float64)), dtype)
    if is_float(dtype):
        return _to_float(source, dtype, rounding, saturate=saturate)
    if is_float(source.dtype):
        if wrap and dtype.itemsize < 8:
            return convert(source, np.dtype(np.int64), rounding, saturate=False).astype(dtype)
        return held(_WHOLE[rounding or "rint"](source.astype(np.float64)), dtype)
    if saturate:
        limits = np.iinfo(dtype)
        low = source.dtype.type(max(limits.min, np.iinfo(source.dtype).min))
        high = source.dtype.type(min(limits.max, np.iinfo(source.dtype).max))
        return np.minimum(np.maximum(source, low), high).astype(dtype)
    return source.astype(dtype)


def held(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return doubles as integers, without their fraction; too large ones are held at the limits, and NaN is 0."""
    limits = np.iinfo(dtype)
    # The largest 64-bit integers are no floats: what is beyond them takes their place behind the conversion.
    low, high = values < limits.min, values >= limits.max
    numbers = np.where(low | high | np.isnan(values), 0.0, values).astype(dtype)
    numbers = np.where(low, dtype.type(limits.min), numbers)
    return np.where(high, dtype.type(limits.max), numbers)


def _to_float(source: Array, dtype: np.dtype[Any], rounding: str | None, *, saturate: bool) -> Array:
    """Return numbers as floats of another type."""
    largest = float(cast("Any", ml_dtypes.finfo(dtype)).max)
    exact = wide(source)
    if saturate:
        exact = np.where(np.isnan(exact), exact, np.minimum(np.maximum(exact, -largest), largest))
    nearest = narrow(exact, dtype)
    if rounding in (None, "rint"):
        return nearest
    back = nearest.astype(np.float64)
    # Some types of 8 bits have no infinity.
    top = np.asarray(np.inf, dtype)
    top = np.asarray(largest, dtype) if np.isnan(top) else top
    if rounding == "round":
        # Halves go away from zero: nearest even has gone the other way if the next number is as far off.
        away = np.nextafter(nearest, np.where(exact < 0, -top, top))
        half = (np.abs(back) < np.abs(exact)) & (away.astype(np.float64) - exact == exact - back)
        return np.where(half, away, nearest)
    towards_zero = rounding in ("trunc", "odd")
    down = (back > exact) & ((rounding == "floor") | (towards_zero & (exact > 0)))
    up = (back < exact) & ((rounding == "ceil") | (towards_zero & (exact < 0)))
    result = np.where(down, np.nextafter(nearest, -top), np.where(up, np.nextafter(nearest, top), nearest))
    if rounding == "odd":
        # Of the two numbers around one between them, the one whose last bit is set.
        bits = result.view(f"u{dtype.itemsize}")
        bits |= ((back != exact) & ~np.isnan(exact)).astype(bits.dtype)
    return result


def typed(operand: Array, dtype: np.dtype[Any]) -> Array:
    """Return an operand in the type that is computed in; integers that do not fit lose their upper bits, floats their
    fraction."""
    if operand.dtype == dtype:
        return operand
    if is_float(dtype):
        return narrow(wide(operand), dtype)
    return held(np.trunc(operand.astype(np.float64)), dtype) if is_float(operand.dtype) else operand.astype(dtype)


# Element by element


def _fitting(source: Array, destination: Array) -> Array:
    """Return a source that is repeated to the shape of a destination, aligned at the last dimension."""
    if source.ndim > destination.ndim:
        raise ShapesDiffer
    for own, wanted in zip(reversed(source.shape), reversed(destination.shape), strict=False):
        if own not in (1, wanted):
            raise ShapesDiffer
    return np.broadcast_to(source, destination.shape)


def _operands(destination: Array, sources: Sequence[Array]) -> list[Array]:
    # Copies, since a source may overlap the destination in any way.
    return [typed(_fitting(source, destination), destination.dtype).copy() for source in sources]


def _elementwise(of_floats: Callable[..., Array], of_integers: Callable[..., Array] | None = None) -> Function:
    """Return a function of floats in float32, rounded, and of integers in their own type."""

    def compute(destination: Array, sources: Sequence[Array], row: Any) -> None:
        operands = _operands(destination, sources)
        if not is_float(destination.dtype):
            destination[...] = (of_integers or of_floats)(*operands)
        else:
            destination[...] = narrow(of_floats(*(each.astype(np.float32) for each in operands)), destination.dtype)

    return compute


def larger(a: Array, b: Array) -> Array:
    """Return the larger numbers, and NaN where one is none."""
    return np.where((a > b) | (a != a), a, b)


def _smaller(a: Array, b: Array) -> Array:
    return np.where((a < b) | (a != a), a, b)


def _divide_integers(a: Array, b: Array) -> Array:
    """Divide towards zero, as the cores do; 0 for a division by zero."""
    divisor = np.where(b == 0, b.dtype.type(1), b)
    quotient = a // divisor
    if a.dtype.kind == "i":
        # numpy rounds down, and leaves open what the least number divided by -1 is.
        least = (a == np.iinfo(a.dtype).min) & (b == -1)
        rest = np.where(least, 0, a - quotient * divisor).astype(a.dtype)
        quotient = np.where(least, a, quotient + ((rest != 0) & ((a < 0) != (divisor < 0))).astype(a.dtype))
    return np.where(b == 0, b.dtype.type(0), quotient)


def _negate(a: Array) -> Array:
    if is_float(a.dtype):
        return (a.view(np.uint32) ^ np.uint32(1 << 31)).view(np.float32)
    return a.dtype.type(0) - a


def _of_library(name: str) -> Function:
    """Return a function of the C library, of each element in double precision."""
    function = floats.unary(name)

    def compute(destination: Array, sources: Sequence[Array], row: Any) -> None:
        (operand,) = _operands(destination, sources)
        values = np.array([function(value) for value in operand.astype(np.float64).ravel().tolist()], np.float64)
        destination[...] = narrow(values, destination.dtype).reshape(destination.shape)

    return compute


def _fill(destination: Array, sources: Sequence[Array], row: Any) -> None:
    (operand,) = _operands(destination, sources)
    destination[...] = operand


# Copies


def copy(destination: Array, sources: Sequence[Array], row: Any) -> None:
    """Write the elements of a source, converted as the row says."""
    source = sources[0]
    if source.shape != destination.shape:
        if (source.ndim == destination.ndim and not row.options & RESHAPES) or source.size != destination.size:
            raise ShapesDiffer
    values = source.reshape(destination.shape).copy()
    if row.options & RELU:
        values = larger(values, np.zeros((), values.dtype))
    rounding: int = row.rounding
    values = convert(
        values, destination.dtype, ROUNDINGS[rounding], saturate=bool(row.options & SATURATES),
        wrap=bool(row.options & WRAPS),
    )  # fmt: skip
    if row.options & ACCUMULATES:
        _accumulate(destination, values)
    else:
        destination[...] = values


def _accumulate(destination: Array, values: Array) -> None:
    """Add to a view, one element after the other, since its elements may overlap."""
    dtype = destination.dtype
    for place in np.ndindex(destination.shape):
        if is_float(dtype):
            total = destination[place].astype(np.float32) + values[place].astype(np.float32)
            destination[place] = narrow(total, dtype)
        else:
            destination[place] += values[place]


# Rows


def _reduction(step: Callable[[Array, Array], Array]) -> Function:
    """Return a function of each row that takes in one element after the other."""

    def compute(destination: Array, sources: Sequence[Array], row: Any) -> None:
        source = sources[0]
        if source.size == 0:
            return  # as on the cores, where idle lanes repeat kernels with empty tiles
        if source.size // source.shape[-1] != destination.size:
            raise ShapesDiffer
        whole = np.uint64 if source.dtype == np.uint64 else np.int64
        values = source.astype(np.float32 if is_float(source.dtype) else whole)
        total = values[..., 0]
        for place in range(1, source.shape[-1]):
            total = step(total, values[..., place])
        destination[...] = typed(np.asarray(total), destination.dtype).reshape(destination.shape)

    return compute


# Tiles of several shapes


def _pad(destination: Array, sources: Sequence[Array], row: Any) -> None:
    source = sources[0]
    inside = tuple(slice(0, extent) for extent in source.shape[-2:])
    if (
        source.ndim < 2 or source.ndim != destination.ndim or source.shape[:-2] != destination.shape[:-2]
        or any(own > whole for own, whole in zip(source.shape, destination.shape, strict=True))
    ):  # fmt: skip
        raise ShapesDiffer
    values = typed(source, destination.dtype).copy()
    destination[...] = typed(option_value(row), destination.dtype)
    destination[(..., *inside)] = values


def option_value(row: Any) -> Array:
    """Return the number of an option: a double, or an integer of 64 bits."""
    value = np.array(row.value, np.int64)
    return value.view(np.float64) if row.options & VALUE_IS_FLOAT else value


def _concatenate(destination: Array, sources: Sequence[Array], row: Any) -> None:
    first, second = sources
    if not first.ndim == second.ndim == destination.ndim or first.shape[:-1] != second.shape[:-1]:
        raise ShapesDiffer
    if destination.shape != (*first.shape[:-1], first.shape[-1] + second.shape[-1]):
        raise ShapesDiffer
    values = [typed(source, destination.dtype).copy() for source in sources]
    destination[..., : first.shape[-1]], destination[..., first.shape[-1] :] = values


def _multiply_matrices(destination: Array, sources: Sequence[Array], row: Any) -> None:
    """Write the product of two matrices, or with three sources the first plus the product of the others."""
    *before, left, right = sources
    if not destination.ndim == left.ndim == right.ndim == 2 or left.shape[1] != right.shape[0]:
        raise ShapesDiffer
    if any(each.shape != (left.shape[0], right.shape[1]) for each in (destination, *before)):
        raise ShapesDiffer
    kind = np.dtype(np.float32 if is_float(destination.dtype) else np.int64)
    a, b = typed(left, kind), typed(right, kind)
    total = typed(before[0], kind).copy() if before else np.zeros(destination.shape, kind)
    for k in range(left.shape[1]):
        total = total + a[:, k, None] * b[None, k, :]
    destination[...] = typed(total, destination.dtype)


BY_NAME: dict[str, Function] = {
    "copy": copy,
    "fill": _fill,
    "add": _elementwise(np.add),
    "subtract": _elementwise(np.subtract),
    "multiply": _elementwise(np.multiply),
    "divide": _elementwise(np.divide, _divide_integers),
    "maximum": _elementwise(larger),
    "minimum": _elementwise(_smaller),
    "negate": _elementwise(_negate),
    "exponential": _of_library("math.exp"),
    "logarithm": _of_library("math.log"),
    "square_root": _elementwise(np.sqrt),
    "reciprocal": _elementwise(partial(np.divide, np.float32(1))),
    "row_sum": _reduction(np.add),
    "row_maximum": _reduction(larger),
    "pad": _pad,
    "concatenate": _concatenate,
    "matrix_multiply": _multiply_matrices,
    "matrix_multiply_add": _multiply_matrices,
}
"""What each function of `operations.tile_functions` computes."""

FUNCTIONS: tuple[Function, ...] = tuple(BY_NAME[name] for name in TILE_FUNCTIONS)
"""The same by number."""
