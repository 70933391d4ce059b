"""The library <collectives_2d>: what arrives, what crosses each link, and what is refused, against numpy."""

from __future__ import annotations

import os
import re
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import loomir
from loomir.diagnostics.errors import LoomError
from loomir.frontend.compilation import compile_layout
from loomir.runtime.executors import EXECUTOR
from loomir.runtime.reference.switches import EAST, NORTH, SOUTH, WEST, Passage, Router, SwitchedColor

from ..searches import examples
from .harness import Csl

OPERATIONS = ("broadcast", "scatter", "gather", "reduce_fadds")
IN_PLACE = 8
"""What the number of an operation has more if it puts its results where it takes its elements."""
SPACE = 48
"""Elements of each array of the program."""
STEPS = 5
"""Rows of the table of directives that an axis carries out in one launch; the last one is its end."""

IDS = """
    .x_colors = .{ @get_color(0), @get_color(1) },
    .x_entrypoints = .{ @get_local_task_id(8), @get_local_task_id(9) },
    .y_colors = .{ @get_color(4), @get_color(5) },
    .y_entrypoints = .{ @get_local_task_id(10), @get_local_task_id(11) },
"""

LAYOUT = f"""
param width: u16;
param height: u16;
const c2d = @import_module("<collectives_2d/params>");
const memcpy = @import_module("<memcpy/get_params>", .{{ .width = width, .height = height }});
layout {{
  @set_rectangle(width, height);
  for (@range(u16, width)) |x| {{
    for (@range(u16, height)) |y| {{
      @set_tile_code(x, y, "pe.csl", .{{
        .memcpy_params = memcpy.get_params(x), .c2d_params = c2d.get_params(x, y, .{{ {IDS} }}),
      }});
    }}
  }}
  @export_name("x_steps", [*]u16, true);
  @export_name("y_steps", [*]u16, true);
  @export_name("x_even", [*]u32, true);
  @export_name("x_odd", [*]u32, true);
  @export_name("y_even", [*]u32, true);
  @export_name("y_odd", [*]u32, true);
  @export_name("run", fn()void);
}}
"""

# Each axis carries out the directives in its table, one after the other; those at odd places take from `odd`.
AXIS = """
const mpi_X = @import_module("<collectives_2d/pe>", .{ .dim_params = c2d_params.X });
const X_next_id = @get_local_task_id(X_TASK);
var X_steps = @zeros([STEPS, 3]u16);
var X_even = @zeros([SPACE]u32);
var X_odd = @zeros([SPACE]u32);
var X_steps_ptr: [*]u16 = @ptrcast([*]u16, &X_steps);
var X_even_ptr: [*]u32 = &X_even;
var X_odd_ptr: [*]u32 = &X_odd;
var X_step: u16 = 0;
task X_next() void {
  const step = X_step;
  if (X_steps[step, 0] == 4) {
    X_step = 0;
    axis_done();
    return;
  }
  X_step += 1;
  const root = X_steps[step, 1];
  const count = X_steps[step, 2];
  const from = if (step % 2 == 0) X_even_ptr else X_odd_ptr;
  const other = if (step % 2 == 0) X_odd_ptr else X_even_ptr;
  const to = if (X_steps[step, 0] < 8) other else from;
  const operation = X_steps[step, 0] % 8;
  if (operation == 0) {
    mpi_X.broadcast(root, from, count, X_next_id);
  } else if (operation == 1) {
    mpi_X.scatter(root, from, to, count, X_next_id);
  } else if (operation == 2) {
    mpi_X.gather(root, from, to, count, X_next_id);
  } else {
    mpi_X.reduce_fadds(root, @ptrcast([*]f32, from), @ptrcast([*]f32, to), count, X_next_id);
  }
}
comptime {
  @bind_local_task(X_next, X_next_id);
  @export_symbol(X_steps_ptr, "X_steps");
  @export_symbol(X_even_ptr, "X_even");
  @export_symbol(X_odd_ptr, "X_odd");
}
"""

PE = """
param memcpy_params: comptime_struct;
param c2d_params: comptime_struct;
const sys_mod = @import_module("<memcpy/memcpy>", memcpy_params);
var done: u16 = 0;
fn axis_done() void {
  done += 1;
  if (done == 2) {
    done = 0;
    sys_mod.unblock_cmd_stream();
  }
}
fn run() void {
  mpi_x.init();
  mpi_y.init();
  @activate(x_next_id);
  @activate(y_next_id);
}
comptime { @export_symbol(run); }
"""


def simulator_of(width: int, height: int, arch: str) -> loomir.Simulator:
    """Return a simulator of the program whose axes carry out tables of directives; tests of an executor share one."""
    return _simulator_of(width, height, arch, os.environ[EXECUTOR])


@cache
def _simulator_of(width: int, height: int, arch: str, executor: str) -> loomir.Simulator:
    assert executor == os.environ[EXECUTOR]
    axes = [AXIS.replace("X_TASK", str(12 + number)).replace("X", axis) for number, axis in enumerate("xy")]
    text = "".join([PE, *axes]).replace("STEPS", str(STEPS)).replace("SPACE", str(SPACE))
    with TemporaryDirectory() as directory:
        (Path(directory) / "layout.csl").write_text(LAYOUT)
        (Path(directory) / "pe.csl").write_text(text)
        params = {"width": width, "height": height}
        compiled = compile_layout(Path(directory) / "layout.csl", arch=arch, params=params)
        return loomir.Simulator(loomir.compile(compiled.module, verify_each=False))


Step = tuple[int, int, int]
"""Operation, root and count."""


def table_of(steps: list[Step]) -> NDArray[np.uint16]:
    """Return the table of some directives, as the program has it."""
    rows = [*steps, *[(len(OPERATIONS), 0, 0)] * (STEPS - len(steps))]
    return np.array(rows, np.uint16).ravel()


def run(width: int, height: int, arch: str, steps: dict[str, list[Step]], seed: int = 1) -> None:
    """Carry out directives on both axes at once, and compare all memory with numpy's."""
    simulator = simulator_of(width, height, arch)
    generator = np.random.default_rng(seed)
    expected: dict[str, NDArray[np.uint32]] = {}
    for axis in "xy":
        simulator.set(f"{axis}_steps", table_of(steps[axis]))
        for place in ("even", "odd"):
            # Sums of these are exact, in any order.
            numbers = generator.integers(-40, 40, (height, width, SPACE)).astype(np.float32).view(np.uint32)
            simulator.set(f"{axis}_{place}", numbers)
            expected[f"{axis}_{place}"] = numbers.copy()
        even, odd = (
            expected[f"{axis}_{place}"] if axis == "x" else expected[f"{axis}_{place}"].swapaxes(0, 1)
            for place in ("even", "odd")
        )
        for number, step in enumerate(steps[axis]):
            step = (IN_PLACE, *step[1:]) if step[0] == 0 else step
            carry_out(step, *((odd, even) if number % 2 else (even, odd)))
    simulator.launch("run")
    for name, numbers in expected.items():
        np.testing.assert_array_equal(simulator.get(name), numbers, name)


def carry_out(step: Step, source: NDArray[np.uint32], target: NDArray[np.uint32]) -> None:
    """Carry out a directive on [lines, PEs of a line, elements]."""
    operation, root, count = step
    if operation >= IN_PLACE:
        operation -= IN_PLACE
        target, source = source, source.copy()
    for line in range(source.shape[0]):
        for place in range(source.shape[1]):
            chunk = slice(place * count, (place + 1) * count)
            if OPERATIONS[operation] == "broadcast":
                target[line, place, :count] = source[line, root, :count]
            elif OPERATIONS[operation] == "scatter":
                target[line, place, :count] = source[line, root, chunk]
            elif OPERATIONS[operation] == "gather":
                target[line, root, chunk] = source[line, place, :count]
        if OPERATIONS[operation] == "reduce_fadds":
            total = source[line, :, :count].view(np.float32).astype(np.float64).sum(axis=0)
            target[line, root, :count] = total.astype(np.float32).view(np.uint32)


def directives(size: int) -> st.SearchStrategy[list[Step]]:
    step = st.tuples(st.sampled_from([0, 1, 2, 3, 9, 10, 11]), st.integers(0, size - 1), st.integers(0, SPACE // size))
    return st.lists(step, max_size=4)


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("width, height, arch", [(5, 3, "wse2"), (5, 3, "wse3"), (2, 1, "wse3"), (1, 4, "wse2")])
def test_directives_in_succession_on_both_axes(width: int, height: int, arch: str) -> None:
    @settings(max_examples=examples(9))
    @given(directives(width), directives(height), st.integers(0, 100))
    def search(x: list[Step], y: list[Step], seed: int) -> None:
        run(width, height, arch, {"x": x, "y": y}, seed)

    search()


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("operation", [0, 1, 2, 3, 9, 10, 11])
def test_every_root(operation: int, arch: str) -> None:
    for root in range(5):
        run(5, 3, arch, {"x": [(operation, root, 4)], "y": [(operation, root % 3, 1)]})


@pytest.mark.one_in(2)
@pytest.mark.slow
@pytest.mark.executors("reference")
@pytest.mark.parametrize("operation", range(4))
def test_a_link_carries_what_lies_beyond(operation: int, monkeypatch: pytest.MonkeyPatch) -> None:
    crossed: Counter[tuple[int, int]] = Counter()
    commands: Counter[tuple[int, int]] = Counter()
    hop = SwitchedColor._hop  # pyright: ignore[reportPrivateUsage]

    def counted(self: SwitchedColor, router: Router, port: int, out: int, run: Passage) -> None:
        assert out in (EAST, WEST, NORTH, SOUTH)
        if router.y == 1 and out in (EAST, WEST):
            link = min(router.x, router.x + (1 if out == EAST else -1))
            (commands if run.control else crossed)[link, out] += len(run.payload)
        hop(self, router, port, out, run)

    size, root, count = 5, 2, 3
    run(size, 3, "wse3", {"x": [(0, 0, 1)], "y": []})
    monkeypatch.setattr(SwitchedColor, "_hop", counted)
    run(size, 3, "wse3", {"x": [(operation, root, count)], "y": []})
    away = OPERATIONS[operation] in ("broadcast", "scatter")
    chunks = OPERATIONS[operation] in ("scatter", "gather")
    expected: dict[tuple[int, int], int] = {}
    for link in range(size - 1):
        is_high = link >= root
        beyond = size - 1 - link if is_high else link + 1
        expected[link, EAST if is_high == away else WEST] = count * (beyond if chunks else 1)
    assert crossed == expected
    # All links were eastward; what turns one is one command over it.
    assert commands == {(link, EAST): 1 for link, way in expected if way == WEST}


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("operation", [0, 3])
def test_a_wavelet_a_cycle(operation: int, arch: str) -> None:
    def cycles(axis: str, count: int) -> int:
        simulator = simulator_of(5, 3, arch)
        for name in "xy":
            simulator.set(f"{name}_steps", table_of([(operation, 0, count)] if name == axis else []))
        simulator.launch("run")
        before = simulator.cycles
        simulator.launch("run")
        return simulator.cycles - before

    assert cycles("x", 48) - cycles("x", 24) == 24
    assert cycles("x", 48) - cycles("y", 48) <= 2 * 12


def one_axis(ids: str, place: str = "x, y") -> str:
    """Return a layout of 3 x 2 PEs that gives these ids."""
    return f"""
    const c2d = @import_module("<collectives_2d/params>");
    const memcpy = @import_module("<memcpy/get_params>", .{{ .width = 3, .height = 2 }});
    layout {{
      @set_rectangle(3, 2);
      for (@range(u16, 3)) |x| {{
        for (@range(u16, 2)) |y| {{
          const ids = .{{ {ids} }};
          const c2d_params = «c2d.get_params({place}, ids)»;
          @set_tile_code(x, y, "pe.csl", .{{ .c2d_params = c2d_params, .memcpy_params = memcpy.get_params(x) }});
        }}
      }}
      @export_name("run", fn(u16) void);
    }}
    """


def plain(text: str) -> str:
    return text.replace("«", "").replace("»", "")


COLORS = ".x_colors = .{ @get_color(0), @get_color(1) },"
TASKS = ".x_entrypoints = .{ @get_local_task_id(8), @get_local_task_id(9) },"

Y_TASKS = ".y_entrypoints = .{ @get_local_task_id(10), @get_local_task_id(11) },"

BAD_IDS = {
    TASKS + ".x_color = .{ @get_color(0), @get_color(1) }": "there is no id .x_color; give .x_colors",
    COLORS + TASKS + ".y_color = .{ @get_color(2), @get_color(3) }": "there is no id .y_color; give .x_colors",
    "": "give .x_colors and .x_entrypoints, or those of y, or both",
    COLORS: ".x_colors and .x_entrypoints are given together, or neither",
    TASKS: "give .x_colors and .x_entrypoints, or those of y, or both",
    TASKS + ".x_colors = .{ @get_color(1), @get_color(1) }": ".x_colors are equal; give two different colors",
    TASKS + ".x_colors = .{ @get_color(1), 2 }": ".x_colors must be two colors",
    TASKS + ".x_colors = .{ @get_color(1) }": ".x_colors must be two colors",
    TASKS + ".x_colors = @get_color(1)": ".x_colors must be two colors",
    COLORS + ".x_entrypoints = .{ @get_local_task_id(8), @get_local_task_id(8) }": ".x_entrypoints are equal",
    COLORS + ".x_entrypoints = .{ @get_color(8), @get_color(9) }": ".x_entrypoints must be two local task ids",
    COLORS + TASKS + Y_TASKS + ".y_colors = .{ @get_color(1), @get_color(2) }": "the two axes share a color",
    COLORS + TASKS + TASKS.replace(".x", ".y") + ".y_colors = .{ @get_color(3), @get_color(2) }": (
        "the two axes share an entrypoint"
    ),
}


@pytest.mark.parametrize("ids", BAD_IDS)
def test_refused_ids(csl: Csl, ids: str) -> None:
    csl.refuses("", BAD_IDS[ids], one_axis(ids), files={"pe.csl": ""})


@pytest.mark.slow
def test_refused_places_and_colors(csl: Csl) -> None:
    csl.refuses("", "is for a PE of the program rectangle", one_axis(COLORS + TASKS, "x + 3, y"), files={"pe.csl": ""})
    swapped = plain(one_axis(COLORS + TASKS, "2 - x, y"))
    csl.refuses(pe(module="«.dim_params = c2d_params.x"), ".dim_params are those of another PE", swapped)
    colors = COLORS.replace("(0)", "(10)")
    csl.refuses("", "for which wse3 has no switches", one_axis(colors + TASKS), arch="wse3", files={"pe.csl": ""})


def pe(call: str = "", module: str = ".dim_params = c2d_params.x", init: str = "mpi_x.init();") -> str:
    return f"""
    param c2d_params: comptime_struct;
    param memcpy_params: comptime_struct;
    const sys_mod = @import_module("<memcpy/memcpy>", memcpy_params);
    const mpi_x = {
        f'@import_module("<collectives_2d/pe>", .{{ {module} }})'
        if module[0] != "«"
        else f'«@import_module("<collectives_2d/pe>", .{{ {module[1:]} }})»'
    };
    const done_id = @get_local_task_id(12);
    var words = @zeros([4]u32);
    var other = @zeros([4]u32);
    var numbers = @zeros([4]f32);
    fn run(given: u16) void {{
      {init}
      {call}
    }}
    task done() void {{ sys_mod.unblock_cmd_stream(); }}
    comptime {{ @bind_local_task(done, done_id); @export_symbol(run); }}
    """


GOOD_LAYOUT = plain(one_axis(COLORS + TASKS))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "module, message",
    [
        ("«.dim_params = c2d_params.y", ".dim_params must be .x or .y of what get_params returns for an axis with ids"),
        ("«.dim_params = c2d_params.x, .queues = [2]u16{ 2, 9 }", "there is no input queue 9"),
        ("«.dim_params = c2d_params.x, .queues = [2]u16{ 2, 2 }", ".queues are equal; give two different queue ids"),
        ("«.dim_params = c2d_params.x, .queues = [1]u16{ 2 }", ".queues takes two queue ids"),
        ("«.dim_params = c2d_params.x, .dest_dsr_ids = [1]u16{ 99 }", "has no dest register 99"),
        ("«.dim_params = c2d_params.x, .src0_dsr_ids = [1]u16{ 99 }", "has no src0 register 99"),
        ("«.dim_params = c2d_params.x, .src1_dsr_ids = [1]u16{ 99 }", "has no src1 register 99"),
    ],
)
def test_refused_imports(csl: Csl, module: str, message: str) -> None:
    csl.refuses(pe(module=module), message, GOOD_LAYOUT)


@pytest.mark.slow
def test_ids_that_memcpy_reserves(csl: Csl) -> None:
    for ids, what in (
        (COLORS.replace("(1)", "(22)") + TASKS, "color 22 belongs to <memcpy/memcpy>"),
        (COLORS + TASKS.replace("(8)", "(28)"), "local task id 28 belongs to <memcpy/memcpy>"),
    ):
        layout = plain(one_axis(ids))
        csl.refuses(pe(module="«.dim_params = c2d_params.x"), what, layout)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "call, message",
    [
        ("«mpi_x.broadcast(3, &words, 4, done_id)»;", "the root is outside of this axis, which has 3 PEs"),
        ("«mpi_x.broadcast(0, &words, 5, done_id)»;", "broadcast of more elements than buf has, 4"),
        ("«mpi_x.scatter(0, &words, &words, 5, done_id)»;", "scatter of more elements to a PE than recv_buf has, 4"),
        ("«mpi_x.gather(0, &words, &words, 5, done_id)»;", "gather of more elements of a PE than send_buf has, 4"),
        (
            "«mpi_x.reduce_fadds(0, &numbers, &numbers, 5, done_id)»;",
            "reduce_fadds of more elements than send_buf has, 4",
        ),
        ("mpi_x.broadcast(0, «&numbers», 4, done_id);", "expected '[*]u32', found '*[4]f32'"),
        ("mpi_x.reduce_fadds(0, «&words», &numbers, 4, done_id);", "expected '[*]f32', found '*[4]u32'"),
        ("mpi_x.broadcast(0, &words, 4, «12»);", "expected 'local_task_id', found 'comptime_int'"),
    ],
)
@pytest.mark.slow
def test_refused_calls(csl: Csl, call: str, message: str) -> None:
    csl.refuses(pe(call), message, GOOD_LAYOUT)


WRONG = [
    ("mpi_x.broadcast(given, &words, 4, done_id);", "the root is outside of this axis, which has 3 PEs"),
    ("mpi_x.broadcast(0, &words, 4, done_id); mpi_x.broadcast(0, &words, 4, done_id);", "is still running; wait"),
    (
        "mpi_x.scatter(0, &words, &other, 2, done_id);",
        "scatter of more elements to all PEs than send_buf has at the root, 4 for 3 PEs",
    ),
    (
        "mpi_x.gather(0, &words, &other, 2, done_id);",
        "gather of more elements of all PEs than recv_buf has at the root, 4 for 3 PEs",
    ),
]


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("call, message", WRONG)
def test_errors_of_a_run(csl: Csl, call: str, message: str) -> None:
    with pytest.raises(LoomError, match=rf"/pe.csl:\d+:\d+: error: the assertion fails on PE .*pe>: .*{message}"):
        start(csl, pe(call)).launch("run", 7)


@pytest.mark.slow
def test_a_callback_without_a_task(csl: Csl) -> None:
    with pytest.raises(LoomError, match=r"pe\.csl:.* on PE .*: no task is bound to local task id 16; bind one"):
        start(csl, pe("mpi_x.broadcast(0, &words, 4, @get_local_task_id(16));")).launch("run", 7)


@pytest.mark.slow
def test_a_directive_before_init(csl: Csl) -> None:
    simulator = start(csl, pe("mpi_x.broadcast(0, &words, 4, done_id);", init=""))
    with pytest.raises(LoomError, match=re.escape("a directive before init(); call init() once for each axis")):
        simulator.launch("run", 7)


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "there, here",
    [
        ("broadcast(0, &words, 2", "broadcast with root 0 and count 2"),
        ("broadcast(mpi_x.pe_id, &words, 4", "broadcast with root 1 and count 4"),
        ("gather(0, &words, &other, 1", "gather with root 0 and count 1"),
        ("scatter(0, &words, &other, 4", "scatter with root 0 and count 4"),
    ],
)
def test_pes_that_call_different_directives(csl: Csl, there: str, here: str) -> None:
    other = f"if (mpi_x.pe_id == 1) {{ mpi_x.{there}, done_id); }} else {{ mpi_x.broadcast(0, &words, 4, done_id); }}"
    simulator = start(csl, pe(f"if (given == 1) {{ {other} }} else {{ mpi_x.broadcast(2, &words, 4, done_id); }}"))
    simulator.launch("run", 0)
    with pytest.raises(LoomError, match=r"/pe.csl:\d+:\d+: error: directive 2 of a row is ") as caught:
        simulator.launch("run", 1)
    assert f"{here} on PE (1, 0)" in str(caught.value) or f"but {here} on PE (1, 0)" in str(caught.value)
    assert "broadcast with root 0 and count 4 on PE (" in str(caught.value)


@pytest.mark.slow
def test_a_pe_that_calls_no_directive(csl: Csl) -> None:
    call = "if (mpi_x.pe_id == 1) { @activate(done_id); } else { mpi_x.broadcast(0, &words, 4, done_id); }"
    with pytest.raises(loomir.Deadlock, match=r"mov32 in @run \(.*/pe.csl:\d+:\d+\) waits on input .* for 4 of 4"):
        start(csl, pe(call)).launch("run", 0)


@pytest.mark.parametrize(
    "arch, ids, kept",
    [
        ("wse3", "2, 1", "input queue 1 belongs to <memcpy/memcpy>, which uses input queues 0 and 1; give <coll"),
        ("wse2", "0, 4", "queue 0 belongs to <memcpy/memcpy>"),
    ],
)
@pytest.mark.slow
def test_queues_of_memcpy(csl: Csl, arch: str, ids: str, kept: str) -> None:
    text = pe(module=f"«.dim_params = c2d_params.x, .queues = [2]u16{{ {ids} }}")
    csl.refuses(text, kept, GOOD_LAYOUT, arch=arch)


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.slow
def test_queues_used_twice(csl: Csl, arch: str) -> None:
    """A queue of the library that the program, or the import for the other axis, takes too."""
    layout = plain(one_axis(COLORS + TASKS + Y_TASKS + ".y_colors = .{ @get_color(2), @get_color(3) }"))
    second = """
    const mpi_y = «@import_module("<collectives_2d/pe>", .{ .dim_params = c2d_params.y, .queues = [2]u16{ 6, 2 } })»;
    fn more() void { mpi_y.init(); }
    """
    message = "two imports of <collectives_2d/pe> use "
    csl.refuses(pe() + second, message, layout, arch=arch)
    own = "comptime { @initialize_queue(@get_input_queue(2), .{ .color = @get_color(7) }); }"
    with pytest.raises(LoomError, match="input queue 2 is used by <collectives_2d/pe>, which initializes it"):
        csl.layout(GOOD_LAYOUT, pe() + own, arch=arch)


@pytest.mark.slow
def test_an_unknown_directive_names_the_library(csl: Csl) -> None:
    csl.refuses(pe("«mpi_x.allreduce»(0);"), "module '<collectives_2d/pe>' does not declare 'allreduce'", GOOD_LAYOUT)


def start(csl: Csl, text: str) -> loomir.Simulator:
    return loomir.Simulator(loomir.compile(csl.layout(GOOD_LAYOUT, text).module))
