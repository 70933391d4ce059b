"""Context of lowering the instructions of one kernel: emission, handles, and areas for intermediate results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import prod
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Attribute, SSAValue

from ...dialects.pto.instructions import InstructionOp
from ...dialects.pto.types import TileBufType, element_bytes
from .emission import Emitter
from .handles import Handles
from .tile_operations import CONVERTER, TileOperations, ui8
from .views import Number, View

_ALIGNMENT = 8
"""Bytes of the widest element."""


@dataclass
class Instructions:
    """What the lowering of an instruction uses.

    `spaces` collects the bytes of the spaces made for the kernel alone, and `bind` binds a tile to a view.
    """

    emitter: Emitter
    handles: Handles
    tiles: TileOperations
    spaces: dict[str, int]
    bind: Callable[[SSAValue, View], None]
    arrays: dict[SSAValue, View] = field(default_factory=dict[SSAValue, View])
    """The arrays of the scalar unit that have been declared."""

    def view(self, op: InstructionOp, name: str) -> View:
        """Return the place of the tile or tensor that is the operand of a name."""
        return self.handles.view(given(op, name))


def given(op: InstructionOp, name: str) -> SSAValue:
    """Return the operand of a name, which the text of the instruction requires."""
    value = op.operand(name)
    assert value is not None
    return value


def shape_of(op: InstructionOp, name: str) -> tuple[int, int]:
    """Return the rows and columns of the tile that is the operand of a name, whatever is valid."""
    return shape_of_tile(given(op, name))


def shape_of_tile(tile: SSAValue) -> tuple[int, int]:
    """Return the rows and columns of a tile, whatever is valid."""
    assert isinstance(tile.type, TileBufType)
    return tile.type.shape


def number_of(op: InstructionOp, name: str, default: int) -> int:
    """Return the value of an integer attribute."""
    found = op.attribute(name)
    return cast("IntegerAttr[IntegerType]", found).value.data if isinstance(found, IntegerAttr) else default


def word_of(op: InstructionOp, name: str, default: str) -> str:
    """Return the word that an attribute of an enumeration is."""
    return str(getattr(op.attribute(name), "data", default))


def whole(op: InstructionOp, name: str, view: View) -> View:
    """Return a tile with all its elements, whatever is valid."""
    return replace(view, extents=shape_of(op, name))


class Scratch:
    """Contiguous areas for the intermediate results of one instruction."""

    def __init__(self, tiles: TileOperations) -> None:
        self._tiles = tiles
        self._used = 0

    def view(self, element: Attribute, extents: tuple[Number, ...], room: tuple[int, ...]) -> View:
        """Return a new area that has room for as many elements as `room` says, row by row, of which some are used."""
        size = element_bytes(element)
        assert size is not None
        address = self._used
        self._used += -(-prod(room) * size // _ALIGNMENT) * _ALIGNMENT
        self._tiles.keep(self._used)
        return View(CONVERTER, element, address, extents, row_major(room))

    def bits(self, extents: tuple[Number, ...], room: tuple[int, ...]) -> View:
        """Return a new area with a bit for each element; a row of them begins at a byte."""
        emitter = self._tiles.emitter
        across = emitter.divide(emitter.add(extents[-1], 7), 8)
        return self.view(ui8, (*extents[:-1], across), (*room[:-1], -(-room[-1] // 8)))


def row_major(extents: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of elements that are row by row."""
    return tuple(prod(extents[place + 1 :]) for place in range(len(extents)))
