"""Room on the ways of an output queue: for how many wavelets there is some, and when the credits for them are back."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..fabric.model import UNBOUNDED
from .credits import Path, Takes


def room(paths: Iterable[Path], most: int, lines: Iterable[tuple[int, int]], go_on: Callable[[], None]) -> Takes:
    """Return how many of `most` wavelets may leave, the first of them when, and one every how many cycles.

    Each leaves at the largest of its credits' times and those of `lines`, first and rate. If there is no room for any,
    `go_on` is called when there may be.
    """
    lines = list(lines)
    count = most
    for path in paths:
        credits_ = path.credits()
        count = min(count, credits_.count)
        if not count:
            path.waiting.append(go_on)
            return Takes(0, 0, 0)
        if credits_.rate:
            lines.append((credits_.first, credits_.rate))
    first, rate = max(lines)
    for other, slower in lines:
        if slower > rate:
            count = min(count, (first - other) // (slower - rate) + 1)
    return Takes(first, rate, count)


def room_at_once(paths: Iterable[Path], wanted: int, rate: int, go_on: Callable[[], None]) -> int | None:
    """Return from when on `wanted` wavelets may leave, one every `rate` cycles.

    If there is no room for all of them, None is returned, and `go_on` is called when there may be.
    """
    first = -UNBOUNDED
    for path in paths:
        for number in range(wanted):
            credit = path.credit(number)
            if credit is None:
                path.waiting.append(go_on)
                return None
            first = max(first, credit - number * rate)
    return first
