"""NaNs of narrower formats as Python floats, bit for bit.

A NaN's sign and the bits of its mantissa are those of the float, its mantissa's highest ones. Conversions of numpy and
of the processor set the highest bit, and may drop the others.
"""

from __future__ import annotations

import math
import struct

MANTISSA_BITS = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}
"""Bits of the mantissa of MLIR's formats."""

_EXPONENT = 0x7FF << 52
_MANTISSA = (1 << 52) - 1


def bits(value: float, width: int, mantissa: int) -> int:
    """Return a NaN's bits in a format of `width` bits, `mantissa` of them of the mantissa."""
    wide = int.from_bytes(struct.pack("<d", value), "little")
    carried = (wide & _MANTISSA) >> (52 - mantissa) or 1 << (mantissa - 1)
    return (wide >> 63 << (width - 1)) | ((1 << (width - 1)) - (1 << mantissa)) | carried


def from_bits(pattern: int, width: int, mantissa: int) -> float:
    """Return the NaN with these bits in a format of `width` bits, `mantissa` of them of the mantissa."""
    carried = pattern & ((1 << mantissa) - 1)
    wide = (pattern >> (width - 1) & 1) << 63 | _EXPONENT | carried << (52 - mantissa)
    number: float = struct.unpack("<d", wide.to_bytes(8, "little"))[0]
    return number


def is_nan(pattern: int, width: int, mantissa: int) -> bool:
    """Return True if these bits are a NaN in a format of `width` bits, `mantissa` of them of the mantissa."""
    return pattern & ((1 << (width - 1)) - 1) > (1 << (width - 1)) - (1 << mantissa)


def bf16_bits(value: float) -> int:
    """Return the bits, as a signed integer, of a float that is a bf16."""
    if math.isnan(value):
        pattern = bits(value, 16, 7)
    else:
        pattern = int.from_bytes(struct.pack("<f", value)[2:], "little")
    return pattern - (pattern >> 15 << 16)


def bf16_from_bits(pattern: int) -> float:
    """Return the float with the bits of a bf16, given as a signed or an unsigned integer."""
    if is_nan(pattern, 16, 7):
        return from_bits(pattern, 16, 7)
    number: float = struct.unpack("<f", ((pattern & 0xFFFF) << 16).to_bytes(4, "little"))[0]
    return number
