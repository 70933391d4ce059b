"""Who waits on the cores of a chip at rest: waits for entries and credits of channels, as nodes of the wait graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from .. import wait_graph
from ..places import Array, Unit
from ..reports import channel_remedies
from ..reports.channel_remedies import remedy
from ..tables.format import Tables
from ..tables.instructions import SLOTS
from .balance import by_lane
from .chip import ChannelCounts, Chip, Waiting

Counts = Callable[[int, int], ChannelCounts]


def waits(
    chip: Chip, waiting: Sequence[Waiting], counts: Counts, active: Callable[[int], set[int]]
) -> list[wait_graph.Wait]:
    """Return the waits that never end, those of cores of one class that say the same as one.

    `counts` returns the state of a channel on a row; `active` the launch tasks of a core that have not begun.
    """
    resting = [each for each in waiting if each.action == "rest"]
    waiting = [each for each in waiting if each.action != "rest"]
    alike: dict[tuple[int, str, int, Waiting], list[Waiting]] = {}
    for each in sorted(waiting, key=lambda each: (each.channel, each.unit)):
        y = each.unit // chip.width
        cls, text = int(chip.class_of.ravel()[each.unit]), lacks(chip, each, counts(each.channel, y))
        alike.setdefault((cls, text, each.channel, each._replace(unit=0)), []).append(each)
    found = [_node(chip, cls, text, same, counts, active) for (cls, text, _, _), same in alike.items()]
    return found + [_at_rest(chip, each) for each in resting]


def _at_rest(chip: Chip, wait: Waiting) -> wait_graph.Wait:
    """Return the wait of a core for a number in shared memory that nothing changes any more."""
    task = chip.task_name(wait.task)
    place = chip.where(wait.where)
    labels = chip.tables["rests"]["label"][chip.tables["rests"]["where"] == wait.where]
    at = f" ({place})" if place else ""
    if len(labels):
        text = (
            f"@{task} waits{at} for {chip.text(labels[0])}: it {_been_set(wait.found)}, this is wait {wait.wanted} for "
            "it, and nothing sets it any more; set it before, or leave the wait out"
        )
    else:
        text = (
            f"@{task} waits for a signal{at}, which is {wait.found} where it is compared with {wait.wanted}, and "
            "nothing changes it any more; let another core signal it, or correct what is waited for"
        )
    y, x = divmod(wait.unit, chip.width)
    return wait_graph.Wait(int(chip.class_of[y, x]), np.array([(x, y)]), text, place, held=True)


def _been_set(count: int) -> str:
    return {0: "has not been set", 1: "has been set once", 2: "has been set twice"}.get(
        count, f"has been set {count} times"
    )


def _node(
    chip: Chip, cls: int, text: str, same: Sequence[Waiting], counts: Counts, active: Callable[[int], set[int]]
) -> wait_graph.Wait:
    first = same[0]
    tasks = {each.unit: active(each.unit) | {each.task} for each in same}

    def used_after(places: Array) -> frozenset[str]:
        units = (places[:, 1] * chip.width + places[:, 0]).tolist()
        launched = frozenset[int]().union(*(tasks[unit] for unit in units))
        return frozenset[str]().union(*(channels_of(chip.tables, task) for task in launched))

    units = np.array([each.unit for each in same])
    return wait_graph.Wait(
        cls, np.stack([units % chip.width, units // chip.width], axis=1), text, chip.where(first.where),
        _End(chip, first, counts), held=True, queue=chip.channel_name(first.channel), missing=1, used_after=used_after,
    )  # fmt: skip


class _End:
    """One end of a channel, of which the wait graph asks by places of the grid."""

    waits_for_all = True

    def __init__(self, chip: Chip, wait: Waiting, counts: Counts) -> None:
        self._chip = chip
        self._wait = wait
        self._counts = counts

    def pairs(self, places: Array) -> Iterable[tuple[Unit, Unit, str]]:
        """Yield each core with those of its row on the other side that have not done their part, and the channel."""
        chip, number = self._chip, self._wait.channel
        producer, consumer = chip.sides[number]
        lanes = int(chip.tables["channels"]["lanes"][number])
        for x, y in places.tolist():
            pops = chip.class_of[y, x] == consumer.cls
            other = producer if pops else consumer
            ready = self._counts(number, y).ready
            for across, column in enumerate(np.flatnonzero(chip.class_of[y] == other.cls).tolist()):
                done = pops and producer.many and across < lanes and ready[across] > 0
                if not done:
                    yield (x, y), (column, y), chip.channel_name(number)

    def remedy(self, *, held: bool) -> str:
        """Return what to do about cores that wait for each other's entries or credits."""
        chip, number = self._chip, self._wait.channel
        others = [
            self._progress(other)
            for other, ends in enumerate(chip.sides)
            if other != number and ends == chip.sides[number]
        ]
        return remedy(self._progress(number), others)

    def _progress(self, number: int) -> channel_remedies.Counts:
        """Return how far a channel has come, on the row of the grid that is the least far."""
        chip, record = self._chip, self._chip.tables["channels"][number]
        rows = [self._counts(number, row) for row in chip.rows(number)]
        return channel_remedies.Counts(
            chip.text(record["name"]), int(record["depth"]), min(min(row.waited) for row in rows),
            min(min(row.released) for row in rows), any(_lost(chip, number, row) for row in rows),
            sum(sum(row.acquired) - sum(row.committed) for row in rows),
        )  # fmt: skip

    def explanation(self, places: Array, units: str) -> str | None:
        """Return None: the wait itself says how often each core has pushed, popped and freed."""
        return None


def lacks(chip: Chip, wait: Waiting, counts: ChannelCounts) -> str:
    """Return in words what a core waits for."""
    channel = chip.tables["channels"][wait.channel]
    producer, consumer = chip.sides[wait.channel]
    many = consumer.many if wait.action == "wait" else producer.many
    member = int(chip.column.ravel()[wait.unit]) if many else 0
    name, task = chip.text(channel["name"]), chip.task_name(wait.task)
    place = chip.where(wait.where)
    where = f" ({place})" if place else ""
    pushed, popped, freed = (by_lane(each) for each in (counts.committed, counts.waited, counts.released))
    state = f"{pushed} pushed, {popped} popped, {freed} freed"
    credits = f"{state}, a credit for every {channel['period']} freed"
    if lost := _lost(chip, wait.channel, counts):
        credits += (
            f", of which {lost} {'was' if lost == 1 else 'were'} never returned: frees came after later pops (H3)"
        )
    if wait.action == "wait":
        entry = counts.waited[member]
        late = [f"lane {lane}" for lane, count in enumerate(counts.committed) if count <= entry]
        some = 0 < len(late) < len(counts.committed)
        return (
            f"@{task} waits to pop entry {entry} of channel @{name}, which "
            f"{' and '.join(late) + ' has not' if some else 'nobody has'} pushed{where}: {state}"
        )
    if wait.action == "acquire":
        return (
            f"@{task} waits for a free slot to push entry {counts.acquired[member]} to channel @{name} of "
            f"{channel['depth']}{where}: {credits}"
        )
    return f"@{task} waits at its end for the last credits of channel @{name}{where}: {credits}"


def _lost(chip: Chip, number: int, counts: ChannelCounts) -> int:
    """Return the credits due for the entries released that have not been given."""
    channel = chip.tables["channels"][number]
    many = chip.sides[number][1].many
    released = [counts.released[lane if many else 0] for lane in range(int(channel["lanes"]))]
    due = [count // int(channel["period"]) for count in released]
    return max(0, *(count - given for count, given in zip(due, counts.issued, strict=True)))


def channels_of(tables: Tables, task: int) -> frozenset[str]:
    """Return the names of the channels whose ends the code of a task has, too many rather than too few."""
    use = tables["uses"][tables["tasks"]["use"][task]]
    body = tables["bodies"][use["body"]]
    first = int(use["rows"]) + int(body["numbers"]) + int(body["descriptors"])
    slots = tables["rows"][first : first + int(body["slots"])].tolist()
    kinds = tables["slot_kinds"][int(body["slot_kinds"]) :][: len(slots)].tolist()
    return frozenset(
        tables.strings[tables["channels"]["name"][row]]
        for row, kind in zip(slots, kinds, strict=True)
        if SLOTS[kind] in ("producer", "consumer")
    )
