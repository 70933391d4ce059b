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


def launch(csl: Csl, routes: str, pe: str = SENDER, arch: str = "wse2") -> None:
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


def route(x: int, rx: str, tx: str) -> str:
    return f"@set_color_config({x}, 0, c, .{{ .routes = .{{ .rx = .{{ {rx} }}, .tx = .{{ {tx} }} }} }});"


@pytest.mark.parametrize(
    ("routes", "message"),
    [
        ("", "sends where no route leads to a queue"),
        (route(0, "RAMP", "EAST"), "sends where no route leads to a queue"),
        (route(0, "RAMP", "WEST"), "sends where no route leads to a queue"),
        (route(0, "RAMP", "EAST") + route(1, "WEST", "EAST"), "sends where no route leads to a queue"),
        (route(0, "RAMP", "EAST") + route(1, "WEST", "RAMP"), "sends where no route leads to a queue"),
    ],
    ids=["no route", "a neighbour without route", "off the rectangle", "through the rectangle", "no queue"],
)
def test_routes_that_lead_nowhere(csl: Csl, routes: str, message: str) -> None:
    with pytest.raises(LoomError) as caught:
        launch(csl, routes)
    assert re.search(message, caught.value.message), str(caught.value)
    assert str(caught.value.location).startswith(str(csl.directory / "pe.csl"))


def test_a_task_on_every_wavelet(csl: Csl) -> None:
    receiver = SENDER + "task t(v: u32) void {}\ncomptime { @bind_data_task(t, @get_data_task_id(c)); }"
    launch(csl, route(0, "RAMP", "EAST") + route(1, "WEST", "RAMP"), receiver)


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
    with pytest.raises(LoomError, match="deadlock") as caught:
        simulator.launch("wait")
    assert "PE (1, 0)" in str(caught.value)


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
