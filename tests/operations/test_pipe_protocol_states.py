"""All states a pipe can get into, whatever the speed of its two ends: overwriting, drains, and what goes wrong.

The model has slots with numbers of entries in them and a count of credits; it takes from `protocol` only which push
waits and which pop frees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import pytest

from loomir.operations import pipe_protocol

Step = Literal["push", "pop", "free"]


@dataclass(frozen=True)
class State:
    """How far the two ends have come: entries put in, steps of the consumer taken, and credits it has given."""

    pushed: int = 0
    taken: int = 0
    credits: int = 0
    overwritten: int | None = None
    """The first push into a slot whose entry was still to be read."""


@dataclass(frozen=True)
class Model:
    """A pipe with `pushes` on one end and `consumer` on the other.

    With `frees_at_pop` a pop copies its entry and gives the credit, as tiles on a2a3 do (PTO-006 to PTO-009); else
    the entry is read until its free, which gives the credit its pop's index says: that of the last pop so far.
    """

    slots: int
    pushes: int
    consumer: Sequence[Step]
    seed: int = 0
    frees_at_pop: bool = True

    def next(self, state: State) -> Iterator[State]:
        """The states that may come next."""
        waits = pipe_protocol.push_waits(state.pushed, self.slots)
        if state.pushed < self.pushes and (not waits or state.credits):
            before = state.pushed - self.slots
            unread = before >= 0 and before >= self._read(state.taken)
            overwritten = state.pushed if unread and state.overwritten is None else state.overwritten
            yield State(state.pushed + 1, state.taken, state.credits - waits, overwritten)
        if state.taken < len(self.consumer):
            step = self.consumer[state.taken]
            popped = self.consumer[: state.taken].count("pop")
            if step == "pop" and popped >= state.pushed:
                return
            index = popped if step == "pop" else popped - 1
            frees = (step == "pop") == self.frees_at_pop and pipe_protocol.pop_frees(index, self.slots)
            yield State(state.pushed, state.taken + 1, state.credits + frees, state.overwritten)

    def _read(self, taken: int) -> int:
        """How many entries the consumer is done with."""
        return self.consumer[:taken].count("pop" if self.frees_at_pop else "free")

    def ends(self) -> set[State]:
        """The states in which nothing can happen any more, over all interleavings."""
        seen = {State(credits=self.seed)}
        pending = list(seen)
        last: set[State] = set()
        while pending:
            state = pending.pop()
            following = list(self.next(state))
            if not following:
                last.add(state)
            for other in following:
                if other not in seen:
                    seen.add(other)
                    pending.append(other)
        return last

    def is_done(self, state: State) -> bool:
        return state.pushed == self.pushes and state.taken == len(self.consumer)


def pops(count: int) -> list[Step]:
    return ["pop"] * count


def pops_and_frees(*bursts: int) -> list[Step]:
    """So many pops, then as many frees, for each burst."""
    steps: list[Step] = []
    for burst in bursts:
        steps.extend("pop" for _ in range(burst))
        steps.extend("free" for _ in range(burst))
    return steps


@pytest.mark.parametrize("slots", range(1, 17))
def test_pto_024_028_no_push_overwrites_iff_the_period_divides_the_slots(slots: int) -> None:
    """PTO-006, PTO-009, PTO-023, PTO-024, PTO-028, H1: over all interleavings of up to 4S entries."""
    overwritten = {
        state.overwritten for state in Model(slots, 4 * slots, pops(4 * slots)).ends() if state.overwritten is not None
    }
    assert bool(overwritten) == (slots % pipe_protocol.sync_period(slots) != 0)
    assert min(overwritten, default=None) == pipe_protocol.unsafe_push(slots)


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("slots", range(1, 17))
def test_pto_029_every_entry_arrives_whatever_the_order(slots: int) -> None:
    """PTO-028, PTO-029: waiting only now and then, and telling of every entry, no interleaving gets stuck."""
    for pushes in range(4 * slots + 1):
        model = Model(slots, pushes, pops(pushes))
        assert all(model.is_done(state) for state in model.ends())


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("slots", range(1, 17))
def test_drain_is_what_is_left_whatever_the_order(slots: int) -> None:
    """The credits still pending after N entries, N < 60, are the same for all interleavings, and the formula's."""
    for pushes in range(min(60, 4 * slots + 1)):
        left = {state.credits for state in Model(slots, pushes, pops(pushes)).ends()}
        assert left == {pipe_protocol.pending_free_credits(pushes, slots)}
    for pushes in range(60):
        waiting = [push for push in range(pushes) if pipe_protocol.push_waits(push, slots)]
        freeing = [pop for pop in range(pushes) if pipe_protocol.pop_frees(pop, slots)]
        assert pipe_protocol.waits(pushes, slots) == len(waiting)
        assert pipe_protocol.pending_free_credits(pushes, slots) == len(freeing) - len(waiting)


@pytest.mark.parametrize(("slots", "period"), [(8, 1), (8, 2), (8, 8), (6, 3), (5, 1), (5, 5), (7, 4), (6, 4)])
def test_other_periods_follow_the_same_formulas(slots: int, period: int) -> None:
    for pushes in range(60):
        waiting = [push for push in range(pushes) if push >= slots and push % period == 0]
        assert waiting == [push for push in range(pushes) if pipe_protocol.push_waits(push, slots, period)]
        assert pipe_protocol.waits(pushes, slots, period) == len(waiting)
        assert pipe_protocol.pending_free_credits(pushes, slots, period) == pushes // period - len(waiting)
    assert (pipe_protocol.unsafe_push(slots, period) is None) == (slots % period == 0)


@pytest.mark.parametrize(("slots", "free_pushes"), [(2, 6), (4, 8), (8, 24)])
def test_seeded_credits_let_pushes_overrun_the_consumer(slots: int, free_pushes: int) -> None:
    """H2: with P credits from the start, so many pushes go through although nothing is popped."""
    period = pipe_protocol.sync_period(slots)
    states = Model(slots, 10 * slots, [], seed=period).ends()
    assert {state.pushed for state in states} == {free_pushes}
    assert {state.overwritten for state in states} == {slots}
    assert free_pushes == slots + period * period
    # Without them, the push that reuses the first slot waits.
    assert {state.pushed for state in Model(slots, 10 * slots, []).ends()} == {slots}


def test_frees_keyed_by_the_last_pop_give_too_many_credits() -> None:
    """H3: with P = 2, `pop pop free free` twice gives 4 credits instead of 2, and slots in use are overwritten."""
    model = Model(4, 4, pops_and_frees(2, 2), frees_at_pop=False)
    assert {state.credits for state in model.ends()} == {4}
    assert pipe_protocol.pending_free_credits(4, 4) == 2
    overrun = Model(4, 12, pops_and_frees(2, 2, 2, 2, 2, 2), frees_at_pop=False)
    assert any(state.overwritten is not None for state in overrun.ends())


def test_frees_keyed_by_the_last_pop_give_too_few_credits() -> None:
    """H3: with P = 2, `pop pop pop free free free` gives none instead of 1, so that a push waits forever."""
    model = Model(4, 3, pops_and_frees(3), frees_at_pop=False)
    assert {state.credits for state in model.ends()} == {0}
    assert pipe_protocol.pending_free_credits(3, 4) == 1
    stuck = Model(4, 6, pops_and_frees(3, 3), frees_at_pop=False)
    assert all(not stuck.is_done(state) for state in stuck.ends())


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 6, 8])
def test_frees_one_by_one_give_what_is_due(slots: int) -> None:
    """A free behind each pop is as safe as giving the slot back at the pop."""
    model = Model(slots, 4 * slots, pops_and_frees(*[1] * (4 * slots)), frees_at_pop=False)
    for state in model.ends():
        assert model.is_done(state)
        assert state.overwritten is None
        assert state.credits == pipe_protocol.pending_free_credits(4 * slots, slots)
