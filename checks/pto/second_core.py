"""Second vector core in entries that are not split (H9)."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...analysis.pto.lanes import depends_on_lane, is_lane_conditional
from ...analysis.pto.schedules import Kernel
from ...dialects.pto.attributes import KernelKind
from ...dialects.pto.kernels import GetSubBlockIdxOp, GetSubBlockNumOp
from ...dialects.pto.tiles import TileOperation, TStoreOp
from ...dialects.pto.types import TileBufType
from ...dialects.traversal import walk
from ...operations import pipe_protocol
from .hazard import Hazard
from .subject import Subject

CODES = ("second-core",)
"""Codes of the findings that this check reports."""


def find(subject: Subject) -> Iterator[Hazard]:
    """Yield what the second vector core does with entries that only the first takes part in.

    Only programs for both vector cores have such hazards.
    """
    if any(_is_for_both_cores(kernel) for kernel in subject.kernels):
        for kernel in subject.kernels:
            yield from _second_core(kernel)


def _is_for_both_cores(kernel: Kernel) -> bool:
    """Return True if a kernel is for both vector cores: they share entries, or ask for their number."""
    split = any(use.split != pipe_protocol.NO_SPLIT for use in kernel.uses)
    return split or any(isinstance(op, GetSubBlockIdxOp | GetSubBlockNumOp) for op in walk(kernel.function))


def _second_core(kernel: Kernel) -> Iterator[Hazard]:
    if "a2a3" in (kernel.behavior, kernel.chip):
        return
    seconds = [paths for paths in kernel.schedules if paths[0].core is KernelKind.VECTOR][-1:]
    reached = {step.use.op for paths in seconds for path in paths for step in path.steps if step.use is not None}
    whole = [use for use in kernel.uses if use.split == pipe_protocol.NO_SPLIT and use.op in reached]
    remedy = "in an scf.if on pto.get_subblock_idx, for the first core"
    for use in whole:
        if use.action == "alloc":
            yield Hazard(
                "second-core",
                use.op,
                "the second vector core allocates this slot too, but only the first takes part in entries that are "
                "not split; on a5 its stores begin a row too far and overlap the first core's (H9); allocate the slot, "
                f"store and push {remedy}",
            )
    popped = {use.entry for use in whole if use.action == "pop" and use.entry is not None}
    for store in _stores_of(kernel.function, {tile for tile in popped if isinstance(tile.type, TileBufType)}):
        if not is_lane_conditional(store) and not depends_on_lane(store.destination):
            yield Hazard(
                "second-core",
                store,
                "both vector cores store this to one place, but it comes from a pipe whose entries are not split, of "
                f"which the second core gets zeros; store {remedy}",
                "warning",
            )


def _stores_of(function: FuncOp, tiles: set[SSAValue]) -> Iterator[TStoreOp]:
    """Yield the stores of some tiles, or of tiles computed from them."""
    ops = [op for op in walk(function) if isinstance(op, TileOperation)] if tiles else []
    derived, before = tiles, 0
    while len(derived) > before:
        before = len(derived)
        for op in ops:
            if not isinstance(op, TStoreOp) and any(
                value in derived for value in op.operands if value is not op.destination
            ):
                derived = derived | {op.destination}
    yield from (op for op in ops if isinstance(op, TStoreOp) and op.src in derived)
