"""Pass `vmi-layout-rematerialize-weak-producers`: constants of any layout are made again for each of their users."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Use
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ..analysis.pto.vector_layout.control_flow import inner_first
from ..analysis.pto.vector_layout.transfer import operation_name

_ANY_LAYOUT = ("constant", "broadcast", "iota", "create_mask", "create_group_mask", "constant_mask")
"""Operations whose result has any layout, at no cost."""


@dataclass(frozen=True)
class VmiLayoutRematerializeWeakProducersPass(ModulePass):
    """Makes constants, numbers that count and masks of the first elements (`pto.vmi`) again in front of each operation
    that uses them but one, so that each has the layout that its user needs."""

    name = "vmi-layout-rematerialize-weak-producers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for producer in [each for each in inner_first(op) if operation_name(each) in _ANY_LAYOUT]:
            users: dict[Operation, list[Use]] = {}
            for use in producer.results[0].uses:
                users.setdefault(use.operation, []).append(use)
            for user in list(users)[1:]:
                made = producer.clone()
                Rewriter.insert_op(made, InsertPoint.before(user))
                made.location = producer.location
                for use in users[user]:
                    user.operands[use.index] = made.results[0]
