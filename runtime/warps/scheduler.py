"""Task scheduling: which task runs next on which units.

It keeps a list of the blocks of units in which something changed and never scans the grid. In a block it runs, for
every unit, the earliest of its ready tasks, all units that start the same task as one warp. A unit for which
something earlier may still arrive waits until nothing else can run; then the earliest go, as far as the shortest way
of a wavelet looks ahead. So results and clocks do not depend on how units are batched.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...diagnostics.errors import LoomError
from ...targets.wavelets import CONTROL_TASK_BITS, CONTROL_TASK_SHIFT, WORD_BITS, WORD_MASK
from ..watch import MIN_STEPS
from .executor import decode
from .fifos import Side
from .memory import DTYPES
from .queues import InputQueue, Message, Transfer, in_time
from .sends import Send
from .tasks import NEVER, Task
from .unit_class import UnitClass
from .units import Array, UnitSet, every, from_mask, select, singles, some, subtract
from .warp import FINISHED, SUSPENDED, Code, Warp, gather, run

if TYPE_CHECKING:
    from .machine import WarpMachine

MAX_UNITS_ONE_BY_ONE = 10
"""Up to so many units run faster one by one, in generated code, than together in numpy."""

BETWEEN_QUESTIONS = 16
"""Blocks visited before a run asks again whether it is to stop."""

IN_A_ROW = 256
"""Rounds of tasks that a block runs before other blocks run."""


class Scheduler:
    """Schedules the units of one machine."""

    def __init__(self, machine: WarpMachine):
        self.machine = machine
        self.timing = machine.target.timing
        self.lookahead = self.timing.inject
        self.ready: deque[tuple[UnitClass, int]] = deque()
        self.queued: set[tuple[UnitClass, int]] = set()
        self.stalled: dict[tuple[UnitClass, int], None] = {}
        self.resumed: dict[tuple[UnitClass, Code, int, int], list[Warp]] = {}
        self.paused: deque[Warp] = deque()
        self.held: list[tuple[InputQueue, Message]] = []
        self.sends: dict[Send, None] = {}
        """Sends for which some receiver has no room yet."""
        self.polls: dict[Transfer, tuple[Side, Any]] = {}
        """Operations that have looked at a FIFO, when, and have to end if nothing turns out to have come by then."""
        self.steps = 0
        self._limit = NEVER
        self._limit_of_run: int | None = None
        """Of `steps`."""
        self.bound = NEVER
        """Of `steps`, until the limit or until the watch looks again."""
        self._looked = 0
        """`steps` when the watch looked last."""
        self.wavelets = 0
        self.latest = 0
        """End of the last asynchronous operation that signals no task, or the progress of one without an end."""
        self.task_runs = 0

    def wake(self, cls: UnitClass, number: int) -> None:
        """Queue a block in which something changed."""
        key = (cls, number)
        if key not in self.queued:
            self.queued.add(key)
            self.ready.append(key)

    def run(self, step_limit: int | None, until: Callable[[], bool] | None = None) -> bool:
        """Run until nothing can happen any more, or for `step_limit` steps. Raises LoomError at the limit.

        Returns whether it stopped because `until` holds, which is asked now and then.
        """
        self._limit = NEVER if step_limit is None else self.steps + step_limit
        self._limit_of_run = step_limit
        self._looked = self.steps
        self.bound = min(self._limit, NEVER if self.machine.watch is None else self.steps + MIN_STEPS)
        if until is None:
            while self._advance():
                pass
            return False
        while not until():
            for _ in range(BETWEEN_QUESTIONS):
                if not self._advance():
                    return until()
        return True

    def _advance(self) -> bool:
        if self.resumed:
            # Warps that meet at one program point go on as one.
            # Between cores the last to be woken goes on first: what it was given is still in the cache.
            keys = reversed(self.resumed) if self.machine.channels else iter(self.resumed)
            for warp in gather(self.resumed.pop(next(keys))):
                self._drain(warp)
            return True
        if self.ready:
            key = self.ready.popleft()
            self.queued.discard(key)
            before = len(self.paused)
            self._visit(*key, horizon=None)
            if before and self.paused:
                # One block behind: the block just visited has posted its receives.
                self._drain_paused()
            return True
        if self.paused:
            self._drain_paused()
            return True
        return self._advance_time()

    def _drain_paused(self) -> None:
        warp = self.paused.popleft()
        self._drain(warp)

    def _drain(self, warp: Warp) -> None:
        if run(warp) == FINISHED:
            self.finish(warp)

    def _visit(self, cls: UnitClass, number: int, horizon: int | None) -> None:
        """Run the tasks of a block until no unit of it can start one."""
        block = cls.blocks[number]
        if block is None:
            return
        for _ in range(IN_A_ROW):
            ready = self._ready(cls, block, number)
            chosen = self._choose(cls, block, number, ready, horizon) if ready else []
            if not chosen:
                return
            # With one task ready and no other possible, wavelets that are there can be consumed in one go.
            alone = len(ready) == 1 and len(chosen) == 1 and not cls.busy_units and self._only(cls, ready[0][0], number)
            for task, units, times in chosen:
                self._start(cls, task, units, times, alone=alone and horizon is None)
            horizon = None
        # A task that activates itself for ever must not keep the others from running.
        self.wake(cls, number)

    def _only(self, cls: UnitClass, task: Task, number: int) -> bool:
        """Return True if a data task is the only one that can become ready in a block for now."""
        if task.kind != "data" or any(other.kind == "data" and other is not task for other in cls.task_list):
            return False
        return all(other is task or number not in other.hot for other in cls.task_list)

    def _ready(self, cls: UnitClass, block: UnitSet, number: int) -> list[tuple[Task, Array, bool]]:
        """Return the tasks some unit of a block could run: from when on, and whether that holds for every unit."""
        found: list[tuple[Task, Array, bool]] = []
        for task in cls.task_list:
            if number not in task.hot:
                continue
            times = task.ready(block)
            held = (times < NEVER).tobytes()
            if b"\x01" in held:
                found.append((task, times, b"\x00" not in held))
            elif task.unblocked is None or not some(task.active[block.index] < NEVER):
                task.hot.discard(number)
        return found

    def _choose(
        self, cls: UnitClass, block: UnitSet, number: int, ready: list[tuple[Task, Array, bool]], horizon: int | None
    ) -> list[tuple[Task, UnitSet, Array]]:
        """Return for every unit the earliest of its ready tasks, if nothing earlier can come."""
        certain = self._certain(cls, block, ready)
        if len(ready) == 1:
            task, best, all_ready = ready[0]
            if all_ready and certain is None and not cls.busy_units:
                return [(task, block, best)]
        else:
            best = ready[0][1]
            for _, times, _ in ready[1:]:
                best = np.minimum(best, times)
        possible = best < NEVER
        if cls.busy_units:
            possible &= ~cls.busy[block.index]
        if certain is not None:
            if horizon is not None:
                certain = certain | (best <= horizon)
            if some(possible & ~certain):
                self.stalled[cls, number] = None
                possible &= certain
        chosen: list[tuple[Task, UnitSet, Array]] = []
        for position, (task, times, _) in enumerate(ready):
            last = position + 1 == len(ready)
            mask = possible if last else possible & (times == best)
            if not last:
                possible = possible & ~mask
            for units in [block] if every(mask) else from_mask(block, mask):
                chosen.append((task, units, select(block, units, times)))
        return chosen

    def _certain(self, cls: UnitClass, block: UnitSet, ready: list[tuple[Task, Array, bool]]) -> Array | None:
        """Return the units for which no task can become ready earlier than those that are; None if all."""
        if cls.listening and not (len(cls.tasks) == 1 and len(ready) == 1):
            others = [task for task in cls.tasks.values() if task.kind == "data"]
            if len(ready) != 1 or others != [ready[0][0]]:
                return np.zeros(block.shape, np.bool_)
        known = cls.unresolved[block.index] == 0
        return None if every(known) else known

    def _start(self, cls: UnitClass, task: Task, units: UnitSet, times: Array, *, alone: bool) -> None:
        if task.kind == "data":
            self._start_data(cls, task, units, alone=alone)
            return
        begin = np.maximum(cls.clock[units.index], times)
        task.pick(units, begin)
        self.start_task(cls, task, units, begin + self.timing.task_start, ())

    def start_task(self, cls: UnitClass, task: Task, units: UnitSet, begin: Any, arguments: Sequence[Any]) -> None:
        """Run a task on some units from time `begin`, with the arguments of a data task."""
        if task.code.alone is None or not 1 < units.count <= MAX_UNITS_ONE_BY_ONE:
            self._run_task(cls, task, units, begin, arguments)
            return
        for unit in singles(units):
            values = [select(units, unit, value).item() for value in arguments]
            self._run_task(cls, task, unit, select(units, unit, begin), values)

    def _run_task(self, cls: UnitClass, task: Task, units: UnitSet, begin: Any, arguments: Sequence[Any]) -> None:
        code = task.code
        slots = code.template.copy()
        for slot, value in zip(code.arguments, arguments, strict=False):
            slots[slot] = value
        warp = Warp(cls, code, units, slots, begin)
        self.task_runs += units.count
        self.count_step(warp, code.where)
        if run(warp) == FINISHED:
            cls.clock[warp.units.index] = warp.now
            if cls.busy_units:
                self.release(warp)

    def _start_data(self, cls: UnitClass, task: Task, units: UnitSet, *, alone: bool) -> None:
        queue = task.queue
        assert queue is not None
        remaining: list[UnitSet] = [units]
        while remaining:
            part = remaining.pop()
            mine = queue.first(part)
            assert mine is not None
            message = queue.take(mine)
            if mine is not part:
                remaining += subtract(part, mine)
            alone_now = alone and message.piece is None
            if alone_now and task.code.isolated and message.remaining > 1 and not message.control:
                self.consume(cls, task, message, mine)
                if message.remaining:
                    queue.put_back(message)
                task.active[mine.index] = queue.head_times(mine, NEVER) if queue.messages else NEVER
                continue
            raw = message.payload[:, message.position, :]
            head, position = message.head_time, message.position
            message.position += 1
            begin = np.maximum(cls.clock[mine.index], head)
            if task.unblocked is not None:
                begin = np.maximum(begin, task.unblocked[mine.index])
            if message.remaining:
                following: Any = message.head_time
                queue.put_back(message)
            else:
                following = queue.head_times(mine, NEVER) if queue.messages else NEVER
            task.active[mine.index] = following
            self.machine.executor.taken(message, position, begin)
            begin = begin + self.timing.task_start
            if message.control and message.piece is not None:
                message.piece.lost(raw)
            elif message.control:
                self._start_control(cls, queue, mine, raw, begin)
            else:
                self._start_with(cls, task, mine, raw, begin)

    def _start_with(self, cls: UnitClass, task: Task, units: UnitSet, raw: Array, begin: Any) -> None:
        """Run a data or control task with a wavelet for each unit, [rows, columns]."""
        values = _arguments(task.code, raw) if task.code.arguments else []
        arguments = [value.item() for value in values] if units.count == 1 else values
        self.start_task(cls, task, units, begin, arguments)

    def _start_control(self, cls: UnitClass, queue: InputQueue, units: UnitSet, raw: Array, begin: Any) -> None:
        """Run the tasks that control wavelets name. Raises LoomError for an id without a control task."""
        ids = (raw.astype(np.uint32) >> CONTROL_TASK_SHIFT) & ((1 << CONTROL_TASK_BITS) - 1)
        for id in np.unique(ids).tolist():
            task = cls.control_tasks.get(id + queue.control_offset)
            for part in from_mask(units, ids == id):
                if task is None:
                    where, _ = cls.describe_first(part, np.ones(part.shape, np.bool_), 0)
                    number = int(np.max(queue.colors[part.index]))
                    bound = ", ".join(f"{known} (@{other.name})" for known, other in cls.control_tasks.items())
                    entry = id + queue.control_offset
                    table = (
                        f", which is {entry} in the control task table of the queue," if queue.control_offset else ""
                    )
                    raise LoomError(
                        f"a control wavelet with id {id}{table} arrives on color {self.machine.color_label(number)}, "
                        f"input queue {queue.label}, at {where}, where no control task has that id; the control tasks "
                        f"are: {bound or 'none'}"
                    )
                self._start_with(cls, task, part, select(units, part, raw), select(units, part, begin))

    def consume(self, cls: UnitClass, task: Task, message: Message, units: UnitSet) -> None:
        """Run an isolated data task for the wavelets of a message, one after another.

        Up to the one for which a sender waits, because its end may start another task; then up to the last.
        """
        code, count = task.code, message.remaining
        waited = message.threshold - message.position
        held_back = message.send is not None and 0 <= waited < count
        if held_back:
            count = waited + 1
        self.task_runs += count * units.count
        if task.unblocked is not None:
            cls.clock[units.index] = np.maximum(cls.clock[units.index], task.unblocked[units.index])
        start = self.timing.task_start
        if code.alone is not None and units.count <= MAX_UNITS_ONE_BY_ONE:
            for unit in singles(units):
                part = message.part(unit)
                begin = self._consume_alone(cls, code, part, unit, count) - start
                if held_back:
                    self.machine.executor.taken(part, message.threshold, np.full((1, 1), begin))
        else:
            arguments = _arguments(code, message.payload[:, message.position : message.position + count, :])
            clock, first = cls.clock[units.index], message.head_time
            begin = clock
            for k in range(count):
                slots = code.template.copy()
                for slot, values in zip(code.arguments, arguments, strict=True):
                    value = values[:, k, :]
                    slots[slot] = value.item() if units.count == 1 else value
                begin = np.maximum(clock, first + k * message.rate)
                warp = Warp(cls, code, units, slots, begin + start)
                self.count_step(warp, code.where)
                run(warp)
                clock = warp.now
            cls.clock[units.index] = clock
            if held_back:
                self.machine.executor.taken(message, message.threshold, begin)
        message.position += count

    def _consume_alone(self, cls: UnitClass, code: Code, message: Message, unit: UnitSet, count: int) -> int:
        """Consume wavelets of one unit by the generated function of the task; return when the last task started."""
        assert code.alone is not None
        function, cost = code.alone
        start, rate = self.timing.task_start, message.rate
        arrived, time = int(np.max(message.head_time)), int(cls.clock[unit.index][0, 0])
        slots = code.template.copy()
        warp = Warp(cls, code, unit, slots, time)
        base, begin = cls.memory.base(unit), time
        arguments = _arguments(code, message.payload[:, message.position : message.position + count, :])
        # One or two arguments; a single one is used for both.
        first, last = code.arguments[0], code.arguments[-1]
        for value, other in zip(arguments[0].ravel().tolist(), arguments[-1].ravel().tolist(), strict=True):
            slots[first], slots[last] = value, other
            self.count_step(warp, code.where)
            elapsed, steps = function(warp, slots, base, self.bound - self.steps)
            self.steps += steps
            begin = (arrived if arrived > time else time) + start
            time = begin + elapsed + cost
            arrived += rate
        cls.clock[unit.index] = time
        return begin

    # What instructions and operations call

    def count_step(self, warp: Warp, where: str | None) -> None:
        """Count a task start or a loop iteration at `where`. Raises LoomError at the step limit."""
        self.steps += 1
        if self.steps > self.bound:
            self.overrun(warp, where)

    def budget(self) -> int:
        """Return how many steps may be taken before `overrun` is asked."""
        return self.bound - self.steps

    def overrun(self, warp: Warp, where: str | None, uncounted: int = 0) -> int:
        """Return a new budget when there is none left for a step.

        `uncounted` are steps taken, this one included, that are not in `steps` yet; the budget is for them too. Raises
        LoomError for a program that runs past its step limit.
        """
        steps = self.steps + uncounted
        if steps > self._limit:
            raise LoomError(
                f"the program runs past its step limit of {self._limit_of_run} in @{warp.code.name} on "
                f"{warp.cls.describe(warp.units)}; raise the limit, or look for a loop or a task that never ends",
                where,
            )
        watch = self.machine.watch
        if watch is not None:
            units = warp.cls.describe(warp.units)
            self.bound = min(self._limit, steps + watch.look(warp.code.name, where, units, steps - self._looked))
            self._looked = steps
        return self.bound - self.steps

    def pause(self, warp: Warp) -> int | None:
        """Pause a warp before the first send of its task, so that the next block posts its receives first."""
        if warp.stop >= 0:
            return None
        warp.pc = warp.code.instructions.index(self.pause) + 1
        self.suspend(warp)
        self.paused.append(warp)
        return SUSPENDED

    def suspend(self, warp: Warp) -> None:
        """Suspend a warp in the middle of its task."""
        warp.cls.hold(warp.units)

    def resume(self, warp: Warp, time: Any) -> None:
        """Resume a warp whose synchronous operation has completed at `time`."""
        warp.time, warp.elapsed = time, 0
        # Rows that share the state of a channel stay together; others would only have to part again.
        row = int(warp.units.rows[0]) if self.machine.channels else 0
        self.resumed.setdefault((warp.cls, warp.code, warp.pc, row), []).append(warp)

    def finish(self, warp: Warp) -> None:
        """End the task of a warp."""
        warp.cls.clock[warp.units.index] = warp.now
        self.release(warp)

    def release(self, warp: Warp) -> None:
        """Free units that were held in the middle of a task."""
        cls, units = warp.cls, warp.units
        held = cls.busy[units.index]
        if some(held):
            cls.busy_units -= int(held.sum())
            cls.busy[units.index] = False
            for task in cls.tasks.values():
                cls.touch(units, task)

    def hold(self, queue: InputQueue, message: Message) -> None:
        """Keep a message for a queue with several senders until nothing earlier can arrive."""
        self.held.append((queue, message))

    def _advance_time(self) -> bool:
        """Let the earliest tasks go, as far ahead as a wavelet takes to arrive, when nothing is certain any more."""
        starts: list[tuple[int, tuple[UnitClass, int]]] = []
        for key in self.stalled:
            first = self._earliest(*key)
            if first < NEVER:
                starts.append((first, key))
        earliest = min([first for first, _ in starts], default=NEVER)
        for _, message in self.held:
            earliest = min(earliest, int(np.min(message.head_time)))
        for _, times in self.polls.values():
            earliest = min(earliest, int(np.min(times)))
        crowded = [color for color in self.machine.switched.values() if color.is_crowded]
        undecided = min([color.earliest() for color in crowded], default=NEVER)
        networks = self.machine.networks.values()
        moving = min([network.earliest() for network in networks], default=NEVER)
        earliest = min(earliest, undecided, moving)
        if earliest >= NEVER:
            self.stalled.clear()
            return False
        horizon = earliest + self.lookahead
        if undecided <= horizon:
            # What routers let pass now is at another one a hop later, and what tasks send after the horizon.
            for color in crowded:
                self.machine.executor.decide(color, min(undecided + self.timing.hop, horizon + 1))
            return True
        if moving < horizon:
            # What tasks and operations send because of it comes after the horizon.
            for network in networks:
                network.decide(horizon)
            return True
        held, self.held = self.held, []
        due: dict[InputQueue, list[Message]] = {}
        for queue, message in held:
            early = np.broadcast_to(message.head_time <= horizon, message.units.shape)
            due.setdefault(queue, []).extend(message.part(units) for units in from_mask(message.units, early))
            self.held += [(queue, message.part(units)) for units in from_mask(message.units, ~early)]
        for queue, messages in due.items():
            for message in in_time(messages):
                self.machine.executor.admit(queue, message)
        for transfer, (_, times) in list(self.polls.items()):
            if transfer in self.polls and int(np.min(times)) <= horizon:
                self.machine.executor.give_up(transfer, horizon)
        self.stalled.clear()
        for first, key in sorted(starts, key=lambda start: start[0]):
            if first <= horizon:
                self._visit(*key, horizon=horizon)
            else:
                self.stalled[key] = None
        return True

    def _earliest(self, cls: UnitClass, number: int) -> int:
        block = cls.blocks[number]
        if block is None:
            return NEVER
        best = NEVER
        for task in cls.task_list:
            if number in task.hot:
                times = task.ready(block)
                if cls.busy_units:
                    times = np.where(cls.busy[block.index], NEVER, times)
                best = min(best, int(times.min()))
        return best


def _arguments(code: Code, raw: Array) -> list[Array]:
    """Return the arguments of a data task from raw wavelets of any shape: one of 16 or 32 bits, or two halves."""
    kinds = code.argument_kinds
    if len(kinds) == 1:
        return [decode(raw, kinds[0])]
    words = raw.astype(np.uint32)
    halves = [words & WORD_MASK, words >> WORD_BITS]
    dtypes = [DTYPES[kind] for kind in kinds]
    return [
        np.ascontiguousarray(word.astype(np.uint16)).view(dtype) for dtype, word in zip(dtypes, halves, strict=True)
    ]
