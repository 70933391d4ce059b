"""Vector cores that do not both take part in an entry they share."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.pto.lanes import is_lane_conditional
from ...analysis.pto.schedules import Action, Kernel, Pipe, Schedule
from ...dialects.pto.attributes import KernelKind
from ...dialects.pto.kernels import core_of
from ...operations import pipe_protocol
from .hazard import Hazard

CODES = ("unequal-lanes",)
"""Codes of the findings that this check reports."""


def find_in_kernel(kernel: Kernel) -> Iterator[Hazard]:
    """Yield the uses of pipes that only one vector core runs where both have to."""
    # Loops with unknown bounds run equally often in all schedules: whether they do is decided with the other counts.
    lanes = {
        frozenset(_signals(path, kernel) for path in paths)
        for paths in kernel.schedules
        if paths[0].core is KernelKind.VECTOR
    }
    if len(lanes) == 1:
        return
    for use in kernel.uses:
        if kernel.needs_both_lanes(use) and core_of(use.op) is KernelKind.VECTOR and is_lane_conditional(use.op):
            why = (
                "both take part in every entry of a split pipe"
                if use.split != pipe_protocol.NO_SPLIT
                else "on a2a3 both signal for every entry, split or not"
            )
            yield Hazard(
                "unequal-lanes",
                use.op,
                f"only some vector cores execute this, but {why}; move the operation out of the scf.if",
            )


def _signals(path: Schedule, kernel: Kernel) -> tuple[tuple[Pipe, int, Action], ...]:
    """Return the actions on pipes in which both vector cores take part, in the order of one of them."""
    return tuple((use.pipe, use.direction, use.action) for use in path.uses if kernel.needs_both_lanes(use))
