"""Order of events: the smallest (cycle, kind, PE, number) comes first, strictly.

The kinds are those of what only time can decide. Everything else follows from time stamps and needs no order, up to the
end of an epoch: no PE goes on past it before all have come there.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from heapq import heappop, heappush
from typing import TypeAlias

from .tasks import NEVER

EPOCH = 1 << 16
"""Cycles that no PE is ahead of another."""


class Kind(IntEnum):
    """What happens, in the order in which it does in one cycle."""

    MESSAGE = 0
    """A message of a network comes to a link, or leaves one."""
    ROUTER = 1
    """A router chooses between wavelets at several of its ports."""
    RUN = 2
    """Wavelets come to a queue with several senders."""
    POLL = 3
    """An operation looks at a FIFO that may have nothing for it."""
    PICK = 4
    """A PE picks a task."""
    TURN = 5
    """An operation takes an element if none of higher priority is at work."""
    ACCESS = 6
    """A task reads or writes a configuration register."""


Act: TypeAlias = Callable[[int], None]
"""Lets an event happen at its cycle; one that is out of date does nothing."""

_Event: TypeAlias = tuple[int, int, int, tuple[int, ...], int, Act]


class Order:
    """The events that are still to come."""

    def __init__(self) -> None:
        self._heap: list[_Event] = []
        self._count = 0

    def schedule(self, cycle: int, kind: Kind, pe: int, number: tuple[int, ...], act: Act) -> None:
        """Add an event. Of equal keys the one that was added first comes first."""
        self._count += 1
        heappush(self._heap, (cycle, kind, pe, number, self._count, act))

    def __len__(self) -> int:
        return len(self._heap)

    def __bool__(self) -> bool:
        return bool(self._heap)

    @property
    def first(self) -> int:
        """The cycle of the next event, NEVER if there is none."""
        return self._heap[0][0] if self._heap else NEVER

    def advance(self) -> None:
        """Let the next event happen."""
        cycle, _, _, _, _, act = heappop(self._heap)
        act(cycle)
