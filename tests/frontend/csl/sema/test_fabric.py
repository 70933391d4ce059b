"""Programs whose wavelets go astray, and queues nobody looks after: each is one located error when it runs."""

from __future__ import annotations

import re

import pytest

import loomir
from loomir.diagnostics import LoomError

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
        ("", SENDER, 0, r"PE \(0, 0\) has no route for color 'c'; give it one, or stop the send before it"),
        (route(0, "RAMP", "EAST"), SENDER, 1, r"PE \(1, 0\), to which they are sent, has no route for color 'c'"),
        (
            route(0, "RAMP", "WEST"), SENDER, 0,
            r"the route of color 'c' at PE \(0, 0\) \(LAYOUT:7:7\) sends them to the west, off the grid; end it there",
        ),
        (
            route(0, "RAMP", "EAST") + route(1, "WEST", "EAST"), SENDER, 1,
            r"the route of color 'c' at PE \(1, 0\) \(LAYOUT:7:88\) sends them to the east, off the grid",
        ),
        (
            route(0, "WEST", "EAST"), SENDER, 0,
            r"the route of color 'c' at PE \(0, 0\) \(LAYOUT:7:7\) takes wavelets from west, not from ramp, where "
            "these come from; let it take them from ramp",
        ),
        (
            route(0, "RAMP", "EAST") + route(1, "EAST", "RAMP"), SENDER, 1,
            r"the route of color 'c' at PE \(1, 0\) \(LAYOUT:7:88\) takes wavelets from east, not from west",
        ),
        (
            route(0, "RAMP", "EAST") + route(1, "WEST", "RAMP"), SENDER, 1,
            r"they come down the ramp of PE \(1, 0\), which reads no color and has no data task; read color 'c' there",
        ),
        (
            route(0, "RAMP", "EAST") + route(1, "WEST", "RAMP"), SENDER + READER, 1,
            r"they come down the ramp of PE \(1, 0\), whose input queue reads another color \(@in1_c5 color 'other'\)",
        ),
    ],
    ids=[
        "no route", "a neighbor without route", "off the rectangle", "through the rectangle", "no ramp at the start",
        "from another side", "nothing reads", "another color",
    ],
)  # fmt: skip
def test_routes_that_lead_nowhere(csl: Csl, routes: str, pe: str, end: int, cause: str) -> None:
    """The error names the router, the line of the layout and the cause, and the color as the user wrote it."""
    with pytest.raises(LoomError) as caught:
        launch(csl, routes, pe)
    assert re.search(
        rf"sends where no route leads to a queue: its wavelets of color 'c' end at PE \({end}, 0\): "
        + cause.replace("LAYOUT", re.escape(str(csl.directory / "layout.csl"))),
        caught.value.message,
    ), str(caught.value)
    assert str(caught.value.location).startswith(str(csl.directory / "pe.csl"))


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
    message = r"PE \(1, 0\): microthread \d: mov32 in @wait .* color 'c'\) for 1 of 2 wavelets"
    with pytest.raises(loomir.Deadlock, match=message) as caught:
        simulator.launch("wait")
    assert caught.value.units == ((1, 0),) and caught.value.missing == 1


def test_queues_of_wse3_need_a_color(csl: Csl) -> None:
    text = """
    param x: i16;
    const wire = @get_dsd(fabout_dsd, .{ .extent = 1, .output_queue = @get_output_queue(2) });
    fn main() void { @mov32(«wire», 7); }
    comptime { @export_symbol(main); }
    """
    layout = """
    layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{ .x = 0 }); @export_name("main", fn() void); }
    """
    message = "output queue 2 has no color; give it one with @initialize_queue"
    csl.refuses(text, message, layout=layout, arch="wse3")
    both = text.replace(".output_queue", ".fabric_color = @get_color(3), .output_queue")
    csl.layout(layout, both.replace("«", "").replace("»", ""), arch="wse3")


def test_a_dsd_without_color_or_queue(csl: Csl) -> None:
    text = """
    const wire = @get_dsd(fabout_dsd, .{ .extent = 1 });
    task t() void { @mov32(«wire», 7); }
    comptime { @bind_local_task(t, @get_local_task_id(9)); }
    """
    csl.refuses(text, "this fabric DSD has neither '.fabric_color' nor a queue; give it one")


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
