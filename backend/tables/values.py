"""Values known when a program is assembled, and the bits that registers hold of them."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...operations import nans
from ...operations.scalar_types import numpy_type
from ...runtime.tables.instructions import BITS, FLOATS

_FORMATS = {"f32": "<f", "f16": "<e"}


class Known:
    """A scalar known now, as `scalars` of the engine compute with it: an int, bool or float of a kind.

    `kind` is None for a type that nothing computes with.
    """

    __slots__ = ("kind", "value")

    def __init__(self, value: Any, kind: str | None):
        self.value = value
        self.kind = kind

    @property
    def bits(self) -> int:
        """Return what a register holds of it."""
        return register_bits(self.value, self.kind or "")


def register_bits(value: Any, kind: str) -> int:
    """Return what a register holds of a number: an integer with its sign, or the bits of a float."""
    if kind not in FLOATS:
        return int(value)
    number = float(value)
    if kind == "bf16":
        return nans.bf16_bits(number) & 0xFFFF
    if math.isnan(number):
        return nans.bits(number, BITS[kind], nans.MANTISSA_BITS[kind])
    return int.from_bytes(struct.pack(_FORMATS[kind], number), "little")


def register_array(values: NDArray[Any], kind: str) -> NDArray[np.int64]:
    """Return what registers hold of an array of numbers of a kind."""
    if kind not in FLOATS:
        return values.astype(np.int64)
    return values.astype(numpy_type(kind), copy=False).view(f"u{BITS[kind] // 8}").astype(np.int64)


def reinterpreted(bits: int, source: str, result: str) -> int:
    """Return the register of a value of one kind, read as another kind of the same width."""
    pattern = bits & (1 << BITS[source]) - 1
    if result in FLOATS:
        return pattern
    return pattern - (pattern >> BITS[result] - 1 << BITS[result])
