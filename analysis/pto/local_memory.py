"""Local memories of cores: capacities, alignments, tile sizes and placed tiles, for passes that assign addresses."""

from __future__ import annotations

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp

from ...dialects.pto.attributes import AddressSpace, BLayout, SLayout
from ...dialects.pto.kernels import peer_function
from ...dialects.pto.memory import AllocTileOp, constant_value
from ...dialects.pto.types import TileBufType
from ...dialects.traversal import walk
from ...targets.chip import Chip

ROW_PLUS_ONE = 2
"""The `compact` mode in which each contiguous row is one element longer."""


def capacity(chip: Chip, space: AddressSpace) -> int:
    """Return the bytes of one of a core's memories; 0 for global memory, where nothing is placed."""
    match space:
        case AddressSpace.VEC:
            return chip.vector_bytes
        case AddressSpace.MAT:
            return chip.cube_bytes
        case AddressSpace.LEFT:
            return chip.left_bytes
        case AddressSpace.RIGHT:
            return chip.right_bytes
        case AddressSpace.ACC:
            return chip.accumulator_bytes
        case AddressSpace.BIAS:
            return chip.bias_bytes
        case AddressSpace.SCALING:
            return chip.scaling_bytes
        case _:
            return 0


def alignment(chip: Chip, space: AddressSpace) -> int:
    """Return the alignment of addresses in one of a core's memories."""
    operands = (AddressSpace.LEFT, AddressSpace.RIGHT, AddressSpace.ACC)
    return chip.operand_alignment if space in operands else chip.alignment


def tile_bytes(tile: TileBufType) -> int | None:
    """Return the bytes a tile occupies; None if the size of its elements is unknown."""
    if tile.bytes is None or tile.compact.data != ROW_PLUS_ONE:
        return tile.bytes
    major = tile.rows if tile.blayout is BLayout.ROW_MAJOR else tile.columns
    return tile.bytes + (major - 1) * (tile.bytes // (tile.rows * tile.columns))


def tile_strides(tile: TileBufType) -> tuple[int, int]:
    """Return the strides of rows and columns of a tile in elements.

    Boxes are not kept: a tile of boxes is laid out like one box, row behind row or column behind column. So a
    tile and its transpose in the same place, whose layouts are each other's transposes, show the same elements.
    """
    longer = 1 if tile.compact.data == ROW_PLUS_ONE else 0
    if tile.slayout is SLayout.NONE_BOX:
        by_rows = tile.blayout is BLayout.ROW_MAJOR
    else:
        by_rows = tile.slayout is SLayout.ROW_MAJOR
    return (tile.columns + longer, 1) if by_rows else (1, tile.rows + longer)


def callees(function: FuncOp) -> list[FuncOp]:
    """Return the functions with a body that a function calls, directly or indirectly."""
    found: dict[FuncOp, None] = {}
    pending = [function]
    while pending:
        for op in walk(pending.pop()):
            callee = called(op) if isinstance(op, CallOp) else None
            if callee is not None and callee is not function and callee not in found:
                found[callee] = None
                pending.append(callee)
    return list(found)


def called(call: CallOp) -> FuncOp | None:
    """Return the callee of a call, if it has a body."""
    function = peer_function(call, SymbolRefAttr(call.callee.root_reference))
    return None if function is None or function.is_declaration else function


def placed_tiles(function: FuncOp) -> list[tuple[AddressSpace, int, int]]:
    """Return memory, address and bytes of tiles with an address, in a function and its callees."""
    found: list[tuple[AddressSpace, int, int]] = []
    for member in (function, *callees(function)):
        for op in walk(member):
            if not isinstance(op, AllocTileOp) or op.addr is None:
                continue
            address, size = constant_value(op.addr), tile_bytes(op.result.type)
            if address is not None and size is not None:
                found.append((op.result.type.location, address, size))
    return found
