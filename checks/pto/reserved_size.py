"""Reserved buffers that are smaller or larger than the slots of their pipe (PTO-022)."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.pto.schedules import Kernel
from ...dialects.pto.buffers import ReserveBufferOp
from ...dialects.pto.frontend_pipes import OpenPipeOp
from ...dialects.pto.internal_pipes import number
from ...dialects.pto.kernels import Architecture
from ...dialects.traversal import walk
from ...operations import pipe_protocol
from .hazard import Hazard, counted

CODES = ("reserved-size",)
"""Codes of the findings that this check reports."""


def find_in_kernel(kernel: Kernel) -> Iterator[Hazard]:
    """Yield the pipes whose reserved buffers do not have the size of their slots."""
    for op in walk(kernel.function):
        if isinstance(op, OpenPipeOp):
            yield from _reserved_sizes(op, kernel.chip)


def _reserved_sizes(pipe: OpenPipeOp, chip: Architecture | None) -> Iterator[Hazard]:
    if chip is None:
        return
    slots = pipe.depth if chip == "a5" else pipe.local_depth
    for direction in (pipe_protocol.C2V, pipe_protocol.V2C):
        buffer = pipe.consumer_buffer(direction)
        reserved = buffer.owner if buffer is not None and pipe.direction & direction else None
        if not isinstance(reserved, ReserveBufferOp):
            continue
        size, needed = number(reserved.size), slots * pipe.entry_bytes
        if size != needed:
            consequence = "slots overlap the memory behind it" if size < needed else "the rest is never used"
            yield Hazard(
                "reserved-size",
                pipe,
                f"'{reserved.key}' reserves {size} bytes for {counted(slots, 'slot', 'slots')} of "
                f"{pipe.entry_bytes}, so {consequence}; reserve {needed}",
                "error" if size < needed else "warning",
            )
