"""What the arguments of a call fix of the code of a function: calls that agree in it share the code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from ..csl import syntax
from ..operations.bit_patterns import identity
from . import types
from .leaves import leaves, rebuild, zero
from .types import Type
from .values import Address, Callable, Column, Value, is_ssa


def same(one: Value, other: Value) -> bool:
    """Return True if two values are certainly equal."""
    return one.type == other.type and _same_data(one.data, other.data)


def _same_items(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return len(one) == len(other) and all(map(_same_data, one, other))


def _same_data(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if is_ssa(one) or is_ssa(other) or type(one) is not type(other):
        return False
    match one:
        case Value():
            return same(one, other)
        case tuple() | list():
            return _same_items(cast("Sequence[Any]", one), cast("Sequence[Any]", other))
        case Column():
            return one.lanes is other.lanes and identity(one.values) == identity(other.values)
        case Callable():
            return one.module is other.module and one.node is other.node
        case _:
            return identity(one) == identity(other)


def blank(value: Value) -> Value:
    """Return a value like `value` that holds zeros, whatever of it changes at run time."""
    return rebuild(value, [_blank(leaf.type, leaf.data) for leaf in leaves(value)])


def _blank(type: Type, data: Any) -> Any:
    if not isinstance(data, Address):
        return zero(type)
    return Address(None, 0, 1, 0) if is_ssa(data.base) else replace(data, offset=0)


def fixed(function: Callable, arguments: Sequence[Value]) -> list[Value | Type | None]:
    """Return what specializes a function for each argument: None, the type, or the value."""

    def one(parameter: syntax.Parameter, value: Value) -> Value | Type | None:
        if parameter.is_comptime or types.is_comptime_only(value.type):
            return value
        return value.type if isinstance(parameter.type, syntax.AnyType) else None

    return [one(*pair) for pair in zip(function.node.parameters, arguments, strict=True)]


def agree(function: Callable, one: Sequence[Value], other: Sequence[Value]) -> bool:
    """Return True if two calls of a function have the same code."""
    return all(
        same(left, right) if isinstance(left, Value) and isinstance(right, Value) else left == right
        for left, right in zip(fixed(function, one), fixed(function, other), strict=True)
    )


@dataclass(eq=False)
class OutlinedFunction:
    """A function that calls itself otherwise than in tail position, with what is known of it at compile time."""

    function: Callable
    arguments: list[Value]
    """Those of the first call: they fix the code, and what of a DSD cannot change at run time."""
    symbol: str
