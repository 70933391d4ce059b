"""Types, what converts by itself and what does not, constants and variables, names."""

from __future__ import annotations

import pytest

from .harness import Csl

DECLARATIONS = """
const pair = struct { first: i16, second: f32 };
const other_pair = struct { first: i16, second: f32 };
const mode = enum(u16) { idle, busy };
const other_mode = enum(u16) { idle, busy };
var array = [3]i16{ 1, 2, 3 };
var matrix = @zeros([2, 3]f32);
const fixed = [3]i16{ 4, 5, 6 };
var number: i16 = 7;
var wide: i32 = 8;
var unsigned: u16 = 9;
var real: f32 = 1.5;
var half: f16 = 1.5;
var truth: bool = true;
var where: *i16 = &number;
var many: [*]i16 = &array;
const read: *const i16 = &number;
const one: i16 = 1;
const some: [*]i16 = &array;
fn nothing() void {}
fn add(a: i16, b: i16) i16 { return a + b; }
task t() void {}
"""

CONVERTS = [
    # comptime numbers
    ("x: i8 = 127", "127"), ("x: u64 = 0xffffffffffffffff", "18446744073709551615"), ("x: f16 = 1.5", "1.5"),
    ("x: comptime_int = 1 << 100", str(1 << 100)), ("x: f32 = 0.1", "0.10000000149011612"),
    ("x: cb16 = 6.0", "6.0"), ("x: bf16 = 1.0", "1.0"),
    # Widening keeps the value.
    ("x: i32 = @as(i8, -5)", "-5"), ("x: i32 = @as(u16, 65535)", "65535"), ("x: u32 = @as(u8, 255)", "255"),
    ("x: i64 = @as(u32, 7)", "7"),
    # A known number that fits.
    ("x: u8 = @as(i32, 200)", "200"), ("x: i8 = @as(u16, 100)", "100"),
    # Structs
    ("x: comptime_struct = .{ .a = 1 }", "{a = 1}"),
    ("x: pair = .{ .second = 2.0, .first = 1 }", "{first = 1, second = 2.0}"),
    ("x: [2]i16 = [2]i16{ 1, 2 }", "{1, 2}"),
    # Peers
    ("x = @as(i16, 1) + 2", "3"), ("x = 2.0 * @as(f32, 1.5)", "3.0"), ("x = @as(u16, 1) | 0xbeef", "48879"),
]  # fmt: skip


@pytest.mark.parametrize(("declaration", "shown"), CONVERTS)
def test_converts(csl: Csl, declaration: str, shown: str) -> None:
    assert csl.comptime(f"const {declaration};\n@comptime_print(x);", DECLARATIONS) == [shown]


REFUSED_CONSTANTS = [
    ("x: i16 = «10000000000000»", "10000000000000 does not fit in 'i16', which holds -32768 to 32767"),
    ("x: u16 = «-1»", "-1 does not fit in 'u16'"),
    ("x: i8 = «@as(i16, 300)»", "300 does not fit in 'i8'"),
    ("x: f32 = «1»", "an integer does not convert to 'f32' implicitly; write 1.0 or use @as"),
    ("x: i16 = «1.0»", "expected 'i16', found 'comptime_float'; convert it with @as(i16, ...)"),
    ("x: f16 = «@as(f32, 1.0)»", "expected 'f16', found 'f32'; convert it with @as(f16, ...)"),
    ("x: bf16 = «@as(f16, 1.0)»", "expected 'bf16', found 'f16'"),
    ("x: bool = «1»", "expected 'bool', found 'comptime_int'"),
    ("x: i16 = «true»", "expected 'i16', found 'bool'"),
    ("x: i16 = «mode.idle»", "expected 'i16', found 'enum(u16) { idle, busy }'"),
    ("x: mode = «1»", "expected 'enum(u16) { idle, busy }', found 'comptime_int'"),
    ("x: mode = «other_mode.idle»", "expected 'enum(u16) { idle, busy }', found 'enum(u16) { idle, busy }'"),
    ('x: i16 = «"text"»', "expected 'i16', found 'comptime_string'"),
    ("x: color = «3»", "expected 'color', found 'comptime_int'"),
    ("x: local_task_id = «@get_color(3)»", "expected 'local_task_id', found 'color'"),
    ("x: [2]i16 = «[3]i16{ 1, 2, 3 }»", "expected '[2]i16', found '[3]i16'"),
    ("x: [2]f32 = «[2]i16{ 1, 2 }»", "expected 'f32', found 'i16'"),
    ("x: pair = «other_pair{ .first = 1, .second = 2.0 }»", "expected 'struct { first: i16, second: f32 }'"),
    ("x: pair = «.{ .first = 1 }»", "field 'second' of 'struct { first: i16, second: f32 }' is missing"),
    ("x: pair = «.{ .first = 1, .second = 2.0, .third = 3 }»", "has no field 'third'"),
    ("x: pair = .{ .second = «2», .first = 1 }", "an integer does not convert to 'f32' implicitly"),
    ("x: *i16 = «read»", "it points to constant memory"),
    ("x: *i16 = «&wide»", "expected '*i16', found '*i32'"),
    ("x: [*]f32 = «&array»", "expected '[*]f32', found '*[3]i16'"),
    ("x: *[3]i16 = «some»", "expected '*[3]i16', found '[*]i16'"),
    ("x: [*]i16 = «&fixed»", "it points to constant memory"),
    ("x: fn(i16) i16 = «add»", "expected 'fn(i16) i16', found 'fn(i16, i16) i16'"),
    ("x: fn() void = «t»", "a task cannot be called"),
    ("x: fn() void = «3»", "expected 'fn() void', found 'comptime_int'"),
    ("x: type = «3»", "expected 'type', found 'comptime_int'"),
    ("x: «3» = 3", "a type is needed here, not a value of type 'comptime_int'"),
    ("x: «unknown» = 3", "'unknown' is not declared"),
    ("x = «nombre»", "'nombre' is not declared; did you mean 'number'?"),
    # Operators
    ("x = «@as(i16, 1) + 1.5»", "operands are of types 'i16' and 'comptime_float'; convert one of them with @as"),
    ("x = «@as(i16, 1) + 40000»", "40000 does not fit in 'i16'"),
    ("x = «@as(f32, 1.0) + @as(i32, 1)»", "operands are of types 'f32' and 'i32'"),
    ("x = «true + 1»", "operands are of types 'bool' and 'comptime_int', which have no common type"),
    ('x = «"a" + "b"»', "'+' does not work on values of type 'comptime_string'"),
    ("x = «1.5 | 2.5»", "'|' works on integers, not on 'comptime_float'"),
    ("x = «1.5 << 1»", "'<<' works on integers"),
    ("x = «1 << -1»", "a shift by -1 bits"),
    ("x = «1 << @as(i16, 2)»", "the shift amount must be unsigned, not 'i16'"),
    ("x = «~5»", "'~' needs an integer of known width"),
    ("x = «5.0 % 0.0»", "'%' of these numbers is not a number"),
    ("x = «true % true»", "'%' does not work on values of type 'bool'"),
    ("x = «mode.idle < mode.busy»", "'<' does not work on values of type 'enum(u16) { idle, busy }'"),
    ("x = «mode.idle == other_mode.idle»", "which have no common type"),
    ("x = «mode.idle == 0»", "which have no common type"),
    ("x = «!1»", "'!' needs a 'bool', not 'comptime_int'"),
    ("x = «~1.5»", "'~' needs an integer, not 'comptime_float'"),
    ("x = «-true»", "'-' needs a number, not 'bool'"),
    ("x = «1» and true", "a condition is of type 'bool', not 'comptime_int'"),
    ("x = true and «1»", "of type 'bool', not 'comptime_int'"),
    ("x = «1 / 0»", "division by zero"),
    ("x = «1 % 0»", "division by zero"),
    ("x = «@as(i16, 5) / @as(i16, 0)»", "division by zero"),
    ("x = «1.0 / 0.0»", "division by zero"),
    ("x = «1.0e308 * 10.0 - 1.0e308 * 10.0»", "'-' of these numbers is not a number"),
    # Elements and fields
    ("x = fixed[«3»]", "index 3 is outside the array, which has 3 here (indices 0 to 2)"),
    ("x = fixed[«-1»]", "index -1 is outside the array"),
    ("x = fixed[«1.0»]", "an index is an integer, not 'comptime_float'"),
    ("x = fixed[«mode.idle»]", "an index is an integer; convert the enum with @get_int"),
    ("x = «fixed[0, 1]»", "'[3]i16' has 1 dimensions, but there are 2 indices"),
    ("x = «number[0]»", "a value of type 'i16' has no elements"),
    ("x = «.{ 1, 2 }[2]»", "index 2 is outside the tuple, which has 2 elements"),
    ("x = «.{ .a = 1 }.b»", "there is no field 'b' in this struct; it has: a"),
    ("x = «.{ 1 }.a»", "it is a tuple; use an index"),
    ("x = «number.a»", "a value of type 'i16' has no fields"),
    ("x = «mode.other»", "'enum(u16) { idle, busy }' has no member 'other'"),
    ("x = «one.*»", "'.*' needs a pointer, not a value of type 'i16'"),
    ("x = «some.*»", "points to an unknown number of elements"),
    ("x = «&5»", "this has no address"),
    ("x = «one()»", "a value of type 'i16' cannot be called"),
    # Literals of aggregates
    ("x = «[2]i16{ 1 }»", "'[2]i16' has 2 elements, but 1 are given"),
    ("x = [2]i16{ 1, «2.5» }", "expected 'i16', found 'comptime_float'"),
    ("x = «i16{ 1 }»", "a value of type 'i16' cannot be written with braces"),
    ("x = «pair{ .first = 1 }»", "field 'second' of 'struct { first: i16, second: f32 }' is missing"),
    ("x = pair{ «.third = 1» }", "'struct { first: i16, second: f32 }' has no field 'third'"),
    ("x = .{ .a = 1, «.a = 2» }", "field 'a' is given twice"),
    ("x = struct { a: i16, «a: f32» }", "field 'a' is declared twice"),
    ("x = enum { a, «a» }", "member 'a' is declared twice"),
    ("x = enum { a = 1, «b = 1» }", "two members have the number 1; numbers must be unique"),
    ("x = enum(u8) { «a = 300» }", "300 does not fit in 'u8'"),
    ("x = «enum(f32) { a }»", "members of an enum are numbers of an integer type, not 'f32'"),
    ("x = [«-1»]i16", "an array of -1 elements; an extent must be at least 0"),
    ("x = [«1.5»]i16", "the extent of an array must be an integer"),
    ("x = «[2][3]i16»", "an array cannot have arrays as elements"),
    ("x = «[100000, 100000]u8»", "too large; a PE has 24,576 words of memory"),
    ("x = «anytype»", "'anytype' is the type of a function's parameter and nothing else"),
]  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("declaration", "message"), REFUSED_CONSTANTS)
def test_refuses_constants(csl: Csl, declaration: str, message: str) -> None:
    csl.refuses(f"{DECLARATIONS}\nconst {declaration};\ncomptime {{ _ = x; }}", message)


REFUSED_STATEMENTS = [
    ("«fixed[0]» = 1;", "'fixed' is constant; declare it with 'var' to assign to it"),
    ("const x = 1; «x» = 2;", "'x' is constant"),
    ("const x: i16 = number; «x» = 2;", "'x' is constant"),
    ("«f» = nothing;", "'f' is not declared"),
    ("«5» = 6;", "the left side of '=' must be a variable, a field, an element or 'pointer.*'"),
    ("«nothing» = add;", "this is not a variable"),
    ("«read.*» = 5;", "reached by a pointer to constant memory"),
    ("number = «1.5»;", "expected 'i16', found 'comptime_float'"),
    ("number = «wide»;", "expected 'i16', found 'i32'"),
    ("unsigned = «number»;", "expected 'u16', found 'i16'"),
    ("half = «real»;", "expected 'f16', found 'f32'"),
    ("number = «truth»;", "expected 'i16', found 'bool'"),
    ("number = «wide + 1»;", "expected 'i16', found 'i32'"),
    ("«number += 1.5»;", "operands are of types 'i16' and 'comptime_float'"),
    ("number = «number + real»;", "operands are of types 'i16' and 'f32'"),
    ("number = «number + unsigned»;", "operands are of types 'i16' and 'u16'"),
    ("if («number») { }", "a condition is of type 'bool', not 'i16'; compare it with something"),
    ("while («number») { }", "a condition is of type 'bool', not 'i16'"),
    ("for («number») |i| { }", "a loop runs over a @range or an array, not over 'i16'"),
    ("_ = array[«3»];", "index 3 is outside the array"),
    ("_ = matrix[0, «3»];", "index 3 is outside the array, which has 3 here"),
    ("_ = «matrix[0]»;", "'[2, 3]f32' has 2 dimensions, but there are 1 indices"),
    ("«add(1)»;", "'add' takes 2 arguments, not 1"),
    ("«add(1, 2, 3)»;", "'add' takes 2 arguments, not 3"),
    ("_ = add(1, «2.5»);", "expected 'i16', found 'comptime_float'"),
    ("_ = add(«wide», 1);", "expected 'i16', found 'i32'"),
    ("_ = add(«70000», 1);", "70000 does not fit in 'i16'"),
    ("return «5»;", "expected 'void', found 'comptime_int'"),
    ("«break»;", "this is not in a loop"),
    ("«continue»;", "this is not in a loop"),
    ("while (truth) { «break :outer»; }", "this is not in anything labeled 'outer'"),
    ("blk: { «continue :blk»; }", "this is not in anything labeled 'blk'"),
    ("const «x»: i16;", "the constant 'x' needs a value"),
    ("var «x»;", "'x' needs a type or a value"),
    ("const x = 1; «const x = 2»;", "'x' is declared twice"),
    ("«var x = 1»;", "variable 'x' is a 'comptime_int'"),
    ("while (truth) { comptime { «break»; } }", "this jump leaves code evaluated at compile time"),
    ("comptime { «return»; }", "this jump leaves code evaluated at compile time"),
    ("_ = «undeclared»;", "'undeclared' is not declared"),
    ("{ const inside = 1; _ = inside; } _ = «inside»;", "'inside' is not declared"),
    ("comptime var x = «number»;", "cannot be read at compile time"),
    ("comptime var x: i16 = 1; if (truth) { «x» = 2; }", "it is not known then whether this is reached"),
    ("comptime var x: i16 = 1; «x» = number;", "'x' is comptime, but what is assigned to it is not known"),
    ("const x = comptime «number»;", "memory of the PE, which cannot be read at compile time"),
    ("@comptime_assert(«truth»);", "must be known at compile time"),
    ("@comptime_assert(«1»);", "@comptime_assert takes a 'bool', not 'comptime_int'"),
    ("switch («real») { else => {} }", "a switch takes an integer of known width or an enum, not 'f32'"),
    ("switch («1») { else => {} }", "not 'comptime_int'"),
    ("switch (number) { «1.5» => {}, else => {} }", "expected 'i16', found 'comptime_float'"),
    ("switch (number) { 1 => {}, «1» => {}, else => {} }", "this case occurs twice"),
    ("«switch (number) { 1 => {} }»", "not all values have a case; add an 'else' case"),
    ("var m = mode.idle; «switch (m) { mode.idle => {} }»", "no case for busy; add it, or an 'else' case"),
    ("switch (number) { «number» => {}, else => {} }", "cannot be read at compile time"),
    ("const x = «if (truth) 1 else true»;", "operands are of types"),
    ("_ = «@as(i16, nothing())»;", "not 'void' to 'i16'"),
    ("«asm (\"nop\")»;", "assembly cannot be run without the machine"),
    ("number = «number / 0»;", "division by zero"),
    ("number = «number % 0»;", "division by zero"),
    ("number = «number << real»;", "'<<' works on integers"),
    ("var s = .{ .a = @as(i16, 1) }; s = «.{ .b = @as(i16, 1) }»;", "has no field 'b'"),
    ("const s = .{ 1.0, 2.0 }; _ = s[«unsigned»];", "an index of a tuple must be known at compile time"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "message"), REFUSED_STATEMENTS)
def test_refuses_statements(csl: Csl, statement: str, message: str) -> None:
    run = "task run() void { " + statement + " }\ncomptime { @bind_local_task(run, @get_local_task_id(9)); }"
    csl.refuses(DECLARATIONS + run, message)


GLOBALS = [
    ("const a = 1;\n«const a = 2»;", "'a' is declared twice; rename one"),
    ("const a = 1;\n«fn a() void {}»", "'a' is declared twice"),
    ("const a = b;\nconst b = c;\nconst c = «a»;\ncomptime { _ = a; }", "'a' depends on its own value"),
    ("const a: [«a»]i16 = @zeros([1]i16);\ncomptime { _ = a; }", "'a' depends on its own value"),
    ("const «a»: i16;", "the constant 'a' needs a value"),
    ("var «a»;", "'a' needs a type or a value"),
    ("«param a: i16»;\ncomptime { _ = a; }", "param 'a' has no value"),
    ("fn f(x: i16, «x: i16») void {}\ncomptime { f(1, 2); }", "'f' has two parameters 'x'; rename one"),
    ("fn f() i16 { return «1.5»; }\ncomptime { _ = f(); }", "expected 'i16', found 'comptime_float'"),
    ("«fn f() i16 {}»\ncomptime { _ = f(); }", "'f' ends without returning a value of type 'i16'"),
    ("fn f() i16 { «return»; }\ncomptime { _ = f(); }", "'f' returns 'i16'; give a value"),
    ("fn f(x: «anytipe») void {}\ncomptime { f(1); }", "'anytipe' is not declared"),
    ("var v: i16 = 1;\ncomptime { «v» = 2; }", "cannot be written at compile time"),
    ("var v: i16 = 1;\nfn f() void { «v» = 2; }\ncomptime { f(); }", "cannot be written at compile time"),
    ("var v: i16 = 1;\nfn f() i16 { return «v»; }\ncomptime { _ = f(); }", "cannot be read at compile time"),
    ("const a = 1;\nvar v: i16 = 1;\nvar w: i16 = «v»;\ncomptime { _ = &w; }", "cannot be read at compile time"),
    ("«var v = 1»;\ncomptime { _ = &v; }", "variable 'v' is a 'comptime_int', which exists at compile time only"),
    ("«var v = i16»;\ncomptime { _ = &v; }", "exists at compile time only; declare it 'const'"),
    ("const a = @as(i16, 1);\nconst p = &«a[0]»;\ncomptime { _ = p; }", "has no elements"),
    ("const a = «&([2]i16{ 0, 0 })[1]»;\ncomptime { _ = a; }", "has no address"),
    ("comptime { «break»; }", "this is not in a loop"),
    ("comptime { «continue»; }", "this is not in a loop"),
    ("fn f() void { «break»; }\ncomptime { while (true) { f(); } }", "this is not in a loop"),
    ("comptime { while (true) { «break :out»; } }", "this is not in anything labeled 'out'"),
    ("comptime { «return»; }", "'return' is not in a function"),
    ("comptime { out: while (true) { «out: while (true) {}» } }", "the label 'out' is used again inside what it names"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), GLOBALS)
def test_refuses_globals(csl: Csl, text: str, message: str) -> None:
    csl.refuses(text, message)
