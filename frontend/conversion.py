"""Conversions: those the language makes by itself, @as and @bitcast, and the common type of two operands."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ..csl import syntax
from ..operations import integers
from . import emit, types
from .descriptors import FabricDescriptor, FifoDescriptor, MemoryDescriptor
from .emit import scalar
from .errors import MistypedAtRunTime
from .evaluator import COERCIONS, Evaluator
from .scalars import bits as bits_of
from .scalars import cast_column, from_bits, nearest, rounded
from .types import Type
from .values import Address, Buffer, Callable, Column, RangeData, Value, element_data, element_of, is_elements, is_ssa

MAX_WRITTEN_BITS = 64
"""Bits of the integers whose limits messages give as numbers, not as powers of two."""


def show(data: Any) -> str:
    """Return a number in a message."""
    if isinstance(data, bool):
        return "true" if data else "false"
    # Python writes longer numbers only in bases that are powers of two.
    return hex(data) if isinstance(data, int) and data.bit_length() > types.MAX_COMPTIME_BITS else str(data)


def extremes(data: Any) -> tuple[Any, Any]:
    """Return the least and the greatest of a known number over all lanes."""
    if isinstance(data, Column):
        if data.values.dtype == object:
            return min(data.values), max(data.values)
        return data.values.min().item(), data.values.max().item()
    return data, data


def _limits(type: types.Int) -> str:
    """Return the numbers that a type holds, as powers of two where they are long."""
    if type.bits <= MAX_WRITTEN_BITS:
        return f"{type.lowest} to {type.highest}"
    return f"-2^{type.bits - 1} to 2^{type.bits - 1} - 1" if type.signed else f"0 to 2^{type.bits} - 1"


def _to_integer(ev: Evaluator, value: Value, type: types.Int, node: syntax.Node) -> Value | None:
    """Return a known integer that fits, or one of a type all of whose numbers fit."""
    source = value.type
    if types.is_integer(source) and not is_ssa(value.data):
        low, high = extremes(value.data)
        if type.holds(low) and type.holds(high):
            return Value(type, value.data)
        wrong = high if type.holds(low) else low
        ev.mistyped(
            node,
            f"{wrong} does not fit in '{type}', which holds {_limits(type)}; "
            "use a wider type, or @as to keep the low bits",
        )
    if isinstance(source, types.Int) and source.lowest >= type.lowest and source.highest <= type.highest:
        ev.check_format(type, node)
        if not ev.session.widening_reported:
            ev.session.widening_reported = True
            ev.warn(
                node,
                f"'{source}' is widened to '{type}' implicitly, as in SDK 2.10 but not in SDK 1.4; "
                f"write @as({type}, ...) for both, here and wherever else an integer is widened",
            )
        return Value(type, extend(ev, value.data, source, type.bits))
    return None


def _to_float(ev: Evaluator, value: Value, type: types.Float, node: syntax.Node) -> Value | None:
    """Return a `comptime_float`, which is rounded, or a float of fewer bits."""
    source = value.type
    if source is types.COMPTIME_FLOAT:
        fitted = ev.fitted(type, value.data)
        if any(map(math.isinf, extremes(fitted))) and not any(map(math.isinf, extremes(value.data))):
            ev.mistyped(node, f"{show(value.data)} does not fit in '{type}'; use a wider type")
        return Value(type, fitted)
    if isinstance(source, types.Float) and source.bits < type.bits:
        return cast(ev, value, type, node)
    if source is types.COMPTIME_INT:
        ev.mistyped(node, f"an integer does not convert to '{type}' implicitly; write {show(value.data)}.0 or use @as")
    return None


def _to_simple(ev: Evaluator, value: Value, type: types.Simple, node: syntax.Node) -> Value | None:
    """Convert compile-time numbers to `comptime_int` or `comptime_float`, structs to `comptime_struct`."""
    if type is types.COMPTIME_STRUCT:
        return value if isinstance(value.type, types.Struct) else None
    kinds = (types.COMPTIME_INT, types.COMPTIME_FLOAT)
    if type in kinds and isinstance(value.type, types.Int | types.Float) and not ev.frame.module.is_library:
        ev.warn(
            node, f"the SDK's compiler does not convert '{value.type}' to '{type}' implicitly; use @as({type}, ...)"
        )
    wide = types.Int if type is types.COMPTIME_INT else types.Float if type is types.COMPTIME_FLOAT else ()
    return Value(type, value.data) if isinstance(value.type, wide) and not is_ssa(value.data) else None


def _to_array(ev: Evaluator, value: Value, type: types.Array, node: syntax.Node) -> Value | None:
    """Return an array of the same extents, element by element; data that occurs several times is converted once."""
    source = value.type
    if not isinstance(source, types.Array) or source.dims != type.dims or not is_elements(value.data):
        return None
    converted: dict[int, Any] = {}
    for kept in value.data:
        if id(kept) not in converted:
            converted[id(kept)] = element_data(type, ev.coerce(element_of(source, kept), type.element, node))
    return Value(type, [converted[id(kept)] for kept in value.data])


def _to_function(ev: Evaluator, value: Value, type: types.Function, node: syntax.Node) -> Value | None:
    """Return a function of the same signature, its parameters' names aside."""
    source = value.type
    if not isinstance(source, types.Function) or len(source.parameters) != len(type.parameters):
        return None
    if source.is_task != type.is_task:
        ev.fail(node, f"'{source}' is not '{type}'; a task cannot be called")
    same = source.result == type.result and source.parameters == type.parameters
    return Value(type, value.data) if same else None


def _to_struct(ev: Evaluator, value: Value, type: types.Struct, node: syntax.Node) -> Value | None:
    """Return an anonymous struct as another one, its fields in any order."""
    source = value.type
    if not isinstance(source, types.Struct) or source.origin is not None or bool(source.names) != bool(type.names):
        return None
    if source.names is None or type.names is None:
        if len(source.types) != len(type.types):
            ev.fail(node, f"'{type}' has {len(type.types)} elements, not {len(source.types)}")
        return Value(type, tuple(ev.coerce(v, t, node) for v, t in zip(value.data, type.types, strict=True)))
    for name in source.names:
        if type.index(name) is None:
            ev.fail(node, f"'{type}' has no field '{name}'")
    members: list[Value] = []
    for name, inner in zip(type.names, type.types, strict=True):
        position = source.index(name)
        if position is None:
            ev.fail(node, f"field '{name}' of '{type}' is missing")
        members.append(ev.coerce(value.data[position], inner, _member_node(node, name)))
    return Value(type, tuple(members))


def check_addressable(ev: Evaluator, function: Value, node: syntax.Node) -> None:
    """Raise CslError for an `inline` function, which has no address (Syntax, inline fn)."""
    if isinstance(function.data, Callable) and function.data.node.inlining == "inline":
        ev.fail(node, f"'{function.data.name}' is 'inline', so it has no address; declare it without 'inline'")


def _member_node(node: syntax.Node, name: str) -> syntax.Node:
    """Return where a field is given, if it is in the text here."""
    if isinstance(node, syntax.Aggregate):
        return next((member.value for member in node.members if member.name == name), node)
    return node


def _to_pointer(ev: Evaluator, value: Value, type: types.Pointer, node: syntax.Node) -> Value | None:
    """Return a pointer with a wider type: to what is constant, to many elements, to an array of one, to anything."""
    source = value.type
    if isinstance(source, types.Function) and type.const and not type.many and type.target == source:
        check_addressable(ev, value, node)
        return Value(type, value.data)
    if not isinstance(source, types.Pointer) or (source.const and not type.const):
        return None
    if source.many == type.many and source.target == type.target:
        return Value(type, value.data)
    if type.many and not source.many and isinstance(source.target, types.Array):
        array = source.target
        # The manual wants one dimension, published programs point to matrices too.
        if array.element == type.target:
            return Value(type, value.data)
    if not type.many and not source.many and type.target in (types.ANYOPAQUE, types.Array((1,), source.target)):
        return Value(type, value.data)
    return None


COERCIONS.update(
    {
        types.Int: _to_integer,
        types.Float: _to_float,
        types.Simple: _to_simple,
        types.Pointer: _to_pointer,
        types.Array: _to_array,
        types.Struct: _to_struct,
        types.Function: _to_function,
    }
)
"""What converts by itself, by the class of the type needed; None if that does not."""


def extend(ev: Evaluator, data: Any, source: types.Int, bits: int) -> Any:
    """Return an integer's data in another width: run-time values are extended or cut, known ones stay."""
    if is_ssa(data):
        return ev.code.extend(data, source, bits)
    return data


def peer(ev: Evaluator, left: Value, right: Value, node: syntax.Node) -> tuple[Value, Value]:
    """Return two operands with their common type. Raise CslError if they have none."""
    if left.type is right.type:
        return left, right
    type = common_type(ev, left, right, node)
    if type is None:
        return left, right
    return ev.coerce(left, type, node), ev.coerce(right, type, node)


def common_type(ev: Evaluator, left: Value, right: Value, node: syntax.Node) -> Type | None:
    """Return the type that two values both convert to; None for pointers, which are taken as they are.

    Raises CslError if there is none.
    """
    a, b = left.type, right.type
    if a.__class__ is b.__class__ and a == b:
        return a
    if types.is_integer(a) and types.is_integer(b):
        if a is types.COMPTIME_INT or b is types.COMPTIME_INT:
            return b if a is types.COMPTIME_INT else a
        assert isinstance(a, types.Int) and isinstance(b, types.Int)
        if a.lowest <= b.lowest and b.highest <= a.highest:
            return a
        if b.lowest <= a.lowest and a.highest <= b.highest:
            return b
        for value, type in ((right, a), (left, b)):
            if not is_ssa(value.data) and all(map(type.holds, extremes(value.data))):
                rule = f"the SDK's compiler finds no common type of '{a}' and '{b}', whatever the numbers are"
                ev.warn(node, f"{rule}; convert one of them with @as")
                return type
    elif types.is_float(a) and types.is_float(b):
        if a is types.COMPTIME_FLOAT or b is types.COMPTIME_FLOAT:
            return b if a is types.COMPTIME_FLOAT else a
        assert isinstance(a, types.Float) and isinstance(b, types.Float)
        if a.bits != b.bits:
            return max(a, b, key=lambda type: type.bits)
    elif isinstance(a, types.Pointer) and isinstance(b, types.Pointer):
        return None
    if types.is_numeric(a) and types.is_numeric(b):
        message = f"operands are of types '{a}' and '{b}'; convert one of them with @as"
        raise MistypedAtRunTime(ev.error(node, message).diagnostics)
    ev.mistyped(node, f"operands are of types '{a}' and '{b}', which have no common type")


def cast(ev: Evaluator, value: Value, type: Type, node: syntax.Node) -> Value:
    """Convert as `@as(type, value)`: numbers, truth values and enums to each other; floats truncate towards zero."""
    source = value.type
    if source in (type, types.UNDEFINED):
        return value
    if isinstance(source, types.Enum):
        if isinstance(type, types.Enum):
            ev.fail(node, f"'{source}' is not converted to another enum directly; convert it to a number first")
        return cast(ev, Value(source.underlying, value.data), type, node)
    if isinstance(type, types.Enum):
        number = cast(ev, value, type.underlying, node)
        if not is_ssa(number.data):
            for known in set(extremes(number.data)):
                if known not in type.names:
                    ev.fail(node, f"{known} is not a member of '{type}'")
        return Value(type, number.data)
    numeric = types.is_numeric(type) or type is types.BOOL
    if not numeric or not (types.is_numeric(source) or source is types.BOOL):
        if isinstance(type, types.Pointer | types.Array | types.Struct | types.Function) or type is source:
            advice = "leave it out, or convert pointers with @ptrcast"
            ev.warn(node, f"the SDK's compiler takes @as of numbers, bools and enums, not of '{type}'; {advice}")
            return ev.coerce(value, type, node)
        ev.fail(node, f"@as converts between numbers, truth values and enums, not '{source}' to '{type}'")
    if is_ssa(value.data):
        if types.is_comptime_only(type):
            ev.fail(node, f"'{type}' exists at compile time only, but the value is not known at compile time")
        return Value(type, _cast_at_run_time(ev, value, type, node))
    if isinstance(value.data, Column):
        together = cast_column(type, value.data, ev.lanes)
        if together is not None:
            return Value(type, together)
    return Value(type, ev.lift(partial(_cast_known, type), value.data))


def as_wanted(ev: Evaluator, value: Value, want: Type | None, node: syntax.Node) -> Value:
    """Return a value that a branch or block gives, as the type that its receiver wants, so that all of them agree."""
    if want is None or value.type in (types.VOID, types.UNDEFINED):
        return value
    if isinstance(want, types.Cast):
        keeps = want.numbers_only and value.type not in (types.COMPTIME_INT, types.COMPTIME_FLOAT)
        return value if keeps else cast(ev, value, want.target, node)
    return value if types.is_comptime_only(want) else ev.coerce(value, want, node)


def _cast_known(type: Type, number: Any) -> Any:
    if type is types.BOOL:
        return bool(number != 0 or number != number)
    if types.is_float(type):
        return rounded(type, number) if isinstance(number, float) else nearest(type, int(number))
    if isinstance(number, float):
        if isinstance(type, types.Int):
            return integers.saturated(number, type.bits, is_signed=type.signed)
        if math.isnan(number):
            return 0
        return math.trunc(math.copysign(float(1 << 64), number) if math.isinf(number) else number)
    number = int(number)
    return type.wrap(number) if isinstance(type, types.Int) else number


def _cast_at_run_time(ev: Evaluator, value: Value, type: Type, node: syntax.Node) -> SSAValue:
    ev.check_format(type, node)
    ev.code.at(ev.source, node.start)
    source, data, builder = value.type, value.data, ev.code
    if type is types.BOOL:
        zero = builder.constant(source, 0)
        if isinstance(source, types.Float):
            return emit.binary(builder, "!=", source, data, zero)
        return builder.value(arith.CmpiOp(data, zero, "ne"))
    target = scalar(type)
    if types.CB16 in (source, type):
        return _cast_cb16(ev, value, type, node)
    if source is types.BOOL:
        if isinstance(type, types.Float):
            return builder.value(arith.UIToFPOp(data, target))  # pyright: ignore[reportArgumentType]
        return builder.value(arith.ExtUIOp(data, target))  # pyright: ignore[reportArgumentType]
    if isinstance(source, types.Int) and isinstance(type, types.Int):
        return emit.wrapped(builder, type, builder.extend(data, source, type.bits))
    if isinstance(source, types.Int):
        return builder.value((arith.SIToFPOp if source.signed else arith.UIToFPOp)(data, target))  # pyright: ignore[reportArgumentType]
    if isinstance(type, types.Int):
        cut = builder.value((arith.FPToSIOp if type.signed else arith.FPToUIOp)(data, target))  # pyright: ignore[reportArgumentType]
        return _within(builder, type, cut)
    assert isinstance(source, types.Float) and isinstance(type, types.Float)
    if source.bits == type.bits:
        ev.fail(node, f"'{source}' is not converted to '{type}' at run time")
    return builder.value((arith.ExtFOp if source.bits < type.bits else arith.TruncFOp)(data, target))


def _cast_cb16(ev: Evaluator, value: Value, type: Type, node: syntax.Node) -> SSAValue:
    """Emit a conversion of a number from or to format cb16."""
    source, data, target = value.type, value.data, scalar(type)
    if isinstance(source, types.Float) and isinstance(type, types.Float):
        if source.bits == type.bits:
            ev.fail(node, f"'{source}' is not converted to '{type}' at run time")
        return emit.of_cb16(ev.code, "extf" if source is types.CB16 else "truncf", [data], target)
    if type is types.CB16:
        signed = isinstance(source, types.Int) and source.signed
        return emit.of_cb16(ev.code, "sitofp" if signed else "uitofp", [data], target)
    assert isinstance(type, types.Int)
    return _within(ev.code, type, emit.of_cb16(ev.code, "fptosi" if type.signed else "fptoui", [data], target))


def _within(builder: emit.Builder, type: types.Int, value: SSAValue) -> SSAValue:
    """Return a number that ends at the limits of its type."""
    if not type.is_narrow:
        return value
    highest = builder.constant(type, type.highest)
    if not type.signed:
        return builder.value(arith.MinUIOp(value, highest))
    return builder.value(
        arith.MaxSIOp(builder.value(arith.MinSIOp(value, highest)), builder.constant(type, type.lowest))
    )


def _width(type: Type) -> int | None:
    match type:
        case types.Int(bits=bits) | types.Float(bits=bits):
            return bits
        case types.Pointer():
            return 16
        case types.Enum(underlying=underlying):
            return underlying.bits
        case types.BOOL:
            return 1
        case types.Record():
            return types.bit_width(type)
        case _:
            return 16 if isinstance(type, types.Identifier) else None


def bitcast_scalar(ev: Evaluator, value: Value, type: Type, node: syntax.Node) -> Value:
    """Return the same bits as another type of the same width, where neither type is a struct or union."""
    if isinstance(type, types.Pointer):
        if not types.is_integer(value.type):
            ev.fail(node, f"@bitcast to a pointer takes an integer, not '{value.type}'")
        word = value if isinstance(value.type, types.Int) else ev.coerce(value, types.U16, node)
        return Value(type, Address(None, 0, 1, word.data))
    if types.is_comptime_only(value.type) and not isinstance(value.type, types.Int):
        ev.fail(node, f"'{value.type}' has no bits; give the value a type of known width with @as")
    check_width(ev, value.type, type, node)
    if isinstance(value.type, types.Pointer):
        if not ev.frame.module.is_library:
            ev.warn(node, "the SDK's compiler takes @bitcast of numbers, not of pointers; keep the address in one")
        return Value(type, ev.ssa(value, node))
    if not is_ssa(value.data):
        source = value.type

        def reinterpreted(number: Any) -> Any:
            return from_bits(type, bits_of(source, number))

        return Value(type, ev.lift(reinterpreted, value.data))
    ev.check_format(type, node)
    source_mlir, target_mlir = scalar(value.type), scalar(type)
    if source_mlir == target_mlir:
        return Value(type, emit.wrapped(ev.code, type, value.data))
    ev.code.at(ev.source, node.start)
    return Value(type, ev.code.value(arith.BitcastOp(value.data, target_mlir)))


def check_width(ev: Evaluator, source: Type, target: Type, node: syntax.Node) -> None:
    have, want = _width(source), _width(target)
    for type, bits in ((source, have), (target, want)):
        if bits is None:
            ev.fail(
                node, f"@bitcast takes numbers, pointers, packed structs and unions; a '{type}' has no fixed bit layout"
            )
    if have != want:
        ev.fail(node, f"@bitcast keeps the width: '{source}' has {have} bits and '{target}' {want}")


def describe(value: Value) -> str:
    """Return a value as @comptime_print shows it."""
    data: Any = value.data
    type = value.type
    if isinstance(data, Column):
        low, high = extremes(data)
        return f"<{show(low)} to {show(high)}, different from PE to PE>"
    if is_ssa(data):
        return f"<{type}, not known at compile time>"
    match type:
        case types.COMPTIME_STRING:
            return data.decode(errors="replace")
        case types.VOID:
            return "{}"
        case types.TYPE:
            return str(data)
        case types.DIRECTION:
            return types.DIRECTIONS[int(data)]
        case types.Enum():
            return f".{type.names[data]}"
        case types.Union():
            return _describe_union(type, data)
        case types.Struct(names=None):
            return f"{{{', '.join(map(describe, data))}}}"
        case types.Struct(names=names):
            return f"{{{', '.join(f'{n} = {describe(v)}' for n, v in zip(names or (), data, strict=True))}}}"
        case types.Array():
            shown = ", ".join(describe(element_of(type, kept)) for kept in data[:64])
            return f"{{{shown}{', ...' if len(data) > 64 else ''}}}"
        case _:
            return _describe_other(type, data)


def _describe_other(type: Type, data: Any) -> str:
    match data:
        case bool() | int() | float():
            return show(data)
        case Callable():
            return f"{'task' if data.is_task else 'fn'} {data.name}"
        case RangeData(start=start, stop=stop, step=step):
            element = type.element if isinstance(type, types.Range) else start.type
            return f"@range({element}, {', '.join(map(describe, (start, stop, step)))})"
        case Address(buffer=Buffer(symbol=name), offset=offset, unit=unit) if not is_ssa(offset):
            return f"&{name}" if offset == 0 else f"&{name} + {offset * unit} bytes"
        case MemoryDescriptor(address=address, strides=strides, extents=extents):
            walk = (f"{{{', '.join(map(show, each))}}}" for each in (strides, extents))
            fields = zip(("base_address", "stride", "extent"), (_describe_other(type, address), *walk), strict=True)
            return f"{{{', '.join(f'{name} = {field}' for name, field in fields)}}}"
        case FabricDescriptor(output=output, extent=extent, queue=queue):
            named = "" if queue is None else f", {'output' if output else 'input'}_queue = {queue}"
            return f"{{extent = {show(extent)}{named}}}"
        case FifoDescriptor(symbol=name):
            return f"fifo {name}"
        case _:
            # What is left has no notation: modules, pointers to what exists at compile time only.
            return f"<{type}>"


def _describe_union(type: types.Union, data: Any) -> str:
    active = getattr(data, "active", None)
    return f"{{{', '.join(map(describe, data))}}}" if active is None or not type.names else f"{{.{type.names[active]}}}"
