"""CSL files of code regions for the tests of SdkLayout, and short ways to say routing positions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from loomir.host.sdk.code_regions import CodeRegion, PortHandle
from loomir.host.sdk.layout import SdkLayout
from loomir.host.sdk.platforms import SdkTarget, SimfabConfig, get_platform
from loomir.host.sdk.routing import Edge, Route, RoutingPosition
from loomir.host.sdk.runtime import SdkRuntime

STORE = """
// Keeps its params and where a host script says it is.
param number: i16;
param scale: u16 = 1;
export var kept: [3]i16;
export var words: [2]u32;
var hidden = [2]f32{ 1.5, 2.5 };
const fixed = [2]i16{ 1, 2 };
const main_id = @get_local_task_id(8);
task main() void {
  kept[0] = number;
  kept[1] = number * @as(i16, scale);
  kept[2] = @as(i16, hidden[0]);
}
comptime {
  @bind_local_task(main, main_id);
  @activate(main_id);
}
"""

RELAY = """
// Passes `size` floats on, each plus `step`, again and again.
param size: u16;
param step: u16 = 1;
param rx: color;
param tx: color;
const rx_queue = @get_input_queue(2);
const tx_queue = @get_output_queue(3);
const input = @get_dsd(fabin_dsd, .{ .extent = size, .fabric_color = rx, .input_queue = rx_queue });
const output = @get_dsd(fabout_dsd, .{ .extent = size, .fabric_color = tx, .output_queue = tx_queue });
const main_id = @get_local_task_id(10);
task main() void {
  @fadds(output, input, @as(f32, step), .{ .async = true, .activate = main_id });
}
comptime {
  @bind_local_task(main, main_id);
  @activate(main_id);
  @initialize_queue(rx_queue, .{ .color = rx });
  if (@is_arch("wse3")) @initialize_queue(tx_queue, .{ .color = tx });
}
"""

SOURCE = """
// Sends the coordinates of the PE in its region.
param tx: color;
param x: u32;
param y: u32;
const tx_queue = @get_output_queue(2);
var data = [2]u32{ x, y };
const output = @get_dsd(fabout_dsd, .{ .extent = 2, .fabric_color = tx, .output_queue = tx_queue });
const stored = @get_dsd(mem1d_dsd, .{ .base_address = &data, .extent = 2 });
const main_id = @get_local_task_id(8);
task main() void {
  @mov32(output, stored, .{ .async = true });
}
comptime {
  @bind_local_task(main, main_id);
  @activate(main_id);
  if (@is_arch("wse3")) @initialize_queue(tx_queue, .{ .color = tx });
}
"""

SINK = """
// Keeps two words.
param rx: color;
const rx_queue = @get_input_queue(2);
export var data: [2]u32;
const input = @get_dsd(fabin_dsd, .{ .extent = 2, .fabric_color = rx, .input_queue = rx_queue });
const stored = @get_dsd(mem1d_dsd, .{ .base_address = &data, .extent = 2 });
const main_id = @get_local_task_id(8);
task main() void {
  @mov32(stored, input, .{ .async = true });
}
comptime {
  @bind_local_task(main, main_id);
  @activate(main_id);
  @initialize_queue(rx_queue, .{ .color = rx });
}
"""

FILES = {"store.csl": STORE, "relay.csl": RELAY, "source.csl": SOURCE, "sink.csl": SINK}

TARGETS = {"wse2": SdkTarget.WSE2, "wse3": SdkTarget.WSE3}


def write_programs(directory: Path) -> None:
    for name, text in FILES.items():
        (directory / name).write_text(text)


def to(*routes: Route) -> RoutingPosition:
    return RoutingPosition().set_output(list(routes))


def of(*routes: Route) -> RoutingPosition:
    return RoutingPosition().set_input(list(routes))


def relay(layout: SdkLayout, name: str, size: int, **params: int) -> tuple[CodeRegion, PortHandle, PortHandle]:
    """Return a relay of one PE, its input port and its output port."""
    region = layout.create_code_region("relay.csl", name, 1, 1)
    rx, tx = region.color("rx"), region.color("tx")
    for color in (rx, tx):
        region.set_param_all(color)
    for param, value in {"size": size, **params}.items():
        region.set_param_all(param, value)
    into = region.create_input_port(rx, Edge.LEFT, [to(Route.RAMP)], size)
    out = region.create_output_port(tx, Edge.RIGHT, [of(Route.RAMP)], size)
    return region, into, out


def start(layout: SdkLayout, out: str = "out", **options: Any) -> SdkRuntime:
    """Return a running program."""
    target = TARGETS[layout.state.arch]
    artifacts = layout.compile(out, **options)
    runtime = SdkRuntime(
        artifacts, get_platform(None, SimfabConfig(suppress_trace=True), target), memcpy_required=False
    )
    runtime.load()
    runtime.run()
    return runtime


def make(arch: str) -> SdkLayout:
    return SdkLayout(get_platform(None, SimfabConfig(), TARGETS[arch]))


def chain(layout: SdkLayout, length: int, size: int) -> tuple[str, str]:
    """Connect relays in a row with the host at both ends; return the names of the streams."""
    ports: Sequence[tuple[PortHandle, PortHandle]] = [
        relay(layout, f"relay{number}", size, step=number)[1:] for number in range(length)
    ]
    for (_, out), (into, _) in pairwise(ports):
        layout.connect(out, into)
    return layout.create_input_stream(ports[0][0]), layout.create_output_stream(ports[-1][1])
