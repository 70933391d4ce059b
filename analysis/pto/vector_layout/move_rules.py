"""Why reductions, and moves between elements, do not become instructions, in PTOAS's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerType,
)
from xdsl.ir import SSAValue

from ....dialects.pto.instruction_operation import InstructionOp
from ....dialects.pto.registers import VmiMaskType, VmiVRegType
from .full_registers import PADDED, Reason, all_contiguous, is_full
from .layouts import (
    Placement,
    Virtual,
    bits_of,
    contiguous,
    deinterleaved,
    is_contiguous,
    layout_of,
    registers_in,
)
from .memory_rules import is_pointer
from .problems import check_channels
from .support import (
    type_at,
    vector_at,
)
from .transfer import operation_name


def reduce(op: InstructionOp) -> str | None:
    """Return why all elements are not reduced to one."""
    source = vector_at(op, "source")
    if not all_contiguous(op, "source", "mask", "result"):
        return "requires contiguous source, mask, and result layouts"
    if not is_full(source):
        return f"requires full source physical chunks so padding lanes do not participate in the reduction; {PADDED}"
    if not registers_in(source) or registers_in(type_at(op, "mask")) != registers_in(source):
        return "requires source and mask physical arity to match and be non-empty"
    return None if registers_in(vector_at(op, "result")) == 1 else "requires one result physical chunk"


def one_register(names: Sequence[str], *, full: Sequence[str], so_that: str, more: str) -> Reason:
    """Return the reason why elements are not moved together: they are in one full register, in order."""
    listed = ", ".join(names[:-1]) + f"{',' if len(names) > 2 else ''} and {names[-1]}"

    def reason(op: InstructionOp) -> str | None:
        if not all_contiguous(op, *names):
            return f"requires contiguous {listed} layouts"
        if "destination" in op.operand_groups and not is_pointer(op, "destination"):
            return "requires !pto.ptr destination because pto.vstur is pointer-only"
        for name in full:
            if not is_full(type_at(op, name)):
                which = "" if name == "value" else f"{name} "
                return f"requires full {which}physical chunks so padding mask lanes cannot {so_that}; {PADDED}"
        if any(registers_in(type_at(op, name)) != 1 for name in names):
            return f"requires a single physical chunk; {more}"
        return None

    return reason


def channels(op: InstructionOp) -> str | None:
    """Return why a vector is not split into several, or merged from them."""
    check_channels(op)
    splits = operation_name(op) == "channel_split"
    whole, parts = (op.operands[0], op.results) if splits else (op.results[0], op.operands)
    layout, side = layout_of(whole.type), "source" if splits else "result"
    if not is_contiguous(layout) and layout != deinterleaved(len(parts)):
        return f"requires {side} layout to be contiguous or matching deinterleaved channel layout"
    if any(not is_contiguous(layout_of(part.type)) for part in parts):
        return f"requires every {'result' if splits else 'input'} layout to be contiguous"
    if registers_in(_virtual(whole)) != sum(registers_in(_virtual(part)) for part in parts):
        return "requires source and result to have the same physical arity"
    return None


def _virtual(value: SSAValue) -> Virtual:
    assert isinstance(value.type, VmiVRegType | VmiMaskType)
    return value.type


def vselr(op: InstructionOp) -> str | None:
    """Return why elements are not chosen by numbers."""
    source = vector_at(op, "source")
    types = [vector_at(op, name) for name in ("source", "index", "result")]
    fits = source.count.data in {8: (64, 128, 256), 16: (64, 128), 32: (64,)}.get(bits_of(source), ())
    alike = len({(bits_of(type), type.count) for type in types}) == 1
    if fits and alike and all(layout_of(type) == contiguous() for type in types):
        return None
    return (
        "vselr requires contiguous layouts and supports N=64, 128, or 256 for 8-bit, N=64 or 128 for 16-bit, and N=64 "
        "for 32-bit elements"
    )


def shuffle(op: InstructionOp) -> str | None:
    """Return why a fixed order of elements does not come from whole registers, one element or one counted order."""
    indices = op.attribute("indices")
    assert isinstance(indices, DenseArrayBase)
    chosen = [int(index) for index in cast("DenseArrayBase[IntegerType]", indices).get_values()]
    if not any(chosen):
        return None
    source, result = Placement(vector_at(op, "source")), Placement(vector_at(op, "result"))
    forwarding = ordered = None
    for lanes in result.registers().values():
        places = {lane: source.place(chosen[element]) for lane, element in lanes.items()}
        if any(place.lane != lane for lane, place in places.items()):
            forwarding = forwarding or "requires same-lane physical chunks"
        if len({(place.part, place.register) for place in places.values()}) > 1:
            forwarding = forwarding or "requires one source chunk per result chunk"
            ordered = ordered or "requires one source chunk per result chunk"
        first = places[min(places)].lane
        up = {place.lane - first - lane for lane, place in places.items()}
        down = {place.lane - first + lane for lane, place in places.items()}
        if len(places) != result.lanes:
            ordered = ordered or "requires full physical result chunks"
        elif up != {0} and down != {0}:
            ordered = ordered or "requires ASC or DESC affine source lane indices"
    if forwarding is None or ordered is None:
        return None
    return (
        f"forwarding: {forwarding}; lane0 splat: requires every result lane to select source lane 0; vselr: {ordered}"
    )
