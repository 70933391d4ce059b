"""Registers of vector code that live on where PTOAS ends a vector scope."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue

from ...analysis.pto.schedules import Kernel
from ...dialects.pto.instruction_rules import DELIMITERS
from ...dialects.pto.kernels import VECTOR_CODE, BarrierOp
from ...dialects.pto.registers import VRegType
from ...dialects.pto.types import PtrType
from ...dialects.traversal import walk
from .hazard import Hazard

CODES = ("vector-scope",)
"""Codes of the findings that this check reports."""

_HOLDERS = (*VECTOR_CODE, "pto.section.simt")


def find_in_kernel(kernel: Kernel) -> Iterator[Hazard]:
    """Yield what makes a register, in no scope that is written, that is used behind a synchronization in its block."""
    ends = _ends_of_scopes(kernel)
    pending: list[Block] = list(kernel.function.body.blocks) if ends else []
    while pending:
        block = pending.pop()
        ended: list[Operation] = []
        for op in block.ops:
            if op.name in _HOLDERS:
                continue
            if op in ends:
                ended.append(op)
            for value in op.operands:
                if (end := _between(value, block, ended)) is not None:
                    assert isinstance(value.owner, Operation)
                    yield Hazard(
                        "vector-scope",
                        value.owner,
                        f"'{value.owner.name}' op cannot infer resultless pto.vecscope because VPTO vector-scope data "
                        f"cannot have external users; escaping value type is '{value.type}', and '{end.name}' ends the "
                        f"scope before '{op.name}' uses it; load it again behind that, or write the scope around both",
                    )
            pending += [inner for region in op.regions for inner in region.blocks]


def _ends_of_scopes(kernel: Kernel) -> set[Operation]:
    """Return what synchronizes in a kernel, itself or, of a loop or branch, inside it."""
    found: set[Operation] = set()
    for op in walk(kernel.function):
        if not op.name.startswith("pto.") or not (isinstance(op, BarrierOp) or op.name[4:] in DELIMITERS):
            continue
        found.add(op)
        around = None if op.regions else op.parent_op()
        while around is not None:
            if isinstance(around, scf.ForOp | scf.IfOp | scf.WhileOp):
                found.add(around)
            around = around.parent_op()
    return found


def _between(value: SSAValue, block: Block, ended: list[Operation]) -> Operation | None:
    """Return the operation that ends a scope between a register, loaded in this block, and its use; None without one.

    What is not loaded is computed again in each scope.
    """
    maker = value.owner
    if not isinstance(value.type, VRegType) or not isinstance(maker, Operation) or maker.parent is not block:
        return None
    if not any(isinstance(operand.type, PtrType | MemRefType) for operand in maker.operands):
        return None
    return next((end for end in ended if maker.is_before_in_block(end)), None)
