"""Tiles that a5 cannot split between its vector cores (PTO-026, PTO-027)."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.pto.pipe_ends import lane_problem
from ...analysis.pto.schedules import Kernel
from ...dialects.pto.types import TileBufType
from .hazard import Hazard

CODES = ("lane-shape",)
"""Codes of the findings that this check reports."""


def find_in_kernel(kernel: Kernel) -> Iterator[Hazard]:
    """Yield the pushes of tiles that a5 cannot split between its vector cores."""
    for use in kernel.uses:
        tile = None if use.entry is None else use.entry.type
        if kernel.chip != "a5" or use.action != "push" or not isinstance(tile, TileBufType):
            continue
        if kernel.in_global_memory(use.pipe):
            continue
        problem = lane_problem(tile, use.split, use.direction)
        if problem is not None:
            yield Hazard("lane-shape", use.op, problem)
