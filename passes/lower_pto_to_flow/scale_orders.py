"""The order of scales of blocks that products read: boxes of 16 rows, or columns, of which two scales are together."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from xdsl.ir import Attribute

from ...dialects.pto.attributes import AddressSpace
from ...dialects.pto.tiles import TileOperation, TMovOp
from ...dialects.pto.types import TileBufType
from .instruction_context import Instructions
from .tile_operations import ui8
from .views import Number, View

_BOX = 16
"""Rows, or columns, of scales that are together; of each there are two side by side."""


def orders_scales(op: TileOperation) -> bool:
    """Return True for the move of scales of blocks into the order of boxes: its third tile is for intermediate ones."""
    return isinstance(op, TMovOp) and op.fp is not None and _is_vector(op.fp.type)


def _is_vector(type: Attribute) -> bool:
    return cast("TileBufType", type).location is AddressSpace.VEC


def order_scales(kernel: Instructions, op: TMovOp) -> None:
    """Move scales of rows, or of columns, one byte each, into boxes of 16 x 2."""
    source, target = (replace(kernel.handles.view(tile), element=ui8) for tile in (op.src, op.dst))
    if str(getattr(op.attributes.get("grpAxis"), "data", "axis1")) == "axis0":
        order_of_columns(kernel, source, target)
    else:
        order_of_rows(kernel, source, target, target.extents)


def order_of_rows(kernel: Instructions, source: View, target: View, extents: tuple[Number, ...]) -> None:
    """Copy scales of M x N / 32 blocks, which are behind each other, into boxes; zeros fill the last rows of boxes."""
    emitter, (rows, columns) = kernel.emitter, extents
    assert isinstance(rows, int) and isinstance(columns, int)
    whole, rest = divmod(rows, _BOX)
    pitch = _BOX * columns
    if rest:
        last = replace(target, address=emitter.add(target.address, whole * pitch), extents=(pitch,), strides=(1,))
        emitter.apply("fill", last, [emitter.constant(0)])
    for boxes, height in ((whole, _BOX), (1, rest)):
        if boxes * height == 0:
            continue
        offset = 0 if height == _BOX else whole * pitch
        shape = (boxes, height, columns // 2, 2)
        ordered, as_given = (
            replace(view, address=emitter.add(view.address, offset), extents=shape) for view in (target, source)
        )
        ordered = replace(ordered, strides=(pitch, 2, 2 * _BOX, 1))
        emitter.apply("copy", ordered, [replace(as_given, strides=(pitch, columns, 2, 1))])


def order_of_columns(kernel: Instructions, source: View, target: View) -> None:
    """Copy scales of M / 32 x N blocks into boxes of 16 columns, of which two rows are side by side."""
    rows, columns = source.extents
    assert isinstance(rows, int) and isinstance(columns, int)
    (down, across), pitch = source.strides, _BOX * 2
    shape, emitter = (rows // 2, 2, columns // _BOX, _BOX), kernel.emitter
    strides = emitter.multiply(down, 2), down, emitter.multiply(across, _BOX), across
    ordered = replace(target, extents=shape, strides=(pitch, 1, rows // 2 * pitch, 2))
    emitter.apply("copy", ordered, [replace(source, extents=shape, strides=strides)])
