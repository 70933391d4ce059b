"""Values known while calls are inlined, but not by the manual's rules (Comptime, Comptime-Known Values; Syntax, inline fn)."""

# ruff: noqa: E501 (a program is one line of a table)

from __future__ import annotations

import pytest

from .harness import Csl

FUNCTIONS = """
fn add(a: i32, b: i32) i32 { return a + b; }
inline fn added(a: i32, b: i32) i32 { return a + b; }
fn text(b: bool) comptime_string { return if (b) "yes" else "no"; }
fn counted(n: comptime_int) comptime_int { return n + 1; }
fn sized(n: u16) void { var a: [n]i16; a[0] = 1; }
fn sized_by(comptime n: u16) void { var a: [n]i16; a[0] = 1; }
inline fn sized_inline(n: u16) void { var a: [n]i16; a[0] = 1; }
fn asserts(n: u16) void { @comptime_assert(n == 4); }
fn forces(n: i32) void { const x = comptime add(n, 1); out = x; }
fn is_signed(comptime T: type) bool { return @is_same_type(T, i16) or @is_same_type(T, i32); }
fn sign(x: anytype) @type_of(x) { if (x < 0) { return -1; } if (x > 0) { return 1; } return x; }
fn guarded_sign(x: anytype) @type_of(x) { if (comptime is_signed(@type_of(x))) { if (x < 0) { return -1; } } if (x > 0) { return 1; } return x; }
fn negate(comptime T: type, x: T) T { return -x; }
fn down(n: u16) void { if (n == 0) { return; } down(n - 1); }
fn walk(n: u16) void { if (n < 4) { big[n] = 1; } else { out = 1; } }
fn note(x: i32) void { out = x; }
var big = @zeros([4]i32);
var out: i32 = 0;
var flag = true;
"""

TASK = "\ntask t() void {{ {} }}\ncomptime {{ @bind_local_task(t, @get_local_task_id(9)); }}\n"

WARNED = [
    # Statements of a task, and what the warning advises.
    ("const x = add(1, 2); var a: [x]i16; a[0] = 1;", "write 'comptime add(...)', or declare it 'inline fn'"),
    ("const x = add(1, 2); const y = x + 1; @comptime_assert(y == 4);", "write 'comptime add(...)'"),
    ("@comptime_print(add(1, 2));", "write 'comptime add(...)'"),
    ("@comptime_assert(added(add(1, 2), 3) == 6);", "write 'comptime add(...)'"),
    ("sized(4);", "'n' is a parameter of 'sized'; declare it 'comptime n'"),
    ("asserts(4);", "'n' is a parameter of 'asserts'; declare it 'comptime n'"),
    ("forces(4);", "'n' is a parameter of 'forces'; declare it 'comptime n'"),
    ("var n: u16 = 4; var a: [n]i16; a[0] = 1;", "'n' is a 'var'; declare it 'const', or 'comptime var'"),
    ("var n: u16 = 4; sized_by(n);", "'n' is a 'var'"),
    ("var n: u16 = 4; sized_inline(n);", "'n' is a 'var'"),
    ("var n: u16 = 4; inline for (@range(u16, n)) |i| { _ = i; }", "'n' is a 'var'"),
    ("var n: u16 = 4; const m = comptime n + 1; out = m;", "'n' is a 'var'"),
    ("var n: u16 = 4; @comptime_assert(n == 4);", "'n' is a 'var'"),
]


@pytest.mark.parametrize(("statements", "advice"), WARNED)
def test_values_that_are_not_comptime_known_draw_a_warning(csl: Csl, statements: str, advice: str) -> None:
    compiled = csl.pe(FUNCTIONS + TASK.format(statements))
    (warning,) = compiled.warnings
    assert "warning: the SDK's compiler does not know this at compile time: " in warning
    assert advice in warning


@pytest.mark.parametrize(("call", "type"), [("counted(3)", "comptime_int"), ("text(true)", "comptime_string")])
def test_functions_of_types_for_compile_time_are_called_then(csl: Csl, call: str, type: str) -> None:
    """Comptime, Types Whose Values are Required to be Comptime."""
    (warning,) = csl.pe(FUNCTIONS + TASK.format(f"const x = {call}; @comptime_print(x);")).warnings
    name = call.split("(")[0]
    assert (
        f"evaluates functions that take or return a '{type}' at compile time only; write 'comptime {name}(...)'"
        in warning
    )


KNOWN = [
    "const x = comptime add(1, 2); var a: [x]i16; a[0] = 1; @comptime_assert(x == 3);",
    "if (added(1200, 34) != 1234) { @comptime_assert(false); }",
    "if (comptime add(1200, 34) != 1234) { @comptime_assert(false); }",
    "const x: u16 = 4; var a: [x]i16; a[0] = 1; sized_by(x); sized_inline(x);",
    "comptime var x: u16 = 4; x += 1; @comptime_assert(x == 5);",
    '@comptime_assert(comptime text(true) == "yes");',
    "comptime { @comptime_assert(counted(3) == 4); }",
    "const x = comptime counted(3); @comptime_assert(x == 4);",
    "var n: u16 = 4; @comptime_assert(@is_same_type(@type_of(n), u16) and @is_same_type(@type_of(add(1, 2)), i32));",
    "comptime { @comptime_assert(add(1, 2) == 3); }",
    "down(5);",  # Ends; what its condition rules out is not followed.
    "walk(9);",  # Outside 'big', were it reached with this number.
    "var n: i32 = 0; if (n != 0) { out = 10 / n; }",
    "guarded_sign(@as(u16, 4)); guarded_sign(@as(i16, -4)); sign(@as(i16, 4));",
    "if (add(1, 2) == 4) { note(5); @comptime_print(flag == true or true); }",
]


@pytest.mark.parametrize("statements", KNOWN)
def test_what_the_manual_allows_is_not_warned_of(csl: Csl, statements: str) -> None:
    assert csl.pe(FUNCTIONS + TASK.format(statements)).warnings == []


MISTAKES = [
    # (statements, message): in what a late condition rules out, whatever the values are.
    ("if (add(1200, 34) != 1234) { «@comptime_assert(false)»; }", "comptime_assert failed: 'false' does not hold"),
    ("if (add(1200, 34) == 1234) { } else { «@comptime_assert(false)»; }", "comptime_assert failed"),
    ("var n: u16 = 4; if (n == 5) { out = «1.5»; }", "expected 'i32', found 'comptime_float'"),
    ("var n: u16 = 4; if (n == 5) { note(«@as(f32, 1.0)»); }", "expected 'i32', found 'f32'"),
    ("var n: u16 = 4; switch (n) { 4 => {}, 5 => { «missing»(); }, else => {} }", "'missing' is not declared"),
    ("var n: u16 = 4; if (n == 3) { } else if (n == 4) { } else { out = «-flag»; }", "'-' needs a number, not 'bool'"),
]


@pytest.mark.parametrize(("statements", "message"), MISTAKES)
def test_what_a_late_condition_rules_out_is_checked(csl: Csl, statements: str, message: str) -> None:
    note = "the branch that this condition rules out is checked too, because the condition is not known at compile time"
    csl.refuses(FUNCTIONS + TASK.format(statements), message, notes=[note])


def test_a_generic_function_is_compiled_for_its_types_as_a_whole(csl: Csl) -> None:
    """`-1` is not a u16, whatever is given (Generics, Specializing Logic)."""
    text = FUNCTIONS.replace(
        "fn sign(x: anytype) @type_of(x) { if (x < 0) { return -1; }",
        "fn sign(x: anytype) @type_of(x) { if (x < 0) { return «-1»; }",
    )
    message = "-1 does not fit in 'u16'"
    csl.refuses(
        text + "comptime { var y: u16 = 25; @comptime_print(sign(y)); }",
        message,
        notes=["the whole body of 'sign' is compiled for these types"],
    )
    csl.refuses(text + TASK.format("const y: u16 = 25; out = sign(y);"), message)
    csl.refuses(text + TASK.format("var y: u16 = 25; y += 1; out = sign(y);"), message)
    unmarked = text.replace("«", "").replace("»", "")
    assert csl.comptime(
        "@comptime_print(sign(@as(i16, -3)), guarded_sign(@as(u16, 25)), negate(f16, -1.5));", unmarked
    ) == ["-1, 1, 1.5"]
    csl.refuses(
        FUNCTIONS.replace("return -x;", "return «-x»;") + 'comptime { _ = negate(comptime_string, "a"); }',
        "'-' needs a number, not 'comptime_string'",
    )


def test_what_is_only_checked_leaves_nothing_behind(csl: Csl) -> None:
    """Neither code nor values: the branch that is taken computes as if the other had not been looked at."""
    statements = (
        "var n: i32 = 4; out[0] = 1; if (n == 5) { out[0] = 2; n = 6; } if (n == 6) { out[0] = 3; } out[1] = n;"
    )
    assert csl.compute(statements, "i32", count=2).tolist() == [1, 4]
