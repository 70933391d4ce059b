"""Fabric DSDs of which a program chooses one at run time: from two colors, each of which leads back to its PE."""

from __future__ import annotations

import pytest

from .harness import Csl

ARCHES = ("wse2", "wse3")

PROGRAM = """
const colors = [2]color{ @get_color(3), @get_color(4) };
comptime {
  for ([2]u16{ 0, 1 }) |i| {
    @initialize_queue(@get_input_queue(1 + i), .{ .color = colors[i] });
    if (@is_arch("wse3")) @initialize_queue(@get_output_queue(4 + i), .{ .color = colors[i] });
  }
  @bind_local_task(ended, @get_local_task_id(12));
}
const Ways = struct { way: fabout_dsd, n: u16 };
var numbers = [4]i16{ 1, 2, 3, 4 };
var out = @zeros([12]i16);
var ends: i16 = 0;
const some = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> numbers[i] });
const first = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i] });
const second = @increment_dsd_offset(first, 4, i16);
const to_a = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = colors[0], .output_queue = @get_output_queue(4) });
const to_b = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = colors[1], .output_queue = @get_output_queue(5) });
const from_a = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = colors[0], .input_queue = @get_input_queue(1) });
const from_b = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = colors[1], .input_queue = @get_input_queue(2) });
const outs = [2]fabout_dsd{ to_a, to_b };
const destination = @get_dsr(dsr_dest, 3);
var chosen: fabout_dsd;
var pair = [2]fabout_dsd{ to_b, to_b };
var choices: Ways = .{ .way = to_a, .n = 3 };
var on = false;
var calls: i16 = 0;
fn turn() fabout_dsd { calls += 1; return if (on) to_b else to_a; }
fn choose() void { chosen = if (on) to_b else to_a; }
fn move(to: fabout_dsd) void { @mov16(to, some); }
task ended() void { ends += 1; }
fn main(which: i16) void {
  on = which == 1;
  @mov16(first, from_a, .{ .async = true, .activate = ended });
  @mov16(second, from_b, .{ .async = true, .activate = ended });
  STATEMENTS
  out[8] = calls;
}
"""

ROUTES = "".join(
    f"@set_color_config(0, 0, @get_color({number}), .{{ .routes = .{{ .rx = .{{ RAMP }}, .tx = .{{ RAMP }} }} }});"
    for number in (3, 4)
)

WAYS = {
    "a value": "const way = if (on) to_b else to_a; @mov16(@set_dsd_length(way, 4), some);",
    "a local variable": "var way = to_a; if (on) { way = to_b; } way = @set_dsd_length(way, 4); @mov16(way, some);",
    "a global variable": "choose(); chosen = @set_dsd_length(chosen, 4); @mov16(chosen, some);",
    "an index": "@mov16(@set_dsd_length(outs[@as(u16, on)], 4), some);",
    "an element": "pair[@as(u16, on)] = @set_dsd_length(if (on) to_b else to_a, 4); @mov16(pair[@as(u16, on)], some);",
    "a member": (
        "if (on) { choices.way = to_b; } choices.way = @set_dsd_length(choices.way, 4); @mov16(choices.way, some);"
    ),
    "a struct": (
        "var it = Ways{ .way = to_a, .n = 4 }; if (on) { it = Ways{ .way = to_b, .n = 4 }; }"
        " @mov16(@set_dsd_length(it.way, it.n), some);"
    ),
    "a parameter": "move(@set_dsd_length(if (on) to_b else to_a, 4));",
    "a call, once": "@mov16(@set_dsd_length(turn(), 4), some);",
    "a register": "@load_to_dsr(destination, @set_dsd_length(if (on) to_b else to_a, 4)); @mov16(destination, some);",
    "a loop": "var way = to_a; var i: i16 = 0; while (i < 3) : (i += 1) { way = if (on) to_b else to_a; }"
    " @mov16(@set_dsd_length(way, 4), some);",
    "an asynchronous operation": "const way = @set_dsd_length(if (on) to_b else to_a, 4);"
    " @mov16(way, some, .{ .async = true });",
    "a map": "@map(twice, some, @set_dsd_length(if (on) to_b else to_a, 4));",
}


def sent(csl: Csl, arch: str, statements: str, *, on: bool) -> list[int]:
    """Return what comes by the one color and by the other, and how often `turn` was called.

    What the program does not send itself is sent at the end, so that both receives end.
    """
    rest = "@mov16(@set_dsd_length(if (on) to_a else to_b, 4), @as(i16, 9));"
    text = "fn twice(x: i16) i16 { return 2 * x; }" + PROGRAM.replace("STATEMENTS", f"{statements} {rest}")
    launches, functions = (("main", (on,)),), {"main": "fn(i16) void"}
    result = csl.run(text, {"out": "i16"}, launches=launches, functions=functions, arch=arch, layout=ROUTES)
    return result["out"].tolist()[:9]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("on", [False, True])
@pytest.mark.slow
def test_the_chosen_color_takes_what_is_sent(csl: Csl, arch: str, way: str, on: bool) -> None:
    """DSD-102: however a program chooses one of two fabout DSDs, the wavelets are sent by it alone."""
    numbers = [2, 4, 6, 8] if way == "a map" else [1, 2, 3, 4]
    received = [9] * 4 + numbers if on else numbers + [9] * 4
    assert sent(csl, arch, WAYS[way], on=on) == [*received, int(way == "a call, once")]


@pytest.mark.parametrize("arch", ARCHES)
def test_of_three_inputs_one_is_awaited(csl: Csl, arch: str) -> None:
    """DSD-102: sources are chosen as destinations are, and a choice may be among more than two."""
    program = """
const colors = [3]color{ @get_color(3), @get_color(4), @get_color(5) };
const in = [3]fabin_dsd{
  @get_dsd(fabin_dsd, .{ .extent = 2, .fabric_color = colors[0], .input_queue = @get_input_queue(1) }),
  @get_dsd(fabin_dsd, .{ .extent = 2, .fabric_color = colors[1], .input_queue = @get_input_queue(2) }),
  @get_dsd(fabin_dsd, .{ .extent = 2, .fabric_color = colors[2], .input_queue = @get_input_queue(3) }),
};
const wire = @get_dsd(fabout_dsd, .{ .extent = 2, .fabric_color = colors[0], .output_queue = @get_output_queue(2) });
const wire1 = @get_dsd(fabout_dsd, .{ .extent = 2, .fabric_color = colors[1], .output_queue = @get_output_queue(3) });
const wire2 = @get_dsd(fabout_dsd, .{ .extent = 2, .fabric_color = colors[2], .output_queue = @get_output_queue(4) });
var out = @zeros([6]i16);
const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> out[i] });
comptime {
  for ([3]u16{ 0, 1, 2 }) |i| {
    @initialize_queue(@get_input_queue(1 + i), .{ .color = colors[i] });
    if (@is_arch("wse3")) @initialize_queue(@get_output_queue(2 + i), .{ .color = colors[i] });
  }
}
fn main() void {
  @mov16(wire, @as(i16, 10)); @mov16(wire1, @as(i16, 20)); @mov16(wire2, @as(i16, 30));
  var i: i16 = 2;
  while (i >= 0) : (i -= 1) { @add16(@increment_dsd_offset(all, 2 * (2 - i), i16), in[@as(u16, i)], i); }
}
"""
    routes = ROUTES + ROUTES[: len(ROUTES) // 2].replace("3", "5", 1)
    result = csl.run(program, {"out": "i16"}, arch=arch, layout=routes)
    assert result["out"].tolist() == [32, 32, 21, 21, 10, 10]


def test_refuses_what_is_no_choice(csl: Csl) -> None:
    """DSD-102: one of a DSD that sends and one that receives has no type."""
    program = """
const c = @get_color(3);
const to = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = @get_output_queue(2) });
const from = @get_dsd(fabin_dsd, .{ .extent = 1, .fabric_color = c, .input_queue = @get_input_queue(2) });
var on = false;
comptime { @activate(@get_local_task_id(9)); @bind_local_task(start, @get_local_task_id(9)); }
task start() void {
  const way = «if (on) to else from»;
  @mov16(way, @as(i16, 1));
}
"""
    csl.refuses(program, "operands are of types 'fabout_dsd' and 'fabin_dsd', which have no common type")
