"""Pass `vmi-pre-assignment-combine`: simpler loads of vectors of any length, before layouts are chosen."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ..analysis.pto.vector_layout.control_flow import inner_first
from ..analysis.pto.vector_layout.relations import size_of_groups
from ..analysis.pto.vector_layout.rewriting import insert_before
from ..analysis.pto.vector_layout.transfer import groups_of, operation_name, stride_of
from ..dialects.pto.instruction_operation import InstructionOp
from ..dialects.pto.registers import VmiVRegType


@dataclass(frozen=True)
class VmiPreAssignmentCombinePass(ModulePass):
    """Loads rows of groups that follow each other as one vector (`pto.vmi.load`), and an element for each group that is
    only repeated in its group by one load (`pto.vmi.group_broadcast_load`)."""

    name = "vmi-pre-assignment-combine"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(inner_first(op)):
            if operation_name(each) == "group_load" and isinstance(each, InstructionOp):
                _load_in_order(each)
        for each in list(inner_first(op)):
            if operation_name(each) == "group_broadcast" and isinstance(each, InstructionOp):
                _load_repeated(each)


def _load_in_order(load: InstructionOp) -> None:
    type = load.results[0].type
    if isinstance(type, VmiVRegType) and stride_of(load) == size_of_groups(type, groups_of(load)):
        _replace(load, insert_before(load, "load", list(load.operands[:2]), [type]))


def _load_repeated(broadcast: InstructionOp) -> None:
    source = broadcast.operands[0]
    load = source.op if isinstance(source, OpResult) else None
    if load is None or operation_name(load) != "group_slot_load" or not isinstance(load, InstructionOp):
        return
    if source.uses.get_length() == 1 and groups_of(load) == groups_of(broadcast):
        groups = {"num_groups": broadcast.attributes["num_groups"]}
        results = [broadcast.results[0].type]
        made = insert_before(broadcast, "group_broadcast_load", list(load.operands), results, groups)
        _replace(broadcast, made)
        Rewriter.erase_op(load)


def _replace(op: Operation, made: Operation) -> None:
    op.results[0].replace_all_uses_with(made.results[0])
    Rewriter.erase_op(op)
