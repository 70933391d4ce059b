"""Which cases of large tables every run tries, and which a quick one."""

import pytest

from .searches import is_chosen, quick_cases


@pytest.mark.parametrize("of", [2, 3, 4, 5])
def test_one_of_each_group_and_all_values_of_the_fastest_parameter(of: int) -> None:
    chosen = [position for position in range(of * of) if is_chosen(position, of)]
    assert [position // of for position in chosen] == list(range(of))
    assert sorted(position % of for position in chosen) == list(range(of))


def test_quick_cases() -> None:
    assert quick_cases(1) == {0}
    assert quick_cases(2) == {0, 1}
    assert quick_cases(100) == {0, 50}
