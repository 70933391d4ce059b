"""Why a program that came to rest has not come to its end: who waits for what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

import numpy as np

from ..diagnostics import LoomError
from .leftovers import unread
from .tasks import NEVER
from .units import Cells, UnitSet, from_mask, rectangle, union
from .waits import Unit, Wait

if TYPE_CHECKING:
    import networkx as nx

    from .machine import Machine
    from .unit_class import UnitClass

MAX_LINES = 20
MAX_UNREAD = 5
MAX_GRAPH_UNITS = 4096
"""Beyond this many waiting units the wait-for graph is built over the first of them."""


class Deadlock(LoomError):
    """The program waits for what never comes; the message is the report."""


def _waits(machine: Machine, *, allow_pending: bool) -> Iterator[Wait]:
    """Everything that waits for what never comes; with `allow_pending` only what holds a task."""
    for channel in machine.channels.values():
        yield from channel.waits()
    for cls in machine.classes:
        if not allow_pending:
            yield from _blocked_tasks(cls)
        for send in machine.scheduler.sends:
            if send.queue.cls is cls:
                yield from send.waits(allow_pending=allow_pending)
        for fifo in cls.fifos.values():
            yield from fifo.waits(allow_pending=allow_pending)
        for queue in cls.inputs.values():
            yield from queue.waits(allow_pending=allow_pending)


def _blocked_tasks(cls: UnitClass) -> list[Wait]:
    """Tasks that could run but for being blocked."""
    found: list[Wait] = []
    for task in cls.task_list:
        if task.unblocked is None:
            continue
        stuck = (task.active[cls.units.index] != NEVER) & (task.unblocked[cls.units.index] == NEVER)
        reason = "is active" if task.queue is None else f"has wavelets waiting on input queue @{task.queue.name}"
        location = f" ({task.code.where})" if task.code.where else ""
        text = f"task @{task.name}{location} {reason} but is blocked, and nothing unblocks it"
        if task.queue is not None and task.queue.control_only:
            text = f"input queue @{task.queue.name}{location} has control wavelets but is blocked; unblock it"
        found += [Wait(cls, units, text, task.code.where) for units in from_mask(cls.units, stuck)]
    return found


def _pieces(units: UnitSet) -> list[UnitSet]:
    """Scattered units as few rectangles where that is possible: they read better."""
    if not isinstance(units, Cells):
        return [units]
    top, left = int(units.rows.min()), int(units.columns.min())
    around = rectangle(range(top, int(units.rows.max()) + 1), range(left, int(units.columns.max()) + 1))
    mask = np.zeros(around.shape, np.bool_)
    mask[units.rows - top, units.columns - left] = True
    return from_mask(around, mask)


def _grouped(waits: list[Wait]) -> list[Wait]:
    """Units that wait for the same as one set, whatever warps they came in."""
    groups: dict[tuple[int, str], list[Wait]] = {}
    for wait in waits:
        groups.setdefault((id(wait.cls), wait.text), []).append(wait)
    return [
        group[0]._replace(units=part)
        for group in groups.values()
        for part in _pieces(union([wait.units for wait in group]))
    ]


def explain(machine: Machine, *, allow_pending: bool) -> Deadlock | None:
    """The deadlock of a machine at rest, None if nothing waits that should not."""
    waits = _grouped(list(_waits(machine, allow_pending=allow_pending)))
    if not waits:
        return None
    stuck = sum(wait.units.count for wait in waits)
    remain = "1 wait remains" if stuck == 1 else f"{stuck} waits remain"
    when = "deadlock" if machine.is_chip else f"deadlock at cycle {machine.cycles} (estimated)"
    lines = [f"{when}: nothing can happen any more, and {remain}"]
    lines += [f"  {wait.cls.describe(wait.units)}: {wait.text}" for wait in waits[:MAX_LINES]]
    if len(waits) > MAX_LINES:
        lines.append(f"  and {len(waits) - MAX_LINES} more groups of PEs")
    cycle = _cycle(waits)
    if cycle:
        path = " -> ".join(machine.unit_name(*place) for place in [*cycle, cycle[0]])
        lines.append(f"  they wait for each other in a circle: {path}")
        held = any(wait.held for wait in waits)
        lines.append(f"  {next(wait.awaited.remedy(held=held) for wait in waits if wait.awaited is not None)}")
    else:
        silences = (wait.awaited.silence(wait) for wait in waits if wait.awaited is not None)
        lines += [f"  {silence}" for silence in silences if silence][:1]
    left = unread(machine)
    lines += [f"  {wavelets}" for wavelets in left[:MAX_UNREAD]]
    if len(left) > MAX_UNREAD:
        lines.append(f"  and wavelets of {len(left) - MAX_UNREAD} more PEs and colors have not been read")
    return Deadlock("\n".join(lines), waits[0].where)


def _graph(waits: list[Wait]) -> nx.DiGraph[Unit]:
    """Who waits for whom. Only units that wait are nodes."""
    import networkx as nx  # takes as long to import as the rest of the engine, and only programs that hang need it

    graph: nx.DiGraph[Unit] = nx.DiGraph()
    waiting: set[Unit] = set()
    followed: list[Wait] = []
    for wait in waits:
        if wait.awaited is None or len(waiting) > MAX_GRAPH_UNITS:
            continue
        rows, columns = wait.units.cells()
        waiting |= {
            wait.cls.grid_position(y, x) for y, x in zip(rows.ravel().tolist(), columns.ravel().tolist(), strict=True)
        }
        followed.append(wait)
    for wait in followed:
        assert wait.awaited is not None
        graph.add_edges_from(pair for pair in wait.awaited.pairs(wait) if waiting.issuperset(pair))
    return graph


def _cycle(waits: list[Wait]) -> list[Unit]:
    """Units that wait for each other in a circle, in its order; none if there is no circle."""
    import networkx as nx

    graph = _graph(waits)
    try:
        edges = cast("list[tuple[Unit, Unit]]", nx.find_cycle(graph))  # pyright: ignore[reportUnknownMemberType]
    except nx.NetworkXNoCycle:
        return []
    return [place for place, _ in edges]
