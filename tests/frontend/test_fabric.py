"""Programs whose wavelets go astray, and queues nobody looks after: one located error, or warning, of each run."""

from __future__ import annotations

import re

import pytest

import loomir
from loomir.diagnostics.errors import LoomError

from .harness import Csl

SENDER = """
param x: i16;
const c = @get_color(3);
const wire = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = @get_output_queue(2) });
fn main() void { if (x == 0) { @mov32(wire, 7); } }
comptime { @export_symbol(main); }
"""


def launch(csl: Csl, routes: str, pe: str = SENDER, arch: str = "wse2") -> loomir.Simulator:
    layout = f"""
    const c = @get_color(3);
    layout {{
      @set_rectangle(2, 1);
      for (@range(i16, 2)) |x| {{ @set_tile_code(x, 0, "pe.csl", .{{ .x = x }}); }}
      @export_name("main", fn() void);
      {routes}
    }}
    """
    simulator = loomir.Simulator(loomir.compile(csl.layout(layout, pe, arch).module))
    simulator.launch("main")
    return simulator


def route(x: int, rx: str, tx: str) -> str:
    return f"@set_color_config({x}, 0, c, .{{ .routes = .{{ .rx = .{{ {rx} }}, .tx = .{{ {tx} }} }} }});"


READER = """
const from = @get_dsd(fabin_dsd, .{ .extent = 1, .fabric_color = other, .input_queue = @get_input_queue(1) });
const other = @get_color(5);
var into: u32;
task read() void { @mov32(&into, from); }
comptime { @initialize_queue(@get_input_queue(1), .{ .color = other }); @bind_local_task(read, @get_local_task_id(9)); }
"""


@pytest.mark.parametrize(
    ("routes", "pe", "end", "cause"),
    [
        (route(0, "RAMP", "EAST"), SENDER, 1, "which has no route for color 'c'; give it one"),
        (
            route(0, "WEST", "EAST"), SENDER, 0,
            r"the route of color 'c' at PE \(0, 0\) \(LAYOUT:7:7\) takes wavelets from west, not from ramp, where "
            "these come from; add ramp to its rx",
        ),
        (
            route(0, "RAMP", "EAST") + route(1, "EAST", "RAMP"), SENDER, 1,
            r"the route of color 'c' at PE \(1, 0\) \(LAYOUT:7:88\) takes wavelets from east, not from west",
        ),
        (
            route(0, "RAMP", "EAST") + route(1, "WEST", "RAMP"), SENDER, 1,
            r"the route of color 'c' at PE \(1, 0\) \(LAYOUT:7:88\) sends them down the ramp, where no operation "
            "and no data task reads any color; "
            "read color 'c' there",
        ),
        (
            route(0, "RAMP", "EAST") + route(1, "WEST", "RAMP"), SENDER + READER, 1,
            r"the route of color 'c' at PE \(1, 0\) \(LAYOUT:7:88\) sends them down the ramp, where the input "
            r"queue reads another color \(1 color 'other'\)",
        ),
    ],
    ids=[
        "a neighbor without route", "no ramp at the start",
        "from another side", "nothing reads", "another color",
    ],
)  # fmt: skip
def test_routes_that_lead_nowhere(csl: Csl, routes: str, pe: str, end: int, cause: str) -> None:
    """The error names the router, the line of the layout and the cause, and the color as the user wrote it."""
    with pytest.raises(LoomError) as caught:
        launch(csl, routes, pe)
    assert re.search(
        rf"sends wavelets that reach no queue: its wavelets of color 'c' end at PE \({end}, 0\)[:,] "
        + cause.replace("LAYOUT", re.escape(str(csl.directory / "layout.csl"))),
        caught.value.message,
    ), str(caught.value)
    assert str(caught.value.location).startswith(str(csl.directory / "pe.csl"))


OFF_GRID = [
    (route(0, "RAMP", "WEST"), (0, "7:7", "west"), "end it there, at the ramp"),
    (route(0, "RAMP", "EAST") + route(1, "WEST", "EAST"), (1, "7:88", "east"), "end it there, at the ramp"),
    (route(0, "RAMP", "EAST") + route(1, "WEST", "RAMP, EAST"), (1, "7:88", "east"), "leave east out of its tx there"),
]


@pytest.mark.parametrize(("routes", "at", "remedy"), OFF_GRID, ids=["at once", "later", "beside a ramp"])
@pytest.mark.parametrize("executor", ["core", "reference"])
def test_wavelets_that_leave_the_grid(
    csl: Csl,
    routes: str,
    at: tuple[int, str, str],
    remedy: str,
    executor: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are dropped, with one warning: public programs for WSE-3 that leave them out pass on the SDK's simulator."""
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    text = SENDER.replace("@mov32(wire, 7);", "for (@range(i16, 9)) |i| { @mov32(wire, 7); }")
    launch(csl, routes, text + (READER.replace("color(5)", "color(3)") if "RAMP, EAST" in routes else ""), "wse3")
    place, where, port = at
    (warning,) = [line for line in capsys.readouterr().err.splitlines() if "off the grid" in line]
    assert warning.endswith(
        f"mov32 in @main on PE (0, 0) sends wavelets off the grid: the route of color 'c' at PE ({place}, 0) "
        f"({csl.directory / 'layout.csl'}:{where}) sends them to the {port}, where they are dropped; a wafer may hold "
        f"up the send: {remedy}"
    )


@pytest.mark.parametrize("executor", ["core", "reference"])
def test_a_route_without_the_ramp(
    csl: Csl, executor: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The warning and the deadlock name the route, and what it lacks."""
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    routes = route(0, "RAMP", "EAST") + route(1, "WEST", "SOUTH")
    reader = READER.replace("color(5)", "color(3)") + "comptime { if (x == 1) @activate(@get_local_task_id(9)); }"
    with pytest.raises(loomir.Deadlock) as caught:
        launch(csl, routes, SENDER.replace("@mov32(wire, 7);", "") + reader, "wse3")
    where = f"{csl.directory / 'layout.csl'}:7:88"
    cause = f"the route of color 'c' at PE (1, 0) ({where}) leads to south, not down the ramp; add the ramp to its tx"
    assert f"  {cause}" in str(caught.value).splitlines()
    assert f"mov32 in @read receives color 'c', but {cause}" in capsys.readouterr().err


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("routes", ["", route(0, "RAMP", "RAMP")], ids=["no route", "no queue"])
def test_a_color_that_ends_at_its_sender(csl: Csl, routes: str, arch: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One warning, however often it is sent."""
    twice = SENDER.replace("@mov32(wire, 7);", "for (@range(i16, 3)) |i| { @mov32(wire, 7); }")
    twice += '\ncomptime { if (@is_arch("wse3")) @initialize_queue(@get_output_queue(2), .{ .color = c }); }'
    launch(csl, routes, twice, arch)
    (warning,) = capsys.readouterr().err.splitlines()
    assert re.search(
        r"pe.csl:5:\d+: warning: mov32 in @main sends color 'c', whose route ends at PE \(0, 0\) itself; the wavelets",
        warning,
    )


def test_a_task_on_every_wavelet(csl: Csl) -> None:
    """A data task reads a color without a queue of its own (WSE-2)."""
    receiver = (
        SENDER
        + """
    var got: u32; var times: u16;
    const got_ptr: [*]u32 = @ptrcast([*]u32, &got);
    const times_ptr: [*]u16 = @ptrcast([*]u16, &times);
    task t(v: u32) void { got = v; times += 1; }
    comptime {
      @bind_data_task(t, @get_data_task_id(c));
      @export_symbol(got_ptr, "got"); @export_symbol(times_ptr, "times");
    }
    """
    )
    routes = route(0, "RAMP", "EAST") + route(1, "WEST", "RAMP")
    simulator = launch(
        csl, routes + '@export_name("got", [*]u32, false); @export_name("times", [*]u16, false);', receiver
    )
    simulator.launch("main")
    machine = simulator._machine
    assert [machine.read_region("got", x, 0, 1, 1, 1).item() for x in (0, 1)] == [0, 7]
    assert [machine.read_region("times", x, 0, 1, 1, 1).item() for x in (0, 1)] == [0, 2]


def test_waits_for_ever(csl: Csl) -> None:
    text = (
        SENDER
        + """
    const from = @get_dsd(fabin_dsd, .{ .extent = 2, .fabric_color = c, .input_queue = @get_input_queue(1) });
    var into = @zeros([2]u32);
    const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> into[i] });
    task t() void {}
    comptime {
      @bind_local_task(t, @get_local_task_id(9));
      @initialize_queue(@get_input_queue(1), .{ .color = c });
      @export_symbol(wait);
    }
    fn wait() void { if (x == 1) { @mov32(all, from, .{ .async = true, .activate = t }); } else { @mov32(wire, 7); } }
    """
    )
    layout = f"""
    const c = @get_color(3);
    layout {{
      @set_rectangle(2, 1);
      for (@range(i16, 2)) |x| {{ @set_tile_code(x, 0, "pe.csl", .{{ .x = x }}); }}
      @export_name("main", fn() void);
      @export_name("wait", fn() void);
      {route(0, "RAMP", "EAST") + route(1, "WEST", "RAMP")}
    }}
    """
    simulator = loomir.Simulator(loomir.compile(csl.layout(layout, text).module))
    message = r"PE \(1, 0\): microthread \d: mov32 in @wait .*color 'c'\) for 1 of 2 wavelets"
    with pytest.raises(loomir.Deadlock, match=message) as caught:
        simulator.launch("wait")
    assert caught.value.units == ((1, 0),) and caught.value.missing == 1


QUEUES = """
param mine: bool;
const c = @get_color(3);
const wire = @get_dsd(fabout_dsd, .{ .extent = 4, .output_queue = @get_output_queue(2) });
const from = @get_dsd(fabin_dsd, .{ .extent = 4, .input_queue = @get_input_queue(1) });
var given = [4]i16{ 1, 2, 3, 4 };
var out = @zeros([4]i16);
const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> given[i] });
const into = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i] });
fn send() void { @mov16(wire, all); }
fn receive() void { @mov16(into, from); }
fn main() void {}
comptime {
  if (mine) {
    @initialize_queue(@get_input_queue(1), .{ .color = c });
    @initialize_queue(@get_output_queue(2), .{ .color = c });
  }
  @export_symbol(send);
  @export_symbol(receive);
}
"""
FUNCTIONS: dict[str, str] = dict.fromkeys(("main", "send", "receive"), "fn() void")


@pytest.mark.parametrize(
    ("name", "way", "number"), [("send", "sends on output", 2), ("receive", "receives from input", 1)]
)
def test_queues_without_a_color_are_reported_when_they_are_used(csl: Csl, name: str, way: str, number: int) -> None:
    """AMB-34: at compile time only as a warning, for the file may serve PEs that never use the queue."""
    text = QUEUES.replace("@export_symbol(send);\n", "").replace("@export_symbol(receive);\n", "")
    simulator = csl.start(text, {"out": "i16"}, FUNCTIONS, "wse3", width=2, params=".mine = x == 1")
    with pytest.raises(LoomError, match=rf"{way} queue {number}, which has no color on PE \(0, 0\); give it one with"):
        simulator.launch(name)


def test_queues_without_a_color_that_nobody_uses(csl: Csl) -> None:
    """AMB-34: one file serves PEs that have the colors and one that does not."""
    text = QUEUES.replace("  @export_symbol(send);\n", "").replace("  @export_symbol(receive);\n", "")
    text = text.replace("fn main() void {}", "fn main() void { if (mine) { send(); receive(); } }")
    text = text.replace("param mine: bool;", "param here: bool; var mine = here;").replace(
        "if (mine) {\n", "if (here) {\n"
    )
    route_back = "@set_color_config(1, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"
    simulator = csl.start(
        text, {"out": "i16"}, {"main": "fn() void"}, "wse3", width=2, params=".here = x == 1", layout=route_back
    )
    simulator.launch("main")
    assert simulator.get("out")[0].tolist() == [[0] * 4, [1, 2, 3, 4]]


def test_warnings_of_queues(csl: Csl) -> None:
    """AMB-34: a queue without a color, and on WSE-3 one that takes that of a DSD, as SDK 1.4 has it."""
    layout = """
    layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{}); @export_name("main", fn() void); }
    """
    text = """
    const wire = @get_dsd(fabout_dsd, .{ .extent = 1, FIELD .output_queue = @get_output_queue(2) });
    fn main() void { @mov32(wire, 7); }
    comptime { @export_symbol(main); }
    """
    for arch in ("wse2", "wse3"):
        (warning,) = csl.layout(layout, text.replace("FIELD", ""), arch=arch).warnings
        remedy = "@initialize_queue" if arch == "wse3" else "'.fabric_color'"
        assert f"pe.csl:3:29: warning: output queue 2 has no color here; give it one with {remedy}" in warning
        # What the warning says to write is accepted there.
        with pytest.raises(LoomError, match=f"queue 2, which has no color .* give it one with {remedy}"):
            loomir.Simulator(loomir.compile(csl.layout(layout, text.replace("FIELD", ""), arch).module)).launch("main")
    colored = text.replace("FIELD", ".fabric_color = @get_color(3),")
    assert csl.layout(layout, colored, arch="wse2").warnings == []
    (warning,) = csl.layout(layout, colored, arch="wse3").warnings
    assert "pe.csl:3:29: warning: output queue 2 takes color 3 from the DSD, which SDK 2.10 does not do" in warning


def test_a_queue_has_one_color(csl: Csl) -> None:
    """AMB-11: that of the DSD is the queue's."""
    text = """
    const wire = @get_dsd(fabout_dsd,
      .{ .extent = 1, .fabric_color = @get_color(4), .output_queue = @get_output_queue(2) });
    task t() void { @mov32(«wire», 7); }
    comptime {
      @bind_local_task(t, @get_local_task_id(9));
      @initialize_queue(@get_output_queue(2), .{ .color = @get_color(3) });
    }
    """
    csl.refuses(text, "the DSD has color 4, but output queue 2 has color 3; give both the same color", arch="wse3")


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("blocked", [True, False])
@pytest.mark.parametrize("initialized", [True, False])
def test_a_data_task_and_an_operation_on_one_queue(
    csl: Csl, arch: str, blocked: bool, initialized: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """AMB-34: they read the same wavelets, each wavelet once; a task that could take the operation's is told."""
    which = "c" if arch == "wse2" else "@get_input_queue(1)"
    text = f"""
    const c = @get_color(3);
    const wire = @get_dsd(fabout_dsd, .{{ .extent = 8, .fabric_color = c, .output_queue = @get_output_queue(2) }});
    const from = @get_dsd(fabin_dsd, .{{ .extent = 4, .fabric_color = c, .input_queue = @get_input_queue(1) }});
    var given = [8]i16{{ 1, 2, 3, 4, 5, 6, 7, 8 }};
    var out = @zeros([9]i16);
    const all = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{8}} -> given[i] }});
    const into = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> out[i] }});
    var next: u16 = 4;
    task t(x: i16) void {{ out[next] = x; next += 1; out[8] += 1; }}
    fn main() void {{
      @mov16(into, from, .{{ .async = true {f", .unblock = {which}" if blocked else ""} }});
      @mov16(wire, all, .{{ .async = true }});
    }}
    comptime {{
      @bind_data_task(t, @get_data_task_id({which}));
      {f"@block({which});" if blocked else ""}
      {"@initialize_queue(@get_input_queue(1), .{ .color = c });" if initialized else ""}
    }}
    """
    back = "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"
    out = csl.run(text, {"out": "i16"}, arch=arch, layout=back)["out"].tolist()
    assert out == [1, 2, 3, 4, 5, 6, 7, 8, 4]
    told = capsys.readouterr().err
    assert ("of the queue is unblocked and may take the same wavelets" in told) is not blocked


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_an_operation_that_takes_what_has_come_for_a_data_task(
    csl: Csl, arch: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wavelets that wait when it begins are taken before an unblocked data task gets them: told as well."""
    text = f"""
    const c = @get_color(3);
    const wire = @get_dsd(fabout_dsd, .{{ .extent = 2, .fabric_color = c, .output_queue = @get_output_queue(2) }});
    const from = @get_dsd(fabin_dsd, .{{ .extent = 2, .fabric_color = c, .input_queue = @get_input_queue(1) }});
    var given = [2]i16{{ 5, 6 }};
    var out = @zeros([3]i16);
    const all = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{2}} -> given[i] }});
    const into = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{2}} -> out[i] }});
    task t(x: i16) void {{ out[2] += 1; }}
    fn main() void {{
      @mov16(wire, all, .{{ .async = true }});
      for (@range(i16, 200)) |i| {{ given[0] += i; }}
      @mov16(into, from, .{{ .async = true }});
    }}
    comptime {{
      @bind_data_task(t, @get_data_task_id({"c" if arch == "wse2" else "@get_input_queue(1)"}));
      @initialize_queue(@get_input_queue(1), .{{ .color = c }});
    }}
    """
    back = "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"
    assert csl.run(text, {"out": "i16"}, arch=arch, layout=back)["out"].tolist() == [5, 6, 0]
    (warning,) = [line for line in capsys.readouterr().err.splitlines() if "data task @t" in line]
    assert "mov16 in @main receives from input queue 1 on PE (0, 0) while data task @t at " in warning


def test_queues_that_operations_share_are_called_as_the_program_calls_them(csl: Csl) -> None:
    text = """
    const sent = @get_output_queue(2);
    const wire = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = @get_color(3), .output_queue = sent });
    var a = @zeros([1]i16);
    const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{1} -> a[i] });
    fn main() void { @mov16(wire, all, .{ .async = true }); @mov16(wire, all, .{ .async = true }); }
    comptime { @initialize_queue(sent, .{ .color = @get_color(3) }); }
    """
    with pytest.raises(LoomError, match="run at the same time on the same queue 'sent'; issue the second from"):
        csl.run(text, {}, arch="wse3")


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_a_queue_whose_color_nothing_routes(csl: Csl, arch: str, capsys: pytest.CaptureFixture[str]) -> None:
    """AMB-34: told where it is awaited, and where a data task hangs on it."""
    which = "@get_color(4)" if arch == "wse2" else "@get_input_queue(4)"
    text = f"""
    const from = @get_dsd(fabin_dsd,
      .{{ .extent = 4, .fabric_color = @get_color(3), .input_queue = @get_input_queue(1) }});
    var out = @zeros([4]i16);
    const into = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> out[i] }});
    task t(x: i16) void {{ out[0] = x; }}
    fn main() void {{ @mov16(into, from, .{{ .async = true }}); }}
    comptime {{
      @bind_data_task(t, @get_data_task_id({which}));
      @initialize_queue(@get_input_queue(1), .{{ .color = @get_color(3) }});
      @initialize_queue(@get_input_queue(4), .{{ .color = @get_color(4) }});
    }}
    """
    csl.run(text, {"out": "i16"}, arch=arch)
    told = capsys.readouterr().err
    assert "mov16 in @main receives color 3, which no route brings to the ramp of PE (0, 0)" in told
    assert "data task @t never starts: no route brings color 4 to the ramp of any PE" in told


def test_five_data_tasks_beside_descriptors_on_five_queues(csl: Csl) -> None:
    """Data tasks of WSE-2 belong to colors, and need no queues of their own."""
    lines = [
        f"""
        task t{n}(x: f32) void {{ out[{n}] += x; }}
        comptime {{ @bind_data_task(t{n}, @get_data_task_id(@get_color({n}))); }}
        const o{n} = @get_dsd(fabout_dsd,
          .{{ .extent = 4, .fabric_color = @get_color({n}), .output_queue = @get_output_queue({n}) }});
        const i{n} = @get_dsd(fabin_dsd,
          .{{ .extent = 4, .fabric_color = @get_color({n + 8}), .input_queue = @get_input_queue({n}) }});
        const p{n} = @get_dsd(fabout_dsd,
          .{{ .extent = 4, .fabric_color = @get_color({n + 8}), .output_queue = @get_output_queue({n}) }});
        """
        for n in range(5)
    ]
    sends = "".join(f"@fmovs(o{n}, {n + 1}.0);" for n in range(5))
    receives = "".join(f"@fmovs(@increment_dsd_offset(m, {n}, f32), i{n}, .{{ .async = true }});" for n in range(5))
    text = (
        "".join(lines)
        + f"""
        var out = @zeros([5]f32);
        var buffer = @zeros([8]f32);
        const m = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> buffer[i] }});
        fn main() void {{ {receives} {sends} {"".join(f"@fmovs(p{n}, {n}.5);" for n in range(5))} }}
        """
    )
    routes = "".join(
        f"@set_color_config(0, 0, @get_color({n}), .{{ .routes = .{{ .rx = .{{ RAMP }}, .tx = .{{ RAMP }} }} }});"
        for n in (*range(5), *range(8, 13))
    )
    result = csl.run(text, {"out": "f32", "buffer": "f32"}, layout=routes)
    assert result["out"].tolist() == [4.0, 8.0, 12.0, 16.0, 20.0]
    assert set(result["buffer"].tolist()) <= {0.5, 1.5, 2.5, 3.5, 4.5} and result["buffer"][0] == 0.5


@pytest.mark.parametrize("settings", ["", ", .{ .async = true }"])
@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_a_dsd_without_color_or_queue(csl: Csl, arch: str, settings: str) -> None:
    """DSD-210."""
    for statement, fields in (("@mov32(«wire», 7%s);", "fabout_dsd"), ("@mov32(&word, «wire»%s);", "fabin_dsd")):
        text = f"""
        var word: u32 = 0;
        const wire = @get_dsd({fields}, .{{ .extent = 1 }});
        task t() void {{ {statement % settings} }}
        comptime {{ @bind_local_task(t, @get_local_task_id(9)); }}
        """
        csl.refuses(text, "this fabric DSD has neither '.fabric_color' nor a queue; give it one", arch=arch)


@pytest.mark.slow
def test_two_fabric_inputs_on_wse3(csl: Csl) -> None:
    text = """
    const a = @get_dsd(fabin_dsd, .{ .extent = 1, .fabric_color = @get_color(1), .input_queue = @get_input_queue(1) });
    const b = @get_dsd(fabin_dsd, .{ .extent = 1, .fabric_color = @get_color(2), .input_queue = @get_input_queue(2) });
    var v = @zeros([1]i16);
    const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{1} -> v[i] });
    task t() void { @add16(to, a, b); }
    comptime {
      @bind_local_task(t, @get_local_task_id(9));
      @initialize_queue(@get_input_queue(1), .{ .color = @get_color(1) });
      @initialize_queue(@get_input_queue(2), .{ .color = @get_color(2) });
    }
    """
    loomir.compile(csl.pe(text).module)
    with pytest.raises(Exception, match="fabric"):
        loomir.compile(csl.pe(text, "wse3").module)
