"""Pass `pto-assign-default-frontend-pipe-id`: operations on pipes without an id get id 0."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.passes import ModulePass

from ..dialects.pto.frontend_pipes import FrontendOperation
from ..dialects.traversal import walk


@dataclass(frozen=True)
class PtoAssignDefaultFrontendPipeIdPass(ModulePass):
    """Writes `id = 0` on every operation on a pipe of a kernel that has no `id`; kernels of one pipe leave it out."""

    name = "pto-assign-default-frontend-pipe-id"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in walk(op):
            if isinstance(inner, FrontendOperation) and inner.id is None:
                inner.id = IntegerAttr(inner.pipe_id, i32)
