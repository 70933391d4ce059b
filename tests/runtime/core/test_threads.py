"""Threads: programs give the same on any number of them, with borders of partitions everywhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import loomir
from loomir import LoomError
from loomir.diagnostics import limits
from loomir.host import machines
from loomir.runtime import Deadlock, executors

from ...searches import examples
from ..agreement import Way, differences, outcome
from ..flow_modules import parse
from ..random_programs import RandomProgram, random_exchange
from ..test_agreement import PROGRAMS

COUNTS = (2, 3, 7)
"""Threads; a small grid has as many partitions, of single rows or columns at most."""

ONE = Way("core", (("threads", 1),))
SEVERAL = [Way("core", (("threads", count), ("parallel_from", 0))) for count in COUNTS]
"""Without traces, for which there is one partition."""


def disagreements(program: RandomProgram) -> list[str]:
    first = outcome(program, ONE)
    return [f"{way}: {line}" for way in SEVERAL for line in differences(first, outcome(program, way))]


@pytest.mark.slow
@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.too_slow])
@given(PROGRAMS)
def test_random_programs(program: RandomProgram) -> None:
    """Memory, clocks, counts, findings, words for the host and errors are the same."""
    assert disagreements(program) == []


@pytest.mark.thorough
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(PROGRAMS)
def test_many_random_programs(program: RandomProgram) -> None:
    assert disagreements(program) == []


def stencil_example() -> ModuleType:
    path = Path(__file__).resolve().parents[3] / "examples" / "stencil" / "run.py"
    spec = importlib.util.spec_from_file_location("stencil_example", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("width, height", [(24, 40), (40, 24)])
def test_stencil(width: int, height: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads compute what numpy does, in as many cycles as one does, and count the same."""
    monkeypatch.setenv(executors.EXECUTOR, "core")
    stencil = stencil_example()
    program = loomir.compile(stencil.program_text(16), rectangle=(width, height))
    field = np.random.default_rng(0).random((height, width, 16), np.float32)
    expected = stencil.reference(field, 6)
    statistics: list[dict[str, Any]] = []
    for threads in (1, 2):
        simulator = loomir.Simulator(program, counts=True, threads=threads)
        simulator.set("u", np.pad(field[:, :, None, :], ((0, 0), (0, 0), (0, 1), (1, 1))))
        simulator.launch("main", 6)
        assert np.array_equal(simulator.get("u")[:, :, 0, 1:-1], expected)
        statistics.append(simulator.stats())
    assert statistics[0] == statistics[1]


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", "100000"])
def test_environment_that_is_no_number_of_threads(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limits.THREADS, text)
    with pytest.raises(LoomError, match=f"LOOM_THREADS is '{text}'; give a number of threads from 1 to 1024"):
        machines.load(parse(random_exchange(Random(0)).text), executor="core")


@pytest.mark.parametrize("threads", [0, -3, "two", 100_000])
def test_argument_that_is_no_number_of_threads(threads: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    program = loomir.compile(stencil_example().program_text(16), rectangle=(2, 2))
    with pytest.raises(LoomError, match=re.escape(f"{threads!r} is not a number of threads; give 1 to 1024, or none")):
        loomir.Simulator(program, threads=threads)


WAITS_AT_THE_END = """flow.fabric @waits target "wse3" grid 40 by 1 {
  flow.color @c = 3
  flow.route @c on [:39, :] from [west, ramp] to [east]
  flow.route @c on [39, :] from [west] to [ramp]
  flow.units @reader on [39, :] words 64 {
    flow.buffer @sum at 0 : memref<f32>
    flow.export @main as "main"
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.func @main() {
      %to = flow.stream @sum at 0 strides [0] extents [4] : !flow.stream<f32>
      %i = flow.queue_stream @in extent 4 : !flow.stream<f32>
      flow.apply fadds %to, %to, %i : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>
      flow.return
    }
  }
  flow.units @sender on [:39, :] words 64 {
    flow.export @main as "main"
    flow.func @main() {
      flow.return
    }
  }
}"""


@pytest.mark.parametrize("threads", [1, *COUNTS])
def test_hangs_of_all_partitions_are_reported(threads: int) -> None:
    machine = machines.load(parse(WAITS_AT_THE_END), executor="core", threads=threads)
    machine.launch("main", [])
    with pytest.raises(Deadlock):
        machine.run()
