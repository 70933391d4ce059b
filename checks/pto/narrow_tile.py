"""Loads of more of a tensor than the tile holds, the rest of which is left out in silence."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ...dialects.pto.tiles import TLoadOp
from ...dialects.pto.types import DYNAMIC, PartitionTensorViewType, TileBufType
from ...dialects.traversal import walk
from .hazard import Hazard
from .subject import Subject

CODES = ("narrow-tile",)
"""Codes of the findings that this check reports."""


def find(subject: Subject) -> Iterator[Hazard]:
    """Yield the loads whose view has more rows or columns than the tile has valid ones, by their types."""
    for op in walk(subject.module):
        if not isinstance(op, TLoadOp):
            continue
        view, tile = op.src.type, op.dst.type
        if not isinstance(view, PartitionTensorViewType) or not isinstance(tile, TileBufType):
            continue
        if len(view.extents) != len(tile.valid_shape):
            continue
        if prod(view.extents) == prod(tile.valid_shape):
            continue  # The same elements in another shape.
        for what, have, room in zip(("rows", "columns"), view.extents, tile.valid_shape, strict=True):
            if DYNAMIC not in (have, room) and have > room > 0:
                yield Hazard("narrow-tile", op, problem(what, have, room))
                break


def problem(what: str, have: int, room: int) -> str:
    """Return the message about a view with more rows, or columns, than a tile."""
    return (
        f"the view has {have} {what}, and the tile {room} valid ones, so {have - room} are not loaded; make the view "
        "and the tile agree"
    )
