"""The example programs: as a user runs them, and with many options in this process; each checks its own result."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

LISTS = {
    EXAMPLES: ("*/run.py", r"^\*\*(\w+)\*\*"),
    EXAMPLES / "csl": ("*/run.py", r"\b(\w+)(?=,| \|)"),
    EXAMPLES / "layouts": ("*/run.py", r"\b(\w+)(?=,| \|)"),
    EXAMPLES / "pto": ("*.pto", r"^\| `(\w+)\.pto`"),
    EXAMPLES / "pto" / "hazards": ("*.pto", r"^\| `(\w+)\.pto`"),
}
"""Each folder of examples: its examples, and how the README names them."""


@dataclass
class Outcome:
    returncode: int
    stdout: str
    stderr: str


def run(name: str, *arguments: str) -> Outcome:
    script = str(EXAMPLES / name / "run.py")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        patch.setattr(sys, "argv", [script, *arguments])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(script, run_name="__main__")
    status = ended.value.code
    assert isinstance(status, int)
    return Outcome(status, out.getvalue(), err.getvalue())


def run_as_a_command(name: str) -> Outcome:
    command = [sys.executable, str(EXAMPLES / name / "run.py")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return Outcome(result.returncode, result.stdout, result.stderr)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "run"), [("gemv", run), ("gemv_grid", run), ("stencil", run_as_a_command)])
def test_runs_without_options(name: str, run: Callable[[str], Outcome]) -> None:
    result = run(name)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "NO" not in result.stdout
    assert "yes" in result.stdout


# One PE, a row, a column, and all four parities of corners.
@pytest.mark.slow
@pytest.mark.parametrize("size", [(1, 1), (7, 1), (1, 6), (2, 2), (3, 2), (2, 3), (5, 5)])
def test_stencil_on_any_grid(size: tuple[int, int]) -> None:
    width, height = map(str, size)
    result = run("stencil", "--width", width, "--height", height, "--depth", "3", "--iterations", "5")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("iterations", ["0", "1"])
def test_stencil_for_few_iterations(iterations: str) -> None:
    result = run("stencil", "--iterations", iterations, "--depth", "1")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
def test_stencil_too_deep_for_a_pe() -> None:
    result = run("stencil", "--depth", "3000")
    assert result.returncode == 1
    assert result.stdout == ""
    assert re.search(r"49,152: @u 24,016 \(.*?\), @from_west 12,000 \(", result.stderr)
    assert "Traceback" not in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("side", "size", "most"), [("width", 0, 762), ("width", 763, 762), ("height", 1173, 1172)])
def test_size_out_of_range(side: str, size: int, most: int) -> None:
    result = run("stencil", f"--{side}", str(size))
    assert result.returncode == 2
    assert f"argument --{side}: {size} is not between 1 and {most}" in result.stderr


@pytest.mark.parametrize("folder", LISTS, ids=lambda folder: folder.name)
def test_readme_lists_every_example(folder: Path) -> None:
    pattern, listed = LISTS[folder]
    names = {path.parent.name if path.name == "run.py" else path.stem for path in folder.glob(pattern)}
    readme = (folder if folder.name != "hazards" else folder.parent) / "README.md"
    assert names and names <= set(re.findall(listed, readme.read_text(), re.MULTILINE))
