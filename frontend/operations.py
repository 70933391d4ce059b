"""DSDs and the operations on them: @get_dsd, what changes a DSD, and the builtins of the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, StringAttr, SymbolRefAttr, UnitAttr, i16, i64
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ..csl import syntax
from ..dialects import dsd, wse
from ..dialects.machine.fifo_options import verify_fifo_actions
from ..operations import dsd_table
from . import emit, types
from .conversion import coerce, extend
from .core import Evaluator, builtin
from .descriptors import ELEMENTS, CircularDescriptor, FabricDescriptor, FifoDescriptor, MemoryDescriptor
from .expressions import initializes_global, place
from .pe import location
from .places import Memory, array_at, byte_address, index_word, moved
from .types import Type
from .values import VOID, Address, Column, Value, boolean, is_ssa

# Making and changing descriptors


class Fields:
    """The members of an options struct, each to be taken once."""

    def __init__(self, ev: Evaluator, value: Value, node: syntax.Node, what: str) -> None:
        if not isinstance(value.type, types.Struct) or (value.type.names is None and value.type.types):
            ev.fail(node, f"{what} is given by a struct, .{{ .name = value }}, not by '{value.type}'")
        self.ev, self.node, self.what = ev, node, what
        self.members = dict(zip(value.type.names or (), value.data, strict=True))

    def take(self, name: str) -> Value | None:
        value = self.members.pop(name, None)
        return None if value is None or value.type is types.VOID else value

    def take_apart(self, name: str) -> None:
        """Puts the members of a field in its place."""
        value = self.take(name)
        if value is None:
            return
        if not isinstance(value.type, types.Struct) or not value.type.names:
            self.ev.fail(self.node, f"'.{name}' is written |i|{{n}} -> array[i], or as a struct")
        for inner, member in zip(value.type.names, value.data, strict=True):
            if inner in self.members:
                self.ev.fail(self.node, f"'.{inner}' is given twice, by '.{name}' too; leave one out")
            self.members[inner] = member

    def need(self, name: str) -> Value:
        value = self.take(name)
        if value is None:
            self.ev.fail(self.node, f"{self.what} needs a field '.{name}'")
        return value

    def flag(self, name: str) -> bool:
        value = self.take(name)
        if value is None:
            return False
        if value.type is not types.BOOL:
            self.ev.fail(self.node, f"field '.{name}' is 'true' or 'false', not of type '{value.type}'")
        return bool(self.ev.data(value, self.node, f"field '.{name}'"))

    def number(self, name: str) -> int | None:
        value = self.take(name)
        if value is None:
            return None
        if not types.is_integer(value.type) and not isinstance(value.type, types.Identifier | types.Enum):
            self.ev.fail(self.node, f"field '.{name}' is an integer, not of type '{value.type}'")
        return int(self.ev.data(value, self.node, f"field '.{name}'"))

    def identifier(self, name: str, type: types.Identifier) -> int | None:
        value = self.take(name)
        if value is None:
            return None
        if value.type != type:
            self.ev.fail(self.node, f"field '.{name}' is of type '{type}', not '{value.type}'")
        return int(self.ev.data(value, self.node, f"field '.{name}'"))

    def choice(self, name: str) -> str | None:
        """The one member that is true of a struct of truth values, such as `.{ .high = true }`."""
        value = self.take(name)
        if value is None:
            return None
        if not isinstance(value.type, types.Struct) or not value.type.names:
            self.ev.fail(self.node, f"field '.{name}' is a struct such as .{{ .high = true }}")
        chosen = [key for key, member in zip(value.type.names, value.data, strict=True) if member.data]
        if len(chosen) != 1:
            self.ev.fail(self.node, f"exactly one choice of '.{name}' is true, not {len(chosen)}")
        return chosen[0]

    def end(self) -> None:
        if self.members:
            name = next(iter(self.members))
            self.ev.fail(self.node, f"{self.what} has no field '.{name}'")


@builtin("@get_dsd")
def _get_dsd(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = expect(ev, node, 2)
    type = ev.type_of(arguments[0])
    fields = Fields(ev, ev.expr(arguments[1]), arguments[1], f"a '{type}'")
    match type:
        case types.MEM1D | types.MEM4D:
            descriptor: Any = _memory(ev, type, fields, arguments[1])
        case types.FABIN | types.FABOUT:
            descriptor = _fabric(ev, type is types.FABOUT, fields, arguments[1])
        case types.CIRCBUF:
            descriptor = _circular(ev, fields, arguments[1])
        case _:
            ev.fail(
                arguments[0], f"@get_dsd makes mem1d_dsd, mem4d_dsd, circbuf_dsd, fabin_dsd or fabout_dsd, not '{type}'"
            )
    fields.end()
    return Value(type, descriptor)


def _memory(ev: Evaluator, type: Type, fields: Fields, node: syntax.Node) -> MemoryDescriptor:
    index_offset = fields.flag("wavelet_index_offset")
    fields.take_apart("tensor_access")
    base = fields.need("base_address")
    where, unit = _base(ev, base, node)
    offset = fields.take("offset")
    if offset is not None:
        where = moved(ev, where, word(ev, offset, node, "an offset", types.I16), 2 * unit)
    extent, stride = fields.need("extent"), fields.take("stride")
    if isinstance(extent.type, types.Struct):
        extents = tuple(word(ev, item, node, "an extent") for item in extent.data)
        if stride is None:
            strides: tuple[Any, ...] = (1,) * len(extents)
        elif isinstance(stride.type, types.Struct):
            strides = tuple(word(ev, item, node, "a stride", types.I16) for item in stride.data)
        else:
            strides = (word(ev, stride, node, "a stride", types.I16),)
        if len(strides) != len(extents):
            ev.fail(node, f"{len(strides)} strides for {len(extents)} extents; give as many of each (DSD-053)")
    else:
        extents = (word(ev, extent, node, "an extent"),)
        strides = (1 if stride is None else word(ev, stride, node, "a stride", types.I16),)
    if type is types.MEM1D and len(extents) != 1:
        ev.fail(node, f"a mem1d_dsd has one variable, not {len(extents)} (DSD-020); use mem4d_dsd")
    return MemoryDescriptor(where, strides, extents, unit, index_offset, type is types.MEM4D)


def word(ev: Evaluator, value: Value, node: syntax.Node, what: str, type: types.Int = types.U16) -> Any:
    """An integer field of a descriptor: a number of a type (DSD-021, DSD-032), or an i16 at run time."""
    number = index_word(ev, value, node, what)
    if isinstance(number, int) and not type.holds(number):
        ev.fail(node, f"{what} of {number}; it is from {type.lowest} to {type.highest}")
    return number


def _moved_by(ev: Evaluator, value: Value, node: syntax.Node, what: str) -> Any:
    """How far an address is moved, in words of which the machine keeps 16 bits, read with a sign or without."""
    return word(ev, value, node, what, types.I16 if types.is_integer(value.type) and _is_negative(value) else types.U16)


def _is_negative(value: Value) -> bool:
    return isinstance(value.data, int) and value.data < 0


def _base(ev: Evaluator, base: Value, node: syntax.Node) -> tuple[Address, int]:
    """Where a descriptor starts, and the words of an element."""
    type = base.type
    if not isinstance(type, types.Pointer):
        ev.fail(node, f"a base address is a pointer, not a value of type '{type}'; write & in front of the variable")
    where = base.data if isinstance(base.data, Address) else Address(None, 0, 1, base.data)
    element = type.target.element if isinstance(type.target, types.Array) else type.target
    return where, element_words(ev, element, node)


def element_words(ev: Evaluator, element: Type, node: syntax.Node) -> int:
    """The words of an element of a DSD or FIFO. Raises CslError if it has neither 16 nor 32 bits."""
    words = types.dsd_words(element)
    if words is None:
        ev.fail(
            node,
            f"elements of DSDs and FIFOs have 16 or 32 bits, but '{element}' has {8 * types.size(element)}; convert "
            "the pointer with @ptrcast, for example to [*]u16",
        )
    return words


def _circular(ev: Evaluator, fields: Fields, node: syntax.Node) -> CircularDescriptor:
    base = fields.need("base_address")
    where, unit = _base(ev, base, node)
    extent = word(ev, fields.need("extent"), node, "an extent")
    wraparound = fields.number("wraparound")
    buffer = base.type.target if isinstance(base.type, types.Pointer) and not base.type.many else None
    if not isinstance(buffer, types.Array):
        if wraparound is None:
            ev.fail(node, f"a circbuf_dsd over a '{base.type}' needs '.wraparound'; only an array gives its own")
    elif wraparound is not None and wraparound > buffer.count:
        ev.fail(node, f"'.wraparound' is {wraparound}, but the buffer has {buffer.count} elements")
    return CircularDescriptor(where, extent, wraparound, unit)


def _fabric(ev: Evaluator, output: bool, fields: Fields, node: syntax.Node) -> FabricDescriptor:
    extent = word(ev, fields.need("extent"), node, "an extent")
    color = fields.take("fabric_color")
    number = None
    if color is not None:
        if color.type is not types.COLOR:
            ev.fail(node, f"'.fabric_color' is a color, not of type '{color.type}'")
        number = ev.data(color, node, "'.fabric_color'")
    queue = fields.identifier(
        "output_queue" if output else "input_queue", types.OUTPUT_QUEUE if output else types.INPUT_QUEUE
    )
    options: list[tuple[str, Any]] = []
    for name in ("control", "advance_switch", "wavelet_index_offset", "control_transform"):
        if fields.flag(name):
            options.append((name, True))
    simd = fields.choice("simd_mode")
    if simd is not None:
        options.append(("simd", _one_of(ev, dsd.SimdMode, simd, "simd_mode", node)))
    for name, kind in (("priority", dsd.Priority), ("zero", dsd.ZeroedSource)):
        choice = fields.choice(name)
        if choice is not None:
            options.append((name, _one_of(ev, kind, choice, name, node)))
    return FabricDescriptor(output, extent, queue, number, tuple(options))


def expect(ev: Evaluator, node: syntax.Builtin, *counts: int) -> list[syntax.Expression]:
    """The arguments of a builtin. Raises CslError if there are too many or too few."""
    if len(node.arguments) not in counts:
        allowed = " or ".join(map(str, counts))
        ev.fail(
            node, f"@{node.name} takes {allowed} argument{'' if allowed == '1' else 's'}, not {len(node.arguments)}"
        )
    return node.arguments


def _memory_descriptor(ev: Evaluator, node: syntax.Expression) -> tuple[Value, MemoryDescriptor]:
    value = ev.expr(node)
    if not isinstance(value.data, MemoryDescriptor):
        ev.fail(node, f"this must be a memory DSD, not '{value.type}'")
    return value, value.data


@builtin("@increment_dsd_offset")
def _increment(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = expect(ev, node, 3)
    value, descriptor = _memory_descriptor(ev, arguments[0])
    amount = _moved_by(ev, ev.expr(arguments[1]), arguments[1], "an offset")
    unit = element_words(ev, ev.type_of(arguments[2]), arguments[2])
    where = moved(ev, descriptor.address, amount, 2 * unit)
    return Value(value.type, replace(descriptor, address=where))


@builtin("@set_dsd_base_addr")
def _set_base(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = expect(ev, node, 2)
    value, descriptor = _memory_descriptor(ev, arguments[0])
    target = place(ev, arguments[1])
    if isinstance(target.type, types.Array):
        where, unit = target.address(ev, arguments[1]), element_words(ev, target.type.element, arguments[1])
    else:
        where, unit = _base(ev, target.load(ev, arguments[1]), arguments[1])
    return Value(value.type, replace(descriptor, address=where, unit=unit))


@builtin("@set_dsd_length")
def _set_length(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = expect(ev, node, 2)
    value = ev.expr(arguments[0])
    length = word(ev, ev.expr(arguments[1]), arguments[1], "a length")
    data = value.data
    if isinstance(data, MemoryDescriptor):
        if len(data.extents) != 1:
            ev.fail(arguments[0], "@set_dsd_length takes a mem1d_dsd or a fabric DSD, not a mem4d_dsd")
        return Value(value.type, replace(data, extents=(length,)))
    if isinstance(data, FabricDescriptor | CircularDescriptor):
        return Value(value.type, replace(data, extent=length))
    ev.fail(arguments[0], f"@set_dsd_length takes a DSD, not '{value.type}'")


@builtin("@set_dsd_stride")
def _set_stride(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = expect(ev, node, 2)
    value, descriptor = _memory_descriptor(ev, arguments[0])
    if len(descriptor.strides) != 1:
        ev.fail(arguments[0], "@set_dsd_stride takes a mem1d_dsd")
    stride = word(ev, ev.expr(arguments[1]), arguments[1], "a stride", types.I16)
    return Value(value.type, replace(descriptor, strides=(stride,)))


@builtin("@allocate_fifo")
def _allocate_fifo(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = expect(ev, node, 1, 2)
    target = place(ev, arguments[0])
    type = target.type
    is_const = type.const if isinstance(type, types.Pointer) else target.is_const
    if isinstance(type, types.Pointer):
        where = target.load(ev, arguments[0]).data
        type = type.target
    else:
        where = target.address(ev, arguments[0])
    if not isinstance(type, types.Array) or where.buffer is None or where.offset != 0:
        ev.fail(arguments[0], f"a FIFO lies in an array, not in a '{type}'")
    if ev.pe is None:
        ev.fail(node, "FIFOs belong to a PE's program, not to the layout")
    if not initializes_global(ev, node):
        message = "a FIFO is there for the whole program; make it a global: const fifo = @allocate_fifo(...) (DSD-113)"
        ev.fail(node, message)
    if is_const:
        ev.fail(arguments[0], "a FIFO changes its array; declare the array with 'var'")
    unit = element_words(ev, type.element, arguments[0])
    options: dict[str, Attribute] = {}
    if len(arguments) == 2:
        options = _fifo_options(ev, arguments[1])
    symbol = ev.pe.unique(f"{where.buffer.symbol}.fifo")
    op = wse.FifoOp(symbol, where.buffer.symbol, options=options)
    op.location = location(ev.source, node)
    ev.pe.fifos.append(op)
    return Value(types.FIFO, FifoDescriptor(symbol, unit))


def _fifo_options(ev: Evaluator, node: syntax.Expression) -> dict[str, Attribute]:
    """The configuration of a FIFO, as properties of its operation."""
    fields = Fields(ev, ev.expr(node), node, "a FIFO's configuration")
    options: dict[str, Attribute] = {}
    actions = [fields.choice(name) for name in ("empty_action", "full_action")]
    empty, full = (None if action is None else StringAttr(action) for action in actions)
    try:
        verify_fifo_actions(empty, full, ev.session.target)
    except VerifyException as error:
        ev.fail(node, str(error))
    for name, action in (("empty_action", empty), ("full_action", full)):
        if action is not None:
            options[name] = action
    for name in ("activate_push", "activate_pop"):
        task = _told(ev, fields.take(name), node)
        if task is not None:
            options[name] = SymbolRefAttr(task)
    options |= _fifo_registers(ev, fields, node)
    priority, simd = fields.choice("priority"), fields.choice("simd_mode")
    if priority is not None:
        options["priority"] = StringAttr(_one_of(ev, dsd.Priority, priority, "priority", node))
    if simd is not None:
        options["simd"] = StringAttr(_one_of(ev, dsd.SimdMode, simd, "simd_mode", node))
    for name, given, on_wse2 in (("priority", priority, False), ("simd_mode", simd, True)):
        if given is not None and ev.session.target.operation_priority != on_wse2:
            rule = "the operation has it there (DSD-229)" if name == "priority" else "fabric DSDs have it (DSD-244)"
            ev.fail(node, f"'.{name}' of a FIFO is not known on {ev.session.target.name}; {rule}")
    fields.end()
    return options


def _fifo_registers(ev: Evaluator, fields: Fields, node: syntax.Expression) -> dict[str, Attribute]:
    """The registers that are to hold a FIFO."""
    found: dict[str, int] = {}
    for name, type in (("dest", types.DSR_DEST), ("src", types.DSR_SRC1), ("xdsr", types.XDSR)):
        value = fields.take(name)
        if value is None:
            continue
        if value.type is not type:
            ev.fail(node, f"field '.{name}' is a '{type}', not a '{value.type}' (DSR-072)")
        found[name] = int(ev.data(value, node, f"field '.{name}'"))
    if not found:
        return {}
    if len(found) < 3:
        ev.fail(node, "a FIFO is given '.dest', '.src' and '.xdsr' together, or none of them (DSR-073)")
    if found["dest"] != found["src"]:
        ev.fail(node, f"'.dest' is register {found['dest']} and '.src' {found['src']}; both have one number (DSR-074)")
    return {"register": IntegerAttr(found["dest"], i64), "xdsr": IntegerAttr(found["xdsr"], i64)}


def _one_of(ev: Evaluator, kind: type[StrEnum], given: str, name: str, node: syntax.Node) -> str:
    known = [member.value for member in kind]
    if given not in known:
        ev.fail(node, f"'{given}' is no '.{name}'; it is one of {', '.join(known)}")
    return given


@builtin("@set_fifo_read_length", "@set_fifo_write_length")
def _set_fifo_length(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = expect(ev, node, 2)
    fifo, length = ev.expr(arguments[0]), ev.expr(arguments[1], types.U16)
    if not isinstance(fifo.data, FifoDescriptor):
        ev.fail(
            arguments[0],
            f"@{node.name} sets a length of a FIFO known at compile time, not of a '{fifo.type}' (DSD-152)",
        )
    if ev.builder is None:
        ev.fail(node, f"@{node.name} changes the FIFO at run time; it cannot stand in a comptime block (DSD-156)")
    length = coerce(ev, length, types.U16, arguments[1])
    ev.code.at(ev.source, node.start)
    side = "read" if node.name == "set_fifo_read_length" else "write"
    ev.code(dsd.SetFifoLengthOp(fifo.data.symbol, side, _field(ev, word(ev, length, arguments[1], "a length"))))
    return VOID


# Operands


def view(ev: Evaluator, where: Address, element: Type) -> tuple[SSAValue, Any]:
    return array_at(ev, where, element, types.size(element))


def materialize(ev: Evaluator, data: Any, element: Type, node: syntax.Node, *, in_register: bool = False) -> SSAValue:
    """A descriptor as a value of the `dsd` dialect, with elements of the operation's type."""
    builder = ev.code
    assert ev.pe is not None
    builder.at(ev.source, node.start)
    mlir = emit.scalar(element)
    if isinstance(data, MemoryDescriptor):
        base, offset = view(ev, data.address, element)
        extents = tuple(_field(ev, item) for item in data.extents)
        strides = tuple(_field(ev, item) for item in data.strides)
        if len(strides) == 1:
            return builder.value(
                dsd.Mem1dOp(
                    base, extents[0], offset=offset, stride=strides[0], wavelet_index_offset=data.wavelet_index_offset
                )
            )
        return builder.value(
            dsd.Mem4dOp(base, extents, offset=offset, strides=strides, wavelet_index_offset=data.wavelet_index_offset)
        )
    if isinstance(data, FabricDescriptor):
        symbol = None
        color = None
        if (
            data.queue is None
            and data.color is not None
            and (data.output or not any(c == data.color and not o for (o, _), c in ev.pe.queue_colors.items()))
        ):
            ev.pe.use(ev, "color", data.color, node)
            color = ev.pe.color(data.color)
        elif data.queue is None and data.color is None:
            ev.fail(node, "this fabric DSD has neither '.fabric_color' nor a queue; give it one")
        else:
            symbol = ev.pe.queue(ev, data.output, data.queue, data.color, node)
        options: dict[str, Attribute] = {}
        for name, value in data.options:
            options[name] = _option(ev, name, value, node)
        make = dsd.FaboutOp if data.output else dsd.FabinOp
        type = (dsd.FaboutType if data.output else dsd.FabinType)(mlir)  # pyright: ignore[reportArgumentType]
        return builder.value(make(type, _field(ev, data.extent), queue=symbol, color=color, options=options))  # pyright: ignore
    if isinstance(data, FifoDescriptor):
        return builder.value(dsd.FifoOp(data.symbol, mlir))
    if isinstance(data, CircularDescriptor) and in_register:
        if is_ssa(data.extent):
            ev.fail(node, "the extent of a circbuf_dsd must be known at compile time here")
        base, _ = view(ev, data.address, element)
        return builder.value(dsd.CircbufOp(base, data.extent, wraparound=data.wraparound))
    if isinstance(data, CircularDescriptor):
        ev.fail(node, "a circbuf_dsd works only in a register; load it with @load_to_dsr")
    ev.fail(node, "this is no DSD")


def _option(ev: Evaluator, name: str, value: Any, node: syntax.Node) -> Attribute:
    match name:
        case "priority":
            return dsd.PriorityAttr(dsd.Priority(value))
        case "simd":
            return dsd.SimdModeAttr(dsd.SimdMode(value))
        case "zero":
            return dsd.ZeroedSourceAttr(dsd.ZeroedSource(value))
        case _:
            return UnitAttr()


def _field(ev: Evaluator, item: Any) -> Any:
    if isinstance(item, Column):
        assert ev.pe is not None
        return ev.pe.parameter(ev.code, types.I16, item)
    return item


def _operand(ev: Evaluator, node: syntax.Expression, row: dsd_table.DsdOperation, source: int | None) -> SSAValue:
    """One operand of an operation: the destination, or a source by its position."""
    needed = ELEMENTS[row.destination if source is None else row.sources[source]]
    value = ev.expr(node, None if source is None else needed)
    data = value.data
    if isinstance(data, MemoryDescriptor | FabricDescriptor | FifoDescriptor | CircularDescriptor):
        return materialize(ev, data, needed, node)
    if isinstance(value.type, types.Register):
        return register(ev, value, needed, source, node)
    noun = "the destination" if source is None else f"source {source + 1}"
    if isinstance(value.type, types.Pointer) and source is None:
        where = data if isinstance(data, Address) else Address(None, 0, 1, data)
        if not row.scalar_destination:
            ev.fail(node, f"{noun} of @{row.name} must be a DSD, not a pointer (DSD-072)")
        target = value.type.target
        if emit.has_one_register(target) and types.size(target) not in (2, 4):
            ev.fail(node, f"{noun} of @{row.name} has {8 * types.size(needed)} bits, but this points to a '{target}'")
        return scalar_at(ev, where, needed)
    if source is None:
        ev.fail(node, f"{noun} of @{row.name} is a DSD, a DSR or a pointer to a variable, not '{value.type}'")
    if source not in row.scalar_sources:
        ev.fail(node, f"{noun} of @{row.name} must be a DSD or DSR, not '{value.type}'")
    return scalar_operand(ev, value, needed, row, node)


def scalar_at(ev: Evaluator, where: Address, element: Type) -> SSAValue:
    """A scalar variable as a memref without dimensions."""
    mlir = emit.scalar(element)
    buffer = where.buffer
    if (
        buffer is not None
        and not buffer.count
        and where.offset == 0
        and emit.scalar(emit.stored(buffer.element)) == mlir
    ):
        return ev.code.once((buffer.symbol, mlir), lambda: wse.GetBufferOp(buffer.symbol, emit.array(mlir, ())))
    word = byte_address(ev, where)
    return ev.code.once((word, mlir), lambda: wse.ViewOp(word, emit.array(mlir, ())))


def scalar_operand(
    ev: Evaluator, value: Value, needed: Type, row: dsd_table.DsdOperation, node: syntax.Node
) -> SSAValue:
    """A scalar source with the type the operation takes; integers and moves care for the width only."""
    type = value.type
    if isinstance(type, types.Enum):
        value, type = Value(type.underlying, value.data), type.underlying
    if type in (types.BOOL,) or isinstance(type, types.Identifier):
        value, type = Value(types.U16, value.data), types.U16
    assert isinstance(needed, types.Int | types.Float)
    bits = needed.bits
    if types.is_float(needed):
        if types.is_float(type):
            return ev.ssa(coerce(ev, value, needed, node), node)
        ev.fail(node, f"@{row.name} takes a '{needed}', not '{type}'; convert it with @as")
    if isinstance(type, types.Float) and row.function == "move" and type.bits == bits:
        from .conversion import bitcast

        return ev.ssa(bitcast(ev, value, types.U16 if bits == 16 else types.U32, node), node)
    if not types.is_integer(type):
        ev.fail(node, f"@{row.name} takes a {bits}-bit integer, not '{type}'")
    if is_ssa(value.data):
        assert isinstance(type, types.Int)
        if type.bits > bits:
            ev.fail(node, f"@{row.name} takes {bits}-bit integers, not '{type}'; convert it with @as")
        return extend(ev, value.data, type, bits)
    return ev.ssa(Value(types.Int(bits, True), ev.fitted(types.Int(bits, True), value.data)), node)


def register(ev: Evaluator, value: Value, needed: Type, source: int | None, node: syntax.Node) -> SSAValue:
    """A DSR as an operand."""
    from .registers import operand

    return operand(ev, value, needed, source, node)


# Operations


def _told(ev: Evaluator, value: Value | None, node: syntax.Node) -> str | None:
    """The symbol of a task, by its name or its id, or of a queue or color, that is told of something."""
    from .tasks import told

    return None if value is None else told(ev, value, node)


def asynchronous(ev: Evaluator, fields: Fields, node: syntax.Node) -> dsd.AsyncAttr | None:
    """What the options of an operation say about its microthread; None for a synchronous one."""
    is_async = fields.flag("async")
    activate, unblock = fields.take("activate"), fields.take("unblock")
    control = fields.take("on_control")
    ut = fields.identifier("ut_id", types.UT_ID)
    if ev.pe is not None:
        ev.pe.use(ev, "microthread", ut, node)
    priority = fields.choice("priority")
    if not is_async:
        if activate is not None or unblock is not None or control is not None:
            ev.fail(node, "'.activate', '.unblock' and '.on_control' need '.async = true' (DSD-196)")
        return None
    if activate is not None and unblock is not None:
        ev.fail(node, "an operation ends with '.activate' or '.unblock', not with both")
    return dsd.AsyncAttr.get(
        activate=_told(ev, activate, node),
        unblock=_told(ev, unblock, node),
        on_control=None if control is None else _on_control(ev, control, node),
        ut=ut,
        priority=None if priority is None else dsd.Priority(_one_of(ev, dsd.Priority, priority, "priority", node)),
    )


def _on_control(ev: Evaluator, value: Value, node: syntax.Node) -> dsd.OnControlAttr:
    fields = Fields(ev, value, node, "'.on_control'")
    terminate = fields.flag("terminate")
    activate, unblock = fields.take("activate"), fields.take("unblock")
    fields.end()
    if (activate is not None) + (unblock is not None) + bool(terminate) > 1:
        ev.fail(node, "'.on_control' says one of '.terminate', '.activate' and '.unblock', not several")
    if activate is not None:
        return dsd.OnControlAttr.get(dsd.ControlAction.ACTIVATE, _told(ev, activate, node))
    if unblock is not None:
        return dsd.OnControlAttr.get(dsd.ControlAction.UNBLOCK, _told(ev, unblock, node))
    if not terminate:
        ev.fail(node, "'.on_control' is .{ .terminate = true }, .{ .activate = task } or .{ .unblock = task }")
    return dsd.OnControlAttr.get(dsd.ControlAction.TERMINATE)


def _operation(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """A builtin of the table of DSD operations."""
    row = dsd_table.OPERATIONS[node.name]
    count = 1 + len(row.sources)
    arguments = expect(ev, node, count, count + 1)
    if ev.builder is None:
        ev.fail(node, f"@{node.name} works on memory and the fabric, which do not exist at compile time")
    if ev.session.fp16 is not types.F16 and "f16" in (row.destination, *row.sources):
        format = ev.session.fp16
        ev.fail(node, f"@{node.name} of '{format}' is not supported yet; use @map, 32-bit floats or --fp16-format=f16")
    settings: dsd.AsyncAttr | None = None
    index: SSAValue | None = None
    if len(arguments) > count:
        fields = Fields(ev, ev.expr(arguments[count]), arguments[count], f"the configuration of @{node.name}")
        wanted = fields.take("index")
        if wanted is not None:
            index = _index_operand(ev, wanted, arguments[count])
        settings = asynchronous(ev, fields, arguments[count])
        fields.end()
    destination = _operand(ev, arguments[0], row, None)
    accumulator = _accumulator(ev, arguments[0])
    sources = [
        _accumulated(ev, accumulator, argument, row, n) or _operand(ev, argument, row, n)
        for n, argument in enumerate(arguments[1:count])
    ]
    if len(sources) == 2 and row.name not in SCALARS_ALONE and not any(map(_is_descriptor, sources)):
        rule = f"the SDK's compiler wants a DSD or DSR among the sources of @{node.name}"
        ev.warn(node, f"{rule}; compute the number first and move it")
    ev.code.at(ev.source, node.start)
    registers = any(value.type.name.startswith("dsr.") for value in (destination, *sources))
    if registers:
        from .registers import apply

        asked = want is not types.VOID and settings is None
        op: dsd.DsdOperation = apply(ev, row, destination, sources, settings, index, asked, node)
    else:
        # Only a FIFO can stop an operation, and only a synchronous one.
        fifos = any(isinstance(value.type, dsd.FifoType) for value in (destination, *sources))
        asked = want is not types.VOID and settings is None and fifos
        op = dsd.OPERATIONS[row.name](destination, sources, index=index, asynchronous=settings, with_result=asked)
        ev.code(op)
    return boolean(True if op.result is None else op.result)


SCALARS_ALONE = frozenset(("fscaleh", "fscales"))
"""Operations with two sources that the manual gives scalars only."""


def _is_descriptor(value: SSAValue) -> bool:
    return value.type.name.startswith(("dsd.", "dsr."))


def _accumulator(ev: Evaluator, node: syntax.Expression) -> Address | None:
    """The variable a destination written `&variable` stands for."""
    if not isinstance(node, syntax.Unary) or node.operator != "&":
        return None
    target = place(ev, node.operand)
    return target.where if isinstance(target, Memory) else None


def _accumulated(
    ev: Evaluator, accumulator: Address | None, node: syntax.Expression, row: dsd_table.DsdOperation, source: int
) -> SSAValue | None:
    """A source that is the variable the results go to: it is read anew for every element, so that they add up."""
    if accumulator is None or not isinstance(node, syntax.Name | syntax.Index | syntax.Field | syntax.Dereference):
        return None
    target = place(ev, node)
    if not isinstance(target, Memory) or target.where != accumulator or not emit.has_one_register(target.type):
        return None
    needed = ELEMENTS[row.sources[source]]
    everywhere = MemoryDescriptor(accumulator, (0,), (MAX_EXTENT,), types.size(needed) // 2)
    return materialize(ev, everywhere, needed, node)


MAX_EXTENT = 0xFFFF
"""The extent of a descriptor that only repeats one element; the other operands say how often."""


def _index_operand(ev: Evaluator, value: Value, node: syntax.Node) -> SSAValue:
    amount = _moved_by(ev, value, node, "'.index'")
    return amount if is_ssa(amount) else ev.code.constant(types.I16, amount)


for _name in dsd_table.OPERATIONS:
    builtin(f"@{_name}")(_operation)


# Whole arrays


def _whole(ev: Evaluator, where: Address, type: types.Array) -> tuple[SSAValue, Type, dsd_table.DsdOperation]:
    """A descriptor of the whole words of an array, and the operation that moves them."""
    as_int: Type = types.I16 if types.alignment(type) < 4 else types.I32
    base, offset = view(ev, where, as_int)
    descriptor = ev.code.value(dsd.Mem1dOp(base, types.size(type) // types.size(as_int), offset=offset))
    return descriptor, as_int, dsd_table.OPERATIONS["mov16" if as_int is types.I16 else "mov32"]


def _in_words(where: Address, type: types.Array) -> bool:
    """Whether an array is known to begin at a word, as buffers do."""
    if types.alignment(type) > 1:
        return True
    return where.buffer is not None and not is_ssa(where.offset) and where.offset * where.unit % 2 == 0


def _byte(ev: Evaluator, where: Address, index: Any) -> Memory:
    return Memory(moved(ev, where, index, 1), types.U8, const=False)


def _each_byte(ev: Evaluator, count: int, move: Callable[[SSAValue], None]) -> None:
    """Emits a loop over the bytes of an array, for their indices."""
    builder = ev.code
    bounds = [builder.raw_constant(IndexType(), number) for number in (0, count, 1)]
    block = Block(arg_types=[IndexType()])
    builder.enter(block)
    move(builder.value(arith.IndexCastOp(block.args[0], i16)))
    builder(scf.YieldOp())
    builder.leave()
    lower, upper, step = bounds
    builder(scf.ForOp(lower, upper, step, [], Region(block)))


def fill_array(ev: Evaluator, where: Address, type: types.Array, value: Value, node: syntax.Node) -> None:
    """Emits `array = @constants(...)` for scalars of up to 32 bits."""
    from .scalars import bits as bits_of

    pattern = bits_of(emit.stored(type.element), value.data)
    size = types.size(type)
    if types.alignment(type) == 1:
        byte = Value(types.U8, pattern)
        if not _in_words(where, type):
            _each_byte(ev, size, lambda index: _byte(ev, where, index).store(ev, byte, node))
            return
        if size % 2:
            _byte(ev, where, size - 1).store(ev, byte, node)
        pattern |= pattern << 8
    if size > 1:
        destination, element, row = _whole(ev, where, type)
        ev.code(dsd.OPERATIONS[row.name](destination, [ev.code.constant(element, pattern)]))


def copy_array(ev: Evaluator, where: Address, source: Address, type: types.Array, node: syntax.Node) -> None:
    """Emits the copy of a whole array."""
    size = types.size(type)

    def copy(index: Any) -> None:
        _byte(ev, where, index).store(ev, _byte(ev, source, index).load(ev, node), node)

    if not (_in_words(where, type) and _in_words(source, type)):
        _each_byte(ev, size, copy)
        return
    if types.alignment(type) == 1 and size % 2:
        copy(size - 1)
    if size > 1:
        destination, _, row = _whole(ev, where, type)
        origin, _, _ = _whole(ev, source, type)
        ev.code(dsd.OPERATIONS[row.name](destination, [origin]))
