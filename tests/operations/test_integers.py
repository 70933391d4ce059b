"""Integer arithmetic: the table is right, and all who compute integers agree with it, at every pair of bytes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from math import inf, nan

import numpy as np
import pytest
from xdsl.dialects import arith, math, test
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute, Operation

from loomir.analysis.pto.schedules import folded
from loomir.frontend import scalars as compile_time
from loomir.frontend import types
from loomir.frontend.values import Lanes
from loomir.operations import integers
from loomir.operations.dsd_table import OPERATIONS as DSD_OPERATIONS
from loomir.runtime.reference.arithmetic import element
from loomir.runtime.reference.tile_functions import BY_NAME

BYTES = range(-128, 128)
PAIRS = list(product(BYTES, BYTES))
BINARY = sorted(name for name, op in integers.OPERATIONS.items() if len(op.reads) == 2)
WIDTHS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}


def pairs(kind: str, name: str = "") -> list[tuple[int, int]]:
    """Every pair of bytes; of wider integers those at the limits. No divisor is 0."""
    bits = WIDTHS[kind]
    half = 1 << (bits - 1)
    edges = (0, 1, -1, 2, -2, 3, -3, 100, bits - 1, bits, bits + 1, 2 * bits, -bits, half - 1, half - 2, half // 3,
             -half, 1 - half, -half // 3)  # fmt: skip
    found = PAIRS if bits == 8 else list(product(edges, edges))
    return [pair for pair in found if pair[1]] if name in integers.DIVISIONS else found


def oracle(name: str, bits: int) -> Callable[[int, int], int]:
    """Each operation by another way than the table's: fractions, and bits as text."""
    word = 1 << bits

    def digits(value: int) -> str:
        return f"{value % word:0{bits}b}"

    def bitwise(choose: Callable[[str, str], bool]) -> Callable[[int, int], int]:
        def apply(a: int, b: int) -> int:
            return int("".join("01"[choose(x, y)] for x, y in zip(digits(a), digits(b), strict=True)), 2)

        return apply

    def shifted(a: int, b: int, fill: str) -> int:
        amount = min(b % word, bits)
        return int((fill * amount + digits(a))[:bits], 2)

    return {
        "arith.addi": lambda a, b: a + b,
        "arith.subi": lambda a, b: a - b,
        "arith.muli": lambda a, b: a * b,
        "arith.divsi": lambda a, b: int(Fraction(a, b)),
        "arith.divui": lambda a, b: int(Fraction(a % word, b % word)),
        "arith.remsi": lambda a, b: a - b * int(Fraction(a, b)),
        "arith.remui": lambda a, b: (a % word) % (b % word),
        "arith.floordivsi": lambda a, b: Fraction(a, b).__floor__(),
        "arith.ceildivsi": lambda a, b: Fraction(a, b).__ceil__(),
        "arith.ceildivui": lambda a, b: Fraction(a % word, b % word).__ceil__(),
        "arith.andi": bitwise(lambda x, y: x == y == "1"),
        "arith.ori": bitwise(lambda x, y: "1" in (x, y)),
        "arith.xori": bitwise(lambda x, y: x != y),
        "arith.shli": lambda a, b: int((digits(a) + "0" * min(b % word, bits))[-bits:], 2),
        "arith.shrsi": lambda a, b: shifted(a, b, digits(a)[0]),
        "arith.shrui": lambda a, b: shifted(a, b, "0"),
        "arith.minsi": lambda a, b: a if a < b else b,
        "arith.maxsi": lambda a, b: b if a < b else a,
        "arith.minui": lambda a, b: a if a % word < b % word else b,
        "arith.maxui": lambda a, b: b if a % word < b % word else a,
    }[name]


@cache
def expected(name: str, kind: str) -> list[int]:
    """What the table makes of the pairs of a kind."""
    function = integers.function(name, WIDTHS[kind])
    return [function(a, b) for a, b in pairs(kind, name)]


def operation(name: str, type: Attribute, result: Attribute | None = None, predicate: int | None = None) -> Operation:
    """An operation on operands of one type."""
    (kind,) = (op for op in (*arith.Arith.operations, *math.Math.operations) if op.name == name)
    count = len(integers.OPERATIONS[name].reads) if name in integers.OPERATIONS else 1 + (predicate is not None)
    values = test.TestOp(result_types=[type] * count).results
    if predicate is not None:
        return arith.CmpiOp(values[0], values[1], predicate)
    return kind.create(operands=list(values), result_types=[result or type])


def mlir(kind: str) -> Attribute:
    return IndexType() if kind == "index" else IntegerType(int(kind[1:]))


# The table


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", ["i8", "i32", "index"])
@pytest.mark.parametrize("name", BINARY)
def test_operations_wrap(name: str, kind: str) -> None:
    bits, compute = WIDTHS[kind], oracle(name, WIDTHS[kind])
    half = 1 << (bits - 1)
    assert expected(name, kind) == [(compute(a, b) + half) % (2 * half) - half for a, b in pairs(kind, name)]


@pytest.mark.parametrize("name", BINARY)
def test_truth_values(name: str) -> None:
    """A true value is -1 if it is read as signed; the result is 0 or 1."""
    unsigned = integers.OPERATIONS[name].reads == "uu"
    for a, b in product((0, 1), (0, 1)):
        if b or name not in integers.DIVISIONS:
            read = (a, b) if unsigned else (-a, -b)
            assert integers.function(name, 1)(a, b) == oracle(name, 1)(*read) % 2, (a, b)


def test_divisions_by_zero_are_raised() -> None:
    for name in integers.DIVISIONS:
        with pytest.raises(ZeroDivisionError):
            integers.function(name, 16)(7, 0)


def test_numbers_of_predicates_are_those_of_mlir() -> None:
    assert [test.name for test in integers.PREDICATES] == arith.CMPI_COMPARISON_OPERATIONS


def test_floats_end_at_the_limits() -> None:
    for value, signed, unsigned in (
        (nan, 0, 0), (inf, 127, 255), (-inf, -128, 0), (-1.9, -1, 0), (200.9, 127, 200), (-128.5, -128, 0),
        (1e30, 127, 255),
    ):  # fmt: skip
        assert integers.saturated(value, 8, is_signed=True) == signed
        assert integers.saturated(value, 8, is_signed=False) == unsigned


# Those who compute integers


@pytest.mark.parametrize("name", [*integers.COUNTS, "math.absi"])
def test_unary_operations(name: str) -> None:
    compute = integers.function(name, 8)
    found = [compute(value) for value in BYTES]
    text = [f"{value % 256:08b}" for value in BYTES]
    count = {
        "math.ctpop": lambda bits: bits.count("1"),
        "math.ctlz": lambda bits: len(bits) - len(bits.lstrip("0")),
        "math.cttz": lambda bits: len(bits) - len(bits.rstrip("0")),
        "math.absi": lambda bits: (abs((int(bits, 2) + 128) % 256 - 128) + 128) % 256 - 128,
    }[name]
    assert found == [count(bits) for bits in text]


@pytest.mark.parametrize("kind", ["i1", *WIDTHS])
@pytest.mark.parametrize("number", range(len(integers.PREDICATES)))
def test_comparisons(number: int, kind: str) -> None:
    bits = 1 if kind == "i1" else WIDTHS[kind]
    compare = integers.comparison(number, bits)
    some = list(product((0, 1), (0, 1))) if kind == "i1" else pairs(kind)
    wanted = [compare(a, b) for a, b in some]
    name = integers.PREDICATES[number].name
    if kind == "i8":
        order = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}[name[-2:]]
        read = "% 256" if name[0] == "u" else ""
        assert wanted == eval(f"[a {read} {order} b {read} for a, b in some]", {"some": some})
    op = operation("arith.cmpi", mlir(kind), predicate=number)
    assert [folded(op, pair) for pair in some[:300]] == wanted[:300]


@pytest.mark.parametrize(
    ("source", "result"), [*product(("i1", "i8"), ("i1", *WIDTHS)), ("i16", "i8"), ("index", "i32")]
)
@pytest.mark.parametrize("name", integers.CONVERSIONS)
def test_conversions(name: str, source: str, result: str) -> None:
    bits, wide = (1 if kind == "i1" else WIDTHS[kind] for kind in (source, result))
    convert = integers.conversion(name, bits, wide)
    values = [0, 1] if source == "i1" else sorted({a for a, _ in pairs(source)})
    signed = [-value if source == "i1" else value for value in values]
    word = 1 << wide
    read = [value % (1 << bits) for value in signed] if name == "arith.extui" else signed
    wanted = [value % 2 if result == "i1" else (value + word // 2) % word - word // 2 for value in read]
    assert [convert(value) for value in values] == wanted
    op = operation(name, mlir(source), mlir(result))
    assert [folded(op, [value]) for value in values] == wanted


SYMBOLS = {
    "+": ("arith.addi", "arith.addi"), "-": ("arith.subi", "arith.subi"), "*": ("arith.muli", "arith.muli"),
    "/": ("arith.divsi", "arith.divui"), "%": ("arith.remsi", "arith.remui"), "&": ("arith.andi", "arith.andi"),
    "|": ("arith.ori", "arith.ori"), "^": ("arith.xori", "arith.xori"), "<<": ("arith.shli", "arith.shli"),
    ">>": ("arith.shrsi", "arith.shrui"),
}  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize("symbol", SYMBOLS)
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.slow
def test_compile_time(symbol: str, signed: bool) -> None:
    """The operators of CSL on constants give what the operations they become at run time give."""
    type, name = types.Int(8, signed), SYMBOLS[symbol][not signed]
    lanes = Lanes(1)
    some = [pair for pair in pairs("i8", name) if symbol not in ("<<", ">>") or pair[1] >= 0]
    values = some if signed else [(a % 256, b % 256) for a, b in some]
    found = [compile_time.binary(lanes, symbol, type, a, b) for a, b in values]
    function = integers.function(name, 8)
    assert [(value + 128) % 256 - 128 for value in found] == [function(a, b) for a, b in some]
    assert all(type.lowest <= value <= type.highest for value in found)


@pytest.mark.parametrize("kind", WIDTHS)
@pytest.mark.parametrize("name", BINARY)
def test_analyses_of_kernels(name: str, kind: str) -> None:
    op = operation(name, mlir(kind))
    some = pairs(kind, name)[::101] if kind == "i8" else pairs(kind, name)
    function = integers.function(name, WIDTHS[kind])
    assert [folded(op, pair) for pair in some] == [function(*pair) for pair in some]
    assert name not in integers.DIVISIONS or folded(op, (7, 0)) is None
    assert folded(operation("arith.maxsi", mlir("i8")), (255, 0)) == 0


def test_analyses_of_kernels_read_truth_values_of_either_spelling() -> None:
    """A constant `true` is -1 in IR, a comparison gives 1."""
    for a, b in product((0, 1), (0, 1)):
        for name in ("arith.xori", "arith.andi", "arith.ori"):
            op, function = operation(name, IntegerType(1)), integers.function(name, 1)
            assert folded(op, (a, -b)) == folded(op, (-a, b)) == folded(op, (a, b)) == function(a, b)
        assert folded(operation("arith.cmpi", IntegerType(1), predicate=0), (a, -b)) == (a == b)


DSD = {
    "add": "arith.addi", "subtract": "arith.subi", "and": "arith.andi", "or": "arith.ori", "xor": "arith.xori",
    "shift_left": "arith.shli", "shift_right_logical": "arith.shrui", "shift_right_arithmetic": "arith.shrsi",
    "population_count": "math.ctpop", "count_leading_zeros": "math.ctlz", "count_trailing_zeros": "math.cttz",
}  # fmt: skip


@pytest.mark.parametrize("function", DSD)
def test_operations_on_descriptors(function: str) -> None:
    rows = [row for row in DSD_OPERATIONS.values() if row.function == function and row.destination == "i16"]
    assert rows
    compute = integers.function(DSD[function], 16)
    some = pairs("i16")
    unary = DSD[function] in integers.COUNTS
    for row in rows:
        for pair in some:
            sources = pair[:1] if unary else pair
            found = element(row.name, None)(*(value % (1 << 16) for value in sources))
            assert integers.signed(found, 16) == compute(*sources), (row.name, pair)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "maximum", "minimum"])
def test_operations_on_tiles(name: str) -> None:
    table = {"add": "addi", "subtract": "subi", "multiply": "muli", "divide": "divsi", "maximum": "maxsi",
             "minimum": "minsi"}  # fmt: skip
    arith_name = f"arith.{table[name]}"
    columns = [np.array(column, np.int8).reshape(1, -1) for column in zip(*pairs("i8", arith_name), strict=True)]
    out = np.zeros_like(columns[0])
    with np.errstate(all="ignore"):
        BY_NAME[name](out, columns, None)
    assert out.ravel().tolist() == expected(arith_name, "i8")
