"""@bind_rotating_tasks: a control task is started instead of every so many starts of a data task."""

from __future__ import annotations

import pytest

from .harness import Csl

BEGIN = """
const c = @get_color(2);
const iq = @get_input_queue(2);
const oq = @get_output_queue(3);
var out = @zeros([12]u32);
var at: u16 = 0;
var words = @zeros([8]u32);
const words_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> words[i] });
const out_dsd = @get_dsd(fabout_dsd, .{ .extent = 8, .fabric_color = c, .output_queue = oq });
fn main() void {
  for (@range(u16, 8)) |i| { words[i] = @as(u32, i) + 10; }
  @mov32(out_dsd, words_dsd, .{ .async = true });
}
task first(word: u32) void { out[at] = word; at += 1; }
task second() void { out[at] = 1; at += 1; }
comptime {
  @initialize_queue(iq, .{ .color = c });
  @initialize_queue(oq, .{ .color = c });
  @set_control_task_table();
  @set_local_color_config(c, .{ .routes = .{ .rx = .{RAMP}, .tx = .{RAMP} } });
}
"""


@pytest.mark.parametrize(
    ("config", "out"),
    [
        (".{ .limit = 3 }", [10, 11, 12, 1, 14, 15, 16, 1]),
        (".{ .limit = 3, .init = 2 }", [10, 1, 12, 13, 14, 1, 16, 17]),
        (".{ .limit = 0 }", [1] * 8),
    ],
)
def test_the_second_task_starts_instead_at_the_limit(csl: Csl, config: str, out: list[int]) -> None:
    bind = f"comptime {{ @bind_rotating_tasks(first, second, @get_data_task_id(iq), {config}); }}"
    simulator = csl.start(BEGIN + bind, {"out": "u32"}, arch="wse3")
    simulator.launch("main")
    assert simulator.get("out").ravel().tolist()[:8] == out


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("@bind_rotating_tasks(first, «iq», ID, .{ .limit = 3 });", "binds two tasks, not a value of type"),
        ("@bind_rotating_tasks(first, second, ID, «.{ .init = 3 }»);", "needs a field '.limit'"),
        ("@bind_rotating_tasks(first, second, ID, «.{ .init = 4, .limit = 3 }»);", "'.init' is 4 and '.limit' 3"),
        ("@bind_rotating_tasks(«main», second, ID, .{ .limit = 3 });", "binds a task, not a value of type"),
    ],
)
def test_refuses(csl: Csl, call: str, message: str) -> None:
    text = f"{BEGIN}comptime {{ {call.replace('ID', '@get_data_task_id(iq)')} @export_symbol(main); }}"
    layout = """
    layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{}); @export_name("main", fn() void); }
    """
    csl.refuses(text, message, layout=layout, arch="wse3")
