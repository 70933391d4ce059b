"""Compile time of a CSL layout as the PEs, and as the classes, grow.

    python bench/layout.py [--repeat N]

Every PE of the rectangle gets its own id, its coordinates and a weight, and every row its routes. With `classes` more
than one, the length of an array is id modulo `classes`, which compile time needs, so that there are so many programs.
The wanted picture: time grows with the classes, and only gently with the PEs. The last rows are for programs of a real
size: eight tasks that go on in one long function, which they reach by another. Seconds are the processor's.
"""

from __future__ import annotations

import argparse
import gc
import io
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from loomir import frontend
from loomir.backend.tables import assemble
from loomir.dialects import flow
from loomir.dialects.ir_text import print_ir
from loomir.host.compilation import compile as lower
from loomir.host.garbage_collection import collector_paused
from loomir.runtime.tables import file

LAYOUT = """
param width: u16;
param height: u16;
param classes: u16;

const east = @get_color(3);
const memcpy = @import_module("<memcpy/get_params>", .{ .width = width, .height = height });

layout {
  @set_rectangle(width, height);
  for (@range(u16, height)) |y| {
    for (@range(u16, width)) |x| {
      const id = @as(u32, y) * @as(u32, width) + @as(u32, x);
      @set_tile_code(x, y, "pe.csl", .{
        .memcpy_params = memcpy.get_params(x),
        .id = id,
        .x = x,
        .y = y,
        .weight = @as(f32, id) * 0.5,
        .length = @as(u16, id % classes) + 4,
        .is_first = x == 0,
      });
      if (x == 0) {
        @set_color_config(x, y, east, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
      } else if (x < width - 1) {
        @set_color_config(x, y, east, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP, EAST } } });
      } else {
        @set_color_config(x, y, east, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } });
      }
    }
  }
  @export_name("result", [*]f32, false);
  @export_name("compute", fn(f32)void);
}
"""

PE = """
param memcpy_params;
param id: u32;
param x: u16;
param y: u16;
param weight: f32;
param length: u16;
param is_first: bool;

const sys = @import_module("<memcpy/memcpy>", memcpy_params);

var values: [length]f32;
var result = @zeros([4]f32);
const result_ptr: [*]f32 = &result;
const dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{length} -> values[i] });

fn compute(factor: f32) void {
  @fmovs(dsd, weight);
  @fmuls(dsd, dsd, factor);
  result[0] = values[length - 1];
  result[1] = @as(f32, id);
  result[2] = @as(f32, x) + @as(f32, y);
  sys.unblock_cmd_stream();
}

comptime {
  @export_symbol(result_ptr, "result");
  @export_symbol(compute);
}
"""


TASKS = 8
"""Of a PE program of a real size."""

LINES = 60
"""Of its long function."""


def large_pe() -> str:
    """Return the code of a PE that waits for `TASKS` parts of a step, and then computes at length."""
    tasks = range(TASKS)
    long = "\n".join(
        f"  @fmacs(@increment_dsd_offset(dsd, {line % 3}, f32), dsd, dsd, weight * {line}.0);\n"
        f"  result[{line % 4}] += values[length - {1 + line % 4}] * factor;"
        for line in range(LINES)
    )
    code = "\n".join(
        f"const id_{task}: local_task_id = @get_local_task_id({8 + task});\n"
        f"task part_{task}() void {{ values[{task % 4}] += {task}.0; finish(); }}"
        for task in tasks
    )
    start = " ".join(f"@activate(id_{task});" for task in tasks)
    bindings = " ".join(f"@bind_local_task(part_{task}, id_{task});" for task in tasks)
    end = "  sys.unblock_cmd_stream();\n}\n\ncomptime {"
    head, tail = PE.split(end)
    return f"""{head}  {start}
}}

var factor: f32 = 2.0;
var finished: u16 = 0;
{code}
fn step() void {{
{long}
}}
fn finish() void {{
  finished += 1;
  if (finished != {TASKS}) {{ return; }}
  finished = 0;
  step();
  sys.unblock_cmd_stream();
}}

comptime {{
  {bindings}{tail}"""


SIZES = ((5, 2), (40, 25), (400, 250), (762, 1172))
"""Rectangles: 10, 1,000 and 100,000 PEs, and a whole WSE-3."""


class Times(NamedTuple):
    """Seconds of a compilation, and how large it was."""

    front_end: float
    passes: float
    writing: float
    programs: int
    lines: int

    @property
    def all(self) -> float:
        return self.front_end + self.passes + self.writing


def measure(directory: Path, width: int, height: int, classes: int) -> Times:
    """Compile, lower and write the layout as `loom cslc` does."""
    gc.collect()
    start = time.process_time()
    params = {"width": width, "height": height, "classes": classes}
    with collector_paused():
        layout = frontend.compile_layout(directory / "layout.csl", arch="wse3", params=params, memcpy=True)
        compiled = time.process_time()
        above = print_ir(layout.module)
        written = time.process_time()
        program = lower(layout.module, verify_each=False)
        lowered = time.process_time()
        print_ir(program.module)
        file.write(assemble(program.fabric), io.BytesIO())
    end = time.process_time()
    programs = sum(isinstance(op, flow.UnitsOp) for op in program.fabric.body.block.ops)
    writing = written - compiled + end - lowered
    return Times(compiled - start, lowered - written, writing, programs, above.count("\n"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="runs of each size; the fastest counts")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "layout.csl").write_text(LAYOUT)
        (directory / "pe.csl").write_text(PE)
        measure(directory, 2, 2, 1)  # imports and caches
        print(f"{'PEs':>8} {'programs':>8} {'lines of IR':>11} {'front end':>10} {'passes':>8} {'writing':>8}")
        for pe, (width, height), classes in [
            *((PE, size, 1) for size in SIZES),
            (PE, SIZES[1], 10),
            (PE, SIZES[1], 100),
            (PE, SIZES[2], 10),
            (large_pe(), SIZES[1], 1),
            (large_pe(), SIZES[1], 10),
            (large_pe(), SIZES[1], 100),
        ]:
            (directory / "pe.csl").write_text(pe)
            runs = (measure(directory, width, height, classes) for _ in range(arguments.repeat))
            best = min(runs, key=lambda run: run.all)
            print(
                f"{width * height:>8} {best.programs:>8} {best.lines:>11} {best.front_end:>9.3f}s "
                f"{best.passes:>7.3f}s {best.writing:>7.3f}s",
                flush=True,
            )


if __name__ == "__main__":
    main()
