"""Resources of a PE that one operation uses at a time: queues, ends of FIFOs, and microthreads.

Two operations that use one at the same time are the programmer's mistake (DSD-208, DSD-209). When the second starts,
the first must have completed; the second start may be known first, so it is remembered and judged when the end of the
first is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .faults import Fault
from .tasks import NEVER


class User(NamedTuple):
    """An operation that uses a resource: its row, the task that issued it, and its source place."""

    operation: int
    task: int
    where: int


class Early(NamedTuple):
    """A use that started while another was open."""

    start: int
    later: User
    earlier: User
    since: int
    """When the earlier one started."""


class Resource:
    """One queue, end of a FIFO or microthread. `conflict` notes two uses at one time, of which the later starts at a
    cycle, and returns the error."""

    __slots__ = ("_conflict", "_early", "_ends", "_since", "_user")

    def __init__(self, conflict: Callable[[int, User, User], Fault]) -> None:
        self._conflict = conflict
        self._ends = 0
        """When the use ends that started last, NEVER while it is going on."""
        self._since = 0
        """When it started."""
        self._user: User | None = None
        self._early: list[Early] = []

    @property
    def is_open(self) -> bool:
        """True if a use is still going on."""
        return self._ends == NEVER

    @property
    def ends(self) -> int:
        """When the use ends that started last, NEVER while it is going on."""
        return self._ends

    def use(self, user: User, start: int, end: int) -> None:
        """Use the resource from `start` to `end`, NEVER if that is not known yet."""
        if self._ends > start:
            assert self._user is not None
            if self._ends != NEVER:
                raise self._conflict(start, user, self._user)
            self._early.append(Early(start, user, self._user, self._since))
        self._ends, self._user, self._since = end, user, start

    def extend(self, end: int) -> None:
        """Let the use that started last end at another time, NEVER if that is not known yet."""
        self._ends = end

    def release(self, since: int, end: int) -> None:
        """End the open use that started at a cycle: a later one may end before it."""
        for place, early in enumerate(self._early):
            if early.since == since:
                del self._early[place]
                if end > early.start:
                    self._conflict(early.start, early.later, early.earlier)
                return
        self._ends = end

    def rest(self, until: int) -> None:
        """Find uses that have started up to a cycle during one that is open when all has happened up to there."""
        for early in self._early:
            if early.start <= until:
                self._conflict(early.start, early.later, early.earlier)
