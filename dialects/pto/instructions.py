"""Instructions that have a row in `operations/pto_instructions`, one class each, made from the row.

Rules that the row does not state are in `instruction_rules`.
"""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.irdl import traits_def
from xdsl.traits import NoTerminator, Pure

from ...operations.pto_instructions import INSTRUCTIONS
from ...operations.pto_instructions.instruction import Instruction
from .instruction_operation import InstructionOp
from .instruction_rules import RULES


def _class_of(row: Instruction) -> type[InstructionOp]:
    has_region = "@" in row.text
    traits = [trait for trait, has in ((Pure(), row.is_pure), (NoTerminator(), has_region)) if has]
    name = "".join(part.capitalize() for part in row.name.replace(".", "_").split("_")) + "Op"
    members: dict[str, object] = {
        "name": f"pto.{row.name}",
        "row": row,
        "rule": staticmethod(RULES[row.name]) if row.name in RULES else None,
        "traits": traits_def(*traits),
        "__module__": __name__,
        "__doc__": f"{row.summary[0].upper()}{row.summary[1:]}.",
    }
    if row.is_generic:
        members |= {"parse": Operation.parse, "print": Operation.print}
    return type(name, (InstructionOp,), members)


OPERATIONS: dict[str, type[InstructionOp]] = {name: _class_of(row) for name, row in INSTRUCTIONS.items()}
"""The classes by name without `pto.`."""

globals().update({operation.__name__: operation for operation in OPERATIONS.values()})

__all__ = ["OPERATIONS", "InstructionOp"]
