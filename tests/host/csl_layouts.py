"""A CSL program for the tests of the hosts: pointers and functions are exported, and one function forgets to listen."""

from __future__ import annotations

from pathlib import Path

LAYOUT = """
param width: u16;
param length: u16 = 4;
param negate: bool = false;
param scale: f32 = 1.0;
const memcpy = @import_module("<memcpy/get_params>", .{ .width = width, .height = 2 });
layout {
  @set_rectangle(width, 2);
  for (@range(u16, width)) |x| {
    for (@range(u16, 2)) |y| {
      @set_tile_code(x, y, "pe.csl", .{
        .memcpy_params = memcpy.get_params(x), .x = x, .length = length, .negate = negate, .scale = scale
      });
    }
  }
  @export_name("values", [*]f32, true);
  @export_name("ids", [*]u16, false);
  @export_name("add", fn(f32, u16)void);
  @export_name("forget", fn()void);
}
"""
PE = """
param memcpy_params;
param x: u16;
param length: u16;
param negate: bool;
param scale: f32;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
var values = @zeros([length]f32);
var ids = [2]u16 { 0, 0xffff };
var values_ptr: [*]f32 = &values;
const ids_ptr: [*]u16 = &ids;
fn add(step: f32, times: u16) void {
  ids[0] = x;
  for (@range(u16, times)) |k| {
    for (@range(u16, length)) |i| {
      values[i] += if (negate) -step * scale else step * scale;
    }
  }
  sys.unblock_cmd_stream();
}
fn forget() void {
  if (x == 0) sys.unblock_cmd_stream();
}
comptime {
  @export_symbol(values_ptr, "values");
  @export_symbol(ids_ptr, "ids");
  @export_symbol(add);
  @export_symbol(forget);
}
"""


def write_layout(directory: Path) -> Path:
    """Write the program; return its layout file."""
    (directory / "pe.csl").write_text(PE)
    layout = directory / "layout.csl"
    layout.write_text(LAYOUT)
    return layout
