"""Throughput of a pipe: tiles a second pushed, popped and freed, between one cube core and its vector cores.

The eight workloads on which the C++ simulator of the instruction set was measured, on two cores of a machine like this
one (g++ 12 -O2, two or three threads), with one block and with 24. Every workload first runs with a kernel that also
stores each tile it pops, and what it stored is compared with what was pushed; then the kernel without the store is
timed, by its processor time: it is one thread.

    python bench/pto.py [--blocks 1 24] [--seconds 1.0]
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from loomir.dialects import context
from loomir.dialects.ir_text import parse_ir
from loomir.host import pto


@dataclass(frozen=True)
class Workload:
    """A pipe from the cube core to the vector cores, with slots in global memory or, `local`, in the consumer's."""

    rows: int
    columns: int
    depth: int
    local: bool
    split: int
    peer: int
    """Tiles a second of the C++ simulator."""

    @property
    def name(self) -> str:
        place = "local" if self.local else "GM"
        split = "up-down, 2 vector cores" if self.split else "nosplit"
        return f"{split} f32 {self.rows}x{self.columns} depth {self.depth} {place}"


WORKLOADS = (
    Workload(16, 16, 8, False, 0, 355_000),
    Workload(16, 16, 8, True, 0, 349_000),
    Workload(16, 16, 2, False, 0, 154_000),
    Workload(64, 128, 4, False, 0, 47_400),
    Workload(64, 128, 4, True, 0, 47_400),
    Workload(128, 128, 8, False, 0, 38_900),
    Workload(16, 16, 8, False, 1, 126_000),
    Workload(128, 128, 8, False, 1, 27_400),
)


def kernels(work: Workload, *, store: bool) -> str:
    """Return the text: the cube core makes two tiles and pushes them in turn, `n` times.

    With `store` the vector cores write what they pop to `out`, one tile under the other, block by block.
    """
    rows, columns, depth = work.rows, work.columns, work.depth
    half = rows // 2 if work.split else rows
    size = rows * columns * 4

    def tile(place: str, height: int, width: int, layout: str) -> str:
        return (
            f"!pto.tile_buf<loc={place}, dtype=f32, rows={height}, cols={width}, v_row={height}, v_col={width}, "
            f"{layout}, pad=0>"
        )

    zn, nz = "blayout=col_major, slayout=row_major", "blayout=row_major, slayout=col_major"
    acc = tile("acc", rows, columns, f"{zn}, fractal=1024")
    mat_a, mat_b = tile("mat", rows, 16, f"{zn}, fractal=512"), tile("mat", 16, columns, f"{zn}, fractal=512")
    left, right = tile("left", rows, 16, f"{zn}, fractal=512"), tile("right", 16, columns, f"{nz}, fractal=512")
    vec = tile("vec", half, columns, "blayout=row_major, slayout=none_box, fractal=512")
    slots = "" if work.local else "gm_slot_buffer = %mine : !pto.ptr<f32>, "
    local = "" if work.local else ", local_slot_num = 2"
    pipe = f"{{dir_mask = 1, slot_size = {size}, slot_num = {depth}{local}}}"
    reserved = size * (depth if work.local else 2)
    mine = f"""%block = pto.get_block_idx
    %ring = arith.constant {size * depth // 4} : index
    %block_index = arith.index_cast %block : i64 to index
    %offset = arith.muli %block_index, %ring : index
    %mine = pto.addptr %slots, %offset : !pto.ptr<f32> -> !pto.ptr<f32>"""
    made = ""
    for k in range(2):
        made += f"""
    %part{k} = pto.partition_view %b_view, offsets = [%r{k}, %c0], sizes = [%c16, %columns]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x{columns}xf32>
    pto.tload ins(%part{k} : !pto.partition_tensor_view<16x{columns}xf32>) outs(%mat_b : {mat_b})
    pto.tmov ins(%mat_b : {mat_b}) outs(%right : {right})
    %t{k} = pto.alloc_tile : {acc}
    pto.tmatmul ins(%left, %right : {left}, {right}) outs(%t{k} : {acc})"""
    popped = ""
    for k in range(2):
        popped += f"\n      %v{k} = pto.tpop_from_aic {{split = {work.split}}} -> {vec}"
        if store:
            popped += f"""
      %n{k} = arith.addi %first, %k{k} : index
      %top{k} = arith.muli %n{k}, %rows : index
      %at{k} = arith.addi %top{k}, %lane_row : index
      %s{k} = pto.partition_view %view, offsets = [%at{k}, %c0], sizes = [%half, %columns]
        : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<{half}x{columns}xf32>
      pto.tstore ins(%v{k} : {vec}) outs(%s{k} : !pto.partition_tensor_view<{half}x{columns}xf32>)"""
        popped += f"\n      pto.tfree_from_aic {{split = {work.split}}}"
    lane = "pto.get_subblock_idx" if work.split else "arith.constant 0 : i64"
    return f"""module {{
  func.func @cube(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %slots: !pto.ptr<f32>, %n: index)
      attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %zero = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %rows = arith.constant {rows} : index
    %columns = arith.constant {columns} : index
    {mine}
    %fifo = pto.import_reserved_buffer {{name = "fifo", peer_func = @vector}} -> i32
    pto.aic_initialize_pipe {pipe}({slots}c2v_consumer_buf = %fifo : i32, v2c_consumer_buf = %zero : i32)
    %a_view = pto.make_tensor_view %a, shape = [%rows, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %b_view = pto.make_tensor_view %b, shape = [%c32, %columns], strides = [%columns, %c1] : !pto.tensor_view<?x?xf32>
    %a_part = pto.partition_view %a_view, offsets = [%c0, %c0], sizes = [%rows, %c16]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<{rows}x16xf32>
    %mat_a = pto.alloc_tile : {mat_a}
    %mat_b = pto.alloc_tile : {mat_b}
    %left = pto.alloc_tile : {left}
    %right = pto.alloc_tile : {right}
    pto.tload ins(%a_part : !pto.partition_tensor_view<{rows}x16xf32>) outs(%mat_a : {mat_a})
    pto.tmov ins(%mat_a : {mat_a}) outs(%left : {left})
    %r0 = arith.constant 0 : index
    %r1 = arith.constant 16 : index{made}
    scf.for %i = %c0 to %n step %c1 {{
      pto.tpush_to_aiv(%t0 : {acc}) {{split = {work.split}}}
      pto.tpush_to_aiv(%t1 : {acc}) {{split = {work.split}}}
    }}
    return
  }}
  func.func @vector(%slots: !pto.ptr<f32>, %out: !pto.ptr<f32>, %n: index)
      attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %zero = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rows = arith.constant {rows} : index
    %half = arith.constant {half} : index
    %columns = arith.constant {columns} : index
    {mine}
    %fifo = pto.reserve_buffer {{name = "fifo", size = {reserved}, location = #pto.address_space<vec>, auto = true}}
      -> i32
    pto.aiv_initialize_pipe {pipe}({slots}c2v_consumer_buf = %fifo : i32, v2c_consumer_buf = %zero : i32)
    %k0 = arith.constant 0 : index
    %k1 = arith.constant 1 : index
    %lane = {lane}
    %lane_index = arith.index_cast %lane : i64 to index
    %lane_row = arith.muli %lane_index, %half : index
    %tiles = arith.muli %n, %c2 : index
    %base = arith.muli %block_index, %tiles : index
    %all0 = arith.muli %tiles, %rows : index
    %blocks = pto.get_block_num
    %blocks_index = arith.index_cast %blocks : i64 to index
    %all = arith.muli %all0, %blocks_index : index
    %view = pto.make_tensor_view %out, shape = [%all, %columns], strides = [%columns, %c1] : !pto.tensor_view<?x?xf32>
    scf.for %i = %c0 to %n step %c1 {{
      %pair = arith.muli %i, %c2 : index
      %first = arith.addi %base, %pair : index{popped}
    }}
    return
  }}
}}
"""


def check(work: Workload, blocks: int) -> None:
    """Run with every tile stored, and compare; raises AssertionError for a wrong element or a hazard."""
    generator = np.random.default_rng(1)
    left = generator.integers(-4, 5, (work.rows, 16)).astype(np.float32)
    right = generator.integers(-4, 5, (32, work.columns)).astype(np.float32)
    rounds = work.depth + 3
    tiles = 2 * rounds * blocks
    arguments = {
        "a": left, "b": right, "n": rounds, "out": np.zeros((tiles, work.rows, work.columns), np.float32),
        "slots": np.zeros(work.rows * work.columns * work.depth * blocks, np.float32),
    }  # fmt: skip
    result = pto.launch(program(work, blocks, store=True), arguments)
    assert not result.findings, str(result.findings[0])
    expected = np.stack([left @ right[:16], left @ right[16:]])
    stored = result.arrays["out"].reshape(-1, *expected.shape)
    np.testing.assert_array_equal(stored, np.broadcast_to(expected, stored.shape))


def program(work: Workload, blocks: int, *, store: bool) -> pto.Program:
    module = parse_ir(context(), kernels(work, store=store), work.name)
    return pto.Program(module, arch="ideal", blocks=blocks)


def rate(work: Workload, blocks: int, seconds: float) -> float:
    """Return the tiles a second of processor time of the best of several runs that take about so long together."""
    lowered = program(work, blocks, store=False)
    tiles = work.rows * work.columns * work.depth * blocks
    best, rounds, spent = 0.0, 64, 0.0
    while spent < seconds:
        arguments = {
            "a": np.ones((work.rows, 16), np.float32), "b": np.ones((32, work.columns), np.float32), "n": rounds,
            "slots": np.zeros(tiles, np.float32), "out": np.zeros(1, np.float32),
        }  # fmt: skip
        machine = lowered.machine()
        bound = pto.bind_all(lowered, machine, arguments)
        pto.start(lowered, machine, bound)
        begin = time.process_time()
        machine.run()
        took = time.process_time() - begin
        spent += took
        best = max(best, 2 * rounds * blocks / took)
        if took < seconds / 8:
            rounds *= 2
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description="tiles a second through a pipe")
    parser.add_argument("--blocks", type=int, nargs="+", default=[1, 24])
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--only", type=int, help="the number of one workload")
    arguments = parser.parse_args()
    table = Table("workload", *(f"{blocks} block{'s' * (blocks > 1)}" for blocks in arguments.blocks), "C++", "ratio")
    for number, work in enumerate(WORKLOADS):
        if arguments.only is not None and number != arguments.only:
            continue
        rates: list[float] = []
        for blocks in arguments.blocks:
            check(work, blocks)
            rates.append(rate(work, blocks, arguments.seconds))
        ratios = ", ".join(f"{value / work.peer:.2f}" for value in rates)
        table.add_row(work.name, *(f"{value:,.0f}" for value in rates), f"{work.peer:,}", ratios)
    Console().print(table)


if __name__ == "__main__":
    main()
