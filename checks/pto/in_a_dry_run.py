"""What goes wrong in a dry run: views outside their tensor, tiles never written, and the pitch of accumulators."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.func import FuncOp

from ...analysis.pto.dry_run.trace import Kind, Trace
from ...dialects.pto.kernels import function_of
from .hazard import Hazard

CODES = (
    "accumulator-pitch",
    "narrow-tile",
    "outside-tensor",
    "shape-mismatch",
    "unset-flag",
    "unwritten-tile",
)
"""What this file reports."""


def find_in_trace(trace: Trace) -> Iterator[Hazard]:
    """Yield the problems that a dry run has met; an outline, whose data comes from nowhere, has no tiles to miss."""
    kinds: dict[FuncOp | None, set[Kind]] = {}
    for step in trace.steps:
        kinds.setdefault(function_of(step.op), set()).add(step.kind)
    for problem in trace.problems.values():
        done = kinds.get(function_of(problem.op), set())
        works = done & {"load", "product"} or ("store" in done and done & {"pop", "compute"})
        if problem.code == "unwritten-tile" and not ("load" in done if problem.may else works):
            continue
        yield Hazard(problem.code, problem.op, problem.message, "warning" if problem.may else "error")
