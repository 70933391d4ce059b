"""Kernels of the tile functions, in numpy: each computes whole views, in place.

Elements are computed in the type of the destination, matrix products in float32 (integers in int32), as the cores do.
Dimensions in front of the extents of a tile (rows and columns of units) are batch dimensions. Nothing here knows units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import ml_dtypes
import numpy as np

from .arithmetic import negate
from .units import Array

Operand: TypeAlias = Any
"""A view, or a number; an array of numbers, one for each unit, has the rank of the views."""

Kernel: TypeAlias = Callable[[Array, Sequence[Operand], Mapping[str, Any]], None]


def _is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" or dtype.kind == "V" or (dtype.kind not in "iub" and dtype.itemsize <= 2)


_ROUNDINGS: dict[str, Callable[[Array], Array]] = {
    "rint": np.rint,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": lambda values: np.where(values < 0, np.ceil(values - 0.5), np.floor(values + 0.5)),
}


def convert(source: Array, dtype: np.dtype[Any], rounding: str | None, *, saturate: bool, wrap: bool = False) -> Array:
    """Return elements converted to another type, rounded as `rounding` says, by default to nearest even.

    Floats of one type are rounded to whole numbers if `rounding` is given, as the cores do. Floats too large for an
    integer are held at its limits; with `wrap` the lower bits of the integer of 64 bits are kept.
    """
    if source.dtype == dtype:
        return _ROUNDINGS[rounding](source) if rounding is not None and _is_float(dtype) else source
    if _is_float(dtype):
        return _to_float(source, dtype, rounding, saturate=saturate)
    limits = np.iinfo(dtype)
    if _is_float(source.dtype):
        if wrap and limits.bits < 64:
            return convert(source, np.dtype(np.int64), rounding, saturate=False).astype(dtype)
        rounded = _ROUNDINGS[rounding or "rint"](source.astype(np.float64))
        # The largest 64-bit integers are no floats: what is beyond them takes their place behind the conversion.
        inside = np.nan_to_num(np.where((rounded < limits.min) | (rounded >= limits.max), 0.0, rounded), nan=0.0)
        numbers = inside.astype(dtype)
        numbers[rounded < limits.min] = limits.min
        numbers[rounded >= limits.max] = limits.max
        return numbers
    if saturate:
        return np.clip(source, limits.min, limits.max).astype(dtype)
    return source.astype(dtype)


def _to_float(source: Array, dtype: np.dtype[Any], rounding: str | None, *, saturate: bool) -> Array:
    """Return numbers as floats of another type."""
    largest = float(cast("Any", ml_dtypes.finfo(dtype)).max)
    if saturate:
        source = np.clip(source.astype(np.float64), -largest, largest)
    nearest = source.astype(dtype)
    if rounding in (None, "rint"):
        return nearest
    wide, back = source.astype(np.float64), nearest.astype(np.float64)
    # Some types of 8 bits have no infinity.
    top = np.asarray(np.inf, dtype)
    top = np.asarray(largest, dtype) if np.isnan(top) else top
    if rounding == "round":
        # Halves go away from zero: nearest even has gone the other way if the next number is as far off.
        away = np.nextafter(nearest, np.where(wide < 0, -top, top))
        half = (np.abs(back) < np.abs(wide)) & (away.astype(np.float64) - wide == wide - back)
        return np.where(half, away, nearest)
    towards_zero = rounding in ("trunc", "odd")
    down = (back > wide) & ((rounding == "floor") | (towards_zero & (wide > 0)))
    up = (back < wide) & ((rounding == "ceil") | (towards_zero & (wide < 0)))
    result = np.where(down, np.nextafter(nearest, -top), np.where(up, np.nextafter(nearest, top), nearest))
    if rounding == "odd":
        # Of the two numbers around one between them, the one whose last bit is set.
        bits = result.view(f"u{dtype.itemsize}")
        bits |= ((back != wide) & ~np.isnan(wide)).astype(bits.dtype)
    return result


def copy(destination: Array, sources: Sequence[Operand], options: Mapping[str, Any]) -> None:
    source = sources[0]
    if not options and source.dtype == destination.dtype:
        np.copyto(destination, _in_shape(source, destination, reshape=False))
        return
    values = _in_shape(source, destination, reshape="reshape" in options)
    if options.get("relu"):
        values = np.maximum(values, np.zeros((), values.dtype))
    values = convert(
        values,
        destination.dtype,
        options.get("rounding"),
        saturate=bool(options.get("saturate")),
        wrap=bool(options.get("wrap")),
    )
    if options.get("accumulate"):
        _accumulate(destination, values)
    else:
        destination[...] = values


def _in_shape(source: Array, destination: Array, *, reshape: bool) -> Array:
    """Return a source in the extents of the destination, if the number of dimensions, or the extents, may differ."""
    if source.shape == destination.shape:
        return source
    if source.ndim == destination.ndim and not reshape:
        raise ValueError("extents differ")
    return source.reshape(destination.shape)


def _accumulate(destination: Array, values: Array) -> None:
    """Add to a view, also where units share the elements: each adds its own."""
    reach = destination.itemsize
    for extent, stride in sorted(
        zip(destination.shape, map(abs, destination.strides), strict=True), key=lambda d: d[1]
    ):
        if extent > 1 and stride < reach:
            for row in np.ndindex(destination.shape[:-1]):
                destination[row] += values[row]
            return
        reach += (extent - 1) * stride
    destination += values


def _typed(operand: Operand, dtype: np.dtype[Any]) -> Operand:
    """Return an operand in the type that is computed in; integers that do not fit lose their upper bits."""
    if type(operand) is np.ndarray:
        return operand if operand.dtype == dtype else operand.astype(dtype)
    return dtype.type(operand) if _is_float(dtype) else np.asarray(operand).astype(dtype)[()]


def _elementwise(function: Callable[..., Any]) -> Kernel:
    def compute(destination: Array, sources: Sequence[Operand], options: Mapping[str, Any]) -> None:
        dtype = destination.dtype
        operands = [
            source if type(source) is np.ndarray and source.dtype == dtype else _typed(source, dtype)
            for source in sources
        ]
        function(*operands, out=destination)

    return compute


def _fill(destination: Array, sources: Sequence[Operand], options: Mapping[str, Any]) -> None:
    destination[...] = _typed(sources[0], destination.dtype)


def _divide(a: Any, b: Any, out: Array) -> None:
    if out.dtype.kind in "iu":
        # Towards zero, as the cores do, and 0 for a division by zero.
        quotient, rest = np.divmod(a, b)
        out[...] = quotient + ((rest != 0) & ((a < 0) != (b < 0)))
    else:
        np.divide(a, b, out=out)


def _reciprocal(a: Any, out: Array) -> None:
    np.divide(out.dtype.type(1), a, out=out)


def _side_by_side(function: np.ufunc) -> Callable[..., Any]:
    """Compute a function on elements that lie side by side: on others numpy rounds it in another way."""

    def compute(a: Any, out: Array) -> None:
        out[...] = function(np.ascontiguousarray(a)).reshape(np.shape(a))

    return compute


def _reduction(function: Any) -> Kernel:
    def compute(destination: Array, sources: Sequence[Operand], options: Mapping[str, Any]) -> None:
        source = sources[0]
        if source.size == 0:
            return  # as on the cores, where idle lanes repeat kernels with empty tiles
        wide = np.float32 if _is_float(source.dtype) and source.dtype.itemsize < 4 else source.dtype
        result = function.reduce(source.astype(wide, copy=False), axis=-1)
        destination[...] = result.reshape(destination.shape).astype(destination.dtype)

    return compute


def _pad(destination: Array, sources: Sequence[Operand], options: Mapping[str, Any]) -> None:
    source = sources[0]
    rows, columns = source.shape[-2:]
    inside = source.astype(destination.dtype) if source.dtype != destination.dtype else source.copy()
    destination[...] = destination.dtype.type(options.get("value", 0))
    destination[..., :rows, :columns] = inside


def _fitting(values: Array, destination: Array) -> Array:
    """Return a source of the shape of the destination. Raises ValueError where numpy would broadcast it."""
    if values.shape != destination.shape:
        raise ValueError
    return values


def _concatenate(destination: Array, sources: Sequence[Operand], options: Mapping[str, Any]) -> None:
    whole = np.concatenate(list(sources), axis=-1)
    destination[...] = _fitting(whole, destination).astype(destination.dtype, copy=False)


def _product(left: Array, right: Array, dtype: np.dtype[Any]) -> Array:
    if dtype.kind in "iu":
        # Exact: products of 8-bit integers and their sums fit float64 far beyond any tile.
        return np.matmul(left.astype(np.float64), right.astype(np.float64)).astype(np.int64).astype(dtype)
    return np.matmul(left.astype(np.float32, copy=False), right.astype(np.float32, copy=False))


def _matrix_multiply(destination: Array, sources: Sequence[Operand], options: Mapping[str, Any]) -> None:
    left, right = sources
    destination[...] = _fitting(_product(left, right, destination.dtype), destination)


def _matrix_multiply_add(destination: Array, sources: Sequence[Operand], options: Mapping[str, Any]) -> None:
    total, left, right = sources
    product = _fitting(_product(left, right, destination.dtype), destination)
    np.add(_fitting(total, destination), product, out=destination, casting="unsafe")


KERNELS: dict[str, Kernel] = {
    "copy": copy,
    "fill": _fill,
    "add": _elementwise(np.add),
    "subtract": _elementwise(np.subtract),
    "multiply": _elementwise(np.multiply),
    "divide": _elementwise(_divide),
    "maximum": _elementwise(np.maximum),
    "minimum": _elementwise(np.minimum),
    "negate": _elementwise(negate),
    "exponential": _elementwise(_side_by_side(np.exp)),
    "logarithm": _elementwise(_side_by_side(np.log)),
    "square_root": _elementwise(np.sqrt),
    "reciprocal": _elementwise(_reciprocal),
    "row_sum": _reduction(np.add),
    "row_maximum": _reduction(np.maximum),
    "pad": _pad,
    "concatenate": _concatenate,
    "matrix_multiply": _matrix_multiply,
    "matrix_multiply_add": _matrix_multiply_add,
}
"""What each function of `operations.tile_functions` computes."""
