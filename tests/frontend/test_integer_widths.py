"""Integers of any width: arithmetic wraps at compile time and at run time alike, memory holds them in whole words."""

from __future__ import annotations

from random import Random

import pytest

from .harness import Csl

TYPES = ["u1", "u3", "i4", "u5", "i7", "u11", "i12", "u17", "i24", "u31", "i33", "u47", "i63"]


def wrapped(type: str, value: int) -> int:
    bits = int(type[1:])
    value &= (1 << bits) - 1
    return value - (1 << bits) if type[0] == "i" and value >> (bits - 1) else value


def quotient(a: int, b: int) -> int:
    result = abs(a) // abs(b)
    return -result if (a < 0) != (b < 0) else result


OPERATIONS = {
    "a + b": lambda a, b: a + b,
    "a - b": lambda a, b: a - b,
    "a * b": lambda a, b: a * b,
    "a / b": quotient,
    "a % b": lambda a, b: a - b * quotient(a, b),
    "a & b": lambda a, b: a & b,
    "a | b": lambda a, b: a | b,
    "a ^ b": lambda a, b: a ^ b,
    "~a": lambda a, b: ~a,
    "-a": lambda a, b: -a,
    "a << 1": lambda a, b: a << 1,
    "a >> 1": lambda a, b: a >> 1,
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("type", TYPES)
def test_arithmetic(csl: Csl, type: str) -> None:
    random = Random(type)
    bits = int(type[1:])
    pairs = [(wrapped(type, random.getrandbits(bits)), wrapped(type, random.getrandbits(bits)) or 1) for _ in range(4)]
    pairs.append((wrapped(type, 1 << (bits - 1)), wrapped(type, -1)))
    results = [wrapped(type, function(a, b)) for a, b in pairs for function in OPERATIONS.values()]
    asserts = [
        f"@comptime_assert({name.replace('a', f'@as({type}, {a})').replace('b', f'@as({type}, {b})')} == "
        f"@as({type}, {wrapped(type, function(a, b))}));"
        for a, b in pairs
        for name, function in OPERATIONS.items()
    ]
    listed = [", ".join(str(pair[n]) for pair in pairs) for n in (0, 1)]
    stores = [f"results[{len(OPERATIONS)} * i + {n}] = {name};" for n, name in enumerate(OPERATIONS)]
    text = f"""
    var first = [{len(pairs)}]{type} {{ {listed[0]} }};
    var second = [{len(pairs)}]{type} {{ {listed[1]} }};
    var results = @zeros([{len(results)}]{type});
    var low = @zeros([{len(results)}]u32);
    var high = @zeros([{len(results)}]i32);
    comptime {{ {" ".join(asserts)} }}
    fn main() void {{
      for (@range(u16, {len(pairs)})) |i| {{
        const a = first[i];
        const b = second[i];
        {" ".join(stores)}
      }}
      for (@range(u16, {len(results)})) |i| {{
        low[i] = @as(u32, results[i]);
        high[i] = @as(i32, @as(i64, results[i]) >> 32);
      }}
    }}
    """
    out = csl.run(text, {"low": "u32", "high": "i32"})
    got = [(high << 32) + low for high, low in zip(out["high"].tolist(), out["low"].tolist(), strict=True)]
    assert got == results


def test_conversions(csl: Csl) -> None:
    text = """
    out[0] = @as(i32, @as(u3, n));
    out[1] = @as(i32, @as(i4, n));
    out[2] = @as(i32, @as(u5, f));
    out[3] = @as(i32, @as(i5, -f));
    out[4] = @as(i32, @bitcast(i3, small));
    out[5] = @as(i32, @bitcast(u3, @bitcast(i3, small)));
    small += 1;
    out[6] = @as(i32, small);
    const wide: i16 = signed;
    out[7] = @as(i32, wide);
    out[8] = @as(i32, table[small + 1]);
    for (@range(u5, 3, 9, 2)) |i| { out[9] += @as(i32, i); }
    out[10] = @as(i32, @as(f32, signed) * 2.0);
    """
    before = """
    var n: i16 = 1005; var f: f32 = 100.0; var small: u3 = 7; var signed: i6 = -20; const table = [2]i7 { 5, -6 };
    """
    expected = [1005 & 7, -3, 31, -16, -1, 7, 0, -20, -6, 3 + 5 + 7, -40]
    assert csl.compute(text, "i32", count=11, before=before).tolist() == expected


SHIFTS = """
var byte: u8 = 129; var word: i16 = -5; var amount: u16 = {amount}; var wide: u32 = {amount};
"""


@pytest.mark.parametrize("amount", [7, 8, 256, 257, 65535])
def test_shifts_by_the_width_or_more_leave_nothing(csl: Csl, amount: int) -> None:
    """At run time as at compile time, and whether or not the operand's own type could hold the number of bits."""
    expressions = [
        f"{operand} {symbol} {count}"
        for operand in ("byte", "word")
        for symbol in ("<<", ">>")
        for count in ("amount", "wide", f"{amount}")
    ]
    known = [
        text.replace("byte", "@as(u8, 129)").replace("word", "@as(i16, -5)").replace("amount", f"@as(u16, {amount})")
        .replace("wide", f"@as(u32, {amount})")
        for text in expressions
    ]  # fmt: skip
    body = "\n".join(f"out[{k}] = @as(i32, {text});" for k, text in enumerate(expressions + known))
    found = csl.compute(body, "i32", count=2 * len(expressions), before=SHIFTS.format(amount=amount)).tolist()
    wanted = [
        value >> amount if symbol == ">>" else wrapped(type, value << amount)
        for value, type in ((129, "u8"), (-5, "i16"))
        for symbol in ("<<", ">>")
        for _ in range(3)
    ]
    assert found == wanted + wanted


def test_packed_fields(csl: Csl) -> None:
    text = """
    const flags = packed struct { kind: u3, level: i5, on: u1, rest: u7 };
    const view = packed union { bits: u16, flags: flags };
    var f = flags { .kind = 5, .level = -3, .on = 1, .rest = 100 };
    var n: i16 = 4;
    var out = @zeros([5]u16);
    fn main() void {
      out[0] = @bitcast(u16, f);
      f.level += @as(i5, n);
      f.kind = @as(u3, n) + 6;
      out[1] = @bitcast(u16, f);
      out[2] = @as(u16, f.level);
      const v = view { .bits = @as(u16, n) | 0xff00 };
      out[3] = v.flags.rest;
      out[4] = v.flags.kind;
    }
    """
    first = 5 | (-3 & 31) << 3 | 1 << 8 | 100 << 9
    second = 2 | 1 << 3 | 1 << 8 | 100 << 9
    assert csl.run(text, {"out": "u16"})["out"].tolist() == [first, second, 1, 127, 4]


def test_that_differ_from_pe_to_pe(csl: Csl) -> None:
    text = """
    param x: i16;
    const small = @as(i5, x) - 2;
    var out = @zeros([2]i16);
    fn main() void { out[0] = small; var copy: i5 = small; copy -= 15; out[1] = copy; }
    """
    simulator = csl.start(text, {"out": "i16"}, width=3, params=".x = x")
    simulator.launch("main")
    assert simulator.get("out")[0].tolist() == [[-2, 15], [-1, -16], [0, -15]]


REFUSED = [
    ("const x: u5 = «31 + 1»;\ncomptime { _ = x; }", "32 does not fit in 'u5', which holds 0 to 31"),
    ("const x: i4 = «-8 - 1»;\ncomptime { _ = x; }", "-9 does not fit in 'i4'"),
    ("const x: «u16777216» = 1;\ncomptime { _ = x; }", "there are no integers of 16777216 bits; use 0 to 16777215"),
    ("const x: u65 = «1 << 65»;\ncomptime { _ = x; }", "does not fit in 'u65', which holds 0 to 2^65 - 1; use a wider"),
    ("const x: i100 = «1 << 99»;\ncomptime { _ = x; }", "does not fit in 'i100', which holds -2^99 to 2^99 - 1;"),
    ("const x: u0 = «1»;\ncomptime { _ = x; }", "1 does not fit in 'u0', which holds 0 to 0"),
    ("«export var x: u5»;", "cannot be shared"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_refused(csl: Csl, text: str, message: str) -> None:
    csl.refuses(text, message)


def test_integers_become_wider_by_themselves(csl: Csl) -> None:
    """As in SDK 2.10, with one warning for 1.4; known ones convert without, as in published programs."""
    text = """
    param x: u16;
    var small: i8 = -3;
    var plain: u8 = 200;
    const known: i32 = 7;
    fn main() void {
      var sum: i32 = small;
      sum += @as(i32, plain);
      const wide: i16 = plain;
      sum += wide;
      const fits: u16 = known;
    }
    comptime { @export_symbol(main); }
    """
    layout = """
    layout {
      @set_rectangle(1, 1);
      @set_tile_code(0, 0, "pe.csl", .{ .x = @as(i16, 4) });
      @export_name("main", fn() void);
    }
    """
    (warning,) = csl.layout(layout, text).warnings
    assert (
        "pe.csl:7:22: warning: 'i8' is widened to 'i32' implicitly, as in SDK 2.10 but not in SDK 1.4; write" in warning
    )


@pytest.mark.parametrize(
    ("source", "target"),
    [("i32", "i16"), ("i8", "u8"), ("i32", "u64"), ("u16", "i16"), ("u32", "u16"), ("u8", "i8")],
)
@pytest.mark.slow
def test_conversions_that_may_lose_a_value(csl: Csl, source: str, target: str) -> None:
    """Narrowing, and signed to unsigned, in the words of the manual."""
    text = f"var from: {source} = 1; fn main() void {{ const to: {target} = «from»; }}"
    text += " comptime { @export_symbol(main); }"
    csl.refuses(text, f"expected '{target}', found '{source}'; convert it with @as({target}, ...)", layout=MAIN)


def test_the_operation_comes_before_the_widening(csl: Csl) -> None:
    """Of two meanings that of the manual: operands of one type have a result of that type, which then becomes wider."""
    before = "var a: u16 = 60000; var b: u16 = 10000;"
    assert csl.compute("const wide: u32 = a + b; out[0] = wide;", "u32", before=before) == 70000 - 65536


MAIN = 'layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{}); @export_name("main", fn() void); }'


def test_integers_without_bits(csl: Csl) -> None:
    text = """
    const packed_one = packed struct { low: u8, nothing: u0, high: i8 };
    var p = packed_one { .low = 200, .nothing = 0, .high = -2 };
    var all = @zeros([3]i0);
    var out = @zeros([4]i32);
    fn main() void {
      out[0] = @as(i32, p.nothing) + @as(i32, all[1]);
      p.high -= 1;
      out[1] = p.high;
      out[2] = @as(i32, @bitcast(u16, p));
      all[2] += 0;
      out[3] = @as(i32, ~all[2]);
    }
    """
    assert csl.run(text, {"out": "i32"})["out"].tolist() == [0, -3, 0xFD00 | 200, 0]


def test_a_switch_with_a_case_for_every_number(csl: Csl) -> None:
    """It needs no 'else' (Syntax, Switch-statement)."""
    text = """
    var x: u3 = 0;
    var out = @zeros([8]i16);
    fn main() void {
      for (@range(u16, 8)) |i| {
        x = @as(u3, i);
        out[i] = switch (x) { 0, 1, 2, 3 => 1, 7 => 3, 4, 5, 6 => 2 };
      }
    }
    """
    assert csl.run(text, {"out": "i16"})["out"].tolist() == [1, 1, 1, 1, 2, 2, 2, 3]
    missing = "var x: i2 = 0;\ntask t() void { «switch (x) { -2, -1, 0 => {} }» }\n"
    missing += "comptime { @bind_local_task(t, @get_local_task_id(9)); }"
    csl.refuses(missing, "not all values have a case; add an 'else' case")
