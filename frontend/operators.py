"""The rules of unary and binary operators."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects import arith

from ..csl import syntax
from . import control, emit, scalars, types
from .asking import question
from .blocks import unless_left
from .comptime_known import reason
from .conversion import check_addressable, extremes, peer
from .evaluator import Evaluator
from .registry import expression
from .types import Type
from .values import NOTHING, Callable, Column, Value, boolean, is_ssa


@expression(syntax.Unary)
def _unary(ev: Evaluator, node: syntax.Unary, want: Type | None) -> Value:
    symbol = node.operator
    if symbol == "&":
        return _address_of(ev, node)
    if isinstance(want, types.Cast):
        want = types.Cast(want.target, numbers_only=True)
    value = ev.expr(node.operand, want)
    type, data = value.type, value.data
    if type is types.UNDEFINED:
        return value
    if symbol == "!":
        if type is not types.BOOL:
            ev.mistyped(node, f"'!' needs a 'bool', not '{type}'; compare with zero, or use '~' for the bits")
        if is_ssa(data):
            return boolean(control.negated(ev, data))
        return boolean(ev.lift(operator.not_, data))
    if symbol == "~":
        if type is types.COMPTIME_INT:
            ev.fail(node, "'~' needs an integer of known width; give it one with @as")
        if not types.is_integer(type):
            ev.mistyped(node, f"'~' needs an integer, not '{type}'")
        if is_ssa(data):
            ev.code.at(ev.source, node.start)
            return Value(type, emit.binary(ev.code, "^", type, data, ev.code.constant(type, -1)))
        return Value(type, ev.fitted(type, ev.lift(operator.invert, data)))
    if not types.is_numeric(type):
        ev.mistyped(node, f"'-' needs a number, not '{type}'")
    if is_ssa(data):
        ev.code.at(ev.source, node.start)
        if type is types.CB16:
            return Value(type, emit.of_cb16(ev.code, "negf", [data], data.type))
        if isinstance(type, types.Float):
            return Value(type, ev.code.value(arith.NegfOp(data)))
        return Value(type, emit.binary(ev.code, "-", type, ev.code.constant(type, 0), data))
    return Value(type, ev.fitted(type, ev.lift(operator.neg, data)))


def _address_of(ev: Evaluator, node: syntax.Unary) -> Value:
    where = ev.place(node.operand)
    if isinstance(where.type, types.Function):
        check_addressable(ev, where.load(ev, node), node)
        return Value(types.Pointer(where.type, True), where.load(ev, node).data)
    address = where.address(ev, node)
    return Value(types.Pointer(where.type, where.is_const), address)


@expression(syntax.Binary)
def _binary(ev: Evaluator, node: syntax.Binary, want: Type | None) -> Value:
    symbol = node.operator
    if symbol in ("and", "or"):
        return _logical(ev, node)
    # A chain of additions is a deep left spine: walk it without recursion.
    spine = [node]
    while isinstance(spine[-1].left, syntax.Binary) and spine[-1].left.operator not in ("and", "or"):
        spine.append(spine[-1].left)
    left = ev.expr(spine[-1].left)
    for link in reversed(spine):
        right = ev.expr(link.right)
        if link.operator in ("/", "%"):
            # There is no divisor where a jump has been taken instead.
            left = unless_left(ev, partial(binary, ev, link.operator, left, right, link), link, left, right)
        else:
            left = binary(ev, link.operator, left, right, link)
    return left


def binary(ev: Evaluator, symbol: str, left: Value, right: Value, node: syntax.Node) -> Value:
    """Evaluate or emit `left symbol right`. Raises CslError if the types do not fit."""
    if left.type is types.UNDEFINED or right.type is types.UNDEFINED:
        return NOTHING
    if symbol in ("<<", ">>"):
        return _shift(ev, symbol, left, right, node)
    left, right = peer(ev, left, right, node)
    type = left.type
    comparison = symbol in scalars.COMPARISONS
    if not types.is_numeric(type):
        return _other(ev, symbol, left, right, node)
    if symbol == "%" and not types.is_integer(type):
        ev.warn(node, f"the SDK's compiler takes '%' of integers, not of '{type}'; subtract multiples instead")
    if symbol in scalars.BITWISE and not types.is_integer(type):
        ev.mistyped(node, f"'{symbol}' works on integers, not on '{type}'")
    result = types.BOOL if comparison else type
    if symbol in ("/", "%") and types.is_integer(type) and right.data == 0 and not is_ssa(right.data):
        ev.fail(node, "division by zero")
    if is_ssa(left.data) or is_ssa(right.data) or _may_stop(ev, type, node):
        a, b = ev.ssa(left, node), ev.ssa(right, node)
        ev.code.at(ev.source, node.start)
        return Value(result, emit.binary(ev.code, symbol, type, a, b))
    try:
        value = Value(result, scalars.binary(ev.lanes, symbol, type, left.data, right.data))
    except ZeroDivisionError:
        ev.fail(node, "division by zero")
    if type is types.COMPTIME_INT and not comparison:
        check_size(ev, value.data, node)
    if type is types.COMPTIME_FLOAT and not comparison:
        if symbol == "/" and 0.0 in extremes(right.data):
            ev.fail(node, "division by zero")
        if any(number != number for number in extremes(value.data)):
            ev.fail(node, f"'{symbol}' of these numbers is not a number")
    return value


def _may_stop(ev: Evaluator, type: Type, node: syntax.Node) -> bool:
    """Return True if an operation on numbers that happen to be known may stop the PE by an exception when it runs."""
    if ev.builder is None or ev.is_checking or not isinstance(type, types.Float):
        return False
    return _traps(ev) and reason(ev, node) is not None


@question
def _traps(ev: Evaluator) -> bool:
    """Return True if the program may let operations stop the PE."""
    files = (module.file for module in ev.instances if not module.is_library)
    return any(map(ev.session.analyses.traps, files))


def _shift(ev: Evaluator, symbol: str, left: Value, right: Value, node: syntax.Node) -> Value:
    type = left.type
    if not types.is_integer(type) or not types.is_integer(right.type):
        ev.mistyped(node, f"'{symbol}' works on integers, not on '{type}' and '{right.type}'")
    if isinstance(right.type, types.Int) and right.type.signed:
        ev.fail(node, f"the shift amount must be unsigned, not '{right.type}'; convert it with @as")
    if type is types.COMPTIME_INT and is_ssa(right.data):
        left = ev.coerce(left, right.type, node)
        type = left.type
    if is_ssa(left.data) or is_ssa(right.data):
        amount = right.data
        if is_ssa(amount):
            assert isinstance(right.type, types.Int) and isinstance(type, types.Int)
            if right.type.carrier > type.carrier:
                # What a narrower integer cannot hold shifts everything out, as the width does.
                amount = ev.code.value(arith.MinUIOp(amount, ev.code.constant(right.type, type.carrier)))
            amount = ev.code.extend(amount, right.type, type.bits)
        else:
            if isinstance(type, types.Int):
                width = type.carrier

                def at_most_width(number: int) -> int:
                    return min(number, width)

                amount = ev.lift(at_most_width, amount)
            amount = ev.ssa(Value(type, amount), node)
        value = ev.ssa(left, node)
        ev.code.at(ev.source, node.start)
        return Value(type, emit.binary(ev.code, symbol, type, value, amount))
    if not isinstance(right.data, Column) and right.data < 0:
        ev.fail(node, f"a shift by {right.data} bits; the shift amount must be at least 0")
    if symbol == "<<" and type is types.COMPTIME_INT and extremes(right.data)[1] > types.MAX_COMPTIME_BITS:
        ev.fail(node, f"an integer of more than {types.MAX_COMPTIME_BITS} bits is too large; check that this loop ends")
    result = Value(type, scalars.binary(ev.lanes, symbol, type, left.data, right.data))
    if type is types.COMPTIME_INT:
        check_size(ev, result.data, node)
    return result


def check_size(ev: Evaluator, data: Any, node: syntax.Node) -> None:
    if isinstance(data, int) and data.bit_length() > types.MAX_COMPTIME_BITS:
        ev.fail(node, f"an integer of more than {types.MAX_COMPTIME_BITS} bits is too large; check that this loop ends")


def _other(ev: Evaluator, symbol: str, left: Value, right: Value, node: syntax.Node) -> Value:
    """Evaluate or emit an operator on values that are not numbers."""
    type = left.type
    if type is types.BOOL and symbol in ("&", "|", "^"):
        instead = {"&": "and", "|": "or", "^": "!="}[symbol]
        ev.warn(node, f"the SDK's compiler takes '{symbol}' of integers only (Syntax, Operators); write '{instead}'")
        if is_ssa(left.data) or is_ssa(right.data):
            return boolean(emit.binary(ev.code, symbol, types.BOOL, ev.ssa(left, node), ev.ssa(right, node)))
        return boolean(ev.lift(scalars.BITWISE[symbol], left.data, right.data))
    if symbol not in ("==", "!="):
        ev.mistyped(node, f"'{symbol}' does not work on values of type '{type}'")
    if isinstance(type, types.Pointer | types.Array | types.Record):
        shown = f"the SDK's compiler does not compare values of type '{type}' (Syntax, Operators)"
        ev.warn(node, f"{shown}; compare numbers that distinguish them")
    if isinstance(type, types.Pointer) and not isinstance(left.data, Callable):
        a, b = ev.ssa(left, node), ev.ssa(right, node)
        return boolean(emit.binary(ev.code, symbol, types.U16, a, b))
    if is_ssa(left.data) or is_ssa(right.data):
        a, b = ev.ssa(left, node), ev.ssa(right, node)
        ev.code.at(ev.source, node.start)
        return boolean(emit.binary(ev.code, symbol, types.U16, a, b))
    if isinstance(left.data, Column | int) or isinstance(right.data, Column | int):
        return boolean(ev.lift(scalars.COMPARISONS[symbol], left.data, right.data))
    same = are_equal(ev, left, right, node)
    if symbol == "==":
        return boolean(same)
    if is_ssa(same):
        return boolean(emit.binary(ev.code, "^", types.BOOL, same, ev.code.constant(types.BOOL, True)))
    return boolean(ev.lift(operator.not_, same))


def are_equal(ev: Evaluator, left: Value, right: Value, node: syntax.Node) -> Any:
    """Return the equality of two values and all their parts: known, for each lane, or as SSA value."""
    one: Any = left.data
    other: Any = right.data
    parts, others = _parts(left), _parts(right)
    if parts is not None and others is not None:
        if len(parts) != len(others):
            return False
        same: Any = True
        for a, b in zip(parts, others, strict=True):
            found = are_equal(ev, a, b, node)
            if found is False:
                return False
            same = found if same is True else _both(ev, same, found, node)
        return same
    if is_ssa(one) or is_ssa(other):
        type = left.type if is_ssa(one) else right.type
        a, b = (ev.ssa(ev.coerce(value, type, node), node) for value in (left, right))
        return emit.binary(ev.code, "==", type if types.is_numeric(type) else types.U16, a, b)
    if left.type != right.type:
        return False
    if isinstance(one, Column) or isinstance(other, Column):
        return ev.lift(scalars.COMPARISONS["=="], one, other)
    return bool(one == other)


_SEQUENCES: tuple[type[Any], ...] = (list, tuple, np.ndarray)


def _parts(whole: Value) -> list[Value] | None:
    """Return the elements of an array, or what a struct has in its fields; None of anything else."""
    data: Any = whole.data
    if not isinstance(data, _SEQUENCES):
        return None
    kept: list[Any] = [*data]
    element = whole.type.element if isinstance(whole.type, types.Array) else types.VOID
    return [each if isinstance(each, Value) else Value(element, each) for each in kept]


def _both(ev: Evaluator, one: Any, other: Any, node: syntax.Node) -> Any:
    if is_ssa(one) or is_ssa(other):
        return emit.binary(ev.code, "&", types.BOOL, ev.ssa(boolean(one), node), ev.ssa(boolean(other), node))
    return ev.lift(scalars.BITWISE["&"], one, other)


def _logical(ev: Evaluator, node: syntax.Binary) -> Value:
    left = ev.expr(node.left)
    condition = ev.truth(left, node.left)
    stop = node.operator == "or"
    if not is_ssa(condition):
        if condition == stop:
            return boolean(stop)
        right = ev.expr(node.right)
        if right.type is not types.UNDEFINED:
            ev.truth(right, node.right)
        return right

    def right_side() -> Value:
        value = ev.expr(node.right)
        if value.type not in (types.BOOL, types.UNDEFINED):
            ev.fail(node.right, f"'{node.operator}' needs a 'bool', not '{value.type}'")
        return value

    if ev.session.analyses.is_plain(node.right):
        right = right_side()
        if not is_ssa(right.data):
            return boolean(stop if ev.truth(right, node.right) == stop else condition)
        ev.code.at(ev.source, node.start)
        return boolean(ev.code.value((arith.OrIOp if stop else arith.AndIOp)(condition, right.data)))
    if stop:
        return control.branch(ev, condition, lambda: boolean(True), right_side, node)
    return control.branch(ev, condition, right_side, lambda: boolean(False), node)
