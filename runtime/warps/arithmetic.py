"""Kernels of the DSD operations, in numpy over [rows, elements, columns].

Floating point rounds to nearest even after every operation: a multiply-add rounds its product before it adds.
Integers wrap. A kernel writes its result into `out` and may not keep it. Conversions to integers round to nearest
even and saturate: the documents do not say, so this is our choice.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from ...operations import integers, nans
from ...operations.dsd_table import OPERATIONS, DsdOperation, Format
from ...operations.scalar_types import numpy_type
from . import cb16
from .units import Array

Kernel: TypeAlias = Callable[..., None]
"""`kernel(out, *sources)` writes `out`, [rows, elements, columns], from arrays of that shape and scalars."""

ROW_ELEMENTS = 1 << 15
"""A block whose rows are longer than this is worked through row by row, so that intermediates stay in cache."""


class Scratch:
    """Reusable intermediate arrays, one for each shape and type."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[tuple[int, ...], Any], Array] = {}

    def get(self, shape: tuple[int, ...], dtype: Any) -> Array:
        """Return an array whose contents may be anything; valid until the next call with the same shape and type."""
        array = self._arrays.get((shape, dtype))
        if array is None:
            if len(self._arrays) > 64:
                self._arrays.clear()
            array = self._arrays[shape, dtype] = np.empty(shape, dtype)
        return array


def kernel(row: DsdOperation, scratch: Scratch, format: Format | None = None) -> Kernel:
    """Return the kernel of a DSD operation. Sources have its types; a scalar of every unit is [rows, 1, columns].

    `format` is that of its 16-bit floats, if it is not f16.
    """
    if format == "cb16":
        return cb16.kernel(OPERATIONS[row.name])
    function = row.function
    if function == "multiply_add":
        return _multiply_add(row, scratch)
    if function == "convert":
        return _convert(row)
    if function in _COUNTS:
        return _count(function)
    ufunc = _UFUNCS.get(function)
    if ufunc is None:
        return _SPECIAL[function]
    if row.name == "faddhs":
        return _mixed_add
    if len(row.sources) == 1:

        def unary(out: Array, source: Any) -> None:
            ufunc(source, out=out)

        return unary

    def binary(out: Array, first: Any, second: Any) -> None:
        ufunc(first, second, out=out)

    return binary


def _multiply_add(row: DsdOperation, scratch: Scratch) -> Kernel:
    mixed = row.destination != row.sources[1]

    def multiply_add(out: Array, first: Any, second: Any, factor: Any) -> None:
        shape = out.shape
        if mixed:
            # The product of two f16 is exact in f32.
            np.add(first, np.multiply(np.asarray(second, np.float32), np.asarray(factor, np.float32)), out=out)
        elif shape[0] > 1 and shape[1] * shape[2] > ROW_ELEMENTS and isinstance(second, np.ndarray):
            product = scratch.get(shape[1:], out.dtype)
            per_unit = isinstance(factor, np.ndarray)
            for line in range(shape[0]):
                np.multiply(second[line], factor[line] if per_unit else factor, out=product)
                np.add(first[line] if isinstance(first, np.ndarray) else first, product, out=out[line])
        else:
            product = scratch.get(shape, out.dtype)
            np.multiply(second, factor, out=product)
            np.add(first, product, out=out)

    return multiply_add


def _mixed_add(out: Array, first: Any, second: Any) -> None:
    np.add(np.asarray(first, np.float32), second, out=out)


def _convert(row: DsdOperation) -> Kernel:
    if row.destination != "i16":
        return _move

    def to_integer(out: Array, source: Any) -> None:
        wide = np.clip(np.rint(np.asarray(source, np.float32)), *integers.limits(16, is_signed=True))
        out[...] = np.where(np.isnan(wide), 0, wide).astype(np.int16)

    return to_integer


def _move(out: Array, source: Any) -> None:
    if type(source) is float and source != source and out.dtype == numpy_type("bf16"):
        out.view(np.int16)[...] = nans.bf16_bits(source)
        return
    out[...] = source


def negate(source: Any, out: Array) -> None:
    """Write `-source`, of the type of `out`, into it.

    numpy's own negative (2.2 to 2.4) takes wrong elements where 32-bit ones are 4 apart and those written are not
    side by side; 64-bit ones likewise at 8 apart.
    """
    source = np.asarray(source, out.dtype)
    if out.dtype.kind in "iu":
        np.subtract(out.dtype.type(0), source, out=out)
    else:
        bits = np.dtype(f"u{out.itemsize}")
        np.bitwise_xor(source.view(bits), bits.type(1 << (8 * out.itemsize - 1)), out=out.view(bits))


def _negate(out: Array, source: Any) -> None:
    negate(source, out)


def _maximum(out: Array, first: Any, second: Any) -> None:
    # fmax of numpy picks either of two zeros, or of two NaNs, depending on where they are in a vector.
    first, second = np.asarray(first, out.dtype), np.asarray(second, out.dtype)
    out[...] = np.where((second > first) | np.isnan(first), second, first)


def _shift_right_logical(out: Array, value: Any, amount: Any) -> None:
    np.right_shift(
        np.asarray(value, np.int16).view(np.uint16), np.asarray(amount, np.int16).view(np.uint16),
        out=out.view(np.uint16),
    )  # fmt: skip


def _shift_left(out: Array, value: Any, amount: Any) -> None:
    np.left_shift(np.asarray(value, np.int16), np.asarray(amount, np.int16).view(np.uint16), out=out, casting="unsafe")


def _shift_right_arithmetic(out: Array, value: Any, amount: Any) -> None:
    limited = np.minimum(np.asarray(amount, np.int16).view(np.uint16), 15).astype(np.int16)
    np.right_shift(np.asarray(value, np.int16), limited, out=out)


def _scale(out: Array, value: Any, exponent: Any) -> None:
    np.ldexp(np.asarray(value, out.dtype), np.asarray(exponent, np.int32), out=out, casting="unsafe")


def _count(function: str) -> Kernel:
    table = _count_tables()[function]

    def count(out: Array, source: Any) -> None:
        out[...] = table[np.asarray(source, np.int16).view(np.uint16)]

    return count


@cache
def _count_tables() -> dict[str, Array]:
    """Return the population counts of all 65,536 words. Made at first use, to keep the start of tools quick."""
    values = np.arange(1 << 16, dtype=np.uint32)
    bits = (values[:, None] >> np.arange(16, dtype=np.uint32)) & 1
    nonzero = bits.any(axis=1)
    return {
        "population_count": bits.sum(axis=1).astype(np.int16),
        "count_trailing_zeros": np.where(nonzero, bits.argmax(axis=1), 16).astype(np.int16),
        "count_leading_zeros": np.where(nonzero, bits[:, ::-1].argmax(axis=1), 16).astype(np.int16),
    }


_COUNTS = frozenset({"population_count", "count_trailing_zeros", "count_leading_zeros"})
_UFUNCS: dict[str, np.ufunc] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "absolute": np.absolute,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
_SPECIAL: dict[str, Kernel] = {
    "maximum": _maximum,
    "move": _move,
    "negate": _negate,
    "shift_right_logical": _shift_right_logical,
    "shift_left": _shift_left,
    "shift_right_arithmetic": _shift_right_arithmetic,
    "scale": _scale,
}
