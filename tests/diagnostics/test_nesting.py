"""Frames of deep calls take no memory from the system, call by call."""

from __future__ import annotations

import resource

from loomir.diagnostics.nesting import with_room_for_frames

CALLS = 50


def wide() -> None:
    """Has a frame larger than that of `at_depth`, so that there is a depth at which it fits no more."""
    a = b = c = d = e = f = g = h = i = j = k = m = n = o = p = q = r = s = t = u = v = w = x = y = None
    del a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t, u, v, w, x, y


def at_depth(depth: int) -> None:
    """Call below so many frames."""
    if depth:
        at_depth(depth - 1)
    else:
        for _ in range(CALLS):
            wide()


def faults() -> int:
    """Return the pages taken from the system by calls at 400 depths: at some, a chunk of 16 KiB is full."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for depth in range(400):
        at_depth(depth)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_calls_take_no_memory() -> None:
    assert faults() >= CALLS
    assert with_room_for_frames(faults) < CALLS
