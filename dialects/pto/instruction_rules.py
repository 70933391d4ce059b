"""Rules of instructions that their kinds of operands do not state, in upstream's words, by the name of the row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType, MemRefType, Signedness
from xdsl.ir import Attribute

from ...targets.chip import BLOCK_BYTES, MAX_FIELD, MAX_FILLED
from .attributes import AddressSpace, AddressSpaceAttr
from .communication_rules import COMMUNICATION_RULES
from .instruction_operation import InstructionOp
from .kernels import architecture_of, fail
from .memory import constant_value
from .registers import VRegType
from .structure_rules import STRUCTURE_RULES
from .types import F4E1M2x2Type, F4E2M1x2Type, PtrType, TileBufType
from .vector_rules import VECTOR_RULES, Rule, all_of, memory_element

_FIELDS = {
    **dict.fromkeys(("m_start", "k_start"), (0, MAX_FIELD)),
    **dict.fromkeys(("m_step", "k_step"), (1, 255)),
    **dict.fromkeys(("src_stride", "dst_stride"), (1, MAX_FIELD)),
    "transpose": (0, 1),
}
"""The least and the largest number that a field of the hardware holds, by operand."""


def _constant(op: InstructionOp, name: str) -> int | None:
    value = op.operand(name)
    return None if value is None else constant_value(value)


def _fields(op: InstructionOp) -> None:
    """Check operands that are constants against the fields of the hardware that hold them."""
    for name, (least, most) in _FIELDS.items():
        value = _constant(op, name)
        if value is not None and value < 0:
            fail(op, f"{name} must be non-negative")
        if value is not None and value < least:
            fail(op, f"{name} must be greater than zero")
        if value is not None and value > most:
            fail(op, f"{name} must be <= {most} to fit the hardware control field")


def _space(type: Attribute) -> AddressSpace | None:
    """Return the memory that a pointer or memref is to."""
    if isinstance(type, PtrType):
        return type.space.data
    if isinstance(type, MemRefType):
        space = cast("MemRefType[Attribute]", type).memory_space
        return space.data if isinstance(space, AddressSpaceAttr) else None
    return None


def _into(space: AddressSpace, *, fields: bool = True, packed: bool | None = False) -> Rule:
    """Return the rule of a copy from the cube core's first memory to the memory of an operand.

    `packed` says that it copies elements of 4 bits, or that it does not; None that both are copied.
    """

    def rule(op: InstructionOp) -> None:
        source, destination = op.operands[0].type, op.operands[1].type
        if _space(source) is not AddressSpace.MAT:
            fail(op, "requires MAT source")
        if _space(destination) is not space:
            fail(op, f"requires {space.value.upper()} destination")
        elements = [memory_element(type) for type in (source, destination)]
        for element, what in zip(elements, ("source", "destination"), strict=True):
            is_packed = isinstance(element, F4E1M2x2Type | F4E2M1x2Type)
            if packed and not is_packed:
                fail(op, f"requires packed FP4 {what} element type f4e1m2x2 or f4e2m1x2")
            if packed is False and is_packed:
                fail(op, f"packed FP4 {what} requires the S4 load operation")
        if packed and elements[0] != elements[1]:
            fail(op, "requires source and destination packed FP4 element types to match")
        if fields:
            _fields(op)

    return rule


def _not_negative(*names: str) -> Rule:
    def rule(op: InstructionOp) -> None:
        for name in names:
            value = _constant(op, name)
            if value is not None and value < 0:
                fail(op, f"{name} must be non-negative")

    return rule


_WORDS = (16, 32)


def _fill(op: InstructionOp) -> None:
    """Check a fill of the cube core's first memory: numbers of 15 bits, and words of 16 or 32."""
    space = _space(op.operands[0].type)
    if space is not AddressSpace.MAT and not isinstance(op.operands[0].type, TileBufType):
        fail(op, f"requires dst in the mat/l1 address space, got {'vec/ub' if space is AddressSpace.VEC else space}")
    for name in ("repeat_times", "block_num_32b", "dst_gap_32b"):
        value = _constant(op, name)
        if value is not None and value > MAX_FILLED:
            fail(op, f"{name} must be <= {MAX_FILLED}")
    _not_negative("repeat_times", "block_num_32b", "dst_gap_32b", "byte_offset")(op)
    offset = _constant(op, "byte_offset")
    if offset is not None and offset % BLOCK_BYTES:
        fail(op, f"byte_offset must be a multiple of {BLOCK_BYTES} bytes")
    bits = op.attribute("fill_word_bits")
    if isinstance(bits, IntegerAttr):
        number = cast("IntegerAttr[IntegerType]", bits).value.data
        if number not in _WORDS:
            fail(op, f"fill_word_bits must be 16 or 32, got {number}")


def _updated(base: str) -> Rule:
    """Return the rule that an address that an instruction moves on keeps its type."""

    def rule(op: InstructionOp) -> None:
        pointer = op.operand(base)
        for name in ("updated_base", "base_out"):
            for value in op.result_groups.get(name, ()):
                if pointer is not None and value.type != pointer.type:
                    fail(
                        op, f"requires updated base result to match {'source' if 'us' in op.row.name else 'base'} type"
                    )

    return rule


def _exact_numbers(**operands: str) -> Rule:
    """Return the rule that vectors do not have floats of low precision, which are converted only."""

    def rule(op: InstructionOp) -> None:
        for name, called in operands.items():
            for value in op.operand_groups.get(name, ()):
                if isinstance(value.type, VRegType) and str(value.type.element_type).lower().startswith(_LOW_PRECISION):
                    fail(op, f"{called} type must not use low-precision vector element type")

    return rule


_LOW_PRECISION = ("f8", "!pto.f4", "!pto.hif8", "!pto.bf16x2")


def _shift_count(op: InstructionOp) -> None:
    (count,) = op.operand_groups["rhs"]
    element = count.type.element_type if isinstance(count.type, VRegType) else None
    if isinstance(element, IntegerType) and cast("IntegerType", element).signedness.data is not Signedness.SIGNED:
        fail(op, "requires shift count to use a signed integer element type")


def _of_one_chip(chip: str, text: str) -> Rule:
    def rule(op: InstructionOp) -> None:
        if architecture_of(op) not in (chip, None):
            fail(op, text)

    return rule


def _outside_of_vector_code(op: InstructionOp) -> None:
    """Check that what orders pipelines and cores is not inside code of the vector unit."""
    parent = op.parent_op()
    while parent is not None:
        if parent.name in ("pto.vecscope", "pto.strict_vecscope"):
            fail(op, f"must be outside '{parent.name}'")
        parent = parent.parent_op()


_OUTSIDE = (
    "record_event", "wait_event", "barrier_sync", "set_flag", "wait_flag", "set_flag_dyn", "wait_flag_dyn", "get_buf",
    "rls_buf", "get_buf_dyn", "rls_buf_dyn", "sync.set", "sync.wait", "cmo.cacheinvalid", "fence.barrier_all", "tsync",
    "dsb", "dcci", "syncthreads", "threadfence", "threadfence_block",
)  # fmt: skip

_OTHERS: Mapping[str, Rule] = {
    **VECTOR_RULES,
    **STRUCTURE_RULES,
    **COMMUNICATION_RULES,
    "load_cbuf_to_ca": _into(AddressSpace.LEFT),
    "load_cbuf_to_cb": _into(AddressSpace.RIGHT),
    "load_cbuf_to_ca_s4": _into(AddressSpace.LEFT, packed=True),
    "load_cbuf_to_cb_s4": _into(AddressSpace.RIGHT, packed=True),
    "load_cbuf_to_ca_mx": _into(AddressSpace.LEFT, fields=False, packed=None),
    "load_cbuf_to_cb_mx": _into(AddressSpace.RIGHT, fields=False, packed=None),
    "mte_l1_l0a": all_of(_into(AddressSpace.LEFT, fields=False, packed=None), _not_negative("start_row", "start_col")),
    "mte_l1_l0b": all_of(_into(AddressSpace.RIGHT, fields=False, packed=None), _not_negative("start_row", "start_col")),
    **dict.fromkeys(("mte_l1_l0a_mx", "mte_l1_l0b_mx"), _not_negative("x_step", "y_step", "src_stride", "dst_stride")),
    "raw_fill_l1": _fill,
    **dict.fromkeys(("vlds", "vldsx2", "vldus", "vsldb", "plds", "pldi"), _updated("source")),
    **dict.fromkeys(("vsts", "vsstb", "vstas", "psts", "psti", "sprsti", "sprsts"), _updated("destination")),
    "vstus": _updated("base"),
    **dict.fromkeys(("vadd", "vsub", "vmul", "vdiv", "vmax", "vmin"), _exact_numbers(lhs="lhs", rhs="rhs")),
    **dict.fromkeys(("vexp", "vln", "vsqrt", "vabs", "vneg", "vrelu"), _exact_numbers(input="operand")),
    **dict.fromkeys(("vmuls", "vadds", "vmaxs", "vmins"), _exact_numbers(input="input")),
    "vsel": _exact_numbers(src0="src0", src1="src1"),
    **dict.fromkeys(("vshl", "vshr"), _shift_count),
    "taddrelu": _of_one_chip("a2a3", "taddrelu is only supported on A2/A3 targets"),
}
"""The rules by the name of the row."""

RULES: Mapping[str, Rule] = {
    **_OTHERS,
    **{
        name: all_of(_outside_of_vector_code, _OTHERS[name]) if name in _OTHERS else _outside_of_vector_code
        for name in _OUTSIDE
    },
}
"""The rules by the name of the row, with those about where an instruction is."""
