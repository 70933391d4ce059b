"""PEs that never call unblock_cmd_stream(): what they still do, what is left, where they would call it, and why not."""

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


TWO_STREAMS = """
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 2, .height = 1 });
const c = @get_color(3); const d = @get_color(4);
layout {
  @set_rectangle(2, 1);
  for (@range(u16, 2)) |x| {
    @set_tile_code(x, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(x), .c = c, .d = d, .x = x });
  }
  for ([2]color { c, d }) |each| {
    @set_color_config(0, 0, each, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
    @set_color_config(1, 0, each, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } });
  }
  @export_name("main", fn()void);
}
"""

RECEIVER = """
param memcpy_params; param c: color; param d: color; param x: u16;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const c_iq = @get_input_queue(2); const d_iq = @get_input_queue(3);
const c_oq = @get_output_queue(4); const d_oq = @get_output_queue(5);
const done_id = @get_local_task_id(9); const other_id = @get_local_task_id(10);
const c_out = @get_dsd(fabout_dsd, .{ .extent = 3, .fabric_color = c, .output_queue = c_oq });
const d_out = @get_dsd(fabout_dsd, .{ .extent = 3, .fabric_color = d, .output_queue = d_oq });
const c_in = @get_dsd(fabin_dsd, .{ .extent = 3, .fabric_color = c, .input_queue = c_iq });
const d_in = @get_dsd(fabin_dsd, .{ .extent = 3, .fabric_color = d, .input_queue = d_iq });
var a = @zeros([3]u32); var b = @zeros([3]u32); var left: u16 = 2; var sum: u32 = 0;
const a_dsd = @get_dsd(mem1d_dsd, .{ .base_address = &a, .extent = 3 });
const b_dsd = @get_dsd(mem1d_dsd, .{ .base_address = &b, .extent = 3 });
fn ended() void { left -= 1; if (left == 0) { CALL } }
task done() void { ended(); }
task other() void { ended(); }
fn main() void {
  if (x == 0) {
    @mov32(c_out, 5); @mov32(d_out, 6); sys.unblock_cmd_stream();
  } else {
    @mov32(a_dsd, c_in, .{ .async = true, .activate = done });
    @mov32(b_dsd, d_in, .{ .async = true, .activate = SECOND });
    for (@range(u16, 2000)) |i| { sum += @as(u32, i); }
  }
}
comptime {
  @bind_local_task(done, done_id); @bind_local_task(other, other_id);
  @initialize_queue(c_iq, .{ .color = c }); @initialize_queue(d_iq, .{ .color = d });
  if (@is_arch("wse3")) { @initialize_queue(c_oq, .{ .color = c }); @initialize_queue(d_oq, .{ .color = d }); }
  @export_symbol(main);
}
"""


def two_streams(directory: Path, second: str, call: str) -> loomir.Simulator:
    """Return a machine whose second PE has two receives, the ends of which start tasks, while its first task runs."""
    (directory / "layout.csl").write_text(TWO_STREAMS)
    (directory / "pe.csl").write_text(RECEIVER.replace("SECOND", second).replace("CALL", call))
    return loomir.Simulator(loomir.compile(directory / "layout.csl", target="wse3"))


@pytest.mark.parametrize("executor", ["reference", "core"])
def test_activations_of_an_active_task(tmp_path: Path, executor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that is activated while it is active starts once, and the report of the hang says so."""
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    with pytest.raises(loomir.Deadlock) as caught:
        two_streams(tmp_path, "done", "sys.unblock_cmd_stream();").launch("main")
    _, lost, calls = str(caught.value).replace(f"{tmp_path}/", "").splitlines()
    assert lost == (
        "  PE (1, 0): task @done (pe.csl:15:1) was activated once while it was active already, which is lost: an "
        "active task starts once, however often it is activated. It is activated by the end of mov32 at pe.csl:21:5 "
        "and the end of mov32 at pe.csl:22:5; give each of them a task of its own, or let one activate the task and "
        "another unblock it"
    )
    assert calls == (
        "  PE (1, 0): the code calls it in @done at pe.csl:14:47, which is activated by the end of mov32 at "
        "pe.csl:21:5 and the end of mov32 at pe.csl:22:5; and in @other at pe.csl:14:47, which nothing activates"
    )
    assert caught.value.location == f"{tmp_path}/pe.csl:14:47"


@pytest.mark.parametrize("executor", ["reference", "core"])
def test_a_task_for_each_end(
    tmp_path: Path, executor: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a task for each end the same program completes without a word."""
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    two_streams(tmp_path, "other", "sys.unblock_cmd_stream();").launch("main")
    assert capsys.readouterr().err == ""


def test_no_call_at_all(tmp_path: Path) -> None:
    """The place is that of the launched function if no code calls unblock_cmd_stream()."""
    with pytest.raises(loomir.Deadlock) as caught:
        two_streams(tmp_path, "other", "").launch("main")
    assert str(caught.value).splitlines()[-1] == "  PE (1, 0): nothing in the code calls it"
    assert caught.value.location == f"{tmp_path}/pe.csl:17:1"


def test_the_place_of_the_sends(tmp_path: Path) -> None:
    """A PE that has been sent too little is told where its sender sends."""
    (tmp_path / "layout.csl").write_text(TWO_STREAMS)
    text = RECEIVER.replace("SECOND", "other").replace("CALL", "sys.unblock_cmd_stream();")
    before, name, rest = text.partition("const c_out")
    (tmp_path / "pe.csl").write_text(before + name + rest.replace(".extent = 3", ".extent = 2", 1))
    with pytest.raises(loomir.Deadlock) as caught:
        loomir.Simulator(loomir.compile(tmp_path / "layout.csl", target="wse3")).launch("main")
    assert (
        "  the PEs that send to input queue 'c_iq' of PE (1, 0) have finished; they sent too little, or the receiver "
        "expects too much; PE (0, 0) sends to PE (1, 0) at pe.csl:19:5"
    ) in str(caught.value).replace(f"{tmp_path}/", "").splitlines()


def test_a_route_that_passes_by(tmp_path: Path) -> None:
    """The task that would call is started by wavelets, which the route does not lead down the ramp of one PE."""
    (tmp_path / "layout.csl").write_text(
        LAYOUT.replace("SWITCHES", "").replace(".tx = .{ RAMP } }", ".tx = .{ EAST } }")
    )
    text = PE.replace("SEND", "@mov32(out, 5); @mov32(out, 7);").replace("RECEIVE", "")
    (tmp_path / "pe.csl").write_text(text.replace("BIND", "if (x == 1) @bind_data_task(took, data);"))
    with pytest.raises(loomir.Deadlock) as caught:
        loomir.Simulator(loomir.compile(tmp_path / "layout.csl", target="wse3")).launch("main")
    assert str(caught.value).replace(f"{tmp_path}/", "").splitlines()[-1] == (
        "  PE (1, 0): no wavelets come to input queue 'iq': the route of color 'c' at PE (1, 0) (layout.csl:10:3) "
        "leads to east, not down the ramp; add the ramp to its tx"
    )
