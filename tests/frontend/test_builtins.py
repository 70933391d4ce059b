"""Builtins of types, values, strings, identifiers and modules, as the language reference defines them."""

from __future__ import annotations

import json
import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from loomir.frontend.registry import BUILTINS

from .harness import Csl

REFERENCE = """
activate allocate_fifo as assert bind_control_task bind_data_task bind_local_task bind_rotating_tasks bitcast block
comptime_assert comptime_print concat_structs constants dfilt dimensions element_count element_type export_name
export_symbol field fp16 get_array get_color get_config get_config_unchecked get_control_task_id get_data_task_id
get_dsd get_dsr get_filter_id get_input_queue get_int get_local_task_id get_output_queue get_rectangle
get_string_from_byte get_symbol_id get_symbol_value get_tensor_ptr get_ut_id has_exported_tensors has_field
import_comptime_value import_module increment_dsd_offset initialize_queue is_arch is_comptime is_same_type load_to_dsr
map ptrcast queue_flush random16 range range_start range_step range_stop rank rpc set_active_prng set_color_config
set_config set_config_unchecked set_control_task_table set_dsd_base_addr set_dsd_length set_dsd_stride
set_empty_queue_handler set_fifo_read_length set_fifo_write_length set_local_color_config set_rectangle
set_teardown_handler set_tile_code strcat strlen type_of unblock zeros
add16 addc16 and16 clz ctz fabsh fabss faddh faddhs fadds fh2s fh2xp16 fmach fmachs fmacs fmaxh fmaxs fmovh fmovs fmulh
fmuls fnegh fnegs fnormh fnorms fs2h fs2xp16 fscaleh fscales fsubh fsubs mov16 mov32 or16 popcnt sar16 sll16 slr16
sub16 xor16 xp162fh xp162fs
get_sr get_xdsr load_to_dsr_xdsr load_to_dsr_xdsr_sr
"""
"""Every builtin of the reference, of both versions."""


@pytest.mark.parametrize("name", REFERENCE.split())
def test_every_builtin_is_known(name: str) -> None:
    assert f"@{name}" in BUILTINS


HOLDS = [
    # Conversions
    "@as(f16, 10) == 10.0",
    "@as(i16, 10.2) == 10",
    "@as(i16, 10.8) == 10",
    "@as(i16, -10.8) == -10",
    "@as(bool, 0) == false",
    "@as(bool, -0.0) == false",
    "@as(bool, -5)",
    "@as(i16, true) == 1",
    "@as(f32, false) == 0.0",
    "@as(u8, 300) == 44",
    "@as(i8, @as(u8, 200)) == -56",
    "@is_same_type(@type_of(@as(f16, 10)), f16)",
    "@as(u32, @as(f32, 3.99)) == 3",
    "@as(mode, 4) == mode.busy",
    "@as(u16, mode.busy) == 4",
    "@as(f32, mode.busy) == 4.0",
    "@bitcast(u16, @as(f16, 1.0)) == 0x3c00",
    "@bitcast(f32, @as(u32, 0x40490fdb)) > 3.14",
    "@bitcast(u16, @as(cb16, 6.0)) == 0b0101100100000000",
    "@bitcast(u16, @as(bf16, 6.0)) == 0b0100000011000000",
    "@bitcast(i16, @as(u16, 0xffff)) == -1",
    "@bitcast(u8, @as(i8, -1)) == 255",
    # Types
    "@is_same_type(@type_of(1), comptime_int)",
    "@is_same_type(@type_of(1.5), comptime_float)",
    '@is_same_type(@type_of("x"), comptime_string)',
    "@is_same_type(@type_of(i16), type)",
    "@is_same_type(@type_of({}), void)",
    "@is_same_type(@fp16(), f16)",
    "!@is_same_type(i16, u16)",
    "!@is_same_type(pair, other_pair)",
    "@is_same_type(@type_of(a_pair), pair)",
    "@is_same_type(@type_of(.{ 1, 2.0 }), @type_of(.{ 3, 4.0 }))",
    "!@is_same_type(@type_of(.{ 1, 2.0 }), @type_of(.{ 1.0, 2 }))",
    "@is_comptime()",
    # Arrays
    "@zeros([3]i16)[2] == 0",
    "@zeros([2, 2]bool)[1, 1] == false",
    "@constants([2, 3]f32, 2.5)[1, 2] == 2.5",
    "@is_same_type(@type_of(@constants([4, 5]i16, 10)), [4, 5]i16)",
    "@dimensions([3, 5, 7]f16)[1] == 5",
    "@is_same_type(@type_of(@dimensions([3, 5, 7]f16)), [3]u32)",
    "@element_count([3, 5, 7]f16) == 105",
    "@is_same_type(@type_of(@element_count([2]i8)), u32)",
    "@is_same_type(@element_type([3, 5]f16), f16)",
    "@rank([3, 5, 7]f16) == 3",
    "@is_same_type(@type_of(@rank([2]i8)), u16)",
    # Structs
    '@field(a_pair, "second") == 2',
    '@field(.{ .a = 10 }, "a") == 10',
    '@has_field(a_pair, "first")',
    '!@has_field(a_pair, "third")',
    '!@has_field(.{ 1, 2 }, "first")',
    "@concat_structs(.{ .a = 1 }, .{ .b = -1 }).b == -1",
    "@concat_structs(.{ .a = 1 }, .{}).a == 1",
    "@concat_structs(.{ 1, 2 }, .{ 3 })[2] == 3",
    # Strings
    '@strlen("") == 0',
    '@strlen("abc\\x00xyz") == 7',
    '@strlen("\u3053") == 3',
    '@strlen(if (42 == 42) "abc" else "abc123") == 3',
    '@strcat("a", "bc", "") == "abc"',
    '@strcat() == ""',
    '@get_array("abc")[2] == 99',
    '@is_same_type(@type_of(@get_array("abc")), [3]u8)',
    '@get_string_from_byte(65) == "A"',
    "@get_string_from_byte('\\n') == \"\\n\"",
    "@strlen(@get_string_from_byte(0)) == 1",
    # Identifiers
    "@get_int(@get_color(7)) == 7",
    "@is_same_type(@type_of(@get_int(@get_local_task_id(29))), u16)",
    "@is_same_type(@type_of(@get_int(@as(i8, -10))), i8)",
    "@is_same_type(@type_of(@get_int(mode.busy)), u32)",
    "@get_int(mode.busy) == 4",
    "@is_same_type(@type_of(@get_color(0)), color)",
    "@is_same_type(@type_of(@get_input_queue(2)), input_queue)",
    "@is_same_type(@type_of(@get_output_queue(2)), output_queue)",
    "@is_same_type(@type_of(@get_local_task_id(9)), local_task_id)",
    "@is_same_type(@type_of(@get_control_task_id(63)), control_task_id)",
    "@is_same_type(@type_of(@get_data_task_id(@get_color(3))), data_task_id)",
    "@get_color(3) == @get_color(3)",
    "@get_color(3) != @get_color(4)",
    "@get_local_task_id(9) != @get_local_task_id(10)",
    '@is_arch("wse2") and !@is_arch("wse3")',
    # Ranges
    "@range_start(@range(i32, 3, 9, 2)) == 3",
    "@range_stop(@range(i32, 3, 9, 2)) == 9",
    "@range_step(@range(i32, 3, 9, 2)) == 2",
    "@range_start(@range(u8, 4)) == 0 and @range_step(@range(u8, 4)) == 1",
    "@is_same_type(@type_of(@range_stop(@range(u32, 4))), u32)",
    # The rectangle
    "@get_rectangle().width == 1 and @get_rectangle().height == 1",
    "@is_same_type(@type_of(@get_rectangle().width), u16)",
    "@get_rectangle().offsets.width == 4 and @get_rectangle().offsets.height == 1",
    "@get_rectangle().fabric.width == 8 and @get_rectangle().fabric.height == 3",
]

DECLARATIONS = """
const mode = enum(u32) { idle, busy = 4 };
const pair = struct { first: i16, second: i16 };
const other_pair = struct { first: i16, second: i16 };
const a_pair = pair{ .first = 1, .second = 2 };
"""


def test_holds_at_compile_time(csl: Csl) -> None:
    lines = "\n".join(f"@comptime_assert({condition});" for condition in HOLDS)
    csl.comptime(lines, DECLARATIONS)


def test_holds_false_is_told(csl: Csl) -> None:
    csl.refuses("comptime { «@comptime_assert(1 == 2)»; }", "comptime_assert failed: '1 == 2' does not hold")
    csl.refuses('comptime { «@comptime_assert(false, "too few")»; }', "comptime_assert failed: too few")


REFUSED = [
    ("«@as(i16)»", "@as takes 2 arguments, not 1"),
    ("@as(«3», 4)", "a type is needed here, not a value of type 'comptime_int'"),
    ('«@as(i16, "four")»', "@as converts between numbers, truth values and enums, not 'comptime_string' to 'i16'"),
    ("«@as(mode, 3)»", "3 is not a member of 'enum(u32) { idle, busy }'"),
    ("«@as(other_mode, mode.busy)»", "is not converted to another enum directly"),
    ("«@bitcast(u16, 1.0)»", "'comptime_float' has no bits"),
    ("«@bitcast(u16, @as(u32, 1))»", "@bitcast keeps the width: 'u32' has 32 bits and 'u16' 16"),
    ("«@ptrcast(*i16, 3)»", "@ptrcast converts pointers to pointers"),
    ("@zeros(«i16»)", "this must be an array type, not 'i16'"),
    ("@constants(«7», 1)", "a type is needed here"),
    ("@constants([2]i16, «1.5»)", "expected 'i16', found 'comptime_float'"),
    ("@rank(«f32»)", "this must be an array type, not 'f32'"),
    ("@element_count(«f32»)", "this must be an array type"),
    ("@element_type(«f32»)", "this must be an array type"),
    ("@dimensions(«f32»)", "this must be an array type"),
    ("«@concat_structs(.{ .a = 1 }, .{ .a = 2 })»", "both structs have a field 'a'"),
    ("«@concat_structs(.{ .a = 1 }, .{ 2 })»", "joins two structs with names or two tuples"),
    ("«@concat_structs(1, .{ 2 })»", "@concat_structs joins structs, not 'comptime_int'"),
    ('«@field(a_pair, "third")»', "there is no field 'third' in this struct; it has: first, second"),
    ("@field(a_pair, «3»)", "the name of a field must be a string"),
    ("@strlen(«3»)", "this must be a string, not 'comptime_int'"),
    ('@strcat("a", «3»)', "this must be a string"),
    ("@get_array(«[2]u8{1, 2}»)", "this must be a string, not '[2]u8'"),
    ("@get_string_from_byte(«256»)", "256 is not a byte; a byte is 0 to 255"),
    ("@get_string_from_byte(«-1»)", "-1 is not a byte"),
    ("@get_color(«24»)", "there is no color 24 on WSE-2; they are 0 to 23"),
    ("@get_color(«-1»)", "there is no color -1"),
    ("@get_color(«1.0»)", "@get_color takes an integer, not 'comptime_float'"),
    ("@get_input_queue(«8»)", "there is no input queue 8 on WSE-2; they are 0 to 7"),
    ("@get_output_queue(«6»)", "there is no output queue 6 on WSE-2; they are 0 to 5"),
    ("@get_local_task_id(«31»)", "there is no local task id 31 on WSE-2; they are 0 to 30"),
    ("@get_control_task_id(«64»)", "there is no control task id 64 on WSE-2; they are 0 to 63"),
    ("@get_data_task_id(«@get_input_queue(2)»)", "@get_data_task_id takes a 'color' on wse2"),
    ("@get_int(«1.5»)", "a 'comptime_float' has no underlying integer"),
    ("@get_int(«i16»)", "a 'type' has no underlying integer"),
    ("@is_arch(«2»)", "an architecture must be a string"),
    ("@range(«f32», 4)", "a range needs an integer type, not 'f32'"),
    ("@range(i16, «1.5»)", "a bound of a range is an integer, not 'comptime_float'"),
    ("@range(i8, «200»)", "200 does not fit in 'i8'"),
    ("@range(u16, «-1», 4, 1)", "-1 does not fit in 'u16'"),
    ("«@range(u16, 1, 2)»", "@range takes 2 or 4 arguments, not 3"),
    ("@range_start(«4»)", "@range_start takes a range, not 'comptime_int'"),
    ("@is_same_type(«1», i16)", "a type is needed here"),
    ("«@is_comptime(1)»", "@is_comptime takes 0 arguments, not 1"),
    ("«@nothing()»", "there is no builtin @nothing"),
    ("«@get_colour(3)»", "there is no builtin @get_colour; did you mean '@get_color'?"),
    ('«@loom_coordinate("x")»', "there is no builtin @loom_coordinate"),
]


@pytest.mark.parametrize(("expression", "message"), REFUSED)
def test_refuses(csl: Csl, expression: str, message: str) -> None:
    declarations = DECLARATIONS + "const other_mode = enum { on, off };"
    csl.refuses(f"{declarations}\nconst value = {expression};\ncomptime {{ _ = value; }}", message)


def test_identifiers_of_wse3(csl: Csl) -> None:
    holds = ["@get_int(@get_data_task_id(@get_input_queue(7))) == 7", "@get_int(@get_ut_id(3)) == 3"]
    csl.comptime("\n".join(f"@comptime_assert({condition});" for condition in holds), arch="wse3")
    for expression, message in [
        ("@get_local_task_id(«7»)", "there is no local task id 7 on WSE-3; they are 8 to 30"),
        ("@get_data_task_id(«@get_color(3)»)", "@get_data_task_id takes an 'input_queue' on wse3"),
        ("@get_output_queue(«8»)", "there is no output queue 8 on WSE-3; they are 0 to 7"),
        ("@get_ut_id(«8»)", "there is no microthread 8 on WSE-3"),
    ]:
        csl.refuses(f"const value = {expression};\ncomptime {{ _ = value; }}", message, arch="wse3")


def test_comptime_print(csl: Csl) -> None:
    statements = """
      const record = .{ .x = 0, .way = NORTH };
      @comptime_print(record);
      @comptime_print(1, -2.5, true, "text", mode.busy, i16, [2]f32{ 1.0, 2.0 }, .{ 1, 2 });
      if (false) { @comptime_print("never"); }
      for ([2]i16{ 1, 2 }) |value, index| { @comptime_print(value, index); }
    """
    assert csl.comptime(statements, DECLARATIONS) == [
        "{x = 0, way = NORTH}",
        "1, -2.5, true, text, .busy, i16, {1.0, 2.0}, {1, 2}",
        "1, 0",
        "2, 1",
    ]


def test_comptime_print_of_what_is_no_number(csl: Csl) -> None:
    """What is shown is written as in CSL, without words of this compiler."""
    declarations = """
    const math = @import_module("<math>");
    fn twice(x: i16) i16 { return 2 * x; }
    var a = @zeros([4, 3]i16);
    var buffer = @zeros([8]u16);
    const fifo = @allocate_fifo(buffer);
    const row = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> a[1, i] });
    const all = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j|{3, 4} -> a[j, i] });
    const queue = @get_output_queue(2);
    const out = @get_dsd(fabout_dsd, .{ .extent = 4, .output_queue = queue, .fabric_color = @get_color(3) });
    """
    statements = "@comptime_print(math, twice, &twice, &a, fifo); @comptime_print(row, all); "
    statements += "@comptime_print(out, @range(i16, 1, 9, 2), |i|{3} -> a[2, i]);"
    assert csl.comptime(statements, declarations) == [
        "<imported_module>, fn twice, fn twice, &a, fifo fifo",
        "{base_address = &a + 6 bytes, stride = {1}, extent = {3}}, "
        "{base_address = &a, stride = {3, -8}, extent = {3, 4}}",
        "{extent = 4, output_queue = 2}, @range(i16, 1, 9, 2), "
        "{base_address = &a, offset = 6, stride = {1}, extent = {3}}",
    ]


def test_comptime_print_once_in_code_for_run_time(csl: Csl) -> None:
    text = """
    var out = @zeros([1]i16);
    fn main() void {
      for ([3]i16{ 1, 2, 3 }) |value| { @comptime_print("hello"); out[0] += value; }
      if (out[0] == 0) { @comptime_print("either"); } else { @comptime_print("other"); }
    }
    """
    assert csl.run(text, {"out": "i16"})["out"].tolist() == [6]
    assert csl.printed == ["hello", "either", "other"]
    csl.refuses(
        "fn f() void { for ([2]i16{ 1, 2 }) |value| { @comptime_print(«value»); } }\n"
        "task t() void { f(); }\ncomptime { @bind_local_task(t, @get_local_task_id(9)); }",
        "this is not known at compile time",
    )


def test_is_comptime(csl: Csl) -> None:
    text = """
    fn which() i32 { if (@is_comptime()) { return 1; } else { return 2; } }
    var first = which();
    var out = @zeros([3]i32);
    fn main() void { out[0] = first; out[1] = comptime which(); out[2] = which(); }
    """
    assert csl.run(text, {"out": "i32"})["out"].tolist() == [1, 1, 2]


def test_assert_at_run_time(csl: Csl) -> None:
    text = """
    var out = @zeros([1]i16);
    fn main(least: i16) void { out[0] = least; @assert(least > 10); }
    """
    simulator = csl.start(text, {"out": "i16"}, {"main": "fn(i16) void"})
    simulator.launch("main", 11)
    with pytest.raises(Exception, match="least > 10' does not hold"):
        simulator.launch("main", 10)
    csl.refuses("comptime { «@assert(1 > 2)»; }", "'1 > 2' does not hold")
    csl.refuses("comptime { @assert(«1»); }", "@assert takes a 'bool', not 'comptime_int'")


VALUES = [
    ("f32", "-2.75", "i16"), ("f32", "70000.0", "u32"), ("i16", "-3", "u32"), ("u16", "65535", "i16"),
    ("i32", "70000", "u16"), ("i16", "-7", "f32"), ("u16", "40000", "f32"), ("f32", "0.1", "f16"),
    ("f16", "0.1", "f32"), ("i8", "-5", "i32"), ("u8", "200", "i8"), ("f32", "0.0", "bool"), ("i16", "3", "bool"),
    ("u32", "0xffffffff", "f32"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "value", "target"), VALUES)
def test_as_is_the_same_at_compile_time_and_at_run_time(csl: Csl, source: str, value: str, target: str) -> None:
    out = "u16" if target == "bool" else target
    shown = "i16" if out == "i8" else out
    text = f"""
    var given: {source} = {value};
    fn converted(x: {source}) {target} {{ return @as({target}, x); }}
    var out = @zeros([2]{shown});
    fn main() void {{
      out[0] = @as({shown}, converted(given));
      out[1] = @as({shown}, comptime converted({value}));
    }}
    """
    at_run_time, known = csl.run(text, {"out": shown})["out"]
    assert at_run_time == known


FLOATS = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "i5", "u12", "i33", "u63"]


def beyond(target: str, source: str) -> list[float]:
    """Number of a float type around the limits of an integer type, and far from them."""
    bits = int(target[1:])
    lowest, highest = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if target[0] == "i" else (0, (1 << bits) - 1)
    steps = [limit + step for limit in (lowest, highest) for step in (-1.5, -1, -0.5, 0, 0.5, 1, 1.5)]
    numbers = [*steps, 0.75, -0.75, -1.5, 300.0, 3e38, -3e38, math.inf, -math.inf, math.nan]
    with np.errstate(over="ignore"):
        return [float(FLOATS[source](float(number))) for number in numbers]


def cut(number: float, target: str) -> int:
    """Convert a float to an integer: truncated, clamped to the limits of the type, 0 for a NaN."""
    bits = int(target[1:])
    lowest, highest = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if target[0] == "i" else (0, (1 << bits) - 1)
    if math.isnan(number):
        return 0
    return (lowest if number < 0 else highest) if math.isinf(number) else max(lowest, min(highest, int(number)))


@pytest.mark.slow
@pytest.mark.one_in(6)
@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", INTEGERS)
def test_as_integer_ends_at_its_limits(csl: Csl, source: str, target: str) -> None:
    """On one PE and on several with numbers of their own, in functions, tasks and @map, and at compile time."""
    numbers = beyond(target, source)
    count = len(numbers)
    bits = 16 if source in ("f16", "bf16") else 32
    patterns = np.array(numbers, FLOATS[source]).view(f"u{bits // 8}").tolist()
    given = ", ".join(f"@bitcast({source}, @as(u{bits}, {pattern}))" for pattern in patterns)
    text = f"""
    const known = [{count}]{source}{{ {given} }};
    var given = @zeros([{count}]u{bits});
    var called = @zeros([{2 * count}]u32);
    var by_task = @zeros([{2 * count}]u32);
    var mapped = @zeros([{2 * count}]u32);
    var at_compile_time = @zeros([{2 * count}]u32);
    var position: u16 = 0;
    fn low(value: {target}) u32 {{ return @as(u32, value); }}
    fn high(value: {target}) u32 {{ return @as(u32, @as({target[0]}64, value) >> 32); }}
    fn one(pattern: u{bits}) u32 {{ return low(@as({target}, @bitcast({source}, pattern))); }}
    fn other(pattern: u{bits}) u32 {{ return high(@as({target}, @bitcast({source}, pattern))); }}
    const from = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{{count}}} -> given[i] }});
    const lows = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{{count}}} -> mapped[2 * i] }});
    const highs = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{{count}}} -> mapped[2 * i + 1] }});
    const next = @get_local_task_id(9);
    task convert() void {{
      const value = @as({target}, @bitcast({source}, given[position]));
      by_task[2 * position] = low(value);
      by_task[2 * position + 1] = high(value);
      position += 1;
      if (position < {count}) @activate(next);
    }}
    comptime {{ @bind_local_task(convert, next); }}
    fn main() void {{
      for (@range(u16, {count})) |n| {{
        called[2 * n] = one(given[n]);
        called[2 * n + 1] = other(given[n]);
      }}
      @map(one, from, lows);
      @map(other, from, highs);
      inline_all();
      @activate(next);
    }}
    fn inline_all() void {{
      {" ".join(f"at_compile_time[{2 * n}] = comptime low(@as({target}, known[{n}]));" for n in range(count))}
      {" ".join(f"at_compile_time[{2 * n + 1}] = comptime high(@as({target}, known[{n}]));" for n in range(count))}
    }}
    """
    results = ("called", "by_task", "mapped", "at_compile_time")
    exports = {"given": f"u{bits}", **dict.fromkeys(results, "u32")}
    options: dict[str, Any] = {"fp16_format": "bf16"} if source == "bf16" else {}
    for width in (1, 3):
        # Each PE begins elsewhere, so that they never agree.
        mine = [[(n + 5 * x) % count for n in range(count)] for x in range(width)]
        simulator = csl.start(text, exports, width=width, **options)
        simulator.set("given", np.array([[[patterns[n] for n in order] for order in mine]], f"u{bits // 8}"))
        simulator.launch("main")
        for name in results:
            found = simulator.get(name)[0].astype(np.uint64)
            for x in range(width):
                order = range(count) if name == "at_compile_time" else mine[x]
                together = (found[x, 0::2] | found[x, 1::2] << np.uint64(32)).tolist()
                assert together == [cut(numbers[n], target) % 2**64 for n in order], name


@pytest.mark.parametrize(
    ("source", "target", "bits"),
    [("f32", "u32", 0xC0490FDB), ("u32", "f32", 0x40490FDB), ("f16", "u16", 0xC248), ("i16", "u16", 0x8001)],
)
def test_bitcast_at_run_time(csl: Csl, source: str, target: str, bits: int) -> None:
    text = f"""
    var given = @zeros([1]{source});
    var out = @zeros([1]{target});
    fn main() void {{ out[0] = @bitcast({target}, given[0]); }}
    """
    kind = {"f32": np.float32, "u32": np.uint32, "f16": np.float16, "u16": np.uint16, "i16": np.int16}[source]
    given = np.array([bits], np.uint32 if bits > 0xFFFF else np.uint16).view(kind)
    out = csl.run(text, {"given": source, "out": target}, {"given": given})["out"]
    assert int(out.view(np.uint32 if bits > 0xFFFF else np.uint16)[0]) == bits


def test_ptrcast(csl: Csl) -> None:
    text = """
    var wide = [2]u32{ 0x00020001, 0x00040003 };
    var out = @zeros([4]u16);
    fn main() void {
      const halves = @ptrcast([*]u16, &wide);
      for (@range(u16, 4)) |i| { out[i] = halves[i]; }
      halves[1] = 9;
    }
    """
    result = csl.run(text, {"out": "u16", "wide": "u32"})
    assert result["out"].tolist() == [1, 2, 3, 4]
    assert result["wide"].tolist() == [0x00090001, 0x00040003]


@pytest.mark.slow
def test_field_is_assigned_to(csl: Csl) -> None:
    statements = 'var s = .{ .a = 10, .b = 1 };\n@field(s, "a") = 20;\n@comptime_print(s);'
    assert csl.comptime(statements) == ["{a = 20, b = 1}"]
    text = """
    const pair = struct { first: i16, second: i32 };
    var kept = pair{ .first = 3, .second = 4 };
    var out = @zeros([2]i32);
    fn main() void { @field(kept, "second") = 70000; out[0] = kept.first; out[1] = @field(kept, "second"); }
    """
    assert csl.run(text, {"out": "i32"})["out"].tolist() == [3, 70000]


def test_type_of_has_no_effects(csl: Csl) -> None:
    text = """
    var out = @zeros([1]i16);
    fn touch() i16 { out[0] += 1; return 7; }
    fn main() void { var x: @type_of(touch()) = 3; out[0] += x; }
    """
    assert csl.run(text, {"out": "i16"})["out"].tolist() == [3]


def test_get_int_at_run_time(csl: Csl) -> None:
    text = """
    const mode = enum(i32) { low = -5, high = 70000 };
    var now = mode.low;
    var id: u16 = 11;
    var out = @zeros([3]i32);
    fn main() void {
      now = mode.high;
      out[0] = @get_int(now);
      out[1] = @as(i32, @get_int(@get_color(id)));
      out[2] = @as(i32, @get_int(@get_local_task_id(id)));
    }
    """
    assert csl.run(text, {"out": "i32"})["out"].tolist() == [70000, 11, 11]


def test_random16(csl: Csl) -> None:
    text = """
    var out = @zeros([64]u16);
    fn main() void { for (@range(u16, 64)) |i| { out[i] = @random16(); } }
    """
    out = csl.run(text, {"out": "u16"})["out"]
    assert len(set(out.tolist())) > 48
    # 23 bits of x^23 + x^18 + 1, started with 0xdeadbeef and advanced 128 times after each use.
    again = csl.run(text, {"out": "u16"})["out"]
    assert again.tolist() == out.tolist()
    csl.refuses("const value = «@random16()»;\ncomptime { _ = value; }", "@random16 is for run time only")


def test_set_active_prng(csl: Csl) -> None:
    text = """
    var out = @zeros([3]u16);
    fn main() void {
      out[0] = @random16();
      @set_active_prng(1);
      out[1] = @random16();
      @set_active_prng(0);
      out[2] = @random16();
    }
    """
    first, _, third = csl.run(text, {"out": "u16"})["out"]
    assert first != third


def test_range_parts_at_run_time(csl: Csl) -> None:
    text = """
    var n: u32 = 13;
    var out = @zeros([3]u32);
    fn main() void {
      const r = @range(u32, n);
      out[0] = @range_stop(r);
      for (@range(u32, 1, n, 4)) |i| { out[1] += i; }
      out[2] = @range_step(@range(u32, 1, n, 4));
    }
    """
    assert csl.run(text, {"out": "u32"})["out"].tolist() == [13, 1 + 5 + 9, 4]


def test_import_comptime_value(csl: Csl) -> None:
    files = {
        "array.json": json.dumps([1, 2, 3, 4]),
        "matrix.json": json.dumps([1.5, 2.5, 3.5, 4.5, 5.5, 6.5]),
        "record.json": json.dumps(
            {"on:bool": True, "name:comptime_string": "x", "c:color": 3, "list:[2]i16": [1, -1], "n:u8": 7,
             "inner:comptime_struct": {"f:f32": 1.5}}
        ),
    }  # fmt: skip
    holds = [
        "array[3] == 4",
        "matrix[1, 2] == 6.5",
        "record.on",
        'record.name == "x"',
        "record.c == @get_color(3)",
        "record.list[1] == -1",
        "@is_same_type(@type_of(record.n), u8)",
        "record.inner.f == 1.5",
    ]
    declarations = """
    const array = @import_comptime_value([4]u16, "array.json");
    const matrix = @import_comptime_value([2, 3]f32, "matrix.json");
    const record = @import_comptime_value(comptime_struct, "record.json");
    """
    csl.comptime("\n".join(f"@comptime_assert({condition});" for condition in holds), declarations, files=files)


@pytest.mark.parametrize(
    ("type", "content", "message"),
    [
        ("[3]u16", "[1, 2]", "'[3]u16' needs a list of 3 elements, but the file has a list of 2"),
        ("[3]u16", "7", "but the file has no list"),
        ("u16", "70000", "70000 does not fit in 'u16'"),
        ("u16", "1.5", "1.5 in the file is not an integer"),
        ("u16", "null", "the file has null where 'u16' is needed"),
        ("u16", "true", "the file has true where 'u16' is needed"),
        ("bool", "1", "the file has 1 where 'bool' is needed"),
        ("comptime_struct", '{"a": 1}', "the field 'a' has no type"),
        ("comptime_struct", '{"a:i7x": 1}', "'i7x' in the file is not a type"),
        ("[2]u16", "[[1, 2], [3, 4]]", "where 'u16' is needed"),
        ("u16", "{", "'value.json' is not valid JSON"),
        ("u16", "[" * 100_000, "'value.json' is not valid JSON"),
        ("color", "99", "the file has color 99, which does not exist"),
    ],
)
def test_import_comptime_value_refuses(csl: Csl, type: str, content: str, message: str) -> None:
    text = f'const value = @import_comptime_value({type}, «"value.json"»);\ncomptime {{ _ = value; }}'
    csl.refuses(text, message, files={"value.json": content})


def test_missing_json(csl: Csl) -> None:
    text = 'const value = @import_comptime_value(u16, «"value.json"»);\ncomptime { _ = value; }'
    csl.refuses(text, "there is no file 'value.json'")


CHOICES = [
    # What @as converts, and what it is for `yes` true and false.
    ("u64", "if (yes) x else y", (1, 40000)),
    ("u64", "if (yes) @as(f16, 1.5) else y", (1, 40000)),
    ("i16", "if (yes) -x else y", (-1, 32767)),
    ("i16", "-(if (yes) x else y)", (-1, -32768)),
    ("u8", "if (yes) 2.75 else x", (2, 1)),
    ("u64", "if (yes) x else n", (1, 7)),
    ("u8", "if (yes) 300 else n", (44, 7)),
    ("i32", "-(if (yes) 1 else 2)", (-1, -2)),
    ("i16", "if (yes) yes else !yes", (1, 1)),
    ("i16", "switch (n) { 7 => if (yes) x else 5, else => y }", (1, 5)),
    ("i16", "made: { if (yes) { break :made x; } break :made n; }", (1, 7)),
    ("i16", "(if (yes) x else y) + x", (3, 32767)),
    ("u16", "if (yes) mode.busy else mode.idle", (5, 2)),
    ("i16", "if (yes) x else if (n == 7) y else n", (1, 32767)),
]


@pytest.mark.parametrize(("target", "operand", "expected"), CHOICES)
def test_as_of_what_is_chosen_at_run_time(csl: Csl, target: str, operand: str, expected: tuple[int, int]) -> None:
    text = f"""
    const mode = enum {{ idle = 2, busy = 5 }};
    var x: f16 = 1.5;
    var y: f16 = 40000.0;
    var n: u16 = 7;
    var out = @zeros([4]u32);
    fn one(yes: bool) i64 {{ return @bitcast(i64, @as(u64, @as({target}, {operand}))); }}
    var yes: bool = true;
    fn main() void {{
      const both = @ptrcast(*[2]i64, &out);
      both.*[0] = one(yes);
      yes = false;
      both.*[1] = one(yes);
    }}
    """
    assert tuple(csl.run(text, {"out": "u32"})["out"].view(np.int64).tolist()) == expected


STRUCTS = [
    # Arrays of structs of several types, in a layout, and what is shown of them.
    ("@concat_structs(pair[0], .{ .z = 3 })", "{x = 1, z = 3}"),
    ("@concat_structs(pair[0], pair[1])", "{x = 1, y = {2, 3}}"),
    ("all()", "{x = 1, y = {2, 3}}"),
    ("@concat_structs(.{ .pair = pair }, .{ .n = 2 }).pair[1].y[0]", "2"),
    ("pair", "{{x = 1}, {y = {2, 3}}}"),
    ("changed()", "{{z = 5}, {y = {2, 3}}}"),
    ("@constants([2]comptime_struct, .{ .x = 4 })[1].x", "4"),
    ("routes(1).x0.tx", "{EAST}"),
]


@pytest.mark.parametrize(("expression", "shown"), STRUCTS)
def test_arrays_of_structs_of_several_types(csl: Csl, expression: str, shown: str) -> None:
    text = f"""
    const pair = [2]comptime_struct{{ .{{ .x = 1 }}, .{{ .y = [2]u16{{ 2, 3 }} }} }};
    fn all() comptime_struct {{
      var joined: comptime_struct = .{{}};
      for (pair) |one| {{ joined = @concat_structs(joined, one); }}
      return joined;
    }}
    fn changed() [2]comptime_struct {{ var copy = pair; copy[0] = .{{ .z = 5 }}; return copy; }}
    fn routes(n: u16) comptime_struct {{
      const both = [2]comptime_struct{{
        .{{ .x0 = .{{ .rx = .{{ WEST }}, .tx = .{{ RAMP }} }} }},
        .{{ .x0 = .{{ .rx = .{{ RAMP }}, .tx = .{{ EAST }} }} }},
      }};
      return both[n];
    }}
    layout {{
      @set_rectangle(3, 1);
      for (@range(u16, 3)) |x| {{
        const params = [2]comptime_struct{{ .{{ .at = x }}, .{{ .end = 2 }} }};
        @set_tile_code(x, 0, "pe.csl", @concat_structs(.{{ .params = params }}, .{{ .first = params[0] }}));
        @set_color_config(x, 0, @get_color(x), .{{ .routes = routes(1).x0 }});
      }}
      @comptime_print({expression});
    }}
    """
    pe = """
    param params: [2]comptime_struct;
    param first: comptime_struct;
    const table = @zeros([params[0].at + 1]u16);
    comptime { @comptime_assert(params[0].at == first.at and params[1].end == 2); _ = table; }
    """
    compiled = csl.layout(text, pe)
    assert csl.printed == [shown] and compiled.programs == 3
    routes = [op for op in compiled.module.walk() if op.name == "wse.route"]
    assert len(routes) == 3 and all("ramp" in str(op) and "east" in str(op) for op in routes)


def test_arrays_inside_structs_are_values(csl: Csl) -> None:
    """A copy that changes leaves what it is a copy of as it was."""
    text = """
    const whole = struct { n: u16, parts: [2]u16 };
    const fixed = [2]u16{ 1, 2 };
    """
    block = """
    var a = @constants([2]whole, whole{ .n = 1, .parts = [2]u16{ 5, 6 } });
    a[0].n = 9;
    a[1].parts[1] = 8;
    @comptime_print(a);
    var b = a[1];
    b.parts[0] = 77;
    @comptime_print(a[1], b);
    var c = fixed;
    c[0] = 3;
    var d = c;
    d[1] = 4;
    c[0] = 5;
    @comptime_print(fixed, c, d);
    """
    assert csl.comptime(block, text) == [
        "{{n = 9, parts = {5, 6}}, {n = 1, parts = {5, 8}}}",
        "{n = 1, parts = {5, 8}}, {n = 1, parts = {77, 8}}",
        "{1, 2}, {5, 2}, {3, 4}",
    ]
