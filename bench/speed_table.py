"""The engine's speed in one table: a row for each kind of work, a column for each executor, and what is wanted.

    python bench/speed_table.py [--executor NAME ...] [--only TEXT] [--large] [--json FILE]

All rows run our own programs through the public interface and check their results, in one run after the other; the
other benchmarks of this folder show each kind of work in detail. `--large` adds the whole wafer. A row that an executor
cannot run yet shows why. Times are compared on an idle machine only.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import life
import scalar
import wafer
from measuring import choose_executor
from rich.console import Console
from rich.table import Table

import loomir
from loomir.runtime.executors import EXECUTOR, EXECUTORS, chosen

REPEAT = 3


class Work(NamedTuple):
    """A row of the table."""

    name: str
    unit: str
    wanted: float
    measure: Callable[[], float]
    """Returns the result in the unit."""
    is_large: bool = False


def iteration(width: int, height: int) -> float:
    """Return the milliseconds of an iteration of the stencil."""
    row = wafer.measure(wafer.example(), width, height, 10, REPEAT)
    return 1e3 * row.engine / row.iterations


def ratio(width: int, height: int, kind: str = "f32") -> float:
    """Return the time of the stencil beside that of numpy."""
    return wafer.measure(wafer.example(), width, height, 10, REPEAT, kind).ratio


def pairs() -> float:
    """Return the microseconds of a simulated cycle of all pairs."""
    row = life.all_pairs(32, 32, 1)
    return 1e6 * row.run / row.cycles


def one_operation() -> float:
    """Return the nanoseconds of a scalar operation in a loop of one PE."""
    return 1e9 * scalar.loop_seconds(scalar.simulator(1, 1, 1), 10_000, REPEAT)


def one_task(side: int) -> float:
    """Return the nanoseconds of a data task and PE on a square of PEs."""
    return 1e9 * scalar.task_seconds(side, side, 1000, REPEAT) / side**2


def processor(which: int) -> float:
    """Return the processor seconds, user and system, of `cslc` (0) or the run (1) of a small program.

    Python has compiled the modules by a run before, as it has for a user.
    """
    spent: list[float] = []
    with tempfile.TemporaryDirectory() as directory:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = directory
        folder = Path(directory) / "axpy"
        shutil.copytree(life.EXAMPLES / "axpy", folder, ignore=shutil.ignore_patterns("out"))
        text = (folder / "commands_wse3.sh").read_text().replace("\\\n", " ")
        lines = [line.split() for line in text.splitlines() if line.startswith(("cslc ", "cs_python "))]
        for tool, *arguments in lines[: which + 1]:
            command = {"cslc": "cslc", "cs_python": "python"}[tool]
            times = [os.times()]
            for _ in range(2):
                subprocess.run(
                    [sys.executable, "-P", "-m", "loomir.tools.loom", command, *arguments],
                    cwd=folder, check=True, capture_output=True, env=environment,
                )  # fmt: skip
                times.append(os.times())
            spent.append(sum(times[2][2:4]) - sum(times[1][2:4]))
    return spent[which]


WORK = [
    Work("Game of Life, 12 x 12, 20 generations", "s", 0.03, lambda: life.life(12, 12, 20, REPEAT).run),
    Work("all pairs, 32 x 32, a simulated cycle", "us", 5, pairs),
    Work("stencil 4 x 4, an iteration", "ms", 0.008, lambda: iteration(4, 4)),
    Work("stencil 32 x 32, an iteration", "ms", 0.4, lambda: iteration(32, 32)),
    Work("stencil 128 x 128, beside numpy", "x", 0.7, lambda: ratio(128, 128)),
    Work("stencil 128 x 128 of f16, beside numpy", "x", 0.3, lambda: ratio(128, 128, "f16")),
    Work("stencil 762 x 1172, beside numpy", "x", 1.2, lambda: ratio(762, 1172), is_large=True),
    Work("scalar operation, one PE", "ns", 3, one_operation),
    Work("data task of 6 operations, one PE", "ns", 60, lambda: one_task(1)),
    Work("data task of 6 operations, 100 x 100, per PE", "ns", 25, lambda: one_task(100)),
    Work("a small program: cslc, processor", "s", 0.8, lambda: processor(0)),
    Work("a small program: run, processor", "s", 0.3, lambda: processor(1)),
]


def main() -> int:
    parser = argparse.ArgumentParser(description="The engine's speed in one table.")
    parser.add_argument("--executor", nargs="+", choices=list(EXECUTORS), help=f"by default what {EXECUTOR} names")
    parser.add_argument("--only", default="", metavar="TEXT", help="the rows whose name contains it")
    parser.add_argument("--large", action="store_true", help="the whole wafer too: some minutes and 3 GiB")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    arguments = parser.parse_args()
    executors = arguments.executor or [chosen()]
    table = Table(title="Speed of the engine")
    for heading in ("work", "unit", *executors, "wanted"):
        table.add_column(heading, justify="left" if heading == "work" else "right")
    found: list[dict[str, object]] = []
    for work in WORK:
        if arguments.only not in work.name or (work.is_large and not arguments.large):
            continue
        results: dict[str, float | str] = {}
        for executor in executors:
            choose_executor(executor)
            try:
                results[executor] = work.measure()
            except loomir.LoomError as error:
                results[executor] = f"({error.message})"
        shown = [text if isinstance(text, str) else f"{text:.3g}" for text in results.values()]
        table.add_row(work.name, work.unit, *shown, f"{work.wanted:g}")
        found.append({"work": work.name, "unit": work.unit, "wanted": work.wanted, **results})
    Console(width=120).print(table)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
