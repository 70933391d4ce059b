"""Pass `vmi-legalize-arith-select`: a choice between vectors of any length by one bit, as branches."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ..analysis.pto.vector_layout.control_flow import inner_first
from ..analysis.pto.vector_layout.layouts import is_virtual


@dataclass(frozen=True)
class VmiLegalizeArithSelectPass(ModulePass):
    """Replaces `arith.select` of vectors and masks of any length (`pto.vmi`) by `scf.if`: no instruction chooses
    between whole vectors by one bit."""

    name = "vmi-legalize-arith-select"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for select in list(inner_first(op)):
            if isinstance(select, arith.SelectOp) and is_virtual(select.result):
                first, second = (Region(Block([_yield(value, select)])) for value in (select.lhs, select.rhs))
                made = scf.IfOp(select.cond, [select.result.type], first, second)
                made.location = select.location
                Rewriter.insert_op(made, InsertPoint.before(select))
                select.result.replace_all_uses_with(made.results[0])
                Rewriter.erase_op(select)


def _yield(value: SSAValue, of: Operation) -> scf.YieldOp:
    made = scf.YieldOp(value)
    made.location = of.location
    return made
