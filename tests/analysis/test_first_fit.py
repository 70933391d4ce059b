"""The first free place: free, aligned, and no earlier one would do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loomir.analysis.first_fit import Room

spans = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 12)), max_size=8)


@given(spans, st.integers(1, 12), st.sampled_from([1, 2, 8]), st.integers(0, 40))
def test_the_first_free_place(occupied: list[tuple[int, int]], size: int, alignment: int, at_least: int) -> None:
    room = Room(200, alignment)
    for start, length in occupied:
        room.occupy(start, length)
    taken = {number for start, length in occupied for number in range(start, start + length)}
    place = room.first(size, at_least)
    fits = [
        start
        for start in range(at_least, place + 1)
        if start % alignment == 0 and not taken & set(range(start, start + size))
    ]
    assert fits == [place]
    assert room.is_free(place, size)


@given(st.lists(st.integers(1, 30), max_size=12), st.integers(0, 100), st.sampled_from([1, 4]))
def test_what_is_taken_is_disjoint_and_inside(sizes: list[int], capacity: int, alignment: int) -> None:
    room = Room(capacity, alignment)
    numbers: list[int] = []
    for size in sizes:
        place = room.take(size)
        if place is not None:
            numbers += range(place, place + size)
    assert len(numbers) == len(set(numbers))
    assert all(0 <= number < capacity for number in numbers)


def test_flags_of_pipes_without_others_in_the_way_stand_side_by_side() -> None:
    room = Room(16, 2)
    assert [room.take(width) for width in (2, 4, 2, 4, 2, 4, 2)] == [0, 2, 6, 8, 12, None, 14]
