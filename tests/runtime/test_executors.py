"""Executors by name, and what they say of programs that they cannot run."""

from __future__ import annotations

import pytest

from loomir.diagnostics.errors import LoomError
from loomir.host import machines
from loomir.runtime import Machine, executors

from .flow_modules import parse

EMPTY = 'flow.fabric @test target "wse3" grid 2 by 1 { flow.units @u on [:, :] words 8 {} }'


def test_an_unknown_executor() -> None:
    with pytest.raises(LoomError, match=r"there is no executor 'looms'; the executors are: .*warps"):
        Machine(parse(EMPTY), executor="looms")


def test_an_unknown_executor_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(executors.EXECUTOR, "looms")
    with pytest.raises(LoomError, match=r"LOOM_EXECUTOR is 'looms'; the executors are: .*warps"):
        Machine(parse(EMPTY))


def test_the_name_counts_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(executors.EXECUTOR, "looms")
    assert Machine(parse(EMPTY), executor="warps").executor_name == "warps"


def test_any_executor_is_the_core_where_that_can_run_the_program() -> None:
    route = "flow.color @c = 1 flow.route @c on [0, :] from [ramp] to [ramp] switch [to []]"
    switches = EMPTY.replace("flow.units", f"{route} flow.units")
    for text, wanted in ((EMPTY, "core"), (switches, "warps")):
        machine = machines.load(parse(text), executor=executors.AUTO)
        assert machine.executor_name == wanted


@pytest.mark.parametrize("name", executors.EXECUTORS)
def test_a_program_that_it_cannot_run(name: str) -> None:
    with pytest.raises(LoomError, match=rf"the executor '{name}' runs .*, not int"):
        Machine(3, executor=name)


@pytest.mark.parametrize("name", executors.EXECUTORS)
def test_an_option_that_it_does_not_have(name: str) -> None:
    with pytest.raises(LoomError, match=rf"the executor '{name}' has no option 'speed'"):
        Machine(parse(EMPTY), executor=name, speed=2)
