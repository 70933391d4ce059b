"""Places in a text, and how messages show them."""

import pytest

from loomir.csl import Diagnostic, Note, Source


@pytest.mark.parametrize(
    ("offset", "place"), [(0, (1, 1)), (2, (1, 3)), (3, (2, 1)), (4, (3, 1)), (6, (3, 3)), (7, (3, 4))]
)
def test_lines_and_columns_count_from_one(offset: int, place: tuple[int, int]) -> None:
    source = Source("a.csl", "ab\n\nxyz")
    assert source.line_and_column(offset) == place
    assert source.location(offset) == f"a.csl:{place[0]}:{place[1]}"


def test_line_text_is_without_its_end() -> None:
    source = Source("a.csl", "ab\r\n\nxyz\n")
    assert [source.line_text(line) for line in (1, 2, 3, 4)] == ["ab", "", "xyz", ""]


@pytest.mark.parametrize(
    ("text", "start", "end", "shown"),
    [
        ("abc def", 4, 7, "abc def\n    ^~~"),
        ("abc", 1, 1, "abc\n ^"),
        ("abc", 3, 3, "abc\n   ^"),
        ("abc\ndef", 1, 6, "abc\n ^~"),
        ("\ta b", 3, 4, "\ta b\n\t  ^"),
        ("a\x1b[2J b", 6, 7, "a?[2J b\n      ^"),
    ],
)
def test_caret_and_tildes(text: str, start: int, end: int, shown: str) -> None:
    assert Source("a.csl", text).excerpt(start, end) == shown


@pytest.mark.parametrize("start", [0, 500, 990])
def test_a_long_line_is_cut_around_the_caret(start: int) -> None:
    text = "".join(chr(ord("a") + index % 26) for index in range(1000))
    line, caret = Source("a.csl", text).excerpt(start, start + 3).split("\n")
    assert len(line) == 160
    assert line in text
    column = caret.index("^")
    assert caret[column:] == "^~~"
    assert line[column : column + 3] == text[start : start + 3]


def test_a_diagnostic_shows_its_notes() -> None:
    source = Source("dir/a.csl", "f(1;\n")
    note = Note(source, 1, 2, "the '(' is here")
    diagnostic = Diagnostic(source, 3, 4, "expected ')', found ';'", [note])
    assert str(diagnostic) == (
        "dir/a.csl:1:4: error: expected ')', found ';'\nf(1;\n   ^\ndir/a.csl:1:2: note: the '(' is here\nf(1;\n ^"
    )
