"""The machine: PEs made from tables and a fabric, what happens on them in order, and what a host does to them.

`Machine` is the specification of what a program does on a wafer. It runs one PE at a time and shows its state: memory,
clocks, what is printed, findings, and what is open.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...operations import integers
from ...targets.model import Timing
from ..counted import Counted
from ..engine import BUDGET, DONE, ERROR, Position, Printed, Totals
from ..fabric.model import NOWHERE, UNBOUNDED, UNROUTED, Fabric
from ..fabric.priorities import priority_levels
from ..fabric.stack import stack_rooms
from ..findings import FINDING, MAX_WARNINGS, VALUES, Code
from ..reports.rest import Rest
from ..statistics.counts import Counts
from ..tables.format import (
    ACTIVE,
    BLOCKABLE,
    BLOCKED,
    CLASS_TRAPS,
    COMPLETION_ACTIVATES,
    COMPLETION_UNBLOCKS,
    INPUT,
    NONE,
    TASK_TYPES,
)
from ..tables.instructions import FIFO_ACTIONS, KIND
from ..trace_lines import RECORD, Traced, Tracing
from . import endings, receiving
from .arithmetic import WIDE
from .credits import Path
from .descriptors import kind_name
from .directives import Directives
from .entry import Entry
from .fifos import Fifo, Side, places
from .interpreter import bytes_of, enter, run
from .messages import Network
from .multicast import Multicast
from .order import Kind, Order
from .pes import PE, Issue, UnitClass
from .priorities import Datapath
from .program import Program
from .queues import InputQueue, OutputQueue, Run, Way
from .resources import Resource, User
from .rest import rest_of
from .scheduling import next_task, pick
from .sends import Send
from .statistics import Statistics
from .switches import SwitchedColor
from .tasks import NEVER, Task
from .trace import Trace
from .variables import Variable, Variables


class Fault(Exception):
    """A finding that ends the run."""

    def __init__(self, finding: Any) -> None:
        super().__init__(finding)
        self.finding = finding


class OutOfSteps(Exception):
    """The task that runs wants a step beyond the last."""


def _action(number: int) -> str:
    return FIFO_ACTIONS[number]


class Machine:
    """Executes a program; an `engine.Engine`. `tracing` says what to trace; `counts` asks for what it is charged for,
    and `statistics` for what its PEs do with their cycles."""

    def __init__(
        self, fabric: Fabric, tracing: Tracing | None = None, *, counts: bool = False, statistics: bool = False
    ) -> None:
        self.fabric = fabric
        self.timing: Timing = fabric.target.timing
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
        self._warnings: list[Any] = []
        self._error: Any = None
        self.prints: list[Printed] = []
        self.wavelets = self.task_runs = self.steps = 0
        self.latest = 0
        """End of the last asynchronous operation that signals no task, or the progress of one without an end."""
        self._limit = NEVER
        self._running: PE | None = None
        """The PE whose task is run."""
        self._warned: set[int] = set()
        self._unplaced = 0
        self.directives = Directives(self)
        self.switched = {color.color: SwitchedColor(self, color) for color in fabric.switched}
        """By color."""
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
        self.networks = [Network(self, number, row) for number, row in enumerate(self.program["networks"])]
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
            int(self.fabric.main_levels[number]),
        )  # fmt: skip

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
        pe.datapath = Datapath(cls.levels) if cls.levels else None
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
        if row.flags & BLOCKABLE:
            unblocked = NEVER if row.flags & BLOCKED else 0
        task = Task(
            number, row, partial(self.touch, pe), lambda: pe.clock, 0 if row.flags & ACTIVE else NEVER, unblocked,
            None if row.queue == NONE else pe.inputs[row.queue], -1 if row.flags & COMPLETION_ACTIVATES else None,
            blocked=-1 if row.flags & COMPLETION_UNBLOCKS else None,
        )  # fmt: skip
        pe.tasks[number] = task
        if row.type == TASK_TYPES.index("control"):
            pe.control_tasks[row.number] = task
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
                number, end == 0, _action(action), None if task == NONE else pe.tasks[task],
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
                pe.frame, pe.now = enter(program.use(row.use), []), 0
                run(self, pe)
                pe.clock = 0
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

    def _never(self, later: User, earlier: User) -> NoReturn:
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

    def kind(self, name: str) -> int:
        """Return the number of a kind."""
        return KIND[name]

    # Findings

    def _finding(self, pe: int, code: Code, where: int, values: tuple[int, ...]) -> Any:
        here = self.pes.get(pe)
        task = None if here is None else here.task
        cycle = 0 if here is None else here.now if task is not None else here.clock
        record = np.zeros((), FINDING)
        filled = [integers.signed(value, 64) for value in (*values, *(0,) * (VALUES - len(values)))]
        record[()] = (code, pe, NONE if task is None else task.number, where, cycle, filled)
        return record

    def warn(self, pe: PE, code: Code, where: int, *values: int) -> None:
        """Note something that the machine permits, once for each place in the program."""
        if self._is_new(where):
            self._warnings.append(self._finding(pe.number, code, where, values))

    def _is_new(self, where: int) -> bool:
        """Return True for a place that has not been warned of, which has been from then on."""
        if where == 0:
            self._unplaced += 1
        is_new = self._unplaced <= MAX_WARNINGS if where == 0 else where not in self._warned
        self._warned.add(where)
        return is_new

    def fail(self, pe: PE, code: Code, where: int, *values: int) -> NoReturn:
        """End the run with a finding."""
        self.fail_at(pe.number, code, where, *values)

    def fail_at(self, pe: int, code: Code, where: int, *values: int) -> NoReturn:
        """End the run with a finding at a PE, which may have no program."""
        raise Fault(self._finding(pe, code, where, values))

    def fail_at_router(self, pe: int, code: Code, cycle: int, where: int, *values: int) -> NoReturn:
        """End the run with a finding at a router, whatever its PE is at work on."""
        record = self._finding(pe, code, where, values)
        record["task"], record["cycle"] = NONE, cycle
        raise Fault(record)

    def fail_of(self, issue: Issue, code: Code, *values: int) -> NoReturn:
        """End the run with a finding of an operation."""
        raise Fault(self._of(issue, code, values))

    def warn_of(self, issue: Issue, code: Code, *values: int) -> None:
        """Note something of an operation that the machine permits, once for each place in the program."""
        if self._is_new(issue.user.where):
            self._warnings.append(self._of(issue, code, values))

    def _of(self, issue: Issue, code: Code, values: tuple[int, ...]) -> Any:
        record = self._finding(issue.pe.number, code, issue.user.where, values)
        # The task may have ended.
        record["task"] = issue.user.task
        return record

    def has_warned(self, where: int) -> bool:
        """Return True if there was a warning of a place."""
        return where in self._warned

    def _conflict(self, pe: PE, code: Code, *values_and_users: Any) -> NoReturn:
        *values, later, earlier = values_and_users
        record = self._finding(
            pe.number, code, later.where, (later.operation, earlier.operation, earlier.task, *values)
        )
        record["task"] = later.task
        raise Fault(record)

    def check_awaited(self, issue: Issue, queue: InputQueue) -> None:
        """Find an operation that awaits what cannot come (AMB-34)."""
        unit, values = issue.pe.unit, (issue.operation.number, queue.number)
        if int(self.fabric.colors_of(queue.number)[unit]) == NOWHERE:
            self.fail_of(issue, Code.RECEIVES_WITHOUT_COLOR, *values)
        if int(self.fabric.flags_of(queue.number)[unit]) & UNROUTED:
            self.warn_of(issue, Code.RECEIVES_UNROUTED, *values)

    def count_step(self) -> None:
        """Count a task start or an iteration of a loop; raise OutOfSteps if there is none left."""
        if self.steps >= self._limit:
            raise OutOfSteps
        self.steps += 1

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
        try:
            self.deliver()
            while self.resumed or self.order:
                if self.resumed:
                    run(self, self.resumed.popleft())
                else:
                    self.order.advance()
            for pe in self.pes.values():
                self._rest(pe)
        except Fault as fault:
            self._error = fault.finding
            return ERROR
        except OutOfSteps:
            assert self._running is not None
            self.resumed.appendleft(self._running)
            return BUDGET
        return DONE

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
        """Return the findings so far that are warnings, one for each source place, as they came."""
        return np.array(self._warnings, FINDING)

    def _rest(self, pe: PE) -> None:
        """Find operations that used the same thing at one time, of which the first has never ended."""
        ends = [side.queue for fifo in pe.fifos.values() for side in (fifo.reading, fifo.writing)]
        queues = [*pe.inputs.values(), *pe.outputs.values(), *ends]
        for resource in [*(queue.resource for queue in queues), *pe.threads.values()]:
            resource.rest()

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
        """Return the latest cycle that anything has reached, tasks that wait included."""
        return max([self.totals().cycles, *(pe.now for pe in self.pes.values() if pe.frame is not None)])

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
            self.arrive(pe, self.queue(pe, number), Run(payload, time, 1))
        try:
            self.deliver()
        except Fault as fault:
            self._error = fault.finding

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
        """Return the records of the trace that are kept, in order; unless only the last are, they are forgotten."""
        return Traced(np.zeros(0, RECORD), 0) if self.trace is None else self.trace.traced()

    def observed(self) -> Counts | None:
        """Return what statistics have counted so far, if they were asked for."""
        return None if self.statistics is None else self.statistics.counts()

    def rest(self) -> Rest:
        """Return who waits for what, and what nothing has read, when nothing can happen any more."""
        return rest_of(self)

    def _units(self, cls: int) -> list[PE]:
        return [self.pes[pe] for pe in self.fabric.units(cls).tolist()]
