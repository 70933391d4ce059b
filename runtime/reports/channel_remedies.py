"""Remedies for units that wait for each other at channels, from how often each channel was pushed, popped and freed.

Knows neither executors nor channels: any executor fills in `Counts`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...diagnostics.records import record


@record
class Counts:
    """The progress of one channel at rest, the least of its lanes."""

    name: str
    depth: int
    popped: int
    freed: int
    lost: bool = False
    """True if frees have returned fewer credits than are due."""
    unpushed: int = 0
    """Slots that the producer has taken and not pushed."""


def remedy(waited: Counts, others: Iterable[Counts]) -> str:
    """Return what to do about units that wait for slots, or entries, of a channel, beside others with the same ends."""
    if waited.lost:
        return "free each entry before the next pop: a later free may return no credit"
    if waited.unpushed:
        return f"{waited.unpushed} slots of channel @{waited.name} were taken and not pushed: push each slot"
    held = waited.popped - waited.freed
    if held < waited.depth:
        return "let one of them push before it pops, or give the channel more slots"
    entries = f"{waited.popped} entries of channel @{waited.name} were popped and {waited.freed} freed"
    wrong = next((other for other in others if other.freed > other.popped), None)
    if wrong is not None:
        return (
            f"{entries}, while channel @{wrong.name} was freed {wrong.freed} times for {wrong.popped} pops: free the "
            f"entries of @{waited.name} there"
        )
    return f"{entries}: free each after its last use, or, if all {held} have to be in use at once, use more slots"
