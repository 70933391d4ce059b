"""The machine: classes of units loaded from a `flow.fabric`, the scheduler and what a host sees.

The scheduler keeps a list of the blocks of units in which something changed and never scans the grid. In a block
it runs, for every unit, the earliest of its ready tasks, all units that start the same task as one warp. A unit
for which something earlier may still arrive waits until nothing else can run; then the earliest go, as far as the
shortest way of a wavelet looks ahead.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Operation

from .. import targets
from ..diagnostics import LoomError, location_of
from ..dialects import flow
from ..dialects.region import RegionAttr
from .arithmetic import Scratch
from .deadlock import Deadlock, explain
from .executor import Executor, decode
from .fabric import Color, compress, trace
from .memory import DTYPES, WIDE, Memory
from .program import Compiler
from .queues import InputQueue, Message, OutputQueue
from .scalars import kind_of, normalize
from .streams import Buffer
from .tasks import NEVER, Task
from .units import Array, Rectangle, UnitSet, cells, from_mask, intersect, rectangle, select, subtract
from .warp import FINISHED, SUSPENDED, Code, Warp, run

UNLIMITED = 1 << 62
"""Steps of a run without a limit."""

BLOCK_UNITS = 8192
"""Units a block should have: fewer leave too little work for one numpy call, more spill the cache."""


class UnitClass:
    """The units of one `flow.units`: their memory, clocks, tasks and queues, in class coordinates."""

    def __init__(self, machine: Machine, op: flow.UnitsOp):
        self.machine = machine
        self.op = op
        self.name = op.sym_name.data
        self.rows, self.columns, self.units = _place(machine, op)
        self.shape = (len(self.rows), len(self.columns))
        height, width = self.shape
        words = op.words.value.data
        self.memory = Memory(height, max(2, words), width)
        self.scalar_views: dict[str, Any] = {}
        self.clock = np.zeros(self.shape, np.int64)
        self.busy = np.zeros(self.shape, np.bool_)
        self.busy_units = 0
        self.unresolved = np.zeros(self.shape, np.int16)
        self.block_rows, self.block_columns = _block_shape(height, width, machine.block_units)
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
        self.params: dict[str, Any] = {}
        self.functions: dict[str, flow.FuncOp] = {}
        self.tasks: dict[str, Task] = {}
        self.inputs: dict[str, InputQueue] = {}
        self.outputs: dict[str, OutputQueue] = {}
        self.task_list: list[Task] = []
        self.listening = False
        """Whether wavelets can start tasks: then a unit's next task is not known from its own operations."""

    # Places

    def grid_position(self, row: int, column: int) -> tuple[int, int]:
        """(x, y) of a unit in the grid."""
        return self.columns[column], self.rows[row]

    def coordinates(self, axis: str, dtype: np.dtype[Any]) -> Array:
        """Grid column or row of every unit, [rows, columns]."""
        if axis == "x":
            return np.broadcast_to(np.asarray(self.columns, dtype)[None, :], self.shape)
        return np.broadcast_to(np.asarray(self.rows, dtype)[:, None], self.shape)

    def describe(self, units: UnitSet) -> str:
        """Units in words, in grid coordinates."""
        if units.count == 1:
            row, column = (int(v.ravel()[0]) for v in units.cells())
            return f"PE {self.grid_position(row, column)}"
        if isinstance(units, Rectangle):
            left, top = self.grid_position(units.rows[0], units.columns[0])
            right, bottom = self.grid_position(units.rows[-1], units.columns[-1])
            return f"{units.count} PEs from {(left, top)} to {(right, bottom)}"
        first = self.grid_position(int(units.rows[0]), int(units.columns[0]))
        return f"{units.count} PEs, the first {first}"

    def describe_first(self, units: UnitSet, wrong: Any, value: Any) -> tuple[str, Any]:
        """The first unit where `wrong` holds, in words, and its value."""
        rows, columns = np.broadcast_arrays(*units.cells())
        wrong = np.broadcast_to(np.asarray(wrong), units.shape)
        y, x = np.argwhere(wrong)[0]
        value = np.broadcast_to(np.asarray(value), units.shape)[y, x]
        return f"PE {self.grid_position(int(rows[y, x]), int(columns[y, x]))}", value.item()

    def loss(self, queue: OutputQueue, units: UnitSet) -> str:
        """Why wavelets of a queue are lost, for the first unit concerned."""
        assert queue.lost is not None
        rows, columns = np.broadcast_arrays(*units.cells())
        y, x = np.argwhere(queue.lost[units.index])[0]
        at = queue.lost_at[int(rows[y, x]), int(columns[y, x])]
        color = self.machine.color_name(int(queue.colors[int(rows[y, x]), int(columns[y, x])]))
        return f"its wavelets of color {color} end at PE ({at[1]}, {at[0]}); complete the route or stop the send there"

    # Scheduling

    def touch(self, units: UnitSet, task: Task) -> None:
        """Some units may now be able to run a task."""
        ready = self.machine.ready
        if isinstance(units, Rectangle) and self.blocks_across == 1:
            numbers: Sequence[int] = range(
                units.rows[0] // self.block_rows, units.rows[-1] // self.block_rows + 1
            )
        else:
            rows, columns = units.cells()
            numbers = np.unique(
                rows // self.block_rows * self.blocks_across + columns // self.block_columns
            ).tolist()
        for number in numbers:
            task.hot.add(number)
            key = (self, number)
            if key not in self.machine.queued:
                self.machine.queued.add(key)
                ready.append(key)

    def set_busy(self, units: UnitSet, busy: bool) -> None:
        self.busy[units.index] = busy
        self.busy_units += units.count if busy else -units.count


def _block_shape(height: int, width: int, block_units: int | None) -> tuple[int, int]:
    """Rows and columns of a block: whole rows, unless fewer units than a row has are asked for."""
    if block_units is not None:
        return max(1, min(height, block_units // width)), max(1, min(width, block_units))
    if height * width <= 2 * BLOCK_UNITS:
        return height, width
    return max(1, min(height, round(BLOCK_UNITS / width))), width


def _ranges(machine: Machine, regions: ArrayAttr[RegionAttr]) -> list[tuple[range, range]]:
    found = [region.resolve(machine.width, machine.height) for region in regions]
    return [(columns, rows) for columns, rows in found if columns and rows]


def _place(machine: Machine, op: flow.UnitsOp) -> tuple[range, range, UnitSet]:
    """Grid rows and columns of a class, and its units in class coordinates."""
    regions = _ranges(machine, op.regions_attr)
    if not regions:
        raise LoomError(f"units @{op.sym_name.data} stand on no PE of the grid", location_of(op))
    if len(regions) == 1:
        columns, rows = regions[0]
        return rows, columns, rectangle(range(len(rows)), range(len(columns)))
    mask = np.zeros((machine.height, machine.width), np.bool_)
    for columns, rows in regions:
        mask[rectangle(rows, columns).index] = True
    y, x = np.nonzero(mask)
    whole = cells(y, x)
    if isinstance(whole, Rectangle):
        return whole.rows, whole.columns, rectangle(range(len(whole.rows)), range(len(whole.columns)))
    top, left = int(y.min()), int(x.min())
    return (
        range(top, int(y.max()) + 1), range(left, int(x.max()) + 1), cells(y - top, x - left),
    )  # fmt: skip


class Exported:
    """A symbol the host sees: a buffer (kind, numpy dtype, shape) or a function (argument kinds)."""

    def __init__(self, name: str, kind: str, dtype: np.dtype[Any] | None, shape: tuple[int, ...], read_only: bool):
        self.name = name
        self.kind = kind
        self.dtype = dtype
        self.shape = shape
        self.read_only = read_only
        self.places: list[tuple[UnitClass, Buffer]] = []
        self.launchers: list[tuple[UnitClass, Task]] = []


class Machine:
    """Executes the `flow.fabric` of a module.

    `block_units` limits the units that start a task as one warp; results and clocks do not depend on it. Raises
    LoomError for a program that cannot be loaded (unknown operations, regions off the grid, routes in a circle).
    """

    def __init__(self, module: ModuleOp | flow.FabricOp, *, block_units: int | None = None):
        fabric = module if isinstance(module, flow.FabricOp) else _only_fabric(module)
        self.op = fabric
        self.width = fabric.width.value.data
        self.height = fabric.height.value.data
        self.target = targets.get(fabric.target.data)
        self.scratch = Scratch()
        self.rounding_cell = array("f", [0.0])
        """Generated code rounds to float32 through it."""
        self.ready: deque[tuple[UnitClass, int]] = deque()
        self.queued: set[tuple[UnitClass, int]] = set()
        self.stalled: dict[tuple[UnitClass, int], None] = {}
        self.runnable: deque[Warp] = deque()
        self.paused: deque[Warp] = deque()
        self.held: list[tuple[InputQueue, Message]] = []
        self.suspended: dict[int, Warp] = {}
        self.steps = 0
        self.step_limit: int | None = None
        self.wavelets = 0
        self.task_runs = 0
        self.colors: dict[str, Color] = {}
        self.classes: list[UnitClass] = []
        self.exports: dict[str, Exported] = {}
        self.executor = Executor(self)
        self.lookahead = self.target.timing.inject
        self.block_units = block_units
        self._load()

    # Loading

    def _load(self) -> None:
        shape = (self.height, self.width)
        for op in self.op.body.block.ops:
            if isinstance(op, flow.ColorOp):
                name = op.sym_name.data
                self.colors[name] = Color(name, op.color.value.data, np.zeros(shape, np.uint8), np.zeros(shape, np.uint8))
        for op in self.op.body.block.ops:
            if isinstance(op, flow.RouteOp):
                self._color(op, op.color.root_reference.data).set_route(
                    _ranges(self, op.regions_attr), [port.data for port in op.receive],
                    [port.data for port in op.transmit],
                )  # fmt: skip
            elif isinstance(op, flow.UnitsOp):
                self.classes.append(UnitClass(self, op))
            elif not isinstance(op, flow.ColorOp):
                raise LoomError(f"{op.name} does not belong in a flow.fabric", location_of(op))
        taken = np.zeros(shape, np.bool_)
        for cls in self.classes:
            rows, columns = np.broadcast_arrays(*cls.units.cells())
            place = (np.asarray(cls.rows)[rows], np.asarray(cls.columns)[columns])
            if taken[place].any():
                raise LoomError(f"units @{cls.name} share PEs with another class", location_of(cls.op))
            taken[place] = True
        for cls in self.classes:
            self._load_class(cls)
        self._connect()

    def _color(self, op: Operation, name: str) -> Color:
        color = self.colors.get(name)
        if color is None:
            raise LoomError(f"@{name} is no color of the fabric", location_of(op))
        return color

    def color_name(self, number: int) -> str:
        """The name of the color at a position of the color table."""
        return list(self.colors)[number] if 0 <= number < len(self.colors) else "unknown"

    def _load_class(self, cls: UnitClass) -> None:
        operations = list(cls.op.body.block.ops)
        for op in operations:
            if isinstance(op, flow.BufferOp):
                self._load_buffer(cls, op)
            elif isinstance(op, flow.ParamOp):
                self._load_param(cls, op)
            elif isinstance(op, flow.QueueOp):
                self._load_queue(cls, op)
            elif isinstance(op, flow.FuncOp):
                cls.functions[op.sym_name.data] = op
        tasks = [op for op in operations if isinstance(op, flow.TaskOp)]
        changed = {
            symbol.root_reference.data
            for op in cls.op.walk()
            if isinstance(op, flow.BlockOp | flow.UnblockOp | flow.ApplyOp)
            and (symbol := op.symbol if not isinstance(op, flow.ApplyOp) else op.unblock) is not None
        }
        for op in tasks:
            self._load_task(cls, op, changed)
        compiler = Compiler(self, cls)
        for op in tasks:
            task = cls.tasks[op.sym_name.data]
            task.code = compiler.compile(task.name, op.body.block)
            if task.kind == "data":
                _check_data_task(op, task.code)
        for op in operations:
            if isinstance(op, flow.ExportOp):
                self._load_export(cls, op, compiler)
        for task in cls.tasks.values():
            if task.kind == "local" and (task.active[cls.units.index] != NEVER).any():
                cls.touch(cls.units, task)
        cls.task_list = list(cls.tasks.values())
        cls.listening = any(task.kind in ("data", "control") for task in cls.task_list)

    def _load_buffer(self, cls: UnitClass, op: flow.BufferOp) -> None:
        kind = kind_of(op.type.element_type)
        if kind is None or kind not in cls.memory.typed:
            raise LoomError(f"buffer @{op.sym_name.data} holds {op.type.element_type}, which memory does not",
                            location_of(op))  # fmt: skip
        shape = tuple(op.type.get_shape())
        elements = int(np.prod(shape, dtype=np.int64))
        buffer = Buffer(op.sym_name.data, kind, op.address.value.data, shape, elements)
        if buffer.address < 0 or buffer.end > cls.memory.words:
            raise LoomError(
                f"buffer @{buffer.name} ends at word {buffer.end}, beyond the {cls.memory.words} words of its units",
                location_of(op),
            )
        cls.buffers[buffer.name] = buffer
        if op.initial is not None:
            values = np.asarray(dense_values(op.initial), DTYPES[kind]).reshape(shape)
            if values.any():
                self._write(cls, buffer, np.broadcast_to(values, (*cls.shape, *shape)))

    def _load_param(self, cls: UnitClass, op: flow.ParamOp) -> None:
        kind = str(kind_of(op.values.get_element_type()))
        values = dense_values(op.values)
        shape = tuple(op.values.get_shape())
        if values.size == 1:
            cls.params[op.sym_name.data] = normalize(kind, values.ravel()[0].item())
            return
        if shape != (self.height, self.width):
            raise LoomError(
                f"param @{op.sym_name.data} has shape {list(shape)}; give one value, or one per PE, "
                f"[{self.height}, {self.width}]", location_of(op),
            )  # fmt: skip
        cls.params[op.sym_name.data] = values.astype(DTYPES[kind])[rectangle(cls.rows, cls.columns).index]

    def _load_queue(self, cls: UnitClass, op: flow.QueueOp) -> None:
        colors = np.full((self.height, self.width), -1, np.int16)
        names = list(self.colors)
        for symbol, regions in zip(op.colors, op.color_regions, strict=True):
            color = self._color(op, symbol.root_reference.data)
            for columns, rows in _ranges(self, regions):
                colors[rectangle(rows, columns).index] = names.index(color.name)
        mine = colors[rectangle(cls.rows, cls.columns).index]
        name, number = op.sym_name.data, op.queue_id.value.data
        if op.direction.data == "input":
            cls.inputs[name] = InputQueue(cls, name, number, mine)
        else:
            cls.outputs[name] = OutputQueue(cls, name, number, mine)

    def _load_task(self, cls: UnitClass, op: flow.TaskOp, changed: set[str]) -> None:
        name = op.sym_name.data
        queue = None
        if op.queue is not None:
            queue = cls.inputs.get(op.queue.root_reference.data)
            if queue is None:
                raise LoomError(f"{op.queue} is no input queue of {cls.name}", location_of(op))
        blockable = op.blocked is not None or name in changed or (queue is not None and queue.name in changed)
        active = np.full(cls.shape, NEVER, np.int64)
        if op.active is not None:
            active[cls.units.index] = 0
        unblocked = None
        if blockable:
            unblocked = np.full(cls.shape, NEVER if op.blocked is not None else 0, np.int64)
        if op.kind.data == "control":
            raise LoomError("control tasks are not provided by the engine yet", location_of(op))
        task = Task(cls, name, op.kind.data, op.task_id.value.data, Code(name), active, unblocked, queue)
        cls.tasks[name] = task
        if queue is not None:
            if queue.task is not None:
                raise LoomError(f"input queue @{queue.name} has two data tasks, @{queue.task.name} and @{name}",
                                location_of(op))  # fmt: skip
            queue.task = task

    def _load_export(self, cls: UnitClass, op: flow.ExportOp, compiler: Compiler) -> None:
        name, visible = op.symbol.root_reference.data, op.visible_name.data
        buffer, function = cls.buffers.get(name), cls.functions.get(name)
        if buffer is not None:
            dtype = DTYPES[buffer.kind]
            if op.unsigned is not None and dtype.kind == "i":
                dtype = np.dtype(f"u{dtype.itemsize}")
            exported = self.exports.setdefault(
                visible, Exported(visible, "buffer", dtype, buffer.shape, op.read_only is not None)
            )
            if exported.kind != "buffer" or (exported.dtype, exported.shape) != (dtype, buffer.shape):
                raise LoomError(f"@{visible} is exported with two different types", location_of(op))
            exported.places.append((cls, buffer))
        elif function is not None:
            exported = self.exports.setdefault(visible, Exported(visible, "function", None, (), True))
            code = compiler.compile(name, function.body.block)
            active = np.full(cls.shape, NEVER, np.int64)
            task = Task(cls, name, "launch", -1, code, active, None)
            cls.tasks[f"launch {visible}"] = task
            exported.launchers.append((cls, task))
        else:
            raise LoomError(f"@{name} is exported but is no buffer and no function", location_of(op))

    def _connect(self) -> None:
        """Trace every color and hang the result on the output queues."""
        height, width = self.height, self.width
        readers: dict[int, list[InputQueue]] = {}
        for cls in self.classes:
            for queue in cls.inputs.values():
                for number in np.unique(queue.colors[queue.colors >= 0]).tolist():
                    readers.setdefault(number, []).append(queue)
        counts: dict[InputQueue, Array] = {}
        collected: dict[tuple[OutputQueue, InputQueue], list[tuple[Array, Array, Array]]] = {}
        for number, color in enumerate(self.colors.values()):
            outputs: list[tuple[OutputQueue, Array]] = []
            for cls in self.classes:
                for queue in cls.outputs.values():
                    mask = np.zeros((height, width), np.bool_)
                    mask[rectangle(cls.rows, cls.columns).index] = queue.colors == number
                    if mask.any():
                        outputs.append((queue, mask))
            if not outputs:
                continue
            senders = np.logical_or.reduce([mask for _, mask in outputs])
            paths = trace(color, senders, self.target.timing)
            claimed = np.zeros(len(paths.source), np.bool_)
            for reader in readers.get(number, []):
                here = _belongs(reader.cls, reader.colors == number, paths.target)
                claimed |= here
                inside = _local(reader.cls, paths.target[here])
                size = reader.cls.shape[0] * reader.cls.shape[1]
                tally = counts.setdefault(reader, np.zeros(size, np.int64))
                tally += np.bincount(inside[:, 0] * reader.cls.shape[1] + inside[:, 1], minlength=size)
                for queue, mask in outputs:
                    mine = here & mask[paths.source[:, 0], paths.source[:, 1]]
                    if mine.any():
                        collected.setdefault((queue, reader), []).append(
                            (
                                _local(queue.cls, paths.source[mine]), _local(reader.cls, paths.target[mine]),
                                paths.latency[mine],
                            )
                        )  # fmt: skip
            for queue, mask in outputs:
                self._note_losses(queue, mask, paths.lost, paths.lost_at)
                unread = ~claimed
                self._note_losses(queue, mask, paths.source[unread], paths.target[unread])
        for (queue, reader), parts in collected.items():
            source, target, latency = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
            queue.deliveries += compress(source, target, latency, queue.cls.shape, reader)
        for reader, tally in counts.items():
            reader.senders = int(tally.max())

    def _note_losses(self, queue: OutputQueue, mask: Array, sources: Array, places: Array) -> None:
        mine = mask[sources[:, 0], sources[:, 1]] if len(sources) else np.zeros(0, np.bool_)
        if not mine.any():
            return
        if queue.lost is None:
            queue.lost = np.zeros(queue.cls.shape, np.bool_)
        local = _local(queue.cls, sources[mine])
        queue.lost[local[:, 0], local[:, 1]] = True
        for unit, place in zip(local.tolist(), places[mine].tolist(), strict=True):
            queue.lost_at.setdefault((unit[0], unit[1]), (place[0], place[1]))

    # The host's side

    def symbol(self, name: str, kind: str) -> Exported:
        """An exported symbol. Raises LoomError if there is none of that name and kind."""
        exported = self.exports.get(name)
        if exported is None or exported.kind != kind:
            known = ", ".join(sorted(n for n, e in self.exports.items() if e.kind == kind)) or "none"
            raise LoomError(f"the program exports no {kind} '{name}'; it exports: {known}")
        return exported

    def write_symbol(self, name: str, values: Any) -> None:
        """Write a buffer on every PE of the grid: [height, width, *shape], or anything that broadcasts to it.

        Raises LoomError for an unknown name, a wrong shape or a type that does not convert.
        """
        exported = self.symbol(name, "buffer")
        array = np.asarray(values)
        full = (self.height, self.width, *exported.shape)
        assert exported.dtype is not None
        if array.dtype != exported.dtype and not np.can_cast(array.dtype, exported.dtype, "same_kind"):
            raise LoomError(f"'{name}' holds {exported.dtype}, not {array.dtype}; convert the array first")
        if array.ndim > len(full) or any(
            have not in (1, want) for have, want in zip(reversed(array.shape), reversed(full), strict=False)
        ):
            raise LoomError(f"'{name}' takes shape {list(full)} (or one that broadcasts to it), not {list(array.shape)}")
        array = np.broadcast_to(array, full)
        for cls, buffer in exported.places:
            part = array[cls.rows.start : cls.rows[-1] + 1 : cls.rows.step]
            part = part[:, cls.columns.start : cls.columns[-1] + 1 : cls.columns.step]
            self._write(cls, buffer, part)

    def _write(self, cls: UnitClass, buffer: Buffer, values: Array) -> None:
        """Write a buffer of every unit of a class from [rows, columns, *shape]."""
        rows, columns = cls.shape
        flat = values.reshape(rows, columns, buffer.elements)
        typed = cls.memory.typed[buffer.kind]
        if buffer.kind in WIDE:
            first = buffer.address >> 1
            target = typed[:, first : first + buffer.elements, :columns]
            for row in range(rows):
                target[row] = flat[row].T.astype(target.dtype, copy=False)
            return
        for k in range(buffer.elements):
            word = buffer.address + k
            typed[:, word >> 1, :columns, word & 1] = flat[:, :, k].astype(typed.dtype, copy=False)

    def read_symbol(self, name: str) -> Array:
        """Read a buffer of every PE of the grid, [height, width, *shape]; zeros where a PE does not have it."""
        exported = self.symbol(name, "buffer")
        assert exported.dtype is not None
        result = np.zeros((self.height, self.width, *exported.shape), exported.dtype)
        flat = result.reshape(self.height, self.width, -1)
        for cls, buffer in exported.places:
            rows, columns = cls.shape
            typed = cls.memory.typed[buffer.kind]
            part = flat[cls.rows.start : cls.rows[-1] + 1 : cls.rows.step,
                        cls.columns.start : cls.columns[-1] + 1 : cls.columns.step]  # fmt: skip
            if buffer.kind in WIDE:
                first = buffer.address >> 1
                for row in range(rows):
                    part[row] = typed[row, first : first + buffer.elements, :columns].T.view(exported.dtype)
                continue
            for k in range(buffer.elements):
                word = buffer.address + k
                part[:, :, k] = typed[:, word >> 1, :columns, word & 1].view(exported.dtype)
        return result

    def launch(self, name: str, arguments: Sequence[Any] = ()) -> None:
        """Start an exported function on every PE that has it, when the machine is idle next.

        Raises LoomError for an unknown function or arguments that do not fit its parameters.
        """
        exported = self.symbol(name, "function")
        now = self.cycles
        for cls, task in exported.launchers:
            kinds = task.code.argument_kinds
            if len(arguments) != len(kinds):
                raise LoomError(f"'{name}' takes {len(kinds)} arguments ({', '.join(kinds)}), not {len(arguments)}")
            for slot, kind, value in zip(task.code.arguments, kinds, arguments, strict=True):
                task.code.template[slot] = _argument(name, kind, value)
            task.activate(cls.units, now)

    @property
    def cycles(self) -> int:
        """The largest clock of all units: an estimate."""
        return max((int(cls.clock.max()) for cls in self.classes), default=0)

    def statistics(self) -> dict[str, Any]:
        """What the run has done so far."""
        units = sum(cls.units.count for cls in self.classes)
        return {
            "target": self.target.name,
            "grid": [self.width, self.height],
            "units": units,
            "cycles_estimated": self.cycles,
            "wavelets_sent": self.wavelets,
            "task_runs": self.task_runs,
            "steps": self.steps,
        }

    # Scheduling

    def run(self, step_limit: int | None = None, *, allow_pending: bool = False) -> None:
        """Run until nothing can happen any more.

        `step_limit` bounds the task starts and loop iterations of warps. Raises LoomError when the limit is
        reached, for accesses out of range and the like, and Deadlock when units wait for what never comes:
        suspended tasks always, asynchronous operations with a completion task unless `allow_pending`.
        """
        self.step_limit = None if step_limit is None else self.steps + step_limit
        with np.errstate(all="ignore"):
            while self._advance():
                pass
        report = explain(self, allow_pending=allow_pending)
        if report is not None:
            raise Deadlock(report)

    def _advance(self) -> bool:
        if self.runnable:
            self._drain(self.runnable.popleft())
            return True
        if self.ready:
            key = self.ready.popleft()
            self.queued.discard(key)
            before = len(self.paused)
            self._visit(*key, horizon=None)
            if before and self.paused:
                # One block behind: the block just visited has posted its receives.
                self._drain_paused()
            return True
        if self.paused:
            self._drain_paused()
            return True
        return self._advance_time()

    def _drain_paused(self) -> None:
        warp = self.paused.popleft()
        self._drain(warp)

    def _drain(self, warp: Warp) -> None:
        if run(warp) == FINISHED:
            self.finish(warp)

    def _visit(self, cls: UnitClass, number: int, horizon: int | None) -> None:
        """Run the tasks of a block until no unit of it can start one."""
        block = cls.blocks[number]
        if block is None:
            return
        while True:
            ready = self._ready(cls, block, number)
            chosen = self._choose(cls, block, number, ready, horizon) if ready else []
            if not chosen:
                return
            # With one task ready and no other possible, wavelets that are there can be consumed in one go.
            alone = len(ready) == 1 and len(chosen) == 1 and not cls.busy_units and self._only(cls, ready[0][0], number)
            for task, units, times in chosen:
                self._start(cls, task, units, times, alone=alone and horizon is None)
            horizon = None

    def _only(self, cls: UnitClass, task: Task, number: int) -> bool:
        """Whether a data task is the only one that can become ready in a block for now."""
        if task.kind != "data" or any(other.kind == "data" and other is not task for other in cls.task_list):
            return False
        return all(other is task or number not in other.hot for other in cls.task_list)

    def _ready(self, cls: UnitClass, block: UnitSet, number: int) -> list[tuple[Task, Array, bool]]:
        """The tasks some unit of a block could run: from when on, and whether that holds for every unit."""
        found: list[tuple[Task, Array, bool]] = []
        for task in cls.task_list:
            if number not in task.hot:
                continue
            times = task.ready(block)
            if int(times.min()) < NEVER:
                found.append((task, times, int(times.max()) < NEVER))
            elif task.unblocked is None or int(task.active[block.index].min()) >= NEVER:
                task.hot.discard(number)
        return found

    def _choose(
        self, cls: UnitClass, block: UnitSet, number: int, ready: list[tuple[Task, Array, bool]], horizon: int | None
    ) -> list[tuple[Task, UnitSet, Array]]:
        """For every unit the earliest of its ready tasks, as far as nothing earlier can come."""
        certain = self._certain(cls, block, ready)
        if len(ready) == 1:
            task, best, all_ready = ready[0]
            if all_ready and certain is None and not cls.busy_units:
                return [(task, block, best)]
        else:
            best = ready[0][1]
            for _, times, _ in ready[1:]:
                best = np.minimum(best, times)
        possible = best < NEVER
        if cls.busy_units:
            possible &= ~cls.busy[block.index]
        if certain is not None:
            if horizon is not None:
                certain = certain | (best <= horizon)
            if (possible & ~certain).any():
                self.stalled[cls, number] = None
                possible &= certain
        chosen: list[tuple[Task, UnitSet, Array]] = []
        for position, (task, times, _) in enumerate(ready):
            last = position + 1 == len(ready)
            mask = possible if last else possible & (times == best)
            if not last:
                possible = possible & ~mask
            for units in [block] if mask.all() else from_mask(block, mask):
                chosen.append((task, units, select(block, units, times)))
        return chosen

    def _certain(self, cls: UnitClass, block: UnitSet, ready: list[tuple[Task, Array, bool]]) -> Array | None:
        """Units for which no task can become ready earlier than those that are; None if that holds for all."""
        if cls.listening and not (len(cls.tasks) == 1 and len(ready) == 1):
            others = [task for task in cls.tasks.values() if task.kind == "data"]
            if len(ready) != 1 or others != [ready[0][0]]:
                return np.zeros(block.shape, np.bool_)
        waiting = cls.unresolved[block.index]
        if not waiting.any():
            return None
        return waiting == 0

    def _start(self, cls: UnitClass, task: Task, units: UnitSet, times: Array, *, alone: bool) -> None:
        if task.kind == "data":
            self._start_data(cls, task, units, alone=alone)
            return
        begin = np.maximum(cls.clock[units.index], times)
        begin += self.target.timing.task_start
        task.start(units, begin)
        self._execute(cls, task, units, begin, ())

    def _execute(self, cls: UnitClass, task: Task, units: UnitSet, begin: Any, arguments: Sequence[Any]) -> None:
        code = task.code
        slots = code.template.copy()
        for slot, value in zip(code.arguments, arguments, strict=False):
            slots[slot] = value
        warp = Warp(cls, code, units, slots, begin)
        self.task_runs += units.count
        self.count_step(warp)
        if run(warp) == FINISHED:
            cls.clock[warp.units.index] = warp.now
            if cls.busy_units:
                self.release(warp)

    def _start_data(self, cls: UnitClass, task: Task, units: UnitSet, *, alone: bool) -> None:
        queue = task.queue
        assert queue is not None
        remaining: list[UnitSet] = [units]
        while remaining:
            part = remaining.pop()
            mine = queue.first(part)
            assert mine is not None
            message = queue.take(mine)
            if mine is not part:
                remaining += subtract(part, mine)
            if alone and task.code.isolated and message.remaining > 1:
                self._consume(cls, task, message, mine)
                task.active[mine.index] = queue.head_times(mine, NEVER) if queue.messages else NEVER
                continue
            raw = message.payload[:, message.position, :]
            head = message.head_time
            message.position += 1
            begin = np.maximum(cls.clock[mine.index], head)
            if task.unblocked is not None:
                begin = np.maximum(begin, task.unblocked[mine.index])
            if message.remaining:
                following: Any = message.head_time
                queue.put_back(message)
            else:
                following = queue.head_times(mine, NEVER) if queue.messages else NEVER
            task.active[mine.index] = following
            begin = begin + self.target.timing.task_start
            values = _arguments(task.code, raw)
            arguments = [value.item() for value in values] if mine.count == 1 else values
            self._execute(cls, task, mine, begin, arguments)

    def _consume(self, cls: UnitClass, task: Task, message: Message, units: UnitSet) -> None:
        """Run an isolated data task for all wavelets of a message, one after another."""
        code, count = task.code, message.remaining
        raw = message.payload[:, message.position :, :]
        first = message.head_time
        if task.unblocked is not None:
            first = np.maximum(first, task.unblocked[units.index])
        clock: Any = cls.clock[units.index]
        start = self.target.timing.task_start
        self.task_runs += count * units.count
        if units.count == 1 and code.alone is not None:
            function, cost = code.alone
            arrived, time = int(np.max(first)), int(clock[0, 0])
            slots = code.template.copy()
            warp = Warp(cls, code, units, slots, time)
            base, budget, taken = cls.memory.base(units), self.budget(), 0
            columns = [np.ravel(values).tolist() for values in _arguments(code, raw)]
            for values in zip(*columns, strict=True):
                for slot, value in zip(code.arguments, values, strict=True):
                    slots[slot] = value
                taken += 1
                if taken > budget:
                    raise self.overrun(warp)
                elapsed, steps = function(warp, slots, base, budget - taken)
                taken += steps
                time = (arrived if arrived > time else time) + start + elapsed + cost
                arrived += message.rate
            self.steps += taken
            cls.clock[units.index] = time
        else:
            arguments = _arguments(code, raw)
            for k in range(count):
                slots = code.template.copy()
                for slot, values in zip(code.arguments, arguments, strict=True):
                    value = values[:, k, :]
                    slots[slot] = value.item() if units.count == 1 else value
                warp = Warp(cls, code, units, slots, np.maximum(clock, first + k * message.rate) + start)
                self.count_step(warp)
                run(warp)
                clock = warp.now
            cls.clock[units.index] = clock
        message.position += count

    # What instructions and operations call

    def count_step(self, warp: Warp) -> None:
        """Count a task start or a loop iteration. Raises LoomError at the step limit."""
        self.steps += 1
        if self.step_limit is not None and self.steps > self.step_limit:
            raise self.overrun(warp)

    def budget(self) -> int:
        """How many steps are left before the limit."""
        return UNLIMITED if self.step_limit is None else self.step_limit - self.steps

    def overrun(self, warp: Warp) -> LoomError:
        """The error of a program that runs past its step limit."""
        return LoomError(
            f"the program runs past its step limit in @{warp.code.name} on {warp.cls.describe(warp.units)}; raise "
            "the limit, or look for a loop or a task that never ends"
        )

    def pause(self, warp: Warp) -> int | None:
        """Before the first send of a task: let the next block post its receives first."""
        if warp.stop >= 0:
            return None
        warp.pc = warp.code.instructions.index(self.pause) + 1
        self.suspend(warp)
        self.paused.append(warp)
        return SUSPENDED

    def suspend(self, warp: Warp) -> None:
        """A warp stops in the middle of its task."""
        warp.cls.set_busy(warp.units, True)

    def resume(self, warp: Warp, time: Any) -> None:
        """A warp whose synchronous operation has completed at `time` can go on."""
        warp.time, warp.elapsed = time, 0
        self.runnable.append(warp)

    def finish(self, warp: Warp) -> None:
        """A warp has come to the end of its task."""
        warp.cls.clock[warp.units.index] = warp.now
        self.release(warp)

    def release(self, warp: Warp) -> None:
        """Units that were held in the middle of a task are free again."""
        cls, units = warp.cls, warp.units
        held = cls.busy[units.index]
        if held.any():
            cls.busy_units -= int(held.sum())
            cls.busy[units.index] = False
            for task in cls.tasks.values():
                cls.touch(units, task)

    def hold(self, queue: InputQueue, message: Message) -> None:
        """Keep a message for a queue with several senders until nothing earlier can arrive."""
        self.held.append((queue, message))

    def _advance_time(self) -> bool:
        """Nothing is certain any more: let the earliest go, as far ahead as a wavelet takes to arrive."""
        starts: list[tuple[int, tuple[UnitClass, int]]] = []
        for key in self.stalled:
            first = self._earliest(*key)
            if first < NEVER:
                starts.append((first, key))
        earliest = min([first for first, _ in starts], default=NEVER)
        for _, message in self.held:
            earliest = min(earliest, int(np.min(message.head_time)))
        if earliest >= NEVER:
            self.stalled.clear()
            return False
        horizon = earliest + self.lookahead
        held, self.held = self.held, []
        held.sort(key=lambda entry: int(np.min(entry[1].head_time)))
        for queue, message in held:
            early = np.broadcast_to(message.head_time <= horizon, message.units.shape)
            for units in from_mask(message.units, early):
                self.executor.admit(queue, message.part(units))
            for units in from_mask(message.units, ~early):
                self.held.append((queue, message.part(units)))
        self.stalled.clear()
        for first, key in sorted(starts, key=lambda entry: entry[0]):
            if first <= horizon:
                self._visit(*key, horizon=horizon)
            if first > horizon:
                self.stalled[key] = None
        return True

    def _earliest(self, cls: UnitClass, number: int) -> int:
        block = cls.blocks[number]
        if block is None:
            return NEVER
        best = NEVER
        for task in cls.task_list:
            if number in task.hot:
                times = task.ready(block)
                if cls.busy_units:
                    times = np.where(cls.busy[block.index], NEVER, times)
                best = min(best, int(times.min()))
        return best


def _only_fabric(module: ModuleOp) -> flow.FabricOp:
    fabrics = [op for op in module.body.block.ops if isinstance(op, flow.FabricOp)]
    if len(fabrics) != 1:
        raise LoomError(f"a module to run has exactly one flow.fabric, not {len(fabrics)}")
    return fabrics[0]


def _belongs(cls: UnitClass, member: Array, points: Array) -> Array:
    """Which grid points are units of a class for which `member` [rows, columns] holds."""
    mask = np.zeros((cls.machine.height, cls.machine.width), np.bool_)
    here = np.zeros(cls.shape, np.bool_)
    here[cls.units.index] = True
    mask[rectangle(cls.rows, cls.columns).index] = member & here
    return mask[points[:, 0], points[:, 1]]


def _local(cls: UnitClass, points: Array) -> Array:
    """Grid points (row, column) in class coordinates."""
    return np.stack(
        [(points[:, 0] - cls.rows.start) // cls.rows.step, (points[:, 1] - cls.columns.start) // cls.columns.step], 1
    )


def dense_values(attribute: DenseIntOrFPElementsAttr) -> Array:
    """The elements of a dense attribute, of its shape (a splat is repeated)."""
    shape = tuple(attribute.get_shape())
    values = np.asarray(list(attribute.get_values()))
    count = int(np.prod(shape, dtype=np.int64))
    return (np.full(count, values[0]) if len(values) == 1 else values).reshape(shape)


def _argument(name: str, kind: str, value: Any) -> Any:
    try:
        if kind in ("f32", "f16", "bf16"):
            return normalize(kind, float(value))
        number = int(value)
        if number != float(value):
            raise ValueError
    except (TypeError, ValueError):
        raise LoomError(f"argument {value!r} of '{name}' is no {kind}") from None
    bits = 64 if kind == "index" else int(kind[1:])
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        raise LoomError(f"argument {number} of '{name}' does not fit {kind}")
    return normalize(kind, number)


def _arguments(code: Code, raw: Array) -> list[Array]:
    """Arguments of a data task from raw wavelets of any shape: one of 16 or 32 bits, or two halves."""
    kinds = code.argument_kinds
    if len(kinds) == 1:
        return [decode(raw, kinds[0])]
    words = raw.astype(np.uint32)
    halves = [words & 0xFFFF, words >> 16]
    dtypes = [DTYPES[kind] for kind in kinds]
    return [
        np.ascontiguousarray(word.astype(np.uint16)).view(dtype)
        for dtype, word in zip(dtypes, halves, strict=True)
    ]


def _check_data_task(op: flow.TaskOp, code: Code) -> None:
    wide = [kind for kind in code.argument_kinds if kind in WIDE]
    if any(kind not in DTYPES or DTYPES[kind].itemsize not in (2, 4) for kind in code.argument_kinds) or (
        len(code.argument_kinds) == 2 and wide
    ):
        raise LoomError(
            f"data task @{op.sym_name.data} takes one argument of 16 or 32 bits, or two of 16 bits", location_of(op)
        )


__all__ = ["Deadlock", "Exported", "Machine", "UnitClass"]
