"""Buffers in the memory of a PE: no overlap, aligned, in order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomir.analysis.memory_layout import Allocation, lay_out

allocations = st.lists(
    st.builds(
        Allocation,
        name=st.text("abc", min_size=1),
        words=st.integers(0, 40),
        alignment=st.sampled_from([1, 2, 4, 16]),
    ),
    max_size=12,
)


@given(allocations)
def test_every_word_belongs_to_one_buffer(buffers: list[Allocation]) -> None:
    layout = lay_out(buffers, 10_000)
    assert layout is not None
    words = [
        start + word for buffer, start in zip(buffers, layout.addresses, strict=True) for word in range(buffer.words)
    ]
    assert words == sorted(set(words))
    assert all(word < layout.words for word in words)
    assert all(start % b.alignment == 0 for b, start in zip(buffers, layout.addresses, strict=True))


@pytest.mark.slow
@given(allocations)
def test_no_word_is_wasted_but_for_alignment(buffers: list[Allocation]) -> None:
    layout = lay_out(buffers, 10_000)
    assert layout is not None
    end = 0
    for buffer, start in zip(buffers, layout.addresses, strict=True):
        assert start - end < buffer.alignment
        end = start + buffer.words
    # One to make the size even, two to keep it off the period.
    assert end <= layout.words <= end + 3


@given(allocations, st.integers(0, 400))
def test_fits_exactly_if_the_last_buffer_ends_inside(buffers: list[Allocation], capacity: int) -> None:
    capacity *= 2
    unlimited = lay_out(buffers, 10_000)
    assert unlimited is not None
    end = max((a + b.words for a, b in zip(unlimited.addresses, buffers, strict=True)), default=0)
    layout = lay_out(buffers, capacity)
    assert (layout is not None) == (end <= capacity)
    if layout is not None:
        assert layout.addresses == unlimited.addresses
        assert layout.words <= capacity and layout.words % 2 == 0


def test_sizes_avoid_powers_of_two_where_there_is_room() -> None:
    for words in (256, 512, 1024, 2048):
        roomy = lay_out([Allocation("a", words, 1)], 24576)
        tight = lay_out([Allocation("a", words, 1)], words)
        assert roomy is not None and roomy.words == words + 2
        assert tight is not None and tight.words == words
