"""A class of cores of a chip: its memories, its code, and the channels that it is at an end of."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Operation

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...dialects import flow
from ...dialects.scalar_types import kind_of
from ...runtime.tables.format import CHANNEL_DRAINED, EXPORT_FUNCTION, EXPORT_READ_ONLY, MAX_SEED, NONE, TASK_TYPES
from ...runtime.tables.instructions import KINDS
from ...targets import Target
from . import control_flow, operations, scalars, tiles
from .body import Body, Handler
from .interning import Sections
from .units import Shared, Units


@dataclass
class Chip:
    """What the classes of a chip share: memories of all cores, classes and channels by their names."""

    spaces: dict[str, int] = field(default_factory=dict[str, int])
    classes: dict[str, Cores] = field(default_factory=dict[str, "Cores"])
    channels: dict[str, int] = field(default_factory=dict[str, int])
    ends: dict[int, tuple[str, str]] = field(default_factory=dict[int, tuple[str, str]])
    """The classes that produce and consume of each channel, by its row."""
    drained: set[int] = field(default_factory=set[int])
    """The channels whose producers take back the credits."""
    records: dict[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    """Of channels, but for their flags."""


class Cores(Units):
    """One `flow.units` of a chip on its way into the tables."""

    def __init__(self, sections: Sections, target: Target, op: flow.UnitsOp, row: int, shared: Shared, chip: Chip):
        super().__init__(sections, target, op, row, shared)
        self.chip = chip
        self.spaces: dict[str, int] = {}

    # What code names

    @property
    def drained(self) -> set[int]:
        """The channels whose producers take back the credits."""
        return self.chip.drained

    def class_row(self, name: str) -> int:
        """Return the row of a class."""
        return self.chip.classes[name].row

    def space(self, op: Operation, name: str, owner: str | None) -> int:
        """Return the row of a memory of the core, of all cores, or of another class."""
        if owner is None:
            row = self.spaces.get(name, self.chip.spaces.get(name))
        else:
            other = self.chip.classes.get(owner)
            row = None if other is None else other.spaces.get(name)
        if row is None:
            raise LoomError(
                f"@{name} is not a memory of units @{self.name if owner is None else owner}", location_of(op)
            )
        return row

    def channel(self, op: Operation, name: str) -> int:
        """Return the row of a channel."""
        row = self.chip.channels.get(name)
        if row is None:
            raise LoomError(f"@{name} is not a channel", location_of(op))
        return row

    def check_end(self, op: Operation, row: int, name: str, *, producing: bool) -> None:
        """Raise LoomError unless the class is at an end of a channel."""
        wanted = self.chip.ends[row][0 if producing else 1]
        if wanted != self.name:
            raise LoomError(
                f"{op.name} of channel @{name} is in units @{self.name}, but its "
                f"{'producer' if producing else 'consumer'} is @{wanted}",
                location_of(op),
            )

    # Members

    def load_spaces(self) -> None:
        """Read the memories of the class."""
        for op in self.op.body.block.ops:
            if isinstance(op, flow.SpaceOp):
                self.spaces[op.sym_name.data] = add_space(self.sections, op, self.row)

    def load_members(self) -> None:
        """Read the functions of the class, and make the code of those that are exported."""
        members = list(self.op.body.block.ops)
        for op in members:
            if isinstance(op, flow.FuncOp):
                home = self.bodies.home(op)
                assert isinstance(home, flow.FuncOp), "verified: a function shares with a function"
                self.functions[op.sym_name.data] = home
            elif not isinstance(op, flow.ExportOp | flow.SpaceOp):
                raise LoomError(f"{op.name} does not belong in units of cores", location_of(op))
        sections, first_task = self.sections, self.sections.count("tasks")
        for op in members:
            if isinstance(op, flow.ExportOp):
                self._launch(op)
        sections.put(
            "classes", self.row, sections.string(self.name), sections.place(self.op), self.words, *self.own_regions,
            0, 0, 0, 0, 0, 0, first_task, sections.count("tasks") - first_task, 0,
        )  # fmt: skip

    def _launch(self, op: flow.ExportOp) -> None:
        name, sections = op.symbol.root_reference.data, self.sections
        function = self.functions.get(name)
        if function is None:
            raise LoomError(f"@{name} is exported but is not a function", location_of(op))
        block, where = function.body.block, location_of(function)
        # Rows of tiles and ends of channels are those of the class, so its code is its own.
        body = Body(self, name, where, _HANDLERS, is_free=True)
        body.start(block)
        body.block(block)
        body.where = body.place
        body.control("end")
        use = sections.intern("uses", *self._bind(body.finish()))
        row = sections.add(
            "tasks", sections.string(name), sections.place(function), self.row, use, NONE, -1,
            TASK_TYPES.index("launch"), 0,
        )  # fmt: skip
        unsigned = [int(position in op.unsigned_positions) for position in range(len(block.args))]
        sections.add(
            "exports", sections.string(op.visible_name.data), sections.place(op), self.row, row,
            sections.run("dims", unsigned), EXPORT_FUNCTION, 0, len(unsigned), EXPORT_READ_ONLY,
        )  # fmt: skip


def add_space(sections: Sections, op: flow.SpaceOp, owner: int) -> int:
    """Return the new row of a memory, of a class or, if that is NONE, of all cores."""
    return sections.add("spaces", op.size.value.data, sections.string(op.sym_name.data), owner)


def add_channel(sections: Sections, op: flow.ChannelOp, chip: Chip) -> None:
    """Add a channel, whose classes are known."""
    name, ends = op.sym_name.data, [symbol.root_reference.data for symbol in (op.producer, op.consumer)]
    for end in ends:
        if end not in chip.classes:
            raise LoomError(f"@{end} is not a class of units", location_of(op))
    producer, consumer = (chip.classes[end] for end in ends)
    sides = [_side(cores) for cores in (producer, consumer)]
    if sides[0] is None or sides[1] is None or sides[0][1] != sides[1][1]:
        raise LoomError(
            f"channel @{name} needs units @{producer.name} and @{consumer.name} on the same rows, without gaps",
            location_of(op),
        )
    depth, period, lanes, seed = (each.value.data for each in (op.depth, op.period, op.lanes, op.seed))
    for cores, (columns, _) in zip((producer, consumer), (sides[0], sides[1]), strict=True):
        if 1 < columns < lanes:
            raise LoomError(
                f"channel @{name} has {lanes} lanes, but units @{cores.name} have only {columns}", location_of(op)
            )
    if lanes > 1 and max(sides[0][0], sides[1][0]) == 1:
        raise LoomError(f"channel @{name} has {lanes} lanes, but one unit on each side", location_of(op))
    if seed > MAX_SEED or max(depth, period) >= NONE:
        raise LoomError(
            f"channel @{name} has {depth} slots, a period of {period} and {seed} credits at the start; use at most "
            f"{NONE - 1} slots and {MAX_SEED} credits", location_of(op),
        )  # fmt: skip
    row = sections.add("channels")
    chip.channels[name] = row
    chip.ends[row] = producer.name, consumer.name
    chip.records[row] = (
        sections.string(name), sections.place(op), producer.row, consumer.row, depth, period, lanes, seed,
    )  # fmt: skip


def finish_channels(sections: Sections, chip: Chip) -> None:
    """Write the channels, of which the code of all classes is known now."""
    for row, record in chip.records.items():
        sections.put("channels", row, *record, CHANNEL_DRAINED if row in chip.drained else 0)


def _side(cores: Cores) -> tuple[int, tuple[int, ...]] | None:
    """Return how many columns a class has, and its rows; None if it is not one rectangle."""
    width = cores.grid[0]
    rows: dict[int, list[int]] = {}
    for place in cores.places.tolist():
        rows.setdefault(place // width, []).append(place % width)
    columns = list(rows.values())
    if any(each != columns[0] for each in columns):
        return None
    return len(columns[0]), tuple(rows)


def scalar(body: Body, op: Operation) -> None:
    """Append an operation on scalars. Raises LoomError for one that cores do not execute."""
    if any(kind_of(value.type) is None for value in (*op.operands, *op.results)) or not op.results:
        raise LoomError(_cannot_execute(op), location_of(op))
    try:
        scalars.scalar(body, op)
    except LoomError as error:
        if error.message.startswith(f"the engine cannot execute {op.name}"):
            raise LoomError(_cannot_execute(op), location_of(op)) from None
        raise


def _cannot_execute(op: Operation) -> str:
    """Return why cores do not execute an operation: a type that they do not compute with, or the operation itself."""
    for type in (*op.operand_types, *op.result_types):
        if kind_of(type) is None:
            kinds = ", ".join(reversed(KINDS))
            return f"the engine cannot execute {op.name} on {type}; compute with {kinds} instead"
    return f"the engine cannot execute {op.name} on cores of a chip; lower it to arith, scf and flow first"


_OF_PES = (flow.GetParamOp, flow.SetExceptionMaskOp, flow.ExtentOp, flow.CallOp)

_HANDLERS: dict[type[Operation], Handler] = {
    **{op: handler for op, handler in (scalars.HANDLERS | control_flow.HANDLERS).items() if op not in _OF_PES},
    Operation: scalar,
    flow.AssertOp: operations.check,
    **tiles.HANDLERS,
}
