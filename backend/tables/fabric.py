"""Assembler of a `flow.fabric` into tables: the grid, colors, routes, and one class after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from xdsl.ir import Operation

from ... import targets
from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...diagnostics.nesting import deep_nesting
from ...dialects import flow
from ...dialects.machine.code import Bodies
from ...dialects.machine.filters import FilterAttr
from ...dialects.machine.region import RegionAttr, indices_text
from ...dialects.machine.source_names import shown_name
from ...dialects.machine.switches import POP_MODES, settings
from ...runtime.tables.format import EXPORT_BUFFER, NONE, SETS_RECEIVE, SETS_TRANSMIT, Tables
from ...targets.wavelets import FILTER_FLAGS, FILTER_KINDS, FILTER_NUMBERS, PORTS, SWAP_PORTS, SWITCH_POSITIONS
from .cores import Chip, Cores, add_channel, add_space, finish_channels
from .interning import Sections
from .units import Shared, Units


@deep_nesting()
def assemble(fabric: flow.FabricOp) -> Tables:
    """Return the tables of a fabric.

    Raises LoomError for what no executor of tables could run.
    """
    return (_Chip if targets.is_chip(fabric.target.data) else _Wafer)(fabric).assemble()


_USE_REGISTERS = {"ordered", "main_thread_changes", "configuration"}
"""The attributes of units whose programs use configuration registers."""


class _Fabric:
    """What programs of wafers and of chips have: classes of units on a grid."""

    UNIT = "PE"
    """The noun for a unit in messages."""

    def __init__(self, op: flow.FabricOp):
        self.op = op
        self.sections = Sections()
        self.target = targets.fabric(op.target.data)
        self.grid = op.width.value.data, op.height.value.data
        self.colors: dict[str, int] = {}
        self.classes: list[Units] = []
        has_registers = any(
            (isinstance(member, flow.ColorOp) and member.changes is not None)
            or (isinstance(member, flow.UnitsOp) and not _USE_REGISTERS.isdisjoint(member.attributes))
            for member in op.body.block.ops
        )
        self.shared = Shared(self.grid, self.colors, self._regions, Bodies(op), has_registers)

    def _program(self) -> None:
        """Add the record of the program."""
        sections = self.sections
        sections.add(
            "program", sections.string(self.target.name), *self.grid, sections.string(self.op.sym_name.data)
        )  # fmt: skip

    def _regions(self, regions: Iterable[RegionAttr]) -> tuple[int, int]:
        """Return the first row and the number of regions, without empty ones."""
        records: list[tuple[int, ...]] = []
        for region in regions:
            columns, rows = region.resolve(*self.grid)
            if columns and rows:
                records.append((columns.start, len(columns), columns.step, rows.start, len(rows), rows.step))
        return self.sections.records("regions", records), len(records)

    def _place_classes(self) -> None:
        """Find the PEs of each class."""
        width, height = self.grid
        taken = np.zeros((height, width), np.bool_)
        for units in self.classes:
            mine = np.zeros((height, width), np.bool_)
            for region in units.op.regions_attr:
                columns, rows = region.resolve(width, height)
                if columns and rows:
                    mine[rows.start : rows.stop : rows.step, columns.start : columns.stop : columns.step] = True
            units.places = np.flatnonzero(mine)
            units.own_regions = self._disjoint(units)
            if not len(units.places):
                raise LoomError(
                    f"units @{units.name} contain no {self.UNIT} of the grid, which has {indices_text(width, height)}; "
                    "correct their region or remove them", location_of(units.op),
                )  # fmt: skip
            if (taken & mine).any():
                raise LoomError(f"units @{units.name} share {self.UNIT}s with another class", location_of(units.op))
            taken |= mine

    def _disjoint(self, units: Units) -> tuple[int, int]:
        """Return the regions of a class; if they share PEs, others that do not."""
        ranges = [region.resolve(*self.grid) for region in units.op.regions_attr]
        if sum(len(columns) * len(rows) for columns, rows in ranges) == len(units.places):
            return self._regions(units.op.regions_attr)
        ends = np.flatnonzero((np.diff(units.places) != 1) | (np.diff(units.places // self.grid[0]) != 0))
        records: list[tuple[int, ...]] = []
        for piece in np.split(units.places, ends + 1):
            y, x = divmod(int(piece[0]), self.grid[0])
            records.append((x, len(piece), 1, y, 1, 1))
        return self.sections.records("regions", records), len(records)


class _Chip(_Fabric):
    """A chip: blocks of cores, one on each row of the grid, and channels between them."""

    UNIT = "core"

    def assemble(self) -> Tables:
        sections, chip, members = self.sections, Chip(), list(self.op.body.block.ops)
        self._program()
        for op in members:
            if isinstance(op, flow.UnitsOp):
                cores = Cores(sections, self.target, op, sections.add("classes"), self.shared, chip)
                self.classes.append(cores)
                chip.classes[cores.name] = cores
            elif isinstance(op, flow.SpaceOp):
                chip.spaces[op.sym_name.data] = add_space(sections, op, NONE)
            elif not isinstance(op, flow.ChannelOp):
                raise LoomError(f"{op.name} does not belong in a flow.fabric of a chip", location_of(op))
        self._place_classes()
        for cores in chip.classes.values():
            cores.load_spaces()
        for op in members:
            if isinstance(op, flow.ChannelOp):
                add_channel(sections, op, chip)
        for cores in chip.classes.values():
            cores.load_members()
        finish_channels(sections, chip)
        return sections.finish()


class _Wafer(_Fabric):
    """A wafer: colors, routes, queues, and PEs that send each other wavelets."""

    def assemble(self) -> Tables:
        op, sections = self.op, self.sections
        members = list(op.body.block.ops)
        self._program()
        labels: set[str] = set()
        for member in members:
            if isinstance(member, flow.ColorOp):
                number, label = member.color.value.data, shown_name(member)
                if label in labels:
                    label += f" (id {number})"
                labels.add(label)
                name = member.sym_name.data
                self.colors[name] = sections.add(
                    "colors", sections.string(name), sections.string(label), sections.place(member), number,
                    int(member.changes is not None),
                )  # fmt: skip
        for member in members:
            self._member(member)
        self._place_classes()
        for units in self.classes:
            units.load_members()
        self._check_exports()
        return sections.finish()

    def _member(self, op: Operation) -> None:
        sections = self.sections
        match op:
            case flow.ColorOp():
                pass
            case flow.RouteOp():
                receive, transmit = [port.data for port in op.receive], [port.data for port in op.transmit]
                color, regions = self._color(op, op.color.root_reference.data), self._regions(op.regions_attr)
                switch = NONE if op.switch is None else self._switch(op, receive, transmit)
                filter = NONE if op.filter is None else self._filter(op.filter)
                sections.add(
                    "routes", color, *regions, switch, filter, sections.place(op), _port_bits(receive),
                    _port_bits(transmit), 0 if op.swap is None else _swap_bits([axis.data for axis in op.swap]),
                    int(op.teardown is not None),
                )  # fmt: skip
            case flow.HostStreamOp():
                color = self._color(op, op.color.root_reference.data)
                sections.add("host_streams", color, *self._regions(op.regions_attr), int(op.way.data == "out"))
            case flow.MessageNetworkOp():
                sections.add("networks", self._color(op, op.color.root_reference.data))
            case flow.UnitsOp():
                row = sections.add("classes")
                self.classes.append(Units(sections, self.target, op, row, self.shared))
            case _:
                raise LoomError(f"{op.name} does not belong in a flow.fabric", location_of(op))

    def _color(self, op: Operation, name: str) -> int:
        if name not in self.colors:
            raise LoomError(f"@{name} is not a color of the fabric", location_of(op))
        return self.colors[name]

    def _switch(self, op: flow.RouteOp, receive: list[str], transmit: list[str]) -> int:
        switch = op.switch
        assert switch is not None
        every = settings(receive, transmit, switch)
        every += [None] * (SWITCH_POSITIONS - len(every))
        ports = [(0, 0) if each is None else (_port_bits(each[0]), _port_bits(each[1])) for each in every]
        valid = sum(1 << position for position, each in enumerate(every) if each is not None)
        sets = [SETS_RECEIVE | SETS_TRANSMIT] + [0] * (SWITCH_POSITIONS - 1)
        for number, attribute in enumerate(switch.positions):
            position = attribute.position
            sets[number + 1] = (SETS_RECEIVE if position.receive is not None else 0) | (
                SETS_TRANSMIT if position.transmit is not None else 0
            )
        return self.sections.intern(
            "switches", tuple(receive for receive, _ in ports), tuple(transmit for _, transmit in ports), tuple(sets),
            valid, int(switch.is_ring), POP_MODES.index(switch.pop_mode.data), switch.current.data,
        )  # fmt: skip

    def _filter(self, filter: FilterAttr) -> int:
        numbers = [filter.values().get(name, ()) for name in FILTER_NUMBERS]
        first = tuple(self.sections.run("column_values", values) for values in numbers)
        flags = sum(1 << FILTER_FLAGS.index(flag.data) for flag in filter.flags)
        kind = list(FILTER_KINDS).index(filter.kind.data) + 1
        return self.sections.intern("filters", first, tuple(map(len, numbers)), kind, flags)

    def _check_exports(self) -> None:
        """Check that a buffer has one type under one name."""
        known: dict[int, tuple[object, ...]] = {}
        for record in self.sections.all("exports"):
            name, where, _, _, dims, type, kind, rank, flags = record
            shown = type, kind, flags & 1, dims, rank
            if known.setdefault(name, shown) != shown and type == EXPORT_BUFFER:
                raise LoomError(
                    f"@{self.sections.text(name)} is exported with two different types",
                    self.sections.text(where) or None,
                )


def _swap_bits(axes: Sequence[str]) -> int:
    """Return the ports at which wavelets change their color as they come in."""
    ports = [port for axis in axes for port in SWAP_PORTS[axis]]
    return _port_bits([*ports, "ramp"] if len(axes) == len(SWAP_PORTS) else ports)


def _port_bits(ports: Iterable[str]) -> int:
    return sum(1 << PORTS.index(port) for port in set(ports))
