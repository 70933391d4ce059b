"""Tensors of scales of blocks: the order of boxes that PTOAS infers for those whose text states no layout.

A tensor of two dimensions that only tiles of scales in the cube core's first memory are loaded from has its scales as
products read them: in boxes of 16 rows of A, or columns of B, by two, behind each other and whatever its strides. The
last boxes are whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from ...dialects.pto.attributes import AddressSpace, BLayout, Layout, SLayout
from ...dialects.pto.memory import MakeTensorViewOp, PartitionViewOp
from ...dialects.pto.tiles import TLoadOp
from ...dialects.pto.types import F8E8M0Type, TensorViewType, TileBufType
from ...targets.chip import SCALE_BOX

_ORDERS = {
    (BLayout.ROW_MAJOR, SLayout.ROW_MAJOR): Layout.MX_A_ZZ,
    (BLayout.COL_MAJOR, SLayout.COL_MAJOR): Layout.MX_B_NN,
}


def inferred_order(op: MakeTensorViewOp) -> Layout:
    """Return the order of a tensor that states none: of boxes if all its uses are loads of scales, else by strides."""
    tensor = op.result.type
    assert isinstance(tensor, TensorViewType)
    if op.layout is not None or not isinstance(tensor.element_type, F8E8M0Type) or len(tensor.extents) != 2:
        return Layout.ND
    found = set(_orders(op.result))
    return found.pop() if len(found) == 1 else Layout.ND


def _orders(value: SSAValue) -> Iterator[Layout]:
    """Yield the order that each use of a tensor asks for."""
    for use in value.uses:
        match use.operation:
            case PartitionViewOp(result=part):
                yield from _orders(part)
            case TLoadOp(dst=tile) if isinstance(tile.type, TileBufType):
                yield _order_of(tile.type)
            case _:
                yield Layout.ND


def _order_of(tile: TileBufType) -> Layout:
    found = _ORDERS.get((tile.blayout, tile.slayout), Layout.ND)
    if tile.location is not AddressSpace.MAT or not isinstance(tile.element_type, F8E8M0Type):
        return Layout.ND
    return Layout.ND if found is Layout.MX_A_ZZ and tile.rows == 1 else found


def boxed_count(order: Layout, rows: int, columns: int) -> int:
    """Return how many scales a tensor in the order of boxes has, those that only fill its last boxes included."""
    height, width = SCALE_BOX if order is Layout.MX_A_ZZ else SCALE_BOX[::-1]
    return -(-rows // height) * height * -(-columns // width) * width
