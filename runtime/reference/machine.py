"""The machine: PEs made from tables and a fabric, what happens on them in order, and what a host does to them.

`Machine` is the specification of what a program does on a wafer. It runs one PE at a time and shows its state: memory,
clocks, what is printed, findings, and what is open.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...operations import integers
from ...targets.model import Timing
from ...targets.wavelets import FILTER_WORDS, SETTINGS
from ..counted import Counted
from ..engine import BUDGET, DONE, ERROR, Position, Printed, Totals
from ..fabric.model import NOWHERE, UNBOUNDED, UNROUTED, Fabric
from ..fabric.priorities import priority_levels
from ..fabric.stack import stack_rooms
from ..findings import FINDING, MAX_WARNINGS, VALUES, Code, Finding, FirstWarnings, finding_of
from ..reports.rest import Rest
from ..statistics.counts import Counts
from ..tables.format import (
    ACTIVE,
    BLOCKABLE,
    BLOCKED,
    CLASS_ORDERED,
    CLASS_TRAPS,
    COMPLETION_ACTIVATES,
    COMPLETION_UNBLOCKS,
    INPUT,
    NONE,
    TASK_TYPES,
)
from ..tables.instructions import FIFO_ACTIONS, KIND
from ..trace_lines import RECORD, Traced, Tracing
from . import endings, flushes, receiving
from .arithmetic import WIDE
from .credits import Path
from .descriptors import kind_name
from .directives import Directives
from .entry import Entry
from .faults import EpochEnds, Fault, OutOfSteps
from .fifos import Fifo, Side, places
from .interpreter import bytes_of, enter, run
from .messages import Network
from .microthreads import Gate
from .multicast import Multicast, Part
from .order import EPOCH, Kind, Order
from .pes import PE, Issue, UnitClass
from .priorities import Datapath
from .program import Program
from .queues import InputQueue, OutputQueue, Run, Way
from .races import Races
from .resources import Resource, User
from .rest import lost_of, rest_of
from .scheduling import next_task, pick
from .sends import Send
from .statistics import Statistics
from .switches import Router, SwitchedColor
from .tasks import NEVER, Task
from .trace import Trace
from .variables import Variable, Variables


def _action(number: int) -> str:
    return FIFO_ACTIONS[number]


PRIORITIZED = ("local", "data", "listener")
"""Types of tasks that have a priority."""


class Machine:
    """Executes a program; an `engine.Engine`. `tracing` says what to trace; `counts` asks for what it is charged for,
    `statistics` for what its PEs do with their cycles, and `check` for races."""

    def __init__(
        self, fabric: Fabric, tracing: Tracing | None = None, *, counts: bool = False, statistics: bool = False,
        check: bool = False,
    ) -> None:  # fmt: skip
        self.fabric = fabric
        self.timing: Timing = fabric.target.timing
        self.registers = fabric.target.registers
        filters = self.registers.filters
        self.filter_registers = range(filters, filters + FILTER_WORDS * fabric.target.filters)
        self.priority_levels = priority_levels(fabric.target)
        self.program = Program(fabric.tables, fabric.target)
        self.trace = None if tracing is None else Trace(tracing)
        self.counted = Counted(fabric.tables) if counts else None
        self.width, self.height = fabric.width, fabric.height
        self.order = Order()
        self.resumed: deque[PE] = deque()
        """PEs whose tasks go on after a wait."""
        self.arriving: deque[Callable[[], None]] = deque()
        """Hands over runs that have come to queues, when the operation at work is done with its own."""
        self.is_delivering = False
        self.multicasts: dict[Multicast, None] = {}
        """Those of which wavelets are still to be handed over."""
        self.sends: dict[Send, None] = {}
        """Sends for which some receiver has no room yet."""
        self.until = EPOCH - 1
        """Nothing begins later: the end of the epoch, or the cycle of an error."""
        self.ahead: list[PE] = []
        """PEs whose tasks go on in the next epoch."""
        self.operations_ahead: list[tuple[int, Callable[[], None]]] = []
        """The same of operations that pass on what they take: when they do, and lets them go on."""
        self.is_ordered = any(row.flags & CLASS_ORDERED for row in self.program["classes"])
        """True if programs ask for the state of queues."""
        self.has_settings = self.is_ordered or bool(self.program["settings"])
        """True if programs set registers of `SETTINGS`."""
        self.looks = 0
        """Events in which queues that are to be flushed are looked at..."""
        self.looks_later: list[tuple[PE, bool, int]] = []
        """... and such queues that are looked at again when something else happens."""
        self.at: int | None = None
        """When what is at work happens, if that is not when the task of its PE is; for findings."""
        self.settled = -1
        """All that begins up to here has happened."""
        self._warnings = FirstWarnings()
        self._warned: dict[tuple[int, ...], Finding] = {}
        """The first warnings that are not reported yet: by place, or by all that they say."""
        self._error: Any = None
        """The first error so far."""
        self._has_ended = False
        """True if that has ended the run."""
        self.prints: list[Printed] = []
        self.wavelets = self.task_runs = self.steps = 0
        self.latest = 0
        """End of the last asynchronous operation that signals no task, or the progress of one without an end."""
        self._limit = NEVER
        self.step_limit: int | None = None
        self.limit_number = 0
        """The number of calls of `limit` so far."""
        self._taken: Counter[int] = Counter()
        """Steps of each PE since they have been limited."""
        self._running: PE | None = None
        """The PE whose task is run."""
        self.directives = Directives(self)
        self.switched = {color.color: SwitchedColor(self, color) for color in fabric.switched}
        """By color."""
        for color in fabric.switched:
            if color.color < color.other:
                self.switched[color.color].pair(self.switched[color.other])
        self._stack_rooms = stack_rooms(fabric.tables, fabric.target)
        self.classes = [self._make_class(number) for number in range(len(self.program["classes"]))]
        self.memory: Sequence[NDArray[Any]] = [
            np.zeros((len(fabric.units(cls.number)), 4 * -(-cls.words // 2)), np.uint8) for cls in self.classes
        ]
        """Of each class the bytes of its units, [units, bytes]."""
        self.pes: dict[int, PE] = {}
        """By number."""
        for cls in self.classes:
            for unit, pe in enumerate(fabric.units(cls.number).tolist()):
                self.pes[pe] = self._make_pe(cls, unit, pe)
        self.sinks: dict[tuple[int, int], InputQueue] = {}
        """Queues of the host, by PE and number."""
        self._from_host: dict[tuple[int, int], Way] = {}
        """Ways from the host, by PE and number of the queue."""
        self.networks = [Network(self, number, row) for number, row in enumerate(self.program["networks"])]
        self.races = Races(self) if check else None
        self.unwritten = None if self.races is None else self.races.unwritten
        self.statistics: Statistics | None = None
        self._load()
        needed = statistics or (tracing is not None and tracing.needs_statistics)
        self.statistics = Statistics(self) if needed else None

    # Construction

    def _make_class(self, number: int) -> UnitClass:
        row = self.program["classes"][number]
        words = int(self.fabric.words[number])
        buffers = range(row.buffers, row.buffers + row.buffer_count)
        variables = Variables((self.variable(buffer) for buffer in buffers if self._elements(buffer)), words)
        room = int(self._stack_rooms[number])
        return UnitClass(
            number, row, words, room, variables, bool(row.flags & CLASS_TRAPS), int(self.fabric.levels[number]),
            int(self.fabric.blockable[number]), self._settings(number),
        )  # fmt: skip

    def _settings(self, number: int) -> tuple[int, ...]:
        settings = {"main_thread": int(self.fabric.main_levels[number]) - 1}
        for row in self.program["settings"]:
            if row.owner == number:
                settings[SETTINGS[row.number]] = row.value
        return tuple(settings.get(name, 0) for name in SETTINGS)

    def _elements(self, buffer: int) -> int:
        return self.program["buffers"][buffer].elements

    def variable(self, buffer: int) -> Variable:
        """Return the words of a buffer."""
        row = self.program["buffers"][buffer]
        size = bytes_of(kind_name(row.kind))
        return Variable(buffer, row.address, row.address + -(-row.elements * size // 2))

    def _make_pe(self, cls: UnitClass, unit: int, number: int) -> PE:
        y, x = divmod(number, self.width)
        pe = PE(number, x, y, unit, cls, memoryview(self.memory[cls.number][unit]))
        pe.settings = list(cls.settings)
        pe.datapath = Datapath(cls.levels) if cls.levels or cls.blockable else None
        pe.gates = {bit: Gate() for bit in range(cls.blockable.bit_length()) if cls.blockable >> bit & 1}
        for blocked in self.program["blocked_microthreads"]:
            if blocked.owner == cls.number:
                pe.gates[blocked.number].block(blocked.where)
        row = cls.row
        for queue in range(row.queues, row.queues + row.queue_count):
            self._make_queue(pe, queue)
        for task in range(row.tasks, row.tasks + row.task_count):
            self._make_task(pe, task)
        for fifo in range(row.fifos, row.fifos + row.fifo_count):
            self._make_fifo(pe, fifo)
        return pe

    def _make_queue(self, pe: PE, number: int) -> None:
        fabric, row = self.fabric, self.program["queues"][number]
        network = int(fabric.network[number])
        resource = Resource(partial(self._conflict, pe, Code.USES_QUEUE, number))
        shared = (number, row)
        if row.direction == INPUT:
            meets, room = int(fabric.senders[number]) > 1, int(fabric.room[number])
            pe.inputs[number] = InputQueue(
                *shared, room, resource, meets, Entry(room) if meets else None,
                None if network == NOWHERE else network,
            )  # fmt: skip
            return
        color = int(fabric.colors_of(number)[pe.unit])
        ways = [self._way(pe, number, way) for way in fabric.ways_of(number, pe.unit)]
        pe.outputs[number] = OutputQueue(
            *shared, None if color == NOWHERE else color, int(fabric.flags_of(number)[pe.unit]), resource,
            ways, None if network == NOWHERE else network,
        )  # fmt: skip
        if self.routers_of(pe, pe.outputs[number]) is not None:
            words = max(int(row.room), self.timing.hop)
            pe.outputs[number].ramp = Path(words, self.timing.hop, words)

    def _way(self, pe: PE, queue: int, row: Any) -> Way:
        reader = int(row["queue"])
        path = None
        if row["capacity"]:
            path = Path(int(row["capacity"]), int(row["back"]), int(self.fabric.room[reader]))
        origin = int(row["port"]) << 60 | pe.number << 32 | queue
        return Way(pe.number + int(row["offset"]), reader, int(row["latency"]), origin, path, bool(row["meets"]))

    def _make_task(self, pe: PE, number: int) -> None:
        row = self.program["tasks"][number]
        unblocked = None
        priority_id = row.number if TASK_TYPES[row.type] in PRIORITIZED else -1
        if row.flags & BLOCKABLE:
            unblocked = NEVER if row.flags & BLOCKED else 0
        task = Task(
            number, row, partial(self.touch, pe), lambda: pe.clock, 0 if row.flags & ACTIVE else NEVER, unblocked,
            None if row.queue == NONE else pe.inputs[row.queue], priority_id,
            -1 if row.flags & COMPLETION_ACTIVATES else None,
            blocked=-1 if row.flags & COMPLETION_UNBLOCKS else None,
        )  # fmt: skip
        pe.tasks[number] = task
        if row.type == TASK_TYPES.index("local") and row.number == self.fabric.target.teardown_task:
            pe.teardown_task = task
        if row.type == TASK_TYPES.index("control"):
            pe.control_tasks[row.number] = task
        if row.type == TASK_TYPES.index("data"):
            pe.data_tasks[row.number] = task
        if task.queue is not None:
            task.queue.task = task
            task.queue.control_only = row.type == TASK_TYPES.index("listener")

    def _make_fifo(self, pe: PE, number: int) -> None:
        row = self.program["fifos"][number]
        buffer = self.program["buffers"][row.buffer]
        width = 2 if kind_name(buffer.kind) in WIDE else 1
        ends = ((row.empty_action, row.push_task), (row.full_action, row.pop_task))
        reading, writing = (
            Side(
                number, end == 0, _action(action), row.step, None if task == NONE else pe.tasks[task],
                InputQueue(number, row, 0, Resource(partial(self._conflict, pe, Code.USES_FIFO, number, end))),
            )
            for end, (action, task) in enumerate(ends)
        )  # fmt: skip
        fifo = pe.fifos[number] = Fifo(number, buffer.address, buffer.elements, width, reading, writing)
        fifo.writing.queue.runs.append(places(buffer.elements, 0, 0))

    def _load(self) -> None:
        """Fill memory, run what is loaded at the start, and see what tasks are active."""
        program = self.program
        image = program.tables["image_bytes"]
        for row in program["images"]:
            self.memory[row.owner][:, row.address : row.address + row.size] = image[row.bytes : row.bytes + row.size]
        for row in program["patches"]:
            column = program["columns"][row.column]
            size = bytes_of(kind_name(column.kind))
            for pe in self.fabric.units(row.owner).tolist():
                value = self.column_value(row.column, self.pes[pe].unit)
                self.pes[pe].write(row.address, size, value & (1 << 8 * size) - 1)
        for row in program["starts"]:
            for number in self.fabric.units(row.owner).tolist():
                pe = self.pes[number]
                pe.frame, pe.now, self.until = enter(program.use(row.use), []), 0, NEVER
                run(self, pe)
                pe.clock = 0
        self.until = EPOCH - 1 if self._error is None else min(EPOCH - 1, int(self._error["cycle"]))
        for pe in self.pes.values():
            self.touch(pe)

    def column_value(self, column: int, unit: int) -> int:
        """Return a unit's value of a column."""
        return self.program["column_values"][self.program["columns"][column].values + unit]

    # What parts of a PE ask for

    def queue(self, pe: int, number: int) -> InputQueue:
        """Return the input queue of a PE, or the host's queue for what the PE sends to it."""
        if number < len(self.program["queues"]):
            return self.pes[pe].inputs[number]
        found = self.sinks.get((pe, number))
        if found is None:
            found = InputQueue(number, None, UNBOUNDED, Resource(self._never), int(self.fabric.senders[number]) > 1)
            self.sinks[pe, number] = found
        return found

    def _never(self, start: int, later: User, earlier: User) -> NoReturn:
        raise AssertionError("the host uses its queues one after the other")

    def thread(self, pe: PE, number: int) -> Resource:
        """Return a microthread of a PE."""
        found = pe.threads.get(number)
        if found is None:
            found = pe.threads[number] = Resource(partial(self._conflict, pe, Code.USES_MICROTHREAD, number))
        return found

    def routers_of(self, pe: PE, queue: OutputQueue) -> SwitchedColor | None:
        """Return the routers that pass on what a PE sends on a queue, if its color has switches."""
        color = self.switched.get(-1 if queue.color is None else queue.color)
        return color if color is not None and color.senders[pe.number] else None

    def router_at(self, pe: PE, address: int) -> tuple[Router, int] | None:
        """Return the router of a PE that has a configuration register, and the address of that of color 0."""
        registers = self.registers
        for first in (registers.colors, registers.switches, *registers.positions):
            if first <= address < first + self.fabric.target.routable_colors:
                for color in self.switched.values():
                    if color.changes and color.id == address - first:
                        return color.router(pe.number), first
        return None

    def tear_down(self, router: Router, cycle: int) -> None:
        """Tell the PE of a router that a color is torn down there."""
        pe, color = self.pes.get(router.pe), router.color
        if pe is None:
            return
        if pe.teardown_task is None:
            where = self.program["colors"][color.color].where
            self.note_at_router(router.pe, Code.TEARDOWN_UNHANDLED, cycle, where, color.color)
            return
        pe.torn_down |= 1 << color.id
        pe.teardown_task.complete(cycle + self.timing.ramp, activate=True)

    def kind(self, name: str) -> int:
        """Return the number of a kind."""
        return KIND[name]

    # Findings

    def finding(self, pe: PE, code: Code, where: int, *values: int) -> Any:
        """Return the record of a finding of the task of a PE."""
        return self._finding(pe.number, code, where, values)

    def _finding(self, pe: int, code: Code, where: int, values: tuple[int, ...]) -> Any:
        here = self.pes.get(pe)
        task = None if here is None else here.task
        cycle = 0 if here is None else here.now if task is not None else here.clock
        cycle = cycle if self.at is None else self.at
        record = np.zeros((), FINDING)
        filled = [integers.signed(value, 64) for value in (*values, *(0,) * (VALUES - len(values)))]
        record[()] = (code, pe, NONE if task is None else task.number, where, cycle, filled)
        return record

    def warn(self, pe: PE, code: Code, where: int, *values: int) -> None:
        """Note something that the machine permits, once for each place in the program."""
        self.note_warning(self._finding(pe.number, code, where, values))

    def note_warning(self, record: Any) -> None:
        """Keep a warning, if it is the first of its place."""
        finding = finding_of(record)
        key = (finding.where,) if finding.where else (0, finding.pe, finding.cycle, finding.code, *finding.values)
        known = self._warned.get(key)
        if known is None or finding.key < known.key:
            self._warned[key] = finding
        if len(self._warned) > 4 * MAX_WARNINGS:
            first = sorted((each for each in self._warned.values() if not each.where), key=lambda each: each.key)
            for late in first[MAX_WARNINGS:]:
                del self._warned[0, late.pe, late.cycle, late.code, *late.values]

    @contextmanager
    def at_cycle(self, cycle: int | None) -> Generator[None]:
        """Let findings be of a cycle, of None that of the task of their PE."""
        before, self.at = self.at, cycle
        try:
            yield
        finally:
            self.at = before

    def note_error(self, record: Any) -> None:
        """Note an error; the first of all ends the run, when all that begins before it has happened."""
        if self._error is None or finding_of(record).key < finding_of(self._error).key:
            self._error = record
        self.until = min(self.until, int(record["cycle"]))

    def fail(self, pe: PE, code: Code, where: int, *values: int) -> NoReturn:
        """End the task of a PE with an error."""
        raise Fault(self._finding(pe.number, code, where, values))

    def note_at_router(self, pe: int, code: Code, cycle: int, where: int, *values: int) -> None:
        """Note an error at a router, whatever its PE is at work on."""
        record = self._finding(pe, code, where, values)
        record["task"], record["cycle"] = NONE, cycle
        self.note_error(record)

    def fail_of(self, issue: Issue, code: Code, *values: int) -> NoReturn:
        """End an operation, or the task that issues it, with an error."""
        raise Fault(self._of(issue, code, values))

    def warn_of(self, issue: Issue, code: Code, *values: int) -> None:
        """Note something of an operation that the machine permits, once for each place in the program."""
        self.note_warning(self._of(issue, code, values))

    def _of(self, issue: Issue, code: Code, values: tuple[int, ...]) -> Any:
        record = self._finding(issue.pe.number, code, issue.user.where, values)
        # The task may have ended.
        record["task"] = issue.user.task
        return record

    def _conflict(self, pe: PE, code: Code, *values_and_users: Any) -> Fault:
        """Note that an operation has started on something that another still uses."""
        *values, start, later, earlier = values_and_users
        record = self._finding(
            pe.number, code, later.where, (later.operation, earlier.operation, earlier.task, *values)
        )
        record["task"], record["cycle"] = later.task, start
        self.note_error(record)
        return Fault(record)

    def check_awaited(self, issue: Issue, queue: InputQueue) -> None:
        """Find an operation that awaits what cannot come, or what the queue's data task may take as well (AMB-34).

        What the task is when wavelets come depends on how far the PE is by then, and not on the time alone.
        """
        unit, values = issue.pe.unit, (issue.operation.number, queue.number)
        if int(self.fabric.colors_of(queue.number)[unit]) == NOWHERE:
            self.fail_of(issue, Code.RECEIVES_WITHOUT_COLOR, *values)
        if int(self.fabric.flags_of(queue.number)[unit]) & UNROUTED:
            self.warn_of(issue, Code.RECEIVES_UNROUTED, *values)
        task = queue.task
        if issue.is_async and task is not None and not queue.control_only:
            if task.unblocked is None or task.unblocked <= issue.pe.now:
                self.warn_of(issue, Code.TASK_MAY_TAKE, *values)

    def count_step(self, pe: PE, where: int) -> None:
        """Count a task start or an iteration of a loop.

        Raise EpochEnds if it comes later, Fault if it is beyond the step limit, and OutOfSteps if the host looks first.
        """
        if pe.now > self.until:
            raise EpochEnds
        if self.step_limit is not None and self._taken[pe.number] >= self.step_limit:
            self.fail(pe, Code.STEP_LIMIT, where, self.step_limit)
        if self.steps >= self._limit:
            raise OutOfSteps
        self.steps += 1
        self._taken[pe.number] += 1

    # Order

    def touch(self, pe: PE) -> None:
        """Have a free PE look again for what to run."""
        if pe.frame is not None:
            return
        ready, _ = next_task(pe)
        if ready != pe.queued:
            pe.queued = ready
            if ready < NEVER:
                self.order.schedule(ready, Kind.PICK, pe.number, (), partial(pick, self, pe))

    def arrive(self, pe: int, queue: InputQueue, run: Run) -> None:
        """Let a run come to a queue: at once, or one by one in the order of time if there are several senders."""
        if not queue.has_several_senders:
            self.admit(queue, run)
            return

        def admit(cycle: int) -> None:
            first, run.taken = run.head, run.taken + 1
            if queue.entry is not None:
                assert not isinstance(first.path, Entry)
                queue.entry.come(self, first.path, cycle)
                first.path = queue.entry
            if run.remaining:
                # Those of others may come in between.
                self.order.schedule(run.head_time, Kind.RUN, pe, (run.origin,), admit)
            self.admit(queue, first)
            self.deliver()

        self.order.schedule(run.head_time, Kind.RUN, pe, (run.origin,), admit)

    def admit(self, queue: InputQueue, run: Run) -> None:
        """Let a run come to a queue now."""
        self.arriving.append(partial(receiving.hand_over, self, queue, run))

    def deliver(self) -> None:
        """Hand over the runs that have come to queues."""
        receiving.deliver(self)

    def settle(self, color: SwitchedColor) -> None:
        """Let wavelets go on from router to router."""
        color.settle()
        self.deliver()

    def accept(self, send: Send, time: int) -> None:
        """Let a send know that its message has left."""
        endings.accept(self, send, time)

    def run(self, steps: int) -> int:
        """Run until `steps` steps have been taken in all since the program was loaded, or it ends before.

        Return DONE, BUDGET or ERROR. A step beyond the last is not taken.
        """
        self._limit = steps
        self.settled = -1 if self.settled == NEVER else self.settled
        self._look_again(self.order.first)
        try:
            while not self._has_ended:
                self.deliver()
                self._run_epoch()
                if self._is_over():
                    break
        except OutOfSteps:
            assert self._running is not None
            self.resumed.appendleft(self._running)
            return BUDGET
        return ERROR if self._has_ended else DONE

    def _run_epoch(self) -> None:
        """Let all happen that begins up to the end of the epoch, or to the first error."""
        while True:
            if self.resumed:
                pe = self.resumed.popleft()
                if pe.now > self.until:
                    self.ahead.append(pe)
                else:
                    run(self, pe)
            elif self.order.first <= self.until:
                try:
                    self.order.advance()
                except Fault as fault:
                    self.note_error(fault.finding)
            else:
                return

    def _is_over(self) -> bool:
        """End the epoch up to whose end all has happened; begin the next one if there is more, and no error."""
        later = [*(pe.now for pe in self.ahead), *(time for time, _ in self.operations_ahead), self.order.first]
        following = min(later)
        self.settled = self.until if following < NEVER else NEVER
        for pe in self.pes.values():
            self._rest(pe)
        self.directives.rest(self.settled)
        error = NEVER if self._error is None else int(self._error["cycle"])
        if error <= self.settled and error < NEVER:
            self._has_ended, self.settled = True, error
        if self.races is not None:
            self.races.rest(self.settled)
        if self._has_ended or following == NEVER:
            return True
        self._look_again(following)
        self.until = min(following | EPOCH - 1, error)
        self.resumed.extend(self.ahead)
        self.arriving.extend(go_on for _, go_on in self.operations_ahead)
        self.ahead, self.operations_ahead = [], []
        return False

    def _look_again(self, cycle: int) -> None:
        """Look at queues that are to be flushed behind a cycle, when the next thing happens."""
        if cycle < NEVER:
            waiting, self.looks_later = self.looks_later, []
            for pe, output, number in waiting:
                flushes.look_at(self, pe, output, number, cycle)

    def limit(self, steps: int | None) -> None:
        """Let each PE take so many steps from now on, None for any number."""
        self.step_limit = steps
        self.limit_number += 1
        self._taken.clear()

    def begin(self, pe: PE) -> None:
        """Note which PE's task is run now."""
        self._running = pe

    def place(self) -> Position:
        """Return where the PE is that wanted a step beyond the last."""
        pe = self._running
        assert pe is not None
        assert pe.frame is not None
        task = NONE if pe.task is None else pe.task.number
        where = pe.frame.use.where[pe.frame.pc] if pe.frame.pc >= 0 or pe.task is None else pe.task.row.where
        return Position(pe.number, task, where)

    def error(self) -> Any:
        """Return the finding that has ended the run."""
        return self._error

    def warnings(self) -> NDArray[Any]:
        """Return the findings so far that are warnings, the first of each source place, in order."""
        told = [finding for finding in self._warned.values() if finding.cycle <= self.settled]
        self._warned = {key: finding for key, finding in self._warned.items() if finding.cycle > self.settled}
        return self._warnings.add(np.array([tuple(each) for each in told], FINDING))

    def _rest(self, pe: PE) -> None:
        """Find operations that used the same thing at one time, of which the first has never ended."""
        ends = [side.queue for fifo in pe.fifos.values() for side in (fifo.reading, fifo.writing)]
        queues = [*pe.inputs.values(), *pe.outputs.values(), *ends]
        for resource in [*(queue.resource for queue in queues), *pe.threads.values()]:
            resource.rest(self.settled)

    # What a host sees and does

    @property
    def clocks(self) -> NDArray[np.int64]:
        """When each PE has ended its last task, [height, width]; 0 where there is no program."""
        found = np.zeros((self.height, self.width), np.int64)
        for pe in self.pes.values():
            found[pe.y, pe.x] = pe.clock
        return found

    def totals(self) -> Totals:
        """Return what has been done so far."""
        cycles = max([self.latest, *(pe.clock for pe in self.pes.values())])
        return Totals(cycles, self.wavelets, self.task_runs, self.steps)

    def reached(self) -> int:
        """Return the latest cycle that anything has reached, tasks and operations that wait included: these, the end of
        the elements that they have taken."""
        pes = self.pes.values()
        ends = (side.queue for pe in pes for fifo in pe.fifos.values() for side in (fifo.reading, fifo.writing))
        queues = (queue for pe in pes for queue in pe.inputs.values())
        taken = (each.time for queue in (*queues, *ends) for each in queue.waiting if each.position > 0)
        return max([self.totals().cycles, *(pe.now for pe in pes if pe.frame is not None), *taken])

    def printed(self) -> list[Printed]:
        """Return what programs have printed, in any order."""
        return self.prints

    def launch(self, task: int, arguments: Sequence[int], time: int) -> None:
        """Activate a task of type launch on all PEs of its class, with arguments as registers hold them."""
        for pe in self._units(self.program["tasks"][task].owner):
            pe.tasks[task].arguments = list(arguments)
            pe.tasks[task].activate(time)

    def active(self, task: int) -> int:
        """Return how many PEs have a task active."""
        units = self._units(self.program["tasks"][task].owner)
        return sum(pe.tasks[task].active < NEVER for pe in units)

    def send(self, pes: NDArray[Any], queues: NDArray[Any], words: NDArray[Any], first: NDArray[Any]) -> None:
        """Send words [n, count] to an input queue of each of n PEs, one a cycle from cycle `first` [n] on."""
        each = zip(pes.tolist(), queues.tolist(), words.tolist(), first.tolist(), strict=True)
        for pe, number, payload, time in each:
            way, path = self._way_from_host(pe, number)
            if way.meets:
                Multicast(self, None, [way], 1, deque([Part(payload, time, False)])).start()
            else:
                path.send(len(payload), None)
                self.arrive(pe, self.queue(pe, number), Run(payload, time, 1, path=path))
        self.deliver()

    def _way_from_host(self, pe: int, number: int) -> tuple[Way, Path]:
        """Return the way from the host to an input queue, and what it holds."""
        way = self._from_host.get((pe, number))
        if way is None:
            queue = self.queue(pe, number)
            path = Path(int(self.fabric.host_capacities(np.array(number))), self.fabric.host_back, queue.room)
            way = Way(pe, number, 0, 0, path, queue.has_several_senders)
            self._from_host[pe, number] = way
        assert way.path is not None
        return way, way.path

    def unsent(self, cls: int, queue: int) -> NDArray[np.int64]:
        """Return how many wavelets for an input queue of each unit of a class the host still holds."""
        found = [self._unsent(self._from_host.get((pe.number, queue))) for pe in self._units(cls)]
        return np.array(found, np.int64)

    def _unsent(self, way: Way | None) -> int:
        if way is None or way.path is None:
            return 0
        waiting = sum(len(part.wavelets) for each in self.multicasts if way in each.ways for part in each.parts)
        return waiting + max(0, way.path.pending - way.path.capacity)

    def backlog(self, cls: int, queue: int) -> NDArray[np.int64]:
        """Return how many wavelets wait in an input queue, or a queue of the host, of each unit of a class."""
        counts = [sum(run.remaining for run in self.queue(pe.number, queue).runs) for pe in self._units(cls)]
        return np.array(counts, np.int64)

    def take(self, pes: NDArray[Any], sinks: NDArray[Any], count: int) -> NDArray[np.uint32]:
        """Return the next words, which are there, that each PE has sent to a queue of the host, and take them."""
        found = [self._take(pe, sink, count) for pe, sink in zip(pes.tolist(), sinks.tolist(), strict=True)]
        return np.array(found, np.uint32).reshape(len(pes), count)

    def _take(self, pe: int, sink: int, count: int) -> list[int]:
        queue = self.queue(pe, sink)
        if self.statistics is not None:
            self.statistics.takes_at_host(pe, sink, count)
        found: list[int] = []
        while len(found) < count:
            head = queue.runs[0]
            words = head.payload[head.taken : head.taken + count - len(found)]
            head.taken += len(words)
            found += words
            queue.recount()
        return found

    @property
    def held(self) -> int:
        """Return the number of trace records that are kept now."""
        return 0 if self.trace is None else self.trace.held

    def traced(self) -> Traced:
        """Return the records of the trace that are kept, in any order; unless only the last are, they are forgotten."""
        return Traced(np.zeros(0, RECORD), 0) if self.trace is None else self.trace.traced()

    def observed(self) -> Counts | None:
        """Return what statistics have counted so far, if they were asked for."""
        return None if self.statistics is None else self.statistics.counts()

    def lost_activations(self) -> NDArray[Any]:
        """Return how often tasks were activated while they were active, records of `WAVELETS`."""
        return lost_of(self)

    def rest(self) -> Rest:
        """Return who waits for what, and what nothing has read, when nothing can happen any more."""
        return rest_of(self)

    def _units(self, cls: int) -> list[PE]:
        return [self.pes[pe] for pe in self.fabric.units(cls).tolist()]
