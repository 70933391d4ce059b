"""Counters of a run that an executor adds to, as flat arrays; docs/statistics.md says what each counts.

P is the number of PEs, numbered by rows of the grid. A *cell* is a queue, or an end of a FIFO, of one PE: those of a
class come unit by unit, each with its input queues, the ends of its streams to the host, its FIFOs, to read and to
write, and its output queues.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...targets.wavelets import PORTS
from ..fabric.model import Fabric
from ..tables.format import INPUT

Array: TypeAlias = NDArray[Any]

PE: np.dtype[Any] = np.dtype([("idle", "<i8"), ("background", "<i8"), ("blocked", "<i8"), ("reached", "<i8")])
"""Cycles of a PE: before tasks; of elements of operations in the background; that such elements have waited for their
microthreads to be unblocked. `reached` is how far the operation is that its task waits for."""

CELL: np.dtype[Any] = np.dtype(
    [("sent", "<u8"), ("ignored", "<u8"), ("taken", "<u8"), ("peak", "<i8"), ("peak_cycle", "<i8"),
     ("waited", "<i8"), ("waited_in_background", "<i8")]
)  # fmt: skip
"""Wavelets that have left an output queue, and those of them that an ignore bit keeps from compute engines; wavelets
taken from an input queue; the most that were in it, and when first; cycles that tasks, and operations in the
background, have waited for it."""

LINE: np.dtype[Any] = np.dtype(
    [("cycles", "<i8"), ("waited", "<i8"), ("steps", "<u8"), ("issued", "<u8"), ("elements", "<u8")]
)
"""Of a source place: cycles computed and waited, steps, operations issued, and their elements."""


class Place(NamedTuple):
    """What a cell of a PE is of: a queue, or an end of a FIFO."""

    kind: str
    """"input", "output", "to host", "fifo read" or "fifo write"."""
    row: int
    """Of the tables; of a stream to the host that of the fabric's queues."""


class Layout:
    """Where the cells of each class, queue and FIFO are."""

    def __init__(self, fabric: Fabric) -> None:
        queues = fabric.tables["queues"]
        self.places: list[tuple[Place, ...]] = []
        """Of each class, those of its PEs."""
        for number, row in enumerate(fabric.tables["classes"]):
            rows = range(int(row["queues"]), int(row["queues"]) + int(row["queue_count"]))
            fifos = range(int(row["fifos"]), int(row["fifos"]) + int(row["fifo_count"]))
            self.places.append((
                *(Place("input", queue) for queue in rows if queues["direction"][queue] == INPUT),
                *(Place("to host", queue) for queue in fabric.sinks if fabric.queue_class[queue] == number),
                *(Place(kind, fifo) for fifo in fifos for kind in ("fifo read", "fifo write")),
                *(Place("output", queue) for queue in rows if queues["direction"][queue] != INPUT),
            ))  # fmt: skip
        self.width = np.array([len(places) for places in self.places], np.int64)
        """Cells of each PE of a class."""
        self.first = np.concatenate([[0], np.cumsum(np.diff(fabric.class_first) * self.width)]).astype(np.int64)
        """Where the cells of a class begin; behind them the number of all."""
        self.number = [{place: number for number, place in enumerate(places)} for places in self.places]
        """Of each place of a class."""

    def cells(self, cls: int, place: int) -> slice:
        """Return the cells of a place, one for each unit of a class."""
        width = int(self.width[cls])
        return slice(int(self.first[cls]) + place, int(self.first[cls + 1]), width) if width else slice(0, 0)


@dataclass(eq=False)
class Counts:
    """All that is counted; arrays are contiguous, and shared with the executor."""

    layout: Layout
    pes: Array
    """PE [P]."""
    cells: Array
    """CELL [cells]."""
    lines: Array
    """LINE [strings], by the row of a source place."""
    routers: Array
    """uint64 [colors with switches, P, ports]: wavelets that left routers."""
    messages: Array
    """uint64 [networks, P, ports]: the same of message networks."""

    @classmethod
    def of(cls, fabric: Fabric) -> Counts:
        """Return counters for the program of a fabric, all 0."""
        layout = Layout(fabric)
        pes = fabric.width * fabric.height
        links = (pes, len(PORTS))
        return cls(
            layout, np.zeros(pes, PE), np.zeros(int(layout.first[-1]), CELL),
            np.zeros(len(fabric.tables.strings), LINE), np.zeros((len(fabric.switched), *links), np.uint64),
            np.zeros((len(fabric.tables["networks"]), *links), np.uint64),
        )  # fmt: skip

    def copy(self) -> Counts:
        """Return the counters as they are now."""
        arrays = (array.copy() for array in (self.pes, self.cells, self.lines, self.routers, self.messages))
        return Counts(self.layout, *arrays)
