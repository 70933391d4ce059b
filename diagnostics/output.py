"""Diagnostics on stderr: lines as compilers print them, or with --json one JSON object per line."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

from .errors import LoomError, foreseen, report, shown

Severity: TypeAlias = Literal["error", "warning", "remark", "note"]

_PLACE = re.compile(r"(?P<file>.*?)(:(?P<line>\d+))?(:(?P<column>\d+))?", re.DOTALL)
_RULE = re.compile(r"\(([A-Z]{2,4}-\d{2,3})\b")
_LINT = re.compile(r" \[(race|[a-z]+(?:-[a-z]+)+)\]$")
_LINE = re.compile(r"((?P<place>.*?): )??(?P<severity>error|warning|remark|note): (?P<message>.*)", re.DOTALL)


class _Form:
    """The format of diagnostics now."""

    is_json = False


def use_json() -> None:
    """Print all diagnostics that follow as JSON, until the tool ends."""
    _Form.is_json = True


@contextmanager
def of_a_tool() -> Generator[None]:
    """Restore the format of diagnostics when a tool ends."""
    before = _Form.is_json
    try:
        yield
    finally:
        _Form.is_json = before


def record(severity: Severity, message: str, location: str | None, notes: Sequence[Any] = ()) -> dict[str, Any]:
    """Return the JSON object of a diagnostic: severity, message, code, file, line, column, and notes of the same form.

    `code` is that at the end of the message, as [unused-queue], else the rule of rules.md that it names, None without
    both. `location` is `file:line:column`, a
    file alone, or None.
    """
    found = _PLACE.fullmatch(location or "")
    assert found is not None
    line, column = found["line"], found["column"]
    rule = _LINT.search(message) or _RULE.search(message)
    return {
        "severity": severity,
        "message": message,
        "code": None if rule is None else rule[1],
        "file": found["file"] or None,
        "line": None if line is None else int(line),
        "column": None if column is None else int(column),
        "notes": list(notes),
    }


def tell(severity: Severity, message: str, location: str | None = None) -> None:
    """Print a diagnostic."""
    if _Form.is_json:
        _write([record(severity, message, location)])
    else:
        print(shown(f"{location}: {severity}: {message}" if location else f"{severity}: {message}"), file=sys.stderr)
    sys.stderr.flush()


def tell_line(line: str) -> None:
    """Print a diagnostic that is kept as a line: `file:line:column: warning: message`."""
    found = _LINE.fullmatch(line)
    if not _Form.is_json or found is None:
        print(line, file=sys.stderr)
    else:
        severity: Any = found["severity"]
        tell(severity, found["message"], found["place"])


def tell_progress(line: str) -> None:
    """Print what a tool is doing, in JSON as a note."""
    if _Form.is_json:
        tell("note", line)
    else:
        print(line, file=sys.stderr)


def tell_error(error: BaseException) -> None:
    """Print the error that ends a tool; of something unforeseen, where it comes from."""
    text, known = report(error), foreseen(error)
    if not _Form.is_json:
        print(text, file=sys.stderr)
    else:
        _write([record("error", text, None)] if known is None else _records(known))


def _records(error: LoomError) -> list[dict[str, Any]]:
    """Return an object for each of several mistakes, else for the error."""
    diagnostics: Sequence[Any] = getattr(error, "diagnostics", ())
    if not diagnostics:
        return [record("error", error.message, error.location)]
    return [
        record(
            "error", one.message, one.location,
            [record("note", note.message, note.source.location(note.start)) for note in getattr(one, "notes", ())],
        )
        for one in diagnostics
    ] + [record("note", text.removeprefix("note: "), None) for text in getattr(error, "closing_notes", ())]  # fmt: skip


def _write(records: Sequence[dict[str, Any]]) -> None:
    for each in records:
        print(json.dumps(each), file=sys.stderr)
