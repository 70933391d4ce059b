"""Microthreads that programs block and unblock, from CSL text on both executors (Microthread IDs, AMB-60)."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import pytest

import loomir
from loomir import LoomError
from loomir.runtime import Deadlock

from .harness import Csl

EXECUTORS = ("core", "reference")


@pytest.fixture(params=EXECUTORS, autouse=True)
def executor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run every program on both executors."""
    monkeypatch.setenv("LOOM_EXECUTOR", request.param)
    return request.param


ROUTE = """
  @set_color_config(0, 0, @get_color(1), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
  @set_color_config(1, 0, @get_color(1), .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } });
"""

# PE 0 sends eight numbers to PE 1 on microthread 6. What stands for ROLE is done by it, and for TAKE by the other.
TEXT = """
param px: i16;
const N: i16 = 8;
const c = @get_color(1); const iq = @get_input_queue(2); const oq = @get_output_queue(3);
var a = [N]f32{ 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0 };
var b = @zeros([N]f32);
var seen = @zeros([4]f32);
const mem = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{N} -> a[i] });
const into = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{N} -> b[i] });
const out = @get_dsd(fabout_dsd, .{ .extent = N, .fabric_color = c, .output_queue = oq });
const in = @get_dsd(fabin_dsd, .{ .extent = N, .input_queue = iq });
const ut6 = @get_ut_id(6); const ut5 = @get_ut_id(5);
var any: ut_id = ut6;
const done_id = @get_local_task_id(9); const later_id = @get_local_task_id(10);
task done() void { seen[0] += 1.0; DONE }
task later() void { LATER }
fn main() void { if (px == 0) { SEND } else { TAKE } }
comptime {
  @bind_local_task(done, done_id); @bind_local_task(later, later_id);
  if (px == 0) { @initialize_queue(oq, .{ .color = c }); FIRST } else { @initialize_queue(iq, .{ .color = c }); OTHER }
}
"""
PLAIN = {
    "SEND": "@fmovs(out, mem, .{ .async = true, .ut_id = ut6, .activate = done });",
    "TAKE": "@fmovs(into, in, .{ .async = true, .ut_id = ut5, .activate = done });",
}
EXPORTS = {"a": "f32", "b": "f32", "seen": "f32"}


def text(**parts: str) -> str:
    found = TEXT
    for name in ("SEND", "TAKE", "DONE", "LATER", "FIRST", "OTHER"):
        found = re.sub(rf"\b{name}\b", parts.get(name, PLAIN.get(name, "")), found)
    return found


def start(csl: Csl, *, check: bool = True, **parts: str) -> loomir.Simulator:
    options: Any = {"arch": "wse3", "width": 2, "layout": ROUTE, "params": ".px = x", "check": check}
    return csl.start(text(**parts), EXPORTS, **options)


def received(csl: Csl, capsys: pytest.CaptureFixture[str], **parts: str) -> list[float]:
    """Return what PE 1 has received, in a run that finds no race."""
    simulator = start(csl, check=True, **parts)
    capsys.readouterr()
    simulator.launch("main")
    assert "warning" not in capsys.readouterr().err
    return simulator.get("b")[0, 1].tolist()


WRITES = "for (@range(i16, N)) |i| { a[i] = 10.0 * a[i]; }"
EIGHT = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]


@pytest.mark.parametrize("id", ["ut6", "any", "@get_ut_id(6)"])
@pytest.mark.parametrize("where", ["at the start", "by code"])
def test_a_send_begins_when_it_is_unblocked(csl: Csl, capsys: pytest.CaptureFixture[str], id: str, where: str) -> None:
    """It reads its memory then (AMB-60), so that what a task has written since its issue is sent, and races with
    nothing; the id may be known at run time only (Microthread IDs)."""
    first, block = ("@block(ut6);", "") if where == "at the start" else ("", f"@block({id});")
    sends = f"{block} {PLAIN['SEND']} {WRITES} @unblock({id});"
    assert received(csl, capsys, SEND=sends, FIRST=first) == [10.0 * number for number in EIGHT]


def test_what_is_written_behind_the_unblock_races(csl: Csl, capsys: pytest.CaptureFixture[str]) -> None:
    sends = f"@block(any); {PLAIN['SEND']} @unblock(any); {WRITES}"
    start(csl, SEND=sends).launch("main")
    assert re.search(r"this store writes element 0 of .*which is asynchronous, reads it", capsys.readouterr().err)


def test_what_is_not_blocked_any_more_reads_at_once(csl: Csl, capsys: pytest.CaptureFixture[str]) -> None:
    """@unblock in a comptime block undoes what @block before it says, and to block twice is to block once (AMB-60)."""
    assert received(csl, capsys, FIRST="@block(ut6); @unblock(ut6);") == EIGHT
    twice = f"@block(ut6); @block(ut6); {PLAIN['SEND']} @unblock(ut6); @unblock(ut6);"
    assert received(csl, capsys, SEND=twice) == EIGHT
    # Another microthread than that of the operation.
    assert received(csl, capsys, FIRST="@block(ut5);") == EIGHT


def test_a_receive_waits_for_what_unblocks_it(csl: Csl, capsys: pytest.CaptureFixture[str]) -> None:
    """The task sees none of the wavelets that have come meanwhile (AMB-60), and no race is found in that."""
    takes = (
        f"{PLAIN['TAKE']} for (@range(i16, 200)) |i| {{ seen[1] += 1.0; }} seen[2] = b[0]; b[0] = 0.0; @unblock(any);"
    )
    simulator = start(csl, TAKE=takes, OTHER="@block(ut5);", LATER="any = ut5;", FIRST="", SEND=PLAIN["SEND"])
    assert simulator is not None
    takes = takes.replace("@unblock(any)", "any = ut5; @unblock(any)")
    assert received(csl, capsys, TAKE=takes, OTHER="@block(ut5);") == EIGHT
    simulator = start(csl, TAKE=takes, OTHER="@block(ut5);")
    simulator.launch("main")
    assert simulator.get("seen")[0, 1].tolist()[:3] == [1.0, 200.0, 0.0]


def test_a_receive_stands_still_in_the_middle(csl: Csl) -> None:
    """Of eight wavelets that come all at once the sender's PE sends, some are taken before @block, the rest after
    @unblock, and none between the two (AMB-60)."""
    takes = f"{PLAIN['TAKE']} for (@range(i16, WAIT)) |i| {{ seen[1] += 1.0; }} @block(ut5); @activate(later_id);"
    later = "for (@range(i16, 100)) |i| { seen[2] += 1.0; } seen[3] = b[0] + b[7]; @unblock(ut5);"
    between: list[float] = []
    for wait in range(1, 9):
        simulator = start(csl, check=False, TAKE=takes.replace("WAIT", str(wait)), LATER=later)
        simulator.launch("main")
        assert simulator.get("b")[0, 1].tolist() == EIGHT
        assert simulator.get("seen")[0, 1].tolist()[:3] == [1.0, wait, 100.0]
        between.append(simulator.get("seen")[0, 1, 3].item())
    assert set(between) >= {1.0, 9.0}, "some runs have begun and not ended when they are blocked, and some have ended"


def test_a_hang_names_the_microthread(csl: Csl) -> None:
    """The line of the @block, and what to do; also where others wait for what it would send."""
    at = rf"{re.escape(str(csl.directory))}/pe.csl:\d+:\d+"
    with pytest.raises(Deadlock) as caught:
        start(csl, SEND=f"@block(any); {PLAIN['SEND']}").launch("main")
    lines = str(caught.value).split("\n")
    assert re.search(
        rf"PE \(0, 0\): microthread 6: fmovs in @main \({at}\) is blocked with 8 of 8 elements left", lines[1]
    )
    assert re.fullmatch(
        rf"  microthread 6 of PE \(0, 0\) is blocked by the @block at ({at}), and nothing unblocks it; call "
        r"@unblock\(@get_ut_id\(6\)\) when its operation may go on",
        lines[3],
    )
    column = text(SEND=f"@block(any); {PLAIN['SEND']}").split("\n")[16].index("@block(any)") + 1
    assert f"pe.csl:17:{column}" in lines[3]
    # Nothing waits for the end of the send itself.
    with pytest.raises(Deadlock) as caught:
        start(csl, SEND="@fmovs(out, mem, .{ .async = true, .ut_id = ut6 });", FIRST="@block(ut6);").launch("main")
    lines = str(caught.value).split("\n")
    assert "PE (1, 0): microthread 5" in lines[1] and "waits on input queue" in lines[1]
    assert "microthread 6 of PE (0, 0) is blocked by the @block at" in lines[2]


def test_a_receive_that_stays_blocked(csl: Csl) -> None:
    """All its wavelets are there, or it has taken some: the rest is what it lacks."""
    with pytest.raises(Deadlock) as caught:
        start(csl, OTHER="@block(ut5);").launch("main")
    assert "microthread 5: fmovs in @main" in str(caught.value)
    assert "is blocked with 8 of 8 elements left" in str(caught.value)
    assert "microthread 5 of PE (1, 0) is blocked by the @block" in str(caught.value)


def test_waits_are_counted_and_traced(csl: Csl) -> None:
    """A wait whose end is the @unblock is the microthread's, of sends and receives alike, and no queue's."""
    spin = "for (@range(i16, 100)) |i| { seen[1] += 1.0; }"
    stream = io.BytesIO()
    program = csl.program(
        text(SEND=f"@block(ut6); {PLAIN['SEND']} {spin} @unblock(ut6);"), EXPORTS, arch="wse3", width=2, layout=ROUTE,
        params=".px = x",
    )  # fmt: skip
    simulator = loomir.Simulator(program, statistics=True, trace=stream, trace_kinds=("waits",))
    simulator.launch("main")
    found = simulator.statistics()
    assert found is not None
    waits = [json.loads(line) for line in stream.getvalue().splitlines()]
    (blocked,) = [wait for wait in waits if wait["pes"] == "PE (0, 0)"]
    assert blocked["blocked"] is True and blocked["microthread"] == 6 and "queue" not in blocked
    assert found.blocked.tolist() == [[blocked["cycles"], 0]] and blocked["cycles"] > 100
    assert all(queue.waited_in_background == 0 for queue in found.queues if queue.x == 0)
    # The receiver waits for wavelets, as long and for the queue.
    assert all("blocked" not in wait for wait in waits if wait["pes"] == "PE (1, 0)")

    program = csl.program(
        text(TAKE=f"@block(ut5); {PLAIN['TAKE']} {spin} @unblock(ut5);"), EXPORTS, arch="wse3", width=2, layout=ROUTE,
        params=".px = x",
    )  # fmt: skip
    stream = io.BytesIO()
    simulator = loomir.Simulator(program, statistics=True, trace=stream, trace_kinds=("waits",))
    simulator.launch("main")
    found = simulator.statistics()
    waits = [json.loads(line) for line in stream.getvalue().splitlines()]
    (blocked,) = [wait for wait in waits if "blocked" in wait]
    assert found is not None and blocked["pes"] == "PE (1, 0)"
    assert found.blocked.tolist() == [[0, blocked["cycles"]]] and blocked["cycles"] > 100


def test_operations_on_registers(csl: Csl, capsys: pytest.CaptureFixture[str]) -> None:
    """The microthread that a register's load says is the one that is blocked (Microthread IDs)."""
    sends = f"""@block(ut6);
      @load_to_dsr(to, out, .{{ .async = true, .ut_id = ut6, .activate = done }});
      @fmovs(to, mem, .{{ .async = true, .ut_id = ut5 }}); {WRITES} @unblock(ut5); {WRITES} @unblock(ut6);"""
    declared = "const to = @get_dsr(dsr_dest, 1);\nconst N: i16"
    simulator = csl.start(
        text(SEND=sends).replace("const N: i16", declared), EXPORTS, arch="wse3", width=2, layout=ROUTE,
        params=".px = x", check=True,
    )  # fmt: skip
    simulator.launch("main")
    assert simulator.get("b")[0, 1].tolist() == [100.0 * number for number in EIGHT]


def test_fifos(csl: Csl) -> None:
    """A push from a queue waits for its microthread, and a pop for the push."""
    more = """const N: i16 = 8;
var room = @zeros([4]f32);
const fifo = @allocate_fifo(room, .{ .empty_action = .{ .suspend = true }, .full_action = .{ .suspend = true } });"""
    takes = """@fmovs(fifo, in, .{ .async = true, .ut_id = ut5, .activate = done });
      for (@range(i16, 200)) |i| { seen[1] += 1.0; } seen[2] = room[0]; @unblock(ut5); @fmovs(into, fifo);"""
    simulator = csl.start(
        text(TAKE=takes, OTHER="@block(ut5);").replace("const N: i16 = 8;", more), EXPORTS, arch="wse3", width=2,
        layout=ROUTE, params=".px = x",
    )  # fmt: skip
    simulator.launch("main")
    assert simulator.get("b")[0, 1].tolist() == EIGHT
    assert simulator.get("seen")[0, 1].tolist() == [1.0, 200.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("@activate(«ut6»);", "@activate takes a 'local_task_id', not 'ut_id'"),
        (
            "@fmovs(out, mem, «.{ .async = true, .unblock = ut6 }»);",
            "this must be a task, or the id of one, not a 'ut_id'; @block and @unblock take a microthread",
        ),
    ],
)
def test_what_microthreads_are_not(csl: Csl, body: str, message: str) -> None:
    layout = f"""layout {{ @set_rectangle(2, 1); {ROUTE}
      for (@range(i16, 2)) |x| {{ @set_tile_code(x, 0, "pe.csl", .{{ .px = x }}); }}
      @export_name("main", fn() void); }}"""
    before, _, rest = text(SEND=body).partition("«")
    with pytest.raises(LoomError, match=re.escape(message)) as caught:
        csl.layout(layout, before + rest.replace("»", "") + "comptime { @export_symbol(main); }", "wse3")
    assert str(caught.value.location).endswith(f"pe.csl:17:{len(before.rsplit(chr(10), 1)[1]) + 1}")


def test_wse2_blocks_none(csl: Csl) -> None:
    """Microthread IDs: on WSE-3 alone."""
    csl.refuses("comptime { @block(«@get_ut_id(1)»); }", "on WSE-2 the microthread is that of the queue")
    csl.refuses("comptime { @unblock(@get_ut_id(«9»)); }", "there is no microthread 9 on WSE-3", arch="wse3")


def test_a_number_that_no_microthread_has(csl: Csl) -> None:
    """No check at compile time where it is known at run time only (@get_ut_id); the run ends where it is used."""
    for name in ("block", "unblock"):
        sends = f"seen[0] = 8.0; @{name}(@get_ut_id(@as(u16, seen[0])));"
        with pytest.raises(LoomError) as caught:
            start(csl, SEND=sends).launch("main")
        assert f"microthread 8 of PE (0, 0) is {name}ed, which has microthreads 0 to 7; give @get_ut_id" in str(
            caught.value
        )
        assert caught.value.location is not None and "pe.csl:17:" in caught.value.location


@pytest.mark.parametrize(
    ("parts", "line"),
    [
        ({"FIRST": "@block(ut6);"}, 20),
        ({"SEND": f"{PLAIN['SEND']} @block(ut6);"}, 17),
        ({"SEND": f"{PLAIN['SEND']} @block(ut6); @unblock(ut5);"}, 17),
        ({"FIRST": "@block(ut6);", "DONE": "@unblock(ut6);"}, None),
        ({"FIRST": "@block(ut6);", "DONE": "@unblock(any);"}, None),
        ({"FIRST": "@block(ut6); @unblock(ut6);"}, None),
        ({"SEND": f"@block(any); {PLAIN['SEND']}"}, None),
    ],
)
def test_lint(csl: Csl, parts: dict[str, str], line: int | None) -> None:
    """A microthread that is blocked and that nothing may unblock, if both are known at compile time."""
    layout = f"""layout {{ @set_rectangle(2, 1);
      for (@range(i16, 2)) |x| {{ @set_tile_code(x, 0, "pe.csl", .{{ .px = x }}); }} {ROUTE}
      @export_name("main", fn() void); }}"""
    compiled = csl.layout(layout, text(**parts) + "comptime { @export_symbol(main); }", "wse3", lint=True)
    found = [warning for warning in compiled.warnings if "[blocked-microthread]" in warning]
    if line is None:
        assert found == []
        return
    (warning,) = found
    assert f"pe.csl:{line}:" in warning
    assert "microthread 6 is blocked, and nothing unblocks it, so that no operation on it goes on; call " in warning


def test_the_microthread_of_a_library(csl: Csl) -> None:
    """That of <memcpy/memcpy> is its own, as its queues are."""
    layout = """
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 1, .height = 1 });
layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(0) });
  @export_name("main", fn() void); }"""
    text = """param memcpy_params; const sys = @import_module("<memcpy/memcpy>", memcpy_params);
fn main() void { @block(@get_ut_id(0)); @unblock(@get_ut_id(0)); sys.unblock_cmd_stream(); }
comptime { @export_symbol(main); }"""
    compiled = csl.layout(layout, text, "wse3")
    assert [warning for warning in compiled.warnings if "microthread 0" in warning]


def test_races_at_compile_time(csl: Csl) -> None:
    """None is reported of an operation that may not have begun; it is where nothing blocks its microthread."""
    layout = f"""layout {{ @set_rectangle(2, 1); {ROUTE}
      for (@range(i16, 2)) |x| {{ @set_tile_code(x, 0, "pe.csl", .{{ .px = x }}); }}
      @export_name("main", fn() void); }}"""
    writes = "a[0] = 0.0;"
    for sends, count in (
        (f"@block(ut6); {PLAIN['SEND']} {writes} @unblock(ut6);", 0),
        (f"@block(ut5); {PLAIN['SEND']} {writes} @unblock(ut5);", 1),
    ):
        source = text(SEND=sends) + "comptime { @export_symbol(main); }"
        warnings = csl.layout(layout, source, "wse3", lint=True).warnings
        assert len([each for each in warnings if "[race]" in each]) == count


ORDERED = """
param px: i16;
const N: i16 = 4;
const iw = @get_input_queue(2); const ie = @get_input_queue(3); const oq = @get_output_queue(2);
const red = @get_color(1); const blue = @get_color(2);
var a = [N]f32{ 1.0, 2.0, 3.0, 4.0 };
var x = @zeros([N]f32);
const mem = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{N} -> a[i] });
const into = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{N} -> x[i] });
const out = @get_dsd(fabout_dsd, .{ .extent = N, .fabric_color = if (px == 0) red else blue, .output_queue = oq });
const west = @get_dsd(fabin_dsd, .{ .extent = N, .input_queue = iw });
const east = @get_dsd(fabin_dsd, .{ .extent = N, .input_queue = ie });
const ut6 = @get_ut_id(6);
task first() void { @unblock(ut6); }
task second() void {}
fn main() void {
  if (px == 1) {
    @fmovs(into, west, .{ .async = true, .activate = first });
    @fmovs(into, east, .{ .async = true, .ut_id = ut6, .activate = second });
  } else {
    for (@range(i16, N)) |i| { a[i] += @as(f32, px); }
    @fmovs(out, mem, .{ .async = true });
  }
}
comptime {
  @bind_local_task(first, @get_local_task_id(9)); @bind_local_task(second, @get_local_task_id(10));
  if (px == 1) {
    @initialize_queue(iw, .{ .color = red }); @initialize_queue(ie, .{ .color = blue }); FIRST
  } else { @initialize_queue(oq, .{ .color = if (px == 0) red else blue }); }
}
"""


@pytest.mark.parametrize("first", ["@block(ut6);", ""])
def test_the_order_of_two_streams(csl: Csl, capsys: pytest.CaptureFixture[str], first: str) -> None:
    """Two streams into one array: the end of one lets the other begin, so that which comes last is no luck."""
    layout = """
      @set_color_config(0, 0, @get_color(1), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
      @set_color_config(1, 0, @get_color(1), .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } });
      @set_color_config(2, 0, @get_color(2), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ WEST } } });
      @set_color_config(1, 0, @get_color(2), .{ .routes = .{ .rx = .{ EAST }, .tx = .{ RAMP } } });"""
    simulator = csl.start(
        ORDERED.replace("FIRST", first), {"x": "f32"}, arch="wse3", width=3, layout=layout, params=".px = x", check=True
    )
    simulator.launch("main")
    warnings = capsys.readouterr().err
    assert ("nothing decides" in warnings) == (not first)
    if first:
        assert "warning" not in warnings
        assert simulator.get("x")[0, 1].tolist() == [3.0, 4.0, 5.0, 6.0]
