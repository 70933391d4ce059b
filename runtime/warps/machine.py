"""WarpMachine: a `flow.fabric` loaded and run in warps; `Executor` says what `Machine` asks of it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import IO, Any

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
from .. import wait_graph
from ..executor import Counts, Lacking, PrintedTile
from ..executors import EXECUTORS
from ..places import Region
from ..trace_lines import Tracing
from ..unread_wavelets import Unread
from ..warnings import Warnings
from ..watch import Watch
from .arithmetic import Scratch
from .channels import Channel
from .directives import Directives
from .executor import Executor
from .fabric import Color
from .host_copies import read_region, write_region
from .host_streams import HostInput, HostOutput
from .loader import Exported, Loader
from .messages import Network
from .outline import outline
from .scalars import normalize
from .scheduler import Scheduler
from .slot_rings import SlotRings
from .streams import UNBOUNDED
from .switches import SwitchedColor
from .tasks import NEVER
from .tile_program import Printed
from .tiles import Space
from .trace import Trace, TracingExecutor, TracingScheduler
from .unit_class import UnitClass
from .units import Array, from_mask, rectangle, some
from .unread import unread
from .waits import waits


def load(
    program: object,
    warnings: Warnings,
    trace: IO[bytes] | None = None,
    *,
    block_units: int | None = None,
    block_rows: int | None = None,
    prompt: bool = False,
    prices: Prices = NO_PRICES,
    counts: bool = False,
    statistics: bool = False,
    tracing: Tracing | None = None,
) -> WarpMachine:
    """Return an executor of the `flow.fabric` of a module; see `WarpMachine`."""
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
    return WarpMachine(
        program, warnings, trace, block_units=block_units, block_rows=block_rows, prompt=prompt, prices=prices
    )  # fmt: skip


class WarpMachine:
    """Executes a `flow.fabric`, all units of a class that start a task together as one warp.

    `block_units` limits the units that start a task as one warp, `block_rows` its rows; results and clocks do not
    depend on them. Producers of channels run ahead of their consumers as far as they may, unless `prompt`: then each
    lets the others go first after every entry. Raises LoomError for a program that cannot be loaded (unknown
    operations, regions off the grid, routes in a circle).
    """

    def __init__(
        self,
        fabric: flow.FabricOp,
        warnings: Warnings,
        trace: IO[bytes] | None = None,
        *,
        block_units: int | None = None,
        block_rows: int | None = None,
        prompt: bool = False,
        prices: Prices = NO_PRICES,
    ):
        self.op = fabric
        self.width = fabric.width.value.data
        self.height = fabric.height.value.data
        self.target = prices.apply(targets.fabric(fabric.target.data))
        self.is_chip = self.target.name in targets.CHIPS
        self.block_units = block_units
        self.block_rows = block_rows
        self.prompt = prompt
        self.scratch = Scratch()
        self.rounding_cell = array("f", [0.0])
        """Generated code rounds to float32 through it."""
        self.watch: Watch | None = None
        """Reports runs that take long; None if nothing does."""
        self.warnings = warnings
        self.directives = Directives(self.unit_name)
        self.print_log: list[tuple[int, int, int, str]] = []
        self.colors: dict[str, Color] = {}
        self.switched: dict[str, SwitchedColor] = {}
        """Those whose routes have switches, by name."""
        self.networks: dict[str, Network] = {}
        """Colors that are networks of messages, by name."""
        self.classes: list[UnitClass] = []
        self.exports: dict[str, Exported] = {}
        self.spaces: dict[str, Space] = {}
        """Memories that all units share."""
        self.channels: dict[str, Channel] = {}
        self.tile_log: list[Printed] = []
        self.findings = Findings()
        self.slot_rings = SlotRings(self.findings)
        """Hazards that runs have met."""
        self.host_inputs: dict[str, HostInput] = {}
        self.host_outputs: dict[str, HostOutput] = {}
        """Colors connected with the host, by name."""
        if trace is None:
            self.scheduler, self.executor = Scheduler(self), Executor(self)
        else:
            written = Trace(trace)
            self.scheduler, self.executor = TracingScheduler(self, written), TracingExecutor(self, written)
        with np.errstate(all="ignore"):
            Loader(self).load()
        self.outline = outline(self)

    def warn(self, where: str | None, message: str) -> None:
        """Warn of something that the machine permits, once for each place in the program."""
        self.warnings.warn(where, message)

    def color_name(self, number: int) -> str:
        """Return the name of the color at a position of the color table."""
        return list(self.colors)[number] if 0 <= number < len(self.colors) else "unknown"

    def color_label(self, number: int) -> str:
        """Return the label, for messages, of the color at a position of the color table."""
        return list(self.colors.values())[number].label if 0 <= number < len(self.colors) else "none"

    # Memory

    def read(self, region: Region, address: int | Array, values: Array) -> None:
        """Read elements of the memory of the units of a region into `values`; see `Executor.read`."""
        read_region(self.classes, region, address, values)

    def write(self, region: Region, address: int | Array, values: Array) -> None:
        """Write elements to the memory of the units of a region; see `Executor.write`."""
        write_region(self.classes, region, address, values)

    def image(self, number: int) -> npt.NDArray[np.uint16]:
        """Return the memory in use of the units of a class, [units by rows of the grid, words]."""
        cls = self.classes[number]
        local = cls.placement.local(cls.placement.places(cls.units)[:, ::-1])
        used = (cls.words_in_use + 1) // 2
        words = cls.memory.raw["i16"][:, :used][local[:, 0], :, local[:, 1], :]
        return words.reshape(len(local), -1)[:, : cls.words_in_use]

    # Launches and streams

    def launch(self, name: str, arguments: Sequence[int | float], delay: int = 0) -> None:
        """Activate an exported function on all units that have it, `delay` cycles from now."""
        now = self.cycles + delay
        for cls, task in self.exports[name].launchers:
            values = zip(task.code.arguments, task.code.argument_kinds, arguments, strict=True)
            for slot, kind, value in values:
                task.code.template[slot] = normalize(kind, value)
            task.activate(cls.units, now)

    def is_launched(self, name: str) -> bool:
        """Return True if an exported function has been launched and not been started yet on some unit."""
        return any(some(task.active[cls.units.index] < NEVER) for cls, task in self.exports[name].launchers)

    def send(self, color: str, region: Region, words: Array, first: Array) -> None:
        """Send words from the host to the queues of a color."""
        x, y, w, h = region
        area = rectangle(range(y, y + h), range(x, x + w))
        with np.errstate(all="ignore"):
            for queue, message in self.host_inputs[color].messages(area, words, first):
                self.executor.arrive(queue, message)

    def backlog(self, color: str) -> tuple[Array, Array]:
        """Return how many words of the host wait in the queue of a color, and how many that queue holds."""
        return self.host_inputs[color].backlog()

    def arrived(self, color: str) -> Array:
        """Return how many words of each unit wait for the host."""
        return self.host_outputs[color].available()

    def take(self, color: str, region: Region, count: int) -> Array:
        """Return the next words of a stream to the host, uint32 [h, w, count]."""
        x, y, w, h = region
        return self.host_outputs[color].take(rectangle(range(y, y + h), range(x, x + w)), count)

    # Running

    def run(self, step_limit: int | None, watch: Watch | None, until: Callable[[], bool] | None) -> bool:
        """Run until nothing can happen any more, or `until` holds."""
        self.watch = watch
        with np.errstate(all="ignore"):
            if self.scheduler.run(step_limit, until):
                return True
        for cls in self.classes:
            for resource in cls.resources():
                resource.rest()
        return False

    def finish(self) -> None:
        """Check that the channels balance, and reset them."""
        for channel in self.channels.values():
            channel.finish()

    @property
    def clocks(self) -> npt.NDArray[np.int64]:
        """When each unit has ended its last task."""
        result = np.zeros((self.height, self.width), np.int64)
        for cls in self.classes:
            mine = cls.placement.from_grid(result)
            mine[cls.units.index] = cls.clock[cls.units.index]
        return result

    @property
    def cycles(self) -> int:
        """When the last task and the last operation ended."""
        return max([int(cls.clock.max()) for cls in self.classes] + [self.scheduler.latest])

    @property
    def reached(self) -> int:
        """The latest cycle at which a task or an operation ended: not how far tasks are that wait."""
        return self.cycles

    def counts(self) -> Counts:
        """Return what has been done so far."""
        return Counts(self.scheduler.wavelets, self.scheduler.task_runs, self.scheduler.steps)

    def costs(self) -> None:
        """Return None: units that run together are charged together, and nothing is counted."""

    def measured(self) -> None:
        """Return None, as `costs` does."""

    def write_trace(self) -> None:
        """Do nothing: lines are written as steps are taken."""

    def traced(self) -> None:
        """Return None: no records are kept."""

    @property
    def printed(self) -> Sequence[tuple[int, int, int, str]]:
        """What the program has printed, in any order."""
        return self.print_log

    # At rest

    def waits(self, *, allow_pending: bool, all_of_them: bool) -> list[wait_graph.Wait]:
        """Return the waits that never end."""
        return waits(self, allow_pending=allow_pending, all_of_them=all_of_them)

    def unread(self) -> list[Unread]:
        """Return the wavelets that have been sent and not been read, by color and unit."""
        return unread(self)

    def lacking(self) -> list[Lacking]:
        """Return the units that wait for wavelets of the host."""
        found: list[Lacking] = []
        for color, stream in self.host_inputs.items():
            for queue, reads in stream.readers:
                for transfer in queue.waiting:
                    if transfer.count == UNBOUNDED or (queue.messages and queue.first(transfer.units) is not None):
                        continue
                    for units in from_mask(transfer.units, reads[transfer.units.index]):
                        missing = transfer.count - transfer.position
                        places = queue.cls.placement.places(units).tolist()
                        found += [Lacking(color, (x, y), missing) for x, y in places]
        return found

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
        if self.is_chip:
            return f"block {y} {'AIC' if x == 0 else f'AIV{x - 1}'}"
        return f"PE ({x}, {y})"
