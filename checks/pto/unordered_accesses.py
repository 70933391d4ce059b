"""Accesses of the same memory that nothing orders: of global memory between cores, and between pipes of one core."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.pto.dry_run.races import Race, races
from ...analysis.pto.dry_run.trace import Step, Trace
from ...diagnostics.locations import location_of
from .hazard import Hazard

CODES = ("global-race", "pipe-race", "unchecked-order")
"""Codes of the findings that this check reports."""


def find_in_trace(trace: Trace) -> Iterator[Hazard]:
    """Yield the later of two accesses that race, once for each pair of operations; and what is not compared."""
    for race in races(trace, frozenset(trace.slots)):
        yield _hazard(trace, race)
    for op, why in list(trace.unchecked.items())[: len(trace.cores) > 1]:
        message = f"accesses of different cores are not compared, since {op.name} orders them and {why}"
        yield Hazard("unchecked-order", op, message, "note")


def _hazard(trace: Trace, race: Race) -> Hazard:
    first, second = race.first, race.second
    one, other = trace.cores[first.core], trace.cores[second.core]
    does, did = ("stores" if writes else "loads" for writes in (race.writes[1], race.writes[0]))
    place = location_of(first.op)
    where = "" if place is None or first.op is second.op else f" at {place}"
    if one == other:
        memory = race.memory if not race.memory.startswith("block ") else race.memory.rpartition(" ")[2]
        return Hazard(
            "pipe-race",
            second.op,
            f"{second.pipe.value} {'writes' if race.writes[1] else 'reads'} byte {race.byte} of '{memory}', which "
            f"{first.pipe.value} {'writes' if race.writes[0] else 'reads'}{where}, and no flag orders the two on "
            f"{other.name}; set a flag of {first.pipe.value} to {second.pipe.value} in between and wait for it",
        )
    return Hazard(
        "global-race",
        second.op,
        f"{other} {does} byte {race.byte} of '{race.memory}', which {one} {did}{where}, and nothing orders the two; "
        f"{_remedy(trace, first, second)}",
    )


def _remedy(trace: Trace, first: Step, second: Step) -> str:
    one, other = trace.cores[first.core], trace.cores[second.core]
    if one.device != other.device:
        return (
            "let the first signal the other device behind its access (pto.comm.tnotify), and the second wait for as "
            "many signals before its own (pto.comm.twait)"
        )
    if one.block != other.block:
        return "give each block a part of its own, by pto.get_block_idx"
    if one.column and other.column:
        return "give each vector core rows or columns of its own, by pto.get_subblock_idx, or let only the first store"
    return "hand the data over through a pipe, or wait for an entry that is pushed after the first access"
