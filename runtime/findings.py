"""What a run finds wrong with a program that goes on all the same: hazards, each told once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning"]
"""`error`: it happened in this run; `warning`: nothing in the program keeps it from happening."""


@dataclass
class Found:
    """A hazard that a run has met: a short `code` of it, what is wrong and what to do, and where."""

    severity: Severity
    code: str
    message: str
    where: str | None
    times: int = 1

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.severity}: {self.message}"


class Findings:
    """The hazards of a run, each operation's once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str | None, str], Found] = {}

    def add(self, severity: Severity, code: str, about: str, where: str | None, message: str) -> None:
        """Note a hazard; one of the same severity, code, subject and place counts as met again."""
        key = (severity, code, where, about)
        known = self._found.get(key)
        if known is None:
            self._found[key] = Found(severity, code, message, where)
        else:
            known.times += 1

    def __iter__(self):
        return iter(self._found.values())

    def __len__(self) -> int:
        return len(self._found)
