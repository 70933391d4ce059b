"""WarpMachine: a `flow.fabric` of a chip, loaded and run in warps; `Executor` says what `Machine` asks of it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import IO, Any, NoReturn

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from ... import targets
from ...diagnostics.errors import LoomError
from ...diagnostics.findings import Findings
from ...diagnostics.locations import location_of
from ...dialects import flow
from ...operations.prices import NONE as NO_PRICES
from ...operations.prices import Prices
from .. import executor, wait_graph
from ..executor import Counts, Function, Lacking, Outline, PrintedTile
from ..executors import EXECUTORS
from ..places import Region
from ..trace_lines import Tracing
from ..unread_wavelets import Unread
from ..warnings import Warnings
from ..watch import Watch
from .channels import Channel
from .loader import load_program
from .scalars import normalize
from .scheduler import Scheduler
from .slot_rings import SlotRings
from .tasks import Task
from .tile_program import Printed
from .tiles import Space
from .unit_class import UnitClass
from .units import Array
from .waits import waits


def load(
    program: object,
    warnings: Warnings,
    trace: IO[bytes] | None = None,
    *,
    block_rows: int | None = None,
    prompt: bool = False,
    prices: Prices = NO_PRICES,
    counts: bool = False,
    statistics: bool = False,
    tracing: Tracing | None = None,
) -> WarpMachine:
    """Return an executor of the `flow.fabric` of a module; see `WarpMachine`.

    Chips have no cost model, so prices change nothing, and nothing is counted. Raises LoomError for a program of the
    wafer, and if a trace is asked for.
    """
    if isinstance(program, ModuleOp):
        fabrics = [op for op in program.body.block.ops if isinstance(op, flow.FabricOp)]
        if len(fabrics) != 1:
            raise LoomError(f"a module to run has exactly one flow.fabric, not {len(fabrics)}")
        program = fabrics[0]
    if not isinstance(program, flow.FabricOp):
        raise LoomError(f"the executor 'warps' runs a module with a flow.fabric, not {type(program).__name__}")
    if program.target.data not in targets.CHIPS:
        names = " and ".join(f"'{name}'" for name in EXECUTORS)
        raise LoomError(
            f"the executor 'warps' runs programs of chips ({', '.join(targets.CHIPS)}); those of the wafer run on "
            f"{names}, assembled into tables", location_of(program),
        )  # fmt: skip
    if trace is not None or tracing is not None:
        raise LoomError("programs of chips have no traces; run this one without", location_of(program))
    return WarpMachine(program, block_rows=block_rows, prompt=prompt)


class WarpMachine:
    """Executes a `flow.fabric` of a chip, all units of a class that start a task together as one warp.

    `block_rows` limits the rows of units that start a task as one warp; results do not depend on it. Producers of
    channels run ahead of their consumers as far as they may, unless `prompt`: then each lets the others go first after
    every entry. Raises LoomError for a program that cannot be loaded (unknown operations, regions off the grid).
    """

    def __init__(self, fabric: flow.FabricOp, *, block_rows: int | None = None, prompt: bool = False):
        self.op = fabric
        self.width = fabric.width.value.data
        self.height = fabric.height.value.data
        self.block_rows = block_rows
        self.prompt = prompt
        self.rounding_cell = array("f", [0.0])
        """Generated code rounds to float32 through it."""
        self.watch: Watch | None = None
        """Reports runs that take long; None if nothing does."""
        self.classes: list[UnitClass] = []
        self.exports: dict[str, list[tuple[UnitClass, Task]]] = {}
        """The functions that the host launches, by name, on each class that has them."""
        self.spaces: dict[str, Space] = {}
        """Memories that all units share."""
        self.channels: dict[str, Channel] = {}
        self.tile_log: list[Printed] = []
        self.findings = Findings()
        """Hazards that runs have met."""
        self.slot_rings = SlotRings(self.findings)
        self.scheduler = Scheduler(self)
        with np.errstate(all="ignore"):
            load_program(self)
        self.outline = self._outline()

    def _outline(self) -> Outline:
        class_of = np.full((self.height, self.width), -1, np.int16)
        for number, cls in enumerate(self.classes):
            class_of[cls.placement.on_grid()] = number
        functions = {
            name: Function(name, {self.classes.index(cls): tuple(task.code.argument_kinds) for cls, task in tasks})
            for name, tasks in self.exports.items()
        }
        classes = tuple(executor.UnitClass(cls.name, cls.op.words.value.data) for cls in self.classes)
        return Outline(
            self.width, self.height, self.op.target.data, classes, class_of, {}, {}, functions, inputs={}, outputs={}
        )

    # Memory and streams, of which cores show the host none

    def image(self, number: int) -> npt.NDArray[np.uint16]:
        """Return the memory of the units of a class, in which a program of cores lays out nothing."""
        return np.zeros((self.classes[number].units.count, 0), np.uint16)

    def read(self, region: Region, address: int | Array, values: Array) -> NoReturn:
        """Never called: cores export no buffers."""
        raise AssertionError

    def write(self, region: Region, address: int | Array, values: Array) -> NoReturn:
        """Never called, as `read`."""
        raise AssertionError

    def send(self, color: str, region: Region, words: Array, first: Array) -> NoReturn:
        """Never called: cores have no colors."""
        raise AssertionError

    def backlog(self, color: str) -> NoReturn:
        """Never called, as `send`."""
        raise AssertionError

    def arrived(self, color: str) -> NoReturn:
        """Never called, as `send`."""
        raise AssertionError

    def take(self, color: str, region: Region, count: int) -> NoReturn:
        """Never called, as `send`."""
        raise AssertionError

    # Launches

    def launch(self, name: str, arguments: Sequence[int | float], delay: int = 0) -> None:
        """Activate an exported function on all units that have it."""
        for _, task in self.exports[name]:
            for slot, kind, value in zip(task.code.arguments, task.code.argument_kinds, arguments, strict=True):
                task.code.template[slot] = normalize(kind, value)
            task.activate()

    def is_launched(self, name: str) -> bool:
        """Return True if an exported function has been launched and not been started yet on some unit."""
        return any(bool(task.active.any()) for _, task in self.exports[name])

    # Running

    def run(self, step_limit: int | None, watch: Watch | None, until: Callable[[], bool] | None) -> bool:
        """Run until nothing can happen any more, or `until` holds."""
        self.watch = watch
        with np.errstate(all="ignore"):
            return self.scheduler.run(step_limit, until)

    def finish(self) -> None:
        """Check that the channels balance, and reset them."""
        for channel in self.channels.values():
            channel.finish()

    @property
    def clocks(self) -> npt.NDArray[np.int64]:
        """Zeros: there is no time."""
        return np.zeros((self.height, self.width), np.int64)

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
        return Counts(0, self.scheduler.task_runs, self.scheduler.steps)

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

    def waits(self, *, allow_pending: bool, all_of_them: bool) -> list[wait_graph.Wait]:
        """Return the waits that never end."""
        return waits(self)

    def unread(self) -> list[Unread]:
        """Return nothing: cores send no wavelets."""
        return []

    def lacking(self) -> list[Lacking]:
        """Return nothing: no unit waits for the host."""
        return []

    # Cores

    @property
    def printed_tiles(self) -> Sequence[PrintedTile]:
        """The tiles that cores have printed."""
        return [PrintedTile((tile.column, tile.row), tile.label, tile.values) for tile in self.tile_log]

    def allocate(self, space: str, count: int, name: str = "") -> int:
        """Add an array of `count` zero bytes to a shared memory and return its address."""
        return self.spaces[space].extend(count, name)

    def fetch(self, space: str, address: int, count: int, dtype: np.dtype[Any]) -> Array:
        """Return elements of a shared memory, as a view."""
        return self.spaces[space].fetch(address, count, dtype)

    def unit_name(self, x: int, y: int) -> str:
        """Return the name, for messages, of the unit at a place of the grid."""
        return f"block {y} {'AIC' if x == 0 else f'AIV{x - 1}'}"
