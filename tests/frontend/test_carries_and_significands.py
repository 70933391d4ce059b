"""`@addc16`, `@fnormh`, `@fnorms`, `@fscaleh` and `@fscales` at the edges of their types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .harness import Csl, on_both

NUMBERS = [0, 1, 0xFFFF, 0x10000, 0xFFFFFFFF, 0x7FFF_FFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF, 0x8000_0000_0000_0000]


def words_of(number: int, count: int = 4) -> list[int]:
    return [number >> 16 * place & 0xFFFF for place in range(count)]


def listed(values: list[int]) -> str:
    return ", ".join(map(str, values))


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_sums_of_numbers_of_four_words(csl: Csl, monkeypatch: pytest.MonkeyPatch, arch: str) -> None:
    """An element gets the carry of the one before; the first gets none, whatever an operation before has left."""
    pairs = [(a, b) for a in NUMBERS for b in NUMBERS]
    left = [word for a, _ in pairs for word in words_of(a)]
    right = [word for _, b in pairs for word in words_of(b)]
    text = f"""
    var a = [{len(left)}]u16{{ {listed(left)} }};
    var b = [{len(left)}]u16{{ {listed(right)} }};
    var da = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> a[i] }});
    var db = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> b[i] }});
    fn main() void {{
      for (@range(u16, {len(pairs)})) |n| {{
        @addc16(da, da, db);
        da = @increment_dsd_offset(da, 4, u16);
        db = @increment_dsd_offset(db, 4, u16);
      }}
    }}
    """
    program = csl.program(text, {"a": "u16"}, arch=arch)
    found, _ = on_both(program, monkeypatch, "a")
    assert np.ravel(found).tolist() == [word for a, b in pairs for word in words_of(a + b)]


SOURCES = {
    "negative number first": ("@as(i16, -1), d", 0xFFFF),
    "number last": ("d, @as(u16, 0x8001)", 0x8001),
    "register": ("@get_dsr(dsr_src1, 2), one", None),
}


@pytest.mark.parametrize(("sources", "number"), SOURCES.values(), ids=SOURCES)
def test_carries_with_numbers_and_registers(csl: Csl, sources: str, number: int | None) -> None:
    """A number is added to each element, and so is the carry."""
    words = [0xFFFF, 0, 0x7FFF, 0x8000, 0xFFFF, 5]
    text = f"""
    var v = [6]u16{{ {listed(words)} }};
    var one: u16 = 1;
    var out = @zeros([6]u16);
    const d = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{6}} -> v[i] }});
    const to = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{6}} -> out[i] }});
    fn main() void {{
      @load_to_dsr(@get_dsr(dsr_src1, 2), d);
      @addc16(to, {sources});
    }}
    """
    carry, expected = 0, list[int]()
    for word in words:
        carry, low = divmod(word + (1 if number is None else number) + carry, 1 << 16)
        expected.append(low)
    assert csl.run(text, {"out": "u16"})["out"].tolist() == expected


@pytest.mark.parametrize("mode", ["", ", .{ .async = true }"])
@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.slow
def test_the_carry_waits_with_its_operation(csl: Csl, monkeypatch: pytest.MonkeyPatch, arch: str, mode: str) -> None:
    """Wavelets come in parts, and another sum in memory runs in between: each has a carry of its own."""
    text = f"""
    const c = @get_color(3);
    const iq = @get_input_queue(2);
    const oq = @get_output_queue(3);
    var v = [6]u16{{ 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF }};
    var w = [2]u16{{ 0xFFFF, 3 }};
    var out = @zeros([8]u16);
    const values = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{6}} -> v[i] }});
    const to = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{6}} -> out[i] }});
    const other = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{2}} -> out[i + 6] }});
    const short = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{2}} -> w[i] }});
    const from = @get_dsd(fabin_dsd, .{{ .extent = 6, .fabric_color = c, .input_queue = iq }});
    const into = @get_dsd(fabout_dsd, .{{ .extent = 2, .fabric_color = c, .output_queue = oq }});
    fn main() void {{
      @addc16(to, values, from, .{{ .async = true }});
      @addc16(other, short, @as(u16, 1));
      @mov16(into, @as(u16, 1){mode});
      step(0);
    }}
    const next = @get_local_task_id(9);
    var sent: u16 = 0;
    fn step(value: u16) void {{
      if (sent < 2) {{ sent += 1; @activate(next); }}
    }}
    task go_on() void {{ @mov16(into, @as(u16, 0)); step(0); }}
    comptime {{
      @bind_local_task(go_on, next);
      @initialize_queue(iq, .{{ .color = c }});
      if (@is_arch("wse3")) @initialize_queue(oq, .{{ .color = c }});
    }}
    """
    route = "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"
    program = csl.program(text, {"out": "u16"}, arch=arch, layout=route)
    found, _ = on_both(program, monkeypatch, "out")
    # 1, 1, 0, 0, 0, 0 come: 0xFFFF + 1 carries, so does 0xFFFF + 1 + 1, and 0xFFFF + 0 + 1 to the end.
    assert np.ravel(found).tolist() == [0, 1, 0, 0, 0, 0, 0, 5]


F16 = [0, 1, 0x3FF, 0x400, 0x401, 0x3C00, 0x3FFF, 0x4000, 0x4248, 0x7BFF, 0x7C00, 0x7E00, 0x2E66]
F32 = [0, 1, 0x7FFFFF, 0x800000, 0x3F800000, 0x3FFFFFFF, 0x40000000, 0x40490FDB, 0x7F7FFFFF, 0x7F800000, 0x7FC00000]


def unary(name: str, type: str, bits: str, patterns: list[int]) -> str:
    return f"""
    var v = [{len(patterns)}]{bits}{{ {listed(patterns)} }};
    var out = @zeros([{len(patterns)}]{bits});
    const ops = @import_module("<dsd_ops>");
    fn main() void {{
      for (@range(u16, {len(patterns)})) |n| {{
        var x: {type} = @bitcast({type}, v[n]);
        {name};
        out[n] = @bitcast({bits}, x);
      }}
    }}
    """


def significand(value: Any) -> Any:
    """Return what a number is times a power of two, from 1 up to 2."""
    if value == 0 or not np.isfinite(value):
        return value
    return type(value)(np.copysign(np.frexp(np.abs(np.float64(value)))[0] * 2, value))


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize(
    ("name", "type", "bits", "edges"),
    [
        ("@fnormh(&x, x)", "f16", "u16", F16), ("@fnorms(&x, x)", "f32", "u32", F32),
        ("_ = ops.norm(f16, &x, x, .{})", "f16", "u16", F16), ("_ = ops.norm(f32, &x, x, .{})", "f32", "u32", F32),
    ],
)  # fmt: skip
def test_significands(
    csl: Csl, monkeypatch: pytest.MonkeyPatch, name: str, type: str, bits: str, edges: list[int], arch: str
) -> None:
    """Zeros, subnormals, infinities and NaNs with both signs; a result is exact."""
    sign = 1 << (31 if type == "f32" else 15)
    patterns = [pattern ^ other for pattern in edges for other in (0, sign)]
    program = csl.program(unary(name, type, bits, patterns), {"out": bits}, arch=arch)
    found, _ = on_both(program, monkeypatch, "out")
    kind: Any = np.float32 if type == "f32" else np.float16
    given = np.array(patterns, f"u{np.dtype(kind).itemsize}").view(kind)
    expected = np.array([significand(value) for value in given], kind)
    result = np.ravel(np.array(found)).astype(f"u{np.dtype(kind).itemsize}").view(kind)
    np.testing.assert_array_equal(result, expected)
    assert np.signbit(result[~np.isnan(result)]).tolist() == np.signbit(expected[~np.isnan(expected)]).tolist()


@pytest.mark.parametrize("format", ["f16", "bf16", "cb16"])
def test_significands_of_each_format(csl: Csl, format: str) -> None:
    text = """
    var out = @zeros([1]f32);
    fn main() void { var x: @fp16() = -40.0; @fnormh(&x, x); out[0] = x; }
    """
    assert csl.run(text, {"out": "f32"}, fp16_format=format)["out"].tolist() == [-1.25]


EXPONENTS = [0, 1, -1, 5, -5, 24, -24, 40, -40, 127, -127, 150, -150, 300, -300, 32767, -32768]


@pytest.mark.parametrize(
    ("name", "type", "bits", "edges"), [("fscaleh", "f16", "u16", F16), ("fscales", "f32", "u32", F32)]
)
def test_scaled_numbers(
    csl: Csl, monkeypatch: pytest.MonkeyPatch, name: str, type: str, bits: str, edges: list[int]
) -> None:
    """Products with powers of two are rounded once, to even on a tie, also to subnormals; beyond are infinities."""
    cases = [(pattern, exponent) for pattern in edges for exponent in EXPONENTS]
    text = f"""
    var v = [{len(cases)}]{bits}{{ {listed([pattern for pattern, _ in cases])} }};
    var e = [{len(cases)}]i16{{ {listed([exponent for _, exponent in cases])} }};
    var out = @zeros([{len(cases)}]{bits});
    fn main() void {{
      for (@range(u16, {len(cases)})) |n| {{
        var x: {type} = @bitcast({type}, v[n]);
        @{name}(&x, x, e[n]);
        out[n] = @bitcast({bits}, x);
      }}
    }}
    """
    found, _ = on_both(csl.program(text, {"out": bits}), monkeypatch, "out")
    kind: Any = np.float32 if type == "f32" else np.float16
    given = np.array([pattern for pattern, _ in cases], f"u{np.dtype(kind).itemsize}").view(kind).astype(np.longdouble)
    with np.errstate(all="ignore"):
        expected = np.ldexp(given, [exponent for _, exponent in cases]).astype(kind)
    result = np.ravel(np.array(found)).astype(f"u{np.dtype(kind).itemsize}").view(kind)
    np.testing.assert_array_equal(result, expected)
