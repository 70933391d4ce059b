"""Control signals to the cube core (PTO-021), end to end: examples/pto/control_signal.pto and smaller programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from loomir.dialects import context
from loomir.dialects.ir_text import parse_ir
from loomir.host import pto
from loomir.operations.pipe_protocol import Behavior

EXAMPLE = Path(__file__).parents[3] / "examples" / "pto" / "control_signal.pto"
ARCHS: tuple[Behavior, ...] = ("ideal", "a2a3", "a5")
SIZE = 16


def chains(stays: list[float]) -> tuple[Any, Any]:
    """For each block, rows that sum to 1, and a matrix by which they come to rest the later, the more stays."""
    random = np.random.default_rng(7)
    p, t = (random.uniform(0, 1, (len(stays), SIZE, SIZE)) for _ in range(2))
    p, t = (array / array.sum(2, keepdims=True) for array in (p, t))
    stay = np.array(stays)[:, None, None]
    return p.astype(np.float32), (stay * np.eye(SIZE) + (1 - stay) * t).astype(np.float32)


def at_rest(p: Any, t: Any) -> tuple[Any, int]:
    """What is left of `p` when no element changes by more than 0.001, and after how many rounds."""
    rounds = 0
    while True:
        before, p = p, p @ t
        rounds += 1
        if np.abs(p - before).max() <= np.float32(0.001):
            return p, rounds


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("stays", [[0.6], [0.3, 0.9, 0.7]], ids=["one block", "three blocks"])
def test_the_vector_core_ends_the_loop_of_the_cube_core(arch: Behavior, stays: list[float]) -> None:
    """PTO-021: as many rounds as the data of each block need."""
    blocks = len(stays)
    p, t = chains(stays)
    expected = [at_rest(*pair) for pair in zip(p, t, strict=True)]
    assert len({rounds for _, rounds in expected}) == blocks, "blocks go on for different times"
    arguments = {
        "p": p.reshape(-1, SIZE),
        "t": t.reshape(-1, SIZE),
        "out": np.zeros((blocks * SIZE, SIZE), np.float32),
        "change": np.zeros(blocks * SIZE, np.float32),
        "rounds": np.zeros(blocks, np.int32),
        "slots": np.zeros(blocks * 4 * SIZE * SIZE, np.float32),
    }
    result = pto.run(EXAMPLE, arch=arch, blocks=blocks, arguments=arguments)
    assert result.arrays["rounds"].tolist() == [rounds for _, rounds in expected]
    np.testing.assert_allclose(result.arrays["out"], np.vstack([rest for rest, _ in expected]), 1e-5)
    assert [finding for finding in result.findings if arch != "a5" or finding.severity == "error"] == []


def signals(count: int, slots: int, *, mixed: bool) -> ModuleOp:
    """Every element of `values` above 0 makes a signal, which the cube core notes; `mixed`, tiles go between them."""
    tile = "!pto.tile_buf<%s, 16x16xf32>"
    opened = (
        f"{{dir_mask = 2, slot_size = 1024, slot_num = {slots}}}"
        "(gm_slot_buffer = %own : !pto.ptr<f32>, v2c_consumer_buf = %fifo : i32)"
    )
    push = f"pto.tpush_to_aic(%tile : {tile % 'vec'}) {{id = 0, split = 0}}" if mixed else ""
    pop = (
        f"%got = pto.tpop_from_aiv {{id = 0, split = 0}} -> {tile % 'mat'}\npto.tfree_from_aiv {{split = 0}}"
        if mixed
        else ""
    )
    attributes = "attributes {pto.kernel_kind = #pto.kernel_kind<%s>}"
    reserved = f'name = "fifo", size = {slots * 1024}, location = #pto.address_space<mat>, auto = true'
    start = f"""
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %count = arith.constant {count} : index
      %slot_words = arith.constant {slots * 256} : index
      %block = pto.get_block_idx
      %block_index = arith.index_cast %block : i64 to index
      %first = arith.muli %block_index, %count : index
      %first_slot = arith.muli %block_index, %slot_words : index
      %own = pto.addptr %slots, %first_slot : <f32> -> <f32>"""
    text = f"""
    func.func @cube(%slots: !pto.ptr<f32>, %out: !pto.ptr<i32>) {attributes % "cube"} {{
      {start}
      %yes = arith.constant 10 : i32
      %no = arith.constant 20 : i32
      %fifo = pto.reserve_buffer {{{reserved}}} -> i32
      pto.aic_initialize_pipe {opened}
      scf.for %i = %c0 to %count step %c1 {{
        %signal = pto.tpop_signal_from_aiv {{id = 0}} -> i1
        pto.tfree_from_aiv {{id = 0, split = 0}}
        {pop}
        %place = arith.addi %first, %i : index
        %word = arith.select %signal, %yes, %no : i32
        pto.store_scalar %word, %out[%place] : !pto.ptr<i32>, i32
      }}
      return
    }}
    func.func @vector(%slots: !pto.ptr<f32>, %values: !pto.ptr<f32>) {attributes % "vector"} {{
      {start}
      %zero = arith.constant 0.0 : f32
      %fifo = pto.import_reserved_buffer {{name = "fifo", peer_func = @cube}} -> i32
      pto.aiv_initialize_pipe {opened}
      %tile = pto.alloc_tile : {tile % "vec"}
      scf.for %i = %c0 to %count step %c1 {{
        %place = arith.addi %first, %i : index
        %value = pto.load_scalar %values[%place] : !pto.ptr<f32> -> f32
        %signal = arith.cmpf ogt, %value, %zero : f32
        pto.tpush_signal_to_aic(%signal : i1) {{id = 0}}
        {push}
      }}
      return
    }}"""
    return parse_ir(context(), text, "signals.pto")


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize(("slots", "mixed"), [(1, False), (2, True), (3, False), (8, True)])
def test_every_signal_arrives_in_order(arch: Behavior, blocks: int, slots: int, mixed: bool) -> None:
    """PTO-021: the cube core gets what the vector cores said, also between tiles."""
    count = 13
    values = np.random.default_rng(slots).uniform(-1, 1, blocks * count).astype(np.float32)
    arguments = {
        "values": values,
        "out": np.zeros(blocks * count, np.int32),
        "slots": np.zeros(blocks * slots * 256, np.float32),
    }
    result = pto.run(signals(count, slots, mixed=mixed), arch=arch, blocks=blocks, arguments=arguments)
    assert result.arrays["out"].tolist() == [10 if value > 0 else 20 for value in values]
    assert [finding for finding in result.findings if arch != "a5" or finding.severity == "error"] == []


@pytest.mark.slow
def test_only_one_is_true() -> None:
    """PTO-021: a word that is neither 0 nor 1 is false, as of a tile that was taken for a signal."""
    program = parse_ir(
        context(),
        """
        func.func @cube(%slots: !pto.ptr<i32>, %out: !pto.ptr<i32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c4 = arith.constant 4 : index
          %fifo = pto.reserve_buffer {name = "fifo", size = 128, location = #pto.address_space<mat>, auto = true} -> i32
          pto.aic_initialize_pipe {dir_mask = 2, slot_size = 32, slot_num = 4}(gm_slot_buffer = %slots : !pto.ptr<i32>, v2c_consumer_buf = %fifo : i32)
          scf.for %i = %c0 to %c4 step %c1 {
            %signal = pto.tpop_signal_from_aiv {} -> i1
            pto.tfree_from_aiv {split = 0}
            %word = arith.extui %signal : i1 to i32
            pto.store_scalar %word, %out[%i] : !pto.ptr<i32>, i32
          }
          return
        }
        func.func @vector(%slots: !pto.ptr<i32>, %words: !pto.ptr<i32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c4 = arith.constant 4 : index
          %c8 = arith.constant 8 : index
          %fifo = pto.import_reserved_buffer {name = "fifo", peer_func = @cube} -> i32
          pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 32, slot_num = 4}(gm_slot_buffer = %slots : !pto.ptr<i32>, v2c_consumer_buf = %fifo : i32)
          %tile = pto.alloc_tile : !pto.tile_buf<vec, 1x8xi32>
          %view = pto.make_tensor_view %words, shape = [%c4, %c8], strides = [%c8, %c1] : !pto.tensor_view<4x8xi32>
          scf.for %i = %c0 to %c4 step %c1 {
            %part = pto.partition_view %view, offsets = [%i, %c0], sizes = [%c1, %c8] : !pto.tensor_view<4x8xi32> -> !pto.partition_tensor_view<1x8xi32>
            pto.tload ins(%part : !pto.partition_tensor_view<1x8xi32>) outs(%tile : !pto.tile_buf<vec, 1x8xi32>)
            pto.tpush_to_aic(%tile : !pto.tile_buf<vec, 1x8xi32>) {split = 0}
          }
          return
        }""",  # noqa: E501
        "words.pto",
    )
    words = np.ones((4, 8), np.int32)
    words[:, 0] = [1, 2, -1, 0]
    for arch in ARCHS:
        arguments = {"words": words, "out": np.zeros(4, np.int32), "slots": np.zeros(32, np.int32)}
        assert pto.run(program, arch=arch, arguments=arguments).arrays["out"].tolist() == [1, 0, 0, 0]
