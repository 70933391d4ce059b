"""Slots in global memory on a5: double frees (H6) and overlapping copies of popped tiles (H5)."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.pto.rings import consumer_buffer
from ...analysis.pto.schedules import Kernel, Pipe, PipeUse
from ...dialects.pto.types import TileBufType
from .hazard import Hazard

CODES = ("freed-twice", "mixed-tile-sizes")
"""Codes of the findings that this check reports."""


def find_in_kernel(kernel: Kernel) -> Iterator[Hazard]:
    """Yield the frees and pops that a5 performs differently from other chips where slots are in global memory."""
    if kernel.behavior != "a5":
        return
    first: dict[Pipe, PipeUse] = {}
    for use in kernel.uses:
        if not kernel.in_global_memory(use.pipe) or consumer_buffer(use.pipe, use.direction) is None:
            continue
        if use.action == "free":
            pops = [other for other in kernel.uses if _is_pop(other, use)]
            if pops and all(pop.of_signal for pop in pops):
                continue
            yield Hazard(
                "freed-twice",
                use.op,
                "on a5 popping a tile from global memory frees its slot, and this frees it again, so the producer "
                "counts one slot too many; leave the free out for a5",
                "warning",
            )
        tile = use.entry.type if use.entry is not None and use.action == "pop" else None
        if not isinstance(tile, TileBufType):
            continue
        other = first.setdefault(use.pipe, use).entry
        before = None if other is None else other.type
        if isinstance(before, TileBufType) and None not in (before.bytes, tile.bytes) and before.bytes != tile.bytes:
            yield Hazard(
                "mixed-tile-sizes",
                use.op,
                f"on a5 the consumer's slot stride equals the size of the popped tile, {tile.bytes} bytes here and "
                f"{before.bytes} elsewhere, so tiles in use overlap; pop tiles of one size",
                "warning",
            )


def _is_pop(use: PipeUse, free: PipeUse) -> bool:
    return use.action == "pop" and (use.pipe, use.direction) == (free.pipe, free.direction)
