"""For all tests: which cases a run tries, and the profiles of hypothesis.

How long an example takes is the machine's business, so hypothesis sets no deadline for it. A commit passes or fails
alike on every machine, so all profiles but `search` try the same examples each time.
"""

from __future__ import annotations

import gc
from collections import defaultdict

import pytest
from hypothesis import settings

from .searches import SHARES, is_chosen, quick_cases

for name, share in SHARES.items():
    settings.register_profile(name, deadline=None, max_examples=100 // share, derandomize=name != "search")
settings.load_profile("short")

# IR is full of cycles and lives long: collections between the allocations of a test take a tenth of all time.
gc.set_threshold(100_000, 10, 10)


def pytest_collection_finish() -> None:
    """Keep what tests and modules consist of out of all collections to come."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as thorough the cases that `one_in` leaves to thorough runs, and as slow the cases beyond a few."""
    cases_of: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases_of[item.nodeid.partition("[")[0]].append(item)
    for cases in cases_of.values():
        for position, item in enumerate(cases):
            mark = item.get_closest_marker("one_in")
            if mark is not None and not is_chosen(position, mark.args[0]):
                item.add_marker("thorough")
        others = [item for item in cases if item.get_closest_marker("thorough") is None]
        chosen = quick_cases(len(others))
        for position, item in enumerate(others):
            if position not in chosen:
                item.add_marker("slow")
