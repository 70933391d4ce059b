"""Writes the lists of libraries and builtins into docs/csl.md: `python -m loomir.frontend.reference [FILE]`.

The libraries are the files of `libraries/`; the builtins are the rows of the tables in `registry`. Each list is
between two markers, and the rest of the page is left as it is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from .modules import library_names
from .registry import TABLES, Row, load_rules

PAGE = Path(__file__).parent.parent / "docs" / "csl.md"
"""The page in a checkout."""

BEGIN = "<!-- {name}: written by `python -m loomir.frontend.reference`; do not edit. -->"
END = "<!-- end of {name} -->"


def libraries() -> str:
    """Return the paragraph that lists the libraries."""
    provided = ", ".join(f"`<{name}>`" for name in library_names())
    return f"{provided}: all are written in CSL, in `frontend/libraries`."


def builtins() -> str:
    """Return the tables of builtins, one for each file that implements some."""
    load_rules()
    lines: list[str] = []
    for table in sorted(TABLES, key=lambda table: table.title.lower()):
        rows = [row for row in table.rows if not row.is_internal]
        if rows:
            lines += ["", f"### {table.title}", "", "| builtin | arguments | where | since SDK | rules |"]
            lines += ["|---|---|---|---|---|", *(_row(row) for row in rows)]
    return "\n".join(lines[1:])


def _row(row: Row) -> str:
    names = ", ".join(f"`{name}`" for name in row.names)
    since = f"{row.since}, not in {row.dropped}" if row.dropped else row.since
    where = f"{row.where.value}, WSE-3 only" if row.on_wse2 else row.where.value
    return f"| {names} | {' or '.join(_argument_lists(row))} | {where} | {since} | {row.rules} |"


def _argument_lists(row: Row) -> Iterator[str]:
    """Yield the different lists of arguments that a row's builtins are called with."""
    for arguments in dict.fromkeys(call.partition("(")[2].removesuffix(")") for call in row.calls):
        yield f"`{arguments}`" if arguments else "none"


def updated(text: str) -> str:
    """Return the text of the page with its lists as they should be."""
    for name, written in (("libraries", libraries()), ("builtins", builtins())):
        begin, end = BEGIN.format(name=name), END.format(name=name)
        between = re.compile(f"(?<={re.escape(begin)}\n).*?(?={re.escape(end)})", re.DOTALL)
        text, count = between.subn(lambda _, written=written: f"\n{written}\n\n", text)
        if count != 1:
            raise ValueError(f"the page must have the markers of {name} once; it has them {count} times")
    return text


def main(arguments: Sequence[str]) -> None:
    """Update the page named, or the checkout's."""
    page = Path(arguments[0]) if arguments else PAGE
    if not page.exists():
        sys.exit(f"error: there is no file {page}; name the page to update")
    page.write_text(updated(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
