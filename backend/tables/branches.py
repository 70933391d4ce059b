"""Jump threading: which branches of structured code a compiler leaves out.

`return`, `break`, `and` and `or` become conditions in structured code, which are tested where a compiler jumps. Such a
condition is decided: on every way to it, either a constant was chosen for it or it was tested already. Assumed: the
compiler jumps past all tests of it. Knows nothing of what a branch costs.
"""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.ir import Block, BlockArgument, OpResult, SSAValue
from xdsl.ir.core import Operation

from ...dialects.scalar_types import kind_of


class Branches:
    """Branches of one function or task; remembers what it has found."""

    def __init__(self) -> None:
        self.decided: dict[SSAValue, bool] = {}

    def is_left_out(self, op: scf.IfOp) -> bool:
        """Return True if a branch is none on the machine: its condition is decided, or an earlier branch of its block,
        or one around it, has tested it."""
        return self.is_decided(op.cond) or _is_tested_before(op)

    def is_decided(self, value: SSAValue) -> bool:
        """Return True if each way to here has chosen a constant for a truth value, or has tested it."""
        if str(kind_of(value.type)) != "i1":
            return False
        found = self.decided.get(value)
        if found is None:
            self.decided[value] = True  # a value that a loop carries is as decided as what comes into the loop
            found = self.decided[value] = self._find(value)
        return found

    def _find(self, value: SSAValue) -> bool:
        if isinstance(value, OpResult):
            op = value.op
            if isinstance(op, arith.ConstantOp):
                return True
            if isinstance(op, scf.IfOp):
                return bool(op.false_region.blocks) and all(
                    self._is_decided_in(block, value.index) for block in (op.true_region.block, op.false_region.block)
                )
            if isinstance(op, scf.WhileOp):
                condition = _last(op.before_region.block)
                return self.is_decided(condition.operands[1 + value.index])
            return isinstance(op, arith.OrIOp | arith.AndIOp | arith.XOrIOp) and all(map(self.is_decided, op.operands))
        assert isinstance(value, BlockArgument)
        loop = value.block.parent_op()
        if not isinstance(loop, scf.WhileOp):
            return False
        if value.block is loop.after_region.block:
            return self.is_decided(_last(loop.before_region.block).operands[1 + value.index])
        return self.is_decided(loop.arguments[value.index]) and self._is_decided_in(
            loop.after_region.block, value.index
        )

    def _is_decided_in(self, block: Block, index: int) -> bool:
        """Return True if what a block yields is decided there."""
        value = _last(block).operands[index]
        return self.is_decided(value) or any(use.parent_block() is block for use in _tests(value))

    def shortcut(self, op: scf.IfOp) -> bool | None:
        """Return the way of a branch that only chooses a constant for a condition that is tested next, as `a` of `a and
        b` (False) and of `a or b` (True) does when it decides; None for other branches."""
        if len(op.results) != 1 or not op.false_region.blocks:
            return None
        result = op.results[0]
        if not _leads_on(result) or self.is_decided(result):
            return None
        chosen = [
            all(isinstance(inner, arith.ConstantOp | scf.YieldOp) for inner in region.block.ops)
            and isinstance(_last(region.block).operands[0].owner, arith.ConstantOp)
            for region in op.regions
        ]
        return None if chosen[0] == chosen[1] else chosen[0]


def _leads_on(value: SSAValue) -> bool:
    """Return True if a value is a truth value that a branch or a loop tests."""
    return any(
        (isinstance(use.operation, scf.IfOp) and use.index == 0)
        or (isinstance(use.operation, scf.ConditionOp) and use.index == 0)
        for use in value.uses
    )


def _tests(value: SSAValue) -> list[Operation]:
    return [use.operation for use in value.uses if isinstance(use.operation, scf.IfOp) and use.index == 0]


def _is_tested_before(op: scf.IfOp) -> bool:
    """Return True if another branch of the block of a branch, or of one around it, tests the same condition before."""
    tests = [test for test in _tests(op.cond) if test is not op]
    block, here = op.parent_block(), op
    while tests and block is not None:
        for test in tests:
            if test is here or (test.parent_block() is block and _is_before(test, here)):
                return True
        around = block.parent_op()
        if around is None:
            return False
        block, here = around.parent_block(), around
    return False


def _is_before(first: Operation, second: Operation) -> bool:
    op = second.prev_op
    while op is not None and op is not first:
        op = op.prev_op
    return op is first


def _last(block: Block) -> Operation:
    terminator = block.last_op
    assert terminator is not None, "verified: blocks of branches and loops end in a terminator"
    return terminator
