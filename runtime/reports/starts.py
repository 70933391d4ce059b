"""Why PEs did no more: tasks that were activated in vain, and calls of unblock_cmd_stream() that were not reached.

Read from the code of a class, tasks with the functions that they call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..distinct import distinct
from ..fabric.command_words import command_words
from ..fabric.model import NOWHERE, UNROUTED, Fabric
from ..tables.format import ACCESS_POINTER, ACTIVE, INPUT, NONE, TASK_TYPES
from ..tables.instructions import CONTROL, operation_name
from .lost import missing_ramp
from .places import Names
from .rest import MAX_LOST

Array = NDArray[Any]

MAX_PLACES = 3
"""Places of the source in a sentence; the rest are counted."""


_COMPLETIONS = (("activate", "control_activate"), ("unblock", "control_unblock"))
"""Fields of operations and loads: tasks that their ends activate, and unblock."""


class Line(NamedTuple):
    """What is said of some PEs of a class."""

    cls: int
    pes: Array
    """Their numbers, by rows."""
    text: str
    where: str | None
    """The place that it is about."""


class _Causes(NamedTuple):
    """What activates and what unblocks a task, in words, empty if nothing does."""

    activate: str
    unblock: str


class _Step(NamedTuple):
    """An instruction of a task, or of a function that it calls."""

    name: str
    row: int
    """Of the task, the operation, the load or the access that it names."""
    where: int


def lost_activations(fabric: Fabric, records: Array) -> list[Line]:
    """Return what is said of tasks that were activated while they were active: `records` of `rest.WAVELETS`."""
    starts = _Starts(fabric)
    lines: list[Line] = []
    fifos = fabric.tables["fifos"]
    of_fifos = {*fifos["push_task"].tolist(), *fifos["pop_task"].tolist()}
    for task in distinct(records["row"]).tolist():
        if task in of_fifos:
            continue
        mine = records[records["row"] == task]
        most, owner = int(mine["count"].max()), int(fabric.tables["tasks"]["owner"][task])
        place = starts.place_of("tasks", task)
        times = "once" if most == 1 else f"{'at least' if most == MAX_LOST else 'up to'} {most} times"
        by = starts.causes(owner, task).activate
        if not by:
            continue  # the machine activates it, as when a color is torn down
        text = (
            f"task @{starts.task(task)}{f' ({place})' if place else ''} was activated {times} while it was active "
            "already, which is lost: an active task starts once, however often it is activated. It is activated by "
            f"{by}; give each of them a task of its own, or let one activate the task and another unblock it"
        )
        lines.append(Line(owner, mine["pe"].astype(np.int64), text, place))
    return lines


def missing_calls(fabric: Fabric, pes: Array, launched: Iterable[int]) -> list[Line]:
    """Return where PEs would call unblock_cmd_stream(), and what starts the tasks that do.

    `launched` are the tasks of the function that the host waits for, one a class.
    """
    starts = _Starts(fabric)
    words = command_words(fabric.tables)
    lines: list[Line] = []
    classes = fabric.pe_class[pes]
    place_of = {int(fabric.tables["tasks"]["owner"][task]): starts.place_of("tasks", task) for task in launched}
    for owner in distinct(classes).tolist():
        if words[owner] >= 0:
            mine = pes[classes == owner]
            text, where, queues = starts.calls(owner, 2 * int(words[owner]))
            lines.append(Line(owner, mine, text, where or place_of.get(owner)))
            lines += starts.unrouted(owner, mine, queues)
    return lines


class _Starts(Names):
    def __init__(self, fabric: Fabric) -> None:
        super().__init__(fabric)
        self._steps: dict[int, list[_Step]] = {}

    def calls(self, owner: int, address: int) -> tuple[str, str | None, list[int]]:
        """Return where tasks of a class call unblock_cmd_stream(), the first place, and whose wavelets start them.

        The call writes to a byte address.
        """
        found: list[str] = []
        queues: set[int] = set()
        first: str | None = None
        for task in self._tasks(owner):
            places = [
                step.where for step in self._steps_of(task)
                if step.name == "store" and self._touches(step.row, address)
            ]  # fmt: skip
            if places:
                first = first or self.where(places[0])
                queues.update(self._queues_of(owner, task))
                found.append(f"in @{self.task(task)}{self._at(places)}, which {self._started_by(owner, task)}")
        if not found:
            return "nothing in the code calls it", None, []
        rest = len(found) - MAX_PLACES
        more = f"; and in {rest} more" if rest > 0 else ""
        return f"the code calls it {'; and '.join(found[:MAX_PLACES])}{more}", first, sorted(queues)

    def unrouted(self, owner: int, pes: Array, queues: Iterable[int]) -> Iterator[Line]:
        """Yield that nothing comes to some queues of PEs, for lack of a route."""
        for queue in queues:
            flags = self.fabric.flags_of(queue)[self.fabric.pe_unit[pes]]
            mine = pes[flags & UNROUTED != 0]
            color = NOWHERE if not len(mine) else self.color_at(queue, int(mine[0]))
            if color != NOWHERE:
                name = self.color(color)
                text = missing_ramp(self, color, int(mine[0])) or f"no route brings color {name} there; add one"
                yield Line(owner, mine, f"no wavelets come to input queue {self.queue(queue)}: {text}", None)

    def _queues_of(self, owner: int, task: int) -> list[int]:
        """Return the input queues whose wavelets may start a task."""
        record, queues = self.tables["tasks"][task], self.tables["queues"]
        kind = TASK_TYPES[int(record["type"])]
        if kind in ("control", "listener"):
            return np.flatnonzero((queues["owner"] == owner) & (queues["direction"] == INPUT)).tolist()
        return [int(record["queue"])] if kind == "data" and int(record["queue"]) != NONE else []

    def _started_by(self, owner: int, task: int) -> str:
        record: Any = self.tables["tasks"][task]
        kind = TASK_TYPES[int(record["type"])]
        if kind == "launch":
            return "the host launches; it has not come there"
        if kind == "data" and int(record["queue"]) != NONE:
            return f"wavelets of input queue {self.queue(int(record['queue']))} start"
        if kind in ("control", "listener"):
            return "control wavelets start"
        by = self.causes(owner, task)
        activated = f"is activated by {by.activate}" if by.activate else "nothing activates"
        if record["flags"] & ACTIVE:
            activated = f"is active at the start{f', and activated by {by.activate}' if by.activate else ''}"
        return f"{activated}{f', and unblocked by {by.unblock}' if by.unblock else ''}"

    def causes(self, owner: int, task: int) -> _Causes:
        """Return what activates and unblocks a task, with its places."""
        found: tuple[set[tuple[int, str]], set[tuple[int, str]]] = (set(), set())
        for other in self._tasks(owner):
            for step in self._steps_of(other):
                match step.name:
                    case "activate" | "unblock":
                        if step.row == task:
                            found[step.name == "unblock"].add((step.where, f"@{step.name}"))
                    case "apply" | "load_register":
                        is_load = step.name == "load_register"
                        record = self.tables["register_loads" if is_load else "operations"][step.row]
                        what = "the operation on a register loaded" if is_load else operation_name(record)
                        for names, causes in zip(_COMPLETIONS, found, strict=True):
                            if any(int(record[name]) == task for name in names):
                                causes.add((step.where, f"the end of {what}"))
                    case _:
                        pass
        return _Causes(*(self._listed(causes) for causes in found))

    def _listed(self, causes: Iterable[tuple[int, str]]) -> str:
        texts = list(dict.fromkeys(f"{what}{self._at([where])}" for where, what in sorted(causes)))
        return _joined(texts[:MAX_PLACES], len(texts) - MAX_PLACES)

    def _at(self, places: Iterable[int]) -> str:
        where = dict.fromkeys(filter(None, map(self.where, places)))
        return f" at {_joined(list(where)[:MAX_PLACES], len(where) - MAX_PLACES)}" if where else ""

    def _touches(self, row: int, address: int) -> bool:
        access = self.tables["accesses"][row]
        return not access["flags"] & ACCESS_POINTER and access["rank"] == 0 and int(access["base"]) == address

    def _tasks(self, owner: int) -> Iterator[int]:
        record = self.tables["classes"][owner]
        first = int(record["tasks"])
        yield from range(first, first + int(record["task_count"]))

    def _steps_of(self, task: int) -> list[_Step]:
        use = int(self.tables["tasks"]["use"][task])
        if use == NONE:
            return []
        if use not in self._steps:
            self._steps[use] = list(self._walk(use))
        return self._steps[use]

    def _walk(self, use: int) -> Iterator[_Step]:
        """Yield the instructions of a use and of those that it calls, each body once."""
        tables = self.tables
        pending, seen = [use], {use}
        while pending:
            record = tables["uses"][pending.pop()]
            body = tables["bodies"][int(record["body"])]
            behind = int(record["rows"]) + int(body["numbers"]) + int(body["descriptors"])
            slots: list[int] = tables["rows"][behind : behind + int(body["slots"])].tolist()
            first = int(body["code"])
            code: list[tuple[int, int, int, int]] = tables["code"][first : first + int(body["length"])].tolist()
            for pc, (op, a, _, c) in enumerate(code):
                where = int(tables["code_where"][first + pc])
                match self._names[op]:
                    case "call":
                        if slots[a] not in seen:
                            seen.add(slots[a])
                            pending.append(slots[a])
                    case "activate" | "unblock" | "apply" as name:
                        yield _Step(name, slots[a], where)
                    case "load_register" | "store" as name:
                        yield _Step(name, slots[c], where)
                    case _:
                        pass

    @cached_property
    def _names(self) -> dict[int, str]:
        """The names of the instructions, "" for those on scalars."""
        ops = distinct(self.tables["code"]["op"]).tolist()
        return {op: CONTROL[op] if op < len(CONTROL) else "" for op in ops}


def _joined(texts: list[str], more: int) -> str:
    rest = [f"{more} more"] if more > 0 else []
    listed = [*texts, *rest]
    return " and ".join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed)
