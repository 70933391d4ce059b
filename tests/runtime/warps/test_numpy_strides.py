"""What the engine computes with numpy, over every pair of strides, against the same on elements side by side.

numpy has loops of its own for each way that elements can lie, and in some releases one of them is wrong.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import loomir
from loomir.operations import integers
from loomir.operations.tile_functions import FUNCTIONS
from loomir.runtime.warps import scalars, tile_arithmetic
from loomir.runtime.warps.scalars import DTYPES

STRIDES = range(-8, 9)
WRITTEN = [stride for stride in STRIDES if stride]
LENGTHS = (1, 2, 5, 33)
ROOM = 8 * max(LENGTHS)
PACKAGE = Path(loomir.__file__).parent
FLOATS = [np.dtype(dtype) for dtype in (np.float16, np.float32, np.float64)]
INTEGERS = [np.dtype(f"{sign}{size}") for sign, size in product("iu", (1, 2, 4, 8))]
TILE_FLOATS = [*FLOATS, np.dtype(ml_dtypes.bfloat16), np.dtype(ml_dtypes.float8_e4m3fn)]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def numbers(dtype: np.dtype[Any], seed: int) -> np.ndarray:
    """Elements of a type, among them the limits of integers and the zeros, infinities and NaNs of floats."""
    random = np.random.default_rng(seed)
    if dtype.kind == "b":
        return random.integers(0, 2, ROOM).astype(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, ROOM, dtype=dtype, endpoint=True)
    values = (random.normal(size=ROOM) * 4).astype(dtype)
    for position, special in enumerate((0.0, -0.0, np.nan, np.inf, -np.inf)):
        values[position::13] = special
    return values


def walk(array: np.ndarray, length: int, stride: int) -> np.ndarray:
    """A view of `length` elements that lie `stride` items apart."""
    if stride == 0:
        return np.broadcast_to(array[:1], length)
    found = array[: (length - 1) * abs(stride) + 1 : abs(stride)]
    return found[::-1] if stride < 0 else found


def bits(array: np.ndarray) -> bytes:
    """The elements as bytes, with one NaN for all; from a copy, which `test_copies` checks."""
    side_by_side = np.array(array, order="C")
    if side_by_side.dtype.kind not in "biu":
        side_by_side[np.isnan(side_by_side)] = np.nan
    return side_by_side.tobytes()


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, np.dtype(ml_dtypes.bfloat16)], ids=str)
def test_copies(dtype: np.dtype[Any]) -> None:
    source = numbers(dtype, 0)
    words = source.view(f"u{dtype.itemsize}").tolist()
    for length, stride in product(LENGTHS, STRIDES):
        first = (length - 1) * -stride if stride < 0 else 0
        expected = [words[first + k * stride] for k in range(length)]
        assert np.array(walk(source, length, stride)).view(f"u{dtype.itemsize}").tolist() == expected
        for step in WRITTEN:
            memory = np.zeros_like(source)
            walk(memory, length, step)[...] = walk(source, length, stride)
            start = (length - 1) * -step if step < 0 else 0
            written = memory.view(f"u{dtype.itemsize}").tolist()
            assert [written[start + k * step] for k in range(length)] == expected, (length, stride, step)


def compare(compute: Callable[..., Any], operands: list[np.dtype[Any]], result: np.dtype[Any]) -> None:
    """Run `compute(out, *sources)` with every stride of one source and of `out`, the other sources at each of theirs.

    They are walks of one row, [rows, elements], as the engine has them.
    """
    sources = [numbers(dtype, seed) for seed, dtype in enumerate(operands)]
    for length, stride, other in product(LENGTHS, STRIDES, (1, 3)):
        views = [
            walk(array, length, stride if position == 0 or other == 3 else other)
            for position, array in enumerate(sources)
        ]
        expected = np.zeros(length, result)
        compute(expected.reshape(1, -1), *[np.array(view).reshape(1, -1) for view in views])
        for step in WRITTEN:
            memory = np.zeros(ROOM, result)
            compute(walk(memory, length, step).reshape(1, -1), *[view.reshape(1, -1) for view in views])
            where = f"{length} elements, strides {stride} and {other} to {step}"
            assert bits(walk(memory, length, step)) == bits(expected), where
            walk(memory, length, step)[...] = 0
            assert not memory.view(np.uint8).any(), where


ELEMENTWISE = [name for name, row in FUNCTIONS.items() if row.shape in ("elementwise", "reshape")]

FLOATING = ("exponential", "logarithm", "square_root", "reciprocal")


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        (name, dtype)
        for name in ELEMENTWISE
        for dtype in (TILE_FLOATS if name in FLOATING else [*TILE_FLOATS, *INTEGERS])
    ],
    ids=str,
)
def test_functions_on_tiles(name: str, dtype: np.dtype[Any]) -> None:
    function = tile_arithmetic.KERNELS[name]
    compare(lambda out, *sources: function(out, sources, {}), [dtype] * FUNCTIONS[name].sources, dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32], ids=str)
@pytest.mark.parametrize("name", ["row_sum", "row_maximum"])
def test_reductions_of_rows(name: str, dtype: Any) -> None:
    values = np.random.default_rng(3).integers(-99, 99, (8, ROOM)).astype(dtype)
    for length, stride in product(LENGTHS, WRITTEN):
        view = np.lib.stride_tricks.as_strided(
            walk(values[0], length, stride), (8, length), (values.strides[0], stride * values.itemsize)
        )
        expected = [sum(row) if name == "row_sum" else max(row) for row in view.tolist()]
        result = np.zeros((8, 1), dtype)
        tile_arithmetic.KERNELS[name](result, [view], {})
        assert result[:, 0].tolist() == expected, (length, stride)


def scalar_functions() -> list[tuple[str, tuple[str, ...]]]:
    """Every function of the tables of scalars, with a kind for each operand and the result."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for kind in ("f32", "f16", "bf16"):
        found += [(name, (kind,) * 3) for name in (*scalars._FLOAT_BINARY, *scalars._FLOAT_CHOICES)]
        found += [(name, (kind,) * (scalars_operands(name) + 1)) for name in (*scalars._MATH, "arith.negf")]
    for kind in ("i64", "i32", "i16", "i8"):
        binary = ("arith.minui", "arith.maxui", "arith.shli", "arith.shrsi", "arith.shrui", *sorted(integers.DIVISIONS))
        found += [(name, (kind,) * 3) for name in (*scalars._INTEGER_VECTORS, *binary)]
        found += [(name, (kind,) * 2) for name in ("math.absi", "math.ctpop", "math.ctlz", "math.cttz")]
    for name in scalars._CONVERSIONS:
        kinds = {"arith.trunci": ("i32", "i16"), "arith.truncf": ("f32", "f16"), "arith.extf": ("f16", "f32"),
                 "arith.sitofp": ("i32", "f32"), "arith.uitofp": ("i32", "f32"), "arith.fptosi": ("f32", "i32"),
                 "arith.fptoui": ("f32", "i32")}  # fmt: skip
        found.append((name, kinds.get(name, ("i16", "i32"))))
    return found


def scalars_operands(name: str) -> int:
    return {"math.powf": 2, "math.atan2": 2, "math.copysign": 2, "math.fma": 3}.get(name, 1)


@pytest.mark.parametrize(("name", "kinds"), scalar_functions(), ids=str)
def test_scalars_of_many_units(name: str, kinds: tuple[str, ...]) -> None:
    function = scalars._function(name, kinds, 0)
    assert function is not None
    operands = [numbers(DTYPES[kind], seed) for seed, kind in enumerate(kinds[:-1])]
    for length, stride, other in product(LENGTHS, STRIDES, (1, 4)):
        views = [walk(array, length, other if position else stride) for position, array in enumerate(operands)]
        copies = [np.array(view) for view in views]
        # Columns of a row of units.
        found = np.asarray(function(*[view.reshape(1, -1) for view in views]))
        expected = np.asarray(function(*[copy.reshape(1, -1) for copy in copies]))
        assert bits(found) == bits(expected), (length, stride, other)


def sources() -> list[str]:
    return [
        file.read_text()
        for folder in ("runtime", "host", "frontend")
        for file in sorted((PACKAGE / folder).rglob("*.py"))
    ]


def used() -> list[str]:
    """Return the names of the ufuncs that the sources use, without parsing them: this is done in every collection."""
    names = {name for text in sources() for name in re.findall(r"\bnp\.(\w+)", text)}
    return sorted(name for name in names if isinstance(getattr(np, name, None), np.ufunc) and name != "matmul")


@cache
def used_with_out() -> frozenset[str]:
    """Return the names of the functions of numpy to which the sources give `out` somewhere."""
    calls = (node for text in sources() for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return frozenset(
        call.func.attr
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "np"
        and any(keyword.arg == "out" for keyword in call.keywords)
    )


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", used())
def test_numpy_functions(name: str) -> None:
    function = getattr(np, name)
    kinds = [np.dtype(code) for code in "?bBhHiIqQefd"]
    checked = 0
    for dtype in kinds:
        operands = [numbers(dtype, seed) for seed in range(function.nin)]
        if name == "ldexp" and dtype.kind == "f":
            operands[1] = np.arange(ROOM, dtype=np.int32) % 9 - 4
        try:
            sample = function(*[array[:1] for array in operands])
        except (TypeError, ValueError):
            continue
        checked += 1
        for length, stride in product(LENGTHS, STRIDES):
            views = [walk(array, length, stride) for array in operands]
            if name == "power" and dtype.kind == "i":
                views[1] = np.abs(views[1] % dtype.type(4))
            copies = [np.array(view) for view in views]
            expected, found = np.atleast_1d(function(*copies)), np.atleast_1d(function(*views))
            # Functions that are not exact round in two ways.
            np.testing.assert_allclose(found.astype(float), expected.astype(float), rtol=1e-3, err_msg=str(stride))
            for step in WRITTEN if function.nout == 1 and name in used_with_out() else []:
                memory = np.zeros(ROOM, np.asarray(sample).dtype)
                function(*views, out=walk(memory, length, step))
                assert bits(walk(memory, length, step)) == bits(expected), (dtype, length, stride, step)
    assert checked
