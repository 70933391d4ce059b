"""Builtins that assert, and that print at compile time."""

from __future__ import annotations

from ...csl import syntax
from ...diagnostics.errors import shown
from ...dialects import wse
from .. import types
from ..comptime_known import warn as warn_of_late
from ..conversion import describe
from ..errors import MistypedAtRunTime, Refused, Serial
from ..evaluator import Evaluator
from ..registry import Table
from ..types import Type
from ..values import VOID, Column, Value, known

TABLE = Table("Assertions and output at compile time", has_effects=False)


def _asserted(ev: Evaluator, arguments: list[syntax.Expression]) -> str:
    """Return the message of an assertion that fails: its own, or the condition as written."""
    if len(arguments) > 1:
        return ev.text(arguments[1], "the message of an assertion")
    text = " ".join(ev.source.text[arguments[0].start : arguments[0].end].split())
    return f"'{text}' does not hold"


@TABLE.row("@comptime_assert(condition[, message])")
def _comptime_assert(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = node.arguments
    condition = ev.expr(arguments[0])
    if condition.type is not types.BOOL:
        ev.mistyped(arguments[0], f"@comptime_assert takes a 'bool', not '{condition.type}'")
    message = _asserted(ev, arguments)
    if ev.builder is not None:
        warn_of_late(ev, arguments[0])
    if isinstance(condition.data, Column):
        # One PE that fails is enough, so its lanes are told apart.
        ev.data(condition, arguments[0])
    if not ev.data(condition, arguments[0], "the condition of @comptime_assert"):
        if ev.frame.module.is_library:
            raise Refused(ev.error(node, message).diagnostics)
        raise MistypedAtRunTime(ev.error(node, f"comptime_assert failed: {message}").diagnostics)
    return VOID


@TABLE.row("@assert(condition[, message])")
def _assert(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = node.arguments
    condition = ev.expr(arguments[0])
    if condition.type is not types.BOOL:
        ev.fail(arguments[0], f"@assert takes a 'bool', not '{condition.type}'")
    if ev.builder is None:
        if not ev.data(condition, arguments[0]):
            ev.fail(node, _asserted(ev, arguments))
        return VOID
    message = _asserted(ev, arguments)
    if ev.frame.module.is_library and condition.data is False:
        raise Refused(ev.error(node, message).diagnostics)
    test = ev.ssa(condition, arguments[0])
    ev.code.at(ev.source, node.start)
    ev.code(wse.AssertOp(test, message))
    return VOID


@TABLE.row("@comptime_print([value...])")
def _comptime_print(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    if ev.in_layout and ev.lanes.depth:
        raise Serial
    parts: list[str] = []
    for argument in node.arguments:
        value = ev.expr(argument)
        if not known(value):
            ev.fail(argument, "this is not known at compile time")
        if ev.builder is not None:
            warn_of_late(ev, argument)
        parts.append(describe(value))
    text = shown(", ".join(parts))
    if ev.builder is not None:
        key = (ev.source.location(node.start), text)
        if key in ev.session.printed:
            return VOID
        ev.session.printed.add(key)
    elif ev.journal is not None:
        # Every evaluation prints.
        ev.journal.give_up()
    ev.session.options.print(text)
    return VOID
