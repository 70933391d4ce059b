"""What programs and files say reaches no terminal as it is: control characters are escaped, foreign files unquoted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loomir.diagnostics.errors import LoomError, shown
from loomir.diagnostics.findings import Finding

from .conftest import Run

ESCAPE = "\x1b[31mred\x07\x9b\u202e"


def test_shown() -> None:
    assert shown("plain ä 字 text") == "plain ä 字 text"
    assert shown("a\x1b[31m\x00\x7f\x9b\u202e\udcff") == "a\\x1b[31m\\x00\\x7f\\x9b\\u202e\\udcff"
    assert shown("one\n\ttwo\r") == "one\n\ttwo\\r"
    assert shown("one\ntwo", lines=True) == "one\\ntwo"
    assert str(LoomError("in\x1b", "a\nb\x1b:1:2")) == "a\\nb\\x1b:1:2: error: in\\x1b"
    assert (
        str(Finding("error", "code", "m\x1b\nerror: no", "f\x1b:1:1")) == "f\\x1b:1:1: error: m\\x1b\\nerror: no [code]"
    )


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of one PE, whose code is still to be written."""
    monkeypatch.chdir(tmp_path)
    Path("layout.csl").write_text('layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{ .odd\\x = 1 }); }')
    Path("layout.csl").write_text('layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{}); }')
    return tmp_path / "pe.csl"


def test_what_a_program_prints_as_it_is_compiled(run_loom: Run, program: Path) -> None:
    program.write_text('comptime { @comptime_print("a\\x1b[31mb\\x07", .{ .s = "c\\x9b" }); }')
    outcome = run_loom("cslc", "layout.csl")
    assert outcome.status == 0, outcome.err
    assert "a\\x1b[31mb\\x07" in outcome.out and outcome.out.rstrip("\n").isprintable()
    outcome = run_loom("run", "layout.csl")
    assert "a\\x1b[31mb\\x07" in outcome.out and all(line.isprintable() for line in outcome.out.split("\n"))


def test_errors_and_warnings(run_loom: Run, program: Path) -> None:
    program.write_text(f'const m = @import_module("li\\x1b[31mb.csl"); // {ESCAPE}\ncomptime {{ _ = m; }}')
    outcome = run_loom("cslc", "layout.csl")
    assert outcome.status == 1 and all(line.isprintable() for line in outcome.err.split("\n"))
    program.write_text('comptime { @comptime_assert(false, "no\\x1b[31m"); }')
    outcome = run_loom("cslc", "layout.csl")
    assert "no\\x1b[31m" in outcome.err and all(line.isprintable() for line in outcome.err.split("\n"))
    program.write_text("")
    program.rename("p\x1b[31me.csl")
    Path("layout.csl").write_text('layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{}); }')
    outcome = run_loom("cslc", "lay\x1b[31mout.csl")
    assert outcome.err == "lay\\x1b[31mout.csl: error: does not exist; name the CSL file with the layout block\n"


SECRET = "root:$6$salt$hash:19000:0:99999:7:::\n"

FOREIGN = {
    "shadow": SECRET.encode(),
    "shadow.csl": SECRET.encode(),
    "values.json": json.dumps({"token": SECRET}).encode(),
    "list.csl": json.dumps([SECRET]).encode(),
    "key.pem": f"-----BEGIN PRIVATE KEY-----\n{SECRET}-----END\n".encode(),
    "binary": b"\x7fELF\x02\x01" + SECRET.encode(),
    "binary.csl": b"const a = 1;\x00\x01" + SECRET.encode(),
    "notes.txt": f"The password\nconst is {SECRET}".encode(),
    "comment.csl": f"// note\n{SECRET}".encode(),
}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("way", ["layout", "tile", "module", "link"])
def test_files_that_are_not_csl_are_not_quoted(run_loom: Run, program: Path, name: str, way: str) -> None:
    foreign = Path(name)
    foreign.write_bytes(FOREIGN[name])
    if way == "link":
        # The name of a link says nothing of the file.
        Path("link.csl").symlink_to(name)
        foreign = Path("link.csl")
    program.write_text(f'const m = @import_module("{foreign}");\ncomptime {{ _ = m; }}')
    if way == "tile":
        Path("layout.csl").write_text(Path("layout.csl").read_text().replace("pe.csl", name))
    outcome = run_loom("cslc", name if way == "layout" else "layout.csl")
    assert outcome.status == 1
    assert outcome.err == f"{foreign}: error: is not a CSL file, which consists of declarations; check the path\n"


def test_mistakes_in_csl_are_quoted(run_loom: Run, program: Path) -> None:
    for text in ("const a = ;", "// comment\n\ufeff  const a = ;", "parm b: u16;\nconst a = ;"):
        program.write_text(text)
        outcome = run_loom("cslc", "layout.csl")
        assert outcome.status == 1 and "const a = ;" in outcome.err
    # Whatever its name.
    program.write_text('const m = @import_module("code.txt");\ncomptime { _ = m; }')
    Path("code.txt").write_text("const a = ;")
    assert "const a = ;" in run_loom("cslc", "layout.csl").err


def test_what_a_program_prints_as_it_runs(program: Path) -> None:
    from loomir.host.sdk.runtime import write_log

    write_log([(5, 0, 0, "a\x1b[31m\n"), (7, 0, 0, "b\r\n")])
    assert Path("sim.log").read_text() == "@5 a\\x1b[31m\n@7 b\\r\n"


@pytest.mark.slow
def test_a_layout_that_xdsl_names_is_written_nowhere_else(program: Path) -> None:
    """`import-xdsl-csl` puts the program into files of its own, whose names it chooses."""
    from loomir.dialects.ir_text import parse_ir
    from loomir.host.compilation import context
    from loomir.importers.xdsl_csl import import_modules

    for name in ("../../escaped", f"{program.parent}/escaped"):
        text = f"""\
"csl.module"() <{{kind = #csl<module_kind layout>}}> ({{
  csl.layout {{
    %one = arith.constant 1 : i32
    "csl.set_rectangle"(%one, %one) : (i32, i32) -> ()
  }}
}}) {{sym_name = "{name}"}} : () -> ()
"""
        with pytest.raises(LoomError, match="given no code"):
            import_modules(parse_ir(context(), text, "program.mlir"), arch="wse3", directory=program.parent)
        assert not list(program.parent.parent.rglob("escaped*")) and not Path("/tmp/escaped.csl").exists()
