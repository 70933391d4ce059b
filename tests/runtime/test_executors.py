"""Executors by name, and what they say of programs that they cannot run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from loomir.backend.tables import assemble
from loomir.diagnostics.errors import LoomError
from loomir.dialects import flow
from loomir.host import machines
from loomir.runtime import Machine, executors
from loomir.runtime.core import compile_core, library
from loomir.runtime.tables.format import Tables

from .flow_modules import parse

EMPTY = 'flow.fabric @test target "wse3" grid 2 by 1 { flow.units @u on [:, :] words 8 {} }'


def tables_of(text: str) -> Tables:
    return assemble(next(op for op in parse(text).walk() if isinstance(op, flow.FabricOp)))


def test_an_unknown_executor() -> None:
    with pytest.raises(LoomError, match=r"'looms' is not an executor; the executors are: .*warps"):
        Machine(parse(EMPTY), executor="looms")


def test_an_unknown_executor_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(executors.EXECUTOR, "looms")
    with pytest.raises(LoomError, match=r"LOOM_EXECUTOR is 'looms'; the executors are: .*warps"):
        Machine(parse(EMPTY))


def test_the_name_counts_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(executors.EXECUTOR, "looms")
    assert Machine(parse(EMPTY), executor="warps").executor_name == "warps"


def test_any_executor_is_the_core_where_that_can_run_the_program() -> None:
    masks = """flow.task local @t id 9 { %mask = arith.constant 0 : i16
      flow.set_exception_mask %mask flow.return }"""
    for text, wanted in ((EMPTY, "core"), (EMPTY.replace("words 8 {", "words 8 {" + masks), "warps")):
        machine = machines.load(parse(text), executor=executors.AUTO)
        assert machine.executor_name == wanted


@pytest.fixture
def without_core(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """An installation that has no core."""
    monkeypatch.setenv("LOOM_CORE_LIBRARY", str(tmp_path / "none.so"))
    monkeypatch.setenv(executors.EXECUTOR, executors.AUTO)
    executors.has_core.cache_clear()
    library.load.cache_clear()
    yield
    executors.has_core.cache_clear()
    library.load.cache_clear()


@pytest.mark.usefixtures("without_core")
def test_any_executor_is_the_reference_where_the_core_is_not_installed(capfd: pytest.CaptureFixture[str]) -> None:
    """One line says so at the first run."""
    wide = EMPTY.replace("2 by 1", f"{executors.MAX_UNITS_OF_REFERENCE + 1} by 1")
    for text, wanted in ((EMPTY, "reference"), (EMPTY, "reference"), (wide, "warps")):
        assert machines.load(parse(text)).executor_name == wanted
    assert Machine(tables_of(EMPTY)).executor_name == "reference"
    said = capfd.readouterr().err
    assert re.fullmatch("note: the engine's core is not installed; `pip install .*` .* run slowly\n", said), said


@pytest.mark.usefixtures("without_core")
def test_the_core_by_name_where_it_is_not_installed() -> None:
    with pytest.raises(LoomError, match=r"the engine's core is not installed; `pip install .*`, builds it"):
        machines.load(parse(EMPTY), executor="core")


def test_a_core_of_other_sources_is_not_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, without_core: None
) -> None:
    """What is installed and does not fit is one error, and not a slower executor."""
    file = tmp_path / compile_core.LIBRARY
    file.write_bytes(b"not a library")
    monkeypatch.setenv("LOOM_CORE_LIBRARY", str(file))
    with pytest.raises(LoomError, match=r"the engine's core cannot be loaded; `pip install .*`, builds it again"):
        machines.load(parse(EMPTY))


@pytest.mark.parametrize("name", executors.EXECUTORS)
def test_a_program_that_it_cannot_run(name: str) -> None:
    with pytest.raises(LoomError, match=rf"the executor '{name}' runs .*, not int"):
        Machine(3, executor=name)


@pytest.mark.parametrize("name", executors.EXECUTORS)
def test_an_option_that_it_does_not_have(name: str) -> None:
    with pytest.raises(LoomError, match=rf"the executor '{name}' has no option 'speed'"):
        Machine(parse(EMPTY), executor=name, speed=2)
