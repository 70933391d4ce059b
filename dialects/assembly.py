"""Custom assembly that several dialects share: symbols, attributes, arguments, bodies.

Each comes as what parses it and what prints it, so that one reads what the other wrote, locations included. Knows
no dialect: an operation to be made is passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import DictionaryAttr, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from ..targets.model import LEVELS


def parse_symbol(parser: AttrParser) -> SymbolRefAttr:
    """Parse `@name`; `Printer.print_attribute` prints it."""
    return SymbolRefAttr(parser.parse_symbol_name())


def parse_attributes(parser: Parser) -> Mapping[str, Attribute]:
    """Parse `attributes {...}` if there is one."""
    dictionary: DictionaryAttr | None = parser.parse_optional_attr_dict_with_keyword()
    return {} if dictionary is None else dictionary.data


def parse_options(parser: Parser, options: Mapping[str, Callable[[], Attribute]]) -> dict[str, Attribute]:
    """Parse keywords, each followed by what its function parses, in any order and each at most once."""
    found: dict[str, Attribute] = {}
    while (
        name := next((name for name in options if parser.parse_optional_keyword(name) is not None), None)
    ) is not None:
        if name in found:
            parser.raise_error(f"{name} is given twice; give it once")
        found[name] = options[name]()
    return found


def print_attributes(printer: Printer, op: Operation) -> None:
    """Print ` attributes {...}` if the operation has any."""
    printer.print_op_attributes(op.attributes, print_keyword=True)


def parse_main_thread(parser: Parser) -> str | None:
    """Parse `main_thread` and a priority if they are there."""
    return parser.parse_identifier() if parser.parse_optional_keyword("main_thread") is not None else None


def print_main_thread(printer: Printer, priority: StringAttr | None) -> None:
    """Print what `parse_main_thread` reads."""
    if priority is not None:
        printer.print_string(f" main_thread {priority.data}")


def verify_main_thread(priority: StringAttr | None) -> None:
    """Check the priority of operations for which tasks wait (DSD-234)."""
    if priority is not None and priority.data not in LEVELS[1:]:
        raise VerifyException(
            f"'{priority.data}' is not a priority of the main thread; use one of {', '.join(LEVELS[1:])}"
        )


def parse_members(parser: Parser) -> Region:
    """Parse a region, which has its block even if it is empty."""
    region = parser.parse_region()
    if region.first_block is None:
        region.add_block(Block())
    return region


def parse_argument(parser: Parser) -> Parser.Argument:
    """Parse `%name: type`, and the location behind it where there is one, which xDSL prints but does not read."""
    argument = parser.parse_argument()
    argument.location = parser.parse_optional_location()
    return argument


def parse_parameter(parser: Parser) -> Parser.Argument | Attribute:
    """Parse `%name: type`, or the type alone, as where a function has no body of its own."""
    if (argument := parser.parse_optional_argument()) is None:
        return parser.parse_type()
    argument.location = parser.parse_optional_location()
    return argument


def parameter_types(parameters: Sequence[Parser.Argument | Attribute]) -> list[Attribute]:
    """Return the types of what `parse_parameter` parsed."""
    return [each.type if isinstance(each, Parser.Argument) else each for each in parameters]


def named(parser: Parser, parameters: Sequence[Parser.Argument | Attribute]) -> list[Parser.Argument]:
    """Return the arguments of a body; a type without a name is an error."""
    arguments = [each for each in parameters if isinstance(each, Parser.Argument)]
    if len(arguments) < len(parameters):
        parser.raise_error("an argument of a body needs a name, as in %x: i16")
    return arguments


def parse_arguments(parser: Parser) -> list[Parser.Argument]:
    """Parse `(%name: type, ...)`; without parentheses there are no arguments."""
    return parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_argument(parser)) or []


def print_arguments(printer: Printer, body: Region) -> None:
    """Print `(%name: type, ...)`, the arguments of a body."""
    with printer.in_parens():
        if (block := body.first_block) is not None:
            printer.print_list(block.args, printer.print_block_argument)


def parse_body(parser: Parser, arguments: Sequence[Parser.Argument], terminator: Callable[[], Operation]) -> Region:
    """Parse the body of a function or task; one that ends without a terminator gets one."""
    body = parser.parse_region(arguments)
    if len(body.blocks) > 1:
        parser.raise_error("a body has one block; use scf.if, scf.for and scf.while for its branches")
    last = body.block.last_op
    if last is None or not last.has_trait(IsTerminator):
        body.block.add_op(terminator())
    return body


def print_body(printer: Printer, body: Region) -> None:
    """Print ` {...}`; the arguments of the entry block are printed elsewhere."""
    printer.print_string(" ")
    printer.print_region(body, print_entry_block_args=False, print_empty_block=False)
