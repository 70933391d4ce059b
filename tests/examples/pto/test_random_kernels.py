"""Random kernels of products, tiles and pipes on several blocks: the reference, the core and a model of credits agree.

All 300 at once: pytest --hypothesis-profile=thorough tests/examples/pto/test_random_kernels.py
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.diagnostics.errors import LoomError
from loomir.operations.pipe_protocol import Behavior
from loomir.runtime import Deadlock
from loomir.runtime.executors import EXECUTOR, OF_CHIPS

from ...searches import examples
from .cases import Case, exact_exchange
from .kernel_text import C2V, V2C, Chip
from .programs import Exchange
from .test_conformance import NATIVE, Run, read
from .test_random_exchanges import CONSUMER, PRODUCER, exchanges

SHAPES = [(16, 32, 32), (16, 64, 64), (32, 32, 64), (48, 32, 32)]
"""Rows, columns and inner extent of products; a5 halves columns in steps of 32."""


@st.composite
def kernels(draw: st.DrawFn) -> Exchange:
    """Kernels that work with ideal pipes, some with a word changed at one end, which may hang or lose tiles."""
    exchange = draw(exchanges())
    rows, columns, inner = draw(st.sampled_from(SHAPES))
    exchange = replace(exchange, rows=rows, columns=columns, inner=max(inner, columns))
    if draw(st.integers(0, 3)) == 0:
        words = exchange.vector.split()
        place = draw(st.integers(0, len(words) - 1))
        words[place : place + 1] = draw(st.sampled_from([[], [words[place]] * 2]))
        counts = Counter(words)
        if _is_text(words) and all(counts[word] for word in Counter(exchange.vector.split())):
            return replace(exchange, vector=" ".join(words))
    return exchange


def _is_text(words: list[str]) -> bool:
    """Whether what is freed has been popped, as a text has to say."""
    held = 0
    for word in words:
        held += {"pop": 1, "free": -1, "push": 0}[word]
        if held < 0:
            return False
    return held == 0


class Ring:
    """One direction of a pipe, credit by credit."""

    def __init__(self, slots: int, behavior: Behavior, *, split: bool):
        self.slots, self.behavior = slots, behavior
        self.period = slots if slots <= 2 else slots // 2
        self.seed = self.period if behavior == "a5" and split else 0
        self.credits = self.seed
        self.pushed = self.popped = self.freed = self.taken = 0

    def does(self, word: str) -> bool:
        """Do a word, or say that it has to wait."""
        if word == "push":
            if self.behavior == "ideal":
                if self.pushed - self.freed >= self.slots:
                    return False
            elif self.pushed >= self.slots and self.pushed % self.period == 0 and not self._take(1):
                return False
            self.pushed += 1
        elif word == "pop":
            if self.popped >= self.pushed:
                return False
            self.popped += 1
            self.credits += self.behavior == "a2a3" and self.popped % self.period == 0
        elif word == "free":
            self.freed += 1
            self.credits += self.behavior == "a5" and self.popped % self.period == 0
        elif self.behavior != "ideal":
            return self._take(self.seed or max(0, self.pushed // self.period - self.taken))
        return True

    def _take(self, count: int) -> bool:
        if self.credits < count:
            return False
        self.credits -= count
        self.taken += count
        return True


def foretold(exchange: Exchange, behavior: Behavior) -> Literal["ends", "deadlock"]:
    """What comes of the words, whichever order cores take turns in: they wait for counts alone."""
    split = exchange.split != 0
    assert exchange.slots is not None
    rings = {way: Ring(exchange.slots, behavior, split=split) for way in (C2V, V2C) if exchange.direction & way}
    left: dict[str, list[tuple[int, str]]] = {}
    for core, text in (("cube", exchange.cube), ("vector", exchange.vector)):
        said = [
            (next(way for way in rings if (PRODUCER if word == "push" else CONSUMER)[way] == core), word)
            for word in text.split() * exchange.rounds
        ]
        left[core] = [*said, *((way, "end") for way in rings if PRODUCER[way] == core)]
    moved = True
    while moved:
        moved = False
        for words in left.values():
            while words and rings[words[0][0]].does(words[0][1]):
                words.pop(0)
                moved = True
    return "deadlock" if any(left.values()) else "ends"


def with_fractions(case: Case) -> Case:
    """The same with numbers of which sums depend on their order."""

    def arrays(random: np.random.Generator, chip: Chip) -> dict[str, Any]:
        given = case.arrays(random, chip)
        return {name: random.standard_normal(array.shape).astype(array.dtype) for name, array in given.items()}

    return replace(case, arrays=arrays)


@pytest.mark.slow
@settings(max_examples=examples(300, seldom=True))
@given(kernels(), st.sampled_from(["a3", "a5"]), st.sampled_from([1, 1, 2, 3]), st.booleans(), st.data())
def test_executors_and_credits_agree(
    exchange: Exchange, chip: Chip, blocks: int, fractions: bool, data: st.DataObject
) -> None:
    behavior: Behavior = data.draw(st.sampled_from(["ideal", NATIVE[chip]]))
    order = data.draw(st.sampled_from([None, "eager", "prompt"]))
    case = exact_exchange(exchange)
    program = read(case, chip)
    found: list[Any] = []
    before = os.environ.get(EXECUTOR)
    try:
        for executor in OF_CHIPS:
            os.environ[EXECUTOR] = executor
            found.append(_outcome(with_fractions(case) if fractions else case, behavior, chip, program, blocks, order))
    finally:
        os.environ.pop(EXECUTOR)
        if before is not None:
            os.environ[EXECUTOR] = before
    (end, said, arrays, run), (_, _, _, other) = found
    assert found[0][:3] == found[1][:3]
    assert end == foretold(exchange, behavior)
    if end == "ends" and not fractions and not any("error" in line for line in said):
        run.check()
        other.check()
    assert arrays or end == "deadlock"


def _outcome(
    case: Case, behavior: Behavior, chip: Chip, program: Any, blocks: int, order: str | None
) -> tuple[str, list[str], list[tuple[str, bytes]], Run | None]:
    """How a run ends, what it says, what is in its arrays but the slots, and the run."""
    try:
        run = Run(case, behavior, chip, program=program, blocks=blocks, order=order)
    except Deadlock as error:
        return "deadlock", [str(error), *map(str, error.findings)], [], None
    except LoomError as error:
        return "error", [str(error)], [], None
    result = run.result
    arrays = [(name, array.tobytes()) for name, array in result.arrays.items()]
    return "ends", [str(finding) for finding in result.findings], arrays, run
