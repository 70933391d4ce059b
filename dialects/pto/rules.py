"""Rules of instructions: functions of an operation that raise where upstream's verifiers do, and what they read."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    Float8E4M3B11FNUZType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E4M3Type,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    Signedness,
    StringAttr,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute

from .attributes import AddressSpace, AddressSpaceAttr
from .instruction_operation import InstructionOp
from .kernels import fail
from .memory import constant_value
from .registers import element_bits
from .types import PackedType, PtrType

Rule: TypeAlias = Callable[[InstructionOp], None]
"""What holds of an operation besides the kinds of its operands; raises VerifyException."""


def all_of(*rules: Rule) -> Rule:
    """Return the rule that all of these hold."""

    def rule(op: InstructionOp) -> None:
        for each in rules:
            each(op)

    return rule


# ---------------------------------------------------------------------------------------------
# Parts of an operation
# ---------------------------------------------------------------------------------------------


def types_of(op: InstructionOp, *names: str) -> list[Attribute]:
    """Return the types of operands and results by the names of the row; of those that are there."""
    groups = {**op.operand_groups, **op.result_groups}
    return [value.type for name in names for value in groups.get(name, ())]


def type_of(op: InstructionOp, name: str) -> Attribute:
    """Return the type of the operand or result of a name."""
    (found,) = types_of(op, name)
    return found


def number_of(op: InstructionOp, name: str) -> int | None:
    """Return the value of an integer attribute; None without one."""
    found = op.attribute(name)
    return cast("IntegerAttr[IntegerType]", found).value.data if isinstance(found, IntegerAttr) else None


def word_of(op: InstructionOp, name: str) -> str | None:
    """Return the word that an attribute is, a string or one of an enumeration; None without one."""
    found = op.attribute(name)
    if isinstance(found, StringAttr):
        return found.data
    return str(cast("EnumAttribute[AddressSpace]", found).data) if isinstance(found, EnumAttribute) else None


def constant_of(op: InstructionOp, name: str) -> int | None:
    """Return the number that an operand is, if it is a constant; None for others, and without one."""
    value = op.operand(name)
    return None if value is None else constant_value(value)


# ---------------------------------------------------------------------------------------------
# Elements
# ---------------------------------------------------------------------------------------------


def width(element: Attribute) -> int:
    """Return the bits of an element; 0 if they are not known."""
    return element_bits(element) or 0


def is_float(element: Attribute) -> bool:
    """Return True for floats, those of low precision too."""
    return isinstance(element, AnyFloat | PackedType)


def is_integer(element: Attribute) -> bool:
    """Return True for integers and indices."""
    return isinstance(element, IntegerType | IndexType)


def is_float8(element: Attribute) -> bool:
    """Return True for floats of 8 bits with 4 or 5 bits of exponent."""
    return isinstance(
        element,
        Float8E4M3Type
        | Float8E4M3FNType
        | Float8E4M3FNUZType
        | Float8E4M3B11FNUZType
        | Float8E5M2Type
        | Float8E5M2FNUZType,
    )


def is_low_precision(element: Attribute) -> bool:
    """Return True for floats of 8 bits and fewer, and pairs in one element."""
    return is_float8(element) or isinstance(element, PackedType)


def signedness(element: object) -> Signedness | None:
    """Return the sign of integers; None for other elements."""
    return cast("IntegerType", element).signedness.data if isinstance(element, IntegerType) else None


def is_signed(element: Attribute) -> bool:
    """Return True for integers with a sign."""
    return signedness(element) is Signedness.SIGNED


def is_unsigned(element: Attribute) -> bool:
    """Return True for integers that are unsigned, not for signless ones."""
    return signedness(element) is Signedness.UNSIGNED


def is_signless(element: Attribute) -> bool:
    """Return True for integers without a sign of their own."""
    return signedness(element) is Signedness.SIGNLESS


def fits_scalar(element: Attribute, scalar: Attribute) -> bool:
    """Return True if a number may stand for an element: of its type, or a signless integer of its width."""
    if element == scalar:
        return True
    return signedness(element) is not None and width(element) == width(scalar) and is_signless(scalar)


# ---------------------------------------------------------------------------------------------
# Memory
# ---------------------------------------------------------------------------------------------


class Place(Enum):
    """What a verifier knows of where a pointer or memref is to."""

    UNKNOWN = "a memref without memory space"
    GLOBAL = "global memory"
    VECTOR = "the memory of a vector core"
    CUBE = "a memory of the cube core"


def memory_element(type: Attribute) -> Attribute | None:
    """Return the elements of memory that a pointer or memref is to."""
    if isinstance(type, MemRefType):
        return cast("MemRefType[Attribute]", type).element_type
    return type.element_type if isinstance(type, PtrType) else None


def space_of(type: Attribute) -> AddressSpace | None:
    """Return the memory that a pointer or memref is to; None if a memref does not say."""
    if isinstance(type, PtrType):
        return type.space.data
    space = cast("MemRefType[Attribute]", type).memory_space if isinstance(type, MemRefType) else None
    return space.data if isinstance(space, AddressSpaceAttr) else None


def place_of(type: Attribute) -> Place:
    """Return where a pointer or memref is to."""
    match space_of(type):
        case None:
            return Place.UNKNOWN
        case AddressSpace.GM | AddressSpace.ZERO:
            return Place.GLOBAL
        case AddressSpace.VEC:
            return Place.VECTOR
        case _:
            return Place.CUBE


def is_in_vector_memory(type: Attribute) -> bool:
    """Return True for a pointer or memref into the memory of a vector core."""
    return place_of(type) is Place.VECTOR


# ---------------------------------------------------------------------------------------------
# Rules of many instructions
# ---------------------------------------------------------------------------------------------


def same_types(text: str, *names: str) -> Rule:
    """Return the rule that operands and results have one type."""

    def rule(op: InstructionOp) -> None:
        if len(set(types_of(op, *names))) > 1:
            fail(op, text)

    return rule


def one_of(name: str, words: str, text: str, *, always: bool = True) -> Rule:
    """Return the rule that an attribute is one of some words; `always` that it may not be missing."""
    allowed = words.split()

    def rule(op: InstructionOp) -> None:
        found = word_of(op, name)
        if (found is None and always) or (found is not None and found not in allowed):
            fail(op, text)

    return rule


def not_negative(*names: str) -> Rule:
    """Return the rule that operands that are constants are not negative."""

    def rule(op: InstructionOp) -> None:
        for name in names:
            value = constant_of(op, name)
            if value is not None and value < 0:
                fail(op, f"{name} must be non-negative")

    return rule


def keeps_base(pointer: str, text: str = "requires updated base result to match base type") -> Rule:
    """Return the rule that an address that an instruction moves on keeps its type."""
    return same_types(text, pointer, "updated_base", "base_out")
