"""Credits that a5 keeps for the next launch although each entry is freed once (H2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .hazard import Hazard, counted
from .subject import Execution, Subject

CODES = ("leftover-credits",)
"""Codes of the findings that this check reports."""


def find(subject: Subject) -> Iterator[Hazard]:
    """Yield the pipes of programs with known events that end with more credits than they begin with."""
    for execution in subject.executions:
        yield from find_in_execution(execution)


def find_in_execution(execution: Execution) -> Iterator[Hazard]:
    """Yield the pipes that end with more credits than they begin with; none if the cores deadlock."""
    if execution.deadlock is not None:
        return
    program = execution.program
    for name, buffer in program.ring_buffers().items():
        ring, period = program.rings[name], buffer.period
        counts = {
            core: Counter(event.action for event in events if event.ring == name)
            for core, events in program.cores.items()
        }
        pushed = max((count["push"] + count["commit"] for count in counts.values()), default=0)
        popped = [count["pop"] for count in counts.values() if count["pop"]]
        if not buffer.initial_credits or any(count["free"] not in (0, count["pop"]) for count in counts.values()):
            continue
        waits = sum(1 for number in range(ring.pipe.depth, pushed) if number % period == 0)
        left = max(popped, default=0) // period - waits
        opened = next((use.pipe for uses in ring.producers.values() for use in uses), None)
        if left > 0 and opened is not None:
            initial = buffer.initial_credits
            yield Hazard(
                "leftover-credits",
                opened,
                f"{counted(pushed, 'entry', 'entries')} through {ring.label} leave{'s' if pushed == 1 else ''} "
                f"{counted(left, 'credit', 'credits')} more than it begins with, so the next launch does not "
                f"wait for its consumer as it should: pushes wait {counted(waits, 'time', 'times')} here, but a free "
                f"returns a credit at every {period} entries, and at the end a5 takes back {initial} (H2); clear "
                "its flags between launches",
                "warning",
            )
