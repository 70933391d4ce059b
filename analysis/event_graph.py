"""What waits for what when cores hand entries to each other through rings of slots, and how many slots that takes.

Each core does its events in a known order. An event may need another of another core: a pop the push of its entry, a
push that waits the free that gives it a slot. Unrolled like this, a marked graph has a node for each event and an
edge for each need that no token satisfies from the start; cores wait for each other forever exactly if there is a
cycle, or a need that no event satisfies. networkx, which takes long to import, is imported where it is used.

Knows the arithmetic of pipes, nothing of IR.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from ..operations import pipe_protocol

if TYPE_CHECKING:
    import networkx as nx

Action: TypeAlias = Literal["alloc", "commit", "push", "pop", "free", "drain"]
"""What an event does with a ring: ask for a slot, hand over the oldest that was asked for, both at once, take the next
entry out, be done with the oldest that was taken; at the end, wait for what is still to be given back."""

DEFAULT_SLOTS = 2
"""Slots of a pipe that needs no more: one is filled while the other is read."""

MAX_SLOTS = 64
"""Slots above which none are tried."""


@dataclass(frozen=True)
class Ring:
    """Slots for entries in one direction, with how often waits and frees are told of.

    With `frees_at_pop` a slot is free once its entry is taken out, and a free does nothing; `seed` credits are there
    from the start. If it is `drained`, producers wait at their end until all is given back.
    """

    slots: int
    period: int
    seed: int = 0
    frees_at_pop: bool = False
    drained: bool = True


@dataclass(frozen=True)
class Event:
    """Something a core does with a ring."""

    ring: str
    action: Action


Cores: TypeAlias = Mapping[str, Sequence[Event]]
"""What each core does, in order; cores and rings go by their names. All cores that put entries into a ring take part
in each, and so do all that take entries out."""

_Node: TypeAlias = tuple[str, int]
"""An event: its core, and its place there."""

_Clock: TypeAlias = tuple[int, ...]
"""How many events of each core have happened."""


@dataclass(frozen=True)
class Occurrence:
    """One event: which core does it, what it is, and how many of that kind the core did with that ring before."""

    core: str
    event: Event
    number: int
    place: int
    """How many events the core does before."""

    def __str__(self) -> str:
        number = "" if self.event.action == "drain" else f" {self.number}"
        return f"{self.event.action}{number} of {self.event.ring} on {self.core}"


@dataclass(frozen=True)
class Need:
    """An event that waits for another; None if no event gives what it waits for."""

    waiting: Occurrence
    needed: Occurrence | None


@dataclass(frozen=True)
class Deadlock:
    """Why cores wait forever: needs of which each comes behind the next one's event, the last behind the first's."""

    needs: tuple[Need, ...]

    def __str__(self) -> str:
        parts: list[str] = []
        for place, need in enumerate(self.needs):
            if need.needed is None:
                parts.append(f"{need.waiting} waits for what nothing gives")
                continue
            behind = self.needs[(place + 1) % len(self.needs)].waiting
            link = "" if behind == need.needed else f", which comes behind {behind}"
            parts.append(f"{need.waiting} waits for {need.needed}{link}")
        return "; ".join(parts)


@dataclass
class _Use:
    """Places of what one core does with one ring."""

    acquires: list[int] = field(default_factory=list[int])
    commits: list[int] = field(default_factory=list[int])
    pops: list[int] = field(default_factory=list[int])
    frees: list[int] = field(default_factory=list[int])
    credits: list[int] = field(default_factory=list[int])


class EventGraph:
    """The events of all cores, and what each needs."""

    def __init__(self, cores: Cores, rings: Mapping[str, Ring]):
        self._rings = rings
        self._events = {core: list(events) for core, events in cores.items()}
        self._uses: dict[str, dict[str, _Use]] = {ring: {} for ring in rings}
        for core, events in cores.items():
            for place, event in enumerate(events):
                self._note(core, place, event)
        self._never: list[_Node] = []
        self._needs: dict[tuple[_Node, _Node], None] = {}
        for ring, uses in self._uses.items():
            self._connect(ring, uses)
        self._index = {core: place for place, core in enumerate(self._events)}
        self._known = self._run()
        reached = Counter(core for core, _ in self._known)
        self._fronts = {core: reached[core] for core, events in self._events.items() if reached[core] < len(events)}
        """Where cores stand that do not come to their ends."""

    def _note(self, core: str, place: int, event: Event) -> None:
        ring, use = self._rings[event.ring], self._uses[event.ring].setdefault(core, _Use())
        if event.action in ("push", "alloc"):
            use.acquires.append(place)
        if event.action in ("push", "commit"):
            use.commits.append(place)
        if event.action == "pop":
            use.pops.append(place)
        elif event.action == "free":
            use.frees.append(place)
        signals = event.action == ("pop" if ring.frees_at_pop else "free")
        if signals and use.pops and pipe_protocol.pop_frees(len(use.pops) - 1, ring.slots, ring.period):
            use.credits.append(place)

    def _connect(self, ring: str, uses: Mapping[str, _Use]) -> None:
        numbers = self._rings[ring]
        producers = {core: use for core, use in uses.items() if use.acquires or use.commits}
        consumers = {core: use for core, use in uses.items() if use.pops or use.frees}
        for core, use in consumers.items():
            for entry, place in enumerate(use.pops):
                for other, producer in producers.items() or (("", _Use()),):
                    self._need((core, place), other, producer.commits, entry)
        for core, use in producers.items():
            waiting = [
                place
                for push, place in enumerate(use.acquires)
                if pipe_protocol.push_waits(push, numbers.slots, numbers.period)
            ]
            if numbers.drained:
                pending = pipe_protocol.pending_free_credits(len(use.acquires), numbers.slots, numbers.period)
                self._events[core].append(Event(ring, "drain"))
                waiting += [len(self._events[core]) - 1] * (numbers.seed or pending)
            for wait, place in enumerate(waiting):
                if wait >= numbers.seed:
                    for other, consumer in consumers.items() or (("", _Use()),):
                        self._need((core, place), other, consumer.credits, wait - numbers.seed)

    def _need(self, node: _Node, core: str, places: Sequence[int], number: int) -> None:
        if number < len(places):
            self._needs[(core, places[number]), node] = None
        else:
            self._never.append(node)

    def deadlock(self) -> Deadlock | None:
        """Why the cores do not come to their ends; None if they do.

        Of several reasons it is one that comes first: where cores stand when none can go on.
        """
        fronts = self._fronts
        if not fronts:
            return None
        import networkx as nx

        # Who stands waits for events that have not happened, which come behind where their cores stand.
        waiting: nx.DiGraph[str] = nx.DiGraph()
        needed: dict[tuple[str, str], _Node] = {}
        for earlier, later in self._needs:
            core, other = later[0], earlier[0]
            if fronts.get(core) == later[1] and other in fronts and earlier[1] >= fronts[other]:
                waiting.add_edge(core, other)
                needed.setdefault((core, other), earlier)
        # The stubs of networkx know the function only in part.
        find_cycle = cast(
            "Callable[[nx.DiGraph[str]], list[tuple[str, str]]]",
            nx.find_cycle,  # pyright: ignore[reportUnknownMemberType]
        )
        try:
            cycle = find_cycle(waiting)
        except nx.NetworkXNoCycle:
            never = next(node for node in self._never if fronts.get(node[0]) == node[1])
            return Deadlock((Need(self._occurrence(never), None),))
        return Deadlock(
            tuple(
                Need(self._occurrence((core, fronts[core])), self._occurrence(needed[core, other]))
                for core, other in cycle
            )
        )

    def _run(self) -> dict[_Node, _Clock]:
        """How far each core must have come when each event has happened, of events that happen at all."""
        unmet = Counter(self._never)
        needs: dict[_Node, list[_Node]] = {}
        following: dict[_Node, list[_Node]] = {}
        for earlier, later in self._needs:
            unmet[later] += 1
            needs.setdefault(later, []).append(earlier)
            following.setdefault(earlier, []).append(later)
        known: dict[_Node, _Clock] = {}
        clocks = {core: [0] * len(self._events) for core in self._events}
        reached = dict.fromkeys(self._events, 0)
        pending = list(self._events)
        while pending:
            core = pending.pop()
            clock, count = clocks[core], len(self._events[core])
            while reached[core] < count and not unmet[core, reached[core]]:
                node = core, reached[core]
                for earlier in needs.get(node, ()):
                    clock[:] = map(max, clock, known[earlier])
                reached[core] += 1
                clock[self._index[core]] = reached[core]
                known[node] = tuple(clock)
                for later in following.get(node, ()):
                    unmet[later] -= 1
                    pending.append(later[0])
        return known

    def overwriting(self) -> dict[str, int]:
        """For each ring, the first push that may come before its slot's last entry is done with, if there is one.

        Raises ValueError if the cores wait for each other forever.
        """
        if self._fronts:
            raise ValueError("cores that wait forever do not come to an end")
        found: dict[str, int] = {}
        for ring, uses in self._uses.items():
            numbers = self._rings[ring]
            done = {core: use.pops if numbers.frees_at_pop else use.frees for core, use in uses.items() if use.pops}
            for core, use in uses.items():
                for push, place in enumerate(use.acquires[numbers.slots :], numbers.slots):
                    entry = push - numbers.slots
                    late = any(
                        entry >= len(places) or self._known[core, place][self._index[consumer]] <= places[entry]
                        for consumer, places in done.items()
                    )
                    if late:
                        found[ring] = min(push, found.get(ring, push))
                        break
        return found

    def _occurrence(self, node: _Node) -> Occurrence:
        core, place = node
        events = self._events[core]
        return Occurrence(core, events[place], events[:place].count(events[place]), place)


# ---------------------------------------------------------------------------------------------
# Numbers of slots
# ---------------------------------------------------------------------------------------------

Periods: TypeAlias = Callable[[int], int]
"""The period of a ring by its number of slots."""


@dataclass(frozen=True)
class Trade:
    """What a number of slots costs and gains."""

    slots: int
    period: int
    bytes: int
    pushes: int
    waits: int
    """Pushes of all that wait for free slots."""
    unsafe_push: int | None
    """The first push that may overwrite a slot because the period does not divide the number of slots."""
    overwriting: int | None
    """The first push that may overwrite a slot in this program; None also where it deadlocks."""
    deadlock: Deadlock | None

    @property
    def is_safe(self) -> bool:
        """Whether the program ends and nothing is overwritten, in this program or any other that frees in order."""
        return self.unsafe_push is None and self.overwriting is None and self.deadlock is None

    def __str__(self) -> str:
        if self.deadlock is not None:
            fate = f"deadlock: {self.deadlock}"
        elif self.overwriting is not None or self.unsafe_push is not None:
            push = self.unsafe_push if self.overwriting is None else self.overwriting
            fate = f"push {push} may overwrite its slot"
        else:
            fate = "safe"
        return (
            f"slot_num = {self.slots}: {self.bytes} bytes, sync period {self.period}, {self.waits} of {self.pushes} "
            f"pushes wait, {fate}"
        )


def trade(
    cores: Cores,
    rings: Mapping[str, Ring],
    pipe: Collection[str],
    slot_bytes: int,
    slots: Sequence[int],
    period: Periods = pipe_protocol.sync_period,
) -> list[Trade]:
    """For each number of `slots` of the rings of `pipe`, one for each direction, what it costs and gains.

    `slot_bytes` are those of one slot of each ring; the other rings stay as they are.
    """
    return [_trade(cores, rings, pipe, slot_bytes, count, period(count)) for count in slots]


def _trade(
    cores: Cores, rings: Mapping[str, Ring], pipe: Collection[str], slot_bytes: int, slots: int, period: int
) -> Trade:
    graph = EventGraph(cores, _with(rings, pipe, slots, period))
    deadlock = graph.deadlock()
    overwriting = {} if deadlock is not None else graph.overwriting()
    pushes = {ring: _pushes(cores, ring) for ring in pipe}
    return Trade(
        slots,
        period,
        slots * slot_bytes * len(pipe),
        sum(pushes.values()),
        sum(pipe_protocol.waits(count, slots, period) for count in pushes.values()),
        pipe_protocol.unsafe_push(slots, period),
        min((push for ring, push in overwriting.items() if ring in pipe), default=None),
        deadlock,
    )


@dataclass
class NoSlotNumber(Exception):
    """No number of slots lets the cores come to their ends; `deadlock` is why.

    It is that of so many slots that no push waits; None if there are more pushes than MAX_SLOTS.
    """

    deadlock: Deadlock | None


def smallest_slots(
    cores: Cores,
    rings: Mapping[str, Ring],
    pipes: Sequence[Collection[str]],
    period: Periods = pipe_protocol.sync_period,
    *,
    at_least: int = DEFAULT_SLOTS,
) -> list[int]:
    """For each of `pipes`, the rings of its directions, the smallest number of slots with which all cores end.

    They end both if every push waits for its own slot, as the documents promise, and if they wait as the period says,
    and then nothing is overwritten; numbers with which other programs overwrite (`pipe_protocol.unsafe_push`) are left
    out.
    With several pipes, numbers are made as small as they can be one after the other. Raises NoSlotNumber.
    """
    chosen = [at_least] * len(pipes)
    if _ends(cores, rings, pipes, chosen, period):
        return chosen
    most = [
        _safe(max(at_least, min(MAX_SLOTS, max((_pushes(cores, ring) for ring in pipe), default=1))), period)
        for pipe in pipes
    ]
    chosen = list(most)
    for place in range(len(pipes)):

        def ends(slots: int, every: Periods, place: int = place) -> bool:
            return _ends(cores, rings, pipes, _changed(chosen, place, slots), every)

        fewest = _bisect(at_least, most[place], partial(ends, every=_documented))
        for slots in range(fewest, most[place] + 1):
            is_safe = pipe_protocol.unsafe_push(slots, period(slots)) is None
            if is_safe and ends(slots, period):
                chosen[place] = slots
                break
        else:
            raise NoSlotNumber(_graph(cores, rings, pipes, chosen, period).deadlock())
    return chosen


def largest_period(cores: Cores, rings: Mapping[str, Ring], pipe: Collection[str], slots: int) -> int | None:
    """The largest period dividing `slots` with which all cores end and nothing in `pipe` is overwritten, if any."""
    for period in range(slots, 0, -1):
        if slots % period == 0 and _trade(cores, rings, pipe, 0, slots, period).is_safe:
            return period
    return None


def _with(rings: Mapping[str, Ring], pipe: Collection[str], slots: int, period: int) -> dict[str, Ring]:
    """The rings, those of `pipe` with other numbers."""
    return {
        key: replace(ring, slots=slots, period=period, seed=period if ring.seed else 0) if key in pipe else ring
        for key, ring in rings.items()
    }


def _changed(numbers: Sequence[int], place: int, number: int) -> list[int]:
    return [*numbers[:place], number, *numbers[place + 1 :]]


def _safe(slots: int, period: Periods) -> int:
    """The next number of slots that does not overwrite."""
    while pipe_protocol.unsafe_push(slots, period(slots)) is not None:
        slots += 1
    return slots


def _pushes(cores: Cores, ring: str) -> int:
    """How many entries go into a ring."""
    counts = [
        sum(event.ring == ring and event.action in ("push", "alloc") for event in events) for events in cores.values()
    ]
    return max(counts, default=0)


def _graph(
    cores: Cores,
    rings: Mapping[str, Ring],
    pipes: Sequence[Collection[str]],
    slots: Sequence[int],
    period: Periods,
) -> EventGraph:
    for pipe, count in zip(pipes, slots, strict=True):
        rings = _with(rings, pipe, count, period(count))
    return EventGraph(cores, rings)


def _ends(
    cores: Cores,
    rings: Mapping[str, Ring],
    pipes: Sequence[Collection[str]],
    slots: Sequence[int],
    period: Periods,
) -> bool:
    """Whether the cores end and overwrite nothing, with the period as it is and as documented."""
    graphs = (_graph(cores, rings, pipes, slots, every) for every in (_documented, period))
    return all(graph.deadlock() is None and not graph.overwriting() for graph in graphs)


def _documented(_: int) -> int:
    """The period of pipes as the documents promise them: each push waits for its own slot."""
    return 1


def _bisect(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The least number from `low` on for which `holds`, which does for all numbers above it; `high` if for none."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
