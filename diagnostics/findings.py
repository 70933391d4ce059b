"""Findings: what is reported of a program that can be read and run all the same, in its text or while it runs.

Knows neither how findings are found nor who shows them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Literal, TypeAlias

from .errors import shown
from .records import record

Severity: TypeAlias = Literal["error", "warning", "note"]
"""An error is wrong in every run, a warning in some runs; a note is about the machine, not about this program."""


@record
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


MAX_NAMED_PLACES = 4
"""How many further places a finding names."""


def once_each(findings: Iterable[Finding], codes: Collection[str]) -> list[Finding]:
    """Return findings with one note for each of some codes and each chip: the first, with the places of the others.

    What holds of all pipes of a program, because of its chip, would hide the warnings about the program.
    """
    first: dict[tuple[str, str | None], int] = {}
    others: dict[int, dict[str, None]] = {}
    found: list[Finding] = []
    for finding in findings:
        key = finding.code, finding.arch
        if finding.severity == "error" or finding.code not in codes:
            found.append(finding)
        elif key not in first:
            first[key] = len(found)
            found.append(replace(finding, severity="note"))
        elif finding.location not in (None, found[first[key]].location):
            others.setdefault(first[key], {})[finding.location] = None
    for position, places in others.items():
        named = ", ".join(list(places)[:MAX_NAMED_PLACES])
        more = f" and {len(places) - MAX_NAMED_PLACES} more places" if len(places) > MAX_NAMED_PLACES else ""
        message = f"{found[position].message}; the same holds at {named}{more}"
        found[position] = replace(found[position], message=message)
    return found


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
