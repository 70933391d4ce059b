"""Channels between the cores of a row: entries in order, flow control by credits, and hazards it does not prevent.

A producer that finds no credit, and a consumer that finds no entry, waits at its instruction and tries again when
something has been given. Beside the credits a channel remembers what they guarantee: how many entries had been released
when each was given. So a push that overwrites an entry that may not have been read is found whatever the order in which
this run happens to execute the cores. Nothing here moves data.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from ..chips.chip import ChannelCounts, Chip
from ..chips.records import Code

Find: TypeAlias = Callable[..., None]
"""Notes a finding: its code, the channel, and values."""

MAX_COPIES = 64
"""Copies remembered: many times what is in use at once."""


class Copy(NamedTuple):
    """Where the copy of an entry is in the memory of one of its consumers: bytes from `start` to `end`."""

    member: int
    number: int
    start: int
    end: int


class Channel:
    """A channel on one row of the grid.

    A core of a side of several has a lane, and its counts; one alone has all lanes, and the counts of number 0.
    """

    def __init__(self, chip: Chip, number: int, find: Find) -> None:
        record = chip.tables["channels"][number]
        self.number = number
        self.depth, self.period, self.lanes, self.seed, self.flags = (
            int(record[field]) for field in ("depth", "period", "lanes", "seed", "flags")
        )
        producer, consumer = chip.sides[number]
        self.many_produce, self.many_consume = producer.many, consumer.many
        self.leaves_out = any(each.many and chip.columns(each.cls) > self.lanes for each in (producer, consumer))
        """True if a class on one of its sides has cores that take no part."""
        self.find = find
        self.answered: list[Channel] = []
        """Those of the row whose entries an entry here proves released; see `Chip.answered`."""
        producers, consumers = (self.lanes if each.many else 1 for each in (producer, consumer))
        self.acquired, self.committed = [0] * producers, [0] * producers
        self.written = [-1] * producers
        """The last entry that each producer has written to."""
        self.waited, self.released = [0] * consumers, [0] * consumers
        self.ready, self.credits = [0] * self.lanes, [self.seed] * self.lanes
        self.issued, self.consumed = [0] * self.lanes, [0] * self.lanes
        self.granted = [deque([0] * self.seed) for _ in range(self.lanes)]
        """How many entries each credit that is there guarantees to be released."""
        self.safe = [0] * self.lanes
        """How many entries the credits taken so far, and answers, guarantee to be released."""
        self.answers: list[deque[list[list[int]]]] = [deque() for _ in range(self.lanes)]
        """For each entry that is there, what its sender had released on the channels it answers, by consumer."""
        self.copies: deque[Copy] = deque(maxlen=MAX_COPIES)

    def lanes_of(self, member: int, *, producing: bool) -> range:
        """Return the lanes of a core of a side."""
        many = self.many_produce if producing else self.many_consume
        return range(member, member + 1) if many else range(self.lanes)

    def member(self, column: int, *, producing: bool) -> int:
        """Return the place of a core of a side among its counts."""
        return column if (self.many_produce if producing else self.many_consume) else 0

    # What producers do

    def acquire(self, member: int) -> int | None:
        """Return the number of the producer's next entry; None if it has to wait."""
        number, lanes = self.acquired[member], self.lanes_of(member, producing=True)
        if number >= self.depth:
            if number % self.period == 0:
                if any(self.credits[lane] < 1 for lane in lanes):
                    return None
                for lane in lanes:
                    self._take(lane)
            for lane in lanes:
                self._check_slot(lane, number)
        self.acquired[member] = number + 1
        return number

    def _take(self, lane: int) -> None:
        """Take a credit of a lane, and what it guarantees."""
        self.credits[lane] -= 1
        self.consumed[lane] += 1
        if self.granted[lane]:
            self.safe[lane] = max(self.safe[lane], self.granted[lane].popleft())

    def _check_slot(self, lane: int, number: int) -> None:
        """Find an entry whose slot is reused before it is released, or is not sure to be."""
        old = number - self.depth
        if self.safe[lane] > old:
            return
        consumer = lane if self.many_consume else 0
        if self.released[consumer] > old:
            self.find(Code.MAY_OVERWRITE, self.number, lane, number)
        else:
            self.find(Code.OVERWRITE, self.number, lane, number, int(self.waited[consumer] > old))

    def commit(self, member: int) -> None:
        """Complete the producer's entry."""
        if self.written[member] < self.committed[member]:
            self.find(Code.UNWRITTEN, self.number, self.committed[member])
        self.committed[member] += 1
        for lane in self.lanes_of(member, producing=True):
            self.ready[lane] += 1
            self.answers[lane].append([list(other.released) for other in self.answered])

    def still_to_come(self, lane: int, pushes: int) -> int:
        """Return the credits given for so many entries that no push has taken."""
        return self.seed if self.seed else pushes // self.period - self.consumed[lane]

    def drain(self, member: int) -> bool:
        """Take the outstanding credits; return True if all were there."""
        lanes, pushes = self.lanes_of(member, producing=True), self.acquired[member]
        wanted = {lane: self.still_to_come(lane, pushes) for lane in lanes}
        if any(self.credits[lane] < count for lane, count in wanted.items()):
            return False
        for lane, count in wanted.items():
            for _ in range(count):
                self._take(lane)
        return True

    # What consumers do

    def wait(self, member: int) -> int | None:
        """Return the number of the consumer's next entry; None if it has to wait."""
        number, lanes = self.waited[member], self.lanes_of(member, producing=False)
        if any(self.ready[lane] < 1 for lane in lanes):
            return None
        for lane in lanes:
            self.ready[lane] -= 1
            self._apply_answers(lane)
        producers = lanes if self.many_produce else range(1)
        if any(self.committed[producer] <= number for producer in producers):
            self.find(Code.STALE, self.number, number)
        self.waited[member] = number + 1
        return number

    def _apply_answers(self, lane: int) -> None:
        """Note what an entry proves to have been released."""
        if not self.answers[lane]:
            return
        for other, released in zip(self.answered, self.answers[lane].popleft(), strict=True):
            if lane < other.lanes:
                count = released[lane if other.many_consume else 0]
                other.safe[lane] = max(other.safe[lane], count)

    def release(self, member: int) -> None:
        """Release an entry; give a credit where the number of entries taken is a multiple of the period."""
        waited = self.waited[member]
        self.released[member] += 1
        if self.released[member] > waited:
            self.find(Code.FREED_TWICE, self.number, self.released[member], waited)
        if waited % self.period:
            return
        for lane in self.lanes_of(member, producing=False):
            self.credits[lane] += 1
            self.issued[lane] += 1
            self.granted[lane].append(min(self.released[lane if self.many_consume else 0], waited))
            if self.issued[lane] > waited // self.period:
                self.find(Code.EARLY_CREDIT, self.number, lane, self.issued[lane], waited)

    # Waiting

    def can_go_on(self, member: int, action: str) -> bool:
        """Return True if a core that waits here need not."""
        lanes = self.lanes_of(member, producing=action != "wait")
        if action == "wait":
            return all(self.ready[lane] > 0 for lane in lanes)
        if action == "acquire":
            return all(self.credits[lane] > 0 for lane in lanes)
        pushes = self.acquired[member]
        return all(self.credits[lane] >= self.still_to_come(lane, pushes) for lane in lanes)

    # The end of a launch

    def counts(self) -> ChannelCounts:
        """Return the state as reports read it."""
        return ChannelCounts(
            self.acquired, self.committed, self.waited, self.released, self.ready, self.credits, self.issued
        )

    def renew(self, *, keep: bool) -> None:
        """Start a new launch: number entries from 0 again; clear the flags unless `keep`."""
        for counts in (
            self.acquired,
            self.committed,
            self.waited,
            self.released,
            self.issued,
            self.consumed,
            self.safe,
        ):
            counts[:] = [0] * len(counts)
        self.written[:] = [-1] * len(self.written)
        self.copies.clear()
        for lane in range(self.lanes):
            self.answers[lane].clear()
            self.credits[lane] = self.seed + self.credits[lane] if keep else self.seed
            self.granted[lane] = deque([0] * self.credits[lane])
            self.ready[lane] = self.ready[lane] if keep else 0
