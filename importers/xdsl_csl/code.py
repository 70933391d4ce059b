"""CSL statements from operations of xDSL's `csl` dialect, at file level and in functions, tasks and the layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import arith, csl, memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.utils.hints import isa

from ...backend.csl import tree
from ...backend.csl.code import Code, Place
from ...backend.csl.names import Names
from ...backend.csl.tree import NOWHERE
from ...backend.csl.types import literal_of, refuse, scalar_type
from ...csl import syntax
from ...csl.syntax import Expression, Statement
from ...diagnostics.errors import LoomError
from ...dialects.machine.elements import is_one_number
from ...operations import integers
from .types import array_type, is_untyped, type_expression

if TYPE_CHECKING:
    from .files import FileWriter


class CslCode(Code):
    """Writes operations of one scope, which sees what the enclosing scope has defined so far."""

    def __init__(self, file: FileWriter, outer: CslCode | None = None) -> None:
        # Globals are found as they are written, so a local gets a name that nothing else in the file has.
        super().__init__(file.names)
        self.file = file
        self._outer = outer
        self._places: dict[SSAValue, Place] = {}
        self._structs: dict[SSAValue, dict[str, Expression]] = {}
        self._variables: dict[SSAValue, str] = {}
        if outer is not None:
            self._expressions.update(outer._expressions)
            self._constants.update(outer._constants)
            self._places.update(outer._places)
            self._structs.update(outer._structs)
            self._variables.update(outer._variables)

    @property
    def at_file_level(self) -> bool:
        return self._outer is None

    # What the shared writer asks

    def library(self, name: str) -> str:
        return self.file.library(name)

    def refuse_operation(self, op: Operation) -> LoomError:
        return refuse(op, f"{op.name} cannot be imported; lower it to the csl dialect first")

    def type_text(self, user: Operation, type: Attribute) -> str:
        if isinstance(type, csl.DsdType):
            return type.data.value
        return super().type_text(user, type)

    def type_of(self, user: Operation, value: SSAValue) -> Expression | None:
        return None if is_untyped(value.type) else type_expression(user, value.type)

    def note_origin(self, op: Operation, written: Sequence[Statement]) -> None:
        for statement in written:
            self.file.note(op, statement)

    def value(self, value: SSAValue, *, typed: bool = False) -> Expression:
        if value in self._places:
            return self._places[value].address
        return super().value(value, typed=typed)

    def place_of(self, user: Operation, value: SSAValue) -> Place:
        if value in self._places:
            return self._places[value]
        assert isa(value.type, MemRefType)
        element = self.type_text(user, value.type.element_type)
        return Place(tree.dereference(super().value(value)), element)

    def declare(self, op: Operation, value: SSAValue, expression: Expression) -> None:
        local = self.names.new(value.name_hint)
        kind = "var" if _is_written_through(value) else "const"
        self.emit(tree.declare(kind, local, self.type_of(op, value), expression))
        self.set_value(value, tree.name(local))

    def bind(self, op: Operation, expression: Expression, *, pure: bool = True) -> None:
        self.file.note(op, expression)
        if op.results and any(isinstance(use.operation, csl.AddressOfOp) for use in op.results[0].uses):
            self.declare(op, op.results[0], expression)
        else:
            super().bind(op, expression, pure=pure)

    # Operations

    def write_operation(self, op: Operation) -> bool:
        match op:
            case csl.FuncOp() | csl.TaskOp():
                self.file.routine(op, self)
            case csl.ReturnOp():
                if op.ret_val is not None:
                    self.emit(tree.return_of(self.value(op.ret_val)))
            case csl.CallOp():
                self._called(op, tree.name(self.file.symbol(op, op.callee.string_value())), op.args)
            case csl.MemberCallOp():
                self._called(op, tree.member(self.value(op.struct), op.field.data), op.args)
            case csl.MemberAccessOp():
                self.bind(op, tree.member(self.value(op.struct), op.field.data))
            case csl.ActivateOp():
                if op.kind.data is not csl.TaskKind.LOCAL:
                    raise refuse(op, f"csl.activate of a {op.kind.data.value} task: only local tasks can be activated")
                self.emit(tree.builtin("activate", self._task_id("local", op.id)))
            case csl.RpcOp():
                # The memcpy library serves launches of all that is exported.
                pass
            case csl.SymbolExportOp():
                self.file.export(op, None if op.value is None else self.value(op.value))
            case csl.ParamOp():
                self.file.param(op, None if op.init_value is None else self.value(op.init_value))
                self.set_value(op.res, tree.name(op.param_name.data))
            case csl.ImportModuleConstOp():
                self._import(op)
            case csl.LayoutOp():
                self.file.layout(op, self)
            case csl.SetRectangleOp():
                self.emit(tree.builtin("set_rectangle", self.value(op.x_dim), self.value(op.y_dim)))
            case csl.SetTileCodeOp():
                arguments = [self.value(op.x_coord), self.value(op.y_coord)]
                arguments.append(tree.string(self.file.program.file_of(op)))
                arguments.append(tree.structure({}) if op.params is None else self.value(op.params))
                self.emit(tree.builtin("set_tile_code", *arguments))
            case _:
                return (
                    self._write_value(op)
                    or self._write_memory(op)
                    or self._write_variable(op)
                    or self._write_descriptor(op)
                )
        return True

    def _called(self, op: csl.CallOp | csl.MemberCallOp, function: Expression, arguments: Sequence[SSAValue]) -> None:
        call = tree.call(function, *(self.value(argument) for argument in arguments))
        if op.result is None:
            self.emit(call)
        else:
            self.bind(op, call, pure=False)

    def _task_id(self, kind: str, id: IntegerAttr) -> Expression:
        width = id.type.bitwidth if isinstance(id.type, IntegerType) else 6
        return tree.builtin(f"get_{kind}_task_id", tree.integer(integers.unsigned(id.value.data, width)))

    def _import(self, op: csl.ImportModuleConstOp) -> None:
        arguments: list[Expression] = [tree.string(op.module.data)]
        if op.params is not None:
            arguments.append(self.value(op.params))
        self.declare(op, op.result, tree.builtin("import_module", *arguments))

    def _write_value(self, op: Operation) -> bool:
        """Write casts and values that exist at compile time only."""
        match op:
            case csl.ConstStrOp():
                self.bind(op, tree.string(op.value.data))
            case csl.ConstStructOp():
                self._struct(op, self._fields(op))
            case csl.ConcatStructOp():
                self._concatenate(op)
            case csl.GetColorOp():
                self.bind(op, tree.builtin("get_color", self.value(op.id)))
            case csl.DirectionOp():
                self.bind(op, tree.name(op.dir.data.name))
            case csl.AddressOfFnOp():
                self.bind(op, tree.address_of(tree.name(self.file.symbol(op, op.fn_name.string_value()))))
            case csl.AddressOfOp():
                self._address_of(op)
            case csl.PtrCastOp():
                self.bind(op, tree.builtin("ptrcast", type_expression(op, op.result.type), self.value(op.ptr)))
            case csl.IntPtrCastOp():
                value = self.value(op.input, typed=True)
                self.bind(op, tree.builtin("bitcast", type_expression(op, op.result.type), value))
            case csl.SignednessCastOp():
                if self.is_constant(op.inp) and not _is_addressed(op.result):
                    self.set_constant(op.result, self.constant(op.inp))
                elif scalar_type(op.inp.type) == scalar_type(op.result.type):
                    self.bind(op, self.value(op.inp, typed=True))
                else:
                    type = type_expression(op, op.result.type)
                    self.bind(op, tree.builtin("bitcast", type, self.value(op.inp, typed=True)))
            case _:
                return False
        return True

    def _fields(self, op: csl.ConstStructOp) -> dict[str, Expression]:
        fields: dict[str, Expression] = {}
        for name, item in (op.items or DictionaryAttr({})).data.items():
            fields[name] = _literal(op, item)
        for name, value in zip(op.ssa_fields or ArrayAttr[StringAttr]([]), op.ssa_values, strict=True):
            fields[name.data] = self.value(value)
        return fields

    def _struct(self, op: Operation, fields: dict[str, Expression]) -> None:
        self._structs[op.results[0]] = fields
        self.bind(op, tree.structure(fields))

    def _concatenate(self, op: csl.ConcatStructOp) -> None:
        first, second = self._structs.get(op.this_struct), self._structs.get(op.another_struct)
        if first is not None and second is not None:
            if shared := first.keys() & second.keys():
                raise refuse(op, f"csl.concat_structs joins two structs with field '{min(shared)}'; rename one")
            self._struct(op, first | second)
        elif first == {} or second == {}:
            self.set_value(op.result, self.value(op.another_struct if first == {} else op.this_struct))
        else:
            values = (self.value(op.this_struct), self.value(op.another_struct))
            self.bind(op, tree.builtin("concat_structs", *values))

    def _address_of(self, op: csl.AddressOfOp) -> None:
        owner = op.value.owner
        if isinstance(owner, memref.LoadOp):
            # The element, not a copy of it.
            place = self.place_of(op, owner.memref)
            address = tree.address_of(tree.index(place.expression, [self.value(index) for index in owner.indices]))
        elif isinstance(owner, csl.LoadVarOp):
            address = tree.address_of(tree.name(self._variables[owner.var]))
        elif isa(op.value.type, MemRefType):
            address = self.value(op.value)
        else:
            address = tree.address_of(self._named(op, op.value))
        if self.at_file_level:
            local = self.names.new(op.res.name_hint, "pointer")
            # What is exported can be pointed elsewhere by the program, as in the vendor's examples.
            kind = "const" if op.res.type.constness.data is csl.PtrConst.CONST else "var"
            self.emit(tree.declare(kind, local, type_expression(op, op.res.type), address))
            self.set_value(op.res, tree.name(local))
        else:
            self.bind(op, address)

    def _named(self, op: Operation, value: SSAValue) -> syntax.Name:
        """Return a name for a value whose address is taken."""
        expression = self.value(value, typed=True)
        if not isinstance(expression, syntax.Name):
            self.declare(op, value, self.value(value))
            self._constants.pop(value, None)
            expression = self.value(value)
        assert isinstance(expression, syntax.Name)
        return expression

    # Memory

    def _write_memory(self, op: Operation) -> bool:
        match op:
            case memref.GlobalOp():
                self._global(op)
            case memref.GetGlobalOp():
                assert isa(op.memref.type, MemRefType)
                name = self.file.symbol(op, op.name_.string_value())
                self._place(op, op.memref, name)
            case memref.AllocOp() | memref.AllocaOp():
                if op.dynamic_sizes:
                    raise refuse(op, f"{op.name} has an unknown size; give every extent in its type")
                type = array_type(op, op.memref.type)
                alignment = None if op.alignment is None else op.alignment.value.data
                self._array(op, op.memref, "var", type, tree.builtin("zeros", type), alignment)
            case memref.DeallocOp():
                pass
            case csl.ZerosOp():
                type = self._sized_type(op, op.result, op.size)
                self._array(op, op.result, _kind(op.is_const), type, tree.builtin("zeros", type))
            case csl.ConstantsOp():
                type = self._sized_type(op, op.result, op.size)
                value = tree.builtin("constants", type, self.value(op.value))
                self._array(op, op.result, _kind(op.is_const), type, value)
            case _:
                return False
        return True

    def write(self, op: Operation) -> None:
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, DenseIntOrFPElementsAttr):
            self._dense_constant(op, op.value)
        else:
            super().write(op)

    def _dense_constant(self, op: arith.ConstantOp, value: DenseIntOrFPElementsAttr) -> None:
        if not isa(op.result.type, MemRefType):
            raise refuse(op, f"arith.constant of type {op.result.type} cannot be imported; make it a memref")
        first = len(self.file.declarations)
        type = array_type(op, op.result.type)
        self._array(op, op.result, "const", type, _dense(op, value, op.result.type, type))
        self.note_origin(op, self.file.declarations[first:])  # pyright: ignore[reportArgumentType]

    def _sized_type(self, op: Operation, result: SSAValue, size: SSAValue | None) -> Expression:
        assert isa(result.type, MemRefType)
        element = type_expression(op, result.type.element_type)
        if result.type.has_static_shape():
            return array_type(op, result.type)
        if result.type.get_num_dims() != 1 or size is None:
            raise refuse(op, f"{op.name} makes an array of type {result.type}; it can have only one open extent")
        return syntax.ArrayType(NOWHERE, NOWHERE, [self.value(size)], element)

    def _global(self, op: memref.GlobalOp) -> None:
        assert isa(op.type, MemRefType)
        type = array_type(op, op.type)
        value = tree.builtin("zeros", type)
        if isinstance(op.initial_value, DenseIntOrFPElementsAttr):
            value = _dense(op, op.initial_value, op.type, type)
        alignment = None if op.alignment is None else op.alignment.value.data
        name = self.file.symbol(op, op.sym_name.data)
        self.emit(tree.declare(_kind(op.constant), name, None, value, alignment))

    def _array(
        self, op: Operation, value: SSAValue, kind: str, type: Expression, initial: Expression, align: int | None = None
    ) -> None:
        """Declare a global array, also for what a function allocates: functions of CSL own no memory."""
        name = self.names.new(value.name_hint, "array")
        self.file.add(op, tree.declare(kind, name, type, initial, align))
        self._place(op, value, name)

    def _place(self, op: Operation, value: SSAValue, name: str) -> None:
        assert isa(value.type, MemRefType)
        self._places[value] = Place(tree.name(name), self.type_text(op, value.type.element_type))

    # Variables

    def _write_variable(self, op: Operation) -> bool:
        match op:
            case csl.VariableOp():
                name = self.names.new(op.res.name_hint, "variable")
                initial = None if op.default is None else _literal(op, op.default)
                self.emit(tree.declare("var", name, type_expression(op, op.res.type), initial))
                self._variables[op.res] = name
            case csl.LoadVarOp():
                if self._uses(op.res):
                    self.bind(op, tree.name(self._variables[op.var]), pure=False)
            case csl.StoreVarOp():
                self.emit(tree.assign(tree.name(self._variables[op.var]), self.value(op.new_value)))
            case _:
                return False
        return True

    # Descriptors and operations on them

    def _write_descriptor(self, op: Operation) -> bool:
        match op:
            case csl.GetMemDsdOp():
                self._memory_descriptor(op)
            case csl.GetFabDsdOp():
                self._fabric_descriptor(op)
            case csl.SetDsdBaseAddrOp():
                self.bind(op, tree.builtin("set_dsd_base_addr", self.value(op.op), self.value(op.base_addr)))
            case csl.IncrementDsdOffsetOp():
                element = type_expression(op, op.elem_type)
                self.bind(op, tree.builtin("increment_dsd_offset", self.value(op.op), self.value(op.offset), element))
            case csl.SetDsdLengthOp():
                self.bind(op, tree.builtin("set_dsd_length", self.value(op.op), self._length(op.length)))
            case csl.SetDsdStrideOp():
                self.bind(op, tree.builtin("set_dsd_stride", self.value(op.op), self.value(op.stride)))
            case csl.BuiltinDsdOp():
                arguments = [self._operand(op, operand) for operand in op.ops]
                self.emit(tree.builtin(op.name.removeprefix("csl."), *arguments))
            case _:
                return False
        return True

    def _length(self, value: SSAValue) -> Expression:
        if self.is_constant(value):
            return literal_of("u16", self.constant(value))
        return (
            self.value(value)
            if scalar_type(value.type) == "u16"
            else tree.builtin("as", tree.name("u16"), self.value(value))
        )

    def _operand(self, op: Operation, value: SSAValue) -> Expression:
        if not isa(value.type, MemRefType):
            return self.value(value, typed=True)
        shape = value.type.get_shape()
        if len(shape) != 1 or not value.type.has_static_shape() or not isinstance(value.type.layout, NoneAttr):
            message = f"{op.name} takes an array of type {value.type} in place of a descriptor; run memref-to-dsd first"
            raise refuse(op, message)
        fields = {"base_address": self.value(value), "extent": tree.integer(shape[0])}
        return tree.builtin("get_dsd", tree.name("mem1d_dsd"), tree.structure(fields))

    def _memory_descriptor(self, op: csl.GetMemDsdOp) -> None:
        base = self.place_of(op, op.base_addr).expression
        sizes = op.sizes
        fields: dict[str, Expression]
        rank = op.base_addr.type.get_num_dims() if isa(op.base_addr.type, MemRefType) else 1
        if op.tensor_access is None and len(sizes) == 1 and rank == 1:
            # A size may be known at run time only.
            fields = {"base_address": tree.address_of(base), "extent": self._length(sizes[0])}
        else:
            variables = [tree.name(self._induction(position)) for position in range(len(sizes))]
            if op.tensor_access is None:
                indices: list[Expression] = [*variables]
            else:
                indices = [self._affine(op, index, variables) for index in op.tensor_access.data.results]
            extents = [self.value(size) for size in sizes]
            fields = {
                "tensor_access": syntax.TensorAccess(NOWHERE, NOWHERE, variables, extents, base, indices),
            }
        kind = tree.name(op.result.type.data.value)
        self.bind(op, tree.builtin("get_dsd", kind, tree.structure(fields)))

    def _induction(self, position: int) -> str:
        names = Names(self.names)
        return [names.new(letter) for letter in "ijkl"][position]

    def _affine(self, op: Operation, index: AffineExpr, variables: Sequence[Expression]) -> Expression:
        found = tree.affine(index, variables)
        if found is None:
            raise refuse(op, f"index {index} of {op.name} cannot be imported; use sums of variables times numbers")
        return found

    def _fabric_descriptor(self, op: csl.GetFabDsdOp) -> None:
        way = "input" if op.result.type.data is csl.DsdKind.fabin_dsd else "output"
        color = op.fabric_color.value.data % (1 << op.fabric_color.type.bitwidth)
        queue = op.queue_id.value.data % (1 << op.queue_id.type.bitwidth)
        self.file.uses_queue(op, way, queue, color)
        fields: dict[str, Expression] = {
            "fabric_color": tree.builtin("get_color", tree.integer(color)),
            "extent": self._length(op.sizes[0]),
            f"{way}_queue": tree.builtin(f"get_{way}_queue", tree.integer(queue)),
        }
        for name, flag in (("control", op.control), ("wavelet_index_offset", op.wavelet_index_offset)):
            if flag is not None:
                fields[name] = tree.name("true" if flag.value.data else "false")
        kind = tree.name(op.result.type.data.value)
        self.bind(op, tree.builtin("get_dsd", kind, tree.structure(fields)))


def _is_addressed(value: SSAValue) -> bool:
    return any(isinstance(use.operation, csl.AddressOfOp) for use in value.uses)


def _is_written_through(value: SSAValue) -> bool:
    """Return True if the value is written through a pointer to it."""
    return any(
        isinstance(use.operation, csl.AddressOfOp) and use.operation.res.type.constness.data is csl.PtrConst.VAR
        for use in value.uses
    )


def _kind(is_const: Attribute | None) -> str:
    return "var" if is_const is None else "const"


def _literal(op: Operation, value: Attribute) -> Expression:
    match value:
        case IntegerAttr() | FloatAttr():
            type = scalar_type(value.type)
            if type is not None:
                return literal_of(type, value.value.data)
        case StringAttr():
            return tree.string(value.data)
        case _:
            pass
    raise refuse(op, f"value {value} of {op.name} has no literal in CSL; use a number or a string")


def _dense(op: Operation, value: DenseIntOrFPElementsAttr, memory: MemRefType, type: Expression) -> Expression:
    element = scalar_type(memory.element_type)
    assert element is not None, "checked with the type of the array"
    values = list(value.get_values())
    if len(values) == 1 or is_one_number(value):
        return tree.builtin("constants", type, literal_of(element, values[0]))  # pyright: ignore[reportArgumentType]
    return tree.sequence([literal_of(element, number) for number in values], type)  # pyright: ignore[reportArgumentType]
