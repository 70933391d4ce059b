"""What every core has from the launch, and what products and reductions take their extents from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from loomir import pto
from loomir.diagnostics.errors import LoomError

NUMBERS = """
module attributes {ON_MODULE} {
  func.func @k(%out: !pto.ptr<i32>, %__pypto_spmd_block_idx: i32, %__pypto_spmd_block_num: i32,
               %__pypto_spmd_subblock_idx: i32) attributes {ON_FUNCTION} {
    %c2 = arith.constant 2 : i32
    %c10 = arith.constant 10 : i32
    %c100 = arith.constant 100 : i32
    %first = arith.muli %__pypto_spmd_block_idx, %c2 : i32
    %core = arith.addi %first, %__pypto_spmd_subblock_idx : i32
    %at = arith.index_cast %core : i32 to index
    %blocks = arith.muli %__pypto_spmd_block_num, %c100 : i32
    %block = arith.muli %__pypto_spmd_block_idx, %c10 : i32
    %both = arith.addi %blocks, %block : i32
    %all = arith.addi %both, %__pypto_spmd_subblock_idx : i32
    pto.store_scalar %all, %out[%at] : !pto.ptr<i32>, i32
    return
  }
}
"""
KIND = "pto.kernel_kind = #pto.kernel_kind<vector>"


def text_of(*, on_module: bool) -> str:
    """The kernel, whose kind of core the function or the module names."""
    given = ('pto.target_arch = "a5"', KIND)
    module, function = (", ".join(given), "pto.kernel") if on_module else given
    return NUMBERS.replace("ON_MODULE", module).replace("ON_FUNCTION", function)


@pytest.mark.slow
@pytest.mark.parametrize("on_module", [False, True])
def test_each_core_has_its_numbers(on_module: bool) -> None:
    """Blocks count from 0, and the vector cores of each; a module may name the core of its kernels."""
    text = text_of(on_module=on_module)
    assert pto.check(text) == []
    out = pto.run(text, arch="a5", blocks=3, arguments={"out": np.zeros(6, np.int32)}).arrays["out"]
    np.testing.assert_array_equal(out, [300, 301, 310, 311, 320, 321])


def test_numbers_of_the_launch_are_not_given() -> None:
    out, text = np.zeros(6, np.int32), text_of(on_module=False)
    same = {"out": out, "__pypto_spmd_block_idx": 0, "__pypto_spmd_block_num": 1}
    np.testing.assert_array_equal(pto.run(text, arch="a5", arguments=same).arrays["out"][:2], [100, 101])
    for name, value in (("block_idx", 0), ("block_num", 4), ("subblock_idx", 0)):
        with pytest.raises(LoomError) as caught:
            arguments = {"out": out, f"__pypto_spmd_{name}": value}
            pto.run(text, arch="a5", blocks=3, arguments=arguments)
        assert str(caught.value) == (
            f"error: argument '__pypto_spmd_{name}' is the number that each core has in a launch of 3 blocks; leave it "
            "out, and say how many blocks run"
        )


ACC = "!pto.tile_buf<acc, 16x16xf32, valid=?x?, blayout=col_major, slayout=row_major, fractal=1024>"
LEFT = "!pto.tile_buf<left, 16x32xf32, valid=?x?, blayout=col_major, slayout=row_major>"
RIGHT = "!pto.tile_buf<right, 32x16xf32, valid=?x?, slayout=col_major>"
MAT = "!pto.tile_buf<mat, 32x32xf32, blayout=col_major, slayout=row_major>"

PRODUCT = f"""
func.func @k(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %c: !pto.ptr<f32>, %m: index, %k: index, %n: index, %rows: index)
    attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %va = pto.make_tensor_view %a, shape = [%c16, %c32], strides = [%c32, %c1] : !pto.tensor_view<16x32xf32>
  %vb = pto.make_tensor_view %b, shape = [%c32, %c16], strides = [%c16, %c1] : !pto.tensor_view<32x16xf32>
  %vc = pto.make_tensor_view %c, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<16x16xf32>
  %ma = pto.alloc_tile : !pto.tile_buf<mat, 16x32xf32, blayout=col_major, slayout=row_major>
  %mb = pto.alloc_tile : !pto.tile_buf<mat, 32x16xf32, blayout=col_major, slayout=row_major>
  %l = pto.alloc_tile valid_row = %m valid_col = %k : {LEFT}
  %r = pto.alloc_tile valid_row = %rows valid_col = %n : {RIGHT}
  %acc = pto.alloc_tile valid_row = %c16 valid_col = %c16 : {ACC}
  pto.tload ins(%va : !pto.tensor_view<16x32xf32>)
    outs(%ma : !pto.tile_buf<mat, 16x32xf32, blayout=col_major, slayout=row_major>)
  pto.tload ins(%vb : !pto.tensor_view<32x16xf32>)
    outs(%mb : !pto.tile_buf<mat, 32x16xf32, blayout=col_major, slayout=row_major>)
  pto.textract ins(%ma, %c0, %c0 : !pto.tile_buf<mat, 16x32xf32, blayout=col_major, slayout=row_major>, index, index)
    outs(%l : {LEFT})
  pto.textract ins(%mb, %c0, %c0 : !pto.tile_buf<mat, 32x16xf32, blayout=col_major, slayout=row_major>, index, index)
    outs(%r : {RIGHT})
  pto.tmatmul ins(%l, %r : {LEFT}, {RIGHT}) outs(%acc : {ACC})
  pto.set_validshape %acc, %c2, %c3 : {ACC}
  pto.tmatmul.acc ins(%acc, %l, %r : {ACC}, {LEFT}, {RIGHT}) outs(%acc : {ACC})
  pto.set_validshape %acc, %m, %n : {ACC}
  %part = pto.partition_view %vc, offsets = [%c0, %c0], sizes = [%m, %n]
    : !pto.tensor_view<16x16xf32> -> !pto.partition_tensor_view<?x?xf32>
  pto.tstore ins(%acc : {ACC}) outs(%part : !pto.partition_tensor_view<?x?xf32>)
  return
}}
"""


@pytest.mark.parametrize(("m", "k", "n", "rows"), [(16, 32, 16, 32), (5, 7, 9, 7), (5, 7, 9, 32), (1, 1, 16, 1)])
def test_products_take_their_extents_from_their_operands(m: int, k: int, n: int, rows: int) -> None:
    """Neither the valid part of the accumulator nor the valid rows of the right tile play a part."""
    random = np.random.default_rng(m)
    a, b = (random.integers(-9, 9, shape).astype(np.float32) for shape in ((16, 32), (32, 16)))
    numbers = {"m": m, "k": k, "n": n, "rows": rows}
    expected = np.zeros((16, 16), np.float32)
    expected[:m, :n] = 2 * (a[:m, :k] @ b[:k, :n])
    arguments = {"a": a, "b": b, "c": np.zeros((16, 16), np.float32), **numbers}
    np.testing.assert_array_equal(pto.run(PRODUCT, arch="a5", arguments=arguments).arrays["c"], expected)


REDUCED = """
!tile = !pto.tile_buf<vec, 16x16xf32, valid=?x?>
!column = !pto.tile_buf<vec, 16x8xf32, valid=?x1>
func.func @k(%out: !pto.ptr<f32>, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %two = arith.constant 2.0 : f32
  %v = pto.make_tensor_view %out, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<16x16xf32>
  %s = pto.alloc_tile valid_row = %n valid_col = %n : !tile
  %t = pto.alloc_tile valid_row = %n valid_col = %n : !tile
  %d = pto.alloc_tile valid_row = %n : !column
  pto.texpands ins(%two : f32) outs(%s : !tile)
  pto.trowsum ins(%s, %t : !tile, !tile) outs(%d : !column)
  pto.trowexpandmul ins(%s, %d : !tile, !column) outs(%s : !tile)
  pto.trowmax ins(%s, %t : !tile, !tile) outs(%d : !column)
  pto.trowexpanddiv ins(%s, %d : !tile, !column) outs(%s : !tile)
  %part = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%n, %n]
    : !pto.tensor_view<16x16xf32> -> !pto.partition_tensor_view<?x?xf32>
  pto.tstore ins(%s : !tile) outs(%part : !pto.partition_tensor_view<?x?xf32>)
  return
}
"""


@pytest.mark.parametrize("n", [0, 1, 5])
def test_reductions_of_empty_tiles_do_nothing(n: int) -> None:
    """Idle lanes repeat kernels with empty tiles."""
    expected = np.zeros((16, 16), np.float32)
    expected[:n, :n] = 1
    arguments = {"out": np.zeros((16, 16), np.float32), "n": n}
    np.testing.assert_array_equal(pto.run(REDUCED, arch="a5", arguments=arguments).arrays["out"], expected)


def test_a_product_that_its_accumulator_cannot_hold_is_an_error(tmp_path: Path) -> None:
    """What is known at run time only is checked there."""
    wide = "!pto.tile_buf<left, 64x32xf32, valid=?x?, blayout=col_major, slayout=row_major>"
    text = PRODUCT.replace(LEFT, wide).replace("16x32xf32, blayout", "64x32xf32, blayout")
    text = text.replace("16x32xf32>", "64x32xf32>").replace("[%c16, %c32]", "[%c64, %c32]")
    text = text.replace("  %c32 = arith", "  %c64 = arith.constant 64 : index\n  %c32 = arith")
    a, b, c = (np.zeros(shape, np.float32) for shape in ((64, 32), (32, 16), (16, 16)))
    with pytest.raises(LoomError, match="the accumulator has a row for each valid row of the left tile"):
        pto.run(text, arch="a5", arguments={"a": a, "b": b, "c": c, "m": 17, "k": 1, "n": 1, "rows": 1})


def test_vector_cores_alone_run_on_one_of_a_block() -> None:
    """A launch of vector cores alone has one a block, also on a2a3: what is added to memory is added once."""
    tile = "!pto.tile_buf<vec, 1x8xf32>"
    part = "!pto.partition_tensor_view<1x8xf32>"
    text = f"""func.func @k(%a: !pto.ptr<f32>) attributes {{pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>}} {{
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %number = arith.constant 1.0 : f32
      %v = pto.make_tensor_view %a, shape = [%one, %c8], strides = [%c8, %one] : !pto.tensor_view<1x8xf32>
      %p = pto.partition_view %v, offsets = [%zero, %zero], sizes = [%one, %c8] : !pto.tensor_view<1x8xf32> -> {part}
      %t = pto.alloc_tile : {tile}
      pto.tload ins(%p : {part}) outs(%t : {tile})
      pto.tadds ins(%t, %number : {tile}, f32) outs(%t : {tile})
      pto.tstore ins(%t : {tile}) outs(%p : {part})
      return
    }}"""
    for arch in ("ideal", "a2a3", "a5"):
        assert (pto.run(text, arch=arch, arguments={"a": np.zeros(8, np.float32)}).arrays["a"] == 1).all()
