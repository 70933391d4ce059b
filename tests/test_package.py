"""The package: what is installed, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import loomir

ROOT = Path(__file__).resolve().parents[1]
NOT_INSTALLED = {"bench", "build", "docs", "examples", "lit_tests", "tests", "typings"}


@pytest.mark.slow
def test_every_package_folder_is_installed() -> None:
    folders = [path.parent.relative_to(ROOT) for path in ROOT.rglob("__init__.py")]
    packages = {
        ".".join(("loomir", *folder.parts))
        for folder in folders
        if not folder.parts or not (folder.parts[0] in NOT_INSTALLED or folder.parts[0].startswith("."))
    }
    code = "import setuptools; setuptools.setup = lambda packages: print(*packages); exec(open('setup.py').read())"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert sorted(found.stdout.split()) == sorted(packages)


def test_version_is_stated_alike() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == loomir.__version__


@pytest.mark.parametrize("module", ["loomir", "loomir.tools.loom"])
def test_importing_is_lazy(module: str) -> None:
    code = f"import sys, {module}; print([name for name in ('numpy', 'networkx', 'rich') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.slow
def test_opt_driver_imports_no_engine() -> None:
    code = "import sys, loomir.tools.loom_opt; print([name for name in ('numpy', 'networkx') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_names_of_the_package() -> None:
    for name in loomir.__all__:
        assert getattr(loomir, name).__name__.split(".")[-1] == name
    assert set(loomir.__all__) <= set(dir(loomir))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = loomir.nonsense  # pyright: ignore[reportAttributeAccessIssue]
