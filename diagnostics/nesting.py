"""Deep nesting: walks over programs that are nested more deeply than Python lets functions call each other."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager

MAX_FRAMES = 10_000
"""Frames of Python that a walk over a nested program may use: what the stack of a process holds, by a wide margin."""


@contextmanager
def deep_nesting() -> Generator[None]:
    """Let walks over nested programs go deeper than Python does by itself. Raises LoomError where that is too deep."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, MAX_FRAMES))
    try:
        yield
    except RecursionError:
        from .errors import LoomError  # with xDSL, which the CSL parser starts without

        raise LoomError("the program is nested too deeply; put a part of it into a function of its own") from None
    finally:
        sys.setrecursionlimit(limit)
