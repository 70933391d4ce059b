"""Warnings of wavelets that nothing has read: at the next launch, at the end of `loom run`, at stop()."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import loomir
from loomir import targets
from loomir.host.sdk.runtime import MemcpyDataType, MemcpyOrder, SdkRuntime
from loomir.tools import loom

LAYOUT = """
param width: i16;
const red: color = @get_color(5);
const blue: color = @get_color(6);
const to_host: color = @get_color(4);
const from_host: color = @get_color(3);
const memcpy = @import_module("<memcpy/get_params>", .{ .width = width, .height = 1,
  .MEMCPYH2D_1 = from_host, .MEMCPYD2H_1 = to_host });
layout {
  @set_rectangle(width, 1);
  for (@range(i16, width)) |x| {
    @set_tile_code(x, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(x), .is_first = x == 0, .c = red,
      .d = blue, .out = to_host, .in = from_host });
    if (x == 0) {
      @set_color_config(x, 0, red, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
      @set_color_config(x, 0, blue, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
    } else if (x == width - 1) {
      @set_color_config(x, 0, red, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } });
      @set_color_config(x, 0, blue, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } });
    } else {
      @set_color_config(x, 0, red, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP, EAST } } });
      @set_color_config(x, 0, blue, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP, EAST } } });
    }
  }
  @export_name("exchange", fn(i16)void);
  @export_name("report", fn(i16)void);
  @export_name("drain", fn()void);
}
"""

PE = """
param memcpy_params: comptime_struct;
param is_first: bool;
param c: color; param d: color; param out: color; param in: color;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
var a = [8]i32{ 1, 2, 3, 4, 5, 6, 7, 8 };
var b = @zeros([8]i32);
const a_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[i] });
const b_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> b[i] });
const red_oq: output_queue = @get_output_queue(2);
const red_iq: input_queue = @get_input_queue(4);
const blue_oq: output_queue = @get_output_queue(3);
const blue_iq: input_queue = @get_input_queue(5);
const host_oq: output_queue = @get_output_queue(4);
const host_iq: input_queue = @get_input_queue(6);
// Every PE but the first is sent four wavelets and reads three.
fn exchange(colors: i16) void {
  if (is_first) {
    @mov32(@get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = red_oq }), a_dsd);
    if (colors == 2) {
      @mov32(@get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = d, .output_queue = blue_oq }), a_dsd);
    }
  } else {
    @mov32(b_dsd, @get_dsd(fabin_dsd, .{ .extent = 3, .fabric_color = c, .input_queue = red_iq }));
  }
  sys.unblock_cmd_stream();
}
fn report(count: i16) void {
  @mov32(@get_dsd(fabout_dsd, .{ .extent = 2, .fabric_color = out, .output_queue = host_oq }),
         @get_dsd(fabin_dsd, .{ .extent = 2, .fabric_color = in, .input_queue = host_iq }), .{ .async = true });
  sys.unblock_cmd_stream();
}
fn drain() void {
  if (!is_first) {
    @mov32(b_dsd, @get_dsd(fabin_dsd, .{ .extent = 3, .fabric_color = d, .input_queue = blue_iq }));
  }
  sys.unblock_cmd_stream();
}
comptime {
  @initialize_queue(red_iq, .{ .color = c }); @initialize_queue(blue_iq, .{ .color = d });
  @initialize_queue(red_oq, .{ .color = c }); @initialize_queue(blue_oq, .{ .color = d });
  @initialize_queue(host_iq, .{ .color = in }); @initialize_queue(host_oq, .{ .color = out });
  @export_symbol(exchange); @export_symbol(report); @export_symbol(drain);
}
"""


@pytest.fixture
def layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("layout.csl").write_text(LAYOUT)
    Path("pe.csl").write_text(PE)
    return Path("layout.csl")


def warnings(capfd: pytest.CaptureFixture[str]) -> list[str]:
    return [line for line in capfd.readouterr().err.splitlines() if "warning: " in line]


ONE = "1 wavelet of color 'red' waits in input queue 'red_iq' (id 4) of PE (1, 0): nothing reads it"


@pytest.mark.slow
def test_at_the_next_launch(layout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Colors and queues have the names of the source, and what was told is not told again."""
    simulator = loomir.Simulator(loomir.compile(layout, target="wse3", params={"width": 2}))
    simulator.launch("exchange", 1)
    assert warnings(capfd) == []
    simulator.launch("exchange", 2)
    remedy = "receive as many wavelets as are sent"
    assert warnings(capfd) == [f"warning: when 'exchange' is launched: {ONE}; {remedy}"]
    simulator.launch("exchange", 1)
    two = "2 wavelets of color 'red' wait in input queue 'red_iq' (id 4) of PE (1, 0): nothing reads them"
    four = "4 wavelets of color 'blue' wait in input queue 'blue_iq' (id 5) of PE (1, 0): nothing reads them"
    assert warnings(capfd) == [f"warning: when 'exchange' is launched: {told}; {remedy}" for told in (four, two)]
    simulator.launch("drain")
    assert len(warnings(capfd)) == 1
    simulator.launch("report", 1)
    one = "1 wavelet of color 'blue' waits in input queue 'blue_iq' (id 5) of PE (1, 0): nothing reads it"
    assert warnings(capfd) == [f"warning: when 'report' is launched: {one}; {remedy}"]
    simulator.warn_of_unread("at the end")
    assert warnings(capfd) == []


@pytest.mark.slow
def test_at_the_end_of_a_run(layout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """One line a color, with the number of PEs."""
    flags = ["--arch", "wse3", "--param", "width=4", "--launch", "exchange", "2"]
    assert loom.main(["run", str(layout), *flags]) == 0
    assert warnings(capfd) == [
        "warning: at the end of the run: 12 wavelets of color 'blue' are unread on 3 PEs; the first wait in input "
        "queue 'blue_iq' (id 5) of PE (1, 0): nothing reads them; receive as many wavelets as are sent",
        "warning: at the end of the run: 3 wavelets of color 'red' are unread on 3 PEs; the first waits in input "
        "queue 'red_iq' (id 4) of PE (1, 0): nothing reads it; receive as many wavelets as are sent",
    ]


@pytest.mark.slow
def test_at_stop(layout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What the host sends is awaited between launches, and what it is sent; at stop() both are left over."""
    flags = ["--arch=wse3", "--fabric-dims=11,3", "--fabric-offsets=4,1", "--memcpy", "--channels=1"]
    assert loom.main(["cslc", str(layout), *flags, "--params=width:2", "-o", "out"]) == 0
    runner = SdkRuntime("out", suppress_simfab_trace=True)
    runner.load()
    runner.run()
    capfd.readouterr()
    stream = {"streaming": True, "data_type": MemcpyDataType.MEMCPY_32BIT, "order": MemcpyOrder.ROW_MAJOR}
    runner.memcpy_h2d(3, np.arange(6, dtype=np.uint32), 0, 0, 2, 1, 3, **stream, nonblock=False)
    runner.launch("report", np.int16(1), nonblock=False)
    assert warnings(capfd) == []
    words = np.zeros(2, np.uint32)
    runner.memcpy_d2h(words, 4, 0, 0, 2, 1, 1, **stream, nonblock=False)
    assert words.tolist() == [0, 3]
    runner.stop()
    assert warnings(capfd) == [
        "warning: at stop(): 2 wavelets of color 'from_host' are unread on 2 PEs; the first waits in input queue "
        "'host_iq' (id 6) of PE (0, 0): nothing reads it; receive as many wavelets as are sent",
        "warning: at stop(): 2 wavelets of color 'to_host' are unread on 2 PEs; the first was sent by PE (0, 0) to "
        "the host, which has not received it; receive as many wavelets as are sent",
    ]


UNREAD = """param sends: bool;
param count: u16;
const to = @get_output_queue(3);
const from = @get_input_queue(3);
fn go() void {
  if (sends) { @mov32(@get_dsd(fabout_dsd, .{ .extent = count, .output_queue = to }), @as(u32, 3)); }
}
comptime {
  if (sends) { @initialize_queue(to, .{ .color = @get_color(4) }); }
  else { @initialize_queue(from, .{ .color = @get_color(4) }); }
  @export_symbol(go);
}
"""
UNREAD_LAYOUT = """param count: u16;
layout {
  @set_rectangle(2, 1);
  const c = @get_color(4);
  @set_tile_code(0, 0, "pe.csl", .{ .sends = true, .count = count });
  @set_tile_code(1, 0, "pe.csl", .{ .sends = false, .count = count });
  @set_color_config(0, 0, c, .{ .routes = .{ .rx = .{RAMP}, .tx = .{EAST} } });
  @set_color_config(1, 0, c, .{ .routes = .{ .rx = .{WEST}, .tx = .{RAMP} } });
  @export_name("go", fn()void);
}
"""


def test_a_queue_that_nothing_reads_fills_up(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What fits on the way waits there; a send of more never ends."""
    (tmp_path / "pe.csl").write_text(UNREAD)
    (tmp_path / "layout.csl").write_text(UNREAD_LAYOUT)
    target = targets.get("wse3")
    room = target.output_queue_words[3] + target.input_queue_words[3] + target.timing.link_words
    simulator = loomir.Simulator(loomir.compile(tmp_path / "layout.csl", target="wse3", params={"count": room}))
    simulator.launch("go")
    simulator.warn_of_unread("at the end")
    where = "of color 'c' wait in input queue 'from' (id 3) of PE (1, 0)"
    assert f"{room} wavelets {where}" in " ".join(warnings(capfd))
    simulator = loomir.Simulator(loomir.compile(tmp_path / "layout.csl", target="wse3", params={"count": room + 7}))
    with pytest.raises(loomir.Deadlock) as caught:
        simulator.launch("go")
    assert (
        f"{room} wavelets {where} and on the way there: nothing reads them, and the sender still holds 7 more"
        in str(caught.value)
    )
