"""Races in a trace: accesses of the same bytes, at least one a store, that nothing orders.

"Happens before" is the order of the steps of a thread, and of a step behind those it waits for: entries that are
popped, credits, barriers and flags. A core is one thread if the compiler orders its pipes; if its program does so by
flags, each of its pipes is a thread, and instructions are issued behind all scalar ones before them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, TypeAlias

from xdsl.ir import Operation

from ....diagnostics.records import record
from ....dialects.pto.attributes import HardwarePipe
from .signals import Moment, Order
from .trace import Access, Step, Trace
from .values import Region, overlap

MAX_PAIRS = 200_000
"""Pairs of accesses that are compared; those of larger programs are left out."""

MAX_ROUNDS = 50
"""Times that waits for signals are looked at; if more is found even then, they are behind all that came before them."""

_Clock: TypeAlias = tuple[int, ...]


@record
class Race:
    """Two steps that access the same byte of a memory in any order; the first is the earlier in the trace."""

    memory: str
    first: Step
    second: Step
    byte: int
    writes: tuple[bool, bool]


@record
class _Timed:
    """An access, with its thread, its place in it, and the places in all threads that happen before it."""

    step: Step
    access: Access
    region: Region
    index: int
    thread: int
    at: int
    clock: _Clock

    def is_before(self, other: _Timed) -> bool:
        return other.clock[self.thread] >= self.at


def races(trace: Trace, ignored: frozenset[str] = frozenset()) -> Iterator[Race]:
    """Yield the races of a trace, one for each pair of operations; `ignored` are memories that are left out."""
    by_memory: dict[str, list[_Timed]] = defaultdict(list)
    _loosen(trace)
    for timed in _timed(trace):
        if timed.access.memory not in ignored:
            by_memory[timed.access.memory].append(timed)
    left = MAX_PAIRS
    for memory, accesses in by_memory.items():
        if not any(timed.access.writes for timed in accesses):
            continue
        seen: set[tuple[Operation, Operation, bool]] = set()
        active: list[_Timed] = []
        for timed in sorted(accesses, key=lambda timed: timed.region.low):
            active = [other for other in active if other.region.high > timed.region.low]
            for other in active:
                left -= 1
                if left < 0:
                    return
                first, second = (other, timed) if other.index < timed.index else (timed, other)
                same_block = trace.cores[first.step.core][::2] == trace.cores[second.step.core][::2]
                key = first.step.op, second.step.op, same_block
                if key in seen or not _may_race(first, second):
                    continue
                byte = overlap(first.region, second.region)
                if byte is not None:
                    seen |= {key, (key[1], key[0], same_block)}
                    yield Race(memory, first.step, second.step, byte, (first.access.writes, second.access.writes))
            active.append(timed)


def _loosen(trace: Trace) -> None:
    """Let waits for signals be behind those changes alone that they are behind in every order.

    What is known of the order of some shows more of that of others, so this goes on from none.
    """
    signals = trace.signals
    if not signals.awaits:
        return
    told = {change.step for signal in signals.of.values() for change in signal.changes}
    asked = {wait.step for wait in signals.awaits}
    as_run = {step: trace.steps[step].after for step in asked}
    for step in asked:
        trace.steps[step].after = ()
    for _ in range(MAX_ROUNDS):
        moments: dict[int, Moment] = {}
        for index, _, thread, at, clock in _moments(trace):
            if index in told or index in asked:
                before = list(clock())
                before[thread] = at
                moments[index] = Moment(thread, at, before)
        orders = {place: Order(signal, moments) for place, signal in signals.of.items()}
        changed = False
        for wait in signals.awaits:
            found = orders[wait.place].needs(wait)
            changed |= found != trace.steps[wait.step].after
            trace.steps[wait.step].after = found
        if not changed:
            return
    for step, after in as_run.items():
        trace.steps[step].after = after


def _may_race(first: _Timed, second: _Timed) -> bool:
    """Return True if two accesses matter to each other and nothing orders them."""
    one, other = first.access, second.access
    if first.thread == second.thread or not (one.writes or other.writes) or (one.adds and other.adds):
        return False
    if one.writes and other.writes and one.region == other.region and one.contents is not None:
        # Cores that do the same store the same.
        if one.contents == other.contents:
            return False
    if one.writes and other.writes and one.rows is not None and one.rows == other.rows:
        return False
    return not first.is_before(second) and not second.is_before(first)


class _Moment(NamedTuple):
    """A step with its place in its thread, and, asked at once, the places in all threads that happen before it."""

    number: int
    step: Step
    thread: int
    at: int
    clock: Callable[[], _Clock]


def _timed(trace: Trace) -> Iterator[_Timed]:
    """Yield the accesses whose order matters, in the order of the trace."""
    explicit_cores = trace.explicit - trace.unknown_order
    for index, step, thread, at, clock in _moments(trace):
        for access in step.accesses:
            is_local = access.memory.startswith("block ")
            is_unordered = step.core not in explicit_cores if is_local else trace.orders_cores
            if access.region is None or access.region.is_empty or is_unordered:
                continue
            yield _Timed(step, access, access.region, index, thread, at, clock())


def _moments(trace: Trace) -> Iterator[_Moment]:
    """Yield the steps of a trace with their clocks."""
    explicit_cores = trace.explicit - trace.unknown_order
    threads: dict[tuple[int, HardwarePipe | None], int] = {}
    pipes_of: dict[int, list[int]] = defaultdict(list)

    def thread_of(core: int, pipe: HardwarePipe | None) -> int:
        key = core, pipe if core in explicit_cores else None
        if key not in threads:
            threads[key] = len(threads)
            pipes_of[core].append(threads[key])
        return threads[key]

    for step in trace.steps:
        thread_of(step.core, step.pipe)
        if step.core in explicit_cores:
            thread_of(step.core, HardwarePipe.S)
            for pipe in step.joins:
                thread_of(step.core, pipe)
    clocks = [[0] * len(threads) for _ in threads]
    awaited = {index for step in trace.steps for index in step.after}
    released: dict[int, _Clock] = {}
    snapshots: dict[int, _Clock] = {}
    for index, step in enumerate(trace.steps):
        explicit = step.core in explicit_cores
        thread = thread_of(step.core, step.pipe)
        clock = clocks[thread]
        joined = False
        sources: list[_Clock | list[int]] = [released[other] for other in step.after]
        if explicit:
            sources.append(clocks[thread_of(step.core, HardwarePipe.S)])
            if step.kind == "barrier" and HardwarePipe.ALL in step.joins:
                sources += [clocks[other] for other in pipes_of[step.core]]
        for source in sources:
            for place, value in enumerate(source):
                if value > clock[place]:
                    clock[place] = value
                    joined = True
        clock[thread] += 1
        if explicit and step.kind == "barrier" and HardwarePipe.ALL in step.joins:
            for other in pipes_of[step.core]:
                clocks[other][:] = [max(pair) for pair in zip(clocks[other], clock, strict=True)]
                snapshots.pop(other, None)
        if index in awaited:
            released[index] = tuple(clock)
        if joined:
            snapshots.pop(thread, None)
        yield _Moment(index, step, thread, clock[thread], partial(_snapshot, snapshots, thread, clock))


def _snapshot(snapshots: dict[int, _Clock], thread: int, clock: list[int]) -> _Clock:
    """Return the clock of a thread, the same object as long as nothing of another thread has come in."""
    if thread not in snapshots:
        snapshots[thread] = tuple(clock)
    return snapshots[thread]
