"""Sections of the tables: the record of each, as numpy types. What they mean is in docs/tables.md.

All numbers are little-endian. `where`, `name`, `label` and the like are rows of the strings; row 0 is the empty
string and stands for none. Fields that name a row of a section may be `NONE`.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...diagnostics.records import record
from ...targets.wavelets import FILTER_NUMBERS

NONE = 0xFFFFFFFF
"""In place of a row: none."""

NO_MICROTHREAD = 0xFFFF

U8, U16, U32, U64, I32, I64 = "<u1", "<u2", "<u4", "<u8", "<i4", "<i8"


def _record(*fields: tuple[str, str] | tuple[str, str, int]) -> np.dtype[Any]:
    return np.dtype(list(fields), align=True)


# The grid

PROGRAM = _record(("target", U32), ("width", U32), ("height", U32), ("name", U32))
REGION = _record(("x", U32), ("columns", U32), ("x_step", U32), ("y", U32), ("rows", U32), ("y_step", U32))
"""Columns x, x + x_step, ..., as many as `columns`; likewise rows. Never empty."""

CLASS = _record(
    ("name", U32), ("where", U32), ("words", U32), ("regions", U32), ("region_count", U32), ("buffers", U32),
    ("buffer_count", U32), ("queues", U32), ("queue_count", U32), ("fifos", U32), ("fifo_count", U32), ("tasks", U32),
    ("task_count", U32), ("flags", U32),
)  # fmt: skip
"""Its buffers, queues, FIFOs and tasks are contiguous in their sections."""

CLASS_TRAPS = 1
"""Flag of a class: floating point exceptions may stop its PEs."""

CLASS_ORDERED = 16
"""Flag of a class: its PEs ask for the state of queues, so that all PEs go on in the order of time."""

CLASS_MAIN_THREAD_CHANGES = 32
"""Flag of a class: PEs change the priority of the operations for which their tasks wait."""

MAIN_THREAD_SHIFT, MAIN_THREAD_BITS = 1, 3
"""Bits of the flags of a class: the priority of the operations for which its tasks wait, 1 more than its place in
`targets.model.LEVELS`; 0 is that of the target."""

# Memory

BUFFER = _record(
    ("name", U32), ("where", U32), ("owner", U32), ("address", U32), ("elements", U32), ("dims", U32), ("kind", U8),
    ("rank", U8), ("flags", U8),
)  # fmt: skip
"""`address` in words; extents are `rank` rows of `dims` from `dims` on; `owner` is the class."""

BUFFER_UNDEFINED = 1
"""Flag of a buffer: the program says nothing of what it holds at the start, which is zeros."""

COLUMN = _record(("name", U32), ("owner", U32), ("values", U32), ("kind", U8))
"""Values of the class's PEs, by rows of the grid, as registers hold them, in `column_values` from `values` on."""

IMAGE = _record(("owner", U32), ("address", U32), ("bytes", U32), ("size", U32))
"""Bytes of `image_bytes` that the memory of every PE of a class holds at the start from byte `address` on."""

PATCH = _record(("owner", U32), ("address", U32), ("column", U32))
"""An element of memory, at byte `address`, whose value at the start is that of a column. After all images."""

# Code

CODE = np.dtype([("op", U16), ("a", U16), ("b", U16), ("c", U16)])
BODY = _record(
    ("name", U32), ("where", U32), ("code", U32), ("length", U32), ("kinds", U32), ("slot_kinds", U32),
    ("registers", U16), ("numbers", U16), ("descriptors", U16), ("frame_descriptors", U16), ("arguments", U16),
    ("results", U16), ("slots", U16),
)  # fmt: skip
"""Code from `code` on. `kinds`: those of the arguments, then of the results; `slot_kinds`: those of the slots."""

USE = _record(("body", U32), ("rows", U32))
"""A body with its numbers. From `rows` on in `rows`: of `numbers`, then of `descriptors`, then one for each slot."""

COST_CLASSES = 32
"""Room for classes of costs."""

COST = _record(("counts", U16, COST_CLASSES))
"""The number of each class of `instructions.COSTS`."""

ACCESS = _record(
    ("base", U32), ("buffer", U32), ("dims", U32), ("kind", U8), ("rank", U8), ("flags", U8),
)  # fmt: skip
"""An element of `buffer`, from byte `base` on, by `rank` indices with rows of `access_dims`; a pointer has none."""

ACCESS_POINTER = 1
"""Flag of an access: register b holds a byte address; an index is then one number of elements."""

ACCESS_DIM = _record(("extent", U32), ("scale", I32))
"""`scale` in bytes."""

DESCRIPTOR = _record(
    ("address", I32), ("row", U32), ("extents", U16, 4), ("strides", "<i2", 4), ("type", U8), ("kind", U8),
    ("dimensions", U8), ("flags", U8),
)  # fmt: skip
"""A walk over memory from word `address` on; `row` is its buffer, NONE for all of memory. Else `row` is the queue or
FIFO, and the extent of a queue's is the first one. Extents outermost first, strides innermost first."""

CIRCULAR = 1
"""Flag of a walk over memory of two extents: the first is the number of elements, and the second that of places, side
by side, behind the last of which the walk returns to its address."""

MEMORY_WALK, QUEUE_RUN, FIFO_END = range(3)
"""Types of descriptors."""

CONTROL_WAVELETS, ADVANCE_SWITCH, PACKED, MESSAGE = 1, 2, 4, 8
ZERO_FIRST, ZERO_SECOND, CONTROL_TRANSFORM, IN_PAIRS = 16, 32, 64, 128
"""Flags of the descriptor of a queue. Sending sets a source of the operation to zero: the first of several, or the
second, which is the only one of those that have one. With `IN_PAIRS` a receive goes on when two wavelets are there."""

OPERATION = _record(
    ("activate", U32), ("unblock", U32), ("control_activate", U32), ("control_unblock", U32), ("function", U16),
    ("destination", U16), ("sources", U16, 3), ("microthread", U16), ("format", U8), ("flags", U8), ("priority", U8),
)  # fmt: skip
"""`activate` and the like are tasks. Operands: a register, or a descriptor (instructions.STATIC_DESCRIPTOR); none is
NO_REGISTER."""

ON_CONTROL, HAS_FIFO_RESULT, DROPS_DATA = 1, 2, 4
"""Flags of an operation: a control wavelet ends it; its result may be false; it drops data wavelets, and control
wavelets are its elements, of which it stores nothing."""

REGISTER_LOAD = _record(
    ("activate", U32), ("unblock", U32), ("control_activate", U32), ("control_unblock", U32), ("microthread", U16),
    ("file", U8), ("number", U8), ("flags", U8), ("priority", U8),
)  # fmt: skip

LOAD_SAVES_ADDRESS, LOAD_ASYNC, LOAD_ON_CONTROL = 1, 2, 4

REGISTER_READ = _record(("file", U8), ("number", U8), ("fifo", U8))
MESSAGE_TEXT = _record(("text", U32), ("shows_value", U8))
PRINT = _record(("format", U32), ("kinds", U32), ("arguments", U16))
DIRECTIVE = _record(("name", U32), ("axis", U8))
TRAP = _record(("name", U32), ("operands", U16, 3), ("result", U16), ("count", U8), ("kind", U8))
START = _record(("owner", U32), ("use", U32))

SETTING = _record(("owner", U32), ("number", U32), ("value", U32))
"""What a register of `targets.wavelets.SETTINGS`, by number, holds from the start on on the PEs of a class."""
"""Code that every PE of a class runs at cycle 0, before anything else, at no cost."""

BLOCKED_MICROTHREAD = _record(("owner", U32), ("number", U32), ("where", U32))
"""A microthread that is blocked at the start on the PEs of a class, and where the program says so."""

# Tasks, queues, FIFOs

TASK = _record(
    ("name", U32), ("where", U32), ("owner", U32), ("use", U32), ("queue", U32), ("number", I32), ("type", U8),
    ("flags", U8),
)  # fmt: skip
TASK_TYPES = ("local", "data", "control", "launch", "listener")
"""By number. A listener starts the control tasks of a queue without data task."""

ACTIVE, BLOCKABLE, BLOCKED, COMPLETION_ACTIVATES, COMPLETION_UNBLOCKS = 1, 2, 4, 8, 16
"""Flags of a task: active at the start; may ever be blocked; is blocked at the start; an operation's end, or a FIFO,
activates it; an operation's end unblocks it."""

QUEUE = _record(
    ("name", U32), ("label", U32), ("where", U32), ("owner", U32), ("task", U32), ("colors", U32), ("color_count", U32),
    ("control_offset", I32), ("room", U32), ("id", U16), ("direction", U8),
)  # fmt: skip
INPUT, OUTPUT = 0, 1
QUEUE_COLOR = _record(("color", U32), ("regions", U32), ("region_count", U32))
"""Where a queue serves a color; a later one holds where two meet."""

FIFO = _record(
    ("name", U32), ("where", U32), ("owner", U32), ("buffer", U32), ("push_task", U32), ("pop_task", U32),
    ("empty_action", U8), ("full_action", U8), ("step", U8),
)  # fmt: skip
"""`step` is how many elements operations move at once, by the SIMD mode."""

# Fabric

COLOR = _record(("name", U32), ("label", U32), ("where", U32), ("number", U32), ("changes", U8))
"""`changes` is 1 if programs may change its routes, or tear it down, while they run."""

ROUTE = _record(
    ("color", U32), ("regions", U32), ("region_count", U32), ("switch", U32), ("filter", U32), ("where", U32),
    ("receive", U8), ("transmit", U8), ("swap", U8), ("teardown", U8),
)  # fmt: skip
"""Ports are bits, by their place in `targets.wavelets.PORTS`; those of `swap` take the color whose number differs in
the lowest bit. A later route holds where two meet. `teardown` is 1 if the color starts in a teardown phase."""

SWITCH = _record(
    ("receive", U8, 4), ("transmit", U8, 4), ("sets", U8, 4), ("valid", U8), ("ring", U8), ("pop_mode", U8),
    ("current", U8),
)  # fmt: skip
"""Ports of each position; `valid` has a bit for each. `sets` says which of them a position names itself."""

SETS_RECEIVE, SETS_TRANSMIT = 1, 2
"""Bits of `sets`."""

FILTER = _record(
    ("values", U32, len(FILTER_NUMBERS)), ("counts", U32, len(FILTER_NUMBERS)), ("kind", U8), ("flags", U8)
)  # fmt: skip
"""Numbers in `column_values`, by their place in `targets.wavelets.FILTER_NUMBERS`: none, one, or one for each PE of the
route, by rows. Kinds by their place in `FILTER_KINDS` from 1 on, flags as bits by theirs in `FILTER_FLAGS`."""

HOST_STREAM = _record(("color", U32), ("regions", U32), ("region_count", U32), ("out", U8))
NETWORK = _record(("color", U32))

# Chips

SPACE = _record(("size", U64), ("name", U32), ("owner", U32))
"""A memory of `size` bytes: of each core of a class, or one of all cores, then its owner is NONE."""

CHANNEL = _record(
    ("name", U32), ("where", U32), ("producer", U32), ("consumer", U32), ("depth", U32), ("period", U32),
    ("lanes", U32), ("seed", U32), ("flags", U8),
)  # fmt: skip
"""A channel between two classes of cores, on each of their rows of the grid."""

CHANNEL_DRAINED = 1
"""Flag of a channel: its producers take back the credits at the end of a launch, so that flags outlive it."""

MAX_SEED = 1 << 16
"""Credits with which a channel may start."""

TILE_DIMENSIONS = 5

TILE = _record(
    ("extents", I64, TILE_DIMENSIONS), ("strides", I64, TILE_DIMENSIONS), ("slot_size", I64), ("space", U32),
    ("owner", U32), ("channel", U32), ("slot_count", U32), ("open", U16), ("element", U8), ("rank", U8), ("role", U8),
    ("flags", U8),
)  # fmt: skip
"""A walk over a space, outermost dimension first, strides in elements. `owner` is the class whose memory it is, if
not that of the core's own. With a channel it belongs to an entry; its slots are `slot_size` bytes apart. Its registers
are: the address; the column of the owner, if there is one; the number of the entry, if there is a channel; extents and
strides that are open, whose bits are in `open`, those of strides above those of extents."""

TILE_AT_WAIT = 1
"""Flag of a copied tile: it is made where its entry is taken, so that its place is no longer that of another entry."""

TILE_APPLY = _record(
    ("value", I64), ("name", U32), ("function", U16), ("destination", U16), ("sources", U16, 3), ("options", U16),
    ("kinds", U8, 3), ("alike", U8, 3), ("rounding", U8),
)  # fmt: skip
"""A function on tiles: operands are frame descriptors, sources also registers, whose types `kinds` has; none is
NO_REGISTER. `alike` has a bit for each dimension of a source, counted from the last one, that does not repeat if it has
one element; `value` is the number of the option, as bits of a float of 64 bits or as an integer. `name` is that in
messages."""

SATURATES, WRAPS, RELU, ACCUMULATES, RESHAPES, VALUE_IS_FLOAT = 1, 2, 4, 8, 16, 32
"""Options of a function on tiles."""

TILE_PRINT = _record(("label", U32))

REST = _record(("where", U32), ("label", U32))
"""The flag that cores wait for where they rest at a source place; places that have none wait for a number."""

# The host

EXPORT = _record(
    ("name", U32), ("where", U32), ("owner", U32), ("row", U32), ("dims", U32), ("type", U8), ("kind", U8),
    ("rank", U8), ("flags", U8),
)  # fmt: skip
"""`row` is a buffer, or a task of type launch. Extents in `dims`, NONE where open; kind as the host sees it. Of a
function `dims` has `rank` numbers, one for each argument: 1 if the host sees it as unsigned."""

EXPORT_BUFFER, EXPORT_FUNCTION = 0, 1
EXPORT_UNSIGNED, EXPORT_POINTS_TO, EXPORT_READ_ONLY = 1, 2, 4

SECTIONS: dict[str, np.dtype[Any]] = {
    "program": PROGRAM, "regions": REGION, "classes": CLASS, "buffers": BUFFER, "dims": np.dtype(U32),
    "columns": COLUMN, "column_values": np.dtype(I64), "images": IMAGE, "image_bytes": np.dtype(U8), "patches": PATCH,
    "code": CODE, "code_where": np.dtype(U32), "bodies": BODY, "kinds": np.dtype(U8), "slot_kinds": np.dtype(U8),
    "uses": USE, "rows": np.dtype(U32), "numbers": np.dtype(I64), "costs": COST, "accesses": ACCESS,
    "access_dims": ACCESS_DIM, "descriptors": DESCRIPTOR, "operations": OPERATION, "register_loads": REGISTER_LOAD,
    "register_reads": REGISTER_READ, "messages": MESSAGE_TEXT, "prints": PRINT, "directives": DIRECTIVE, "traps": TRAP,
    "starts": START, "settings": SETTING, "blocked_microthreads": BLOCKED_MICROTHREAD, "tasks": TASK, "queues": QUEUE,
    "queue_colors": QUEUE_COLOR, "fifos": FIFO, "colors": COLOR, "routes": ROUTE, "switches": SWITCH,
    "filters": FILTER, "host_streams": HOST_STREAM, "networks": NETWORK, "spaces": SPACE, "channels": CHANNEL,
    "tiles": TILE, "tile_applies": TILE_APPLY, "tile_prints": TILE_PRINT, "rests": REST, "exports": EXPORT,
}  # fmt: skip
"""Every section and its record. `code_where` has the source place of each instruction."""

OF_CHIPS = ("spaces", "channels", "tiles", "tile_applies", "tile_prints", "rests")
"""Sections that are empty in programs of wafers."""

OF_BOTH = (
    "program", "regions", "classes", "dims", "code", "code_where", "bodies", "kinds", "slot_kinds", "uses", "rows",
    "numbers", "messages", "tasks", "exports",
)  # fmt: skip
"""Sections that programs of chips have besides: the others are empty in them."""


@record
class Tables:
    """A program: an array of records for each section of `SECTIONS`, and its strings."""

    sections: dict[str, NDArray[Any]] = field(repr=False)
    strings: tuple[str, ...] = field(repr=False)

    def __getitem__(self, section: str) -> NDArray[Any]:
        """Return the records of a section."""
        return self.sections[section]
