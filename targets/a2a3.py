"""The second and third generation of cube and vector cores.

Source of the numbers: the public compiler's planner. The public instruction set's headers agree but for bias and
scaling, of which they allow 1 and 2 KiB (4 and 4 on a5), and for alignment, which is 32 there.
"""

from __future__ import annotations

from .chip import Chip

CHIP = Chip(
    name="a2a3",
    vector_bytes=192 * 1024,  # 1,572,864 bits
    cube_bytes=512 * 1024,  # 4,194,304 bits
    left_bytes=64 * 1024,  # 524,288 bits
    right_bytes=64 * 1024,  # 524,288 bits
    accumulator_bytes=128 * 1024,  # 1,048,576 bits
    bias_bytes=64 * 1024,  # 524,288 bits
    scaling_bytes=192 * 1024,  # 1,572,864 bits
    alignment=256,
    operand_alignment=4096,
)
