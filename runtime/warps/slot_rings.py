"""Rings of slots of channels in a shared memory, and which of them overlap.

Two channels whose slots overlap destroy each other's entries, and so do two rows of the grid that use one place.
Neither is seen from the credits: each ring for itself is in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...diagnostics.findings import Findings
from .units import Array, Rectangle, UnitSet

if TYPE_CHECKING:
    from .channels import Channel
    from .tiles import Space


@dataclass
class SlotRings:
    """The rings of slots that have been used in a shared memory: first byte, the one behind the last, row, channel."""

    findings: Findings
    starts: list[int] = field(default_factory=list[int])
    ends: list[int] = field(default_factory=list[int])
    rows: list[int] = field(default_factory=list[int])
    channels: list[Channel] = field(default_factory=list["Channel"])
    known: set[tuple[str, int, int]] = field(default_factory=set[tuple[str, int, int]])

    def use(self, channel: Channel, space: Space, units: UnitSet, base: Any, size: int, where: str | None) -> None:
        """Add the slots of a channel that some units use from `base` on, a byte address or one for each unit."""
        if type(units) is not Rectangle:
            return
        # Units of one row share their ring: some begin further on, at their part of a slot.
        firsts: Array = np.asarray(base).min(axis=1) if type(base) is np.ndarray else np.full(len(units.rows), base)
        for row, start in zip(units.rows, firsts.tolist(), strict=True):
            key = (channel.name, row, start)
            if key not in self.known:
                self.known.add(key)
                self._add(channel, space, row, start, start + size, where)

    def _add(self, channel: Channel, space: Space, row: int, start: int, end: int, where: str | None) -> None:
        over = np.flatnonzero((np.asarray(self.starts) < end) & (np.asarray(self.ends) > start)).tolist()
        for other in over:
            if self.channels[other] is channel and self.rows[other] == row:
                continue
            place = (
                f"bytes {max(start, self.starts[other])} to {min(end, self.ends[other]) - 1} of memory @{space.name}"
            )
            if self.rows[other] == row:
                self.findings.add(
                    "error", "aliasing-rings", channel.name, where,
                    f"the slots of channels @{channel.name} and @{self.channels[other].name} overlap, "
                    f"{place}, so that entries of one overwrite those of the other (H7); give each its own memory",
                )  # fmt: skip
            else:
                self.findings.add(
                    "error", "shared-slots", channel.name, where,
                    f"blocks {self.rows[other]} and {row} have the slots of channel @{channel.name} at the same place, "
                    f"{place}, so that they overwrite each other's entries; move the pointer of each block to slots of "
                    "its own, with get_block_idx",
                )  # fmt: skip
            break
        self.starts.append(start)
        self.ends.append(end)
        self.rows.append(row)
        self.channels.append(channel)
