"""Memory of CSL types by bytes: sizes, offsets, alignment, @ptrcast between widths, and what DSDs refuse."""

from __future__ import annotations

import struct
from random import Random

import numpy as np
import pytest

from .harness import Csl

CAST = [
    ("var words = [2]u32{0x44332211, 0x88776655};", "@ptrcast([*]u8, &words)", "u16", 8),
    ("const words = [2]u32{0x44332211, 0x88776655};", "@ptrcast([*]const u8, &words)", "u16", 8),
    ("var bytes = [8]u8{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};", "@ptrcast([*]u16, &bytes)", "u16", 4),
    ("var bytes = [8]u8{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};", "@ptrcast([*]u32, &bytes)", "u32", 2),
    ("var long = [1]u64{0x8877665544332211};", "@ptrcast([*]u8, &long)", "u16", 8),
    ("var one: u64 = 0x8877665544332211;", "@ptrcast([*]u16, &one)", "u16", 4),
    ("var halves = [4]i16{0x2211, 0x4433, 0x6655, -30601};", "@ptrcast([*]u32, &halves)", "u32", 2),
    (
        "const pair = extern struct { a: u8, b: u8, c: u16 };"
        "var pairs = [2]pair{pair{.a = 0x11, .b = 0x22, .c = 0x4433}, pair{.a = 0x55, .b = 0x66, .c = 0x8877}};",
        "@ptrcast([*]u8, &pairs)", "u16", 8,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("declaration", "pointer", "type", "count"), CAST)
def test_the_same_memory_in_elements_of_another_width(
    csl: Csl, declaration: str, pointer: str, type: str, count: int
) -> None:
    """A pointer counts bytes, the low one first, known at compile time or not."""
    memory = bytes(range(0x11, 0x99, 0x11))
    width = 8 // count
    expected = [int.from_bytes(memory[k : k + width], "little") for k in range(0, 8, width)]
    code = f"""
      const p = {pointer};
      for (@range(u16, {count})) |i| {{ out[i] = @as({type}, p[i]); }}
      out[{count}] = @as({type}, p[1]);
    """
    out = csl.compute(code, type, count + 1, before=declaration)
    assert out.tolist() == [*expected, expected[1]]


def test_pointers_to_any_byte(csl: Csl) -> None:
    """They are passed on, kept in memory, moved and written through; the neighbors of a byte stay."""
    text = """
    var bytes = [9]u8{1, 2, 3, 4, 5, 6, 7, 8, 9};
    var kept: [*]u8 = &bytes;
    var single: *u8 = &bytes[3];
    fn set(p: *u8, value: u8) void { p.* = value; }
    fn second(p: [*]u8) *u8 { return &p[1]; }
    """
    code = """
      var k: u16 = 5;
      set(&bytes[k], 50);
      set(single, 30);
      single = &bytes[k + 1];
      single.* += 100;
      kept = @ptrcast([*]u8, second(kept));
      kept[k] += 1;
      const any: *anyopaque = &bytes[8];
      const word = @ptrcast([*]u16, &bytes);
      word[0] = 0x2a29;
      out[9] = @ptrcast(*u8, any).*;
      out[10] = kept[0];
      for (@range(u16, 9)) |i| { out[i] = bytes[i]; }
    """
    out = csl.compute(code, "u8", 11, before=text)
    assert out.tolist() == [0x29, 0x2A, 3, 30, 5, 50, 108, 8, 9, 9, 0x2A]


LAYOUTS = [
    ("extern struct { a: u8, b: u16, c: u8 }", "<BxHBx"),
    ("struct { a: u8, b: u32, c: u8, d: i16 }", "<B3xIBxh"),
    ("extern struct { a: bool, b: [3]u8, c: f32 }", "<?3Bf"),
    ("extern struct { a: [3]u8, b: i8 }", "<3Bb"),
    ("extern struct { a: u8, b: u64, c: u8 }", "<B3xQB3x"),
    ("extern struct { a: u8, b: [2]extern struct { c: u8, d: u8, e: u8 }, f: u16 }", "<B6BxH"),
    ("struct { a: u3, b: i12, c: u20, d: u40 }", "<BxhIQ"),
    ("extern struct { a: enum(u8) { x, y = 200 }, b: u8, c: enum(i16) { z } }", "<BBh"),
    ("packed struct { a: u3, b: bool, c: i4 }", "<B"),
    ("packed struct { a: u8, b: u8 }", "<H"),
    ("packed struct { a: u8, b: u16 }", "<I"),
    ("packed struct { a: i16, b: f32 }", "<Q"),
    ("extern struct { a: u8, b: packed struct { c: u4, d: u4 }, e: packed struct { f: u16, g: u16 } }", "<BB2xI"),
    ("extern union { a: u8, b: [3]u8 }", "<3B"),
    ("extern struct { a: u8, b: extern union { c: u8, d: [3]u8 }, e: u16 }", "<B3BH"),
    ("extern union { a: [5]u8, b: u16 }", "<6B"),
]


@pytest.mark.parametrize(("type", "format"), LAYOUTS)
def test_the_size_of_types(csl: Csl, type: str, format: str) -> None:
    """Elements of an array begin at multiples of what C gives the type; seen by a pointer to the third."""
    size = struct.calcsize(format)
    text = f"const T = {type};\nvar many: [3]T;\nvar start: *T = &many[0];"
    code = """
      const p = @ptrcast([*]u8, &many);
      p[2 * step] = 77;
      out[0] = @ptrcast([*]u8, &many[2])[0];
      k = 2;
      out[1] = @ptrcast([*]u8, &many[k])[0];
    """.replace("step", str(size))
    out = csl.compute("var k: u16 = 0;" + code, "u8", 2, before=text)
    assert out.tolist() == [77, 77]


STRUCT = """
const inner = extern struct { p: u8, q: [2]u8 };
const U = extern union { x: u8, y: [3]u8 };
const S = extern struct { a: u8, b: u16, c: bool, d: i8, e: u32, f: inner, g: u64, h: U };
var s = [2]S{
  S{ .a = 1, .b = 0x302, .c = true, .d = -2, .e = 0x7060504, .f = inner{ .p = 8, .q = [2]u8{9, 10} },
     .g = 0x1211100f0e0d0c0b, .h = U{ .y = [3]u8{19, 20, 21} } },
  S{ .a = 31, .b = 32, .c = false, .d = 33, .e = 34, .f = inner{ .p = 35, .q = [2]u8{36, 37} }, .g = 38,
     .h = U{ .x = 39 } } };
"""
FORMAT = "<BxH?b2xI3BxQ3Bx"


@pytest.mark.slow
def test_structs_lie_as_extern_ones(csl: Csl) -> None:
    """Initial values, stores of fields and of whole structs put each byte where C does, and none beside it."""
    first = struct.pack(FORMAT, 1, 0x302, True, -2, 0x7060504, 8, 9, 10, 0x1211100F0E0D0C0B, 19, 20, 21)
    second = struct.pack(FORMAT, 31, 32, False, 33, 34, 35, 36, 37, 38, 39, 0, 0)
    size = len(first)
    show = f"const p = @ptrcast([*]u8, &s);\nfor (@range(u16, {2 * size})) |i| {{ out[i] = p[i]; }}"
    assert csl.compute(show, "u8", 2 * size, before=STRUCT).tobytes() == first + second
    change = """
      var k: u16 = 1;
      s[k].d = -7;
      s[k].c = true;
      s[k].f.q[k] = 99;
      s[0].f = inner{ .p = 91, .q = [2]u8{92, @as(u8, k)} };
      s[k].h = U{ .y = [3]u8{61, 62, @as(u8, k)} };
      var copy = s[k];
      copy.b = 0xffff;
      s[0].b = copy.b - k;
      s[k].a = s[k].f.p + s[k].h.y[1];
    """
    first = struct.pack(FORMAT, 1, 0xFFFE, True, -2, 0x7060504, 91, 92, 1, 0x1211100F0E0D0C0B, 19, 20, 21)
    second = struct.pack(FORMAT, 35 + 62, 32, True, -7, 34, 35, 36, 99, 38, 61, 62, 1)
    assert csl.compute(change + show, "u8", 2 * size, before=STRUCT).tobytes() == first + second


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8])
@pytest.mark.parametrize("type", ["u8", "bool", "i8"])
def test_whole_arrays_of_bytes(csl: Csl, type: str, count: int) -> None:
    """Copy and fills of arrays, also of those that begin at an odd byte."""
    values = ["true", "false"] * 4 if type == "bool" else [str(n - 3 if type == "i8" else n + 200) for n in range(8)]
    numbers = [int(v == "true") if type == "bool" else int(v) & 0xFF for v in values][:count]
    fill, byte = ("true", 1) if type == "bool" else ("5", 5)
    text = f"""
    const T = extern struct {{ head: u8, a: [{count}]{type}, tail: u8 }};
    var source = [{count}]{type}{{{", ".join(values[:count])}}};
    var plain: [{count}]{type};
    var t = [2]T{{T{{ .head = 1, .a = @zeros([{count}]{type}), .tail = 2 }},
                  T{{ .head = 3, .a = @zeros([{count}]{type}), .tail = 4 }}}};
    fn pick(k: u16) *[{count}]{type} {{ return &t[k].a; }}
    """
    code = f"""
      plain = source;
      t[0].a = plain;
      var k: u16 = 1;
      pick(k).* = @constants([{count}]{type}, {fill});
      const p = @ptrcast([*]u8, &t);
      const q = @ptrcast([*]u8, &plain);
      for (@range(u16, {2 * count + 4})) |i| {{ out[i] = p[i]; }}
      for (@range(u16, {count})) |i| {{ out[i + {2 * count + 4}] = q[i]; }}
    """
    out = csl.compute(code, "u8", 3 * count + 4, before=text)
    assert out.tolist() == [1, *numbers, 2, 3, *[byte] * count, 4, *numbers]


def test_numbers_of_every_pe_in_bytes(csl: Csl) -> None:
    """Params that differ from PE to PE, in arrays of bytes and in structs of bytes and words."""
    text = """
    param k: u8;
    const S = extern struct { a: u8, b: u8, c: u16 };
    const B = extern struct { a: u8, b: u8, c: u8 };
    var many = [3]u8{1, k, 3};
    var s = S{ .a = k, .b = k + 1, .c = 7 };
    var half = S{ .a = 9, .b = k, .c = @as(u16, k) };
    var b = B{ .a = 8, .b = k, .c = k + 2 };
    var out = @zeros([14]u8);
    fn main() void {
      for (@range(u16, 3)) |i| { out[i] = many[i]; out[i + 11] = @ptrcast([*]u8, &b)[i]; }
      for (@range(u16, 4)) |i| { out[i + 3] = @ptrcast([*]u8, &s)[i]; out[i + 7] = @ptrcast([*]u8, &half)[i]; }
    }
    """
    simulator = csl.start(text, {"out": "u8"}, width=3, height=2, params=".k = @as(u8, 10 * y + x)")
    simulator.launch("main")
    out = simulator.get("out")
    assert out.dtype == np.uint8
    for y, x in np.ndindex(2, 3):
        k = 10 * y + x
        assert out[y, x].tolist() == [1, k, 3, k, k + 1, 7, 0, 9, k, k, 0, 8, k, k + 2]


def test_exported_bytes(csl: Csl) -> None:
    """The host sees arrays of bytes as such, behind a constant pointer and behind a variable."""
    text = """
    var bytes = [5]u8{1, 2, 255, 4, 5};
    var signed = [3]i8{-1, 2, -128};
    fn main() void { bytes[3] = bytes[0] + 76; signed[1] = -2; }
    """
    simulator = csl.start(text, {"bytes": "u8", "signed": "i8"})
    assert simulator.get("signed")[0, 0].tolist() == [-1, 2, -128]
    simulator.set("bytes", np.array([7, 8, 9, 10, 11], np.uint8))
    simulator.launch("main")
    assert simulator.get("bytes")[0, 0].tolist() == [7, 8, 9, 83, 11]
    assert simulator.get("signed")[0, 0].tolist() == [-1, -2, -128]


AT_COMPILE_TIME = [
    ("const w = [2]u32{0x44332211, 0x88776655}; const p = @ptrcast([*]const u8, &w);", "p[3], p[4]", "68, 85"),
    ("var w = [2]u32{0x44332211, 0x88776655}; const p = @ptrcast([*]u8, &w); p[3] = 9;", "w[0], w[1]",
     f"{0x09332211}, {0x88776655}"),
    ("var b = [4]u8{1, 2, 3, 4}; @ptrcast(*u16, &b[2]).* += 0x100;", "b[1], b[2], b[3]", "2, 3, 5"),
    ("var w: u32 = 5; @ptrcast(*i32, &w).* = -1;", "w", "4294967295"),
    ("var f: f32 = 1.0;", "@ptrcast(*u32, &f).*, @ptrcast(*[2]u16, &f).*[1]", f"{0x3F800000}, {0x3F80}"),
    ("var w = [4]u16{1, 2, 3, 4}; const q = @ptrcast([*]u16, &w[2]); q[1] = 7;", "q[0], w[3]", "3, 7"),
    ("var s = S{ .a = 1, .b = 0x302, .c = 1.0 }; const p = @ptrcast([*]u8, &s); p[2] = 9;", "p[3], p[7], s.b",
     f"3, 63, {0x309}"),
    ("var s = S{ .a = 1, .b = 0x302, .c = 1.0 }; @ptrcast(*u32, &s.c).* = 0x40000000;", "s.c, s.a", "2.0, 1"),
    ("var w: u32 = 0x1234;", "first(&w)", "52"),
    ("var b = [3]u8{0x1f, 0x2e, 3}; const p = @ptrcast([*]P, &b); p[2].a = -8;", "p[1].a, p[0].b, b[2]", "-2, 1, 8"),
    ("const u = U{ .s = P{ .a = -1, .b = 2 } };", "u.v", "47"),
]  # fmt: skip
TYPES = """
const S = extern struct { a: u8, b: u16, c: f32 };
const P = packed struct { a: i4, b: u4 };
const U = extern union { s: P, v: u8 };
fn first(p: *anyopaque) u8 { return @ptrcast(*u8, p).*; }
"""


@pytest.mark.parametrize(("statements", "values", "shown"), AT_COMPILE_TIME)
def test_other_widths_at_compile_time(csl: Csl, statements: str, values: str, shown: str) -> None:
    """A pointer of another type sees the bytes of a variable that exists at compile time only."""
    assert csl.comptime(f"{statements} @comptime_print({values});", TYPES) == [shown]


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        ("var w = [2]u32{1, 2}; const p: [*]u32 = &w; @comptime_print(p[«2»]);", "index 2 is outside the array"),
        (
            "var w: u16 = 1; const p = @ptrcast(*u32, &w); @comptime_print(«p.*»);",
            "this accesses bytes 0 to 3 of a variable of 2 bytes",
        ),
    ],
)
def test_beyond_a_variable_at_compile_time(csl: Csl, statements: str, message: str) -> None:
    csl.refuses(f"comptime {{ {statements} }}", message)


REFUSED = [
    ("var a: [4]u8;", "but 'u8' has 8"),
    ("var a: [4]bool;", "but 'bool' has 8"),
    ("var a: [4]i64;", "but 'i64' has 64"),
    ("var a: [4]u3;", "but 'u3' has 8"),
    ("const P = packed struct { x: u32, y: u32 }; var a: [4]P;", "has 64"),
]


@pytest.mark.parametrize(("declaration", "message"), REFUSED)
def test_dsds_have_elements_of_16_or_32_bits(csl: Csl, declaration: str, message: str) -> None:
    for text in (
        f"{declaration}\ncomptime {{ const d = @get_dsd(mem1d_dsd, «.{{ .tensor_access = |i|{{4}} -> a[i] }}»); }}",
        f"{declaration}\ncomptime {{ const d = @get_dsd(mem1d_dsd, «.{{ .base_address = &a, .extent = 4 }}»); }}",
        f"{declaration}\nconst f = @allocate_fifo(«a»);\ncomptime {{ const g = f; }}",
    ):
        csl.refuses(text, f"{message}; convert the pointer with @ptrcast, for example to [*]u16")


@pytest.mark.slow
def test_a_32_bit_element_of_16_bit_words(csl: Csl, capsys: pytest.CaptureFixture[str]) -> None:
    """Arrays begin at a multiple of 4 bytes, so every other element does; the others are a warning, wherever known."""
    text = """
    var before: u16 = 1;
    var buf = [6]u16{1, 2, 3, 4, 5, 6};
    """
    code = "out[0] = @ptrcast(*u32, &buf[2]).*; var k: u16 = 4; out[1] = @ptrcast(*u32, &buf[k]).*;"
    assert csl.compute(code, "u32", 2, before=text).tolist() == [0x40003, 0x60005]
    assert capsys.readouterr().err == ""
    for index in ("3", "k"):
        code = f"var k: u16 = 3; for (@range(i16, 4)) |i| {{ out[0] += @ptrcast(*u32, &buf[{index}]).*; }}"
        assert csl.compute(code, "u32", before=text) == 4 * 0x50004
        (line,) = capsys.readouterr().err.splitlines()
        assert "pe.csl:" in line
        assert "warning: this load reads 32-bit elements at byte address" in line
    code = """
      const d = @get_dsd(mem1d_dsd, .{ .base_address = @ptrcast([*]u32, &buf[1]), .extent = 2 });
      @mov32(@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> out[i] }), d);
    """
    assert csl.compute(code, "u32", 2, before=text).tolist() == [0x30002, 0x50004]
    (line,) = capsys.readouterr().err.splitlines()
    assert "warning: mov32 in @main reads or writes 32-bit elements at byte address" in line


def test_map_past_an_array(csl: Csl, capsys: pytest.CaptureFixture[str]) -> None:
    """A scalar access and @map that leave an array at run time go on in the memory next to it, with a warning each."""
    text = """
    var a = [2]i32{1, 2};
    var b = [2]i32{3, 4};
    var n: u16 = 3;
    fn double(x: i32) i32 { return 2 * x; }
    """
    code = """
      a[0] += 0;
      b[0] += 0;
      out[4] = a[n];
      a[n - 1] = 30;
      const walk = @get_dsd(mem1d_dsd, .{ .base_address = &a, .extent = n + 1 });
      @map(double, walk, @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i] }));
    """
    assert csl.compute(code, "i32", 5, before=text).tolist() == [2, 4, 60, 8, 4]
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert all("is outside @a, which has 2 elements there" in line for line in lines)
    known = f"{text}\nfn f() void {{ a[«2»] = 1; }}\ncomptime {{ @export_symbol(f); }}"
    csl.refuses(known, "index 2 is outside the array, which has 2 here", layout=LAYOUT_F)


LAYOUT_F = """
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{});
  @export_name("f", fn() void);
}
"""


@pytest.mark.slow
def test_random_structs(csl: Csl) -> None:
    """Fields of random structs, by offsets that `struct` gives in the order and with the alignment of C."""
    random = Random(11)
    kinds = {"u8": "B", "i8": "b", "u16": "H", "i32": "i", "f32": "f", "bool": "?"}
    for _ in range(4):
        fields = [random.choice(list(kinds)) for _ in range(random.randrange(2, 7))]
        layout, end, largest = "<", 0, 1
        for kind in fields:
            size = struct.calcsize(kinds[kind])
            gap = -end % size
            layout += f"{gap}x{kinds[kind]}" if gap else kinds[kind]
            end, largest = end + gap + size, max(largest, size)
        layout += f"{-end % largest}x"
        values = [random.choice([True, False]) if k == "bool" else random.randrange(0, 100) for k in fields]
        pairs = zip(fields, values, strict=True)
        texts = [str(v).lower() if k == "bool" else f"{v}.0" if k == "f32" else str(v) for k, v in pairs]
        members = ", ".join(f"m{n}: {kind}" for n, kind in enumerate(fields))
        given = ", ".join(f".m{n} = {text}" for n, text in enumerate(texts))
        expected = struct.pack(layout, *values)
        text = f"const S = extern struct {{ {members} }};\nvar s: [3]S;\nvar initial = S{{ {given} }};"
        code = f"""
          var k: u16 = 1;
          s[k] = initial;
          const p = @ptrcast([*]u8, &s);
          for (@range(u16, {3 * len(expected)})) |i| {{ out[i] = p[i]; }}
        """
        zeros = bytes(len(expected))
        assert csl.compute(code, "u8", 3 * len(expected), before=text).tobytes() == zeros + expected + zeros, fields


SENT = """
const P = packed struct { a: u16, b: i16 };
const H = packed struct { low: u8, high: i8 };
const W = packed union { whole: u32, p: P };
const mode = enum(u16) { idle, busy = 7 };
const c: color = @get_color(1);
const q = @get_input_queue(2);
const o = @get_output_queue(3);
var out = @zeros([8]i32);
var many = [3]H{ H{ .low = 1, .high = 2 }, H{ .low = 3, .high = 4 }, H{ .low = 5, .high = 6 } };
task pair(p: P) void { out[0] = p.a; out[1] = p.b; }
task half(h: H) void { out[0] = h.low; out[1] = h.high; many[1] = h; }
task either(w: W) void { out[0] = w.p.a; out[1] = w.p.b; }
task two(h: H, m: mode) void { out[0] = h.low; out[1] = h.high; out[2] = if (m == mode.busy) 1 else 0; }
fn main() void {
  const to = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = o });
  @mov32(to, @as(u32, 0x0007fe05));
}
comptime {
  @bind_data_task(NAME, TASK_ID);
  @initialize_queue(q, .{ .color = c });
  @initialize_queue(o, .{ .color = c });
}
"""
ROUTE = """
  @set_color_config(0, 0, @get_color(1), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });
"""


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize(
    ("task", "expected"),
    [("pair", [0xFE05, 7, 0]), ("half", [5, -2, 0]), ("either", [0xFE05, 7, 0]), ("two", [5, -2, 1])],
)
def test_packed_structs_as_parameters_of_tasks(csl: Csl, task: str, expected: list[int], arch: str) -> None:
    """They come as the integers of their bits do (Types, packed struct)."""
    text = SENT.replace("NAME", task).replace("TASK_ID", f"@get_data_task_id({'c' if arch == 'wse2' else 'q'})")
    if arch == "wse2":
        text = text.replace("@initialize_queue(o, .{ .color = c });", "").replace(
            "@initialize_queue(q, .{ .color = c });", ""
        )
    out = csl.run(text, {"out": "i32"}, arch=arch, layout=ROUTE)["out"]
    assert out[:3].tolist() == expected


@pytest.mark.parametrize("type", ["packed struct { a: u4, b: u4 }", "packed struct { a: u32, b: u16 }", "u8", "u64"])
def test_what_a_wavelet_does_not_carry(csl: Csl, type: str) -> None:
    text = f"""
    const T = {type};
    const q = @get_input_queue(2);
    task t(«p: T») void {{}}
    comptime {{ @bind_data_task(t, @get_data_task_id(q)); }}
    """
    csl.refuses(text, "a task is given numbers or packed structs of 16 or 32 bits, not '", arch="wse3")
