"""Statements and blocks, and how reading goes on behind a malformed one."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from ..lexer import ASSIGNMENTS, BUILTIN, END, NAME, words
from ..syntax import (
    Asm,
    Assign,
    Binary,
    Block,
    Break,
    Builtin,
    Call,
    Comptime,
    Continue,
    Dereference,
    Expression,
    Field,
    For,
    If,
    Index,
    Name,
    Return,
    Statement,
    Switch,
    While,
    walk,
)
from .cursor import HOW_TO_DECLARE, MAX_NESTING, MAX_PARSED_HEIGHT, STATEMENT_STARTS, Abandoned, LeftOpen
from .expressions import Expressions

# None of these can begin a statement: where one is met, the block was not closed.
_OUTSIDE_BLOCKS = words("fn task layout param export extern inline noinline") | {END}
_WITHOUT_SEMICOLON = words("{ if for inline while switch comptime")
_ASSIGNABLE = (Name, Field, Index, Dereference, Builtin)
_RUNNABLE = (Call, Builtin, Asm, If, Switch, Block, Return, Break, Continue, Comptime)
_CALLS = (Call, Builtin, Asm)
_CONTROL = (If, Switch, Block, Return, Break, Continue, Comptime)


class Statements(Expressions):
    """Parses statements."""

    __slots__ = ()

    def block(self, label: str | None, start: int | None = None) -> Block:
        """Parse `{ ... }`, leaving out malformed statements. `start` is the label's token if there is one."""
        kinds = self.kinds
        opening = self.position
        self.position = opening + 1
        statements: list[Statement] = []
        while (kind := kinds[self.position]) != "}":
            if kind == ";":
                self.position += 1
                continue
            if kind in _OUTSIDE_BLOCKS and not self.is_inline_loop():
                self.block_left_open(opening)
            first = self.position
            depth = self.depth
            try:
                statements.append(self.statement())
            except Abandoned:
                self.depth = depth
                self.skip_to_statement(first)
        self.position += 1
        return Block(self.starts[opening if start is None else start], self.ends[self.position - 1], label, statements)

    def skip_to_statement(self, first: int) -> None:
        """Recover from the malformed statement that begins at token `first`."""
        kinds = self.kinds
        token = max(self.position, first + 1)
        before = kinds[first:token]
        depth = before.count("{") - before.count("}")
        while (kind := kinds[token]) != END:
            if kind in _OUTSIDE_BLOCKS and self.is_at_margin(token) and not self.is_inline_loop(token):
                break
            if kind == "}":
                depth -= 1
                if depth < 0:
                    break
                token += 1
                if depth == 0 and (kinds[token] in STATEMENT_STARTS or self.is_end_of_braces(token)):
                    break
                continue
            if depth <= 0 and kind in STATEMENT_STARTS and token > first and self.is_on_new_line(token):
                break
            token += 1
            if kind == "{":
                depth += 1
            elif kind == ";" and depth <= 0:
                break
        self.position = token

    def block_left_open(self, opening: int) -> NoReturn:
        """Fail because the block opened at token `opening` has no end before a declaration or the end of the file."""
        token = self.position
        notes = [self.note(opening, "the '{' is here")]
        suspect = self.misplaced_end(token)
        if suspect is not None:
            brace, end = suspect
            line = self.source.line_and_column(self.starts[brace])[0]
            notes.append(
                self.note(end, f"this '}}' closes the '{{' of line {line}, but is not indented like that line")
            )
        line = self.source.line_and_column(self.starts[opening])[0]
        message = f"the block opened in line {line} has no '}}'"
        if self.kinds[token] == END:
            place = self.ends[token - 1]
            self.report(place, place, message, *notes)
        else:
            self.report_token(token, f"{self.describe(token)} cannot be inside a block; {message}", *notes)
        self.is_brace_missing = True
        raise LeftOpen

    def misplaced_end(self, last: int) -> tuple[int, int] | None:
        """Find the first `{` of the declaration whose `}` begins a line that is indented differently."""
        kinds = self.kinds
        opened: list[tuple[int, str]] = []
        for token in range(self.beginning, last):
            if kinds[token] == "{":
                opened.append((token, self.indentation(token)))
            elif kinds[token] == "}" and opened:
                brace, indentation = opened.pop()
                if self.is_on_new_line(token) and self.indentation(token) != indentation:
                    return brace, token
        return None

    def indentation(self, token: int) -> str:
        line = self.source.line_text(self.source.line_and_column(self.starts[token])[0])
        return line[: len(line) - len(line.lstrip())]

    def statement(self) -> Statement:
        """Parse one statement, with its `;` if it has one."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            self.too_deep()
        first = self.position
        height = self.height
        self.height = 0
        handler = _STATEMENTS.get(self.kinds[self.position])
        if handler is not None:
            node = handler(self)
        elif self.is_label():
            node = self.labeled()
        else:
            node = self.simple()
            if self.kinds[self.position] == ";":
                self.position += 1
            else:
                self.semicolon("this statement")
        self.height += 2
        if self.height > MAX_PARSED_HEIGHT:
            self.too_high(first)
        self.height = max(self.height, height)
        self.depth -= 1
        return node

    def is_inline_loop(self, token: int | None = None) -> bool:
        """Return True if an `inline` belongs to a statement, not to a function after an unclosed block."""
        token = self.position if token is None else token
        return self.kinds[token] == "inline" and self.kinds[token + 1] in ("for", "while")

    def labeled(self) -> Statement:
        """Parse `label:` and the block or loop it names."""
        token = self.position
        label = self.texts[token]
        self.position += 2
        kind = self.kinds[self.position]
        node: Statement
        if kind == "{":
            return self.block(label, token)
        if kind == "for" or (kind == "inline" and self.kinds[self.position + 1] == "for"):
            node = self.for_statement(label)
        elif kind == "while":
            node = self.while_statement(label)
        else:
            if kind == NAME:
                self.fail(token, f"'{label}:' does not begin a statement; {HOW_TO_DECLARE}")
            self.fail_expected(f"'{{', 'for' or 'while' after the label '{label}:'")
        node.start = self.starts[token]
        return node

    def simple(self) -> Assign | Expression:
        """Parse an assignment, a call or a jump, without `;`."""
        kinds = self.kinds
        first = self.position
        if kinds[first] == "else":
            self.fail(first, "this 'else' has no matching 'if'")
        target = self.expression()
        kind = kinds[self.position]
        if kind in ASSIGNMENTS:
            return self.assignment(target)
        if kind == "++":
            shown = self.source.text[target.start : target.end]
            self.report_token(self.position, f"CSL has no '++'; write '{shown if len(shown) < 30 else '...'} += 1'")
            self.position += 1
            return target
        if not isinstance(target, _RUNNABLE) or (isinstance(target, _CONTROL) and kinds[first] == "("):
            self.unused_value(target)
        return target

    def assignment(self, target: Expression) -> Assign:
        """Parse the rest of an assignment to `target`, from its operator on."""
        operator = self.kinds[self.position]
        if not isinstance(target, _ASSIGNABLE):
            message = f"the left side of '{operator}' must be a variable, a field, an element or 'pointer.*'"
            self.report(target.start, target.end, message)
        self.position += 1
        value = self.expression()
        return Assign(target.start, self.ends[self.position - 1], operator, target, value)

    def unused_value(self, value: Expression) -> None:
        """Report an expression statement without effect; semantic analysis only warns of one that calls something."""
        kinds = self.kinds
        self.fail_malformed(self.position)
        if kinds[self.position] in (";", ")", "}") and any(isinstance(inner, _CALLS) for inner in walk(value)):
            return
        if isinstance(value, Binary) and value.operator == "==":
            self.report(
                value.operator_start,
                value.operator_start + 2,
                "'==' compares and does nothing here; to assign write '='",
            )
            return
        if kinds[self.position] == ":":
            self.fail(self.position, "unexpected ':'; a variable is declared with 'const' or 'var'")
        if isinstance(value, Name) and kinds[self.position] in (NAME, BUILTIN):
            self.fail(
                self.position - 1,
                f"'{value.name}' does not begin a statement; {HOW_TO_DECLARE}",
            )
        self.report(value.start, value.end, "this value is not used; a statement is an assignment, a call or a jump")

    def comptime_statement(self) -> Statement:
        first = self.position
        self.position = first + 1
        kind = self.kinds[self.position]
        node: Statement
        if kind in ("const", "var"):
            node = self.variable("", True)
            node.start = self.starts[first]
            return node
        operand = self.branch_body()
        return Comptime(self.starts[first], self.ends[self.position - 1], operand)

    def block_statement(self) -> Statement:
        kinds = self.kinds
        first = self.position
        if kinds[first + 1] == "." and kinds[first + 2] == NAME:
            self.missing_dot(first)
        return self.block(None)

    def if_statement(self) -> If:
        first = self.position
        branches, otherwise = self.branches(self.branch_body)
        return If(self.starts[first], self.ends[self.position - 1], branches, otherwise)

    def branch_body(self) -> Statement:
        """Parse the body of an `if`, an `else` or a `comptime`. A simple one ends before `else` or with `;`."""
        kind = self.kinds[self.position]
        if kind in _WITHOUT_SEMICOLON or self.is_label():
            return self.statement()
        if kind in ("const", "var"):
            self.fail(self.position, f"a '{kind}' cannot stand alone after a condition; put it in a block '{{ ... }}'")
        self.depth += 1
        node = self.simple()
        self.depth -= 1
        if self.kinds[self.position] != "else":
            self.semicolon("this statement")
        return node

    def for_statement(self, label: str | None = None) -> For:
        kinds = self.kinds
        first = self.position
        is_inline = self.is_inline_loop()
        self.position = opening = first + 1 + is_inline
        if kinds[opening] == "(" and kinds[opening + 1] in ("var", "const"):
            self.position = self.behind_parenthesis(opening)
            self.fail(opening + 1, "a 'for' goes over an array or a range; write 'for (@range(i16, 8)) |i| { ... }'")
        iterable = self.parenthesized("after 'for'")
        if kinds[self.position] != "|":
            self.fail_expected("'|element|' after what the 'for' iterates over")
        self.position += 1
        element = self.declared_name("a loop's element")
        index = None
        if kinds[self.position] == ",":
            self.position += 1
            index = self.declared_name("a loop's index")
        self.expect("|", "after the name of the loop's " + ("index" if index else "element"))
        body = self.statement()
        return For(self.starts[first], self.ends[self.position - 1], label, iterable, element, index, body, is_inline)

    def behind_parenthesis(self, opening: int) -> int:
        """Return the token behind the ')' that closes a '(', which may be the end of the file."""
        depth, token = 0, opening
        while self.kinds[token] != END:
            depth += (self.kinds[token] == "(") - (self.kinds[token] == ")")
            token += 1
            if depth == 0:
                break
        return token

    def inline_statement(self) -> Statement:
        if self.kinds[self.position + 1] != "for":
            self.position += 1
            self.fail_expected("'for' after 'inline'; of statements only a 'for' can be inline")
        return self.for_statement()

    def while_statement(self, label: str | None = None) -> While:
        first = self.position
        self.position = first + 1
        condition = self.parenthesized("after 'while'")
        update = None
        if self.kinds[self.position] == ":":
            opening = self.position = self.position + 1
            self.expect("(", "after the ':' of a 'while'")
            update = self.simple()
            if self.kinds[self.position] != ")":
                self.fail_expected("')'", self.note(opening, "the '(' is here"))
            self.position += 1
        body = self.statement()
        return While(self.starts[first], self.ends[self.position - 1], label, condition, update, body)


_STATEMENTS: dict[str, Callable[[Statements], Statement]] = {
    "{": Statements.block_statement,
    "comptime": Statements.comptime_statement,
    "const": lambda parser: parser.variable("", False),
    "for": Statements.for_statement,
    "if": Statements.if_statement,
    "inline": Statements.inline_statement,
    "switch": Statements.switch,
    "var": lambda parser: parser.variable("", False),
    "while": Statements.while_statement,
}
