"""<math>: every function that the manual lists, for each type it names, at run time and at compile time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from .harness import NUMPY, Csl

INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
WORDS = {"i8": "i16", "u8": "u16"}
"""The type that the host reads in place of one it cannot."""


def numbers(type: str) -> list[int]:
    """Return the integers at which functions of a type may go wrong."""
    bits = int(type[1:])
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if type[0] == "i" else (0, (1 << bits) - 1)
    return sorted({low, low + 1, low // 2, 0, 1, 5, high // 2, high - 1, high} | ({-1, -5} if low else set()))


def wrapped(value: int, type: str) -> int:
    bits = int(type[1:])
    value &= (1 << bits) - 1
    return value - (1 << bits) if type[0] == "i" and value >> bits - 1 else value


def clamped(value: int, type: str) -> int:
    return min(max(value, numbers(type)[0]), numbers(type)[-1])


OF_INTEGERS: dict[str, Any] = {
    "abs": lambda type, x, y: wrapped(abs(x), type),
    "sign": lambda type, x, y: (x > 0) - (x < 0),
    "max": lambda type, x, y: max(x, y),
    "min": lambda type, x, y: min(x, y),
    "subsat": lambda type, x, y: clamped(x - y, type),
}


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("type", INTEGERS)
def test_functions_of_integers(csl: Csl, type: str) -> None:
    pairs = [(x, y) for x in numbers(type) for y in numbers(type)]
    xs, ys = ([f"@as({type}, {number})" for number in column] for column in zip(*pairs, strict=True))
    count, functions = len(pairs), len(OF_INTEGERS)
    host = WORDS.get(type, type)
    call = "{f}({x})", "{f}({x}, {y})"

    def called(f: str, x: str, y: str) -> str:
        return "math." + call[f not in ("abs", "sign")].format(f=f, x=x, y=y)

    known = ", ".join(called(f, x, y) for f in OF_INTEGERS for x, y in zip(xs, ys, strict=True))
    lines = [f"out[{n} * {count} + i] = @as({host}, {called(f, 'x[i]', 'y[i]')});" for n, f in enumerate(OF_INTEGERS)]
    text = f"""
    const math = @import_module("<math>");
    var x = [{count}]{type}{{ {", ".join(xs)} }};
    var y = [{count}]{type}{{ {", ".join(ys)} }};
    var out = @zeros([{functions * count}]{host});
    var known = [{functions * count}]{type}{{ {known} }};
    var known_out = @zeros([{functions * count}]{host});
    fn main() void {{
      for (@range(u16, {count})) |i| {{ {" ".join(lines)} }}
      for (@range(u16, {functions * count})) |i| {{ known_out[i] = @as({host}, known[i]); }}
    }}
    """
    result = csl.run(text, {"out": host, "known_out": host})
    want = [int(compute(type, x, y)) for compute in OF_INTEGERS.values() for x, y in pairs]
    assert read(result["out"], type) == want
    assert read(result["known_out"], type) == want


def read(words: NDArray[Any], type: str) -> list[int]:
    """Return the integers that the host reads: those of 64 bits as pairs of words."""
    if type[1:] != "64":
        return [int(word) for word in words]
    whole = words.astype(np.uint32).reshape(-1, 2).astype(object)
    return [wrapped(int(low) | int(high) << 32, type) for low, high in whole]


SPECIAL = {
    "f16": [0, 0x8000, 0x0001, 0x83FF, 0x0400, 0x3C00, 0xC100, 0x3E00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x7D00],
    "f32": [
        0, 0x80000000, 1, 0x807FFFFF, 0x00800000, 0x3F800000, 0xC0200000, 0x3FC00000, 0x7F7FFFFF, 0xFF7FFFFF,
        0x7F800000, 0xFF800000, 0x7FC00000, 0xFFFFFFFF,
    ],
}  # fmt: skip
"""Bits of floats: zeros, subnormals, ordinary ones, the greatest, infinities, NaNs, of f16 also a signaling one."""


@pytest.mark.parametrize("type", SPECIAL)
@pytest.mark.slow
def test_questions_about_floats(csl: Csl, type: str) -> None:
    bits = np.array(SPECIAL[type], f"u{NUMPY[type]().itemsize}")
    values = bits.view(NUMPY[type])
    quiet = bits >> (9 if type == "f16" else 22) & 1
    want = {
        "isNaN": np.isnan(values), "isInf": np.isinf(values), "isFinite": np.isfinite(values),
        "isSignaling": np.isnan(values) & (quiet == 0), "signbit": np.signbit(values),
    }  # fmt: skip
    unsigned = "u16" if type == "f16" else "u32"
    count = len(bits)
    ways = [*want] + [f"{name}_{type}" for name in want]
    lines = [f"if (math.{name}(x)) {{ out[i] |= {1 << n}; }}" for n, name in enumerate(ways)]
    known = [f"if (math.{name}(@bitcast({type}, bits[i]))) {{ word |= {1 << n}; }}" for n, name in enumerate(ways)]
    text = f"""
    const math = @import_module("<math>");
    const bits = [{count}]{unsigned}{{ {", ".join(map(str, bits))} }};
    var given = bits;
    var out = @zeros([{count}]u16);
    fn answers(i: u16) u16 {{ var word: u16 = 0; {" ".join(known)} return word; }}
    fn all() [{count}]u16 {{
      var words = @zeros([{count}]u16);
      for (@range(u16, {count})) |i| {{ words[i] = answers(i); }}
      return words;
    }}
    var known = all();
    fn main() void {{
      for (@range(u16, {count})) |i| {{ const x = @bitcast({type}, given[i]); {" ".join(lines)} }}
    }}
    """
    result = csl.run(text, {"out": "u16", "known": "u16"})
    expected = sum(answer.astype(np.uint16) << n for n, answer in enumerate([*want.values(), *want.values()]))
    np.testing.assert_array_equal(result["out"], expected)
    np.testing.assert_array_equal(result["known"], expected)


@pytest.mark.parametrize("type", SPECIAL)
@pytest.mark.slow
def test_exact_functions_of_special_floats(csl: Csl, type: str) -> None:
    dtype = NUMPY[type]
    values = np.array(SPECIAL[type][:-2], f"u{dtype().itemsize}").view(dtype)
    x, y = (side.ravel() for side in np.meshgrid(values, values))
    greatest = np.finfo(dtype).max
    with np.errstate(all="ignore"):
        difference = x - y
        lost = np.isinf(difference) & np.isfinite(x) & np.isfinite(y)
        want = {
            "max(x, y)": np.maximum(x, y), "min(x, y)": np.minimum(x, y), "abs(x)": np.abs(x),
            "sign(x)": np.sign(x), "ceil(x)": np.ceil(x), "floor(x)": np.floor(x),
            "fscale(x, 3)": np.ldexp(x, 3), "fscale(x, -4)": np.ldexp(x, -4),
            "subsat(x, y)": np.where(lost, np.copysign(greatest, difference), difference),
        }  # fmt: skip
    count = len(x)
    ways = [way for name in want for way in (name, name.replace("(", f"_{type}(", 1))]
    lines = [f"out[{n} * {count} + i] = math.{way};" for n, way in enumerate(ways)]
    text = f"""
    const math = @import_module("<math>");
    var xs = @zeros([{count}]{type});
    var ys = @zeros([{count}]{type});
    var out = @zeros([{len(ways) * count}]{type});
    fn main() void {{
      for (@range(u16, {count})) |i| {{ const x = xs[i]; const y = ys[i]; {" ".join(lines)} }}
    }}
    """
    out = csl.run(text, {"xs": type, "ys": type, "out": type}, {"xs": x, "ys": y})["out"].reshape(-1, count)
    for way, found, expected in zip(ways, out, np.repeat(list(want.values()), 2, axis=0), strict=True):
        np.testing.assert_array_equal(found, expected.astype(dtype), err_msg=way)


@pytest.mark.parametrize("format", ["f16", "bf16", "cb16"])
def test_functions_of_the_programs_16_bit_format(csl: Csl, format: str) -> None:
    names = ["sig", "tanh", "cos", "exp", "inv", "invsqrt", "log", "sin", "sqrt", "abs", "sign", "ceil", "floor"]
    lines = [f"out[{n}] = @as(f32, math.{name}_f16(x)) - @as(f32, math.{name}(x));" for n, name in enumerate(names)]
    text = f"""
    const math = @import_module("<math>");
    var x: @fp16() = 1.5;
    var out = @zeros([{len(names) + 4}]f32);
    const limits = [3]@fp16(){{ math.POSITIVE_INF_f16, math.NEGATIVE_INF_f16, math.NaN_f16 }};
    fn main() void {{
      {" ".join(lines)}
      for (@range(u16, 3)) |i| {{ out[{len(names)} + i] = @as(f32, limits[i]); }}
      out[{len(names) + 3}] = @as(f32, math.pow_f16(x, 2.0));
    }}
    """
    out = csl.run(text, {"out": "f32"}, fp16_format=format)["out"]
    assert not out[: len(names)].any()
    np.testing.assert_array_equal(out[len(names) :], [np.inf, -np.inf, np.nan, 2.25])


@pytest.mark.parametrize("format", ["f16", "bf16", "cb16", "f32"])
def test_functions_of_formats_at_compile_time(csl: Csl, format: str) -> None:
    calls = {
        "abs(x)": 1.5, "max(x, y)": 0.5, "min(x, y)": -1.5, "sign(x)": -1.0, "subsat(x, y)": -2.0, "ceil(x)": -1.0,
        "floor(x)": -2.0, "fscale(x, 2)": -6.0, "inv(y)": 2.0, "sqrt(q)": 0.25, "invsqrt(q)": 4.0, "pow(y, z)": 0.25,
    }  # fmt: skip
    before = 'const math = @import_module("<math>");\n' + "\n".join(
        f"const {name} = @as({format}, {value});"
        for name, value in (("x", -1.5), ("y", 0.5), ("z", 2.0), ("q", 0.0625))
    )
    lines = "".join(f"@comptime_print(math.{call} == @as({format}, {want}));" for call, want in calls.items())
    assert csl.comptime(lines, before) == ["true"] * len(calls)


REFUSED = [
    ("sqrt(@as(u16, 4))", "sqrt takes a floating point number"), ("isNaN(@as(i32, 4))", "isNaN takes a floating"),
    ("abs(true)", "abs takes a number of 8, 16, 32 or 64 bits, not 'bool'"), ("ceil(2)", "not 'comptime_int'"),
    ("POSITIVE_INF(i16)", "POSITIVE_INF takes a floating point number"), ("subsat(NORTH, SOUTH)", "not 'direction'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_what_it_refuses(csl: Csl, call: str, message: str) -> None:
    csl.refuses(f'const math = @import_module("<math>");\ncomptime {{ _ = «math.{call}»; }}', message)
