"""Features of the language used together: what one of them does must not disturb the other."""

from __future__ import annotations

import pytest

from .harness import Csl

NOTES = """
var out = @zeros([32]i32);
var count: u16 = 0;
fn note(value: i32) void { out[count] = value; count += 1; }
"""


def noted(csl: Csl, text: str) -> list[int]:
    """Return what `main` notes."""
    return csl.run(NOTES + text, {"out": "i32"})["out"].tolist()


def test_negation_of_every_fourth_element(csl: Csl) -> None:
    """On one column of PEs they lie 4 items apart for numpy."""
    text = """
    var a = [16]f32{ 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0 };
    var out = @zeros([8]f32);
    const from = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[4 * i] });
    const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[2 * i] });
    fn main() void { @fnegs(to, from); }
    """
    assert csl.run(text, {"out": "f32"})["out"].tolist() == [-1, 0, -5, 0, -9, 0, -13, 0]


def test_a_function_becomes_a_pointer_by_itself(csl: Csl) -> None:
    text = """
    fn double(x: i32) i32 { return 2 * x; }
    fn negate(x: i32) i32 { return -x; }
    var chosen: *const fn(i32) i32 = double;
    var which: u16 = 1;
    const table = [2]*const fn(i32) i32 { double, &negate };
    fn apply(f: *const fn(i32) i32, x: i32) i32 { return f(x); }
    fn main() void {
      note(chosen(4));
      chosen = negate;
      note(chosen(4)); note(apply(double, 5)); note(table[which](6));
    }
    """
    assert noted(csl, text)[:4] == [8, -4, 10, -6]


def test_the_right_side_of_and_is_not_evaluated_in_vain(csl: Csl) -> None:
    """Divisions too, which stop the program if the divisor is zero."""
    text = """
    var divisor: i32 = 0;
    fn main() void {
      if (divisor != 0 and 10 / divisor > 1) note(1) else note(2);
      if (divisor == 0 or 10 % divisor == 3) note(3) else note(4);
    }
    """
    assert noted(csl, text)[:2] == [2, 3]


@pytest.mark.slow
def test_each_call_inside_itself_has_its_own_memory(csl: Csl) -> None:
    text = """
    var seed: i32 = 3;
    fn nested(comptime k: i16) i32 {
      var a = @zeros([3]i32);
      a[0] = seed + @as(i32, k);
      var x: i32 = seed * @as(i32, k);
      const p = &x;
      p.* += 1;
      const inner = if (k > 0) nested(k - 1) else 0;
      return inner * 100 + a[0] + x;
    }
    fn main() void { note(nested(2)); }
    """
    assert noted(csl, text)[0] == (4 * 100 + 8) * 100 + 12


def test_a_parameter_gives_its_type_to_the_argument(csl: Csl) -> None:
    text = """
    var n: i16 = 1;
    fn main() void {
      note(if (n == 0) 1 else if (n == 1) 2 else 3);
      note(switch (n) { 0 => 1, 1 => -2, else => 3 });
      note(found: { if (n == 1) { break :found 5; } break :found 6; });
    }
    """
    assert noted(csl, text)[:3] == [2, -2, 5]


@pytest.mark.slow
def test_64_bits_in_memory(csl: Csl) -> None:
    text = """
    const pair = struct { small: i16, wide: u64, last: i16 };
    var wide: i64 = 1000000000000;
    var array = [3]i64 { -7, 5, 0x123456789abcdef };
    var both = pair { .small = 1, .wide = 0xffffffffffffffff, .last = 2 };
    var k: u16 = 2;
    fn main() void {
      wide = wide * 3 + 7;
      note(@as(i32, wide / 1000000000)); note(@as(i32, wide % 1000));
      array[k - 1] = array[0] * 2;
      note(@as(i32, array[1])); note(@as(i32, array[k] >> 32)); note(@as(i32, array[0] / 2));
      both.wide >>= 36;
      note(@as(i32, both.wide)); note(both.last);
      const p = &array[2];
      p.* -= 1;
      note(@as(i32, array[2]));
      var local = array;
      local[0] = 40000000000;
      note(@as(i32, local[k - 2] / 10000)); note(@as(i32, array[0]));
    }
    """
    expected = [3000, 7, -14, 0x1234567, -3, (1 << 28) - 1, 2, 0x89ABCDEE - (1 << 32), 4000000, -7]
    assert noted(csl, text)[: len(expected)] == expected


def test_enums_of_32_bits_in_memory(csl: Csl) -> None:
    text = """
    const big = enum(u32) { a = 70000, b = 80000, c = 3000000000 };
    const holder = struct { small: i16, e: big, last: i16 };
    var h = holder { .small = 1, .e = big.c, .last = 2 };
    var array = [3]big { big.a, big.b, big.c };
    var k: u16 = 1;
    fn main() void {
      note(@as(i32, array[k])); note(@as(i32, array[k + 1] == big.c));
      note(@as(i32, @as(u32, h.e) / 1000));
      h.e = array[k];
      note(@as(i32, h.e)); note(h.small); note(h.last);
    }
    """
    assert noted(csl, text)[:6] == [80000, 1, 3000000, 80000, 1, 2]


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_params_of_every_width_that_differ_from_pe_to_pe(csl: Csl, arch: str) -> None:
    """As numbers in code, in arrays and in structs."""
    text = """
    param wide: i32; param real: f32; param huge: i64; param small: u8; param is_odd: bool; param e: u16;
    const kind = enum(i8) { one = -1, two = 0, three = 1 };
    const all = struct { small: u8, wide: i32, real: f32, huge: i64, odd: bool, kind: kind };
    var kept = all { .small = small, .wide = wide, .real = real, .huge = huge, .odd = is_odd, .kind = @as(kind, e) };
    var out = @zeros([12]i32);
    fn main() void {
      out[0] = kept.wide; out[1] = @as(i32, kept.real * 4.0); out[2] = @as(i32, kept.huge / 1000000);
      out[3] = @as(i32, kept.small); out[4] = @as(i32, kept.odd); out[5] = @as(i32, kept.kind);
      out[6] = wide; out[7] = @as(i32, real * 4.0); out[8] = @as(i32, huge / 1000000);
      out[9] = @as(i32, small); out[10] = @as(i32, is_odd); out[11] = @as(i32, @as(kind, e));
    }
    """
    params = """.wide = @as(i32, x) * -100000, .real = @as(f32, x) + 0.25, .huge = @as(i64, x) * -5000000000,
      .small = @as(u8, x) + 250, .is_odd = x % 2 == 1, .e = @as(u16, x % 2)"""
    simulator = csl.start(text, {"out": "i32"}, arch=arch, width=4, params=params)
    simulator.launch("main")
    for x in range(4):
        expected = [-100000 * x, 4 * x + 1, -5000 * x, 250 + x, x % 2, x % 2]
        assert simulator.get("out")[0, x].tolist() == expected * 2


def test_descriptors_in_arrays_and_structs(csl: Csl) -> None:
    """Chosen by an index at run time, and exchanged."""
    text = """
    var a = [4]f32 { 1.0, 2.0, 3.0, 4.0 };
    var b = [4]f32 { 10.0, 20.0, 30.0, 40.0 };
    var out = @zeros([16]f32);
    const forward = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[i] });
    const backward = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> b[3 - i] });
    const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i] });
    var both = [2]mem1d_dsd { forward, backward };
    const scaled = struct { from: mem1d_dsd, by: f32 };
    var one = scaled { .from = forward, .by = 2.0 };
    var which: u16 = 1;
    fn main() void {
      @fmovs(to, both[which]);
      @fmuls(@increment_dsd_offset(to, 4, f32), one.from, one.by);
      one.from = both[which]; one.by = 3.0;
      @fmuls(@increment_dsd_offset(to, 8, f32), one.from, one.by);
      both[which] = forward;
      @fmovs(@increment_dsd_offset(to, 12, f32), both[1]);
    }
    """
    out = csl.run(text, {"out": "f32"})["out"].tolist()
    assert out == [40, 30, 20, 10, 2, 4, 6, 8, 120, 90, 60, 30, 1, 2, 3, 4]


@pytest.mark.slow
def test_arrays_in_structs_and_structs_in_arrays(csl: Csl) -> None:
    """As local variables with elements known at run time only, indexed at run time, copied and changed in loops."""
    text = """
    const item = struct { a: i16, v: [2]i32, f: bool };
    fn next(s: item) item {
      var r = s;
      r.a += 1;
      r.v[0] += @as(i32, r.a);
      r.f = !s.f;
      return r;
    }
    var k: u16 = 5;
    fn main() void {
      var s = item { .a = 0, .v = [2]i32 { 0, 7 }, .f = false };
      for (@range(u16, k)) |i| {
        s = next(s);
        s.v[i % 2] -= 1;
      }
      note(s.a); note(s.v[0]); note(s.v[1]); note(@as(i32, s.f));
      var array = @constants([3]item, s);
      array[k - 4] = next(array[0]);
      array[2].v[k - 5] = 100;
      note(array[1].a); note(array[1].v[0]); note(array[2].v[0]); note(array[0].v[0]);
      var two = [2]item { s, item { .a = 5, .v = [2]i32 { 6, 7 }, .f = true } };
      note(two[k - 4].v[1]); note(two[k - 5].v[1]);
    }
    """
    assert noted(csl, text)[:10] == [5, 12, 5, 1, 6, 18, 100, 12, 7, 5]


def test_arrays_of_pointers_known_at_run_time(csl: Csl) -> None:
    text = """
    var a = [3]i32 { 1, 2, 3 };
    var k: u16 = 1;
    fn main() void {
      const pointers = [2]*i32 { &a[k], &a[k + 1] };
      pointers[0].* = 20;
      pointers[k].* = 30;
      note(a[1]); note(a[2]);
    }
    """
    assert noted(csl, text)[:2] == [20, 30]


def test_negative_zero_stays_negative(csl: Csl) -> None:
    text = """
    var single: f32 = -0.0;
    var half: f16 = -0.0;
    var out = @zeros([2]u32);
    fn main() void { out[0] = @bitcast(u32, single); out[1] = @as(u32, @bitcast(u16, half)); }
    """
    assert csl.run(text, {"out": "u32"})["out"].tolist() == [1 << 31, 1 << 15]


def test_a_tensor_access_is_a_struct(csl: Csl) -> None:
    """DSD-030, 031, 033, 034, 035: kept in a constant, taken apart, and written as a struct."""
    text = """
    var a = [10]i16 { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    var out = @zeros([16]i16);
    const odd: comptime_struct = |i|{4} -> a[2 * i + 1];
    const square = |i, j|{2, 2} -> a[5 * i + j];
    fn to(comptime at: u16) mem1d_dsd { return @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i + at] }); }
    fn main() void {
      @mov16(to(0), @get_dsd(mem1d_dsd, .{ .tensor_access = odd }));
      @mov16(to(4), @get_dsd(mem1d_dsd, .{ .base_address = odd.base_address, .offset = odd.offset,
                                           .stride = odd.stride, .extent = odd.extent }));
      @mov16(to(8), @get_dsd(mem1d_dsd, .{ .tensor_access = .{ .base_address = &a, .stride = 2, .extent = 4 } }));
      @mov16(to(12), @get_dsd(mem4d_dsd, .{ .tensor_access = square }));
    }
    comptime {
      @comptime_assert(odd.offset == 1 and odd.stride[0] == 2 and odd.extent[0] == 4);
      @comptime_assert(@is_same_type(@type_of(odd.stride[0]), i8));
      @comptime_assert(square.stride[0] == 1 and square.stride[1] == 4);
    }
    """
    assert csl.run(text, {"out": "i16"})["out"].tolist() == [1, 3, 5, 7] * 2 + [0, 2, 4, 6, 0, 1, 5, 6]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "var a: [8]f32;\nconst d = @get_dsd(mem1d_dsd, «.{ .tensor_access = |i|{2} -> a[i], .extent = 3 }»);\n"
            "comptime { const used = d; }",
            "'.extent' is given twice, by '.tensor_access' too; leave one out",
        ),
        (
            "var a: [8]f32;\nconst d = @get_dsd(mem1d_dsd, «.{ .tensor_access = |i, j|{2, 2} -> a[i + j] }»);\n"
            "comptime { const used = d; }",
            "a mem1d_dsd has one variable, not 2 (DSD-020); use mem4d_dsd",
        ),
        (
            "const a = @zeros([8]f32);\nconst f = @allocate_fifo(«a»);\ncomptime { const used = f; }",
            "a FIFO writes to its array; declare the array with 'var'",
        ),
        (
            "var a: [8]f32;\ntask t() void { const f = «@allocate_fifo(a)»; }\n"
            "comptime { @bind_local_task(t, @get_local_task_id(9)); }",
            "a FIFO exists for the whole program; make it a global",
        ),
    ],
)
def test_descriptors_that_are_refused(csl: Csl, text: str, message: str) -> None:
    """DSD-020, 036."""
    csl.refuses(text, message)


@pytest.mark.slow
def test_arrays_of_one_value(csl: Csl) -> None:
    """Of structs, 64-bit integers and pointers, which a single number does not fill."""
    text = """
    const bytes = packed struct { low: u8, high: i8 };
    const pair = struct { a: i16, b: f32 };
    var target: i32 = 9;
    var k: u16 = 1;
    fn main() void {
      var pairs = @constants([4]pair, pair { .a = 3, .b = 1.5 });
      var packed = @constants([5]bytes, bytes { .low = 1, .high = 2 });
      var wide = @constants([3]i64, 5 + (7 << 32));
      var pointers = @constants([3]*i32, &target);
      pairs[k].a += 1; packed[k].low += 1; wide[k] += 1; pointers[k].* += 1;
      note(pairs[k].a); note(@as(i32, pairs[3].b * 2.0)); note(pairs[0].a);
      note(@as(i32, @bitcast(u16, packed[k]))); note(@as(i32, @bitcast(u16, packed[4])));
      note(@as(i32, wide[2])); note(@as(i32, wide[k] >> 32)); note(pointers[2].*);
    }
    """
    assert noted(csl, text)[:8] == [4, 3, 3, 0x202, 0x201, 5, 7, 10]
