"""Trace of a run of tables: one JSON object a line, made of the records that an executor leaves.

A line says what one PE does: a task starts or ends, an operation is issued or completed, or waited for a queue,
wavelets leave an output queue or are taken from an input queue. docs/statistics.md says what each means. Lines of a run
come in one order on all executors of tables: by cycle, row and column of the PE, and what happens.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..diagnostics.errors import LoomError
from .fabric.model import NOWHERE, Fabric
from .tables.format import NONE
from .tables.instructions import operation_name

Array: TypeAlias = NDArray[Any]

STARTS, ISSUED, COMPLETED, ENDS, WAITED, SENT, TAKEN = range(7)
"""What a record says: a task starts, an operation is issued, or completed, a task ends, an operation has waited for a
queue, wavelets leave a queue, or are taken from one."""

EVENTS = ("task", "operation", "completed", "ended", "waited", "sent", "taken")

KINDS = {
    "tasks": (STARTS, ENDS), "operations": (ISSUED, COMPLETED), "waits": (WAITED,), "wavelets": (SENT, TAKEN),
}  # fmt: skip
"""What can be chosen, by name."""

OF_QUEUES = 1 << WAITED | 1 << SENT | 1 << TAKEN
"""Those of which only statistics know, as bits."""

RECORD: np.dtype[Any] = np.dtype(
    [
        ("cycle", "<i8"), ("last", "<i8"), ("elements", "<i8"), ("pe", "<u4"), ("task", "<u4"), ("operation", "<u4"),
        ("where", "<u4"), ("microthread", "<u4"), ("event", "<u4"), ("queue", "<u4"),
    ],
    align=True,
)  # fmt: skip
"""What one PE does, from `cycle` to `last`. PEs are numbered by rows of the grid; `task`, `operation` and `queue` are
rows of the tables, `where` one of the strings; `NONE` is none. `elements` counts those of an operation that is
completed, or its wavelets if it sends; cycles of a wait; wavelets that leave or are taken. A wait without a queue is
for the microthread to be unblocked."""

FIFO, WRITES = 1 << 31, 1 << 30
"""Bits of `queue` of an end of a FIFO, and of the one that is written to; the others are the FIFO's row."""

MAX_STEP = 16
"""Cycles between two wavelets, at most, that are in one record."""

MAX_HELD = 1 << 20
"""Records that are held back, to be put in order, before those so far are written."""

ORDER = ("elements", "last", "microthread", "where", "queue", "operation", "task", "event", "pe", "cycle")
"""Fields by which records are ordered, the last one first."""


class Tracing(NamedTuple):
    """What an executor is to trace."""

    events: int
    """Bits, by number."""
    last: int | None
    """The most records to keep, the last ones; None for all."""

    @property
    def needs_statistics(self) -> bool:
        """True if some events are what only statistics know."""
        return bool(self.events & OF_QUEUES)


class Traced(NamedTuple):
    """Records of a trace."""

    records: Array
    """RECORD [n]."""
    dropped: int
    """Those that there was no room for: they came before."""


def tracing(kinds: Iterable[str] | None = None, last: int | None = None) -> Tracing:
    """Return what to trace: kinds by name, by default all. Raises LoomError."""
    events = 0
    for kind in KINDS if kinds is None else kinds:
        if kind not in KINDS:
            raise LoomError(f"'{kind}' is not a kind of trace records; the kinds are: {', '.join(KINDS)}")
        events |= sum(1 << event for event in KINDS[kind])
    if last is not None and last < 1:
        raise LoomError(f"a trace of the last {last} records keeps nothing; give a number of at least 1")
    return Tracing(events, last)


def in_order(traced: Traced) -> Traced:
    """Return records in the order of a trace."""
    records = traced.records
    return traced._replace(records=records[np.lexsort([records[name] for name in ORDER])])


class Lines:
    """Words records, and writes them to a binary stream."""

    def __init__(self, stream: IO[bytes] | None, fabric: Fabric, *, are_last: bool = False) -> None:
        self.stream = stream
        self.are_last = are_last
        """True if only the last records are kept, and written at the end."""
        self._fabric = fabric
        self._tables = fabric.tables
        self._width = fabric.width
        self._known: dict[tuple[int, ...], tuple[str, str, str]] = {}
        self._waiting: list[Traced] = []

    def write(self, traced: Traced) -> None:
        """Write a line for each record, and first those of a call before that an interrupt has ended."""
        if self.stream is None:
            return
        self._waiting.append(traced)
        while self._waiting:
            lines = self.worded(in_order(self._waiting[0]))
            del self._waiting[0]
            self.stream.write(lines)

    def worded(self, traced: Traced) -> bytes:
        """Return a line for each record, and one before them that says how many were dropped, if any were."""
        lines: list[str] = []
        if traced.dropped:
            lines.append(f'{{"event": "dropped", "records": {traced.dropped}}}\n')
        for cycle, last, elements, pe, *what in traced.records.tolist():
            key = tuple(what) if what[-2] < SENT else (*what, pe)
            before, after, counted = self._known.get(key) or self._learn(key)
            y, x = divmod(pe, self._width)
            count = f', "{counted}": {elements}' if counted else ""
            lines.append(f'{{"cycle": {cycle}, "last_cycle": {last}, {before}"PE ({x}, {y})"{after}{count}}}\n')
        return "".join(lines).encode()

    def _learn(self, key: tuple[int, ...]) -> tuple[str, str, str]:
        """Return what a line says before its PE, and behind it, and what it counts."""
        task, operation, where, microthread, event, queue, *pes = key
        strings = self._tables.strings
        name = "" if task == NONE else strings[int(self._tables["tasks"]["name"][task])]
        after = f', "where": {json.dumps(strings[where])}' if strings[where] else ""
        counted = {COMPLETED: "elements", WAITED: "cycles", SENT: "wavelets", TAKEN: "wavelets"}.get(event, "")
        if event in (ISSUED, COMPLETED, WAITED):
            name = f"{operation_name(self._tables['operations'][operation])} in @{name}"
        if microthread != NONE:
            after += f', "microthread": {microthread}'
        if event == WAITED and queue == NONE:
            after += ', "blocked": true'
        elif event == WAITED:
            after += f', "queue": {json.dumps(self._queue(queue))}'
        for pe in pes:
            name = self._queue(queue)
            color = int(self._fabric.colors_of(queue)[int(self._fabric.pe_unit[pe])])
            if color != NOWHERE:
                after += f', "color": {json.dumps(strings[int(self._tables["colors"]["label"][color])])}'
        before = f'"event": {json.dumps(EVENTS[event])}, "name": {json.dumps(name)}, "pes": '
        self._known[key] = before, after, counted
        return before, after, counted

    def _queue(self, queue: int) -> str:
        """Return the name of a queue, or of a FIFO."""
        section, row = ("fifos", queue & (WRITES - 1)) if queue & FIFO else ("queues", queue)
        return self._tables.strings[int(self._tables[section]["name"][row])]
