"""Errors meant for the person who wrote the program, and where in it they point.

Everything this package raises for a user's mistake is a `LoomError`, or one of xDSL's diagnostic
exceptions inside verifiers and passes; the tools show both as one line and end with status 1.
Nothing here may import a dialect: every other module may import this one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.utils.exceptions import DiagnosticException

if TYPE_CHECKING:
    from xdsl.ir import Attribute, Operation


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
            return f"error: {self.message}"
        return f"{self.location}: error: {self.message}"


def location_of(op: Operation) -> str | None:
    """Where `op` was written, as `file:line:col`, or None if its location is unknown."""
    return render_location(op.location)


def render_location(location: Attribute) -> str | None:
    """An xDSL location as `file:line:col`; the first known part of a compound one, or None."""
    from xdsl.dialects.builtin import ArrayAttr, CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc

    match location:
        case FileLineColLoc():
            return f"{location.filename.data}:{location.line.data}:{location.column.data}"
        case NameLoc():
            return render_location(location.location)
        case CallSiteLoc():
            return render_location(location.callee)
        case FusedLoc(locations=ArrayAttr(data=parts)):
            return next((text for part in parts if (text := render_location(part)) is not None), None)
        case _:
            return None
