"""The rules of literals, calls and what is evaluated at compile time."""

from __future__ import annotations

from typing import Any

from ..csl import syntax
from . import calls, types
from .blocks import has_left, unless_left
from .branches import body
from .comptime_known import warn as warn_of_late
from .errors import Unchecked
from .evaluator import Evaluator, suggestion
from .frames import Break, Continue, Return
from .operators import check_size
from .place_expressions import function_at
from .registry import BUILTINS, Where, check_count, check_place, expression
from .types import Type
from .values import Callable, Value, is_ssa, known, string


@expression(syntax.Integer)
def _integer(ev: Evaluator, node: syntax.Integer, want: Type | None) -> Value:
    check_size(ev, node.value, node)
    return Value(types.COMPTIME_INT, node.value)


@expression(syntax.Float)
def _float(ev: Evaluator, node: syntax.Float, want: Type | None) -> Value:
    return Value(types.COMPTIME_FLOAT, node.value)


@expression(syntax.String)
def _string(ev: Evaluator, node: syntax.String, want: Type | None) -> Value:
    value: Any = node.value
    return string(value) if isinstance(value, str) else Value(types.COMPTIME_STRING, bytes(value))


@expression(syntax.Comptime)
def _comptime(ev: Evaluator, node: syntax.Comptime, want: Type | None) -> Value:
    if ev.builder is None:
        return body(ev, node.operand, want)
    try:
        with ev.at_compile_time():
            value = body(ev, node.operand, want)
    except (Break, Continue, Return) as jump:
        ev.fail(jump.node, "this jump leaves code evaluated at compile time; let it end inside")
    if not known(value):
        ev.fail(node.operand, "this is not known at compile time")
    warn_of_late(ev, node.operand, forced=True)
    return value


@expression(syntax.Call)
def _call(ev: Evaluator, node: syntax.Call, want: Type | None) -> Value:
    function = ev.expr(node.function)
    if isinstance(function.type, types.Pointer) and isinstance(function.type.target, types.Function):
        function = Value(function.type.target, function_at(function.data))
    if not isinstance(function.type, types.Function):
        ev.fail(node, f"a value of type '{function.type}' cannot be called")
    if isinstance(function.data, Callable) and function.data.is_task:
        ev.fail(node, f"task '{function.data.name}' cannot be called; activate the id it is bound to")
    wanted = [None if type is types.COMPTIME_STRUCT else type for type in function.type.parameters]
    wanted += [None] * len(node.arguments)
    arguments = [ev.expr(argument, type) for argument, type in zip(node.arguments, wanted, strict=False)]

    def call() -> Value:
        if is_ssa(function.data):
            return calls.call_indirectly(ev, function, arguments, node)
        return calls.call(ev, function.data, arguments, node)

    return unless_left(ev, call, node, *arguments)


@expression(syntax.Builtin)
def _builtin(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    name = f"@{node.name}"
    row = BUILTINS.get(name)
    if row is None or (row.is_internal and not ev.frame.module.is_library):
        known = [other for other, row in BUILTINS.items() if not row.is_internal]
        ev.fail(node, f"there is no builtin {name}{suggestion(name, known)}")
    if ev.is_checking and row.table.has_effects:
        raise Unchecked
    check_count(ev, row, node)
    if row.where is not Where.ANYWHERE or row.on_wse2:
        check_place(ev, row, node)
    value = row.rule(ev, node, want)
    if row.table.has_effects and ev.builder is not None and has_left(ev) is not False:
        ev.fail(node, f"an argument of {name} may lead elsewhere before it; give that argument a name, and use it here")
    return value


@expression(syntax.Asm)
def _asm(ev: Evaluator, node: syntax.Asm, want: Type | None) -> Value:
    ev.fail(node, "assembly cannot be run without the machine; write it in CSL")
