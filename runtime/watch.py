"""Progress reports of long runs: what the machine works on, and where in the program its units are.

The engine asks a `Watch` to look now and then, at points that it passes anyway; nothing that the program computes
depends on it, nor on the clock that it reads.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from ..diagnostics.limits import FIRST_NOTICE, LATER

MAX_PLACES = 4
"""Places in the program that a notice lists."""

BETWEEN_LOOKS = 0.25
"""Seconds from one look to the next, about."""

MIN_STEPS = 1 << 10
"""Of the engine, from one look to the next. The first look comes after so many, since nothing is known then."""


class Watch:
    """Reports on one machine. `notify` is called with each notice, a sentence of one line.

    The first comes after `first` seconds, never if that is 0; `clock` gives seconds.
    """

    def __init__(
        self, notify: Callable[[str], None], *, first: float = FIRST_NOTICE, clock: Callable[[], float] = monotonic
    ) -> None:
        self._notify = notify
        self._first = first
        self._clock = clock
        self.begin("the program")

    def begin(self, awaited: str, missing: Callable[[], str] | None = None) -> None:
        """Begin to report on `awaited`, "launch of 'main'"; `missing` says what it still lacks."""
        self._awaited = awaited
        self._missing = missing
        self._start = self._last = self._clock()
        self._due = self._first or float("inf")
        self._interval = MIN_STEPS
        self._steps = 0
        self._seen: dict[tuple[str, str | None], str] = {}

    def look(self, task: str, where: str | None, units: str, steps: int) -> int:
        """Note that some units, in words, are at place `where` of a task or function.

        `steps` have been taken since the last look; return those until the next.
        """
        self._steps += steps
        key = task, where
        self._seen.pop(key, None)
        self._seen[key] = units
        if len(self._seen) > MAX_PLACES:
            del self._seen[next(iter(self._seen))]
        now = self._clock()
        spent, self._last = now - self._last, now
        if spent < BETWEEN_LOOKS / 2:
            self._interval *= 2
        elif spent > BETWEEN_LOOKS * 2 and self._interval > MIN_STEPS:
            self._interval //= 2
        if now - self._start >= self._due:
            self._due *= LATER
            self._notify(f"{self._awaited} is still running: {self.report()}")
        return self._interval

    def report(self) -> str:
        """Return for how long the machine has worked, and where its units were seen last, on one line."""
        seconds = self._clock() - self._start
        places = [f"{units} in @{name}{f' at {where}' if where else ''}" for (name, where), units in self._seen.items()]
        seen = f", last seen {'; '.join(reversed(places))}" if places else ""
        missing = f", {self._missing()}" if self._missing is not None else ""
        steps = f" and {self._steps:,} steps" if self._steps else ""
        return f"{seconds:.0f} s{steps} so far{missing}{seen}"

    def interrupted(self) -> str:
        """Return what was interrupted, on one line."""
        return f"{self._awaited} was interrupted: {self.report()}"
