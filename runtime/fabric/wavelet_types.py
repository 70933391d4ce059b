"""Types of wavelets: floats that are sent as one type and received as another.

A queue has the types with which the operations of a program send to it, or receive from it, and its data task. Where
all are one type of floats, and those of a queue that its wavelets come to are another, what is received is not a number
that was sent; nor is it where one has floats of 32 bits and the other integers of 16. Integers of the same width carry
whatever bits there are, and control wavelets do not count. Runs once for a program, and ends at once for one whose
queues have no such types.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...operations.dsd_table import OPERATIONS
from ..distinct import distinct
from ..findings import Code
from ..tables.format import CONTROL_WAVELETS, MESSAGE, NONE, PACKED, QUEUE_RUN, TASK_TYPES, Tables
from ..tables.instructions import (
    CONTROL_NUMBER,
    DSD_ROWS,
    FLOATS,
    FORMATS,
    FRAME_DESCRIPTOR,
    KIND,
    KINDS,
    STATIC_DESCRIPTOR,
)
from .model import Fabric


class _User(NamedTuple):
    """What uses a queue: the type of its elements, None if that is open, and its source place."""

    kind: str | None
    where: int


def mixed_floats(fabric: Fabric) -> list[tuple[Any, ...]]:
    """Return a finding for each two queues of which one sends floats that the other receives as another type."""
    tables = fabric.tables
    if not _may_mix(tables):
        return []
    users = _users(tables)
    found: list[tuple[Any, ...]] = []
    for queue in sorted(users):
        sent = _kind_of(users[queue])
        if sent is None:
            continue
        first, owner = int(fabric.queue_first[queue]), int(fabric.queue_class[queue])
        lists = fabric.way_lists[first : int(fabric.queue_first[queue + 1])]
        for unit in np.unique(lists, return_index=True)[1].tolist():
            pe = int(fabric.units(owner)[unit])
            for way in fabric.ways_of(queue, unit):
                reader = int(way["queue"])
                received = _kind_of(users.get(reader, []))
                if not _differ(sent, received):
                    continue
                assert received is not None
                where = users[reader][0].where
                values = (KIND[sent], KIND[received], users[queue][0].where, reader, 0, 0)
                if not any(each[0] == Code.FLOATS_MIXED and each[3] == where for each in found):
                    found.append((Code.FLOATS_MIXED, pe + int(way["offset"]), NONE, where, 0, values))
    return found


def _may_mix(tables: Tables) -> bool:
    """Return True if queues, or data tasks, have floats of several types."""
    descriptors = tables["descriptors"]
    kinds = {int(kind) for kind in distinct(descriptors["kind"][descriptors["type"] == QUEUE_RUN])}
    kinds.update(KIND[kind] for task in _data_tasks(tables) if (kind := _argument(tables, task)) is not None)
    return {KIND["f32"], KIND["i16"]} <= kinds or len(kinds & {KIND[kind] for kind in FLOATS}) > 1


def _differ(sent: str, received: str | None) -> bool:
    if sent in FLOATS and received in FLOATS:
        return sent != received
    return {sent, received} == {"f32", "i16"}


def _data_tasks(tables: Tables) -> list[int]:
    tasks = tables["tasks"]
    is_data = (tasks["type"] == TASK_TYPES.index("data")) & (tasks["use"] != NONE) & (tasks["queue"] != NONE)
    return np.flatnonzero(is_data).tolist()


def _argument(tables: Tables, task: int) -> str | None:
    """Return the type of a task's argument, None unless it has one."""
    body = tables["bodies"][int(tables["uses"]["body"][int(tables["tasks"]["use"][task])])]
    return KINDS[int(tables["kinds"][int(body["kinds"])])] if int(body["arguments"]) == 1 else None


def _kind_of(users: list[_User]) -> str | None:
    """Return the type that all users of a queue have, None if they differ or it is open."""
    kinds = {user.kind for user in users}
    return kinds.pop() if len(kinds) == 1 else None


def places_of_use(tables: Tables, queue: int) -> list[int]:
    """Return the source places, rows of the strings, of what sends by a queue or receives by it, each once."""
    users = (user for use in range(len(tables["uses"])) for row, user in _used_by(tables, use) if row == queue)
    return list(dict.fromkeys(user.where for user in users))


def _users(tables: Tables) -> dict[int, list[_User]]:
    """Return what uses each queue."""
    found: dict[int, list[_User]] = {}
    for task in _data_tasks(tables):
        row = tables["tasks"][task]
        found.setdefault(int(row["queue"]), []).append(_User(_argument(tables, task), int(row["where"])))
    for use in range(len(tables["uses"])):
        for queue, user in _used_by(tables, use):
            found.setdefault(queue, []).append(user)
    return found


def _used_by(tables: Tables, number: int) -> Iterator[tuple[int, _User]]:
    """Yield the queues that the code of a use names."""
    use = tables["uses"][number]
    body = tables["bodies"][int(use["body"])]
    first, length = int(body["code"]), int(body["length"])
    code: list[tuple[int, int, int, int]] = tables["code"][first : first + length].tolist()
    before = int(use["rows"]) + int(body["numbers"])
    behind = before + int(body["descriptors"])
    descriptors = tables["descriptors"][tables["rows"][before:behind]]
    slots = tables["rows"][behind : behind + int(body["slots"])]
    made: dict[int, list[int]] = {}
    for op, a, b, _ in code:
        if op == CONTROL_NUMBER["descriptor"] and STATIC_DESCRIPTOR <= b < FRAME_DESCRIPTOR:
            made.setdefault(a, []).append(b)
    for place, (op, a, _, _) in enumerate(code):
        if op == CONTROL_NUMBER["apply"]:
            row = tables["operations"][int(slots[a])]
            format: Any = FORMATS[int(row["format"])]
            entry = OPERATIONS[DSD_ROWS[int(row["function"])]].in_format(format)
            operands = [int(row["destination"]), *row["sources"].tolist()]
            named = zip(operands, (entry.destination, *entry.sources), strict=False)
        elif op == CONTROL_NUMBER["load_register"]:
            named = [(a, None)]  # operations of any type may use the register
        else:
            continue
        for operand, kind in named:
            for static in [operand] if operand < FRAME_DESCRIPTOR else made.get(operand, []):
                if not STATIC_DESCRIPTOR <= static < FRAME_DESCRIPTOR:
                    continue
                stream = descriptors[static - STATIC_DESCRIPTOR]
                if stream["type"] == QUEUE_RUN and not int(stream["flags"]) & CONTROL_WAVELETS:
                    is_open = int(stream["flags"]) & (PACKED | MESSAGE)
                    yield int(stream["row"]), _User(None if is_open else kind, int(tables["code_where"][first + place]))
