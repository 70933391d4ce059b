"""Whole programs on FIFOs with every full and empty action, and on chosen microthreads, written from the manual alone,
with what numpy says of them."""

# ruff: noqa: E501 (programs)

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from loomir.diagnostics.errors import LoomError

from .harness import Csl
from .test_programs_of_many_pes import hop

ARCHES = ("wse2", "wse3")
EXECUTORS = ("core", "reference")
Array = NDArray[Any]


@pytest.fixture(params=EXECUTORS, autouse=True)
def executor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run every program on both executors."""
    monkeypatch.setenv("LOOM_EXECUTOR", request.param)
    return request.param


def silent(capsys: pytest.CaptureFixture[str]) -> bool:
    """Return True if a run that looks for races has nothing to say."""
    return "warning" not in capsys.readouterr().err


# A row of PEs: each takes numbers from the west into a FIFO, works on chunks of them, and sends these on to the east

STAGES = """
param px: i16; param w: i16; param in_w: color; param out_e: color;
const N: i16 = 96; const CHUNK: i16 = 8;
var given = @zeros([N]i16);
var chunk = @zeros([CHUNK]i16);
var total = @zeros([N]i16);
var done: i16 = 0;
var short: i16 = 0;
const iw = @get_input_queue(4); const oe = @get_output_queue(2);
const from_w = @get_dsd(fabin_dsd, .{ .extent = N, .input_queue = iw });
const to_e = @get_dsd(fabout_dsd, .{ .extent = CHUNK, .fabric_color = out_e, .output_queue = oe });
const all_e = @get_dsd(fabout_dsd, .{ .extent = N, .fabric_color = out_e, .output_queue = oe });
const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{N} -> given[i] });
const part = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{CHUNK} -> chunk[i] });
const kept = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{CHUNK} -> total[i] });
const drain_id = @get_local_task_id(12); const end_id = @get_local_task_id(13);
var room = @zeros([DEPTH]i16);
const fifo = @allocate_fifo(room, .{ CONFIG });
const at = @get_dsr(dsr_dest, 4);

// Where the chunk is complete it is worked on and sent on, or kept by the last PE.
fn pass_on() void {
  for (@range(i16, CHUNK)) |i| { chunk[i] = chunk[i] * 3 + px; }
  if (px == w - 1) { @mov16(@increment_dsd_offset(kept, done, i16), part); } else { @mov16(to_e, part); }
  done += CHUNK;
}
DRAIN
task end() void {}
fn main() void {
  if (px == 0) { @mov16(all_e, all, .{ .async = true, .activate = end }); return; }
  @mov16(fifo, from_w, .{ .async = true, .activate = end UT });
  START
}
comptime {
  @bind_local_task(drain, drain_id); @bind_local_task(end, end_id);
  if (px > 0) @initialize_queue(iw, .{ .color = in_w });
  if (@is_arch("wse3")) if (px < w - 1) @initialize_queue(oe, .{ .color = out_e });
}
"""

# A pop that finds too little leaves the rest as its length (DSD-127), and the push that brings it starts the task again.
WHEN_PUSHED = """
task drain() void {
  while (done < N) {
    if (!@mov16(at, fifo)) { short += 1; return; }
    pass_on();
    @load_to_dsr(at, part, .{ .save_address = true });
    if (done < N) { @set_fifo_read_length(fifo, @as(u16, CHUNK)); }
  }
}
"""
# A pop waits, although it is synchronous (DSD-134).
WAITING = """
task drain() void {
  while (done < N) { @mov16(part, fifo); pass_on(); }
}
"""
# A pop ends with what there is and counts as complete (DSD-133): how much there was, its outstanding length tells, which
# only the end of a register shows. So elements are marked and counted.
ENDING = """
task drain() void {
  while (true) {
    for (@range(i16, CHUNK)) |i| { chunk[i] = -1; }
    @load_to_dsr(at, part);
    @set_fifo_read_length(fifo, @as(u16, CHUNK));
    @mov16(at, fifo);
    var got: i16 = 0;
    while (got < CHUNK and chunk[got] != -1) { got += 1; }
    if (got == 0) { short += 1; return; }
    for (@range(i16, got)) |i| {
      if (px == w - 1) { total[done] = chunk[i] * 3 + px; }
      else { @mov16(@set_dsd_length(to_e, 1), chunk[i] * 3 + px); }
      done += 1;
    }
    if (done == N) { return; }
  }
}
"""


def stages(drain: str, start: str, config: str = "", ut: str = "", depth: int = 16) -> str:
    parts = {"DRAIN": drain, "START": start, "CONFIG": config, "UT": ut, "DEPTH": str(depth)}
    text = STAGES
    for name, value in parts.items():
        text = text.replace(name, value)
    return text


LOADED = "@load_to_dsr(at, part, .{ .save_address = true }); @set_fifo_read_length(fifo, @as(u16, CHUNK)); @activate(drain_id);"
STAGE_CASES = {
    "test and be started": (ARCHES, stages(WHEN_PUSHED, LOADED, ".activate_push = drain_id")),
    "test and be started, a short FIFO": (ARCHES, stages(WHEN_PUSHED, LOADED, ".activate_push = drain_id", depth=8)),
    "suspend": (("wse3",), stages(WAITING, "@activate(drain_id);", ".empty_action = .{ .suspend = true }")),
    "suspend at both ends": (
        ("wse3",),
        stages(
            WAITING,
            "@activate(drain_id);",
            ".empty_action = .{ .suspend = true }, .full_action = .{ .suspend = true }",
            ", .ut_id = @get_ut_id(7)",
            depth=8,
        ),
    ),
    "terminate": (
        ARCHES,
        stages(ENDING, "@activate(drain_id);", ".empty_action = .{ .terminate = true }, .activate_push = drain_id"),
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arch"), [(name, arch) for name, case in STAGE_CASES.items() for arch in case[0]])
@pytest.mark.one_in(2)
def test_stages_with_fifos(csl: Csl, capsys: pytest.CaptureFixture[str], name: str, arch: str) -> None:
    """Numbers pass four PEs in their order, each tripled and with the column added."""
    text = STAGE_CASES[name][1]
    width = 5
    routes = "".join(hop(x, 0, 1 + x % 2, "EAST") for x in range(width - 1))
    params = (
        f".px = x, .w = {width}, .in_w = if (x % 2 == 0) @get_color(2) else @get_color(1), "
        ".out_e = if (x % 2 == 0) @get_color(1) else @get_color(2)"
    )
    exports = {"given": "i16", "total": "i16", "short": "i16"}
    text = text.replace("var short: i16 = 0;", "var short = @zeros([1]i16);").replace("short +=", "short[0] +=")
    simulator = csl.start(text, exports, arch=arch, width=width, layout=routes, params=params, check=True)
    given = (np.arange(96) % 17).astype(np.int16)
    simulator.set("given", np.broadcast_to(given, (1, width, 96)))
    capsys.readouterr()
    simulator.launch("main")
    expected = given.astype(np.int64)
    for x in range(1, width):
        expected = expected * 3 + x
    assert simulator.get("total")[0, -1].tolist() == expected.astype(np.int16).tolist()
    # The last PE gets its numbers from the slowest: it finds too little now and then, but where it waits for them.
    assert (simulator.get("short")[0, -1, 0] > 0) == (not name.startswith("suspend"))
    assert silent(capsys)


# Bursts that do not fit

BURSTS = """
const N: i16 = 90;
const c = @get_color(3); const iq = @get_input_queue(1); const oq = @get_output_queue(2);
var given = @zeros([N]f32);
var out = @zeros([N]f32);
var bursts = @zeros([1]i16);
var room = @zeros([DEPTH]f32);
const fifo = @allocate_fifo(room, .{ CONFIG });
const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{N} -> given[i] });
const got = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{N} -> out[i] });
const wire = @get_dsd(fabout_dsd, .{ .extent = DEPTH, .fabric_color = c, .output_queue = oq });
const from = @get_dsd(fabin_dsd, .{ .extent = N, .input_queue = iq });
const source = @get_dsr(dsr_src1, 3);
const end_id = @get_local_task_id(12); const next_id = @get_local_task_id(13);
var left: i16 = N;
// Each burst fills the FIFO; the push stops there, and goes on with what is outstanding (DSD-129).
task next() void {
  @fmovs(fifo, source);
  const count: i16 = if (left < DEPTH) left else DEPTH;
  left -= count;
  bursts[0] += 1;
  @set_fifo_read_length(fifo, @as(u16, count));
  @fnegs(@set_dsd_length(wire, @as(u16, count)), fifo, .{ .async = true, UT .activate = more });
}
task more() void { if (left > 0) { @activate(next_id); } }
task end() void { for (@range(i16, N)) |i| { out[i] += 1.0; } }
fn main() void {
  @load_to_dsr(source, all, .{ .save_address = true });
  @set_fifo_write_length(fifo, @as(u16, N));
  @fmovs(got, from, .{ .async = true, .activate = end });
  @activate(next_id);
}
comptime {
  @bind_local_task(end, end_id); @bind_local_task(next, next_id); @bind_local_task(more, @get_local_task_id(14));
  @initialize_queue(iq, .{ .color = c });
  if (@is_arch("wse3")) @initialize_queue(oq, .{ .color = c });
}
"""
LOOP_BACK = "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"


def bursts(config: str, ut: str, depth: int) -> str:
    return BURSTS.replace("CONFIG", config).replace("UT", ut).replace("DEPTH", str(depth))


@pytest.mark.parametrize(
    ("arch", "config", "ut"),
    [
        ("wse2", "", ""),
        ("wse3", "", ".ut_id = @get_ut_id(6),"),
        ("wse3", ".full_action = .{ .terminate = true }", ".ut_id = @get_ut_id(3),"),
        ("wse3", ".full_action = .{ .terminate = true }, .empty_action = .{ .fault = true }", ""),
    ],
)
@pytest.mark.parametrize("depth", [16, 30])
@pytest.mark.one_in(2)
def test_bursts(csl: Csl, capsys: pytest.CaptureFixture[str], arch: str, config: str, ut: str, depth: int) -> None:
    """What does not fit waits in the register and in the length of the FIFO; as many bursts as the depth asks for."""
    exports = {"given": "f32", "out": "f32", "bursts": "i16"}
    simulator = csl.start(bursts(config, ut, depth), exports, arch=arch, layout=LOOP_BACK, check=True)
    given = np.random.default_rng(depth).random(90, np.float32)
    simulator.set("given", given[None, None])
    capsys.readouterr()
    simulator.launch("main")
    assert np.array_equal(simulator.get("out")[0, 0], 1 - given)
    assert simulator.get("bursts")[0, 0, 0] == -(-90 // depth)
    assert silent(capsys)


@pytest.mark.parametrize(("config", "said"), [("full_action", "full"), ("empty_action", "empty")])
def test_faults_of_bursts(csl: Csl, config: str, said: str) -> None:
    """A FIFO that must not be full ends the program at its line, one that is deep enough does not (DSD-135)."""
    text = bursts(f".{config} = .{{ .fault = true }}", "", 16)
    if said == "empty":
        text = text.replace("@fmovs(fifo, source);", "@fmovs(fifo, @set_dsd_length(all, 3));")
    simulator = csl.start(text, {"given": "f32", "out": "f32", "bursts": "i16"}, arch="wse3", layout=LOOP_BACK)
    with pytest.raises(LoomError, match=rf"finds FIFO @fifo {said} on PE \(0, 0\).*\(DSD-135\)") as caught:
        simulator.launch("main")
    name = "fmovs(fifo" if said == "full" else "fnegs("
    line = next(number for number, each in enumerate(text.splitlines(), 1) if name in each)
    assert f"pe.csl:{line}:" in str(caught.value)
    if said == "full":
        fits = text.replace("[16]f32", "[96]f32").replace("left < 16) left else 16", "left < 90) left else 90")
        simulator = csl.start(fits, {"given": "f32", "out": "f32", "bursts": "i16"}, arch="wse3", layout=LOOP_BACK)
        simulator.launch("main")
        assert simulator.get("bursts")[0, 0, 0] == 1


# A sender that is faster than what it sends to

SENDER = """
param px: i16; param c: color;
const N: i16 = 120; const PART: i16 = 6;
var given = @zeros([N]f32);
var out = @zeros([N]f32);
var fills = @zeros([1]i16);
var part = @zeros([PART]f32);
var room = @zeros([16]f32);
const fifo = @allocate_fifo(room, .{ CONFIG });
const oq = @get_output_queue(2); const iq = @get_input_queue(3);
const wire = @get_dsd(fabout_dsd, .{ .extent = N, .fabric_color = c, .output_queue = oq });
const from = @get_dsd(fabin_dsd, .{ .extent = PART, .input_queue = iq });
const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{N} -> given[i] });
const some = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{PART} -> part[i] });
const source = @get_dsr(dsr_src1, 3);
const fill_id = @get_local_task_id(12); const end_id = @get_local_task_id(13);
// Pushes what there is room for. A pop that makes room starts it again (DSD-144).
task fill() void { fills[0] += 1; const whole = @fmovs(fifo, source); @assert(whole or fills[0] < 100); }
task end() void { fills[0] = -fills[0]; }
fn main() void {
  if (px == 0) {
    @fmovs(wire, fifo, .{ .async = true, UT .activate = end });
    @load_to_dsr(source, all, .{ .save_address = true });
    @set_fifo_write_length(fifo, @as(u16, N));
    @activate(fill_id);
  } else {
    for (@range(i16, 0, N, PART)) |k| {
      @fmovs(some, from);
      for (@range(i16, PART)) |i| { out[k + i] = part[i] * 0.5 + out[(k + i) / 2]; }
    }
  }
}
comptime {
  @bind_local_task(fill, fill_id); @bind_local_task(end, end_id);
  if (px == 1) @initialize_queue(iq, .{ .color = c });
  if (@is_arch("wse3")) if (px == 0) @initialize_queue(oq, .{ .color = c });
}
"""


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("arch", "config", "ut", "fills"),
    [
        ("wse2", ".activate_pop = fill_id", "", None),
        ("wse3", ".activate_pop = fill_id", ".ut_id = @get_ut_id(5),", None),
        ("wse3", ".activate_pop = fill_id, .full_action = .{ .terminate = true }", "", None),
        ("wse3", ".full_action = .{ .suspend = true }", ".ut_id = @get_ut_id(0),", 1),
    ],
)
def test_a_fast_sender(
    csl: Csl, capsys: pytest.CaptureFixture[str], arch: str, config: str, ut: str, fills: int | None
) -> None:
    """A push that finds no room goes on where it stopped: at once, or in a task that the pops start."""
    exports = {"given": "f32", "out": "f32", "fills": "i16"}
    text = SENDER.replace("CONFIG", config).replace("UT", ut)
    params = ".px = x, .c = @get_color(4)"
    routes = hop(0, 0, 4, "EAST")
    simulator = csl.start(text, exports, arch=arch, width=2, layout=routes, params=params, check=True)
    given = np.random.default_rng(8).random(120, np.float32)
    simulator.set("given", np.broadcast_to(given, (1, 2, 120)))
    capsys.readouterr()
    simulator.launch("main")
    expected = np.zeros(120, np.float32)
    for k in range(120):
        expected[k] = given[k] * np.float32(0.5) + expected[k // 2]
    assert np.array_equal(simulator.get("out")[0, 1], expected)
    found = -simulator.get("fills")[0, 0, 0]
    assert found == fills if fills is not None else found > 10
    assert silent(capsys)


# Halos by eight operations at once, whose microthreads change from one iteration to the next

JACOBI = """
param x: i16; param y: i16; param w: i16; param h: i16;
param to_east: color; param to_west: color; param to_south: color; param to_north: color;
param from_west: color; param from_east: color; param from_north: color; param from_south: color;
const T: i16 = 4; const S: i16 = 6;
var u = @zeros([S, S]f32);
var v = @zeros([S, S]f32);
var steps: i16 = 0;
var pending: i16 = 0;
const oe = @get_output_queue(2); const ow = @get_output_queue(3); const os = @get_output_queue(4); const on = @get_output_queue(5);
const iw = @get_input_queue(IW); const ie = @get_input_queue(IE); const in = @get_input_queue(6); const is = @get_input_queue(7);
const out_e = @get_dsd(fabout_dsd, .{ .extent = T, .fabric_color = to_east, .output_queue = oe });
const out_w = @get_dsd(fabout_dsd, .{ .extent = T, .fabric_color = to_west, .output_queue = ow });
const out_s = @get_dsd(fabout_dsd, .{ .extent = T, .fabric_color = to_south, .output_queue = os });
const out_n = @get_dsd(fabout_dsd, .{ .extent = T, .fabric_color = to_north, .output_queue = on });
const in_w = @get_dsd(fabin_dsd, .{ .extent = T, .input_queue = iw });
const in_e = @get_dsd(fabin_dsd, .{ .extent = T, .input_queue = ie });
const in_n = @get_dsd(fabin_dsd, .{ .extent = T, .input_queue = in });
const in_s = @get_dsd(fabin_dsd, .{ .extent = T, .input_queue = is });
const east = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{T} -> u[i + 1, T] });
const west = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{T} -> u[i + 1, 1] });
const south = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{T} -> u[T, i + 1] });
const north = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{T} -> u[1, i + 1] });
const halo_e = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{T} -> u[i + 1, T + 1] });
const halo_w = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{T} -> u[i + 1, 0] });
const halo_s = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{T} -> u[T + 1, i + 1] });
const halo_n = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{T} -> u[0, i + 1] });
const inner = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j|{T, T} -> u[i + 1, j + 1] });
const next = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j|{T, T} -> v[i + 1, j + 1] });
const below = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j|{T, T} -> u[i + 2, j + 1] });
const above = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j|{T, T} -> u[i, j + 1] });
const right = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j|{T, T} -> u[i + 1, j + 2] });
const left = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j|{T, T} -> u[i + 1, j] });
fn exchange(comptime k: u16) void {
  // Sends first: on the machine a microthread is free once its operation has ended.
  if (x < w - 1) { pending += 2; @fmovs(out_e, east, .{ .async = true, UT0 .activate = a }); @fmovs(halo_e, in_e, .{ .async = true, UT1 .activate = b }); }
  if (x > 0) { pending += 2; @fmovs(out_w, west, .{ .async = true, UT2 .activate = c }); @fmovs(halo_w, in_w, .{ .async = true, UT3 .activate = d }); }
  if (y < h - 1) { pending += 2; @fmovs(out_s, south, .{ .async = true, UT4 .activate = e }); @fmovs(halo_s, in_s, .{ .async = true, UT5 .activate = f }); }
  if (y > 0) { pending += 2; @fmovs(out_n, north, .{ .async = true, UT6 .activate = g }); @fmovs(halo_n, in_n, .{ .async = true, UT7 .activate = i }); }
}
fn ended() void { pending -= 1; if (pending == 0) { @activate(compute_id); } }
task a() void { ended(); } task b() void { ended(); } task c() void { ended(); } task d() void { ended(); }
task e() void { ended(); } task f() void { ended(); } task g() void { ended(); } task i() void { ended(); }
const compute_id = @get_local_task_id(20);
const again_id = @get_local_task_id(21);
task compute() void {
  @fadds(next, left, right);
  @fadds(next, next, above);
  @fadds(next, next, below);
  @fmuls(next, next, 0.25);
  @fmovs(inner, next);
  steps -= 1;
  if (steps > 0) { @activate(again_id); }
}
task again() void { if (steps % 2 == 0) { exchange(0); } else { exchange(3); } }
fn main(count: i16) void { steps = count; @activate(again_id); }
comptime {
  @bind_local_task(a, @get_local_task_id(8)); @bind_local_task(b, @get_local_task_id(9));
  @bind_local_task(c, @get_local_task_id(10)); @bind_local_task(d, @get_local_task_id(11));
  @bind_local_task(e, @get_local_task_id(12)); @bind_local_task(f, @get_local_task_id(13));
  @bind_local_task(g, @get_local_task_id(14)); @bind_local_task(i, @get_local_task_id(15));
  @bind_local_task(compute, compute_id); @bind_local_task(again, again_id);
  if (x > 0) @initialize_queue(iw, .{ .color = from_west });
  if (x < w - 1) @initialize_queue(ie, .{ .color = from_east });
  if (y > 0) @initialize_queue(in, .{ .color = from_north });
  if (y < h - 1) @initialize_queue(is, .{ .color = from_south });
  if (@is_arch("wse3")) {
    if (x < w - 1) @initialize_queue(oe, .{ .color = to_east });
    if (x > 0) @initialize_queue(ow, .{ .color = to_west });
    if (y < h - 1) @initialize_queue(os, .{ .color = to_south });
    if (y > 0) @initialize_queue(on, .{ .color = to_north });
  }
}
"""


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("order", ["given", "none"])
def test_halos_on_chosen_microthreads(csl: Csl, capsys: pytest.CaptureFixture[str], order: str) -> None:
    """Jacobi steps on 3 x 3 PEs: eight operations at once on eight microthreads, others in every second step (DSD-224)."""
    text = JACOBI.replace("IW", "0").replace("IE", "1")
    for number in range(8):
        ut = f".ut_id = @get_ut_id((k + {5 * number}) % 8)," if order == "given" else ""
        text = text.replace(f"UT{number}", ut)
    width = height = 3
    routes = "".join(
        hop(x, y, color + (y if way in ("SOUTH", "NORTH") else x) % 2, way)
        for x in range(width)
        for y in range(height)
        for way, color, inside in (
            ("EAST", 1, x < width - 1),
            ("WEST", 3, x > 0),
            ("SOUTH", 5, y < height - 1),
            ("NORTH", 7, y > 0),
        )
        if inside
    )
    params = ".x = x, .y = y, .w = 3, .h = 3" + "".join(
        f", .to_{way} = @get_color({color} + @as(u16, {axis} % 2)), .from_{back} = @get_color({color} + @as(u16, ({axis} + 1) % 2))"
        for way, color, axis, back in (
            ("east", 1, "x", "west"), ("west", 3, "x", "east"), ("south", 5, "y", "north"), ("north", 7, "y", "south"),
        )
    )  # fmt: skip
    simulator = csl.start(
        text, {"u": "f32"}, {"main": "fn(i16) void"}, "wse3", width, height, routes, params, check=True
    )
    field = np.random.default_rng(3).random((12, 12), np.float32)
    tiles = np.zeros((3, 3, 6, 6), np.float32)
    for y in range(3):
        for x in range(3):
            tiles[y, x, 1:5, 1:5] = field[4 * y : 4 * y + 4, 4 * x : 4 * x + 4]
    simulator.set("u", tiles.reshape(3, 3, 36))
    capsys.readouterr()
    simulator.launch("main", 5)
    whole = np.pad(field, 1)
    for _ in range(5):
        sums = whole[1:-1, :-2] + whole[1:-1, 2:] + whole[:-2, 1:-1] + whole[2:, 1:-1]
        whole[1:-1, 1:-1] = sums * np.float32(0.25)
    result = simulator.get("u").reshape(3, 3, 6, 6)[:, :, 1:5, 1:5].transpose(0, 2, 1, 3).reshape(12, 12)
    assert np.array_equal(result, whole[1:-1, 1:-1])
    assert silent(capsys)
