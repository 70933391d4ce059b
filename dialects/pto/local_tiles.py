"""Tiles in local memory: where they may begin, and the extents that their layout allows."""

from __future__ import annotations

from xdsl.ir import Operation

from ...targets.chip import BLOCK_BYTES, BOX_ROWS, OPERAND_BYTES, SCALE_BOX
from .attributes import AddressSpace, BLayout, SLayout
from .kernels import fail
from .types import F4E1M2x2Type, F4E2M1x2Type, TileBufType, element_bytes

_OPERANDS = (AddressSpace.LEFT, AddressSpace.RIGHT, AddressSpace.ACC)


def verify_address(op: Operation, value: int | None, space: AddressSpace) -> None:
    """Raise VerifyException for an address of a tile that is not at a block of its memory; None if it is not known."""
    if value is None:
        return
    if value < 0:
        fail(op, f"addr must be non-negative, got {value}")
    alignment = OPERAND_BYTES if space in _OPERANDS else BLOCK_BYTES
    if value % alignment:
        fail(op, f"addr must be aligned to {alignment} bytes for local tile memory space, got {value}")


def verify_layout(op: Operation, tile: TileBufType, name: str) -> None:
    """Raise VerifyException for a tile whose rows, columns or boxes do not fill blocks of local memory."""
    size = element_bytes(tile.element_type)
    if not size:
        fail(op, f"expects {name} element type to have a byte size")
    if tile.slayout is SLayout.NONE_BOX:
        _verify_without_boxes(op, tile, name, size)
        return
    box = box_of(tile)
    if box is None:
        fail(op, f"expects {name} element byte size to divide {BLOCK_BYTES} for boxed fractal-512 tile layout")
    loose = tile.location is AddressSpace.VEC or tile.fractal.data == SCALE_BOX[0] * SCALE_BOX[1] or tile.rows == 1
    if not loose and tile.rows % box[0]:
        fail(op, f"expects {name} boxed tile rows to be a multiple of innerRows ({box[0]}), but got {tile.rows}")
    if tile.columns % box[1]:
        fail(op, f"expects {name} boxed tile cols to be a multiple of innerCols ({box[1]}), but got {tile.columns}")


def _verify_without_boxes(op: Operation, tile: TileBufType, name: str, size: int) -> None:
    packed = isinstance(tile.element_type, F4E1M2x2Type | F4E2M1x2Type)
    alignment = BLOCK_BYTES // 2 if packed else BLOCK_BYTES
    if tile.blayout is BLayout.ROW_MAJOR:
        extent, what = tile.columns, "row-major none_box tile row byte size (cols * sizeof(dtype))"
    else:
        extent, what = tile.rows, "col-major none_box tile column byte size (rows * sizeof(dtype))"
    if extent * size % alignment:
        fail(op, f"expects {name} {what} to be {alignment}-byte aligned, but got {extent * size} bytes")


def box_of(tile: TileBufType) -> tuple[int, int] | None:
    """Return the rows and columns of a box; None for elements that do not fill one."""
    size = element_bytes(tile.element_type)
    match tile.fractal.data:
        case 1024:
            return BOX_ROWS, BOX_ROWS
        case 32:
            return SCALE_BOX
        case _:
            if not size or BLOCK_BYTES % size:
                return None
            inner = BLOCK_BYTES // size
            return (BOX_ROWS, inner) if tile.slayout is SLayout.ROW_MAJOR else (inner, BOX_ROWS)
