"""Deep nesting: walks over programs that are nested more deeply than Python lets functions call each other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

ResultT = TypeVar("ResultT")

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


def with_room_for_frames(run: Callable[[], ResultT]) -> ResultT:
    """Call a function with room for the frames of all that it calls.

    Python keeps frames in chunks of 16 KiB. A call that does not fit into the last one takes another from the system,
    and its return frees it: a loop that happens to make its calls at such a depth waits for the system each time.
    A frame that is larger than a chunk gets one that has as much room again.
    """
    return run()


FRAME_VALUES = 64 * 1024
"""Values that the frame of `with_room_for_frames` claims to need, and does not use: half a megabyte."""

with_room_for_frames.__code__ = with_room_for_frames.__code__.replace(co_stacksize=FRAME_VALUES)
