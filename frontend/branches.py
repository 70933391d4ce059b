"""The rules of `if` and `switch`."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ..csl import syntax
from . import control, emit, types
from .blocks import has_left, jumps_away, unless_left
from .checking import check_untaken
from .conversion import as_wanted
from .evaluator import EXPRESSIONS, Evaluator
from .operators import are_equal
from .registry import expression
from .types import Type
from .values import NOTHING, VOID, Column, Value, is_ssa


def body(ev: Evaluator, node: syntax.Node, want: Type | None = None) -> Value:
    """Return the value of a branch: a statement has none."""
    rule = EXPRESSIONS.get(type(node))
    if rule is None:
        ev.execute(node)
        return VOID
    return rule(ev, node, want)


@expression(syntax.If)
def _if(ev: Evaluator, node: syntax.If, want: Type | None) -> Value:
    return _if_from(ev, node, 0, want)


def _if_from(ev: Evaluator, node: syntax.If, first: int, want: Type | None) -> Value:
    """Return the chain of conditions from one on; a chain of known conditions costs no recursion."""
    for position in range(first, len(node.branches)):
        link = node.branches[position]
        value = ev.expr(link.condition)
        if value.type is types.UNDEFINED:
            return NOTHING
        condition = ev.truth(value, link.condition)
        if condition is not False or (ev.builder is not None and has_left(ev) is not False):

            def side(position: int = position, condition: bool | SSAValue = condition) -> Value:
                return _side(ev, node, position, condition, want)

            return unless_left(ev, side, node)
        check_untaken(ev, link.condition, lambda link=link: _scoped(ev, link.body, want))
    if node.otherwise is None:
        return VOID
    return _scoped(ev, node.otherwise, want)


def _side(ev: Evaluator, node: syntax.If, position: int, condition: bool | SSAValue, want: Type | None) -> Value:
    """Return the value of the side that a condition of the chain chooses."""
    link = node.branches[position]
    if is_ssa(condition):
        return control.branch(
            ev,
            condition,
            lambda: as_wanted(ev, _scoped(ev, link.body, want), want, link.body),
            lambda: as_wanted(ev, _if_from(ev, node, position + 1, want), want, node),
            node,
        )
    if condition:
        check_untaken(ev, link.condition, lambda: _if_from(ev, node, position + 1, want))
        return _scoped(ev, link.body, want)
    check_untaken(ev, link.condition, lambda: _scoped(ev, link.body, want))
    return _if_from(ev, node, position + 1, want)


def _scoped(ev: Evaluator, node: syntax.Node, want: Type | None) -> Value:
    with ev.scope():
        value = body(ev, node, want)
    # A side that leads elsewhere leaves the value to the other.
    return NOTHING if value.type is types.VOID and jumps_away(node) else value


@expression(syntax.Switch)
def _switch(ev: Evaluator, node: syntax.Switch, want: Type | None) -> Value:
    subject = ev.expr(node.subject)
    return unless_left(ev, lambda: _switch_on(ev, node, subject, want), node, subject)


def _switch_on(ev: Evaluator, node: syntax.Switch, subject: Value, want: Type | None) -> Value:
    is_evaluated = subject.type is types.COMPTIME_INT and ev.builder is None
    if not isinstance(subject.type, types.Int | types.Enum) and not is_evaluated:
        ev.fail(node.subject, f"a switch takes an integer of known width or an enum, not '{subject.type}'")
    otherwise: syntax.SwitchBranch | None = None
    cases: list[tuple[syntax.SwitchBranch, list[Value]]] = []
    seen: set[Any] = set()
    for link in node.branches:
        if not link.values:
            otherwise = link
            continue
        values: list[Value] = []
        for at in link.values:
            value = ev.coerce(ev.comptime_expr(at, subject.type), subject.type, at)
            key = ev.data(value, at, "a case")
            values.append(Value(subject.type, key))
            if isinstance(key, int | bytes) and key in seen:
                ev.fail(at, "this case occurs twice")
            if isinstance(key, int | bytes):
                seen.add(key)
        cases.append((link, values))
    if isinstance(subject.type, types.Enum) and otherwise is None:
        missing = [name for name, number in subject.type.members if number not in seen]
        if missing:
            ev.fail(node, f"no case for {', '.join(missing)}; add it, or an 'else' case")
    elif otherwise is None and not _is_complete(subject.type, seen):
        ev.fail(node, "not all values have a case; add an 'else' case")
    if isinstance(subject.data, Column):
        subject = Value(subject.type, ev.data(subject, node.subject))
    if not is_ssa(subject.data):
        matches = (link for link, values in cases for value in values if are_equal(ev, subject, value, node) is True)
        taken = next(matches, otherwise)
        for link in node.branches:
            if link is not taken:
                check_untaken(ev, node.subject, lambda link=link: _scoped(ev, link.body, want))
        return VOID if taken is None else _scoped(ev, taken.body, want)
    return _switch_from(ev, node, subject, cases, otherwise, want)


def _is_complete(type: Type, seen: set[Any]) -> bool:
    """Return True if all values of a type have been seen."""
    return isinstance(type, types.Int) and len(seen).bit_length() > type.bits


def _switch_from(
    ev: Evaluator,
    node: syntax.Switch,
    subject: Value,
    cases: list[tuple[syntax.SwitchBranch, list[Value]]],
    otherwise: syntax.SwitchBranch | None,
    want: Type | None,
) -> Value:
    if not cases:
        return VOID if otherwise is None else as_wanted(ev, _scoped(ev, otherwise.body, want), want, otherwise)
    (link, values), *rest = cases
    if not rest and otherwise is None:
        # Every value has a case, so the last needs no test.
        return as_wanted(ev, _scoped(ev, link.body, want), want, link)
    condition: SSAValue | None = None
    for value in values:
        test = emit.binary(ev.code, "==", types.U16, subject.data, ev.ssa(value, node))
        condition = test if condition is None else ev.code.value(arith.OrIOp(condition, test))
    assert condition is not None
    return control.branch(
        ev,
        condition,
        lambda: as_wanted(ev, _scoped(ev, link.body, want), want, link),
        lambda: _switch_from(ev, node, subject, rest, otherwise, want),
        node,
    )
