"""Copies between arrays of the host and the memory of units, by exported names.

A host speaks of regions of the grid and of elements from the start of a symbol. A symbol is a buffer, or what a pointer
points to on each unit at the moment of the copy.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..diagnostics.errors import LoomError
from .executor import Buffer, Executor
from .places import Array, Region


def whole_shape(buffer: Buffer) -> tuple[int, ...]:
    """Return the shape of a symbol on one PE. Raises LoomError if its extent is open."""
    if any(extent < 0 for extent in buffer.shape):
        raise LoomError(f"'{buffer.name}' points to an array of unknown length; copy a region with a count of elements")
    return buffer.shape


def elements(buffer: Buffer) -> int:
    """Return how many elements a symbol has on one PE. Raises LoomError if its extent is open."""
    return math.prod(whole_shape(buffer))


def check_region(executor: Executor, buffer: Buffer, region: Region) -> None:
    """Raise LoomError if a region leaves the grid, or has PEs without the symbol."""
    x, y, w, h = region
    outline = executor.outline
    if x < 0 or y < 0 or w < 1 or h < 1 or x + w > outline.width or y + h > outline.height:
        raise LoomError(
            f"a copy of '{buffer.name}' on {w} x {h} PEs from ({x}, {y}) leaves the grid of {outline.width} x "
            f"{outline.height}; correct the region"
        )
    missing = ~np.isin(outline.class_of[y : y + h, x : x + w], list(buffer.places))
    if missing.any():
        row, column = np.argwhere(missing)[0].tolist()
        raise LoomError(
            f"PE ({x + column}, {y + row}) has no symbol '{buffer.name}'; copy a region where every PE exports it"
        )


def write(executor: Executor, buffer: Buffer, region: Region, values: Array) -> None:
    """Write unsigned elements [h, w, n] to a symbol on the PEs of a region that have it."""
    address = _addresses(executor, buffer, region)
    x, y, w, h = region
    words = np.array([cls.words for cls in executor.outline.classes] or [0])
    limit = 2 * words[executor.outline.class_of[y : y + h, x : x + w]]
    _check_end(
        address, values, region, limit,
        lambda end, place, first: f"a copy of {values.shape[2]} elements to '{buffer.name}' ends at byte {end} of "
        f"memory on {place}, where bytes 0 to {first - 1} are in use; copy fewer",
    )  # fmt: skip
    executor.write(region, address, values)


def read(executor: Executor, buffer: Buffer, region: Region, values: Array, memory_bytes: int) -> None:
    """Read a symbol on the PEs of a region into unsigned elements [h, w, n]; those of other PEs are left alone.

    `memory_bytes` are those of a PE; beyond what the program uses there are zeros.
    """
    address = _addresses(executor, buffer, region)
    _check_end(
        address, values, region, np.full(values.shape[:2], memory_bytes),
        lambda end, place, first: f"a copy of {values.shape[2]} elements of '{buffer.name}' ends at byte {end} of "
        f"memory on {place}, which has {first} bytes; copy fewer",
    )  # fmt: skip
    executor.read(region, address, values)


def _addresses(executor: Executor, buffer: Buffer, region: Region) -> int | Array:
    """Return the byte address of a symbol on the PEs of a region: one for all, or [h, w], -1 where they lack it."""
    x, y, w, h = region
    outline = executor.outline
    class_of = outline.class_of[y : y + h, x : x + w]
    if len(buffer.places) == 1:
        ((number, place),) = buffer.places.items()
        if not place.is_pointer and bool((class_of == number).all()):
            return place.address
    table = np.full(len(outline.classes) + 1, -1, np.int64)
    behind = np.zeros(len(outline.classes) + 1, np.bool_)
    for number, place in buffer.places.items():
        table[number], behind[number] = place.address, place.is_pointer
    # Where there is no program, -1 is the last element.
    address = table[class_of]
    indirect = behind[class_of]
    if indirect.any():
        pointers = np.zeros((h, w, 1), np.uint16)
        executor.read(region, np.where(indirect, address, -1), pointers)
        address = np.where(indirect, pointers[:, :, 0].astype(np.int64), address)
    first = int(address[0, 0])
    return first if first >= 0 and bool((address == first).all()) else address


def _check_end(
    address: int | Array, values: Array, region: Region, limit: Array, message: Callable[[int, str, int], str]
) -> None:
    """Raise LoomError for the first PE where a copy ends beyond its limit, [h, w] bytes."""
    end = np.asarray(address) + values.shape[2] * values.dtype.itemsize
    wrong = (end > limit) & (np.asarray(address) >= 0)
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        last = int(np.broadcast_to(end, wrong.shape)[row, column]) - 1
        raise LoomError(message(last, f"PE ({region[0] + column}, {region[1] + row})", int(limit[row, column])))
