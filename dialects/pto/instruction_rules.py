"""Rules of instructions that their kinds of operands do not state, in upstream's words, by the name of the row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from xdsl.dialects.builtin import AnyFloat, IntegerAttr, IntegerType

from .attributes import HardwarePipe, HardwarePipeAttr
from .instruction_operation import InstructionOp
from .kernels import architecture_of, fail
from .registers import VmiVRegType

_LAST_EVENT = 15
_LAST_EVENT_OF_A5 = 31
_EVENT_PIPES = (HardwarePipe.FIX, HardwarePipe.MTE1, HardwarePipe.MTE2, HardwarePipe.MTE3, HardwarePipe.V)


def _between_cores(op: InstructionOp) -> None:
    """Check the number of a flag between cores, and the pipeline that raises or awaits it."""
    last = _LAST_EVENT
    if "intra_block" in op.row.name and architecture_of(op) != "a2a3":
        last = _LAST_EVENT_OF_A5
    event, pipe = op.attribute("event_id"), op.attribute("pipe")
    if isinstance(event, IntegerAttr):
        number = cast("IntegerAttr[IntegerType]", event).value.data
        if not 0 <= number <= last:
            fail(op, f"expects static event_id in [0, {last}], but got {number}")
    if isinstance(pipe, HardwarePipeAttr) and pipe.data not in _EVENT_PIPES:
        names = ", ".join(f"<{each.value}>" for each in _EVENT_PIPES)
        fail(op, f"{op.name} expects pipe to be one of {names}")


def _of_integers(op: InstructionOp) -> None:
    """Check that a vector has integers."""
    for operand in op.operands:
        if isinstance(operand.type, VmiVRegType) and isinstance(operand.type.element_type, AnyFloat):
            fail(op, f"requires integer-like VMI element type, not {operand.type.element_type}")


RULES: Mapping[str, Callable[[InstructionOp], None]] = {
    **dict.fromkeys(("set_cross_block", "wait_cross_block", "set_intra_block", "wait_intra_block"), _between_cores),
    **dict.fromkeys(("vmi.vand", "vmi.vor", "vmi.vxor", "vmi.vnot"), _of_integers),
}
