"""CSL types and literals of scalars, and the error at what CSL does not have."""

from __future__ import annotations

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, IndexType, IntegerType, Signedness
from xdsl.ir import Attribute, Operation

from ...csl.syntax import Expression
from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...operations import integers
from . import tree

INDEX = "i32"
"""What stands for the `index` type: an address has 16 bits, unsigned."""


def refuse(op: Operation, message: str) -> LoomError:
    return LoomError(message, location_of(op))


def scalar_type(type: Attribute) -> str | None:
    """Return the CSL type of a scalar, None if CSL has none. Signless integers are signed."""
    match type:
        case IntegerType(width=width) if width.data == 1:
            return "bool"
        case IntegerType(width=width) if width.data in (8, 16, 32) or (width.data and width.data % 64 == 0):
            return f"{'u' if type.signedness.data is Signedness.UNSIGNED else 'i'}{width.data}"
        case IndexType():
            return INDEX
        case Float16Type():
            return "f16"
        case Float32Type():
            return "f32"
        case BFloat16Type():
            return "bf16"
        case _:
            return None


def literal_of(type: str, number: int | float) -> Expression:
    """Return a number as a literal of CSL; integers wrap into the range of their type."""
    if type == "bool":
        return tree.name("true" if number else "false")
    if type in ("f16", "f32", "bf16"):
        return tree.floating(float(number), type)
    bits = int(type[1:])
    wrap = integers.signed if type[0] == "i" else integers.unsigned
    return tree.integer(wrap(int(number), bits))
