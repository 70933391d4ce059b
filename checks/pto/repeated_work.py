"""Repeated work: blocks, or vector cores of a block, that store the same at the same places."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from xdsl.ir import Operation

from ...analysis.pto.dry_run.trace import Trace
from ...dialects.pto.internal_pipes import BoundPipeOp
from ...operations import pipe_protocol
from .hazard import Hazard

CODES = ("repeated-work",)
"""Codes of the findings that this check reports."""

Work: TypeAlias = "list[Hashable]"
"""The stores of a core to global memory, in order: values and places, None where they are not known."""


def find_in_trace(trace: Trace) -> Iterator[Hazard]:
    """Yield the first store of a program of which all blocks, or both vector cores, store the same.

    Vector cores may do so on purpose, unless they ask which of the two they are and take parts of all entries.
    """
    first, works = _stores(trace)
    if first is None or not trace.complete or any(None in work for work in works):
        return
    by_block: dict[int, list[Work]] = {}
    of_lanes: dict[int, list[Work]] = {}
    for core, work in zip(trace.cores, works, strict=True):
        if not core.device:
            by_block.setdefault(core.block, []).append(work)
            if core.column:
                of_lanes.setdefault(core.block, []).append(work)
    blocks = list(by_block.values())
    if _are_alike(blocks):
        message = (
            f"all {len(blocks)} blocks store the same at the same places, so each does the work of all; give each a "
            "part of its own, by pto.get_block_idx, or launch one block"
        )
    elif of_lanes and trace.asks_lane and not _takes_whole_entries(trace) and all(map(_are_alike, of_lanes.values())):
        message = (
            "both vector cores store the same at the same places, so each does the work of both; give each a part of "
            "its own, by pto.get_subblock_idx"
        )
    else:
        return
    yield Hazard("repeated-work", first, message, "warning")


def _are_alike(works: Sequence[Sequence[object]]) -> bool:
    """Return True if there are several, all the same, in which something is stored."""
    return len(works) > 1 and any(works[0]) and all(one == other for one, other in pairwise(works))


def _stores(trace: Trace) -> tuple[Operation | None, list[Work]]:
    """Return the first store in global memory, and what each core stores there."""
    first: Operation | None = None
    works: list[Work] = [[] for _ in trace.cores]
    local = {core.memory("") for core in trace.cores}
    for step in trace.steps:
        for access in step.accesses:
            name = access.memory
            if not access.writes or name in trace.slots or any(name.startswith(memory) for memory in local):
                continue
            first = first or step.op
            is_known = access.region is not None and access.contents is not None
            works[step.core].append((name, access.region, access.contents, access.adds) if is_known else None)
    return first, works


def _takes_whole_entries(trace: Trace) -> bool:
    """Return True if a vector core takes part in a pipe without split: there both go in step."""
    return any(
        isinstance(step.op, BoundPipeOp) and step.op.split_axis == pipe_protocol.NO_SPLIT
        for step in trace.steps
        if trace.cores[step.core].column
    )
