"""Rules of code for the threads of the vector core (SIMT), in upstream's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    Float64Type,
    SymbolRefAttr,
    UnitAttr,
    VectorType,
)
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Operation
from xdsl.traits import ConstantLike

from ...targets.chip import MAX_KEPT_WORDS, MAX_THREADS
from .attributes import AddressSpace
from .instruction_operation import InstructionOp
from .kernels import ancestors, fail, function_of, peer_function
from .rules import (
    Rule,
    all_of,
    is_float8,
    is_integer,
    memory_element,
    number_of,
    same_types,
    signedness,
    space_of,
    type_of,
    types_of,
    width,
    word_of,
)
from .types import F4E1M2x2Type, F4E2M1x2Type, HiF8Type, HiF8x2Type

_ENTRY = "pto.simt_entry"
_SECTION = "pto.section.simt"
_ENTRIES = ("pto.entry", "hacc.entry", "pto.kernel", "pto.aicore")
"""The attributes of functions that a launch starts."""


def _is_thread_code(op: Operation) -> bool:
    function = function_of(op)
    if function is not None and _ENTRY in function.attributes:
        return True
    return any(parent.name == _SECTION for parent in ancestors(op))


def _in_thread_code(op: InstructionOp) -> None:
    if not _is_thread_code(op):
        fail(op, f"must appear inside a function marked with '{_ENTRY}' or inside {_SECTION}")


def _is_number(type: Attribute, *widths: int) -> bool:
    return signedness(type) is not None and width(type) in widths


# ---------------------------------------------------------------------------------------------
# Launches
# ---------------------------------------------------------------------------------------------


def _section(op: InstructionOp) -> None:
    function = function_of(op)
    if function is None:
        fail(op, "must be nested under a func.func")
    sizes = [number_of(op, name) or 0 for name in ("dimX", "dimY", "dimZ")]
    if any(size < 0 for size in sizes):
        fail(op, "requires non-negative i32 launch dimensions")
    if _ENTRY in function.attributes:
        fail(op, f"must not appear inside a function marked with '{_ENTRY}'")
    if any(parent.name == _SECTION for parent in ancestors(op)):
        fail(op, "nested pto.section.simt is not allowed")
    if not 0 < sizes[0] * sizes[1] * sizes[2] <= MAX_THREADS:
        fail(
            op,
            f"SIMT launch dimensions must have a positive product no greater than {MAX_THREADS}, got "
            f"({sizes[0]}, {sizes[1]}, {sizes[2]})",
        )
    for constant in (each for each in op.walk() if isinstance(each, arith.ConstantOp)):
        type = constant.result.type
        if is_float8(cast("VectorType[Attribute]", type).element_type if isinstance(type, VectorType) else type):
            fail(
                constant,
                "does not support directly constructed FP8 constants in the VPTO backend; produce FP8 values with "
                "pto.convert",
            )


def _outside_of_threads(op: InstructionOp) -> None:
    function = function_of(op)
    if function is not None and _ENTRY in function.attributes:
        fail(
            op,
            f"must not appear inside a function marked with '{_ENTRY}'; configure SIMT launch info in the outer "
            "non-simt caller instead",
        )


def _launch(op: InstructionOp) -> None:
    around, symbol = function_of(op), op.attribute("callee")
    if around is not None and _ENTRY in around.attributes:
        fail(
            op,
            f"must not appear inside a function marked with '{_ENTRY}'; launch the SIMT entry from an outer non-simt "
            "function",
        )
    if not isinstance(symbol, SymbolRefAttr):
        return
    name, callee = symbol.root_reference.data, peer_function(op, symbol)
    if callee is None:
        fail(op, f"'{name}' does not reference a valid function")
    if _ENTRY not in callee.attributes:
        fail(op, f"callee '{name}' must be marked with '{_ENTRY}'")
    if callee.function_type.outputs.data:
        fail(op, "requires a callee with no results")
    wanted, given = callee.function_type.inputs.data, types_of(op, "args")
    if len(wanted) != len(given):
        fail(op, "incorrect number of operands for callee")
    for place, (one, other) in enumerate(zip(wanted, given, strict=True)):
        if one != other:
            fail(
                op,
                f"operand type mismatch: expected operand type {one}, but provided {other} for operand number {place}",
            )


# ---------------------------------------------------------------------------------------------
# Values that threads keep from one section to the next
# ---------------------------------------------------------------------------------------------


def _words(type: Attribute) -> int | None:
    """Return how many slots a value takes; None for what has none."""
    if signedness(type) is not None:
        return 1 if width(type) <= 32 else 2 if width(type) == 64 else None
    return 1 if str(type) in ("f16", "bf16", "f32") else None


def _slot(name: str, what: str) -> Rule:
    """Return the rule of the slots of a value that is kept."""

    def rule(op: InstructionOp) -> None:
        _in_thread_code(op)
        slot, type = number_of(op, "slot") or 0, type_of(op, name)  # declared, so it is there
        if not 0 <= slot < MAX_KEPT_WORDS:
            fail(op, f"requires slot in range [0, {MAX_KEPT_WORDS - 1}]")
        if not (signedness(type) is not None and width(type) <= 64) and _words(type) is None:
            fail(op, f"supports integer scalar {what} up to 64 bits and f16/bf16/f32 {what}")
        if _words(type) == 2:
            if slot % 2:
                fail(op, "requires an even slot for 64-bit keep/resume values")
            if slot + 1 >= MAX_KEPT_WORDS:
                fail(op, f"requires slot in range [0, {MAX_KEPT_WORDS - 2}] for 64-bit keep/resume values")

    return rule


def _twice(op: InstructionOp, group: Sequence[Operation], what: str) -> None:
    """Raise VerifyException if an operation of the group before `op` has one of its slots."""
    used = set[int]()
    for each in group:
        slot = number_of(each, "slot") if isinstance(each, InstructionOp) else None
        if slot is None:
            continue
        value = each.results[0] if each.results else each.operands[0]
        own = set(range(slot, slot + (_words(value.type) or 0)))
        if each is op and used & own:
            fail(op, f"duplicates an earlier slot {slot} in the SIMT {what} group")
        used |= own


def _keeps_at_end(op: InstructionOp) -> None:
    """Check that values are kept at the end, before waiting for other threads."""
    block = op.parent_block()
    last = None if block is None else block.last_op
    if not any(parent.name == _SECTION for parent in ancestors(op)):
        last = last.prev_op if isinstance(last, ReturnOp) else None
    if last is None:
        fail(op, "must be placed in the SIMT epilogue before func.return or the end of pto.section.simt")
    while last is not None and last.name == "pto.syncthreads":
        last = last.prev_op
    group = list(_run(last, op.name, forward=False))[::-1]
    if not group:
        fail(
            op,
            "must be placed in the SIMT epilogue before func.return; only 'pto.syncthreads' may appear between the "
            "final 'pto.keep' group and func.return or the end of pto.section.simt",
        )
    if op not in group:
        fail(
            op,
            "must be in the contiguous SIMT keep epilogue group immediately before optional 'pto.syncthreads' and "
            "func.return or the end of pto.section.simt",
        )
    _twice(op, group, "keep epilogue")


def _run(op: Operation | None, name: str, *, forward: bool) -> Iterator[Operation]:
    """Yield operations of a name that follow each other, from one on."""
    while op is not None and op.name == name:
        yield op
        op = op.next_op if forward else op.prev_op


def _first(block: Block) -> Operation | None:
    return next((op for op in block.ops if not op.has_trait(ConstantLike)), None)


def _resumes_at_start(op: InstructionOp) -> None:
    block = op.parent_block()
    group = [] if block is None else list(_run(_first(block), op.name, forward=True))
    if op not in group:
        fail(op, "must be in the contiguous SIMT resume prologue group after constant-like operations")
    _twice(op, group, "resume prologue")


# ---------------------------------------------------------------------------------------------
# Exchanges, atomics
# ---------------------------------------------------------------------------------------------

_SHUFFLED = (16, 32)


def _shuffle_width(op: InstructionOp) -> None:
    if op.attribute("width") is not None and number_of(op, "width") not in _SHUFFLED:
        fail(op, "requires width to be 16 or 32")


def _reduction(*, needs_sign: bool) -> Rule:
    def rule(op: InstructionOp) -> None:
        sign = op.attribute("signedness")
        if signedness(type_of(op, "value")) is None:
            if sign is not None:
                fail(op, "does not accept signedness for floating-point redux")
        elif sign is None and needs_sign:
            fail(op, "requires explicit signedness for integer redux")

    return rule


def _atomic(op: InstructionOp) -> None:
    pointer, value = type_of(op, "ptr"), type_of(op, "value")
    if type_of(op, "old") != value:
        fail(op, "requires atomic result type to match value type")
    if memory_element(pointer) != value:
        fail(op, "requires atomic value type to match pointer element type")
    space = space_of(pointer)
    if space not in (AddressSpace.GM, AddressSpace.VEC):
        fail(op, "requires GM or UB pointer")
    if space is AddressSpace.VEC and _is_number(value, 64):
        fail(op, "does not support i64 UB-space atomics")
    if op.row.name in ("atomic_and", "atomic_or", "atomic_xor") and not is_integer(value):
        fail(op, "requires integer type for bitwise atomics")
    if op.attribute("signedness") is not None and not is_integer(value):
        fail(op, "does not accept signedness for floating-point atomics")
    if isinstance(value, VectorType):
        if not _is_thread_code(op):
            fail(op, "requires packed atomics to be inside a pto.simt_entry function or pto.section.simt on beta.1")
        if op.results[0].first_use is not None:
            fail(
                op,
                "does not support using the old value result for packed atomics on beta.1; leave the result unused",
            )


# ---------------------------------------------------------------------------------------------
# Loads and stores
# ---------------------------------------------------------------------------------------------


def element_access(op: InstructionOp) -> None:
    """Check that a load or store is of an element that the pointer is to."""
    if type_of(op, "value") != memory_element(type_of(op, "ptr")):
        fail(op, f"expects {op.row.name} value type to match pointer element type")


_SUPPORTED = (
    "currently supports 8/16/32/64-bit integer, f16/bf16/f32/f64/fp8/hif8, packed vector<2xT> (T = "
    "f16/bf16/f32/i8/i16/i32), packed vector<2/4/8xfp8>, and !pto.hif8x2 value type"
)


def _is_accessible(type: Attribute) -> bool:
    """Return True for what a thread may load and store."""
    if isinstance(type, VectorType):
        vector = cast("VectorType[Attribute]", type)
        shape, element = vector.get_shape(), vector.element_type
        if is_float8(element):
            return shape in ((2,), (4,), (8,))
        return shape == (2,) and (_is_number(element, 8, 16, 32) or str(element) in ("f16", "bf16", "f32"))
    if _is_number(type, 8, 16, 32, 64) or isinstance(type, Float64Type | HiF8Type | HiF8x2Type) or is_float8(type):
        return True
    return str(type) in ("f16", "bf16", "f32")


def _global(op: InstructionOp) -> None:
    if space_of(type_of(op, "ptr")) is not AddressSpace.GM:
        fail(op, "requires GM pointer")


def _accessible(op: InstructionOp) -> None:
    if not _is_accessible(type_of(op, "value")):
        fail(op, _SUPPORTED)


def _in_threads(op: InstructionOp) -> None:
    if not _is_thread_code(op):
        fail(op, "must be inside a pto.simt_entry function or pto.section.simt")


def _past_caches(op: InstructionOp) -> None:
    if any(op.attribute(name) is not None for name in ("l1cache", "l2cache")):
        fail(op, "does not accept l1cache or l2cache policy attributes")


def _by_core(op: InstructionOp) -> None:
    """Check that the scalar unit of a kernel executes it, not threads."""
    if _is_thread_code(op):
        fail(op, "must be outside pto.simt_entry functions and pto.section.simt")
    function = function_of(op)
    if function is None or not any(isinstance(function.attributes.get(name), UnitAttr) for name in _ENTRIES):
        fail(op, "requires an enclosing ordinary AICore entry function")


# ---------------------------------------------------------------------------------------------
# Conversions
# ---------------------------------------------------------------------------------------------


def _packed_kind(type: Attribute) -> str | None:
    """Return the kind of several numbers that are converted at once; None for what is not."""
    if isinstance(type, HiF8x2Type):
        return "hif8x2"
    if isinstance(type, F4E1M2x2Type | F4E2M1x2Type):
        return "f4"
    if not isinstance(type, VectorType):
        return None
    vector = cast("VectorType[Attribute]", type)
    name = "f8" if is_float8(vector.element_type) else str(vector.element_type)
    return f"{name}x2" if vector.get_shape() == (2,) and name in ("f16", "bf16", "f32", "f8") else None


_BOTH_WAYS = "bf16x2-to-f4 and f4-to-bf16x2"
_PACKED: dict[tuple[str, str], tuple[str, str]] = {
    ("f32x2", "f16x2"): ("rafczo", "f32x2-to-f16x2"),
    ("f32x2", "bf16x2"): ("rafcz", "f32x2-to-bf16x2"),
    **{(source, "f32x2"): ("rafcz", "packed-to-f32x2") for source in ("f16x2", "bf16x2")},
    ("f32x2", "f8x2"): ("r", "f32x2-to-f8x2"),
    **{(source, "hif8x2"): ("ah", "f32x2/f16x2-to-hif8x2") for source in ("f32x2", "f16x2")},
    **{
        (source, result): ("rafcz", "f8x2/hif8x2-to-f32x2/f16x2")
        for source in ("f8x2", "hif8x2")
        for result in ("f32x2", "f16x2")
    },
    ("bf16x2", "f4"): ("rafcz", _BOTH_WAYS),
    ("f4", "bf16x2"): ("rafcz", _BOTH_WAYS),
}
"""The modes that conversions of several numbers round by, and their names."""


def _check_mode(op: InstructionOp, modes: str, what: str) -> None:
    if word_of(op, "rounding") not in (None, *modes):
        fail(op, f"{what} conversion supports rounding {'/'.join(modes)}")


def _convert(op: InstructionOp) -> None:
    source, result, sign = type_of(op, "src"), type_of(op, "dst"), op.attribute("signedness")
    integers = [signedness(type) is not None for type in (source, result)]
    packed = [_packed_kind(type) for type in (source, result)]
    if any(packed):
        if any(integers):
            fail(op, "does not support mixed integer and packed conversion")
        if sign is not None:
            fail(op, "does not accept signedness for packed floating conversion")
        if packed[0] is None or packed[1] is None:
            fail(op, "does not support mixed scalar and packed conversion")
        row = _PACKED.get((packed[0], packed[1]))
        if row is None:
            fail(
                op,
                "unsupported packed conversion type pair; supported packed pairs are f32x2-to-f16x2, f16x2-to-f32x2, "
                "f32x2-to-bf16x2, and bf16x2-to-f32x2, f32x2-to-f8x2, f32x2/f16x2-to-hif8x2, "
                "f8x2/hif8x2-to-f32x2/f16x2, and bf16x2-to/from-f4",
            )
        _check_mode(op, *row)
        return
    if all(integers):
        fail(op, "does not support integer-to-integer conversion")
    if any(integers) and sign is None:
        fail(op, "requires signedness when converting to or from integer type")
    if not any(integers) and sign is not None:
        fail(op, "does not accept signedness for floating-to-floating conversion")
    if integers[0]:
        if width(source) == 64 and str(result) != "f32":
            fail(op, "supports i64 conversion only to f32 in the confirmed slice")
        _check_mode(op, "rafcz", "integer-to-floating")
        return
    if _is_number(result, 64) and str(source) != "f32":
        fail(op, "supports conversion to i64 only from f32 in the confirmed slice")
    family = "fp32" if str(source) == "f32" else "fp16/bf16"
    if integers[1]:
        if word_of(op, "saturation") != "sat":
            fail(op, f"{family}-to-integer conversion requires saturation enable")
        _check_mode(op, "rafcz", f"{family}-to-integer")
    elif family == "fp32" and str(result) == "f16":
        _check_mode(op, "rafczo", "fp32-to-fp16")
    else:
        _check_mode(op, "rafcz", f"{family}-to-floating")


# ---------------------------------------------------------------------------------------------
# By instruction
# ---------------------------------------------------------------------------------------------


def _alike(*names: str) -> Rule:
    return same_types(f"failed to verify that all of {{{', '.join(names)}}} have same type", *names)


_UNARY = _alike("value", "result")
_BINARY = _alike("lhs", "rhs", "result")

_RULES: dict[str, tuple[Rule, ...]] = {
    "section.simt": (_section,),
    "simt_launch": (_launch,),
    "store_vfsimt_info": (_outside_of_threads,),
    "keep": (_slot("payload", "payloads"), _keeps_at_end),
    "resume": (_slot("result", "results"), _resumes_at_start),
    **dict.fromkeys([f"shuffle_{name}" for name in ("idx", "up", "down", "bfly")], (_UNARY, _shuffle_width)),
    "redux_add": (_UNARY, _reduction(needs_sign=False)),
    **dict.fromkeys(("redux_max", "redux_min"), (_UNARY, _reduction(needs_sign=True))),
    **dict.fromkeys(("syncthreads", "threadfence", "threadfence_block"), (_in_thread_code,)),
    **dict.fromkeys(("load", "store"), (element_access,)),
    **dict.fromkeys(("ldg", "stg"), (element_access, _global, _accessible, _in_threads)),
    **dict.fromkeys(("ld_dev", "st_dev"), (element_access, _past_caches, _global, _by_core)),
    **dict.fromkeys(
        [f"atomic_{name}" for name in ("exch", "add", "sub", "min", "max", "and", "or", "xor", "cas")], (_atomic,)
    ),
    **dict.fromkeys(("sqrt", "exp", "log", "ceil", "floor", "rint", "round", "sin", "cos", "absf"), (_UNARY,)),
    **dict.fromkeys(("fmin", "fmax", "pow", "mulhi"), (_BINARY,)),
    "fma": (_alike("lhs", "rhs", "acc", "result"),),
    "convert": (_convert,),
}

THREAD_RULES: Mapping[str, Rule] = {name: all_of(*rules) for name, rules in _RULES.items()}
"""The rules by the name of the row."""
