"""Pass `wse-lint`: warnings about what cannot do what it is declared for, and about races."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..analysis.wse.lint import lint_program
from ..analysis.wse.pe_program import programs
from ..diagnostics.locations import location_of
from ..diagnostics.output import tell


@dataclass(frozen=True)
class WseLintPass(ModulePass):
    """Warns of tasks that never run, unused queues, variables read and never written, races and mixed floats.

    It changes nothing. `loom cslc` warns of the same in programs in CSL.
    """

    name = "wse-lint"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in programs(op):
            for declared, message in lint_program(program):
                tell("warning", message, location_of(declared))
