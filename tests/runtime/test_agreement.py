"""Executors agree on random programs: equal memory, clocks, counts, findings and words for the host."""

from __future__ import annotations

from collections import Counter
from io import BytesIO
from itertools import pairwise
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loomir import LoomError
from loomir.host import machines
from loomir.runtime import executors

from ..searches import examples
from .agreement import Way, differences, kinds_of, outcome, reduced
from .flow_modules import parse
from .random_features import EXTRAS, FEATURES
from .random_programs import RandomProgram, random_exchange

FIRST = Way("warps")
WAYS = [
    Way("warps", (("block_units", 1),)),
    Way("warps", (("block_units", 2),)),
    *(Way(name) for name in executors.EXECUTORS if name != "warps"),
]
"""What is compared with the first."""

PROGRAMS = st.integers(0, 2**32 - 1).map(lambda seed: random_exchange(Random(seed)))


def disagreements(program: RandomProgram, ways: list[Way]) -> list[str]:
    """Return in what the outcomes of a program differ from the first way's, and from each other's."""
    first = outcome(program, FIRST)
    outcomes = {way: outcome(program, way) for way in ways}
    is_pressed = any(each.is_pressed for each in outcomes.values())
    found = [
        f"{way}: {line}"
        for way in ways
        if way.executor == FIRST.executor or not is_pressed
        for line in differences(first, outcomes[way])
    ]
    # What the first words otherwise, or meets in another order, is the same to the letter for those of tables.
    of_tables = [way for way in ways if way.executor in executors.OF_TABLES]
    for way, other in pairwise(of_tables):
        if outcomes[way].failed and outcomes[other].failed:
            # Of several mistakes, the core may meet another one first: PEs do not stop together yet.
            continue
        found += [f"{other}, not as {way}: {line}" for line in differences(outcomes[way], outcomes[other])]
    return found


def check(program: RandomProgram, ways: list[Way]) -> None:
    found = disagreements(program, ways)
    if not found:
        return
    guilty = [way for way in ways if any(line.startswith(f"{way}: ") for line in found)][:1] or ways
    kinds = kinds_of(disagreements(program, guilty))
    small = reduced(program, lambda smaller: bool(kinds & kinds_of(disagreements(smaller, guilty))))
    lines = [f"{FIRST} and others disagree", *found[:6], "the smallest program found:", *disagreements(small, guilty)]
    pytest.fail("\n".join([*lines, f"launches {small.launches}, host sends {small.sent}", small.text]))


@pytest.mark.slow
@settings(max_examples=examples(24), suppress_health_check=[HealthCheck.too_slow])
@given(PROGRAMS)
def test_random_programs(program: RandomProgram) -> None:
    check(program, WAYS[:1] + WAYS[2:])


@pytest.mark.thorough
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(PROGRAMS)
def test_many_random_programs(program: RandomProgram) -> None:
    check(program, WAYS)


def test_programs_have_all_parts() -> None:
    """Every kind of channel and feature is in many programs."""
    parts = Counter(part for seed in range(300) for part in random_exchange(Random(seed)).parts)
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


def test_a_program_is_reduced_to_what_matters() -> None:
    """Nothing is left that can be left out; a block goes as a whole."""
    program = RandomProgram(SMALL, (3,), (), ())
    small = reduced(program, lambda smaller: any(3 in words for words in outcome(smaller, FIRST).memory.values()))
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
    core, traced = outcome(program, Way("core")), outcome(program, Way("core", is_traced=True))
    reference = outcome(program, Way("reference", is_traced=True))
    assert differences(traced, reference) == []
    assert differences(core, traced) == []


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
