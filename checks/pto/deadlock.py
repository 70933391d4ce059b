"""Deadlock: kernels that wait for each other forever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ...analysis.event_graph import Deadlock, NoSafeSlotCount, smallest_slot_counts
from ...analysis.pto.rings import Program
from ...operations import pipe_protocol
from .hazard import Hazard
from .subject import Execution, Subject

CODES = ("deadlock",)
"""Codes of the findings that this check reports."""


def find(subject: Subject) -> Iterator[Hazard]:
    """Yield the deadlock of each program whose events are known."""
    for execution in subject.executions:
        yield from find_in_execution(execution)


def find_in_execution(execution: Execution) -> Iterator[Hazard]:
    """Yield the deadlock that the cores run into, if they do.

    If counts of pushes, pops and frees differ, those are the cause, and reported with their remedy.
    """
    program = execution.program
    if execution.deadlock is not None and all(_balances(program, name) for name in program.rings):
        yield _hazard(program, execution.deadlock)


def pushes_and_pops(program: Program, ring: str) -> tuple[int, int]:
    """Return how many entries of a ring are pushed, and popped, by the core that does most."""
    counts = [
        [sum(event.ring == ring and event.action in actions for event in events) for events in program.cores.values()]
        for actions in (("push", "commit"), ("pop",))
    ]
    return max(counts[0]), max(counts[1])


def _balances(program: Program, ring: str) -> bool:
    """Return True if as many entries of a ring are pushed as popped, and each core frees as many as it pops."""
    pushed, popped = pushes_and_pops(program, ring)
    counts = (Counter(event.action for event in events if event.ring == ring) for events in program.cores.values())
    frees = program.rings[ring].frees_at_pop or all(count["pop"] == count["free"] for count in counts)
    return pushed == popped and frees


def _hazard(program: Program, deadlock: Deadlock) -> Hazard:
    first = deadlock.dependences[0].waiting
    operations = program.operations[first.core]
    pipes, behavior = program.pipes(), program.kernels[0].behavior
    # Credits that pipes begin with only put a deadlock off, or let slots be overwritten.
    try:
        slots = smallest_slot_counts(
            program.cores,
            program.ring_buffers(seeded=False),
            pipes,
            lambda count: pipe_protocol.credit_period(count, behavior),
            at_least=1,
        )
    except NoSafeSlotCount:
        remedy = "no number of slots helps: pop and free entries in the order in which they are pushed"
    else:
        better = [
            f"slot_num = {count} for {' and '.join(pipe)}"
            for pipe, count in zip(pipes, slots, strict=True)
            if count != program.rings[pipe[0]].pipe.depth
        ]
        remedy = f"use {', '.join(better)}, or wait for fewer entries at once"
    return Hazard(
        "deadlock",
        operations[min(first.position, len(operations) - 1)],
        f"the kernels deadlock: {deadlock}; {remedy}",
    )
