"""What a program shows to the host, and what it knows of that itself."""

# ruff: noqa: E501 (a program is one line of a table)

from __future__ import annotations

import re

import numpy as np
import pytest

import loomir
from loomir.diagnostics.errors import LoomError

from .harness import Csl

LAYOUT = """
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl");
  @export_name("a", [*]i16, true);
  @export_name("b", [*]const f32, false);
  @export_name("n", i16, true);
  @export_name("main", fn(i16) void);
}
"""

PE = """
var a = [3]i16{ 1, 2, 3 };
var other = [3]i16{ 4, 5, 6 };
const b = [2]f32{ 0.5, 1.5 };
var a_ptr: [*]i16 = &a;
const b_ptr: [*]const f32 = &b;
var n: i16 = 9;
fn main(x: i16) void { n += x; a_ptr = &other; }
"""
EXPORTS = (
    'comptime { @export_symbol(a_ptr, "a"); @export_symbol(b_ptr, "b"); @export_symbol(n); @export_symbol(main); }'
)


def test_exports(csl: Csl) -> None:
    compiled = csl.layout(LAYOUT, PE + EXPORTS)
    assert list(compiled.exports) == ["a", "b", "n", "main"]
    a, b, n, main = compiled.exports.values()
    assert (a.kind, a.type, a.dtype, a.mutable) == ("buffer", "[*]i16", "i16", True)
    assert (b.kind, b.type, b.dtype, b.mutable) == ("buffer", "[*]const f32", "f32", False)
    assert (n.kind, n.type, n.dtype, n.mutable) == ("buffer", "i16", "i16", True)
    assert (main.kind, main.type, main.arguments) == ("function", "fn(i16) void", ["i16"])


def test_pointers_are_followed(csl: Csl) -> None:
    simulator = loomir.Simulator(loomir.compile(csl.layout(LAYOUT, PE + EXPORTS).module))
    assert simulator.get("a")[0, 0].tolist() == [1, 2, 3]
    assert simulator.get("b")[0, 0].tolist() == [0.5, 1.5]
    simulator.launch("main", 33)
    assert simulator.get("n")[0, 0].ravel().tolist() == [42]
    assert simulator.get("a")[0, 0].tolist() == [4, 5, 6]
    simulator.set("a", np.array([7, 8, 9], np.int16))
    assert simulator.get("a")[0, 0].tolist() == [7, 8, 9]


REFUSED = [
    ('«@export_symbol(a_ptr, "c")»;', "the layout does not export 'c'; add @export_name"),
    ("«@export_symbol(a_ptr)»;", "the layout does not export 'a_ptr'"),
    ('«@export_symbol(b_ptr, "a")»;', "the layout exports 'a' as '[*]i16', but it is '[*]const f32'"),
    ('«@export_symbol(n, "a")»;', "the layout exports 'a' as '[*]i16', but it is 'i16'"),
    ('«@export_symbol(fixed, "a")»;', "but it is constant; declare it 'var'"),
    ('«@export_symbol(changing, "b")»;', "but it is a variable; declare it 'const'"),
    ('«@export_symbol(short, "main")»;', "the layout exports 'main' as 'fn(i16) void', but it is 'fn() void'"),
    ('@export_symbol(n); «@export_symbol(n)»;', "'n' is exported twice; give one another name"),
    ('«@export_symbol(a[0])»;', "@export_symbol needs a name for this"),
    ("@export_symbol(n, «3»);", "the name of a symbol must be a string"),
    ("«@export_symbol()»;", "@export_symbol takes 1 or 2 arguments, not 0"),
    ("@export_symbol(«nothing»);", "'nothing' is not declared"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "message"), REFUSED)
def test_refuses(csl: Csl, statement: str, message: str) -> None:
    more = """
    const fixed: [*]i16 = &a;
    var changing: [*]const f32 = &b;
    fn short() void {}
    """
    csl.refuses(f"{PE}{more}comptime {{ {statement} }}", message, layout=LAYOUT)


def test_names_nobody_exports(csl: Csl) -> None:
    """They may be exported, so that they are not is a warning; the rest of the program runs."""
    compiled = csl.layout(LAYOUT, PE + EXPORTS.replace('@export_symbol(b_ptr, "b");', ""))
    line = LAYOUT[: LAYOUT.index('@export_name("b"')].count("\n") + 1
    (warning,) = compiled.warnings
    assert re.fullmatch(
        rf".*layout.csl:{line}:\d+: warning: no PE exports 'b'; add @export_symbol to a comptime block of its code, "
        "or remove this",
        warning,
    )
    program = loomir.compile(compiled.module)
    assert "a" in program.symbols and "b" not in program.symbols


POINTERS = {
    # What is exported, its type, and what the host sees of it: its 16-bit words, or bytes if they are an odd number.
    "structs": ("var v = [2]pair{ pair{ .a = 3, .b = 70000 }, pair{ .a = -1, .b = 2 } };", "[*]pair", [3, 0, 4464, 1, 65535, 0, 2, 0]),
    "a struct": ("var v = pair{ .a = 3, .b = 70000 };", "*pair", [3, 0, 4464, 1]),
    "packed": ("var v = [2]bits{ bits{ .low = 1, .high = 2 }, bits{ .low = 3, .high = 255 } };", "[*]bits", [513, 65283]),
    "bytes": ("var v = [3]odd{ odd{ .a = 1, .b = 2, .c = 3 }, odd{ .a = 4, .b = 5, .c = 6 }, odd{ .a = 7, .b = 8, .c = 9 } };", "[*]odd", [1, 2, 3, 4, 5, 6, 7, 8, 9]),
    "enums": ("var v = [2]mode{ mode.busy, mode.idle };", "[*]mode", [5, 2]),
    "an array of structs": ("var v = [2]pair{ pair{ .a = 3, .b = 1 }, pair{ .a = 4, .b = 1 } };", "*[2]pair", [3, 0, 1, 0, 4, 0, 1, 0]),
}  # fmt: skip


@pytest.mark.parametrize(("variable", "type", "words"), POINTERS.values(), ids=POINTERS)
def test_pointers_to_what_is_no_number(csl: Csl, variable: str, type: str, words: list[int]) -> None:
    types = """
    const pair = extern struct { a: i16, b: u32 };
    const bits = packed struct { low: u8, high: u8 };
    const mode = enum { idle = 2, busy = 5 };
    const odd = extern struct { a: u8, b: u8, c: u8 };
    """
    qualified = re.sub("(pair|bits|mode|odd)", r"types.\1", type)
    layout = f"""
    const types = @import_module("types.csl");
    layout {{
      @set_rectangle(1, 1);
      @set_tile_code(0, 0, "pe.csl");
      @export_name("v", {qualified}, true);
    }}
    """
    pe = f"""
    const types = @import_module("types.csl");
    const pair = types.pair;
    const bits = types.bits;
    const mode = types.mode;
    const odd = types.odd;
    {variable}
    var pointer: {type} = &v;
    comptime {{ @export_symbol(pointer, "v"); }}
    """
    simulator = loomir.Simulator(loomir.compile(csl.layout(layout, pe, files={"types.csl": types}).module))
    found = simulator.get("v")[0, 0]
    assert found.ravel().view(np.uint8 if "odd" in type else np.uint16).tolist() == words
    simulator.set("v", np.zeros_like(found)[None, None])
    assert not simulator.get("v").any()


def test_ids_of_symbols(csl: Csl) -> None:
    layout = """
    layout {
      @set_rectangle(1, 1);
      @set_tile_code(0, 0, "pe.csl");
      @export_name("A", i16, true);
      @export_name("B", i16, true);
      @export_name("C", f32, true);
      @export_name("first", [*]i16, true);
      @export_name("second", [*]u16, true);
      @export_name("main", fn(u16) void);
      @export_name("out", [*]u16, true);
    }
    """
    text = """
    var A: i16 = 11;
    var B: i16 = 22;
    var C: f32 = 1.5;
    var one = [2]i16{ 1, 2 };
    var two = [2]u16{ 3, 4 };
    var first: [*]i16 = &one;
    var second: [*]u16 = &two;
    var out = @zeros([6]u16);
    var out_ptr: [*]u16 = &out;
    fn main(id: u16) void {
      out[0] = @get_symbol_id(A);
      out[1] = @get_symbol_id(main);
      out[2] = @as(u16, @get_symbol_value(i16, id));
      out[3] = @get_tensor_ptr(id + 3)[1];
      if (comptime @has_exported_tensors()) { out[4] = 1; }
      if (@get_symbol_id(B) == id) { out[5] = 1; }
    }
    comptime {
      @export_symbol(A); @export_symbol(B); @export_symbol(C); @export_symbol(first); @export_symbol(second);
      @export_symbol(main); @export_symbol(out_ptr, "out");
    }
    """
    simulator = loomir.Simulator(loomir.compile(csl.layout(layout, text).module))
    for id, expected in ((0, [0, 5, 11, 2, 1, 0]), (1, [0, 5, 22, 4, 1, 1])):
        simulator.launch("main", id)
        assert simulator.get("out")[0, 0].tolist() == expected


AT_RUN_TIME = [
    ("_ = @get_symbol_id(«hidden»);", "this symbol is not exported; export it with @export_symbol"),
    ("_ = «@get_symbol_value(f32, 1)»;", "no symbol of type 'f32' is exported"),
    ("_ = @get_symbol_value(i16, «1.5»);", "expected 'u16', found 'comptime_float'"),
    ("_ = @get_symbol_value(«3», 1);", "a type is needed here"),
]


@pytest.mark.parametrize(("statement", "message"), AT_RUN_TIME)
def test_refuses_at_run_time(csl: Csl, statement: str, message: str) -> None:
    run = "task t() void { " + statement + " }\ncomptime { @bind_local_task(t, @get_local_task_id(9)); }"
    csl.refuses(f"{PE}{EXPORTS}\nvar hidden: i16 = 0;\n{run}", message, layout=LAYOUT)


def test_refuses_at_compile_time(csl: Csl) -> None:
    for statement, message in [
        ("_ = «@get_symbol_value(i16, 1)»;", "@get_symbol_value is for run time only"),
        ("_ = «@get_tensor_ptr(1)»;", "@get_tensor_ptr is for run time only"),
        ("_ = «@has_exported_tensors()»;", "@has_exported_tensors may be called only in functions"),
    ]:
        csl.refuses(f"{PE}{EXPORTS}\ncomptime {{ {statement} }}", message, layout=LAYOUT)
    task = (
        "task t() void { if (@has_exported_tensors()) { @comptime_assert(false); } else { _ = «@get_tensor_ptr(1)»; } }"
    )
    csl.refuses(f"{task}\ncomptime {{ @bind_local_task(t, @get_local_task_id(9)); }}", "no tensor pointer is exported")


def test_memory_that_does_not_fit(csl: Csl) -> None:
    text = """
    const m = @import_module("lib.csl");
    var big = @zeros([20000]i16);
    var small = @zeros([10]i16);
    var middle = @zeros([3000]f32);
    task t() void { big[0] = small[0]; middle[0] = 1.0; m.touch(); }
    comptime { @bind_local_task(t, @get_local_task_id(9)); }
    """
    files = {"lib.csl": "var table = @zeros([2000]i16);\nfn touch() void { table[0] = 1; }"}
    compiled = csl.pe(text, files=files)
    with pytest.raises(LoomError) as caught:
        loomir.compile(compiled.module)
    assert caught.value.location == f"{csl.directory / 'pe.csl'}:3:5"
    assert caught.value.message.startswith(
        "the buffers of @pe take 56,020 bytes, but a PE of wse2 has 49,152: "
        "@big 40,000 (pe.csl:3), @middle 12,000 (pe.csl:5), @m.table 4,000 (lib.csl:1), @small 20 (pe.csl:4);"
    )


@pytest.mark.parametrize(("bytes_more", "count"), [("0", 1), ("4 * x", 2)])
def test_too_much_memory_in_several_programs(csl: Csl, bytes_more: str, count: int) -> None:
    """Memory that does not suffice is one error for PE programs of a file that take the same, else one for each."""
    text = f"""
    param x: u16;
    var big = @zeros([50000 + {bytes_more}]i8);
    var out: f32 = if (x == 0) 1.0 else 2.0;
    task t() void {{ if (x == 0) {{ big[0] = 1; out = 4.0; }} else {{ big[1] = 2; out = 3.0; }} }}
    comptime {{ @bind_local_task(t, @get_local_task_id(9 + x)); }}
    """
    layout = (
        'layout { @set_rectangle(2, 1); for (@range(u16, 2)) |x| { @set_tile_code(x, 0, "pe.csl", .{ .x = x }); } }'
    )
    with pytest.raises(LoomError) as caught:
        loomir.compile(csl.unverified(layout, text, "wse2").module)
    lines = [line for line in str(caught.value).splitlines() if "error: the buffers of @pe" in line]
    assert len(lines) == count, caught.value
    assert all("pe.csl:3:5: error: " in line and "but a PE of wse2 has 49,152" in line for line in lines)


@pytest.mark.parametrize(("kind", "dtype"), [("u64", "<u8"), ("i64", "<i8")])
def test_pointers_to_integers_of_64_bits(csl: Csl, kind: str, dtype: str) -> None:
    """The host sees their words, the low one first."""
    program = f"var a = [2]{kind}{{ 1, 2 }}; var p: [*]{kind} = &a; fn main() void {{ a[1] <<= 40; a[0] += 5; }}"
    program += ' comptime { @export_symbol(p, "a"); @export_symbol(main); }'
    layout = 'layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl"); '
    layout += f'@export_name("a", [*]{kind}, true); @export_name("main", fn() void); }}'
    simulator = loomir.Simulator(loomir.compile(csl.layout(layout, program).module))
    simulator.launch("main")
    found = simulator.get("a")
    assert found.shape == (1, 1, 4) and found[0, 0].tobytes() == np.array([6, 2 << 40], dtype).tobytes()
    simulator.set("a", np.array([1, 2, 3, 4], found.dtype))
    simulator.launch("main")
    assert simulator.get("a")[0, 0].tolist() == [6, 2, 0, 3 << 8]


@pytest.mark.parametrize(
    ("exported", "message"),
    [
        ("fn(i16, u12) void", r"the host cannot use a 'u12'; use numbers"),
        ("fn([2]i16) void", r"the host cannot use a '\[2\]i16'; use numbers"),
    ],
)
def test_what_the_host_does_not_pass(csl: Csl, exported: str, message: str) -> None:
    text = f'layout {{ @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl"); @export_name("f", {exported}); }}'
    with pytest.raises(LoomError, match=message) as caught:
        csl.layout(text, "")
    assert "layout.csl:1:" in str(caught.value)


def test_arguments_that_are_bools_or_have_64_bits(csl: Csl) -> None:
    """Only types that exist at compile time, arrays, structs and enums are excluded (Builtins, @export_name)."""
    text = """
    var out = @zeros([5]u32);
    fn main(a: bool, b: bool, c: i64, d: u64) void {
      out[0] = 2 * @as(u32, a) + @as(u32, b);
      const words = [2]u64{ @bitcast(u64, c), d };
      for (words) |word, i| {
        out[2 * i + 1] = @as(u32, word & 0xffffffff);
        out[2 * i + 2] = @as(u32, word >> 32);
      }
    }
    """
    simulator = csl.start(text, {"out": "u32"}, {"main": "fn(bool, bool, i64, u64)void"})
    simulator.launch("main", True, np.bool_(False), np.int64(-2), 2**63 + 5)
    assert simulator.get("out")[0, 0].tolist() == [2, 2**32 - 2, 2**32 - 1, 5, 1 << 31]
    for wrong in (2, 1.0):
        with pytest.raises(LoomError, match=rf"argument 2 of main\(bool, .*\) is {wrong}; give true or false"):
            simulator.launch("main", True, wrong, 0, 0)


def test_a_number_of_64_bits(csl: Csl) -> None:
    text = 'layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl"); @export_name("n", u64, true); }'
    message = r"'n' is exported as 'u64'; use a number of 16 or 32 bits, or a pointer such as \[\*\]u64"
    with pytest.raises(LoomError, match=message):
        csl.layout(text, "")


def test_names_in_function_types(csl: Csl) -> None:
    """They say what parameters are for, in layouts and in pointers to functions."""
    text = """
    var out = @zeros([1]i32);
    fn twice(number: i32) void { out[0] = 2 * number; }
    const way: *const fn(anything: i32) void = &twice;
    fn main(steps: i32) void { way(steps); }
    """
    simulator = csl.start(text, {"out": "i32"}, {"main": "fn(num_iters: i32)void"})
    simulator.launch("main", 21)
    assert simulator.get("out")[0, 0].tolist() == [42]
