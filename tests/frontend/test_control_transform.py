"""The option `control_transform`: control wavelets that a FIFO or memory keeps apart from data, and sends again."""

from __future__ import annotations

import pytest

from .harness import Csl

PROGRAM = """
param column: u16;
const first = @get_color(3);
const second = @get_color(4);
const in_queue = @get_input_queue(2);
const out_queue = @get_output_queue(3);

// The sender
var words = [4]u32 { DATA };
fn send(start: i16, count: u16, comptime control: bool) void {
  const from = @get_dsd(mem1d_dsd, .{ .base_address = &words, .extent = count, .offset = start });
  const to = @get_dsd(fabout_dsd, .{
    .output_queue = out_queue, .extent = 4, .fabric_color = first, .control = control
  });
  @mov32(to, from);
}

// The relay
var room = @zeros([5]u32);
const fifo = @allocate_fifo(room);
const received = @get_dsd(fabin_dsd, .{
  .input_queue = in_queue, .extent = 4, .fabric_color = first, .control_transform = RECEIVES
});
const sent = @get_dsd(fabout_dsd, .{
  .output_queue = out_queue, .extent = 4, .fabric_color = second, .control_transform = SENDS
});
var kept = @zeros([4]u32);

// The receiver
var log = @zeros([8]u32);
var at: u16 = 0;
task got(word: u32) void { log[at] = word; at += 1; }
task told(argument: u16) void { log[at] = 0xAAAA0000 | @as(u32, argument); at += 1; }
const got_id = if (@is_arch("wse3")) @get_data_task_id(in_queue) else @get_data_task_id(second);

fn main() void {
  if (column == 0) {
    send(0, 1, false);
    send(1, 2, true);
    send(3, 1, false);
  } else if (column == 1) {
    RELAY
  }
}
comptime {
  if (column == 1) {
    @initialize_queue(in_queue, .{ .color = first });
    if (@is_arch("wse3")) @initialize_queue(out_queue, .{ .color = second });
  } else if (column == 2) {
    @bind_data_task(got, got_id);
    @bind_control_task(told, @get_control_task_id(5));
    @initialize_queue(in_queue, .{ .color = second });
  } else {
    if (@is_arch("wse3")) @initialize_queue(out_queue, .{ .color = first });
  }
}
"""

LAYOUT = """
@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
@set_color_config(1, 0, @get_color(3), .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } });
@set_color_config(1, 0, @get_color(4), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
@set_color_config(2, 0, @get_color(4), .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } });
"""

BY_FIFO = "@mov32(fifo, received, .{ .async = true }); @mov32(sent, fifo, .{ .async = true });"
BY_MEMORY = """
    @mov32(@get_dsd(mem1d_dsd, .{ .base_address = &kept, .extent = 4 }), received);
    @mov32(sent, @get_dsd(mem1d_dsd, .{ .base_address = &kept, .extent = 4 }));
"""
AT_ONCE = "@mov32(sent, received, .{ .async = true });"

CONTROL = 5 << 16
SENT = [0x12345678, CONTROL | 1, CONTROL | 2, 7]


def relayed(
    csl: Csl, relay: str, arch: str, *, receives: bool = True, sends: bool = True, words: list[int] = SENT
) -> tuple[list[int], list[int]]:
    """Return what the receiver has got, in order, and what the relay has kept."""
    text = PROGRAM.replace("RELAY", relay).replace("DATA", ", ".join(map(hex, words)))
    text = text.replace("RECEIVES", str(receives).lower()).replace("SENDS", str(sends).lower())
    simulator = csl.start(
        text, {"log": "u32", "kept": "u32"}, arch=arch, width=3, layout=LAYOUT, params=".column = @as(u16, x)"
    )
    simulator.launch("main")
    return simulator.get("log")[0, 2].tolist()[:4], simulator.get("kept")[0, 1].tolist()


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("relay", [BY_FIFO, BY_MEMORY, AT_ONCE])
def test_control_wavelets_are_sent_again(csl: Csl, relay: str, arch: str, capsys: pytest.CaptureFixture[str]) -> None:
    """DSD-253, DSD-256, DSD-257, DSD-260: in order, and without the mark."""
    log, kept = relayed(csl, relay, arch)
    assert log == [SENT[0], 0xAAAA0001, 0xAAAA0002, SENT[3]]
    assert capsys.readouterr().err == ""
    if relay == BY_MEMORY:
        assert kept == [SENT[0], 0xC0000000 | SENT[1], 0xC0000000 | SENT[2], SENT[3]]


def test_without_it_all_is_data(csl: Csl) -> None:
    """DSD-255."""
    log, _ = relayed(csl, BY_FIFO, "wse3", receives=False, sends=False)
    assert log == SENT


@pytest.mark.slow
def test_each_end_does_its_part(csl: Csl) -> None:
    """DSD-256, DSD-257: what only one end transforms is data, with the mark or without."""
    log, _ = relayed(csl, BY_FIFO, "wse3", sends=False)
    assert log == [SENT[0], 0xC0000000 | SENT[1], 0xC0000000 | SENT[2], SENT[3]]
    log, _ = relayed(csl, BY_FIFO, "wse3", receives=False)
    assert log == SENT


@pytest.mark.parametrize("index", [0x3FFF, 0x4000, 0x8000, 0xC005])
def test_bits_of_the_index(csl: Csl, index: int, capsys: pytest.CaptureFixture[str]) -> None:
    """DSD-258, DSD-259: the lower 14 are the program's; what has the two others looks as if it were marked."""
    words = [SENT[0], CONTROL | 1, CONTROL | 2, index << 16 | 7]
    log, _ = relayed(csl, BY_MEMORY, "wse3", words=words)
    warning = capsys.readouterr().err
    assert ("(DSD-258)" in warning and f"0x{words[3]:08x}" in warning) == (index > 0x3FFF)
    assert log[3] == (0xAAAA0007 if index == 0xC005 else words[3])


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("mem1d_dsd", ".base_address = &words, .extent = 4"),
        ("mem4d_dsd", ".base_address = &words, .extent = .{ 2, 2 }"),
        ("circbuf_dsd", ".base_address = &words, .extent = 4"),
    ],
)
def test_belongs_to_the_fabric(csl: Csl, kind: str, fields: str) -> None:
    """DSD-254."""
    text = f"var words = @zeros([4]u32);\nconst d = @get_dsd({kind}, «.{{ {fields}, .control_transform = true }}»);\n"
    csl.refuses(text + "comptime { @comptime_print(@type_of(d)); }", "has no field '.control_transform'")
