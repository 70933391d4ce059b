"""<complex>, <data_utils>, <dsd_ops>, <empty>, <string>, <timer> and <types>, against numpy and by enumeration."""

from __future__ import annotations

import re

import numpy as np
import pytest

from loomir.csl import CslError
from loomir.diagnostics.errors import LoomError
from loomir.dialects import wse

from .harness import NUMPY, Csl, pes

ARCHITECTURES = pytest.mark.parametrize("arch", ["wse2", "wse3"])

# <complex>

COMPLEX = {
    "add": lambda x, y: (x[0] + y[0], x[1] + y[1]),
    "subtract": lambda x, y: (x[0] - y[0], x[1] - y[1]),
    "multiply": lambda x, y: (x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]),
}


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize(("type", "suffix", "arch"), [("f16", "32", "wse2"), ("f32", "64", "wse3")])
def test_complex(csl: Csl, name: str, type: str, suffix: str, arch: str) -> None:
    x, y = np.array([1.5, -2.25], NUMPY[type]), np.array([0.7, 3.1], NUMPY[type])
    text = f"""
    const complex = @import_module("<complex>");
    var given = [4]{type}{{ 1.5, -2.25, 0.7, 3.1 }};
    var kept = complex.get_complex_{suffix}(0.0, 0.0);
    var out = @zeros([6]{type});
    const known = complex.{name}_complex(complex.get_complex(@as({type}, 1.5), -2.25),
                                         complex.complex({type}){{ .real = 0.7, .imag = 3.1 }});
    fn main() void {{
      const x = complex.get_complex(given[0], given[1]);
      const y: complex.complex_{suffix} = complex.get_complex_{suffix}(given[2], given[3]);
      kept = complex.{name}_complex(x, y);
      out[0] = kept.real; out[1] = kept.imag;
      kept = complex.{name}_complex_{suffix}(x, y);
      out[2] = kept.real; out[3] = kept.imag;
      out[4] = known.real; out[5] = known.imag;
    }}
    """
    out = csl.run(text, {"out": type}, arch=arch)["out"]
    want = np.array(COMPLEX[name](x, y), NUMPY[type])
    np.testing.assert_array_equal(out, np.tile(want, 3))


# <data_utils>


@pytest.mark.slow
def test_data_utils(csl: Csl) -> None:
    rng = np.random.default_rng(7)
    words = np.array([0, 1, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, *rng.integers(0, 2**32, 5)], np.uint32)
    wide = words.astype(np.uint64) | words[::-1].astype(np.uint64) << np.uint64(32)
    known = ", ".join(f"data.{name}(@as(u64, {number}))" for number in wide for name in ("lo32", "hi32"))
    count = len(words)
    text = f"""
    const data = @import_module("<data_utils>");
    var unsigned = @zeros([{count}]u32);
    var signed = @zeros([{count}]i32);
    var wide = [{count}]u64{{ {", ".join(map(str, wide))} }};
    var halves = @zeros([{4 * count}]u16);
    var quarters = @zeros([{2 * count}]u32);
    var known = [{2 * count}]u32{{ {known} }};
    fn main() void {{
      for (@range(u16, {count})) |i| {{
        halves[4 * i] = data.lo16(unsigned[i]);
        halves[4 * i + 1] = data.hi16(unsigned[i]);
        halves[4 * i + 2] = data.lo16(signed[i]);
        halves[4 * i + 3] = data.hi16(signed[i]);
        quarters[2 * i] = data.lo32(wide[i]);
        quarters[2 * i + 1] = data.hi32(wide[i]);
      }}
    }}
    """
    exports = {"unsigned": "u32", "signed": "i32", "halves": "u16", "quarters": "u32", "known": "u32"}
    result = csl.run(text, exports, {"unsigned": words, "signed": words.view(np.int32)})
    pairs = np.stack([words & 0xFFFF, words >> 16], axis=1)
    np.testing.assert_array_equal(result["halves"], np.tile(pairs, 2).ravel())
    parts = np.stack([words, words[::-1]], axis=1).ravel()
    np.testing.assert_array_equal(result["quarters"], parts)
    np.testing.assert_array_equal(result["known"], parts)


def test_halves_of_a_float_are_those_of_its_bits(csl: Csl) -> None:
    bits = int(np.float32(-3.7).view(np.uint32))
    before = 'const data = @import_module("<data_utils>"); var x: f32 = -3.7;'
    out = csl.compute("out[0] = data.lo16(x); out[1] = data.hi16(x);", "u16", 2, before)
    assert out.tolist() == [bits & 0xFFFF, bits >> 16]


# <dsd_ops>

ONE = {"mov": lambda x: x, "neg": lambda x: -x, "abs": np.abs}
TWO = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum}
TYPES = {
    "mov": ("f16", "f32", "i16", "u16", "i32", "u32"), "add": ("f16", "f32", "i16", "u16"),
    "sub": ("f16", "f32", "i16"), "mul": ("f16", "f32"), "max": ("f16", "f32"), "neg": ("f16", "f32"),
    "abs": ("f16", "f32"),
}  # fmt: skip
PAIRED = {"add"}
"""Functions of two types, of the destination and of the sources."""


@pytest.mark.parametrize(("name", "type"), [(name, type) for name, types in TYPES.items() for type in types])
def test_dsd_ops(csl: Csl, name: str, type: str) -> None:
    dtype = NUMPY[type]
    x, y = np.array([1, 5, 3, 200], dtype), np.array([4, 2, 3, 7], dtype)
    if type[0] != "u":
        x[1:3] = -x[1:3]
    sources = "dx" if name in ONE else "dx, dy"
    types = f"{type}, {type}" if name in PAIRED else type
    lines = [
        f"var {array} = @zeros([4]{type}); const d{array} = @get_dsd(mem1d_dsd, .{{ .base_address = &{array}, "
        ".extent = 4 });"
        for array in ("x", "y", "out")
    ]
    text = "\n".join(
        [
            'const ops = @import_module("<dsd_ops>");', *lines,
            f"fn main() void {{ ops.{name}({types}, dout, {sources}, .{{}}); }}",
        ]
    )  # fmt: skip
    out = csl.run(text, {"x": type, "y": type, "out": type}, {"x": x, "y": y})["out"]
    np.testing.assert_array_equal(out, ONE[name](x) if name in ONE else TWO[name](x, y))


CONVERSIONS = [
    ("f16", "f32"), ("f16", "i16"), ("f16", "f16"), ("f32", "f16"), ("f32", "i16"), ("f32", "f32"), ("i16", "f16"),
    ("i16", "f32"), ("i16", "i16"),
]  # fmt: skip


@pytest.mark.parametrize(("to", "source"), CONVERSIONS)
def test_dsd_ops_convert(csl: Csl, to: str, source: str) -> None:
    x = np.array([1, -5, 3, 200], NUMPY[source])
    text = f"""
    const ops = @import_module("<dsd_ops>");
    var x = @zeros([4]{source});
    var out = @zeros([4]{to});
    fn main() void {{
      ops.convert({to}, {source}, @get_dsd(mem1d_dsd, .{{ .base_address = &out, .extent = 4 }}),
                  @get_dsd(mem1d_dsd, .{{ .base_address = &x, .extent = 4 }}), .{{}});
    }}
    """
    out = csl.run(text, {"x": source, "out": to}, {"x": x}, arch="wse3")["out"]
    np.testing.assert_array_equal(out, x.astype(NUMPY[to]))


@pytest.mark.parametrize(("to", "source"), [("f16", "f16"), ("f32", "f16"), ("f32", "f32")])
def test_dsd_ops_of_two_types_and_scalars(csl: Csl, to: str, source: str) -> None:
    x, y = np.array([1.5, -5, 3, 20], NUMPY[source]), np.array([0.5, 2, 3, 7], NUMPY[to])
    text = f"""
    const ops = @import_module("<dsd_ops>");
    var x = @zeros([4]{source});
    var y = @zeros([4]{to});
    var out = @zeros([4]{to});
    var sums = @zeros([1]{to});
    var factor: {source} = 4.0;
    const dx = @get_dsd(mem1d_dsd, .{{ .base_address = &x, .extent = 4 }});
    const dy = @get_dsd(mem1d_dsd, .{{ .base_address = &y, .extent = 4 }});
    const dout = @get_dsd(mem1d_dsd, .{{ .base_address = &out, .extent = 4 }});
    fn main() void {{
      ops.fmac({to}, {source}, dout, dy, dx, factor, .{{}});
      sums[0] = 1.0;
      ops.add({to}, {source}, &sums[0], dx, sums[0], .{{}});
      ops.add({to}, {to}, &sums[0], sums[0], dy, .{{}});
    }}
    """
    result = csl.run(text, {"x": source, "y": to, "out": to, "sums": to}, {"x": x, "y": y})
    np.testing.assert_array_equal(result["out"], y + x.astype(NUMPY[to]) * 4)
    assert result["sums"][0] == 1 + x.sum() + y.sum()


@pytest.mark.slow
def test_dsd_ops_scale_and_pointers_to_scalars(csl: Csl) -> None:
    text = """
    const ops = @import_module("<dsd_ops>");
    var x = [4]f32{ 1.5, -2.0, 3.0, 0.25 };
    var out = @zeros([3]f32);
    var greatest: f32 = -100.0;
    const dx = @get_dsd(mem1d_dsd, .{ .base_address = &x, .extent = 4 });
    fn main() void {
      ops.scale(f32, &out[0], x[0], @as(i16, 3), .{});
      ops.max(f32, &greatest, greatest, dx, .{});
      out[1] = greatest;
      ops.mov(f32, &out[2], 7.5, .{});
    }
    """
    assert csl.run(text, {"out": "f32"})["out"].tolist() == [12, 3, 7.5]


def test_dsd_ops_on_registers(csl: Csl) -> None:
    text = """
    const ops = @import_module("<dsd_ops>");
    var x = [4]f32{ 1.5, -2.0, 3.0, 0.25 };
    var out = @zeros([4]f32);
    const to = @get_dsr(dsr_dest, 2);
    const from = @get_dsr(dsr_src1, 2);
    fn main() void {
      @load_to_dsr(to, @get_dsd(mem1d_dsd, .{ .base_address = &out, .extent = 4 }));
      @load_to_dsr(from, @get_dsd(mem1d_dsd, .{ .base_address = &x, .extent = 4 }));
      ops.neg(f32, to, from, .{});
    }
    """
    assert csl.run(text, {"out": "f32"})["out"].tolist() == [-1.5, 2, -3, -0.25]


@ARCHITECTURES
def test_dsd_ops_expand_to_one_operation_with_its_configuration(csl: Csl, arch: str) -> None:
    text = """
    const ops = @import_module("<dsd_ops>");
    const queue = @get_output_queue(2);
    const done = @get_local_task_id(9);
    var x = @zeros([4]i32);
    const out = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = @get_color(3), .output_queue = queue });
    task main() void {
      const from = @get_dsd(mem1d_dsd, .{ .base_address = &x, .extent = 4 });
      ops.mov(i32, out, from, .{ .async = true, .activate = done });
    }
    task end() void {}
    comptime {
      @bind_local_task(main, @get_local_task_id(8));
      @bind_local_task(end, done);
      @activate(@get_local_task_id(8));
      if (@is_arch("wse3")) { @initialize_queue(queue, .{ .color = @get_color(3) }); }
    }
    """
    (pe,) = pes(csl.pe(text, arch))
    (op,) = (op for op in pe.walk() if op.name.startswith("dsd.mov"))
    assert op.name == "dsd.mov32" and "activate" in str(op)
    assert not [op for op in pe.walk() if isinstance(op, wse.CallOp)]


# <string>


def test_comptime_int_to_string(csl: Csl) -> None:
    numbers = [0, 1, -1, 9, 10, -10, 65535, 2**63, -(2**63), 10**30, -(10**30) - 1]
    lines = "".join(f"@comptime_print(s.comptime_int_to_string({number}));" for number in numbers)
    assert csl.comptime(lines, 'const s = @import_module("<string>");') == list(map(str, numbers))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ('"tile_{d}", .{ 5 }', "tile_5"),
        ('"{d} {X} {b} {f}", .{ @as(u16, 42), @as(u16, 42), @as(u16, 42), @as(f16, 42.0) }',
         "42 002A 0000000000101010 42.0"),
        ('"{X}.{X}.{X}", .{ 42, @as(u32, 42), @as(i16, -1) }', "2A.0000002A.FFFF"),
        ('"{{{d}}} {s}", .{ -7, "end" }', "{-7} end"),
        ('"no values", .{}', "no values"),
    ],
)  # fmt: skip
def test_format(csl: Csl, call: str, text: str) -> None:
    assert csl.value(f"s.fmt({call})", 'const s = @import_module("<string>");') == text


def test_a_format_names_symbols(csl: Csl) -> None:
    text = """
    const s = @import_module("<string>");
    param number: u16;
    var counts linkname(s.fmt("counts_{d}", .{number})) = @zeros([2]u16);
    var pointer: [*]u16 = &counts;
    comptime { @export_symbol(pointer, s.fmt("counts_{d}", .{number})); }
    """
    layout = """
    layout {
      @set_rectangle(1, 1);
      @set_tile_code(0, 0, "pe.csl", .{ .number = 7 });
      @export_name("counts_7", [*]u16, true);
    }
    """
    assert "counts_7" in str(csl.layout(layout, text).module)


# <types>

INTEGERS = ["i3", "u3", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]
FLOATS = ["f16", "bf16", "cb16", "f32"]
DESCRIPTORS = ["mem1d_dsd", "mem4d_dsd", "circbuf_dsd", "fabin_dsd", "fabout_dsd", "fifo_dsd"]
REGISTERS = ["dsr_dest", "dsr_src0", "dsr_src1", "dsr_fifo_dest", "dsr_fifo_src1"]
OTHERS = ["bool", "void", "comptime_int", "comptime_float", "comptime_string", "color", "xdsr", "sr", "[2]f32", "*f32"]
PREDICATES = {
    "is_unsigned_int": {name for name in INTEGERS if name[0] == "u"},
    "is_signed_int": {name for name in INTEGERS if name[0] == "i"},
    "is_float16": set(FLOATS) - {"f32"},
    "is_float": set(FLOATS),
    "is_enabled_float": {"f32", "bf16"},
    "is_signed": {name for name in INTEGERS if name[0] == "i"} | set(FLOATS),
    "is_numeric": {*INTEGERS, *FLOATS},
    "is_dsd": set(DESCRIPTORS),
    "is_dsr": set(REGISTERS),
}


def test_predicates_of_types(csl: Csl) -> None:
    asked = [*INTEGERS, *FLOATS, *DESCRIPTORS, *REGISTERS, *OTHERS]
    lines = [f"@comptime_print(t.{predicate}({type}));" for predicate in PREDICATES for type in asked]
    printed = csl.comptime("\n".join(lines), 'const t = @import_module("<types>");', fp16_format="bf16")
    told = iter(printed)
    for predicate, holds in PREDICATES.items():
        assert {type for type in asked if next(told) == "true"} == holds, predicate


@pytest.mark.parametrize(
    ("type", "bits", "bytes", "align"),
    [
        ("i8", 8, 1, 1), ("u16", 16, 2, 2), ("f16", 16, 2, 2), ("i32", 32, 4, 4), ("f32", 32, 4, 4),
        ("i64", 64, 8, 4), ("u3", 3, 1, 1), ("[5]i16", 80, 10, 2), ("[3]f32", 96, 12, 4), ("*f32", 16, 2, 2),
        ("struct { a: i16, b: f32 }", 64, 8, 4), ("packed struct { a: u3, b: u13 }", 16, 2, 2),
    ],
)  # fmt: skip
def test_sizes_of_types(csl: Csl, type: str, bits: int, bytes: int, align: int) -> None:
    sizes = "t.bit_size_of(T), t.byte_size_of(T), t.min_byte_align_of(T), t.word_size_of(T), t.min_word_align_of(T)"
    printed = csl.value(sizes, f'const t = @import_module("<types>"); const T = {type};')
    assert printed == f"{bits}, {bytes}, {align}, {-(-bytes // 2)}, {-(-align // 2)}"


def test_types_of_values_and_bits(csl: Csl) -> None:
    before = """
    const t = @import_module("<types>");
    var x = @zeros([4]f32);
    const d = @get_dsd(mem1d_dsd, .{ .base_address = &x, .extent = 4 });
    """
    told = "t.has_dsd_type(d), t.has_dsr_type(d), t.has_dsr_type(@get_dsr(dsr_dest, 1)), t.bits_type_of(f32), "
    told += "t.bits_type_of(cb16), t.bits_type_of(i8), t.bits_type_of(i64)"
    assert csl.value(told, before) == "true, false, true, u32, u16, u8, u64"


def test_types_select_code_at_run_time(csl: Csl) -> None:
    before = """
    const t = @import_module("<types>");
    var x: f32 = -2.5;
    var n: u16 = 9;
    fn magnitude(v: anytype) @type_of(v) {
      @comptime_assert(t.is_numeric(@type_of(v)));
      if (t.is_signed(@type_of(v))) { if (v < @as(@type_of(v), 0)) { return -v; } }
      return v;
    }
    """
    assert csl.compute(
        "out[0] = @as(i32, magnitude(x) * 2.0); out[1] = @as(i32, magnitude(n));", count=2, before=before
    ).tolist() == [5, 9]


# <timer>

TIMED = """
const timer = @import_module("<timer>", .{ .timerCount = 2 });
const time = @import_module("<time>");
var from = @zeros([3]u16);
var to = @zeros([3]u16);
var took: timer.timerType = @zeros(timer.timerType);
var cycles = @zeros([4]u32);
var work = @zeros([64]f32);

fn low(words: *[3]u16) u32 { return @as(u32, words.*[0]) | @as(u32, words.*[1]) << 16; }

fn main(count: u16, id: i16) void {
  time.get_timestamp(&from);
  timer.start(id);
  timer.start(1 - id);
  for (@range(u16, count)) |i| { work[i] += 1.5; }
  timer.stop(1 - id);
  for (@range(u16, count)) |i| { work[i] += 1.5; }
  timer.stop(id);
  time.get_timestamp(&to);
  timer.elapsed(id, &took);
  cycles[0] = low(&took);
  timer.elapsed(1 - id, &took);
  cycles[1] = low(&took);
  cycles[2] = low(&to) - low(&from);
  cycles[3] = took[2];
}
"""


@ARCHITECTURES
@pytest.mark.slow
def test_timers_measure_what_the_cycle_counter_counts(csl: Csl, arch: str) -> None:
    simulator = csl.start(TIMED, {"cycles": "u32"}, {"main": "fn(u16, i16) void"}, arch=arch)
    taken = {}
    for count in (8, 64):
        for id in (0, 1):
            simulator.launch("main", count, id)
            outer, inner, all, high = (int(cycles) for cycles in simulator.get("cycles")[0, 0])
            assert high == 0 and 0 < inner < outer < all
            # What starting and stopping takes does not depend on the work between.
            taken[count, id] = all - outer, outer - 2 * inner
    assert len({spent for spent, _ in taken.values()}) == 1
    assert len({spent for _, spent in taken.values()}) == 1


def test_a_timer_out_of_range_ends_the_run(csl: Csl) -> None:
    simulator = csl.start(TIMED, {"cycles": "u32"}, {"main": "fn(u16, i16) void"})
    with pytest.raises(
        LoomError, match=re.escape("there is no timer with this id; with timerCount = 2 the ids are 0 to 1")
    ) as caught:
        simulator.launch("main", 4, 2)
    assert (caught.value.location or "").endswith("pe.csl:14:3")


# What they refuse

REFUSED = [
    ("complex", "const x = «m.complex(i16)»; comptime { @comptime_print(x); }",
     "two f32 or two 16-bit floats, not of 'i16'"),
    ("complex", "comptime { _ = «m.get_complex(@as(i16, 1), 2)»; }", "not of 'i16'"),
    ("complex", "comptime { _ = «m.add_complex(@as(f32, 1), 2.0)»; }", "add_complex takes complex numbers"),
    ("complex", "comptime { _ = m.multiply_complex(m.get_complex_64(1.0, 2.0), «m.get_complex_32(1.0, 2.0)»); }",
     "expected 'struct { real: f32, imag: f32 }'"),
    ("data_utils", "comptime { _ = «m.lo16(@as(u16, 1))»; }", "lo16 takes a number of 32 bits, not 'u16'"),
    ("data_utils", "comptime { _ = «m.hi32(@as(u32, 1))»; }", "hi32 takes a number of 64 bits, not 'u32'"),
    ("data_utils", "comptime { _ = «m.hi16(true)»; }", "hi16 takes a number of 32 bits, not 'bool'"),
    ("dsd_ops", "fn f() void { «m.mul(i16, d, d, d, .{})»; }", "mul works on @fp16() or f32, not on 'i16'"),
    ("dsd_ops", "fn f() void { «m.add(f32, i16, d, d, d, .{})»; }", "add has no operation from 'i16' to 'f32'"),
    ("dsd_ops", "fn f() void { «m.mov(f32, 1.0, d, .{})»; }", "the destination of @fmovs is a DSD, a DSR or a pointer"),
    ("dsd_ops", "fn f() void { «m.mov(f32, d, d, .{ .asynch = true })»; }", "has no field '.asynch'"),
    ("string", 'comptime { _ = «m.fmt("{d} {d}", .{ 1 })»; }', "takes more than the 1 values given"),
    ("string", 'comptime { _ = «m.fmt("{d}", .{ 1, 2 })»; }', "takes 1 of the 2 values given"),
    ("string", 'comptime { _ = «m.fmt("{d}", .{ 1.5 })»; }',
     "'{d}' takes an integer, but value 1 is of type 'comptime_float'"),
    ("string", 'comptime { _ = «m.fmt("{q}", .{ 1 })»; }', "'{q}' is not a specifier"),
    ("string", 'comptime { _ = «m.fmt("{d}", 1)»; }', "the values of a format are a tuple"),
    ("types", "comptime { _ = «m.byte_size_of(comptime_int)»; }", "a value of type 'comptime_int' is not in memory"),
    ("types", "comptime { _ = «m.bits_type_of([3000000]u8)»; }", "there are no integers of 24000000 bits; use at most"),
]  # fmt: skip


@pytest.mark.parametrize(("library", "text", "message"), REFUSED)
def test_what_small_libraries_refuse(csl: Csl, library: str, text: str, message: str) -> None:
    before = f"""
    const m = @import_module("<{library}>");
    var a = @zeros([4]f32);
    const d = @get_dsd(mem1d_dsd, .{{ .base_address = &a, .extent = 4 }});
    """
    end = "task t() void { f(); } comptime { @bind_local_task(t, @get_local_task_id(8)); }" if "fn f()" in text else ""
    csl.refuses(f"{before}{text}{end}", message)


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (".{ .timerCount = 0 }", "timerCount must be from 1 to 32767"),
        (".{ .timerCount = 2.5 }", "timerCount must be an integer, not 'comptime_float'"),
        (".{}", "param 'timerCount' has no value"),
    ],
)
def test_wrong_counts_of_timers(csl: Csl, count: str, message: str) -> None:
    text = f"""
    const timer = «@import_module("<timer>", {count})»;
    task t() void {{ timer.start(0); }}
    comptime {{ @bind_local_task(t, @get_local_task_id(8)); }}
    """
    csl.refuses(text, message)


def test_a_timer_that_is_known_to_be_out_of_range_is_refused(csl: Csl) -> None:
    text = """
    const timer = @import_module("<timer>", .{ .timerCount = 2 });
    task t() void { «timer.start(2)»; }
    comptime { @bind_local_task(t, @get_local_task_id(8)); }
    """
    csl.refuses(text, "there is no timer with this id; with timerCount = 2 the ids are 0 to 1")


def test_empty_is_imported_where_a_condition_says_so(csl: Csl) -> None:
    text = 'param stage: u16 = 0;\nconst cache = @import_module(if (stage == 0) "<empty>" else "cache.csl");\n'
    csl.pe(text + "comptime { @comptime_print(stage); }")
    with pytest.raises(CslError, match=r"module '<empty>' does not declare 'get'"):
        csl.pe(text + "comptime { _ = cache.get(); }")


MIXED = """
const ops = @import_module("<dsd_ops>");
var a = [4]f32{ 1.25, -2.0, 0.5, 1000.0 };
var h = [4]@fp16(){ 3.0, 0.25, -7.0, 0.125 };
var out = @zeros([4]f32);
var half: @fp16() = 2.5;
var sum: f32 = 0.5;
var sums = @zeros([1]f32);
const da = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[i] });
const dh = @get_dsd(mem1d_dsd, .{ .base_address = &h, .extent = 4 });
const dout = @get_dsd(mem1d_dsd, .{ .base_address = &out, .extent = 4 });
const from = @get_dsr(dsr_src1, 2);
"""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("format", ["f16", "bf16"])
@pytest.mark.parametrize(
    ("sources", "expected"),
    [("dh, da", "a + h"), ("da, dh", "a + h"), ("half, da", "a + 2.5"), ("da, half", "a + 2.5"), ("da, 1.5", "a + 1.5"),
     ("1.5, da", "a + 1.5"), ("half, from", "a + 2.5"), ("from, half", "a + 2.5"), ("from, 1.5", "a + 1.5")],
)  # fmt: skip
def test_an_f16_and_an_f32_add_in_either_order(csl: Csl, format: str, sources: str, expected: str) -> None:
    load = "@load_to_dsr(from, da);" if "from" in sources else ""
    text = f"{MIXED} fn main() void {{ {load} @faddhs(dout, {sources}); }}"
    out = csl.run(text, {"out": "f32"}, fp16_format=format)["out"]
    a, h = np.array([1.25, -2, 0.5, 1000], np.float32), np.array([3, 0.25, -7, 0.125], np.float32)
    assert csl.pe(text + END, fp16_format=format).warnings == []
    np.testing.assert_array_equal(out, eval(expected, {"a": a, "h": h}))


END = "comptime { @bind_local_task(t, @get_local_task_id(8)); } task t() void { main(); }"


@pytest.mark.parametrize("sources", ["sum, dh", "dh, sum"])
@pytest.mark.parametrize("call", ["@faddhs(&sum, {}, .{{}})", "ops.add(f32, @fp16(), &sum, {}, .{{}})"])
def test_an_f32_sums_f16(csl: Csl, call: str, sources: str) -> None:
    text = f"{MIXED} fn main() void {{ {call.format(sources)}; sums[0] = sum; }}"
    assert csl.run(text, {"sums": "f32"})["sums"].tolist() == [0.5 + 3 + 0.25 - 7 + 0.125]


@pytest.mark.parametrize("sources", ["da, sum", "sum, da", "dh, sum"])
def test_two_numbers_of_one_width_are_no_mixed_sum(csl: Csl, sources: str) -> None:
    text = f"{MIXED} fn main() void {{ @faddhs(dout, {sources}); }} {END}"
    if sources == "dh, sum":
        csl.pe(text)
    else:
        csl.refuses(text.replace("sum)", "«sum»)").replace("sum, da)", "«sum», da)"), "expected 'f16', found 'f32'")


@pytest.mark.parametrize(("name", "type"), [("fscales", "f32"), ("fscaleh", "f16")])
def test_a_number_is_scaled_in_place(csl: Csl, name: str, type: str) -> None:
    text = f"""
    var s: {type} = 1.5;
    var k: i16 = 3;
    var out = @zeros([1]{type});
    fn main() void {{ @{name}(&s, s, k); out[0] = s; }}
    """
    assert csl.run(text, {"out": type})["out"].tolist() == [12]


WIDTHS = [
    ("@fmulh(dh, da, dh)", "@fmulh takes this DSD as one over 'f16', but its array has elements of type 'f32'"),
    ("@fmovh(da, dh)", "@fmovh takes this DSD as one over 'f16', but its array has elements of type 'f32'"),
    ("@fadds(da, da, dh)", "@fadds takes this DSD as one over 'f32', but its array has elements of type 'f16'"),
    ("@fmachs(da, dh, dh, half)", "@fmachs takes this DSD as one over 'f32', but its array has elements of type 'f16'"),
    ("ops.mul(f16, dh, dh, da, .{})", "@fmulh takes this DSD as one over 'f16', but its array has elements of"),
    ("@mov16(dh, dh)", ""), ("@mov32(da, da)", ""), ("@fmachs(da, da, dh, half)", ""),
    ("@fmovh(@get_dsd(mem1d_dsd, .{ .base_address = @ptrcast([*]u16, &a), .extent = 4 }), dh)", ""),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), WIDTHS)
def test_elements_of_another_width_than_the_operation_has(csl: Csl, call: str, message: str) -> None:
    warnings = csl.pe(f"{MIXED}\nfn main() void {{ {call}; }} {END}").warnings
    assert len(warnings) == (message != "")
    if message:
        assert "pe.csl:14:" in warnings[0] and message in warnings[0]
