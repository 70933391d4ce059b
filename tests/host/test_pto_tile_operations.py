"""Tile operations of vector kernels that are several functions of the engine, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from loomir.host import pto

ROWS, COLUMNS = 8, 16


def run(body: str, a: Any, b: Any, out: Any) -> Any:
    """Run a vector kernel on tiles %x and %y of `a` and `b`; return what %z is then."""
    names = {np.dtype(np.float32): "f32", np.dtype(np.int32): "i32"}

    def tensor(name: str, array: Any) -> str:
        rows, columns = array.shape
        kind = names[array.dtype]
        return f"""
  %{name}m = arith.constant {rows} : index
  %{name}n = arith.constant {columns} : index
  %{name}v = pto.make_tensor_view %{name}, shape = [%{name}m, %{name}n], strides = [%{name}n, %one] :
    !pto.tensor_view<{rows}x{columns}x{kind}>
  %{name}p = pto.partition_view %{name}v, offsets = [%zero, %zero], sizes = [%{name}m, %{name}n] :
    !pto.tensor_view<{rows}x{columns}x{kind}> -> !pto.partition_tensor_view<{rows}x{columns}x{kind}>
  %{name}t = pto.alloc_tile : {tile(array)}"""

    def tile(array: Any) -> str:
        return f"!pto.tile_buf<vec, {array.shape[0]}x{array.shape[1]}x{names[array.dtype]}>"

    def part(array: Any) -> str:
        return f"!pto.partition_tensor_view<{array.shape[0]}x{array.shape[1]}x{names[array.dtype]}>"

    for name, array in (("A", a), ("B", b), ("OUT", out)):
        body = body.replace(name, tile(array))
    loads = "".join(
        f"\n  pto.tload ins(%{name}p : {part(array)}) outs(%{name}t : {tile(array)})"
        for name, array in (("a", a), ("b", b), ("out", out))
    )
    text = f"""
func.func @k(%a: !pto.ptr<{names[a.dtype]}>, %b: !pto.ptr<{names[b.dtype]}>, %out: !pto.ptr<{names[out.dtype]}>)
    attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index{tensor("a", a)}{tensor("b", b)}{tensor("out", out)}{loads}
  {body}
  pto.tstore ins(%outt : {tile(out)}) outs(%outp : {part(out)})
  return
}}
"""
    return pto.run(text, arch="ideal", arguments={"a": a, "b": b, "out": out.copy()}).arrays["out"]


A = np.random.default_rng(1).normal(size=(ROWS, COLUMNS)).astype(np.float32)
B = np.random.default_rng(2).normal(size=(ROWS, COLUMNS)).astype(np.float32)
COLUMN, ROW = B[:, :1].copy(), B[:1].copy()
WHOLE = np.zeros_like(A)
NUMBERS = np.arange(ROWS * COLUMNS, dtype=np.int32).reshape(ROWS, COLUMNS)
PLACES = np.random.default_rng(3).integers(0, ROWS * COLUMNS, (ROWS, COLUMNS)).astype(np.int32)
ONE = "%x = arith.constant 3.0 : f32\n"

CASES: dict[str, tuple[str, Any, Any, Any, Callable[[], Any]]] = {
    "tabs": ("pto.tabs ins(%at : A) outs(%outt : OUT)", A, B, WHOLE, lambda: np.abs(A)),
    "trelu": ("pto.trelu ins(%at : A) outs(%outt : OUT)", A, B, WHOLE, lambda: np.maximum(A, 0)),
    "tmin": ("pto.tmin ins(%at, %bt : A, B) outs(%outt : OUT)", A, B, WHOLE, lambda: np.minimum(A, B)),
    "trsqrt": (
        "pto.trsqrt ins(%at : A) outs(%outt : OUT)", np.abs(A), B, WHOLE, lambda: 1 / np.sqrt(np.abs(A))
    ),
    "tdivs": (f"{ONE}pto.tdivs ins(%at, %x : A, f32) outs(%outt : OUT)", A, B, WHOLE, lambda: A / np.float32(3)),
    "number by tile": (
        f"{ONE}pto.tdivs ins(%x, %at : f32, A) outs(%outt : OUT)", A, B, WHOLE, lambda: np.float32(3) / A
    ),
    "ttrans": ("pto.ttrans ins(%at : A) outs(%outt : OUT)", A, B, np.zeros((COLUMNS, ROWS), np.float32), lambda: A.T),
    "tcolsum": (
        "pto.tcolsum ins(%at : A) outs(%outt : OUT)", A, B, ROW, lambda: A.astype(np.float64).sum(0, keepdims=True)
    ),
    "tcolmax": ("pto.tcolmax ins(%at : A) outs(%outt : OUT)", A, B, ROW, lambda: A.max(0, keepdims=True)),
    "trowexpandadd": (
        "pto.trowexpandadd ins(%at, %bt : A, B) outs(%outt : OUT)", A, ROW.reshape(-1, 1)[:ROWS], WHOLE,
        lambda: A + ROW.reshape(-1, 1)[:ROWS],
    ),
    "tcolexpandexpdif": (
        "pto.tcolexpandexpdif ins(%at, %bt : A, B) outs(%outt : OUT)", A, ROW, WHOLE, lambda: np.exp(A - ROW)
    ),
    "tci": (
        "%i = arith.constant 5 : i32\npto.tci ins(%i : i32) outs(%outt : OUT) {descending = true}",
        A, B, NUMBERS, lambda: 5 - NUMBERS,
    ),
    "tgather": (
        "pto.tgather ins(%at, %bt : A, B) outs(%outt : OUT)", A, PLACES, WHOLE, lambda: A.reshape(-1)[PLACES]
    ),
    "tgather of a pattern": (
        'pto.tgather ins(%at, {maskPattern = #pto.mask_pattern<P0010>} : A, "row") outs(%outt : OUT)',
        A, B, np.zeros((ROWS, COLUMNS // 4), np.float32), lambda: A[:, 1::4],
    ),
    "tsetval and tgetval": (
        """%from = arith.constant 19 : index
  %v = pto.tgetval ins(%at, %from : A, index) outs : f32
  pto.tsetval ins(%one, %v : index, f32) outs(%outt : OUT)""",
        A, B, WHOLE, lambda: np.where(NUMBERS == 1, A[1, 3], np.float32(0)),
    ),
    "tinsert": (
        """%four = arith.constant 4 : index
  pto.tinsert ins(%at, %one, %four : A, index, index) outs(%outt : OUT)""",
        A[:2, :8].copy(), B, WHOLE, lambda: np.pad(A[:2, :8], ((1, ROWS - 3), (4, COLUMNS - 12))),
    ),
    "arrays of the scalar unit": (
        """%array = pto.declare_local_array -> !pto.local_array<2x4xf32>
  pto.local_array_set %array[%one, %one], %seven : !pto.local_array<2x4xf32>, f32
  %v = pto.local_array_get %array[%one, %one] : !pto.local_array<2x4xf32> -> f32
  pto.texpands ins(%v : f32) outs(%outt : OUT)""".replace("%seven", "%x").replace("%array = ", f"{ONE}%array = "),
        A, B, WHOLE, lambda: np.full_like(A, 3),
    ),
    "flags and fences": (
        """pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
  pto.fence.barrier_all #pto.fence_scope<gm>
  pto.cmo.cacheinvalid %ap single_cache_line : !pto.partition_tensor_view<8x16xf32>
  pto.tadd ins(%at, %bt : A, B) outs(%outt : OUT)""",
        A, B, WHOLE, lambda: A + B,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_operations_against_numpy(name: str) -> None:
    body, a, b, out, wanted = CASES[name]
    found = run(body, a, b, out)
    np.testing.assert_allclose(found, wanted(), rtol=2e-6, atol=2e-6)


def test_indices_outside_are_errors() -> None:
    """What the documents leave open is an error that says where."""
    places = PLACES.copy()
    places[0, 0] = ROWS * COLUMNS
    with pytest.raises(Exception, match="indices are in the source; correct them"):
        run(CASES["tgather"][0], A, places, WHOLE)
