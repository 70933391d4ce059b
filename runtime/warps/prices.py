"""Prices of scalar operations, by their classes of costs."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation, SSAValue

from ...dialects import flow
from ...operations.costs import access_class, scalar_class
from ...targets.model import Timing
from ..tables.instructions import BITS
from .scalars import kind_of


def scalar_price(timing: Timing, op: Operation) -> int:
    """Return the cycles of a scalar operation."""
    kind = str(kind_of(op.results[0].type))
    floats = kind[0] in "fb" or isinstance(op, flow.Cb16Op)
    return getattr(timing, scalar_class(op.name, BITS[kind], floats=floats))


def access_price(timing: Timing, op: flow.LoadOp | flow.StoreOp, is_known: Callable[[SSAValue], bool]) -> int:
    """Return the cycles of a load or store; of a buffer, one with known indices has no computed one."""
    kind = str(kind_of(op.result.type if isinstance(op, flow.LoadOp) else op.value.type))
    indexed = bool(op.indices) and (op.buffer is None or not all(map(is_known, op.indices)))
    return getattr(timing, access_class(BITS[kind], indexed=indexed))
