"""Core dump: the memory of all PEs of a stopped run, by symbol; kept in this process, and in a file for others."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ...diagnostics.errors import LoomError
from ...diagnostics.records import record
from ..output_files import create_partial
from . import artifact as artifacts
from .errors import SdkError

if TYPE_CHECKING:
    from ...runtime import Machine

MAX_FILE = 1 << 26
"""Bytes of the largest core that stop() writes by itself; dump_core writes any."""

_kept: dict[str, Core] = {}
"""Cores of this process by the real path of their artifact."""


@record
class Core:
    """Memory of the PEs of an artifact: words, uint16 [PEs of a class, words], and where each PE's are."""

    artifact: artifacts.Artifact
    words: Mapping[str, NDArray[np.uint16]]
    """By class; PEs in the order of `positions`."""
    positions: Mapping[str, Mapping[tuple[int, int], int]]

    def place(self, x: int, y: int, symbol: str) -> tuple[NDArray[np.uint16], artifacts.BufferPlace]:
        """Return the memory of PE (x, y) and where in it a symbol is. Raises SdkError if the PE has none (HOST-072)."""
        for found in self.artifact.classes:
            if (x, y) in self.positions[found.name]:
                place = lookup(found.buffers, symbol)
                if place is not None:
                    return self.words[found.name][self.positions[found.name][x, y]], place
        column, row = (a + b for a, b in zip((x, y), self.artifact.placement.offsets, strict=True))
        raise SdkError(
            f"PE P{column}.{row} of the fabric has no symbol '{symbol}'; either the coordinates are wrong (the program "
            f"starts at P{self.artifact.placement.offsets[0]}.{self.artifact.placement.offsets[1]} and is "
            f"{self.artifact.rectangle[0]} x {self.artifact.rectangle[1]} PEs), or the compiler has removed the "
            "symbol: export it to keep it"
        )

    def symbol(self, x: int, y: int, symbol: str, dtype: DTypeLike) -> NDArray[Any]:
        """Return all of a symbol on PE (x, y) of the program as elements of `dtype`, flat."""
        words, place = self.place(x, y, symbol)
        return _as_array(words, place, symbol, dtype)


def lookup(buffers: Mapping[str, artifacts.BufferPlace], symbol: str) -> artifacts.BufferPlace | None:
    """Return the buffer of a name in the source: in the PE's own file, else the only one in its imports."""
    if symbol in buffers:
        return buffers[symbol]
    imported = [name for name in buffers if name.endswith(f".{symbol}")]
    return buffers[imported[0]] if len(imported) == 1 else None


def element_bytes(element: str) -> int:
    """Return bytes that an element of a buffer takes in memory."""
    return int("".join(filter(str.isdigit, element)) or 16) // 8


def _as_array(words: NDArray[np.uint16], place: artifacts.BufferPlace, symbol: str, dtype: DTypeLike) -> NDArray[Any]:
    try:
        kind = np.dtype(dtype)
    except TypeError:
        raise SdkError(
            f"'{symbol}': dtype is {dtype!r}, which is not a type of numpy; give one such as 'uint32'"
        ) from None
    count = int(np.prod(place.shape, dtype=np.int64))
    size = count * element_bytes(place.element)
    raw = np.ascontiguousarray(words[place.address : place.address + (size + 1) // 2]).view(np.uint8)[:size]
    if raw.nbytes % kind.itemsize:
        raise SdkError(f"'{symbol}' has {raw.nbytes} bytes, which is not a multiple of the size of {kind}")
    return raw.view(kind)


def live_core(artifact: artifacts.Artifact, machine: Machine) -> Core:
    """Return the memory of a machine as it is now."""
    words: dict[str, NDArray[np.uint16]] = {}
    positions: dict[str, dict[tuple[int, int], int]] = {}
    for number, cls in enumerate(machine.classes):
        words[cls.name], points = machine.image(number)
        positions[cls.name] = _numbered(points)
    return Core(artifact, words, positions)


def _numbered(points: NDArray[np.int32]) -> dict[tuple[int, int], int]:
    return {(x, y): number for number, (x, y) in enumerate(points.tolist())}


def size(machine: Machine) -> int:
    """Return bytes of memory that the PEs of a machine use."""
    units = np.bincount(machine.class_of[machine.class_of >= 0], minlength=len(machine.classes)).tolist()
    return sum(2 * cls.words * count for cls, count in zip(machine.classes, units, strict=True))


class _Held:
    """A stopped machine, whose memory is read on demand."""

    def __init__(self, artifact: artifacts.Artifact, machine: Machine) -> None:
        self.artifact = artifact
        self.machine = machine


_held: dict[str, _Held] = {}


def keep(artifact: artifacts.Artifact, machine: Machine) -> None:
    """Keep the memory of a machine that has stopped, for debug_util: here, and in the artifact unless it is huge."""
    key = os.path.realpath(artifact.directory)
    _kept.pop(key, None)
    _held[key] = _Held(artifact, machine)
    artifact.core.unlink(missing_ok=True)
    if size(machine) <= MAX_FILE:
        with suppress(LoomError):  # a directory that cannot be written: only other processes miss it
            write(artifact.core, machine)


def write(path: Path, machine: Machine) -> None:
    """Write the memory of all PEs to a file: for each class the words, and the position of each PE."""
    arrays: dict[str, NDArray[Any]] = {}
    for number, cls in enumerate(machine.classes):
        arrays[f"words_{number}"], arrays[f"positions_{number}"] = machine.image(number)
        arrays[f"name_{number}"] = np.array(cls.name)
    try:
        stream, partial = create_partial(path.parent)
        try:
            with stream:
                np.savez(stream, **arrays)  # pyright: ignore[reportArgumentType]
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SdkError(f"cannot be written: {reason}", str(path)) from error


def find(artifact: artifacts.Artifact) -> Core:
    """Return the core of the last run of an artifact; SdkError if there is none."""
    key = os.path.realpath(artifact.directory)
    if key in _kept:
        return _kept[key]
    if key in _held:
        held = _held.pop(key)
        _kept[key] = live_core(held.artifact, held.machine)
        return _kept[key]
    try:
        with np.load(artifact.core, allow_pickle=False) as file:
            words: dict[str, NDArray[np.uint16]] = {}
            positions: dict[str, dict[tuple[int, int], int]] = {}
            for number in range(len(file.files) // 3):
                name = str(file[f"name_{number}"])
                words[name] = file[f"words_{number}"]
                positions[name] = _numbered(file[f"positions_{number}"])
            if {found.name for found in artifact.classes} != words.keys():
                raise ValueError("it belongs to another program")
            if any(part.dtype != np.uint16 or part.ndim != 2 for part in words.values()):
                raise ValueError("it does not hold words")
            return Core(artifact, words, positions)
    except FileNotFoundError:
        raise SdkError(
            "contains no core; run the program and call stop() before reading its memory", str(artifact.directory)
        ) from None
    except Exception as error:
        # Of a file that is damaged, the libraries that read it raise whatever they run into.
        raise SdkError(f"the core cannot be read ({error}); run the program again", str(artifact.core)) from error
