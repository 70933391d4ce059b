"""Teardown phases: routes and switches that programs rewrite while they run, on both executors with the same clocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from loomir.diagnostics.errors import LoomError

from .harness import Csl, on_both

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


@pytest.mark.slow
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


ONE = """
const tile = @import_module("<tile_config>");
const switches = @import_module("<memcpy/memcpy_switches>");
const c = @get_color(2);
const iq = @get_input_queue(2);
const oq = @get_output_queue(3);
const command = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = oq, .control = true });
var out = @zeros([4]u16);
const register: u16 = if (@is_arch("wse2")) 0x7f22 else 0x7c02;
var at: u16 = register;
fn torn() void { out[0] += 1; }
fn tear_down() void { @mov32(command, switches.ctrl(switches.teardown_cmd_1())); }
comptime {
  if (@is_arch("wse3")) { @initialize_queue(oq, .{ .color = c }); }
  @set_local_color_config(c, .{ .routes = .{ .rx = .{RAMP}, .tx = .{RAMP} } });
}
"""

HANDLED = ONE + "comptime { @set_teardown_handler(torn, c); }\n"


def one_pe(csl: Csl, text: str, arch: str = "wse3") -> list[int]:
    """Return what a program of one PE leaves, the same on both executors."""
    program = csl.program(text, {"out": "u16"}, arch=arch)
    with pytest.MonkeyPatch.context() as patch:
        return on_both(program, patch, "out", (1,))[0][0][0]


@pytest.mark.slow
@ARCHITECTURES
def test_registers_of_a_color(csl: Csl, arch: str) -> None:
    """@get_config, @set_config, a pointer and <tile_config> see one register: RAMP to RAMP, then EAST to WEST too."""
    text = """
    fn main() void {
      out[0] = @get_config(register);
      tile.color_config.set_io_direction(c, tile.color_config.fabric_io.RX_EAST);
      out[1] = @get_config(at, .{.{register - 2, register + 13}, .{0x7f40, 0x7f4f}});
      @set_config(at, @get_config(at) | 1);
      out[2] = @bitcast(*u16, at * 2).*;
      tile.color_config.toggle_io_direction(at, tile.color_config.fabric_io.RX_RAMP);
      tile.color_config.clear_io_direction(c, tile.color_config.fabric_io.TX_RAMP);
      out[3] = @get_config_unchecked(register);
    }
    """
    assert one_pe(csl, HANDLED + text, arch) == [0x210, 0x250, 0x251, 0x041]


@ARCHITECTURES
def test_registers_of_a_switch(csl: Csl, arch: str) -> None:
    text = """
    const s = tile.switch_config;
    fn main() void {
      s.set_ring_mode(c, s.ring_mode.RING_MODE);
      s.set_invalid_for_all_switch_positions(c);
      s.set_rx_switch_pos1(c, EAST);
      s.set_switch_pos(s.switch_pos.POS2, c, SOUTH, s.switch_select.OUTPUT);
      s.set_pop_mode(c, s.pop_mode.POP_ON_ADVANCE);
      s.set_current_switch_position(c, 2);
      out[0] = @get_config(s.get_switch_config_addr(c, s.ring_mode));
      out[1] = @get_config(s.get_switch_config_addr(c, s.pop_mode)) >> 12;
      out[2] = @get_config(s.get_switch_config_addr(c, s.switch_pos));
      s.clear_current_position(c);
      out[3] = @get_config(0x7f42) >> 13;
    }
    """
    packed = 9 | 2 << 4 | 5 << 8 if arch == "wse2" else 0
    first = packed | 1 << 12 | 2 << 13 if arch == "wse2" else 2 << 5 | 1 << 11
    assert one_pe(csl, HANDLED + text, arch) == [packed | 1 << 12 | 2 << 13, 2, first, 0]


@ARCHITECTURES
def test_a_handler_runs_once_for_each_teardown(csl: Csl, arch: str) -> None:
    """What is sent in a teardown phase waits until its end, also a second command."""
    text = """
    const end_id = @get_local_task_id(9);
    fn main() void { tear_down(); tear_down(); @activate(end_id); }
    task end() void { out[1] = out[0]; tile.teardown.exit(c); }
    comptime { @bind_local_task(end, end_id); }
    """
    assert one_pe(csl, HANDLED + text, arch)[:2] == [2, 1]


@pytest.mark.slow
def test_a_task_of_the_program_for_teardowns(csl: Csl) -> None:
    text = """
    task down() void {
      const pending = tile.teardown.get_pending();
      out[0] = @as(u16, pending);
      out[1] = @as(u16, tile.teardown.get_pending());
      out[2] = @as(u16, tile.teardown.is_pending(pending, c)) + 2 * @as(u16, tile.teardown.is_pending(pending, other));
      tile.teardown.exit(c);
    }
    const other = @get_color(3);
    fn main() void { tear_down(); }
    comptime { @bind_local_task(down, tile.teardown.get_task_id()); }
    """
    assert one_pe(csl, ONE + text)[:3] == [1 << 2, 0, 1]


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("executor", ["reference", "core"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fn main() void { tile.teardown.exit(c); tear_down(); }", "whose program has no teardown handler for it"),
        (
            "fn main() void { out[0] = @get_config(0x7fb0); }",
            "0x7fb0 is not the address of a configuration register of PE (0, 0)",
        ),
        (
            "fn main() void { @set_config(at + 0x33e, 1); }",
            "0x7f40 is not the address of a configuration register of PE (0, 0)",
        ),
        (
            "fn main() void { tile.switch_config.set_current_switch_position(c, 2); }",
            "the switch of color 'c' at PE (0, 0) is set to position 2, which is not given",
        ),
    ],
)
def test_errors_at_run_time(csl: Csl, text: str, message: str, executor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    with pytest.raises(LoomError) as caught:
        csl.start(ONE + text, {"out": "u16"}, arch="wse3").launch("main")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "comptime { @set_teardown_handler(«c», c); }",
            "is a function without parameters, not a value of type 'color'",
        ),
        ("comptime { @set_teardown_handler(torn, «iq»); }", "belongs to a color, not to a value of type 'input_queue'"),
        (
            "comptime { @set_teardown_handler(torn, c); «@set_teardown_handler(torn, c)»; }",
            "color 2 has two teardown handlers",
        ),
        ("fn main() void { out[0] = @get_config(«0x7000»); }", "0x7000 is not the address of a configuration register"),
        ("fn main() void { @set_config(«0x7f22», 1, .{0x7f23, 0x7f2f}); }", "use an address from 0x7f23 to 0x7f2f"),
        ("fn main() void { @set_config(0x7f22, 1, «.{8, 7}»); }", "the range 0x8 to 0x7 is empty"),
        (
            "fn main() void { «tile.switch_config.clear_current_position(@get_color(10))»; }",
            "routers of WSE-3 have switches for colors 0 to 9",
        ),
    ],
)
def test_refuses(csl: Csl, text: str, message: str) -> None:
    uses = "" if "main" in text else "fn main() void { }\n"
    csl.refuses(ONE + uses + text + "\ncomptime { @export_symbol(main); }", message, layout=LAYOUT, arch="wse3")


LAYOUT = """
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{});
  @export_name("main", fn() void);
}
"""


def test_control_wavelets_of_a_color_with_the_id_of_a_local_task(csl: Csl) -> None:
    """On WSE-2 the local task unblocks the color, whose control wavelets start control tasks."""
    text = """
    const send_id = @get_local_task_id(@get_int(c));
    var word = [1]u32{41 << 16};
    const word_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{1} -> word[i] });
    fn main() void { @activate(send_id); }
    task send() void { @mov32(command, word_dsd, .{ .async = true }); }
    task hit() void { out[0] += 1; }
    comptime {
      @bind_local_task(send, send_id);
      @bind_control_task(hit, @get_control_task_id(41));
    }
    """
    assert one_pe(csl, ONE + text, "wse2")[0] == 1
