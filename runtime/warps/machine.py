"""Machine: a `flow.fabric` loaded and run, and its interface to a host."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from ... import targets
from ...diagnostics.errors import LoomError, shown
from ...diagnostics.findings import Findings
from ...dialects import flow
from ...operations import integers
from .arithmetic import Scratch
from .channels import Channel
from .deadlock import explain
from .directives import Directives
from .executor import Executor
from .fabric import Color
from .host_copies import all_parts_of, parts_of, read, whole_shape, write
from .host_streams import HostInput, HostOutput
from .loader import Exported, Loader
from .messages import Network
from .scalars import bits_of_kind, normalize
from .scheduler import Scheduler
from .slot_rings import SlotRings
from .switches import SwitchedColor
from .tasks import NEVER, Task
from .tile_program import Printed
from .tiles import Space
from .unit_class import UnitClass
from .units import Array, Rectangle, rectangle, some
from .unread_wavelets import Unread, summary, unread, unreceived
from .watch import Watch

StreamT = TypeVar("StreamT")


class Machine:
    """Executes the `flow.fabric` of a module.

    `block_units` limits the units that start a task as one warp, `block_rows` its rows; results and clocks do not
    depend on them. Producers of channels run ahead of their consumers as far as they may, unless `prompt`: then each
    lets the others go first after every entry. Raises LoomError for a program that cannot be loaded (unknown
    operations, regions off the grid, routes in a circle).
    """

    def __init__(
        self,
        module: ModuleOp | flow.FabricOp,
        *,
        block_units: int | None = None,
        block_rows: int | None = None,
        prompt: bool = False,
    ):
        fabric = module if isinstance(module, flow.FabricOp) else _only_fabric(module)
        self.op = fabric
        self.width = fabric.width.value.data
        self.height = fabric.height.value.data
        self.target = targets.fabric(fabric.target.data)
        self.is_chip = self.target.name in targets.CHIPS
        self.block_units = block_units
        self.block_rows = block_rows
        self.prompt = prompt
        self.scratch = Scratch()
        self.rounding_cell = array("f", [0.0])
        """Generated code rounds to float32 through it."""
        self.watch: Watch | None = None
        """Reports runs that take long; None if nothing does."""
        self.warned: set[str | None] = set()
        """The places in the program that a warning has named."""
        self.unread_reported: dict[tuple[str, tuple[int, int], str | None], tuple[Any, ...]] = {}
        """Unread wavelets that have been reported to the user."""
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
        self.printed_tiles: list[Printed] = []
        self.findings = Findings()
        self.slot_rings = SlotRings(self.findings)
        """Hazards that runs have met."""
        self.host_inputs: dict[str, HostInput] = {}
        self.host_outputs: dict[str, HostOutput] = {}
        """Colors connected with the host, by name."""
        self.scheduler, self.executor = self._engines()
        with np.errstate(all="ignore"):
            Loader(self).load()

    def _engines(self) -> tuple[Scheduler, Executor]:
        """Return the scheduler and the executor; a subclass may replace them."""
        return Scheduler(self), Executor(self)

    def warn(self, where: str | None, message: str) -> None:
        """Warn of something that the machine permits, once for each place in the program."""
        if where is None or where not in self.warned:
            self.warned.add(where)
            print(shown(f"{where}: warning: {message}" if where else f"warning: {message}"), file=sys.stderr)

    def color_name(self, number: int) -> str:
        """Return the name of the color at a position of the color table."""
        return list(self.colors)[number] if 0 <= number < len(self.colors) else "unknown"

    def color_label(self, number: int) -> str:
        """Return the label, for messages, of the color at a position of the color table."""
        return list(self.colors.values())[number].label if 0 <= number < len(self.colors) else "none"

    def symbol(self, name: str, kind: str) -> Exported:
        """Return an exported symbol. Raises LoomError if there is none of that name and kind."""
        exported = self.exports.get(name)
        if exported is None or exported.kind != kind:
            known = ", ".join(sorted(n for n, e in self.exports.items() if e.kind == kind)) or "none"
            raise LoomError(f"the program exports no {kind} '{name}'; it exports: {known}")
        return exported

    def write_symbol(self, name: str, values: Any) -> None:
        """Write a buffer on every PE of the grid: [height, width, *shape], or anything that broadcasts to it.

        Raises LoomError for an unknown name, a wrong shape or a type that does not convert.
        """
        exported = self.symbol(name, "buffer")
        array = np.asarray(values)
        full = (self.height, self.width, *whole_shape(exported))
        assert exported.dtype is not None
        if array.dtype != exported.dtype and not np.can_cast(array.dtype, exported.dtype, "same_kind"):
            raise LoomError(f"'{name}' holds {exported.dtype}, not {array.dtype}; convert the array first")
        if not _broadcasts(array.shape, full):
            raise LoomError(
                f"'{name}' takes shape {list(full)} (or one that broadcasts to it), not {list(array.shape)}"
            )
        raw = _unsigned(np.broadcast_to(array, full).astype(exported.dtype, copy=False))
        parts = parts_of(exported, (0, 0, self.width, self.height))
        write(parts, name, raw.reshape(self.height, self.width, -1))

    def read_symbol(self, name: str) -> Array:
        """Read a buffer of every PE of the grid, [height, width, *shape]; zeros where a PE does not have it.

        Raises LoomError for an unknown name, and for a pointer to an array of open extent.
        """
        exported = self.symbol(name, "buffer")
        assert exported.dtype is not None
        result = np.zeros((self.height, self.width, *whole_shape(exported)), exported.dtype)
        raw = _unsigned(result).reshape(self.height, self.width, -1)
        read(parts_of(exported, (0, 0, self.width, self.height)), name, raw)
        return result

    def write_region(self, name: str, x: int, y: int, w: int, h: int, count: int, words: Any) -> None:
        """Write the first `count` elements of an exported buffer, or of what an exported pointer points to now.

        `words` is [h, w, count], or broadcasts to it, of 8, 16 or 32 bits: that is the width of the elements, whatever
        the buffer holds; their bits are written as they are. `count` may be more than the symbol has, and what lies
        behind it is then written. Raises LoomError for an unknown name, a region off the grid or with PEs that have
        no such symbol, an array that does not fit, and a copy beyond the memory in use.
        """
        exported = self.symbol(name, "buffer")
        values = np.asarray(words)
        if values.dtype.itemsize not in (1, 2, 4):
            raise LoomError(f"'{name}' takes elements of 8, 16 or 32 bits, not {values.dtype}; convert the array first")
        wanted = (h, w, count)
        if not _broadcasts(values.shape, wanted):
            raise LoomError(f"a copy to '{name}' takes [h, w, count] = {list(wanted)}, not {list(values.shape)}")
        parts = all_parts_of(self, exported, (x, y, w, h))
        write(parts, name, np.broadcast_to(_unsigned(values), wanted))

    def read_region(
        self, name: str, x: int, y: int, w: int, h: int, count: int, dtype: npt.DTypeLike | None = None
    ) -> Array:
        """Read the first `count` elements of an exported buffer, or of what an exported pointer points to now.

        Gives [h, w, count] of `dtype`, of 8, 16 or 32 bits, which is the width of the elements; by default that of the
        symbol. `count` may be more than the symbol has, up to the end of the memory of a PE; beyond what the program
        uses there are zeros. Raises LoomError as `write_region` does.
        """
        exported = self.symbol(name, "buffer")
        element = np.dtype(exported.dtype if dtype is None else dtype)
        if element.itemsize not in (1, 2, 4):
            raise LoomError(f"'{name}' is read as elements of 8, 16 or 32 bits, not {element}")
        parts = all_parts_of(self, exported, (x, y, w, h))
        result = np.zeros((h, w, count), element)
        read(parts, name, _unsigned(result))
        return result

    def launch(self, name: str, arguments: Sequence[Any] = ()) -> None:
        """Start an exported function on every PE that has it, when the machine is idle next.

        Raises LoomError for an unknown function or arguments that do not fit its parameters.
        """
        exported = self.symbol(name, "function")
        now = self.cycles
        starts: list[tuple[UnitClass, Task, list[Any]]] = []
        for cls, task in exported.launchers:
            kinds = task.code.argument_kinds
            if len(arguments) != len(kinds):
                raise LoomError(f"'{name}' takes {len(kinds)} arguments ({', '.join(kinds)}), not {len(arguments)}")
            if some(task.active[cls.units.index] < NEVER):
                raise LoomError(f"'{name}' has been launched and not run yet; run the machine before the next launch")
            values = [_argument(name, kind, value) for kind, value in zip(kinds, arguments, strict=True)]
            starts.append((cls, task, values))
        for cls, task, values in starts:
            for slot, value in zip(task.code.arguments, values, strict=True):
                task.code.template[slot] = value
            task.activate(cls.units, now)

    def send(self, color: str, x: int, y: int, w: int, h: int, words: Any) -> None:
        """Send words to the PEs of a region whose first PE is (x, y), [h, w, n], on a stream from the host.

        Integers and floats of 32 bits go as they are, n wavelets to each PE; they arrive in the order of the calls,
        while the machine runs. Raises LoomError for a color that is not a stream from the host, a region off the grid,
        values of another shape or width, and PEs that do not read the color.
        """
        stream = self._host_stream(color, self.host_inputs, "from the host")
        area = self._area(x, y, w, h)
        values = np.asarray(words)
        if values.dtype.itemsize != 4 or values.dtype.kind not in "uif":
            raise LoomError(f"the host sends words of 32 bits, not {values.dtype}; convert the array first")
        if values.ndim != 3 or values.shape[:2] != (h, w):
            raise LoomError(f"the words for {w} x {h} PEs have shape [{h}, {w}, n], not {list(values.shape)}")
        if values.shape[2] == 0:
            return
        values = np.ascontiguousarray(values).view(np.uint32)
        with np.errstate(all="ignore"):
            for queue, message in stream.messages(area, values, self.cycles):
                self.executor.arrive(queue, message)

    def backlog(self, color: str) -> tuple[Array, Array]:
        """Return what the host has sent on a stream and each PE has not read yet, and what the PE's queue holds of it.

        Both [height, width], in words. Raises LoomError for a color that is not a stream from the host.
        """
        return self._host_stream(color, self.host_inputs, "from the host").backlog()

    def receive(self, color: str, x: int, y: int, w: int, h: int, n: int) -> Array:
        """Return the next n words that each PE of a region has sent on a stream to the host, uint32 [h, w, n].

        Raises LoomError for a color that is not a stream to the host or a region off the grid. Raises MissingWavelets,
        which says how many each PE still lacks, if there are not that many yet.
        """
        stream = self._host_stream(color, self.host_outputs, "to the host")
        return stream.take(self._area(x, y, w, h), n)

    def received(self, color: str) -> Array:
        """Return how many words of each PE wait to be received on a stream to the host, [height, width]."""
        return self._host_stream(color, self.host_outputs, "to the host").available()

    def unread(self) -> list[Unread]:
        """Return the wavelets sent that nothing has read so far, by color and PE; `str` puts one in words."""
        return unread(self)

    def warn_of_unread(self, when: str, *, at_end: bool) -> None:
        """Warn of wavelets that nothing has read, a line for each color, and not again of the same.

        `when` is "at stop()". Before the end, wavelets that the host has sent may well wait to be read, and those that
        PEs have sent to it to be received: of those nothing is said.
        """
        found = unread(self)
        if at_end:
            found += unreceived(self)
        else:
            streams = {stream.color for stream in self.host_inputs.values()}
            found = [left for left in found if left.label not in streams]
        fresh = [left for left in found if self.unread_reported.get((left.label, left.place, left.queue)) != left[:3]]
        self.note_reported(fresh)
        for sentence in summary(fresh, when):
            self.warn(None, sentence)

    def note_reported(self, found: Iterable[Unread]) -> None:
        """Note that some unread wavelets have been reported to the user."""
        self.unread_reported |= {(left.label, left.place, left.queue): left[:3] for left in found}

    def _host_stream(self, color: str, streams: Mapping[str, StreamT], way: str) -> StreamT:
        stream = streams.get(color)
        if stream is None:
            known = ", ".join(f"@{name}" for name in streams) or "none"
            raise LoomError(f"color @{color} is not a stream {way}; the streams {way} are: {known}")
        return stream

    def _area(self, x: int, y: int, w: int, h: int) -> Rectangle:
        if min(x, y) < 0 or min(w, h) < 1 or x + w > self.width or y + h > self.height:
            raise LoomError(
                f"the region of {w} x {h} PEs at ({x}, {y}) is not inside the grid of {self.width} x {self.height}"
            )
        return rectangle(range(y, y + h), range(x, x + w))

    @property
    def log(self) -> list[tuple[int, int, int, str]]:
        """Return what the program has printed: (cycle, x, y, text), ordered by cycle, then by row and column."""
        return sorted(self.print_log, key=lambda entry: (entry[0], entry[2], entry[1]))

    @property
    def cycles(self) -> int:
        """Return when the last task and the last operation ended: an estimate."""
        return max([int(cls.clock.max()) for cls in self.classes] + [self.scheduler.latest])

    def statistics(self) -> dict[str, Any]:
        """Return what the run has done so far."""
        units = sum(cls.units.count for cls in self.classes)
        return {
            "target": self.target.name,
            "grid": [self.width, self.height],
            "units": units,
            "cycles_estimated": self.cycles,
            "wavelets_sent": self.scheduler.wavelets,
            "task_runs": self.scheduler.task_runs,
            "steps": self.scheduler.steps,
        }

    def run(
        self,
        step_limit: int | None = None,
        *,
        allow_pending: bool = False,
        until: Callable[[], bool] | None = None,
    ) -> None:
        """Run until nothing can happen any more, or `until` says that the host has what it waits for.

        `step_limit` bounds the task starts and loop iterations of warps. Raises LoomError when the limit is
        reached, for accesses out of range and the like, and Deadlock when units wait for what never comes:
        suspended tasks always, asynchronous operations with a completion task unless `allow_pending`. An interrupt
        from the keyboard gets a note of where the program was.
        """
        try:
            with np.errstate(all="ignore"):
                if self.scheduler.run(step_limit, until):
                    return
        except KeyboardInterrupt as interrupt:
            if self.watch is not None:
                interrupt.add_note(self.watch.interrupted())
            raise
        for cls in self.classes:
            for resource in cls.resources():
                resource.rest()
        deadlock = explain(self, allow_pending=allow_pending)
        if deadlock is not None:
            raise deadlock
        for channel in self.channels.values():
            channel.finish()

    def unit_name(self, x: int, y: int) -> str:
        """Return the name, for messages, of the unit at a place of the grid."""
        if self.is_chip:
            return f"block {y} {'AIC' if x == 0 else f'AIV{x - 1}'}"
        return f"PE ({x}, {y})"


def _only_fabric(module: ModuleOp) -> flow.FabricOp:
    fabrics = [op for op in module.body.block.ops if isinstance(op, flow.FabricOp)]
    if len(fabrics) != 1:
        raise LoomError(f"a module to run has exactly one flow.fabric, not {len(fabrics)}")
    return fabrics[0]


def _broadcasts(shape: Sequence[int], wanted: Sequence[int]) -> bool:
    """Return True if an array of `shape` broadcasts to the `wanted` shape."""
    return len(shape) <= len(wanted) and all(
        have in (1, want) for have, want in zip(reversed(shape), reversed(wanted), strict=False)
    )


def _unsigned(values: Array) -> Array:
    """Return the bits of an array, as a view."""
    return values.view(f"u{values.dtype.itemsize}")


def _argument(name: str, kind: str, value: Any) -> Any:
    try:
        if kind in ("f32", "f16", "bf16"):
            return normalize(kind, float(value))
        number = int(value)
        if number != value:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise LoomError(f"argument {value!r} of '{name}' is not of type {kind}") from None
    if not integers.fits(number, bits_of_kind(kind)):
        raise LoomError(f"argument {number} of '{name}' does not fit {kind}")
    return normalize(kind, number)
