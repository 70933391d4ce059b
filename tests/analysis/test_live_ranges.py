"""Stores in use at the same time, against all walks through small programs."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from loomir.analysis.live_ranges import Step, in_use, used_together

STORES: tuple[str, ...] = ("a", "b")
subsets: st.SearchStrategy[set[str]] = st.sets(st.sampled_from(STORES))


@st.composite
def programs(draw: st.DrawFn) -> list[Step[str]]:
    count = draw(st.integers(1, 4))
    places = st.lists(st.integers(0, count - 1), max_size=2, unique=True)
    return [Step[str](draw(subsets), draw(subsets), draw(subsets), draw(places)) for _ in range(count)]


def walks(steps: list[Step[str]], start: int, length: int) -> Iterator[list[int]]:
    yield [start]
    if length > 1:
        for following in steps[start].next:
            for walk in walks(steps, following, length - 1):
                yield [start, *walk]


def needs(steps: list[Step[str]], place: int, store: str) -> bool:
    """Whether, behind a step, what a store holds may be read before it is replaced."""
    return any(
        store in steps[walk[-1]].reads and all(store not in steps[other].overwrites for other in walk[1:-1])
        for walk in walks(steps, place, len(steps) + 1)
        if len(walk) > 1
    )


def filled(steps: list[Step[str]], place: int, store: str) -> bool:
    """Whether a step before this one may have had to do with the store."""
    return any(
        store in steps[start].reads | steps[start].overwrites | steps[start].touches
        for start in range(len(steps))
        for walk in walks(steps, start, len(steps) + 1)
        if len(walk) > 1 and walk[-1] == place
    )


@given(programs())
def test_in_use_from_the_first_write_to_the_last_read(steps: list[Step[str]]) -> None:
    found = in_use(steps)
    for place, step in enumerate(steps):
        for store in STORES:
            own = store in step.reads | step.overwrites | step.touches
            keeps = filled(steps, place, store) and needs(steps, place, store)
            assert (store in found[place]) == (own or keeps)


@given(programs())
def test_stores_are_together_where_one_step_has_both_in_use(steps: list[Step[str]]) -> None:
    both = any(stores >= set(STORES) for stores in in_use(steps))
    assert ("b" in used_together(steps).get("a", set())) == both
    assert ("a" in used_together(steps).get("b", set())) == both


def test_a_store_written_anew_in_each_round_is_free_between() -> None:
    # 0: enter; 1: write a; 2: read a; 3: write b; 4: read b and go round.
    steps = [
        Step[str](next=[1]),
        Step(overwrites={"a"}, next=[2]),
        Step(reads={"a"}, next=[3]),
        Step(overwrites={"b"}, next=[4]),
        Step(reads={"b"}, next=[1]),
    ]
    assert used_together(steps) == {"a": set(), "b": set()}
    steps[3].overwrites, steps[3].touches = set(), {"b"}
    # Now something of the last round may be read.
    assert used_together(steps) == {"a": {"b"}, "b": {"a"}}
