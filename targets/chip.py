"""Parameters of a chip of cube and vector cores, as its kernels see it; the numbers are in `a2a3` and `a5`.

A `Chip` is plain data; replace a field with `dataclasses.replace(chip, vector_bytes=2**20)` to explore another.
"""

from __future__ import annotations

from ..diagnostics.records import record

LANES = 2
"""Vector cores of a block (PTO-025)."""

HARDWARE_FLAGS = 16
"""Flags between the cores of a block (PTO-023)."""

FLAG_ALIGNMENT = 2
"""Of the first flag of a pipe, whose data and free flags of a direction are side by side."""

LANE_ALIGNMENT = 32
"""The alignment a5 needs to split by columns: of the columns of a C2V tile in elements, of those of a V2C lane in
bytes."""

BLOCK_BYTES = 32
"""The bytes of a block of local memory: addresses of tiles and offsets of bytes are multiples (PTOAS's verifiers)."""

OPERAND_BYTES = 512
"""The bytes of a block of the memories of operands and results of products, of which their addresses are multiples."""

MAX_FIELD = 65535
"""The largest position or stride that a field of 16 bits of an instruction holds (PTOAS's verifiers)."""

MAX_BYTE_FIELD = 255
"""The largest number of steps that a field of 8 bits of an instruction holds (PTOAS's verifiers)."""

MAX_CACHE_POLICY = 15
"""The largest number that says how a store uses the second cache (PTOAS's verifiers)."""

SCALE_ADDRESS_BYTES = 16
"""The alignment of where scales of blocks are copied to (PTOAS's verifiers)."""

MAX_THREADS = 2048
"""The most threads of a block (PTOAS's verifiers)."""

MAX_BLOCKS = 65_535
"""The most blocks of a launch: their indices are numbers of 16 bits (assumed)."""

MAX_KEPT_WORDS = 123
"""The words of 32 bits that a thread keeps from one section to the next (PTOAS's verifiers)."""

MAX_FILLED = 32767
"""The largest size or gap, in blocks, of an instruction that fills local memory (PTOAS's verifiers)."""

BOX_ROWS = 16
"""Rows of a box of a fractal layout, and columns of one of 16-bit elements."""

MAX_PRODUCT_EXTENT = 4095
"""The most valid rows and columns of the tiles of a product (`CheckDynamicMad` of the public headers)."""

SCALE_BOX = (16, 2)
"""Rows and columns of a box of the scales of blocks."""


@record
class Chip:
    """One generation of chips."""

    name: str
    vector_bytes: int
    """Memory of one vector core (UB), where it takes tiles from a pipe."""
    cube_bytes: int
    """First memory of the cube core (L1), where it takes tiles from a pipe."""
    left_bytes: int
    """Memory of the cube core for left operands of products (L0A)."""
    right_bytes: int
    """Memory of the cube core for right operands of products (L0B)."""
    accumulator_bytes: int
    """Memory of the cube core for products (L0C)."""
    bias_bytes: int
    """Memory of the cube core for what is added to the columns of a product."""
    scaling_bytes: int
    """Memory of the cube core for what the columns of a product are multiplied by."""
    alignment: int
    """Of buffers and tiles, in bytes, where `operand_alignment` does not hold."""
    operand_alignment: int
    """Of tiles that are operands and results of products (L0A, L0B, L0C), in bytes."""
