"""Fields of queues in text: where a queue's control tasks begin in the control task table."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

KEYWORD = "control_offset"


def parse_control_offset(parser: Parser) -> int | None:
    """Parse `control_offset 4`, if it is there."""
    if parser.parse_optional_keyword(KEYWORD) is None:
        return None
    return parser.parse_integer(allow_boolean=False)


def print_control_offset(printer: Printer, offset: IntegerAttr | None) -> None:
    """Print the offset of a queue that has one."""
    if offset is not None:
        printer.print_string(f" {KEYWORD} {offset.value.data}")


def verify_control_offset(name: str, *, is_input: bool, offset: IntegerAttr | None) -> None:
    """Raise VerifyException for an offset that is negative, or of an output queue."""
    if offset is None:
        return
    if not is_input:
        raise VerifyException(f"output queue @{name} has a {KEYWORD}, but starts no tasks; remove it")
    if offset.value.data < 0:
        raise VerifyException(f"the {KEYWORD} of queue @{name} is {offset.value.data}; use 0 or more")
