"""Whole programs of several PEs, written from the manual alone, with what numpy says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from .harness import Csl

ARCHES = ("wse2", "wse3")
Array = NDArray[Any]


def route(x: int, y: int, color: int, rx: str, tx: str) -> str:
    routes = f".{{ .rx = .{{ {rx} }}, .tx = .{{ {tx} }} }}"
    return f"@set_color_config({x}, {y}, @get_color({color}), .{{ .routes = {routes} }});\n"


def hop(x: int, y: int, color: int, way: str) -> str:
    """Return the routes of a color from a PE to its neighbor."""
    dx, dy, back = {
        "EAST": (1, 0, "WEST"),
        "WEST": (-1, 0, "EAST"),
        "SOUTH": (0, 1, "NORTH"),
        "NORTH": (0, -1, "SOUTH"),
    }[way]
    return route(x, y, color, "RAMP", way) + route(x + dx, y + dy, color, back, "RAMP")


SORT = """
param px: i16; param w: i16; param out_e: color; param in_w: color; param out_w: color; param in_e: color;
const N: i16 = 4;
var keys = @zeros([N]f32);
var other = @zeros([N]f32);
const qe = @get_output_queue(2); const qw = @get_output_queue(3);
const ie = @get_input_queue(4); const iw = @get_input_queue(5);
const mine = @get_dsd(mem1d_dsd, .{ .base_address = &keys, .extent = 4 });
const theirs = @get_dsd(mem1d_dsd, .{ .base_address = &other, .extent = 4 });
const to_e = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = out_e, .output_queue = qe });
const to_w = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = out_w, .output_queue = qw });
const from_e = @get_dsd(fabin_dsd, .{ .extent = 4, .input_queue = ie });
const from_w = @get_dsd(fabin_dsd, .{ .extent = 4, .input_queue = iw });
const merge_id = @get_local_task_id(12); const step_id = @get_local_task_id(13);
var phase: i16 = 0;
fn is_left() bool { return (px + phase) % 2 == 0; }
task step() void {
  if (phase == w) { return; }
  const left = is_left();
  if (left and px == w - 1 or !left and px == 0) { phase += 1; @activate(step_id); return; }
  @block(merge_id);
  if (left) {
    @fmovs(to_e, mine, .{ .async = true, .unblock = merge_id });
    @fmovs(theirs, from_e, .{ .async = true, .activate = merge_id });
  } else {
    @fmovs(to_w, mine, .{ .async = true, .unblock = merge_id });
    @fmovs(theirs, from_w, .{ .async = true, .activate = merge_id });
  }
}
task merge() void {
  var both = @zeros([8]f32);
  var i: i16 = 0; var j: i16 = 0;
  for (@range(i16, 8)) |k| {
    if (j == N or (i < N and keys[i] <= other[j])) { both[k] = keys[i]; i += 1; }
    else { both[k] = other[j]; j += 1; }
  }
  const base: i16 = if (is_left()) 0 else 4;
  for (@range(i16, N)) |k| { keys[k] = both[base + k]; }
  phase += 1;
  @activate(step_id);
}
fn main() void {
  for (@range(i16, 1, N, 1)) |i| {
    const key = keys[i];
    var j: i16 = i - 1;
    while (j >= 0 and keys[j] > key) : (j -= 1) { keys[j + 1] = keys[j]; }
    keys[j + 1] = key;
  }
  @activate(step_id);
}
comptime {
  @bind_local_task(merge, merge_id); @bind_local_task(step, step_id);
  @initialize_queue(ie, .{ .color = in_e }); @initialize_queue(iw, .{ .color = in_w });
  if (@is_arch("wse3")) { @initialize_queue(qe, .{ .color = out_e }); @initialize_queue(qw, .{ .color = out_w }); }
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_odd_even_sort(csl: Csl, arch: str) -> None:
    """A task that one completion activates and the other unblocks, in each phase again."""
    ways = [("EAST", x, 1 + x % 2) for x in range(3)] + [("WEST", x, 3 + x % 2) for x in range(1, 4)]
    colors = "@get_color(1 + @as(u16, (x + {}) % 2))", "@get_color(3 + @as(u16, (x + {}) % 2))"
    params = (
        f".px = x, .w = 4, .out_e = {colors[0].format(0)}, .in_w = {colors[0].format(1)}, "
        f".out_w = {colors[1].format(0)}, .in_e = {colors[1].format(1)}"
    )
    routes = "".join(hop(x, 0, color, way) for way, x, color in ways)
    simulator = csl.start(SORT, {"keys": "f32"}, arch=arch, width=4, params=params, layout=routes)
    keys = np.random.default_rng(3).standard_normal((1, 4, 4)).astype(np.float32)
    simulator.set("keys", keys)
    simulator.launch("main")
    assert simulator.get("keys").ravel().tolist() == sorted(keys.ravel().tolist())


SWAP = """
param out_color: color; param in_color: color; param n: i16;
var mine = @zeros([n]f32);
var theirs = @zeros([n]f32);
const out = @get_output_queue(2);
const in = @get_input_queue(3);
const all = @get_dsd(mem1d_dsd, .{ .base_address = &mine, .extent = n });
const other = @get_dsd(mem1d_dsd, .{ .base_address = &theirs, .extent = n });
const to = @get_dsd(fabout_dsd, .{ .extent = n, .fabric_color = out_color, .output_queue = out });
const from = @get_dsd(fabin_dsd, .{ .extent = n, .fabric_color = in_color, .input_queue = in });
const half_id = @get_local_task_id(12); const done_id = @get_local_task_id(13);
var rounds: i16 = 3;
task half() void { swap(); }
task done() void { }
fn swap() void {
  if (rounds == 0) { @activate(done_id); return; }
  rounds -= 1;
  @fmovs(to, all, .{ .async = true });
  @fmovs(other, from);
  @fadds(all, all, other);
  @fmuls(all, all, 0.5);
  mine[0] += 1.0;
  @activate(half_id);
}
fn main() void { swap(); }
comptime {
  @bind_local_task(half, half_id); @bind_local_task(done, done_id);
  @initialize_queue(in, .{ .color = in_color });
  if (@is_arch("wse3")) { @initialize_queue(out, .{ .color = out_color }); }
}
"""


@pytest.mark.parametrize("arch", ARCHES)
def test_neighbors_swap_on_colors_of_their_own(csl: Csl, arch: str) -> None:
    """Pairs of PEs that run one body; the colors of its queues are others in each of the six programs."""
    width, n = 6, 5
    params = (
        ".out_color = @get_color(if (x % 2 == 0) 4 + @as(u16, x / 2) else 8 + @as(u16, x / 2)), "
        ".in_color = @get_color(if (x % 2 == 0) 8 + @as(u16, x / 2) else 4 + @as(u16, x / 2)), .n = 5"
    )
    routes = "".join(hop(x, 0, 4 + x // 2, "EAST") + hop(x + 1, 0, 8 + x // 2, "WEST") for x in range(0, width, 2))
    simulator = csl.start(SWAP, {"mine": "f32"}, arch=arch, width=width, params=params, layout=routes)
    mine = np.random.default_rng(5).standard_normal((1, width, n)).astype(np.float32)
    simulator.set("mine", mine)
    simulator.launch("main")
    for _ in range(3):
        swapped = mine.reshape(1, -1, 2, n)[:, :, ::-1].reshape(mine.shape)
        mine = (mine + swapped) * np.float32(0.5)
        mine[..., 0] += np.float32(1)
    np.testing.assert_array_equal(simulator.get("mine"), mine)


JACOBI = """
param px: i16; param py: i16; param ox: u16; param oy: u16;
const W = 2; const H = 2; const n = 3; const S = 5; const ROUNDS = 3;
var u = @zeros([S,S]f32);
var v = @zeros([S,S]f32);
const oe = @get_output_queue(2); const ow = @get_output_queue(3);
const os = @get_output_queue(4); const on = @get_output_queue(5);
const ie = @get_input_queue(6); const iw = @get_input_queue(7);
const si = @get_input_queue(0); const ni = @get_input_queue(1);
fn east(comptime odd: u16) color { return @get_color(1 + odd); }
fn west(comptime odd: u16) color { return @get_color(3 + odd); }
fn south(comptime odd: u16) color { return @get_color(5 + odd); }
fn north(comptime odd: u16) color { return @get_color(7 + odd); }
fn send(comptime q: output_queue, comptime c: color) fabout_dsd {
  return @get_dsd(fabout_dsd, .{ .extent = n, .fabric_color = c, .output_queue = q });
}
fn take(comptime q: input_queue) fabin_dsd { return @get_dsd(fabin_dsd, .{ .extent = n, .input_queue = q }); }
const column = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{n} -> u[i + 1, 0] });
const row = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{n} -> u[0, i + 1] });
const core = @get_dsd(mem4d_dsd, .{ .tensor_access = |i,j|{n, n} -> u[i + 1, j + 1] });
const sums = @get_dsd(mem4d_dsd, .{ .tensor_access = |i,j|{n, n} -> v[i + 1, j + 1] });
const start_id = @get_local_task_id(9); const compute_id = @get_local_task_id(10);
const ids = [8]local_task_id{
  @get_local_task_id(11), @get_local_task_id(12), @get_local_task_id(13), @get_local_task_id(14),
  @get_local_task_id(15), @get_local_task_id(16), @get_local_task_id(17), @get_local_task_id(18),
};
var rounds: i16 = 0;
var left: i16 = 0;
fn done() void { left -= 1; if (left == 0) @activate(compute_id); }
task t0() void { done(); } task t1() void { done(); } task t2() void { done(); } task t3() void { done(); }
task t4() void { done(); } task t5() void { done(); } task t6() void { done(); } task t7() void { done(); }
task start() void {
  if (rounds == ROUNDS) { return; }
  left = 1;
  if (px < W - 1) {
    left += 2;
    @fmovs(send(oe, east(ox)), @increment_dsd_offset(column, n, f32), .{ .async = true, .activate = ids[0] });
    @fmovs(@increment_dsd_offset(column, n + 1, f32), take(ie), .{ .async = true, .activate = ids[1] });
  }
  if (px > 0) {
    left += 2;
    @fmovs(send(ow, west(ox)), @increment_dsd_offset(column, 1, f32), .{ .async = true, .activate = ids[2] });
    @fmovs(column, take(iw), .{ .async = true, .activate = ids[3] });
  }
  if (py < H - 1) {
    left += 2;
    @fmovs(send(os, south(oy)), @increment_dsd_offset(row, n * S, f32), .{ .async = true, .activate = ids[4] });
    @fmovs(@increment_dsd_offset(row, (n + 1) * S, f32), take(si), .{ .async = true, .activate = ids[5] });
  }
  if (py > 0) {
    left += 2;
    @fmovs(send(on, north(oy)), @increment_dsd_offset(row, S, f32), .{ .async = true, .activate = ids[6] });
    @fmovs(row, take(ni), .{ .async = true, .activate = ids[7] });
  }
  done();
}
task compute() void {
  @fadds(sums, @increment_dsd_offset(core, 1, f32), @increment_dsd_offset(core, -1, f32));
  @fadds(sums, sums, @increment_dsd_offset(core, S, f32));
  @fadds(sums, sums, @increment_dsd_offset(core, -S, f32));
  @fmuls(core, sums, 0.25);
  rounds += 1;
  @activate(start_id);
}
fn main() void { @activate(start_id); }
comptime {
  @bind_local_task(start, start_id); @bind_local_task(compute, compute_id);
  @bind_local_task(t0, ids[0]); @bind_local_task(t1, ids[1]);
  @bind_local_task(t2, ids[2]); @bind_local_task(t3, ids[3]);
  @bind_local_task(t4, ids[4]); @bind_local_task(t5, ids[5]);
  @bind_local_task(t6, ids[6]); @bind_local_task(t7, ids[7]);
  @initialize_queue(iw, .{ .color = east(1 - ox) }); @initialize_queue(ie, .{ .color = west(1 - ox) });
  @initialize_queue(ni, .{ .color = south(1 - oy) }); @initialize_queue(si, .{ .color = north(1 - oy) });
  if (@is_arch("wse3")) {
    @initialize_queue(oe, .{ .color = east(ox) }); @initialize_queue(ow, .{ .color = west(ox) });
    @initialize_queue(os, .{ .color = south(oy) }); @initialize_queue(on, .{ .color = north(oy) });
  }
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_jacobi_with_halos(csl: Csl, arch: str) -> None:
    """Eight operations at once from edited descriptors, boxes of a tile that read and write each other's rows."""
    routes = "".join(
        hop(0, k, 1, "EAST") + hop(1, k, 4, "WEST") + hop(k, 0, 5, "SOUTH") + hop(k, 1, 8, "NORTH") for k in range(2)
    )
    params = ".px = x, .py = y, .ox = @as(u16, x % 2), .oy = @as(u16, y % 2)"
    simulator = csl.start(JACOBI, {"u": "f32"}, arch=arch, width=2, height=2, params=params, layout=routes)
    grid = np.zeros((8, 8), np.float32)
    grid[1:7, 1:7] = np.random.default_rng(4).standard_normal((6, 6)).astype(np.float32)
    tiles = np.zeros((2, 2, 5, 5), np.float32)
    for y, x in np.ndindex(2, 2):
        tiles[y, x, 1:4, 1:4] = grid[1 + 3 * y : 4 + 3 * y, 1 + 3 * x : 4 + 3 * x]
    simulator.set("u", tiles.reshape(2, 2, 25))
    simulator.launch("main")
    for _ in range(3):
        sums = grid[1:-1, 2:] + grid[1:-1, :-2] + grid[2:, 1:-1] + grid[:-2, 1:-1]
        grid[1:-1, 1:-1] = sums * np.float32(0.25)
    found = simulator.get("u").reshape(2, 2, 5, 5)
    for y, x in np.ndindex(2, 2):
        np.testing.assert_array_equal(found[y, x, 1:4, 1:4], grid[1 + 3 * y : 4 + 3 * y, 1 + 3 * x : 4 + 3 * x])


RELAY = """
param px: i16;
const c1 = @get_color(4); const c2 = @get_color(5);
const ctl = @import_module("<control>");
const oq = @get_output_queue(3); const iq = @get_input_queue(2);
var sums = @zeros([4]u32);
var room = @zeros([5]u32);
const fifo = @allocate_fifo(room);
const word = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c1, .output_queue = oq });
const mark = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c1, .output_queue = oq, .control = true });
const from = @get_dsd(fabin_dsd, .{ .extent = 12, .input_queue = iq, .control_transform = true });
const to = @get_dsd(fabout_dsd, .{ .extent = 12, .fabric_color = c2, .output_queue = oq, .control_transform = true });
var k: u16 = 0;
const row_id = @get_control_task_id(40);
task data(x: u32) void { sums[k] += x; }
task row() void { k += 1; }
task end() void { sums[3] += 100; }
fn main() void {
  if (px == 0) {
    var v: u32 = 1;
    for (@range(i16, 3)) |r| {
      for (@range(i16, 3)) |i| { @mov32(word, v); v += 1; }
      @mov32(mark, ctl.encode_single_payload(ctl.opcode.NOP, false, row_id, 0));
    }
  } else if (px == 1) {
    @mov32(fifo, from, .{ .async = true });
    @mov32(to, fifo, .{ .async = true, .activate = end });
  }
}
comptime {
  @bind_local_task(end, @get_local_task_id(19));
  if (px == 2) {
    @bind_data_task(data, if (@is_arch("wse3")) @get_data_task_id(iq) else @get_data_task_id(c2));
    @bind_control_task(row, row_id);
  }
  @initialize_queue(iq, .{ .color = if (px == 2) c2 else c1 });
  if (@is_arch("wse3")) @initialize_queue(oq, .{ .color = if (px == 0) c1 else c2 });
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_control_wavelets_through_a_fifo(csl: Csl, arch: str) -> None:
    """DSD-256, DSD-257: control wavelets keep their places among the data, and start control tasks behind the FIFO."""
    routes = hop(0, 0, 4, "EAST") + hop(1, 0, 5, "EAST")
    simulator = csl.start(RELAY, {"sums": "u32"}, arch=arch, width=3, params=".px = x", layout=routes)
    simulator.launch("main")
    assert simulator.get("sums")[0].tolist() == [[0] * 4, [0, 0, 0, 100], [1 + 2 + 3, 4 + 5 + 6, 7 + 8 + 9, 0]]


MESSAGES = """
param px: i16;
const c = @get_color(4);
const ctl = @import_module("<control>");
const oq = @get_output_queue(3); const iq = @get_input_queue(2);
const MAX = 20;
var data = @zeros([MAX]i32);
var log = @zeros([MAX]i32);
var ends: i16 = 0;
var out = @zeros([1]i32);
const words = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = oq });
const end = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = oq, .control = true });
const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{MAX} -> data[i] });
const kept = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{MAX} -> log[i] });
const in = @get_dsd(fabin_dsd, .{ .extent = MAX, .input_queue = iq });
const to = @get_dsr(dsr_dest, 4);
const from = @get_dsr(dsr_src1, 4);
const got_id = @get_local_task_id(14);
const lengths = [6]u16{3, 1, 0, 5, 2, 4};
task got() void {
  ends += 1;
  out[0] += 10 * @as(i32, ends);
  if (ends < 6) { @mov32(to, from); }
}
fn main() void {
  if (px == 1) { @mov32(to, from); return; }
  var at = all;
  for (@range(i16, 6)) |m| {
    const length = lengths[m];
    @mov32(@set_dsd_length(words, length), @set_dsd_length(at, length));
    at = @increment_dsd_offset(at, @as(i16, length), i32);
    @mov32(end, ctl.encode_single_payload(ctl.opcode.NOP, false, {}, 0));
  }
}
comptime {
  @bind_local_task(got, got_id);
  @load_to_dsr(to, kept, .{ .save_address = true });
  @load_to_dsr(from, in, .{ .async = true, .on_control = .{ .activate = got_id } });
  @initialize_queue(iq, .{ .color = c });
  if (@is_arch("wse3")) { @initialize_queue(oq, .{ .color = c }); }
}
"""


@pytest.mark.parametrize("arch", ARCHES)
def test_messages_of_any_length(csl: Csl, arch: str) -> None:
    """DSR-066, DSD-200: control wavelets end receives by registers, the next of which appends; one message is empty."""
    simulator = csl.start(
        MESSAGES, {"data": "i32", "log": "i32", "out": "i32"}, arch=arch, width=2, params=".px = x",
        layout=hop(0, 0, 4, "EAST"),
    )  # fmt: skip
    data = np.arange(1, 41, dtype=np.int32).reshape(1, 2, 20)
    simulator.set("data", data)
    simulator.launch("main")
    assert simulator.get("log")[0, 1].tolist() == [*range(1, 16), *[0] * 5]
    assert simulator.get("out")[0].tolist() == [[0], [10 * (1 + 2 + 3 + 4 + 5 + 6)]]


PRIORITIES = """
const c1 = @get_color(4); const c2 = @get_color(5);
const o1 = @get_output_queue(2); const o2 = @get_output_queue(3);
const i1 = @get_input_queue(4); const i2 = @get_input_queue(5);
const N = 16;
var a = @zeros([N]f32); var b = @zeros([N]f32); var x = @zeros([N]f32); var y = @zeros([N]f32);
var order = @zeros([2]i16);
var k: i16 = 0;
const w3 = @is_arch("wse3");
const out1 = if (w3) @get_dsd(fabout_dsd, .{ .extent = N, .output_queue = o1, .priority = .{ .P1 = true } })
             else @get_dsd(fabout_dsd, .{ .extent = N, .fabric_color = c1, .output_queue = o1 });
const out2 = if (w3) @get_dsd(fabout_dsd, .{ .extent = N, .output_queue = o2, .priority = .{ .P2 = true } })
             else @get_dsd(fabout_dsd, .{ .extent = N, .fabric_color = c2, .output_queue = o2 });
const in1 = @get_dsd(fabin_dsd, .{ .extent = N, .input_queue = i1 });
const in2 = @get_dsd(fabin_dsd, .{ .extent = N, .input_queue = i2 });
fn all(comptime p: anytype) mem1d_dsd { return @get_dsd(mem1d_dsd, .{ .base_address = p, .extent = N }); }
const t1 = @get_local_task_id(9); const t2 = @get_local_task_id(10);
task first() void { order[k] = 1; k += 1; }
task second() void { order[k] = 2; k += 1; }
fn main() void {
  @fmovs(all(&x), in1, .{ .async = true });
  @fmovs(all(&y), in2, .{ .async = true });
  if (w3) {
    @fmovs(out1, all(&a), .{ .async = true, .activate = t1 });
    @fmovs(out2, all(&b), .{ .async = true, .activate = t2 });
  } else {
    @fmovs(out1, all(&a), .{ .async = true, .activate = t1, .priority = .{ .P1 = true } });
    @fmovs(out2, all(&b), .{ .async = true, .activate = t2, .priority = .{ .P2 = true } });
  }
}
comptime {
  @bind_local_task(first, t1); @bind_local_task(second, t2);
  @initialize_queue(i1, .{ .color = c1 }); @initialize_queue(i2, .{ .color = c2 });
  if (w3) { @initialize_queue(o1, .{ .color = c1 }); @initialize_queue(o2, .{ .color = c2 }); }
}
"""


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize(
    ("one", "other", "order"),
    [("low", "high", [2, 1]), ("low", "medium", [2, 1]), ("high", "low", [1, 2]), ("medium", "medium", [1, 2])],
)
def test_priorities_order_completions(csl: Csl, arch: str, one: str, other: str, order: list[int]) -> None:
    """DSD-232: of two sends at once the one of higher priority ends first; of equal ones the first issued."""
    text = PRIORITIES.replace("P1", one).replace("P2", other)
    routes = route(0, 0, 4, "RAMP", "RAMP") + route(0, 0, 5, "RAMP", "RAMP")
    arrays = dict.fromkeys("abxy", "f32") | {"order": "i16"}
    given = {name: np.random.default_rng(ord(name)).standard_normal(16).astype(np.float32) for name in "ab"}
    found = csl.run(text, arrays, given, arch=arch, layout=routes)
    assert found["order"].tolist() == order
    np.testing.assert_array_equal(found["x"], given["a"])
    np.testing.assert_array_equal(found["y"], given["b"])
