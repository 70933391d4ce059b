"""`tcvt` between all element types, in every rounding mode, saturated and not, on both chips, against plain numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from loomir.host import pto
from loomir.operations.pipe_protocol import Behavior
from loomir.runtime.executors import EXECUTOR

TYPES: dict[str, Any] = {
    "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i32": np.int32, "i16": np.int16, "i8": np.int8,
    "ui32": np.uint32, "ui16": np.uint16, "ui8": np.uint8,
}  # fmt: skip
FLOATS = {"f32": (24, -126, 3.4028234663852886e38), "f16": (11, -14, 65504.0), "bf16": (8, -126, 3.3895313892515355e38)}
"""Bits of the significand, least exponent of normal numbers, and the largest number."""

ROOM = (4, 32)
VALID = (3, 29)
MODES: dict[str, Callable[[float], float]] = {
    "RINT": lambda x: float(np.rint(x)), "ROUND": lambda x: math.copysign(math.floor(abs(x) + 0.5), x),
    "FLOOR": lambda x: float(np.floor(x)), "CEIL": lambda x: float(np.ceil(x)), "TRUNC": lambda x: float(np.trunc(x)),
}  # fmt: skip
LIMIT = 1 << 63

SPECIAL = [
    0.0, -0.0, math.nan, math.inf, -math.inf, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 127.5, 128.0, -128.5, 255.5, 256.0,
    32767.5, -32768.5, 65535.5, 65504.0, 65519.9, 65520.0, -70000.0, 2147483648.0, -2147483904.0, 4294967296.0,
    3e9, -3e9, 1e19, -1e19, 1e-7, -6e-8, 3e38, -1e-40, 448.0, 1.0078125, 1.00390625, 2049.0, 3.14159,
]  # fmt: skip


def source(kind: str) -> Any:
    chance = np.random.default_rng(7)
    if kind in FLOATS:
        numbers = chance.normal(size=VALID) * np.exp2(chance.integers(-20, 40, VALID))
        numbers.flat[: len(SPECIAL)] = SPECIAL
        with np.errstate(over="ignore"):
            return numbers.astype(TYPES[kind])
    limits = np.iinfo(TYPES[kind])
    numbers = chance.integers(limits.min, limits.max, VALID, endpoint=True)
    numbers.flat[:6] = [limits.min, limits.max, 0, 1, limits.max - 1, limits.max // 2]
    return numbers.astype(TYPES[kind])


def rounded(value: float, kind: str, mode: str, saturates: bool) -> float:
    """Return the float of a type that a number is rounded to."""
    bits, least, largest = FLOATS[kind]
    if saturates and abs(value) > largest:
        return math.copysign(largest, value)
    if value == 0 or math.isinf(value) or math.isnan(value):
        return value
    exponent = max(math.frexp(value)[1] - bits, least - bits + 1)
    found = math.ldexp(MODES[mode](math.ldexp(value, -exponent)), exponent)
    if abs(found) <= largest:
        return math.copysign(found, value)
    stays = mode == "TRUNC" or mode == ("FLOOR" if value > 0 else "CEIL")
    return math.copysign(largest if stays else math.inf, value)


def converted(value: float, before: str, after: str, mode: str, saturates: bool, chip: str) -> float:
    """Return what a number becomes: a float for a float, a whole number for an integer."""
    if after in FLOATS:
        if before == after:
            return value if math.isinf(value) or math.isnan(value) else MODES[mode](value)
        return rounded(value, after, mode, saturates)
    limits = np.iinfo(TYPES[after])
    if math.isnan(value):
        return 0
    whole = LIMIT if value == math.inf else -LIMIT if value == -math.inf else int(MODES[mode](value))
    if saturates or (before in FLOATS and limits.bits == 32 and chip == "a2a3"):
        return min(max(whole, int(limits.min)), int(limits.max))
    if before in FLOATS:
        # Low bits of the integer of 64 bits, which holds larger numbers at its limits.
        whole = min(max(whole, -LIMIT), LIMIT - 1)
    return int(np.array(whole & (1 << limits.bits) - 1, f"u{limits.bits // 8}").view(TYPES[after]))


def tile(kind: str) -> str:
    return f"!pto.tile_buf<vec, {ROOM[0]}x{ROOM[1]}x{kind}, valid={VALID[0]}x{VALID[1]}>"


def cases(before: str) -> list[tuple[str, str, bool]]:
    """Return results, modes and saturation to try of a type; integers become integers in one way."""
    return [
        (after, mode, saturates)
        for after in TYPES
        for mode in MODES
        for saturates in (False, True)
        if (before in FLOATS or after in FLOATS or mode == "RINT") and not (before == after and saturates)
    ]


def kernel(before: str, chip: str) -> str:
    """Return a kernel that converts a tile in all ways, each to a slice of an array of the result's type."""
    count = len(cases(before)) * ROOM[0]
    rows, columns = VALID
    part = f"!pto.partition_tensor_view<{rows}x{columns}x"
    lines = [
        f"%va = pto.make_tensor_view %a, shape = [%m, %n], strides = [%n, %one] : "
        f"!pto.tensor_view<{rows}x{columns}x{before}>",
        f"%pa = pto.partition_view %va, offsets = [%zero, %zero], sizes = [%m, %n] : "
        f"!pto.tensor_view<{rows}x{columns}x{before}> -> {part}{before}>",
        f"%ta = pto.alloc_tile : {tile(before)}",
        f"pto.tload ins(%pa : {part}{before}>) outs(%ta : {tile(before)})",
    ]
    for after in TYPES:
        lines += [
            f"%t{after} = pto.alloc_tile : {tile(after)}",
            f"%v{after} = pto.make_tensor_view %{after}, shape = [%count, %n], strides = [%n, %one] : "
            f"!pto.tensor_view<{count}x{columns}x{after}>",
        ]
    for number, (after, mode, saturates) in enumerate(cases(before)):
        how = f"rmode = #pto<round_mode {mode}>" + (", satmode = #pto<saturation_mode ON>" if saturates else "")
        lines += [
            f"pto.tcvt ins(%ta {{{how}}} : {tile(before)}) outs(%t{after} : {tile(after)})",
            f"%o{number} = arith.constant {ROOM[0] * number} : index",
            f"%p{number} = pto.partition_view %v{after}, offsets = [%o{number}, %zero], sizes = [%m, %n] : "
            f"!pto.tensor_view<{count}x{columns}x{after}> -> {part}{after}>",
            f"pto.tstore ins(%t{after} : {tile(after)}) outs(%p{number} : {part}{after}>)",
        ]
    arguments = "".join(f", %{after}: !pto.ptr<{after}>" for after in TYPES)
    arch = "a5" if chip == "a5" else "a3"
    return f"""module attributes {{pto.target_arch = "{arch}"}} {{
    func.func @k(%a: !pto.ptr<{before}>{arguments}) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %m = arith.constant {rows} : index
      %n = arith.constant {columns} : index
      %count = arith.constant {count} : index
      {chr(10).join(lines)}
      return
    }}
    }}"""


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("before", TYPES)
@pytest.mark.parametrize("chip", ("a2a3", "a5"))
def test_conversions(monkeypatch: pytest.MonkeyPatch, chip: Behavior, before: str) -> None:
    numbers = source(before)
    program = pto.Program(kernel(before, chip), arch=chip, check=False)
    rows, columns = VALID
    count = len(cases(before)) * ROOM[0]
    results: list[Any] = []
    for executor in ("reference", "core"):
        monkeypatch.setenv(EXECUTOR, executor)
        blank = {after: np.zeros((count, columns), TYPES[after]) for after in TYPES}
        results.append(pto.launch(program, {"a": numbers, **blank}).arrays)
    for after in TYPES:
        assert np.array_equal(*(each[after].view(np.uint8) for each in results)), after
    for number, (after, mode, saturates) in enumerate(cases(before)):
        found = results[1][after][ROOM[0] * number :][:rows]
        wanted = np.array(
            [[converted(float(each), before, after, mode, saturates, chip) for each in row] for row in numbers],
            np.float64,
        )
        same = (found.astype(np.float64) == wanted) | (np.isnan(wanted) & np.isnan(found.astype(np.float64)))
        worst = [tuple(at) for at in np.argwhere(~same)[:3]]
        assert same.all(), (after, mode, saturates, [(numbers[at], found[at], wanted[at]) for at in worst])
