"""Pass `expand-wide-integers`: integers of more than 64 bits become several of 64 bits, the low one first."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ...analysis.wse.pe_program import programs
from ...diagnostics.errors import Mistakes
from ...dialects import wse
from ...dialects.machine.code import CodeOperation
from ...dialects.traversal import walk
from .expansion import Expansion, is_wide


@dataclass(frozen=True)
class ExpandWideIntegersPass(ModulePass):
    """Computes with integers of more than 64 bits, a multiple of 64, by limbs of 64 bits, which the machine has.

    A value of such a type becomes several: as a result or operand, an argument of a function or block, and in what
    branches and loops carry. Sums and comparisons take some operations a limb, a product some for each pair of
    halves of limbs, a division a loop over the bits. Raises LoomError for a width that is not a multiple of 64, and
    for an operation that does not compute with such integers.
    """

    name = "expand-wide-integers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        mistakes = Mistakes()
        for program in programs(op):
            for pe in program.pes:
                for code in pe.body.block.ops:
                    if isinstance(code, CodeOperation) and any(map(_has_wide, walk(code))):
                        with mistakes.going_on():
                            Expansion(code).run()
        mistakes.end()


def _has_wide(op: Operation) -> bool:
    """Return True if an operation makes or declares a wide integer: whatever uses one comes behind such."""
    if op.results and any(map(is_wide, op.result_types)):
        return True
    return isinstance(op, wse.FuncOp) and any(map(is_wide, (*op.function_type.inputs, *op.function_type.outputs)))
