"""Artifacts compiled for an executor that runs tables: they hold them, and a run imports no IR."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from loomir.diagnostics.errors import LoomError
from loomir.host.sdk import artifact
from loomir.runtime.core import compile_core, library
from loomir.runtime.executors import AUTO, EXECUTOR
from loomir.tools import loom

from .programs import write_grid


@pytest.fixture(params=["core", AUTO])
def tables(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An artifact that holds tables; the working directory is a fresh one."""
    monkeypatch.setenv(EXECUTOR, request.param)
    monkeypatch.chdir(tmp_path)
    return write_grid(tmp_path / "out")


def test_tables_are_written_and_read(tables: Path) -> None:
    found = artifact.read_tables(artifact.read(tables))
    assert found is not None
    assert [int(found.sections["program"][side][0]) for side in ("width", "height")] == [3, 2]


def test_a_text_that_was_changed_is_what_runs(tables: Path) -> None:
    text = tables / artifact.FLOW
    text.write_text("// changed\n" + text.read_text())
    assert artifact.read_tables(artifact.read(tables)) is None


def test_tables_that_were_changed(tables: Path) -> None:
    file = tables / artifact.TABLES
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(LoomError, match=r"program\.tables: error: was changed; compile the program again"):
        artifact.read_tables(artifact.read(tables))
    file.unlink()
    with pytest.raises(LoomError, match=r"program\.tables: error: cannot be read .*; compile the program again"):
        artifact.read_tables(artifact.read(tables))


def cut_short(tables: Path) -> None:
    """Cut the file of the tables, and correct its digest."""
    file, description = tables / artifact.TABLES, tables / artifact.LOOM_JSON
    file.write_bytes(file.read_bytes()[:-16])
    found = json.loads(description.read_text())
    found["digests"][artifact.TABLES] = artifact._digest(file.read_bytes())  # pyright: ignore[reportPrivateUsage]
    found["digest"] = artifact._digest_of(found)  # pyright: ignore[reportPrivateUsage]
    description.write_text(json.dumps(found))


def test_tables_that_were_forged(tables: Path) -> None:
    """A digest that fits proves nothing: the file is checked too."""
    cut_short(tables)
    with pytest.raises(LoomError, match=r"program\.tables: error: .*compile the program again"):
        artifact.read_tables(artifact.read(tables))


RUN = """
import sys
import numpy as np
from loomir.host.sdk.modules import install
install()
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime
runner = SdkRuntime("out")
runner.load()
runner.run()
options = dict(streaming=False, data_type=MemcpyDataType.MEMCPY_32BIT, order=MemcpyOrder.ROW_MAJOR, nonblock=False)
real = runner.get_id("real")
runner.memcpy_h2d(real, np.arange(36, dtype=np.float32), 0, 0, 3, 2, 6, **options)
runner.launch("double", nonblock=False)
found = np.zeros(36, np.float32)
runner.memcpy_d2h(found, real, 0, 0, 3, 2, 6, **options)
runner.stop()
print(found.tolist())
useless = (
    "xdsl", "loomir.dialects", "loomir.backend", "loomir.targets.chip", "loomir.host.sdk.layout",
    "loomir.host.sdk.code_regions", "numpy.ma.",
)
print(sorted(name for name in sys.modules if name.startswith(useless)))
"""


@pytest.mark.slow
def test_a_run_imports_no_ir(tables: Path) -> None:
    """Nor chips, nor what makes layouts, nor masked arrays of numpy."""
    if not library.is_named() and not compile_core.is_current(library.path()):
        pytest.skip("the core is not built")
    result = subprocess.run([sys.executable, "-c", RUN], cwd=tables.parent, capture_output=True, text=True)
    assert result.stderr == ""
    values, modules = result.stdout.splitlines()
    assert values == str((2.0 * np.arange(36)).tolist())
    assert modules == "['xdsl', 'xdsl.utils', 'xdsl.utils.exceptions']"


@pytest.mark.slow
def test_a_run_without_the_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference runs the same, and one line says so."""
    monkeypatch.setenv(EXECUTOR, AUTO)
    monkeypatch.setenv("LOOM_CORE_LIBRARY", str(tmp_path / "none.so"))
    write_grid(tmp_path / "out")
    result = subprocess.run([sys.executable, "-c", RUN], cwd=tmp_path, capture_output=True, text=True)
    assert result.stderr.startswith("note: the engine's core is not installed; `pip install ")
    assert result.stderr.count("\n") == 1
    values, modules = result.stdout.splitlines()
    assert values == str((2.0 * np.arange(36)).tolist())
    assert modules == "['xdsl', 'xdsl.utils', 'xdsl.utils.exceptions']"


def test_a_run_of_tables_that_are_cut_short_is_one_error(tables: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cut_short(tables)
    assert loom.main(["python", "-c", RUN]) == 1
    first, *rest = capfd.readouterr().err.splitlines()
    assert re.fullmatch(r"out/program\.tables: error: the tables are cut short: .*; compile the program again", first)
    assert all("note: called from here" in line for line in rest)
