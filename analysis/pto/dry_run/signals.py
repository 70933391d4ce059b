"""Signals between devices in a dry run: numbers in global memory that cores change and wait for.

A wait for a number that only grows is behind each change without which, and without all that comes after it, the number
would not be reached; behind which of several others it is, nobody knows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import eq, ge, gt, le, lt, ne
from typing import NamedTuple

from ....diagnostics.records import record

COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {"eq": eq, "ne": ne, "gt": gt, "ge": ge, "lt": lt, "le": le}

Place = tuple[str, int]
"""An array and a byte in it."""


@record
class Change:
    """A notification: its step, and what it adds, or sets; None if unknown."""

    step: int
    adds: bool
    value: int | None


@dataclass
class Signal:
    """A number: what it is at the start, None if unknown, and how it has been changed."""

    first: int | None
    changes: list[Change] = field(default_factory=list[Change])

    @property
    def value(self) -> int | None:
        """The number now."""
        found = self.first
        for change in self.changes:
            known = change.value is not None and (found is not None or not change.adds)
            found = None if not known else (found or 0) + (change.value or 0) if change.adds else change.value
        return found


@record
class Await:
    """A wait that has ended: its step, its signal, and the comparison."""

    step: int
    place: Place
    comparison: str
    wanted: int | None


class Moment(NamedTuple):
    """When a step takes place: its thread, its place in it, and the places in all threads that are not later."""

    thread: int
    at: int
    clock: Sequence[int]


class Order:
    """The changes of a signal, by thread, in which each comes after the one before it."""

    def __init__(self, signal: Signal, moments: Mapping[int, Moment]) -> None:
        self._first = signal.first
        self._moments = moments
        self._changes: dict[int, list[Change]] = {}
        for change in signal.changes:
            self._changes.setdefault(moments[change.step].thread, []).append(change)
        self._sums: dict[int, list[int]] = {}
        """Sums of the first changes of a thread, by the number of changes."""
        self._growing: dict[int, int] = {}
        """Number of the first changes of a thread that are known to be additions."""
        for thread, changes in self._changes.items():
            values = [change.value if change.adds and (change.value or 0) > 0 else None for change in changes]
            self._sums[thread] = [0, *accumulate(value or 0 for value in values)]
            self._growing[thread] = values.index(None) if None in values else len(values)

    def _after(self, moment: Moment) -> dict[int, int]:
        """Return the place of the first change in each thread that is not before, nor beside, a moment."""
        return {
            thread: bisect_left(changes, moment.at, key=lambda change: self._moments[change.step].clock[moment.thread])
            for thread, changes in self._changes.items()
        }

    def needs(self, wait: Await) -> tuple[int, ...]:
        """Return the last step of each thread that precedes a wait in every order."""
        before = {
            thread: bisect_left(changes, wait.step, key=lambda change: change.step)
            for thread, changes in self._changes.items()
        }
        ends = self._after(self._moments[wait.step])
        grows = all(end <= self._growing[thread] for thread, end in ends.items())
        if grows and self._first is not None and wait.wanted is not None and wait.comparison in ("ge", "gt", "eq"):
            total = self._first + sum(self._sums[thread][end] for thread, end in ends.items())
            least = wait.wanted + (wait.comparison == "gt")
            if wait.comparison != "eq" or total == least:
                before = {thread: self._needed(thread, many, ends, total - least) for thread, many in before.items()}
        return tuple(self._changes[thread][many - 1].step for thread, many in before.items() if many)

    def _needed(self, thread: int, many: int, ends: Mapping[int, int], spare: int) -> int:
        """Return how many of the first changes of a thread are such that more than `spare` is lost without them."""

        def is_spared(place: int) -> bool:
            later = self._after(self._moments[self._changes[thread][place].step])
            return spare >= sum(
                self._sums[other][end] - self._sums[other][min(end, later[other])] for other, end in ends.items()
            )

        return bisect_left(range(many), True, key=is_spared)


class Signals:
    """The signals of all devices."""

    def __init__(self) -> None:
        self.of: dict[Place, Signal] = {}
        self.awaits: list[Await] = []
