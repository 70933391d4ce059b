"""What operations on vectors of any length can have with the layouts that are chosen: the rules of their relations.

`missing(op)` is the reason, in PTOAS's words, why an operation does not take or give the layouts that it has; None if
it does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ....dialects.pto.instruction_operation import InstructionOp
from ....dialects.pto.registers import VmiLayoutAttr, VmiMaskType, VmiVRegType
from .control_flow import inner_first
from .layouts import Virtual, bits_of, is_group_slots, is_virtual, layout_of
from .problems import CONTRACT, INVARIANT, fail
from .relations import (
    broadcast_loads,
    broadcasts,
    can_change,
    can_hold_slots,
    can_store,
    conversions,
    group_loads,
    keeps_bits,
    reductions,
    spans_of,
)
from .transfer import groups_of, operation_name, stride_of

Reason: TypeAlias = "Callable[[InstructionOp], str | None]"


def type_at(op: InstructionOp, name: str) -> Virtual:
    """Return the type of an operand or result."""
    found = {**op.operand_groups, **op.result_groups}[name][0].type
    assert isinstance(found, VmiVRegType | VmiMaskType)
    return found


def vector_at(op: InstructionOp, name: str) -> VmiVRegType:
    """Return the type of an operand or result that is a vector."""
    found = type_at(op, name)
    assert isinstance(found, VmiVRegType)
    return found


def layout_at(op: InstructionOp, name: str) -> VmiLayoutAttr | None:
    """Return the layout of an operand or result."""
    return layout_of(type_at(op, name))


def store(op: InstructionOp) -> str | None:
    """Return why a vector is not stored from its layout."""
    type, layout = vector_at(op, "value"), layout_at(op, "value")
    if layout is not None and can_store(type, layout):
        return None
    return "value layout does not match a supported dense store table row"


def group_load(op: InstructionOp) -> str | None:
    """Return why rows of groups are not loaded in a layout."""
    type, groups = vector_at(op, "result"), groups_of(op)
    if not spans_of(type, groups):
        return "group_load layout table has no row for this group size"
    if layout_at(op, "result") in group_loads(type, groups, stride_of(op)):
        return None
    return "result layout, group size, and row_stride do not match a supported group_load table row"


def group_slot_load(op: InstructionOp) -> str | None:
    """Return why an element for each group is not loaded in a layout."""
    layout = layout_at(op, "result")
    if layout is not None and can_hold_slots(layout, groups_of(op)):
        return None
    return "result layout does not match a supported group_slot_load table row"


def group_broadcast_load(op: InstructionOp) -> str | None:
    """Return why elements are not loaded and repeated in a layout."""
    type, groups = vector_at(op, "result"), groups_of(op)
    if not spans_of(type, groups):
        return "group_broadcast_load layout table has no row for this group size"
    if layout_at(op, "result") in broadcast_loads(type, groups, stride_of(op)):
        return None
    return (
        "group_broadcast_load requires a table row for result layout, group size, and either constant unit "
        f"source_group_stride or constant positive source_group_stride divisible by {256 // bits_of(type)} elements"
    )


def group_slot_store(op: InstructionOp) -> str | None:
    """Return why an element for each group is not stored from a layout."""
    layout = layout_at(op, "value")
    if layout is None or not is_group_slots(layout) or can_hold_slots(layout, groups_of(op)):
        return None
    return "value layout does not match a supported group_store table row"


def group_reduce(op: InstructionOp) -> str | None:
    """Return why groups are not reduced in layouts."""
    source, groups = vector_at(op, "source"), groups_of(op)
    if not spans_of(source, groups):
        return "group_reduce layout table has no row for this group size"
    given = (layout_at(op, "source"), layout_at(op, "result"))
    if layout_at(op, "mask") == given[0] and given in reductions(source, groups):
        return None
    return "group_reduce source/mask/result layouts do not match a legal layout table row for the group size"


def group_broadcast(op: InstructionOp) -> str | None:
    """Return why elements are not repeated in their groups in layouts."""
    result, groups = vector_at(op, "result"), groups_of(op)
    if not spans_of(result, groups):
        return "group_broadcast layout table has no row for this group size"
    if (layout_at(op, "source"), layout_at(op, "result")) in broadcasts(result, groups):
        return None
    return "source/result layouts do not match a supported group_broadcast table row"


def histogram(op: InstructionOp) -> str | None:
    """Return why bytes are not counted in layouts: all are contiguous."""
    types = (type_at(op, name) for name in ("acc", "source", "mask", "result"))
    if all(str(layout_of(type)) == "#pto.vmi.layout<contiguous>" for type in types):
        return None
    name = operation_name(op)
    return f"{name} acc/source/mask/result layouts do not match a histogram layout table row"


def conversion(op: InstructionOp) -> str | None:
    """Return why elements are not converted in layouts."""
    source, result = type_at(op, "source"), type_at(op, "result")
    rows = conversions(source, result, from_=layout_of(source))
    if not rows or layout_of(source) is None:
        return "requires a legal cast relation for the source layout"
    if len([row for row in rows if row[1] == layout_of(result)]) == 1:
        return None
    return "source/result layouts do not match a legal cast table row"


def bitcast(op: InstructionOp) -> str | None:
    """Return why bits are not read as other elements in a layout."""
    source, result = vector_at(op, "source"), vector_at(op, "result")
    layout = layout_of(source)
    if layout is None or layout != layout_of(result):
        return "requires matching source and result layouts"
    if keeps_bits(source, result, layout):
        return None
    return "width-changing bitcast layout does not match a bitcast layout table row"


def change(op: InstructionOp) -> str | None:
    """Return why a vector or mask is not brought from one layout into another."""
    source, layout = type_at(op, "source"), layout_at(op, "result")
    if layout is not None and can_change(source, layout):
        return None
    mask = isinstance(source, VmiMaskType)
    name = "ensure_mask_layout" if mask else "ensure_layout"
    return f"source/result {'mask ' if mask else ''}layouts do not match a supported {name} table row"


_BY_NAME: Mapping[str, tuple[str, Reason]] = {
    "store": ("contiguous-memory layout", store),
    "group_load": ("layout", group_load),
    "group_slot_load": ("layout", group_slot_load),
    "group_broadcast_load": ("layout", group_broadcast_load),
    "group_store": ("group_slots layout", group_slot_store),
    **{f"group_reduce_{each}{kind}": ("group_slots layout", group_reduce)
       for each in ("add", "max", "min") for kind in "fi"},
    "group_broadcast": ("layout", group_broadcast),
    **dict.fromkeys(("vdhist", "vchist"), ("histogram", histogram)),
    **dict.fromkeys(("truncf", "extf"), ("layout", conversion)),
    "bitcast": ("layout", bitcast),
    **dict.fromkeys(("ensure_layout", "ensure_mask_layout"), ("materialization", change)),
}  # fmt: skip
"""What support of an operation is called, and what it depends on, where layouts decide."""


def is_left_open(op: Operation) -> bool:
    """Return True for what has no layout, and is not used but returned: whoever calls the function would choose."""
    open_results = [each for each in op.results if is_virtual(each) and layout_of(each.type) is None]
    return bool(open_results) and all(
        isinstance(use.operation, func.ReturnOp) for each in open_results for use in each.uses
    )


def _is_undecided(op: InstructionOp) -> bool:
    """Return True where no layout is chosen that decides: that of an element for each group may be open."""
    if operation_name(op).startswith("group_reduce"):
        return not is_group_slots(layout_at(op, "result"))
    if operation_name(op) == "group_broadcast":
        layout = layout_at(op, "source")
        return layout is None or not is_group_slots(layout) or not layout.slots.data
    return False


def check_layouts(module: ModuleOp) -> None:
    """Raise LoomError at the first operation that does not take or give the layouts that it has."""
    for op in inner_first(module):
        row = _BY_NAME.get(operation_name(op))
        if is_left_open(op):
            continue
        if any(is_virtual(each) and layout_of(each.type) is None for each in op.results):
            what = "layout-assigned VMI IR requires !pto.vmi.vreg with layout and !pto.vmi.mask with b8/b16/b32"
            fail(op, INVARIANT, f"{what} granularity plus layout; {op.name} has none{types_in(op)}", _REMEDY)
        if row is None or not isinstance(op, InstructionOp) or _is_undecided(op):
            continue
        what, reason = row
        found = reason(op)
        if found is not None:
            _fail(op, what, found)


def _fail(op: InstructionOp, what: str, reason: str) -> None:
    name = op.name
    if what == "materialization":
        uses = list(op.results[0].uses)
        if len(uses) == 1:
            user, source, result = uses[0].operation, op.operands[0].type, op.results[0].type
            problem = (
                f"{user.name} operand #{uses[0].index} has type {source} but requires {result}; {name} has no "
                f"registered materialization support: {reason}"
            )
            fail(user, CONTRACT, problem, "take another number of elements, or load or compute it again for this use")
        fail(op, CONTRACT, f"{name} has no registered materialization support: {reason}", "drop it")
    fail(op, CONTRACT, f"{name} has no registered {what} support: {reason}{types_in(op)}", REMEDIES.get(what, _REMEDY))


def types_in(op: Operation) -> str:
    """Return the vectors and masks of an operation, as errors list them."""
    found = [f"operand#{index}={each.type}" for index, each in enumerate(op.operands) if is_virtual(each)]
    found += [f"result#{index}={each.type}" for index, each in enumerate(op.results) if is_virtual(each)]
    return f"; VMI types: {' '.join(found)}" if found else ""


_REMEDY = "take a number of elements, groups or a distance for which there is a layout"
REMEDIES = {
    "group_slots layout": "take groups of a quarter, a half, 1, 2 or 4 blocks of 32 bytes, or of whole registers",
    "contiguous-memory layout": "store a contiguous or deinterleaved vector",
}
