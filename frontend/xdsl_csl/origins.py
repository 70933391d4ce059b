"""From places in the CSL text that was written back to the operations it was written for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Attribute, Operation

from ...diagnostics import LoomError, location_of
from ..csl import syntax
from ..csl.errors import CslError
from ..csl.source import Source

_Piece = tuple[int, int, Operation]


class Origins:
    """The operations behind the texts of a program.

    A written tree and the one its text parses to are equal, so a walk over both tells where each written node stands.
    """

    def __init__(self, origins: Mapping[int, Operation]) -> None:
        self._origins = origins
        self._sources: dict[str, Source] = {}
        self._pieces: dict[str, list[_Piece]] = {}

    def add(self, written: syntax.File, parsed: syntax.File) -> None:
        """Learn the places of one file."""
        path = parsed.source.path
        self._sources[path] = parsed.source
        pieces: list[_Piece] = []
        for ours, theirs in zip(syntax.walk(written), syntax.walk(parsed), strict=True):
            op = self._origins.get(id(ours))
            if op is not None:
                pieces.append((theirs.start, theirs.end, op))
        self._pieces[path] = pieces

    def at(self, path: str, offset: int) -> Operation | None:
        """The operation whose text is the smallest around a place."""
        around = [piece for piece in self._pieces.get(path, ()) if piece[0] <= offset < piece[1]]
        return min(around, key=lambda piece: piece[1] - piece[0])[2] if around else None

    def location(self, location: Attribute) -> Attribute:
        """The location of the operation behind a location in a written text; any other as it is."""
        if not isinstance(location, FileLineColLoc) or location.filename.data not in self._sources:
            return location
        source = self._sources[location.filename.data]
        offset = source.offset(location.line.data, location.column.data)
        op = self.at(source.path, offset)
        return location if op is None else op.location

    def error(self, error: CslError) -> LoomError:
        """The first of the mistakes as one in the operation behind it, which is named."""
        first = error.diagnostics[0]
        if first.source.path not in self._sources:
            return error
        op = self.at(first.source.path, first.start)
        if op is None:
            name = Path(first.source.path).name
            line = first.source.line_text(first.source.line_and_column(first.start)[0]).strip()
            return LoomError(f"{first.message} (in the CSL of {name}: {line})")
        return LoomError(f"{op.name} cannot be imported: {first.message}", location_of(op))
