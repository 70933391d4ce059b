"""Pass `wse-lint`: warnings about tasks, queues and variables that cannot do what they are declared for."""

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
    """Warns of tasks that never run, of queues that nothing uses, and of variables that are read and never written.

    It changes nothing. `loom cslc` warns of the same in programs in CSL.
    """

    name = "wse-lint"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in programs(op):
            for declared, message in lint_program(program):
                tell("warning", message, location_of(declared))
