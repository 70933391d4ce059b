"""`arith` and `math` as CSL expressions.

CSL's integers have a sign and the IR's have none: every signless integer is a signed one in CSL, and an operation
that reads its operands as unsigned says so with `@bitcast`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from ...csl import syntax
from ...csl.syntax import Expression
from ...dialects import wse
from ...operations import cb16
from . import tree
from .types import literal_of

if TYPE_CHECKING:
    from .code import Code

_Maker = Callable[[Operation, "Code"], Expression]


def expression_of(op: Operation, code: Code) -> Expression | None:
    """Return the result of `op` as a CSL expression; None if CSL has no such operation."""
    maker = _MAKERS.get(op.name)
    if maker is None:
        return None
    for value in (*op.operands, *op.results):
        code.type_text(op, value.type)
    return maker(op, code)


_BITS = ("arith.shli", "arith.shrsi", "arith.shrui", "arith.andi", "arith.ori", "arith.xori")
_REPEATS_OPERANDS = (
    "arith.minsi",
    "arith.maxsi",
    "arith.minui",
    "arith.maxui",
    "arith.maximumf",
    "arith.minimumf",
    "arith.maxnumf",
    "arith.minnumf",
    "arith.cmpf",
)


def reads_well_in(user: Operation, expression: Expression) -> bool:
    """Return True if an expression may be an operand in that of `user`, which reads it once.

    CSL's documents leave open how bitwise operators bind beside others, so those get names for operands.
    """
    if user.name in _REPEATS_OPERANDS:
        return isinstance(expression, syntax.Name)
    return user.name not in _BITS or not isinstance(expression, syntax.Binary) or expression.operator in _COMPARISONS


_COMPARISONS = ("==", "!=", "<", ">", "<=", ">=", "and", "or")


def _type(op: Operation, code: Code, value: SSAValue) -> str:
    return code.type_text(op, value.type)


def _pair(op: Operation, code: Code, read: str = "") -> tuple[Expression, Expression]:
    """Return two operands read as they are, as "i" (signed) or "u" (unsigned) integers; at least one is typed."""
    left, right = op.operands[:2]
    known = code.is_constant(left) and code.is_constant(right)
    return _read(op, code, left, read, typed=known), _read(op, code, right, read)


def _read(op: Operation, code: Code, value: SSAValue, read: str, *, typed: bool = False) -> Expression:
    """Return an operand read as a signed ("i") or unsigned ("u") integer."""
    type = _type(op, code, value)
    if not read or type[0] == read or type == "bool":
        return code.value(value, typed=typed)
    wanted = read + type[1:]
    if code.is_constant(value):
        literal = literal_of(wanted, code.constant(value))
        return tree.builtin("as", tree.name(wanted), literal) if typed else literal
    return tree.builtin("bitcast", tree.name(wanted), code.value(value))


def _as(type: str, value: Expression) -> Expression:
    return tree.builtin("as", tree.name(type), value)


def _back(op: Operation, code: Code, expression: Expression, read: str) -> Expression:
    """Convert the result of an integer operation to the result's type."""
    type = _type(op, code, op.results[0])
    if not read or type[0] == read or type == "bool":
        return expression
    return tree.builtin("bitcast", tree.name(type), expression)


def _infix(operator: str, read: str = "") -> _Maker:
    def make(op: Operation, code: Code) -> Expression:
        left, right = _pair(op, code, read)
        return _back(op, code, tree.binary(operator, left, right), read)

    return make


def _logic(integer: str, boolean: str) -> _Maker:
    """Return an operation on bits, which has another operator on `bool`."""

    def make(op: Operation, code: Code) -> Expression:
        left, right = _pair(op, code)
        is_bool = _type(op, code, op.results[0]) == "bool"
        return tree.binary(boolean if is_bool else integer, left, right)

    return make


def _shift(operator: str, read: str) -> _Maker:
    def make(op: Operation, code: Code) -> Expression:
        left = _read(op, code, op.operands[0], read, typed=True)
        amount = _read(op, code, op.operands[1], "u", typed=True)
        return _back(op, code, tree.binary(operator, left, amount), read)

    return make


def _extremum(operator: str, read: str) -> _Maker:
    def make(op: Operation, code: Code) -> Expression:
        left, right = (_read(op, code, value, read, typed=True) for value in op.operands)
        if _type(op, code, op.results[0]) == "bool":
            # A true i1 is -1 if it is read as signed.
            return tree.binary("and" if (operator == ">") == (read == "i") else "or", left, right)
        return _back(op, code, tree.choice(tree.binary(operator, left, right), left, right), read)

    return make


def _is_nan(value: Expression) -> Expression:
    return tree.binary("!=", value, value)


def _float_extremum(operator: str, *, keeps_nan: bool) -> _Maker:
    """Return a maximum or minimum as the IR defines it: a NaN wins or loses, and +0 is larger than -0."""

    def make(op: Operation, code: Code) -> Expression:
        left, right = (code.value(value, typed=True) for value in op.operands)
        if not keeps_nan:
            test = tree.binary("or", tree.binary(operator, right, left), _is_nan(left))
            return tree.choice(test, right, left)
        zero = tree.floating(0.0, _type(op, code, op.results[0]))
        zeros = tree.binary("and", tree.binary("==", left, zero), tree.binary("==", right, zero))
        sum = tree.binary("+", left, right)
        if operator == "<":
            sum = tree.unary("-", tree.binary("-", tree.unary("-", left), right))
        test = tree.binary("or", tree.binary(operator, left, right), _is_nan(left))
        return tree.choice(zeros, sum, tree.choice(test, left, right))

    return make


_ORDER = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_OPPOSITE = {"eq": "!=", "ne": "==", "lt": ">=", "le": ">", "gt": "<=", "ge": "<"}


def _compare_integers(op: Operation, code: Code) -> Expression:
    assert isinstance(op, arith.CmpiOp)
    name = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
    if name in ("eq", "ne"):
        return tree.binary(_ORDER[name], *_pair(op, code))
    read = "i" if name[0] == "s" else "u"
    if _type(op, code, op.lhs) == "bool":
        # A true i1 is 1 if it is read as unsigned, -1 if as signed.
        left, right = (_as("u16", code.value(value)) for value in op.operands)
        if read == "i":
            left, right = right, left
        return tree.binary(_ORDER[name[1:]], left, right)
    return tree.binary(_ORDER[name[1:]], *_pair(op, code, read))


def _compare_floats(op: Operation, code: Code) -> Expression:
    assert isinstance(op, arith.CmpfOp)
    name = arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]
    left, right = _pair(op, code)
    if name in ("true", "false"):
        return tree.name(name)
    ordered = tree.binary("and", tree.binary("==", left, left), tree.binary("==", right, right))
    unordered = tree.binary("or", _is_nan(left), _is_nan(right))
    match name:
        case "ord":
            return ordered
        case "uno":
            return unordered
        case "one":
            return tree.binary("or", tree.binary("<", left, right), tree.binary(">", left, right))
        case "ueq":
            return tree.binary("or", unordered, tree.binary("==", left, right))
        case "une":
            return tree.binary("!=", left, right)
        case _ if name[0] == "o":
            return tree.binary(_ORDER[name[1:]], left, right)
        case _:
            return tree.unary("!", tree.binary(_OPPOSITE[name[1:]], left, right))


def _select(op: Operation, code: Code) -> Expression:
    assert isinstance(op, arith.SelectOp)
    return tree.choice(code.value(op.cond), code.value(op.lhs, typed=True), code.value(op.rhs, typed=True))


def _convert(read: str) -> _Maker:
    """Return a conversion of a number whose integer source is read as signed or unsigned."""

    def make(op: Operation, code: Code) -> Expression:
        source, result = op.operands[0], op.results[0]
        type, wanted = _type(op, code, source), _type(op, code, result)
        if type == "bool":
            if read == "i":
                return tree.choice(
                    code.value(source), _as(wanted, literal_of(wanted, -1)), _as(wanted, literal_of(wanted, 0))
                )
            return _as(wanted, code.value(source))
        value = _read(op, code, source, read, typed=True)
        if type == wanted:
            return code.value(source, typed=True)
        if wanted == "bool":
            return tree.binary("!=", tree.binary("&", value, tree.integer(1)), tree.integer(0))
        if type[0] in "iu" and wanted[0] in "iu" and type[1:] == wanted[1:]:
            return tree.builtin("bitcast", tree.name(wanted), value)
        return _as(wanted, value)

    return make


def _from_float(read: str) -> _Maker:
    def make(op: Operation, code: Code) -> Expression:
        wanted = _type(op, code, op.results[0])
        value = code.value(op.operands[0], typed=True)
        if wanted == "bool":
            odd = tree.binary("&", _as("i64", value), tree.integer(1))
            return tree.binary("!=", odd, tree.integer(0))
        return _back(op, code, _as(read + wanted[1:], value), read)

    return make


def _float_to_float(op: Operation, code: Code) -> Expression:
    return _as(_type(op, code, op.results[0]), code.value(op.operands[0], typed=True))


def _bitcast(op: Operation, code: Code) -> Expression:
    wanted = _type(op, code, op.results[0])
    value = code.value(op.operands[0], typed=True)
    return value if wanted == _type(op, code, op.operands[0]) else tree.builtin("bitcast", tree.name(wanted), value)


def _negate(op: Operation, code: Code) -> Expression:
    return tree.unary("-", code.value(op.operands[0], typed=True))


def _library(function: str) -> _Maker:
    def make(op: Operation, code: Code) -> Expression:
        arguments = [code.value(value, typed=True) for value in op.operands]
        return tree.call(tree.member(code.library("math"), function), *arguments)

    return make


_INFIX_OF_CB16 = {
    "addf": "+", "subf": "-", "mulf": "*", "divf": "/", "oeq": "==", "une": "!=", "olt": "<", "ogt": ">", "ole": "<=",
    "oge": ">=",
}  # fmt: skip
_LIBRARY_OF_CB16 = {
    "absf": "abs", "sqrt": "sqrt", "rsqrt": "invsqrt", "exp": "exp", "log": "log", "sin": "sin", "cos": "cos",
    "tanh": "tanh", "ceil": "ceil", "floor": "floor", "powf": "pow",
}  # fmt: skip


def expression_of_cb16(op: wse.Cb16Op, code: Code) -> Expression | None:
    """Return the result of an operation on numbers of format cb16, as the bits of one; None if CSL has no such."""
    function = op.function.data
    *letters, given = cb16.FUNCTIONS[function]
    operands: list[Expression] = []
    for value, letter in zip(op.arguments, letters, strict=True):
        operand = code.value(value, typed=True)
        operands.append(tree.builtin("bitcast", tree.name("cb16"), operand) if letter == "c" else operand)
    wanted = _type(op, code, op.result)
    if function in _INFIX_OF_CB16:
        result = tree.binary(_INFIX_OF_CB16[function], *operands)
    elif function in _LIBRARY_OF_CB16:
        result = tree.call(tree.member(code.library("math"), _LIBRARY_OF_CB16[function]), *operands)
    elif function == "negf":
        result = tree.unary("-", operands[0])
    elif function in ("extf", "fptosi"):
        result = _as(wanted, operands[0])
    elif function in ("truncf", "sitofp"):
        result = _as("cb16", operands[0])
    elif function == "fptoui":
        result = tree.builtin("bitcast", tree.name(wanted), _as(f"u{wanted[1:]}", operands[0]))
    elif function == "uitofp":
        source = _type(op, code, op.arguments[0])
        unsigned = operands[0]
        if source != "bool":
            unsigned = tree.builtin("bitcast", tree.name(f"u{source[1:]}"), unsigned)
        result = _as("cb16", unsigned)
    else:
        return None
    return tree.builtin("bitcast", tree.name("i16"), result) if given == "c" else result


_MAKERS: dict[str, _Maker] = {
    "arith.addi": _logic("+", "!="),
    "arith.subi": _logic("-", "!="),
    "arith.muli": _logic("*", "and"),
    "arith.andi": _logic("&", "and"),
    "arith.ori": _logic("|", "or"),
    "arith.xori": _logic("^", "!="),
    "arith.divsi": _infix("/", "i"),
    "arith.divui": _infix("/", "u"),
    "arith.remsi": _infix("%", "i"),
    "arith.remui": _infix("%", "u"),
    "arith.shli": _shift("<<", ""),
    "arith.shrsi": _shift(">>", "i"),
    "arith.shrui": _shift(">>", "u"),
    "arith.minsi": _extremum("<", "i"),
    "arith.maxsi": _extremum(">", "i"),
    "arith.minui": _extremum("<", "u"),
    "arith.maxui": _extremum(">", "u"),
    "arith.addf": _infix("+"),
    "arith.subf": _infix("-"),
    "arith.mulf": _infix("*"),
    "arith.divf": _infix("/"),
    "arith.negf": _negate,
    "arith.maximumf": _float_extremum(">", keeps_nan=True),
    "arith.minimumf": _float_extremum("<", keeps_nan=True),
    "arith.maxnumf": _float_extremum(">", keeps_nan=False),
    "arith.minnumf": _float_extremum("<", keeps_nan=False),
    "arith.cmpi": _compare_integers,
    "arith.cmpf": _compare_floats,
    "arith.select": _select,
    "arith.extsi": _convert("i"),
    "arith.extui": _convert("u"),
    "arith.trunci": _convert(""),
    "arith.index_cast": _convert("i"),
    "arith.index_castui": _convert("u"),
    "arith.sitofp": _convert("i"),
    "arith.uitofp": _convert("u"),
    "arith.fptosi": _from_float("i"),
    "arith.fptoui": _from_float("u"),
    "arith.extf": _float_to_float,
    "arith.truncf": _float_to_float,
    "arith.bitcast": _bitcast,
    "math.absf": _library("abs"),
    "math.absi": _library("abs"),
    "math.ceil": _library("ceil"),
    "math.cos": _library("cos"),
    "math.exp": _library("exp"),
    "math.floor": _library("floor"),
    "math.log": _library("log"),
    "math.powf": _library("pow"),
    "math.rsqrt": _library("invsqrt"),
    "math.sin": _library("sin"),
    "math.sqrt": _library("sqrt"),
    "math.tanh": _library("tanh"),
}
