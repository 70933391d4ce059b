"""How long a CSL layout takes to compile as the PEs, and as the classes, grow.

    python bench/layout.py

Every PE of the rectangle gets its own id, its coordinates and a weight, and every row its routes. With `classes` more
than one, the length of an array is id modulo `classes`, which compile time needs, so that there are so many programs.
The wanted picture: time grows with the classes, and only gently with the PEs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from loomir.dialects import flow
from loomir.frontend import csl
from loomir.host.compilation import compile as lower

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


SIZES = ((5, 2), (40, 25), (400, 250), (762, 1172))
"""Rectangles: 10, 1,000 and 100,000 PEs, and a whole WSE-3."""


def measure(directory: Path, width: int, height: int, classes: int) -> tuple[float, float, int]:
    """Seconds for the front end, seconds for the passes, and the number of PE programs."""
    start = time.perf_counter()
    params = {"width": width, "height": height, "classes": classes}
    layout = csl.compile_layout(directory / "layout.csl", arch="wse3", params=params)
    middle = time.perf_counter()
    program = lower(layout.module)
    end = time.perf_counter()
    programs = sum(isinstance(op, flow.UnitsOp) for op in program.fabric.body.block.ops)
    return middle - start, end - middle, programs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="runs of each size; the fastest counts")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "layout.csl").write_text(LAYOUT)
        (directory / "pe.csl").write_text(PE)
        measure(directory, 2, 2, 1)  # imports and caches
        print(f"{'PEs':>8} {'programs':>8} {'front end':>10} {'passes':>8}")
        for (width, height), classes in [
            *((size, 1) for size in SIZES),
            (SIZES[1], 10),
            (SIZES[1], 100),
            (SIZES[2], 10),
        ]:
            runs = (measure(directory, width, height, classes) for _ in range(arguments.repeat))
            best = min(runs, key=lambda run: run[0] + run[1])
            pes = width * height
            print(f"{pes:>8} {best[2]:>8} {best[0]:>9.3f}s {best[1]:>7.3f}s", flush=True)


if __name__ == "__main__":
    main()
