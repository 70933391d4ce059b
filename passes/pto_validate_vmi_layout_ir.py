"""Pass `pto-validate-vmi-layout-ir`: checks that all vectors of any length have layouts."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..analysis.pto.vector_layout.support import check_layouts
from ..dialects.pto.vmi_stages import check_with_layouts


@dataclass(frozen=True)
class PtoValidateVmiLayoutIrPass(ModulePass):
    """Checks that all vectors and masks of any length (`pto.vmi`) have a layout, as PTOAS chooses them, that only
    operations of `pto.vmi`, functions and control flow use them, and that these take and give the layouts that they
    have. Changes nothing."""

    name = "pto-validate-vmi-layout-ir"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_with_layouts(op)
        check_layouts(op)
