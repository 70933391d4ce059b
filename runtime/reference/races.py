"""Races: accesses to memory that asynchronous operations in flight read or write.

The tasks of a PE are one thread, and an operation that is asynchronous is another from its issue to its end. An access
of the thread of tasks races with it if it comes before that end, in time, or if nothing can have told the tasks of the
end: since the issue no task has started that a wavelet, the end of an operation or a host starts, and no task has
waited for wavelets. What comes later is left alone even where the program does not wait for the end itself, since
wavelets of other PEs may say that it has come.

They cannot of a receive into memory that nobody waits for: no other operation, and no other PE, sees its end. Only what
comes behind it in its queue does, a wavelet that starts a task or that another operation takes; and a host may know of
it otherwise, so a launch counts, as do control wavelets. Until then all accesses race with it, also where it happens to
have ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..fabric.command_words import command_words
from ..fabric.model import UNBOUNDED
from ..findings import EARLIER_WRITES, LATER_IS_ASYNC, LATER_WRITES, Code
from ..tables.format import COMPLETION_ACTIVATES, COMPLETION_UNBLOCKS, NONE, TASK_TYPES
from ..unwritten import Unwritten
from .descriptors import Descriptor, FifoEnd, Walk, Wavelets
from .elements import Operand, zeroed_place
from .microthreads import gate_of
from .pes import PE, Issue
from .tasks import NEVER, Task

if TYPE_CHECKING:
    from .machine import Machine


class Range(NamedTuple):
    """Words of memory that an operand touches."""

    words: frozenset[int]
    writes: bool
    is_fifo: bool = False
    """True for the memory of a FIFO, which two operations on it use at once."""


class Late(NamedTuple):
    """An access while an operation was in flight whose end was not known: its finding."""

    cycle: int
    code: int
    where: int
    record: Any


@dataclass(eq=False, slots=True)
class Flight:
    """An asynchronous operation, from its issue until its end is seen."""

    issue: Issue
    ranges: list[Range]
    """None while its microthread has been blocked since its issue."""
    joins: int
    """Of its PE when it was issued, or when its microthread, which was blocked then, was unblocked."""
    registers: frozenset[tuple[int, int]]
    """Its data structure registers: file and number."""
    fills: bool = False
    """True if it receives into memory."""
    alone_on: int | None = None
    """The queue that it receives from if it fills memory, nobody waits for it, and nothing has come behind it."""
    done: int = NEVER
    """When it ends, NEVER if that is not known."""
    late: list[Late] = field(default_factory=list[Late])

    def keep(self, late: Late) -> None:
        """Keep an access until the end is known: of each place the first."""
        if not any(each[1:3] == late[1:3] and each.cycle < late.cycle for each in self.late):
            self.late.append(late)


class Races:
    """What is in flight on the PEs of a machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._flights: dict[int, list[Flight]] = {}
        """By PE, in the order of their issue."""
        self._words: list[int] = command_words(machine.fabric.tables).tolist()
        self.unwritten = Unwritten(machine.fabric)
        self._unblocked: dict[int, tuple[int, int]] = {}
        """Where each PE has let its host go on since its last launch, and the task that did it."""
        self._joins: Counter[int] = Counter()
        """What the tasks of each PE may have learnt from outside: starts of tasks that wavelets, completions and hosts
        cause, and ends of operations that take wavelets and that tasks wait for."""

    def start(self, pe: PE, task: Task, begin: int) -> None:
        """Note that a task starts: one that only instructions of its PE activate has learnt nothing from outside.

        Find operations in flight whose ends unblock it.
        """
        for flight in self._flights.get(pe.number, ()) if task.row.flags & COMPLETION_UNBLOCKS else ():
            user = flight.issue.user
            if flight.issue.settings.unblock == task.number and flight.done > begin:
                values = (user.operation, user.task, user.where)
                record = self._machine.finding(pe, Code.STARTS_UNBLOCKED, task.row.where, *values)
                record["task"], record["cycle"] = task.number, begin
                if flight.done == NEVER:
                    flight.keep(Late(begin, Code.STARTS_UNBLOCKED, task.row.where, record))
                else:
                    self._machine.note_warning(record)
        if task.row.type != TASK_TYPES.index("local"):
            is_data = task.row.type == TASK_TYPES.index("data")
            self._comes_behind(pe, task.queue.number if is_data and task.queue is not None else None)
        is_completed = task.row.flags & (COMPLETION_ACTIVATES | COMPLETION_UNBLOCKS)
        if task.row.type != TASK_TYPES.index("local") or is_completed:
            self._joins[pe.number] += 1
        if task.row.type == TASK_TYPES.index("launch"):
            self._unblocked.pop(pe.number, None)

    def _comes_behind(self, pe: PE, queue: int | None) -> None:
        """Note that a wavelet is taken behind the receives from a queue; None: that any receive may be known to end."""
        for flight in self._flights.get(pe.number, ()):
            if queue is None or flight.alone_on == queue:
                flight.alone_on = None

    def element(self, pe: PE, address: int, size: int, where: int, *, writes: bool) -> None:
        """Find an element that scalar code accesses while an operation in flight uses it."""
        words = range(address // 2, (address + size + 1) // 2)
        if writes:
            self._write(pe, words)
        else:
            word = self._first_unwritten(pe, words)
            if word is not None:
                self._machine.warn(pe, Code.READS_UNWRITTEN, where, word, NONE)
        flights = self._flights.get(pe.number)
        if flights:
            access = Range(frozenset(words), writes)
            note = partial(self._machine.finding, pe, Code.USED_IN_FLIGHT, where)
            for flight in flights:
                self._meet(flight, access, NONE, note, pe, is_async=False)
        if writes and address // 2 == self._words[pe.cls.number]:
            self._unblocks(pe, flights or (), where)

    def _first_unwritten(self, pe: PE, words: Iterable[int]) -> int | None:
        """Return the first of some words that nothing has written, or None."""
        shadow, first = self.unwritten.words[pe.cls.number][pe.unit], int(self.unwritten.first[pe.cls.number])
        return min((word for word in words if 0 <= word - first < len(shadow) and shadow[word - first]), default=None)

    def _write(self, pe: PE, words: Iterable[int]) -> None:
        """Note that words are written."""
        shadow, first = self.unwritten.words[pe.cls.number][pe.unit], int(self.unwritten.first[pe.cls.number])
        for word in words:
            if 0 <= word - first < len(shadow) and shadow[word - first]:
                shadow[word - first] = 0
                self.unwritten.left[pe.cls.number][pe.unit] -= 1

    def _note_written(self, issue: Issue, destination: Descriptor, sources: Sequence[Operand], count: int) -> None:
        """Find elements that an operation reads and nothing has written, and note those that it writes.

        It counts as done at its issue: who reads what it still receives is found otherwise. One that a control wavelet
        ends may read less.
        """
        for walk in () if issue.settings.on_control else sources:
            word = self._first_unwritten(issue.pe, _words(walk, count)) if isinstance(walk, Walk) else None
            if word is not None:
                assert isinstance(walk, Walk)
                code = Code.SUMS_UNWRITTEN if _is_same(walk, destination) else Code.READS_UNWRITTEN
                self._machine.warn_of(issue, code, word, issue.operation.number)
                break
        if isinstance(destination, Walk) and not issue.operation.drops_data:
            self._write(issue.pe, _words(destination, count))

    def _unblocks(self, pe: PE, flights: Sequence[Flight], where: int) -> None:
        """Find operations that still receive into memory when a PE lets its host go on, which may read that; and that
        it has done so before in the same launch.

        Operations that end only when the host has done more are left alone.
        """
        first = self._unblocked.get(pe.number)
        if first is None:
            self._unblocked[pe.number] = where, NONE if pe.task is None else pe.task.number
        else:
            self._machine.warn(pe, Code.UNBLOCKS_AGAIN, where, *first)
        for flight in flights:
            user = flight.issue.user
            record = self._machine.finding(pe, Code.UNBLOCKS_EARLY, user.where, user.operation, user.task, where)
            record["cycle"] = pe.now
            if flight.fills and flight.done == NEVER:
                flight.keep(Late(pe.now, Code.UNBLOCKS_EARLY, user.where, record))
            elif flight.fills and flight.done > pe.now:
                self._machine.note_warning(record)

    def issue(
        self,
        issue: Issue,
        destination: Descriptor,
        sources: Sequence[Operand],
        count: int,
        registers: Iterable[tuple[int, int]],
        *,
        receives: bool,
    ) -> Flight | None:
        """Find operands of an operation, at its issue, that others in flight use; return it if it is in flight now.

        `registers` hold some of the operands.
        """
        pe = issue.pe
        uses_fabric = receives or isinstance(destination, Wavelets)
        is_async = issue.is_async and uses_fabric
        joins = self._joins[pe.number]
        queues = [source.queue for source in sources if isinstance(source, Wavelets)]
        for queue in queues:
            self._comes_behind(pe, queue)
        flights = [each for each in self._flights.get(pe.number, ()) if not self._is_over(each, pe)]
        self._flights[pe.number] = flights
        gate = gate_of(issue)
        begins = not (is_async and gate is not None and gate.is_blocked)
        if begins and self.unwritten.left[pe.cls.number][pe.unit]:
            self._note_written(issue, destination, sources, count)
        zeroed = zeroed_place(destination, sources)
        ranges: list[Range] = []
        for place, operand in enumerate((destination, *sources) if count and count != UNBOUNDED else ()):
            if isinstance(operand, Walk):
                ranges.append(Range(_words(operand, count), place == 0 or place - 1 == zeroed))
            elif isinstance(operand, FifoEnd):
                # Which places of it an operation uses is known to the FIFO alone.
                fifo = pe.fifos[operand.fifo]
                words = frozenset(range(fifo.address, fifo.address + fifo.elements * fifo.width))
                ranges.append(Range(words, place == 0, is_fifo=True))
        if begins:
            self._compare(issue, flights, ranges, is_async=is_async)
        if is_async:
            fills = receives and isinstance(destination, Walk) and bool(ranges)
            how = issue.settings
            alone = fills and bool(queues) and how.activate is how.unblock is None and not how.on_control
            made = Flight(
                issue, ranges if begins else [], joins, frozenset(registers), fills, queues[0] if alone else None
            )
            flights.append(made)
            if gate is not None and not begins:
                gate.beginning.append(partial(self._begin, made, ranges, destination, sources, count))
            return made
        self._joins[pe.number] += receives  # its task waits for what comes
        return None

    def _compare(self, issue: Issue, flights: Iterable[Flight], ranges: Sequence[Range], *, is_async: bool) -> None:
        note = partial(self._machine.finding, issue.pe, Code.USED_IN_FLIGHT, issue.user.where)
        for flight in flights:
            for access in ranges:
                self._meet(flight, access, issue.operation.number, note, issue.pe, is_async=is_async)

    def _begin(
        self, flight: Flight, ranges: list[Range], destination: Descriptor, sources: Sequence[Operand], count: int
    ) -> None:
        """Let an operation begin to use its memory that was issued while its microthread was blocked, which the tasks
        unblock now."""
        pe = flight.issue.pe
        if self.unwritten.left[pe.cls.number][pe.unit]:
            self._note_written(flight.issue, destination, sources, count)
        others = [each for each in self._flights[pe.number] if each is not flight]
        self._compare(flight.issue, others, ranges, is_async=True)
        flight.ranges, flight.joins = ranges, self._joins[pe.number]

    def load(self, pe: PE, register: tuple[int, int], where: int) -> None:
        """Find operations in flight that use a register, by its file and number, which is loaded again."""
        for flight in self._flights.get(pe.number, ()):
            is_certain = flight.joins == self._joins[pe.number]
            if register not in flight.registers or (flight.done <= pe.now and not is_certain):
                continue
            user = flight.issue.user
            values = (user.operation, user.task, user.where, *register)
            record = self._machine.finding(pe, Code.RELOADED_IN_FLIGHT, where, *values)
            record["cycle"] = pe.now
            if flight.done < NEVER or is_certain:
                self._machine.note_warning(record)
            else:
                flight.keep(Late(pe.now, Code.RELOADED_IN_FLIGHT, where, record))

    def _is_over(self, flight: Flight, pe: PE) -> bool:
        """Return True if an operation has ended, as the tasks may know."""
        return flight.done <= pe.now and flight.joins != self._joins[pe.number] and flight.alone_on is None

    def _meet(self, flight: Flight, access: Range, later: int, note: Any, pe: PE, *, is_async: bool) -> None:
        if self._is_over(flight, pe):
            return
        is_certain = flight.joins == self._joins[pe.number] or flight.alone_on is not None
        earlier = flight.issue.user
        for used in flight.ranges:
            common = used.words & access.words
            if not common or not (used.writes or access.writes) or (used.is_fifo and access.is_fifo):
                continue
            bits = access.writes * LATER_WRITES | used.writes * EARLIER_WRITES | is_async * LATER_IS_ASYNC
            record = note(earlier.operation, earlier.task, earlier.where, min(common), bits, later)
            record["cycle"] = pe.now
            late = Late(pe.now, Code.USED_IN_FLIGHT, int(record["where"]), record)
            if flight.done < NEVER or is_certain:
                self._machine.note_warning(record)
            else:
                flight.keep(late)

    def end(self, flight: Flight, done: int) -> None:
        """Note when an operation ends."""
        flight.done = done
        for late in flight.late:
            if late.cycle < done:
                self._machine.note_warning(late.record)
        flight.late.clear()

    def rest(self, until: int) -> None:
        """Find accesses up to a cycle during operations that are in flight when all has happened up to there."""
        for flights in self._flights.values():
            for flight in flights:
                kept: list[Late] = []
                for late in flight.late:
                    if late.cycle > until or (late.code == Code.UNBLOCKS_EARLY and until < NEVER):
                        kept.append(late)
                    elif late.code != Code.UNBLOCKS_EARLY:
                        self._machine.note_warning(late.record)
                flight.late = kept


def _is_same(walk: Walk, other: Descriptor) -> bool:
    return isinstance(other, Walk) and walk._replace(buffer=None) == other._replace(buffer=None)


def _words(walk: Walk, count: int) -> frozenset[int]:
    if walk.places is None:
        # It begins again behind the last.
        count = min(count, 1 if walk.repeats else walk.length if not walk.is_line else count)
    return frozenset(word + k for word in walk.words(0, count) for k in range(walk.width))
