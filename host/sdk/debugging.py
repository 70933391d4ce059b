"""debug_util: the memory and the traces of PEs after a run, by their names in the CSL source.

Coordinates count from the north-west corner of the fabric, not of the program (HOST-077).
"""

from __future__ import annotations

import sys
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ...diagnostics.errors import LoomError
from . import artifact as artifacts
from . import core, trace_records
from .errors import SdkError
from .platforms import check_cmaddr


class debug_util:
    """Reads what the last run of the program in `bindir` left in memory (HOST-070 to HOST-083).

    Raises SdkError, a RuntimeError, for PEs outside the program and symbols they do not have.
    """

    def __init__(self, bindir: Path | str, cmaddr: str | None = None) -> None:
        check_cmaddr(cmaddr)
        if not isinstance(bindir, str | Path):
            raise SdkError(f"bindir is {type(bindir).__name__}; give a str or pathlib.Path, the directory cslc wrote")
        try:
            self._artifact = artifacts.read(bindir)
        except LoomError as error:
            raise SdkError(error.message, error.location) from error

    def get_symbol(self, col: int, row: int, symbol: str, dtype: DTypeLike) -> NDArray[Any]:
        """Return the values of a symbol on one PE, one-dimensional."""
        x, y = self._logical(col, row)
        return core.find(self._artifact).symbol(x, y, symbol, dtype)

    def get_symbol_rect(
        self, rectangle: tuple[tuple[int, int], tuple[int, int]], symbol: str, dtype: DTypeLike
    ) -> NDArray[Any]:
        """Return the values on PEs ((column, row), (width, height)) as [column, row, value] (HOST-079, HOST-080)."""
        try:
            (col, row), (width, height) = (tuple(index(value) for value in pair) for pair in rectangle)
        except (TypeError, ValueError):
            raise SdkError(f"{rectangle!r} is not a rectangle; give ((column, row), (width, height))") from None
        if width < 1 or height < 1:
            raise SdkError(f"the rectangle {rectangle!r} contains no PE; give a width and height of at least 1")
        columns = [[self.get_symbol(col + x, row + y, symbol, dtype) for y in range(height)] for x in range(width)]
        try:
            return np.array(columns)
        except ValueError:
            raise SdkError(
                f"'{symbol}' has different sizes on the PEs of the rectangle; read them one by one"
            ) from None

    def read_trace(self, px: int, py: int, name: str) -> list[Any]:
        """Return the values that <debug> recorded under the key `name` on one PE, in order (HOST-081 to HOST-083)."""
        x, y = self._logical(px, py)
        found = core.find(self._artifact)
        try:
            words, place = found.place(x, y, artifacts.TRACE_PREFIX + name)
        except SdkError:
            known = ", ".join(f"'{key}'" for key in self._keys(x, y)) or "none"
            raise SdkError(f"PE P{px}.{py} of the fabric has no trace buffer '{name}'; it has: {known}") from None
        count = int(np.prod(place.shape, dtype=np.int64))
        buffer = words[place.address : place.address + count]
        what = f"trace buffer '{name}' of PE P{px}.{py}"
        values, dropped = trace_records.decode(buffer, words, what)
        if dropped:
            print(
                f"warning: {what} was full: {dropped} values were not recorded; give <debug> a larger buffer_size",
                file=sys.stderr,
            )
        return values

    def _keys(self, x: int, y: int) -> list[str]:
        prefix = artifacts.TRACE_PREFIX
        return [
            name.removeprefix(prefix)
            for found in self._artifact.classes
            if found.has(x, y)
            for name in found.buffers
            if name.startswith(prefix)
        ]

    def _logical(self, col: int, row: int) -> tuple[int, int]:
        """Return a PE of the fabric as one of the program."""
        try:
            x, y = (index(value) for value in (col, row))
        except TypeError:
            raise SdkError(f"({col!r}, {row!r}) is not a PE; give column and row as whole numbers") from None
        (left, top), (width, height) = self._artifact.placement.offsets, self._artifact.rectangle
        if not (left <= x < left + width and top <= y < top + height):
            raise SdkError(
                f"PE P{x}.{y} of the fabric is not in the program, which has P{left}.{top} to "
                f"P{left + width - 1}.{top + height - 1}; coordinates count from the fabric's north-west corner"
            )
        return x - left, y - top
