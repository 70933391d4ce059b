"""Back pressure: sends that full ways, or networks, hold back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .operations import Issue
    from .queues import OutputQueue
    from .races import Flight


@dataclass(eq=False, slots=True)
class Send:
    """A send that is not sure to find room; `done` is when it ends as far as known."""

    issue: Issue
    queue: OutputQueue
    count: int
    """Its wavelets."""
    since: int
    """When it was issued."""
    done: int
    own: int
    """When its last wavelet leaves of itself."""
    waiting: int = 0
    """Receivers that have not made room yet; the network, for a message."""
    unheld: int = 0
    """When it ends if nothing holds it back."""
    blocked: int = 0
    """Cycles that its elements have waited for its microthread to be unblocked."""
    holds_task: bool = False
    """True if its task waits for it."""
    flight: Flight | None = None
    """It, if it is asynchronous and races are looked for."""
    settled: bool = field(default=False)
    """True if it is known what is left to wait for; from then on its end is acted upon."""
    tail: int = field(init=False)
    """Cycles from when its last wavelet leaves to its end, if it ends behind that."""

    def __post_init__(self) -> None:
        self.tail = max(0, self.done - self.own)

    def may_leave(self, time: int) -> None:
        """Note that there is no room for its last wavelet before a time: it does not end before, either."""
        self.done = max(self.done, time + self.tail)

    def accept(self, time: int) -> bool:
        """Note that it may end from a time on, as a receiver or the network sees it; return True if that was the last.

        Until the send is settled nothing ends it.
        """
        self.done = max(self.done, time)
        self.waiting -= 1
        return self.settled and not self.waiting
