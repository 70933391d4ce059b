"""Source text of a CSL file, places in it, and diagnostics as compilers print them.

Knows nothing of the language: the evaluation of a program reports its errors with the same classes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

# A longer source line is cut down to the part around the caret.
MAX_LINE_WIDTH = 160


class Source:
    """The text of one file. Offsets count characters from 0, lines and columns from 1."""

    __slots__ = ("_line_starts", "path", "text")

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._line_starts: list[int] | None = None

    def _starts(self) -> list[int]:
        if self._line_starts is None:
            starts = [0]
            position = self.text.find("\n")
            while position >= 0:
                starts.append(position + 1)
                position = self.text.find("\n", position + 1)
            self._line_starts = starts
        return self._line_starts

    def line_and_column(self, offset: int) -> tuple[int, int]:
        starts = self._starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line and a column."""
        return self._starts()[line - 1] + column - 1

    def line_text(self, line: int) -> str:
        """Return line number `line`, without its end."""
        starts = self._starts()
        end = starts[line] - 1 if line < len(starts) else len(self.text)
        return self.text[starts[line - 1] : end].rstrip("\r")

    def location(self, offset: int) -> str:
        """Return `file:line:column`."""
        line, column = self.line_and_column(offset)
        return f"{self.path}:{line}:{column}"

    def excerpt(self, start: int, end: int) -> str:
        """Return the line of `start`, and below it a caret under `start` with tildes up to `end` or the line's end."""
        line, column = self.line_and_column(start)
        text = self.line_text(line)
        first = column - 1
        length = max(1, min(end - start, len(text) - first))
        if len(text) > MAX_LINE_WIDTH:
            cut = max(0, min(first - MAX_LINE_WIDTH // 2, len(text) - MAX_LINE_WIDTH))
            text = text[cut : cut + MAX_LINE_WIDTH]
            first -= cut
            length = max(1, min(length, MAX_LINE_WIDTH - first))
        # A tab stays a tab, so that the caret is below its character however wide tabs are shown.
        indentation = "".join("\t" if character == "\t" else " " for character in text[:first])
        shown = "".join(character if character.isprintable() or character == "\t" else "?" for character in text)
        return f"{shown}\n{indentation}^{'~' * (length - 1)}"


class Note:
    """A second place that helps to understand a message, such as where a list was opened."""

    __slots__ = ("end", "message", "source", "start")

    def __init__(self, source: Source, start: int, end: int, message: str) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.message = message

    def __str__(self) -> str:
        return _rendered(self, "note")


class CallNote(Note):
    """A note that names a call, or an import, on the way to the place of an error."""

    __slots__ = ()


class Diagnostic:
    """One error: a sentence, the characters from `start` to `end` it is about, and notes."""

    __slots__ = ("end", "message", "notes", "source", "start")

    def __init__(self, source: Source, start: int, end: int, message: str, notes: Sequence[Note] = ()) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.message = message
        self.notes = tuple(notes)

    @property
    def location(self) -> str:
        return self.source.location(self.start)

    def __str__(self) -> str:
        return "\n".join([_rendered(self, "error"), *map(str, self.notes)])


def _rendered(said: Note | Diagnostic, kind: str) -> str:
    # Here, as only errors need it: it takes long to import.
    from ..diagnostics.errors import shown

    where = shown(said.source.location(said.start), lines=True)
    return f"{where}: {kind}: {shown(said.message)}\n{said.source.excerpt(said.start, said.end)}"
