"""The scalars that a value consists of at run time, and values made of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..operations.bit_patterns import identity
from . import types
from .types import Type
from .values import Address, Value, Words, is_members, is_ssa


@dataclass
class Leaf:
    """One SSA value's worth of a value: a scalar, or the run-time part of an address."""

    type: Type
    data: Any

    def same(self, other: Leaf) -> bool:
        if is_ssa(self.data) or is_ssa(other.data):
            return self.data is other.data
        return type(self.data) is type(other.data) and identity(self.data) == identity(other.data)


def leaves(value: Value) -> list[Leaf]:
    """Return the scalars a value consists of at run time."""
    data = value.data
    if is_members(data):
        return [leaf for member in data for leaf in leaves(member)]
    if isinstance(value.type, types.Array):
        return [Leaf(value.type.element, item) for item in data]
    if isinstance(value.type, types.Descriptor) and data is not None:
        return [Leaf(types.U16, part) for part in data.parts()]
    return [Leaf(value.type, data)]


def rebuild(value: Value, data: list[Any]) -> Value:
    """Return a value like `value` made of other leaves' data; takes them off the front of the list."""
    if is_members(value.data):
        return Value(value.type, tuple(rebuild(member, data) for member in value.data))
    if isinstance(value.type, types.Array):
        return Value(value.type, [data.pop(0) for _ in value.data])
    if isinstance(value.type, types.Descriptor) and value.data is not None:
        count = len(value.data.parts())
        parts = [data.pop(0) for _ in range(count)]
        return Value(value.type, value.data.with_parts(parts))
    return Value(value.type, data.pop(0))


def zero(type: Type) -> Any:
    """Return the data of a variable that has not been given a value."""
    match type:
        case types.Pointer():
            return Address(None, 0, 1, 0)
        case types.Float() | types.COMPTIME_FLOAT:
            return 0.0
        case types.BOOL:
            return False
        case types.Array():
            return [zero(type.element)] * type.count
        case types.Union() if types.is_comptime_only(type):
            return Words()
        case types.Union():
            return Words([Value(types.U16, 0)] * types.words_used(type))
        case types.Struct():
            return tuple(Value(member, zero(member)) for member in type.types)
        case _:
            return 0
