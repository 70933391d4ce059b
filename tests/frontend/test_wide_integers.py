"""Integers of more than 64 bits at run time (Types, Arbitrary-Width Integer Types), compared with Python's."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from loomir.diagnostics.errors import LoomError
from loomir.dialects import context
from loomir.passes.expand_wide_integers import ExpandWideIntegersPass

from ..runtime import oracle
from . import test_integer_widths as integer_widths
from .harness import Csl
from .test_integer_widths import wrapped

OPERATIONS: dict[str, Callable[[int, int], int]] = {
    **integer_widths.OPERATIONS,
    "a << 67": lambda a, b: a << 67,
    "a >> 67": lambda a, b: a >> 67,
    "a << 64": lambda a, b: a << 64,
}
COMPARISONS = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
TYPES = ["u65", "i66", "u96", "i100", "u128", "i128", "i129", "u200", "i256"]


def words(type: str, values: list[int]) -> list[int]:
    """Return the words of 32 bits in which memory holds integers, the low one first."""
    bits = int(type[1:])
    count = -(-bits // 32)
    return [value >> (32 * word) & 0xFFFFFFFF for value in values for word in range(count)]


def pairs_of(type: str) -> list[tuple[int, int]]:
    """Return operands of all lengths, and those at which carries, signs and limits go wrong."""
    random, bits = Random(type), int(type[1:])
    drawn = [tuple(random.getrandbits(random.randint(1, bits)) for _ in range(2)) for _ in range(4)]
    drawn += [(1 << (bits - 1), -1), (-1, -1), (1 << 64, (1 << 64) - 1), ((1 << 64) - 1, 1), (-1, 1 << 63)]
    return [(wrapped(type, a), wrapped(type, b) or 1) for a, b in drawn]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.slow
def test_arithmetic(csl: Csl, type: str) -> None:
    """Everything at run time, in memory, and at compile time besides."""
    pairs = pairs_of(type)
    results = [wrapped(type, function(a, b)) for a, b in pairs for function in OPERATIONS.values()]
    truths = [int(function(a, b)) for a, b in pairs for function in COMPARISONS.values()]
    asserts = [
        f"@comptime_assert({name.replace('a', f'@as({type}, {a})').replace('b', f'@as({type}, {b})')} == "
        f"@as({type}, {wrapped(type, function(a, b))}));"
        for a, b in pairs
        for name, function in OPERATIONS.items()
    ]
    listed = [", ".join(str(pair[n]) for pair in pairs) for n in (0, 1)]
    stores = [f"results[{len(OPERATIONS)} * i + {n}] = {name};" for n, name in enumerate(OPERATIONS)]
    stores += [f"truths[{len(COMPARISONS)} * i + {n}] = @as(i16, a {name} b);" for n, name in enumerate(COMPARISONS)]
    count = len(words(type, results))
    text = f"""
    comptime {{ {" ".join(asserts)} }}
    var first = [{len(pairs)}]{type} {{ {listed[0]} }};
    var second = [{len(pairs)}]{type} {{ {listed[1]} }};
    var results = @zeros([{len(results)}]{type});
    var seen = @ptrcast(*[{count}]u32, &results);
    var out = @zeros([{count}]u32);
    var truths = @zeros([{len(truths)}]i16);
    fn main() void {{
      for (@range(u16, {len(pairs)})) |i| {{
        const a = first[i];
        const b = second[i];
        {" ".join(stores)}
      }}
      for (@range(u16, {count})) |i| {{ out[i] = seen.*[i]; }}
    }}
    """
    out = csl.run(text, {"out": "u32", "truths": "i16"})
    assert out["out"].tolist() == words(type, results)
    assert out["truths"].tolist() == truths


AMOUNTS = [0, 1, 31, 32, 63, 64, 65, 100, 127, 128, 129, 191, 192, 255, 256, 5000, 65535]


@pytest.mark.parametrize("type", ["u128", "i129", "i256"])
def test_shifts_by_numbers_of_the_run(csl: Csl, type: str) -> None:
    value = wrapped(type, Random(type).getrandbits(int(type[1:])) | 1 << (int(type[1:]) - 1))
    expected = [wrapped(type, f) for n in AMOUNTS for f in (value << n, value >> n)]
    text = f"""
    var x: {type} = {value};
    var amounts = [{len(AMOUNTS)}]u16 {{ {", ".join(map(str, AMOUNTS))} }};
    var results = @zeros([{len(expected)}]{type});
    var seen = @ptrcast(*[{len(words(type, expected))}]u32, &results);
    var out = @zeros([{len(words(type, expected)) + 2}]u32);
    fn main() void {{
      for (@range(u16, {len(AMOUNTS)})) |i| {{
        results[2 * i] = x << amounts[i];
        results[2 * i + 1] = x >> amounts[i];
      }}
      for (@range(u16, {len(words(type, expected))})) |i| {{ out[i] = seen.*[i]; }}
      const far: u{int(type[1:])} = @as(u{int(type[1:])}, amounts[1]) << 64;
      out[{len(words(type, expected))}] = @as(u32, @as(u128, amounts[1]) << far);
      out[{len(words(type, expected)) + 1}] = @as(u32, @as(u32, 1) << (far >> 62));
    }}
    """
    assert csl.run(text, {"out": "u32"})["out"].tolist() == [*words(type, expected), 0, 16]


@pytest.mark.parametrize(
    ("type", "format"),
    [("u128", "f32"), ("i128", "f32"), ("i200", "f32"), ("u70", "f16"), ("i90", "bf16"), ("u80", "cb16")],
)
def test_conversions_to_floats_round_once(csl: Csl, type: str, format: str) -> None:
    random, bits = Random(type + format), int(type[1:])
    digits = {"f32": 24, "f16": 11, "bf16": 8, "cb16": 10}[format]
    values = [random.getrandbits(random.randint(1, bits)) for _ in range(8)]
    # Ties and what is one above or below them, in the low limb, across both, and in the high one.
    values += [((1 << digits) + 1 << n) + d for n in (1, 20, 40, 62, 70, 100) for d in (-1, 0, 1)]
    values += [0, 1, -1, (1 << bits) - 1, 1 << (bits - 1), (1 << 64) - 1, 1 << 64, 65519, 65520]
    values = [wrapped(type, value) for value in values]
    text = f"""
    var values = [{len(values)}]{type} {{ {", ".join(map(str, values))} }};
    var out = @zeros([{len(values)}]{format});
    fn main() void {{ for (@range(u16, {len(values)})) |i| {{ out[i] = @as({format}, values[i]); }} }}
    """
    options: dict[str, Any] = {} if format == "f32" else {"fp16_format": format}
    expected = [oracle.to_bits(oracle.round_to(Fraction(value), format), format) for value in values]
    unsigned = "<u4" if format == "f32" else "<u2"
    assert csl.run(text, {"out": format}, **options)["out"].view(unsigned).tolist() == expected
    known = ", ".join(f"@as({format}, @as({type}, {value}))" for value in values)
    again = f"var out = [{len(values)}]{format} {{ {known} }}; fn main() void {{}}"
    assert csl.run(again, {"out": format}, **options)["out"].view(unsigned).tolist() == expected


@pytest.mark.parametrize("type", ["u128", "i128", "i100", "u70", "i300"])
def test_conversions_from_floats(csl: Csl, type: str) -> None:
    """They truncate, end at the limits, and make 0 of a NaN."""
    bits = int(type[1:])
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if type[0] == "i" else (0, (1 << bits) - 1)
    exact = [0.0, 0.99, -0.99, 1.5, -1.5, 2.0**23 + 1, -(2.0**63), 2.0**64, 1.75 * 2.0**69, -1.25 * 2.0**99]
    exact += [2.0**100, 2.0**127, -(2.0**127), float(np.float32(3.4e38)), float("inf"), -float("inf"), 1e-40]
    floats = [float(np.float32(number)) for number in exact]
    expected = [(high if f > 0 else low) if np.isinf(f) else max(low, min(high, int(f))) for f in floats]
    count = len(words(type, expected))
    shown = ", ".join(f"@bitcast(f32, @as(u32, {int(np.float32(f).view('u4'))}))" for f in floats)
    text = f"""
    var floats = [{len(floats) + 1}]f32 {{ {shown}, @bitcast(f32, @as(u32, 0x7fc00000)) }};
    var results = @zeros([{len(floats) + 1}]{type});
    var seen = @ptrcast(*[{count}]u32, &results);
    var out = @zeros([{count}]u32);
    var rest = @zeros([2]i16);
    fn main() void {{
      for (@range(u16, {len(floats) + 1})) |i| {{ results[i] = @as({type}, floats[i]); }}
      for (@range(u16, {count})) |i| {{ out[i] = seen.*[i]; }}
      rest[0] = @as(i16, results[{len(floats)}] == 0);
      rest[1] = @as(i16, @as({type}, @as(f16, floats[3])));
    }}
    """
    out = csl.run(text, {"out": "u32", "rest": "i16"})
    assert out["out"].tolist() == words(type, expected)
    assert out["rest"].tolist() == [1, 1]


@pytest.mark.slow
def test_what_passes_them_on(csl: Csl) -> None:
    """Functions, recursion, branches, loops, breaks, structs, unions, packed fields, enums, pointers and params."""
    text = """
    param x: u16;
    const big: u128 = (@as(u128, x) + 3) << 70;
    const pair = struct { tag: u8, value: u128, rest: i16 };
    const both = union { wide: u128, parts: [4]u32 };
    const bits = packed struct { low: u7, wide: u100, flag: bool };
    const mode = enum(u80) { small = 5, large = 0x1234567890abcdef1234 };
    var p = pair { .tag = 1, .value = 5, .rest = -1 };
    var u = both { .wide = 7 };
    var b = bits { .low = 100, .wide = 0xfedcba9876543210fedcba987, .flag = true };
    var m: mode = mode.small;
    var out = @zeros([16]u32);
    fn power(base: u128, exponent: u16) u128 {
      var result: u128 = 1;
      var n: u16 = 0;
      while (n < exponent) : (n += 1) { result *= base; if (result > (@as(u128, 1) << 120)) { break; } }
      return result;
    }
    fn factorial(n: u128) u128 { return if (n < 2) 1 else n * factorial(n - 1); }
    fn swap(a: *u128, c: *u128) void { const t = a.*; a.* = c.*; c.* = t; }
    fn part(v: u128, n: u16) u32 { return @as(u32, v >> (n * 32)); }
    fn main() void {
      const f = power(@as(u128, x) + 10, 20);
      out[0] = part(f, 0); out[1] = part(f, 1); out[2] = part(f, 2);
      const g = factorial(30);
      out[3] = part(g, 0); out[4] = part(g, 1); out[5] = part(g, 3);
      p.value += big;
      swap(&p.value, &u.wide);
      out[6] = part(u.wide, 2); out[7] = part(p.value, 0);
      out[8] = u.parts[0];
      b.wide += 1;
      out[9] = @as(u32, b.wide >> 68); out[10] = @as(u32, b.low);
      if (b.flag) { m = mode.large; }
      out[11] = @as(u32, @as(u80, m) >> 48);
      out[12] = switch (p.value) { 7 => 1, else => 2 };
      for (@range(u128, 3, 9, 2)) |i| { out[13] += part(i << 64, 2); }
      const stop = p.value - 4;
      for (@range(i128, @as(i128, stop))) |i, at| { out[14] += @as(u32, i) + @as(u32, at); }
      out[15] = @as(u32, @as(u16, p.rest)) + @as(u32, @as(bool, b.wide));
    }
    """
    simulator = csl.start(text, {"out": "u32"}, width=2, params=".x = x")
    simulator.launch("main")
    for x, got in enumerate(simulator.get("out")[0].tolist()):
        f, g, wide, result = (x + 10) ** 20, 1, 5 + ((x + 3) << 70), 1
        for _ in range(20):
            result *= x + 10
            if result > 1 << 120:
                break
        f = result % (1 << 128)
        for n in range(2, 31):
            g = g * n % (1 << 128)
        packed = 0xFEDCBA9876543210FEDCBA987 + 1
        expected = [f, f >> 32, f >> 64, g, g >> 32, g >> 96, wide >> 64, 7, wide, packed >> 68, 100]
        expected += [0x1234567890ABCDEF1234 >> 48, 1, 3 + 5 + 7, 6, 65535 + 1]
        assert got == [number & 0xFFFFFFFF for number in expected]


def test_a_division_by_zero_is_an_error_of_the_program(csl: Csl) -> None:
    text = "var a: u128 = 7; var b: u128 = 0; fn main() void { a = a / b; }"
    with pytest.raises(Exception, match="an integer is divided by zero") as caught:
        csl.run(text, {})
    assert "pe.csl:1:" in str(caught.value)


@pytest.mark.slow
def test_very_wide_ones(csl: Csl) -> None:
    """A product of more than 512 bits is a loop."""
    random = Random(7)
    a, b = random.getrandbits(1000), random.getrandbits(990)
    results = [wrapped("u1000", r) for r in (a * b, a // b, a + b, a << 333)]
    count = len(words("u1000", results))
    text = f"""
    var a: u1000 = {a}; var b: u1000 = {b};
    var r = @zeros([4]u1000);
    var seen = @ptrcast(*[{count}]u32, &r);
    var out = @zeros([{count}]u32);
    fn main() void {{
      r[0] = a * b; r[1] = a / b; r[2] = a + b; r[3] = a << 333;
      for (@range(u16, {count})) |i| {{ out[i] = seen.*[i]; }}
    }}
    """
    assert csl.run(text, {"out": "u32"})["out"].tolist() == words("u1000", results)


def test_loads_and_stores_grow_with_the_width(csl: Csl) -> None:
    """Each limb costs what it does in a short integer: what is put together or cut costs nothing when it runs."""

    def operations(bits: int) -> int:
        module = csl.pe(f"var x: u{bits} = 5; task t() void {{ x += 1; }}\n{BOUND}", "wse3").module
        ExpandWideIntegersPass().apply(context(), module)
        return sum(op.name.partition(".")[0] in ("arith", "memref") for op in module.walk() if op.name != CONSTANT)

    counts = [operations(64 * limbs) for limbs in (4, 8, 12)]
    assert counts[2] - counts[1] == counts[1] - counts[0]


CONSTANT = "arith.constant"
BOUND = "comptime { @bind_local_task(t, @get_local_task_id(9)); }"


@pytest.mark.slow
def test_the_host_sees_words(csl: Csl) -> None:
    text = "var a = [2]u128 { 7, 1 << 100 }; var b = [2]i96 { -1, 1 << 90 };"
    text += "fn main() void { a[0] += a[1]; b[1] = -b[1]; }"
    out = csl.run(text, {"a": "u128", "b": "i96"})
    assert out["a"].tolist() == words("u128", [7 + (1 << 100), 1 << 100])
    assert out["b"].view("u4").tolist() == words("i96", [-1, -(1 << 90)])


REFUSED = [
    ("var x: u400000 = 5;", "fn main() void { «x» += 1; }", "takes 50,000 bytes; a PE has 49,152"),
    ("export var x: u128;", "fn main() void {}", "'x' is a 'u128', which cannot be shared by 'export' or 'extern'"),
    ("task t(x: u128) void {}", "fn main() void {}", "a task is given numbers or packed structs of 16 or 32 bits"),
    (
        'const p = @import_module("<simprint>"); var x: u128 = 5;',
        'fn main() void { p.fmt_no_nl("{d}", .{ x }); }',
        "'{u}' does not show a 'u128'; convert parts of 64 bits with @as",
    ),
]


@pytest.mark.parametrize(("before", "main", "message"), REFUSED)
def test_refused(csl: Csl, before: str, main: str, message: str) -> None:
    bind = (
        "const q = @get_input_queue(2); comptime { @bind_data_task(t, @get_data_task_id(q)); }"
        if "task" in before
        else ""
    )
    with pytest.raises(LoomError, match=re.escape(message)):
        csl.run(before + main.replace("«", "").replace("»", "") + bind, {}, arch="wse3")
