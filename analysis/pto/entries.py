"""How much of a slot an entry takes."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects.pto.types import TileBufType
from ...operations import pipe_protocol
from .schedules import PipeUse


@dataclass(frozen=True)
class EntryBytes:
    """An entry as one operation sees it: so many tiles of so many bytes side by side."""

    tiles: int
    bytes_each: int

    @property
    def bytes(self) -> int:
        return self.tiles * self.bytes_each


def entry_bytes(use: PipeUse) -> EntryBytes | None:
    """What a push or pop needs of a slot (PTO-022); None of tensors and other uses, and where sizes are not known.

    A signal is one word (PTO-021). A vector core that shares the entry with the other (PTO-026, PTO-027) puts in or
    takes out one of two tiles. What the accumulator holds is converted on its way if the pipe has an epilogue, so that
    only the pop says how large it is.
    """
    if use.of_signal:
        return EntryBytes(1, pipe_protocol.SIGNAL_BYTES)
    tile = None if use.entry is None else use.entry.type
    if not isinstance(tile, TileBufType) or use.action not in ("push", "pop"):
        return None
    if tile.valid_bytes is None or (use.pipe.acc_push_epilogue is not None and use.action == "push"):
        return None
    is_part = (use.action == "push") == (use.direction == pipe_protocol.V2C)
    shared = is_part and use.split in (pipe_protocol.UP_DOWN, pipe_protocol.LEFT_RIGHT)
    return EntryBytes(pipe_protocol.LANES if shared else 1, tile.valid_bytes)
