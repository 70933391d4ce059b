"""Microthreads that programs block and unblock (CSL language reference, Microthread IDs).

The operation of a blocked microthread takes and sends no element. What has been issued while its microthread was
blocked has not begun: it reads its memory when that is unblocked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..findings import Code

if TYPE_CHECKING:
    from .machine import Machine
    from .pes import PE, Issue


@dataclass(eq=False, slots=True)
class Gate:
    """Lets the operation of a microthread go on, or not."""

    blocked_at: int | None = None
    """Source place of what has blocked it, None if it is not blocked."""
    unblocked: int = 0
    """The first cycle in which it may go on since it was unblocked last."""
    beginning: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    """What has not begun, since it was issued while the microthread was blocked."""
    waiting: dict[object, Callable[[], None]] = field(default_factory=dict[object, Callable[[], None]])
    """The turns that wait for it to be unblocked, and what looks at them again then."""

    @property
    def is_blocked(self) -> bool:
        """True if nothing goes on."""
        return self.blocked_at is not None

    def block(self, where: int) -> None:
        """Block the microthread, unless it is blocked, from the next cycle on."""
        if self.blocked_at is None:
            self.blocked_at = where

    def unblock(self, time: int) -> None:
        """Unblock the microthread, if it is blocked: it goes on in the next cycle."""
        if self.blocked_at is None:
            return
        self.blocked_at, self.unblocked = None, time + 1
        begin, self.beginning = self.beginning, []
        waiting, self.waiting = self.waiting, {}
        for each in (*begin, *waiting.values()):
            each()


def gate_of(issue: Issue) -> Gate | None:
    """Return the gate of the microthread of an operation, if its program ever blocks that."""
    thread = issue.settings.microthread
    return None if thread is None else issue.pe.gates.get(thread)


def change(machine: Machine, pe: PE, number: int, where: int, *, blocks: bool) -> None:
    """Block or unblock a microthread of a PE; report one that there is not."""
    if not 0 <= number < machine.fabric.target.microthreads:
        machine.fail(pe, Code.MICROTHREAD_MISSING, where, number, int(blocks))
    gate = pe.gates.get(number)
    if gate is None:
        return  # it is never blocked
    if blocks:
        gate.block(where)
    else:
        gate.unblock(pe.now)
