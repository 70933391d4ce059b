"""Registers that are full or in order: what instructions that take whole registers need of a layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ....dialects.pto.instruction_operation import InstructionOp
from .layouts import (
    Placement,
    Virtual,
    contiguous,
    is_contiguous,
    layout_of,
    parts_in,
)
from .support import (
    layout_at,
)

Reason: TypeAlias = "Callable[[InstructionOp], str | None]"
"""Returns why an operation does not become instructions, in PTOAS's words; None if it does."""

PADDED = "found padding lane in physical chunk"


def is_full(type: Virtual) -> bool:
    """Return True if every lane of every register has an element."""
    return Placement(type).is_full


def all_contiguous(op: InstructionOp, *names: str) -> bool:
    """Return True if operands and results are all contiguous."""
    return all(is_contiguous(layout_at(op, name)) for name in names)


def to_order(type: Virtual) -> str | None:
    """Return why the registers of a vector or mask are not brought into order."""
    layout = layout_of(type)
    assert layout is not None
    if layout == contiguous():
        return None
    if parts_in(layout) == 1:
        return "requires contiguous, deinterleaved=2/4, or block_deinterleaved=2/4 layout"
    placement = Placement(type)
    counts = [placement.registers_in_part(part) for part in range(placement.parts)]
    if not counts[0]:
        return "requires at least one physical chunk per part"
    if placement.parts == 2 and counts[0] != counts[1]:
        return "requires every deinterleaved part to have the same physical chunk count"
    return None
