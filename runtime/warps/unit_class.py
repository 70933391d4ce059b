"""Unit class: the state of the units of one `flow.units`, in class coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...dialects import flow
from ...dialects.machine.code import Bodies
from ...operations.float_exceptions import message
from ..fabric.classes import words_in_use, words_of
from . import float_exceptions
from .fifos import Fifo
from .lost_wavelets import cause
from .memory import DTYPES, Memory
from .placement import Placement
from .queues import InputQueue, OutputQueue
from .registers import Register
from .resources import Resource
from .streams import Buffer
from .tasks import Task
from .tiles import Space
from .units import Rectangle, UnitSet, every, intersect, rectangle
from .variables import Variables

if TYPE_CHECKING:
    from .machine import WarpMachine

BLOCK_UNITS = 16384
"""Units a block should have: fewer leave too little work for one numpy call, more spill the cache."""


class UnitClass:
    """The units of one `flow.units`: their memory, clocks, tasks and queues, in class coordinates."""

    def __init__(self, machine: WarpMachine, op: flow.UnitsOp, bodies: Bodies):
        self.machine = machine
        self.op = op
        self.bodies = bodies
        """Where the code of its functions and tasks is, some of which it may share with other classes."""
        self.name = op.sym_name.data
        regions = [region.resolve(machine.width, machine.height) for region in op.regions_attr]
        # What channels join are the rows of the grid, so those stay rows.
        self.placement = Placement(
            self.name, regions, machine.width, machine.height, location_of(op), upright=machine.is_chip
        )
        self.units = self.placement.units
        self.shape = self.placement.shape
        height, width = self.shape
        self.words_in_use = words_in_use(op.words.value.data)
        """The 16-bit words in which the program has laid out its buffers."""
        self.memory = Memory(height, words_of(self.shape, op.words.value.data, machine.target), width)
        self.scalar_views: dict[str, Any] = {}
        self.clock = np.zeros(self.shape, np.int64)
        self.busy = np.zeros(self.shape, np.bool_)
        self.busy_units = 0
        self.unresolved = np.zeros(self.shape, np.int16)
        self.block_rows, self.block_columns = _block_shape(height, width, machine.block_units)
        if machine.block_rows is not None:
            self.block_rows, self.block_columns = max(1, min(height, machine.block_rows)), width
        self.blocks_across = -(-width // self.block_columns)
        self.blocks: list[UnitSet | None] = [
            intersect(
                self.units,
                rectangle(
                    range(top, min(height, top + self.block_rows)), range(left, min(width, left + self.block_columns))
                ),
            )
            for top in range(0, height, self.block_rows)
            for left in range(0, width, self.block_columns)
        ]
        self.buffers: dict[str, Buffer] = {}
        self.whole_memory = Buffer("", "i16", 0, (self.memory.words,), self.memory.words)
        """What pointers point into."""
        self.spaces: dict[str, Space] = {}
        self.params: dict[str, Any] = {}
        self.functions: dict[str, flow.FuncOp] = {}
        self.microthreads: dict[int, Resource] = {}
        self.registers: dict[tuple[str, int], Register] = {}
        self.tasks: dict[str, Task] = {}
        self.control_tasks: dict[int, Task] = {}
        """The control task of each id."""
        self.inputs: dict[str, InputQueue] = {}
        self.outputs: dict[str, OutputQueue] = {}
        self.fifos: dict[str, Fifo] = {}
        self.task_list: list[Task] = []
        self.unmasked: Any = None
        """Floating point exceptions that stop each unit, as bits; None if the program never sets the mask."""
        if any(isinstance(inner, flow.SetExceptionMaskOp) for inner in bodies.walk(op)):
            self.unmasked = np.zeros(self.shape, np.int64)
        self.listening = False
        """True if wavelets can start tasks: then a unit's next task is not known from its own operations."""

    @cached_property
    def variables(self) -> Variables:
        """Where the buffers are, for addresses known at run time only; asked for once all of them are laid out."""
        return Variables(self.buffers.values(), self.memory.words)

    def resources(self) -> list[Resource]:
        """Return all that only one operation at a time may use."""
        sides = [side.queue for fifo in self.fifos.values() for side in fifo.sides]
        queues = [*self.inputs.values(), *self.outputs.values(), *sides]
        return [*(queue.resource for queue in queues), *self.microthreads.values()]

    def microthread(self, number: int) -> Resource:
        """Return the microthread of an id, on every unit."""
        found = self.microthreads.get(number)
        if found is None:
            remedy = "give them different ids (ut) or start the second when the first has completed (DSD-209)"
            found = self.microthreads[number] = Resource(self, f"microthread {number}", remedy)
        return found

    def register(self, file: str, number: int) -> Register:
        """Return the register of a file and number, of every unit."""
        return self.registers.setdefault((file, number), Register(self, file, number))

    def stop_at_exceptions(
        self, units: UnitSet, name: str, operands: Sequence[Any], result: Any, kind: str, where: str | None
    ) -> None:
        """Raise LoomError if an operation has a floating point exception that some unit has unmasked.

        Operands and result have the shape of the units, or elements in between: [rows, elements, columns].
        """
        unmasked = self.unmasked[units.index]
        if not unmasked.any():
            return
        bits = np.asarray(float_exceptions.raised(name, operands, result, kind))
        if bits.ndim == 3:
            unmasked = unmasked[:, None, :]
        found = np.argwhere(bits & unmasked)
        if not len(found):
            return
        shape = np.broadcast_shapes(bits.shape, unmasked.shape)
        at = tuple(int(place) for place in found[0])
        values = [float(np.broadcast_to(np.asarray(operand), shape)[at]) for operand in operands]
        wrong = np.zeros(units.shape, np.bool_)
        wrong[at[0], at[-1]] = True
        place, _ = self.describe_first(units, wrong, 0)
        raising = int(np.broadcast_to(bits & unmasked, shape)[at])
        got = float(np.broadcast_to(np.asarray(result), shape)[at])
        raise LoomError(message(raising, values, got, place), where)

    # Places

    def grid_position(self, row: int, column: int) -> tuple[int, int]:
        """Return (x, y) of a unit in the grid."""
        return self.placement.position(row, column)

    def describe(self, units: UnitSet) -> str:
        """Return some units in words, in grid coordinates."""
        if units.count == 1:
            row, column = (int(v.ravel()[0]) for v in units.cells())
            return self.machine.unit_name(*self.grid_position(row, column))
        if isinstance(units, Rectangle):
            corners = [self.grid_position(units.rows[end], units.columns[end]) for end in (0, -1)]
            return f"{units.count} {self._noun} from {self._at(corners[0])} to {self._at(corners[1])}"
        first = self.grid_position(int(units.rows[0]), int(units.columns[0]))
        return f"{units.count} {self._noun}, the first {self._at(first)}"

    @property
    def _noun(self) -> str:
        return "cores" if self.machine.is_chip else "PEs"

    def _at(self, place: tuple[int, int]) -> str:
        return self.machine.unit_name(*place).removeprefix("PE ")

    @property
    def memory_in_words(self) -> str:
        """Return in words the memory that an address is outside of."""
        return "its memory in use" if self.memory.words == self.words_in_use else "its memory"

    def describe_first(self, units: UnitSet, wrong: Any, value: Any) -> tuple[str, Any]:
        """Return the first unit where `wrong` holds, in words, and its value."""
        rows, columns = np.broadcast_arrays(*units.cells())
        wrong = np.broadcast_to(np.asarray(wrong), units.shape)
        y, x = np.argwhere(wrong)[0]
        value = np.broadcast_to(np.asarray(value), units.shape)[y, x]
        return self.machine.unit_name(*self.grid_position(int(rows[y, x]), int(columns[y, x]))), value.item()

    def stray(self, units: UnitSet, address: Any, kind: str, where: str | None) -> LoomError:
        """Return the error for an access at byte addresses of which one is invalid."""
        address = np.asarray(address)
        size = DTYPES[kind].itemsize
        outside = (address < 0) | (address + size > 2 * self.memory.words)
        if outside.any():
            place, byte = self.describe_first(units, outside, address)
            return LoomError(
                f"byte address {byte} on {place} is outside {self.memory_in_words}, bytes 0 to "
                f"{2 * self.memory.words - 1}; check the pointer", where,
            )  # fmt: skip
        place, byte = self.describe_first(units, address & 1 == 1, address)
        return LoomError(
            f"an element of {8 * size} bits is accessed at odd byte address {byte} on {place}; only elements of 8 bits "
            "can be, so copy its bytes one by one", where,
        )  # fmt: skip

    def warn_of_odd_word(self, units: UnitSet, address: Any, what: str, where: str | None) -> None:
        """Warn once for each place that `what` accesses 32-bit elements at word addresses of which one is odd."""
        if where is None or not self.machine.warnings.has(where):
            place, word = self.describe_first(units, np.asarray(address) & 1 == 1, address)
            self.machine.warn(
                where,
                f"{what} 32-bit elements at byte address {2 * word} on {place}, which is not a multiple of 4; align "
                "the variable that the pointer or DSD is made of with align(4)",
            )

    def loss(self, queue: OutputQueue, units: UnitSet) -> str:
        """Return why wavelets of a queue are lost, for the first unit concerned."""
        assert queue.lost is not None
        rows, columns = np.broadcast_arrays(*units.cells())
        y, x = np.argwhere(queue.lost[units.index])[0]
        unit = int(rows[y, x]), int(columns[y, x])
        at = queue.lost_at[unit]
        color = list(self.machine.colors.values())[int(queue.colors[unit])]
        x, y = self.grid_position(*unit)
        why = cause(self.machine, color, (y, x), at)
        return f"its wavelets of color {color.label} end at PE ({at[1]}, {at[0]}){why}"

    # Scheduling

    def touch(self, units: UnitSet, task: Task) -> None:
        """Wake the blocks of units that may now be able to run a task."""
        scheduler = self.machine.scheduler
        if isinstance(units, Rectangle) and self.blocks_across == 1:
            numbers: Sequence[int] = range(units.rows[0] // self.block_rows, units.rows[-1] // self.block_rows + 1)
        else:
            rows, columns = units.cells()
            numbers = np.unique(rows // self.block_rows * self.blocks_across + columns // self.block_columns).tolist()
        for number in numbers:
            task.hot.add(number)
            scheduler.wake(self, number)

    def hold(self, units: UnitSet) -> None:
        """Hold units in the middle of a task, so that they start no other."""
        busy = self.busy[units.index]
        if not every(busy):
            self.busy_units += units.count - int(busy.sum())
            self.busy[units.index] = True


def _block_shape(height: int, width: int, block_units: int | None) -> tuple[int, int]:
    """Return the rows and columns of a block: whole rows, unless fewer units than a row has are asked for."""
    if block_units is not None:
        return max(1, min(height, block_units // width)), max(1, min(width, block_units))
    if height * width <= BLOCK_UNITS:
        return height, width
    return max(1, min(height, round(BLOCK_UNITS / width))), width
