"""Ends of operations: what they start, and the task that goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .pes import PE, Issue
from .queues import Run
from .sends import Send

if TYPE_CHECKING:
    from .machine import Machine


def signal(machine: Machine, issue: Issue, time: int, *, by_control: bool = False) -> None:
    """Activate or unblock the task that the end of an asynchronous operation is to start."""
    settings, pe = issue.settings, issue.pe
    activate = settings.control_activate if by_control else settings.activate
    unblock = settings.control_unblock if by_control else settings.unblock
    if activate is not None:
        pe.tasks[activate].complete(time, activate=True)
    elif unblock is not None:
        pe.tasks[unblock].complete(time, activate=False)
    else:
        machine.latest = max(machine.latest, time)


def resume(machine: Machine, pe: PE, time: int) -> None:
    """Let a task go on whose operation has ended."""
    pe.now = time
    machine.resumed.append(pe)


def settle(machine: Machine, send: Send) -> None:
    """Remember a send that waits, so that the last for which it does ends it."""
    send.settled = True
    machine.sends[send] = None


def taken(machine: Machine, run: Run, position: int, time: int) -> None:
    """Let the sender know that a receiver takes a wavelet of a run."""
    if run.piece is not None:
        run.piece.taken(position, 1, time, 1)
    if run.path is not None:
        run.path.taken(machine, time, 1, 1)


def accept(machine: Machine, send: Send, time: int) -> None:
    """Let a send know that a receiver has made room, or that its message has left."""
    if send.accept(time):
        machine.sends.pop(send, None)
        _sent(machine, send)


def _sent(machine: Machine, send: Send) -> None:
    """Act upon the end of a send."""
    issue = send.issue
    if machine.statistics is not None:
        machine.statistics.sent(send)
    if machine.trace is not None:
        machine.trace.completes(issue, send.done, send.count)
    if send.flight is not None and machine.races is not None:
        machine.races.end(send.flight, send.done)
    send.queue.resource.release(send.since, send.done)
    if issue.settings.microthread is not None:
        issue.pe.threads[issue.settings.microthread].release(send.since, send.done)
    if send.holds_task:
        resume(machine, issue.pe, send.done)
    else:
        signal(machine, issue, send.done)
