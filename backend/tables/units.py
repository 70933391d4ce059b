"""A class of units: its memory, queues, tasks, FIFOs and exports, and the code of its tasks and functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Block, Operation

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...diagnostics.records import record
from ...dialects import flow
from ...dialects.machine.code import Bodies
from ...dialects.machine.configuration import configuration_of
from ...dialects.machine.modes import SIMD_BITS, SimdMode
from ...dialects.machine.source_names import shown_name
from ...dialects.scalar_types import dense_values, kind_of
from ...dialects.traversal import walk
from ...operations.scalar_types import numpy_type
from ...runtime.tables.format import (
    ACCESS_POINTER,
    ACTIVE,
    BLOCKABLE,
    BLOCKED,
    BUFFER_UNDEFINED,
    CLASS_MAIN_THREAD_CHANGES,
    CLASS_ORDERED,
    CLASS_TRAPS,
    COMPLETION_ACTIVATES,
    COMPLETION_UNBLOCKS,
    EXPORT_BUFFER,
    EXPORT_FUNCTION,
    EXPORT_POINTS_TO,
    EXPORT_READ_ONLY,
    EXPORT_UNSIGNED,
    FIFO_END,
    INPUT,
    MAIN_THREAD_SHIFT,
    NONE,
    OUTPUT,
    QUEUE_RUN,
    TASK_TYPES,
)
from ...runtime.tables.instructions import BITS, COST, FIFO_ACTIONS, INTEGERS, KIND
from ...targets import Target
from ...targets.model import LEVELS
from ...targets.wavelets import SETTINGS
from . import control_flow, descriptors, memory, operations, scalars
from .body import Body, Handler, Template
from .image import Image
from .interning import Sections
from .values import register_array, register_bits

_HANDLERS: dict[type[Operation], Handler] = {
    **scalars.HANDLERS,
    **control_flow.HANDLERS,
    **memory.HANDLERS,
    **descriptors.HANDLERS,
    **operations.HANDLERS,
}

_CHANGES = frozenset({flow.BlockOp, flow.UnblockOp, flow.ApplyOp, flow.LoadRegisterOp})
"""Operations that may block or unblock a task."""

_END_FLAGS = (COMPLETION_ACTIVATES, COMPLETION_UNBLOCKS, COMPLETION_ACTIVATES, COMPLETION_UNBLOCKS)

_MEMORY_KINDS = frozenset({"f32", "f16", "bf16", "i32", "i16", "i8"})


@record
class Buffer:
    """An array in memory; `address` in words."""

    name: str
    row: int
    kind: str
    address: int
    shape: tuple[int, ...]
    elements: int

    @property
    def element_bytes(self) -> int:
        return BITS[self.kind] // 8

    @property
    def end(self) -> int:
        """The first word behind it."""
        return self.address + (self.elements * self.element_bytes + 1) // 2


@record
class Callee:
    """A function that is called: the use of its body, and if its code depends on the clock."""

    use: int
    sees_clock: bool


class Contents:
    """Contents of a body: values that are constant for a PE, calls, tasks it may block or unblock.

    `masks` says that it sets the exception mask.
    """

    def __init__(self, owner: Operation) -> None:
        self.own: list[flow.CoordinateOp | flow.GetParamOp] = []
        self.calls: list[flow.CallOp] = []
        self.changed: set[str] = set()
        self.masks = False
        for op in walk(owner):
            # By exact type: this looks at every operation.
            kind = type(op)
            if kind is flow.CoordinateOp or kind is flow.GetParamOp:
                self.own.append(cast("flow.CoordinateOp | flow.GetParamOp", op))
            elif kind is flow.CallOp:
                self.calls.append(cast("flow.CallOp", op))
            elif kind in _CHANGES:
                self.changed |= _changed_by(op)
            elif kind is flow.SetExceptionMaskOp:
                self.masks = True


@dataclass
class Shared:
    """Shared by the classes of a fabric: bodies, their contents, and the code made of them."""

    grid: tuple[int, int]
    colors: dict[str, int]
    regions: Callable[[Any], tuple[int, int]]
    bodies: Bodies
    has_registers: bool
    """True if programs may use configuration registers, which an address that is computed may be of."""
    contents: dict[Block, Contents] = field(default_factory=dict[Block, Contents])
    templates: dict[tuple[Any, ...], list[Template]] = field(default_factory=dict[tuple[Any, ...], "list[Template]"])


class Units:
    """One `flow.units` on its way into the tables; `places` are its PEs, by rows of the grid."""

    def __init__(self, sections: Sections, target: Target, op: flow.UnitsOp, row: int, shared: Shared):
        self.sections = sections
        self.shared = shared
        self.bodies = shared.bodies
        self.target = target
        self.op = op
        self.name = op.sym_name.data
        self.row = row
        self.grid = shared.grid
        self.colors = shared.colors
        self.regions = shared.regions
        self.places: NDArray[np.int64] = np.zeros(0, np.int64)
        self.own_regions: tuple[int, int] = (0, 0)
        """The first row of its regions, and how many."""
        self.words = max(2, op.words.value.data)
        self.traps = False
        self.buffers: dict[str, Buffer] = {}
        self.params: dict[str, Any] = {}
        self.queues: dict[str, int] = {}
        self.inputs: dict[str, int | None] = {}
        """The task of each input queue, if it has one."""
        self.tasks: dict[str, int] = {}
        self.fifos: dict[str, int] = {}
        self.functions: dict[str, flow.FuncOp] = {}
        self._columns: dict[str, int] = {}
        self._local: set[int] = set()
        self._flags: dict[int, int] = {}
        self._callees: dict[str, Callee] = {}
        self._reserved: dict[str, int] = {}
        self._queue_records: dict[int, list[Any]] = {}

    # What code names

    def buffer(self, op: Operation, symbol: SymbolRefAttr | None) -> Buffer:
        """Return the buffer of a name."""
        assert symbol is not None, "verified: a buffer or an address"
        name = symbol.root_reference.data
        buffer = self.buffers.get(name)
        if buffer is None:
            raise LoomError(f"@{name} is not a buffer of {self.name}", location_of(op))
        return buffer

    def param(self, op: flow.GetParamOp, name: str) -> Any:
        """Return the value of a parameter, an array [PEs] if it differs."""
        if name not in self.params:
            raise LoomError(f"{op.param} is not a parameter of {self.name}", location_of(op))
        return self.params[name]

    def column(self, name: str) -> int:
        """Return the row of the column of a parameter that differs from PE to PE."""
        row = self._columns.get(name)
        if row is None:
            kind, values = self._param_kinds[name], self.params[name]
            place = self.sections.append("column_values", register_array(values, kind))
            row = self.sections.add("columns", self.sections.string(name), self.row, place, KIND[kind])
            self._columns[name] = row
        return row

    def queue(self, op: Operation, name: str) -> int:
        """Return the row of a queue."""
        row = self.queues.get(name)
        if row is None:
            raise LoomError(f"@{name} is not a queue of {self.name}", location_of(op))
        return row

    def fifo(self, op: flow.FifoStreamOp | flow.SetFifoLengthOp, name: str) -> int:
        """Return the row of a FIFO."""
        row = self.fifos.get(name)
        if row is None:
            raise LoomError(f"{op.fifo} is not a FIFO of {self.name}", location_of(op))
        return row

    def target_task(self, op: Operation, name: str) -> int | None:
        """Return the row of a task, or of what wavelets of an input queue start, None if they start nothing."""
        if name in self.tasks:
            return self.tasks[name]
        if name not in self.inputs:
            raise LoomError(f"@{name} is neither a task nor an input queue of {self.name}", location_of(op))
        return self.inputs[name]

    def is_local(self, row: int) -> bool:
        """Return True if a task is a local one."""
        return row in self._local

    def expect(self, row: int, flag: int) -> None:
        """Note that ends of operations, or FIFOs, activate or unblock a task."""
        self._flags[row] |= flag

    # Memory

    def load_members(self) -> None:
        """Read what the class has, but for code."""
        members = list(self.op.body.block.ops)
        first_buffer, first_queue = self.sections.count("buffers"), self.sections.count("queues")
        self._param_kinds: dict[str, str] = {}
        image = Image(self.words)
        for op in members:
            if isinstance(op, flow.BufferOp):
                self._buffer(op, image)
            elif isinstance(op, flow.ParamOp):
                self._param(op)
            elif isinstance(op, flow.QueueOp):
                self._queue(op)
            elif isinstance(op, flow.FuncOp):
                home = self.bodies.home(op)
                assert isinstance(home, flow.FuncOp), "verified: a function shares with a function"
                self.functions[op.sym_name.data] = home
        for op in members:
            if isinstance(op, flow.InitializeOp):
                self._initialize(op, image)
        image.write(self.sections, self.row)
        self._tasks_and_code(members, first_buffer, first_queue)

    def _buffer(self, op: flow.BufferOp, image: Image) -> None:
        kind, name = kind_of(op.type.element_type), op.sym_name.data
        if kind not in _MEMORY_KINDS:
            raise LoomError(
                f"buffer @{name} has elements of {op.type.element_type}, not a memory type", location_of(op)
            )
        assert kind is not None
        shape = tuple(op.type.get_shape())
        elements = int(np.prod(shape, dtype=np.int64))
        address = op.address.value.data
        buffer = Buffer(name, self.sections.count("buffers"), kind, address, shape, elements)
        if address < 0 or buffer.end > self.words:
            raise LoomError(
                f"buffer @{name} ends at word {buffer.end}, beyond the {self.words} words of its units",
                location_of(op),
            )
        self.sections.add(
            "buffers", self.sections.string(name), self.sections.place(op), self.row, address, elements,
            self.sections.run("dims", shape), KIND[kind], len(shape), BUFFER_UNDEFINED * (op.undefined is not None),
        )  # fmt: skip
        self.buffers[name] = buffer
        if op.initial is not None:
            values = np.asarray(dense_values(op.initial), numpy_type(kind)).reshape(shape)
            image.put(2 * address, np.frombuffer(values.tobytes(), np.uint8), zeros=False)

    def _param(self, op: flow.ParamOp) -> None:
        name, kind = op.sym_name.data, str(kind_of(op.values.get_element_type()))
        values = dense_values(op.values)
        self._param_kinds[name] = kind
        if values.size == 1:
            self.params[name] = register_bits(values.ravel()[0].item(), kind)
            return
        shape, (width, height) = tuple(op.values.get_shape()), self.grid
        if shape != (height, width):
            raise LoomError(
                f"param @{name} has shape {list(shape)}; give one value, or one per PE, [{height}, {width}]",
                location_of(op),
            )
        self.params[name] = values.astype(numpy_type(kind)).reshape(-1)[self.places]

    def _initialize(self, op: flow.InitializeOp, image: Image) -> None:
        buffer = self.buffers[op.buffer.root_reference.data]
        address = 2 * buffer.address + op.element.value.data * buffer.element_bytes
        value: Any = None
        if op.param is not None:
            name = op.param.root_reference.data
            value = self.params[name]
            if isinstance(value, np.ndarray):
                image.patch(address, buffer.element_bytes, self.column(name))
                return
        else:
            assert op.number is not None, "verified: a number or a parameter"
            value = register_bits(op.number.value.data, buffer.kind)
        bits = value & (1 << BITS[buffer.kind]) - 1
        image.put(address, np.frombuffer(bits.to_bytes(buffer.element_bytes, "little"), np.uint8), zeros=True)

    # Queues, tasks and FIFOs

    def _queue(self, op: flow.QueueOp) -> None:
        name, number, sections = op.sym_name.data, op.queue_id.value.data, self.sections
        colors: list[tuple[int, int, int]] = []
        for symbol, regions in zip(op.colors, op.color_regions, strict=True):
            color = symbol.root_reference.data
            if color not in self.colors:
                raise LoomError(f"@{color} is not a color of the fabric", location_of(op))
            colors.append((self.colors[color], *self.regions(regions)))
        is_input = op.direction.data == "input"
        lengths = self.target.input_queue_words if is_input else self.target.output_queue_words
        room = lengths[number] if 0 <= number < len(lengths) else min(lengths)
        offset = 0 if op.control_offset is None else op.control_offset.value.data
        row = sections.add("queues")
        self._queue_records[row] = [
            sections.string(name), sections.string(shown_name(op)), sections.place(op), self.row, NONE,
            sections.records("queue_colors", colors), len(colors), offset, room, number, INPUT if is_input else OUTPUT,
        ]  # fmt: skip
        self.queues[name] = row
        if is_input:
            self.inputs[name] = None

    def _tasks_and_code(self, members: Sequence[Operation], first_buffer: int, first_queue: int) -> None:
        sections = self.sections
        changed = self._scan(members)
        first_task, first_fifo = sections.count("tasks"), sections.count("fifos")
        tasks = [op for op in members if isinstance(op, flow.TaskOp)]
        records: dict[int, list[Any]] = {}
        for op in tasks:
            self._task(op, changed, records)
        for op in members:
            if isinstance(op, flow.QueueOp) and op.is_input:
                self._listener(op, changed, records)
        launches = {op: sections.add("tasks") for op in members if self._is_launch(op)}
        self._flags |= dict.fromkeys(launches.values(), 0)
        for op in members:
            if isinstance(op, flow.FifoOp):
                self._fifo(op)
        for op in tasks:
            name, row = op.sym_name.data, self.tasks[op.sym_name.data]
            use, kinds = self._start(name, location_of(op), self.bodies.of(op).block)
            records[row][3] = use
            if op.is_data:
                _check_data_task(op, kinds)
        for op in members:
            if isinstance(op, flow.ExportOp):
                self._export(op, launches, records)
            elif isinstance(op, flow.InitialOp):
                use, _ = self._start("what is loaded at the start", location_of(op), op.body.block, is_free=True)
                sections.add("starts", self.row, use)
            elif isinstance(op, flow.BlockedMicrothreadOp):
                sections.add("blocked_microthreads", self.row, op.number.value.data, sections.place(op))
        settings = self.target.registers.settings
        for address, value in configuration_of(self.op):
            if not 0 <= address - settings < len(SETTINGS):
                raise LoomError(
                    f"the configuration register {address:#x} is not set before the start; use {settings:#x} to "
                    f"{settings + len(SETTINGS) - 1:#x}", location_of(self.op)
                )  # fmt: skip
            sections.add("settings", self.row, address - settings, value)
        for row, values in records.items():
            values[-1] |= self._flags[row]
            sections.put("tasks", row, *values)
        for row, values in self._queue_records.items():
            sections.put("queues", row, *values)
        sections.put(
            "classes", self.row, sections.string(self.name), sections.place(self.op), self.words, *self.own_regions,
            first_buffer, len(self.buffers), first_queue, len(self.queues), first_fifo, len(self.fifos), first_task,
            len(records), self._class_flags(),
        )  # fmt: skip

    def _class_flags(self) -> int:
        flags = CLASS_TRAPS if self.traps else 0
        flags |= CLASS_ORDERED if "ordered" in self.op.attributes else 0
        flags |= CLASS_MAIN_THREAD_CHANGES if "main_thread_changes" in self.op.attributes else 0
        return flags | self._main_level() << MAIN_THREAD_SHIFT

    def _main_level(self) -> int:
        """Return the priority of what tasks wait for as the flags of the class have it."""
        return 0 if self.op.main_thread is None else 1 + LEVELS.index(self.op.main_thread.data)

    def _scan(self, members: Sequence[Operation]) -> set[str]:
        """Return the tasks and queues that code of the class may block or unblock."""
        changed: set[str] = set()
        for member in members:
            if isinstance(member, flow.FuncOp | flow.TaskOp):
                found = self._inside(self.bodies.of(member).block)
            elif isinstance(member, flow.InitialOp):
                found = self._inside(member.body.block)
            else:
                continue
            changed |= found.changed
            self.traps |= found.masks
        return changed

    def _is_launch(self, op: Operation) -> bool:
        if not isinstance(op, flow.ExportOp):
            return False
        name = op.symbol.root_reference.data
        return name in self.functions and name not in self.buffers

    def _task(self, op: flow.TaskOp, changed: set[str], records: dict[int, list[Any]]) -> None:
        name, sections = op.sym_name.data, self.sections
        queue_name, queue = None, NONE
        if op.queue is not None:
            queue_name = op.queue.root_reference.data
            if queue_name not in self.inputs:
                raise LoomError(f"{op.queue} is not an input queue of {self.name}", location_of(op))
            queue = self.queues[queue_name]
        blockable = op.blocked is not None or name in changed or queue_name in changed
        flags = (ACTIVE if op.active is not None else 0) | (BLOCKABLE if blockable else 0)
        flags |= BLOCKED if op.blocked is not None else 0
        row = sections.add("tasks")
        records[row] = [
            sections.string(name), sections.place(op), self.row, NONE, queue, op.task_id.value.data,
            TASK_TYPES.index(op.kind.data), flags,
        ]  # fmt: skip
        self._flags[row] = 0
        self.tasks[name] = row
        if op.is_local:
            self._local.add(row)
            if op.task_id.value.data == self.target.teardown_task:
                self.expect(row, COMPLETION_ACTIVATES)
        if queue_name is not None:
            other = self.inputs[queue_name]
            if other is not None:
                first = next(task for task, place in self.tasks.items() if place == other)
                label = shown_name(next(
                    each for each in self.op.body.block.ops
                    if isinstance(each, flow.QueueOp) and each.sym_name.data == queue_name
                ))  # fmt: skip
                raise LoomError(f"input queue {label} has two data tasks, @{first} and @{name}", location_of(op))
            self.inputs[queue_name] = row
            self._queue_records[queue][4] = row

    def _listener(self, op: flow.QueueOp, changed: set[str], records: dict[int, list[Any]]) -> None:
        """Make the task that control wavelets of a queue without data task start, for all control tasks."""
        name, sections = op.sym_name.data, self.sections
        if self.inputs[name] is not None or (op.unblocked is None and name not in changed):
            return
        queue, row = self.queues[name], sections.add("tasks")
        flags = BLOCKABLE | (BLOCKED if op.unblocked is None else 0)
        records[row] = [
            sections.string(f"control tasks of @{name}"), sections.place(op), self.row, NONE, queue,
            self._priority_id(op),
            TASK_TYPES.index("listener"), flags,
        ]  # fmt: skip
        self._flags[row] = 0
        self.inputs[name] = row
        self._queue_records[queue][4] = row

    def _priority_id(self, op: flow.QueueOp) -> int:
        """Return the id by which control tasks that wavelets of a queue start have their priority: that of its first
        color on WSE-2, else that of the queue."""
        if not self.target.data_tasks_by_color:
            return op.queue_id.value.data
        fabric = self.op.parent_op()
        assert isinstance(fabric, flow.FabricOp)
        name = op.colors.data[0].root_reference.data if op.colors.data else None
        for each in fabric.body.block.ops:
            if isinstance(each, flow.ColorOp) and each.sym_name.data == name:
                return each.color.value.data
        return -1

    def _fifo(self, op: flow.FifoOp) -> None:
        tasks: list[int] = []
        for symbol in (op.activate_push, op.activate_pop):
            row = None if symbol is None else self.tasks.get(symbol.root_reference.data)
            if symbol is not None and row is None:
                raise LoomError(f"{symbol} is not a task of {self.name}", location_of(op))
            if row is not None:
                self.expect(row, COMPLETION_ACTIVATES)
            tasks.append(NONE if row is None else row)
        buffer = self.buffers.get(op.buffer.root_reference.data)
        if buffer is None:
            raise LoomError(f"{op.buffer} is not a buffer of {self.name}", location_of(op))
        actions = ["test_or_suspend" if action is None else action.data for action in (op.empty_action, op.full_action)]
        self.fifos[op.sym_name.data] = self.sections.add(
            "fifos", self.sections.string(op.sym_name.data), self.sections.place(op), self.row, buffer.row, *tasks,
            *(FIFO_ACTIONS.index(action) for action in actions),
            _step(op, buffer),
        )  # fmt: skip

    def _export(self, op: flow.ExportOp, launches: dict[Operation, int], records: dict[int, list[Any]]) -> None:
        name, sections = op.symbol.root_reference.data, self.sections
        buffer, function = self.buffers.get(name), self.functions.get(name)
        visible = sections.string(op.visible_name.data)
        if buffer is not None:
            kind, shape = buffer.kind, list(buffer.shape)
            if op.points_to is not None:
                kind = str(kind_of(op.points_to.get_element_type()))
                shape = [extent if extent >= 0 else NONE for extent in op.points_to.get_shape()]
            flags = EXPORT_UNSIGNED if op.unsigned is not None and kind in INTEGERS and kind != "i1" else 0
            flags |= EXPORT_POINTS_TO if op.points_to is not None else 0
            flags |= EXPORT_READ_ONLY if op.read_only is not None else 0
            sections.add(
                "exports", visible, sections.place(op), self.row, buffer.row, sections.run("dims", shape),
                EXPORT_BUFFER, KIND[kind], len(shape), flags,
            )  # fmt: skip
        elif function is not None:
            row = launches[op]
            use, kinds = self._start(name, location_of(function), function.body.block)
            records[row] = [
                sections.string(name), sections.place(function), self.row, use, NONE, -1, TASK_TYPES.index("launch"), 0,
            ]  # fmt: skip
            unsigned = [int(position in op.unsigned_positions) for position in range(len(kinds))]
            sections.add(
                "exports", visible, sections.place(op), self.row, row, sections.run("dims", unsigned), EXPORT_FUNCTION,
                0, len(unsigned), EXPORT_READ_ONLY,
            )  # fmt: skip
        else:
            raise LoomError(f"@{name} is exported but is neither a buffer nor a function", location_of(op))

    # Code

    def takes_streams(self, name: str) -> bool:
        """Return True if streams are among the arguments or results of a function."""
        type = self.functions[name].function_type
        return any(isinstance(each, flow.StreamType) for each in (*type.inputs, *type.outputs))

    def is_open(self, name: str) -> bool:
        """Return True if a call of a function leads back to it before it has returned, because it is not assembled."""
        return name not in self._callees and not self.takes_streams(name)

    def callee(self, name: str) -> Callee:
        """Return what a call of a function names; of one that is not assembled yet, a row that it will have."""
        found = self._callees.get(name)
        if found is None:
            row = self._reserved.get(name)
            if row is None:
                row = self._reserved[name] = self.sections.add("uses")
            found = Callee(row, True)
        return found

    def _inside(self, block: Block) -> Contents:
        found = self.shared.contents.get(block)
        if found is None:
            owner = block.parent_op()
            assert owner is not None
            found = self.shared.contents[block] = Contents(owner)
        return found

    def _called(self, op: flow.CallOp) -> flow.FuncOp:
        name = op.callee.root_reference.data
        callee = self.functions.get(name)
        if callee is None:
            raise LoomError(f"@{name} is not a function of {self.name}", location_of(op))
        return callee

    def _start(self, name: str, where: str | None, block: Block, *, is_free: bool = False) -> tuple[int, list[str]]:
        """Return the use of code that something starts, and the kinds of its arguments; raises LoomError for f64."""
        if any(kind_of(argument.type) == "f64" for argument in block.args):
            raise LoomError(f"@{name} takes f64, which PEs do not compute with; take f32", where)
        own = self._own_cost(self._inside(block))
        for function in self._reachable(block):
            own += self._own_cost(self._inside(function.body.block))
        template = self._template(block, (own, is_free))
        if template is None:
            body = Body(self, name, where, _HANDLERS, is_free=is_free)
            body.start(block)
            body.pending[COST["instruction"]] = own
            body.block(block)
            body.where = body.place
            body.settle()
            body.control("end")
            template = body.finish()
            self.shared.templates.setdefault((block, own, is_free), []).append(template)
        return self.sections.intern("uses", *self._bind(template)), [
            str(kind_of(argument.type)) for argument in block.args
        ]

    def _template(self, block: Block, key: tuple[Any, ...]) -> Template | None:
        """Return the code made of a body for another class, if it is that of this one too."""
        for template in self.shared.templates.get((block, *key), ()):
            if all(self.answer(*question) == answer for question, answer in template.answers.items()):
                return template
        return None

    def answer(self, what: str, name: str) -> Any:
        """Return what code depends on that names something of the class; None if there is nothing of the name."""
        match what:
            case "buffer":
                buffer = self.buffers.get(name)
                return None if buffer is None else (buffer.kind, buffer.shape)
            case "param":
                value = self.params.get(name)
                return "column" if isinstance(value, np.ndarray) else (type(value), str(value))
            case "queue":
                return name in self.queues
            case "fifo":
                return name in self.fifos
            case "task":
                row = self.tasks.get(name, self.inputs.get(name))
                return name in self.tasks or name in self.inputs, row is None, row in self._local
            case "call":
                function = self.functions.get(name)
                if function is None or self.takes_streams(name):
                    return None if function is None else function.body.block
                return self.callee(name).sees_clock, self.is_open(name)
            case _:
                return self.traps

    def _bind(self, template: Template) -> tuple[int, int]:
        """Return the rows of a body and of what a use of this class adds."""
        rows = [*template.numbers]
        rows += [self._descriptor(*key) for key in template.descriptors]
        for kind, key in template.slots:
            match kind:
                case "access":
                    rows.append(self._access(*key))
                case "operation":
                    rows.append(self._ends("operations", *key))
                case "register_load":
                    rows.append(self._ends("register_loads", *key))
                case "task":
                    row = self.tasks[key] if key in self.tasks else self.inputs[key]
                    assert row is not None, "answered: the queue starts a task"
                    rows.append(row)
                case "use":
                    rows.append(self.callee(key).use)
                case "column":
                    rows.append(self.column(key))
                case "fifo":
                    rows.append(self.fifos[key])
                case _:
                    rows.append(key)
        return template.body, self.sections.run("rows", rows)

    def _access(self, name: str | None, offset: int, dims: int, kind: int, rank: int) -> int:
        if name is None:
            return self.sections.intern("accesses", 0, NONE, 0, kind, rank, ACCESS_POINTER)
        buffer = self.buffers[name]
        return self.sections.intern("accesses", 2 * buffer.address + offset, buffer.row, dims, kind, rank, 0)

    def _descriptor(self, type: int, name: str | None, address: int, *fields: Any) -> int:
        if type == QUEUE_RUN:
            row = self.queues[name or ""]
        elif type == FIFO_END:
            row = self.fifos[name or ""]
        elif name is None:
            row = NONE
        else:
            buffer = self.buffers[name]
            row, address = buffer.row, buffer.address + address
        extents, strides, kind, dimensions, flags = fields
        return self.sections.intern("descriptors", address, row, extents, strides, type, kind, dimensions, flags)

    def _ends(self, section: str, names: Sequence[str | None], *fields: Any) -> int:
        """Return the row of an operation with the tasks that its end starts, which expect that from now on."""
        rows: list[int] = []
        for name, flag in zip(names, _END_FLAGS, strict=True):
            row = None if name is None else self.tasks[name] if name in self.tasks else self.inputs[name]
            if row is not None:
                self.expect(row, flag)
            rows.append(NONE if row is None else row)
        return self.sections.intern(section, *rows, *fields)

    def _own_cost(self, contents: Contents) -> int:
        """Return how many values a start has to read first because they are constant for a PE."""
        count = 0
        for op in contents.own:
            if isinstance(op, flow.CoordinateOp) or isinstance(
                self.param(op, op.param.root_reference.data), np.ndarray
            ):
                count += 1
        return count

    def _reachable(self, block: Block) -> list[flow.FuncOp]:
        """Return all functions that code may call, and assemble them: those that they call first."""
        found: dict[str, flow.FuncOp] = {}
        pending: list[tuple[str | None, Iterator[flow.CallOp]]] = [(None, iter(self._inside(block).calls))]
        while pending:
            name, calls = pending[-1]
            call = next(calls, None)
            if call is not None:
                callee = self._called(call)
                if callee.sym_name.data not in found:
                    found[callee.sym_name.data] = callee
                    pending.append((callee.sym_name.data, iter(self._inside(callee.body.block).calls)))
                continue
            pending.pop()
            if name is not None and name not in self._callees and not self.takes_streams(name):
                self._callees[name] = self._function(name, self.functions[name])
        return list(found.values())

    def _function(self, name: str, op: flow.FuncOp) -> Callee:
        block = op.body.block
        template = self._template(block, ())
        if template is None:
            body = Body(self, name, location_of(op), _HANDLERS)
            body.start(block)
            body.block(block)
            control_flow.return_(body, block)
            template = body.finish()
            self.shared.templates.setdefault((block,), []).append(template)
        row = self._reserved.get(name)
        if row is None:
            row = self.sections.intern("uses", *self._bind(template))
        else:
            self.sections.put("uses", row, *self._bind(template))
        return Callee(row, template.sees_clock)


def _step(op: flow.FifoOp, buffer: Buffer) -> int:
    """Return how many elements operations on a FIFO move at once (DSD-146): what the SIMD mode says, if that fits."""
    bits = 0 if op.simd is None else SIMD_BITS[SimdMode(op.simd.data)]
    return max(1, min(bits // (8 * buffer.element_bytes), buffer.elements))


def _changed_by(op: Operation) -> set[str]:
    """Return the tasks and queues that an operation may block or unblock."""
    symbols: list[SymbolRefAttr | None] = []
    if isinstance(op, flow.BlockOp | flow.UnblockOp):
        symbols = [op.symbol]
    elif isinstance(op, flow.AsynchronousOp):
        symbols = [op.unblock]
        if op.on_control is not None and op.on_control.data == "unblock":
            symbols.append(op.control_task)
    return {symbol.root_reference.data for symbol in symbols if symbol is not None}


def _check_data_task(op: flow.TaskOp, kinds: Sequence[str]) -> None:
    if any(BITS[kind] not in (16, 32) for kind in kinds) or (
        len(kinds) == 2 and any(BITS[kind] == 32 for kind in kinds)
    ):
        raise LoomError(
            f"data task @{op.sym_name.data} takes one argument of 16 or 32 bits, or two of 16 bits", location_of(op)
        )
