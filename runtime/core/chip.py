"""The cores of a chip in C: a machine made from checked tables; `ChipEngine` says what a host asks of it.

Memories are arrays that C and Python both see; everything else is C's. Rows of the grid run on several threads, each
row on one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ...operations.scalar_types import numpy_type
from ..chips.chip import ChannelCounts, Chip, Ring, Spaces, Waiting
from ..chips.engine import Position, Printed
from ..chips.records import RECORD
from ..engine import BUDGET, DONE, ERROR
from ..places import Array
from ..tables.format import ACCUMULATES, SECTIONS
from ..tables.instructions import CONTROL_NUMBER, ELEMENTS
from . import library

SECTIONS_READ = (
    "classes", "code", "code_where", "bodies", "uses", "rows", "numbers", "messages", "tasks", "spaces", "channels",
    "tiles", "tile_applies",
)  # fmt: skip
"""Sections in the order of CHIP_SECTIONS in chip.h."""

ACTIONS = ("acquire", "wait", "drain", "rest")

NO_MEMORY = 3
"""How a run ends without memory, beside those of `engine`."""

NO_ROW_YET = 0xFFFFFFFF

RING = np.dtype([(name, "<i8") for name in ("row", "channel", "space", "start", "end", "where")])
PRINT = np.dtype(
    [("unit", "<u8"), ("row", "<u8"), ("element", "<u8"), ("rank", "<u8"), ("extents", "<i8", 5), ("bytes", "<u8")]
)
FINDINGS, RINGS, PRINTS = range(3)
"""Lists of a row, by number."""


PARALLEL_FROM = 30_000
"""Steps from which it is worth while to wake up other threads."""


class _Input(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("sections", "class_of", "ordinal", "column")),
        *((name, ctypes.c_uint32) for name in ("width", "height", "is_prompt")),
    ]


def _declared(found: ctypes.CDLL) -> ctypes.CDLL:
    """Return the library with the types of the functions that are called here."""
    pointer, u32, u64 = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64
    for name, result, arguments in (
        ("chip_create", pointer, [pointer]), ("chip_destroy", None, [pointer]),
        ("chip_space", None, [pointer, u32, pointer, u64, pointer, u64]),
        ("chip_limit", None, [pointer, ctypes.c_bool, u64]),
        ("chip_launch", ctypes.c_bool, [pointer, u32, pointer]), ("chip_is_active", ctypes.c_bool, [pointer, u32, u32]),
        ("chip_begin", None, [pointer]), ("chip_run", ctypes.c_int, [pointer, pointer, u64]),
        ("chip_error", pointer, [pointer]), ("chip_place", None, [pointer, u32, pointer]),
        ("chip_totals", None, [pointer, pointer]), ("chip_list", u64, [pointer, u32, u32, pointer]),
        ("chip_clear", None, [pointer, u32, u32]), ("chip_waiting", ctypes.c_bool, [pointer, u32, u32, pointer]),
        ("chip_units", u32, [pointer, u32]), ("chip_counts", None, [pointer, u32, u32, pointer]),
        ("chip_renew", None, [pointer]), ("chip_record_size", u64, [u32]),
    ):  # fmt: skip
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments
    return found


class ChipCore:
    """A machine of cores. With `prompt` a core lets the others go first after every entry that it has pushed.

    `threads` run its rows, each row on one of them, once there are `parallel_from` steps to take. Programs that add to
    what other rows may add to, or wait for what other rows write, have one thread, so that nothing depends on who comes
    first. Without enough memory,
    making and running it raise MemoryError.
    """

    def __init__(
        self, chip: Chip, spaces: Spaces, *, prompt: bool = False, threads: int = 1, parallel_from: int = PARALLEL_FROM
    ) -> None:
        self.chip = chip
        self._parallel_from = parallel_from
        self.spaces = spaces
        self._library = _declared(library.load())
        tables = chip.tables
        rests = (tables["code"]["op"] == CONTROL_NUMBER["rest"]).any()
        if rests or (tables["tile_applies"]["options"] & ACCUMULATES).any():
            threads = 1
        self._rows = np.full(max(1, min(threads, chip.height)), NO_ROW_YET, np.uint32)
        """The row of the grid that each thread is in the middle of."""
        self._kept: list[Array] = []
        pointers = np.zeros(2 * len(SECTIONS_READ), np.uint64)
        for place, name in enumerate(SECTIONS_READ):
            array = self._keep(tables[name], SECTIONS[name])
            pointers[2 * place : 2 * place + 2] = array.ctypes.data, len(array)
        arrays = (
            self._keep(pointers, pointers.dtype), self._keep(chip.class_of, np.dtype("<i4")),
            self._keep(chip.ordinal, np.dtype("<i8")), self._keep(chip.column, np.dtype("<i8")),
        )  # fmt: skip
        given = _Input(*(array.ctypes.data for array in arrays), chip.width, chip.height, prompt)
        self._handle = self._library.chip_create(ctypes.byref(given))
        if not self._handle:
            raise MemoryError
        self._is_running = False
        self._place = Position(0, 0, 0)

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle:
            self._library.chip_destroy(handle)
            self._handle = None

    def _keep(self, array: Array, dtype: np.dtype[Any]) -> Array:
        """Return an array as C sees it, which lives as long as the machine."""
        kept = np.ascontiguousarray(array, dtype)
        self._kept.append(kept)
        return kept

    # Running

    def run(self, steps: int) -> int:
        """Run about so many steps more on each thread, or until nothing can happen."""
        if not self._is_running:
            self._share_memory()
            self._rows[:] = NO_ROW_YET
            self._library.chip_begin(self._handle)
            self._is_running = True
        outcomes = self._run_threads(steps)
        if NO_MEMORY in outcomes:
            raise MemoryError
        if BUDGET in outcomes and not (ERROR in outcomes and self._is_error_first()):
            self._note_place()
            return BUDGET
        self._is_running = False
        return ERROR if self._library.chip_error(self._handle) else DONE

    def _run_threads(self, steps: int) -> list[int]:
        def run(place: int) -> int:
            return self._library.chip_run(self._handle, self._rows[place:].ctypes.data, steps)

        others = range(1, len(self._rows))
        if not others or (steps < self._parallel_from and (self._rows[1:] == NO_ROW_YET).all()):
            return [run(0)]
        with ThreadPoolExecutor(len(others)) as pool:
            pending = pool.map(run, others)
            return [run(0), *pending]

    def _is_error_first(self) -> bool:
        """Return True if the rows that are not at their end come after that of the error."""
        row = int(self.error()["unit"]) // self.chip.width
        return all(each == NO_ROW_YET or each > row for each in self._rows.tolist())

    def _note_place(self) -> None:
        row = next(row for row in self._rows.tolist() if row != NO_ROW_YET)
        place = np.zeros(3, np.int64)
        self._library.chip_place(self._handle, row, place.ctypes.data)
        self._place = Position(*place.tolist())

    def _share_memory(self) -> None:
        """Tell where memories are now, and which arrays the host has put into them."""
        self._bounds = [
            np.array([(start, end, bool(name)) for start, end, name in arrays], np.int64).reshape(-1, 3)
            for arrays in self.spaces.arrays
        ]
        for number, (memory, bounds) in enumerate(zip(self.spaces.bytes, self._bounds, strict=True)):
            self._library.chip_space(
                self._handle, number, memory.ctypes.data, self.spaces.size(number), bounds.ctypes.data, len(bounds)
            )

    def limit(self, steps: int | None) -> None:
        """Let each core take so many steps from now on."""
        self._library.chip_limit(self._handle, steps is not None, min(steps or 0, (1 << 63) - 1))

    def place(self) -> Position:
        """Return where the core is that stopped last for want of steps."""
        return self._place

    def error(self) -> Any:
        """Return the record of the error that has ended the run."""
        at = self._library.chip_error(self._handle)
        return np.frombuffer(ctypes.string_at(at, RECORD.itemsize), RECORD)[0]

    def launch(self, task: int, arguments: Sequence[int]) -> None:
        """Activate a launch task on all cores of its class."""
        self._is_running = False
        values = np.array([*arguments, 0], np.int64)
        if not self._library.chip_launch(self._handle, task, values.ctypes.data):
            raise MemoryError

    def active(self, unit: int) -> set[int]:
        """Return the launch tasks of a core that have not begun."""
        record = self.chip.tables["classes"][int(self.chip.class_of.ravel()[unit])]
        tasks = range(int(record["tasks"]), int(record["tasks"]) + int(record["task_count"]))
        return {task for task in tasks if self._library.chip_is_active(self._handle, unit, task)}

    def totals(self) -> tuple[int, int]:
        """Return the tasks started and the steps taken so far."""
        found = np.zeros(2, np.uint64)
        self._library.chip_totals(self._handle, found.ctypes.data)
        return int(found[0]), int(found[1])

    # What rows leave

    def _take(self, which: int, dtype: np.dtype[Any]) -> list[Array]:
        """Return a list of each row, of those up to that of an error."""
        at = self._library.chip_error(self._handle)
        last = int(self.error()["unit"]) // self.chip.width if at else self.chip.height - 1
        found: list[Array] = []
        items = ctypes.c_void_p()
        for row in range(self.chip.height):
            count = self._library.chip_list(self._handle, row, which, ctypes.byref(items))
            if count and row <= last:
                assert items.value is not None
                found.append(np.frombuffer(ctypes.string_at(items.value, count * dtype.itemsize), dtype))
        return found

    def _clear(self, which: int) -> None:
        for row in range(self.chip.height):
            self._library.chip_clear(self._handle, row, which)

    def take_findings(self) -> Array:
        """Return the records of findings since the last call, by rows of the grid."""
        found = self._take(FINDINGS, RECORD)
        self._clear(FINDINGS)
        return np.concatenate(found) if found else np.zeros(0, RECORD)

    def take_rings(self) -> Sequence[Ring]:
        """Return the rings of slots used in shared memories since the last call."""
        found = [Ring(*ring) for rings in self._take(RINGS, RING) for ring in rings.tolist()]
        self._clear(RINGS)
        return found

    def take_printed(self) -> Sequence[Printed]:
        """Return the tiles printed since the last call."""
        found: list[Printed] = []
        for prints in self._take(PRINTS, PRINT):
            for record in prints:
                extents: list[int] = record["extents"][: int(record["rank"])].tolist()
                dtype = numpy_type(ELEMENTS[int(record["element"])])
                data = ctypes.string_at(int(record["bytes"]), int(np.prod(extents)) * dtype.itemsize)
                values = np.frombuffer(bytearray(data), dtype).reshape(extents)
                found.append(Printed(int(record["unit"]), int(record["row"]), values))
        self._clear(PRINTS)
        return found

    # At rest

    def waiting(self) -> Sequence[Waiting]:
        """Return the cores that wait."""
        found: list[Waiting] = []
        values = np.zeros(7, np.int64)
        for row in range(self.chip.height):
            for place in range(self._library.chip_units(self._handle, row)):
                if self._library.chip_waiting(self._handle, row, place, values.ctypes.data):
                    unit, channel, action, where, task, *compared = values.tolist()
                    found.append(Waiting(unit, channel, ACTIONS[action], where, task, *compared))
        return found

    def counts(self, channel: int, row: int) -> ChannelCounts:
        """Return the state of a channel on a row of the grid."""
        lanes = int(self.chip.tables["channels"]["lanes"][channel])
        producers, consumers = (lanes if side.many else 1 for side in self.chip.sides[channel])
        values = np.zeros(2 * producers + 2 * consumers + 3 * lanes, np.int64)
        self._library.chip_counts(self._handle, row, channel, values.ctypes.data)
        sizes = [producers] * 2 + [consumers] * 2 + [lanes] * 3
        return ChannelCounts(*(part.tolist() for part in np.split(values, np.cumsum(sizes)[:-1])))

    def renew(self) -> None:
        """Begin a new launch."""
        self._library.chip_renew(self._handle)


def record_sizes() -> list[tuple[int, int]]:
    """Return the bytes of each record that C and Python share, as both have it."""
    found = _declared(library.load())
    records = (*(SECTIONS[name] for name in ("spaces", "channels", "tiles", "tile_applies")), RECORD, RING, PRINT)
    return [(int(found.chip_record_size(place)), dtype.itemsize) for place, dtype in enumerate(records)]
