"""Every form of statement and expression, as code for run time and at compile time: both must give the same."""

# ruff: noqa: E501 (a program is one line of a table)

from __future__ import annotations

import numpy as np
import pytest

from loomir.csl import CslError

from .harness import NUMPY, Csl

BOTH: dict[str, tuple[str, list[int]]] = {
    # A function f(n: i16) i32, and what it gives for n = 0 to 5. `unknown` is not known at compile time in code.
    "if": ("if (n > 2) { return 1; } return 0;", [0, 0, 0, 1, 1, 1]),
    "if else": ("if (n == 3) { return 1; } else { return 2; }", [2, 2, 2, 1, 2, 2]),
    "else if": ("if (n == 1) { return 10; } else if (n == 2) { return 20; } else if (n == 3) return 30; return 0;", [0, 10, 20, 30, 0, 0]),
    "if expression": ("return if (n < 3) 1 else 2;", [1, 1, 1, 2, 2, 2]),
    "if expressions in a row": ("return if (n == 0) 7 else if (n == 4) 8 else n;", [7, 1, 2, 3, 8, 5]),
    "if with a wider peer": ("const big: i32 = 70000; const r = if (n == 1) n else big; return r;", [70000, 1] + [70000] * 4),
    "assigning in branches": ("var r: i32 = 5; if (n > 1) { r = 7; } else if (n == 1) { r += 1; } return r;", [5, 6, 7, 7, 7, 7]),
    "nested ifs": ("var r: i32 = 0; if (n > 0) { r = 1; if (n > 1) { r = 2; if (n == 2) { r = 3; } } } return r;", [0, 1, 3, 2, 2, 2]),
    "while": ("var i: i16 = 0; var r: i32 = 0; while (i < n) { i += 1; r += i; } return r;", [0, 1, 3, 6, 10, 15]),
    "while with update": ("var i: i16 = 0; var r: i32 = 0; while (i < n) : (i += 2) { r += i; } return r;", [0, 0, 0, 2, 2, 6]),
    "while with continue": ("var i: i16 = 0; var r: i32 = 0; while (i < n) : (i += 1) { if (i == 2) { continue; } r += i; } return r;", [0, 0, 1, 1, 4, 8]),
    "while with break": ("var i: i16 = 0; while (true) : (i += 1) { if (i * i >= n) { break; } } return i;", [0, 1, 2, 2, 2, 3]),
    "while with return": ("var i: i16 = 0; while (true) { if (i + 2 > n) { return i; } i += 1; } return -1;", [0, 0, 1, 2, 3, 4]),
    "for over a range": ("var r: i32 = 0; for (@range(i16, n)) |i| { r += i * i; } return r;", [0, 0, 1, 5, 14, 30]),
    "for from to step": ("var r: i32 = 0; for (@range(i16, 1, 9, 3)) |i| { r = r * 10 + i + n; } return r;", [147, 258, 369, 480, 591, 702]),
    "for downwards": ("var r: i32 = 0; for (@range(i16, 3, -1, -1)) |i| { r = r * 10 + i; } return r + n;", [3210 + n for n in range(6)]),
    "for downwards from n": ("var r: i32 = 0; for (@range(i16, n, 0, -2)) |i| { r = r * 10 + i; } return r;", [0, 1, 2, 31, 42, 531]),
    "an empty range": ("var r: i32 = 9; for (@range(i16, 5, 5, 1)) |i| { r += i; } for (@range(i16, 7, 5, 1)) |i| { r += i; } return r + n;", [9 + n for n in range(6)]),
    "for with an index": ("var r: i32 = 0; for (@range(i16, 10, 10 + n, 1)) |x, i| { r += x * @as(i16, i); } return r;", [0, 0, 11, 35, 74, 130]),
    "for over an array": ("var r: i32 = 0; for ([4]i16{ 5, 6, 7, 8 }) |x, i| { if (@as(i16, i) < n) { r += x; } } return r;", [0, 5, 11, 18, 26, 26]),
    "for over an array, left": ("for ([4]i16{ 5, 6, 7, 8 }) |x| { if (x > 4 + n) { return x; } } return 0;", [5, 6, 7, 8, 0, 0]),
    "for without a name": ("var r: i32 = 0; for (@range(i16, n)) |_| { r += 3; } return r;", [0, 3, 6, 9, 12, 15]),
    "for with break": ("var r: i32 = 0; for (@range(i16, 10)) |i| { if (i == n) { break; } r += i; } return r;", [0, 0, 1, 3, 6, 10]),
    "for with continue": ("var r: i32 = 0; for (@range(i16, 6)) |i| { if (i == n) { continue; } r += i; } return r;", [15, 14, 13, 12, 11, 10]),
    "for in for": ("var r: i32 = 0; for (@range(i16, n)) |i| { for (@range(i16, i)) |j| { r += i * j; } } return r;", [0, 0, 0, 2, 11, 35]),
    "break to a label": ("var r: i32 = 0; outer: for (@range(i16, 4)) |i| { for (@range(i16, 4)) |j| { if (i * j == n) { break :outer; } r += 1; } } return r;", [0, 5, 6, 7, 10, 16]),
    "continue at a label": ("var r: i32 = 0; outer: for (@range(i16, 4)) |i| { for (@range(i16, 4)) |j| { if (j == n) { continue :outer; } r += 1; } r += 100; } return r;", [0, 4, 8, 12, 416, 416]),
    "while in for with a label": ("var r: i32 = 0; outer: while (r < 50) { for (@range(i16, 3)) |i| { r += i + n; if (r > 20) { break :outer; } } } return r;", [21, 21, 23, 24, 24, 23]),
    "a block": ("var r: i32 = 1; { var r2: i32 = 2; r2 += n; r = r2; } return r;", [2, 3, 4, 5, 6, 7]),
    "a labeled block": ("var r: i32 = 0; out: { if (n < 2) { break :out; } r += 1; if (n < 4) { break :out; } r += 1; } return r;", [0, 0, 1, 1, 2, 2]),
    "a block's value": ("const r: i32 = blk: { if (n == 0) { break :blk 100; } if (n < 3) { break :blk n; } break :blk -1; }; return r;", [100, 1, 2, -1, -1, -1]),
    "a loop left through a block": ("var r: i32 = 0; for (@range(i16, 6)) |i| { b: { if (i == n) { break; } if (i == 1) { break :b; } r += 10; } r += 1; } return r;", [0, 11, 12, 23, 34, 45]),
    "a block's value from a loop": ("const r = blk: { for ([4]i32{ 3, 9, 2, 70000 }) |x, i| { if (@as(i16, i) >= n) { break :blk x * 2; } } break :blk -n; }; return r;", [6, 18, 4, 140000, -4, -5]),
    "a block's value from a loop in a loop": ("const r = b: { var k: i16 = 0; while (k < 9) : (k += 1) { for (@range(i16, 3)) |j| { if (j * k == n) { break :b .{ k, @as(i32, j) }; } } } break :b .{ n, @as(i32, -1) }; }; return r[0] * 10 + r[1];", [0, 11, 12, 31, 22, 51]),
    "a known value from a loop": ("const r: i32 = 1 + b: { for (@range(i16, n)) |i| { if (i > 2) { break :b 40; } } break :b @as(i32, n); }; return r;", [1, 2, 3, 4, 41, 41]),
    "a side that returns": ("const x = if (n == 2) return 77 else n + 1; return x;", [1, 2, 77, 4, 5, 6]),
    "a side that leads elsewhere": ("var r: i32 = 0; for (@range(i16, 4)) |i| { r += switch (i) { 0 => @as(i32, n * 3), 1 => if (n > 4) { return -1; } else n, else => { if (n == 3) { return r; } continue; } }; } return r;", [0, 4, 8, 12, 16, -1]),
    "a jump in what is added": ("var r: i32 = 0; for (@range(i16, 5)) |i| { r += if (i < n) i else if (i == n) break else 100; r += 1; } return r;", [0, 1, 3, 6, 10, 15]),
    "a jump in a divisor": ("var r: i32 = 0; var k: i16 = n; while (true) : (k -= 1) { r += 60 / (if (k == 0) break else k); } return r;", [0, 60, 90, 110, 125, 137]),
    "a jump in a remainder's divisor": ("var r: i32 = 0; var k: i16 = n; while (true) : (k -= 1) { r += 1 + 7 % (if (k == 0) return r else k) * 10; }", [0, 1, 12, 23, 54, 75]),
    "a jump in what divides a variable": ("var r: i32 = 600; var k: i16 = n; while (true) : (k -= 1) { r /= if (k == 0) break else k; } return r;", [600, 600, 300, 100, 25, 5]),
    "a jump in an argument": ("var r: i32 = 0; for (@range(i16, 5)) |i| { r += twice(if (i == n) continue else i) + 1; } return r;", [24, 22, 20, 18, 16, 25]),
    "a jump in a condition": ("var r: i32 = 0; for (@range(i16, 5)) |i| { if ((if (i == n) break else i) < 3) { r += 10; } else { r += 1; } } return r;", [0, 10, 20, 30, 31, 32]),
    "a jump in what a switch takes": ("var r: i32 = 0; for (@range(i16, 5)) |i| { switch (if (i == n) continue else i) { 0, 1 => r += 1, else => r += 10 } } return r;", [31, 31, 22, 22, 22, 32]),
    "a jump in what is returned": ("for (@range(i16, 5)) |i| { return if (i == n) continue else i * 10; } return -1;", [10, 0, 0, 0, 0, 0]),
    "a jump in a block's value": ("const v = out: { for (@range(i16, 5)) |i| { break :out if (i < n) continue else i; } break :out @as(i16, 77); }; return v;", [0, 1, 2, 3, 4, 77]),
    "a jump in the condition of a loop": ("var r: i32 = 0; var i: i16 = 0; outer: while (i < 3) : (i += 1) { var k: i16 = 0; while ((if (k + i > n) break :outer else k) < 4) : (k += 1) { r += 1; } r += 100; } return r;", [1, 2, 3, 4, 108, 212]),
    "a jump in what a loop goes over": ("var r: i32 = 0; for (@range(i16, 6)) |i| { for (@range(i16, if (i == n) break else i)) |j| { r += j + 1; } } return r;", [0, 0, 1, 4, 10, 20]),
    "a jump in what is assigned to": ("var a = [4]i32{ 0, 0, 0, 0 }; for (@range(u16, 4)) |i| { a[if (@as(i16, i) == n) break else i] = if (i == 1) continue else 5; } return a[0] + a[1] * 10 + a[2] * 100 + a[3] * 1000;", [0, 5, 5, 505, 5505, 5505]),
    "switch": ("switch (n) { 0 => { return 5; }, 1, 3 => { return 6; }, else => {} } return 7;", [5, 6, 7, 6, 7, 7]),
    "switch expression": ("return switch (n) { 1 => 10, 2, 3 => n * 2, else => -n };", [0, 10, 4, 6, -4, -5]),
    "switch over an enum": ("const m = if (n == 0) mode.a else if (n == 1) mode.b else mode.c; return switch (m) { mode.a => 1, mode.b => 2, mode.c => 3 };", [1, 2, 3, 3, 3, 3]),
    "switch that assigns": ("var r: i32 = 1; switch (n) { 2 => r = 5, 3 => r += 5, else => r = 0 } return r;", [0, 0, 5, 6, 0, 0]),
    "enum values": ("var m = mode.a; if (n > 3) { m = mode.c; } return if (m == mode.a) 1 else @as(i32, m);", [1, 1, 1, 1, 9, 9]),
    "and or": ("return if (n > 1 and n < 4 or n == 5) 1 else 0;", [0, 0, 1, 1, 0, 1]),
    "not": ("const b = !(n == 2); return if (b) 1 else 0;", [1, 1, 0, 1, 1, 1]),
    "booleans as numbers": ("return @as(i32, n > 2) + @as(i32, n == 4) * 2;", [0, 0, 0, 1, 3, 1]),
    "arithmetic": ("const x: i32 = n; return (x + 7) * 3 - x / 2 % 5 + -x;", [21, 23, 24, 26, 27, 29]),
    "division towards zero": ("const x: i32 = n; return (x - 3) / 2 * 100 + (x - 3) % 2;", [-101, -100, -1, 0, 1, 100]),
    "bits": ("const x: i32 = n; return (x << 4 | 5) & 0x3b ^ ~x & 1;", [(((n << 4 | 5) & 0x3B) ^ ~n) & 1 for n in range(6)]),
    "shifts": ("const x: i32 = n - 3; return (x >> 1) + (x << 2);", [(n - 3 >> 1) + (n - 3 << 2) for n in range(6)]),
    "compound assignments": ("var r: i32 = n; r += 5; r -= 1; r *= 3; r /= 2; r %= 7; r <<= 2; r >>= 1; r |= 8; r &= 0xe; r ^= 3; return r;",
                             [(((n + 4) * 3 // 2 % 7 << 2 >> 1 | 8) & 0xE) ^ 3 for n in range(6)]),
    "ignored values": ("_ = n + 1; _ = twice(n); return n;", [0, 1, 2, 3, 4, 5]),
    "calls": ("return twice(twice(n)) + least(n, 3);", [0, 5, 10, 15, 19, 23]),
    "a call with an early return": ("return first_above(n) + first_above(n + 1);", [4, 8, 12, 16, 20, 24]),
    "generic calls": ("return largest(i32, n, 2) + largest(i16, n, 4);", [6, 6, 6, 7, 8, 10]),
    "anytype": ("return add_one(n) + add_one(@as(i32, n));", [2, 4, 6, 8, 10, 12]),
    "inline": ("return inlined(n, 2) + inlined(3, n);", [3, 9, 15, 21, 27, 33]),
    "functions as values": ("const f = if (@is_same_type(i16, i16)) twice else other; return f(n);", [0, 2, 4, 6, 8, 10]),
    "structs": ("var p = point{ .x = n, .y = 2 }; p.y += p.x; const q = p; p.x = 100; return q.x * 10 + q.y;", [2, 13, 24, 35, 46, 57]),
    "structs from functions": ("const p = swapped(point{ .x = n, .y = 2 }); return p.x * 10 + p.y;", [20, 21, 22, 23, 24, 25]),
    "tuples": ("const t = .{ n, @as(i32, 7) }; return t[0] + t[1];", [7, 8, 9, 10, 11, 12]),
    "anonymous structs": ("const s = .{ .a = n, .b = .{ .c = @as(i32, 3) } }; return s.a * s.b.c;", [0, 3, 6, 9, 12, 15]),
    "arrays": ("var a = [4]i16{ 1, 2, 3, 4 }; a[1] = n; a[0] += a[1]; var r: i32 = 0; for (a) |x| { r = r * 10 + x; } return r;", [1034, 2134, 3234, 4334, 5434, 6534]),
    "arrays are values": ("var a = [2]i16{ 1, 2 }; const b = a; a[0] = n; return b[0] * 10 + a[0];", [10, 11, 12, 13, 14, 15]),
    "matrices": ("var m = @zeros([2, 3]i16); m[1, 2] = n; m[0, 1] = m[1, 2] + 1; return m[0, 1] * 10 + m[1, 2];", [10, 21, 32, 43, 54, 65]),
    "an index that varies": ("var a = @zeros([6]i16); for (@range(i16, 6)) |i| { a[i] = i * i; } return a[n];", [0, 1, 4, 9, 16, 25]),
    "a constant array": ("const a = [6]i32{ 9, 8, 7, 70000, 5, 4 }; return a[n];", [9, 8, 7, 70000, 5, 4]),
    "undefined until set": ("var r: i32; if (n > 2) { r = 1; } else { r = 2; } return r;", [2, 2, 2, 1, 1, 1]),
    "a comptime variable": ("comptime var k = 3; k += 4; const r: i32 = k; return r + n;", [7, 8, 9, 10, 11, 12]),
    "a comptime loop": ("comptime var k = 0; comptime { for (@range(comptime_int, 4)) |i| { k += i; } }; return @as(i32, k) + n;", [6, 7, 8, 9, 10, 11]),
    "inline for": ("comptime var k = 0; var r: i32 = 0; inline for ([3]i16{ 5, 6, 7 }) |x, i| { k += x; @comptime_assert(x == i + 5); if (n > i) { r += k; } } return r;", [0, 5, 16, 34, 34, 34]),
    "inline for over a range": ("var r: i32 = 0; inline for (@range(comptime_int, 3)) |k| { var a = @zeros([k + 1]i32); a[k] = n; r = r * 10 + a[k]; } return r;", [111 * n for n in range(6)]),
    "inline for over a variable": ("var a = [3]i16{ n, 2, 1 }; var r: i32 = 0; inline for (a) |x, i| { r = r * 10 + x * i; } return r;", [22] * 6),
    "jumps in inline for": ("var r: i32 = 0; inline for ([5]i16{ 1, 2, 3, 4, 9 }) |x| { if (x == n) { continue; } if (n == 5 and x == 3) { break; } if (x > 4) { return r * 10; } r = r * 10 + x; } return r;", [12340, 2340, 1340, 1240, 1230, 12]),
    "break to the label of inline for": ("var r: i32 = 0; outer: inline for ([3]i16{ 1, 2, 3 }) |x| { for (@range(i16, 3)) |y| { if (x * y == n) { break :outer; } r += 1; } } return r;", [0, 1, 2, 7, 5, 9]),
    "comptime calls": ("const t = comptime table(); return t[n];", [0, 1, 4, 9, 16, 25]),
    "dead branches": ("if (@is_same_type(i16, f32)) { return undeclared(n); } return n;", [0, 1, 2, 3, 4, 5]),
    "short circuits": ("return if (true or undeclared) n else nothing;", [0, 1, 2, 3, 4, 5]),
    "characters": ("return 'a' + '\\n' + '\\x01' + n;", [108, 109, 110, 111, 112, 113]),
    "bytes": ("const s = @get_array(\"abcdef\"); return @as(i32, s[n]);", [97, 98, 99, 100, 101, 102]),
    "recursion": ("return n + comptime fibonacci(10);", [55, 56, 57, 58, 59, 60]),
    "recursion over comptime": ("return power(n, 3);", [0, 1, 8, 27, 64, 125]),
    "8 bits": ("var x: i8 = 100; x += 27; var y: u8 = 250; y += @as(u8, n); return @as(i32, x) * 1000 + @as(i32, y);", [127250, 127251, 127252, 127253, 127254, 127255]),
    "wrapping": ("var x: u16 = 65533; x += @as(u16, n); var y: i16 = 32766; y += n; return @as(i32, x) - @as(i32, y);",
                 [65533 - 32766, 65534 - 32767, 65535 + 32768, 0 + 32767, 1 + 32766, 2 + 32765]),
    "types as values": ("const T = if (@is_same_type(@type_of(n), i16)) i32 else f32; const x: T = 5; return x + n;", [5, 6, 7, 8, 9, 10]),
    "types chosen where a type is written": ("const x: if (true) i32 else i16 = 70000; var a: [2]switch (@as(u16, 3)) { 3 => i32, else => f32 } = [2]i32{ n, x }; return a[0] + as_wide(@as(i16, a[1] - x)) + as_wide(x);", [70000 + n for n in range(6)]),
    "type functions": ("const P = pair_of(i32); const p = P{ .a = n, .b = 70000 }; return p.a + p.b;", [70000 + n for n in range(6)]),
}  # fmt: skip

FUNCTIONS = """
const mode = enum(i16) { a, b = 4, c = 9 };
const point = struct { x: i16, y: i16 };
fn twice(x: i16) i16 { return x * 2; }
fn other(x: i16) i16 { return x; }
fn least(a: i16, b: i16) i16 { if (a < b) { return a; } return b; }
fn first_above(n: i16) i16 { for (@range(i16, 1, 50, 1)) |i| { if (i > n * 2) { return i; } } return -1; }
fn largest(comptime T: type, a: T, b: T) T { return if (a > b) a else b; }
fn add_one(x: anytype) @type_of(x) { return x + 1; }
inline fn inlined(a: i16, b: i16) i16 { return a * b + a; }
fn swapped(p: point) point { return point{ .x = p.y, .y = p.x }; }
fn table() [6]i32 { var t = @zeros([6]i32); for (@range(i32, 6)) |i| { t[i] = i * i; } return t; }
fn fibonacci(n: i32) i32 { return if (n < 2) n else fibonacci(n - 1) + fibonacci(n - 2); }
fn power(x: i16, comptime k: u16) i32 { if (k == 0) { return 1; } else { return x * power(x, k - 1); } }
fn is_short(comptime T: type) bool { return @is_same_type(T, i16); }
fn as_wide(x: anytype) if (comptime is_short(@type_of(x))) i32 else comptime @type_of(x) { return x; }
fn pair_of(comptime T: type) type { return struct { a: T, b: T }; }
"""


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("code", "expected"), BOTH.values(), ids=BOTH)
def test_at_run_time_and_at_compile_time(csl: Csl, code: str, expected: list[int]) -> None:
    text = f"""
    {FUNCTIONS}
    fn f(n: i16) i32 {{ {code} }}
    var unknown: i16 = 0;
    var out = @zeros([6]i32);
    const known = [6]i32{{ f(0), f(1), f(2), f(3), f(4), f(5) }};
    var copy = known;
    fn main() void {{ while (unknown < 6) : (unknown += 1) {{ out[unknown] = f(unknown); }} }}
    """
    result = csl.run(text, {"out": "i32", "copy": "i32"})
    assert result["copy"].tolist() == expected
    assert result["out"].tolist() == expected


RUN = {
    # What main() does to out: [8]i16, and what it holds then.
    "pointers": ("var x: i16 = 3; const p = &x; p.* += 4; out[0] = x; change(&x); out[1] = x; out[2] = p.*;", [7, 42, 42]),
    "pointers to elements": ("const p = &out[3]; p.* = 5; const q: [*]i16 = &out; q[1] = p.*;", [0, 5, 0, 5]),
    "pointers to arrays": ("const p: *[8]i16 = &out; p.*[2] = 9; p[3] = 8; for (p.*) |x, i| { if (i == 2) { out[0] = x; } }", [9, 0, 9, 8]),
    "pointers that vary": ("var p: *i16 = &out[0]; var i: i16 = 0; while (i < 3) : (i += 1) { p.* = i + 1; p = &out[i + 1]; } p.* = 7;", [1, 2, 3, 7]),
    "a pointer from a block": ("const p = b: { const i = @as(u16, unknown + 1); if (i > 0) { break :b &out[i + 1]; } break :b &out[7]; }; p.* = 6;", [0, 0, 6]),
    "a pointer from a loop": ("const p = b: { while (true) { unknown += 1; if (unknown > 2) { break :b &out[unknown]; } } }; p.* = 6;", [0, 0, 0, 6]),
    "a descriptor from a loop": ("var d: mem1d_dsd; while (true) { unknown += 1; if (unknown > 2) { d = @get_dsd(mem1d_dsd, .{ .base_address = &out[unknown], .extent = @as(u16, unknown) }); break; } } @mov16(d, @as(i16, 5));", [0, 0, 0, 5, 5, 5]),
    "choosing a pointer": ("const p = if (unknown == 0) &out[1] else &out[2]; p.* = 6;", [0, 6]),
    "pointers in structs": ("const s = .{ .to = &out[2], .by = @as(i16, 3) }; s.to.* = s.by;", [0, 0, 3]),
    "pointers to structs": ("var p = point{ .x = 1, .y = 2 }; move(&p); out[0] = p.x; out[1] = p.y;", [11, 3]),
    "const pointers": ("const p: *const [8]i16 = &out; out[1] = 4; out[0] = p.*[1];", [4, 4]),
    "function pointers": ("const f: *const fn (i16) i16 = &twice; out[0] = f(4); const g: *const fn (i16) i16 = twice; out[1] = g(5);", [8, 10]),
    "a variable function pointer": ("out[0] = chosen(3); chosen = &other; out[1] = chosen(3);", [6, 3]),
    "globals keep": ("total += 2; add(3); out[0] = total; out[1] = first;", [5, 42]),
    "whole arrays": ("out = [8]i16{ 1, 2, 3, 4, 5, 6, 7, 8 }; out[7] = 0;", [1, 2, 3, 4, 5, 6, 7, 0]),
    "constant arrays": ("out = @constants([8]i16, 3);", [3] * 8),
    "arrays of structs": ("points[unknown + 1].y = 8; out[0] = points[1].y; out[1] = points[1].x; out[2] = points[0].y;", [8, 3, 2]),
    "struct globals": ("corner.x = 5; corner.y += corner.x; out[0] = corner.x; out[1] = corner.y; const c = corner; corner.x = 0; out[2] = c.x;", [5, 7, 5]),
    "side effects of conditions": ("if (count_up() and count_up()) { out[1] = 1; } if (count_up() or count_up()) { out[2] = 1; } out[0] = total;", [3, 1, 1]),
    "short circuits at run time": ("if (unknown == 1 and count_up()) {} if (unknown == 0 or count_up()) {} out[0] = total;", [0]),
    "nested functions that return": ("out[0] = sign(-5) + sign(7) * 10 + sign(0) * 100;", [9]),
    "a void function that returns": ("stop_at(2); out[0] = total; stop_at(9); out[1] = total;", [2, 10]),
    "shadowing": ("const x: i16 = 1; { const x: i16 = 2; out[0] = x; } out[1] = x;", [2, 1]),
    "floats": ("const f: f32 = 1.5; var g: f16 = 0.25; g += 0.5; out[0] = @as(i16, f * 4.0); out[1] = @as(i16, @as(f32, g) * 8.0);", [6, 6]),
    "many locals": ("var a: i16 = 1; var b: i16 = 2; for (@range(i16, 5)) |i| { const t = a; a = b; b = t + b; } out[0] = a; out[1] = b;", [13, 21]),
    "printing": ('@comptime_print("once");', []),
    "a comptime block": ("comptime { @comptime_assert(true); } out[0] = 1;", [1]),
    "empty statements": ("{} out[0] = 2;", [2]),
}  # fmt: skip

GLOBALS = """
const point = struct { x: i16, y: i16 };
fn main() void { BODY }
fn change(p: *i16) void { p.* = first; }
fn move(p: *point) void { p.*.x += 10; p.y += 1; }
fn twice(x: i16) i16 { return x * 2; }
fn other(x: i16) i16 { return x; }
fn add(x: i16) void { total += x; }
fn count_up() bool { total += 1; return true; }
fn sign(x: i16) i16 { if (x < 0) { return -1; } else if (x > 0) { return 1; } return 0; }
fn stop_at(n: i16) void { for (@range(i16, 8)) |i| { if (i == n) { return; } total += 1; } }
var out = @zeros([8]i16);
var unknown: i16 = 0;
var total: i16 = 0;
const first = second + 2;
const second: i16 = 40;
var chosen: *const fn (i16) i16 = &twice;
var points = [2]point{ .{ .x = 1, .y = 2 }, point{ .x = 3, .y = 4 } };
var corner = point{ .x = 1, .y = 2 };
"""


@pytest.mark.parametrize(("code", "expected"), RUN.values(), ids=RUN)
def test_at_run_time(csl: Csl, code: str, expected: list[int]) -> None:
    out = csl.run(GLOBALS.replace("BODY", code), {"out": "i16"})["out"]
    assert out.tolist() == expected + [0] * (8 - len(expected))


OPERATORS = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
    "==": np.equal, "!=": np.not_equal, "<": np.less, ">": np.greater, "<=": np.less_equal, ">=": np.greater_equal,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("type", ["i16", "u16", "i32", "u32", "f32", "f16", "i8", "u8"])
def test_operators(csl: Csl, type: str) -> None:
    """Each operator on numbers of a type, at run time and at compile time, against numpy."""
    kind = NUMPY[type]
    if type.startswith("f"):
        left = np.array([-0.0, -1.5, 3.25, 0.1, 65000.0, 1e-3], kind)
        right = np.array([2.0, 2.5, 3.25, 0.3, 1000.0, -7.0], kind)
        symbols = {s: f for s, f in OPERATORS.items() if s not in "&|^"} | {"/": np.divide}
    else:
        info = np.iinfo(kind)
        left = np.array([0, 1, info.max, info.min, 77, 100], kind)
        right = np.array([5, info.max, info.max, 3, 13, 7], kind)
        symbols = OPERATORS | {"/": lambda a, b: _truncated(a, b), "%": lambda a, b: a - b * _truncated(a, b)}
    lines = "\n".join(f"out[i, {n}] = as_bits(x[i] {symbol} y[i]);" for n, symbol in enumerate(symbols))
    literal = ", ".join(str(number) if not type.startswith("f") else repr(float(number)) for number in left)
    other = ", ".join(str(number) if not type.startswith("f") else repr(float(number)) for number in right)
    wide = "u32"
    text = f"""
    fn as_bits(v: anytype) {wide} {{
      if (@is_same_type(@type_of(v), bool)) {{ return @as(u32, v); }}
      else if (@is_same_type(@type_of(v), f32)) {{ return @bitcast(u32, v); }}
      else if (@is_same_type(@type_of(v), f16)) {{ return @as(u32, @bitcast(u16, v)); }}
      else {{ return @as(u32, v); }}
    }}
    fn table() [6, {len(symbols)}]u32 {{
      const x = [6]{type}{{ {literal} }};
      const y = [6]{type}{{ {other} }};
      var out = @zeros([6, {len(symbols)}]u32);
      for (@range(u16, 6)) |i| {{ {lines} }}
      return out;
    }}
    var known = comptime table();
    var x = [6]{type}{{ {literal} }};
    var y = [6]{type}{{ {other} }};
    var out = @zeros([6, {len(symbols)}]u32);
    fn main() void {{ for (@range(u16, 6)) |i| {{ {lines} }} }}
    """
    result = csl.run(text, {"out": "u32", "known": "u32"})
    np.testing.assert_array_equal(result["out"], result["known"])
    with np.errstate(all="ignore"):
        expected = [function(left, right) for function in symbols.values()]
    shown = result["out"].reshape(6, -1).T
    for symbol, want, have in zip(symbols, expected, shown, strict=True):
        want = np.asarray(want)
        bits = want.view(f"u{want.itemsize}") if want.dtype.kind == "f" else want.astype(np.int64)
        np.testing.assert_array_equal(bits.astype(np.uint32), have, err_msg=symbol)


def _truncated(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    x, y = a.astype(object), b.astype(object)
    quotient = np.array([abs(m) // abs(n) * (1 if (m < 0) == (n < 0) else -1) for m, n in zip(x, y, strict=True)])
    return quotient.astype(np.int64).astype(a.dtype)


def test_alignment_and_names(csl: Csl) -> None:
    from loomir.dialects import wse

    text = """
    const where = 16;
    var aligned: [3]i16 align(where) = @zeros([3]i16);
    var named: i16 linkname(@strcat("a", "b")) = 3;
    var placed: i16 linksection(".mine") = 4;
    var out = @zeros([1]i16);
    fn main() void { aligned[0] = named + placed; out[0] = aligned[0]; }
    """
    assert csl.run(text, {"out": "i16"})["out"].tolist() == [7]
    compiled = csl.pe(text + "\ntask t() void { main(); }\ncomptime { @bind_local_task(t, @get_local_task_id(9)); }")
    buffers = {op.sym_name.data: op for op in compiled.module.walk() if isinstance(op, wse.BufferOp)}
    assert "ab" in buffers
    assert "16" in str(buffers["aligned"].alignment)


NOT_UNROLLED = [
    ("inline for («@range(i16, n)») |i| { }", "the range must be known at compile time"),
    ("comptime var k = 0; inline for (@range(i16, 3)) |i| { if (n > i) { «k» += 1; } }", "whether this is reached"),
    ("inline «while» (n > 3) { }", "of statements only a 'for' can be inline"),
    ("inline for («n») |i| { }", "a loop runs over a @range or an array, not over 'i16'"),
]


@pytest.mark.parametrize(("statement", "message"), NOT_UNROLLED)
def test_inline_for_is_unrolled_at_compile_time(csl: Csl, statement: str, message: str) -> None:
    text = "var n: i16 = 3;\ntask t() void { " + statement + " }\n"
    csl.refuses(text + "comptime { @bind_local_task(t, @get_local_task_id(9)); }", message)


FALLS_THROUGH = [
    ("_ = «b: { if (n > 3) { break :b n; } }»;", "'b' may end without a value of type 'i16'; add a 'break :b ...'"),
    ("const x: i16 = «b: { if (n > 3) { break :b n; } n += 1; }»;", "'b' may end without a value of type 'i16'"),
    ("_ = b: { if (n > 3) { «break :b»; } break :b n; };", "this break gives 'b' no value"),
    ("const x: i16 = «b: { if (n > 3) { break :b; } }»;", "expected 'i16', found 'void'"),
    ("const x: i16 = «comptime b: { if (false) { break :b 1; } }»;", "expected 'i16', found 'void'"),
]


@pytest.mark.parametrize(("statement", "message"), FALLS_THROUGH)
def test_blocks_that_fall_through_are_void(csl: Csl, statement: str, message: str) -> None:
    text = "var n: i16 = 3;\ntask t() void { " + statement + " }\n"
    csl.refuses(text + "comptime { @bind_local_task(t, @get_local_task_id(9)); }", message)


def test_blocks_that_do_not_fall_through(csl: Csl) -> None:
    """Both branches leave, an endless loop does, or nothing is left to do."""
    text = """
      const a: i16 = b: { if (n > 3) { break :b n; } else { break :b 7; } };
      const c: i16 = b: { while (true) { n += 1; if (n > 10) { break :b n; } } };
      b: { if (n > 3) { break :b; } n = 0; }
      out[0] = a * 100 + c;
    """
    assert csl.compute(text, "i16", before="var n: i16 = 3;") == 711


def test_branches_of_different_types(csl: Csl) -> None:
    """Each is converted to the common type where it is computed (Types, Peer Type Resolution)."""
    text = """
      const wide = if (n > 3) m + 1 else n;
      const other = if (n < 3) n else m * 2;
      const real = if (n > 3) h * 2.0 else f;
      const mixed = switch (m) { 6 => m - 1, 7 => n, else => 5 };
      out[0] = wide; out[1] = other; out[2] = @as(i32, real); out[3] = mixed;
    """
    before = "var n: i32 = 40; var m: i16 = 6; var h: f16 = 1.5; var f: f32 = 9.0;"
    assert csl.compute(text, "i32", count=4, before=before).tolist() == [7, 12, 3, 5]


UNUSED = [
    ("f(0) == 0;", [0]),
    ("-f(1);", [1]),
    ("f(1) + f(2);", [1, 2]),
    ("f(0) == 0 and f(1) == 9;", [0, 1]),
    ("f(0) != 0 or f(3) == 3;", [0, 3]),
    ("table[f(1)];", [1]),
    ("pair{ .a = f(1), .b = f(2) };", [1, 2]),
    ("while (count < 2) : (f(4) < 5) {}", [4, 4]),
]


@pytest.mark.parametrize(("statement", "calls"), UNUSED)
def test_a_value_that_is_not_used(csl: Csl, statement: str, calls: list[int]) -> None:
    """The calls in it are made, and a warning says that the rest does nothing."""
    text = f"""
    const pair = struct {{ a: i16, b: i16 }};
    const table = [2]i16{{ 1, 2 }};
    var count: u16 = 0;
    var out = @zeros([4]i16);
    fn f(n: i16) i16 {{ out[count] = n; count += 1; return n; }}
    fn main() void {{
      {statement}
    }}
    """
    assert csl.run(text, {"out": "i16"})["out"].tolist()[: len(calls)] == calls
    column = 28 if "while" in statement else 7
    warning = "this value is not used; assign it to '_' to discard it, or remove the expression"
    assert csl.pe(
        text + "comptime { @bind_local_task(t, @get_local_task_id(9)); } task t() void { main(); }"
    ).warnings == [f"{csl.directory / 'pe.csl'}:8:{column}: warning: {warning}"]


def test_a_value_of_nothing(csl: Csl) -> None:
    """What calls nothing is a mistake."""
    with pytest.raises(CslError, match="this value is not used; a statement is an assignment, a call or a jump"):
        csl.pe("fn f() void { var x: i16 = 0; x + 1; }")
    with pytest.raises(CslError, match="'==' compares and does nothing here; to assign write '='"):
        csl.pe("fn f() void { var x: i16 = 0; x == 1; }")


def test_a_jump_in_an_operand_with_an_effect(csl: Csl) -> None:
    """The operation would come before the jump."""
    text = """
    var a = @zeros([4]i16);
    const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[i] });
    task t() void { for (@range(i16, 5)) |i| { «@mov16(d, if (i == a[1]) break else i)»; } }
    comptime { @bind_local_task(t, @get_local_task_id(9)); @activate(@get_local_task_id(9)); }
    """
    csl.refuses(text, "an argument of @mov16 may lead elsewhere before it; give that argument a name, and use it here")
