"""Tensors in global memory that are in boxes, against their definition index by index."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from loomir import pto
from loomir.diagnostics.errors import LoomError

BOX_BYTES = 32
BOX_ROWS = 16


def _view(
    name: str, pointer: str, element: str, shape: list[int], layout: str, first: list[int], size: list[Any]
) -> str:
    """A tensor without gaps, and a part of it; sizes that are text are names of values."""
    strides = [prod(shape[place + 1 :]) for place in range(len(shape))]
    constants = {*shape, *strides, *first, *(number for number in size if isinstance(number, int))}
    whole = "x".join(map(str, shape)) + f"x{element}"
    part = "x".join("?" if isinstance(number, str) else str(number) for number in size) + f"x{element}"

    def listed(numbers: list[Any]) -> str:
        names = (number if isinstance(number, str) else f"%{name}_c{number}" for number in numbers)
        return f"[{', '.join(names)}]"

    text = "".join(f"  %{name}_c{number} = arith.constant {number} : index\n" for number in sorted(constants))
    return (
        text
        + f"""
  %{name}_view = pto.make_tensor_view %{pointer}, shape = {listed(shape)}, strides = {listed(strides)} {layout}
    : !pto.tensor_view<{whole}>
  %{name} = pto.partition_view %{name}_view, offsets = {listed(first)}, sizes = {listed(size)}
    : !pto.tensor_view<{whole}> -> !pto.partition_tensor_view<{part}>
"""
    )


def _program(element: str, source: str, result: str, part: str, other: str, tile: str, rows: str = "") -> str:
    return f"""
func.func @move(%source: !pto.ptr<{element}>, %result: !pto.ptr<{element}>, %n: index)
    attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
{source}{result}
  %tile = pto.alloc_tile {rows} : {tile}
  pto.tload ins(%from : !pto.partition_tensor_view<{part}x{element}>) outs(%tile : {tile})
  pto.tstore ins(%tile : {tile}) outs(%to : !pto.partition_tensor_view<{other}x{element}>)
  return
}}
"""


NZ = "{layout = #pto.layout<nz>}"


@pytest.mark.parametrize(
    ("element", "dtype"),
    [("f16", np.float16), ("bf16", ml_dtypes.bfloat16), ("f32", np.float32), ("i8", np.int8), ("i32", np.int32)],
)
@pytest.mark.parametrize("stores", [False, True])
def test_boxes(tmp_path: Path, element: str, dtype: Any, stores: bool) -> None:
    """A matrix of 48 x 3 boxes: rows 16 to 47 of all columns, from boxes to rows or back."""
    width = BOX_BYTES // np.dtype(dtype).itemsize
    columns = 3 * width
    shape, size = [1, 3, 3, BOX_ROWS, width], [1, 3, 2, BOX_ROWS, width]
    boxes = _view("from", "source", element, shape, NZ, [0, 0, 1, 0, 0], size)
    plain = _view("to", "result", element, [32, columns], "", [0, 0], [32, columns])
    part, other = "x".join(map(str, size)), f"32x{columns}"
    if stores:
        boxes = boxes.replace("from", "to").replace("%source", "%result")
        plain = plain.replace("%to", "%from").replace("%result", "%source")
        part, other = other, part
    path = tmp_path / "boxes.pto"
    path.write_text(_program(element, boxes, plain, part, other, f"!pto.tile_buf<vec, 32x{columns}x{element}>"))
    matrix = np.random.default_rng(7).integers(-100, 100, (48, columns)).astype(dtype)
    held = np.zeros(48 * columns, dtype)
    for row in range(48):
        for column in range(columns):
            box = column // width * 3 + row // BOX_ROWS
            held[(box * BOX_ROWS + row % BOX_ROWS) * width + column % width] = matrix[row, column]
    if stores:
        result = pto.run(path, arguments={"source": matrix[16:].copy(), "result": np.zeros_like(held), "n": 0})
        expected = held.reshape(3, 3, BOX_ROWS * width).copy()
        expected[:, 0] = 0
        np.testing.assert_array_equal(result.arrays["result"], expected.reshape(-1))
    else:
        result = pto.run(path, arguments={"source": held, "n": 0})
        np.testing.assert_array_equal(result.arrays["result"].reshape(32, columns), matrix[16:])


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 3])
def test_boxes_whose_number_is_known_at_run_time(tmp_path: Path, n: int) -> None:
    boxes = _view("from", "source", "f16", [2, 3, 16, 16], NZ, [0, 0, 0, 0], [2, "%n", 16, 16])
    boxes += "  %valid = arith.muli %n, %from_c16 : index\n"
    plain = _view("to", "result", "f16", [48, 32], "", [0, 0], ["%valid", 32])
    rows = "valid_row = %valid valid_col = %to_c32"
    tile = "!pto.tile_buf<vec, 48x32xf16, valid=?x?>"
    path = tmp_path / "boxes.pto"
    path.write_text(_program("f16", boxes, plain, "2x?x16x16", "?x32", tile, rows))
    held = np.arange(48 * 32).astype(np.float16)
    result = pto.run(path, arguments={"source": held, "n": n, "result": np.full((48, 32), -1, np.float16)})
    matrix = held.reshape(2, 48, 16).transpose(1, 0, 2).reshape(48, 32)
    np.testing.assert_array_equal(result.arrays["result"][: 16 * n], matrix[: 16 * n])
    path.write_text(path.read_text().replace("arith.muli %n, %from_c16", "arith.addi %n, %from_c16"))
    with pytest.raises(LoomError, match="the tile has as many valid rows as a tensor with layout nz"):
        pto.run(path, arguments={"source": held, "n": n})


@pytest.mark.parametrize("side", ["mx_a_zz", "mx_b_nn"])
def test_boxes_of_scales(tmp_path: Path, side: str) -> None:
    """Boxes of 16 x 2: of A's scales row behind row, of B's column behind column."""
    shape = [1, 2, 3, 16, 2]
    boxes = _view("from", "source", "i8", shape, f"{{layout = #pto.layout<{side}>}}", [0] * 5, shape)
    rows, columns = (32, 6) if side == "mx_a_zz" else (6, 32)
    plain = _view("to", "result", "i8", [rows, columns], "", [0, 0], [rows, columns])
    path = tmp_path / "scales.pto"
    tile = f"!pto.tile_buf<vec, {rows}x32xi8, valid={rows}x{columns}>"
    path.write_text(_program("i8", boxes, plain, "1x2x3x16x2", f"{rows}x{columns}", tile))
    held = np.random.default_rng(1).integers(-128, 128, 192).astype(np.int8)
    result = pto.run(path, arguments={"source": held, "n": 0}).arrays["result"].reshape(rows, columns)
    for row in range(rows):
        for column in range(columns):
            along, across = (row, column) if side == "mx_a_zz" else (column, row)
            box = along // 16 * 3 + across // 2
            assert result[row, column] == held[box * 32 + along % 16 * 2 + across % 2]
