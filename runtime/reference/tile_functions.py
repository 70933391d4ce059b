"""Functions on tiles, in numpy: each computes whole views, in place.

Elements are computed in the type of the destination; matrix products and sums of rows in float32 (integers in their
own width, which wraps), one product or element after the other, each rounded. Floats of 8 and 16 bits are computed in
float32 and rounded. `exp` and `log` are those of the C library in double precision, rounded once. Of two equal numbers
the second is the larger and the smaller one.
"""

from __future__ import annotations

import math
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


class IndexOutside(Exception):
    """An index of a function is not below the number of elements: `index` and `count`."""

    def __init__(self, index: int, count: int) -> None:
        super().__init__(index, count)
        self.index, self.count = index, count


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


def _remainder_of_integers(a: Array, b: Array) -> Array:
    return np.where(b == 0, b.dtype.type(0), a - _divide_integers(a, b) * b)


def _floored(remainder: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Return a remainder with the sign of the divisor, of one with the sign of the dividend."""

    def compute(a: Array, b: Array) -> Array:
        rest = remainder(a, b)
        return np.where((rest != 0) & ((a >= 0) != (b >= 0)), rest + b, rest)

    return compute


def _power(a: Array, b: Array) -> Array:
    pairs = zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)
    values = np.array([_power_of_floats(*pair) for pair in pairs], np.float64)
    return np.where(np.isnan(values), np.nan, values).astype(np.float32).reshape(a.shape)


def _power_of_floats(a: float, b: float) -> float:
    """Return what the C library's pow does, where Python raises an error."""
    is_odd = math.fmod(b, 2) in (1, -1) if math.isfinite(b) else False
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and is_odd else math.inf
    except ValueError:
        return math.nan if a != 0 else math.copysign(math.inf, a) if is_odd else math.inf


def _power_of_integers(a: Array, b: Array) -> Array:
    def power(base: int, exponent: int) -> int:
        if exponent < 0:
            return 1 if base == 1 or (base == -1 and exponent % 2 == 0) else -1 if base == -1 else 0
        return pow(base, exponent, 1 << 64)

    pairs = zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)
    found = [power(*pair) & 0xFFFF_FFFF_FFFF_FFFF for pair in pairs]
    return np.array(found, np.uint64).astype(a.dtype).reshape(a.shape)


def _leak(a: Array, b: Array) -> Array:
    return np.where(a > 0, a, a * b)


def _nothing(a: Array, b: Array) -> Array:
    """Return zeros: floats have no bits to combine."""
    return np.zeros_like(a)


def _too_far(by: Array) -> Array:
    """Return True where a shift leaves no bit."""
    return (by < 0) | (by >= 8 * by.dtype.itemsize)


def _shift_left(a: Array, by: Array) -> Array:
    return np.where(_too_far(by), a.dtype.type(0), a << np.where(_too_far(by), by.dtype.type(0), by))


def _shift_right(a: Array, by: Array) -> Array:
    if a.dtype.kind == "i":
        return a >> np.where(_too_far(by), by.dtype.type(8 * by.dtype.itemsize - 1), by)
    return np.where(_too_far(by), a.dtype.type(0), a >> np.where(_too_far(by), by.dtype.type(0), by))


def _of_library(name: str) -> Function:
    """Return a function of the C library, of each element in double precision; a NaN of its has no sign."""
    function = floats.unary(name)

    def compute(destination: Array, sources: Sequence[Array], row: Any) -> None:
        (operand,) = _operands(destination, sources)
        values = np.array([function(value) for value in operand.astype(np.float64).ravel().tolist()], np.float64)
        values = np.where(np.isnan(values), np.nan, values)
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

    def reduce(values: Array) -> Array:
        total = values[..., 0]
        for place in range(1, values.shape[-1]):
            total = step(total, values[..., place])
        return np.asarray(total)

    return _by_row(reduce)


def _place(better: Callable[[Array, Array], Array]) -> Function:
    """Return a function of each row: the place of the first element that is better than all others."""

    def find(values: Array) -> Array:
        best, place = values[..., 0], np.zeros(values.shape[:-1], np.int64)
        for other in range(1, values.shape[-1]):
            is_better = better(values[..., other], best)
            best, place = np.where(is_better, values[..., other], best), np.where(is_better, other, place)
        return place

    return _by_row(find)


def _by_row(reduce: Callable[[Array], Array]) -> Function:
    def compute(destination: Array, sources: Sequence[Array], row: Any) -> None:
        source = sources[0]
        if source.size == 0:
            return  # as on the cores, where idle lanes repeat kernels with empty tiles
        if source.size // source.shape[-1] != destination.size:
            raise ShapesDiffer
        whole = np.uint64 if source.dtype == np.uint64 else np.int64
        values = source.astype(np.float32 if is_float(source.dtype) else whole)
        destination[...] = typed(reduce(values), destination.dtype).reshape(destination.shape)

    return compute


# Counting, packed bits, indices, sorting


def _count(destination: Array, sources: Sequence[Array], row: Any) -> None:
    """Write numbers from the first on, row by row, each a step more."""
    if any(source.ndim for source in sources):
        raise ShapesDiffer
    first, step = (typed(source, np.dtype(np.int64)) for source in sources)
    numbers = first + np.arange(destination.size, dtype=np.int64) * step
    destination[...] = typed(numbers, destination.dtype).reshape(destination.shape)


def _check_packed(packed: Array, of: Array) -> None:
    """Check that a tile has a byte for every eight elements of a row of another."""
    if packed.ndim == 0 or packed.ndim != of.ndim or packed.dtype.itemsize != 1 or is_float(packed.dtype):
        raise ShapesDiffer
    if packed.shape != (*of.shape[:-1], (of.shape[-1] + 7) // 8):
        raise ShapesDiffer


def _comparison(holds: Callable[[Array, Array], Array]) -> Function:
    """Return a function that writes a bit for each element, the first in the lowest bit of a byte."""

    def compute(destination: Array, sources: Sequence[Array], row: Any) -> None:
        first, second = sources
        _check_packed(destination, first)
        if second.ndim and second.shape != first.shape:
            raise ShapesDiffer
        if not destination.size:
            return
        other = np.broadcast_to(typed(second, first.dtype), first.shape)
        values = (each.astype(np.float32) if is_float(each.dtype) else each for each in (first, other))
        bits = np.packbits(holds(*values), axis=-1, bitorder="little")
        destination[...] = bits.view(destination.dtype)

    return compute


def _select(destination: Array, sources: Sequence[Array], row: Any) -> None:
    mask, *chosen = sources
    if any(each.ndim and each.shape != destination.shape for each in chosen):
        raise ShapesDiffer
    _check_packed(mask, destination)
    if not destination.size:
        return
    count = destination.shape[-1]
    bits = np.unpackbits(np.ascontiguousarray(mask).view(np.uint8), axis=-1, count=count, bitorder="little")
    first, second = (np.broadcast_to(typed(each, destination.dtype), destination.shape) for each in chosen)
    destination[...] = np.where(bits != 0, first, second)


def _indices(indices: Array, count: int, line: Array) -> Array:
    """Return indices one after the other; raises IndexOutside for the first that is not below a count."""
    if not indices.ndim or is_float(indices.dtype) or indices.shape != line.shape:
        raise ShapesDiffer
    places = indices.astype(np.int64).ravel()
    outside = np.flatnonzero((places < 0) | (places >= count))
    if outside.size:
        raise IndexOutside(int(places[outside[0]]), count)
    return places


def _gather(destination: Array, sources: Sequence[Array], row: Any) -> None:
    source, indices = sources
    if not source.ndim:
        raise ShapesDiffer
    places = _indices(indices, source.size, destination)
    if places.size:
        destination[...] = typed(source, destination.dtype).ravel()[places].reshape(destination.shape)


def _scatter(combine: Callable[[Array, Array], Array] | None = None) -> Function:
    """Return a function that writes elements at indices one after the other, or combines what is there with them."""

    def compute(destination: Array, sources: Sequence[Array], row: Any) -> None:
        source, indices = sources
        if not source.ndim:
            raise ShapesDiffer
        places = _indices(indices, destination.size, source)
        values = typed(source, destination.dtype).copy().ravel()
        for number, value in zip(places.tolist(), values, strict=True):
            before, after = np.asarray(destination.flat[number]), np.asarray(value)
            if combine is None:
                destination.flat[number] = after
            elif is_float(destination.dtype):
                both = combine(before.astype(np.float32), after.astype(np.float32))
                destination.flat[number] = narrow(both, destination.dtype)
            else:
                destination.flat[number] = combine(before, after)

    return compute


def _keys(values: Array) -> Array:
    """Return integers in the order of keys: NaN is the largest, and zeros are equal."""
    if not is_float(values.dtype):
        return (values ^ np.uint64(1 << 63)).view(np.int64) if values.dtype == np.uint64 else values.astype(np.int64)
    numbers = values.astype(np.float32)
    bits = np.where(numbers == 0, np.float32(0), numbers).astype(np.float32).view(np.int32).astype(np.int64)
    return np.where(np.isnan(numbers), np.iinfo(np.int64).max, np.where(bits < 0, bits ^ 0x7FFF_FFFF, bits))


def _sort(by_number: bool) -> Function:
    """Return a function that orders numbers of 64 bits by their keys, and equal ones by themselves or not at all."""

    def compute(destination: Array, sources: Sequence[Array], row: Any) -> None:
        numbers, values = sources
        if not destination.ndim or not destination.shape == numbers.shape == values.shape:
            raise ShapesDiffer
        if destination.dtype != numbers.dtype or destination.dtype.itemsize != 8:
            raise ShapesDiffer
        keys = ~_keys(values)  # the largest first
        unsigned = numbers.copy().view(np.uint64)
        order = np.lexsort((unsigned, keys), axis=-1) if by_number else np.argsort(keys, axis=-1, kind="stable")
        destination[...] = np.take_along_axis(unsigned, order, axis=-1).view(destination.dtype)

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
    "remainder": _elementwise(_floored(np.fmod), _floored(_remainder_of_integers)),
    "truncated_remainder": _elementwise(np.fmod, _remainder_of_integers),
    "power": _elementwise(_power, _power_of_integers),
    "leak": _elementwise(_leak),
    "bit_and": _elementwise(_nothing, np.bitwise_and),
    "bit_or": _elementwise(_nothing, np.bitwise_or),
    "bit_xor": _elementwise(_nothing, np.bitwise_xor),
    "shift_left": _elementwise(_nothing, _shift_left),
    "shift_right": _elementwise(_nothing, _shift_right),
    "negate": _elementwise(_negate),
    "exponential": _of_library("math.exp"),
    "logarithm": _of_library("math.log"),
    "square_root": _elementwise(np.sqrt),
    "reciprocal": _elementwise(partial(np.divide, np.float32(1))),
    "row_sum": _reduction(np.add),
    "row_maximum": _reduction(larger),
    "row_minimum": _reduction(_smaller),
    "row_product": _reduction(np.multiply),
    "row_maximum_place": _place(np.greater),
    "row_minimum_place": _place(np.less),
    "count": _count,
    "compare_equal": _comparison(np.equal),
    "compare_unequal": _comparison(np.not_equal),
    "compare_less": _comparison(np.less),
    "compare_at_most": _comparison(np.less_equal),
    "compare_greater": _comparison(np.greater),
    "compare_at_least": _comparison(np.greater_equal),
    "select": _select,
    "gather": _gather,
    "scatter": _scatter(),
    "scatter_add": _scatter(np.add),
    "scatter_maximum": _scatter(larger),
    "scatter_minimum": _scatter(_smaller),
    "sort_pairs": _sort(by_number=True),
    "merge_pairs": _sort(by_number=False),
    "pad": _pad,
    "concatenate": _concatenate,
    "matrix_multiply": _multiply_matrices,
    "matrix_multiply_add": _multiply_matrices,
}
"""What each function of `operations.tile_functions` computes."""

FUNCTIONS: tuple[Function, ...] = tuple(BY_NAME[name] for name in TILE_FUNCTIONS)
"""The same by number."""
