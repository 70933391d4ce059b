"""`loom-opt -t csl`: where the files go, and what else prints CSL."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from loomir.backend import csl
from loomir.backend.csl.target import split_files
from loomir.frontend.ir_text import parse_ir
from loomir.host.compilation import context

from .conftest import Run, one_error

Write = Callable[[str], Path]

PROGRAM = """\
wse.program @p target "wse3" rectangle 2 x 1 {
  wse.pe @left on [0, 0] {
    wse.buffer @y : memref<4xf32>
    wse.export @y
  }
  wse.pe @right on [1, 0] {
  }
}
"""

XDSL = """\
"csl.module"() <{kind = #csl<module_kind program>}> ({
  csl.func @main() {
    csl.return
  }
}) {sym_name = "theirs"} : () -> ()
"""


def test_files_follow_each_other_on_stdout(run_opt: Run, write: Write) -> None:
    outcome = run_opt(write(PROGRAM), "-t", "csl")
    assert outcome.status == 0 and outcome.err == ""
    lines = [line for line in outcome.out.splitlines() if line.startswith("//")]
    assert lines == ["// FILE: layout.csl", "// FILE: left.csl", "// FILE: right.csl"]
    assert split_files(outcome.out) == csl.source_of(parse_ir(context(), PROGRAM, "program.mlir"))


def test_a_directory_gets_a_file_each(run_opt: Run, write: Write, tmp_path: Path) -> None:
    for directory in (tmp_path / "new", tmp_path):
        outcome = run_opt(write(PROGRAM), "-t", "csl", "-o", f"{directory}/")
        assert (outcome.status, outcome.out, outcome.err) == (0, "", "")
        files = {path.name: path.read_text() for path in directory.glob("*.csl")}
        assert files == csl.source_of(parse_ir(context(), PROGRAM, "program.mlir"))


def test_one_file_gets_all(run_opt: Run, write: Write, tmp_path: Path) -> None:
    outcome = run_opt(write(PROGRAM), "-t", "csl", "-o", tmp_path / "all.txt")
    assert outcome.status == 0
    assert (tmp_path / "all.txt").read_text().count("// FILE: ") == 3


def test_an_error_writes_no_file(run_opt: Run, write: Write, tmp_path: Path) -> None:
    bad = PROGRAM.replace(
        "@right on [1, 0] {",
        "@right on [1, 0] {\n  wse.func @f(%x: f32) -> (f32, f32) {\n    wse.return %x, %x : f32, f32\n  }\n",
    )
    outcome = run_opt(write(bad), "-t", "csl", "-o", f"{tmp_path}/out/")
    one_error(outcome, "program.mlir:7:3: error: function @f returns 2 values")
    assert not list(tmp_path.rglob("*.csl"))


def test_passes_run_before(run_opt: Run, write: Write) -> None:
    outcome = run_opt(write(PROGRAM), "-p", "lower-to-flow", "-t", "csl")
    one_error(outcome, "flow.fabric cannot be written in CSL; print the program before lower-to-flow")


def test_xdsl_prints_its_own_dialect(run_opt: Run, write: Write) -> None:
    outcome = run_opt(write(XDSL), "-t", "csl")
    assert outcome.status == 0
    assert outcome.out.startswith("// FILE: theirs\n") and "fn main() void {" in outcome.out


def test_an_imported_module_is_printed_by_us(run_opt: Run, write: Write) -> None:
    outcome = run_opt(write(XDSL), "-p", "import-xdsl-csl", "-t", "csl")
    assert outcome.status == 0
    assert '@set_tile_code(0, 0, "theirs.csl"' in outcome.out


def test_plain_xdsl_opt_has_it_under_another_name(write: Write) -> None:
    script = Path(sys.executable).with_name("xdsl-opt")
    command = [script, write(PROGRAM), "-t", "loom-csl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("// FILE: layout.csl\n")
