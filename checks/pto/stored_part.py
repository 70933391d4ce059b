"""Stores of tiles into parts of tensors that have another number of elements."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ...dialects.pto.tiles import TStoreOp
from ...dialects.pto.types import DYNAMIC, PartitionTensorViewType, TileBufType
from ...dialects.traversal import walk
from .hazard import Hazard
from .subject import Subject

CODES = ("stored-part",)
"""Codes of the findings that this check reports."""


def find(subject: Subject) -> Iterator[Hazard]:
    """Yield the stores whose tile and part have different numbers of elements, by their types."""
    for op in walk(subject.module):
        if not isinstance(op, TStoreOp) or op.fp is not None:
            continue
        tile, part = op.src.type, op.dst.type
        if not isinstance(tile, TileBufType) or not isinstance(part, PartitionTensorViewType):
            continue
        if DYNAMIC in (*tile.valid_shape, *part.extents) or 0 in tile.valid_shape:
            continue
        if prod(tile.valid_shape) != prod(part.extents):
            yield Hazard(
                "stored-part",
                op,
                f"expects dst static element count ({prod(part.extents)}) to match src valid_shape static element "
                f"count ({prod(tile.valid_shape)}); make the part and the tile agree",
            )
