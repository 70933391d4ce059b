"""Priorities of microthreads and SIMD modes of wavelets, as the wafer's dialects write them."""

from __future__ import annotations

from xdsl.utils.str_enum import StrEnum


class Priority(StrEnum):
    """The priority of a microthread: of several that can run, one of the highest does (DSD-231, DSD-232)."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class SimdMode(StrEnum):
    """The SIMD mode of a fabric DSD: how many 16-bit values travel in a step (DSD-238 to DSD-242)."""

    SIMD_32 = "simd_32"
    SIMD_64 = "simd_64"
    SIMD_32_OR_64 = "simd_32_or_64"
    SIMD_OFF = "simd_off"
    SIMD_MAX = "simd_max"


SIMD_BITS = {
    SimdMode.SIMD_32: 32, SimdMode.SIMD_32_OR_64: 32, SimdMode.SIMD_64: 64, SimdMode.SIMD_MAX: 64, SimdMode.SIMD_OFF: 0,
}  # fmt: skip
"""The bits without which an operation on a FIFO of a SIMD mode does not go on (AMB-20)."""

PRIORITIES = tuple(each.value for each in Priority)
SIMD_MODES = tuple(each.value for each in SimdMode)
