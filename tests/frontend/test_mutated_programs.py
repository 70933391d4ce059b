"""Programs with a few tokens left out, changed or doubled: they compile, or there is one located error."""

from __future__ import annotations

import random
import re

import pytest

import loomir
from loomir.diagnostics.errors import LoomError

from .harness import LAYOUT_FILE, PE_FILE, Csl

LAYOUT = """
param size: u16 = 4;
const c = @get_color(3);
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 3, .height = 1 });
layout {
  @set_rectangle(3, 1);
  for (@range(u16, 3)) |x| {
    const common = .{ .memcpy_params = memcpy.get_params(x), .size = size, .c = c };
    @set_tile_code(x, 0, "pe.csl", @concat_structs(common, .{ .first = x == 0, .scale = @as(f32, x) * 0.5 }));
    if (x < 2) { @set_color_config(x, 0, c, .{ .routes = .{ .rx = if (x == 0) RAMP else WEST, .tx = EAST } }); }
    else { @set_color_config(x, 0, c, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } }); }
  }
  @export_name("data", [*]f32, true);
  @export_name("main", fn (i16, f32) void);
}
"""
PE = """
param memcpy_params: comptime_struct;
param size: u16;
param c: color;
param first: bool;
param scale: f32;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const math = @import_module("<math>");
const point = struct { x: i16, y: f32 };
const mode = enum(u16) { idle, busy = 4 };
var data = [size]f32{ 1.0, scale, 3.0, 4.0 };
var data_ptr: [*]f32 = &data;
var corner = point{ .x = 3, .y = 0.5 };
var state = mode.idle;
const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{size} -> data[i] });
const wire = @get_dsd(fabout_dsd, .{ .extent = size, .fabric_color = c, .output_queue = @get_output_queue(2) });
const done = @get_local_task_id(10);
fn largest(comptime T: type, a: T, b: anytype) T { return if (a > b) a else b; }
fn table() [4]i16 {
  var t = @zeros([4]i16);
  for (@range(i16, 4)) |i| { t[i] = i * i; }
  return t;
}
const squares = table();
fn main(n: i16, by: f32) void {
  var i: i16 = 0;
  var sum: f32 = 0.0;
  outer: while (i < n) : (i += 1) {
    for (data) |v, k| { if (v > 3.0 and k != 2) { continue :outer; } sum += v * by; }
    switch (state) { mode.idle => { state = mode.busy; }, else => break }
  }
  const kept: f32 = blk: { if (sum > 10.0) { break :blk largest(f32, sum, by); } break :blk math.sqrt(sum); };
  data[1] = kept + @as(f32, squares[i & 3] + corner.x);
  corner.y += kept;
  @fmuls(all, all, by);
  if (first) { @fmovs(wire, all, .{ .async = true, .activate = finish }); } else { @activate(done); }
}
task finish() void { sys.unblock_cmd_stream(); }
comptime { @bind_local_task(finish, done); @export_symbol(data_ptr, "data"); @export_symbol(main); }
"""
TOKEN = re.compile(r'[A-Za-z_@]\w*|\d+(?:\.\d+)?|"[^"\n]*"|\S')
WORDS = (
    '0 1 -1 70000 1.5 true i16 f32 u8 [4]i16 {} .{} @as comptime x & * + == << "s" NORTH color void type @zeros .* [0] '
    "() anytype @get_color(3) size first c data corner sum mode"
)


def mutated(text: str, generator: random.Random) -> str:
    for _ in range(generator.choice([1, 1, 2])):
        tokens = list(TOKEN.finditer(text))
        token = generator.choice(tokens)
        new = generator.choice(["", generator.choice(WORDS.split()), generator.choice(tokens).group()])
        text = text[: token.start()] + new + text[token.end() :]
    return text


@pytest.mark.slow
def test_the_program_itself_works(csl: Csl) -> None:
    loomir.compile(csl.layout(LAYOUT, PE).module)


@pytest.mark.one_in(4)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_mutated(csl: Csl, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_STEP_LIMIT", "20000")
    generator = random.Random(seed)
    for _ in range(12):
        texts = {LAYOUT_FILE: LAYOUT, PE_FILE: PE}
        name = generator.choice([LAYOUT_FILE, PE_FILE, PE_FILE])
        texts[name] = mutated(texts[name], generator)
        try:
            loomir.compile(csl.layout(texts[LAYOUT_FILE], texts[PE_FILE], generator.choice(["wse2", "wse3"])).module)
        except LoomError as error:
            # A mistake may turn up in a library; notes tell how it got there.
            assert error.location is not None and str(csl.directory) in str(error), f"{error}\n{texts[name]}"
            assert "internal" not in str(error)
