"""Operations that write some of their tiles while they still need others: no two of these may share bytes."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from .attributes import AddressSpace
from .instruction_operation import InstructionOp
from .tiles import TMovOp
from .types import TileBufType

_QUANTIZED = ("src", "dst", "exp", "max", "scaling", "exp_zz")
"""The operands of `tquant.mx`."""


def tiles_kept_apart(op: Operation) -> list[tuple[str, SSAValue]]:
    """Return the operands of an operation, with their names, of which no two may share bytes; none for most."""
    if isinstance(op, InstructionOp) and op.row.name == "tquant.mx":
        return [(name, value) for name in _QUANTIZED if (value := op.operand(name)) is not None]
    if not isinstance(op, TMovOp) or op.fp is None:
        return []
    scratch = op.fp.type
    is_rearranged = isinstance(scratch, TileBufType) and scratch.location is not AddressSpace.SCALING
    return [("src", op.src), ("tmp", op.fp), ("dst", op.dst)] if is_rearranged else []
