"""Mistakes in CSL text, and every word that is said about them.

diagnostics.txt holds the cases: a text, a line `-->`, and what is printed for it; `====` separates them.
"""

from pathlib import Path

import pytest

from loomir.csl import CslError, parse

CASES = [tuple(case.split("-->\n")) for case in (Path(__file__).parent / "diagnostics.txt").read_text().split("====\n")]


@pytest.mark.parametrize(("text", "shown"), CASES, ids=[text.splitlines()[0] for text, _ in CASES])
def test_what_is_printed(text: str, shown: str) -> None:
    with pytest.raises(CslError) as caught:
        parse(text, "a.csl")
    assert str(caught.value) == shown.removesuffix("\n")


@pytest.mark.parametrize("character", ["#", "$", "`", "é", "\\", "\x00", "\x1b", "\u2028"])
def test_characters_outside_the_language(character: str) -> None:
    with pytest.raises(CslError) as caught:
        parse(f"const x = {character};", "a.csl")
    shown = f"'{character}'" if character.isprintable() else f"the character U+{ord(character):04X}"
    assert caught.value.message == f"{shown} has no meaning in CSL outside strings and comments"
    assert caught.value.location == "a.csl:1:11"


def test_a_text_without_a_newline_at_its_end() -> None:
    with pytest.raises(CslError) as caught:
        parse("const x = 1", "a.csl")
    assert str(caught.value) == (
        "a.csl:1:12: error: a ';' is missing after the declaration of 'x'\nconst x = 1\n           ^"
    )


def test_windows_line_ends() -> None:
    with pytest.raises(CslError) as caught:
        parse("const x = 1\r\nconst y = ;\r\n", "a.csl")
    assert str(caught.value) == (
        "a.csl:1:12: error: a ';' is missing after the declaration of 'x'\nconst x = 1\n           ^\n"
        "a.csl:2:11: error: expected an expression, found ';'\nconst y = ;\n          ^"
    )


def test_what_follows_a_mistake_is_read() -> None:
    """One error a declaration, wherever it is broken."""
    text = """\
const a = .{ .{ 1 2 }, .{ 3 }, };
fn b() void { if (x { y = 1; } else { z = 2; } }
const c = [3]i16{1, 2, } 3;
task d() void {
  f(1, 2;
  g();
  for (x) { y = 3; }
  h();
}
param e i16;
layout { x = ; }
var f = 1;
"""
    with pytest.raises(CslError) as caught:
        parse(text, "a.csl")
    assert [diagnostic.location for diagnostic in caught.value.diagnostics] == [
        "a.csl:1:18",
        "a.csl:2:25",
        "a.csl:3:25",
        "a.csl:5:9",
        "a.csl:7:11",
        "a.csl:10:8",
        "a.csl:11:14",
    ]
