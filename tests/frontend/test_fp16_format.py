"""--fp16-format: one type of 16-bit floats exists at run time, the others at compile time only."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from loomir.diagnostics.errors import LoomError

from ..runtime import oracle
from .harness import Csl

KERNEL = """
const h = @fp16();
const math = @import_module("<math>");
var a = [3]h { 1.0, 2.5, -0.1 };
var b = @zeros([3]h);
var bits = @zeros([3]u16);
fn main() void {
  for (@range(u16, 3)) |i| {
    b[i] = math.abs(a[i] * a[i] - @as(h, 0.1));
    bits[i] = @bitcast(u16, b[i]);
  }
}
"""


@pytest.mark.parametrize(("format", "dtype"), [("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_arithmetic(csl: Csl, format: str, dtype: type) -> None:
    out = csl.run(KERNEL, {"b": "@fp16()", "bits": "u16"}, fp16_format=format)
    a = np.array([1.0, 2.5, -0.1], np.float32).astype(dtype)
    squares = (a.astype(np.float32) * a.astype(np.float32)).astype(dtype)
    tenth = np.float32(np.float32(0.1).astype(dtype))
    expected = np.abs((squares.astype(np.float32) - tenth).astype(dtype))
    np.testing.assert_array_equal(out["b"].astype(np.float32), expected.astype(np.float32))
    np.testing.assert_array_equal(out["bits"], expected.view(np.uint16))


CB16 = """
const math = @import_module("<math>");
param scale: cb16;
param id: i16;
const big: cb16 = 1.0e6;
const point = struct { x: cb16, tag: u16, y: cb16 };
const bits = packed struct { low: u8, value: cb16, high: u8 };
var table = [4]cb16 { -0.0, 1.5, -2.0e6, 0.1 };
var p = point { .x = 0.5, .tag = 7, .y = -3.25 };
var q = bits { .low = 1, .value = 6.0, .high = 2 };
var matrix = @constants([2, 2]cb16, 2.0);
var out = @zeros([24]cb16);
var words = @zeros([8]u32);
var singles = @zeros([4]f32);
fn twice(x: cb16) cb16 { return x + x; }
fn choose(x: anytype) @type_of(x) { return if (x > 1.0) -x else x; }
fn main(given: cb16, whole: i16) void {
  for (@range(u16, 4)) |i| { out[i] = table[i] * big; }
  out[4] = p.x + p.y;
  p.y = given;
  out[5] = p.y;
  out[6] = q.value;
  q.value = -given;
  out[7] = q.value;
  out[8] = scale;
  out[9] = matrix[1, 1] / 3.0;
  out[10] = twice(given);
  out[11] = choose(given);
  out[12] = @as(cb16, whole);
  out[13] = @as(cb16, singles[0]);
  out[14] = math.sqrt(given) + math.abs(-given);
  out[15] = math.max(given, 2.5);
  out[16] = given % 0.3;
  out[17] = @bitcast(cb16, @as(u16, 0x7dff));
  out[18] = out[17] + out[17];
  var sum: cb16 = 0.0;
  for (table) |value| { sum += value; }
  out[19] = sum;
  out[20] = math.NaN_f16;
  out[21] = math.POSITIVE_INF_f16;
  out[22] = if (id == 3) given else scale;
  table = @constants([4]cb16, 0.1);
  out[23] = table[3];
  words[0] = @bitcast(u32, q);
  words[1] = @as(u32, math.isNaN(out[20]));
  words[2] = @as(u32, given > 1.0 and given <= 1.5 and given != 1.0 and given == given);
  words[3] = @as(u32, math.signbit(-given));
  words[4] = @bitcast(u32, @as(i32, -given));
  words[5] = @as(u32, given);
  words[6] = @bitcast(u16, given);
  words[7] = @as(u32, out[20] == out[20]);
  singles[1] = given;
  singles[2] = @as(f32, table[3]) + given;
  singles[3] = @as(f32, id);
}
"""


def nearest(*numbers: float) -> list[float]:
    return [oracle.round_to(Fraction(number), "cb16") for number in numbers]


@pytest.mark.slow
@pytest.mark.parametrize("width", [1, 5])
def test_cb16_in_a_program(csl: Csl, width: int) -> None:
    """What a program does with other floats, on one PE and on several that have parameters of their own."""
    simulator = csl.start(
        CB16, {"out": "cb16", "words": "u32", "singles": "f32"}, {"main": "fn(cb16, i16) void"},
        params=".scale = @as(cb16, x) + 0.3, .id = x", width=width, fp16_format="cb16",
    )  # fmt: skip
    simulator.set("singles", np.full(4, 0.7, np.float32))
    given = oracle.round_to(Fraction(1.3), "cb16")
    simulator.launch("main", oracle.to_bits(given, "cb16"), 1025)
    shown, words, singles = (simulator.get(name)[0] for name in ("out", "words", "singles"))
    assert shown.dtype == np.uint16
    (tenth,) = nearest(0.1)
    (million,) = nearest(1e6)
    for x in range(width):
        (half,) = nearest(x + nearest(0.3)[0])
        low, high = nearest(0.3, math.sqrt(given))
        first, last = nearest(1.5 * million, tenth * million)
        expected = [
            -0.0, first, -math.inf, last, -2.75, given, 6.0, -given, half, *nearest(2 / 3), *nearest(2 * given),
            -given, *nearest(1025), *nearest(float(np.float32(0.7))), *nearest(high + given), 2.5,
            oracle.remainder(given, low), 2.0**20 * (2 - 2.0**-9), math.inf,
        ]  # fmt: skip
        found = [float(oracle.from_bits(int(bits), "cb16")) for bits in shown[x]]
        assert found[: len(expected)] == expected
        assert math.copysign(1, found[0]) < 0
        total = 0.0
        for value in nearest(0, 1.5, -2.0e6, 0.1):
            total = oracle.add(total, value, "cb16")
        assert found[19] == total
        assert math.isnan(found[20])
        assert found[21:] == [math.inf, given if x == 3 else half, tenth]
        bits = oracle.to_bits(given, "cb16")
        q = 1 | oracle.to_bits(-given, "cb16") << 8 | 2 << 24
        assert words[x].tolist() == [q, 1, 1, 1, 0xFFFFFFFF, 1, bits, 0]
        assert singles[x, 1:].tolist() == [given, np.float32(tenth) + np.float32(given), x]


OPERATIONS = """
const h = @fp16();
var a = @zeros([9]h);
var b = @zeros([9]h);
var s = @zeros([9]f32);
var n = @zeros([9]i16);
var r = @zeros([9, 9]h);
var w = @zeros([2, 9]f32);
var whole = @zeros([9]i16);
const A = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{9} -> a[i] });
const B = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{9} -> b[i] });
const S = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{9} -> s[i] });
const N = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{9} -> n[i] });
const W = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{9} -> whole[i] });
fn row(comptime k: i16) mem1d_dsd { return @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{9} -> r[k, i] }); }
fn wide(comptime k: i16) mem1d_dsd { return @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{9} -> w[k, i] }); }
fn both(x: h, y: h) h { return x * y + 0.5; }
const dest = @get_dsr(dsr_dest, 3);
const src = @get_dsr(dsr_src1, 3);
fn main() void {
  @faddh(row(0), A, B);
  @fmulh(row(1), A, 3.0);
  @fmach(row(2), A, B, 0.7);
  @fs2h(row(3), S);
  @xp162fh(row(4), N);
  @fmaxh(row(5), A, B);
  @map(both, A, B, row(6));
  @load_to_dsr(dest, row(7));
  @load_to_dsr(src, B);
  @fsubh(dest, A, src);
  @fmovh(row(8), A);
  @fh2s(wide(0), A);
  @fmachs(wide(1), S, A, 0.7);
  @fh2xp16(W, A);
}
"""


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("format", ["bf16", "cb16"])
@pytest.mark.slow
def test_operations(csl: Csl, format: str, arch: str) -> None:
    random = np.random.default_rng(7)
    patterns = random.integers(0, 1 << 16, (2, 9)).astype(np.uint16)
    exponent = 0x7F80 if format == "bf16" else 0x7E00
    patterns[patterns & exponent == exponent] &= 0x3FFF
    patterns[1, :5] = patterns[0, :5] ^ random.integers(0, 300, 5).astype(np.uint16)
    single = (random.normal(size=9) * 1000).astype(np.float32)
    integers = random.integers(-(1 << 15), 1 << 15, 9).astype(np.int16)
    held = {"a": patterns[0], "b": patterns[1]}
    if format == "bf16":
        held = {name: bits.view(ml_dtypes.bfloat16) for name, bits in held.items()}
    exports = {"a": "@fp16()", "b": "@fp16()", "s": "f32", "n": "i16", "r": "@fp16()", "w": "f32", "whole": "i16"}
    inputs = {**held, "s": single, "n": integers}
    out = csl.run(OPERATIONS, exports, inputs, fp16_format=format, arch=arch)
    result = out["r"].view(np.uint16).reshape(9, 9)
    factor = oracle.round_to(Fraction(0.7), format)
    for k in range(9):
        x, y = (float(oracle.from_bits(int(bits[k]), format)) for bits in patterns)
        s, n = float(single[k]), int(integers[k])
        expected = [
            oracle.compute(name, values, format)
            for name, values in [
                ("faddh", [x, y]), ("fmulh", [x, 3.0]), ("fmach", [x, y, factor]), ("fs2h", [s]), ("xp162fh", [n]),
                ("fmaxh", [x, y]), ("faddh", [oracle.multiply(x, y, format), 0.5]), ("fsubh", [x, y]), ("fmovh", [x]),
            ]
        ]  # fmt: skip
        assert [int(bits) for bits in result[:, k]] == [oracle.to_bits(value, format) for value in expected]
        wide = [oracle.compute(name, values, format) for name, values in [("fh2s", [x]), ("fmachs", [s, x, factor])]]
        assert out["w"].reshape(2, 9)[:, k].tolist() == wide
        assert out["whole"][k] == oracle.to_integer(x)


FABRIC = """
const h = @fp16();
const near = @get_color(3);
const far = @get_color(4);
const near_queue = @get_input_queue(2);
const far_queue = @get_input_queue(4);
var a = [3]h { 1.5, -2.0, 0.1 };
var b = @zeros([3]h);
var room = @zeros([8]h);
const fifo = @allocate_fifo(room);
var out = @zeros([7]h);
var received: u16 = 0;
const A = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> a[i] });
const B = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> b[i] });
const near_out = @get_dsd(fabout_dsd, .{ .extent = 3, .fabric_color = near, .output_queue = @get_output_queue(2) });
const far_out = @get_dsd(fabout_dsd, .{ .extent = 3, .fabric_color = far, .output_queue = @get_output_queue(3) });
const far_in = @get_dsd(fabin_dsd, .{ .extent = 3, .fabric_color = far, .input_queue = far_queue });
const arrived = if (@is_arch("wse3")) @get_data_task_id(near_queue) else @get_data_task_id(near);
task receive(x: h) void {
  out[received] = x;
  received += 1;
}
task done() void {
  @fmulh(fifo, A, 2.0);
  @faddh(B, B, fifo);
  for (b) |value, i| { out[3 + i] = value; }
  var sum: h = 0.0;
  @faddh(&sum, sum, A);
  out[6] = sum;
}
comptime {
  @bind_data_task(receive, arrived);
  @bind_local_task(done, @get_local_task_id(20));
  @initialize_queue(near_queue, .{ .color = near });
  @initialize_queue(far_queue, .{ .color = far });
  if (@is_arch("wse3")) {
    @initialize_queue(@get_output_queue(2), .{ .color = near });
    @initialize_queue(@get_output_queue(3), .{ .color = far });
  }
}
fn main() void {
  @fnegh(near_out, A, .{ .async = true });
  @fmovh(far_out, A, .{ .async = true });
  @faddh(B, far_in, A, .{ .async = true, .activate = done });
}
"""
TO_SELF = """
for (@range(u16, 3, 5, 1)) |color| {
  @set_color_config(0, 0, @get_color(color), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });
}
"""


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("format", ["bf16", "cb16"])
def test_wavelets_and_fifos(csl: Csl, format: str, arch: str) -> None:
    """Tasks get numbers of the format from wavelets, and operations take them from queues and FIFOs."""
    out = csl.run(FABRIC, {"out": "@fp16()"}, fp16_format=format, arch=arch, layout=TO_SELF)["out"].view(np.uint16)
    a = [oracle.round_to(Fraction(x), format) for x in (1.5, -2.0, 0.1)]
    triple = [oracle.add(oracle.add(x, x, format), oracle.multiply(x, 2.0, format), format) for x in a]
    total = 0.0
    for x in a:
        total = oracle.add(total, x, format)
    assert out.tolist() == [oracle.to_bits(x, format) for x in (*(-x for x in a), *triple, total)]


@pytest.mark.parametrize("format", ["bf16", "cb16"])
def test_libraries(csl: Csl, format: str) -> None:
    """<math> gives the nearest number, or nearly so, of what it computes; <random> stays within bounds."""
    text = """
    const math = @import_module("<math>");
    const random = @import_module("<random>");
    var out = @zeros([12]f32);
    fn main() void {
      const x: @fp16() = 0.8;
      out[0] = math.exp(x); out[1] = math.log(x); out[2] = math.sin(x); out[3] = math.cos(x);
      out[4] = math.tanh(x); out[5] = math.pow(x, x); out[6] = math.ceil(x); out[7] = math.floor(-x);
      out[8] = math.invsqrt(x); out[9] = math.inv(x); out[10] = math.fscale(x, 3); out[11] = random.random_f16(x, 1.0);
    }
    """
    out = csl.run(text, {"out": "f32"}, fp16_format=format)["out"].tolist()
    x = oracle.round_to(Fraction(0.8), format)
    exact = [
        math.exp(x), math.log(x), math.sin(x), math.cos(x), math.tanh(x), x**x, 1.0, -1.0, x**-0.5, 1 / x, 8 * x,
    ]  # fmt: skip
    step = 2.0 ** (1 - oracle.FLOATS[format][0])
    assert all(abs(found - wanted) <= abs(wanted) * step for found, wanted in zip(out, exact, strict=False))
    assert all(oracle.round_to(Fraction(found), format) == found for found in out)
    assert x <= out[11] <= 1.0


@pytest.mark.parametrize("format", ["f16", "bf16", "cb16"])
def test_libraries_of_operations(csl: Csl, format: str) -> None:
    """<complex> and <dsd_ops> follow the format of the program."""
    text = """
    const c = @import_module("<complex>");
    const ops = @import_module("<dsd_ops>");
    const h = @fp16();
    var a = [3]h { 1.1, 2.3, 0.1 };
    var b = [3]h { 3.7, 0.6, 0.2 };
    var out = @zeros([6]f32);
    var wide = @zeros([3]f32);
    const A = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> a[i] });
    const B = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> b[i] });
    const W = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> wide[i] });
    fn main() void {
      const product = c.multiply_complex(c.get_complex_32(a[0], a[1]), c.get_complex_32(b[0], b[1]));
      out[0] = product.real;
      out[1] = product.imag;
      _ = ops.fmac(h, h, A, A, B, b[1], .{});
      _ = ops.convert(f32, h, W, A, .{});
      for (wide) |value, i| { out[2 + i] = value; }
    }
    """
    out = csl.run(text, {"out": "f32"}, fp16_format=format)["out"].tolist()
    a, b = ([oracle.round_to(Fraction(x), format) for x in given] for given in ([1.1, 2.3, 0.1], [3.7, 0.6, 0.2]))

    def product(x: float, y: float) -> float:
        return oracle.multiply(x, y, format)

    real = oracle.add(product(a[0], b[0]), -product(a[1], b[1]), format)
    imaginary = oracle.add(product(a[0], b[1]), product(a[1], b[0]), format)
    sums = [oracle.add(x, product(y, b[1]), format) for x, y in zip(a, b, strict=True)]
    assert out == [real, imaginary, *sums, 0.0]


@pytest.mark.parametrize(("format", "kind"), [("f16", 11), ("bf16", 13), ("cb16", 16)])
def test_prints_and_traces(csl: Csl, format: str, kind: int) -> None:
    text = """
    const print = @import_module("<simprint>");
    const debug = @import_module("<debug>", .{ .key = "t", .buffer_size = 8 });
    var x: @fp16() = 1.5;
    var out = @zeros([10]u16);
    fn main() void {
      print.fmt("x = {f}", .{ x * 4.0 });
      debug.trace_f16(x * 4.0);
      out = debug.records;
    }
    """
    simulator = csl.start(text, {"out": "u16"}, fp16_format=format)
    simulator.launch("main")
    assert "".join(entry[-1] for entry in simulator._machine.log) == "x = 6.0\n"
    words = simulator.get("out")[0, 0].tolist()
    assert words[:4] == [2, 0, kind, oracle.to_bits(6.0, format)]


def test_type(csl: Csl) -> None:
    for format in ("f16", "bf16", "cb16"):
        assert csl.value("@fp16()", fp16_format=format) == format
    with pytest.raises(LoomError, match="--fp16-format takes f16, bf16, cb16, not 'ieee'"):
        csl.value("1", fp16_format="ieee")


def test_the_others_at_compile_time(csl: Csl) -> None:
    text = """
    const table = [2]cb16 { 6.0, 1.5 };
    var out = @zeros([2]f32);
    fn main() void { out[0] = table[0]; out[1] = @as(f32, @as(bf16, 0.1)); }
    """
    assert csl.run(text, {"out": "f32"})["out"].tolist() == [6.0, float(ml_dtypes.bfloat16(0.1))]


REFUSED = [
    ("f16", "«var x: bf16 = 1.0»;\ncomptime { _ = x; }", "'bf16' must be known at compile time, as --fp16"),
    ("bf16", "«var x = @zeros([3]f16)»;\ncomptime { _ = &x; }", "'f16' must be known at compile time"),
    ("f16", "«var x = [1]struct { a: cb16 } { .{ .a = 1.0 } }»;\ncomptime { _ = &x; }", "'cb16' must be known"),
    ("f16", "var n: f32 = 1.0;\nRUN { const y = «@as(bf16, n)»; }", "'bf16' must be known at compile time"),
    ("bf16", "var n: u16 = 1;\nRUN { const y = «@bitcast(f16, n)»; }", "'f16' must be known at compile time"),
    ("f16", "task t(«x: bf16») void {}\ncomptime { @bind_data_task(t, @get_data_task_id(@get_color(3))); }", "'bf16'"),
    ("cb16", "var n: f32 = 1.0;\nRUN { const y: cb16 = «n»; }", "expected 'cb16', found 'f32'"),
    ("cb16", "var n: f32 = 1.0;\nRUN { const y = «@as(bf16, n)»; }", "'bf16' must be known at compile time"),
    ("cb16", "var x = @zeros([3]cb16);\nconst d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> x[i] });\n"
     "RUN { @faddh(d, d, «@as(u16, 1)»); }", "@faddh takes a 'cb16', not 'u16'"),
]  # fmt: skip


@pytest.mark.parametrize(("format", "text", "message"), REFUSED)
def test_refused(csl: Csl, format: str, text: str, message: str) -> None:
    task = "task run() void"
    bound = "\ncomptime { @bind_local_task(run, @get_local_task_id(9)); }" if "RUN" in text else ""
    csl.refuses(text.replace("RUN", task) + bound, message, fp16_format=format)


@pytest.mark.parametrize("type", ["f16", "bf16", "cb16", "f32"])
def test_remainders(csl: Csl, type: str) -> None:
    """'%' of floats gives the same at compile time and at run time: exact, and with the sign of the first."""
    pairs = [(7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (-0.0, 3.0), (1.0e3, 0.7), (0.1, 0.3), (6.0, 1.5)]
    count = len(pairs)
    text = f"""
    const left = [{count}]{type} {{ {", ".join(str(a) for a, _ in pairs)} }};
    const right = [{count}]{type} {{ {", ".join(str(b) for _, b in pairs)} }};
    var a = left;
    var b = right;
    var zero: {type} = 0.0;
    var out = @zeros([{2 * count + 3}]f32);
    fn main() void {{
      for (@range(u16, {count})) |i| {{ out[i] = a[i] % b[i]; }}
      inline_part();
      a[0] %= zero;
      out[{2 * count}] = a[0];
      a[1] /= zero;
      out[{2 * count + 1}] = a[1] % b[1];
      out[{2 * count + 2}] = b[1] % a[1];
    }}
    fn inline_part() void {{
      {" ".join(f"out[{count + i}] = comptime (left[{i}] % right[{i}]);" for i in range(count))}
    }}
    """
    out = csl.run(text, {"out": "f32"}, fp16_format="f16" if type == "f32" else type)["out"].tolist()
    values = [[oracle.to_kind(number, type) for number in pair] for pair in pairs]
    expected = [oracle.remainder(a, b) for a, b in values]
    assert out[:count] == out[count : 2 * count] == expected
    assert [math.copysign(1, x) for x in out[:count]] == [math.copysign(1, x) for x in expected]
    assert math.isnan(out[2 * count]) and math.isnan(out[2 * count + 1])
    assert out[2 * count + 2] == 2.0


def test_remainders_are_not_in_the_manual(csl: Csl) -> None:
    (warning,) = csl.pe("comptime { _ = @as(f32, 5.5) % 2.0; }").warnings
    assert "pe.csl:1:16: warning: the SDK's compiler takes '%' of integers, not of 'f32'" in warning


BITS = """
const T = @fp16();
const math = @import_module("<math>");
const patterns = [6]u16 { 0xffff, 0x7f81, 0x7fff, 0x7c01, 0xfe55, 0x7f80 };
const first = @bitcast(T, patterns[0]);
const second = @bitcast(T, patterns[1]);
var given = patterns;
var initial = [3]T { first, second, @bitcast(T, patterns[5]) };
var scalar: T = second;
var source = @zeros([6]T);
var moved = @zeros([6]T);
var copied = @zeros([6]T);
var filled = @zeros([2]T);
var out = @zeros([24]u16);
var signaling = @zeros([6]bool);
var infinite = [2]f32 { @bitcast(f32, @as(u32, 0x7f800000)), @bitcast(f32, @as(u32, 0xffc00001)) };
fn main() void {
  for (@range(i16, 6)) |i| {
    source[i] = @bitcast(T, given[i]);
    const held = source[i];
    signaling[i] = math.isSignaling(held);
  }
  @fmovh(@get_dsd(mem1d_dsd, .{ .base_address = &moved, .extent = 6 }),
         @get_dsd(mem1d_dsd, .{ .base_address = &source, .extent = 6 }));
  @mov16(@get_dsd(mem1d_dsd, .{ .base_address = &copied, .extent = 6 }),
         @get_dsd(mem1d_dsd, .{ .base_address = &source, .extent = 6 }));
  for (@range(i16, 6)) |i| {
    out[i] = @bitcast(u16, moved[i]);
    out[i + 6] = @bitcast(u16, copied[i]);
  }
  for (@range(i16, 3)) |i| { out[i + 12] = @bitcast(u16, initial[i]); }
  out[15] = @bitcast(u16, scalar);
  scalar = first;
  out[16] = @bitcast(u16, scalar);
  @fmovh(@get_dsd(mem1d_dsd, .{ .base_address = &filled, .extent = 2 }), scalar);
  out[17] = @bitcast(u16, filled[1]);
}
"""


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("format", ["f16", "bf16", "cb16"])
def test_nans_keep_their_bits(csl: Csl, format: str, width: int) -> None:
    exports = {"out": "u16", "signaling": "bool", "infinite": "f32"}
    out = csl.run(BITS, exports, fp16_format=format, width=width)
    patterns = [0xFFFF, 0x7F81, 0x7FFF, 0x7C01, 0xFE55, 0x7F80]
    expected = [*patterns, *patterns, *patterns[:2], patterns[5], patterns[1], patterns[0], patterns[0], *[0] * 6]
    mantissa = {"f16": 10, "bf16": 7, "cb16": 9}[format]
    lowest = (1 << 15) - (1 << mantissa)
    signaling = [(p & 0x7FFF) > lowest and not p >> (mantissa - 1) & 1 for p in patterns]
    np.testing.assert_array_equal(out["out"], expected)
    assert out["signaling"].tolist() == signaling
    assert out["infinite"].view(np.uint32).tolist() == [0x7F800000, 0xFFC00001]


@pytest.mark.parametrize(("type", "bits"), [("f16", 0x7C01), ("bf16", 0x7F81), ("cb16", 0xFFFF), ("f32", 0x7F800001)])
def test_nans_keep_their_bits_at_compile_time(csl: Csl, type: str, bits: int) -> None:
    word = "u32" if type == "f32" else "u16"
    assert csl.value(f"@bitcast({word}, @bitcast({type}, @as({word}, {bits})))") == str(bits)


def test_integers_of_16_bits_are_signed_as_sources(csl: Csl) -> None:
    text = """
    var out = @zeros([2]f32);
    var large: u16 = 40000;
    fn main() void { @xp162fs(@get_dsd(mem1d_dsd, .{ .base_address = &out, .extent = 2 }), large); }
    """
    assert csl.run(text, {"out": "f32"})["out"].tolist() == [40000.0 - 65536.0] * 2
