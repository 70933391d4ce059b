"""Kernels of the engine's core beside numpy: DSD operations on 64 elements, in memory that stays in cache.

    python bench/kernels.py [--repeat N]

The core computes runs of 64 elements, as operations of PEs do, many of them in one call. numpy computes 64 elements in
a call, which costs mostly the call, and 16,384 in a call, of which 64 are a 256th. A multiply-add is two calls of
numpy. Both compute the same bits, which is checked. `baseline` is the core without AVX2.
"""

from __future__ import annotations

import argparse
import ctypes
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from loomir.runtime.core import library
from loomir.runtime.tables.instructions import DSD_ROWS

ELEMENTS, ROUNDS, MANY = 64, 4096, 16384

Array = NDArray[Any]


class Operand(ctypes.Structure):
    """The core's `struct operand`."""

    _fields_ = (
        ("at", ctypes.c_void_p), ("step", ctypes.c_int32 * 4), ("extent", ctypes.c_uint32 * 4),
        ("done", ctypes.c_uint32 * 4), ("dimensions", ctypes.c_uint32),
    )  # fmt: skip


def multiply_add(a: Array, b: Array, c: Any, out: Array) -> None:
    np.add(a, np.multiply(b, c), out=out)


def move(a: Array, out: Array) -> None:
    np.copyto(out, a)


WORK: list[tuple[str, str, str, Callable[..., Any], Sequence[str]]] = [
    ("fmovs", "f32", "side by side", move, "v"),
    ("fadds", "f32", "side by side", np.add, "vv"),
    ("fmuls", "f32", "by a scalar", np.multiply, "vs"),
    ("fmacs", "f32", "by a scalar", multiply_add, "vvs"),
    ("fmacs", "f32", "stride 2", multiply_add, "2vs"),
    ("fmovh", "f16", "side by side", move, "v"),
    ("faddh", "f16", "side by side", np.add, "vv"),
    ("fmulh", "f16", "by a scalar", np.multiply, "vs"),
    ("fmach", "f16", "by a scalar", multiply_add, "vvs"),
    ("fmach", "f16", "from wavelets", multiply_add, "vws"),
    ("add16", "i16", "side by side", np.add, "vv"),
]  # fmt: skip
"""Operation, type, how its operands are, the same in numpy; of each source: v for elements side by side, s for a
scalar, 2 for every other element, w for wavelets, with an element of 16 bits in the low half of each."""

TYPES = {"f32": np.float32, "f16": np.float16, "i16": np.int16}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=20, help="the best of N measurements counts (default: 20)")
    repeat = parser.parse_args().repeat
    table = Table("operation", "operands", "core", "baseline", "numpy, 64", "numpy, of 16,384", "core / numpy")
    for name, kind, text, function, shapes in WORK:
        core, baseline = (measure_core(name, kind, function, shapes, kernels, repeat) for kernels in KERNELS)
        alone, together = (measure_numpy(function, kind, shapes, count, repeat) for count in (ELEMENTS, MANY))
        times = [f"{seconds * 1e9:.1f} ns" for seconds in (core, baseline, alone, together)]
        table.add_row(f"{name} ({kind})", text, *times, f"{core / together:.2f}")
    Console(width=120).print(table)


KERNELS = ("loom_kernels", "loom_baseline_kernels")


def sources_of(kind: str, shapes: Sequence[str], count: int) -> tuple[list[Array], list[Array]]:
    """Return arrays that hold the sources, and the sources in them."""
    random = np.random.default_rng(0)
    arrays: list[Array] = []
    views: list[Array] = []
    for shape in shapes:
        size = {"s": 1, "2": 2 * count, "w": 2 * count}.get(shape, count)
        arrays.append((random.random(size) * 100).astype(TYPES[kind]))
        views.append(arrays[-1][:: 2 if shape in "2w" else 1])
    return arrays, views


def best(run: Callable[[], Any], repeat: int) -> float:
    """Return the least time of a call."""
    times: list[float] = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def measure_core(
    name: str, kind: str, function: Callable[..., Any], shapes: Sequence[str], kernels: str, repeat: int
) -> float:
    """Return the time of an operation of 64 elements."""
    core = library.load()
    pointer, number = ctypes.c_void_p, ctypes.c_uint32
    core.kernel_of.restype = getattr(core, kernels).restype = pointer
    core.kernel_of.argtypes = [pointer, number, number]
    core.kernel_apply.argtypes = [pointer, pointer, number]
    kernel = core.kernel_of(getattr(core, kernels)(), DSD_ROWS.index(name), 0)
    arrays, views = sources_of(kind, shapes, ELEMENTS)
    out = np.zeros(ELEMENTS, TYPES[kind])
    expected = np.zeros_like(out)
    function(*views, out=expected)
    operands = (Operand * 4)()
    for operand, array, shape in zip(operands, (out, *arrays), ("v", *shapes), strict=False):
        step = array.itemsize * {"s": 0, "2": 2, "w": 2}.get(shape, 1)
        operand.at = array.ctypes.data
        # A second dimension goes over the same elements again and again.
        operand.dimensions = 2
        operand.extent[:2] = ELEMENTS, 1 << 31
        operand.step[:2] = step, -step * (ELEMENTS - 1)
    seconds = best(lambda: core.kernel_apply(kernel, operands, ELEMENTS * ROUNDS), repeat)
    assert (out == expected).all(), name
    return seconds / ROUNDS


def measure_numpy(function: Callable[..., Any], kind: str, shapes: Sequence[str], count: int, repeat: int) -> float:
    """Return the time of 64 elements, of `count` in a call."""
    calls = 200 if count == ELEMENTS else 20
    _, views = sources_of(kind, shapes, count)
    out = np.zeros(count, TYPES[kind])

    def run() -> None:
        for _ in range(calls):
            function(*views, out=out)

    return best(run, repeat) / calls / (count // ELEMENTS)


if __name__ == "__main__":
    main()
