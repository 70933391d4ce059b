"""How time grows: with the PEs, from 16 to a whole wafer, and with wavelets, tasks and threads; as tables and a plot.

    python bench/scaling.py [--largest 16|256|4096|65536|893064] [--repeat N] [--plot FILE.svg] [--executor NAME]
        [--json FILE]

In step: the stencil example, where all PEs do the same at the same time. Data tasks: every PE is started by each of its
wavelets. Apart: the Game of Life, where neighbors are ahead of each other. Tile-cycles a second are PEs times cycles
(the engine's estimate) by seconds; beside them what is published of the vendor's simulator, 0.2 to 1.4 million. The
exponent describes the growth from one row to the next: 1 is linear. The plot needs matplotlib.
"""

# matplotlib is an extra, and may be absent where types are checked.
# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple, cast

import life
import numpy as np
import scalar
import wafer
from measuring import add_options, choose_executor, write_json
from rich.console import Console
from rich.table import Table

GRIDS = ((4, 4), (16, 16), (64, 64), (256, 256), (762, 1172))
WAVELETS = (100, 300, 1000, 3000)
TASKS = (100, 1000, 10_000)
VENDOR = (0.2e6, 1.4e6)
"""Tile-cycles a second that are published of the vendor's simulator, for small programs."""
THREADS = "LOOM_THREADS"
"""Environment variable: the threads of an executor that has some."""


class Point(NamedTuple):
    """One measurement."""

    series: str
    size: int
    """PEs, wavelets, tasks or threads."""
    seconds: float
    tile_cycles: float
    """A second."""


def in_step(width: int, height: int, repeat: int) -> Point:
    """Measure ten iterations of the stencil."""
    row = wafer.measure(wafer.example(), width, height, 10, repeat)
    return Point("stencil, in step", width * height, row.engine, row.tile_cycles)


def tasks(name: str, size: int, width: int, height: int, wavelets: int, repeat: int) -> Point:
    """Measure data tasks, one for each of some wavelets of every PE."""
    grid = scalar.simulator(width, height, wavelets)
    values = np.ones((height, width, wavelets), np.float32)
    grid.set("values", values)
    times: list[float] = []
    cycles = 0
    for _ in range(repeat + 1):
        before = grid.cycles
        start = time.perf_counter()
        grid.launch("send")
        times.append(time.perf_counter() - start)
        cycles = grid.cycles - before
    seconds = min(times[1:])
    return Point(name, size, seconds, width * height * cycles / seconds)


def apart(width: int, height: int, repeat: int) -> Point:
    """Measure five generations of the Game of Life."""
    row = life.life(width, height, 5, repeat)
    return Point("Game of Life, apart", width * height, row.run, row.tile_cycles)


def measured(largest: int, repeat: int) -> list[list[Point]]:
    """Return the series, each from small to large."""
    grids = [grid for grid in GRIDS if math.prod(grid) <= largest]
    return [
        [in_step(width, height, repeat) for width, height in grids],
        [tasks("data tasks, by PEs", width * height, width, height, 100, repeat) for width, height in grids],
        [apart(width, height, repeat) for width, height in grids],
        [tasks("data tasks, by wavelets of 32 x 32 PEs", count, 32, 32, count, repeat) for count in WAVELETS],
        [tasks("data tasks of one PE, by tasks", count, 1, 1, count, repeat) for count in TASKS],
        [with_threads(count, repeat) for count in range(1, 1 + (os.cpu_count() or 1))],
    ]


def with_threads(count: int, repeat: int) -> Point:
    """Measure the stencil on 256 x 256 PEs with so many threads."""
    os.environ[THREADS] = str(count)
    try:
        return in_step(256, 256, repeat)._replace(series="stencil, 256 x 256, by threads", size=count)
    finally:
        del os.environ[THREADS]


def plot(path: Path, series: list[list[Point]], executor: str) -> None:
    """Draw tile-cycles a second by size, both logarithmic."""
    try:
        from matplotlib import figure
    except ImportError:
        raise SystemExit("error: --plot needs matplotlib; install it, or leave --plot out") from None
    drawing = figure.Figure(figsize=(8, 5))
    axes = cast("Any", drawing.add_subplot())
    for points in series:
        axes.plot(
            [point.size for point in points], [point.tile_cycles for point in points], "o-", label=points[0].series
        )
    axes.axhspan(*VENDOR, alpha=0.2, color="gray", label="the vendor's simulator, published")
    axes.set(
        xscale="log", yscale="log", xlabel="PEs, wavelets, tasks or threads", ylabel="tile-cycles / s", title=executor
    )
    axes.legend(fontsize="small")
    cast("Any", drawing).savefig(path)


def main() -> int:
    parser = argparse.ArgumentParser(description="How time grows with PEs, wavelets, tasks and threads.")
    parser.add_argument("--largest", type=int, default=893_064, metavar="PES", help="the largest grid")
    parser.add_argument("--repeat", type=int, default=2, help="the best of this many runs counts")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the series there")
    add_options(parser)
    arguments = parser.parse_args()
    executor = choose_executor(arguments.executor)
    series = measured(arguments.largest, arguments.repeat)
    table = Table(
        title=f"Executor {executor}; the vendor's simulator: {VENDOR[0]:.1e} to {VENDOR[1]:.1e} tile-cycles / s"
    )
    for heading in ("", "size", "seconds", "exponent", "tile-cycles / s", "times the vendor's"):
        table.add_column(heading, justify="right" if heading else "left")
    for points in series:
        for number, point in enumerate(points):
            last = points[number - 1] if number else None
            grown = math.log(point.seconds / last.seconds) / math.log(point.size / last.size) if last else math.nan
            table.add_row(
                "" if last else point.series, f"{point.size:,}", f"{point.seconds:.4f}", f"{grown:.2f}" if last else "",
                f"{point.tile_cycles:.2e}", f"{point.tile_cycles / VENDOR[1]:.2g}",
            )  # fmt: skip
        table.add_section()
    Console(width=120).print(table)
    if arguments.plot is not None:
        plot(arguments.plot, series, executor)
    write_json(arguments.json, "scaling", [point._asdict() for points in series for point in points])
    return 0


if __name__ == "__main__":
    sys.exit(main())
