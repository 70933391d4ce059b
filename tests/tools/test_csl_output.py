"""`loom-opt -t csl`: where the files go, and what else prints CSL."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from loomir.backend import csl
from loomir.backend.csl.target import split_files
from loomir.diagnostics.errors import shown
from loomir.dialects.ir_text import parse_ir
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


@pytest.mark.slow
def test_plain_xdsl_opt_has_it_under_another_name(write: Write) -> None:
    script = Path(sys.executable).with_name("xdsl-opt")
    command = [script, write(PROGRAM), "-t", "loom-csl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("// FILE: layout.csl\n")


# Names that a program chooses


def module(name: str, body: str = "csl.func @main() {\n    csl.return\n  }") -> str:
    escaped = "".join(f"\\{ord(c):02X}" if ord(c) < 32 or c in '"\\' else c for c in name)
    return f"""\
"csl.module"() <{{kind = #csl<module_kind program>}}> ({{
  {body}
}}) {{sym_name = "{escaped}"}} : () -> ()
"""


REFUSED = [
    ("../../x", "has characters other than"), ("/tmp/x", "has characters other than"), ("..", "has characters other"),
    (".bashrc", "has characters other"), ("run.py", "has characters other"), ("a\\b", "has characters other"),
    ("a\nb", "has characters other than"), ("a\0b.csl", "has characters other than"), ("-o", "has characters other"),
    ("", "is empty"), (".csl", "is empty"), ("n" * 201, "is longer than 200 characters"),
    ("Con.csl", "is that of a device on some systems"), ("lpt1", "is that of a device on some systems"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "problem"), REFUSED)
def test_names_that_are_no_files_of_the_directory(
    run_opt: Run, write: Write, tmp_path: Path, name: str, problem: str
) -> None:
    """Refused at the module, on stdout too, where a name could begin another file."""
    program = write(module("good") + module(name))
    before = sorted(tmp_path.rglob("*"))
    for output in ((), ("-o", f"{tmp_path}/deep/out/")):
        outcome = run_opt(program, "-t", "csl", *output)
        one_error(
            outcome, f"program.mlir:6:1: error: csl.module '{shown(name, lines=True)}' cannot be a file, as its name"
        )
        assert problem in outcome.err
        assert sorted(tmp_path.rglob("*")) == before


def test_two_modules_of_one_name(run_opt: Run, write: Write, tmp_path: Path) -> None:
    program = write(module("one") + module("One.csl"))
    one_error(run_opt(program, "-t", "csl"), "csl.module 'One.csl' cannot be a file, as its name is that of another")


def test_a_string_that_begins_a_file(run_opt: Run, write: Write, tmp_path: Path) -> None:
    body = '%s = "csl.const_str"() <{value = "a\\0A// FILE: layout.csl\\0Ab"}> : () -> !csl.comptime_string'
    outcome = run_opt(write(module("good", body)), "-t", "csl", "-o", f"{tmp_path}/out/")
    one_error(outcome, "program.mlir:1:1: error: csl.module 'good' has a line that begins another file, '// FILE: '")
    assert not (tmp_path / "out").exists()


def test_files_of_xdsl_are_csl(run_opt: Run, write: Write, tmp_path: Path) -> None:
    assert run_opt(write(module("one") + module("two.csl")), "-t", "csl", "-o", f"{tmp_path}/out/").status == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["one.csl", "two.csl"]


def test_names_of_pes_stay_in_the_directory(run_opt: Run, write: Write, tmp_path: Path) -> None:
    text = PROGRAM.replace("@left", '@"../../x"').replace("@right", '@"/a\\0A"')
    assert run_opt(write(text), "-t", "csl", "-o", f"{tmp_path}/out/").status == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["______x.csl", "_a_.csl", "layout.csl"]
    for name, problem in (("n" * 201, "is longer than 200 characters"), ("nul", "is that of a device")):
        outcome = run_opt(write(PROGRAM.replace("@left", f"@{name}")), "-t", "csl", "-o", f"{tmp_path}/out/")
        one_error(outcome, f"program.mlir:2:3: error: @{name} cannot be a file, as its name {problem}")


@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "directory"])
def test_what_is_in_the_way_is_not_followed(run_opt: Run, write: Write, tmp_path: Path, kind: str) -> None:
    victim, directory = tmp_path / "victim", tmp_path / "out"
    directory.mkdir()
    place = directory / "left.csl"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "directory":
        place.mkdir()
    else:
        place.symlink_to(victim)
    if kind == "link":
        victim.write_text("of somebody else")
    outcome = run_opt(write(PROGRAM), "-t", "csl", "-o", directory)
    what = {"pipe": "not a file", "directory": "not a file"}.get(kind, "a link")
    one_error(outcome, f"{place}: error: exists and is {what}; remove it, or name another output")
    assert victim.exists() == (kind == "link") and [path.name for path in directory.iterdir()] == ["left.csl"]
    if kind == "link":
        assert victim.read_text() == "of somebody else"


def test_a_directory_that_is_a_link_is_the_choice_of_the_user(run_opt: Run, write: Write, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    assert run_opt(write(PROGRAM), "-t", "csl", "-o", tmp_path / "out").status == 0
    assert (tmp_path / "real" / "left.csl").is_file()


@pytest.mark.parametrize("sides", ["2 x 9223372036854775807", "4611686018427387904 x 4611686018427387904", "763 x 1"])
@pytest.mark.parametrize("arguments", [("-t", "csl"), ("-p", "lower-to-flow")])
def test_rectangles_larger_than_the_machine(run_opt: Run, write: Write, sides: str, arguments: tuple[str, str]) -> None:
    outcome = run_opt(write(PROGRAM.replace("2 x 1", sides)), *arguments)
    one_error(
        outcome, f"program.mlir:1:1: error: the rectangle is {sides} PEs, but wse3 has 762 x 1172; make it smaller"
    )
