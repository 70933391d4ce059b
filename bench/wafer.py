"""The stencil example at the scale of a whole wafer, against numpy by hand.

    python bench/wafer.py [--sizes 4x4,32x32,128x128,762x1172] [--kind f32|f16] [--iterations N] [--repeat N]
        [--executor NAME] [--json FILE]

Both sides do the same arithmetic, of float32 or float16, in the same run, on random data, warmed up, and must agree
bit for bit.
The numpy program is what one would write for speed: one row of PEs at a time, so that operands stay in cache, laid
out [row, depth, column] so that every operation runs over contiguous columns. It exchanges no halos: it reads its
neighbors' rows where they are. Cycles are the engine's estimate.

Memory is the most that the process holds until a host that sets the field, runs, and reads the result has done so once:
what its two arrays, the field and the result, take, and all the rest, which is Python, its libraries, the program, the
state of the PEs and their memory. numpy's side is made after that.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import resource
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
from measuring import add_options, choose_executor, write_json
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


def program_text(stencil: ModuleType, kind: str) -> str:
    """Return the program for columns of DEPTH elements of a type."""
    text = stencil.program_text(DEPTH)
    if kind == "f16":
        text = re.sub(r"\bdsd\.fmacs\b", "dsd.fmach", text.replace("f32", "f16"))
        text = re.sub(r"\bdsd\.(f(?:mov|mul|add|sub))s\b", r"dsd.\1h", text)
    return text


class Row(NamedTuple):
    """What was measured on one grid, in seconds for all iterations."""

    width: int
    height: int
    kind: str
    compiled: float
    engine: float
    numpy: float
    iterations: int
    cycles: int
    engine_gib: float
    """Memory of the process at its peak, but for the host's arrays."""
    host_gib: float
    """The host's two arrays: the field, and the result that it reads."""

    @property
    def ratio(self) -> float:
        return self.engine / self.numpy

    @property
    def peak_gib(self) -> float:
        return self.engine_gib + self.host_gib

    @property
    def tile_cycles(self) -> float:
        """Cycles of PEs a second."""
        return self.width * self.height * self.cycles / self.engine


class ByHand:
    """The stencil in cache-blocked numpy on [height, depth, width]."""

    def __init__(self, stencil: ModuleType, field: np.ndarray):
        dtype = field.dtype.type
        self.factors = tuple(dtype(factor) for factor in (stencil.ALONG_Z, stencil.ALONG_X, stencil.ALONG_Y))
        self.center = dtype(stencil.CENTER)
        height, width, depth = field.shape
        self.old = np.zeros((height + 2, depth + 2, width + 2), dtype)
        for y in range(height):
            self.old[y + 1, 1:-1, 1:-1] = field[y].T
        self.new = np.zeros_like(self.old)
        self.product = np.empty((depth, width), dtype)

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


PEAK_OF_PROCESS = Path("/proc/self/clear_refs")
"""Linux forgets the peak of the process when 5 is written there."""


def forget_peak() -> None:
    """Let the peak of memory begin again from what the process holds now, where the system can."""
    if PEAK_OF_PROCESS.exists():
        PEAK_OF_PROCESS.write_text("5")


def peak_memory() -> float:
    """Return the peak of the memory of the process in GiB, on Linux since `forget_peak`."""
    status = Path("/proc/self/status")
    if status.exists():
        return (
            next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM:")) / 2**20
        )
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)


def measure(
    stencil: ModuleType,
    width: int,
    height: int,
    iterations: int,
    repeat: int,
    kind: str = "f32",
) -> Row:
    """Return one row of the table."""
    forget_peak()
    start = time.perf_counter()
    program = loomir.compile(program_text(stencil, kind), rectangle=(width, height))
    compiled = time.perf_counter() - start
    start = time.perf_counter()
    simulator = loomir.Simulator(program, check=False)
    loaded = time.perf_counter() - start
    field = np.random.default_rng(0).random((height, width, DEPTH), np.float32)
    field = field.astype(np.float16 if kind == "f16" else np.float32, copy=False)
    simulator.set("u", np.pad(field[:, :, None, :], ((0, 0), (0, 0), (0, 1), (1, 1))))
    # Each launch starts from where the one before ended, which must be the first of the two buffers.
    simulator.launch("main", WARM_UP)
    result = simulator.get("u")
    engine_gib, host_gib = (
        peak_memory() - (field.nbytes + result.nbytes) / 2**30,
        (field.nbytes + result.nbytes) / 2**30,
    )
    del result
    by_hand = ByHand(stencil, field)
    del field
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
    return Row(width, height, kind, compiled + loaded, min(engine), min(hand), iterations, cycles, engine_gib, host_gib)


def shown(row: Row) -> list[str]:
    """Return a row of the table as text."""
    return [
        f"{row.width} x {row.height}",
        f"{row.compiled:.2f}",
        f"{row.engine:.3f}",
        f"{row.numpy:.3f}",
        f"{row.ratio:.2f}",
        f"{1e3 * row.engine / row.iterations:.2f}",
        f"{row.cycles:,}",
        f"{row.tile_cycles:.2e}",
        f"{row.engine_gib:.2f}",
        f"{row.host_gib:.2f}",
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
    parser.add_argument("--kind", choices=("f32", "f16"), default="f32", help="the type of the elements")
    add_options(parser)
    arguments = parser.parse_args()
    choose_executor(arguments.executor)
    table = Table(title=f"7-point stencil, {DEPTH} {arguments.kind} per PE, {arguments.iterations} iterations")
    for heading in (
        "PEs", "compile, load s", "engine s", "numpy s", "ratio", "ms / iteration", "cycles (est.)", "tile-cycles / s",
        "engine GiB", "host GiB",
    ):  # fmt: skip
        table.add_column(heading, justify="right")
    stencil = example()
    rows: list[Row] = []
    for size in arguments.sizes.split(","):
        width, height = (int(number) for number in size.split("x"))
        rows.append(measure(stencil, width, height, arguments.iterations, arguments.repeat, arguments.kind))
        table.add_row(*shown(rows[-1]))
    Console(width=120).print(table)
    write_json(arguments.json, "wafer", [row._asdict() for row in rows])
    return 0


if __name__ == "__main__":
    sys.exit(main())
