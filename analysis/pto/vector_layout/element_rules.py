"""Why arithmetic and conversions of vectors of any length do not become instructions, in PTOAS's words."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
)
from xdsl.ir import Attribute, Operation

from ....dialects.pto.instruction_operation import InstructionOp
from ....dialects.pto.register_conversions import has_conversion
from ....dialects.pto.registers import VmiMaskType
from ....dialects.pto.rules import word_of
from .layouts import (
    Virtual,
    bits_of,
    contiguous,
    deinterleaved,
    layout_of,
    registers_in,
)
from .relations import conversions
from .support import (
    conversion,
    type_at,
    vector_at,
)
from .transfer import operation_name


def constant_of(op: Operation) -> Attribute | None:
    """Return the elements of a constant."""
    return op.attributes.get("value") or op.properties.get("value")


def splat(op: InstructionOp) -> str | None:
    """Return why a constant is not made: its elements differ."""
    value = constant_of(op)
    if isinstance(value, DenseIntOrFPElementsAttr) and value.is_splat():
        return None
    return "non-splat pto.vmi.constant requires a vreg immediate or scratch materialization plan"


def numbers(op: InstructionOp) -> str | None:
    """Return why floats are not converted to integers, or back."""
    source, result = vector_at(op, "source"), vector_at(op, "result")
    kind = {"fptosi": "fp-to-si", "fptoui": "fp-to-ui"}.get(operation_name(op))
    if bits_of(source) != bits_of(result):
        return conversion(op)
    if layout_of(source) != layout_of(result):
        return (
            "requires source/result layouts to match"
            if kind is None
            else (f"same-width {kind} requires matching layouts")
        )
    return None


def integers(op: InstructionOp) -> str | None:
    """Return why integers are not made wider or narrower: layouts, or that the chip has no such conversion."""
    if (reason := conversion(op)) is not None:
        return reason
    source, result = vector_at(op, "source").element_type, vector_at(op, "result").element_type
    nosat = word_of(op, "saturate") == "NOSAT"
    if not nosat and operation_name(op) == "trunci" and not has_conversion(source, result):
        return f"'pto.vcvt' op unsupported vcvt source/result element type pair {source} to {result}"
    return None


def carries(op: InstructionOp) -> str | None:
    """Return why sums with carries are not computed."""
    data = vector_at(op, "lhs")
    masks = [value.type for value in (*op.operands, *op.results) if isinstance(value.type, VmiMaskType)]
    if any(layout_of(mask) != layout_of(data) for mask in masks):
        return "requires all data and mask ports to share one layout"
    if any(bits_of(cast("Virtual", mask)) != 32 for mask in masks):
        return "requires b32 mask granularity"
    if any(registers_in(cast("Virtual", mask)) != registers_in(data) for mask in masks):
        return "requires matching physical arity on data and mask ports"
    return None


def vmull(op: InstructionOp) -> str | None:
    """Return why both halves of products are not computed."""
    data, mask = vector_at(op, "a"), type_at(op, "mask")
    layout = layout_of(data)
    if len({type_at(op, name) for name in ("a", "b", "low", "high")}) > 1:
        return "requires identical a, b, low, and high VMI vreg types"
    if data.count.data not in (64, 128, 256):
        return "requires logical lane count 64, 128, or 256"
    if layout not in (contiguous(), deinterleaved(2), deinterleaved(4)):
        return "requires contiguous or deinterleaved factor 2/4 layout with lane_stride=1"
    if layout_of(mask) != layout:
        return "requires the mask and all four data values to share one layout"
    return None if bits_of(mask) == 32 else "requires b32 mask granularity"


def scalar_merge(op: InstructionOp) -> str | None:
    """Return why an operation with a number is not done: it keeps elements whose bit is off."""
    if word_of(op, "pmode") != "merge":
        return None
    return f"{op.name} with pmode=merge requires an explicit passthru lowering"


def mask_widths(op: InstructionOp) -> str | None:
    """Return why a mask does not change its width."""
    source, result = type_at(op, "source"), type_at(op, "result")
    if source == result:
        return None
    rows = conversions(source, result, from_=layout_of(source))
    if not rows:
        reason = "requires a legal mask granularity cast relation for the source layout"
    elif layout_of(result) in [row[1] for row in rows]:
        return None
    else:
        reason = "source/result layouts do not match a legal mask granularity cast table row"
    return f"mask granularity cast layout relation is unsupported ({reason})"


_COMPARISONS = {
    "cmpf": ("eq ne lt le gt ge oeq one olt ole ogt oge", "eq/ne/lt/le/gt/ge and ordered FP forms "
             "oeq/one/olt/ole/ogt/oge"),
    "cmpi": ("eq ne ult ule ugt uge slt sle sgt sge", "eq/ne, unsigned integer forms ult/ule/ugt/uge, and signed "
             "integer forms slt/sle/sgt/sge"),
}  # fmt: skip


def comparison(op: InstructionOp) -> str | None:
    """Return why vectors are not compared."""
    found = word_of(op, "predicate") or ""
    known, listed = _COMPARISONS[operation_name(op)]
    if found in known.split():
        return None
    return f"compare predicate {found} cannot be lowered to pto.vcmp; supported predicates are {listed}"
