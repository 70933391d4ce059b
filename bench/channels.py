"""Cost of a channel entry: the same tiles through a FIFO of a PE, from PE to PE through queues, and through a PTO pipe.

Wafer channels carry time-stamped data for units that may all differ; those between cores count entries of blocks in
step. Each way hands over tiles of f32, one after the other, on one row of the grid and on 24; every one is compared.

    python bench/channels.py [--tiles N] [--repeat N]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pto as pipes
from rich.console import Console
from rich.table import Table

import loomir

SIDES = (16, 32)
"""Rows and columns of the tiles; three of the largest fit into a PE's memory."""
DEPTH = 4
ROWS = (1, 24)

FIFO = """
wse.program @fifo target "wse3" rectangle 1 x 1 {
  wse.pe @pe on [:, :] {
    wse.buffer @slots : memref<SLOTSxf32>
    wse.buffer @from : memref<SIZExf32>
    wse.buffer @to : memref<SIZExf32>
    wse.export @from
    wse.export @to
    wse.export @main
    wse.fifo @fifo on @slots
    wse.func @main(%n: i32) {
      %from = wse.get_buffer @from : memref<SIZExf32>
      %to = wse.get_buffer @to : memref<SIZExf32>
      %f = dsd.fifo @fifo : !dsd.fifo<f32>
      %x = dsd.mem1d %from extent SIZE : memref<SIZExf32>
      %y = dsd.mem1d %to extent SIZE : memref<SIZExf32>
      LOOP
        dsd.fmovs %f, %x : !dsd.fifo<f32>, !dsd.mem1d<f32>
        dsd.fmovs %y, %f : !dsd.mem1d<f32>, !dsd.fifo<f32>
      }
      wse.return
    }
  }
}
"""

QUEUE = """
wse.program @queue target "wse3" rectangle 2 x 1 {
  wse.color @east
  wse.route @east on [0, :] from [ramp] to [east]
  wse.route @east on [1, :] from [west] to [ramp]
  wse.pe @left on [0, :] {
    wse.buffer @from : memref<SIZExf32>
    wse.output_queue @out color @east
    wse.export @from
    wse.export @main
    wse.func @main(%n: i32) {
      %from = wse.get_buffer @from : memref<SIZExf32>
      %x = dsd.mem1d %from extent SIZE : memref<SIZExf32>
      %o = dsd.fabout @out extent SIZE : !dsd.fabout<f32>
      LOOP
        dsd.fmovs %o, %x : !dsd.fabout<f32>, !dsd.mem1d<f32>
      }
      wse.return
    }
  }
  wse.pe @right on [1, :] {
    wse.buffer @to : memref<SIZExf32>
    wse.input_queue @in color @east
    wse.export @to
    wse.export @main
    wse.func @main(%n: i32) {
      %to = wse.get_buffer @to : memref<SIZExf32>
      %y = dsd.mem1d %to extent SIZE : memref<SIZExf32>
      %i = dsd.fabin @in extent SIZE : !dsd.fabin<f32>
      LOOP
        dsd.fmovs %y, %i : !dsd.mem1d<f32>, !dsd.fabin<f32>
      }
      wse.return
    }
  }
}
"""

LOOP = """%to_n = arith.index_cast %n : i32 to index
      %first = arith.constant 0 : index
      %step = arith.constant 1 : index
      scf.for %k = %first to %to_n step %step {"""


def wafer(text: str, width: int, side: int, rows: int, tiles: int, repeat: int) -> float:
    """Return the microseconds a tile of each row takes, at best. Raises AssertionError for a wrong element."""
    size = side * side
    text = text.replace("LOOP", LOOP).replace("SLOTS", str(DEPTH * size)).replace("SIZE", str(size))
    simulator = loomir.Simulator(loomir.compile(text, rectangle=(width, rows)), check=False)
    given = np.random.default_rng(1).random((rows, width, size), np.float32)
    simulator.set("from", given)
    best = float("inf")
    for _ in range(repeat):
        begin = time.perf_counter()
        simulator.launch("main", tiles)
        best = min(best, time.perf_counter() - begin)
    np.testing.assert_array_equal(simulator.get("to")[:, -1], given[:, 0])
    return 1e6 * best / (tiles * rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="what an entry costs, by the kind of channel")
    parser.add_argument("--tiles", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    table = Table("microseconds a tile", *(f"{n} row{'s' * (n > 1)}" for n in ROWS))
    for side in SIDES:
        times: dict[str, list[float]] = {"FIFO of a PE": [], "queues, PE to PE": [], "pipe, cube to vector core": []}
        for rows in ROWS:
            shared = (side, rows, arguments.tiles, arguments.repeat)
            times["FIFO of a PE"].append(wafer(FIFO, 1, *shared))
            times["queues, PE to PE"].append(wafer(QUEUE, 2, *shared))
            work = pipes.Workload(side, side, DEPTH, False, 0, 1)
            pipes.check(work, rows)
            times["pipe, cube to vector core"].append(1e6 / pipes.rate(work, rows, arguments.repeat / 4))
        for name, row in times.items():
            table.add_row(f"{side} x {side}: {name}", *(f"{value:.2f}" for value in row))
    Console().print(table)


if __name__ == "__main__":
    main()
