"""Teardown phases: routes and switches that programs rewrite while they run, on both executors with the same clocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .harness import Csl

ARCHITECTURES = pytest.mark.parametrize("arch", ["wse2", "wse3"])

BEGIN = """
param x: i16;
param y: i16;
const tile = @import_module("<tile_config>");
const switches = @import_module("<memcpy/memcpy_switches>");
const c = @get_color(2);
const iq = @get_input_queue(2);
const oq = @get_output_queue(3);
const out = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = oq });
const command = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = oq, .control = true });
const in = @get_dsd(fabin_dsd, .{ .extent = 1, .fabric_color = c, .input_queue = iq });
comptime {
  @initialize_queue(iq, .{ .color = c });
  if (@is_arch("wse3")) { @initialize_queue(oq, .{ .color = c }); }
}
"""

SUM = """
// The sum of a row, by one color: first each PE adds its value to that of its west neighbor and sends it on east, which
// the switches of the routers let pass one by one; then the routes are turned around, and the last PE sends the
// sum to all others.
param width: i16;
var value = @zeros([1]i32);
var got = @zeros([1]i32);
var phases = @zeros([1]u16);
const value_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{1} -> value[i] });
const got_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{1} -> got[i] });
const next_id = @get_local_task_id(9);
const add_id = @get_local_task_id(10);
const done_id = @get_local_task_id(11);
var is_back = false;

fn advance() void {
  // This router lets the next one's wavelets pass; the next PE's router takes from its own ramp.
  @mov32(command, switches.ctrl(switches.switch_cmd_11()));
}

fn tear_down() void {
  @mov32(command, switches.ctrl(switches.teardown_cmd_1()));
}

fn main() void { @activate(next_id); }

task next() void {
  phases[0] += 1;
  const address = tile.color_config.get_color_config_addr(c);
  @block(next_id);
  if (is_back) {
    if (x == width - 1) {
      tile.color_config.reset_routes(address, .{ .rx = RAMP, .tx = WEST });
    } else if (x == 0) {
      tile.color_config.reset_routes(address, .{ .rx = EAST, .tx = RAMP });
    } else {
      tile.color_config.reset_routes(address, .{ .rx = EAST, .tx = [2]direction{ WEST, RAMP } });
    }
    tile.switch_config.clear_current_position(c);
    tile.switch_config.set_invalid_for_all_switch_positions(c);
    tile.teardown.exit(c);
    if (x == width - 1) {
      got[0] = value[0];
      @mov32(out, value_dsd);
      tear_down();
      @unblock(next_id);
    } else {
      @mov32(got_dsd, in, .{ .async = true, .unblock = next_id });
    }
    return;
  }
  if (x == 0) {
    tile.color_config.reset_routes(address, .{ .rx = RAMP, .tx = EAST });
  } else if (x == width - 1) {
    tile.color_config.reset_routes(address, .{ .rx = WEST, .tx = RAMP });
  } else {
    tile.color_config.reset_routes(address, .{ .rx = WEST, .tx = EAST });
  }
  tile.switch_config.clear_current_position(c);
  tile.switch_config.set_invalid_for_all_switch_positions(c);
  if (x != width - 1) { tile.switch_config.set_rx_switch_pos1(c, RAMP); }
  tile.teardown.exit(c);
  if (x == width - 1) {
    @activate(add_id);
  } else {
    @mov32(out, value_dsd);
    advance();
    if (x == 0) { tear_down(); }
    @unblock(next_id);
  }
}

var received: i16 = 0;
task add() void {
  if (received > 0) { value[0] += got[0]; }
  if (received < width - 1) {
    received += 1;
    @mov32(got_dsd, in, .{ .async = true, .activate = add_id });
  } else {
    received = 0;
    @unblock(next_id);
  }
}

task done() void { is_back = false; }

fn torn() void {
  if (is_back) { @activate(done_id); } else { is_back = true; @activate(next_id); }
}

comptime {
  @bind_local_task(next, next_id);
  @bind_local_task(add, add_id);
  @bind_local_task(done, done_id);
  @set_teardown_handler(torn, c);
  @set_local_color_config(c, .{ .routes = .{ .rx = .{WEST}, .tx = .{EAST} },
    .switches = .{ .pos1 = .{ .rx = RAMP }, .ring_mode = true, .pop_mode = .{ .pop_on_advance = true } },
    .teardown = true });
}
"""


def row_sums(csl: Csl, arch: str, values: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    height, width = values.shape
    exports = {"value": "i32", "got": "i32", "phases": "u16"}
    simulator = csl.start(
        BEGIN + SUM, exports, width=width, height=height, arch=arch, params=f".x = x, .y = y, .width = {width}"
    )
    for _ in range(2):
        simulator.set("value", values[..., None])
        simulator.launch("main")
    return simulator.get("got")[..., 0], simulator.get("phases")[..., 0], simulator.cycles


@ARCHITECTURES
def test_a_sum_by_one_color_whose_routes_are_rewritten(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each PE gets the sum of its row, also at the second launch; reference and core agree in the clocks."""
    values = np.arange(8, dtype=np.int32).reshape(2, 4) ** 2 + 1
    clocks: list[Any] = []
    for executor in ("reference", "core"):
        monkeypatch.setenv("LOOM_EXECUTOR", executor)
        got, phases, cycles = row_sums(csl, arch, values)
        assert (got == values.sum(axis=1, keepdims=True)).all()
        assert (phases == 4).all()
        clocks.append(cycles)
    assert clocks[0] == clocks[1]
