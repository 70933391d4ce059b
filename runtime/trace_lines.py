"""Trace of a run of tables: one JSON object a line, made of the records that an executor leaves.

A line says what one PE does: a task starts or ends, an operation is issued or completed.
Lines come in the order in which the executor works; sort by `cycle` to read them in time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import IO, Any

import numpy as np

from .fabric.model import Fabric
from .tables.format import NONE
from .tables.instructions import DSD_ROWS

STARTS, ISSUED, COMPLETED, ENDS = range(4)
"""What a record says: a task starts, an operation is issued, or completed, a task ends."""

EVENTS = ("task", "operation", "completed", "ended")

RECORD: np.dtype[Any] = np.dtype(
    [
        ("cycle", "<i8"), ("elements", "<i8"), ("pe", "<u4"), ("task", "<u4"), ("operation", "<u4"), ("where", "<u4"),
        ("microthread", "<u4"), ("event", "<u4"),
    ],
    align=True,
)  # fmt: skip
"""What one PE does. PEs are numbered by rows of the grid; `task` and `operation` are rows of the tables, `where` one of
the strings; `NONE` is none. `elements` counts those of an operation that is completed; of one that sends, its
wavelets."""


class Lines:
    """A binary stream that gets the lines."""

    def __init__(self, stream: IO[bytes], fabric: Fabric) -> None:
        self._stream = stream
        self._tables = fabric.tables
        self._width = fabric.width
        self._known: dict[tuple[int, ...], tuple[str, str]] = {}

    def write(self, records: Iterable[tuple[int, ...]]) -> None:
        """Write a line for each record, the fields of a RECORD."""
        lines: list[str] = []
        for cycle, elements, pe, *what in records:
            key = tuple(what)
            before, after = self._known.get(key) or self._learn(key)
            y, x = divmod(pe, self._width)
            count = f', "elements": {elements}' if key[-1] == COMPLETED else ""
            lines.append(f'{{"cycle": {cycle}, "last_cycle": {cycle}, {before}"PE ({x}, {y})"{after}{count}}}\n')
        self._stream.write("".join(lines).encode())

    def _learn(self, key: tuple[int, ...]) -> tuple[str, str]:
        """Return what a line says before its PE, and behind it."""
        task, operation, where, microthread, event = key
        strings = self._tables.strings
        name = "" if task == NONE else strings[int(self._tables["tasks"]["name"][task])]
        if event in (ISSUED, COMPLETED):
            name = f"{DSD_ROWS[self._tables['operations']['function'][operation]]} in @{name}"
        before = f'"event": {json.dumps(EVENTS[event])}, "name": {json.dumps(name)}, "pes": '
        after = f', "where": {json.dumps(strings[where])}' if strings[where] else ""
        if microthread != NONE:
            after += f', "microthread": {microthread}'
        self._known[key] = before, after
        return before, after
