"""The `pto` dialect: kernels of the cube and vector cores of Ascend chips, as the public PTOAS writes them.

A kernel runs on one kind of core (`kernels`); it makes views of global memory and tiles in the core's own (`memory`),
loads, computes and stores (`tiles`, `tile_functions`), and hands tiles to the other kind of core through pipes: FIFOs
opened by number (`frontend_pipes`), or, after lowering, held as values (`internal_pipes`). `buffers` reserves the
memory of their slots. The text is that of the public dialect, read and printed unchanged; error messages contain the
wording of its verifier.

The text form is the public compiler's own; the instruction set's manual defines none for TPUSH (PTO-036).
"""

from __future__ import annotations

from ..members import dialect_of
from . import (
    attributes,
    buffers,
    enumerations,
    frontend_pipes,
    instructions,
    internal_pipes,
    kernels,
    memory,
    registers,
    strided_vectors,
    tile_functions,
    tiles,
    types,
)

Pto = dialect_of(
    "pto",
    types,
    registers,
    strided_vectors,
    attributes,
    enumerations,
    frontend_pipes,
    internal_pipes,
    buffers,
    memory,
    tiles,
    tile_functions,
    kernels,
    instructions,
)

__all__ = ["Pto"]
