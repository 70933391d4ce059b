"""Assembly shared by `pto` operations: parsing and printing of `ins(...) outs(...)`, clauses and attribute lists.

Knows no operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import BoolAttr, IndexType, IntegerAttr, IntegerType, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

Clauses: TypeAlias = Mapping[str, Callable[[Parser], Attribute]]
"""The clauses that a list may contain: the name of each and how its value is parsed."""


# ---------------------------------------------------------------------------------------------
# Operands with their types
# ---------------------------------------------------------------------------------------------


def parse_operands(parser: Parser) -> list[UnresolvedOperand]:
    """Parse `%a, %b`, one operand at least."""
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)


def resolve(
    parser: Parser, operands: Sequence[UnresolvedOperand], types: Sequence[Attribute], position: int
) -> list[SSAValue]:
    """Resolve each operand with its type; an error at `position` if their numbers differ."""
    if len(operands) != len(types):
        parser.raise_error(f"{len(operands)} operands have {len(types)} types; give one for each", position, parser.pos)
    return list(parser.resolve_operands(operands, types, position))


def parse_typed_operands(parser: Parser) -> list[SSAValue]:
    """Parse `%a, %b : type, type`."""
    operands = parse_operands(parser)
    parser.parse_punctuation(":")
    return parse_types_of(parser, operands)


def parse_types_of(parser: Parser, operands: Sequence[UnresolvedOperand]) -> list[SSAValue]:
    """Parse the types of operands that precede them."""
    position = parser.pos
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    return resolve(parser, operands, types, position)


def parse_typed_operand(parser: Parser) -> SSAValue:
    """Parse `%a : type`."""
    operand = parser.parse_unresolved_operand()
    parser.parse_punctuation(":")
    return parser.resolve_operand(operand, parser.parse_type())


def print_typed_operands(printer: Printer, operands: Sequence[SSAValue]) -> None:
    """Print `%a, %b : type, type`."""
    printer.print_list(operands, printer.print_operand)
    printer.print_string(" : ")
    printer.print_list(operands, lambda operand: printer.print_attribute(operand.type))


def parse_ins(parser: Parser) -> list[SSAValue]:
    """Parse `ins(%a, %b : type, type)`."""
    parser.parse_keyword("ins")
    with parser.in_parens():
        return parse_typed_operands(parser)


def print_ins(printer: Printer, operands: Sequence[SSAValue]) -> None:
    """Print ` ins(%a, %b : type, type)`."""
    printer.print_string(" ins")
    with printer.in_parens():
        print_typed_operands(printer, operands)


def parse_outs(parser: Parser) -> SSAValue:
    """Parse `outs(%a : type)`."""
    parser.parse_keyword("outs")
    with parser.in_parens():
        return parse_typed_operand(parser)


def print_outs(printer: Printer, operand: SSAValue) -> None:
    """Print ` outs(%a : type)`."""
    printer.print_string(" outs")
    with printer.in_parens():
        print_typed_operands(printer, [operand])


# ---------------------------------------------------------------------------------------------
# Attributes
# ---------------------------------------------------------------------------------------------


def parse_attribute_list(
    parser: Parser, op_type: type[IRDLOperation]
) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """Parse an optional `{name = value, ...}`; return the properties of `op_type` and the other attributes."""
    attributes = parser.parse_optional_attr_dict()
    own = op_type.get_irdl_definition().properties
    properties = {name: value for name, value in attributes.items() if name in own}
    return properties, {name: value for name, value in attributes.items() if name not in own}


def print_attribute_list(printer: Printer, op: Operation, *, but: Sequence[str] = ()) -> None:
    """Print ` {name = value, ...}`: the operation's properties, except those named, and its attributes."""
    hidden = {*but, "operandSegmentSizes"}
    shown = {name: value for name, value in op.properties.items() if name not in hidden}
    printer.print_op_attributes({**shown, **op.attributes})


# ---------------------------------------------------------------------------------------------
# Clauses
# ---------------------------------------------------------------------------------------------


def parse_integer(width: int) -> Callable[[Parser], Attribute]:
    """Return a parser of integers of a width."""

    def parse(parser: Parser) -> Attribute:
        return IntegerAttr(parser.parse_integer(allow_boolean=False), IntegerType(width))

    return parse


def parse_boolean(parser: Parser) -> Attribute:
    """Parse `true` or `false`."""
    return BoolAttr.from_bool(parser.parse_boolean())


def parse_clauses(parser: Parser, clauses: Clauses, *, required: Sequence[str] = ()) -> dict[str, Attribute]:
    """Parse `{name = value, ...}`, names in any order, each once."""
    found: dict[str, Attribute] = {}
    start = parser.pos

    def clause() -> None:
        position = parser.pos
        name = parser.parse_identifier()
        if name not in clauses:
            parser.raise_error(
                f"unexpected keyword '{name}'; use one of {', '.join(clauses)}", position, position + len(name)
            )
        if name in found:
            parser.raise_error(f"duplicate '{name}' clause; write it once", position, position + len(name))
        parser.parse_punctuation("=")
        found[name] = clauses[name](parser)

    parser.parse_comma_separated_list(parser.Delimiter.BRACES, clause)
    for name in required:
        if name not in found:
            parser.raise_error(f"expected '{name}' clause; add it", start, parser.pos)
    return found


def print_clauses(printer: Printer, clauses: Mapping[str, Attribute | None]) -> None:
    """Print ` {name = value, ...}`, without names that have no value."""
    printer.print_string(" ")
    with printer.in_braces():
        printer.print_list(
            [(name, value) for name, value in clauses.items() if value is not None],
            lambda pair: _print_clause(printer, *pair),
        )


def _print_clause(printer: Printer, name: str, value: Attribute) -> None:
    printer.print_string(f"{name} = ")
    if isinstance(value, IntegerAttr):
        # The width follows from the clause.
        integer = cast("IntegerAttr[IntegerType | IndexType]", value)
        given = integer.value.data
        printer.print_string(("true" if given else "false") if integer.type == i1 else str(given))
    else:
        printer.print_attribute(value)


def parse_lane(parser: Parser) -> SSAValue | None:
    """Parse an optional `aiv_subblockid(%lane)`, the vector core whose part an entry is."""
    if parser.parse_optional_keyword("aiv_subblockid") is None:
        return None
    with parser.in_parens():
        return parser.parse_operand(i64)


def print_lane(printer: Printer, lane: SSAValue | None) -> None:
    """Print ` aiv_subblockid(%lane)` if it is given."""
    if lane is not None:
        printer.print_string(" aiv_subblockid(")
        printer.print_operand(lane)
        printer.print_string(")")
