"""What an executor says of itself at rest, as records: who waits for what, and wavelets that nothing has read.

PEs are numbered by rows of the grid. Operations, tasks, queues and the like are rows of the tables; `NONE` is none.
"""

from __future__ import annotations

from dataclasses import field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...diagnostics.records import record
from ...targets.wavelets import SWITCH_POSITIONS

RECEIVES, SENDS, READS_FIFO, WRITES_FIFO, SENDS_MESSAGE, BLOCKED = range(6)
"""Kinds of waits: for wavelets of an input queue; for room in the queues at the other end of an output queue; for
elements of a FIFO; for places in it; for a message of a network to leave; for a blocked microthread to be unblocked."""

HELD, HEADER = 1, 2
"""Flags of a wait: its task waits, and not only a microthread; it waits for the header of a message."""

WAIT: np.dtype[Any] = np.dtype(
    [
        ("pe", "<u4"), ("operation", "<u4"), ("settings", "<u4"), ("task", "<u4"), ("where", "<u4"), ("row", "<u4"),
        ("output", "<u4"), ("use", "<u4"), ("pc", "<u4"), ("kind", "u1"), ("flags", "u1"), ("count", "<i8"),
        ("position", "<i8"),
    ],
    align=True,
)  # fmt: skip
"""An open operation of a PE, at one of the ends where it lacks something: an operation that takes wavelets from two
queues has a record for each of them that holds nothing for it.

`task` is the task that has issued it, `settings` the row of `register_loads` that says how it runs, NONE if the
operation itself does. `row` is the queue or the FIFO, of a message its place in `Rest.messages`, of a BLOCKED the
source place where its microthread was blocked; `output` the output queue that a RECEIVES, READS_FIFO or BLOCKED sends
to. Of an operation that is HELD the task goes on in `use`, behind instruction `pc` of its body (the `apply`). `count`
are the elements of the operation, more than 2^39 if it has no end; of a send its wavelets. `position` are those
done."""

TASK: np.dtype[Any] = np.dtype([("pe", "<u4"), ("task", "<u4"), ("blocked", "u1")], align=True)
"""A task of a PE that is active, or a data task or listener with wavelets that wait for it; `blocked` if so."""

WAVELETS: np.dtype[Any] = np.dtype([("row", "<u4"), ("pe", "<u4"), ("count", "<i8")], align=True)
"""Wavelets of a queue or color at a PE."""

QUEUED: np.dtype[Any] = np.dtype([("row", "<u4"), ("pe", "<u4"), ("count", "<i8"), ("held", "<i8")], align=True)
"""Wavelets that have been sent to an input queue of a PE and not been taken: `held` of them are still at their senders,
since ways are full. A queue may have several records."""

AT_ROUTER: np.dtype[Any] = np.dtype(
    [("color", "<u4"), ("pe", "<u4"), ("port", "<u4"), ("position", "<u4"), ("taken", "<u4"), ("count", "<i8")],
    align=True,
)
"""Wavelets of a color with switches at a port of a router; `position` is that of its switch now, `IN_TEARDOWN` in a
teardown phase, and `taken` are the ports that it takes the color from, as bits."""

MAX_LOST = 255
"""Activations of an active task that are counted, for each task of a PE."""

IN_TEARDOWN = SWITCH_POSITIONS

MESSAGE: np.dtype[Any] = np.dtype(
    [
        ("network", "<u4"), ("source", "<u4"), ("target", "<u4"), ("elements", "<u4"), ("delivered", "u1"),
        ("blocker", "<u4"), ("at", "<u4"), ("port", "<u4"), ("holder_source", "<u4"), ("holder_target", "<u4"),
    ],
    align=True,
)  # fmt: skip
"""A message of a network that has not left. `delivered`: its head is at the receiver's ramp. `blocker` is the PE whose
queue is full, that of the message which holds it up in the end, or its own. If it waits for a link: the link's router
`at`, its `port`, and source and target of the message that holds the link; else `at` is NONE."""


@record
class Rest:
    """The state of a machine in which nothing can happen any more."""

    waits: NDArray[Any] = field(default_factory=partial(np.zeros, 0, WAIT))
    tasks: NDArray[Any] = field(default_factory=partial(np.zeros, 0, TASK))
    queued: NDArray[Any] = field(default_factory=partial(np.zeros, 0, QUEUED))
    """Of each input queue (not of sinks) and PE with some."""
    sent: NDArray[Any] = field(default_factory=partial(np.zeros, 0, WAVELETS))
    """That units flagged PARTLY_UNREAD have sent so far on an output queue."""
    at_routers: NDArray[Any] = field(default_factory=partial(np.zeros, 0, AT_ROUTER))
    down_ramps: NDArray[Any] = field(default_factory=partial(np.zeros, 0, WAVELETS))
    """Of colors with switches, that came down the ramp of a PE without a queue for the color."""
    off_grid: NDArray[Any] = field(default_factory=partial(np.zeros, 0, AT_ROUTER))
    """Of colors with switches, data that a router has sent over the edge of the grid, by the port it left by."""
    messages: NDArray[Any] = field(default_factory=partial(np.zeros, 0, MESSAGE))

    def in_queues(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Return `count` and `held` of each queue and PE."""
        found: dict[tuple[int, int], tuple[int, int]] = {}
        for row, pe, count, held in self.queued.tolist():
            before = found.get((row, pe), (0, 0))
            found[row, pe] = before[0] + count, before[1] + held
        return found


NOTHING_LEFT = Rest()
"""The state of a machine in which nothing waits and everything is read, if an executor knows so without a search."""
