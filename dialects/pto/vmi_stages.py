"""Stages of programs of vectors of any length: as written, and once layouts are chosen, in PTOAS's words.

A text that people or front ends write has no layouts, and masks of `pred` only. Once layouts are chosen, every vector
and mask has one. In both, only operations of `pto.vmi`, functions and control flow use such values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NoReturn

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, MemRefType, ModuleOp, TensorType, VectorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ..traversal import walk
from .registers import VmiMaskType, VmiVRegType

HELPERS = ("ensure_layout", "ensure_mask_layout", "ensure_mask_granularity", "pack", "unpack")
"""Operations that change layouts, or have registers for parts of a vector, without `pto.vmi.`."""

_PREFIX = "pto.vmi."
_STRUCTURE = ("builtin.module", "func.", "scf.", "cf.")

_WRITTEN = "VMI producer boundary requires surface !pto.vmi.vreg or !pto.vmi.mask<Nxpred> type"
_CONCRETE = "!pto.vmi.mask with b8/b16/b32 granularity plus layout"
_ASSIGNED = f"layout-assigned VMI IR requires !pto.vmi.vreg with layout and {_CONCRETE}"


_CONTAINERS = frozenset(
    (VmiVRegType, VmiMaskType, FunctionType, ArrayAttr, DictionaryAttr, MemRefType, TensorType, VectorType)
)
"""What may be, or contain, vectors and masks of any length."""


def _types_in(attribute: Attribute) -> Iterator[VmiVRegType | VmiMaskType]:
    """Yield the vectors and masks of any length that a type or attribute is made of."""
    match attribute:
        case VmiVRegType() | VmiMaskType():
            yield attribute
        case FunctionType():
            for each in (*attribute.inputs, *attribute.outputs):
                yield from _types_in(each)
        case ArrayAttr():
            for each in attribute:
                yield from _types_in(each)
        case DictionaryAttr():
            for each in attribute.data.values():
                yield from _types_in(each)
        case MemRefType() | TensorType() | VectorType():
            yield from _types_in(attribute.get_element_type())
        case _:
            return


def _own_types(op: Operation) -> Iterator[VmiVRegType | VmiMaskType]:
    """Yield the vectors and masks that an operation uses, makes, or passes into its regions."""
    for values in (op.operands, op.results):
        for value in values:
            if type(value.type) in _CONTAINERS:
                yield from _types_in(value.type)
    for region in op.regions:
        for block in region.blocks:
            for argument in block.args:
                yield from _types_in(argument.type)
    if isinstance(op, FuncOp):
        yield from _types_in(op.function_type)


def _is_written(type: VmiVRegType | VmiMaskType) -> bool:
    return not type.layout.data and (isinstance(type, VmiVRegType) or type.granularity.data == "pred")


def check_uses(module: ModuleOp) -> None:
    """Raise LoomError for what no stage allows: vectors used by other operations, in attributes, in declarations."""
    for op in walk(module):
        _check_use(op, ("arith.select",))


def check_as_written(module: ModuleOp) -> None:
    """Raise LoomError unless a program is one as people write it."""
    for op in walk(module):
        _check_types(op, _is_written, _WRITTEN)
        if op.name.removeprefix(_PREFIX) in HELPERS:
            _fail(op, "VMI helper op appears before layout assignment or VMI-to-VPTO")
        _check_use(op)


def check_with_layouts(module: ModuleOp, *, as_registers: bool = False) -> None:
    """Raise LoomError unless all vectors and masks of a program have layouts.

    With `as_registers` it may pack registers into vectors, and unpack them, as the last stage does.
    """
    for op in walk(module):
        _check_types(op, lambda type: bool(type.layout.data), _ASSIGNED)
        if not as_registers and op.name.removeprefix(_PREFIX) in HELPERS[3:]:
            _fail(op, "VMI pack/unpack helper appears before VMI-to-VPTO physicalization")
        _check_use(op)


def _check_types(op: Operation, holds: Callable[[VmiVRegType | VmiMaskType], bool], text: str) -> None:
    if not all(map(holds, _own_types(op))):
        _fail(op, text)


def _check_use(op: Operation, others: tuple[str, ...] = ()) -> None:
    for name, attribute in (*op.properties.items(), *op.attributes.items()):
        if type(attribute) in _CONTAINERS and name != "function_type" and any(_types_in(attribute)):
            _fail(op, "VMI type appears in a non-signature attribute")
    if not any(_own_types(op)):
        return
    if not op.name.startswith(("pto.vmi.", *_STRUCTURE, *others)):
        _fail(op, "VMI typed value is used by a non-VMI semantic op")
    if isinstance(op, FuncOp) and not op.body.blocks:
        raise LoomError(
            "VMI-LAYOUT-CONTRACT: VMI typed function declaration requires an explicit external ABI materialization "
            f"plan; define @{op.sym_name.data} here",
            location_of(op),
        )


def _fail(op: Operation, message: str) -> NoReturn:
    raise LoomError(f"VMI-PASS-INVARIANT: {message}", location_of(op))
