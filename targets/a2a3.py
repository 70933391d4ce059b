"""The second and third generation of cube and vector cores. Source of the numbers: the public compiler's planner."""

from __future__ import annotations

from .chip import Chip

CHIP = Chip(
    name="a2a3",
    vector_bytes=192 * 1024,  # public compiler: 1,572,864 bits
    cube_bytes=512 * 1024,  # public compiler: 4,194,304 bits
    alignment=256,  # public compiler
)
