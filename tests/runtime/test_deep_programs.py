"""Programs nested more deeply than Python nests code or calls: compiled, printed, read, lowered and run."""

from __future__ import annotations

from pathlib import Path

import pytest

import loomir
from loomir.backend.csl import source_of
from loomir.diagnostics.nesting import deep_nesting
from loomir.frontend.compilation import compile_layout

LAYOUT = """layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{});
  @export_name("main", fn() void);
  @export_name("out", [*]i16, true);
}
"""


def nested(opening: str, closing: str, depth: int) -> str:
    return "".join(opening.replace("K", str(k)) for k in range(depth)) + closing * depth


def calls(depth: int) -> str:
    """Functions with a loop each that call each other."""
    last = "fn f0() void { for (@range(i16, 2)) |i| { out[0] += i; } }\n"
    return last + "\n".join(
        f"fn f{k}() void {{ for (@range(i16, 1)) |i| {{ out[0] += 1; f{k - 1}(); }} }}" for k in range(1, depth)
    )


def cases(count: int) -> str:
    return "".join(f"{k} => {{ out[0] = {k}; }}, " for k in range(count))


# The functions, the statements of main(), where n is 9999, and what out[0] is after them.
PROGRAMS: dict[str, tuple[str, str, int]] = {
    "if": ("", nested("if (n > K) { out[0] += 1; ", "}", 60), 60),
    "for": ("", nested("for (@range(i16, 1)) |kK| { out[0] += 1; ", "}", 60), 60),
    "while": ("", nested("var wK: i16 = 0; while (wK < 1) : (wK += 1) { out[0] += 1; ", "}", 60), 60),
    "loops that are left": ("", nested("while (true) { out[0] += 1; if (n == 5) { break; } ", "break; }", 60), 60),
    "returns": ("", "if (n == 5) { return; } out[0] += 1;" * 120, 120),
    "else if": ("", "if (n == 5) { return; }" + " else if (n == 6) { out[0] = 9; }" * 120 + " else { out[0] = 3; }", 3),
    "switch": ("", f"switch (n) {{ {cases(120)}else => {{ out[0] = 4; }} }}", 4),
    "calls": (calls(60), "f59();", 60),
    "a long sum": ("", f"out[0] = {' + '.join(['n'] * 1200)};", (9999 * 1200 + 2**15) % 2**16 - 2**15),
    "parentheses": ("", f"out[0] = {'(' * 400}n{' + 1)' * 400};", 10399),
    "conditions": ("", f"if ({' and '.join(['n > 0'] * 300)}) {{ out[0] = 5; }}", 5),
    "statements": ("", "out[0] += 1;\n" * 300, 300),
}  # fmt: skip


def compiled(directory: Path, functions: str, statements: str) -> loomir.Program:
    (directory / "layout.csl").write_text(LAYOUT)
    (directory / "pe.csl").write_text(f"""
var out = @zeros([1]i16);
var number = [1]i16{{ 9999 }};
{functions}
fn main() void {{
  const n = number[0];
  {statements}
}}
var out_pointer: [*]i16 = &out;
comptime {{ @export_symbol(out_pointer, "out"); @export_symbol(main); }}
""")
    program = compile_layout(directory / "layout.csl", arch="wse3")
    with deep_nesting():
        text = str(program.module)
    csl = source_of(program.module)
    again = directory / "again"
    again.mkdir()
    for name, source in csl.items():
        (again / name).write_text(source)
    compile_layout(again / "layout.csl", arch="wse3", memcpy=True)
    flow = loomir.compile(text, verify_each=False)
    with deep_nesting():
        text = str(flow.module)
    return loomir.compile(text)


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize(("functions", "statements", "expected"), PROGRAMS.values(), ids=PROGRAMS)
def test_deep_programs(tmp_path: Path, functions: str, statements: str, expected: int) -> None:
    simulator = loomir.Simulator(compiled(tmp_path, functions, statements))
    simulator.launch("main")
    assert simulator.get("out").ravel().tolist() == [expected]


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("depth", [19, 20, 21, 22, 89, 90, 91])
def test_at_the_limits_of_python(tmp_path: Path, depth: int) -> None:
    inner = "out[0] += 1; out[0] += n - 9999; out[0] += 1;"
    statements = "".join(f"var w{k}: i16 = 0; while (w{k} < 2) : (w{k} += 1) {{ " for k in range(2))
    statements += nested("for (@range(i16, 1)) |kK| { ", "}", depth - 2).replace("{ }", f"{{ {inner} }}", 1) + "}}"
    simulator = loomir.Simulator(compiled(tmp_path, "", statements))
    simulator.launch("main")
    assert simulator.get("out").ravel().tolist() == [8]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (f"out[0] = {' + '.join(['n'] * 5000)};", "too many levels of operators and nesting"),
        (f"out[0] = {'(' * 1000}n{')' * 1000};", "nesting too deep: more than 500 levels"),
    ],
)
def test_too_deep(tmp_path: Path, statement: str, message: str) -> None:
    with pytest.raises(loomir.LoomError, match=message) as caught:
        compiled(tmp_path, "", statement)
    assert "pe.csl:7:" in str(caught.value.location)


def test_at_compile_time(tmp_path: Path) -> None:
    statements = nested(
        "for (@range(i16, 1)) |kK| { var wK: i16 = 0; while (wK < 1) : (wK += 1) { if (wK == 0) { ", "}}}", 60
    )
    statements = statements.replace("{ }", "{ total += 1; }", 1)
    functions = f"""
    fn count() i16 {{ var total: i16 = 0; {statements} return total; }}
    const many = count();
    comptime {{ @comptime_assert(many == 1); }}
    """
    simulator = loomir.Simulator(compiled(tmp_path, functions, "out[0] = many;"))
    simulator.launch("main")
    assert simulator.get("out").ravel().tolist() == [1]
