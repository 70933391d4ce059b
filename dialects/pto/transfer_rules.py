"""Rules of transfers between memories and of products as the hardware has them, in upstream's words."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import AnyFloat, Float32Type
from xdsl.ir import Attribute, OpResult

from ...targets.chip import BLOCK_BYTES, MAX_BYTE_FIELD, MAX_CACHE_POLICY, MAX_FIELD, MAX_FILLED, SCALE_ADDRESS_BYTES
from .accumulator_rules import leaves_accumulator
from .attributes import AddressSpace
from .instruction_operation import InstructionOp
from .kernels import fail
from .memory import constant_value
from .rules import (
    Place,
    Rule,
    all_of,
    constant_of,
    is_float8,
    is_low_precision,
    is_unsigned,
    memory_element,
    not_negative,
    number_of,
    place_of,
    signedness,
    space_of,
    type_of,
    width,
    word_of,
)
from .types import F4E1M2x2Type, F4E2M1x2Type, HiF8Type, PtrType, TileBufType, element_bytes

# ---------------------------------------------------------------------------------------------
# Both ends of a transfer
# ---------------------------------------------------------------------------------------------


def _same_bytes(unknown: str, different: str = "requires source and destination element byte widths to match") -> Rule:
    """Return the rule that both ends have elements of as many bytes."""

    def rule(op: InstructionOp) -> None:
        elements = [memory_element(type_of(op, name)) for name in ("source", "destination")]
        sizes = [0 if element is None else element_bytes(element) or 0 for element in elements]
        if not all(sizes):
            fail(op, unknown)
        if sizes[0] != sizes[1]:
            fail(op, different)

    return rule


_KNOWN_BYTES = "requires source and destination element types with known byte width"
_KNOWN_COPIES = "requires copy source and destination element types with known byte width"


def _ends(source: Place, destination: Place, text: str, *, bytes: bool = True) -> Rule:
    """Return the rule of the memories that a transfer is between, and that elements have as many bytes."""
    same = _same_bytes(_KNOWN_COPIES)

    def rule(op: InstructionOp) -> None:
        if (place_of(type_of(op, "source")), place_of(type_of(op, "destination"))) != (source, destination):
            fail(op, text)
        if bytes:
            same(op)

    return rule


def _out_of_global(op: InstructionOp) -> None:
    """Check that a transfer does not begin in a vector core's memory, or end in global memory."""
    if place_of(type_of(op, "source")) is Place.VECTOR or place_of(type_of(op, "destination")) is Place.GLOBAL:
        fail(op, "requires GM source and UB destination")
    _same_bytes(_KNOWN_COPIES)(op)


def _into_global(op: InstructionOp) -> None:
    if place_of(type_of(op, "source")) is Place.GLOBAL or place_of(type_of(op, "destination")) is Place.VECTOR:
        fail(op, "requires UB source and GM destination")
    _same_bytes(_KNOWN_COPIES)(op)


def is_padding(type: Attribute) -> bool:
    """Return True for a number that copies may fill up with."""
    return str(type) in ("i8", "i16", "i32", "f16", "bf16", "f32")


def _pads(op: InstructionOp) -> None:
    value = op.operand("pad_value")
    if value is not None and not is_padding(value.type):
        fail(op, f"expects pad value to be i8/i16/i32 or f16/bf16/f32 scalar, but got {value.type}")


def _padding(op: InstructionOp) -> None:
    if not is_padding(type_of(op, "value")):
        fail(op, f"expects i8/i16/i32 or f16/bf16/f32 scalar operand, but got {type_of(op, 'value')}")


def _cache_policy(op: InstructionOp) -> None:
    policy = constant_of(op, "l2_cache_ctl")
    if policy is not None and not 0 <= policy <= MAX_CACHE_POLICY:
        fail(op, f"requires constant l2_cache_ctl to fit in range [0, {MAX_CACHE_POLICY}]")


_WORD = 32


def _biases(op: InstructionOp) -> None:
    source, destination = type_of(op, "source"), type_of(op, "destination")
    if space_of(source) is not AddressSpace.MAT:
        fail(op, "requires MAT source")
    if space_of(destination) is not AddressSpace.BIAS:
        fail(op, "requires BIAS destination")
    elements = [each for each in map(memory_element, (source, destination)) if each is not None]
    words = all(signedness(element) is not None and width(element) == _WORD for element in elements)
    if not words and tuple(map(str, elements)) not in (("f32", "f32"), ("f16", "f32"), ("bf16", "f32")):
        fail(op, "expects one of f32->f32, i32->i32, f16->f32, or bf16->f32")


def _scales(op: InstructionOp) -> None:
    source, destination = space_of(type_of(op, "source")), space_of(type_of(op, "destination"))
    if source is None or destination is None:
        fail(op, "requires source and destination with PTO address spaces")
    if source is not AddressSpace.MAT:
        fail(op, "requires source in mat address space")
    if destination is not AddressSpace.SCALING:
        fail(op, "requires destination in scaling address space")


_SMALL_CHANNELS = 4


def _groups(op: InstructionOp) -> None:
    """Check the groups of a load that makes boxes."""
    if constant_of(op, "group_count") == 0:
        fail(op, "group_count must be greater than zero")
    channels = constant_of(op, "d_value")
    if constant_of(op, "smallc0_en") and channels is not None and channels > _SMALL_CHANNELS:
        fail(op, f"smallc0_en requires d_value <= {_SMALL_CHANNELS}")


# ---------------------------------------------------------------------------------------------
# Into the operands of products
# ---------------------------------------------------------------------------------------------

_CONTROLS = {
    **dict.fromkeys(("m_start", "k_start"), (0, MAX_FIELD)),
    **dict.fromkeys(("m_step", "k_step"), (1, MAX_BYTE_FIELD)),
    **dict.fromkeys(("src_stride", "dst_stride"), (1, MAX_FIELD)),
}
"""The least and the largest number that a field of the hardware holds, by operand."""


def _check_field(op: InstructionOp, name: str, value: int | None, least: int, most: int) -> None:
    """Raise VerifyException unless a number, if it is known, fits the field of the hardware that holds it."""
    if value is not None and value < least:
        fail(op, f"{name} must be {'greater than zero' if least else 'non-negative'}")
    if value is not None and value > most:
        fail(op, f"{name} must be <= {most} to fit the hardware control field")


def _fields(fields: Mapping[str, tuple[int, int]]) -> Rule:
    """Return the rule that operands that are constants fit fields of the hardware."""

    def rule(op: InstructionOp) -> None:
        for name, (least, most) in fields.items():
            _check_field(op, name, constant_of(op, name), least, most)

    return rule


_FP4 = (F4E1M2x2Type, F4E2M1x2Type)


def _into(space: AddressSpace) -> Rule:
    """Return the rule of a copy from the cube core's first memory to that of an operand."""
    same = _same_bytes(_KNOWN_BYTES)

    def rule(op: InstructionOp) -> None:
        if space_of(type_of(op, "source")) is not AddressSpace.MAT:
            fail(op, "requires MAT source")
        if space_of(type_of(op, "destination")) is not space:
            fail(op, f"requires {space.value.upper()} destination")
        same(op)

    return rule


def _packed(op: InstructionOp) -> None:
    """Check that elements have 4 bits."""
    elements = [memory_element(type_of(op, name)) for name in ("source", "destination")]
    for element, what in zip(elements, ("source", "destination"), strict=True):
        if not isinstance(element, _FP4):
            fail(op, f"requires packed FP4 {what} element type f4e1m2x2 or f4e2m1x2")
    if elements[0] != elements[1]:
        fail(op, "requires source and destination packed FP4 element types to match")


def _not_packed(op: InstructionOp) -> None:
    for what in ("source", "destination"):
        if isinstance(memory_element(type_of(op, what)), _FP4):
            fail(op, f"packed FP4 {what} requires the S4 load operation")


_FULL = ("m_start", "k_start", "m_step", "k_step", "src_stride", "dst_stride")
_FULL_SCALES = ("x_start", "y_start", "x_step", "y_step", "src_stride", "dst_stride")


def _either_form(sizes: tuple[str, str], full: tuple[str, ...]) -> Rule:
    """Return the rule that a load has the sizes and the start of its part, or else all fields of the hardware.

    Without names, four numbers are the former and six the latter.
    """
    shape, is_mx = (*sizes, "start_row", "start_col"), full is _FULL_SCALES
    kind, controls = (" MX", "MX operands") if is_mx else ("", "control operands")
    limits = dict.fromkeys((*shape[2:], *full), (0, 1 << 63)) | ({} if is_mx else _CONTROLS)

    def rule(op: InstructionOp) -> None:
        groups = op.operand_groups
        positional = groups.get("positional", ())
        given = {name: groups[name][0] for name in (*shape, *full) if groups.get(name)}
        if positional:
            if len(positional) not in (len(shape), len(full)):
                what = "MX operands" if is_mx else "operands"
                fail(op, f"expects either four shape-derived or six full positional {what}")
            given = dict(zip(shape if len(positional) == len(shape) else full, positional, strict=True))
        has_shape, has_full = (any(name in given for name in names) for names in (shape, full))
        if has_shape and has_full:
            fail(op, f"cannot mix shape-derived{kind} operands with full {controls}")
        if not has_shape and not has_full:
            fail(op, f"requires either all shape-derived{kind} operands or all full {controls}")
        for name in shape if has_shape else full:
            if name not in given:
                form = f"shape-derived{kind} form" if has_shape else "full MX form" if is_mx else "full control form"
                fail(op, f"{form} requires {name}")
        for name, value in given.items():
            if name in limits:
                _check_field(op, name, constant_value(value), *limits[name])

    return rule


def _aligned(op: InstructionOp) -> None:
    """Check the addresses of scales, where they are numbers."""
    for name, alignment in (("source", BLOCK_BYTES), ("destination", SCALE_ADDRESS_BYTES)):
        value = op.operand(name)
        maker = value.op if isinstance(value, OpResult) else None
        if maker is None or maker.name != "pto.castptr":
            continue
        address = constant_value(maker.operands[0])
        if address is not None and address % alignment:
            fail(
                op,
                f"statically known LOAD.MX {name} address must be aligned to {alignment} bytes, got {address}",
            )


# ---------------------------------------------------------------------------------------------
# Fills
# ---------------------------------------------------------------------------------------------

_WORDS = (16, 32)
_SPACES = {
    AddressSpace.GM: "gm", AddressSpace.MAT: "mat/l1", AddressSpace.LEFT: "left/l0a", AddressSpace.RIGHT: "right/l0b",
    AddressSpace.ACC: "acc/l0c", AddressSpace.VEC: "vec/ub", AddressSpace.BIAS: "bt/bias",
    AddressSpace.SCALING: "fb/scaling", AddressSpace.ZERO: "zero",
}  # fmt: skip


def _filled(op: InstructionOp) -> None:
    type = type_of(op, "dst")
    space = space_of(type)
    if isinstance(type, TileBufType):
        return
    if space is None:
        fail(op, "requires dst with an explicit PTO address space for L1 raw fill")
    if space is not AddressSpace.MAT:
        fail(op, f"requires dst in the mat/l1 address space, got {_SPACES[space]}")


def _filled_view(op: InstructionOp) -> None:
    type = type_of(op, "dst")
    if not isinstance(type, PtrType):
        fail(op, "requires a typed !pto.ptr destination")
    if type.space.data is not AddressSpace.MAT:
        fail(op, f"requires a mat/l1 destination, got {_SPACES[type.space.data]}")
    element = type.element_type
    if not is_unsigned(element) or width(element) not in _WORDS:
        fail(op, f"requires a ui16 or ui32 destination view, got element type '{element}'")


def _word_bits(op: InstructionOp) -> None:
    bits = number_of(op, "fill_word_bits")
    if bits not in _WORDS:
        fail(op, f"fill_word_bits must be 16 or 32, got {bits}")


def _word_of_view(op: InstructionOp) -> None:
    element, bits = memory_element(type_of(op, "dst")), number_of(op, "fill_word_bits")
    if element is not None and bits != width(element):
        fail(op, f"fill_word_bits {bits} does not match the {width(element)}-bit destination view")


_FILL_FIELDS = ("repeat_times", "block_num_32b", "dst_gap_32b")


def _fill_geometry(op: InstructionOp) -> None:
    """Check the numbers of a fill: fields of 15 bits, and an offset of whole blocks."""
    not_negative("byte_offset", *_FILL_FIELDS)(op)
    offset = constant_of(op, "byte_offset")
    if offset is not None and offset % BLOCK_BYTES:
        fail(op, f"byte_offset must be a multiple of {BLOCK_BYTES} bytes")
    for name in _FILL_FIELDS:
        value = constant_of(op, name)
        if value is not None and value > MAX_FILLED:
            fail(op, f"{name} must be <= {MAX_FILLED}")


# ---------------------------------------------------------------------------------------------
# Products
# ---------------------------------------------------------------------------------------------


def _product_ends(op: InstructionOp) -> None:
    types = [type_of(op, name) for name in ("lhs", "rhs", "dst")]
    if not all(isinstance(type, PtrType) for type in types):
        fail(op, "requires typed !pto.ptr lhs/rhs/dst operands")
    if [space_of(type) for type in types] != [AddressSpace.LEFT, AddressSpace.RIGHT, AddressSpace.ACC]:
        fail(op, "requires l0a/l0b/l0c-typed lhs/rhs/dst pointers")
    bias = op.operand("bias")
    if bias is None:
        return
    if not isinstance(bias.type, PtrType):
        fail(op, "requires typed !pto.ptr bias operand")
    if space_of(bias.type) is not AddressSpace.BIAS:
        fail(op, "requires bias pointer in !pto.ptr<..., bt>")
    if memory_element(bias.type) != memory_element(types[2]):
        fail(op, "requires bias element type to match dst element type")


def _block_scaled(op: InstructionOp) -> None:
    for name in ("lhs", "rhs"):
        element = memory_element(type_of(op, name))
        if element is None or not (is_float8(element) or isinstance(element, _FP4)):
            fail(op, "requires MX lhs/rhs element types (f8E4M3FN, f8E5M2, f4E1M2x2, or f4E2M1x2)")


def _product_modes(op: InstructionOp) -> None:
    elements = [memory_element(type_of(op, name)) for name in ("lhs", "rhs", "dst")]
    if op.attribute("tf32_mode") is not None and not all(isinstance(each, Float32Type) for each in elements):
        fail(op, "requires tf32_mode only for f32 lhs/rhs/dst element types")
    if isinstance(elements[0], HiF8Type) is not isinstance(elements[1], HiF8Type):
        fail(op, "requires lhs/rhs to both use hif8 or both use non-hif8 element types")
    floats = all(isinstance(each, AnyFloat) or (each is not None and is_low_precision(each)) for each in elements)
    if word_of(op, "sat_mode") is not None and not floats:
        fail(op, "requires sat/nosat only for floating lhs/rhs/dst element types")


# ---------------------------------------------------------------------------------------------
# By instruction
# ---------------------------------------------------------------------------------------------

_UB = "requires UB-backed source and destination"
_TO_L1 = "requires UB-backed source and CBUF-backed destination"
_L1_TO_UB = "requires CBUF source and UB destination"
_STEPS = _fields(_CONTROLS)
_TRANSPOSE = _fields({"transpose": (0, 1)})
_STARTS = not_negative("x_start_position", "y_start_position")

_RULES: dict[str, tuple[Rule, ...]] = {
    "copy_gm_to_ubuf": (_out_of_global,),
    "mte_gm_ub": (_out_of_global, _pads),
    "mte_gm_l1": (_out_of_global,),
    "mte_gm_l1_frac": (
        _out_of_global,
        not_negative(
            "group_count", "src_inner_stride", "dst_loop2_stride", "dst_loop3_stride", "dst_loop4_stride",
            "src_outer_stride",
        ),
        _groups,
    ),
    "copy_ubuf_to_gm": (_into_global,),
    "mte_ub_gm": (_ends(Place.VECTOR, Place.GLOBAL, "requires UB source and GM destination"), _cache_policy),
    **dict.fromkeys(("copy_ubuf_to_ubuf", "mte_ub_ub"), (_ends(Place.VECTOR, Place.VECTOR, _UB, bytes=False),)),
    **dict.fromkeys(("copy_ubuf_to_cbuf", "mte_ub_l1"), (_ends(Place.VECTOR, Place.CUBE, _TO_L1, bytes=False),)),
    **dict.fromkeys(("copy_cbuf_to_ubuf", "mte_l1_ub"), (_ends(Place.CUBE, Place.VECTOR, _L1_TO_UB),)),
    "mte_l1_bt": (_biases,),
    "mte_l1_fb": (_scales,),
    "mte_l1_l0a": (_into(AddressSpace.LEFT), _either_form(("m", "k"), _FULL)),
    "mte_l1_l0b": (_into(AddressSpace.RIGHT), _either_form(("k", "n"), _FULL)),
    "mte_l1_l0a_mx": (_into(AddressSpace.LEFT), _either_form(("m", "k"), _FULL_SCALES), _aligned),
    "mte_l1_l0b_mx": (_into(AddressSpace.RIGHT), _either_form(("k", "n"), _FULL_SCALES), _aligned),
    "load_cbuf_to_ca": (_into(AddressSpace.LEFT), _not_packed, _STEPS),
    "load_cbuf_to_cb": (_into(AddressSpace.RIGHT), _not_packed, _STEPS),
    "load_cbuf_to_ca_s4": (_into(AddressSpace.LEFT), _packed, _STEPS, _TRANSPOSE),
    "load_cbuf_to_cb_s4": (_into(AddressSpace.RIGHT), _packed, _STEPS, _TRANSPOSE),
    "load_cbuf_to_ca_mx": (_into(AddressSpace.LEFT), _STARTS),
    "load_cbuf_to_cb_mx": (_into(AddressSpace.RIGHT), _STARTS),
    **dict.fromkeys(("mte_l0c_l1", "mte_l0c_gm", "mte_l0c_ub"), (leaves_accumulator,)),
    "raw_fill_l1": (_filled, _word_bits, _fill_geometry),
    "create_cbuf_matrix": (_filled_view, _word_bits, _word_of_view, _fill_geometry),
    "set_mov_pad_val": (_padding,),
    **dict.fromkeys(("mad", "mad_acc", "mad_bias"), (_product_ends, _product_modes)),
    **dict.fromkeys(("mad_mx", "mad_mx_acc", "mad_mx_bias"), (_product_ends, _block_scaled, _product_modes)),
    **dict.fromkeys(("mad_raw", "mad_bias_raw"), (_product_ends,)),
    **dict.fromkeys(("mad_mx_raw", "mad_mx_bias_raw"), (_product_ends, _block_scaled)),
}  # fmt: skip

TRANSFER_RULES: Mapping[str, Rule] = {name: all_of(*rules) for name, rules in _RULES.items()}
"""The rules by the name of the row."""
