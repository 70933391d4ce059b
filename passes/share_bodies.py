"""Pass `share-bodies`: functions and tasks that several PE programs have alike get one body."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..dialects.machine.sharing import programs_of, share


@dataclass(frozen=True)
class ShareBodiesPass(ModulePass):
    """Replaces the body of each function and task that is like one of an earlier PE program, or class of units, by
    `shares` and the name of that one.

    Bodies are alike if their operations are, with the same attributes, symbols and places in the source. What the
    symbols stand for may differ: they are those of the program that shares. The front end writes its programs so.
    """

    name = "share-bodies"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in programs_of(op):
            share(program)
