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
    csl.refuses("var x: «u99» = 7;\ncomptime { _ = &x; }", "integers of 99 bits are not supported")
    assert csl.comptime("@comptime_print(i16 == i16, i16 == u16, i16 != u16);") == ["true, false, true"]
