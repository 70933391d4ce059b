"""The CSL programs under examples/csl, each compiled and run as its commands_*.sh says, in this process.

The scripts are read, not given to a shell: what they run are cslc and cs_python with arguments, nothing else.
"""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from loomir.tools import cslc, python

EXAMPLES = Path(__file__).parents[2] / "examples" / "csl"
PROGRAMS = sorted(path.parent.name for path in EXAMPLES.glob("*/layout.csl"))
ARCHITECTURES = ("wse2", "wse3")
WSE3_ONLY = [name for name in PROGRAMS if not (EXAMPLES / name / "commands_wse2.sh").exists()]
"""Programs that need what WSE-2 does not have."""
FOR_BOTH = [name for name in PROGRAMS if name not in WSE3_ONLY]
LARGE = ("panel_product", "power_iteration", "summa")
"""Programs that take over a second each, for the libraries that they import, which have tests of their own."""
TOOLS = {"cslc": cslc.main, "cs_python": python.main}


def commands(script: Path) -> list[list[str]]:
    """The commands of a script, continued lines joined."""
    text = script.read_text().replace("\\\n", " ")
    lines = [shlex.split(line, comments=True) for line in text.splitlines()]
    return [line for line in lines if line and line != ["set", "-e"]]


def test_there_are_enough() -> None:
    assert len(PROGRAMS) >= 25


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.thorough) if name in LARGE else name for name in FOR_BOTH]
)
def test_runs(
    name: str, arch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    check(name, arch, tmp_path, monkeypatch, capfd)


@pytest.mark.slow
@pytest.mark.parametrize("name", WSE3_ONLY)
def test_runs_on_wse3(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    check(name, "wse3", tmp_path, monkeypatch, capfd)


def check(
    name: str, arch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Run the commands of a program for one architecture."""
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder, ignore=shutil.ignore_patterns("out"))
    monkeypatch.chdir(folder)
    for tool, *arguments in commands(folder / f"commands_{arch}.sh"):
        status = TOOLS[tool](arguments)
        assert status == 0, capfd.readouterr().err
    assert capfd.readouterr().out.endswith("SUCCESS!\n")


@pytest.mark.parametrize("name", PROGRAMS)
def test_says_what_it_shows(name: str) -> None:
    first = (EXAMPLES / name / "layout.csl").read_text().splitlines()[0]
    assert re.match(r"// \S", first), f"{name}/layout.csl begins with a paragraph on what it shows"


@pytest.mark.parametrize("name", WSE3_ONLY)
def test_wse3_alone_has_what_a_program_without_wse2_needs(name: str) -> None:
    assert any('"<message_passing>"' in path.read_text() for path in (EXAMPLES / name).glob("*.csl"))


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", FOR_BOTH)
def test_scripts_differ_in_the_architecture_alone(name: str, arch: str) -> None:
    script = EXAMPLES / name / f"commands_{arch}.sh"
    other = next(each for each in ARCHITECTURES if each != arch)
    assert script.read_text().replace(arch, other) == (EXAMPLES / name / f"commands_{other}.sh").read_text()
    assert script.stat().st_mode & 0o111
