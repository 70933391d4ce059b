"""Builtins that make DSDs, and that make new ones from them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...csl import syntax
from ...dialects import dsd
from ...targets.wavelets import MAX_DIMENSIONS
from .. import types
from ..addresses import moved
from ..descriptors import FABRIC, CircularDescriptor, FabricDescriptor, MemoryDescriptor
from ..evaluator import Evaluator
from ..places import index_word
from ..registry import Table
from ..struct_fields import Fields, one_of
from ..types import Type
from ..values import Address, Value, is_ssa
from .type_facts import warn_program

TABLE = Table("DSDs")


@TABLE.row("@get_dsd(type, properties)", rules="DSD-003 to DSD-110")
def _get_dsd(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = node.arguments
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
    where, element = _base(ev, base, node)
    if type is types.MEM4D and (is_ssa(where.base) or is_ssa(where.offset)):
        ev.warn(
            node,
            "by the manual '.base_address' of a mem4d_dsd is known at compile time (DSD-047); give it an array here, "
            "and the pointer to @set_dsd_base_addr",
        )
    if type is types.MEM4D and isinstance(base.type, types.Pointer):
        target = base.type.target
        if not isinstance(target, types.Array) and not base.type.many:
            if where.buffer is not None and not where.buffer.count:
                ev.fail(node, f"'.base_address' of a mem4d_dsd points to an array, not to a '{target}' (DSD-047)")
            # AMB-58: published programs give one.
            ev.warn(
                node,
                "by the manual '.base_address' of a mem4d_dsd points to an array (DSD-047), and this to an element of "
                "one; give it the array, and '.offset' the place of the element",
            )
    unit = element_words(ev, element, node)
    offset = fields.take("offset")
    if offset is not None:
        where = moved(ev, where, word(ev, offset, node, "an offset", types.I16), 2 * unit)
    extent, stride = fields.need("extent"), fields.take("stride")
    step = types.I8 if type is types.MEM1D else types.I16
    for name, value in (("extent", extent), ("stride", stride)):
        if value is not None and isinstance(value.type, types.Struct) and value.type.names:
            ev.fail(node, f"'.{name}' is a tuple such as .{{ 2, 3 }}, and its members have no names (DSD-050, DSD-052)")
    if isinstance(extent.type, types.Struct):
        extents = tuple(word(ev, item, node, "an extent") for item in extent.data)
        if stride is None:
            strides: tuple[Any, ...] = (1,) * len(extents)
        elif isinstance(stride.type, types.Struct):
            strides = tuple(word(ev, item, node, "a stride", step) for item in stride.data)
        else:
            strides = (word(ev, stride, node, "a stride", step),)
        if len(strides) != len(extents):
            ev.fail(node, f"{len(strides)} strides for {len(extents)} extents; give as many of each (DSD-053)")
    else:
        extents = (word(ev, extent, node, "an extent"),)
        strides = (1 if stride is None else word(ev, stride, node, "a stride", step),)
    if type is types.MEM1D and len(extents) != 1:
        ev.fail(node, f"a mem1d_dsd has one variable, not {len(extents)} (DSD-020); use mem4d_dsd")
    if not 1 <= len(extents) <= MAX_DIMENSIONS:
        ev.fail(node, f"a mem4d_dsd has 1 to {MAX_DIMENSIONS} dimensions, not {len(extents)} (DSD-057)")
    return MemoryDescriptor(where, strides, extents, unit, index_offset, type is types.MEM4D, element)


def word(ev: Evaluator, value: Value, node: syntax.Node, what: str, type: types.Int = types.U16) -> Any:
    """Return an integer field of a descriptor: a number that a type holds (DSD-021, DSD-032), or an i16 at run time.

    A value of run time must have that type (DSD-008, DSD-009, DSD-011).
    """
    if is_ssa(value.data) and types.is_integer(value.type):
        value = ev.coerce(value, type, node)
    number = index_word(ev, value, node, what)
    if isinstance(number, int) and not type.holds(number):
        advice = "; the strides of a mem4d_dsd have 16 bits" if type is types.I8 else ""
        ev.fail(node, f"{what} of {number} is out of range; use {type.lowest} to {type.highest}{advice}")
    return number


def moved_by(ev: Evaluator, value: Value, node: syntax.Node, what: str) -> Any:
    """Return how far an address is moved, in words of which the machine keeps 16 bits, read with a sign or without.

    At run time it is an i16 (DSD-166).
    """
    return word(ev, value, node, what, types.I16 if is_ssa(value.data) or _is_negative(value) else types.U16)


def _is_negative(value: Value) -> bool:
    return isinstance(value.data, int) and value.data < 0


def _base(ev: Evaluator, base: Value, node: syntax.Node) -> tuple[Address, Type]:
    """Return where a descriptor starts, and the type of an element."""
    type = base.type
    if not isinstance(type, types.Pointer):
        ev.fail(node, f"a base address is a pointer, not a value of type '{type}'; write & in front of the variable")
    where = base.data if isinstance(base.data, Address) else Address(None, 0, 1, base.data)
    element = type.target.element if isinstance(type.target, types.Array) else type.target
    return where, element


def element_words(ev: Evaluator, element: Type, node: syntax.Node) -> int:
    """Return the words of an element of a DSD or FIFO. Raise CslError if it has neither 16 nor 32 bits."""
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
    where, element = _base(ev, base, node)
    unit = element_words(ev, element, node)
    extent = word(ev, fields.need("extent"), node, "an extent")
    if is_ssa(where.base) or is_ssa(where.offset):
        ev.fail(node, "'.base_address' of a circbuf_dsd must be known at compile time (DSD-078)")
    if is_ssa(extent):
        ev.fail(node, "'.extent' of a circbuf_dsd must be known at compile time; set others with @set_dsd_length")
    wraparound = fields.number("wraparound")
    buffer = base.type.target if isinstance(base.type, types.Pointer) and not base.type.many else None
    if not isinstance(buffer, types.Array):
        if wraparound is None:
            ev.fail(node, f"a circbuf_dsd over a '{base.type}' needs '.wraparound'; only an array implies it")
    elif wraparound is None:
        wraparound = buffer.count
    elif wraparound > buffer.count:
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
        if ev.pe is not None:
            number = ev.pe.color_place(number)
    queue = fields.identifier(
        "output_queue" if output else "input_queue", types.OUTPUT_QUEUE if output else types.INPUT_QUEUE
    )
    options: list[tuple[str, Any]] = []
    of_output = ("control", "advance_switch", "wavelet_index_offset") if output else ()
    for name in (*of_output, "control_transform"):
        if fields.flag(name):
            options.append((name, True))
    if ev.frame.module.is_library and fields.flag("loom_message"):
        options.append(("message", True))
    simd = fields.choice("simd_mode")
    if simd is not None:
        options.append(("simd", one_of(ev, dsd.SimdMode, simd, "simd_mode", node)))
    priority = fields.choice("priority")
    if priority is not None:
        if ev.session.target.operation_priority:
            ev.fail(node, "'.priority' of a DSD does not exist on WSE-2 (DSD-101); give it to the operation")
        options.append(("priority", one_of(ev, dsd.Priority, priority, "priority", node)))
    zero = fields.choice("zero") if output else None
    if zero is not None:
        options.append(("zero", one_of(ev, dsd.ZeroedSource, zero, "zero", node)))
    return FabricDescriptor(output, extent, queue, number, tuple(options))


def _memory_descriptor(ev: Evaluator, node: syntax.Expression) -> tuple[Value, MemoryDescriptor]:
    value = ev.expr(node)
    if not isinstance(value.data, MemoryDescriptor):
        ev.fail(node, f"this must be a memory DSD, not '{value.type}'")
    return value, value.data


@TABLE.row("@increment_dsd_offset(dsd, offset, element_type)", rules="DSD-159, DSD-164 to DSD-171")
def _increment(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = node.arguments
    value, descriptor = _memory_descriptor(ev, arguments[0])
    amount = moved_by(ev, ev.expr(arguments[1]), arguments[1], "an offset")
    element = ev.type_of(arguments[2])
    if element not in types.DSD_ELEMENTS:
        ev.fail(arguments[2], f"an offset counts elements of i16, u16, i32, u32, f16 or f32, not '{element}' (DSD-167)")
    has, is_written = descriptor.element, not ev.frame.module.is_library or ev.frame.written is not None
    if has is not None and types.size(has) != types.size(element) and is_written and not ev.is_checking:
        warn_program(
            ev,
            arguments[2],
            f"the offset counts elements of '{element}', but the array of the DSD has elements of type '{has}'; count "
            f"'{has}', or convert the array's pointer with @ptrcast (DSD-168)",
        )
    where = moved(ev, descriptor.address, amount, 2 * element_words(ev, element, arguments[2]))
    return Value(value.type, replace(descriptor, address=where))


@TABLE.row("@set_dsd_base_addr(dsd, base_address)", rules="DSD-159 to DSD-163")
def _set_base(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = node.arguments
    value, descriptor = _memory_descriptor(ev, arguments[0])
    target = ev.place(arguments[1])
    if isinstance(target.type, types.Array):
        where, element = target.address(ev, arguments[1]), target.type.element
    else:
        where, element = _base(ev, target.load(ev, arguments[1]), arguments[1])
    unit = element_words(ev, element, arguments[1])
    return Value(value.type, replace(descriptor, address=where, unit=unit, element=element))


@TABLE.row("@set_dsd_length(dsd, length)", rules="DSD-159, DSD-172 to DSD-175")
def _set_length(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = node.arguments
    value = ev.expr(arguments[0])
    length = word(ev, ev.expr(arguments[1]), arguments[1], "a length")
    data = value.data
    if isinstance(data, MemoryDescriptor):
        if len(data.extents) != 1:
            ev.fail(
                arguments[0],
                "@set_dsd_length takes a mem1d_dsd or a fabric DSD, not a mem4d_dsd; make another with @get_dsd",
            )
        return Value(value.type, replace(data, extents=(length,)))
    if isinstance(data, FABRIC | CircularDescriptor):
        return Value(value.type, replace(data, extent=length))
    ev.fail(arguments[0], f"@set_dsd_length takes a DSD, not '{value.type}'")


@TABLE.row("@set_dsd_stride(dsd, stride)", rules="DSD-159, DSD-176 to DSD-179")
def _set_stride(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = node.arguments
    value, descriptor = _memory_descriptor(ev, arguments[0])
    if len(descriptor.strides) != 1:
        ev.fail(arguments[0], "@set_dsd_stride takes a mem1d_dsd")
    stride = word(ev, ev.expr(arguments[1]), arguments[1], "a stride", types.I8)
    return Value(value.type, replace(descriptor, strides=(stride,)))
