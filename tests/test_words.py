"""Plain words: what docstrings, comments, messages and pages must not say, and what to write instead.

Docstrings of functions start with a verb. docs/contributing.md has the reasons.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

PACKAGE = sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))

WORDS = {
    r"\b[bB]ehaviour|\b[cC]olour|\b[nN]eighbour|\bcentre\b|\blabelled|\bmodelled": "American spelling",
    r"(?<!here )\bis no (?!longer|more|less|larger|smaller|matter|other|room|way|need)[a-z]+": "is not a",
    r"\bstands? (in (?!for)|at|on|behind|beside|before|there|directly|nowhere|elsewhere)\b": "is in, is at, contains",
    r"\bwhere \w+ stands?\b(?! for)": "the place of",
    r"\bstands? still\b": "stalls",
    r"\b[Rr]eturns? whether\b": "return True if",
    r"\b[Tt]akes? note (of|that)\b": "record",
    r"\bone behind the other\b": "consecutive, contiguous",
    r"\blies? (in|at|on|as|beside|elsewhere|where)\b": "is in, is at",
    r"\bgiv(es?|en|ing) back\b|\bgives? it back\b": "return, free",
    r"\btells? of\b|\b(is|are) told (of|that)\b": "report",
    r"\bleftovers\b": "unread wavelets",
    r"\bcan come to\b|\bwhat \w+ come to\b": "outcome, can result in",
    r"\btaken out\b|\btakes out\b": "pop",
    r"\b([A-Z][a-z]+) \1\b": "the word once",
    r"^Whether\b": "True if",
}
"""Patterns, and what to write instead."""

NOT_A_VERB = {
    "The", "A", "An", "What", "Whether", "How", "Where", "Which", "Every", "All", "Those", "It", "Its", "As", "If",
    "Of", "In", "Each", "One", "Two", "Both", "Who", "When", "Why", "Nothing", "This", "These", "Pairs", "There",
    "Numbers", "Names", "None", "No", "Some", "Any", "Memory", "New", "Functions", "Params", "Code", "Known",
    "Operations", "Variables", "Operators", "Nodes", "Sorted", "Nine", "Bytes", "Bits", "Words", "Position", "Column",
    "Buffer", "So",
}  # fmt: skip


PAGES = ("README.md", "docs/*.md", "docs/reference/*.md", "examples/**/*.md", "bench/*.md")
PROGRAMS = (
    "examples/**/*.csl", "examples/**/*.pto", "examples/**/*.mlir", "lit_tests/**/*.mlir", "lit_tests/**/*.csl",
    "frontend/libraries/**/*.csl", "runtime/core/*.[ch]",
)  # fmt: skip
"""What is read whole; of Python, comments and texts are read."""


@lru_cache
def sources() -> list[tuple[Path, str, ast.Module]]:
    """Return the Python files of the package, with their text and tree."""
    texts = [(path, path.read_text(encoding="utf-8")) for name in PACKAGE for path in ROOT.joinpath(name).rglob("*.py")]
    return [(path, text, ast.parse(text)) for path, text in texts]


@lru_cache
def prose() -> list[tuple[Path, int, str]]:
    """Return the lines of pages and programs, and the comments and texts of the package, with file and line number."""
    lines: list[tuple[Path, int, str]] = []
    for path in (path for pattern in (*PAGES, *PROGRAMS) for path in ROOT.glob(pattern)):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            lines.append((path, number, line))
    for path, text, tree in sources():
        for number, line in enumerate(text.splitlines(), 1):
            if "#" in line:
                lines.append((path, number, line.partition("#")[2]))
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                first = node.lineno
                lines += [(path, first + offset, line) for offset, line in enumerate(node.value.splitlines())]
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("pattern", WORDS)
def test_words(pattern: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match.group()}"
        for path, number, line in prose()
        if (match := re.search(pattern, line))
    ]
    assert found == [], f"write instead: {WORDS[pattern]}"


def functions() -> Iterator[tuple[Path, ast.FunctionDef]]:
    """Yield the functions of the package that are not properties, with their files."""
    for path, _, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                decorators = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
                if not decorators & {"property", "cached_property"}:
                    yield path, node


@pytest.mark.slow
def test_docstrings_of_functions_start_with_a_verb() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {text}"
        for path, node in functions()
        if (text := ast.get_docstring(node))
        and (text.split()[0].strip(",.:;") in NOT_A_VERB or not re.match(r"[A-Z][a-z]+\b", text))
    ]
    assert found == []
