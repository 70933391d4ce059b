"""Blocks: statements in order, and what follows a jump that may have been taken."""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Sequence
from typing import NoReturn

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ..csl import syntax
from ..csl.errors import CslError
from . import control, recovery, types
from .evaluator import Evaluator
from .frames import Break, Continue
from .values import NOTHING, VOID, Value, boolean, is_ssa


def run(ev: Evaluator, statements: Sequence[syntax.Node], then: Function[[], None] | None = None) -> None:
    """Execute statements in order, and `then`; after a jump that may have been taken, only if it has not."""
    failed: CslError | None = None
    before = None
    for position, node in enumerate(statements):
        ev.step(node)
        if ev.mistakes is not None:
            before = recovery.Before(ev) if recovery.goes_on(ev) else None
        try:
            ev.execute(node)
        except CslError as error:
            failed = recovery.after(ev, error, node, before)
        if ev.builder is None:
            continue
        left = has_left(ev)
        if left is True:
            break
        if left is not False:
            rest = statements[position + 1 :]
            if failed is not None:
                then = None
            if rest or then is not None:
                guarded(ev, left, lambda rest=rest, then=then: run(ev, rest, then), node)
            break
    else:
        if then is not None and failed is None:
            then()
    if failed is not None:
        raise failed


def run_whole(ev: Evaluator, statements: Sequence[syntax.Node]) -> None:
    """Execute a comptime or layout block; jumps do not lead out of it."""
    try:
        run(ev, statements)
    except (Break, Continue) as jump:
        fail_jump(ev, jump)


def fail_jump(ev: Evaluator, jump: Break | Continue) -> NoReturn:
    """Fail at a jump at compile time without a target around it."""
    what = "a loop" if jump.label is None else f"anything labeled '{jump.label}'"
    ev.fail(jump.node, f"this is not in {what}")


def check_label(ev: Evaluator, node: syntax.Block | syntax.While | syntax.For) -> None:
    """Check that a label is not used again inside what it names."""
    if node.label is None or id(node) in ev.session.analyses.labels:
        return
    for inner in syntax.walk(node):
        if isinstance(inner, syntax.Block | syntax.While | syntax.For) and inner.label == node.label:
            if inner is not node:
                ev.fail(
                    inner, f"the label '{node.label}' is used again inside what it names", ev.note(node, "first here")
                )
    ev.session.analyses.labels.add(id(node))


def has_left(ev: Evaluator) -> bool | SSAValue:
    """Return True if control has left the code being emitted: known, or an SSA value."""
    result: bool | SSAValue = False
    for local in ev.frame.flags():
        assert local.value is not None
        state = local.value.data
        if state is True:
            return True
        if is_ssa(state):
            result = ev.code.value(arith.OrIOp(result, state)) if is_ssa(result) else state
    return result


def guarded(ev: Evaluator, left: SSAValue, rest: Function[[], None], node: syntax.Node) -> None:
    """Emit what follows a jump that may have been taken: only if it has not been."""

    def run_rest() -> Value:
        rest()
        return VOID

    _guarded(ev, left, run_rest, node)


def unless_left(ev: Evaluator, rest: Function[[], Value], node: syntax.Node, *operands: Value) -> Value:
    """Return the value of what follows the evaluation of operands, some of which may jump: only if they have not."""
    if any(operand.type is types.UNDEFINED for operand in operands):
        return NOTHING
    left = False if ev.builder is None else has_left(ev)
    if left is False:
        return rest()
    return NOTHING if left is True else _guarded(ev, left, rest, node)


def _guarded(ev: Evaluator, left: SSAValue, rest: Function[[], Value], node: syntax.Node) -> Value:
    flags = [local for local in ev.frame.flags() if local.value is not None and is_ssa(local.value.data)]

    def gone() -> Value:
        if len(flags) == 1:
            flags[0].value = boolean(True)
        return NOTHING

    def go_on() -> Value:
        for local in flags:
            local.value = boolean(False)
        return rest()

    return control.branch(ev, left, gone, go_on, node)


def run_body(ev: Evaluator, block: syntax.Block) -> None:
    """Execute the statements of a block in a scope of its own."""
    with ev.scope():
        run(ev, block.statements)


def never_ends(body: syntax.Block) -> bool:
    """Return True if a body certainly never ends: its last statement is an endless loop or an assertion."""
    last = body.statements[-1] if body.statements else None
    if isinstance(last, syntax.While):
        return isinstance(last.condition, syntax.Name) and last.condition.name == "true"
    return isinstance(last, syntax.Builtin) and last.name in ("assert", "comptime_assert", "unreachable")


def jumps_away(node: syntax.Node) -> bool:
    """Return True if a statement plainly leads elsewhere; where other jumps precede it, flags cannot tell."""
    match node:
        case syntax.Return() | syntax.Break() | syntax.Continue():
            return True
        case syntax.Block():
            return node.label is None and bool(node.statements) and jumps_away(node.statements[-1])
        case syntax.If():
            return node.otherwise is not None and all(
                map(jumps_away, (*(link.body for link in node.branches), node.otherwise))
            )
        case syntax.Switch():
            return all(jumps_away(link.body) for link in node.branches)
        case _:
            return False
