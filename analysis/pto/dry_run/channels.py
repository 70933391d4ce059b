"""Channels of a dry run: rings of slots between the cores of a block, with the credits of a behavior of pipes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from ....operations import pipe_protocol
from ....operations.pipe_protocol import Behavior


@dataclass
class Entry:
    """An entry of a channel: the steps that pushed it, what it contains, and its signal."""

    pushed: list[int] = field(default_factory=list[int])
    contents: list[object] = field(default_factory=list[object])
    shapes: list[tuple[int | None, ...]] = field(default_factory=list[tuple[int | None, ...]])
    splits: list[int | None] = field(default_factory=list[int | None])
    """The split of each push, 0 to 4; None for tensors and signals."""
    signal: int | None = None


class Channel:
    """A ring of slots of one block, from some producers to some consumers: one each, or both vector cores."""

    def __init__(
        self,
        name: str,
        depth: int,
        behavior: Behavior,
        *,
        producers: int,
        consumers: int,
        seed: int,
        frees_at_pop: bool,
    ) -> None:
        self.name = name
        self.depth = depth
        self.period = pipe_protocol.credit_period(depth, behavior)
        self.seed = seed
        self.frees_at_pop = frees_at_pop
        self.drains = behavior != "ideal"
        self.entries: list[Entry] = []
        self.producers = producers
        self.acquired = [0] * producers
        self.pushed = [0] * producers
        self.popped = [0] * consumers
        self.freed = [0] * consumers
        self.credits: list[list[deque[int | None]]] = [
            [deque([None] * seed) for _ in range(consumers)] for _ in range(producers)
        ]
        """For each producer and consumer the steps that returned the credits that are there."""

    def entry(self, number: int) -> Entry:
        """Return an entry, which some producer may not have pushed yet."""
        while len(self.entries) <= number:
            self.entries.append(Entry())
        return self.entries[number]

    def acquire(self, producer: int) -> tuple[int, ...] | None:
        """Take a slot; return the steps that freed it and that the producer waits for. None if it must wait."""
        if not pipe_protocol.push_waits(self.acquired[producer], self.depth, self.period):
            self.acquired[producer] += 1
            return ()
        taken = self._take(producer, 1)
        if taken is not None:
            self.acquired[producer] += 1
        return taken

    def drain(self, producer: int) -> tuple[int, ...] | None:
        """Take the credits that a producer waits for at its end, as `acquire`."""
        pushes = self.acquired[producer]
        return self._take(producer, self.seed or pipe_protocol.pending_free_credits(pushes, self.depth, self.period))

    def _take(self, producer: int, count: int) -> tuple[int, ...] | None:
        queues = self.credits[producer]
        if any(len(queue) < count for queue in queues):
            return None
        steps = [queue.popleft() for queue in queues for _ in range(count)]
        return tuple(step for step in steps if step is not None)

    def push(self, producer: int, step: int, contents: object, shape: tuple[int | None, ...]) -> Entry:
        """Complete an entry."""
        entry = self.entry(self.pushed[producer])
        entry.pushed.append(step)
        entry.contents.append(contents)
        entry.shapes.append(shape)
        self.pushed[producer] += 1
        return entry

    def is_ready(self, consumer: int) -> bool:
        """Return True if the next entry of a consumer has been pushed by all producers."""
        return min(self.pushed) > self.popped[consumer]

    def free(self, consumer: int, step: int) -> None:
        """Free the oldest popped entry; it returns a credit by the number of entries popped."""
        self.freed[consumer] += 1
        if self.popped[consumer] % self.period == 0:
            for queues in self.credits:
                queues[consumer].append(step)
