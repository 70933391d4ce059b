"""Cost of each pass over programs that grow: in their code, in the number of PE programs, and in PEs.

    python bench/compile.py [--repeat N]

Cost should grow with the code and not with the PEs. For each way to grow the table gives, for every pass, the
milliseconds at each size and the exponent of the growth from the first size to the last: 1 is linear, 0 is none.
A report, not a test.
"""

from __future__ import annotations

import argparse
import gc
import math
import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.table import Table
from xdsl.context import Context
from xdsl.dialects import get_all_dialects as get_xdsl_dialects
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from loomir.dialects import get_all_dialects
from loomir.dialects.verification import verify
from loomir.host.compilation import PIPELINE
from loomir.passes import get_all_passes


def context() -> Context:
    ctx = Context()
    for name, get in {**get_xdsl_dialects(), **get_all_dialects()}.items():
        ctx.register_dialect(name, get)
    return ctx


def step(number: int, following: int) -> str:
    """Return a task of a chain: computes, then sends what it has computed; the end of that starts the next task."""
    return f"""
    wse.task @step_{number} local {{
      %A = wse.get_buffer @A : memref<16x16xf32>
      %diagonal = dsd.tensor_access %A affine_map<(i) -> (i, i)> extents [16] : memref<16x16xf32> -> !dsd.mem1d<f32>
      %square = dsd.tensor_access %A affine_map<(i, j) -> (i, j + 2)> extents [4, 4]
        : memref<16x16xf32> -> !dsd.mem4d<f32>
      %c = arith.constant 2.0 : f32
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %n = arith.constant 8 : index
      scf.for %k = %zero to %n step %one {{
        dsd.fmacs %diagonal, %diagonal, %square, %c : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem4d<f32>, f32
        dsd.fmuls %diagonal, %diagonal, %c : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      }}
      %out = dsd.fabout @out extent 16 : !dsd.fabout<f32>
      dsd.fmovs %out, %diagonal async(activate = @step_{following}) : !dsd.fabout<f32>, !dsd.mem1d<f32>
      wse.return
    }}"""


def pe(name: str, region: str, steps: int) -> str:
    """Return a PE program that receives once and whose tasks, each computing and sending, form a ring."""
    tasks = "".join(step(number, (number + 1) % steps) for number in range(steps))
    return f"""
  wse.pe @{name} on {region} {{
    wse.buffer @A : memref<16x16xf32>
    wse.buffer @B : memref<16xf32>
    wse.input_queue @in color @east
    wse.output_queue @out color @east
    wse.export @main
    wse.func @main() {{
      %B = wse.get_buffer @B : memref<16xf32>
      %b = dsd.mem1d %B extent 16 : memref<16xf32>
      %in = dsd.fabin @in extent 16 : !dsd.fabin<f32>
      dsd.fmovs %b, %in async() : !dsd.mem1d<f32>, !dsd.fabin<f32>
      wse.activate @step_0
      wse.return
    }}{tasks}
  }}"""


def sharing_pe(name: str, region: str, steps: int, home: str) -> str:
    """Return a PE program like that of `pe`, whose bodies are those of the program `home`."""
    tasks = "".join(f"\n    wse.task @step_{number} local shares @{home}::@step_{number}" for number in range(steps))
    return f"""
  wse.pe @{name} on {region} {{
    wse.buffer @A : memref<16x16xf32>
    wse.buffer @B : memref<16xf32>
    wse.input_queue @in color @east
    wse.output_queue @out color @east
    wse.export @main
    wse.func @main() shares @{home}::@main{tasks}
  }}"""


def straight(length: int) -> str:
    """Return a PE program whose one task computes at length."""
    body = "".join(
        f"""
      %d{number} = dsd.mem1d %A at {number % 200} extent 4 : memref<16x16xf32>
      dsd.fmuls %d{number}, %d{number // 2}, %c : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32"""
        for number in range(length)
    )
    return f"""
  wse.pe @only on [:, :] {{
    wse.buffer @A : memref<16x16xf32>
    wse.export @main
    wse.func @main() {{
      %A = wse.get_buffer @A : memref<16x16xf32>
      %c = arith.constant 2.0 : f32{body}
      wse.return
    }}
  }}"""


def program(pes: str, width: int, height: int) -> str:
    return f"""
wse.program @grown target "wse3" rectangle {width} x {height} {{
  wse.color @east
  wse.route @east on [:-1:2, :] from [ramp] to [east]
  wse.route @east on [1::2, :] from [west] to [ramp]
{pes}
}}"""


def measure(text: str, passes: Sequence[str], repeat: int) -> tuple[int, dict[str, float]]:
    """Return the operations in the program, and the best processor seconds of parsing, checking and each pass."""
    best: dict[str, float] = {}
    operations = 0

    def timed(name: str, run: Callable[[], object]) -> None:
        gc.collect()
        start = time.process_time()
        run()
        seconds = time.process_time() - start
        best[name] = min(seconds, best.get(name, seconds))

    for _ in range(repeat):
        ctx = context()
        parsed: list[ModuleOp] = []
        timed("parse", lambda ctx=ctx, parsed=parsed: parsed.append(Parser(ctx, text).parse_module()))
        (module,) = parsed
        operations = sum(1 for _ in module.walk())
        timed("verify", lambda module=module: verify(module))
        for name in passes:
            apply = get_all_passes()[name]()().apply
            timed(name, lambda apply=apply, ctx=ctx, module=module: apply(ctx, module))
    return operations, best


def report(
    console: Console,
    title: str,
    sizes: Sequence[int],
    make: Callable[[int], str],
    repeat: int,
    passes: Sequence[str] = PIPELINE,
) -> None:
    table = Table(title=title, title_justify="left")
    table.add_column("")
    measured: list[tuple[int, dict[str, float]]] = []
    for size in sizes:
        table.add_column(f"{size:,}", justify="right")
        measured.append(measure(make(size), passes, repeat))
    table.add_column("exponent", justify="right")
    table.add_row("operations", *(f"{operations:,}" for operations, _ in measured), "")
    growth = math.log(sizes[-1] / sizes[0])
    for name in measured[0][1]:
        times = [seconds[name] for _, seconds in measured]
        exponent = math.log(times[-1] / times[0]) / growth
        table.add_row(name, *(f"{1000 * seconds:,.1f} ms" for seconds in times), f"{exponent:.2f}")
    console.print(table)


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--repeat", type=int, default=3, help="runs of each pass, of which the best counts")
    repeat = arguments.parse_args().repeat
    console = Console(width=120)
    # A PE has about twenty task ids, so the longest chains are no programs for lower-to-flow.
    above_flow = [name for name in PIPELINE if name != "lower-to-flow"]

    def programs(count: int) -> str:
        return program("".join(pe(f"p{number}", f"[:, {number}]", 6) for number in range(count)), 4, count)

    def sharing(count: int) -> str:
        others = "".join(sharing_pe(f"p{number}", f"[:, {number}]", 6, "p0") for number in range(1, count))
        return program(pe("p0", "[:, 0]", 6) + others, 4, count)

    def on_pes(count: int) -> str:
        shapes = {16: (4, 4), 1_024: (32, 32), 893_064: (762, 1172)}
        return program(pe("p", "[:, :]", 6), *shapes[count])

    report(console, "By the number of PE programs", (4, 8, 16, 32, 64), programs, repeat)
    report(console, "By the number of PE programs that share their bodies", (4, 8, 16, 32, 64), sharing, repeat)
    report(
        console,
        "By the number of tasks of one PE program",
        (10, 20, 40, 80, 160),
        lambda count: program(pe("p", "[:, :]", count), 4, 4),
        repeat,
        above_flow,
    )
    report(
        console,
        "By the number of DSD operations of one task",
        (100, 200, 400, 800, 1600),
        lambda count: program(straight(count), 4, 4),
        repeat,
    )
    report(console, "By the number of PEs", (16, 1_024, 893_064), on_pes, repeat)


if __name__ == "__main__":
    main()
