"""Machine: a program loaded and run by an executor, and its interface to a host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from .. import targets
from ..diagnostics.errors import LoomError
from ..operations import integers
from ..operations.prices import Prices, from_environment
from . import copies, deadlock, executors, host_streams
from .deadlock import Deadlock, Hang, Starved
from .executor import Buffer, ChipExecutor, Color, Executor, Function, HostStream, UnitClass
from .places import Array, Lattice, Region, describe
from .tables.format import Tables
from .trace_lines import Traced, tracing
from .unread_wavelets import Unread, summary, to_host
from .warnings import Warnings
from .watch import Watch

if TYPE_CHECKING:
    from .statistics.report import Statistics

StreamT = TypeVar("StreamT")

FLOATS = ("f64", "f32", "f16", "bf16")
"""Kinds of parameters that take numbers with a fraction."""


class Machine:
    """Executes a program, given as its tables.

    `executor` is one by name (`executors.EXECUTORS`); by default the one that the environment asks for. `trace` is a
    binary stream that gets one JSON object a line for each record of the trace, of the kinds `trace_kinds`
    (`trace_lines.KINDS`) or all; with `trace_last` the executor keeps only so many, the last. `prices` are instead of
    the target's, by default those that the environment names; `counts` asks for counts of costs, and `statistics` for
    what units do with their cycles, of programs of the wafer. `check` looks for races in these; None leaves that to the
    environment and the size of the grid. The other options are the executor's own. Raises LoomError for a program that
    cannot be loaded (unknown operations, regions off the grid, routes in a circle), or that the executor cannot run.
    """

    def __init__(
        self, program: object, *, executor: str | None = None, trace: IO[bytes] | None = None,
        trace_kinds: Iterable[str] | None = None, trace_last: int | None = None, prices: Prices | None = None,
        counts: bool = False, statistics: bool = False, check: bool | None = False, **options: Any,
    ) -> None:  # fmt: skip
        options["counts"], options["statistics"] = counts, statistics
        wanted = tracing(trace_kinds, trace_last)
        options["tracing"] = wanted if trace is not None or trace_last is not None else None
        options["prices"] = from_environment() if prices is None else prices
        self.executor_name = executors.of(program) if executor is None else executor
        if isinstance(program, Tables):
            options["check"] = executors.is_checked(program) if check is None else check
        self.looks_for_races = bool(options.get("check"))
        self._warnings = Warnings()
        self.executor: Executor = executors.load(self.executor_name, program, self._warnings, trace, options)
        self._outline = self.executor.outline
        self.target = options["prices"].apply(targets.fabric(self._outline.target))
        self.is_chip = targets.is_chip(self.target.name)
        self.watch: Watch | None = None
        """Reports runs that take long; None if nothing does."""
        self._unread_reported: dict[tuple[str, tuple[int, int], str | None], tuple[Any, ...]] = {}
        """Unread wavelets that have been reported to the user."""
        self._sent = {color: host_streams.Sent(stream) for color, stream in self._outline.inputs.items()}

    # The program

    @property
    def width(self) -> int:
        """Columns of the grid."""
        return self._outline.width

    @property
    def height(self) -> int:
        """Rows of the grid."""
        return self._outline.height

    @property
    def classes(self) -> Sequence[UnitClass]:
        """The classes of units that run the same program."""
        return self._outline.classes

    @property
    def class_of(self) -> Array:
        """The number of the class of each unit, [height, width], -1 where there is no program."""
        return self._outline.class_of

    @property
    def colors(self) -> Mapping[str, Color]:
        """The colors by their names in IR."""
        return self._outline.colors

    @property
    def host_inputs(self) -> Mapping[str, HostStream]:
        """Streams from the host, by the names of their colors in IR."""
        return self._outline.inputs

    @property
    def host_outputs(self) -> Mapping[str, HostStream]:
        """Streams to the host, by the names of their colors in IR."""
        return self._outline.outputs

    def buffer(self, name: str) -> Buffer:
        """Return an exported buffer. Raises LoomError if there is none of that name."""
        return _symbol(self._outline.buffers, name, "buffer")

    def function(self, name: str) -> Function:
        """Return an exported function. Raises LoomError if there is none of that name."""
        return _symbol(self._outline.functions, name, "function")

    def exports(self, name: str) -> bool:
        """Return True if the program exports a symbol of a name."""
        return name in self._outline.buffers or name in self._outline.functions

    def exporting(self, name: str) -> Array:
        """Return the PEs that have an exported symbol, bool [height, width]."""
        buffer = self._outline.buffers.get(name)
        numbers = list(buffer.places) if buffer is not None else list(self.function(name).signatures)
        return np.isin(self.class_of, numbers)

    @cached_property
    def lattices(self) -> Mapping[int, Lattice]:
        """The rows and columns of each class, by its number."""
        return {number: Lattice(self.class_of == number) for number in range(len(self.classes))}

    def unit_name(self, x: int, y: int) -> str:
        """Return the name, for messages, of the unit at a place of the grid."""
        if self.is_chip:
            return f"{self.chip.row_name(y)} {'AIC' if x == 0 else f'AIV{x - 1}'}"
        return f"PE ({x}, {y})"

    def describe(self, places: Array, is_rectangle: bool) -> str:
        """Return units at places [n, (x, y)] in words; `is_rectangle` says if they are a rectangle of their class."""
        return describe(places, is_rectangle, self.unit_name, "cores" if self.is_chip else "PEs")

    # Memory

    def write_symbol(self, name: str, values: Any) -> None:
        """Write a buffer on every PE of the grid: [height, width, *shape], or anything that broadcasts to it.

        Raises LoomError for an unknown name, a wrong shape or a type that does not convert.
        """
        buffer = self.buffer(name)
        array = np.asarray(values)
        full = (self.height, self.width, *copies.whole_shape(buffer))
        if array.dtype != buffer.dtype and not np.can_cast(array.dtype, buffer.dtype, "same_kind"):
            raise LoomError(f"'{name}' holds {buffer.dtype}, not {array.dtype}; convert the array first")
        if not _broadcasts(array.shape, full):
            raise LoomError(
                f"'{name}' takes shape {list(full)} (or one that broadcasts to it), not {list(array.shape)}"
            )
        raw = _unsigned(np.broadcast_to(array, full).astype(buffer.dtype, copy=False))
        copies.write(self.executor, buffer, self._everywhere, raw.reshape(self.height, self.width, -1))

    def read_symbol(self, name: str) -> Array:
        """Read a buffer of every PE of the grid, [height, width, *shape]; zeros where a PE does not have it.

        Raises LoomError for an unknown name, and for a pointer to an array of open extent.
        """
        buffer = self.buffer(name)
        result = np.zeros((self.height, self.width, *copies.whole_shape(buffer)), buffer.dtype)
        raw = _unsigned(result).reshape(self.height, self.width, -1)
        copies.read(self.executor, buffer, self._everywhere, raw, self.target.memory_bytes)
        return result

    def write_region(self, name: str, x: int, y: int, w: int, h: int, count: int, words: Any) -> None:
        """Write the first `count` elements of an exported buffer, or of what an exported pointer points to now.

        `words` is [h, w, count], or broadcasts to it, of 8, 16 or 32 bits: that is the width of the elements, whatever
        the buffer holds; their bits are written as they are. `count` may be more than the symbol has, and what is
        behind it is then written. Raises LoomError for an unknown name, a region off the grid or with PEs that have
        no such symbol, an array that does not fit, and a copy beyond the memory in use.
        """
        buffer = self.buffer(name)
        values = np.asarray(words)
        if values.dtype.itemsize not in (1, 2, 4):
            raise LoomError(f"'{name}' takes elements of 8, 16 or 32 bits, not {values.dtype}; convert the array first")
        wanted = (h, w, count)
        if not _broadcasts(values.shape, wanted):
            raise LoomError(f"a copy to '{name}' takes [h, w, count] = {list(wanted)}, not {list(values.shape)}")
        copies.check_region(self.executor, buffer, (x, y, w, h))
        copies.write(self.executor, buffer, (x, y, w, h), np.broadcast_to(_unsigned(values), wanted))

    def read_region(
        self, name: str, x: int, y: int, w: int, h: int, count: int, dtype: npt.DTypeLike | None = None
    ) -> Array:
        """Read the first `count` elements of an exported buffer, or of what an exported pointer points to now.

        Gives [h, w, count] of `dtype`, of 8, 16 or 32 bits, which is the width of the elements; by default that of the
        symbol. `count` may be more than the symbol has, up to the end of the memory of a PE; beyond what the program
        uses there are zeros. Raises LoomError as `write_region` does.
        """
        buffer = self.buffer(name)
        element = np.dtype(buffer.dtype if dtype is None else dtype)
        if element.itemsize not in (1, 2, 4):
            raise LoomError(f"'{name}' is read as elements of 8, 16 or 32 bits, not {element}")
        copies.check_region(self.executor, buffer, (x, y, w, h))
        result = np.zeros((h, w, count), element)
        copies.read(self.executor, buffer, (x, y, w, h), _unsigned(result), self.target.memory_bytes)
        return result

    def write_words(self, address: int, places: Array, words: npt.NDArray[np.uint16]) -> None:
        """Write the words [n, words] of PEs at places [n, (x, y)] to their memory, from a word address on.

        Those without a program are left out.
        """
        inside = self.class_of[places[:, 1], places[:, 0]] >= 0
        places, words = places[inside], words[inside]
        if not len(places):
            return
        (x, y), (right, bottom) = places.min(axis=0).tolist(), places.max(axis=0).tolist()
        shape = (bottom - y + 1, right - x + 1)
        at = (places[:, 1] - y, places[:, 0] - x)
        addresses = np.full(shape, -1, np.int64)
        addresses[at] = 2 * address
        values = np.zeros((*shape, words.shape[1]), np.uint16)
        values[at] = words
        self.executor.write((x, y, shape[1], shape[0]), addresses, values)

    def image(self, number: int) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.int32]]:
        """Return the memory in use of the units of a class, [units, words], and where they are, [units, (x, y)]."""
        places = np.argwhere(self.class_of == number)[:, ::-1].astype(np.int32)
        return self.executor.image(number), places

    @property
    def _everywhere(self) -> Region:
        return (0, 0, self.width, self.height)

    # Launches and streams

    def launch(self, name: str, arguments: Sequence[Any] = (), delay: int = 0) -> None:
        """Start an exported function on every PE that has it, `delay` cycles after the machine is idle next.

        Raises LoomError for an unknown function or arguments that do not fit its parameters.
        """
        function = self.function(name)
        launched = self.executor.is_launched(name)
        values: list[int | float] = []
        for kinds in function.signatures.values():
            if len(arguments) != len(kinds):
                raise LoomError(f"'{name}' takes {len(kinds)} arguments ({', '.join(kinds)}), not {len(arguments)}")
            if launched:
                raise LoomError(f"'{name}' has been launched and not run yet; run the machine before the next launch")
            values = [argument_of(name, kind, value) for kind, value in zip(kinds, arguments, strict=True)]
        self.executor.launch(name, values, delay)

    def send(self, color: str, x: int, y: int, w: int, h: int, words: Any) -> None:
        """Send words to the PEs of a region whose first PE is (x, y), [h, w, n], on a stream from the host.

        Integers and floats of 32 bits go as they are, n wavelets to each PE; they arrive in the order of the calls,
        while the machine runs. Raises LoomError for a color that is not a stream from the host, a region off the grid,
        values of another shape or width, and PEs that do not read the color.
        """
        sent = _stream(color, self._sent, "from the host")
        region = self._area(x, y, w, h)
        values = np.asarray(words)
        if values.dtype.itemsize != 4 or values.dtype.kind not in "uif":
            raise LoomError(f"the host sends words of 32 bits, not {values.dtype}; convert the array first")
        if values.ndim != 3 or values.shape[:2] != (h, w):
            raise LoomError(f"the words for {w} x {h} PEs have shape [{h}, {w}, n], not {list(values.shape)}")
        count = values.shape[2]
        if count == 0:
            return
        sent.check(region, count)
        first = sent.note(region, count, self.cycles)
        self.executor.send(color, region, np.ascontiguousarray(values).view(np.uint32), first)

    def sent(self, color: str) -> Array:
        """Return how many words the host has been given for each PE on a stream, [height, width].

        Raises LoomError for a color that is not a stream from the host.
        """
        return _stream(color, self._sent, "from the host").count.copy()

    def unsent(self, color: str) -> Array:
        """Return how many of these words the host still holds, since there is no room for them, [height, width]."""
        _stream(color, self.host_inputs, "from the host")
        return self.executor.unsent(color)

    def receive(self, color: str, x: int, y: int, w: int, h: int, n: int) -> Array:
        """Return the next n words that each PE of a region has sent on a stream to the host, uint32 [h, w, n].

        Raises LoomError for a color that is not a stream to the host or a region off the grid. Raises MissingWavelets,
        which says how many each PE still lacks, if there are not that many yet.
        """
        stream = _stream(color, self.host_outputs, "to the host")
        region = self._area(x, y, w, h)
        host_streams.check_arrived(stream, region, n, self.executor.arrived(color))
        return self.executor.take(color, region, n)

    def received(self, color: str) -> Array:
        """Return how many words of each PE wait to be received on a stream to the host, [height, width]."""
        _stream(color, self.host_outputs, "to the host")
        return self.executor.arrived(color)

    def _area(self, x: int, y: int, w: int, h: int) -> Region:
        if min(x, y) < 0 or min(w, h) < 1 or x + w > self.width or y + h > self.height:
            raise LoomError(
                f"the region of {w} x {h} PEs at ({x}, {y}) is not inside the grid of {self.width} x {self.height}"
            )
        return x, y, w, h

    # Running

    def run(
        self,
        step_limit: int | None = None,
        *,
        allow_pending: bool = False,
        until: Callable[[], bool] | None = None,
    ) -> None:
        """Run until nothing can happen any more, or `until` says that the host has what it waits for.

        `step_limit` bounds the steps of each PE, task starts and loop iterations, and the elements that an operation
        passes on.
        Raises LoomError when the limit is reached, for accesses out of range and the like, and Deadlock when units wait
        for what never comes: suspended tasks always, asynchronous operations with a completion task unless
        `allow_pending`. An interrupt from the keyboard gets a note of where the program was.
        """
        try:
            if self.executor.run(step_limit, self.watch, until):
                return
        except KeyboardInterrupt as interrupt:
            if self.watch is not None:
                interrupt.add_note(self.watch.interrupted())
            raise
        hang = self.explain(allow_pending=allow_pending)
        if hang is not None:
            raise hang
        self.executor.finish()

    def explain(self, *, allow_pending: bool, all_of_them: bool = False, begun: bool = False) -> Deadlock | None:
        """Return the deadlock of a machine at rest; see `deadlock.explain`."""
        return deadlock.explain(self, allow_pending=allow_pending, all_of_them=all_of_them, begun=begun)

    def clues(self, silent: Iterable[tuple[int, int]]) -> list[str]:
        """Return lines about a machine at rest of which the host waits for some PEs; see `deadlock.clues`."""
        return deadlock.clues(self, silent)

    def missing_calls(self, name: str, silent: Sequence[tuple[int, int]]) -> tuple[list[str], str | None]:
        """Return lines that say where PEs would call unblock_cmd_stream(); see `deadlock.missing_calls`."""
        return deadlock.missing_calls(self, name, silent)

    def unexplained(self) -> Hang:
        """Return the state of a machine at rest that has no deadlock of its own."""
        return deadlock.unexplained(self)

    @property
    def cycles(self) -> int:
        """Return when the last task and the last operation ended: an estimate."""
        return self.executor.cycles

    @property
    def clocks(self) -> npt.NDArray[np.int64]:
        """Return when each unit has ended its last task, [height, width]: an estimate."""
        return self.executor.clocks

    @property
    def log(self) -> list[tuple[int, int, int, str]]:
        """Return what the program has printed: (cycle, x, y, text), ordered by cycle, then by row and column."""
        return sorted(self.executor.printed, key=lambda entry: (entry[0], entry[2], entry[1]))

    @property
    def log_length(self) -> int:
        """Return how many entries the log has, which costs less than to ask for it."""
        return len(self.executor.printed)

    def statistics(self) -> dict[str, Any]:
        """Return what the run has done so far."""
        counts = self.executor.counts()
        costs = self.executor.costs()
        return {
            "target": self.target.name,
            "grid": [self.width, self.height],
            "units": int((self.class_of >= 0).sum()),
            "cycles_estimated": self.cycles,
            "wavelets_sent": counts.wavelets,
            "task_runs": counts.task_runs,
            "steps": counts.steps,
            **({} if costs is None else {"costs": costs}),
        }

    def measured(self) -> Statistics | None:
        """Return what units have done with their cycles, and wavelets, so far: also after an error or a hang.

        None if that was not asked for, and for a program of a chip.
        """
        return self.executor.measured()

    def write_trace(self) -> None:
        """Write to the stream what has been traced and not been written yet: that of a run which stopped early, or the
        last records."""
        self.executor.write_trace()

    def traced(self) -> tuple[Traced, bytes] | None:
        """Return the records of the trace that are kept, in order, and their lines; None for a program of a chip.

        With `trace_last` these are the last ones; else what has been traced since the last call, or was written.
        """
        return self.executor.traced()

    # What is told to the user

    def warn(self, where: str | None, message: str) -> None:
        """Warn of something that the machine permits, once for each place in the program."""
        self._warnings.warn(where, message)

    def unread(self) -> list[Unread]:
        """Return the wavelets sent that nothing has read so far, by color and PE; `str` puts one in words."""
        return self.executor.unread()

    def _unreceived(self) -> list[Unread]:
        """Return the wavelets that PEs have sent to the host and that it has not received."""
        found: list[Unread] = []
        for color, stream in self.host_outputs.items():
            counts = self.executor.arrived(color)
            found += [to_host(stream.label, (x, y), int(counts[y, x])) for y, x in np.argwhere(counts).tolist()]
        return found

    def starved(self) -> tuple[Starved, ...]:
        """Return the PEs that wait for wavelets of the host, by color and rows."""
        found = [
            Starved(color, (x, y), int(self._sent[color].count[y, x]), missing)
            for color, (x, y), missing in self.executor.lacking()
        ]
        return tuple(sorted(found, key=lambda one: (one.color, one.place[::-1])))

    def warn_of_unread(self, when: str, *, at_end: bool) -> None:
        """Warn of wavelets that nothing has read, a line for each color, and not again of the same.

        `when` is "at stop()". Before the end, wavelets that the host has sent may well wait to be read, and those that
        PEs have sent to it to be received: of those nothing is said.
        """
        found = self.unread()
        if at_end:
            found += self._unreceived()
        else:
            streams = {stream.label for stream in self.host_inputs.values()}
            found = [left for left in found if left.label not in streams]
        fresh = [left for left in found if self._unread_reported.get((left.label, left.place, left.queue)) != left[:3]]
        self.note_reported(fresh)
        for sentence in summary(fresh, when):
            self.warn(None, sentence)

    def note_reported(self, found: Iterable[Unread]) -> None:
        """Note that some unread wavelets have been reported to the user."""
        self._unread_reported |= {(left.label, left.place, left.queue): left[:3] for left in found}

    @property
    def chip(self) -> ChipExecutor:
        """The executor of a program of cores, which has more to show. Raises LoomError for another one."""
        if not hasattr(self.executor, "printed_tiles"):
            raise LoomError(f"the executor '{self.executor_name}' does not run programs of cores of a chip")
        return cast("ChipExecutor", self.executor)


SymbolT = TypeVar("SymbolT", Buffer, Function)


def _symbol(symbols: Mapping[str, SymbolT], name: str, kind: str) -> SymbolT:
    found = symbols.get(name)
    if found is None:
        known = ", ".join(sorted(symbols)) or "none"
        raise LoomError(f"the program exports no {kind} '{name}'; it exports: {known}")
    return found


def _stream(color: str, streams: Mapping[str, StreamT], way: str) -> StreamT:
    stream = streams.get(color)
    if stream is None:
        known = ", ".join(f"@{name}" for name in streams) or "none"
        raise LoomError(f"color @{color} is not a stream {way}; the streams {way} are: {known}")
    return stream


def _broadcasts(shape: Sequence[int], wanted: Sequence[int]) -> bool:
    """Return True if an array of `shape` broadcasts to the `wanted` shape."""
    return len(shape) <= len(wanted) and all(
        have in (1, want) for have, want in zip(reversed(shape), reversed(wanted), strict=False)
    )


def _unsigned(values: Array) -> Array:
    """Return the bits of an array, as a view."""
    return values.view(f"u{values.dtype.itemsize}")


def argument_of(name: str, kind: str, value: Any) -> int | float:
    """Return a host's number as one that fits a parameter; a float is not rounded yet."""
    try:
        if kind in FLOATS:
            return float(value)
        number = int(value)
        if number != value:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise LoomError(f"argument {value!r} of '{name}' is not of type {kind}") from None
    if not integers.fits(number, integers.INDEX_BITS if kind == "index" else int(kind[1:])):
        raise LoomError(f"argument {number} of '{name}' does not fit {kind}")
    return number
