"""Host streams: colors by which the host sends words to units, and units send words to the host.

A stream in is a color whose wavelets the host sends to the input queues of single units, one a cycle and in order. A
stream out ends in a queue of the host for each class of units. Both hold runs of wavelets, never one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .queues import InputQueue, Message
from .units import Array, Rectangle, UnitSet, from_mask, rectangle, select_vector, subtract


@dataclass(eq=False)
class HostInput:
    """The host's end of a stream in.

    `color` is its name in messages; `connected` is where it leads, bool [grid rows, grid columns]. `readers` holds the
    queues that serve the color, each with the units where it does, bool [rows, columns].
    """

    color: str
    connected: Array
    readers: list[tuple[InputQueue, Array]] = field(default_factory=list[tuple[InputQueue, Array]])

    def messages(self, area: Rectangle, words: Array, first: Array) -> list[tuple[InputQueue, Message]]:
        """Return what the host sends to an area of the grid, words [rows, columns, n], each unit's from a cycle on."""
        grid = self.connected.shape
        wanted = np.zeros(grid, np.bool_)
        wanted[area.index] = True
        values = np.zeros((*grid, words.shape[2]), np.uint32)
        values[area.index] = words
        begin = np.zeros(grid, np.int64)
        begin[area.index] = first
        sent: list[tuple[InputQueue, Message]] = []
        for queue, reads in self.readers:
            placement = queue.cls.placement
            mine = reads & placement.from_grid(wanted)
            if not mine.any():
                continue
            whole = _whole(mine)
            payload = np.moveaxis(placement.from_grid(values), 2, 1)
            times = placement.from_grid(begin)
            for units in from_mask(whole, mine):
                part = select_vector(whole, units, payload)
                sent.append((queue, Message(units, part, times[units.index], 1, 0, False, owned=True)))
        return sent

    def backlog(self) -> tuple[Array, Array]:
        """Return the words sent to each unit and not read, and how many its queue holds, [grid rows, columns]."""
        waiting: Array = np.zeros(self.connected.shape, np.int64)
        room: Array = np.zeros(self.connected.shape, np.int64)
        for queue, reads in self.readers:
            mine = np.zeros(queue.cls.shape, np.int64)
            for message in queue.messages:
                mine[message.units.index] += message.remaining
            for whole, share in ((waiting, mine), (room, queue.room)):
                view = queue.cls.placement.from_grid(whole)
                view += np.where(reads, share, 0)
        return waiting, room


@dataclass(eq=False)
class HostOutput:
    """The host's end of a stream out: a queue of the host for the units of each class that sends to it."""

    color: str
    connected: Array
    """Where the stream comes from, bool [grid rows, grid columns]."""
    sinks: list[InputQueue] = field(default_factory=list[InputQueue])

    def available(self) -> Array:
        """Return how many wavelets of each unit have come out and have not been taken, [grid rows, grid columns]."""
        found = np.zeros(self.connected.shape, np.int64)
        for sink in self.sinks:
            mine = sink.cls.placement.from_grid(found)
            for message in sink.messages:
                mine[message.units.index] += message.remaining
        return found

    def take(self, area: Rectangle, count: int) -> Array:
        """Return the next `count` wavelets of each unit of an area of the grid, uint32 [rows, columns, count]."""
        result = np.zeros((*self.connected.shape, count), np.uint32)
        wanted = np.zeros(self.connected.shape, np.bool_)
        wanted[area.index] = True
        for sink in self.sinks:
            placement = sink.cls.placement
            inside = np.zeros(sink.cls.shape, np.bool_)
            inside[sink.cls.units.index] = True
            mine = inside & placement.from_grid(wanted)
            for units in from_mask(_whole(mine), mine):
                _take(sink, units, placement.from_grid(result), count)
        return result[area.index]


def _whole(mask: Array) -> Rectangle:
    return rectangle(range(mask.shape[0]), range(mask.shape[1]))


def _take(sink: InputQueue, units: UnitSet, words: Array, count: int) -> None:
    """Move up to `count` wavelets of every unit from a sink to `words`, [rows, columns, count] of the whole class."""
    pending: list[tuple[UnitSet, int]] = [(units, 0)]
    while pending:
        part, have = pending.pop()
        mine = sink.first(part) if have < count else None
        if mine is None:
            continue
        message = sink.take(mine)
        taken = min(count - have, message.remaining)
        raw = message.payload[:, message.position : message.position + taken, :]
        words[(*mine.index, slice(have, have + taken))] = np.moveaxis(raw, 1, 2)
        message.position += taken
        if message.remaining:
            sink.put_back(message)
        pending.append((mine, have + taken))
        if mine is not part:
            pending += [(rest, have) for rest in subtract(part, mine)]
