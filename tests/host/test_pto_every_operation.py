"""Every operation of `pto_tiles` on elements, rows and columns, on random and special numbers, against numpy.

A kernel has all operations of an element type, on tiles whose valid extents are arguments: it is compiled once, and
launched with few, odd, and no valid rows or columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from loomir.host import pto
from loomir.operations.pto_tile_elements import ELEMENTS
from loomir.operations.pto_tiles import OPERATIONS, PtoTileOperation
from loomir.runtime.executors import EXECUTOR

TYPES = {
    "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i32": np.int32, "i16": np.int16, "i8": np.int8,
}  # fmt: skip
ROOM = (8, 32)
SHAPES = ((8, 32), (5, 17), (1, 1), (7, 1), (1, 31), (0, 9), (3, 0))
OTHERWISE = {"tcmp", "tcmps", "tsel", "tsels", "tsort32", "tconcat", "tfillpad", "ttrans", "tci"}
"""Not on elements of one type and shape: what tests of their own are for."""

SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 2.5, -2.5, 1e-40, 6e-8, 65504.0, -3e38, 448.0, 0.5, 7.0]


def is_float(kind: str) -> bool:
    return "f" in kind


def numbers(kind: str, seed: int) -> Any:
    """Return numbers of all sizes, the limits and special ones among them."""
    chance = np.random.default_rng(seed)
    if not is_float(kind):
        limits = np.iinfo(TYPES[kind])
        found = chance.integers(limits.min, limits.max, ROOM, endpoint=True)
        small = chance.integers(-9, 10, ROOM)
        found = np.where(chance.random(ROOM) < 0.5, small, found)
        found.flat[:6] = [limits.min, limits.max, 0, -1, 1, limits.min]
        return chance.permuted(found.ravel()).reshape(ROOM).astype(TYPES[kind])
    found = chance.normal(size=ROOM) * np.exp2(chance.integers(-6, 6, ROOM))
    found.flat[chance.choice(found.size, 3 * len(SPECIAL), replace=False)] = SPECIAL * 3
    with np.errstate(over="ignore"):
        return found.astype(TYPES[kind])


# What single numbers become. Floats are computed in f32, and rounded to the type; integers wrap.


def wrapped(value: int, bits: int) -> int:
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def quotient(a: Any, b: Any) -> Any:
    if isinstance(a, int):
        return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return a / b


def truncated(a: Any, b: Any) -> Any:
    if isinstance(a, int):
        return 0 if b == 0 else math.trunc(math.copysign(1, a)) * (abs(a) % abs(b))
    return np.nan if b == 0 or np.isinf(a) or np.isnan(a + b) else math.fmod(a, b)


def floored(a: Any, b: Any) -> Any:
    if isinstance(a, int):
        return 0 if b == 0 else a % b
    return np.nan if b == 0 or np.isinf(a) or np.isnan(a + b) else float(a) % float(b)


def power(a: Any, b: Any) -> Any:
    if isinstance(a, int):
        if b < 0:
            return 1 if a == 1 or (a == -1 and b % 2 == 0) else -1 if a == -1 else 0
        return pow(a, b, 1 << 64)
    with np.errstate(all="ignore"):
        return np.float64(a) ** np.float64(b)


def larger(a: Any, b: Any) -> Any:
    return np.nan if a != a or b != b else a if a > b else b


def smaller(a: Any, b: Any) -> Any:
    return np.nan if a != a or b != b else a if a < b else b


def leak(a: Any, b: Any) -> Any:
    return a if a > 0 else a * b


def left(a: int, b: int, bits: int) -> int:
    return a << b if 0 <= b < bits else 0


def right(a: int, b: int, bits: int) -> int:
    return a >> b if 0 <= b < bits else -1 if a < 0 else 0


def root(a: Any) -> Any:
    return np.nan if a < 0 else np.sqrt(np.float64(a))


def reciprocal(a: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.float64(1) / np.float64(a)


def logarithm(a: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.log(np.float64(a))


def exponential(a: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.exp(np.float64(a))


SINGLE: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b, "divide": quotient,
    "remainder": floored, "truncated_remainder": truncated, "power": power, "maximum": larger, "minimum": smaller,
    "negate": lambda a: -a, "absolute": abs, "rectify": lambda a: a if a > 0 or a != a else 0,
    "leak": leak, "exponential": exponential, "logarithm": logarithm, "square_root": root, "reciprocal": reciprocal,
    "reciprocal_square_root": lambda a: reciprocal(root(a)), "invert": lambda a: ~a, "bit_and": lambda a, b: a & b,
    "bit_or": lambda a, b: a | b, "bit_xor": lambda a, b: a ^ b, "fill": lambda a: a,
    "exponential_difference": lambda a, b: exponential(a - b),
}  # fmt: skip
SHIFTS = {"shift_left": left, "shift_right": right}
LOOSE = {
    "exponential", "logarithm", "power", "reciprocal_square_root", "exponential_difference", "remainder", "rectify",
}  # fmt: skip
"""Rounded more than once, or of the C library: a few units in the last place, and zeros of either sign."""

ONE_BY_ONE: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, b: a + b, "product": lambda a, b: a * b, "maximum": larger, "minimum": smaller,
}  # fmt: skip


def rounded(value: Any, kind: str) -> Any:
    """Return a number in an element type: an integer wraps, a float is rounded."""
    if not is_float(kind):
        return wrapped(int(value), 8 * np.dtype(TYPES[kind]).itemsize)
    with np.errstate(all="ignore"):
        return np.float32(value) if kind == "f32" else np.float32(value).astype(TYPES[kind])


def wide(value: Any, kind: str) -> Any:
    return np.float32(value) if is_float(kind) else int(value)


def of_elements(function: str, kind: str, *operands: Any) -> Any:
    bits = 8 * np.dtype(TYPES[kind]).itemsize
    shape = np.broadcast_shapes(*(each.shape for each in operands))
    found = np.zeros(shape, TYPES[kind])
    fitted = [np.broadcast_to(each, shape) for each in operands]
    with np.errstate(all="ignore"):
        for place in np.ndindex(shape):
            values = [wide(each[place], kind) for each in fitted]
            if function == "exponential_difference":
                values = [rounded(values[0] - values[1], kind), TYPES[kind](0)]
            computed: Any = SHIFTS[function] if function in SHIFTS else SINGLE[function]
            value = computed(*values, bits) if function in SHIFTS else computed(*values)
            found[place] = rounded(value, kind)
    return found


def along_rows(what: str, kind: str, a: Any) -> Any:
    """Return one number for each row: of its elements one after the other, or the place of the first best one."""
    found: list[Any] = []
    for row in a:
        values = [wide(each, kind) for each in row]
        if what.endswith("place"):
            best = 0
            for place, value in enumerate(values):
                better = value > values[best] if what.startswith("maximum") else value < values[best]
                best = place if better else best
            found.append(best)
            continue
        total = values[0]
        with np.errstate(all="ignore"):
            for value in values[1:]:
                total = ONE_BY_ONE[what](total, value)
                total = np.float32(total) if is_float(kind) else total
        found.append(rounded(total, kind))
    return np.array(found, np.int32 if what.endswith("place") else TYPES[kind]).reshape(-1, 1)


def expected(row: PtoTileOperation, kind: str, given: dict[str, Any]) -> Any:
    """Return what an operation makes of the valid parts of its operands."""
    if row.function.startswith("row_"):
        return along_rows(row.function.removeprefix("row_"), kind, given["a"])
    if row.function.startswith("column_"):
        return along_rows(row.function.removeprefix("column_"), kind, given["a"].T).T
    tiles = iter((given["a"], given["b"]))
    operands: list[Any] = []
    for operand in row.operands:
        match operand:
            case "scalar":
                operands.append(np.array(given["s"]))
            case "per_row":
                operands.append(next(tiles)[:, :1])
            case "per_column":
                operands.append(next(tiles)[:1])
            case "either" if len(operands) == 1:
                operands.append(np.array(given["s"]))
            case _:
                operands.append(next(tiles))
    if len(operands) == 1:
        operands = [np.broadcast_to(operands[0], given["a"].shape)]
    return of_elements(row.function, kind, *operands)


def operations(kind: str) -> Iterator[PtoTileOperation]:
    """Yield the operations that a5 has of a type."""
    for name, row in OPERATIONS.items():
        if name in OTHERWISE or row.shape == "product" or (name not in ELEMENTS and name != "texpands"):
            continue
        if name == "texpands" or kind in ELEMENTS[name].a5.replace(" or ", "/").replace(", ", "/").split("/"):
            yield row


# Kernels


def tile(kind: str, rows: str = "?", columns: str = "?", room: tuple[int, int] = ROOM, more: str = "") -> str:
    return f"!pto.tile_buf<vec, {room[0]}x{room[1]}x{kind}, valid={rows}x{columns}{more}>"


def kernel(kind: str) -> tuple[str, list[PtoTileOperation]]:
    """Return a kernel of all operations of a type, in the order of the slices of the array that they write."""
    rows = list(operations(kind))
    whole, column, line = tile(kind), tile(kind, "?", "1", (8, 32)), tile(kind, "1", "?", (8, 32))
    places, across = tile("i32", "?", "1", (8, 8)), tile("i32", "1", "?")
    lines = [f"%{name} = pto.alloc_tile valid_row = %m valid_col = %n : {whole}" for name in ("ta", "tb", "to", "tx")]
    lines += [
        f"%tr = pto.alloc_tile valid_row = %m : {column}", f"%tc = pto.alloc_tile valid_col = %n : {line}",
        f"%tp = pto.alloc_tile valid_row = %m : {places}", f"%tq = pto.alloc_tile valid_col = %n : {across}",
    ]  # fmt: skip
    part = f"!pto.partition_tensor_view<?x?x{kind}>"
    for name in ("a", "b"):
        lines += [
            f"%v{name} = pto.make_tensor_view %{name}, shape = [%c8, %c32], strides = [%c32, %c1] : "
            f"!pto.tensor_view<8x32x{kind}>",
            f"%p{name} = pto.partition_view %v{name}, offsets = [%c0, %c0], sizes = [%m, %n] : "
            f"!pto.tensor_view<8x32x{kind}> -> {part}",
            f"pto.tload ins(%p{name} : {part}) outs(%t{name} : {whole})",
        ]
    count = 8 * len(rows)
    for name, element in (("out", kind), ("places", "i32")):
        lines.append(
            f"%v{name} = pto.make_tensor_view %{name}, shape = [%count, %c32], strides = [%c32, %c1] : "
            f"!pto.tensor_view<{count}x32x{element}>"
        )
    for number, row in enumerate(rows):
        result, type, array, element, sizes = "%to", whole, "out", kind, "%m, %n"
        if row.function.startswith("row_"):
            result, type, sizes = "%tr", column, "%m, %c1"
        if row.function.startswith("column_"):
            result, type, sizes = "%tc", line, "%c1, %n"
        if row.function.endswith("_place"):
            result, type = ("%tp", places) if row.function.startswith("row_") else ("%tq", across)
            array, element = "places", "i32"
        operands = {"tile": ("%ta", whole), "per_row": ("%tb", whole), "per_column": ("%tb", whole)}
        given: list[tuple[str, str]] = []
        for operand in row.operands:
            if operand == "scalar" or (operand == "either" and given):
                given.append(("%slope", "f32") if row.name == "tlrelu" else ("%s", kind))
            elif len(given) == 1 and operand == "tile":
                given.append(("%tb", whole))
            else:
                given.append(operands["tile" if operand == "either" else operand])
        if row.operands in (("per_row",), ("per_column",)):
            given = [("%ta", whole)]
        if (
            row.scratch
            and row.scratch_at is None
            and (row.function.startswith("row_") or row.name in ("txor", "txors"))
        ):
            given.append(("%tx", whole))
        values, types = ", ".join(value for value, _ in given), ", ".join(each for _, each in given)
        into = f"!pto.partition_tensor_view<?x?x{element}>"
        lines += [
            f"pto.{row.name} ins({values} : {types}) outs({result} : {type})",
            f"%o{number} = arith.constant {8 * number} : index",
            f"%q{number} = pto.partition_view %v{array}, offsets = [%o{number}, %c0], sizes = [{sizes}] : "
            f"!pto.tensor_view<{count}x32x{element}> -> {into}",
            f"pto.tstore ins({result} : {type}) outs(%q{number} : {into})",
        ]
    body = "\n".join(lines)
    return (
        f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k(%a: !pto.ptr<{kind}>, %b: !pto.ptr<{kind}>, %s: {kind}, %slope: f32, %m: index, %n: index,
                 %out: !pto.ptr<{kind}>, %places: !pto.ptr<i32>)
        attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c32 = arith.constant 32 : index
      %count = arith.constant {count} : index
      {body}
      return
    }}
    }}""",
        rows,
    )


@cache
def program(kind: str) -> tuple[pto.Program, list[PtoTileOperation]]:
    text, rows = kernel(kind)
    return pto.Program(text, check=False), rows


@pytest.mark.one_in(4)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", TYPES)
def test_every_operation(monkeypatch: pytest.MonkeyPatch, kind: str, shape: tuple[int, int]) -> None:
    compiled, rows = program(kind)
    a, b = numbers(kind, 1), numbers(kind, 2)
    number = 2.5 if is_float(kind) else 3
    arrays: list[Any] = []
    for executor in ("reference", "core"):
        monkeypatch.setenv(EXECUTOR, executor)
        blank = np.zeros((8 * len(rows), 32), TYPES[kind]), np.zeros((8 * len(rows), 32), np.int32)
        given = dict(zip(("a", "b", "s", "slope", "m", "n"), (a, b, number, number, *shape), strict=True))
        given |= {"out": blank[0], "places": blank[1]}
        arrays.append(pto.launch(compiled, given).arrays)
    for name in ("out", "places"):
        assert np.array_equal(*(each[name].view(np.uint8) for each in arrays)), name
    m, n = shape
    if not m * n:
        return
    valid = {"a": a[:m, :n], "b": b[:m, :n], "s": TYPES[kind](number)}
    for place, row in enumerate(rows):
        wanted = expected(row, kind, valid)
        array = arrays[0]["places" if row.function.endswith("_place") else "out"]
        found = array[8 * place : 8 * place + wanted.shape[0], : wanted.shape[1]]
        x, y = found.astype(np.float64), wanted.astype(np.float64)
        if row.function in LOOSE and is_float(kind):
            close = np.isclose(x, y, rtol=4 * float(ml_dtypes.finfo(TYPES[kind]).eps), atol=0, equal_nan=True)
        else:
            close = (x == y) & (np.signbit(x) == np.signbit(y)) | np.isnan(x) & np.isnan(y)
        worst = np.argwhere(~close)[:3].tolist()
        assert close.all(), (row.name, worst, [(valid["a"][tuple(at)] if at[0] < m and at[1] < n else None,
                             valid["b"][tuple(at)] if at[0] < m and at[1] < n else None,
                             found[tuple(at)], wanted[tuple(at)]) for at in worst])  # fmt: skip


def test_operations_are_tried() -> None:
    """Each row of the table is on some type, or named as one that has tests of its own."""
    tried = {row.name for kind in TYPES for row in operations(kind)}
    left_out = {name for name, row in OPERATIONS.items() if row.shape == "product"} | OTHERWISE
    assert tried | left_out == set(OPERATIONS)
