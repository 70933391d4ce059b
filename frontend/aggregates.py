"""The rules of values written with braces."""

from __future__ import annotations

from ..csl import syntax
from . import packing, types
from .evaluator import Evaluator
from .registry import expression
from .types import Type
from .values import Value, element_data


@expression(syntax.Aggregate)
def _aggregate(ev: Evaluator, node: syntax.Aggregate, want: Type | None) -> Value:
    if node.type is None:
        if node.members:
            return _anonymous(ev, node, want)
        if isinstance(want, types.Struct) and want.names is not None and not node.elements:
            want = None
        inner = want.types if isinstance(want, types.Struct) and len(want.types) == len(node.elements) else None
        values = [ev.expr(e, inner[n] if inner else None) for n, e in enumerate(node.elements)]
        return Value(types.Struct(None, tuple(value.type for value in values)), tuple(values))
    type = ev.type_of(node.type)
    match type:
        case types.Array():
            return _array(ev, node, type)
        case types.Struct():
            return _named(ev, node, type)
        case types.Union():
            return _union(ev, node, type)
        case _:
            ev.fail(node, f"a value of type '{type}' cannot be written with braces")


def _anonymous(ev: Evaluator, node: syntax.Aggregate, want: Type | None) -> Value:
    names: list[str] = []
    values: list[Value] = []
    for member in node.members:
        if member.name in names:
            ev.fail(member, f"field '{member.name}' is given twice")
        names.append(member.name)
        inner = None
        if isinstance(want, types.Struct) and (position := want.index(member.name)) is not None:
            inner = want.types[position]
        values.append(ev.expr(member.value, inner))
    return Value(types.Struct(tuple(names), tuple(value.type for value in values)), tuple(values))


def _array(ev: Evaluator, node: syntax.Aggregate, type: types.Array) -> Value:
    if node.members:
        ev.fail(node, f"elements of '{type}' have no names")
    if len(node.elements) != type.count:
        ev.fail(node, f"'{type}' has {type.count} elements, but {len(node.elements)} are given")
    return Value(type, [element_data(type, ev.typed(member, type.element)) for member in node.elements])


def _named(ev: Evaluator, node: syntax.Aggregate, type: types.Struct) -> Value:
    given = {member.name: member for member in node.members}
    for member in node.members:
        if type.index(member.name) is None:
            ev.fail(member, f"'{type}' has no field '{member.name}'")
    members: list[Value] = []
    for name, inner in zip(type.names or (), type.types, strict=True):
        if name not in given:
            ev.fail(node, f"field '{name}' of '{type}' is missing")
        members.append(ev.typed(given[name].value, inner))
    return Value(type, tuple(members))


def _union(ev: Evaluator, node: syntax.Aggregate, type: types.Union) -> Value:
    if len(node.members) != 1 or node.elements:
        ev.fail(node, f"a value of '{type}' is written with one of its variants, {{ .name = value }}")
    (member,) = node.members
    position = type.index(member.name)
    if position is None:
        ev.fail(member, f"'{type}' has no field '{member.name}'")
    return packing.union(ev, type, position, ev.typed(member.value, type.types[position]), member)
