"""Addresses of tiles, against all placements there are."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.analysis.tile_placement import Memory, place_apart, place_sharing

from ..searches import examples

Spans = list[tuple[int, int]]


@st.composite
def problems(draw: st.DrawFn) -> tuple[dict[int, int], dict[int, set[int]], Memory]:
    count = draw(st.integers(1, 5))
    sizes = {tile: draw(st.integers(1, 4)) for tile in range(count)}
    together: dict[int, set[int]] = {tile: set() for tile in sizes}
    for first in range(count):
        for second in range(first):
            if draw(st.booleans()):
                together[first].add(second)
                together[second].add(first)
    occupied = draw(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 2)), max_size=2))
    behind = draw(st.lists(st.integers(1, 3), max_size=2))
    return sizes, together, Memory(draw(st.integers(1, 9)), draw(st.sampled_from([1, 2])), occupied, behind)


def disjoint(first: tuple[int, int], second: tuple[int, int]) -> bool:
    numbers = [set(range(start, start + size)) for start, size in (first, second)]
    return not numbers[0] & numbers[1]


def fits(addresses: dict[int, int], sizes: dict[int, int], together: dict[int, set[int]], memory: Memory) -> bool:
    return all(
        address % memory.alignment == 0
        and address + sizes[tile] <= memory.capacity
        and all(disjoint((address, sizes[tile]), span) for span in memory.occupied)
        and all(
            disjoint((address, sizes[tile]), (addresses[other], sizes[other]))
            for other in together[tile]
            if other in addresses
        )
        for tile, address in addresses.items()
    )


def leaves_enough(addresses: dict[int, int], sizes: dict[int, int], memory: Memory) -> bool:
    taken: Spans = [*memory.occupied, *((address, sizes[tile]) for tile, address in addresses.items())]
    for size in memory.behind:
        free = [
            start
            for start in range(0, memory.capacity - size + 1, memory.alignment)
            if all(disjoint((start, size), span) for span in taken)
        ]
        if not free:
            return False
        taken.append((free[0], size))
    return True


def some_placement(sizes: dict[int, int], together: dict[int, set[int]], memory: Memory) -> bool:
    return any(
        fits(dict(enumerate(places)), sizes, together, memory)
        for places in product(range(0, memory.capacity, memory.alignment), repeat=len(sizes))
    )


@settings(max_examples=examples(300))
@given(problems())
def test_what_is_placed_shares_with_none_it_is_used_with(
    problem: tuple[dict[int, int], dict[int, set[int]], Memory],
) -> None:
    sizes, together, memory = problem
    everyone = {tile: set(sizes) - {tile} for tile in sizes}
    for found, apart in ((place_sharing(sizes, together, memory), together), (place_apart(sizes, memory), everyone)):
        if found is not None:
            assert list(found) == list(sizes)
            assert fits(found, sizes, apart, memory)
            assert leaves_enough(found, sizes, memory)


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(problems())
def test_a_placement_is_found_if_there_is_one(problem: tuple[dict[int, int], dict[int, set[int]], Memory]) -> None:
    sizes, together, memory = problem
    memory = Memory(memory.capacity, memory.alignment, memory.occupied)
    assert (place_sharing(sizes, together, memory) is not None) == some_placement(sizes, together, memory)


def test_no_order_by_size_will_do() -> None:
    # 0-1-2-3 in a row, each used with its neighbors: only sharing 0 with 2 and 1 with 3 fits.
    sizes = {0: 2, 1: 3, 2: 2, 3: 3}
    together = {0: {1}, 1: {0, 2}, 2: {1, 3}, 3: {2}}
    assert place_sharing(sizes, together, Memory(5, 1)) is not None
    assert place_sharing(sizes, together, Memory(4, 1)) is None


def test_apart_each_takes_the_first_place_in_order() -> None:
    memory = Memory(1280, 256, [(256, 100)])
    assert place_apart({"a": 300, "b": 256, "c": 10}, memory) == {"a": 512, "b": 0, "c": 1024}
    assert place_apart({"a": 300, "b": 256, "c": 10, "d": 1}, memory) is None
