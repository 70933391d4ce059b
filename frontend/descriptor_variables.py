"""What the variables of a PE program that hold DSDs hold, of that which cannot change at run time.

Colors of fabric DSDs are places among the colors of the program, so that programs that differ in colors alone may
share what they emit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .descriptors import (
    DESCRIPTORS,
    FABRIC,
    FabricChoice,
    FabricDescriptor,
    MemoryDescriptor,
    alternatives_of,
    as_choice,
    united,
)
from .session import Session
from .values import Address, ChoiceChanges, WidthChanges, is_ssa


class DescriptorVariables:
    """The DSD variables of a PE program, by the symbols of their memories, and the colors of its DSDs."""

    def __init__(self, session: Session, name: str, held: Mapping[str, Sequence[FabricDescriptor]]) -> None:
        self.session = session
        self.name = name
        self._held = held
        """The fabric DSDs that the variables in a memory hold, by its symbol, if that is known at run time only."""
        self._chosen: list[FabricDescriptor] = []
        """The fabric DSDs of which the program chooses one at run time."""
        self._descriptors: dict[tuple[str, int], DESCRIPTORS] = {}
        """What each variable holds, by its memory and the byte there."""
        self._dsd_colors: list[int] = []

    def color_place(self, number: int) -> int:
        """Return the place of a color among those that DSDs of this program have, in the order in which they come."""
        if number not in self._dsd_colors:
            self._dsd_colors.append(number)
        return self._dsd_colors.index(number)

    def color_at(self, place: int) -> int:
        """Return the color at a place."""
        return self._dsd_colors[place]

    def adopted_data(self, data: Any) -> Any:
        """Return the data of a DSD of the layout as that of one of this program: its color by its place."""
        if not isinstance(data, FabricDescriptor) or data.color is None:
            return data
        return replace(data, color=self.color_place(data.color))

    def _of_layout(self, data: FabricDescriptor) -> FabricDescriptor:
        """Return a DSD of this program as one of the layout: with its color."""
        return data if data.color is None else replace(data, color=self.color_at(data.color))

    def choice_number(self, descriptor: FabricDescriptor) -> int:
        """Return the number of a DSD, whose extent is 0, among those of which the program chooses one at run time."""
        if descriptor not in self._chosen:
            self._chosen.append(descriptor)
        return self._chosen.index(descriptor)

    def as_held(self, symbol: str, data: Any) -> Any:
        """Return a DSD as variables in a memory hold it: a fabric DSD as one of those that they are known to hold."""
        if not isinstance(data, FABRIC):
            return data
        held = [self.adopted_data(each) for each in self._held.get(symbol, ())]
        known = united(tuple((self.choice_number(each), each) for each in held if each.output == data.output))
        both = united(known, alternatives_of(data, self.choice_number))
        return as_choice(data, known, self.choice_number) if known and both == known else data

    def descriptor_at(self, where: Address) -> Any:
        """Return what is fixed of the descriptor a variable holds; None if nothing is known of it."""
        if where.buffer is None:
            return None
        if is_ssa(where.offset):
            symbol = where.buffer.symbol
            held = [each for (other, _), each in self._descriptors.items() if other == symbol]
            for other in held[1:]:
                self.held_like(where, held[0], other)
            return held[0] if held and all(map(held[0].like, held)) else None
        return self._descriptors.get((where.buffer.symbol, where.offset * where.unit))

    def held_like(self, where: Address, held: DESCRIPTORS, given: DESCRIPTORS) -> DESCRIPTORS:
        """Return what a DSD variable is given as one like it holds; as it is, if it cannot hold both.

        Raise WidthChanges if they differ in the width of elements alone, but for a variable that has been given
        elements of 16 bits and of 32 bits already, and ChoiceChanges if they are fabric DSDs that differ.
        """
        if where.buffer is None or held.like(given):
            return given
        symbol = where.buffer.symbol
        if isinstance(held, FABRIC) and isinstance(given, FABRIC) and held.output == given.output:
            known, new = (alternatives_of(each, self.choice_number) for each in (held, given))
            both = united(known, new)
            if isinstance(held, FabricChoice) and both == known:
                return as_choice(given, both, self.choice_number)
            raise ChoiceChanges(symbol, tuple(self._of_layout(each) for _, each in both))
        if not isinstance(held, MemoryDescriptor) or not isinstance(given, MemoryDescriptor):
            return given
        if is_ssa(where.offset) or not replace(held, unit=given.unit).like(given):
            return given
        place = symbol, where.offset * where.unit
        if (self.name, *place) not in self.session.widths:
            raise WidthChanges(*place, given.unit)
        return given

    def set_descriptor_at(self, where: Address, descriptor: DESCRIPTORS) -> None:
        if where.buffer is not None and not is_ssa(where.offset):
            self._descriptors[where.buffer.symbol, where.offset * where.unit] = descriptor

    def hold(self, symbol: str, place: int, descriptor: DESCRIPTORS) -> None:
        """Note what the variable at a byte of a memory holds from the start."""
        self._descriptors[symbol, place] = descriptor
