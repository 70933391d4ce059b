"""What a program on pipes does wrong, or may do wrong on some chip, as far as its text tells.

The verifiers refuse what no chip accepts. Here is what is accepted and then overwrites, aliases, hangs or leaves
credits behind: each finding says where, what happens, and what to do. What depends on one operation is read off it,
what depends on their order off the schedules of kernels (`analysis.pto.schedules`), and what depends on both ends of a
pipe off what happens before what (`analysis.event_graph`). The engine finds the rest when the program runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from math import prod
from typing import Literal, TypeAlias

from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from ..analysis.event_graph import Deadlock, EventGraph, NoSlotNumber, smallest_slots
from ..analysis.model_checking import Verdict
from ..analysis.pto.control import Arguments, UnknownControl
from ..analysis.pto.entries import entry_bytes
from ..analysis.pto.events import Component, Program, Ring, components, consumer_buffer, rings_of
from ..analysis.pto.outcomes import Outcomes, Sum, place_of, sources
from ..analysis.pto.pipes import lane_problem
from ..analysis.pto.schedules import Action, Kernel, Pipe, PipeUse, Schedule, Slot, Step, kernel_of
from ..analysis.symbolic_integers import BLOCK, Limits, Terms
from ..diagnostics.findings import Finding, Severity
from ..diagnostics.locations import location_of
from ..dialects.pto.attributes import KernelKind
from ..dialects.pto.buffers import ReserveBufferOp
from ..dialects.pto.frontend_pipes import OpenPipeOp
from ..dialects.pto.internal_pipes import InitializeL2G2LPipeOp, InitializePipeOp, number
from ..dialects.pto.kernels import Architecture, GetSubBlockIdxOp, GetSubBlockNumOp, core_of
from ..dialects.pto.memory import constant_value
from ..dialects.pto.tiles import TileOperation, TStoreOp
from ..dialects.pto.types import TensorViewType, TileBufType
from ..dialects.traversal import walk
from ..operations import pipe_protocol
from ..operations.pipe_protocol import Behavior

Code: TypeAlias = Literal[
    "unsafe-depth", "early-overwrite", "seeded-credits", "deadlock", "unbalanced-pipe", "early-credit", "lost-credit",
    "leftover-credits", "slots-held", "local-aliasing", "mixed-tile-sizes", "aliasing-rings", "freed-twice",
    "small-slot", "reserved-size", "unequal-lanes", "second-core", "lane-shape", "not-a-slot", "unwritten-slot",
    "slot-not-pushed", "store-after-push", "undecided", "use-after-free",
]  # fmt: skip
"""Kinds of findings."""


@dataclass(frozen=True)
class Hazard:
    """One finding, with the operation it is about."""

    code: Code
    op: Operation
    message: str
    severity: Severity = "error"


def find_hazards(module: ModuleOp, behavior: Behavior | None = None) -> list[Finding]:
    """All findings in a module that verifies, in the order of its operations.

    `behavior` is how pipes behave: as the documents promise (`ideal`), or as on a generation of chips; without it,
    as on the chip each function is for, or else as promised.
    """
    kernels = [kernel_of(op, behavior) for op in walk(module) if isinstance(op, FuncOp)]
    rings = rings_of(kernels)
    unbalanced = {ring: hazard for ring in rings for hazard in _pushes_and_pops(ring)}
    # Of two that are alike, what is told of all numbers comes before what was found for some.
    found = [*unbalanced.values(), *_programs(module, kernels, rings, unbalanced)]
    for kernel in kernels:
        found += _of_kernel(kernel)
    if any(_tells_lanes_apart(kernel) for kernel in kernels):
        for kernel in kernels:
            found += _second_core(kernel)
    for ring in rings:
        found += _aliasing(ring, rings)
    order = {op: place for place, op in enumerate(walk(module))}
    unique: dict[tuple[Code, Operation], Hazard] = {}
    for hazard in sorted(found, key=lambda hazard: hazard.severity):
        unique.setdefault((hazard.code, hazard.op), hazard)
    return [
        Finding(hazard.severity, hazard.code, hazard.message, location_of(hazard.op))
        for hazard in sorted(unique.values(), key=lambda hazard: order[hazard.op])
    ]


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _of_kernel(kernel: Kernel) -> Iterator[Hazard]:
    """What is wrong with one end of the pipes."""
    for op in walk(kernel.function):
        if isinstance(op, OpenPipeOp):
            yield from _reserved_sizes(op, kernel.chip)
    for use in kernel.uses:
        yield from _slot_size(use)
        yield from _lane_shape(use, kernel)
    yield from _unequal_lanes(kernel)
    yield from _tiles_in_global_memory(kernel)
    for ways in kernel.schedules:
        for way in ways:
            yield from _contents(way, kernel)
        yield from _in_all(ways, lambda way: _slots_in_use(way, kernel))
        yield from _in_all(ways, lambda way: _frees(way, kernel))


def _in_all(ways: Sequence[Schedule], find: Callable[[Schedule], Iterable[Hazard]]) -> Iterator[Hazard]:
    """What is found in the ways through a kernel; only a warning if not in all, or if loops may run less often."""
    found: dict[tuple[Code, Operation], Hazard] = {}
    times: Counter[tuple[Code, Operation]] = Counter()
    for way in ways:
        once: dict[tuple[Code, Operation], Hazard] = {}
        for hazard in find(way):
            once.setdefault((hazard.code, hazard.op), hazard)
        times.update(once.keys())
        found.update(once)
    unknown = next((way.depends_on for way in ways if way.depends_on is not None), None)
    for key, hazard in found.items():
        if all(way.exact for way in ways) and times[key] == len(ways):
            yield hazard
        else:
            depends = "" if unknown is None else f"; whether it does depends on {_asked(unknown)}"
            yield replace(hazard, severity="warning", message=hazard.message + depends)


def _asked(op: Operation) -> str:
    """A loop or branch of which it is not known where it goes, with what it asks for."""
    names = [value.name_hint for value in (op.operands[:2] if isinstance(op, scf.ForOp) else op.operands[:1])
             if value.name_hint and constant_value(value) is None]  # fmt: skip
    place = location_of(op)
    line = "" if place is None else f" in line {place.rsplit(':', 2)[-2]}"
    what = "branch" if isinstance(op, scf.IfOp) else "loop"
    return f"the {what}{line}" + (f", and this on {' and '.join(f'%{name}' for name in names)}" if names else "")


# ---------------------------------------------------------------------------------------------
# Numbers of a pipe, and single entries
# ---------------------------------------------------------------------------------------------


def _reserved_sizes(pipe: OpenPipeOp, chip: Architecture | None) -> Iterator[Hazard]:
    """Buffers that are not as large as the slots in them."""
    if chip is None:
        return
    slots = pipe.depth if chip == "a5" else pipe.local_depth
    for direction in (pipe_protocol.C2V, pipe_protocol.V2C):
        buffer = pipe.consumer_buffer(direction)
        reserved = buffer.owner if buffer is not None and pipe.direction & direction else None
        if not isinstance(reserved, ReserveBufferOp):
            continue
        size, needed = number(reserved.size), slots * pipe.entry_bytes
        if size != needed:
            consequence = "slots overlap what lies behind it" if size < needed else "the rest is never used"
            yield Hazard(
                "reserved-size",
                pipe,
                f"'{reserved.key}' reserves {size} bytes for {_counted(slots, 'slot', 'slots')} of "
                f"{pipe.entry_bytes}, so that {consequence}; reserve {needed}",
                "error" if size < needed else "warning",
            )


def _slot_size(use: PipeUse) -> Iterator[Hazard]:
    """Slots that do not hold the tiles of both vector cores, or the tile that is taken out (PTO-022)."""
    entry = entry_bytes(use)
    if entry is not None and entry.bytes > use.pipe.entry_bytes:
        what = (
            f"{entry.tiles} tiles of {entry.bytes_each} bytes" if entry.tiles > 1 else f"a tile of {entry.bytes} bytes"
        )
        yield Hazard(
            "small-slot",
            use.op,
            f"slot_size = {use.pipe.entry_bytes} is too small for {what}, which reach into the next slot; use "
            f"{entry.bytes}",
        )


def _lane_shape(use: PipeUse, kernel: Kernel) -> Iterator[Hazard]:
    """Tiles that a5 cannot share among its vector cores."""
    tile = None if use.entry is None else use.entry.type
    if kernel.chip != "a5" or use.action != "push" or not isinstance(tile, TileBufType):
        return
    if kernel.in_global_memory(use.pipe):
        return
    problem = lane_problem(tile, use.split, use.direction)
    if problem is not None:
        yield Hazard("lane-shape", use.op, problem)


def _tiles_in_global_memory(kernel: Kernel) -> Iterator[Hazard]:
    """What a5 does otherwise than the other chips with tiles whose slots are tensors in global memory."""
    if kernel.behavior != "a5":
        return
    first: dict[Pipe, PipeUse] = {}
    for use in kernel.uses:
        if not kernel.in_global_memory(use.pipe) or consumer_buffer(use.pipe, use.direction) is None:
            continue
        if use.action == "free":
            pops = [other for other in kernel.uses if _is_pop(other, use)]
            if pops and all(pop.of_signal for pop in pops):
                continue
            yield Hazard(
                "freed-twice",
                use.op,
                "on a5 taking a tile out of global memory gives its slot back, and this gives it back again, so that "
                "the producer counts one slot too many; leave it out for a5",
                "warning",
            )
        tile = use.entry.type if use.entry is not None and use.action == "pop" else None
        if not isinstance(tile, TileBufType):
            continue
        other = first.setdefault(use.pipe, use).entry
        before = None if other is None else other.type
        if isinstance(before, TileBufType) and None not in (before.bytes, tile.bytes) and before.bytes != tile.bytes:
            yield Hazard(
                "mixed-tile-sizes",
                use.op,
                f"on a5 the consumer's slots lie as far apart as the tile is large that is taken out, {tile.bytes} "
                f"bytes here and {before.bytes} elsewhere, so that tiles in use overlap; take out tiles of one size",
                "warning",
            )


def _is_pop(use: PipeUse, free: PipeUse) -> bool:
    return use.action == "pop" and (use.pipe, use.direction) == (free.pipe, free.direction)


def _aliasing(ring: Ring, rings: Sequence[Ring]) -> Iterator[Hazard]:
    """Slots that are tensors and lie in the same memory for both directions of a pipe."""
    pipe = ring.pipe
    if ring.direction != pipe_protocol.V2C or consumer_buffer(pipe, ring.direction) is not None or not ring.producers:
        return
    kernel, uses = next(iter(ring.producers.items()))
    for other in rings:
        shared = (
            other.direction == pipe_protocol.C2V and other.producers and other.consumers.keys() & ring.producers.keys()
        )
        if shared and any(use.pipe is uses[0].pipe for use in other.consumers.get(kernel, ())):
            if kernel.behavior != "ideal":
                yield Hazard(
                    "aliasing-rings",
                    uses[0].op,
                    "slots that are tensors lie at the same addresses for both directions of a pipe, so that this "
                    "overwrites what comes the other way; open a pipe for each direction",
                )


# ---------------------------------------------------------------------------------------------
# Both vector cores
# ---------------------------------------------------------------------------------------------


def _unequal_lanes(kernel: Kernel) -> Iterator[Hazard]:
    """Operations only one vector core carries out where both have to: of split pipes, and on a2a3 of all."""
    vector = [ways for ways in kernel.schedules if ways[0].core is KernelKind.VECTOR]
    lanes = [_signals(ways[0], kernel) for ways in vector if len(ways) == 1 and ways[0].exact]
    if len(lanes) == len(vector) and len(set(lanes)) <= 1 and vector:
        return
    for use in kernel.uses:
        if _needs_both_lanes(use, kernel) and core_of(use.op) is KernelKind.VECTOR and _under_lane_condition(use.op):
            why = (
                "both take part in every entry of a split pipe"
                if use.split != pipe_protocol.NO_SPLIT
                else "on a2a3 both signal for every entry, split or not"
            )
            yield Hazard(
                "unequal-lanes",
                use.op,
                f"only some vector cores come here, but {why}; move the operation out of the scf.if",
            )


def _tells_lanes_apart(kernel: Kernel) -> bool:
    """Whether a kernel is for both vector cores of a block: they share entries, or ask which of them they are."""
    split = any(use.split != pipe_protocol.NO_SPLIT for use in kernel.uses)
    return split or any(isinstance(op, GetSubBlockIdxOp | GetSubBlockNumOp) for op in walk(kernel.function))


def _second_core(kernel: Kernel) -> Iterator[Hazard]:
    """What the second vector core does with entries in which the first alone takes part (H9)."""
    if "a2a3" in (kernel.behavior, kernel.chip):
        return
    seconds = [ways for ways in kernel.schedules if ways[0].core is KernelKind.VECTOR][-1:]
    reached = {step.use.op for ways in seconds for way in ways for step in way.steps if step.use is not None}
    whole = [use for use in kernel.uses if use.split == pipe_protocol.NO_SPLIT and use.op in reached]
    remedy = "in an scf.if for the first core, which pto.get_subblock_idx tells"
    for use in whole:
        if use.action == "alloc":
            yield Hazard(
                "second-core",
                use.op,
                "the second vector core takes this slot too, but the first alone takes part in entries that are not "
                "split; on a5 what it stores begins a row too far and lies over the first's (H9); take the slot, store "
                f"and push {remedy}",
            )
    popped = {use.entry for use in whole if use.action == "pop" and use.entry is not None}
    for store in _stores_of(kernel.function, {tile for tile in popped if isinstance(tile.type, TileBufType)}):
        if not _under_lane_condition(store) and not _depends_on_lane(store.destination):
            yield Hazard(
                "second-core",
                store,
                "both vector cores store this to one place, but it comes from a pipe whose entries are not split, and "
                f"of those the second core gets zeros; store {remedy}",
                "warning",
            )


def _stores_of(function: FuncOp, tiles: set[SSAValue]) -> Iterator[TStoreOp]:
    """What is stored of some tiles, or of what is computed from them."""
    ops = [op for op in walk(function) if isinstance(op, TileOperation)] if tiles else []
    derived, before = tiles, 0
    while len(derived) > before:
        before = len(derived)
        for op in ops:
            if not isinstance(op, TStoreOp) and any(
                value in derived for value in op.operands if value is not op.destination
            ):
                derived = derived | {op.destination}
    yield from (op for op in ops if isinstance(op, TStoreOp) and op.src in derived)


def _needs_both_lanes(use: PipeUse, kernel: Kernel) -> bool:
    return kernel.behavior == "a2a3" or use.split != pipe_protocol.NO_SPLIT


def _signals(way: Schedule, kernel: Kernel) -> tuple[tuple[Pipe, int, Action], ...]:
    """What a vector core tells the other kind of core, in order, where both have to."""
    return tuple((use.pipe, use.direction, use.action) for use in way.uses if _needs_both_lanes(use, kernel))


def _under_lane_condition(op: Operation) -> bool:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        if isinstance(parent, scf.IfOp) and _depends_on_lane(parent.cond):
            return True
        parent = parent.parent_op()
    return False


def _depends_on_lane(value: SSAValue) -> bool:
    seen: set[SSAValue] = set()
    pending = [value]
    while pending:
        current = pending.pop()
        if current in seen or isinstance(current, BlockArgument):
            continue
        seen.add(current)
        if isinstance(current.owner, GetSubBlockIdxOp):
            return True
        if isinstance(current.owner, Operation):
            pending += current.owner.operands
    return False


# ---------------------------------------------------------------------------------------------
# What lies in slots
# ---------------------------------------------------------------------------------------------


def _contents(way: Schedule, kernel: Kernel) -> Iterator[Hazard]:
    """Slots that are pushed without having been taken or written, or read and written too late (PTO-030, PTO-031)."""
    taken: dict[Slot, None] = {}
    written: set[Slot] = set()
    given: set[Slot] = set()
    popped: dict[tuple[Pipe, int], list[Slot]] = {}
    for step in way.steps:
        use, slot = step.use, step.slot
        if use is None:
            if slot is not None:
                yield from _access(step, slot, given, written)
        elif use.action == "alloc" and slot is not None:
            taken[slot] = None
        elif use.action == "pop" and slot is not None:
            popped.setdefault((use.pipe, use.direction), []).append(slot)
        elif use.action == "free":
            held = popped.get((use.pipe, use.direction), [])
            freed = slot if slot in held else next(iter(held), None)
            if freed is not None and not kernel.frees_at_pop(use.pipe, use.direction):
                held.remove(freed)
                # A tile out of global memory is a copy, which the producer does not reach.
                if not (freed.use.of_tile and kernel.in_global_memory(use.pipe)):
                    given.add(freed)
        elif use.entry is not None and isinstance(use.entry.type, TensorViewType):
            yield from _push(use, slot, given, written)
            if slot is not None:
                given.add(slot)
    for slot in taken:
        if slot not in given and way.complete:
            yield Hazard(
                "slot-not-pushed",
                slot.use.op,
                "the slot is never handed over, so that the consumer waits for it forever; push it",
            )


def _access(step: Step, slot: Slot, given: set[Slot], written: set[Slot]) -> Iterator[Hazard]:
    if slot.use.action == "pop":
        if slot in given:
            yield Hazard(
                "use-after-free",
                step.op,
                "the slot of this entry has been given back, and the producer may have overwritten it; free it later",
            )
    elif step.access != "read":
        if slot in given and step.access == "write":
            yield Hazard(
                "store-after-push",
                step.op,
                "the slot has been handed over to the consumer, who may be reading it; store before the push",
            )
        written.add(slot)


def _push(use: PipeUse, slot: Slot | None, given: set[Slot], written: set[Slot]) -> Iterator[Hazard]:
    if slot is None or slot.use.action != "alloc" or slot.use.pipe is not use.pipe:
        yield Hazard(
            "not-a-slot",
            use.op,
            "the tensor is no slot of the pipe, and what it holds is not handed over; push what talloc gives",
        )
    elif slot in given:
        yield Hazard(
            "not-a-slot",
            use.op,
            "the slot has been handed over already, and the next one is, unwritten, in its place; push each slot once",
        )
    elif slot not in written:
        yield Hazard(
            "unwritten-slot",
            use.op,
            "nothing is stored into the slot before it is handed over; store a tile into it first",
        )


# ---------------------------------------------------------------------------------------------
# Taking out and giving back
# ---------------------------------------------------------------------------------------------


def _by_ring(way: Schedule) -> dict[tuple[Pipe, int], list[PipeUse]]:
    groups: dict[tuple[Pipe, int], list[PipeUse]] = {}
    for use in way.uses:
        if use.action in ("pop", "free"):
            groups.setdefault((use.pipe, use.direction), []).append(use)
    return groups


def _slots_in_use(way: Schedule, kernel: Kernel) -> Iterator[Hazard]:
    """More entries taken out and not given back than there are slots."""
    for (pipe, direction), uses in _by_ring(way).items():
        outstanding = 0
        local = pipe.local_depth if isinstance(pipe, OpenPipeOp | InitializeL2G2LPipeOp) else pipe.depth
        copied = kernel.in_global_memory(pipe)
        for use in uses:
            outstanding = max(0, outstanding + (1 if use.action == "pop" else -1))
            if use.action == "free":
                continue
            if copied and use.of_tile and outstanding > local:
                yield Hazard(
                    "local-aliasing",
                    use.op,
                    f"{outstanding} tiles are in use, but the consumer's buffer has {local} slots, so that this "
                    "one overwrites the oldest; free tiles earlier or raise local_slot_num",
                )
                break
            if not kernel.frees_at_pop(pipe, direction) and outstanding > pipe.depth:
                yield Hazard(
                    "slots-held",
                    use.op,
                    f"{use.name} has {pipe.depth} slots, and the consumer holds all of them when it asks for another "
                    "entry, for which the producer then has no slot; free entries earlier or raise slot_num",
                )
                break


def _frees(way: Schedule, kernel: Kernel) -> Iterator[Hazard]:
    """Entries taken out more often, or less, than given back, or in an order that miscounts free slots."""
    if not way.complete:
        return
    for (pipe, direction), uses in _by_ring(way).items():
        harmless = kernel.frees_at_pop(pipe, direction)
        counts = Counter(use.action for use in uses)
        pops, frees = counts["pop"], counts["free"]
        if pops != frees:
            counted = (
                f"{_counted(pops, 'entry', 'entries')} out and gets {_counted(frees, 'slot', 'slots')} back"
                if way.exact
                else f"{'more' if pops > frees else 'fewer'} entries out than it gets slots back"
            )
            last = next(use for use in reversed(uses) if use.action == ("pop" if pops > frees else "free"))
            yield Hazard(
                "unbalanced-pipe",
                last.op,
                f"{last.name} gives {counted}; free each entry once",
                "warning" if harmless else "error",
            )
        elif not harmless:
            yield from _credits(uses, pipe_protocol.credit_period(pipe.depth, kernel.behavior), kernel.behavior)


def _credits(uses: Sequence[PipeUse], period: int, behavior: Behavior) -> Iterator[Hazard]:
    """What is told of free slots, which chips do by the number of entries taken out, not of those given back."""
    popped = freed = told = 0
    for use in uses:
        popped += use.action == "pop"
        if use.action != "free":
            continue
        freed += 1
        if freed > popped:
            yield Hazard(
                "unbalanced-pipe",
                use.op,
                f"{use.name} gets a slot back before an entry is taken out of it; take the entry out first",
            )
            return
        told += popped % period == 0
        if told * period > freed:
            yield Hazard(
                "early-credit",
                use.op,
                f"on {behavior} a free tells of {period} free slots whenever a multiple of {period} entries have been "
                f"taken out: {popped} have here, but only {freed} are freed, so that the producer may overwrite an "
                "entry in use; free each entry before the next is taken out",
            )
            return
    depth = uses[0].pipe.depth
    waits = sum(pipe_protocol.push_waits(index, depth) for index in range(popped))
    if told < (waits if behavior == "a5" else popped // period):
        yield Hazard(
            "lost-credit",
            uses[-1].op,
            f"on {behavior} a free tells of {period} free slots only if a multiple of {period} entries have been "
            f"taken out: of {popped // period} times here {told} are told, so that the producer waits forever; free "
            "each entry before the next is taken out",
        )


# ---------------------------------------------------------------------------------------------
# Both ends
# ---------------------------------------------------------------------------------------------


def _times(kernel: Kernel, uses: Sequence[PipeUse], action: Action, lane: int) -> int | None:
    """How often a kernel does something with a ring, on one of the vector cores; None if that depends on values."""
    core = core_of(uses[0].op)
    by_lane = [ways for ways in kernel.schedules if ways[0].core is core]
    ways = next((ways for ways in by_lane if ways[0].lane == lane), next(iter(by_lane), ()))
    key = uses[0].pipe, uses[0].direction, action
    if ways and all(way.exact for way in ways):
        counts = {sum((use.pipe, use.direction, use.action) == key for use in way.uses) for way in ways}
        return counts.pop() if len(counts) == 1 else None
    trips = [_trip_count(use.op) for use in uses if use.action == action]
    known = [trip for trip in trips if trip is not None]
    return sum(known) if len(known) == len(trips) else None


def _trip_count(op: Operation) -> int | None:
    """How often `op` is carried out in a run of its function; None if that depends on values."""
    counts: list[int] = []
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        if isinstance(parent, scf.ForOp):
            lower, upper, step = (constant_value(value) for value in (parent.lb, parent.ub, parent.step))
            if lower is None or upper is None or step is None or step <= 0:
                return None
            counts.append(max(0, -((lower - upper) // step)))
        elif isinstance(parent, scf.IfOp | scf.WhileOp):
            return None
        parent = parent.parent_op()
    return prod(counts)


def _total(ends: dict[Kernel, list[PipeUse]], action: Action, lane: int) -> int | None:
    totals = [_times(kernel, uses, action, lane) for kernel, uses in ends.items()]
    known = [total for total in totals if total is not None]
    return sum(known) if len(known) == len(totals) else None


def _pushes_and_pops(ring: Ring) -> Iterator[Hazard]:
    """Rings into which more, or less, is put than is taken out, by one of the vector cores if both have to."""
    ends = [(kernel, uses) for end in (ring.producers, ring.consumers) for kernel, uses in end.items()]
    both = any(_needs_both_lanes(use, kernel) for kernel, uses in ends for use in uses)
    for lane in range(pipe_protocol.LANES if both else 1):
        pushes, pops = _total(ring.producers, "push", lane), _total(ring.consumers, "pop", lane)
        if not ring.producers or not ring.consumers:
            if not ring.is_used_by_one_end:
                continue  # The other end is not part of this text.
        if pushes is None or pops is None or pushes == pops:
            continue
        kernel, uses = ends[-1]
        wait = "the consumer waits forever" if pushes < pops else "entries are left in it"
        core = f" by AIV{lane}" if lane else ""
        puts, takes = (core, "") if ring.direction == pipe_protocol.V2C else ("", core)
        action: Action = "pop" if ring.consumers else "push"
        place = f" in @{kernel.function.sym_name.data}" if ring.consumers else ""
        yield Hazard(
            "unbalanced-pipe",
            next((use.op for use in reversed(uses) if use.action == action), uses[-1].op),
            f"{_counted(pops, 'entry is', 'entries are')} taken out{place}{takes}, but "
            f"{_counted(pushes, 'is', 'are')} put into {ring.label}{puts}, so that {wait}; make both agree",
        )
        return


def _programs(
    module: ModuleOp, kernels: Sequence[Kernel], rings: Sequence[Ring], unbalanced: Collection[Ring]
) -> Iterator[Hazard]:
    """Kernels that wait for each other forever, and pushes that may overwrite what is still to be read."""
    safe: set[Pipe] = set()
    """Ends of pipes of which it is known whether they overwrite."""
    arguments: Arguments | None = None
    for component in components(kernels, rings):
        if any(ring in unbalanced for ring in component.rings.values()):
            continue
        program = component.program()
        if program is not None and program.exact:
            yield from _events(program)
            safe |= _ends(component)
            continue
        arguments = arguments or Arguments(module)
        try:
            outcomes = Outcomes(component, arguments)
        except UnknownControl:
            yield from _sampled(program)
            continue
        hazards = list(_outcomes(outcomes, program))
        yield from hazards
        if not any(hazard.code == "undecided" for hazard in hazards):
            safe |= _ends(component)
    for kernel in kernels:
        if kernel.behavior == "ideal":
            continue
        for op in walk(kernel.function):
            if isinstance(op, OpenPipeOp | InitializePipeOp) and op not in safe:
                yield from _depth(op)


def _ends(component: Component) -> set[Pipe]:
    """What opens the pipes of kernels."""
    return {use.pipe for kernel in component.kernels for use in kernel.uses}


def _events(program: Program) -> Iterator[Hazard]:
    """What is wrong with what cores certainly do."""
    graph = EventGraph(program.cores, program.tokens())
    deadlock = graph.deadlock()
    if deadlock is not None:
        yield _deadlock(program, deadlock)
    else:
        yield from _overwrites(program, graph.overwriting())
        yield from _leftovers(program)


def _leftovers(program: Program) -> Iterator[Hazard]:
    """Credits that a5 keeps for the next launch although each entry is freed once (H2)."""
    for name, tokens in program.tokens().items():
        ring, period = program.rings[name], tokens.period
        counts = {
            core: Counter(event.action for event in events if event.ring == name)
            for core, events in program.cores.items()
        }
        pushed = max((count["push"] + count["commit"] for count in counts.values()), default=0)
        popped = [count["pop"] for count in counts.values() if count["pop"]]
        if not tokens.seed or any(count["free"] not in (0, count["pop"]) for count in counts.values()):
            continue
        waits = sum(1 for number in range(ring.pipe.depth, pushed) if number % period == 0)
        left = max(popped, default=0) // period - waits
        opened = next((use.pipe for uses in ring.producers.values() for use in uses), None)
        if left > 0 and opened is not None:
            yield Hazard(
                "leftover-credits",
                opened,
                f"{_counted(pushed, 'entry', 'entries')} through {ring.label} leave{'s' if pushed == 1 else ''} "
                f"{_counted(left, 'credit', 'credits')} more than it begins with, so that the next launch does not "
                f"wait for its consumer as it should: pushes wait {_counted(waits, 'time', 'times')} here, but a free "
                f"gives a credit at every {period} entries, and at the end a5 takes back {tokens.seed} (H2); have its "
                "flags cleared between launches",
                "warning",
            )


def _sampled(program: Program | None) -> Iterator[Hazard]:
    """What may be overwritten where loops are run some times, if that is what cores do."""
    if program is not None:
        graph = EventGraph(program.cores, program.tokens())
        if graph.deadlock() is None:
            yield from _overwrites(program, graph.overwriting())


def _deadlock(program: Program, deadlock: Deadlock) -> Hazard:
    first = deadlock.needs[0].waiting
    operations = program.operations[first.core]
    pipes, behavior = program.pipes(), program.kernels[0].behavior
    # Credits that pipes begin with only put a deadlock off, or let slots be overwritten.
    try:
        slots = smallest_slots(
            program.cores,
            program.tokens(seeded=False),
            pipes,
            lambda count: pipe_protocol.credit_period(count, behavior),
            at_least=1,
        )
    except NoSlotNumber:
        remedy = "no number of slots helps: take entries out, and free them, in the order in which they come"
    else:
        better = [
            f"slot_num = {count} for {' and '.join(pipe)}"
            for pipe, count in zip(pipes, slots, strict=True)
            if count != program.rings[pipe[0]].pipe.depth
        ]
        remedy = f"use {', '.join(better)}, or wait for fewer entries at once"
    return Hazard(
        "deadlock",
        operations[min(first.place, len(operations) - 1)],
        f"the kernels wait for each other forever: {deadlock}; {remedy}",
    )


def _seeds(depth: int, behavior: Behavior, name: str) -> str:
    """What a pipe begins with, in words."""
    credits = _counted(pipe_protocol.seeded_credits(depth, behavior), "credit", "credits")
    free = f"the slot of {name} is" if depth == 1 else f"all {depth} slots of {name} are"
    return f"{behavior} begins with {credits} although {free} free"


def _overwrites(program: Program, overwriting: Mapping[str, int]) -> Iterator[Hazard]:
    """Pushes that may overwrite: for credits that the pipe begins with, its number of slots, or the order of frees."""
    severity: Severity = "error" if program.exact else "warning"
    behavior = program.kernels[0].behavior
    unseeded = EventGraph(program.cores, program.tokens(seeded=False))
    certain = unseeded.overwriting() if overwriting and unseeded.deadlock() is None else {}
    for name, push in overwriting.items():
        ring, depth = program.rings[name], program.rings[name].pipe.depth
        slot = pipe_protocol.slot_of(push, depth)
        if name not in certain:
            yield Hazard(
                "seeded-credits",
                ring.pipe,
                f"{_seeds(depth, behavior, name)}, so that push {push} may reuse slot {slot} before it is read; have "
                "the consumer answer, or use as many slots as there are pushes",
                "warning",
            )
        elif pipe_protocol.unsafe_push(depth) is not None:
            yield from (replace(hazard, severity=severity) for hazard in _depth(ring.pipe))
        else:
            (pushes,) = ring.producers.values()
            yield Hazard(
                "early-overwrite",
                next(use.op for use in pushes if use.action in ("alloc", "push")),
                f"push {push} into {name} may reuse slot {slot} before entry {push - depth} is freed; free entries in "
                "the order in which they come, each before the next is taken out",
                severity,
            )


# ---------------------------------------------------------------------------------------------
# What depends on numbers that are not known
# ---------------------------------------------------------------------------------------------

_FIRST = (*range(10), 12, 15, 16, 17, 20, 24, 25, 31, 32, 33, 40, 48, 64, 65)
"""Values that are tried of one number."""

_FEW = (0, 1, 2, 3, 5, 9, 17)
"""Values that are tried of each of several numbers."""

_MOST_TRIED = 60
"""Programs that are tried."""

_STARTS = (1, 2, 3, 4, 8, 16, 32, 64)
"""Values from which on something is tried to be proved."""


def _outcomes(outcomes: Outcomes, sample: Program | None) -> Iterator[Hazard]:
    """What goes wrong for some numbers, or for all but a few."""
    counted = list(_counts(outcomes, certain=True))
    if counted:
        yield from counted
        return
    verdict = outcomes.explore()
    kinds = {kind for kind, _ in verdict.outcomes}
    if verdict.is_clean:
        return
    if verdict.is_complete and kinds <= {"end", "overwrite"} and outcomes.explore(seeded=False).is_clean:
        for ring in dict.fromkeys(ring for kind, ring in verdict.outcomes if kind == "overwrite"):
            yield _seeded(outcomes.component, ring)
        return
    found = list(_counts(outcomes, certain=False)) or list(_for_values(outcomes, verdict))
    if not found and verdict.is_wrong and sample is not None:
        found = [replace(hazard, severity="error") for hazard in _events(sample)]
    if not found:
        found = [*_sampled(sample), *_undecided(outcomes, verdict)]
    yield from found


def _counts(outcomes: Outcomes, *, certain: bool) -> Iterator[Hazard]:
    """Rings of which one end is used more often than the other, certainly or but for what may be the usual numbers.

    Those are where one number has to be another, or to have one value.
    """
    for name, ring in outcomes.component.rings.items():
        (kernel, uses), *_ = ring.consumers.items()
        last = {use.action: use.op for use in uses}
        pushes = outcomes.times(name, "push" if ring.of_tiles else "commit")
        pops = outcomes.times(name, "pop")
        frees = [] if ring.frees_at_pop else outcomes.times(name, "free", default="pop")
        for (giver, put), (taker, taken) in [*product(pushes, pops), *zip(pops, frees, strict=False)]:
            difference = None if put is None or taken is None else put.minus(taken)
            if not difference or not difference.is_independent:
                continue
            ends = [end for end in (put, taken) if end is not None]
            if certain != (_hardly_alike(difference) and all(end.is_unlimited for end in ends)):
                continue
            by = [f" by {core}" if len(outcomes.cores) > 2 else "" for core in (giver, taker)]
            if (giver, put) in pops:
                yield Hazard(
                    "unbalanced-pipe",
                    last["pop"],
                    f"{ring.label} gives {put} entries out and gets {taken} slots back{by[1]}"
                    f"{_unless(difference)}; free each entry once",
                    "error" if certain else "warning",
                )
                continue
            yield Hazard(
                "unbalanced-pipe",
                last["pop"],
                f"{taken} entries are taken out in @{kernel.function.sym_name.data}{by[1]}, but {put} are put into "
                f"{ring.label}{by[0]}{_unless(difference)}; make both agree",
                "error" if certain else "warning",
            )


def _hardly_alike(difference: Sum) -> bool:
    """Whether two numbers that differ by a sum agree only where nothing is done at all."""
    free = difference.unknowns
    values = range(1, _MOST_TRIED)
    return not free or (len(free) == 1 and all(difference.value({free[0]: value}) for value in values))


def _unless(difference: Sum) -> str:
    """Where two numbers agree that differ by a sum, as far as a message tells."""
    if not difference.unknowns:
        return ", so that entries are left" if difference.value({}) > 0 else ", so that one side waits forever"
    if len(difference.unknowns) > 1:
        return f", which is not the same unless {difference} is 0"
    (name,) = difference.unknowns
    alike = [str(value) for value in range(_MOST_TRIED) if difference.value({name: value}) == 0]
    return f", which is not the same unless {name} is {' or '.join(alike)}" if alike else ", which is never the same"


def _for_values(outcomes: Outcomes, verdict: Verdict) -> Iterator[Hazard]:
    """What goes wrong for values of arguments: certainly, if it does for all from some value on."""
    numbers = sources(verdict.asked)
    if not numbers or len(numbers) > 3:
        return
    tried = list(islice(product(_FIRST if len(numbers) == 1 else _FEW, repeat=len(numbers)), _MOST_TRIED))
    wrong: dict[tuple[int, ...], list[Hazard]] = {}
    for values in tried:
        program = outcomes.program(dict(zip(numbers, values, strict=True)))
        if program is None:
            return
        ways = [(way, kernel) for kernel in program.kernels for (way,) in kernel.schedules]
        wrong[values] = [
            *_left(program),
            *_events(program),
            *(hazard for way, kernel in ways for find in (_slots_in_use, _frees) for hazard in find(way, kernel)),
        ]
    least: int | None = None
    if len(numbers) == 1:
        # From where on it goes wrong for all that are tried, and certainly.
        right = max((values[0] for values, hazards in wrong.items() if not _errors(hazards)), default=-1)
        least = next((value for value in _FIRST if value > right), None)
        known: dict[Terms, Limits] = {((numbers[0], 1),): (least, None)}
        if least is not None and not outcomes.explore(known=known).is_wrong:
            least = None
    first: dict[tuple[Code, Operation | None], tuple[tuple[int, ...], Hazard]] = {}
    times: Counter[tuple[Code, Operation | None]] = Counter()
    looked = {values: hazards for values, hazards in wrong.items() if least is None or values[0] >= least}
    for values, hazards in looked.items():
        # Where cores stand in a deadlock may be another place for other numbers.
        keys: dict[tuple[Code, Operation | None], Hazard] = {
            (hazard.code, None if hazard.code == "deadlock" else hazard.op): hazard for hazard in hazards
        }
        times.update(keys.keys())
        for key, hazard in keys.items():
            first.setdefault(key, (values, hazard))
    # There may be one block alone.
    certain = verdict.is_wrong or (least is not None and numbers[0].name != BLOCK)
    for key, (values, hazard) in first.items():
        if hazard.code == "seeded-credits":
            yield hazard
            continue
        if certain and times[key] == len(looked):
            case = f"whenever {numbers[0]} is at least {least}" if least is not None else "always"
        else:
            given = " and ".join(f"{name} is {value}" for name, value in zip(numbers, values, strict=True))
            case = f"if {given}, for example"
        severity: Severity = "error" if certain and hazard.severity == "error" else "warning"
        yield replace(hazard, severity=severity, message=f"{hazard.message}; this is so {case}")


def _errors(hazards: Iterable[Hazard]) -> bool:
    return any(hazard.severity == "error" for hazard in hazards)


def _left(program: Program) -> Iterator[Hazard]:
    """Rings that are not empty in the end."""
    for name, ring in program.rings.items():
        counts = [
            {core: sum(event.ring == name and event.action in actions for event in events)
             for core, events in program.cores.items()}
            for actions in (("push", "commit"), ("pop",))
        ]  # fmt: skip
        put, taken = (max(count.values()) for count in counts)
        if put > taken:
            (_, uses), *_ = ring.consumers.items()
            yield Hazard(
                "unbalanced-pipe",
                next((use.op for use in reversed(uses) if use.action == "pop"), uses[-1].op),
                f"{_counted(taken, 'entry is', 'entries are')} taken out, but {_counted(put, 'is', 'are')} put into "
                f"{ring.label}, so that entries are left in it; make both agree",
            )


def _seeded(component: Component, name: str) -> Hazard:
    pipe, behavior = component.rings[name].pipe, component.kernels[0].behavior
    return Hazard(
        "seeded-credits",
        pipe,
        f"{_seeds(pipe.depth, behavior, name)}, so that a push may reuse a slot before it is read; have the consumer "
        "answer, or use as many slots as there are pushes",
        "warning",
    )


def _undecided(outcomes: Outcomes, verdict: Verdict) -> Iterator[Hazard]:
    """What kernels come to depends on a number in a way that is not followed."""
    asked = place_of(verdict.asked)
    if asked is not None:
        name, op = asked
        rings = " and ".join(outcomes.component.rings)
        yield Hazard(
            "undecided",
            op,
            f"whether both ends of {rings} agree depends on {name}, which is not known before the program runs, so "
            "that only some cases were looked at; run it",
            "warning",
        )


def _depth(pipe: Pipe) -> Iterator[Hazard]:
    """Numbers of slots with which a push does not wait for the slot it reuses."""
    depth = pipe.depth
    push = pipe_protocol.unsafe_push(depth)
    if push is not None:
        yield Hazard(
            "unsafe-depth",
            pipe,
            f"sparse free-space waiting is unsafe for slot_num = {depth}: push {push} reuses slot "
            f"{pipe_protocol.slot_of(push, depth)} before its free credit; use {depth - 1} or {depth + 1}",
            "warning",
        )
