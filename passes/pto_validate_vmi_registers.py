"""Pass `pto-validate-vmi-registers`: checks that vectors of any length become instructions on registers."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..analysis.pto.vector_layout.registers import check_registers
from ..dialects.pto.vmi_stages import check_with_layouts


@dataclass(frozen=True)
class PtoValidateVmiRegistersPass(ModulePass):
    """Checks that operations on vectors of any length (`pto.vmi`), whose layouts are chosen, become instructions on
    registers, as PTOAS's `vmi-to-vpto` does it: with full registers where an instruction takes all elements, memory in
    order, and distances that instructions have. Changes nothing."""

    name = "pto-validate-vmi-registers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_with_layouts(op, as_registers=True)
        check_registers(op)
