"""Building and loading the core's library: what is missing or does not fit gives one error."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from loomir.diagnostics.errors import LoomError
from loomir.runtime.core import compile_core, library


def compile_into(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the script that builds the library, in an environment of its own."""
    command = [sys.executable, str(compile_core.FOLDER / "compile_core.py"), "--into", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_the_library_is_of_these_sources() -> None:
    assert library.load().loom_sources().decode() == compile_core.source_hash()
    assert compile_core.is_current(library.path())


def test_a_library_of_other_sources_is_refused(tmp_path: Path) -> None:
    other = tmp_path / compile_core.LIBRARY
    own = compile_core.source_hash().encode()
    other.write_bytes(library.path().read_bytes().replace(own, b"0" * len(own)))
    assert not compile_core.is_current(other)
    with pytest.raises(LoomError, match=r"of other sources \(00000000\) than those beside it .*; .* builds it again"):
        library.open_library(other)


@pytest.mark.parametrize(("content", "message"), [(None, "is not installed"), (b"text", "cannot be loaded")])
def test_a_missing_or_damaged_library(tmp_path: Path, content: bytes | None, message: str) -> None:
    file = tmp_path / compile_core.LIBRARY
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(LoomError, match=f"the engine's core {message}; .* builds it"):
        library.open_library(file)


def test_sources_that_change_change_the_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = compile_core.source_hash()
    for path in compile_core.sources():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(compile_core, "FOLDER", tmp_path)
    assert compile_core.source_hash.__wrapped__() == own
    (tmp_path / "core.c").write_bytes((tmp_path / "core.c").read_bytes() + b"\n")
    assert compile_core.source_hash.__wrapped__() != own


@pytest.mark.skipif(os.name != "posix", reason="the compilers here are scripts of a shell")
@pytest.mark.parametrize(
    ("script", "environment", "status", "message"),
    [
        (None, {}, 3, "no C compiler was found for the engine's core: install cc, or .* LOOM_CORE=none"),
        (None, {"CC": "cc"}, 1, "the compiler that CC names, 'cc', cannot build a library: 'cc' cannot be started: "),
        ("echo 'error: no room' >&2; exit 1", {"CC": "cc -g"}, 1, "that CC names, 'cc -g', .*: error: no room; unset"),
        ("case $* in *core.c*) echo 'core.c:1:2: error: odd' >&2; exit 4 ;; esac", {}, 1,
         r"the C compiler 'cc' fails on the engine's core: core.c:1:2: error: odd"),
        (None, {"LOOM_CORE": "nothing"}, 1, "LOOM_CORE is 'nothing'; leave it unset to build the core, or .* none"),
        (None, {"LOOM_CORE": "none"}, 0, ""),
    ],
    ids=["none", "absent", "refuses", "fails on the core", "unknown choice", "unwanted"],
)  # fmt: skip
def test_compilers_that_fail(
    tmp_path: Path, script: str | None, environment: dict[str, str], status: int, message: str
) -> None:
    """A core that cannot be built gives one line, and leaves nothing behind."""
    tools, into = tmp_path / "tools", tmp_path / "into"
    tools.mkdir()
    into.mkdir()
    if script is not None:
        (tools / "cc").write_text(f"#!/bin/sh\n{script}\n")
        (tools / "cc").chmod(0o755)
    done = compile_into(into, PATH=str(tools), **environment)
    assert done.returncode == status, done.stderr
    assert re.fullmatch(f"error: .*{message}.*\n" if message else "", done.stderr), done.stderr
    assert list(into.iterdir()) == []
