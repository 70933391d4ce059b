"""Tiles and tensors that loops and branches carry, against numpy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loomir import pto
from loomir.diagnostics.errors import LoomError
from loomir.host.pto_check import check

DELAYED_FREE = Path(__file__).parents[2] / "examples" / "pto" / "delayed_free.pto"

TILE = "!pto.tile_buf<vec, 4x8xf32>"
OPEN = "!pto.tile_buf<vec, 4x8xf32, valid=?x?>"
PART = "!pto.partition_tensor_view<4x8xf32>"

VECTOR = """
func.func @kernel(%x: !pto.ptr<f32>, %out: !pto.ptr<f32>, %n: index)
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  %from = pto.make_tensor_view %x, shape = [%c32, %c8], strides = [%c8, %c1] : !pto.tensor_view<32x8xf32>
  %to = pto.make_tensor_view %out, shape = [%c32, %c8], strides = [%c8, %c1] : !pto.tensor_view<32x8xf32>
  BODY
  return
}
"""
"""A vector kernel with 32 rows of 8 numbers that come and as many that go: four rows make a tile."""

SOURCE = np.random.default_rng(11).integers(-50, 50, (8, 4, 8)).astype(np.float32)


def _load(name: str, tile: str, row: str, kind: str = TILE) -> str:
    return f"""
  %{name} = pto.partition_view %from, offsets = [{row}, %c0], sizes = [%c4, %c8] : !pto.tensor_view<32x8xf32> -> {PART}
  pto.tload ins(%{name} : {PART}) outs({tile} : {kind})"""


def _store(name: str, tile: str, row: str, kind: str = TILE) -> str:
    return f"""
  %{name} = pto.partition_view %to, offsets = [{row}, %c0], sizes = [%c4, %c8] : !pto.tensor_view<32x8xf32> -> {PART}
  pto.tstore ins({tile} : {kind}) outs(%{name} : {PART})"""


def _run(tmp_path: Path, body: str, n: int = 8, blocks: int = 1, arch: Any = "ideal") -> Any:
    path = tmp_path / "kernel.pto"
    path.write_text(VECTOR.replace("BODY", body))
    arguments = {"x": SOURCE, "out": np.zeros_like(SOURCE), "n": n}
    result = pto.run(path, arguments=arguments, blocks=blocks, arch=arch)
    assert not result.findings
    assert not [finding for finding in check(path) if finding.severity == "error"]
    return result.arrays["out"]


@pytest.mark.slow
@pytest.mark.parametrize("n", [0, 1, 7, 8])
def test_double_buffering(tmp_path: Path, n: int) -> None:
    """The tile that is loaded in one trip is used in the next, while the other is loaded."""
    body = f"""
  %ping = pto.alloc_tile : {TILE}
  %pong = pto.alloc_tile : {TILE}
  %sum = pto.alloc_tile : {TILE}
  pto.texpands ins(%one : f32) outs(%ping : {TILE})
  %last:2 = scf.for %i = %c0 to %n step %c1 iter_args(%before = %ping, %now = %pong) -> ({TILE}, {TILE}) {{
    %row = arith.muli %i, %c4 : index
    {_load("part", "%now", "%row")}
    pto.tadd ins(%before, %now : {TILE}, {TILE}) outs(%sum : {TILE})
    {_store("place", "%sum", "%row")}
    scf.yield %now, %before : {TILE}, {TILE}
  }}
  %rest = arith.muli %n, %c4 : index
  %in_range = arith.cmpi ult, %n, %c8 : index
  scf.if %in_range {{
    {_store("behind", "%last#0", "%rest")}
  }}
"""
    before = np.ones((4, 8), np.float32)
    expected = np.zeros_like(SOURCE)
    for i in range(n):
        expected[i] = before + SOURCE[i]
        before = SOURCE[i]
    if n < 8:
        expected[n] = before
    np.testing.assert_array_equal(_run(tmp_path, body, n), expected)


@pytest.mark.slow
def test_one_tile_or_the_other(tmp_path: Path) -> None:
    """`scf.if`, `arith.select` and a branch without another way, with blocks that go different ways."""
    body = f"""
  %block = pto.get_block_idx
  %number = arith.index_cast %block : i64 to index
  %row = arith.muli %number, %c4 : index
  %half = arith.remui %number, %c2 : index
  %odd = arith.cmpi eq, %half, %c1 : index
  %late = arith.cmpi ugt, %number, %c4 : index
  %loaded = pto.alloc_tile : {TILE}
  %ones = pto.alloc_tile : {TILE}
  pto.texpands ins(%one : f32) outs(%ones : {TILE})
  {_load("part", "%loaded", "%row")}
  %a = scf.if %odd -> ({TILE}) {{
    scf.yield %loaded : {TILE}
  }} else {{
    scf.yield %ones : {TILE}
  }}
  %b = arith.select %late, %loaded, %ones : {TILE}
  %sum = pto.alloc_tile : {TILE}
  pto.tadd ins(%a, %b : {TILE}, {TILE}) outs(%sum : {TILE})
  {_store("place", "%sum", "%row")}
"""
    ways = [np.where(i % 2, SOURCE[i], 1) + np.where(i > 4, SOURCE[i], 1) for i in range(8)]
    expected = np.stack(ways)
    np.testing.assert_array_equal(_run(tmp_path, body, blocks=8), expected)


@pytest.mark.slow
@pytest.mark.parametrize("n", [0, 1, 3, 4])
def test_valid_shapes_that_trips_change(tmp_path: Path, n: int) -> None:
    """Each trip begins with the rows the one before has set, and what is behind with those of the last."""
    body = f"""
  %source = pto.alloc_tile : {TILE}
  {_load("part", "%source", "%c0")}
  %rows = pto.alloc_tile valid_row = %c4 valid_col = %c8 : {OPEN}
  pto.texpands ins(%one : f32) outs(%rows : {OPEN})
  scf.for %i = %c0 to %n step %c1 {{
    pto.tadds ins(%rows, %one : {OPEN}, f32) outs(%rows : {OPEN})
    %fewer = arith.subi %c4, %i : index
    pto.set_validshape %rows, %fewer, %c8 : {OPEN}
  }}
  pto.tadds ins(%rows, %one : {OPEN}, f32) outs(%rows : {OPEN})
  pto.set_validshape %rows, %c4, %c8 : {OPEN}
  {_store("place", "%rows", "%c0", OPEN)}
"""
    expected, rows = np.ones((4, 8), np.float32), 4
    for i in range(n):
        expected[:rows] += 1
        rows = 4 - i
    expected[:rows] += 1
    np.testing.assert_array_equal(_run(tmp_path, body, n)[0], expected)


@pytest.mark.slow
@pytest.mark.parametrize("n", [0, 1, 5])
def test_while_carries_tiles(tmp_path: Path, n: int) -> None:
    """The tile of the test is the result; tensors that move on are carried as well."""
    part = "!pto.partition_tensor_view<4x8xf32>"
    body = f"""
  %ping = pto.alloc_tile : {TILE}
  %pong = pto.alloc_tile : {TILE}
  pto.texpands ins(%one : f32) outs(%ping : {TILE})
  %first = pto.partition_view %from, offsets = [%c0, %c0], sizes = [%c4, %c8] : !pto.tensor_view<32x8xf32> -> {part}
  %trips, %result = scf.while (%i = %c0, %held = %ping, %free = %pong, %next = %first)
      : (index, {TILE}, {TILE}, {part}) -> (index, {TILE}) {{
    %goes_on = arith.cmpi ult, %i, %n : index
    pto.tload ins(%next : {part}) outs(%free : {TILE})
    pto.tadd ins(%held, %free : {TILE}, {TILE}) outs(%free : {TILE})
    scf.condition(%goes_on) %i, %free : index, {TILE}
  }} do {{
  ^bb0(%i: index, %held: {TILE}):
    %is_ping = arith.remui %i, %c2 : index
    %even = arith.cmpi eq, %is_ping, %c0 : index
    %other = arith.select %even, %ping, %pong : {TILE}
    %following = arith.addi %i, %c1 : index
    %row = arith.muli %following, %c4 : index
    %part = pto.partition_view %from, offsets = [%row, %c0], sizes = [%c4, %c8] : !pto.tensor_view<32x8xf32> -> {part}
    scf.yield %following, %held, %other, %part : index, {TILE}, {TILE}, {part}
  }}
  {_store("place", "%result", "%c0")}
"""
    expected = 1 + SOURCE[: n + 1].sum(axis=0)
    np.testing.assert_array_equal(_run(tmp_path, body, n)[0], expected)


# Pipes ----------------------------------------------------------------------------------------

LOOP = "    scf.for %row = %c0 to %c64 step %c16 {\n      %first"


def _differences(tmp_path: Path, loop: str, chip: str = "a3") -> Path:
    """delayed_free.pto with another loop of the vector cores, and 64 + 64 rows of results."""
    head, rest = DELAYED_FREE.read_text().split(LOOP)
    text = head + loop + rest[rest.index("    return\n") :]
    text = text.replace("%c64 = arith.constant 64", "%c64 = arith.constant 128").replace("64x32xf32", "128x32xf32")
    if chip == "a5":
        text = text.replace('"a3"', '"a5"').replace("gm_slot_buffer = %slots : !pto.ptr<f32>, ", "")
        text = text.replace("size = 4096", "size = 8192").replace(", local_slot_num = 2", "")
    path = tmp_path / "kernel.pto"
    path.write_text(text)
    return path


STORE = """
      %out_part = pto.partition_view %out_view, offsets = [%row, %c0], sizes = [%c16, %c32]
        : !pto.tensor_view<128x32xf32> -> !pto.partition_tensor_view<16x32xf32>
      pto.tstore ins(%difference : !vec) outs(%out_part : !pto.partition_tensor_view<16x32xf32>)
"""


def _products() -> tuple[dict[str, Any], np.ndarray[Any, Any]]:
    generator = np.random.default_rng(3)
    a = generator.integers(-4, 5, (128, 32)).astype(np.float32)
    b = generator.integers(-4, 5, (32, 32)).astype(np.float32)
    arguments = {"a": a, "b": b, "out": np.zeros((128, 32), np.float32), "slots": np.zeros(4 * 2048, np.float32)}
    return arguments, (a @ b).reshape(8, 16, 32)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chip", "arch", "expected_findings"),
    [
        ("a3", "ideal", set()),
        ("a3", "a2a3", set()),
        ("a5", "ideal", set()),
        # There a tile that is freed behind the pop of the next returns its credit too early.
        ("a5", "a5", {"early-credit", "leftover-credits"}),
    ],
)
def test_the_tile_popped_before(tmp_path: Path, chip: str, arch: Any, expected_findings: set[str]) -> None:
    """A trip uses the tile that the one before has popped, and frees it: the first is a tile of its own."""
    loop = (
        """
    %zero = arith.constant 0.0 : f32
    %zeros = pto.alloc_tile : !vec
    pto.texpands ins(%zero : f32) outs(%zeros : !vec)
    %last = scf.for %row = %c0 to %c64 step %c16 iter_args(%before = %zeros) -> (!vec) {
      %now = pto.tpop_from_aic {id = 0, split = 0} -> !vec
      pto.tsub ins(%now, %before : !vec, !vec) outs(%difference : !vec)
      %is_first = arith.cmpi eq, %row, %c0 : index
      scf.if %is_first {
      } else {
        pto.tfree_from_aic {id = 0, split = 0}
      }
"""
        + STORE
        + """
      scf.yield %now : !vec
    }
    pto.tprint ins(%last : !vec)
    pto.tfree_from_aic {id = 0, split = 0}
"""
    )
    arguments, products = _products()
    result = pto.run(_differences(tmp_path, loop, chip), arch=arch, arguments=arguments)
    expected = products - np.concatenate([np.zeros((1, 16, 32), np.float32), products[:-1]])
    np.testing.assert_array_equal(result.arrays["out"].reshape(8, 16, 32), expected)
    np.testing.assert_array_equal(result.prints[0].array, products[-1])
    assert {finding.code for finding in result.findings} == expected_findings


@pytest.mark.slow
def test_a_carried_tile_that_is_freed_too_early(tmp_path: Path) -> None:
    """The tile of the trip before is an entry still: its use is told."""
    loop = (
        """
    %zeros = pto.alloc_tile : !vec
    scf.for %row = %c0 to %c64 step %c16 iter_args(%before = %zeros) -> (!vec) {
      %now = pto.tpop_from_aic {id = 0, split = 0} -> !vec
      pto.tsub ins(%now, %before : !vec, !vec) outs(%difference : !vec)
      pto.tfree_from_aic {id = 0, split = 0}
"""
        + STORE
        + """
      scf.yield %now : !vec
    }
"""
    )
    found = pto.run(_differences(tmp_path, loop, "a5"), arguments=_products()[0]).findings
    assert "use-after-free" in {finding.code for finding in found}


HEAD = """
!vec = !pto.tile_buf<vec, 16x16xf32>
!left = !pto.tile_buf<left, 16x16xf32, blayout=col_major, slayout=row_major>
!right = !pto.tile_buf<right, 16x16xf32, slayout=col_major>
!acc = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
module attributes {pto.target_arch = "a5"} {
  func.func @cube(%n: index) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = pto.alloc_tile : !left
    %b = pto.alloc_tile : !right
    %acc = pto.alloc_tile : !acc
    pto.tmatmul ins(%a, %b : !left, !right) outs(%acc : !acc)
"""
"""A cube core whose product is zero."""

VECTOR_HEAD = """
    return
  }
  func.func @vector(%n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
"""


def _with_pipes(path: Path, names: list[str], cube: str, vector: str) -> Path:
    """Kernels with a pipe for each name, in the form that names tiles and pipes by values."""
    numbers = "dir_mask = 1, slot_size = 1024, slot_num = 2, nosplit = true"
    text = HEAD
    for name in names:
        text += f"""
    %{name}_buffer = pto.import_reserved_buffer {{name = "{name}", peer_func = @vector}} -> i32
    %{name} = pto.initialize_l2l_pipe {{{numbers}}}(%{name}_buffer : i32) -> !pto.pipe
"""
    text += cube + VECTOR_HEAD
    place = "location = #pto.address_space<vec>, auto = true"
    for name in names:
        text += f"""
    %{name}_buffer = pto.reserve_buffer {{name = "{name}", size = 2048, {place}}} -> i32
    %{name} = pto.initialize_l2l_pipe {{{numbers}}}(%{name}_buffer : i32) -> !pto.pipe
"""
    path.write_text(text + vector + "    return\n  }\n}\n")
    return path


@pytest.mark.slow
def test_a_declared_tile_that_trips_bind(tmp_path: Path) -> None:
    """What a trip pops is used in the next and behind the loop; where no trip was, it has no place."""
    path = _with_pipes(
        tmp_path / "declared.pto",
        ["pipe"],
        """
    scf.for %i = %c0 to %n step %c1 {
      pto.tpush(%acc, %pipe : !acc, !pto.pipe) {split = 0}
    }
""",
        """
    %count = pto.alloc_tile : !vec
    %tile = pto.declare_tile -> !vec
    scf.for %i = %c0 to %n step %c1 {
      %again = arith.cmpi ugt, %i, %c0 : index
      scf.if %again {
        pto.tadds ins(%tile, %one : !vec, f32) outs(%count : !vec)
        pto.tfree(%pipe : !pto.pipe) {split = 0}
      }
      pto.tpop(%tile, %pipe : !vec, !pto.pipe) {split = 0}
    }
    pto.tprint ins(%tile : !vec)
    pto.tprint ins(%count : !vec)
    pto.tfree(%pipe : !pto.pipe) {split = 0}
""",
    )
    result = pto.run(path, arguments={"n": 3})
    tile, count = result.prints
    assert (tile.label, tile.array.max()) == ("tile", 0)
    assert (count.label, count.array.min()) == ("count", 1)
    assert {finding.code for finding in result.findings} == {"unwritten-tile"}  # of the product, which stays 0
    place = 1 + next(line for line, text in enumerate(path.read_text().splitlines()) if "tprint ins(%tile" in text)
    message = rf"declared\.pto:{place}:5: .*a pop binds %tile before it is used; on the path taken"
    with pytest.raises(LoomError, match=message):
        pto.run(path, arguments={"n": 0})
    path.write_text(path.read_text().replace("      pto.tpop(%tile, %pipe : !vec, !pto.pipe) {split = 0}\n", ""))
    with pytest.raises(LoomError, match=r"'pto.tadds' op uses %tile that has no address here; pop it from a pipe"):
        pto.run(path, arguments={"n": 3})


@pytest.mark.slow
def test_slots_of_one_pipe_or_another(tmp_path: Path) -> None:
    """Tiles popped from two pipes may be one value: a number says which."""
    path = _with_pipes(
        tmp_path / "two.pto",
        ["one_pipe", "other_pipe"],
        """
    pto.tpush(%acc, %one_pipe : !acc, !pto.pipe) {split = 0}
    pto.tpush(%acc, %other_pipe : !acc, !pto.pipe) {split = 0}
""",
        """
    %first = pto.declare_tile -> !vec
    %second = pto.declare_tile -> !vec
    pto.tpop(%first, %one_pipe : !vec, !pto.pipe) {split = 0}
    pto.tpop(%second, %other_pipe : !vec, !pto.pipe) {split = 0}
    pto.tadds ins(%second, %one : !vec, f32) outs(%second : !vec)
    %late = arith.cmpi ugt, %n, %c0 : index
    %chosen = scf.if %late -> (!vec) {
      scf.yield %second : !vec
    } else {
      scf.yield %first : !vec
    }
    pto.tprint ins(%chosen : !vec)
    pto.tfree(%one_pipe : !pto.pipe) {split = 0}
    pto.tfree(%other_pipe : !pto.pipe) {split = 0}
""",
    )
    for n, expected in ((0, 0), (1, 1)):
        result = pto.run(path, arguments={"n": n})
        assert [printed.array.max() for printed in result.prints] == [expected]
        assert {finding.code for finding in result.findings} == {"unwritten-tile"}


SEVERAL = "!pto.multi_tile_buf<vec, 4x8xf32, count=3>"

CHOSEN = f"""
  %several = pto.alloc_multi_tile : {SEVERAL}
  %three = arith.constant 3 : index
  scf.for %i = %c0 to %n step %c1 {{
    %slot = arith.remui %i, %three : index
    %row = arith.muli %i, %c4 : index
    %now = pto.multi_tile_get %several[%slot] : {SEVERAL} -> {TILE}
    {_load("part", "%now", "%row")}
  }}
  %two = pto.multi_tile_get %several[%c2] : {SEVERAL} -> {TILE}
  {_store("place", "%two", "%c0")}
  %late = pto.multi_tile_get %several[%n] : {SEVERAL} -> {TILE}
  {_store("behind", "%late", "%c4")}
"""
"""Loads rows into three tiles in turn; stores the third of these tiles, and the one with the number of rows."""


@pytest.mark.parametrize("executor", ["core", "reference"])
def test_several_tiles_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor: str) -> None:
    """`alloc_multi_tile`: each slot is a tile of its own; a number that is no slot ends the run."""
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    expected = np.zeros_like(SOURCE)
    expected[0] = SOURCE[2]
    # Four rows: the first slot has the last of them. Slot 4 is none.
    body = CHOSEN.replace("%several[%n]", "%several[%c0]")
    expected[1] = SOURCE[3]
    np.testing.assert_array_equal(_run(tmp_path, body, n=4), expected)
    with pytest.raises(LoomError, match="the slot is one of the 3 that there are; correct its number"):
        _run(tmp_path, CHOSEN, n=4)


def test_arguments_without_names() -> None:
    """They are `arg0` and so on, for whoever launches the kernel and for the search for races alike."""
    text = VECTOR.replace("%x: ", "%0: ").replace("%out: ", "%1: ").replace("_view %x,", "_view %0,")
    text = text.replace("_view %out,", "_view %1,")
    body = f"""
  %tile = pto.alloc_tile : {TILE}
  pto.texpands ins(%one : f32) outs(%tile : {TILE})
  {_store("place", "%tile", "%c0")}
"""
    program = pto.Program(text.replace("BODY", body))
    assert list(program.parameters) == ["arg0", "arg1", "n"]
    result = pto.run(text.replace("BODY", body), arguments=[SOURCE, np.zeros_like(SOURCE), 1], blocks=2)
    assert (result.arrays["arg1"][0] == 1).all()
    # Both blocks store the same from the same, which is none; another value is one.
    other = body.replace("  pto.texpands ins(%one : f32)", """
  %block = pto.get_block_idx
  %number = arith.sitofp %block : i64 to f32
  pto.texpands ins(%number : f32)""")  # fmt: skip
    races = pto.run(text.replace("BODY", other), arguments=[SOURCE, np.zeros_like(SOURCE), 1], blocks=2).findings
    assert [finding.code for finding in races] == ["global-race"] and "of 'arg1'" in races[0].message


@pytest.mark.parametrize("executor", ["core", "reference"])
def test_a_tile_that_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor: str) -> None:
    """`tassign`: the tile and its new name are at the new address; what is at the old one stays."""
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    body = f"""
  %near = arith.constant 0 : i64
  %far = arith.constant 4096 : i64
  %first = pto.alloc_tile addr = %near : {TILE}
  %tile = pto.alloc_tile addr = %near : {TILE}
  {_load("one_part", "%tile", "%c0")}
  %moved = pto.tassign %tile, %far : {TILE} -> {TILE}
  {_load("other_part", "%tile", "%c4")}
  {_store("place", "%first", "%c0")}
  {_store("behind", "%moved", "%c4")}
"""
    expected = np.zeros_like(SOURCE)
    expected[:2] = SOURCE[:2]
    np.testing.assert_array_equal(_run(tmp_path, body), expected)
