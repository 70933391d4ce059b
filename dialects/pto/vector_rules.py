"""Rules of instructions on vectors of any length (`pto.vmi`) that kinds of operands do not state, in upstream's words.

A rule is a function of an operation; each instruction has a list of them, in the order in which upstream reports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerType,
    ShapedType,
    Signedness,
    StringAttr,
)
from xdsl.ir import Attribute, Operation

from .instruction_operation import InstructionOp
from .kernels import fail
from .registers import (
    REGISTER_BITS,
    MaskType,
    VmiLayoutAttr,
    VmiMaskType,
    VmiVRegType,
    VRegType,
    mask_bits,
    registers_of,
)
from .rules import (
    Rule,
    all_of,
    fits_scalar,
    is_float,
    is_in_vector_memory,
    is_integer,
    is_signed,
    memory_element,
    number_of,
    one_of,
    signedness,
    types_of,
    width,
    word_of,
)
from .types import BF16x2Type, F4E1M2x2Type, F4E2M1x2Type


def _vectors(op: InstructionOp, *names: str) -> list[VmiVRegType]:
    return [type for type in types_of(op, *names) if isinstance(type, VmiVRegType)]


def _vector(op: InstructionOp, name: str) -> VmiVRegType:
    (found,) = _vectors(op, name)
    return found


def _mask(op: InstructionOp, name: str) -> VmiMaskType:
    (found,) = types_of(op, name)
    return cast("VmiMaskType", found)


def _is(element: Attribute, name: str) -> bool:
    """Return True for an element of a name: `i8` has any sign or none, `si8` a sign."""
    if signedness(element) is not None:
        signed = name.startswith("s")
        return name.lstrip("s") == f"i{width(element)}" and (not signed or is_signed(element))
    return str(element) == name


# ---------------------------------------------------------------------------------------------
# Rules of several instructions
# ---------------------------------------------------------------------------------------------


def _elements(name: str, *allowed: str, what: str = "VMI element type", words: str = "") -> Rule:
    """Return the rule that a vector has elements of one of some types, which an error lists, or calls by `words`."""
    *first, last = allowed
    listed = last if not first else f"{first[0]} or {last}" if len(first) == 1 else f"{', '.join(first)}, or {last}"
    listed = words or listed

    def rule(op: InstructionOp) -> None:
        element = _vector(op, name).element_type
        if isinstance(element, BF16x2Type):
            fail(op, "does not support bf16x2 VMI element type; bf16x2 is conversion-only")
        if not any(_is(element, each) for each in allowed):
            fail(op, f"requires {listed} {what}")

    return rule


def _of(
    name: str, *, floats: bool = False, integers: bool = False, what: str = "VMI element type", words: str = ""
) -> Rule:
    """Return the rule that a vector has floats, integers, or either."""
    kinds = [kind for kind, holds in (("floating-point-like", floats), ("integer-like", integers)) if holds]

    def rule(op: InstructionOp) -> None:
        (type,) = types_of(op, name)
        if isinstance(type, VmiMaskType):
            return
        element = cast("VmiVRegType", type).element_type
        if isinstance(element, BF16x2Type):
            fail(op, "does not support bf16x2 VMI element type; bf16x2 is conversion-only")
        if not ((floats and is_float(element)) or (integers and is_integer(element))):
            fail(op, f"requires {words or ' or '.join(kinds)} {what}, not {element}")

    return rule


def _alike(*names: str, elements: bool = True, layout: bool = True) -> Rule:
    """Return the rule that vectors, or masks, have the same length, elements and layout."""

    def rule(op: InstructionOp) -> None:
        masks = [type for type in types_of(op, *names) if isinstance(type, VmiMaskType)]
        for mask in masks:
            if mask.count != masks[0].count:
                fail(op, "requires all VMI mask values to have the same logical lane count")
            if mask.granularity != masks[0].granularity:
                fail(op, "requires all VMI mask values to have the same granularity")
            if bool(mask.layout.data) is not bool(masks[0].layout.data):
                fail(op, "requires either all or no VMI mask values to carry layout")
            if mask.layout != masks[0].layout:
                fail(op, "requires all layout-assigned VMI mask values to have the same layout")
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
        found = types_of(op, data)
        if not found or not isinstance(found[0], VmiVRegType):
            return
        vector = found[0]
        masks = [type for type in types_of(op, mask) if isinstance(type, VmiMaskType)]
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


def _of_memory(memory: str, data: str) -> Rule:
    """Return the rule that memory has the elements of a vector."""

    def rule(op: InstructionOp) -> None:
        (type,) = types_of(op, memory)
        if memory_element(type) != _vectors(op, data)[0].element_type:
            fail(op, f"requires memory {memory} element type to match VMI data element type")

    return rule


def _in_vector_memory(memory: str) -> Rule:
    def rule(op: InstructionOp) -> None:
        (type,) = types_of(op, memory)
        if not is_in_vector_memory(type):
            fail(op, f"requires memory {memory} to be UB-backed")

    return rule


def _modes_of_stores(op: InstructionOp) -> None:
    mode = word_of(op, "pmode")
    if mode not in (None, "zero", "merge"):
        fail(op, f'invalid pmode: "{mode}"')
    if mode == "merge":
        fail(
            op,
            'pmode "merge" is not supported for stores: the legacy store lowering is mask-governed only and cannot '
            'retain prior destination contents on inactive blocks; omit pmode (defaults to "zero")',
        )


def _of_group_memory(op: InstructionOp) -> None:
    """Check the elements of a store of rows, which may keep the low byte of words."""
    (type,), element = types_of(op, "destination"), _vector(op, "value").element_type
    if not packs_bytes(type, element):
        _of_memory("destination", "value")(op)


def packs_bytes(memory: Attribute, element: Attribute) -> bool:
    """Return True if words are stored to bytes."""
    stored = memory_element(memory)
    return (
        stored is not None
        and signedness(stored) is not None
        and signedness(element) is not None
        and (width(stored), width(element)) == (8, 32)
    )


def _same_elements(op: InstructionOp) -> None:
    if _vector(op, "source").element_type != _vector(op, "result").element_type:
        fail(op, "requires source and result element types to match")


def _unsigned_shift(op: InstructionOp) -> None:
    element = _vector(op, "lhs").element_type
    if signedness(element) is None or is_signed(element):
        fail(op, "requires signless or unsigned integer VMI element type")


def _float_vector(op: InstructionOp) -> None:
    element = _vector(op, "x").element_type
    if isinstance(element, BF16x2Type):
        fail(op, "does not support bf16x2 VMI element type; bf16x2 is conversion-only")
    if not is_float(element):
        fail(op, "requires vector element type to be f16 or f32")


def _same_count(op: InstructionOp) -> None:
    if _vector(op, "source").count != _vector(op, "result").count:
        fail(op, "requires source and result logical lane counts to match")


def _same_bits(op: InstructionOp) -> None:
    source, result = _vector(op, "source"), _vector(op, "result")
    bits = [vector.count.data * width(vector.element_type) for vector in (source, result)]
    if bits[0] != bits[1]:
        fail(op, "requires source and result to carry the same total number of bits")


def check_groups(op: Operation, vector: VmiVRegType, groups: int) -> None:
    """Raise VerifyException unless a vector can be divided into so many groups."""
    if groups <= 0:
        fail(op, "requires num_groups to be positive")
    if vector.count.data % groups:
        fail(op, f"requires num_groups to evenly divide VMI logical lane count {vector.count.data}")


def _groups(name: str) -> Rule:
    def rule(op: InstructionOp) -> None:
        check_groups(op, _vector(op, name), _group_count(op))

    return rule


def _group_count(op: InstructionOp, name: str = "num_groups") -> int:
    found = number_of(op, name)
    if found is None:
        fail(op, f"requires attribute '{name}'")
    return found


def _layout(type: VmiVRegType | VmiMaskType) -> VmiLayoutAttr | None:
    """Return the layout of a vector or mask; None before one is chosen."""
    return type.layout.data[0] if type.layout.data else None


def _is_contiguous(type: VmiVRegType | VmiMaskType) -> bool:
    layout = _layout(type)
    return layout is None or layout.kind.data == "contiguous"


def _in_slots(name: str, text: str = "requires layout-assigned {} to use", of: str = "num_groups") -> Rule:
    """Return the rule that a vector with a layout has one element for each group."""

    def rule(op: InstructionOp) -> None:
        layout, groups = _layout(_vector(op, name)), _group_count(op, of)
        if layout is not None and (layout.kind.data, layout.factor.data) != ("num_groups", groups):
            fail(op, f"{text.format(name)} #pto.vmi.layout<num_groups = {groups}>")

    return rule


def _dense(op: InstructionOp) -> None:
    layout = _layout(_vector(op, "result"))
    if layout is not None and layout.kind.data == "num_groups":
        fail(op, "requires layout-assigned result to use a dense VMI layout")


def _contiguous(**names: str) -> Rule:
    def rule(op: InstructionOp) -> None:
        for name, called in names.items():
            if not _is_contiguous(_vector(op, name)):
                fail(op, f"requires layout-assigned {called} to use #pto.vmi.layout<contiguous>")

    return rule


def _one_a_group(name: str, what: str = "") -> Rule:
    """Return the rule that a vector has an element for each group."""

    def rule(op: InstructionOp) -> None:
        if _vector(op, name).count.data != _group_count(op):
            fail(op, f"requires {what or name} logical lane count to match num_groups")

    return rule


def _divided(op: InstructionOp) -> None:
    groups = _group_count(op)
    if groups <= 0:
        fail(op, "requires num_groups to be positive")
    if _vector(op, "result").count.data % groups:
        fail(op, "requires num_groups to evenly divide result logical lane count")


def _scalar_of_element(scalar: str, text: str) -> Rule:
    """Return the rule that a number has the type of the elements."""

    def rule(op: InstructionOp) -> None:
        (type,), element = types_of(op, scalar), _vectors(op, "src", "x")[0].element_type
        if type != element:
            fail(op, f"requires {text}, got scalar {type} vs vector element {element}")

    return rule


def _reassociates(text: str) -> Rule:
    def rule(op: InstructionOp) -> None:
        if is_float(_vector(op, "source").element_type) and op.attribute("reassoc") is None:
            fail(op, text)

    return rule


def _reduces(op: InstructionOp) -> None:
    source, result, groups = _vector(op, "source"), _vector(op, "result"), number_of(op, "group")
    if groups is not None:
        if groups <= 0 or source.count.data % groups:
            fail(op, f"group count {groups} must divide source lane count {source.count.data}")
        if result.count.data != groups:
            fail(op, f"result lane count must equal group count {groups}, got {result.count.data}")
        _in_slots("result", "layout-assigned {} must use", "group")(op)
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
    if _vector(op, "source").element_type != _vector(op, "result").element_type:
        fail(op, "requires source and result element types to match")
    layout = _layout(_vector(op, "source"))
    if layout is not None and layout.kind.data == "num_groups":
        fail(
            op,
            "requires layout-assigned source to use contiguous layout or deinterleaved=2/4 or block_deinterleaved=2/4 "
            "layout",
        )


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
        (type,) = types_of(op, "result")
        if of_mask and str(element) != "i1":
            fail(op, "requires dense mask constant element type to be i1")
        if isinstance(type, VmiVRegType) and element != type.element_type:
            fail(op, "requires dense constant element type to match result element type")
        if held.get_shape() != (cast("VmiVRegType | VmiMaskType", type).count.data,):
            fail(op, f"requires dense {kind}constant element count to match result logical lane count")

    return rule


def _broadcast(op: InstructionOp) -> None:
    (value,), result = types_of(op, "value"), _vector(op, "result")
    if isinstance(value, VmiVRegType):
        if value.count.data != 1:
            fail(op, "requires VMI vector input to have one logical lane")
        if value.element_type != result.element_type:
            fail(op, "requires VMI vector input element type to match result element type")
    elif value != result.element_type:
        fail(op, "requires scalar or VMI vector input element type to match result element type")


def _broadcast_groups(op: InstructionOp) -> None:
    """Check `vbrc`, which repeats a number, or an element for each group."""
    groups = number_of(op, "group")
    if groups is None:
        _broadcast(op)
        return
    (value,), result = types_of(op, "value"), _vector(op, "result")
    if not isinstance(value, VmiVRegType):
        fail(op, "requires VMI vector input when num_groups is set")
    if value.count.data != groups:
        fail(op, f"requires source logical lane count {value.count.data} to match num_groups {groups}")
    if value.element_type != result.element_type:
        fail(op, "requires source and result element types to match")
    layout = _layout(value)
    if layout is not None and (layout.kind.data, layout.factor.data) != ("num_groups", groups):
        fail(op, f"requires layout-assigned source to use #pto.vmi.layout<num_groups = {groups}>")
    _dense(op)
    check_groups(op, result, groups)


def _counts(op: InstructionOp) -> None:
    element, (base,) = _vector(op, "result").element_type, types_of(op, "base")
    if not any(_is(element, name) for name in ("i8", "i16", "i32", "f16", "f32")):
        fail(op, "requires result element type to be integer 8/16/32 or f16/f32")
    if not fits_scalar(element, base):
        fail(op, "requires base type to match result element type")
    order = op.attribute("order")
    if isinstance(order, StringAttr) and order.data not in ("ASC", "DESC"):
        fail(op, "requires order to be ASC or DESC")


def _counts_groups(*, always: bool) -> Rule:
    """Return the rule of the groups that numbers count in; `always` if there have to be several."""

    def rule(op: InstructionOp) -> None:
        groups = _group_count(op, "group") if always else number_of(op, "group")
        if groups is None:
            return
        result = _vector(op, "result")
        if always and groups <= 1:
            fail(op, "requires group greater than one")
        if groups <= 0:
            fail(op, "requires group to be positive")
        if result.count.data % groups:
            fail(op, "requires group to evenly divide result logical lane count")
        size, lanes = result.count.data // groups, REGISTER_BITS // width(result.element_type)
        if groups > 1 and size % lanes and lanes % size:
            fail(op, f"requires group_size to divide or be a multiple of physical lanes per part ({lanes})")
        if always and not _is_contiguous(result):
            fail(op, "requires contiguous result layout")

    return rule


def _group_mask(op: InstructionOp) -> None:
    groups, size = _group_count(op), _group_count(op, "group_size")
    (mask,) = types_of(op, "result")
    for name, number in (("num_groups", groups), ("group_size", size)):
        if number <= 0:
            fail(op, f"requires positive {name}")
    if cast("VmiMaskType", mask).count.data != groups * size:
        fail(op, "requires result lane count to equal num_groups * group_size")


def _offsets(name: str) -> Rule:
    def rule(op: InstructionOp) -> None:
        element = _vector(op, name).element_type
        if not any(_is(element, each) for each in ("i16", "i32")) or is_signed(element):
            fail(op, f"requires signless or unsigned 16-bit or 32-bit integer {name}")

    return rule


def _short_offsets(name: str, text: str) -> Rule:
    """Return the rule that offsets of 16 bits are of unsigned elements of 16 bits."""

    def rule(op: InstructionOp) -> None:
        if width(_vector(op, name).element_type) == 16 and str(_vector(op, "result").element_type) != "ui16":
            fail(op, text)

    return rule


def _histogram(op: InstructionOp) -> None:
    totals, source, result = (_vector(op, name) for name in ("acc", "source", "result"))

    def unsigned(vector: VmiVRegType, bits: int) -> bool:
        return _is(vector.element_type, f"i{bits}") and not is_signed(vector.element_type)

    if not unsigned(totals, 16) or totals.count.data not in (128, 256):
        fail(
            op,
            "requires acc type to be !pto.vmi.vreg<128x{ui16|i16}> (Bin_N0-only) or !pto.vmi.vreg<256x{ui16|i16}>",
        )
    if result.count != totals.count:
        fail(op, "requires result element count to match acc (bins must be identical)")
    if result.layout != totals.layout:
        fail(op, "requires result layout attribute to match acc")
    if not unsigned(result, 16):
        fail(op, "requires result element type to be ui16 or i16 (interpreted as unsigned)")
    if not unsigned(source, 8):
        fail(op, "requires source type to be !pto.vmi.vreg<Nx{ui8|i8}> (interpreted as unsigned)")
    mask = _mask(op, "mask")
    if mask.count != source.count:
        fail(op, "requires mask logical lane count to match source")
    for name, type in (("acc", totals), ("source", source), ("result", result), ("mask", mask)):
        if not _is_contiguous(type):
            fail(op, f"requires layout-assigned {name} to use contiguous layout")
    if _layout(mask) is not None and mask.granularity.data != "b8":
        fail(op, "requires layout-assigned mask granularity b8")


def _split(op: InstructionOp) -> None:
    source, parts = _vector(op, "source"), _vectors(op, "results")
    if len(parts) < 2:
        fail(op, "requires at least two channel results")
    if source.count.data != len(parts) * parts[0].count.data:
        fail(op, "requires source lane count to equal result count times per-channel lane count")
    if any((part.count, part.element_type) != (parts[0].count, source.element_type) for part in parts):
        fail(op, "requires every channel result to have equal lane count and source element type")
    if _layout(source) is None and not any(map(_layout, parts)):
        return
    if _layout(source) is None:
        fail(op, "requires layout-assigned channel_split source when any channel result has layout")
    if not all(map(_layout, parts)):
        fail(op, "requires every channel_split result to carry layout when source has layout")
    if not all(map(_is_contiguous, parts)):
        fail(op, "requires layout-assigned channel_split results to be contiguous")
    if not _is_by_channel(source, len(parts)):
        fail(op, "requires layout-assigned channel_split source to be contiguous or deinterleaved by result count")


def _is_by_channel(type: VmiVRegType, channels: int) -> bool:
    """Return True if a layout keeps elements in order, or those of each channel together."""
    layout = _layout(type)
    if layout is None or channels not in (2, 4):
        return True
    by_channel = (layout.kind.data, layout.factor.data, layout.lane_stride.data) == ("deinterleaved", channels, 1)
    return _is_contiguous(type) or by_channel


def _merge(op: InstructionOp) -> None:
    result, parts = _vector(op, "result"), _vectors(op, "inputs")
    if len(parts) < 2:
        fail(op, "requires at least two channel inputs")
    if any((part.count, part.element_type) != (parts[0].count, parts[0].element_type) for part in parts):
        fail(op, "requires all channel inputs to have the same lane count and element type")
    merged = sum(part.count.data for part in parts)
    if (result.count.data, result.element_type) != (merged, parts[0].element_type):
        fail(op, "requires result lane count and element type to match merged channels")
    if _layout(result) is None and not any(map(_layout, parts)):
        return
    if _layout(result) is None:
        fail(op, "requires layout-assigned channel_merge result when any channel input has layout")
    if not all(map(_layout, parts)):
        fail(op, "requires every channel_merge input to carry layout when result has layout")
    if not all(map(_is_contiguous, parts)):
        fail(op, "requires layout-assigned channel_merge inputs to be contiguous")
    if not _is_by_channel(result, len(parts)):
        fail(op, "requires layout-assigned channel_merge result to be contiguous or deinterleaved by input count")


def _vmull(op: InstructionOp) -> None:
    factors = _vectors(op, "a", "b", "low", "high")
    if any(not _is(each.element_type, "i32") or is_signed(each.element_type) for each in factors):
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
    if signedness(index.element_type) is None:
        fail(op, "requires index element type to be integer")
    if width(index.element_type) != width(source.element_type):
        fail(op, "requires index element storage width to match source element storage width")
    if (_layout(source) is None) is not (_layout(result) is None):
        fail(op, "requires source and result to both carry layout or neither carry layout")
    if _layout(source) is None and _layout(index) is not None:
        fail(op, "requires index to carry layout only when source does")


_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def _predicate(op: InstructionOp) -> None:
    element, compares = _vectors(op, "lhs", "src")[0].element_type, word_of(op, "cmp")
    if compares is None:
        fail(op, "requires attribute 'cmp'")
    if is_integer(element) and compares.startswith("o"):
        fail(
            op,
            "requires integer compare predicate eq/ne/lt/le/gt/ge; signedness is selected by the integer element type",
        )
    if compares.removeprefix("o") not in _COMPARISONS:
        fail(
            op,
            f"unsupported compare predicate '{compares}'; expected eq/ne/lt/le/gt/ge, or oeq/one/olt/ole/ogt/oge",
        )


def _seeded(op: InstructionOp) -> None:
    mode = word_of(op, "pmode")
    if mode not in (None, "zeroing", "merge"):
        fail(op, f'unsupported pmode \'{mode}\'; expected "zeroing" or "merge"')
    if _mask(op, "seed").count != _mask(op, "result").count:
        fail(op, "requires result mask lane count to match seed mask lane count")


def _pattern(op: InstructionOp) -> None:
    """Check a mask of the first elements, whose pattern says how many they are."""
    pattern, mask = word_of(op, "pattern") or "", _mask(op, "result")
    digits = pattern.removeprefix("PAT_VL")
    if not pattern.startswith("PAT_VL"):
        fail(op, 'requires pattern to start with "PAT_VL"')
    if not digits.removeprefix("-").isdecimal():
        fail(op, 'requires pattern "PAT_VL<n>" with integer n')
    if int(digits) <= 0:
        fail(op, 'requires positive n in pattern "PAT_VL<n>"')
    if int(digits) > mask.count.data:
        fail(op, f"PAT_VL active lanes {int(digits)} exceeds mask element count {mask.count.data}")


def _concrete_mask(name: str) -> Rule:
    """Return the rule that a mask for elements of a width has a layout."""

    def rule(op: InstructionOp) -> None:
        mask = _mask(op, name)
        if mask.granularity.data != "pred" and _layout(mask) is None:
            fail(op, "requires concrete mask result to carry layout")

    return rule


def _parts_of(name: str) -> Rule:
    """Return the rule that the registers of a vector or mask are as many and such as its layout says."""

    def rule(op: InstructionOp) -> None:
        (type,) = types_of(op, name)
        whole, parts = cast("VmiVRegType | VmiMaskType", type), types_of(op, "parts")
        expected = registers_of(whole)
        if expected is None:
            fail(op, "requires a layout-assigned VMI type with computable physical arity")
        if len(parts) != expected:
            fail(op, f"requires {expected} physical parts, got {len(parts)}")
        for part in parts:
            if isinstance(whole, VmiVRegType):
                if not isinstance(part, VRegType):
                    fail(op, "requires physical data parts to be !pto.vreg")
                if part.element_type != whole.element_type:
                    fail(op, "requires physical data part type to match VMI lane-map helper")
            elif not isinstance(part, MaskType):
                fail(op, "requires physical mask parts to be !pto.mask")
            elif part.granularity.data != f"b{mask_bits(whole)}":
                fail(op, "requires physical mask part granularity to match VMI mask carrier")

    return rule


def _active_prefix(op: InstructionOp) -> None:
    element = _vector(op, "result").element_type
    if signedness(element) is not Signedness.SIGNLESS:
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
    if source.element_type != result.element_type:
        fail(op, "requires result element type to match source element type")
    if not isinstance(indices, DenseArrayBase):
        return
    numbers = [int(number) for number in cast("DenseArrayBase[IntegerType]", indices).get_values()]
    if len(numbers) != result.count.data:
        fail(op, "requires shuffle index count to match result logical lane count")
    if any(not 0 <= number < source.count.data for number in numbers):
        fail(op, "requires every shuffle index to select an existing source logical lane")
    _layouts_of_both(op)


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
        if op.row.name in ("vmi.truncf", "vmi.trunci"):
            fail(op, "'saturate' attribute is required (SAT or NOSAT)")
        how = "; write 'SAT' or 'NOSAT'" if op.row.name == "vmi.vcvt" else " (SAT or NOSAT)"
        fail(op, f"'saturate' attribute is required for {of}{how}")
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


_SAME_WIDTH = "same-width fp-to-fp conversion is not supported for this type pair; see lookupVMIFpToFpContract"
_MODES = "must be 'R' (nearest-even), 'A' (away-from-zero), 'H' (half-up), or 'Z' (toward-zero)"


def _narrow_floats(op: InstructionOp, source: Attribute, result: Attribute) -> None:
    row = _float_pair(source, result)
    if row is None and any(isinstance(each, F4E1M2x2Type | F4E2M1x2Type) for each in (source, result)):
        fail(op, "unsupported packed fp-to-fp conversion element type pair")
    special = row is not None and row[0] not in ("RAHZ", "")
    modes = _MODES if op.row.name == "vmi.vcvt" else "must be R, A, H, or Z"
    _rounding(op, row[0] if row is not None and special else "RAHZ",
              "is not valid for this fp-to-fp conversion type pair" if special else modes)  # fmt: skip
    if row is None or row[1]:
        _saturation(op, True, "fp-narrow / int-narrow conversions")
    else:
        _saturation(op, False, "this fp-to-fp narrow conversion", "no saturation")


def _float_to_integer(op: InstructionOp, source: Attribute, result: Attribute) -> None:
    signed = is_signed(result)
    rows, name = (_FLOAT_TO_SIGNED, "fp-to-si") if signed else (_FLOAT_TO_UNSIGNED, "fp-to-ui")
    needed = rows.get((str(source), width(result)))
    if needed is None:
        fail(op, f"unsupported {name} conversion element type pair")
    unified = "must be 'R', 'A', 'F', 'C', or 'Z' for floating-point-to-integer conversions"
    _rounding(op, "RAFCZ", unified if op.row.name == "vmi.vcvt" else "must be R, A, F, C, or Z")
    _saturation(op, needed, f"this {name} conversion")


def _convert(op: InstructionOp) -> None:
    """Check `vcvt`, which converts in every direction."""
    _same_count(op)
    source, result = _vector(op, "source").element_type, _vector(op, "result").element_type
    before, after = width(source), width(result)
    pair = _float_pair(source, result)
    if BF16x2Type in (type(source), type(result)) and pair is None:
        fail(op, "unsupported conversion involving bf16x2 element type")
    if is_float(source) and is_float(result) and pair is None:
        if any(isinstance(each, F4E1M2x2Type | F4E2M1x2Type) for each in (source, result)):
            fail(op, "unsupported packed fp-to-fp conversion element type pair")
        if before == after:
            fail(op, _SAME_WIDTH)
    if is_integer(source) and is_float(result) and not is_signed(source):
        fail(op, "int-to-fp conversion requires explicitly signed integer source element type")
    if is_integer(source) and is_integer(result) and before == after:
        fail(op, "int-to-int conversion must change element bit-width")
    if is_float(source) and is_integer(result):
        _float_to_integer(op, source, result)
        return
    narrows = after < before or (is_float(source) and is_float(result) and before == after)
    if not (is_float(source) and narrows) and op.attribute("rounding") is not None:
        fail(
            op,
            "'rounding' attribute is only valid for floating-point narrowing or floating-point-to-integer conversions",
        )
    if narrows and is_float(source):
        _narrow_floats(op, source, result)
    elif narrows and is_integer(source) and is_integer(result):
        _saturation(op, True, "fp-narrow / int-narrow conversions")
        saturates = op.attribute("saturate") == StringAttr("SAT")
        if saturates and (before, after) == (32, 8) and is_signed(source) and is_signed(result):
            fail(
                op,
                'si32 -> si8 int-narrow does not support saturate="SAT" (no native hardware form; only '
                'saturate="NOSAT" is allowed)',
            )
    elif op.attribute("saturate") is not None:
        fail(op, "'saturate' attribute is only valid for fp-narrow / int-narrow conversions")


def _truncate_floats(op: InstructionOp) -> None:
    _same_count(op)
    source, result = _vector(op, "source").element_type, _vector(op, "result").element_type
    if not is_float(source) or not is_float(result):
        fail(op, "requires floating-point-like source and result element types")
    if BF16x2Type in (type(source), type(result)) and _float_pair(source, result) is None:
        fail(op, "unsupported bf16x2 fp-to-fp conversion element type pair")
    if width(source) < width(result):
        fail(op, "requires result element type to be narrower than or same-width as source element type")
    if width(source) == width(result) and _float_pair(source, result) is None:
        fail(op, _SAME_WIDTH)
    _narrow_floats(op, source, result)


def _to_integers(signed: bool) -> Rule:
    def rule(op: InstructionOp) -> None:
        _same_count(op)
        source, result = _vector(op, "source").element_type, _vector(op, "result").element_type
        if not is_float(source):
            fail(op, "requires floating-point-like source element type")
        if signedness(result) is None or is_signed(result) is not signed:
            fail(op, f"requires {'signed' if signed else 'unsigned or signless'} integer result element type")
        _float_to_integer(op, source, result)

    return rule


def _to_floats(op: InstructionOp) -> None:
    """Check `sitofp`."""
    _same_count(op)
    source, result = _vector(op, "source").element_type, _vector(op, "result").element_type
    if not is_signed(source):
        fail(op, "requires signed integer source element type")
    if not is_float(result):
        fail(op, "requires floating-point-like result element type")
    if width(source) != 32:
        fail(op, "requires 32-bit integer source element type")
    if str(result) != "f32":
        fail(op, "requires f32 result element type")


def _is_unsigned(element: Attribute) -> bool:
    return signedness(element) in (Signedness.UNSIGNED, Signedness.SIGNLESS)


_KINDS: Mapping[str, Callable[[Attribute], bool]] = {
    "floating-point-like": is_float,
    "signed integer": is_signed,
    "unsigned or signless integer": _is_unsigned,
    "integer": is_integer,
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
    first, second = (
        cast("VmiVRegType | VmiMaskType", type) for type in (*types_of(op, "source"), *types_of(op, "result"))
    )
    if bool(first.layout.data) is not bool(second.layout.data):
        fail(op, "requires either both source and result to carry layout or neither to carry layout")


def _same_layout(op: InstructionOp) -> None:
    _layouts_of_both(op)
    if _vector(op, "source").layout != _vector(op, "result").layout:
        fail(op, "requires source and result layouts to match")


def _keeps_shape(op: InstructionOp) -> None:
    source, result = _vector(op, "source"), _vector(op, "result")
    if (source.count, source.element_type) != (result.count, result.element_type):
        fail(op, "requires source and result to preserve VMI data shape and element type")


def _keeps_mask(op: InstructionOp) -> None:
    source, result = _mask(op, "source"), _mask(op, "result")
    if (source.count, source.granularity) != (result.count, result.granularity):
        fail(op, "requires source and result to preserve VMI mask shape and granularity")


def _keeps_lanes(op: InstructionOp) -> None:
    if _mask(op, "source").count != _mask(op, "result").count:
        fail(op, "requires source and result to preserve VMI mask lane count")


def _assigned(op: InstructionOp) -> None:
    if any(not cast("VmiVRegType", type).layout.data for type in types_of(op, "source", "result")):
        fail(op, "requires source and result to be layout-assigned")


def _concrete(op: InstructionOp) -> None:
    if any(cast("VmiMaskType", type).granularity.data == "pred" for type in types_of(op, "source", "result")):
        fail(op, "requires concrete source and result mask granularities")


# ---------------------------------------------------------------------------------------------
# By instruction
# ---------------------------------------------------------------------------------------------

_MATH = ("i8", "i16", "i32", "f16", "bf16", "f32")
_FLOATS = ("f16", "bf16", "f32")
_INTEGERS = ("i8", "i16", "i32")
_PMODE = _modes("merge", "zero")
_BINARY = (_alike("lhs", "rhs", "result"), _masked("mask", "result"), _PMODE)
_UNARY = (_alike("source", "result"), _masked("mask", "result"), _PMODE)
_SCALAR = (
    _scalar_of_element("scalar", "scalar type to match vector element type"), _alike("src", "result"),
    _masked("mask", "result"), _PMODE,
)  # fmt: skip
_BOTH = _alike("lhs", "rhs", "result")
_ONE = _alike("source", "result")
_FROM = (_of_memory("source", "result"), _in_vector_memory("source"))
_INTO = (_of_memory("destination", "value"), _in_vector_memory("destination"))
_STORE_MODE = _modes_of_stores
_FLOAT_SOURCES = _elements("source", "f16", "f32", what="source element type")
_REDUCES_FLOATS = (_of("source", floats=True, what="VMI source element type"), _FLOAT_SOURCES)
_REDUCES_INTEGERS = _elements(
    "source", *_INTEGERS, what="integer source element type", words="8-bit, 16-bit, or 32-bit"
)
_REDUCES_GROUPS = (
    _one_a_group("result"), _reduces_groups, _in_slots("result"), _masked("mask", "source"), _groups("source"),
)  # fmt: skip
_SHORT_GATHER = "requires ui16 result and passthru element type when using ui16 indices"
_SHORT_OFFSETS = "requires ui16 result element type when using ui16 offsets"

_SURFACE: dict[str, tuple[Rule, ...]] = {
    "constant": (_constant(False),),
    "constant_mask": (_constant(True),),
    "broadcast": (_broadcast,),
    "iota": (_counts,),
    "group_iota": (_counts, _counts_groups(always=True)),
    "create_group_mask": (_group_mask,),
    **dict.fromkeys(("mask_and", "mask_or", "mask_xor"), (_BOTH,)),
    "mask_not": (_ONE,),
    **dict.fromkeys(
        ("addf", "subf", "mulf", "minf", "maxf"), (_of("lhs", floats=True), _elements("lhs", *_FLOATS), _BOTH)
    ),
    "divf": (_of("lhs", floats=True), _elements("lhs", "f16", "f32"), _BOTH),
    **dict.fromkeys(
        ("addi", "subi", "andi", "ori", "xori", "shli"),
        (_of("lhs", integers=True), _elements("lhs", *_INTEGERS), _BOTH),
    ),
    "muli": (_of("lhs", integers=True), _elements("lhs", "i16", "i32"), _BOTH),
    **dict.fromkeys(("mini", "maxi"), (_elements("lhs", *_INTEGERS, what="integer-like VMI element type"), _BOTH)),
    "shrui": (_unsigned_shift, _elements("lhs", *_INTEGERS), _BOTH),
    "shrsi": (_elements("lhs", "si8", "si16", "si32", words="signed i8, i16, or i32"), _BOTH),
    **dict.fromkeys(("negf", "absf", "sqrt", "exp", "ln"), (_elements("source", "f16", "f32"), _ONE)),
    "negi": (_elements("source", *_INTEGERS), _ONE),
    "absi": (_of("source", integers=True), _elements("source", "si8", "si16", "si32"), _ONE),
    "not": (_of("source", integers=True), _elements("source", *_INTEGERS), _ONE),
    "relu": (_elements("source", "si32", "f16", "f32"), _ONE),
    "fma": (_elements("lhs", *_FLOATS), _alike("lhs", "rhs", "acc", "result")),
    "cmpf": (
        _of("lhs", floats=True), _elements("lhs", *_FLOATS), _alike("lhs", "rhs"), _masked("result", "lhs"),
    ),
    "cmpi": (
        _of("lhs", integers=True), _elements("lhs", *_INTEGERS), _alike("lhs", "rhs"), _masked("result", "lhs"),
    ),
    "select": (_alike("true_value", "false_value", "result"), _masked("mask", "result")),
    "reduce_addf": (
        _reassociates("requires reassoc attr because VPTO vcadd performs pair-wise floating-point reduction"),
        *_REDUCES_FLOATS, _reduces_to_one, _masked("mask", "source"),
    ),
    **dict.fromkeys(("reduce_maxf", "reduce_minf"), (*_REDUCES_FLOATS, _reduces_to_one, _masked("mask", "source"))),
    "reduce_addi": (
        _of("source", integers=True, what="VMI source element type"),
        _elements("source", "i32", what="integer source element type", words="32-bit"),
        _reduces_to_one, _masked("mask", "source"),
    ),
    **dict.fromkeys(("reduce_maxi", "reduce_mini"), (_REDUCES_INTEGERS, _reduces_to_one, _masked("mask", "source"))),
    "group_reduce_addf": (
        _reassociates("requires reassoc attr because grouped lowering uses pair-wise floating-point reductions"),
        *_REDUCES_FLOATS, *_REDUCES_GROUPS,
    ),
    **dict.fromkeys(("group_reduce_maxf", "group_reduce_minf"), (*_REDUCES_FLOATS, *_REDUCES_GROUPS)),
    **dict.fromkeys(
        ("group_reduce_maxi", "group_reduce_mini", "group_reduce_addi"),
        (_of("source", integers=True, what="VMI source element type"), _REDUCES_INTEGERS, *_REDUCES_GROUPS),
    ),
    "group_broadcast": (
        _one_a_group("source"), _divided, _same_elements, _in_slots("source"), _dense, _groups("result"),
    ),
    "compress": (_ONE, _masked("mask", "source")),
    **dict.fromkeys(("vdhist", "vchist"), (_histogram,)),
    "active_prefix_index": (_active_prefix, _masked("mask", "result")),
    "shuffle": (_shuffle,),
    "channel_split": (_split,),
    "channel_merge": (_merge,),
    "extf": (_resize(wider=True, kind="floating-point-like"),),
    "truncf": (_truncate_floats,),
    "fptosi": (_to_integers(signed=True),),
    "fptoui": (_to_integers(signed=False),),
    "sitofp": (_to_floats,),
    "extsi": (_resize(wider=True, kind="signed integer"),),
    "extui": (_resize(wider=True, kind="unsigned or signless integer"),),
    "trunci": (_resize(wider=False, kind="integer"),),
    "bitcast": (_same_bits, _same_layout),
    "ensure_layout": (_keeps_shape, _assigned),
    "ensure_mask_layout": (_keeps_mask, _assigned),
    "ensure_mask_granularity": (_keeps_lanes, _concrete, _layouts_of_both),
    "unpack": (_parts_of("source"),),
    "pack": (_parts_of("result"),),
    "load": _FROM,
    "deinterleave_load": (
        _alike("low", "high"), _of_memory("source", "low"), _in_vector_memory("source"),
        _contiguous(low="low result", high="high result"),
    ),
    "group_load": (*_FROM, _groups("result")),
    "group_slot_load": (_one_a_group("result"), *_FROM, _in_slots("result"), _groups("result")),
    "group_broadcast_load": (_divided, *_FROM, _dense, _groups("result")),
    "stride_load": (*_FROM, _masked("mask", "result")),
    **dict.fromkeys(
        ("masked_load", "expand_load"), (*_FROM, _alike("passthru", "result"), _masked("mask", "result"))
    ),
    "gather": (
        *_FROM, _offsets("indices"), _alike("indices", "passthru", "result", elements=False),
        _alike("passthru", "result"), _short_offsets("indices", _SHORT_GATHER), _masked("mask", "result"),
    ),
    "store": _INTO,
    "interleave_store": (
        _alike("low", "high"), _of_memory("destination", "low"), _in_vector_memory("destination"),
        _contiguous(low="low input", high="high input"),
    ),
    "group_store": (_of_group_memory, _in_vector_memory("destination"), _groups("value")),
    **dict.fromkeys(("masked_store", "compress_store", "stride_store"), (*_INTO, _masked("mask", "value"))),
    "scatter": (
        *_INTO, _offsets("indices"), _alike("value", "indices", elements=False), _masked("mask", "value"),
    ),
}  # fmt: skip
"""The rules of what vectors are computed by in the end."""

_RULES: dict[str, tuple[Rule, ...]] = {
    **_SURFACE,
    "vbrc": (_broadcast_groups,),
    "vci": (_counts, _counts_groups(always=False)),
    "pset": (one_of("pattern", "PAT_ALL", 'requires pattern to be "PAT_ALL"'), _concrete_mask("result")),
    "pge": (_pattern, _concrete_mask("result")),
    "plt": (_concrete_mask("mask"),),
    **dict.fromkeys(("vadd", "vsub", "vmin", "vmax"), (_elements("lhs", *_MATH), *_BINARY)),
    "vmul": (_elements("lhs", "i16", "i32", *_FLOATS), *_BINARY),
    "vdiv": (_elements("lhs", "f16", "f32"), *_BINARY),
    "vshl": (_of("lhs", integers=True), *_BINARY),
    "vshr": (_of("lhs", integers=True, words="integer"), *_BINARY),
    **dict.fromkeys(("vand", "vor", "vxor"), (_logic, _of("lhs", integers=True), *_BINARY)),
    "vnot": (_logic, _of("source", integers=True), *_UNARY),
    "vneg": (_elements("source", *_INTEGERS, "f16", "f32"), *_UNARY),
    "vabs": (_elements("source", "si8", "si16", "si32", *_FLOATS), *_UNARY),
    **dict.fromkeys(("vsqrt", "vexp", "vln"), (_elements("source", "f16", "f32"), *_UNARY)),
    "vrelu": (_elements("source", "si32", "f16", "f32"), *_UNARY),
    **dict.fromkeys(
        ("vaddc", "vaddcs"),
        (
            _elements("lhs", "i32", what="integer vector element types", words="32-bit"), _BOTH,
            _masked("mask", "lhs"), _masked("carry", "lhs"), _masked("carry_in", "lhs"),
            _alike("mask", "carry", "carry_in"),
        ),
    ),
    **dict.fromkeys(("vadds", "vmaxs", "vmins"), (_elements("src", *_MATH), *_SCALAR)),
    "vmuls": (_elements("src", "i16", "i32", "f16", "f32"), *_SCALAR),
    **dict.fromkeys(
        ("vshls", "vshrs"),
        (
            _of("src", integers=True, what="VMI element type for shift"), _alike("src", "result"),
            _masked("mask", "result"), _PMODE,
        ),
    ),
    "vmula": (
        _of("acc", floats=True, integers=True), _identical("acc, lhs, rhs, and result", "acc", "lhs", "rhs", "result"),
        _masked("mask", "result"), _PMODE,
    ),
    "vmull": (_vmull,),
    "vaxpy": (_float_vector, _identical("x, acc, and result", "x", "acc", "result"),
              _scalar_of_element("alpha", "alpha scalar type to match vector element type"),
              _masked("mask", "result"), _PMODE),
    "vlrelu": (_float_vector, _identical("x and result", "x", "result"),
               _scalar_of_element("slope", "slope scalar type to match vector element type"),
               _masked("mask", "result"), _PMODE),
    "vprelu": (_float_vector, _identical("x, alpha, and result", "x", "alpha", "result"),
               _masked("mask", "result"), _PMODE),
    "vexpdif": (_vexpdif, _masked("mask", "x"), _PMODE),
    "vcmp": (_elements("lhs", *_MATH), _predicate, _alike("lhs", "rhs"), _masked("seed", "lhs"), _seeded),
    "vcmps": (_elements("src", *_MATH), _predicate,
              _scalar_of_element("scalar", "scalar type to match vector element type"), _masked("seed", "src"),
              _seeded),
    "vsel": (_alike("true_value", "false_value", "result"), _masked("mask", "result"), _PMODE),
    "vcadd": (_of("source", floats=True, integers=True), _reassociates("floating add-reduction requires reassoc attr"),
              _masked("mask", "source"), _reduces, _PMODE),
    **dict.fromkeys(
        ("vcmax", "vcmin"), (_of("source", floats=True, integers=True), _masked("mask", "source"), _reduces, _PMODE)
    ),
    "vselr": (_vselr,),
    **dict.fromkeys(
        ("vintlv", "vdintlv"), (_alike("lhs", "rhs", "low", "high", layout=False), _masked("mask", "lhs"), _PMODE)
    ),
    "vcvt": (_convert, _PMODE),
    "vinterpret_cast": (_same_bits, _same_layout),
    "vsstb": (*_INTO, _STORE_MODE, _masked("mask", "value")),
    "vgather": (_in_vector_memory("source"), _of_memory("source", "result"), _offsets("offsets"),
                _alike("offsets", "result", elements=False), _masked("mask", "result"),
                _short_offsets("offsets", _SHORT_OFFSETS), _PMODE),
    "vgatherb": (_in_vector_memory("source"), _of_memory("source", "result"), _offsets("offsets"),
                 _masked("mask", "result"), _PMODE),
    "vscatter": (_in_vector_memory("destination"), _of_memory("destination", "value"), _offsets("offsets"),
                 _alike("value", "offsets", elements=False), _masked("mask", "value"), _PMODE),
}  # fmt: skip

_COMPUTED_BY: Mapping[str, tuple[str, str]] = {
    "vadd": ("addf", "addi"), "vsub": ("subf", "subi"), "vmul": ("mulf", "muli"), "vdiv": ("divf", ""),
    "vmin": ("minf", "mini"), "vmax": ("maxf", "maxi"), "vand": ("", "andi"), "vor": ("", "ori"), "vxor": ("", "xori"),
    "vshl": ("", "shli"), "vneg": ("negf", "negi"), "vsqrt": ("sqrt", ""), "vexp": ("exp", ""), "vln": ("ln", ""),
    "vrelu": ("relu", "relu"), "vnot": ("", "not"), "vmula": ("fma", "fma"),
    "vcadd": ("reduce_addf", "reduce_addi"), "vcmax": ("reduce_maxf", "reduce_maxi"),
    "vcmin": ("reduce_minf", "reduce_mini"), "vinterpret_cast": ("bitcast", "bitcast"),
}  # fmt: skip
"""What instructions for any elements are computed by: by one for floats, and one for integers; empty if by neither."""


def _computed(name: str) -> Rule:
    """Return the rule that what an instruction is computed by accepts its operands too."""
    floats, integers = _COMPUTED_BY[name]

    def rule(op: InstructionOp) -> None:
        vectors = [type for type in types_of(op, *op.operand_groups) if isinstance(type, VmiVRegType)]
        if not vectors:
            return
        used = floats if is_float(vectors[0].element_type) else integers
        if op.attribute("group") is not None:
            return
        for each in _SURFACE.get(used, ()):
            each(op)

    return rule


_COMPLETE = {name: (*rules, *([_computed(name)] if name in _COMPUTED_BY else [])) for name, rules in _RULES.items()}

VECTOR_RULES: Mapping[str, Rule] = {f"vmi.{name}": all_of(*rules) for name, rules in _COMPLETE.items()}
"""The rules by the name of the row."""
