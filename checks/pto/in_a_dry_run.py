"""What goes wrong in a dry run: views outside their tensor, tiles never written, and the pitch of accumulators."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.pto.dry_run.trace import Trace
from .hazard import Hazard

CODES = ("accumulator-pitch", "narrow-tile", "outside-tensor", "unset-flag", "unwritten-tile")
"""What this file reports."""


def find_in_trace(trace: Trace) -> Iterator[Hazard]:
    """Yield the problems that a dry run has met; an outline, whose data comes from nowhere, has no tiles to miss."""
    loads = {step.core for step in trace.steps if step.kind == "load"}
    computes = {step.core for step in trace.steps if step.kind in ("pop", "compute")}
    stores = {step.core for step in trace.steps if step.kind == "store"}
    works = loads | {step.core for step in trace.steps if step.kind == "product"} | (computes & stores)
    for problem in trace.problems.values():
        if problem.code == "unwritten-tile" and problem.core not in (loads if problem.may else works):
            continue
        yield Hazard(problem.code, problem.op, problem.message, "warning" if problem.may else "error")
