"""Rules of transfers out of the accumulator (`pto.mte_l0c_l1` and kin): scales, limits, layouts, atomics."""

from __future__ import annotations

from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Attribute, SSAValue

from .attributes import AddressSpace
from .instruction_operation import InstructionOp
from .kernels import fail
from .memory import constant_value
from .rules import (
    constant_of,
    is_float8,
    is_signed,
    is_unsigned,
    memory_element,
    signedness,
    space_of,
    type_of,
    width,
    word_of,
)
from .types import HiF8Type, HiF8x2Type

_ENDS = {
    "mte_l0c_l1": (AddressSpace.MAT, "MAT"),
    "mte_l0c_gm": (AddressSpace.GM, "GM"),
    "mte_l0c_ub": (AddressSpace.VEC, "UB"),
}
"""The memory that each is to, and its name."""


def leaves_accumulator(op: InstructionOp) -> None:
    """Check a transfer out of the accumulator."""
    space, name = _ENDS[op.row.name]
    source, destination = type_of(op, "source"), type_of(op, "destination")
    if space_of(source) is not AddressSpace.ACC or space_of(destination) is not space:
        fail(op, f"requires ACC source and {name} destination")
    before, after = memory_element(source), memory_element(destination)
    if before is None or after is None:
        return
    _scale(op, before, after)
    _limit(op, after)
    _relu(op)
    _layout(op, after)
    if op.row.name != "mte_l0c_gm" and op.attribute("atomic_type") is not None:
        fail(op, "atomic is only supported for mte_l0c_gm")
    if op.row.name == "mte_l0c_ub":
        _both_cores(op)


# ---------------------------------------------------------------------------------------------
# Scales
# ---------------------------------------------------------------------------------------------

_OF_FLOATS = [
    "f32_f16",
    "f32_bf16",
    "qf322hif8_pre",
    "qf322hif8_pre_hybrid",
    "qf322fp8_pre",
    "qf322f32_pre",
    "qf162b8_pre",
    "qf162s4_pre",
    "qf322b8_pre",
    "qf322s4_pre",
    "qf322f16_pre",
    "qf322bf16_pre",
]
_OF_INTEGERS = ["deqs32_int", "req8", "deqf16", "deqs16", "qf162s16_pre", "qs322bf16_pre"]

_RESULTS = {
    "f32_f16": "f16", "qf322f16_pre": "f16", "deqf16": "f16", "f32_bf16": "bf16", "qf322bf16_pre": "bf16",
    "qs322bf16_pre": "bf16", "qf322f32_pre": "f32", "qf322hif8_pre": "f8", "qf322hif8_pre_hybrid": "f8",
    "qf322fp8_pre": "f8", "deqs32_int": "i32", "qf162s16_pre": "i16", "deqs16": "i16", "qf162b8_pre": "i8",
    "req8": "i8", "qf322b8_pre": "i8", "qf162s4_pre": "i4", "req4": "i4", "qf322s4_pre": "i4",
}  # fmt: skip
"""What each way to scale makes, without `_vec` or `_scalar`, which say if there is one scale or one a column."""


def _is_result(element: Attribute, wanted: str) -> bool:
    if wanted == "f8":
        return is_float8(element) or isinstance(element, HiF8Type | HiF8x2Type)
    if wanted.startswith("i"):
        held = signedness(element) is not None and width(element) == int(wanted[1:])
        return held and (wanted in ("i32", "i8") or not is_unsigned(element))
    return str(element) == wanted


def _is_scalar(type: Attribute | None) -> bool:
    return str(type) in ("f16", "bf16", "f32")


def _is_scaling(value: SSAValue | None) -> bool:
    return value is not None and space_of(value.type) is AddressSpace.SCALING


def _scale(op: InstructionOp, before: Attribute, after: Attribute) -> None:
    mode, payload = word_of(op, "pre_quant_mode"), op.operand("pre_quant")
    if (payload is None) is not (mode is None):
        fail(op, "pre_quant requires payload and mode together")
    if mode is None or payload is None or mode == "no_convert":
        return
    if mode.endswith("_vec"):
        if not _is_scaling(payload):
            fail(op, "vector pre_quant mode requires scaling pointer payload")
        if not _is_scalar(memory_element(payload.type)):
            fail(op, "vector pre_quant mode requires scaling pointer element type to be f16, bf16, or f32")
    elif not _is_scalar(payload.type):
        fail(op, "scalar pre_quant mode requires f16/bf16/f32 payload")
    kind = mode.removesuffix("_vec").removesuffix("_scalar")
    if not isinstance(before, Float32Type) and str(before) != "i32":
        fail(op, f"pre_quant requires source element type to be f32 or i32, got {before}")
    if kind not in (_OF_FLOATS if isinstance(before, Float32Type) else _OF_INTEGERS) or not _is_result(
        after, _RESULTS[kind]
    ):
        fail(
            op,
            f"pre_quant mode {mode} is incompatible with source element type '{before}' and destination element type "
            f"'{after}'",
        )


def _limit(op: InstructionOp, after: Attribute) -> None:
    clip = op.operand("clip_value")
    if clip is None:
        return
    bits = width(after) if signedness(after) is not None else 0
    if str(after) != "f16" and str(after) != "ui8" and (bits not in (4, 8, 16) or is_unsigned(after)):
        fail(op, f"clip requires destination element type to be f16, ui8, or signed 4/8/16-bit integer, got {after}")
    given = clip.type
    own = width(given) if signedness(given) is not None else 0
    if str(after) == "f16":
        if str(given) != "f16":
            fail(op, "clip for f16 destination requires f16 payload")
    elif str(after) == "ui8":
        if own != 16 or is_signed(given):
            fail(op, "clip for ui8 destination requires ui16/signless i16 payload")
    elif own not in (4, 8, 16) or is_unsigned(given):
        fail(op, "clip for signed 4/8/16-bit destination requires signed/signless i4/i8/i16 payload")


def _relu(op: InstructionOp) -> None:
    mode, payload = word_of(op, "pre_relu_mode"), op.operand("pre_relu")
    if mode is None:
        if payload is not None:
            fail(op, "pre_relu payload requires pre_relu mode")
        if op.operand("clip_value") is not None:
            fail(op, "clip requires pre_relu clause")
    elif mode in ("no_relu", "normal_relu"):
        if payload is not None:
            fail(op, "mode does not accept pre_relu payload")
    elif mode == "pwl":
        fail(op, "pwl is not supported for target_profile mte_l0c_l1")
    elif payload is None:
        fail(op, f"{mode} requires payload")
    elif mode == "scalar_relu":
        if not _is_scalar(payload.type):
            fail(op, "scalar_relu requires f16/bf16/f32 payload")
    elif not _is_scaling(payload):
        fail(op, "vector_relu requires scaling pointer payload")
    elif not _is_scalar(memory_element(payload.type)):
        fail(op, "vector_relu requires scaling pointer element type to be f16, bf16, or f32")


# ---------------------------------------------------------------------------------------------
# Layouts
# ---------------------------------------------------------------------------------------------


def _layout(op: InstructionOp, after: Attribute) -> None:
    mode, stride, loop = word_of(op, "mode"), op.operand("layout_stride"), op.operand_groups.get("loop3", ())
    if mode == "nz2nd" and stride is not None:
        fail(op, "nz2nd does not accept loop0_src_stride")
    if mode in (None, "nz2nz") and loop:
        fail(op, "loop3 requires nz2nd or nz2dn")
    if mode == "nz2dn":
        if stride is None:
            fail(op, "nz2dn requires loop0_src_stride")
        if word_of(op, "unit_flag") not in (None, "off") and constant_value(stride) != 1:
            fail(op, "unit_flag must be off when nz2dn loop0_src_stride is not 1")
    if mode == "nz2nz" and not isinstance(after, Float32Type):
        fail(op, "nz2nz requires destination element type to be f32")


_SPLIT_COLUMNS = 32


def _both_cores(op: InstructionOp) -> None:
    """Check how a transfer to the vector cores is divided between them."""
    mode, core = word_of(op, "dst_mode"), constant_of(op, "sub_blockid")
    if mode in (None, "single"):
        if op.operand("sub_blockid") is None:
            fail(op, "dst_mode(%sub_blockid) requires a sub_blockid operand")
        if core is not None and core not in (0, 1):
            fail(op, "sub_blockid must be 0 or 1")
        return
    if op.operand("sub_blockid") is not None:
        fail(op, "split destination modes do not accept sub_blockid")
    changes = ("pre_quant", "pre_relu", "clip_value", "layout_stride", "loop3")
    if any(op.operand_groups.get(name) for name in changes) or word_of(op, "pre_relu_mode") is not None:
        fail(
            op,
            "dual destination mode cannot be combined with pre_quant, pre_relu, clip, nz2dn, nz2nz, or loop3",
        )
    if word_of(op, "mode") not in (None, "nz2nd"):
        fail(op, "dual destination mode requires normal or nz2nd layout")
    rows, columns = constant_of(op, "m"), constant_of(op, "n")
    if mode == "split_m" and rows is not None and rows % 2:
        fail(op, "split-M dual destination requires m to be even")
    if mode == "split_n" and columns is not None and columns % _SPLIT_COLUMNS:
        fail(op, f"split-N dual destination requires n to be a multiple of {_SPLIT_COLUMNS}")
