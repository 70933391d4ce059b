"""PEs that never call unblock_cmd_stream(), with nothing that has to end: what they still do, and what is left."""

from __future__ import annotations

from pathlib import Path

import pytest

import loomir

LAYOUT = """
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 2, .height = 1 });
const c = @get_color(3);
layout {
  @set_rectangle(2, 1);
  for (@range(u16, 2)) |x| {
    @set_tile_code(x, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(x), .c = c, .x = x });
  }
  @set_color_config(0, 0, c, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
  @set_color_config(1, 0, c, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } SWITCHES });
  @export_name("main", fn()void);
}
"""

PE = """
param memcpy_params; param c: color; param x: u16;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const iq = @get_input_queue(2); const oq = @get_output_queue(2);
const data = if (@is_arch("wse3")) @get_data_task_id(iq) else @get_data_task_id(c);
const ended = @get_local_task_id(9);
const out = @get_dsd(fabout_dsd, .{ .extent = 3, .fabric_color = c, .output_queue = oq });
const in = @get_dsd(fabin_dsd, .{ .extent = 0x7fff, .fabric_color = c, .input_queue = iq });
const advance = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = oq, .control = true });
const control = @import_module("<control>");
var sum: u32 = 0; var times: u16 = 0;
const sums = @get_dsd(mem1d_dsd, .{ .base_address = &sum, .extent = 0x7fff, .stride = 0 });
task done() void { sys.unblock_cmd_stream(); }
task took(value: u32) void { times += 1; if (times == 6) { done_now(); } }
fn done_now() void { sys.unblock_cmd_stream(); }
fn main() void {
  if (x == 0) { SEND sys.unblock_cmd_stream(); } else { RECEIVE }
}
comptime {
  BIND
  @bind_local_task(done, ended);
  @initialize_queue(iq, .{ .color = c });
  if (@is_arch("wse3")) { @initialize_queue(oq, .{ .color = c }); }
  @export_symbol(main);
}
"""
RECEIVE = "@mov32(sums, in, .{ .async = true, .on_control = .{ .activate = ended } });"
ADVANCE = "@mov32(advance, control.encode_single_payload(control.opcode.SWITCH_ADV, true, {}, 0));"


@pytest.mark.parametrize("executor", ["reference", "core"])
@pytest.mark.parametrize(
    ("parts", "clue"),
    [
        (
            ("", "@mov32(out, 5);", RECEIVE, ""),
            "PE (1, 0): microthread 2: mov32 in @main (pe.csl:17:68) waits on input queue 'iq' (id 2, color 'c') for "
            "more than the 3 wavelets taken so far, having no end of its own",
        ),
        (
            (", .switches = .{ .pos1 = .{ .rx = EAST } }", f"@mov32(out, 5); {ADVANCE} @mov32(out, 7);", "",
             "if (x == 1) @bind_data_task(took, data);"),
            "3 wavelets of color 'c' wait at the router of PE (1, 0), from west: its switch is at position 1, where it "
            "takes the color from east",
        ),
    ],
    ids=["an operation without an end", "wavelets at a switch"],
)  # fmt: skip
def test_clues(
    tmp_path: Path, parts: tuple[str, str, str, str], clue: str, executor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    switches, send, receive, bind = parts
    (tmp_path / "layout.csl").write_text(LAYOUT.replace("SWITCHES", switches))
    (tmp_path / "pe.csl").write_text(PE.replace("SEND", send).replace("RECEIVE", receive).replace("BIND", bind))
    simulator = loomir.Simulator(loomir.compile(tmp_path / "layout.csl", target="wse3"))
    with pytest.raises(loomir.Deadlock) as caught:
        simulator.launch("main")
    first, *clues = str(caught.value).splitlines()
    assert "launch of 'main' never completes: PE (1, 0) never called unblock_cmd_stream()" in first
    assert clues[0].strip().replace(f"{tmp_path}/", "") == clue
