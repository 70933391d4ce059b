"""Where the PEs of each class are: regions of the grid, units, class coordinates and memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...diagnostics.errors import LoomError
from ...targets.model import Target
from ..distinct import distinct
from ..tables.format import Tables
from .model import NOWHERE

Array: TypeAlias = NDArray[Any]

Area: TypeAlias = tuple[range, range]
"""Columns and rows of a region."""

NARROW = 64
"""A class fewer PEs wide than this is transposed if it is taller than wide."""

MAX_WHOLE_MEMORY = 1 << 27
"""Bytes up to which the PEs of a grid get all of their memory, not only what their programs have laid out."""

MAX_CLASSES = 1 << 15


class Frame:
    """The class coordinates of a class: its rows and columns of the grid, dense, and transposed if it is narrow.

    They order PEs in messages.
    """

    def __init__(self, down: range, across: range) -> None:
        self.down = down
        self.across = across
        self.transposed = len(across) < NARROW and len(across) < len(down)
        self.shape = (len(across), len(down)) if self.transposed else (len(down), len(across))

    def local(self, points: Array) -> Array:
        """Return grid points [n, 2] (row, column) in class coordinates."""
        down = (points[:, 0] - self.down.start) // self.down.step
        across = (points[:, 1] - self.across.start) // self.across.step
        return np.stack([across, down] if self.transposed else [down, across], 1)

    def position(self, row: int, column: int) -> tuple[int, int]:
        """Return (x, y) in the grid of a unit of the class."""
        if self.transposed:
            row, column = column, row
        return self.across[column], self.down[row]


def frame_of(pes: Array, areas: Sequence[Area], width: int) -> Frame:
    """Return the class coordinates of the PEs of some regions."""
    if len(areas) == 1:
        columns, rows = areas[0]
        return Frame(rows, columns)
    rows, columns = distinct(pes // width), distinct(pes % width)
    down, across = _progression(rows), _progression(columns)
    if down is None or across is None or len(down) * len(across) != len(pes):
        down, across = (range(int(values[0]), int(values[-1]) + 1) for values in (rows, columns))
    return Frame(down, across)


def _progression(values: Array) -> range | None:
    """Return sorted distinct values as a range, or None where the steps differ."""
    step = int(values[1] - values[0]) if len(values) > 1 else 1
    if len(values) > 2 and not bool((np.diff(values) == step).all()):
        return None
    return range(int(values[0]), int(values[0]) + len(values) * step, step)


def areas_of(tables: Tables, record: Any) -> list[Area]:
    """Return the regions of a record."""
    first, count = int(record["regions"]), int(record["region_count"])
    return [
        (range(x, x + columns * x_step, x_step), range(y, y + rows * y_step, y_step))
        for x, columns, x_step, y, rows, y_step in tables["regions"][first : first + count].tolist()
    ]


def paint(grid: Array, areas: Sequence[Area], value: Any) -> None:
    """Set the PEs of some regions of a grid [height, width]."""
    for columns, rows in areas:
        grid[rows.start : rows[-1] + 1 : rows.step, columns.start : columns[-1] + 1 : columns.step] = value


class Classes:
    """The classes of a program on its grid. Raises LoomError for a class without PEs, and for one that shares some."""

    def __init__(self, tables: Tables, target: Target, width: int, height: int) -> None:
        records = tables["classes"]
        if len(records) > MAX_CLASSES:
            raise LoomError(f"the program has {len(records)} classes of PEs; at most {MAX_CLASSES} can be run")
        count = width * height
        grid = np.full((height, width), NOWHERE, np.int16)
        self.pe_class = grid.reshape(-1)
        self.pe_unit = np.full(count, NOWHERE, np.int32)
        self.areas = [areas_of(tables, record) for record in records]
        pes: list[Array] = []
        self.frames: list[Frame] = []
        for number, (record, areas) in enumerate(zip(records, self.areas, strict=True)):
            mine, shared = _claim(grid, areas, number)
            name, where = (tables.strings[int(record[field])] for field in ("name", "where"))
            if not len(mine):
                raise LoomError(
                    f"units @{name} contain no PE of the grid, which has columns 0 to {width - 1} and rows 0 to "
                    f"{height - 1}; correct their region or remove them", where or None,
                )  # fmt: skip
            if shared:
                raise LoomError(f"units @{name} share PEs with another class", where or None)
            pes.append(mine)
            self.pe_unit[mine] = np.arange(len(mine), dtype=np.int32)
            self.frames.append(frame_of(mine, areas, width))
        self.class_first = np.concatenate([[0], np.cumsum([len(mine) for mine in pes], dtype=np.int64)])
        self.unit_pes = np.concatenate([np.zeros(0, np.int32), *pes])
        used = int(self.class_first[-1])
        self.words = np.array([words_of(used, int(record["words"]), target) for record in records], np.int64)


def _claim(grid: Array, areas: Sequence[Area], number: int) -> tuple[Array, bool]:
    """Give the PEs of some regions to a class; return them in order, and whether another one has some of them."""
    height, width = grid.shape
    if len(areas) == 1:
        columns, rows = areas[0]
        part = grid[rows.start : rows[-1] + 1 : rows.step, columns.start : columns[-1] + 1 : columns.step]
        shared = bool((part != NOWHERE).any())
        part[...] = number
        pes = np.add.outer(np.asarray(rows, np.int32) * width, np.asarray(columns, np.int32)).reshape(-1)
        return pes.astype(np.int32, copy=False), shared
    mask = np.zeros((height, width), np.bool_)
    paint(mask, areas, 1)
    shared = bool((grid[mask] != NOWHERE).any())
    grid[mask] = number
    return np.flatnonzero(mask).astype(np.int32), shared


def words_in_use(words: int) -> int:
    """Return the 16-bit words in which a class has laid out its buffers, from those of its record."""
    return max(2, words)


def words_of(pes: int, words: int, target: Target) -> int:
    """Return the 16-bit words of memory of a PE: all of them or, on a large grid, those in use.

    `pes` are all that the programs of the grid run on, `words` those of the record of the class.
    """
    whole, used = target.memory_bytes // 2, words_in_use(words)
    if 2 * whole * pes > MAX_WHOLE_MEMORY:
        return used
    return max(whole, used)
