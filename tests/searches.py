"""How much of random searches and of tables of cases a run tries: all of it, or a part that takes little time."""

from __future__ import annotations

from zlib import crc32

from hypothesis import settings

SHARES = {"search": 1, "thorough": 1, "short": 16, "quick": 20}
"""The profiles of hypothesis: each tries one in so many of the examples that a test asks for."""


def examples(count: int, *, seldom: bool = False) -> int:
    """Return how many of `count` random examples to try under the profile of hypothesis that is chosen.

    `seldom`: what seldom changes is tried in short runs no more than in quick ones.
    """
    profile = settings.get_current_profile_name()
    return max(1, -(-count // SHARES.get("quick" if seldom and profile == "short" else profile, 1)))


def is_chosen(position: int, of: int) -> bool:
    """Return True if a case is the one that stands for its group of `of`: in each group another place.

    So all values of a parameter are chosen that has `of` values and changes fastest.
    """
    return (position + position // of) % of == 0


def quick_case(test: str, count: int) -> int:
    """Return which of a test's `count` cases a quick run tries: the same each time, another place in each test.

    So all machines and executors are tried by some tests.
    """
    return crc32(test.encode()) % count
