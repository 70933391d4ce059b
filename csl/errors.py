"""The exception that carries errors in CSL text. Apart from the parser, which starts without it."""

from __future__ import annotations

from collections.abc import Sequence

from ..diagnostics.errors import LoomError, not_shown
from .source import Diagnostic


class CslError(LoomError):
    """One or more mistakes in CSL text, in the order of the text.

    `message` and `location` are those of the first; str() shows all, each with its source line, caret and notes.
    """

    def __init__(self, diagnostics: Sequence[Diagnostic], unreported: int = 0) -> None:
        super().__init__(diagnostics[0].message, diagnostics[0].location)
        self.diagnostics = tuple(diagnostics)
        self.unreported = unreported
        """Number of further errors, which are not in `diagnostics`."""

    def __str__(self) -> str:
        return "\n".join([*map(str, self.diagnostics), *self.closing_notes])

    @property
    def closing_notes(self) -> list[str]:
        """Return the notes behind all errors, one line each."""
        return [not_shown(self.unreported)] if self.unreported else []
