"""Runs the tools inside the test process: a subprocess would cost half a second each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from loomir.tools import loom, loom_opt


class Outcome(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def run_loom(capfd: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: object) -> Outcome:
        try:
            status = loom.main([str(argument) for argument in arguments])
        except SystemExit as exit:
            assert isinstance(exit.code, int)
            status = exit.code
        captured = capfd.readouterr()
        return Outcome(status, captured.out, captured.err)

    return run


@pytest.fixture
def run_opt(capfd: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: object) -> Outcome:
        status = 0
        try:
            loom_opt.main([str(argument) for argument in arguments])
        except SystemExit as exit:
            status = exit.code if isinstance(exit.code, int) else 0
        captured = capfd.readouterr()
        return Outcome(status, captured.out, captured.err)

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Write IR text to a file of its own."""

    def write(text: str) -> Path:
        path = tmp_path / "program.mlir"
        path.write_text(text)
        return path

    return write


def one_error(outcome: Outcome, *parts: str) -> None:
    """Assert that the outcome is a failure of one line with all of `parts`."""
    assert outcome.status == 1
    lines = outcome.err.splitlines()
    assert len(lines) == 1, outcome.err
    assert "error: " in lines[0] or json.loads(lines[0])["severity"] == "error"
    assert "Traceback" not in lines[0] and "internal error" not in lines[0]
    for part in parts:
        assert part in lines[0], f"{part!r} is not in {lines[0]!r}"
