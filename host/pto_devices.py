"""Arguments of several devices: values for each, arrays of other devices, and where the memories of all are.

All devices run the same kernels, each on arrays of its own. Their memories are parts of one global memory and alike, so
that what has one name is at the same distance from one device to the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..diagnostics.errors import LoomError
from ..diagnostics.records import record
from ..runtime.places import Array

MAX_DEVICES = 64
"""Devices of a run; as many have places in the context that PyPTO's launcher passes."""


@record
class Peer:
    """The array that an argument of a device is, for a pointer of any device: `Peer("x", 1)` is `x` of device 1."""

    name: str
    device: int


@record
class Windows:
    """Where the memories of all devices begin, for a pointer to 64-bit integers: the context that PyPTO's launcher
    passes for a window, which `CommRemoteOffset` reads.

    Word 2 has the number of the device in its low half and how many there are in the other; from word 4 on are the
    addresses.
    """


WINDOWS = Windows()

FIRST_WINDOW, RANK_WORD = 4, 2

Value: TypeAlias = "np.ndarray[Any, Any] | int | float | Peer | Windows | None"


def context_words(device: int, bases: Sequence[int]) -> Array:
    """Return the context of a device."""
    words = np.zeros(FIRST_WINDOW + len(bases), np.int64)
    words[RANK_WORD] = device | len(bases) << 32
    words[FIRST_WINDOW:] = bases
    return words


def of_each(arguments: Mapping[str, Any], devices: int) -> list[dict[str, Value]]:
    """Return the arguments of each device; a list or tuple has one value for each.

    Raises LoomError for a list of another length, and where not all have an array, of one shape and type.
    """
    found: list[dict[str, Value]] = [{} for _ in range(devices)]
    for name, given in arguments.items():
        if not isinstance(given, list | tuple):
            values: list[Any] = [given] * devices
        else:
            values = list(given)  # pyright: ignore[reportUnknownArgumentType]
            if len(values) != devices:
                raise LoomError(
                    f"argument '{name}' has {len(values)} values for {devices} devices; give one for each, or an array"
                )
        arrays: list[Array] = [value for value in values if isinstance(value, np.ndarray)]
        if 0 < len(arrays) < devices:
            raise LoomError(
                f"argument '{name}' is an array of {len(arrays)} of {devices} devices, whose memories are alike; give "
                "each an array, and what some have of others in another argument"
            )
        if len({(array.shape, array.dtype) for array in arrays}) > 1:
            raise LoomError(
                f"argument '{name}' differs in shape or type between devices, whose memories are alike; give each an "
                "array of one shape"
            )
        for values_of, value in zip(found, values, strict=True):
            values_of[name] = value
    return found
