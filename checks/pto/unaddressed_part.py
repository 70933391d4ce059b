"""Parts of tiles that have no address when the program is compiled."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from ...analysis.pto.schedules import Kernel
from ...dialects.pto.kernels import is_entry
from ...dialects.pto.memory import SubViewOp, TReshapeOp
from ...dialects.traversal import walk
from .hazard import Hazard

CODES = ("unaddressed-part",)
"""Codes of the findings that this check reports."""


def find_in_kernel(kernel: Kernel) -> Iterator[Hazard]:
    """Yield the parts of tiles that the host passes: PTOAS computes a part's address from that of its tile."""
    for op in walk(kernel.function) if is_entry(kernel.function) else ():
        root = _root(op.source) if isinstance(op, SubViewOp) else None
        if isinstance(root, BlockArgument) and isinstance(root.owner.parent_op(), FuncOp):
            yield Hazard(
                "unaddressed-part",
                op,
                "failed to legalize operation 'pto.subview' that was explicitly marked illegal: its tile is an "
                "argument of an entry function and has no address; allocate the tile in the function",
            )


def _root(value: SSAValue) -> SSAValue:
    """Return the tile that a part of a part is of."""
    owner = value.owner
    while isinstance(owner, Operation) and isinstance(owner, SubViewOp | TReshapeOp):
        value = owner.source if isinstance(owner, SubViewOp) else owner.src
        owner = value.owner
    return value
