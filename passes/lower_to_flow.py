"""Pass `lower-to-flow`: from `wse`, `dsd` and `dsr` to the IR that the engine runs.

What is symbolic above has its number below: colors, tasks, and the address of every buffer. Descriptors become
streams, and registers vanish: an operation takes the stream that was loaded into its register. The new program is
built beside the old one in a single walk; nothing is done per PE. A body that several PE programs share is lowered once
for all that answer alike what its lowering asks of them, such as the address of a buffer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    SymbolRefAttr,
    i16,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from .. import targets
from ..analysis.memory_layout import Allocation, lay_out
from ..analysis.numbering import number
from ..analysis.wse.pe_program import descriptor_makers
from ..diagnostics.errors import LoomError
from ..diagnostics.locations import location_of
from ..dialects import dsd, dsr, flow, wse
from ..dialects.building import member, of_elements
from ..dialects.machine.code import Bodies, CodeOperation
from ..dialects.machine.elements import memory_bytes
from ..dialects.machine.region import indices_text, region_list_text
from ..dialects.machine.region_overlap import first_overlap
from ..dialects.machine.rules import rectangle_problem
from ..dialects.machine.sharing import Ask, Variants
from ..dialects.machine.source_names import set_source_name, source_name
from ..dialects.scalar_types import SCALAR_DIALECTS
from ..dialects.traversal import walk
from ..operations import integers
from ..targets.wavelets import POINTER_EXTENT, WORD_BITS

MAX_NAMED_BUFFERS = 8
"""How many buffers the error about full memory names."""

STRUCTURE = (scf.IfOp, scf.ForOp, scf.WhileOp, scf.YieldOp, scf.ConditionOp)


class LowerToFlowPass(ModulePass):
    """Replaces each `wse.program` by a `flow.fabric`.

    Colors and tasks keep the ids they have and get free ones otherwise; buffers get addresses in the order of the
    program. Everything the passes before this one decide (queues, microthreads, registers) must be there. Raises
    LoomError at an operation that has no counterpart in `flow`, naming it; at a missing decision, naming the pass
    that makes it; if colors or task ids run out; if the buffers exceed the memory of a PE; and if two programs,
    or two routes of a color, share a PE.
    """

    name = "lower-to-flow"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in [program for program in op.body.block.ops if isinstance(program, wse.ProgramOp)]:
            fabric = _ProgramLowering(program).lower()
            _check_complete(fabric)
            op.body.block.insert_op_before(fabric, program)
            program.detach()
            program.erase()


def _check_complete(fabric: flow.FabricOp) -> None:
    """Check that nothing above `flow` is left, neither an operation nor a type."""
    for op in walk(fabric):
        arguments = (value for region in op.regions for block in region.blocks for value in block.args)
        if _is_above(type(op)) or any(_is_lowered_away(value.type) for value in (*op.results, *arguments)):
            raise LoomError(f"{op.name} is left after lower-to-flow, which cannot lower it", location_of(op))


@lru_cache(maxsize=512)
def _is_above(kind: type[Operation]) -> bool:
    return kind.name.partition(".")[0] in ("wse", "dsd", "dsr", "memref")


def _is_lowered_away(type: Attribute) -> bool:
    return isinstance(type, dsd.DescriptorType | dsr.RegisterType | MemRefType)


def _refuse(op: Operation, message: str) -> LoomError:
    return LoomError(message, location_of(op))


class _ProgramLowering:
    """Lowers one program: its colors, routes and PE programs."""

    def __init__(self, program: wse.ProgramOp) -> None:
        self.program = program
        self.target = targets.get(program.target.data)
        self.colors = self._number_colors()
        self.bodies = Bodies(program)
        self.lowered: Variants[tuple[Region, SymbolRefAttr]] = Variants()
        """What each body has become, and the function or task of a class of units that has it."""
        self._kept: dict[CodeOperation, set[tuple[str, int | None]]] = {}

    def lower(self) -> flow.FabricOp:
        width, height = self.program.rectangle
        if (problem := rectangle_problem(width, height, self.target)) is not None:
            raise _refuse(self.program, problem)
        fabric = flow.FabricOp(self.program.sym_name.data, self.target.name, width, height)
        fabric.location = self.program.location
        self._check_placement()
        self._check_routes()
        for op in self.program.body.block.ops:
            match op:
                case wse.ColorOp():
                    new = flow.ColorOp(op.sym_name.data, self.colors[op.sym_name.data], changes=op.changes is not None)
                    set_source_name(new, source_name(op))
                case wse.RouteOp():
                    new = flow.RouteOp(
                        op.color, op.placement.data, op.input_ports, op.output_ports, op.switch,
                        teardown=op.teardown is not None, swap=op.swap, filter=op.filter,
                    )  # fmt: skip
                case wse.HostStreamOp():
                    new = flow.HostStreamOp(op.color, op.way.data, op.placement.data)
                case wse.MessageNetworkOp():
                    new = flow.MessageNetworkOp(op.color)
                case wse.PeOp():
                    new = _PeLowering(op, self).lower()
                case _:
                    raise _refuse(op, f"{op.name} in a wse.program has no counterpart in flow")
            new.location = op.location
            fabric.body.block.add_op(new)
        return fabric

    def kept_registers(self, pe: wse.PeOp) -> set[tuple[str, int | None]]:
        """Return the registers that a body of a PE program reads and another has loaded, or that operations move on."""
        kept: set[tuple[str, int | None]] = set()
        for op in pe.body.block.ops:
            if isinstance(op, CodeOperation):
                home = self.bodies.home(op)
                if home not in self._kept:
                    self._kept[home] = _kept_in(home)
                kept |= self._kept[home]
            elif op.regions:
                kept |= _kept_in(op)
        return kept

    def _number_colors(self) -> dict[str, int]:
        colors = [op for op in self.program.body.block.ops if isinstance(op, wse.ColorOp)]
        # On WSE-2 a data task has the number of its color, which no local task of a fixed id may have too.
        avoid: set[int] = set()
        if self.target.data_tasks_by_color:
            avoid = {
                op.id.value.data
                for pe in self.program.pes
                for op in pe.body.block.ops
                if isinstance(op, wse.TaskOp) and op.task_kind is wse.TaskKind.LOCAL and op.id is not None
            }
        wanted = {op.sym_name.data: None if op.id is None else op.id.value.data for op in colors}
        switched = {
            op.color.string_value()
            for op in self.program.body.block.ops
            if isinstance(op, wse.RouteOp) and op.switch is not None
        }
        # Those with a switch choose first: not every color can have one.
        fixed = {id for id in wanted.values() if id is not None}
        choosy = {name: id for name, id in wanted.items() if name in switched}
        wanted |= number(choosy, self.target.switch_colors, avoid | fixed)
        if any(wanted[name] is None for name in switched):
            raise _refuse(
                next(op for op in colors if op.sym_name.data in switched and wanted[op.sym_name.data] is None),
                f"a color gets no id: {len(switched)} colors of the program have switches, and {self.target.name} has "
                f"{len(self.target.switch_colors)} ids for them; let parts of the program that are far apart share one",
            )
        numbers = number(wanted, range(self.target.routable_colors), avoid)
        for op in colors:
            if op.sym_name.data not in numbers:
                raise _refuse(
                    op,
                    f"color @{op.sym_name.data} gets no id: the program has {len(colors)} colors, and "
                    f"{self.target.name} routes {self.target.routable_colors}; let parts of the program that are far "
                    "apart share a color",
                )
        return numbers

    def _check_placement(self) -> None:
        for pe in self.program.pes:
            if not any(all(region.resolve(*self.program.rectangle)) for region in pe.placement):
                raise _refuse(
                    pe,
                    f"wse.pe @{pe.sym_name.data} on {region_list_text(pe.placement)} covers no PE of the rectangle, "
                    f"which has {indices_text(*self.program.rectangle)}; correct its region or enlarge the rectangle",
                )
        places = [(pe, region.resolve(*self.program.rectangle)) for pe in self.program.pes for region in pe.placement]
        found = first_overlap(places)
        if found is not None:
            (first, _), (second, _) = places[found[0]], places[found[1]]
            x, y = found[2]
            raise _refuse(
                second,
                f"wse.pe @{second.sym_name.data} is placed on PE ({x}, {y}), where @{first.sym_name.data} is already; "
                "place one program on each PE",
            )

    def _check_routes(self) -> None:
        by_color: dict[str, list[tuple[wse.RouteOp, tuple[range, range]]]] = {}
        for op in self.program.body.block.ops:
            if isinstance(op, wse.RouteOp):
                regions = [(op, region.resolve(*self.program.rectangle)) for region in op.placement]
                by_color.setdefault(op.color.string_value(), []).extend(regions)
        for color, routes in by_color.items():
            found = first_overlap(routes)
            if found is not None:
                x, y = found[2]
                raise _refuse(
                    routes[found[1]][0],
                    f"color @{color} has two routes at PE ({x}, {y}); name all its ports in one of them",
                )


def _kept_in(owner: Operation) -> set[tuple[str, int | None]]:
    return {
        (result.type.file(), result.type.number)
        for op in walk(owner)
        for result in op.results
        if isinstance(result.type, dsr.DescriptorRegisterType) and _is_kept(result)
    }


def _line_of(op: Operation) -> str:
    """Return where an operation comes from, ` (pe.csl:3)`, for a list; nothing if that is not known."""
    file, separator, line = (location_of(op) or "").rpartition(":")[0].rpartition(":")
    return f" ({os.path.basename(file)}:{line})" if separator else ""


class _PeLowering:
    """Lowers one PE program: memory, queues, task ids, and the bodies."""

    def __init__(self, pe: wse.PeOp, program: _ProgramLowering) -> None:
        self.pe = pe
        self.target = program.target
        self.colors = program.colors
        self.bodies = program.bodies
        self.lowered = program.lowered
        self.buffers = [op for op in pe.body.block.ops if isinstance(op, wse.BufferOp)]
        self.input_queues = {op.sym_name.data: op for op in pe.body.block.ops if isinstance(op, wse.InputQueueOp)}
        self.fifos = {op.sym_name.data: op for op in pe.body.block.ops if isinstance(op, wse.FifoOp)}
        self.queue_ids = {op.sym_name.data: op.queue_id for op in pe.body.block.ops if isinstance(op, wse.QueueOp)}
        self.kept_registers = program.kept_registers(pe)
        self.fifo_buffers = {op.buffer.string_value() for op in pe.body.block.ops if isinstance(op, wse.FifoOp)}
        self.params = {op.sym_name.data: op for op in pe.body.block.ops if isinstance(op, wse.ParamOp)}
        self.addresses: dict[str, int] = {}
        """The first word of each buffer, once memory is laid out."""

    def lower(self) -> flow.UnitsOp:
        self.addresses, words = self._lay_out()
        tasks = self._number_tasks()
        main_thread = None if self.pe.main_thread is None else self.pe.main_thread.data
        units = flow.UnitsOp(self.pe.sym_name.data, self.pe.placement.data, words, main_thread=main_thread)
        for name in ("ordered", "main_thread_changes", "configuration"):
            if name in self.pe.attributes:
                units.attributes[name] = self.pe.attributes[name]
        fifos = self._fifo_loads()
        if fifos is not None:
            units.body.block.add_op(fifos)
        for op in self.pe.body.block.ops:
            match op:
                case wse.BufferOp():
                    name = op.sym_name.data
                    new = flow.BufferOp(
                        name, self.addresses[name], op.type, op.value, undefined=op.undefined is not None
                    )
                case wse.FifoOp():
                    # Registers are loaded with it; operations have its priority.
                    options = {name: value for name, value in op.options.items() if name in flow.FifoOp.OPTIONS}
                    new = flow.FifoOp(op.sym_name.data, op.buffer.string_value(), options=options)
                case wse.InitialOp():
                    new = flow.InitialOp(_BodyLowering(Ask(self._answer)).lower(op.body))
                case wse.ParamOp():
                    new = flow.ParamOp(op.sym_name.data, op.value)
                case wse.InitializeOp():
                    new = flow.InitializeOp(op.buffer.string_value(), op.element.value.data, self._initial(op))
                case wse.ExportOp():
                    new = flow.ExportOp(
                        op.symbol.string_value(),
                        op.exported_name,
                        points_to=op.points_to,
                        unsigned=op.unsigned is not None,
                        unsigned_arguments=op.unsigned_positions,
                        read_only=op.read_only is not None,
                    )
                case wse.InputQueueOp() | wse.OutputQueueOp():
                    new = self._queue(op)
                case wse.FuncOp() | wse.TaskOp():
                    new = self._code(op, tasks.get(op.sym_name.data))
                case _:
                    raise _refuse(op, f"{op.name} in a wse.pe has no counterpart in flow")
            new.location = op.location
            units.body.block.add_op(new)
        return units

    def _code(self, op: wse.FuncOp | wse.TaskOp, number: int | None) -> flow.FuncOp | flow.TaskOp:
        """Return the counterpart of a function, or of a task with its id; it has a body, or shares one made before."""
        name, home = op.sym_name.data, self.bodies.home(op)
        own = member(self.pe.sym_name.data, name)
        body, first = self.lowered.of(home, self._answer, lambda ask: (_BodyLowering(ask).lower(home.body), own))
        shares = None if first is own else first
        if isinstance(op, wse.FuncOp):
            outputs = [_lowered(type) for type in op.function_type.outputs]
            if shares is None:
                return flow.FuncOp(name, body, outputs)
            inputs = [_lowered(type) for type in op.function_type.inputs]
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

    def _lay_out(self) -> tuple[dict[str, int], int]:
        allocations = [self._allocation(buffer) for buffer in self.buffers]
        self._check_fixed(allocations)
        layout = lay_out(allocations, self.target.memory_bytes // 2)
        if layout is None:
            largest = max(zip(allocations, self.buffers, strict=True), key=lambda pair: pair[0].words)[1]
            raise _refuse(largest, self._memory_error(allocations))
        return dict(zip((a.name for a in allocations), layout.addresses, strict=True)), layout.words

    def _initial(self, op: wse.InitializeOp) -> int | str:
        """Return the number an element starts with, or the name of the parameter that has it."""
        if op.param is not None:
            return op.param.string_value()
        assert op.target is not None, "verified: an address or a parameter"
        return 2 * self.addresses[op.target.string_value()] + op.bytes_on

    def _allocation(self, buffer: wse.BufferOp) -> Allocation:
        words = (buffer.element_count * memory_bytes(buffer.type.element_type) + 1) // 2
        least = self.target.fifo_alignment if buffer.sym_name.data in self.fifo_buffers else 2
        element = memory_bytes(buffer.type.element_type) // 2
        alignment = max(1, element, (least if buffer.alignment is None else buffer.alignment.value.data) // 2)
        address = None if buffer.address is None else buffer.address.value.data
        if address is not None and address % (2 * alignment):
            message = f"buffer @{buffer.sym_name.data} is at address {address}, which is not a multiple of"
            raise _refuse(buffer, f"{message} {2 * alignment} bytes; choose one that is")
        # What is larger than a word may be looked at as elements of 32 bits.
        wanted = max(2 if words > 1 else 1, alignment) if address is None else alignment
        return Allocation(buffer.sym_name.data, words, wanted, None if address is None else address // 2)

    def _check_fixed(self, allocations: Sequence[Allocation]) -> None:
        """Raise LoomError unless the buffers with addresses of their own are in memory and disjoint."""
        fixed = [(a.address, a, op) for a, op in zip(allocations, self.buffers, strict=True) if a.address is not None]
        before: Allocation | None = None
        for address, allocation, op in sorted(fixed, key=lambda one: one[0]):
            name, first, end = allocation.name, 2 * address, 2 * (address + allocation.words)
            if end > self.target.memory_bytes:
                raise _refuse(
                    op,
                    f"buffer @{name} takes the bytes {first} to {end - 1}, but a PE of {self.target.name} has "
                    f"{self.target.memory_bytes:,}; choose a smaller address",
                )
            if before is not None and before.address is not None and address < before.address + before.words:
                raise _refuse(
                    op,
                    f"buffer @{name} is at address {first}, but @{before.name} takes the bytes {2 * before.address} to "
                    f"{2 * (before.address + before.words) - 1}; choose addresses further apart",
                )
            before = allocation

    def _memory_error(self, allocations: Sequence[Allocation]) -> str:
        used = sum(2 * allocation.words for allocation in allocations)
        pairs = sorted(zip(allocations, self.buffers, strict=True), key=lambda pair: -pair[0].words)
        listed = ", ".join(f"@{a.name} {2 * a.words:,}{_line_of(op)}" for a, op in pairs[:MAX_NAMED_BUFFERS])
        largest = [allocation for allocation, _ in pairs]
        rest = sum(2 * allocation.words for allocation in largest[MAX_NAMED_BUFFERS:])
        more = f", {len(largest) - MAX_NAMED_BUFFERS} others {rest:,}" if rest else ""
        padding = "" if used > self.target.memory_bytes else " with their alignment"
        return (
            f"the buffers of @{self.pe.sym_name.data} take {used:,} bytes{padding}, but a PE of {self.target.name} has "
            f"{self.target.memory_bytes:,}: {listed}{more}; make them smaller or spread them over more PEs"
        )

    def _number_tasks(self) -> dict[str, int]:
        tasks = [op for op in self.pe.body.block.ops if isinstance(op, wse.TaskOp)]
        numbers: dict[str, int] = {}
        data_ids: dict[int, str] = {}
        for op in tasks:
            name = op.sym_name.data
            if op.task_kind is wse.TaskKind.CONTROL:
                assert op.id is not None, "verified: a control task has an id"
                numbers[name] = op.id.value.data
            elif op.task_kind is wse.TaskKind.DATA:
                ids = self._data_task_ids(op)
                data_ids |= dict.fromkeys(ids, name)
                # A queue whose color differs from PE to PE gives its task as many ids; flow keeps the first.
                numbers[name] = ids[0]
        local = [op for op in tasks if op.task_kind is wse.TaskKind.LOCAL]
        avoid = {*data_ids, *self.target.reserved_local_task_ids}
        for op in local:
            if op.id is not None and (other := data_ids.get(op.id.value.data)) is not None:
                raise _refuse(
                    op,
                    f"local task @{op.sym_name.data} has id {op.id.value.data}, which data task @{other} has by its "
                    f"{'color' if self.target.data_tasks_by_color else 'queue'}; give one another id",
                )
        wanted = {op.sym_name.data: None if op.id is None else op.id.value.data for op in local}
        numbers |= number(wanted, self.target.local_task_ids, avoid)
        for op in local:
            if op.sym_name.data not in numbers:
                available = len([id for id in self.target.local_task_ids if id not in avoid])
                raise _refuse(
                    op,
                    f"local task @{op.sym_name.data} gets no id: @{self.pe.sym_name.data} has {len(local)} local "
                    f"tasks, and {available} ids are free on {self.target.name}; merge tasks that "
                    "never wait for each other",
                )
        return numbers

    def _data_task_ids(self, task: wse.TaskOp) -> list[int]:
        """Return the numbers of data tasks: on WSE-2 that of the color, on WSE-3 that of the queue."""
        assert task.queue is not None, "verified: a data task has a queue"
        queue = self.input_queues[task.queue.string_value()]
        if self.target.data_tasks_by_color:
            return [self.colors[entry.color_name] for entry in queue.colors]
        return [self._queue_id(queue)]

    def _queue_id(self, queue: wse.QueueOp) -> int:
        if queue.queue_id is None:
            raise _refuse(queue, f"queue @{queue.sym_name.data} has no id; run dsd-assign-queues before lower-to-flow")
        return queue.queue_id

    def _queue(self, queue: wse.InputQueueOp | wse.OutputQueueOp) -> flow.QueueOp:
        name = queue.sym_name.data
        rectangle = self.pe.program.rectangle
        places = [(entry.color_name, region.resolve(*rectangle)) for entry in queue.colors for region in entry.regions]
        found = first_overlap(places)
        if found is not None:
            x, y = found[2]
            raise _refuse(
                queue,
                f"queue @{name} serves @{places[found[0]][0]} and @{places[found[1]][0]} at PE ({x}, {y}); a queue "
                "serves one color",
            )
        new = flow.QueueOp(
            name,
            "input" if isinstance(queue, wse.InputQueueOp) else "output",
            self._queue_id(queue),
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


def _lowered(type: Attribute) -> Attribute:
    """Return the type of a value in `flow`: descriptors and registers are streams, all others stay."""
    if isinstance(type, dsd.DescriptorType | dsr.DescriptorRegisterType):
        return of_elements(flow.StreamType, type.element_type)
    return type


class _Registers:
    """What the registers hold at the current point of a body, as far as it is known.

    Lowering gives every operation the descriptor that the SSA value stands for; that is right only while the
    register has not been loaded with another one.
    """

    def __init__(self) -> None:
        self.holders: dict[tuple[str, int | None], dsr.LoadOp | None] = {}

    @staticmethod
    def _register(load: dsr.LoadOp) -> tuple[str, int | None]:
        return load.register.file(), load.register.number

    def load(self, load: dsr.LoadOp) -> None:
        self.holders[self._register(load)] = load

    def forget_loads_in(self, op: Operation) -> None:
        """Forget what is loaded inside a loop or branch: from a loop on, and after a branch, it may be there or not."""
        for inner in walk(op):
            if isinstance(inner, dsr.LoadOp):
                self.holders[self._register(inner)] = None

    def check(self, op: dsd.DsdOperation) -> None:
        """Raise LoomError if a register that `op` reads may hold another descriptor than the one it asks for."""
        for operand in op.table_operands:
            load = operand.owner
            if not isinstance(load, dsr.LoadOp) or _is_kept(operand):
                continue
            holder = self.holders.get(self._register(load))
            if holder is None or (holder is not load and holder.descriptor is not load.descriptor):
                file, number = self._register(load)
                raise _refuse(
                    op,
                    f"{op.name} reads a descriptor from {file} register {number}, which may hold another one by then; "
                    "load it again before the operation or into another register",
                )


@dataclass
class _BodyLowering:
    """Lowers the body of one function or task, operation by operation, in order."""

    ask: Ask
    """For what depends on the PE program; see `_PeLowering`."""
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """What each value of the old body is in the new one."""
    arrays: dict[SSAValue, flow.Array] = field(default_factory=dict[SSAValue, flow.Array])
    """What each memref of the old body is: a buffer, or the memory at an address of the new body."""
    block: Block = field(default_factory=Block)
    """Where new operations go."""
    constants: list[Operation] = field(default_factory=list[Operation])
    registers: _Registers = field(default_factory=lambda: _Registers())

    def lower(self, body: Region) -> Region:
        new = self._region(body)
        # Extents and the like are now literals of streams; do not leave their constants to be computed.
        for constant in reversed(self.constants):
            if not any(result.uses for result in constant.results):
                constant.detach()
                constant.erase()
        return new

    def _region(self, region: Region) -> Region:
        if not region.blocks:
            return Region()
        if len(region.blocks) > 1:
            parent = region.parent
            assert parent is not None
            raise _refuse(parent, f"{parent.name} has branches between blocks; use scf.if, scf.for and scf.while")
        old = region.block
        outer, self.block = self.block, Block(arg_types=[_lowered(type) for type in old.arg_types])
        for argument, new in zip(old.args, self.block.args, strict=True):
            if isinstance(argument.type, MemRefType):
                self._refuse_array(region.parent)
            new.name_hint = argument.name_hint
            self.values[argument] = new
        for op in old.ops:
            self._operation(op)
        new_region = Region(self.block)
        self.block = outer
        return new_region

    def _operation(self, op: Operation) -> None:
        rule = self._rule_of(type(op))
        if rule is None:
            raise _refuse(op, f"{op.name} has no counterpart in flow; use wse, dsd, arith, math and scf")
        rule(self, op)

    @staticmethod
    @lru_cache(maxsize=512)
    def _rule_of(kind: type[Operation]) -> Callable[[_BodyLowering, Any], None] | None:
        """Return how operations of a class are lowered; None if they are not."""
        dialect = kind.name.partition(".")[0]
        if dialect in SCALAR_DIALECTS or issubclass(kind, STRUCTURE):
            return _BodyLowering._copy
        for base, rule in (
            (wse.GetBufferOp | wse.ViewOp, _BodyLowering._memory),
            (wse.AddressOfOp, _BodyLowering._address_of),
            (memref.LoadOp, _BodyLowering._load),
            (memref.StoreOp, _BodyLowering._store),
            (memref.DimOp, _BodyLowering._extent_of_array),
            (dsd.DsdOperation, _BodyLowering._dsd_operation),
            (dsd.MemoryDescriptorOp, _BodyLowering._memory_descriptor),
            (dsd.FifoOp, _BodyLowering._fifo),
            (dsd.SetFifoLengthOp, _BodyLowering._fifo_length),
            (dsd.FabricDescriptorOp, _BodyLowering._fabric_descriptor),
            (dsd.DerivedDescriptorOp, _BodyLowering._derived_descriptor),
            (scf.IndexSwitchOp, _BodyLowering._switch),
        ):
            if issubclass(kind, base):
                return rule
        return {"wse": _BodyLowering._state, "dsr": _BodyLowering._register}.get(dialect)

    def _memory(self, op: wse.GetBufferOp | wse.ViewOp) -> None:
        self.arrays[op.result] = (
            op.buffer.string_value() if isinstance(op, wse.GetBufferOp) else self._value(op, op.address)
        )

    def _address_of(self, op: wse.AddressOfOp) -> None:
        self._emit(op, self._address(op.buffer.string_value()))

    def _load(self, op: memref.LoadOp) -> None:
        array, *indices = op.operands
        lowered = [self._value(op, index) for index in indices]
        self._emit(op, flow.LoadOp(self._array(op, array), lowered, op.res.type))

    def _store(self, op: memref.StoreOp) -> None:
        value, array, *indices = op.operands
        lowered = [self._value(op, index) for index in indices]
        self._emit(op, flow.StoreOp(self._value(op, value), self._array(op, array), lowered))

    def _state(self, op: Operation) -> None:
        """Lower what asks the PE for its state or changes it, calls included."""
        match op:
            case wse.AssertOp():
                value = None if op.value is None else self._value(op, op.value)
                self._emit(op, flow.AssertOp(self._value(op, op.condition), op.message.data, value))
            case wse.PrintOp():
                self._emit(op, flow.PrintOp(op.format.data, [self._value(op, value) for value in op.arguments]))
            case wse.DirectiveOp():
                root, count = self._value(op, op.root), self._value(op, op.count)
                self._emit(op, flow.DirectiveOp(op.directive.data, op.axis.data, root, count))
            case wse.SetExceptionMaskOp():
                self._emit(op, flow.SetExceptionMaskOp(self._value(op, op.mask)))
            case wse.TimestampOp():
                self._emit(op, flow.TimestampOp())
            case wse.RemfOp():
                self._emit(op, flow.RemfOp(self._value(op, op.lhs), self._value(op, op.rhs)))
            case wse.Cb16Op():
                arguments = [self._value(op, argument) for argument in op.arguments]
                self._emit(op, flow.Cb16Op(op.function.data, arguments, op.result.type))
            case wse.GetParamOp():
                self._emit(op, flow.GetParamOp(op.param.string_value(), op.result.type))
            case wse.CoordinateOp():
                self._emit(op, flow.CoordinateOp(op.axis.data.value))
            case wse.ExtentOp():
                self._emit(op, flow.ExtentOp(op.axis.data.value))
            case wse.ActivateOp():
                self._emit(op, flow.ActivateOp(op.task.string_value()))
            case wse.BlockOp():
                self._emit(op, flow.BlockOp(self._unblocked(op, op.symbol.string_value())))
            case wse.UnblockOp():
                self._emit(op, flow.UnblockOp(self._unblocked(op, op.symbol.string_value())))
            case wse.CallOp():
                arguments = [self._value(op, argument) for argument in op.arguments]
                types = [_lowered(type) for type in op.res.types]
                self._emit(op, flow.CallOp(op.callee.string_value(), arguments, types))
            case wse.ReturnOp():
                self._emit(op, flow.ReturnOp([self._value(op, argument) for argument in op.arguments]))
            case _:
                raise _refuse(op, f"{op.name} has no counterpart in flow; use wse, dsd, arith, math and scf")

    def _fifo(self, op: dsd.FifoOp) -> None:
        self._emit(op, flow.FifoStreamOp(op.fifo, op.result.type.element_type))

    def _fifo_length(self, op: dsd.SetFifoLengthOp) -> None:
        self._emit(op, flow.SetFifoLengthOp(op.fifo, op.side.data, self._amount(op, op.length)))

    # Values ------------------------------------------------------------------------------------

    def _emit(self, old: Operation, new: Operation) -> None:
        """Append `new`, the counterpart of `old`, whose results it makes."""
        self._append(old, new)
        for before, after in zip(old.results, new.results, strict=True):
            after.name_hint = before.name_hint
            self.values[before] = after

    def _append(self, old: Operation, new: Operation) -> SSAValue | None:
        new.location = old.location
        self.block.add_op(new)
        if isinstance(new, arith.ConstantOp):
            self.constants.append(new)
        return new.results[0] if new.results else None

    def _make(self, old: Operation, new: Operation) -> SSAValue:
        """Append an operation that `old` needs beside its own counterpart; return its one result."""
        result = self._append(old, new)
        assert result is not None
        return result

    def _value(self, user: Operation, value: SSAValue) -> SSAValue:
        if isinstance(value.type, MemRefType):
            self._refuse_array(user)
        return self.values[value]

    def _refuse_array(self, user: Operation | None) -> None:
        assert user is not None
        raise _refuse(
            user,
            f"{user.name} passes on an array, which cannot be lowered to flow; name the buffer with wse.get_buffer "
            "where it "
            "is loaded, stored or described, or pass its address on (wse.address_of, wse.view)",
        )

    def _address(self, buffer: str) -> arith.ConstantOp:
        """Return the byte address of a buffer."""
        return arith.ConstantOp(IntegerAttr(integers.signed(2 * self.ask("address", buffer), WORD_BITS), i16))

    def _unblocked(self, op: Operation, symbol: str) -> str:
        """Return the task or queue that `symbol` means in a block or unblock."""
        found = self.ask("unblocked", symbol)
        if found is None:
            raise _refuse(
                op, f"{op.name} names color @{symbol}, which no input queue of this PE serves; name its queue"
            )
        return found

    def _array(self, user: Operation, array: SSAValue) -> flow.Array:
        """Return the buffer that `array` is, or the address it is at."""
        if array not in self.arrays:
            self._refuse_array(user)
        return self.arrays[array]

    def _number(self, user: Operation, value: dsd.Integer, *, unsigned: bool = False) -> int | SSAValue:
        """Return a field of a descriptor: a literal wherever it is known."""
        known = dsd.constant_value(value)
        if known is not None:
            return integers.unsigned(known, WORD_BITS) if unsigned else known
        assert isinstance(value, SSAValue)
        return self._value(user, value)

    def _amount(self, user: Operation, value: dsd.Integer, scale: int = 1) -> SSAValue:
        """Return an i16 operand: `value` times `scale`, wrapped as the machine does."""
        known = dsd.constant_value(value)
        if known is not None:
            wrapped = integers.function(arith.MuliOp.name, WORD_BITS)(known, scale)
            return self._make(user, arith.ConstantOp(IntegerAttr(wrapped, i16)))
        assert isinstance(value, SSAValue)
        lowered = self._value(user, value)
        if scale == 1:
            return lowered
        factor = self._make(user, arith.ConstantOp(IntegerAttr(scale, i16)))
        return self._make(user, arith.MuliOp(lowered, factor))

    # Scalar code -------------------------------------------------------------------------------

    def _copy(self, op: Operation) -> None:
        """Copy scalar code and its structure, on the new values."""
        operands = [self._value(op, operand) for operand in op.operands]
        if op.regions and not isinstance(op, scf.IfOp):
            # An earlier trip of the loop may have been there before.
            self.registers.forget_loads_in(op)
        before = self.registers.holders
        regions: list[Region] = []
        for region in op.regions:
            self.registers.holders = dict(before)
            regions.append(self._region(region))
        self.registers.holders = before
        if op.regions:
            self.registers.forget_loads_in(op)
        new = type(op).create(
            operands=operands,
            result_types=[_lowered(type) for type in op.result_types],
            properties=op.properties,
            attributes=op.attributes,
            regions=regions,
        )
        if any(isinstance(result.type, MemRefType) for result in new.results):
            self._refuse_array(op)
        self._emit(op, new)

    def _switch(self, op: scf.IndexSwitchOp) -> None:
        """Lower a switch to a chain of branches, the cases in order and the default last."""
        index = self._value(op, op.arg)
        cases = list(zip(cast("DenseArrayBase[IntegerType]", op.cases).get_values(), op.case_regions, strict=True))
        before = self.registers.holders
        types = [_lowered(type) for type in op.result_types]

        def arm(region: Region) -> Region:
            self.registers.holders = dict(before)
            return self._region(region)

        def chain(position: int) -> scf.IfOp:
            number, region = cases[position]
            constant = self._make(op, arith.ConstantOp(IntegerAttr(number, IndexType())))
            chosen = self._make(op, arith.CmpiOp(index, constant, "eq"))
            taken = arm(region)
            outer, self.block = self.block, Block()
            if position + 1 < len(cases):
                inner = chain(position + 1)
                self._append(op, inner)
                self._append(op, scf.YieldOp(*inner.results))
                other = Region(self.block)
                self.block = outer
            else:
                self.block = outer
                other = arm(op.default_region)
            return scf.IfOp(chosen, types, taken, other)

        if not cases:
            raise _refuse(op, "scf.index_switch has no case; use the body of its default instead")
        new = chain(0)
        self.registers.holders = before
        self.registers.forget_loads_in(op)
        self._emit(op, new)

    def _extent_of_array(self, op: memref.DimOp) -> None:
        dimension = dsd.constant_value(op.index)
        type = op.source.type
        if dimension is None or not isa(type, MemRefType) or not 0 <= dimension < type.get_num_dims():
            raise _refuse(op, "memref.dim names no dimension known at compile time; give it a constant index")
        self._emit(op, arith.ConstantOp(IntegerAttr(type.get_shape()[dimension], IndexType())))

    # Descriptors -------------------------------------------------------------------------------

    def _memory_descriptor(self, op: dsd.MemoryDescriptorOp) -> None:
        match op:
            case dsd.CircbufOp():
                array = self._array(op, op.operands[0])
                self._emit(op, flow.CircularStreamOp(array, op.extent, op.wraparound, op.base_type.element_type))
                return
            case dsd.TensorAccessOp():
                raise _refuse(
                    op, "dsd.tensor_access still has an affine map; run dsd-expand-tensor-access before lower-to-flow"
                )
            case dsd.Mem1dOp():
                offset = self._number(op, op.offset)
                strides = [self._number(op, op.stride)]
                extents = [self._number(op, op.extent, unsigned=True)]
            case dsd.Mem4dOp():
                offset = self._number(op, op.offset)
                strides = [self._number(op, stride) for stride in op.strides]
                extents = [self._number(op, extent, unsigned=True) for extent in op.extents]
            case _:
                raise _refuse(op, f"{op.name} has no counterpart in flow")
        array = self._array(op, op.operands[0])
        self._emit(op, flow.StreamOp(array, offset, strides, extents, op.base_type.element_type))

    def _fabric_descriptor(self, op: dsd.FabricDescriptorOp) -> None:
        if op.queue_name is None:
            raise _refuse(op, f"{op.name} names a color and no queue; run dsd-assign-queues before lower-to-flow")
        # Priority is a matter of the operation in flow, and is read there.
        extent = self._number(op, op.extent, unsigned=True)
        flags = {name: name in op.options for name in ("control", "advance_switch", "message", "control_transform")}
        zeroed = op.zero if isinstance(op, dsd.FaboutOp) else None
        self._emit(
            op,
            flow.QueueStreamOp(
                op.queue_name, extent, op.element_type, packed=op.is_packed,
                zero=None if zeroed is None else zeroed.data.removesuffix("_source"), **flags,
            ),
        )  # fmt: skip

    def _derived_descriptor(self, op: dsd.DerivedDescriptorOp) -> None:
        stream = self._value(op, op.descriptor)
        match op:
            case dsd.IncrementOffsetOp():
                words = flow.element_words(op.descriptor_type.element_type)
                self._emit(op, flow.AdvanceOp(stream, self._amount(op, op.value, words)))
            case dsd.SetLengthOp():
                self._emit(op, flow.ResizeOp(stream, self._amount(op, op.value)))
            case dsd.SetStrideOp():
                self._emit(op, flow.RestrideOp(stream, self._amount(op, op.value)))
            case dsd.SetBaseOp():
                self._emit(op, self._rebased(op, stream, self._array(op, op.base)))
            case _:
                raise _refuse(op, f"{op.name} has no counterpart in flow")

    def _rebased(self, op: Operation, stream: SSAValue, array: flow.Array) -> Operation:
        """Return the walk of `stream` from the start of another array. The buffer of a stream is fixed in flow, so a
        walk that is not known here goes over all memory, from the address of the array on."""
        if not isinstance(array, str):
            return flow.RebaseOp(stream, array)
        made_by = stream.owner
        match made_by:
            case flow.StreamOp():
                strides = _fields(made_by.static_strides, made_by.strides)
                extents = _fields(made_by.static_extents, made_by.extents)
                return flow.StreamOp(array, 0, strides, extents, cast(flow.StreamType, stream.type).element_type)
            case flow.AdvanceOp():
                return self._rebased(op, made_by.stream, array)
            case flow.ResizeOp() | flow.RestrideOp():
                inner = self._make(op, self._rebased(op, made_by.stream, array))
                return type(made_by)(inner, made_by.amount)
            case _:
                return flow.RebaseOp(stream, self._make(op, self._address(array)))

    # Operations --------------------------------------------------------------------------------

    def _register(self, op: Operation) -> None:
        """Lower a register or load: the result of a load is the stream that was loaded. Only those that other tasks
        read, or that operations move on, stay."""
        match op:
            case dsr.LoadOp():
                for register in (op.result, *op.operands[1:]):
                    type = register.type
                    if isinstance(type, dsr.RegisterType) and not type.is_allocated:
                        raise _refuse(
                            op,
                            f"dsr.load uses a {type.file()} register without a number; run dsr-allocate before "
                            "lower-to-flow",
                        )
                self.registers.load(op)
                self.values[op.result] = self._value(op, op.descriptor)
                if op.single_step is None and self.ask("is kept", op.register.file(), op.register.number):
                    self._load_register(op)
            case dsr.GetXdsrOp() | dsr.GetSrOp() | dsr.GetDsrOp():
                # Names a register for a load or an operation, and holds nothing by itself.
                pass
            case _:
                raise _refuse(
                    op, f"{op.name} has no counterpart in flow, which has no registers; load the descriptor here"
                )

    def _load_register(self, op: dsr.LoadOp) -> None:
        properties: dict[str, Attribute | None] = {}
        settings = op.asynchronous
        if settings is not None:
            number = settings.microthread
            if number is None:
                # The queue gives the microthread (DSD-223, AMB-14).
                makers = [m for m in descriptor_makers(op.descriptor) if isinstance(m, dsd.FabricDescriptorOp)]
                name = makers[0].queue_name if makers else None
                number = None if name is None else self.ask("queue id", name)
            if number is None:
                raise _refuse(op, "dsr.load is asynchronous and its queue has no id; run dsd-assign-queues before")
            properties = self._settings(op, settings, number, self._priority(settings, [op.descriptor]))
        number = op.register.number
        assert number is not None
        self._append(
            op,
            flow.LoadRegisterOp(
                op.register.file(),
                number,
                self.values[op.result],
                save_address=op.save_address is not None,
                settings=properties,
            ),
        )

    def _dsd_operation(self, op: dsd.DsdOperation) -> None:
        self.registers.check(op)
        streams = [self._operand(op, operand) for operand in op.table_operands]
        if isinstance(op.destination.type, MemRefType):
            streams[0] = self._pointer(op, streams[1:])
        settings = op.settings
        # An operation on a register that is loaded elsewhere is what that load makes of it.
        unknown = any(isinstance(operand.owner, dsr.GetDsrOp) for operand in op.table_operands)
        if settings is not None and settings.microthread is None and not unknown:
            raise _refuse(
                op,
                f"{op.name} is asynchronous and has no microthread; run dsd-assign-microthreads before lower-to-flow",
            )
        if settings is None or settings.microthread is None:
            properties = None
        else:
            descriptors = map(op.descriptor_of, op.table_operands)
            priority = self._priority(settings, descriptors)
            if priority is None and op.asynchronous is not None and op.asynchronous.microthread_priority is not None:
                priority = op.asynchronous.microthread_priority.value  # the load of a register gives none
            properties = self._settings(op, settings, settings.microthread, priority)
        with_result = op.result is not None
        self._emit(
            op,
            flow.ApplyOp(
                op.definition.name,
                streams[0],
                streams[1:],
                properties,
                with_result=with_result,
                fp16=op.fp16,
                drops_data=op.drops_data is not None,
            ),
        )

    def _settings(
        self, op: Operation, settings: dsd.AsyncAttr, microthread: int, priority: str | None
    ) -> dict[str, Attribute | None]:
        unblocked = settings.unblocked
        return flow.AsynchronousOp.settings(
            microthread,
            settings.activated,
            None if unblocked is None else self._unblocked(op, unblocked),
            self._on_control(op, settings),
            priority,
        )

    def _priority(self, settings: dsd.AsyncAttr, descriptors: Iterable[SSAValue | None]) -> str | None:
        """Return the priority: that of the operation or load on WSE-2, of its first operand that is a fabric descriptor
        or a FIFO on WSE-3 (DSD-225, DSD-227, AMB-13)."""
        if settings.microthread_priority is not None:
            return settings.microthread_priority.value
        for descriptor in descriptors:
            match None if descriptor is None else dsd.defining_op(descriptor):
                case dsd.FabricDescriptorOp() as made_by:
                    return None if made_by.priority is None else made_by.priority.data.value
                case dsd.FifoOp() as made_by:
                    return cast("str | None", self.ask("priority", made_by.fifo.string_value()))
                case _:
                    pass
        return None

    def _on_control(self, op: Operation, settings: dsd.AsyncAttr) -> tuple[str, str | None] | None:
        control = settings.control
        if control is None:
            return None
        task = control.task
        if task is not None and control.control_action is dsd.ControlAction.UNBLOCK:
            task = self._unblocked(op, task)
        return control.control_action.value, task

    def _operand(self, op: dsd.DsdOperation, operand: SSAValue) -> SSAValue:
        """Return an operand's scalar or stream, moved by the operation's index if its descriptor asks for that."""
        if isinstance(operand.type, MemRefType):
            return operand
        register = operand.type
        if isinstance(register, dsr.DescriptorRegisterType) and _is_kept(operand):
            assert register.number is not None
            fifo = isinstance(operand.owner, dsr.GetDsrOp) and operand.owner.fifo is not None
            new = flow.RegisterOp(register.file(), register.number, register.element_type, fifo=fifo)
            value = self._make(op, new)
        else:
            value = self._value(op, operand)
        if op.index is None or not isinstance(value.type, flow.StreamType):
            return value
        descriptor = op.descriptor_of(operand)
        made_by = None if descriptor is None else dsd.defining_op(descriptor)
        match made_by:
            case dsd.Mem1dOp() | dsd.Mem4dOp() if made_by.wavelet_index_offset is not None:
                # The index counts 16-bit words (DSD-236), as flow.advance does.
                return self._make(op, flow.AdvanceOp(value, self._value(op, op.index)))
            case dsd.FaboutOp() if made_by.wavelet_index_offset is not None:
                return self._make(op, flow.IndexedOp(value, self._value(op, op.index)))
            case None:
                raise _refuse(
                    op,
                    f"{op.name} has an index, but the descriptor of an operand is not known here; make the descriptor "
                    "next to the operation",
                )
            case _:
                return value

    def _pointer(self, op: dsd.DsdOperation, sources: Iterable[SSAValue]) -> SSAValue:
        """Return the stream of a pointer to a scalar, which is written once for each element of the sources, always in
        the same place."""
        array = self._array(op, op.destination)
        walks = any(isinstance(source.type, flow.StreamType) for source in sources)
        type = cast("MemRefType[Attribute]", op.destination.type).element_type
        return self._make(op, flow.StreamOp(array, 0, [0], [POINTER_EXTENT if walks else 1], type))


def _is_kept(operand: SSAValue) -> bool:
    """Return True if an operand is a register that another body has loaded, or one that operations move on."""
    owner = operand.owner
    return isinstance(owner, dsr.GetDsrOp) or (isinstance(owner, dsr.LoadOp) and owner.save_address is not None)


def _fields(static: DenseArrayBase, values: Sequence[SSAValue]) -> list[int | SSAValue]:
    """Return the numbers and values of a stream's strides or extents, as its constructor takes them."""
    dynamic = iter(values)
    numbers = cast("DenseArrayBase[IntegerType]", static).get_values()
    return [next(dynamic) if value == flow.DYNAMIC else value for value in numbers]
