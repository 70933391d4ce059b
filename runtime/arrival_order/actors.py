"""Actors of a class, tasks and operations that receive, and the accesses whose order nothing on the PE decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ..fabric.model import Fabric
from ..findings import EARLIER_WRITES, LATER_WRITES, Code
from ..tables.format import ACTIVE, BLOCKABLE, EXPORT_BUFFER, EXPORT_POINTS_TO, INPUT, NONE, TASK_TYPES
from ..tables.instructions import BITS, KINDS
from .effects import Effects, Words, effects_of
from .senders import Senders

CONTROL, DATA, LAUNCH, LISTENER, LOCAL = map(TASK_TYPES.index, ("control", "data", "launch", "listener", "local"))

MAX_ACTORS = 64
"""Tasks and operations of a class beyond which it is left alone."""


@dataclass(eq=False)
class _Actor:
    """A task, or an operation that receives without holding up its task."""

    effects: Effects
    where: int
    task: int | None
    queue: int | None
    """Whose wavelets start it."""
    is_move: bool = False
    """True if it is an operation that keeps what it receives as it comes."""
    leads_to: set[int] = field(default_factory=set[int])


class _Start(NamedTuple):
    """What starts an actor: the queue whose wavelets do, and the functions that a host launches before."""

    queue: int
    launches: frozenset[str]


class ClassActors:
    """The actors of a class, and what decides their order."""

    def __init__(self, fabric: Fabric, number: int, senders: Senders) -> None:
        self._fabric = fabric
        self._tables = fabric.tables
        self._number = number
        self._senders = senders

    def findings(self) -> Iterator[tuple[Any, ...]]:
        """Yield a finding for each two accesses of this class."""
        fed = [row for row in self._queues() if self._senders.any_of(row)]
        if not fed:
            return
        self._find_actors()
        if len(self._actors) > MAX_ACTORS:
            return
        yield from self._pairs()
        for queue in fed:
            yield from self._mixtures(queue)

    def _queues(self) -> list[int]:
        queues = self._tables["queues"]
        mine = (queues["owner"] == self._number) & (queues["direction"] == INPUT)
        return np.flatnonzero(mine).tolist()

    def _find_actors(self) -> None:
        tables, words = self._tables, int(self._fabric.words[self._number])
        blockable = int(self._fabric.blockable[self._number])
        cls = tables["classes"][self._number]
        rows = range(int(cls["tasks"]), int(cls["tasks"]) + int(cls["task_count"]))
        self._actors: list[_Actor] = []
        place: dict[int, int] = {}
        for row in rows:
            task = tables["tasks"][row]
            if int(task["use"]) == NONE:
                continue
            place[row] = len(self._actors)
            queue = int(task["queue"]) if int(task["type"]) == DATA and int(task["queue"]) != NONE else None
            effects = effects_of(tables, int(task["use"]), words, blockable)
            self._actors.append(_Actor(effects, int(task["where"]), row, queue))
        for actor in list(self._actors):
            for receive in actor.effects.receives:
                actor.leads_to.add(len(self._actors))
                self._actors.append(_Actor(receive.effects, receive.where, None, receive.queue, receive.is_move))
        for actor in self._actors:
            actor.leads_to |= {place[task] for task in actor.effects.activates if task in place}
        self._started = _closed([actor.leads_to for actor in self._actors])

    @cached_property
    def _visible(self) -> set[int]:
        """The words that the host sees."""
        found: set[int] = set()
        for export in self._tables["exports"]:
            if int(export["owner"]) != self._number or export["type"] != EXPORT_BUFFER:
                continue
            start, end = self._words_of(int(export["row"]))
            if export["flags"] & EXPORT_POINTS_TO:
                held = self._held(2 * start)
                targets = map(self._words_of, self._buffers())
                start, end = next(((low, high) for low, high in targets if 2 * low <= held < 2 * high), (0, 0))
            found.update(range(start, end))
        return found

    def _buffers(self) -> range:
        cls = self._tables["classes"][self._number]
        return range(int(cls["buffers"]), int(cls["buffers"]) + int(cls["buffer_count"]))

    def _words_of(self, row: int) -> tuple[int, int]:
        buffer = self._tables["buffers"][row]
        size = max(8, BITS[KINDS[int(buffer["kind"])]]) // 8
        start = int(buffer["address"])
        return start, start + (int(buffer["elements"]) * size + 1) // 2

    def _held(self, address: int) -> int:
        """Return the word that memory holds at the start at a byte address."""
        for image in self._tables["images"]:
            first = address - int(image["address"])
            if int(image["owner"]) == self._number and 0 <= first < int(image["size"]) - 1:
                at = int(image["bytes"]) + first
                return int.from_bytes(self._tables["image_bytes"][at : at + 2].tobytes(), "little")
        return 0

    # Two streams

    def _start_of(self, place: int) -> _Start | None:
        """Return what alone starts an actor, by what leads to it; None if wavelets of no queue do, or of several."""
        tasks, actor = self._tables["tasks"], self._actors[place]
        if actor.effects.waits:
            return None
        if actor.queue is None:
            task = actor.task
            is_local = task is not None and tasks["type"][task] == LOCAL and not tasks["flags"][task] & ACTIVE
            causes = [cause for cause, each in enumerate(self._actors) if place in each.leads_to]
            if not is_local or len(causes) != 1 or place in self._started[place]:
                return None
            return self._start_of(causes[0])
        launches: set[str] = set()
        for cause in (cause for cause, started in enumerate(self._started) if place in started):
            its_task, its_queue = self._actors[cause].task, self._actors[cause].queue
            if its_queue not in (None, actor.queue) or self._actors[cause].effects.waits:
                return None
            if its_task is not None and tasks["type"][its_task] in (CONTROL, LISTENER):
                return None
            if its_task is not None and tasks["type"][its_task] == LAUNCH:
                launches |= self._senders.exported_as(its_task)
        return _Start(actor.queue, frozenset(launches))

    def _pairs(self) -> Iterator[tuple[Any, ...]]:
        blockable = {
            place for place, actor in enumerate(self._actors)
            if actor.task is not None and self._tables["tasks"]["flags"][actor.task] & BLOCKABLE
        }  # fmt: skip
        starts = [None if place in blockable else self._start_of(place) for place in range(len(self._actors))]
        for one, other in combinations(range(len(self._actors)), 2):
            first, second = starts[one], starts[other]
            if first is None or second is None or first.queue == second.queue:
                continue
            if one in self._started[other] or other in self._started[one]:
                continue
            access = self._conflict(one, other)
            launches = first.launches | second.launches
            senders = access and self._senders.of_two(first.queue, second.queue, self._number, launches)
            if access is not None and senders is not None:
                word, where, place, bits = access
                task = self._actors[other].task
                values = (where, first.queue, second.queue, word, bits, senders[1] << 32 | senders[2])
                yield Code.ORDER_OF_STREAMS, senders[0], NONE if task is None else task, place, 0, values

    def _look_at_each_other(self, one: int, other: int) -> bool:
        """Return True if each may read what the other, or what it alone leads to, may write."""
        common = self._started[one] & self._started[other]
        mine, theirs = ([one, *(self._started[one] - common)], [other, *(self._started[other] - common)])
        read, written = self._touched(mine)
        their_read, their_written = self._touched(theirs)
        counts = read & written & their_read & their_written
        return bool((written & their_read & ~counts).any() and (their_written & read & ~counts).any())

    def _touched(self, places: Iterable[int]) -> tuple[Words, Words]:
        effects = [self._actors[place].effects for place in places]
        read = np.logical_or.reduce([each.may_read for each in effects])
        return read, np.logical_or.reduce([each.may_write for each in effects])

    def _conflict(self, one: int, other: int) -> tuple[int, int, int, int] | None:
        """Return the first word that one is sure to write and the other to use, both source places, and bits of what is
        done with it."""
        mine, theirs = self._actors[one].effects, self._actors[other].effects
        later = self._started[one] | self._started[other]
        behind = self._touched(later)[1] if later else np.zeros_like(mine.may_write)
        for word in sorted(mine.writes.keys() & theirs.writes.keys() & self._visible):
            constant = mine.constants.get(word)
            is_same = constant is not None and constant == theirs.constants.get(word)
            if not is_same and not (mine.rewritten[word] or theirs.rewritten[word] or behind[word]):
                return word, mine.writes[word], theirs.writes[word], EARLIER_WRITES | LATER_WRITES
        if self._look_at_each_other(one, other):
            return None
        for word in sorted(mine.writes.keys() & theirs.reads.keys()):
            return word, mine.writes[word], theirs.reads[word], EARLIER_WRITES
        for word in sorted(theirs.writes.keys() & mine.reads.keys()):
            return word, mine.reads[word], theirs.writes[word], LATER_WRITES
        return None

    # Two senders to one queue

    def _mixtures(self, queue: int) -> Iterator[tuple[Any, ...]]:
        place = self._kept_by_place(queue)
        if place is None:
            return
        senders = self._senders.of_two(queue, queue, self._number)
        if senders is not None:
            values = (queue, senders[1], senders[2], 0, 0, 0)
            yield Code.ORDER_OF_SENDERS, senders[0], place[1], place[0], 0, values

    def _kept_by_place(self, queue: int) -> tuple[int, int] | None:
        """Return the source place, and the task, that store wavelets of a queue in the order of arrival; or None."""
        for actor in self._actors:
            if actor.queue != queue:
                continue
            if actor.task is None:
                if actor.is_move and len(self._visible & actor.effects.writes.keys()) > 1:
                    return actor.where, NONE
            elif not self._tables["tasks"]["flags"][actor.task] & BLOCKABLE:
                kept = [word for word in actor.effects.kept if word in self._visible]
                kept = [word for word in kept if not actor.effects.may_read[word]]
                if kept:
                    return actor.effects.kept[min(kept)], actor.task
        return None


def _closed(edges: list[set[int]]) -> list[set[int]]:
    """Return what each leads to in one or more steps."""
    found: list[set[int]] = []
    for start in range(len(edges)):
        seen: set[int] = set()
        pending = list(edges[start])
        while pending:
            place = pending.pop()
            if place not in seen:
                seen.add(place)
                pending += edges[place]
        found.append(seen)
    return found
