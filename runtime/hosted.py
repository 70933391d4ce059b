"""An executor of tables: joins an engine with what a host asks of it, and words what the engine leaves as records."""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..diagnostics.errors import LoomError
from ..operations import integers, nans
from ..operations.prices import Prices
from ..operations.print_format import shown, split_format
from ..operations.scalar_types import numpy_type
from .arrival_order import undecided_orders
from .class_memory import ClassMemory
from .distinct import distinct
from .engine import BUDGET, CALLS, ERROR, Engine
from .executor import Buffer, Clue, Color, Counts, Function, HostStream, Lacking, Outline, Place, UnitClass
from .fabric.connect import fabric_of
from .fabric.model import NOWHERE, Fabric
from .fabric.model import HostStream as Stream
from .fabric.wavelet_types import mixed_floats
from .findings import FINDING, finding_of
from .places import Array, Region
from .reports.rest import NOTHING_LEFT
from .reports.sentences import deliver
from .reports.starts import Line, lost_activations, missing_calls
from .reports.unread import unread
from .reports.waits import lacking, waits
from .tables import format as tables_format
from .tables.format import NONE, Tables
from .tables.instructions import BITS, FLOATS, KINDS
from .trace_lines import MAX_HELD, Lines, Traced, in_order
from .unread_wavelets import Unread
from .wait_graph import Wait
from .warnings import Warnings
from .watch import MIN_STEPS, Watch

if TYPE_CHECKING:
    from .statistics.report import Statistics

SLICE = 0.05
"""Seconds, about, after which an engine lets its host look at the keyboard."""

MAX_STEPS = (1 << 63) - 1


def host(
    program: object,
    warnings: Warnings,
    make: Callable[[Fabric], Engine],
    prices: Prices,
    trace: IO[bytes] | None = None,
    *,
    are_last: bool = False,
) -> HostedEngine:
    """Return an executor of tables, with the engine that `make` returns for their fabric, and prices of its target;
    `trace` gets its trace; `are_last` says that this is of the last records.

    Raises LoomError for tables that cannot be loaded.
    """
    assert isinstance(program, Tables), "checked by `executors.load`"
    with _enough_memory():
        fabric = fabric_of(program, prices)
        return HostedEngine(fabric, make(fabric), warnings, Lines(trace, fabric, are_last=are_last))


@contextmanager
def _enough_memory() -> Generator[None]:
    """Raise LoomError where the host has not enough memory."""
    try:
        yield
    except MemoryError:
        raise LoomError(
            "the program needs more memory than there is; use a smaller grid, or send less at a time"
        ) from None


class HostedEngine:
    """Runs tables with an engine; `Executor` says what `Machine` asks of it."""

    def __init__(self, fabric: Fabric, engine: Engine, warnings: Warnings, lines: Lines | None = None) -> None:
        self.tables = fabric.tables
        self.fabric = fabric
        self.engine = engine
        self._memory = ClassMemory(fabric, engine.memory)
        self._warnings = warnings
        self._lines = Lines(None, fabric) if lines is None else lines
        self._worded = 0
        self._functions: dict[str, Sequence[tuple[int, tuple[str, ...]]]] = {}
        self._slice = MIN_STEPS
        self._failed_at = MAX_STEPS
        """The cycle of the error that has ended the run: how far PEs have gone beyond it is left open."""
        self._said: set[tuple[int, int, tuple[int, ...]]] = set()
        self._word(fabric.findings)
        self.outline = outline(fabric)
        self._word(fabric.findings)
        self._word(np.array(mixed_floats(fabric), FINDING))
        if engine.unwritten is not None:
            self._word(np.array(undecided_orders(fabric), FINDING))

    # Memory

    def read(self, region: Region, address: int | Array, values: Array) -> None:
        """Read elements of the memory of the units of a region into `values`; see `Executor.read`."""
        self._memory.read(region, address, values)

    def write(self, region: Region, address: int | Array, values: Array) -> None:
        """Write elements to the memory of the units of a region; see `Executor.write`."""
        self._memory.write(region, address, values)
        if self.engine.unwritten is not None:
            self.engine.unwritten.write(region, address, values)

    def image(self, number: int) -> npt.NDArray[np.uint16]:
        """Return the memory in use of the units of a class, [units by rows of the grid, words]."""
        words = self.outline.classes[number].words
        return np.ascontiguousarray(self.engine.memory[number][:, : 2 * words]).view(np.uint16)

    # Launches and streams

    def launch(self, name: str, arguments: Sequence[int | float], delay: int = 0) -> None:
        """Activate an exported function on all units that have it, `delay` cycles from now."""
        now = self.cycles + delay
        for task, kinds in self._launchers(name):
            values = [as_register(kind, value) for kind, value in zip(kinds, arguments, strict=True)]
            self.engine.launch(task, values, now)

    def is_launched(self, name: str) -> bool:
        """Return True if an exported function has been launched and not been started yet on some unit."""
        return any(self.engine.active(task) for task, _ in self._launchers(name))

    def _launchers(self, name: str) -> Sequence[tuple[int, tuple[str, ...]]]:
        """Return the launch tasks, by their rows, of an exported function, and the kinds of their arguments."""
        if name not in self._functions:
            self._functions[name] = [
                (int(row["row"]), parameters_of(self.tables, int(row["row"])))
                for row in self.tables["exports"]
                if row["type"] == tables_format.EXPORT_FUNCTION and self.tables.strings[row["name"]] == name
            ]
        return self._functions[name]

    def send(self, color: str, region: Region, words: Array, first: Array) -> None:
        """Send words from the host to the queues of a color."""
        _, _, w, h = region
        pes = _pes(region, self.fabric.width)
        payload, times = words.reshape(len(pes), -1), np.broadcast_to(first, (h, w)).ravel()
        for queues in self._stream(color, self.fabric.host_inputs).queues:
            served = queues[pes] != NOWHERE
            if served.any():
                self.engine.send(pes[served], queues[pes][served], payload[served], times[served])

    def unsent(self, color: str) -> Array:
        """Return how many words of a color the host still holds for each unit."""
        found = np.zeros(len(self.fabric.pe_class), np.int64)
        for queues in self._stream(color, self.fabric.host_inputs).queues:
            for queue in distinct(queues[queues != NOWHERE]).tolist():
                mine = queues == queue
                unsent = self.engine.unsent(int(self.fabric.queue_class[queue]), queue)[self.fabric.pe_unit[mine]]
                found[mine] = np.maximum(found[mine], unsent)  # the slowest of several queues
        return self._on_grid(found)

    def arrived(self, color: str) -> Array:
        """Return how many words of each unit wait for the host."""
        (sinks,) = self._stream(color, self.fabric.host_outputs).queues
        found = np.zeros(len(sinks), np.int64)
        for sink in distinct(sinks[sinks != NOWHERE]).tolist():
            mine = sinks == sink
            found[mine] = self._backlog(sink)[self.fabric.pe_unit[mine]]
        return self._on_grid(found)

    def take(self, color: str, region: Region, count: int) -> Array:
        """Return the next words of a stream to the host, uint32 [h, w, count]."""
        _, _, w, h = region
        (sinks,) = self._stream(color, self.fabric.host_outputs).queues
        result = np.zeros((h, w, count), np.uint32)
        pes = _pes(region, self.fabric.width)
        served = sinks[pes] != NOWHERE
        if count and served.any():
            result.reshape(len(pes), count)[served] = self.engine.take(pes[served], sinks[pes][served], count)
        return result

    def _stream(self, color: str, streams: Sequence[Stream]) -> Stream:
        return next(stream for stream in streams if self._name(self.tables["colors"]["name"][stream.color]) == color)

    def _backlog(self, queue: int) -> Array:
        return self.engine.backlog(int(self.fabric.queue_class[queue]), queue)

    # Running

    def run(self, step_limit: int | None, watch: Watch | None, until: Callable[[], bool] | None) -> bool:
        """Run until nothing can happen any more, or `until` holds."""
        is_early = False
        try:
            is_early = self._run(step_limit, watch, until)
            return is_early
        except KeyboardInterrupt:
            is_early = True  # lines take long to make: who is interrupted may ask for them
            raise
        finally:
            # Elsewhere something may still happen that comes before what has been traced.
            if not is_early and not self._lines.are_last:
                self.write_trace()

    def write_trace(self) -> None:
        """Write what has been traced and not been written; of a trace of the last records, those that are kept."""
        if self._lines.stream is not None:
            self._lines.write(self._traced())

    def traced(self) -> tuple[Traced, bytes]:
        """Return the records of the trace that are kept, and their lines."""
        found = in_order(self._traced())
        return found, self._lines.worded(found)

    def _traced(self) -> Traced:
        found = self.engine.traced()
        return found._replace(records=found.records[found.records["last"] <= self._failed_at])

    def _run(self, step_limit: int | None, watch: Watch | None, until: Callable[[], bool] | None) -> bool:
        with _enough_memory():
            self.engine.limit(step_limit)
        if until is not None and until():
            return True
        next_look = MIN_STEPS
        while True:
            before = self.engine.totals().steps
            begin = monotonic()
            wanted = self._slice if watch is None else min(self._slice, next_look)
            with _enough_memory():
                outcome = self.engine.run(before + wanted)
            if self.engine.held > MAX_HELD and not self._lines.are_last:
                self.write_trace()
            warnings = self.engine.warnings()
            self._word(warnings[self._worded :])
            self._worded = len(warnings)
            if outcome == ERROR:
                finding = finding_of(self.engine.error())
                self._failed_at = finding.cycle
                deliver(self.fabric, finding, self._warnings)
            if outcome not in (BUDGET, CALLS):
                return until is not None and until()
            taken = self.engine.totals().steps - before
            if outcome == BUDGET:
                self._slice = max(MIN_STEPS, self._slice * 2 if monotonic() - begin < SLICE else self._slice // 2)
            if watch is not None:
                next_look -= taken or MIN_STEPS  # calls take none
                if next_look <= 0:
                    next_look = self._look(watch, taken)
            if until is not None and until():
                return True

    def _look(self, watch: Watch, steps: int) -> int:
        place = self.engine.place()
        return watch.look(self._task(place.task), self._name(place.where) or None, self._pe(place.pe), steps)

    def _word(self, findings: Array) -> None:
        for record in findings:
            finding = finding_of(record)
            # What has no source place is reported once for each message, not once for each PE.
            said = finding.code, finding.task, finding.values
            if not finding.where:
                if said in self._said:
                    continue
                self._said.add(said)
            deliver(self.fabric, finding, self._warnings)

    def finish(self) -> None:
        """Do nothing: a wafer has no channels to balance."""

    @property
    def clocks(self) -> npt.NDArray[np.int64]:
        """When each unit has ended its last task."""
        return self.engine.clocks

    @property
    def cycles(self) -> int:
        """When the last task and the last operation ended."""
        return self.engine.totals().cycles

    @property
    def reached(self) -> int:
        """The latest cycle that anything has reached, tasks that wait included."""
        return self.engine.reached()

    def counts(self) -> Counts:
        """Return what has been done so far."""
        totals = self.engine.totals()
        return Counts(totals.wavelets, totals.task_runs, totals.steps)

    def costs(self) -> Mapping[str, Any] | None:
        """Return how often each price has been charged, if that is counted."""
        counted = self.engine.counted
        return None if counted is None else counted.classes(self.engine.totals().task_runs)

    def measured(self) -> Statistics | None:
        """Return what PEs have done with their cycles, and wavelets, if that has been asked for."""
        counts = self.engine.observed()
        if counts is None:
            return None
        from .statistics.report import statistics_of  # most runs do without

        return statistics_of(self.fabric, counts, self.engine.backlog)

    @property
    def printed(self) -> Sequence[tuple[int, int, int, str]]:
        """What the program has printed, in any order."""
        found: list[tuple[int, int, int, str]] = []
        for each in self.engine.printed():
            if each.cycle > self._failed_at:
                continue
            row = self.tables["prints"][each.row]
            texts, conversions = split_format(self._name(int(row["format"])))
            first = int(row["kinds"])
            kinds: list[int] = self.tables["kinds"][first : first + int(row["arguments"])].tolist()
            text = texts[0]
            for conversion, number, value, after in zip(conversions, kinds, each.values, texts[1:], strict=True):
                kind = KINDS[number]
                text += shown(conversion, kind, from_register(kind, value)) + after
            y, x = divmod(each.pe, self.fabric.width)
            found.append((each.cycle, x, y, text))
        return found

    # At rest

    def waits(self, *, allow_pending: bool, all_of_them: bool) -> list[Wait]:
        """Return the waits that never end."""
        rest = self.engine.rest()
        if rest is NOTHING_LEFT:
            return []
        return waits(self.fabric, rest, allow_pending=allow_pending, all_of_them=all_of_them)

    def unread(self) -> list[Unread]:
        """Return the wavelets that have been sent and not been read, by color and unit."""
        rest = self.engine.rest()
        return [] if rest is NOTHING_LEFT else unread(self.fabric, rest)

    def lost_activations(self) -> list[Clue]:
        """Return what is said of tasks that were activated while they were active."""
        return [self._clue(line) for line in lost_activations(self.fabric, self.engine.lost_activations())]

    def missing_calls(self, name: str, places: Array) -> list[Clue]:
        """Return where units would call unblock_cmd_stream(), and what starts the tasks that do."""
        pes = places[:, 1] * self.fabric.width + places[:, 0]
        launched = [task for task, _ in self._launchers(name)]
        return [self._clue(line) for line in missing_calls(self.fabric, pes, launched)]

    def _clue(self, line: Line) -> Clue:
        places = np.stack([line.pes % self.fabric.width, line.pes // self.fabric.width], 1)
        return Clue(line.cls, places, line.text, line.where)

    def lacking(self) -> list[Lacking]:
        """Return the units that wait for wavelets of the host."""
        return lacking(self.fabric, self.engine.rest())

    # Names

    def _name(self, row: int) -> str:
        return self.tables.strings[row]

    def _task(self, row: int) -> str:
        return self._name(self.tables["tasks"]["name"][row])

    def _pe(self, number: int) -> str:
        y, x = divmod(number, self.fabric.width)
        return f"PE ({x}, {y})"

    def _on_grid(self, values: Array) -> Array:
        return values.reshape(self.fabric.height, self.fabric.width)


def _pes(region: Region, width: int) -> Array:
    """Return the numbers of the PEs of a region, by rows, on a grid of a width."""
    x, y, w, h = region
    return (np.arange(y, y + h)[:, None] * width + np.arange(x, x + w)[None, :]).ravel()


# Scalars


def as_register(kind: str, value: float) -> int:
    """Return a number of the host as a register holds it."""
    if kind == "f64":
        return int(np.float64(value).view(np.int64))
    if kind == "f32":
        return int(np.float32(value).view(np.uint32))
    if kind == "f16":
        return int(np.float16(value).view(np.uint16))
    if kind == "bf16":
        number = float(value)
        rounded = number if number != number else float(np.array(number, numpy_type("bf16")))
        return integers.unsigned(nans.bf16_bits(rounded), 16)
    return integers.wrapper(BITS[kind])(int(value))


def from_register(kind: str, value: int) -> Any:
    """Return the number that a register holds."""
    if kind == "f64":
        return struct.unpack("<d", struct.pack("<q", integers.signed(value, 64)))[0]
    if kind == "f32":
        return struct.unpack("<f", struct.pack("<I", value & 0xFFFFFFFF))[0]
    if kind in FLOATS:
        return float(np.array([value & 0xFFFF], np.uint16).view(numpy_type(kind))[0])
    return value


# What hosts know of a program


def parameters_of(tables: Tables, task: int) -> tuple[str, ...]:
    """Return the kinds of the arguments of a task."""
    use = tables["uses"][tables["tasks"]["use"][task]]
    body = tables["bodies"][use["body"]]
    first = int(body["kinds"])
    kinds: list[int] = tables["kinds"][first : first + int(body["arguments"])].tolist()
    return tuple(KINDS[number] for number in kinds)


def outline(fabric: Fabric) -> Outline:
    """Return what hosts may know of a program."""
    tables, shape = fabric.tables, (fabric.height, fabric.width)
    names = tables.strings
    colors: list[tuple[str, Color]] = [
        (names[name], Color(number, names[label])) for name, label, _, number, _ in tables["colors"].tolist()
    ]
    buffers: dict[str, Buffer] = {}
    functions: dict[str, Function] = {}
    exports: Any = tables["exports"]
    for row in exports:
        name, owner = names[int(row["name"])], int(row["owner"])
        if row["type"] == tables_format.EXPORT_FUNCTION:
            known = functions.get(name)
            signatures = {} if known is None else dict(known.signatures)
            functions[name] = Function(name, {**signatures, owner: parameters_of(tables, int(row["row"]))})
        else:
            buffers[name] = _buffer(tables, row, buffers.get(name))
    return Outline(
        fabric.width,
        fabric.height,
        fabric.target.name,
        tuple(UnitClass(names[name], words) for name, words in tables["classes"][["name", "words"]].tolist()),
        fabric.pe_class.reshape(shape),
        dict(colors),
        buffers,
        functions,
        {colors[each.color][0]: _stream(colors[each.color][1], each, shape) for each in fabric.host_inputs},
        {
            colors[each.color][0]: _stream(colors[each.color][1], each, shape, to_host=True)
            for each in fabric.host_outputs
        },
    )


def _buffer(tables: Tables, row: Any, known: Buffer | None) -> Buffer:
    """Return an exported buffer, with the place of one class more."""
    flags = int(row["flags"])
    dtype = numpy_type(KINDS[int(row["kind"])])
    if flags & tables_format.EXPORT_UNSIGNED and dtype.kind == "i":
        dtype = np.dtype(f"u{dtype.itemsize}")
    first = int(row["dims"])
    dims: list[int] = tables["dims"][first : first + int(row["rank"])].tolist()
    address = 2 * int(tables["buffers"]["address"][int(row["row"])])
    place = Place(address, bool(flags & tables_format.EXPORT_POINTS_TO))
    places = {} if known is None else dict(known.places)
    return Buffer(
        tables.strings[int(row["name"])], dtype, tuple(-1 if extent == NONE else extent for extent in dims),
        bool(flags & tables_format.EXPORT_READ_ONLY), {**places, int(row["owner"]): place},
    )  # fmt: skip


def _stream(color: Color, stream: Stream, shape: tuple[int, int], *, to_host: bool = False) -> HostStream:
    connected = stream.connected.reshape(shape).astype(np.bool_)
    reads = connected if to_host else (stream.queues != NOWHERE).any(axis=0).reshape(shape)
    return HostStream(color.label, connected, reads)
