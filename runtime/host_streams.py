"""Streams between the host and the units, as the host sees them: what it has sent, and what it lacks."""

from __future__ import annotations

import numpy as np

from ..diagnostics.errors import LoomError
from .executor import HostStream
from .places import Array, Region


class MissingWavelets(LoomError):
    """Units have sent less than the host wants; `lacking` is by how many wavelets, [h, w] of the region."""

    def __init__(self, message: str, lacking: Array):
        super().__init__(message)
        self.lacking = lacking


class Sent:
    """What the host has sent on one stream."""

    def __init__(self, stream: HostStream) -> None:
        self._stream = stream
        self._free = np.zeros(stream.connected.shape, np.int64)
        """When each unit can be sent the next wavelet."""
        self.count = np.zeros(stream.connected.shape, np.int64)
        """How many wavelets each unit has been sent."""

    def check(self, region: Region, count: int) -> None:
        """Raise LoomError if the stream does not lead to a unit of a region, or that has no queue for the color."""
        served = (self._stream.connected & self._stream.reads)[_index(region)]
        if not served.all():
            row, column = np.argwhere(~served)[0].tolist()
            x, y = region[0] + column, region[1] + row
            connected = self._stream.connected[y, x]
            reason = "has no input queue for it" if connected else "the color does not connect with the host"
            raise LoomError(
                f"the host sends {count} wavelets of color {self._stream.label} to PE ({x}, {y}), which {reason}; send "
                "to the PEs that read the color"
            )

    def note(self, region: Region, count: int, now: int) -> Array:
        """Note that the host sends wavelets to a region from cycle `now` on; return when the first arrive, [h, w]."""
        first = np.maximum(self._free[_index(region)], now)
        self._free[_index(region)] = first + count
        self.count[_index(region)] += count
        return first


def check_arrived(stream: HostStream, region: Region, count: int, arrived: Array) -> None:
    """Raise MissingWavelets if some unit of a region has sent fewer than `count` wavelets to the host."""
    lacking = np.maximum(count - arrived[_index(region)], 0)
    if not lacking.any():
        return
    row, column = np.argwhere(lacking)[0].tolist()
    x, y = region[0] + column, region[1] + row
    others = int((lacking > 0).sum()) - 1
    more = f", and {others} other PEs have sent too few" if others else ""
    reason = "" if stream.connected[y, x] else ", which the color does not connect with the host"
    raise MissingWavelets(
        f"the host waits for {count} wavelets of color {stream.label} from PE {(x, y)}{reason}; "
        f"{count - int(lacking[row, column])} have arrived{more}",
        lacking,
    )


def _index(region: Region) -> tuple[slice, slice]:
    x, y, w, h = region
    return slice(y, y + h), slice(x, x + w)
