"""Event graph of cores that communicate through ring buffers: deadlocks, overwritten slots, and how many slots suffice.

Each core performs its events in a known order. An event may depend on an event of another core: a pop on the push of
its entry, a push that waits on the free that returns a credit. Unrolled like this, a marked graph has a node for each
event and an edge for each dependence that no initial token satisfies; the cores deadlock exactly if there is a cycle,
or a dependence that no event satisfies. networkx, which takes long to import, is imported where it is used.

Knows the arithmetic of pipes, nothing of IR.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from ..diagnostics.records import record
from ..operations import pipe_protocol

if TYPE_CHECKING:
    import networkx as nx

Action: TypeAlias = Literal["alloc", "commit", "push", "pop", "free", "drain"]
"""Action of an event on a ring buffer: allocate a slot, commit the oldest allocated one, push (both at once), pop the
next entry, free the oldest popped one; at the end, drain: wait for the outstanding credits."""

DEFAULT_SLOTS = 2
"""Slots of a pipe that needs no more: one is written while the other is read."""

MAX_SLOTS = 64
"""The largest number of slots that is tried."""


@record
class RingBuffer:
    """A ring buffer: its slots, and the sync period after which pushes wait for and frees return a credit.

    With `frees_at_pop` a pop frees the slot, and a free does nothing; `initial_credits` exist from the start. If it is
    `drained`, producers wait at their end until all credits are returned.
    """

    slots: int
    period: int
    initial_credits: int = 0
    frees_at_pop: bool = False
    drained: bool = True


@record
class Event:
    """One action of a core on a ring buffer."""

    ring: str
    action: Action


Cores: TypeAlias = Mapping[str, Sequence[Event]]
"""The events of each core, in order; cores and ring buffers are known by name. All producers of a ring buffer take part
in every entry, and so do all consumers."""

_Node: TypeAlias = tuple[str, int]
"""An event: its core, and its position there."""

_VectorClock: TypeAlias = tuple[int, ...]
"""A vector clock: how many events of each core have happened."""


@record
class Occurrence:
    """One event: its core, its action, and how many equal events the core performs before."""

    core: str
    event: Event
    number: int
    position: int
    """Number of events that the core performs before."""

    def __str__(self) -> str:
        number = "" if self.event.action == "drain" else f" {self.number}"
        return f"{self.event.action}{number} of {self.event.ring} on {self.core}"


@record
class Dependence:
    """An event that waits for another; None if no event satisfies it."""

    waiting: Occurrence
    needed: Occurrence | None


@record
class Deadlock:
    """A cycle of dependences: each needed event follows the next waiting one, and the last the first."""

    dependences: tuple[Dependence, ...]

    def __str__(self) -> str:
        parts: list[str] = []
        for position, need in enumerate(self.dependences):
            if need.needed is None:
                parts.append(f"{need.waiting} waits for an event that never happens")
                continue
            after = self.dependences[(position + 1) % len(self.dependences)].waiting
            link = "" if after == need.needed else f", which follows {after}"
            parts.append(f"{need.waiting} waits for {need.needed}{link}")
        return "; ".join(parts)


@dataclass
class _Progress:
    """The positions of one core's events on one ring buffer, by their effect."""

    acquires: list[int] = field(default_factory=list[int])
    commits: list[int] = field(default_factory=list[int])
    pops: list[int] = field(default_factory=list[int])
    frees: list[int] = field(default_factory=list[int])
    credits: list[int] = field(default_factory=list[int])


class EventGraph:
    """The events of all cores and their dependences."""

    def __init__(self, cores: Cores, rings: Mapping[str, RingBuffer]):
        self._rings = rings
        self._events = {core: list(events) for core, events in cores.items()}
        self._uses: dict[str, dict[str, _Progress]] = {ring: {} for ring in rings}
        for core, events in cores.items():
            for position, event in enumerate(events):
                self._note(core, position, event)
        self._unsatisfied: list[_Node] = []
        self._dependences: dict[tuple[_Node, _Node], None] = {}
        for ring, uses in self._uses.items():
            self._connect(ring, uses)
        self._clock_index = {core: position for position, core in enumerate(self._events)}
        self._clocks = self._execute()
        reached = Counter(core for core, _ in self._clocks)
        self._blocked = {core: reached[core] for core, events in self._events.items() if reached[core] < len(events)}
        """The position of each core that does not end."""

    def _note(self, core: str, position: int, event: Event) -> None:
        ring, use = self._rings[event.ring], self._uses[event.ring].setdefault(core, _Progress())
        if event.action in ("push", "alloc"):
            use.acquires.append(position)
        if event.action in ("push", "commit"):
            use.commits.append(position)
        if event.action == "pop":
            use.pops.append(position)
        elif event.action == "free":
            use.frees.append(position)
        signals = event.action == ("pop" if ring.frees_at_pop else "free")
        if signals and use.pops and pipe_protocol.pop_frees(len(use.pops) - 1, ring.slots, ring.period):
            use.credits.append(position)

    def _connect(self, ring: str, uses: Mapping[str, _Progress]) -> None:
        numbers = self._rings[ring]
        producers = {core: use for core, use in uses.items() if use.acquires or use.commits}
        consumers = {core: use for core, use in uses.items() if use.pops or use.frees}
        for core, use in consumers.items():
            for entry, position in enumerate(use.pops):
                for other, producer in producers.items() or (("", _Progress()),):
                    self._add_dependence((core, position), other, producer.commits, entry)
        for core, use in producers.items():
            waiting = [
                position
                for push, position in enumerate(use.acquires)
                if pipe_protocol.push_waits(push, numbers.slots, numbers.period)
            ]
            if numbers.drained:
                pending = pipe_protocol.pending_free_credits(len(use.acquires), numbers.slots, numbers.period)
                self._events[core].append(Event(ring, "drain"))
                waiting += [len(self._events[core]) - 1] * (numbers.initial_credits or pending)
            for wait, position in enumerate(waiting):
                if wait >= numbers.initial_credits:
                    for other, consumer in consumers.items() or (("", _Progress()),):
                        self._add_dependence((core, position), other, consumer.credits, wait - numbers.initial_credits)

    def _add_dependence(self, node: _Node, core: str, positions: Sequence[int], number: int) -> None:
        if number < len(positions):
            self._dependences[(core, positions[number]), node] = None
        else:
            self._unsatisfied.append(node)

    def deadlock(self) -> Deadlock | None:
        """Return why the cores deadlock; None if all of them end.

        Of several cycles it is one of those that cores are in when none can go on.
        """
        blocked = self._blocked
        if not blocked:
            return None
        import networkx as nx

        # A blocked core waits for an event that has not happened, at or after the position of another blocked core.
        waiting: nx.DiGraph[str] = nx.DiGraph()
        needed: dict[tuple[str, str], _Node] = {}
        for earlier, later in self._dependences:
            core, other = later[0], earlier[0]
            if blocked.get(core) == later[1] and other in blocked and earlier[1] >= blocked[other]:
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
            unsatisfied = next(node for node in self._unsatisfied if blocked.get(node[0]) == node[1])
            return Deadlock((Dependence(self._occurrence(unsatisfied), None),))
        return Deadlock(
            tuple(
                Dependence(self._occurrence((core, blocked[core])), self._occurrence(needed[core, other]))
                for core, other in cycle
            )
        )

    def _execute(self) -> dict[_Node, _VectorClock]:
        """Return the vector clock of each event that happens."""
        unmet = Counter(self._unsatisfied)
        dependences: dict[_Node, list[_Node]] = {}
        following: dict[_Node, list[_Node]] = {}
        for earlier, later in self._dependences:
            unmet[later] += 1
            dependences.setdefault(later, []).append(earlier)
            following.setdefault(earlier, []).append(later)
        clocks_at: dict[_Node, _VectorClock] = {}
        clocks = {core: [0] * len(self._events) for core in self._events}
        reached = dict.fromkeys(self._events, 0)
        pending = list(self._events)
        while pending:
            core = pending.pop()
            clock, count = clocks[core], len(self._events[core])
            while reached[core] < count and not unmet[core, reached[core]]:
                node = core, reached[core]
                for earlier in dependences.get(node, ()):
                    clock[:] = map(max, clock, clocks_at[earlier])
                reached[core] += 1
                clock[self._clock_index[core]] = reached[core]
                clocks_at[node] = tuple(clock)
                for later in following.get(node, ()):
                    unmet[later] -= 1
                    pending.append(later[0])
        return clocks_at

    def overwriting_pushes(self) -> dict[str, int]:
        """Return for each ring buffer the first push that may precede the free of its slot's last entry, if any.

        Raises ValueError if the cores deadlock.
        """
        if self._blocked:
            raise ValueError("the cores deadlock")
        found: dict[str, int] = {}
        for ring, uses in self._uses.items():
            numbers = self._rings[ring]
            done = {core: use.pops if numbers.frees_at_pop else use.frees for core, use in uses.items() if use.pops}
            for core, use in uses.items():
                for push, position in enumerate(use.acquires[numbers.slots :], numbers.slots):
                    entry = push - numbers.slots
                    late = any(
                        entry >= len(positions)
                        or self._clocks[core, position][self._clock_index[consumer]] <= positions[entry]
                        for consumer, positions in done.items()
                    )
                    if late:
                        found[ring] = min(push, found.get(ring, push))
                        break
        return found

    def _occurrence(self, node: _Node) -> Occurrence:
        core, position = node
        events = self._events[core]
        return Occurrence(core, events[position], events[:position].count(events[position]), position)


# ---------------------------------------------------------------------------------------------
# Numbers of slots
# ---------------------------------------------------------------------------------------------

PeriodOf: TypeAlias = Callable[[int], int]
"""Returns the sync period for a number of slots."""


@record
class SlotTradeoff:
    """The cost and effect of a number of slots."""

    slots: int
    period: int
    bytes: int
    pushes: int
    waits: int
    """The pushes that wait for a credit."""
    unsafe_push: int | None
    """The first push that may overwrite a slot because the period does not divide the number of slots."""
    overwriting: int | None
    """The first push that may overwrite a slot in this program; None also where it deadlocks."""
    deadlock: Deadlock | None

    @property
    def is_safe(self) -> bool:
        """True if the cores end and overwrite nothing, in this program and in any other that frees in order."""
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


def slot_tradeoffs(
    cores: Cores,
    rings: Mapping[str, RingBuffer],
    pipe: Collection[str],
    slot_bytes: int,
    slots: Sequence[int],
    period: PeriodOf = pipe_protocol.sync_period,
) -> list[SlotTradeoff]:
    """Return the cost and effect of each number of `slots` of the ring buffers of `pipe`, one for each direction.

    `slot_bytes` is the size of one slot of each of them; other ring buffers stay as they are.
    """
    return [_trade(cores, rings, pipe, slot_bytes, count, period(count)) for count in slots]


def _trade(
    cores: Cores, rings: Mapping[str, RingBuffer], pipe: Collection[str], slot_bytes: int, slots: int, period: int
) -> SlotTradeoff:
    graph = EventGraph(cores, _with(rings, pipe, slots, period))
    deadlock = graph.deadlock()
    overwriting = {} if deadlock is not None else graph.overwriting_pushes()
    pushes = {ring: _pushes(cores, ring) for ring in pipe}
    return SlotTradeoff(
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
class NoSafeSlotCount(Exception):
    """Raised when no number of slots is safe; `deadlock` is why.

    It is the deadlock with so many slots that no push waits; None if there are more pushes than MAX_SLOTS.
    """

    deadlock: Deadlock | None


def smallest_slot_counts(
    cores: Cores,
    rings: Mapping[str, RingBuffer],
    pipes: Sequence[Collection[str]],
    period: PeriodOf = pipe_protocol.sync_period,
    *,
    at_least: int = DEFAULT_SLOTS,
) -> list[int]:
    """Return the smallest number of slots of each pipe, a group of ring buffers, with which all cores end.

    They end both with the documented period, where every push waits for its own slot, and with the given one, and
    overwrite nothing; numbers with which other programs overwrite (`pipe_protocol.unsafe_push`) are left out. With
    several pipes, numbers are minimized one pipe after the other. Raises NoSafeSlotCount.
    """
    chosen = [at_least] * len(pipes)
    if _ends(cores, rings, pipes, chosen, period):
        return chosen
    most = [
        _safe(max(at_least, min(MAX_SLOTS, max((_pushes(cores, ring) for ring in pipe), default=1))), period)
        for pipe in pipes
    ]
    chosen = list(most)
    for position in range(len(pipes)):

        def ends(slots: int, every: PeriodOf, position: int = position) -> bool:
            return _ends(cores, rings, pipes, _changed(chosen, position, slots), every)

        fewest = _bisect(at_least, most[position], partial(ends, every=_documented_period))
        for slots in range(fewest, most[position] + 1):
            is_safe = pipe_protocol.unsafe_push(slots, period(slots)) is None
            if is_safe and ends(slots, period):
                chosen[position] = slots
                break
        else:
            raise NoSafeSlotCount(_graph(cores, rings, pipes, chosen, period).deadlock())
    return chosen


def largest_sync_period(cores: Cores, rings: Mapping[str, RingBuffer], pipe: Collection[str], slots: int) -> int | None:
    """Return the largest period dividing `slots` with which all cores end and overwrite nothing in `pipe`, if any."""
    for period in range(slots, 0, -1):
        if slots % period == 0 and _trade(cores, rings, pipe, 0, slots, period).is_safe:
            return period
    return None


def _with(rings: Mapping[str, RingBuffer], pipe: Collection[str], slots: int, period: int) -> dict[str, RingBuffer]:
    """Return the ring buffers, those of `pipe` with another depth and period."""
    return {
        key: replace(ring, slots=slots, period=period, initial_credits=period if ring.initial_credits else 0)
        if key in pipe
        else ring
        for key, ring in rings.items()
    }


def _changed(numbers: Sequence[int], position: int, number: int) -> list[int]:
    return [*numbers[:position], number, *numbers[position + 1 :]]


def _safe(slots: int, period: PeriodOf) -> int:
    """Return the next number of slots that is safe."""
    while pipe_protocol.unsafe_push(slots, period(slots)) is not None:
        slots += 1
    return slots


def _pushes(cores: Cores, ring: str) -> int:
    """Return the number of pushes into a ring buffer."""
    counts = [
        sum(event.ring == ring and event.action in ("push", "alloc") for event in events) for events in cores.values()
    ]
    return max(counts, default=0)


def _graph(
    cores: Cores,
    rings: Mapping[str, RingBuffer],
    pipes: Sequence[Collection[str]],
    slots: Sequence[int],
    period: PeriodOf,
) -> EventGraph:
    for pipe, count in zip(pipes, slots, strict=True):
        rings = _with(rings, pipe, count, period(count))
    return EventGraph(cores, rings)


def _ends(
    cores: Cores,
    rings: Mapping[str, RingBuffer],
    pipes: Sequence[Collection[str]],
    slots: Sequence[int],
    period: PeriodOf,
) -> bool:
    """Return True if the cores end and overwrite nothing, with the given and the documented period."""
    graphs = (_graph(cores, rings, pipes, slots, every) for every in (_documented_period, period))
    return all(graph.deadlock() is None and not graph.overwriting_pushes() for graph in graphs)


def _documented_period(_: int) -> int:
    """Return the documented period: each push waits for its own slot."""
    return 1


def _bisect(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the least number in `low` to `high` for which the monotonic `holds` is true; `high` if none."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
