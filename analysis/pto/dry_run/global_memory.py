"""Global memory of several devices in a dry run: which array is at an address."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping

from .values import Pointer


class GlobalMemory:
    """Arrays by their first addresses."""

    def __init__(self, addresses: Mapping[str, int]) -> None:
        self._addresses = addresses
        self._names = sorted(addresses, key=lambda name: addresses[name])
        self._starts = [addresses[name] for name in self._names]

    def placed(self, pointer: Pointer) -> Pointer:
        """Return a pointer as one into the array that is at its address."""
        start = self._addresses.get(pointer.array)
        if start is None or pointer.offset is None:
            return pointer
        place = bisect_right(self._starts, start + pointer.offset) - 1
        if place < 0:
            return pointer
        name = self._names[place]
        return Pointer(name, start + pointer.offset - self._addresses[name])
