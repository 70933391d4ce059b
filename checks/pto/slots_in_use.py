"""Slots in use: more popped entries held than the consumer has slots."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.pto.schedules import Kernel, Schedule
from ...dialects.pto.frontend_pipes import OpenPipeOp
from ...dialects.pto.internal_pipes import InitializeL2G2LPipeOp
from .free_credits import is_freed_once
from .hazard import Hazard, in_every_schedule

CODES = ("local-aliasing", "slots-held")
"""Codes of the findings that this check reports."""


def find_in_kernel(kernel: Kernel) -> Iterator[Hazard]:
    """Yield the pops that hold more entries than there are slots."""
    return in_every_schedule(kernel, find_in_schedule)


def find_in_schedule(path: Schedule, kernel: Kernel) -> Iterator[Hazard]:
    """Yield the first pop of each ring, in one schedule, that holds more entries than there are slots."""
    for (pipe, direction), uses in path.pops_and_frees().items():
        if path.complete and not is_freed_once(uses):
            continue  # That is the cause, and reported with its remedy.
        outstanding = 0
        local = pipe.local_depth if isinstance(pipe, OpenPipeOp | InitializeL2G2LPipeOp) else pipe.depth
        copied = kernel.in_global_memory(pipe)
        for use in uses:
            outstanding = max(0, outstanding + (1 if use.action == "pop" else -1))
            if use.action == "free":
                continue
            if copied and use.of_tile and outstanding > local:
                yield Hazard(
                    "local-aliasing",
                    use.op,
                    f"{outstanding} tiles are in use, but the consumer's buffer has {local} slots, so this "
                    "one overwrites the oldest; free tiles earlier or raise local_slot_num",
                )
                break
            if not kernel.frees_at_pop(pipe, direction) and outstanding > pipe.depth:
                yield Hazard(
                    "slots-held",
                    use.op,
                    f"{use.name} has {pipe.depth} slots, and the consumer holds all of them when it pops another "
                    "entry, for which the producer then has no slot; free entries earlier or raise slot_num",
                )
                break
