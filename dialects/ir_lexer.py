"""Lexer of IR text that recognizes most tokens with one regular expression: xDSL's reads them character by character.

Knows no grammar: what follows what is the parser's.
"""

from __future__ import annotations

import re

from xdsl.utils.lexer import Span, Token
from xdsl.utils.mlir_lexer import KIND_BY_PUNCTUATION_SPELLING, MLIRLexer, MLIRToken, MLIRTokenKind

_FREQUENT = re.compile(
    r"(?:\s++|//[^\n]*+\n?+)*+"
    r"(?:(?P<bare>[a-zA-Z_][a-zA-Z0-9_$.]*+)|(?P<punctuation>[:,()}\[\]<>=+*?|])"
    r"|(?P<percent>%(?:[0-9]++|[a-zA-Z$._-][a-zA-Z0-9$._-]*+)))",
    re.ASCII,
)
"""Blanks and comments, and a token whose kind its first character decides."""


class IRLexer(MLIRLexer):
    """The tokens of xDSL's lexer, found faster."""

    def lex(self) -> MLIRToken:
        match = _FREQUENT.match(self.input.content, self.pos)
        if match is None:
            return super().lex()
        group = match.lastgroup
        assert group is not None
        start, end = match.span(group)
        if group == "bare":
            kind = MLIRTokenKind.BARE_IDENT
        elif group == "percent":
            kind = MLIRTokenKind.PERCENT_IDENT
        else:
            kind = KIND_BY_PUNCTUATION_SPELLING[match[group]]
        self.pos = end
        return Token(kind, Span(start, end, self.input))
