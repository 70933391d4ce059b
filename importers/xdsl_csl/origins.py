"""Origins of generated CSL text: from places in it back to the operations it was generated for."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import FileLineColLoc, UnknownLoc
from xdsl.ir import Attribute, Operation

from ...csl import syntax
from ...csl.source import Source
from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of

_Piece = tuple[int, int, Operation]


class Origins:
    """The operations behind the texts of a program.

    A generated tree and the one its text parses to are equal, so a walk over both finds the place of each node.
    """

    def __init__(self, origins: Mapping[int, Operation]) -> None:
        self._origins = origins
        self._sources: dict[str, Source] = {}
        self._pieces: dict[str, list[_Piece]] = {}

    def add(self, written: syntax.File, parsed: syntax.File) -> None:
        """Add the places of one file."""
        path = parsed.source.path
        self._sources[path] = parsed.source
        pieces: list[_Piece] = []
        for ours, theirs in zip(syntax.walk(written), syntax.walk(parsed), strict=True):
            op = self._origins.get(id(ours))
            if op is not None:
                pieces.append((theirs.start, theirs.end, op))
        self._pieces[path] = pieces

    def at(self, path: str, offset: int) -> Operation | None:
        """Return the operation with the shortest text around a place."""
        around = [piece for piece in self._pieces.get(path, ()) if piece[0] <= offset < piece[1]]
        return min(around, key=lambda piece: piece[1] - piece[0])[2] if around else None

    def location(self, location: Attribute) -> Attribute:
        """Return the location of the operation that a location in generated text comes from; any other unchanged."""
        if not isinstance(location, FileLineColLoc):
            return location
        path = location.filename.data
        op = self._at_line(path, location.line.data, location.column.data) if path in self._sources else None
        if op is None:
            return UnknownLoc() if path in self._sources else location
        return op.location

    def error(self, error: LoomError) -> LoomError:
        """Return an error in generated text as one at the operation it comes from, naming it; any other unchanged."""
        path, line, column = _split(error.location)
        source = self._sources.get(path)
        if source is None:
            return error
        op = self._at_line(path, line, column)
        if op is None:
            shown = source.line_text(line).strip() if line else ""
            return LoomError(f"{error.message} (in the CSL that was written: {shown})")
        return LoomError(f"{op.name} cannot be imported: {error.message}", location_of(op))

    def _at_line(self, path: str, line: int, column: int) -> Operation | None:
        text = self._sources[path].text
        start = 0
        for _ in range(line - 1):
            start = text.find("\n", start) + 1
        return self.at(path, start + column - 1)


def _split(location: str | None) -> tuple[str, int, int]:
    """Split `path:line:column` into path, line and column; missing numbers are 0."""
    parts = (location or "").rsplit(":", 2)
    if len(parts) == 3 and parts[1].isdigit() and parts[2].isdigit():
        return parts[0], int(parts[1]), int(parts[2])
    return location or "", 0, 0
