"""Core: a machine in C, made from checked tables and a fabric. It words nothing: what it leaves are records.

Memory of PEs is an array of each class that C and Python both see; everything else is the core's own.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ...operations.dsd_table import OPERATIONS
from ...operations.float_exceptions import raises
from ...targets.model import Target, Timing
from ..counted import Counted
from ..engine import NO_MEMORY, Position, Printed, Totals
from ..fabric.command_words import command_words
from ..fabric.model import Fabric, SwitchedColor
from ..fabric.priorities import priority_levels
from ..fabric.stack import bytes_of_calls, stack_rooms
from ..findings import FINDING, FirstWarnings
from ..reports.rest import AT_ROUTER, MESSAGE, NOTHING_LEFT, QUEUED, TASK, WAIT, WAVELETS, Rest
from ..statistics.counts import Counts
from ..tables.format import COST_CLASSES, SECTIONS, Tables
from ..tables.instructions import COSTS, DSD_ROWS, KIND, SLOTS
from ..trace_lines import RECORD, Traced, Tracing
from ..unwritten import Unwritten
from . import library

Array = npt.NDArray[Any]

SECTIONS_READ = (
    "classes", "buffers", "columns", "column_values", "code", "code_where", "bodies", "kinds", "slot_kinds", "uses",
    "rows", "numbers", "costs", "accesses", "access_dims", "descriptors", "operations", "register_loads",
    "register_reads", "messages", "prints", "starts", "settings", "blocked_microthreads", "tasks", "queues", "fifos",
    "colors", "networks", "directives",
)  # fmt: skip
"""Sections in the order of SECTIONS in tables.h."""

EXCEPTIONS = {
    "arith.addf": 1, "add": 1, "arith.subf": 2, "subtract": 2, "arith.mulf": 3, "multiply": 3, "multiply_add": 4,
    "arith.divf": 5, "math.powf": 6, "math.log": 7, "math.log2": 7, "math.log10": 7, "math.rsqrt": 7, "math.sqrt": 8,
    "scale": 9,
}  # fmt: skip
"""Operations with floating point exceptions of their own, by their numbers in inputs.h."""

CONVERTS, OTHERWISE = 10, 11
"""Those of conversions, and of all others."""

MAX_PLACES = 0xFFFE
"""Tasks of a class; queues and FIFOs of a class, and streams of it to the host: their places are words."""


MAX_USERS = 1 << 32
"""Operations by tasks of a class: which of them uses a queue is a number of 32 bits."""


PARALLEL_FROM = 128
"""PEs to visit in each of several partitions, from which it is worth while to wake up other threads."""


class _Section(ctypes.Structure):
    _fields_ = [("rows", ctypes.c_void_p), ("count", ctypes.c_uint64)]


class _Tables(ctypes.Structure):
    _fields_ = [(name, _Section) for name in SECTIONS_READ]


_TIMING = (
    "hop", "turn", "inject", "forward", "ramp", "task_start", "memory_setup", "send_setup", "receive_setup",
    "register_setup", "async_issue", "read_words", "reduction",
)  # fmt: skip


class _Timing(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in _TIMING]


_POINTERS = (
    "tables", "class_first", "unit_pes", "words", "queue_class", "queue_first", "colors", "flags", "way_lists",
    "colorless", "room", "senders", "list_first", "ways", "memory", "memory_bytes", "prices", "ticked",
    "issued", "statistics", "trace", "dsd_rows", "traps", "switched", "network", "network_readers",
    "stack_rooms", "call_bytes", "levels", "main_levels", "priority_levels", "blockable", "command_words",
    "unwritten",
)  # fmt: skip


_REGISTERS_BEFORE = ("start", "end", "colors", "colors_count", "switches")
_REGISTERS_BEHIND = (
    "position_count", "teardown_pending", "teardown_task", "queues", "input_queues", "output_queues", "flush_poll",
    "filters", "filter_count", "settings", "queue_priorities", "queue_priority_count", "clock",
)  # fmt: skip


class _Registers(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint32) for name in _REGISTERS_BEFORE),
        ("positions", ctypes.c_uint32 * 3),
        *((name, ctypes.c_uint32) for name in _REGISTERS_BEHIND),
    ]


class _Input(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_void_p) for name in _POINTERS),
        ("timing", _Timing),
        ("registers", _Registers),
        *(
            (name, ctypes.c_uint32)
            for name in (
                "width",
                "height",
                "queue_count",
                "strings",
                "switched_count",
                "microthreads",
                "allocations",
                "partitions",
                "threads",
                "parallel_from",
            )
        ),
    ]


class _Statistics(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("pes", "cells", "lines", "routers", "messages", "first")]


_ROUTERS = (
    "receive", "transmit", "valid", "ring", "pop_mode", "current", "senders", "crowded", "swap", "filter_kind",
    "filter_flags", "filter_numbers", "held", "readers", "sets", "teardown",
)  # fmt: skip
"""Arrays of a color whose wavelets go from router to router, as `SwitchedColor` has them; NULL for empty ones."""


class _Switched(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_void_p) for name in _ROUTERS),
        ("layers", ctypes.c_uint64),
        ("color", ctypes.c_uint64),
        ("changes", ctypes.c_uint64),
        ("other", ctypes.c_int64),
    ]


def missing_features(tables: Tables, fabric: Fabric) -> list[str]:
    """Return what a program needs and the core does not have, in words; empty if it can run it."""
    found: list[str] = []
    counts = tables["classes"]["task_count"]
    if counts.max(initial=0) > MAX_PLACES:
        found.append(f"more than {MAX_PLACES} tasks of a PE")
    if len(tables["operations"]) * (int(counts.max(initial=0)) + 1) > MAX_USERS:
        found.append(f"more than {MAX_USERS} pairs of an operation and a task")
    places = np.bincount(fabric.queue_class[fabric.queue_class >= 0])
    if places.max(initial=0) > MAX_PLACES:
        found.append(f"more than {MAX_PLACES} queues of a PE")
    return found


def element_cycles(timing: Timing, name: str) -> Fraction:
    """Return the cycles of an element of an operation, but for what strides add: as of stride 1."""
    row = OPERATIONS[name]
    return timing.element_cycles(row.function, row.operand_bits, (), name)


def exceptions_of(name: str, operands: int) -> int:
    """Return how the core computes the floating point exceptions of an operation: 0 if it has none."""
    if not raises(name):
        return 0
    if name in EXCEPTIONS:
        return EXCEPTIONS[name]
    return CONVERTS if operands == 1 and (name.startswith("arith.") or name == "convert") else OTHERWISE


def trap_rows(tables: Tables) -> Array:
    """Return the scalar operations whose exceptions are looked for, as inputs.h has them."""
    rows = np.zeros((len(tables["traps"]), 9), np.uint16)
    for number, trap in enumerate(tables["traps"]):
        name, kind, count = tables.strings[int(trap["name"])], int(trap["kind"]), int(trap["count"])
        source = KIND["f32"] if name == "arith.truncf" else kind
        is_integer = name in ("arith.sitofp", "arith.uitofp") or name.startswith("flow.cb16")
        rows[number] = (exceptions_of(name, count), source, kind, is_integer, count, *trap["operands"], trap["result"])
    return rows


def dsd_rows(timing: Timing) -> Array:
    """Return what the core needs of each DSD operation, as inputs.h says."""
    rows = np.zeros((len(DSD_ROWS), 10), np.uint32)
    for number, name in enumerate(DSD_ROWS):
        row, cycles = OPERATIONS[name], element_cycles(timing, name)
        rows[number, :5] = (
            len(row.sources), row.function == "move", row.operand_bits[0] // 16, cycles.numerator, cycles.denominator,
        )  # fmt: skip
        kinds = (row.destination, *row.sources)
        rows[number, 5 : 5 + len(kinds)] = [KIND[kind] for kind in kinds]
        rows[number, 9] = exceptions_of(row.function, len(row.sources))
    return rows


class Core:
    """A machine that is loaded, its memory as the tables say. `tracing` says what to trace; `counts` asks for what it
    is charged for, `statistics` for what its PEs do with their cycles, and `check` for races.

    The grid is divided into `threads` partitions. They run in parallel, on no more threads than there are cores, while
    at least two of them have `parallel_from` PEs to visit. Without enough memory, making and running it raise
    MemoryError. Tests choose the allocation that fails, from 1 on.
    """

    def __init__(
        self,
        tables: Tables,
        fabric: Fabric,
        tracing: Tracing | None = None,
        *,
        counts: bool = False,
        threads: int = 1,
        parallel_from: int = PARALLEL_FROM,
        statistics: bool = False,
        check: bool = False,
        failing_allocation: int = 0,
    ):
        self.tables = tables
        self.fabric = fabric
        if statistics or tracing is not None:
            threads = 1  # what is noted has one order, and one place
        self._library = _declared(library.load())
        self.width, self.height = fabric.width, fabric.height
        self.memory: Sequence[Array] = initial_memory(tables, fabric)
        """Bytes of the PEs of each class, by rows of the grid."""
        self._kept: list[Array] = []
        self.counted = Counted(tables) if counts else None
        given = self._input(fabric.target)
        if self.counted is not None:
            given.ticked = self.counted.ticked.ctypes.data
            given.issued = self.counted.issued.ctypes.data
        self._tracing = tracing
        needed = statistics or (tracing is not None and tracing.needs_statistics)
        self._statistics = Counts.of(fabric) if needed else None
        if self._statistics is not None:
            self._shared = self._share(self._statistics)
            given.statistics = ctypes.addressof(self._shared)
        if tracing is not None:
            self._asked = np.array([tracing.events, tracing.last or 0], np.uint64)
            given.trace = self._asked.ctypes.data
        given.allocations = failing_allocation
        given.partitions = threads
        given.threads = min(threads, cores())
        given.parallel_from = parallel_from
        self.unwritten = Unwritten(fabric) if check else None
        if self.unwritten is not None:
            given.unwritten = self._keep(_unwritten_rows(self.unwritten), np.dtype("<u8")).ctypes.data
        self._warnings = FirstWarnings()
        self._handle = self._library.core_create(ctypes.byref(given))
        if self._handle is None:
            raise MemoryError

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle:
            self._library.core_destroy(handle)
            self._handle = None

    def _input(self, target: Target) -> _Input:
        fabric, timing = self.fabric, target.timing
        sections = _Tables()
        for name in SECTIONS_READ:
            rows = self._keep(self.tables[name], SECTIONS[name])
            setattr(sections, name, _Section(rows.ctypes.data, len(rows)))
        self._sections = sections
        result = _Input(tables=ctypes.addressof(sections))
        for name, dtype in (
            ("class_first", "<i8"), ("unit_pes", "<i4"), ("words", "<i8"), ("queue_class", "<i4"),
            ("queue_first", "<i8"), ("colors", "<i2"), ("flags", "u1"), ("way_lists", "<u4"), ("colorless", "u1"),
            ("room", "<i8"), ("senders", "<i4"), ("list_first", "<u4"), ("ways", fabric.ways.dtype),
            ("network", "<i4"), ("network_readers", "<i4"),
        ):  # fmt: skip
            setattr(result, name, self._keep(getattr(fabric, name), np.dtype(dtype)).ctypes.data)
        memory = np.array([array.ctypes.data for array in self.memory], np.uint64)
        result.memory = self._keep(memory, memory.dtype).ctypes.data
        lengths = np.array([array.shape[1] for array in self.memory], np.uint64)
        result.memory_bytes = self._keep(lengths, lengths.dtype).ctypes.data
        prices = np.zeros(COST_CLASSES, np.int64)
        prices[: len(COSTS)] = [getattr(timing, name) for name in COSTS]
        result.prices = self._keep(prices, prices.dtype).ctypes.data
        result.stack_rooms = self._keep(stack_rooms(self.tables, target), np.dtype("<i8")).ctypes.data
        result.call_bytes = self._keep(bytes_of_calls(self.tables, target), np.dtype("<i8")).ctypes.data
        result.levels = self._keep(fabric.levels, np.dtype("u1")).ctypes.data
        result.main_levels = self._keep(fabric.main_levels, np.dtype("u1")).ctypes.data
        levels = np.array(priority_levels(target), np.uint8)
        result.priority_levels = self._keep(levels, levels.dtype).ctypes.data
        result.blockable = self._keep(fabric.blockable, np.dtype("<u4")).ctypes.data
        result.command_words = self._keep(command_words(self.tables), np.dtype("<i8")).ctypes.data
        rows = dsd_rows(timing)
        result.dsd_rows = self._keep(rows, rows.dtype).ctypes.data
        self._switched = (_Switched * len(fabric.switched))(*map(self._routers, fabric.switched))
        result.switched, result.switched_count = ctypes.addressof(self._switched), len(fabric.switched)
        traps = trap_rows(self.tables)
        result.traps = self._keep(traps, traps.dtype).ctypes.data
        result.timing = _Timing(*(getattr(timing, name) for name in _TIMING))
        registers = target.registers
        positions = (ctypes.c_uint32 * 3)(*registers.positions)
        result.registers = _Registers(
            registers.addresses.start, registers.addresses.stop, registers.colors, target.routable_colors,
            registers.switches, positions, len(registers.positions), registers.teardown_pending, target.teardown_task,
            registers.queues, target.input_queues, target.output_queues, target.flush_poll,
            registers.filters, target.filters, registers.settings,
            registers.queue_priorities.start, len(registers.queue_priorities), registers.clock,
        )  # fmt: skip
        result.width, result.height = self.width, self.height
        result.queue_count = len(fabric.queue_class)
        result.strings = len(self.tables.strings)
        result.microthreads = target.microthreads
        return result

    def _share(self, counts: Counts) -> _Statistics:
        """Return counters as C sees them."""
        arrays = (counts.pes, counts.cells, counts.lines, counts.routers, counts.messages, counts.layout.first)
        return _Statistics(*(array.ctypes.data for array in arrays))

    def _routers(self, color: SwitchedColor) -> _Switched:
        types = {"held": "<u2", "readers": "<i4", "filter_numbers": "<i4"}
        kept = (self._keep(getattr(color, name), np.dtype(types.get(name, "u1"))) for name in _ROUTERS)
        pointers = dict(zip(_ROUTERS, (array.ctypes.data if array.size else None for array in kept), strict=True))
        return _Switched(
            **pointers, layers=len(color.readers), color=color.color, changes=color.changes, other=color.other
        )

    def _keep(self, array: Array, dtype: np.dtype[Any]) -> Array:
        """Return an array as C sees it, which lives as long as the core."""
        kept = np.ascontiguousarray(array, dtype)
        self._kept.append(kept)
        return kept

    # Running

    def run(self, steps: int) -> int:
        """Run until `steps` steps have been taken in all since the program was loaded, or it ends before."""
        outcome = self._library.core_run(self._handle, min(steps, (1 << 63) - 1))
        if outcome == NO_MEMORY:
            raise MemoryError
        return outcome

    def limit(self, steps: int | None) -> None:
        """Let each PE take so many steps from now on, None for any number."""
        if not self._library.core_limit(self._handle, 0 if steps is None else min(steps, (1 << 63) - 1)):
            raise MemoryError

    def launch(self, task: int, arguments: Sequence[int], time: int) -> None:
        """Activate a launch task, by its row, on all PEs of its class; arguments are as registers hold them."""
        values = np.array([*arguments, 0], np.int64)
        self._library.core_launch(self._handle, task, values.ctypes.data, time)

    def active(self, task: int) -> int:
        """Return how many PEs have a task, by its row, active."""
        return self._library.core_active(self._handle, task)

    def place(self) -> Position:
        """Return where the PE is that wanted a step beyond the last."""
        found = np.zeros(3, np.uint32)
        self._library.core_place(self._handle, found.ctypes.data)
        return Position(*found.tolist())

    # Streams from and to the host

    def send(self, pes: Array, queues: Array, words: Array, first: Array) -> None:
        """Send words [n, count] to an input queue of each of n PEs, the first of each at cycle `first` [n]."""
        arrays = [
            np.ascontiguousarray(array, dtype)
            for array, dtype in ((pes, "<u4"), (queues, "<u4"), (words, "<u4"), (first, "<i8"))
        ]
        arrays.append(np.ascontiguousarray(self.fabric.host_capacities(queues), "<u4"))
        numbers, rows, payload, times, capacities = (array.ctypes.data for array in arrays)
        back = self.fabric.host_back
        self._library.core_send(
            self._handle, len(pes), numbers, rows, payload, words.shape[1], times, capacities, back
        )  # fmt: skip

    def backlog(self, cls: int, queue: int) -> Array:
        """Return how many wavelets wait in a queue, or sink, of each unit of a class."""
        found = np.zeros(len(self.fabric.units(cls)), np.int64)
        self._library.core_backlog(self._handle, cls, queue, found.ctypes.data)
        return found

    def unsent(self, cls: int, queue: int) -> Array:
        """Return how many wavelets for an input queue of each unit of a class the host still holds."""
        found = np.zeros(len(self.fabric.units(cls)), np.int64)
        self._library.core_unsent(self._handle, cls, queue, found.ctypes.data)
        return found

    def take(self, pes: Array, sinks: Array, count: int) -> Array:
        """Return the next `count` wavelets, which are there, of each of n PEs in a sink, uint32 [n, count]."""
        numbers, rows = (np.ascontiguousarray(array, "<u4") for array in (pes, sinks))
        words = np.zeros((len(pes), count), np.uint32)
        self._library.core_take(self._handle, len(pes), numbers.ctypes.data, rows.ctypes.data, count, words.ctypes.data)
        return words

    # State

    @property
    def clocks(self) -> Array:
        """When each PE has ended its last task, [height, width]."""
        found = np.zeros((self.height, self.width), np.int64)
        self._library.core_clocks(self._handle, found.ctypes.data)
        return found

    def totals(self) -> Totals:
        """Return what has been done so far."""
        return Totals(*self._counts()[:4])

    def reached(self) -> int:
        """Return the latest cycle that anything has reached, tasks and operations that wait included: these, the end of
        the elements that they have taken."""
        return self._library.core_reached(self._handle)

    def observed(self) -> Counts | None:
        """Return what statistics have counted so far, if they were asked for."""
        if self._statistics is None:
            return None
        found = self._statistics.copy()
        self._library.core_statistics(self._handle, found.pes.ctypes.data, found.cells.ctypes.data)
        return found

    @property
    def held(self) -> int:
        """Return the number of trace records that are kept now."""
        return 0 if self._tracing is None else self._library.core_trace_length(self._handle)

    def traced(self) -> Traced:
        """Return the records of the trace that are kept, in any order; unless only the last are, they are forgotten."""
        if self._tracing is None:
            return Traced(np.zeros(0, RECORD), 0)
        count = self._library.core_traced(self._handle, None, 0)
        found = np.zeros(count if self._tracing.last is None else min(count, self._tracing.last), RECORD)
        if len(found):
            self._library.core_traced(self._handle, found.ctypes.data, len(found))
        return Traced(found, count - len(found))

    def _counts(self) -> list[int]:
        """Return the totals, picks that were certain and others, warnings, and words of what is printed."""
        found = (ctypes.c_int64 * 8)()
        self._library.core_counts(self._handle, found)
        return list(found)

    @property
    def picks(self) -> tuple[int, int]:
        """How many picks were certain, and how many had to come in the order of time."""
        certain, ordered = self._counts()[4:6]
        return certain, ordered

    def error(self) -> Any:
        """Return the finding that has ended the run."""
        found = np.zeros(1, FINDING)
        self._library.core_error(self._handle, found.ctypes.data)
        return found[0]

    def warnings(self) -> Array:
        """Return the findings that are warnings, one for each source place, in order."""
        found = np.zeros(self._counts()[6], FINDING)
        count = self._library.core_warnings(self._handle, found.ctypes.data)
        return self._warnings.add(found[:count])

    def printed(self) -> Sequence[Printed]:
        """Return what the program has printed, in any order."""
        words = np.zeros(self._counts()[7], np.int64)
        self._library.core_prints(self._handle, words.ctypes.data)
        values: list[int] = words.tolist()
        found: list[Printed] = []
        at = 0
        while at < len(values):
            cycle, pe, row = values[at : at + 3]
            end = at + 3 + int(self.tables["prints"]["arguments"][row])
            found.append(Printed(cycle, pe, row, values[at + 3 : end]))
            at = end
        return found

    def rest(self) -> Rest:
        """Return who waits for what, and what nothing has read, when nothing can happen any more."""
        if self._library.core_is_clear(self._handle):
            return NOTHING_LEFT
        waiting, down, off = (self._records("core_routers", AT_ROUTER, what) for what in range(3))
        down_ramps = np.zeros(len(down), WAVELETS)
        for name, source in (("row", "color"), ("pe", "pe"), ("count", "count")):
            down_ramps[name] = down[source]
        return Rest(
            waits=self._records("core_waits", WAIT), tasks=self._records("core_tasks", TASK),
            queued=self._records("core_queued", QUEUED), sent=self._records("core_sent", WAVELETS),
            at_routers=waiting, down_ramps=down_ramps, off_grid=off, messages=self._records("core_messages", MESSAGE),
        )  # fmt: skip

    def lost_activations(self) -> Array:
        """Return how often tasks were activated while they were active, records of `WAVELETS`."""
        return self._records("core_lost", WAVELETS)

    def _records(self, function: str, record: np.dtype[Any], *what: int) -> Array:
        call = getattr(self._library, function)
        count = call(self._handle, None, 0, *what)
        found = np.zeros(count, record)
        if count:
            call(self._handle, found.ctypes.data, count, *what)
        return found


def cores() -> int:
    """Return the cores of the processor that this process may use."""
    available = getattr(os, "sched_getaffinity", None)
    return (len(available(0)) if available else os.cpu_count()) or 1


def initial_memory(tables: Tables, fabric: Fabric) -> list[npt.NDArray[np.uint8]]:
    """Return the memory of the PEs of each class at the start, [PEs, bytes]."""
    memory: list[npt.NDArray[np.uint8]] = []
    for number, words in enumerate(fabric.words.tolist()):
        units = len(fabric.units(number))
        memory.append(np.zeros((units, (2 * words + 3) // 4 * 4 + 8), np.uint8))
    data = tables["image_bytes"]
    for image in tables["images"]:
        start = int(image["address"])
        first, size = int(image["bytes"]), int(image["size"])
        memory[int(image["owner"])][:, start : start + size] = data[first : first + size]
    sizes = (1, 1, 2, 4, 8, 8, 2, 2, 4)
    for patch in tables["patches"]:
        column = tables["columns"][int(patch["column"])]
        array = memory[int(patch["owner"])]
        first = int(column["values"])
        size = sizes[int(column["kind"])]
        values = np.ascontiguousarray(tables["column_values"][first : first + len(array)], "<i8")
        start = int(patch["address"])
        array[:, start : start + size] = values.view(np.uint8).reshape(-1, 8)[:, :size]
    return memory


def _unwritten_rows(unwritten: Unwritten) -> Array:
    """Return where the core finds what nothing has written, for each class as `struct unwritten` of inputs.h says."""
    return np.array(
        [
            (words.ctypes.data, left.ctypes.data, first, words.shape[1])
            for words, left, first in zip(unwritten.words, unwritten.left, unwritten.first.tolist(), strict=True)
        ],
        np.uint64,
    ).reshape(-1, 4)


def _declared(found: ctypes.CDLL) -> ctypes.CDLL:
    """Return the library with the types of its functions."""
    pointer, u32, u64, i64 = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64
    for name, result, arguments in (
        ("core_create", pointer, (pointer,)),
        ("core_destroy", None, (pointer,)),
        ("core_run", ctypes.c_int, (pointer, u64)),
        ("core_launch", None, (pointer, u32, pointer, i64)),
        ("core_active", u32, (pointer, u32)),
        ("core_send", None, (pointer, u64, pointer, pointer, pointer, u32, pointer, pointer, u32)),
        ("core_backlog", None, (pointer, u32, u32, pointer)),
        ("core_unsent", None, (pointer, u32, u32, pointer)),
        ("core_take", None, (pointer, u64, pointer, pointer, u32, pointer)),
        ("core_clocks", None, (pointer, pointer)),
        ("core_counts", None, (pointer, pointer)),
        ("core_error", None, (pointer, pointer)),
        ("core_warnings", u64, (pointer, pointer)),
        ("core_limit", ctypes.c_bool, (pointer, u64)),
        ("core_prints", None, (pointer, pointer)),
        ("core_place", None, (pointer, pointer)),
        ("core_statistics", None, (pointer, pointer, pointer)),
        ("core_trace_length", u64, (pointer,)),
        ("core_traced", u64, (pointer, pointer, u64)),
        ("core_is_clear", ctypes.c_bool, (pointer,)),
        ("core_waits", u64, (pointer, pointer, u64)),
        ("core_tasks", u64, (pointer, pointer, u64)),
        ("core_lost", u64, (pointer, pointer, u64)),
        ("core_reached", i64, (pointer,)),
        ("core_queued", u64, (pointer, pointer, u64)),
        ("core_sent", u64, (pointer, pointer, u64)),
        ("core_routers", u64, (pointer, pointer, u64, u32)),
        ("core_messages", u64, (pointer, pointer, u64)),
    ):
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments
    return found


assert SLOTS[:7] == ("use", "column", "access", "register_load", "register_read", "operation", "task"), "instructions.h"
