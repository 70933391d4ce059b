"""Copies between arrays of the host, by regions of the grid, and the memory of classes, by units.

Units are numbered by rows of the grid. Where those of a class are all PEs of some rows and columns, a region is a block
of their memory, which is copied as it is; else units are copied by their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .distinct import distinct
from .fabric.model import Fabric
from .places import Array, Region, progression


class _Part(NamedTuple):
    """The units of a class in a region that have a byte address in common."""

    at: tuple[slice | Array, slice | Array]
    """Their places in the region: a slice of rows and one of columns, or arrays with the row and column of each."""
    memory: Array
    """Their bytes, a view or a copy: [rows, columns, bytes] or [units, bytes]."""
    units: Array | None
    """Their numbers if `memory` is a copy."""
    address: int


class ClassMemory:
    """The memory of all units, by classes: bytes [units, bytes] each."""

    def __init__(self, fabric: Fabric, memory: Sequence[Array]) -> None:
        self._fabric = fabric
        self._memory = memory
        self._class_of = fabric.pe_class.reshape(fabric.height, fabric.width)
        self._unit_of = fabric.pe_unit.reshape(fabric.height, fabric.width)
        self._lattices: dict[int, tuple[range, range] | None] = {}

    def read(self, region: Region, address: int | Array, values: Array) -> None:
        """Read elements of the units of a region into `values`; see `Executor.read`."""
        size, count = values.dtype.itemsize, values.shape[2]
        for number, part in self._parts(region, address):
            first = part.address
            there = max(0, min(count, (2 * int(self._fabric.words[number]) - first) // size))
            if there < count:
                values[(*part.at, slice(there, None))] = 0
            if there:
                found = part.memory[..., first : first + there * size]
                found = found if part.units is None else np.ascontiguousarray(found[part.units])
                values[(*part.at, slice(0, there))] = found.view(values.dtype)

    def write(self, region: Region, address: int | Array, values: Array) -> None:
        """Write elements to the memory of the units of a region; see `Executor.write`."""
        for _, part in self._parts(region, address):
            data = values[part.at]
            there = part.memory[..., part.address : part.address + data.shape[-1] * data.dtype.itemsize]
            if part.units is None:
                there.view(data.dtype)[...] = data
            else:
                there[part.units] = np.ascontiguousarray(data).view(np.uint8)

    def _parts(self, region: Region, address: int | Array) -> Iterator[tuple[int, _Part]]:
        """Yield the parts of each class in a region, with the number of the class."""
        x, y, w, h = region
        class_of, unit_of = (of[y : y + h, x : x + w] for of in (self._class_of, self._unit_of))
        # np.unique does the same, but its first call loads numpy.ma, which takes longer than a small run.
        for number in np.flatnonzero(np.bincount(class_of[class_of >= 0])).tolist():
            block = self._block(number, region, address)
            if block is not None:
                yield number, block
                continue
            member = (class_of == number) & (np.asarray(address) >= 0)
            rows, columns = np.nonzero(member)
            units, addresses = unit_of[rows, columns], np.broadcast_to(address, member.shape)[rows, columns]
            for first in distinct(addresses).tolist():
                mine = addresses == first
                yield number, _Part((rows[mine], columns[mine]), self._memory[number], units[mine], first)

    def _block(self, number: int, region: Region, address: int | Array) -> _Part | None:
        """Return the units of a class in a region, some, as a block of its memory; None if they are none."""
        if number not in self._lattices:
            self._lattices[number] = self._lattice(number)
        lattice = self._lattices[number]
        if lattice is None:
            return None
        x, y, w, h = region
        (down, rows), (across, columns) = _cut(lattice[0], y, h), _cut(lattice[1], x, w)
        if not isinstance(address, int):
            addresses = address[down, across]
            address = int(addresses[0, 0])
            if address < 0 or not bool((addresses == address).all()):
                return None
        memory = self._memory[number].reshape(len(lattice[0]), len(lattice[1]), -1)
        return _Part((down, across), memory[rows, columns], None, address)

    def _lattice(self, number: int) -> tuple[range, range] | None:
        """Return the rows and columns whose PEs are those of a class, or None if there is none such."""
        pes = self._fabric.units(number)
        width = self._fabric.width
        down = progression(distinct(pes // width))
        across = progression(distinct(pes % width))
        if down is None or across is None or len(down) * len(across) != len(pes):
            return None
        return down, across


def _cut(indices: range, start: int, count: int) -> tuple[slice, slice]:
    """Return where those of `indices` in `start..start + count` are: from `start` on, and among the indices."""
    first = max(0, -((indices.start - start) // indices.step))
    last = min(len(indices), -((indices.start - start - count) // indices.step))
    chosen = indices[first:last]
    return slice(chosen[0] - start, chosen[-1] - start + 1, indices.step), slice(first, last)
