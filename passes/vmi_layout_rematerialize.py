"""Pass `vmi-layout-rematerialize`: vectors of any length that are cheap to make are made in the layout needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ..analysis.pto.vector_layout.control_flow import inner_first
from ..analysis.pto.vector_layout.layouts import is_contiguous, layout_of, registers_in, with_layout
from ..analysis.pto.vector_layout.relations import can_change, conversions
from ..analysis.pto.vector_layout.rewriting import insert_before, recreated
from ..analysis.pto.vector_layout.transfer import operation_name
from ..dialects.pto.registers import VmiVRegType
from ..dialects.pto.rules import is_unsigned, width

_NUMBERS = ("add", "sub", "mul", "min", "max")
_ELEMENTWISE = (
    *(f"{each}{kind}" for each in _NUMBERS for kind in "fi"),
    *("divf", "andi", "ori", "xori", "shli", "shrui", "shrsi", "fma"),
    *("negf", "negi", "absf", "absi", "sqrt", "exp", "ln", "relu", "not"),
)
"""Operations that are done in another layout of their operands."""


@dataclass(frozen=True)
class VmiLayoutRematerializePass(ModulePass):
    """Replaces changes of layout (`pto.vmi.ensure_layout`, `ensure_mask_layout`, `ensure_mask_granularity`) of what is
    cheap to make: constants, numbers that count and masks are made in the layout that is needed, arithmetic is done in
    it, and elements are made wider from the source that it needs."""

    name = "vmi-layout-rematerialize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        changed = True
        while changed:
            changed = False
            for each in list(inner_first(op)):
                rule = _RULES.get(operation_name(each))
                if rule is None or each.parent is None:
                    continue
                made = rule(each)
                if made is not None:
                    each.results[0].replace_all_uses_with(made)
                    Rewriter.erase_op(each)
                    changed = True


def _in_layout(value: SSAValue, type: VmiVRegType, before: Operation) -> SSAValue:
    return value if value.type == type else insert_before(before, "ensure_layout", [value], [type]).results[0]


def _vector(ensure: Operation) -> SSAValue | None:
    """Return the vector that a change of layout would give, made again; None if it is not cheap to make."""
    source, type = ensure.operands[0], ensure.results[0].type
    layout = layout_of(type)
    if not isinstance(source, OpResult) or not isinstance(type, VmiVRegType) or layout is None:
        return None
    made, name = source.op, operation_name(source.op)
    if name in ("extf", "extsi", "extui"):
        return _widened(made, type, ensure)
    if name in _ELEMENTWISE:
        operands: list[SSAValue] = []
        for operand in made.operands:
            assert isinstance(operand.type, VmiVRegType)
            wanted = with_layout(operand.type, layout)
            assert isinstance(wanted, VmiVRegType)
            operands.append(_in_layout(operand, wanted, ensure))
        return insert_before(ensure, name, operands, [type]).results[0]
    if name == "constant" and not _is_splat(made):
        return None
    if name == "group_iota" and not is_contiguous(layout):
        return None
    return recreated(source, type, ensure, ("constant", "broadcast", "iota", "group_iota"))


def _is_splat(constant: Operation) -> bool:
    value = constant.attributes.get("value") or constant.properties.get("value")
    return isinstance(value, DenseIntOrFPElementsAttr) and value.is_splat()


def _widened(extension: Operation, type: VmiVRegType, before: Operation) -> SSAValue | None:
    """Make elements wider in another layout, from a source that takes no more registers than it does now."""
    source = extension.operands[0]
    assert isinstance(source.type, VmiVRegType)
    rows = conversions(source.type, type, to=layout_of(type))
    if len(rows) != 1:
        return None
    layout = rows[0][0]
    wanted = with_layout(source.type, layout)
    assert isinstance(wanted, VmiVRegType)
    if wanted != source.type and (
        not can_change(source.type, layout) or registers_in(wanted) > registers_in(source.type)
    ):
        return None
    operand = _in_layout(source, wanted, before)
    return insert_before(before, operation_name(extension), [operand], [type]).results[0]


def _mask(ensure: Operation) -> SSAValue | None:
    names = ("create_mask", "create_group_mask", "constant_mask")
    return recreated(ensure.operands[0], ensure.results[0].type, ensure, names)


def _narrowed(narrowing: Operation) -> SSAValue | None:
    """Make integers narrower in the layout that they had before it was changed for that, and change the result."""
    operand, type = narrowing.operands[0], narrowing.results[0].type
    if not isinstance(operand, OpResult) or operation_name(operand.op) != "ensure_layout":
        return None
    source = operand.op.operands[0]
    layout = layout_of(source.type)
    if not isinstance(type, VmiVRegType) or not isinstance(source.type, VmiVRegType) or layout is None:
        return None
    if layout.kind.data != "deinterleaved" or (width(type.element_type) == 8 and not is_unsigned(type.element_type)):
        return None
    rows = conversions(source.type, type, from_=layout)
    if len(rows) != 1 or rows[0][1] == layout_of(type):
        return None
    made = insert_before(narrowing, "trunci", [source], [with_layout(type, rows[0][1])], narrowing.attributes).results[
        0
    ]
    return _in_layout(made, type, narrowing)


_RULES: Mapping[str, Callable[[Operation], SSAValue | None]] = {
    "ensure_layout": _vector,
    **dict.fromkeys(("ensure_mask_layout", "ensure_mask_granularity"), _mask),
    "trunci": _narrowed,
}
