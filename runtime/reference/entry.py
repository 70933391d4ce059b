"""Entry: the words of a queue in which senders meet, which they share.

A way to such a queue holds what its links and the sender's queue do, and a wavelet gives its place on the way back when
it enters the queue. Wavelets enter in the order in which they come. What finds no room on its way is handed over later
(`multicast`): whose wavelets come first depends on when they leave.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from .credits import Path

if TYPE_CHECKING:
    from .machine import Machine


class Entry:
    """The words of a queue, and the wavelets that wait for one."""

    def __init__(self, words: int) -> None:
        self._words = words
        self._inside = 0
        """Wavelets that have entered and not been taken."""
        self._waiting: deque[tuple[Path | None, int]] = deque()
        """The ways of those that have come and found no room, and when they came."""
        self._takes: deque[int] = deque(maxlen=words)
        """When the last wavelets have been taken."""

    def come(self, machine: Machine, way: Path | None, time: int) -> None:
        """Let a wavelet that comes at a time enter, as soon as there is room."""
        free = self._words - self._inside
        if not free:
            self._waiting.append((way, time))
            return
        self._inside += 1
        if len(self._takes) >= free:
            time = max(time, self._takes[-free])
        if way is not None:
            way.taken(machine, time, 1, 1)

    def taken(self, machine: Machine, first: int, rate: int, count: int) -> None:
        """Note that wavelets are taken, and let in as many of those that wait."""
        for time in range(first, first + count * rate, rate):
            self._takes.append(time)
            if not self._waiting:
                self._inside -= 1
                continue
            way, came = self._waiting.popleft()
            if way is not None:
                way.taken(machine, max(came, time), 1, 1)
