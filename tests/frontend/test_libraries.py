"""The libraries: each function at run time and, where it can be, at compile time, against Python."""

# ruff: noqa: E501 (a program is one line of a table)

from __future__ import annotations

import math

import numpy as np
import pytest

from loomir.diagnostics.locations import location_of

from .harness import Csl

MATH = {
    "abs": abs, "sign": lambda x: math.copysign(1.0, x) if x else 0.0, "ceil": lambda x: float(math.ceil(x)),
    "floor": lambda x: float(math.floor(x)), "inv": lambda x: 1 / x, "tanh": math.tanh, "cos": math.cos, "exp": math.exp,
    "sin": math.sin, "sig": lambda x: 1 / (1 + math.exp(-x)), "sqrt": math.sqrt, "invsqrt": lambda x: 1 / math.sqrt(x),
    "log": math.log,
}  # fmt: skip
POSITIVE = {"sqrt", "invsqrt", "log"}


@pytest.mark.parametrize("type", ["f32", "f16"])
@pytest.mark.parametrize("name", MATH)
def test_math(csl: Csl, name: str, type: str) -> None:
    numbers = [0.5, 1.0, 2.25, 3.75] if name in POSITIVE else [0.5, -1.0, 2.25, -3.75]
    literals = ", ".join(map(str, numbers))
    calls = ", ".join(f"math.{name}_{type}({x})" if name != "sign" else f"math.sign(@as({type}, {x}))" for x in numbers)
    text = f"""
    const math = @import_module("<math>");
    var given = [4]{type}{{ {literals} }};
    var known = [4]{type}{{ {calls} }};
    var out = @zeros([4]{type});
    fn main() void {{ for (@range(u16, 4)) |i| {{ out[i] = math.{name}(given[i]); }} }}
    """
    result = csl.run(text, {"out": type, "known": type})
    want = np.array([MATH[name](x) for x in numbers])
    tolerance = 2e-3 if type == "f16" else 2e-6
    np.testing.assert_allclose(result["out"].astype(float), want, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(result["known"].astype(float), want, rtol=tolerance, atol=tolerance)


@pytest.mark.slow
def test_math_of_two(csl: Csl) -> None:
    text = """
    const math = @import_module("<math>");
    var a: f32 = 2.5;
    var b: f32 = -3.0;
    var n: i16 = -7;
    var u: u32 = 9;
    var out = @zeros([10]f32);
    fn main() void {
      out[0] = math.max(a, b); out[1] = math.min(a, b); out[2] = math.pow(a, 2.0); out[3] = @as(f32, math.max(n, 4));
      out[4] = @as(f32, math.min(u, 4)); out[5] = @as(f32, math.abs(n)); out[6] = @as(f32, math.sign(n));
      out[7] = math.fscale(a, 3); out[8] = math.max_f32(b, -4.0); out[9] = math.pow_f32(4.0, 0.5);
    }
    """
    out = csl.run(text, {"out": "f32"})["out"]
    np.testing.assert_allclose(out, [2.5, -3, 6.25, 4, 4, 7, -1, 20, -3, 2], rtol=1e-6)


def test_math_of_bits(csl: Csl) -> None:
    holds = [
        "math.isNaN(math.NaN(f32))", "!math.isNaN(@as(f32, 1.0))", "math.isInf(math.POSITIVE_INF(f16))",
        "!math.isFinite(math.NEGATIVE_INF_f32)", "math.isFinite(@as(f16, 1.0))", "math.signbit(@as(f32, -0.0))",
        "!math.signbit(@as(f32, 0.0))", "math.NEGATIVE_INF(f32) < 0.0", "math.PI > 3.14159 and math.E < 2.7183",
    ]  # fmt: skip
    csl.comptime(
        "\n".join(f"@comptime_assert({condition});" for condition in holds), 'const math = @import_module("<math>");'
    )


def test_directions(csl: Csl) -> None:
    holds = [
        "d.rotate_clockwise(NORTH) == EAST", "d.rotate_clockwise(WEST) == NORTH", "d.rotate_counterclockwise(NORTH) == WEST",
        "d.flip_vertical(NORTH) == SOUTH", "d.flip_vertical(EAST) == EAST", "d.flip_horizontal(EAST) == WEST",
        "d.flip(WEST) == EAST", "d.flip(NORTH) == SOUTH", "d.rotate_clockwise(RAMP) == RAMP",
    ]  # fmt: skip
    csl.comptime(
        "\n".join(f"@comptime_assert({condition});" for condition in holds), 'const d = @import_module("<directions>");'
    )


def test_layout_and_time(csl: Csl) -> None:
    text = """
    const place = @import_module("<layout>");
    const time = @import_module("<time>");
    var out = @zeros([4]u16);
    var words = @zeros([3]u16);
    fn main() void {
      time.enable_tsc();
      time.get_timestamp(&words);
      out[0] = place.get_x_coord(); out[1] = place.get_y_coord(); out[2] = words[2];
      const before = words[0];
      time.get_timestamp(&words);
      if (words[0] > before) { out[3] = 1; }
    }
    """
    simulator = csl.start(text, {"out": "u16"}, width=3, height=2)
    simulator.launch("main")
    out = simulator.get("out")
    assert [[list(map(int, out[y, x])) for x in range(3)] for y in range(2)] == [
        [[x, y, 0, 1] for x in range(3)] for y in range(2)
    ]


def test_random(csl: Csl) -> None:
    text = """
    const random = @import_module("<random>", .{ .prng_id = 0 });
    var out = @zeros([200]f32);
    fn main() void { random.set_global_prng_seed(7); for (@range(u16, 200)) |i| { out[i] = random.random_f32(-2.0, 3.0); } }
    """
    out = csl.run(text, {"out": "f32"})["out"]
    assert -2 <= out.min() < -1.5 and 2.5 < out.max() <= 3
    assert abs(out.mean() - 0.5) < 0.5


def test_malloc(csl: Csl) -> None:
    text = """
    const memory = @import_module("<malloc>", .{ .buffer_num_words = 8 });
    var out = @zeros([4]u16);
    fn main() void {
      const a = memory.malloc(u16, 3);
      const b = memory.malloc_u16(2);
      a[2] = 7; b[0] = 9; b[1] = a[2];
      out[0] = b[1]; out[1] = a[2];
      if (memory.has_enough_words(3)) { out[2] = 1; }
      if (memory.has_enough_words(4)) { out[3] = 1; }
      memory.free();
    }
    """
    assert csl.run(text, {"out": "u16"})["out"].tolist() == [7, 7, 1, 0]


def test_simprint(csl: Csl) -> None:
    text = """
    const print = @import_module("<simprint>");
    var out = @zeros([1]i16);
    fn main() void {
      out[0] = 5;
      print.print_string("hello\\n");
      print.fmt("x = {d}, f = {f}", .{ out[0], @as(f32, 1.5) });
      print.fmt_no_nl("{s} ", .{ "end" });
      print.print_u16_hex(255);
    }
    """
    simulator = csl.start(text, {"out": "i16"})
    simulator.launch("main")
    log = "".join(entry[-1] for entry in simulator._machine.log)
    assert log.startswith("hello\nx = 5, f = 1.5")
    assert log.endswith("end 00FF")


def test_control(csl: Csl) -> None:
    holds = [
        "c.encode_control_task_payload(@get_control_task_id(35)) >> 16 & 0x3f == 35",
        "c.encode_single_payload(c.opcode.SWITCH_ADV, true, {}, 77) & 0xffff == 77",
        "c.encode_single_payload(c.opcode.SWITCH_ADV, true, {}, 0) >> 22 & 7 == 5",
    ]
    csl.comptime(
        "\n".join(f"@comptime_assert({condition});" for condition in holds), 'const c = @import_module("<control>");'
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('const m = @import_module("<math>");\ncomptime { _ = m.sqrt(@as(i16, 4)); }', "float"),
        ('const m = @import_module("<memcpy/memcpy>");\ncomptime { _ = m.unblock; }', "does not declare 'unblock'"),
        ('const m = @import_module("<time>");\nvar w = @zeros([3]u16);\ncomptime { m.get_timestamp(&w); }', "cycles are counted at run time only"),
    ],
)  # fmt: skip
def test_misuse(csl: Csl, text: str, message: str) -> None:
    with pytest.raises(Exception, match=message):
        csl.pe(text)


def test_what_a_library_refuses_is_reported_at_the_call(csl: Csl) -> None:
    text = """
    const math = @import_module("<math>");
    fn root(x: anytype) @type_of(x) { return «math.sqrt(x)»; }
    comptime { _ = root(@as(i16, 4)); }
    """
    error = csl.refuses(text, "sqrt takes a floating point number (f32 or a 16-bit format), not 'i16'")
    assert "math.csl" not in str(error)


def test_what_a_library_refuses_deep_inside_is_reported_at_the_call(csl: Csl) -> None:
    text = """
    const control = @import_module("<control>");
    comptime { _ = «control.encode_payload(3, [3]control.opcode{ control.opcode.NOP, control.opcode.NOP, control.opcode.NOP },
                                           [3]bool{ false, false, false }, false, @get_color(3))»; }
    """
    csl.refuses(text, "the entrypoint must be a control_task_id or {}")


def test_a_library_with_params_that_do_not_fit_is_reported_at_its_import(csl: Csl) -> None:
    text = """
    const memory = «@import_module("<malloc>", .{ .buffer_num_words = 70000 })»;
    comptime { @comptime_print(memory.buffer_num_words); }
    """
    csl.refuses(text, "70000 does not fit in 'u16'", notes=["found here in the library"])


def test_code_of_a_library_has_the_place_of_the_call(csl: Csl) -> None:
    text = """
    const math = @import_module("<math>");
    var x: f32 = 2.0;
    task main() void {
      x = math.sqrt(x);
    }
    comptime { @bind_local_task(main, @get_local_task_id(8)); @activate(@get_local_task_id(8)); }
    """
    (op,) = (op for op in csl.pe(text).module.walk() if op.name == "math.sqrt")
    assert location_of(op) == f"{csl.directory / 'pe.csl'}:5:11"
