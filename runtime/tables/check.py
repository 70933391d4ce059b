"""Checker of tables: what a stranger's file must fulfil before an executor may run it.

Tables that pass let no executor touch memory that is not the PE's, read a register, descriptor or row that is not
there, or run for ever without counting a step. What depends on values at run time, the executor checks: indices beyond
their extents, addresses of pointers and of walks, the kinds of descriptors that registers hold, the depth of calls. Any
register may hold any 64 bits.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ... import targets
from ...diagnostics.errors import LoomError
from ...operations.dsd_table import OPERATIONS
from ...operations.print_format import check_format
from ...operations.tile_functions import FUNCTIONS, SCALAR_SHAPES
from ...targets.model import LEVELS
from ...targets.wavelets import (
    FILTER_FLAGS,
    FILTER_KINDS,
    FILTER_NUMBERS,
    FILTER_VALUES,
    MAX_DIMENSIONS,
    PORTS,
    SETTINGS,
    SWITCH_POSITIONS,
    WORD_MASK,
)
from ..findings import MAX_WALK
from . import code as code_checks
from .code import BodyUses
from .format import (
    ACCESS_POINTER,
    ACTIVE,
    BUFFER_UNDEFINED,
    CHANNEL_DRAINED,
    CIRCULAR,
    CLASS_MAIN_THREAD_CHANGES,
    COMPLETION_ACTIVATES,
    COMPLETION_UNBLOCKS,
    CONTROL_TRANSFORM,
    DROPS_DATA,
    EXPORT_BUFFER,
    EXPORT_FUNCTION,
    FIFO_END,
    IN_PAIRS,
    INPUT,
    LOAD_ASYNC,
    MAIN_THREAD_BITS,
    MAIN_THREAD_SHIFT,
    MAX_SEED,
    MEMORY_WALK,
    NO_MICROTHREAD,
    NONE,
    OF_BOTH,
    OF_CHIPS,
    PACKED,
    QUEUE_RUN,
    SECTIONS,
    TASK_TYPES,
    TILE_AT_WAIT,
    TILE_DIMENSIONS,
    VALUE_IS_FLOAT,
    Tables,
)
from .instructions import (
    BITS,
    DSD_ROWS,
    ELEMENTS,
    FIFO_ACTIONS,
    FLOATS,
    FORMATS,
    FRAME_DESCRIPTOR,
    KINDS,
    NO_REGISTER,
    PRIORITIES,
    REGISTER_FILES,
    ROLES,
    ROUNDINGS,
    SCALARS,
    SLOTS,
    STATIC_DESCRIPTOR,
    TILE_ELEMENTS,
    TILE_FUNCTIONS,
    slot_section,
)

Integers = NDArray[np.int64]

MAX_SIDE = 1 << 15
"""Columns and rows of the largest grid: coordinates are 16 bits wide."""

MAX_FIFO_STEP = 4
"""Elements that an operation moves at once: 64 bits."""
MAX_PES = 1 << 24

MAX_SPACE = 1 << 40
"""Bytes of the largest memory, and of those of a class together."""

MAX_ENTRIES = 1 << 24
"""Rows that all uses may name together, and instructions that they may have."""

_BYTES = np.array([max(BITS[kind] // 8, 1) for kind in KINDS])
_MEMORY_KINDS = np.array([kind in ("i8", "i16", "i32", "f16", "bf16", "f32") for kind in KINDS])
_ELEMENT_KINDS = np.array([kind in ("i16", "i32", "f16", "bf16", "f32") for kind in KINDS])
_FLOAT_KINDS = np.array([kind in FLOATS for kind in KINDS])

_OPERANDS = {row.name: len(row.kinds) for row in SCALARS}
"""The number of operands of scalar operations, by name."""

_STRINGS = ("name", "where", "label", "text")
"""Fields that name a string, in every section."""


def check(tables: Tables) -> None:
    """Raise LoomError unless tables are ones that an executor can run."""
    _Checker(tables).check()


def refuse(what: str) -> NoReturn:
    """Raise LoomError."""
    raise LoomError(f"the tables are not valid: {what}; compile the program again")


class _Checker:
    def __init__(self, tables: Tables):
        self.tables = tables
        self.is_chip = False

    def check(self) -> None:
        for name, dtype in SECTIONS.items():
            array = self.tables.sections.get(name)
            if array is None or array.dtype != dtype or array.ndim != 1:
                refuse(f"section '{name}' is missing, or has other records")
        for name in SECTIONS:
            for field in self.tables[name].dtype.names or ():
                if field in _STRINGS:
                    self.rows(name, field, len(self.tables.strings), "strings")
        self.program()
        self.sections()
        self.grid()
        self.members()
        self.memory()
        if self.is_chip:
            self.spaces()
            self.channels()
        self.uses()
        self.queues()
        self.tasks()
        self.routes()
        self.exports()
        code_checks.check(self.tables, self.body_uses, refuse, is_chip=self.is_chip)

    # Rows and ranges

    def column(self, section: str, field: str) -> Integers:
        return self.tables[section][field].astype(np.int64)

    def rows(self, section: str, field: str, count: int, what: str, *, optional: bool = False) -> None:
        """Check that a field has rows below a count, or NONE where that may be."""
        values = self.column(section, field)
        wrong = (values >= count) & ~(optional & (values == NONE))
        if wrong.any():
            row = int(np.argmax(wrong))
            refuse(f"'{field}' of row {row} of '{section}' is not a row of the {count} of '{what}'")

    def named(self, section: str, field: str, target: str, *, optional: bool = False) -> None:
        self.rows(section, field, len(self.tables[target]), target, optional=optional)

    def below(self, section: str, field: str, limit: int) -> None:
        values = self.column(section, field)
        if (values >= limit).any() or (values < 0).any():
            row = int(np.argwhere((values >= limit) | (values < 0))[0][0])
            refuse(f"'{field}' of row {row} of '{section}' is not below {limit}")

    def runs(self, section: str, first: str, counts: Integers | str, target: str) -> None:
        """Check that runs of records are inside a section."""
        lengths = self.column(section, counts) if isinstance(counts, str) else counts
        ends = np.where(lengths > 0, self.column(section, first) + lengths, 0)
        wrong = ends > len(self.tables[target])
        if wrong.any():
            row = int(np.argmax(wrong))
            refuse(f"'{first}' of row {row} of '{section}' leaves the {len(self.tables[target])} rows of '{target}'")

    def all_hold(self, section: str, holds: Any, what: str) -> None:
        if not np.all(holds):
            refuse(f"row {int(np.argmin(holds))} of '{section}' {what}")

    # The grid

    def program(self) -> None:
        program = self.tables["program"]
        if len(program) != 1:
            refuse(f"they contain {len(program)} programs")
        self.rows("program", "target", len(self.tables.strings), "strings")
        name = self.tables.strings[int(program[0]["target"])]
        try:
            self.target = targets.fabric(name)
        except LoomError:
            refuse(f"their target is '{name}'")
        self.is_chip = targets.is_chip(name)
        self.width, self.height = int(program[0]["width"]), int(program[0]["height"])
        if not (0 < self.width <= MAX_SIDE and 0 < self.height <= MAX_SIDE and self.width * self.height <= MAX_PES):
            refuse(f"their grid is {self.width} x {self.height}")

    def sections(self) -> None:
        """Check that there is nothing of a wafer in a program of a chip, nor the other way round."""
        for name in SECTIONS:
            foreign = name not in (*OF_BOTH, *OF_CHIPS) if self.is_chip else name in OF_CHIPS
            if foreign and len(self.tables[name]):
                refuse(f"a program of {self.target.name} has rows of '{name}'")

    def grid(self) -> None:
        for axis, count, side in (("x", "columns", self.width), ("y", "rows", self.height)):
            first, number, step = (self.column("regions", field) for field in (axis, count, f"{axis}_step"))
            inside = (number > 0) & (step > 0) & (step <= MAX_SIDE) & (number <= MAX_SIDE)
            self.all_hold("regions", inside & (first + (number - 1) * step < side), "is not a region of the grid")
        regions = self.tables["regions"]
        self.runs("classes", "regions", "region_count", "regions")
        self.all_hold("classes", self.column("classes", "region_count") > 0, "has no region")
        size = self.column("regions", "columns") * self.column("regions", "rows")
        total = 0
        self.counts = np.zeros(len(self.tables["classes"]), np.int64)
        taken = np.zeros((self.height, self.width), np.bool_)
        for row, record in enumerate(self.tables["classes"]):
            first, count = int(record["regions"]), int(record["region_count"])
            self.counts[row] = size[first : first + count].sum()
            total += int(self.counts[row])
            if total > self.width * self.height:
                refuse(f"class {row} shares PEs with another one")
            for region in regions[first : first + count]:
                x, columns, x_step, y, rows, y_step = (int(field) for field in region)
                place = taken[y : y + (rows - 1) * y_step + 1 : y_step, x : x + (columns - 1) * x_step + 1 : x_step]
                if place.any():
                    refuse(f"class {row} shares PEs with another one, or names one twice")
                place[...] = True

    def members(self) -> None:
        """Check that what a class has is in one piece, class after class."""
        self.below("tasks", "type", len(TASK_TYPES))
        words = self.column("classes", "words")
        self.all_hold(
            "classes", (words >= 2) & (2 * words <= self.target.memory_bytes), "has too many words, or too few"
        )
        self.below("classes", "flags", 2 * CLASS_MAIN_THREAD_CHANGES)
        levels = self.column("classes", "flags") >> MAIN_THREAD_SHIFT & (1 << MAIN_THREAD_BITS) - 1
        self.all_hold("classes", levels <= len(LEVELS), "has a priority that there is not")
        self.bytes = 4 * -(-words // 2)
        for name in ("buffer", "queue", "fifo", "task"):
            section = f"{name}s"
            first, count = self.column("classes", section), self.column("classes", f"{name}_count")
            ends = np.cumsum(count)
            if len(count) and (
                ends[-1] != len(self.tables[section]) or (first[count > 0] != (ends - count)[count > 0]).any()
            ):
                refuse(f"the rows of '{section}' are not those of the classes")
            if not len(count) and len(self.tables[section]):
                refuse(f"the rows of '{section}' belong to no class")
            owners = np.repeat(np.arange(len(count)), count)
            self.all_hold(section, self.column(section, "owner") == owners, "belongs to another class")

    # Memory

    def memory(self) -> None:
        self.below("buffers", "kind", len(KINDS))
        self.below("buffers", "flags", BUFFER_UNDEFINED + 1)
        kind = self.column("buffers", "kind")
        self.all_hold("buffers", _MEMORY_KINDS[kind], "has elements that memory does not hold")
        self.runs("buffers", "dims", "rank", "dims")
        size = _BYTES[kind]
        elements, address = self.column("buffers", "elements"), self.column("buffers", "address")
        owner = self.column("buffers", "owner")
        end = 2 * address + elements * size
        self.all_hold("buffers", end <= self.bytes[owner], "ends behind the memory of its class")
        self.all_hold("buffers", (address % 2 == 0) | (size < 4), "has elements of 32 bits at an odd word")
        for row, record in enumerate(self.tables["buffers"]):
            product = 1
            for extent in self.tables["dims"][int(record["dims"]) : int(record["dims"]) + int(record["rank"])].tolist():
                product *= extent
            if product != int(elements[row]):
                refuse(f"row {row} of 'buffers' has another number of elements than its extents")
        self.named("columns", "owner", "classes")
        self.below("columns", "kind", len(KINDS))
        self.runs("columns", "values", self.counts[self.column("columns", "owner")], "column_values")
        self.named("images", "owner", "classes")
        self.runs("images", "bytes", "size", "image_bytes")
        ends = self.column("images", "address") + self.column("images", "size")
        self.all_hold(
            "images", ends <= self.bytes[self.column("images", "owner")], "ends behind the memory of its class"
        )
        self.named("patches", "owner", "classes")
        self.named("patches", "column", "columns")
        column = self.column("patches", "column")
        patched, at = self.column("columns", "kind")[column], self.column("patches", "address")
        size = _BYTES[patched]
        self.all_hold("patches", _MEMORY_KINDS[patched], "is of a kind that memory does not hold")
        self.all_hold("patches", at + size <= self.bytes[self.column("patches", "owner")], "ends behind the memory")
        self.all_hold("patches", at % size == 0, "is not aligned")
        self.all_hold("patches", self.column("columns", "owner")[column] == self.column("patches", "owner"),
                      "has the column of another class")  # fmt: skip

    # Chips

    def spaces(self) -> None:
        owner, size = self.column("spaces", "owner"), self.tables["spaces"]["size"]
        self.named("spaces", "owner", "classes", optional=True)
        self.all_hold("spaces", size <= MAX_SPACE, f"has more than {MAX_SPACE} bytes")
        own = owner != NONE
        if (self.counts[owner[own]] * size[own].astype(np.int64) > MAX_SPACE).any():
            refuse(f"the memories of a class have more than {MAX_SPACE} bytes together")

    def channels(self) -> None:
        for end in ("producer", "consumer"):
            self.named("channels", end, "classes")
        for field in ("depth", "period", "lanes"):
            self.all_hold("channels", self.column("channels", field) > 0, f"has no {field}")
        self.below("channels", "seed", MAX_SEED + 1)
        self.below("channels", "flags", 2 * CHANNEL_DRAINED)
        for row, channel in enumerate(self.tables["channels"]):
            producer, consumer = int(channel["producer"]), int(channel["consumer"])
            sides = [self.side(end) for end in (producer, consumer)]
            if producer == consumer or sides[0] is None or sides[1] is None or sides[0][1:] != sides[1][1:]:
                refuse(f"row {row} of 'channels' does not join two classes on the same rows")
            lanes, columns = int(channel["lanes"]), [sides[0][0], sides[1][0]]
            if any(1 < each < lanes for each in columns) or (lanes > 1 and max(columns) == 1):
                refuse(f"row {row} of 'channels' has more lanes than cores")

    def side(self, row: int) -> tuple[int, ...] | None:
        """Return how many columns a class has, and its rows; None if it is not one region."""
        record = self.tables["classes"][row]
        if int(record["region_count"]) != 1:
            return self.joined_side(record)
        _, columns, _, y, rows, y_step = (int(field) for field in self.tables["regions"][int(record["regions"])])
        return columns, *range(y, y + rows * y_step, y_step)

    def joined_side(self, record: Any) -> tuple[int, ...] | None:
        """Return what `side` does for a class of several regions, which share no cores."""
        first, count = int(record["regions"]), int(record["region_count"])
        places: dict[int, set[int]] = {}
        for x, columns, x_step, y, rows, y_step in self.tables["regions"][first : first + count].tolist():
            for row in range(y, y + rows * y_step, y_step):
                places.setdefault(row, set()).update(range(x, x + columns * x_step, x_step))
        lines = list(places.values())
        return (len(lines[0]), *sorted(places)) if all(line == lines[0] for line in lines) else None

    def tiles(self) -> None:
        """Check tiles and functions on them; find the class of each tile."""
        self.named("tiles", "space", "spaces")
        self.named("tiles", "owner", "classes", optional=True)
        self.named("tiles", "channel", "channels", optional=True)
        self.below("tiles", "element", TILE_ELEMENTS)
        self.below("tiles", "role", len(ROLES))
        self.below("tiles", "open", 1 << 2 * TILE_DIMENSIONS)
        self.below("tiles", "flags", 2 * TILE_AT_WAIT)
        rank, opened = self.column("tiles", "rank"), self.column("tiles", "open")
        self.all_hold("tiles", (rank > 0) & (rank <= TILE_DIMENSIONS), "has too many dimensions, or none")
        mask = (1 << TILE_DIMENSIONS) - 1
        self.all_hold(
            "tiles", (opened & mask | opened >> TILE_DIMENSIONS) >> rank == 0, "has an open dimension too many"
        )
        space, owner, channel = (self.column("tiles", field) for field in ("space", "owner", "channel"))
        home = self.column("spaces", "owner")[space]
        self.all_hold("tiles", (owner == NONE) | (owner == home), "is in a memory that its owner does not have")
        belongs = channel != NONE
        self.all_hold("tiles", ~belongs | (self.column("tiles", "slot_count") > 0), "has no slots")
        self.all_hold("tiles", ~belongs | (self.tables["tiles"]["slot_size"] > 0), "has slots of no size")
        end = np.where(self.column("tiles", "role") == ROLES.index("written"), 0, 1)
        ends = np.stack([self.column("channels", "producer"), self.column("channels", "consumer")], axis=1)
        at_end = np.full(len(rank), NONE)
        at_end[belongs] = ends[channel[belongs], end[belongs]]
        own = np.where(owner == NONE, home, NONE)
        self.all_hold(
            "tiles", (own == NONE) | (at_end == NONE) | (own == at_end), "is of a channel that its class has no end of"
        )
        both = np.where(own == NONE, at_end, own)
        self.tile_owner = np.where(both == NONE, -1, both)
        self.below("tile_applies", "function", len(TILE_FUNCTIONS))
        self.below("tile_applies", "options", 2 * VALUE_IS_FLOAT)
        self.below("tile_applies", "rounding", len(ROUNDINGS))
        self.all_hold("tile_applies", self.tables["tile_applies"]["kinds"].reshape(-1, 3) < len(ELEMENTS),
                      "has a source of a type that there is not")  # fmt: skip
        function = self.column("tile_applies", "function")
        destination = self.column("tile_applies", "destination")
        is_tile = (destination >= FRAME_DESCRIPTOR) & (destination != NO_REGISTER)
        self.all_hold("tile_applies", is_tile, "has no tile as its destination")
        sources = self.column("tile_applies", "sources").reshape(-1, 3)
        rows = [FUNCTIONS[name] for name in TILE_FUNCTIONS]
        for place in range(3):
            has = np.array([place < row.sources for row in rows])[function]
            scalar = np.array([row.shape in SCALAR_SHAPES for row in rows])[function]
            operand = sources[:, place]
            is_tile = (operand >= FRAME_DESCRIPTOR) & (operand != NO_REGISTER)
            self.all_hold("tile_applies", np.where(has, operand != NO_REGISTER, operand == NO_REGISTER),
                          "has another number of sources than its function")  # fmt: skip
            self.all_hold("tile_applies", ~has | is_tile | (scalar & (operand < STATIC_DESCRIPTOR)),
                          "has a number where a tile is needed")  # fmt: skip

    # Uses, and the rows that they name

    def uses(self) -> None:
        tables = self.tables
        registers, numbers = self.column("bodies", "registers"), self.column("bodies", "numbers")
        arguments, results = self.column("bodies", "arguments"), self.column("bodies", "results")
        self.all_hold("bodies", (numbers + arguments <= registers) & (registers <= STATIC_DESCRIPTOR),
                      "has too many registers, or too few")  # fmt: skip
        limit = (1 << 16) - FRAME_DESCRIPTOR - 1
        for field in ("descriptors", "frame_descriptors"):
            self.all_hold("bodies", self.column("bodies", field) <= limit, "has too many descriptors")
        self.runs("bodies", "kinds", arguments + results, "kinds")
        self.runs("bodies", "slot_kinds", "slots", "slot_kinds")
        for section, count in (("kinds", len(KINDS)), ("slot_kinds", len(SLOTS))):
            if (tables[section] >= count).any():
                refuse(f"'{section}' has a number that is not below {count}")
        self.named("uses", "body", "bodies")
        body = self.column("uses", "body")
        lengths = (numbers + self.column("bodies", "descriptors") + self.column("bodies", "slots"))[body]
        if lengths.sum() > MAX_ENTRIES:
            refuse(f"their uses name {int(lengths.sum())} rows")
        self.runs("uses", "rows", lengths, "rows")
        instructions = int(self.column("bodies", "length")[body].astype(np.int64).sum())
        if instructions > MAX_ENTRIES:
            refuse(f"their uses have {instructions} instructions")
        # One entry for each row of each use, in order.
        use = np.repeat(np.arange(len(body)), lengths)
        within = np.arange(len(use)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        row = tables["rows"][self.column("uses", "rows")[use] + within].astype(np.int64)
        owner = body[use]
        slot = within - numbers[owner] - self.column("bodies", "descriptors")[owner]
        is_number, is_slot = within < numbers[owner], slot >= 0
        is_descriptor = ~is_number & ~is_slot
        if (row[is_number] >= len(tables["numbers"])).any() or (row[is_descriptor] >= len(tables["descriptors"])).any():
            refuse("a use names a number or a descriptor that does not exist")
        kind = np.full(len(row), -1)
        kind[is_slot] = tables["slot_kinds"][(self.column("bodies", "slot_kinds")[owner] + slot)[is_slot]]
        for number, name in enumerate(SLOTS):
            section = slot_section(name)
            if (row[kind == number] >= len(tables[section])).any():
                refuse(f"a use names a row of '{section}' that does not exist")
        self.body_uses = BodyUses(use, owner, slot, kind, row)
        self.slot_rows()
        self.owners(use, is_descriptor, kind, row)

    def slot_rows(self) -> None:
        """Check the records that slots and descriptors name."""
        self.accesses()
        self.descriptors()
        self.operations()
        self.tiles()
        self.below("messages", "shows_value", 2)
        self.rows("prints", "format", len(self.tables.strings), "strings")
        self.runs("prints", "kinds", "arguments", "kinds")
        for row, record in enumerate(self.tables["prints"]):
            first, count = int(record["kinds"]), int(record["arguments"])
            floats = _FLOAT_KINDS[self.tables["kinds"][first : first + count]].tolist()
            try:
                check_format(self.tables.strings[int(record["format"])], floats)
            except ValueError as error:
                refuse(f"row {row} of 'prints' is wrong: {error}")
        self.below("directives", "axis", 2)
        self.below("traps", "count", 4)
        self.below("traps", "kind", len(KINDS))
        self.all_hold("traps", _FLOAT_KINDS[self.column("traps", "kind")], "is not of a kind of floats")
        for row, record in enumerate(self.tables["traps"]):
            name, count = self.tables.strings[int(record["name"])], int(record["count"])
            if count < 1 or _OPERANDS.get(name, count if name == "flow.cb16" else 0) != count:
                refuse(f"row {row} of 'traps' has another number of operands than its operation")

    def accesses(self) -> None:
        self.below("accesses", "kind", len(KINDS))
        self.below("accesses", "flags", 2 * ACCESS_POINTER)
        kind, rank = self.column("accesses", "kind"), self.column("accesses", "rank")
        self.all_hold("accesses", _MEMORY_KINDS[kind], "is of a kind that memory does not hold")
        pointer = self.column("accesses", "flags") == ACCESS_POINTER
        self.all_hold("accesses", ~pointer | (rank <= 1), "has a pointer and more than one index")
        buffer, base = self.column("accesses", "buffer"), self.column("accesses", "base")
        there = np.where(pointer, buffer == NONE, buffer < len(self.tables["buffers"]))
        self.all_hold("accesses", there, "names a buffer that does not exist")
        self.runs("accesses", "dims", np.where(pointer, 0, rank), "access_dims")
        if not len(buffer):
            self.access_owner = np.zeros(0, np.int64)
            return
        size = _BYTES[kind]
        named = np.where(pointer, 0, buffer)
        buffers = self.tables["buffers"]
        owners = buffers["owner"].astype(np.int64)[named] if len(buffers) else np.zeros(len(named), np.int64)
        self.access_owner = np.where(pointer, -1, owners)
        ranks = buffers["rank"].astype(np.int64)[named] if len(buffers) else rank
        self.all_hold("accesses", pointer | (rank == 0) | (rank == ranks), "has another rank than its buffer")
        reach = np.zeros(len(buffer), np.int64)
        extents, scales = self.column("access_dims", "extent"), self.column("access_dims", "scale")
        self.all_hold("access_dims", (scales >= 0) & (scales < 1 << 17) & (extents < 1 << 17), "is beyond all memory")
        empty = np.zeros(len(buffer), np.bool_)
        dims = self.column("accesses", "dims")
        for place in range(int(np.where(pointer, 0, rank).max(initial=0))):
            has = ~pointer & (rank > place)
            where = np.where(has, dims + place, 0)
            self.all_hold("accesses", ~has | (scales[where] % size == 0), "has a scale that is not whole elements")
            reach += np.where(has, np.maximum(extents[where] - 1, 0) * scales[where], 0)
            empty |= has & (extents[where] == 0)
        memory = self.bytes[owners] if len(self.bytes) else np.zeros(len(owners), np.int64)
        fits = (base + np.where(empty, 0, reach + size) <= memory) & (base % size == 0)
        self.all_hold("accesses", pointer | fits, "reaches beyond the memory of its class")

    def descriptors(self) -> None:
        self.below("descriptors", "type", 3)
        self.below("descriptors", "kind", len(KINDS))
        self.below("descriptors", "flags", 2 * IN_PAIRS)
        kind, row, type = (self.column("descriptors", field) for field in ("kind", "row", "type"))
        self.all_hold("descriptors", _ELEMENT_KINDS[kind], "has elements that a stream does not have")
        dimensions, flags = self.column("descriptors", "dimensions"), self.column("descriptors", "flags")
        walks = type == MEMORY_WALK
        self.all_hold("descriptors", ~walks | ((dimensions >= 1) & (dimensions <= MAX_DIMENSIONS)),
                      "has too many dimensions, or none")  # fmt: skip
        self.all_hold("descriptors", (type == QUEUE_RUN) | (walks & (flags == CIRCULAR)) | (flags == 0),
                      "has flags of a queue")  # fmt: skip
        runs, circular = type == QUEUE_RUN, walks & (flags == CIRCULAR)
        packs = runs & (flags & PACKED != 0)
        narrow = np.array([BITS[name] == 16 for name in KINDS])[kind]
        self.all_hold("descriptors", ~packs | narrow, "packs elements that are not of 16 bits")
        self.all_hold("descriptors", ~packs | (flags & CONTROL_TRANSFORM == 0), "packs what has an index")
        extents = self.tables["descriptors"]["extents"].astype(np.uint64)
        steps = self.tables["descriptors"]["strides"][:, 0]
        self.all_hold("descriptors", ~circular | ((dimensions == 2) & (extents[:, 1] > 0) & (steps == 1)),
                      "is not a circular walk")  # fmt: skip
        extents[circular, 1] = 1
        used = np.where(np.arange(MAX_DIMENSIONS) < dimensions[:, None], extents, np.uint64(1))
        self.all_hold("descriptors", ~walks | (used.prod(axis=1) <= MAX_WALK), "has too many elements")
        owner = np.full(len(row), -1)
        for number, section in ((MEMORY_WALK, "buffers"), (QUEUE_RUN, "queues"), (FIFO_END, "fifos")):
            mine = (type == number) & ~((row == NONE) & walks)
            if (row[mine] >= len(self.tables[section])).any():
                refuse(f"a descriptor names a row of '{section}' that does not exist")
            owner[mine] = self.tables[section]["owner"].astype(np.int64)[row[mine]]
        self.descriptor_owner = owner

    def ends(self, section: str) -> Integers:
        """Check how an operation runs and the tasks that its end starts; return the class of those, -1 without."""
        owner = np.full(len(self.tables[section]), -1)
        tasks = self.column("tasks", "owner")
        for field in ("activate", "unblock", "control_activate", "control_unblock"):
            self.named(section, field, "tasks", optional=True)
            row = self.column(section, field)
            named = row != NONE
            if field.endswith("activate"):
                self.local(row[named])
            expected = COMPLETION_ACTIVATES if field.endswith("activate") else COMPLETION_UNBLOCKS
            if (self.column("tasks", "flags")[row[named]] & expected == 0).any():
                refuse(f"an operation of '{section}' starts a task whose flags do not say so")
            mine = tasks[row[named]]
            if ((owner[named] >= 0) & (owner[named] != mine)).any():
                refuse(f"an operation of '{section}' starts tasks of two classes")
            owner[named] = mine
        microthread = self.column(section, "microthread")
        self.all_hold(section, (microthread < self.target.microthreads) | (microthread == NO_MICROTHREAD),
                      "has a microthread that the target lacks")  # fmt: skip
        self.below(section, "priority", len(PRIORITIES))
        return owner

    def local(self, tasks: Integers) -> None:
        """Check that tasks are local ones, which alone can be activated."""
        if (self.column("tasks", "type")[tasks] != TASK_TYPES.index("local")).any():
            refuse("a task is activated that is not a local one")

    def operations(self) -> None:
        self.operation_owner = self.ends("operations")
        self.below("operations", "function", len(DSD_ROWS))
        self.below("operations", "format", len(FORMATS))
        self.below("operations", "flags", 8)
        function = self.column("operations", "function")
        destination = self.column("operations", "destination")
        is_stream = (destination >= STATIC_DESCRIPTOR) & (destination != NO_REGISTER)
        self.all_hold("operations", is_stream, "has no stream as its destination")
        rows = [OPERATIONS[name] for name in DSD_ROWS]
        sources = self.column("operations", "sources").reshape(-1, 3)
        for place in range(3):
            has = np.array([place < len(row.sources) for row in rows])[function]
            scalar = np.array([place in row.scalar_sources for row in rows])[function]
            only = np.array([place in row.scalar_only for row in rows])[function]
            operand = sources[:, place]
            is_stream = (operand >= STATIC_DESCRIPTOR) & (operand != NO_REGISTER)
            self.all_hold("operations", np.where(has, operand != NO_REGISTER, operand == NO_REGISTER),
                          "has another number of sources than its function")  # fmt: skip
            self.all_hold("operations", ~has | np.where(is_stream, ~only, scalar),
                          "has a scalar where a stream is needed, or a stream where a scalar is")  # fmt: skip
        drops = self.column("operations", "flags") & DROPS_DATA != 0
        self.all_hold("operations", ~drops | (function == DSD_ROWS.index("mov32")), "drops data and is not a mov32")
        self.load_owner = self.ends("register_loads")
        self.below("register_loads", "flags", 8)
        asynchronous = self.column("register_loads", "flags") & LOAD_ASYNC != 0
        on_microthread = self.column("register_loads", "microthread") != NO_MICROTHREAD
        self.all_hold("register_loads", ~asynchronous | on_microthread, "is asynchronous and has no microthread")
        sizes = np.array([getattr(self.target, f"dsr_{file}") for file in REGISTER_FILES])
        for section in ("register_loads", "register_reads"):
            self.below(section, "file", len(REGISTER_FILES))
            self.all_hold(section, self.column(section, "number") < sizes[self.column(section, "file")],
                          "has a register that the target lacks")  # fmt: skip
        self.below("register_reads", "fifo", 2)

    def owners(self, use: Integers, is_descriptor: NDArray[np.bool_], kind: Integers, row: Integers) -> None:
        """Find the class whose memory, queues and tasks each use names, also by what it calls."""
        entry = np.full(len(row), -1)
        entry[is_descriptor] = self.descriptor_owner[row[is_descriptor]]
        for name, owner in (
            ("access", self.access_owner), ("operation", self.operation_owner), ("register_load", self.load_owner),
            ("column", self.column("columns", "owner")), ("task", self.column("tasks", "owner")),
            ("fifo", self.column("fifos", "owner")), ("tile", self.tile_owner),
            ("producer", self.column("channels", "producer")), ("consumer", self.column("channels", "consumer")),
        ):  # fmt: skip
            mine = kind == SLOTS.index(name)
            entry[mine] = owner[row[mine]]
        count = len(self.tables["uses"])
        highest, lowest = np.full(count, -1), np.full(count, NONE)
        named = entry >= 0
        np.maximum.at(highest, use[named], entry[named])
        np.minimum.at(lowest, use[named], entry[named])
        self.all_hold("uses", (highest < 0) | (highest == lowest), "names things of two classes")
        self.use_owner: list[int] = highest.tolist()
        callers: dict[int, list[int]] = {}
        calls = kind == SLOTS.index("use")
        for caller, callee in zip(use[calls].tolist(), row[calls].tolist(), strict=True):
            callers.setdefault(callee, []).append(caller)
        pending = [place for place, owner in enumerate(self.use_owner) if owner >= 0]
        while pending:
            callee = pending.pop()
            owner = self.use_owner[callee]
            for caller in callers.get(callee, ()):
                if self.use_owner[caller] < 0:
                    self.use_owner[caller] = owner
                    pending.append(caller)
                elif self.use_owner[caller] != owner:
                    refuse(f"row {caller} of 'uses' names things of two classes")

    def run_by(self, section: str, row: int, use: int, owner: int) -> Any:
        """Check the use of code that something starts; return its body."""
        if use >= len(self.tables["uses"]):
            refuse(f"row {row} of '{section}' has a use that does not exist")
        if self.use_owner[use] not in (-1, owner):
            refuse(f"row {row} of '{section}' runs code of another class")
        body = int(self.tables["uses"][use]["body"])
        self.body_uses.started.add(body)
        return self.tables["bodies"][body]

    # Queues, tasks, FIFOs

    def queues(self) -> None:
        self.below("queues", "direction", 2)
        self.named("queues", "task", "tasks", optional=True)
        self.runs("queues", "colors", "color_count", "queue_colors")
        self.named("queue_colors", "color", "colors")
        self.runs("queue_colors", "regions", "region_count", "regions")
        self.all_hold("queues", self.column("queues", "room") > 0, "has no room")
        direction = self.column("queues", "direction")
        ids = np.where(direction == INPUT, self.target.input_queues, self.target.output_queues)
        self.all_hold("queues", self.column("queues", "id") < ids, "has an id that the target lacks")
        task = self.column("queues", "task")
        self.all_hold("queues", (direction == INPUT) | (task == NONE), "is an output queue and starts a task")
        for row in np.flatnonzero(task != NONE).tolist():
            if int(self.tables["tasks"][int(task[row])]["queue"]) != row:
                refuse(f"row {row} of 'queues' starts a task of another queue")
        self.named("fifos", "buffer", "buffers")
        buffer, owner = self.column("fifos", "buffer"), self.column("fifos", "owner")
        self.all_hold("fifos", self.column("buffers", "owner")[buffer] == owner, "has the buffer of another class")
        self.all_hold("fifos", _ELEMENT_KINDS[self.column("buffers", "kind")[buffer]], "has elements of 8 bits")
        self.all_hold("fifos", self.column("buffers", "elements")[buffer] > 0, "has a buffer without elements")
        size = _BYTES[self.column("buffers", "kind")[buffer]]
        descriptors = self.tables["descriptors"][self.column("descriptors", "type") == FIFO_END]
        if (size[descriptors["row"]] != _BYTES[descriptors["kind"]]).any():
            refuse("a descriptor of a FIFO has elements of another size than the FIFO")
        for field in ("push_task", "pop_task"):
            self.named("fifos", field, "tasks", optional=True)
            task = self.column("fifos", field)
            named = task != NONE
            if (self.column("tasks", "owner")[task[named]] != owner[named]).any():
                refuse("a FIFO starts the task of another class")
            self.local(task[named])
        for field in ("empty_action", "full_action"):
            self.below("fifos", field, len(FIFO_ACTIONS))
        elements = self.column("buffers", "elements")[buffer]
        step = self.column("fifos", "step")
        if ((step == 0) | (step > MAX_FIFO_STEP) | (step > elements)).any():
            refuse("operations on a FIFO move no element at once, or more than it has places")

    def tasks(self) -> None:
        self.below("tasks", "flags", 32)
        self.local(np.flatnonzero(self.column("tasks", "flags") & (ACTIVE | COMPLETION_ACTIVATES)))
        for row, record in enumerate(self.tables["tasks"]):
            type, use, owner = TASK_TYPES[int(record["type"])], int(record["use"]), int(record["owner"])
            if self.is_chip and type != "launch":
                refuse(f"row {row} of 'tasks' is a {type} task, and cores have those that are launched")
            queue = int(record["queue"])
            if (queue == NONE) == (type in ("data", "listener")):
                refuse(f"row {row} of 'tasks' has a queue, or none, against its type")
            if queue != NONE and (
                queue >= len(self.tables["queues"])
                or int(self.tables["queues"][queue]["task"]) != row
                or int(self.tables["queues"][queue]["direction"]) != INPUT
                or int(self.tables["queues"][queue]["owner"]) != owner
            ):
                refuse(f"row {row} of 'tasks' is not the task of its queue")
            if type == "listener":
                if use != NONE:
                    refuse(f"row {row} of 'tasks' is a listener with code")
                continue
            body = self.run_by("tasks", row, use, owner)
            kinds = self.kinds(body, 0, int(body["arguments"]))
            widths = [BITS[kind] for kind in kinds]
            fits = {
                "local": not kinds,
                "data": widths in ([16], [32], [16, 16]),
                "control": widths in ([], [16], [32], [16, 16]),
                "launch": True,
            }[type]
            if not fits or int(body["results"]):
                refuse(f"row {row} of 'tasks' has code with other arguments than {type} tasks have")
        self.named("settings", "owner", "classes")
        self.below("settings", "number", len(SETTINGS))
        self.below("settings", "value", WORD_MASK + 1)
        self.named("blocked_microthreads", "owner", "classes")
        self.below("blocked_microthreads", "number", self.target.microthreads)
        self.named("starts", "owner", "classes")
        for row, record in enumerate(self.tables["starts"]):
            body = self.run_by("starts", row, int(record["use"]), int(record["owner"]))
            if int(body["arguments"]) or int(body["results"]):
                refuse(f"row {row} of 'starts' has code with arguments or results")
            self.body_uses.at_start.add(int(self.tables["uses"][int(record["use"])]["body"]))

    def kinds(self, body: Any, first: int, count: int) -> list[str]:
        start = int(body["kinds"]) + first
        numbers: list[int] = self.tables["kinds"][start : start + count].tolist()
        return [KINDS[number] for number in numbers]

    # Routes and exports

    def routes(self) -> None:
        self.below("colors", "number", self.target.routable_colors)
        for section in ("routes", "host_streams", "networks"):
            self.named(section, "color", "colors")
        for section in ("routes", "host_streams"):
            self.runs(section, "regions", "region_count", "regions")
        self.named("routes", "switch", "switches", optional=True)
        self.below("host_streams", "out", 2)
        self.below("colors", "changes", 2)
        self.below("routes", "teardown", 2)
        for section in ("routes", "switches"):
            for field in ("receive", "transmit"):
                self.below(section, field, 1 << len(PORTS))
        for field, limit in (
            ("sets", 4),
            ("valid", 1 << SWITCH_POSITIONS),
            ("ring", 2),
            ("pop_mode", 4),
            ("current", SWITCH_POSITIONS),
        ):
            self.below("switches", field, limit)
        valid = self.column("switches", "valid")
        current = valid >> self.column("switches", "current") & 1
        self.all_hold("switches", (valid & 1 == 1) & (current == 1), "is at a position that it does not have")
        self.filters()

    def filters(self) -> None:
        self.named("routes", "filter", "filters", optional=True)
        self.below("routes", "swap", 1 << len(PORTS))
        self.below("filters", "kind", len(FILTER_KINDS) + 1)
        self.below("filters", "flags", 1 << len(FILTER_FLAGS))
        kinds = self.column("filters", "kind")
        self.all_hold("filters", kinds > 0, "is of no kind")
        for row, record in enumerate(self.tables["filters"]):
            names = {"id", *list(FILTER_KINDS.values())[int(kinds[row]) - 1][0]}
            needed = names & {"id", "min_idx", "max_idx"}
            ranges = zip(FILTER_NUMBERS, record["values"].tolist(), record["counts"].tolist(), strict=True)
            for name, first, count in ranges:
                if not count:
                    if name in needed:
                        refuse(f"row {row} of 'filters' has no '{name}'")
                    continue
                if name not in names:
                    refuse(f"row {row} of 'filters' has '{name}', which filters of its kind do not")
                values = self.tables["column_values"][first : first + count]
                if len(values) != count:
                    refuse(f"'{name}' of row {row} of 'filters' leaves the rows of 'column_values'")
                limit = self.target.filters if name == "id" else len(FILTER_VALUES)
                if ((values < 0) | (values >= limit)).any():
                    refuse(f"'{name}' of row {row} of 'filters' is not below {limit}")
        for row, route in enumerate(self.tables["routes"]):
            if route["filter"] != NONE:
                counts = self.tables["filters"]["counts"][route["filter"]]
                if ((counts > 1) & (counts != self.pes_of(route))).any():
                    refuse(f"the filter of row {row} of 'routes' has numbers for more or fewer PEs")

    def pes_of(self, record: Any) -> int:
        """Return how many PEs the regions of a record contain."""
        taken = np.zeros((self.height, self.width), np.bool_)
        first, count = int(record["regions"]), int(record["region_count"])
        for x, columns, x_step, y, rows, y_step in self.tables["regions"][first : first + count].tolist():
            taken[y : y + (rows - 1) * y_step + 1 : y_step, x : x + (columns - 1) * x_step + 1 : x_step] = True
        return int(np.count_nonzero(taken))

    def exports(self) -> None:
        self.named("exports", "owner", "classes")
        self.below("exports", "type", 2)
        self.below("exports", "kind", len(KINDS))
        self.below("exports", "flags", 8)
        self.runs("exports", "dims", "rank", "dims")
        type, row, owner = (self.column("exports", field) for field in ("type", "row", "owner"))
        for number, section in ((EXPORT_BUFFER, "buffers"), (EXPORT_FUNCTION, "tasks")):
            mine = type == number
            if (row[mine] >= len(self.tables[section])).any():
                refuse(f"an export names a row of '{section}' that does not exist")
            if (self.column(section, "owner")[row[mine]] != owner[mine]).any():
                refuse(f"an export of a class names a row of '{section}' of another one")
        buffers = type == EXPORT_BUFFER
        self.all_hold(
            "exports",
            ~buffers | _MEMORY_KINDS[self.column("exports", "kind")],
            "is of a kind that memory does not hold",
        )
        launch = self.column("tasks", "type")
        if (launch[row[~buffers]] != TASK_TYPES.index("launch")).any():
            refuse("an export names a task that is not launched")
