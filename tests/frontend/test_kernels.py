"""The kernel libraries: <kernels/tally> on rectangles of any shape, and <kernels/fft> against numpy.fft."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import loomir
from loomir.csl import CslError
from tests.searches import examples

from .harness import Csl

TALLY_LAYOUT = """
const tally = @import_module("<kernels/tally/layout>", .{
  .kernel_height = HEIGHT, .kernel_width = WIDTH, .phase2_tally = PHASE2,
  .colors = [3]color{@get_color(1), @get_color(2), @get_color(3)}, .output_color = @get_color(0),
});
layout {
  @set_rectangle(COLUMNS, ROWS);
  for (@range(u16, COLUMNS)) |i| {
    for (@range(u16, ROWS)) |j| {
      @set_tile_code(i, j, "pe.csl", .{ .tally_params = tally.get_params(i, j) });
    }
  }
  @export_name("signals", [*]u16, true);
  @export_name("early", [*]u32, true);
  @export_name("late", [*]u32, true);
  @export_name("result", [*]u32, true);
  @export_name("main", fn() void);
}
"""

TALLY_PE = """
param tally_params: comptime_struct;
const done_id: local_task_id = @get_local_task_id(15);
const first_id: local_task_id = @get_local_task_id(16);
const second_id: local_task_id = @get_local_task_id(17);

const tally = @import_module("<kernels/tally/pe>", @concat_structs(tally_params, .{
  .input_queues = [2]u16{INPUTS}, .output_queues = [2]u16{OUTPUTS}, .callback = done_id,
}));

// How often to signal completion before the late bumps, and after the first of them.
var signals = @zeros([2]u16);
var early = @zeros([2]u32);
var late = @zeros([2]u32);
// How often the tally has ended, and the total then.
var result = @zeros([2]u32);
var signals_ptr: [*]u16 = &signals;
var early_ptr: [*]u32 = &early;
var late_ptr: [*]u32 = &late;
var result_ptr: [*]u32 = &result;

fn main() void {
  tally.bump_tally(early[0]);
  tally.bump_tally(early[1]);
  for (@range(u16, signals[0])) |_| { tally.signal_completion(); }
  @activate(first_id);
  @activate(second_id);
}

task first() void {
  tally.bump_tally(late[0]);
  for (@range(u16, signals[1])) |_| { tally.signal_completion(); }
}

task second() void {
  tally.bump_tally(late[1]);
}

task done() void {
  result[0] += 1;
  result[1] = tally.local_tally;
}

comptime {
  @bind_local_task(done, done_id);
  @bind_local_task(first, first_id);
  @bind_local_task(second, second_id);
  @export_symbol(signals_ptr, "signals");
  @export_symbol(early_ptr, "early");
  @export_symbol(late_ptr, "late");
  @export_symbol(result_ptr, "result");
  @export_symbol(main);
}
"""


def tally_layout(width: object, height: object, phase2: object, columns: int = 0, rows: int = 0) -> str:
    named = {"WIDTH": width, "HEIGHT": height, "PHASE2": phase2, "COLUMNS": columns or width, "ROWS": rows or height}
    text = TALLY_LAYOUT
    for name, value in named.items():
        text = text.replace(name, str(value))
    return text


def tally_pe(inputs: str = "4, 5", outputs: str = "2, 3") -> str:
    return TALLY_PE.replace("INPUTS", inputs).replace("OUTPUTS", outputs)


def rejects(csl: Csl, layout: str, pe: str, message: str, arch: str = "wse2", **options: Any) -> None:
    """The program is refused with one error, which says `message` and shows a line of the program."""
    with pytest.raises(CslError) as caught:
        csl.layout(layout, pe, arch, **options)
    assert len(caught.value.diagnostics) == 1
    assert message in caught.value.message, str(caught.value)
    assert (caught.value.location or "").startswith(str(csl.directory)), str(caught.value)


def run_tally(
    csl: Csl, arch: str, layout: str, arrays: dict[str, NDArray[Any]], pe: str = "", launches: int = 1
) -> NDArray[Any]:
    """Return `result` of every PE after `main`, which must end."""
    compiled = csl.layout(layout, pe or tally_pe(), arch)
    assert compiled.warnings == []
    simulator = loomir.Simulator(loomir.compile(compiled.module, verify_each=False), step_limit=200_000)
    for name, values in arrays.items():
        simulator.set(name, values)
    for _ in range(launches):
        simulator.launch("main")
    return simulator.get("result")


def ended(result: NDArray[Any]) -> int:
    """Return the total with which the tally ended, or -1; it ends once, at the last PE of the first row."""
    others = result.copy()
    others[0, -1] = 0
    assert not others.any()
    times, total = map(int, result[0, -1])
    assert times <= 1
    return total if times else -1


@pytest.mark.slow
@settings(max_examples=examples(24))
@given(
    st.sampled_from(["wse2", "wse3"]), st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32 - 1),
    st.sampled_from(["none", "exact", "less", "more"]), st.booleans(),
)  # fmt: skip
def test_tally_of_any_shape(arch: str, width: int, height: int, seed: int, phase2: str, all_signal: bool) -> None:
    random = np.random.default_rng(seed)
    shape = (height, width, 2)
    early, late = (random.integers(0, 100_000, shape) * random.integers(0, 2, shape) for _ in range(2))
    signals = random.integers(0, 3, shape)
    if all_signal:
        signals[..., 1] += signals.sum(-1) == 0
    everything = int(early.sum() + late.sum())
    # With a count of 0, phase 2 is left out.
    goal = {"none": 0, "exact": everything, "less": everything // 2, "more": everything + 1}[phase2]
    with tempfile.TemporaryDirectory() as directory:
        result = run_tally(
            Csl(Path(directory)), arch, tally_layout(width, height, goal),
            {"early": early, "late": late, "signals": signals},
        )  # fmt: skip
    total = ended(result)
    if goal == 0:
        assert total == (0 if (signals.sum(-1) > 0).all() else -1)
    elif goal > everything or (signals.sum(-1) == 0).any():
        assert total == -1
    else:
        assert goal <= total <= everything


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_tally_beyond_16_bits(csl: Csl, arch: str) -> None:
    counts = np.full((2, 3, 2), 2**28 + 70_001)
    ones = np.ones((2, 3, 2), int)
    result = run_tally(
        csl, arch, tally_layout(3, 2, int(counts.sum())), {"late": counts, "signals": ones, "early": 0 * counts}
    )
    assert ended(result) == int(counts.sum()) == 12 * (2**28 + 70_001)


def test_tally_waits_for_all_and_ends_once(csl: Csl) -> None:
    """Counts reach the goal long before the last PE signals; more of them after the end change nothing."""
    counts = np.full((2, 2, 2), 7)
    signals = np.ones((2, 2, 2), int)
    signals[1, 0] = 0
    layout = tally_layout(2, 2, 5)
    compiled = csl.layout(layout, tally_pe())
    simulator = loomir.Simulator(loomir.compile(compiled.module, verify_each=False), step_limit=200_000)
    for name in ("early", "late"):
        simulator.set(name, counts)
    simulator.set("signals", signals)
    simulator.launch("main")
    assert ended(simulator.get("result")) == -1
    simulator.set("signals", 1 + signals)
    simulator.launch("main")
    total = ended(simulator.get("result"))
    assert total >= 28 * 2
    simulator.launch("main")
    assert ended(simulator.get("result")) == total


def test_tally_on_part_of_the_rectangle(csl: Csl) -> None:
    """The kernel is 2 x 2 of 3 x 3 PEs; the others run the same code as a kernel of one PE of their own."""
    alone = """
    param tally_params: comptime_struct;
    var result = @zeros([2]u32);
    var unused = @zeros([2]u32);
    var signals = @zeros([2]u16);
    var result_ptr: [*]u32 = &result;
    var unused_ptr: [*]u32 = &unused;
    var signals_ptr: [*]u16 = &signals;
    fn main() void {}
    comptime {
      @export_symbol(signals_ptr, "signals"); @export_symbol(unused_ptr, "early"); @export_symbol(unused_ptr, "late");
      @export_symbol(result_ptr, "result"); @export_symbol(main);
    }
    """
    tile = '@set_tile_code(i, j, "pe.csl", .{ .tally_params = tally.get_params(i, j) });'
    other = '@set_tile_code(i, j, "alone.csl", .{ .tally_params = .{} });'
    layout = tally_layout(2, 2, 8, columns=3, rows=3)
    layout = layout.replace(tile, f"if (i < 2 and j < 2) {{ {tile} }} else {{ {other} }}")
    compiled = csl.layout(layout, tally_pe(), files={"alone.csl": alone})
    simulator = loomir.Simulator(loomir.compile(compiled.module, verify_each=False), step_limit=200_000)
    simulator.set("early", np.ones((3, 3, 2), int))
    simulator.set("signals", np.ones((3, 3, 2), int))
    simulator.launch("main")
    assert ended(simulator.get("result")[:2, :2]) == 8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (".kernel_width = 2", ".kernel_width = 0", "kernel_width and kernel_height must be at least 1"),
        (".kernel_height = 2", ".kernel_height = 1.5", "kernel_width and kernel_height must be integers"),
        (".phase2_tally = 3", ".phase2_tally = -1", "phase2_tally must fit in a u32"),
        (".phase2_tally = 3", ".phase2_tally = 1 << 32", "phase2_tally must fit in a u32"),
        (".phase2_tally = 3", ".phase2_tally = 0.5", "phase2_tally must be an integer"),
        ("@get_color(2)", "@get_color(1)", "the three colors must be distinct"),
        ("[3]color{@get_color(1), @get_color(2), @get_color(3)}", "[2]color{@get_color(1), @get_color(2)}",
         "colors must be three colors, [3]color{...}"),
        ("[3]color{@get_color(1), @get_color(2), @get_color(3)}", "[3]u16{1, 2, 3}",
         "colors must be three colors, [3]color{...}"),
        (".output_color = @get_color(0)", ".output_color = @get_color(3)", "output_color must differ from the three"),
        (".output_color = @get_color(0)", ".output_color = 0", "output_color must be a color"),
        (".get_params(i, j)", ".get_params(i + 1, j)", "called for a PE outside of kernel_width x kernel_height"),
        (".kernel_width = 2", ".kernel_width = 9", "is larger than the program rectangle"),
        (".kernel_width = 2, ", "", "param 'kernel_width' has no value"),
    ],
)  # fmt: skip
def test_wrong_parameters_of_the_tally_layout(csl: Csl, old: str, new: str, message: str) -> None:
    layout = tally_layout(2, 2, 3)
    assert old in layout
    rejects(csl, layout.replace(old, new), tally_pe(), message)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arch", "inputs", "outputs", "message"),
    [
        ("wse2", "4, 4", "2, 3", "the two input_queues must be distinct"),
        ("wse2", "4, 5", "3, 3", "the two output_queues must be distinct"),
        ("wse3", "4, 5", "3, 4", "on WSE-3 input_queues and output_queues must be different"),
    ],
)  # fmt: skip
def test_wrong_queues_of_the_tally(csl: Csl, arch: str, inputs: str, outputs: str, message: str) -> None:
    rejects(csl, tally_layout(2, 2, 3), tally_pe(inputs, outputs), message, arch)


def test_queues_may_be_equal_on_wse2(csl: Csl) -> None:
    arrays = {name: np.ones((2, 2, 2), int) for name in ("early", "late", "signals")}
    assert ended(run_tally(csl, "wse2", tally_layout(2, 2, 16), arrays, tally_pe("4, 5", "4, 5"))) == 16


def test_colors_of_memcpy_are_refused(csl: Csl) -> None:
    layout = tally_layout(2, 2, 3).replace("@get_color(1)", "@get_color(22)")
    layout = layout.replace(
        "layout {", 'const memcpy = @import_module("<memcpy/get_params>", .{ .width = 2, .height = 2 });\nlayout {'
    )
    layout = layout.replace(".tally_params", ".memcpy_params = memcpy.get_params(i), .tally_params")
    pe = (
        'param memcpy_params: comptime_struct;\nconst sys = @import_module("<memcpy/memcpy>", memcpy_params);\n'
        + tally_pe()
    )
    rejects(csl, layout, pe, "color 22 belongs to <memcpy/memcpy>", memcpy=True, channels=1)
