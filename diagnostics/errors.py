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
from typing import TYPE_CHECKING, Protocol

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


class Mistake(Protocol):
    """A message and its place; str() is what a user sees of both."""

    @property
    def message(self) -> str: ...

    @property
    def location(self) -> str | None: ...


class LoomErrors(LoomError):
    """Several mistakes; `message` and `location` are those of the first. `unreported` are further ones, not given."""

    def __init__(self, errors: Sequence[Mistake], unreported: int = 0) -> None:
        super().__init__(errors[0].message, errors[0].location)
        self.errors = tuple(errors)
        self.diagnostics = self.errors[:MAX_REPORTED]
        self.unreported = unreported + len(errors) - len(self.diagnostics)

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
    """Errors of passes, which go on behind them."""

    def __init__(self) -> None:
        self._found: dict[tuple[str | None, str], Mistake] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    @property
    def errors(self) -> tuple[Mistake, ...]:
        """Return what has been found."""
        return tuple(self._found.values())

    @contextmanager
    def going_on(self) -> Generator[None]:
        """Record errors inside."""
        try:
            yield
        except LoomError as error:
            self.add(error)

    def add(self, error: LoomError) -> None:
        """Record an error, or each of several, once."""
        self._take(_each(error))

    def add_independent(self, error: LoomError) -> None:
        """Record the errors of a later pass, but for those at a place that has one: they may follow from it."""
        places = {location for location, _ in self._found if location is not None}
        self._take([each for each in _each(error) if each.location not in places])

    def _take(self, errors: Sequence[Mistake]) -> None:
        for each in errors:
            self._found.setdefault((each.location, each.message), each)

    def end(self) -> None:
        """Raise what has been found, if anything."""
        _raise(self.errors)

    def end_in_order(self) -> None:
        """Raise what has been found, if anything, in the order of the text."""
        _raise(in_order(self.errors))


def _each(error: LoomError) -> Sequence[Mistake]:
    return error.errors if isinstance(error, LoomErrors) else [error]


def _raise(found: Sequence[Mistake]) -> None:
    if len(found) == 1 and isinstance(found[0], LoomError):
        raise found[0]
    if found:
        raise LoomErrors(found)


def in_order(errors: Sequence[Mistake], files: Sequence[str] = ()) -> list[Mistake]:
    """Return errors in the order of the text: that of `files`, then of others as they come first."""
    order: dict[str, int] = {}
    for file in (*files, *(place_of(error.location)[0] for error in errors)):
        order.setdefault(file, len(order))

    def place(error: Mistake) -> tuple[int, int, int]:
        file, line, column = place_of(error.location)
        return order[file], line, column

    return sorted(errors, key=place)


def place_of(location: str | None) -> tuple[str, int, int]:
    """Return the file, line and column of a location, 0 for what it does not say."""
    file, numbers = location or "", list[int]()
    while len(numbers) < 2:
        rest, _, number = file.rpartition(":")
        if not rest or not number.isdecimal():
            break
        file = rest
        numbers.insert(0, int(number))
    line, column = [*numbers, 0, 0][:2]
    return file, line, column


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
