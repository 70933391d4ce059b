"""Tasks of a PE: when they were activated and since when they are unblocked.

What happens at cycle 500 may be known before what happens at cycle 100. So the state of a task is times, not flags: an
activation or an unblocking of the future waits until the task has run, or was blocked, at an earlier cycle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..reports.rest import MAX_LOST

if TYPE_CHECKING:
    from .queues import InputQueue

NEVER = 1 << 62
"""The time of what is not known to happen."""

MAX_UNBLOCKINGS = 64
"""Remembered unblockings before those that are past are dropped."""


@dataclass(eq=False, slots=True)
class Task:
    """A task of a PE.

    `active` is when it was activated (of a data task and of a listener: when its next wavelet is there), `unblocked`
    since when it may run; None for a task that nothing can block.
    """

    number: int
    """Its row."""
    row: Any
    touch: Callable[[], None]
    """Has the PE look again for what to run."""
    clock: Callable[[], int]
    active: int
    unblocked: int | None
    queue: InputQueue | None = None
    """Whose wavelets start it."""
    priority_id: int = -1
    """The id by which it has a priority; -1 if it has none."""
    picked: int | None = None
    """When it was last picked, for a task that completions activate: what came before is used up."""
    completed: bool = False
    """True if a completion set `active`, and not an instruction."""
    lost: int = 0
    """Activations while it was active, if completions activate it: it started once for two of them."""
    later: list[int] = field(default_factory=list[int])
    """Completions that activate the task, maybe after it has been picked."""
    blocked: int | None = None
    """When it was last blocked, for a task that completions unblock: what came before is undone."""
    unblockings: list[int] = field(default_factory=list[int])
    """Completions that unblock the task, maybe after the next blocking."""
    arguments: list[int] = field(default_factory=list[int])
    """Of a launch."""

    @property
    def ready(self) -> int:
        """From when on it could run, NEVER if it cannot."""
        return self.active if self.unblocked is None else max(self.active, self.unblocked)

    # Activation

    def activate(self, time: int) -> None:
        """Activate the task by an instruction; an active task stays as it is."""
        self._activate(time, completion=False)

    def complete(self, time: int, *, activate: bool) -> None:
        """Activate or unblock the task by the end of an operation.

        It may become known after the task has been picked, or was blocked, at a later cycle: then it has had its effect
        before. Completions of one cycle come one after the other, so that in which the task is picked may hold another.
        """
        if activate:
            if self.picked is None or self.picked <= time:
                self._activate(time, completion=True)
            else:
                self._lose()
        elif self.blocked is None or self.blocked < time:
            self.unblock(time, ahead=True)

    def _activate(self, time: int, *, completion: bool) -> None:
        current = self.active
        if current == NEVER:
            self.active, self.completed = time, completion
        elif self.picked is None:
            self.active = min(current, time)
        else:
            # The PE that executes an instruction picks no task before it, so only a completion can come later.
            is_first, other = time < current, self.completed
            if is_first:
                self.active, self.completed = time, completion
            if other if is_first else completion:
                self.later.append(max(current, time))
            else:
                self._lose()
        self.touch()

    def _lose(self) -> None:
        self.lost = min(self.lost + 1, MAX_LOST)

    def pick(self, time: int) -> None:
        """Pick the task, to begin at a time: its activation, and what came before, is used up."""
        self.active = NEVER
        if self.picked is None:
            return
        self.picked = time
        waiting, self.later = self.later, []
        for when in waiting:
            if when >= time:
                self._activate(when, completion=True)
            else:
                self._lose()

    # Blocking

    def unblock(self, time: int, *, ahead: bool = False) -> None:
        """Unblock the task from a time on.

        `ahead` says that a completion does it, which may be later than what the PE does next: if the task is not
        blocked now, it counts once more after a blocking that comes before it.
        """
        current = self.unblocked
        if current is None:
            return
        if current == NEVER:
            self.unblocked = time
        else:
            self.unblocked = min(current, time)
            if ahead or current > time:
                self.unblockings.append(max(current, time))
                if len(self.unblockings) > MAX_UNBLOCKINGS:
                    # What is behind the clock can no longer follow a blocking.
                    self.unblockings = [when for when in self.unblockings if when > self.clock()]
        self.touch()

    def block(self, time: int) -> None:
        """Block the task at a time, until an unblocking that comes later."""
        if self.unblocked is None:
            return
        if self.blocked is not None:
            self.blocked = time
        if self.unblocked <= time:
            self.unblocked = NEVER
        waiting, self.unblockings = self.unblockings, []
        for when in waiting:
            if when > time:
                self.unblock(when, ahead=True)
