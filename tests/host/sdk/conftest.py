"""Artifacts to run, and a directory of its own for what runs leave behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copytree

import pytest

from loomir.host.sdk import runtime as runtime_module
from loomir.host.sdk.runtime import SdkRuntime

from .programs import write_grid


@pytest.fixture(scope="session")
def compiled_grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_grid(tmp_path_factory.mktemp("grid") / "out")


@pytest.fixture
def grid(compiled_grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An artifact of `programs.GRID`; the working directory is a fresh one."""
    monkeypatch.chdir(tmp_path)
    return Path(copytree(compiled_grid, tmp_path / "out"))


@pytest.fixture
def start(grid: Path) -> Iterator[Callable[[], SdkRuntime]]:
    """Starts runs of the program; those that a test leaves running are forgotten."""

    def start() -> SdkRuntime:
        runtime = SdkRuntime(grid, suppress_simfab_trace=True)
        runtime.load()
        runtime.run()
        return runtime

    yield start
    runtime_module.take_unstopped()


@pytest.fixture
def running(start: Callable[[], SdkRuntime]) -> SdkRuntime:
    """A run of the program, ready for commands."""
    return start()
