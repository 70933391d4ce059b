"""Errors of the choice of layouts, in PTOAS's words, with what to do."""

from __future__ import annotations

from typing import NoReturn

from xdsl.ir import Operation

from ....diagnostics.errors import LoomError
from ....diagnostics.locations import location_of

CONTRACT = "VMI-LAYOUT-CONTRACT"
"""No layouts satisfy what the operations ask for."""

INVARIANT = "VMI-PASS-INVARIANT"
"""A program is not what a stage takes."""

UNSUPPORTED = "VMI-UNSUPPORTED"
"""An operation does not become instructions on registers."""


def fail(op: Operation, code: str, problem: str, remedy: str) -> NoReturn:
    """Raise LoomError at an operation, or the one around it that has a place."""
    place, at = location_of(op), op
    while place is None and (parent := at.parent_op()) is not None:
        place, at = location_of(parent), parent
    raise LoomError(f"{code}: {problem}; {remedy}", place)


def check_channels(op: Operation) -> int:
    """Return how many vectors are split from one, or merged into one. Raises LoomError for other than 2 or 4."""
    channels = max(len(op.results), len(op.operands))
    if channels not in (2, 4):
        fail(op, UNSUPPORTED, f"{op.name} supports only 2 or 4 channels", f"do it in steps, not {channels} at once")
    return channels
