"""Integer fields of streams, each a literal or a value: ranges, parsing, printing and verification.

Nothing here knows which operation has which field.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerType
from xdsl.ir import SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ...targets.wavelets import EXTENTS

DYNAMIC = DYNAMIC_INDEX
"""Marks an integer field whose value is the next SSA operand of its group."""

LITERALS = range(-EXTENTS[-1], len(EXTENTS))
"""Offsets and strides that a stream can have as literals."""


class Integers:
    """Parses and prints lists of integers, each a literal or an SSA value of type i16."""

    @staticmethod
    def parse_one(parser: Parser, operands: list[UnresolvedOperand]) -> int:
        operand = parser.parse_optional_unresolved_operand()
        if operand is None:
            position = parser.pos
            number = parser.parse_integer(allow_boolean=False)
            if number not in LITERALS:
                parser.raise_error(
                    f"{number} does not fit a field of a stream; choose a number from {LITERALS[0]} to {LITERALS[-1]}",
                    position,
                )
            return number
        operands.append(operand)
        return DYNAMIC

    @staticmethod
    def parse_list(parser: Parser, operands: list[UnresolvedOperand]) -> list[int]:
        return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: Integers.parse_one(parser, operands))

    @staticmethod
    def print(printer: Printer, values: Sequence[int], operands: Sequence[SSAValue]) -> None:
        dynamic = iter(operands)
        for position, value in enumerate(values):
            if position:
                printer.print_string(", ")
            if value == DYNAMIC:
                printer.print_operand(next(dynamic))
            else:
                printer.print_string(str(value))


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 extent`, `2 extents`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def verify_fields(noun: str, numbers: Sequence[int], operands: Sequence[SSAValue], allowed: range) -> None:
    """Check a group of literals and values: every literal in range, every other place with its operand."""
    dynamic = sum(number == DYNAMIC for number in numbers)
    if dynamic != len(operands):
        raise VerifyException(
            f"the stream leaves {counted(dynamic, noun)} open, but has values for {len(operands)}; give one for each"
        )
    for number in numbers:
        if number != DYNAMIC and number not in allowed:
            raise VerifyException(
                f"{noun} {number} does not fit a stream; choose one from {allowed[0]} to {allowed[-1]}"
            )


def static_part(value: int | SSAValue) -> int:
    """Return the literal of a field, `DYNAMIC` if it is a value."""
    return DYNAMIC if isinstance(value, SSAValue) else value


def numbers_of(attribute: DenseArrayBase[IntegerType]) -> tuple[int, ...]:
    """Return the literals of a list of fields."""
    return tuple(attribute.get_values())
