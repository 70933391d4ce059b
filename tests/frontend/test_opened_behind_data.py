"""A synchronous send is set up before its first wavelet leaves.

So an answer to data finds a switch moved by the command that follows the data.
"""

from __future__ import annotations

import pytest

from .harness import Csl, on_both

LAYOUT = """
const c = @get_color(2);
layout {
  @set_rectangle(3, 1);
  for (@range(u16, 3)) |x| { @set_tile_code(x, 0, "pe.csl", .{ .x = x, .c = c }); }
  @set_color_config(0, 0, c, .{ .routes = .{ .rx = .{RAMP}, .tx = .{EAST} } });
  @set_color_config(1, 0, c, .{
    .routes = .{ .rx = .{WEST, RAMP}, .tx = .{RAMP} }, .switches = .{ .pos1 = .{ .tx = EAST } },
  });
  @set_color_config(2, 0, c, .{ .routes = .{ .rx = .{WEST}, .tx = .{RAMP} } });
  @export_name("main", fn()void);
  @export_name("a", [*]f32, true);
}
"""

PE = """
param x: u16;
param c: color;
const control = @import_module("<control>");
const iq = @get_input_queue(2);
const oq = @get_output_queue(2);
var a = @zeros([4]f32);
var a_ptr: [*]f32 = &a;
const walk = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[i] });
const in = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c, .input_queue = iq });
const out = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = oq });
const command = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = oq, .control = true });
fn main() void {
  if (x == 0) {
    @fmovs(out, walk);
    @mov32(command, control.encode_single_payload(control.opcode.SWITCH_ADV, true, {}, 0));
  } else {
    @fadds(walk, in, 1.0);
    if (x == 1) { @fmovs(out, walk); }
  }
}
comptime {
  @initialize_queue(iq, .{ .color = c });
  if (@is_arch("wse3")) { @initialize_queue(oq, .{ .color = c }); }
  @export_symbol(main);
  @export_symbol(a_ptr, "a");
}
"""


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_an_answer_finds_the_switch_moved_that_follows_the_data(
    csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The PE in the middle answers as soon as it has the last element; the command comes a little later."""
    import loomir

    program = loomir.compile(csl.layout(LAYOUT, PE, arch).module)
    result, _ = on_both(program, monkeypatch, "a")
    assert result[0] == [[0.0] * 4, [1.0] * 4, [2.0] * 4]
