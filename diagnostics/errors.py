"""Errors meant for the person who wrote the program, and the places in it that they point at.

Everything this package raises for a user's mistake is a `LoomError`, or one of xDSL's diagnostic
exceptions inside verifiers and passes; the tools show both as one line and end with status 1.
Nothing here may import a dialect: every other module may import this one.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from xdsl.utils.exceptions import DiagnosticException

if TYPE_CHECKING:
    from xdsl.utils.exceptions import ParseError


def shown(text: str, *, lines: bool = False) -> str:
    """Return a text as a terminal may show it: control characters and the like are escaped, as in `\\x1b`.

    The ends of lines and tabs stay as they are, but not with `lines`, for what must not begin a line.
    """
    if text.isprintable():
        return text
    kept = "" if lines else "\n\t"
    return "".join(c if c.isprintable() or c in kept else c.encode("unicode_escape").decode() for c in text)


class LoomError(DiagnosticException):
    """A mistake of the user's: what is wrong, where, and what to do.

    `message` is a sentence without a location; `location` is `file:line:col`, a file name, or
    None where nothing narrower than the whole program is known. It is one of xDSL's diagnostic
    exceptions so that `--verify-diagnostics` of `loom-opt` and `xdsl-opt` sees it too.
    """

    def __init__(self, message: str, location: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.location = location

    def __str__(self) -> str:
        if self.location is None:
            return shown(f"error: {self.message}")
        return f"{shown(self.location, lines=True)}: error: {shown(self.message)}"


MAX_REPORTED = 20
"""Errors of one compilation that are reported; the rest is counted."""


class LoomErrors(LoomError):
    """Several mistakes; `message` and `location` are those of the first."""

    def __init__(self, errors: Sequence[LoomError]) -> None:
        super().__init__(errors[0].message, errors[0].location)
        self.diagnostics = tuple(errors[:MAX_REPORTED])
        self.unreported = len(errors) - len(self.diagnostics)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.diagnostics), *self.closing_notes])

    @property
    def closing_notes(self) -> list[str]:
        """Return the notes behind all errors, one line each."""
        return [not_shown(self.unreported)] if self.unreported else []


def not_shown(count: int) -> str:
    """Return the note behind errors of which some are not reported."""
    return f"note: {count} more error{'' if count == 1 else 's'}, not shown"


class Mistakes:
    """Errors of a pass, which goes on behind them."""

    def __init__(self) -> None:
        self._found: dict[tuple[str | None, str], LoomError] = {}

    @contextmanager
    def going_on(self) -> Generator[None]:
        """Take note of errors inside."""
        try:
            yield
        except LoomErrors as errors:
            for error in errors.diagnostics:
                self.add(error)
        except LoomError as error:
            self.add(error)

    def add(self, error: LoomError) -> None:
        """Take note of an error, once."""
        self._found.setdefault((error.location, error.message), error)

    def end(self) -> None:
        """Raise what has been found, if anything."""
        found = list(self._found.values())
        if found:
            raise found[0] if len(found) == 1 else LoomErrors(found)


def one_line(error: BaseException) -> str:
    """Return the message of an exception on a single line; its type if it has none."""
    return " ".join(str(error).split()) or type(error).__name__


def from_parse_error(error: ParseError) -> LoomError:
    """Return xDSL's several-line parse error as one of ours."""
    return LoomError(" ".join(error.msg.split()), str(error.span.get_location()))


def report(error: BaseException) -> str:
    """Return what a user sees of an exception that ends a tool.

    That is one line for every mistake in the input. Anything unforeseen is a defect of this package and is said to be
    one, with the place it came from; LOOM_TRACEBACK=1 in the environment prints the whole traceback first.
    """
    if os.environ.get("LOOM_TRACEBACK"):
        error.__suppress_context__ = False
        traceback.print_exception(error, file=sys.stderr)
    return shown(_report(error))


def foreseen(error: BaseException) -> LoomError | None:
    """Return an exception that ends a tool as a mistake of the user's; None if it is a defect of this package."""
    from xdsl.utils.exceptions import ArgSpecParseError, ParseError

    match error:
        case LoomError():
            return error
        case ParseError():
            return from_parse_error(error)
        case OSError(filename=str(name)):
            return LoomError(f"cannot be opened: {error.strerror}", name)
        case OSError(strerror=str(reason)):
            return LoomError(f"the output cannot be written: {reason}")
        case DiagnosticException() | ArgSpecParseError():
            return LoomError(one_line(error))
        case MemoryError():
            return LoomError("the computer is out of memory; use a smaller rectangle, fewer blocks or smaller buffers")
        case _:
            return None


def _report(error: BaseException) -> str:
    known = foreseen(error)
    if known is not None:
        return str(known)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    kind = type(error).__name__
    return f"internal error: {kind}{place}: {one_line(error)} (a defect of loomir; LOOM_TRACEBACK=1 shows more)"
