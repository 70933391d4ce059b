"""The rules of expressions that name places: names, elements, fields, what pointers point to; and assignment."""

from __future__ import annotations

from typing import Any

from ..csl import syntax
from . import recovery, types
from .addresses import HeldAddress, linear, moved
from .errors import Mistyped
from .evaluator import Evaluator, suggestion
from .global_variables import global_place
from .leaves import zero
from .modules import Module
from .places import Held, Memory, Overlay, Place, Temporary, index_word
from .registry import BUILTINS, check_count, expression, place
from .types import Type
from .values import Address, Local, Value, boolean

CONSTANTS: dict[str, Value] = {
    "true": boolean(True),
    "false": boolean(False),
    **{name: Value(types.DIRECTION, number) for number, name in enumerate(types.DIRECTIONS)},
    **{name: Value(types.TYPE, type) for name, type in types.UNIVERSE.items()},
}
"""Names that are known everywhere."""


@expression(syntax.Name)
@expression(syntax.Index)
@expression(syntax.Field)
@expression(syntax.Dereference)
def _place_value(ev: Evaluator, node: Any, want: Type | None) -> Value:
    return ev.place(node).load(ev, node)


@place(syntax.Node)
def _temporary(ev: Evaluator, node: syntax.Node) -> Place:
    return Temporary(ev.expr(node))


@place(syntax.Builtin)
def _builtin_place(ev: Evaluator, node: syntax.Builtin) -> Place:
    if node.name != "field":
        return Temporary(ev.expr(node))
    check_count(ev, BUILTINS["@field"], node)
    return _member(ev, ev.place(node.arguments[0]), ev.text(node.arguments[1], "the name of a field"), node)


@place(syntax.Name)
def _name(ev: Evaluator, node: syntax.Name) -> Place:
    local = ev.frame.find(node.name)
    if local is not None:
        return local_place(local)
    found = ev.frame.module.globals.get(node.name)
    if found is not None:
        return global_place(ev, found, node)
    constant = CONSTANTS.get(node.name)
    if constant is not None:
        return Temporary(constant)
    if node.name[:1] in ("i", "u") and node.name[1:].isdecimal() and node.name.isascii():
        return Temporary(Value(types.TYPE, _integer_type(ev, node)))
    error = Mistyped(ev.error(node, f"'{node.name}' is not declared{_similar(ev, node.name)}").diagnostics)
    raise error if ev.mistakes is None else ev.mistakes.of_undeclared(ev.source, node.name, error)


def _integer_type(ev: Evaluator, node: syntax.Name) -> types.Int:
    """Return the type `uN` or `iN` (Types, Arbitrary-Width Integer Types)."""
    # Nine digits are too many already, and Python converts only so many.
    bits = int(node.name[1:10])
    if bits > types.MAX_INTEGER_BITS:
        ev.fail(node, f"there are no integers of {node.name[1:]} bits; use 0 to {types.MAX_INTEGER_BITS}")
    return types.Int(bits, node.name[0] == "i")


def _similar(ev: Evaluator, name: str) -> str:
    names = [*ev.frame.module.globals, *CONSTANTS, *(n for scope in ev.frame.scopes for n in scope)]
    return suggestion(name, names) or "; declare it, or import the module that does"


def local_place(local: Local) -> Place:
    if local.memory is not None:
        return Memory(local.memory, local.type, const=not local.mutable)
    if local.value is None:
        recovery.check(local.type)
        local.value = Value(local.type, zero(local.type))
    return Held(local, local.value.type if local.type is types.COMPTIME_STRUCT else local.type)


@place(syntax.Index)
def _index(ev: Evaluator, node: syntax.Index) -> Place:
    base = ev.place(node.base)
    type = base.type
    indices = [index_word(ev, ev.expr(index), index) for index in node.indices]
    if isinstance(type, types.Pointer):
        if type.many:
            if len(indices) != 1:
                ev.fail(node, f"'{type}' takes one index, not {len(indices)}")
            where = base.load(ev, node.base).data
            if isinstance(where, HeldAddress):
                held = _held(ev, where, type, node)
                if isinstance(held, Held) and isinstance(held.type, types.Array):
                    return held.element(ev, linear(ev, held.type, indices, node.indices), node)
                return held.element(ev, indices[0], node)
            return _pointed(ev, moved(ev, _as_address(where), indices[0], types.size(type.target)), type)
        if isinstance(type.target, types.Array):
            _warn_of_pointer(ev, node, type, "[i]")
            base = _pointee(ev, base.load(ev, node.base).data, type, node)
            type = type.target
    if isinstance(type, types.Struct) and type.names is None:
        index = ev.data(Value(types.COMPTIME_INT, indices[0]), node.indices[0], "an index of a tuple")
        if len(indices) != 1 or not 0 <= index < len(type.types):
            ev.fail(node, f"index {index} is outside the tuple, which has {len(type.types)} elements")
        return base.field(ev, index, node)
    if not isinstance(type, types.Array):
        ev.fail(node, f"a value of type '{type}' has no elements")
    if len(indices) != len(type.dims):
        ev.fail(node, f"'{type}' has {len(type.dims)} dimensions, but there are {len(indices)} indices")
    return base.element(ev, linear(ev, type, indices, node.indices), node)


def _warn_of_pointer(ev: Evaluator, node: syntax.Node, type: types.Pointer, part: str) -> None:
    """Warn of a part taken of a pointer to one value, which the manual only lets be dereferenced (Types)."""
    ev.warn(node, f"the SDK's compiler only dereferences a '{type}'; write '.*{part}'")


def _as_address(data: Any) -> Address:
    """Return a pointer's data; what was loaded from memory is a word."""
    return data if isinstance(data, Address) else Address(None, 0, 1, data)


def function_at(data: Any) -> Any:
    """Return the function a pointer's data stands for: itself, or its number at run time."""
    return data.base if isinstance(data, Address) else data


def _pointed(ev: Evaluator, where: Address, type: types.Pointer) -> Memory:
    return Memory(where, type.target, type.const)


@place(syntax.Dereference)
def _dereference(ev: Evaluator, node: syntax.Dereference) -> Place:
    value = ev.expr(node.pointer)
    type = value.type
    if not isinstance(type, types.Pointer):
        ev.fail(node, f"'.*' needs a pointer, not a value of type '{type}'")
    if type.many:
        ev.fail(node, f"'{type}' points to an unknown number of elements; select one with [index]")
    if isinstance(type.target, types.Function):
        return Temporary(Value(type.target, function_at(value.data)))
    return _pointee(ev, value.data, type, node)


def _pointee(ev: Evaluator, data: Any, type: types.Pointer, node: syntax.Node) -> Place:
    """Return what a pointer points to."""
    if isinstance(data, HeldAddress):
        return _held(ev, data, type, node)
    return Memory(_as_address(data), type.target, type.const)


def _held(ev: Evaluator, where: HeldAddress, type: types.Pointer, node: syntax.Node) -> Place:
    """Return the place a pointer of a type points to at compile time: the variable, or its bytes as another type."""
    held: Held | Overlay | None = where.place
    if held is None or where.offset != 0:
        ev.fail(node, "this pointer points outside the variable it was derived from, which exists at compile time only")
    if type.many:
        same = isinstance(held.type, types.Array) and len(held.type.dims) == 1 and held.type.element == type.target
    else:
        same = held.type == type.target
    if same and isinstance(held, Held):
        return held
    whole, offset = held.beginning() if isinstance(held, Held) else (held.whole, held.offset)
    return Overlay(whole, offset, type.target)


@place(syntax.Field)
def _field(ev: Evaluator, node: syntax.Field) -> Place:
    base = ev.place(node.base)
    if base.type is types.MODULE:
        module: Module = base.load(ev, node).data
        found = module.globals.get(node.name)
        if found is None:
            advice = suggestion(node.name, module.globals) or "; look for its name there"
            ev.fail(node, f"module '{module.library or module.path.name}' does not declare '{node.name}'{advice}")
        return global_place(ev, found, node)
    return _member(ev, base, node.name, node)


def _member(ev: Evaluator, base: Place, name: str, node: syntax.Node) -> Place:
    type = base.type
    if type is types.COMPTIME_STRUCT:
        base = Temporary(base.load(ev, node))
        type = base.type
    if isinstance(type, types.Pointer) and isinstance(type.target, types.Record) and not type.many:
        _warn_of_pointer(ev, node, type, f".{name}")
        base = _pointee(ev, base.load(ev, node).data, type, node)
        type = type.target
    if type is types.TYPE:
        enum = base.load(ev, node).data
        if isinstance(enum, types.Enum):
            number = enum.values.get(name)
            if number is None:
                ev.fail(node, f"'{enum}' has no member '{name}'")
            return Temporary(Value(enum, number))
    if isinstance(type, types.Record):
        position = type.index(name)
        if position is not None:
            return base.field(ev, position, node)
        have = f"it has: {', '.join(type.names)}" if type.names else "it is a tuple; use an index"
        ev.fail(node, f"there is no field '{name}' in this struct; {have}")
    ev.fail(node, f"a value of type '{type}' has no fields")


def assign(ev: Evaluator, target: syntax.Node, value: Value, node: syntax.Node) -> None:
    """Emit `target = value`."""
    where = ev.place(target)
    if isinstance(where, Held) and where.type is types.COMPTIME_STRUCT and isinstance(value.type, types.Struct):
        where.store(ev, value, target)
        return
    held = where.holder if isinstance(where, Held) else None
    if held is not None and not where.path and held.type is types.COMPTIME_STRUCT:  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        where.store(ev, ev.coerce(value, types.COMPTIME_STRUCT, node), target)
        return
    where.store(ev, ev.coerce(value, where.type, node), target)
