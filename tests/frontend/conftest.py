"""A directory with a compiler for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from .harness import Csl


@pytest.fixture
def csl(tmp_path: Path) -> Csl:
    return Csl(tmp_path)
