"""Placement of a program's rectangle on the fabric, and what has to fit around it.

The host reaches the rectangle through columns of PEs of its own on both sides and a halo around all of it.
"""

from __future__ import annotations

from ...diagnostics.errors import LoomError
from ...diagnostics.records import record
from ...targets.memcpy import EAST_COLUMNS, HALO, WEST_COLUMNS


@record
class FabricPlacement:
    """What the compiler's flags say about the fabric: sizes and offsets in PEs.

    `fabric` is (width, height), `offsets` the column and row of the program's first PE.
    """

    fabric: tuple[int, int]
    offsets: tuple[int, int]
    memcpy: bool = False
    channels: int = 1
    west_buffer: int = 0
    east_buffer: int = 0

    def check(self, rectangle: tuple[int, int]) -> None:
        """Raise LoomError if a program of (width, height) PEs does not fit."""
        width, height = rectangle
        if not self.memcpy:
            least, needed = (0, 0), (self.offsets[0] + width, self.offsets[1] + height)
            reason = ""
        else:
            least = (HALO + WEST_COLUMNS + self.west_buffer, HALO)
            needed = (
                self.offsets[0] + width + EAST_COLUMNS + HALO + self.east_buffer,
                self.offsets[1] + height + HALO,
            )
            reason = " and memcpy's PEs around it"
        if self.offsets[0] < least[0] or self.offsets[1] < least[1]:
            raise LoomError(
                f"--fabric-offsets={_pair(self.offsets)} leaves no room for memcpy's PEs west and north of the "
                f"program; give at least --fabric-offsets={_pair(least)}"
            )
        if self.fabric[0] < needed[0] or self.fabric[1] < needed[1]:
            raise LoomError(
                f"the fabric of {self.fabric[0]} x {self.fabric[1]} PEs is too small for the rectangle of {width} x "
                f"{height} at offsets {_pair(self.offsets)}{reason}; give at least --fabric-dims={_pair(needed)}"
            )


def _pair(pair: tuple[int, int]) -> str:
    return f"{pair[0]},{pair[1]}"
