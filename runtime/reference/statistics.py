"""Statistics of a run: what PEs did with their cycles, wavelets in queues and on links; see docs/statistics.md.

An element waits from when its operation is ready for it until it is taken. It waits for the queue whose wavelet, or
credit, is the last to be there; of several in one cycle for the first of the operation's operands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ..statistics.counts import Counts, Place
from .descriptors import Wavelets
from .microthreads import gate_of
from .pes import PE, Issue
from .queues import InputQueue, OutputQueue, Run
from .tasks import Task
from .trace import fifo_end

if TYPE_CHECKING:
    from .machine import Machine
    from .receiving import OpenOperation
    from .sends import Send

AnyQueue: TypeAlias = InputQueue | OutputQueue


@dataclass(eq=False, slots=True)
class Fill:
    """How many wavelets are in a queue: each from the cycle in which it is there to that in which it is taken.

    Both are in the order of the queue: one that is there before another is taken from it before.
    """

    takes: deque[int] = field(default_factory=deque[int])
    """When those were taken that may have been in it when the next one came."""
    last_there: int = 0
    last_taken: int = 0

    def take(self, there: int, taken: int) -> tuple[int, int]:
        """Note when a wavelet was there, and was taken; return how many there were with it, and when it came."""
        self.last_there = there = max(there, self.last_there)
        self.last_taken = taken = max(taken, self.last_taken, there)
        self.takes.append(taken)
        while self.takes and self.takes[0] <= there:
            self.takes.popleft()
        return len(self.takes), there

    def left(self, runs: Sequence[Run]) -> tuple[int, int]:
        """Return the most that there were with one of those which nothing has taken, and when it came."""
        most, when, there, count = 0, 0, self.last_there, 0
        for run in runs:
            for number in range(run.taken, len(run.payload)):
                there = max(there, run.first + number * run.rate)
                count += 1
                fill = count + sum(taken > there for taken in self.takes)
                if fill > most:
                    most, when = fill, there
        return most, when


class Statistics:
    """Adds to counters what happens on a machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._counts = Counts.of(machine.fabric)
        self._fills: dict[InputQueue, Fill] = {}
        self._switched = {color: number for number, color in enumerate(machine.switched)}

    # Where counters are

    def _cell(self, pe: PE, queue: AnyQueue) -> int:
        layout, cls = self._counts.layout, pe.cls.number
        return int(layout.first[cls]) + pe.unit * int(layout.width[cls]) + layout.number[cls][_place(pe, queue)]

    # Tasks

    def starts(self, pe: PE, task: Task, begin: int) -> None:
        """Note that a task is picked at a cycle, on a PE that was free since it ended its last one."""
        self._counts.pes["idle"][pe.number] += begin - pe.clock
        self.computes(task.row.where, self._machine.timing.task_start)

    def computes(self, where: int, cycles: int) -> None:
        """Note cycles in which a task computes."""
        self._counts.lines["cycles"][where] += cycles

    def steps(self, where: int) -> None:
        """Note a step."""
        self._counts.lines["steps"][where] += 1

    # Operations

    def issues(self, issue: Issue) -> None:
        """Note that an operation is issued."""
        self._counts.lines["issued"][issue.user.where] += 1

    def works(self, issue: Issue, cycles: int, elements: int) -> None:
        """Note the cycles of some elements of an operation."""
        where = issue.user.where
        if issue.is_async:
            self._counts.pes["background"][issue.pe.number] += cycles
        else:
            self._counts.lines["cycles"][where] += cycles
        self._counts.lines["elements"][where] += elements

    def waits(self, issue: Issue, queue: AnyQueue, ready: int, until: int, rate: int = 1) -> None:
        """Note that an element waits for a queue; its operation is ready for the next one `rate` cycles later."""
        cell, cycles = self._cell(issue.pe, queue), until - ready
        if self._machine.trace is not None:
            self._machine.trace.waits(issue, _number(issue.pe, queue), ready, until, rate)
        if issue.is_async:
            self._counts.cells["waited_in_background"][cell] += cycles
        else:
            self._counts.cells["waited"][cell] += cycles
            self._counts.lines["waited"][issue.user.where] += cycles

    def waits_blocked(self, issue: Issue, ready: int, until: int) -> None:
        """Note that an element waits for its microthread to be unblocked."""
        if self._machine.trace is not None:
            self._machine.trace.waits_blocked(issue, ready, until)
        self._counts.pes["blocked"][issue.pe.number] += until - ready

    def reaches(self, issue: Issue, time: int) -> None:
        """Note how far an operation is that its task waits for."""
        if not issue.is_async:
            self._counts.pes["reached"][issue.pe.number] = time

    def works_in_memory(self, issue: Issue, cycles: int, elements: int) -> None:
        """Note an operation on memory, which its task waits for."""
        self.computes(issue.user.where, cycles)
        self._counts.lines["elements"][issue.user.where] += elements

    # Sending

    def sends(self, send: Send, cycles: int, count: int) -> None:
        """Note a send of some elements, and its cycles if nothing holds it back."""
        issue = send.issue
        self.works(issue, cycles, count)
        if issue.is_async:
            self.computes(issue.user.where, self._machine.timing.async_issue)
        self.reaches(issue, send.unheld)

    def sent(self, send: Send) -> None:
        """Note the end of a send, which full ways may have held back."""
        if send.done > send.unheld:
            until = min(send.unheld + send.blocked, send.done)
            if until > send.unheld:
                self.waits_blocked(send.issue, send.unheld, until)
            if send.done > until:
                self.waits(send.issue, send.queue, until, send.done)
            self.reaches(send.issue, send.done)

    def leaves(self, pe: PE, queue: OutputQueue, count: int, ignored: int, first: int, rate: int) -> None:
        """Note wavelets that leave an output queue, some of which are not for compute engines."""
        cell = self._cell(pe, queue)
        if self._machine.trace is not None:
            self._machine.trace.leaves(pe, queue.number, count, first, rate)
        self._counts.cells["sent"][cell] += count
        self._counts.cells["ignored"][cell] += ignored

    def passes(self, color: int, pe: int, port: int, count: int) -> None:
        """Note wavelets of a color with switches that leave a router by a port."""
        self._counts.routers[self._switched[color], pe, port] += count

    def carries(self, network: int, pe: int, port: int, count: int) -> None:
        """Note wavelets of a message that take a link."""
        self._counts.messages[network, pe, port] += count

    # Receiving

    def receives(self, issue: Issue, setup: int, ready: int) -> None:
        """Note that an operation on queues is issued; it is ready for the first element at a cycle."""
        timing = self._machine.timing
        self.computes(issue.user.where, timing.async_issue if issue.is_async else setup)
        self.reaches(issue, ready)

    def feeds(
        self, operation: OpenOperation, runs: Sequence[Run], count: int, begin: int, rate: int,
        lanes: Sequence[int],
    ) -> None:  # fmt: skip
        """Note elements that an operation takes: one every `rate` cycles from `begin` on; each run has so many in a
        wavelet."""
        issue, ready = operation.issue, operation.time
        self.works(issue, count * operation.rate, count)
        for number in range(count):
            taken = begin + number * rate
            if taken > ready:
                awaited = self._awaited(operation, number, taken)
                if awaited is None:
                    self.waits_blocked(issue, ready, taken)
                else:
                    self.waits(issue, awaited, ready, taken, operation.rate)
            ready = taken + operation.rate
        self.reaches(issue, ready)
        for queue, run, each in zip(operation.queues, runs, lanes, strict=True):
            self.takes(issue.pe, queue, run, -(-count // each), begin, rate * each)

    def _awaited(self, operation: OpenOperation, number: int, taken: int) -> AnyQueue | None:
        """Return the queue whose wavelet was the last to be there for the element of a number; None if that came before
        its microthread was unblocked."""
        for place, queue in enumerate(operation.queues):
            first, rate = operation.line(place)
            if first + number * rate == taken:
                return queue
        gate = gate_of(operation.issue)
        return None if gate is not None and gate.unblocked == taken else self._held_by(operation)

    def _held_by(self, operation: OpenOperation) -> AnyQueue:
        """Return what an operation waits for that waits for no wavelet: its output queue, or its turn."""
        destination = operation.destination
        if isinstance(destination, Wavelets):
            return operation.issue.pe.outputs[destination.queue]
        return operation.queues[0]

    def takes_one(self, operation: OpenOperation, queue: InputQueue, run: Run, time: int, taken: int) -> None:
        """Note a wavelet that is not an element: an operation that is ready for it, or was, takes it then."""
        if time > operation.time:
            self.waits(operation.issue, queue, operation.time, time, operation.rate)
        self.works(operation.issue, operation.rate, 0)
        self.reaches(operation.issue, time + operation.rate)
        self.takes(operation.issue.pe, queue, run, 1, taken, 1)

    def stops(self, operation: OpenOperation, time: int) -> None:
        """Note that an operation ends because a FIFO has nothing for it when all else is there."""
        if time <= operation.time:
            return
        for queue, side in zip(operation.queues, operation.sides, strict=True):
            if side is None and queue.head_time(to_read=True) == time:
                self.waits(operation.issue, queue, operation.time, time, operation.rate)
                break
        else:
            self.waits(operation.issue, self._held_by(operation), operation.time, time, operation.rate)
        self.reaches(operation.issue, time)

    def takes(self, pe: PE, queue: InputQueue, run: Run, count: int, time: int, rate: int) -> None:
        """Note that the next wavelets of a run are taken, one every `rate` cycles from a time on."""
        if _place(pe, queue).kind != "input":
            return  # an end of a FIFO
        cell = self._cell(pe, queue)
        self._counts.cells["taken"][cell] += count
        if self._machine.trace is not None:
            self._machine.trace.takes(pe, queue.number, count, time, rate)
        fill = self._fills.setdefault(queue, Fill())
        for number in range(count):
            most, when = fill.take(run.head_time + number * run.rate, time + number * rate)
            if most > self._counts.cells["peak"][cell]:
                self._counts.cells["peak"][cell], self._counts.cells["peak_cycle"][cell] = most, when

    def takes_at_host(self, pe: int, sink: int, count: int) -> None:
        """Note that the host takes wavelets of a stream."""
        self._counts.cells["taken"][self._cell(self._machine.pes[pe], self._machine.queue(pe, sink))] += count

    # Reading

    def counts(self) -> Counts:
        """Return the counters as they are now, with how far PEs are and what is left in queues."""
        counts, machine = self._counts.copy(), self._machine
        for pe in machine.pes.values():
            own = max(pe.now, int(counts.pes["reached"][pe.number])) if pe.frame is not None else pe.clock
            counts.pes["reached"][pe.number] = own
            for queue in pe.inputs.values():
                cell = self._cell(pe, queue)
                most, when = self._fills.get(queue, Fill()).left(queue.runs)
                if most > counts.cells["peak"][cell]:
                    counts.cells["peak"][cell], counts.cells["peak_cycle"][cell] = most, when
        return counts


def _number(pe: PE, queue: AnyQueue) -> int:
    """Return a queue, or an end of a FIFO, as records of a trace have it."""
    kind, row = _place(pe, queue)
    return fifo_end(row, reads=kind == "fifo read") if kind.startswith("fifo") else row


def _place(pe: PE, queue: AnyQueue) -> Place:
    if isinstance(queue, OutputQueue):
        return Place("output", queue.number)
    fifo = pe.fifos.get(queue.number)
    if fifo is not None and queue is fifo.reading.queue:
        return Place("fifo read", fifo.number)
    if fifo is not None and queue is fifo.writing.queue:
        return Place("fifo write", fifo.number)
    return Place("input" if queue.number in pe.inputs else "to host", queue.number)
