"""Rules of instructions that their kinds of operands do not state, in upstream's words, by the name of the row."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .instruction_operation import InstructionOp

RULES: Mapping[str, Callable[[InstructionOp], None]] = {}
