"""Random pairs of kernels: what the check foretells, the run does, and no tile is lost or changed in silence.

Kernels push, pop and free in an order that works with slots that are each freed by themselves. With ideal pipes
all of them run; on chips, which wait and tell only now and then, some hang, and some overwrite tiles.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.host.pto_check import check
from loomir.runtime import Deadlock

from ...searches import examples
from .cases import exact_exchange
from .kernel_text import C2V, V2C, Chip, Core
from .programs import Exchange
from .test_conformance import NATIVE, Run, read

PRODUCER: dict[int, Core] = {C2V: "cube", V2C: "vector"}
CONSUMER: dict[int, Core] = {C2V: "vector", V2C: "cube"}


@st.composite
def exchanges(draw: st.DrawFn) -> Exchange:
    """Kernels whose words come one after the other in some order in which none has to wait."""
    slots = draw(st.sampled_from([1, 2, 3, 4, 6, 8]))
    directions = draw(st.sampled_from([(C2V,), (V2C,), (C2V, V2C)]))
    counts = {direction: {"push": 0, "pop": 0, "free": 0} for direction in directions}
    words: dict[Core, list[str]] = {"cube": [], "vector": []}

    def say(direction: int, word: str) -> None:
        counts[direction][word] += 1
        words[(PRODUCER if word == "push" else CONSUMER)[direction]].append(word)

    for _ in range(draw(st.integers(2, 20))):
        possible: list[tuple[int, str]] = []
        for direction, count in counts.items():
            if count["push"] - count["free"] < slots:
                possible.append((direction, "push"))
            if count["pop"] < count["push"]:
                possible.append((direction, "pop"))
            if count["free"] < count["pop"]:
                possible.append((direction, "free"))
        say(*draw(st.sampled_from(possible)))
    for direction, count in counts.items():
        if not count["push"]:
            say(direction, "push")
        for word, least in (("pop", "push"), ("free", "pop")):
            while count[word] < count[least]:
                say(direction, word)
    split = draw(st.sampled_from([0, 1, 2]))
    rounds = draw(st.sampled_from([1, 1, 2]))
    return Exchange(" ".join(words["cube"]), " ".join(words["vector"]), split, 16, 64, 64, slots=slots, rounds=rounds)


chips = st.sampled_from(["a3", "a5"])
orders = st.sampled_from(["eager", "prompt"])


@pytest.mark.slow
@settings(max_examples=examples(6))
@given(exchanges(), chips, orders)
def test_ideal_pipes_keep_every_tile(exchange: Exchange, chip: Chip, order: str) -> None:
    case = exact_exchange(exchange)
    program = read(case, chip)
    # Only simulators store what a5 keeps in this memory.
    assert {finding.code for finding in check(program, "ideal")} <= {"stored-mat"}
    run = Run(case, "ideal", chip, program=program, order=order)
    run.check()
    assert run.result.findings == []


@pytest.mark.slow
@settings(max_examples=examples(10))
@given(exchanges(), chips, orders)
def test_check_foretells_what_chips_do(exchange: Exchange, chip: Chip, order: str) -> None:
    case = exact_exchange(exchange)
    program = read(case, chip)
    found = check(program, NATIVE[chip])
    foretold = any(finding.code == "deadlock" for finding in found)
    end: Literal["right", "wrong", "deadlock"] = "right"
    errors: list[str] = []
    try:
        run = Run(case, NATIVE[chip], chip, program=program, order=order)
        errors = run.errors
        same = [np.array_equal(run.result.arrays[name], wanted) for name, wanted in run.golden.items()]
        end = "right" if all(same) else "wrong"
    except Deadlock:
        end = "deadlock"
    assert (end == "deadlock") == foretold
    if end == "wrong":
        assert errors, "tiles are overwritten, and the run says nothing"
    # A credit that is lost is an error for the run even where no push needs it; the check reports it where one does.
    if end == "wrong" or any("[lost-credit]" not in error for error in errors):
        assert found, "the run reports what the check has not"
