"""Races between the tasks of a PE and its asynchronous operations, which a run reports."""

from __future__ import annotations

import pytest

import loomir

from .harness import Csl

PROGRAM = """
const c = @get_color(3);
const in_queue = @get_input_queue(1);
const out_queue = @get_output_queue(2);
comptime {
  @initialize_queue(in_queue, .{ .color = c });
  if (@is_arch("wse3")) @initialize_queue(out_queue, .{ .color = c });
  @bind_local_task(ended, @get_local_task_id(12));
  @bind_local_task(other, @get_local_task_id(13));
}
var out = @zeros([8]i16);
var buf = @zeros([8]i16);
const low = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> buf[i] });
const even = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> buf[2 * i] });
const odd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> buf[2 * i + 1] });
const rest = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i + 2] });
const from = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c, .input_queue = in_queue });
const wire = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = out_queue });
"""

LOOP_BACK = "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"

ENDED = "do it in @ended, which starts when that has ended"
NEVER_WAITED = "give that operation a task to activate or unblock when it has ended, and do it there"

RACES = {
    "a load reads what is received": (
        "@mov16(low, from, .{ .async = true, .activate = ended }); @mov16(wire, 7); out[0] = buf[2];",
        "",
        f"this load reads element 2 of @buf on PE (0, 0) while mov16 in @main at pe.csl:AT, which is asynchronous, "
        f"writes it; {ENDED}",
    ),
    "a store changes what is sent": (
        "@mov16(wire, low, .{ .async = true }); buf[1] = 3; @mov16(rest, from);",
        "",
        f"this store writes element 1 of @buf on PE (0, 0) while mov16 in @main at pe.csl:AT, which is asynchronous, "
        f"reads it; {NEVER_WAITED}",
    ),
    "an operation reads what is received": (
        "@mov16(odd, from, .{ .async = true, .activate = ended }); @mov16(wire, low);",
        "",
        f"mov16 in @main reads element 1 of @buf on PE (0, 0) while mov16 in @main at pe.csl:AT, which is "
        f"asynchronous, writes it; {ENDED}",
    ),
    "two operations in flight": (
        "@mov16(low, from, .{ .async = true, .activate = ended }); @mov16(wire, low, .{ .async = true });",
        "",
        f"mov16 in @main reads element 0 of @buf on PE (0, 0) while mov16 in @main at pe.csl:AT, which is "
        f"asynchronous, writes it; {ENDED}",
    ),
    "a task that nothing has told": (
        "@mov16(low, from, .{ .async = true }); @mov16(wire, 7, .{ .async = true }); @activate(other);",
        "for (@range(i16, 100)) |i| { out[1] += i; } out[0] = buf[3];",
        f"this load reads element 3 of @buf on PE (0, 0) while mov16 in @main at pe.csl:AT, which is asynchronous, "
        f"writes it; {NEVER_WAITED}",
    ),
}

NO_RACES = {
    "in the task of its end": ("@mov16(low, from, .{ .async = true, .activate = ended }); @mov16(wire, 7);", ""),
    "words next to it": (
        "@mov16(odd, from, .{ .async = true }); @mov16(wire, even, .{ .async = true }); out[0] = buf[2];", "",
    ),
    "both read": (
        "@mov16(wire, low, .{ .async = true }); @mov16(rest, from, .{ .async = true }); out[0] = buf[0];", "",
    ),
    "the task waits": ("@mov16(wire, low, .{ .async = true }); @mov16(rest, from); buf[0] = 1;", ""),
}  # fmt: skip


def told(
    csl: Csl, capsys: pytest.CaptureFixture[str], main: str, other: str, check: bool | None = None
) -> tuple[str, list[str]]:
    """Return the program, and the lines with warnings of races."""
    text = (
        f"{PROGRAM}\ntask ended() void {{ out[0] = buf[0]; }}\ntask other() void {{ {other} }}\n"
        f"fn main() void {{\n{main}\n}}\n"
    )
    simulator = csl.start(text, {"out": "i16"}, layout=LOOP_BACK, check=check)
    capsys.readouterr()
    simulator.launch("main")
    simulator.get("out")
    return text, [line for line in capsys.readouterr().err.splitlines() if "which is asynchronous" in line]


@pytest.mark.parametrize(("main", "other", "message"), RACES.values(), ids=RACES)
def test_a_race_is_reported(csl: Csl, capsys: pytest.CaptureFixture[str], main: str, other: str, message: str) -> None:
    """Both source lines are named, and how to wait."""
    text, lines = told(csl, capsys, main, other)
    line = text[: text.index("fn main()")].count("\n") + 2
    assert len(lines) == 1
    place, found = lines[0].split(": warning: ")
    assert place.split(":")[0].endswith("pe.csl")
    assert found.replace(str(csl.directory) + "/", "") == message.replace("AT", f"{line}:1")
    assert not told(csl, capsys, main, other, check=False)[1]


@pytest.mark.parametrize(("main", "other"), NO_RACES.values(), ids=NO_RACES)
def test_what_is_no_race(csl: Csl, capsys: pytest.CaptureFixture[str], main: str, other: str) -> None:
    """Other words, two that read, what the program has waited for."""
    assert not told(csl, capsys, main, other)[1]


RECEIVES = "@mov16(low, from, .{{ .async = true, .{} = ended }}); @mov16(wire, 7, .{{ .async = true }});"
SIGNALS = {
    "activates another": (RECEIVES.format("activate"), "@activate(other);", "", False),
    "is blocked again": (f"@activate(ended); {RECEIVES.format('unblock')}", "@block(ended); @activate(other);",
                         "comptime { @block(ended); }", False),
    "is not blocked": (f"@activate(ended); {RECEIVES.format('unblock')}", "@activate(other);", "", True),
}  # fmt: skip


@pytest.mark.parametrize(("main", "ended", "more", "is_early"), SIGNALS.values(), ids=SIGNALS)
def test_a_task_that_only_signals(
    csl: Csl, capsys: pytest.CaptureFixture[str], main: str, ended: str, more: str, is_early: bool
) -> None:
    """It learns of the end that starts it, and lets others know; it is reported if it starts before that."""
    other = "for (@range(i16, 100)) |i| { out[1] += i; } out[0] = buf[0];"
    text = (
        f"{PROGRAM}\n{more}\ntask ended() void {{ {ended} }}\ntask other() void {{ {other} }}\n"
        f"fn main() void {{\n{main}\n}}\n"
    )
    simulator = csl.start(text, {"out": "i16"}, layout=LOOP_BACK)
    capsys.readouterr()
    simulator.launch("main")
    lines = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert [line for line in lines if "@ended starts on PE (0, 0) before" not in line] == []
    assert len(lines) == is_early


FLOATS = """
const c = @get_color(3);
const in_queue = @get_input_queue(1);
const out_queue = @get_output_queue(2);
comptime {
  @initialize_queue(in_queue, .{ .color = c });
  if (@is_arch("wse3")) @initialize_queue(out_queue, .{ .color = c });
  TASK
}
var out = @zeros([4]OUT);
var given = @zeros([4]f32);
const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> given[i] });
const into = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i] });
const from = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c, .input_queue = in_queue });
const wire = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = out_queue });
task take(x: OUT) void { out[0] += x; }
fn main() void {
  @fmovs(wire, all, .{ .async = true });
  MAIN
}
"""

BIND = "@bind_data_task(take, @get_data_task_id({}));"


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("by_task", [False, True])
@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_floats_that_are_received_as_another_type(
    csl: Csl, capsys: pytest.CaptureFixture[str], arch: str, by_task: bool, kind: str
) -> None:
    """Told when the program is loaded, with both places; the same type is right."""
    bind = BIND.format("in_queue" if arch == "wse3" else "c") if by_task else ""
    move = "" if by_task else f"@fmov{'h' if kind == 'f16' else 's'}(into, from, .{{ .async = true }});"
    text = FLOATS.replace("TASK", bind).replace("MAIN", move).replace("OUT", kind)
    capsys.readouterr()
    csl.start(text, {"out": kind}, layout=LOOP_BACK, arch=arch)
    lines = [line for line in capsys.readouterr().err.splitlines() if "elements are received" in line]
    assert len(lines) == (kind == "f16")
    for line in lines:
        at = text[: text.index("task take" if by_task else "@fmovh")].count("\n") + 1
        sent = text[: text.index("@fmovs(wire")].count("\n") + 1
        assert f"pe.csl:{at}:" in line.split(": warning: ")[0]
        assert "f16 elements are received here from input queue" in line
        assert f"on PE (0, 0), but sent as f32 at pe.csl:{sent}:3; send and receive the same type" in line.replace(
            str(csl.directory) + "/", ""
        )


MEMCPY = 'param memcpy_params;\nconst sys = @import_module("<memcpy/memcpy>", memcpy_params);\n'
HOSTED_LAYOUT = """
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 1, .height = 1 });
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(0) });
  BACK
  @export_name("main", fn() void);
}
"""
SENDS_LATER = "@mov16(low, from, .{ .async = true, .activate = ended });"
RECEIVE = f"{SENDS_LATER} @mov16(wire, 7, .{{ .async = true }});"
UNBLOCK = "sys.unblock_cmd_stream();"


@pytest.mark.parametrize("executor", ["reference", "core"])
@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize(
    ("main", "ended", "early", "twice"),
    [
        (RECEIVE, UNBLOCK, False, False),
        (f"{RECEIVE}{UNBLOCK}", "", True, False),
        (f"{RECEIVE}{UNBLOCK}", UNBLOCK, True, True),
        (f"{SENDS_LATER}{UNBLOCK}", "", False, False),
    ],
    ids=["at its end", "before", "twice", "never ends"],
)
def test_the_command_stream_is_unblocked(
    csl: Csl, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, main: str, ended: str, early: bool,
    twice: bool, check: bool, executor: str,
) -> None:  # fmt: skip
    """Warned of before a receive ends that the same launch lets end, and twice in a launch."""
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    text = (
        f"{MEMCPY}{PROGRAM}\ntask ended() void {{\n{ended} }}\ntask other() void {{}}\n"
        f"fn main() void {{\n{main}\n}}\ncomptime {{ @export_symbol(main); }}\n"
    )
    compiled = csl.unverified(HOSTED_LAYOUT.replace("BACK", LOOP_BACK), text, "wse2")
    simulator = loomir.Simulator(loomir.compile(compiled.module, verify_each=False), check=check)
    capsys.readouterr()
    simulator.launch("main")
    lines = capsys.readouterr().err.splitlines()
    line = text[: text.index("fn main()")].count("\n") + 2
    again = text[: text.index("task ended()")].count("\n") + 2
    told = [
        f"pe.csl:{line}:1: warning: mov16 in @main, which is asynchronous, still receives on PE (0, 0) when @main "
        f"calls unblock_cmd_stream() at pe.csl:{line}:{1 + main.find(UNBLOCK)}, and the host may read what it receives "
        "too early; call it in a task that this operation activates or unblocks when it has ended",
        f"pe.csl:{again}:1: warning: @ended calls unblock_cmd_stream() again on PE (0, 0), which @main has called at "
        f"pe.csl:{line}:{1 + main.find(UNBLOCK)} since the launch; call it once for each launch, where the work that "
        "this starts ends, since the first call lets the host go on",
        "warning: unblock_cmd_stream() was called 2 times on PE (0, 0) in the launch of 'main'; call it once for each "
        "launch, where the work that 'main' starts ends, since the first call lets the host go on",
    ]
    found = [each.replace(str(csl.directory) + "/", "") for each in lines]
    wanted = (check and early, check and twice, not check and twice)
    assert [each for each in found if "races" not in each] == [
        each for each, is_wanted in zip(told, wanted, strict=True) if is_wanted
    ]


TWO_STREAMS = """
const a = @get_color(3);
const b = @get_color(4);
const in_a = @get_input_queue(2);
const in_b = @get_input_queue(3);
const out_a = @get_output_queue(4);
const out_b = @get_output_queue(5);
comptime {
  @initialize_queue(in_a, .{ .color = a });
  @initialize_queue(in_b, .{ .color = b });
  if (@is_arch("wse3")) {
    @initialize_queue(out_a, .{ .color = a });
    @initialize_queue(out_b, .{ .color = b });
  }
  @bind_local_task(ended, @get_local_task_id(12));
  @bind_local_task(other, @get_local_task_id(13));
}
var out = @zeros([8]i16);
var buf = @zeros([4]i16);
var arrived: u16 = 0;
const low = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> buf[i] });
const rest = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i + 4] });
const from_a = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = a, .input_queue = in_a });
const from_b = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = b, .input_queue = in_b });
const to_a = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = a, .output_queue = out_a });
const to_b = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = b, .output_queue = out_b });
const five = @get_dsd(fabout_dsd, .{ .extent = 5, .fabric_color = a, .output_queue = out_a });
const fifth = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{1} -> out[i] });
const then = @get_dsd(fabin_dsd, .{ .extent = 1, .fabric_color = a, .input_queue = in_a });
fn later() i16 { for (@range(i16, 100)) |i| { out[1] += i; } return buf[3]; }
"""
TAKE = """
task take(x: i16) void { out[0] = x + later(); }
comptime { @bind_data_task(take, @get_data_task_id(if (@is_arch("wse3")) in_a else a)); }
"""
ROUTES = "".join(
    f"@set_color_config(0, 0, @get_color({color}), .{{ .routes = .{{ .rx = .{{ RAMP }}, .tx = .{{ RAMP }} }} }});\n"
    for color in (3, 4)
)
ALONE = "@mov16(to_a, 7, .{ .async = true }); @mov16(low, from_a, .{ .async = true });"
AFTER_B = "@mov16(rest, from_b, .{ .async = true, .activate = ended }); @mov16(to_b, 7, .{ .async = true });"

FIVE = "@mov16(low, from_a, .{ .async = true }); @mov16(five, 7, .{ .async = true });"

LUCKY = {
    # What comes by b says nothing of a, whether a task starts by it or waits for it.
    "in the task of another end": (f"{ALONE} {AFTER_B}", "out[0] = later();", "", True),
    "behind another receive": (
        f"{ALONE} @mov16(to_b, 7, .{{ .async = true }}); @mov16(rest, from_b); out[0] = later();", "", "", True,
    ),
    "before the second of two": (f"{AFTER_B} {ALONE}", "out[0] = later();", "", True),
    # Right: its own end, what comes behind it in its queue, and a launch.
    "in the task of its end": (
        f"{ALONE.replace('from_a, .{', 'from_a, .{ .activate = other,')} {AFTER_B}",
        "arrived += 1; if (arrived == 2) { out[0] = later(); }", "", False,
    ),
    "behind it": (f"{FIVE} {AFTER_B}", "@mov16(fifth, then); out[0] = later();", "", False),
    "in a data task behind it": (FIVE, "", TAKE, False),
    "in a launch": (
        f"if (arrived == 0) {{ {ALONE} {AFTER_B} arrived = 1; }} else {{ out[0] = later(); }}", "", "", False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("executor", ["reference", "core"])
@pytest.mark.parametrize(("main", "ended", "more", "races"), LUCKY.values(), ids=LUCKY)
def test_a_receive_that_nobody_waits_for(
    csl: Csl, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, main: str, ended: str, more: str,
    races: bool, executor: str,
) -> None:  # fmt: skip
    """An access is told, with both places, although the receive happens to have ended."""
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    other = ended if "arrived" in ended else ""
    tasks = f"task ended() void {{ {ended} }}\ntask other() void {{ {other} }}\n"
    text = f"{TWO_STREAMS}{more}{tasks}fn main() void {{\n{main}\n}}\n"
    simulator = csl.start(text, {"out": "i16"}, layout=ROUTES, check=True)
    capsys.readouterr()
    for _ in range(1 + ("else" in main)):
        simulator.launch("main")
    out = simulator.get("out").ravel()
    lines = [line for line in capsys.readouterr().err.splitlines() if "which is asynchronous" in line]
    assert races or out[0] == (14 if more else 7)
    assert len(lines) == races, lines
    for line in lines:
        at = text[: text.index("return buf[3]")].count("\n") + 1
        assert f"pe.csl:{at}:" in line.split(": warning: ")[0]
        issued = text[: text.index("fn main()")].count("\n") + 2
        assert f"mov16 in @main at {csl.directory}/pe.csl:{issued}:" in line and NEVER_WAITED in line
