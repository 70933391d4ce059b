"""The fifth generation of cube and vector cores, where it differs from a2a3; the source is the same."""

from __future__ import annotations

from dataclasses import replace

from . import a2a3

CHIP = replace(
    a2a3.CHIP,
    name="a5",
    vector_bytes=248 * 1024,  # 2,031,616 bits
    accumulator_bytes=256 * 1024,  # 2,097,152 bits
    scaling_bytes=248 * 1024,  # 2,031,616 bits
)
