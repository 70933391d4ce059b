"""Back pressure: sends that full receiving queues hold back.

A send of n wavelets ends no earlier than every receiver, with room for r, has taken wavelet n - r - 1; wavelets on the
way count as taken one latency earlier: the links hold them. Operations that receive and send at once are not held back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .operations import Issue
    from .queues import OutputQueue


@dataclass(eq=False, slots=True)
class Send:
    """A send that is not sure to find room; `done` is when it ends as far as known."""

    issue: Issue
    queue: OutputQueue
    count: int
    """Its wavelets."""
    done: int
    waiting: int = 0
    """Receivers that have not made room yet; the network, for a message."""
    holds_task: bool = False
    """True if its task waits for it."""
    settled: bool = field(default=False)
    """True if it is known what is left to wait for; from then on its end is acted upon."""

    def accept(self, time: int) -> bool:
        """Note that a receiver has made room, or that a message has left, at a time; return True if that was the last.

        Until the send is settled nothing ends it.
        """
        self.done = max(self.done, time)
        self.waiting -= 1
        return self.settled and not self.waiting
