"""Rules of instructions that their kinds of operands do not state, in upstream's words, by the name of the row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType, MemRefType
from xdsl.ir import Attribute

from .attributes import AddressSpace, HardwarePipe, HardwarePipeAttr
from .instruction_operation import InstructionOp
from .kernels import architecture_of, check_outside_of_vector_code, fail
from .register_rules import REGISTER_RULES
from .rules import Rule, all_of, memory_element, space_of
from .thread_rules import THREAD_RULES
from .transfer_rules import TRANSFER_RULES
from .types import DYNAMIC, PartitionTensorViewType, TensorViewType, TileBufType
from .vector_rules import VECTOR_RULES

_LAST_EVENT = 15
_LAST_EVENT_OF_A5 = 31
_EVENT_PIPES = (HardwarePipe.FIX, HardwarePipe.MTE1, HardwarePipe.MTE2, HardwarePipe.MTE3, HardwarePipe.V)


def _between_cores(op: InstructionOp) -> None:
    """Check the number of a flag between cores, and the pipeline that raises or awaits it."""
    last = _LAST_EVENT
    if "intra_block" in op.row.name and architecture_of(op) != "a2a3":
        last = _LAST_EVENT_OF_A5
    event, pipe = op.attribute("event_id"), op.attribute("pipe")
    if isinstance(event, IntegerAttr):
        number = cast("IntegerAttr[IntegerType]", event).value.data
        if not 0 <= number <= last:
            fail(op, f"expects static event_id in [0, {last}], but got {number}")
    if isinstance(pipe, HardwarePipeAttr) and pipe.data not in _EVENT_PIPES:
        names = ", ".join(f"<{each.value}>" for each in _EVENT_PIPES)
        fail(op, f"{op.name} expects pipe to be one of {names}")


def _element_and_rank(type: Attribute) -> tuple[Attribute, int] | None:
    """Return the elements and the number of dimensions of a tile, a tensor or a memref."""
    if isinstance(type, MemRefType):
        memref = cast("MemRefType[Attribute]", type)
        return memref.element_type, memref.get_num_dims()
    if isinstance(type, TileBufType | TensorViewType | PartitionTensorViewType):
        return type.element_type, len(type.shape)
    return None


def _address(of: str, sources: str, what: str, place: str) -> Rule:
    """Return the rule of an address: of elements that a tile or tensor has, in its memory."""

    def rule(op: InstructionOp) -> None:
        source, address = op.operands[0].type, op.results[0].type
        found = _element_and_rank(source)
        if found is None or (
            isinstance(source, TileBufType) is not (of == "tile") and not isinstance(source, MemRefType)
        ):
            fail(op, f"source must be a {sources}")
        element, rank = found
        space = source.space.data if isinstance(source, TileBufType) else space_of(op.operands[0].type)
        if of == "tensor":
            if space not in (None, AddressSpace.GM):
                fail(op, "memref source must stay in gm memory space")
            space = AddressSpace.GM
        is_memref = isinstance(address, MemRefType)
        kind = "memref" if is_memref else "pointer"
        if memory_element(address) != element:
            fail(op, f"{kind} result element type must match {what} element type")
        if is_memref and cast("MemRefType[Attribute]", address).get_num_dims() != rank:
            fail(op, f"memref result rank must match {what} rank")
        if space is not None and space_of(address) not in (space, None):
            fail(op, f"{kind} result must stay {place}")

    return rule


def _exactly_one(first: str, second: str, text: str) -> Rule:
    def rule(op: InstructionOp) -> None:
        if (op.operand(first) is None) is (op.attribute(second) is None):
            fail(op, f"expects exactly one of {text}")

    return rule


def _gathers(op: InstructionOp) -> None:
    if op.attribute("coalesce") is None:
        fail(op, "requires attribute 'coalesce'")


def _scatters(op: InstructionOp) -> None:
    given = [name for name in ("scatterAtomicOp", "scatterOob", "scatterConflict") if op.attribute(name) is not None]
    if given and op.attribute("coalesce") is None:
        fail(op, "expects coalesce when scatterAtomicOp/scatterOob/scatterConflict is specified")


_LAST_BYTE = 3


def _histogram(op: InstructionOp) -> None:
    if architecture_of(op) == "a2a3":
        fail(op, "thistogram is only supported on A5")
    byte = op.attribute("byte")
    if not isinstance(byte, IntegerAttr):
        return
    if op.attribute("isMSB") is not None:
        fail(op, "does not allow conflicting 'byte' and legacy 'isMSB' attributes")
    number = cast("IntegerAttr[IntegerType]", byte).value.data
    number -= 1 << 64 if number >= 1 << 63 else 0
    if not 0 <= number <= _LAST_BYTE:
        fail(op, f"expects byte to be in range [0, {_LAST_BYTE}]")
    source = op.operands[0].type
    if isinstance(source, TileBufType) and str(source.element_type) == "ui16" and number > 1:
        fail(op, "expects byte to be 0 or 1 when src element type is ui16")


def _quantizes(op: InstructionOp) -> None:
    kind = str(getattr(op.attribute("quantType") or op.attribute("quant_type"), "data", ""))
    if kind == "INT8_ASYM" and op.operand("offset") is None:
        fail(op, "INT8_ASYM quantization requires an offset operand")
    if kind == "INT8_SYM" and op.operand("offset") is not None:
        fail(op, "INT8_SYM quantization must not have an offset operand")
    source, result = op.operand("src"), op.operand("dst")
    if source is not None and result is not None:
        before, after = source.type, result.type
        if isinstance(before, TileBufType) and isinstance(after, TileBufType):
            pairs = zip(before.valid_shape, after.valid_shape, strict=True)
            if any(DYNAMIC not in pair and pair[0] != pair[1] for pair in pairs):
                fail(op, "expects src and dst to have the same valid_shape")


def _of_one_chip(chip: str, text: str) -> Rule:
    def rule(op: InstructionOp) -> None:
        if architecture_of(op) not in (chip, None):
            fail(op, text)

    return rule


_OUTSIDE = (
    "record_event", "wait_event", "barrier_sync", "set_flag", "wait_flag", "set_flag_dyn", "wait_flag_dyn", "get_buf",
    "rls_buf", "get_buf_dyn", "rls_buf_dyn", "sync.set", "sync.wait", "cmo.cacheinvalid", "fence.barrier_all", "tsync",
    "dsb", "dcci", "syncthreads", "threadfence", "threadfence_block",
)  # fmt: skip

RULES: Mapping[str, Rule] = {
    **VECTOR_RULES,
    **REGISTER_RULES,
    **TRANSFER_RULES,
    **dict.fromkeys(("set_cross_block", "wait_cross_block", "set_intra_block", "wait_intra_block"), _between_cores),
    **dict.fromkeys(_OUTSIDE, check_outside_of_vector_code),
    **{
        name: all_of(check_outside_of_vector_code, rule) if name in _OUTSIDE else rule
        for name, rule in THREAD_RULES.items()
    },
    "tile_buf_addr": _address("tile", "!pto.tile_buf<...> or memref", "tile", "within the tile memory space"),
    "tensor_view_addr": _address(
        "tensor", "tensor_view, partition_tensor_view, or memref", "source", "in gm memory space"
    ),
    "tscatter": _exactly_one("indexes", "maskPattern", "indexes operand or maskPattern attribute"),
    "mgather": _gathers,
    "mscatter": _scatters,
    "thistogram": _histogram,
    "tquant": _quantizes,
    "taddrelu": _of_one_chip("a2a3", "taddrelu is only supported on A2/A3 targets"),
}
"""The rules by the name of the row."""
