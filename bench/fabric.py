"""Wavelets a second through 1 to 64 routers: static routes, switches that stay and that move on, and filters.

    python bench/fabric.py [--routers 1,4,16,64] [--wavelets N] [--link-words N] [--repeat N] [--executor NAME]
                           [--json FILE]

The first PE of a row sends, the last receives, and compares; the PEs between only pass wavelets on. "switches" have a
second position that nothing chooses; "moving switches" go to the other of two equal positions behind each operation;
"filters" let all through at the last ramp. Seconds are those of the processor, as one thread does it all.

`--link-words` gives links and queues room for so many words at least: routers hand on as many wavelets at once as there
is room for, so this shows what larger pieces would be worth.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from time import process_time

import numpy as np
from measuring import add_options, best, choose_executor, write_json
from rich.console import Console
from rich.table import Table

import loomir
from loomir import targets

OPERATIONS = 10
"""That a launch sends: what each has to itself, such as the walk of a marker from router to router, counts as well."""

PROGRAM = """
wse.program @line target "wse3" rectangle WIDTH x 1 {
  wse.color @way
  wse.route @way on [0, 0] from [ramp] to [east]FIRST
  wse.route @way on [1:-1, 0] from [west] to [east]BETWEEN
  wse.route @way on [-1, 0] from [west] to [ramp]LAST
  wse.pe @pe on [:, :] {
    wse.buffer @values : memref<COUNTxi32>
    wse.buffer @got : memref<COUNTxi32>
    wse.export @values
    wse.export @got
    wse.export @send
    wse.input_queue @in colors [@way on [-1, 0]]
    wse.output_queue @out colors [@way on [0, 0]]
    wse.func @send() {
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      %x = wse.coordinate x : i16
      %width = wse.extent x : i16
      %end = arith.subi %width, %one : i16
      %is_first = arith.cmpi eq, %x, %zero : i16
      %is_last = arith.cmpi eq, %x, %end : i16
      %from = arith.constant 0 : index
      %to = arith.constant OPERATIONS : index
      %step = arith.constant 1 : index
      scf.if %is_first {
        %values = wse.get_buffer @values : memref<COUNTxi32>
        %all = dsd.mem1d %values extent COUNT : memref<COUNTxi32>
        scf.for %i = %from to %to step %step {
          %out = dsd.fabout @out extent COUNTADVANCE : !dsd.fabout<i32>
          dsd.mov32 %out, %all : !dsd.fabout<i32>, !dsd.mem1d<i32>
        }
      }
      scf.if %is_last {
        %got = wse.get_buffer @got : memref<COUNTxi32>
        %all = dsd.mem1d %got extent COUNT : memref<COUNTxi32>
        scf.for %i = %from to %to step %step {
          %in = dsd.fabin @in extent COUNT : !dsd.fabin<i32>
          dsd.mov32 %all, %in : !dsd.mem1d<i32>, !dsd.fabin<i32>
        }
      }
      wse.return
    }
  }
}
"""

SWITCH = " switch [to [south]]"
EQUAL = " switch [to [east]] ring"
KINDS = {
    "static routes": ("", "", "", ""),
    "switches": (SWITCH, SWITCH, "", ""),
    "moving switches": (EQUAL, "", "", " {advance_switch}"),
    "filters": ("", "", " filter range id 0 min_idx 0 max_idx 65535", ""),
}
"""Text behind the routes of the first PE, the middle ones and the last, and the options of the sender."""


def rate(kind: str, routers: int, wavelets: int, repeat: int) -> float:
    """Return wavelets a second."""
    first, between, last, advance = KINDS[kind]
    count = wavelets // OPERATIONS
    text = PROGRAM.replace("OPERATIONS", str(OPERATIONS)).replace("COUNTADVANCE", f"{count}{advance}")
    text = text.replace("COUNT", str(count)).replace("WIDTH", str(routers + 1))
    text = text.replace("FIRST", first).replace("BETWEEN", between).replace("LAST", last)
    if routers == 1:
        text = "\n".join(line for line in text.split("\n") if "[1:-1, 0]" not in line)
    simulator = loomir.Simulator(loomir.compile(text), check=False)
    values = np.random.default_rng(0).integers(0, 1 << 30, (1, routers + 1, count)).astype(np.int32)
    simulator.set("values", values)
    spent = best(repeat, lambda: simulator.launch("send"), process_time)
    if not np.array_equal(simulator.get("got")[0, -1], values[0, 0]):
        raise SystemExit(f"what came through {routers} routers with {kind} is not what was sent")
    return OPERATIONS * count / spent


def widen(words: int) -> None:
    """Give links and queues of the machine room for so many words at least."""
    target = targets.get("wse3")
    timing = replace(target.timing, link_words=max(words, target.timing.link_words))
    inputs, outputs = target.input_queue_words, target.output_queue_words
    targets.TARGETS["wse3"] = replace(
        target,
        timing=timing,
        input_queue_words=tuple(max(words, each) for each in inputs),
        output_queue_words=tuple(max(words, each) for each in outputs),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Wavelets a second through routers.")
    parser.add_argument("--routers", default="1,4,16,64", metavar="N,...", help="that wavelets pass, of the sender on")
    parser.add_argument("--wavelets", type=int, default=10_000, metavar="N", help="of a launch")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="the best of so many counts")
    parser.add_argument("--link-words", type=int, default=0, metavar="N", help="of links and queues, at least")
    add_options(parser)
    arguments = parser.parse_args()
    widen(arguments.link_words)
    executor = choose_executor(arguments.executor)
    counts = [int(number) for number in arguments.routers.split(",")]
    table = Table(title=f"Million wavelets a second through routers, {executor}")
    table.add_column("routers")
    for count in counts:
        table.add_column(str(count), justify="right")
    rows: list[dict[str, object]] = []
    for kind in KINDS:
        found = [rate(kind, count, arguments.wavelets, arguments.repeat) for count in counts]
        table.add_row(kind, *(f"{number / 1e6:.3g}" for number in found))
        for count, number in zip(counts, found, strict=True):
            rows.append({"kind": kind, "routers": count, "per_second": number})
    Console(width=120).print(table)
    write_json(arguments.json, "fabric", rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
