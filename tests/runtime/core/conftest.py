"""For the tests of the core: they run on the library of the sources of now, and not at all without a compiler."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from loomir.runtime.core import compile_core, library

FOLDER = Path(__file__).parent


@pytest.fixture(scope="session", autouse=True)
def core() -> None:
    """Build the library if it is missing or out of date; several processes may come here at once."""
    if library.is_named():
        return
    if not compile_core.is_wanted():
        pytest.skip("LOOM_CORE=none")
    with open(FOLDER / "conftest.py", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not compile_core.is_current(library.path()):
            compile_core.build()
