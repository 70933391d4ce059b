"""The fields of @get_dsd, one by one: which each kind of DSD has, what they default to, and what they may not be."""

# ruff: noqa: E501 (a DSD is one line of a table)

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from loomir.dialects import dsd

from .harness import ONE_TILE, Csl

MEMORY = """
var out = @zeros([12]i16);
var flag = true;
var bound: u16 = 3;
var pointer: [*]i16 = &out;
"""

FABRIC = """
const c = @get_color(3);
const in_queue = @get_input_queue(1);
const out_queue = @get_output_queue(2);
comptime {
  @initialize_queue(in_queue, .{ .color = c });
  if (@is_arch("wse3")) @initialize_queue(out_queue, .{ .color = c });
}
"""

LOOP_BACK = "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"

MADE = {
    "mem1d_dsd": ".{ .base_address = &out, .extent = 4 }",
    "mem4d_dsd": ".{ .base_address = &out, .extent = .{ 2, 2 } }",
    "circbuf_dsd": ".{ .base_address = &out, .extent = 4 }",
    "fabin_dsd": ".{ .input_queue = in_queue, .extent = 4 }",
    "fabout_dsd": ".{ .output_queue = out_queue, .extent = 4 }",
}


@pytest.mark.parametrize("type", MADE)
def test_types(csl: Csl, type: str) -> None:
    """DSD-003: a value of the type asked for."""
    assert csl.value(f"@type_of(@get_dsd({type}, {MADE[type]}))", MEMORY + FABRIC, "wse3") == type


@pytest.mark.parametrize("type", ["fifo_dsd", "i16", "dsr_dest"])
def test_types_that_are_not_made(csl: Csl, type: str) -> None:
    """DSD-004."""
    marked = f"{MEMORY}const d = @get_dsd(«{type}», .{{}});\ncomptime {{ @comptime_print(@type_of(d)); }}"
    csl.refuses(marked, f"mem1d_dsd, mem4d_dsd, circbuf_dsd, fabin_dsd or fabout_dsd, not '{type}'")


def written(csl: Csl, fields: str, settings: str = "", type: str = "mem1d_dsd", **options: Any) -> list[int]:
    """Return where a DSD writes: the elements of `out` that one operation sets."""
    operation = f"@mov16(@get_dsd({type}, .{{ {fields} }}), 7{settings});"
    result = csl.run(f"{MEMORY}fn main() void {{ {operation} }}", {"out": "i16"}, **options)
    return np.flatnonzero(result["out"]).tolist()


@pytest.mark.slow
def test_fields_of_a_mem1d(csl: Csl) -> None:
    """DSD-006: each is known, and has its effect."""
    assert written(csl, ".base_address = &out, .extent = 3, .stride = 2, .offset = 4") == [4, 6, 8]
    assert written(csl, ".tensor_access = |i|{3} -> out[2 * i + 4]") == [4, 6, 8]
    fields = ".base_address = &out, .extent = 3, .wavelet_index_offset = true"
    assert written(csl, fields, ", .{ .index = 5 }") == [5, 6, 7]


def test_fields_known_at_run_time_only(csl: Csl) -> None:
    """DSD-007: the base address is any pointer, also one that a variable holds."""
    assert written(csl, ".base_address = pointer, .extent = bound") == [0, 1, 2]


@pytest.mark.parametrize("type", ["mem1d_dsd", "mem4d_dsd"])
def test_the_index_moves_the_start(csl: Csl, type: str) -> None:
    """DSD-043, DSD-056."""
    access = "|i|{3} -> out[i + 1]" if type == "mem1d_dsd" else "|i,j|{2,2} -> out[4 * i + j]"
    start = [1, 2, 3] if type == "mem1d_dsd" else [0, 1, 4, 5]
    fields = f".tensor_access = {access}, .wavelet_index_offset = true"
    assert written(csl, fields, ", .{ .index = bound }", type) == [n + 3 for n in start]


@pytest.mark.parametrize("type", ["mem1d_dsd", "mem4d_dsd"])
def test_the_index_is_ignored_by_default(csl: Csl, type: str) -> None:
    """DSD-015, DSD-055, DSD-237."""
    assert written(csl, MADE[type][2:-1], ", .{ .index = 5 }", type) == [0, 1, 2, 3]


REFUSED = [
    # DSD-007
    ("mem1d_dsd", "«.{ .base_address = 3, .extent = 4 }»", "a base address is a pointer, not a value of type 'comptime_int'"),
    # DSD-013
    ("mem1d_dsd", ".{ .tensor_access = |i|{3} -> out[i + «bound»] }", "cannot be read at compile time"),
    ("mem1d_dsd", "«.{ .tensor_access = 3 }»", "'.tensor_access' is written |i|{n} -> array[i]"),
    # DSD-014, DSD-054
    ("mem1d_dsd", "«.{ .base_address = &out, .extent = 4, .wavelet_index_offset = 1 }»", "is 'true' or 'false', not of type 'comptime_int'"),
    ("mem1d_dsd", "«.{ .base_address = &out, .extent = 4, .wavelet_index_offset = flag }»", "'.wavelet_index_offset' must be known at compile time"),
    ("mem4d_dsd", "«.{ .base_address = &out, .extent = .{ 2, 2 }, .wavelet_index_offset = flag }»", "'.wavelet_index_offset' must be known at compile time"),
    # DSD-094: what a fabin lacks
    ("fabin_dsd", "«.{ .input_queue = in_queue, .extent = 4, .stride = 2 }»", "a 'fabin_dsd' has no field '.stride'"),
    # DSD-100
    ("fabin_dsd", "«.{ .input_queue = in_queue, .extent = 4, .priority = .{ .highest = true } }»", "'highest' is not a '.priority'; it is one of low, medium, high"),
    # DSD-104
    ("fabout_dsd", "«.{ .output_queue = out_queue, .extent = 4, .control = 1 }»", "'.control' is 'true' or 'false', not of type 'comptime_int'"),
    ("fabout_dsd", "«.{ .output_queue = out_queue, .extent = 4, .control = flag }»", "'.control' must be known at compile time"),
    # DSD-107
    ("fabout_dsd", "«.{ .output_queue = out_queue, .extent = 4, .wavelet_index_offset = flag }»", "'.wavelet_index_offset' must be known at compile time"),
    # DSD-251
    ("fabout_dsd", "«.{ .output_queue = out_queue, .extent = 4, .advance_switch = 1 }»", "'.advance_switch' is 'true' or 'false', not of type 'comptime_int'"),
    # DSD-211, DSD-212
    ("fabin_dsd", "«.{ .input_queue = 1, .extent = 4 }»", "'.input_queue' is of type 'input_queue', not 'comptime_int'"),
    ("fabout_dsd", "«.{ .output_queue = in_queue, .extent = 4 }»", "'.output_queue' is of type 'output_queue', not 'input_queue'"),
]  # fmt: skip


@pytest.mark.parametrize(("type", "fields", "message"), REFUSED)
def test_refuses(csl: Csl, type: str, fields: str, message: str) -> None:
    run = f"task run() void {{ _ = @get_dsd({type}, {fields}); }}\n"
    bind = "comptime { @bind_local_task(run, @get_local_task_id(9)); }"
    csl.refuses(MEMORY + FABRIC + run + bind, message, arch="wse3")


def received(csl: Csl, fields: str = "", into: str = "@mov16(to, from, .{ .async = true })") -> list[int]:
    """Return what four wavelets sent by a fabout with further fields leave in `out`."""
    text = f"""{MEMORY}{FABRIC}
    const to = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> out[i] }});
    const from = @get_dsd(fabin_dsd, .{{ .input_queue = in_queue, .extent = 4 }});
    const wire = @get_dsd(fabout_dsd, .{{ .output_queue = out_queue, .extent = 4{fields} }});
    task ended() void {{ out[8] += 1; }}
    comptime {{ @bind_local_task(ended, @get_local_task_id(12)); }}
    fn main() void {{ {into}; @mov16(wire, 7); }}
    """
    return csl.run(text, {"out": "i16"}, arch="wse3", layout=LOOP_BACK)["out"].tolist()


def test_fabric_dsds_move_as_many_wavelets_as_they_are_long(csl: Csl) -> None:
    """DSD-094, DSD-103, DSD-105: queue and extent are enough; what is sent is data."""
    assert received(csl) == [7, 7, 7, 7, *[0] * 8]
    ends = "@mov16(to, from, .{ .async = true, .on_control = .{ .activate = ended } })"
    assert received(csl, into=ends) == [7, 7, 7, 7, *[0] * 8]


def test_a_fabout_sends_control_wavelets(csl: Csl) -> None:
    """DSD-103, DSD-106: each ends the operation that waits for it."""
    ends = "@mov16(to, from, .{ .async = true, .on_control = .{ .activate = ended } })"
    assert received(csl, ", .control = true", ends)[:9] == [0, 0, 0, 0, 0, 0, 0, 0, 1]


def test_a_fabout_sends_no_index_by_default(csl: Csl) -> None:
    """DSD-103, DSD-107: only with the mode on is the operation's index in the high half of each wavelet."""
    text = f"""{FABRIC}
    var out = @zeros([1]u32);
    const to = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{1}} -> out[i] }});
    const from = @get_dsd(fabin_dsd, .{{ .input_queue = in_queue, .extent = 1 }});
    const wire = @get_dsd(fabout_dsd, .{{ .output_queue = out_queue, .extent = 1FIELDS }});
    fn main() void {{ @mov32(to, from, .{{ .async = true }}); @mov16(wire, 7, .{{ .index = 5 }}); }}
    """
    for fields, word in (("", 7), (", .wavelet_index_offset = true", 5 << 16 | 7)):
        run = csl.run(text.replace("FIELDS", fields), {"out": "u32"}, arch="wse3", layout=LOOP_BACK)
        assert run["out"].tolist() == [word]


@pytest.mark.parametrize("priority", ["high", "medium", "low"])
def test_priority_of_a_fabin(csl: Csl, priority: str) -> None:
    """DSD-100."""
    fields = f".input_queue = in_queue, .extent = 4, .priority = .{{ .{priority} = true }}"
    run = f"task run() void {{ @mov16(@get_dsd(mem1d_dsd, {MADE['mem1d_dsd']}), @get_dsd(fabin_dsd, .{{ {fields} }}), .{{ .async = true }}); }}"
    bind = "comptime { @bind_local_task(run, @get_local_task_id(9)); @activate(run); }"
    module = csl.layout(ONE_TILE, MEMORY + FABRIC + run + bind, "wse3").module
    (made,) = (op for op in module.walk() if isinstance(op, dsd.FabinOp))
    assert made.priority is not None and made.priority.data == priority


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize(
    ("array", "counted", "is_told"),
    [("f32", "f16", True), ("f16", "u32", True), ("f32", "u32", False), ("f16", "i16", False), ("f32", "f32", False)],
)
def test_offsets_in_elements_of_another_width(csl: Csl, array: str, counted: str, is_told: bool, arch: str) -> None:
    """DSD-168: an offset that counts elements half or twice as wide as those of the array is warned of, at their type."""
    text = f"""var a = @zeros([8]{array});
const d = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{2}} -> a[i] }});
fn main() void {{ @{"fmovs" if array == "f32" else "fmovh"}(@increment_dsd_offset(d, 2, {counted}), 1.0); }}
comptime {{ @export_symbol(main); }}
"""
    layout = (
        '\nlayout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{}); @export_name("main", fn() void); }\n'
    )
    warnings = csl.layout(layout, text, arch).warnings
    assert len(warnings) == is_told
    if is_told:
        column = text.splitlines()[2].index(f"2, {counted}") + 4
        assert f"pe.csl:3:{column}: warning: the offset counts elements of '{counted}', but" in warnings[0]
