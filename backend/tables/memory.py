"""Loads and stores of single elements."""

from __future__ import annotations

from math import prod
from typing import Any

from xdsl.ir import Attribute, Operation

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...dialects import flow
from ...dialects.scalar_types import kind_of
from ...operations.costs import access_class
from ...runtime.tables.instructions import BITS, KIND, KINDS
from .body import Body
from .descriptors import is_kept


def load(body: Body, op: flow.LoadOp) -> None:
    """Append a load, unless it is of a known place and nothing uses it."""
    key, first, operands = _access(body, op, op.result.type)
    if op.buffer is not None and not operands and not op.result.uses:
        return
    _settle(body, op)
    if not _is_of_descriptor(op):
        body.charge(access_cost(key))
    result = body.define(op.result)
    body.control("load", result, first, ("access", key), [result], operands)


def _is_of_descriptor(op: flow.LoadOp) -> bool:
    """Return True if a load gives operations nothing but words of descriptors that memory keeps."""
    users = [use.operation for use in op.result.uses]
    return bool(users) and all(isinstance(user, flow.StreamOp) and is_kept(user) for user in users)


def store(body: Body, op: flow.StoreOp) -> None:
    """Append a store."""
    key, first, operands = _access(body, op, op.value.type)
    value = body.use(op.value)
    _settle(body, op)
    body.charge(access_cost(key))
    body.control("store", value, first, ("access", key), uses=[value, *operands])


def _settle(body: Body, op: flow.LoadOp | flow.StoreOp) -> None:
    """Charge what is pending before an access that may be of a configuration register, whose cycle matters."""
    if op.buffer is None and body.units.shared.has_registers:
        body.observe()


def access_cost(key: tuple[Any, ...]) -> str:
    """Return the class of costs of an access: with an index if one is computed, also of what a pointer leads to."""
    *_, kind, indices = key
    return access_class(BITS[KINDS[kind]], indexed=indices > 0)


def _access(body: Body, op: flow.LoadOp | flow.StoreOp, type: Attribute) -> tuple[tuple[Any, ...], int, Any]:
    """Return what names an access, its first register, and all of them."""
    if op.buffer is None:
        assert op.address is not None, "verified: a buffer or an address"
        operands = [body.use(value) for value in (op.address, *op.indices)]
        kind = KIND[str(kind_of(type))]
        return (None, 0, 0, kind, len(operands) - 1), *body.together(operands)
    body.depend("buffer", op.buffer.root_reference.data)
    buffer = body.units.buffer(op, op.buffer)
    shape = buffer.shape
    # A buffer is an attribute: the operands are the value to store, if any, and the indices.
    indices = op.operands[1:] if isinstance(op, flow.StoreOp) else op.operands
    if len(indices) != len(shape):
        raise LoomError(f"@{buffer.name} has {len(shape)} dimensions, not {len(indices)}", location_of(op))
    scales = [buffer.element_bytes * prod(shape[position + 1 :]) for position in range(len(shape))]
    kind = KIND[buffer.kind]
    known = [body.known(value) for value in indices]
    if None not in known:
        for position, value in enumerate(known):
            if not 0 <= value < shape[position]:
                raise LoomError(
                    f"index {value} of dimension {position} is outside @{buffer.name}, which has "
                    f"{shape[position]} elements there; check the subscript", location_of(op),
                )  # fmt: skip
        offset = sum(value * scale for value, scale in zip(known, scales, strict=True))
        return (buffer.name, offset, 0, kind, 0), *body.together([])
    dims = body.sections.records("access_dims", list(zip(shape, scales, strict=True)))
    return (buffer.name, 0, dims, kind, len(shape)), *body.together([body.use(value) for value in indices])


HANDLERS: dict[type[Operation], Any] = {flow.LoadOp: load, flow.StoreOp: store}
