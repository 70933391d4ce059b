"""Pass `vmi-layout-fold`: loads and stores of vectors of any length in the layout that is there."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ..analysis.pto.vector_layout.control_flow import inner_first
from ..analysis.pto.vector_layout.layouts import contiguous, layout_of
from ..analysis.pto.vector_layout.relations import can_load, can_store, can_store_masked
from ..analysis.pto.vector_layout.rewriting import retype
from ..analysis.pto.vector_layout.transfer import operation_name
from ..dialects.pto.registers import VmiVRegType


@dataclass(frozen=True)
class VmiLayoutFoldPass(ModulePass):
    """Loads vectors of any length (`pto.vmi`) in the layout that all their users change them to, stores them in the one
    that they had before a change, and drops changes there and back."""

    name = "vmi-layout-fold"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        changes: list[Operation] = []
        for each in list(inner_first(op)):
            if operation_name(each) == "load":
                changes += _fold_load(each)
        for each in list(inner_first(op)):
            if operation_name(each) == "ensure_layout":
                changes += _fold_back(each)
        for each in list(inner_first(op)):
            if operation_name(each) in ("store", "masked_store"):
                changes += _fold_store(each)
        for change in reversed(list(dict.fromkeys(changes))):
            if change.parent is not None and not change.results[0].uses:
                Rewriter.erase_op(change)


def _change(value: SSAValue, name: str = "ensure_layout") -> Operation | None:
    return value.op if isinstance(value, OpResult) and operation_name(value.op) == name else None


def _fold_load(load: Operation) -> list[Operation]:
    users = [use.operation for use in load.results[0].uses]
    if not users or any(operation_name(user) != "ensure_layout" for user in users):
        return []
    types = {user.results[0].type for user in users}
    type, layout = next(iter(types)), layout_of(next(iter(types)))
    if len(types) > 1 or layout is None or not isinstance(type, VmiVRegType) or not can_load(type, layout):
        return []
    if type == load.results[0].type:
        return []
    loaded = retype(load.results[0], type)
    for user in users:
        user.results[0].replace_all_uses_with(loaded)
    return users


def _fold_back(change: Operation) -> list[Operation]:
    inner = _change(change.operands[0])
    if inner is None or inner.operands[0].type != change.results[0].type:
        return []
    change.results[0].replace_all_uses_with(inner.operands[0])
    return [inner, change]


def _fold_store(store: Operation) -> list[Operation]:
    change = _change(store.operands[0])
    if change is None:
        return []
    source = change.operands[0]
    own = layout_of(source.type)
    if own is None or own == contiguous() or layout_of(change.results[0].type) != contiguous():
        return []
    if not isinstance(source.type, VmiVRegType) or not can_store(source.type, own):
        return []
    if operation_name(store) == "store":
        store.operands[0] = source
        return [change]
    last = len(store.operands) - 1
    of_mask = _change(store.operands[last], "ensure_mask_layout")
    if of_mask is None or layout_of(of_mask.results[0].type) != contiguous():
        return []
    mask = layout_of(of_mask.operands[0].type)
    if mask is None or not can_store_masked(source.type, own, mask):
        return []
    store.operands[0] = source
    store.operands[last] = of_mask.operands[0]
    return [change, of_mask]
