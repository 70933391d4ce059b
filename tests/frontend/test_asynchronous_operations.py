"""Asynchronous operations on the fabric: how they come about, what their end starts, and what control wavelets end."""

from __future__ import annotations

from typing import Any

import pytest

from loomir.runtime import Deadlock

from .harness import Csl

ARCHES = ("wse2", "wse3")

PROGRAM = """
const c = @get_color(3);
const in_queue = @get_input_queue(1);
const out_queue = @get_output_queue(2);
comptime {
  @initialize_queue(in_queue, .{ .color = c });
  if (@is_arch("wse3")) @initialize_queue(out_queue, .{ .color = c });
  @bind_local_task(ended, @get_local_task_id(12));
  @bind_local_task(blocked, @get_local_task_id(13));
  @block(blocked);
}
var out = @zeros([8]i16);
const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i] });
const from = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c, .input_queue = in_queue });
const wire = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = out_queue });
const last = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = out_queue, .control = true });
const two = @get_dsd(fabout_dsd, .{ .extent = 2, .fabric_color = c, .output_queue = out_queue });
const source = @get_dsr(dsr_src0, 0);
var busy = true;
task ended() void { out[5] += 1; }
task blocked() void { out[6] += 1; }
"""

LOOP_BACK = "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"


def run(csl: Csl, arch: str, statements: str) -> list[int]:
    text = f"{PROGRAM}fn main() void {{ {statements} }}"
    return csl.run(text, {"out": "i16"}, arch=arch, layout=LOOP_BACK)["out"].tolist()


WAYS = {
    "by the operation": "@mov16(to, from, .{ .async = true });",
    "by the load": "@load_to_dsr(source, from, .{ .async = true }); @mov16(to, source);",
    "by both": "@load_to_dsr(source, from, .{ .async = true }); @mov16(to, source, .{ .async = true });",
}


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("receive", WAYS.values(), ids=WAYS)
def test_the_task_goes_on(csl: Csl, arch: str, receive: str) -> None:
    """DSD-180, DSD-181, DSD-186, DSD-187: the task sends what the operation that it has started waits for."""
    assert run(csl, arch, f"{receive} @mov16(wire, 7);")[:4] == [7, 7, 7, 7]


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("receive", ["@mov16(to, from);", "@load_to_dsr(source, from); @mov16(to, source);"])
def test_the_task_waits(csl: Csl, arch: str, receive: str) -> None:
    """DSD-181, DSD-186: without `async`, for what it would send itself."""
    with pytest.raises(Deadlock):
        run(csl, arch, f"{receive} @mov16(wire, 7);")


ENDS: dict[str, tuple[str, list[int]]] = {
    "nothing": ("", [0, 0]),
    "activate": (", .activate = ended", [1, 0]),
    "unblock": (", .unblock = blocked", [0, 1]),
}


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize(("setting", "started"), ENDS.values(), ids=ENDS)
@pytest.mark.slow
def test_what_the_end_starts(csl: Csl, arch: str, setting: str, started: list[int]) -> None:
    """DSD-188: the task named is activated, or unblocked."""
    wait = "@activate(blocked);" if "unblock" in setting else ""
    out = run(csl, arch, f"{wait} @mov16(to, from, .{{ .async = true{setting} }}); @mov16(wire, 7);")
    assert out == [7, 7, 7, 7, 0, *started, 0]


CONTROLS: dict[str, tuple[str, list[int]]] = {
    "terminate": (".terminate = true", [0, 0]),
    "activate": (".activate = ended", [1, 0]),
    "unblock": (".unblock = blocked", [0, 1]),
}


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize(("action", "started"), CONTROLS.values(), ids=CONTROLS)
def test_a_control_wavelet_ends_an_operation(csl: Csl, arch: str, action: str, started: list[int]) -> None:
    """DSD-197, DSD-199, DSD-200, DSD-201: after two of four elements, so what comes behind it is not read."""
    wait = "@activate(blocked);" if "unblock" in action else ""
    receive = f"@mov16(to, from, .{{ .async = true, .on_control = .{{ {action} }} }});"
    out = run(csl, arch, f"{wait} {receive} @mov16(two, 7); @mov16(last, 9); @mov16(two, 8);")
    assert out == [7, 7, 0, 0, 0, *started, 0]


REFUSED: dict[str, tuple[str, Any]] = {
    "a number": (".terminate = 3", "field '.terminate' is 'true' or 'false', not of type 'comptime_int'"),
    "a variable": (".terminate = busy", "field '.terminate' must be known at compile time"),
    "two actions": (".terminate = true, .activate = ended", "one of '.terminate', '.activate' and '.unblock'"),
    "another": (".finish = true", "'.on_control' has no field '.finish'"),
}


@pytest.mark.parametrize(("action", "message"), REFUSED.values(), ids=REFUSED)
def test_actions_that_are_refused(csl: Csl, action: str, message: str) -> None:
    """DSD-197, DSD-202."""
    settings = f"«.{{ .async = true, .on_control = .{{ {action} }} }}»"
    marked = f"{PROGRAM}task main() void {{\n@mov16(to, from, {settings}); }}\n"
    csl.refuses(marked + "comptime { @bind_local_task(main, @get_local_task_id(9)); }", message, arch="wse3")
