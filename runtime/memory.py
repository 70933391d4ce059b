"""The memory of a class of units, and walks over it.

One array holds the memory of all units of a class, laid out [grid row, 32-bit word, grid column]: one element of
a vector is then a contiguous run of columns, which is what makes arithmetic over many units fast. Addresses are
the machine's: 16-bit words; a 32-bit element has an even address. Rows of columns are padded where a power of two
would make every element of a vector fall into the same cache sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import Any, Literal

import ml_dtypes
import numpy as np
import numpy.typing as npt

from ..diagnostics import LoomError
from .units import Array, Rectangle, UnitSet

DTYPES: dict[str, np.dtype[Any]] = {
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "i64": np.dtype(np.int64),
    "i32": np.dtype(np.int32),
    "i16": np.dtype(np.int16),
    "i8": np.dtype(np.int8),
    "i1": np.dtype(np.bool_),
    "index": np.dtype(np.int64),
}
"""numpy type of each scalar type; integers are kept signed."""

_FORMATS: dict[str, Literal["f", "i", "h"]] = {"f32": "f", "i32": "i", "i16": "h"}
"""memoryview format of each kind that has one."""

WIDE = frozenset({"f32", "i32"})
"""Kinds that take two words of memory and a whole wavelet."""


MAX_WALK = 1 << 22
"""Elements of the longest walk: a unit's memory many times over."""


class Walk:
    """The element offsets of a strided walk: `stride` where one stride says it all, else `table`.

    Built from descriptor fields: strides innermost first, as address changes, extents outermost first (DSD-061,
    DSD-062).
    """

    __slots__ = ("count", "high", "low", "stride", "table")

    def __init__(self, table: npt.NDArray[np.int64]):
        self.count = len(table)
        self.table = table
        self.low = int(table.min()) if len(table) else 0
        self.high = int(table.max()) if len(table) else 0
        steps = np.diff(table)
        self.stride: int | None = None
        if len(table) < 2:
            self.stride = 1
        elif bool((steps == steps[0]).all()):
            self.stride = int(steps[0])


@lru_cache(maxsize=4096)
def walk(strides: tuple[int, ...], extents: tuple[int, ...]) -> Walk:
    """The walk of a descriptor. All strides and extents are known; an extent of 0 gives no element (DSD-022)."""
    if prod(extents) > MAX_WALK:
        raise LoomError(
            f"a stream of extents {list(extents)} has {prod(extents):,} elements, far beyond the memory of a unit; "
            "check the extents"
        )
    table = np.zeros(1, np.int64)
    for stride, extent in zip(strides, reversed(extents), strict=True):
        if extent == 0:
            return Walk(np.zeros(0, np.int64))
        # A stride is the step from the last element of the faster dimensions to the first of the next round.
        advance = int(table[-1]) + stride
        table = (np.arange(extent, dtype=np.int64)[:, None] * advance + table[None, :]).ravel()
    return Walk(table)


class Memory:
    """Memory of `rows` x `columns` units with `words` 16-bit words each, zero at first.

    `typed` and `raw` are views of it for each kind, as numbers of the kind and as unsigned words: [rows, 32-bit
    words, columns] for kinds of 32 bits, [rows, 32-bit words, columns, half] for kinds of 16 bits. Columns include
    the padding.
    """

    def __init__(self, rows: int, words: int, columns: int):
        self.words = words
        padded = columns + 16 if columns >= 256 and columns % 256 == 0 else columns
        self.stride = padded
        self.wide = (words + 1) // 2
        self.flat = np.zeros((rows, self.wide, padded), np.uint32)
        narrow = self.flat.view(np.uint16).reshape(rows, self.wide, padded, 2)
        self.raw: dict[str, Array] = {}
        self.typed: dict[str, Array] = {}
        for kind, dtype in DTYPES.items():
            if kind in WIDE:
                self.typed[kind], self.raw[kind] = self.flat.view(dtype), self.flat
            elif dtype.itemsize == 2:
                self.typed[kind], self.raw[kind] = narrow.view(dtype), narrow

    def base(self, units: UnitSet) -> int:
        """Index of the first 32-bit word of a single unit in the flat memory; words are `stride` apart."""
        return int(units.rows[0]) * self.wide * self.stride + int(units.columns[0])

    def scalars(self, kind: str) -> Any:
        """The memory as a flat sequence of Python numbers of a kind; None if Python has no such view."""
        code = _FORMATS.get(kind)
        return None if code is None else self.flat.reshape(-1).data.cast("B").cast(code)

    def view(
        self, kind: str, units: UnitSet, address: Any, steps: Walk, low: int, high: int, *, raw: bool = False
    ) -> Array | None:
        """Elements `low`..`high` of a walk as a writable view [rows, elements, columns], None if there is none."""
        stride = steps.stride
        if type(address) is not int or not isinstance(units, Rectangle):
            return None
        rows, columns = units.index
        count = high - low
        if count == 1:
            first, stride = address + int(steps.table[low]) * (2 if kind in WIDE else 1), 1
        elif stride is None or stride == 0:
            return None
        else:
            first = address + low * stride * (2 if kind in WIDE else 1)
        array = self.raw[kind] if raw else self.typed[kind]
        if kind in WIDE:
            return array[rows, _slice(first >> 1, stride, count), columns]
        if stride % 2 and count > 1:
            return None
        return array[rows, _slice(first >> 1, stride // 2 or 1, count), columns, first & 1]

    def gather(
        self, kind: str, units: UnitSet, address: Any, steps: Walk, low: int, high: int, *, raw: bool = False
    ) -> Array:
        """Elements `low`..`high` of a walk, [rows, elements, columns]; a view where there is one, else a copy."""
        found = self.view(kind, units, address, steps, low, high, raw=raw)
        if found is not None:
            return found
        array = self.raw[kind] if raw else self.typed[kind]
        return array[self._index(kind, units, address, steps.table[low:high])]

    def scatter(
        self, kind: str, units: UnitSet, address: Any, steps: Walk, low: int, high: int, values: Array, *,
        raw: bool = False,
    ) -> None:  # fmt: skip
        """Write elements `low`..`high` of a walk; where it visits an element twice the later value stays."""
        if steps.stride == 0:
            low = high - 1
            values = values[:, -1:, :]
        found = self.view(kind, units, address, steps, low, high, raw=raw)
        if found is not None:
            found[...] = values
            return
        array = self.raw[kind] if raw else self.typed[kind]
        table = steps.table[low:high]
        if steps.stride is None:
            # Fancy assignment promises no order among equal indices: keep the last visit of each element.
            _, last = np.unique(table[::-1], return_index=True)
            if len(last) != len(table):
                keep = np.sort(len(table) - 1 - last)
                table, values = table[keep], np.broadcast_to(values, (units.shape[0], high - low, units.shape[1]))
                values = values[:, keep, :]
        array[self._index(kind, units, address, table)] = values

    def _index(self, kind: str, units: UnitSet, address: Any, table: Array) -> tuple[Any, ...]:
        rows, columns = units.cells()
        rows, columns = rows[:, None, :], columns[:, None, :]
        first: Any = address[:, None, :] if type(address) is np.ndarray else address
        words: Array = first + table[None, :, None] * (2 if kind in WIDE else 1)
        return (rows, words >> 1, columns) if kind in WIDE else (rows, words >> 1, columns, words & 1)

    def load(self, kind: str, units: UnitSet, address: Any) -> Array:
        """One element of every unit, [rows, columns], at a uniform or per-unit word address."""
        return self.typed[kind][self._element(kind, units, address)]

    def store(self, kind: str, units: UnitSet, address: Any, value: Any) -> None:
        """Write one element of every unit."""
        self.typed[kind][self._element(kind, units, address)] = value

    def write_block(self, rows: slice, columns: slice, address: Any, values: Array) -> None:
        """Write raw elements of 16 or 32 bits from a word address on, uniform or one for each unit.

        `values` is [rows, columns, elements] and unsigned, `address` a number or [rows, columns].
        """
        if values.dtype.itemsize == 4 and _any_odd(address):
            values = np.ascontiguousarray(values).view(np.uint16)
        for array, row, index, part in self._blocks(rows, columns, address, values):
            array[row][index] = part.T

    def read_block(self, rows: slice, columns: slice, address: Any, values: Array) -> None:
        """Read raw elements into `values`; see `write_block`."""
        target = values
        if values.dtype.itemsize == 4 and _any_odd(address):
            target = np.empty((*values.shape[:2], 2 * values.shape[2]), np.uint16)
        for array, row, index, part in self._blocks(rows, columns, address, target):
            part[...] = array[row][index].T
        if target is not values:
            values[...] = target.view(np.uint32)

    def _blocks(
        self, rows: slice, columns: slice, address: Any, values: Array
    ) -> Iterator[tuple[Array, int, tuple[Any, ...], Array]]:
        """The pieces of a block: an array of one row's memory, the row, the index of a piece, and its values."""
        count = values.shape[2]
        wide = values.dtype.itemsize == 4
        array = self.flat if wide else self.raw["i16"]
        places = range(*rows.indices(array.shape[0]))
        if type(address) is np.ndarray:
            across = np.arange(*columns.indices(array.shape[2]))[None, :]
            steps: npt.NDArray[np.int64] = np.arange(count, dtype=np.int64)[:, None] * (2 if wide else 1)
            for position, row in enumerate(places):
                words: Array = address[position][None, :] + steps
                index = (words >> 1, across) if wide else (words >> 1, across, words & 1)
                yield array, row, index, values[position]
            return
        for position, row in enumerate(places):
            if wide:
                yield array, row, (slice(address >> 1, (address >> 1) + count), columns), values[position]
                continue
            for half in (0, 1):
                skipped = (half - address) & 1
                first = (address + skipped) >> 1
                part = values[position][:, skipped::2]
                yield array, row, (slice(first, first + part.shape[1]), columns, half), part

    def _element(self, kind: str, units: UnitSet, address: Any) -> tuple[Any, ...]:
        rows, columns = units.index if type(address) is int else units.cells()
        return (rows, address >> 1, columns) if kind in WIDE else (rows, address >> 1, columns, address & 1)


def _any_odd(address: Any) -> bool:
    return bool(np.any(np.asarray(address) & 1))


def _slice(first: int, stride: int, count: int) -> slice:
    if count == 0:
        return slice(0, 0)
    stop = first + stride * count
    return slice(first, None if stop < 0 else stop, stride)
