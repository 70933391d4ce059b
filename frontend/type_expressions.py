"""The rules of expressions that are types."""

from __future__ import annotations

from ..csl import syntax
from . import emit, linkage, types
from .evaluator import Evaluator
from .registry import expression
from .types import Type
from .values import Value


@expression(syntax.PointerType)
def _pointer_type(ev: Evaluator, node: syntax.PointerType, want: Type | None) -> Value:
    return Value(types.TYPE, types.Pointer(_pointee_type(ev, node.pointee), node.is_const))


def _pointee_type(ev: Evaluator, node: syntax.Expression) -> Type:
    type = ev.type_of(node)
    if types.is_comptime_only(type) and not isinstance(type, types.Function) and type is not types.ANYOPAQUE:
        ev.fail(node, f"a '{type}' exists at compile time only; there are no pointers to such values")
    return type


@expression(syntax.ManyPointerType)
def _many_pointer_type(ev: Evaluator, node: syntax.ManyPointerType, want: Type | None) -> Value:
    return Value(types.TYPE, types.Pointer(_pointee_type(ev, node.element), node.is_const, many=True))


MAX_ARRAY_ELEMENTS = 1 << 24
"""Elements of an array at compile time, many more than a PE's memory holds."""


@expression(syntax.ArrayType)
def _array_type(ev: Evaluator, node: syntax.ArrayType, want: Type | None) -> Value:
    dims: list[int] = []
    for dimension in node.dimensions:
        extent = ev.integer(dimension, "the extent of an array")
        if extent < 0:
            ev.fail(dimension, f"an array of {extent} elements; an extent must be at least 0")
        dims.append(extent)
    element = ev.type_of(node.element)
    if isinstance(element, types.Array):
        ev.fail(node, "an array cannot have arrays as elements; write the extents in one list, [rows, columns]T")
    array = types.Array(tuple(dims), element)
    if array.count > MAX_ARRAY_ELEMENTS:
        words = ev.session.target.memory_bytes // 2
        ev.fail(node, f"an array of {array.count} elements is too large; a PE has {words:,} words of memory")
    return Value(types.TYPE, array)


@expression(syntax.FunctionType)
def _function_type(ev: Evaluator, node: syntax.FunctionType, want: Type | None) -> Value:
    parameters = tuple(ev.type_of(parameter) for parameter in node.parameters)
    return Value(types.TYPE, types.Function(parameters, ev.type_of(node.result), node.keyword == "task"))


@expression(syntax.StructType)
def _struct_type(ev: Evaluator, node: syntax.StructType, want: Type | None) -> Value:
    names = tuple(member.name for member in node.members)
    for n, member in enumerate(node.members):
        if member.name in names[:n]:
            ev.fail(member, f"field '{member.name}' is declared twice")
    inner = tuple(ev.type_of(member.type) for member in node.members)
    kind = types.Union if node.keyword == "union" else types.Struct
    type = kind(names, inner, (ev.source.path, node.start), node.layout)
    for member, field in zip(node.members, inner, strict=True):
        _check_field(ev, member, type, field)
    if isinstance(type, types.Union):
        _check_union(ev, node, type)
    return Value(types.TYPE, type)


def _check_field(ev: Evaluator, member: syntax.FieldDeclaration, type: types.Record, field: Type) -> None:
    """Raise CslError if a field's type has no bits, as what is packed, shared or a variant must have."""
    if type.layout == "packed" and types.bit_width(field) is None:
        ev.fail(
            member, f"a '{field}' cannot be packed; use numbers, bool, enums, pointers, and packed structs and unions"
        )
    if type.layout == "extern" and not linkage.is_shareable(field):
        ev.fail(member, f"a '{field}' has no layout outside CSL, which 'extern' requires; use numbers and extern types")
    if isinstance(type, types.Union) and not (_has_words(field) or types.is_comptime_only(type)):
        ev.fail(member, f"a '{field}' as a variant of a union is not supported; use numbers and structs of them")


def _has_words(type: Type) -> bool:
    """Return True if a value can be put together again from its words."""
    if isinstance(type, types.Array):
        return _has_words(type.element)
    if isinstance(type, types.Record):
        return all(map(_has_words, type.types))
    return emit.has_one_register(type)


def _check_union(ev: Evaluator, node: syntax.StructType, type: types.Union) -> None:
    if not type.types:
        ev.fail(node, "a union needs at least one variant")
    widths = [types.bit_width(field) for field in type.types]
    if type.layout == "packed" and len(set(widths)) > 1:
        shown = ", ".join(f"{name} {width}" for name, width in zip(type.names or (), widths, strict=True))
        ev.fail(node, f"the variants of a packed union must have the same number of bits, but have: {shown}")


@expression(syntax.EnumType)
def _enum_type(ev: Evaluator, node: syntax.EnumType, want: Type | None) -> Value:
    underlying = types.U16 if node.underlying is None else ev.type_of(node.underlying)
    if not isinstance(underlying, types.Int):
        ev.fail(node, f"members of an enum are numbers of an integer type, not '{underlying}'")
    given: dict[str, int] = {}
    for member in node.members:
        if member.value is not None:
            number = ev.integer(member.value, "the number of an enum's member")
            if number in given.values():
                ev.fail(member, f"two members have the number {number}; numbers must be unique")
            if not underlying.holds(number):
                ev.fail(member, f"{number} does not fit in '{underlying}'")
            given[member.name] = number
    members: list[tuple[str, int]] = []
    taken, following = set(given.values()), 0
    for member in node.members:
        if any(member.name == name for name, _ in members):
            ev.fail(member, f"member '{member.name}' is declared twice")
        if member.name in given:
            members.append((member.name, given[member.name]))
            continue
        while following in taken:
            following += 1
        members.append((member.name, following))
        following += 1
    return Value(types.TYPE, types.Enum(underlying, tuple(members), (ev.source.path, node.start)))


@expression(syntax.AnyType)
def _any_type(ev: Evaluator, node: syntax.AnyType, want: Type | None) -> Value:
    ev.fail(node, "'anytype' can only be the type of a parameter")
