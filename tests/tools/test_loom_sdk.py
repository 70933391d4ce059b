"""loom sdk: shell scripts written for the SDK, one by one and as a suite."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from loomir.tools import sdk_suite

from .conftest import Run, one_error

Program = Callable[..., Path]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Writes a program's scripts below a directory named suite."""

    def program(name: str, run: str, scripts: tuple[str, ...] = ("commands_wse2.sh",), **files: str) -> Path:
        folder = tmp_path / "suite" / name
        folder.mkdir(parents=True)
        for script in scripts:
            (folder / script).write_text("#!/usr/bin/env bash\nset -e\ncs_python run.py --name out\n")
        (folder / "run.py").write_text(run)
        for file, text in files.items():
            (folder / file.replace("__", ".")).write_text(text)
        return folder

    return program


@pytest.mark.slow
def test_script(run_loom: Run, program: Program, tmp_path: Path) -> None:
    """A script runs in its own folder, with the commands on PATH and its status as ours."""
    folder = program("one", "import os, sys\nprint(os.getcwd(), sys.argv)\nopen('made', 'w')\n")
    (folder / "other.sh").write_text('cs_python run.py "$@"\nexit 7\n')
    outcome = run_loom("sdk", folder / "commands_wse2.sh")
    assert (outcome.status, outcome.out) == (0, f"{folder} ['run.py', '--name', 'out']\n")
    assert (folder / "made").exists()
    outcome = run_loom("sdk", folder / "other.sh", "--flag", "a b")
    assert (outcome.status, outcome.out) == (7, f"{folder} ['run.py', '--flag', 'a b']\n")


@pytest.mark.slow
def test_interpreter_line(run_loom: Run, program: Program) -> None:
    """run.py can be run by its first line, and the compiler is found too."""
    folder = program("one", "#!/usr/bin/env cs_python\nimport numpy\nprint('ran')\n")
    (folder / "run.py").chmod(0o755)
    (folder / "own.sh").write_text("#!/bin/sh\n./run.py\ncslc --help | head -1\n")
    outcome = run_loom("sdk", folder / "own.sh")
    assert outcome.status == 0 and outcome.out.startswith("ran\nusage: loom cslc ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no script is named; give one, or --suite DIR"),
        (["missing.sh"], "missing.sh: error: does not exist; name a shell script"),
        (["--arch", "wse2"], "--arch needs --suite"),
        (["--suite", "missing"], "missing: error: does not exist; give a directory with commands_*.sh below it"),
        (["--suite", ".", "--arch", "wse9"], "invalid choice: 'wse9'"),
        (["--suite", "."], ".: error: contains no commands_*.sh; give a directory of programs"),
        (["--suite", ".", "-j", "0"], "'0' is not a number above 0"),
        (["--suite", ".", "--time-limit", "x"], "'x' is not a number of seconds above 0"),
        (["--suit", "."], "unrecognized arguments: --suit; did you mean --suite?"),
    ],
)
def test_wrong_arguments(
    run_loom: Run, arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    one_error(run_loom("sdk", *arguments), message)


@pytest.mark.slow
def test_suite(run_loom: Run, program: Program, tmp_path: Path) -> None:
    """Every script runs in a copy; the table and the file say how each went; failures make the status 1."""
    both = ("commands_wse2.sh", "commands_wse3.sh")
    program("a/good", "open('out', 'x').write('x')\n", both)
    program("a/bad", "import numpy as np\nnp.testing.assert_equal(1, 2)\n")
    program("b/wrong", "from cerebras.sdk.runtime.sdkruntimepybind import SdkRuntime\nSdkRuntime('nowhere')\n")
    program("b/quiet", "raise SystemExit(5)\n")
    program("b/not_one", "", ("run.sh",))
    results = tmp_path / "results.json"
    before = sorted(path for path in tmp_path.rglob("*"))
    outcome = run_loom("sdk", "--suite", tmp_path / "suite", "--json", results, "-j", "2")
    assert outcome.status == 1
    assert sorted(path for path in tmp_path.rglob("*")) == sorted([*before, results])
    found = {(entry["program"], entry["script"]): entry for entry in json.loads(results.read_text())}
    assert set(found) == {
        ("a/bad", "commands_wse2.sh"),
        ("a/good", "commands_wse2.sh"),
        ("a/good", "commands_wse3.sh"),
        ("b/quiet", "commands_wse2.sh"),
        ("b/wrong", "commands_wse2.sh"),
    }
    assert [found["a/good", script]["passed"] for script in both] == [True, True]
    assert all(entry["seconds"] > 0 for entry in found.values())
    errors = {program: entry["error"] for (program, _), entry in found.items() if not entry["passed"]}
    assert errors["a/bad"].startswith("AssertionError")
    assert errors["b/wrong"] == "nowhere: error: does not exist; give the output directory of loom cslc"
    assert errors["b/quiet"] == "exits with status 5"
    assert "2 of 5 pass" in outcome.out
    for line in outcome.out.splitlines()[1:-1]:
        assert ("pass" in line) == ("a/good" in line)


@pytest.mark.slow
def test_suite_of_one_architecture(run_loom: Run, program: Program, tmp_path: Path) -> None:
    program("good", "", ("commands_wse2.sh", "commands_wse3.sh"))
    program("other", "", ("commands_wse2.sh",))
    outcome = run_loom("sdk", "--suite", tmp_path / "suite", "--arch", "wse3")
    assert (outcome.status, outcome.out.splitlines()[-1][:13]) == (0, "1 of 1 pass, ")
    outcome = run_loom("sdk", "--suite", tmp_path / "suite", "--only", "other")
    assert outcome.status == 0 and "other" in outcome.out and "good" not in outcome.out


@pytest.mark.slow
def test_time_limit(run_loom: Run, program: Program, tmp_path: Path) -> None:
    """A program that takes too long fails, and what it has started ends with it."""
    folder = program("slow", "import subprocess\nsubprocess.run(['sleep', '60'])\n")
    (folder / "commands_wse2.sh").write_text("echo started\nsleep 60\n")
    start = time.perf_counter()
    outcome = run_loom("sdk", "--suite", tmp_path / "suite", "--time-limit", "0.5")
    assert time.perf_counter() - start < 20
    assert outcome.status == 1 and "takes longer than 0.5 s" in outcome.out


@pytest.mark.slow
def test_imports_from_outside(run_loom: Run, program: Program, tmp_path: Path) -> None:
    """Folders that CSL files import from above the suite are copied along, at the same distance."""
    library = tmp_path / "libraries" / "sum"
    library.mkdir(parents=True)
    (library / "pe.csl").write_text('const more = @import_module("../../more/more.csl");\n')
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "more.csl").write_text("\n")
    (tmp_path / "unrelated").mkdir()
    text = 'const sum = @import_module("../../libraries/sum/pe.csl");\n'
    check = (
        "import os\nassert os.path.exists('../../libraries/sum/pe.csl') and os.path.exists('../../more/more.csl')\n"
        "assert not os.path.exists('../../unrelated')\nopen('../../libraries/sum/written', 'w')\n"
    )
    program("user", check, layout__csl=text)
    outcome = run_loom("sdk", "--suite", tmp_path / "suite")
    assert outcome.status == 0, outcome.out
    assert not (library / "written").exists()
    assert sdk_suite.imported_folders(tmp_path / "suite") == [library, tmp_path / "more"]


@pytest.mark.slow
def test_left_overs_are_not_copied(run_loom: Run, program: Program, tmp_path: Path) -> None:
    folder = program("good", "import os\nassert sorted(os.listdir('..')) == ['good'], os.listdir('..')\n")
    (tmp_path / "suite" / ".git").mkdir()
    (folder / "__pycache__").mkdir()
    assert run_loom("sdk", "--suite", tmp_path / "suite").status == 0
    shutil.rmtree(tmp_path / "suite" / ".git")


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("fine\n", "fine"),
        ("", ""),
        ("a\nx.csl:3:1: error: wrong\n  var\n", "x.csl:3:1: error: wrong"),
        ("Traceback (most recent call last):\n  File\n    raise E\nValueError: no\nmore\n", "ValueError: no"),
        ("error: first\nTraceback (most recent call last):\nValueError: no\n", "error: first"),
        ("the largest error: 0.1\nTraceback (most recent call last):\nKeyError: 'k'\n", "KeyError: 'k'"),
    ],
)
def test_first_error(output: str, line: str) -> None:
    assert sdk_suite.first_error(output) == line
