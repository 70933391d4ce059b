"""PE programs: their memory, queues and task ids, and what their bodies ask of them."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import (
    FunctionType,
    SymbolRefAttr,
)
from xdsl.ir import Block, Operation, Region

from ...diagnostics.errors import Mistakes
from ...dialects import flow, wse
from ...dialects.building import member
from ...dialects.machine.code import Bodies, CodeOperation
from ...dialects.machine.region_overlap import first_overlap
from ...dialects.machine.sharing import Ask, Variants
from ...dialects.machine.source_names import set_source_name, source_name
from ...targets.model import Target
from .bodies import BodyLowering
from .emission import lowered, refusal
from .memory import lay_out_buffers
from .registers import Register, kept_in
from .tasks import number_tasks, queue_id


class Shared:
    """What the PE programs of a program have in common: the numbers of colors, and bodies that are lowered once."""

    def __init__(self, program: wse.ProgramOp, target: Target, colors: Mapping[str, int], mistakes: Mistakes) -> None:
        self.target = target
        self.mistakes = mistakes
        self.colors = colors
        self.bodies = Bodies(program)
        self.lowered: Variants[tuple[Region, SymbolRefAttr]] = Variants()
        """What each body has become, and the function or task of a class of units that has it."""
        self.told_memory: set[tuple[str, str]] = set()
        """Of errors about memory that does not suffice, the places and what they say."""
        self._kept: dict[CodeOperation, set[Register]] = {}

    def kept_registers(self, pe: wse.PeOp) -> set[Register]:
        """Return the registers that a body of a PE program reads and the program names, or that operations move on."""
        kept: set[Register] = set()
        for op in pe.body.block.ops:
            if isinstance(op, CodeOperation):
                home = self.bodies.home(op)
                if home not in self._kept:
                    self._kept[home] = kept_in(home)
                kept |= self._kept[home]
            elif op.regions:
                kept |= kept_in(op)
        return kept


class PeLowering:
    """Lowers one PE program: memory, queues, task ids, and the bodies."""

    def __init__(self, pe: wse.PeOp, program: Shared) -> None:
        self.pe = pe
        self.target = program.target
        self.mistakes = program.mistakes
        self.told_memory = program.told_memory
        self.colors = program.colors
        self.bodies = program.bodies
        self.lowered = program.lowered
        self.buffers = [op for op in pe.body.block.ops if isinstance(op, wse.BufferOp)]
        self.input_queues = {op.sym_name.data: op for op in pe.body.block.ops if isinstance(op, wse.InputQueueOp)}
        self.fifos = {op.sym_name.data: op for op in pe.body.block.ops if isinstance(op, wse.FifoOp)}
        self.queue_ids = {op.sym_name.data: op.queue_id for op in pe.body.block.ops if isinstance(op, wse.QueueOp)}
        self.kept_registers = program.kept_registers(pe)
        self.params = {op.sym_name.data: op for op in pe.body.block.ops if isinstance(op, wse.ParamOp)}
        self.addresses: dict[str, int] = {}
        """The first word of each buffer, once memory is laid out."""

    def lower(self) -> flow.UnitsOp:
        self.addresses, words = lay_out_buffers(self.pe, self.target, self.mistakes, self.told_memory)
        tasks = number_tasks(self.pe, self.target, self.colors, self.mistakes)
        main_thread = None if self.pe.main_thread is None else self.pe.main_thread.data
        units = flow.UnitsOp(self.pe.sym_name.data, self.pe.placement.data, words, main_thread=main_thread)
        for name in ("ordered", "main_thread_changes", "configuration"):
            if name in self.pe.attributes:
                units.attributes[name] = self.pe.attributes[name]
        fifos = self._fifo_loads()
        if fifos is not None:
            units.body.block.add_op(fifos)
        for op in self.pe.body.block.ops:
            with self.mistakes.going_on():
                new = self._member(op, tasks)
                new.location = op.location
                units.body.block.add_op(new)
        return units

    def _member(self, op: Operation, tasks: Mapping[str, int]) -> Operation:
        """Return what becomes of an operation of the PE program, whose tasks have ids."""
        match op:
            case wse.BufferOp():
                name = op.sym_name.data
                return flow.BufferOp(name, self.addresses[name], op.type, op.value, undefined=op.undefined is not None)
            case wse.FifoOp():
                # Registers are loaded with it; operations have its priority.
                options = {name: value for name, value in op.options.items() if name in flow.FifoOp.OPTIONS}
                return flow.FifoOp(op.sym_name.data, op.buffer.string_value(), options=options)
            case wse.InitialOp():
                return flow.InitialOp(BodyLowering(Ask(self._answer), self.mistakes).lower(op.body))
            case wse.BlockedMicrothreadOp():
                return flow.BlockedMicrothreadOp(op.number.value.data)
            case wse.ParamOp():
                return flow.ParamOp(op.sym_name.data, op.value)
            case wse.InitializeOp():
                return flow.InitializeOp(op.buffer.string_value(), op.element.value.data, self._initial(op))
            case wse.ExportOp():
                return flow.ExportOp(
                    op.symbol.string_value(),
                    op.exported_name,
                    points_to=op.points_to,
                    unsigned=op.unsigned is not None,
                    unsigned_arguments=op.unsigned_positions,
                    read_only=op.read_only is not None,
                )
            case wse.InputQueueOp() | wse.OutputQueueOp():
                return self._queue(op)
            case wse.FuncOp() | wse.TaskOp():
                return self._code(op, tasks.get(op.sym_name.data))
            case _:
                raise refusal(op, f"{op.name} in a wse.pe has no counterpart in flow")

    def _code(self, op: wse.FuncOp | wse.TaskOp, number: int | None) -> flow.FuncOp | flow.TaskOp:
        """Return the counterpart of a function, or of a task with its id; it has a body, or shares one made before."""
        name, home = op.sym_name.data, self.bodies.home(op)
        own = member(self.pe.sym_name.data, name)
        body, first = self.lowered.of(
            home, self._answer, lambda ask: (BodyLowering(ask, self.mistakes).lower(home.body), own)
        )
        shares = None if first is own else first
        if isinstance(op, wse.FuncOp):
            outputs = [lowered(type) for type in op.function_type.outputs]
            if shares is None:
                return flow.FuncOp(name, body, outputs)
            inputs = [lowered(type) for type in op.function_type.inputs]
            return flow.FuncOp.sharing(name, FunctionType.from_lists(inputs, outputs), shares)
        assert number is not None, "every task is numbered"
        return flow.TaskOp(
            name,
            op.task_kind.value,
            number,
            body if shares is None else None,
            queue=None if op.queue is None else op.queue.string_value(),
            active=op.active is not None,
            blocked=op.blocked is not None,
            shares=shares,
        )

    def _answer(self, question: str, *about: str | int) -> object:
        """Answer what the lowering of a body asks of its PE program."""
        match question, about:
            case "address", (str(buffer),):
                return self.addresses.get(buffer)
            case "is kept", (file, register):
                return (file, register) in self.kept_registers
            case "queue id", (str(queue),):
                return self.queue_ids.get(queue)
            case "priority", (str(fifo),):
                priority = self.fifos[fifo].priority
                return None if priority is None else priority.data
            case "unblocked", (str(symbol),):
                return self._unblocked(symbol)
            case _:
                raise AssertionError(f"{question} is not a question")

    def _fifo_loads(self) -> flow.InitialOp | None:
        """Return the loads of FIFOs, which are from the start in the registers that other code reads them from."""
        body = Region(Block())
        for op in self.pe.body.block.ops:
            if not isinstance(op, wse.FifoOp) or op.register is None:
                continue
            number = op.register.value.data
            buffer = next(b for b in self.buffers if b.sym_name == op.buffer.root_reference)
            for file in ("dest", "src1"):
                if (file, number) in self.kept_registers:
                    stream = flow.FifoStreamOp(SymbolRefAttr(op.sym_name), buffer.type.element_type)
                    load = flow.LoadRegisterOp(file, number, stream.result)
                    for new in (stream, load):
                        new.location = op.location
                        body.block.add_op(new)
        return None if body.block.is_empty else flow.InitialOp(body)

    def _initial(self, op: wse.InitializeOp) -> int | str:
        """Return the number an element starts with, or the name of the parameter that has it."""
        if op.param is not None:
            return op.param.string_value()
        assert op.target is not None, "verified: an address or a parameter"
        return 2 * self.addresses[op.target.string_value()] + op.bytes_on

    def _queue(self, queue: wse.InputQueueOp | wse.OutputQueueOp) -> flow.QueueOp:
        name = queue.sym_name.data
        rectangle = self.pe.program.rectangle
        places = [(entry.color_name, region.resolve(*rectangle)) for entry in queue.colors for region in entry.regions]
        found = first_overlap(places)
        if found is not None:
            x, y = found[2]
            raise refusal(
                queue,
                f"queue @{name} serves @{places[found[0]][0]} and @{places[found[1]][0]} at PE ({x}, {y}); a queue "
                "serves one color",
            )
        new = flow.QueueOp(
            name,
            "input" if isinstance(queue, wse.InputQueueOp) else "output",
            queue_id(queue),
            [entry.color for entry in queue.colors],
            [entry.regions for entry in queue.colors],
            unblocked=queue.unblocked is not None,
            control_offset=None if queue.control_offset is None else queue.control_offset.value.data,
        )
        set_source_name(new, source_name(queue))
        return new

    def _unblocked(self, symbol: str) -> str | None:
        """Return the task or queue that `symbol` means in a block or unblock: on WSE-2 it may be a color."""
        if symbol not in self.colors or symbol in self.input_queues:
            return symbol
        serving = (
            name
            for name, queue in self.input_queues.items()
            if any(entry.color_name == symbol for entry in queue.colors)
        )
        return next(serving, None)
