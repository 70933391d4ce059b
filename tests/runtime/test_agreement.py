"""Executors agree on random programs: equal memory, clocks, counts, findings and words for the host."""

from __future__ import annotations

from collections import Counter
from io import BytesIO
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loomir import LoomError
from loomir.host import machines

from ..searches import examples
from .agreement import Way, differences, kinds_of, outcome, reduced
from .flow_modules import parse
from .random_features import EXTRAS, FEATURES
from .random_programs import RandomProgram, random_exchange

REFERENCE, CORE = Way("reference"), Way("core")

PROGRAMS = st.integers(0, 2**32 - 1).map(lambda seed: random_exchange(Random(seed)))


def disagreements(program: RandomProgram) -> list[str]:
    """Return in what the outcomes of a program differ."""
    return differences(outcome(program, REFERENCE), outcome(program, CORE))


def check(program: RandomProgram) -> None:
    found = disagreements(program)
    if not found:
        return
    kinds = kinds_of(found)
    small = reduced(program, lambda smaller: bool(kinds & kinds_of(disagreements(smaller))))
    lines = ["reference and core disagree", *found[:6], "the smallest program found:", *disagreements(small)]
    pytest.fail("\n".join([*lines, f"launches {small.launches}, host sends {small.sent}", small.text]))


@pytest.mark.slow
@settings(max_examples=examples(24), suppress_health_check=[HealthCheck.too_slow])
@given(PROGRAMS)
def test_random_programs(program: RandomProgram) -> None:
    check(program)


@pytest.mark.thorough
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(PROGRAMS)
def test_many_random_programs(program: RandomProgram) -> None:
    check(program)


@pytest.mark.slow
def test_programs_have_all_parts() -> None:
    """Every kind of channel and feature is in many programs."""
    parts = Counter(part for seed in range(400) for part in random_exchange(Random(seed)).parts)
    wanted = {"async", "unblock", "sync", "data", "pair", "forward", *(kind.__name__ for kind in FEATURES + EXTRAS)}
    assert parts.keys() == wanted
    assert min(parts.values()) >= 20


SMALL = """flow.fabric @small target "wse3" grid 1 by 1 {
  flow.color @unused = 3
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<i16>
    flow.export @main as "main"
    flow.task local @t id 20 {
      flow.return
    }
    flow.func @main(%n: i16) {
      %zero = arith.constant 0 : i16
      %some = arith.cmpi sgt, %n, %zero : i16
      scf.if %some {
        flow.store %n, @a[] : i16
        flow.store %zero, @a[] : i16
        flow.activate @t
      }
      flow.activate @t
      flow.return
    }
  }
}"""


@pytest.mark.slow
def test_a_program_is_reduced_to_what_matters() -> None:
    """Nothing is left that can be left out; a block goes as a whole."""
    program = RandomProgram(SMALL, (3,), (), ())
    small = reduced(program, lambda smaller: any(3 in words for words in outcome(smaller, REFERENCE).memory.values()))
    left = [line.strip() for line in small.text.split("\n") if line.strip() not in ("}", "flow.return")]
    assert [line.split()[0] for line in left[3:]] == [
        "flow.export", "flow.func", "%zero", "%some", "scf.if", "flow.store"
    ]  # fmt: skip
    assert "@unused" not in small.text and "@t" not in small.text


@pytest.mark.slow
@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.too_slow])
@given(PROGRAMS)
def test_traces_of_random_programs(program: RandomProgram) -> None:
    """Equal lines, and the core does the same on its quick way, which it does not take when it is traced."""
    core, traced = outcome(program, CORE), outcome(program, Way("core", is_traced=True))
    reference = outcome(program, Way("reference", is_traced=True))
    assert differences(traced, reference) == []
    assert differences(core, traced) == []


@pytest.mark.slow
@settings(max_examples=examples(12, seldom=True), suppress_health_check=[HealthCheck.too_slow])
@given(PROGRAMS)
def test_races_of_random_programs(program: RandomProgram) -> None:
    """Equal warnings for any executor and number of threads; and nothing else changes by looking for races."""
    checked = (("check", True),)
    core = outcome(program, Way("core", checked))
    assert differences(outcome(program, Way("reference", checked)), core) == []
    assert differences(outcome(program, Way("core", (*checked, ("threads", 4), ("parallel_from", 1)))), core) == []
    told = ("which is asynchronous", "nothing has written", "nothing decides")
    core.findings = [line for line in core.findings if not any(words in line for words in told)]
    assert differences(outcome(program, CORE), core) == []


@pytest.mark.slow
def test_some_random_programs_race() -> None:
    """What the test above compares is not nothing."""
    way = Way("core", (("check", True),))
    programs = (random_exchange(Random(seed)) for seed in range(60))
    assert any("which is asynchronous, " in line for program in programs for line in outcome(program, way).findings)


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_traces_up_to_the_step_limit(limit: int) -> None:
    """The task that wants a step beyond the last has begun."""
    text = """
    flow.fabric @limited target "wse3" grid 1 by 1 {
      flow.units @cell on [:, :] words 64 {
        flow.task local @first id 9 active { flow.activate @second }
        flow.task local @second id 10 { flow.activate @first }
      }
    }"""
    traces: list[list[bytes]] = []
    for name in ("core", "reference"):
        stream = BytesIO()
        machine = machines.load(parse(text), executor=name, trace=stream)
        with pytest.raises(LoomError, match="step limit"):
            machine.run(limit)
        traces.append(stream.getvalue().splitlines())
    assert traces[0] == traces[1]
    assert [b'"task"' in line for line in traces[0]].count(True) == limit + 1
