"""Warnings of something that the machine permits, once for each place in the program."""

from __future__ import annotations

from typing import Literal

from ..diagnostics.output import tell


class Warnings:
    """Prints warnings on stderr and keeps the places that they have named."""

    def __init__(self) -> None:
        self._places: set[str | None] = set()

    def warn(self, where: str | None, message: str, severity: Literal["warning", "note"] = "warning") -> None:
        """Print a warning, or a note, unless there was one of that place; one without a place is always printed."""
        if where is None or where not in self._places:
            self._places.add(where)
            tell(severity, message, where)

    def has(self, where: str | None) -> bool:
        """Return True if there was a warning of a place, or for None one without a place."""
        return where in self._places
