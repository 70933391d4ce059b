"""Launches in a row: what flags keep from one to the next, and what a program that is right leaves behind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loomir.diagnostics.findings import Finding

from .cases import exact_exchange
from .kernel_text import UP_DOWN, Chip
from .programs import Exchange
from .test_conformance import NATIVE, Run

EXCHANGE = Exchange("push push push", "pop free pop free pop free", UP_DOWN, 16, 64, 64, slots=4)


@pytest.mark.slow
def test_an_entry_that_is_left_is_popped_by_the_next_launch() -> None:
    """Of three entries two are popped: the flag of the third makes the next launch take entry 1 before it is there.

    The cube core pushes one entry and then waits for its turn (order prompt), so that what is popped first is told by
    the flag alone.
    """
    case = exact_exchange(replace(EXCHANGE, vector="pop free pop free"))

    def codes(launches: int) -> set[str]:
        program = Run(replace(case, repeat=launches), "a5", "a5", order="prompt")
        return {finding.code for finding in program.result.findings}

    once = codes(1)
    assert "unbalanced-pipe" in once and "stale-entry" not in once
    assert "stale-entry" in codes(2)


@pytest.mark.slow
def test_credits_that_are_left_let_the_next_launch_run_ahead() -> None:
    """H2: with three entries in four slots, half as many credits as slots are seeded, one more comes from two frees,
    and the end takes back only the seed. So one is left, and so on by every launch."""
    case = exact_exchange(EXCHANGE)

    def left(launches: int) -> list[Finding]:
        run = Run(replace(case, repeat=launches), "a5", "a5", order="prompt")
        run.check()
        return [finding for finding in run.result.findings if finding.code == "leftover-credits"]

    assert len(left(1)) == len(left(3)) == 1  # for both vector cores


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["a3", "a5"])
def test_right_programs_leave_nothing(chip: Chip) -> None:
    """Ten launches of as many entries as are popped and freed."""
    case = replace(exact_exchange(replace(EXCHANGE, slots=8)), repeat=10)
    for arch in ("ideal", NATIVE[chip]):
        run = Run(case, arch, chip)
        run.check()
        assert run.result.findings == []
