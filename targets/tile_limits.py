"""Sizes that instructions on tiles ask of their tiles, beside those of the chip, as PTOAS's verifiers have them."""

from __future__ import annotations

REPEAT_BITS = 2048
"""Bits that a vector instruction computes with in one step."""

BLOCK_BITS = 256
"""Bits of a block of local memory."""

SMALLEST_SCRATCH = 32
"""Bytes that scratch memory has at least."""

COUNT_SCRATCH = {32: 768, 16: 1792}
"""Bytes of scratch memory that counting up needs on a2 and a3, by the bits of an element."""

SELECT_SCRATCH = {16: 16, 32: 8}
"""Bytes of scratch memory that a selection needs on a2 and a3, by the bits of an element."""

EXPANSION_ROWS = 8
"""Rows of a vector of one element each that are expanded together on a2 and a3."""

EXPANSION_BYTES = 256
"""Bytes of scratch memory that these rows need."""

EXPANSION_STEPS = (30, 32)
"""The most times that they are needed: if there are at least 256 rows, and where their number is not known."""

TRANSPOSED_COLUMNS = {1: 32, 2: 16, 4: 16}
"""Columns of a transposed tile that are made at once, by the bytes of an element."""

LONGEST_STRIDE = 255
"""Blocks between rows that a transposition steps over at once."""

HISTOGRAM_BINS = 256
"""Columns of a histogram of bytes."""

SCALED = 32
"""Elements of a row that share a scale."""

SCALED_STEP = 64
"""Elements in a multiple of which the inner extent of a product of scaled tiles is stored."""

MERGED_STEP = 64
"""Elements in a multiple of which lists are merged."""

MAX_COLUMNS = 4095
"""The most columns of an accumulator that is stored on a2 and a3."""

ZZ_ROWS = 16
"""Rows of exponents that are stored side by side in the layout of the cube core."""

ZZ_SCRATCH = 64
"""Bytes of scratch memory that rearranging exponents needs beside a row of offsets."""

UNROLLED = (1024, 256)
"""Elements from which on quantization works on two registers at once, and the multiple that it needs then."""

FLOAT_STEP = 64
"""32-bit elements of a vector register."""

HALF_STEP = 128
"""16-bit elements of a vector register."""

WORKSPACE_NUMBERS = 16
"""Numbers in the workspace of a barrier in software."""

WORKSPACE_BITS = 32
"""Bits of each."""

SESSION_BYTES = 8
"""Bytes of scratch memory that asynchronous transfers share."""

MAX_BLOCK_STRIDE = 0xFFFF
"""Blocks from one to the next that `vsstb` stores: what its control field of 16 bits holds (PTOAS)."""
