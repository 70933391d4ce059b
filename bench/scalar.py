"""Scalar code: a loop on one PE beside xDSL's interpreter, and wavelet-triggered tasks on one PE and on many.

    python bench/scalar.py [--trips N] [--wavelets N] [--repeat N] [--executor NAME] [--json FILE]

The loop is the same four operations a trip for both interpreters (three additions or multiplications of i32 and
the loop itself); both results are compared. A data task adds its wavelet to a float32 and counts it: two loads, two
additions, two stores.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from measuring import add_options, best, choose_executor, write_json
from rich.console import Console
from rich.table import Table
from xdsl.context import Context
from xdsl.dialects import arith, builtin, func, scf
from xdsl.interpreter import Interpreter
from xdsl.interpreters.arith import ArithFunctions
from xdsl.interpreters.func import FuncFunctions
from xdsl.interpreters.scf import ScfFunctions
from xdsl.parser import Parser

import loomir

OPERATIONS_PER_TRIP = 4
OPERATIONS_PER_TASK = 6

LOOP = """
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %three = arith.constant 3 : i32
      %from = arith.constant 0 : index
      %step = arith.constant 1 : index
      %r = scf.for %i = %from to %to step %step iter_args(%a = %zero) -> (i32) {
        %b = arith.addi %a, %one : i32
        %c = arith.muli %b, %three : i32
        %d = arith.subi %c, %one : i32
        scf.yield %d : i32
      }
"""

PROGRAM = """
wse.program @scalar target "wse3" rectangle 1 x 1 {
  wse.color @loopback
  wse.route @loopback on [:, :] from [ramp] to [ramp]
  wse.pe @pe on [:, :] {
    wse.buffer @values : memref<WAVELETSxf32>
    wse.buffer @sum : memref<f32>
    wse.buffer @count : memref<i32>
    wse.export @values
    wse.export @sum
    wse.export @count
    wse.export @loop
    wse.export @send
    wse.input_queue @in color @loopback
    wse.output_queue @out color @loopback
    wse.func @loop(%n: i32) {
      %to = arith.index_cast %n : i32 to index
      LOOP
      %count = wse.get_buffer @count : memref<i32>
      memref.store %r, %count[] : memref<i32>
      wse.return
    }
    wse.func @send() {
      %values = wse.get_buffer @values : memref<WAVELETSxf32>
      %from = dsd.mem1d %values extent WAVELETS : memref<WAVELETSxf32>
      %to = dsd.fabout @out extent WAVELETS : !dsd.fabout<f32>
      dsd.fmovs %to, %from async : !dsd.fabout<f32>, !dsd.mem1d<f32>
      wse.return
    }
    wse.task @receive data @in (%value: f32) {
      %sum = wse.get_buffer @sum : memref<f32>
      %count = wse.get_buffer @count : memref<i32>
      %old = memref.load %sum[] : memref<f32>
      %new = arith.addf %old, %value : f32
      memref.store %new, %sum[] : memref<f32>
      %n = memref.load %count[] : memref<i32>
      %one = arith.constant 1 : i32
      %next = arith.addi %n, %one : i32
      memref.store %next, %count[] : memref<i32>
      wse.return
    }
  }
}
"""


def simulator(width: int, height: int, wavelets: int, *, check: bool = False) -> loomir.Simulator:
    """Return a simulator of the loop and the data task; with `check` it looks for races."""
    text = PROGRAM.replace("LOOP", LOOP).replace("WAVELETS", str(wavelets))
    return loomir.Simulator(loomir.compile(text, rectangle=(width, height)), check=check)


def loop_seconds(simulator: loomir.Simulator, trips: int, repeat: int) -> float:
    """Return the seconds of an operation of the loop."""
    return best(repeat, lambda: simulator.launch("loop", trips)) / trips / OPERATIONS_PER_TRIP


def task_seconds(width: int, height: int, wavelets: int, repeat: int) -> float:
    """Return the seconds of a data task on all PEs together, after it has checked the sums."""
    grid = simulator(width, height, wavelets)
    values = np.random.default_rng(0).integers(0, 100, (height, width, wavelets)).astype(np.float32)
    grid.set("values", values)
    spent = best(repeat, lambda: grid.launch("send"))
    if not np.array_equal(grid.get("sum"), values.sum(axis=2) * (repeat + 1)):
        raise SystemExit("the sums are wrong")
    return spent / wavelets


def upstream(trips: int) -> tuple[float, int]:
    """Return seconds and result of the loop in xDSL's interpreter."""
    context = Context()
    for dialect in (builtin.Builtin, arith.Arith, func.Func, scf.Scf):
        context.load_dialect(dialect)
    text = f"func.func @loop(%to: index) -> i32 {{ {LOOP} func.return %r : i32 }}"
    interpreter = Interpreter(Parser(context, text).parse_module())
    for functions in (ArithFunctions(), FuncFunctions(), ScfFunctions()):
        interpreter.register_implementations(functions)
    result: list[int] = []
    seconds = best(1, lambda: result.append(interpreter.call_op("loop", (trips,))[0]))
    return seconds, result[-1]


def main() -> int:
    parser = argparse.ArgumentParser(description="Scalar code and wavelet-triggered tasks.")
    parser.add_argument("--trips", type=int, default=10000)
    parser.add_argument("--wavelets", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=5)
    add_options(parser)
    arguments = parser.parse_args()
    choose_executor(arguments.executor)
    trips, wavelets = arguments.trips, arguments.wavelets

    one = simulator(1, 1, wavelets)
    seconds = loop_seconds(one, trips, arguments.repeat) * trips * OPERATIONS_PER_TRIP
    theirs, expected = upstream(trips)
    got = int(one.get("count").ravel()[0])
    if got != (expected + (1 << 31)) % (1 << 32) - (1 << 31):
        raise SystemExit(f"the engine computes {got}, xDSL's interpreter {expected}")
    table = Table(title=f"A loop of {trips} trips, {OPERATIONS_PER_TRIP} operations each, on one PE")
    for heading in ("", "ns / operation", "operations / s", "times xDSL"):
        table.add_column(heading, justify="right")
    for name, spent in (("xDSL's interpreter", theirs), ("this engine", seconds)):
        per = spent / trips / OPERATIONS_PER_TRIP
        table.add_row(name, f"{1e9 * per:.0f}", f"{1 / per:.2e}", f"{theirs / spent:.0f}")
    Console(width=100).print(table)

    table = Table(title=f"Data tasks, {wavelets} wavelets per PE, {OPERATIONS_PER_TASK} operations each")
    for heading in ("PEs", "us / step of all", "ns / task and PE", "tasks / s"):
        table.add_column(heading, justify="right")
    rows: list[dict[str, float]] = [{"seconds_per_operation": seconds / trips / OPERATIONS_PER_TRIP}]
    for width, height in ((1, 1), (4, 4), (32, 32), (100, 100)):
        step = task_seconds(width, height, wavelets, arguments.repeat)
        rows.append({"width": width, "height": height, "seconds_per_task": step / width / height})
        table.add_row(
            f"{width} x {height}", f"{1e6 * step:.2f}", f"{1e9 * step / width / height:.1f}",
            f"{width * height / step:.2e}",
        )  # fmt: skip
    Console(width=100).print(table)
    write_json(arguments.json, "scalar", rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
