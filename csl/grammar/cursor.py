"""The tokens of a file, the place of the parser in them, and the errors that it records."""

from __future__ import annotations

from abc import ABC
from typing import NoReturn

from ..lexer import END, KEYWORDS, NAME, NUMBER, UNKNOWN, Tokens, words
from ..source import Diagnostic, Note, Source
from ..syntax import MAX_HEIGHT, Name

# One level of nesting takes at most four calls, so this stays well inside what `deep_nesting` allows.
MAX_NESTING = 500
# Above a statement are a block, a declaration and the file.
MAX_PARSED_HEIGHT = MAX_HEIGHT - 5
MAX_ERRORS = 20
STATEMENT_STARTS = words("const var comptime if for inline while switch return break continue")
STRUCT_KINDS = frozenset(("struct", "union"))
HOW_TO_DECLARE = "a variable is declared 'const name: type = value' or 'var name: type'"
# What another language would mean by a token that CSL does not have.
_FOREIGN_HINTS = {
    "++": "CSL has no '++'; to count up write 'x += 1'",
    "->": "CSL has '->' only in a tensor access '|i|{n} -> array[i]'; a field behind a pointer is 'p.*.field'",
    "..": "CSL has no '..'; a range is '@range(type, from, to, step)'",
    "...": "CSL has no '...'; list the values one by one",
    "/*": "CSL has no '/* */' comments; begin each line of the comment with '//'",
    "?": "CSL has no '?'; a choice is 'if (condition) a else b'",
    "and": "'and' needs a value on its left",
    "or": "'or' needs a value on its left",
}


class Abandoned(Exception):
    """The statement or declaration being read is broken, and that has been recorded."""


class LeftOpen(Exception):
    """A block has no end, and that has been recorded: reading goes on outside all blocks."""


class TooMany(Exception):
    """There are enough errors to show."""


class Cursor(ABC):
    """The position of the parser in a file, and the mistakes found so far, `diagnostics`."""

    beginning: int
    depth: int
    height: int
    position: int

    __slots__ = (
        "beginning",
        "depth",
        "diagnostics",
        "ends",
        "height",
        "is_adrift",
        "is_brace_missing",
        "kinds",
        "position",
        "source",
        "starts",
        "texts",
    )

    def __init__(self, source: Source) -> None:
        tokens = Tokens(source.text)
        self.source = source
        self.kinds = tokens.kinds
        self.texts = tokens.texts
        self.starts = tokens.starts
        self.ends = tokens.ends
        self.position = 0
        self.depth = 0
        # At least the height in nodes of what was read last; every construct adds its share and the largest stays.
        self.height = 0
        # The token with which the declaration being read begins.
        self.beginning = 0
        self.is_brace_missing = False
        # Statements are outside all blocks, which has been recorded: a block seems to have ended too early.
        self.is_adrift = False
        self.diagnostics: list[Diagnostic] = []

    def note(self, token: int, message: str) -> Note:
        return Note(self.source, self.starts[token], self.ends[token], message)

    def report(self, start: int, end: int, message: str, *notes: Note) -> None:
        """Record an error, unless there is one at the same place."""
        if self.diagnostics and self.diagnostics[-1].start == start:
            return
        if len(self.diagnostics) == MAX_ERRORS:
            raise TooMany
        self.diagnostics.append(Diagnostic(self.source, start, end, message, notes))

    def report_token(self, token: int, message: str, *notes: Note) -> None:
        self.report(self.starts[token], self.ends[token], message, *notes)

    def fail(self, token: int, message: str, *notes: Note) -> NoReturn:
        self.report_token(token, message, *notes)
        raise Abandoned

    def is_on_new_line(self, token: int) -> bool:
        """Return True if `token` is the first of its line."""
        return token == 0 or self.source.text.find("\n", self.ends[token - 1], self.starts[token]) >= 0

    def is_at_margin(self, token: int) -> bool:
        return self.source.line_and_column(self.starts[token])[1] == 1

    def is_end_of_braces(self, token: int) -> bool:
        """Return True if what ended with the `}` before `token` does not continue there."""
        return self.is_on_new_line(token) and self.kinds[token] not in (";", ",", ")", "]", ".", "else")

    def is_label(self) -> bool:
        return self.kinds[self.position] == NAME and self.kinds[self.position + 1] == ":"

    def describe(self, token: int) -> str:
        if self.kinds[token] == END:
            return "the end of the file"
        text = self.texts[token]
        return f"'{text if len(text) <= 30 else text[:27] + '...'}'"

    def fail_expected(self, expected: str, *notes: Note) -> NoReturn:
        """Fail because the current token is not what is expected; if it begins a line, point to the one before."""
        token = self.position
        self.fail_malformed(token, *notes)
        message = f"expected {expected}, found {self.describe(token)}"
        if token and self.is_on_new_line(token):
            end = self.ends[token - 1]
            self.report(end, end, message, *notes)
            raise Abandoned
        self.fail(token, message, *notes)

    def fail_malformed(self, token: int, *notes: Note) -> None:
        """Fail with a message of its own if the token is not one of CSL's; else do nothing."""
        kind = self.kinds[token]
        text = self.texts[token]
        if kind == UNKNOWN:
            if text == "'":
                self.fail(token, "a character literal is one character or escape between single quotes, such as 'a'")
            if text == "@":
                self.fail(token, "the name of a builtin is missing after '@'")
            shown = f"'{text[:20]}'" if text.isprintable() else f"the character U+{ord(text[0]):04X}"
            self.fail(token, f"{shown} has no meaning in CSL outside strings and comments")
        if kind == NUMBER:
            self.malformed_number()
        if kind in _FOREIGN_HINTS:
            self.fail(token, _FOREIGN_HINTS[kind], *notes)

    def malformed_number(self) -> NoReturn:
        token = self.position
        text = self.texts[token]
        kind = {"0x": "a hexadecimal number", "0b": "a binary number", "0o": "an octal number"}.get(text[:2].lower())
        if kind is None:
            self.fail(token, f"'{text[:30]}' is not a number; names begin with a letter or '_'")
        self.fail(token, f"'{text[:30]}' is not {kind}")

    def too_deep(self) -> NoReturn:
        self.report_token(self.position, f"nesting too deep: more than {MAX_NESTING} levels; split this up")
        raise TooMany

    def too_high(self, first: int) -> NoReturn:
        self.report(
            self.starts[first],
            self.ends[self.position - 1],
            "too many levels of operators and nesting; compute a part in a 'const' of its own",
        )
        raise TooMany

    def expect(self, kind: str, where: str) -> None:
        """Consume a required token; `where` completes the message: `after the condition`."""
        if self.kinds[self.position] != kind:
            self.fail_expected(f"'{kind}' {where}")
        self.position += 1

    def expect_name(self, of: str) -> str:
        """Consume a required name; `of` says of what: `a variable`."""
        token = self.position
        kind = self.kinds[token]
        if kind != NAME:
            if kind in KEYWORDS:
                self.fail(token, f"'{kind}' is a reserved word and cannot be the name of {of}")
            if kind == NUMBER:
                self.fail(
                    token, f"'{self.texts[token]}' cannot be the name of {of}: a name begins with a letter or '_'"
                )
            self.fail_expected(f"the name of {of}")
        self.position = token + 1
        return self.texts[token]

    def declared_name(self, of: str) -> Name:
        token = self.position
        name = self.expect_name(of)
        return Name(self.starts[token], self.ends[token], name)

    def semicolon(self, of: str) -> None:
        """Consume the required `;`; `of` says what it ends."""
        kinds = self.kinds
        token = self.position
        if kinds[token] == ";":
            self.position = token + 1
            return
        self.fail_malformed(token)
        place = self.ends[token - 1]
        kind = kinds[token]
        message = f"a ';' is missing after {of}"
        if kind in (")", "]"):
            self.fail(token, f"this '{kind}' has no matching opening bracket; expected ';' after {of}")
        self.report(place, place, message)
        if not (kind in ("}", END) or kind in STATEMENT_STARTS or self.is_on_new_line(token)):
            raise Abandoned
