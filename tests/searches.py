"""How much of random searches and of tables of cases a run tries: all of it, or a part that takes little time."""

from __future__ import annotations

from hypothesis import settings

THOROUGH = "thorough"
"""The name of the profile of hypothesis under which all is tried."""


def examples(count: int) -> int:
    """Return how many of `count` random examples to try: all, or a third of them unless the run is thorough."""
    return count if settings.get_current_profile_name() == THOROUGH else max(1, -(-count // 3))


def is_chosen(position: int, of: int) -> bool:
    """Return whether a case is the one that stands for its group of `of`: in each group another place.

    So all values of a parameter are chosen that has `of` values and changes fastest.
    """
    return (position + position // of) % of == 0
