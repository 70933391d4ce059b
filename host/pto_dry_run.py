"""Dry runs of PTO programs for a host: the trace of a program with its arguments, and what is found in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ..analysis.pto.dry_run.program import Program
from ..analysis.pto.dry_run.run import MAX_STEPS, dry_run
from ..analysis.pto.dry_run.timing import times_of
from ..analysis.pto.dry_run.trace import Trace
from ..analysis.pto.dry_run.values import Pointer
from ..diagnostics.locations import location_of
from ..dialects.pto.kernels import Architecture
from ..dialects.pto.types import PtrType
from ..operations.pipe_protocol import Behavior
from ..targets import COSTS


def trace_of(
    placed: ModuleOp,
    behavior: Behavior,
    chip: Architecture,
    numbers: Mapping[str, Any],
    arrays: Mapping[str, Any] | None = None,
    *,
    blocks: int = 1,
    max_steps: int = MAX_STEPS,
    depths: Mapping[str, int] | None = None,
) -> Trace:
    """Return the trace of a module whose tiles and buffers have addresses, with numbers and arrays by name.

    Numbers that are not given are unknown. Arguments of one name are one array. `depths` are numbers of slots, by ring,
    that differ from those of the text.
    """
    program = Program(placed, behavior, chip, depths)
    arguments: dict[str, Any] = dict(numbers)
    for function in program.launched:
        for place, argument in enumerate(function.body.blocks[0].args):
            name = argument.name_hint or f"arg{place}"
            if isinstance(argument.type, PtrType):
                arguments[name] = Pointer(name, 0)
    return dry_run(program, arguments, blocks=blocks, arrays=arrays, max_steps=max_steps)


def rings_opened_at(placed: ModuleOp, behavior: Behavior, chip: Architecture, location: str | None) -> list[str]:
    """Return the rings of the pipe that an operation at a location opens."""
    rings = Program(placed, behavior, chip).rings
    return [ring.name for ring in rings if location in {location_of(use.pipe) for use in ring.uses}]


def estimate(trace: Trace, chip: Architecture) -> dict[str, object]:
    """Return the estimated times of a trace on a chip as a record, see docs/pto.md."""
    costs = COSTS[chip]
    found = times_of(trace, costs, chip).statistics(costs.frequency_hz)
    return found if trace.complete else {**found, "incomplete": trace.reason}
