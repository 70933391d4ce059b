"""The libraries: each function at run time and, where it can be, at compile time, against Python."""

# ruff: noqa: E501 (a program is one line of a table)

from __future__ import annotations

import math

import numpy as np
import pytest

from loomir import targets
from loomir.diagnostics.errors import LoomError
from loomir.diagnostics.locations import location_of
from loomir.dialects import flow
from loomir.host.sdk import trace_records
from loomir.runtime.executors import EXECUTOR

from .harness import Csl

MATH = {
    "abs": abs, "sign": lambda x: math.copysign(1.0, x) if x else 0.0, "ceil": lambda x: float(math.ceil(x)),
    "floor": lambda x: float(math.floor(x)), "inv": lambda x: 1 / x, "tanh": math.tanh, "cos": math.cos, "exp": math.exp,
    "sin": math.sin, "sig": lambda x: 1 / (1 + math.exp(-x)), "sqrt": math.sqrt, "invsqrt": lambda x: 1 / math.sqrt(x),
    "log": math.log,
}  # fmt: skip
POSITIVE = {"sqrt", "invsqrt", "log"}


@pytest.mark.one_in(3)
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


@pytest.mark.slow
def test_allocations_of_every_type(csl: Csl) -> None:
    types = ["i16", "u16", "f16", "i32", "u32", "f32", "i64", "u64"]
    calls = [call.format(type=type) for type in types for call in ("m.malloc({type}, 3)", "m.malloc_{type}(1)")]
    lines = [f"const p{n} = {call}; p{n}[0] = {n + 1}{'.0' if 'f' in call else ''};" for n, call in enumerate(calls)]
    seen = [f"out[{n}] = @as(f32, p{n}[0]);" for n in range(len(calls))]
    spaces = [f"if (m.has_enough_space({type}, COUNT)) {{ room[{n}] = 1; }}" for n, type in enumerate(types)]
    text = f"""
    const m = @import_module("<malloc>", .{{ .buffer_num_words = 76, .asserts_enabled = true }});
    var out = @zeros([{len(calls)}]f32);
    var room = @zeros([{len(types)}]u16);
    fn main() void {{
      {" ".join(spaces).replace("COUNT", "38")}
      {" ".join(lines)}
      {" ".join(seen)}
      m.free();
      _ = m.malloc_u16(1);
    }}
    """
    result = csl.run(text, {"out": "f32", "room": "u16"})
    assert result["out"].tolist() == list(range(1, len(calls) + 1))
    assert result["room"].tolist() == [1, 1, 1, 1, 1, 1, 0, 0]


@pytest.mark.slow
def test_traces_of_every_type(csl: Csl) -> None:
    values = {
        "i8": -3, "u8": 200, "i16": -300, "u16": 40000, "i32": -70000, "u32": 4_000_000_000, "i64": -(2**40) - 5,
        "u64": 2**63 + 9, "f32": 2.5, "f16": -0.5,
    }  # fmt: skip
    variables = "".join(f"var v_{type}: {type} = {value};\n" for type, value in values.items())
    calls = "".join(f"t.trace_{type}(v_{type}); t.trace(v_{type});\n" for type in values)
    text = f"""
    const t = @import_module("<debug>", .{{ .key = "k", .buffer_size = 200 }});
    {variables}
    fn main() void {{ {calls} t.trace_bool(true); t.trace(false); t.trace_string("abc"); t.trace("d"); }}
    """
    simulator = csl.start(text, {})
    simulator.launch("main")
    (memory,), _ = simulator._machine.image(0)
    address = next(
        op.address.value.data
        for op in simulator.program.module.walk()
        if isinstance(op, flow.BufferOp) and op.sym_name.data == "loom.trace.k"
    )
    traced, dropped = trace_records.decode(memory[address : address + 202], memory, "the trace")
    assert traced == [number for value in values.values() for number in (value, value)] + [True, False, "abc", "d"]
    assert dropped == 0


def test_an_allocation_without_room_ends_the_run(csl: Csl) -> None:
    text = """
    const memory = @import_module("<malloc>", .{ .buffer_num_words = 8, .asserts_enabled = true });
    var out = @zeros([1]f32);
    fn main(count: u16) void {
      const some = memory.malloc(f32, count);
      some[count - 1] = 2.5;
      out[0] = some[count - 1];
      memory.free();
    }
    """
    simulator = csl.start(text, {"out": "f32"}, {"main": "fn(u16) void"})
    simulator.launch("main", 4)
    assert simulator.get("out")[0, 0, 0] == 2.5
    with pytest.raises(LoomError, match="<malloc>: the buffer has no room for this allocation") as caught:
        simulator.launch("main", 5)
    assert (caught.value.location or "").endswith("pe.csl:5:20")


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


@pytest.mark.parametrize(
    ("imports", "message"),
    [
        ('«@import_module("<debug>", .{ .key = "k", .buffer_size = 0 })»', "buffer_size is 0; the buffer needs"),
        ('«@import_module("<debug>", .{ .key = "k", .buffer_size = -1 })»', "buffer_size is -1; the buffer needs"),
        ('«@import_module("<malloc>", .{ .buffer_num_words = 0 })»', "buffer_num_words is 0; the buffer needs"),
        (
            """@import_module("<debug>", .{ .key = "k", .buffer_size = 9 });
         const other = «@import_module("<debug>", .{ .key = "k", .buffer_size = 9 })»""",
            "give one of them another '.key'",
        ),
    ],
)
def test_buffers_of_libraries_that_cannot_be(csl: Csl, imports: str, message: str) -> None:
    csl.refuses(f"const one = {imports};", message)


@pytest.mark.slow
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


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_every_function_of_simprint(csl: Csl, arch: str) -> None:
    text = """
    const print = @import_module("<simprint>");
    const quiet = @import_module("<simprint>", .{ .enable = false });
    var n: u16 = 42;
    var m: u32 = 70000;
    var x: f32 = -2.25;
    fn main() void {
      print.print_u16_binary(n); print.print_string(" ");
      print.print_u16_decimal(n); print.print_string(" ");
      print.print_u16_hex(n); print.print_string("\\n");
      print.print_u32_binary(m); print.print_string(" ");
      print.print_u32_decimal(m); print.print_string(" ");
      print.print_u32_hex(m); print.print_string("\\n");
      print.print_f16(1.5); print.print_string(" "); print.print_f32(x); print.print_string("\\n");
      print.fmt("{d} {X} {b} {f}", .{ n, n, n, @as(f16, 42.0) });
      print.fmt_no_nl("{d} {X}", .{ m, m });
      print.print_string(" and ");
      print.fmt_no_nl("{b} {f}", .{ n, x });
      print.print_string("\\nbefore\\x00behind\\n");
      print.print_string("\\n");
      quiet.fmt("{d}", .{n}); quiet.fmt_no_nl("{d}", .{n}); quiet.fmt_with_coords("{d}", .{n});
      quiet.print_string("no"); quiet.print_f32(x); quiet.print_u16_hex(n); quiet.print_u32_decimal(m);
      print.fmt_with_coords("{{d} {d}", .{n});
    }
    """
    simulator = csl.start(text, {}, width=2, arch=arch)
    simulator.launch("main")
    for pe in range(2):
        log = "".join(entry[-1] for entry in simulator._machine.log if entry[1] == pe)
        assert log.split("\n") == [
            "0000000000101010 42 002A",
            "00000000000000010001000101110000 70000 00011170",
            "1.5 -2.25",
            "42 002A 0000000000101010 42.0",
            "70000 00011170 and 0000000000101010 -2.25",
            "before",
            f"PE({pe},0): " + "{d} 42",
            "",
        ]


FORMATS = [
    ('"{d}", .{ 1.5 }', "<simprint>: '{d}' takes an integer, but value 1 is of type 'comptime_float'"),
    ('"{f}", .{ n }', "'{f}' takes a float, but value 1 is of type 'u16'"),
    ('"{d} {d}", .{ n }', "the format '{d} {d}' takes more than the 1 values given"),
    ('"{d}", .{ n, n }', "the format '{d}' takes 1 of the 2 values given"),
    ('"{q}", .{ n }', "'{q}' is not a specifier; use {d}, {X}, {b}, {f}"),
    ('"{d", .{ n }', "'{d' is not a specifier"),
    ('"{d}", n', "the values of a format are a tuple"),
]


@pytest.mark.parametrize(("call", "message"), FORMATS)
@pytest.mark.parametrize("function", ["fmt", "fmt_no_nl", "fmt_with_coords"])
def test_formats_that_do_not_fit(csl: Csl, function: str, call: str, message: str) -> None:
    text = f"""
    const print = @import_module("<simprint>");
    var n: u16 = 3;
    task t() void {{ «print.{function}({call})»; }}
    comptime {{ @bind_local_task(t, @get_local_task_id(8)); }}
    """
    csl.refuses(text, message)


def test_signed_integers_are_printed_with_a_warning(csl: Csl) -> None:
    text = """
    const print = @import_module("<simprint>");
    var n: i16 = -5;
    fn main() void {
      print.fmt("{d}", .{n});
    }
    """
    simulator = csl.start(text, {})
    simulator.launch("main")
    assert simulator._machine.log[-1][-1] == "65531\n"
    layout = 'layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{}); @export_name("main", fn() void); }'
    (warning,) = csl.layout(layout, text + "comptime { @export_symbol(main); }").warnings
    assert "pe.csl:5:7: warning: <simprint>: '{d}' takes a u16 or u32" in warning


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_the_cycle_counter_is_reset_for_all_importers(csl: Csl, arch: str) -> None:
    text = """
    const time = @import_module("<time>");
    const other = @import_module("<time>");
    var stamps = @zeros([3, 3]u16);
    var words = @zeros([3]u16);
    fn keep(row: u16) void { for (@range(u16, 3)) |i| { stamps[row, i] = words[i]; } }
    fn main() void {
      time.enable_tsc();
      time.get_timestamp(&words); keep(0);
      for (@range(u16, 100)) |i| { stamps[2, 0] += i; }
      time.reset_tsc_counter();
      time.get_timestamp(&words); keep(1);
      other.get_timestamp(&words); keep(2);
      time.disable_tsc();
    }
    """
    simulator = csl.start(text, {"stamps": "u16"}, arch=arch)
    simulator.launch("main")
    simulator.launch("main")
    before, after, later = ([int(word) for word in row] for row in simulator.get("stamps")[0, 0].reshape(3, 3))
    # The second launch begins after the first has read the counter twice since its reset.
    assert 0 < after[0] < later[0] < before[0]
    assert before[1:] == after[1:] == later[1:] == [0, 0]


@pytest.mark.parametrize("executor", ["reference", "core"])
def test_the_cycle_counter_begins_where_it_is_enabled(csl: Csl, executor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 0 the first time, and it goes on from there; that, and disabling it, costs nothing."""
    text = """
    const time = @import_module("<time>");
    var stamps = @zeros([5]u16);
    var words = @zeros([3]u16);
    fn begin() void {
      time.get_timestamp(&words); stamps[0] = words[0];
      time.enable_tsc();
      time.get_timestamp(&words); stamps[1] = words[0];
    }
    fn again() void {
      time.get_timestamp(&words); stamps[2] = words[0];
      time.disable_tsc(); time.enable_tsc();
      time.get_timestamp(&words); stamps[3] = words[0];
      time.get_timestamp(&words); stamps[4] = words[0];
    }
    """
    monkeypatch.setenv(EXECUTOR, executor)
    functions = dict.fromkeys(("begin", "again"), "fn() void")
    simulator = csl.start(text, {"stamps": "u16"}, functions, arch="wse3")
    simulator.launch("begin")
    simulator.launch("again")
    timing = targets.get("wse3").timing
    never, first, *later = map(int, simulator.get("stamps")[0, 0])
    assert never == timing.task_start + timing.timestamp
    assert first == timing.timestamp
    assert later[0] > first
    assert later[1] - later[0] == later[2] - later[1] > 0


def test_performance_counters_are_refused(csl: Csl) -> None:
    text = """
    const time = @import_module("<time>");
    var words = @zeros([3]u16);
    task t() void { «time.get_perf_cntr(&words, 0)»; }
    comptime { @bind_local_task(t, @get_local_task_id(8)); }
    """
    csl.refuses(text, "<time>: the performance counters are not simulated")


def payload(commands: list[int], ignored: list[bool], rest: bool, entrypoint: int) -> int:
    """Return a control wavelet's payload: commands of three bits at bits 22 to 29 and 0 to 15, the task at 16."""
    bits = entrypoint << 16
    for index in range(8):
        command = (commands[index], ignored[index]) if index < len(commands) else (0, rest)
        for bit, is_set in enumerate((command[0] & 1, command[0] >> 1, command[1])):
            place = 22 + 3 * index + bit
            bits |= int(is_set) << (place if place < 30 else place - 30)
    return bits


@pytest.mark.parametrize("count", [1, 2, 3, 4, 8])
def test_payloads_of_several_commands(csl: Csl, count: int) -> None:
    commands = [1, 2, 0, 3, 1, 1, 2, 3][:count]
    ignored = [True, False, False, True, False, True, True, False][:count]
    names = ", ".join(f"c.opcode.{('NOP', 'SWITCH_ADV', 'SWITCH_RST', 'TEARDOWN')[command]}" for command in commands)
    flags = ", ".join(str(flag).lower() for flag in ignored)
    for rest in (False, True):
        for entrypoint, number in (("@get_control_task_id(35)", 35), ("{}", 31)):
            call = f"c.encode_payload({count}, [{count}]c.opcode{{ {names} }}, [{count}]bool{{ {flags} }}, "
            call += f"{str(rest).lower()}, {entrypoint})"
            shown = csl.value(call, 'const c = @import_module("<control>");')
            assert int(shown) == payload(commands, ignored, rest, number)


REFUSED = [
    ("malloc", "_ = «m.malloc(i8, 3)»", "or @fp16(), not 'i8'"),
    ("malloc", "_ = m.malloc(f32, «wide»)", "expected 'u16', found 'u32'"),
    ("random", "_ = m.random_f32(«1», 2.0)", "an integer does not convert to 'f32'"),
    ("control", "_ = m.encode_control_task_payload(«@get_local_task_id(9)»)", "expected 'control_task_id'"),
    ("control", "_ = «m.encode_single_payload(m.opcode.NOP, false, 3, 0)»", "must be a control_task_id or {}"),
    ("directions", "_ = m.flip(«1»)", "expected 'direction', found 'comptime_int'"),
    ("time", "m.get_timestamp(«&four»)", "expected '*[3]u16'"),
    ("debug", "«m.trace(four)»", "trace takes a bool, a number of 8, 16, 32 or 64 bits or a string, not '[4]u16'"),
    ("layout", "_ = «m.get_z_coord»()", "does not declare 'get_z_coord'"),
]


@pytest.mark.parametrize(("library", "use", "message"), REFUSED)
def test_what_libraries_refuse(csl: Csl, library: str, use: str, message: str) -> None:
    params = {"malloc": ", .{ .buffer_num_words = 9 }", "debug": ', .{ .key = "k", .buffer_size = 9 }'}.get(library, "")
    text = f"""
    const m = @import_module("<{library}>"{params});
    var wide: u32 = 1;
    var four = @zeros([4]u16);
    task t() void {{ {use}; }}
    comptime {{ @bind_local_task(t, @get_local_task_id(8)); }}
    """
    csl.refuses(text, message)


@pytest.mark.parametrize(
    ("module", "use", "marked"),
    [
        ('"<layout>"', "_ = m.get_x_coord()", "call"),
        ('"<time>"', "m.reset_tsc_counter()", "import"),
        ('"<timer>", .{ .timerCount = 2 }', "m.start(0)", "import"),
        ('"<tile_config>"', "_ = m.get_fabric_coord(m.fabric_coord.X)", "call"),
    ],
)
def test_libraries_of_pes_are_refused_in_the_layout(csl: Csl, module: str, use: str, marked: str) -> None:
    text = f"const m = «@import_module({module})»;" if marked == "import" else f"const m = @import_module({module});"
    if marked == "call":
        use = use.replace("m.get", "«m.get", 1) + "»"
    text += f'layout {{ @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{{}}); {use}; }}'
    csl.refuses("", "this part of the library belongs in a PE's program", layout=text)
