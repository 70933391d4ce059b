"""What two kernels at the ends of pipes do before what, whatever the speed of their cores.

Kernels of known schedules are run side by side, each step as soon as what it waits for has happened. A step carries
with it how far every core must have come by then, so that afterwards two things are known: where the kernels wait for
each other forever, and which push may reuse a slot that its consumer is not done with. Both depend on waiting alone,
never on the order in which the cores happened to be run here.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from . import protocol
from .buffers import reservation_of
from .frontend_pipes import OpenPipeOp
from .internal_pipes import InitializeL2G2LPipeOp, InitializeL2LPipeOp
from .kernels import core_of
from .protocol import Behaviour
from .schedule import Kernel, Pipe, PipeUse, Schedule

MOST_SLOTS = 64
"""Slots up to which it is tried whether a pipe with more of them would not deadlock."""


# ---------------------------------------------------------------------------------------------
# The two ends of a pipe
# ---------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Ring:
    """The entries of a pipe in one direction: who puts them in and who takes them out."""

    direction: int
    label: str
    """How a message names it."""
    producers: dict[Kernel, list[PipeUse]] = field(default_factory=dict[Kernel, list[PipeUse]])
    consumers: dict[Kernel, list[PipeUse]] = field(default_factory=dict[Kernel, list[PipeUse]])

    @property
    def pipe(self) -> Pipe:
        """One end, the producer's if it is known."""
        return next(uses[0].pipe for end in (self.producers, self.consumers) for uses in end.values())

    @property
    def split(self) -> bool:
        """Whether an entry is shared among the vector cores."""
        return any(
            use.split != protocol.NO_SPLIT
            for end in (self.producers, self.consumers)
            for uses in end.values()
            for use in uses
        )

    @property
    def has_two_ends(self) -> bool:
        """Whether one kernel puts entries in and one takes them out."""
        return len(self.producers) == len(self.consumers) == 1


def rings_of(kernels: Sequence[Kernel]) -> list[Ring]:
    """The rings of a program, in the order of their first uses.

    Ends belong together if consumers take tiles in the same reserved buffer; where entries are tensors, if they have
    the same number in their kernels.
    """
    rings: dict[Hashable, Ring] = {}
    for kernel in kernels:
        for use in kernel.uses:
            key = _key(use)
            ring = rings.setdefault(key, Ring(use.direction, _label(use)))
            end = ring.producers if use.action in ("alloc", "push") else ring.consumers
            end.setdefault(kernel, []).append(use)
    return list(rings.values())


def consumer_buffer(pipe: Pipe, direction: int) -> SSAValue | None:
    """The consumer's buffer for one direction of a pipe."""
    if isinstance(pipe, OpenPipeOp):
        return pipe.consumer_buffer(direction)
    if not isinstance(pipe, InitializeL2LPipeOp | InitializeL2G2LPipeOp):
        return None
    second = pipe.direction == protocol.BOTH and direction == protocol.V2C
    return pipe.peer_local_addr if second else pipe.local_addr


def _key(use: PipeUse) -> Hashable:
    buffer = consumer_buffer(use.pipe, use.direction)
    reserved = None if buffer is None else reservation_of(buffer)
    if reserved is not None:
        return reserved, use.direction
    number = use.pipe.pipe_id if isinstance(use.pipe, OpenPipeOp) else use.pipe.frontend_id
    return (use.pipe if buffer is not None or number is None else number), use.direction


def _label(use: PipeUse) -> str:
    buffer = consumer_buffer(use.pipe, use.direction)
    reserved = None if buffer is None else reservation_of(buffer)
    return f"the pipe of '{reserved.key}'" if reserved is not None else use.name


# ---------------------------------------------------------------------------------------------
# Side by side
# ---------------------------------------------------------------------------------------------

Clock: TypeAlias = tuple[int, ...]
"""How many steps each core must have taken."""


@dataclass(frozen=True)
class Stall:
    """A core that waits forever: for a free slot of a ring, or for an entry in it, to put in or take out a number."""

    op: Operation
    function: FuncOp
    ring: Ring
    wants: Literal["slot", "entry"]
    number: int


@dataclass(frozen=True)
class Overwrite:
    """A push, by its number, that may reuse the slot of an entry that is still to be read."""

    op: Operation
    ring: Ring
    number: int


@dataclass
class Order:
    """What became of kernels that were run side by side."""

    stalls: list[Stall] = field(default_factory=list[Stall])
    overwrites: list[Overwrite] = field(default_factory=list[Overwrite])
    """The first of each ring."""


def order_of(
    kernels: Sequence[Kernel], rings: Sequence[Ring], *, seeded: bool = True, depths: Mapping[Ring, int] | None = None
) -> Order:
    """Run kernels of one schedule for each core; `depths` are numbers of slots instead of those of the rings.

    Without `seeded`, pipes begin without credits on all chips.
    """
    return _SideBySide(kernels, rings, seeded, depths or {}).order()


def enough_slots(kernels: Sequence[Kernel], rings: Sequence[Ring], ring: Ring) -> int | None:
    """How many slots of `ring` let kernels end that wait for each other; None if no number does."""
    for depth in range(ring.pipe.depth + 1, MOST_SLOTS + 1):
        if protocol.unsafe_push(depth) is None and not order_of(kernels, rings, depths={ring: depth}).stalls:
            return depth
    return None


@dataclass(eq=False)
class _Actor:
    """One core with what it does; `clock` is how far each core must have come."""

    index: int
    kernel: Kernel
    schedule: Schedule
    clock: list[int]
    place: int = 0

    def now(self) -> Clock:
        return tuple(self.clock)

    def join(self, other: Clock) -> None:
        self.clock = [max(pair) for pair in zip(self.clock, other, strict=True)]


@dataclass
class _Producer:
    """What one core has put into a ring: when it was sure of each slot, and when each entry was ready."""

    acquired: list[tuple[Clock, Operation]] = field(default_factory=list[tuple[Clock, Operation]])
    ready: list[Clock] = field(default_factory=list[Clock])
    waits: int = 0


@dataclass
class _Consumer:
    """What one core has taken out of a ring: the step that reads each entry last, and signals of free slots."""

    last_reads: list[int] = field(default_factory=list[int])
    released: list[Clock] = field(default_factory=list[Clock])


class _Running:
    """A ring while kernels run."""

    def __init__(self, ring: Ring, depth: int, behaviour: Behaviour, seeded: bool, actors: Sequence[_Actor]) -> None:
        (producer, puts), (consumer, takes) = *ring.producers.items(), *ring.consumers.items()
        self.ring, self.depth = ring, depth
        self.period = protocol.credit_period(depth, behaviour)
        self.seeds = protocol.seeded_credits(depth, behaviour) if seeded else 0
        self.of_tiles = any(use.of_tile for use in (*puts, *takes))
        self.frees_at_pop = behaviour == "a2a3" and self.of_tiles
        all_lanes = ring.split or behaviour == "a2a3"

        def cores(kernel: Kernel, uses: Sequence[PipeUse]) -> list[_Actor]:
            return [
                actor
                for actor in actors
                if actor.kernel is kernel
                and actor.schedule.core is core_of(uses[0].op)
                and (all_lanes or actor.schedule.lane == 0)
            ]

        self.producers = {actor: _Producer() for actor in cores(producer, puts)}
        self.consumers = {actor: _Consumer() for actor in cores(consumer, takes)}


class _SideBySide:
    def __init__(
        self, kernels: Sequence[Kernel], rings: Sequence[Ring], seeded: bool, depths: Mapping[Ring, int]
    ) -> None:
        found = [(kernel, ways[0]) for kernel in kernels for ways in kernel.schedules]
        self._actors = [
            _Actor(index, kernel, schedule, [0] * len(found)) for index, (kernel, schedule) in enumerate(found)
        ]
        self._rings: dict[tuple[Pipe, int], _Running] = {}
        for ring in rings:
            if ring.has_two_ends:
                depth = depths.get(ring, ring.pipe.depth)
                running = _Running(ring, depth, kernels[0].behaviour, seeded, self._actors)
                for end in (ring.producers, ring.consumers):
                    for uses in end.values():
                        self._rings.update(((use.pipe, use.direction), running) for use in uses)

    def order(self) -> Order:
        progress = True
        while progress:
            progress = False
            for actor in self._actors:
                while actor.place < len(actor.schedule.steps) and self._take(actor) is None:
                    actor.place += 1
                    actor.clock[actor.index] = actor.place
                    progress = True
        order = Order()
        for actor in self._actors:
            stall = self._take(actor) if actor.place < len(actor.schedule.steps) else None
            if stall is not None:
                order.stalls.append(stall)
        for ring in dict.fromkeys(self._rings.values()):
            order.overwrites += self._overwrites(ring)
        return order

    def _take(self, actor: _Actor) -> Stall | None:
        """Take the next step of a core, or say what it waits for."""
        step = actor.schedule.steps[actor.place]
        slot, use = step.slot, step.use
        if use is None:
            ring = None if slot is None else self._rings.get((slot.use.pipe, slot.use.direction))
            if slot is not None and ring is not None and slot.use.action == "pop" and not ring.frees_at_pop:
                if actor in ring.consumers:
                    ring.consumers[actor].last_reads[slot.number] = actor.place
            return None
        ring = self._rings.get((use.pipe, use.direction))
        if ring is None:
            return None
        if actor in ring.producers:
            return self._put(actor, ring, use)
        return self._get(actor, ring, use) if actor in ring.consumers else None

    def _put(self, actor: _Actor, ring: _Running, use: PipeUse) -> Stall | None:
        end = ring.producers[actor]
        if use.action == "alloc" or ring.of_tiles:
            number = len(end.acquired)
            if number >= ring.depth and number % ring.period == 0:
                needed = end.waits - ring.seeds
                for consumer in ring.consumers.values():
                    if needed >= len(consumer.released):
                        return Stall(use.op, actor.kernel.function, ring.ring, "slot", number)
                for consumer in ring.consumers.values():
                    if needed >= 0:
                        actor.join(consumer.released[needed])
                end.waits += 1
            end.acquired.append((actor.now(), use.op))
        if use.action == "push":
            actor.clock[actor.index] = actor.place + 1
            end.ready.append(actor.now())
        return None

    def _get(self, actor: _Actor, ring: _Running, use: PipeUse) -> Stall | None:
        end = ring.consumers[actor]
        if use.action == "pop":
            number = len(end.last_reads)
            if any(number >= len(producer.ready) for producer in ring.producers.values()):
                return Stall(use.op, actor.kernel.function, ring.ring, "entry", number)
            for producer in ring.producers.values():
                actor.join(producer.ready[number])
            end.last_reads.append(actor.place)
        signals = ring.frees_at_pop if use.action == "pop" else use.action == "free" and not ring.frees_at_pop
        if signals and len(end.last_reads) % ring.period == 0:
            actor.clock[actor.index] = actor.place + 1
            end.released.append(actor.now())
        return None

    def _overwrites(self, ring: _Running) -> list[Overwrite]:
        """The first push that is not sure that the entry before it in its slot was read."""
        for producer in ring.producers.values():
            for number, (clock, op) in enumerate(producer.acquired):
                before = number - ring.depth
                if before < 0:
                    continue
                for actor, consumer in ring.consumers.items():
                    if before >= len(consumer.last_reads) or clock[actor.index] <= consumer.last_reads[before]:
                        return [Overwrite(op, ring.ring, number)]
        return []
