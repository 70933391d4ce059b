"""Statistics of a run, as Python reads them. docs/statistics.md defines what each says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...diagnostics.records import record
from ...targets.wavelets import PORTS
from ..fabric.model import NOWHERE, Fabric
from ..reports.places import Names
from .counts import Counts
from .links import links_of

Array: TypeAlias = NDArray[Any]


class Line(NamedTuple):
    """What was done for a source line, or other place of the program, on all PEs together."""

    where: str
    """File, line and column; "" for what has no place."""
    cycles: int
    """Cycles in which tasks computed."""
    waited: int
    """Cycles in which tasks waited for queues."""
    steps: int
    """Task starts and loop iterations."""
    issued: int
    """DSD operations issued."""
    elements: int
    """Elements of DSD operations that are done."""


class Queue(NamedTuple):
    """What happened at a queue of a PE, or at an end of a FIFO."""

    x: int
    y: int
    name: str
    kind: str
    """"input", "output", "to host", "fifo read" or "fifo write"."""
    color: str | None
    """The color that the queue serves on the PE, if any."""
    sent: int
    """Wavelets that have left an output queue."""
    taken: int
    """Wavelets that operations, tasks or the host have taken."""
    left: int
    """Wavelets that nothing has taken."""
    room: int | None
    """Wavelets that an input queue holds."""
    peak: int
    """The most wavelets that were there at a time; those beyond `room` are on the way."""
    peak_cycle: int
    """When they were first."""
    waited: int
    """Cycles in which tasks waited for it."""
    waited_in_background: int
    """Cycles in which operations in the background waited for it."""


class Link(NamedTuple):
    """Wavelets of a color that have left a router by a port."""

    x: int
    y: int
    port: str
    """"north", "east", "south" or "west", to the neighbor; "ramp", down to the PE."""
    color: str
    wavelets: int


OF_PES = ("until", "idle", "computing", "waiting", "background", "blocked")
"""Arrays over PEs."""


@record
class Statistics:
    """What a run has done so far. Arrays over PEs are int64 [height, width], in cycles; 0 where there is no program.

    For each PE `idle + computing + waiting == until`.
    """

    until: Array
    """How far the PE is: when it ended its last task, or where the task is that it is in."""
    idle: Array
    """Between tasks."""
    computing: Array
    """Code of tasks, and the elements of operations that tasks wait for."""
    waiting: Array
    """Tasks that wait for wavelets, or for room to send: `queues` says for which."""
    background: Array
    """Elements of operations in the background, beside all that."""
    blocked: Array
    """Waits of such elements for their microthreads to be unblocked."""
    lines: tuple[Line, ...]
    """By cycles computed and waited, most first."""
    queues: tuple[Queue, ...]
    """Those where something happened, by row and column of the PE, then in the order of the program."""
    links: tuple[Link, ...]
    """Those that wavelets have taken, by color, row and column of the router, and port."""

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it: PEs as lists of rows, lines, queues and links as objects."""
        return {
            "pes": {name: getattr(self, name).tolist() for name in OF_PES},
            **{name: [each._asdict() for each in getattr(self, name)] for name in ("lines", "queues", "links")},
        }


def statistics_of(fabric: Fabric, counts: Counts, backlog: Callable[[int, int], Array]) -> Statistics:
    """Return statistics from counters; `backlog` returns what waits in a queue of each unit of a class."""
    shape = (fabric.height, fabric.width)
    waiting = np.zeros(fabric.width * fabric.height, np.int64)
    for cls, width in enumerate(counts.layout.width.tolist()):
        first, end = counts.layout.first[cls : cls + 2].tolist()
        if width:
            waiting[fabric.units(cls)] = counts.cells["waited"][first:end].reshape(-1, width).sum(axis=1)
    idle, until = counts.pes["idle"], counts.pes["reached"]
    computing = until - idle - waiting
    names = Names(fabric)
    return Statistics(
        until.reshape(shape).copy(), idle.reshape(shape).copy(), computing.reshape(shape), waiting.reshape(shape),
        counts.pes["background"].reshape(shape).copy(), counts.pes["blocked"].reshape(shape).copy(),
        _lines(fabric, counts), _queues(names, counts, backlog), _links(names, counts),
    )  # fmt: skip


def _lines(fabric: Fabric, counts: Counts) -> tuple[Line, ...]:
    found: dict[str, list[int]] = {}
    for row in np.flatnonzero(np.any([counts.lines[name] for name in counts.lines.dtype.names or ()], axis=0)).tolist():
        line = found.setdefault(fabric.tables.strings[row], [0] * 5)
        line[:] = [one + other for one, other in zip(line, counts.lines[row].tolist(), strict=True)]
    lines = [Line(where, *values) for where, values in found.items()]
    return tuple(sorted(lines, key=lambda line: (-line.cycles - line.waited, line.where)))


def _queues(names: Names, counts: Counts, backlog: Callable[[int, int], Array]) -> tuple[Queue, ...]:
    fabric = names.fabric
    found: list[tuple[int, int, Queue]] = []
    for cls, places in enumerate(counts.layout.places):
        pes = fabric.units(cls)
        for place, (kind, row) in enumerate(places):
            is_fifo = kind.startswith("fifo")
            name = names.queue(row) if kind == "to host" else names.text("fifos" if is_fifo else "queues", row)
            cells = counts.cells[counts.layout.cells(cls, place)]
            left = backlog(cls, row) if kind in ("input", "to host") else np.zeros(len(pes), np.int64)
            colors = np.full(len(pes), NOWHERE) if is_fifo else fabric.colors_of(row)
            room = int(fabric.room[row]) if kind == "input" else None
            used = (left > 0) | np.any([cells[field] for field in cells.dtype.names or ()], axis=0)
            for unit in np.flatnonzero(used).tolist():
                pe, cell = int(pes[unit]), cells[unit]
                sent, _, taken, peak, peak_cycle, waited, in_background = cell.tolist()
                color = None if colors[unit] == NOWHERE else names.color(int(colors[unit]))
                of_queue = Queue(
                    *names.position(pe), name, kind, color, sent, taken, int(left[unit]), room, peak, peak_cycle,
                    waited, in_background,
                )  # fmt: skip
                found.append((pe, place, of_queue))
    return tuple(queue for _, _, queue in sorted(found, key=lambda each: each[:2]))


def _links(names: Names, counts: Counts) -> tuple[Link, ...]:
    return tuple(
        Link(*names.position(pe), PORTS[port], names.color(color), wavelets)
        for pe, port, color, wavelets in links_of(names.fabric, counts).tolist()
    )
