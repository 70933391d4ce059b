"""A 7-point stencil on a grid of any size, one PE for each column of the grid.

    python examples/stencil/run.py [--width W] [--height H] [--depth D] [--iterations N] [--seed N]

The result is checked bit for bit against numpy doing the same float32 operations in the same order.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import loomir
from loomir import targets

SOURCE = Path(__file__).resolve().with_name("stencil.mlir")
CENTER, ALONG_X, ALONG_Y, ALONG_Z = (np.float32(value) for value in (0.4, 0.125, 0.1, 0.075))
"""The parameters of stencil.mlir."""
COLUMNS, ROWS = targets.get("wse3").fabric
"""Of the machine that stencil.mlir is for."""


def program_text(depth: int) -> str:
    """Return stencil.mlir for columns of `depth` words: the four definitions at its head, rewritten."""
    head = {
        "#depth = 64 : i16": f"#depth = {depth} : i16",
        "#padded = 66 : i16": f"#padded = {depth + 2} : i16",
        "!columns = memref<2x66xf32>": f"!columns = memref<2x{depth + 2}xf32>",
        "!halo = memref<64xf32>": f"!halo = memref<{depth}xf32>",
    }
    text = SOURCE.read_text()
    for old, new in head.items():
        if text.count(f"\n{old}\n") != 1:
            raise loomir.LoomError(f"expected the line '{old}' at the head of {SOURCE.name}")
        text = text.replace(f"\n{old}\n", f"\n{new}\n")
    return text


def reference(field: np.ndarray, iterations: int) -> np.ndarray:
    """Return the stencil in numpy on `field` of shape [height, width, depth], zero outside.

    A row at a time, so that the operands stay in cache; multiply and add are rounded one after the other, in the
    order of the tasks in stencil.mlir.
    """
    height, width, depth = field.shape
    old = np.zeros((height + 2, width + 2, depth + 2), np.float32)
    old[1:-1, 1:-1, 1:-1] = field
    new = np.zeros_like(old)
    product = np.empty((width, depth), np.float32)
    for _ in range(iterations):
        for y in range(1, height + 1):
            result = new[y, 1:-1, 1:-1]
            np.multiply(old[y, 1:-1, 1:-1], CENTER, out=result)
            for operand, factor in (
                (old[y, 1:-1, :-2], ALONG_Z),
                (old[y, 1:-1, 2:], ALONG_Z),
                (old[y, :-2, 1:-1], ALONG_X),
                (old[y, 2:, 1:-1], ALONG_X),
                (old[y - 1, 1:-1, 1:-1], ALONG_Y),
                (old[y + 1, 1:-1, 1:-1], ALONG_Y),
            ):
                np.multiply(operand, factor, out=product)
                np.add(result, product, out=result)
        old, new = new, old
    return old[1:-1, 1:-1, 1:-1]


def run(width: int, height: int, depth: int, iterations: int, seed: int) -> bool:
    """Simulate, print a summary, and return True if the result is right."""
    start = time.perf_counter()
    program = loomir.compile(program_text(depth), rectangle=(width, height))
    compiled = time.perf_counter() - start

    field = np.random.default_rng(seed).random((height, width, depth), np.float32)
    columns = np.zeros((height, width, 2, depth + 2), np.float32)
    columns[:, :, 0, 1:-1] = field
    simulator = loomir.Simulator(program)
    simulator.set("u", columns)
    del columns

    start = time.perf_counter()
    simulator.launch("main", iterations)
    wall = time.perf_counter() - start
    result = simulator.get("u")[:, :, iterations % 2, 1:-1]

    start = time.perf_counter()
    expected = reference(field, iterations)
    numpy_wall = time.perf_counter() - start
    equal = np.array_equal(result, expected)
    cycles = simulator.cycles
    print(f"7-point stencil, {width} x {height} PEs, {depth} float32 per PE, {iterations} iterations")
    print(f"  compiled in                {compiled:.2f} s")
    print(f"  simulated in               {wall:.3f} s  (the same arithmetic in numpy: {numpy_wall:.3f} s)")
    print(f"  cycles                     {cycles:,} (estimate)")
    print(f"  tile-cycles per second     {width * height * cycles / wall:.2e}")
    print(f"  equal to numpy, all bits   {'yes' if equal else 'NO'}")
    print(f"  sum of the field           {field.sum(dtype=np.float64):.6g} -> {result.sum(dtype=np.float64):.6g}")
    return equal


def bounded(low: int, high: int):
    """Return an argparse type: an integer from `low` to `high`."""

    def parse(text: str) -> int:
        value = int(text)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{value} is not between {low} and {high}")
        return value

    parse.__name__ = "integer"
    return parse


def main() -> int:
    parser = argparse.ArgumentParser(description="A 7-point stencil, checked against numpy.")
    parser.add_argument("--width", type=bounded(1, COLUMNS), default=16, help="columns of PEs; 16 if not given")
    parser.add_argument("--height", type=bounded(1, ROWS), default=16, help="rows of PEs; 16 if not given")
    parser.add_argument("--depth", type=bounded(1, 8192), default=64, help="float32 per PE; 64 if not given")
    parser.add_argument("--iterations", type=bounded(0, 65535), default=10, help="10 if not given")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers; 0 if not given")
    arguments = parser.parse_args()
    if arguments.seed < 0:
        parser.error("argument --seed: a seed is 0 or above")
    try:
        right = run(arguments.width, arguments.height, arguments.depth, arguments.iterations, arguments.seed)
    except loomir.LoomError as error:
        print(error, file=sys.stderr)
        return 1
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
