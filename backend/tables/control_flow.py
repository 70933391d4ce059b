"""Structured control flow and calls, as jumps and frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import flow
from ...dialects.scalar_types import kind_of
from ...runtime.tables.format import MEMORY_WALK
from ...runtime.tables.instructions import KIND
from .body import Body
from .code import NOTHING
from .scalars import increment


def if_(body: Body, op: scf.IfOp) -> None:
    """Append a branch; what is pending is charged on both ways."""
    condition = body.use(op.cond)
    results = [body.new(result.type) for result in op.results]
    before, where = list(body.pending), body.where
    other, join = body.label(), body.label()
    not_taken, taken = _branch_costs(body, op)
    body.control("branch_false", condition, other, uses=[condition])
    body.charge(*not_taken)
    _arm(body, op.true_region.block, results)
    body.where = where
    body.jump(join)
    body.mark(other)
    body.pending = before
    body.charge(*taken)
    if op.false_region.blocks:
        _arm(body, op.false_region.block, results)
    else:
        body.settle()
    body.mark(join)
    for value, register in zip(op.results, results, strict=True):
        body.values[value] = register


def _branch_costs(body: Body, op: scf.IfOp) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the classes of costs of a branch where its condition is true, and where it is false."""
    if body.branches.is_left_out(op):
        return (), ()
    shortcut = body.branches.shortcut(op)
    if shortcut is None:
        return ("branch_not_taken",), ("branch_taken",)
    # The way that decides is charged the branch on the result alone; on the other, the compiler goes straight on.
    return ((), ("branch_not_taken",)) if shortcut else (("branch_not_taken",), ())


def _arm(body: Body, block: Block, results: Sequence[int]) -> None:
    body.block(block)
    terminator = block.last_op
    if isinstance(terminator, scf.YieldOp) and results:
        body.copies([body.use(value) for value in terminator.operands], results)
    body.settle()


def _last(block: Block) -> Operation:
    terminator = block.last_op
    assert terminator is not None, "verified: blocks of loops end in a terminator"
    return terminator


def for_(body: Body, op: scf.ForOp) -> None:
    """Append a counted loop; its results are what its iterations carry."""
    lower, upper, step = body.use(op.lb), body.use(op.ub), body.use(op.step)
    block, where = op.body.block, body.where
    body.settle()
    counter, end = body.group(2)
    carried = [body.new(argument.type) for argument in block.args[1:]]
    body.copies([lower, upper, *(body.use(value) for value in op.iter_args)], [counter, end, *carried])
    for argument, register in zip(block.args, (counter, *carried), strict=True):
        body.values[argument] = register
    head, leave = body.label(), body.label()
    start = len(body.code)
    body.control("for_test", counter, leave, uses=[counter, end])
    body.charge("instruction")
    left = body.pending_with("branch_not_taken")
    body.charge("loop")
    body.block(block)
    body.where = where
    body.copies([body.use(value) for value in _last(block).operands], carried)
    increment(body, counter, step)
    body.charge("instruction")
    body.settle()
    body.jump(head)
    body.loops.append((start, len(body.code) - 1))
    body.mark(leave)
    body.pending = left
    for value, register in zip(op.results, carried, strict=True):
        body.values[value] = register


def while_(body: Body, op: scf.WhileOp) -> None:
    """Append a loop with a condition; what is pending at its test is charged on both ways."""
    before, after, where = op.before_region.block, op.after_region.block, body.where
    body.settle()
    carried = [body.new(argument.type) for argument in before.args]
    body.copies([body.use(value) for value in op.arguments], carried)
    for argument, register in zip(before.args, carried, strict=True):
        body.values[argument] = register
    head, leave = body.label(), body.label()
    start = len(body.code)
    body.block(before)
    terminator = _last(before)
    assert isinstance(terminator, scf.ConditionOp)
    condition = body.use(terminator.condition)
    body.where = where
    body.control("branch_false", condition, leave, uses=[condition])
    left = body.pending_with("branch_not_taken")
    body.charge("loop")
    body.control("step")
    passed = [body.use(value) for value in terminator.args]
    for argument, register in zip(after.args, passed, strict=True):
        body.values[argument] = register
    body.block(after)
    body.where = where
    body.copies([body.use(value) for value in _last(after).operands], carried)
    body.settle()
    body.jump(head)
    body.loops.append((start, len(body.code) - 1))
    body.mark(leave)
    body.pending = left
    for value, register in zip(op.results, passed, strict=True):
        body.values[value] = register


def skip(body: Body, op: Operation) -> None:
    """Skip a terminator, which belongs to what is around it."""


# Calls


def call(body: Body, op: flow.CallOp) -> None:
    """Append a call, or the code of the function if streams go in or out."""
    name = op.callee.root_reference.data
    body.depend("call", name)
    body.charge("recursive_call" if body.units.is_open(name) else "call")
    if body.units.takes_streams(name):
        _inline(body, op, name)
        return
    if body.units.callee(name).sees_clock:
        body.observe()
    first, arguments = body.together([body.use(value) for value in op.arguments])
    results = body.group(len(op.results_))
    body.control("call", ("use", name), first, results[0] if results else NOTHING, results, arguments, early=False)
    for value, register in zip(op.results_, results, strict=True):
        body.values[value] = register


def _inline(body: Body, op: flow.CallOp, name: str) -> None:
    if name in body.inlined:
        text = f"function @{name} has streams among its arguments or results and is called again before it has returned"
        row = body.sections.intern("messages", body.sections.string(f"{text}; write a loop instead"), 0)
        body.control("fail", c=("message", row))
        for result in op.results_:
            _define_anything(body, result)
        return
    block = body.units.functions[name].body.block
    for argument, value in zip(block.args, op.arguments, strict=True):
        body.values[argument] = body.use(value)
    body.inlined.append(name)
    body.block(block)
    body.inlined.pop()
    terminator = block.last_op
    returned = terminator.values if isinstance(terminator, flow.ReturnOp) else ()
    for result, value in zip(op.results_, returned, strict=True):
        body.values[result] = body.use(value)


def _define_anything(body: Body, result: SSAValue) -> None:
    """Give a value that is never computed something that may be read."""
    if isinstance(result.type, flow.StreamType):
        kind = KIND[kind_of(result.type.element_type) or "i32"]
        body.values[result] = body.static(MEMORY_WALK, None, 0, (0,) * 4, (0,) * 4, kind, 1, 0)
    else:
        body.values[result] = body.number(0)


def return_(body: Body, block: Block) -> None:
    """Append the end of a function: what it returns, in consecutive registers."""
    terminator = block.last_op
    values = terminator.values if isinstance(terminator, flow.ReturnOp) else ()
    body.results = len(values)
    body.kinds += [KIND[str(kind_of(value.type))] for value in values]
    first, results = body.together([body.use(value) for value in values])
    body.settle()
    body.control("return", first, uses=results)


HANDLERS: dict[type[Operation], Any] = {
    scf.IfOp: if_,
    scf.ForOp: for_,
    scf.WhileOp: while_,
    scf.YieldOp: skip,
    scf.ConditionOp: skip,
    flow.ReturnOp: skip,
    flow.CallOp: call,
}
