"""Slot sizes: the bytes of a slot that an entry needs (PTO-022)."""

from __future__ import annotations

from ...diagnostics.records import record
from ...dialects.pto.types import TileBufType
from ...operations import pipe_protocol
from ...targets.chip import LANES
from .schedules import PipeUse


@record
class EntrySize:
    """The size of an entry: a number of tiles, side by side, and the bytes of each."""

    tiles: int
    bytes_each: int

    @property
    def bytes(self) -> int:
        return self.tiles * self.bytes_each


def entry_size(use: PipeUse) -> EntrySize | None:
    """Return the size of the entry that a push or pop needs (PTO-022); None for tensors, other uses and unknown sizes.

    A signal is one word (PTO-021). A vector core that shares the entry with the other (PTO-026, PTO-027) pushes or pops
    one of two tiles. A pipe with an epilogue converts tiles of the accumulator, so that only the pop has their size.
    """
    if use.of_signal:
        return EntrySize(1, pipe_protocol.SIGNAL_BYTES)
    tile = None if use.entry is None else use.entry.type
    if not isinstance(tile, TileBufType) or use.action not in ("push", "pop"):
        return None
    if tile.valid_bytes is None or (use.pipe.acc_push_epilogue is not None and use.action == "push"):
        return None
    is_part = (use.action == "push") == (use.direction == pipe_protocol.V2C)
    shared = is_part and use.split in (pipe_protocol.UP_DOWN, pipe_protocol.LEFT_RIGHT)
    return EntrySize(LANES if shared else 1, tile.valid_bytes)
