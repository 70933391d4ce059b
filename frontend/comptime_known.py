"""Comptime-known values by the rules of the manual, which are narrower than what is known while calls are inlined.

The rules are those of the page Comptime, Comptime-Known Values: what a `var` holds, what a parameter that is not
`comptime` is given, and what a call returns that is neither `comptime` nor `inline` are not comptime-known. Where such
a value is used as if it were, a warning says what to write. The branch it rules out is checked all the same, and so is
the whole body of a generic function that is called at compile time (`checking`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ..csl import syntax
from . import types
from .frames import Frame
from .session import Session
from .types import Type
from .values import Callable, Local, Value


class Denoted(Protocol):
    """What a name denotes."""

    type: Type

    def function(self) -> Callable | None: ...


class Context(Protocol):
    """The evaluator, as far as these rules concern it."""

    frame: Frame
    session: Session

    def place(self, node: syntax.Node) -> Denoted: ...

    def warn(self, node: syntax.Node, message: str) -> None: ...


KNOWN_ANYWAY = frozenset(
    (
        "dimensions", "element_count", "element_type", "fp16", "has_field", "is_comptime", "is_same_type", "rank",
        "strlen", "type_of",
    )
)  # fmt: skip
"""Builtins whose result is known at compile time whatever their arguments are."""


def reason(ev: Context, node: syntax.Node, *, forced: bool = False) -> str | None:
    """Return why the value of an expression is not comptime-known, with a remedy; None if it is, or may be.

    `forced` says that it is the operand of `comptime`, where calls are evaluated at compile time.
    """
    match node:
        case syntax.Name():
            local = ev.frame.find(node.name)
            return None if local is None else local.unknown_because
        case syntax.Call():
            found = _first(ev, node.arguments, forced)
            return found if found is not None or forced else _of_call(ev, node)
        case syntax.Comptime():
            return None
        case syntax.Builtin() if node.name in KNOWN_ANYWAY:
            return None
        case syntax.Binary() if node.operator in ("and", "or"):
            # What the right side is depends on whether it is evaluated.
            return reason(ev, node.left, forced=forced)
        case syntax.Block() | syntax.If() | syntax.Switch() if not forced:
            return None
        case _:
            return _first(ev, syntax.children(node), forced)


def _may_be_late(ev: Context, node: syntax.Node) -> bool:
    """Return True if an expression calls something, or names a local variable that is not comptime-known."""
    names = ev.session.analyses.operands(node)
    if names is None:
        return True
    locals = map(ev.frame.find, names)
    return any(local is not None and local.unknown_because is not None for local in locals)


def _first(ev: Context, nodes: Iterable[syntax.Node], forced: bool) -> str | None:
    for node in nodes:
        found = reason(ev, node, forced=forced)
        if found is not None:
            return found
    return None


def _of_call(ev: Context, node: syntax.Call) -> str | None:
    if not isinstance(node.function, syntax.Name | syntax.Field):
        return None
    where = ev.place(node.function)
    function = where.function()
    if function is None or function.node.inlining == "inline" or function.module.is_library:
        return None
    if not isinstance(where.type, types.Function) or types.is_comptime_only(where.type.result):
        return None
    name = function.name
    return f"'{name}' is called at run time; write 'comptime {name}(...)', or declare it 'inline fn'"


def warn(ev: Context, node: syntax.Node, *, forced: bool = False) -> None:
    """Warn of an expression that must be comptime-known and is not."""
    if ev.frame.module.is_library or not _may_be_late(ev, node):
        return
    text = reason(ev, node, forced=forced)
    if text is not None:
        ev.warn(node, f"the SDK's compiler does not know this at compile time: {text}")


def warn_of_call(
    ev: Context, function: Callable, arguments: list[Value], result: Type | None, node: syntax.Node
) -> None:
    """Warn of a call for run time of a function with a type in its declaration that exists at compile time only."""
    if ev.frame.module.is_library or function.module.is_library:
        return
    odd = result if result is not None and types.is_comptime_only(result) else None
    for parameter, value in zip(function.node.parameters, arguments, strict=True):
        is_declared = not parameter.is_comptime and not isinstance(parameter.type, syntax.AnyType)
        if is_declared and types.is_comptime_only(value.type):
            odd = value.type
    if odd is not None:
        advice = f"write 'comptime {function.name}(...)'"
        ev.warn(
            node, f"the SDK's compiler evaluates functions that take or return a '{odd}' at compile time only; {advice}"
        )


def mark_parameter(local: Local, parameter: syntax.Parameter, function: syntax.Function) -> None:
    """Mark what a function emitted for run time is given for a parameter."""
    if not (parameter.is_comptime or types.is_comptime_only(local.type)):
        local.unknown_because = (
            f"'{local.name}' is a parameter of '{function.name}'; declare it 'comptime {local.name}'"
        )


def mark_variable(ev: Context, local: Local, node: syntax.Variable) -> None:
    """Mark a variable of code for run time that may change then, or whose initial value is not comptime-known."""
    if node.is_comptime or types.is_comptime_only(local.type):
        return
    if node.kind == "var":
        local.unknown_because = f"'{local.name}' is a 'var'; declare it 'const', or 'comptime var'"
    elif node.value is not None and _may_be_late(ev, node.value):
        local.unknown_because = reason(ev, node.value)
