"""Task states of a class: when tasks were activated and since when they are unblocked, unit by unit.

Engine order is not time order: what happens at cycle 500 may be known before what happens at cycle 100. So the
state of a task is times, not flags: an activation or an unblocking of the future waits until the task has run, or
was blocked, at an earlier cycle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .units import Array, UnitSet, every, from_mask, intersect, select, some, subtract

if TYPE_CHECKING:
    from .queues import InputQueue
    from .unit_class import UnitClass
    from .warp import Code

NEVER = 1 << 62
"""The time, or the step, of what is not known to happen."""

MAX_UNBLOCKINGS = 64
"""Remembered unblockings before those that are past are dropped."""


@dataclass(eq=False)
class Task:
    """A task of every unit of a class.

    `active` is when the unit's task was activated (for a data task: when its next wavelet is there), NEVER if it is
    not. `unblocked` is since when it may run; None while no instruction and no completion can block it.
    """

    cls: UnitClass
    name: str
    kind: str
    number: int
    code: Code
    active: Array
    unblocked: Array | None
    queue: InputQueue | None = None
    picked: Array | None = None
    """When the task was last picked, for a task that completions activate: what came before is used up."""
    completed: Array | None = None
    """True if a completion set `active`, and not an instruction; for a task that completions activate."""
    blocked: Array | None = None
    """When the task was last blocked, for a task that completions unblock: what came before is undone."""
    later: list[tuple[UnitSet, Any]] = field(default_factory=list[tuple[UnitSet, Any]])
    """Completions that activate the task, maybe after it has been picked."""
    unblockings: list[tuple[UnitSet, Any]] = field(default_factory=list[tuple[UnitSet, Any]])
    """Completions that unblock the task, maybe after the next blocking."""
    hot: set[int] = field(default_factory=set[int])
    """Blocks of the class in which some unit may have the task active."""

    def expect_completions(self, *, activate: bool) -> None:
        """Keep the times of the task for `complete`: some operation activates or unblocks it at its completion."""
        times = np.full(self.active.shape, -1, np.int64)
        if activate:
            self.picked, self.completed = times, np.zeros(self.active.shape, np.bool_)
        else:
            self.blocked = times

    def complete(self, units: UnitSet, time: Any, *, activate: bool) -> None:
        """Activate or unblock the task by an operation that completes at given times.

        The engine may learn of it after the task has been picked, or was blocked, at a later cycle: then it has had its
        effect before. Completions of one cycle come one after the other, so that in which the task is picked may hold
        another one.
        """
        past = self.picked if activate else self.blocked
        fresh = [units]
        if past is not None:
            late = past[units.index] > time if activate else past[units.index] >= time
            if some(late):
                fresh = from_mask(units, ~late)
        for part in fresh:
            share = select(units, part, time)
            if activate:
                self._activate(part, share, completion=True)
            else:
                self.unblock(part, share, ahead=True)

    def activate(self, units: UnitSet, time: Any) -> None:
        """Activate the task of some units by an instruction at given times; an active task stays as it is."""
        self._activate(units, time, completion=False)

    def _activate(self, units: UnitSet, time: Any, *, completion: bool) -> None:
        index = units.index
        current = self.active[index]
        if every(current == NEVER):
            self.active[index] = time
            if self.completed is not None:
                self.completed[index] = completion
        elif self.completed is not None:
            # A copy: for a rectangle it is a view, which the next statement changes.
            current = current.copy()
            time = np.broadcast_to(np.asarray(time), units.shape)
            first = time < current
            self.active[index] = np.where(first, time, current)
            # The PE that executes an instruction picks no task before it, so only a completion can come later.
            others = self.completed[index]
            waiting = (current != NEVER) & np.where(first, others, completion)
            self.completed[index] = np.where(first, completion, others)
            self.later += [(part, select(units, part, np.maximum(current, time))) for part in from_mask(units, waiting)]
        else:
            self.active[index] = np.minimum(current, time)
        self.cls.touch(units, self)

    def pick(self, units: UnitSet, time: Any) -> None:
        """Pick the task on some units, to begin soon: its activation, and what came before, is used up."""
        self.active[units.index] = NEVER
        if self.picked is None or self.completed is None:
            return
        self.picked[units.index] = time
        if not self.later:
            return
        waiting, self.later = self.later, []
        for others, when in waiting:
            common = intersect(others, units)
            if common is None:
                self.later.append((others, when))
                continue
            self.later += [(part, select(others, part, when)) for part in subtract(others, common)]
            when = select(others, common, when)
            for part in from_mask(common, np.broadcast_to(when >= select(units, common, time), common.shape)):
                self._activate(part, select(common, part, when), completion=True)

    def unblock(self, units: UnitSet, time: Any, *, ahead: bool = False) -> None:
        """Unblock the task from given times on.

        `ahead` says that a completion does it, which may be later than what the units do next: where the task is
        not blocked now, it counts once more after a blocking that comes before it.
        """
        if self.unblocked is None:
            return
        current = self.unblocked[units.index]
        blocked = current == NEVER
        if every(blocked):
            self.unblocked[units.index] = time
        else:
            # A copy: for a rectangle it is a view, which the next statement changes.
            current = current.copy()
            time = np.broadcast_to(np.asarray(time), units.shape)
            self.unblocked[units.index] = np.minimum(current, time)
            again = ~blocked if ahead else ~blocked & (current > time)
            if some(again):
                last = np.maximum(current, time)
                self.unblockings += [(part, select(units, part, last)) for part in from_mask(units, again)]
                if len(self.unblockings) > MAX_UNBLOCKINGS:
                    # What is behind the units' clocks can no longer follow a blocking.
                    clock = self.cls.clock
                    self.unblockings = [
                        (part, when) for part, when in self.unblockings if (when > clock[part.index]).any()
                    ]
        self.cls.touch(units, self)

    def block(self, units: UnitSet, time: Any) -> None:
        """Block the task at given times, until an unblocking that comes later."""
        if self.unblocked is None:
            return
        index = units.index
        if self.blocked is not None:
            self.blocked[index] = time
        current = self.unblocked[index]
        past = current <= time
        if not self.unblockings:
            self.unblocked[index] = NEVER if every(past) else np.where(past, NEVER, current)
            return
        self.unblocked[index] = np.where(past, NEVER, current)
        waiting, self.unblockings = self.unblockings, []
        for others, when in waiting:
            common = intersect(others, units)
            if common is None:
                self.unblockings.append((others, when))
                continue
            self.unblockings += [(part, select(others, part, when)) for part in subtract(others, common)]
            when = np.broadcast_to(np.asarray(select(others, common, when)), common.shape)
            for part in from_mask(common, when > select(units, common, time)):
                self.unblock(part, select(common, part, when), ahead=True)

    def ready(self, units: UnitSet) -> Array:
        """Return from when on each unit could run the task, NEVER if it cannot."""
        if self.unblocked is None:
            return self.active[units.index]
        return np.maximum(self.active[units.index], self.unblocked[units.index])
