"""Push and pop balance: rings into which more, or less, is pushed than popped."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import scf

from ...analysis.pto.balance import Imbalance, depends_on_values
from ...analysis.pto.rings import Ring
from ...analysis.pto.schedules import Action
from ...dialects.pto.kernels import ancestors
from ...operations import pipe_protocol
from .hazard import Hazard, counted
from .subject import Subject

CODES = ("unbalanced-pipe",)
"""Codes of the findings that this check reports."""


def find(subject: Subject) -> Iterator[Hazard]:
    """Yield the last pop, or push, of each ring that is unbalanced for all numbers."""
    for imbalance in subject.imbalances.values():
        yield _hazard(imbalance)
    for ring in subject.rings:
        if ring.is_used_by_one_end and depends_on_values(ring):
            yield one_sided(ring, pops=not ring.producers)


def one_sided(ring: Ring, *, pops: bool) -> Hazard:
    """Return the hazard of a ring that is only popped from, or only pushed into, however often."""
    action: Action = "pop" if pops else "push"
    ends = ring.consumers if pops else ring.producers
    kernel, use = [(kernel, use) for kernel, uses in ends.items() for use in uses if use.action in (action, "alloc")][
        -1
    ]
    name = f"@{kernel.function.sym_name.data}"
    message = (
        f"entries are popped in {name}, but none is pushed into {ring.label}, so the consumer waits forever"
        if pops
        else f"entries are pushed into {ring.label} in {name}, but none is popped, so they are left in it"
    )
    severity = "warning" if any(isinstance(parent, scf.IfOp) for parent in ancestors(use.op)) else "error"
    return Hazard("unbalanced-pipe", use.op, f"{message}; make both agree", severity)


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
