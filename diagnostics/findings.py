"""Findings: what is reported of a program that can be read and run all the same, in its text or while it runs.

Knows neither how findings are found nor who shows them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .errors import shown

Severity: TypeAlias = Literal["error", "warning"]
"""True if the program goes wrong, or may."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or may go wrong.

    `code` names its kind, `unsafe-depth` for example, and stays the same from version to version; `message` is a
    sentence that says what happens, why, and what to do; `location` is `file:line:col`, or None if it is the whole
    program's; `arch` is the chip it is true of, None for all that were looked at.
    """

    severity: Severity
    code: str
    message: str
    location: str | None = None
    arch: str | None = None

    def __str__(self) -> str:
        """Return one line, as compilers print it."""
        place = "" if self.location is None else f"{self.location}: "
        chip = "" if self.arch is None else f" (on {self.arch})"
        return shown(f"{place}{self.severity}: {self.message}{chip} [{self.code}]", lines=True)


class Findings:
    """The findings of a run, in order, each operation's once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str | None, str], Finding] = {}

    def add(self, severity: Severity, code: str, about: str, location: str | None, message: str) -> None:
        """Note a finding, unless there is one of the same severity, code, subject and place."""
        self._found.setdefault((severity, code, location, about), Finding(severity, code, message, location))

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._found.values())

    def __len__(self) -> int:
        return len(self._found)
