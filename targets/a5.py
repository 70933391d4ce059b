"""The fifth generation of cube and vector cores. Source of the numbers: the public compiler's planner."""

from __future__ import annotations

from dataclasses import replace

from . import a2a3

CHIP = replace(
    a2a3.CHIP,
    name="a5",
    vector_bytes=248 * 1024,  # public compiler: 2,031,616 bits
)
