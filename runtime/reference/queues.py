"""Queues of a PE: the runs of wavelets in them, and the operations that wait for more."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from .resources import Resource
from .tasks import NEVER, Task

if TYPE_CHECKING:
    from .credits import Path
    from .entry import Entry
    from .pes import PE, Issue
    from .receiving import OpenOperation


class Piece(Protocol):
    """The part of a message of a network that a run holds."""

    def taken(self, position: int, count: int, time: int, rate: int) -> None:
        """Note that wavelets have been taken, the first at a time."""
        ...

    def check_cut(self, issue: Issue) -> None:
        """Warn if an operation takes 16 bits of each element, and some have more."""
        ...

    def check_last(self, receiver: PE, value: int) -> None:
        """Warn if the last wavelet, which starts no data task, is more than padding."""
        ...


@dataclass(eq=False, slots=True)
class Run:
    """Wavelets of one sender, of which `taken` are consumed; wavelet k is there at `first` + k * `rate`.

    `origin` orders runs whose wavelets are there in one cycle, as `Way` says. `path` is what they come by, if that may
    be full.
    """

    payload: list[int]
    """Their bits: of a 16-bit element the low half."""
    first: int
    rate: int
    control: bool = False
    origin: int = 0
    taken: int = 0
    path: Path | Entry | None = None
    piece: Piece | None = None

    @property
    def remaining(self) -> int:
        """How many wavelets are left."""
        return len(self.payload) - self.taken

    @property
    def head_time(self) -> int:
        """When the next wavelet is there."""
        return self.first + self.taken * self.rate

    @property
    def head(self) -> Run:
        """Return the next wavelet alone."""
        word = self.payload[self.taken]
        return Run([word], self.head_time, 1, self.control, self.origin, path=self.path, piece=self.piece)


@dataclass(eq=False, slots=True)
class InputQueue:
    """An input queue of a PE; a queue of the host on a stream to it; and what an end of a FIFO takes."""

    number: int
    """Its row; of an end of a FIFO that of the FIFO."""
    row: Any
    room: int
    """Wavelets that it holds."""
    resource: Resource
    has_several_senders: bool = False
    """True if wavelets come to it in the order of time."""
    entry: Entry | None = None
    """Its words, if several senders share them."""
    network: int | None = None
    """The network whose messages it receives."""
    task: Task | None = None
    """What its wavelets start."""
    control_only: bool = False
    """True if only control wavelets start anything."""
    runs: deque[Run] = field(default_factory=deque[Run])
    waiting: list[OpenOperation] = field(default_factory=list["OpenOperation"])

    def head_time(self, *, to_read: bool = False) -> int:
        """Return when the next wavelet is there, NEVER if there is none.

        One that could start no task counts only if an operation is `to_read` it.
        """
        if not self.runs:
            return NEVER
        head = self.runs[0]
        return head.head_time if to_read or head.control or not self.control_only else NEVER

    def gather(self, need: int) -> bool:
        """Have `need` elements of a FIFO, or places in it, in the first run, all there at once.

        Return False if there are fewer.
        """
        if sum(run.remaining for run in self.runs) < need:
            return False
        head = self.runs[0]
        if head.rate == 0 and head.remaining >= need:
            return True
        payload: list[int] = []
        time = 0
        while len(payload) < need:
            run = self.runs[0]
            count = min(need - len(payload), run.remaining)
            payload += run.payload[run.taken : run.taken + count]
            run.taken += count
            time = max(time, run.first + (run.taken - 1) * run.rate)
            if not run.remaining:
                self.runs.popleft()
        self.runs.appendleft(Run(payload, time, 0))
        return True

    def recount(self) -> None:
        """Note what is first in the queue: drop runs that are used up, and say when the data task may start."""
        while self.runs and not self.runs[0].remaining:
            self.runs.popleft()
        if self.task is not None:
            self.task.active = self.head_time()
            self.task.touch()


@dataclass(frozen=True, slots=True)
class Way:
    """Where wavelets of an output queue arrive, and how many cycles after they leave.

    Of wavelets that arrive in one cycle those with the smaller `origin` come first: by the port at which they come to
    the receiver's router, then by their sender's row, column and queue.
    """

    pe: int
    queue: int
    latency: int
    origin: int
    path: Path | None
    """What is on it; None if it is never full."""
    meets: bool
    """True if others send to the queue as well."""


@dataclass(eq=False, slots=True)
class OutputQueue:
    """An output queue of a PE and where its wavelets go."""

    number: int
    row: Any
    color: int | None
    flags: int
    """Of `fabric.model`."""
    resource: Resource
    ways: list[Way]
    network: int | None
    ramp: Path | None = None
    """What is on the way to the PE's router, if the color has switches."""
    unread: int = 0
    """Wavelets sent of which some receiver has no queue for the color."""

    @property
    def paths(self) -> list[Path]:
        """What its wavelets leave by that may be full."""
        found = [way.path for way in self.ways if way.path is not None]
        return found if self.ramp is None else [*found, self.ramp]
