"""Rules of docs/rules.md and their citations: which exist, which a test names, which section is finished.

Run as a script it lists the rules that no test names, section by section:

    python tests/rules.py                  # every section
    python tests/rules.py DSD DSR          # two families
    python tests/rules.py "FIFO allocation"

The exit status is 1 while one of the sections asked for has such a rule.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "rules.md"

FAMILIES = ("DSD", "DSR", "LIB", "PTO", "HOST")
"""Families of rules, in the order of the page; the readings, AMB, come after them."""

ID = re.compile(rf"\b(?:{'|'.join(FAMILIES)}|AMB)-\d+\b")
RANGE = re.compile(rf"({ID.pattern})\s+to[\s#/]+({ID.pattern})")
"""Two rules and all between them, perhaps over the end of a line of a docstring or comment."""

ROW = re.compile(r"\| ((?:[A-Z]+)-\d+) \| ")
SECTION_ROW = re.compile(r"\| \[(.+?)\]\(#(.+?)\) \| (\S+) to (\S+) \| (\d+) \| (yes|no) \|")

SKIPPED_FOLDERS = {"__pycache__", "build", "node_modules"}
TESTS = ("tests", "lit_tests")
NOT_TESTS = {ROOT / "tests" / name for name in ("rules.py", "test_rules.py")}
"""Files that speak of rules without proving one."""


@dataclass(frozen=True)
class Section:
    """A row of the page's table of sections: a heading, its rules, and whether tests name all of them."""

    title: str
    anchor: str
    rules: tuple[str, ...]
    finished: bool

    @property
    def family(self) -> str:
        return self.rules[0].split("-")[0]


def rules() -> dict[str, str]:
    """Return the text of every rule and reading, by its number."""
    found: dict[str, str] = {}
    for line in PAGE.read_text().splitlines():
        row = ROW.match(line)
        if row is not None:
            assert row[1] not in found, f"{row[1]} is there twice"
            found[row[1]] = line[row.end() :].split(" | ")[0]
    return found


def sections() -> list[Section]:
    """Return the table of sections."""
    return [
        Section(row[1], row[2], tuple(between(row[3], row[4])), row[6] == "yes")
        for row in map(SECTION_ROW.match, PAGE.read_text().splitlines())
        if row is not None
    ]


def between(first: str, last: str) -> list[str]:
    """Return the rules of a range, both ends included."""
    family, low = first.split("-")
    other, high = last.split("-")
    assert family == other and int(low) < int(high), f"{first} to {last} is not a range of rules"
    return [f"{family}-{number:0{len(low)}}" for number in range(int(low), int(high) + 1)]


def cited(text: str) -> set[str]:
    """Return the rules that a text cites, by number or in a range."""
    ranges = [between(*found) for found in RANGE.findall(text)]
    return set(ID.findall(text)).union(*ranges)


def named(text: str) -> set[str]:
    """Return the rules that a test names: by number only, for a range says what a file is about, not what it proves."""
    return set(ID.findall(RANGE.sub(" ", text)))


def texts(*folders: str) -> Iterator[tuple[Path, str]]:
    """Yield the text files of the repository, or of some of its folders, with their text."""
    for start in folders or ("",):
        for folder, inner, names in os.walk(ROOT / start):
            inner[:] = [name for name in inner if not name.startswith(".") and name not in SKIPPED_FOLDERS]
            for path in (Path(folder, name) for name in names):
                try:
                    yield path, path.read_text()
                except (UnicodeDecodeError, OSError):
                    continue


def named_by_tests() -> set[str]:
    """Return the rules that some test names."""
    return set().union(*(named(text) for path, text in texts(*TESTS) if path not in NOT_TESTS))


def main(wanted: list[str]) -> int:
    """Print the rules that no test names; return the exit status."""
    chosen = [found for found in sections() if not wanted or found.title in wanted or found.family in wanted]
    if not chosen:
        print(f"error: there is no section {', '.join(wanted)}; give a family ({', '.join(FAMILIES)}) or a heading")
        return 2
    all_rules, proved = rules(), named_by_tests()
    total = missing = 0
    for section in chosen:
        lacking = [rule for rule in section.rules if rule not in proved]
        total, missing = total + len(section.rules), missing + len(lacking)
        if lacking:
            print(f"{section.title}: {len(lacking)} of {len(section.rules)}")
        for rule in lacking:
            print(f"  {rule}  {all_rules[rule][:110]}")
    print(f"{total - missing} of {total} rules are named by a test")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
