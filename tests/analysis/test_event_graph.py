"""Deadlocks, overwriting and numbers of slots, against all interleavings of small programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from loomir.analysis.event_graph import (
    Action,
    Event,
    EventGraph,
    NoSafeSlotCount,
    RingBuffer,
    largest_sync_period,
    slot_tradeoffs,
    smallest_slot_counts,
)
from loomir.operations import pipe_protocol

from ..searches import examples

Program = dict[str, list[Event]]
Places = tuple[int, ...]


class Interleavings:
    """Every order in which cores may do their events; counts entries and credits in each state anew."""

    def __init__(self, cores: Mapping[str, list[Event]], rings: Mapping[str, RingBuffer]):
        self.names = list(cores)
        self.programs = [list(events) for events in cores.values()]
        self.rings = rings
        self.overwriting: dict[str, int] = {}
        self.stuck = False
        end = tuple(len(program) for program in self.programs)
        seen = {(0,) * len(self.names)}
        pending = list(seen)
        while pending:
            places = pending.pop()
            following = list(self._next(places))
            if not following and (places != end or not self._drained(places)):
                self.stuck = True
            for other in following:
                if other not in seen:
                    seen.add(other)
                    pending.append(other)

    def _next(self, places: Places) -> Iterator[Places]:
        for core, place in enumerate(places):
            if place < len(self.programs[core]) and self._may(core, self.programs[core][place], places):
                yield (*places[:core], place + 1, *places[core + 1 :])

    def _count(self, core: int, places: Places, ring: str, *actions: Action) -> int:
        return sum(event.ring == ring and event.action in actions for event in self.programs[core][: places[core]])

    def _doing(self, ring: str, *actions: Action) -> list[int]:
        return [
            core
            for core, program in enumerate(self.programs)
            if any(event.ring == ring and event.action in actions for event in program)
        ]

    def _credits(self, core: int, places: Places, ring: str) -> int:
        """How many credits a consumer has given so far."""
        given_, popped = 0, 0
        numbers = self.rings[ring]
        for event in self.programs[core][: places[core]]:
            if event.ring != ring:
                continue
            if event.action == "pop":
                popped += 1
            if event.action == ("pop" if numbers.frees_at_pop else "free") and popped:
                given_ += popped % numbers.period == 0
        return given_

    def _has_credits(self, places: Places, ring: str, needed: int) -> bool:
        if needed <= self.rings[ring].initial_credits:
            return True
        consumers = self._doing(ring, "pop", "free")
        return bool(consumers) and all(
            self._credits(core, places, ring) + self.rings[ring].initial_credits >= needed for core in consumers
        )

    def _waits(self, ring: str, pushes: int) -> int:
        numbers = self.rings[ring]
        return sum(push >= numbers.slots and push % numbers.period == 0 for push in range(pushes))

    def _may(self, core: int, event: Event, places: Places) -> bool:
        ring = event.ring
        if event.action == "pop":
            entry = self._count(core, places, ring, "pop")
            producers = self._doing(ring, "push", "alloc", "commit")
            return bool(producers) and all(
                self._count(producer, places, ring, "push", "commit") > entry for producer in producers
            )
        if event.action in ("push", "alloc"):
            push, numbers = self._count(core, places, ring, "push", "alloc"), self.rings[ring]
            waits = push >= numbers.slots and push % numbers.period == 0
            if waits and not self._has_credits(places, ring, self._waits(ring, push + 1)):
                return False
            entry = push - numbers.slots
            done: Action = "pop" if numbers.frees_at_pop else "free"
            if entry >= 0 and any(
                self._count(consumer, places, ring, done) <= entry for consumer in self._doing(ring, "pop")
            ):
                self.overwriting[ring] = min(push, self.overwriting.get(ring, push))
        return True

    def _drained(self, places: Places) -> bool:
        """Return True if the producers get the outstanding credits, once all have done their events."""
        for ring, numbers in self.rings.items():
            for core in self._doing(ring, "push", "alloc", "commit"):
                pushes = self._count(core, places, ring, "push", "alloc")
                pending = numbers.initial_credits or pushes // numbers.period - self._waits(ring, pushes)
                if numbers.drained and pending:
                    if not self._has_credits(places, ring, self._waits(ring, pushes) + pending):
                        return False
        return True


@st.composite
def rings(draw: st.DrawFn) -> RingBuffer:
    slots = draw(st.integers(1, 5))
    period = draw(st.one_of(st.just(pipe_protocol.sync_period(slots)), st.integers(1, slots)))
    initial_credits = draw(st.sampled_from([0, 0, period]))
    return RingBuffer(slots, period, initial_credits, draw(st.booleans()), draw(st.booleans()))


def entries(ring: str, put: bool, count: int) -> st.SearchStrategy[list[Event]]:
    """What one end of a ring does for so many entries: one after the other, or several begun before the first ends."""
    one: list[Action] = ["push"] if put else ["pop", "free"]
    two: list[Action] = ["alloc", "alloc", "commit", "commit"] if put else ["pop", "pop", "free", "free"]
    events = [[Event(ring, action) for action in actions] for actions in (one, two)]
    return st.lists(st.sampled_from(events), min_size=count, max_size=count).map(
        lambda found: [event for entry in found for event in entry]
    )


@st.composite
def programs(draw: st.DrawFn) -> tuple[Program, dict[str, RingBuffer]]:
    """A ring from the cube to one or two vector cores, and one back; the ends of each need not agree."""
    lanes = draw(st.sampled_from(["v", "vw"]))
    cores: Program = {}
    for core in "c" + lanes:
        there, back = (
            draw(st.integers(0, 3).flatmap(lambda count, put=put, ring=ring: entries(ring, put, count)))
            for ring, put in (("there", core == "c"), ("back", core != "c"))
        )
        merged: list[Event] = []
        while there or back:
            merged.append((there if not back or (there and draw(st.booleans())) else back).pop(0))
        cores[core] = merged
    return cores, {"there": draw(rings()), "back": draw(rings())}


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(programs())
def test_cores_wait_forever_iff_they_do_in_every_order(program: tuple[Program, dict[str, RingBuffer]]) -> None:
    """PTO-006, PTO-028, PTO-029"""
    cores, numbers = program
    graph, oracle = EventGraph(cores, numbers), Interleavings(cores, numbers)
    deadlock = graph.deadlock()
    assert (deadlock is not None) == oracle.stuck
    if deadlock is None:
        assert graph.overwriting_pushes() == oracle.overwriting
        return
    with pytest.raises(ValueError, match="deadlock"):
        graph.overwriting_pushes()
    # Each event of the cycle comes, on its core, not before the one that waits next.
    for place, need in enumerate(deadlock.dependences):
        behind = deadlock.dependences[(place + 1) % len(deadlock.dependences)].waiting
        if need.needed is not None:
            assert need.needed.core == behind.core
            assert need.needed.position >= behind.position


@st.composite
def matching_programs(draw: st.DrawFn) -> Program:
    """Two cores with the same number of entries on both ends of each ring, freed one by one or two by two."""
    counts = {"there": draw(st.integers(1, 3)), "back": draw(st.integers(1, 3))}
    cores: Program = {}
    for core in "cv":
        both = [
            [Event(ring, action) for action in _actions(draw, (core == "c") == (ring == "there"), count)]
            for ring, count in counts.items()
        ]
        merged: list[Event] = []
        while both[0] or both[1]:
            merged.append((both[0] if not both[1] or (both[0] and draw(st.booleans())) else both[1]).pop(0))
        cores[core] = merged
    return cores


POP: tuple[Action, ...] = ("pop",)
FREE: tuple[Action, ...] = ("free",)
PUSH: tuple[Action, ...] = ("push",)


def _actions(draw: st.DrawFn, put: bool, count: int) -> tuple[Action, ...]:
    """What one end does: several entries may be popped before the first is freed."""
    burst = draw(st.integers(1, count))
    return PUSH * count if put else POP * burst + FREE * burst + (POP + FREE) * (count - burst)


@settings(max_examples=examples(150))
@given(matching_programs(), st.booleans())
def test_no_smaller_number_of_slots_will_do(cores: Program, frees_at_pop: bool) -> None:
    numbers = {ring: RingBuffer(1, 1, frees_at_pop=frees_at_pop) for ring in ("there", "back")}

    def ends(there: int, back: int) -> bool:
        """Whether the cores end, and overwrite nothing, as the documents promise, and as the chips wait."""
        found = [
            Interleavings(
                cores,
                {
                    ring: replace(numbers[ring], slots=slots, period=1 if ideal else pipe_protocol.sync_period(slots))
                    for ring, slots in (("there", there), ("back", back))
                },
            )
            for ideal in (True, False)
        ]
        return not any(one.stuck or one.overwriting for one in found)

    try:
        there, back = smallest_slot_counts(cores, numbers, [["there"], ["back"]], at_least=1)
    except NoSafeSlotCount as error:
        assert not any(ends(there, back) for there in (1, 2, 3, 4) for back in (1, 2, 3, 4))
        assert str(error.deadlock)
        return
    assert ends(there, back)
    assert not any(ends(slots, back) for slots in range(1, there))
    assert not any(ends(there, slots) for slots in range(1, back))
    (both,) = smallest_slot_counts(cores, numbers, [["there", "back"]], at_least=1)
    assert ends(both, both)
    assert not any(ends(slots, slots) for slots in range(1, both))


def loop(ring: str, count: int, *actions: Action) -> list[Event]:
    return [Event(ring, action) for _ in range(count) for action in actions]


def test_two_slots_unless_more_are_needed() -> None:
    cores = {"cube": loop("p", 40, "push"), "vector": loop("p", 40, "pop", "free")}
    assert smallest_slot_counts(cores, {"p": RingBuffer(8, 4)}, [["p"]]) == [2]
    # Six entries are popped before the first is freed.
    cores["vector"] = [*loop("p", 6, "pop"), *loop("p", 6, "free")]
    cores["cube"] = loop("p", 6, "push")
    assert smallest_slot_counts(cores, {"p": RingBuffer(8, 4)}, [["p"]]) == [6]


def test_a_cycle_is_named_by_its_events() -> None:
    """The cube puts in three entries before it takes one out, the vector core hands one back for each."""
    cores = {
        "cube": [*loop("there", 3, "push"), *loop("back", 3, "pop", "free")],
        "vector": [*loop("there", 1, "pop"), Event("back", "push"), *loop("there", 1, "pop"), Event("back", "push"),
                   *loop("there", 1, "pop"), Event("back", "push"), *loop("there", 3, "free")],
    }  # fmt: skip
    rings_ = {"there": RingBuffer(2, 1), "back": RingBuffer(2, 1)}
    deadlock = EventGraph(cores, rings_).deadlock()
    assert deadlock is not None
    assert {str(need.waiting) for need in deadlock.dependences} <= {
        "push 2 of there on cube",
        "pop 2 of there on vector",
        "push 2 of back on vector",
    }
    assert "push 2 of there on cube waits for free 0 of there on vector" in str(deadlock)
    assert smallest_slot_counts(cores, rings_, [["there"], ["back"]]) == [3, 2]


def test_what_nothing_gives_is_named() -> None:
    cores = {"cube": loop("p", 2, "push"), "vector": loop("p", 3, "pop", "free")}
    deadlock = EventGraph(cores, {"p": RingBuffer(2, 2)}).deadlock()
    assert str(deadlock) == "pop 2 of p on vector waits for an event that never happens"
    with pytest.raises(NoSafeSlotCount):
        smallest_slot_counts(cores, {"p": RingBuffer(2, 2)}, [["p"]])


def test_h3_three_pops_before_three_frees() -> None:
    """H3: with P = 2 `pop pop pop free free free` gives no credit; three slots, with P = 1, give three."""
    cores = {"cube": loop("p", 3, "push"), "vector": [*loop("p", 3, "pop"), *loop("p", 3, "free")]}
    numbers = {"p": RingBuffer(4, 2)}
    assert str(EventGraph(cores, numbers).deadlock()) == "drain of p on cube waits for an event that never happens"
    assert smallest_slot_counts(cores, numbers, [["p"]]) == [3]
    assert largest_sync_period(cores, numbers, ["p"], 4) == 4


def test_what_slots_cost_and_gain() -> None:
    """PTO-023, PTO-024, PTO-028, H1"""
    cores = {"cube": loop("p", 20, "push"), "vector": loop("p", 20, "pop", "free")}
    found = slot_tradeoffs(cores, {"p": RingBuffer(8, 4)}, ["p"], 1024, [1, 2, 4, 5, 8])
    assert [(row.slots, row.period, row.bytes, row.waits) for row in found] == [
        (1, 1, 1024, 19), (2, 2, 2048, 9), (4, 2, 4096, 8), (5, 2, 5120, 7), (8, 4, 8192, 3),
    ]  # fmt: skip
    assert [row.is_safe for row in found] == [True, True, True, False, True]
    assert [row.overwriting for row in found] == [None, None, None, 5, None]
    assert (
        str(found[3]) == "slot_num = 5: 5120 bytes, sync period 2, 7 of 20 pushes wait, push 5 may overwrite its slot"
    )
    assert largest_sync_period(cores, {"p": RingBuffer(8, 4)}, ["p"], 8) == 8


def test_seeds_overwrite() -> None:
    """H2: with credits from the start, pushes overrun a consumer that is slow."""
    cores = {"cube": loop("p", 12, "push"), "vector": loop("p", 12, "pop", "free")}
    (row,) = slot_tradeoffs(cores, {"p": RingBuffer(4, 2, initial_credits=2)}, ["p"], 16, [4])
    assert row.deadlock is None
    assert row.overwriting == 4


@given(matching_programs(), st.integers(1, 6), st.booleans())
def test_the_largest_period_that_keeps_a_program_safe(cores: Program, slots: int, frees_at_pop: bool) -> None:
    numbers = {ring: RingBuffer(slots, 1, frees_at_pop=frees_at_pop) for ring in ("there", "back")}
    assume(not Interleavings(cores, numbers).stuck)
    periods = [
        period
        for period in range(1, slots + 1)
        if slots % period == 0
        and not (found := Interleavings(cores, {**numbers, "there": replace(numbers["there"], period=period)})).stuck
        and "there" not in found.overwriting
    ]
    assert largest_sync_period(cores, numbers, ["there"], slots) == max(periods, default=None)


def test_actions_are_those_of_the_model() -> None:
    assert set(get_args(Action)) == {"alloc", "commit", "push", "pop", "free", "drain"}
