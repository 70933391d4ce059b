"""A multicast one branch of which turns, and what the receiver straight ahead sends on."""

from __future__ import annotations

import pytest

import loomir

from .harness import Csl

LAYOUT = """
layout {
  @set_rectangle(2, 2);
  for (@range(i16, 2)) |x| { for (@range(i16, 2)) |y| { @set_tile_code(x, y, "pe.csl", .{ .x = x, .y = y }); } }
  const c = @get_color(1);
  const d = @get_color(2);
  @set_color_config(0, 0, c, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
  @set_color_config(1, 0, c, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP, SOUTH } } });
  @set_color_config(1, 1, c, .{ .routes = .{ .rx = .{ NORTH }, .tx = .{ RAMP } } });
  @set_color_config(1, 0, d, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ SOUTH } } });
  @set_color_config(1, 1, d, .{ .routes = .{ .rx = .{ NORTH }, .tx = .{ RAMP } } });
  @export_name("out", [*]u16, true);
  @export_name("main", fn() void);
}
"""
PE = """
param x: i16;
param y: i16;
const c = @get_color(1);
const d = @get_color(2);
var out = @zeros([4]u16);
var out_exported: [*]u16 = &out;
var count: u16 = 0;
const sends = @get_dsd(fabout_dsd, .{
  .extent = 1, .fabric_color = if (x == 0) c else d, .output_queue = @get_output_queue(2)
});
fn note(value: u16) void { out[count] = value; count += 1; }
task first(word: u16) void { if (y == 0) { @mov16(sends, 2); } else { note(word); } }
task second(word: u16) void { note(word); }
comptime {
  if (x == 1) { @bind_data_task(first, @get_data_task_id(c)); }
  if (x == 1 and y == 1) { @bind_data_task(second, @get_data_task_id(d)); }
  @export_symbol(out_exported, "out");
  @export_symbol(main);
}
fn main() void { if (x == 0 and y == 0) { @mov16(sends, 1); } }
"""


@pytest.mark.slow
def test_the_branch_that_turns_is_not_overtaken(csl: Csl) -> None:
    simulator = loomir.Simulator(loomir.compile(csl.layout(LAYOUT, PE).module), step_limit=10_000)
    simulator.launch("main")
    assert simulator.get("out")[1, 1].tolist() == [1, 2, 0, 0]
