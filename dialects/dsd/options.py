"""Options of descriptors that are written in braces, and which kind of descriptor has which.

What an option means is checked where it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..machine.modes import Priority, SimdMode
from .attributes import PriorityAttr, SimdModeAttr, ZeroedSource, ZeroedSourceAttr

_ENUM_OPTIONS: Mapping[str, Callable[[AttrParser], Attribute]] = {
    "priority": lambda parser: PriorityAttr(parser.parse_str_enum(Priority)),
    "simd": lambda parser: SimdModeAttr(parser.parse_str_enum(SimdMode)),
    "zero": lambda parser: ZeroedSourceAttr(parser.parse_str_enum(ZeroedSource)),
}

OPTIONS: Mapping[str, str] = {
    "wavelet_index_offset": "dsd.mem1d, dsd.mem4d, dsd.tensor_access and dsd.fabout",
    "control": "dsd.fabout",
    "advance_switch": "dsd.fabout",
    "zero": "dsd.fabout",
    "control_transform": "dsd.fabin and dsd.fabout",
    "message": "dsd.fabin and dsd.fabout",
    "simd": "dsd.fabin and dsd.fabout",
    "priority": "dsd.fabin and dsd.fabout",
}
"""The options written in braces, and who has them."""


def _parse_option(parser: Parser) -> tuple[str, Attribute]:
    name = parser.parse_identifier()
    if parser.parse_optional_punctuation("=") is None:
        return name, UnitAttr()
    if (parse := _ENUM_OPTIONS.get(name)) is not None:
        return name, parse(parser)
    return name, parser.parse_attribute()


def parse_options(parser: Parser, op: type[IRDLOperation]) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """Parse `{control, simd = simd_32}`: the properties of `op` among them, and all else."""
    position = parser.pos
    entries = parser.parse_optional_comma_separated_list(parser.Delimiter.BRACES, lambda: _parse_option(parser))
    options = dict(entries or ())
    if len(options) != len(entries or ()):
        parser.raise_error("an option is given twice; give it once", position)
    own = op.get_irdl_definition().properties
    properties = {name: value for name, value in options.items() if name in own and name in OPTIONS}
    return properties, {name: value for name, value in options.items() if name not in properties}


def print_options(printer: Printer, op: Operation) -> None:
    """Print what `parse_options` reads."""
    options = {name: value for name, value in op.properties.items() if name in OPTIONS} | op.attributes
    if not options:
        return

    def write(entry: tuple[str, Attribute]) -> None:
        name, value = entry
        printer.print_identifier_or_string_literal(name)
        if isinstance(value, PriorityAttr | SimdModeAttr | ZeroedSourceAttr):
            printer.print_string(f" = {value.data}")
        elif not isinstance(value, UnitAttr):
            printer.print_string(" = ")
            printer.print_attribute(value)

    printer.print_string(" ")
    with printer.in_braces():
        printer.print_list(options.items(), write)


def verify_options(op: Operation) -> None:
    """Refuse an option of another kind of descriptor, which would otherwise be a mere attribute."""
    for name in op.attributes:
        if (owners := OPTIONS.get(name)) is not None:
            raise VerifyException(f"{op.name} has no option '{name}', which belongs to {owners}; remove it")
