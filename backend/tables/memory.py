"""Loads and stores of single elements."""

from __future__ import annotations

from math import prod
from typing import Any

from xdsl.ir import Attribute, Operation

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...dialects import flow
from ...runtime.tables.format import ACCESS_POINTER, NONE
from ...runtime.tables.instructions import KIND
from ...runtime.warps.scalars import kind_of
from .body import INSTRUCTION, Body


def load(body: Body, op: flow.LoadOp) -> None:
    """Append a load."""
    row, first, operands = _access(body, op, op.result.type)
    body.charge(INSTRUCTION)
    result = body.define(op.result)
    body.control("load", result, first, ("access", row), [result], operands)


def store(body: Body, op: flow.StoreOp) -> None:
    """Append a store."""
    row, first, operands = _access(body, op, op.value.type)
    value = body.use(op.value)
    body.charge(INSTRUCTION)
    body.control("store", value, first, ("access", row), uses=[value, *operands])


def _access(body: Body, op: flow.LoadOp | flow.StoreOp, type: Attribute) -> tuple[int, int, Any]:
    """Return the row of an access, its first register, and all of them."""
    if op.address is not None:
        operands = [body.use(value) for value in (op.address, *op.indices)]
        kind = KIND[str(kind_of(type))]
        row = body.sections.intern("accesses", 0, NONE, 0, kind, len(op.indices), ACCESS_POINTER)
        return row, *body.together(operands)
    buffer = body.units.buffer(op, op.buffer)
    shape = buffer.shape
    if len(op.indices) != len(shape):
        raise LoomError(f"@{buffer.name} has {len(shape)} dimensions, not {len(op.indices)}", location_of(op))
    scales = [buffer.element_bytes * prod(shape[position + 1 :]) for position in range(len(shape))]
    kind = KIND[buffer.kind]
    known = [body.known(value) for value in op.indices]
    if None not in known:
        for position, value in enumerate(known):
            if not 0 <= value < shape[position]:
                raise LoomError(
                    f"index {value} of dimension {position} is outside @{buffer.name}, which has "
                    f"{shape[position]} elements there; check the subscript", location_of(op),
                )  # fmt: skip
        base = 2 * buffer.address + sum(value * scale for value, scale in zip(known, scales, strict=True))
        return body.sections.intern("accesses", base, buffer.row, 0, kind, 0, 0), *body.together([])
    dims = body.sections.records("access_dims", list(zip(shape, scales, strict=True)))
    row = body.sections.intern("accesses", 2 * buffer.address, buffer.row, dims, kind, len(shape), 0)
    return row, *body.together([body.use(value) for value in op.indices])


HANDLERS: dict[type[Operation], Any] = {flow.LoadOp: load, flow.StoreOp: store}
