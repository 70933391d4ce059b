"""The storage classes: variables and functions shared by all modules of a PE's program."""

# ruff: noqa: E501 (a program is one line of a table)

from __future__ import annotations

import pytest

from .harness import Csl

LIBRARY = """
extern var x: i16;
extern var z: i16 linkname("x");
extern fn double(v: i16) i16;
export var y: i16 = 42;
fn step() void { x += 1; z += double(y); }
"""


def test_shared(csl: Csl) -> None:
    text = """
    const m = @import_module("lib.csl");
    export var x: i16 = 5;
    extern var w: i16 linkname("y");
    export fn double(v: i16) i16 { return v * 2; }
    var out = @zeros([3]i16);
    fn main() void { m.step(); out[0] = x; out[1] = m.y; w = 7; out[2] = m.y; }
    """
    out = csl.run(text, {"out": "i16"}, files={"lib.csl": LIBRARY})["out"]
    assert out.tolist() == [5 + 1 + 84, 42, 7]


def test_names_by_params(csl: Csl) -> None:
    files = {"lib.csl": "param name: comptime_string;\nexport var x: i16 linkname(name) = 1;"}
    text = """
    const a = @import_module("lib.csl", .{ .name = "one" });
    const b = @import_module("lib.csl", .{ .name = "two" });
    var out = @zeros([2]i16);
    fn main() void { a.x += 1; b.x += 2; out[0] = a.x; out[1] = b.x; }
    """
    assert csl.run(text, {"out": "i16"}, files=files)["out"].tolist() == [2, 3]


USE = "task t() void { USES }\ncomptime { @bind_local_task(t, @get_local_task_id(9)); }"

REFUSED = [
    ("«extern var x: i16»;", "_ = x;", "'x' is declared 'extern', and no other object is linked that defines 'x'"),
    ('«extern var x: i16 linkname("y")»;', "_ = x;", "no other object is linked that defines 'y'"),
    ('var y: i16 = 1;\n«extern var x: i16 linkname("y")»;', "_ = x + y;",
     "'x' is declared 'extern' and stands for 'y', which is declared without a storage class; declare 'y' 'export'"),
    ('export const c0: i16 linkname("cc") = 9;\nextern const cc: i16;', "«cc» = 5;", "'cc' is constant; declare it with 'var'"),
    ("«extern fn f() void»;", "f();", "'f' is declared 'extern', and no other object is linked"),
    ("export var a: i16 = 1;\n«export var b: i16 linkname(\"a\") = 2»;", "_ = a + b;", "two variables are exported as 'a'"),
    ("export var a: i16 = 1;\n«extern var b: i32 linkname(\"a\")»;", "_ = b;", "'b' is declared as 'var' of type 'i32', but exported"),
    ("export var a: i16 = 1;\n«extern const b: i16 linkname(\"a\")»;", "_ = b;", "as 'const' of type 'i16', but exported as 'var'"),
    ("«export var s = .{ .a = true }»;", "_ = s;", "which cannot be shared by 'export' or 'extern'"),
    ("«export var s: mem1d_dsd»;", "_ = s;", "is a 'mem1d_dsd', which cannot be shared"),
    ("«export var n = 5»;", "_ = n;", "exists at compile time only"),
    ("export var a: i16 linkname(«5») = 1;", "_ = a;", "a linkname must be a string"),
    ("var a: i16 align(«1.5») = 1;", "_ = a;", "an alignment must be an integer"),
]  # fmt: skip


LINKED = [
    # The exported declaration, in a module that is imported; the extern one, marked; what the error says; what the note
    # says of the first. A mistake is one even where nothing uses the declarations.
    ("export fn f(x: i16) i16 { return x; }", '«extern fn g(x: i32) i16 linkname("f")»;', "'fn(i32) i16', but exported as 'fn(i16) i16'"),
    ("export fn f(x: i16) i16 { return x; }", '«extern fn f(i16) void»;', "'fn(i16) void', but exported as 'fn(i16) i16'"),
    ("export fn f(x: i16) { }", '«extern fn f(u16) i16»;', "'fn(u16) i16', but exported as 'fn(i16)'"),
    ("export var f: i16 = 1;", "«extern fn f() void»;", "'f' is declared as 'fn() void', but exported as 'var' of type 'i16'"),
    ("export fn f() void {}", "«extern var f: i16»;", "'f' is declared as 'var' of type 'i16', but exported as 'fn() void'"),
    ("export var a: [4]i16;", "«extern var a: [5]i16»;", "'var' of type '[5]i16', but exported as 'var' of type '[4]i16'"),
    ("export const a = [2]i16 { 1, 2 };", "«extern var a: [2]i16»;", "declared as 'var' of type '[2]i16', but exported as 'const'"),
    ("export fn f() void {}", "«export fn f() void {}»", "two functions are exported as 'f'; give one of them another name"),
    ("export fn f() void {}", "«export var f: i16 = 1»;", "a variable and a function are exported as 'f'"),
    ("export var a: i16 = 1;", '«var b: i16 linkname("a") = 2»;', "'b' has the linkname 'a', which is exported elsewhere; declare it 'extern'"),
    ("export var a: i16 = 1;", '«fn b() linkname("a") void {}»', "'b' has the linkname 'a', which is exported elsewhere"),
    ("extern var a: i16;", "«extern var a: u16»;", "'a' is declared as 'var' of type 'u16', but declared as 'var' of type 'i16'"),
    ("extern var a: i16;", '«var b: i16 linkname("a")»;', "'b' has the linkname 'a', which is declared elsewhere"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "marked", "message"), LINKED)
def test_declarations_with_one_symbol_agree(csl: Csl, first: str, marked: str, message: str) -> None:
    """The error has both places."""
    files = {"first.csl": first, "second.csl": marked}
    text = 'const a = @import_module("first.csl");\nconst b = @import_module("second.csl");\n'
    error = csl.refuses(text, message, files=files, notes=["exported here" if "export" in first else "declared here"])
    assert "first.csl:1:1" in str(error)


AT_COMPTIME = """
export fn f(x: i16) i16 { return x; }
extern fn g(x: i16) i16 linkname("f");
const k = «g(3)»;
comptime { @comptime_print(k); }
"""


def test_refuses_what_objects_cannot_share(csl: Csl) -> None:
    csl.refuses(AT_COMPTIME, "'g' is 'extern', and so cannot be called at compile time (Storage Classes)")
    csl.refuses("«extern fn g(x: mem1d_dsd) void»;", "'g' takes a 'mem1d_dsd', which cannot be shared by 'extern'")
    csl.refuses(
        "«export fn f(a: anytype) void { _ = a; }»", "'f' takes an 'anytype', which cannot be shared by 'export'"
    )
    csl.refuses("«extern var x: u5»;", "'x' is a 'u5', which cannot be shared by 'export' or 'extern'")
    fifo = "var buffer = @zeros([8]i16);\n«export const f = @allocate_fifo(buffer)»;"
    csl.refuses(fifo, "'f' is a 'fifo_dsd', which cannot be shared by 'export' or 'extern'")


NUMBERS = """
extern fn scale(x: i16) i16;
export var table = [3]i16 { 4, 5, 6 };
export const offset: i16 = 100;
export const nothing: i32;
fn internal(x: i16) i16 { return scale(x) + 1; }
export var callback: *const fn(i16) i16 = &internal;
export fn sum(values: *[3]i16) i16 { return values.*[0] + values.*[1] + values.*[2]; }
"""


def test_all_kinds_of_symbols(csl: Csl) -> None:
    """Arrays, constants, pointers to functions, and functions that another object calls back, in any order."""
    text = """
    extern var table: [3]i16;
    extern const offset: i16;
    extern const nothing: i32;
    extern var callback: *const fn(i16) i16;
    extern fn total(*[3]i16) i16 linkname("sum");
    var out = @zeros([9]i16);
    const from = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> table[i] });
    const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> out[i] });
    fn main() void {
      @add16(to, from, 1);
      table[1] = 50;
      out[3] = total(&table) + offset;
      out[4] = callback(7);
      out[5] = @as(i16, nothing);
      @map(total_of, from, @increment_dsd_offset(to, 6, i16));
    }
    extern fn total_of(i16) i16 linkname("scale");
    export fn scale(x: i16) i16 { return x * 10; }
    const numbers = @import_module("numbers.csl");
    """
    out = csl.run(text, {"out": "i16"}, files={"numbers.csl": NUMBERS})["out"]
    assert out.tolist() == [5, 6, 7, 4 + 50 + 6 + 100, 71, 0, 40, 500, 60]


@pytest.mark.parametrize(("declarations", "uses", "message"), REFUSED)
def test_refuses(csl: Csl, declarations: str, uses: str, message: str) -> None:
    csl.refuses(f"{declarations}\n{USE.replace('USES', uses)}", message)


def test_two_instances_with_one_name(csl: Csl) -> None:
    text = """
    const a = @import_module("lib.csl");
    const b = @import_module("lib.csl");
    """
    csl.refuses(text, "two variables are exported as 'x'", files={"lib.csl": "«export var x: i16 = 1»;"})


def test_widening(csl: Csl) -> None:
    text = """
    var half: f16 = 1.5;
    var single: f32 = 0.25;
    var x: i16 = 3;
    var out = @zeros([4]f32);
    fn take(p: *[1]i16) i16 { return p.*[0]; }
    fn main() void {
      out[0] = half;
      out[1] = half + single;
      const choice: f32 = if (x == 3) half else single;
      out[2] = choice;
      const anything: *anyopaque = &x;
      @ptrcast(*i16, anything).* = 9;
      out[3] = @as(f32, take(&x));
    }
    """
    assert csl.run(text, {"out": "f32"})["out"].tolist() == [1.5, 1.75, 1.5, 9.0]
    csl.refuses("var x: «u16777216» = 7;\ncomptime { _ = &x; }", "there are no integers of 16777216 bits")
    assert csl.comptime("@comptime_print(i16 == i16, i16 == u16, i16 != u16);") == ["true, false, true"]
