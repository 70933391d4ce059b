"""Push and pop counts of rings: how often the producers push and the consumers pop, where constants decide it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import scf
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ...diagnostics.records import record
from ...dialects.pto.kernels import core_of
from ...dialects.pto.memory import constant_value
from ...targets.chip import LANES
from .rings import Ring
from .schedules import Action, Kernel, PipeUse


@record
class Imbalance:
    """A ring whose numbers of pushes and pops differ, as counted on one of the vector cores."""

    ring: Ring
    lane: int
    pushes: int
    pops: int


def imbalance_of(ring: Ring) -> Imbalance | None:
    """Return how a ring is unbalanced; None if it is not, or if its counts depend on values.

    A ring is balanced if each of the vector cores pushes, or pops, as often as the other end pops or pushes; only the
    first is counted unless both have to take part.
    """
    ends = [(kernel, uses) for end in (ring.producers, ring.consumers) for kernel, uses in end.items()]
    both = any(kernel.needs_both_lanes(use) for kernel, uses in ends for use in uses)
    for lane in range(LANES if both else 1):
        pushes, pops = _total(ring.producers, "push", lane), _total(ring.consumers, "pop", lane)
        if not ring.producers or not ring.consumers:
            if not ring.is_used_by_one_end:
                continue  # The other end is not part of this text.
        if pushes is None or pops is None or pushes == pops:
            continue
        return Imbalance(ring, lane, pushes, pops)
    return None


def depends_on_values(ring: Ring) -> bool:
    """Return True if how often a ring is pushed into, or popped from, depends on values."""
    return None in (_total(ring.producers, "push", 0), _total(ring.consumers, "pop", 0))


def _total(ends: dict[Kernel, list[PipeUse]], action: Action, lane: int) -> int | None:
    totals = [_times(kernel, uses, action, lane) for kernel, uses in ends.items()]
    known = [total for total in totals if total is not None]
    return sum(known) if len(known) == len(totals) else None


def _times(kernel: Kernel, uses: Sequence[PipeUse], action: Action, lane: int) -> int | None:
    """Return how often a kernel performs an action on a ring on one vector core; None if that depends on values."""
    core = core_of(uses[0].op)
    by_lane = [paths for paths in kernel.schedules if paths[0].core is core]
    paths = next((paths for paths in by_lane if paths[0].lane == lane), next(iter(by_lane), ()))
    key = uses[0].pipe, uses[0].direction, action
    if paths and all(path.exact for path in paths):
        counts = {sum((use.pipe, use.direction, use.action) == key for use in path.uses) for path in paths}
        return counts.pop() if len(counts) == 1 else None
    trips = [_trip_count(use.op) for use in uses if use.action == action]
    known = [trip for trip in trips if trip is not None]
    return sum(known) if len(known) == len(trips) else None


def _trip_count(op: Operation) -> int | None:
    """Return how often `op` runs in a run of its function; None if that depends on values."""
    counts: list[int] = []
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        if isinstance(parent, scf.ForOp):
            lower, upper, step = (constant_value(value) for value in (parent.lb, parent.ub, parent.step))
            if lower is None or upper is None or step is None or step <= 0:
                return None
            counts.append(max(0, -((lower - upper) // step)))
        elif isinstance(parent, scf.IfOp | scf.WhileOp):
            return None
        parent = parent.parent_op()
    return prod(counts)
