"""Findings of the dry run: views outside their tensor, tiles never written or overwritten, pitches."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.func import FuncOp

from ...analysis.pto.dry_run.trace import Kind, Trace
from ...dialects.pto.frontend_pipes import PopOp
from ...dialects.pto.instruction_operation import InstructionOp
from ...dialects.pto.internal_pipes import TPopOp
from ...dialects.pto.kernels import function_of
from ...dialects.pto.tiles import TExtractOp, TileOperation, TLoadOp, TMovOp, TStoreOp, is_product
from ...dialects.traversal import walk
from .hazard import Hazard

CODES = (
    "accumulator-pitch",
    "leftover-flag",
    "narrow-tile",
    "outside-tensor",
    "overlapping-rows",
    "overlapping-tiles",
    "shape-mismatch",
    "split-mismatch",
    "unset-flag",
    "unwritten-tile",
)
"""Codes of the findings that this check reports."""


def find_in_trace(trace: Trace) -> Iterator[Hazard]:
    """Yield the problems that a dry run has met; an outline, whose data comes from nowhere, has no tiles to miss."""
    kinds: dict[FuncOp | None, set[Kind]] = {}
    for problem in trace.problems.values():
        function = function_of(problem.op)
        if function not in kinds:
            kinds[function] = set() if function is None else _kinds_in(function)
        done = kinds[function]
        is_outline = problem.code == "unwritten-tile" and not done & {"load", "product"}
        if is_outline and len(done & {"pop", "compute", "store"}) < 2:
            continue
        # What has all its data from pipes and hands it on may be an outline too.
        may = problem.may or (is_outline and "store" not in done)
        yield Hazard(problem.code, problem.op, problem.message, "warning" if may else "error")


def _kinds_in(function: FuncOp) -> set[Kind]:
    """Return what a function does with tiles, also where this run did not come by."""
    found: set[Kind] = set()
    for op in walk(function):
        match op:
            case TLoadOp():
                found.add("load")
            case InstructionOp() if op.row.name == "mgather":
                found.add("load")
            case TStoreOp():
                found.add("store")
            case PopOp() | TPopOp():
                found.add("pop")
            case TMovOp() | TExtractOp():
                pass
            case TileOperation():
                found.add("product" if is_product(op) else "compute")
            case _:
                pass
    return found
