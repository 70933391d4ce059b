"""Builtins of structs and strings."""

from __future__ import annotations

from ...csl import syntax
from .. import types
from ..evaluator import Evaluator
from ..registry import Table
from ..types import Type
from ..values import Value, boolean

TABLE = Table("Structs and strings", has_effects=False)


MAX_STRING_LENGTH = 1 << 24
MAX_FIELDS = 1 << 12


@TABLE.row("@concat_structs(struct, other)", dropped="2.10")
def _concat_structs(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    left, right = (ev.expr(argument) for argument in node.arguments)
    if not isinstance(left.type, types.Struct) or not isinstance(right.type, types.Struct):
        ev.fail(node, f"@concat_structs joins structs, not '{left.type}' and '{right.type}'")
    for side in (left.type, right.type):
        if side.origin is not None:
            ev.warn(node, f"the SDK's compiler joins anonymous structs, not '{side}'; write its fields as .{{ ... }}")
    if not left.data:
        return right
    if not right.data:
        return left
    if len(left.data) + len(right.data) > MAX_FIELDS:
        ev.fail(node, f"a struct of {len(left.data) + len(right.data)} fields is too large; check that this loop ends")
    if (left.type.names is None) != (right.type.names is None):
        ev.fail(node, "@concat_structs joins two structs with names or two tuples, not one of each")
    names = None
    if left.type.names is not None and right.type.names is not None:
        both = set(left.type.names) & set(right.type.names)
        if both:
            ev.fail(node, f"both structs have a field '{sorted(both)[0]}'; rename one")
        names = (*left.type.names, *right.type.names)
    return Value(types.Struct(names, (*left.type.types, *right.type.types)), (*left.data, *right.data))


@TABLE.row("@field(struct, name)", takes="a struct and the name of a field")
def _field(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    return ev.place(node).load(ev, node)


@TABLE.row("@has_field(struct, name)")
def _has_field(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    value, name = node.arguments
    type = ev.expr(value).type
    if not isinstance(type, types.Record):
        ev.warn(value, f"the SDK's compiler takes @has_field of structs only, not of '{type}'")
        return boolean(False)
    return boolean(type.index(ev.text(name, "the name of a field")) is not None)


def bytes_of(ev: Evaluator, node: syntax.Expression) -> bytes:
    value = ev.expr(node)
    if value.type is not types.COMPTIME_STRING:
        ev.fail(node, f"this must be a string, not '{value.type}'")
    return value.data


@TABLE.row("@loom_other_field(struct, names)")
def _other_field(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Return the name of a field that is none of those in a list, separated by blanks; empty if there is none."""
    value, names = ev.expr(node.arguments[0]), ev.text(node.arguments[1], "names of fields").split()
    fields = value.type.names or () if isinstance(value.type, types.Struct) else ()
    other = next((name for name in fields if name not in names), "")
    return Value(types.COMPTIME_STRING, other.encode())


@TABLE.row("@strlen(string)")
def _strlen(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    return Value(types.COMPTIME_INT, len(bytes_of(ev, argument)))


@TABLE.row("@strcat([string...])")
def _strcat(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    text = b"".join(bytes_of(ev, argument) for argument in node.arguments)
    if len(text) > MAX_STRING_LENGTH:
        ev.fail(node, f"a string of {len(text)} bytes is too long; check that this loop ends")
    return Value(types.COMPTIME_STRING, text)


@TABLE.row("@get_array(string)")
def _get_array(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    text = bytes_of(ev, argument)
    return Value(types.Array((len(text),), types.U8), list(text))


@TABLE.row("@get_string_from_byte(byte)")
def _get_string_from_byte(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    number = ev.integer(argument, "a byte")
    if not 0 <= number <= 255:
        ev.fail(argument, f"{number} is not a byte; a byte is 0 to 255")
    return Value(types.COMPTIME_STRING, bytes([number]))
