"""Engines as large grids have them."""

import pytest

from loomir.runtime.fabric import classes


@pytest.fixture
def memory_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give PEs only the memory in which their program has buffers, as on a grid that is too large for all of it."""
    monkeypatch.setattr(classes, "MAX_WHOLE_MEMORY", 0)
