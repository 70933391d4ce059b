"""Values of one meaning: what branches, loops, calls and returns pass on has the layout and width of what arrives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import cf, func, scf
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Block, Operation, SSAValue

from .layouts import is_virtual


def inner_first(root: Operation) -> Iterator[Operation]:
    """Yield all operations inside `root` and then itself, what is inside an operation before it, in order."""
    pending: list[tuple[Operation, bool]] = [(root, False)]
    while pending:
        op, is_done = pending.pop()
        if is_done or not op.regions:
            yield op
            continue
        pending.append((op, True))
        for region in reversed(op.regions):
            for block in reversed(region.blocks):
                pending.extend((each, False) for each in reversed(list(block.ops)))


def virtual_values(module: ModuleOp) -> Iterator[SSAValue]:
    """Yield the vectors and masks of a program: results of operations, and arguments of their blocks."""
    for op in inner_first(module):
        yield from filter(is_virtual, op.results)
        for region in op.regions:
            for block in region.blocks:
                yield from filter(is_virtual, block.args)


class Functions:
    """The functions of a program and what they return."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        self.by_name = {op.sym_name.data: op for op in inner_first(module) if isinstance(op, func.FuncOp)}
        self.returns: dict[func.FuncOp, list[func.ReturnOp]] = {}
        for op in inner_first(module):
            if isinstance(op, func.ReturnOp) and isinstance(parent := op.parent_op(), func.FuncOp):
                self.returns.setdefault(parent, []).append(op)

    def called(self, call: func.CallOp) -> func.FuncOp | None:
        """Return the function that a call names, if it has a body."""
        found = self.by_name.get(_name(call.callee))
        return found if found is not None and found.body.blocks else None

    def equivalent(self, op: Operation) -> Iterator[tuple[SSAValue, SSAValue, Operation]]:
        """Yield the values that an operation passes on with those that they become, and the operation to blame."""
        for one, other in self._passed(op):
            if is_virtual(one) and is_virtual(other):
                yield one, other, op

    def _passed(self, op: Operation) -> Iterator[tuple[SSAValue, SSAValue]]:
        match op:
            case scf.IfOp() | scf.IndexSwitchOp() | scf.ExecuteRegionOp():
                for result_index, result in enumerate(op.results):
                    for given in _yielded(op):
                        if result_index < len(given):
                            yield result, given[result_index]
            case scf.ForOp():
                (given,) = _yielded(op)
                for index, initial in enumerate(op.iter_args):
                    yield initial, op.body.block.args[1 + index]
                    yield initial, given[index]
                    yield initial, op.results[index]
            case scf.WhileOp():
                yield from _of_while(op)
            case cf.BranchOp():
                yield from zip(op.arguments, op.successor.args, strict=False)
            case cf.ConditionalBranchOp():
                yield from zip(op.then_arguments, op.then_block.args, strict=False)
                yield from zip(op.else_arguments, op.else_block.args, strict=False)
            case cf.SwitchOp():
                yield from zip(op.default_operands, op.default_block.args, strict=False)
                rest = list(op.case_operands)
                for block, size in zip(op.case_blocks, op.case_operand_segments.get_values(), strict=False):
                    yield from zip(rest[:size], block.args, strict=False)
                    rest = rest[size:]
            case func.ReturnOp():
                parent = op.parent_op()
                first = self.returns[parent][0] if isinstance(parent, func.FuncOp) else op
                if first is not op:
                    yield from zip(first.operands, op.operands, strict=False)
            case func.CallOp():
                callee = self.called(op)
                if callee is not None:
                    yield from zip(op.operands, callee.body.blocks[0].args, strict=False)
                    for each in self.returns.get(callee, ()):
                        yield from zip(op.results, each.operands, strict=False)
            case _:
                return


def _name(callee: SymbolRefAttr) -> str:
    return callee.root_reference.data


def _yielded(op: Operation) -> list[Sequence[SSAValue]]:
    """Return what the regions of an operation end with."""
    blocks: list[Block] = [block for region in op.regions for block in region.blocks]
    return [list(block.last_op.operands) for block in blocks if isinstance(block.last_op, scf.YieldOp)]


def _of_while(op: scf.WhileOp) -> Iterator[tuple[SSAValue, SSAValue]]:
    before, after = op.before_region.block, op.after_region.block
    condition, end = before.last_op, after.last_op
    if not isinstance(condition, scf.ConditionOp) or not isinstance(end, scf.YieldOp):
        return
    for index, initial in enumerate(op.arguments):
        yield initial, before.args[index]
        yield initial, end.operands[index]
    for index, forwarded in enumerate(condition.args):
        yield forwarded, after.args[index]
        yield forwarded, op.results[index]
