"""Late values: known here, because calls are evaluated in place, but at run time only by the rules of the manual.

The rules are those of the page Comptime, Comptime-Known Values: what a `var` holds, what a parameter that is not
`comptime` is given, and what a call gives that is neither `comptime` nor `inline` are not known at compile time. Where
such a value is used as if it were known, a warning says what to write; the branch it rules out is checked all the same,
and so is the whole body of a generic function that is called at compile time.
"""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Generator, Iterable
from contextlib import contextmanager

from xdsl.ir import Block

from ..csl import syntax
from ..csl.errors import CslError
from ..csl.source import Diagnostic, Note
from . import types
from .core import Evaluator, Mistyped, Unchecked
from .emit import Builder, has_one_register
from .types import Type
from .values import VOID, Callable, Local, Split, Value

KNOWN_ANYWAY = frozenset(
    (
        "dimensions", "element_count", "element_type", "fp16", "has_field", "is_comptime", "is_same_type", "rank",
        "strlen", "type_of",
    )
)  # fmt: skip
"""Builtins whose result is known at compile time whatever their arguments are."""


def reason(ev: Evaluator, node: syntax.Node, *, forced: bool = False) -> str | None:
    """Return why the value of an expression is late, with a remedy; None if it is not, as far as its text shows.

    `forced` says that it is the operand of `comptime`, where calls are evaluated at compile time.
    """
    match node:
        case syntax.Name():
            local = ev.frame.find(node.name)
            return None if local is None else local.late
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


def _first(ev: Evaluator, nodes: Iterable[syntax.Node], forced: bool) -> str | None:
    for node in nodes:
        found = reason(ev, node, forced=forced)
        if found is not None:
            return found
    return None


def _of_call(ev: Evaluator, node: syntax.Call) -> str | None:
    from .expressions import place
    from .places import Temporary

    if not isinstance(node.function, syntax.Name | syntax.Field):
        return None
    where = place(ev, node.function)
    function = where.value.data if isinstance(where, Temporary) else None
    if not isinstance(function, Callable) or function.node.inlining == "inline" or function.module.is_library:
        return None
    if not isinstance(where.type, types.Function) or types.is_comptime_only(where.type.result):
        return None
    name = function.name
    return f"the call of '{name}' is not evaluated then; write 'comptime {name}(...)', or declare it 'inline fn'"


def warn(ev: Evaluator, node: syntax.Node, *, forced: bool = False) -> None:
    """Warn of an expression that must be known at compile time and is late."""
    if ev.frame.module.is_library:
        return
    text = reason(ev, node, forced=forced)
    if text is not None:
        ev.warn(node, f"the SDK's compiler does not know this at compile time: {text}")


def warn_of_call(
    ev: Evaluator, function: Callable, arguments: list[Value], result: Type | None, node: syntax.Node
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
        ev.warn(node, f"the SDK's compiler evaluates functions with a '{odd}' at compile time only; {advice}")


def mark_parameter(local: Local, parameter: syntax.Parameter, function: syntax.Function) -> None:
    """Mark what a function emitted for run time is given for a parameter."""
    if not (parameter.is_comptime or types.is_comptime_only(local.type)):
        local.late = f"'{local.name}' is a parameter of '{function.name}'; declare it 'comptime {local.name}'"


def mark_variable(ev: Evaluator, local: Local, node: syntax.Variable) -> None:
    """Mark a variable of code for run time that may change then, or that is given a late value."""
    if node.is_comptime or types.is_comptime_only(local.type):
        return
    if node.kind == "var":
        local.late = f"'{local.name}' is a 'var'; declare it 'const', or 'comptime var'"
    elif node.value is not None:
        local.late = reason(ev, node.value)


# Code that is checked but is not part of the program


def opaque(ev: Evaluator, local: Local) -> Value | None:
    """Return a late variable's value as one of which only the type is known; None if it is not late, or not hidden."""
    assert local.value is not None
    if local.late is None or isinstance(local.type, types.Pointer) or not has_one_register(local.type):
        return None
    return unknown(ev, local.value.type)


def unknown(ev: Evaluator, type: Type) -> Value:
    """Return a value of which only the type is known. Raises Unchecked for types that have none at run time."""
    if type is types.VOID:
        return VOID
    if not has_one_register(type) or type is types.CB16:
        raise Unchecked
    return Value(type, ev.code.constant(type, 0))


@contextmanager
def _aside(ev: Evaluator) -> Generator[None]:
    """Evaluate for the errors alone: what is emitted goes nowhere, and variables are then as before."""
    before = [(local, local.value) for local in ev.live]
    result = ev.frame.result
    kept = types.VOID if result is None else result.type
    builder, ev.builder = ev.builder, Builder(Block())
    ev.is_checking = True
    ev.branches += 1
    try:
        yield
    finally:
        ev.branches -= 1
        ev.is_checking = False
        ev.builder = builder
        for local, value in before:
            local.value = value
        if result is not None:
            result.type = kept


def check_untaken(ev: Evaluator, condition: syntax.Node, run: Function[[], object]) -> None:
    """Check what a late condition rules out. Raises CslError for a mistake that is one whatever the values are."""
    if ev.builder is None or ev.is_checking or ev.pe is None or ev.frame.module.is_library:
        return
    text = reason(ev, condition)
    if text is None:
        return
    said = f"what this condition rules out is checked too, because it is not known at compile time: {text}"
    _check(ev, run, Note(ev.source, condition.start, condition.end, said))


def check_generic(ev: Evaluator, function: Callable, arguments: list[Value], node: syntax.Node) -> None:
    """Check the whole body of a generic function called at compile time, once for the types it is given.

    The manual compiles a copy of it for them (Generics), of which the values given rule out nothing.
    """
    from .calls import emit_checked, is_generic

    if ev.builder is not None or ev.is_checking or ev.pe is None or function.module.is_library:
        return
    if not is_generic(function.node):
        return
    key = (id(function.module), id(function.node), tuple(map(_specialized, arguments)))
    if key in ev.pe.checked:
        return
    ev.pe.checked.add(key)
    note = Note(ev.source, node.start, node.end, f"'{function.name}' is compiled for these types as a whole")
    _check(ev, lambda: emit_checked(ev, function, arguments), note)


def _specialized(value: Value) -> str:
    """A type, or what is given for a comptime parameter of a type that exists at compile time only."""
    return str(value.data) if value.type is types.TYPE else str(value.type)


def _check(ev: Evaluator, run: Function[[], object], note: Note) -> None:
    try:
        with _aside(ev):
            run()
    except Mistyped as error:
        (first, *rest) = error.diagnostics
        first = Diagnostic(first.source, first.start, first.end, first.message, (*first.notes, note))
        raise CslError([first, *rest]) from None
    except (CslError, Unchecked, Split):
        # What cannot be told without the values is left to the code that is part of the program.
        return
