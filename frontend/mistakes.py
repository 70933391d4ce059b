"""The errors found of a program while all of them are looked for (`recovery`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from xdsl.dialects.builtin import ModuleOp

from ..csl.errors import CslError
from ..csl.source import Diagnostic, Source
from ..diagnostics.errors import MAX_REPORTED
from .errors import Ended, Poisoned, ProgramErrors, in_program

MAX_COUNTED = 1000
"""Errors after which none is looked for."""


class Mistakes:
    """The errors found of a program, one for each place in the text."""

    def __init__(self, first: CslError) -> None:
        self._found: dict[tuple[str, int], Diagnostic] = {}
        self.lacks_statements = False
        """True if code of the layout or of a comptime block had an error: the program then says less than its author
        meant, so what it leaves out is not reported."""
        self.undeclared: set[tuple[str, str]] = set()
        """Names that are not declared, by file: reported once."""
        self.count = 0
        """How many errors have been met, consequences of others among them."""
        self.rest: ModuleOp | None = None
        """What is left of the program without the code that has errors."""
        self._take(first)

    def _take(self, error: CslError) -> None:
        for each in in_program(error).diagnostics:
            self._found.setdefault((each.source.path, each.start), each)

    def add(self, error: CslError) -> None:
        """Record an error, unless it is the consequence of another. Raises Ended if there are too many."""
        self.count += 1
        if not isinstance(error, Poisoned):
            self._take(error)
        if len(self._found) >= MAX_COUNTED:
            raise Ended(error.diagnostics)

    def says(self, message: str) -> bool:
        """Return True if an error has a message."""
        return any(each.message == message for each in self._found.values())

    def of_undeclared(self, source: Source, name: str, error: CslError) -> CslError:
        """Return an error about a name that is not declared as it is to be raised: each name once in a file."""
        if (source.path, name) in self.undeclared:
            return Poisoned(error.diagnostics)
        self.undeclared.add((source.path, name))
        return error

    def for_lack(self, error: CslError) -> CslError:
        """Return an error about something that the program does not state as it is to be raised."""
        return Poisoned(error.diagnostics) if self.lacks_statements else error

    def are_in(self, paths: Collection[str]) -> bool:
        """Return True if an error is in one of some files."""
        return any(path in paths for path, _ in self._found)

    def error(self, files: Iterable[str]) -> ProgramErrors:
        """Return one error with all of them: in the order of `files`, the paths as they were read, and of the text."""
        files = list(files)
        order = {path: position for position, path in enumerate(files)}

        def place(each: Diagnostic) -> tuple[int, str, int]:
            return order.get(each.source.path, len(order)), each.source.path, each.start

        found = sorted(self._found.values(), key=place)
        return ProgramErrors(found[:MAX_REPORTED], max(0, len(found) - MAX_REPORTED), files, self.rest)
