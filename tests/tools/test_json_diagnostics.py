"""The flag --json: everything on stderr as JSON objects, one to a line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loomir.diagnostics import output
from loomir.tools import cslc, loom, loom_opt

LAYOUT = """
param n: u16;
layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{}); @export_name("main", fn() void); }
"""
WRONG = """
fn double(x: i16) i16 { return 2 * x; }
fn main() void { var y: i16 = double(true); }
comptime { @export_symbol(main); }
"""
WARNED = """
var out = @zeros([4]i16);
const d = @get_dsd(mem1d_dsd, .{ .base_address = &out, .extent = 5 });
fn main() void { @mov16(d, 1); @assert(out[0] == 2); }
comptime { @export_symbol(main); }
"""


def told(capsys: pytest.CaptureFixture[str], run: Callable[[], object]) -> list[dict[str, Any]]:
    """Return the objects that a tool that ends with status 1 has written on stderr."""
    try:
        assert run() == 1
    except SystemExit as error:
        assert error.code == 1
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


@pytest.fixture
def layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "layout.csl").write_text(LAYOUT)
    return tmp_path


def test_mistakes_in_csl(layout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where each is, and the notes that say where else to look."""
    (layout / "pe.csl").write_text(WRONG)
    (found,) = told(capsys, lambda: cslc.main(["layout.csl", "--json", "--params=n:1"]))
    assert (found["severity"], found["file"], found["line"], found["column"]) == ("error", "pe.csl", 3, 38)
    assert "'i16'" in found["message"]
    assert all(note.keys() == found.keys() and note["severity"] == "note" for note in found["notes"])


def test_codes_of_lint(layout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each warning has the code at its end, also where its message names a rule."""
    (layout / "pe.csl").write_text(
        "const a = @zeros([4]i16);\nconst d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[i * i] });\n"
        "task t() void {}\nfn main() void {}\ncomptime { @export_symbol(main); }\n"
    )
    assert cslc.main(["layout.csl", "--json", "--params=n:1", "-o", "out"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    codes = [(each["line"], each["code"]) for each in found if each["file"] == "pe.csl"]
    assert codes == [(2, "unused-mistake"), (3, "unbound-task")]


def test_a_rule_that_is_broken(layout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each of several errors has the rule that its message names."""
    (layout / "pe.csl").write_text(
        "param n: i16;\nvar a = @zeros([4]i16);\n"
        "const d = @get_dsd(mem4d_dsd, .{ .base_address = &a, .extent = .{ 1, 1, 1, 1, 1 } });\n"
        "const e = @set_dsd_length(3, 3);\ncomptime { _ = d; _ = e; }\n"
    )
    found = told(capsys, lambda: cslc.main(["layout.csl", "--json", "--params=n:1"]))
    assert [(each["line"], each["code"]) for each in found] == [(3, "DSD-057"), (4, None)]


def test_mistakes_that_passes_find(layout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Several errors of a pass, races, and what cslc is doing, are objects too."""
    (layout / "pe.csl").write_text("""
var a = @zeros([4]i16);
const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[i] });
const oq = @get_output_queue(2);
const iq = @get_input_queue(2);
const o = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = @get_color(1), .output_queue = oq });
const i = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = @get_color(2), .input_queue = iq });
fn main() void {
  @mov16(o, d, .{ .async = true });
  @mov16(o, d, .{ .async = true });
  @mov16(d, i, .{ .async = true });
  @mov16(d, i, .{ .async = true });
}
comptime { @initialize_queue(iq, .{ .color = @get_color(2) }); @export_symbol(main); }
""")
    found = told(capsys, lambda: cslc.main(["layout.csl", "--json", "--verbose", "--params=n:1"]))
    shown = [(each["severity"], each["line"], each["code"]) for each in found if each["file"] == "pe.csl"]
    assert shown == [
        ("warning", 11, "race"), ("warning", 12, "race"), ("error", 10, None), ("error", 11, None),
        ("error", 12, None),
    ]  # fmt: skip
    assert found[0]["severity"] == "note" and "compiling layout.csl" in found[0]["message"]


def test_mistakes_in_flags(layout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = told(capsys, lambda: cslc.main(["layout.csl", "--json", "--parms=n:1"]))
    assert "did you mean --params?" in found["message"]
    assert found["file"] is found["line"] is found["column"] is None


def test_what_a_run_tells(layout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Warnings and the error that ends it, each with its place."""
    (layout / "pe.csl").write_text(WARNED)
    command = ["run", "layout.csl", "--param", "n=1", "--launch", "main", "--json"]
    warning, error = told(capsys, lambda: loom.main(command))
    assert (warning["severity"], warning["line"], error["severity"], error["line"]) == ("warning", 4, "error", 4)
    assert warning["file"] == error["file"] == "pe.csl"
    assert "WARNING" not in warning["message"] and not warning["message"].startswith("warning")


def test_mistakes_in_ir(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.mlir"
    path.write_text("module {")
    (found,) = told(capsys, lambda: loom_opt.main(["--json", str(path)]))
    assert (found["file"], found["line"]) == (str(path), 1)
    (found,) = told(capsys, lambda: loom.main(["pto", "check", "--json", str(tmp_path / "none.pto")]))
    assert found["file"] == str(tmp_path / "none.pto") and found["line"] is None


def test_the_next_tool_tells_lines_again(layout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (layout / "pe.csl").write_text(WRONG)
    told(capsys, lambda: cslc.main(["layout.csl", "--json", "--params=n:1"]))
    assert cslc.main(["layout.csl", "--params=n:1"]) == 1
    assert capsys.readouterr().err.startswith("pe.csl:3:38: error: ")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pe.csl:1:11: warning: error: odd", ("warning", "error: odd", "pe.csl", 1, 11)),
        ("C:\\a.csl:2:3: note: x", ("note", "x", "C:\\a.csl", 2, 3)),
        ("a.csl: warning: first\nsecond", ("warning", "first\nsecond", "a.csl", None, None)),
        ("warning: alone", ("warning", "alone", None, None, None)),
    ],
)
def test_lines_that_were_kept(line: str, expected: tuple[Any, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with output.of_a_tool():
        output.use_json()
        output.tell_line(line)
    found = json.loads(capsys.readouterr().err)
    assert tuple(found[name] for name in ("severity", "message", "file", "line", "column")) == expected
