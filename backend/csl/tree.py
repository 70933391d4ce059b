"""Constructors of CSL trees, as short as the CSL they make.

The `start` of every node made here is its origin: an index into a list of the writer's, -1 if unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from ...csl import syntax
from ...csl.syntax import Expression, Statement

NOWHERE = -1


def name(text: str) -> syntax.Name:
    return syntax.Name(NOWHERE, NOWHERE, text)


def integer(value: int) -> Expression:
    """Return a literal as the parser reads it: a sign is an operator."""
    literal = syntax.Integer(NOWHERE, NOWHERE, abs(value), str(abs(value)))
    return unary("-", literal) if value < 0 else literal


def affine(index: AffineExpr, variables: Sequence[Expression]) -> Expression | None:
    """Return an index as sums and products of variables and numbers; None if it takes more than these."""
    match index:
        case AffineDimExpr():
            return variables[index.position]
        case AffineConstantExpr():
            return integer(index.value)
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add | AffineBinaryOpKind.Mul):
            left, right = affine(index.lhs, variables), affine(index.rhs, variables)
            if left is None or right is None:
                return None
            return binary("+" if index.kind is AffineBinaryOpKind.Add else "*", left, right)
        case _:
            return None


def string(value: str) -> syntax.String:
    return syntax.String(NOWHERE, NOWHERE, value.encode())


def builtin(called: str, *arguments: Expression) -> syntax.Builtin:
    return syntax.Builtin(NOWHERE, NOWHERE, called, list(arguments))


def call(function: Expression | str, *arguments: Expression) -> syntax.Call:
    callee = name(function) if isinstance(function, str) else function
    return syntax.Call(NOWHERE, NOWHERE, callee, list(arguments))


def member(base: Expression | str, field: str) -> syntax.Field:
    return syntax.Field(NOWHERE, NOWHERE, name(base) if isinstance(base, str) else base, field, NOWHERE)


def index(base: Expression, indices: Sequence[Expression]) -> Expression:
    return syntax.Index(NOWHERE, NOWHERE, base, list(indices)) if indices else base


def dereference(pointer: Expression) -> syntax.Dereference:
    return syntax.Dereference(NOWHERE, NOWHERE, pointer)


def unary(operator: str, operand: Expression) -> syntax.Unary:
    return syntax.Unary(NOWHERE, NOWHERE, operator, operand)


def address_of(operand: Expression) -> Expression:
    return operand.pointer if isinstance(operand, syntax.Dereference) else unary("&", operand)


def binary(operator: str, left: Expression, right: Expression) -> syntax.Binary:
    return syntax.Binary(NOWHERE, NOWHERE, operator, left, right, NOWHERE)


def choice(condition: Expression, yes: Expression, no: Expression) -> syntax.If:
    """Return `if (condition) yes else no`, as an expression."""
    branches = [syntax.IfBranch(NOWHERE, NOWHERE, condition, yes)]
    if isinstance(no, syntax.If):
        return syntax.If(NOWHERE, NOWHERE, branches + no.branches, no.otherwise)
    return syntax.If(NOWHERE, NOWHERE, branches, no)


def conjunction(conditions: Sequence[Expression]) -> Expression | None:
    """Join the conditions by `and`; return None if there are none."""
    return _chain("and", conditions)


def disjunction(conditions: Sequence[Expression]) -> Expression | None:
    """Join the conditions by `or`; return None if there are none."""
    return _chain("or", conditions)


def _chain(operator: str, operands: Sequence[Expression]) -> Expression | None:
    joined: Expression | None = None
    for operand in operands:
        joined = operand if joined is None else binary(operator, joined, operand)
    return joined


def structure(fields: Mapping[str, Expression]) -> syntax.Aggregate:
    """Return `.{ .a = x }`."""
    members = [syntax.FieldValue(NOWHERE, NOWHERE, key, value) for key, value in fields.items()]
    return syntax.Aggregate(NOWHERE, NOWHERE, None, members, [])


def sequence(elements: Iterable[Expression], type: Expression | None = None) -> syntax.Aggregate:
    """Return `.{ x, y }`, or `type{x, y}`."""
    return syntax.Aggregate(NOWHERE, NOWHERE, type, [], list(elements))


def array_type(dimensions: Sequence[int], element: Expression) -> Expression:
    """Return the type of an array, or of its element if there are no dimensions."""
    if not dimensions:
        return element
    return syntax.ArrayType(NOWHERE, NOWHERE, [integer(size) for size in dimensions], element)


def many_pointer_type(element: Expression, *, is_const: bool = False) -> syntax.ManyPointerType:
    return syntax.ManyPointerType(NOWHERE, NOWHERE, is_const, element)


def pointer_type(pointee: Expression, *, is_const: bool = False) -> syntax.PointerType:
    return syntax.PointerType(NOWHERE, NOWHERE, is_const, pointee)


def function_type(parameters: Sequence[Expression], result: Expression) -> syntax.FunctionType:
    return syntax.FunctionType(NOWHERE, NOWHERE, "fn", list(parameters), result)


def floating(value: float, type: str) -> Expression:
    """Return a literal that becomes exactly `value` when converted to the type."""
    dtype = np.dtype(np.float16 if type == "f16" else np.float32)
    if math.isfinite(value):
        shortest = float(str(dtype.type(value)))
        exact = shortest if float(dtype.type(shortest)) == value else value
        literal = syntax.Float(NOWHERE, NOWHERE, abs(exact), _decimal(abs(exact)))
        return unary("-", literal) if math.copysign(1.0, exact) < 0 else literal
    # CSL has no literal for these.
    if type == "bf16":
        bits, word = int(np.float32(value).view(np.uint32)) >> 16, "u16"
    else:
        bits, word = int(dtype.type(value).view(f"u{dtype.itemsize}")), f"u{8 * dtype.itemsize}"
    return builtin("bitcast", name(type), builtin("as", name(word), syntax.Integer(NOWHERE, NOWHERE, bits, hex(bits))))


def _decimal(value: float) -> str:
    """Return the digits without an exponent, which CSL's documents do not show."""
    text = np.format_float_positional(value, trim="0")
    return text if "." in text else f"{text}.0"


# Statements


def block(statements: Iterable[Statement]) -> syntax.Block:
    return syntax.Block(NOWHERE, NOWHERE, None, list(statements))


def declare(
    kind: str,
    called: str,
    type: Expression | None,
    value: Expression | None,
    alignment: int | None = None,
) -> syntax.Variable:
    """Return `kind called: type = value`."""
    align = None if alignment is None else integer(alignment)
    return syntax.Variable(NOWHERE, NOWHERE, kind, called, type, value, alignment=align)


def assign(target: Expression, value: Expression) -> syntax.Assign:
    return syntax.Assign(NOWHERE, NOWHERE, "=", target, value)


def branch(condition: Expression, yes: list[Statement], no: list[Statement]) -> syntax.If:
    """Return `if (condition) { yes } else { no }`; a lone `if` in `no` continues the chain."""
    branches = [syntax.IfBranch(NOWHERE, NOWHERE, condition, block(yes))]
    if not no:
        return syntax.If(NOWHERE, NOWHERE, branches, None)
    if len(no) == 1 and isinstance(no[0], syntax.If):
        return syntax.If(NOWHERE, NOWHERE, branches + no[0].branches, no[0].otherwise)
    return syntax.If(NOWHERE, NOWHERE, branches, block(no))


def repeat(
    element: str, type: Expression, first: Expression, end: Expression, step: Expression, body: Iterable[Statement]
) -> syntax.For:
    """Return `for (@range(type, first, end, step)) |element| { body }`, in the short form if it counts from 0 by 1."""
    short = _is(first, 0) and _is(step, 1)
    iterable = builtin("range", type, end) if short else builtin("range", type, first, end, step)
    return syntax.For(NOWHERE, NOWHERE, None, iterable, name(element), None, block(body))


def _is(node: Expression, value: int) -> bool:
    return isinstance(node, syntax.Integer) and node.value == value


def forever(body: Iterable[Statement]) -> syntax.While:
    return syntax.While(NOWHERE, NOWHERE, None, name("true"), None, block(body))


def leave() -> syntax.Break:
    return syntax.Break(NOWHERE, NOWHERE, None, None)


def return_of(value: Expression | None) -> syntax.Return:
    return syntax.Return(NOWHERE, NOWHERE, value)


def height(node: syntax.Node) -> int:
    """Return the height of a tree in nodes."""
    return 1 + max((height(child) for child in syntax.children(node)), default=0)


def names_in(node: syntax.Node) -> set[str]:
    """Return the identifiers that a tree uses."""
    return {found.name for found in syntax.walk(node) if isinstance(found, syntax.Name)}
