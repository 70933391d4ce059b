"""Memory of a class of units, and strided walks over it.

One array holds the memory of all units of a class, laid out [grid row, 32-bit word, grid column]: one element of
a vector is then a contiguous run of columns, which is what makes arithmetic over many units fast. Walks and elements
of 16 and 32 bits are addressed by 16-bit words; an element of 32 bits at an odd word is in two 32-bit words and is
copied slowly. Elements of 8 bits, and blocks, are addressed by bytes, the low byte of a word first. Rows of columns
are padded where a power of two would make every element of a vector fall into the same cache sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ...diagnostics.errors import LoomError
from ...operations import nans
from ...operations.scalar_types import numpy_type
from ...targets.wavelets import WORD_BITS
from .units import Array, Rectangle, UnitSet

DTYPES = {kind: numpy_type(kind) for kind in ("f32", "f16", "bf16", "i64", "i32", "i16", "i8", "i1", "index")}
"""numpy type of each scalar type; integers are kept signed."""

_FORMATS: dict[str, Literal["f", "i", "h", "b"]] = {"f32": "f", "i32": "i", "i16": "h", "i8": "b"}
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
    """Return the walk of a descriptor. All strides and extents are known; an extent of 0 gives no element (DSD-022)."""
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
    words, columns] for kinds of 32 bits, [rows, 32-bit words, columns, part] for kinds of 16 and 8 bits, which have 2
    and 4 parts. Columns include the padding.
    """

    def __init__(self, rows: int, words: int, columns: int):
        self.words = words
        padded = columns + 16 if columns >= 256 and columns % 256 == 0 else columns
        self.stride = padded
        self.wide = (words + 1) // 2
        self.flat = np.zeros((rows, self.wide, padded), np.uint32)
        narrow = self.flat.view(np.uint16).reshape(rows, self.wide, padded, 2)
        self.bytes = self.flat.view(np.uint8).reshape(rows, self.wide, padded, 4)
        self.raw: dict[str, Array] = {}
        self.typed: dict[str, Array] = {}
        for kind, dtype in DTYPES.items():
            if kind in WIDE:
                self.typed[kind], self.raw[kind] = self.flat.view(dtype), self.flat
            elif dtype.itemsize == 2:
                self.typed[kind], self.raw[kind] = narrow.view(dtype), narrow
            elif kind == "i8":
                self.typed[kind], self.raw[kind] = self.bytes.view(dtype), self.bytes

    def base(self, units: UnitSet) -> int:
        """Return the index of the first 32-bit word of a single unit in the flat memory; words are `stride` apart."""
        return int(units.rows[0]) * self.wide * self.stride + int(units.columns[0])

    def scalars(self, kind: str) -> Any:
        """Return the memory as a flat sequence of Python numbers of a kind; None if Python has no such view."""
        code = _FORMATS.get(kind)
        return None if code is None else self.flat.reshape(-1).data.cast("B").cast(code)

    def view(
        self, kind: str, units: UnitSet, address: Any, steps: Walk, low: int, high: int, *, raw: bool = False
    ) -> Array | None:
        """Return elements `low`..`high` of a walk as a writable view [rows, elements, columns], or None."""
        stride = steps.stride
        if type(address) is not int or not isinstance(units, Rectangle) or (kind in WIDE and address & 1):
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
        """Return elements `low`..`high` of a walk, [rows, elements, columns]: a view if possible, else a copy."""
        found = self.view(kind, units, address, steps, low, high, raw=raw)
        if found is not None:
            return found
        if kind in WIDE and is_odd(address):
            both = (self.raw["i16"][self._index("i16", units, address, at)] for at in _halves(steps.table[low:high]))
            values = _joined(*both)
            return values if raw else values.view(DTYPES[kind])
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
        if kind in WIDE and is_odd(address):
            for at, half in zip(_halves(table), _split(values), strict=True):
                self.raw["i16"][self._index("i16", units, address, at)] = half
            return
        array[self._index(kind, units, address, table)] = values

    def _index(self, kind: str, units: UnitSet, address: Any, table: Array) -> tuple[Any, ...]:
        rows, columns = units.cells()
        rows, columns = rows[:, None, :], columns[:, None, :]
        first: Any = address[:, None, :] if type(address) is np.ndarray else address
        words: Array = first + table[None, :, None] * (2 if kind in WIDE else 1)
        return (rows, words >> 1, columns) if kind in WIDE else (rows, words >> 1, columns, words & 1)

    def load(self, kind: str, units: UnitSet, address: Any) -> Array:
        """Return one element of every unit, [rows, columns], at word addresses (i8: bytes), uniform or per unit."""
        if kind in WIDE and is_odd(address):
            both = (self.raw["i16"][self._element("i16", units, address + half)] for half in (0, 1))
            return _joined(*both).view(DTYPES[kind])
        return self.typed[kind][self._element(kind, units, address)]

    def store(self, kind: str, units: UnitSet, address: Any, value: Any) -> None:
        """Write one element of every unit."""
        if kind in WIDE and is_odd(address):
            for half, part in enumerate(_split(np.asarray(value, DTYPES[kind]))):
                self.raw["i16"][self._element("i16", units, address + half)] = part
            return
        if kind == "bf16" and type(value) is float:
            kind, value = "i16", nans.bf16_bits(value)
        self.typed[kind][self._element(kind, units, address)] = value

    def write_block(self, rows: slice, columns: slice, address: Any, values: Array) -> None:
        """Write raw elements of 8, 16 or 32 bits from a byte address on, uniform or one for each unit.

        `values` is [rows, columns, elements] and unsigned, `address` a number or [rows, columns].
        """
        for array, row, index, part in self._blocks(rows, columns, address, _aligned(values, address)):
            array[row][index] = part.T

    def read_block(self, rows: slice, columns: slice, address: Any, values: Array) -> None:
        """Read raw elements into `values`; see `write_block`."""
        size = _whole_bytes(values.dtype.itemsize, address)
        target = values
        if size != values.dtype.itemsize:
            count = values.shape[2] * values.dtype.itemsize // size
            target = np.empty((*values.shape[:2], count), f"u{size}")
        for array, row, index, part in self._blocks(rows, columns, address, target):
            part[...] = array[row][index].T
        if target is not values:
            values[...] = target.view(values.dtype)

    def _blocks(
        self, rows: slice, columns: slice, address: Any, values: Array
    ) -> Iterator[tuple[Array, int, tuple[Any, ...], Array]]:
        """Yield the pieces of a block: an array of one row's memory, the row, the index of a piece, and its values."""
        count, size = values.shape[2], values.dtype.itemsize
        parts = 4 // size
        array = {4: self.flat, 2: self.raw["i16"], 1: self.bytes}[size]
        places = range(*rows.indices(array.shape[0]))
        if type(address) is np.ndarray:
            across = np.arange(*columns.indices(array.shape[2]))[None, :]
            steps: npt.NDArray[np.int64] = np.arange(count, dtype=np.int64)[:, None]
            for position, row in enumerate(places):
                elements: Array = (address[position] // size)[None, :] + steps
                index = (elements // parts, across) if parts == 1 else (elements // parts, across, elements % parts)
                yield array, row, index, values[position]
            return
        first = address // size
        for position, row in enumerate(places):
            if parts == 1:
                yield array, row, (slice(first, first + count), columns), values[position]
                continue
            for part in range(parts):
                skipped = (part - first) % parts
                word = (first + skipped) // parts
                piece = values[position][:, skipped::parts]
                yield array, row, (slice(word, word + piece.shape[1]), columns, part), piece

    def _element(self, kind: str, units: UnitSet, address: Any) -> tuple[Any, ...]:
        rows, columns = units.index if type(address) is int else units.cells()
        if kind in WIDE:
            return rows, address >> 1, columns
        if kind == "i8":
            return rows, address >> 2, columns, address & 3
        return rows, address >> 1, columns, address & 1


def is_odd(address: Any) -> bool:
    """Return True if an address, or any of several, is odd."""
    return address & 1 == 1 if type(address) is int else bool(np.any(np.asarray(address) & 1))


def _halves(table: Array) -> tuple[Array, Array]:
    """Return the offsets in words of the low and the high half of 32-bit elements."""
    return 2 * table, 2 * table + 1


def _joined(low: Array, high: Array) -> Array:
    return low.astype(np.uint32) | high.astype(np.uint32) << WORD_BITS


def _split(values: Array) -> tuple[Array, Array]:
    """Return the low and the high halves of elements of 32 bits."""
    bits = np.ascontiguousarray(values).view(np.uint32).reshape(np.shape(values))
    return bits.astype(np.uint16), (bits >> WORD_BITS).astype(np.uint16)


def _whole_bytes(size: int, address: Any) -> int:
    """Return the size in bytes, up to `size`, of the largest elements that begin at a multiple of it."""
    while np.any(np.asarray(address) % size):
        size //= 2
    return size


def _aligned(values: Array, address: Any) -> Array:
    """Return elements cut into smaller ones where their address asks for it."""
    size = _whole_bytes(values.dtype.itemsize, address)
    return values if size == values.dtype.itemsize else np.ascontiguousarray(values).view(f"u{size}")


def _slice(first: int, stride: int, count: int) -> slice:
    if count == 0:
        return slice(0, 0)
    stop = first + stride * count
    return slice(first, None if stop < 0 else stop, stride)
