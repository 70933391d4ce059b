"""Push and pop balance: rings into which more, or less, is pushed than popped."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.pto.balance import Imbalance
from ...analysis.pto.schedules import Action
from ...operations import pipe_protocol
from .hazard import Hazard, counted
from .subject import Subject

CODES = ("unbalanced-pipe",)
"""Codes of the findings that this check reports."""


def find(subject: Subject) -> Iterator[Hazard]:
    """Yield the last pop, or push, of each ring that is unbalanced for all numbers."""
    for imbalance in subject.imbalances.values():
        yield _hazard(imbalance)


def _hazard(imbalance: Imbalance) -> Hazard:
    ring, lane, pushes, pops = imbalance.ring, imbalance.lane, imbalance.pushes, imbalance.pops
    ends = [(kernel, uses) for end in (ring.producers, ring.consumers) for kernel, uses in end.items()]
    kernel, uses = ends[-1]
    wait = "the consumer waits forever" if pushes < pops else "entries are left in it"
    core = f" by AIV{lane}" if lane else ""
    puts, takes = (core, "") if ring.direction == pipe_protocol.V2C else ("", core)
    action: Action = "pop" if ring.consumers else "push"
    place = f" in @{kernel.function.sym_name.data}" if ring.consumers else ""
    return Hazard(
        "unbalanced-pipe",
        next((use.op for use in reversed(uses) if use.action == action), uses[-1].op),
        f"{counted(pops, 'entry is', 'entries are')} popped{place}{takes}, but "
        f"{counted(pushes, 'is', 'are')} pushed into {ring.label}{puts}, so {wait}; make both agree",
    )
