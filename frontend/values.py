"""Values of CSL while a program is evaluated.

A `Value` is a type and its data. The data of a scalar (a number, truth value, identifier or enum member) is a Python
number if it is known, a `Column` if it is fixed when the program starts but not the same on all PEs, or an SSA value.
Structs hold a tuple of values, unions their words (`Words`), arrays a flat list of their elements' data, descriptors
an object of `descriptors`. Arrays of `comptime_struct`, which may be structs of several types, hold whole values.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import BlockArgument, OpResult, SSAValue

from ..operations.bit_patterns import identity
from . import types
from .types import Type

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from ..csl.syntax import Function as FunctionNode
    from .modules import Module


class Lanes:
    """Iterations, or PEs, that are evaluated together.

    `parent` and `index` say which lane of the parent each lane came from.
    """

    __slots__ = ("count", "depth", "index", "parent")

    def __init__(self, count: int, parent: Lanes | None = None, index: NDArray[np.int64] | None = None) -> None:
        self.count = count
        self.parent = parent
        self.index = index
        self.depth: int = 0 if parent is None else parent.depth + 1

    def spread(self, column: Column) -> NDArray[Any]:
        """Return the column's value in each of these lanes."""
        lanes: Lanes | None = self
        index: NDArray[np.int64] | None = None
        while lanes is not None and lanes is not column.lanes:
            if lanes.index is not None:
                index = lanes.index if index is None else lanes.index[index]
            lanes = lanes.parent
        assert lanes is not None, "a column is used outside its lanes"
        return column.values if index is None else column.values[index]


class Column:
    """One number for each lane."""

    __slots__ = ("lanes", "values")

    def __init__(self, lanes: Lanes, values: NDArray[Any]) -> None:
        self.lanes = lanes
        self.values = values

    def __repr__(self) -> str:
        return f"Column({self.values!r})"


class Split(Exception):
    """Raised where one value is needed and the lanes have several: they are to be evaluated apart."""

    def __init__(self, column: NDArray[Any]) -> None:
        super().__init__()
        self.column = column


class EmittedAgain(Exception):
    """Raised where a variable turns out to hold what the code that is emitted so far does not expect of it."""


class WidthChanges(EmittedAgain):
    """Raised where a DSD variable is given a DSD over elements of another width than its first one has: code that uses
    it is to be emitted for that width, also what has been emitted before."""

    def __init__(self, symbol: str, place: int, unit: int) -> None:
        super().__init__()
        self.symbol, self.place, self.unit = symbol, place, unit


class ChoiceChanges(EmittedAgain):
    """Raised where a variable is given another fabric DSD than it may hold: code that uses it is to be emitted for all
    of them. `alternatives` are all, with their colors instead of the places of these."""

    def __init__(self, symbol: str, alternatives: tuple[Any, ...]) -> None:
        super().__init__()
        self.symbol, self.alternatives = symbol, alternatives


class Value:
    """A typed value. Immutable: what changes makes a new one."""

    __slots__ = ("data", "type")

    def __init__(self, type: Type, data: Any) -> None:
        self.type = type
        self.data = data

    def __repr__(self) -> str:
        return f"Value({self.type}, {self.data!r})"


class Words(tuple[Value, ...]):
    """A union's data: the 16-bit words it takes in memory. `active` is the variant given last, if that is known."""

    active: int | None = None


def element_data(type: types.Array, value: Value) -> Any:
    """Return what an array keeps of an element: its data, but all of a struct whose type the array does not tell."""
    return value if type.element is types.COMPTIME_STRUCT else value.data


def element_of(type: types.Array, kept: Any) -> Value:
    """Return an element of an array, of what it keeps of it."""
    return kept if isinstance(kept, Value) else Value(type.element, kept)


VOID = Value(types.VOID, None)
NOTHING = Value(types.UNDEFINED, None)
"""What an expression gives that never ends, such as `return`."""


def boolean(data: Any) -> Value:
    return Value(types.BOOL, data)


def string(text: str) -> Value:
    return Value(types.COMPTIME_STRING, text.encode())


def struct(**members: Value) -> Value:
    """Return an anonymous struct."""
    return Value(
        types.Struct(tuple(members), tuple(member.type for member in members.values())), tuple(members.values())
    )


@dataclass(eq=False)
class Callable:
    """A function or task of a module instance."""

    module: Module
    node: FunctionNode

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def is_task(self) -> bool:
        return self.node.keyword == "task"


@dataclass
class Buffer:
    """Memory of the PE with a name; `element` is the type it is declared with in the IR."""

    symbol: str
    element: Type
    count: int


@dataclass
class Address:
    """Where a pointer points: `offset` units of `unit` bytes past `buffer`, or past the byte address `base`."""

    buffer: Buffer | None
    offset: Any = 0
    unit: int = 1
    base: Any = 0


@dataclass
class RangeData:
    start: Value
    stop: Value
    step: Value


@dataclass
class Local:
    """A name in a function. A `var` known at run time only changes its `value` as code is emitted.

    `depth` is the number of lanes it was declared under; `memory` where it lives if its address is taken.
    """

    name: str
    type: Type
    value: Value | None
    mutable: bool
    depth: int = 0
    comptime: bool = True
    memory: Address | None = None
    start: int = 0
    branches: int = 0
    """Run-time branches around its declaration."""
    unknown_because: str | None = None
    """Why its value, though known here, is not comptime-known by the manual's rules; None if it is."""
    owns: bool = False
    """True if nothing else has the list of the array that it holds, so that elements may be changed in place."""


_SSA_VALUES = frozenset((OpResult, BlockArgument))


def is_ssa(data: Any) -> TypeIs[SSAValue]:
    """Return True if data is an SSA value, faster than by isinstance, as SSAValue is an abstract base class."""
    return data.__class__ in _SSA_VALUES


def is_elements(data: Any) -> TypeIs[list[Any]]:
    """Return True if data is that of an array: a list."""
    return isinstance(data, list)


MAX_CONSTANT_BY_CONTENT = 4095
"""Elements of the longest arrays that are compared with others, which takes time."""


def is_by_content(value: Value) -> bool:
    """Return True if a constant is the same as another if both hold the same."""
    return is_elements(value.data) and len(value.data) <= MAX_CONSTANT_BY_CONTENT


def content(data: Any) -> Hashable:
    """Return what the data of constants is equal by, number by number and bit for bit."""
    if isinstance(data, Value):
        return data.type, content(data.data)
    if isinstance(data, list | tuple):
        return tuple(map(content, cast("Sequence[Any]", data)))
    if isinstance(data, Column):
        return data.lanes, identity(data.values)
    return identity(data) if isinstance(data, int | float) else repr(data)


def is_members(data: Any) -> TypeIs[tuple[Value, ...]]:
    """Return True if data is that of a struct or a union: a tuple of values."""
    return isinstance(data, tuple)


def is_known(data: Any) -> bool:
    """Return True if a scalar's data is the same known number in all lanes."""
    kind = data.__class__
    return kind is not Column and kind not in _SSA_VALUES


def known(value: Value) -> bool:
    """Return True if a value is fixed at compile time, though perhaps not the same on all PEs."""
    return _is_fixed(value.data)


def _is_fixed(data: Any) -> bool:
    if isinstance(data, int | float):
        return True
    if is_ssa(data):
        return False
    if is_members(data):
        return all(map(known, data))
    if is_elements(data):
        return all(map(_is_fixed, data))
    if isinstance(data, Value):
        return _is_fixed(data.data)
    if isinstance(data, Address):
        return not (is_ssa(data.offset) or is_ssa(data.base))
    check = getattr(data, "is_known", None)
    return check() if check is not None else True
