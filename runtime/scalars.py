"""Scalar arithmetic on warps: every value is uniform (a Python number) or an array with one element a unit.

Arrays have the shape of their unit set, [rows, columns], and the numpy type of their kind (`memory.DTYPES`).
Integers are kept signed and wrap, floats are rounded to their type after every operation, booleans are bool. An
operation is a pair of functions, one for Python numbers and one for arrays; both give bit-identical results.
Knows the `arith` and `math` dialects and nothing else.
"""

from __future__ import annotations

import operator
from array import array
from collections.abc import Callable
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation

from ..diagnostics import LoomError, location_of
from .memory import DTYPES
from .units import Array

Value: TypeAlias = Any
"""A Python number, or an array [rows, columns]."""

Unary: TypeAlias = Callable[[Value], Value]
Binary: TypeAlias = Callable[[Value, Value], Value]
Function: TypeAlias = Callable[..., Value]

FLOATS = ("f32", "f16", "bf16")


def kind_of(type: Attribute) -> str | None:
    """The scalar kind of an IR type ("i16", "f32", "index", ...), None if it is not a scalar the engine computes."""
    if isinstance(type, IntegerType):
        name = f"i{type.bitwidth}"
        return name if name in DTYPES else None
    if isinstance(type, IndexType):
        return "index"
    if isinstance(type, Float32Type):
        return "f32"
    if isinstance(type, Float16Type):
        return "f16"
    return "bf16" if isinstance(type, BFloat16Type) else None


_single = array("f", [0.0])


def _round32(value: float) -> float:
    """Half the price of float(np.float32(value))."""
    _single[0] = value
    return _single[0]


def _rounder(kind: str) -> Callable[[float], float]:
    if kind == "f32":
        return _round32
    dtype = DTYPES[kind].type
    return lambda value: float(dtype(value))


def _bits(kind: str) -> int:
    return 64 if kind == "index" else int(kind[1:])


def _wrapper(kind: str) -> Callable[[int], int]:
    """Wraps a Python integer into the signed range of a kind."""
    if kind == "i1":
        return lambda value: bool(value & 1)
    bits = _bits(kind)
    half, mask = 1 << (bits - 1), (1 << bits) - 1
    return lambda value: ((value + half) & mask) - half


def normalize(kind: str, value: Any) -> Value:
    """A host number as a uniform value of a kind."""
    if kind in FLOATS:
        return _rounder(kind)(float(value))
    return _wrapper(kind)(int(value))


def show(conversion: str, kind: str, value: Any) -> str:
    """A uniform value as a conversion of a print operation writes it (`dialects.print_format`)."""
    if conversion == "f":
        return f"{value:f}"
    number = int(value) if conversion == "d" and kind != "i1" else _unsigned(kind)[0](value)
    match conversion:
        case "x":
            return f"{number:x}"
        case "X":
            return f"{number:0{-(-_bits(kind) // 4)}X}"
        case "b":
            return f"{number:0{_bits(kind)}b}"
        case _:
            return str(number)


def constant(attribute: Attribute) -> Value:
    """The uniform value of a constant's attribute."""
    if isinstance(attribute, IntegerAttr | FloatAttr):
        kind = kind_of(attribute.get_type())
        return normalize(kind, attribute.value.data) if kind else attribute.value.data
    raise LoomError(f"constant {attribute} has no scalar value the engine knows")


def _dual_unary(uniform: Unary, vector: Unary) -> Unary:
    """A function that takes the path of numbers or the path of arrays by its argument."""
    ndarray = np.ndarray

    def apply(a: Value) -> Value:
        return vector(a) if type(a) is ndarray else uniform(a)

    return apply


def _dual(uniform: Binary, vector: Binary) -> Binary:
    """A function that takes the path of numbers, or the path of arrays if one of its arguments is an array."""
    ndarray = np.ndarray

    def apply(a: Value, b: Value) -> Value:
        return vector(a, b) if type(a) is ndarray or type(b) is ndarray else uniform(a, b)

    return apply


def _unsigned(kind: str) -> tuple[Callable[[int], int], Unary]:
    """Reads a signed value as unsigned: for Python numbers, and for arrays (or numbers beside arrays)."""
    if kind == "i1":
        return int, lambda value: np.asarray(value).astype(np.uint8)
    bits = _bits(kind)
    mask = (1 << bits) - 1
    dtype = np.dtype(f"u{bits // 8}")
    signed = DTYPES[kind]
    return (lambda value: value & mask), (lambda value: np.asarray(value, signed).view(dtype))


def _integer(kind: str, uniform: Binary, vector: Binary) -> Binary:
    """Wraps the results of both paths to an integer kind."""
    wrap = _wrapper(kind)
    dtype = DTYPES[kind]
    return _dual(lambda a, b: wrap(uniform(a, b)), lambda a, b: np.asarray(vector(a, b)).astype(dtype, copy=False))


def _floating(kind: str, uniform: Binary, vector: Binary) -> Binary:
    """Rounds the results of both paths to a float kind."""
    round_ = _rounder(kind)
    dtype = DTYPES[kind]
    return _dual(
        lambda a, b: round_(uniform(a, b)),
        lambda a, b: vector(np.asarray(a, dtype), np.asarray(b, dtype)).astype(dtype, copy=False),
    )


def _truncating_quotient(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _vector_quotient(a: Array, b: Array) -> Array:
    quotient = np.abs(a) // np.abs(b)
    return np.where((a < 0) == (b < 0), quotient, -quotient)


def _division(op: Operation, kind: str, signed: bool, remainder: bool) -> Binary:
    where = location_of(op)
    unsigned, vector_unsigned = _unsigned(kind)

    def uniform(a: int, b: int) -> int:
        if not signed:
            a, b = unsigned(a), unsigned(b)
        quotient = _truncating_quotient(a, b)
        return a - quotient * b if remainder else quotient

    def vector(a: Value, b: Value) -> Array:
        if signed:
            dividend, divisor = np.asarray(a, np.int64), np.asarray(b, np.int64)
            quotient = _vector_quotient(dividend, divisor)
        else:
            dividend, divisor = vector_unsigned(a), vector_unsigned(b)
            quotient = dividend // divisor
        return dividend - quotient * divisor if remainder else quotient

    checked = _integer(kind, uniform, vector)

    def divide(a: Value, b: Value) -> Value:
        if np.any(np.equal(b, 0)):
            raise LoomError("division of an integer by zero; guard the divisor", where)
        return checked(a, b)

    return divide


def _float_quotient(a: float, b: float) -> float:
    if b == 0.0:
        return float(np.float64(a) / np.float64(b))
    return a / b


_ORDERED: dict[str, Binary] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip


def _compare_integers(op: arith.CmpiOp) -> Binary:
    kind = kind_of(op.lhs.type) or "i32"
    name = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
    if name in ("eq", "ne"):
        return _ORDERED[name]
    compare = _ORDERED[name[1:]]
    if name[0] == "s":
        # A true i1 is -1.
        return (lambda a, b: compare(b, a)) if kind == "i1" else compare
    uniform, vector = _unsigned(kind)
    return _dual(lambda a, b: compare(uniform(a), uniform(b)), lambda a, b: compare(vector(a), vector(b)))


def _unordered(a: Value, b: Value) -> Value:
    """Whether one of two floats is a NaN."""
    return (a != a) | (b != b)


def _not(value: Value) -> Value:
    return ~value if type(value) is np.ndarray else not value


def _compare_floats(op: arith.CmpfOp) -> Binary:
    name = arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]
    if name in ("false", "true"):
        always = name == "true"
        return lambda a, b: always
    if name == "ord":
        return lambda a, b: _not(_unordered(a, b))
    if name == "uno":
        return _unordered
    compare = _ORDERED[name[1:]]
    if name[0] == "u":
        return lambda a, b: _unordered(a, b) | compare(a, b)
    if name == "one":
        return lambda a, b: _not(_unordered(a, b)) & (a != b)
    return compare


def _shift(kind: str, name: str) -> Binary:
    bits = _bits(kind)
    unsigned, vector_unsigned = _unsigned(kind)

    def uniform(a: int, b: int) -> int:
        amount = unsigned(b)
        if name == "shrsi":
            return a >> min(amount, bits - 1)
        if amount >= bits:
            return 0
        return a << amount if name == "shli" else unsigned(a) >> amount

    def vector(a: Value, b: Value) -> Array:
        amount = vector_unsigned(b)
        inside = np.minimum(amount, bits - 1).astype(np.int64)
        if name == "shrsi":
            return np.asarray(a, np.int64) >> inside
        shifted: Array = (
            np.asarray(a, np.int64) << inside if name == "shli" else vector_unsigned(a) >> inside.astype(np.uint64)
        )
        return np.where(amount >= bits, np.zeros_like(shifted), shifted)

    return _integer(kind, uniform, vector)


def _convert(source: str, result: str, signed: bool) -> Unary:
    """Conversions between numbers; `signed` tells how an integer source is read."""
    if source in FLOATS or (signed and source != "i1"):
        number, numbers = _itself, _itself
    elif signed:
        number, numbers = _minus_one_if_true, _minus_one_if_true
    else:
        number, numbers = _unsigned(source)
    dtype = DTYPES[result]
    if result in FLOATS:
        round_ = _rounder(result)
        return _dual_unary(lambda a: round_(float(number(a))), lambda a: numbers(a).astype(dtype))
    wrap = _wrapper(result)
    lowest: Unary = (lambda a: (a & 1).astype(dtype)) if result == "i1" else (lambda a: a.astype(dtype))
    if source in FLOATS:
        return _dual_unary(
            lambda a: wrap(int(a)) if isfinite(a) else wrap(0),
            lambda a: lowest(np.where(np.isfinite(a), a, 0).astype(np.int64)),
        )
    return _dual_unary(lambda a: wrap(int(number(a))), lambda a: lowest(numbers(a)))


def _minus_one_if_true(value: Value) -> Value:
    return -value.astype(np.int8) if type(value) is np.ndarray else -int(value)


def _itself(value: Value) -> Value:
    return value


def bitcast(source: str, result: str) -> Unary:
    """The bits of a value of one kind as a value of another kind of the same width."""
    old, new = DTYPES[source], DTYPES[result]

    def vector(a: Value) -> Array:
        return np.ascontiguousarray(a, old).view(new)

    return _dual_unary(lambda a: vector(np.array([a], old))[0].item(), vector)


def _select(condition: Value, a: Value, b: Value) -> Value:
    if type(condition) is not np.ndarray:
        return a if condition else b
    # A number takes the type of the array beside it.
    for value in (a, b):
        if type(value) is np.ndarray:
            dtype: np.dtype[Any] = value.dtype
            return np.where(condition, np.asarray(a, dtype), np.asarray(b, dtype))
    return np.where(condition, np.asarray(a), np.asarray(b))


_INTEGER_BINARY: dict[str, tuple[Binary, Binary]] = {
    "arith.addi": (operator.add, operator.add),
    "arith.subi": (operator.sub, operator.sub),
    "arith.muli": (operator.mul, operator.mul),
    "arith.andi": (lambda a, b: a & b, np.bitwise_and),
    "arith.ori": (lambda a, b: a | b, np.bitwise_or),
    "arith.xori": (lambda a, b: a ^ b, np.bitwise_xor),
    "arith.minsi": (min, np.minimum),
    "arith.maxsi": (max, np.maximum),
}
_BOOLEAN_BINARY: dict[str, Binary] = {
    "arith.addi": lambda a, b: a ^ b,
    "arith.subi": lambda a, b: a ^ b,
    "arith.muli": lambda a, b: a & b,
    "arith.andi": lambda a, b: a & b,
    "arith.ori": lambda a, b: a | b,
    "arith.xori": lambda a, b: a ^ b,
    "arith.minsi": lambda a, b: a | b,
    "arith.maxsi": lambda a, b: a & b,
    "arith.minui": lambda a, b: a & b,
    "arith.maxui": lambda a, b: a | b,
}
"""On i1, where a true value is -1 if it is read as signed; one function serves both paths."""
_FLOAT_BINARY: dict[str, tuple[Binary, Binary]] = {
    "arith.addf": (operator.add, np.add),
    "arith.subf": (operator.sub, np.subtract),
    "arith.mulf": (operator.mul, np.multiply),
    "arith.divf": (_float_quotient, np.divide),
}
_FLOAT_CHOICES: dict[str, Callable[[Array, Array], Array]] = {
    # numpy's own choice between two zeros, or two NaNs, depends on where they stand in a vector.
    "arith.maximumf": lambda a, b: np.where((a == 0) & (b == 0), a + b, np.where((a > b) | np.isnan(a), a, b)),
    "arith.minimumf": lambda a, b: np.where((a == 0) & (b == 0), -(-a - b), np.where((a < b) | np.isnan(a), a, b)),
    "arith.maxnumf": lambda a, b: np.where((b > a) | np.isnan(a), b, a),
    "arith.minnumf": lambda a, b: np.where((b < a) | np.isnan(a), b, a),
}  # fmt: skip
_MATH: dict[str, np.ufunc] = {
    "math.absf": np.absolute, "math.sqrt": np.sqrt, "math.exp": np.exp, "math.exp2": np.exp2, "math.log": np.log,
    "math.log2": np.log2, "math.log10": np.log10, "math.sin": np.sin, "math.cos": np.cos, "math.tan": np.tan,
    "math.tanh": np.tanh, "math.floor": np.floor, "math.ceil": np.ceil, "math.trunc": np.trunc,
    "math.powf": np.power, "math.atan2": np.arctan2, "math.atan": np.arctan, "math.roundeven": np.rint,
    "math.copysign": np.copysign,
}  # fmt: skip
_CONVERSIONS = {
    "arith.extsi": True, "arith.extui": False, "arith.trunci": True, "arith.index_cast": True, "arith.sitofp": True,
    "arith.uitofp": False, "arith.fptosi": True, "arith.fptoui": False, "arith.extf": True, "arith.truncf": True,
}  # fmt: skip
"""Whether each conversion reads an integer as signed."""


def _through_numpy(kind: str, ufunc: Callable[..., Array], operands: int) -> Function:
    """One function of arrays for both paths: a uniform value takes it as an array of one element."""
    dtype = DTYPES[kind]
    compute = np.float32 if kind == "bf16" else dtype

    def vector(*values: Value) -> Array:
        # As whole arrays: with a number beside an array numpy takes short cuts, in powf for one, that round otherwise.
        whole = np.broadcast_arrays(*(np.asarray(value, dtype) for value in values))
        return ufunc(*(value.astype(compute) for value in whole)).astype(dtype)

    def uniform(*values: Value) -> Value:
        return vector(*(np.array([value]) for value in values))[0].item()

    return _dual_unary(uniform, vector) if operands == 1 else _dual(uniform, vector)


def function_of(op: Operation) -> Function | None:
    """The function of a scalar operation's operands, None if the engine does not know the operation."""
    name = op.name
    kinds = [kind_of(value.type) for value in (*op.operands, *op.results)]
    if not op.results or None in kinds:
        return None
    kind, source = str(kinds[-1]), str(kinds[0])
    if kind == "i1" and name in _BOOLEAN_BINARY:
        return _BOOLEAN_BINARY[name]
    if name in _INTEGER_BINARY:
        return _integer(kind, *_INTEGER_BINARY[name])
    if name in _FLOAT_BINARY:
        return _floating(kind, *_FLOAT_BINARY[name])
    if name == "arith.negf":
        return _dual_unary(operator.neg, np.negative)
    if name in _FLOAT_CHOICES:
        return _through_numpy(kind, _FLOAT_CHOICES[name], 2)
    if name in _MATH:
        return _through_numpy(kind, _MATH[name], _MATH[name].nin)
    if name == "math.absi":
        wrap = _wrapper(kind)
        return _dual_unary(lambda a: wrap(abs(a)), np.absolute)
    if name in ("arith.divsi", "arith.divui", "arith.remsi", "arith.remui"):
        return _division(op, kind, name.endswith("si"), "rem" in name)
    if name in ("arith.minui", "arith.maxui"):
        unsigned, vector_unsigned = _unsigned(kind)
        signed, vector_signed = _INTEGER_BINARY[name.replace("ui", "si")]
        return _integer(
            kind,
            lambda a, b: signed(unsigned(a), unsigned(b)),
            lambda a, b: vector_signed(vector_unsigned(a), vector_unsigned(b)),
        )
    if name in ("arith.shli", "arith.shrsi", "arith.shrui"):
        return _shift(kind, name.removeprefix("arith."))
    if isinstance(op, arith.CmpiOp):
        return _compare_integers(op)
    if isinstance(op, arith.CmpfOp):
        return _compare_floats(op)
    if name == "arith.select":
        return _select
    if name in _CONVERSIONS:
        return _convert(source, kind, _CONVERSIONS[name])
    if name == "arith.bitcast":
        return bitcast(source, kind)
    return None
