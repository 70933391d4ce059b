"""Rings of pipes: the producers and consumers of each direction, and the events of connected kernels.

Knows the pipes of the dialect; `analysis.event_graph` derives what follows from the events.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from ...dialects.pto.attributes import KernelKind
from ...dialects.pto.buffers import reservation_of
from ...dialects.pto.frontend_pipes import OpenPipeOp
from ...dialects.pto.internal_pipes import InitializeL2G2LPipeOp, InitializeL2LPipeOp, InitializePipeOp
from ...dialects.traversal import walk
from ...operations import pipe_protocol
from ...operations.pipe_protocol import Behavior
from ..event_graph import Event, RingBuffer
from .schedules import Kernel, Pipe, PipeUse, Schedule


@dataclass(eq=False)
class Ring:
    """The ring buffer of a pipe in one direction: its producers and consumers."""

    direction: int
    label: str
    """Its name in messages."""
    producers: dict[Kernel, list[PipeUse]] = field(default_factory=dict[Kernel, list[PipeUse]])
    consumers: dict[Kernel, list[PipeUse]] = field(default_factory=dict[Kernel, list[PipeUse]])
    openers: list[Kernel] = field(default_factory=list[Kernel])
    """The kernels that open the pipe."""

    @property
    def is_used_by_one_end(self) -> bool:
        """True if kernels open both ends, but only those of one end use it."""
        users = {*self.producers, *self.consumers}
        return not (self.producers and self.consumers) and not users.issuperset(self.openers)

    @property
    def pipe(self) -> Pipe:
        """The operation that opens one end, the producer's if it is known."""
        return next(uses[0].pipe for end in (self.producers, self.consumers) for uses in end.values())

    @property
    def of_tiles(self) -> bool:
        """True if entries are tiles or signals; else they are tensors in global memory."""
        return any(use.of_contents for end in (self.producers, self.consumers) for uses in end.values() for use in uses)

    @property
    def frees_at_pop(self) -> bool:
        """True if a pop already frees the slot."""
        return self.of_tiles and any(kernel.behavior == "a2a3" for kernel in (*self.producers, *self.consumers))

    @property
    def is_split(self) -> bool:
        """True if entries are split between the vector cores."""
        return any(
            use.split != pipe_protocol.NO_SPLIT
            for end in (self.producers, self.consumers)
            for uses in end.values()
            for use in uses
        )

    @property
    def in_global_memory(self) -> bool:
        """True if its slots are in global memory."""
        return any(
            kernel.in_global_memory(use.pipe)
            for end in (self.producers, self.consumers)
            for kernel, uses in end.items()
            for use in uses
        )

    def seeded_credits(self, behavior: Behavior) -> int:
        """Return the credits that exist before the first push."""
        return pipe_protocol.seeded_credits(
            self.pipe.depth, behavior, whole=not self.is_split, local=not self.in_global_memory
        )

    @property
    def has_two_ends(self) -> bool:
        """True if there are one producer and one consumer."""
        return len(self.producers) == len(self.consumers) == 1


def rings_of(kernels: Sequence[Kernel]) -> list[Ring]:
    """Return the rings of a program, in the order of their first uses.

    Ends belong together if consumers pop tiles into the same reserved buffer; where entries are tensors, if they have
    the same id in their kernels; where flags have been assigned, if these are the same.
    """
    rings: dict[Hashable, Ring] = {}
    ring_of: dict[tuple[Pipe, int], Ring] = {}
    for kernel in kernels:
        for use in kernel.uses:
            ring = ring_of.get((use.pipe, use.direction))
            if ring is None:
                ring = rings.setdefault(_key(use.pipe, use.direction), Ring(use.direction, _label(use)))
                ring_of[use.pipe, use.direction] = ring
            end = ring.producers if use.action in ("alloc", "push") else ring.consumers
            end.setdefault(kernel, []).append(use)
    for kernel in kernels:
        for op in walk(kernel.function):
            if isinstance(op, OpenPipeOp | InitializePipeOp):
                keys = [
                    _key(op, direction)
                    for direction in (pipe_protocol.C2V, pipe_protocol.V2C)
                    if op.direction & direction
                ]
                for ring in (rings[key] for key in keys if key in rings):
                    ring.openers.append(kernel)
    return list(rings.values())


def consumer_buffer(pipe: Pipe, direction: int) -> SSAValue | None:
    """Return the consumer's buffer for one direction of a pipe."""
    if isinstance(pipe, OpenPipeOp):
        return pipe.consumer_buffer(direction)
    if not isinstance(pipe, InitializeL2LPipeOp | InitializeL2G2LPipeOp):
        return None
    second = pipe.direction == pipe_protocol.BOTH and direction == pipe_protocol.V2C
    return pipe.peer_local_addr if second else pipe.local_addr


def is_identified(pipe: Pipe, direction: int) -> bool:
    """Return True if a reserved buffer, or an id, says which other end belongs to a pipe."""
    buffer = consumer_buffer(pipe, direction)
    number = pipe.pipe_id if isinstance(pipe, OpenPipeOp) else pipe.frontend_id
    return number is not None or (buffer is not None and reservation_of(buffer) is not None)


def _key(pipe: Pipe, direction: int) -> Hashable:
    buffer = consumer_buffer(pipe, direction)
    reserved = None if buffer is None else reservation_of(buffer)
    if reserved is not None:
        return reserved, direction
    number = pipe.pipe_id if isinstance(pipe, OpenPipeOp) else pipe.frontend_id
    if isinstance(pipe, InitializePipeOp) and number is None and pipe.flag_base is not None:
        return pipe.flag_base, direction
    return (pipe if buffer is not None or number is None else number), direction


def _label(use: PipeUse) -> str:
    buffer = consumer_buffer(use.pipe, use.direction)
    reserved = None if buffer is None else reservation_of(buffer)
    return f"the pipe of '{reserved.key}'" if reserved is not None else use.name


# ---------------------------------------------------------------------------------------------
# Programs
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Program:
    """Connected kernels as events of cores on rings, both by their names in messages."""

    kernels: Sequence[Kernel]
    rings: Mapping[str, Ring]
    cores: Mapping[str, Sequence[Event]]
    operations: Mapping[str, Sequence[Operation]]
    """The operation that performs each event."""
    exact: bool
    """True if the trip count of each loop is known."""

    def ring_buffers(self, *, seeded: bool = True) -> dict[str, RingBuffer]:
        """Return the ring buffers, see `ring_buffers_of`."""
        return ring_buffers_of(self.rings, self.kernels[0].behavior, seeded=seeded)

    def pipes(self) -> list[list[str]]:
        """Return the names of the rings of each pipe: one, or one for each direction."""
        found: list[tuple[set[Pipe], list[str]]] = []
        for name, ring in self.rings.items():
            opened = {use.pipe for end in (ring.producers, ring.consumers) for uses in end.values() for use in uses}
            same = next((group for group in found if group[0] & opened), None)
            if same is None:
                found.append((opened, [name]))
            else:
                same[0].update(opened)
                same[1].append(name)
        return [names for _, names in found]


def ring_buffers_of(rings: Mapping[str, Ring], behavior: Behavior, *, seeded: bool = True) -> dict[str, RingBuffer]:
    """Return the ring buffers of rings; without `seeded`, those that begin with credits begin, and end, without.

    At their end, producers wait for the outstanding credits, or for as many as there were at the beginning; those of
    ideal pipes do not wait.
    """

    def ring_buffer(ring: Ring) -> RingBuffer:
        seeds = ring.seeded_credits(behavior)
        return RingBuffer(
            ring.pipe.depth,
            pipe_protocol.credit_period(ring.pipe.depth, behavior),
            seeds if seeded else 0,
            ring.frees_at_pop,
            behavior != "ideal" and (seeded or not seeds),
        )

    return {name: ring_buffer(ring) for name, ring in rings.items()}


@dataclass(frozen=True, eq=False)
class Component:
    """Connected kernels, one at each end of each ring, with their rings by their names in messages."""

    kernels: Sequence[Kernel]
    rings: Mapping[str, Ring]

    @property
    def pipes(self) -> set[Pipe]:
        """The operations that open the ends of pipes its kernels use."""
        return {use.pipe for kernel in self.kernels for use in kernel.uses}

    def program(self, kernels: Sequence[Kernel] | None = None) -> Program | None:
        """Return their events if each has one path; `kernels` are the same with other schedules."""
        kernels = kernels or self.kernels
        known = all(kernel.schedules and all(len(paths) == 1 for paths in kernel.schedules) for kernel in kernels)
        return _program(kernels, self.rings) if known else None

    def events(self, kernel: Kernel, path: Schedule) -> dict[Operation, Event]:
        """Return the event of each operation on pipes in which a core takes part."""
        names = _names(self.rings)
        found: dict[Operation, Event] = {}
        for use in kernel.uses:
            name = names[use.pipe, use.direction]
            if _takes_part(path, self.rings[name], kernel):
                found[use.op] = _event(use, name, self.rings[name])
        return found


def components(kernels: Sequence[Kernel], rings: Sequence[Ring]) -> Iterator[Component]:
    """Yield the connected kernels where every ring has one kernel at each end, and each core runs one of them."""
    left = [kernel for kernel in kernels if kernel.uses]
    while left:
        members, shared = [left.pop(0)], list[Ring]()
        for kernel in members:
            for ring in rings:
                ends = [*ring.producers, *ring.consumers]
                if kernel in ends and ring not in shared:
                    shared.append(ring)
                    joined = [other for other in ends if other in left]
                    left = [other for other in left if other not in joined]
                    members += dict.fromkeys(joined)
        cores = [(paths[0].core, paths[0].lane) for kernel in members for paths in kernel.schedules]
        if (
            all(ring.has_two_ends for ring in shared)
            and all(kernel.schedules for kernel in members)
            and len(set(cores)) == len(cores)
            and len({kernel.behavior for kernel in members}) == 1
        ):
            yield Component(members, _named(shared))


def programs_of(kernels: Sequence[Kernel], rings: Sequence[Ring]) -> Iterator[Program]:
    """Yield the connected kernels whose events are known.

    These have one kernel at each end of every ring, and one path through each kernel.
    """
    for component in components(kernels, rings):
        program = component.program()
        if program is not None:
            yield program


def _names(rings: Mapping[str, Ring]) -> dict[tuple[Pipe, int], str]:
    """Return the name of the ring of each pipe and direction."""
    return {
        (use.pipe, use.direction): name
        for name, ring in rings.items()
        for end in (ring.producers, ring.consumers)
        for uses in end.values()
        for use in uses
    }


def _event(use: PipeUse, name: str, ring: Ring) -> Event:
    return Event(name, "commit" if use.action == "push" and not ring.of_tiles else use.action)


def _program(kernels: Sequence[Kernel], rings: Mapping[str, Ring]) -> Program:
    names = _names(rings)
    cores: dict[str, list[Event]] = {}
    operations: dict[str, list[Operation]] = {}
    exact = True
    for kernel in kernels:
        for (path,) in kernel.schedules:
            exact = exact and path.exact
            core = core_name(kernel, path)
            cores[core], operations[core] = [], []
            for use in path.uses:
                name = names[use.pipe, use.direction]
                if _takes_part(path, rings[name], kernel):
                    cores[core].append(_event(use, name, rings[name]))
                    operations[core].append(use.op)
    return Program(kernels, rings, cores, operations, exact)


def core_name(kernel: Kernel, path: Schedule) -> str:
    """Return the name of a function, with the core where several run it."""
    name = f"@{kernel.function.sym_name.data}"
    if len(kernel.schedules) == 1:
        return name
    return f"{name} on AIC" if path.core is KernelKind.CUBE else f"{name} on AIV{path.lane}"


def _takes_part(path: Schedule, ring: Ring, kernel: Kernel) -> bool:
    """Return True if a core takes part in entries: the second vector core only in split ones, or on a2a3."""
    return path.lane == 0 or ring.is_split or kernel.behavior == "a2a3"


def _named(rings: Sequence[Ring]) -> dict[str, Ring]:
    """Return rings by their labels, made unique."""
    found: dict[str, Ring] = {}
    for ring in rings:
        name, copies = ring.label, 1
        while name in found:
            copies += 1
            name = f"{ring.label} ({copies})"
        found[name] = ring
    return found
