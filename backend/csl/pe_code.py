"""CSL statements from operations of `wse` and `dsd`: the bodies of a PE program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.utils.hints import isa

from ...csl import syntax
from ...csl.syntax import Expression
from ...dialects import dsd, dsr, wse
from ...operations.print_format import split_format
from . import tree
from .code import Code, Place
from .names import Names
from .scalars import expression_of_cb16
from .tree import NOWHERE
from .types import refuse, scalar_type

if TYPE_CHECKING:
    from .pe_program import PeProgram

DSD_TYPES: Mapping[str, str] = {
    dsd.Mem1dType.name: "mem1d_dsd",
    dsd.Mem4dType.name: "mem4d_dsd",
    dsd.CircbufType.name: "circbuf_dsd",
    dsd.FabinType.name: "fabin_dsd",
    dsd.FaboutType.name: "fabout_dsd",
}
_INDUCTION_VARIABLES = ("i", "j", "k", "l")


class PeCode(Code):
    """Writes the body of one function or task of a PE program."""

    def __init__(self, program: PeProgram) -> None:
        super().__init__(Names(program.names))
        self.program = program
        self._places: dict[SSAValue, Place] = {}
        self._elements: dict[SSAValue, list[Place]] = {}
        self._counter = program.command_stream

    def type_text(self, user: Operation, type: Attribute) -> str:
        return DSD_TYPES.get(type.name) or super().type_text(user, type)

    def library(self, name: str) -> str:
        return self.program.library(name)

    def place_of(self, user: Operation, value: SSAValue) -> Place:
        if value not in self._places:
            message = (
                f"{user.name} takes an array that is not a buffer or view, which CSL cannot express; name a buffer"
            )
            raise refuse(user, message)
        return self._places[value]

    def element_of(self, user: Operation, array: SSAValue, indices: Sequence[SSAValue]) -> Place:
        if (elements := self._elements.get(array)) is not None:
            return elements[int(self.constant(indices[0]))]
        return super().element_of(user, array, indices)

    def write_operation(self, op: Operation) -> bool:
        match op:
            case wse.GetBufferOp():
                buffer = self.program.member(op, op.buffer.string_value())
                assert isinstance(buffer, wse.BufferOp), "verified: it is a buffer"
                if (elements := self.program.split.get(buffer.sym_name.data)) is not None:
                    self._elements[op.result] = elements
                else:
                    self._places[op.result] = self.program.place(buffer)
            case wse.AddressOfOp():
                buffer = self.program.member(op, op.buffer.string_value())
                assert isinstance(buffer, wse.BufferOp), "verified: it is a buffer"
                address = tree.address_of(tree.name(self.program.called[op.buffer.string_value()]))
                self.bind(op, tree.builtin("bitcast", tree.name("i16"), address))
            case wse.ViewOp():
                self._view(op)
            case wse.AssertOp():
                self.emit(tree.builtin("assert", self.value(op.condition)))
            case wse.PrintOp():
                self._print(op)
            case wse.SetClockOp():
                function = {"start": "enable_tsc", "reset": "reset_tsc_counter"}[op.action.data]
                self.emit(tree.call(tree.member(self.library("time"), function)))
            case wse.TimestampOp():
                self._timestamp(op)
            case wse.Cb16Op():
                expression = expression_of_cb16(op, self)
                if expression is None:
                    return False
                self.bind(op, expression)
            case wse.DirectiveOp():
                pass  # Compares PEs, which a simulator only can.
            case wse.SetExceptionMaskOp():
                exceptions = tree.member(self.library("tile_config"), "exceptions")
                self.emit(tree.call(tree.member(exceptions, "set_exception_mask"), self._unsigned(op.mask)))
            case dsr.LoadOp():
                self._load_register(op)
            case dsr.GetDsrOp() | dsr.GetXdsrOp() | dsr.GetSrOp():
                fifo = isinstance(op, dsr.GetDsrOp) and op.fifo is not None
                self.set_value(op.result, self._register(op.result.type, fifo=fifo))
            case dsd.FifoOp():
                self.set_value(op.result, tree.name(self.program.called[op.fifo.string_value()]))
            case wse.GetParamOp():
                self.set_value(op.result, tree.name(self.program.called[op.param.string_value()]))
            case wse.CoordinateOp():
                function = tree.member(self.library("layout"), f"get_{op.axis.data.value}_coord")
                self.bind(op, tree.builtin("bitcast", tree.name("i16"), tree.call(function)))
            case wse.ExtentOp():
                self.set_value(op.result, tree.name(self.program.extent(op.axis.data)))
            case wse.ActivateOp():
                self.emit(tree.builtin("activate", self._task(op, op.task.string_value())))
            case wse.BlockOp():
                self.emit(tree.builtin("block", self.program.blockable(op, op.symbol.string_value())))
            case wse.UnblockOp():
                self.emit(tree.builtin("unblock", self.program.blockable(op, op.symbol.string_value())))
            case wse.BlockMicrothreadOp():
                self.emit(tree.builtin("block", self._microthread(op)))
            case wse.UnblockMicrothreadOp():
                self.emit(tree.builtin("unblock", self._microthread(op)))
            case wse.CallOp():
                self._call(op)
            case wse.ReturnOp():
                # Tasks and functions without a value end where their text does.
                if op.arguments:
                    self.emit(tree.return_of(self.value(op.arguments[0])))
            case dsd.DsdOperation():
                self._dsd_operation(op)
            case dsd.SetFifoLengthOp():
                fifo = tree.name(self.program.called[op.fifo.string_value()])
                self.emit(tree.builtin(f"set_fifo_{op.side.data}_length", fifo, self._unsigned(op.length)))
            case dsd.MemoryDescriptorOp():
                self._memory_descriptor(op)
            case dsd.FabricDescriptorOp():
                self._fabric_descriptor(op)
            case dsd.DerivedDescriptorOp():
                self._derived_descriptor(op)
            case _:
                return False
        return True

    def _microthread(self, op: wse.BlockMicrothreadOp | wse.UnblockMicrothreadOp) -> Expression:
        number = op.known_number
        return tree.builtin("get_ut_id", self._unsigned(op.number if number is None else number))

    def _task(self, op: Operation, symbol: str) -> Expression:
        self.program.member(op, symbol)
        return tree.name(self.program.task_ids[symbol])

    def _call(self, op: wse.CallOp) -> None:
        symbol = op.callee.string_value()
        callee = self.program.member(op, symbol)
        assert isinstance(callee, wse.FuncOp), "verified: it is a function"
        arguments: list[Expression] = []
        for value, type in zip(op.arguments, self.program.parameter_types(callee), strict=True):
            same = self.type_text(op, value.type) == type
            arguments.append(
                self.value(value) if same else tree.builtin("bitcast", tree.name(type), self.value(value, typed=True))
            )
        call = tree.call(self.program.called[symbol], *arguments)
        if op.res:
            self.bind(op, call, pure=False)
        else:
            self.emit(call)

    def _view(self, op: wse.ViewOp) -> None:
        """Declare a constant pointer to the memory, which itself may change."""
        if not self._uses(op.result):
            return
        assert isa(op.result.type, MemRefType)
        element = self.type_text(op, op.result.type.element_type)
        rank = op.result.type.get_num_dims()
        type = tree.many_pointer_type(tree.name(element)) if rank else tree.pointer_type(tree.name(element))
        number = self._unsigned(op.address)
        if isinstance(number, syntax.Integer):
            number = tree.builtin("as", tree.name("u16"), number)
        local = self.names.new(op.result.name_hint, "view")
        self.emit(tree.declare("const", local, type, tree.builtin("bitcast", type, number)))
        pointer = tree.name(local)
        if rank:
            self._places[op.result] = Place(pointer, element, pointer)
        else:
            self._places[op.result] = Place(tree.dereference(pointer), element)

    def _print(self, op: wse.PrintOp) -> None:
        """Emit calls of <simprint>, which prints in simulation."""
        library = self.library("simprint")
        texts, conversions = split_format(op.format.data)

        def call(function: str, argument: Expression) -> None:
            self.emit(tree.call(tree.member(library, function), argument))

        for text, conversion, value in zip(texts, (*conversions, None), (*op.arguments, None), strict=True):
            if text:
                call("print_string", tree.string(text))
            if conversion is None or value is None:
                continue
            type = self.type_text(op, value.type)
            bits = int(type[1:]) if type[0] in "iuf" else 0
            if bits not in (16, 32):
                raise refuse(op, f"{op.name} prints a value of type {value.type}; CSL prints 16 and 32 bits")
            number = self.value(value, typed=True)
            if conversion == "f":
                call(f"print_f{bits}", number)
                continue
            unsigned = tree.builtin("bitcast", tree.name(f"u{bits}"), number)
            if conversion == "d":
                negative = tree.binary("<", number, tree.integer(0))
                minus = tree.call(tree.member(library, "print_string"), tree.string("-"))
                self.emit(tree.branch(negative, [minus], []))
                unsigned = tree.choice(
                    negative,
                    tree.binary("-", tree.builtin("as", tree.name(f"u{bits}"), tree.integer(0)), unsigned),
                    unsigned,
                )
            base = {"x": "hex", "X": "hex", "b": "binary"}.get(conversion, "decimal")
            call(f"print_u{bits}_{base}", unsigned)

    def _timestamp(self, op: wse.TimestampOp) -> None:
        library = self.library("time")
        words = self.names.new("timestamp")
        array = tree.array_type([3], tree.name("u16"))
        self.emit(tree.declare("var", words, None, tree.builtin("zeros", array)))
        self.emit(tree.call(tree.member(library, "enable_tsc")))
        self.emit(tree.call(tree.member(library, "get_timestamp"), tree.address_of(tree.name(words))))
        for position, result in enumerate(op.results):
            if self._uses(result):
                word = tree.index(tree.name(words), [tree.integer(position)])
                self.declare(op, result, tree.builtin("bitcast", tree.name("i16"), word))

    # The counter of the command stream is a call of the memcpy library

    def skipped(self, op: Operation) -> bool:
        """Return True if the operation is part of `count += 1` on the counter of the command stream."""
        if self._counter is None:
            return False
        match op:
            case wse.GetBufferOp():
                return op.buffer.string_value() == self._counter
            case memref.LoadOp():
                return self._is_counter(op.memref)
            case arith.AddiOp():
                owner = op.lhs.owner
                return isinstance(owner, memref.LoadOp) and self._is_counter(owner.memref)
            case _:
                return False

    def _is_counter(self, value: SSAValue) -> bool:
        owner = value.owner
        return (
            self._counter is not None
            and isinstance(owner, wse.GetBufferOp)
            and owner.buffer.string_value() == self._counter
        )

    def write(self, op: Operation) -> None:
        if isinstance(op, memref.StoreOp) and self._is_counter(op.memref):
            added = op.value.owner
            if (
                not isinstance(added, arith.AddiOp)
                or not self.skipped(added)
                or len(list(op.value.uses)) != 1
                or self.constant_or_none(added.rhs) != 1
            ):
                message = "is changed other than by adding 1, which CSL cannot express; add 1 to let the host go on"
                raise refuse(op, f"the counter @{self._counter} of the command stream {message}")
            self.emit(self.program.unblock_command_stream())
            return
        super().write(op)

    def constant_or_none(self, value: SSAValue) -> int | float | None:
        return self.constant(value) if self.is_constant(value) else None

    # Descriptors

    def _unsigned(self, value: dsd.Integer) -> Expression:
        """Return a length: an i16 of the IR, which CSL takes as u16."""
        number = dsd.constant_extent(value)
        if number is not None:
            return tree.integer(number)
        assert isinstance(value, SSAValue)
        return tree.builtin("bitcast", tree.name("u16"), self.value(value))

    def _signed(self, value: dsd.Integer) -> Expression:
        return tree.integer(value) if isinstance(value, int) else self.value(value)

    def _stride(self, value: dsd.Integer) -> Expression:
        if isinstance(value, int) or self.is_constant(value):
            return self._signed(value)
        return tree.builtin("as", tree.name("i8"), self.value(value))

    def _address(self, user: Operation, base: SSAValue) -> Expression:
        """Return a pointer to an array, or to the variable that a memref of rank 0 is."""
        return self.place_of(user, base).address

    def _get_dsd(self, op: Operation, fields: dict[str, Expression]) -> None:
        kind = tree.name(self.type_text(op, op.results[0].type))
        self._describe(op, tree.builtin("get_dsd", kind, tree.structure(fields)))

    def _describe(self, op: Operation, descriptor: Expression) -> None:
        uses = self._uses(op.results[0])
        if len(uses) == 1 and isinstance(uses[0], scf.YieldOp):
            self.set_value(op.results[0], descriptor)
        elif uses:
            self.declare(op, op.results[0], descriptor)

    def _memory_descriptor(self, op: dsd.MemoryDescriptorOp) -> None:
        base = op.operands[0]
        match op:
            case dsd.TensorAccessOp():
                fields = {"tensor_access": self._tensor_access(op)}
            case dsd.Mem1dOp():
                fields = {"base_address": self._address(op, base)}
                if op.offset != 0:
                    fields["offset"] = self._signed(op.offset)
                if op.stride != 1:
                    fields["stride"] = self._stride(op.stride)
                fields["extent"] = self._unsigned(op.extent)
            case dsd.Mem4dOp():
                fields = {"base_address": self._address(op, base)}
                if op.offset != 0:
                    fields["offset"] = self._signed(op.offset)
                if op.strides_attr is not None:
                    fields["stride"] = tree.sequence(map(self._signed, op.strides))
                fields["extent"] = tree.sequence(map(self._unsigned, op.extents))
            case dsd.CircbufOp():
                fields = {"base_address": self._address(op, base), "extent": tree.integer(op.extent)}
                if op.wraparound_attr is not None:
                    fields["wraparound"] = tree.integer(op.wraparound)
            case _:
                raise self.refuse_operation(op)
        if op.properties.get("wavelet_index_offset") is not None:
            fields["wavelet_index_offset"] = tree.name("true")
        self._get_dsd(op, fields)

    def _tensor_access(self, op: dsd.TensorAccessOp) -> Expression:
        place = self.place_of(op, op.base)
        if place.pointer is not None:
            raise refuse(op, "dsd.tensor_access of a wse.view cannot be written in CSL; use dsd.mem1d or dsd.mem4d")
        base = place.expression
        variables = [tree.name(variable) for variable in self._induction_variables(op)]
        indices = [self._affine(op, index, variables) for index in op.access.results]
        if not indices:
            raise refuse(op, "dsd.tensor_access of a scalar cannot be written in CSL; use dsd.mem1d")
        extents: list[Expression] = [tree.integer(extent) for extent in op.extents]
        return syntax.TensorAccess(NOWHERE, NOWHERE, variables, extents, base, indices)

    def _induction_variables(self, op: dsd.TensorAccessOp) -> list[str]:
        # A fresh scope each time, for the same letters everywhere.
        names = Names(self.names)
        return [names.new(_INDUCTION_VARIABLES[position]) for position in range(op.access.num_dims)]

    def _affine(self, op: dsd.TensorAccessOp, index: AffineExpr, variables: Sequence[Expression]) -> Expression:
        found = tree.affine(index, variables)
        if found is None:
            raise refuse(op, f"index {index} of dsd.tensor_access cannot be written in CSL; use sums of products")
        return found

    def _fabric_descriptor(self, op: dsd.FabricDescriptorOp) -> None:
        if op.queue_name is None:
            raise refuse(op, f"{op.name} names a color and no queue; run dsd-assign-queues before printing")
        queue = self.program.member(op, op.queue_name)
        assert isinstance(queue, wse.QueueOp), "verified: it is a queue"
        way = "input_queue" if isinstance(op, dsd.FabinOp) else "output_queue"
        fields: dict[str, Expression] = {
            **({"fabric_color": tree.name(self.program.color_of(queue))} if queue.colors.data else {}),
            "extent": self._unsigned(op.extent),
            way: tree.name(self.program.called[op.queue_name]),
        }
        for option in ("control", "wavelet_index_offset", "advance_switch", "control_transform"):
            if op.properties.get(option) is not None:
                fields[option] = tree.name("true")
        if op.priority is not None:
            fields["priority"] = _flag(op.priority.data)
        for option in ("simd", "zero", "message"):
            if op.properties.get(option) is not None:
                raise refuse(op, f"{op.name} has option '{option}', which cannot be written in CSL yet; remove it")
        self._get_dsd(op, fields)

    def _derived_descriptor(self, op: dsd.DerivedDescriptorOp) -> None:
        source = self.value(op.descriptor)
        match op:
            case dsd.IncrementOffsetOp():
                element = tree.name(self.type_text(op, op.descriptor_type.element_type))
                descriptor = tree.builtin("increment_dsd_offset", source, self._signed(op.value), element)
            case dsd.SetLengthOp():
                descriptor = tree.builtin("set_dsd_length", source, self._unsigned(op.value))
            case dsd.SetStrideOp():
                descriptor = tree.builtin("set_dsd_stride", source, self._stride(op.value))
            case dsd.SetBaseOp():
                descriptor = tree.builtin("set_dsd_base_addr", source, self._address(op, op.base))
            case _:
                raise refuse(op, f"{op.name} cannot be written in CSL; replace it before printing")
        self._describe(op, descriptor)

    # Registers

    def _register(self, type: dsr.RegisterType, *, fifo: bool = False) -> Expression:
        """Return a physical register; raises LoomError for one without a number."""
        number = tree.integer(-1 if type.number is None else type.number)
        file = type.file()
        if isinstance(type, dsr.DescriptorRegisterType):
            return tree.builtin("get_dsr", tree.name(f"dsr_{'fifo_' if fifo else ''}{file}"), number)
        return tree.builtin(f"get_{file}", number)

    def _load_register(self, op: dsr.LoadOp) -> None:
        if not op.register.is_allocated:
            # The compiler chooses a register for a descriptor that is an operand.
            self.set_value(op.result, self.value(op.descriptor))
            return
        extensions = [value for value in (op.xdsr, *op.srs) if value is not None]
        if any(isinstance(value.type, dsr.RegisterType) and not value.type.is_allocated for value in extensions):
            raise refuse(
                op, f"{op.name} names a DSR and leaves open which registers go with it; run dsr-allocate first"
            )
        register = self._register(op.register)
        arguments: list[Expression] = [register]
        name = "load_to_dsr"
        if op.xdsr is not None:
            name += "_xdsr"
            arguments.append(self.value(op.xdsr))
        if isinstance(op.descriptor.type, dsd.Mem4dType):
            name += "_sr"
            arguments.append(tree.sequence([self.value(value) for value in op.srs]))
        arguments.append(self.value(op.descriptor))
        fields = {} if op.asynchronous is None else self._asynchronous(op, op.asynchronous)
        for setting in ("save_address", "single_step"):
            if op.properties.get(setting) is not None:
                fields[setting] = tree.name("true")
        if fields:
            arguments.append(tree.structure(fields))
        self.emit(tree.builtin(name, *arguments))
        self.set_value(op.result, register)

    # Operations

    def _dsd_operation(self, op: dsd.DsdOperation) -> None:
        format = "f16" if op.fp16 is None else op.fp16.data
        # The row of the table itself, without the bits that stand for a cb16 in IR.
        plain = op.table_row()
        kinds = [format if kind == "f16" else kind for kind in (plain.destination, *plain.sources)]
        arguments = [self._destination(op, kinds[0])] if op.drops_data is None else []
        arguments += [self._source(op, source, needed) for source, needed in zip(op.sources, kinds[1:], strict=True)]
        settings = self._settings(op)
        if settings:
            arguments.append(tree.structure(settings))
        call = tree.builtin(op.shown_name, *arguments)
        if op.result is None:
            self.emit(call)
        else:
            self.bind(op, call, pure=False)

    def _destination(self, op: dsd.DsdOperation, needed: str) -> Expression:
        value = op.destination
        if not isinstance(value.type, MemRefType):
            return self.value(value)
        place = self.place_of(op, value)
        address = place.address
        if place.element.lstrip("u") == needed.lstrip("i") or place.element == needed:
            return address
        return tree.builtin("ptrcast", tree.pointer_type(tree.name(needed)), address)

    def _source(self, op: dsd.DsdOperation, value: SSAValue, needed: str) -> Expression:
        if isinstance(value.type, dsd.DescriptorType | dsr.RegisterType):
            return self.value(value)
        given = scalar_type(value.type)
        scalar = self.value(value, typed=True)
        # Moves and bitwise operations take any type of the right width.
        return scalar if given == needed else tree.builtin("bitcast", tree.name(needed), scalar)

    def _settings(self, op: dsd.DsdOperation) -> dict[str, Expression]:
        fields = {} if op.settings is None else self._asynchronous(op, op.settings)
        if op.index is not None:
            fields["index"] = self._unsigned(op.index)
        return fields

    def _asynchronous(self, op: Operation, settings: dsd.AsyncAttr) -> dict[str, Expression]:
        fields: dict[str, Expression] = {"async": tree.name("true")}
        if settings.activated is not None:
            fields["activate"] = self._task(op, settings.activated)
        if settings.unblocked is not None:
            fields["unblock"] = self.program.blockable(op, settings.unblocked)
        if (control := settings.control) is not None:
            fields["on_control"] = tree.structure({control.control_action.value: self._on_control(op, control)})
        if (number := settings.microthread) is not None and not self.program.target.microthread_of_queue:
            fields["ut_id"] = tree.builtin("get_ut_id", tree.integer(number))
        if settings.microthread_priority is not None:
            fields["priority"] = _flag(settings.microthread_priority)
        return fields

    def _on_control(self, op: Operation, control: dsd.OnControlAttr) -> Expression:
        if control.task is None:
            return tree.name("true")
        if control.control_action is dsd.ControlAction.ACTIVATE:
            return self._task(op, control.task)
        return self.program.blockable(op, control.task)


def _flag(name: str) -> Expression:
    return tree.structure({name: tree.name("true")})
