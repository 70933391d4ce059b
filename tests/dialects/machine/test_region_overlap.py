"""Where regions meet, against sets of PEs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loomir.dialects.machine.region_overlap import Region, first_common, first_overlap

ranges = st.builds(range, st.integers(0, 20), st.integers(0, 40), st.integers(1, 7))
owned = st.lists(st.tuples(st.sampled_from("abc"), st.tuples(ranges, ranges)), max_size=6)


@given(ranges, ranges)
def test_first_common_number(one: range, other: range) -> None:
    assert first_common(one, other) == min(set(one) & set(other), default=None)


def pes(region: Region) -> set[tuple[int, int]]:
    return {(x, y) for x in region[0] for y in region[1]}


@given(owned)
def test_overlap_is_found_if_there_is_one(regions: list[tuple[str, Region]]) -> None:
    shared = {
        (i, j)
        for i, (owner, region) in enumerate(regions)
        for j, (other, second) in enumerate(regions)
        if i < j and owner != other and pes(region) & pes(second)
    }
    found = first_overlap(regions)
    if found is None:
        assert not shared
    else:
        first, second, pe = found
        assert (first, second) in shared
        assert pe in pes(regions[first][1]) & pes(regions[second][1])
