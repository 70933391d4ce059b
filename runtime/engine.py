"""What a machine that runs tables provides: the reference, in Python, and the core, in C. `hosted.py` makes an executor
of one. PEs are numbered by rows of the grid; queues are rows of `Fabric`; records are numpy's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from .counted import Counted
from .places import Array
from .reports.rest import Rest
from .statistics.counts import Counts
from .trace_lines import Traced
from .unwritten import Unwritten

DONE, BUDGET, ERROR, NO_MEMORY, CALLS = range(5)
"""How a run ends: nothing can happen any more, the steps are used up, there is a finding that is an error, the host has
not enough memory, or there have been very many calls, which count no steps."""


class Totals(NamedTuple):
    """What a machine has done so far."""

    cycles: int
    """When the last task and the last operation ended."""
    wavelets: int
    task_runs: int
    steps: int


class Printed(NamedTuple):
    """What a PE has printed."""

    cycle: int
    pe: int
    row: int
    """Of `prints`."""
    values: Sequence[int]
    """As registers hold them."""


class Position(NamedTuple):
    """Where a PE is in its program."""

    pe: int
    task: int
    where: int
    """Row of the strings."""


class Engine(Protocol):
    """A machine made of tables and a fabric, with its program loaded and nothing run yet."""

    memory: Sequence[Array]
    """Bytes of the PEs of each class, uint8 [units, bytes]; hosts read and write them between runs."""

    unwritten: Unwritten | None
    """What of it nothing has written, if races are looked for."""

    counted: Counted | None
    """Counters of costs, if they are counted."""

    def run(self, steps: int) -> int:
        """Run until `steps` steps have been taken in all since the program was loaded, or it ends before.

        Return DONE, BUDGET, ERROR or CALLS. A step beyond the last is not taken. Raises MemoryError.
        """
        ...

    def limit(self, steps: int | None) -> None:
        """Let each PE take so many steps from now on, and each operation pass on so many elements, None for any number.

        One more is an error. Raises MemoryError.
        """
        ...

    def place(self) -> Position:
        """Return where the PE is that wanted a step beyond the last."""
        ...

    def error(self) -> Any:
        """Return the finding that has ended the run."""
        ...

    def warnings(self) -> Array:
        """Return the findings so far that are warnings, the first of each source place by cycle and PE, in this order.

        Those before which another may still come are left out.
        """
        ...

    def launch(self, task: int, arguments: Sequence[int], time: int) -> None:
        """Activate a launch task on all PEs of its class at a cycle; arguments are as registers hold them."""
        ...

    def active(self, task: int) -> int:
        """Return how many PEs have a task active."""
        ...

    def send(self, pes: Array, queues: Array, words: Array, first: Array) -> None:
        """Send words [n, count] to an input queue of each of n PEs, one a cycle from cycle `first` [n] on."""
        ...

    def backlog(self, cls: int, queue: int) -> Array:
        """Return how many wavelets wait in a queue, or sink, of each unit of a class."""
        ...

    def unsent(self, cls: int, queue: int) -> Array:
        """Return how many wavelets for an input queue of each unit of a class the host still holds."""
        ...

    def take(self, pes: Array, sinks: Array, count: int) -> Array:
        """Return the next `count` wavelets, which are there, that each of n PEs has sent to a sink, and take them.

        They are uint32 [n, count].
        """
        ...

    @property
    def clocks(self) -> Array:
        """When each PE has ended its last task, int64 [height, width]."""
        ...

    def totals(self) -> Totals:
        """Return what has been done so far."""
        ...

    def reached(self) -> int:
        """Return the latest cycle that anything has reached, tasks that wait included."""
        ...

    def printed(self) -> Sequence[Printed]:
        """Return what the program has printed, in any order."""
        ...

    def observed(self) -> Counts | None:
        """Return what statistics have counted so far, if they were asked for; `reached` is how far PEs are."""
        ...

    @property
    def held(self) -> int:
        """Return the number of trace records that are kept now."""
        ...

    def traced(self) -> Traced:
        """Return the records of the trace that are kept, in any order; unless only the last are, they are forgotten."""
        ...

    def lost_activations(self) -> Array:
        """Return how often tasks that the ends of operations activate were activated while they were active, which
        starts them once: records of `reports.rest.WAVELETS` with a row of `tasks`, at most MAX_LOST each."""
        ...

    def rest(self) -> Rest:
        """Return who waits for what, and what nothing has read, when nothing can happen any more."""
        ...
