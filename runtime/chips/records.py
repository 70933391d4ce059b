"""Records of what goes wrong on the cores of a chip, or may, while a program runs.

An executor words nothing: it leaves a record with a code and numbers. `sentences` makes findings and errors of them.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

VALUES = 26
"""Numbers that a record has room for."""

RECORD: np.dtype[Any] = np.dtype(
    [("code", "<u4"), ("unit", "<u4"), ("channel", "<u4"), ("where", "<u4"), ("values", "<i8", VALUES)], align=True
)
"""`unit` is a core, numbered by rows of the grid; `channel` a row of the channels, or NONE; `where` the row of the
source place among the strings."""

MAX_TILE_ELEMENTS = 1 << 28
"""Elements of the largest tile: of the largest memory of a chip many times over."""

FIRST_FINDING = 32


class Code(IntEnum):
    """What has happened. Behind each: what its `values` are. Below `FIRST_FINDING` are errors, which end the run."""

    NOTHING = 0
    DIVISION_BY_ZERO = 1
    ASSERTION = 2
    """Message, value, condition."""
    FAILURE = 3
    """Message."""
    STEP_LIMIT = 4
    BEYOND_LANES = 5
    TILE_NEGATIVE = 6
    """Number of dimensions, extents."""
    TILE_OUTSIDE = 7
    """Number of dimensions, extents, space, first byte."""
    TILE_BEYOND_ARRAY = 8
    """Number of dimensions, extents, space, first byte, array, byte behind the last."""
    LANE_OUTSIDE = 9
    """Class, column."""
    SHAPES = 10
    """Function, how many tiles, and of each how many dimensions and its extents: the destination first."""
    TILE_TOO_LARGE = 11
    """Number of dimensions, extents: it has more than `MAX_TILE_ELEMENTS` elements."""
    INDEX_OUTSIDE = 12
    """Function, index, number of elements."""

    # Findings: the subject of each is its channel, and what `SUBJECT_VALUES` counts.
    OVERWRITE = 32
    """Lane, entry, 1 if its consumer still uses the old one."""
    MAY_OVERWRITE = 33
    """Lane, entry."""
    UNWRITTEN = 34
    """Entry."""
    STALE = 35
    """Entry."""
    FREED_TWICE = 36
    """Entries freed, entries popped."""
    EARLY_CREDIT = 37
    """Lane, credits returned, entries popped."""
    OUTSIDER = 38
    STORE_AFTER_PUSH = 39
    """Entry, 1 if it is written."""
    USE_AFTER_FREE = 40
    """Entry, 1 if it is written."""
    COPY_OVERWRITTEN = 41
    """1 if both copies have one size, entry, the later entry, number of places."""


SUBJECT_VALUES = {Code.OVERWRITE: 1, Code.EARLY_CREDIT: 1, Code.COPY_OVERWRITTEN: 1}
"""How many of the first values distinguish records of one code, channel and source place, of which the first of each
row of the grid is kept; 0 for the others."""
