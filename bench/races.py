"""Cost of the race check: processor time of launches of the same program with the check and without it.

    python bench/races.py [--only TEXT] [--repeat N] [--executor NAME] [--json FILE]

Both simulators are made in one process, of one thread each, and launched in turn, so that other work on the machine
slows both down alike; the best launch of each counts, and both must come to the same cycles. The host's part of a
launch, some 0.04 ms, is made small by long launches. The programs are those of the other benchmarks: `wafer.py`,
`dsd.py`, `life.py` and `scalar.py`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import dsd
import life
import numpy as np
import scalar
import wafer
from measuring import add_options, choose_executor, write_json
from rich.console import Console
from rich.table import Table

import loomir

ELEMENTS = 64
OPERATIONS = ("fmovs contiguous (f32)", "fadds strided (f32)", "fadds 4-D (f32)", "fadds circular (f32)",
              "fmovs fabric (f32)", "fmovs FIFO (f32)")  # fmt: skip
"""Cases of `dsd.py`."""


IN_FLIGHT = """
const done_id = @get_local_task_id(10);
var filled = @zeros([COUNT]f32);
const filled_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{COUNT} -> filled[i] });
task done() void {}
fn main() void {
  @fmovs(filled_dsd, in, .{ .async = true, .activate = done_id });
  for (@range(i16, ROUNDS)) |round| {
    STATEMENTS
  }
  @fmovs(out, o_dsd);
}
comptime { @bind_local_task(done, done_id); }
"""
"""A receive of other memory waits until all operations have run."""

BESIDE_HOLES = """
var held: [2 * COUNT]f32;
const held_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{COUNT} -> held[2 * i] });
var offset: i16 = 0;
fn main() void {
  @fmovs(held_dsd, a_dsd);
  for (@range(i16, ROUNDS)) |round| {
    const walk = @increment_dsd_offset(held_dsd, offset, f32);
    @fadds(walk, walk, b_dsd);
  }
  @fmovs(o_dsd, held_dsd);
}
"""
"""A walk over every second element of an array, from where a variable says; nothing ever writes those between."""


class Program(NamedTuple):
    """A program, and how it is launched."""

    name: str
    make: Callable[[bool], loomir.Simulator]
    """Returns a simulator of it, which looks for races or does not."""
    function: str
    arguments: tuple[int, ...]
    """Of a launch."""
    steps: int
    """Iterations, operations or tasks of a launch, by which its time is divided."""


def stencil(side: int, iterations: int) -> Program:
    """Return the stencil on a square of PEs."""
    example = wafer.example()

    def make(check: bool) -> loomir.Simulator:
        program = loomir.compile(wafer.program_text(example, "f32"), rectangle=(side, side))
        simulator = loomir.Simulator(program, threads=1, check=check)
        field = np.random.default_rng(0).random((side, side, 1, wafer.DEPTH), np.float32)
        simulator.set("u", np.pad(field, ((0, 0), (0, 0), (0, 1), (1, 1))))
        return simulator

    return Program(f"stencil, {side} x {side} PEs, an iteration", make, "main", (iterations,), iterations)


def operation(case: dsd.Case, rounds: int, main: str = "", how: str = "") -> Program:
    """Return an operation on 10 x 10 PEs; `main` is code that runs it in another way, and `how` says in which."""

    def make(check: bool) -> loomir.Simulator:
        simulator = dsd.simulator(case, 10, 10, ELEMENTS, rounds, check=check, main=main)
        if main:
            for name in "ab":
                values = simulator.get(name)
                simulator.set(name, np.ones(values.shape, values.dtype))
        return simulator

    return Program(f"{case.name}{how}, 10 x 10 PEs, {ELEMENTS} elements", make, "main", (), rounds)


def case_of(name: str) -> dsd.Case:
    """Return a case of `dsd.py`."""
    return next(case for case in dsd.CASES if case.name == name)


def game(side: int, generations: int) -> Program:
    """Return the Game of Life on a square of PEs."""

    def make(check: bool) -> loomir.Simulator:
        simulator, _ = life.simulator("game_of_life", check=check, width=side, height=side)
        cells = np.random.default_rng(0).integers(0, 2, (side, side, 1)).astype(np.uint16)
        simulator.set("cell", cells)
        return simulator

    return Program(f"Game of Life, {side} x {side} PEs, a generation", make, "evolve", (generations,), generations)


def pairs(side: int) -> Program:
    """Return the attraction of all pairs of bodies, on a square of PEs."""

    def make(check: bool) -> loomir.Simulator:
        simulator, _ = life.simulator("all_pairs", check=check, width=side, height=side, bodies=1)
        simulator.set("own", np.random.default_rng(0).uniform(-1, 1, (side, side, 3)).astype(np.float32))
        return simulator

    return Program(f"all pairs, {side} x {side} PEs, a launch", make, "attract", (), 1)


def scalars(side: int, wavelets: int, function: str, *trips: int) -> Program:
    """Return the loop of scalar code, or data tasks, on a square of PEs."""

    def make(check: bool) -> loomir.Simulator:
        simulator = scalar.simulator(side, side, wavelets, check=check)
        simulator.set("values", np.ones((side, side, wavelets), np.float32))
        return simulator

    name = "scalar loop, a trip" if trips else "data task"
    return Program(f"{name}, {side} x {side} PEs", make, function, trips, trips[0] if trips else wavelets)


def programs() -> list[Program]:
    """Return all rows of the table."""
    return [
        stencil(4, 1000),
        stencil(32, 20),
        *(operation(case, 500) for case in dsd.CASES if case.name in OPERATIONS),
        operation(case_of("fadds circular (f32)"), 500, IN_FLIGHT, " beside a receive"),
        operation(case_of("fadds strided (f32)"), 500, IN_FLIGHT, " beside a receive"),
        operation(case_of("fadds strided (f32)"), 500, BESIDE_HOLES, " at an offset beside holes"),
        game(32, 20),
        pairs(16),
        scalars(1, 1000, "loop", 100_000),
        scalars(10, 1000, "send"),
    ]


def measure(program: Program, repeat: int) -> tuple[float, float]:
    """Return the seconds of a step of a run that does not look for races, and of one that does."""
    simulators = [program.make(check) for check in (False, True)]
    best = [float("inf")] * 2
    for k in range(repeat + 1):
        for which, simulator in enumerate(simulators):
            start = time.process_time()
            simulator.launch(program.function, *program.arguments)
            spent = time.process_time() - start
            if k > 0:  # the first warms up
                best[which] = min(best[which], spent / program.steps)
    if simulators[0].cycles != simulators[1].cycles:
        raise SystemExit(f"{program.name}: a run that looks for races takes {simulators[1].cycles} cycles, "
                         f"one that does not {simulators[0].cycles}")  # fmt: skip
    return best[0], best[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="programs whose name contains TEXT")
    parser.add_argument("--repeat", type=int, default=25, metavar="N", help="the best of so many launches counts")
    add_options(parser)
    arguments = parser.parse_args()
    executor = choose_executor(arguments.executor)
    table = Table(title=f"What looking for races costs, processor time of launches, {executor}")
    for heading in ("program", "without, us", "with, us", "times"):
        table.add_column(heading, justify="left" if heading == "program" else "right")
    rows: list[dict[str, object]] = []
    for program in programs():
        if arguments.only in program.name:
            without, with_check = measure(program, arguments.repeat)
            ratio = with_check / without
            table.add_row(program.name, f"{1e6 * without:,.3g}", f"{1e6 * with_check:,.3g}", f"{ratio:.2f}")
            rows.append({"program": program.name, "without": without, "with": with_check, "ratio": ratio})
    Console(width=120).print(table)
    write_json(arguments.json, "races", rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
