"""Pass `vmi-layout-assignment`: the layout of each vector and mask of any length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass

from ..analysis.pto.vector_layout.assignment import assign
from ..analysis.pto.vector_layout.control_flow import Functions, inner_first
from ..analysis.pto.vector_layout.layouts import layout_of, with_layout
from ..analysis.pto.vector_layout.problems import CONTRACT, fail
from ..analysis.pto.vector_layout.rewriting import insert_before, retype, set_signatures
from ..diagnostics.locations import location_of
from ..dialects.pto.registers import VmiLayoutAttr, VmiMaskType, VmiVRegType


@dataclass(frozen=True)
class VmiLayoutAssignmentPass(ModulePass):
    """Gives vectors and masks of any length (`pto.vmi`) their layouts, as their operations ask for them by urgency.
    Where an operation needs another layout than a value has, `pto.vmi.ensure_layout` or `pto.vmi.ensure_mask_layout`
    changes it in front. What no layout is possible for has none. Takes programs whose masks have widths."""

    name = "vmi-layout-assignment"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        choices = assign(op)
        now = {
            value: retype(value, with_layout(value.type, choice.layout))
            for value, choice in choices.items()
            if isinstance(value.type, VmiVRegType | VmiMaskType)
        }
        for value, choice in choices.items():
            for change in choice.changes:
                change.op.operands[change.index] = _changed(change.op, now[value], change.layout)
        _change_at_boundaries(op)
        set_signatures(op)


def _changed(op: Operation, value: SSAValue, layout: VmiLayoutAttr) -> SSAValue:
    """Return a value in another layout, changed in front of an operation."""
    own = layout_of(value.type)
    if own == layout:
        return value
    if own is None:
        fail(
            op,
            CONTRACT,
            f"cannot materialize requested VMI operand layout {layout}",
            f"no layout exists for its operand{_maker(value)}; use groups of a quarter, a half, 1, 2 or 4 blocks of "
            "32 bytes, or of whole registers of 256",
        )
    assert isinstance(value.type, VmiVRegType | VmiMaskType)
    name = "ensure_layout" if isinstance(value.type, VmiVRegType) else "ensure_mask_layout"
    return insert_before(op, name, [value], [with_layout(value.type, layout)]).results[0]


def _maker(value: SSAValue) -> str:
    """Return the operation that makes a value, with its place, as a part of a sentence."""
    if not isinstance(value, OpResult):
        return ""
    place = location_of(value.op)
    return f", the result of {value.op.name}{f' at {place}' if place else ''}"


def _change_at_boundaries(module: ModuleOp) -> None:
    """Bring what is passed to functions, and returned by them, into the layouts on the other side."""
    functions = Functions(module)
    calls: dict[func.FuncOp, list[func.CallOp]] = {}
    for op in list(inner_first(module)):
        callee = functions.called(op) if isinstance(op, func.CallOp) else None
        if not isinstance(op, func.CallOp) or callee is None:
            continue
        calls.setdefault(callee, []).append(op)
        _bring(op, [argument.type for argument in callee.body.blocks[0].args])
    for callee, own in calls.items():
        for each in functions.returns.get(callee, ()):
            _bring(each, list(own[0].result_types))


def _bring(op: Operation, types: Sequence[Attribute]) -> None:
    for index, (value, type) in enumerate(zip(list(op.operands), types, strict=False)):
        if isinstance(type, VmiVRegType | VmiMaskType) and value.type != type:
            layout = layout_of(type)
            if layout is not None:
                op.operands[index] = _changed(op, value, layout)
