"""Integer fields of descriptors: ranges, parsing, printing and verification of numbers and values.

Nothing here knows which descriptor has which field.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, i16
from xdsl.ir import SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from ...operations import integers
from ...targets.wavelets import WORD_BITS
from ..building import integer

Integer = int | SSAValue
"""A field of a descriptor: a number known at compile time, or a value of type i16."""


def parse_integer(parser: Parser) -> Integer:
    """Parse a number, or an operand of type i16."""
    operand = parser.parse_optional_unresolved_operand()
    if operand is not None:
        return parser.resolve_operand(operand, i16)
    return parser.parse_integer(allow_boolean=False)


def print_integer(printer: Printer, value: Integer) -> None:
    """Print what `parse_integer` reads."""
    if isinstance(value, int):
        printer.print_string(str(value))
    else:
        printer.print_operand(value)


def parse_integers(parser: Parser) -> list[int]:
    """Parse numbers in square brackets."""
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False))


DYNAMIC = DYNAMIC_INDEX
"""Stands in a list of numbers for a field that is a value."""


def parse_fields(parser: Parser) -> list[Integer]:
    """Parse numbers and operands of type i16 in square brackets."""
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_integer(parser))


def print_fields(printer: Printer, values: Sequence[Integer]) -> None:
    """Print what `parse_fields` reads."""
    printer.print_string("[")
    printer.print_list(values, lambda value: print_integer(printer, value))
    printer.print_string("]")


def static_parts(values: Sequence[Integer]) -> tuple[int, ...]:
    """Return the numbers among fields, `DYNAMIC` in the place of each that is a value."""
    return tuple(value if isinstance(value, int) else DYNAMIC for value in values)


def joined_fields(static: Sequence[int], dynamic: Sequence[SSAValue]) -> tuple[Integer, ...]:
    """Return the fields that have these numbers and these values."""
    if not dynamic:
        return tuple(static)
    values = iter(dynamic)
    return tuple(next(values) if number == DYNAMIC else number for number in static)


def verify_fields(name: str, static: Sequence[int], dynamic: Sequence[SSAValue], allowed: range) -> None:
    """Raise VerifyException unless every number is in range and every other place has a value."""
    missing = sum(number == DYNAMIC for number in static)
    if missing != len(dynamic):
        raise VerifyException(f"{missing} of the {name}s are values, but {len(dynamic)} are given; give one for each")
    for number in static:
        if number != DYNAMIC:
            verify_range(name, number, allowed)


def static_part(value: Integer | None) -> IntegerAttr | None:
    """Return the property of a field that is a number; None if it is a value or not given."""
    return integer(value) if isinstance(value, int) else None


def dynamic_part(value: Integer | None) -> SSAValue | None:
    """Return the operand of a field that is a value; None if it is a number or not given."""
    return value if isinstance(value, SSAValue) else None


def joined_parts(dynamic: SSAValue | None, static: IntegerAttr | None, default: int) -> Integer:
    """Return the field that has this operand or this property, or else `default`."""
    if dynamic is not None:
        return dynamic
    return default if static is None else static.value.data


def verify_field(
    name: str, dynamic: SSAValue | None, static: IntegerAttr | None, allowed: range, *, needed: bool = False
) -> None:
    """Raise VerifyException unless the field is given at most once, and in range if it is a number."""
    if dynamic is not None and static is not None:
        raise VerifyException(f"{name} is given as a number and as a value; keep one of them")
    if needed and dynamic is None and static is None:
        raise VerifyException(f"{name} is missing and has no default; give it")
    if static is not None:
        verify_range(name, static.value.data, allowed)


def verify_range(name: str, value: int, allowed: range) -> None:
    """Raise VerifyException unless the number is in range."""
    if value not in allowed:
        raise VerifyException(f"{name} {value} is out of range; choose one from {allowed.start} to {allowed.stop - 1}")


def constant_value(value: Integer) -> int | None:
    """Return the number `value` is known to be at compile time, or None."""
    if isinstance(value, int):
        return value
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isa(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


def constant_extent(value: Integer) -> int | None:
    """Return the extent `value` is known to be at compile time: an i16 read as unsigned (DSD-008)."""
    number = constant_value(value)
    return number if number is None or isinstance(value, int) else integers.unsigned(number, WORD_BITS)
