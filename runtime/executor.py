"""What an executor provides: it runs one program on one grid, and `Machine` is what hosts see of it.

An executor may be a library in C over flat arrays or an interpreter in Python. Nothing here says how it represents a
program, in which order it works, or what it keeps of a unit. Units (PEs of a wafer, cores of a chip) are (x, y). Arrays
of values of units are [height, width] unless said otherwise. An executor words nothing but errors of the program while
it runs: it raises LoomError for them, and makes records of the rest with the functions of `wait_graph`,
`wait_sentences` and `unread_wavelets`. A host's mistakes never come so far; `Machine` checks what it passes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ..diagnostics.findings import Findings
from ..diagnostics.records import record
from .places import Array, Region, Unit
from .trace_lines import Traced
from .unread_wavelets import Unread
from .wait_graph import Wait
from .warnings import Warnings
from .watch import Watch

if TYPE_CHECKING:
    from .statistics.report import Statistics


@record
class Place:
    """Where the units of a class have an exported buffer: at a byte address, or behind the pointer that is there."""

    address: int
    is_pointer: bool = False


@record
class Buffer:
    """An exported variable, or what an exported pointer points to; that makes no difference to a host."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    """Of one unit's elements; -1 for an extent that is open, behind a pointer."""
    read_only: bool
    places: Mapping[int, Place]
    """By the number of a class; other classes do not have it."""


@record
class Function:
    """An exported function."""

    name: str
    signatures: Mapping[int, tuple[str, ...]]
    """The scalar kinds of its parameters, "i16" or "f32", by the number of a class; other classes do not have it."""


class Color(NamedTuple):
    """A color of the fabric."""

    number: int
    """Its id."""
    label: str
    """Its name in messages."""


@record
class HostStream:
    """A color by which the host sends words to units, or units send words to the host."""

    label: str
    """The name of the color in messages."""
    connected: Array
    """Where the color leads to or comes from, bool."""
    reads: Array
    """Of those, the units with an input queue for it, bool; all of them for a stream to the host."""


class UnitClass(NamedTuple):
    """The units that run the same program."""

    name: str
    words: int
    """The 16-bit words of memory in which the program has laid out its variables."""


@record
class Outline:
    """What a host may know of a program."""

    width: int
    height: int
    target: str
    """The name of the target in targets/."""
    classes: tuple[UnitClass, ...]
    class_of: Array
    """The number of the class of each unit, -1 where there is no program."""
    colors: Mapping[str, Color]
    """By their names in IR, as all that follows."""
    buffers: Mapping[str, Buffer]
    functions: Mapping[str, Function]
    inputs: Mapping[str, HostStream]
    outputs: Mapping[str, HostStream]


class Counts(NamedTuple):
    """What an executor has done so far."""

    wavelets: int
    """Wavelets sent."""
    task_runs: int
    """Tasks started, counted for each unit."""
    steps: int
    """What `step_limit` counts."""


class Lacking(NamedTuple):
    """A unit with an operation that waits for wavelets of the host."""

    color: str
    """The name of the color in IR."""
    place: Unit
    missing: int
    """Wavelets that the operation lacks."""


class Clue(NamedTuple):
    """What is said of some units of a class that do no more."""

    cls: int
    places: Array
    """The units, [n, (x, y)]."""
    text: str
    where: str | None
    """The place of the source that it is about."""


class Executor(Protocol):
    """Runs one program. Made by a loader of `executors`, with the program loaded and nothing run yet."""

    @property
    def outline(self) -> Outline:
        """What a host may know of the program."""
        ...

    # Memory

    def read(self, region: Region, address: int | Array, values: Array) -> None:
        """Read elements of the memory of the units of a region into `values`, [h, w, n].

        The elements are unsigned, of 8, 16 or 32 bits, contiguous from a byte address on: one for all units,
        or [h, w], where those with a negative one are left alone. What is beyond the memory of a unit is 0.
        """
        ...

    def write(self, region: Region, address: int | Array, values: Array) -> None:
        """Write elements to the memory of the units of a region, as `read` reads them; all of them are inside it."""
        ...

    def image(self, number: int) -> npt.NDArray[np.uint16]:
        """Return the memory in use of the units of a class, [units by rows of the grid, words]."""
        ...

    # Host

    def launch(self, name: str, arguments: Sequence[int | float], delay: int = 0) -> None:
        """Activate an exported function on all units that have it, `delay` after `cycles`; arguments fit."""
        ...

    def is_launched(self, name: str) -> bool:
        """Return True if an exported function has been launched and not yet started on some unit."""
        ...

    def send(self, color: str, region: Region, words: Array, first: Array) -> None:
        """Send words, uint32 [h, w, n], from the host to the queues of a color; n > 0, and all units have such a queue.

        The first word of a unit arrives at cycle `first`, [h, w], the others one a cycle after it.
        """
        ...

    def unsent(self, color: str) -> Array:
        """Return how many words of a color the host still holds for each unit, since there is no room for them."""
        ...

    def arrived(self, color: str) -> Array:
        """Return how many words of each unit wait for the host, on a stream to it."""
        ...

    def take(self, color: str, region: Region, count: int) -> Array:
        """Return the next words of a stream to the host, uint32 [h, w, count]; there are as many."""
        ...

    # Running

    def run(self, step_limit: int | None, watch: Watch | None, until: Callable[[], bool] | None) -> bool:
        """Run until nothing can happen any more. Raises LoomError for what no program may do, and at the step limit.

        `watch` looks now and then. Return True if it stopped before, because `until` holds, which is asked now and
        then.
        """
        ...

    def finish(self) -> None:
        """Note that a run has ended well, with nothing waiting that should not."""
        ...

    @property
    def clocks(self) -> npt.NDArray[np.int64]:
        """When each unit has ended its last task, 0 where there is no program."""
        ...

    @property
    def cycles(self) -> int:
        """When the last task and the last operation ended."""
        ...

    @property
    def reached(self) -> int:
        """The latest cycle that anything has reached, tasks and operations that wait included: these, the end of the
        elements that they have taken."""
        ...

    def counts(self) -> Counts:
        """Return what has been done so far."""
        ...

    def costs(self) -> Mapping[str, Any] | None:
        """Return how often each price has been charged, by `counted.Counted`; None if that has not been asked for."""
        ...

    def measured(self) -> Statistics | None:
        """Return what units have done with their cycles, and wavelets; None if that has not been asked for."""
        ...

    def write_trace(self) -> None:
        """Write what has been traced and not been written yet."""
        ...

    def traced(self) -> tuple[Traced, bytes] | None:
        """Return the records of the trace that are kept, and their lines; None without any."""
        ...

    @property
    def printed(self) -> Sequence[tuple[int, int, int, str]]:
        """What the program has printed, in any order: (cycle, x, y, text)."""
        ...

    # At rest

    def waits(self, *, allow_pending: bool, all_of_them: bool) -> list[Wait]:
        """Return the waits that never end and whose end would start something.

        With `allow_pending` only those of tasks, with `all_of_them` also microthreads whose end starts nothing.
        """
        ...

    def unread(self) -> list[Unread]:
        """Return the wavelets that have been sent and not been read, but for those to the host, by color and unit."""
        ...

    def lost_activations(self) -> list[Clue]:
        """Return what is said of tasks that were activated while they were active, and started once for both."""
        ...

    def missing_calls(self, name: str, places: Array) -> list[Clue]:
        """Return where some units, [n, (x, y)], would call unblock_cmd_stream() for a launch of a function,
        and what starts the tasks that do."""
        ...

    def lacking(self) -> list[Lacking]:
        """Return the units that wait for wavelets of the host."""
        ...


class PrintedTile(NamedTuple):
    """A tile that a core has printed."""

    place: Unit
    label: str
    values: Array


class ChipExecutor(Executor, Protocol):
    """An executor that runs programs of cores with shared memories, tiles and channels."""

    @property
    def findings(self) -> Findings:
        """Hazards that the runs have met."""
        ...

    @property
    def printed_tiles(self) -> Sequence[PrintedTile]:
        """The tiles that the program has printed."""
        ...

    def divide(self, devices: int) -> None:
        """Name the rows of the grid as the blocks of so many devices."""
        ...

    def row_name(self, y: int) -> str:
        """Return the name of a row of the grid in messages."""
        ...

    def allocate(self, space: str, count: int, name: str = "") -> int:
        """Add an array of `count` zero bytes to a shared memory and return its address; `name` is that in errors."""
        ...

    def fetch(self, space: str, address: int, count: int, dtype: np.dtype[Any]) -> Array:
        """Return elements of a shared memory, as a view until the next `allocate`."""
        ...


class Loader(Protocol):
    """Makes an executor of a program. Raises LoomError for one that it cannot run."""

    def __call__(self, program: object, warnings: Warnings, trace: IO[bytes] | None, **options: Any) -> Executor: ...
