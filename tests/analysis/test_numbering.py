"""Numbers for colors and tasks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loomir.analysis.numbering import number

wanted = st.dictionaries(st.text("abcdef", min_size=1, max_size=3), st.none() | st.integers(0, 9), max_size=12)


@given(wanted, st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9)))
def test_fixed_stay_and_free_are_distinct(wanted: dict[str, int | None], allowed: set[int], avoid: set[int]) -> None:
    numbers = number(wanted, sorted(allowed), avoid)
    fixed = {name: value for name, value in wanted.items() if value is not None}
    assert {name: numbers[name] for name in fixed} == fixed
    free = [numbers[name] for name in wanted if name not in fixed and name in numbers]
    usable = allowed - avoid - set(fixed.values())
    # The lowest ones, in the order of the names, as many as there are.
    assert free == sorted(usable)[: len(wanted) - len(fixed)]
