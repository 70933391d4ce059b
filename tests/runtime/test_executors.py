"""Executors by name, and what they say of programs that they cannot run."""

from __future__ import annotations

from pathlib import Path

import pytest

from loomir.backend.tables import assemble
from loomir.diagnostics.errors import LoomError
from loomir.dialects import flow
from loomir.host import machines
from loomir.runtime import Machine, executors
from loomir.runtime.tables.format import Tables

from .flow_modules import parse

EMPTY = 'flow.fabric @test target "wse3" grid 2 by 1 { flow.units @u on [:, :] words 8 {} }'


def tables_of(text: str) -> Tables:
    return assemble(next(op for op in parse(text).walk() if isinstance(op, flow.FabricOp)))


def test_an_unknown_executor() -> None:
    with pytest.raises(LoomError, match=r"'looms' is not an executor; the executors are: core, reference"):
        Machine(parse(EMPTY), executor="looms")


def test_an_unknown_executor_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(executors.EXECUTOR, "looms")
    with pytest.raises(LoomError, match=r"LOOM_EXECUTOR is 'looms'; the executors are: core, reference"):
        Machine(tables_of(EMPTY))


def test_the_name_counts_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(executors.EXECUTOR, "looms")
    assert Machine(tables_of(EMPTY), executor="reference").executor_name == "reference"


def test_any_executor_is_the_core() -> None:
    """Also where a program has all that the first core lacked: switches, messages, exceptions."""
    route = "flow.color @c = 1 flow.route @c on [0, :] from [ramp] to [ramp] switch [to []]"
    network = "flow.color @d = 2 flow.message_network @d"
    masks = """flow.task local @t id 9 { %mask = arith.constant 0 : i16
      flow.set_exception_mask %mask flow.return }"""
    everything = EMPTY.replace("words 8 {", "words 8 {" + masks).replace("flow.units", f"{route} {network} flow.units")
    for text in (EMPTY, everything):
        assert machines.load(parse(text), executor=executors.AUTO).executor_name == "core"


@pytest.mark.slow
def test_any_grid_is_the_core() -> None:
    assert machines.load(parse(EMPTY.replace("2 by 1", "750 by 990")), executor="auto").executor_name == "core"


@pytest.fixture
def without_core(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Name a library that is not there."""
    monkeypatch.setenv("LOOM_CORE_LIBRARY", str(tmp_path / "none.so"))
    monkeypatch.delenv(executors.EXECUTOR)
    executors._note_slow.cache_clear()


@pytest.mark.usefixtures("without_core")
def test_small_grids_without_a_core(capsys: pytest.CaptureFixture[str]) -> None:
    """The reference runs them, and one line says what to install."""
    text = EMPTY.replace("2 by 1", "64 by 16")
    assert machines.load(parse(text)).executor_name == "reference"
    assert Machine(tables_of(text)).executor_name == "reference"
    said = capsys.readouterr().err
    assert said.startswith("note: the engine's core is not installed; `pip install ") and said.count("\n") == 1


@pytest.mark.usefixtures("without_core")
def test_large_grids_without_a_core(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = EMPTY.replace("2 by 1", "1025 by 1")
    message = "core is not installed; `pip install .* on up to 1,024 PEs run, and this one is on 1,025; with LOOM_EXEC"
    with pytest.raises(LoomError, match=message):
        machines.load(parse(text))
    with pytest.raises(LoomError, match=message):
        Machine(tables_of(text))
    monkeypatch.setenv(executors.EXECUTOR, "reference")
    assert machines.load(parse(text)).executor_name == "reference"
    assert capsys.readouterr().err == ""


CHIP = """flow.fabric @k target "a5" grid 1 by 2 {
  flow.units @core on [0, :] words 16 { flow.func @main { flow.return } flow.export @main as "main" }
}"""


@pytest.mark.parametrize("executor", ["auto", "core", "reference"])
def test_a_program_of_a_chip(executor: str) -> None:
    machine = machines.load(parse(CHIP), executor=executor)
    assert machine.executor_name == ("core" if executor == "auto" else executor)
    machine.launch("main")
    machine.run()
    assert machine.statistics()["task_runs"] == 2


@pytest.mark.usefixtures("without_core")
def test_a_program_of_a_chip_without_a_core() -> None:
    assert machines.load(parse(CHIP)).executor_name == "reference"


def test_an_executor_that_there_is_not() -> None:
    with pytest.raises(LoomError, match="'warps' is not an executor; the executors are: core, reference"):
        Machine(tables_of(CHIP), executor="warps")


@pytest.mark.parametrize("name", executors.EXECUTORS)
def test_a_program_that_it_cannot_run(name: str) -> None:
    with pytest.raises(LoomError, match=rf"the executor '{name}' runs .*, not int"):
        Machine(3, executor=name)


@pytest.mark.parametrize("name", executors.EXECUTORS)
@pytest.mark.parametrize("text", [EMPTY, CHIP])
def test_an_option_that_it_does_not_have(name: str, text: str) -> None:
    with pytest.raises(LoomError, match=rf"the executor '{name}' has no option 'speed'"):
        Machine(tables_of(text), executor=name, speed=2)
