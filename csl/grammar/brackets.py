"""Parsing of parentheses and lists in brackets, and abstract methods by which parts of the grammar call each other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import NoReturn, TypeVar

from ..lexer import ASSIGNMENTS, BUILTIN, CHARACTER, FLOAT, INTEGER, NAME, STRING
from ..syntax import Aggregate, Assign, Block, Expression, IfBranch, Statement, Switch, Variable
from .cursor import Abandoned, Cursor

_Item = TypeVar("_Item")


class Brackets(Cursor):
    """Lists and parentheses; and what a part of the grammar uses of those that build on it."""

    __slots__ = ()

    def parenthesized(self, where: str) -> Expression:
        """Parse `(expression)`; `where` completes `'(' ...`: `after 'if'`."""
        opening = self.position
        if self.kinds[opening] != "(":
            self.fail_expected(f"'(' {where}")
        self.position = opening + 1
        expression = self.expression()
        if self.kinds[self.position] != ")":
            self.unclosed(opening)
        self.position += 1
        return expression

    def unclosed(self, opening: int) -> NoReturn:
        """Fail because a parenthesized expression does not end where it should."""
        opened = self.note(opening, "the '(' is here")
        if self.kinds[self.position] == "=":
            self.fail(self.position, "'=' assigns and is not an expression; to compare write '=='", opened)
        self.fail_expected("')'", opened)

    def expressions(self, close: str) -> list[Expression]:
        """Parse the list that begins at the current token, up to and including `close`."""
        kinds = self.kinds
        opening = self.position
        self.position = opening + 1
        items: list[Expression] = []
        while kinds[self.position] != close:
            items.append(self.expression())
            kind = kinds[self.position]
            if kind == ",":
                self.position += 1
            elif kind != close:
                self.broken_list(opening, close)
        self.position += 1
        return items

    def items(self, close: str, item: Callable[[], _Item]) -> list[_Item]:
        """Parse a list of items of another kind, like `expressions`."""
        kinds = self.kinds
        opening = self.position
        self.position = opening + 1
        items: list[_Item] = []
        while kinds[self.position] != close:
            items.append(item())
            kind = kinds[self.position]
            if kind == ",":
                self.position += 1
            elif kind != close:
                if kind == ";" and close == "}":
                    self.fail(self.position, "members are separated by ',', not ';'")
                self.broken_list(opening, close)
        self.position += 1
        return items

    def broken_list(self, opening: int, close: str) -> NoReturn:
        """Fail because an item of the list opened at token `opening` is followed by neither a comma nor its end."""
        token = self.position
        opened = self.note(opening, f"the '{self.texts[opening]}' is here")
        kinds = self.kinds
        is_block_likely = close == "}" and kinds[opening - 1] in (NAME, ")", "]") and "," not in kinds[opening:token]
        if is_block_likely and (kinds[token] == ";" or kinds[token] in ASSIGNMENTS):
            opened = self.note(opening, "if this '{' begins a block, something is missing before it, such as a ')'")
        if kinds[token] == "=" and kinds[token - 1] == NAME and kinds[token - 2] == ".":
            # `.a = 1 .b = 2` was read as `.a = (1.b)`, up to here.
            place = self.ends[token - 3]
            self.report(place, place, f"a ',' is missing before '.{self.texts[token - 1]}'", opened)
            raise Abandoned
        if kinds[token] == "." and kinds[token + 1] == NAME:
            place = self.ends[token - 1]
            self.report(place, place, f"a ',' is missing before '.{self.texts[token + 1]}'", opened)
            raise Abandoned
        if kinds[token] == "=" and close == ")":
            self.fail(token, "'=' assigns and is not an expression; to compare write '=='", opened)
        if kinds[token] in (NAME, INTEGER, FLOAT, STRING, CHARACTER, BUILTIN) and not self.is_on_new_line(token):
            place = self.ends[token - 1]
            self.report(place, place, f"a ',' is missing before {self.describe(token)}", opened)
            raise Abandoned
        self.fail_expected(f"',' or '{close}'", opened)

    # Of the parts of the grammar that build on this

    @abstractmethod
    def expression(self, minimum: int = 1) -> Expression: ...

    @abstractmethod
    def primary(self) -> Expression | None:
        """Parse what can be called, indexed or dereferenced, but no name; None if nothing of that begins here."""

    @abstractmethod
    def suffixed(self, node: Expression, first: int) -> Expression: ...

    @abstractmethod
    def aggregate(self, type: Expression | None, start: int) -> Aggregate: ...

    @abstractmethod
    def no_operand(self) -> NoReturn: ...

    @abstractmethod
    def branches(self, side: Callable[[], Statement]) -> tuple[list[IfBranch], Statement | None]: ...

    @abstractmethod
    def switch(self) -> Switch: ...

    @abstractmethod
    def block(self, label: str | None, start: int | None = None) -> Block: ...

    @abstractmethod
    def statement(self) -> Statement: ...

    @abstractmethod
    def assignment(self, target: Expression) -> Assign: ...

    @abstractmethod
    def variable(self, storage: str, is_comptime: bool) -> Variable: ...
