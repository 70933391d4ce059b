"""Rules of instructions on vectors of any length (`pto.vmi`) that kinds of operands do not state, in upstream's words.

A rule is a function of an operation; each instruction has a list of them, in the order in which upstream reports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ShapedType,
    Signedness,
    StringAttr,
)
from xdsl.ir import Attribute, Operation

from .attributes import AddressSpace, AddressSpaceAttr
from .instruction_operation import InstructionOp
from .kernels import fail
from .registers import VmiMaskType, VmiVRegType, element_bits
from .types import BF16x2Type, F4E1M2x2Type, F4E2M1x2Type, PackedType, PtrType

Rule: TypeAlias = Callable[[InstructionOp], None]


def _types(op: InstructionOp, *names: str) -> list[Attribute]:
    """Return the types of operands and results by the names of the row; of those that are there."""
    groups = {**op.operand_groups, **op.result_groups}
    return [value.type for name in names for value in groups.get(name, ())]


def _vectors(op: InstructionOp, *names: str) -> list[VmiVRegType]:
    return [type for type in _types(op, *names) if isinstance(type, VmiVRegType)]


def _vector(op: InstructionOp, name: str) -> VmiVRegType:
    (found,) = _vectors(op, name)
    return found


def width(element: Attribute) -> int:
    """Return the bits of an element; 0 if they are not known."""
    return element_bits(element) or 0


def _is_float(element: Attribute) -> bool:
    return isinstance(element, AnyFloat | PackedType)


def _is_integer(element: Attribute) -> bool:
    return isinstance(element, IntegerType | IndexType)


def _signedness(element: object) -> Signedness | None:
    """Return the sign of integers; None for other elements."""
    return cast("IntegerType", element).signedness.data if isinstance(element, IntegerType) else None


def _is_signed(element: Attribute) -> bool:
    return _signedness(element) is Signedness.SIGNED


def _is(element: Attribute, name: str) -> bool:
    """Return True for an element of a name: `i8` has any sign or none, `si8` a sign."""
    if _signedness(element) is not None:
        signed = name.startswith("s")
        return name.lstrip("s") == f"i{width(element)}" and (not signed or _is_signed(element))
    return str(element) == name


# ---------------------------------------------------------------------------------------------
# Rules of several instructions
# ---------------------------------------------------------------------------------------------


def _elements(name: str, *allowed: str, what: str = "VMI element type") -> Rule:
    """Return the rule that a vector has elements of one of some types."""
    *first, last = allowed
    listed = last if not first else f"{first[0]} or {last}" if len(first) == 1 else f"{', '.join(first)}, or {last}"

    def rule(op: InstructionOp) -> None:
        element = _vector(op, name).element_type
        if isinstance(element, BF16x2Type):
            fail(op, "does not support bf16x2 VMI element type; bf16x2 is conversion-only")
        if not any(_is(element, each) for each in allowed):
            fail(op, f"requires {listed} {what}")

    return rule


def _of(name: str, *, floats: bool = False, integers: bool = False) -> Rule:
    """Return the rule that a vector has floats, integers, or either."""
    words = [word for word, holds in (("floating-point-like", floats), ("integer-like", integers)) if holds]

    def rule(op: InstructionOp) -> None:
        (type,) = _types(op, name)
        if isinstance(type, VmiMaskType):
            return
        element = cast("VmiVRegType", type).element_type
        if isinstance(element, BF16x2Type):
            fail(op, "does not support bf16x2 VMI element type; bf16x2 is conversion-only")
        if not ((floats and _is_float(element)) or (integers and _is_integer(element))):
            fail(op, f"requires {' or '.join(words)} VMI element type, not {element}")

    return rule


def _alike(*names: str, elements: bool = True, layout: bool = True) -> Rule:
    """Return the rule that vectors, or masks, have the same length, elements and layout."""

    def rule(op: InstructionOp) -> None:
        masks = [type for type in _types(op, *names) if isinstance(type, VmiMaskType)]
        for mask in masks:
            if mask.count != masks[0].count:
                fail(op, "requires all VMI mask values to have the same logical lane count")
            if mask.granularity != masks[0].granularity:
                fail(op, "requires all VMI mask values to have the same granularity")
        vectors = _vectors(op, *names)
        if masks and vectors:
            fail(op, "requires vectors or masks alone, not both")
        for vector in vectors:
            if vector.count != vectors[0].count:
                fail(op, "requires all VMI data values to have the same logical lane count")
            if elements and vector.element_type != vectors[0].element_type:
                fail(op, "requires all VMI data values to have the same element type")
            if bool(vector.layout.data) is not bool(vectors[0].layout.data):
                fail(op, "requires either all or no VMI data values to carry layout")
            if layout and vector.layout != vectors[0].layout:
                fail(op, "requires all layout-assigned VMI data values to have the same layout")

    return rule


def _identical(text: str, *names: str) -> Rule:
    def rule(op: InstructionOp) -> None:
        if len(set(_vectors(op, *names))) > 1:
            fail(op, f"requires {text} to have identical VMI vreg types")

    return rule


def _masked(mask: str, data: str) -> Rule:
    """Return the rule that masks belong to a vector."""

    def rule(op: InstructionOp) -> None:
        found = _types(op, data)
        if not found or not isinstance(found[0], VmiVRegType):
            return
        vector = found[0]
        masks = [type for type in _types(op, mask) if isinstance(type, VmiMaskType)]
        if len(masks) > 1:
            fail(op, "expects at most one mask operand")
        for each in masks:
            check_mask(op, each, vector)

    return rule


def check_mask(op: Operation, mask: VmiMaskType, vector: VmiVRegType) -> None:
    """Raise VerifyException unless a mask has a bit for each element of a vector."""
    if mask.count != vector.count:
        fail(op, "requires mask logical lane count to match data lane count")
    if bool(mask.layout.data) is not bool(vector.layout.data):
        fail(op, "requires either both mask and data to carry layout or neither to carry layout")
    if mask.layout != vector.layout:
        fail(op, "requires mask layout to match data layout")
    bits, own = width(vector.element_type), mask.granularity.data.removeprefix("b")
    if bits and own.isdigit() and int(own) != bits:
        fail(op, "requires mask granularity to match data element width")


def _modes(*allowed: str) -> Rule:
    """Return the rule that the attribute `pmode` is one of some words."""

    def rule(op: InstructionOp) -> None:
        mode = op.attribute("pmode")
        if isinstance(mode, StringAttr) and mode.data not in allowed:
            words = " or ".join(f'"{word}"' for word in allowed)
            fail(op, f'pmode must be {words}, got "{mode.data}"')

    return rule


def memory_element(type: Attribute) -> Attribute | None:
    """Return the elements of memory that a pointer or memref is to."""
    if isinstance(type, MemRefType):
        return cast("MemRefType[Attribute]", type).element_type
    return type.element_type if isinstance(type, PtrType) else None


def _of_memory(memory: str, data: str) -> Rule:
    """Return the rule that memory has the elements of a vector."""

    def rule(op: InstructionOp) -> None:
        (type,) = _types(op, memory)
        if memory_element(type) != _vectors(op, data)[0].element_type:
            fail(op, f"requires memory {memory} element type to match VMI data element type")

    return rule


def is_in_vector_memory(type: Attribute) -> bool:
    """Return True for a pointer or memref into the memory of a vector core."""
    if isinstance(type, PtrType):
        return type.space.data is AddressSpace.VEC
    if isinstance(type, MemRefType):
        space = cast("MemRefType[Attribute]", type).memory_space
        return isinstance(space, AddressSpaceAttr) and space.data is AddressSpace.VEC
    return False


def _in_vector_memory(memory: str) -> Rule:
    def rule(op: InstructionOp) -> None:
        (type,) = _types(op, memory)
        if not is_in_vector_memory(type):
            fail(op, f"requires memory {memory} to be UB-backed")

    return rule


def _same_count(op: InstructionOp) -> None:
    if _vector(op, "source").count != _vector(op, "result").count:
        fail(op, "requires source and result logical lane counts to match")


def _same_bits(op: InstructionOp) -> None:
    source, result = _vector(op, "source"), _vector(op, "result")
    bits = [vector.count.data * width(vector.element_type) for vector in (source, result)]
    if bits[0] != bits[1]:
        fail(op, "requires source and result to carry the same total number of bits")


def _number(op: InstructionOp, name: str) -> int | None:
    found = op.attribute(name)
    return cast("IntegerAttr[IntegerType]", found).value.data if isinstance(found, IntegerAttr) else None


def check_groups(op: Operation, vector: VmiVRegType, groups: int) -> None:
    """Raise VerifyException unless a vector can be divided into so many groups."""
    if groups <= 0:
        fail(op, "requires num_groups to be positive")
    if vector.count.data % groups:
        fail(op, f"requires num_groups to evenly divide VMI logical lane count {vector.count.data}")


def _groups(name: str) -> Rule:
    def rule(op: InstructionOp) -> None:
        groups = _number(op, "num_groups")
        if groups is not None:
            check_groups(op, _vector(op, name), groups)

    return rule


def _scalar_of_element(scalar: str, text: str) -> Rule:
    """Return the rule that a number has the type of the elements."""

    def rule(op: InstructionOp) -> None:
        (type,), element = _types(op, scalar), _vectors(op, "src", "x")[0].element_type
        if type != element and not (_is_integer(type) and _is_integer(element) and width(type) == width(element)):
            fail(op, f"requires {text}, not {type}")

    return rule


def _reassociates(text: str) -> Rule:
    def rule(op: InstructionOp) -> None:
        if _is_float(_vector(op, "source").element_type) and op.attribute("reassoc") is None:
            fail(op, text)

    return rule


def _reduces(op: InstructionOp) -> None:
    source, result, groups = _vector(op, "source"), _vector(op, "result"), _number(op, "group")
    if groups is not None:
        if groups <= 0 or source.count.data % groups:
            fail(op, f"group count {groups} must divide source lane count {source.count.data}")
        if result.count.data != groups:
            fail(op, f"result lane count must equal group count {groups}, got {result.count.data}")
    elif result.count.data != 1:
        fail(op, f"full reduction (no group) requires 1-lane result, got {result.count.data}")
    if source.element_type != result.element_type:
        fail(op, "source and result element types must match")


def _reduces_to_one(op: InstructionOp) -> None:
    if _vector(op, "source").element_type != _vector(op, "result").element_type:
        fail(op, "requires source and result element types to match")
    if _vector(op, "result").count.data != 1:
        fail(op, "requires result to be a 1-lane VMI vector")


def _reduces_groups(op: InstructionOp) -> None:
    if _vector(op, "result").count.data != _number(op, "num_groups"):
        fail(op, "requires result logical lane count to match num_groups")
    if _vector(op, "source").element_type != _vector(op, "result").element_type:
        fail(op, "requires source and result element types to match")


# ---------------------------------------------------------------------------------------------
# Rules of single instructions
# ---------------------------------------------------------------------------------------------


def _constant(of_mask: bool) -> Rule:
    kind = "mask " if of_mask else ""

    def rule(op: InstructionOp) -> None:
        value: object = op.attribute("value")
        if not isinstance(value, DenseIntOrFPElementsAttr):
            fail(op, f"requires dense elements {kind}constant attribute")
        held = cast("ShapedType", cast("Any", value).type)
        element = cast("Attribute", cast("Any", held).element_type)
        (type,) = _types(op, "result")
        if of_mask and str(element) != "i1":
            fail(op, "requires dense mask constant element type to be i1")
        if isinstance(type, VmiVRegType) and element != type.element_type:
            fail(op, "requires dense constant element type to match result element type")
        if held.get_shape() != (cast("VmiVRegType | VmiMaskType", type).count.data,):
            fail(op, f"requires dense {kind}constant element count to match result logical lane count")

    return rule


def _broadcast(op: InstructionOp) -> None:
    (value,), result = _types(op, "value"), _vector(op, "result")
    if isinstance(value, VmiVRegType):
        groups = _number(op, "num_groups") or _number(op, "group")
        if groups is None and value.count.data != 1:
            fail(op, "requires VMI vector input to have one logical lane")
        if groups is not None and value.count.data != groups:
            fail(op, f"requires source logical lane count {value.count.data} to match num_groups {groups}")
        if value.element_type != result.element_type:
            fail(op, "requires VMI vector input element type to match result element type")
    elif value != result.element_type:
        fail(op, "requires scalar or VMI vector input element type to match result element type")


def _counts(op: InstructionOp) -> None:
    order = op.attribute("order")
    if not any(_is(_vector(op, "result").element_type, name) for name in ("i8", "i16", "i32", "f16", "f32")):
        fail(op, "requires result element type to be integer 8/16/32 or f16/f32")
    if isinstance(order, StringAttr) and order.data not in ("ASC", "DESC"):
        fail(op, "requires order to be ASC or DESC")


def _group_mask(op: InstructionOp) -> None:
    groups, size = _number(op, "num_groups"), _number(op, "group_size")
    (mask,) = _types(op, "result")
    if groups is None or size is None:
        return
    for name, number in (("num_groups", groups), ("group_size", size)):
        if number <= 0:
            fail(op, f"requires positive {name}")
    if cast("VmiMaskType", mask).count.data != groups * size:
        fail(op, "requires result lane count to equal num_groups * group_size")


def _offsets(name: str) -> Rule:
    def rule(op: InstructionOp) -> None:
        element = _vector(op, name).element_type
        if not any(_is(element, each) for each in ("i16", "i32")) or _is_signed(element):
            fail(op, "requires signless or unsigned 16-bit or 32-bit integer offsets")

    return rule


def _histogram(op: InstructionOp) -> None:
    totals, source, result = (_vector(op, name) for name in ("acc", "source", "result"))

    def unsigned(vector: VmiVRegType, bits: int) -> bool:
        return _is(vector.element_type, f"i{bits}") and not _is_signed(vector.element_type)

    if not unsigned(totals, 16) or totals.count.data not in (128, 256):
        fail(
            op,
            "requires acc type to be !pto.vmi.vreg<128x{ui16|i16}> (Bin_N0-only) or !pto.vmi.vreg<256x{ui16|i16}>",
        )
    if result.count != totals.count:
        fail(op, "requires result element count to match acc (bins must be identical)")
    if not unsigned(result, 16):
        fail(op, "requires result element type to be ui16 or i16 (interpreted as unsigned)")
    if not unsigned(source, 8):
        fail(op, "requires source type to be !pto.vmi.vreg<Nx{ui8|i8}> (interpreted as unsigned)")


def _split(op: InstructionOp) -> None:
    source, parts = _vector(op, "source"), _vectors(op, "results")
    if len(parts) < 2:
        fail(op, "requires at least two channel results")
    if any(source.count.data != len(parts) * part.count.data for part in parts):
        fail(op, "requires source lane count to equal result count times per-channel lane count")


def _merge(op: InstructionOp) -> None:
    result, parts = _vector(op, "result"), _vectors(op, "inputs")
    if any((part.count, part.element_type) != (parts[0].count, parts[0].element_type) for part in parts):
        fail(op, "requires all channel inputs to have the same lane count and element type")
    merged = sum(part.count.data for part in parts)
    if parts and (result.count.data, result.element_type) != (merged, parts[0].element_type):
        fail(op, "requires result lane count and element type to match merged channels")


def _vmull(op: InstructionOp) -> None:
    factors = _vectors(op, "a", "b", "low", "high")
    if any(not _is(each.element_type, "i32") or _is_signed(each.element_type) for each in factors):
        fail(op, "requires a, b, low, and high element types to be exactly i32 or ui32")
    _identical("a, b, low, and high", "a", "b", "low", "high")(op)
    if factors[0].count.data not in (64, 128, 256):
        fail(op, "requires logical lane count to be 64, 128, or 256")
    _masked("mask", "a")(op)
    mode = op.attribute("pmode")
    if isinstance(mode, StringAttr) and mode.data != "zero":
        fail(op, "pmode must be 'zero' when specified")


def _vexpdif(op: InstructionOp) -> None:
    first, most, result = (_vector(op, name) for name in ("x", "max", "result"))
    if not any(_is(first.element_type, name) for name in ("f16", "f32")):
        fail(op, "requires x element type to be f16 or f32")
    if most.element_type != first.element_type:
        fail(op, "requires x and max to have the same element type")
    if str(result.element_type) != "f32":
        fail(op, "requires result element type to be f32")
    if not first.count == most.count == result.count:
        fail(op, "requires x, max, and result logical lane counts to match")


def _vselr(op: InstructionOp) -> None:
    source, index, result = (_vector(op, name) for name in ("source", "index", "result"))
    if source.element_type != result.element_type:
        fail(op, "requires result element type to match source element type")
    if index.count != result.count:
        fail(op, "requires index lane count to match result lane count")
    if _signedness(index.element_type) is None:
        fail(op, "requires index element type to be integer")
    if width(index.element_type) != width(source.element_type):
        fail(op, "requires index element storage width to match source element storage width")


def _predicate(op: InstructionOp) -> None:
    element = _vectors(op, "lhs", "src")[0].element_type
    compares = op.attribute("cmp")
    if _is_integer(element) and isinstance(compares, StringAttr) and compares.data.startswith("o"):
        fail(
            op,
            "requires integer compare predicate eq/ne/lt/le/gt/ge; signedness is selected by the integer element type",
        )


def _active_prefix(op: InstructionOp) -> None:
    element = _vector(op, "result").element_type
    if _signedness(element) is not Signedness.SIGNLESS:
        fail(op, "requires signless integer result element type")
    if width(element) not in (8, 16, 32):
        fail(op, "requires i8, i16, or i32 result element type")


def _logic(op: InstructionOp) -> None:
    """Check that masks are combined without a mask."""
    if isinstance(op.operands[0].type, VmiMaskType):
        if op.operand_groups.get("mask"):
            fail(op, "mask logic op does not support predication mask")
        if op.attribute("pmode") is not None:
            fail(op, "mask logic op does not support pmode")


def _shuffle(op: InstructionOp) -> None:
    source, result, indices = _vector(op, "source"), _vector(op, "result"), op.attribute("indices")
    if not isinstance(indices, DenseArrayBase):
        return
    numbers = [int(number) for number in cast("DenseArrayBase[IntegerType]", indices).get_values()]
    if len(numbers) != result.count.data:
        fail(op, "requires shuffle index count to match result logical lane count")
    if any(not 0 <= number < source.count.data for number in numbers):
        fail(op, "requires every shuffle index to select an existing source logical lane")


# ---------------------------------------------------------------------------------------------
# Conversions
# ---------------------------------------------------------------------------------------------

_FLOAT_TO_SIGNED = {
    ("f32", 32): True, ("f32", 16): True, ("f16", 32): False, ("f16", 16): True, ("f16", 8): True, ("bf16", 32): True,
}  # fmt: skip
"""By types: True if a conversion of floats to integers with a sign must say if it saturates."""

_FLOAT_TO_UNSIGNED = {("f16", 8): True}


def _float_pair(source: Attribute, result: Attribute) -> tuple[str, bool] | None:
    """Return the modes that a conversion of floats rounds by, and if it saturates; None for what has no row."""
    narrow = (F4E1M2x2Type, F4E2M1x2Type)
    if isinstance(source, BF16x2Type) and isinstance(result, narrow):
        return "RAFZC", False
    if isinstance(source, narrow) and isinstance(result, BF16x2Type):
        return "", False
    return ("RAHZ", True) if (str(source), str(result)) == ("bf16", "f16") else None


def _saturation(op: InstructionOp, needed: bool, of: str, never: str = "no overflow possible") -> None:
    found = op.attribute("saturate")
    if needed and not isinstance(found, StringAttr):
        fail(op, f"'saturate' attribute is required for {of}; write 'SAT' or 'NOSAT'")
    if isinstance(found, StringAttr) and needed and found.data not in ("SAT", "NOSAT"):
        unified = op.row.name == "vmi.vcvt"
        fail(op, f"saturate {'' if unified else 'attr '}must be 'SAT' or 'NOSAT'")
    if found is not None and not needed:
        fail(op, f"'saturate' attribute is not valid for {of} ({never})")


def _rounding(op: InstructionOp, modes: str, text: str) -> None:
    found = op.attribute("rounding")
    if isinstance(found, StringAttr):
        word = "rounding" if op.row.name == "vmi.vcvt" else "rounding attr"
        if len(found.data) != 1:
            fail(op, f"{word} must be a single-character mode token")
        if found.data not in modes:
            fail(op, f"{word} {text}")


_MODES = "must be 'R' (nearest-even), 'A' (away-from-zero), 'H' (half-up), or 'Z' (toward-zero)"


def _narrow_floats(op: InstructionOp, source: Attribute, result: Attribute) -> None:
    row = _float_pair(source, result)
    if row is None and any(isinstance(each, F4E1M2x2Type | F4E2M1x2Type) for each in (source, result)):
        fail(op, "unsupported packed fp-to-fp conversion element type pair")
    special = row is not None and row[0] not in ("RAHZ", "")
    _rounding(op, row[0] if row is not None and special else "RAHZ",
              "is not valid for this fp-to-fp conversion type pair" if special else _MODES)  # fmt: skip
    if row is None or row[1]:
        _saturation(op, True, "fp-narrow / int-narrow conversions")
    else:
        _saturation(op, False, "this fp-to-fp narrow conversion", "no saturation")


def _float_to_integer(op: InstructionOp, source: Attribute, result: Attribute) -> None:
    signed = _is_signed(result)
    rows, name = (_FLOAT_TO_SIGNED, "fp-to-si") if signed else (_FLOAT_TO_UNSIGNED, "fp-to-ui")
    needed = rows.get((str(source), width(result)))
    if needed is None:
        fail(op, f"unsupported {name} conversion element type pair")
    _rounding(op, "RAFCZ", "must be 'R', 'A', 'F', 'C', or 'Z' for floating-point-to-integer conversions")
    _saturation(op, needed, f"this {name} conversion")


def _convert(op: InstructionOp) -> None:
    """Check `vcvt`, which converts in every direction."""
    _same_count(op)
    source, result = _vector(op, "source").element_type, _vector(op, "result").element_type
    before, after = width(source), width(result)
    pair = _float_pair(source, result)
    if BF16x2Type in (type(source), type(result)) and pair is None:
        fail(op, "unsupported conversion involving bf16x2 element type")
    if _is_float(source) and _is_float(result) and pair is None:
        if any(isinstance(each, F4E1M2x2Type | F4E2M1x2Type) for each in (source, result)):
            fail(op, "unsupported packed fp-to-fp conversion element type pair")
        if before == after:
            fail(op, "same-width fp-to-fp conversion is not supported for this type pair")
    if _is_integer(source) and _is_float(result) and not _is_signed(source):
        fail(op, "int-to-fp conversion requires explicitly signed integer source element type")
    if _is_integer(source) and _is_integer(result) and before == after:
        fail(op, "int-to-int conversion must change element bit-width")
    if _is_float(source) and _is_integer(result):
        _float_to_integer(op, source, result)
        return
    narrows = after < before or (_is_float(source) and _is_float(result) and before == after)
    if not (_is_float(source) and narrows) and op.attribute("rounding") is not None:
        fail(
            op,
            "'rounding' attribute is only valid for floating-point narrowing or floating-point-to-integer conversions",
        )
    if narrows and _is_float(source):
        _narrow_floats(op, source, result)
    elif narrows and _is_integer(source) and _is_integer(result):
        _saturation(op, True, "fp-narrow / int-narrow conversions")
        saturates = op.attribute("saturate") == StringAttr("SAT")
        if saturates and (before, after) == (32, 8) and _is_signed(source) and _is_signed(result):
            fail(op, 'si32 -> si8 int-narrow does not support saturate="SAT" (only saturate="NOSAT" is allowed)')
    elif op.attribute("saturate") is not None:
        fail(op, "'saturate' attribute is only valid for fp-narrow / int-narrow conversions")


def _truncate_floats(op: InstructionOp) -> None:
    _same_count(op)
    source, result = _vector(op, "source").element_type, _vector(op, "result").element_type
    if not _is_float(source) or not _is_float(result):
        fail(op, "requires floating-point-like source and result element types")
    if BF16x2Type in (type(source), type(result)) and _float_pair(source, result) is None:
        fail(op, "unsupported bf16x2 fp-to-fp conversion element type pair")
    if width(source) < width(result):
        fail(op, "requires result element type to be narrower than or same-width as source element type")
    _narrow_floats(op, source, result)


def _to_integers(signed: bool) -> Rule:
    def rule(op: InstructionOp) -> None:
        _same_count(op)
        source, result = _vector(op, "source").element_type, _vector(op, "result").element_type
        if not _is_float(source):
            fail(op, "requires floating-point-like source element type")
        if _signedness(result) is None or _is_signed(result) is not signed:
            fail(op, f"requires {'signed' if signed else 'unsigned or signless'} integer result element type")
        _float_to_integer(op, source, result)

    return rule


def _is_unsigned(element: Attribute) -> bool:
    return _signedness(element) in (Signedness.UNSIGNED, Signedness.SIGNLESS)


_KINDS: Mapping[str, Callable[[Attribute], bool]] = {
    "floating-point-like": _is_float,
    "signed integer": _is_signed,
    "unsigned or signless integer": _is_unsigned,
    "integer": _is_integer,
}


def _resize(*, wider: bool, kind: str) -> Rule:
    """Return the rule of a conversion that keeps the kind of elements and makes them wider or narrower."""

    def rule(op: InstructionOp) -> None:
        _same_count(op)
        source, result = _vector(op, "source").element_type, _vector(op, "result").element_type
        holds = _KINDS[kind]
        if not holds(source) or not holds(result):
            fail(op, f"requires {kind} source and result element types")
        if BF16x2Type in (type(source), type(result)) and _float_pair(source, result) is None:
            fail(op, "unsupported bf16x2 fp-to-fp conversion element type pair")
        if (width(source) >= width(result)) if wider else (width(source) <= width(result)):
            fail(op, f"requires result element type to be {'wider' if wider else 'narrower'} than source element type")
        if kind == "integer":
            _saturation(op, True, "fp-narrow / int-narrow conversions")

    return rule


def _layouts_of_both(op: InstructionOp) -> None:
    first, second = (cast("VmiVRegType | VmiMaskType", type) for type in (*_types(op, "source"), *_types(op, "result")))
    if bool(first.layout.data) is not bool(second.layout.data):
        fail(op, "requires either both source and result to carry layout or neither to carry layout")


def _assigned(op: InstructionOp) -> None:
    if any(not cast("VmiVRegType", type).layout.data for type in _types(op, "source", "result")):
        fail(op, "requires source and result to be layout-assigned")


def _concrete(op: InstructionOp) -> None:
    if any(cast("VmiMaskType", type).granularity.data == "pred" for type in _types(op, "source", "result")):
        fail(op, "requires concrete source and result mask granularities")


# ---------------------------------------------------------------------------------------------
# By instruction
# ---------------------------------------------------------------------------------------------

_MATH = ("i8", "i16", "i32", "f16", "bf16", "f32")
_PMODE = _modes("merge", "zero")
_BINARY = (_alike("lhs", "rhs", "result"), _masked("mask", "result"), _PMODE)
_UNARY = (_alike("source", "result"), _masked("mask", "result"), _PMODE)
_SCALAR = (_alike("src", "result"), _masked("mask", "result"), _PMODE)
_LOADED = (_of_memory("source", "result"),)
_STORED = (_of_memory("destination", "value"),)

_RULES: dict[str, tuple[Rule, ...]] = {
    "constant": (_constant(False),),
    "constant_mask": (_constant(True),),
    **dict.fromkeys(("broadcast", "vbrc"), (_broadcast,)),
    **dict.fromkeys(("iota", "group_iota", "vci"), (_counts,)),
    "create_group_mask": (_group_mask,),
    **dict.fromkeys(("mask_and", "mask_or", "mask_xor"), (_alike("lhs", "rhs", "result"),)),
    "mask_not": (_alike("source", "result"),),
    **dict.fromkeys(("addf", "subf", "mulf", "minf", "maxf"), (_of("lhs", floats=True), _BINARY[0])),
    "divf": (_elements("lhs", "f16", "f32"), _BINARY[0]),
    **dict.fromkeys(
        ("addi", "subi", "muli", "mini", "maxi", "andi", "ori", "xori", "shli", "shrui", "shrsi"),
        (_of("lhs", integers=True), _BINARY[0]),
    ),
    **dict.fromkeys(("negf", "absf"), (_of("source", floats=True), _UNARY[0])),
    **dict.fromkeys(("negi", "absi", "not"), (_of("source", integers=True), _UNARY[0])),
    **dict.fromkeys(("sqrt", "exp", "ln"), (_elements("source", "f16", "f32"), _UNARY[0])),
    "relu": (_UNARY[0],),
    "fma": (_of("lhs", floats=True), _alike("lhs", "rhs", "acc", "result")),
    **dict.fromkeys(("vadd", "vsub", "vmin", "vmax"), (_elements("lhs", *_MATH), *_BINARY)),
    "vmul": (_elements("lhs", "i16", "i32", "f16", "bf16", "f32"), *_BINARY),
    "vdiv": (_elements("lhs", "f16", "f32"), *_BINARY),
    **dict.fromkeys(("vshl", "vshr"), (_of("lhs", integers=True), *_BINARY)),
    **dict.fromkeys(("vand", "vor", "vxor"), (_logic, _of("lhs", integers=True), *_BINARY)),
    "vnot": (_logic, _of("source", integers=True), *_UNARY),
    "vneg": (_elements("source", "i8", "i16", "i32", "f16", "f32"), *_UNARY),
    "vabs": (_elements("source", "si8", "si16", "si32", "f16", "bf16", "f32"), *_UNARY),
    **dict.fromkeys(("vsqrt", "vexp", "vln"), (_elements("source", "f16", "f32"), *_UNARY)),
    "vrelu": (_elements("source", "si32", "f16", "f32"), *_UNARY),
    **dict.fromkeys(
        ("vaddc", "vaddcs"),
        (
            _elements("lhs", "i32", what="vector element types"), _alike("lhs", "rhs", "result"),
            _masked("mask", "lhs"), _masked("carry", "lhs"), _masked("carry_in", "lhs"),
            _alike("mask", "carry", "carry_in"),
        ),
    ),
    **dict.fromkeys(("vadds", "vmaxs", "vmins"), (_elements("src", *_MATH), *_SCALAR)),
    "vmuls": (_elements("src", "i16", "i32", "f16", "f32"), *_SCALAR),
    **dict.fromkeys(("vshls", "vshrs"), (_of("src", integers=True), *_SCALAR)),
    "vmula": (
        _of("acc", floats=True, integers=True), _identical("acc, lhs, rhs, and result", "acc", "lhs", "rhs", "result"),
        _masked("mask", "result"), _PMODE,
    ),
    "vmull": (_vmull,),
    "vaxpy": (_of("x", floats=True), _identical("x, acc, and result", "x", "acc", "result"),
              _scalar_of_element("alpha", "alpha scalar type to match vector element type"),
              _masked("mask", "result"), _PMODE),
    "vlrelu": (_of("x", floats=True), _identical("x and result", "x", "result"),
               _scalar_of_element("slope", "slope scalar type to match vector element type"),
               _masked("mask", "result"), _PMODE),
    "vprelu": (_of("x", floats=True), _identical("x, alpha, and result", "x", "alpha", "result"),
               _masked("mask", "result"), _PMODE),
    "vexpdif": (_vexpdif, _masked("mask", "x"), _PMODE),
    "cmpf": (_of("lhs", floats=True), _alike("lhs", "rhs"), _masked("result", "lhs")),
    "cmpi": (_of("lhs", integers=True), _alike("lhs", "rhs"), _masked("result", "lhs")),
    "vcmp": (_elements("lhs", *_MATH), _predicate, _alike("lhs", "rhs"), _masked("seed", "lhs")),
    "vcmps": (_elements("src", *_MATH), _predicate, _masked("seed", "src")),
    **dict.fromkeys(
        ("select", "vsel"), (_alike("true_value", "false_value", "result"), _masked("mask", "result"), _PMODE)
    ),
    "reduce_addf": (
        _reassociates("requires reassoc attr because VPTO vcadd performs pair-wise floating-point reduction"),
        _elements("source", "f16", "f32", what="source element type"), _reduces_to_one, _masked("mask", "source"),
    ),
    **dict.fromkeys(
        ("reduce_maxf", "reduce_minf"),
        (_elements("source", "f16", "f32", what="source element type"), _reduces_to_one, _masked("mask", "source")),
    ),
    "reduce_addi": (
        _elements("source", "i32", what="integer source element type"), _reduces_to_one, _masked("mask", "source"),
    ),
    **dict.fromkeys(
        ("reduce_maxi", "reduce_mini"),
        (_elements("source", "i8", "i16", "i32", what="source element type"), _reduces_to_one,
         _masked("mask", "source")),
    ),
    **dict.fromkeys(
        ("group_reduce_maxf", "group_reduce_minf", "group_reduce_addf"),
        (_elements("source", "f16", "f32", what="source element type"), _reduces_groups, _masked("mask", "source"),
         _groups("source")),
    ),
    **dict.fromkeys(
        ("group_reduce_maxi", "group_reduce_mini", "group_reduce_addi"),
        (_elements("source", "i8", "i16", "i32", what="source element type"), _reduces_groups,
         _masked("mask", "source"), _groups("source")),
    ),
    "group_broadcast": (_groups("result"),),
    "vcadd": (_of("source", floats=True, integers=True), _reassociates("floating add-reduction requires reassoc attr"),
              _masked("mask", "source"), _reduces, _PMODE),
    **dict.fromkeys(
        ("vcmax", "vcmin"), (_of("source", floats=True, integers=True), _masked("mask", "source"), _reduces, _PMODE)
    ),
    "compress": (_alike("source", "result"), _masked("mask", "source")),
    **dict.fromkeys(("vdhist", "vchist"), (_histogram,)),
    "active_prefix_index": (_active_prefix, _masked("mask", "result")),
    "vselr": (_vselr,),
    "shuffle": (_shuffle,),
    **dict.fromkeys(
        ("vintlv", "vdintlv"), (_alike("lhs", "rhs", "low", "high", layout=False), _masked("mask", "lhs"), _PMODE)
    ),
    "channel_split": (_split,),
    "channel_merge": (_merge,),
    "extf": (_resize(wider=True, kind="floating-point-like"),),
    "truncf": (_truncate_floats,),
    "fptosi": (_to_integers(signed=True),),
    "fptoui": (_to_integers(signed=False),),
    "extsi": (_resize(wider=True, kind="signed integer"),),
    "extui": (_resize(wider=True, kind="unsigned or signless integer"),),
    "trunci": (_resize(wider=False, kind="integer"),),
    "vcvt": (_convert, _PMODE),
    **dict.fromkeys(("bitcast", "vinterpret_cast"), (_same_bits, _layouts_of_both)),
    "ensure_layout": (_assigned,),
    "ensure_mask_layout": (_assigned, _concrete),
    "ensure_mask_granularity": (_layouts_of_both,),
    **dict.fromkeys(("load", "group_load"), (*_LOADED, _in_vector_memory("source"))),
    **dict.fromkeys(
        ("masked_load", "expand_load"),
        (*_LOADED, _in_vector_memory("source"), _alike("passthru", "result"), _masked("mask", "result")),
    ),
    "gather": (_offsets("indices"), _in_vector_memory("source"), *_LOADED, _masked("mask", "result")),
    "store": (*_STORED, _in_vector_memory("destination")),
    **dict.fromkeys(
        ("masked_store", "compress_store"), (*_STORED, _in_vector_memory("destination"), _masked("mask", "value"))
    ),
    "vsstb": (*_STORED, _in_vector_memory("destination"), _modes("zero"), _masked("mask", "value")),
    "vgather": (_in_vector_memory("source"), *_LOADED, _offsets("offsets"),
                _alike("offsets", "result", elements=False), _masked("mask", "result"), _PMODE),
    "vgatherb": (_in_vector_memory("source"), *_LOADED, _offsets("offsets"), _masked("mask", "result"), _PMODE),
    "vscatter": (_in_vector_memory("destination"), *_STORED, _offsets("offsets"),
                 _alike("value", "offsets", elements=False), _masked("mask", "value"), _PMODE),
}  # fmt: skip


def all_of(*rules: Rule) -> Rule:
    """Return the rule that all of these hold."""

    def rule(op: InstructionOp) -> None:
        for each in rules:
            each(op)

    return rule


VECTOR_RULES: Mapping[str, Rule] = {f"vmi.{name}": all_of(*rules) for name, rules in _RULES.items()}
"""The rules by the name of the row."""
