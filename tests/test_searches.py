"""Which cases of large tables every run tries, and which a quick one."""

import pytest

from .searches import is_chosen, quick_case


@pytest.mark.parametrize("of", [2, 3, 4, 5])
def test_one_of_each_group_and_all_values_of_the_fastest_parameter(of: int) -> None:
    chosen = [position for position in range(of * of) if is_chosen(position, of)]
    assert [position // of for position in chosen] == list(range(of))
    assert sorted(position % of for position in chosen) == list(range(of))


def test_quick_case() -> None:
    assert quick_case("a test", 1) == 0
    chosen = {quick_case(f"test {number}", 4) for number in range(100)}
    assert chosen == {0, 1, 2, 3}
    assert quick_case("a test", 100) == quick_case("a test", 100)
