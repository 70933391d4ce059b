"""Rules of instructions on registers and masks of 256 bytes, in upstream's words.

A rule is a function of an operation; each instruction has a list of them, in the order in which upstream reports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from xdsl.dialects.builtin import AnyFloat, IntegerType, ShapedType
from xdsl.ir import Attribute

from .align_rules import loads_on, stores_on
from .instruction_operation import InstructionOp
from .kernels import VECTOR_CODE, ancestors, architecture_of, fail
from .register_conversions import converts
from .registers import MaskType, VRegType
from .rules import (
    Place,
    Rule,
    all_of,
    constant_of,
    fits_scalar,
    is_integer,
    is_low_precision,
    is_signed,
    is_unsigned,
    keeps_base,
    memory_element,
    one_of,
    place_of,
    same_types,
    signedness,
    type_of,
    types_of,
    width,
    word_of,
)
from .types import BF16x2Type, PtrType

# ---------------------------------------------------------------------------------------------
# Vectors, masks and memory
# ---------------------------------------------------------------------------------------------


def _vector(op: InstructionOp, name: str) -> VRegType:
    return cast("VRegType", type_of(op, name))


def _element(op: InstructionOp, name: str) -> Attribute:
    return _vector(op, name).element_type


def _exact(name: str, called: str) -> Rule:
    """Return the rule that a vector does not have floats of low precision, which are converted only."""

    def rule(op: InstructionOp) -> None:
        if is_low_precision(_element(op, name)):
            fail(
                op,
                f"{called} type must not use low-precision vector element type; low-precision vreg elements are "
                "currently only supported on explicit memory/conversion ops such as vlds/vsts/vcvt/vmulscvt/vpack",
            )

    return rule


def _floats(element: Attribute) -> bool:
    return str(element) in ("f16", "f32")


def _wide_floats(element: Attribute) -> bool:
    return str(element) in ("f16", "bf16", "f32")


def _up_to_words(element: Attribute) -> bool:
    return _floats(element) or _integers(element)


def _integers(element: Attribute) -> bool:
    return signedness(element) is not None and width(element) in (8, 16, 32)


def _signed_word(element: Attribute) -> bool:
    return _floats(element) or (str(element) != "ui32" and signedness(element) is not None and width(element) == 32)


def _is_word(element: Attribute) -> bool:
    return signedness(element) is not None and width(element) == 32


def _elements(name: str, holds: Callable[[Attribute], bool], text: str) -> Rule:
    """Return the rule that the elements of a vector are of some types."""

    def rule(op: InstructionOp) -> None:
        if not holds(_element(op, name)):
            fail(op, text)

    return rule


def _integers_of_roles(**names: str) -> Rule:
    def rule(op: InstructionOp) -> None:
        for name, called in names.items():
            if signedness(_element(op, name)) is None:
                fail(op, f"{called} type must use integer vector element type")

    return rule


def check_mask_of(op: InstructionOp, granularity: str, name: str = "mask") -> None:
    """Raise VerifyException unless a mask is for elements of a width."""
    if cast("MaskType", type_of(op, name)).granularity.data != granularity:
        fail(op, f"mask type must be !pto.mask<{granularity}>")


def _mask_of(granularity: str) -> Rule:
    return lambda op: check_mask_of(op, granularity)


def _mask_for(name: str) -> Rule:
    """Return the rule that the mask is for elements of the width that a vector's have."""
    return lambda op: check_mask_of(op, f"b{width(_element(op, name))}")


def _mask_type(op: InstructionOp, name: str) -> MaskType:
    return cast("MaskType", type_of(op, name))


def _masks(vector: str, called: str = "", **masks: str) -> Rule:
    """Return the rule that masks are for elements of the width that a vector's have, where those are plain."""

    def rule(op: InstructionOp) -> None:
        type = _vector(op, vector)
        element = type.element_type
        if not _up_to_words(element) and not _wide_floats(element):
            return
        for name, role in (masks or {"mask": "mask"}).items():
            mask = _mask_type(op, name)
            if mask.granularity.data != f"b{width(element)}":
                fail(
                    op,
                    f"{role} type {mask} does not match {called or vector} vector type {type}; expected "
                    f"!pto.mask<b{width(element)}>",
                )

    return rule


def _same_masks(**names: str) -> Rule:
    """Return the rule that masks are for elements of one width, that of the first."""

    def rule(op: InstructionOp) -> None:
        (first, role), *others = names.items()
        for name, other in others:
            if _mask_type(op, first) != _mask_type(op, name):
                fail(op, f"{role} type {_mask_type(op, first)} does not match {other} type {_mask_type(op, name)}")

    return rule


def _in_vector_memory(name: str, text: str = "") -> Rule:
    """Return the rule that memory is that of a vector core, as far as its type says."""

    def rule(op: InstructionOp) -> None:
        if place_of(type_of(op, name)) is Place.GLOBAL:
            fail(op, text or f"requires a UB-backed {name}")

    return rule


def _all_in_vector_memory(text: str, *names: str) -> Rule:
    def rule(op: InstructionOp) -> None:
        if any(place_of(type) is not Place.VECTOR for type in types_of(op, *names)):
            fail(op, text)

    return rule


def _keeps_bits(source: str, result: str, text: str) -> Rule:
    def rule(op: InstructionOp) -> None:
        if len({_vector(op, name).count.data * width(_element(op, name)) for name in (source, result)}) > 1:
            fail(op, text)

    return rule


_KEEPS_WIDTH = "requires source and result to preserve total vector storage width"


# ---------------------------------------------------------------------------------------------
# Arithmetic
# ---------------------------------------------------------------------------------------------


def _scalar(op: InstructionOp) -> None:
    element, scalar = _element(op, "input"), type_of(op, "scalar")
    if scalar == element:
        return
    if signedness(element) is None or signedness(scalar) is None or width(element) != width(scalar):
        fail(op, "scalar type must match vector element type")
    if not fits_scalar(element, scalar):
        fail(
            op,
            "integer scalar type must match vector element width and use matching signedness or signless i<width>",
        )


def _shift_by_number(op: InstructionOp) -> None:
    if signedness(_element(op, "input")) is None:
        fail(op, "requires integer vector and integer scalar")
    if str(type_of(op, "scalar")) != "i16":
        fail(op, "requires signless i16 scalar")


def _divides(op: InstructionOp) -> None:
    """Check a quotient of integers, which a library computes on a5."""
    vector, mask = _vector(op, "lhs"), _mask_type(op, "mask")
    if signedness(vector.element_type) is None or architecture_of(op) != "a5":
        return
    bits = width(vector.element_type)
    if is_unsigned(vector.element_type) or bits not in (16, 32) or mask.granularity.data != f"b{bits}":
        fail(
            op,
            f"A5 integer pto.vdiv is not supported for '{vector}' with mask '{mask}'; only signed or signless i16 "
            "vectors with a b16 mask and i32 vectors with a b32 mask are",
        )


def _shift(op: InstructionOp) -> None:
    shifted, counts, result = (_vector(op, name) for name in ("lhs", "rhs", "result"))
    if signedness(shifted.element_type) is None:
        fail(op, "requires integer vector element type")
    if shifted != result:
        fail(op, "requires matching result register vector shape")
    if shifted.count != counts.count:
        fail(op, "requires matching lane count for shift count")
    if signedness(counts.element_type) is None:
        fail(op, "requires integer vector element type for shift count")
    if width(counts.element_type) != width(shifted.element_type):
        fail(op, "requires shift count with matching element bitwidth")
    if not is_signed(counts.element_type):
        fail(op, "requires shift count to use a signed integer element type")


def _no_pairs(op: InstructionOp) -> None:
    if isinstance(_element(op, "lhs"), BF16x2Type):
        fail(
            op,
            "does not support bf16x2 vector elements; low-precision bitwise operations require an 8-bit payload type",
        )


def _sum(op: InstructionOp) -> None:
    """Check `vcadd`, whose sums of short integers are twice as wide."""
    source, result = _vector(op, "input"), _vector(op, "result")
    element = source.element_type
    wanted, lanes = element, source.count.data
    if (sign := signedness(element)) is not None:
        bits = width(element)
        if not 8 <= bits <= 32:
            fail(op, "requires 8-bit, 16-bit, or 32-bit integer vector element type")
        if bits in (8, 16):
            wanted, lanes = IntegerType(2 * bits, sign), lanes // 2
    elif not _floats(element):
        fail(op, "requires i16/i32/f16/f32 vector element type")
    if (result.count.data, result.element_type) != (lanes, wanted):
        fail(op, f"vcadd expects result type !pto.vreg<{lanes}x{wanted}> for input element type {element}")


def _group_reduction(op: InstructionOp) -> None:
    element = _element(op, "input")
    if signedness(element) is not None:
        if not _integers(element):
            fail(op, "requires 8-bit, 16-bit, or 32-bit integer vector element type")
    elif not _floats(element):
        fail(op, "requires i16/i32/f16/f32 vector element type")


def _is_scaled_by_element(op: InstructionOp) -> None:
    if type_of(op, "alpha") != _element(op, "src0"):
        fail(op, "requires alpha type to match vector element type")


def _by_word(op: InstructionOp) -> None:
    if str(type_of(op, "scalar")) != "f32":
        fail(op, "requires f32 scalar operand")


def _plain(name: str) -> Rule:
    """Return the rule that elements are MLIR's integers or floats."""
    return _elements(
        name,
        lambda element: isinstance(element, IntegerType | AnyFloat),
        "requires integer or floating-point vector element types",
    )


def _histogram(op: InstructionOp) -> None:
    for name, bits, lanes in (("acc", 16, 128), ("source", 8, 256)):
        vector = _vector(op, name)
        held = signedness(vector.element_type) is not None and width(vector.element_type) == bits
        if not held or vector.count.data != lanes:
            fail(op, f"requires {name} type to be !pto.vreg<{lanes}xi{bits}>")
    if type_of(op, "result") != type_of(op, "acc"):
        fail(op, "requires result type to match acc type")


def _extreme(op: InstructionOp) -> None:
    if type_of(op, "input") != type_of(op, "value"):
        fail(op, "requires input and value result to share one vector type")
    if type_of(op, "mask") != type_of(op, "predicate"):
        fail(op, "requires mask and predicate result to share one mask type")
    if not _up_to_words(_element(op, "input")):
        fail(op, "requires i8/i16/i32/f16/f32 vector element type")


def _prefix_counts(op: InstructionOp) -> None:
    element = _element(op, "input")
    if signedness(element) is None or is_unsigned(element):
        fail(op, "requires signed integer vector element type")
    if not _integers(element):
        fail(op, "requires s8/s16/s32 vector element type")


# ---------------------------------------------------------------------------------------------
# Moves between elements
# ---------------------------------------------------------------------------------------------


def _select_lanes(op: InstructionOp) -> None:
    source, indices = _vector(op, "src0"), _vector(op, "src1")
    if source != _vector(op, "result"):
        fail(op, "requires src0 and result to have identical vector types")
    if indices.count != source.count:
        fail(op, "requires src0/src1 to have identical element counts")
    if signedness(indices.element_type) is None:
        fail(op, "requires src1 to use integer vector elements")
    if width(indices.element_type) != width(source.element_type):
        fail(op, "requires src1 integer element width to match src0 element width")


def _unpacks(op: InstructionOp) -> None:
    source, result = _vector(op, "src"), _vector(op, "result")
    if signedness(source.element_type) is None or signedness(result.element_type) is None:
        fail(op, "currently requires integer source and result element types")
    if source.count.data != 2 * result.count.data:
        fail(op, "requires source element count to be twice the result element count")
    if 2 * width(source.element_type) != width(result.element_type):
        fail(op, "requires result element width to be twice the source element width")


def _packs(op: InstructionOp) -> None:
    source, result = _vector(op, "src"), _vector(op, "result")
    if signedness(source.element_type) is None or signedness(result.element_type) is None:
        fail(op, "currently requires integer source and result element types")
    if result.count.data != 2 * source.count.data:
        fail(op, "requires result element count to be twice the source element count")
    if width(source.element_type) != 2 * width(result.element_type):
        fail(op, "requires result element width to be half the source element width")
    if not is_unsigned(result.element_type):
        fail(op, "requires unsigned result element type")
    if width(source.element_type) not in (16, 32):
        fail(op, "currently supports only s32/u32 -> u16 and s16/u16 -> u8")


def _broadcast(op: InstructionOp) -> None:
    value = type_of(op, "value")
    if isinstance(value, ShapedType):
        fail(op, "value must be a scalar matching the result element type")
    if not fits_scalar(_element(op, "result"), value):
        fail(op, "value type must match result element type")


def _counts(op: InstructionOp) -> None:
    element = _element(op, "result")
    if not _up_to_words(element):
        fail(op, "result element type must be integer or f16/f32")
    if not fits_scalar(element, type_of(op, "index")):
        fail(op, "index type must match result element type")


def _duplicate(op: InstructionOp) -> None:
    result, given = _vector(op, "result"), type_of(op, "input")
    element = result.element_type
    if not _integers(element) and not _wide_floats(element):
        fail(op, "result element type must use b8, b16, or b32 mask granularity")
    check_mask_of(op, f"b{width(element)}")
    one_of("position", "LOWEST HIGHEST", "position must be LOWEST or HIGHEST", always=False)(op)
    if isinstance(given, VRegType):
        if given != result:
            fail(op, "vector input must match result vector type")
        return
    if op.attribute("position") is not None:
        fail(op, "position is only supported for vector input")
    if not fits_scalar(element, given):
        fail(op, "scalar input must match result element type")


def _compares_with_number(op: InstructionOp) -> None:
    if not fits_scalar(_element(op, "src"), type_of(op, "scalar")):
        fail(op, "requires scalar type to match source element type")


def _regrains(step: int, what: str) -> Rule:
    """Return the rule that a mask keeps its granularity, or takes the next one up (1) or down (-1)."""
    order = ("b8", "b16", "b32")

    def rule(op: InstructionOp) -> None:
        before, after = (
            order.index(cast("MaskType", type_of(op, name)).granularity.data) for name in ("input", "result")
        )
        if after - before not in (0, step):
            fail(op, f"requires result mask granularity to match the input or {what} by one step")

    return rule


# ---------------------------------------------------------------------------------------------
# Loads and stores
# ---------------------------------------------------------------------------------------------


def _holds_same_integers(source: Attribute, result: Attribute, bits: int) -> bool:
    """Return True for integers of a width, both unsigned or both not."""
    return signedness(result) is not None and width(result) == bits and is_unsigned(source) is is_unsigned(result)


_SIXTEEN = "16-bit gather requires i16/ui16/f16/bf16 source and matching result"
_THIRTY_TWO = "32-bit gather requires i32/ui32/f32 source and matching result"


def _gather(op: InstructionOp) -> None:
    offsets, result = _vector(op, "offsets"), _vector(op, "result")
    if signedness(offsets.element_type) is None:
        fail(op, "offset vector must use integer element type")
    if offsets.count != result.count:
        fail(op, "offset and result vectors must have the same element count")
    source, gathered = memory_element(type_of(op, "source")), result.element_type
    bits = 0 if source is None else width(source)
    if source is None or bits not in (8, 16, 32) or (bits == 8 and not is_integer(source)):
        fail(op, "requires source element type i8/ui8/i16/ui16/i32/ui32/f16/bf16/f32")
    if is_integer(source):
        if not _holds_same_integers(source, gathered, max(bits, 16)):
            texts = {8: "8-bit gather requires i8/ui8 source and matching i16/ui16 result"}
            fail(op, texts.get(bits, f"{bits}-bit integer gather requires matching i{bits}/ui{bits} result"))
    elif not _wide_floats(source) or source != gathered:
        fail(op, _SIXTEEN if bits == 16 else _THIRTY_TWO)
    wanted = max(bits, 16)
    if result.count.data != 2048 // wanted:
        fail(op, f"expects result type !pto.vreg<{2048 // wanted}x{gathered}>")
    if is_signed(offsets.element_type) or width(offsets.element_type) != wanted:
        fail(op, f"requires ui{wanted}/i{wanted} offset vector elements")
    check_mask_of(op, f"b{wanted}")


def _word_offsets(op: InstructionOp) -> None:
    element = _element(op, "offsets")
    if signedness(element) is None:
        fail(op, "offset vector must use integer element type")
    if width(element) != 32:
        fail(op, "currently requires 32-bit offset vector elements")


def _offset_each(op: InstructionOp) -> None:
    if _vector(op, "offsets").count != _vector(op, "result").count:
        fail(op, "offset and result vectors must have the same element count")


def _scatter(op: InstructionOp) -> None:
    offsets, value = _vector(op, "offsets"), _vector(op, "value")
    bits, count = width(value.element_type), value.count.data
    if signedness(offsets.element_type) is None:
        fail(op, "offset vector must use integer element type")
    if bits not in (8, 16, 32):
        fail(op, "requires 8-, 16-, or 32-bit value elements")
    wanted = max(bits, 16)
    if width(offsets.element_type) != wanted:
        fail(op, f"requires {wanted}-bit offset vector elements for {bits}-bit values")
    number = count // 2 if bits == 8 else count
    if offsets.count.data != number:
        fail(op, f"requires {number} offsets for {count}x{bits}-bit values")
    check_mask_of(op, f"b{wanted}")
    if memory_element(type_of(op, "destination")) != value.element_type:
        fail(op, "requires destination element type to match value element type")


def _matches_memory(op: InstructionOp) -> None:
    source = type_of(op, "source")
    if not isinstance(source, PtrType) and memory_element(source) != _element(op, "result"):
        fail(op, "requires source element type to match vector element type")


_LOADS = (
    "NORM BRC_B8 BRC_B16 BRC_B32 US_B8 US_B16 DS_B8 DS_B16 UNPK_B8 UNPK_B16 UNPK_B32 BRC_BLK E2B_B16 E2B_B32 UNPK4 "
    "SPLT4CHN SPLT2CHN_B8 SPLT2CHN_B16"
)
_STORES = (
    "NORM_B8 NORM_B16 NORM_B32 1PT_B8 1PT_B16 1PT_B32 PK_B16 PK_B32 PK_B64 PK4_B32 MRG4CHN_B8 MRG2CHN_B8 MRG2CHN_B16"
)
_STORED_MASKS = {
    "MRG4CHN_B8": "b32", "MRG2CHN_B8": "b16", "MRG2CHN_B16": "b32", "PK_B16": "b16", "PK_B32": "b32", "PK_B64": "b32",
    "PK4_B32": "b32",
}  # fmt: skip
"""The granularity of the mask of a store by how it distributes elements; of any where it is not here."""


def _stores(op: InstructionOp) -> None:
    granularity = _STORED_MASKS.get(word_of(op, "dist") or "")
    element = _element(op, "value")
    if granularity is not None and not is_low_precision(element):
        check_mask_of(op, granularity)
    if granularity is None:
        _masks("value")(op)


def _moves_on(op: InstructionOp) -> None:
    if (op.operand("increment") is None) is bool(op.result_groups.get("updated_base")):
        fail(op, "requires increment and updated base result to appear together")


def _immediate(op: InstructionOp) -> None:
    if constant_of(op, "offset") is None:
        fail(op, "requires offset to be a constant index immediate")


def _stores_mask_on(op: InstructionOp) -> None:
    base, mask = type_of(op, "base"), cast("MaskType", type_of(op, "value")).granularity.data
    if base != type_of(op, "base_out"):
        fail(op, "requires base and base_out to have identical types")
    _in_vector_memory("base")(op)
    element = memory_element(base)
    if element is None or signedness(element) is None or is_signed(element) or width(element) not in (16, 32):
        fail(op, "requires ui16/ui32 UB base type")
    for bits in (16, 32):
        if mask == f"b{bits}" and width(element) != bits:
            fail(op, f"requires !pto.mask<b{bits}> to pair with !pto.ptr<ui{bits}, ub>")


# ---------------------------------------------------------------------------------------------
# Code for the vector unit
# ---------------------------------------------------------------------------------------------


def _is_in_scope(op: InstructionOp) -> bool:
    return any(parent.name in VECTOR_CODE for parent in ancestors(op))


def _inside(op: InstructionOp) -> None:
    if not _is_in_scope(op):
        fail(
            op,
            "must be nested under pto.vecscope/pto.strict_vecscope; "
            f"{op.name} is part of the vecscope control sequence",
        )


def _outside(op: InstructionOp) -> None:
    if _is_in_scope(op):
        fail(
            op,
            "must not be nested under pto.vecscope/pto.strict_vecscope; "
            f"{op.name} is a UB helper op rather than a vecscope op",
        )


_SIGNED_BYTE = range(-128, 128)


def _special_register(op: InstructionOp) -> None:
    """Check a store of a special register."""
    destination = type_of(op, "destination")
    if place_of(destination) is not Place.VECTOR:
        fail(op, "requires a UB-backed destination")
    element = memory_element(destination)
    if element is None or not _is_word(element) or is_signed(element):
        fail(op, "requires ui32/i32 UB destination element type")


def _immediate_byte(op: InstructionOp) -> None:
    offset = constant_of(op, "offset")
    if offset is None:
        fail(op, "requires constant immediate offset")
    if offset not in _SIGNED_BYTE:
        fail(op, "requires signed 8-bit immediate offset")


def _merges(op: InstructionOp) -> None:
    elements = {str(memory_element(type)) for type in types_of(op, "destination", *_SORTED)}
    if len(elements) > 1:
        fail(op, "requires destination and all sources to have the same element type")
    if not elements <= {"f16", "f32"}:
        fail(op, "requires f16 or f32 element type")


_SORTED = ("source0", "source1", "source2", "source3")


def _scope(op: InstructionOp) -> None:
    """Check the arguments of code for the vector unit: what it captures, or none."""
    if _is_in_scope(op):
        fail(op, "does not allow nested dedicated pto.vecscope/pto.strict_vecscope")
    (body,) = op.regions
    captured = op.operand_groups.get("captures", ())
    if body.first_block is None:
        fail(op, "expects a non-empty body region")
    given = body.first_block.args
    if op.row.name == "vecscope" and given:
        fail(op, f"expects body block to have no arguments, got {len(given)}")
    if len(given) != len(captured):
        fail(
            op,
            f"expects body block to have {len(captured)} arguments to match explicit captures, got {len(given)}",
        )
    for number, (argument, value) in enumerate(zip(given, captured, strict=True)):
        if argument.type != value.type:
            fail(op, f"expects body block argument #{number} to have type {value.type}, got {argument.type}")


# ---------------------------------------------------------------------------------------------
# By instruction
# ---------------------------------------------------------------------------------------------

_SHAPES = same_types("requires matching register vector shapes", "lhs", "rhs", "result")
_UNARY = (_exact("input", "operand"), same_types("requires matching register vector shape", "input", "result"))
_SHARED = "requires lhs, rhs, and result to share one vector type"
_TERNARY = same_types("requires acc, lhs, rhs, and result to share one vector type", "acc", "lhs", "rhs", "result")
_FLOATS = "requires f16 or f32 vector element type"
_PARTS = one_of("part", "LOWER HIGHER", "requires part to be LOWER or HIGHER")
_COMPARISONS = one_of("cmp", "eq ne lt le gt ge", "requires cmp_mode to be one of eq/ne/lt/le/gt/ge")
_PATTERNS = one_of(
    "pattern",
    "PAT_ALL PAT_VL1 PAT_VL2 PAT_VL3 PAT_VL4 PAT_VL8 PAT_VL16 PAT_VL32 PAT_VL64 PAT_VL128 PAT_M3 PAT_M4 PAT_H PAT_Q "
    "PAT_ALLF",
    "requires a supported PAT_* predicate pattern",
)
_AR = one_of("spr", "AR", 'requires spr to be "AR"')
_BITS = "requires source and result vectors to carry the same total number of bits"
_SAME_INPUT = "input and result must have the same vector type"
_HALVES = "requires operands and results to share one vector type"
_IN_UB = "requires UB-backed operands"
_MASK_LOAD = one_of("dist", "NORM US DS", "requires predicate load dist to be NORM, US, or DS")
_MASK_STORE = one_of("dist", "NORM PK", "requires predicate store dist to be NORM or PK")

_IN_MEMORY = ("not", "abs", "relu", "exp", "ln", "sqrt", "rsqrt")

_RULES: dict[str, tuple[Rule, ...]] = {
    # Arithmetic
    "vabs": (same_types("requires matching register vector shape", "input", "result"),),
    **dict.fromkeys(("vexp", "vln", "vsqrt", "vneg", "vnot", "vsqz"), _UNARY),
    "vrelu": (*_UNARY, _elements("input", _signed_word, "requires si32/i32/f16/f32 vector element type")),
    "vcadd": (_sum,),
    **dict.fromkeys(("vcmax", "vcmin"), (same_types(_SAME_INPUT, "input", "result"),)),
    **dict.fromkeys(("vcgadd", "vcgmax", "vcgmin"), (*_UNARY, _group_reduction)),
    "vcpadd": (*_UNARY, _elements("input", _floats, _FLOATS)),
    "vusqz": (same_types("requires src and result to share one vector type", "input", "result"), _prefix_counts),
    **dict.fromkeys(("vadd", "vsub", "vmul"), (_exact("lhs", "lhs"), _SHAPES)),
    "vdiv": (_exact("lhs", "lhs"), _SHAPES, _divides),
    **dict.fromkeys(("vand", "vor", "vxor"), (_no_pairs, _SHAPES)),
    **dict.fromkeys(
        ("vmax", "vmin"), (same_types("lhs, rhs, and result must have the same vector type", "lhs", "rhs", "result"),)
    ),
    **dict.fromkeys(("vshl", "vshr"), (_exact("lhs", "lhs"), _shift)),
    "vprelu": (same_types(_SHARED, "lhs", "rhs", "result"), _elements("lhs", _floats, _FLOATS)),
    "vmula": (_TERNARY,),
    "vmadd": (_TERNARY, _elements("acc", _wide_floats, "requires f16/bf16/f32 vector element type")),
    **dict.fromkeys(
        ("vadds", "vmuls", "vmaxs", "vmins", "vlrelu"),
        (same_types("input and result vector types must match", "input", "result"), _scalar, _exact("input", "input")),
    ),
    **dict.fromkeys(
        ("vshls", "vshrs"),
        (same_types("input and result vector types must match", "input", "result"), _shift_by_number),
    ),
    **dict.fromkeys(
        ("vaddc", "vsubc", "vaddcs", "vsubcs"),
        (
            _integers_of_roles(lhs="lhs", rhs="rhs", result="result"),
            same_types("requires lhs, rhs, and result to have matching vector types", "lhs", "rhs", "result"),
            _elements("lhs", _is_word, "currently requires 32-bit integer vector elements"),
        ),
    ),
    "vmull": (
        same_types(_HALVES, "lhs", "rhs", "low", "high"),
        _elements("lhs", lambda element: signedness(element) is not None, "requires integer vector element type"),
        _elements("lhs", _is_word, "currently requires 32-bit integer vector elements"),
    ),
    "vaxpy": (
        same_types("requires src0, src1, and result to share one vector type", "src0", "src1", "result"),
        _elements("src0", _floats, _FLOATS),
        _mask_for("src0"),
        _is_scaled_by_element,
    ),
    "vexpdif": (
        same_types("requires input and max to share one vector type", "input", "max"),
        _elements("input", _floats, "requires f16 or f32 input vector element type"),
        _mask_for("input"),
        _elements("result", lambda element: str(element) == "f32", "requires f32 result vector element type"),
        _keeps_bits("input", "result", _KEEPS_WIDTH),
        one_of("part", "EVEN ODD", "part must be EVEN or ODD"),
    ),
    **dict.fromkeys(("chistv2", "dhistv2"), (_histogram,)),
    # Comparison, selection, conversion
    "vcmp": (same_types("requires src0 and src1 to have identical vector types", "src0", "src1"), _COMPARISONS),
    "vcmps": (_compares_with_number, _COMPARISONS),
    "vsel": (
        _exact("src0", "src0"),
        same_types("requires src0, src1, and result to have identical vector types", "src0", "src1", "result"),
    ),
    **dict.fromkeys(("vcbmax", "vcbmin"), (_extreme,)),
    **dict.fromkeys(
        ("vaddreluconv", "vmulconv"),
        (
            same_types("requires lhs and rhs to share one vector type", "lhs", "rhs"),
            _plain("lhs"),
            _plain("result"),
            _keeps_bits("lhs", "result", _KEEPS_WIDTH),
        ),
    ),
    "vmulscvt": (
        _elements("input", lambda element: str(element) == "f32", "requires f32 input vector element type"),
        _elements("result", lambda element: str(element) == "f16", "requires f16 result vector element type"),
        _by_word,
        _mask_of("b32"),
        _keeps_bits("input", "result", _KEEPS_WIDTH),
        one_of(
            "rnd",
            "R A F C Z O H ROUND_R ROUND_A ROUND_F ROUND_C ROUND_Z ROUND_O ROUND_H",
            "rnd must be one of R/A/F/C/Z/O",
        ),
        one_of("rnd", "A ROUND_A", "currently only supports rnd A"),
        one_of("part", "EVEN ODD PART_EVEN PART_ODD", "part must be EVEN or ODD"),
    ),
    "vtrc": (
        same_types("requires input and result to have identical vreg type", "input", "result"),
        _elements("input", _wide_floats, "requires f16/f32/bf16 vector element type"),
        _mask_for("input"),
        one_of(
            "round_mode", "R A F C Z ROUND_R ROUND_A ROUND_F ROUND_C ROUND_Z", "round mode must be one of R/A/F/C/Z"
        ),
    ),
    "vcvt": (converts,),
    "vbitcast": (_keeps_bits("input", "result", _BITS),),
    # Moves between elements
    "vbr": (_broadcast,),
    "vdup": (_duplicate,),
    "vci": (_counts,),
    **dict.fromkeys(("vselr", "vselrv2"), (_select_lanes,)),
    **dict.fromkeys(("vsunpack", "vzunpack"), (_unpacks,)),
    "vpack": (_PARTS, _packs),
    **dict.fromkeys(("vintlv", "vdintlv"), (same_types(_HALVES, "lhs", "rhs", "low", "high"),)),
    **dict.fromkeys(
        ("vintlvv2", "vdintlvv2"),
        (same_types("requires operands and result to share one vector type", "lhs", "rhs", "result"), _PARTS),
    ),
    # Masks
    **dict.fromkeys([f"{name}_b{bits}" for name in ("pset", "pge") for bits in (8, 16, 32)], (_PATTERNS,)),
    "ppack": (_PARTS, _regrains(-1, "narrow")),
    "punpack": (_PARTS, _regrains(1, "widen")),
    # Loads
    "vlds": (
        _in_vector_memory("source"),
        one_of(
            "dist",
            _LOADS,
            "supports only NORM, BRC_B8/B16/B32, US_B8/B16, DS_B8/B16, UNPK_B8/B16/B32, BRC_BLK, E2B_B16/B32, UNPK4, "
            "SPLT4CHN, and SPLT2CHN_B8/B16 load distributions",
            always=False,
        ),
        keeps_base("source"),
    ),
    "vldsx2": (
        _in_vector_memory("source"),
        same_types("requires low/high results to share one vector type", "low", "high"),
        one_of(
            "dist", "BDINTLV DINTLV_B8 DINTLV_B16 DINTLV_B32", "requires a supported x2 load distribution token"
        ),
        keeps_base("source"),
    ),
    "vldas": (_in_vector_memory("source"),),
    "vldus": (
        loads_on("align"),
        _in_vector_memory("source"),
        _moves_on,
        keeps_base("source", "requires updated base result to match source type"),
    ),
    "uvld": (_in_vector_memory("source"), _matches_memory),
    "vsldb": (_in_vector_memory("source"), keeps_base("source")),
    "vgather2": (_in_vector_memory("source"), _gather),
    "vgatherb": (_in_vector_memory("source"), _mask_of("b32"), _word_offsets),
    "vgather2_bc": (_in_vector_memory("source"), _word_offsets, _offset_each),
    "plds": (_in_vector_memory("source"), _MASK_LOAD, keeps_base("source")),
    "pldi": (_in_vector_memory("source"), _immediate, _MASK_LOAD, keeps_base("source")),
    # Stores
    "vsts": (
        _in_vector_memory("destination"),
        one_of("dist", _STORES, "requires a supported store distribution token", always=False),
        _stores,
        keeps_base("destination"),
    ),
    "vstsx2": (
        same_types("requires low/high values to share one vector type", "low", "high"),
        _in_vector_memory("destination"),
        one_of("dist", "INTLV_B8 INTLV_B16 INTLV_B32", "requires a supported x2 store distribution token"),
    ),
    "vsstb": (_in_vector_memory("destination"), keeps_base("destination")),
    "vscatter": (_scatter, _in_vector_memory("destination")),
    "vstus": (stores_on("align_in"), _in_vector_memory("base"), keeps_base("base")),
    "vstur": (
        stores_on("align_in"),
        _in_vector_memory("base"),
        one_of("mode", "POST_UPDATE NO_POST_UPDATE", "requires mode to be POST_UPDATE or NO_POST_UPDATE"),
    ),
    "vstar": (stores_on("value"), _in_vector_memory("destination")),
    "vstas": (stores_on("value"), _in_vector_memory("destination"), keeps_base("destination")),
    "pstu": (stores_on("align_in"), _stores_mask_on),
    "psts": (_in_vector_memory("destination"), _MASK_STORE, keeps_base("destination")),
    "psti": (_in_vector_memory("destination"), _immediate, _MASK_STORE, keeps_base("destination")),
    # Special registers, sorting
    "sprclr": (_AR, _inside),
    "sprsti": (_AR, _inside, _special_register, _immediate_byte, keeps_base("destination")),
    "sprsts": (_AR, _inside, _special_register, keeps_base("destination")),
    "vbitsort": (
        _all_in_vector_memory("requires UB-backed destination/source/indices", "destination", "source", "indices"),
        _outside,
    ),
    "vmrgsort4": (
        _all_in_vector_memory("requires UB-backed destination and sources", "destination", *_SORTED),
        _merges,
        _outside,
    ),
    # Code for the vector unit
    **dict.fromkeys(("vecscope", "strict_vecscope"), (_scope,)),
    # Vectors in memory
    **dict.fromkeys(
        [f"ub.v{name}" for name in ["add", "sub", "mul", "div", "max", "min", "and", "or", "addrelu"]],
        (_all_in_vector_memory(_IN_UB, "dst", "src0", "src1"),),
    ),
    **dict.fromkeys(
        [f"ub.v{name}" for name in (*_IN_MEMORY, "shl", "shr", "muls", "adds", "maxs", "mins")],
        (_all_in_vector_memory(_IN_UB, "dst", "src"),),
    ),
    "ub.vdup": (_all_in_vector_memory("requires UB-backed dst operand", "dst"),),
}  # fmt: skip

_MASK_RULES: dict[str, Rule] = {
    **dict.fromkeys(
        ("vabs", "vexp", "vln", "vsqrt", "vrelu", "vnot", "vcadd", "vcmax", "vcmin"), _masks("input")
    ),
    **dict.fromkeys(
        ("vadd", "vsub", "vmul", "vdiv", "vmax", "vmin", "vand", "vor", "vxor", "vshl", "vshr", "vmull", "vmula"),
        _masks("lhs"),
    ),
    **dict.fromkeys(("vaddc", "vsubc"), all_of(_masks("lhs"), _same_masks(mask="mask", carry="carry"))),
    **dict.fromkeys(
        ("vaddcs", "vsubcs"),
        all_of(
            _masks("lhs"), _same_masks(mask="mask", carry="carry"), _same_masks(carry_in="carry_in", mask="mask"),
        ),
    ),
    "vcmp": _masks("src0", "input", mask="seed mask", result="result mask"),
    "vcmps": _masks("src", "input", mask="seed mask", result="result mask"),
    "pnot": _same_masks(input="input mask", mask="mask", result="result mask"),
    "psel": _same_masks(src0="src0 mask", src1="src1 mask", mask="mask", result="result mask"),
    "vsel": _masks("src0"),
    **dict.fromkeys(("vgather2_bc", "vsldb"), _masks("result")),
    "vsstb": _masks("value"),
    "vstsx2": _masks("low"),
}  # fmt: skip
"""What holds of masks besides, of what PTOAS checks after its verifiers (`pto-validate-vpto-ir`)."""

_COMPLETE = {
    name: (*_RULES.get(name, ()), *([_MASK_RULES[name]] if name in _MASK_RULES else []))
    for name in (*_RULES, *_MASK_RULES)
}

REGISTER_RULES: Mapping[str, Rule] = {name: all_of(*rules) for name, rules in _COMPLETE.items()}
"""The rules by the name of the row."""
