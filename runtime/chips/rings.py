"""Rings of slots of channels in a shared memory, and which of them overlap.

Two channels whose slots overlap destroy each other's entries, and so do two rows of the grid that use one place.
Neither is seen from the credits: each ring for itself is in order.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...diagnostics.findings import Findings
from .chip import Chip, Ring


class SlotRings:
    """The rings of slots that have been used in shared memories."""

    def __init__(self, chip: Chip, findings: Findings) -> None:
        self._chip = chip
        self._findings = findings
        self._rings: list[Ring] = []
        self._known: set[tuple[int, int, int]] = set()

    def use(self, rings: Iterable[Ring]) -> None:
        """Add rings, in the order in which they have been used, row by row of the grid."""
        for ring in rings:
            key = ring.channel, ring.row, ring.start
            if key not in self._known:
                self._known.add(key)
                self._add(ring)

    def _add(self, ring: Ring) -> None:
        rings, chip = self._rings, self._chip
        starts, ends = (np.array([getattr(each, side) for each in rings]) for side in ("start", "end"))
        for place in np.flatnonzero((starts < ring.end) & (ends > ring.start)).tolist():
            other = rings[place]
            if other.space != ring.space or (other.channel == ring.channel and other.row == ring.row):
                continue
            name, where = chip.channel_name(ring.channel), chip.where(ring.where)
            memory = chip.text(chip.tables["spaces"]["name"][ring.space])
            common = (
                f"bytes {max(ring.start, other.start)} to {min(ring.end, other.end) - 1} of memory @{memory}"
            )  # fmt: skip
            if other.row == ring.row:
                self._findings.add(
                    "error", "aliasing-rings", name, where,
                    f"the slots of channels @{name} and @{chip.channel_name(other.channel)} overlap, "
                    f"{common}, so that entries of one overwrite those of the other (H7); give each its own memory",
                )  # fmt: skip
            else:
                self._findings.add(
                    "error", "shared-slots", name, where,
                    f"blocks {other.row} and {ring.row} have the slots of channel @{name} at the same place, "
                    f"{common}, so that they overwrite each other's entries; move the pointer of each block to slots "
                    "of its own, with get_block_idx",
                )  # fmt: skip
            break
        rings.append(ring)
