"""DSD operations beside numpy's equivalent statement, by class of operation, access and element type.

    python bench/dsd.py [--only TEXT] [--repeat N] [--executor NAME] [--json FILE]

A launch runs an operation a number of times on every PE, one PE and 100 x 100; numpy computes the same on an array of
the elements of all PEs, a call for each time. Results are compared bit for bit. A multiply-add is two calls of numpy,
and so is what goes through a FIFO: a push and a pop. Both use one thread, and processor time is what counts. Accesses:

- contiguous: elements side by side. by a scalar: the last source is a number.
- strided: every second element of each operand.
- 4-D: each operand a box of an array of four dimensions, larger by one in each.
- fabric: sent to the other PE of a pair, which sends its own (one PE: to itself), and received into memory, both
  asynchronously.
- FIFO: pushed from memory and popped into memory.
- circular: the last source is a ring of half the elements, and gone around twice.
- in registers: contiguous, strided or 4-D, all operands but numbers in data structure registers that the program names.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measuring import add_options, choose_executor, write_json
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import loomir
from loomir.frontend.compilation import compile_layout

Array = NDArray[Any]

GRIDS = ((1, 1), (100, 100))
COUNTS = (64, 1024)
BOXES = {64: (2, 2, 4, 4), 1024: (4, 4, 8, 8)}
"""Extents of a 4-D access, outermost first."""

TYPES = {"f32": np.float32, "f16": np.float16, "i16": np.int16, "i32": np.int32}
NUMBER = 3


class Case(NamedTuple):
    """An operation on operands that are accessed in one way."""

    operation: str
    kind: str
    access: str
    sources: int = 1
    compute: Callable[..., Any] | None = None
    """numpy's function of all sources, None for a move."""

    in_registers: bool = False
    """Descriptors are in data structure registers that the program names."""

    @property
    def name(self) -> str:
        if self.in_registers:
            return f"{self.operation} {self.access} in registers ({self.kind})"
        return f"{self.operation} {self.access} ({self.kind})"


def multiply_add(a: Array, b: Array, c: Any, out: Array) -> None:
    np.add(a, np.multiply(b, c), out=out)


CASES = [
    Case("fmovs", "f32", "contiguous"),
    Case("fadds", "f32", "contiguous", 2, np.add),
    Case("fmuls", "f32", "by a scalar", 2, np.multiply),
    Case("fmacs", "f32", "by a scalar", 3, multiply_add),
    Case("fmaxs", "f32", "contiguous", 2, np.maximum),
    Case("fmovh", "f16", "contiguous"),
    Case("faddh", "f16", "contiguous", 2, np.add),
    Case("fmach", "f16", "by a scalar", 3, multiply_add),
    Case("mov16", "i16", "contiguous"),
    Case("add16", "i16", "contiguous", 2, np.add),
    Case("sll16", "i16", "by a scalar", 2, np.left_shift),
    Case("mov32", "i32", "contiguous"),
    *(
        case
        for access in ("strided", "4-D")
        for case in (
            Case("fmovs", "f32", access),
            Case("fadds", "f32", access, 2, np.add),
            Case("fmacs", "f32", access, 3, multiply_add),
            Case("faddh", "f16", access, 2, np.add),
            Case("add16", "i16", access, 2, np.add),
            Case("mov32", "i32", access),
        )
    ),
    *(
        Case(*operation, access)
        for access in ("fabric", "FIFO")
        for operation in (("fmovs", "f32"), ("fmovh", "f16"), ("mov16", "i16"), ("mov32", "i32"))
    ),
    Case("fadds", "f32", "circular", 2, np.add),
    Case("faddh", "f16", "circular", 2, np.add),
    Case("add16", "i16", "circular", 2, np.add),
    Case("mov32", "i32", "circular"),
    *(
        Case(*operation, in_registers=True)
        for operation in (
            ("fmovs", "f32", "contiguous", 1, None),
            ("fadds", "f32", "contiguous", 2, np.add),
            ("fmacs", "f32", "by a scalar", 3, multiply_add),
            ("faddh", "f16", "contiguous", 2, np.add),
            ("mov16", "i16", "contiguous", 1, None),
            ("fmovs", "f32", "strided", 1, None),
            ("fadds", "f32", "strided", 2, np.add),
            ("fmacs", "f32", "strided", 3, multiply_add),
            ("add16", "i16", "strided", 2, np.add),
            ("fadds", "f32", "4-D", 2, np.add),
        )
    ),
]

LAYOUT = """
const red: color = @get_color(2);
const blue: color = @get_color(3);
layout {
  @set_rectangle(WIDTH, HEIGHT);
  for (@range(i16, WIDTH)) |x| {
    for (@range(i16, HEIGHT)) |y| {
      @set_tile_code(x, y, "pe.csl", .{ .sends = if (x % 2 == 0) red else blue,
                                        .takes = if (x % 2 == 1 or WIDTH == 1) red else blue });
      if (WIDTH == 1) {
        @set_color_config(x, y, red, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });
      } else if (x % 2 == 0) {
        @set_color_config(x, y, red, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
        @set_color_config(x, y, blue, .{ .routes = .{ .rx = .{ EAST }, .tx = .{ RAMP } } });
      } else {
        @set_color_config(x, y, blue, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ WEST } } });
        @set_color_config(x, y, red, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } });
      }
    }
  }
  EXPORTS
  @export_name("main", fn() void);
}
"""

PE = """
param sends: color;
param takes: color;
const out_queue = @get_output_queue(3);
const in_queue = @get_input_queue(2);
const out = @get_dsd(fabout_dsd, .{ .extent = COUNT, .output_queue = out_queue });
const in = @get_dsd(fabin_dsd, .{ .extent = COUNT, .input_queue = in_queue });
BUFFERS
MAIN
comptime {
  @initialize_queue(in_queue, .{ .color = takes });
  @initialize_queue(out_queue, .{ .color = sends });
  LOADS
  @export_symbol(main);
}
"""


IN_LOOP = """
fn main() void {
  for (@range(i16, ROUNDS)) |round| {
    STATEMENTS
  }
}
"""

IN_TASKS = """
const next_id = @get_local_task_id(10);
var round: i16 = 0;
task next() void {
  if (round != ROUNDS) {
    round += 1;
    STATEMENTS
  }
}
fn main() void {
  round = 0;
  @activate(next_id);
}
comptime { @bind_local_task(next, next_id); }
"""
"""Both operations are issued again when both before are complete."""


def shape_of(access: str, count: int) -> tuple[int, ...]:
    """Return the shape of an array of a PE."""
    if access == "4-D":
        return tuple(extent + 1 for extent in BOXES[count])
    return (2 * count,) if access == "strided" else (count,)


def dsd_of(array: str, access: str, count: int) -> str:
    if access == "4-D":
        extents = ", ".join(map(str, BOXES[count]))
        return f"@get_dsd(mem4d_dsd, .{{ .tensor_access = |i, j, k, l|{{{extents}}} -> {array}[i, j, k, l] }})"
    return f"@get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{{count}}} -> {array}[{'2 * ' * (access == 'strided')}i] }})"


def simulator(
    case: Case, width: int, height: int, count: int, rounds: int, *, check: bool = False, main: str = ""
) -> loomir.Simulator:
    """Return a simulator of the program that runs an operation `rounds` times; with `check` it looks for races.

    `main` is code of a PE instead of what runs the operations, with `STATEMENTS` where they are.
    """
    shape = ", ".join(map(str, shape_of(case.access, count)))
    names = "abc"[: min(case.sources, 2)] + "o"
    lines: list[str] = []
    exports: list[str] = []
    loads = [f'@export_symbol({name}_pointer, "{name}");' for name in names]
    for name in names:
        is_ring = case.access == "circular" and name == names[-2]
        file = {"o": "dsr_dest", "a": "dsr_src0", "b": "dsr_src1"}[name]
        lines += [
            f"var {name} = @zeros([{count // 2 if is_ring else shape}]{case.kind});",
            f"var {name}_pointer: [*]{case.kind} = &{name};",
        ]
        exports.append(f'@export_name("{name}", [*]{case.kind}, true);')
        if is_ring:
            lines.append("const ring = @get_dsr(dsr_src1, 0);")
            dsd = f"@get_dsd(circbuf_dsd, .{{ .base_address = &{name}, .extent = {count} }})"
            loads.append(f"@load_to_dsr_xdsr(ring, @get_xdsr(0), {dsd});")
        else:
            dsd = dsd_of(name, case.access, count)
            lines.append(f"const {name}_dsd = {f'@get_dsr({file}, 1)' if case.in_registers else dsd};")
            if case.in_registers:
                loads.append(f"@load_to_dsr({name}_dsd, {dsd});")
    if case.access == "FIFO":
        lines += [f"var places = @zeros([{count}]{case.kind});", "const fifo = @allocate_fifo(places);"]
        statements = f"_ = @{case.operation}(fifo, a_dsd); _ = @{case.operation}(o_dsd, fifo);"
    elif case.access == "fabric":
        statements = (
            f"@block(next_id); @{case.operation}(o_dsd, in, .{{ .async = true, .activate = next_id }}); "
            f"@{case.operation}(out, a_dsd, .{{ .async = true, .unblock = next_id }});"
        )
    else:
        sources = [f"{name}_dsd" for name in names[:-1]]
        if case.access == "circular":
            sources[-1] = "ring"
        if case.sources == 3:
            sources.append(f"{NUMBER}.0")
        elif case.access == "by a scalar":
            sources[-1] = f"{NUMBER}.0" if case.kind[0] == "f" else str(NUMBER)
        statements = f"@{case.operation}(o_dsd, {', '.join(sources)});"
    texts = {
        "layout.csl": LAYOUT.replace("WIDTH", str(width)).replace("HEIGHT", str(height))
        .replace("EXPORTS", "\n  ".join(exports)),
        "pe.csl": PE.replace("MAIN", main or (IN_TASKS if case.access == "fabric" else IN_LOOP))
        .replace("COUNT", str(count)).replace("ROUNDS", str(rounds)).replace("BUFFERS", "\n".join(lines))
        .replace("STATEMENTS", statements).replace("LOADS", "\n  ".join(loads)),
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as directory:
        for name, text in texts.items():
            (Path(directory) / name).write_text(text)
        compiled = compile_layout(Path(directory) / "layout.csl", arch="wse3")
        return loomir.Simulator(loomir.compile(compiled.module), threads=1, check=check)


def numpys(case: Case, arrays: dict[str, Array], width: int, count: int) -> Callable[[], None]:
    """Return numpy's equivalent of an operation on the arrays of all PEs, [height, width, *shape]."""
    views = dict(arrays)
    if case.access == "strided":
        views = {name: array[..., ::2] for name, array in arrays.items()}
    elif case.access == "4-D":
        box = (..., *(slice(extent) for extent in BOXES[count]))
        shape = shape_of(case.access, count)
        views = {name: array.reshape(*array.shape[:2], *shape)[box] for name, array in arrays.items()}
    elif case.access == "circular":
        views = {name: array.reshape(*array.shape[:2], -1, count // 2) for name, array in arrays.items()}
    out, a = views["o"], views["a"]
    if case.access == "fabric" and width > 1:
        pairs, swapped = (array.reshape(array.shape[0], -1, 2, count) for array in (out, a))
        return lambda: np.copyto(pairs, swapped[:, :, ::-1])
    if case.access == "FIFO":
        places = np.zeros_like(a)

        def through() -> None:
            np.copyto(places, a)
            np.copyto(out, places)

        return through
    compute = case.compute
    if compute is None:
        return lambda: np.copyto(out, a)
    number = out.dtype.type(NUMBER)
    sources = [a, *([views["b"]] if case.sources == 3 or case.access != "by a scalar" else [])]
    sources += [number] * (case.sources - len(sources))
    return lambda: compute(*sources, out=out)


def best(repeat: int, action: Callable[[], object]) -> float:
    """Return the least processor time of an action, which no other process can make longer, after one to warm up."""
    action()
    times: list[float] = []
    for _ in range(repeat):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def measure(case: Case, width: int, height: int, count: int, repeat: int) -> tuple[float, float]:
    """Return the seconds of an operation on all PEs, and those of numpy's equivalent, after comparing the results."""
    pes = width * height
    rounds = max(10, min(10_000, 60_000_000 // (pes * count)))
    grid = simulator(case, width, height, count, rounds)
    random = np.random.default_rng(0)
    arrays: dict[str, Array] = {}
    for name in "abc"[: min(case.sources, 2)] + "o":
        held = grid.get(name)
        arrays[name] = (random.random(held.shape) * 100).astype(TYPES[case.kind]) if name != "o" else held
        grid.set(name, arrays[name])
    statement = numpys(case, arrays, width, count)

    def many() -> None:
        for _ in range(rounds):
            statement()

    ours = best(repeat, lambda: grid.launch("main")) / rounds
    theirs = best(repeat, many) / rounds
    if grid.get("o").tobytes() != arrays["o"].tobytes():
        raise SystemExit(f"{case.name}: the engine and numpy compute different elements")
    return ours, theirs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains TEXT")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="the best of so many counts")
    add_options(parser)
    arguments = parser.parse_args()
    executor = choose_executor(arguments.executor)
    table = Table(title=f"Million elements a second, and how many times numpy's, {executor}")
    table.add_column("operation")
    for width, height in GRIDS:
        for count in COUNTS:
            table.add_column(f"{width * height} x {count}", justify="right")
    rows: list[dict[str, object]] = []
    for case in CASES:
        if arguments.only not in case.name:
            continue
        cells: list[str] = []
        for width, height in GRIDS:
            for count in COUNTS:
                ours, theirs = measure(case, width, height, count, arguments.repeat)
                elements = width * height * count
                cells.append(f"{elements / ours / 1e6:,.0f} ({theirs / ours:.2g})")
                rows.append(
                    {
                        "case": case.name, "pes": width * height, "elements": count,
                        "per_second": elements / ours, "numpy_per_second": elements / theirs,
                    }
                )  # fmt: skip
        table.add_row(case.name, *cells)
    Console(width=120).print(table)
    write_json(arguments.json, "dsd", rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
