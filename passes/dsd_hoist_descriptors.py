"""Pass `dsd-hoist-descriptors`: equal descriptors are made once, and before the loops that do not change them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ..analysis.wse.pe_program import programs
from ..dialects import dsd, wse
from ..dialects.traversal import walk
from ..dialects.verification import verify_dominance

_Descriptor = dsd.MemoryDescriptorOp | dsd.FabricDescriptorOp | dsd.FifoOp | dsd.DerivedDescriptorOp

_CONSTANT = arith.ConstantOp | wse.GetBufferOp | wse.AddressOfOp
_FREE = _CONSTANT | wse.GetParamOp | wse.CoordinateOp | wse.ExtentOp
"""What costs nothing wherever it is."""

_FIELDS = (
    arith.ConstantOp, arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp, arith.ShLIOp,
    arith.ShRSIOp, arith.ShRUIOp, arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp, arith.IndexCastOp, arith.CmpiOp,
    arith.SelectOp, memref.DimOp, wse.GetBufferOp, wse.GetParamOp, wse.CoordinateOp, wse.ExtentOp, wse.AddressOfOp,
    wse.ViewOp,
)  # fmt: skip
"""What arrays and fields of descriptors are computed with, without effects."""


@dataclass(frozen=True)
class DsdHoistDescriptorsPass(ModulePass):
    """Makes descriptors that are equal, field by field, one value where one of them dominates the others, and moves
    those that a loop does not change before it, with what their fields are computed from. Equal ones whose fields are
    known only at run time stay apart as destinations and sources: each register is loaded with fields of its own.

    `dsr-allocate` then loads one register for all the operations that take a descriptor, once for all trips of a loop.
    Addresses that are known only at run time are not moved: the machine checks them, and the loop may have no trip.
    """

    name = "dsd-hoist-descriptors"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for pe in (pe for program in programs(op) for pe in program.pes):
            for member in pe.body.block.ops:
                if isinstance(member, wse.FuncOp | wse.TaskOp) and member.shares is None:
                    _hoist(member)
        verify_dominance(op)


def _hoist(body: Operation) -> None:
    needed = _needed(body)
    if not needed:
        return
    for loop in [inner for inner in walk(body) if isinstance(inner, scf.ForOp | scf.WhileOp)]:
        for op in _invariant(loop, needed):
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(loop))
    for block in body.regions[0].blocks:
        _merge_equal(block, needed, {})


def _invariant(loop: Operation, needed: set[Operation]) -> list[Operation]:
    """Return the operations of a loop that make descriptors which it does not change, in order, with those that compute
    their fields."""
    candidates: dict[Operation, None] = {}
    for op in walk(loop):
        if op in needed and not _may_fail(op):
            if all(operand.owner in candidates or not _is_inside(operand, loop) for operand in op.operands):
                candidates[op] = None
    found: set[Operation] = set()
    for op in reversed(candidates):
        if isinstance(op, _Descriptor) or any(use.operation in found for result in op.results for use in result.uses):
            found.add(op)
    return [op for op in candidates if op in found]


def _needed(body: Operation) -> set[Operation]:
    """Return the operations that make descriptors, and those that compute their arrays and fields."""
    pending: list[Operation] = [op for op in walk(body) if isinstance(op, _Descriptor)]
    needed = set(pending)
    while pending:
        for operand in pending.pop().operands:
            owner = operand.owner
            if isinstance(owner, _FIELDS) and owner not in needed:
                needed.add(owner)
                pending.append(owner)
    return needed


def _may_fail(op: Operation) -> bool:
    """Return True if the machine checks the address that a descriptor is made of."""
    return any(
        isinstance(operand.type, MemRefType)
        and not isinstance(operand.owner, wse.GetBufferOp)
        and not (isinstance(operand.owner, wse.ViewOp) and dsd.constant_value(operand.owner.address) is not None)
        for operand in op.operands
    )


def _is_inside(value: SSAValue, loop: Operation) -> bool:
    owner = value.owner
    current = owner.parent_op() if isinstance(owner, Block) else owner
    while current is not None:
        if current is loop:
            return True
        current = current.parent_op()
    return False


def _merge_equal(block: Block, needed: set[Operation], known: dict[Hashable, Operation]) -> None:
    """Replace operations by equal ones before them, of this block or one around it."""
    for op in list(block.ops):
        if op in needed and isinstance(op, _Descriptor | _FREE):
            key = (type(op), *op.operands, *_attributes_of(op), *op.result_types, _files_of(op))
            same = known.setdefault(key, op)
            if same is not op:
                Rewriter.replace_op(op, [], same.results)
        for region in op.regions:
            for inner in region.blocks:
                _merge_equal(inner, needed, dict(known))


def _attributes_of(op: Operation) -> tuple[tuple[str, Attribute], ...]:
    return tuple(sorted((*op.properties.items(), *op.attributes.items()), key=lambda item: item[0]))


def _files_of(op: Operation) -> frozenset[int]:
    """Return the operands that a descriptor with fields known at run time only is, none for others.

    A destination and a source are in registers of their own, so that such fields are computed for each.
    """
    if not isinstance(op, _Descriptor) or all(isinstance(operand.owner, _CONSTANT) for operand in op.operands):
        return frozenset()
    return frozenset(use.index for use in op.results[0].uses)
