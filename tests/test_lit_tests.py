"""The test format of lit_tests, which runs the tools in lit's processes: what it passes and what it fails."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LIT_TESTS = Path(__file__).parents[1] / "lit_tests"
RIGHT = 'builtin.module attributes {name = "right"} {}\n'
TESTS = {
    "matches": "// RUN: loom-opt %s | loom-opt | filecheck %s\n// CHECK: right\n" + RIGHT,
    "differs": "// RUN: loom-opt %s | loom-opt | filecheck %s\n// CHECK: wrong\n" + RIGHT,
    "second_differs": "// RUN: loom-opt %s | filecheck %s\n// RUN: loom-opt %s | filecheck %s --check-prefix=SECOND\n"
    "// CHECK: right\n// SECOND: wrong\n" + RIGHT,
    "ends_with_status_1": "// RUN: loom-opt %s 2>&1 | filecheck %s\n// CHECK: error: {{.*}}\nbuiltin.module\n",
    "error_is_expected": "// RUN: not loom-opt %s 2>&1 | filecheck %s\n// CHECK: error: {{.*}}\nbuiltin.module\n",
    "no_error_where_expected": "// RUN: not loom-opt %s | filecheck %s\n// CHECK: right\n" + RIGHT,
    "stderr_is_not_checked": "// RUN: not loom-opt %s | filecheck %s\n// CHECK: error: {{.*}}\nbuiltin.module\n",
    "other_commands_pass": "// RUN: cat %s | filecheck %s\n// CHECK: right\n" + RIGHT,
    "other_commands_fail": "// RUN: loom-opt %s && false\n" + RIGHT,
    "no_run_line": RIGHT,
}


@pytest.mark.slow
def test_in_process_tests(tmp_path: Path) -> None:
    for name in ("lit.cfg.py", "in_process.py"):
        shutil.copy(LIT_TESTS / name, tmp_path)
    for name, text in TESTS.items():
        (tmp_path / f"{name}.mlir").write_text(text)
    lit = Path(sys.executable).with_name("lit")
    done = subprocess.run([lit, "-a", "-j", "1", tmp_path], capture_output=True, text=True, check=False)
    passed = {line.split()[3].removesuffix(".mlir") for line in done.stdout.splitlines() if line.startswith("PASS: ")}
    assert passed == {"matches", "error_is_expected", "other_commands_pass"}, done.stdout + done.stderr
    assert "Couldn't match" in done.stdout


def test_wrong_programs_are_in_files_of_their_own() -> None:
    found = [path for path in LIT_TESTS.rglob("*.mlir") if "CHECK: error" in path.read_text(encoding="utf-8")]
    assert [str(path) for path in found if not path.name.startswith("bad_")] == []
