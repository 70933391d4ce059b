"""Parsing and printing of IR text, with the line of every operation.

xDSL's parser keeps only locations written out as `loc(...)`; ours fills in the position in the text wherever none
is written, so that later errors can point at it. Knows no dialect of its own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, UnknownLoc
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser
from xdsl.parser.generic_parser import ParserState
from xdsl.printer import Printer
from xdsl.utils.exceptions import DiagnosticException, ParseError
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ..diagnostics.errors import LoomError, from_parse_error, one_line
from ..diagnostics.locations import location_of
from ..diagnostics.nesting import deep_nesting
from .ir_lexer import IRLexer
from .ir_repeats import Lines, Repetitions

_T = TypeVar("_T")

_QUOTES = re.compile(r'//[^\n]*+|"(?P<string>(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+")?')
"""Comments, strings, and, without a group `string`, quotation marks that begin none. Takes linear time; xDSL's own
pattern for strings tries twice as often for each further character behind a mark that has no partner."""

_EXPONENT = re.compile(r"[eE][-+]?\d+\b")
_DIGITS_BEFORE = re.compile(r"(?<![\w.%@#!$])-?\d+\Z")
"""An exponent, and what makes it one of a number without a fraction, which MLIR does not have."""

_FLAT_PARAMETERS = re.compile(r"<[^<>\"!#/]*+(?<!-)>")
"""Parameters of a type or attribute that contain no others, no names of aliases, no strings and no comments: equal
texts mean the same."""


class LocatingParser(Parser):
    """xDSL's parser, giving each operation the location of its first character.

    `line_offset` is the number of lines before the text in its file, for files read in pieces. `program` is what an
    empty text lacks. Raises LoomError for a string that does not end.
    """

    def __init__(
        self, ctx: Context, text: str, name: str, line_offset: int = 0, program: str = "a wse.program"
    ) -> None:
        self._program = "a kernel, func.func" if name.endswith(".pto") else program
        self._file = StringAttr(name)
        self._name = name
        self._line_offset = line_offset
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        for match in _QUOTES.finditer(text):
            if match[0][0] == '"' and match["string"] is None:
                message = "a string begins here that does not end on its line, or has an unknown escape; close it"
                raise LoomError(message, self.location_at(match.start()))
        self._flat: dict[tuple[str, bool, str], Any] = {}
        self._repeated = Repetitions(text)
        self._looked_at_values = False
        self._text = text
        try:
            super().__init__(ctx, text, name)
            self._parser_state = ParserState(IRLexer(Input(text, name)))
        except ParseError as error:
            error.msg = self._clearer(error)
            raise

    def _line_and_column(self, position: int) -> tuple[int, int]:
        line = bisect_right(self._line_starts, position)
        return line + self._line_offset, position - self._line_starts[line - 1] + 1

    def location_at(self, position: int) -> str:
        """Return a position in the text as `file:line:col`."""
        line, column = self._line_and_column(position)
        return f"{self._name}:{line}:{column}"

    @deep_nesting()
    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """Parse the whole text; raises ParseError or LoomError at the place of the first mistake."""
        try:
            module = super().parse_module(allow_implicit_module)
            _check_operands(module)
            return module
        except ParseError as error:
            error.msg = self._clearer(error)
            raise
        except LoomError:
            raise
        except RecursionError as error:
            message = "operations or attributes are nested too deeply to be read"
            raise LoomError(message, self.location_at(self.pos)) from error
        except Exception as error:
            # Some malformed text makes xDSL's parser fail with whatever Python exception it runs into.
            raise LoomError(f"cannot be parsed: {one_line(error)}", self.location_at(self.pos)) from error

    def _clearer(self, error: ParseError) -> str:
        """Return the message of xDSL, or one that says more where xDSL's only says what it was about to read."""
        at_end = error.span.start >= len(self._text.rstrip())
        exponent = _EXPONENT.match(self._text, error.span.start)
        line = self._text[: error.span.start].rpartition("\n")[2]
        if exponent is not None and (digits := _DIGITS_BEFORE.search(line)) is not None:
            error.span = Span(error.span.start - len(digits[0]), exponent.end(), self.lexer.input)
            return f"'{digits[0]}{exponent[0]}' is not a number: a float has a point; write {digits[0]}.0{exponent[0]}"
        match error.msg.strip():
            case "Could not parse entire input!":
                return f"the text contains no operation; write {self._program}" if at_end else "expected an operation"
            case "in block definition":
                return (
                    "the text ends inside a region; a '}' is missing" if at_end else "an operation or '}' is expected"
                )
            case "Expected suffix identifier after {first_char}":
                return f"a name is expected behind '{self._text[error.span.start]}'"
            case _:
                return error.msg

    def parse_comma_separated_list(
        self, delimiter: Parser.Delimiter, parse: Callable[[], _T], context_msg: str = ""
    ) -> list[_T]:
        """Parse a list; MLIR lets the parentheses around types away where there is one, as in `scf.if %c -> i32`."""
        is_types = delimiter is self.Delimiter.PAREN and getattr(parse, "__name__", "") in (
            "parse_type",
            "parse_attribute",
        )
        if is_types and self._current_token.kind is not MLIRTokenKind.L_PAREN:
            return [parse()]
        return super().parse_comma_separated_list(delimiter, parse, context_msg)

    def parse_integer(self, allow_boolean: bool = True, allow_negative: bool = True, context_msg: str = "") -> int:
        """Parse an integer; one that the attribute that holds it would wrap around is an error."""
        position = self.pos
        number = super().parse_integer(allow_boolean, allow_negative, context_msg)
        if not -(1 << 63) <= number < 1 << 63:
            message = f"the number {number} does not fit in 64 bits; write a smaller one"
            raise LoomError(message, self.location_at(position))
        return number

    def _parse_dialect_type_or_attribute_body(
        self, attr_name: str, is_type: bool, is_opaque: bool, starting_opaque_pos: int | None
    ) -> Any:
        """Parse the parameters of a type or attribute, once for each text: kernels name few types, and often."""
        content, start = self.lexer.input.content, self.pos
        match = _FLAT_PARAMETERS.match(content, start) if "." in attr_name else None
        key = (attr_name, is_type, match[0]) if match is not None else None
        if match is not None and key in self._flat:
            self._resume_from(match.end())
            return self._flat[key]
        found = super()._parse_dialect_type_or_attribute_body(attr_name, is_type, is_opaque, starting_opaque_pos)
        # A type without parameters leaves the text to what follows it.
        if (
            match is not None
            and key is not None
            and self.pos >= match.end()
            and not content[match.end() : self.pos].strip()
        ):
            self._flat[key] = found
        return found

    def look_at_values(self) -> None:
        """Note that the operation being parsed depends on how its operands are computed, not on their types alone."""
        self._looked_at_values = True

    def _parse_repeated(self, lines: Lines) -> Operation | None:
        """Parse an operation that differs from an earlier one in names alone; None if it does not."""
        found = self._repeated.operation(lines, self.ssa_values)
        if found is None:
            return None
        op, results = found
        span, first = self._current_token.span, 0
        for name, size in results:
            self._register_ssa_definition(name, op.results[first : first + size], span)
            first += size
        self._resume_from(lines.end)
        return op

    def _parse_new(self, lines: Lines | None) -> Operation:
        """Parse an operation, and remember it if it ends with these lines."""
        outside, self._looked_at_values = self._looked_at_values, False
        op = super().parse_operation()
        if lines is not None and self.pos == lines.end and not self._looked_at_values:
            self._repeated.note(lines, op, self.ssa_values)
        self._looked_at_values = outside
        return op

    def parse_operation(self) -> Operation:
        position = self.pos
        lines = self._repeated.lines_at(position, self._parser_state.dialect_stack)
        try:
            op = (lines and self._parse_repeated(lines)) or self._parse_new(lines)
        except LoomError:
            raise
        except ParseError as error:
            # xDSL reports an unknown operation at the token after it.
            if error.msg.startswith("Operation ") and error.msg.endswith(" is not registered"):
                error.msg = error.msg.replace("Operation", "operation", 1)
                error.span = Span(position, position + 1, self.lexer.input)
            raise
        except DiagnosticException as error:
            # Raised by the constructor of an operation or attribute, which does not know its place in the text.
            raise LoomError(one_line(error), self.location_at(position)) from error
        if isinstance(op.location, UnknownLoc):
            line, column = self._line_and_column(position)
            op.location = FileLineColLoc(self._file, IntAttr(line), IntAttr(column))
        return op


def _check_operands(module: ModuleOp) -> None:
    """Raise LoomError for an operand that is defined only where it cannot be seen, which xDSL's parser lets pass."""
    for op in module.walk():
        for position, operand in enumerate(op.operands):
            try:
                _ = operand.owner
            except ValueError:
                message = (
                    f"operand {position} of {op.name} is defined only inside a region of its own; define it before"
                )
                raise LoomError(message, location_of(op)) from None


def parse_ir(ctx: Context, text: str, name: str, program: str = "a wse.program") -> ModuleOp:
    """Parse `text`, whose file is called `name`; raises LoomError at the place of the first mistake.

    `program` is what an empty text lacks.
    """
    try:
        return LocatingParser(ctx, text, name, program=program).parse_module()
    except ParseError as error:
        # The parser's own frames would tell the reader nothing.
        raise from_parse_error(error) from None


def text_of(source: str | Path) -> tuple[str, str]:
    """Return the text of a program, given itself or as a file, and what it is called; raises LoomError for neither."""
    if not isinstance(source, str | Path) or str(source) == "":
        raise LoomError(f"{source!r} is not a program; give a file, IR text or an xDSL module")
    if isinstance(source, str) and ("\n" in source or "{" in source):
        return source, "<text>"
    return read_text(source), str(source)


def read_text(path: str | Path) -> str:
    """Return the text of a file; raises LoomError if it cannot be read or is not text."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise LoomError(f"cannot be read: {error.strerror or error}", str(path)) from error
    except ValueError as error:
        raise LoomError(f"is not the name of a file: {error}", repr(str(path))) from error
    return decode_text(content, str(path))


def decode_text(content: bytes, name: str) -> str:
    """Return `content` as text, without a byte order mark; raises LoomError naming the first byte that is not UTF-8
    text."""
    if (position := content.find(0)) >= 0:
        raise LoomError(f"is not a text file: byte {position} is zero", name)
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise LoomError(f"is not a text file: byte {error.start} is not valid UTF-8", name) from error


def print_ir(module: ModuleOp) -> str:
    """Return a module as text that `parse_ir` reads."""
    stream = StringIO()
    _TextPrinter(stream).print_op(module)
    return stream.getvalue() + "\n"


class _TextPrinter(Printer):
    """Prints what the base class does, without the columns that messages inside a text need, and what attributes,
    types and members of programs look like once."""

    def __init__(self, stream: StringIO) -> None:
        super().__init__(stream=stream)
        self._write = stream.write
        # The attribute is kept with its text, so that no other can take its identity.
        self._texts: dict[int, tuple[Attribute, str]] = {}
        self._members: dict[tuple[object, ...], str] = {}

    def print_op(self, op: Operation) -> None:
        """Print an operation; one that is all in its attributes, as most members of a PE program are, once for all.

        They are compared by identity, which lasts as long as the module has them.
        """
        if op.results or op.operands or op.successors or any(region.first_block is not None for region in op.regions):
            super().print_op(op)
            return
        key = (
            type(op),
            *[(name, id(value)) for name, value in op.properties.items()],
            *[(id(value), name) for name, value in op.attributes.items()],
        )
        text = self._members.get(key)
        if text is None:
            outside, write = self.stream, self._write
            stream = self.stream = StringIO()
            self._write = stream.write
            try:
                super().print_op(op)
            finally:
                self.stream, self._write = outside, write
            text = self._members[key] = stream.getvalue()
        self._write(text)

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        if "\n" in text:
            super().print_string(text, indent=indent)
        else:
            self._write(text)

    def print_attribute(self, attribute: Attribute) -> None:
        known = self._texts.get(id(attribute))
        if known is None:
            stream = StringIO()
            Printer(stream=stream).print_attribute(attribute)
            known = self._texts[id(attribute)] = attribute, stream.getvalue()
        self.print_string(known[1])
