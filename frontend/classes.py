"""Unit classes: PEs that run the same code with params that are the same wherever compile time needs them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..operations.bit_patterns import are_all_same
from . import types
from .builtins.layout import Tiles
from .descriptors import FabricDescriptor
from .scalars import column, one
from .types import Type
from .values import Column, Lanes, Value, content, element_data, element_of, is_elements, is_members

MAX_MERGED_ELEMENTS = 16
"""Numbers of the longest arrays that are merged number by number; PEs whose longer arrays differ are apart at once."""


@dataclass
class Spread:
    """A scalar with one number for each PE of a class."""

    values: NDArray[Any]


@dataclass
class UnitClass:
    """PEs with one file and params of one shape; scalars of `params` may be `Spread`."""

    path: Path
    columns: NDArray[np.int64]
    rows: NDArray[np.int64]
    params: Value
    tiles: Tiles
    held: dict[str, list[FabricDescriptor]] = field(default_factory=dict[str, list[FabricDescriptor]])
    """The fabric DSDs that the variables in a memory hold, by its symbol, where which one is known at run time only."""

    def select(self, index: NDArray[np.int64]) -> UnitClass:
        """Return some of the PEs."""

        def one(data: Any) -> Any:
            return _reduced(data.values[index]) if isinstance(data, Spread) else data

        return UnitClass(self.path, self.columns[index], self.rows[index], _mapped(self.params, one), self.tiles)

    def bindings(self, lanes: Lanes) -> dict[str, Value]:
        """Return the params, their differing numbers as columns."""

        def one(data: Any) -> Any:
            return column(lanes, data.values) if isinstance(data, Spread) else data

        params = _mapped(self.params, one)
        assert isinstance(params.type, types.Struct)
        return dict(zip(params.type.names or (), params.data, strict=True))


def _is_number(type: Type) -> bool:
    return types.is_numeric(type) or type is types.BOOL or isinstance(type, types.Identifier | types.Enum)


def _differs(data: Any) -> bool:
    """Return True if there are numbers in this that are not the same on all PEs."""
    if is_elements(data):
        return any(map(_differs, data))
    if isinstance(data, Value):
        return _differs(data.data)
    if is_members(data):
        return any(_differs(member.data) for member in data)
    return isinstance(data, Column | Spread)


def _is_short(value: Value) -> bool:
    """Return True for the arrays of numbers that are merged number by number, as those of directions."""
    type = value.type
    return isinstance(type, types.Array) and _is_number(type.element) and type.count <= MAX_MERGED_ELEMENTS


def _mapped(value: Value, function: Any) -> Value:
    """Return the value with a function applied to the data of each number in its structs, and in arrays that are short
    or differ."""
    data = value.data
    if is_members(data):
        return Value(value.type, tuple(_mapped(member, function) for member in data))
    if is_elements(data):
        if not _is_short(value) and not _differs(data):
            return value
        type = value.type
        assert isinstance(type, types.Array)
        return Value(type, [element_data(type, _mapped(element_of(type, kept), function)) for kept in data])
    if _is_number(value.type):
        return Value(value.type, function(data))
    return value


def _numbers(value: Value, found: list[Any]) -> list[Any]:
    """Return the data of the numbers `_mapped` visits, in its order."""
    _mapped(value, found.append)
    return found


def _shape(value: Value) -> Any:
    """Return what must be the same in all PEs of a class: everything but the numbers."""
    if is_members(value.data):
        return (value.type, tuple(map(_shape, value.data)))
    if _is_number(value.type) or _is_short(value):
        return value.type
    data = value.data
    if _differs(data):
        return (value.type, "numbers")
    if is_elements(data):
        return (value.type, content(data))
    return (value.type, data if data.__hash__ is not None and isinstance(data, bytes | Type) else id(data))


def _reduced(values: NDArray[Any]) -> Any:
    if are_all_same(values):
        return one(values, 0)
    return Spread(values)


def group(tiles: list[Tiles]) -> list[UnitClass]:
    """Return as few classes as the shapes of the params allow."""
    together: dict[Any, list[Tiles]] = {}
    for item in tiles:
        # One file is one program, by whatever path; what it imports is looked for beside it.
        place = (os.path.realpath(item.path), os.path.realpath(item.path.parent))
        together.setdefault((place, _shape(item.params)), []).append(item)
    classes: list[UnitClass] = []
    for members in together.values():
        per_member = [_numbers(member.params, []) for member in members]
        merged: list[Any] = []
        for position in range(len(per_member[0])):
            parts: list[NDArray[Any]] = []
            for member, numbers in zip(members, per_member, strict=True):
                number = numbers[position]
                lanes = member.effect.lanes
                if isinstance(number, Column):
                    parts.append(lanes.spread(number))
                else:
                    kind = np.bool_ if isinstance(number, bool) else np.float64 if isinstance(number, float) else None
                    if kind is None:
                        kind = np.int64 if -(1 << 63) <= number < 1 << 63 else object
                    parts.append(np.full(lanes.count, number, kind))
            merged.append(_reduced(np.concatenate(parts)))
        columns = np.concatenate([member.columns for member in members])
        rows = np.concatenate([member.rows for member in members])
        supply = iter(merged)

        def take(_: Any, supply: Iterator[Any] = supply) -> Any:
            return next(supply)

        params = _mapped(members[0].params, take)
        classes.append(UnitClass(members[0].path, columns, rows, params, members[0]))
    return classes
