"""Tiles whose addresses reach beyond the memory they are in."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.pto.dry_run.values import Tile
from ...analysis.pto.local_memory import capacity
from ...analysis.pto.schedules import Kernel
from ...dialects.pto.memory import AllocTileOp, constant_value
from ...dialects.pto.types import DYNAMIC
from ...dialects.traversal import walk
from ...targets.chips import chip
from .hazard import Hazard

CODES = ("outside-memory",)
"""Codes of the findings that this check reports."""


def find_in_kernel(kernel: Kernel) -> Iterator[Hazard]:
    """Yield the tiles with an address that have valid elements beyond the end of their memory."""
    if kernel.chip is None:
        return
    for op in walk(kernel.function):
        address = constant_value(op.addr) if isinstance(op, AllocTileOp) and op.addr is not None else None
        if not isinstance(op, AllocTileOp) or address is None:
            continue
        kind = op.result.type
        rows, columns = (1 if extent == DYNAMIC else extent for extent in kind.valid_shape)
        room, region = capacity(chip(kernel.chip), kind.location), Tile.of(kind, address, (rows, columns)).region()
        if room and region is not None and not region.is_empty and not 0 <= region.low < region.high <= room:
            yield Hazard(
                "outside-memory",
                op,
                f"the tile is in bytes {region.low} to {region.high - 1} of '{kind.location.value}', which has {room}; "
                "give it another address, or a smaller shape",
            )
