"""Builtins of types, conversions, arrays and ranges."""

from __future__ import annotations

from xdsl.ir import Block

from ...csl import syntax
from .. import types
from ..conversion import cast, extremes
from ..emit import Builder, has_one_register
from ..errors import Unchecked
from ..evaluator import Evaluator
from ..leaves import zero
from ..packing import bitcast
from ..registry import Table
from ..types import Type
from ..values import RangeData, Value, boolean, element_data, is_ssa

TABLE = Table("Types, conversions, arrays and ranges", has_effects=False)


@TABLE.row("@as(type, value)")
def _as(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    target, value = node.arguments
    type = ev.type_of(target)
    converts = types.is_numeric(type) or type is types.BOOL or isinstance(type, types.Enum)
    return cast(ev, ev.expr(value, types.Cast(type) if converts else type), type, node)


@TABLE.row("@bitcast(type, value)")
def _bitcast(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    target, value = node.arguments
    return bitcast(ev, ev.expr(value), ev.type_of(target), node)


@TABLE.row("@ptrcast(type, pointer)")
def _ptrcast(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    target, value = node.arguments
    type, pointer = ev.type_of(target), ev.expr(value)
    if not isinstance(type, types.Pointer) or not isinstance(pointer.type, types.Pointer):
        ev.fail(node, f"@ptrcast converts pointers to pointers, not '{pointer.type}' to '{type}'")
    if ev.builder is None and not ev.frame.module.is_library:
        ev.warn(node, "the SDK's compiler does not evaluate @ptrcast at compile time; write it in a function")
    return Value(type, pointer.data)


@TABLE.row("@type_of(value)")
def _type_of(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    if ev.frame.returned is None:
        return Value(types.TYPE, ev.place(argument).type)
    # The argument may be code for run time: it is emitted, and thrown away.
    before = [(local, local.value) for local in ev.live]
    builder, ev.builder = ev.builder, Builder(Block())
    try:
        return Value(types.TYPE, ev.place(argument).type)
    finally:
        ev.builder = builder
        for local, value in before:
            local.value = value


@TABLE.row("@is_same_type(type, other)")
def _is_same_type(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    left, right = node.arguments
    return boolean(ev.type_of(left) == ev.type_of(right))


@TABLE.row("@is_comptime()")
def _is_comptime(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    if ev.is_checking:
        raise Unchecked
    return boolean(ev.builder is None)


@TABLE.row("@fp16()")
def _fp16(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    return Value(types.TYPE, ev.session.fp16)


def _array_type(ev: Evaluator, node: syntax.Expression) -> types.Array:
    type = ev.type_of(node)
    if not isinstance(type, types.Array):
        ev.fail(node, f"this must be an array type, not '{type}'")
    return type


@TABLE.row("@zeros(array_type)")
def _zeros(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    type = _array_type(ev, argument)
    if not types.is_numeric(type.element):
        if types.is_comptime_only(type.element) or not _has_zero(type.element):
            ev.fail(argument, f"@zeros makes arrays of numbers, and there is no zero of type '{type.element}'")
        instead = "@constants(..., false)" if type.element is types.BOOL else "@constants"
        ev.warn(node, f"the SDK's compiler makes @zeros of numbers only, not of '{type.element}'; write {instead}")
    return Value(type, zero(type))


def _has_zero(type: Type) -> bool:
    """Return True if a value whose words are all zero is one of the type."""
    if isinstance(type, types.Enum):
        return 0 in type.names
    if isinstance(type, types.Array):
        return _has_zero(type.element)
    if isinstance(type, types.Struct):
        return all(map(_has_zero, type.types))
    return has_one_register(type) or isinstance(type, types.Union)


@TABLE.row("@constants(array_type, value)")
def _constants(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    target, value = node.arguments
    type = _array_type(ev, target)
    return Value(type, [element_data(type, ev.typed(value, type.element))] * type.count)


@TABLE.row("@dimensions(array_type)")
def _dimensions(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    dims = _array_type(ev, argument).dims
    return Value(types.Array((len(dims),), types.U32), list(dims))


@TABLE.row("@element_count(array_type)")
def _element_count(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    return Value(types.U32, _array_type(ev, argument).count)


@TABLE.row("@element_type(array_type)")
def _element_type(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    return Value(types.TYPE, _array_type(ev, argument).element)


@TABLE.row("@rank(array_type)")
def _rank(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    return Value(types.U16, len(_array_type(ev, argument).dims))


@TABLE.row("@range(type, stop)", "@range(type, start, stop, step)")
def _range(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = node.arguments
    element = ev.type_of(arguments[0])
    if not types.is_integer(element):
        ev.fail(arguments[0], f"a range needs an integer type, not '{element}'")

    def number(node: syntax.Expression, type: Type) -> Value:
        value = ev.expr(node, type)
        if not types.is_integer(value.type):
            ev.fail(node, f"a bound of a range is an integer, not '{value.type}'")
        value = ev.coerce(value, type, node)
        # A known bound must not wrap where the loop computes with it.
        return value if is_ssa(value.data) else Value(types.COMPTIME_INT, value.data)

    if len(arguments) == 2:
        data = RangeData(Value(element, 0), number(arguments[1], element), Value(element, 1))
        return Value(types.Range(element), data)
    # Ranges of unsigned numbers may count down, as in the manual's example @range(u16, 2, 7, -1).
    signed = types.Int(element.bits, True) if isinstance(element, types.Int) else element
    step = ev.expr(arguments[3], element)
    if types.is_integer(step.type) and not is_ssa(step.data) and extremes(step.data)[0] < 0:
        step = ev.coerce(step, signed, arguments[3])
        step = Value(types.COMPTIME_INT, step.data)
    else:
        step = number(arguments[3], element)
    return Value(types.Range(element), RangeData(number(arguments[1], element), number(arguments[2], element), step))


@TABLE.row("@range_start(range)", "@range_stop(range)", "@range_step(range)")
def _range_part(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    value = ev.expr(argument)
    if not isinstance(value.type, types.Range):
        ev.fail(argument, f"@{node.name} takes a range, not '{value.type}'")
    part: Value = getattr(value.data, node.name.removeprefix("range_"))
    element = value.type.element
    return Value(element, part.data if is_ssa(part.data) else ev.fitted(element, part.data))
