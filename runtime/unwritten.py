"""Memory that nothing has written: a byte for each word of variables that programs leave undefined.

Executors that look for races share these arrays, set to 0 what their programs write, and report what they read
before. Of a class they begin at its first undefined word and end with its last; what is between those and has an
initial value is written. The memory of FIFOs is not among them, since only pushes and pops touch it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .distinct import distinct
from .fabric.model import Fabric
from .places import Array, Region
from .tables.format import BUFFER_UNDEFINED, Tables
from .tables.instructions import BITS, KINDS


class Unwritten:
    """The words of memory that nothing has written yet, by class."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        spans = [_undefined(fabric.tables, number) for number in range(len(fabric.words))]
        self.first = np.array([0 if span is None else span[0] for span in spans], np.int64)
        """The word at which the arrays of each class begin."""
        self.words: list[npt.NDArray[np.uint8]] = []
        """Of each class [units, words]: 1 where nothing has been written."""
        for number, span in enumerate(spans):
            units = len(fabric.units(number))
            found = np.zeros((units, 0), np.uint8) if span is None else np.tile(span[1], (units, 1))
            self.words.append(found)
        self.left = [words.sum(axis=1, dtype=np.int64) for words in self.words]
        """Of each class how many there are on each unit."""

    def write(self, region: Region, address: int | Array, values: Array) -> None:
        """Note that the host writes to the memory of the units of a region, as `Executor.write` does."""
        x, y, w, h = region
        size = values.shape[2] * values.dtype.itemsize
        class_of = self._fabric.pe_class.reshape(self._fabric.height, self._fabric.width)[y : y + h, x : x + w]
        unit_of = self._fabric.pe_unit.reshape(self._fabric.height, self._fabric.width)[y : y + h, x : x + w]
        addresses = np.broadcast_to(address, class_of.shape)
        for number, words in enumerate(self.words):
            if not self.left[number].any():
                continue
            mine = (class_of == number) & (addresses >= 0)
            for start in distinct(addresses[mine]).tolist():
                low = max(0, start // 2 - int(self.first[number]))
                high = max(low, -(-(start + size) // 2) - int(self.first[number]))
                units = unit_of[mine & (addresses == start)]
                self.left[number][units] -= words[units, low:high].sum(axis=1, dtype=np.int64)
                words[units, low:high] = 0


def _undefined(tables: Tables, number: int) -> tuple[int, npt.NDArray[np.uint8]] | None:
    """Return the first undefined word of a class, and from there on which words are; None if none is."""
    in_fifos = set(tables["fifos"]["buffer"].tolist())
    cls = tables["classes"][number]
    rows = range(int(cls["buffers"]), int(cls["buffers"]) + int(cls["buffer_count"]))
    words = np.zeros(int(cls["words"]) + 1, np.uint8)
    for undefined in (True, False):
        for row in rows:
            buffer = tables["buffers"][row]
            if bool(buffer["flags"] & BUFFER_UNDEFINED) == undefined:
                start = int(buffer["address"])
                size = max(8, BITS[KINDS[int(buffer["kind"])]]) // 8
                end = start + (int(buffer["elements"]) * size + 1) // 2
                words[start:end] = undefined and row not in in_fifos
    for image in tables["images"][tables["images"]["owner"] == number]:
        start, size = int(image["address"]), int(image["size"])
        words[start // 2 : -(-(start + size) // 2)] = 0
    for patch in tables["patches"][tables["patches"]["owner"] == number]:
        start = int(patch["address"])
        size = max(8, BITS[KINDS[int(tables["columns"][int(patch["column"])]["kind"])]]) // 8
        words[start // 2 : -(-(start + size) // 2)] = 0
    places = np.flatnonzero(words)
    if not len(places):
        return None
    return int(places[0]), words[places[0] : places[-1] + 1]
