"""Who waits for whom at rest: nodes of the wait graph, from the records of an executor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...targets.wavelets import PORTS
from .. import wait_sentences
from ..distinct import distinct
from ..executor import Lacking
from ..fabric.model import NOWHERE, UNBOUNDED, UNROUTED, Fabric
from ..fabric.routes import RAMP
from ..fabric.wavelet_types import places_of_use
from ..places import Unit
from ..tables.format import NONE, OUTPUT, TASK_TYPES
from ..unread_wavelets import plain
from ..wait_graph import Awaited, Wait
from .continuations import Continuations, Reached, completions_of, read_by
from .held_at_switches import closed_switch, full_queues
from .lost import missing_ramp
from .places import Names
from .rest import BLOCKED, HEADER, HELD, READS_FIFO, RECEIVES, SENDS_MESSAGE, WRITES_FIFO, Rest

Array: TypeAlias = NDArray[Any]

MANY = 64
"""PEs that wait for the same of which what is said of their ways is looked up."""


def waits(fabric: Fabric, rest: Rest, *, allow_pending: bool, all_of_them: bool) -> list[Wait]:
    """Return the waits that never end and whose end would start something, as `Executor.waits` has them."""
    found = _Waits(fabric, rest)
    nodes = [] if allow_pending else list(found.blocked_tasks())
    nodes += found.operations(allow_pending=allow_pending, all_of_them=all_of_them)
    return sorted(nodes, key=lambda wait: wait.cls)


def lacking(fabric: Fabric, rest: Rest) -> list[Lacking]:
    """Return the PEs that wait for wavelets of the host."""
    names = Names(fabric)
    found: list[Lacking] = []
    for stream in fabric.host_inputs:
        color = names.text("colors", stream.color)
        mine = rest.waits[(rest.waits["kind"] == RECEIVES) & (rest.waits["count"] < UNBOUNDED)]
        for pe, queue, count, position in mine[["pe", "row", "count", "position"]].tolist():
            if queue in stream.queues[:, pe]:
                found.append(Lacking(color, names.position(pe), count - position))
    return found


class _Waits(Names):
    def __init__(self, fabric: Fabric, rest: Rest) -> None:
        super().__init__(fabric)
        self.rest = rest
        self._programs: dict[int, Continuations] = {}

    def places(self, pes: Iterable[int]) -> Array:
        """Return PEs as places, [n, (x, y)], by rows."""
        numbers = distinct(np.fromiter(pes, np.int64))
        return np.stack([numbers % self.fabric.width, numbers // self.fabric.width], 1)

    def pes(self, places: Array) -> Array:
        """Return places as PEs."""
        return places[:, 1] * self.fabric.width + places[:, 0]

    # Nodes

    def blocked_tasks(self) -> Iterator[Wait]:
        """Yield the waits of tasks that could run if they were not blocked."""
        blocked = self.rest.tasks[self.rest.tasks["blocked"] != 0]
        records = self.tables["tasks"]
        for task in distinct(blocked["task"]).tolist():
            record = records[task]
            where, queue = self.place_of("tasks", task), int(record["queue"])
            label = None if queue == NONE else self.queue(queue)
            text = wait_sentences.blocked_task(self.task(task), where, label)
            if label is not None and TASK_TYPES[record["type"]] == "listener":
                text = wait_sentences.blocked_queue(label, where)
            places = self.places(blocked["pe"][blocked["task"] == task])

            def used_after(_: Array, owner: int = int(record["owner"]), task: int = task) -> frozenset[str]:
                return self._used(self._program(owner).of([task]), [task], ())

            yield Wait(int(record["owner"]), places, text, where, used_after=used_after)

    def operations(self, *, allow_pending: bool, all_of_them: bool) -> Iterator[Wait]:
        """Yield the waits of operations, those for the same thing together."""
        groups = sorted(self._groups(), key=lambda group: _order(group[0]))
        for record, pes in groups:
            kind, held = int(record["kind"]), bool(record["flags"] & HELD)
            completions = completions_of(self.tables, int(record["operation"]), int(record["settings"]))
            signals_end = bool(completions) and not allow_pending
            if held or signals_end or (all_of_them and (kind in (RECEIVES, BLOCKED) or kind in _OF_FIFOS)):
                yield self._node(record, pes, [] if held else completions)

    def _groups(self) -> Iterator[tuple[Any, Array]]:
        """Yield one record, and all PEs, of each set of records that say the same, by the color of their queue too."""
        records = self.rest.waits
        if not len(records):
            return
        keys = np.zeros(len(records), [("record", records.dtype), ("color", "<i4"), ("class", "<i4")])
        keys["record"] = records
        keys["record"]["pe"] = 0
        keys["class"] = self.fabric.pe_class[records["pe"]]
        for row in distinct(records["row"][np.isin(records["kind"], _WITHOUT_QUEUE, invert=True)]).tolist():
            mine = (records["row"] == row) & np.isin(records["kind"], _WITHOUT_QUEUE, invert=True)
            keys["color"][mine] = self.fabric.colors_of(row)[self.fabric.pe_unit[records["pe"][mine]]]
        raw = np.array([key.tobytes() for key in keys]) if len(keys) < 2 else keys.view(f"V{keys.dtype.itemsize}")
        _, samples, which = np.unique(raw, return_index=True, return_inverse=True)
        order = np.argsort(which, kind="stable")
        bounds = np.searchsorted(which[order], np.arange(len(samples) + 1))
        for number in np.argsort(samples).tolist():
            members = order[bounds[number] : bounds[number + 1]]
            yield records[samples[number]], records["pe"][members]

    def _node(self, record: Any, pes: Array, completions: list[int]) -> Wait:
        kind, row, pe = (int(record[name]) for name in ("kind", "row", "pe"))
        operation, settings, task, where = (int(record[name]) for name in ("operation", "settings", "task", "where"))
        count, missing = int(record["count"]), int(record["count"]) - int(record["position"])
        held = bool(record["flags"] & HELD)
        section, run = ("operations", operation) if settings == NONE else ("register_loads", settings)
        thread = None if held else int(self.tables[section]["microthread"][run])
        source = self.where(where)
        who = wait_sentences.waiter(thread, self.task(task), self.operation(operation, task), source)
        owner = int(self.fabric.pe_class[pe])
        awaited: Awaited | None = None
        colors: tuple[str, ...] = ()
        queue = row
        match kind:
            case _ if kind in _OF_FIFOS:
                lacks = "empty" if kind == READS_FIFO else "full"
                name = self.text("fifos", row)
                text = wait_sentences.on_fifo(who, name, lacks, missing, count)
            case _ if kind in _OF_MESSAGES:
                message = self.rest.messages[row]
                text = f"{who} cannot send {self._message(message)}: {reason(self, message)}"
                queue, missing = int(record["output"]), int(message["elements"])
                awaited = _MessageEnd(self, message)
                name = plain(self.queue(queue))
            case _ if kind == BLOCKED:
                assert thread is not None
                queue, name = int(record["output"]), None
                text = wait_sentences.on_microthread(who, missing, count)
                awaited = _BlockedMicrothread(thread, self.where(row))
            case _:
                label, number, color = self.queue(row), self.queue_id(row), self.color_at(row, pe)
                name = plain(label)
                if kind == RECEIVES:
                    awaits = f"{missing} of {count} wavelets"
                    if record["flags"] & HEADER:
                        awaits = "a message"
                    elif missing > UNBOUNDED // 2:
                        awaits = f"more than the {count - missing} wavelets taken so far, having no end of its own"
                    text = wait_sentences.on_input_queue(who, label, number, self.color(color), awaits)
                    awaited = _InputEnd(self, row)
                elif self.is_switched(color):
                    awaited = _RouterEnd(self, color)
                    text = wait_sentences.on_routers(who, label, number, self.color(color), count)
                    missing = count
                else:
                    awaited = _OutputEnd(self, row)
                    text = wait_sentences.on_output_queue(
                        who,
                        label,
                        number,
                        self.color(color),
                        count,
                        sorted(awaited.receivers),
                        self._capacity(row, pes),
                    )
                    missing = count
        if kind not in _OF_FIFOS and queue != NONE:
            color = self.color_at(queue, pe)
            colors = () if color == NOWHERE else (plain(self.color(color)),)
        is_receive = kind in (RECEIVES, BLOCKED) or kind in _OF_FIFOS
        sends = (int(record["output"]),) if is_receive and record["output"] != NONE else ()
        point = (int(record["use"]), int(record["pc"])) if held else None

        def used_after(places: Array) -> frozenset[str]:
            return self._used_after(owner, places, point, completions, sends)

        return Wait(
            owner, self.places(pes), text, source, awaited, held, name, colors, missing,
            kind == RECEIVES and not held and int(record["position"]) > 0, missing > UNBOUNDED // 2, used_after,
        )  # fmt: skip

    def is_switched(self, color: int) -> bool:
        """Return True if a color has a switch somewhere."""
        return any(switched.color == color for switched in self.fabric.switched)

    def _capacity(self, queue: int, pes: Array) -> int | None:
        """Return how many wavelets fit on the way from an output queue of some PEs, the least of their ways."""
        fabric = self.fabric
        lists = [fabric.ways_of(queue, unit) for unit in distinct(fabric.pe_unit[pes]).tolist()[:MANY]]
        held = [ways["capacity"] + np.where(ways["meets"], fabric.room[ways["queue"]], 0) for ways in lists]
        return min((int(words.min()) for words in held if len(words)), default=None)

    # What a PE may do once a wait is over

    def _program(self, owner: int) -> Continuations:
        if owner not in self._programs:
            self._programs[owner] = Continuations(self.tables, owner)
        return self._programs[owner]

    def _used_after(
        self,
        owner: int,
        places: Array,
        point: tuple[int, int] | None,
        completions: Sequence[int],
        sends: Sequence[int],
    ) -> frozenset[str]:
        """Return the queues that PEs of a class may use once a wait is over."""
        program = self._program(owner)
        tasks = set(completions)
        after = Reached(frozenset(), frozenset())
        if point is not None:
            # A task in the middle of an operation keeps from running all others that are active.
            active = self.rest.tasks
            tasks |= set(active["task"][np.isin(active["pe"], self.pes(places))].tolist())
            after = program.after(*point)
        found = program.of(tasks)
        reached = Reached(after.tasks | found.tasks, after.queues | found.queues)
        return self._used(reached, tasks, sends)

    def _used(self, reached: Reached, tasks: Iterable[int], sends: Iterable[int]) -> frozenset[str]:
        queues = reached.queues | read_by(self.tables, reached.tasks | set(tasks)) | set(sends)
        return frozenset(symbol(queue) for queue in queues)

    # Messages

    def _message(self, message: Any) -> str:
        count = int(message["elements"])
        return f"its message of {count} element{'' if count == 1 else 's'} to {self.pe(int(message['target']))}"

    # Edges

    @cached_property
    def senders(self) -> dict[int, list[tuple[int, Array, Array]]]:
        """For each input queue the output queues that send to it, with the PEs that do and those that get it."""
        fabric = self.fabric
        list_of = np.repeat(np.arange(len(fabric.list_first) - 1), np.diff(fabric.list_first.astype(np.int64)))
        found: dict[int, list[tuple[int, Array, Array]]] = {}
        for queue in np.flatnonzero(self.tables["queues"]["direction"] == OUTPUT).tolist():
            pes = fabric.units(int(fabric.queue_class[queue])).astype(np.int64)
            lists = fabric.way_lists[fabric.queue_first[queue] : fabric.queue_first[queue + 1]]
            used = np.zeros(len(fabric.list_first) - 1, np.bool_)
            used[lists] = True
            for way in np.flatnonzero(used[list_of]).tolist():
                mine = pes[lists == list_of[way]]
                offset, reader = int(fabric.ways["offset"][way]), int(fabric.ways["queue"][way])
                found.setdefault(reader, []).append((queue, mine, mine + offset))
        return found


_OF_FIFOS = (READS_FIFO, WRITES_FIFO)
_OF_MESSAGES = (SENDS_MESSAGE,)
_WITHOUT_QUEUE = (*_OF_FIFOS, *_OF_MESSAGES, BLOCKED)
"""Kinds of waits whose `row` is not a queue."""


def _order(record: Any) -> tuple[int, int, int]:
    """Return the place of a wait among those of its class: sends, then FIFOs, then input queues."""
    kind, row = int(record["kind"]), int(record["row"])
    if kind == RECEIVES:
        return 2, row, 0
    if kind == BLOCKED:
        return 3, int(record["operation"]), int(record["where"])
    return (1, row, kind) if kind in _OF_FIFOS else (0, 0, 0)


def symbol(queue: int) -> str:
    """Return what edges of the wait graph call a queue."""
    return f"queue {queue}"


def reason(names: Names, message: Any) -> str:
    """Return why a message of a network stalls."""
    blocker, at = int(message["blocker"]), int(message["at"])
    reader = int(names.fabric.network_readers[int(message["network"]), blocker])
    full = f"input queue {names.queue(reader)} of {names.pe(blocker)} is full and is not read"
    if at == NONE:
        return full
    way = "the ramp" if message["port"] == RAMP else f"the way {PORTS[message['port']]}"
    source, target = names.pe(int(message["holder_source"])), names.pe(int(message["holder_target"]))
    return f"{way} at {names.pe(at)} is held by the message from {source} to {target}, and {full}"


class _BlockedMicrothread:
    """A microthread that is blocked, for which its operation waits."""

    waits_for_all = False

    def __init__(self, number: int, where: str | None) -> None:
        self._number = number
        self._where = where

    def pairs(self, places: Array) -> Iterator[tuple[Unit, Unit, str]]:
        """Return no units: it is the PE's own tasks that unblock it."""
        yield from ()

    def remedy(self, *, held: bool) -> str:
        return wait_sentences.blocked_microthread(self._number, self._where, "it")

    def explanation(self, places: Array, units: str) -> str | None:
        """Return what to do."""
        return wait_sentences.blocked_microthread(self._number, self._where, units)


class _InputEnd:
    """An input queue that PEs wait for wavelets in."""

    waits_for_all = False

    def __init__(self, found: _Waits, queue: int) -> None:
        self._found = found
        self._queue = queue

    def pairs(self, places: Array) -> Iterator[tuple[Unit, Unit, str]]:
        wanted = self._found.pes(places)
        for queue, senders, receivers in self._found.senders.get(self._queue, ()):
            chosen = np.isin(receivers, wanted)
            for sender, receiver in zip(senders[chosen].tolist(), receivers[chosen].tolist(), strict=True):
                yield self._found.position(receiver), self._found.position(sender), symbol(queue)

    def remedy(self, *, held: bool) -> str:
        return wait_sentences.SEND_FIRST[held]

    def explanation(self, places: Array, units: str) -> str | None:
        """Return why nobody sends; None if wavelets may come by routers that do not hold them, or from the host."""
        fabric, queue = self._found.fabric, self._queue
        for color in fabric.switched:
            if bool((color.readers == queue).any()):
                return closed_switch(self._found, self._found.rest, color.color)
        if any(bool((stream.queues == queue).any()) for stream in fabric.host_inputs):
            return None
        label = self._found.queue(queue)
        if fabric.network[queue] != NOWHERE:
            return wait_sentences.no_wavelets(label, units, "no message")
        pes = self._found.pes(places)
        unrouted = pes[fabric.flags_of(queue)[fabric.pe_unit[pes]] & UNROUTED != 0].tolist()
        if unrouted:
            route = missing_ramp(self._found, self._found.color_at(queue, unrouted[0]), unrouted[0])
            return route or wait_sentences.no_wavelets(label, units, "no route")
        if next(self.pairs(places), None) is None:
            return wait_sentences.no_wavelets(label, units, "no sender")
        return wait_sentences.no_wavelets(label, units, "too little") + self._sends(pes)

    def _sends(self, pes: Array) -> str:
        """Return where the PEs that send to the first of some PEs do so, as the end of a sentence."""
        wanted, found = int(pes[0]), self._found
        for queue, senders, receivers in found.senders.get(self._queue, ()):
            chosen = senders[receivers == wanted]
            named = map(found.where, places_of_use(found.tables, queue))
            places = [place for place in named if place is not None]
            if len(chosen) and places:
                return wait_sentences.sends(found.pe(int(chosen[0])), found.pe(wanted), places)
        return ""


class _OutputEnd:
    """An output queue from which PEs cannot send, because those at the other end do not read."""

    waits_for_all = True

    def __init__(self, found: _Waits, queue: int) -> None:
        self._found = found
        self._queue = queue

    @cached_property
    def _reached(self) -> list[tuple[int, Array, Array]]:
        """The input queues that get its wavelets, with the PEs that send and those that get them."""
        return [
            (reader, senders, receivers)
            for reader, found in self._found.senders.items()
            for queue, senders, receivers in found
            if queue == self._queue
        ]

    @property
    def receivers(self) -> set[str]:
        """The names of the queues at the other end."""
        return {self._found.queue(reader) for reader, _, _ in self._reached}

    def pairs(self, places: Array) -> Iterator[tuple[Unit, Unit, str]]:
        wanted = self._found.pes(places)
        for reader, senders, receivers in self._reached:
            chosen = np.isin(senders, wanted)
            for sender, receiver in zip(senders[chosen].tolist(), receivers[chosen].tolist(), strict=True):
                yield self._found.position(sender), self._found.position(receiver), symbol(reader)

    def remedy(self, *, held: bool) -> str:
        return wait_sentences.SEND_FIRST[held]

    def explanation(self, places: Array, units: str) -> str | None:
        """Return None: the wait itself says who does not read."""
        return None


class _RouterEnd:
    """The routers of a color with switches, which do not pass wavelets on."""

    waits_for_all = True

    def __init__(self, found: _Waits, color: int) -> None:
        self._found = found
        self._color = color

    def pairs(self, places: Array) -> Iterator[tuple[Unit, Unit, str]]:
        senders = [(x, y) for x, y in places.tolist()]
        for queue, pe in full_queues(self._found, self._found.rest, self._color):
            for sender in senders:
                yield sender, self._found.position(pe), symbol(queue)

    def remedy(self, *, held: bool) -> str:
        return wait_sentences.RECEIVE_FIRST

    def explanation(self, places: Array, units: str) -> str | None:
        """Return which switch, or which queue, holds them up."""
        found, rest = self._found, self._found.rest
        closed = closed_switch(found, rest, self._color)
        if closed is not None:
            return closed
        full = full_queues(found, rest, self._color)
        return wait_sentences.full_queue(found.queue(full[0][0]), found.pe(full[0][1])) if full else None


class _MessageEnd:
    """What a message that stalls waits for: the receiver at the head of its line."""

    waits_for_all = True

    def __init__(self, found: _Waits, message: Any) -> None:
        self._found = found
        self._message = message

    def pairs(self, places: Array) -> list[tuple[Unit, Unit, str]]:
        source, blocker = int(self._message["source"]), int(self._message["blocker"])
        reader = int(self._found.fabric.network_readers[int(self._message["network"]), blocker])
        return [(self._found.position(source), self._found.position(blocker), symbol(reader))]

    def remedy(self, *, held: bool) -> str:
        return wait_sentences.RECEIVE_FIRST

    def explanation(self, places: Array, units: str) -> str | None:
        """Return None: the wait itself says who does not read."""
        return None
