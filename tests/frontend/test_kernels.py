"""The kernel libraries: <kernels/tally> on rectangles of any shape, and <kernels/fft> against numpy.fft."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import loomir
from loomir.csl import CslError
from tests.runtime import oracle
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
    assert len(caught.value.diagnostics) == 1, str(caught.value)
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
@settings(max_examples=examples(12))
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


@pytest.mark.slow
def test_tally_beyond_16_bits(csl: Csl) -> None:
    counts = np.full((2, 3, 2), 2**28 + 70_001)
    ones = np.ones((2, 3, 2), int)
    result = run_tally(
        csl, "wse3", tally_layout(3, 2, int(counts.sum())), {"late": counts, "signals": ones, "early": 0 * counts}
    )
    assert ended(result) == int(counts.sum()) == 12 * (2**28 + 70_001)


@pytest.mark.slow
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


@pytest.mark.slow
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
        (".kernel_width = 2", ".kernel_width = 0", "the kernel has 0 x 2 PEs; kernel_width and"),
        (".kernel_height = 2", ".kernel_height = 1.5", "kernel_width and kernel_height must be integers"),
        (".phase2_tally = 3", ".phase2_tally = -1", "phase2_tally is -1; it must fit in a u32"),
        (".phase2_tally = 3", ".phase2_tally = 1 << 32", "phase2_tally is 4294967296; it must fit"),
        (".phase2_tally = 3", ".phase2_tally = 0.5", "phase2_tally must be an integer"),
        ("@get_color(2)", "@get_color(1)", "the three colors must be distinct"),
        ("[3]color{@get_color(1), @get_color(2), @get_color(3)}", "[2]color{@get_color(1), @get_color(2)}",
         "colors must be three colors, [3]color{...}"),
        ("[3]color{@get_color(1), @get_color(2), @get_color(3)}", "[3]u16{1, 2, 3}",
         "colors must be three colors, [3]color{...}"),
        (".output_color = @get_color(0)", ".output_color = @get_color(3)", "output_color must differ from the three"),
        (".output_color = @get_color(0)", ".output_color = 0", "output_color must be a color"),
        (".get_params(i, j)", ".get_params(i + 1, j)", "called for a PE outside of the kernel of 2 x 2 PEs"),
        (".kernel_width = 2", ".kernel_width = 9", "kernel of 9 x 2 PEs is larger than the program rectangle of 2 x 2"),
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
        ("wse2", "4, 4", "2, 3", "both input_queues are 4; they must be distinct"),
        ("wse2", "4, 5", "3, 3", "both output_queues are 3; they must be distinct"),
        ("wse3", "4, 5", "3, 4", "queue 4 is one of input_queues and of output_queues; on WSE-3"),
    ],
)  # fmt: skip
def test_wrong_queues_of_the_tally(csl: Csl, arch: str, inputs: str, outputs: str, message: str) -> None:
    rejects(csl, tally_layout(2, 2, 3), tally_pe(inputs, outputs), message, arch)


@pytest.mark.slow
def test_queues_may_be_equal_on_wse2(csl: Csl) -> None:
    arrays = {name: np.ones((2, 2, 2), int) for name in ("early", "late", "signals")}
    assert ended(run_tally(csl, "wse2", tally_layout(2, 2, 16), arrays, tally_pe("4, 5", "4, 5"))) == 16


def with_memcpy(layout: str, pe: str, width: int) -> tuple[str, str]:
    importing = f'@import_module("<memcpy/get_params>", .{{ .width = {width}, .height = {width} }})'
    layout = layout.replace("layout {", f"const memcpy = {importing};\nlayout {{")
    layout = layout.replace('"pe.csl", .{', '"pe.csl", .{ .memcpy_params = memcpy.get_params(0),')
    importing = '@import_module("<memcpy/memcpy>", memcpy_params)'
    return layout, f"param memcpy_params: comptime_struct;\nconst sys = {importing};\n{pe}"


@pytest.mark.slow
def test_colors_of_memcpy_are_refused(csl: Csl) -> None:
    layout = tally_layout(2, 2, 3).replace("@get_color(1)", "@get_color(22)")
    rejects(
        csl, *with_memcpy(layout, tally_pe(), 2), "color 22 belongs to <memcpy/memcpy>", memcpy=True, channels=1
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@get_color(9)", "@get_color(21)", "color 21 belongs to <memcpy/memcpy>"),
        ("@get_local_task_id(21)", "@get_local_task_id(27)", "local task id 27 belongs to <memcpy/memcpy>"),
        ("@get_local_task_id(20)", "@get_local_task_id(28)", "local task id 28 belongs to <memcpy/memcpy>"),
    ],
)
def test_ids_of_memcpy_are_refused(csl: Csl, old: str, new: str, message: str) -> None:
    assert old in FFT_PARTS_LAYOUT + FFT_PARTS_PE
    layout, pe = (text.replace(old, new).replace("TYPE", "f32") for text in (FFT_PARTS_LAYOUT, FFT_PARTS_PE))
    layout, pe = with_memcpy(layout, pe, 2)
    rejects(csl, layout, pe, message, "wse3", params={"N": "4", "WIDTH": "2"}, memcpy=True, channels=1)


FFT_LAYOUT = """
param N: u16;
param WIDTH: u16;
const memcpy = @import_module("<memcpy/get_params>", .{ .width = WIDTH, .height = WIDTH });
const fft_helper = @import_module("<kernels/fft/fft3d_layout>", .{ .width = WIDTH, .memcpy = memcpy });
layout {
  @set_rectangle(WIDTH, WIDTH);
  fft_helper.FFT_kernel(WIDTH, N, TYPE);
}
"""


def fft_simulator(csl: Csl, layout: str, arch: str, size: int, width: int, type: str = "f32") -> loomir.Simulator:
    compiled = csl.layout(
        layout.replace("TYPE", type), None, arch, params={"N": str(size), "WIDTH": str(width)}, memcpy=True, channels=1
    )
    assert compiled.warnings == []
    return loomir.Simulator(loomir.compile(compiled.module, verify_each=False), step_limit=1_000_000)


def pencils(data: NDArray[Any], width: int) -> NDArray[Any]:
    """Return what PE (column, row) holds, [row][column][z][y][x][part] in a line for each PE, of data[y][x][z]."""
    size = data.shape[0]
    side = size // width
    blocks = data.reshape(width, side, width, side, size).transpose(0, 2, 4, 1, 3)
    return np.stack([np.real(blocks), np.imag(blocks)], -1).reshape(width, width, -1)


def gathered(lines: NDArray[Any], size: int) -> NDArray[Any]:
    """Return data[y][x][z] of what the PEs hold."""
    width = lines.shape[0]
    side = size // width
    parts = lines.astype(np.float64).reshape(width, width, size, side, side, 2)
    return (parts[..., 0] + 1j * parts[..., 1]).transpose(0, 3, 1, 4, 2).reshape(size, size, size)


def random_data(size: int, seed: int = 0) -> NDArray[Any]:
    random = np.random.default_rng(seed)
    shape = (size, size, size)
    return random.uniform(-1, 1, shape) + 1j * random.uniform(-1, 1, shape)


NORMS = ("backward", "ortho", "forward")


@pytest.mark.slow
@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("arch", "size", "width", "type"),
    [
        ("wse2", 4, 4, "f32"), ("wse3", 8, 4, "f32"), ("wse3", 16, 4, "f32"), ("wse2", 8, 2, "f32"),
        ("wse3", 8, 8, "f16"), ("wse3", 8, 2, "f16"), ("wse2", 4, 2, "f16"), ("wse3", 2, 1, "f32"),
        ("wse2", 16, 2, "f16"),
    ],
)  # fmt: skip
def test_fft_of_every_kind(csl: Csl, arch: str, size: int, width: int, type: str) -> None:
    """Both directions and all norms, of complex and of real data, against numpy; the cycles are counted."""
    simulator = fft_simulator(csl, FFT_LAYOUT, arch, size, width, type)
    data = random_data(size)
    tolerance = 1e-6 if type == "f32" else 4e-3

    def check(name: str, arguments: tuple[int, ...], expected: NDArray[Any]) -> None:
        simulator.set("X", pencils(data, width))
        simulator.launch(name, *arguments)
        result = gathered(simulator.get("X"), size)
        np.testing.assert_allclose(result, expected, rtol=0, atol=tolerance * np.abs(expected).max())

    for norm, called in enumerate(NORMS):
        check("csfftExecC2C", (norm, 0), np.fft.fftn(data, norm=called))
        check("csfftExecC2C", (norm, 1), np.fft.ifftn(data, norm=called))
    check("csfftExecR2C", (0,), np.fft.fftn(np.real(data)))
    data = np.fft.fftn(np.real(data)) / size
    check("csfftExecC2R", (0,), np.fft.ifftn(data))
    time = simulator.get("fft_time").astype(int)
    assert time.shape == (width, width, 4)
    assert (time[..., 0] + (time[..., 1] << 16) > 100).all() and (time[..., 2:] == 0).all()


@pytest.mark.slow
def test_fft_with_twiddle_factors_of_the_host(csl: Csl) -> None:
    """The array holds exp(i pi k / (N / 2)) from the start, and what the host writes there is what is used."""
    simulator = fft_simulator(csl, FFT_LAYOUT, "wse3", 4, 1)
    np.testing.assert_allclose(simulator.get("twiddle_array")[0, 0], [1, 0, 0, 1], atol=1e-7)
    data = random_data(4)
    simulator.set("X", pencils(data, 1))
    simulator.set("twiddle_array", np.tile([1.0, 0, 0, -1], (1, 1, 1)))
    simulator.launch("csfftExecC2C", 2, 0)
    np.testing.assert_allclose(gathered(simulator.get("X"), 4), np.fft.ifftn(data), atol=1e-6)


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize(("type", "words"), [("f32", 2), ("f16", 1)])
def test_no_link_carries_more_than_the_transpositions_need(csl: Csl, type: str, words: int) -> None:
    """Wavelets are sent from each PE to the next, so that each send crosses one link; a number goes the shortest way,
    four times."""
    width, side = 4, 1
    simulator = fft_simulator(csl, FFT_LAYOUT, "wse3", side * width, width, type)
    simulator.launch("csfftExecC2C", 0, 0)
    distances = sum(abs(sender - receiver) for sender in range(width) for receiver in range(width))
    assert simulator.stats()["wavelets_sent"] == 4 * width * distances * side**3 * words


def of_cb16(convert: Callable[[Any, str], Any], values: np.ndarray, dtype: type[Any]) -> np.ndarray:
    """Convert numbers to cb16, which are rounded first, or their bits to numbers."""
    every = [value if dtype is np.float32 else oracle.to_kind(value, "cb16") for value in values.ravel().tolist()]
    return np.array([convert(value, "cb16") for value in every], dtype).reshape(values.shape)


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("format", ["bf16", "cb16"])
def test_fft_in_programs_of_other_formats(csl: Csl, format: Literal["bf16", "cb16"]) -> None:
    """The elements may be of the program's 16-bit floats, and of no others."""
    params = {"N": "4", "WIDTH": "2"}
    options: dict[str, Any] = {"params": params, "memcpy": True, "channels": 1, "fp16_format": format}
    compiled = csl.layout(FFT_LAYOUT.replace("TYPE", "@fp16()"), None, "wse3", **options)
    assert compiled.warnings == []
    simulator = loomir.Simulator(loomir.compile(compiled.module, verify_each=False), step_limit=1_000_000)
    data = random_data(4)
    lines = pencils(data, 2)
    simulator.set("X", of_cb16(oracle.to_bits, lines, np.uint16) if format == "cb16" else lines)
    simulator.launch("csfftExecC2C", 0, 0)
    result = simulator.get("X")
    result = gathered(of_cb16(oracle.from_bits, result, np.float32) if format == "cb16" else result, 4)
    expected = np.fft.fftn(data)
    np.testing.assert_allclose(result, expected, rtol=0, atol=0.02 * np.abs(expected).max())
    with pytest.raises(CslError, match=f"must be f32 or @fp16\\(\\), which is {format} in this program"):
        csl.layout(FFT_LAYOUT.replace("TYPE", "f16"), None, "wse3", **options)


@pytest.mark.slow
def test_fft_away_from_the_corner(csl: Csl) -> None:
    """FFT_kernel with five arguments, as in the reference of SDK 1.4: PE (2, 1) is the first."""
    layout = FFT_LAYOUT.replace("@set_rectangle(WIDTH, WIDTH)", "@set_rectangle(WIDTH + 3, WIDTH + 1)")
    layout = layout.replace(".width = WIDTH, .height = WIDTH", ".width = WIDTH + 3, .height = WIDTH + 1")
    layout = layout.replace(
        "fft_helper.FFT_kernel(WIDTH, N, TYPE);",
        """fft_helper.FFT_kernel(2, 1, WIDTH, N, TYPE);
        for (@range(u16, WIDTH + 3)) |x| {
          for (@range(u16, WIDTH + 1)) |y| {
            if (x < 2 or x == WIDTH + 2 or y == 0) {
              @set_tile_code(x, y, "idle.csl", .{ .memcpy_params = memcpy.get_params(x) });
            }
          }
        }""",
    )
    idle = """
    param memcpy_params: comptime_struct;
    const sys_mod = @import_module("<memcpy/memcpy>", memcpy_params);
    var numbers = @zeros([32]f32);
    var numbers_ptr: [*]f32 = &numbers;
    var words = @zeros([4]u16);
    var words_ptr: [*]u16 = &words;
    fn c2c(norm: i16, inverse: i16) void { sys_mod.unblock_cmd_stream(); }
    fn real(norm: i16) void { sys_mod.unblock_cmd_stream(); }
    comptime {
      @export_symbol(numbers_ptr, "X"); @export_symbol(numbers_ptr, "twiddle_array");
      @export_symbol(words_ptr, "fft_time"); @export_symbol(c2c, "csfftExecC2C");
      @export_symbol(real, "csfftExecR2C"); @export_symbol(real, "csfftExecC2R");
    }
    """
    csl.write({"idle.csl": idle})
    simulator = fft_simulator(csl, layout, "wse2", 4, 2)
    data = random_data(4)
    placed = np.zeros((3, 5, 32), np.float32)
    placed[1:, 2:4] = pencils(data, 2)
    simulator.set("X", placed)
    simulator.launch("csfftExecC2C", 0, 0)
    np.testing.assert_allclose(gathered(simulator.get("X")[1:, 2:4], 4), np.fft.fftn(data), atol=1e-5)


FFT_PARTS_LAYOUT = """
param N: u16;
param WIDTH: u16;
const fft = @import_module("<kernels/fft/get_params>", .{
  .width = WIDTH, .N = N, .tensor_type = TYPE,
  .colors = [8]color{ @get_color(8), @get_color(9), @get_color(2), @get_color(3),
                      @get_color(4), @get_color(5), @get_color(6), @get_color(7) },
});
layout {
  @set_rectangle(WIDTH, WIDTH);
  for (@range(u16, WIDTH)) |x| {
    for (@range(u16, WIDTH)) |y| {
      @set_tile_code(x, y, "pe.csl", .{ .fft_params = fft.get_params(x, y) });
    }
  }
  @export_name("X", [*]TYPE, true);
  @export_name("main", fn() void);
}
"""

FFT_PARTS_PE = """
param fft_params: comptime_struct;
const ended_id = @get_local_task_id(20);
const fft = @import_module("<kernels/fft/fft3d>", @concat_structs(fft_params, .{
  .callback = ended_id,
  .input_queues = [4]u16{ 6, 7, 2, 3 }, .output_queues = [4]u16{ 2, 3, 4, 5 },
  .task_ids = [3]local_task_id{ @get_local_task_id(21), @get_local_task_id(22), @get_local_task_id(23) },
}));
var X_ptr: [*]TYPE = &fft.X;
var transforms: u16 = 0;
fn main() void { fft.c2c(1, 0); }
task ended() void {
  transforms += 1;
  if (transforms < 4) { fft.c2c(1, 0); }
}
comptime {
  @bind_local_task(ended, ended_id);
  @export_symbol(X_ptr, "X");
  @export_symbol(main);
}
"""


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize(("arch", "width", "type"), [("wse2", 2, "f32"), ("wse3", 2, "f16")])
def test_fft_in_a_program_of_ones_own(csl: Csl, arch: str, width: int, type: str) -> None:
    """Four orthonormal transforms of data give the data again; colors, queues and task ids are the program's."""
    compiled = csl.layout(
        FFT_PARTS_LAYOUT.replace("TYPE", type), FFT_PARTS_PE.replace("TYPE", type), arch,
        params={"N": "4", "WIDTH": str(width)},
    )  # fmt: skip
    assert compiled.warnings == []
    simulator = loomir.Simulator(loomir.compile(compiled.module, verify_each=False), step_limit=1_000_000)
    data = random_data(4)
    simulator.set("X", pencils(data, width))
    simulator.launch("main")
    tolerance = 1e-6 if type == "f32" else 1e-2
    np.testing.assert_allclose(gathered(simulator.get("X"), 4), data, atol=tolerance)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("FFT_kernel(WIDTH, N, TYPE)", "FFT_kernel(WIDTH, 12, TYPE)", "N is 12; N must be a power of two"),
        ("FFT_kernel(WIDTH, N, TYPE)", "FFT_kernel(WIDTH, 1, TYPE)", "N must be a power of two, 2 or more"),
        ("FFT_kernel(WIDTH, N, TYPE)", "FFT_kernel(3, N, TYPE)", "N is 4 and the width 3; N must be a multiple"),
        ("FFT_kernel(WIDTH, N, TYPE)", "FFT_kernel(2.0, N, TYPE)", "the width and N must be integers"),
        ("FFT_kernel(WIDTH, N, TYPE)", "FFT_kernel(WIDTH, N, i32)", "must be f32 or @fp16(), which is f16"),
        ("FFT_kernel(WIDTH, N, TYPE)", "FFT_kernel(WIDTH, N, 32)", "must be f32 or @fp16(), which is f16"),
        ("FFT_kernel(WIDTH, N, TYPE)", "FFT_kernel(1, 0, WIDTH, N, TYPE)", "2 x 2 PEs from (1, 0) on is not inside"),
        ("FFT_kernel(WIDTH, N, TYPE)", "FFT_kernel(WIDTH, 32, TYPE)",
         "each PE would hold 8192 complex numbers, for which the FFT takes 131200 bytes of the 49152"),
        ("FFT_kernel(WIDTH, N, TYPE)", "FFT_kernel(WIDTH, 512, TYPE)", "each PE would hold 33554432 complex numbers"),
        ("FFT_kernel(WIDTH, N, TYPE)", "FFT_kernel(WIDTH, N)", "takes 3 arguments, not 2"),
        ("@set_rectangle(WIDTH, WIDTH)", "@set_rectangle(WIDTH, 1)", "not inside of the program rectangle"),
        (".width = WIDTH, .memcpy", ".width = 4, .memcpy", "the width of FFT_kernel differs from that of the import"),
        (".memcpy = memcpy", ".memcpy = 3", "memcpy must be the module <memcpy/get_params>"),
        (", .memcpy = memcpy", "", "param 'memcpy' has no value"),
    ],
)  # fmt: skip
def test_wrong_arguments_of_the_fft(csl: Csl, old: str, new: str, message: str) -> None:
    assert old in FFT_LAYOUT
    layout = FFT_LAYOUT.replace(old, new).replace("TYPE", "f32")
    rejects(csl, layout, "", message, params={"N": "4", "WIDTH": "2"}, memcpy=True, channels=1)


@pytest.mark.one_in(3)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@get_color(9)", "@get_color(8)", "the eight colors must be distinct"),
        ("[8]color{ @get_color(8),", "[7]color{", "colors must be eight colors"),
        ("get_params(x, y)", "get_params(x, y + 1)", "for a PE outside of the square"),
        ("get_params(x, y)", "get_params(x, 0.5)", "get_params takes two integers"),
        (".N = N, ", "", "param 'N' has no value"),
        ("  .callback = ended_id,\n", "", "param 'callback' has no value"),
        (".callback = ended_id", ".callback = 20", "callback must be a local_task_id"),
        ("[4]u16{ 6, 7, 2, 3 }", "[2]u16{ 6, 7 }", "input_queues and output_queues must be four queue ids"),
        ("[4]u16{ 6, 7, 2, 3 }", "[4]u16{ 6, 7, 2, 2 }", "the four input_queues must be distinct"),
        ("[4]u16{ 2, 3, 4, 5 }", "[4]u16{ 2, 2, 4, 5 }", "the four output_queues must be distinct"),
        ("[3]local_task_id{ @get_local_task_id(21)", "[3]local_task_id{ @get_local_task_id(22)",
         "task_ids and callback must be distinct"),
        ("= @get_local_task_id(20)", "= @get_local_task_id(23)", "task_ids and callback must be distinct"),
    ],
)  # fmt: skip
def test_wrong_parameters_of_the_fft(csl: Csl, old: str, new: str, message: str) -> None:
    assert old in FFT_PARTS_LAYOUT + FFT_PARTS_PE
    layout, pe = (text.replace(old, new).replace("TYPE", "f32") for text in (FFT_PARTS_LAYOUT, FFT_PARTS_PE))
    rejects(csl, layout, pe, message, params={"N": "4", "WIDTH": "2"})


@pytest.mark.slow
def test_wrong_norm(csl: Csl) -> None:
    simulator = fft_simulator(csl, FFT_LAYOUT, "wse3", 2, 1)
    with pytest.raises(loomir.LoomError, match=r"the norm must be 0 \(backward\), 1 \(ortho\) or 2 \(forward\)"):
        simulator.launch("csfftExecC2C", 3, 0)
