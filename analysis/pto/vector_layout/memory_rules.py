"""Why loads and stores of vectors of any length do not become instructions, in PTOAS's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
)
from xdsl.ir import Attribute, OpResult, SSAValue

from ....dialects.pto.instruction_operation import InstructionOp
from ....dialects.pto.memory import constant_value
from ....dialects.pto.registers import VmiVRegType
from ....dialects.pto.rules import is_signed, is_unsigned
from ....dialects.pto.types import PtrType
from .element_rules import constant_of
from .full_registers import PADDED, Reason, all_contiguous, is_full, to_order
from .layouts import (
    bits_of,
    contiguous,
    is_contiguous,
    lanes_of,
    layout_of,
    registers_in,
)
from .relations import can_load, can_store, can_store_masked
from .support import (
    layout_at,
    type_at,
    vector_at,
)
from .transfer import operation_name


def unordered_memory(op: InstructionOp, role: str) -> str | None:
    """Return why memory is not read or written in order."""
    value = op.operand(role)
    assert value is not None
    type = value.type
    if not isinstance(type, MemRefType) or isinstance(cast("MemRefType[Attribute]", type).layout, NoneAttr):
        return None
    text = (
        f"{role} memref layout is non-identity; current VMI memory access plan supports only contiguous identity "
        "lane-to-address maps"
    )
    if isinstance(value, OpResult) and value.op.name == "memref.subview":
        text += "; memref.subview requires normalized base/offset/stride lane-to-address planning"
    return text


def is_pointer(op: InstructionOp, role: str) -> bool:
    value = op.operand(role)
    return value is not None and isinstance(value.type, PtrType)


def load(op: InstructionOp) -> str | None:
    """Return why a vector is not loaded in order."""
    type, layout = vector_at(op, "result"), layout_at(op, "result")
    if (reason := unordered_memory(op, "source")) is not None:
        return reason
    if layout is not None and can_load(type, layout):
        return None
    return "result layout does not match a supported dense load table row"


def _reads_inside(op: InstructionOp, type: VmiVRegType) -> str | None:
    """Return why whole registers may not be read, though not all of their elements are wanted."""
    offset, source = op.operand("offset"), op.operand("source")
    assert offset is not None and source is not None
    start = constant_value(offset)
    if start is None:
        return "requires constant index offset"
    memory = source.type
    shape = cast("MemRefType[Attribute]", memory).get_shape() if isinstance(memory, MemRefType) else (-1,)
    if any(extent < 0 for extent in shape):
        return "requires statically shaped memref source"
    if start < 0:
        return "requires non-negative offset"
    size, end = 1, start + registers_in(type) * lanes_of(type)
    for extent in shape:
        size *= extent
    if end > size:
        return f"full physical read footprint [{start}, {end}) exceeds static memref element count {size}"
    return None


def deinterleave_load(op: InstructionOp) -> str | None:
    """Return why every second element is not loaded twice."""
    low = vector_at(op, "low")
    if (layout_at(op, "low"), layout_at(op, "high")) != (contiguous(), contiguous()):
        return "deinterleave_load layout query port does not match a legal layout table row"
    return unordered_memory(op, "source") or (None if is_full(low) else f"requires full physical chunks; {PADDED}")


def store_of(op: InstructionOp, type: VmiVRegType) -> str | None:
    """Return why a vector is not stored."""
    layout = layout_of(type)
    if (reason := unordered_memory(op, "destination")) is not None:
        return reason
    assert layout is not None
    if not can_store(type, layout):
        return "value layout does not match a supported dense store table row"
    if is_contiguous(layout) or is_full(type) or (reason := to_order(type)) is None:
        return None
    return (
        "partial/tail store requires contiguous layout or deinterleaved layout that can materialize to contiguous; "
        f"value {PADDED}, materialization {reason}"
    )


def store(op: InstructionOp) -> str | None:
    """Return why a vector is not stored."""
    return store_of(op, vector_at(op, "value"))


def interleave_store(op: InstructionOp) -> str | None:
    """Return why two vectors are not stored in turn."""
    if not all_contiguous(op, "low", "high"):
        return "requires assigned contiguous low/high input layouts"
    if (reason := unordered_memory(op, "destination")) is not None:
        return reason
    return None if is_full(vector_at(op, "low")) else f"requires full physical chunks; {PADDED}"


def masked_store(op: InstructionOp) -> str | None:
    """Return why elements whose bit is on are not stored."""
    value, mask = vector_at(op, "value"), type_at(op, "mask")
    if (reason := unordered_memory(op, "destination")) is not None:
        return reason
    if is_full(value) and is_full(mask):
        return None
    if registers_in(value) != registers_in(mask):
        return "requires matching value/mask physical arity"
    of_value, of_mask = layout_of(value), layout_of(mask)
    assert of_value is not None and of_mask is not None
    if of_value.lane_stride.data > 1 and can_store_masked(value, of_value, of_mask):
        return None
    if (reason := to_order(value)) is not None:
        return f"value cannot materialize to contiguous; value {PADDED}, materialization {reason}"
    if (reason := to_order(mask)) is not None:
        return f"mask cannot materialize to contiguous; mask {PADDED}, materialization {reason}"
    if registers_in(value, contiguous()) != registers_in(mask, contiguous()):
        return "requires value/mask contiguous materialization arity to match"
    return None


_NO_PARTIAL_LOAD = (
    "partial/tail read needs a scratch, guarded, or true masked/non-faulting load fallback, but no such fallback "
    "resource plan is implemented"
)


def masked_load(op: InstructionOp) -> str | None:
    """Return why elements whose bit is on are not loaded: memory is read in whole registers."""
    result = vector_at(op, "result")
    if (reason := unordered_memory(op, "source")) is not None:
        return reason
    if not all_contiguous(op, "result", "passthru", "mask"):
        return "requires contiguous result, passthru, and mask layouts"
    if is_full(result) or (reason := _reads_inside(op, result)) is None:
        return None
    return (
        f"partial/tail masked_load requires statically safe full-read footprint; value {PADDED}, safe-read proof "
        f"{reason}; fallback decision: {_NO_PARTIAL_LOAD}"
    )


def _is_all_active(mask: SSAValue, count: int) -> str | None:
    """Return why the bits of a mask are not known to be all on."""
    while isinstance(mask, OpResult) and operation_name(mask.op) in ("ensure_mask_layout", "ensure_mask_granularity"):
        mask = mask.op.operands[0]
    name = operation_name(mask.op) if isinstance(mask, OpResult) else ""
    if name == "create_mask" and isinstance(mask, OpResult):
        active = constant_value(mask.op.operands[0])
        if active is None:
            return "create_mask active_lanes is dynamic"
        return None if active >= count else "create_mask active_lanes is smaller than the logical lane count"
    if name == "constant_mask" and isinstance(mask, OpResult):
        value = constant_of(mask.op)
        if isinstance(value, DenseIntOrFPElementsAttr) and all(value.iter_values()):
            return None
        return "constant_mask contains an inactive lane"
    return "mask is not a static all-active create_mask or constant_mask"


def expand_load(op: InstructionOp) -> str | None:
    """Return why elements are not loaded one after the other where a bit is on."""
    result, passthru, mask = vector_at(op, "result"), vector_at(op, "passthru"), type_at(op, "mask")
    if (reason := unordered_memory(op, "source")) is not None:
        return reason
    if not all_contiguous(op, "result", "passthru", "mask"):
        return "requires contiguous result, passthru, and mask layouts"
    value = op.operand("mask")
    assert value is not None
    why = _is_all_active(value, result.count.data)
    if why is None:
        if is_full(result) or (reason := _reads_inside(op, result)) is None:
            return None
        why = (
            f"requires full physical chunks or statically safe full-read footprint; value {PADDED}, safe-read proof "
            f"{reason}; fallback decision: {_NO_PARTIAL_LOAD}"
        )
    if not is_pointer(op, "source"):
        return (
            "runtime-mask path requires !pto.ptr source because pto.vgather2_bc is pointer-only; all-active path " + why
        )
    if bits_of(result) != 32:
        return (
            "runtime-mask path currently requires 32-bit result element type so prefix indices and gather result lane "
            "counts match"
        )
    if bits_of(mask) != 32:
        return "runtime-mask path requires b32 mask granularity"
    if any(registers_in(type) != 1 for type in (result, passthru, mask)):
        return (
            "runtime-mask path currently supports only one physical chunk because prefix indices must not reset across "
            "chunks"
        )
    for name, type in (("result", result), ("passthru", passthru), ("mask", mask)):
        if not is_full(type):
            return f"runtime-mask {name} requires full physical chunks; {PADDED}"
    return None


def _indexed(op: InstructionOp, vectors: Sequence[str], memory: str, instruction: str) -> str | None:
    """Return why elements at indices are not loaded or stored, of all that have to be in order."""
    listed = f"{', '.join((*vectors, 'mask')[:-1])}, and mask"
    if not all_contiguous(op, *vectors, "mask"):
        return f"requires contiguous {listed} layouts"
    if not is_pointer(op, memory):
        return f"requires !pto.ptr {memory} because pto.{instruction} is pointer-only"
    indices = vector_at(op, "indices").element_type
    if is_signed(indices) or not isinstance(indices, IntegerType):
        return "requires signless or unsigned integer indices"
    return None


def gather(op: InstructionOp) -> str | None:
    """Return why elements at indices are not loaded."""
    names = ("result", "indices", "passthru")
    if (reason := _indexed(op, names, "source", "vgather2_bc")) is not None:
        return reason
    result, indices, mask = vector_at(op, "result"), vector_at(op, "indices"), type_at(op, "mask")
    widths = (bits_of(result), bits_of(indices), bits_of(mask))
    short = widths == (16, 16, 16) and is_unsigned(indices.element_type)
    if not short and widths != (32, 32, 32):
        return (
            "requires either 32-bit results with 32-bit indices and b32 mask, or ui16 results with ui16 indices and "
            "b16 mask"
        )
    if len({registers_in(type_at(op, name)) for name in (*names, "mask")}) > 1:
        return "requires result, indices, passthru, and mask to have the same physical arity"
    if short:
        return None if registers_in(result) == 1 else "ui16 gather currently supports one physical chunk"
    return _first_padded(op, *names, "mask")


def scatter(op: InstructionOp) -> str | None:
    """Return why elements are not stored at indices."""
    names = ("value", "indices")
    if (reason := _indexed(op, names, "destination", "vscatter")) is not None:
        return reason
    value, indices, mask = vector_at(op, "value"), vector_at(op, "indices"), type_at(op, "mask")
    if (bits_of(value), bits_of(indices), bits_of(mask)) not in {(8, 16, 16), (16, 16, 16), (32, 32, 32)}:
        return (
            "requires either 32-bit values with 32-bit indices and b32 mask, 16-bit values with 16-bit indices and b16 "
            "mask, or 8-bit values with 16-bit indices and b16 mask"
        )
    if len({registers_in(type_at(op, name)) for name in (*names, "mask")}) > 1:
        return "requires value, indices, and mask to have the same physical arity"
    return _first_padded(op, *names, "mask")


def _first_padded(op: InstructionOp, *names: str) -> str | None:
    for name in names:
        if not is_full(type_at(op, name)):
            plural = "require" if name == "indices" else "requires"
            return f"{name} {plural} full physical chunks; {PADDED}"
    return None


def blocks(name: str, memory: str, instruction: str) -> Reason:
    """Return the reason why blocks of 32 bytes are not loaded or stored."""

    def reason(op: InstructionOp) -> str | None:
        if not all_contiguous(op, name, "mask"):
            return f"requires contiguous {name} and mask layouts"
        if not is_pointer(op, memory):
            return f"requires !pto.ptr {memory} because pto.{instruction} is pointer-only"
        if memory == "destination" and (found := store_of(op, vector_at(op, name))) is not None:
            return found
        if any(registers_in(type_at(op, each)) != 1 for each in (name, "mask")):
            return f"currently supports one physical {name}/mask chunk"
        return None

    return reason
