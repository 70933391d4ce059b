"""@dfilt: an input queue drops data wavelets until a number of control wavelets have come (Builtins, @dfilt)."""

from __future__ import annotations

import random

import pytest

from loomir.diagnostics.errors import LoomError

from .harness import Csl, on_both

LAYOUT = """
layout {
  @set_rectangle(2, 1);
  for (@range(u16, 2)) |x| { @set_tile_code(x, 0, "pe.csl", .{ .x = x }); }
  @set_color_config(0, 0, @get_color(2), .{ .routes = .{ .rx = RAMP, .tx = EAST } });
  @set_color_config(1, 0, @get_color(2), .{ .routes = .{ .rx = WEST, .tx = RAMP } });
  @export_name("main", fn()void);
  @export_name("got", [*]i32, true);
}
"""

PE = """
param x: u16;
const c = @get_color(2);
const iq = @get_input_queue(2);
const oq = @get_output_queue(3);
const data = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = oq });
const control = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = oq, .control = true });
const three = @get_dsd(fabout_dsd, .{ .extent = 3, .fabric_color = c, .output_queue = oq });
const dropped = @get_dsd(fabin_dsd, .{ .extent = CONTROLS, .fabric_color = c, .input_queue = iq });
const kept = @get_dsd(fabin_dsd, .{ .extent = KEPT, .fabric_color = c, .input_queue = iq });
var some = [3]i32{ 100, 101, 102 };
const source = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> some[i] });
var got = @zeros([100]i32);
const got_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{KEPT} -> got[i] });
var got_ptr: [*]i32 = &got;
const next_id = @get_local_task_id(10);
task next() void {
  got[99] = 1;
  @mov32(got_dsd, kept, .{ .async = true });
}
fn main() void {
  if (x == 0) {
    SEND
  } else {
    DROP
  }
}
comptime {
  @bind_local_task(next, next_id);
  if (@is_arch("wse3")) { @initialize_queue(oq, .{ .color = c }); }
  if (x == 1 or @is_arch("wse3")) { @initialize_queue(iq, .{ .color = c }); }
  @export_symbol(main);
  @export_symbol(got_ptr, "got");
}
"""

BY_DSD = "@dfilt(dropped, .{ .async = true, .activate = next_id });"
BY_DSR = """
    const r = @get_dsr(dsr_src1, 3);
    @load_to_dsr(r, dropped, .{ .async = true, .activate = next_id });
    @dfilt(r, .{ .async = true });
"""
NO_TASK = 31 << 16
"""What a control wavelet carries that starts no task."""


def run(csl: Csl, events: str, controls: int, drop: str, arch: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Send data (`d`), runs of three (`D`) and control wavelets (`c`); return what comes after those that are dropped,
    the same on both executors."""
    import loomir

    sent, text = _sent(events)
    kept = _kept(sent, controls)
    text = PE.replace("SEND", text).replace("DROP", drop).replace("CONTROLS", str(controls))
    program = loomir.compile(csl.layout(LAYOUT, text.replace("KEPT", str(len(kept))), arch).module)
    got: list[int] = on_both(program, monkeypatch, "got")[0][0][1]
    assert got[99] == 1
    assert got[: len(kept)] == kept
    return got


def _sent(events: str) -> tuple[list[tuple[bool, int]], str]:
    sent: list[tuple[bool, int]] = []
    text: list[str] = []
    for number, event in enumerate(events):
        word = NO_TASK | number if event == "c" else number + 1
        if event == "D":
            sent += [(False, 100), (False, 101), (False, 102)]
            text.append("@mov32(three, source);")
        else:
            sent.append((event == "c", word))
            text.append(f"@mov32({'control' if event == 'c' else 'data'}, @as(i32, {word}));")
    return sent, "\n".join(text)


def _kept(sent: list[tuple[bool, int]], controls: int) -> list[int]:
    """Return the wavelets behind the last control wavelet of a number."""
    for place, (control, _) in enumerate(sent):
        controls -= control
        if controls == 0:
            return [word for _, word in sent[place + 1 :]]
    raise AssertionError("too few control wavelets")


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("drop", [BY_DSD, BY_DSR], ids=["dsd", "dsr"])
@pytest.mark.parametrize(
    ("events", "controls"), [("ddcd", 1), ("cd", 1), ("DdcDcdccDd", 3), ("ccccd", 2)], ids=lambda value: str(value)
)
@pytest.mark.one_in(4)
def test_drops_data_up_to_control_wavelets(
    csl: Csl, events: str, controls: int, drop: str, arch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(csl, events, controls, drop, arch, monkeypatch)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("seed", range(24))
@pytest.mark.slow
def test_random_sequences(csl: Csl, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    events = "".join(rng.choice("ddDc") for _ in range(rng.randrange(4, 20))) + "cd"
    controls = rng.randint(1, events.count("c"))
    run(csl, events, controls, rng.choice([BY_DSD, BY_DSR]), rng.choice(["wse2", "wse3"]), monkeypatch)


def test_one_that_lacks_control_wavelets_is_named(csl: Csl) -> None:
    _, text = _sent("ddcd")
    text = PE.replace("SEND", text).replace("DROP", BY_DSD).replace("CONTROLS", "2").replace("KEPT", "1")
    import loomir

    simulator = loomir.Simulator(loomir.compile(csl.layout(LAYOUT, text, "wse3").module))
    with pytest.raises(LoomError, match=r"dfilt in @main.*waits"):
        simulator.launch("main")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("@dfilt(in, «.{}»);", "@dfilt needs '.async = true' in its configuration"),
        ("@dfilt(in, «.{ .async = false }»);", "@dfilt needs '.async = true' in its configuration"),
        ("«@dfilt(in)»;", "@dfilt takes 2 arguments"),
        ("@dfilt(in, «.{ .async = true, .index = 1 }»);", "@dfilt does not support '.index'"),
        (
            "@dfilt(in, «.{ .async = true, .on_control = .{ .terminate = true } }»);",
            "@dfilt does not support '.on_control'",
        ),
        ("@dfilt(«out», .{ .async = true });", "not a value of type 'fabout_dsd'"),
        ("@dfilt(«@get_dsr(dsr_src0, 1)», .{ .async = true });", "not a value of type 'dsr_src0'"),
        ("@dfilt(«@as(u16, 1)», .{ .async = true });", "@dfilt takes a fabin_dsd, or a dsr_src1 that holds one"),
    ],
)
def test_refuses(csl: Csl, statement: str, message: str) -> None:
    text = """
    const in = @get_dsd(fabin_dsd, .{ .extent = 2, .fabric_color = @get_color(2), .input_queue = @get_input_queue(2) });
    const out = @get_dsd(fabout_dsd, .{ .extent = 2, .fabric_color = @get_color(2), .output_queue = @get_output_queue(2) });
    """  # noqa: E501
    bound = "\ncomptime { @bind_local_task(t, @get_local_task_id(9)); @activate(@get_local_task_id(9)); }"
    csl.refuses(f"{text} task t() void {{ {statement} }}{bound}", message)
