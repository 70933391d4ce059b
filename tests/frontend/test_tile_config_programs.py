"""Programs that use `<tile_config>`, filters, switches and handlers together, on both executors with the same clocks.

What comes out is worked out by hand, wavelet by wavelet, from the CSL manual and the decisions in docs/csl.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from loomir.diagnostics.errors import LoomError

from .harness import Csl

ARCHITECTURES = pytest.mark.parametrize("arch", ["wse2", "wse3"])
MAIN = ("main",)

BEGIN = """
param x: i16;
const tile = @import_module("<tile_config>");
const sw = @import_module("<memcpy/memcpy_switches>");
const ctl = @import_module("<control>");
const is_wse3 = @is_arch("wse3");
const c2 = @get_color(2); const iq2 = @get_input_queue(2); const oq2 = @get_output_queue(3);
const c5 = @get_color(5); const iq5 = @get_input_queue(4); const oq5 = @get_output_queue(5);
const data2 = if (is_wse3) @get_data_task_id(iq2) else @get_data_task_id(c2);
const data5 = if (is_wse3) @get_data_task_id(iq5) else @get_data_task_id(c5);
const done = @get_local_task_id(9);
var src = [12]u32{ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
var got = @zeros([12]u32);
var flags = @zeros([8]u16);
var at: u16 = 0;
fn values(comptime first: u16, comptime n: u16) mem1d_dsd {
  return @increment_dsd_offset(@get_dsd(mem1d_dsd, .{ .base_address = &src, .extent = n }), first, u32);
}
fn taken(first: i16, comptime n: u16) mem1d_dsd {
  return @increment_dsd_offset(@get_dsd(mem1d_dsd, .{ .base_address = &got, .extent = n }), first, u32);
}
fn out2(comptime n: u16) fabout_dsd {
  return @get_dsd(fabout_dsd, .{ .extent = n, .fabric_color = c2, .output_queue = oq2 });
}
fn in2(comptime n: u16) fabin_dsd {
  return @get_dsd(fabin_dsd, .{ .extent = n, .fabric_color = c2, .input_queue = iq2 });
}
const command2 = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c2, .output_queue = oq2, .control = true });
const command5 = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c5, .output_queue = oq5, .control = true });
fn keep(value: u32) void { got[at] = value; at += 1; }
task took(value: u32) void { keep(value); }
comptime {
  @initialize_queue(iq2, .{ .color = c2 });
  @initialize_queue(iq5, .{ .color = c5 });
  if (is_wse3) { @initialize_queue(oq2, .{ .color = c2 }); @initialize_queue(oq5, .{ .color = c5 }); }
}
fn nothing() void {}
"""


def run(
    csl: Csl, text: str, arch: str, monkeypatch: pytest.MonkeyPatch, width: int = 1, launches: Sequence[str] = MAIN
) -> tuple[Any, Any]:
    """Return `got` and `flags` of each PE, the same on both executors at the same cycle."""
    program = csl.program(
        BEGIN + text, {"got": "u32", "flags": "u16"}, dict.fromkeys(launches, "fn() void"), arch, width, params=".x = x"
    )
    seen: list[Any] = []
    for executor in ("reference", "core"):
        monkeypatch.setenv("LOOM_EXECUTOR", executor)
        import loomir

        simulator = loomir.Simulator(program, step_limit=200_000)
        for name in launches:
            simulator.launch(name)
        seen.append((simulator.get("got")[0].tolist(), simulator.get("flags")[0].tolist(), simulator.cycles))
    assert seen[0] == seen[1]
    return seen[0][0], seen[0][1]


@ARCHITECTURES
def test_a_router_becomes_a_tap(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """PE 1 holds the color back, adds its ramp with @set_config, and lets the wavelets pass."""
    text = """
    const register = @as(u16, tile.addresses.COLOR_CONFIG) + 2;
    comptime {
      @set_local_color_config(c2, .{
        .routes = .{ .rx = if (x == 0) RAMP else WEST, .tx = if (x == 3) RAMP else EAST }, .teardown = x == 1 });
    }
    fn main() void {
      flags[0] = @get_config(register);
      if (x == 0) { @mov32(out2(4), values(0, 4), .{ .async = true }); }
      if (x == 1) {
        @set_config(register, @get_config(register, .{ register, register }) | 16 | 0x8c00,
                    .{ .{ register, register + 3 }, .{ 0x7e00, 0x7e0f } });
        tile.teardown.exit(c2);
      }
      if (x == 1 or x == 3) { @mov32(taken(0, 4), in2(4), .{ .async = true }); }
      flags[1] = @get_config(register);
    }
    """
    got, flags = run(csl, text, arch, monkeypatch, 4)
    assert [values[:4] for values in got] == [[0] * 4, [1, 2, 3, 4], [0] * 4, [1, 2, 3, 4]]
    assert [each[0] for each in flags] == [2 | 1 << 9, 2 | 1 << 5 | 1 << 14, 2 | 1 << 5, 16 | 1 << 5]
    # Bits that no document describes keep what is written, and change nothing.
    assert flags[1][1] == 2 | 1 << 5 | 16 | 0x8C00


@ARCHITECTURES
def test_directions_one_by_one(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By color, by a color of the run, by address; and all at once, as arrays and single ones."""
    text = """
    const cc = tile.color_config;
    const io = cc.fabric_io;
    var blue = @get_color(2);
    comptime { @set_local_color_config(c2, .{ .routes = .{ .rx = RAMP, .tx = EAST }, .teardown = true }); }
    fn main() void {
      const a = cc.get_color_config_addr(blue);
      cc.set_io_direction(c2, io.TX_WEST); flags[0] = @get_config(a);
      cc.toggle_io_direction(blue, io.TX_WEST); flags[1] = @get_config(a);
      cc.toggle_io_direction(a, io.TX_NORTH); flags[2] = @get_config(a);
      cc.clear_io_direction(if (@is_arch("wse2")) 0x7f22 else 0x7c02, io.TX_EAST); flags[3] = @get_config(a);
      cc.reset_routes(blue, .{ .tx = [3]direction{ NORTH, SOUTH, WEST }, .rx = [1]direction{ RAMP } });
      flags[4] = @get_config(a);
      cc.reset_routes(c2, .{ .tx = NORTH, .rx = EAST }); flags[5] = @get_config(a);
    }
    """
    west, east, south, north, ramp, torn = 1, 2, 4, 8, 1 << 9, 1 << 14
    expected = [east | west | ramp, east | ramp, east | north | ramp, north | ramp, north | south | west | ramp]
    _, flags = run(csl, text, arch, monkeypatch)
    assert flags[0][:6] == [word | torn for word in (*expected, north | 1 << 6)]


@ARCHITECTURES
@pytest.mark.slow
def test_positions_that_the_program_chooses(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A router takes from the west first, then, when the PE has all, from the east."""
    text = """
    const s = tile.switch_config;
    comptime {
      @set_local_color_config(c2, .{ .teardown = x == 1,
        .routes = .{ .rx = if (x == 1) WEST else RAMP, .tx = if (x == 0) EAST else if (x == 1) RAMP else WEST } });
      @bind_local_task(step, done);
    }
    task step() void {
      flags[0] += 1;
      if (flags[0] == 1) {
        s.set_current_switch_position(c2, 1);
        @mov32(taken(6, 6), in2(6), .{ .async = true, .activate = done });
      } else {
        flags[1] = @get_config(s.get_switch_config_addr(c2, s.switch_status)) >> 13;
        s.clear_current_position(c2);
        flags[2] = @get_config(s.get_switch_config_addr(c2, s.switch_status)) >> 13;
      }
    }
    fn main() void {
      if (x == 1) {
        s.set_switch_pos(s.switch_pos.POS1, c2, EAST, s.switch_select.INPUT);
        s.set_switch_pos(s.switch_pos.POS2, c2, NORTH, s.switch_select.OUTPUT);
        tile.teardown.exit(c2);
        @mov32(taken(0, 6), in2(6), .{ .async = true, .activate = done });
      } else {
        if (x == 2) { for (@range(i16, 6)) |i| { src[i] += 100; } }
        @mov32(out2(6), values(0, 6), .{ .async = true });
      }
    }
    """
    got, flags = run(csl, text, arch, monkeypatch, 3)
    assert got[1] == [1, 2, 3, 4, 5, 6, 101, 102, 103, 104, 105, 106]
    assert flags[1][:3] == [2, 1, 0]


@ARCHITECTURES
def test_a_token_opens_one_router_after_the_other(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
    comptime {
      if (x == 0) {
        @set_local_color_config(c2, .{ .routes = .{ .rx = RAMP, .tx = EAST } });
      } else {
        @set_local_color_config(c2, .{ .routes = .{ .rx = WEST, .tx = RAMP },
          .switches = .{ .pos1 = .{ .tx = EAST }, .pop_mode = .{ .pop_on_advance = true } } });
      }
    }
    fn main() void {
      if (x == 0) {
        inline for ([3]u16{ 0, 3, 6 }) |first| {
          @mov32(out2(3), values(first, 3));
          @mov32(command2, sw.ctrl(sw.switch_cmd_1()));
        }
      } else {
        @mov32(taken(0, 3), in2(3), .{ .async = true });
      }
    }
    """
    got, _ = run(csl, text, arch, monkeypatch, 4)
    assert [values[:3] for values in got[1:]] == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


@ARCHITECTURES
def test_a_router_takes_off_a_command_that_does_nothing(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `.pop_on_advance_nop` the next router obeys the second command; its switch then passes the rest on."""
    text = """
    comptime {
      if (x == 0) {
        @set_local_color_config(c2, .{ .routes = .{ .rx = RAMP, .tx = EAST } });
      } else if (x == 1) {
        @set_local_color_config(c2, .{ .routes = .{ .rx = WEST, .tx = EAST },
          .switches = .{ .pos1 = .{ .tx = RAMP }, .pop_mode = .{ .pop_on_advance_nop = true } } });
      } else {
        @set_local_color_config(c2, .{ .routes = .{ .rx = WEST, .tx = RAMP },
          .switches = .{ .pos1 = .{ .tx = EAST } } });
      }
    }
    fn main() void {
      const no = sw.sw_nop;
      if (x == 0) {
        @mov32(out2(3), values(0, 3));
        @mov32(command2, sw.ctrl([8]u16{ no, sw.sw_adv, no, no, no, no, no, no }));
        @mov32(out2(3), values(3, 3));
      }
      if (x > 1) { @mov32(taken(0, 3), in2(3), .{ .async = true }); }
    }
    """
    got, _ = run(csl, text, arch, monkeypatch, 4)
    assert [values[:3] for values in got] == [[0] * 3, [0] * 3, [1, 2, 3], [4, 5, 6]]


@pytest.mark.one_in(2)
@ARCHITECTURES
@pytest.mark.parametrize("mode", ["RING_MODE", "NO_RING_MODE"])
@pytest.mark.slow
def test_the_program_sets_the_mode_of_a_switch(csl: Csl, arch: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind its last position a switch goes back to the route, or stays."""
    text = """
    const s = tile.switch_config;
    comptime {
      if (x == 0) {
        @set_local_color_config(c2, .{ .routes = .{ .rx = RAMP, .tx = EAST } });
      } else {
        @set_local_color_config(c2, .{ .routes = .{ .rx = WEST, .tx = RAMP }, .teardown = x == 1,
          .switches = .{ .ring_mode = OTHER, .pop_mode = .{ .always_pop = true } } });
      }
    }
    fn main() void {
      if (x == 1) {
        s.set_tx_switch_pos1(c2, EAST);
        s.set_ring_mode(c2, s.ring_mode.MODE);
        tile.teardown.exit(c2);
      }
      if (x == 0) {
        inline for ([3]u16{ 0, 3, 6 }) |first| {
          @mov32(out2(3), values(first, 3));
          @mov32(command2, sw.ctrl(sw.switch_cmd_1()));
        }
      } else {
        @mov32(taken(0, 3), in2(3), .{ .async = true, .activate = done });
      }
    }
    task again() void {
      flags[0] += 1;
      if (flags[0] == 1 and (x == 1) == (s.ring_mode.MODE == s.ring_mode.RING_MODE)) {
        @mov32(taken(3, 3), in2(3), .{ .async = true, .activate = done });
      }
    }
    comptime { @bind_local_task(again, done); }
    """
    text = text.replace(".MODE", f".{mode}").replace("OTHER", "false" if mode == "RING_MODE" else "true")
    got, _ = run(csl, text, arch, monkeypatch, 3)
    first, second = [1, 2, 3], [4, 5, 6]
    if mode == "RING_MODE":
        assert got[1][:6] == [*first, 7, 8, 9] and got[2][:6] == [*second, 0, 0, 0]
    else:
        assert got[1][:6] == [*first, 0, 0, 0] and got[2][:6] == [*second, 7, 8, 9]


@ARCHITECTURES
@pytest.mark.slow
def test_a_task_for_two_colors_that_are_torn_down(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first command of the wavelets is for the sender's router, the second tears down that of the receiver."""
    text = """
    const td = tile.teardown;
    const no = sw.sw_nop;
    const second = [8]u16{ no, sw.sw_teardown, no, no, no, no, no, no };
    comptime {
      const config = .{ .routes = .{ .rx = if (x == 0) RAMP else WEST, .tx = if (x == 0) EAST else RAMP },
                        .switches = .{ .pop_mode = .{ .always_pop = true } } };
      @set_local_color_config(c2, config);
      @set_local_color_config(c5, config);
      if (x == 1) { @bind_local_task(torn, td.get_task_id()); }
    }
    task torn() void {
      const pending = td.get_pending();
      if (td.is_pending(pending, c2)) {
        flags[0] += 1;
        td.exit(c2);
        @mov32(taken(0, 4), in2(4), .{ .async = true });
      }
      if (td.is_pending(pending, c5)) { flags[1] += 1; td.exit(c5); }
    }
    fn main() void {
      if (x == 0) {
        @mov32(command2, sw.ctrl(second));
        @mov32(out2(4), values(0, 4), .{ .async = true });
        @mov32(command5, sw.ctrl(second));
      }
    }
    """
    got, flags = run(csl, text, arch, monkeypatch, 2)
    assert got[1][:4] == [1, 2, 3, 4]
    # Each once: to read what is pending clears it.
    assert flags[1][:2] == [1, 1]


@ARCHITECTURES
@pytest.mark.slow
def test_the_root_of_a_broadcast_moves_from_launch_to_launch(
    csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    width = 4
    text = f"""
    const width: i16 = {width};
    var root: i16 = 0;
    const cc = tile.color_config;
    comptime {{
      @set_local_color_config(c2, .{{ .routes = .{{ .rx = RAMP, .tx = EAST }}, .teardown = true }});
      @set_teardown_handler(torn, c2);
    }}
    fn torn() void {{ flags[0] += 1; root += 1; }}
    fn main() void {{
      const last = width - 1;
      if (x == root) {{
        if (x == 0) {{ cc.reset_routes(c2, .{{ .rx = RAMP, .tx = EAST }}); }}
        else if (x == last) {{ cc.reset_routes(c2, .{{ .rx = RAMP, .tx = WEST }}); }}
        else {{ cc.reset_routes(c2, .{{ .rx = RAMP, .tx = [2]direction{{ EAST, WEST }} }}); }}
      }} else if (x < root) {{
        if (x == 0) {{ cc.reset_routes(c2, .{{ .rx = EAST, .tx = RAMP }}); }}
        else {{ cc.reset_routes(c2, .{{ .rx = EAST, .tx = [2]direction{{ WEST, RAMP }} }}); }}
      }} else {{
        if (x == last) {{ cc.reset_routes(c2, .{{ .rx = WEST, .tx = RAMP }}); }}
        else {{ cc.reset_routes(c2, .{{ .rx = WEST, .tx = [2]direction{{ EAST, RAMP }} }}); }}
      }}
      tile.teardown.exit(c2);
      if (x == root) {{
        for (@range(i16, 3)) |i| {{ src[i] = @as(u32, 10 * x + i + 1); }}
        @mov32(out2(3), values(0, 3));
        @mov32(command2, sw.ctrl(@constants([8]u16, sw.sw_teardown)));
      }} else {{
        @mov32(taken(root * 3, 3), in2(3), .{{ .async = true }});
      }}
    }}
    """
    got, flags = run(csl, text, arch, monkeypatch, width, ["main"] * width)
    for x in range(width):
        expected = [0 if root == x else 10 * root + n for root in range(width) for n in (1, 2, 3)]
        assert got[x] == expected and flags[x][0] == width


@ARCHITECTURES
def test_what_waits_passes_by_the_routes_of_the_cycle_in_which_it_does(
    csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wavelets wait at a router in teardown; soon after it is opened it is turned, with some of them still to come."""
    text = """
    var waits: i32 = 0;
    const register: u16 = if (@is_arch("wse2")) 0x7f22 else 0x7c02;
    comptime {
      @set_local_color_config(c2, .{ .teardown = x == 1,
        .routes = .{ .rx = if (x == 0) RAMP else WEST, .tx = if (x == 0) EAST else RAMP } });
      if (x > 0) { @bind_data_task(took, data2); }
    }
    fn main() void {
      if (x == 0) { @mov32(out2(12), values(0, 12), .{ .async = true }); }
      if (x == 1) {
        for (@range(i16, 30)) |i| { waits += 1; }
        // From the west to the ramp, and then to the east.
        @set_config(register, 16 | 1 << 5);
        @set_config(register, 2 | 1 << 5);
      }
    }
    """
    got, _ = run(csl, text, arch, monkeypatch, 3)
    here, there = ([value for value in values if value] for values in got[1:])
    assert here + there == list(range(1, 13)) and len(here) > 1 and len(there) > 1


@ARCHITECTURES
def test_filters_deal_a_stream(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each PE finds the id of its filter and sets its counter, so that each takes another wavelet of three."""
    text = """
    const f = tile.filters;
    comptime {
      if (x == 0) {
        @set_local_color_config(c2, .{ .routes = .{ .rx = RAMP, .tx = EAST } });
      } else {
        @set_local_color_config(c2, .{ .routes = .{ .rx = WEST, .tx = .{ RAMP, EAST } },
          .filter = .{ .kind = .{ .counter = true }, .count_data = true, .limit1 = 2, .max_counter = 0 } });
        @bind_data_task(took, data2);
      }
    }
    fn setup() void { if (x > 0) { f.set_counter(@get_filter_id(c2), (3 - (@as(u16, x) - 1)) % 3); } }
    fn main() void { if (x == 0) { @mov32(out2(12), values(0, 12), .{ .async = true }); } }
    """
    got, _ = run(csl, text, arch, monkeypatch, 4, ["setup", "main"])
    for x in (1, 2, 3):
        assert got[x][:4] == list(range(x, 13, 3))


@ARCHITECTURES
def test_a_sparse_counter_takes_its_second_limit_once(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
    comptime {
      @set_local_color_config(c2, .{ .routes = .{ .rx = RAMP, .tx = RAMP }, .filter = .{
        .kind = .{ .sparse_counter = true }, .count_data = true, .limit1 = 3, .limit2 = 2, .max_counter = 1 } });
      @bind_data_task(took, data2);
    }
    fn main() void { @mov32(out2(12), values(0, 12), .{ .async = true }); }
    """
    got, _ = run(csl, text, arch, monkeypatch)
    # Counters 0 to 3, then 0 to 2, then no filter.
    assert [value for value in got[0] if value] == [1, 2, 5, 6, 8, 9, 10, 11, 12]


@ARCHITECTURES
@pytest.mark.slow
def test_a_sparse_counter_without_limits_lets_all_pass(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its counter is."""
    text = """
    comptime {
      @set_local_color_config(c2, .{ .routes = .{ .rx = RAMP, .tx = RAMP }, .filter = .{
        .kind = .{ .sparse_counter = true }, .count_data = true, .init_counter = 5, .max_counter = 1 } });
      @bind_data_task(took, data2);
    }
    fn main() void { @mov32(out2(12), values(0, 12), .{ .async = true }); }
    """
    got, _ = run(csl, text, arch, monkeypatch)
    assert got[0] == list(range(1, 13))


@ARCHITECTURES
def test_a_router_does_not_send_back_where_wavelets_come_from(
    csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also not down the ramp what the PE sends, although the routes of the run name these ports."""
    text = """
    const cc = tile.color_config;
    comptime {
      @set_local_color_config(c2, .{ .teardown = true, .routes = .{
        .rx = if (x == 0) EAST else if (x == 1) RAMP else WEST, .tx = if (x == 1) EAST else RAMP } });
      @bind_data_task(took, data2);
    }
    fn main() void {
      if (x == 0) { cc.reset_routes(c2, .{ .rx = EAST, .tx = [2]direction{ EAST, RAMP } }); }
      if (x == 1) { cc.reset_routes(c2, .{ .rx = RAMP, .tx = [3]direction{ WEST, EAST, RAMP } }); }
      if (x == 2) { cc.reset_routes(c2, .{ .rx = WEST, .tx = [2]direction{ WEST, RAMP } }); }
      tile.teardown.exit(c2);
      if (x == 1) { @mov32(out2(12), values(0, 12), .{ .async = true }); }
    }
    """
    got, _ = run(csl, text, arch, monkeypatch, 3)
    assert got[0] == got[2] == list(range(1, 13))


@ARCHITECTURES
def test_the_mask_along_a_fifo(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the manual: data and control wavelets go through a FIFO; task 41 ^ 2 is started."""
    text = """
    comptime {
      @set_local_color_config(c2, .{ .routes = .{
        .rx = if (x == 0) RAMP else WEST, .tx = if (x == 0) EAST else RAMP } });
      @set_local_color_config(c5, .{ .routes = .{
        .rx = if (x == 1) RAMP else WEST, .tx = if (x == 1) EAST else RAMP } });
      tile.control_transform.set_mask(2);
      if (x == 2) {
        @bind_data_task(took, data5);
        @bind_control_task(hit, @get_control_task_id(43));
        if (is_wse3) { @set_control_task_table(); }
      }
    }
    const in_dsd = @get_dsd(fabin_dsd, .{
      .fabric_color = c2, .extent = 5, .input_queue = iq2, .control_transform = true });
    const out_dsd = @get_dsd(fabout_dsd, .{
      .fabric_color = c5, .extent = 5, .output_queue = oq5, .control_transform = true });
    var buffer = @zeros([5]u32);
    const fifo = @allocate_fifo(buffer);
    task hit(value: u16) void { keep(1000 + @as(u32, value)); }
    fn main() void {
      if (x == 0) {
        @mov32(out2(2), values(0, 2));
        @mov32(command2, ctl.encode_single_payload(ctl.opcode.NOP, false, @get_control_task_id(41), 7));
        @mov32(out2(2), values(2, 2));
      }
      if (x == 1) { @mov32(fifo, in_dsd, .{ .async = true }); @mov32(out_dsd, fifo, .{ .async = true }); }
    }
    """
    got, _ = run(csl, text, arch, monkeypatch, 3)
    assert got[2][:5] == [1, 2, 1007, 3, 4]


@ARCHITECTURES
def test_dropped_up_to_the_second_control_wavelet(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
    comptime {
      @set_local_color_config(c2, .{ .routes = .{
        .rx = if (x == 0) RAMP else WEST, .tx = if (x == 0) EAST else RAMP } });
      @bind_local_task(rest, done);
    }
    task rest() void { @mov32(taken(0, 3), in2(3), .{ .async = true }); }
    fn main() void {
      const mark = ctl.encode_control_task_payload(@get_control_task_id(41));
      if (x == 0) {
        @mov32(out2(4), values(0, 4)); @mov32(command2, mark);
        @mov32(out2(2), values(4, 2)); @mov32(command2, mark);
        @mov32(out2(3), values(6, 3));
      } else {
        @dfilt(in2(2), .{ .async = true, .activate = done });
      }
    }
    """
    got, _ = run(csl, text, arch, monkeypatch, 2)
    assert got[1][:4] == [7, 8, 9, 0]


def test_tasks_rotate_on_every_pe_by_itself(csl: Csl, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
    comptime {
      @set_local_color_config(c2, .{ .routes = .{ .rx = if (x == 0) RAMP else WEST,
        .tx = if (x < 2) [2]direction{ EAST, RAMP } else [1]direction{ RAMP } } });
      @set_control_task_table();
      @bind_rotating_tasks(took, other, @get_data_task_id(iq2), .{ .limit = 3, .init = @as(u16, x) });
    }
    task other() void { keep(100); }
    fn main() void { if (x == 0) { @mov32(out2(12), values(0, 12), .{ .async = true }); } }
    """
    got, _ = run(csl, text, "wse3", monkeypatch, 3)
    for x in range(3):
        counter, expected = x, list[int]()
        for value in range(1, 13):
            expected.append(100 if counter == 3 else value)
            counter = 0 if counter == 3 else counter + 1
        assert got[x] == expected


@pytest.mark.slow
def test_a_bus_turns_when_its_queue_is_flushed(csl: Csl, monkeypatch: pytest.MonkeyPatch) -> None:
    """The PE in the middle sends east; once its queue is empty it rewrites the route and sends west."""
    text = """
    const qf = tile.queue_flush;
    const status = tile.output_queue_status;
    comptime {
      if (x == 1) {
        @set_local_color_config(c2, .{ .routes = .{ .rx = RAMP, .tx = EAST } });
        @set_empty_queue_handler(drained, oq2);
      } else {
        @set_local_color_config(c2, .{ .routes = .{ .rx = if (x == 0) EAST else WEST, .tx = RAMP } });
      }
      @bind_local_task(sent, done);
    }
    fn drained() void {
      flags[0] += 1;
      flags[1] = qf.oq_status();
      flags[2] = @as(u16, status.is_empty(status.get(), oq2));
      qf.exit(oq2);
      if (flags[0] == 1) {
        tile.color_config.reset_routes(c2, .{ .rx = RAMP, .tx = WEST });
        @mov32(out2(4), values(4, 4), .{ .async = true, .activate = done });
      }
    }
    task sent() void { @queue_flush(oq2); }
    fn main() void {
      if (x == 1) { @mov32(out2(4), values(0, 4), .{ .async = true, .activate = done }); }
      else { @mov32(taken(0, 4), in2(4), .{ .async = true }); }
    }
    """
    got, flags = run(csl, text, "wse3", monkeypatch, 3)
    assert got[0][:4] == [5, 6, 7, 8] and got[2][:4] == [1, 2, 3, 4]
    assert flags[1][:3] == [2, 1 << 3, 1]


def test_the_flush_status_is_only_cleared_by_writing_it(csl: Csl, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ones that are written to it change nothing (LIB-033, LIB-034); each queue can be flushed again behind `exit`."""
    text = """
    const qf = tile.queue_flush;
    const register = @as(u16, tile.addresses.INPUT_QUEUE_STATUS) + 2;
    comptime {
      @set_local_color_config(c2, .{ .routes = .{ .rx = RAMP, .tx = RAMP } });
      @set_empty_queue_handler(first, iq2);
      @set_empty_queue_handler(second, oq2);
    }
    fn first() void { flags[0] += 1; }
    fn second() void { flags[1] += 1; qf.exit(oq2); }
    fn main() void { @set_config(register, 0xffff); flags[2] = qf.iq_status(); @queue_flush(iq2); }
    fn more() void {
      @set_config(register, 0xffff);
      flags[3] = qf.iq_status();
      qf.exit(iq2);
      flags[4] = qf.iq_status();
      @queue_flush(iq2);
      @queue_flush(oq2);
    }
    fn last() void { flags[5] = qf.iq_status(); flags[6] = qf.oq_status(); }
    """
    _, flags = run(csl, text, "wse3", monkeypatch, launches=["main", "more", "last"])
    # A handler is called for every queue that is flushed when the task starts, so twice for the first.
    assert flags[0][:7] == [2, 1, 0, 1 << 2, 0, 1 << 2, 0]


def test_states_of_a_filter(csl: Csl, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
    const f = tile.filters;
    comptime {
      @set_local_color_config(c2, .{ .routes = .{ .rx = RAMP, .tx = RAMP }, .filter = .{
        .kind = .{ .counter = true }, .count_data = true, .limit1 = 9, .max_counter = 1 } });
      @bind_data_task(took, data2);
    }
    fn setup() void {
      const id = @get_filter_id(c2);
      flags[0] = @as(u16, f.get_pass_count(id)); flags[1] = @as(u16, f.get_drop_count(id));
      f.set_pass_count(id, 6); f.set_drop_count(id, 4);
      flags[2] = @as(u16, f.get_pass_count(id)); flags[3] = @as(u16, f.get_drop_count(id));
      f.set_counter_and_state(id, 2, f.counter_filter_state.PASS);
      flags[4] = @as(u16, f.get_counter_value(id));
    }
    fn main() void { @mov32(out2(12), values(0, 12), .{ .async = true }); }
    fn after() void {
      const id = @get_filter_id(c2);
      flags[5] = @as(u16, f.get_counter_value(id));
      flags[6] = @as(u16, f.get_state(id));
    }
    """
    got, flags = run(csl, text, "wse3", monkeypatch, launches=["setup", "main", "after"])
    # Three pass and two do not; one is counted as passed at the start.
    assert [value for value in got[0] if value] == [v for v in range(1, 13) if v % 5 < 3]
    assert flags[0][:7] == [4, 16, 6, 4, 2, 0, 1]


def test_positions_in_one_register(csl: Csl, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four bits for each on WSE-2, and what is written is read again, also of positions that are not valid."""
    text = """
    const register = @as(u16, tile.addresses.SWITCH_CONFIG) + 2;
    comptime { @set_local_color_config(c2, .{ .routes = .{ .rx = RAMP, .tx = EAST }, .teardown = true }); }
    fn main() void {
      @set_config(register, 0x11d5); flags[0] = @get_config(register);
      @set_config(register, 0x0b15); flags[1] = @get_config(register);
      tile.switch_config.set_invalid_for_all_switch_positions(c2); flags[2] = @get_config(register);
      tile.switch_config.set_rx_switch_pos2(c2, NORTH); flags[3] = @get_config(register);
    }
    """
    _, flags = run(csl, text, "wse2", monkeypatch)
    assert flags[0][:4] == [0x11D5, 0x0B15, 0x0D55, 0x0DB5]


@ARCHITECTURES
@pytest.mark.slow
def test_tasks_change_their_priorities(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
    const tp = tile.task_priority;
    const a = @get_local_task_id(10); const b = @get_local_task_id(11); const d = @get_local_task_id(12);
    task first() void { keep(10); }
    task second() void { keep(11); }
    task third() void {
      keep(12);
      if (at == 3) {
        tp.clear_task_priority(d);
        tp.set_task_priority(b);
        @activate(a); @activate(b); @activate(d);
      }
    }
    comptime {
      @bind_local_task(first, a); @bind_local_task(second, b); @bind_local_task(third, d);
      tp.update_task_priority(d, tp.level.LOW);
    }
    fn main() void {
      tp.update_task_priority(b, tp.level.HIGH);
      tp.update_task_priority(b, tp.level.LOW);
      @activate(a); @activate(b); @activate(d);
    }
    """
    got, _ = run(csl, text, arch, monkeypatch)
    assert got[0][:6] == [10, 11, 12, 11, 10, 12]


@ARCHITECTURES
@pytest.mark.slow
def test_the_last_exception_mask_counts(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each mask replaces the one before; a PE stops at what the last one has unmasked."""
    text = """
    const e = tile.exceptions;
    var zero: f32 = 0.0;
    var big: f32 = 3.0e38;
    fn main() void {
      e.set_exception_mask(e.FP_DIV_BY_0 & e.FP_OVERFLOW);
      e.set_exception_mask(e.FP_INVALID);
      got[0] = @bitcast(u32, @as(f32, 1.0) / zero);
      got[1] = @bitcast(u32, big * big);
      e.set_exception_mask(0xffff);
      got[2] = @bitcast(u32, zero / zero) & 0x7f800000;
      e.set_exception_mask(e.FP_OVERFLOW);
      LAST
    }
    """
    got, _ = run(csl, text.replace("LAST", ""), arch, monkeypatch)
    assert got[0][:3] == [0x7F800000] * 3
    for executor in ("reference", "core"):
        refused(csl, text.replace("LAST", "big *= big;"), "an overflow stops PE (0, 0)", arch, executor, monkeypatch)


SWAPS = """
const c3 = @get_color(3);
const iq3 = @get_input_queue(5); const oq3 = @get_output_queue(4);
var others = @zeros([4]u32);
const others_dsd = @get_dsd(mem1d_dsd, .{ .base_address = &others, .extent = 4 });
const in3 = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c3, .input_queue = iq3 });
const out3 = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c3, .output_queue = oq3 });
const swap = CONFIG;
comptime {
  @initialize_queue(iq3, .{ .color = c3 });
  if (is_wse3) { @initialize_queue(oq3, .{ .color = c3 }); }
  const from = .{ .routes = .{ .rx = RAMP, .tx = EAST, .color_swap_x = swap.ramp, .color_swap_y = swap.ramp } };
  @set_local_color_config(c2, if (x == 0) from else .{ .routes = .{
    .rx = WEST, .tx = RAMP, .color_swap_x = swap.first, .color_swap_y = false } });
  @set_local_color_config(c3, if (x == 0) from else .{ .routes = .{
    .rx = WEST, .tx = RAMP, .color_swap_x = swap.second, .color_swap_y = false } });
}
fn main() void {
  if (x == 0) {
    @mov32(out2(4), values(0, 4));
    if (swap.sends_both) { @mov32(out3, values(4, 4)); }
  } else {
    @mov32(taken(0, 4), in2(4), .{ .async = true });
    @mov32(others_dsd, in3, .{ .async = true, .activate = done });
  }
}
task copy() void { for (@range(i16, 4)) |i| { got[4 + i] = others[i]; } }
comptime { @bind_local_task(copy, done); }
"""


@ARCHITECTURES
@pytest.mark.parametrize(
    ("config", "expected"),
    [
        # Both swap from the west: each takes what came on the other.
        (".{ .ramp = false, .first = true, .second = true, .sends_both = true }", [5, 6, 7, 8, 1, 2, 3, 4]),
        # One alone swaps: what comes on the other color is received on both.
        (".{ .ramp = false, .first = false, .second = true, .sends_both = false }", [1, 2, 3, 4, 1, 2, 3, 4]),
        # Both axes swap at the sender: so does its ramp.
        (".{ .ramp = true, .first = false, .second = false, .sends_both = true }", [5, 6, 7, 8, 1, 2, 3, 4]),
    ],
)
def test_colors_swap(csl: Csl, arch: str, config: str, expected: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Advanced Hardware Features, Color Swapping: the three cases of the manual."""
    got, _ = run(csl, SWAPS.replace("CONFIG", config), arch, monkeypatch, 2)
    assert got[1][:8] == expected


@ARCHITECTURES
def test_a_filter_that_counts_control_wavelets(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data passes by the counter too, which only control wavelets move."""
    text = """
    comptime {
      if (x == 0) {
        @set_local_color_config(c2, .{ .routes = .{ .rx = RAMP, .tx = EAST } });
      } else {
        @set_local_color_config(c2, .{ .routes = .{ .rx = WEST, .tx = RAMP }, .filter = .{
          .kind = .{ .counter = true }, .count_control = true, .limit1 = 2, .max_counter = 1 } });
        @bind_data_task(took, data2);
        @bind_control_task(hit, @get_control_task_id(40));
        if (is_wse3) { @set_control_task_table(); }
      }
    }
    task hit() void { keep(100); }
    fn main() void {
      const mark = ctl.encode_control_task_payload(@get_control_task_id(40));
      if (x == 0) {
        inline for ([3]u16{ 0, 1, 2 }) |first| { @mov32(out2(1), values(first, 1)); @mov32(command2, mark); }
        @mov32(out2(1), values(3, 1));
      }
    }
    """
    got, _ = run(csl, text, arch, monkeypatch, 2)
    assert got[1][:6] == [1, 100, 2, 100, 4, 0]


ROUTE = "comptime { @set_local_color_config(c2, .{ .routes = .{ .rx = RAMP, .tx = RAMP } }); }\n"
CONFIG = "tile.color_config"
TEARDOWN_WAVELET = "fn main() void { @mov32(command2, sw.ctrl(sw.teardown_cmd_1())); }"

MISTAKES = [
    # (the machines, the program, what the one error says)
    (
        "wse3",
        f"{CONFIG}.reset_routes(c2, .{{ .tx = WEST, .rx = [2]direction{{ RAMP, EAST }} }});",
        "on WSE-3 a color comes",
    ),
    ("both", f"{CONFIG}.reset_routes(c2, .{{ .tx = WEST }});", "reset_routes needs '.rx'"),
    (
        "both",
        f"{CONFIG}.reset_routes(c2, .{{ .tx = .{{ WEST, EAST }}, .rx = RAMP }});",
        "not a '.{direction, direction}'",
    ),
    ("both", f"{CONFIG}.reset_routes(c2, .{{ .tx = 3, .rx = RAMP }});", "not a 'comptime_int'"),
    ("both", f"{CONFIG}.set_io_direction(iq2, {CONFIG}.fabric_io.TX_EAST);", "is needed here, not a 'input_queue'"),
    ("both", f"{CONFIG}.set_io_direction(0x7fc8, {CONFIG}.fabric_io.TX_EAST);", "0x7fc8 is not the word address of a"),
    ("both", "tile.switch_config.set_current_switch_position(c2, 5);", "a switch has positions 0 to 3"),
    ("both", "flags[0] = 7; tile.switch_config.set_current_switch_position(c2, flags[0]);", "positions 0 to 3"),
    ("both", "tile.filters.set_counter(9, 0);", "there is no filter with this id"),
    ("both", "tile.filters.set_counter(3, 0);", "PE (0, 0) has no counter filter with id 3"),
    ("both", "flags[0] = 0x123; @set_config(flags[0], 1);", "291 is not the address of a configuration register"),
    (
        "both",
        "flags[0] = 0x7f22; _ = @get_config(flags[0], .{ 0x7f30, 0x7f3f });",
        "use an address from 0x7f30 to 0x7f3f",
    ),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("executor", ["reference", "core"])
@pytest.mark.parametrize(("arch", "statement", "message"), MISTAKES)
@pytest.mark.slow
def test_one_error_for_a_mistake(
    csl: Csl, arch: str, statement: str, message: str, executor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused(csl, f"{ROUTE}fn main() void {{ {statement} }}", message, arch, executor, monkeypatch)


def refused(csl: Csl, text: str, message: str, arch: str, executor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    for each in ("wse2", "wse3") if arch == "both" else (arch,):
        with pytest.raises(LoomError) as caught:
            csl.start(BEGIN + text, {"got": "u32"}, arch=each, params=".x = x").launch("main")
        assert message in str(caught.value) and "pe.csl:" in str(caught.value).splitlines()[0]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("executor", ["reference", "core"])
@pytest.mark.parametrize("changes", ["", "comptime { @set_teardown_handler(nothing, c5); }"])
@pytest.mark.slow
def test_a_teardown_that_nothing_expects(
    csl: Csl, changes: str, executor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a color whose routes never change, and whose routers are not simulated."""
    message = "a teardown command for the router of PE (0, 0), but no program tears it down"
    refused(csl, ROUTE + changes + TEARDOWN_WAVELET, message, "both", executor, monkeypatch)


@ARCHITECTURES
@pytest.mark.parametrize("order", [0, 1])
def test_a_task_in_place_of_handlers(csl: Csl, arch: str, order: int) -> None:
    """At the program's own task, whichever is bound first."""
    blocks = [
        "comptime { @set_teardown_handler(nothing, c2); }\n",
        "comptime { @bind_local_task(t, @get_local_task_id(29)); }\n",
    ]
    text = "task t() void {}\nfn main() void {}\n" + "".join(blocks[::-1] if order else blocks)
    with pytest.raises(
        LoomError, match="local task id 29 starts the handlers that @set_teardown_handler and"
    ) as caught:
        csl.start(BEGIN + text, {"got": "u32"}, arch=arch, params=".x = x")
    assert "pe.csl:" in str(caught.value).splitlines()[0]


@ARCHITECTURES
def test_registers_through_pointers(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`target` has addresses in bytes, which pointers take: PE 1 adds its ramp to the route that passes it by."""
    text = """
    const register: u16 = @as(u16, tile.target.addresses.COLOR_CONFIG) + @get_int(c2) * tile.target.word_size;
    comptime {
      const to = if (x < 2) EAST else RAMP;
      @set_local_color_config(c2, .{ .routes = .{ .rx = if (x == 0) RAMP else WEST, .tx = to } });
      if (x > 0) { @bind_data_task(took, data2); }
    }
    fn main() void {
      if (x == 1) { @bitcast(*u16, register).* |= 16; }
    }
    fn send() void {
      if (x == 0) { @mov32(out2(8), values(0, 8)); }
    }
    """
    got, _ = run(csl, text, arch, monkeypatch, 3, ("main", "send"))
    assert [values[:8] for values in got] == [[0] * 8, [*range(1, 9)], [*range(1, 9)]]


@ARCHITECTURES
def test_a_control_wavelet_names_a_data_task(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It starts the task with the id, which takes the low half of the wavelet."""
    text = """
    task half(value: u16) void { keep(value); }
    comptime {
      @set_local_color_config(c2, .{ .routes = .{ .rx = RAMP, .tx = RAMP } });
      @bind_data_task(half, data2);
    }
    fn main() void {
      @mov32(out2(1), 0x50007);
      @mov32(command2, 2 << 16 | 9);
    }
    """
    got, _ = run(csl, text, arch, monkeypatch)
    assert got[0][:3] == [7, 9, 0]


@ARCHITECTURES
def test_a_switch_turns_a_color_around(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A position may lead to a port that the color comes from: PE 1 takes three values and sends them back."""
    text = """
    task back(value: u32) void {
      keep(value);
      if (x == 1 and at == 3) { @mov32(out2(3), taken(0, 3)); }
    }
    comptime {
      @bind_data_task(back, data2);
      const side = if (x == 0) EAST else WEST;
      @set_local_color_config(c2, .{ .routes = .{ .rx = .{ RAMP, side }, .tx = RAMP },
        .switches = .{ .pos1 = .{ .tx = side }, .ring_mode = true, .current_switch_pos = if (x == 0) 1 else 0 } });
    }
    fn main() void {
      if (x == 0) {
        @mov32(out2(3), values(4, 3));
        @mov32(command2, ctl.encode_single_payload(ctl.opcode.SWITCH_ADV, true, {}, 0));
      }
    }
    """
    got, _ = run(csl, text, arch, monkeypatch, 2)
    assert [values[:4] for values in got] == [[5, 6, 7, 0], [5, 6, 7, 0]]


def test_priorities_of_queues_are_not_kept(csl: Csl, monkeypatch: pytest.MonkeyPatch) -> None:
    """Public programs for WSE-2 set bits 8 and 9 of the word of an input queue, through a pointer."""
    text = """
    var register: u16 = 0x7F5A * 2;
    fn main() void {
      @bitcast(*u16, register).* |= 0x200;
      flags[0] = @bitcast(*u16, register).* + 1;
    }
    """
    assert run(csl, text, "wse2", monkeypatch)[1][0][0] == 1
    with pytest.raises(LoomError, match="0x7f5a is not the address of a configuration register"):
        run(csl, text, "wse3", monkeypatch)


@ARCHITECTURES
@pytest.mark.parametrize("executor", ["reference", "core"])
def test_the_clock_by_its_registers(csl: Csl, arch: str, executor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As public programs read it: byte addresses of <tile_config>, three words, set to 0 and let run by 7."""
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    text = """
    const tile = @import_module("<tile_config>");
    const time = @import_module("<time>");
    const at = @as(u16, tile.addresses.TIMESTAMP_COUNTER);
    const control = @as(u16, tile.addresses.PERF_COUNTER_CONTROL);
    var out = @zeros([12]u16);
    var exact = @zeros([3]u16);
    fn get(first: u16) void {
      for (@range(u16, tile.target.tsc_size_words)) |i| {
        out[first + i] = @bitcast(*u16, at + tile.word_size * i).*;
      }
    }
    fn set(value: u16) void {
      for (@range(u16, tile.target.tsc_size_words)) |i| { @bitcast(*u16, at + tile.word_size * i).* = value; }
    }
    fn main() void {
      get(0);
      time.get_timestamp(&exact);
      out[3] = exact[0];
      @bitcast(*u16, control).* = 7;
      set(0);
      out[4] = @get_config(at / tile.word_size);
      out[5] = @get_config(control / tile.word_size);
      set(0xFFFF);
      get(6);
      @set_config(at / tile.word_size + 1, 5);
      get(9);
    }
    """
    simulator = csl.start(text, {"out": "u16"}, arch=arch)
    simulator.launch("main")
    out = simulator.get("out").ravel().tolist()
    assert 0 < out[0] <= out[3] <= out[0] + 60 and out[1:3] == [0, 0]
    assert 0 < out[4] < 60 and out[5] == 7
    # It runs on between the words, so that the low one has gone over to 0 before the next is set.
    assert out[6] < 100 and out[7:9] == [0xFFFF, 0xFFFF]
    assert out[6] < out[9] < 300 and out[10:] == [5, 0xFFFF]


@pytest.mark.parametrize("executor", ["reference", "core"])
def test_a_route_that_a_program_points_elsewhere(csl: Csl, executor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wavelets that a route made at run time does not take are said to wait for the route: there is no switch."""
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    text = f"""{BEGIN}
    fn main() void {{
      if (x == 0) {{
        @mov32(@get_dsd(fabout_dsd, .{{ .extent = 3, .fabric_color = c2, .output_queue = oq2 }}), values(0, 3));
      }} else {{
        tile.color_config.reset_routes(tile.color_config.get_color_config_addr(c2), .{{ .rx = EAST, .tx = RAMP }});
        tile.teardown.exit(c2);
        @mov32(taken(0, 3), @get_dsd(fabin_dsd, .{{ .extent = 3, .fabric_color = c2, .input_queue = iq2 }}));
      }}
    }}
    task torn() void {{}}
    comptime {{
      @bind_local_task(torn, done);
      if (x == 0) {{
        @set_local_color_config(c2, .{{ .routes = .{{ .rx = .{{ RAMP }}, .tx = .{{ EAST }} }} }});
      }} else {{
        const from_west = .{{ .rx = .{{ WEST }}, .tx = .{{ RAMP }} }};
        @set_local_color_config(c2, .{{ .routes = from_west, .teardown = true }});
      }}
    }}
    """
    with pytest.raises(LoomError) as caught:
        csl.run(text, {"got": "u32"}, width=2, params=".x = x", arch="wse3")
    lines = str(caught.value).splitlines()
    expected = (
        "  the route of color 'c2' at PE (1, 0) takes it from east, and 3 wavelets wait there from west; let the route "
        "take the color from west, or end the send elsewhere"
    )
    assert expected in lines
    left = "  3 wavelets of color 'c2' wait at the router of PE (1, 0), from west: its route takes the color from east"
    assert left in lines
