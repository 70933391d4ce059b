"""Vector core dependence: operations that only one of the vector cores runs, and values that differ between them."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from ...dialects.pto.kernels import GetSubBlockIdxOp


def is_lane_conditional(op: Operation) -> bool:
    """Return True if an operation is in an scf.if whose condition depends on the vector core."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        if isinstance(parent, scf.IfOp) and depends_on_lane(parent.cond):
            return True
        parent = parent.parent_op()
    return False


def depends_on_lane(value: SSAValue) -> bool:
    """Return True if a value is computed from the number of the vector core."""
    seen: set[SSAValue] = set()
    pending = [value]
    while pending:
        current = pending.pop()
        if current in seen or isinstance(current, BlockArgument):
            continue
        seen.add(current)
        if isinstance(current.owner, GetSubBlockIdxOp):
            return True
        if isinstance(current.owner, Operation):
            pending += current.owner.operands
    return False
