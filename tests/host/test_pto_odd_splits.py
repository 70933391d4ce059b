"""Tiles of an odd number of rows or columns that two vector cores push together, on a2 and a3."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from loomir.host import pto

UP_DOWN_ODD, LEFT_RIGHT_ODD = 3, 4
WHOLE = {UP_DOWN_ODD: (5, 16), LEFT_RIGHT_ODD: (6, 15)}


def text(split: int, chip: str = "a3") -> str:
    """A kernel whose vector cores push parts of `a`, and whose cube core stores the whole, multiplied by `unit`."""
    rows, columns = WHOLE[split]
    boxes = "blayout={}, slayout={}, fractal={}, pad=0"

    def tile(space: str, m: int, n: int, *layout: object) -> str:
        return f"!pto.tile_buf<loc={space}, dtype=f32, rows=16, cols=16, v_row={m}, v_col={n}, {boxes.format(*layout)}>"

    if split == UP_DOWN_ODD:
        part = ("arith.subi %c3, %place", "arith.constant 16", "arith.muli %place, %c3", "arith.constant 0")
    else:
        part = ("arith.constant 6", "arith.subi %c8, %place", "arith.constant 0", "arith.muli %place, %c8")
    sizes = "\n    ".join(f"%{name} = {made} : index" for name, made in zip(("r", "c", "ro", "co"), part, strict=True))
    whole, view = f"{rows}x{columns}xf32", "pto.make_tensor_view"
    return f"""
!whole = {tile("mat", rows, columns, "col_major", "row_major", 512)}
!left = {tile("left", rows, columns, "row_major", "row_major", 512)}
!unit = {tile("mat", columns, columns, "col_major", "row_major", 512)}
!right = {tile("right", columns, columns, "row_major", "col_major", 512)}
!acc = {tile("acc", rows, columns, "col_major", "row_major", 1024)}
!part = !pto.tile_buf<vec, 8x16xf32, valid=?x?>
!p = !pto.ptr<f32>
module attributes {{pto.target_arch = "{chip}"}} {{
  func.func @top(%a: !p, %unit: !p, %out: !p, %slots: !p) attributes {{pto.entry}} {{
    func.call @cube(%unit, %out, %slots) : (!p, !p, !p) -> ()
    func.call @vector(%a, %slots) : (!p, !p) -> ()
    return
  }}
  func.func @vector(%a: !p, %slots: !p) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %m = arith.constant {rows} : index
    %n = arith.constant {columns} : index
    %core = pto.get_subblock_idx
    %place = arith.index_cast %core : i64 to index
    {sizes}
    %fifo = pto.import_reserved_buffer {{name = "fifo", peer_func = @cube}} -> i32
    pto.aiv_initialize_pipe {{id = 0, dir_mask = 2, slot_size = 1024, slot_num = 2}}
      (gm_slot_buffer = %slots : !p, v2c_consumer_buf = %fifo : i32)
    %v = {view} %a, shape = [%m, %n], strides = [%n, %c1] : !pto.tensor_view<{whole}>
    %p = pto.partition_view %v, offsets = [%ro, %co], sizes = [%r, %c] :
      !pto.tensor_view<{whole}> -> !pto.partition_tensor_view<?x?xf32>
    %t = pto.alloc_tile valid_row = %r valid_col = %c : !part
    pto.tload ins(%p : !pto.partition_tensor_view<?x?xf32>) outs(%t : !part)
    pto.tpush_to_aic(%t : !part) {{id = 0, split = {split}}}
    return
  }}
  func.func @cube(%unit: !p, %out: !p, %slots: !p) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = arith.constant {rows} : index
    %n = arith.constant {columns} : index
    %fifo = pto.reserve_buffer {{name = "fifo", size = 2048, location = #pto.address_space<mat>, auto = true}} -> i32
    pto.aic_initialize_pipe {{id = 0, dir_mask = 2, slot_size = 1024, slot_num = 2}}
      (gm_slot_buffer = %slots : !p, v2c_consumer_buf = %fifo : i32)
    %t = pto.tpop_from_aiv {{id = 0, split = {split}}} -> !whole
    %l = pto.alloc_tile : !left
    pto.tmov ins(%t : !whole) outs(%l : !left)
    pto.tfree_from_aiv {{id = 0, split = {split}}}
    %uv = {view} %unit, shape = [%n, %n], strides = [%n, %c1] : !pto.tensor_view<{columns}x{columns}xf32>
    %up = pto.partition_view %uv, offsets = [%c0, %c0], sizes = [%n, %n] :
      !pto.tensor_view<{columns}x{columns}xf32> -> !pto.partition_tensor_view<{columns}x{columns}xf32>
    %u = pto.alloc_tile : !unit
    pto.tload ins(%up : !pto.partition_tensor_view<{columns}x{columns}xf32>) outs(%u : !unit)
    %r = pto.alloc_tile : !right
    pto.tmov ins(%u : !unit) outs(%r : !right)
    %acc = pto.alloc_tile : !acc
    pto.tmatmul ins(%l, %r : !left, !right) outs(%acc : !acc)
    %ov = {view} %out, shape = [%m, %n], strides = [%n, %c1] : !pto.tensor_view<{whole}>
    %op = pto.partition_view %ov, offsets = [%c0, %c0], sizes = [%m, %n] :
      !pto.tensor_view<{whole}> -> !pto.partition_tensor_view<{whole}>
    pto.tstore ins(%acc : !acc) outs(%op : !pto.partition_tensor_view<{whole}>)
    return
  }}
}}
"""


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("split", [UP_DOWN_ODD, LEFT_RIGHT_ODD])
@pytest.mark.parametrize("arch", ["ideal", "a2a3"])
def test_vector_cores_share_an_odd_number(split: int, arch: Any) -> None:
    """The first core has one row or column more; the cube core pops the whole."""
    a = np.arange(1, 1 + np.prod(WHOLE[split]), dtype=np.float32).reshape(WHOLE[split])
    unit = np.eye(a.shape[1], dtype=np.float32)
    result = pto.run(text(split), arch=arch, arguments={"a": a, "unit": unit, "out": np.zeros_like(a)})
    assert not result.findings
    np.testing.assert_array_equal(result.arrays["out"], a)


def test_a5_does_not() -> None:
    found = [finding.message for finding in pto.check(text(UP_DOWN_ODD, "a5"), "a5")]
    assert len(found) == 3
    for message, name in zip(found, ("tpush_to_aic", "tpop_from_aiv", "tfree_from_aiv"), strict=True):
        assert f"'pto.{name}' op supports odd split modes (split = 3 or 4) from V2C only on A2/A3" in message
