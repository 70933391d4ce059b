"""Pass `vmi-mask-granularity-assignment`: the width of elements that each mask of any length is for."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ..analysis.pto.vector_layout.layouts import bits_of, with_width
from ..analysis.pto.vector_layout.mask_widths import widths_of
from ..analysis.pto.vector_layout.rewriting import insert_before, recreated, retype, set_signatures
from ..dialects.pto.registers import VmiMaskType


@dataclass(frozen=True)
class VmiMaskGranularityAssignmentPass(ModulePass):
    """Gives masks of any length (`pto.vmi`) the width of the elements that they are for: of what is compared, or 32
    bits. Where a mask is used for elements of another width, it is made again for those, or else changed by
    `pto.vmi.ensure_mask_granularity`."""

    name = "vmi-mask-granularity-assignment"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        widths = widths_of(op)
        for mask, bits in widths.by_value.items():
            assert isinstance(mask.type, VmiMaskType)
            retype(mask, with_width(mask.type, bits))
        set_signatures(op)
        for change in widths.changes:
            mask = change.op.operands[change.index]
            if isinstance(mask.type, VmiMaskType) and bits_of(mask.type) != change.bits:
                change.op.operands[change.index] = _for_width(change.op, mask, with_width(mask.type, change.bits))


def _for_width(op: Operation, mask: SSAValue, wanted: VmiMaskType) -> SSAValue:
    made = recreated(mask, wanted, op, ("create_mask", "create_group_mask", "constant_mask"))
    return made or insert_before(op, "ensure_mask_granularity", [mask], [wanted]).results[0]
