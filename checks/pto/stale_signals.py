"""Signals that keep the numbers of one launch for the next, whose waits then pass before anything is signaled."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.pto.dry_run.signals import COMPARISONS
from ...analysis.pto.dry_run.trace import Trace
from .hazard import Hazard

CODES = ("stale-signal",)
"""Codes of the findings that this check reports."""


def find_in_trace(trace: Trace) -> Iterator[Hazard]:
    """Yield the waits that pass at once in the second of several launches, though not in the first."""
    if trace.launches == 1 or not trace.complete:
        return
    stored = {access.memory for step in trace.steps for access in step.accesses if access.writes}
    for wait in trace.signals.awaits:
        array, byte = wait.place
        signal = trace.signals.of[wait.place]
        first, last = signal.first, signal.value
        # What stores leave there is not followed.
        if wait.wanted is None or first is None or last is None or array in stored:
            continue
        passes = COMPARISONS[wait.comparison]
        if passes(last, wait.wanted) and not passes(first, wait.wanted):
            yield Hazard(
                "stale-signal",
                trace.steps[wait.step].op,
                f"this wait passes at once in the next launch: the signal at byte {byte} of '{array}' is {first} "
                f"before the first of {trace.launches} launches and {last} behind it, and the wait is for "
                f"{wait.comparison} {wait.wanted}; set it back at the end (pto.comm.tnotify with set), or "
                "wait for a number that grows from launch to launch",
                "warning",
            )
