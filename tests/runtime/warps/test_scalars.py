"""Scalar operations: numbers and arrays give the same bits, and the bits are right."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.dialects import flow
from loomir.runtime.warps.scalars import DTYPES, function_of

from ...searches import examples
from .. import oracle
from ..flow_modules import parse

BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
COMPARE = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {}


def function(text: str, *kinds: str):
    """The engine's function of one operation, for example `arith.addi %a, %b : i16`."""
    key = f"{text} {kinds}"
    if key not in FUNCTIONS:
        arguments = ", ".join(f"%{name}: {kind}" for name, kind in zip("abc", kinds, strict=False))
        module = parse(f"""
          flow.fabric @f target "wse3" grid 1 by 1 {{
            flow.units @u on [:, :] words 2 {{
              flow.func @f({arguments}) {{
                %r = {text}
                flow.return
              }}
            }}
          }}""")
        (op,) = (next(op for op in module.walk() if isinstance(op, flow.FuncOp)).body.block.ops,)
        found = function_of(next(iter(op)))
        assert found is not None
        FUNCTIONS[key] = found
    return FUNCTIONS[key]


def bits_of(value, kind: str) -> int:
    array = np.asarray(value, DTYPES[kind])
    if kind == "i1":
        return int(array)
    return int(array.view(np.dtype(f"u{array.dtype.itemsize}")))


def both_ways(apply, operands: list[list], kinds: list[str], result: str) -> list[int]:
    """Results of a list of operand tuples, one by one, as arrays of several shapes and mixed with numbers."""
    with np.errstate(all="ignore"):
        single = [bits_of(apply(*values), result) for values in operands]
        columns = [np.array([values[k] for values in operands], DTYPES[kind]) for k, kind in enumerate(kinds)]
        together = apply(*(column.reshape(1, -1) for column in columns))
        assert together.shape == (1, len(operands))
        assert [bits_of(value, result) for value in together.ravel()] == single
        tall = apply(*(np.repeat(column, 3).reshape(-1, 3)[:, ::2] for column in columns))
        assert [bits_of(value, result) for value in tall[:, 0]] == single
        if len(kinds) > 1:
            for k in range(len(kinds)):
                last = [operands[0][j] if j == k else columns[j].reshape(1, -1) for j in range(len(kinds))]
                mixed = apply(*last)
                expected = [
                    bits_of(apply(*(operands[0][j] if j == k else values[j] for j in range(len(kinds)))), result)
                    for values in operands
                ]  # fmt: skip
                assert [bits_of(value, result) for value in np.asarray(mixed).ravel()] == expected
    return single


def integers(kind: str):
    n = BITS[kind]
    edge = st.sampled_from([0, 1, -1, 2, n - 1, n, n + 1, -(1 << (n - 1)), (1 << (n - 1)) - 1])
    return st.one_of(edge, st.integers(-(1 << (n - 1)), (1 << (n - 1)) - 1))


def floats(kind: str):
    edge = st.sampled_from([0.0, -0.0, 1.0, -1.5, math.inf, -math.inf])
    width = 32 if kind == "f32" else 16
    return st.one_of(edge, st.floats(width=width, allow_nan=False))


LISTS = settings(max_examples=examples(8), derandomize=True)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", BITS)
@pytest.mark.parametrize("name", sorted(oracle.INTEGER))
def test_integers_wrap(name: str, kind: str) -> None:
    apply = function(f"arith.{name} %a, %b : {kind}", kind, kind)
    nonzero = integers(kind).filter(bool) if "div" in name or "rem" in name else integers(kind)

    @LISTS
    @given(st.lists(st.tuples(integers(kind), nonzero), min_size=1, max_size=20))
    def run(operands) -> None:
        n = BITS[kind]
        found = both_ways(apply, operands, [kind, kind], kind)
        assert found == [oracle.INTEGER[name](a, b, n) % 2**n for a, b in operands]

    run()


@pytest.mark.parametrize("kind", BITS)
@pytest.mark.parametrize("predicate", ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"])
def test_integer_comparisons(predicate: str, kind: str) -> None:
    apply = function(f"arith.cmpi {predicate}, %a, %b : {kind}", kind, kind)

    @LISTS
    @given(st.lists(st.tuples(integers(kind), integers(kind)), min_size=1, max_size=20))
    def run(operands) -> None:
        n = BITS[kind]
        compare = COMPARE[predicate[-2:]]
        expected = [
            compare(a % 2**n, b % 2**n) if predicate[0] == "u" else compare(a, b) for a, b in operands
        ]  # fmt: skip
        assert both_ways(apply, operands, [kind, kind], "i1") == expected

    run()


@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize("name", ["addf", "subf", "mulf"])
def test_floats_round_to_nearest_even(name: str, kind: str) -> None:
    apply = function(f"arith.{name} %a, %b : {kind}", kind, kind)

    @LISTS
    @given(st.lists(st.tuples(floats(kind), floats(kind)), min_size=1, max_size=20))
    def run(operands) -> None:
        found = both_ways(apply, operands, [kind, kind], kind)
        for (a, b), bits in zip(operands, found, strict=True):
            exact = oracle.multiply(a, b, kind) if name == "mulf" else oracle.add(a, -b if name == "subf" else b, kind)
            assert oracle.is_nan(bits, kind) if math.isnan(exact) else bits == oracle.to_bits(exact, kind)

    run()


@pytest.mark.parametrize("kind", ["f32", "f16"])
def test_quotients_round_to_nearest_even(kind: str) -> None:
    apply = function(f"arith.divf %a, %b : {kind}", kind, kind)

    @LISTS
    @given(st.lists(st.tuples(floats(kind), floats(kind)), min_size=1, max_size=20))
    def run(operands) -> None:
        found = both_ways(apply, operands, [kind, kind], kind)
        for (a, b), bits in zip(operands, found, strict=True):
            if math.isfinite(a) and math.isfinite(b) and a and b:
                exact = oracle.round_to(Fraction(a) / Fraction(b), kind, (a < 0) != (b < 0))
                assert bits == oracle.to_bits(exact, kind)

    run()


@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize("name", ["maximumf", "minimumf", "maxnumf", "minnumf"])
def test_larger_and_smaller(name: str, kind: str) -> None:
    """Zeros have an order in maximumf and minimumf; NaN spreads in them and is passed over in the others."""
    apply = function(f"arith.{name} %a, %b : {kind}", kind, kind)
    some = st.one_of(floats(kind), st.just(math.nan))

    @LISTS
    @given(st.lists(st.tuples(some, some), min_size=1, max_size=20))
    def run(operands) -> None:
        found = both_ways(apply, operands, [kind, kind], kind)
        for (a, b), bits in zip(operands, found, strict=True):
            value = oracle.from_bits(bits, kind)
            if math.isnan(a) or math.isnan(b):
                if "num" in name and not (math.isnan(a) and math.isnan(b)):
                    assert value == (b if math.isnan(a) else a)
                else:
                    assert math.isnan(value)
                continue
            order = sorted([a, b], key=lambda v: (v, math.copysign(1, v)))
            wanted = order[1] if "max" in name else order[0]
            assert value == wanted
            if "num" not in name:
                assert math.copysign(1, value) == math.copysign(1, wanted)

    run()


@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize(
    "predicate",
    ["oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true", "false"],
)
def test_float_comparisons(predicate: str, kind: str) -> None:
    apply = function(f"arith.cmpf {predicate}, %a, %b : {kind}", kind, kind)
    some = st.one_of(floats(kind), st.just(math.nan))

    def expected(a: float, b: float) -> bool:
        if predicate in ("true", "false"):
            return predicate == "true"
        unordered = math.isnan(a) or math.isnan(b)
        if predicate in ("ord", "uno"):
            return unordered == (predicate == "uno")
        return predicate[0] == "u" if unordered else COMPARE[predicate[1:]](a, b)

    @LISTS
    @given(st.lists(st.tuples(some, some), min_size=1, max_size=20))
    def run(operands) -> None:
        if predicate in ("true", "false"):
            assert all(bool(np.all(apply(a, b))) == expected(a, b) for a, b in operands)
            return
        assert both_ways(apply, operands, [kind, kind], "i1") == [expected(a, b) for a, b in operands]

    run()


MATH = (
    "absf", "sqrt", "exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan", "tanh", "floor", "ceil", "trunc",
    "atan", "roundeven", "cbrt", "rsqrt", "expm1", "log1p", "asin", "acos", "sinh", "cosh", "asinh", "acosh", "atanh",
    "erf", "round",
)  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("name", [*MATH, "powf", "atan2", "copysign"])
def test_math_does_not_depend_on_the_number_of_units(name: str, kind: str) -> None:
    two = name in ("powf", "atan2", "copysign")
    kinds = [kind, kind] if two else [kind]
    apply = function(f"math.{name} {'%a, %b' if two else '%a'} : {kind}", *kinds)
    moderate = st.floats(-60, 60, width=32 if kind == "f32" else 16)

    @LISTS
    @given(st.lists(st.tuples(*(st.one_of(moderate, floats(kind)) for _ in kinds)), min_size=1, max_size=37))
    def run(operands) -> None:
        if kind == "bf16":
            operands = [[float(DTYPES[kind].type(value)) for value in values] for values in operands]
        found = both_ways(apply, operands, kinds, kind)
        if kind == "bf16":
            return
        for values, bits in zip(operands, found, strict=True):
            if name == "sqrt" and 0 < values[0] < math.inf:
                root = oracle.from_bits(bits, kind)
                assert abs(root * root / values[0] - 1) < (1e-2 if kind == "f16" else 1e-5) or values[0] < 1e-6
            if name == "exp" and -10 < values[0] < 10:
                assert oracle.from_bits(bits, kind) == pytest.approx(math.exp(values[0]), rel=2e-3, abs=1e-4)

    run()


LIBM = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
    "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt", "erf",
)  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("name", LIBM)
def test_math_is_that_of_libm_rounded_once(name: str, kind: str) -> None:
    apply = function(f"math.{name} %a : {kind}", kind)
    at_least_1 = name == "acosh"

    @LISTS
    @given(st.lists(st.floats(2.0**-20, 0.99), min_size=1, max_size=20))
    def run(numbers) -> None:
        rounded = (oracle.to_kind(number + at_least_1, kind) for number in numbers)
        operands = [[value] for value in rounded if value != 1]
        if not operands:
            return
        found = both_ways(apply, operands, [kind], kind)
        exact = [getattr(math, name)(value) for [value] in operands]
        assert found == [oracle.to_bits(oracle.to_kind(value, kind), kind) for value in exact]

    run()


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("math.exp", 1000.0, math.inf), ("math.exp", -math.inf, 0.0), ("math.log", 0.0, -math.inf),
        ("math.log", -1.0, math.nan), ("math.sin", math.inf, math.nan), ("math.atanh", -1.0, -math.inf),
        ("math.acosh", 0.0, math.nan), ("math.cosh", -1000.0, math.inf), ("math.log1p", -1.0, -math.inf),
        ("math.erf", -math.inf, -1.0), ("math.tanh", -0.0, -0.0), ("math.cbrt", -math.inf, -math.inf),
    ],
)  # fmt: skip
def test_poles_overflows_and_undefined_results(text: str, value: float, expected: float) -> None:
    (found,) = both_ways(function(f"{text} %a : f32", "f32"), [[value]], ["f32"], "f32")
    if math.isnan(expected):
        assert oracle.is_nan(found, "f32")
    else:
        assert found == oracle.to_bits(expected, "f32")


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("bits", [32, 64])
def test_integers_are_rounded_once_to_bf16(bits: int, signed: bool) -> None:
    apply = function(f"arith.{'s' if signed else 'u'}itofp %a : i{bits} to bf16", f"i{bits}")
    # A little above halfway between two neighbors, below what f32 or a double holds.
    half = 0x101 << (bits - 11)
    operands = [[half + 1], [half - 1], [half], [-1], [3]]
    found = both_ways(apply, operands, [f"i{bits}"], "bf16")
    for [number], result in zip(operands, found, strict=True):
        exact = Fraction(number if signed else number % (1 << bits))
        assert result == oracle.to_bits(oracle.round_to(exact, "bf16"), "bf16")


@pytest.mark.parametrize(
    ("text", "source", "result", "exact"),
    [
        ("arith.extsi %a : i16 to i32", "i16", "i32", lambda a: a),
        ("arith.extui %a : i16 to i32", "i16", "i32", lambda a: a % 2**16),
        ("arith.trunci %a : i32 to i16", "i32", "i16", lambda a: a),
        ("arith.index_cast %a : i16 to index", "i16", "index", lambda a: a),
        ("arith.sitofp %a : i32 to f32", "i32", "f32", lambda a: Fraction(a)),
        ("arith.uitofp %a : i32 to f32", "i32", "f32", lambda a: Fraction(a % 2**32)),
        ("arith.sitofp %a : i16 to f16", "i16", "f16", lambda a: Fraction(a)),
        ("arith.uitofp %a : i16 to f16", "i16", "f16", lambda a: Fraction(a % 2**16)),
        ("arith.sitofp %a : i64 to f32", "i64", "f32", lambda a: Fraction(a)),
        ("arith.uitofp %a : i64 to f32", "i64", "f32", lambda a: Fraction(a % 2**64)),
        ("arith.sitofp %a : i64 to f16", "i64", "f16", lambda a: Fraction(a)),
        ("arith.uitofp %a : i8 to f16", "i8", "f16", lambda a: Fraction(a % 2**8)),
        ("arith.trunci %a : i64 to i32", "i64", "i32", lambda a: a),
        ("arith.trunci %a : i16 to i8", "i16", "i8", lambda a: a),
        ("arith.extui %a : i32 to i64", "i32", "i64", lambda a: a % 2**32),
        ("arith.extsi %a : i8 to i64", "i8", "i64", lambda a: a),
        ("arith.index_cast %a : index to i64", "i64", "i64", lambda a: a),
        ("arith.bitcast %a : i32 to f32", "i32", "f32", None),
        ("arith.bitcast %a : i16 to f16", "i16", "f16", None),
        ("arith.bitcast %a : i16 to bf16", "i16", "bf16", None),
        ("arith.extf %a : f16 to f32", "f16", "f32", lambda a: Fraction(a)),
        ("arith.truncf %a : f32 to f16", "f32", "f16", lambda a: Fraction(a)),
        ("arith.bitcast %a : f32 to i32", "f32", "i32", lambda a: oracle.to_bits(a, "f32")),
        ("arith.bitcast %a : f16 to i16", "f16", "i16", lambda a: oracle.to_bits(a, "f16")),
    ],
)
def test_conversions(text: str, source: str, result: str, exact) -> None:
    apply = function(text, "index" if "index to" in text else source)
    inputs = integers(source) if source in BITS else floats(source)
    if result == "bf16":
        # What a NaN carries is lost in a number of Python.
        inputs = inputs.filter(lambda a: a & 0x7FFF <= 0x7F80)

    @LISTS
    @given(st.lists(st.tuples(inputs), min_size=1, max_size=20))
    def run(operands) -> None:
        found = both_ways(apply, operands, [source], result)
        for (a,), bits in zip(operands, found, strict=True):
            if exact is None:
                if not oracle.is_nan(bits, "f32" if result == "f32" else "f16"):
                    assert bits == a % 2 ** BITS[source]
                continue
            if result in ("f32", "f16"):
                if isinstance(a, float) and math.isinf(a):
                    expected = oracle.to_bits(a, result)
                else:
                    negative = isinstance(a, float) and math.copysign(1, a) < 0
                    expected = oracle.to_bits(oracle.round_to(exact(a), result, negative), result)
            else:
                expected = exact(a) % 2 ** (BITS.get(result, 64))
            assert bits == expected

    run()


def saturated(value: float, lowest: int, highest: int) -> int:
    """A float cut towards zero within limits; 0 for a NaN."""
    if math.isinf(value):
        return lowest if value < 0 else highest
    return 0 if math.isnan(value) else max(lowest, min(highest, int(value)))


@pytest.mark.parametrize("source", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("result", ["i8", "i16", "i32", "i64"])
@pytest.mark.parametrize("signed", [True, False], ids=["signed", "unsigned"])
def test_floats_end_at_the_limits_of_an_integer(source: str, result: str, signed: bool) -> None:
    bits = BITS[result]
    apply = function(f"arith.{'fptosi' if signed else 'fptoui'} %a : {source} to {result}", source)
    lowest, highest = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    edges = [limit + step for limit in (lowest, highest) for step in (-1.5, -1, -0.5, 0, 0.5, 1, 1.5)]
    edges += [0.0, -0.0, 0.75, -0.75, -1.5, 1e9, -1e9, 3e38, -3e38, math.inf, -math.inf, math.nan]
    with np.errstate(over="ignore"):
        numbers = [float(np.asarray(float(edge), DTYPES[source])) for edge in edges]
    found = both_ways(apply, [[number] for number in numbers], [source], result)
    assert found == [saturated(number, lowest, highest) % (1 << bits) for number in numbers]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["f32", "f16"])
def test_fused_multiply_add_rounds_once(kind: str) -> None:
    apply = function(f"math.fma %a, %b, %c : {kind}", kind, kind, kind)

    @settings(max_examples=examples(60), derandomize=True)
    @given(st.lists(st.tuples(floats(kind), floats(kind), floats(kind)), min_size=1, max_size=20))
    def run(operands) -> None:
        operands += [(1.0 + 2**-10, 1.0 + 2**-10, 2.0**-14), (1.0 + 2**-10, 1.0 - 2**-10, -1.0)]
        found = both_ways(apply, operands, [kind] * 3, kind)
        for (a, b, c), bits in zip(operands, found, strict=True):
            if all(map(math.isfinite, (a, b, c))) and (total := Fraction(a) * Fraction(b) + Fraction(c)):
                assert bits == oracle.to_bits(oracle.round_to(total, kind, total < 0), kind)

    run()


@pytest.mark.parametrize("kind", BITS)
@pytest.mark.parametrize("name", ["ctpop", "ctlz", "cttz"])
def test_counted_bits(name: str, kind: str) -> None:
    apply = function(f"math.{name} %a : {kind}", kind)
    n = BITS[kind]

    def expected(a: int) -> int:
        text = format(a % 2**n, f"0{n}b")
        if name == "ctpop":
            return text.count("1")
        return (text if name == "ctlz" else text[::-1] + "1").find("1") if "1" in text else n

    @LISTS
    @given(st.lists(st.tuples(integers(kind)), min_size=1, max_size=20))
    def run(operands) -> None:
        assert both_ways(apply, operands, [kind], kind) == [expected(a) for (a,) in operands]

    run()


@pytest.mark.parametrize(
    ("text", "result", "expected"),
    [
        ("arith.extsi %a : i1 to i16", "i16", [0, 0xFFFF]),
        ("arith.extui %a : i1 to i16", "i16", [0, 1]),
        ("arith.uitofp %a : i1 to f32", "f32", [0, 0x3F800000]),
        ("arith.addi %a, %a : i1", "i1", [0, 0]),
        ("arith.xori %a, %a : i1", "i1", [0, 0]),
        ("arith.andi %a, %a : i1", "i1", [0, 1]),
        ("arith.cmpi slt, %a, %a : i1", "i1", [0, 0]),
        ("arith.cmpi ule, %a, %a : i1", "i1", [1, 1]),
    ],
)
def test_booleans(text: str, result: str, expected: list[int]) -> None:
    """A bit is a bit: true is -1 as a signed number, and sums of bits carry nothing."""
    apply = function(text, "i1")
    count = text.count("%a")
    operands = [(False,) * count, (True,) * count]
    assert [bits_of(apply(*values), result) for values in operands] == expected
    columns = [np.array([[False, True]])] * count
    assert [bits_of(value, result) for value in np.asarray(apply(*columns)).ravel()] == expected
