"""Transfer functions of operations on vectors of any length: the layouts of operands and results that go together.

Given the layout of one operand or result, a function returns the relations that hold: each says the layouts of what it
binds. None means that the operation cannot have that layout there; an operation without a function binds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue

from ....diagnostics.records import record
from ....dialects.pto.instruction_operation import InstructionOp
from ....dialects.pto.memory import constant_value
from ....dialects.pto.registers import VmiLayoutAttr, VmiMaskType, VmiVRegType
from ....dialects.pto.rules import number_of
from .layouts import bits_of, contiguous, is_contiguous, is_virtual
from .relations import (
    Pair,
    broadcast_loads,
    broadcasts,
    can_hold_slots,
    can_load,
    can_store,
    can_store_masked,
    conversions,
    group_loads,
    interleavings,
    keeps_bits,
    reductions,
    stores_of_groups,
)


@record
class Port:
    """An operand or result of an operation, by its number."""

    kind: str
    index: int


Relation: TypeAlias = "dict[Port, VmiLayoutAttr]"
Transfer: TypeAlias = "Callable[[InstructionOp, Port, VmiLayoutAttr], list[Relation] | None]"

PREFIX = "pto.vmi."


def operation_name(op: Operation) -> str:
    """Return the name of an operation on vectors of any length; empty for others."""
    return op.name.removeprefix(PREFIX) if isinstance(op, InstructionOp) and op.name.startswith(PREFIX) else ""


def port_of(op: Operation, value: SSAValue) -> Port:
    """Return the first operand, or else the result, that a value is."""
    for kind, values in (("operand", op.operands), ("result", op.results)):
        for index, each in enumerate(values):
            if each is value:
                return Port(kind, index)
    raise AssertionError("the value is neither an operand nor a result")


def value_at(op: Operation, port: Port) -> SSAValue:
    """Return the operand or result at a port."""
    return (op.operands if port.kind == "operand" else op.results)[port.index]


def _operand(index: int) -> Port:
    return Port("operand", index)


_RESULT = Port("result", 0)


def _vector(op: InstructionOp, port: Port) -> VmiVRegType:
    found = value_at(op, port).type
    assert isinstance(found, VmiVRegType)
    return found


def groups_of(op: InstructionOp) -> int:
    """Return the number of groups of an operation."""
    return number_of(op, "num_groups") or 0


def stride_of(op: InstructionOp) -> int | None:
    """Return the distance of the rows of groups in memory; None if it is not a constant."""
    for name in ("row_stride", "source_group_stride"):
        if (value := op.operand(name)) is not None:
            return constant_value(value)
    return None


# ---------------------------------------------------------------------------------------------
# Functions
# ---------------------------------------------------------------------------------------------


def _same(op: InstructionOp, port: Port, layout: VmiLayoutAttr) -> list[Relation]:
    """Relate all vectors and masks: they have one layout."""
    ports = [_operand(index) for index, value in enumerate(op.operands) if is_virtual(value)]
    ports += [Port("result", index) for index, value in enumerate(op.results) if is_virtual(value)]
    return [dict.fromkeys(ports, layout)]


def _free(op: InstructionOp, port: Port, layout: VmiLayoutAttr) -> list[Relation] | None:
    """Relate nothing: the result has any layout."""
    return [{port: layout}] if port.kind == "result" else None


def _contiguous(op: InstructionOp, port: Port, layout: VmiLayoutAttr) -> list[Relation] | None:
    return [{port: layout}] if port.kind == "result" and is_contiguous(layout) else None


def _pairs(
    rows: Iterable[Pair], port: Port, layout: VmiLayoutAttr, first: Sequence[Port], second: Sequence[Port]
) -> list[Relation] | None:
    """Return the rows that have a layout at a port; the first layout of a row is that of some ports, as the second."""
    found: list[Relation] = []
    for before, after in rows:
        if (before if port in first else after) == layout:
            found.append({**dict.fromkeys(first, before), **dict.fromkeys(second, after)})
    return found or None


def _conversion(op: InstructionOp, port: Port, layout: VmiLayoutAttr) -> list[Relation] | None:
    source, result = op.operands[0].type, op.results[0].type
    if not isinstance(source, VmiVRegType | VmiMaskType) or not isinstance(result, VmiVRegType | VmiMaskType):
        return None
    rows = conversions(source, result, **{"from_" if port.kind == "operand" else "to": layout})
    return _pairs(rows, port, layout, [_operand(0)], [_RESULT])


def _convert_numbers(op: InstructionOp, port: Port, layout: VmiLayoutAttr) -> list[Relation] | None:
    """Relate floats and integers, of the same width in the same layout."""
    same = bits_of(_vector(op, _operand(0))) == bits_of(_vector(op, _RESULT))
    return _same(op, port, layout) if same else _conversion(op, port, layout)


def _difference(op: InstructionOp, port: Port, layout: VmiLayoutAttr) -> list[Relation] | None:
    """Relate the ends of `vexpdif`, which widens what is not f32 yet."""
    source, result = _vector(op, _operand(0)), _vector(op, _RESULT)
    if bits_of(source) == 32:
        return _same(op, port, layout)
    rows = conversions(source, result, **{"from_" if port.kind == "operand" else "to": layout})
    return _pairs(rows, port, layout, [_operand(index) for index in range(3)], [_RESULT])


def _bitcast(op: InstructionOp, port: Port, layout: VmiLayoutAttr) -> list[Relation] | None:
    return _same(op, port, layout) if keeps_bits(_vector(op, _operand(0)), _vector(op, _RESULT), layout) else None


def _if_result(holds: Callable[[InstructionOp, VmiVRegType, VmiLayoutAttr], bool]) -> Transfer:
    """Return the transfer function of a load, which binds its result only."""

    def transfer(op: InstructionOp, port: Port, layout: VmiLayoutAttr) -> list[Relation] | None:
        if port != _RESULT or not holds(op, _vector(op, _RESULT), layout):
            return None
        return [{port: layout}]

    return transfer


def _deinterleave_load(op: InstructionOp, port: Port, layout: VmiLayoutAttr) -> list[Relation] | None:
    rows = [(contiguous(), contiguous())]
    return _pairs(rows, port, layout, [_RESULT, Port("result", 1)], []) if port.kind == "result" else None


def _reduction(op: InstructionOp, port: Port, layout: VmiLayoutAttr) -> list[Relation] | None:
    rows = reductions(_vector(op, _operand(0)), groups_of(op))
    return _pairs(rows, port, layout, [_operand(0), _operand(1)], [_RESULT])


def _broadcast(op: InstructionOp, port: Port, layout: VmiLayoutAttr) -> list[Relation] | None:
    return _pairs(broadcasts(_vector(op, _RESULT), groups_of(op)), port, layout, [_operand(0)], [_RESULT])


def _interleaving(splits: bool) -> Transfer:
    def transfer(op: InstructionOp, port: Port, layout: VmiLayoutAttr) -> list[Relation] | None:
        rows = interleavings(_vector(op, _RESULT), splits=splits)
        return _pairs(rows, port, layout, [_operand(index) for index in range(3)], [_RESULT, Port("result", 1)])

    return transfer


def _if_contiguous(op: InstructionOp, port: Port, layout: VmiLayoutAttr) -> list[Relation] | None:
    return _same(op, port, layout) if layout == contiguous() else None


def _store(op: InstructionOp, port: Port, layout: VmiLayoutAttr) -> list[Relation] | None:
    stored = layout if can_store(_vector(op, _operand(0)), layout) else contiguous()
    return [{_operand(0): stored}] if port == _operand(0) else None


def _masked_store(op: InstructionOp, port: Port, layout: VmiLayoutAttr) -> list[Relation] | None:
    value, mask = op.operand("value"), op.operand("mask")
    ports = [_operand(index) for index, each in enumerate(op.operands) if each in (value, mask)]
    if port not in ports:
        return None
    stored = layout if can_store_masked(_vector(op, _operand(0)), layout, layout) else contiguous()
    return [dict.fromkeys(ports, stored)]


def _group_store(op: InstructionOp, port: Port, layout: VmiLayoutAttr) -> list[Relation] | None:
    if port != _operand(0):
        return None
    rows = stores_of_groups(_vector(op, _operand(0)), layout, groups_of(op), stride_of(op))
    return [{port: row} for row in rows] or None


_NUMBERS = ("add", "sub", "mul", "min", "max", "neg", "abs")
_ELEMENTWISE = (
    *(f"{each}{kind}" for each in _NUMBERS for kind in "fi"),
    *("divf", "andi", "ori", "xori", "shli", "shrui", "shrsi", "not", "sqrt", "exp", "ln", "relu", "fma"),
    *("vadds", "vmuls", "vmaxs", "vmins", "vshls", "vshrs", "vmull", "vaddc", "vaddcs"),
    *("cmpf", "cmpi", "select", "mask_and", "mask_or", "mask_xor", "mask_not"),
    *("active_prefix_index", "compress", "expand_load"),
)

TRANSFERS: dict[str, Transfer] = {
    **dict.fromkeys(_ELEMENTWISE, _same),
    **dict.fromkeys(("constant", "broadcast", "iota", "create_mask", "create_group_mask", "constant_mask"), _free),
    "group_iota": _contiguous,
    **dict.fromkeys(("extf", "extsi", "extui", "truncf", "trunci", "ensure_mask_granularity"), _conversion),
    **dict.fromkeys(("fptosi", "fptoui", "sitofp"), _convert_numbers),
    "vexpdif": _difference,
    "bitcast": _bitcast,
    "load": _if_result(lambda op, type, layout: can_load(type, layout)),
    "deinterleave_load": _deinterleave_load,
    "group_load": _if_result(lambda op, type, layout: layout in group_loads(type, groups_of(op), stride_of(op))),
    "group_slot_load": _if_result(lambda op, type, layout: can_hold_slots(layout, groups_of(op))),
    "group_broadcast_load": _if_result(
        lambda op, type, layout: layout in broadcast_loads(type, groups_of(op), stride_of(op))
    ),
    **{f"group_reduce_{each}{kind}": _reduction for each in ("add", "max", "min") for kind in "fi"},
    "group_broadcast": _broadcast,
    "vintlv": _interleaving(splits=False),
    "vdintlv": _interleaving(splits=True),
    **dict.fromkeys(("gather", "masked_load"), _if_contiguous),
    "store": _store,
    "masked_store": _masked_store,
    "group_store": _group_store,
}
"""The functions by the name of the operation, without `pto.vmi.`."""


def relations(op: Operation, port: Port, layout: VmiLayoutAttr) -> list[Relation] | None:
    """Return the relations that hold with a layout at a port; None if the operation cannot have it there."""
    transfer = TRANSFERS.get(operation_name(op))
    return transfer(op, port, layout) if transfer is not None and isinstance(op, InstructionOp) else None


def binds(op: Operation) -> bool:
    """Return True if the layouts of an operation depend on each other, or on what it does."""
    return operation_name(op) in TRANSFERS
