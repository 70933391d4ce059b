"""Pass `vmi-lower-unified-to-legacy`: instructions for any elements and modes, by those that layouts are chosen for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    StringAttr,
    TensorType,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ..analysis.pto.vector_layout.layouts import bits_of, contiguous, is_contiguous, layout_of, with_layout
from ..analysis.pto.vector_layout.rewriting import insert_before
from ..analysis.pto.vector_layout.transfer import operation_name
from ..dialects.pto.instruction_operation import InstructionOp
from ..dialects.pto.memory import constant_value
from ..dialects.pto.registers import VmiMaskType, VmiVRegType
from ..dialects.pto.rules import is_float, is_signed, number_of, signedness, word_of
from ..dialects.pto.strided_vectors import VmiVloadOp, VmiVstoreOp
from ..dialects.traversal import walk


@dataclass(frozen=True)
class VmiLowerUnifiedToLegacyPass(ModulePass):
    """Replaces instructions on vectors of any length (`pto.vmi`) that take any elements or modes, such as `vadd`,
    `vcvt` and `vload`, by those for one: `addf` or `addi`, `truncf`, `group_load`. Leaves alone what has no such form,
    as what keeps elements whose bit is off (`pmode = "merge"`)."""

    name = "vmi-lower-unified-to-legacy"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # Users before what they use: a mask that its user needs no longer then has none.
        for each in reversed(list(walk(op))):
            lowering = _LOWERINGS.get(operation_name(each))
            if isinstance(each, VmiVloadOp | VmiVstoreOp):
                _lower_memory(each)
            elif operation_name(each) == "pset" and not each.results[0].uses:
                Rewriter.erase_op(each)
            elif lowering is not None and isinstance(each, InstructionOp) and word_of(each, "pmode") != "merge":
                results = lowering(each)
                if results is not None:
                    _replace(each, results)


Lowering: TypeAlias = "Callable[[InstructionOp], Sequence[SSAValue] | None]"
"""Inserts what an operation becomes in front of it, and returns what its results are; None to leave it."""


def _replace(op: Operation, results: Sequence[SSAValue]) -> None:
    for old, new in zip(op.results, results, strict=True):
        old.replace_all_uses_with(new)
    Rewriter.erase_op(op)


def _constant(before: Operation, value: int, type: IntegerType | IndexType) -> SSAValue:
    made = arith.ConstantOp(IntegerAttr(value, type))
    made.location = before.location
    Rewriter.insert_op(made, InsertPoint.before(before))
    return made.result


def _kept(op: Operation, *names: str) -> dict[str, Attribute]:
    """Return attributes of an operation that what replaces it has too."""
    return {name: op.attributes[name] for name in names if name in op.attributes}


def _emit(
    op: InstructionOp, name: str, operands: Sequence[SSAValue], attributes: Mapping[str, Attribute] | None = None
) -> SSAValue:
    return insert_before(op, name, operands, [op.results[0].type], attributes).results[0]


def _operands(op: InstructionOp, *names: str) -> list[SSAValue]:
    return [value for name in names if (value := op.operand(name)) is not None]


def _vector(value: SSAValue) -> VmiVRegType:
    assert isinstance(value.type, VmiVRegType)
    return value.type


def _has_floats(value: SSAValue) -> bool:
    return is_float(_vector(value).element_type)


# ---------------------------------------------------------------------------------------------
# Elementwise
# ---------------------------------------------------------------------------------------------


def _by_elements(floats: str, integers: str, *names: str) -> Lowering:
    """Return the lowering to one operation on floats and one on integers."""

    def lower(op: InstructionOp) -> Sequence[SSAValue] | None:
        name = floats if _has_floats(op.results[0]) else integers
        return [_emit(op, name, _operands(op, *names))] if name else None

    return lower


def _renamed(name: str, *operands: str, kept: tuple[str, ...] = ()) -> Lowering:
    return lambda op: [_emit(op, name, _operands(op, *operands), _kept(op, *kept))]


def _logic(mask: str, integers: str, *names: str) -> Lowering:
    def lower(op: InstructionOp) -> Sequence[SSAValue]:
        name = mask if isinstance(op.results[0].type, VmiMaskType) else integers
        return [_emit(op, name, _operands(op, *names))]

    return lower


def _shift_right(op: InstructionOp) -> Sequence[SSAValue]:
    name = "shrsi" if is_signed(_vector(op.results[0]).element_type) else "shrui"
    return [_emit(op, name, _operands(op, "lhs", "rhs"))]


def _absolute(op: InstructionOp) -> Sequence[SSAValue]:
    """Emit absolute values; those of bf16 by clearing the sign bit."""
    source, result = op.operands[0], _vector(op.results[0])
    if str(result.element_type) != "bf16":
        return [_emit(op, "absf" if _has_floats(op.results[0]) else "absi", [source])]
    bits = VmiVRegType(result.count, i16, result.layout)
    as_bits = insert_before(op, "bitcast", [source], [bits]).results[0]
    mask = insert_before(op, "broadcast", [_constant(op, 0x7FFF, i16)], [bits]).results[0]
    cleared = insert_before(op, "andi", [as_bits, mask], [bits]).results[0]
    return [_emit(op, "bitcast", [cleared])]


def _multiply_add(op: InstructionOp) -> Sequence[SSAValue] | None:
    """Emit products of floats that are added; none of integers."""
    return [_emit(op, "fma", _operands(op, "lhs", "rhs", "acc"))] if _has_floats(op.results[0]) else None


def _scaled_sum(op: InstructionOp) -> Sequence[SSAValue]:
    factor = _emit(op, "broadcast", _operands(op, "alpha"))
    return [_emit(op, "fma", [factor, *_operands(op, "x", "acc")])]


def _zero(op: InstructionOp) -> SSAValue:
    type = _vector(op.results[0])
    if isinstance(type.element_type, AnyFloat):
        floats = TensorType(type.element_type, [type.count.data])
        return _emit(op, "constant", [], {"value": DenseIntOrFPElementsAttr.from_list(floats, [0.0])})
    # Elements that no constant has are zero as their bits are.
    sign = signedness(type.element_type) or Signedness.SIGNLESS
    integers = TensorType(IntegerType(bits_of(type), sign), [type.count.data])
    return _emit(op, "constant", [], {"value": DenseIntOrFPElementsAttr.from_list(integers, [0])})


def _leaky(slope: Callable[[InstructionOp], SSAValue]) -> Lowering:
    """Return the lowering of a rectifier that scales what is negative."""

    def lower(op: InstructionOp) -> Sequence[SSAValue]:
        (x,) = _operands(op, "x")
        zero = _zero(op)
        positive, negative = _emit(op, "maxf", [x, zero]), _emit(op, "minf", [x, zero])
        scaled = _emit(op, "mulf", [slope(op), negative])
        return [_emit(op, "addf", [positive, scaled])]

    return lower


# ---------------------------------------------------------------------------------------------
# Comparisons, masks, conversions
# ---------------------------------------------------------------------------------------------


def _is_all(mask: SSAValue) -> bool:
    """Return True for a mask whose bits are all on."""
    if not isinstance(mask, OpResult) or not isinstance(mask.type, VmiMaskType):
        return False
    name = operation_name(mask.op)
    active = constant_value(mask.op.operands[0]) if name == "create_mask" else None
    return name == "pset" or (active is not None and active >= mask.type.count.data)


def _compare(op: InstructionOp) -> Sequence[SSAValue]:
    first = op.operands[0]
    floats, element = _has_floats(first), _vector(first).element_type
    mode = word_of(op, "cmp") or ""
    if floats:
        mode = mode if mode[:1] in ("o", "u") else f"o{mode}"
    elif mode[:1] not in ("s", "u") and mode not in ("eq", "ne"):
        mode = f"{'s' if is_signed(element) or not isinstance(element, IntegerType) else 'u'}{mode}"
    second = op.operands[1]
    if operation_name(op) == "vcmps":
        second = insert_before(op, "broadcast", [second], [first.type]).results[0]
    made = _emit(op, "cmpf" if floats else "cmpi", [first, second], {"predicate": StringAttr(mode)})
    (seed,) = _operands(op, "seed")
    return [made if _is_all(seed) else _emit(op, "mask_and", [made, seed])]


def _all(op: InstructionOp) -> Sequence[SSAValue]:
    mask = op.results[0].type
    assert isinstance(mask, VmiMaskType)
    return [_emit(op, "create_mask", [_constant(op, mask.count.data, IndexType())])]


def _first(op: InstructionOp) -> Sequence[SSAValue]:
    mask, groups = op.results[0].type, number_of(op, "group")
    assert isinstance(mask, VmiMaskType)
    digits = (word_of(op, "pattern") or "").removeprefix("PAT_VL")
    active = _constant(op, int(digits) if digits.isdecimal() and int(digits) else 16, IndexType())
    if groups is None:
        return [_emit(op, "create_mask", [active])]
    sizes = {"num_groups": groups, "group_size": mask.count.data // groups}
    return [_emit(op, "create_group_mask", [active], {name: IntegerAttr(size, i64) for name, size in sizes.items()})]


def _rest(op: InstructionOp) -> Sequence[SSAValue]:
    """Emit the mask of as many elements as a number says, and what is left of the number."""
    mask = op.results[0].type
    assert isinstance(mask, VmiMaskType)
    rest = op.operands[0]
    active = arith.MinSIOp(rest, _constant(op, mask.count.data, i32))
    index = arith.IndexCastOp(active.result, IndexType())
    left = arith.SubiOp(rest, active.result)
    for each in (active, index, left):
        each.location = op.location
        Rewriter.insert_op(each, InsertPoint.before(op))
    return [_emit(op, "create_mask", [index.result]), left.result]


def _convert(op: InstructionOp) -> Sequence[SSAValue] | None:
    source, result = _vector(op.operands[0]), _vector(op.results[0])
    wider = bits_of(result) > bits_of(source)
    modes = _kept(op, "rounding", "saturate")
    if is_float(source.element_type):
        if is_float(result.element_type):
            name = "extf" if wider else "truncf"
        else:
            name = "fptosi" if is_signed(result.element_type) else "fptoui"
    elif is_float(result.element_type):
        name = "sitofp"
    elif wider:
        name = "extsi" if is_signed(source.element_type) else "extui"
    else:
        name = "trunci"
    return [_emit(op, name, [op.operands[0]], {} if name in ("extf", "extsi", "extui", "sitofp") else modes)]


def _count_up(op: InstructionOp) -> Sequence[SSAValue]:
    """Emit numbers that count; those that do in each group in order, then brought into another layout."""
    groups, result = number_of(op, "group"), _vector(op.results[0])
    if groups is None or groups <= 1:
        return [_emit(op, "iota", [op.operands[0]], _kept(op, "order"))]
    attributes, layout = _kept(op, "order", "group"), layout_of(result)
    if layout is None or is_contiguous(layout):
        return [_emit(op, "group_iota", [op.operands[0]], attributes)]
    in_order = insert_before(op, "group_iota", [op.operands[0]], [with_layout(result, contiguous())], attributes)
    return [_emit(op, "ensure_layout", [in_order.results[0]])]


def _repeat(op: InstructionOp) -> Sequence[SSAValue]:
    groups = op.attribute("group")
    if groups is None:
        return [_emit(op, "broadcast", [op.operands[0]])]
    return [_emit(op, "group_broadcast", [op.operands[0]], {"num_groups": groups})]


def _reduce(name: str) -> Lowering:
    """Return the lowering of a reduction: of groups, of which one is the whole vector unless it has a layout."""

    def lower(op: InstructionOp) -> Sequence[SSAValue]:
        groups = op.attribute("group")
        if groups is None and layout_of(op.results[0].type) is None:
            groups = IntegerAttr(1, i64)
        kind = "f" if isinstance(_vector(op.operands[0]).element_type, AnyFloat) else "i"
        attributes = _kept(op, "reassoc") if (name, kind) == ("add", "f") else {}
        operands = _operands(op, "source", "mask")
        if groups is None:
            return [_emit(op, f"reduce_{name}{kind}", operands, attributes)]
        return [_emit(op, f"group_reduce_{name}{kind}", operands, {"num_groups": groups, **attributes})]

    return lower


# ---------------------------------------------------------------------------------------------
# Memory
# ---------------------------------------------------------------------------------------------


def _gather(op: InstructionOp) -> Sequence[SSAValue]:
    """Emit a load of elements at offsets; those whose bit is off are zero."""
    return [_emit(op, "gather", [*_operands(op, "source", "offsets", "mask"), _zero(op)])]


def _scatter(op: InstructionOp) -> Sequence[SSAValue]:
    insert_before(op, "scatter", _operands(op, "value", "destination", "offsets", "mask"), [])
    return []


def _store_blocks(op: InstructionOp) -> Sequence[SSAValue]:
    value, destination, offset, stride, mask = _operands(op, "value", "destination", "offset", "block_stride", "mask")
    rows = _constant(op, 0, i16)
    insert_before(op, "stride_store", [value, destination, offset, stride, rows, mask], [])
    return []


_COMPACT = (1, 2, 4, 8)
"""The lengths of vectors that are loaded and stored as an element for each group."""


def _full_mask(op: Operation, type: VmiVRegType) -> SSAValue:
    mask = VmiMaskType(type.count, StringAttr(f"b{bits_of(type)}"), type.layout)
    return insert_before(op, "create_mask", [_constant(op, type.count.data, IndexType())], [mask]).results[0]


def _lower_memory(op: VmiVloadOp | VmiVstoreOp) -> None:
    results = _load(op) if isinstance(op, VmiVloadOp) else _store(op)
    if results is not None:
        _replace(op, results)


def _load(op: VmiVloadOp) -> Sequence[SSAValue] | None:
    type = _vector(op.loaded[0])
    count = type.count.data
    group, mode = op.attributes.get("group"), _mode(op)
    where = [op.source, op.offset]

    def emit(name: str, operands: Sequence[SSAValue], attributes: Mapping[str, Attribute] | None = None) -> SSAValue:
        return insert_before(op, name, operands, [type], attributes).results[0]

    if isinstance(group, IntegerAttr) and op.stride is not None:
        groups = cast("IntegerAttr[IntegerType]", group)
        name = "group_slot_load" if count == groups.value.data else "group_load"
        name = "group_broadcast_load" if mode == "brc" else name
        return [emit(name, [*where, op.stride], {"num_groups": groups})]
    if op.block_stride is not None and op.repeat_stride is not None:
        return [emit("stride_load", [*where, op.block_stride, op.repeat_stride, _full_mask(op, type)])]
    if op.attributes.get("pmode") == StringAttr("merge"):
        return None
    match mode:
        case "continuous" if count in _COMPACT:
            one = _constant(op, 1, IndexType())
            return [emit("group_slot_load", [*where, one], {"num_groups": IntegerAttr(count, i64)})]
        case "continuous":
            return [emit("load", where)]
        case "dintlv":
            return list(insert_before(op, "deinterleave_load", where, [value.type for value in op.loaded]).results)
        case "brc":
            none = _constant(op, 0, IndexType())
            return [emit("group_broadcast_load", [*where, none], {"num_groups": IntegerAttr(1, i64)})]
        case _:
            return None


def _store(op: VmiVstoreOp) -> Sequence[SSAValue] | None:
    type = _vector(op.stored[0])
    count = type.count.data
    group, mode = op.attributes.get("group"), _mode(op)
    where = [op.destination, op.offset]
    if group is not None and op.stride is not None:
        insert_before(op, "group_store", [op.stored[0], *where, op.stride], [], {"num_groups": group})
    elif op.block_stride is not None and op.repeat_stride is not None:
        mask = op.mask[0] if op.mask else _full_mask(op, type)
        insert_before(op, "stride_store", [op.stored[0], *where, op.block_stride, op.repeat_stride, mask], [])
    elif mode == "dintlv":
        insert_before(op, "interleave_store", [*op.stored, *where], [])
    elif mode != "continuous":
        return None
    elif count in _COMPACT and (not op.mask or _is_all(op.mask[0])):
        one = _constant(op, 1, IndexType())
        insert_before(op, "group_store", [op.stored[0], *where, one], [], {"num_groups": IntegerAttr(count, i64)})
    elif op.mask:
        insert_before(op, "masked_store", [op.stored[0], *where, op.mask[0]], [])
    else:
        insert_before(op, "store", [op.stored[0], *where], [])
    return []


def _mode(op: VmiVloadOp | VmiVstoreOp) -> str:
    found = op.attributes.get("dist_mode")
    return found.data if isinstance(found, StringAttr) else "continuous"


_BINARY = ("lhs", "rhs")
_LOWERINGS: Mapping[str, Lowering] = {
    **{f"v{each}": _by_elements(f"{each}f", f"{each}i", *_BINARY) for each in ("add", "sub", "mul", "min", "max")},
    "vdiv": _by_elements("divf", "", *_BINARY),
    "vshl": _renamed("shli", *_BINARY),
    "vshr": _shift_right,
    **{f"v{each}": _logic(f"mask_{each}", f"{each}i", *_BINARY) for each in ("and", "or", "xor")},
    "vnot": _logic("mask_not", "not", "source"),
    "vneg": _by_elements("negf", "negi", "source"),
    "vabs": _absolute,
    **{f"v{each}": _renamed(each, "source") for each in ("sqrt", "exp", "ln", "relu")},
    "vmula": _multiply_add,
    "vaxpy": _scaled_sum,
    "vlrelu": _leaky(lambda op: _emit(op, "broadcast", _operands(op, "slope"))),
    "vprelu": _leaky(lambda op: _operands(op, "alpha")[0]),
    **dict.fromkeys(("vcmp", "vcmps"), _compare),
    "vsel": _renamed("select", "mask", "true_value", "false_value"),
    "vcvt": _convert,
    "vinterpret_cast": _renamed("bitcast", "source"),
    "vci": _count_up,
    "vbrc": _repeat,
    "pset": _all,
    "pge": _first,
    "plt": _rest,
    **{f"vc{each}": _reduce(each) for each in ("add", "max", "min")},
    "vgather": _gather,
    "vscatter": _scatter,
    "vsstb": _store_blocks,
}
