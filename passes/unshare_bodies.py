"""Pass `unshare-bodies`: every function and task gets a body of its own."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..dialects.machine.sharing import programs_of, unshare


@dataclass(frozen=True)
class UnshareBodiesPass(ModulePass):
    """Replaces `shares` by a copy of the body, in `wse` and `flow`: for tools that look at one PE program by itself."""

    name = "unshare-bodies"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in programs_of(op):
            unshare(program)
