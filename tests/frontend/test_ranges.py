"""Loops over ranges visit the numbers that Python's range has, at run time and at compile time, up to the limits."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from .harness import Csl

TYPES = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "i5", "u12", "i33", "u40"]

BODIES = {
    # What is in the loop, and what it does with a trip and the number of trips so far; None leaves the loop.
    "plain": ("trips += 1;", False),
    "break": ("if (trips == limit) { break; } trips += 1;", True),
    "return": ("if (trips == limit) { return; } trips += 1;", True),
    "continue": ("trips += 1; if (trips == limit) { continue; }", False),
}


def limits(type: str) -> tuple[int, int]:
    bits = int(type[1:])
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if type[0] == "i" else (0, (1 << bits) - 1)


def some_ranges(type: str, count: int, seed: int, step: int | None = None) -> list[tuple[int, int, int]]:
    """Ranges of few numbers, many of which begin, end or step at the limits of a type."""
    choose = random.Random(seed)
    lowest, highest = limits(type)
    found: list[tuple[int, int, int]] = []
    while len(found) < count:
        size = choose.choice([1, 2, 3, 7, highest // 5, highest // 2, highest - 1, highest])
        by = step or max(lowest, size * (choose.choice([1, -1]) if type[0] == "i" else 1))
        edge = choose.choice([lowest, highest, 0, highest // 2]) + choose.randint(-3, 3)
        reach = choose.randint(-2, 9) * by + choose.randint(-1, 1)
        start, stop = (edge, edge + reach) if choose.random() < 0.5 else (edge - reach, edge)
        start, stop = (min(max(number, lowest), highest) for number in (start, stop))
        values = range(start, stop, by)
        if by != 0 and abs(stop - start) < 40 * abs(by):
            found.append((values.start, values.stop, values.step))
    return found


def seen(values: range, limit: int, leaves: bool, mark: bool) -> tuple[int, int]:
    """Return how many trips a loop makes, and a sum over the numbers and positions it sees."""
    trips, total = 0, 0
    for position, number in enumerate(values):
        if leaves and trips == limit:
            break
        trips += 1
        if mark and trips == limit:
            continue
        total = (total * 31 + number * 7 + (position & 0xFFFF)) % 2**32
    return trips, total


def function(name: str, type: str, iterable: str, body: str, index: bool) -> str:
    return f"""
    fn {name}(a: {type}, b: {type}, s: {type}, limit: u32) void {{
      trips = 0;
      total = 0;
      for ({iterable}) |v{", k" if index else ""}| {{
        {body}
        total = total * 31 + @as(u32, v) * 7{" + @as(u32, k)" if index else " + trips - 1"};
      }}
    }}
    """


def run(
    csl: Csl,
    type: str,
    forms: list[tuple[str, list[tuple[int, int, int]]]],
    bodies: list[tuple[str, bool]],
    width: int,
) -> None:
    """Run loops with bounds in memory, on PEs that have bounds of their own, and compares what they saw."""
    functions: list[str] = []
    calls: list[str] = []
    cases: list[tuple[int, int, str, int]] = []
    longest = max(len(ranges) for _, ranges in forms)
    bounds = np.zeros((width, len(forms), longest, 3), np.uint64)
    for number, (iterable, ranges) in enumerate(forms):
        for x, (n, triple) in itertools.product(range(width), enumerate(ranges)):
            bounds[x, number, (n + x) % len(ranges)] = [value % 2**64 for value in triple]
        for body, index in bodies:
            name = f"f{len(functions)}"
            functions.append(function(name, type, iterable, BODIES[body][0], index))
            calls += [
                f"for (@range(u16, {len(ranges)})) |n| {{",
                f"const at = ({number * longest} + n) * 3;",
                "const limit = @as(u32, n % 5) + 1;",
                f"{name}(one(at), one(at + 1), one(at + 2), limit);",
                "out[2 * next] = trips; out[2 * next + 1] = total; next += 1; }",
            ]
            cases += [(number, n, body, n % 5 + 1) for n in range(len(ranges))]
    text = f"""
    var lows = @zeros([{bounds[0].size}]u32);
    var highs = @zeros([{bounds[0].size}]u32);
    var out = @zeros([{2 * len(cases)}]u32);
    var next: u16 = 0;
    var trips: u32 = 0;
    var total: u32 = 0;
    fn one(n: u16) {type} {{ return @as({type}, @as(u64, highs[n]) << 32 | @as(u64, lows[n])); }}
    {"".join(functions)}
    fn main() void {{ {" ".join(calls)} }}
    """
    simulator = csl.start(text, {"lows": "u32", "highs": "u32", "out": "u32"}, width=width)
    words = bounds.reshape(1, width, -1)
    simulator.set("lows", (words & 0xFFFFFFFF).astype(np.uint32))
    simulator.set("highs", (words >> np.uint64(32)).astype(np.uint32))
    simulator.launch("main")
    out = simulator.get("out")[0].reshape(width, -1, 2)
    for x in range(width):
        for (number, n, body, limit), found in zip(cases, out[x].tolist(), strict=True):
            ranges = forms[number][1]
            triple = ranges[(n - x) % len(ranges)]
            expected = seen(range(*triple), limit, BODIES[body][1], body == "continue")
            assert tuple(found) == expected, (x, forms[number][0], triple, body, limit)


@pytest.mark.slow
@pytest.mark.one_in(6)
@pytest.mark.parametrize("type", TYPES)
def test_bounds_at_run_time(csl: Csl, type: str) -> None:
    """All forms of @range, with and without jumps and the index, on one PE and on several that differ."""
    upwards = [(0, stop, 1) for stop in (*range(6), *([limits(type)[0]] if type[0] == "i" else []))]
    forms = [
        (f"@range({type}, b)", upwards),
        (f"@range({type}, a, b, s)", some_ranges(type, 30, 1)),
        (f"@range({type}, a, b, 1)", some_ranges(type, 8, 2, 1)),
        (f"@range({type}, a, b, -1)", some_ranges(type, 8, 3, -1)),
        (f"@range({type}, a, b, 2)", some_ranges(type, 8, 4, 2)),
    ]
    highest = limits(type)[1]
    # A negative step of an unsigned range is one of the signed type.
    lowest = -(highest // 2) - 1 if type[0] == "u" else limits(type)[0]
    forms += [
        (f"@range({type}, a, b, {by})", some_ranges(type, 6, by, by)) for by in (highest, lowest, -(highest // 3))
    ]
    run(csl, type, forms, [("plain", True), ("break", False)], 1)
    run(csl, type, [forms[1]], [("plain", False), ("break", True), ("return", True), ("continue", True)], 2)
    run(csl, type, [forms[4]], [("plain", True), ("continue", False)], 2)


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("type", TYPES)
def test_bounds_at_compile_time(csl: Csl, type: str) -> None:
    """Ranges known at compile time, in loops that are evaluated then and in those that run."""
    triples = some_ranges(type, 16, 6)
    calls: list[str] = []
    functions: list[str] = []
    for n, (start, stop, step) in enumerate(triples):
        body, has_index = [*itertools.product(BODIES, (True, False))][n % 8]
        iterable = f"@range({type}, {start}, {stop}, {step})"
        functions.append(function(f"f{n}", type, iterable, BODIES[body][0], has_index))
        functions.append(f"""
        fn known{n}() u32 {{
          var trips: u32 = 0;
          var total: u32 = 0;
          const limit: u32 = 3;
          for ({iterable}) |v, k| {{
            {BODIES[body][0].replace("return", "break")}
            total = total * 31 + @as(u32, v) * 7 + k;
          }}
          return total;
        }}
        """)
        calls.append(f"f{n}(0, 0, 0, limit); out[3 * {n}] = trips; out[3 * {n} + 1] = total;")
        calls.append(f"out[3 * {n} + 2] = comptime known{n}();")
    text = f"""
    var limit: u32 = 3;
    var trips: u32 = 0;
    var total: u32 = 0;
    var out = @zeros([{3 * len(triples)}]u32);
    {"".join(functions)}
    fn main() void {{ {" ".join(calls)} }}
    """
    out = csl.run(text, {"out": "u32"})["out"].reshape(-1, 3).tolist()
    for n, (triple, found) in enumerate(zip(triples, out, strict=True)):
        body = [*BODIES][n % 8 // 2]
        trips, total = seen(range(*triple), 3, BODIES[body][1], body == "continue")
        assert found == [trips, total, total], (triple, body)


LOOPS = [
    # Loops that once never ended, and one whose index was wrong.
    "for (@range(u8, 0, 255, 2)) |i| { if (never == 1) { break; } n += 1; last = @as(u32, i); }",
    "for (@range(u16, 0, 65535, by)) |i| { n += 1; last = i; }",
    "for (@range(i16, low, 32767, 512)) |v, k| { n += 1; last = k; }",
    "for (@range(u64, far)) |i| { n += 1; last = @as(u32, i); }",
]


@pytest.mark.parametrize(
    ("loop", "expected"), [*zip(LOOPS, [(128, 254), (128, 65024), (128, 127), (3, 2)], strict=True)], ids=range(4)
)
def test_loops_that_end(csl: Csl, loop: str, expected: tuple[int, int]) -> None:
    text = f"""
    var never: u16 = 0;
    var by: u16 = 512;
    var low: i16 = -32768;
    var far: u64 = 3;
    var n: u32 = 0;
    var last: u32 = 0;
    var out = @zeros([2]u32);
    fn main() void {{ {loop} out[0] = n; out[1] = last; }}
    """
    assert tuple(csl.run(text, {"out": "u32"})["out"]) == expected


@pytest.mark.slow
def test_the_index_wraps_at_compile_time_too(csl: Csl) -> None:
    text = """
    fn last() u16 {
      var found: u16 = 0;
      for (@range(u32, 65600)) |v, k| { found = k; }
      return found;
    }
    """
    assert csl.value("last()", text) == "63"


def test_a_step_of_zero(csl: Csl) -> None:
    text = """
    var by: i16 = 0;
    var out = @zeros([1]i16);
    fn main() void { for (@range(i16, 3, 1, by)) |i| { out[0] = i; } }
    """
    with pytest.raises(Exception, match="a range with step 0 never ends"):
        csl.run(text, {"out": "i16"})
    csl.refuses("comptime { for («@range(i16, 3, 1, 0)») |i| {} }", "a range with step 0 never ends")
