"""GEMV on one PE: y = A * x + y from memory descriptors, in float32 and float16.

    python examples/gemv/run.py [--type f32|f16] [--seed N]

The result is checked bit for bit against numpy doing the machine's roundings: for each column of A in turn the
product is rounded to the element type, then the sum.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

import loomir

HERE = Path(__file__).resolve().parent
TYPES = {"f32": np.float32, "f16": np.float16}
ROWS, COLUMNS = 32, 16


def reference(a: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return y + A x, column by column, product and sum rounded one after the other."""
    result = y.copy()
    for j in range(a.shape[1]):
        result += a[:, j] * x[j]
    return result


def run(name: str, seed: int) -> bool:
    """Run one variant, print the result, and return True if it is right."""
    generator = np.random.default_rng(seed)
    a = generator.uniform(-1, 1, (ROWS, COLUMNS)).astype(TYPES[name])
    x = generator.uniform(-1, 1, COLUMNS).astype(TYPES[name])
    y = generator.uniform(-1, 1, ROWS).astype(TYPES[name])

    simulator = loomir.Simulator(loomir.compile(HERE / f"gemv_{name}.mlir"))
    simulator.set("A", a)
    simulator.set("x", x)
    simulator.set("y", y)
    simulator.launch("gemv")
    result = simulator.get("y").reshape(ROWS)

    expected = reference(a, x, y)
    exact = y.astype(np.float64) + a.astype(np.float64) @ x.astype(np.float64)
    equal = np.array_equal(result, expected)
    print(f"GEMV on one PE, {ROWS} x {COLUMNS}, {np.dtype(TYPES[name]).name}")
    print(f"  cycles                     {simulator.cycles:,} (estimate)")
    print(f"  equal to numpy, all bits   {'yes' if equal else 'NO'}")
    print(f"  largest rounding error     {np.abs(result - exact).max():.1e}")
    return equal


def main() -> int:
    parser = argparse.ArgumentParser(description="GEMV on one PE, checked against numpy.")
    parser.add_argument("--type", choices=sorted(TYPES), help="element type; both if not given")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers; 0 if not given")
    arguments = parser.parse_args()
    if arguments.seed < 0:
        parser.error("argument --seed: a seed is 0 or above")
    names = [arguments.type] if arguments.type else ["f32", "f16"]
    try:
        right = [run(name, arguments.seed) for name in names]
    except loomir.LoomError as error:
        print(error, file=sys.stderr)
        return 1
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
