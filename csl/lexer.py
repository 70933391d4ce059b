"""Lexer of CSL: one regular expression splits the text into tokens.

Tokens are parallel lists, not objects: kind, text, start and end. The kind of a keyword or of punctuation is its text;
the other kinds are named below. Text that is not a token of the language becomes one all the same (`UNKNOWN`, `NUMBER`,
an unclosed string, and operators of other languages such as `&&`), for the parser to say what is wrong.
"""

from __future__ import annotations

import re

NAME = "name"
BUILTIN = "builtin"
INTEGER = "integer"
FLOAT = "float"
STRING = "string"
CHARACTER = "character"
END = "end"
# Begins like a number and is none, such as `12abc`.
NUMBER = "malformed number"
UNKNOWN = "unknown"


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KEYWORDS = words(
    "and anytype asm break comptime const continue else enum export extern fn for if inline layout noinline or param"
    " return struct switch task union var while"
)
ASSIGNMENTS = words("= += -= *= /= %= <<= >>= &= |= ^=")
PUNCTUATION = words("+ - * / % & | ^ ~ ! << >> == != < > <= >= .* . => -> , ; : ( ) [ ] { }") | ASSIGNMENTS
# Not CSL's: kept whole so that the message can name them. No CSL program has these characters side by side;
# `--` is absent because `a--b` is `a - (-b)`.
FOREIGN = words("&& || ++ .. ... /* ?")

# Atomic groups and possessive repeats throughout: no input makes the scan go back, so its time is linear.
_TOKEN = re.compile(
    r"""
    (?> [ \t\r\n\ufeff]+ | //[^\n]* )*+
    (
      [A-Za-z_][A-Za-z0-9_]*+
    | \.\* | \.\.\.? | [,;:()\[\]{}~?]
    | (?> <<=? | >>=? | -> | => | /\* | && | \|\| | \+\+ | [-+*/%&|^=!<>]=? )
    | \.
    | @[A-Za-z_][A-Za-z0-9_]*+
    | (?> [0-9][0-9_]*(?:\.[0-9][0-9_]*)?[eE][+-]?[0-9]
        | 0[xX][0-9a-fA-F_]+(?:\.[0-9a-fA-F_]+)?[pP][+-]?[0-9]
        | [0-9][0-9_]*\.[0-9]
        | [0-9] )[0-9A-Za-z_]*+
    | "(?>[^"\\\n]|\\[^\n])*+"?
    | '(?>[^'\\\n]|\\[^\n]){0,12}+'
    | [^\x00-\x7f]++
    | .
    | \Z
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_DIGITS = r"[0-9](?:[0-9_]*[0-9])?"
_HEX_DIGITS = r"[0-9a-fA-F](?:[0-9a-fA-F_]*[0-9a-fA-F])?"
_INTEGER = re.compile(rf"{_DIGITS}\Z|0[xX]{_HEX_DIGITS}\Z|0[oO][0-7](?:[0-7_]*[0-7])?\Z|0[bB][01](?:[01_]*[01])?\Z")
_FLOAT = re.compile(
    rf"{_DIGITS}\.{_DIGITS}(?:[eE][+-]?{_DIGITS})?\Z|{_DIGITS}[eE][+-]?{_DIGITS}\Z"
    rf"|0[xX]{_HEX_DIGITS}(?:\.{_HEX_DIGITS})?[pP][+-]?{_DIGITS}\Z"
)

_FIXED = {text: text for text in KEYWORDS | PUNCTUATION | FOREIGN}


class _Kinds(dict[str, str]):
    """Token text to kind, filled in as texts are met: most texts of a file occur many times."""

    def __missing__(self, text: str) -> str:
        first = text[:1]
        if not first:
            kind = END
        elif first == "_" or (first.isascii() and first.isalpha()):
            kind = NAME
        elif first == "@" and len(text) > 1:
            kind = BUILTIN
        elif first in "0123456789":
            kind = INTEGER if _INTEGER.match(text) else FLOAT if _FLOAT.match(text) else NUMBER
        elif first == '"':
            kind = STRING
        elif first == "'" and len(text) > 1:
            kind = CHARACTER
        else:
            kind = UNKNOWN
        self[text] = kind
        return kind


class Tokens:
    """The tokens of a text. Three tokens of kind END follow the last, so that looking ahead needs no test."""

    __slots__ = ("ends", "kinds", "starts", "texts")

    def __init__(self, text: str) -> None:
        matches = list(_TOKEN.finditer(text))
        self.texts = [match[1] for match in matches]
        self.starts = [match.start(1) for match in matches]
        self.ends = [match.end() for match in matches]
        kinds = _Kinds(_FIXED)
        self.kinds = [kinds[token] for token in self.texts]
        for _ in range(3):
            self.texts.append("")
            self.starts.append(len(text))
            self.ends.append(len(text))
            self.kinds.append(END)
