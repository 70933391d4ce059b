"""The layouts under examples/layouts, each run as its commands_*.sh says, in this process."""

from __future__ import annotations

import ast
import shlex
import shutil
from pathlib import Path

import pytest

from loomir.tools import python

EXAMPLES = Path(__file__).parents[2] / "examples" / "layouts"
PROGRAMS = sorted(path.parent.name for path in EXAMPLES.glob("*/run.py"))
ARCHITECTURES = ("wse2", "wse3")


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_runs(
    name: str, arch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder, ignore=shutil.ignore_patterns("out"))
    monkeypatch.chdir(folder)
    lines = [shlex.split(line, comments=True) for line in (folder / f"commands_{arch}.sh").read_text().splitlines()]
    commands = [line for line in lines if line and line != ["set", "-e"]]
    assert commands == [["cs_python", "run.py", f"--arch={arch}"]]
    assert python.main(commands[0][1:]) == 0, capfd.readouterr().err
    outcome = capfd.readouterr()
    assert outcome.out.endswith("SUCCESS!\n")
    assert "warning" not in outcome.err


@pytest.mark.parametrize("name", PROGRAMS)
def test_says_what_it_shows(name: str) -> None:
    assert ast.get_docstring(ast.parse((EXAMPLES / name / "run.py").read_text()))
    for program in (EXAMPLES / name).glob("*.csl"):
        assert program.read_text().startswith("// "), f"{program} begins with what it is for"


@pytest.mark.parametrize("name", PROGRAMS)
def test_scripts_can_be_executed(name: str) -> None:
    assert all((EXAMPLES / name / f"commands_{arch}.sh").stat().st_mode & 0o111 for arch in ARCHITECTURES)
