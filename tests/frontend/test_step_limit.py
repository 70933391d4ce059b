"""The step limit, which ends a compilation that runs forever, and the notices about one that takes long."""

# ruff: noqa: E501 (a program is one line of a table)

from __future__ import annotations

import re

import pytest

from loomir.csl import CslError
from loomir.diagnostics.errors import LoomError
from loomir.tools import loom

from .harness import LAYOUT_FILE, PE_FILE, Csl

ALLOW = "if it ends at all, allow more with LOOM_STEP_LIMIT=N in the environment"

LOOPS = {
    # Loops of a PE's comptime block; the one that never ends is marked.
    "while": "comptime { «while (true) {}» }",
    "one in an endless one": "comptime { «while (true) { for (@range(u16, 50)) |i| { var x = i; } }» }",
    "an endless one in one": "comptime { for (@range(u16, 9)) |i| { var n: u32 = 0; «while (n < 9) { if (i > 2) continue; n += 1; }» } }",
    "in a function": "fn f() u16 {\n  var n: u16 = 0;\n  «while (n >= 0) : (n += 1) {}»\n  return n;\n}\nconst x = f();\ncomptime { _ = x; }",
    "a range": "comptime { «for (@range(u64, 0, 18446744073709551615, 1)) |i| {}» }",
    "a range of big numbers": "comptime { «for (@range(comptime_int, 1 << 200)) |i| {}» }",
    "a loop over an array": "const a = @zeros([300]u16);\ncomptime { «for (a) |x| { for (a) |y| {} }» }",
    "unrolled": "var v: u16 = 0;\nfn f() void { «inline for (@range(u32, 1 << 30)) |i| { v += 1; }» }\ntask t() void { f(); }\ncomptime { @bind_local_task(t, @get_local_task_id(9)); }",
}  # fmt: skip


@pytest.mark.parametrize("text", LOOPS.values(), ids=LOOPS)
def test_the_loop_is_named(csl: Csl, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_STEP_LIMIT", "5000")
    csl.refuses(text, f"this loop has not ended after 5000 steps at compile time; {ALLOW}")


LAYOUTS = {
    "while": "«while (true) {}»",
    "with calls": "«while (true) { @set_tile_code(0, 0, \"pe.csl\"); }»",
    "a long loop": "«for (@range(u32, 4000000000)) |i| { var x = i; x += 1; }»",
    "long loops": "for (@range(u32, 4000)) |i| { «for (@range(u32, 4000)) |j| { var x = i; }» }",
    "wide ones": "«for (@range(u64, 18446744073709551615)) |i| {}»",
    "longer than any": "«for (@range(comptime_int, 0, 1 << 99, 1 << 20)) |i| {}»",
    "downwards": "var i: i32 = 5;\n«while (i < 9) : (i -= 1) {}»",
    "one after the other": "var last: u32 = 0;\n«for (@range(u32, 4000000000)) |i| { last = i; }»",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
def test_an_endless_layout(csl: Csl, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_STEP_LIMIT", "5000")
    layout = f"layout {{\n  @set_rectangle(2, 1);\n  {text}\n}}\n"
    csl.refuses("", f"this loop has not ended after 5000 steps at compile time; {ALLOW}", layout)


@pytest.mark.slow
def test_a_tree_of_calls(csl: Csl, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no loop to name."""
    monkeypatch.setenv("LOOM_STEP_LIMIT", "5000")
    text = "fn f(n: u16) u32 { return if (n == 0) 1 else f(n - 1) + f(n - 1); }\ncomptime { _ = f(60); }"
    with pytest.raises(CslError, match=f"compile-time evaluation has not ended after 5000 steps.*{ALLOW}"):
        csl.pe(text)


@pytest.mark.slow
def test_a_deep_recursion(csl: Csl) -> None:
    marked = "fn f(n: u16) u16 { return «f(n)»; }\ncomptime { _ = f(1); }"
    csl.refuses(marked, "calls are nested more than 200 deep; does 'f' call itself forever? If not, allow more")
    text = "fn f(n: u16) u16 { return if (n == 0) 0 else f(n - 1) + 1; }"
    assert csl.value("f(250)", text, comptime_func_depth_limit=300) == "250"


def test_more_may_be_allowed(csl: Csl, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "fn f() u16 { var n: u16 = 0; while (n < 2000) : (n += 1) {} return n; }"
    monkeypatch.setenv("LOOM_STEP_LIMIT", "1000")
    with pytest.raises(CslError, match="has not ended after 1000 steps"):
        csl.value("f()", text)
    monkeypatch.setenv("LOOM_STEP_LIMIT", "3000")
    assert csl.value("f()", text) == "2000"
    monkeypatch.setenv("LOOM_STEP_LIMIT", "many")
    with pytest.raises(LoomError, match="LOOM_STEP_LIMIT is 'many'; give the number of steps"):
        csl.value("f()", text)


def test_every_tile_and_every_program_may_take_as_many_steps(csl: Csl, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large layout is not an endless one: what counts are the steps from one PE to the next."""
    work = "fn work() u16 { var n: u16 = 0; while (n < 300) : (n += 1) {} return n; }\n"
    layout = (
        work
        + """
    layout {
      @set_rectangle(20, 1);
      var x: u16 = 0;
      while (x < 20) { @set_tile_code(x, 0, "pe.csl", .{ .kind = x % 5, .made = work() }); x += 1; }
    }
    """
    )
    pe = work + "param kind: u16;\nparam made: u16;\nconst table = @zeros([kind + 1]u16);\n"
    pe += "comptime { @comptime_assert(made == 300); @comptime_assert(work() == 300); _ = table; }"
    monkeypatch.setenv("LOOM_STEP_LIMIT", "1000")
    assert csl.layout(layout, pe).programs == 5


NESTED = {
    # In a loop over PEs evaluated at once, a truth value of an outer loop decides in an inner one.
    "if": "if (left) { ROUTE }",
    "else": "if (!left) {} else { ROUTE }",
    "and": "if (j >= 0 and left) { ROUTE }",
    "or": "if (left or px < 5) { ROUTE }",
    "two": "if (left) { if (left) { ROUTE } }",
    "switch": "switch (kind) { 0 => { ROUTE }, else => {} }",
    "while": "var n: i16 = 0; while (left and n < 1) : (n += 1) { ROUTE }",
}  # fmt: skip


@pytest.mark.parametrize("inner", NESTED.values(), ids=NESTED)
def test_a_condition_of_an_outer_loop(csl: Csl, inner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_STEP_LIMIT", "20000")
    layout = f"""
    const c = @get_color(3);
    layout {{
      @set_rectangle(6, 5);
      for (@range(i16, 6)) |px| {{
        const left = px < 5;
        const kind: i16 = px / 5;
        for (@range(i16, 5)) |j| {{
          @set_tile_code(px, j, "pe.csl");
          {inner.replace("ROUTE", "@set_color_config(px, j, c, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });")}
        }}
      }}
    }}
    """
    compiled = csl.layout(layout, "")
    (route,) = (op for op in compiled.module.walk() if op.name == "wse.route")
    assert "[0:5, 0:5]" in str(route), str(route)


def cslc(csl: Csl) -> int:
    return loom.main(["cslc", str(csl.directory / LAYOUT_FILE), "-o", str(csl.directory / "out")])


def test_notices(csl: Csl, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    layout = 'layout {\n  @set_rectangle(1, 1);\n  @set_tile_code(0, 0, "pe.csl");\n}\n'
    csl.write({LAYOUT_FILE: layout, PE_FILE: "comptime {\n  while (true) {}\n}\n"})
    monkeypatch.setenv("LOOM_STEP_LIMIT", "3000")
    monkeypatch.setenv("LOOM_NOTICE_AFTER", "0.000001")
    assert cslc(csl) == 1
    first, *_, error, _, _ = capfd.readouterr().err.splitlines()
    assert re.fullmatch(
        r"note: the compilation is still running: 0 s and [\d,]+ steps so far, now in .*; "
        r"Ctrl-C ends it, and so does LOOM_STEP_LIMIT=N after N steps",
        first,
    )
    assert (
        error
        == f"{csl.directory / PE_FILE}:2:3: error: this loop has not ended after 3000 steps at compile time; {ALLOW}"
    )
    monkeypatch.setenv("LOOM_NOTICE_AFTER", "0")
    assert cslc(csl) == 1
    assert "still running" not in capfd.readouterr().err
