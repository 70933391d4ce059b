"""Descriptors at run time: walks over memory, runs of wavelets of a queue, and ends of FIFOs.

They are never changed: an instruction that changes a descriptor makes a new one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple, TypeAlias

from ...targets.wavelets import POINTER_EXTENT
from ..tables.format import (
    ADVANCE_SWITCH,
    CIRCULAR,
    CONTROL_TRANSFORM,
    CONTROL_WAVELETS,
    FIFO_END,
    IN_PAIRS,
    MEMORY_WALK,
    MESSAGE,
    NONE,
    PACKED,
    ZERO_FIRST,
    ZERO_SECOND,
)
from ..tables.instructions import KINDS
from .arithmetic import WIDE


class Walk(NamedTuple):
    """A walk over the elements of a buffer, or of all of memory where `buffer` is None."""

    address: int
    """In words."""
    buffer: int | None
    kind: str
    extents: tuple[int, ...]
    """Outermost first."""
    strides: tuple[int, ...]
    """Innermost first, in elements."""
    places: int | None = None
    """Of a circular walk: those behind the last of which it returns to its address. It has one extent."""
    begin: int = 0
    """The place at which a circular walk begins."""

    @property
    def width(self) -> int:
        """The words of an element."""
        return 2 if self.kind in WIDE else 1

    @property
    def length(self) -> int:
        """The number of elements."""
        return prod(self.extents)

    @property
    def repeats(self) -> bool:
        """True if it is a scalar, which serves as many elements as there are."""
        return self.extents == (POINTER_EXTENT,) and self.places is None

    @property
    def is_line(self) -> bool:
        """True if it has one stride and one extent, which may change."""
        return len(self.extents) == 1 and self.places is None

    def words(self, low: int, high: int) -> Iterator[int]:
        """Yield the word addresses of the elements from `low` to `high`."""
        if self.places is not None:
            for k in range(low, high):
                yield self.address + (self.begin + k % self.length) % self.places * self.width
            return
        if len(self.extents) == 1:
            step = self.strides[0] * self.width
            yield from (self.address + k * step for k in range(low, high))
            return
        for k in range(low, high):
            yield self.address + offset(self.strides, self.extents, k) * self.width

    def moved(self, words: int) -> Walk:
        """Return the walk some words further."""
        return self._replace(address=self.address + words)

    def behind(self, count: int) -> Walk:
        """Return the walk behind `count` elements, by a step of the slowest dimension (DSR-067)."""
        if self.places is not None:
            return self._replace(begin=(self.begin + count) % self.places)
        if not count:
            return self
        return self.moved((offset(self.strides, self.extents, count - 1) + self.strides[-1]) * self.width)


@lru_cache(maxsize=1 << 16)
def offset(strides: tuple[int, ...], extents: tuple[int, ...], number: int) -> int:
    """Return the offset of an element of a walk from the first, in elements.

    A stride is the step from the last element of the faster dimensions to the first of the next round (DSD-061,
    DSD-062).
    """
    found = last = 0
    for stride, extent in zip(strides, reversed(extents), strict=True):
        number, place = divmod(number, extent)
        found += place * (last + stride)
        last += (extent - 1) * (last + stride)
    return found


class Wavelets(NamedTuple):
    """A run of wavelets of a queue.

    `length` is that of the values, two to a wavelet if they are `packed`. `mark` is what the wavelets carry in their
    high half. A message is received with its header, and the last wavelet of one that is sent ends it: `length` is then
    the most that the other operand has room for. `zeroed` is the place among the sources, 1 also for the only one, of
    what sending sets to zero. `transforms`: control wavelets that are received are marked, and what is marked is sent
    as one. `in_pairs`: what is received is taken when two wavelets are there.
    """

    queue: int
    kind: str
    length: int
    control: bool
    advances: bool
    packed: bool
    message: bool
    mark: int | None = None
    zeroed: int | None = None
    transforms: bool = False
    in_pairs: bool = False

    @property
    def lanes(self) -> int:
        """The values in a wavelet."""
        return 2 if self.packed else 1


class FifoEnd(NamedTuple):
    """A FIFO as an operand: its end to write to as a destination, its end to read as a source."""

    fifo: int
    kind: str
    register: tuple[int, int] | None = None
    """File and number of the register that it was read from, if the code does not say that this holds a FIFO."""

    @property
    def lanes(self) -> int:
        """The values in an element."""
        return 1


class Held(NamedTuple):
    """What a data structure register holds, as an operand."""

    register: tuple[int, int]
    """Its file and number."""
    descriptor: Walk | Wavelets | FifoEnd
    saves_address: bool
    """True if an operation moves the register on."""
    load: int | None
    """The row of register loads that says how operations run; None if it says nothing."""


def kind_name(number: int) -> str:
    """Return the name of a kind."""
    return KINDS[number]


Descriptor: TypeAlias = Walk | Wavelets | FifoEnd | Held


def descriptor_of(row: Any) -> Descriptor:
    """Return the descriptor of a row of their section."""
    kind = kind_name(row.kind)
    if row.type == MEMORY_WALK:
        buffer, used = None if row.row == NONE else row.row, slice(row.dimensions)
        if row.flags & CIRCULAR:
            return Walk(row.address, buffer, kind, (row.extents[0],), (1,), row.extents[1])
        return Walk(row.address, buffer, kind, tuple(row.extents[used]), tuple(row.strides[used]))
    if row.type == FIFO_END:
        return FifoEnd(row.row, kind)
    has = row.flags.__and__
    return Wavelets(
        row.row, kind, row.extents[0], bool(has(CONTROL_WAVELETS)), bool(has(ADVANCE_SWITCH)), bool(has(PACKED)),
        bool(has(MESSAGE)), None, 0 if has(ZERO_FIRST) else 1 if has(ZERO_SECOND) else None,
        bool(has(CONTROL_TRANSFORM)), bool(has(IN_PAIRS)),
    )  # fmt: skip
