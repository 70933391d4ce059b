"""The kinds of errors in CSL programs that evaluation tells apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..csl.errors import CslError
from ..csl.source import CallNote, Diagnostic, Note
from .modules import is_of_library

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


class Mistyped(CslError):
    """A mistake that is one whatever the values are: types that do not fit, an assertion that never holds."""


class MistypedAtRunTime(Mistyped):
    """A mistake that is none if what it is about is known at compile time: an integer that may fit into another type,
    an assertion that may never be come to."""


class Refused(Mistyped):
    """An error that a library reports about the program that uses it, with a message of the library."""


class UnknownDescriptor(CslError):
    """A variable is read before any code has been seen that puts a descriptor into it."""


class Ended(CslError):
    """An error after which nothing else is evaluated: evaluation has taken too many steps."""


class Poisoned(CslError):
    """The consequence of an error that has been reported: never reported itself (`recovery`)."""


class ProgramErrors(CslError):
    """All errors that evaluation finds in a program."""

    def __init__(
        self, diagnostics: Sequence[Diagnostic], unreported: int, files: Sequence[str], rest: ModuleOp | None
    ) -> None:
        super().__init__(diagnostics, unreported)
        self.files = files
        """All files of the program, in the order in which they were read."""
        self.rest = rest
        """The program without the code that has errors, for passes, which may find more; None if too little is left."""


def in_program(error: CslError) -> CslError:
    """Return an error that a library found, at the program's call or import of it."""
    first = error.diagnostics[0]
    if not is_of_library(first.source):
        return error
    for note in first.notes:
        if isinstance(note, CallNote) and not is_of_library(note.source):
            notes: list[Note] = []
            if not isinstance(error, Refused):
                notes.append(Note(first.source, first.start, first.end, "found here in the library"))
                notes += (other for other in first.notes if other is not note)
            moved = Diagnostic(note.source, note.start, note.end, first.message, notes)
            return CslError([moved, *error.diagnostics[1:]])
    return error


class Unchecked(Exception):
    """Raised where code that is only checked does what cannot be undone, or goes on where its values are needed."""


class Serial(Exception):
    """Raised where iterations evaluated together turn out to depend on each other."""
