"""Costs of a chip of cube and vector cores, an estimate: rates of copies, and cycles of products and vector operations.

The numbers are in `a2a3` and `a5`, each with its source, or "assumed". Copies cost a head and their bytes by the rate
of their path; products a head and a number of cycles for each step of the cube; vector operations a head and a number
of cycles for each 256 bytes, by their class.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from ..diagnostics.records import record

Path: TypeAlias = Literal[
    "gm to vec", "gm to mat", "vec to gm", "acc to gm", "mat to gm", "mat to left", "mat to right", "acc to vec",
    "acc to mat", "vec to mat", "mat to bias",
]  # fmt: skip
"""The paths of copies between memories."""

Class: TypeAlias = Literal["unary", "binary", "transcendental", "division", "reduction", "expansion"]
"""The classes of vector operations: on one tile, on two, and so on; `expansion` repeats a number along rows or
columns."""


@record
class Costs:
    """Cycles of the operations of one generation of chips."""

    frequency_hz: float
    rates: Mapping[Path, float]
    """Bytes a cycle of each path."""
    copy_head: int
    """Cycles before the first byte of a copy from or to global memory arrives."""
    local_head: int
    """Cycles before the first byte of a copy between the memories of a core arrives."""
    cube_head: int
    """Cycles of a product beside its steps."""
    cube_rows: int
    """Rows, and columns, of the tiles that a step of the cube multiplies."""
    cube_inner_bytes: int
    """Bytes of the extent over which a step sums."""
    cube_step: int
    """Cycles of a step."""
    cube_step_f32: int
    """Cycles of a step of 32-bit floats."""
    vector_head: int
    """Cycles of a vector operation beside its steps."""
    vector_bytes: int
    """Bytes of a step."""
    vector_steps: Mapping[Class, float]
    """Cycles of a step, by the class of the operation."""
    signal: int
    """Cycles from a signal of one core to the end of the wait for it on another."""
    scalar: int
    """Cycles of a scalar access, or of giving a signal."""
