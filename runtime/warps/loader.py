"""Loader of a `flow.fabric`: classes, buffers, queues, tasks, exports, and the routes between them.

Runs once for a program; its cost grows with the grid only by whole-array operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, SymbolRefAttr
from xdsl.ir import Operation

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...diagnostics.nesting import deep_nesting
from ...dialects import flow
from ...dialects.machine.code import Bodies
from ...dialects.machine.region import RegionAttr
from ...dialects.machine.source_names import shown_name
from ...dialects.scalar_types import dense_values
from ..executor import Place
from .channels import Channel
from .fabric import Color, Delivery, compress, port_mask, trace
from .fifos import empty_fifo
from .host_streams import HostInput, HostOutput
from .memory import DTYPES, WIDE
from .messages import Network
from .program import Compiler
from .queues import InputQueue, OutputQueue
from .resources import Resource
from .scalars import kind_of, normalize
from .streams import UNBOUNDED, Buffer
from .switches import SwitchedColor
from .tasks import NEVER, Task
from .tiles import Space
from .unit_class import UnitClass
from .units import Array, Rectangle, from_mask, rectangle
from .warp import Code, Warp, run

if TYPE_CHECKING:
    from .machine import WarpMachine


class Exported:
    """A symbol the host sees: a buffer (kind, numpy dtype, shape) or a function (argument kinds).

    Whether a buffer or what a pointer points to makes no difference to the host; the extent of the latter is -1 where
    it is open.
    """

    def __init__(self, name: str, kind: str, dtype: np.dtype[Any] | None, shape: tuple[int, ...], read_only: bool):
        self.name = name
        self.kind = kind
        self.dtype = dtype
        self.shape = shape
        self.read_only = read_only
        self.places: list[tuple[UnitClass, Place]] = []
        self.launchers: list[tuple[UnitClass, Task]] = []


class Loader:
    """Loads the fabric of a machine."""

    def __init__(self, machine: WarpMachine):
        self.machine = machine

    @deep_nesting()
    def load(self) -> None:
        """Read colors and routes, make the classes, compile their tasks, connect their queues."""
        shape = (self.machine.height, self.machine.width)
        for op in self.machine.op.body.block.ops:
            if isinstance(op, flow.ColorOp):
                name = op.sym_name.data
                ports = np.zeros((2, *shape), np.uint8)
                number, label = op.color.value.data, shown_name(op)
                if any(other.label == label for other in self.machine.colors.values()):
                    label += f" (id {number})"
                self.machine.colors[name] = Color(name, number, ports[0], ports[1], location_of(op), label)
        numbers = {name: number for number, name in enumerate(self.machine.colors)}
        bodies = Bodies(self.machine.op)
        for op in self.machine.op.body.block.ops:
            if isinstance(op, flow.RouteOp) and op.switch is not None:
                color = self._color(op, op.color.root_reference.data)
                if color.name not in self.machine.switched:
                    self.machine.switched[color.name] = SwitchedColor(
                        color, numbers[color.name], self.machine.target.timing
                    )
        for op in self.machine.op.body.block.ops:
            if isinstance(op, flow.RouteOp):
                self._load_route(op)
            elif isinstance(op, flow.HostStreamOp):
                self._load_host_stream(op, shape)
            elif isinstance(op, flow.MessageNetworkOp):
                color = self._color(op, op.color.root_reference.data)
                self.machine.networks[color.name] = Network(self.machine, color, self.machine.target.timing)
            elif isinstance(op, flow.UnitsOp):
                self.machine.classes.append(UnitClass(self.machine, op, bodies))
            elif isinstance(op, flow.SpaceOp):
                name = op.sym_name.data
                self.machine.spaces[name] = Space(name, op.size.value.data, None)
            elif not isinstance(op, flow.ColorOp | flow.ChannelOp):
                raise LoomError(f"{op.name} does not belong in a flow.fabric", location_of(op))
        taken = np.zeros(shape, np.bool_)
        for cls in self.machine.classes:
            place = cls.placement.on_grid(np.ones(cls.shape, np.bool_))
            if (taken & place).any():
                raise LoomError(f"units @{cls.name} share PEs with another class", location_of(cls.op))
            taken |= place
        for cls in self.machine.classes:
            for op in cls.op.body.block.ops:
                if isinstance(op, flow.SpaceOp):
                    name = op.sym_name.data
                    cls.spaces[name] = Space(name, op.size.value.data, cls.shape)
        for op in self.machine.op.body.block.ops:
            if isinstance(op, flow.ChannelOp):
                self._load_channel(op)
        for cls in self.machine.classes:
            self._load_class(cls)
        self._connect()

    def _load_channel(self, op: flow.ChannelOp) -> None:
        classes = {cls.name: cls for cls in self.machine.classes}
        ends: list[UnitClass] = []
        for symbol in (op.producer, op.consumer):
            cls = classes.get(symbol.root_reference.data)
            if cls is None:
                raise LoomError(f"{symbol} is not a class of units", location_of(op))
            ends.append(cls)
        producer, consumer = ends
        if producer.shape[0] != consumer.shape[0] or not all(isinstance(cls.units, Rectangle) for cls in ends):
            raise LoomError(
                f"channel @{op.sym_name.data} needs units @{producer.name} and @{consumer.name} on the same rows, "
                "without gaps",
                location_of(op),
            )
        name = op.sym_name.data
        self.machine.channels[name] = Channel(
            self.machine, name, producer, consumer, depth=op.depth.value.data, period=op.period.value.data,
            lanes=op.lanes.value.data, seed=op.seed.value.data, where=location_of(op),
        )  # fmt: skip

    def _load_route(self, op: flow.RouteOp) -> None:
        color = self._color(op, op.color.root_reference.data)
        regions = _ranges(self.machine, op.regions_attr)
        receive, transmit = [port.data for port in op.receive], [port.data for port in op.transmit]
        color.set_route(regions, receive, transmit, location_of(op))
        switched = self.machine.switched.get(color.name)
        if switched is not None:
            switched.set_route(regions, receive, transmit, op.switch)

    def _load_host_stream(self, op: flow.HostStreamOp, shape: tuple[int, int]) -> None:
        color = self._color(op, op.color.root_reference.data)
        connected = np.zeros(shape, np.bool_)
        if op.way.data == "in":
            connected = self.machine.host_inputs.setdefault(color.name, HostInput(color.label, connected)).connected
        else:
            connected = self.machine.host_outputs.setdefault(color.name, HostOutput(color.label, connected)).connected
        for columns, rows in _ranges(self.machine, op.regions_attr):
            connected[rectangle(rows, columns).index] = True

    def _color(self, op: Operation, name: str) -> Color:
        color = self.machine.colors.get(name)
        if color is None:
            raise LoomError(f"@{name} is not a color of the fabric", location_of(op))
        return color

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
                cls.functions[op.sym_name.data] = _function(op, cls)
        for op in operations:
            if isinstance(op, flow.InitializeOp):
                self._initialize(cls, op)
        tasks = [op for op in operations if isinstance(op, flow.TaskOp)]
        changed = {symbol.root_reference.data for op in cls.bodies.walk(cls.op) for symbol in _changed_by(op)}
        for op in tasks:
            self._load_task(cls, op, changed)
        for op in operations:
            if isinstance(op, flow.QueueOp) and op.is_input:
                self._load_listener(cls, op, changed)
        for op in operations:
            if isinstance(op, flow.FifoOp):
                self._load_fifo(cls, op)
        compiler = Compiler(self.machine, cls)
        for op in tasks:
            task = cls.tasks[op.sym_name.data]
            task.code = compiler.compile(task.name, cls.bodies.of(op).block)
            if task.kind == "data":
                _check_data_task(op, task.code)
        for op in operations:
            if isinstance(op, flow.ExportOp):
                self._load_export(cls, op, compiler)
            elif isinstance(op, flow.InitialOp):
                code = compiler.compile("what is loaded at the start", op.body.block)
                run(Warp(cls, code, cls.units, code.template.copy(), 0))
        for task in cls.tasks.values():
            if task.kind == "local" and (task.active[cls.units.index] != NEVER).any():
                cls.touch(cls.units, task)
        cls.task_list = list(cls.tasks.values())
        cls.listening = any(task.kind in ("data", "control") for task in cls.task_list)

    def _load_buffer(self, cls: UnitClass, op: flow.BufferOp) -> None:
        kind = kind_of(op.type.element_type)
        if kind is None or kind not in cls.memory.typed:
            raise LoomError(f"buffer @{op.sym_name.data} has elements of {op.type.element_type}, not a memory type",
                            location_of(op))  # fmt: skip
        shape = tuple(op.type.get_shape())
        elements = int(np.prod(shape, dtype=np.int64))
        buffer = Buffer(op.sym_name.data, kind, op.address.value.data, shape, elements)
        if buffer.address < 0 or buffer.end > cls.words_in_use:
            raise LoomError(
                f"buffer @{buffer.name} ends at word {buffer.end}, beyond the {cls.words_in_use} words of its units",
                location_of(op),
            )
        cls.buffers[buffer.name] = buffer
        if op.initial is not None:
            values = np.asarray(dense_values(op.initial), DTYPES[kind]).reshape(shape)
            raw = values.reshape(-1).view(f"u{values.dtype.itemsize}")
            if raw.any():
                everywhere = np.broadcast_to(raw, (*cls.shape, elements))
                cls.memory.write_block(*_everywhere(cls), 2 * buffer.address, everywhere)

    def _initialize(self, cls: UnitClass, op: flow.InitializeOp) -> None:
        buffer = cls.buffers[op.buffer.root_reference.data]
        if op.param is not None:
            value = cls.params[op.param.root_reference.data]
        else:
            assert op.number is not None, "verified: a number or a parameter"
            value = normalize(buffer.kind, op.number.value.data)
        element = np.broadcast_to(np.asarray(value, DTYPES[buffer.kind]), cls.shape)[:, :, None]
        address = 2 * buffer.address + op.element.value.data * buffer.element_bytes
        cls.memory.write_block(*_everywhere(cls), address, element.view(f"u{element.dtype.itemsize}"))

    def _load_fifo(self, cls: UnitClass, op: flow.FifoOp) -> None:
        tasks: list[Task | None] = []
        for symbol in (op.activate_push, op.activate_pop):
            task = None if symbol is None else cls.tasks.get(symbol.root_reference.data)
            if symbol is not None and task is None:
                raise LoomError(f"{symbol} is not a task of {cls.name}", location_of(op))
            if task is not None:
                task.expect_completions(activate=True)
            tasks.append(task)
        name, buffer = op.sym_name.data, cls.buffers.get(op.buffer.root_reference.data)
        if buffer is None:
            raise LoomError(f"{op.buffer} is not a buffer of {cls.name}", location_of(op))
        actions = ["test_or_suspend" if action is None else action.data for action in (op.empty_action, op.full_action)]
        cls.fifos[name] = empty_fifo(cls, name, buffer, (actions[0], actions[1]), (tasks[0], tasks[1]))

    def _load_param(self, cls: UnitClass, op: flow.ParamOp) -> None:
        kind = str(kind_of(op.values.get_element_type()))
        values = dense_values(op.values)
        shape = tuple(op.values.get_shape())
        if values.size == 1:
            cls.params[op.sym_name.data] = normalize(kind, values.ravel()[0].item())
            return
        if shape != (self.machine.height, self.machine.width):
            raise LoomError(
                f"param @{op.sym_name.data} has shape {list(shape)}; give one value, or one per PE, "
                f"[{self.machine.height}, {self.machine.width}]", location_of(op),
            )  # fmt: skip
        cls.params[op.sym_name.data] = cls.placement.from_grid(values.astype(DTYPES[kind]))

    def _load_queue(self, cls: UnitClass, op: flow.QueueOp) -> None:
        colors = np.full((self.machine.height, self.machine.width), -1, np.int16)
        names = list(self.machine.colors)
        for symbol, regions in zip(op.colors, op.color_regions, strict=True):
            color = self._color(op, symbol.root_reference.data)
            for columns, rows in _ranges(self.machine, regions):
                colors[rectangle(rows, columns).index] = names.index(color.name)
        mine = cls.placement.from_grid(colors)
        name, number = op.sym_name.data, op.queue_id.value.data
        resource = Resource(
            cls, f"{op.direction.data} queue {shown_name(op)}",
            "give them different queues or start the second when the first has completed (DSD-208)",
        )  # fmt: skip
        if op.direction.data == "input":
            lengths = self.machine.target.input_queue_words
            room = lengths[number] if 0 <= number < len(lengths) else min(lengths)
            queue = cls.inputs[name] = InputQueue(cls, name, shown_name(op), number, mine, resource, room)
            if op.control_offset is not None:
                queue.control_offset = op.control_offset.value.data
        else:
            queue = cls.outputs[name] = OutputQueue(cls, name, shown_name(op), number, mine, resource)
        queue.colorless = bool((mine[cls.units.index] < 0).any())

    def _load_task(self, cls: UnitClass, op: flow.TaskOp, changed: set[str]) -> None:
        name = op.sym_name.data
        queue = None
        if op.queue is not None:
            queue = cls.inputs.get(op.queue.root_reference.data)
            if queue is None:
                raise LoomError(f"{op.queue} is not an input queue of {cls.name}", location_of(op))
        blockable = op.blocked is not None or name in changed or (queue is not None and queue.name in changed)
        active = np.full(cls.shape, NEVER, np.int64)
        if op.active is not None:
            active[cls.units.index] = 0
        unblocked = None
        if blockable:
            unblocked = np.full(cls.shape, NEVER if op.blocked is not None else 0, np.int64)
        task = Task(
            cls, name, op.kind.data, op.task_id.value.data, Code(name, location_of(op)), active, unblocked, queue
        )
        cls.tasks[name] = task
        if task.kind == "control":
            cls.control_tasks[task.number] = task
        if queue is not None:
            if queue.task is not None:
                raise LoomError(f"input queue {queue.label} has two data tasks, @{queue.task.name} and @{name}",
                                location_of(op))  # fmt: skip
            queue.task = task

    def _load_listener(self, cls: UnitClass, op: flow.QueueOp, changed: set[str]) -> None:
        """Make the task that control wavelets of a queue without data task start, for all control tasks."""
        name = op.sym_name.data
        queue = cls.inputs[name]
        if queue.task is not None or (op.unblocked is None and name not in changed):
            return
        active = np.full(cls.shape, NEVER, np.int64)
        unblocked = np.full(cls.shape, NEVER if op.unblocked is None else 0, np.int64)
        queue.task = Task(cls, f"control tasks of @{name}", "data", -1, Code(name, location_of(op)), active, unblocked,
                          queue)  # fmt: skip
        queue.control_only = True
        cls.tasks[queue.task.name] = queue.task

    def _load_export(self, cls: UnitClass, op: flow.ExportOp, compiler: Compiler) -> None:
        name, visible = op.symbol.root_reference.data, op.visible_name.data
        buffer, function = cls.buffers.get(name), cls.functions.get(name)
        if buffer is not None:
            shape, dtype = buffer.shape, DTYPES[buffer.kind]
            if op.points_to is not None:
                shape = tuple(max(extent, -1) for extent in op.points_to.get_shape())
                dtype = DTYPES[str(kind_of(op.points_to.get_element_type()))]
            if op.unsigned is not None and dtype.kind == "i":
                dtype = np.dtype(f"u{dtype.itemsize}")
            exported = self.machine.exports.setdefault(
                visible, Exported(visible, "buffer", dtype, shape, op.read_only is not None)
            )
            if exported.kind != "buffer" or (exported.dtype, exported.shape) != (dtype, shape):
                raise LoomError(f"@{visible} is exported with two different types", location_of(op))
            exported.places.append((cls, Place(2 * buffer.address, op.points_to is not None)))
        elif function is not None:
            exported = self.machine.exports.setdefault(visible, Exported(visible, "function", None, (), True))
            code = compiler.compile(name, function.body.block)
            active = np.full(cls.shape, NEVER, np.int64)
            task = Task(cls, name, "launch", -1, code, active, None)
            cls.tasks[f"launch {visible}"] = task
            exported.launchers.append((cls, task))
        else:
            raise LoomError(f"@{name} is exported but is neither a buffer nor a function", location_of(op))

    def _connect(self) -> None:
        """Trace every color and attach the result to the output queues."""
        readers: dict[int, list[InputQueue]] = {}
        for cls in self.machine.classes:
            for queue in cls.inputs.values():
                for number in np.unique(queue.colors[queue.colors >= 0]).tolist():
                    readers.setdefault(number, []).append(queue)
        counts: dict[InputQueue, Array] = {}
        collected: dict[tuple[OutputQueue, InputQueue], list[tuple[Array, Array, Array]]] = {}
        for number, color in enumerate(self.machine.colors.values()):
            outputs: list[tuple[OutputQueue, Array]] = []
            for cls in self.machine.classes:
                for queue in cls.outputs.values():
                    mask = self._to_fabric(queue, color, cls.placement.on_grid(queue.colors == number))
                    if mask.any():
                        outputs.append((queue, mask))
            network = self.machine.networks.get(color.name)
            if network is not None:
                for queue, _ in outputs:
                    queue.network = network
                for queue in readers.get(number, []):
                    network.add_reader(queue, queue.cls.placement.on_grid(queue.colors == number))
                continue
            self._from_host(color, readers.get(number, []), number, counts)
            self._note_unrouted(color, readers.get(number, []), number)
            switched = self.machine.switched.get(color.name)
            if switched is not None:
                self._connect_switched(switched, outputs, readers.get(number, []), counts)
                continue
            if not outputs:
                continue
            senders = np.logical_or.reduce([mask for _, mask in outputs])
            paths = trace(color, senders, self.machine.target.timing)
            claimed = np.zeros(len(paths.source), np.bool_)
            for reader in readers.get(number, []):
                here = reader.cls.placement.on_grid(reader.colors == number)[paths.target[:, 0], paths.target[:, 1]]
                claimed |= here
                inside = reader.cls.placement.local(paths.target[here])
                size = reader.cls.shape[0] * reader.cls.shape[1]
                tally = counts.setdefault(reader, np.zeros(size, np.int64))
                tally += np.bincount(inside[:, 0] * reader.cls.shape[1] + inside[:, 1], minlength=size)
                for queue, mask in outputs:
                    mine = here & mask[paths.source[:, 0], paths.source[:, 1]]
                    if mine.any():
                        collected.setdefault((queue, reader), []).append(
                            (
                                queue.cls.placement.local(paths.source[mine]),
                                reader.cls.placement.local(paths.target[mine]),
                                paths.latency[mine],
                            )
                        )  # fmt: skip
            reaches = np.zeros((self.machine.height, self.machine.width), np.bool_)
            reaches[paths.source[claimed, 0], paths.source[claimed, 1]] = True
            # Of a multicast some receivers may not read; but what nobody reads was sent in vain.
            unread = ~claimed
            vain = unread & ~reaches[paths.source[:, 0], paths.source[:, 1]]
            # What ends where it was sent, the machine swallows.
            home = (paths.lost == paths.lost_at).all(axis=1)
            home &= color.receive[paths.lost[:, 0], paths.lost[:, 1]] == 0
            own = vain & (paths.source == paths.target).all(axis=1)
            for queue, mask in outputs:
                self._note_losses(queue, mask, paths.lost[~home], paths.lost_at[~home])
                self._note_losses(queue, mask, paths.source[vain & ~own], paths.target[vain & ~own])
                self._note_swallowed(queue, mask, np.concatenate([paths.lost[home], paths.source[own]]))
                self._note_unread(queue, mask, paths.source[unread & ~vain], paths.target[unread & ~vain])
        rank = 0
        for (queue, reader), parts in collected.items():
            source, target, latency = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
            for delivery in compress(source, target, latency, queue.cls.shape, reader):
                delivery.rank = rank = rank + 1
                queue.deliveries.append(delivery)
            queue.room = min(queue.room, reader.room)
        for reader, tally in counts.items():
            reader.senders = int(tally.max())

    def _connect_switched(
        self,
        color: SwitchedColor,
        outputs: list[tuple[OutputQueue, Array]],
        readers: list[InputQueue],
        counts: dict[InputQueue, Array],
    ) -> None:
        """Attach a color with switches to the queues that send it, and the queues that read it to the color."""
        for queue, mask in outputs:
            color.add_sender(mask)
            queue.switched.append((color, queue.cls.placement.from_grid(mask)))
        for queue in readers:
            mask = queue.cls.placement.on_grid(queue.colors == color.number)
            color.readers.append((queue, mask))
            tally = counts.setdefault(queue, np.zeros(queue.cls.shape[0] * queue.cls.shape[1], np.int64))
            # The router puts the wavelets of all senders into one order.
            tally += queue.cls.placement.from_grid(mask).ravel()
        color.join()

    def _to_fabric(self, queue: OutputQueue, color: Color, senders: Array) -> Array:
        """Return the units among `senders` whose routers have a route; the others send to the host.

        Those of a stream to the host are connected with its queue.
        """
        output = self.machine.host_outputs.get(color.name)
        if output is None:
            return senders
        to_host = senders & output.connected & (color.receive == 0)
        if to_host.any():
            cls = queue.cls
            sink = next((sink for sink in output.sinks if sink.cls is cls), None)
            if sink is None:
                sink = InputQueue(
                    cls, f"host stream {color.label}", color.label, -1, queue.colors,
                    Resource(cls, f"host stream {color.label}", "receive one after the other"), UNBOUNDED,
                )  # fmt: skip
                output.sinks.append(sink)
            sink.senders += 1
            mine = cls.placement.from_grid(to_host)
            whole = rectangle(range(mine.shape[0]), range(mine.shape[1]))
            queue.deliveries += [Delivery("shift", units, sink, 0) for units in from_mask(whole, mine)]
        return senders & ~to_host

    def _from_host(self, color: Color, readers: list[InputQueue], number: int, counts: dict[InputQueue, Array]) -> None:
        """Attach the queues in which a stream from the host ends to the stream."""
        host = self.machine.host_inputs.get(color.name)
        if host is None:
            return
        for queue in readers:
            inside = np.zeros(queue.cls.shape, np.bool_)
            inside[queue.cls.units.index] = True
            mine = inside & (queue.colors == number) & queue.cls.placement.from_grid(host.connected)
            if mine.any():
                host.readers.append((queue, mine))
                tally = counts.setdefault(queue, np.zeros(queue.cls.shape[0] * queue.cls.shape[1], np.int64))
                tally += mine.ravel()

    def _note_unrouted(self, color: Color, readers: list[InputQueue], number: int) -> None:
        """Mark the units that read a color no route brings to their ramps; warn of data tasks that never start."""
        if color.name in self.machine.switched:
            return
        arrives = (color.transmit & port_mask(["ramp"])) != 0
        host = self.machine.host_inputs.get(color.name)
        if host is not None:
            arrives = arrives | host.connected
        for queue in readers:
            missing = (queue.colors == number) & ~queue.cls.placement.from_grid(arrives)
            if missing.any():
                queue.unrouted = missing if queue.unrouted is None else queue.unrouted | missing
        if not arrives.any():
            for queue in readers:
                if queue.task is not None and not queue.control_only:
                    self.machine.warn(
                        queue.task.code.where,
                        f"data task @{queue.task.name} never starts: no route brings color {color.label} to the "
                        "ramp of any PE; add one with @set_color_config, or with paint or connect in an SdkLayout",
                    )

    def _note_swallowed(self, queue: OutputQueue, mask: Array, sources: Array) -> None:
        mine = mask[sources[:, 0], sources[:, 1]] if len(sources) else np.zeros(0, np.bool_)
        if not mine.any():
            return
        if queue.swallowed is None:
            queue.swallowed = np.zeros(queue.cls.shape, np.bool_)
        local = queue.cls.placement.local(sources[mine])
        queue.swallowed[local[:, 0], local[:, 1]] = True

    def _note_losses(self, queue: OutputQueue, mask: Array, sources: Array, places: Array) -> None:
        mine = mask[sources[:, 0], sources[:, 1]] if len(sources) else np.zeros(0, np.bool_)
        if not mine.any():
            return
        if queue.lost is None:
            queue.lost = np.zeros(queue.cls.shape, np.bool_)
        local = queue.cls.placement.local(sources[mine])
        queue.lost[local[:, 0], local[:, 1]] = True
        for unit, place in zip(local.tolist(), places[mine].tolist(), strict=True):
            queue.lost_at.setdefault((unit[0], unit[1]), (place[0], place[1]))

    def _note_unread(self, queue: OutputQueue, mask: Array, sources: Array, places: Array) -> None:
        mine = mask[sources[:, 0], sources[:, 1]] if len(sources) else np.zeros(0, np.bool_)
        if mine.any():
            queue.unread_count = np.zeros(queue.cls.shape, np.int64)
            for (y, x), (row, column) in zip(
                queue.cls.placement.local(sources[mine]).tolist(), places[mine].tolist(), strict=True
            ):
                queue.unread_from.append((y, x))
                queue.unread_at.append((row, column))


def _changed_by(op: Operation) -> list[SymbolRefAttr]:
    """Return the tasks and queues that an operation may block or unblock."""
    match op:
        case flow.BlockOp() | flow.UnblockOp():
            return [op.symbol]
        case flow.AsynchronousOp():
            found = [op.unblock]
            if op.on_control is not None and op.on_control.data == "unblock":
                found.append(op.control_task)
            return [symbol for symbol in found if symbol is not None]
        case _:
            return []


def _ranges(machine: WarpMachine, regions: ArrayAttr[RegionAttr]) -> list[tuple[range, range]]:
    found = [region.resolve(machine.width, machine.height) for region in regions]
    return [(columns, rows) for columns, rows in found if columns and rows]


def _everywhere(cls: UnitClass) -> tuple[slice, slice]:
    """Return all rows and columns of a class."""
    return slice(0, cls.shape[0]), slice(0, cls.shape[1])


def _function(op: flow.FuncOp, cls: UnitClass) -> flow.FuncOp:
    """Return the function that has the body of `op`."""
    home = cls.bodies.home(op)
    assert isinstance(home, flow.FuncOp), "verified: a function shares with a function"
    return home


def _check_data_task(op: flow.TaskOp, code: Code) -> None:
    wide = [kind for kind in code.argument_kinds if kind in WIDE]
    if any(kind not in DTYPES or DTYPES[kind].itemsize not in (2, 4) for kind in code.argument_kinds) or (
        len(code.argument_kinds) == 2 and wide
    ):
        raise LoomError(
            f"data task @{op.sym_name.data} takes one argument of 16 or 32 bits, or two of 16 bits", location_of(op)
        )
