"""DSD values while a program is evaluated: their fields, each known or an i16 at run time."""

from __future__ import annotations

from collections.abc import Callable as Function
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ..targets.wavelets import MAX_DIMENSIONS
from . import types
from .types import Type
from .values import Address, is_ssa


def _known(*fields: Any) -> bool:
    return not any(is_ssa(item) for item in fields)


@dataclass
class MemoryDescriptor:
    """A mem1d or mem4d DSD: `strides` innermost first, `extents` outermost first, both in elements.

    `unit` is the words of an element, as the array it was made over has them; an operation with elements of another
    width takes its own. One dimension for a mem1d.
    """

    address: Address
    strides: tuple[Any, ...]
    extents: tuple[Any, ...]
    unit: int
    wavelet_index_offset: bool = False
    multidimensional: bool = False
    """A mem4d DSD, whose number of dimensions may change at run time."""
    element: Type | None = None
    """The type of the array's elements, None if nothing says it."""

    def is_known(self) -> bool:
        return _known(self.address.offset, self.address.base, *self.strides, *self.extents)

    def parts(self) -> list[Any]:
        """Return the fields that may change at run time, all i16; of a mem4d DSD, those of all its dimensions."""
        missing = MAX_DIMENSIONS - len(self.strides) if self.multidimensional else 0
        # A dimension that never advances; its stride is where an operation leaves off (DSR-067).
        return [self.address, *self.strides, *self.strides[-1:] * missing, *(1,) * missing, *self.extents]

    def with_parts(self, parts: list[Any]) -> MemoryDescriptor:
        count = (len(parts) - 1) // 2
        strides, extents = tuple(parts[1 : 1 + count]), tuple(parts[1 + count :])
        own = len(self.strides)
        missing = count - own
        if all(not is_ssa(extent) and extent == 1 for extent in extents[:missing]) and all(
            stride is strides[own - 1] or (_known(stride, strides[own - 1]) and stride == strides[own - 1])
            for stride in strides[own:]
        ):
            strides, extents = strides[:own], extents[missing:]
        return replace(self, address=parts[0], strides=strides, extents=extents)

    def like(self, other: object) -> bool:
        """Return True if the fields that cannot change at run time are the same."""
        return (
            isinstance(other, MemoryDescriptor)
            and self.multidimensional == other.multidimensional
            and self.unit == other.unit
            and self.wavelet_index_offset == other.wavelet_index_offset
        )


@dataclass
class CircularDescriptor:
    """A circbuf DSD over a whole array."""

    address: Address
    extent: Any
    wraparound: Any
    unit: int

    def is_known(self) -> bool:
        return _known(self.extent, self.wraparound)

    def parts(self) -> list[Any]:
        return [self.extent]

    def with_parts(self, parts: list[Any]) -> CircularDescriptor:
        return replace(self, extent=parts[0])

    def like(self, other: object) -> bool:
        return isinstance(other, CircularDescriptor) and self.address == other.address


@dataclass
class FabricDescriptor:
    """A fabin or fabout DSD. `queue` is an id; one left out is chosen by a pass.

    `color` is the place of its color among those of the PE program (`PeProgram.color_place`), so that programs that
    differ in colors alone may share what they emit; in the layout, which is no PE's program, the color itself.
    """

    output: bool
    extent: Any
    queue: int | None
    color: int | None
    options: tuple[tuple[str, Any], ...] = ()
    """Attributes of the IR operation, by name."""

    def is_known(self) -> bool:
        return _known(self.extent)

    def parts(self) -> list[Any]:
        return [self.extent]

    def with_parts(self, parts: list[Any]) -> FabricDescriptor:
        return replace(self, extent=parts[0])

    def like(self, other: object) -> bool:
        return isinstance(other, FabricDescriptor) and replace(self, extent=0) == replace(other, extent=0)


@dataclass
class FabricChoice:
    """One of several fabin or fabout DSDs, which of them is known at run time only.

    `chosen` is its number among those that the PE program chooses from (`PeProgram.choice_number`).
    """

    alternatives: Alternatives
    """Those that it may be, by their numbers, and without an extent."""
    extent: Any
    chosen: Any

    @property
    def output(self) -> bool:
        return self.alternatives[0][1].output

    def is_known(self) -> bool:
        return _known(self.extent, self.chosen)

    def parts(self) -> list[Any]:
        return [self.extent, self.chosen]

    def with_parts(self, parts: list[Any]) -> FabricChoice:
        return replace(self, extent=parts[0], chosen=parts[1])

    def like(self, other: object) -> bool:
        return isinstance(other, FabricChoice) and self.alternatives == other.alternatives


Alternatives: TypeAlias = tuple[tuple[int, FabricDescriptor], ...]
FABRIC = FabricDescriptor | FabricChoice


def alternatives_of(data: FABRIC, number: Function[[FabricDescriptor], int]) -> Alternatives:
    """Return what a fabric DSD may be; `number` gives the number of an alternative."""
    if isinstance(data, FabricChoice):
        return data.alternatives
    descriptor = replace(data, extent=0)
    return ((number(descriptor), descriptor),)


def as_choice(data: FABRIC, alternatives: Alternatives, number: Function[[FabricDescriptor], int]) -> FabricChoice:
    """Return a fabric DSD as one of `alternatives`, which it is among."""
    chosen = data.chosen if isinstance(data, FabricChoice) else number(replace(data, extent=0))
    return FabricChoice(alternatives, data.extent, chosen)


def united(*groups: Alternatives) -> Alternatives:
    """Return the alternatives of several groups, in the order of their numbers."""
    return tuple(sorted({number: each for group in groups for number, each in group}.items()))


@dataclass
class FifoDescriptor:
    """What @allocate_fifo made."""

    symbol: str
    unit: int

    def is_known(self) -> bool:
        return True

    def parts(self) -> list[Any]:
        return []

    def with_parts(self, parts: list[Any]) -> FifoDescriptor:
        return self

    def like(self, other: object) -> bool:
        return self == other


DESCRIPTORS = MemoryDescriptor | CircularDescriptor | FabricDescriptor | FabricChoice | FifoDescriptor

ELEMENTS: dict[str, types.Type] = {"f16": types.F16, "f32": types.F32, "i16": types.I16, "i32": types.I32}
"""The element types the table of DSD operations speaks of."""
