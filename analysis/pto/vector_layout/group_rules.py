"""Why loads, stores and broadcasts of groups do not become instructions, in PTOAS's words."""

from __future__ import annotations

from ....dialects.pto.instruction_operation import InstructionOp
from ....dialects.pto.registers import VmiVRegType
from ....targets.tile_limits import MAX_BLOCK_STRIDE
from .full_registers import PADDED, is_full
from .layouts import (
    BLOCKS,
    bits_of,
    deinterleaved,
    is_contiguous,
    is_group_slots,
    lanes_of,
    layout_of,
    parts_in,
)
from .memory_rules import is_pointer, load, store_of, unordered_memory
from .relations import can_store_groups, size_of_groups, spans_of
from .support import (
    group_broadcast,
    group_broadcast_load,
    group_load,
    group_slot_load,
    group_slot_store,
    layout_at,
    vector_at,
)
from .transfer import groups_of, stride_of


def whole_groups(type: VmiVRegType, size: int) -> str | None:
    """Return why groups are not whole registers."""
    if not is_full(type):
        return f"requires full physical chunks; {PADDED}"
    if size % lanes_of(type):
        return "currently requires group size to be a multiple of physical lanes per part"
    return None


def loads_groups(op: InstructionOp) -> str | None:
    """Return why a row for each group is not loaded."""
    type, layout, groups = vector_at(op, "result"), layout_at(op, "result"), groups_of(op)
    size = size_of_groups(type, groups)
    is_blocks = layout is not None and layout.kind.data == "block_deinterleaved"
    if not is_contiguous(layout) and not (is_blocks and str(type.element_type) == "f32"):
        return "requires contiguous or block_deinterleaved f32 result layout"
    if (reason := group_load(op)) is not None:
        return reason
    if not is_blocks:
        if (reason := load(op)) is not None or stride_of(op) == size:
            return reason
        return whole_groups(type, size)
    if (reason := unordered_memory(op, "source")) is not None:
        return reason
    if not is_pointer(op, "source"):
        return "block_deinterleaved group_load requires !pto.ptr source"
    if groups % BLOCKS:
        return "block_deinterleaved group_load requires num_groups multiple of 8"
    if not is_full(type):
        return f"block_deinterleaved group_load requires full physical result chunks; {PADDED}"
    return None


def loads_slots(op: InstructionOp) -> str | None:
    """Return why an element for each group is not loaded."""
    type, layout = vector_at(op, "result"), layout_at(op, "result")
    if (reason := group_slot_load(op) or unordered_memory(op, "source")) is not None:
        return reason
    if not is_pointer(op, "source"):
        return "group_slot_load requires !pto.ptr source"
    assert layout is not None
    stride = stride_of(op)
    if layout.slots.data == BLOCKS:
        return None if stride == 1 else "slots=8 group_slot_load requires constant unit source_group_stride"
    aligned = 256 // bits_of(type)
    if stride is None or stride <= 0 or stride % aligned:
        return (
            "slots=1 group_slot_load currently lowers as one lane-0 vsldb per group and requires constant positive "
            f"source_group_stride divisible by {aligned} elements for 32B load alignment; packed or unaligned scalar "
            "load lowering is not implemented"
        )
    return None


def loads_repeated(op: InstructionOp) -> str | None:
    """Return why an element for each group is not loaded and repeated."""
    if (reason := group_broadcast_load(op) or unordered_memory(op, "source")) is not None:
        return reason
    return None if is_pointer(op, "source") else "group_broadcast_load requires !pto.ptr source"


def _stores_few(type: VmiVRegType, groups: int, stride: int | None) -> bool:
    """Return True for few elements, one for each group, that are less than a block of 32 bytes."""
    layout, size = layout_of(type), type.count.data * bits_of(type)
    return (
        is_group_slots(layout)
        and layout is not None
        and layout.slots.data == BLOCKS
        and type.count.data == groups
        and groups in (4, 8)
        and size < 256
        and size % 32 == 0
        and stride == 1
    )


def stores_groups(op: InstructionOp) -> str | None:
    """Return why a row, or an element, for each group is not stored."""
    type, layout, groups, stride = vector_at(op, "value"), layout_at(op, "value"), groups_of(op), stride_of(op)
    if _stores_few(type, groups, stride):
        pointer = None if is_pointer(op, "destination") else "compact small group_store requires !pto.ptr destination"
        return pointer or unordered_memory(op, "destination")
    if is_group_slots(layout) and layout is not None:
        if (reason := group_slot_store(op) or unordered_memory(op, "destination")) is not None:
            return reason
        if layout.slots.data == 1:
            positive = stride is None or stride > 0
            return None if positive else "slots=1 group_store requires positive row_stride when row_stride is constant"
        return None if stride == 1 else "slots=8 group_store currently requires constant unit row_stride"
    spans = spans_of(type, groups)
    if not spans:
        return "group_store layout table has no row for this group size"
    if layout is None or not can_store_groups(type, layout, groups, stride):
        return "value layout, group size, and row_stride do not match a supported group_store table row"
    if (reason := store_of(op, type)) is not None:
        return reason
    size = size_of_groups(type, groups)
    if "1" in spans:
        if not is_pointer(op, "destination"):
            return "one-block group_store requires !pto.ptr destination"
        distance = (stride or 0) // size
        if distance > MAX_BLOCK_STRIDE:
            return (
                "one-block group_store block_stride exceeds the 16-bit vsstb control field: "
                f"{distance} blocks, at most {MAX_BLOCK_STRIDE}"
            )
        return None
    if layout == deinterleaved(2):
        if not is_full(type):
            return f"requires full physical chunks; {PADDED}"
        return (
            None if size % (2 * lanes_of(type)) == 0 else "requires group size to be a multiple of two physical chunks"
        )
    return whole_groups(type, size)


def repeats(op: InstructionOp) -> str | None:
    """Return why an element for each group is not repeated in its group."""
    source, result, groups = vector_at(op, "source"), vector_at(op, "result"), groups_of(op)
    given, layout = layout_of(source), layout_of(result)
    if given is None or not is_group_slots(given) or given.factor.data != groups:
        return "requires matching num_groups source layout"
    if layout is None or is_group_slots(layout):
        return "requires dense result layout"
    if given.slots.data > 0 and given.slots.data not in (1, BLOCKS):
        return "supports only slots=8 or slots=1 group_broadcast source layouts"
    if (reason := group_broadcast(op)) is not None:
        return reason
    lanes, size, parts = lanes_of(result), size_of_groups(result, groups), parts_in(layout)
    if lanes % size and size % lanes:
        return "requires derived group size to divide or be a multiple of physical lanes per part"
    if layout.lane_stride.data == 1 and not is_full(result):
        return f"requires full result physical chunks; {PADDED}"
    if parts == 1:
        return None
    if size < lanes:
        in_blocks = layout.kind.data == "block_deinterleaved"
        shared = layout.kind.data == "deinterleaved" and size % parts == 0 and lanes % (size // parts) == 0
        small = in_blocks or (shared and size >= parts)
    else:
        small = size % (lanes * parts) == 0
    return (
        None if small else "deinterleaved result requires every physical result chunk to stay within one logical group"
    )
