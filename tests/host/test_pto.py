"""`loomir.pto`: arguments by name, what a run returns, and what it refuses."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from loomir import pto
from loomir.diagnostics.errors import LoomError
from loomir.diagnostics.locations import written_as
from loomir.dialects import flow
from loomir.host.pto import Printed, Result, compare, differences
from loomir.host.pto_check import parse_kernels, prepare, set_target_arch

EXAMPLES = Path(__file__).parents[2] / "examples" / "pto"

DOUBLE = """
func.func @double(%source: !pto.ptr<TYPE>, %result: !pto.ptr<TYPE>, %scale: f32)
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %from = pto.make_tensor_view %source, shape = [%c4, %c8], strides = [%c8, %c1] : !pto.tensor_view<4x8xTYPE>
  %to = pto.make_tensor_view %result, shape = [%c4, %c8], strides = [%c8, %c1] : !pto.tensor_view<4x8xTYPE>
  %part = pto.partition_view %from, offsets = [%c0, %c0], sizes = [%c4, %c8]
    : !pto.tensor_view<4x8xTYPE> -> !pto.partition_tensor_view<4x8xTYPE>
  %whole = pto.partition_view %to, offsets = [%c0, %c0], sizes = [%c4, %c8]
    : !pto.tensor_view<4x8xTYPE> -> !pto.partition_tensor_view<4x8xTYPE>
  %tile = pto.alloc_tile : !pto.tile_buf<vec, 4x8xTYPE>
  pto.tload ins(%part : !pto.partition_tensor_view<4x8xTYPE>) outs(%tile : !pto.tile_buf<vec, 4x8xTYPE>)
  pto.tadd ins(%tile, %tile : !pto.tile_buf<vec, 4x8xTYPE>, !pto.tile_buf<vec, 4x8xTYPE>)
    outs(%tile : !pto.tile_buf<vec, 4x8xTYPE>)
  pto.tstore ins(%tile : !pto.tile_buf<vec, 4x8xTYPE>) outs(%whole : !pto.partition_tensor_view<4x8xTYPE>)
  return
}
"""
"""One vector kernel that doubles 4 x 8 elements."""

IN_A_ROW = DOUBLE.replace("4x8x", "1x32x").replace("constant 4", "constant 1").replace("constant 8", "constant 32")
"""The same of 32 elements in a row, which fill a block of local memory whatever their type is."""


@pytest.fixture
def double(tmp_path: Path) -> Path:
    path = tmp_path / "double.pto"
    path.write_text(DOUBLE.replace("TYPE", "f32"))
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("type", "dtype"),
    [
        ("f32", np.float32),
        ("f16", np.float16),
        ("bf16", ml_dtypes.bfloat16),
        ("i32", np.int32),
        ("i8", np.int8),
    ],
)
def test_element_types(tmp_path: Path, type: str, dtype: Any) -> None:
    path = tmp_path / "double.pto"
    path.write_text(IN_A_ROW.replace("TYPE", type))
    source = np.arange(32).reshape(4, 8).astype(dtype)
    result = pto.run(path, arguments={"source": source, "scale": 1.0})
    assert result.arrays["result"].dtype == dtype
    np.testing.assert_array_equal(result.arrays["result"].reshape(4, 8), source + source)
    np.testing.assert_array_equal(result.arrays["source"], source)


@pytest.mark.slow
def test_bits_of_another_type(tmp_path: Path) -> None:
    """16-bit words, and what numpy reads of a file, stand for floats that numpy does not have."""
    path = tmp_path / "double.pto"
    path.write_text(IN_A_ROW.replace("TYPE", "bf16"))
    source: Any = np.arange(32).astype(ml_dtypes.bfloat16)
    for kind in ("u2", "V2"):
        result = pto.run(path, arguments={"source": source.view(kind), "scale": 1.0})
        np.testing.assert_array_equal(result.arrays["result"], source + source)
    with pytest.raises(LoomError, match="the bits of an array of float16 have another format"):
        pto.run(path, arguments={"source": np.ones(32, np.float16), "scale": 1.0})


def test_arguments_keep_their_shape_and_are_not_changed(double: Path) -> None:
    given = np.full((2, 16), 3, np.float32)
    out = np.zeros((2, 2, 8), np.float32)
    result = pto.run(double, arguments={"source": given, "result": out, "scale": 0})
    assert result.arrays["result"].shape == (2, 2, 8)
    assert result.arrays["result"].max() == 6
    assert out.max() == 0


def test_a_launch_is_one_of_a_program(double: Path) -> None:
    with pytest.raises(LoomError, match=r"a launch is one of a loomir\.pto\.Program, not of "):
        pto.launch(double, {})  # pyright: ignore[reportArgumentType]


def test_larger_arrays_are_left_alone_behind(double: Path) -> None:
    out = np.full(40, -1, np.float32)
    result = pto.run(double, arguments={"source": np.ones(32, np.float32), "result": out, "scale": 0})
    assert result.arrays["result"].tolist() == [2.0] * 32 + [-1.0] * 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"wrong": 1}, "the kernels take no argument 'wrong'; they take: source, result, scale"),
        ({}, "argument 'scale' is a number without a value; pass one"),
        ({"scale": np.ones(3)}, r"argument 'scale' is a number, not an array of shape \[3\]"),
        ({"scale": "1"}, "argument 'scale' is a number, and '1' is not; pass an int or a float"),
        ({"scale": 1, "source": 4.0}, "argument 'source' is a pointer to f32; pass an array"),
        (
            {"scale": 1, "source": np.ones(32)},
            "argument 'source' points to f32, and an array of float64 has elements of another width; convert it",
        ),
        (
            {"scale": 1, "source": np.ones(32, np.int32)},
            "argument 'source' points to f32, and the bits of an array of int32 have another format; convert it",
        ),
        ({"scale": 1, "source": np.ones(32, [("a", "f4")])}, "the bits of an array of .* have another format"),
        (
            {"scale": 1, "source": np.ones(31, np.float32)},
            "argument 'source' has 124 bytes, but the kernels use 128; pass a larger array",
        ),
    ],
)
def test_wrong_arguments(double: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(LoomError, match=message):
        pto.run(double, arguments=arguments)


def test_size_that_the_text_does_not_say(tmp_path: Path) -> None:
    path = tmp_path / "open.pto"
    path.write_text(DOUBLE.replace("TYPE", "f32").replace("shape = [%c4, %c8], strides = [%c8, %c1]", "X", 1).replace(
        "X", "shape = [%n, %c8], strides = [%c8, %c1]"
    ).replace("tensor_view<4x8xf32>\n  %to", "tensor_view<?x8xf32>\n  %to").replace(
        "%scale: f32", "%scale: f32, %n: index"
    ).replace("    : !pto.tensor_view<4x8xf32> -> !pto.partition_tensor_view<4x8xf32>\n  %whole",
              "    : !pto.tensor_view<?x8xf32> -> !pto.partition_tensor_view<4x8xf32>\n  %whole"))  # fmt: skip
    with pytest.raises(LoomError, match="argument 'source' points to f32, and the program does not say to how many"):
        pto.run(path, arguments={"scale": 1, "n": 4})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"blocks": 0}, "a launch has 1 to 65,535 blocks, not 0"),
        ({"order": "last"}, "order is 'last'; use eager or prompt"),
        ({"lanes": 3}, "a block has 1 to 2 vector cores, not 3"),
    ],
)
def test_wrong_options(double: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(LoomError, match=message):
        pto.run(double, arguments={"scale": 1}, **options)


def test_a_tile_outside_an_array_is_located(tmp_path: Path) -> None:
    """Arrays are kept apart, whatever lies behind them."""
    path = tmp_path / "far.pto"
    moved = DOUBLE.replace("TYPE", "f32").replace(
        "  %to =", "  %two = arith.constant 2 : index\n  %result2 = pto.addptr %result, %two : <f32> -> <f32>\n  %to ="
    )
    path.write_text(moved.replace("make_tensor_view %result,", "make_tensor_view %result2,"))
    out = np.zeros(32, np.float32)
    message = r"far\.pto:\d+:\d+.* stores bytes 8 to 135 of 'result', which has 128"
    with pytest.raises(LoomError, match=message):
        pto.run(path, arguments={"scale": 1, "result": out})


@pytest.mark.parametrize("arch", ["ideal", "a2a3", "a5"])
def test_printed_tiles_and_repeats(arch: Any) -> None:
    """Every launch prints again; on a2a3 both vector cores take part."""
    a = np.arange(256, dtype=np.float32).reshape(16, 16)
    result = pto.run(
        EXAMPLES / "matmul_print.pto", arch=arch, arguments={"a": a, "b": np.eye(16, dtype=np.float32)}, repeat=2
    )
    cores = ["AIV0", "AIV1"] if arch == "a2a3" else ["AIV0"]
    assert [(p.block, p.core) for p in result.prints] == [(0, core) for core in cores] * 2
    for printed in result.prints:
        np.testing.assert_array_equal(printed.array, a)
    assert "block 0 AIV0" in str(result.prints[0])
    assert result.statistics["arch"] == arch


@pytest.mark.slow
def test_blocks_keep_apart() -> None:
    """blocks.pto scales 32 rows in each block."""
    generator = np.random.default_rng(5)
    blocks = 5
    a = generator.integers(-4, 5, (32 * blocks, 32)).astype(ml_dtypes.bfloat16)
    b = generator.integers(-4, 5, (32, 32)).astype(ml_dtypes.bfloat16)
    arguments = {
        "a": a, "b": b, "out": np.zeros((32 * blocks, 32), np.float32), "slots": np.zeros(1024 * blocks, np.float32),
    }  # fmt: skip
    for arch in ("ideal", "a2a3"):
        result = pto.run(EXAMPLES / "blocks.pto", arch=arch, blocks=blocks, arguments=arguments)
        np.testing.assert_array_equal(result.arrays["out"], 0.5 * (a.astype(np.float32) @ b.astype(np.float32)))
        assert not result.findings


@pytest.mark.one_in(2)
@pytest.mark.slow
@pytest.mark.parametrize("order", ["eager", "prompt"])
@pytest.mark.parametrize("arch", ["ideal", "a2a3"])
def test_blocks_that_part_ways(tmp_path: Path, arch: Any, order: str) -> None:
    """Block i has i % 3 tiles: what one block does with an entry is not held against another."""
    loop = " = %c0 to %c32 step %c16 {"
    count = (
        "%three = arith.constant 3 : index\n%tiles = arith.remui %block_index, %three : index\n"
        "%rows = arith.muli %tiles, %c16 : index\n"
    )
    text = (EXAMPLES / "blocks.pto").read_text()
    for name in ("row", "tile"):
        text = text.replace(f"scf.for %{name}{loop}", f"{count}scf.for %{name} = %c0 to %rows step %c16 {{")
    path = tmp_path / "ways.pto"
    path.write_text(text)
    blocks = 24
    a = np.random.default_rng(5).integers(-4, 5, (32 * blocks, 32))
    arguments = {
        "a": a.astype(ml_dtypes.bfloat16),
        "b": np.eye(32, dtype=ml_dtypes.bfloat16),
        "out": np.full((32 * blocks, 32), -1, np.float32),
        "slots": np.zeros(1024 * blocks, np.float32),
    }
    result = pto.run(path, arch=arch, blocks=blocks, arguments=arguments, order=order)
    assert result.findings == []
    for block in range(blocks):
        rows = 16 * (block % 3)
        mine = result.arrays["out"][32 * block : 32 * (block + 1)]
        np.testing.assert_array_equal(mine[:rows], 0.5 * a[32 * block : 32 * block + rows])
        assert (mine[rows:] == -1).all()


ONE_CORE_MORE = """
module {{
  func.func @vector() attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %fifo = pto.import_reserved_buffer {{name = "fifo", peer_func = @cube}} -> i32
    pto.aiv_initialize_pipe {{id = 0, dir_mask = 2, slot_size = 1024, slot_num = 2}}(v2c_consumer_buf = %fifo : i32)
    %tile = pto.alloc_tile : {half}
    %core = pto.get_subblock_idx
    %count = arith.index_cast %core : i64 to index
    scf.for %i = %c0 to %count step %c1 {{
      pto.tpush_to_aic(%tile : {half}) {{id = 0, split = 1}}
    }}
    return
  }}
  func.func @cube() attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %fifo = pto.reserve_buffer {{name = "fifo", size = 2048, location = #pto.address_space<mat>, auto = true}} -> i32
    pto.aic_initialize_pipe {{id = 0, dir_mask = 2, slot_size = 1024, slot_num = 2}}(v2c_consumer_buf = %fifo : i32)
    {pops}
    return
  }}
}}
"""
"""Of a pipe that both vector cores share, only the second pushes an entry."""


def _one_core_more(tmp_path: Path, pops: str) -> Path:
    path = tmp_path / "lanes.pto"
    path.write_text(ONE_CORE_MORE.format(half="!pto.tile_buf<vec, 8x16xf32, blayout=col_major>", pops=pops))
    return path


def test_an_entry_that_one_core_has_pushed(tmp_path: Path) -> None:
    (found,) = pto.run(_one_core_more(tmp_path, "")).findings
    assert (found.severity, found.code) == ("error", "unbalanced-pipe")
    assert (
        "ends with 0 (lane 0) and 1 (lane 1) entries pushed and 0 popped (block 0): 1 is never popped" in found.message
    )


def test_who_waits_for_the_other_core(tmp_path: Path) -> None:
    pop = "%t = pto.tpop_from_aiv {id = 0, split = 1} -> !pto.tile_buf<mat, 16x16xf32>\n"
    pop += "pto.tfree_from_aiv {id = 0, split = 1}"
    with pytest.raises(LoomError, match="which lane 0 has not pushed") as raised:
        pto.run(_one_core_more(tmp_path, pop))
    assert "0 (lane 0) and 1 (lane 1) pushed, 0 popped" in str(raised.value)
    assert "circle" not in str(raised.value)


@pytest.mark.one_in(2)
@pytest.mark.slow
@pytest.mark.parametrize("order", ["eager", "prompt"])
@pytest.mark.parametrize(("slots", "frees_first", "told"), [(4, True, False), (1, True, False), (1, False, True)])
def test_answers_prove_what_has_been_freed(
    tmp_path: Path, slots: int, frees_first: bool, told: bool, order: str
) -> None:
    """On a5 credits do not bound the producer; an entry that comes back does, if it is sent behind the free (H2)."""
    free = "      pto.tfree_from_aiv {id = 0, split = 2}\n"
    push = "      pto.tpush_to_aiv(%product : !acc) {id = 0, split = 2}\n"
    text = (EXAMPLES / "both_directions.pto").read_text()
    text = text.replace("slot_num = 4", f"slot_num = {slots}").replace("size = 32768", f"size = {8192 * slots}")
    if not frees_first:
        text = text.replace(free, "").replace(push, push + free)
    path = tmp_path / "answers.pto"
    path.write_text(text)
    arguments = {"out": np.zeros((32, 512), np.float32)}
    found = {finding.code for finding in pto.run(path, arch="a5", arguments=arguments, order=order).findings}
    assert bool(found & {"seeded-credits", "early-overwrite"}) == told


def test_a_function_that_calls_itself(tmp_path: Path) -> None:
    path = tmp_path / "calls.pto"
    kernel = "attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {"
    path.write_text(
        f"func.func @first(%a: !pto.ptr<f32>) {kernel}\nfunc.call @second(%a) : (!pto.ptr<f32>) -> ()\nreturn\n}}\n"
        f"func.func @second(%a: !pto.ptr<f32>) {kernel}\nfunc.call @second(%a) : (!pto.ptr<f32>) -> ()\nreturn\n}}\n"
    )
    with pytest.raises(LoomError, match="calls itself by this call of @"):
        pto.run(path)


def test_a_call_with_too_many_arguments(tmp_path: Path) -> None:
    path = tmp_path / "calls.pto"
    kernel = "attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {"
    path.write_text(
        f"func.func @first(%a: !pto.ptr<f32>) {kernel}\n"
        f"func.call @second(%a, %a) : (!pto.ptr<f32>, !pto.ptr<f32>) -> ()\nreturn\n}}\n"
        f"func.func @second(%a: !pto.ptr<f32>) {kernel}\nreturn\n}}\n"
    )
    with pytest.raises(LoomError, match="incorrect number of operands for callee"):
        pto.run(path)


@pytest.mark.slow
def test_what_runs_on_behind_an_array_does_not_reach_the_next() -> None:
    """Six tiles of 16 rows into an array that has room for two."""
    arguments = {
        "rows": 96,
        "a": np.zeros((96, 32), np.float32),
        "b": np.eye(32, dtype=np.float32),
        "out": np.zeros((32, 32), np.float32),
    }
    with pytest.raises(LoomError, match="stores bytes 4096 to 6143 of 'out', which has 4096"):
        pto.run(EXAMPLES / "dynamic_shapes.pto", arguments=arguments)


def test_differences() -> None:
    """What differs is told with the first place and both values."""
    one = Result({"x": np.array([[1, 2], [3, 4]])}, [Printed(0, "AIV0", "t", np.zeros(2))])
    same = Result({"x": np.array([[1, 2], [3, 4]])}, [Printed(0, "AIV0", "t", np.zeros(2))])
    other = Result({"x": np.array([[1, 9], [3, 9]])}, [Printed(0, "AIV0", "t", np.ones(2))])
    assert differences({"ideal": one, "a5": same}) == []
    assert differences({"ideal": one, "a5": other}) == [
        "argument x differs in 2 of 4 elements between ideal and a5: the first, [0, 1], is 2 and 9",
        "the tile printed by block 0 AIV0 (t) differs in 2 of 2 elements between ideal and a5: the first, [0], is 0.0 "
        "and 1.0",
    ]
    failed = differences({"ideal": LoomError("x"), "a2a3": one, "a5": other})
    assert failed[0].endswith("between a2a3 and a5: the first, [0, 1], is 2 and 9")
    twice = Result(dict(one.arrays), one.prints * 2 + [Printed(0, "AIV1", "t", np.ones(2))])
    assert differences({"ideal": one, "a5": twice}) == ["block 0 AIV0 prints 1 tiles on ideal and 2 on a5"]
    slots = Result({"x": np.zeros((2, 2))}, one.prints, slots=frozenset({"x"}))
    assert differences({"ideal": slots, "a5": one}) == []


@pytest.mark.slow
def test_compare() -> None:
    """A program of a5 alone fails on a2a3, and gives the same on the others."""
    results = compare(EXAMPLES / "dequantize.pto")
    assert isinstance(results["a2a3"], LoomError)
    assert isinstance(results["ideal"], Result)
    assert differences(results) == []


PART = """
func.func @part(%source: !pto.ptr<f32>, %rows: index, %offset: index, %row: index)
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %from = pto.make_tensor_view %source, shape = [%c64, %c16], strides = [%c16, %c1] : !pto.tensor_view<64x16xf32>
  %tensor = pto.partition_view %from, offsets = [%offset, %c0], sizes = [%c16, %c16]
    : !pto.tensor_view<64x16xf32> -> !pto.partition_tensor_view<16x16xf32>
  %whole = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  pto.tload ins(%tensor : !pto.partition_tensor_view<16x16xf32>) outs(%whole : !pto.tile_buf<vec, 16x16xf32>)
  %band = pto.subview %whole[%row, %c0] sizes [4, 16] : !pto.tile_buf<vec, 16x16xf32>
  pto.tprint ins(%band : !pto.tile_buf<vec, 4x16xf32>)
  %given = pto.alloc_tile valid_row = %rows valid_col = %c16 : !pto.tile_buf<vec, 16x16xf32, valid=?x?>
  pto.tprint ins(%given : !pto.tile_buf<vec, 16x16xf32, valid=?x?>)
  return
}
"""
"""Numbers that are known when it runs: where a partition and a subview begin, how many rows are valid."""


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"rows": 17}, "valid rows and columns stay within the tile; correct them (one of them is 17, not 0 to 16)"),
        ({"rows": -1}, "valid rows and columns stay within the tile; correct them (one of them is -1, not 0 to 16)"),
        ({"offset": 49}, "views 16 elements from 49 on of dimension 0 of 'source', which has 64 there"),
        ({"offset": -1}, "views 16 elements from -1 on of dimension 0 of 'source', which has 64 there"),
        (
            {"offset": 1 << 61},
            "views 16 elements from 2305843009213693952 on of dimension 0 of 'source', which has 64 there",
        ),
        ({"row": 13}, "the subview stays within its tile; correct its offsets (the end is 17, not 0 to 16)"),
    ],
)
def test_parts_that_reach_out(tmp_path: Path, numbers: dict[str, int], message: str) -> None:
    path = tmp_path / "part.pto"
    path.write_text(PART)
    inside = {"rows": 16, "offset": 48, "row": 12, "source": np.arange(1024, dtype=np.float32)}
    printed = pto.run(path, arguments=inside).prints
    assert printed[0].array[0, 0] == (48 + 12) * 16 and printed[1].array.shape == (16, 16)
    with pytest.raises(LoomError, match=rf"part\.pto:\d+:\d+: error: .*block 0 AIV0:? {re.escape(message)}"):
        pto.run(path, arguments=inside | numbers)


CONVERT = """
func.func @convert(%source: !pto.ptr<f32>, %result: !pto.ptr<TYPE>)
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %from = pto.make_tensor_view %source, shape = [%c1, %c16], strides = [%c16, %c1] : !pto.tensor_view<1x16xf32>
  %to = pto.make_tensor_view %result, shape = [%c1, %c16], strides = [%c16, %c1] : !pto.tensor_view<1x16xTYPE>
  %part = pto.partition_view %from, offsets = [%c0, %c0], sizes = [%c1, %c16]
    : !pto.tensor_view<1x16xf32> -> !pto.partition_tensor_view<1x16xf32>
  %whole = pto.partition_view %to, offsets = [%c0, %c0], sizes = [%c1, %c16]
    : !pto.tensor_view<1x16xTYPE> -> !pto.partition_tensor_view<1x16xTYPE>
  %tile = pto.alloc_tile : !pto.tile_buf<vec, 1x16xf32>
  %converted = pto.alloc_tile : !pto.tile_buf<vec, 1x16xTYPE>
  pto.tload ins(%part : !pto.partition_tensor_view<1x16xf32>) outs(%tile : !pto.tile_buf<vec, 1x16xf32>)
  pto.tcvt ins(%tile MODE : !pto.tile_buf<vec, 1x16xf32>) outs(%converted : !pto.tile_buf<vec, 1x16xTYPE>)
  pto.tstore ins(%converted : !pto.tile_buf<vec, 1x16xTYPE>) outs(%whole : !pto.partition_tensor_view<1x16xTYPE>)
  return
}
"""

NUMBERS = [2.5, -2.5, 3.5, 0.4, -0.6, 32767.5, 40000.25, -40000.75, 1e6, 7e5, 65519.0, 1 / 3, 0.0, -1.0, 9.0, 2047.25]
HALVES = {bits: float(np.uint16(bits).view(np.float16)) for bits in range(1 << 16) if bits & 0x7C00 != 0x7C00}
"""The finite numbers of 16 bits."""


def _to_odd(number: float) -> float:
    """The number itself if it is one of `HALVES`, else of both beside it the one whose last bit is set."""
    if number in HALVES.values():
        return number
    below = max((value, bits) for bits, value in HALVES.items() if value < number)
    above = min(((value, bits) for bits, value in HALVES.items() if value > number), default=below)
    return next(value for value, bits in (below, above) if bits % 2 == 1)


@pytest.mark.parametrize(
    ("type", "mode", "convert"),
    [
        # Without saturation an integer keeps its lower 16 bits; nothing said is to nearest even.
        ("i16", "", lambda x: (round(x) + 2**15) % 2**16 - 2**15),
        (
            "i16",
            "{rmode = #pto<round_mode TRUNC>, satmode = #pto<saturation_mode ON>}",
            lambda x: min(max(int(x), -(2**15)), 2**15 - 1),
        ),
        ("f32", "", round),
        ("f16", "{rmode = #pto<round_mode ODD>}", _to_odd),
    ],
)
def test_conversions(tmp_path: Path, type: str, mode: str, convert: Callable[[float], float]) -> None:
    path = tmp_path / "convert.pto"
    path.write_text(CONVERT.replace("TYPE", type).replace("MODE", mode))
    given = np.array(NUMBERS, np.float32)
    result = pto.run(path, arguments={"source": given})
    assert result.arrays["result"].tolist() == [convert(number) for number in given.tolist()]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arch": "a4"}, "arch is 'a4'; use one of ideal, a2a3, a5"),
        ({"arch": None}, "arch is None; use one of ideal, a2a3, a5"),
        ({"blocks": 1.5}, "the number of blocks is 1.5; give a whole number"),
        ({"blocks": "2"}, "the number of blocks is '2'; give a whole number"),
        ({"lanes": "x"}, "the number of vector cores is 'x'; give a whole number"),
        ({"repeat": 0}, "a program is launched at least once, not 0 times"),
        ({"repeat": None}, "the number of launches is None; give a whole number"),
        ({"step_limit": 0}, "a step limit of 0 lets nothing run; give at least 1, or none"),
        ({"step_limit": 1e3}, "the step limit is 1000.0; give a whole number"),
    ],
)
def test_options_that_make_no_sense(double: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(LoomError) as caught:
        pto.run(double, arguments={"scale": 1}, **options)
    assert caught.value.message == message


def test_numbers_of_numpy_are_numbers(double: Path) -> None:
    source = np.ones(32, np.float32)
    result = pto.run(double, blocks=np.int64(2), repeat=np.uint8(1), arguments={"source": source, "scale": 1})  # pyright: ignore[reportArgumentType]
    assert result.arrays["result"].tolist() == [2.0] * 32


def test_programs_given_as_text() -> None:
    text = DOUBLE.replace("TYPE", "f32")
    result = pto.run(text, arguments={"source": np.ones(32, np.float32), "scale": 1})
    assert result.arrays["result"].tolist() == [2.0] * 32
    assert pto.check(text) == []
    (finding,) = pto.check(text.replace("pto.tadd", "pto.tada"))
    assert (finding.code, finding.location) == ("rejected", "<text>:16:3")
    with pytest.raises(
        LoomError, match="5 is not a program; give a file, the text of kernels, an xDSL module, a kernel"
    ):
        pto.run(5)  # pyright: ignore[reportArgumentType]


def test_pointers_that_nobody_uses_need_no_array(tmp_path: Path) -> None:
    path = tmp_path / "double.pto"
    path.write_text(DOUBLE.replace("TYPE", "f32").replace("%scale", "%unused: !pto.ptr<i8>, %scale"))
    result = pto.run(path, arguments={"source": np.ones(32, np.float32), "scale": 1})
    assert result.arrays["unused"].size == 0
    given = pto.run(path, arguments={"unused": np.ones(3, np.int8), "scale": 1})
    assert given.arrays["unused"].tolist() == [1, 1, 1]


def test_views_larger_than_memory(tmp_path: Path) -> None:
    path = tmp_path / "double.pto"
    huge = "%c4 = arith.constant 4 : index\n  %huge = arith.constant 1000000000000000 : index"
    text = DOUBLE.replace("TYPE", "f32").replace("%c4 = arith.constant 4 : index", huge)
    path.write_text(text.replace("strides = [%c8", "strides = [%huge"))
    with pytest.raises(LoomError, match=r"argument 'source' needs .* bytes, which cannot be allocated"):
        pto.run(path, arguments={"scale": 1})


@pytest.mark.parametrize("name", ['"a9"', '""', "3 : i32"])
def test_chips_that_do_not_exist(name: str) -> None:
    text = f"module attributes {{pto.target_arch = {name}}} {{\n{DOUBLE.replace('TYPE', 'f32')}}}\n"
    (finding,) = pto.check(text)
    assert finding.message == f"pto.target_arch = {name} is not a chip; use a2, a3, a2a3 or a5"
    with pytest.raises(LoomError, match="is not a chip; use a2, a3, a2a3 or a5"):
        pto.run(text, arguments={"scale": 1})


@pytest.mark.parametrize("step", [0, -1])
def test_loops_that_never_end(step: int) -> None:
    loop = f"%step = arith.constant {step} : index\n  scf.for %i = %c0 to %c4 step %step {{\n  }}\n  return"
    text = DOUBLE.replace("TYPE", "f32").replace("return", loop)
    (finding,) = pto.check(text)
    assert finding.message == f"the loop has step {step} and would never end; use a step above 0"
    with pytest.raises(LoomError, match=f"the loop has step {step}"):
        pto.run(text, arguments={"scale": 1})


@pytest.mark.parametrize("branch", ["", "scf.yield %c4, %c8 : index, index", "scf.yield %scale : f32"])
def test_branches_that_yield_something_else(branch: str) -> None:
    """What xDSL lets pass: an scf.if of one result whose second branch yields none, two or one of another type."""
    condition = "%true = arith.constant true\n  %n = scf.if %true -> (index) {\n  scf.yield %c4 : index\n  }"
    text = DOUBLE.replace("TYPE", "f32").replace("return", f"{condition} else {{\n  {branch}\n  }}\n  return")
    (finding,) = pto.check(text)
    assert finding.code == "rejected"
    with pytest.raises(LoomError):
        pto.run(text, arguments={"scale": 1})


UNSIGNED = """
func.func @fill(%number: TYPE, %result: !pto.ptr<TYPE>, %copy: !pto.ptr<TYPE>)
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %c32 step %c1 {
    pto.store_scalar %number, %result[%i] : !pto.ptr<TYPE>, TYPE
  }
  %last = scf.for %i = %c0 to %c2 step %c1 iter_args(%held = %number) -> (TYPE) {
    %next = pto.load_scalar %result[%i] : !pto.ptr<TYPE> -> TYPE
    scf.yield %next : TYPE
  }
  pto.store_scalar %last, %copy[%c1] : !pto.ptr<TYPE>, TYPE
  return
}
"""


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("sign", ["u", "s"])
def test_numbers_with_a_sign_or_without(tmp_path: Path, bits: int, sign: str) -> None:
    """A number keeps its bits as an argument, through loops, and in and out of memory."""
    path = tmp_path / "fill.pto"
    path.write_text(UNSIGNED.replace("TYPE", f"{sign}i{bits}"))
    number = 2**bits - 56 if sign == "u" else -56
    dtype = np.dtype(f"{'u' if sign == 'u' else 'i'}{bits // 8}")
    arrays = {"result": np.zeros(32, dtype), "copy": np.zeros(2, dtype)}
    result = pto.run(path, arguments={"number": number, **arrays})
    assert result.arrays["result"].tolist() == [number] * 32
    assert result.arrays["copy"].tolist() == [0, number]
    with pytest.raises(LoomError, match=f"argument 'number' is {2**bits}, which does not fit in {bits} bits"):
        pto.run(path, arguments={"number": 2**bits, **arrays})
    with pytest.raises(LoomError, match=r"argument 'number' is a whole number, and 1\.5 is not; pass an int"):
        pto.run(path, arguments={"number": 1.5, **arrays})
    assert pto.run(path, arguments={"number": np.float32(3), **arrays}).arrays["copy"].tolist() == [0, 3]


SHAPES = """
func.func @shapes(%n: index, %m: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %a = pto.alloc_tile valid_row = %n valid_col = %c8 : !pto.tile_buf<vec, 4x8xf32, valid=?x?>
  %b = pto.alloc_tile valid_row = %m valid_col = %c8 : !pto.tile_buf<vec, 4x8xf32, valid=?x?>
  pto.texpands ins(%one : f32) outs(%a : !pto.tile_buf<vec, 4x8xf32, valid=?x?>)
  pto.texpands ins(%two : f32) outs(%b : !pto.tile_buf<vec, 4x8xf32, valid=?x?>)
  OPERATION ins(%a : !pto.tile_buf<vec, 4x8xf32, valid=?x?>) outs(%b : !pto.tile_buf<vec, 4x8xf32, valid=?x?>)
  pto.tprint ins(%b : !pto.tile_buf<vec, 4x8xf32, valid=?x?>)
  return
}
"""


@pytest.mark.parametrize("name", ["pto.tmov", "pto.tneg", "pto.texp"])
def test_shapes_that_do_not_fit_when_it_runs(tmp_path: Path, name: str) -> None:
    """They are told by the name in the text, and nothing of what becomes of it."""
    path = tmp_path / "shapes.pto"
    path.write_text(SHAPES.replace("OPERATION", name))
    pto.run(path, arguments={"n": 3, "m": 3})
    line = 1 + SHAPES.splitlines().index(next(line for line in SHAPES.splitlines() if "OPERATION" in line))
    message = rf"shapes\.pto:{line}:3: error: the shapes of {name} do not match: 2 x 8 from 3 x 8; correct"
    with pytest.raises(LoomError, match=message):
        pto.run(path, arguments={"n": 3, "m": 2})


def test_the_result_says_how_much_is_computed(tmp_path: Path) -> None:
    """As on the cores, which read what is not valid of a source; a warning says so, with the numbers."""
    path = tmp_path / "shapes.pto"
    path.write_text(SHAPES.replace("OPERATION", "pto.texp"))
    result = pto.run(path, arguments={"n": 2, "m": 3})
    (printed,) = result.prints
    np.testing.assert_allclose(printed.array[:, 0], [math.e, math.e, 1.0], rtol=1e-6)
    (finding,) = result.findings
    assert (finding.severity, finding.code) == ("warning", "narrow-tile")
    assert "the result has 3 valid rows, and a source 2, so 1 of the source are read that are not valid" in str(finding)


@pytest.mark.slow
def test_padding(tmp_path: Path) -> None:
    """Around the source is what the type of the result says, and there has to be a place for all of it."""
    path = tmp_path / "shapes.pto"
    padded = "!pto.tile_buf<vec, 4x8xf32, valid=?x?, pad=1>"
    text = SHAPES.replace("OPERATION", "pto.tfillpad").replace(
        "%b : !pto.tile_buf<vec, 4x8xf32, valid=?x?>", f"%b : {padded}"
    )
    path.write_text(
        text.replace(
            "valid_row = %m valid_col = %c8 : !pto.tile_buf<vec, 4x8xf32, valid=?x?>",
            f"valid_row = %m valid_col = %c8 : {padded}",
        )
    )
    (printed,) = pto.run(path, arguments={"n": 3, "m": 4}).prints
    np.testing.assert_array_equal(printed.array, np.repeat([[1.0], [1.0], [1.0], [0.0]], 8, axis=1))
    with pytest.raises(LoomError, match=r"the shapes of pto\.tfillpad do not match: 2 x 8 from 3 x 8"):
        pto.run(path, arguments={"n": 3, "m": 2})


def test_a_push_that_does_not_fit_is_told_as_it_is_written(tmp_path: Path) -> None:
    """Also where a pass has made another operation of it."""
    text = (EXAMPLES / "matmul_print.pto").read_text()
    assert "pto.tpush_to_aiv(" in text
    module = parse_kernels(text)
    set_target_arch(module, "a5")
    prepare(module, "a5", lower={"protocol": "a5", "blocks": 1})
    names = {written_as(op) for op in module.walk() if isinstance(op, flow.TileApplyOp)}
    assert "pto.tpush_to_aiv" in names
    assert "pto.tpush" not in names
