"""Scalar arithmetic on warps: every value is uniform (a Python number) or an array with one element a unit.

Arrays have the shape of their unit set, [rows, columns], and the numpy type of their kind (`DTYPES`).
Integers are kept signed and wrap, floats are rounded to their type after every operation, booleans are bool. An
operation is a pair of functions, one for Python numbers and one for arrays; both give bit-identical results.
Knows the `arith` and `math` dialects, and nothing else.
"""

from __future__ import annotations

import math
import operator
from array import array
from collections.abc import Callable
from functools import cache
from math import isfinite
from struct import Struct
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from ...diagnostics.errors import LoomError
from ...dialects.scalar_types import kind_of
from ...operations import integers, nans
from ...operations.scalar_types import numpy_type
from .arithmetic import negate
from .units import Array

DTYPES = {kind: numpy_type(kind) for kind in ("f32", "f16", "bf16", "i64", "i32", "i16", "i8", "i1", "index")}
"""numpy type of each scalar type; integers are kept signed."""

Value: TypeAlias = Any
"""A Python number, or an array [rows, columns]."""

Unary: TypeAlias = Callable[[Value], Value]
Binary: TypeAlias = Callable[[Value, Value], Value]
Function: TypeAlias = Callable[..., Value]

FLOATS = ("f32", "f16", "bf16")


_single = array("f", [0.0])


def _round32(value: float) -> float:
    """Round to float32, at half the price of float(np.float32(value))."""
    _single[0] = value
    return _single[0]


def _rounder(kind: str) -> Callable[[float], float]:
    if kind == "f32":
        return _round32
    dtype = DTYPES[kind].type
    if kind == "bf16":
        # The conversion goes through float32, and would round twice.
        return lambda value: float(dtype(value if _round32(value) == value else _odd(np.array([value]))[0]))
    return lambda value: float(dtype(value))


def _odd(values: Array) -> Array:
    """Return float64 as float32 rounded to odd: rounding that once more, to bf16, is rounding once."""
    singles = values.astype(np.float32)
    bits, wide = singles.view(np.int32), singles.astype(np.float64)
    inexact = (wide != values) & ~np.isnan(values) & (bits & 1 == 0)
    return (bits + np.where(inexact, np.where(np.abs(wide) < np.abs(values), 1, -1), 0).astype(np.int32)).view(
        np.float32
    )


def _narrow(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return floats rounded once to a type."""
    wide = values.dtype == np.float64 and dtype == DTYPES["bf16"]
    return (_odd(values) if wide else values).astype(dtype, copy=False)


def bits_of_kind(kind: str) -> int:
    """Return the width of an integer kind."""
    return integers.INDEX_BITS if kind == "index" else int(kind[1:])


def _wrapper(kind: str) -> Callable[[int], int]:
    """Wrap a Python integer into the signed range of a kind."""
    wrap = integers.wrapper(bits_of_kind(kind))
    return (lambda value: bool(wrap(value))) if kind == "i1" else wrap


def normalize(kind: str, value: Any) -> Value:
    """Return a host number as a uniform value of a kind."""
    if kind in FLOATS:
        if kind == "bf16" and value != value:
            return nans.bf16_from_bits(nans.bf16_bits(float(value)))
        return _rounder(kind)(float(value))
    return _wrapper(kind)(int(value))


def constant(attribute: Attribute) -> Value:
    """Return the uniform value of a constant's attribute."""
    if isinstance(attribute, IntegerAttr | FloatAttr):
        kind = kind_of(attribute.get_type())
        return normalize(kind, attribute.value.data) if kind else attribute.value.data
    raise LoomError(f"constant {attribute} has no scalar value the engine knows")


def _dual_unary(uniform: Unary, vector: Unary) -> Unary:
    """Return a function that uses the path for numbers or for arrays, by its argument."""
    ndarray = np.ndarray

    def apply(a: Value) -> Value:
        return vector(a) if type(a) is ndarray else uniform(a)

    return apply


def _dual(uniform: Binary, vector: Binary) -> Binary:
    """Return a function that uses the path for numbers, or for arrays if an argument is an array."""
    ndarray = np.ndarray

    def apply(a: Value, b: Value) -> Value:
        return vector(a, b) if type(a) is ndarray or type(b) is ndarray else uniform(a, b)

    return apply


def _unsigned(kind: str) -> tuple[Callable[[int], int], Unary]:
    """Read a signed value as unsigned: for Python numbers, and for arrays (or numbers beside arrays)."""
    if kind == "i1":
        return int, lambda value: np.asarray(value).astype(np.uint8)
    bits = bits_of_kind(kind)
    dtype = np.dtype(f"u{bits // 8}")
    signed = DTYPES[kind]
    return (lambda value: integers.unsigned(value, bits)), (lambda value: np.asarray(value, signed).view(dtype))


def _integer(kind: str, name: str, vector: Binary) -> Binary:
    """Return an operation on integers: the table's on numbers, and `vector` with wrapped results on arrays."""
    compute = integers.function(name, bits_of_kind(kind))
    uniform: Binary = (lambda a, b: bool(compute(a, b))) if kind == "i1" else compute
    dtype = DTYPES[kind]
    return _dual(uniform, lambda a, b: np.asarray(vector(a, b)).astype(dtype, copy=False))


def _floating(kind: str, uniform: Binary, vector: Binary) -> Binary:
    """Round the results of both paths to a float kind."""
    round_ = _rounder(kind)
    dtype = DTYPES[kind]
    return _dual(
        lambda a, b: round_(uniform(a, b)),
        lambda a, b: vector(np.asarray(a, dtype), np.asarray(b, dtype)).astype(dtype, copy=False),
    )


def _division(kind: str, name: str) -> Binary:
    """Divide; the caller has checked that no divisor is 0."""
    vector_unsigned = _unsigned(kind)[1]
    signed = integers.OPERATIONS[name].reads == "ss"

    def read(a: Value, b: Value) -> tuple[Array, Array]:
        return (_signed_array(kind, a), _signed_array(kind, b)) if signed else (vector_unsigned(a), vector_unsigned(b))

    def vector(a: Value, b: Value) -> Array:
        dividend, divisor = read(a, b)
        down = dividend // divisor
        exact = down * divisor == dividend
        if "floor" in name:
            return down
        if "ceil" in name:
            return down + np.logical_not(exact)
        apart = np.logical_not(exact) & ((dividend < 0) != (divisor < 0))
        quotient = down + apart if signed else down
        return dividend - quotient * divisor if "rem" in name else quotient

    return _integer(kind, name, (lambda a, b: vector(a, b) & 1) if kind == "i1" else vector)


def _signed_array(kind: str, value: Value) -> Array:
    """Integers as signed ones of 64 bits; a true `i1` is -1."""
    wide = np.asarray(value, np.int64)
    return -wide if kind == "i1" else wide


def _float_quotient(a: float, b: float) -> float:
    if b == 0.0:
        return float(np.float64(a) / np.float64(b))
    return a / b


_ORDERED: dict[str, Binary] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip


def _compare_integers(kind: str, predicate: int) -> Binary:
    test = integers.PREDICATES[predicate]
    compare = test.compare
    if not test.is_unsigned:
        # A true i1 is -1.
        return (lambda a, b: compare(b, a)) if kind == "i1" else compare
    vector = _unsigned(kind)[1]
    return _dual(integers.comparison(predicate, bits_of_kind(kind)), lambda a, b: compare(vector(a), vector(b)))


def _unordered(a: Value, b: Value) -> Value:
    """Return True if one of two floats is a NaN."""
    return (a != a) | (b != b)


def _not(value: Value) -> Value:
    return ~value if type(value) is np.ndarray else not value


def _compare_floats(predicate: int) -> Binary:
    name = arith.CMPF_COMPARISON_OPERATIONS[predicate]
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
    bits = bits_of_kind(kind)
    unsigned, vector_unsigned = _unsigned(kind)

    def vector(a: Value, b: Value) -> Array:
        if type(b) is int and bits > 1:
            # By the same number on all units, as nearly always: no wider type and no choice is needed.
            amount = unsigned(b)
            if name == "arith.shrsi":
                return a >> min(amount, bits - 1)
            words = vector_unsigned(a)
            if amount >= bits:
                return np.zeros_like(words)
            return words << amount if name == "arith.shli" else words >> amount
        amount = vector_unsigned(b)
        inside = np.minimum(amount, bits - 1).astype(np.int64)
        if name == "arith.shrsi":
            return _signed_array(kind, a) >> inside
        left = name == "arith.shli"
        shifted: Array = np.asarray(a, np.int64) << inside if left else vector_unsigned(a) >> inside.astype(np.uint64)
        return np.where(amount >= bits, np.zeros_like(shifted), shifted)

    return _integer(kind, name, vector)


def _convert(name: str, source: str, result: str) -> Unary:
    """Return the conversion between two kinds.

    A float becomes an integer by dropping its fraction; what does not fit becomes the limit it is beyond, a NaN 0.
    """
    signed = _CONVERSIONS[name]
    if source in FLOATS and result not in FLOATS and result != "i1":
        return _saturate(result, signed)
    if source in FLOATS or (signed and source != "i1"):
        number, numbers = _itself, _itself
    elif signed:
        number, numbers = _minus_one_if_true, _minus_one_if_true
    else:
        number, numbers = _unsigned(source)
    dtype = DTYPES[result]
    if result in FLOATS:
        round_ = _rounder(result)
        if source not in FLOATS and bits_of_kind(source) == 64:
            # Too wide for a Python float to hold, which would round once more.
            wide = np.int64 if signed else np.uint64
            if result == "bf16":
                return _dual_unary(
                    lambda a: _narrow(_sticky(np.array([wide(number(a))])), dtype)[0].item(),
                    lambda a: _narrow(_sticky(numbers(a)), dtype),
                )
            return _dual_unary(
                lambda a: wide(number(a)).astype(dtype).item(), lambda a: numbers(a).astype(dtype)
            )  # fmt: skip
        if result == "bf16" and source not in FLOATS:
            return _dual_unary(
                lambda a: round_(float(number(a))), lambda a: _narrow(numbers(a).astype(np.float64), dtype)
            )
        return _dual_unary(lambda a: round_(float(number(a))), lambda a: numbers(a).astype(dtype))
    lowest: Unary = (lambda a: (a & 1).astype(np.bool_)) if result == "i1" else (lambda a: a.astype(dtype))
    if source in FLOATS:
        # Of a truth value the lowest bit alone is left, and an infinity has none.
        return _dual_unary(
            lambda a: isfinite(a) and bool(int(a) & 1),
            lambda a: np.fmod(np.trunc(np.where(np.isfinite(a), a, 0)), 2) != 0,
        )
    convert = integers.conversion(name, bits_of_kind(source), bits_of_kind(result))
    uniform: Unary = (lambda a: bool(convert(a))) if result == "i1" else convert
    return _dual_unary(uniform, lambda a: lowest(numbers(a)))


def _sticky(values: Array) -> Array:
    """Return integers of 64 bits as float64 whose last bit says if more were set: rounding that is rounding once."""
    low = values.dtype.type(0x7FF)
    limit = values.dtype.type(1 << 53)
    wide = values > limit
    if values.dtype == np.int64:
        wide = wide | (values < -limit)
    collapsed = (values & ~low) | np.where(values & low != 0, low + 1, 0).astype(values.dtype)
    return np.where(wide, collapsed, values).astype(np.float64)


def _saturate(result: str, signed: bool) -> Unary:
    """Return the conversion of floats to a signed or unsigned integer kind, saturating at its limits."""
    bits, wrap, dtype = bits_of_kind(result), _wrapper(result), DTYPES[result]
    lowest, highest = integers.limits(bits, is_signed=signed)
    bounds = wrap(lowest), wrap(highest)

    def uniform(value: float) -> int:
        return wrap(integers.saturated(value, bits, is_signed=signed))

    def vector(values: Array) -> Array:
        wide = values.astype(np.float64)
        below, above = wide <= lowest, wide >= highest
        # Nothing is left that the conversion of numpy does not define.
        inside = np.where(below | above | np.isnan(wide), 0, wide).astype(np.int64 if signed else np.uint64)
        return np.where(above, bounds[1], np.where(below, bounds[0], inside.astype(dtype))).astype(dtype)

    return _dual_unary(uniform, vector)


def _minus_one_if_true(value: Value) -> Value:
    return -value.astype(np.int8) if type(value) is np.ndarray else -int(value)


def _itself(value: Value) -> Value:
    return value


def bitcast(source: str, result: str) -> Unary:
    """Return the bits of a value of one kind as a value of another kind of the same width."""
    old, new = DTYPES[source], DTYPES[result]

    def vector(a: Value) -> Array:
        return np.ascontiguousarray(a, old).view(new)

    formats = _STRUCT_FORMATS.get(source), _STRUCT_FORMATS.get(result)
    if source == result:
        return _itself
    if source == "bf16":
        from_bits = bitcast("i16", result)
        return _dual_unary(lambda a: from_bits(nans.bf16_bits(a)), vector)
    if result == "bf16":
        to_bits = bitcast(source, "i16")
        return _dual_unary(lambda a: nans.bf16_from_bits(to_bits(a)), vector)
    if None in formats:
        return _dual_unary(lambda a: vector(np.array([a], old))[0].item(), vector)
    write, read = Struct(f"<{formats[0]}").pack, Struct(f"<{formats[1]}").unpack
    return _dual_unary(lambda a: read(write(a))[0], vector)


_STRUCT_FORMATS = {"f32": "f", "i32": "i"}
"""How kinds are packed; that of 16-bit floats would lose what a NaN carries."""


def _as_array(value: Value, dtype: np.dtype[Any]) -> Array:
    """Return a value as an array, a NaN of format bf16 with all its bits."""
    if type(value) is float and value != value and dtype == DTYPES["bf16"]:
        return np.array(nans.bf16_bits(value), np.int16).view(dtype)
    return np.asarray(value, dtype)


def _select(kind: str) -> Function:
    dtype = DTYPES[kind]

    def select(condition: Value, a: Value, b: Value) -> Value:
        if type(condition) is not np.ndarray:
            return a if condition else b
        return np.where(condition, _as_array(a, dtype), _as_array(b, dtype))

    return select


_INTEGER_VECTORS: dict[str, Binary] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.minsi": np.minimum,
    "arith.maxsi": np.maximum,
}
"""The functions of arrays for those that numpy wraps by itself."""
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
_FLOAT_CHOICES: dict[str, tuple[Binary, Callable[[Array, Array], Array]]] = {
    # numpy's own choice between two zeros, or two NaNs, depends on where they are in a vector.
    "arith.maximumf": (
        lambda a, b: a + b if a == 0 == b else a if a > b or a != a else b,
        lambda a, b: np.where((a == 0) & (b == 0), a + b, np.where((a > b) | np.isnan(a), a, b)),
    ),
    "arith.minimumf": (
        lambda a, b: -(-a - b) if a == 0 == b else a if a < b or a != a else b,
        lambda a, b: np.where((a == 0) & (b == 0), -(-a - b), np.where((a < b) | np.isnan(a), a, b)),
    ),
    "arith.maxnumf": (
        lambda a, b: b if b > a or a != a else a, lambda a, b: np.where((b > a) | np.isnan(a), b, a),
    ),
    "arith.minnumf": (
        lambda a, b: b if b < a or a != a else a, lambda a, b: np.where((b < a) | np.isnan(a), b, a),
    ),
}  # fmt: skip


def _negative(values: Array) -> Array:
    result = np.empty(values.shape, values.dtype)
    negate(values, result)
    return result


def _round_half_away(values: Array) -> Array:
    whole = np.trunc(values)
    return np.where(np.abs(values - whole) >= 0.5, whole + np.copysign(whole.dtype.type(1), values), whole)


def _reciprocal_root(values: Array) -> Array:
    # In double precision, so that it is rounded once.
    return 1 / np.sqrt(values.astype(np.float64))


def _libm(of_number: Callable[..., float], of_array: Callable[..., Any]) -> tuple[Callable[..., float], Function]:
    """Return a function of libm, in double precision: of numbers and of arrays.

    Python raises an error at poles, overflows and undefined results; numpy's function, which is exact there, returns
    them.
    """

    def number(*values: float) -> float:
        try:
            return of_number(*values)
        except (ValueError, OverflowError):
            return float(of_array(*map(np.float64, values)))

    each = np.frompyfunc(number, 2 if of_number in (math.pow, math.atan2) else 1, 1)

    def array(*values: Array) -> Array:
        return np.asarray(each(*(value.astype(np.float64) for value in values)), np.float64)

    return number, array


def _fused(first: Array, second: Array, third: Array) -> Array:
    """Return first * second + third as float64 rounded to odd: rounding that once more to f32 or less is exact."""
    product = first.astype(np.float64) * second.astype(np.float64)
    addend = third.astype(np.float64)
    total = product + addend
    # What the sum has lost, exactly (Knuth's two-sum).
    part = total - product
    lost = (product - (total - part)) + (addend - part)
    bits = np.ascontiguousarray(total).view(np.int64)
    inexact = np.isfinite(total) & (lost != 0) & (bits & 1 == 0)
    return (bits + np.where(inexact, np.where((lost > 0) == (total > 0), 1, -1), 0)).view(np.float64)


_LIBM: dict[str, tuple[Callable[..., float], Function]] = {
    "math.cbrt": _libm(math.cbrt, np.cbrt), "math.exp": _libm(math.exp, np.exp), "math.exp2": _libm(math.exp2, np.exp2),
    "math.expm1": _libm(math.expm1, np.expm1), "math.log": _libm(math.log, np.log),
    "math.log2": _libm(math.log2, np.log2), "math.log10": _libm(math.log10, np.log10),
    "math.log1p": _libm(math.log1p, np.log1p), "math.sin": _libm(math.sin, np.sin), "math.cos": _libm(math.cos, np.cos),
    "math.tan": _libm(math.tan, np.tan), "math.asin": _libm(math.asin, np.arcsin),
    "math.acos": _libm(math.acos, np.arccos), "math.atan": _libm(math.atan, np.arctan),
    "math.atan2": _libm(math.atan2, np.arctan2), "math.sinh": _libm(math.sinh, np.sinh),
    "math.cosh": _libm(math.cosh, np.cosh), "math.tanh": _libm(math.tanh, np.tanh),
    "math.asinh": _libm(math.asinh, np.arcsinh), "math.acosh": _libm(math.acosh, np.arccosh),
    "math.atanh": _libm(math.atanh, np.arctanh), "math.powf": _libm(math.pow, np.power),
    "math.erf": _libm(math.erf, np.sign),
}  # fmt: skip
"""Functions of libm, of numbers and of arrays. numpy's own differ from it in the last bit, and between processors."""

_MATH: dict[str, Callable[..., Array]] = {
    "math.absf": np.absolute, "math.sqrt": np.sqrt, "math.rsqrt": _reciprocal_root, "math.floor": np.floor,
    "math.ceil": np.ceil, "math.trunc": np.trunc, "math.round": _round_half_away, "math.roundeven": np.rint,
    "math.copysign": np.copysign, "math.fma": _fused,
    **{name: of_arrays for name, (_, of_arrays) in _LIBM.items()},
}  # fmt: skip
with np.errstate(invalid="ignore"):
    _ROOT_OF_NEGATIVE = float(np.sqrt(np.float64(-1)))
"""The sign of this NaN is the processor's."""

_UNIFORM_MATH: dict[str, Callable[[float], float]] = {
    "math.absf": abs,
    # The root of a double is exact enough to round it once more.
    "math.sqrt": lambda a: math.sqrt(a) if a > 0 else _ROOT_OF_NEGATIVE if a < 0 else a,
}
"""The same for one number, where that is exact and much cheaper."""


def _count_bits(kind: str, name: str) -> Unary:
    count = integers.function(name, bits_of_kind(kind))
    counts = np.frompyfunc(lambda value: count(int(value)), 1, 1)
    dtype = DTYPES[kind]
    return _dual_unary(count, lambda a: np.asarray(counts(a), np.int64).astype(dtype))


_CONVERSIONS = integers.CONVERSIONS | {
    "arith.sitofp": True, "arith.uitofp": False, "arith.fptosi": True, "arith.fptoui": False, "arith.extf": True,
    "arith.truncf": True,
}  # fmt: skip
"""For each conversion, True if it reads an integer as signed."""


def _through_numpy(kind: str, name: str, function: Callable[..., Array], operands: int) -> Function:
    """Return one function of arrays for both paths: a uniform value takes it as an array of one element."""
    dtype = DTYPES[kind]
    compute = np.dtype(np.float32) if kind == "bf16" else dtype

    def vector(*values: Value) -> Array:
        # As whole arrays: with a number beside an array numpy takes short cuts, in powf for one, that round otherwise.
        whole = np.broadcast_arrays(*(np.asarray(value, dtype) for value in values))
        return _narrow(function(*(value.astype(compute) for value in whole)), dtype)

    # Without dimensions, numpy would take other short cuts; making new arrays costs more than the function.
    cells = [np.zeros(1, compute) for _ in range(operands)]

    def uniform(*values: Value) -> Value:
        for cell, value in zip(cells, values, strict=True):
            cell[0] = value
        return _narrow(function(*cells), dtype).item()

    if name in _LIBM:
        number, round_once = _LIBM[name][0], _rounder(kind)

        def rounded(*values: Value) -> Value:
            return round_once(number(*values))

        return _dual_unary(rounded, vector) if operands == 1 else _dual(rounded, vector)
    if name in _UNIFORM_MATH:
        cheap, round_ = _UNIFORM_MATH[name], _rounder(kind)
        return _dual_unary(lambda a: round_(cheap(a)), vector)
    if operands == 1:
        return _dual_unary(uniform, vector)
    if operands == 2:
        return _dual(uniform, vector)

    def three(a: Value, b: Value, c: Value) -> Value:
        arrays = np.ndarray in (type(a), type(b), type(c))
        return vector(a, b, c) if arrays else uniform(a, b, c)

    return three


def _choice(kind: str, uniform: Binary, choose: Callable[[Array, Array], Array]) -> Binary:
    dtype = DTYPES[kind]
    return _dual(uniform, lambda a, b: choose(_as_array(a, dtype), _as_array(b, dtype)).astype(dtype, copy=False))


def function_of(op: Operation) -> Function | None:
    """Return the function of a scalar operation's operands, None if the engine does not know the operation."""
    kinds = tuple([kind_of(value.type) for value in (*op.operands, *op.results)])
    if not op.results or None in kinds:
        return None
    predicate = op.predicate.value.data if isinstance(op, arith.CmpiOp | arith.CmpfOp) else 0
    return _function(op.name, kinds, predicate)


@cache
def _function(name: str, kinds: tuple[str | None, ...], predicate: int) -> Function | None:
    kind, source = str(kinds[-1]), str(kinds[0])
    if kind == "i1" and name in _BOOLEAN_BINARY:
        return _BOOLEAN_BINARY[name]
    if name in _INTEGER_VECTORS:
        return _integer(kind, name, _INTEGER_VECTORS[name])
    if name in _FLOAT_BINARY:
        return _floating(kind, *_FLOAT_BINARY[name])
    if name == "arith.negf":
        return _dual_unary(operator.neg, _negative)
    if name in _FLOAT_CHOICES:
        return _choice(kind, *_FLOAT_CHOICES[name])
    if name in _MATH and kind in FLOATS:
        return _through_numpy(kind, name, _MATH[name], len(kinds) - 1)
    if name in integers.COUNTS and kind != "i1":
        return _count_bits(kind, name)
    if name == "math.absi":
        return _dual_unary(integers.function(name, bits_of_kind(kind)), np.absolute)
    if name in integers.DIVISIONS:
        return _division(kind, name)
    if name in ("arith.minui", "arith.maxui"):
        vector_unsigned = _unsigned(kind)[1]
        choose = _INTEGER_VECTORS[name.replace("ui", "si")]
        return _integer(kind, name, lambda a, b: choose(vector_unsigned(a), vector_unsigned(b)))
    if name in ("arith.shli", "arith.shrsi", "arith.shrui"):
        return _shift(kind, name)
    if name == "arith.cmpi":
        return _compare_integers(source, predicate)
    if name == "arith.cmpf":
        return _compare_floats(predicate)
    if name == "arith.select":
        return _select(kind)
    if name in _CONVERSIONS:
        return _convert(name, source, kind)
    if name == "arith.bitcast":
        return bitcast(source, kind)
    return None
