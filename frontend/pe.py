"""The program of one class of PEs: what it owns, gathered while its code is evaluated, and its `wse.pe`."""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    IntegerAttr,
    IntegerType,
    MemRefType,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ..csl import syntax
from ..csl.errors import CslError
from ..csl.source import Diagnostic, Source
from ..dialects import wse
from ..dialects.building import integer
from ..dialects.machine.elements import memory_bytes
from ..operations import nans
from ..operations.bit_patterns import are_all_same
from ..operations.scalar_types import numpy_type
from ..targets.wavelets import WORD_MASK
from . import types
from .descriptor_variables import DescriptorVariables
from .descriptors import (
    FabricDescriptor,
)
from .effects import Effect
from .emit import Builder, has_one_register, in_ir, memref, place, scalar, stored
from .evaluator import Evaluator
from .filter_ids import NO_FILTER
from .frames import Frame
from .modules import Global, Module
from .scalars import bits as bits_of
from .session import Session
from .specialization import OutlinedFunction
from .types import Type
from .values import (
    Address,
    Buffer,
    Callable,
    Column,
    Lanes,
    Value,
    content,
    is_by_content,
    is_members,
    is_ssa,
)

TASK_KINDS = {
    types.LOCAL_TASK_ID: wse.TaskKind.LOCAL,
    types.DATA_TASK_ID: wse.TaskKind.DATA,
    types.CONTROL_TASK_ID: wse.TaskKind.CONTROL,
}


Callback = Function[[], None]


@dataclass
class Rotation:
    """A task started once after each `limit` starts of a data task."""

    alternate: Callable
    limit: int
    counter: Address


@dataclass
class Binding:
    """A task bound to an id: the queue or color for a data task."""

    task: Callable
    kind: wse.TaskKind
    id: int
    node: syntax.Node
    source: Source
    symbol: str
    active: bool = False
    blocked: bool = False
    order: int = 0
    """How many tasks of the PE were bound before."""
    rotation: Rotation | None = None


@dataclass
class Export:
    """A symbol the host sees."""

    name: str
    symbol: str
    type: Type
    """That of the pointer or function."""
    node: syntax.Node
    source: Source
    pointer: MemRefType | None = None
    function: Callable | None = None
    target: Any = None
    """The `places.Place` of the symbol."""
    identity: Hashable = None
    """True if two exports are of one symbol."""


class PeProgram(DescriptorVariables):
    """What a class of PEs owns. `columns` and `rows` are their coordinates, one number for each lane.

    `to_words` returns the words of a struct or union (`packing`).
    """

    def __init__(
        self,
        session: Session,
        name: str,
        columns: NDArray[np.int64],
        rows: NDArray[np.int64],
        held: Mapping[str, Sequence[FabricDescriptor]],
        to_words: Function[[Evaluator, Value, syntax.Node], list[Value]],
    ) -> None:
        super().__init__(session, name, held)
        self._to_words = to_words
        self.columns = columns
        self.rows = rows
        self.operations: list[Operation] = []
        self.initializers: list[Operation] = []
        """Operations that name buffers: after them."""
        self.fifos: list[Operation] = []
        self.initial_loads: list[tuple[Module, Callback]] = []
        """What emits the loads of registers before the program starts, each with its module."""
        self.bindings: dict[tuple[wse.TaskKind, int], Binding] = {}
        self.exports: dict[str, Export] = {}
        self.queue_colors: dict[tuple[bool, int], int] = {}
        """The color @initialize_queue gave a queue, by (is output, id)."""
        self.queue_names: dict[tuple[bool, int], str] = {}
        """What the code calls queues, by (is output, id)."""
        self.initialized: dict[tuple[bool, int], tuple[str | None, Source, syntax.Node]] = {}
        """By whether it is an output queue and by id: the library that initializes it, if one does, and where."""
        self.reported_queues: set[tuple[bool, int]] = set()
        """Queues that a warning says have no color."""
        self.main_thread: str | None = None
        """The priority of what tasks wait for, if the program sets one."""
        self.configuration: dict[int, int] = {}
        """What @set_config puts into registers before the program starts, by word address."""
        self.active: dict[tuple[wse.TaskKind, int], tuple[Source, syntax.Node]] = {}
        """Tasks active from the start, and where that is said."""
        self.blocked: dict[tuple[wse.TaskKind, int], tuple[Source, syntax.Node]] = {}
        self.blocked_microthreads: dict[int, tuple[Module, syntax.Node]] = {}
        """Microthreads blocked from the start, and where that is said."""
        self.unblocked_queues: dict[int, tuple[Module, syntax.Node]] = {}
        """Colors (WSE-2) or input queues (WSE-3) unblocked from the start, and where that is said."""
        self.control_tables: dict[int | None, int] = {}
        """The control task table of each input queue that names one, by the number of the queue."""
        self.control_stride = 1
        """Entry points from one such table to the next."""
        self.colors: set[int] = set()
        self.uses: dict[tuple[str, int], tuple[Source, syntax.Node]] = {}
        """Where the program first uses a resource that a library may keep for itself, by kind and number."""
        self.effects: list[Effect] = []
        self.host_streams: dict[tuple[int, str], None] = {}
        self.message_queues: tuple[int, int] | None = None
        """The input and the output queue of <message_passing>, if it is imported."""
        self.shared: dict[str, Module] = {}
        self.functions: list[Callable] = []
        """Those whose address is needed at run time."""
        self.dispatchers: dict[types.Function, str] = {}
        self.called_indirectly: dict[types.Function, FileLineColLoc | None] = {}
        """The first call through a pointer of each type."""
        self.checked: set[tuple[int, int, tuple[str, ...]]] = set()
        """Generic functions checked as a whole, by the types they are called with."""
        self.inlined: dict[Hashable, int] = {}
        """How much code the calls of each function have made that were emitted in place."""
        self.shared_functions: dict[Hashable, str | None] = {}
        """The symbols of outlined functions; None for those that cannot."""
        self.recursive: list[OutlinedFunction] = []
        """Functions that call themselves otherwise than in tail position."""
        self.functions_emitted: list[Operation] = []
        self.sections: dict[str, list[tuple[int, int, wse.BufferOp]]] = {}
        """The variables of each link section: the position of its module, its place there, its memory."""
        self.state: dict[str, Any] = {}
        """What single builtins keep: random state, registers."""
        self._symbols: set[str] = set()
        self._queues: dict[tuple[bool, int | None, int | None], str] = {}
        self._params: dict[tuple[Attribute, bytes], str] = {}
        self._locals: dict[tuple[Hashable, ...], Address] = {}
        self._owners: dict[str, int] = {}
        """The identity of the function whose local variable is in a memory, by symbol."""
        self._constants: dict[Any, Address] = {}
        self._constant_values: dict[str, Value] = {}
        self._stepped: dict[tuple[str, int], tuple[Type, Address]] = {}
        """The memory that says what a register loaded with `single_step` holds, and the type of that."""
        self.location: Attribute | None = None

    # Names

    def unique(self, name: str) -> str:
        """Return a symbol no other thing of this PE has."""
        symbol, count = name, 1
        while symbol in self._symbols:
            count += 1
            symbol = f"{name}.{count}"
        self._symbols.add(symbol)
        return symbol

    def add(self, op: Operation, source: Source, node: syntax.Node) -> None:
        op.location = location(source, node)
        self.operations.append(op)

    def color(self, number: int) -> str:
        """Return the symbol of a color, which the program will declare."""
        self.colors.add(number)
        return color_symbol(number)

    def adopted(self, value: Value) -> Value:
        """Return a value of the layout as one of this program: the colors of its DSDs by their places."""
        data = value.data
        if is_members(data):
            return Value(value.type, tuple(map(self.adopted, data)))
        if isinstance(value.type, types.Array) and isinstance(value.type.element, types.Descriptor):
            return Value(value.type, [self.adopted_data(item) for item in data])
        return Value(value.type, self.adopted_data(data))

    def use(self, ev: Evaluator, kind: str, number: int | None, node: syntax.Node) -> None:
        """Record that the program uses a resource; what libraries use is theirs."""
        source, node, is_library = program_place(ev, node)
        if number is not None and not is_library:
            self.uses.setdefault((kind, number), (source, node))

    # Memory

    def variable(self, ev: Evaluator, variable: Global) -> Address:
        """Return the memory of a global variable."""
        declaration, type = variable.node, variable.type
        assert isinstance(declaration, syntax.Variable) and type is not None
        symbol = ev.linked_name(variable)
        source = variable.module.file.source
        alignment = None
        if declaration.alignment is not None:
            with ev.at_compile_time(), ev.framed(Frame(variable.module, comptime=True)):
                alignment = ev.integer(declaration.alignment, "an alignment")
        undefined = declaration.storage != "extern"
        address = self.allocate(ev, symbol, type, variable.value, source, declaration, alignment, undefined=undefined)
        if declaration.link_section is not None:
            with ev.at_compile_time(), ev.framed(Frame(variable.module, comptime=True)):
                section = ev.text(declaration.link_section, "a linksection")
            op = self.operations[-1]
            assert isinstance(op, wse.BufferOp)
            self.sections.setdefault(section, []).append((ev.instances.index(variable.module), declaration.start, op))
        return address

    def set_control_tables(self) -> None:
        """Give each input queue with a control task table of its own the place where that begins."""
        for op in self.operations:
            if isinstance(op, wse.InputQueueOp) and self.control_tables.get(op.queue_id):
                op.control_offset = integer(self.control_tables[op.queue_id] * self.control_stride)

    def place_sections(self, ev: Evaluator) -> None:
        """Give the variables of link sections with an address theirs, one after the other as they are declared."""
        ev.session.sections_used.update(self.sections)
        for section, start in ev.session.options.sections.items():
            end = start
            for _, _, op in sorted(self.sections.get(section, ()), key=lambda entry: entry[:2]):
                width = memory_bytes(op.type.element_type)
                step = max(width, 2 if op.alignment is None else op.alignment.value.data)
                # The section itself is where it was asked to be, and that is judged later.
                end = end if end == start else -(-end // step) * step
                op.address = integer(end)
                end += width * op.element_count
                end += end % 2

    def allocate(
        self,
        ev: Evaluator,
        name: str,
        type: Type,
        value: Value | None,
        source: Source,
        node: syntax.Node,
        alignment: int | None = None,
        *,
        undefined: bool = False,
    ) -> Address:
        """Allocate memory for a value of a type; without a value it holds zeros, and is `undefined` if that is not
        said."""
        if types.is_comptime_only(type) or type in (types.VOID, types.MODULE):
            diagnostic = Diagnostic(source, node.start, node.end, f"a '{type}' cannot be stored in memory")
            raise CslError([diagnostic])
        ev.check_format(type, node, source)
        symbol = self.unique(name)
        element, count, unit = buffer_shape(type)
        numbers, initializers = [0] * max(count, 1), []
        if value is not None:
            numbers, initializers = self._initial(ev, symbol, type, value, node)
        buffer_type = memref(element, count) if count else memref(element)
        initial = None
        if any(numbers) or any(issubclass(kind, float) for kind in set(map(_class, numbers))):
            initial = dense(buffer_type, numbers)
        step = 4 if types.alignment(type) > types.size(stored(element)) else None
        # What is not flat has bytes that belong to no field, which copies read as well.
        undefined = undefined and value is None and _is_flat(type)
        op = wse.BufferOp(symbol, buffer_type, initial, alignment or step, undefined=undefined)
        self.add(op, source, node)
        for extra in initializers:
            extra.location = op.location
        self.initializers += initializers
        return Address(Buffer(symbol, stored(element), count), 0, unit)

    def _initial(
        self, ev: Evaluator, symbol: str, type: Type, value: Value, node: syntax.Node
    ) -> tuple[list[Any], list[Operation]]:
        """Return the numbers memory starts with, and what is known only after layout or differs from PE to PE."""
        numbers: list[Any] = []
        initializers: list[Operation] = []
        if _is_flat(type):
            element = type.element if isinstance(type, types.Array) else type
            in_memory = stored(element)
            items: list[Any] = value.data if isinstance(type, types.Array) else [value.data]
            if in_memory is not types.CB16 and _NUMBERS.issuperset(map(_class, items)):
                return [*items], initializers
            for position, item in enumerate(items):
                numbers.append(self._number(in_memory, item, symbol, position, initializers))
            return numbers, initializers
        # A struct, a descriptor or what has 64 bits is kept as words, or as bytes if it may begin at any byte.
        element, count, unit = buffer_shape(type)
        image = _Image([0] * count, unit, self.state["lanes"])
        self._put(ev, type, value.data, 0, image, symbol, node)
        return [
            self._number(element, item, symbol, position, initializers) for position, item in enumerate(image.items)
        ], initializers

    def _number(self, type: Type, item: Any, symbol: str, position: int, initializers: list[Operation]) -> Any:
        if isinstance(item, Address):
            if item.buffer is None:
                return item.base if isinstance(item.base, int) else 0
            initializers.append(
                wse.InitializeOp(symbol, position, address_of=item.buffer.symbol, offset=item.offset * item.unit)
            )
            return 0
        if isinstance(item, Callable):
            return self.function_number(item)
        if isinstance(item, Column):
            initializers.append(wse.InitializeOp(symbol, position, param=self._parameter(scalar(type), type, item)))
            return 0
        return in_ir(type, item)

    def _put(
        self, ev: Evaluator, type: Type, data: Any, start: int, image: _Image, symbol: str, node: syntax.Node
    ) -> None:
        """Put a value into the image of memory of a buffer, from byte `start` on."""
        match type:
            case types.Union() | types.Struct(layout="packed"):
                with ev.at_compile_time():
                    words = self._to_words(ev, Value(type, data), node)
                for position, word in enumerate(words):
                    image.put(start + 2 * position, min(2, types.size(type) - 2 * position), word.data)
            case types.Struct():
                offsets, _ = types.layout(type)
                for offset, member, inner in zip(offsets, data, type.types, strict=True):
                    self._put(ev, inner, member.data, start + offset, image, symbol, node)
            case types.Array():
                step = types.size(type.element)
                for position, item in enumerate(data):
                    self._put(ev, type.element, item, start + position * step, image, symbol, node)
            case types.Descriptor():
                unit = self.session.widths.get((self.name, symbol, start))
                if unit is not None:
                    data = replace(data, unit=unit, element=None)
                data = self.as_held(symbol, data)
                self.hold(symbol, start, data)
                for position, part in enumerate(data.parts()):
                    image.put(start + 2 * position, 2, part)
            case _:
                in_memory = stored(type)
                if isinstance(data, Address | Callable):
                    image.put(start, 2, data)
                    return
                words = _words_of(in_memory, data) if isinstance(data, Column) else None
                pattern = 0 if words else bits_of(in_memory, data)
                for position in range(0, types.size(in_memory), 2):
                    item = words[position // 2] if words else pattern >> (8 * position) & WORD_MASK
                    image.put(start + position, min(2, types.size(in_memory)), item)

    def constant_of(self, ev: Evaluator, holder: Global, node: syntax.Node) -> Address:
        """Return the memory of a global constant."""
        if holder.memory is None:
            assert holder.value is not None
            holder.memory = self.own_constant(ev, holder.value, node, holder)
        return holder.memory

    def constant(self, ev: Evaluator, value: Value, node: syntax.Node) -> Address:
        """Return the memory of a constant that `is_by_content`."""
        return self.own_constant(ev, value, node)

    def own_constant(self, ev: Evaluator, value: Value, node: syntax.Node, holder: Global | None = None) -> Address:
        """Return the memory of a constant; equal ones share it if they are short arrays."""
        name = "constant" if holder is None else holder.module.symbol(holder.node.name)
        key = (value.type, content(value.data)) if is_by_content(value) else id(value)
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = self.allocate(ev, name, value.type, value, ev.source, node)
            assert found.buffer is not None
            self._constant_values[found.buffer.symbol] = value
            if isinstance(key, int):
                self.state.setdefault("kept", []).append(value)
        return found

    def constant_at(self, where: Address) -> Value | None:
        """Return the whole constant that a compile-time address points into; None if it is not a constant's."""
        if where.buffer is None or is_ssa(where.offset):
            return None
        return self._constant_values.get(where.buffer.symbol)

    def local_array(
        self,
        ev: Evaluator,
        node: syntax.Variable,
        type: Type,
        function: syntax.Function | None,
        depth: int,
        called: Callable | Type | None,
    ) -> Address:
        """Return the memory of a local variable of a function, in the call of it that is inside `depth` of them in a
        body of the IR; `called` says which, if that is called."""
        module = ev.frame.module
        body = (id(called.module), id(called.node)) if isinstance(called, Callable) else called
        key = (id(module), id(node), type, depth, body)
        found = self._locals.get(key)
        if found is None:
            name = f"{module.symbol('local' if function is None else function.name)}.{node.name}"
            found = self._locals[key] = self.allocate(ev, name, type, None, ev.source, node, undefined=True)
            assert found.buffer is not None
            self._owners[found.buffer.symbol] = id(function)
        return found

    def local_symbols(self, functions: Sequence[syntax.Function]) -> set[str]:
        """Return the symbols of the memory of local variables of functions."""
        wanted = {id(function) for function in functions}
        return {symbol for symbol, function in self._owners.items() if function in wanted}

    def spill(self, ev: Evaluator, type: Type, node: syntax.Node) -> Address:
        """Return memory for a value that is indexed at run time."""
        key = (id(ev.frame.module), id(node), type)
        found = self._locals.get(key)
        if found is None:
            found = self._locals[key] = self.allocate(ev, "temporary", type, None, ev.source, node)
        return found

    def stepped(self, file: str, number: int) -> tuple[Type, Address] | None:
        """Return the type of the DSD that a register loaded with `single_step` holds, and the memory of it; None if no
        such load is known."""
        return self._stepped.get((file, number))

    def step(
        self, ev: Evaluator, file: str, number: int, type: Type, initial: Value | None, node: syntax.Node
    ) -> tuple[Type, Address]:
        """Return the same of a register that is loaded with `single_step`, before the start with the DSD `initial`."""
        found = self._stepped.get((file, number))
        if found is None or (initial is not None and found[0] == type):
            name = f"{file}{number}.stepped"
            found = type, self.allocate(ev, name, type, initial, ev.source, node)
            self._stepped[file, number] = found
        return found

    # Numbers that differ from PE to PE

    def parameter(self, builder: Builder, type: Type, data: Column) -> SSAValue:
        """Return a column's number on the PE, at run time."""
        mlir = scalar(type)
        if isinstance(type, types.Enum):
            return self.parameter(builder, type.underlying, data)
        if isinstance(type, types.Int) and types.size(type) > 4:
            from xdsl.dialects import arith

            total = builder.constant(type, 0)
            for position, word in enumerate(_words_of(type, data)):
                part = builder.extend(self.parameter(builder, types.U16, word), types.U16, type.carrier)
                raised = builder.value(arith.ShLIOp(part, builder.constant(type, 16 * position)))
                total = builder.value(arith.OrIOp(total, raised))
            return total
        if type is types.BOOL or (isinstance(type, types.Int) and type.carrier == 8):
            word = builder.value(wse.GetParamOp(self._parameter(scalar(types.U16), types.U16, data), scalar(types.U16)))
            if type is types.BOOL:
                from xdsl.dialects import arith

                return builder.value(arith.CmpiOp(word, builder.constant(types.U16, 0), "ne"))
            return builder.extend(word, types.U16, 8)
        return builder.value(wse.GetParamOp(self._parameter(mlir, type, data), mlir))

    def _parameter(self, mlir: Attribute, type: Type, data: Column) -> str:
        lanes = self.state["lanes"]
        values = lanes.spread(data)
        if type is types.CB16:
            values = np.array([in_ir(type, number) for number in values.tolist()])
        width, height = self._rectangle()
        grid = np.zeros((height, width), values.dtype)
        grid[self.rows, self.columns] = values
        if isinstance(type, types.Float) and type is not types.CB16:
            numbers: Any = grid.ravel()
        else:
            bits = type.carrier if isinstance(type, types.Int) else 16
            wide = grid.astype(np.int64).ravel() & ((1 << bits) - 1)
            numbers = np.where(wide >> (bits - 1), wide - (1 << bits), wide)
        key = (mlir, numbers.tobytes())
        symbol = self._params.get(key)
        if symbol is None:
            symbol = self._params[key] = self.unique(f"param{len(self._params)}")
            value = dense(TensorType(mlir, (height, width)), numbers)
            self.operations.append(wse.ParamOp(symbol, value))
        return symbol

    def _rectangle(self) -> tuple[int, int]:
        assert self.session.rectangle is not None
        return self.session.rectangle

    # Queues

    def queue(self, ev: Evaluator, output: bool, id: int | None, color: int | None, node: syntax.Node) -> str:
        """Return the symbol of the queue with an id, a color, or both.

        One without a color on this PE has none in the IR: the run reports what is sent or awaited on it (AMB-34).
        """
        kind = "output" if output else "input"
        keeps_color = self.session.target.queues_keep_color
        if id is not None:
            bound = self.queue_colors.get((output, id))
            if color is None:
                color = bound
                if color is None and (output, id) not in self.reported_queues:
                    self.reported_queues.add((output, id))
                    by = "with @initialize_queue in a comptime block"
                    if output and not keeps_color:
                        by = "with '.fabric_color' in its fabout_dsd"
                    ev.warn(
                        node,
                        f"{kind} queue {id} has no color here; give it one {by} if anything is sent or received on it",
                    )
            elif keeps_color and bound is None:
                ev.warn(
                    node,
                    f"{kind} queue {id} takes color {color} from the DSD, which SDK 2.10 does not do; give it its "
                    "color with @initialize_queue in a comptime block",
                )
                self._bind(output, id, color)
            elif keeps_color and bound != color:
                ev.fail(
                    node,
                    f"the DSD has color {color}, but {kind} queue {id} has color {bound}; give both the same color, or "
                    "the DSD another queue (AMB-11)",
                )
        if id is None and not output:
            for (is_output, number), other in self.queue_colors.items():
                if not is_output and other == color:
                    id = number
        self.use(ev, "output queue" if output else "input queue", id, node)
        self.use(ev, "color", color, node)
        return self._added_queue(output, id, color, ev.source, node)

    def queue_of(self, ev: Evaluator, output: bool, id: int | None, place: int | None, node: syntax.Node) -> str:
        """Return the symbol of the queue of a fabric DSD, whose color is at a place."""
        return self.queue(ev, output, id, None if place is None else self.color_at(place), node)

    def _added_queue(self, output: bool, id: int | None, color: int | None, source: Source, node: syntax.Node) -> str:
        """Return the symbol of a queue, which is added if there is none yet."""
        keeps_color = self.session.target.queues_keep_color
        key = (output, id, color)
        symbol = self._queues.get(key)
        if symbol is None and not output and not keeps_color and color is not None:
            symbol = self._joined(id, color)
        if symbol is None:
            short = "out" if output else "in"
            # Without its color, so that programs that differ in colors alone have code with the same symbols.
            symbol = self.unique(f"{short}_c{color}" if id is None else f"{short}{id}")
            make = wse.OutputQueueOp if output else wse.InputQueueOp
            self.add(make(symbol, [] if color is None else self.color(color), id), source, node)
        self._queues[key] = symbol
        return symbol

    def add_initialized_queues(self) -> None:
        """Add the input queues that the program initializes and nothing reads: they fill up, too.

        Not that of messages: a message to where nothing receives any is an error.
        """
        of_messages = None if self.message_queues is None else self.message_queues[0]
        named = set(self._queues)
        for (output, number), (library, source, node) in self.initialized.items():
            color = self.queue_colors.get((output, number))
            is_used = any(
                kind == output and (id == number or (id is None and serves == color)) for kind, id, serves in named
            )
            if library is None:
                known = source.path, node.start, output, number
                self.session.queues[known] = is_used or self.session.queues.get(known, False)
            if not output and color is not None and number != of_messages:
                self._added_queue(False, number, color, source, node)

    def _bind(self, output: bool, id: int, color: int) -> None:
        """Give a queue that nothing initializes the color of a DSD, for its data task too (AMB-34)."""
        self.queue_colors[output, id] = color
        symbol = self._queues.pop((output, id, None), None)
        if symbol is None:
            return
        self._queues[output, id, color] = symbol
        for op in self.operations:
            if isinstance(op, wse.QueueOp) and op.sym_name.data == symbol:
                op.colors = ArrayAttr([wse.QueueColorAttr.get(self.color(color))])

    def _joined(self, id: int | None, color: int) -> str | None:
        """Return the input queue a color already has where the user does not bind it to one: a data task and
        the DSDs of one color read the same wavelets."""
        for (is_output, number, other), symbol in self._queues.items():
            if is_output or other != color or (number is not None and id is not None):
                continue
            for op in self.operations:
                if isinstance(op, wse.InputQueueOp) and op.sym_name.data == symbol and op.id is None and id is not None:
                    op.id = IntegerAttr(id, i64)
            return symbol
        return None

    # Functions

    def function_number(self, function: Callable) -> int:
        """Return what a pointer to a function holds; never 0."""
        for number, other in enumerate(self.functions, start=1):
            if other.node is function.node and other.module is function.module:
                return number
        self.functions.append(function)
        return len(self.functions)

    def dispatcher(self, type: types.Function, called: FileLineColLoc | None) -> str:
        """Return the symbol of the function that calls what a pointer of a type points to; `called` is where."""
        symbol = self.dispatchers.get(type)
        if symbol is None:
            symbol = self.dispatchers[type] = self.unique("call_pointer")
            self.called_indirectly[type] = called
        return symbol

    def is_outlined(self, function: Callable) -> bool:
        """Return True if there is code by now of a function that calls itself."""
        return any(
            found.function.node is function.node and found.function.module is function.module
            for found in self.recursive
        )

    def count_inlined(self, spent: dict[Hashable, int]) -> None:
        """Count the code that calls of functions have made in a body in which they were emitted in place."""
        for key, size in spent.items():
            self.inlined[key] = self.inlined.get(key, 0) + size

    def unblock_queue(self, ev: Evaluator, number: int, node: syntax.Node) -> None:
        """Let control wavelets of a color (WSE-2) or input queue (WSE-3) that has no data task start control tasks."""
        by_color = self.session.target.data_tasks_by_color
        found = [
            symbol
            for (output, id, color), symbol in self._queues.items()
            if not output and (color if by_color else id) == number
        ]
        wanted = (None, number) if by_color else (number, None)
        symbols = found or [self.queue(ev, False, *wanted, node)]
        for op in self.operations:
            if isinstance(op, wse.InputQueueOp) and op.sym_name.data in symbols:
                op.unblocked = UnitAttr()

    def receives_by_queue(self, color: int) -> bool:
        """Return True if the wavelets of a color are received by an input queue that the program names."""
        return any(other == color and not output for (output, _), other in self.queue_colors.items())

    def is_initialized(self, output: bool, number: int) -> bool:
        """Return True if the program initializes a queue."""
        return (output, number) in self.initialized

    def report_queue(self, output: bool, number: int) -> None:
        """Record that a warning says that a queue has no color."""
        self.reported_queues.add((output, number))

    def name_queue(self, output: bool, number: int, name: str) -> None:
        """Record what the program calls a queue."""
        self.queue_names.setdefault((output, number), name)

    def is_host_stream(self, color: int, way: str) -> bool:
        """Return True if the host sends or receives by a color on this PE."""
        return (color, way) in self.host_streams

    def filter_ids(self, color: int) -> tuple[int, ...]:
        """Return the ids that the filter of a color has on these PEs, `NO_FILTER` if some have none so far."""
        filters = self.session.filters
        mine = [effect.arguments[0] for effect in self.effects]
        local = [config.color for config in mine if config.filter is not None]
        if color in local:
            ids = filters.count(self.columns, self.rows) + local.index(color)
        elif color in filters.by_color:
            ids = filters.by_color[color][self.rows, self.columns]
        else:
            return (NO_FILTER,)
        return tuple(np.unique(ids).tolist())

    # Tasks

    def is_bound(self, kind: wse.TaskKind, id: int) -> bool:
        """Return True if a task is bound to an id."""
        return (kind, id) in self.bindings

    def symbol_of(self, task: Callable) -> str | None:
        """Return the symbol of a task, None if it is not bound to an id."""
        for binding in self.bindings.values():
            if binding.task.node is task.node and binding.task.module is task.module:
                return binding.symbol
        return None

    def kind_of_task(self, symbol: str) -> str | None:
        """Return the kind of id that the task with a symbol is bound to, None if the symbol is of no task."""
        return next((each.kind.value for each in self.bindings.values() if each.symbol == symbol), None)

    def task_symbol(self, ev: Evaluator, kind: wse.TaskKind, id: int, node: syntax.Node) -> str:
        """Return the symbol of the task an id is bound to."""
        binding = self.bindings.get((kind, id))
        if binding is None:
            ev.fail_for_lack(
                node, f"no task is bound to {kind.value} task id {id}; bind one with @bind_{kind.value}_task"
            )
        return binding.symbol


def color_symbol(number: int) -> str:
    return f"c{number}"


def program_place(ev: Evaluator, node: syntax.Node) -> tuple[Source, syntax.Node, bool]:
    """Return where a node is, or where the program imports the library that it is in; True if there is no import."""
    module = ev.frame.module
    while module.is_library and module.importer is not None and module.imported_at is not None:
        module, node = module.importer, module.imported_at
    return module.file.source, node, module.is_library


def location(source: Source, node: syntax.Node) -> FileLineColLoc:
    """Return the location of a node, for an operation."""
    return place(source, node.start)


def buffer_shape(type: Type) -> tuple[Type, int, int]:
    """Return how a value is stored in memory: the type, number (0 for one scalar) and bytes of its elements."""
    if not _is_flat(type):
        element = types.U8 if types.alignment(type) == 1 else types.U16
        return element, max(1, types.size(type) // types.size(element)), types.size(element)
    if isinstance(type, types.Array):
        return type.element, max(1, type.count), types.size(stored(type.element))
    return type, 0, types.size(stored(type))


def _is_flat(type: Type) -> bool:
    """Return True if a value is a scalar, or an array of scalars, of a type that elements of memory have."""
    element = type.element if isinstance(type, types.Array) else type
    return has_one_register(element) and types.size(element) <= 4


class _Image:
    """What a buffer holds at first, in `unit` bytes each: numbers, columns, addresses and functions."""

    def __init__(self, items: list[Any], unit: int, lanes: Lanes) -> None:
        self.items = items
        self.unit = unit
        self.lanes = lanes

    def put(self, start: int, size: int, item: Any) -> None:
        """Put one or two bytes at byte `start`, where there are zeros."""
        if size == self.unit:
            self.items[start // self.unit] = item
        elif size > self.unit:
            for byte in range(size):
                self.items[start + byte] = self._combined(item, lambda number, at=8 * byte: number >> at & 0xFF)
        else:
            shift = 8 * (start % 2)
            before = self.items[start // 2]
            shifted = self._combined(item, lambda number: (number & 0xFF) << shift)
            self.items[start // 2] = self._both(before, shifted)

    def _combined(self, item: Any, change: Function[[Any], Any]) -> Any:
        return Column(item.lanes, change(item.values.astype(np.int64))) if isinstance(item, Column) else change(item)

    def _both(self, one: Any, other: Any) -> Any:
        """Return the bits of two items, which have none in common."""
        if not isinstance(one, Column) and not isinstance(other, Column):
            return one | other
        values = [self.lanes.spread(item) if isinstance(item, Column) else item for item in (one, other)]
        return Column(self.lanes, values[0] | values[1])


_class = type
"""`type`, where something else has that name."""

_NUMBERS = frozenset((bool, int, float))


def _words_of(type: Type, column: Column) -> list[Column]:
    """Return the words of each of a column's numbers, the low one first; of 8 bits, one with zeros above."""
    patterns = [bits_of(type, number) for number in column.values.tolist()]
    return [
        Column(column.lanes, np.array([pattern >> (8 * position) & WORD_MASK for pattern in patterns], np.int64))
        for position in range(0, types.size(type), 2)
    ]


def dense(type: MemRefType | TensorType[Any], numbers: Any) -> DenseIntOrFPElementsAttr:
    """Return numbers as a dense attribute of `type`."""
    element = type.get_element_type()
    if isinstance(element, IntegerType):
        width = element.bitwidth
        mask = (1 << width) - 1
        if isinstance(numbers, np.ndarray):
            array = cast("NDArray[Any]", numbers).astype(f"i{width // 8}")
        else:
            array = np.array([int(number) & mask for number in numbers], f"u{width // 8}")
    else:
        array = np.asarray(numbers, numpy_type(element.name))
        lost = np.isnan(array)
        if lost.any():
            # numpy keeps no more of a NaN than its sign.
            words = array.view(f"u{array.itemsize}")
            width, mantissa = 8 * array.itemsize, nans.MANTISSA_BITS[element.name]
            given = np.asarray(numbers, np.float64)[lost].tolist()
            words[lost] = [nans.bits(number, width, mantissa) for number in given]
    if array.size > 1 and are_all_same(array):
        array = array[:1]
    return _dense(cast(Attribute, element), tuple(type.get_shape()), array.tobytes())


@lru_cache(maxsize=1024)
def _dense(element: Attribute, shape: tuple[int, ...], content: bytes) -> DenseIntOrFPElementsAttr:
    return DenseIntOrFPElementsAttr(cast(Any, TensorType(element, shape)), BytesAttr(content))
