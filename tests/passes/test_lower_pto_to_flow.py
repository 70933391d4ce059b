"""Kernels down to `flow`: tiles that go around through pipes come back as they were, and public files lower.

For the latter set LOOMIR_PTOAS to the directory of a checkout of PTOAS.
"""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp, StringAttr

from loomir.diagnostics.errors import LoomError
from loomir.dialects import context, flow
from loomir.dialects.ir_text import parse_ir
from loomir.dialects.verification import verify
from loomir.host import pto
from loomir.operations.pipe_protocol import Behavior
from loomir.passes import get_all_passes
from loomir.passes.lower_pto_to_flow import LowerPtoToFlowPass

from ..searches import examples

PASSES = (
    "pto-assign-default-frontend-pipe-id",
    "pto-lower-frontend-pipe-ops",
    "pto-infer-validate-pipe-init",
    "pto-place-tiles",
    "pto-place-reserved-buffers",
    "pto-resolve-reserved-buffers",
)
BEHAVIORS: tuple[Behavior, ...] = ("ideal", "a2a3", "a5")
DIRECTORY = os.environ.get("LOOMIR_PTOAS")


def parsed(text: str, chip: str | None = None) -> ModuleOp:
    module = parse_ir(context(), text, "program.pto")
    if chip is not None and not {"pto.target_arch", "pto.device-spec"} & set(module.attributes):
        module.attributes["pto.target_arch"] = StringAttr(chip)
    verify(module)
    return module


def lowered(module: ModuleOp, behavior: Behavior) -> ModuleOp:
    """The program after all passes, verified after the last."""
    for name in PASSES:
        get_all_passes()[name]()().apply(context(), module)
    LowerPtoToFlowPass(protocol=behavior).apply(context(), module)
    verify(module)
    return module


# ---------------------------------------------------------------------------------------------
# Around and back
# ---------------------------------------------------------------------------------------------

NO_SPLIT, UP_DOWN, LEFT_RIGHT = range(3)


def around(chip: str, there: int, back: int, rows: int, columns: int, slots: int, count: int) -> str:
    """`count` tiles go from `a` through the vector cores to the cube core, times one, and back to `out`.

    They are shared among the vector cores as `there` and `back` say, by a pipe each.
    """

    def part(split: int) -> tuple[int, int]:
        return rows // 2 if split == UP_DOWN else rows, columns // 2 if split == LEFT_RIGHT else columns

    def tile(location: str, m: int, n: int, layout: str = "") -> str:
        return f"!pto.tile_buf<{location}, {m}x{n}xf32{layout}>"

    nz = ", blayout=col_major, slayout=row_major"
    zn = ", blayout=row_major, slayout=col_major"
    size = rows * columns * 4
    (sent_rows, sent_columns), (got_rows, got_columns) = part(there), part(back)
    sent, got = tile("vec", sent_rows, sent_columns), tile("vec", got_rows, got_columns)
    whole, one = tile("mat", rows, columns, nz), tile("mat", columns, columns, nz)
    left, right = tile("left", rows, columns, nz), tile("right", columns, columns, zn)
    acc = tile("acc", rows, columns, nz)
    gm = "" if chip == "a5" else "gm_slot_buffer = %slots{} : !pto.ptr<f32>, "
    reserved = f"size = {size * slots}"
    array = f"!pto.tensor_view<?x{columns}xf32>"
    clauses = f"slot_size = {size}, slot_num = {slots}"
    numbers = sorted({0, 1, rows, columns, count, *part(there), *part(back)})
    constants = "\n".join(f"%c{number} = arith.constant {number} : index" for number in numbers)

    def offsets(split: int, name: str) -> str:
        m, n = part(split)
        lane_rows, lane_columns = m if split == UP_DOWN else 0, n if split == LEFT_RIGHT else 0
        return f"""
        %{name}_r = arith.muli %lane, %c{lane_rows} : index
        %{name}_row = arith.addi %first, %{name}_r : index
        %{name}_col = arith.muli %lane, %c{lane_columns} : index"""

    return f"""
module attributes {{pto.target_arch = "{chip}"}} {{
  func.func @around(%a: !pto.ptr<f32>, %one: !pto.ptr<f32>, %out: !pto.ptr<f32>, %slots0: !pto.ptr<f32>,
      %slots1: !pto.ptr<f32>) attributes {{pto.entry}} {{
    func.call @c(%one, %slots0, %slots1) : (!pto.ptr<f32>, !pto.ptr<f32>, !pto.ptr<f32>) -> ()
    func.call @v(%a, %out, %slots0, %slots1) : (!pto.ptr<f32>, !pto.ptr<f32>, !pto.ptr<f32>, !pto.ptr<f32>) -> ()
    return
  }}
  func.func private @c(%one: !pto.ptr<f32>, %slots0: !pto.ptr<f32>, %slots1: !pto.ptr<f32>)
      attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    {constants}
    %b0 = pto.reserve_buffer {{name = "there", {reserved}, location = #pto.address_space<mat>, auto = true}} -> i32
    %b1 = pto.import_reserved_buffer {{name = "back", peer_func = @v}} -> i32
    pto.aic_initialize_pipe {{id = 0, dir_mask = 2, {clauses}}}({gm.format(0)}v2c_consumer_buf = %b0 : i32)
    pto.aic_initialize_pipe {{id = 1, dir_mask = 1, {clauses}}}({gm.format(1)}c2v_consumer_buf = %b1 : i32)
    %m = pto.alloc_tile : {one}
    %l = pto.alloc_tile : {left}
    %r = pto.alloc_tile : {right}
    %s = pto.alloc_tile : {acc}
    %o = pto.make_tensor_view %one, shape = [%c{columns}, %c{columns}], strides = [%c{columns}, %c1]
      : !pto.tensor_view<{columns}x{columns}xf32>
    pto.tload ins(%o : !pto.tensor_view<{columns}x{columns}xf32>) outs(%m : {one})
    pto.tmov ins(%m : {one}) outs(%r : {right})
    scf.for %i = %c0 to %c{count} step %c1 {{
      %t = pto.tpop_from_aiv {{id = 0, split = {there}}} -> {whole}
      pto.tmov ins(%t : {whole}) outs(%l : {left})
      pto.tfree_from_aiv {{id = 0, split = {there}}}
      pto.tmatmul ins(%l, %r : {left}, {right}) outs(%s : {acc})
      pto.tpush_to_aiv(%s : {acc}) {{id = 1, split = {back}}}
    }}
    return
  }}
  func.func private @v(%a: !pto.ptr<f32>, %out: !pto.ptr<f32>, %slots0: !pto.ptr<f32>, %slots1: !pto.ptr<f32>)
      attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    {constants}
    %b0 = pto.import_reserved_buffer {{name = "there", peer_func = @c}} -> i32
    %b1 = pto.reserve_buffer {{name = "back", {reserved}, location = #pto.address_space<vec>, auto = true}} -> i32
    pto.aiv_initialize_pipe {{id = 0, dir_mask = 2, {clauses}}}({gm.format(0)}v2c_consumer_buf = %b0 : i32)
    pto.aiv_initialize_pipe {{id = 1, dir_mask = 1, {clauses}}}({gm.format(1)}c2v_consumer_buf = %b1 : i32)
    %lane64 = pto.get_subblock_idx
    %lane = arith.index_cast %lane64 : i64 to index
    %all = arith.constant {rows * count} : index
    %va = pto.make_tensor_view %a, shape = [%all, %c{columns}], strides = [%c{columns}, %c1] : {array}
    %vo = pto.make_tensor_view %out, shape = [%all, %c{columns}], strides = [%c{columns}, %c1] : {array}
    %t = pto.alloc_tile : {sent}
    scf.for %i = %c0 to %c{count} step %c1 {{
      %first = arith.muli %i, %c{rows} : index
      {offsets(there, "there")}
      %pa = pto.partition_view %va, offsets = [%there_row, %there_col], sizes = [%c{sent_rows}, %c{sent_columns}]
        : {array} -> !pto.partition_tensor_view<{sent_rows}x{sent_columns}xf32>
      pto.tload ins(%pa : !pto.partition_tensor_view<{sent_rows}x{sent_columns}xf32>) outs(%t : {sent})
      pto.tpush_to_aic(%t : {sent}) {{id = 0, split = {there}}}
      %u = pto.tpop_from_aic {{id = 1, split = {back}}} -> {got}
      {offsets(back, "back")}
      %po = pto.partition_view %vo, offsets = [%back_row, %back_col], sizes = [%c{got_rows}, %c{got_columns}]
        : {array} -> !pto.partition_tensor_view<{got_rows}x{got_columns}xf32>
      pto.tadd ins(%u, %u : {got}, {got}) outs(%u : {got})
      scf.if %mine {{
        pto.tstore ins(%u : {got}) outs(%po : !pto.partition_tensor_view<{got_rows}x{got_columns}xf32>)
      }}
      pto.tfree_from_aic {{id = 1, split = {back}}}
    }}
    return
  }}
}}""".replace(
        "%lane = arith.index_cast",
        # A tile that is not shared is the first core's.
        f"""%is_first = arith.cmpi eq, %lane64, %zero : i64
    %shared = arith.constant {"true" if back != NO_SPLIT else "false"}
    %mine = arith.ori %is_first, %shared : i1
    %lane = arith.index_cast""",
    ).replace("%lane64 = ", "%zero = arith.constant 0 : i64\n    %lane64 = ")


splits = st.sampled_from(list(itertools.product((NO_SPLIT, UP_DOWN, LEFT_RIGHT), repeat=2)))


chips: st.SearchStrategy[tuple[str, Behavior]] = st.sampled_from(
    [("a3", "ideal"), ("a3", "a2a3"), ("a3", "a5"), ("a5", "ideal"), ("a5", "a5")]
)


@pytest.mark.slow
@settings(max_examples=examples(30))
@given(
    chips, splits, st.sampled_from([16, 32]), st.sampled_from([32, 64]), st.sampled_from([1, 2, 4]), st.integers(1, 6),
)  # fmt: skip
def test_tiles_come_back_from_the_other_core(
    chosen: tuple[str, Behavior], shared: tuple[int, int], rows: int, columns: int, slots: int, count: int
) -> None:
    (chip, behavior), (there, back) = chosen, shared
    random = np.random.default_rng(0)
    a = random.integers(-100, 100, (rows * count, columns)).astype(np.float32)
    ring = np.zeros(slots * rows * columns, np.float32)
    result = pto.run(
        parsed(around(chip, there, back, rows, columns, slots, count)),
        arch=behavior,
        arguments={
            "a": a, "one": np.eye(columns, dtype=np.float32), "out": np.zeros_like(a), "slots0": ring, "slots1": ring,
        },
    )  # fmt: skip
    np.testing.assert_array_equal(result.arrays["out"], 2 * a)


@pytest.mark.slow
@pytest.mark.parametrize("behavior", BEHAVIORS)
def test_lowering_twice_is_the_same(behavior: Behavior) -> None:
    module = parsed(around("a5", UP_DOWN, LEFT_RIGHT, 16, 64, 4, 3))
    once, again = lowered(module.clone(), behavior), lowered(module.clone(), behavior)
    assert str(once) == str(again)
    assert not any(op.dialect_name() in ("pto", "func") for op in once.walk())


TRANSPOSED = """
!rows = !pto.tile_buf<mat, 16x32xf32, blayout=col_major, slayout=row_major>
!columns = !pto.tile_buf<mat, 32x16xf32, blayout=row_major, slayout=col_major>
!left = !pto.tile_buf<left, 16x32xf32, blayout=col_major, slayout=row_major>
!right = !pto.tile_buf<right, 32x16xf32, blayout=row_major, slayout=col_major>
!acc = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
!in = !pto.tensor_view<16x32xf32>
!out = !pto.tensor_view<16x16xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @k(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %c: !pto.ptr<f32>)
      attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %one = arith.constant 1 : index
    %m = arith.constant 16 : index
    %n = arith.constant 32 : index
    %zero = arith.constant 0 : i64
    %behind = arith.constant 2048 : i64
    %va = pto.make_tensor_view %a, shape = [%m, %n], strides = [%n, %one] : !in
    %vb = pto.make_tensor_view %b, shape = [%m, %n], strides = [%n, %one] : !in
    %vc = pto.make_tensor_view %c, shape = [%m, %m], strides = [%m, %one] : !out
    %ma = pto.alloc_tile addr = %zero : !rows
    %mb = pto.alloc_tile addr = %behind : !rows
    %mt = pto.alloc_tile addr = %behind : !columns
    %l = pto.alloc_tile addr = %zero : !left
    %r = pto.alloc_tile addr = %zero : !right
    %s = pto.alloc_tile addr = %zero : !acc
    pto.tload ins(%va : !in) outs(%ma : !rows)
    pto.tload ins(%vb : !in) outs(%mb : !rows)
    pto.tmov ins(%ma : !rows) outs(%l : !left)
    pto.tmov ins(%mt : !columns) outs(%r : !right)
    pto.tmatmul ins(%l, %r : !left, !right) outs(%s : !acc)
    pto.tstore ins(%s : !acc) outs(%vc : !out)
    return
  }
}
"""


def test_a_tile_in_the_place_of_another_is_its_transpose() -> None:
    """Kernels take the transpose of a tile by a second tile in its place, with the transposed layout."""
    random = np.random.default_rng(1)
    a, b = (random.integers(-9, 9, (16, 32)).astype(np.float32) for _ in range(2))
    result = pto.run(parsed(TRANSPOSED), arguments={"a": a, "b": b, "c": np.zeros((16, 16), np.float32)})
    np.testing.assert_array_equal(result.arrays["c"], a @ b.T)


# ---------------------------------------------------------------------------------------------
# Public files
# ---------------------------------------------------------------------------------------------


def public_files() -> list[Path]:
    """Those with both ends of a pipe whose results are seen, and that are no errors."""
    if DIRECTORY is None:
        return []
    found = [path for end in ("pto", "mlir") for path in (Path(DIRECTORY) / "test").rglob(f"*.{end}")]

    def is_whole(path: Path) -> bool:
        text = path.read_text(encoding="utf-8")
        wrong = "not ptoas" in text or "split-file" in text or "_invalid" in path.name
        wanted = (r"pto\.tpush", r"pto\.tpop", r"pto\.(tstore|tprint)")
        return not wrong and all(re.search(operation, text) for operation in wanted)

    return sorted(path for path in found if is_whole(path))


@pytest.mark.skipif(DIRECTORY is None, reason="LOOMIR_PTOAS names no checkout of PTOAS")
@pytest.mark.parametrize("path", public_files(), ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_public_files_lower(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    stated = re.search(r"--pto-arch[= ](\w+)", text)
    chip = "a5" if "A5" in str(path) else None if stated is None else stated.group(1)
    if chip is None and "gm_slot" not in text and "l2g2l" not in text:
        chip = "a5"
    hangs_on_a5 = chip != "a5" and re.search(r"dir_mask = 3\b", text) and "gm_slot" in text
    for behavior in BEHAVIORS:
        if behavior == "a5" and hangs_on_a5:
            with pytest.raises(LoomError, match=r"\(H8\); open a pipe for each direction"):
                lowered(parsed(text, chip), behavior)
            continue
        module = lowered(parsed(text, chip), behavior)
        fabrics = [op for op in module.ops if isinstance(op, flow.FabricOp)]
        assert len(fabrics) == 1
        assert any(isinstance(op, flow.ExportOp) for op in module.walk())


def test_elements_that_cannot_be_computed_with(tmp_path: Path) -> None:
    """Elements that the engine has no numbers of are moved, and refused where something is computed with them."""
    path = tmp_path / "hif8.pto"
    path.write_text(
        """func.func @k() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x32x!pto.hif8>
  %f = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf32>
  pto.tmov ins(%t : !pto.tile_buf<vec, 16x32x!pto.hif8>) outs(%t : !pto.tile_buf<vec, 16x32x!pto.hif8>)
  pto.tcvt ins(%t : !pto.tile_buf<vec, 16x32x!pto.hif8>) outs(%f : !pto.tile_buf<vec, 16x32xf32>)
  return
}
"""
    )
    message = r"hif8\.pto:5:3: error: 'pto.tcvt' op computes with !pto\.hif8, which is only moved"
    with pytest.raises(LoomError, match=message):
        pto.Program(path)


@pytest.mark.parametrize(
    ("body", "message"),
    (
        ("""%t = pto.alloc_tile : !pto.tile_buf<vec, 4x4xf64>
         pto.tmov ins(%t : !pto.tile_buf<vec, 4x4xf64>) outs(%t : !pto.tile_buf<vec, 4x4xf64>)""",
         "'pto.alloc_tile' op uses f64, which no operation on tiles of a2, a3 or a5 takes, but scalar code alone"),
        ("""%t = pto.alloc_tile : !pto.tile_buf<vec, 4x4xf64>
         pto.tadd ins(%t, %t : !pto.tile_buf<vec, 4x4xf64>, !pto.tile_buf<vec, 4x4xf64>)
           outs(%t : !pto.tile_buf<vec, 4x4xf64>)""", "'pto.tadd' op expects A2/A3 tadd element type to be"),
    ),
)  # fmt: skip
def test_floats_of_64_bits_are_refused(tmp_path: Path, body: str, message: str) -> None:
    """The chips have them in no operation on tiles."""
    path = tmp_path / "f64.pto"
    path.write_text(f"""func.func @k(%a: !pto.ptr<f64>) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %zero = arith.constant 0 : index
  {body}
  return
}}
""")
    with pytest.raises(LoomError, match=message):
        pto.Program(path)


@pytest.mark.slow
def test_tiles_that_a5_cannot_share() -> None:
    """What check calls an error there is not run as if nothing were; ideal pipes share any tile (E6)."""
    program = around("a5", NO_SPLIT, LEFT_RIGHT, 16, 16, 2, 1)
    with pytest.raises(LoomError, match="16 columns; a tile split by columns has a multiple of 32"):
        pto.Program(parsed(program), arch="a5")
    pto.Program(parsed(program), arch="ideal")
