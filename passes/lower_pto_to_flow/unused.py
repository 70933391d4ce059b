"""Dead code elimination in lowered kernels: unused results, and values only carried through loops and branches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.traits import Pure

from ...dialects.traversal import walk

_BOUNDS = 3
"""Operands of a loop in front of those it carries."""


def erase_unused(region: Region) -> None:
    """Erase from a region what has no effect and no use, also values that only loops carry."""
    ops = [op for block in region.blocks for top in block.ops for op in walk(top)]
    live = _live(ops)
    structured = [op for op in ops if isinstance(op, scf.IfOp | scf.ForOp | scf.WhileOp)]
    kept = {op: _kept(op, live) for op in structured}
    # From the inside to the outside, so that no operation that is made anew has been forgotten.
    for op in reversed(structured):
        _drop_operands(op, *kept[op])
    for op in reversed(ops):
        if _only_computes(op) and not any(result in live for result in op.results):
            op.detach()
            op.erase()
    for op in reversed(structured):
        _drop_results(op, *kept[op])


def _only_computes(op: Operation) -> bool:
    return bool(op.results) and op.has_trait(Pure) and not op.regions


def _live(ops: Iterable[Operation]) -> set[SSAValue]:
    """Return the values that operations with effects, conditions or bounds depend on."""
    live: set[SSAValue] = set()
    pending: list[SSAValue] = []
    for op in ops:
        match op:
            case scf.YieldOp():
                pass
            case scf.IfOp() | scf.ConditionOp():
                pending.append(op.operands[0])
            case scf.ForOp():
                pending += op.operands[:_BOUNDS]
            case scf.WhileOp():
                pass
            case _ if not _only_computes(op):
                pending += op.operands
            case _:
                pass
    while pending:
        value = pending.pop()
        if value not in live:
            live.add(value)
            pending += _sources(value)
    return live


def _sources(value: SSAValue) -> Iterator[SSAValue]:
    """Yield the values that a value depends on, also through loops and branches."""
    if isinstance(value, OpResult):
        op, place = value.op, value.index
        match op:
            case scf.IfOp():
                yield from (_last(region.block).operands[place] for region in op.regions if region.blocks)
            case scf.ForOp():
                yield from (op.iter_args[place], op.body.block.args[1 + place], _last(op.body.block).operands[place])
            case scf.WhileOp():
                yield from (_last(op.before_region.block).operands[1 + place], op.after_region.block.args[place])
            case _:
                yield from op.operands
        return
    block = value.owner
    assert isinstance(value, BlockArgument) and isinstance(block, Block)
    op, place = block.parent_op(), value.index
    match op:
        case scf.ForOp() if place > 0:
            yield op.results[place - 1]
        case scf.WhileOp() if block is op.before_region.block:
            yield from (op.arguments[place], _last(op.after_region.block).operands[place])
        case scf.WhileOp():
            yield op.results[place]
        case _:
            pass


def _last(block: Block) -> Operation:
    last = block.last_op
    assert last is not None, "a region of a loop or branch has a terminator"
    return last


def _kept(op: Operation, live: set[SSAValue]) -> tuple[list[int], list[int]]:
    """Return the results, and the initial values of a loop, that an operation keeps."""
    results = [place for place, result in enumerate(op.results) if result in live]
    if isinstance(op, scf.WhileOp):
        return results, [place for place, arg in enumerate(op.before_region.block.args) if arg in live]
    return results, results


def _drop_operands(op: Operation, results: Sequence[int], entered: Sequence[int]) -> None:
    """Remove the uses of dropped values."""
    match op:
        case scf.IfOp():
            for region in op.regions:
                if region.blocks:
                    last = _last(region.block)
                    last.operands = [last.operands[place] for place in results]
        case scf.ForOp():
            last = _last(op.body.block)
            last.operands = [last.operands[place] for place in results]
            op.operands = [*op.operands[:_BOUNDS], *(op.operands[_BOUNDS + place] for place in results)]
        case scf.WhileOp():
            last, condition = _last(op.after_region.block), _last(op.before_region.block)
            last.operands = [last.operands[place] for place in entered]
            condition.operands = [condition.operands[0], *(condition.operands[1 + place] for place in results)]
            op.operands = [op.operands[place] for place in entered]
        case _:
            pass


def _drop_results(op: Operation, results: Sequence[int], entered: Sequence[int]) -> None:
    """Rebuild an operation without the dropped results and arguments."""
    if len(results) == len(op.results) and (not isinstance(op, scf.WhileOp) or len(entered) == _count(op)):
        return
    match op:
        case scf.ForOp():
            _drop_arguments(op.body.block, [0, *(1 + place for place in results)])
        case scf.WhileOp():
            _drop_arguments(op.before_region.block, entered)
            _drop_arguments(op.after_region.block, results)
        case _:
            pass
    block = op.parent
    assert block is not None
    new = type(op).create(
        operands=list(op.operands),
        result_types=[op.results[place].type for place in results],
        properties=op.properties,
        attributes=op.attributes,
        regions=[op.detach_region(region) for region in list(op.regions)],
    )
    new.location = op.location
    block.insert_op_before(new, op)
    for place, result in zip(results, new.results, strict=True):
        result.name_hint = op.results[place].name_hint
        op.results[place].replace_all_uses_with(result)
    op.detach()
    op.erase()


def _count(op: scf.WhileOp) -> int:
    return len(op.before_region.block.args)


def _drop_arguments(block: Block, kept: Sequence[int]) -> None:
    for place in reversed(range(len(block.args))):
        if place not in kept:
            block.erase_arg(block.args[place])
