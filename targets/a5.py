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

COSTS = replace(
    a2a3.COSTS,
    # No rates of a5 are published: those of a2a3 are assumed, and for the direct paths between the cores of a block
    # that of the accumulator to the first memory.
    rates={
        **a2a3.COSTS.rates,
        "acc to vec": a2a3.COSTS.rates["acc to mat"],
        "vec to mat": a2a3.COSTS.rates["acc to mat"],
    },
    vector_head=55,  # `linear` rows of a5's formula_params.csv of pto-isa: cycles = slope * steps + head
    vector_steps={
        "unary": 1.25,  # as TADD
        "binary": 1.25,  # TADD 1.247
        "transcendental": 1.97,  # TEXP 1.967
        "division": 1.91,  # TDIVS 1.908
        "reduction": 4.0,  # assumed
        "expansion": 1.88,  # assumed: the inner loop of TADD in two dimensions
    },
)
"""Estimates of what operations cost, where they differ from a2a3."""
