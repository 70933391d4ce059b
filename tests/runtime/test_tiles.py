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

from loomir.diagnostics import LoomError
from loomir.dialects import context
from loomir.dialects.tile_functions import FUNCTIONS
from loomir.runtime import Machine

ROWS, LANES, BYTES = 3, 2, 8192
DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i32": np.int32, "i8": np.int8}


def machine(body: str, *, block_rows: int | None = None) -> Machine:
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
    return Machine(Parser(context(), text, "test.mlir").parse_module(), block_rows=block_rows)


def memory(loaded: Machine) -> Any:
    """The memory of every unit, [row, lane, byte]."""
    return loaded.classes[0].spaces["m"].bytes.reshape(ROWS, LANES, BYTES)


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
        "negate": lambda a: -a,
        "exponential": math.exp,
        "logarithm": math.log,
        "square_root": math.sqrt,
        "reciprocal": lambda a: 1 / a,
    }
    if function in one:
        return np.array(
            [[one[function](*(at(o, r, c) for o in operands)) for c in range(columns)] for r in range(rows)]
        ).astype(dtype)
    if function == "row_sum":
        return np.array([[math.fsum(first[r].tolist())] for r in range(rows)]).astype(dtype)
    if function == "row_maximum":
        return np.array([[max(first[r].tolist())] for r in range(rows)]).astype(dtype)
    raise AssertionError(function)


SIMPLE = [name for name, row in FUNCTIONS.items() if row.shape in ("elementwise", "row_reduction", "reshape")]


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (function, kind)
        for function in SIMPLE
        for kind in ("f32", "f16", "bf16", "i32")
        if kind != "i32" or function not in ("exponential", "logarithm", "square_root", "reciprocal")
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


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=6, max_size=6),
    st.lists(st.integers(1, 4), min_size=6, max_size=6),
    st.integers(4, 9),
    st.sampled_from([None, 1, 2]),
)
def test_units_that_differ(offsets: list[int], heights: list[int], stride: int, block_rows: int | None) -> None:
    """Addresses and extents may differ from unit to unit; results do not depend on how units are batched."""
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
        block_rows=block_rows,
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


def test_shapes_that_do_not_belong_together() -> None:
    """Valid shapes that are known only at run time are checked then."""
    loaded = machine(
        """%n = arith.constant 3 : i64
        %t = flow.tile @m[%zero] extents [%n, 4] strides [4, 1] : !flow.tile<i32>
        %d = flow.tile @m[%zero] extents [2, 4] strides [4, 1] : !flow.tile<i32>
        flow.tile_apply "add" %d(%t, %t) : !flow.tile<i32>(!flow.tile<i32>, !flow.tile<i32>)"""
    )
    with pytest.raises(LoomError, match="the shapes of 'add' do not belong together"):
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
    assert [(p.label, int(p.values.sum())) for p in loaded.printed_tiles] == [("before", 0)] * 6 + [("after", 4)] * 6
    assert sorted((p.row, p.column) for p in loaded.printed_tiles[:6]) == [(y, x) for y in range(3) for x in range(2)]
