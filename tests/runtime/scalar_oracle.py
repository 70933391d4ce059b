"""What the scalar operations of the tables give, from bits to bits: numpy's functions of doubles, rounded exactly.

It shares no code with the executors, as `oracle`, which it adds to. A function of floats is computed as a double, and
rounded once; a cb16 also on the way, to an f32.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from loomir.runtime.tables.instructions import BITS, CMPF, FLOATS, Scalar

from . import oracle

ORDERED = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
"""Of integers, by number."""

UNARY: dict[str, Callable[[Any], Any]] = {
    "sqrt": np.sqrt, "cbrt": np.cbrt, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log,
    "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "erf": math.erf, "floor": np.floor,
    "ceil": np.ceil, "trunc": np.trunc, "roundeven": np.rint,
    "round": lambda a: np.copysign(np.floor(abs(a) + 0.5) if abs(a) < 1 << 52 else abs(a), a),
    "rsqrt": lambda a: 1 / np.sqrt(a) if a >= 0 else math.nan,
}  # fmt: skip
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide, "atan2": np.arctan2, "powf": np.power,
    "remf": oracle.remainder, "copysign": np.copysign, "maximumf": lambda a, b: extreme(a, b, 1),
    "minimumf": lambda a, b: -extreme(-a, -b, 1), "maxnumf": lambda a, b: b if b > a or a != a else a,
    "minnumf": lambda a, b: b if b < a or a != a else a,
}  # fmt: skip


OF_LIBRARY = frozenset(
    f"math.{name}"
    for name in {*UNARY, "atan2", "powf"} - {"sqrt", "erf", "floor", "ceil", "trunc", "roundeven", "round"}
)
"""Functions that are not exact."""


def extreme(a: Any, b: Any, _: int) -> Any:
    """Return the larger of two numbers: a NaN if one is, and positive zero if there are zeros of both signs."""
    if a == 0 == b:
        return a + b
    return np.maximum(a, b)


def kinds_of(row: Scalar) -> list[str]:
    """Return the kinds of the operands and of the result, with cb16 where an i16 stands for one."""
    names = row.name.startswith("cb16.")
    whole = ("fptosi", "fptoui", *CMPF) if names else ()
    every = [*row.kinds, row.result]
    return [
        "cb16" if names and kind == "i16" and not (row.name[5:] in whole and place == len(row.kinds))
        and not (row.name[5:] in ("sitofp", "uitofp") and place == 0) else kind
        for place, kind in enumerate(every)
    ]  # fmt: skip


def is_division(row: Scalar) -> bool:
    return row.name[6:] in ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui")


def expected(row: Scalar, operands: tuple[int, ...]) -> int:
    """Return the bits of a result, from those of the operands."""
    *kinds, result = kinds_of(row)
    name = row.name.partition(".")[2]
    bits = [value & (1 << BITS[kind]) - 1 for value, kind in zip(operands, row.kinds, strict=True)]
    if kinds[0] in oracle.FLOATS:
        numbers = [np.float64(oracle.from_bits(each, kind)) for each, kind in zip(bits, kinds, strict=True)]
        with np.errstate(all="ignore"):
            return of_floats(row, name, bits, numbers, result)
    if is_division(row) and not bits[1]:
        return 0  # a forged program may divide without a check
    if name == "bitcast":
        return bits[0]
    return of_integers(row, name, bits, result)


def of_floats(row: Scalar, name: str, bits: list[int], numbers: list[Any], result: str) -> int:
    if name == "bitcast":
        return bits[0]
    if name == "negf" or name == "absf":
        sign = 1 << (BITS[row.kinds[0]] - 1)
        return bits[0] ^ sign if name == "negf" else bits[0] & ~sign
    if row.result == "i1" and name not in ("fptosi", "fptoui"):
        predicate = CMPF[row.predicate] if name == "cmpf" else name
        return int(compared(predicate, *map(float, numbers)))
    if name in ("fptosi", "fptoui"):
        return saturated(float(numbers[0]), BITS[result], is_signed=name == "fptosi")
    if name == "fma":
        return rounded(fused(*map(float, numbers), kind=result), result)
    if name in ("extf", "truncf"):
        return rounded(float(numbers[0]), result)
    return rounded(float((UNARY | BINARY)[name](*numbers)), result)


def rounded(value: float, kind: str) -> int:
    """Return the bits of the number of a kind that is nearest to a double."""
    if kind == "cb16":
        value = oracle.to_kind(value, "f32")
    return oracle.to_bits(oracle.to_kind(value, kind), kind)


def fused(a: float, b: float, c: float, kind: str) -> float:
    if math.isfinite(a) and math.isfinite(b) and not math.isfinite(c):
        return c
    if not all(map(math.isfinite, (a, b, c))):
        return float(np.float64(a) * b + c)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return oracle.round_to(exact, kind) if exact else a * b + c


def compared(predicate: str, a: float, b: float) -> bool:
    unordered = a != a or b != b
    if predicate in ("ord", "uno", "true", "false"):
        return {"ord": not unordered, "uno": unordered, "true": True, "false": False}[predicate]
    if unordered:
        return predicate[0] == "u"
    return ORDERED[predicate[1:]](a, b)


def saturated(value: float, bits: int, *, is_signed: bool) -> int:
    """Return the bits of an integer; of a truth value the lowest bit alone is left, and an infinity has none."""
    if bits == 1:
        return math.trunc(value) & 1 if math.isfinite(value) else 0
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
    whole = 0 if value != value else (high if value > 0 else low) if math.isinf(value) else math.trunc(value)
    return max(low, min(high, whole)) & (1 << bits) - 1


def of_integers(row: Scalar, name: str, bits: list[int], result: str) -> int:
    n, mask = BITS[row.kinds[0]], (1 << BITS[row.result]) - 1
    values = [oracle.signed(value, n) for value in bits]
    text = f"{bits[0]:0{n}b}"
    match name:
        case "cmpi":
            predicate = PREDICATES[row.predicate]
            read = bits if predicate[0] == "u" else values
            return int(ORDERED[predicate[-2:]](*read))
        case "extui":
            return bits[0]
        case "extsi" | "trunci" | "index_cast":
            return values[0] & mask
        case "sitofp" | "uitofp":
            number = Fraction(values[0] if name == "sitofp" else bits[0])
            return oracle.to_bits(oracle.round_to(number, result), result)
        case "ctpop" | "ctlz" | "cttz":
            return {"ctpop": text.count("1"), "ctlz": n - len(text.lstrip("0")), "cttz": n - len(text.rstrip("0"))}[
                name
            ]
        case "absi":
            return abs(values[0]) & mask
        case _:
            # A shift by very much would take the memory of the computer.
            shift = min(values[1] % 2**n, 2 * n) if name == "shli" else values[1]
            return oracle.INTEGER[name](values[0], shift, n) & mask


APART = 4
"""How many f64 numpy's functions may be from those of the C library: it has its own."""


def agree(row: Scalar, found: int, wanted: int) -> bool:
    """Return True if two results are the same bits, or both NaNs; functions of f64 come close to numpy's."""
    kind = kinds_of(row)[-1]
    if kind == "f64" and row.name in OF_LIBRARY and math.isfinite(oracle.from_bits(wanted, kind)):
        return found >> 63 == wanted >> 63 and abs(found - wanted) <= APART
    both = kind in oracle.FLOATS and oracle.is_nan(found, kind) and oracle.is_nan(wanted, kind)
    return found == wanted or (both and row.name != "arith.bitcast")


assert set(FLOATS) < set(oracle.FLOATS)
