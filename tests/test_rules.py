"""The numbered rules of docs/rules.md: what is cited exists, and no test of a finished section is lost."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import pytest

from . import rules as rules_of_page
from .rules import ID, PAGE, ROOT, Section, between, cited, named, named_by_tests, rules, sections, texts

RULES = rules()
SECTIONS = sections()


@pytest.mark.slow
def test_every_cited_rule_exists() -> None:
    found = ((path.relative_to(ROOT), cited(text) - RULES.keys()) for path, text in texts())
    assert {str(path): sorted(unknown) for path, unknown in found if unknown} == {}


@pytest.mark.parametrize("section", [s for s in SECTIONS if s.finished], ids=lambda section: section.title)
@pytest.mark.slow
def test_finished_sections_stay_finished(section: Section, proved: set[str]) -> None:
    assert [rule for rule in section.rules if rule not in proved] == []


def test_what_is_complete_is_marked_finished(proved: set[str]) -> None:
    """So that the table says what is left, and the next change cannot lose what is there."""
    assert [s.title for s in SECTIONS if not s.finished and proved.issuperset(s.rules)] == []


@pytest.fixture(scope="module")
def proved() -> set[str]:
    return named_by_tests()


def test_sections_hold_all_rules_in_order() -> None:
    assert [rule for section in SECTIONS for rule in section.rules] == [r for r in RULES if not r.startswith("AMB-")]
    text = PAGE.read_text()
    headings = re.findall(r"^### (.+)$", text, re.MULTILINE)
    assert [section.title for section in SECTIONS] == headings
    for section, (start, end) in zip(SECTIONS, _spans(text, headings), strict=True):
        assert tuple(re.findall(rf"^\| ({ID.pattern})", text[start:end], re.MULTILINE)) == section.rules


def _spans(text: str, headings: list[str]) -> list[tuple[int, int]]:
    """Return where each section's text starts and ends."""
    starts = [text.index(f"### {heading}\n") for heading in headings]
    return [*pairwise([*starts, text.index("## Readings\n")])]


def test_links_of_the_table_of_sections() -> None:
    """An anchor is the heading in lower case, without punctuation, with hyphens for spaces."""
    for section in SECTIONS:
        assert section.anchor == re.sub(r"[^\w\- ]", "", section.title.lower()).replace(" ", "-")
        number = re.search(rf"\| {section.rules[0]} to {section.rules[-1]} \| (\d+) ", PAGE.read_text())
        assert number is not None and int(number[1]) == len(section.rules)


def test_counts_are_those_of_the_tables() -> None:
    text = PAGE.read_text()
    kinds = re.findall(r"^\| ([A-Z]+)-\d+ \| .+ \| (\w+) \| (?:both|wse2|wse3|pto|host) \|$", text, re.MULTILINE)
    count = Counter(kinds)
    header = re.search(r"^\| family \| (.+) \| all \|$", text, re.MULTILINE)
    assert header is not None
    names = header[1].split(" | ")
    for family in [*dict(kinds), "all"]:
        of = Counter(
            {kind: sum(n for (f, k), n in count.items() if k == kind and family in (f, "all")) for kind in names}
        )
        row = f"| {family} | {' | '.join(str(of[kind]) for kind in names)} | {of.total()} |"
        assert row in text, row
    assert len(kinds) == sum(len(section.rules) for section in SECTIONS)


def test_citations() -> None:
    """Ranges are followed over the ends of lines; in a test they prove nothing."""
    text = """as DSD-008 says
    # (AMB-01), DSR-065 to
    # DSR-067 and DSD-017 to DSD-019; XDSD-001
    """
    ranges = {"DSR-065", "DSR-066", "DSR-067", "DSD-017", "DSD-018", "DSD-019"}
    assert cited(text) == {"DSD-008", "AMB-01"} | ranges
    assert named(text) == {"DSD-008", "AMB-01"}
    assert between("HOST-008", "HOST-011") == ["HOST-008", "HOST-009", "HOST-010", "HOST-011"]


@pytest.mark.slow
def test_the_list_of_what_is_left() -> None:
    """`python tests/rules.py` needs nothing but the repository."""
    section = SECTIONS[0]
    found = subprocess.run([sys.executable, "tests/rules.py", section.title], cwd=ROOT, capture_output=True, text=True)
    count = len(section.rules)
    assert (found.returncode, found.stdout) == (0, f"{count} of {count} rules are named by a test\n")


def test_what_is_left_is_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    section = SECTIONS[0]
    monkeypatch.setattr(rules_of_page, "named_by_tests", lambda: set(section.rules[1:]))
    assert rules_of_page.main([section.title]) == 1
    lines = capsys.readouterr().out.splitlines()
    count = len(section.rules)
    assert lines[0] == f"{section.title}: 1 of {count}"
    assert lines[1].startswith(f"  {section.rules[0]}  ")
    assert lines[2:] == [f"{count - 1} of {count} rules are named by a test"]
