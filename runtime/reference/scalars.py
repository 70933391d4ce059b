"""Scalar operations of the tables: for each, its function of registers.

A register is a Python integer: signed for integers, 0 or 1 for truth values, the bits of a float from 0 on, but those
of an f64 as a signed integer, for they fill the register.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ...operations import cb16, floats, integers
from ..tables.instructions import BITS, CMPF, FLOATS, SCALARS, Scalar

Function: TypeAlias = Callable[..., int]


def function(row: Scalar) -> Function:
    """Return what an operation computes from its operands."""
    computes = _function(row)
    return (lambda *operands: from_bits(computes(*operands), "f64")) if row.result == "f64" else computes


def _function(row: Scalar) -> Function:
    name, kinds, result = row.name, row.kinds, row.result
    if name.startswith("cb16."):
        return _of_cb16(name.removeprefix("cb16."), kinds, result)
    if name in integers.DIVISIONS:
        divide = integers.function(name, BITS[result])
        # Programs check their divisors; tables that a stranger made may not.
        return _two(lambda a, b: divide(a, b) if b else 0)
    if name in integers.OPERATIONS or name in integers.COUNTS:
        return integers.function(name, BITS[result])
    if name == "arith.cmpi":
        compare = integers.comparison(row.predicate, BITS[kinds[0]])
        return _two(lambda a, b: int(compare(a, b)))
    if name == "arith.cmpf":
        return _comparison(CMPF[row.predicate], kinds[0])
    if name in integers.CONVERSIONS:
        return integers.conversion(name, BITS[kinds[0]], BITS[result])
    if name == "arith.bitcast":
        return _one(lambda a: from_bits(to_bits(a, kinds[0]), result))
    if name in ("arith.extf", "arith.truncf"):
        return _one(lambda a: floats.bits(floats.number(a, kinds[0]), result))
    if name in ("arith.fptosi", "arith.fptoui"):
        signed = name == "arith.fptosi"
        return _one(lambda a: floats.to_integer(floats.number(a, kinds[0]), BITS[result], is_signed=signed))
    if name in ("arith.sitofp", "arith.uitofp"):
        signed = name == "arith.sitofp"
        return _one(lambda a: floats.from_integer(a, BITS[kinds[0]], result, is_signed=signed))
    return floats.function(name, result)


def to_bits(value: int, kind: str) -> int:
    """Return the bits of what a register holds, from 0 on."""
    return integers.unsigned(value, BITS[kind])


def from_bits(pattern: int, kind: str) -> int:
    """Return bits as a register holds them."""
    return pattern if kind in FLOATS and kind != "f64" else integers.wrapper(BITS[kind])(pattern)


def _comparison(predicate: str, kind: str) -> Function:
    compare = floats.comparison(predicate)
    return _two(lambda a, b: int(compare(floats.number(a, kind), floats.number(b, kind))))


def _one(function: Callable[[int], int]) -> Function:
    return function


def _two(function: Callable[[int, int], int]) -> Function:
    return function


# Numbers of format cb16 are kept as integers with their bits, and computed as f32.


def _of_cb16(name: str, kinds: tuple[str, ...], result: str) -> Function:
    if name in ("negf", "absf"):
        return _one(lambda a: integers.signed(a ^ cb16.SIGN if name == "negf" else a & ~cb16.SIGN, 16))
    if name == "extf":
        return _one(lambda a: floats.bits(cb16.from_bits(a), "f32"))
    if name == "truncf":
        return _one(lambda a: cb16_register(floats.number(a, "f32")))
    if name in ("sitofp", "uitofp"):
        read = integers.signed if name == "sitofp" else integers.unsigned
        return _one(lambda a: cb16_register(float(read(a, BITS[kinds[0]]))))
    if name in ("fptosi", "fptoui"):
        signed = name == "fptosi"
        return _one(lambda a: floats.to_integer(cb16.from_bits(a), BITS[result], is_signed=signed))
    if name in CMPF:
        compare = floats.comparison(name)
        return _two(lambda a, b: int(compare(cb16.from_bits(a), cb16.from_bits(b))))
    dialect = "flow" if name == "remf" else "arith" if name.endswith("f") and name != "powf" else "math"
    of_floats = floats.function(f"{dialect}.{name}", "f32")

    def apply(*operands: int) -> int:
        singles = [floats.bits(cb16.from_bits(value), "f32") for value in operands]
        return cb16_register(floats.number(of_floats(*singles), "f32"))

    return apply


def cb16_register(value: float) -> int:
    """Return the nearest cb16 of a number, as a register holds it; every NaN has one sign."""
    return cb16.NAN if value != value else integers.signed(cb16.bits(value), 16)


FUNCTIONS: tuple[Function, ...] = tuple(map(function, SCALARS))
"""By the place of each operation in `SCALARS`."""
