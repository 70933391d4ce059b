"""What a chip of cube and vector cores is made of, as its kernels see it: the shape of the numbers, none of them.

A `Chip` is plain data; replace a field with `dataclasses.replace(chip, vector_bytes=2**20)` to explore another.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Chip:
    """One generation of chips."""

    name: str
    vector_bytes: int
    """Memory of one vector core, where it takes tiles from a pipe."""
    cube_bytes: int
    """First memory of the cube core (L1), where it takes tiles from a pipe."""
    alignment: int
    """Of buffers in both memories, in bytes."""
