"""Filters that programs change while they run, on both executors with the same clocks."""

from __future__ import annotations

import pytest

from loomir.diagnostics.errors import LoomError

from .harness import Csl, on_both
from .test_filters import COUNTER

LAYOUT = """
layout {
  @set_rectangle(2, 1);
  for (@range(u16, 2)) |x| { @set_tile_code(x, 0, "pe.csl", .{ .x = x }); }
  @set_color_config(0, 0, @get_color(2), .{ .routes = .{ .rx = RAMP, .tx = EAST } });
  @set_color_config(1, 0, @get_color(2), .{ .routes = .{ .rx = WEST, .tx = RAMP }, .filter = FILTER });
  @export_name("main", fn()void);
  @export_name("got", [*]i32, true);
}
"""

PE = """
param x: u16;
const filters = @import_module("<tile_config>").filters;
const c = @get_color(2);
const iq = @get_input_queue(2);
const oq = @get_output_queue(3);
const out = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = oq });
var got = @zeros([12]i32);
var got_ptr: [*]i32 = &got;
var at: i16 = 0;
const took_id = if (@is_arch("wse3")) @get_data_task_id(iq) else @get_data_task_id(c);
// Each wavelet that passes changes what passes after it.
task took(v: i32) void {
  got[at] = v;
  at += 1;
  HERE
}
fn main() void {
  if (x == 0) {
    for (@range(i32, 1, 13, 1)) |k| { @mov32(out, k); for (@range(i16, 60)) |wait| { got[0] = k; } }
  }
}
comptime {
  if (x == 1) { @bind_data_task(took, took_id); @initialize_queue(iq, .{ .color = c }); }
  if (x == 0 and @is_arch("wse3")) { @initialize_queue(oq, .{ .color = c }); }
  @export_symbol(main);
  @export_symbol(got_ptr, "got");
}
"""


def run(csl: Csl, here: str, filter: str, arch: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return what comes to the second PE, the same on both executors."""
    import loomir

    program = loomir.compile(
        csl.layout(
            LAYOUT.replace("FILTER", f".{{ {COUNTER}, .count_data = true, {filter} }}"), PE.replace("HERE", here), arch
        ).module
    )
    return [value for value in on_both(program, monkeypatch, "got")[0][0][1] if value]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("here", "filter", "passing"),
    [
        # One of three passes; with each one more is dropped.
        ("filters.set_active_limit(0, 2 + @as(u16, at));", ".limit1 = 2", [1, 5, 10]),
        (
            "filters.set_max_counter(0, @as(u16, at));",
            ".limit1 = 5, .max_counter = 0",
            [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
        ),
        ("if (at == 2) { filters.set_counter(0, 3); }", ".limit1 = 5, .max_counter = 1", [1, 2, 6, 7, 12]),
    ],
)
@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_a_program_changes_its_filter(
    csl: Csl, here: str, filter: str, passing: list[int], arch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(csl, here, filter, arch, monkeypatch) == passing


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("here", "passing"),
    [
        # Two pass and four do not; a wavelet is two half-wavelets.
        ("filters.set_state(0, filters.counter_filter_state.DROP);", [1, 6, 11]),
        ("filters.set_counter_and_state(0, 4, filters.counter_filter_state.DROP);", [1, 4, 7, 10]),
        ("if (at == 1) { filters.set_counter_value(0, 0); }", [1, 2, 3, 8, 9]),
        ("if (at == 1) { filters.set_pass_count(0, 6); }", [1, 2, 3, 8, 9, 10]),
        ("if (at == 1) { filters.set_drop_count(0, 2); }", [1, 2, 4, 5, 7, 8, 10, 11]),
        (
            "@assert(filters.get_pass_count(0) == 4 and filters.get_drop_count(0) == 8);"
            "if (at == 1) { @assert(filters.get_counter_value(0) == 2); }"
            "if (at == 2) { @assert(filters.get_counter_value(0) == 0); }"
            "@assert((filters.get_state(0) == filters.counter_filter_state.PASS) == (at % 2 == 1));",
            [1, 2, 7, 8],
        ),
    ],
)
@pytest.mark.slow
def test_half_wavelets_and_states(csl: Csl, here: str, passing: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(csl, here, ".limit1 = 5, .max_counter = 1", "wse3", monkeypatch) == passing


def test_a_filter_that_is_not_there(csl: Csl, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LoomError, match=r"PE \(1, 0\) has no counter filter with id 3"):
        run(csl, "filters.set_counter(3, 0);", ".limit1 = 5", "wse3", monkeypatch)


def test_what_wse2_does_not_have(csl: Csl) -> None:
    pe = PE.replace("HERE", "«filters.set_pass_count(0, 4)»;")
    layout = LAYOUT.replace("FILTER", f".{{ {COUNTER}, .limit1 = 5 }}")
    csl.refuses(pe, "<tile_config>: filters.set_pass_count exists on WSE-3 only", layout=layout)
