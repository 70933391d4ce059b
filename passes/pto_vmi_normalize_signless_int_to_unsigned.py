"""Pass `pto-vmi-normalize-signless-int-to-unsigned`: integers without a sign are unsigned where that matters."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp, Signedness
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ..analysis.pto.vector_layout.control_flow import inner_first
from ..analysis.pto.vector_layout.rewriting import insert_before, instruction, retype
from ..analysis.pto.vector_layout.transfer import operation_name
from ..dialects.pto.registers import VmiVRegType
from ..dialects.pto.rules import is_signless, width

_BY_SIGN = {
    "vmin", "vmax", "vshr", "vcmax", "vcmin", "vmaxs", "vmins", "vshrs", "vcvt", "mini", "maxi", "shrui",
    "reduce_maxi", "reduce_mini", "group_reduce_maxi", "group_reduce_mini", "fptoui", "extui", "vdhist", "vchist",
}  # fmt: skip
"""Operations that compute other results with signed integers than with unsigned ones."""


@dataclass(frozen=True)
class PtoVmiNormalizeSignlessIntToUnsignedPass(ModulePass):
    """Takes integers without a sign of their own as unsigned (`pto.vmi.bitcast`) in operations on vectors of any length
    that depend on the sign, such as `vmax`, `vshr` and `vcvt`."""

    name = "pto-vmi-normalize-signless-int-to-unsigned"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(inner_first(op)):
            if operation_name(each) in _BY_SIGN:
                _normalize(each)


def _unsigned(type: Attribute) -> VmiVRegType | None:
    """Return a vector with unsigned elements; None if it has a sign already, or no integers."""
    if not isinstance(type, VmiVRegType) or not is_signless(type.element_type):
        return None
    return VmiVRegType(type.count, IntegerType(width(type.element_type), Signedness.UNSIGNED), type.layout)


def _normalize(op: Operation) -> None:
    for index, operand in enumerate(list(op.operands)):
        if (type := _unsigned(operand.type)) is not None:
            op.operands[index] = insert_before(op, "bitcast", [operand], [type]).results[0]
    for result in list(op.results):
        old = result.type
        if (type := _unsigned(old)) is not None:
            now = retype(result, type)
            back = instruction("bitcast", [now], [old], of=op)
            Rewriter.insert_op(back, InsertPoint.after(op))
            now.replace_uses_with_if(back.results[0], lambda use, back=back: use.operation is not back)
