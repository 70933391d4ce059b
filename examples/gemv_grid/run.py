"""GEMV over a grid of 4 by 3 PEs: y = A * x + y, x multicast down the columns, sums reduced along the rows.

    python examples/gemv_grid/run.py [--launches N] [--seed N]

The result is checked bit for bit against numpy doing the same float32 operations in the same order: each PE adds
up its own columns, then the partial sums are added from west to east.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

import loomir

HERE = Path(__file__).resolve().parent
WIDTH, HEIGHT = 4, 3
ROWS, COLUMNS = 8, 6
"""Of the block of A on one PE."""


def reference(a: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return y + A x for A as [grid row, grid column, row, column], summed in the order of the program."""
    partial = np.zeros((HEIGHT, WIDTH, ROWS), np.float32)
    partial[:, -1] = y
    for j in range(COLUMNS):
        partial += a[..., j] * x[None, :, None, j]
    result = partial[:, 0]
    for column in range(1, WIDTH):
        result = result + partial[:, column]
    return result


def run(launches: int, seed: int) -> bool:
    """Multiply `launches` times, print the result, and return True if it is right."""
    generator = np.random.default_rng(seed)
    a = generator.uniform(-1, 1, (HEIGHT, WIDTH, ROWS, COLUMNS)).astype(np.float32)
    y = generator.uniform(-1, 1, (HEIGHT, ROWS)).astype(np.float32)

    simulator = loomir.Simulator(loomir.compile(HERE / "gemv_grid.mlir"))
    simulator.set("A", a)
    equal = True
    error = 0.0
    for _ in range(launches):
        x = generator.uniform(-1, 1, (WIDTH, COLUMNS)).astype(np.float32)
        top = np.zeros((HEIGHT, WIDTH, COLUMNS), np.float32)
        top[0] = x
        sums = np.zeros((HEIGHT, WIDTH, ROWS), np.float32)
        sums[:, -1] = y
        simulator.set("x", top)
        simulator.set("y", sums)
        simulator.launch("main")
        result = simulator.get("y")[:, -1]
        equal = equal and np.array_equal(result, reference(a, x, y))
        matrix = a.transpose(0, 2, 1, 3).reshape(HEIGHT * ROWS, WIDTH * COLUMNS).astype(np.float64)
        exact = y.reshape(-1) + matrix @ x.reshape(-1).astype(np.float64)
        error = max(error, float(np.abs(result.reshape(-1) - exact).max()))
        y = result.copy()

    finished = simulator.get("finished")[:, -1]
    complete = bool((finished == launches).all())
    print(f"GEMV on {WIDTH} x {HEIGHT} PEs, {HEIGHT * ROWS} x {WIDTH * COLUMNS}, float32")
    print(f"  products finished          {', '.join(str(int(count)) for count in finished)} of {launches} (per row)")
    print(f"  cycles                     {simulator.cycles:,} (estimate)")
    print(f"  equal to numpy, all bits   {'yes' if equal else 'NO'}")
    print(f"  largest rounding error     {error:.1e}")
    return equal and complete


def main() -> int:
    parser = argparse.ArgumentParser(description="GEMV over a grid of PEs, checked against numpy.")
    parser.add_argument("--launches", type=int, default=2, help="products, one after the other; 2 if not given")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers; 0 if not given")
    arguments = parser.parse_args()
    if arguments.launches < 0:
        parser.error("argument --launches: give 0 or above")
    if arguments.seed < 0:
        parser.error("argument --seed: a seed is 0 or above")
    try:
        return 0 if run(arguments.launches, arguments.seed) else 1
    except loomir.LoomError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
