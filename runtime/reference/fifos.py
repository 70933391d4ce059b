"""FIFOs in the memory of a PE, as two queues: elements that wait to be popped, and free places that wait to be filled.

A push takes places and leaves elements, a pop takes elements and leaves places, both as runs with time stamps. So an
operation that finds a FIFO full or empty waits as it would for wavelets, or ends if nothing can have come by the time
it looks.
"""

from __future__ import annotations

from dataclasses import dataclass

from .queues import InputQueue, Run
from .tasks import NEVER, Task


@dataclass(eq=False, slots=True)
class Side:
    """One end of a FIFO: of the operations that read it, or of those that write to it."""

    fifo: int
    """The row of the FIFO."""
    reads: bool
    action: str
    """What an operation does that finds nothing."""
    step: int
    """How many elements an operation moves at once, by the FIFO's SIMD mode."""
    task: Task | None
    """What the other side starts when this one can go on."""
    queue: InputQueue
    """What operations of this side take: elements, or places."""
    set_to: int = 0
    """How many elements an operation moves; 0 if its other operands say."""
    outstanding: int = 0
    """How many the last operation lacked when it stopped: the length of the next one."""
    missed: int = NEVER
    """When an operation stopped because it found too little, NEVER if none did since the task was started."""
    short: int = 0
    """What it lacks since then to go on (DSD-145, DSD-148); what others take meanwhile is lacking too."""

    def waits(self, *, is_async: bool) -> bool:
        """Return True if an operation that finds nothing waits; otherwise it ends."""
        return self.action == "suspend" or (self.action == "test_or_suspend" and is_async)

    @property
    def length(self) -> int:
        """How many elements the next operation moves; 0 is a length that is not set."""
        return self.outstanding or self.set_to

    def set_length(self, length: int) -> None:
        """Set the length of the operations that follow."""
        self.set_to, self.outstanding = length, 0

    # Tasks

    def stopped(self, time: int, lacking: int, need: int) -> None:
        """Note that an operation found less than the `need` elements with which it goes on, at a time, and ends without
        its last elements."""
        self.outstanding = lacking
        if self.task is not None:
            self.missed, self.short = time, need
            # What comes later may be known already.
            for run in self.queue.runs:
                self.arrived(run)

    def arrived(self, run: Run) -> None:
        """Start the task of this side when the other side has left enough for the operation that stopped."""
        if self.task is None or self.missed == NEVER:
            return
        if run.remaining < self.short:
            self.short -= run.remaining
            return
        self.missed = NEVER
        self.task.complete(run.head_time + (self.short - 1) * run.rate, activate=True)

    def woken(self, run: Run, ready: int, rate: int, count: int) -> None:
        """Start the task if an operation of this side waited for elements or places of a run (DSD-144, DSD-147).

        The operation was ready for the first at `ready`, and for the others `rate` cycles after the one before.
        """
        if self.task is None:
            return
        for k in range(count if run.rate > rate else 1):
            time = run.head_time + k * run.rate
            if time > ready:
                self.task.complete(time, activate=True)
            ready = max(ready, time) + rate


@dataclass(eq=False, slots=True)
class Fifo:
    """A FIFO of a PE."""

    number: int
    address: int
    """The first word of its buffer."""
    elements: int
    width: int
    """The words of an element."""
    reading: Side
    """Takes elements, from the time at which they can be popped."""
    writing: Side
    """Takes places, from the time at which they can be filled; their payload means nothing."""
    pushed: int = 0
    """Elements pushed so far: where the next goes."""

    def other(self, side: Side) -> Side:
        """Return the side that leaves what a side takes."""
        return self.writing if side is self.reading else self.reading

    def next_word(self) -> int:
        """Return the word to which the next element is pushed."""
        place = self.pushed % self.elements
        self.pushed += 1
        return self.address + place * self.width


def places(count: int, first: int, rate: int) -> Run:
    """Return places that become free, one by one."""
    return Run([0] * count, first, rate)
