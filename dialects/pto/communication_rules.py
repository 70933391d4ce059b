"""Rules of communication between devices, of barriers and of flags, in upstream's words, by the name of the row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType, StringAttr
from xdsl.ir import Attribute, SSAValue

from ...targets.tile_limits import SESSION_BYTES
from .attributes import AddressSpace, HardwarePipe, HardwarePipeAttr
from .instruction_operation import InstructionOp
from .kernels import architecture_of, fail
from .rules import Rule
from .types import DYNAMIC, PartitionTensorViewType, PtrType, TensorViewType, TileBufType

_LAST_EVENT = 15
_LAST_EVENT_OF_A5 = 31
_EVENT_PIPES = (HardwarePipe.FIX, HardwarePipe.MTE1, HardwarePipe.MTE2, HardwarePipe.MTE3, HardwarePipe.V)
_BITS = 32
_LAST_MODE = 2
_LAST_SESSION = 7
_LAST_BUFFER = 31
_LAST_GROUP = (1 << 32) - 1


def _number(attribute: Attribute | None) -> int | None:
    """Return the value of an attribute; as one with a sign."""
    if not isinstance(attribute, IntegerAttr):
        return None
    value = cast("IntegerAttr[IntegerType]", attribute).value.data
    return value - (1 << 64) if value >= 1 << 63 else value


def _is_word(type: Attribute) -> bool:
    return isinstance(type, IntegerType) and cast("IntegerType", type).width.data == _BITS


# ---------------------------------------------------------------------------------------------
# Flags and buffers
# ---------------------------------------------------------------------------------------------


def _of_cores(last_of_a5: int, what: str = "") -> Rule:
    """Return the rule of a flag between cores: its number, and the pipeline that raises or awaits it.

    Without `what` it is checked on all chips, with it, the text of a message, on a5.
    """

    def rule(op: InstructionOp) -> None:
        is_a5 = architecture_of(op) != "a2a3"
        mode = _number(op.attribute("ffts_mode"))
        if mode is not None and not 0 <= mode <= _LAST_MODE:
            fail(op, f"requires ffts_mode in range [0, {_LAST_MODE}], but got {mode}")
        if what and architecture_of(op) != "a5":
            return
        last = last_of_a5 if is_a5 else _LAST_EVENT
        number, pipe = _number(op.attribute("event_id")), op.attribute("pipe")
        if number is not None and not 0 <= number <= last:
            fail(op, f"{what}expects static {'FFTS ' if what else ''}event_id in [0, {last}], but got {number}")
        if isinstance(pipe, HardwarePipeAttr) and pipe.data not in _EVENT_PIPES:
            names = ", ".join(f"<{each.value}>" for each in _EVENT_PIPES)
            fail(op, f"{what or f'{op.name} '}expects pipe to be one of {names}")

    return rule


def _buffer(op: InstructionOp) -> None:
    """Check which pipeline takes or frees a buffer, and its number where the text has it."""
    pipe, number, mode = (op.attribute(name) for name in ("op_type", "buf_id", "mode"))
    name = pipe.data if isinstance(pipe, StringAttr) else pipe.data.value if isinstance(pipe, HardwarePipeAttr) else ""
    if name in (HardwarePipe.ALL.value, HardwarePipe.UNASSIGNED.value):
        fail(op, "expects 'op_type' to map to a concrete pipe, not PIPE_ALL/PIPE_UNASSIGNED")
    if not 0 <= (_number(number) or 0) <= _LAST_BUFFER:
        fail(op, f"expects 'buf_id' in range [0, {_LAST_BUFFER}]")
    if (_number(mode) or 0) < 0:
        fail(op, "expects 'mode' to be non-negative")


# ---------------------------------------------------------------------------------------------
# Between devices
# ---------------------------------------------------------------------------------------------


def _view(op: InstructionOp, value: SSAValue, name: str, *, may_vary: bool = False) -> Sequence[int]:
    """Check a tensor of global memory; return its extents."""
    type = value.type
    if not isinstance(type, TensorViewType | PartitionTensorViewType):
        fail(op, f"expects {name} to be a tensor_view or partition_view")
    if not type.extents:
        fail(op, f"expects {name} to have rank >= 1")
    for extent in type.extents:
        if extent == DYNAMIC:
            if not may_vary:
                fail(op, f"does not support dynamic dimensions on {name}")
            if not isinstance(type, PartitionTensorViewType):
                fail(op, f"allows dynamic dimensions on {name} only for partition_tensor_view")
        elif extent <= 0:
            fail(op, f"expects every static dimension of {name} to be positive")
    return type.extents


def _element(value: SSAValue) -> Attribute | None:
    type = value.type
    return type.element_type if isinstance(type, TensorViewType | PartitionTensorViewType | TileBufType) else None


def _staging(op: InstructionOp, prefix: str = "") -> SSAValue:
    """Check the tile, or two of one type, by way of which elements go; return the first."""
    tiles = [(f"{prefix}{name}", value) for name in ("ping", "pong") if (value := op.operand(name)) is not None]
    for name, value in tiles:
        if not isinstance(value.type, TileBufType):
            fail(op, f"expects {name} to be a tile_buf")
        if value.type.location is not AddressSpace.VEC:
            fail(op, f"expects {name} to be in vec address space")
    if len({value.type for _, value in tiles}) > 1:
        fail(op, f"expects {' and '.join(name for name, _ in tiles)} to have identical types")
    return tiles[0][1]


def _transfer(op: InstructionOp) -> None:
    target, source = op.operand_groups["dst"][0], op.operand_groups["src"][0]
    extents = [_view(op, value, name, may_vary=True) for name, value in (("dst", target), ("src", source))]
    ping = _staging(op)
    if _element(target) != _element(source):
        fail(op, "expects src and dst to have the same element type")
    if extents[0] != extents[1]:
        fail(op, "expects src and dst to have the same static/dynamic shape signature")
    if _element(ping) != _element(source):
        fail(op, "expects staging tile element type to match src/dst")


def _line(op: InstructionOp, value: SSAValue, name: str) -> Sequence[int]:
    """Check a tensor whose elements are behind each other in one dimension; return its extents."""
    type = value.type
    if not isinstance(type, TensorViewType | PartitionTensorViewType):
        fail(op, f"expects {name} to be a tensor_view or partition_view")
    if not type.extents:
        fail(op, f"expects {name} to have rank >= 1")
    if DYNAMIC in type.extents:
        fail(op, f"expects {name} to have a static shape")
    if any(extent != 1 for extent in type.extents[:-1]):
        fail(op, f"expects {name} to be a static flat contiguous logical 1D GM view")
    return type.extents


def _transfer_in_background(op: InstructionOp) -> None:
    target, source = op.operand_groups["dst"][0], op.operand_groups["src"][0]
    if _element(target) != _element(source):
        fail(op, "expects src and dst to have the same element type")
    if _line(op, target, "dst") != _line(op, source, "src"):
        fail(op, "expects src and dst to have the same static shape")


def _prefetch(op: InstructionOp) -> None:
    _line(op, op.operands[0], "src")


def _signal(op: InstructionOp) -> None:
    signal = op.operands[0]
    _view(op, signal, "signal")
    if str(_element(signal)) != "i32":
        fail(op, "expects signal element type to be i32")
    if not _is_word(op.operands[1].type):
        fail(op, f"expects {'value' if op.operand('value') is not None else 'cmp_value'} to be i32")


def _collective(op: InstructionOp) -> None:
    name = "src" if op.operand("src") is not None else "dst"
    value = op.operand_groups[name][0]
    _view(op, value, name)
    accumulator = op.operand("acc")
    tile = _staging(op, "" if accumulator is None else "recv_")
    group = op.operand_groups["group"]
    if not group:
        fail(op, "expects at least one group operand")
    for number, member in enumerate(group):
        _view(op, member, f"group[{number}]")
    if len({member.type for member in group}) > 1:
        fail(op, "expects all group operands to have identical types")
    root = _number(op.attribute("root"))
    if root is not None and not 0 <= root < len(group):
        fail(op, "expects root to index into group operands")
    if op.row.name == "comm.tbroadcast" and value.type != group[0].type:
        fail(op, "expects src type to match group member type")
    if _element(value) != _element(group[0]):
        fail(op, f"expects {name} element type to match group member type")
    if accumulator is not None and accumulator.type != tile.type:
        fail(op, "expects acc and recv_ping to have identical types")
    if _element(tile) != _element(value):
        tiles = "staging tile element type" if accumulator is None else "accumulator/receive tiles"
        fail(op, f"expects {tiles} to match {name}{'' if accumulator is None else ' element type'}")


def _session(op: InstructionOp) -> None:
    scratch, workspace = op.operand_groups["scratch"][0].type, op.operand_groups["workspace"][0].type
    if isinstance(scratch, TileBufType):
        if scratch.location is not AddressSpace.VEC:
            fail(op, "expects scratch to be in vec address space")
        if scratch.bytes is not None and scratch.bytes < SESSION_BYTES:
            fail(op, f"expects scratch to provide at least {SESSION_BYTES} bytes")
    _bytes(op, workspace)
    number = _number(op.attribute("sync_id"))
    if number is not None and not 0 <= number <= _LAST_SESSION:
        fail(op, f"expects sync_id in range [0, {_LAST_SESSION}]")
    for name, least in (("block_bytes", 1), ("queue_num", 1), ("comm_block_offset", 0), ("channel_group_idx", 0)):
        number = _number(op.attribute(name))
        if number is not None and number < least:
            fail(op, f"expects {name} to be {'greater than 0' if least else 'non-negative'}")
    if (_number(op.attribute("channel_group_idx")) or 0) > _LAST_GROUP:
        fail(op, "expects channel_group_idx to fit in uint32")


def _bytes(op: InstructionOp, workspace: Attribute) -> None:
    element = workspace.element_type if isinstance(workspace, PtrType) else None
    if not isinstance(element, IntegerType) or cast("IntegerType", element).width.data != 8:
        fail(op, "expects workspace element type to be an 8-bit integer")


def _context(op: InstructionOp) -> None:
    _bytes(op, op.operands[0].type)


COMMUNICATION_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("set_cross_block", "wait_cross_block"), _of_cores(_LAST_EVENT)),
    **dict.fromkeys(("set_intra_block", "wait_intra_block"), _of_cores(_LAST_EVENT_OF_A5)),
    **{name: _of_cores(_LAST_EVENT, f"A5 {name} ") for name in ("sync.set", "sync.wait")},
    **dict.fromkeys(("get_buf", "rls_buf", "get_buf_dyn", "rls_buf_dyn"), _buffer),
    **dict.fromkeys(("comm.tput", "comm.tget"), _transfer),
    **dict.fromkeys(("comm.tput_async", "comm.tget_async"), _transfer_in_background),
    "tprefetch_async": _prefetch,
    **dict.fromkeys(("comm.tnotify", "comm.twait", "comm.ttest"), _signal),
    **dict.fromkeys(("comm.tbroadcast", "comm.tgather", "comm.tscatter", "comm.treduce"), _collective),
    "comm.build_async_session": _session,
    "make_prefetch_async_context": _context,
}
"""The rules by the name of the row."""
