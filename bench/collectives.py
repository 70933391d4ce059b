"""Cycles of the directives of <collectives_2d> by the length of the message and the number of PEs, beside lower bounds.

    python bench/collectives.py [--arch wse2|wse3] [--pes N ...] [--elements N ...]

Each directive runs once along a row on links that have its directions already, with the root at the west end or in the
middle, after its result has been checked against numpy. Cycles are the cost model's, from the first PE's call to the
last PE's callback. The bound is what no program goes below whatever its routes: the wavelets that one ramp or link has
to carry, one a cycle, and the hops from the root to the farthest PE.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console
from rich.table import Table

import loomir
from loomir.frontend.compilation import compile_layout
from loomir.targets import TARGETS

DIRECTIVES = ("broadcast", "scatter", "gather", "reduce_fadds")

LAYOUT = """
param width: u16;
param space: u16;
const c2d = @import_module("<collectives_2d/params>");
const memcpy = @import_module("<memcpy/get_params>", .{ .width = width, .height = 1 });
layout {
  @set_rectangle(width, 1);
  for (@range(u16, width)) |x| {
    @set_tile_code(x, 0, "pe.csl", .{
      .memcpy_params = memcpy.get_params(x),
      .space = space,
      .c2d_params = c2d.get_params(x, 0, .{
        .x_colors = .{ @get_color(0), @get_color(1) },
        .x_entrypoints = .{ @get_local_task_id(8), @get_local_task_id(9) },
      }),
    });
  }
  @export_name("sent", [*]u32, true);
  @export_name("received", [*]u32, true);
  @export_name("begun", [*]u16, true);
  @export_name("ended", [*]u16, true);
  @export_name("run", fn(u16, u16, u16)void);
}
"""

PE = """
param memcpy_params: comptime_struct;
param c2d_params: comptime_struct;
param space: u16;
const sys_mod = @import_module("<memcpy/memcpy>", memcpy_params);
const mpi_x = @import_module("<collectives_2d/pe>", .{ .dim_params = c2d_params.x });
const clock = @import_module("<time>");
const ended_id = @get_local_task_id(10);
var sent = @zeros([space]u32);
var received = @zeros([space]u32);
var begun = @zeros([3]u16);
var ended = @zeros([3]u16);
var sent_ptr: [*]u32 = &sent;
var received_ptr: [*]u32 = &received;
var begun_ptr: [*]u16 = &begun;
var ended_ptr: [*]u16 = &ended;
fn run(directive: u16, root: u16, count: u16) void {
  clock.enable_tsc();
  mpi_x.init();
  clock.get_timestamp(&begun);
  switch (directive) {
    0 => mpi_x.broadcast(root, sent_ptr, count, ended_id),
    1 => mpi_x.scatter(root, sent_ptr, received_ptr, count, ended_id),
    2 => mpi_x.gather(root, sent_ptr, received_ptr, count, ended_id),
    else => mpi_x.reduce_fadds(root, @ptrcast([*]f32, sent_ptr), @ptrcast([*]f32, received_ptr), count, ended_id)
  }
}
task end() void {
  clock.get_timestamp(&ended);
  sys_mod.unblock_cmd_stream();
}
comptime {
  @bind_local_task(end, ended_id);
  @export_symbol(sent_ptr, "sent");
  @export_symbol(received_ptr, "received");
  @export_symbol(begun_ptr, "begun");
  @export_symbol(ended_ptr, "ended");
  @export_symbol(run);
}
"""


def simulator_of(pes: int, space: int, arch: str) -> loomir.Simulator:
    """Return a simulator of a row of PEs with arrays of `space` elements."""
    with TemporaryDirectory() as directory:
        (Path(directory) / "layout.csl").write_text(LAYOUT)
        (Path(directory) / "pe.csl").write_text(PE)
        params = {"width": pes, "space": space}
        compiled = compile_layout(Path(directory) / "layout.csl", arch=arch, params=params)
        return loomir.Simulator(loomir.compile(compiled.module, verify_each=False), check=False)


def cycles(simulator: loomir.Simulator, pes: int, directive: int, root: int, count: int) -> int:
    """Return the cycles of one directive; check what it has done."""
    space = simulator.get("sent").shape[2]
    numbers = np.random.default_rng(count).integers(0, 99, (1, pes, space)).astype(np.float32)
    simulator.launch("run", directive, root, 1)  # turns the links
    simulator.set("sent", numbers.view(np.uint32))
    simulator.launch("run", directive, root, count)
    sent, received = (simulator.get(name).view(np.float32)[0] for name in ("sent", "received"))
    own = numbers[0]
    if DIRECTIVES[directive] == "broadcast":
        np.testing.assert_array_equal(sent[:, :count], own[root : root + 1, :count].repeat(pes, axis=0))
    elif DIRECTIVES[directive] == "scatter":
        np.testing.assert_array_equal(received[:, :count], own[root, : pes * count].reshape(pes, count))
    elif DIRECTIVES[directive] == "gather":
        np.testing.assert_array_equal(received[root, : pes * count], own[:, :count].ravel())
    else:
        np.testing.assert_array_equal(received[root, :count], own[:, :count].sum(axis=0))
    begun, ended = (simulator.get(name)[0].astype(np.int64) @ (1, 1 << 16, 1 << 32) for name in ("begun", "ended"))
    return int(ended.max() - begun.min())


def bound(pes: int, directive: int, root: int, count: int, hop: int) -> int:
    """Return the cycles that no program goes below: hops to the farthest PE, and wavelets through the busiest port."""
    hops = hop * max(root, pes - 1 - root)
    name = DIRECTIVES[directive]
    if name in ("scatter", "gather"):
        # All chunks but the root's own go through its ramp.
        return max((pes - 1) * count + hop, hops + count)
    # A sum at a root in the middle takes two streams from its ramp.
    streams = 2 if name == "reduce_fadds" and 0 < root < pes - 1 else 1
    return hops + streams * count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", choices=sorted(TARGETS), default="wse3")
    parser.add_argument("--pes", type=int, nargs="+", default=[2, 8, 32])
    parser.add_argument("--elements", type=int, nargs="+", default=[1, 16, 128])
    arguments = parser.parse_args()
    hop = TARGETS[arguments.arch].timing.hop
    table = Table("directive", "PEs", "root", *(f"{count} elements" for count in arguments.elements))
    for pes in arguments.pes:
        simulator = simulator_of(pes, pes * max(arguments.elements), arguments.arch)
        for directive, name in enumerate(DIRECTIVES):
            for root in sorted({0, pes // 2} if pes > 2 else {0}):
                cells = [
                    f"{cycles(simulator, pes, directive, root, count):,} / {bound(pes, directive, root, count, hop):,}"
                    for count in arguments.elements
                ]
                table.add_row(name, str(pes), "end" if root == 0 else "middle", *cells)
    Console(width=120).print(f"cycles / bound, {arguments.arch}", table)


if __name__ == "__main__":
    main()
