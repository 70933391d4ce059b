"""Fast construction of operations of which programs have many, and attributes that they share.

xDSL's own way matches every operand, result and property with the definition of the operation, which takes longer than
all that a front end or pass does for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import AttrSizedOperandSegments

_TypeT = TypeVar("_TypeT", bound=Attribute)


def build(
    op: Operation,
    operands: Sequence[SSAValue],
    results: Sequence[Attribute],
    properties: Mapping[str, Attribute | None],
    segments: tuple[int, ...] | None = None,
    attributes: Mapping[str, Attribute] | None = None,
    body: Region | None = None,
) -> None:
    """Fill a new operation; a property that is None is left out.

    `segments` says how many of the operands each operand of the definition has, where several are variadic.
    """
    given = {name: value for name, value in properties.items() if value is not None}
    if segments is not None:
        given[AttrSizedOperandSegments.attribute_name] = _segments(segments)
    regions = () if body is None else (body,)
    Operation.__init__(
        op, operands=operands, result_types=results, properties=given, attributes=attributes or {}, regions=regions
    )


# Attributes are values that never change, so one of each is enough.


@lru_cache(maxsize=256)
def _segments(sizes: tuple[int, ...]) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(i32, sizes)


_UNIT = UnitAttr()


def flag(given: bool) -> UnitAttr | None:
    """Return what a property that is there or not is set to."""
    return _UNIT if given else None


@lru_cache(maxsize=4096)
def integers(numbers: tuple[int, ...]) -> DenseArrayBase[IntegerType]:
    """Return a list of 64-bit integers."""
    return DenseArrayBase.from_list(i64, numbers)


@lru_cache(maxsize=4096)
def integer(number: int) -> IntegerAttr[IntegerType]:
    """Return a 64-bit integer."""
    return IntegerAttr(number, i64)


@lru_cache(maxsize=4096)
def symbol(name: str) -> SymbolRefAttr:
    """Return the name of something defined elsewhere."""
    return SymbolRefAttr(name)


@lru_cache(maxsize=4096)
def member(owner: str, name: str) -> SymbolRefAttr:
    """Return the name of something defined inside something else."""
    return SymbolRefAttr(owner, [name])


@lru_cache(maxsize=1024)
def array(members: tuple[_TypeT, ...]) -> ArrayAttr[_TypeT]:
    """Return an array of attributes."""
    return ArrayAttr(members)


@lru_cache(maxsize=256)
def of_elements(kind: Callable[[Attribute], _TypeT], element: Attribute) -> _TypeT:
    """Return the type of a kind of descriptors or streams with these elements."""
    return kind(element)


@lru_cache(maxsize=4096)
def string(text: str) -> StringAttr:
    """Return a string."""
    return StringAttr(text)
