"""Threads: programs give the same on any number of them, with borders of partitions everywhere."""

from __future__ import annotations

import importlib.util
import multiprocessing
import re
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import loomir
from loomir import LoomError
from loomir.diagnostics import limits
from loomir.host import machines
from loomir.runtime import Deadlock, Machine, executors

from ...searches import examples
from ..agreement import Way, differences, outcome
from ..flow_modules import parse
from ..random_faults import random_mistakes
from ..random_programs import RandomProgram, random_exchange
from ..test_agreement import PROGRAMS
from .test_core import RING

COUNTS = (2, 3, 7)
"""Threads; a small grid has as many partitions, of single rows or columns at most."""

ONE = Way("core", (("threads", 1),))
SEVERAL = [Way("core", (("threads", count), ("parallel_from", 0))) for count in COUNTS]
"""Without traces, for which there is one partition."""

MISTAKES = st.integers(0, 2**32 - 1).map(lambda seed: random_mistakes(Random(seed)))


def disagreements(program: RandomProgram, ways: list[Way]) -> list[str]:
    first = outcome(program, ONE)
    return [f"{way}: {line}" for way in ways for line in differences(first, outcome(program, way))]


@pytest.mark.slow
@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.too_slow])
@given(PROGRAMS)
def test_random_programs(program: RandomProgram) -> None:
    """Memory, clocks, counts, findings, words for the host and errors are the same."""
    assert disagreements(program, SEVERAL) == []


@pytest.mark.thorough
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(PROGRAMS)
def test_many_random_programs(program: RandomProgram) -> None:
    assert disagreements(program, SEVERAL) == []


@pytest.mark.slow
@settings(max_examples=examples(8), suppress_health_check=[HealthCheck.too_slow])
@given(MISTAKES)
def test_random_mistakes(program: RandomProgram) -> None:
    """The same of several errors ends the run, after the same warnings and prints, on both executors too."""
    assert disagreements(program, [*SEVERAL, Way("reference")]) == []


@pytest.mark.thorough
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(MISTAKES)
def test_many_random_mistakes(program: RandomProgram) -> None:
    assert disagreements(program, [*SEVERAL, Way("reference")]) == []


def stencil_example() -> ModuleType:
    path = Path(__file__).resolve().parents[3] / "examples" / "stencil" / "run.py"
    spec = importlib.util.spec_from_file_location("stencil_example", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("width, height", [(24, 40), (40, 24), (2, 560)])
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
@pytest.mark.slow
def test_environment_that_is_no_number_of_threads(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limits.THREADS, text)
    with pytest.raises(LoomError, match=f"LOOM_THREADS is '{text}'; give a number of threads from 1 to 1024"):
        machines.load(parse(random_exchange(Random(0)).text), executor="core")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("threads", [0, -3, "two", 100_000])
@pytest.mark.slow
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


ERRORS = """flow.fabric @errors target "wse3" grid 8 by 4 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @a at 0 : memref<i16>
    flow.param @turns = dense<TURNS> : tensor<4x8xi16>
    flow.export @main as "main"
    flow.task local @endless id 9 {
      flow.activate @endless
    }
    flow.func @main() {
      %turns = flow.get_param @turns : i16
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      %least = arith.cmpi slt, %turns, %zero : i16
      scf.if %least {
        flow.activate @endless
      } else {
        %left = scf.for %i = %zero to %turns step %one iter_args(%n = %turns) -> (i16) : i16 {
          %less = arith.subi %n, %one : i16
          flow.print "{d} left", %less : i16
          scf.yield %less : i16
        }
        %what = arith.divsi %one, %left : i16
        flow.store %what, @a[] : i16
      }
    }
  }
}"""


@pytest.mark.parametrize("executor, threads", [("reference", 0), *(("core", count) for count in (1, *COUNTS))])
def test_the_first_error_of_all_is_reported(executor: str, threads: int) -> None:
    """All PEs divide by zero, each after as many turns of a loop as it is told, but for one that never ends."""
    turns = np.random.default_rng(0).permutation(32).reshape(4, 8) + 5
    y, x = np.argwhere(turns == 5)[0]
    turns[0, 0] = -1
    assert (x, y) != (0, 0)
    options: dict[str, Any] = {"threads": threads, "parallel_from": 0} if threads else {}
    machine = machines.load(parse(ERRORS.replace("TURNS", str(turns.tolist()))), executor=executor, **options)
    machine.launch("main", [])
    with pytest.raises(LoomError, match=re.escape(f"an integer is divided by zero on PE ({x}, {y})")):
        machine.run()
    # All have printed what comes before, and nothing later is left in the log.
    counts = {place: sum(entry[1:3] == place for entry in machine.log) for place in np.ndindex(8, 4)}
    assert counts.pop((0, 0)) == 0 and set(counts.values()) == {5}


@pytest.mark.parametrize("executor, threads", [("reference", 0), ("core", 1), ("core", 2)])
def test_a_step_limit_ends_wavelets_that_go_round(executor: str, threads: int) -> None:
    options: dict[str, Any] = {"threads": threads, "parallel_from": 0} if threads else {}
    machine = machines.load(parse(RING), executor=executor, **options)
    machine.launch("main", [1])
    with pytest.raises(LoomError, match=r"past its step limit of 200 in @main on PE \(1, 0\)"):
        machine.run(200)


TO_THE_EAST = """flow.fabric @data target "wse3" grid 8 by 6 {
  flow.color @even = 1
  flow.color @odd = 2
  flow.route @even on [::2, :] from [ramp] to [east]
  flow.route @even on [1::2, :] from [west] to [ramp]
  flow.route @odd on [1::2, :] from [ramp] to [east]
  flow.route @odd on [::2, :] from [west] to [ramp]
  flow.units @cell on [:, :] words 64 {
    flow.buffer @values at 0 : memref<5xi16>
    flow.buffer @sum at 8 : memref<i16>
    flow.queue input @in id 2 colors [@odd on [::2, :], @even on [1::2, :]]
    flow.queue output @out id 2 colors [@even on [::2, :], @odd on [1::2, :]]
    flow.export @values as "values"
    flow.export @sum as "sum"
    flow.export @main as "main"
    flow.task data @take id 2 on @in (%value: i16) {
      %sum = flow.load @sum[] : i16
      %twice = arith.addi %sum, %sum : i16
      %more = arith.addi %twice, %value : i16
      flow.store %more, @sum[] : i16
    }
    flow.func @main() {
      %x = flow.coordinate x : i16
      %last = arith.constant 7 : i16
      %sends = arith.cmpi ne, %x, %last : i16
      scf.if %sends {
        %to = flow.queue_stream @out extent 5 : !flow.stream<i16>
        %from = flow.stream @values at 0 strides [1] extents [5] : !flow.stream<i16>
        flow.apply mov16 %to, %from : !flow.stream<i16>, !flow.stream<i16>
      }
      flow.return
    }
  }
}"""


def summed(machine: Machine, values: np.ndarray[Any, Any]) -> bool:
    """Run the data tasks, and compare what they compute of the words of the neighbor in the west."""
    machine.write_symbol("values", values)
    machine.write_symbol("sum", np.int16(0))
    machine.launch("main", [])
    machine.run()
    expected = np.zeros((6, 8), np.int16)
    for k in range(5):
        expected[:, 1:] = 2 * expected[:, 1:] + values[:, :-1, k]
    return np.array_equal(machine.read_symbol("sum"), expected)


VALUES = np.random.default_rng(0).integers(-500, 500, (6, 8, 5)).astype(np.int16)


def test_data_tasks() -> None:
    """Two threads compute what numpy does, in as many cycles as one does."""
    made = [machines.load(parse(TO_THE_EAST), executor="core", threads=n, parallel_from=0) for n in (1, 2)]
    assert all(summed(machine, VALUES) for machine in made)
    assert np.array_equal(made[0].clocks, made[1].clocks)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the system does not fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    """A machine that has run on several threads goes on in a process that is forked, where these are gone."""
    machine = machines.load(parse(TO_THE_EAST), executor="core", threads=2, parallel_from=0)
    assert summed(machine, VALUES)
    context = multiprocessing.get_context("fork")
    results = context.SimpleQueue()
    child = context.Process(target=lambda: results.put(summed(machine, VALUES + 1)))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert results.get()
    assert summed(machine, VALUES + 2)
