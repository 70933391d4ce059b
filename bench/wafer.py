"""The stencil example at the scale of a whole wafer, against numpy by hand.

    python bench/wafer.py [--sizes 4x4,32x32,128x128,762x1172] [--iterations N] [--repeat N]

Both sides do the same float32 arithmetic in the same run, on random data, warmed up, and must agree bit for bit.
The numpy program is what one would write for speed: one row of PEs at a time, so that operands stay in cache, laid
out [row, depth, column] so that every operation runs over contiguous columns. It exchanges no halos: it reads its
neighbors' rows where they are. Cycles are the engine's estimate.
"""

from __future__ import annotations

import argparse
import importlib.util
import resource
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np
from rich.console import Console
from rich.table import Table

import loomir

DEPTH = 64
WARM_UP = 2


def example() -> ModuleType:
    """Return the stencil example's host script."""
    path = Path(__file__).resolve().parent.parent / "examples" / "stencil" / "run.py"
    spec = importlib.util.spec_from_file_location("stencil_example", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class ByHand:
    """The stencil in cache-blocked numpy on [height, depth, width]."""

    def __init__(self, stencil: ModuleType, field: np.ndarray):
        self.factors = (stencil.ALONG_Z, stencil.ALONG_X, stencil.ALONG_Y)
        self.center = stencil.CENTER
        height, width, depth = field.shape
        self.old = np.zeros((height + 2, depth + 2, width + 2), np.float32)
        for y in range(height):
            self.old[y + 1, 1:-1, 1:-1] = field[y].T
        self.new = np.zeros_like(self.old)
        self.product = np.empty((depth, width), np.float32)

    def iterate(self, count: int) -> None:
        """Do `count` iterations."""
        along_z, along_x, along_y = self.factors
        product = self.product
        for _ in range(count):
            old, new = self.old, self.new
            for y in range(1, len(old) - 1):
                row, result = old[y], new[y, 1:-1, 1:-1]
                np.multiply(row[1:-1, 1:-1], self.center, out=result)
                for operand, factor in (
                    (row[:-2, 1:-1], along_z),
                    (row[2:, 1:-1], along_z),
                    (row[1:-1, :-2], along_x),
                    (row[1:-1, 2:], along_x),
                    (old[y - 1, 1:-1, 1:-1], along_y),
                    (old[y + 1, 1:-1, 1:-1], along_y),
                ):
                    np.multiply(operand, factor, out=product)
                    np.add(result, product, out=result)
            self.old, self.new = new, old


def measure(stencil: ModuleType, width: int, height: int, iterations: int, repeat: int) -> list[str]:
    """Return one row of the table."""
    start = time.perf_counter()
    program = loomir.compile(stencil.program_text(DEPTH), rectangle=(width, height))
    compiled = time.perf_counter() - start
    start = time.perf_counter()
    simulator = loomir.Simulator(program)
    loaded = time.perf_counter() - start
    field = np.random.default_rng(0).random((height, width, DEPTH), np.float32)
    simulator.set("u", np.pad(field[:, :, None, :], ((0, 0), (0, 0), (0, 1), (1, 1))))
    by_hand = ByHand(stencil, field)
    del field

    # Each launch starts from where the one before ended, which must be the first of the two buffers.
    simulator.launch("main", WARM_UP)
    by_hand.iterate(WARM_UP)
    before = simulator.cycles
    engine: list[float] = []
    hand: list[float] = []
    for _ in range(repeat):
        start = time.perf_counter()
        simulator.launch("main", iterations)
        engine.append(time.perf_counter() - start)
        start = time.perf_counter()
        by_hand.iterate(iterations)
        hand.append(time.perf_counter() - start)
    cycles = (simulator.cycles - before) // repeat
    result = simulator.get("u")
    for y in range(height):
        if not np.array_equal(result[y, :, 0, 1:-1], by_hand.old[y + 1, 1:-1, 1:-1].T):
            raise SystemExit(f"the engine and numpy disagree in row {y} of {width} x {height} PEs")
    seconds, reference = min(engine), min(hand)
    return [
        f"{width} x {height}",
        f"{compiled + loaded:.2f}",
        f"{seconds:.3f}",
        f"{reference:.3f}",
        f"{seconds / reference:.2f}",
        f"{1e3 * seconds / iterations:.2f}",
        f"{cycles:,}",
        f"{width * height * cycles / seconds:.2e}",
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f}",
    ]


def even(text: str) -> int:
    value = int(text)
    if value < 2 or value % 2:
        raise argparse.ArgumentTypeError("the number of iterations must be even: two buffers are used in turn")
    return value


def main() -> int:
    parser = argparse.ArgumentParser(description="The stencil example against numpy by hand.")
    parser.add_argument("--sizes", default="4x4,32x32,128x128,762x1172", help="grids, columns x rows")
    parser.add_argument("--iterations", type=even, default=10)
    parser.add_argument("--repeat", type=int, default=3, help="the best of this many runs counts")
    arguments = parser.parse_args()
    table = Table(title=f"7-point stencil, {DEPTH} float32 per PE, {arguments.iterations} iterations")
    for heading in (
        "PEs", "compile, load s", "engine s", "numpy s", "ratio", "ms / iteration", "cycles (est.)", "tile-cycles / s",
        "peak GiB",
    ):  # fmt: skip
        table.add_column(heading, justify="right")
    stencil = example()
    for size in arguments.sizes.split(","):
        width, height = (int(number) for number in size.split("x"))
        table.add_row(*measure(stencil, width, height, arguments.iterations, arguments.repeat))
    Console(width=120).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
