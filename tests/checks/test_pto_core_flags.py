"""Flags between cores order accesses of global memory; gathers and scatters at known indices are accesses."""

from __future__ import annotations

import numpy as np
import pytest

from loomir import pto

KERNELS = """
module attributes {{pto.target_arch = "{}"}} {{
  func.func @cube(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index)
      attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    pto.store_scalar %one, %x[%c0] : !pto.ptr<f32>, f32
    {}
    return
  }}
  func.func @vector(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index)
      attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %lane = pto.get_subblock_idx
    %lane_index = arith.index_cast %lane : i64 to index
    {}
    %v = pto.load_scalar %x[%c0] : !pto.ptr<f32> -> f32
    pto.store_scalar %v, %y[%lane_index] : !pto.ptr<f32>, f32
    return
  }}
}}
"""

SET_INTRA, WAIT_INTRA = "pto.set_intra_block <PIPE_MTE3>, {}\n    ", "pto.wait_intra_block <PIPE_MTE2>, {}\n    "
SET, WAIT = "pto.sync.set <PIPE_MTE3>, {}\n    ", "pto.sync.wait <PIPE_MTE2>, {}\n    "


@pytest.mark.parametrize(
    ("arch", "cube", "vector", "codes"),
    [
        ("a2a3", SET.format(3), WAIT.format(3), []),
        ("a2a3", SET.format("3 {ffts_mode = 2 : i32}"), WAIT.format(3), []),
        ("a5", "pto.set_intra_block <PIPE_MTE3>, 3", "pto.wait_intra_block <PIPE_MTE2>, 3", []),
        ("a5", SET_INTRA.format(3) + SET_INTRA.format(19), WAIT_INTRA.format(3), []),
        # The second vector core's flag is not set.
        ("a5", SET_INTRA.format(3) + SET_INTRA.format(18), WAIT_INTRA.format(3), ["unset-flag"]),
        ("a2a3", "", "", ["global-race"]),
        ("a2a3", SET.format(3), WAIT.format(4), ["unset-flag"]),
        ("a2a3", SET.format(3), WAIT.format(3) * 2, ["unset-flag"]),
        # The vector cores wait for each other, and not for the cube core.
        ("a2a3", SET.format(3), SET.format("5 {ffts_mode = 1 : i32}") + WAIT.format(5), ["global-race"]),
        ("a2a3", SET.format("%n"), WAIT.format("%n"), ["unchecked-order"]),
        ("a2a3", "", SET.format("5 {ffts_mode = 0 : i32}") + WAIT.format(5), ["global-race"]),
    ],
)
def test_flags_between_cores(arch: str, cube: str, vector: str, codes: list[str]) -> None:
    findings = pto.check(KERNELS.format(arch, cube, vector))
    assert [finding.code for finding in findings] == codes
    assert all(finding.severity == ("note" if finding.code == "unchecked-order" else "error") for finding in findings)


def test_a_flag_raised_too_early() -> None:
    """The cube core sets the flag before it stores."""
    text = KERNELS.format("a2a3", "", WAIT.format(3)).replace("%one = arith", SET.format(3) + "%one = arith", 1)
    assert [finding.code for finding in pto.check(text)] == ["global-race"]


def test_what_is_not_compared_is_said() -> None:
    (finding,) = pto.check(KERNELS.format("a2a3", SET.format("%n"), WAIT.format("%n")))
    assert finding.message == (
        "accesses of different cores are not compared, since pto.sync.set orders them and the number of its flag is "
        "not known here"
    )


SET_DYNAMIC = "pto.set_flag_dyn [#pto.pipe<PIPE_MTE2>, #pto.pipe<PIPE_V>, {}]\n    "
WAIT_DYNAMIC = SET_DYNAMIC.replace("set_flag", "wait_flag")

FLAGS = """
module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel(%x: !pto.ptr<f32>, %n: index) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c64 = arith.constant 64 : index
    %view = pto.make_tensor_view %x, shape = [%c1, %c64], strides = [%c64, %c1] : !pto.tensor_view<1x64xf32>
    %part = pto.partition_view %view, offsets = [%c0, %c0], sizes = [%c1, %c64] : !pto.tensor_view<1x64xf32>
    %tile = pto.alloc_tile : !pto.tile_buf<vec, 1x64xf32>
    pto.tload ins(%part : !pto.partition_tensor_view<1x64xf32>) outs(%tile : !pto.tile_buf<vec, 1x64xf32>)
    {}
    pto.tabs ins(%tile : !pto.tile_buf<vec, 1x64xf32>) outs(%tile : !pto.tile_buf<vec, 1x64xf32>)
    return
  }}
}}
"""


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        (SET_DYNAMIC.format("%c3") + WAIT_DYNAMIC.format("%c3"), []),
        (SET_DYNAMIC.format("%c3") + "pto.wait_flag [<PIPE_MTE2>, <PIPE_V>, <EVENT_ID3>]", []),
        (SET_DYNAMIC.format("%c3") + WAIT_DYNAMIC.format("%c1"), ["unset-flag", "pipe-race"]),
        (SET_DYNAMIC.format("%n") + WAIT_DYNAMIC.format("%n"), []),
    ],
    ids=["known", "one known by name", "another", "unknown"],
)
def test_flags_chosen_by_numbers(body: str, codes: list[str]) -> None:
    assert [finding.code for finding in pto.check(FLAGS.format(body))] == codes


SCATTER = """
module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel(%m: !pto.ptr<f32>, %x: !pto.ptr<f32>, %by: i32)
      attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %block64 = pto.get_block_idx
    %block = arith.trunci %block64 : i64 to i32
    %first = arith.muli %block, %by : i32
    %mv = pto.make_tensor_view %m, shape = [%c1, %c256], strides = [%c256, %c1] : !pto.tensor_view<1x256xf32>
    %mp = pto.partition_view %mv, offsets = [%c0, %c0], sizes = [%c1, %c256] : !pto.tensor_view<1x256xf32>
    %xv = pto.make_tensor_view %x, shape = [%c1, %c32], strides = [%c32, %c1] : !pto.tensor_view<1x32xf32>
    %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c1, %c32] : !pto.tensor_view<1x32xf32>
    %tile = pto.alloc_tile : !pto.tile_buf<vec, 1x32xf32>
    %index = pto.alloc_tile : !pto.tile_buf<vec, 1x32xi32>
    pto.tload ins(%xp : !pto.partition_tensor_view<1x32xf32>) outs(%tile : !pto.tile_buf<vec, 1x32xf32>)
    pto.tci ins(%first : i32) outs(%index : !pto.tile_buf<vec, 1x32xi32>)
    {}
    pto.mscatter ins(%tile, %index : !pto.tile_buf<vec, 1x32xf32>, !pto.tile_buf<vec, 1x32xi32>)
                 outs(%mp : !pto.partition_tensor_view<1x256xf32>) {{coalesce = #pto<coalesce elem>}}
    return
  }}
}}
"""
DOUBLED = """pto.tadd ins(%index, %index : !pto.tile_buf<vec, 1x32xi32>, !pto.tile_buf<vec, 1x32xi32>)
      outs(%index : !pto.tile_buf<vec, 1x32xi32>)"""


@pytest.mark.parametrize(
    ("by", "changed", "codes"), [(32, "", []), (31, "", ["global-race"]), (0, "", ["global-race"]), (0, DOUBLED, [])]
)
def test_scatters_of_blocks(by: int, changed: str, codes: list[str]) -> None:
    """Two blocks scatter to elements that count on; where indices are computed, which is not known."""
    x = np.arange(32, dtype=np.float32)
    arguments = {"m": np.zeros(256, np.float32), "x": x, "by": by}
    result = pto.run(SCATTER.format(changed), blocks=2, arguments=arguments)
    assert [finding.code for finding in result.findings] == codes
