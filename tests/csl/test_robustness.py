"""No text makes the parser fail otherwise than by an error of its own: cut off, damaged, nested or long."""

import time
from bisect import bisect_left

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loomir.csl import CslError, parse, syntax
from loomir.csl.grammar.cursor import MAX_ERRORS, MAX_NESTING
from loomir.csl.lexer import FOREIGN, KEYWORDS, PUNCTUATION
from loomir.csl.printer import print_file
from loomir.diagnostics.errors import LoomError

from ..searches import examples
from .csl_trees import declarations, file_of

PROGRAM = """\
// Adds up what arrives.
param size: u16;
param queues = .{ .in = 2, .out = [2]u16{ 3, 4 } };
const mode = enum(u16) { idle, busy = 4 };
const pair = struct { sum: f32, next: *const [size]f32 };
var buffer: [size, 2]f32 align(16) = @zeros([size, 2]f32);
export var total: f32 linkname("t\\x00") = 1.5e-3;
extern fn ready(u16, x: [*]f32) bool;
const access = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{size} -> buffer[i, 0], });

inline fn largest(comptime T: type, a: T, b: anytype) T {
  return if (a > b and !(a == 'x')) a else if (b < 0x10) -b else blk: { break :blk ~b & 0b11 | a << 2; };
}

task receive(value: f32) void {
  comptime var last = 0;
  outer: while (total < 10.0) : (total += 1.0) {
    for (@range(i16, 0, 4, 2)) |element, index| {
      if (element == 3) continue else break :outer;
    }
  }
  switch (value) {
    1, 2 => total -= value,
    mode.busy => { pointer.*[1] = f(&total, .{}); },
    else => return,
  }
  asm volatile ("nop" : [r] "=r" (total) : [s] "r" (value) : "memory");
  @activate(done);
}

comptime { @bind_local_task(receive, done); }
layout { @set_rectangle(size, 1); }
"""
WORDS = [
    *sorted(KEYWORDS | PUNCTUATION | FOREIGN),
    *("x", "@f", "1", "2.5", '"s"', "'c'", "12ab", "#", '"', "'", "\n", " "),
]


def outcome(text: str) -> syntax.File | CslError:
    """Return what `parse` gives or raises; errors must point into the text and be sorted."""
    try:
        return parse(text, "a.csl")
    except CslError as error:
        starts = [diagnostic.start for diagnostic in error.diagnostics]
        assert starts == sorted(starts)
        assert 1 <= len(starts) <= MAX_ERRORS
        for diagnostic in error.diagnostics:
            assert 0 <= diagnostic.start <= diagnostic.end <= len(text)
        assert str(error).startswith("a.csl:")
        assert str(error).count(": error: ") >= len(starts)
        return error


def test_the_program_itself_is_correct() -> None:
    assert isinstance(outcome(PROGRAM), syntax.File)


@pytest.mark.slow
def test_cut_off_anywhere() -> None:
    for end in range(len(PROGRAM)):
        outcome(PROGRAM[:end])


@pytest.mark.slow
def test_begun_anywhere() -> None:
    for start in range(0, len(PROGRAM), 3):
        outcome(PROGRAM[start:])


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(
    st.lists(
        st.tuples(st.integers(0, len(PROGRAM)), st.integers(0, 12), st.sampled_from(WORDS)), min_size=1, max_size=4
    )
)
def test_pieces_replaced(changes: list[tuple[int, int, str]]) -> None:
    text = PROGRAM
    for place, length, word in changes:
        text = text[:place] + word + text[place + length :]
    outcome(text)


@settings(max_examples=examples(300))
@given(st.lists(st.sampled_from(WORDS), max_size=60))
def test_any_words(words: list[str]) -> None:
    outcome(" ".join(words))


@settings(max_examples=examples(200))
@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    outcome(text)


@pytest.mark.slow
@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(declarations, min_size=1, max_size=2), st.data())
def test_printed_programs_damaged(nodes: list[syntax.Declaration], data: st.DataObject) -> None:
    text = print_file(file_of(nodes))
    place = data.draw(st.integers(0, len(text)))
    outcome(text[:place] + data.draw(st.sampled_from(WORDS)) + text[place + data.draw(st.integers(0, 3)) :])


# Nested openings, all the ways down to themselves.
NESTS = [
    ("const x = {};", "(", "1", ")"),
    ("const x = {};", "f(", "1", ")"),
    ("const x = {};", "@as(", "1", ")"),
    ("const x = {};", "a[", "1", "]"),
    ("const x = {};", ".{ ", "1", " }"),
    ("const x = {};", ".{ .a = ", "1", " }"),
    ("const x = {};", "T{", "1", "}"),
    ("const x = {};", "-(", "1", ")"),
    ("const x = {};", "1 + (", "1", ")"),
    ("const x = {};", "1 or (1 and (1 == (1 & (1 << (1 + (1 * (", "1", ")))))))"),
    ("const x = {};", "if (a) ", "1", " else 2"),
    ("const x = {};", "if (", "1", ") 1 else 2"),
    ("const x = {};", "switch (x) { else => ", "1", " }"),
    ("const x = {};", "|i|{1} -> a[", "1", "]"),
    ("const x = {};", "comptime ", "1", ""),
    ("const x = {};", "return ", "1", ""),
    ("const x = {};", "l: { break :l ", "1", "; }"),
    ("const x = {};", "struct { a: ", "T", " }"),
    ("const x = {};", "enum { a = ", "1", " }"),
    ("const x = {};", 'asm (', '"nop"', ")"),
    ("var x: {};", "*", "T", ""),
    ("var x: {};", "[*]const ", "T", ""),
    ("var x: {};", "[2]", "T", ""),
    ("var x: {};", "[", "1", "]T"),
    ("var x: {};", "fn(", "T", ") void"),
    ("var x: {};", "fn() ", "T", ""),
    ("var x: {};", "(", "T", ")"),
    ("var x: {};", "struct { a: ", "T", " }"),
    ("fn f() void { {} }", "{ ", "f();", " }"),
    ("fn f() void { {} }", "l: { ", "f();", " }"),
    ("fn f() void { {} }", "if (a) ", "f();", ""),
    ("fn f() void { {} }", "if (a) { ", "f();", " }"),
    ("fn f() void { {} }", "if (a) { } else { ", "f();", " }"),
    ("fn f() void { {} }", "for (a) |i| ", "f();", ""),
    ("fn f() void { {} }", "l: while (a) { ", "f();", " }"),
    ("fn f() void { {} }", "comptime ", "f();", ""),
    ("fn f() void { {} }", "switch (x) { else => { ", "f();", " } }"),
]  # fmt: skip


def height(node: syntax.Node) -> int:
    level, levels = [node], 0
    while level:
        level, levels = [child for parent in level for child in syntax.children(parent)], levels + 1
    return levels


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize(("frame", "opening", "core", "closing"), NESTS)
def test_deep_nesting_is_an_error(frame: str, opening: str, core: str, closing: str) -> None:
    def nested(depth: int) -> str:
        return frame.replace("{}", opening * depth + core + closing * depth, 1)

    shallow = outcome(nested(8))
    assert isinstance(shallow, syntax.File), shallow
    deep = outcome(nested(5000))
    assert isinstance(deep, CslError)
    assert len(deep.diagnostics) == 1
    assert deep.message == f"nesting too deep: more than {MAX_NESTING} levels; split this up"
    # Whatever is still accepted can be walked, printed and read again by recursion.
    refused = range(8, MAX_NESTING + 10)
    deepest = refused[bisect_left(refused, True, key=lambda depth: isinstance(outcome(nested(depth)), CslError)) - 1]
    file = outcome(nested(deepest))
    assert isinstance(file, syntax.File)
    assert height(file) <= syntax.MAX_HEIGHT
    assert syntax.equal(parse(print_file(file), "b.csl"), file)


@pytest.mark.slow
@pytest.mark.parametrize("opening", ["(", "f(", ".{", "{", "[", "*", "if (", "|i|{", "-", "fn(", "switch (x) { 1 => "])
def test_deep_nesting_without_an_end(opening: str) -> None:
    for frame in ("const x = ", "var x: ", "fn f() void { ", ""):
        assert isinstance(outcome(frame + opening * 5000), CslError)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "link", "after"),
    [
        ("a", " + a", ""),
        ("a", " + b * c", ""),
        ("a", " and b == c", ""),
        ("a", ".b", ""),
        ("a", ".*", ""),
        ("a", "[1]", ""),
        ("f", "()", ""),
        ("", "-", "a"),
    ],
)
def test_long_chains_are_an_error(before: str, link: str, after: str) -> None:
    """They nest the tree though not the text."""
    short = outcome(f"const x = {before}{link * 100}{after};")
    assert isinstance(short, syntax.File), short
    assert syntax.equal(parse(print_file(short), "b.csl"), short)
    long = outcome(f"const x = {before}{link * 5000}{after};")
    assert isinstance(long, CslError)
    assert len(long.diagnostics) == 1
    assert long.message == "too many levels of operators and nesting; compute a part in a 'const' of its own"


@pytest.mark.slow
def test_long_lists_and_chains_of_else_if_are_no_error() -> None:
    elements = ", ".join(["1"] * 20000)
    branches = " else ".join(["if (a) { }"] * 5000)
    values = " else ".join(["if (a) 1"] * 5000) + " else 2"
    statements = "f();" * 20000
    text = f"const x = .{{ {elements} }}; const y = {values}; fn f() void {{ {branches} {statements} }}"
    file = outcome(text)
    assert isinstance(file, syntax.File)
    assert height(file) < 12


def test_only_so_many_errors_are_shown() -> None:
    error = outcome("const x = ;\n" * 100)
    assert isinstance(error, CslError)
    assert len(error.diagnostics) == MAX_ERRORS


def test_errors_are_loom_errors_with_the_first_place() -> None:
    error = outcome("const a = 1;\nconst b = ;\nconst c = ;\n")
    assert isinstance(error, LoomError)
    assert error.message == "expected an expression, found ';'"
    assert error.location == "a.csl:2:11"
    assert [diagnostic.location for diagnostic in error.diagnostics] == ["a.csl:2:11", "a.csl:3:11"]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["{" * 100000, "(" * 100000, "}" * 100000, "/" * 100001, '"' * 100000, "x " * 100000,
                                  "fn f() void { x x\n" * 5000, "'\\" * 50000, "0x" * 50000, "@" * 100000,
                                  "const x = {" * 10000, "if (a) { " * 10000 + "}\n" * 10000])  # fmt: skip
def test_time_is_linear_in_the_text(text: str) -> None:
    start = time.process_time()
    outcome(text)
    assert time.process_time() - start < 5
