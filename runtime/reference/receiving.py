"""Receiving: operations that take wavelets of queues, or elements and places of FIFOs, as they come.

An operation takes runs as they are in its queues: of one run for each queue as many elements as all have, each when
it is ready and they are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from ...operations.float_exceptions import raises
from ...targets.wavelets import CONTROL_MARK, ENDLESS_EXTENT, WORD_MASK
from ..fabric.model import UNBOUNDED
from ..findings import Code
from .arithmetic import WIDE, bits_of
from .credits import Takes
from .descriptors import Descriptor, FifoEnd, Held, Walk, Wavelets
from .elements import Operand, compute, set_to_zero
from .endings import resume, signal, taken
from .faults import Fault
from .fifos import Side, places
from .order import Kind
from .pes import Issue
from .priorities import Turn, is_shut, level_of, note_work, turn_of
from .queues import InputQueue, Run
from .resources import Resource
from .room import room, room_at_once
from .sending import transmit, unpacked
from .tasks import NEVER
from .walks import is_inside

if TYPE_CHECKING:
    from .machine import Machine
    from .races import Flight


@dataclass(eq=False, slots=True)
class OpenOperation:
    """An operation under way that reads queues or FIFOs, or writes a FIFO.

    `position` of `count` elements are done; it is ready for the next at `time`, and `rate` cycles after each.
    """

    issue: Issue
    queues: list[InputQueue]
    """What it takes from: of its sources, in their order, and of a FIFO that is its destination."""
    sides: list[Side | None]
    """For each of these the end of a FIFO it belongs to, if the operation ends where that has nothing for it."""
    ends: list[Side | None]
    """For each of these the end of a FIFO it belongs to."""
    destination: Descriptor
    sources: list[Operand]
    count: int
    since: int
    """When it was issued."""
    time: int
    rate: int
    resources: list[Resource]
    steps: list[int]
    """For each queue how many elements it takes at once: of a FIFO, as its SIMD mode and wavelets of two values say
    (DSD-146); it goes on when there are as many, or all that it still wants."""
    pairs: list[bool]
    """For each queue if its wavelets are taken two by two (DSD-241)."""
    moving: list[Held]
    """The registers that move on behind what it has done."""
    header: bool
    """True if it takes a message whose header has not come: `count` is the most that there is room for."""
    flight: Flight | None = None
    """It, if it is asynchronous and races are looked for."""
    position: int = 0
    by_control: bool = False
    """True if a control wavelet has ended it."""
    stopped: bool = False
    """True if it has ended because a FIFO had nothing for it, and says so."""
    has_failed: bool = False
    """True if it has met an error: it takes nothing any more."""
    waits_until: int | None = None
    """The end of the epoch for which it waits, if it has to."""
    limit: int = 0
    """Elements that it may pass on, if steps are limited, by the limit of number `limit_number`."""
    limit_number: int = 0
    half: int | None = None
    """The first of the two values of a wavelet that it sends, if the other is still to come."""
    before: int | None = None
    """What a scalar destination held before, if it is to get that back then."""
    polls_at: int | None = None
    """When it looks at a FIFO that may have nothing for it; None while it waits."""
    polled: Side | None = field(default=None)
    """That FIFO's end."""
    credits: Takes | None = None
    """For how many elements that it sends there is room, and when the credits are back."""
    turn: Turn | None = None
    """When it looks if it may take an element, if operations of higher priority may hold it back."""

    def has(self, place: int) -> bool:
        """Return True if a queue has what the operation takes at once."""
        queue, step = self.queues[place], self.steps[place]
        if step > 1:
            return queue.gather(min(step, max(self.count - self.position, 1)))
        return bool(queue.runs) and self.ready_time(place) < NEVER

    def there(self, place: int) -> int:
        """Return when a queue has what the operation takes at once, NEVER if nothing says so yet."""
        return self.ready_time(place) if self.has(place) else NEVER

    def ready_time(self, place: int) -> int:
        """Return when the first wavelet of a queue, or element of a FIFO, may be taken: if wavelets are taken in pairs,
        when the second one is there too (DSD-241); NEVER if that has not come."""
        runs = self.queues[place].runs
        if not self.begins_pair(place):
            return runs[0].head_time
        if runs[0].remaining > 1:
            return runs[0].head_time + runs[0].rate
        return max(runs[0].head_time, runs[1].head_time) if len(runs) > 1 else NEVER

    def begins_pair(self, place: int) -> bool:
        """Return True if the first wavelet of a queue is the first of two that are taken together."""
        lanes = self.lanes_of(place)
        ends = self.issue.settings.on_control and self.queues[place].runs[0].control
        is_last = self.count - self.position <= lanes
        return self.pairs[place] and self.position // lanes % 2 == 0 and not is_last and not ends

    def at_once(self, place: int) -> int:
        """Return how many wavelets of the first run of a queue it may take when it takes the next one."""
        run = self.queues[place].runs[0]
        if not self.pairs[place]:
            return run.remaining
        if not self.begins_pair(place) or run.remaining == 1:
            return 1
        if run.rate > self.rate * self.lanes_of(place):
            return 2
        is_all = run.remaining * self.lanes_of(place) >= self.count - self.position
        return run.remaining if is_all else run.remaining - run.remaining % 2

    def line(self, place: int) -> tuple[int, int]:
        """Return when the next element of a queue may be taken, and the cycles until the one behind it may."""
        run = self.queues[place].runs[0]
        if self.pairs[place]:
            return self.ready_time(place), self.rate
        return run.head_time, max(self.rate, -(-run.rate // self.lanes_of(place)))

    @property
    def together(self) -> int:
        """How many elements it takes at once."""
        return max([*self.lanes, *self.steps])

    def lanes_of(self, place: int) -> int:
        """Return how many elements a wavelet of a queue carries; of a FIFO one."""
        return 1 if self.ends[place] is not None else max(self.lanes, default=1)

    @property
    def is_polling(self) -> bool:
        """True if it ends where a FIFO has nothing for it."""
        return any(side is not None for side in self.sides)

    @property
    def holds_task(self) -> bool:
        """True if its task waits for it."""
        return not self.issue.is_async

    @property
    def lanes(self) -> set[int]:
        """How many values each wavelet, or element of a FIFO, carries that it takes."""
        return {source.lanes for source in self.sources if isinstance(source, Wavelets | FifoEnd)}


# Issue


def receive(
    machine: Machine, issue: Issue, destination: Descriptor, sources: list[Operand], count: int, setup: int,
    rate: int, moving: list[Held], flight: Flight | None,
) -> bool:  # fmt: skip
    """Start an operation that receives, from `setup` cycles on; return False if its task has to wait for it."""
    pe, settings = issue.pe, issue.settings
    operation = OpenOperation(
        issue, [], [], [], destination, sources, count, pe.now, pe.now + setup, rate, [], [], [], moving,
        any(isinstance(source, Wavelets) and source.message for source in sources), flight,
    )  # fmt: skip
    _open_queues(machine, operation)
    if len(operation.lanes) > 1:
        machine.fail_of(issue, Code.RECEIVES_MIXED_LANES, issue.operation.number)
    operation.resources = [queue.resource for queue in operation.queues]
    if isinstance(destination, Wavelets):
        operation.resources.append(pe.outputs[destination.queue].resource)
    if settings.microthread is not None:
        operation.resources.append(machine.thread(pe, settings.microthread))
    for resource in operation.resources:
        resource.use(issue.user, pe.now, NEVER)
    if machine.statistics is not None:
        machine.statistics.receives(issue, setup, operation.time)
    operation.turn = turn_of(machine, issue)
    if pe.datapath is not None:
        pe.datapath.begin(level_of(machine, issue), operation.turn)
    if settings.is_async:
        pe.now += machine.timing.async_issue
        post(machine, operation)
        deliver(machine)
        return True
    return _receive_now(machine, operation)


def _open_queues(machine: Machine, operation: OpenOperation) -> None:
    """Find the queues that an operation takes from, in the order of its sources, and those that it may not."""
    issue, pe = operation.issue, operation.issue.pe
    sides: list[Side | None] = []
    for source in operation.sources:
        if isinstance(source, FifoEnd):
            sides.append(pe.fifos[source.fifo].reading)
            operation.pairs.append(False)
            operation.queues.append(pe.fifos[source.fifo].reading.queue)
        elif isinstance(source, Wavelets):
            queue = pe.inputs[source.queue]
            if queue in operation.queues:
                machine.fail_of(issue, Code.RECEIVES_TWICE, issue.operation.number, queue.number)
            machine.check_awaited(issue, queue)
            sides.append(None)
            operation.pairs.append(source.in_pairs and not source.message and not issue.operation.drops_data)
            operation.queues.append(queue)
    if isinstance(operation.destination, FifoEnd):
        sides.append(pe.fifos[operation.destination.fifo].writing)
        operation.pairs.append(False)
        operation.queues.append(pe.fifos[operation.destination.fifo].writing.queue)
    together = max(operation.lanes, default=1)
    operation.ends = sides
    operation.steps = [1 if side is None else max(side.step, together) for side in sides]
    operation.sides = [None if side is None or side.waits(is_async=issue.is_async) else side for side in sides]


def _receive_now(machine: Machine, operation: OpenOperation) -> bool:
    """Run an operation that its task waits for; return False if that has to wait."""
    pe = operation.issue.pe
    if _proceed(machine, operation):
        _close(machine, operation)
        pe.now = operation.time
        _set_result(operation)
        deliver(machine)
        return True
    _wait(machine, operation)
    deliver(machine)
    return False


def _set_result(operation: OpenOperation) -> None:
    """Say in the task's register that an operation has not been completed."""
    frame, result = operation.issue.pe.frame, operation.issue.result
    if operation.stopped and result is not None and frame is not None:
        frame.registers[result] = 0


# Waiting


def post(machine: Machine, operation: OpenOperation) -> None:
    """Let an operation take what is there, and wait for the rest."""
    if _proceed(machine, operation):
        _complete(machine, operation)
    else:
        _wait(machine, operation)


def _wait(machine: Machine, operation: OpenOperation) -> None:
    for queue in operation.queues:
        queue.waiting.append(operation)
    _look_later(machine, operation)


def _look_later(machine: Machine, operation: OpenOperation) -> None:
    """Have an operation look at a FIFO when it is ready for that, if it has to."""
    if operation.polls_at is not None:
        machine.order.schedule(
            operation.polls_at, Kind.POLL, operation.issue.pe.number, (),
            lambda cycle: _give_up(machine, operation, cycle),
        )  # fmt: skip


def _leave(operation: OpenOperation) -> None:
    for queue in operation.queues:
        queue.waiting.remove(operation)
    operation.polls_at = None


def deliver(machine: Machine) -> None:
    """Hand over the runs that have come to queues, and those that this sends, one after the other."""
    if machine.is_delivering:
        return
    machine.is_delivering = True
    try:
        while machine.arriving:
            machine.arriving.popleft()()
    finally:
        machine.is_delivering = False


def hand_over(machine: Machine, queue: InputQueue, run: Run) -> None:
    """Queue a run, and let the operations that wait for it take what they can."""
    queue.runs.append(run)
    queue.recount()
    _take_stored(machine, queue)


def _take_stored(machine: Machine, queue: InputQueue) -> None:
    """Let the operations that wait for a queue take what is in it."""
    while queue.runs and queue.waiting:
        operation = queue.waiting[0]
        if operation.turn is not None:
            if not operation.has_failed:
                _await_turn(machine, operation)
            return
        operation.polls_at = None
        if not _proceed(machine, operation):
            _look_later(machine, operation)
            return
        _leave(operation)
        _complete(machine, operation)


def _complete(machine: Machine, operation: OpenOperation) -> None:
    """Complete an operation: resume its task, or start the task of its end."""
    _close(machine, operation)
    if operation.holds_task:
        _set_result(operation)
        resume(machine, operation.issue.pe, operation.time)
    else:
        signal(machine, operation.issue, operation.time, by_control=operation.by_control)


def _close(machine: Machine, operation: OpenOperation) -> None:
    """Release what an operation that has ended used, and trace that it is completed."""
    if machine.trace is not None:
        machine.trace.completes(operation.issue, operation.time, operation.count)
    if operation.flight is not None and machine.races is not None:
        machine.races.end(operation.flight, operation.time)
    for resource in operation.resources:
        resource.release(operation.since, operation.time)
    datapath = operation.issue.pe.datapath
    if datapath is not None:
        datapath.end(level_of(machine, operation.issue), operation.turn)


# Taking


def _proceed(machine: Machine, operation: OpenOperation) -> bool:
    """Let an operation take what is in its queues; return True if it has ended. After an error it takes nothing."""
    return not operation.has_failed and _unless_failed(machine, operation, _take)


def _unless_failed(machine: Machine, operation: OpenOperation, act: Callable[[Machine, OpenOperation], bool]) -> bool:
    """Return what an act of an operation returns; False if that meets an error, which is noted."""
    with machine.at_cycle(None):
        try:
            has_ended = act(machine, operation)
            if has_ended and operation.half is not None:
                _send_half(machine, operation)
            return has_ended
        except Fault as fault:
            operation.has_failed = True
            machine.note_error(fault.finding)
            return False


def _has_to_wait(machine: Machine, operation: OpenOperation, runs: Sequence[Run]) -> bool:
    """Return True if an operation that passes on what it takes waits for the next epoch; so do no circles of them go on
    for ever."""
    ready = max([operation.time, *map(operation.ready_time, range(len(runs)))])
    if isinstance(operation.destination, Walk) or ready <= machine.until:
        return False
    if operation.waits_until != machine.until:
        operation.waits_until = machine.until
        machine.operations_ahead.append((ready, partial(_take_stored, machine, operation.queues[0])))
    return True


def _take(machine: Machine, operation: OpenOperation) -> bool:
    if operation.turn is not None and operation.position < operation.count:
        _await_turn(machine, operation)
        return False
    while operation.position < operation.count:
        if not all(map(operation.has, range(len(operation.queues)))):
            return operation.is_polling and _ends_without_elements(machine, operation)
        runs = [queue.runs[0] for queue in operation.queues]
        if _has_to_wait(machine, operation, runs):
            return False
        if not operation.header and not _has_room(machine, operation):
            return False
        if operation.header:
            _take_header(machine, operation, runs[0])
        elif not operation.is_polling:
            _feed(machine, operation, runs)
        else:
            count = _in_time(machine, operation, runs)
            if count == 0:
                return True
            _feed(machine, operation, runs, count)
        for queue in operation.queues:
            queue.recount()
    return True


# In turns


def _await_turn(machine: Machine, operation: OpenOperation) -> None:
    """Schedule the turn of an operation that can be held back, if its next element is there."""
    cycle = _ready(machine, operation)
    if cycle is not None:
        assert operation.turn is not None
        operation.turn.at(machine, operation.issue.pe, cycle, partial(_take_turn, machine, operation))


def _ready(machine: Machine, operation: OpenOperation) -> int | None:
    """Return when an operation can take its next element; None if it lacks something, and goes on when that comes."""
    begin, turn, datapath = operation.time, operation.turn, operation.issue.pe.datapath
    assert turn is not None
    if operation.has_failed or is_shut(turn, partial(_await_turn, machine, operation)):
        return None
    for place, side in enumerate(operation.sides):
        if side is None and not operation.has(place):
            return None
        begin = begin if side is not None else max(begin, operation.ready_time(place))
    operation.credits = None
    if not operation.header and not _has_room(machine, operation):
        return None
    if operation.credits is not None:
        begin = max(begin, operation.credits.first)
    assert datapath is not None
    return datapath.free(turn, begin)


def _take_turn(machine: Machine, operation: OpenOperation, cycle: int) -> None:
    """Let an operation take an element, unless it is out of date or something of higher priority is at work."""
    turn, datapath = operation.turn, operation.issue.pe.datapath
    assert turn is not None
    assert datapath is not None
    if turn.cycle != cycle:
        return
    turn.cycle = None
    if _ready(machine, operation) != cycle:
        _await_turn(machine, operation)
        return
    datapath.look(cycle)
    if not _unless_failed(machine, operation, partial(_take_one, cycle=cycle)):
        _await_turn(machine, operation)
    else:
        _leave(operation)
        _complete(machine, operation)
        for queue in operation.queues:
            _take_stored(machine, queue)
    deliver(machine)


def _take_one(machine: Machine, operation: OpenOperation, cycle: int) -> bool:
    """Let an operation take one element, or as many as a wavelet has; return True if it has ended."""
    for place, side in enumerate(operation.sides):
        if side is not None and operation.there(place) > cycle:
            return _stop(machine, operation, side, cycle)
    runs = [queue.runs[0] for queue in operation.queues]
    lanes = max(operation.lanes, default=1)
    together = operation.together
    found = operation.credits or Takes(cycle, 0, together)
    operation.credits = Takes(max(found.first, cycle), found.rate, min(found.count, together))
    if operation.header:
        _take_header(machine, operation, runs[0])
    else:
        _feed(machine, operation, runs, together // lanes)
    for queue in operation.queues:
        queue.recount()
    return operation.position >= operation.count


# Room


def _has_room(machine: Machine, operation: OpenOperation) -> bool:
    """Find the next credits of an operation that sends what it takes; return False if there are none."""
    destination = operation.destination
    if not isinstance(destination, Wavelets):
        return True
    queue = operation.issue.pe.outputs[destination.queue]
    lanes = destination.lanes
    if not queue.paths:
        return True
    source = operation.queues[0]

    def go_on() -> None:
        _take_stored(machine, source)

    found = room(queue.paths, UNBOUNDED, [(-UNBOUNDED, 0)], go_on)
    if max(operation.lanes) > lanes and found.count:
        wanted = min(max(operation.lanes), operation.count - operation.position)
        if found.count < wanted or found.rate > operation.rate:
            # Credits for the values of a wavelet may be parts of several takes, or slower than they leave.
            first = room_at_once(queue.paths, wanted, operation.rate, go_on)
            operation.credits = None if first is None else Takes(first - _ahead(machine), 0, wanted)
            return first is not None
    count, rate = found.count * lanes, found.rate // lanes
    if found.rate % lanes:
        count, rate = min(count, lanes), 0
    halves = operation.half is not None and count > 0
    operation.credits = Takes(found.first - _ahead(machine), rate, count - halves)
    return bool(found.count)


def _ahead(machine: Machine) -> int:
    """Return the cycles from when an operation takes an element until the wavelet made of it leaves."""
    return machine.timing.inject + machine.timing.forward


def _feed(machine: Machine, operation: OpenOperation, runs: list[Run], most: int | None = None) -> None:
    """Advance an operation by one run of each queue, and by `most` elements at most."""
    issue = operation.issue
    if issue.settings.on_control and any(run.control for run in runs):
        _end_by_control(machine, operation, runs)
        return
    if issue.operation.drops_data and isinstance(operation.sources[0], Wavelets):
        _drop(machine, operation, runs[0], most)
        return
    low, lanes = operation.position, max(operation.lanes, default=1)
    count = operation.count - low if most is None else min(most * lanes, operation.count - low)
    own = [operation.lanes_of(place) for place in range(len(runs))]
    count = min([count, *(operation.at_once(place) * each for place, each in enumerate(own))])
    if count < operation.count - low:
        count -= count % (operation.together if count >= operation.together else lanes)
    destination = operation.destination
    if count > lanes and _is_watched(machine, operation, low, low + count):
        count = lanes
    begin, rate, count = _pace(machine, operation, range(len(runs)), count)
    machine.at = begin
    if not isinstance(destination, Walk):
        count = _allowed(machine, operation, count, lanes)
    taken = [-(-count // each) for each in own]
    note_work(machine, issue, begin, rate, operation.rate, count)
    _wake_fifo_tasks(operation, runs, count)
    _keep_scalar(operation)
    payloads = [run.payload[run.taken : run.taken + some] for run, some in zip(runs, taken, strict=True)]
    _transform(machine, operation, runs, payloads, begin, rate)
    payloads = [unpacked(each)[:count] if many > 1 else each for each, many in zip(payloads, own, strict=True)]
    _compute(machine, operation, low, low + count, payloads, begin, rate)
    for source in operation.sources:
        if isinstance(source, FifoEnd):
            _leave_in(machine, issue.pe.fifos[source.fifo].writing,
                      places(count, begin + operation.rate, rate))  # fmt: skip
    if machine.statistics is not None:
        machine.statistics.feeds(operation, runs, count, begin, rate, own)
    for run, some, each, side in zip(runs, taken, own, operation.ends, strict=True):
        _take_all(machine, run, some, begin, rate * each)
        if side is not None:
            side.short += some
    operation.position += count
    operation.time = begin + (count - 1) * rate + operation.rate
    if operation.count == UNBOUNDED:
        # It never ends, so what it has done is what the host sees of the time.
        machine.latest = max(machine.latest, operation.time)


def _drop(machine: Machine, operation: OpenOperation, run: Run, most: int | None) -> None:
    """Let an operation drop the data wavelets of a run, or count its control wavelets; `most` of them at most."""
    count = min(run.remaining, operation.count - operation.position) if run.control else run.remaining
    begin, rate, count = _pace(machine, operation, range(1), count if most is None else min(most, count))
    note_work(machine, operation.issue, begin, rate, operation.rate, count)
    if machine.statistics is not None:
        machine.statistics.feeds(operation, [run], count, begin, rate, [1])
    _take_all(machine, run, count, begin, rate)
    operation.position += count if run.control else 0
    operation.time = begin + (count - 1) * rate + operation.rate
    if operation.count == UNBOUNDED:
        machine.latest = max(machine.latest, operation.time)


def _take_all(machine: Machine, run: Run, count: int, begin: int, rate: int) -> None:
    """Take wavelets of a run, one every `rate` cycles from `begin` on."""
    if run.piece is not None:
        run.piece.taken(run.taken, count, begin, rate)
    if run.path is not None:
        run.path.taken(machine, begin, rate, count)
    run.taken += count


def _transform(
    machine: Machine, operation: OpenOperation, runs: Sequence[Run], payloads: list[list[int]], begin: int, rate: int
) -> None:
    """Mark what control wavelets carry, so that it can be sent as such again (DSD-256); report an index that loses bits
    by that, or looks as if it were marked (DSD-259)."""
    issue = operation.issue
    streams = [source for source in operation.sources if isinstance(source, Wavelets | FifoEnd)]
    for place, (source, run) in enumerate(zip(streams, runs, strict=False)):
        if not isinstance(source, Wavelets) or not source.transforms:
            continue
        for k, word in enumerate(payloads[place]):
            if word & CONTROL_MARK:
                with machine.at_cycle(begin + k * rate):
                    values = (issue.operation.number, issue.pe.inputs[source.queue].number, int(run.control), word)
                    machine.warn_of(issue, Code.INDEX_TOO_WIDE, *values)
                break
        if run.control:
            payloads[place] = [word | CONTROL_MARK for word in payloads[place]]


def _allowed(machine: Machine, operation: OpenOperation, count: int, together: int) -> int:
    """Return how many elements an operation may pass on that has `count`: so many as the step limit lets it, since that
    was set. Raise Fault if there are none."""
    if machine.step_limit is None:
        return count
    if operation.limit_number != machine.limit_number:
        operation.limit_number, operation.limit = machine.limit_number, operation.position + machine.step_limit
    left = operation.limit - operation.position
    if left <= 0:
        machine.fail_of(operation.issue, Code.STEP_LIMIT, machine.step_limit)
    return count if left >= count else max(left - left % together, together)


def _is_watched(machine: Machine, operation: OpenOperation, low: int, high: int) -> bool:
    """Return True if each element may leave a finding of its own: then they are taken one by one."""
    issue, streams = operation.issue, (operation.destination, *operation.sources)
    if issue.pe.unmasked and raises(issue.operation.row.function):
        return True
    return any(isinstance(walk, Walk) and not is_inside(machine, issue, walk, low, high) for walk in streams)


def _pace(machine: Machine, operation: OpenOperation, queues: Iterable[int], count: int) -> tuple[int, int, int]:
    """Return when an operation takes the next element, the cycles between two, and for how many that holds.

    It takes an element when it is ready and the element of each of these queues is there: that which is the last to be
    so may change, when one that is there early is slower.
    """
    lanes = max(operation.lanes, default=1)
    lines = [(operation.time, operation.rate), *map(operation.line, queues)]
    most = count
    if operation.credits is not None:
        lines.append((operation.credits.first, max(operation.rate, operation.credits.rate)))
        count = min(count, operation.credits.count)
    begin, rate = max(lines)
    for first, slower in lines:
        if slower > rate:
            count = min(count, (begin - first) // (slower - rate) + 1)
    if count < most:
        count -= count % lanes
        if not count:
            return begin, max(slower for _, slower in lines), min(most, lanes)
    return begin, rate, count


def _compute(
    machine: Machine, operation: OpenOperation, low: int, high: int, payloads: list[list[int]], begin: int, rate: int
) -> None:
    """Compute elements and give them to memory, a FIFO, or an output queue."""
    issue, destination = operation.issue, operation.destination
    places_ = [k for k, source in enumerate(operation.sources) if isinstance(source, Wavelets | FifoEnd)]
    results = compute(
        machine, issue, destination, operation.sources, low, high, dict(zip(places_, payloads, strict=False))
    )
    if isinstance(destination, FifoEnd):
        pe = issue.pe
        fifo = pe.fifos[destination.fifo]
        for result in results:
            pe.write(2 * fifo.next_word(), 2 * fifo.width, result)
        _leave_in(machine, fifo.reading, Run(results, begin + operation.rate, rate))
    elif isinstance(destination, Wavelets):
        set_to_zero(issue, destination, operation.sources, low, high)
        if destination.lanes > max(operation.lanes):
            results, begin = _pairs(operation, results, begin, rate)
        is_last = high == operation.count and operation.half is None
        if results:
            transmit(machine, issue, destination, results, begin + _ahead(machine), rate, last=is_last)


def _pairs(operation: OpenOperation, values: list[int], begin: int, rate: int) -> tuple[list[int], int]:
    """Return the values of whole wavelets that an operation sends two values in, and when the first is complete.

    A wavelet leaves when its second value is taken; what there is of the last is kept.
    """
    if operation.half is None:
        begin += rate
    else:
        values = [operation.half, *values]
    whole = len(values) - len(values) % 2
    operation.half = values[-1] if whole < len(values) else None
    return values[:whole], begin


def _send_half(machine: Machine, operation: OpenOperation) -> None:
    """Send what an operation that ends has of a wavelet, with a zero behind it."""
    destination, half = operation.destination, operation.half
    assert isinstance(destination, Wavelets)
    assert half is not None
    operation.half = None
    with machine.at_cycle(operation.time):
        first = operation.time + _ahead(machine)
        transmit(machine, operation.issue, destination, [half], first, operation.rate, last=True)


def _leave_in(machine: Machine, side: Side, run: Run) -> None:
    """Leave elements or places for the operations of an end of a FIFO."""
    side.arrived(run)
    machine.admit(side.queue, run)


def _end_by_control(machine: Machine, operation: OpenOperation, runs: list[Run]) -> None:
    """End an operation early by a control wavelet, which is taken and not stored (DSD-199 to DSD-201)."""
    for queue, run in zip(operation.queues, runs, strict=True):
        if run.control:
            time = _time_of(operation, run)
            note_work(machine, operation.issue, time, 1, operation.rate, 1)
            if machine.statistics is not None:
                machine.statistics.takes_one(operation, queue, run, time, time + operation.rate)
            operation.time = time + operation.rate
            taken(machine, run, run.taken, operation.time)
            run.taken += 1
    _end_early(operation)
    operation.by_control = True


def _end_early(operation: OpenOperation) -> None:
    """End an operation at its position: registers that it moves are left behind what it has covered (DSR-065)."""
    for held in operation.moving:
        assert isinstance(held.descriptor, Walk)
        moved = held.descriptor.behind(operation.position)
        operation.issue.pe.registers[held.register] = held._replace(descriptor=moved, load=None)
    operation.count = operation.position


def _time_of(operation: OpenOperation, run: Run) -> int:
    """Return when an operation takes a wavelet that is not an element."""
    time = max(operation.time, run.head_time)
    return time if operation.turn is None or operation.credits is None else max(time, operation.credits.first)


def _take_header(machine: Machine, operation: OpenOperation, run: Run) -> None:
    """Take the header of a message, which says how many elements follow."""
    issue = operation.issue
    length = run.payload[run.taken] & WORD_MASK
    time = _time_of(operation, run)
    note_work(machine, issue, time, 1, operation.rate, 1)
    if machine.statistics is not None:
        machine.statistics.takes_one(operation, operation.queues[0], run, time, time)
    operation.time = time
    taken(machine, run, run.taken, operation.time)
    operation.time += operation.rate
    operation.header = False
    run.taken += 1
    machine.at = time
    if length > operation.count:
        machine.fail_of(issue, Code.MESSAGE_DOES_NOT_FIT, issue.operation.number, length, operation.count)
    if run.piece is not None and issue.operation.row.destination not in WIDE:
        run.piece.check_cut(issue)
    operation.count = length


# FIFOs


def _wake_fifo_tasks(operation: OpenOperation, runs: Sequence[Run], count: int) -> None:
    """Start the tasks of a FIFO whose operation a push or pop lets go on (DSD-144, DSD-147)."""
    for side, run, poll in zip(operation.ends, runs, operation.sides, strict=True):
        if side is not None and poll is None:
            side.woken(run, operation.time, operation.rate, count)


def _keep_scalar(operation: OpenOperation) -> None:
    """Keep the value of a scalar destination: it stays if a FIFO turns out to hold too little (DSD-128)."""
    destination, issue = operation.destination, operation.issue
    if operation.is_polling and operation.before is None and isinstance(destination, Walk) and destination.repeats:
        address = 2 * destination.address
        size = bits_of(issue.operation.row.destination) // 8
        if 0 <= address <= issue.pe.bytes - size:
            operation.before = issue.pe.read(address, size)


def _ends_without_elements(machine: Machine, operation: OpenOperation) -> bool:
    """Return True if an operation ends that lacks something in a FIFO; False if it waits, or looks later."""
    begin = operation.time
    for place, side in enumerate(operation.sides):
        if side is None:
            # A FIFO is looked at when all that is waited for is there.
            if not operation.has(place):
                return False
            begin = max(begin, operation.there(place))
    for place, side in enumerate(operation.sides):
        if side is None or operation.there(place) <= begin:
            continue
        # An operation of the task itself sees all that its PE has done before; what microthreads do is not known.
        other = operation.issue.pe.fifos[side.fifo].other(side)
        if operation.there(place) == NEVER and (operation.issue.is_async or other.queue.resource.is_open):
            operation.polls_at, operation.polled = begin, side
            return False
        return _stop(machine, operation, side, begin)
    raise AssertionError("a FIFO lacks something")


def _give_up(machine: Machine, operation: OpenOperation, cycle: int) -> None:
    """End an operation for which nothing can come any more by when it looks at a FIFO."""
    if operation.polls_at != cycle or operation not in operation.queues[0].waiting:
        return
    assert operation.polled is not None
    operation.polls_at = None
    if _unless_failed(machine, operation, partial(_stop, side=operation.polled, time=cycle)):
        _leave(operation)
        _complete(machine, operation)
    deliver(machine)


def _in_time(machine: Machine, operation: OpenOperation, runs: list[Run]) -> int:
    """Return for how many elements, or wavelets of two, every FIFO has something when they are looked for.

    If there is none the operation has ended.
    """
    awaited = [place for place, side in enumerate(operation.sides) if side is None]
    many = [operation.lanes_of(place) for place in range(len(runs))]
    begin, rate, count = _pace(
        machine, operation, awaited, min(run.remaining * each for run, each in zip(runs, many, strict=True))
    )  # fmt: skip
    for run, side in zip(runs, operation.sides, strict=True):
        if side is None:
            continue
        if run.head_time > begin:
            _stop(machine, operation, side, begin)
            return 0
        if run.rate > rate:
            count = min(count, (begin - run.head_time) // (run.rate - rate) + 1)
    return max(1, count // max(operation.lanes, default=1))


def _stop(machine: Machine, operation: OpenOperation, side: Side, time: int) -> bool:
    """End an operation that looks at a FIFO at a time when that has nothing for it (DSD-127 to DSD-133)."""
    issue, pe = operation.issue, operation.issue.pe
    values = (issue.operation.number, side.fifo, int(not side.reads))
    machine.at = time
    if side.action == "fault":
        machine.fail_of(issue, Code.FIFO_FAULT, *values)
    for operand in (operation.destination, *operation.sources):
        if isinstance(operand, FifoEnd) and operand.register is not None and operand.fifo == side.fifo:
            machine.fail_of(issue, Code.FIFO_IN_REGISTER, *values, *operand.register)
    machine.at = None
    if machine.statistics is not None:
        machine.statistics.stops(operation, time)
    operation.time = time
    operation.stopped = side.action == "test_or_suspend"
    lacking = operation.count - operation.position
    step = operation.steps[next(place for place, each in enumerate(operation.sides) if each is side)]
    side.stopped(time, ENDLESS_EXTENT if operation.count == UNBOUNDED else lacking, min(step, lacking))
    destination = operation.destination
    if operation.before is not None and side.reads and isinstance(destination, Walk):
        pe.write(2 * destination.address, bits_of(issue.operation.row.destination) // 8, operation.before)
    _end_early(operation)
    return True
