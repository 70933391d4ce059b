"""Recursion at run time: tail calls are loops that run in constant depth, other calls are functions of the IR."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from xdsl.dialects import scf

import loomir
from loomir.backend.csl import source_of
from loomir.dialects import wse
from loomir.frontend import calls
from loomir.frontend.compilation import CompiledLayout, compile_layout

from .harness import Csl

LAYOUT = """
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{});
  @export_name("main", fn() void);
}
"""


def compiled(csl: Csl, pe: str, **options: Any) -> CompiledLayout:
    return csl.layout(LAYOUT, f"{pe}\ncomptime {{ @export_symbol(main); }}\n", **options)


def calls_in(program: CompiledLayout) -> dict[str, list[str]]:
    """Return the functions that each function calls."""
    return {
        op.sym_name.data: [inner.callee.string_value() for inner in op.walk() if isinstance(inner, wse.CallOp)]
        for op in program.module.walk()
        if isinstance(op, wse.FuncOp)
    }


def loops_in(program: CompiledLayout) -> int:
    return sum(isinstance(op, scf.WhileOp) for op in program.module.walk())


# Tail calls: the statements of `main`, run with `n` from 0 to 5, and what they put into `out[n]`.

FUNCTIONS = """
const pair = struct { a: i32, b: i32 };
var total: i32 = 0;
var memory = [6]i32{ 1, 20, 300, 4000, 50000, 600000 };
fn gcd(a: u16, b: u16) u16 { if (b == 0) { return a; } return gcd(b, a % b); }
fn factorial(n: i32, product: i32) i32 { return if (n < 2) product else factorial(n - 1, product * n); }
fn even(n: u16) bool { if (n == 0) { return true; } else { return odd(n - 1); } }
fn odd(n: u16) bool { return n != 0 and even(n - 1); }
fn add(n: i32) void { if (n == 0) { return; } total += n; add(n - 1); }
fn add_back(n: i32) void { if (n > 0) { total += n; add_back(n - 1); return; } total += 1000; }
fn by_switch(n: i32, s: i32) i32 {
  switch (n) { 0 => { return s; }, 1 => { return by_switch(0, s + 10); }, else => return by_switch(n - 2, s + 1) }
}
fn in_loop(n: i32, s: i32) i32 {
  for (@range(i32, 1, 4, 1)) |k| {
    if (n == k) { return s * 10 + k; }
    if (k == 2) { return in_loop(n - 1, s + 1); }
  }
  return -1;
}
fn named(n: i32, s: i32) i32 { if (n <= 0) { return s; } const r = named(n - 3, s + n); return r; }
fn fibonacci(n: i32, p: pair) pair {
  if (n == 0) { return p; }
  return fibonacci(n - 1, pair{ .a = p.b, .b = p.a + p.b });
}
fn walk(p: [*]i32, n: i32, s: i32) i32 { return if (n == 0) s else walk(p, n - 1, s + p[n - 1]); }
fn search(p: *i32, q: *i32, n: i32) i32 { if (n == 0) { return p.*; } return search(q, p, n - 1); }
fn scale(n: i32, mode: i32, s: i32) i32 {
  if (n == 0) { return s; }
  if (mode == 7) { return scale(n - 1, mode, s * 2); }
  return scale(n - 1, mode, s + 100);
}
fn comptime_mode(comptime mode: i32, n: i32, s: i32) i32 {
  if (n == 0) { return s; }
  if (mode == 0) { return comptime_mode(1, n - 1, s * 2); } else { return comptime_mode(0, n - 1, s + 5); }
}
fn generic(comptime T: type, n: T, s: T) T { return if (n == 0) s else generic(T, n - 1, s + n); }
fn any(n: anytype, s: @type_of(n)) @type_of(n) { return if (n == 0) s else any(n - 1, s + n); }
fn local(n: i32, s: i32) i32 {
  var squares = [3]i32{ n, n * n, n * n * n };
  if (n == 0) { return s; }
  return local(n - 1, s + squares[n % 3]);
}
fn next(x: i32) i32 { return if (x % 2 == 0) x / 2 else 3 * x + 1; }
fn collatz(x: i32, steps: i32) i32 { return if (x == 1) steps else collatz(next(x), steps + 1); }
fn first(n: i32, s: i32) i32 {
  if (n <= 0) { return s; }
  if (n % 2 == 0) { return second(n - 1, s + 1); }
  return third(n - 1, s + 10);
}
fn second(n: i32, s: i32) i32 {
  if (n <= 0) { return s; }
  if (n % 3 == 0) { return first(n - 1, s * 2); }
  return third(n - 2, s + 3);
}
fn third(n: i32, s: i32) i32 {
  if (n <= 0) { return s; }
  if (n % 2 == 1) { return first(n - 1, s + 4); }
  return second(n - 1, s * 3);
}
fn outer(n: i32, s: i32) i32 { if (n == 0) { return s; } return inner(n, 3, s); }
fn inner(n: i32, k: i32, s: i32) i32 { if (k == 0) { return outer(n - 1, s); } return inner(n, k - 1, s + n * k); }
"""


def collatz(x: int) -> int:
    steps = 0
    while x != 1:
        x = x // 2 if x % 2 == 0 else 3 * x + 1
        steps += 1
    return steps


def fibonacci(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def states(n: int, s: int, at: str = "first") -> int:
    """Return the three functions that call each other."""
    while n > 0:
        match at:
            case "first":
                n, s, at = (n - 1, s + 1, "second") if n % 2 == 0 else (n - 1, s + 10, "third")
            case "second":
                n, s, at = (n - 1, s * 2, "first") if n % 3 == 0 else (n - 2, s + 3, "third")
            case _:
                n, s, at = (n - 1, s + 4, "first") if n % 2 == 1 else (n - 1, s * 3, "second")
    return s


def in_loop(n: int, s: int) -> int:
    while True:
        if n in (1, 2):
            return s * 10 + n
        n, s = n - 1, s + 1


def alternating(n: int, s: int) -> int:
    for k in range(n):
        s = s * 2 if k % 2 == 0 else s + 5
    return s


def local(n: int) -> int:
    return sum([k, k * k, k * k * k][k % 3] for k in range(1, n + 1))


N = range(6)
TAIL: dict[str, tuple[str, list[int]]] = {
    "gcd": ("return gcd(@as(u16, n) * 12 + 36, 48);", [math.gcd(n * 12 + 36, 48) for n in N]),
    "factorial": ("return factorial(n, 1);", [math.factorial(n) for n in N]),
    "mutual": ("return if (even(@as(u16, n))) 1 else 2;", [1 if n % 2 == 0 else 2 for n in N]),
    "mutual, from the other": ("return if (odd(@as(u16, n))) 1 else 2;", [1 if n % 2 else 2 for n in N]),
    "a void function": ("total = 0; add(n); return total;", [n * (n + 1) // 2 for n in N]),
    "before a return": ("total = 0; add_back(n); return total;", [n * (n + 1) // 2 + 1000 for n in N]),
    "switch": ("return by_switch(n, 0);", [n // 2 + 10 * (n % 2) for n in N]),
    "out of a loop": ("return in_loop(n + 1, 1);", [in_loop(n + 1, 1) for n in N]),
    "through a name": ("return named(n, 0);", [sum(range(n, 0, -3)) for n in N]),
    "structs": ("return fibonacci(n, pair{ .a = 0, .b = 1 }).a;", [fibonacci(n) for n in N]),
    "a pointer": ("return walk(&memory, n, 0);", [0, 1, 21, 321, 4321, 54321]),
    "pointers that change places": ("return search(&memory[1], &memory[4], n);", [20, 50000] * 3),
    "a known argument": ("return scale(n, 7, 1) + scale(n, 8, 0);", [2**n + 100 * n for n in N]),
    "a comptime parameter": ("return comptime_mode(0, n, 1);", [alternating(n, 1) for n in N]),
    "generic": ("return generic(i32, n, 0) + generic(i16, @as(i16, n), 0);", [n * (n + 1) for n in N]),
    "anytype": ("return any(@as(i32, n), 0);", [n * (n + 1) // 2 for n in N]),
    "local memory": ("return local(n, 0);", [local(n) for n in N]),
    "a call in an argument": ("return collatz(n + 3, 0);", [collatz(n + 3) for n in N]),
    "three states": ("return first(n + 9, 1);", [states(n + 9, 1) for n in N]),
    "a loop in a loop": ("return outer(n, 0);", [sum(6 * k for k in range(1, n + 1)) for n in N]),
    "the same twice": ("return factorial(n, 1) + factorial(n, 2);", [3 * math.factorial(n) for n in N]),
    "within an expression": ("return 1 + walk(&memory, n, factorial(n, 1));", [2, 3, 24, 328, 4346, 54442]),
}  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.slow
@pytest.mark.parametrize(("code", "expected"), TAIL.values(), ids=TAIL)
def test_tail_calls(csl: Csl, code: str, expected: list[int]) -> None:
    text = f"""
    {FUNCTIONS}
    fn f(n: i32) i32 {{ {code} }}
    var n: i32 = 0;
    var out = @zeros([6]i32);
    fn main() void {{ while (n < 6) : (n += 1) {{ out[n] = f(n); }} }}
    """
    assert csl.run(text, {"out": "i32"})["out"].tolist() == expected


@pytest.mark.one_in(3)
@pytest.mark.parametrize("code", [code for code, _ in TAIL.values()], ids=TAIL)
def test_no_tail_call_is_left(csl: Csl, code: str) -> None:
    program = compiled(
        csl,
        f"""
    {FUNCTIONS}
    fn f(n: i32) i32 {{ {code} }}
    var n: i32 = 0;
    fn main() void {{ n = f(n); }}
    """,
    )
    assert calls_in(program) == {"main": []}
    assert loops_in(program) > 0


DEEP = {
    # What main() does, and what it puts into out[0].
    "a number known at compile time": (
        "fn count(n: u16) void { if (n == 0) { return; } out[0] += 1; count(n - 1); }",
        "count(30000);", 30000,
    ),
    "two functions": (
        "fn even(n: u16) bool { return n == 0 or odd(n - 1); }\n"
        "fn odd(n: u16) bool { if (n == 0) { return false; } return even(n - 1); }",
        "out[0] = if (even(30001)) 1 else 2;", 2,
    ),
    "across modules": (
        'const m = @import_module("m.csl", .{ .back = back });\n'
        "fn back(n: u16) void { out[0] += 3; m.there(n - 1); }",
        "m.there(1000);", 3000,
    ),
    "many functions": (
        "".join(
            f"fn s{k}(n: i32) void {{ if (n == 0) {{ return; }} out[0] += {k}; "
            f"if (n % 3 == 0) {{ s{(k + 1) % 12}(n - 1); }} else if (n % 3 == 1) {{ s{(k + 5) % 12}(n - 1); }} "
            f"else {{ s{(k + 7) % 12}(n - 1); }} }}\n"
            for k in range(12)
        ),
        "s0(500);", 0,
    ),
}  # fmt: skip


def many_functions(n: int) -> int:
    k = total = 0
    while n > 0:
        total += k
        k, n = (k + [1, 5, 7][n % 3]) % 12, n - 1
    return total


@pytest.mark.one_in(2)
@pytest.mark.slow
@pytest.mark.parametrize(("declarations", "code", "expected"), DEEP.values(), ids=DEEP)
def test_constant_depth(csl: Csl, declarations: str, code: str, expected: int) -> None:
    csl.write({"m.csl": "param back: fn(u16) void;\nfn there(n: u16) void { if (n == 0) { return; } back(n); }\n"})
    if declarations.startswith("fn s0"):
        expected = many_functions(500)
    assert csl.compute(code, before=declarations) == expected


def test_parameters_that_are_dsds(csl: Csl) -> None:
    text = """
    var a = [12]i16{ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
    const first = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> a[i] });
    const last = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> a[i + 9] });
    fn move(n: i16, to: mem1d_dsd, from: mem1d_dsd) void {
      if (n == 0) { return; }
      @add16(to, to, from);
      move(n - 1, @increment_dsd_offset(to, 3, i16), from);
    }
    fn main() void { move(3, first, last); }
    """
    a = np.arange(1, 13)
    a[:9] += np.tile(a[9:], 3)
    assert csl.run(text, {"a": "i16"})["a"].tolist() == a.tolist()


def test_a_pointer_to_a_local_variable_is_no_tail_call(csl: Csl) -> None:
    # Each call has a variable of its own, which the calls it makes see.
    csl.refuses(
        """
    var out = @zeros([1]i16);
    fn f(n: i16, p: *i16) void {
      «var mine: i16 = n»;
      if (n == 0) { out[0] = p.*; return; }
      f(n - 1, &mine);
    }
    var count: i16 = 3;
    fn main() void { f(count, &out[0]); }
    comptime { @export_symbol(main); }
    """,
        "'mine' needs memory of its own in each call of a function that calls itself",
        layout=LAYOUT,
    )


# Other recursion

OTHER = """
const pair = struct { a: i32, b: i32 };
var out = @zeros([6]i32);
fn fact(n: i32) i32 { return if (n < 2) 1 else n * fact(n - 1); }
fn ackermann(m: i32, n: i32) i32 {
  if (m == 0) { return n + 1; }
  if (n == 0) { return ackermann(m - 1, 1); }
  return ackermann(m - 1, ackermann(m, n - 1));
}
fn even(n: i32) i32 { if (n == 0) { return 1; } return 3 * odd(n - 1); }
fn odd(n: i32) i32 { if (n == 0) { return 0; } return even(n - 1) + 1; }
fn swap(n: i32, p: pair) pair {
  if (n == 0) { return p; }
  const q = swap(n - 1, pair{ .a = p.b, .b = p.a });
  return pair{ .a = q.a + 1, .b = q.b };
}
fn sum(p: [*]i32, n: i32) i32 { return if (n == 0) 0 else sum(p, n - 1) + p[n - 1]; }
fn power(comptime k: i32, n: i32) i32 { return if (n == 0) 1 else k * power(k, n - 1); }
"""
CALLS: dict[str, tuple[str, dict[str, list[str]]]] = {
    "factorial": ("fact(n)", {"main": ["fact"], "fact": ["fact"]}),
    "ackermann": ("ackermann(n, n)", {"main": ["ackermann"], "ackermann": ["ackermann"]}),
    "mutual": ("even(n)", {"main": ["even"], "even": ["even"]}),
    "structs": ("swap(n, pair{ .a = 1, .b = 2 }).a", {"main": ["swap"], "swap": ["swap"]}),
    "pointers": ("sum(&out, n)", {"main": ["sum"], "sum": ["sum"]}),
    "comptime parameters": (
        "power(2, n) + power(3, n)",
        {"main": ["power", "power.2"], "power": ["power"], "power.2": ["power.2"]},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("call", "expected"), CALLS.values(), ids=CALLS)
def test_other_calls(csl: Csl, call: str, expected: dict[str, list[str]]) -> None:
    text = f"{OTHER}\nvar n: i32 = 0;\nfn main() void {{ out[0] = {call}; }}"
    program = compiled(csl, text)
    assert calls_in(program) == expected
    printed = str(program.module)
    flow = loomir.compile(printed)
    assert str(loomir.compile(str(flow.module)).module) == str(flow.module)


RESULTS = {
    "factorial": math.factorial(3),
    "ackermann": 2 ** (3 + 3) - 3,
    "mutual": 3,
    "structs": 2 + 3,
    "pointers": 0,
    "comptime parameters": 2**3 + 3**3,
}
"""Of the calls for 3."""


@pytest.mark.parametrize(("call", "result"), [(CALLS[name][0], RESULTS[name]) for name in CALLS], ids=CALLS)
def test_other_calls_are_run(csl: Csl, call: str, result: int) -> None:
    text = f"{OTHER}\nvar number = @zeros([1]i32);\nfn main() void {{ const n = number[0]; out[0] = {call}; }}"
    simulator = csl.start(text, {"out": "i32", "number": "i32"})
    simulator.launch("main")
    simulator.set("number", [3])
    simulator.launch("main")
    assert simulator.get("out").ravel()[0] == result


@pytest.mark.parametrize("call", [call for call, _ in CALLS.values() if "pair" not in call])
def test_other_calls_as_csl(csl: Csl, call: str) -> None:
    text = f"{OTHER}\nvar n: i32 = 0;\nfn main() void {{ out[0] = {call}; }}"
    first = compiled(csl, text)
    files = source_of(first.module)
    layout = next(name for name in files if "layout" in name)
    csl.write(files)
    again = compile_layout(csl.directory / layout, arch="wse2", memcpy=True)
    count = sum(len(called) for called in calls_in(first).values())
    assert sum(len(called) for called in calls_in(again).values()) == count


def test_known_arguments_that_do_not_end_the_calls(csl: Csl) -> None:
    text = "var x: i16 = 9; fn f(n: i16) void { if (x > n) { f(n + 1); x -= 1; } } fn main() void { f(0); }"
    assert calls_in(compiled(csl, text)) == {"f": ["f"], "main": ["f"]}


def test_exported_function_that_calls_itself(csl: Csl) -> None:
    text = "var x: i16 = 0; fn main() void { x += 1; if (x < 9) { main(); } x += 1; }"
    assert calls_in(compiled(csl, text)) == {"main": ["main"], "main.2": ["main"]}


def test_known_arguments_end_at_compile_time(csl: Csl) -> None:
    text = f"{OTHER}\nfn main() void {{ out[0] = fact(10); out[1] = ackermann(2, 2); }}"
    assert calls_in(compiled(csl, text)) == {"main": []}
    assert csl.run(text, {"out": "i32"})["out"].tolist()[:2] == [3628800, 7]


# Tasks

MATRIX = """
const next_id: local_task_id = @get_local_task_id(9);
var a = @zeros([4]f32);
var b = [4]f32{ 1.0, 2.0, 3.0, 4.0 };
var order = @zeros([40]i16);
const a_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[i] });
const b_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> b[i] });
const c = @get_color(4);
const to = @get_output_queue(3);
const from = @get_input_queue(2);
const send = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = to });
const receive = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c, .input_queue = from });
var at: u16 = 0;
var round: i16 = 0;
fn log(what: i16) void { order[at] = what * 100 + round; at += 1; }
fn main() void {
  log(1);
  if (round == 11) { return; }
  @fmacs(a_dsd, a_dsd, b_dsd, @as(f32, round));
  step();
}
fn step() void {
  round += 1;
  log(2);
  if (round % 4 == 0) {
    // The rest of the rounds waits for this.
    @fmovs(send, b_dsd, .{ .async = true });
    @fadds(a_dsd, a_dsd, receive, .{ .async = true, .activate = next_id });
    return;
  }
  main();
}
task next() void { log(3); if (round == 8) { step(); } else { main(); } }
comptime {
  @bind_local_task(next, next_id);
  if (@is_arch("wse3")) { @initialize_queue(to, .{ .color = c }); @initialize_queue(from, .{ .color = c }); }
}
"""
LOOPBACK = "@set_color_config(0, 0, @get_color(4), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_tasks_between(csl: Csl, arch: str) -> None:
    made = csl.start(MATRIX, {"a": "f32", "order": "i16"}, arch=arch, layout=LOOPBACK)
    made.launch("main")
    order: list[int] = []
    a, b, number, where = np.zeros(4, np.float32), np.arange(1, 5, dtype=np.float32), 0, "main"
    while True:
        if where == "main":
            order.append(100 + number)
            if number == 11:
                break
            a, where = a + b * number, "step"
        elif where == "step":
            number += 1
            order.append(200 + number)
            where = "next" if number % 4 == 0 else "main"
            a = a + b if where == "next" else a
        else:
            order.append(300 + number)
            where = "step" if number == 8 else "main"
    assert made.get("order")[0, 0].tolist() == order + [0] * (40 - len(order))
    assert made.get("a")[0, 0].tolist() == a.tolist()


def test_a_task_that_is_activated_again_is_no_recursion(csl: Csl) -> None:
    text = """
    const id: local_task_id = @get_local_task_id(9);
    var out = @zeros([1]i16);
    fn again() void { out[0] += 1; if (out[0] < 100) { @activate(id); } }
    task t() void { again(); }
    fn main() void { again(); }
    comptime { @bind_local_task(t, id); }
    """
    made = csl.start(text, {"out": "i16"})
    made.launch("main")
    assert made.get("out")[0, 0].tolist() == [100]


# Random functions that go on with each other: many loops of tail calls, one inside the other or sharing functions.

INPUTS = (0, 1, 6, 13, 20, 31, 47)


class Jumps:
    """Functions of (n, s), each of which takes some of n and goes on with another one, as remainders of n say."""

    def __init__(self, seed: int) -> None:
        choose = random.Random(seed)
        count = choose.randint(2, 5)

        def jump() -> tuple[int, int, int, int]:
            """Return the function to go on with, and what `s` is multiplied by, what is added and what n loses."""
            return choose.randrange(count), choose.randint(1, 3), choose.randint(0, 9), choose.randint(1, 3)

        def arm() -> tuple[int, int, bool, tuple[int, int, int, int]]:
            """Return the divisor and remainder that choose a jump, and if three numbers are tried in a loop."""
            divisor = choose.randint(2, 5)
            return divisor, choose.randrange(divisor), choose.random() < 0.2, jump()

        self.functions = [([arm() for _ in range(choose.randint(1, 3))], jump()) for _ in range(count)]

    def text(self, *, by_globals: bool) -> str:
        """Return the functions: of parameters, or of the globals `n` and `s`."""

        def go(jump: tuple[int, int, int, int], more: str = "") -> str:
            target, factor, summand, lost = jump
            if by_globals:
                return f"s = s * {factor} + {summand}{more}; n -= {lost}; f{target}(); return;"
            return f"return f{target}(n - {lost}, s * {factor} + {summand}{more});"

        lines: list[str] = []
        for number, (arms, last) in enumerate(self.functions):
            lines.append(
                f"fn f{number}() void {{ if (n <= 0) {{ s += {number}; return; }}"
                if by_globals
                else f"fn f{number}(n: i32, s: i32) i32 {{ if (n <= 0) {{ return s + {number}; }}"
            )
            for divisor, remainder, in_loop, jump in arms:
                if in_loop:
                    inside = f"if ((n + k) % {divisor} == {remainder}) {{ {go(jump, ' + k')} }}"
                    lines.append(f"for (@range(i32, 3)) |k| {{ {inside} }}")
                else:
                    lines.append(f"if (n % {divisor} == {remainder}) {{ {go(jump)} }}")
            lines.append(f"{go(last)} }}")
        return "\n".join(lines)

    def result(self, n: int) -> int:
        """Return what the functions make of n, as a 32-bit number."""
        s, at = np.array(1, np.int32), 0
        while n > 0:
            arms, (target, factor, summand, lost) = self.functions[at]
            for divisor, remainder, in_loop, jump in arms:
                hits = [k for k in range(3 if in_loop else 1) if (n + k) % divisor == remainder]
                if hits:
                    target, factor, summand, lost = jump
                    summand += hits[0]
                    break
            s, at, n = s * np.int32(factor) + np.int32(summand), target, n - lost
        return int(s + np.int32(at))


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("outlined", ["in place", "outlined"])
@pytest.mark.parametrize("by_globals", [False, True], ids=["parameters", "globals"])
def test_random_tail_calls(
    csl: Csl, by_globals: bool, outlined: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if outlined == "outlined":
        monkeypatch.setattr(calls, "MAX_INLINED_NODES", 100)
        monkeypatch.setattr(calls, "MAX_REPEATED_NODES", 100)
    jumps = Jumps(seed)
    call = "n = given[k]; s = 1; f0(); out[k] = s;" if by_globals else "out[k] = f0(given[k], 1);"
    text = f"""
    {"var n: i32 = 0; var s: i32 = 0;" if by_globals else ""}
    {jumps.text(by_globals=by_globals)}
    var given = [{len(INPUTS)}]i32 {{ {", ".join(map(str, INPUTS))} }};
    var out: [{len(INPUTS)}]i32;
    fn main() void {{ for (@range(i16, {len(INPUTS)})) |k| {{ {call} }} }}
    """
    with np.errstate(over="ignore"):
        expected = [jumps.result(n) for n in INPUTS]
    assert csl.run(text, {"out": "i32"})["out"].tolist() == expected, text


@pytest.mark.slow
def test_functions_that_all_go_on_with_each_other_are_one_loop(csl: Csl) -> None:
    """Each of the functions leads back to each: loops inside loops would be more than can be emitted."""
    count = 9
    going_on = "".join(f"if (n % {count} == {k}) {{ f{k}(n - {k + 1}); return; }} " for k in range(count))
    begun = "if (n < 1) { return; }"
    functions = "\n".join(f"fn f{k}(n: i16) void {{ {begun} out[{k}] += n; {going_on} }}" for k in range(count))
    text = f"var out = @zeros([{count}]i16); var start: i16 = 500;\n{functions} fn main() void {{ f0(start); }}"
    program = compiled(csl, text)
    assert (calls_in(program), loops_in(program)) == ({"main": []}, 1)
    expected = [0] * count
    at, n = 0, 500
    while n > 0:
        expected[at] += n
        at, n = n % count, n - n % count - 1
    assert csl.run(text, {"out": "i16"})["out"].tolist() == [(x + 0x8000) % 0x10000 - 0x8000 for x in expected]


def test_a_loop_inside_that_goes_on_with_the_one_around_it(csl: Csl) -> None:
    """`g` takes a pointer to a variable of `f`, so that it cannot be an iteration beside those of `f`."""
    text = """
    var out = @zeros([1]i16);
    var start: i16 = 40;
    fn f(n: i16) void { if (n <= 0) { return; } var local: i16 = n; g(&local, n - 1); }
    fn g(p: *i16, n: i16) void { p.* += 1; if (n % 3 == 0) { out[0] += p.*; f(n - 1); return; } g(p, n - 1); }
    fn main() void { f(start); }
    """
    assert (calls_in(compiled(csl, text)), loops_in(compiled(csl, text))) == ({"main": []}, 2)
    n, out = 40, 0
    while n > 0:
        local, n = n + 1, n - 1
        while n % 3:
            local, n = local + 1, n - 1
        out, n = out + local, n - 1
    assert csl.run(text, {"out": "i16"})["out"].tolist() == [out]


KNOWN_AT_FIRST = """
var out = @zeros([1]i16);
const table = [3]i16 { 10, 20, 30 };
var next: i16 = 2;
var start: i16 = 20;
fn f(n: i16, k: i16) void { if (n <= 0) { return; } g(n - 1, k); }
fn g(n: i16, k: i16) void { if (n > 12) { f(n - 1, next); return; } out[0] += table[k]; f(n - 1, k); }
"""
"""The first call passes 5, with which `table[k]` is an error; no call that comes there does."""


def test_what_a_loop_takes_as_known_at_first_leads_to_no_error(csl: Csl) -> None:
    text = f"{KNOWN_AT_FIRST} fn main() void {{ f(start, 5); }}"
    assert csl.run(text, {"out": "i16"})["out"].tolist() == [6 * 30]


def test_it_is_no_error_beside_others_either(csl: Csl) -> None:
    bad = "fn h(n: i16) void { if (n > 0) { missing = n; h(n - 1); } }"
    with pytest.raises(loomir.LoomError) as raised:
        compiled(csl, f"{KNOWN_AT_FIRST} {bad} fn main() void {{ wrong = 3; f(start, 5); h(start); }}")
    assert [name for name in ("missing", "wrong", "index") if name in str(raised.value)] == ["missing", "wrong"]


def test_endless_tail_recursion_is_stopped_like_a_loop(csl: Csl) -> None:
    text = "var out = @zeros([1]i16); fn f(n: i16) void { out[0] = n; f(n + 1); } fn main() void { f(out[0]); }"
    simulator = csl.start(text, {"out": "i16"})
    with pytest.raises(loomir.LoomError, match=r"runs past its step limit of \d+ in @main on PE"):
        simulator.launch("main")


def test_code_that_needs_its_arguments_at_compile_time(csl: Csl) -> None:
    # No loop can be made of it, because the size of an array changes.
    text = """
    fn f(n: u16, s: i16) i16 {
      if (n == 0) { return s; }
      const a = @constants([n]i16, 2);
      return f(n - 1, s + a[n - 1]);
    }
    """
    assert csl.compute("return_(f(40, 1));", before=f"{text}\nfn return_(x: i16) void {{ out[0] = x; }}") == 81


def test_recursion_through_a_pointer(csl: Csl) -> None:
    text = """
    var out = @zeros([1]i16);
    var start = @zeros([1]i16);
    var p: *const fn(i16) void = &down;
    fn up(n: i16) void { if (n > 0) { p = &down; p(n - 1); } out[0] += 1; }
    fn down(n: i16) void { if (n > 0) { p = &up; p(n - 1); } out[0] += 1; }
    fn main() void { p(start[0]); }
    """
    simulator = csl.start(text, {"out": "i16", "start": "i16"})
    simulator.launch("main")
    assert simulator.get("out").ravel().tolist() == [1]
    simulator.set("start", [1])
    simulator.launch("main")
    assert simulator.get("out").ravel().tolist() == [3]
