"""Scheduling of warps: which task starts on which units, and who goes on when an entry or a credit has come.

It keeps a list of the blocks of units in which something changed and never scans the grid. In a block all units that
start the same task go as one warp. Chips have no cost model, so there is no time: tasks start in the order of their
class, and what has been given to a warp most recently goes on first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...diagnostics.errors import LoomError
from ..watch import MIN_STEPS
from .tasks import Task
from .unit_class import UnitClass
from .units import UnitSet, from_mask, some
from .warp import FINISHED, Code, Warp, gather, run

if TYPE_CHECKING:
    from .machine import WarpMachine

UNLIMITED = 1 << 62
"""Steps that no run takes."""

BETWEEN_QUESTIONS = 16
"""Blocks visited before a run asks again whether it is to stop."""


class Scheduler:
    """Schedules the units of one machine."""

    def __init__(self, machine: WarpMachine):
        self.machine = machine
        self.ready: deque[tuple[UnitClass, int]] = deque()
        self.queued: set[tuple[UnitClass, int]] = set()
        self.resumed: dict[tuple[UnitClass, Code, int, int], list[Warp]] = {}
        self.paused: deque[Warp] = deque()
        """Warps that let all others go on first."""
        self.steps = 0
        self._limit = UNLIMITED
        self._limit_of_run: int | None = None
        """Of `steps`."""
        self.bound = UNLIMITED
        """Of `steps`, until the limit or until the watch looks again."""
        self._looked = 0
        """`steps` when the watch looked last."""
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
        self._limit = UNLIMITED if step_limit is None else self.steps + step_limit
        self._limit_of_run = step_limit
        self._looked = self.steps
        self.bound = min(self._limit, UNLIMITED if self.machine.watch is None else self.steps + MIN_STEPS)
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
            # Warps that meet at one program point go on as one. The last to be woken goes on first: what it was given
            # is still in the cache.
            for warp in gather(self.resumed.pop(next(reversed(self.resumed)))):
                self._drain(warp)
        elif self.ready:
            key = self.ready.popleft()
            self.queued.discard(key)
            self._visit(*key)
        elif self.paused:
            self._drain(self.paused.popleft())
        else:
            return False
        return True

    def _drain(self, warp: Warp) -> None:
        if run(warp) == FINISHED:
            self.release(warp)

    def _visit(self, cls: UnitClass, number: int) -> None:
        """Run the tasks that units of a block can start."""
        block = cls.blocks[number]
        if block is None:
            return
        for task in cls.tasks:
            if number not in task.hot:
                continue
            ready = task.active[block.index]
            if not some(ready):
                task.hot.discard(number)
                continue
            for units in from_mask(block, ready & ~cls.busy[block.index]):
                self._start(cls, task, units)

    def _start(self, cls: UnitClass, task: Task, units: UnitSet) -> None:
        task.active[units.index] = False
        warp = Warp(cls, task.code, units, task.code.template.copy())
        self.task_runs += units.count
        self.count_step(warp, task.code.where)
        self._drain(warp)

    # What instructions call

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

    def suspend(self, warp: Warp) -> None:
        """Suspend a warp in the middle of its task."""
        warp.cls.hold(warp.units)

    def resume(self, warp: Warp) -> None:
        """Resume a warp that can go on."""
        # Rows that share the state of a channel stay together; others would only have to part again.
        row = int(warp.units.rows[0])
        self.resumed.setdefault((warp.cls, warp.code, warp.pc, row), []).append(warp)

    def release(self, warp: Warp) -> None:
        """End the task of a warp: free units that were held in the middle of it."""
        cls, units = warp.cls, warp.units
        if not cls.busy_units:
            return
        held = cls.busy[units.index]
        if some(held):
            cls.busy_units -= int(held.sum())
            cls.busy[units.index] = False
            for task in cls.tasks:
                cls.touch(units, task)
