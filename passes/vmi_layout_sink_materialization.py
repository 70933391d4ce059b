"""Pass `vmi-layout-sink-materialization`: one change of layout behind an operation for those of all its operands."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ..analysis.pto.vector_layout.control_flow import inner_first
from ..analysis.pto.vector_layout.layouts import layout_of, with_layout
from ..analysis.pto.vector_layout.relations import can_change
from ..analysis.pto.vector_layout.rewriting import instruction
from ..analysis.pto.vector_layout.transfer import operation_name
from ..dialects.pto.registers import VmiMaskType, VmiVRegType

_NUMBERS = ("add", "sub", "mul", "min", "max")
_SINKS = (
    *(f"{each}{kind}" for each in _NUMBERS for kind in "fi"),
    *("divf", "andi", "ori", "xori", "shli", "shrui", "shrsi", "fma", "cmpf", "cmpi", "select"),
    *("negf", "negi", "absf", "absi", "sqrt", "exp", "ln", "relu", "not"),
    *("mask_and", "mask_or", "mask_xor", "mask_not"),
)
_CHANGES = ("ensure_layout", "ensure_mask_layout", "ensure_mask_granularity")


@dataclass(frozen=True)
class VmiLayoutSinkMaterializationPass(ModulePass):
    """Where all operands of an elementwise operation on vectors of any length (`pto.vmi`) are changed from one layout
    to another, does it in the first and changes the result."""

    name = "vmi-layout-sink-materialization"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(inner_first(op)):
            if operation_name(each) in _SINKS:
                _sink(each)


def _changes_in_front(op: Operation) -> list[Operation] | None:
    """Return the changes that make the operands of an operation, of vectors or masks alike; None if one is another."""
    found = [value.op for value in op.operands if isinstance(value, OpResult) and operation_name(value.op) in _CHANGES]
    if len(found) != len(op.operands):
        return None
    by_kind: dict[type, set[tuple[object, object, str]]] = {}
    for change in found:
        own, made = change.operands[0].type, change.results[0].type
        by_kind.setdefault(type(own), set()).add((own, made, operation_name(change)))
    alike = all(len(each) == 1 for each in by_kind.values())
    return found if alike and all(each.operands[0].type != each.results[0].type for each in found) else None


def _source_type(changes: list[Operation], type: object) -> VmiVRegType | VmiMaskType | None:
    """Return the type of a result in the layout that the operands have before the changes."""
    first = changes[0].operands[0].type
    layouts = {layout_of(change.operands[0].type) for change in changes}
    after = {layout_of(change.results[0].type) for change in changes}
    layout = layouts.pop()
    if layouts or layout is None or not isinstance(type, VmiVRegType | VmiMaskType) or after != {layout_of(type)}:
        return None
    if operation_name(changes[0]) == "ensure_mask_granularity":
        return first if isinstance(first, VmiMaskType) and changes[0].results[0].type == type else None
    source = with_layout(type, layout)
    return source if can_change(source, layout_of(type) or layout) else None


def _sink(op: Operation) -> None:
    changes = _changes_in_front(op)
    result: SSAValue = op.results[0]
    own = _source_type(changes, result.type) if changes else None
    if changes is None or own is None:
        return
    is_mask = isinstance(own, VmiMaskType)
    widths = operation_name(changes[0]) == "ensure_mask_granularity"
    name = "ensure_mask_granularity" if widths else "ensure_mask_layout" if is_mask else "ensure_layout"
    if any(not _is_possible(change) for change in changes):
        return
    operands = [change.operands[0] for change in changes]
    made = instruction(operation_name(op), operands, [own], op.attributes, of=op)
    Rewriter.insert_op(made, InsertPoint.before(op))
    back = instruction(name, made.results, [result.type], of=op)
    Rewriter.insert_op(back, InsertPoint.after(made))
    result.replace_all_uses_with(back.results[0])
    Rewriter.erase_op(op)
    for change in dict.fromkeys(changes):
        if not change.results[0].uses:
            Rewriter.erase_op(change)


def _is_possible(change: Operation) -> bool:
    own, layout = change.operands[0].type, layout_of(change.results[0].type)
    if not isinstance(own, VmiVRegType | VmiMaskType) or layout is None:
        return False
    return layout_of(own) == layout or can_change(own, layout)
