"""The second and third generation of cube and vector cores.

Source of the numbers: the public compiler's planner. The public instruction set's headers agree but for bias and
scaling, of which they allow 1 and 2 KiB (4 and 4 on a5), and for alignment, which is 32 there.
"""

from __future__ import annotations

from .chip import Chip
from .chip_costs import Costs

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

_GHZ = 1.85
"""The frequency in 10^9 cycles a second: `kMainFrequencyHz` of the public cost model (arch_config.hpp of pto-isa)."""

_GIB = 1024**3 / 1e9


def _rate(gib_per_second: float) -> float:
    """Return bytes a cycle of a rate in GiB/s."""
    return gib_per_second * _GIB / _GHZ


COSTS = Costs(
    frequency_hz=_GHZ * 1e9,
    rates={
        # `kA2A3ArchConfig` of the same file, in GiB/s of one core. The manual's tables have twice as much from global
        # memory (128 and 256 bytes a cycle), and the same between the memories of a core.
        "gm to vec": _rate(100.9),
        "gm to mat": _rate(135.0),
        "vec to gm": _rate(188.46),
        "acc to gm": _rate(70.0),
        "mat to gm": _rate(32.0),
        "mat to left": _rate(441.0),
        "mat to right": _rate(220.5),
        "acc to mat": _rate(128.0),
        "mat to bias": _rate(32.0),
        "acc to vec": _rate(70.0),  # by way of global memory
        "vec to mat": _rate(135.0),  # by way of global memory
    },
    copy_head=100,  # assumed; the public simulator has 50 for a hit of its cache and 150 more for a miss
    # What the share of extracts in the measured products of gemm_performance (README.md) leaves beside their bytes: 50
    # cycles each for 1536 x 1536 x 1536, 46 for 6144 x 6144 x 6144.
    local_head=50,
    cube_head=6,  # `kDefaultHeadCycles` of cce_costmodel_cube.hpp
    cube_rows=16,  # `mad` there: a step of 16 x 16 elements, 32 bytes deep
    cube_inner_bytes=32,
    cube_step=1,
    cube_step_f32=2,
    vector_head=33,  # the manual's start of 14 and completion of 19 cycles
    vector_bytes=256,
    vector_steps={
        # Slopes of formula_params.csv for f32, in cycles for 64 elements.
        "unary": 1.0,  # TADDS 0.0156
        "binary": 2.0,  # TMUL 0.0313
        "transcendental": 4.0,  # the manual's A2A3_RPT_4
        "division": 5.0,  # TDIVS 0.0781
        "reduction": 4.0,  # TROWSUM 0.0625 for 128 columns
        "expansion": 7.5,  # TROWEXPAND 0.1176 for 128 columns
    },
    signal=100,  # assumed: no figure is published
    scalar=2,  # assumed
)
"""Estimates of what operations cost, from the cost model that the public instruction set publishes."""
