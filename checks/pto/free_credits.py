"""Frees: as many as pops, each behind its pop, and in an order that returns every credit (H3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ...analysis.pto.schedules import Kernel, PipeUse, Schedule
from ...diagnostics.locations import location_of
from ...operations import pipe_protocol
from ...operations.pipe_protocol import Behavior
from .hazard import Hazard, counted, in_every_schedule

CODES = ("early-credit", "lost-credit", "unbalanced-pipe")
"""Codes of the findings that this check reports."""


def find_in_kernel(kernel: Kernel) -> Iterator[Hazard]:
    """Yield the frees that miscount slots, and the pops that nothing frees."""
    return in_every_schedule(kernel, find_in_schedule)


def find_in_schedule(path: Schedule, kernel: Kernel) -> Iterator[Hazard]:
    """Yield the first use of each ring, in one schedule, that miscounts its free slots."""
    if not path.complete:
        return
    for (pipe, direction), uses in path.pops_and_frees().items():
        harmless = kernel.frees_at_pop(pipe, direction)
        counts = Counter(use.action for use in uses)
        pops, frees = counts["pop"], counts["free"]
        if pops != frees:
            if pops < frees and _complement(path, uses, pops - frees) is not None:
                continue  # They are reported of the pipe that they are meant for.
            balance = (
                f"{counted(pops, 'entry is', 'entries are')} popped from {uses[0].name}, but "
                f"{counted(frees, 'is', 'are')} freed"
                if path.exact
                else f"{'more' if pops > frees else 'fewer'} entries of {uses[0].name} are popped than freed"
            )
            last = next(use for use in reversed(uses) if use.action == ("pop" if pops > frees else "free"))
            yield Hazard(
                "unbalanced-pipe",
                last.op,
                f"{balance}{_consequence(path, uses, pops - frees)}",
                "warning" if harmless else "error",
            )
        elif not harmless:
            yield from _credits(uses, pipe_protocol.credit_period(pipe.depth, kernel.behavior), kernel.behavior)


def is_freed_once(uses: Sequence[PipeUse]) -> bool:
    """Return True if as many entries of a ring are freed as popped."""
    counts = Counter(use.action for use in uses)
    return counts["pop"] == counts["free"]


def _consequence(path: Schedule, uses: Sequence[PipeUse], unfreed: int) -> str:
    """Describe what frees that are missing, or too many, lead to, and what to do; a free may name another pipe."""
    other = _complement(path, uses, unfreed)
    if other is not None and unfreed > 0:
        counts = Counter(use.action for use in other)
        place = location_of(next(use.op for use in reversed(other) if use.action == "free"))
        where = "" if place is None else f", such as the one at {place}"
        return (
            f", while {other[0].name} is freed {counts['free']} times for {counted(counts['pop'], 'pop', 'pops')}: "
            f"{counted(unfreed, 'of its frees is', 'of its frees are')} meant for {uses[0].name}{where}; name that "
            "pipe there"
        )
    if unfreed > 0:
        return ", so its producer waits for slots that are never free; free each entry once"
    return "; free each entry once"


def _complement(path: Schedule, uses: Sequence[PipeUse], unfreed: int) -> Sequence[PipeUse] | None:
    """Return the uses of another ring that has as many frees too many, or too few; None without one."""
    for other in path.pops_and_frees().values():
        counts = Counter(use.action for use in other)
        if path.exact and other[0].direction == uses[0].direction and counts["free"] - counts["pop"] == unfreed:
            return other
    return None


def _credits(uses: Sequence[PipeUse], period: int, behavior: Behavior) -> Iterator[Hazard]:
    """Yield the free that returns too many credits, or the last one if too few are returned.

    Chips return credits by the number of popped entries, not of freed ones.
    """
    popped = freed = returned = 0
    for use in uses:
        popped += use.action == "pop"
        if use.action != "free":
            continue
        freed += 1
        if freed > popped:
            yield Hazard(
                "unbalanced-pipe",
                use.op,
                f"an entry of {use.name} is freed before it is popped; pop it first",
            )
            return
        returned += popped % period == 0
        if returned * period > freed:
            yield Hazard(
                "early-credit",
                use.op,
                f"on {behavior} a free returns a credit for {period} slots whenever a multiple of {period} entries "
                f"have been popped: {popped} have here, but only {freed} are freed, so the producer may overwrite an "
                "entry in use; free each entry before the next pop",
            )
            return
    depth = uses[0].pipe.depth
    waits = sum(pipe_protocol.push_waits(index, depth) for index in range(popped))
    if returned < (waits if behavior == "a5" else popped // period):
        yield Hazard(
            "lost-credit",
            uses[-1].op,
            f"on {behavior} a free returns a credit for {period} slots only if a multiple of {period} entries have "
            f"been popped: of {popped // period} credits {returned} are returned here, so the producer waits forever; "
            "free each entry before the next pop",
        )
