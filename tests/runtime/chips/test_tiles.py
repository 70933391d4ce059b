"""Tiles on the engine: every function, on units alike and different, against loops over single elements."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.parser import Parser

from loomir.diagnostics.errors import LoomError
from loomir.dialects import context
from loomir.host import machines
from loomir.operations.tile_functions import FUNCTIONS
from loomir.runtime import Machine
from loomir.runtime.executors import OF_CHIPS
from loomir.runtime.reference.tile_functions import convert

from ...searches import examples

EXECUTORS = list(OF_CHIPS)

ROWS, LANES, BYTES = 3, 2, 8192
DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i32": np.int32, "i8": np.int8}


def machine(body: str, *, executor: str | None = None) -> Machine:
    """Cores on a grid of 3 rows by 2 lanes, each with a memory @m, that run a body; %x and %y are their place."""
    text = f"""
    flow.fabric @k target "a5" grid {LANES} by {ROWS} {{
      flow.space @gm 65536
      flow.units @core on [0:{LANES}, :] words 16 {{
        flow.space @m {BYTES}
        flow.func @main {{
          %x = flow.coordinate x : i64
          %y = flow.coordinate y : i64
          %zero = arith.constant 0 : i64
          {body}
          flow.return
        }}
        flow.export @main as "main"
      }}
    }}"""
    return machines.load(Parser(context(), text, "test.mlir").parse_module(), executor=executor)


def memory(loaded: Machine) -> Any:
    """The memory of every unit, [row, lane, byte]."""
    return vars(loaded.executor)["spaces"].of_class("core", "m").reshape(ROWS, LANES, BYTES)


def launch(loaded: Machine) -> None:
    loaded.launch("main")
    loaded.run()


def expected(function: str, kind: str, operands: list[Any]) -> Any:
    """One function on 2-dimensional tiles, element by element, in Python's doubles or integers."""
    first = operands[0]
    dtype = DTYPES[kind]

    def at(operand: Any, r: int, c: int) -> Any:
        if not isinstance(operand, np.ndarray):
            return operand
        return operand[r if operand.shape[0] > 1 else 0, c if operand.shape[1] > 1 else 0].item()

    rows, columns = first.shape
    one: dict[str, Any] = {
        "copy": lambda a: a,
        "fill": lambda a: a,
        "add": lambda a, b: a + b,
        "subtract": lambda a, b: a - b,
        "multiply": lambda a, b: a * b,
        "divide": lambda a, b: math.trunc(a / b) if kind.startswith("i") else a / b,
        "maximum": max,
        "minimum": min,
        "remainder": lambda a, b: a % b,
        "truncated_remainder": math.fmod,
        "power": lambda a, b: a**b,
        "leak": lambda a, b: a if a > 0 else a * b,
        "bit_and": lambda a, b: a & b,
        "bit_or": lambda a, b: a | b,
        "bit_xor": lambda a, b: a ^ b,
        "shift_left": lambda a, b: a << b,
        "shift_right": lambda a, b: a >> b,
        "negate": lambda a: -a,
        "exponential": math.exp,
        "logarithm": math.log,
        "square_root": math.sqrt,
        "reciprocal": lambda a: 1 / a,
    }
    if function in one:
        values = [[one[function](*(at(o, r, c) for o in operands)) for c in range(columns)] for r in range(rows)]
        with np.errstate(over="ignore"):
            return np.array(values).astype(dtype)
    if function == "row_sum":
        return np.array([[math.fsum(first[r].tolist())] for r in range(rows)]).astype(dtype)
    of_row: dict[str, Any] = {
        "row_maximum": max,
        "row_minimum": min,
        "row_product": math.prod,
        "row_maximum_place": lambda row: row.index(max(row)),
        "row_minimum_place": lambda row: row.index(min(row)),
    }
    with np.errstate(over="ignore"):
        return np.array([[of_row[function](first[r].tolist())] for r in range(rows)]).astype(dtype)


NOT_OF = {
    **dict.fromkeys(("exponential", "logarithm", "square_root", "reciprocal"), ("i32",)),
    **dict.fromkeys(("bit_and", "bit_or", "bit_xor", "shift_left", "shift_right"), ("f32", "f16", "bf16")),
}
"""The types that a function does not have."""

SIMPLE = [name for name, row in FUNCTIONS.items() if row.shape in ("elementwise", "row_reduction", "reshape")]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (function, kind)
        for function in SIMPLE
        for kind in ("f32", "f16", "bf16", "i32")
        if kind not in NOT_OF.get(function, ())
    ],
)
def test_functions_against_loops(function: str, kind: str) -> None:
    """Every function with one shape for its tiles, on all units at once, each with its own data."""
    row = FUNCTIONS[function]
    dtype = np.dtype(DTYPES[kind])
    rows, columns = 4, 8
    count = rows * columns
    out_columns = 1 if row.shape == "row_reduction" else columns
    tiles = "\n".join(
        f"""%a{i} = arith.constant {1024 * (i + 1)} : i64
        %t{i} = flow.tile @m[%a{i}] extents [{rows}, {columns}] strides [{columns}, 1] : !flow.tile<{kind}>"""
        for i in range(row.sources)
    )
    sources = ", ".join(f"%t{i}" for i in range(row.sources))
    types = ", ".join(f"!flow.tile<{kind}>" for _ in range(row.sources))
    loaded = machine(
        f"""{tiles}
        %d = flow.tile @m[%zero] extents [{rows}, {out_columns}] strides [{out_columns}, 1] : !flow.tile<{kind}>
        flow.tile_apply "{function}" %d({sources}) : !flow.tile<{kind}>({types})"""
    )
    generator = np.random.default_rng(7)
    held = memory(loaded)
    data: dict[tuple[int, int], list[Any]] = {}
    for y in range(ROWS):
        for x in range(LANES):
            values = [generator.integers(1, 9, (rows, columns)).astype(dtype) for _ in range(row.sources)]
            for i, value in enumerate(values):
                held[y, x, 1024 * (i + 1) : 1024 * (i + 1) + count * dtype.itemsize] = value.reshape(-1).view(np.uint8)
            data[y, x] = values
    launch(loaded)
    for (y, x), values in data.items():
        got = held[y, x, : rows * out_columns * dtype.itemsize].view(dtype).reshape(rows, out_columns)
        wanted = expected(function, kind, values)
        tolerance = {"f32": 1e-6, "f16": 2e-3, "bf16": 1e-2, "i32": 0}[kind]
        np.testing.assert_allclose(got.astype(np.float64), wanted.astype(np.float64), rtol=tolerance)


@pytest.mark.parametrize(("kind", "out"), [("f32", "f32"), ("bf16", "f32"), ("f16", "f32"), ("i8", "i32")])
def test_matrix_products(kind: str, out: str) -> None:
    """Products are summed in the wide type, with and without an accumulator."""
    rows, inner, columns = 5, 7, 6
    dtype, wide = np.dtype(DTYPES[kind]), np.dtype(DTYPES[out])
    loaded = machine(
        f"""%a = arith.constant 1024 : i64
        %b = arith.constant 2048 : i64
        %l = flow.tile @m[%a] extents [{rows}, {inner}] strides [{inner}, 1] : !flow.tile<{kind}>
        %r = flow.tile @m[%b] extents [{inner}, {columns}] strides [{columns}, 1] : !flow.tile<{kind}>
        %d = flow.tile @m[%zero] extents [{rows}, {columns}] strides [{columns}, 1] : !flow.tile<{out}>
        flow.tile_apply "matrix_multiply" %d(%l, %r) : !flow.tile<{out}>(!flow.tile<{kind}>, !flow.tile<{kind}>)
        flow.tile_apply "matrix_multiply_add" %d(%d, %l, %r) :
          !flow.tile<{out}>(!flow.tile<{out}>, !flow.tile<{kind}>, !flow.tile<{kind}>)"""
    )
    generator = np.random.default_rng(3)
    left = generator.integers(-7, 8, (rows, inner)).astype(dtype)
    right = generator.integers(-7, 8, (inner, columns)).astype(dtype)
    held = memory(loaded)
    held[:, :, 1024 : 1024 + left.nbytes] = left.reshape(-1).view(np.uint8)
    held[:, :, 2048 : 2048 + right.nbytes] = right.reshape(-1).view(np.uint8)
    launch(loaded)
    wanted = [
        [2 * sum(int(left[r, k]) * int(right[k, c]) for k in range(inner)) for c in range(columns)] for r in range(rows)
    ]
    got = held[:, :, : rows * columns * wide.itemsize].view(wide).reshape(ROWS, LANES, rows, columns)
    for y in range(ROWS):
        for x in range(LANES):
            assert got[y, x].astype(int).tolist() == wanted


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(
    st.lists(st.integers(0, 3), min_size=6, max_size=6),
    st.lists(st.integers(1, 4), min_size=6, max_size=6),
    st.integers(4, 9),
    st.sampled_from(EXECUTORS),
)
def test_units_that_differ(offsets: list[int], heights: list[int], stride: int, executor: str) -> None:
    """Addresses and extents may differ from unit to unit."""
    choose = (
        "".join(
            f"""
        %px{i} = arith.constant {i % LANES} : i64
        %py{i} = arith.constant {i // LANES} : i64
        %cx{i} = arith.cmpi eq, %x, %px{i} : i64
        %cy{i} = arith.cmpi eq, %y, %py{i} : i64
        %c{i} = arith.andi %cx{i}, %cy{i} : i1
        %o{i} = arith.constant {64 * offset} : i64
        %h{i} = arith.constant {height} : i64
        %offset{i + 1} = arith.select %c{i}, %o{i}, %offset{i} : i64
        %height{i + 1} = arith.select %c{i}, %h{i}, %height{i} : i64"""
            for i, (offset, height) in enumerate(zip(offsets, heights, strict=True))
        )
        .replace("%offset0", "%zero")
        .replace("%height0", "%zero")
    )
    loaded = machine(
        f"""{choose}
        %out = arith.constant 4096 : i64
        %s = flow.tile @m[%offset6] extents [%height6, 4] strides [{stride}, 1] : !flow.tile<i32>
        %d = flow.tile @m[%out] extents [%height6, 4] strides [4, 1] : !flow.tile<i32>
        flow.tile_apply "add" %d(%s, %s) : !flow.tile<i32>(!flow.tile<i32>, !flow.tile<i32>)""",
        executor=executor,
    )
    held = memory(loaded)
    words = held.view(np.int32)
    words[:, :, :512] = np.random.default_rng(1).integers(0, 1000, (ROWS, LANES, 512))
    before = words.copy()
    launch(loaded)
    for y in range(ROWS):
        for x in range(LANES):
            i = y * LANES + x
            for r in range(4):
                for c in range(4):
                    inside = r < heights[i]
                    source = before[y, x, 16 * offsets[i] + r * stride + c]
                    assert words[y, x, 1024 + 4 * r + c] == (2 * source if inside else 0)


def test_memory_is_guarded() -> None:
    """A tile that reaches outside its memory is an error that says where."""
    loaded = machine(
        """%a = arith.constant 8190 : i64
        %t = flow.tile @m[%a] extents [1] strides [1] : !flow.tile<i32>
        flow.tile_apply "copy" %t(%t) : !flow.tile<i32>(!flow.tile<i32>)"""
    )
    with pytest.raises(LoomError, match="at byte 8190 reaches outside memory @m, which has 8192 bytes"):
        launch(loaded)


@pytest.mark.parametrize(("first", "stride", "values"), [(8, -1, [2, 1, 0]), (4, -1, None), (0, 1, [0, 1, 2])])
def test_strides_may_be_negative(first: int, stride: int, values: list[int] | None) -> None:
    loaded = machine(
        f"""%a = arith.constant {first} : i64
        %b = arith.constant 64 : i64
        %step = arith.constant {stride} : i64
        %t = flow.tile @m[%a] extents [3] strides [%step] : !flow.tile<i32>
        %d = flow.tile @m[%b] extents [3] strides [1] : !flow.tile<i32>
        flow.tile_apply "copy" %d(%t) : !flow.tile<i32>(!flow.tile<i32>)"""
    )
    memory(loaded)[:, :, :12] = np.arange(3, dtype=np.int32).view(np.uint8)
    if values is None:
        with pytest.raises(LoomError, match="a tile of 3 elements at byte -4 reaches outside memory @m"):
            launch(loaded)
        return
    launch(loaded)
    assert memory(loaded)[1, 1, 64:76].view(np.int32).tolist() == values


def test_extents_are_not_negative() -> None:
    loaded = machine(
        """%n = arith.constant -1 : i64
        %t = flow.tile @m[%zero] extents [%n, 4] strides [4, 1] : !flow.tile<i32>
        flow.tile_apply "copy" %t(%t) : !flow.tile<i32>(!flow.tile<i32>)"""
    )
    with pytest.raises(LoomError, match="a tile cannot have -1 x 4 elements; check its valid rows and columns"):
        launch(loaded)


def test_shapes_that_do_not_belong_together() -> None:
    """Valid shapes that are known only at run time are checked then."""
    loaded = machine(
        """%n = arith.constant 3 : i64
        %t = flow.tile @m[%zero] extents [%n, 4] strides [4, 1] : !flow.tile<i32>
        %d = flow.tile @m[%zero] extents [2, 4] strides [4, 1] : !flow.tile<i32>
        flow.tile_apply "add" %d(%t, %t) : !flow.tile<i32>(!flow.tile<i32>, !flow.tile<i32>)"""
    )
    with pytest.raises(LoomError, match="the shapes of 'add' do not match"):
        launch(loaded)


@pytest.mark.parametrize(
    ("function", "extents", "valid"),
    [
        ("add", ["%n, 4", "2, 4"], False),  # one row does not stand for two
        ("add", ["1, 4", "%m, 4"], True),
        ("add", ["%m, 4", "%k, %l"], True),
        ("add", ["2, %n", "2, 4"], False),
        ("fill", ["%n, 4"], False),
        ("fill", ["1, 4"], True),
        ("matrix_multiply", ["%n, 3", "3, 4"], False),
        ("matrix_multiply", ["%m, 3", "3, %l"], True),
        ("concatenate", ["%n, 2", "%n, 2"], False),
    ],
)
def test_nothing_repeats_unless_it_says_so(function: str, extents: list[str], valid: bool) -> None:
    tiles = "\n".join(
        f"%t{i} = flow.tile @m[%zero] extents [{e}] strides [4, 1] : !flow.tile<i32>" for i, e in enumerate(extents)
    )
    names = ", ".join(f"%t{i}" for i in range(len(extents)))
    types = ", ".join(["!flow.tile<i32>"] * len(extents))
    loaded = machine(
        f"""%n = arith.constant 1 : i64
        %m = arith.constant 2 : i64
        %k = arith.addi %n, %n : i64
        %l = arith.addi %k, %m : i64
        {tiles}
        %d = flow.tile @m[%zero] extents [2, 4] strides [4, 1] : !flow.tile<i32>
        flow.tile_apply "{function}" %d({names}) : !flow.tile<i32>({types})"""
    )
    if valid:
        launch(loaded)
        return
    with pytest.raises(LoomError, match=f"the shapes of '{function}' do not match: 2 x 4 from"):
        launch(loaded)


def test_conversions() -> None:
    """Copies round to nearest even, saturate or clamp as they are told."""
    loaded = machine(
        """%b = arith.constant 64 : i64
        %c = arith.constant 128 : i64
        %s = flow.tile @m[%zero] extents [4] strides [1] : !flow.tile<f32>
        %i = flow.tile @m[%b] extents [4] strides [1] : !flow.tile<i8>
        %r = flow.tile @m[%c] extents [4] strides [1] : !flow.tile<i8>
        flow.tile_apply "copy" %i(%s) {saturate} : !flow.tile<i8>(!flow.tile<f32>)
        flow.tile_apply "copy" %r(%s) {relu, rounding = "floor"} : !flow.tile<i8>(!flow.tile<f32>)"""
    )
    held = memory(loaded)
    held[:, :, :16] = np.array([2.5, -3.7, 300.0, 3.5], np.float32).view(np.uint8)
    launch(loaded)
    assert held[0, 0, 64:68].view(np.int8).tolist() == [2, -4, 127, 4]
    assert held[2, 1, 128:132].view(np.int8).tolist() == [2, 0, 127, 3]


FLOATS = [ml_dtypes.bfloat16, np.float16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]


@pytest.mark.parametrize("rounding", ["rint", "floor", "ceil", "trunc", "round", "odd"])
@pytest.mark.parametrize("type", FLOATS)
def test_floats_are_rounded_by_the_given_mode(type: Any, rounding: str) -> None:
    """Against the neighbors of a number among all numbers of the type."""
    dtype = np.dtype(type)
    with np.errstate(invalid="ignore"):
        all_values = np.arange(1 << 8 * dtype.itemsize).astype(f"u{dtype.itemsize}").view(dtype).astype(np.float64)
    values = np.unique(all_values[np.isfinite(all_values)])
    chance = np.random.default_rng(2)
    halves = (values[:-1] + values[1:]) / 2
    given = np.concatenate(
        [chance.uniform(-4, 4, 400), chance.choice(halves, 200), chance.choice(values, 100), [0.0, -1.0]]
    ).astype(np.float32)
    exact = given.astype(np.float64)
    below = values[np.searchsorted(values, exact, side="right") - 1]
    above = values[np.searchsorted(values, exact, side="left")]
    nearer = np.where(exact - below < above - exact, below, above)
    halfway = exact - below == above - exact
    rounded = convert(given, dtype, rounding, saturate=False).astype(np.float64)
    match rounding:
        case "floor":
            expected = below
        case "ceil":
            expected = above
        case "trunc":
            expected = np.where(exact < 0, above, below)
        case "odd":
            is_odd = below.astype(dtype).view(f"u{dtype.itemsize}") % 2 == 1
            expected = np.where((below == above) | is_odd, below, above)
        case "round":
            expected = np.where(halfway, np.where(exact < 0, below, above), nearer)
        case _:
            expected = np.where(halfway, given.astype(dtype).astype(np.float64), nearer)
    np.testing.assert_array_equal(rounded, expected)


def test_floats_of_one_type_are_rounded_to_whole_numbers() -> None:
    given = np.array([1.5, -1.5, 2.7], np.float32)
    assert convert(given, given.dtype, "trunc", saturate=False).tolist() == [1, -1, 2]
    assert convert(given, given.dtype, None, saturate=True) is given


def test_rounding_to_odd_keeps_nan() -> None:
    """And never rounds to an infinity: of the largest number, the last bit is set."""
    given = np.array([np.inf, -np.inf, np.nan, 1e9, -1e9, 1e-30], np.float32)
    with np.errstate(over="ignore"):
        rounded = convert(given, np.dtype(np.float16), "odd", saturate=False)
    assert rounded[:2].tolist() == [np.inf, -np.inf]
    assert np.isnan(rounded[2])
    assert rounded[3:].tolist() == [65504, -65504, 2.0**-24]


def test_large_values_wrap_where_asked() -> None:
    """The lower bits of the 64-bit integer: 300 is 256 + 44."""
    given = np.array([300.4, -129.0, 2.0**40 + 2.0**20, np.inf, -np.inf, np.nan], np.float64)
    assert convert(given, np.dtype(np.int8), None, saturate=False, wrap=True).tolist() == [44, 127, 0, -1, 0, 0]
    assert convert(given, np.dtype(np.uint8), None, saturate=False, wrap=True).tolist() == [44, 127, 0, 255, 0, 0]
    assert convert(given, np.dtype(np.int32), None, saturate=False, wrap=True).tolist() == [300, -129, 2**20, -1, 0, 0]
    assert convert(given, np.dtype(np.int8), None, saturate=False).tolist() == [127, -128, 127, 127, -128, 0]


@pytest.mark.parametrize(
    ("given", "dtype", "expected"),
    [
        (np.array([1e6, -np.inf], np.float32), ml_dtypes.float8_e4m3fn, [448, -448]),
        (np.array([1e6, -np.inf], np.float32), ml_dtypes.float8_e5m2, [57344, -57344]),
        (np.array([1e30, -1e30]).astype(ml_dtypes.bfloat16), np.float16, [65504, -65504]),
        (np.array([70000, -70000], np.int32), np.float16, [65504, -65504]),
        (np.array([1e30, -1e30, 2.0**63, np.nan], np.float32), np.int64, [2**63 - 1, -(2**63), 2**63 - 1, 0]),
        (np.array([300, -300], np.int32), np.int8, [127, -128]),
        (np.array([-1, 5], np.int8), np.uint8, [0, 5]),
    ],
)
def test_what_is_too_large_is_held(given: Any, dtype: Any, expected: list[float]) -> None:
    assert convert(given, np.dtype(dtype), None, saturate=True).tolist() == expected


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    ("function", "type", "given", "number", "expected"),
    [
        ("add", "i8", [1, 2], 300, [45, 46]),
        ("add", "ui8", [1, 2], -1, [0, 1]),
        ("add", "i32", [1, 2], 1 << 31, [-(2**31) + 1, -(2**31) + 2]),
        ("divide", "i64", [2**62 + 1, -(2**62) - 1], 1, [2**62 + 1, -(2**62) - 1]),
        ("divide", "i32", [7, -7, -(2**31)], -2, [-3, 3, 2**30]),
        ("divide", "i32", [-(2**31), 7], -1, [-(2**31), -7]),
        ("divide", "i32", [7, -7], 0, [0, 0]),
        ("maximum", "ui64", [2**64 - 1, 3], 5, [2**64 - 1, 5]),
        ("divide", "ui64", [2**64 - 2, 9], 2, [2**63 - 1, 4]),
    ],
)
def test_integers_keep_their_width(
    function: str, type: str, given: list[int], number: int, expected: list[int], executor: str
) -> None:
    """Numbers lose the bits an element has no room for; quotients are exact and go towards zero."""
    dtype = np.dtype({"ui8": np.uint8, "ui64": np.uint64}.get(type, DTYPES.get(type, np.int64)))
    tile = f"!flow.tile<{type}>"
    loaded = machine(
        f"""%n = arith.constant {number} : i64
        %t = flow.tile @m[%zero] extents [{len(given)}] strides [1] : {tile}
        flow.tile_apply "{function}" %t(%t, %n) : {tile}({tile}, i64)""",
        executor=executor,
    )
    size = len(given) * dtype.itemsize
    memory(loaded)[1, 1, :size] = np.array(given, dtype).view(np.uint8)
    launch(loaded)
    assert memory(loaded)[1, 1, :size].view(dtype).tolist() == expected


def test_units_add_to_one_place() -> None:
    """What all units, or some of them, add to the same elements of shared memory is added once for each."""
    loaded = machine(
        """%four = arith.constant 4 : i64
        %far = arith.constant 1024 : i64
        %mine = flow.tile @m[%zero] extents [2, 3] strides [3, 1] : !flow.tile<i32>
        %all = flow.tile @gm[%zero] extents [2, 3] strides [8, 1] : !flow.tile<i32>
        %step = arith.muli %x, %four : i64
        %place = arith.addi %far, %step : i64
        %some = flow.tile @gm[%place] extents [2, 3] strides [8, 1] : !flow.tile<i32>
        flow.tile_apply "copy" %all(%mine) {accumulate} : !flow.tile<i32>(!flow.tile<i32>)
        flow.tile_apply "copy" %some(%mine) {accumulate} : !flow.tile<i32>(!flow.tile<i32>)"""
    )
    values = np.arange(ROWS * LANES * 6, dtype=np.int32).reshape(ROWS, LANES, 2, 3)
    memory(loaded)[:, :, :24] = values.view(np.uint8).reshape(ROWS, LANES, 24)
    launch(loaded)
    shared = loaded.chip.fetch("gm", 0, 16384, np.dtype(np.int32))
    np.testing.assert_array_equal(shared[:16].reshape(2, 8)[:, :3], values.sum((0, 1)))
    expected = np.zeros((2, 8), np.int32)
    for lane in range(LANES):
        expected[:, lane : lane + 3] += values[:, lane].sum(0)
    np.testing.assert_array_equal(shared[256:272].reshape(2, 8), expected)


def test_printed_tiles() -> None:
    """A printed tile is kept as it was when it was printed, for each unit."""
    loaded = machine(
        """%one = arith.constant 1 : i32
        %t = flow.tile @m[%zero] extents [2, 2] strides [2, 1] : !flow.tile<i32>
        flow.tile_print "before" %t : !flow.tile<i32>
        flow.tile_apply "fill" %t(%one) : !flow.tile<i32>(i32)
        flow.tile_print "after" %t : !flow.tile<i32>"""
    )
    launch(loaded)
    printed = [(place[::-1], label, int(values.sum())) for place, label, values in loaded.chip.printed_tiles]
    assert printed == [
        ((y, x), label, total) for y in range(3) for x in range(2) for label, total in (("before", 0), ("after", 4))
    ]
