"""Trace of a run: records of tasks, operations, waits and wavelets; see docs/statistics.md."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from ..tables.format import NONE
from ..trace_lines import (
    COMPLETED,
    ENDS,
    FIFO,
    ISSUED,
    MAX_STEP,
    RECORD,
    SENT,
    STARTS,
    TAKEN,
    WAITED,
    WRITES,
    Traced,
    Tracing,
)
from .pes import PE, Issue
from .tasks import Task

Place = tuple[int, int]
"""A PE, and a queue as a record has it."""


@dataclass(slots=True)
class Wavelets:
    """Wavelets of one queue: `count`, one every `rate` cycles from `first` on."""

    first: int
    count: int = 1
    rate: int = 0

    def add(self, time: int) -> bool:
        """Add the next wavelet; return False if it does not go on as those before."""
        if self.count == 1 and 0 <= time - self.first <= MAX_STEP:
            self.rate = time - self.first
        elif self.count == 1 or time != self.first + self.count * self.rate:
            return False
        self.count += 1
        return True


@dataclass(slots=True)
class Wait:
    """A wait of an operation for a queue: that of its elements one after the other."""

    first: int
    until: int
    goes_on: int
    """When the operation is ready for the next element."""
    cycles: int
    who: tuple[int, int, int, int]
    """Task, operation, place and microthread."""


class Trace:
    """Keeps records, all or the last ones."""

    def __init__(self, tracing: Tracing) -> None:
        self._events = tracing.events
        self._records: deque[tuple[int, ...]] = deque(maxlen=tracing.last)
        self._is_bounded = tracing.last is not None
        self._count = 0
        self._wavelets: dict[tuple[int, Place], Wavelets] = {}
        self._waits: dict[Place, Wait] = {}

    def starts(self, pe: PE, task: Task) -> None:
        """Note that a task starts."""
        self._note(pe.now, pe.now, 0, pe.number, task.number, NONE, 0, NONE, STARTS)

    def ends(self, pe: PE, task: Task) -> None:
        """Note that a task ends."""
        self._note(pe.now, pe.now, 0, pe.number, task.number, NONE, 0, NONE, ENDS)

    def issues(self, issue: Issue) -> None:
        """Note that an operation is issued."""
        self._note(issue.pe.now, issue.pe.now, 0, issue.pe.number, *_who(issue), ISSUED)

    def completes(self, issue: Issue, time: int, count: int) -> None:
        """Note that an operation is completed, with its elements, or wavelets if it sends."""
        self._note(time, time, count, issue.pe.number, *_who(issue), COMPLETED)

    def waits(self, issue: Issue, queue: int, ready: int, until: int, rate: int) -> None:
        """Note that an element waits; the operation is ready for the next one `rate` cycles later."""
        place, who = (issue.pe.number, queue), _who(issue)
        wait = self._waits.get(place)
        if wait is not None and (wait.who, wait.goes_on) == (who, ready):
            wait.until, wait.goes_on, wait.cycles = until, until + rate, wait.cycles + until - ready
            return
        self._end_wait(place)
        self._waits[place] = Wait(ready, until, until + rate, until - ready, who)

    def waits_blocked(self, issue: Issue, ready: int, until: int) -> None:
        """Note that an element waits for its microthread to be unblocked."""
        self._note(ready, until, until - ready, issue.pe.number, *_who(issue), WAITED)

    def leaves(self, pe: PE, queue: int, count: int, first: int, rate: int) -> None:
        """Note that wavelets leave an output queue."""
        self._moves(SENT, (pe.number, queue), count, first, rate)

    def takes(self, pe: PE, queue: int, count: int, first: int, rate: int) -> None:
        """Note that wavelets are taken from an input queue."""
        self._moves(TAKEN, (pe.number, queue), count, first, rate)

    def _moves(self, event: int, place: Place, count: int, first: int, rate: int) -> None:
        for number in range(count):
            time = first + number * rate
            wavelets = self._wavelets.get((event, place))
            if wavelets is None or not wavelets.add(time):
                self._end_wavelets(event, place)
                self._wavelets[event, place] = Wavelets(time)

    def _end_wavelets(self, event: int, place: Place) -> None:
        wavelets = self._wavelets.pop((event, place), None)
        if wavelets is not None:
            last = wavelets.first + (wavelets.count - 1) * wavelets.rate
            pe, queue = place
            self._note(wavelets.first, last, wavelets.count, pe, NONE, NONE, 0, NONE, event, queue)

    def _end_wait(self, place: Place) -> None:
        wait = self._waits.pop(place, None)
        if wait is not None:
            pe, queue = place
            self._note(wait.first, wait.until, wait.cycles, pe, *wait.who, WAITED, queue)

    def _note(self, *values: int) -> None:
        event = values[8]
        if self._events >> event & 1:
            self._count += 1
            self._records.append(values if len(values) == len(RECORD.names or ()) else (*values, NONE))

    def traced(self) -> Traced:
        """Return the records that are kept, in any order; unless only the last are, they are forgotten."""
        for event, place in list(self._wavelets):
            self._end_wavelets(event, place)
        for place in list(self._waits):
            self._end_wait(place)
        found = np.array(list(self._records), RECORD)
        dropped = self._count - len(found)
        if not self._is_bounded:
            self._records.clear()
            self._count = 0
        return Traced(found, dropped)

    @property
    def held(self) -> int:
        """Return the number of records that are kept now."""
        return self._count


def fifo_end(fifo: int, *, reads: bool) -> int:
    """Return an end of a FIFO as a record has it."""
    return FIFO | (0 if reads else WRITES) | fifo


def _who(issue: Issue) -> tuple[int, int, int, int]:
    """Return the task, the operation, the place and the microthread of a record."""
    thread, user = issue.settings.microthread, issue.user
    return user.task, issue.operation.number, user.where, NONE if thread is None else thread
