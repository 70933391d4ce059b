"""Programs in which wavelets start the tasks: the Game of Life, and attraction between all pairs of bodies.

    python bench/life.py [--size 12x12] [--generations N] [--pairs 32x32] [--repeat N] [--executor NAME] [--json FILE]

They are examples/csl/game_of_life and all_pairs, compiled for WSE-3. In the first a PE runs six tasks a generation, and
neighbors may be apart by one; in the second all pass on what they have at the same time. Both are compared with numpy.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from measuring import add_options, choose_executor, write_json
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import loomir

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "csl"
SOFTENING = 0.25
"""Of all_pairs/pe.csl."""


class Row(NamedTuple):
    """What was measured of one program: seconds of compiling, and of the fastest run."""

    program: str
    width: int
    height: int
    compiled: float
    run: float
    cycles: int
    tasks: int

    @property
    def tile_cycles(self) -> float:
        """Cycles of PEs a second."""
        return self.width * self.height * self.cycles / self.run


def simulator(name: str, *, check: bool = False, **params: int) -> tuple[loomir.Simulator, float]:
    """Return a simulator of an example, and the seconds that it took to make; with `check` it looks for races."""
    start = time.perf_counter()
    program = loomir.compile(EXAMPLES / name / "layout.csl", target="wse3", params=params)
    return loomir.Simulator(program, check=check), time.perf_counter() - start


def evolved(cells: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Return the next generation; beyond the border nothing lives."""
    around = np.pad(cells, 1)
    height, width = cells.shape
    windows = [around[y : y + height, x : x + width] for y in range(3) for x in range(3)]
    alive = np.sum(windows, axis=0)
    return ((alive == 3) | ((alive == 4) & (cells == 1))).astype(np.uint16)


def life(width: int, height: int, generations: int, repeat: int) -> Row:
    """Let random cells live on; each run goes on from the one before."""
    grid, compiled = simulator("game_of_life", width=width, height=height)
    cells = np.random.default_rng(0).integers(0, 2, (height, width)).astype(np.uint16)
    grid.set("cell", cells[:, :, None])
    times: list[float] = []
    before = tasks = 0
    for _ in range(repeat):
        before, tasks = grid.cycles, grid.stats()["task_runs"]
        start = time.perf_counter()
        grid.launch("evolve", generations)
        times.append(time.perf_counter() - start)
        for _ in range(generations):
            cells = evolved(cells)
        if not np.array_equal(grid.get("cell")[:, :, 0], cells):
            raise SystemExit(f"the engine and numpy disagree after {generations} generations")
    return Row(
        "game_of_life", width, height, compiled, min(times), grid.cycles - before,
        grid.stats()["task_runs"] - tasks,
    )  # fmt: skip


def all_pairs(width: int, height: int, repeat: int) -> Row:
    """Compute the pull on a body of each PE."""
    grid, compiled = simulator("all_pairs", width=width, height=height, bodies=1)
    given = np.random.default_rng(0).uniform(-1, 1, (height, width, 3)).astype(np.float32)
    grid.set("own", given)
    times: list[float] = []
    before = tasks = 0
    for _ in range(repeat):
        before, tasks = grid.cycles, grid.stats()["task_runs"]
        start = time.perf_counter()
        grid.launch("attract")
        times.append(time.perf_counter() - start)
    bodies = given.reshape(-1, 3).astype(np.float64)
    way = bodies[None, :, :2] - bodies[:, None, :2]
    weight = bodies[None, :, 2] / ((way**2).sum(axis=2) + SOFTENING)
    expected = (weight[:, :, None] * way).sum(axis=1)
    if not np.allclose(grid.get("pull").reshape(-1, 2), expected, atol=1e-5 * len(bodies)):
        raise SystemExit("the engine and numpy disagree on the pull")
    return Row(
        "all_pairs", width, height, compiled, min(times), grid.cycles - before,
        grid.stats()["task_runs"] - tasks,
    )  # fmt: skip


def sides(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    return int(width), int(height)


def main() -> int:
    parser = argparse.ArgumentParser(description="Programs in which wavelets start the tasks.")
    parser.add_argument("--size", type=sides, default=(12, 12), help="the grid of the Game of Life")
    parser.add_argument("--generations", type=int, default=20)
    parser.add_argument("--pairs", type=sides, default=(32, 32), help="the grid of all pairs")
    parser.add_argument("--repeat", type=int, default=2, help="the best of this many runs counts")
    add_options(parser)
    arguments = parser.parse_args()
    executor = choose_executor(arguments.executor)
    table = Table(title=f"Tasks that wavelets start, executor {executor}")
    headings = ("", "PEs", "compile, load s", "run s", "cycles (est.)", "us / cycle", "tasks", "tile-cycles / s")
    for heading in headings:
        table.add_column(heading, justify="right")
    rows = [
        life(arguments.size[0], arguments.size[1], arguments.generations, arguments.repeat),
        all_pairs(arguments.pairs[0], arguments.pairs[1], arguments.repeat),
    ]
    for row in rows:
        table.add_row(
            row.program, f"{row.width} x {row.height}", f"{row.compiled:.2f}", f"{row.run:.3f}", f"{row.cycles:,}",
            f"{1e6 * row.run / row.cycles:.1f}", f"{row.tasks:,}", f"{row.tile_cycles:.2e}",
        )  # fmt: skip
    Console(width=120).print(table)
    write_json(arguments.json, "life", [row._asdict() for row in rows])
    return 0


if __name__ == "__main__":
    sys.exit(main())
