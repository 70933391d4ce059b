"""All semantic errors of a program at once, without consequences of an error among them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from loomir.csl import CslError
from loomir.tools.cslc import main

from .harness import LAYOUT_FILE, ONE_TILE, PE_FILE, Csl

LAYOUT = """
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{});
  @export_name("main", fn() void);
}
"""


def errors(csl: Csl, text: str, layout: str = LAYOUT, **options: object) -> list[tuple[str, int, str]]:
    """Return the file, the line and the message of each error of a program."""
    with pytest.raises(CslError) as caught:
        csl.layout(layout, text, **options)  # pyright: ignore[reportArgumentType]
    assert caught.value.message == caught.value.diagnostics[0].message
    return [
        (Path(each.source.path).name, each.source.line_and_column(each.start)[0], each.message)
        for each in caught.value.diagnostics
    ]


def lines(csl: Csl, text: str, layout: str = LAYOUT) -> list[int]:
    """Return the lines of the code of the PE that have errors."""
    found = errors(csl, text, layout)
    assert all(file == PE_FILE for file, _, _ in found), found
    return [line for _, line, _ in found]


def of_main(statements: Sequence[str], before: Sequence[str] = ()) -> str:
    """Return a program whose `main` has statements, one a line from line 2 on."""
    return "\n".join(["fn main() void {", *statements, "}", *before, "comptime { @export_symbol(main); }"])


def marked(csl: Csl, statements: Sequence[str], before: Sequence[str] = ()) -> None:
    """Check that the lines that end in `// error` are those with errors."""
    text = of_main(statements, before)
    assert lines(csl, text) == [n for n, line in enumerate(text.split("\n"), 1) if line.endswith("// error")], text


def test_statements_of_a_function(csl: Csl) -> None:
    marked(
        csl,
        [
            "var x: i16 = 1.5;  // error",
            "x = x + 1;",
            "x = 2.5;  // error",
            "if (x > 2) {",
            "  a[1] = true;  // error",
            "} else {",
            "  a[2] = x;  // error",
            "}",
            "for (@range(i16, 4)) |i| {",
            "  a[i] = nothing;  // error",
            "  a[i] = 1;  // error",
            "}",
            "while (x < 3) : (x += 1) {",
            "  return 5;  // error",
            "}",
            "@block(x);  // error",
        ],
        ["var a: [4]f32;"],
    )


@pytest.mark.parametrize(
    ("statements", "before"),
    [
        # A variable or constant whose declaration has an error is not known, nor what is computed from it.
        (["const n = 1 + true;  // error", "const m = n + 1;", "a[m] = 1.0; var b: [m]f32; b[0] = n;"], []),
        (["const m: i16 = n + 1;", "a[m] = true + n;", "a[n] = m;"], ["const n = 1 + true;  // error"]),
        (["comptime { var k: u16 = 1; k = 2.5 + k;  // error", "@comptime_assert(k == 3); }"], []),
        # Nor what a loop, a branch or a function with an error leaves.
        (["comptime { var k: u16 = 0; while (k < 3) {", "k = k + 1.5;  // error", "} a[k + 9] = 1.0; }"], []),
        (["const k = f(3); a[k] = 1.0;"], ["fn f(n: i16) i16 {", "return n + 1.5;  // error", "}"]),
        # A name that is not declared is reported once.
        (["foo(1);  // error", "foo(2); a[foo] = 1.0;"], []),
        # Behind an assertion that fails, nothing of the block counts.
        (["f();"], ["fn f() void {", '@comptime_assert(1 > 2, "no");  // error', "a[7] = 1.0; }"]),
        # Nor behind a condition of a jump.
        (["if (1 + true) { return; }  // error", "a[7] = 1.0;"], []),
        (["if (wrong) { return; }", "a[7] = 1.0;"], ["const wrong: bool = 1;  // error"]),
        # What is not said may be meant by a statement with an error.
        (
            ["@activate(id);"],
            ["task t() void {} const id = @get_local_task_id(8);", "comptime { @bind_data_task(t, id);  // error", "}"],
        ),
        (["s.f();", "s.g(1 + 2);"], ['const s = @import_module("none.csl");  // error']),
    ],
)  # fmt: skip
def test_consequences_are_silent(csl: Csl, statements: list[str], before: list[str]) -> None:
    marked(csl, statements, [*before, "var a: [4]f32;"])


def test_functions_tasks_and_comptime_blocks(csl: Csl) -> None:
    """A function called twice has its error once, with the notes of its first call."""
    text = of_main(
        ["helper();", "helper();"],
        [
            "fn helper() void {",
            "  out[0] = 1.5;  // error",
            "}",
            "task t() void {",
            "  out = 3;  // error",
            "}",
            "comptime {",
            "  @bind_local_task(t, 8);  // error",
            "  @block(1.0);  // error",
            "}",
            "comptime { @bind_local_task(t, @get_local_task_id(8)); }",
            "comptime { @bind_local_task(t, @get_local_task_id(99)); }  // error",
            "var out: [1]i16;",
        ],
    )
    assert lines(csl, text) == [n for n, line in enumerate(text.split("\n"), 1) if line.endswith("// error")]


def test_files_come_in_the_order_in_which_they_are_read(csl: Csl) -> None:
    layout = """
layout {
  @set_rectangle(2, 1);
  const wrong: u16 = true;
  @set_tile_code(0, 0, "pe.csl", .{ .n = 1 });
  @set_tile_code(1, 0, "pe.csl", .{ .n = 2 });
  @set_color_config(0, 0, 3, .{});
}
"""
    text = 'param n: i16;\nconst m = @import_module("m.csl", .{ .k = n });\ncomptime { m.f(); _ = 1 + true; }'
    files = {"m.csl": "param k: i16;\nfn f() void { const x: i16 = 1.5; @comptime_assert(x == 1); _ = k + 1.0; }"}
    found = errors(csl, text, layout, files=files)
    assert [(file, line) for file, line, _ in found] == [
        (LAYOUT_FILE, 4), (LAYOUT_FILE, 7), (PE_FILE, 3), ("m.csl", 2),
    ]  # fmt: skip


def test_names_declared_twice(csl: Csl) -> None:
    text = of_main(["a = 1.5;"], ["var a: i16;", "var a: i16;", "var b: i16;", "fn b() void {}"])
    assert lines(csl, text) == [2, 5, 7]


def test_an_error_of_many_pes_is_one(csl: Csl) -> None:
    layout = """
layout {
  @set_rectangle(4, 1);
  for (@range(i16, 4)) |x| { @set_tile_code(x, 0, "pe.csl", .{ .n = x }); }
  @export_name("main", fn() void);
}
"""
    text = "param n: u16;\nvar a: [n + 1]f32;\nfn main() void {\n a[0] = true;\n if (n == 2) { a[1] = n; }\n}\n"
    assert lines(csl, text + "comptime { @export_symbol(main); }", layout) == [4, 5]


def test_more_than_are_shown(csl: Csl, capsys: pytest.CaptureFixture[str]) -> None:
    csl.directory.joinpath(LAYOUT_FILE).write_text(LAYOUT)
    csl.directory.joinpath(PE_FILE).write_text(of_main(["a = 1.5;"] * 25, ["var a: i16;"]))
    arguments = [str(csl.directory / LAYOUT_FILE), "-o", str(csl.directory / "out")]
    assert main(arguments) == 1
    text = capsys.readouterr().err
    assert text.count(": error: expected 'i16', found 'comptime_float'") == 20
    assert text.endswith("\nnote: 5 more errors, not shown\n")
    assert main([*arguments, "--json"]) == 1
    *shown, last = map(json.loads, capsys.readouterr().err.splitlines())
    assert [(each["severity"], each["line"]) for each in shown] == [("error", n) for n in range(2, 22)]
    assert (last["severity"], last["message"], last["file"]) == ("note", "5 more errors, not shown", None)
    assert not (csl.directory / "out").exists()


def test_nothing_is_printed_twice(csl: Csl) -> None:
    with pytest.raises(CslError):
        csl.layout(ONE_TILE, 'comptime { @comptime_print("once"); }\ncomptime { _ = 1 + true; _ = 2 + true; }')
    assert csl.printed == ["once"]


def test_steps_that_do_not_end_are_one_error(csl: Csl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_STEP_LIMIT", "1000")
    text = "comptime { var k: u16 = 0; while (k < 3) {} }\ncomptime { _ = 1 + true; }"
    assert [message[:9] for _, _, message in errors(csl, text, ONE_TILE)] == ["this loop"]
