"""Deadlock report of a machine at rest: who waits for what, the circular wait if there is one, unread wavelets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..diagnostics.errors import LoomError
from ..diagnostics.findings import Finding
from ..diagnostics.records import record
from .executor import Clue
from .places import Array, Lattice, Unit
from .unread_wavelets import Unread
from .wait_graph import Wait, find_cycle, grouped, root_waits

if TYPE_CHECKING:
    from .machine import Machine

MAX_LINES = 20
"""Lines of a report about PEs that wait; the rest are counted."""

MAX_WAITS = 3
"""Waits of a PE listed in its line."""

MAX_UNREAD = 5

MAX_CLUES = 4
"""Lines about what PEs did in vain, or would have to do."""


@record
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
    _places: Array = field(repr=False, compare=False)

    @property
    def units(self) -> tuple[Unit, ...]:
        """Return (x, y) of each unit: of a PE its column and row, of a core its number (0 is the cube) and block."""
        return tuple((x, y) for x, y in self._places.tolist())


class Starved(NamedTuple):
    """A PE with an operation that waits for wavelets of the host."""

    color: str
    """The name of the color in IR."""
    place: Unit
    sent: int
    """Wavelets of the color that the host has sent to the PE so far."""
    missing: int
    """Wavelets of them that the operation lacks."""


@record
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


def explain(
    machine: Machine, *, allow_pending: bool, all_of_them: bool = False, begun: bool = False
) -> Deadlock | None:
    """Return the deadlock of a machine at rest, None if nothing waits that should not.

    With `allow_pending` operations may wait for what comes with the next launch, and only tasks count. With
    `all_of_them` also microthreads whose end starts nothing count, but for those that have no end; with `begun` only
    microthreads that have received some of their wavelets count.
    """
    found = machine.executor.waits(allow_pending=allow_pending, all_of_them=all_of_them)
    found = [wait for wait in found if not wait.endless and (wait.begun or not begun)]
    if not found:
        return None
    lattices = machine.lattices
    waits = grouped(found, lattices)
    stuck = sum(len(wait.places) for wait in waits)
    remain = "1 wait remains" if stuck == 1 else f"{stuck} waits remain"
    when = "deadlock" if machine.is_chip else f"deadlock at cycle {machine.executor.reached} (estimated)"
    lines = [f"{when}: nothing can proceed, and {remain}", *_by_unit(machine, waits, lattices)]
    path = find_cycle(waits)
    if path:
        names = [machine.unit_name(*place) for place, _ in path]
        lines.append(f"  circular wait: {' -> '.join([*names, names[0]])}")
        held = any(wait.held for _, wait in path)
        lines.append(f"  {next(wait.awaited.remedy(held=held) for _, wait in path if wait.awaited is not None)}")
    else:
        # Operations that may wait for the next launch, or whose end starts nothing, can be what others wait for.
        every = grouped(machine.executor.waits(allow_pending=False, all_of_them=True), lattices)
        explanations = (
            wait.awaited.explanation(wait.places, machine.describe(wait.places, wait.is_rectangle))
            for wait in root_waits(every, lattices)
            if wait.awaited is not None
        )
        lines += [f"  {explanation}" for explanation in explanations if explanation][:1]
    lines += _in_words(machine, machine.executor.lost_activations())
    left = _unread(machine)
    lines += _lines_of_unread(left)
    hang = Hang(
        tuple(_waiting(wait) for wait in waits), tuple(place for place, _ in path), tuple(left),
        starved=machine.starved(), statistics=_statistics(machine),
    )  # fmt: skip
    return Deadlock("\n".join(lines), waits[0].where, hang)


def _unread(machine: Machine) -> list[Unread]:
    return sorted(machine.unread(), key=lambda unread: unread.is_behind)


def _lines_of_unread(left: Sequence[Unread]) -> list[str]:
    lines = [f"  {wavelets}" for wavelets in left[:MAX_UNREAD]]
    if len(left) > MAX_UNREAD:
        lines.append(f"  and wavelets of {len(left) - MAX_UNREAD} more PEs and colors have not been read")
    return lines


def clues(machine: Machine, silent: Iterable[Unit]) -> list[str]:
    """Return lines about a machine at rest without a deadlock of its own, of which the host waits for some PEs.

    They say which operations without an end these PEs still have, which activations were lost, and which wavelets
    nothing has read.
    """
    wanted = set(silent)
    found = machine.executor.waits(allow_pending=False, all_of_them=True)
    open_ones = [wait for wait in found if wait.endless and not wanted.isdisjoint(map(tuple, wait.places.tolist()))]
    lattices = machine.lattices
    return [
        *_by_unit(machine, grouped(open_ones, lattices), lattices),
        *_in_words(machine, machine.executor.lost_activations()),
        *_lines_of_unread(_unread(machine)),
    ]


def missing_calls(machine: Machine, name: str, silent: Sequence[Unit]) -> tuple[list[str], str | None]:
    """Return lines that say where PEs that the host waits for would call unblock_cmd_stream(), and the first place."""
    found = machine.executor.missing_calls(name, np.array(silent))
    return _in_words(machine, found), next((clue.where for clue in found if clue.where), None)


def _in_words(machine: Machine, clues: Sequence[Clue]) -> list[str]:
    """Return a line for each thing that is said of some units, those of several classes together."""
    texts: dict[str, list[Array]] = {}
    for clue in clues:
        texts.setdefault(clue.text, []).append(clue.places)
    lines: list[str] = []
    for text, several in texts.items():
        places = np.concatenate(several)
        places = places[np.lexsort((places[:, 0], places[:, 1]))]
        count, (x, y) = len(places), places[0].tolist()
        units = machine.unit_name(x, y) if count == 1 else f"{count} PEs, the first {machine.unit_name(x, y)}"
        lines.append(f"  {units}: {text}")
    rest = len(lines) - MAX_CLUES
    return [*lines[:MAX_CLUES], *([f"  and {rest} more of this kind"] if rest > 0 else [])]


def unexplained(machine: Machine) -> Hang:
    """Return the state of a machine at rest that has no deadlock of its own."""
    return Hang(unread=tuple(machine.unread()), starved=machine.starved(), statistics=_statistics(machine))


def _statistics(machine: Machine) -> dict[str, Any]:
    """Return what the run has done, with the cycles that tasks which wait have reached."""
    return {**machine.statistics(), "cycles_estimated": machine.executor.reached}


def _waiting(wait: Wait) -> Waiting:
    return Waiting(wait.text, wait.where, wait.queue, wait.colors, wait.missing, len(wait.places), wait.places)


def _by_unit(machine: Machine, waits: Sequence[Wait], lattices: Mapping[int, Lattice]) -> list[str]:
    """Return a line for each set of units that wait for the same things; each unit is in one line."""
    kinds: list[tuple[int, ...]] = [()]
    lines: list[tuple[tuple[int, ...], Array, bool]] = []
    for cls in dict.fromkeys(wait.cls for wait in waits):
        lattice = lattices[cls]
        label = np.zeros(lattice.shape, np.int64)
        first = len(kinds)
        for number, wait in enumerate(waits):
            if wait.cls == cls:
                index = lattice.index(wait.places)
                before, inverse = np.unique(label[index], return_inverse=True)
                label[index] = len(kinds) + inverse.reshape(-1)
                kinds += [(*kinds[kind], number) for kind in before.tolist()]
        for kind in range(first, len(kinds)):
            lines += [(kinds[kind], places, whole) for places, whole in lattice.sets(label == kind)]
    lines.sort(key=lambda line: line[0][0])
    shown = [f"  {machine.describe(places, whole)}: {_together([waits[n].text for n in kind])}"
             for kind, places, whole in lines]  # fmt: skip
    if len(lines) > MAX_LINES:
        rest = sum(len(places) for _, places, _ in lines[MAX_LINES:])
        noun = "core waits" if machine.is_chip else "PE waits"
        shown[MAX_LINES:] = [f"  and {rest} more {noun if rest == 1 else noun.replace(' waits', 's wait')}"]
    return shown


def _together(texts: Sequence[str]) -> str:
    rest = len(texts) - MAX_WAITS
    return "; ".join(texts[:MAX_WAITS]) + (f"; and {rest} more wait{'s' if rest > 1 else ''}" if rest > 0 else "")
