"""The package: what is installed, and what importing it costs."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import loomir

ROOT = Path(__file__).resolve().parents[1]
NOT_INSTALLED = {"bench", "build", "docs", "examples", "lit_tests", "setup.py", "tests", "typings"}


@pytest.mark.slow
def test_modules_and_libraries_are_installed(tmp_path: Path) -> None:
    expected = {
        path.relative_to(ROOT)
        for pattern in ("*.py", "*.csl", "*.[ch]", "py.typed")
        for path in ROOT.rglob(pattern)
        if not (path.relative_to(ROOT).parts[0] in NOT_INSTALLED or path.relative_to(ROOT).parts[0].startswith("."))
    }
    # The name of the script is that of whatever builds the package.
    names = {"__file__": "setup.py", "__name__": "__main__"}
    code = f"import sys; sys.argv[0] = 'builder'; exec(open('setup.py').read(), {names})"
    arguments = ["-q", "build_py", "--build-lib", str(tmp_path)]
    without_core = {**os.environ, "LOOM_CORE": "none"}
    subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, check=True, env=without_core
    )  # fmt: skip
    installed = {path.relative_to(tmp_path / "loomir") for path in tmp_path.rglob("*") if path.is_file()}
    assert installed == expected


def test_version_is_stated_alike() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == loomir.__version__


@pytest.mark.slow
@pytest.mark.parametrize("module", ["loomir", "loomir.tools.loom"])
def test_importing_is_lazy(module: str) -> None:
    code = f"import sys, {module}; print([name for name in ('numpy', 'networkx', 'rich') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.slow
def test_opt_driver_imports_no_engine() -> None:
    code = "import sys, loomir.tools.loom_opt; print([name for name in ('numpy', 'networkx') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.slow
def test_checks_of_pto_import_no_dialect_that_few_kernels_have() -> None:
    names = "('xdsl.dialects.llvm', 'networkx')"
    code = f"import sys, loomir.host.pto_check; print([name for name in {names} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_names_of_the_package() -> None:
    for name in loomir.__all__:
        assert getattr(loomir, name).__name__.split(".")[-1] == name
    assert set(loomir.__all__) <= set(dir(loomir))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = loomir.nonsense  # pyright: ignore[reportAttributeAccessIssue]
