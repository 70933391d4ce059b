"""Literals: numbers, strings and characters."""

from __future__ import annotations

import re

from ..lexer import STRING
from ..syntax import Expression, Float, Integer, String
from .brackets import Brackets

_ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "\\": b"\\", '"': b'"', "'": b"'"}
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u\{[0-9a-fA-F]{1,6}\}|.)", re.DOTALL)
_MAX_INTEGER_DIGITS = 4000


class Literals(Brackets):
    """Parses literals."""

    __slots__ = ()

    def integer(self) -> Expression:
        token = self.position
        self.position = token + 1
        text = self.texts[token]
        if len(text) > _MAX_INTEGER_DIGITS:
            self.fail(token, f"a number of {len(text)} digits is too long")
        value = int(text) if text.isdecimal() else self.integer_value(text)
        return Integer(self.starts[token], self.ends[token], value, text)

    @staticmethod
    def integer_value(text: str) -> int:
        base = {"x": 16, "o": 8, "b": 2}.get(text[1].lower())
        return int(text.replace("_", "")) if base is None else int(text[2:].replace("_", ""), base)

    def float(self) -> Expression:
        token = self.position
        self.position = token + 1
        text = self.texts[token]
        try:
            plain = text.replace("_", "")
            value = float.fromhex(plain) if plain[1:2] in ("x", "X") else float(plain)
        except OverflowError:
            value = float("inf")
        if value == float("inf"):
            self.report_token(token, f"'{text[:30]}' is larger than any floating-point number")
        return Float(self.starts[token], self.ends[token], value, text)

    def string(self) -> String:
        token = self.position
        if self.kinds[token] != STRING:
            self.fail_expected("a string")
        self.position = token + 1
        text = self.texts[token]
        closed = len(text) > 1 and text[-1] == '"'
        if closed and text[-2] == "\\":
            # An odd number of backslashes escapes the quote.
            closed = (len(text) - 1 - len(text[:-1].rstrip("\\"))) % 2 == 0
        if not closed:
            self.fail(token, "this string has no closing '\"' on its line")
        return String(self.starts[token], self.ends[token], self.unescaped(token))

    def unescaped(self, token: int) -> bytes:
        """Return the bytes of the string or character literal at `token`."""
        text = self.texts[token][1:-1]
        if "\\" not in text:
            return text.encode("utf-8", "surrogatepass")
        parts: list[bytes] = []
        position = 0
        for match in _ESCAPE.finditer(text):
            parts.append(text[position : match.start()].encode("utf-8", "surrogatepass"))
            position = match.end()
            escape = match[1]
            if escape in _ESCAPES:
                parts.append(_ESCAPES[escape])
            elif len(escape) == 3 and escape[0] == "x":
                parts.append(bytes([int(escape[1:], 16)]))
            elif len(escape) > 1 and int(escape[2:-1], 16) <= 0x10FFFF:
                parts.append(chr(int(escape[2:-1], 16)).encode("utf-8", "surrogatepass"))
            else:
                start = self.starts[token] + 1 + match.start()
                self.report(
                    start,
                    start + len(match[0]),
                    f"'{match[0]}' is not an escape; there are \\n \\r \\t \\\\ \\' \\\" \\xHH \\u{{H}}",
                )
        parts.append(text[position:].encode("utf-8", "surrogatepass"))
        return b"".join(parts)

    def character(self) -> Expression:
        token = self.position
        self.position = token + 1
        text = self.texts[token]
        errors = len(self.diagnostics)
        value = self.unescaped(token)
        number = 0
        if len(value) == 1:
            number = value[0]
        elif len(self.diagnostics) == errors:
            characters = value.decode("utf-8", "replace")
            if len(characters) == 1:
                number = ord(characters)
            else:
                self.report_token(token, "a character literal holds one character; strings are in double quotes")
        return Integer(self.starts[token], self.ends[token], number, text)
