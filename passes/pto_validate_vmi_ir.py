"""Pass `pto-validate-vmi-ir`: checks that vectors of any length are as people write them, without layouts."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..dialects.pto.vmi_stages import check_as_written


@dataclass(frozen=True)
class PtoValidateVmiIrPass(ModulePass):
    """Checks that vectors and masks of any length (`pto.vmi`) have no layouts and masks no width yet, that only
    operations of `pto.vmi`, functions and control flow use them, and that functions with them are defined. Changes
    nothing."""

    name = "pto-validate-vmi-ir"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_as_written(op)
