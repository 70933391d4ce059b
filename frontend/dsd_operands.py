"""DSDs and scalars as operands of DSD operations in IR."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue

from ..csl import syntax
from ..dialects import dsd, wse
from ..operations import dsd_table
from . import emit, types
from .addresses import array_at, array_from, byte_address
from .conversion import extend
from .descriptors import ELEMENTS, CircularDescriptor, FabricDescriptor, FifoDescriptor, MemoryDescriptor
from .evaluator import Evaluator
from .packing import bitcast
from .types import Type
from .values import Address, Column, Value, is_ssa


def element_type(ev: Evaluator, element: dsd_table.Element) -> Type:
    """Return the CSL type of an operand: for f16 that of the program's 16-bit floats."""
    return ev.session.fp16 if element == "f16" else ELEMENTS[element]


def format_of(ev: Evaluator, row: dsd_table.DsdOperation) -> StringAttr | None:
    """Return the format of 16-bit floats of an operation that has such and is not of f16."""
    format = ev.session.fp16
    return None if format is types.F16 or not row.has_format else StringAttr(str(format))


def view(ev: Evaluator, where: Address, element: Type) -> tuple[SSAValue, Any]:
    return array_at(ev, where, element, types.size(element))


def materialize(ev: Evaluator, data: Any, element: Type, node: syntax.Node, *, in_register: bool = False) -> SSAValue:
    """Return a descriptor as a value of the `dsd` dialect, with elements of the operation's type."""
    builder = ev.code
    assert ev.pe is not None
    builder.at(ev.source, node.start)
    mlir = emit.scalar(element)
    if isinstance(data, MemoryDescriptor):
        base, offset = view(ev, data.address, element)
        extents = tuple(field(ev, item) for item in data.extents)
        strides = tuple(field(ev, item) for item in data.strides)
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
        if data.queue is None and data.color is not None and ev.session.target.queues_keep_color:
            kind, name, rule = (
                ("fabout_dsd", "output_queue", "DSD-210") if data.output else ("fabin_dsd", "input_queue", "DSD-097")
            )
            ev.fail(node, f"on WSE-3 a {kind} needs '.{name}', beside '.fabric_color' or in its place ({rule})")
        symbol = color = number = None
        if data.queue is None:
            if data.color is None:
                ev.fail(node, "this fabric DSD has neither '.fabric_color' nor a queue; give it one")
            number = ev.pe.color_at(data.color)
        if number is not None and (data.output or not ev.pe.receives_by_queue(number)):
            ev.pe.use(ev, "color", number, node)
            color = ev.pe.color(number)
        else:
            symbol = ev.pe.queue_of(ev, data.output, data.queue, data.color, node)
        options: dict[str, Attribute] = {}
        for name, value in data.options:
            options[name] = _option(ev, name, value, node)
        make = dsd.FaboutOp if data.output else dsd.FabinOp
        type = (dsd.FaboutType if data.output else dsd.FabinType)(mlir)  # pyright: ignore[reportArgumentType]
        return builder.value(make(type, field(ev, data.extent), queue=symbol, color=color, options=options))
    if isinstance(data, FifoDescriptor):
        return builder.value(dsd.FifoOp(data.symbol, mlir))
    if isinstance(data, CircularDescriptor) and in_register:
        base = array_from(ev, data.address, element, types.size(element))
        extent = field(ev, data.extent)
        if not is_ssa(extent):
            return builder.value(dsd.CircbufOp(base, extent, wraparound=data.wraparound))
        ring = builder.value(dsd.CircbufOp(base, data.wraparound, wraparound=data.wraparound))
        return builder.value(dsd.SetLengthOp(ring, extent))
    if isinstance(data, CircularDescriptor):
        ev.fail(node, "a circbuf_dsd works only in a register; load it with @load_to_dsr_xdsr (DSD-091)")
    ev.fail(node, "this is not a DSD")


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


def field(ev: Evaluator, item: Any) -> Any:
    if isinstance(item, Column):
        assert ev.pe is not None
        return ev.pe.parameter(ev.code, types.I16, item)
    return item


def scalar_at(ev: Evaluator, where: Address, element: Type) -> SSAValue:
    """Return a scalar variable as a memref without dimensions."""
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
    """Return a scalar source with the type the operation takes; integers and moves care for the width only."""
    type = value.type
    if isinstance(type, types.Enum):
        value, type = Value(type.underlying, value.data), type.underlying
    if type in (types.BOOL,) or isinstance(type, types.Identifier):
        value, type = Value(types.U16, value.data), types.U16
    assert isinstance(needed, types.Int | types.Float)
    bits = needed.bits
    if isinstance(type, types.Pointer | types.Array):
        whole = isinstance(type, types.Array) or isinstance(type.target, types.Array)
        advice = "make a DSD of the array with @get_dsd" if whole else "write '.*' behind it for its number"
        ev.fail(node, f"@{row.name} takes no '{type}' as a source; {advice}")
    if types.is_float(needed):
        if types.is_float(type):
            return ev.ssa(ev.coerce(value, needed, node), node)
        ev.fail(node, f"@{row.name} takes a '{needed}', not '{type}'; convert it with @as")
    if isinstance(type, types.Float) and row.function == "move" and type.bits == bits:
        return ev.ssa(bitcast(ev, value, types.U16 if bits == 16 else types.U32, node), node)
    if not types.is_integer(type):
        ev.fail(node, f"@{row.name} takes a {bits}-bit integer, not '{type}'")
    if is_ssa(value.data):
        assert isinstance(type, types.Int)
        if type.bits > bits:
            ev.fail(node, f"@{row.name} takes {bits}-bit integers, not '{type}'; convert it with @as")
        return extend(ev, value.data, type, bits)
    return ev.ssa(Value(types.Int(bits, True), ev.fitted(types.Int(bits, True), value.data)), node)
