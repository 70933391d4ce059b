"""Overwrites: pushes that may reuse a slot before its entry is freed (H1 to H3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...analysis.event_graph import EventGraph
from ...analysis.pto.rings import Component, Ring
from ...diagnostics.findings import Severity
from ...operations import pipe_protocol
from ...operations.pipe_protocol import Behavior
from .hazard import Hazard, counted
from .subject import Execution, Subject
from .unsafe_depth import find_in_pipe

CODES = ("early-overwrite", "seeded-credits")
"""Codes of the findings that this check reports."""


def find(subject: Subject) -> Iterator[Hazard]:
    """Yield the first overwriting push of each ring.

    Where loops run an unknown number of times, and nothing else can be said of a program, some number is tried.
    """
    for execution in subject.executions:
        yield from find_in_execution(execution)
    for _, program, outcomes in subject.symbolic:
        if program is not None and outcomes is None:
            yield from find_in_execution(Execution(program))


def find_in_execution(execution: Execution) -> Iterator[Hazard]:
    """Yield the first overwriting push of each ring; none if the cores deadlock.

    The cause is the credits that the pipe begins with, its number of slots, or the order of frees.
    """
    if execution.deadlock is not None:
        return
    program, overwriting = execution.program, execution.graph.overwriting_pushes()
    severity: Severity = "error" if program.exact else "warning"
    behavior = program.kernels[0].behavior
    unseeded = EventGraph(program.cores, program.ring_buffers(seeded=False))
    certain = unseeded.overwriting_pushes() if overwriting and unseeded.deadlock() is None else {}
    for name, push in overwriting.items():
        ring, depth = program.rings[name], program.rings[name].pipe.depth
        slot = pipe_protocol.slot_of(push, depth)
        if name not in certain:
            yield Hazard(
                "seeded-credits",
                ring.pipe,
                f"{_seeds(ring, behavior, name)}, so push {push} may reuse slot {slot} before it is read; have the "
                "consumer answer, or use as many slots as there are pushes",
                "warning",
            )
        elif pipe_protocol.unsafe_push(depth) is not None:
            yield from (replace(hazard, severity=severity) for hazard in find_in_pipe(ring.pipe))
        else:
            (pushes,) = ring.producers.values()
            yield Hazard(
                "early-overwrite",
                next(use.op for use in pushes if use.action in ("alloc", "push")),
                f"push {push} into {name} may reuse slot {slot} before entry {push - depth} is freed; free entries in "
                "the order in which they are popped, each before the next pop",
                severity,
            )


def seeded_credits(component: Component, name: str) -> Hazard:
    """Return the hazard of a ring that is overwritten only because of the credits it begins with."""
    ring, behavior = component.rings[name], component.kernels[0].behavior
    return Hazard(
        "seeded-credits",
        ring.pipe,
        f"{_seeds(ring, behavior, name)}, so a push may reuse a slot before it is read; have the consumer "
        "answer, or use as many slots as there are pushes",
        "warning",
    )


def _seeds(ring: Ring, behavior: Behavior, name: str) -> str:
    """Describe the credits a pipe begins with."""
    depth, credits = ring.pipe.depth, counted(ring.seeded_credits(behavior), "credit", "credits")
    free = f"the slot of {name} is" if depth == 1 else f"all {depth} slots of {name} are"
    return f"{behavior} begins with {credits} although {free} free"
