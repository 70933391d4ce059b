"""Deadlock report of a machine at rest: who waits for what, the circular wait if there is one, unread wavelets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...diagnostics.errors import LoomError
from ...diagnostics.findings import Finding
from .streams import UNBOUNDED
from .tasks import NEVER
from .units import UnitSet, from_mask, rectangle
from .unread_wavelets import Unread, plain, unread
from .wait_cycles import find_cycle, root_waits
from .wait_graph import Unit, Wait

if TYPE_CHECKING:
    from .machine import Machine
    from .unit_class import UnitClass

MAX_LINES = 20
"""Lines of a report about PEs that wait; the rest are counted."""

MAX_WAITS = 3
"""Waits of a PE listed in its line."""

MAX_UNREAD = 5


@dataclass(frozen=True)
class Waiting:
    """Units that wait for the same thing, as `Deadlock.waits` has it."""

    text: str
    """Which task or microthread waits at which operation for what, in words."""
    location: str | None
    """`file:line:col` of the operation."""
    queue: str | None
    """The name of the queue, FIFO or channel that is waited on; None for a task that is blocked."""
    colors: tuple[str, ...]
    """The colors of the queue."""
    missing: int | None
    """Wavelets, elements or entries that each unit lacks, or cannot send; None for a task that is blocked."""
    count: int
    """How many units wait."""
    _wait: Wait = field(repr=False, compare=False)

    @property
    def units(self) -> tuple[Unit, ...]:
        """Return (x, y) of each unit: of a PE its column and row, of a core its number (0 is the cube) and block."""
        return tuple(self._wait.places())


class Starved(NamedTuple):
    """A PE with an operation that waits for wavelets of the host."""

    color: str
    """The name of the color in IR."""
    place: Unit
    sent: int
    """Wavelets of the color that the host has sent to the PE so far."""
    missing: int
    """Wavelets of them that the operation lacks."""


@dataclass(frozen=True)
class Hang:
    """The state of a machine that hangs."""

    waits: tuple[Waiting, ...] = ()
    circle: tuple[Unit, ...] = ()
    """Units that wait for each other, each for the next and the last for the first; none if there is no such circle."""
    unread: tuple[Unread, ...] = ()
    """Wavelets that nothing has read."""
    silent: tuple[Unit, ...] = ()
    """PEs that the host waits for: to call unblock_cmd_stream(), or to send it wavelets."""
    lacking: int = 0
    """Wavelets that the host waits for."""
    starved: tuple[Starved, ...] = ()
    """PEs that wait for wavelets of the host."""
    statistics: dict[str, Any] = field(default_factory=dict[str, Any])
    """What the run has done until then, as `Simulator.stats` has it."""
    findings: tuple[Finding, ...] = ()
    """Of a PTO program: hazards that the run has met before, as `Result.findings` has them."""


class Deadlock(LoomError):
    """A deadlock: the program waits for what never comes. The message is the report.

    `waits` lists who waits for what, `circle` the units that wait for each other, `unread` the wavelets that nothing
    has read, `silent` the PEs the host waits for, `starved` those that wait for wavelets of the host, `statistics` what
    the run has done until then and `findings` the hazards of a PTO program that it has met.
    """

    def __init__(self, message: str, location: str | None = None, hang: Hang | None = None) -> None:
        super().__init__(message, location)
        self.hang = Hang() if hang is None else hang
        self.waits = self.hang.waits
        self.circle = self.hang.circle
        self.unread = self.hang.unread
        self.silent = self.hang.silent
        self.starved = self.hang.starved
        self.statistics = self.hang.statistics
        self.findings = self.hang.findings

    @property
    def units(self) -> tuple[Unit, ...]:
        """Return (x, y) of the units that wait, or that the host waits for, each once, by rows."""
        units = {*(unit for wait in self.waits for unit in wait.units), *self.silent}
        return tuple(sorted(units, key=lambda unit: unit[::-1]))

    @property
    def queues(self) -> tuple[str, ...]:
        """Return the names of the queues, FIFOs and channels that are waited on, each once."""
        return tuple(dict.fromkeys(wait.queue for wait in self.waits if wait.queue is not None))

    @property
    def colors(self) -> tuple[str, ...]:
        """Return the names of the colors that are waited on, each once."""
        return tuple(dict.fromkeys(color for wait in self.waits for color in wait.colors))

    @property
    def missing(self) -> int:
        """Return how many wavelets, elements or entries all units, and the host, lack or cannot send."""
        return self.hang.lacking + sum(wait.count * wait.missing for wait in self.waits if wait.missing is not None)


def _waits(machine: Machine, *, allow_pending: bool, all_of_them: bool = False) -> Iterator[Wait]:
    """Yield the waits that never end and whose end would start something; with `allow_pending` only those of tasks.

    With `all_of_them` also microthreads whose end starts nothing.
    """
    for channel in machine.channels.values():
        yield from channel.waits()
    for cls in machine.classes:
        if not allow_pending:
            yield from _blocked_tasks(cls)
        for send in machine.scheduler.sends:
            if send.queue.cls is cls:
                yield from send.waits(allow_pending=allow_pending)
        for fifo in cls.fifos.values():
            yield from fifo.waits(allow_pending=allow_pending, all_of_them=all_of_them)
        for queue in cls.inputs.values():
            yield from queue.waits(allow_pending=allow_pending, all_of_them=all_of_them)


def _blocked_tasks(cls: UnitClass) -> list[Wait]:
    """Return the waits of tasks that could run if they were not blocked."""
    found: list[Wait] = []
    for task in cls.task_list:
        if task.unblocked is None:
            continue
        stuck = (task.active[cls.units.index] != NEVER) & (task.unblocked[cls.units.index] == NEVER)
        reason = "is active" if task.queue is None else f"has wavelets waiting on input queue {task.queue.label}"
        location = f" ({task.code.where})" if task.code.where else ""
        text = f"task @{task.name}{location} {reason} but is blocked, and nothing unblocks it"
        if task.queue is not None and task.queue.control_only:
            text = f"input queue {task.queue.label}{location} has control wavelets but is blocked; unblock it"
        found += [Wait(cls, units, text, task.code.where, tasks=(task.name,)) for units in from_mask(cls.units, stuck)]
    return found


def _grouped(waits: Sequence[Wait]) -> list[Wait]:
    """Return waits with those for the same thing joined, of whatever warps."""
    groups: dict[tuple[int, str], list[Wait]] = {}
    for wait in waits:
        groups.setdefault((id(wait.cls), wait.text), []).append(wait)
    found: list[Wait] = []
    for group in groups.values():
        mask = np.zeros(group[0].cls.shape, np.bool_)
        for wait in group:
            mask[wait.units.index] = True
        found += [group[0]._replace(units=units) for units in from_mask(_whole(group[0].cls), mask)]
    return found


def _whole(cls: UnitClass) -> UnitSet:
    return rectangle(range(cls.shape[0]), range(cls.shape[1]))


def explain(
    machine: Machine, *, allow_pending: bool, all_of_them: bool = False, begun: bool = False
) -> Deadlock | None:
    """Return the deadlock of a machine at rest, None if nothing waits that should not.

    With `all_of_them` also microthreads whose end starts nothing count, but for those that have no end; with `begun`
    only microthreads that have received some of their wavelets count.
    """
    found = _waits(machine, allow_pending=allow_pending, all_of_them=all_of_them)
    bounded = [wait for wait in found if wait.missing is None or wait.missing <= UNBOUNDED // 2]
    waits = _grouped([wait for wait in bounded if wait.begun or not begun])
    waits.sort(key=lambda wait: wait.first()[::-1])
    if not waits:
        return None
    stuck = sum(wait.units.count for wait in waits)
    remain = "1 wait remains" if stuck == 1 else f"{stuck} waits remain"
    when = "deadlock" if machine.is_chip else f"deadlock at cycle {machine.cycles} (estimated)"
    lines = [f"{when}: nothing can proceed, and {remain}", *_by_unit(waits)]
    path = find_cycle(waits)
    if path:
        names = [machine.unit_name(*place) for place, _ in path]
        lines.append(f"  circular wait: {' -> '.join([*names, names[0]])}")
        held = any(wait.held for _, wait in path)
        lines.append(f"  {next(wait.awaited.remedy(held=held) for _, wait in path if wait.awaited is not None)}")
    else:
        # Operations that may wait for the next launch, or whose end starts nothing, can be what others wait for.
        every = _grouped(list(_waits(machine, allow_pending=False, all_of_them=True)))
        every.sort(key=lambda wait: wait.first()[::-1])
        explanations = (wait.awaited.explanation(wait) for wait in root_waits(every) if wait.awaited is not None)
        lines += [f"  {explanation}" for explanation in explanations if explanation][:1]
    left = unread(machine)
    lines += [f"  {wavelets}" for wavelets in left[:MAX_UNREAD]]
    if len(left) > MAX_UNREAD:
        lines.append(f"  and wavelets of {len(left) - MAX_UNREAD} more PEs and colors have not been read")
    hang = Hang(
        tuple(_waiting(machine, wait) for wait in waits), tuple(place for place, _ in path), tuple(left),
        starved=starved(machine), statistics=machine.statistics(),
    )  # fmt: skip
    return Deadlock("\n".join(lines), waits[0].where, hang)


def unexplained(machine: Machine) -> Hang:
    """Return the state of a machine at rest that has no deadlock of its own."""
    return Hang(unread=tuple(unread(machine)), starved=starved(machine), statistics=machine.statistics())


def starved(machine: Machine) -> tuple[Starved, ...]:
    """Return the PEs that wait for wavelets of the host, by color and rows."""
    found: list[Starved] = []
    for color, stream in machine.host_inputs.items():
        for queue, reads in stream.readers:
            for transfer in queue.waiting:
                if transfer.count == UNBOUNDED or (queue.messages and queue.first(transfer.units) is not None):
                    continue
                for units in from_mask(transfer.units, reads[transfer.units.index]):
                    rows, columns = (values.ravel().tolist() for values in units.cells())
                    for row, column in zip(rows, columns, strict=True):
                        x, y = queue.cls.grid_position(row, column)
                        missing = transfer.count - transfer.position
                        found.append(Starved(color, (x, y), int(stream.sent[y, x]), missing))
    return tuple(sorted(found, key=lambda one: (one.color, one.place[::-1])))


def _waiting(machine: Machine, wait: Wait) -> Waiting:
    queue = wait.cls.inputs.get(wait.queue or "") or wait.cls.outputs.get(wait.queue or "")
    numbers: list[int] = [] if queue is None else np.unique(queue.colors[wait.units.index]).tolist()
    colors = tuple(plain(machine.color_label(number)) for number in numbers if number >= 0)
    name = wait.queue if queue is None else plain(queue.label)
    return Waiting(wait.text, wait.where, name, colors, wait.missing, wait.units.count, wait)


def _by_unit(waits: Sequence[Wait]) -> list[str]:
    """Return a line for each set of units that wait for the same things; each unit is in one line."""
    kinds: list[tuple[int, ...]] = [()]
    classes = list({id(wait.cls): wait.cls for wait in waits}.values())
    lines: list[tuple[tuple[int, ...], UnitClass, UnitSet]] = []
    for cls in classes:
        label = np.zeros(cls.shape, np.int64)
        first = len(kinds)
        for number, wait in enumerate(waits):
            if wait.cls is cls:
                before, inverse = np.unique(label[wait.units.index], return_inverse=True)
                label[wait.units.index] = len(kinds) + inverse.reshape(wait.units.shape)
                kinds += [(*kinds[kind], number) for kind in before.tolist()]
        for kind in range(first, len(kinds)):
            lines += [(kinds[kind], cls, units) for units in from_mask(_whole(cls), label == kind)]
    lines.sort(key=lambda line: line[0][0])
    shown = [f"  {cls.describe(units)}: {_together([waits[n].text for n in kind])}" for kind, cls, units in lines]
    if len(lines) > MAX_LINES:
        rest = sum(units.count for _, _, units in lines[MAX_LINES:])
        noun = "core waits" if lines[0][1].machine.is_chip else "PE waits"
        shown[MAX_LINES:] = [f"  and {rest} more {noun if rest == 1 else noun.replace(' waits', 's wait')}"]
    return shown


def _together(texts: Sequence[str]) -> str:
    rest = len(texts) - MAX_WAITS
    return "; ".join(texts[:MAX_WAITS]) + (f"; and {rest} more wait{'s' if rest > 1 else ''}" if rest > 0 else "")
