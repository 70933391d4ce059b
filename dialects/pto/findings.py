"""What is told of a program on pipes: found in its text, or while it runs.

Knows neither how findings are found nor who shows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning"]
"""Whether the program goes wrong, or may."""


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
        """One line, as compilers print it."""
        place = "" if self.location is None else f"{self.location}: "
        chip = "" if self.arch is None else f" (on {self.arch})"
        return f"{place}{self.severity}: {self.message}{chip} [{self.code}]"
