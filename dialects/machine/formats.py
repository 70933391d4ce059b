"""The format of 16-bit floats of a DSD operation: `fp16(bf16)` or `fp16(cb16)` in its text, nothing for f16."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ...operations.dsd_table import FORMATS, DsdOperation, Format

KEYWORD = "fp16"


def known_format(name: str, row: DsdOperation) -> Format:
    """Return the format of that name. Raises VerifyException if there is none, or the operation has no such floats."""
    if not row.has_format:
        raise VerifyException(f"{row.name} has no operand of 16-bit floats; leave out {KEYWORD}")
    if name not in FORMATS:
        raise VerifyException(
            f"unknown format '{name}' of 16-bit floats; use {' or '.join(FORMATS)}, or leave out {KEYWORD} for f16"
        )
    return name


def parse_format(parser: Parser) -> StringAttr | None:
    """Parse the format of an operation, if its text has one."""
    if parser.parse_optional_keyword(KEYWORD) is None:
        return None
    with parser.in_parens():
        return StringAttr(parser.parse_identifier())


def print_format(printer: Printer, format: StringAttr | None) -> None:
    """Print the format of an operation, if it is not f16."""
    if format is not None:
        printer.print_string(f" {KEYWORD}({format.data})")
