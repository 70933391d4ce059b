"""Scalar arithmetic on warps: every value is uniform (a Python number) or an array with one element a unit.

Integers are kept signed and wrap, floats are rounded to their type after every operation, booleans are bool. An
operation is a pair of functions, one for Python numbers and one for arrays; both give bit-identical results.
Knows the `arith` and `math` dialects and nothing else.
"""

from __future__ import annotations

import math as _math
from array import array
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation

from ..diagnostics import LoomError, location_of
from .memory import DTYPES

Value: TypeAlias = Any
Function: TypeAlias = Callable[..., Value]


def kind_of(type: Attribute) -> str | None:
    """The scalar kind of an IR type ("i16", "f32", "index", ...), None if it is not a scalar the engine computes."""
    if isinstance(type, IntegerType):
        name = f"i{type.width.data}"
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
    _single[0] = value
    return _single[0]


def _rounder(kind: str) -> Callable[[float], float]:
    if kind == "f32":
        return _round32
    dtype = DTYPES[kind].type
    return lambda value: float(dtype(value))


def wrapper(kind: str) -> Callable[[int], int]:
    """Wraps a Python integer into the signed range of a kind."""
    if kind == "i1":
        return lambda value: bool(value & 1)
    if kind == "index":
        return lambda value: value
    bits = int(kind[1:])
    half, mask = 1 << (bits - 1), (1 << bits) - 1
    return lambda value: ((value + half) & mask) - half


def normalize(kind: str, value: Any) -> Value:
    """A host number as a uniform value of a kind."""
    if kind in ("f32", "f16", "bf16"):
        return _rounder(kind)(float(value))
    return wrapper(kind)(int(value))


def constant(attribute: Attribute) -> Value:
    """The uniform value of a constant's attribute."""
    if isinstance(attribute, IntegerAttr):
        kind = kind_of(attribute.type)
        return normalize(kind, attribute.value.data) if kind else attribute.value.data
    if isinstance(attribute, FloatAttr):
        kind = kind_of(attribute.type)
        return normalize(kind, attribute.value.data) if kind else attribute.value.data
    raise LoomError(f"constant {attribute} has no scalar value the engine knows")


def dual(uniform: Function, vector: Function) -> Function:
    """A function that takes the scalar or the array path by its arguments."""
    ndarray = np.ndarray

    def apply(*values: Value) -> Value:
        for value in values:
            if type(value) is ndarray:
                return vector(*values)
        return uniform(*values)

    return apply


def _unsigned(kind: str) -> tuple[Callable[[int], int], Callable[[Value], Value]]:
    """Reads a signed value as unsigned: for Python numbers, and for arrays (or numbers beside arrays)."""
    if kind == "index":
        return (lambda value: value), (lambda value: value)
    bits = 1 if kind == "i1" else int(kind[1:])
    mask = (1 << bits) - 1
    if kind == "i1":
        return int, lambda value: np.asarray(value).astype(np.uint8)
    dtype = np.dtype(f"u{bits // 8}")
    signed = DTYPES[kind]
    return (lambda value: value & mask), (lambda value: np.asarray(value, signed).view(dtype))


def _integer(kind: str, uniform: Function, vector: Function) -> Function:
    wrap = wrapper(kind)
    dtype = DTYPES[kind]

    def wrapped_vector(*values: Value) -> Value:
        return np.asarray(vector(*values)).astype(dtype, copy=False)

    return dual(lambda *values: wrap(uniform(*values)), wrapped_vector)


def _floating(kind: str, uniform: Function, vector: Function) -> Function:
    round_ = _rounder(kind)
    dtype = DTYPES[kind]
    return dual(
        lambda *values: round_(uniform(*values)),
        lambda *values: vector(*(np.asarray(value, dtype) for value in values)).astype(dtype, copy=False),
    )


def _truncating_quotient(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _vector_quotient(a: Value, b: Value) -> Value:
    a, b = np.asarray(a, np.int64), np.asarray(b, np.int64)
    quotient = np.abs(a) // np.abs(b)
    return np.where((a < 0) == (b < 0), quotient, -quotient)


def _division(op: Operation, kind: str, signed: bool, remainder: bool) -> Function:
    where = location_of(op)
    unsigned, vector_unsigned = _unsigned(kind)

    def uniform(a: int, b: int) -> int:
        if not signed:
            a, b = unsigned(a), unsigned(b)
        quotient = _truncating_quotient(a, b)
        return a - quotient * b if remainder else quotient

    def vector(a: Value, b: Value) -> Value:
        a = np.asarray(a if signed else vector_unsigned(a), np.int64)
        b = np.asarray(b if signed else vector_unsigned(b), np.int64)
        quotient = _vector_quotient(a, b)
        return a - quotient * b if remainder else quotient

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


_ORDERED: dict[str, Function] = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip


def _compare_integers(op: arith.CmpiOp) -> Function:
    kind = kind_of(op.lhs.type) or "i32"
    name = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
    if name in ("eq", "ne"):
        return _ORDERED[name]
    compare = _ORDERED[name[1:]]
    if name[0] == "s":
        return compare
    uniform, vector = _unsigned(kind)
    return dual(lambda a, b: compare(uniform(a), uniform(b)), lambda a, b: compare(vector(a), vector(b)))


def _compare_floats(op: arith.CmpfOp) -> Function:
    name = arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]
    if name in ("false", "true"):
        return lambda a, b: name == "true"

    def unordered(a: Value, b: Value) -> Value:
        return (a != a) | (b != b)

    if name == "ord":
        return lambda a, b: _invert(unordered(a, b))
    if name == "uno":
        return unordered
    compare = _ORDERED[name[1:]]
    if name[0] == "u":
        return lambda a, b: unordered(a, b) | compare(a, b)
    if name == "one":
        return lambda a, b: _invert(unordered(a, b)) & (a != b)
    return compare


def _invert(value: Value) -> Value:
    return ~value if isinstance(value, np.ndarray) else not value


def _shift(kind: str, name: str) -> Function:
    bits = int(kind[1:]) if kind != "index" else 64
    unsigned, vector_unsigned = _unsigned(kind)

    def uniform(a: int, b: int) -> int:
        amount = unsigned(b)
        if name == "shrsi":
            return a >> min(amount, bits - 1)
        if amount >= bits:
            return 0
        return a << amount if name == "shli" else unsigned(a) >> amount

    def vector(a: Value, b: Value) -> Value:
        amount = np.asarray(vector_unsigned(b), np.int64)
        if name == "shrsi":
            return np.asarray(a, np.int64) >> np.minimum(amount, bits - 1)
        wide = np.asarray(vector_unsigned(a), np.int64)
        inside = np.minimum(amount, bits - 1)
        return np.where(amount >= bits, 0, wide << inside if name == "shli" else wide >> inside)

    return _integer(kind, uniform, vector)


def _convert(op: Operation, source: str, result: str, signed: bool) -> Function:
    if result in ("f32", "f16", "bf16"):
        round_, dtype = _rounder(result), DTYPES[result]
        if source in ("f32", "f16", "bf16") or signed:
            return dual(lambda a: round_(float(a)), lambda a: a.astype(dtype))
        unsigned, vector_unsigned = _unsigned(source)
        return dual(lambda a: round_(float(unsigned(a))), lambda a: vector_unsigned(a).astype(dtype))
    wrap, dtype = wrapper(result), DTYPES[result]
    if source in ("f32", "f16", "bf16"):

        def uniform(a: float) -> int:
            return wrap(int(a)) if _math.isfinite(a) else 0

        return dual(uniform, lambda a: np.where(np.isfinite(a), a, 0).astype(np.int64).astype(dtype))
    if signed:
        return dual(lambda a: wrap(int(a)), lambda a: a.astype(dtype))
    unsigned, vector_unsigned = _unsigned(source)
    return dual(lambda a: wrap(unsigned(a)), lambda a: vector_unsigned(a).astype(dtype))


def _bitcast(source: str, result: str) -> Function:
    old, new = DTYPES[source], DTYPES[result]

    def vector(a: Value) -> Value:
        return np.ascontiguousarray(a, old).view(new)

    return dual(lambda a: vector(np.array([a], old))[0].item(), vector)


def _select(condition: Value, a: Value, b: Value) -> Value:
    if isinstance(condition, np.ndarray):
        first = next((v for v in (a, b) if isinstance(v, np.ndarray)), None)
        chosen = np.where(condition, a, b)
        return chosen if first is None else chosen.astype(first.dtype, copy=False)
    return a if condition else b


_INTEGER_BINARY: dict[str, tuple[Function, Function]] = {
    "arith.addi": (lambda a, b: a + b, lambda a, b: a + b),
    "arith.subi": (lambda a, b: a - b, lambda a, b: a - b),
    "arith.muli": (lambda a, b: a * b, lambda a, b: a * b),
    "arith.andi": (lambda a, b: a & b, lambda a, b: a & b),
    "arith.ori": (lambda a, b: a | b, lambda a, b: a | b),
    "arith.xori": (lambda a, b: a ^ b, lambda a, b: a ^ b),
    "arith.minsi": (min, np.minimum),
    "arith.maxsi": (max, np.maximum),
}
_FLOAT_BINARY: dict[str, tuple[Function, Function]] = {
    "arith.addf": (lambda a, b: a + b, np.add),
    "arith.subf": (lambda a, b: a - b, np.subtract),
    "arith.mulf": (lambda a, b: a * b, np.multiply),
    "arith.divf": (_float_quotient, np.divide),
}
_FLOAT_CHOICES: dict[str, Any] = {
    "arith.maximumf": np.maximum, "arith.minimumf": np.minimum, "arith.maxnumf": np.fmax, "arith.minnumf": np.fmin,
}  # fmt: skip
_MATH: dict[str, Any] = {
    "math.absf": np.absolute, "math.sqrt": np.sqrt, "math.exp": np.exp, "math.exp2": np.exp2, "math.log": np.log,
    "math.log2": np.log2, "math.log10": np.log10, "math.sin": np.sin, "math.cos": np.cos, "math.tan": np.tan,
    "math.tanh": np.tanh, "math.floor": np.floor, "math.ceil": np.ceil, "math.trunc": np.trunc,
    "math.powf": np.power, "math.atan2": np.arctan2, "math.atan": np.arctan, "math.roundeven": np.rint,
    "math.copysign": np.copysign,
}  # fmt: skip
_WIDENINGS = {
    "arith.extsi": True, "arith.extui": False, "arith.trunci": True, "arith.index_cast": True,
    "arith.index_castui": False, "arith.sitofp": True, "arith.uitofp": False, "arith.fptosi": True,
    "arith.fptoui": False, "arith.extf": True, "arith.truncf": True,
}  # fmt: skip


def _through_numpy(kind: str, ufunc: Any) -> Function:
    """One ufunc for both paths: a uniform value takes it as an array of one element."""
    dtype = DTYPES[kind]
    compute = np.float32 if kind == "bf16" else dtype

    def vector(*values: Value) -> Value:
        return ufunc(*(np.asarray(value, dtype).astype(compute) for value in values)).astype(dtype)

    return dual(lambda *values: vector(*(np.array([v]) for v in values))[0].item(), vector)


def function_of(op: Operation) -> Function | None:
    """The function of a scalar operation's operands, None if the engine does not know the operation."""
    name = op.name
    kinds = [kind_of(value.type) for value in (*op.operands, *op.results)]
    if not op.results or None in kinds:
        return None
    kind, source = str(kinds[-1]), str(kinds[0])
    if name in _INTEGER_BINARY:
        uniform, vector = _INTEGER_BINARY[name]
        return _integer(kind, uniform, vector)
    if name in _FLOAT_BINARY:
        return _floating(kind, *_FLOAT_BINARY[name])
    if name == "arith.negf":
        return _floating(kind, lambda a: -a, np.negative)
    if name in _FLOAT_CHOICES:
        return _through_numpy(kind, _FLOAT_CHOICES[name])
    if name in _MATH:
        return _through_numpy(kind, _MATH[name])
    if name == "math.absi":
        return _integer(kind, abs, np.absolute)
    if name in ("arith.divsi", "arith.divui", "arith.remsi", "arith.remui"):
        return _division(op, kind, name.endswith("si"), "rem" in name)
    if name in ("arith.minui", "arith.maxui"):
        unsigned, vector_unsigned = _unsigned(kind)
        scalar, ufunc = (min, np.minimum) if "min" in name else (max, np.maximum)
        return _integer(
            kind, lambda a, b: scalar(unsigned(a), unsigned(b)),
            lambda a, b: ufunc(vector_unsigned(a), vector_unsigned(b)),
        )  # fmt: skip
    if name in ("arith.shli", "arith.shrsi", "arith.shrui"):
        return _shift(kind, name.removeprefix("arith."))
    if isinstance(op, arith.CmpiOp):
        return _compare_integers(op)
    if isinstance(op, arith.CmpfOp):
        return _compare_floats(op)
    if name == "arith.select":
        return _select
    if name in _WIDENINGS:
        return _convert(op, source, kind, _WIDENINGS[name] and not (source == "i1" and name != "arith.extsi"))
    if name == "arith.bitcast":
        return _bitcast(source, kind)
    return None
