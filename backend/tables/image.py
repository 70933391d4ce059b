"""Memory at the start: bytes that all PEs of a class have, and elements that differ from PE to PE."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .interning import Sections

_GAP = 16
"""Zeros between two images, which are not stored."""


class Image:
    """The memory of a class of `words` words; what is written later holds."""

    def __init__(self, words: int):
        self._bytes: NDArray[np.uint8] | None = None
        self._size = 2 * (words + words % 2)
        self._patches: dict[tuple[int, int], int] = {}

    def put(self, address: int, values: NDArray[np.uint8], *, zeros: bool) -> None:
        """Write bytes at a byte address; without `zeros` not if all of them are 0."""
        if not zeros and not values.any():
            return
        if self._bytes is None:
            self._bytes = np.zeros(self._size, np.uint8)
        self._bytes[address : address + len(values)] = values
        for start, size in list(self._patches):
            if start < address + len(values) and address < start + size:
                # Verified programs write a variable by one width, so that the whole patch is covered.
                del self._patches[start, size]

    def patch(self, address: int, size: int, column: int) -> None:
        """Let an element at a byte address have the values of a column."""
        self._patches.pop((address, size), None)
        self._patches[address, size] = column

    def write(self, sections: Sections, owner: int) -> None:
        """Add the images and patches of a class."""
        if self._bytes is not None:
            for start, end in _runs(self._bytes):
                piece = self._bytes[start:end]
                sections.add("images", owner, start, sections.run("image_bytes", piece), end - start)
        for (address, _), column in self._patches.items():
            sections.add("patches", owner, address, column)


def _runs(memory: NDArray[Any]) -> list[tuple[int, int]]:
    """Return the first and the last byte, plus 1, of stretches without long rows of zeros."""
    places = np.flatnonzero(memory)
    if not len(places):
        return []
    gaps = np.flatnonzero(np.diff(places) > _GAP)
    starts = places[np.concatenate([[0], gaps + 1])]
    ends = places[np.concatenate([gaps, [len(places) - 1]])] + 1
    return list(zip(starts.tolist(), ends.tolist(), strict=True))
