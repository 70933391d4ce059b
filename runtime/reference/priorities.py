"""Priorities: operations on queues and FIFOs share the datapath of their PE, and some hold others back.

An operation works on an element from when it takes it, for the cycles that it costs. One of lower priority takes none
meanwhile (DSD-232). What can be held back takes its elements one by one, in the order of time; what the others work on
is known by then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from ...targets.model import LEVELS
from ..fabric.model import UNBOUNDED
from .descriptors import Wavelets
from .endings import accept
from .microthreads import Gate, gate_of
from .order import Act, Kind
from .pes import PE, Issue
from .room import room
from .sending import transmit
from .sends import Send

if TYPE_CHECKING:
    from .machine import Machine

MAX_WORKS = 64
"""Work that is remembered before that which is past is dropped."""


@dataclass(frozen=True, slots=True)
class Work:
    """Elements of an operation of some level: `count`, one every `rate` cycles from `first` on, of `cost` cycles."""

    level: int
    first: int
    rate: int
    cost: int
    count: int

    @property
    def end(self) -> int:
        """When the last element is done."""
        return self.first + (self.count - 1) * self.rate + self.cost

    def until(self, time: int) -> int:
        """Return when the element is done that is worked on at a time; the time itself if there is none."""
        if time < self.first:
            return time
        number = min((time - self.first) // self.rate, self.count - 1)
        return max(time, self.first + number * self.rate + self.cost)

    def with_next(self, other: Work) -> Work | None:
        """Return this and other work as one, if that is the same thing."""
        step = self.rate if self.count > 1 else other.first - self.first
        is_next = other.first == self.first + self.count * step and (other.count == 1 or other.rate == step)
        if (self.level, self.cost) == (other.level, other.cost) and is_next and step >= self.cost:
            return replace(self, rate=step, count=self.count + other.count)
        return None


@dataclass(eq=False, slots=True)
class Turn:
    """When an operation that can be held back looks if it may take an element."""

    level: int
    number: int
    """Of the operations of the PE the one that was issued first has the smallest."""
    gate: Gate | None
    """That of its microthread, if the program ever blocks it."""
    cycle: int | None = None
    """None while it lacks something besides."""

    def at(self, machine: Machine, pe: PE, cycle: int, act: Act) -> None:
        """Have the operation look at a cycle."""
        if self.cycle != cycle:
            self.cycle = cycle
            number = (len(LEVELS) - 1 - self.level, self.number)
            machine.order.schedule(cycle, Kind.TURN, pe.number, number, act)


@dataclass(eq=False, slots=True)
class Datapath:
    """The datapath of a PE whose operations have several `levels`, as bits, or run on microthreads that it blocks."""

    levels: int
    works: list[Work] = field(default_factory=list[Work])
    open: list[int] = field(default_factory=list[int])
    """The levels of the operations that receive, or are held back, and are not done."""
    turns: int = 0
    """The number of open operations that can be held back."""
    issued: int = 0
    most: int = MAX_WORKS
    """Works from which on those that are done are looked for."""
    looked: int = 0
    """When one of these has looked last; what was done by then is forgotten."""

    def turn(self, level: int, time: int, gate: Gate | None, *, is_async: bool) -> Turn | None:
        """Return the turns of an operation that is issued at a time; None if nothing can hold it back."""
        if gate is None and not self._can_be_held(level, time, is_async=is_async):
            return None
        self.issued += 1
        return Turn(level, self.issued, gate)

    def _can_be_held(self, level: int, time: int, *, is_async: bool) -> bool:
        """Return True if something can hold back an operation that is issued at a time.

        While a task waits for its operation it issues no other, so that what can hold that back has been issued.
        """
        if not self.levels >> level + 1:
            return False
        if is_async or self.has_open_above(level):
            return True
        return any(work.level > level and work.end > time for work in self.works)

    def has_open_above(self, level: int) -> bool:
        """Return True if operations of a higher level are not done yet, as far as is known."""
        return any(other > level for other in self.open)

    def begin(self, level: int, turn: Turn | None) -> None:
        """Note that an operation is under way."""
        self.open.append(level)
        self.turns += turn is not None

    def end(self, level: int, turn: Turn | None) -> None:
        """Note that an operation is done."""
        self.open.remove(level)
        if turn is not None:
            self.turns -= 1
            turn.cycle = None

    def note(self, work: Work, now: int) -> None:
        """Note what an operation works on; nothing begins before `now` any more."""
        if not self.levels & (1 << work.level) - 1:
            return
        if len(self.works) >= self.most and not self.turns:
            self._forget(now)
            self.most = max(MAX_WORKS, 2 * len(self.works))
        joined = self.works[-1].with_next(work) if self.works else None
        if joined is None:
            self.works.append(work)
        else:
            self.works[-1] = joined

    def look(self, time: int) -> None:
        """Note the time of the element that an operation takes: work that ended before it no longer matters."""
        self.looked = time
        self._forget(time)

    def _forget(self, time: int) -> None:
        self.works = [work for work in self.works if work.end > time]

    def free(self, turn: Turn, time: int) -> int:
        """Return the first cycle, from a time on, in which nothing of a higher level is known to be at work; what is
        not blocked may then take its turn."""
        time = max(time, self.looked, 0 if turn.gate is None else turn.gate.unblocked)
        while True:
            until = max((work.until(time) for work in self.works if work.level > turn.level), default=time)
            if until == time:
                return time
            time = until


def level_of(machine: Machine, issue: Issue) -> int:
    """Return the level of an operation, as a place in `LEVELS` (DSD-225 to DSD-227, DSD-233)."""
    return machine.priority_levels[issue.settings.priority] if issue.is_async else issue.pe.main_level


def note_work(machine: Machine, issue: Issue, first: int, rate: int, cost: int, count: int) -> None:
    """Note elements that an operation works on."""
    pe = issue.pe
    if pe.datapath is not None:
        # All that begins later does so after what the PE has done, and after what has happened everywhere.
        now = max(pe.clock if pe.frame is None else pe.now, machine.settled)
        pe.datapath.note(Work(level_of(machine, issue), first, rate, cost, count), now)


def turn_of(machine: Machine, issue: Issue) -> Turn | None:
    """Return the turns of an operation that its PE issues now; None if nothing can hold it back."""
    datapath = issue.pe.datapath
    if datapath is None:
        return None
    return datapath.turn(level_of(machine, issue), issue.pe.now, gate_of(issue), is_async=issue.is_async)


def is_shut(turn: Turn, look: Callable[[], None]) -> bool:
    """Return True if the microthread of an operation is blocked; `look` is called when it is unblocked."""
    if turn.gate is None or not turn.gate.is_blocked:
        return False
    turn.gate.waiting[turn] = look
    return True


def may_be_held(machine: Machine, issue: Issue) -> bool:
    """Return True if operations that are not done yet, as far as is known, may hold back one for which its task
    waits."""
    datapath = issue.pe.datapath
    return datapath is not None and not issue.is_async and datapath.has_open_above(level_of(machine, issue))


# Sends


@dataclass(eq=False, slots=True)
class HeldSend:
    """A send whose elements leave one by one, since operations of higher priority, or a blocked microthread, may hold
    it back.

    It leaves as an operation does that passes on what it receives: a wavelet is sent when there is room for it. It has
    read its operands when it was issued, or, if its microthread was blocked then, when that was unblocked.
    """

    send: Send
    stream: Wavelets
    read: Callable[[], list[int]]
    """Reads its operands."""
    count: int
    """Its elements."""
    time: int
    """When it is ready for the next element."""
    rate: int
    ending: int
    """Cycles from when it has sent its last element to its end."""
    turn: Turn
    payload: list[int] = field(default_factory=list[int])
    """What it sends, once it has read that."""
    position: int = 0
    credit: int = 0
    """When there was room for the last wavelet: it does not end before."""

    def begin(self, machine: Machine) -> None:
        """Begin to send, or have that done when the microthread is unblocked."""
        datapath, gate = self.send.issue.pe.datapath, self.turn.gate
        assert datapath is not None
        datapath.begin(self.turn.level, self.turn)
        if gate is not None and gate.is_blocked:
            gate.beginning.append(self._read)
        else:
            self._read()
        self._await_turn(machine)

    def _read(self) -> None:
        self.payload = self.read()

    def _ready(self, machine: Machine) -> int | None:
        """Return the earliest cycle in which it may send its next element; None if there is no room for it."""
        if is_shut(self.turn, partial(self._await_turn, machine)):
            return None
        found = room(self.send.queue.paths, UNBOUNDED, [(-UNBOUNDED, 0)], partial(self._await_turn, machine))
        datapath = self.send.issue.pe.datapath
        if not found.count or datapath is None:
            return None
        self.credit = found.first
        return datapath.free(self.turn, max(self.time, found.first - machine.timing.inject))

    def _await_turn(self, machine: Machine) -> None:
        cycle = self._ready(machine)
        if cycle is not None:
            self.turn.at(machine, self.send.issue.pe, cycle, partial(self._take_turn, machine))

    def _take_turn(self, machine: Machine, cycle: int) -> None:
        if self.turn.cycle != cycle:
            return
        self.turn.cycle = None
        if self._ready(machine) != cycle:
            self._await_turn(machine)
            return
        issue, datapath = self.send.issue, self.send.issue.pe.datapath
        assert datapath is not None
        datapath.look(cycle)
        elements = self.payload[self.position : self.position + self.stream.lanes]
        self.position += len(elements)
        is_last = self.position == self.count
        if self.turn.gate is not None and self.turn.gate.unblocked == cycle:
            self.send.blocked += cycle - self.time
        note_work(machine, issue, cycle, self.rate, self.rate, len(elements))
        with machine.at_cycle(cycle):
            transmit(machine, issue, self.stream, elements, cycle + machine.timing.inject, self.rate, last=is_last)
        self.time = cycle + len(elements) * self.rate
        if is_last:
            datapath.end(self.turn.level, self.turn)
            accept(machine, self.send, max(self.time + self.ending, self.credit))
        else:
            self._await_turn(machine)
        machine.deliver()
