"""Slots that are smaller than the tiles in them (PTO-022)."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.pto.schedules import Kernel
from ...analysis.pto.slot_sizes import entry_size
from .hazard import Hazard

CODES = ("small-slot",)
"""Codes of the findings that this check reports."""


def find_in_kernel(kernel: Kernel) -> Iterator[Hazard]:
    """Yield the pushes and pops whose slot does not hold the popped tile, or the tiles of both vector cores."""
    for use in kernel.uses:
        entry = entry_size(use)
        if entry is not None and entry.bytes > use.pipe.entry_bytes:
            what = (
                f"{entry.tiles} tiles of {entry.bytes_each} bytes"
                if entry.tiles > 1
                else f"a tile of {entry.bytes} bytes"
            )
            yield Hazard(
                "small-slot",
                use.op,
                f"slot_size = {use.pipe.entry_bytes} is too small for {what}, which reach into the next slot; use "
                f"{entry.bytes}",
            )
