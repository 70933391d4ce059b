"""One `wse.pe` as a CSL file: globals, functions, tasks and the comptime block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ...csl import syntax
from ...csl.source import Source
from ...csl.syntax import Declaration, Expression, Statement
from ...diagnostics.records import record
from ...dialects import dsd, dsr, wse
from ...dialects.machine.configuration import configuration_of
from ...dialects.machine.elements import is_one_number
from ...targets import Target
from ...targets.memcpy import COMMAND_STREAM
from . import tree
from .code import Place
from .names import Names
from .pe_code import PeCode
from .tree import NOWHERE
from .types import literal_of, refuse, scalar_type

X_EXTENT, Y_EXTENT = "rectangle_width", "rectangle_height"
"""Params of the rectangle's size."""


@record
class Export:
    """An exported symbol as the layout names it: its CSL type, and for data whether the host may write it."""

    type: Expression
    text: str
    mutable: bool | None
    op: Operation
    arguments: tuple[str, ...] = ()


@dataclass
class PeFile:
    """A printed PE program, the parameters it takes from the layout, and its exports.

    `color_params` maps a param of type `color` to the queue whose color it is; a color that is the same on every PE
    has the color's symbol instead.
    """

    names: Names
    declarations: list[Declaration] = field(default_factory=list[Declaration])
    comptime: list[Statement] = field(default_factory=list[Statement])
    color_params: dict[str, str | wse.QueueOp] = field(default_factory=dict[str, "str | wse.QueueOp"])
    value_params: dict[str, wse.ParamOp] = field(default_factory=dict[str, wse.ParamOp])
    extent_params: dict[str, wse.Axis] = field(default_factory=dict[str, wse.Axis])
    exports: dict[str, Export] = field(default_factory=dict[str, Export])

    def answer(self, launches: Mapping[str, Export]) -> None:
        """Add a function for each of these exports that only unblocks the command stream."""
        for shown, export in launches.items():
            name = self.names.new(shown)
            inner = Names(self.names)
            parameters = [
                syntax.Parameter(NOWHERE, NOWHERE, inner.new(f"argument_{position}"), tree.name(type), False)
                for position, type in enumerate(export.arguments)
            ]
            body = tree.block([_unblock_command_stream()])
            void = tree.name("void")
            self.declarations.append(syntax.Function(NOWHERE, NOWHERE, "fn", name, parameters, void, body))
            self.comptime.append(_export_symbol(name, shown))

    def file(self) -> syntax.File:
        """Return the tree of the file."""
        declarations = list(self.declarations)
        if self.comptime:
            declarations.append(syntax.ComptimeBlock(NOWHERE, NOWHERE, tree.block(self.comptime)))
        return syntax.File(NOWHERE, NOWHERE, declarations, Source("", ""))


class PeProgram:
    """Writes one `wse.pe`; `task_numbers` holds the id of each local task."""

    def __init__(self, pe: wse.PeOp, target: Target, task_numbers: Mapping[str, int]) -> None:
        self.pe = pe
        self.target = target
        self._task_numbers = task_numbers
        self.names = Names()
        self.result = PeFile(self.names)
        self.members: dict[str, Operation] = {}
        self.called: dict[str, str] = {}
        """The identifier of each symbol."""
        self.task_ids: dict[str, str] = {}
        self._libraries: dict[str, str] = {}
        self._color_names: dict[str, str] = {}
        self._queue_colors: dict[str, str] = {}
        self._pointers: dict[wse.ExportOp, str] = {}
        self._initial: dict[str, list[wse.InitializeOp]] = {}
        self.split: dict[str, list[Place]] = {}
        """The elements of the buffers that are written as a variable for each."""
        self._pointees: dict[str, str] = {}
        self._pointed_from: dict[str, list[wse.ExportOp]] = {}
        self._extents: dict[wse.Axis, str] = {}
        self._exports: dict[str, list[wse.ExportOp]] = {}
        # Variables, queues and task ids, then functions and tasks.
        self._globals: list[Declaration] = []
        self._ids: list[Declaration] = []
        self._routines: list[Declaration] = []
        self._comptime: list[Statement] = []
        self._initial_loads: list[Statement] = []
        self._loads_fabric_inputs = any(
            isinstance(op, dsr.LoadOp) and isinstance(op.descriptor.type, dsd.FabinType) for op in pe.walk()
        )
        self._read()
        self.command_stream = self._command_stream()
        """The counter of where the program lets the host go on; without one, every launched function does so."""
        self._launchers = self._name_launchers()

    def _read(self) -> None:
        wanted = ["memcpy_params", "sys_mod", "layout_mod", "math", "time", "simprint", X_EXTENT, Y_EXTENT]
        self.names.reserve(wanted)
        for op in self.pe.body.block.ops:
            name = wse.symbol_name(op)
            if name is not None:
                self.members[name] = op
                self.called[name] = self.names.new(name)
            elif isinstance(op, wse.ExportOp):
                self._exports.setdefault(op.symbol.string_value(), []).append(op)
        self._read_pointers()
        # All names of the file are chosen before those of locals, which must differ from them.
        for op in self.pe.program.body.block.ops:
            if isinstance(op, wse.ColorOp):
                self._color_names[op.sym_name.data] = self.names.new(op.sym_name.data)
        for name, op in self.members.items():
            if isinstance(op, wse.TaskOp):
                self.task_ids[name] = self.names.new(f"{self.called[name]}_id")
            elif isinstance(op, wse.QueueOp):
                self._queue_colors[name] = self.names.new(f"{self.called[name]}_color")
        for symbol, exports in self._exports.items():
            for export in exports:
                if symbol in self.called:
                    self._pointers[export] = self.names.new(f"{self.called[symbol]}_ptr")

    def write(self) -> PeFile:
        """Return the file; raises LoomError at what CSL cannot express."""
        for op in self.pe.body.block.ops:
            match op:
                case wse.BufferOp():
                    self._buffer(op)
                case wse.ParamOp():
                    self.result.value_params[self.called[op.sym_name.data]] = op
                case wse.ExportOp() | wse.InitializeOp():
                    pass
                case wse.FifoOp():
                    self._fifo(op)
                case wse.BlockedMicrothreadOp():
                    id = tree.builtin("get_ut_id", tree.integer(op.number.value.data))
                    self._comptime.append(tree.builtin("block", id))
                case wse.InitialOp():
                    self._initial_loads.append(tree.block(PeCode(self).body(op.body.block)))
                case wse.QueueOp():
                    self._queue(op)
                case wse.FuncOp():
                    self._function(op)
                case wse.TaskOp():
                    self._task(op)
                case _:
                    raise refuse(op, f"{op.name} cannot be written in CSL; replace it before printing")
        for symbol, exports in self._exports.items():
            if isinstance(self.member(exports[0], symbol), wse.FuncOp):
                for export in exports:
                    self._export_function(export)
        if self.pe.main_thread is not None:
            library = tree.member(self.library("tile_config"), "main_thread_priority")
            level = tree.member(tree.member(library, "level"), self.pe.main_thread.data.upper())
            self._comptime.append(tree.call(tree.member(library, "update_main_thread_priority"), level))
        for address, value in configuration_of(self.pe):
            self._comptime.append(tree.builtin("set_config", tree.integer(address), tree.integer(value)))
        self.result.declarations = [*self._heading(), *self._globals, *self._ids, *self._routines]
        self.result.comptime = [*self._comptime, *self._initial_loads]
        return self.result

    # What other parts ask for

    def library(self, name: str) -> str:
        """Import a library if need be; return its name in the file."""
        default = {"layout": "layout_mod"}.get(name, name)
        return self._libraries.setdefault(name, default)

    def extent(self, axis: wse.Axis) -> str:
        """Return the param that holds the rectangle's width or height."""
        return self._extents.setdefault(axis, X_EXTENT if axis is wse.Axis.X else Y_EXTENT)

    def color(self, symbol: str) -> str:
        """Return the param that holds a color."""
        name = self._color_names[symbol]
        self.result.color_params.setdefault(name, symbol)
        return name

    def color_of(self, queue: wse.QueueOp) -> str:
        """Return the param that holds the color that a queue serves."""
        if len(queue.colors) == 1 and queue.colors.data[0].is_everywhere:
            return self.color(queue.colors.data[0].color_name)
        name = self._queue_colors[queue.sym_name.data]
        self.result.color_params.setdefault(name, queue)
        return name

    def member(self, op: Operation, symbol: str) -> Operation:
        """Return the operation of this PE program that defines `symbol`."""
        found = self.members.get(symbol)
        if found is None:
            raise refuse(op, f"{op.name} names @{symbol}, which is not in wse.pe @{self.pe.sym_name.data}")
        return found

    def blockable(self, op: Operation, symbol: str) -> Expression:
        """Return the argument of `@block` and `@unblock` for a task, a queue or, on WSE-2, a color."""
        found = self.members.get(symbol)
        if isinstance(found, wse.TaskOp):
            return tree.name(self.task_ids[symbol])
        if isinstance(found, wse.QueueOp):
            return tree.name(self.color_of(found) if self.target.data_tasks_by_color else self.called[symbol])
        return tree.name(self.color(symbol))

    def place(self, buffer: wse.BufferOp) -> Place:
        """Return the expression whose elements are those of a buffer."""
        expression: Expression = tree.name(self.called[buffer.sym_name.data])
        if (pointee := self._pointees.get(buffer.sym_name.data)) is not None:
            symbol = buffer.sym_name.data
            initial = next(iter(self._initial.get(symbol, [])), None)
            return Place(expression, "", holds=self._pointer_type(symbol, pointee, initial))
        if self._is_array_of_one(buffer):
            expression = tree.index(expression, [tree.integer(0)])
        return Place(expression, self.element_of(buffer))

    def element_of(self, buffer: wse.BufferOp) -> str:
        """Return the CSL type of a buffer's elements: unsigned if the host sees it so."""
        element = scalar_type(buffer.type.element_type)
        if element is None:
            raise refuse(buffer, f"a buffer of {buffer.type} has no type in CSL; use another element type")
        exports = [*self._exports.get(buffer.sym_name.data, []), *self._pointed_from.get(buffer.sym_name.data, [])]
        signs = {export.unsigned is not None for export in exports}
        if len(signs) == 2:
            message = "is exported both as signed and as unsigned, and CSL has one type for it; export it once"
            raise refuse(exports[-1], f"buffer @{buffer.sym_name.data} {message}")
        return f"u{element[1:]}" if True in signs and element[0] == "i" else element

    def unblock_command_stream(self) -> Expression:
        """Return the call that unblocks the command stream."""
        return _unblock_command_stream()

    # Pointers

    def _read_pointers(self) -> None:
        """Find the variables that hold addresses, and the type of what they point to."""
        for op in self.pe.body.block.ops:
            if isinstance(op, wse.InitializeOp):
                self._initial.setdefault(op.buffer.string_value(), []).append(op)
                if op.target is not None:
                    self._initial_pointer(op)
        for symbol, exports in self._exports.items():
            for export in exports:
                if export.points_to is not None:
                    element = scalar_type(export.points_to.element_type)
                    if element is None:
                        raise refuse(export, f"wse.export of {export.points_to} has no type in CSL; use another type")
                    pointee = f"u{element[1:]}" if export.unsigned is not None and element[0] == "i" else element
                    if self._pointees.setdefault(symbol, pointee) != pointee:
                        known = self._pointees[symbol]
                        message = (
                            f"@{symbol} points to {known} elsewhere and to {pointee} here; CSL has one type for it"
                        )
                        raise refuse(export, f"{message}, so use two variables")

    def _initial_pointer(self, op: wse.InitializeOp) -> None:
        symbol = op.buffer.string_value()
        buffer, target = self.member(op, symbol), self.member(op, cast(Any, op.target).string_value())
        assert isinstance(buffer, wse.BufferOp) and isinstance(target, wse.BufferOp), "verified: they are buffers"
        if buffer.type.get_shape():
            if not self._is_split(buffer):
                raise refuse(
                    op,
                    f"@{symbol} is an array of addresses, which CSL can express only where each element is used by "
                    "itself; hold them in variables of their own",
                )
            self.split.setdefault(symbol, [])
            return
        exports = [export for export in self._exports.get(symbol, []) if export.points_to is not None]
        self._pointed_from.setdefault(target.sym_name.data, []).extend(exports)
        if not exports:
            element = scalar_type(target.type.element_type)
            if element is not None:
                self._pointees[symbol] = element

    def _is_changed(self, buffer: wse.BufferOp) -> bool:
        """Return True if the program may write a buffer."""
        symbol = buffer.sym_name.data
        for op in self.pe.walk():
            if _names_address_of(op, symbol):
                return True
            if isinstance(op, wse.GetBufferOp) and op.buffer.string_value() == symbol:
                if not all(isinstance(use.operation, memref.LoadOp) for use in op.result.uses):
                    return True
        return False

    def _is_split(self, buffer: wse.BufferOp) -> bool:
        """Return True if every use of a buffer of rank 1 is a load or store at a constant index."""
        symbol = buffer.sym_name.data
        if len(buffer.type.get_shape()) != 1 or symbol in self._exports:
            return False
        for op in self.pe.walk():
            if _names_address_of(op, symbol):
                return False
            if isinstance(op, wse.GetBufferOp) and op.buffer.string_value() == symbol:
                if not all(_is_known_element(use.operation, op.result) for use in op.result.uses):
                    return False
        return True

    def _split_buffer(self, op: wse.BufferOp) -> None:
        """Declare a variable for each element: a pointer if it holds an address, else a number."""
        symbol, (count,) = op.sym_name.data, op.type.get_shape()
        element = self.element_of(op)
        values = [0] * count if op.value is None else numbers_of(op.value)
        values = values * (count // len(values))
        initial = {item.element.value.data: item for item in self._initial[symbol]}
        for position in range(count):
            name = self.names.new(f"{self.called[symbol]}_{position}")
            item = initial.get(position)
            if item is not None and item.target is not None:
                target = self.member(item, item.target.string_value())
                assert isinstance(target, wse.BufferOp), "verified: it is a buffer"
                pointee = self.element_of(target)
                pointer = self._pointer_type(symbol, pointee, item)
                self._globals.append(tree.declare("var", name, pointer, self._address(item, op, target)))
                self.split[symbol].append(Place(tree.name(name), "", holds=pointer))
                continue
            value = literal_of(element, values[position])
            if item is not None and item.param is not None:
                value = self._converted(item, item.param.string_value(), element)
            self._globals.append(tree.declare("var", name, tree.name(element), value))
            self.split[symbol].append(Place(tree.name(name), element))

    def _pointer_value(self, buffer: wse.BufferOp, pointee: str) -> Expression | None:
        """Return the initial value of a variable that holds an address; None if it has none."""
        initial = self._initial.get(buffer.sym_name.data, [])
        if not initial:
            return None
        op = initial[-1]
        if op.target is None:
            raise refuse(
                op, f"@{buffer.sym_name.data} holds an address, and a parameter is not an address; use address_of"
            )
        target = self.member(op, op.target.string_value())
        assert isinstance(target, wse.BufferOp), "verified: it is a buffer"
        if self.element_of(target) != pointee:
            raise refuse(
                op,
                f"@{buffer.sym_name.data} points to {pointee}, but @{target.sym_name.data} holds "
                f"{self.element_of(target)}, which CSL refuses in an initial value; store the address at run time",
            )
        return self._address(op, buffer, target)

    def _address(self, op: wse.InitializeOp, buffer: wse.BufferOp, target: wse.BufferOp) -> Expression:
        """Return the initial address in a variable."""
        name = tree.name(self.called[target.sym_name.data])
        if not op.bytes_on:
            return tree.unary("&", name)
        bits = int(self.element_of(target)[1:])
        position, rest = divmod(8 * op.bytes_on, bits)
        if rest or not 0 <= position < target.element_count:
            raise refuse(
                op,
                f"@{buffer.sym_name.data} points {op.bytes_on} bytes into @{target.sym_name.data}, where none of its "
                "elements begins; point to an element",
            )
        indices: list[Expression] = []
        for extent in reversed(target.type.get_shape()):
            position, index = divmod(position, extent)
            indices.insert(0, tree.integer(index))
        return tree.unary("&", tree.index(name, indices))

    def _pointer_type(self, symbol: str, pointee: str, initial: wse.InitializeOp | None) -> Expression:
        """Return the type of a variable that holds addresses: `[*]T` for an array's address, `*T` for an element's."""
        type = tree.name(pointee)
        if initial is None or not initial.bytes_on:
            return tree.many_pointer_type(type)
        if symbol in self._exports:
            raise refuse(
                initial,
                f"@{symbol} is exported and points into the middle of an array, which CSL cannot express in an initial "
                "value; store the address at run time",
            )
        return tree.pointer_type(type)

    # Parts of the file

    def _heading(self) -> Iterator[Declaration]:
        yield tree.declare("param", "memcpy_params", None, None)
        for name in self._extents.values():
            yield tree.declare("param", name, tree.name("i16"), None)
        self.result.extent_params = {name: axis for axis, name in self._extents.items()}
        for name, op in self.result.value_params.items():
            type = scalar_type(op.type)
            assert type is not None, "verified: params are scalars"
            yield tree.declare("param", name, tree.name(type), None)
        for name in self.result.color_params:
            yield tree.declare("param", name, tree.name("color"), None)
        yield _memcpy()
        for library, name in sorted(self._libraries.items()):
            yield _import(name, f"<{library}>")

    def _is_array_of_one(self, buffer: wse.BufferOp) -> bool:
        # The host copies arrays only.
        name = buffer.sym_name.data
        return not buffer.type.get_shape() and name in self._exports and name not in self._pointees

    def _buffer(self, op: wse.BufferOp) -> None:
        if op.sym_name.data == self.command_stream:
            return
        name = self.called[op.sym_name.data]
        if op.sym_name.data in self.split:
            self._split_buffer(op)
            return
        if (pointee := self._pointees.get(op.sym_name.data)) is not None:
            initial = next(iter(self._initial.get(op.sym_name.data, [])), None)
            pointer = self._pointer_type(op.sym_name.data, pointee, initial)
            shown = self._exports.get(op.sym_name.data, [])
            kind = "const" if any(export.read_only is not None for export in shown) else "var"
            self._globals.append(tree.declare(kind, name, pointer, self._pointer_value(op, pointee)))
            for export in self._exports.get(op.sym_name.data, []):
                self._export_pointer(op, export, pointee)
            return
        element = self.element_of(op)
        shape = op.type.get_shape()
        if op.address is not None:
            raise refuse(op, f"the address of buffer @{op.sym_name.data} cannot be written in CSL; leave it out")
        alignment = None if op.alignment is None else op.alignment.value.data
        if self._is_array_of_one(op):
            shape = (1,)
        values = [0] if op.value is None else numbers_of(op.value)
        params = {int(initial.element.value.data): initial for initial in self._initial.get(op.sym_name.data, [])}
        if any(extent == 0 for extent in shape):
            raise refuse(op, f"buffer @{op.sym_name.data} has no elements, which CSL does not allow; remove it")
        if params:
            type = None if shape else tree.name(element)
            elements = [literal_of(element, number) for number in values] * (op.element_count // len(values))
            for position, initial in params.items():
                assert initial.param is not None, "an address makes a pointer"
                elements[position] = self._converted(initial, initial.param.string_value(), element)
            value = tree.sequence(elements, tree.array_type(shape, tree.name(element))) if shape else elements[0]
        elif op.undefined is not None:
            type, value = tree.array_type(shape, tree.name(element)) if shape else tree.name(element), None
        elif not shape:
            type, value = tree.name(element), literal_of(element, values[0])
        else:
            type = None
            array = tree.array_type(shape, tree.name(element))
            if op.value is None or not any(_bits(number) for number in values):
                value = tree.builtin("zeros", array)
            elif is_one_number(op.value):
                value = tree.builtin("constants", array, literal_of(element, values[0]))
            else:
                value = tree.sequence([literal_of(element, number) for number in values], array)
        self._globals.append(tree.declare("var", name, type, value, alignment))
        for export in self._exports.get(op.sym_name.data, []):
            self._export_buffer(op, export)

    def _converted(self, op: wse.InitializeOp, param: str, element: str) -> Expression:
        """Convert a param to the element type of a buffer, which may be unsigned where the param is signed."""
        found = self.member(op, param)
        assert isinstance(found, wse.ParamOp), "verified: it is a parameter"
        value = tree.name(self.called[param])
        same = scalar_type(found.type) == element
        return value if same else tree.builtin("bitcast", tree.name(element), value)

    def _export_pointer(self, buffer: wse.BufferOp, export: wse.ExportOp, pointee: str) -> None:
        """Export a pointer variable, through which the host copies."""
        if export.points_to is None:
            message = "holds an address and is exported itself, which CSL cannot express; export it with points_to"
            raise refuse(export, f"buffer @{buffer.sym_name.data} {message}")
        if export.read_only is not None and self._is_changed(buffer):
            message = "is a variable that holds an address, exported read_only, which CSL cannot express"
            raise refuse(export, f"buffer @{buffer.sym_name.data} {message}; export it without read_only")
        shown = export.exported_name
        type = tree.many_pointer_type(tree.name(pointee))
        self.result.exports[shown] = Export(type, f"[*]{pointee}", export.read_only is None, export)
        self._comptime.append(_export_symbol(self.called[buffer.sym_name.data], shown))

    def _fifo(self, op: wse.FifoOp) -> None:
        fields: dict[str, Expression] = {}
        for name, value in op.options.items():
            match value:
                case SymbolRefAttr():
                    self.member(op, value.string_value())
                    fields[name] = tree.name(self.task_ids[value.string_value()])
                case StringAttr():
                    field = "simd_mode" if name == "simd" else name
                    fields[field] = tree.structure({value.data: tree.name("true")})
                case IntegerAttr():
                    number = tree.integer(value.value.data)
                    if name == "xdsr":
                        fields["xdsr"] = tree.builtin("get_xdsr", number)
                    else:
                        fields["dest"] = tree.builtin("get_dsr", tree.name("dsr_dest"), number)
                        fields["src"] = tree.builtin("get_dsr", tree.name("dsr_src1"), number)
                case _:
                    raise refuse(op, f"FIFO @{op.sym_name.data} has a {name} that cannot be written in CSL; remove it")
        arguments: list[Expression] = [tree.name(self.called[op.buffer.string_value()])]
        if fields:
            arguments.append(tree.structure(fields))
        value = tree.builtin("allocate_fifo", *arguments)
        self._ids.append(tree.declare("const", self.called[op.sym_name.data], None, value))

    def _export_function(self, export: wse.ExportOp) -> None:
        symbol, shown = export.symbol.string_value(), export.exported_name
        function = self.member(export, symbol)
        assert isinstance(function, wse.FuncOp), "asked by the caller"
        types = self.parameter_types(function)
        type = tree.function_type([tree.name(type) for type in types], tree.name("void"))
        self.result.exports[shown] = Export(type, f"fn({', '.join(types)}) void", None, export, tuple(types))
        launched = self._launchers.get(symbol, self.called[symbol])
        self._comptime.append(_export_symbol(launched, shown))

    def _export_buffer(self, buffer: wse.BufferOp, export: wse.ExportOp) -> None:
        """Export a pointer to the buffer, through which the host copies."""
        shown, element = export.exported_name, self.element_of(buffer)
        name = self.called[buffer.sym_name.data]
        type = tree.many_pointer_type(tree.name(element))
        self.result.exports[shown] = Export(type, f"[*]{element}", export.read_only is None, export)
        pointer = self._pointers[export]
        # A symbol has the mutability of its name.
        kind = "var" if export.read_only is None else "const"
        self._globals.append(tree.declare(kind, pointer, type, tree.unary("&", tree.name(name))))
        self._comptime.append(_export_symbol(pointer, shown))

    def _queue(self, op: wse.QueueOp) -> None:
        way = "input" if isinstance(op, wse.InputQueueOp) else "output"
        name = self.called[op.sym_name.data]
        if op.queue_id is None:
            raise refuse(op, f"queue @{op.sym_name.data} has no id; run dsd-assign-queues before printing")
        value = tree.builtin(f"get_{way}_queue", tree.integer(op.queue_id))
        self._ids.append(tree.declare("const", name, tree.name(f"{way}_queue"), value))
        color = self.color_of(op) if op.colors.data else None
        # Elsewhere the DSD names the color, but what a register is loaded with takes it from the queue (DSR-046).
        by_register = isinstance(op, wse.InputQueueOp) and self._loads_fabric_inputs
        if color is not None and (self.target.queues_keep_color or by_register):
            fields: dict[str, Expression] = {"color": tree.name(color)}
            if op.control_offset is not None:
                # Tables begin one entry point apart.
                fields["ctrl_table_id"] = tree.integer(op.control_offset.value.data)
            self._comptime.append(tree.builtin("initialize_queue", tree.name(name), tree.structure(fields)))
        if isinstance(op, wse.InputQueueOp) and op.unblocked is not None:
            self._comptime.append(tree.builtin("unblock", self.blockable(op, op.sym_name.data)))

    def parameter_types(self, op: wse.FuncOp) -> list[str]:
        """Return the CSL types of a function's parameters: unsigned where the host sees them so."""
        types = [self._scalar(op, type) for type in op.function_type.inputs]
        exports = self._exports.get(op.sym_name.data, [])
        unsigned = {position for export in exports for position in export.unsigned_positions}
        for export in exports:
            if unsigned != set(export.unsigned_positions):
                message = "is exported with signed and with unsigned arguments, and CSL has one type for each"
                raise refuse(export, f"function @{op.sym_name.data} {message}; export it once")
        return [f"u{type[1:]}" if position in unsigned else type for position, type in enumerate(types)]

    def _scalar(self, op: Operation, type: Attribute) -> str:
        text = scalar_type(type)
        if text is None:
            raise refuse(op, f"{op.name} takes or returns a value of type {type}, which CSL does not have")
        return text

    def _name_launchers(self) -> dict[str, str]:
        """Name a wrapper to launch for each exported function that the program also calls."""
        called = {op.callee.string_value() for op in self.pe.walk() if isinstance(op, wse.CallOp)}
        return {
            name: self.names.new(f"launch_{self.called[name]}")
            for name in self._exports
            if isinstance(self.members.get(name), wse.FuncOp) and name in called and self.command_stream is None
        }

    def _function(self, op: wse.FuncOp) -> None:
        name, outputs = op.sym_name.data, op.function_type.outputs.data
        if len(outputs) > 1:
            raise refuse(op, f"function @{name} returns {len(outputs)} values, and CSL's return one; store the others")
        exported = name in self._exports
        if exported and outputs:
            raise refuse(op, f"function @{name} is exported and returns a value, which no host receives; store it")
        code = PeCode(self)
        parameters = self._parameters(op, code, op.body.block.args)
        signed: list[Statement] = []
        for parameter, value, type in zip(parameters, op.body.block.args, self.parameter_types(op), strict=True):
            own = cast(syntax.Name, parameter.type).name
            if type != own:
                # The code computes with signed integers.
                parameter.type = tree.name(type)
                local = code.names.new(parameter.name)
                bits = tree.builtin("bitcast", tree.name(own), tree.name(cast(str, parameter.name)))
                signed.append(tree.declare("const", local, tree.name(own), bits))
                code.set_value(value, tree.name(local))
        body = [*signed, *code.body(op.body.block)]
        ends_launch = exported and self.command_stream is None
        if ends_launch and name not in self._launchers:
            body.append(self.unblock_command_stream())
        result = tree.name(self._scalar(op, outputs[0]) if outputs else "void")
        self._routines.append(self._routine(op, "fn", self.called[name], parameters, result, body))
        if ends_launch and name in self._launchers:
            arguments = [tree.name(cast(str, parameter.name)) for parameter in parameters]
            through: list[Statement] = [tree.call(self.called[name], *arguments), self.unblock_command_stream()]
            self._routines.append(self._routine(op, "fn", self._launchers[name], parameters, result, through))

    def _routine(
        self,
        op: Operation,
        keyword: str,
        name: str,
        parameters: list[syntax.Parameter],
        result: Expression,
        body: list[Statement],
    ) -> syntax.Function:
        return syntax.Function(NOWHERE, NOWHERE, keyword, name, parameters, result, tree.block(body))

    def _parameters(self, op: Operation, code: PeCode, values: Sequence[SSAValue]) -> list[syntax.Parameter]:
        parameters: list[syntax.Parameter] = []
        for value in values:
            local = code.names.new(value.name_hint)
            code.set_value(value, tree.name(local))
            type = tree.name(code.type_text(op, value.type))
            parameters.append(syntax.Parameter(NOWHERE, NOWHERE, local, type, False))
        return parameters

    def _task(self, op: wse.TaskOp) -> None:
        name = op.sym_name.data
        kind = op.task_kind.value
        code = PeCode(self)
        parameters = self._parameters(op, code, op.body.block.args)
        body = code.body(op.body.block)
        function = self._routine(op, "task", self.called[name], parameters, tree.name("void"), body)
        number: Expression
        if op.task_kind is wse.TaskKind.DATA:
            assert op.queue is not None, "verified: a data task has a queue"
            queue = self.member(op, op.queue.string_value())
            assert isinstance(queue, wse.QueueOp), "verified: it is a queue"
            by_color = self.target.data_tasks_by_color
            number = tree.name(self.color_of(queue) if by_color else self.called[queue.sym_name.data])
        elif op.task_id is not None:
            number = tree.integer(op.task_id)
        else:
            number = tree.integer(self._task_numbers[name])
        id = tree.name(self.task_ids[name])
        value = tree.builtin(f"get_{kind}_task_id", number)
        self._ids.append(tree.declare("const", id.name, tree.name(f"{kind}_task_id"), value))
        self._routines.append(function)
        self._comptime.append(tree.builtin(f"bind_{kind}_task", tree.name(self.called[name]), id))
        if op.blocked is not None:
            self._comptime.append(tree.builtin("block", id))
        if op.active is not None:
            self._comptime.append(tree.builtin("activate", id))

    def _command_stream(self) -> str | None:
        for symbol, exports in self._exports.items():
            if any(export.exported_name == COMMAND_STREAM for export in exports):
                return symbol if isinstance(self.members.get(symbol), wse.BufferOp) else None
        return None


def idle_program(launches: Mapping[str, Export]) -> PeFile:
    """Return the program of a PE that only answers launches."""
    names = Names()
    names.reserve(["memcpy_params", "sys_mod"])
    idle = PeFile(names, [tree.declare("param", "memcpy_params", None, None), _memcpy()])
    idle.answer(launches)
    return idle


def _export_symbol(name: str, shown: str) -> Expression:
    arguments: list[Expression] = [tree.name(name)] if name == shown else [tree.name(name), tree.string(shown)]
    return tree.builtin("export_symbol", *arguments)


def _memcpy() -> syntax.Variable:
    return _import("sys_mod", "<memcpy/memcpy>", tree.name("memcpy_params"))


def _unblock_command_stream() -> Expression:
    return tree.call(tree.member("sys_mod", "unblock_cmd_stream"))


def _import(name: str, module: str, parameters: Expression | None = None) -> syntax.Variable:
    arguments: list[Expression] = [tree.string(module)]
    if parameters is not None:
        arguments.append(parameters)
    return tree.declare("const", name, None, tree.builtin("import_module", *arguments))


def _names_address_of(op: Operation, symbol: str) -> bool:
    """Return True if an operation takes the address of a buffer."""
    if isinstance(op, wse.AddressOfOp):
        return op.buffer.string_value() == symbol
    return isinstance(op, wse.InitializeOp) and op.target is not None and op.target.string_value() == symbol


def _is_known_element(user: Operation, array: SSAValue) -> bool:
    """Return True if an operation loads or stores one element of an array at a constant index."""
    if isinstance(user, memref.LoadOp) or (isinstance(user, memref.StoreOp) and user.value is not array):
        indices = user.indices
    else:
        return False
    return all(isinstance(index.owner, arith.ConstantOp) for index in indices)


def numbers_of(value: DenseIntOrFPElementsAttr) -> list[int | float]:
    """Return the elements of a dense value, row-major; one for a splat."""
    values = cast("Sequence[int | float]", value.get_values())
    return [values[0]] if is_one_number(value) else list(values)


def _bits(number: int | float) -> bool:
    """Return True if a number has a bit that is not zero."""
    return number != 0 or str(number).startswith("-")
