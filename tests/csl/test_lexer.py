"""Tokens of CSL: kinds, texts and places."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.csl import lexer
from loomir.csl.lexer import Tokens

from ..searches import examples

GRAMMAR = Path(__file__).parents[2] / "docs" / "csl-grammar.ebnf"


def tokens(text: str) -> list[tuple[str, str]]:
    found = Tokens(text)
    return [pair for pair in zip(found.kinds, found.texts, strict=True) if pair[0] != lexer.END]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("x", lexer.NAME),
        ("_", lexer.NAME),
        ("_a1", lexer.NAME),
        ("i16", lexer.NAME),
        ("true", lexer.NAME),
        ("align", lexer.NAME),
        ("volatile", lexer.NAME),
        ("@get_dsd", lexer.BUILTIN),
        ("0", lexer.INTEGER),
        ("12_000", lexer.INTEGER),
        ("0xFf_0", lexer.INTEGER),
        ("0o17", lexer.INTEGER),
        ("0b1010_1111", lexer.INTEGER),
        ("0x1e5", lexer.INTEGER),
        ("1.5", lexer.FLOAT),
        ("1.5e-3", lexer.FLOAT),
        ("2E+8", lexer.FLOAT),
        ("0x1.8p-3", lexer.FLOAT),
        ("12abc", lexer.NUMBER),
        ("0xg", lexer.NUMBER),
        ("0b12", lexer.NUMBER),
        ("0x", lexer.NUMBER),
        ("1.5x", lexer.NUMBER),
        ("1_", lexer.NUMBER),
        ('"a b // c"', lexer.STRING),
        (r'"\""', lexer.STRING),
        ('"open', lexer.STRING),
        ("'a'", lexer.CHARACTER),
        (r"'\''", lexer.CHARACTER),
        ("''", lexer.CHARACTER),
        ("'", lexer.UNKNOWN),
        ("@", lexer.UNKNOWN),
        ("#", lexer.UNKNOWN),
        ("éü", lexer.UNKNOWN),
        *((word, word) for word in sorted(lexer.KEYWORDS | lexer.PUNCTUATION | lexer.FOREIGN)),
    ],
)
def test_one_token(text: str, kind: str) -> None:
    assert tokens(text) == [(kind, text)]


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("a.*b", ["a", ".*", "b"]),
        ("p.*/2", ["p", ".*", "/", "2"]),
        ("a--b", ["a", "-", "-", "b"]),
        ("0xe+1", ["0xe", "+", "1"]),
        ("1..2", ["1", "..", "2"]),
        ("x.y.z", ["x", ".", "y", ".", "z"]),
        ("[*]const", ["[", "*", "]", "const"]),
        ("a<<=b>>=c<<d>>e", ["a", "<<=", "b", ">>=", "c", "<<", "d", ">>", "e"]),
        ("|i|{4}->A", ["|", "i", "|", "{", "4", "}", "->", "A"]),
        ("=>==>=", ["=>", "==", ">="]),
        (".{.a=-1}", [".", "{", ".", "a", "=", "-", "1", "}"]),
        ("forx for_ x", ["forx", "for_", "x"]),
        ("a // b c\nd /// e\n//! f", ["a", "d"]),
        ("a\r\n\tb\ufeffc", ["a", "b", "c"]),
        ("a //", ["a"]),
        ("", []),
        (" \n", []),
    ],
)
def test_several_tokens(text: str, texts: list[str]) -> None:
    assert [token for _, token in tokens(text)] == texts


def test_three_ends_follow_the_last_token() -> None:
    for text in ("", "x", "x // y"):
        found = Tokens(text)
        assert found.kinds[-3:] == [lexer.END] * 3
        assert found.starts[-1] == found.ends[-1] == len(text)


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(st.text(alphabet="a_0x1.e+-*/%&|^~!<>=,;:(){}[]@\"'\\ \n\té#?", max_size=40) | st.text(max_size=20))
def test_every_character_is_in_a_token_or_between_tokens(text: str) -> None:
    found = Tokens(text)
    end = 0
    for token, start, token_end in zip(found.texts, found.starts, found.ends, strict=True):
        assert re.fullmatch(r"([ \t\r\n\ufeff]|//[^\n]*)*", text[end:start])
        assert text[start:token_end] == token
        end = token_end
    assert end == len(text)


def test_the_grammar_names_every_word_and_operator() -> None:
    quoted = set(re.findall(r'"([^"\s]+)"', GRAMMAR.read_text()))
    assert quoted >= lexer.KEYWORDS | lexer.PUNCTUATION
