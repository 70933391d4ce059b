"""Credits: a way holds so many wavelets, and returns a credit for each that its receiver takes.

Wavelet k of a way leaves at the larger of its own time and take(k - capacity) + back, where `back` is what a credit
needs for the way back. Wavelets are handed over at once all the same, with their own times: a way holds what is on it
there and back, so that a credit which is late delays no wavelet that its receiver could have taken sooner. What credits
decide is when the send ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .endings import accept
from .sends import Send

if TYPE_CHECKING:
    from .machine import Machine


@dataclass(frozen=True, slots=True)
class Takes:
    """Wavelets that a receiver has taken: `count`, one every `rate` cycles from `first` on."""

    first: int
    rate: int
    count: int


@dataclass(eq=False, slots=True)
class Claim:
    """A send that may not end before wavelet `ahead` of those that have not been taken is."""

    ahead: int
    send: Send


@dataclass(eq=False, slots=True)
class Path:
    """What a way from an output queue to an input queue holds."""

    capacity: int
    back: int
    """Cycles of a credit on its way back."""
    room: int
    """Wavelets that the receiver's queue holds."""
    pending: int = 0
    """Wavelets that have been handed over and not taken."""
    takes: deque[Takes] = field(default_factory=deque[Takes])
    """The last ones, the oldest first."""
    claims: list[Claim] = field(default_factory=list[Claim])
    waiting: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    """What is to go on when a wavelet is taken."""

    def send(self, count: int, send: Send | None) -> None:
        """Note that wavelets are handed over, the last of which `send` waits for to leave."""
        self.pending += count
        if send is None:
            return
        ahead = self.pending - self.capacity - 1
        if ahead >= 0:
            self.claims.append(Claim(ahead, send))
            send.waiting += 1
            return
        time = self._taken(-ahead)
        if time is not None:
            send.may_leave(time + self.back)

    def _taken(self, number: int) -> int | None:
        """Return when the last but `number` - 1 of the wavelets that have been taken was; None if long ago."""
        for takes in reversed(self.takes):
            if number <= takes.count:
                return takes.first + (takes.count - number) * takes.rate
            number -= takes.count
        return None

    def credit(self, number: int) -> int | None:
        """Return when the credit for the next wavelet but `number` is back, 0 if long ago; None if not known."""
        ahead = self.pending + number - self.capacity
        if ahead >= 0:
            return None
        time = self._taken(-ahead)
        return 0 if time is None else time + self.back

    def credits(self) -> Takes:
        """Return the next credits: when they are back. The rate is 0 if they were long ago."""
        number = max(0, self.capacity - self.pending)
        for takes in reversed(self.takes):
            if number <= takes.count:
                first = takes.first + (takes.count - number) * takes.rate + self.back
                return Takes(first, max(1, takes.rate), number)
            number -= takes.count
        return Takes(0, 0, number)

    def taken(self, machine: Machine, first: int, rate: int, count: int) -> None:
        """Note that wavelets are taken; end the sends that waited for it."""
        self.pending -= count
        self.takes.append(Takes(first, rate, count))
        kept = sum(takes.count for takes in self.takes)
        while kept - self.takes[0].count >= self.capacity:
            kept -= self.takes.popleft().count
        machine.arriving.extend(self.waiting)
        self.waiting.clear()
        claims, self.claims = self.claims, []
        for claim in claims:
            if claim.ahead >= count:
                self.claims.append(Claim(claim.ahead - count, claim.send))
            else:
                claim.send.may_leave(first + claim.ahead * rate + self.back)
                accept(machine, claim.send, claim.send.done)
