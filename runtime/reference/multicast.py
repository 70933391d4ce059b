"""Multicasts: a wavelet leaves when there is room for it on all its ways, so that the slowest receiver holds all back.

What all ways have room for is handed over at once; the rest follows as credits come back. Which wavelets go together
makes no difference: each leaves at the larger of its own time and those of its credits. So it is with a single way to a
queue where senders meet, one of which may be the host.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from .endings import accept
from .queues import Run, Way
from .room import room
from .sends import Send

if TYPE_CHECKING:
    from .machine import Machine


class Part(NamedTuple):
    """Wavelets that are sent, with the own time of the first."""

    wavelets: list[int]
    first: int
    control: bool


@dataclass(eq=False, slots=True)
class Multicast:
    """A send with several ways that may be full, or one to where senders meet, of which `parts` are to be handed
    over."""

    machine: Machine
    send: Send | None
    """None if the host sends."""
    ways: list[Way]
    rate: int
    parts: deque[Part]

    def start(self) -> None:
        """Hand over what there is room for; the send waits for the rest."""
        if self.send is not None:
            self.send.waiting += 1
        self.machine.multicasts[self] = None
        self.advance()

    def advance(self) -> None:
        """Hand over what there is room for, and end the send behind the last wavelet."""
        while self.parts:
            wavelets, own, control = self.parts.popleft()
            paths = [way.path for way in self.ways if way.path is not None]
            found = room(paths, len(wavelets), [(own, self.rate)], self.advance)
            first, rate, count = found.first, found.rate, found.count
            if count < len(wavelets):
                self.parts.appendleft(Part(wavelets[count:], own + count * self.rate, control))
            if not count:
                return
            for way in self.ways:
                if way.path is not None:
                    way.path.send(count, self.send)
                run = Run(wavelets[:count], first + way.latency, rate, control, way.origin, path=way.path)
                self.machine.arrive(way.pe, self.machine.queue(way.pe, way.queue), run)
        del self.machine.multicasts[self]
        if self.send is not None:
            accept(self.machine, self.send, self.send.done)
