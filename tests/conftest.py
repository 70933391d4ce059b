"""For all tests: which cases every run tries, and the profiles of hypothesis.

How long an example takes is the machine's business, so hypothesis sets no deadline for it.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import settings

from .searches import THOROUGH, is_chosen

settings.register_profile("short", deadline=None, max_examples=100 // 3)
settings.register_profile(THOROUGH, deadline=None)
settings.load_profile("short")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the cases of a test marked `one_in` as thorough, but for one in so many."""
    positions: Counter[str] = Counter()
    for item in items:
        mark = item.get_closest_marker("one_in")
        if mark is not None:
            name = item.nodeid.partition("[")[0]
            if not is_chosen(positions[name], mark.args[0]):
                item.add_marker("thorough")
            positions[name] += 1
