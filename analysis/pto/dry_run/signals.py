"""Signals between devices in a dry run: numbers in global memory that cores change and wait for.

A wait for a number that only grows is behind each change without which the number would not be reached; behind which of
several others it is, nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import eq, ge, gt, le, lt, ne

COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {"eq": eq, "ne": ne, "gt": gt, "ge": ge, "lt": lt, "le": le}

Place = tuple[str, int]
"""An array and a byte in it."""


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Await:
    """A wait that has ended: its step, its signal, and the comparison."""

    step: int
    place: Place
    comparison: str
    wanted: int | None
    before: int
    """How many changes came before it in the dry run."""

    def needs(self, signal: Signal, behind: set[int]) -> tuple[int, ...]:
        """Return the steps that it is behind in every order, if the steps `behind` come after it."""
        before = signal.changes[: self.before]
        steps = tuple(change.step for change in before)
        others = [*before, *(change for change in signal.changes[self.before :] if change.step not in behind)]
        values = [change.value for change in others if change.adds and change.value is not None]
        grows = len(values) == len(others) and all(value > 0 for value in values)
        if not grows or signal.first is None or self.wanted is None or self.comparison not in ("ge", "gt", "eq"):
            return steps
        total, least = signal.first + sum(values), self.wanted + (self.comparison == "gt")
        if self.comparison == "eq" and total != least:
            return steps
        return tuple(change.step for change in before if total - (change.value or 0) < least)


class Signals:
    """The signals of all devices."""

    def __init__(self) -> None:
        self.of: dict[Place, Signal] = {}
        self.awaits: list[Await] = []
