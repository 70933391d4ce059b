"""Who sends to which queue, and who can know of whom: the graph of wavelets, with the host, networks and switches as
nodes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..distinct import distinct
from ..fabric.model import NOWHERE, Fabric
from ..reports.continuations import Continuations
from ..tables.format import EXPORT_FUNCTION, INPUT, TASK_TYPES

DATA, CONTROL, LAUNCH, LISTENER = (TASK_TYPES.index(name) for name in ("data", "control", "launch", "listener"))


class Senders:
    """Who sends to which queue, and who can know of whom."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        tables = fabric.tables
        self.may_meet = len(fabric.ways) > 0
        self._switched = {each.color for each in fabric.switched}
        self._from_host: set[int] = set()
        for stream in fabric.host_inputs:
            self._from_host.update(distinct(stream.queues[stream.queues != NOWHERE]).tolist())
        self._launches = {
            tables.strings[int(row["name"])] for row in tables["exports"] if row["type"] == EXPORT_FUNCTION
        }

    def any_of(self, queue: int) -> bool:
        """Return True if PEs alone send to a queue, by routes that stay as they are."""
        colors = set(self._fabric.colors_of(queue).tolist())
        changes = any(color != NOWHERE and self._fabric.tables["colors"]["changes"][color] for color in colors)
        is_plain = not colors & self._switched and not changes and queue not in self._from_host
        return is_plain and self._fabric.network[queue] == NOWHERE and bool((self._fabric.ways["queue"] == queue).any())

    @cached_property
    def _by_reader(self) -> dict[tuple[int, int], list[tuple[int, int]]]:
        """The PEs, and their queues, that send to each queue of each PE."""
        found: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for queue, pe, way in self._all_ways():
            found.setdefault((int(way["queue"]), pe + int(way["offset"])), []).append((pe, queue))
        return found

    def _all_ways(self) -> Iterator[tuple[int, int, Any]]:
        fabric = self._fabric
        for queue in range(len(fabric.tables["queues"])):
            if fabric.tables["queues"]["direction"][queue] == INPUT:
                continue
            for unit, pe in enumerate(fabric.units(int(fabric.queue_class[queue])).tolist()):
                for way in fabric.ways_of(queue, unit):
                    yield queue, pe, way

    @cached_property
    def _next(self) -> dict[int, set[int]]:
        """The PEs that each PE can send to; each color that is switched, each network and the host are nodes too."""
        fabric, found = self._fabric, dict[int, set[int]]()
        sinks, host = set(fabric.sinks), -1
        for _, pe, way in self._all_ways():
            found.setdefault(pe, set()).add(host if int(way["queue"]) in sinks else pe + int(way["offset"]))
        for place, color in enumerate(fabric.switched):
            node = -2 - place
            for pe in np.flatnonzero(color.senders).tolist():
                found.setdefault(pe, set()).add(node)
            found[node] = set(np.flatnonzero((color.readers != NOWHERE).any(axis=0)).tolist())
        for place, readers in enumerate(fabric.network_readers):
            node = -1000 - place
            members = set(np.flatnonzero(readers != NOWHERE).tolist())
            for queue in np.flatnonzero(fabric.network == place).tolist():
                for pe in fabric.units(int(fabric.queue_class[queue])).tolist():
                    found.setdefault(pe, set()).add(node)
            found[node] = members
        if fabric.host_inputs:
            found[host] = {pe for each in fabric.host_inputs for pe in np.flatnonzero(each.connected).tolist()}
        return found

    def _reaches(self, start: int, ends: set[int]) -> bool:
        seen: set[int] = set()
        pending = list(self._next.get(start, ()))
        while pending:
            node = pending.pop()
            if node in ends:
                return True
            if node not in seen:
                seen.add(node)
                pending += self._next.get(node, ())
        return False

    def of_two(
        self, one: int, other: int, number: int, launches: frozenset[str] = frozenset()
    ) -> tuple[int, int, int] | None:
        """Return the first PE of a class to whose queues two PEs send that know nothing of each other, and these two.

        `launches` are functions without which the PE does not take what they send.
        """
        if not self.any_of(one) or not self.any_of(other):
            return None
        for pe in sorted(self._fabric.units(number).tolist()):
            mine, theirs = self._by_reader.get((one, pe), []), self._by_reader.get((other, pe), [])
            pairs = pairwise(mine) if one == other else ((a, b) for a in mine for b in theirs)
            for (first, its), (second, other_queue) in pairs:
                is_one = len(launches | self._starters(its) | self._starters(other_queue)) <= 1
                if first != second and is_one and self._are_apart(pe, first, second):
                    return pe, first, second
        return None

    def _are_apart(self, reader: int, one: int, other: int) -> bool:
        if reader in (one, other):
            return False
        pairs = ((one, {other}), (other, {one}), (reader, {one, other}))
        return not any(self._reaches(start, ends) for start, ends in pairs)

    def _starters(self, queue: int) -> set[str]:
        """Return the functions of the host that may lead to a send to a queue."""
        tables, owner = self._fabric.tables, int(self._fabric.queue_class[queue])
        reached = Continuations(tables, owner)
        found: set[str] = set()
        for row in np.flatnonzero(tables["tasks"]["owner"] == owner).tolist():
            kind = int(tables["tasks"]["type"][row])
            if kind not in (LAUNCH, DATA, CONTROL, LISTENER) or queue not in reached.of([row]).queues:
                continue
            found |= self.exported_as(row) if kind == LAUNCH else self._launches
        return found

    def exported_as(self, task: int) -> set[str]:
        """Return the name by which a host launches a task."""
        tables = self._fabric.tables
        exports = tables["exports"]
        mine = exports[(exports["type"] == EXPORT_FUNCTION) & (exports["row"] == task)]
        return {tables.strings[int(mine["name"][0])] if len(mine) else ""}
