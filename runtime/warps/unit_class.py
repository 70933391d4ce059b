"""Unit class: the state of the units of one `flow.units`, in class coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...diagnostics.locations import location_of
from ...dialects import flow
from ...dialects.machine.code import Bodies
from .placement import Placement
from .tasks import Task
from .tiles import Space
from .units import Rectangle, UnitSet, every, intersect, rectangle

if TYPE_CHECKING:
    from .machine import WarpMachine

BLOCK_UNITS = 16384
"""Units a block should have: fewer leave too little work for one numpy call, more spill the cache."""


class UnitClass:
    """The units of one `flow.units`: their memories and tasks, in class coordinates."""

    def __init__(self, machine: WarpMachine, op: flow.UnitsOp, bodies: Bodies):
        self.machine = machine
        self.op = op
        self.bodies = bodies
        """Where the code of its functions is, some of which it may share with other classes."""
        self.name = op.sym_name.data
        regions = [region.resolve(machine.width, machine.height) for region in op.regions_attr]
        self.placement = Placement(self.name, regions, machine.width, machine.height, location_of(op))
        self.units = self.placement.units
        self.shape = self.placement.shape
        height, width = self.shape
        self.busy = np.zeros(self.shape, np.bool_)
        """The units in the middle of a task, which start no other."""
        self.busy_units = 0
        rows = height if height * width <= BLOCK_UNITS else round(BLOCK_UNITS / width)
        if machine.block_rows is not None:
            rows = machine.block_rows
        self.block_rows = max(1, min(height, rows))
        self.blocks: list[UnitSet | None] = [
            intersect(self.units, rectangle(range(top, min(height, top + self.block_rows)), range(width)))
            for top in range(0, height, self.block_rows)
        ]
        self.spaces: dict[str, Space] = {}
        self.functions: dict[str, flow.FuncOp] = {}
        self.tasks: list[Task] = []

    # Places

    def grid_position(self, row: int, column: int) -> tuple[int, int]:
        """Return (x, y) of a unit in the grid."""
        return self.placement.position(row, column)

    def describe(self, units: UnitSet) -> str:
        """Return some units in words, in grid coordinates."""
        if units.count == 1:
            row, column = (int(v.ravel()[0]) for v in units.cells())
            return self._at(row, column)
        if isinstance(units, Rectangle):
            first, last = (self._at(units.rows[end], units.columns[end]) for end in (0, -1))
            return f"{units.count} cores from {first} to {last}"
        return f"{units.count} cores, the first {self._at(int(units.rows[0]), int(units.columns[0]))}"

    def _at(self, row: int, column: int) -> str:
        return self.machine.unit_name(*self.grid_position(row, column))

    def describe_first(self, units: UnitSet, wrong: Any, value: Any) -> tuple[str, Any]:
        """Return the first unit where `wrong` holds, in words, and its value."""
        rows, columns = np.broadcast_arrays(*units.cells())
        wrong = np.broadcast_to(np.asarray(wrong), units.shape)
        y, x = np.argwhere(wrong)[0]
        value = np.broadcast_to(np.asarray(value), units.shape)[y, x]
        return self._at(int(rows[y, x]), int(columns[y, x])), value.item()

    # Scheduling

    def touch(self, units: UnitSet, task: Task) -> None:
        """Wake the blocks of units that may now be able to run a task."""
        if isinstance(units, Rectangle):
            numbers = range(units.rows[0] // self.block_rows, units.rows[-1] // self.block_rows + 1)
        else:
            numbers = np.unique(units.rows // self.block_rows).tolist()
        for number in numbers:
            task.hot.add(number)
            self.machine.scheduler.wake(self, number)

    def hold(self, units: UnitSet) -> None:
        """Hold units in the middle of a task, so that they start no other."""
        busy = self.busy[units.index]
        if not every(busy):
            self.busy_units += units.count - int(busy.sum())
            self.busy[units.index] = True
