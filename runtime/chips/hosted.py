"""An executor of tables of chips: joins an engine with what a host asks of it, and words what it leaves as records."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import IO, Any, NoReturn

import numpy as np
import numpy.typing as npt

from ...diagnostics.errors import LoomError
from ...diagnostics.findings import Findings
from ..engine import BUDGET, ERROR
from ..executor import Clue, Counts, Function, Lacking, Outline, PrintedTile, UnitClass
from ..hosted import SLICE, as_register, parameters_of
from ..places import Array, Region
from ..tables.format import EXPORT_FUNCTION, Tables
from ..trace_lines import Tracing
from ..unread_wavelets import Unread
from ..wait_graph import Wait
from ..watch import MIN_STEPS, Watch
from .balance import report_imbalance
from .chip import Chip, Spaces
from .engine import ChipEngine
from .rings import SlotRings
from .sentences import add_findings, error
from .waits import waits


@contextmanager
def enough_memory() -> Generator[None]:
    """Raise LoomError where the host has not enough memory."""
    try:
        yield
    except (MemoryError, ValueError) as problem:
        if isinstance(problem, ValueError) and "array size" not in str(problem) and "too big" not in str(problem):
            raise
        raise LoomError("the program needs more memory than there is; use fewer blocks") from None


class HostedChip:
    """Runs tables of a chip with an engine; `ChipExecutor` says what `Machine` asks of it."""

    def __init__(self, tables: Tables, make: Callable[[Chip, Spaces], ChipEngine]) -> None:
        with enough_memory():
            self.chip = Chip(tables)
            self.spaces = Spaces(self.chip)
            self.engine = make(self.chip, self.spaces)
        self.tables = tables
        self.findings = Findings()
        """Hazards that runs have met."""
        self._rings = SlotRings(self.chip, self.findings)
        self._slice = MIN_STEPS
        self._step_limit: int | None = None
        self._printed: list[PrintedTile] = []
        self.outline = self._outline()

    def _outline(self) -> Outline:
        tables, names = self.tables, self.tables.strings
        functions: dict[str, Function] = {}
        for export in tables["exports"]:
            if export["type"] == EXPORT_FUNCTION:
                name, known = names[int(export["name"])], functions.get(names[int(export["name"])])
                signatures = {} if known is None else dict(known.signatures)
                signatures[int(export["owner"])] = parameters_of(tables, int(export["row"]))
                functions[name] = Function(name, signatures)
        classes = tuple(UnitClass(names[name], words) for name, words in tables["classes"][["name", "words"]].tolist())
        target = names[int(tables["program"]["target"][0])]
        return Outline(
            self.chip.width, self.chip.height, target, classes, self.chip.class_of, {}, {}, functions, inputs={},
            outputs={},
        )  # fmt: skip

    # Memory and streams, of which cores show the host none

    def image(self, number: int) -> npt.NDArray[np.uint16]:
        """Return the memory of the units of a class, in which a program of cores lays out nothing."""
        return np.zeros((len(self.chip.units_of(number)), 0), np.uint16)

    def read(self, region: Region, address: int | Array, values: Array) -> NoReturn:
        """Never called: cores export no buffers."""
        raise AssertionError

    def write(self, region: Region, address: int | Array, values: Array) -> NoReturn:
        """Never called, as `read`."""
        raise AssertionError

    def send(self, color: str, region: Region, words: Array, first: Array) -> NoReturn:
        """Never called: cores have no colors."""
        raise AssertionError

    def unsent(self, color: str) -> NoReturn:
        """Never called, as `send`."""
        raise AssertionError

    def arrived(self, color: str) -> NoReturn:
        """Never called, as `send`."""
        raise AssertionError

    def take(self, color: str, region: Region, count: int) -> NoReturn:
        """Never called, as `send`."""
        raise AssertionError

    # Launches

    def _launchers(self, name: str) -> list[int]:
        """Return the launch tasks of an exported function."""
        return [
            int(row["row"]) for row in self.tables["exports"]
            if row["type"] == EXPORT_FUNCTION and self.chip.text(row["name"]) == name
        ]  # fmt: skip

    def launch(self, name: str, arguments: Sequence[int | float], delay: int = 0) -> None:
        """Activate an exported function on all units that have it."""
        for task in self._launchers(name):
            kinds = parameters_of(self.tables, task)
            values = [as_register(kind, value) for kind, value in zip(kinds, arguments, strict=True)]
            with enough_memory():
                self.engine.launch(task, values)

    def is_launched(self, name: str) -> bool:
        """Return True if an exported function has been launched and not been started yet on some unit."""
        for task in self._launchers(name):
            units = self.chip.units_of(int(self.tables["tasks"]["owner"][task])).tolist()
            if any(task in self.engine.active(unit) for unit in units):
                return True
        return False

    # Running

    def run(self, step_limit: int | None, watch: Watch | None, until: Callable[[], bool] | None) -> bool:
        """Run until nothing can happen any more, or `until` holds."""
        self._step_limit = step_limit
        self.engine.limit(step_limit)
        try:
            with enough_memory():
                return self._run(watch, until)
        finally:
            self._collect()

    def _run(self, watch: Watch | None, until: Callable[[], bool] | None) -> bool:
        if until is not None and until():
            return True
        next_look = MIN_STEPS
        while True:
            before, begin = self.engine.totals()[1], monotonic()
            outcome = self.engine.run(self._slice if watch is None else min(self._slice, next_look))
            if outcome == ERROR:
                raise error(self.chip, self.spaces, self.engine.error(), self._step_limit)
            if outcome != BUDGET:
                return until is not None and until()
            self._slice = max(MIN_STEPS, self._slice * 2 if monotonic() - begin < SLICE else self._slice // 2)
            taken = self.engine.totals()[1] - before
            if watch is not None:
                next_look -= taken
                if next_look <= 0:
                    next_look = self._look(watch, taken)
            if until is not None and until():
                return True

    def _look(self, watch: Watch, steps: int) -> int:
        unit, task, where = self.engine.place()
        name = self.chip.text(self.tables["tasks"]["name"][task])
        return watch.look(name, self.chip.where(where), self.chip.unit_name(unit), steps)

    def _collect(self) -> None:
        """Word what has been found, and keep what has been printed."""
        add_findings(self.chip, self.engine.take_findings(), self.findings)
        self._rings.use(self.engine.take_rings())
        for unit, row, values in self.engine.take_printed():
            y, x = divmod(unit, self.chip.width)
            label = self.chip.text(self.tables["tile_prints"]["label"][row])
            self._printed.append(PrintedTile((x, y), label, values))

    def finish(self) -> None:
        """Check that the channels balance, and reset them."""
        report_imbalance(self.chip, self.engine.counts, self.findings)
        self.engine.renew()

    @property
    def clocks(self) -> npt.NDArray[np.int64]:
        """Zeros: there is no time."""
        return np.zeros((self.chip.height, self.chip.width), np.int64)

    @property
    def cycles(self) -> int:
        """Zero: there is no time."""
        return 0

    @property
    def reached(self) -> int:
        """Zero: there is no time."""
        return 0

    def counts(self) -> Counts:
        """Return what has been done so far."""
        return Counts(0, *self.engine.totals())

    def costs(self) -> None:
        """Return None: nothing is charged."""

    def measured(self) -> None:
        """Return None: nothing is measured."""

    def write_trace(self) -> None:
        """Do nothing: there is none."""

    def traced(self) -> None:
        """Return None: no records are kept."""

    @property
    def printed(self) -> Sequence[tuple[int, int, int, str]]:
        """Nothing: cores print tiles only."""
        return ()

    # At rest

    def waits(self, *, allow_pending: bool, all_of_them: bool) -> list[Wait]:
        """Return the waits that never end."""
        return waits(self.chip, self.engine.waiting(), self.engine.counts, self.engine.active)

    def unread(self) -> list[Unread]:
        """Return nothing: cores send no wavelets."""
        return []

    def lost_activations(self) -> list[Clue]:
        """Return nothing: cores have no tasks that are activated."""
        return []

    def missing_calls(self, name: str, places: Array) -> list[Clue]:
        """Return nothing: no unit listens to commands of the host."""
        return []

    def lacking(self) -> list[Lacking]:
        """Return nothing: no unit waits for the host."""
        return []

    # Cores

    def divide(self, devices: int) -> None:
        """Name the rows of the grid as the blocks of so many devices."""
        self.chip.blocks = self.chip.height // devices

    def row_name(self, y: int) -> str:
        """Return the name of a row of the grid in messages."""
        return self.chip.row_name(y)

    @property
    def printed_tiles(self) -> Sequence[PrintedTile]:
        """The tiles that cores have printed."""
        return self._printed

    def allocate(self, space: str, count: int, name: str = "") -> int:
        """Add an array of `count` zero bytes to a shared memory and return its address."""
        return self.spaces.extend(space, count, name)

    def fetch(self, space: str, address: int, count: int, dtype: np.dtype[Any]) -> Array:
        """Return elements of a shared memory, as a view until the next `allocate`."""
        return self.spaces.bytes[self.spaces.shared(space)][address : address + count * dtype.itemsize].view(dtype)


def load_chip(
    program: object, trace: IO[bytes] | None, tracing: Tracing | None, make: Callable[[Chip, Spaces], ChipEngine]
) -> HostedChip:
    """Return an executor of tables of a chip, with the engine that `make` returns. Raises LoomError."""
    assert isinstance(program, Tables), "checked by `executors.load`"
    if trace is not None or tracing is not None:
        raise LoomError("programs of chips have no traces; run this one without")
    return HostedChip(program, make)
