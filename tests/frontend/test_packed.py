"""Packed and extern structs and unions: which bits of memory they are, at compile time and at run time."""

from __future__ import annotations

from random import Random

import pytest

from .harness import Csl

DECLARATIONS = """
const mode = enum(u8) { idle, busy = 200 };
const bytes = packed struct { low: u8, high: i8 };
const mixed = packed struct { on: bool, a: i16, m: mode, f: f32, b: bytes, off: bool };
const odd = packed struct { x: i16, y: f32 };
const either = packed union { s: bytes, i: i16, h: f16 };
const word = extern union { i: i32, f: f32, v: [2]u16 };
const bare = union { i: i16, f: f16 };
const shared = extern struct { x: i16, y: f32, z: u8 };
"""

MIXED = "mixed { .on = true, .a = -2, .m = mode.busy, .f = 1.5, .b = bytes { .low = 7, .high = -1 }, .off = true }"


def mixed_bits(a: int = -2) -> int:
    """Return the bits of `MIXED`, put side by side from the least on."""
    fields = [(1, 1), (a, 16), (200, 8), (0x3FC00000, 32), (7, 8), (-1, 8), (1, 1)]
    text = "".join(f"{value & ((1 << width) - 1):0{width}b}" for value, width in reversed(fields))
    return int(text, 2)


def words(bits: int, count: int) -> list[int]:
    return [bits >> (16 * n) & 0xFFFF for n in range(count)]


COMPTIME = [
    ("@bitcast(u16, bytes { .low = 3, .high = -2 })", str(0xFE03)),
    ("@bitcast(bytes, @as(u16, 0x80ff)).high", "-128"),
    ("@bitcast(bytes, @as(f16, 1.0))", "{low = 0, high = 60}"),
    ("(either { .i = -2 }).s", "{low = 254, high = -1}"),
    ("(either { .h = 1.0 }).i", str(0x3C00)),
    ("(word { .f = 1.0 }).i", str(0x3F800000)),
    ("(word { .i = 65538 }).v[1]", "1"),
    ("(bare { .f = 2.5 }).f", "2.5"),
    (f"({MIXED}).f", "1.5"),
    (f"({MIXED}).m == mode.busy", "true"),
    ("@type_of((either { .i = -2 }).s) == bytes", "true"),
    ("packed struct { a: u8 } == packed struct { a: u8 }", "false"),
    ("either { .i = 5 }", "{.i}"),
]


@pytest.mark.parametrize(("expression", "shown"), COMPTIME)
def test_at_compile_time(csl: Csl, expression: str, shown: str) -> None:
    assert csl.value(expression, DECLARATIONS) == shown


def test_comptime_variables(csl: Csl) -> None:
    text = """
    var u = bare { .i = 15 };
    u.i = 3;
    @comptime_print(u.i);
    u = bare { .f = 33.0 };
    @comptime_print(u.f);
    var e = either { .i = 0 };
    e.s = bytes { .low = 1, .high = 2 };
    e.s.low = 5;
    @comptime_print(e.i);
    var b = bytes { .low = 1, .high = 2 };
    b.low = 9;
    @comptime_print(@bitcast(u16, b));
    """
    assert csl.comptime(text, DECLARATIONS) == ["3", "33.0", str(0x205), str(0x209)]


def test_initial_values(csl: Csl) -> None:
    """What memory holds when the program starts, seen word by word."""
    text = f"""{DECLARATIONS}
    var all = {MIXED};
    var several = [2]bytes {{ bytes {{ .low = 1, .high = 2 }}, bytes {{ .low = 3, .high = 4 }} }};
    var u = word {{ .f = 1.0 }};
    var c = shared {{ .x = -1, .y = 1.0, .z = 255 }};
    var target: i16 = 5;
    const linked = packed struct {{ n: u16, p: *i16 }};
    var l = linked {{ .n = 3, .p = &target }};
    var out = @zeros([20]u16);
    fn copy(first: u16, count: u16, from: [*]u16) void {{
      for (@range(u16, count)) |i| {{ out[first + i] = from[i]; }}
    }}
    fn main() void {{
      copy(0, 6, @ptrcast([*]u16, &all));
      copy(6, 2, @ptrcast([*]u16, &several));
      copy(8, 2, @ptrcast([*]u16, &u));
      copy(10, 5, @ptrcast([*]u16, &c));
      l.p.* += 1;
      out[15] = l.n;
      out[16] = @as(u16, target);
    }}
    """
    out = csl.run(text, {"out": "u16"})["out"].tolist()
    assert out[:6] == words(mixed_bits(), 6)
    assert out[6:10] == [0x201, 0x403, 0, 0x3F80]
    assert [out[10], *out[12:15]] == [0xFFFF, 0, 0x3F80, 255]
    assert out[15:17] == [3, 6]


RUN_TIME = f"""{DECLARATIONS}
var all = {MIXED};
var pairs = @constants([3]bytes, bytes {{ .low = 0, .high = 0 }});
var spare = odd {{ .x = 2, .y = 0.0 }};
var n: i16 = 40;
var out = @zeros([24]i32);
var raw = @zeros([6]u16);
fn turned(b: bytes) bytes {{ return bytes {{ .low = @bitcast(u8, b.high), .high = @bitcast(i8, b.low) }}; }}
fn main() void {{
  all.a = n;
  all.b.high += 1;
  all.f *= 2.0;
  all.off = n == 41;
  out[0] = @as(i32, all.a);
  out[1] = @as(i32, all.f);
  out[2] = @as(i32, all.b.low);
  out[3] = if (all.on) 1 else 0;
  out[4] = if (all.m == mode.busy) 1 else 0;
  const many = @ptrcast([*]u16, &all);
  for (@range(u16, 6)) |i| {{ raw[i] = many[i]; }}
  pairs[@as(u16, n) - 38] = bytes {{ .low = 9, .high = @as(i8, n) }};
  out[5] = @as(i32, @bitcast(u16, pairs[2]));
  out[6] = @as(i32, @bitcast(u16, turned(pairs[2])));
  var local = bytes {{ .low = @as(u8, n), .high = 1 }};
  if (n > 3) {{ local.high = -1; }}
  for (@range(i16, n)) |i| {{ local.low += 1; }}
  out[7] = @as(i32, @bitcast(i16, local));
  const pointer = &pairs[1];
  pointer.high = 3;
  pointer.low = @as(u8, n + 1);
  out[8] = @as(i32, @bitcast(u16, pairs[1]));
  spare.y = @as(f32, n);
  spare.x -= 1;
  out[9] = @as(i32, spare.y) + @as(i32, spare.x);
  var e = either {{ .i = n }};
  e.s.high = 1;
  out[10] = @as(i32, e.i);
  if (n == 40) {{ e = either {{ .h = 1.0 }}; }}
  out[11] = @as(i32, e.i);
  var w = word {{ .f = @as(f32, n) }};
  out[12] = w.i;
  w.v[@as(u16, n) - 40] = 3;
  out[13] = w.i;
  const to = &w.f;
  to.* = 1.0;
  out[14] = w.i;
  var b = bare {{ .i = n }};
  out[15] = @as(i32, b.i);
  b = bare {{ .f = @as(f16, n) }};
  out[16] = @as(i32, b.f);
  const again = @bitcast(bytes, n);
  out[17] = @as(i32, again.low);
  out[18] = @as(i32, @bitcast(f16, bytes {{ .low = @as(u8, n) - 40, .high = 60 }}));
  var s = shared {{ .x = n, .y = 0.5, .z = 3 }};
  s.z += 1;
  out[19] = @as(i32, s.z) + @as(i32, s.x);
}}
"""


@pytest.mark.slow
def test_at_run_time(csl: Csl) -> None:
    found = csl.run(RUN_TIME, {"out": "i32", "raw": "u16"})
    out = found["out"].tolist()
    assert out[:5] == [40, 3, 7, 1, 1]
    expected = mixed_bits(40) & ~(0xFFFFFFFF << 25) & ~(0xFF << 65) & ~(1 << 73) | 0x40400000 << 25
    assert found["raw"].tolist() == words(expected, 6)
    assert out[5:9] == [40 << 8 | 9, 9 << 8 | 40, (255 << 8 | 80) - (1 << 16), 3 << 8 | 41]
    assert out[9:12] == [41, 1 << 8 | 40, 0x3C00]
    assert out[12:15] == [0x42200000, 0x42200003, 0x3F800000]
    assert out[15:20] == [40, 40, 40, 1, 44]


def test_fields_that_differ_from_pe_to_pe(csl: Csl) -> None:
    text = f"""{DECLARATIONS}
    param x: i16;
    var b = either {{ .i = x + 0x100 }};
    const c = bytes {{ .low = @as(u8, x), .high = 1 }};
    var held = c;
    var out = @zeros([3]u16);
    fn main() void {{ out[0] = b.s.low; out[1] = @bitcast(u16, held); out[2] = @bitcast(u16, c); }}
    """
    simulator = csl.start(text, {"out": "u16"}, width=3, params=".x = x")
    simulator.launch("main")
    assert simulator.get("out")[0].tolist() == [[x, 256 + x, 256 + x] for x in range(3)]


def test_shared_between_objects(csl: Csl) -> None:
    text = f"""{DECLARATIONS}
    const m = @import_module("other.csl", .{{ .bytes = bytes, .shared = shared }});
    export var b = bytes {{ .low = 1, .high = 2 }};
    export var s = shared {{ .x = 3, .y = 4.0, .z = 5 }};
    var out = @zeros([1]i16);
    fn main() void {{ out[0] = m.total(); }}
    """
    other = """
    param bytes: type;
    param shared: type;
    extern var b: bytes;
    extern var s: shared;
    fn total() i16 { return @as(i16, b.high) * 10 + s.x; }
    """
    assert csl.run(text, {"out": "i16"}, files={"other.csl": other})["out"].tolist() == [23]


WIDTHS = {"bool": 1, "u8": 8, "i8": 8, "u16": 16, "i16": 16, "u32": 32, "i32": 32, "u64": 64, "i64": 64}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_random_fields(csl: Csl, seed: int) -> None:
    """Fields given by numbers known at run time only, some of them changed then, against one large integer."""
    random = Random(seed)
    kinds = [random.choice(list(WIDTHS)) for _ in range(random.randint(1, 7))]
    offsets = [sum(WIDTHS[kind] for kind in kinds[:n]) for n in range(len(kinds) + 1)]
    count = (offsets[-1] + 15) // 16

    def number(kind: str) -> int:
        width = WIDTHS[kind]
        return random.getrandbits(width) - (1 << (width - 1) if kind[0] == "i" else 0)

    def written(kind: str, value: int) -> str:
        return "true" if kind == "bool" and value else "false" if kind == "bool" else str(value)

    first, second = ([number(kind) for kind in kinds] for _ in range(2))
    changed = [random.random() < 0.5 for _ in kinds]
    held = random.random() < 0.5
    text = f"""
    const packed_type = packed struct {{ {", ".join(f"f{n}: {kind}" for n, kind in enumerate(kinds))} }};
    var zeros = @zeros([2]packed_type);
    {" ".join(f"var a{n}: {k} = {written(k, v)};" for n, (k, v) in enumerate(zip(kinds, first, strict=True)))}
    {" ".join(f"var b{n}: {k} = {written(k, v)};" for n, (k, v) in enumerate(zip(kinds, second, strict=True)))}
    var one: u16 = 1;
    var raw = @zeros([{count}]u16);
    var same: [1]u16 = @constants([1]u16, 1);
    fn main() void {{
      var s = packed_type {{ {", ".join(f".f{n} = a{n}" for n in range(len(kinds)))} }};
      {"" if held else "const address = &s;"}
      {" ".join(f"s.f{n} = b{n};" for n, change in enumerate(changed) if change)}
      zeros[one] = s;
      const words = @ptrcast([*]u16, &zeros[1]);
      for (@range(u16, {count})) |i| {{ raw[i] = words[i]; }}
      {" ".join(f"if (zeros[one].f{n} != {'b' if c else 'a'}{n}) {{ same[0] = 0; }}" for n, c in enumerate(changed))}
    }}
    """
    found = csl.run(text, {"raw": "u16", "same": "u16"})
    bits = 0
    for kind, offset, a, b, change in zip(kinds, offsets, first, second, changed, strict=False):
        bits |= ((b if change else a) & ((1 << WIDTHS[kind]) - 1)) << offset
    assert found["raw"].tolist() == words(bits, count)
    assert found["same"].tolist() == [1]


@pytest.mark.slow
def test_zeros(csl: Csl) -> None:
    text = f"""{DECLARATIONS}
    var several = @zeros([2]shared);
    var packed = @zeros([3]bytes);
    var variants = @zeros([2]word);
    var k: u16 = 1;
    var out = @zeros([4]i16);
    fn main() void {{
      const all = @zeros([2]bytes);
      packed[2] = all[k];
      several[k].x += 5; packed[k].low += 6; variants[k].v[0] += 7;
      out[0] = several[1].x; out[1] = packed[1].low; out[2] = @as(i16, variants[1].i); out[3] = packed[2].high;
    }}
    """
    assert csl.run(text, {"out": "i16"})["out"].tolist() == [5, 6, 7, 0]


KNOWN = "const known = union { n: comptime_int, s: comptime_string };"
REFUSED = [
    ("const s = packed struct { «a: [2]u16» };", "'[2]u16' cannot be packed"),
    ("const s = packed struct { «a: shared» };", "cannot be packed"),
    ("const s = extern struct { «a: struct { x: i16 }» };", "has no layout outside CSL"),
    ("const s = extern struct { «a: comptime_int» };", "'comptime_int' has no layout outside CSL"),
    ("const u = union { «a: mem1d_dsd», b: i16 };", "a 'mem1d_dsd' as a variant of a union is not supported"),
    ("const u = extern union { «a: comptime_int» };", "a 'comptime_int' has no layout outside CSL"),
    (f"{KNOWN} const u = known {{ .n = 1 }};\nconst f = «u.s»;", "'n' is the active variant of this union, not 's'"),
    (KNOWN + "comptime { var u: known; _ = «u.n»; }", "this union has no value yet; assign it one, { .n = ... }"),
    (f"{KNOWN}\n«var u = known {{ .n = 1 }}»;\ncomptime {{ _ = u; }}", "at compile time only; declare it 'const'"),
    ("const u = «packed union { a: i16, b: i32 }»;", "the same number of bits, but have: a 16, b 32"),
    ("const u = «union {}»;", "at least one variant"),
    ("const u = «bare { .i = 1, .f = 2.0 }»;", "is written with one of its variants"),
    ("const u = bare { «.k = 1» };", "has no field 'k'"),
    ("const u = bare { .i = 1 };\nconst f = «u.f»;", "'i' is the active variant of this union, not 'f'"),
    ("comptime { var u = bare { .i = 1 }; «u.f» = 1.0; }", "'i' is the active variant"),
    ("var s = bytes { .low = 1, .high = 2 };\ncomptime { _ = «&s.low»; }", "has no address"),
    ("const n = «@bitcast(u16, shared { .x = 1, .y = 2.0, .z = 3 })»;", "has no fixed bit layout"),
    ("const n = «@bitcast(u32, bytes { .low = 1, .high = 2 })»;", "has 16 bits and 'u32' 32"),
    ("«export var s: odd»;", "cannot be shared"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_refused(csl: Csl, text: str, message: str) -> None:
    used = "\ncomptime { _ = u; }" if text.startswith("const u") else "\ncomptime { _ = s; }"
    used = "\ncomptime { _ = n; }" if text.startswith("const n") else used
    used = "\ncomptime { _ = f; }" if "const f" in text else used
    is_used = text.startswith(("var s", "«export")) or "comptime {" in text
    csl.refuses(DECLARATIONS + text + ("" if is_used else used), message)


def test_unions_that_exist_at_compile_time_only(csl: Csl) -> None:
    """Variants of any type (Types, Union types): one is active, and holds what it was given."""
    text = """
    const any = union { n: comptime_int, t: type, f: fn(i16) i16, s: comptime_string, d: mem1d_dsd };
    fn twice(x: i16) i16 { return 2 * x; }
    fn pick(comptime small: bool) any { return if (small) any { .n = 7 } else any { .s = "seven" }; }
    var numbers = [3]i16 { 1, 2, 3 };
    const all = any { .d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> numbers[i] }) };
    const listed = [2]any { any { .f = twice }, any { .t = i16 } };
    const holder = struct { name: any, size: u16 } { .name = any { .s = "abc" }, .size = 5 };
    var out = @zeros([4]i16);
    comptime {
      @comptime_assert(pick(true).n == 7 and pick(false).s == "seven");
      @comptime_assert(@type_of(pick(true)) == any and listed[1].t == i16);
      var u = any { .n = 15 };
      const before = u;
      u.n = 3;
      @comptime_assert(u.n == 3 and before.n == 15);
      u = any { .s = "text" };
      @comptime_assert(@strlen(u.s) == 4 and @strlen(holder.name.s) == 3);
    }
    fn main() void {
      @add16(all.d, all.d, 10);
      out[0] = numbers[2];
      out[1] = listed[0].f(21);
      out[2] = @as(listed[1].t, pick(true).n);
      out[3] = @as(i16, holder.size);
    }
    """
    assert csl.run(text, {"out": "i16"})["out"].tolist() == [13, 42, 7, 5]
