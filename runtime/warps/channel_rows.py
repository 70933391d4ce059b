"""Counters of a channel, shared by the rows of the grid that are in step."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .warp import Warp


class Waiter(NamedTuple):
    """Units that wait at an operation of a channel."""

    warp: Warp
    action: str
    members: range
    where: str | None


class Copy(NamedTuple):
    """Where the copy of an entry is in the memory of one of its consumers: bytes from `start` to `end`."""

    member: int
    number: int
    start: int
    end: int


MAX_COPIES = 64
"""Copies remembered: many times what is in use at once."""


class Rows:
    """The state of a channel on some rows of the grid that have done the same so far.

    Counts per producer and per consumer: entries acquired, committed, waited for, released. Counts per lane: entries
    that are complete, credits that are there.
    """

    __slots__ = (
        "acquired",
        "answers",
        "committed",
        "consumed",
        "copies",
        "credits",
        "granted",
        "issued",
        "left",
        "ready",
        "released",
        "rows",
        "safe",
        "waited",
        "waiters",
        "written",
    )  # fmt: skip

    def __init__(self, rows: range, producers: int, consumers: int, lanes: int, seed: int):
        self.rows = rows
        self.acquired = [0] * producers
        self.committed = [0] * producers
        self.written = [-1] * producers
        """The last entry each producer has written to."""
        self.waited = [0] * consumers
        self.released = [0] * consumers
        self.ready = [0] * lanes
        self.credits = [seed] * lanes
        self.issued = [0] * lanes
        self.consumed = [0] * lanes
        self.granted: list[deque[int]] = [deque([0] * seed) for _ in range(lanes)]
        """How many entries each available credit guarantees to be released."""
        self.safe = [0] * lanes
        """How many entries the credits taken so far, and answers, guarantee to be released."""
        self.answers: list[deque[list[list[int]]]] = [deque() for _ in range(lanes)]
        """For each available entry, how many entries its sender had released on the channels it answers, by lane."""
        self.copies: deque[Copy] = deque(maxlen=MAX_COPIES)
        """The consumers' copies of the latest entries."""
        self.waiters: list[Waiter] = []
        self.left = False
        """True if its rows have diverged: other `Rows` then hold their state."""

    def part(self, rows: range) -> Rows:
        """Return the same state for some of the rows, without the waiters."""
        copy = Rows.__new__(Rows)
        copy.rows = rows
        for name in ("acquired", "committed", "written", "waited", "released", "ready", "credits", "issued", "consumed",
                     "safe"):  # fmt: skip
            setattr(copy, name, list(getattr(self, name)))
        copy.granted = [deque(credits) for credits in self.granted]
        copy.answers = [deque(entries) for entries in self.answers]
        copy.copies = self.copies.copy()
        copy.waiters = []
        copy.left = False
        return copy

    def renew(self, seed: int, *, keep: bool) -> None:
        """Start a new launch: number entries from 0 again; clear the flags unless `keep`."""
        for counts in (
            self.acquired,
            self.committed,
            self.waited,
            self.released,
            self.issued,
            self.consumed,
            self.safe,
        ):
            counts[:] = [0] * len(counts)
        self.written[:] = [-1] * len(self.written)
        self.copies.clear()
        for entries in self.answers:
            entries.clear()
        for lane, left in enumerate(self.credits):
            self.credits[lane] = seed + left if keep else seed
            self.granted[lane] = deque([0] * self.credits[lane])
        if not keep:
            self.ready[:] = [0] * len(self.ready)


class Place(NamedTuple):
    """A set of units in a channel: the state of their rows, which producers or consumers they are, their lanes."""

    rows: Rows
    members: range
    lanes: range


def runs(rows: list[int]) -> list[range]:
    """Return sorted rows as few ranges."""
    found: list[range] = []
    for row in rows:
        if found and found[-1].stop == row:
            found[-1] = range(found[-1].start, row + 1)
        else:
            found.append(range(row, row + 1))
    return found
