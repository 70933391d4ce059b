"""Parser of CSL: recursive descent, with precedence climbing for expressions.

The grammar is docs/csl-grammar.ebnf. At most three tokens are looked at and nothing is ever tried twice. A mistake is
recorded and reading goes on at the next statement or declaration, so that one run shows several.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn, TypeAlias, TypeVar

from ..diagnostics.nesting import deep_nesting
from .lexer import (
    ASSIGNMENTS,
    BUILTIN,
    CHARACTER,
    END,
    FLOAT,
    INTEGER,
    KEYWORDS,
    NAME,
    NUMBER,
    STRING,
    UNKNOWN,
    Tokens,
    words,
)
from .source import Diagnostic, Note, Source
from .syntax import (
    MAX_HEIGHT,
    Aggregate,
    AnyType,
    ArrayType,
    Asm,
    AsmOperand,
    Assign,
    Binary,
    Block,
    Break,
    Builtin,
    Call,
    Comptime,
    ComptimeBlock,
    Continue,
    Declaration,
    Dereference,
    EnumMember,
    EnumType,
    Expression,
    Field,
    FieldDeclaration,
    FieldValue,
    File,
    Float,
    For,
    Function,
    FunctionType,
    If,
    IfBranch,
    Index,
    Integer,
    Layout,
    ManyPointerType,
    Name,
    Parameter,
    PointerType,
    Return,
    Statement,
    String,
    StructType,
    Switch,
    SwitchBranch,
    TensorAccess,
    Unary,
    Variable,
    While,
    walk,
)

# One level of nesting takes at most four calls, so this stays well inside what `deep_nesting` allows.
MAX_NESTING = 500
# Above a statement stand a block, a declaration and the file.
_MAX_PARSED_HEIGHT = MAX_HEIGHT - 5
MAX_ERRORS = 20

# The order is Zig's: CSL's reference gives none. Its examples fix `&` and `<<` above `==`, unlike C.
PRECEDENCE = {
    "or": 1,
    "and": 2,
    "==": 3,
    "!=": 3,
    "<": 3,
    ">": 3,
    "<=": 3,
    ">=": 3,
    "&": 4,
    "^": 4,
    "|": 4,
    "<<": 5,
    ">>": 5,
    "+": 6,
    "-": 6,
    "*": 7,
    "/": 7,
    "%": 7,
}
COMPARISON = 3
# Names anywhere else.
ATTRIBUTES = ("align", "linksection", "linkname")
# Operators of C, with the CSL operator that is meant.
FOREIGN_LOGIC = {"&&": "and", "||": "or"}
_LEVELS = PRECEDENCE | {c: PRECEDENCE[csl] for c, csl in FOREIGN_LOGIC.items()}

_PREFIXES = frozenset("-!~&")
DECLARATION_STARTS = words("const var param fn task layout comptime export extern inline noinline")
# None of these can begin a statement: where one is met, the block was not closed.
_OUTSIDE_BLOCKS = words("fn task layout param export extern inline noinline") | {END}
_STATEMENT_STARTS = words("const var comptime if for inline while switch return break continue")
_WITHOUT_SEMICOLON = words("{ if for inline while switch comptime")
_ASSIGNABLE = (Name, Field, Index, Dereference, Builtin)
_RUNNABLE = (Call, Builtin, Asm, If, Switch, Block, Return, Break, Continue, Comptime)
_CALLS = (Call, Builtin, Asm)
_CONTROL = (If, Switch, Block, Return, Break, Continue, Comptime)
_NO_TYPE = (Integer, Float, String)

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
_HOW_TO_DECLARE = "a variable is declared 'const name: type = value' or 'var name: type'"
_ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "\\": b"\\", '"': b'"', "'": b"'"}
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u\{[0-9a-fA-F]{1,6}\}|.)", re.DOTALL)
_MAX_INTEGER_DIGITS = 4000

_Item = TypeVar("_Item")


class _Abandoned(Exception):
    """The statement or declaration being read is broken, and that has been recorded."""


class _LeftOpen(Exception):
    """A block has no end, and that has been recorded: reading goes on outside all blocks."""


class _TooMany(Exception):
    """There are enough errors to show."""


class Parser:
    """Reads one file. `file()` may be called once; `diagnostics` then holds what was wrong."""

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
        # Statements stand outside all blocks, which has been recorded: a block seems to have ended too early.
        self.is_adrift = False
        self.diagnostics: list[Diagnostic] = []

    # Errors

    def note(self, token: int, message: str) -> Note:
        return Note(self.source, self.starts[token], self.ends[token], message)

    def report(self, start: int, end: int, message: str, *notes: Note) -> None:
        """Record an error, unless there is one at the same place."""
        if self.diagnostics and self.diagnostics[-1].start == start:
            return
        if len(self.diagnostics) == MAX_ERRORS:
            raise _TooMany
        self.diagnostics.append(Diagnostic(self.source, start, end, message, notes))

    def report_token(self, token: int, message: str, *notes: Note) -> None:
        self.report(self.starts[token], self.ends[token], message, *notes)

    def fail(self, token: int, message: str, *notes: Note) -> NoReturn:
        self.report_token(token, message, *notes)
        raise _Abandoned

    def is_on_new_line(self, token: int) -> bool:
        """Return True if `token` is the first of its line."""
        return token == 0 or self.source.text.find("\n", self.ends[token - 1], self.starts[token]) >= 0

    def is_at_margin(self, token: int) -> bool:
        return self.source.line_and_column(self.starts[token])[1] == 1

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
            raise _Abandoned
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

    def too_deep(self) -> NoReturn:
        self.report_token(self.position, f"nesting too deep: more than {MAX_NESTING} levels; split this up")
        raise _TooMany

    def too_high(self, first: int) -> NoReturn:
        self.report(
            self.starts[first],
            self.ends[self.position - 1],
            "too many levels of operators and nesting; compute a part in a 'const' of its own",
        )
        raise _TooMany

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
            raise _Abandoned
        if kinds[token] == "." and kinds[token + 1] == NAME:
            place = self.ends[token - 1]
            self.report(place, place, f"a ',' is missing before '.{self.texts[token + 1]}'", opened)
            raise _Abandoned
        if kinds[token] == "=" and close == ")":
            self.fail(token, "'=' assigns and is not an expression; to compare write '=='", opened)
        if kinds[token] in (NAME, INTEGER, FLOAT, STRING, CHARACTER, BUILTIN) and not self.is_on_new_line(token):
            place = self.ends[token - 1]
            self.report(place, place, f"a ',' is missing before {self.describe(token)}", opened)
            raise _Abandoned
        self.fail_expected(f"',' or '{close}'", opened)

    # Files and declarations

    def file(self) -> File:
        """Parse the whole text. What is malformed is left out of the tree and reported in `diagnostics`."""
        declarations: list[Declaration] = []
        kinds = self.kinds
        try:
            while (kind := kinds[self.position]) != END:
                if kind == ";":
                    self.position += 1
                    continue
                self.beginning = self.position
                if self.is_adrift and kind in DECLARATION_STARTS and self.is_at_margin(self.position):
                    self.is_adrift = False
                try:
                    declarations.append(self.declaration())
                except _Abandoned:
                    self.skip_to_declaration()
                except _LeftOpen:
                    pass
                self.depth = 0
                self.height = 0
        except _TooMany:
            pass
        return File(0, len(self.source.text), declarations, self.source)

    def skip_to_declaration(self) -> None:
        """Recover from a malformed declaration: go behind its `;` or `}`, or to a declaration that begins a line."""
        kinds = self.kinds
        token = max(self.position, self.beginning + 1)
        before = kinds[self.beginning : token]
        depth = before.count("{") - before.count("}")
        while (kind := kinds[token]) != END:
            if kind in DECLARATION_STARTS and self.is_at_margin(token):
                break
            token += 1
            if kind == "{":
                depth += 1
            elif kind == "}":
                depth -= 1
                if depth <= 0 and (kinds[token] in DECLARATION_STARTS or self.is_end_of_braces(token)):
                    break
            elif kind == ";" and depth <= 0:
                break
        self.position = token

    def is_end_of_braces(self, token: int) -> bool:
        """Return True if what ended with the `}` before `token` does not continue there."""
        return self.is_on_new_line(token) and self.kinds[token] not in (";", ",", ")", "]", ".", "else")

    def declaration(self) -> Declaration:
        token = self.position
        kind = self.kinds[token]
        if kind not in DECLARATION_STARTS:
            self.no_declaration()
        if kind in ("const", "var", "param"):
            return self.variable("", False)
        if kind in ("fn", "task"):
            return self.function("", "")
        if kind == "comptime":
            if self.kinds[token + 1] != "{":
                self.fail(
                    token,
                    "outside functions 'comptime' begins a block '{ ... }'; global variables are evaluated"
                    " at compile time without it",
                )
            self.position += 1
            body = self.block(None)
            return ComptimeBlock(self.starts[token], body.end, body)
        if kind == "layout":
            self.position += 1
            if self.kinds[self.position] != "{":
                self.fail_expected("'{' after 'layout'")
            body = self.block(None)
            return Layout(self.starts[token], body.end, body)
        return self.modified_declaration()

    def no_declaration(self) -> NoReturn:
        token = self.position
        kind = self.kinds[token]
        if self.is_adrift:
            raise _Abandoned
        if kind == "}":
            if self.is_brace_missing:
                # One more or less was reported already.
                raise _Abandoned
            self.fail(token, "this '}' has no matching '{'")
        self.fail_malformed(token)
        if kind == NAME and self.kinds[token + 1] == NAME:
            self.fail(token, f"{self.describe(token)} does not begin a declaration; {_HOW_TO_DECLARE}")
        if kind in _STATEMENT_STARTS or kind in (BUILTIN, NAME, "{"):
            self.is_adrift = True
            self.fail(
                token,
                f"{self.describe(token)} begins a statement, and statements belong in a function, a task,"
                " 'layout { }' or 'comptime { }'",
            )
        self.fail_expected("a declaration (const, var, param, fn, task, comptime or layout)")

    def modified_declaration(self) -> Variable | Function:
        """Parse a declaration that begins with `export`, `extern`, `inline` or `noinline`, in any order."""
        start = self.position
        storage = ""
        inlining = ""
        while True:
            kind = self.kinds[self.position]
            if kind in ("export", "extern"):
                if storage:
                    self.report_token(self.position, f"'{kind}' follows '{storage}'; a declaration has one of them")
                storage = kind
            elif kind in ("inline", "noinline"):
                if inlining:
                    self.report_token(self.position, f"'{kind}' follows '{inlining}'; a function has one of them")
                inlining = kind
            else:
                break
            self.position += 1
        declaration: Variable | Function
        if kind in ("fn", "task"):
            declaration = self.function(storage, inlining)
        elif kind in ("const", "var", "param"):
            if inlining:
                self.report_token(self.position - 1, f"'{inlining}' is for functions, not for '{kind}'")
            elif kind == "param":
                self.report_token(self.position - 1, f"a param cannot be '{storage}'; that is for const, var and fn")
            declaration = self.variable(storage, False)
        else:
            self.fail_expected(f"a declaration after '{storage or inlining}'")
        declaration.start = self.starts[start]
        return declaration

    def variable(self, storage: str, is_comptime: bool) -> Variable:
        """Parse `const`, `var` or `param`, up to its `;`."""
        kinds = self.kinds
        first = self.position
        kind = kinds[first]
        self.position = token = first + 1
        name = self.expect_name({"const": "a constant", "var": "a variable", "param": "a parameter"}[kind])
        type = None
        if kinds[self.position] == ":":
            self.position += 1
            type = self.type()
        alignment = link_section = link_name = None
        while kinds[self.position] == NAME and (attribute := self.attribute()):
            match attribute:
                case "align", value:
                    alignment = value
                case "linksection", value:
                    link_section = value
                case _, value:
                    link_name = value
        value = None
        if kinds[self.position] == "=":
            self.position += 1
            value = self.expression()
        elif type is None and kinds[self.position] in (NAME, "[", "*") and not self.is_on_new_line(self.position):
            place = self.ends[self.position - 1]
            self.report(place, place, f"a ':' is missing between '{name}' and its type")
            raise _Abandoned
        end = self.ends[self.position - 1]
        if value is None and kinds[self.position] == ";":
            if kind == "const" and not storage:
                self.report_token(token, f"the constant '{name}' needs a value: 'const {name} = ...'")
            elif kind == "var" and type is None:
                self.report_token(token, f"'{name}' needs a type or a value: 'var {name}: type'")
        elif value is not None and storage == "extern":
            message = f"'{name}' is 'extern', so its value is given where it is exported, not here"
            self.report(value.start, value.end, message)
        self.semicolon(f"the declaration of '{name}'")
        return Variable(
            self.starts[first],
            end,
            kind,
            name,
            type,
            value,
            storage,
            is_comptime,
            alignment,
            link_section,
            link_name,
            self.starts[token],
        )

    def attribute(self) -> tuple[str, Expression] | None:
        """Parse `align(n)`, `linksection(s)` or `linkname(s)`, words that are names anywhere else."""
        name = self.texts[self.position]
        if name not in ATTRIBUTES or self.kinds[self.position + 1] != "(":
            return None
        self.position += 1
        return name, self.parenthesized(f"after '{name}'")

    def function(self, storage: str, inlining: str) -> Function:
        kinds = self.kinds
        first = self.position
        keyword = kinds[first]
        self.position = token = first + 1
        name = self.expect_name("a function" if keyword == "fn" else "a task")
        if kinds[self.position] != "(":
            self.fail_expected(f"'(' after the name of '{name}'")
        parameters = self.items(")", self.extern_parameter if storage == "extern" else self.parameter)
        result: Expression | None = None
        alignment = link_section = link_name = None
        while (kind := kinds[self.position]) not in ("{", ";"):
            if kind == NAME and (attribute := self.attribute()):
                match attribute:
                    case "align", value:
                        alignment = value
                    case "linksection", value:
                        link_section = value
                    case _, value:
                        link_name = value
            elif result is None:
                if kind == "->":
                    self.fail(self.position, "the type of a result follows the ')' without '->'")
                result = self.type()
            else:
                break
        body = None
        end = self.ends[self.position - 1]
        if storage == "extern":
            if kinds[self.position] == "{":
                self.report_token(self.position, f"'{name}' is 'extern', so its body is not given here; write ';'")
                self.block(None)
            else:
                self.semicolon(f"the declaration of '{name}'")
        else:
            if kinds[self.position] != "{":
                self.fail_expected(f"'{{' to begin the body of '{name}'")
            body = self.block(None)
            end = body.end
        return Function(
            self.starts[first],
            end,
            keyword,
            name,
            parameters,
            result,
            body,
            storage,
            inlining,
            alignment,
            link_section,
            link_name,
            self.starts[token],
        )

    def parameter(self) -> Parameter:
        kinds = self.kinds
        token = self.position
        is_comptime = kinds[token] == "comptime"
        if is_comptime:
            self.position += 1
        name = self.expect_name("a function's parameter")
        if kinds[self.position] != ":":
            if kinds[self.position] in (",", ")"):
                self.fail(
                    self.position - 1, f"the parameter '{name}' needs a type: '{name}: type' or '{name}: anytype'"
                )
            self.fail_expected(f"':' after the parameter '{name}'")
        self.position += 1
        type = self.parameter_type()
        return Parameter(self.starts[token], type.end, name, type, is_comptime)

    def extern_parameter(self) -> Parameter:
        """Parse a parameter, or a type alone."""
        token = self.position
        if self.kinds[token] == "comptime" or (self.kinds[token] == NAME and self.kinds[token + 1] == ":"):
            return self.parameter()
        type = self.parameter_type()
        return Parameter(type.start, type.end, None, type, False)

    def parameter_type(self) -> Expression:
        token = self.position
        if self.kinds[token] == "anytype":
            self.position += 1
            return AnyType(self.starts[token], self.ends[token])
        return self.type()

    # Statements

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
            except _Abandoned:
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
                if depth == 0 and (kinds[token] in _STATEMENT_STARTS or self.is_end_of_braces(token)):
                    break
                continue
            if depth <= 0 and kind in _STATEMENT_STARTS and token > first and self.is_on_new_line(token):
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
        raise _LeftOpen

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
        if not (kind in ("}", END) or kind in _STATEMENT_STARTS or self.is_on_new_line(token)):
            raise _Abandoned

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
        if self.height > _MAX_PARSED_HEIGHT:
            self.too_high(first)
        self.height = max(self.height, height)
        self.depth -= 1
        return node

    def is_label(self) -> bool:
        return self.kinds[self.position] == NAME and self.kinds[self.position + 1] == ":"

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
                self.fail(token, f"'{label}:' does not begin a statement; {_HOW_TO_DECLARE}")
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
                f"'{value.name}' does not begin a statement; {_HOW_TO_DECLARE}",
            )
        self.report(value.start, value.end, "this value is not used; a statement is an assignment, a call or a jump")

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

    def missing_dot(self, brace: int) -> NoReturn:
        self.fail(brace, "a '.' is missing before '{': a struct is written '.{ .field = value }'")

    def if_statement(self) -> If:
        first = self.position
        branches, otherwise = self.branches(self.branch_body)
        return If(self.starts[first], self.ends[self.position - 1], branches, otherwise)

    def branches(self, side: Callable[[], Statement]) -> tuple[list[IfBranch], Statement | None]:
        """Parse the branches of an `if` and its last `else`, each body by `side`."""
        kinds = self.kinds
        branches: list[IfBranch] = []
        while True:
            start = self.starts[self.position]
            self.position += 1
            condition = self.parenthesized("after 'if'")
            body = side()
            branches.append(IfBranch(start, self.ends[self.position - 1], condition, body))
            if kinds[self.position] != "else":
                return branches, None
            self.position += 1
            if kinds[self.position] != "if":
                return branches, side()

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

    def declared_name(self, of: str) -> Name:
        token = self.position
        name = self.expect_name(of)
        return Name(self.starts[token], self.ends[token], name)

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

    # Expressions

    def expression(self, minimum: int = 1) -> Expression:
        """Parse an expression whose operators all have at least the precedence `minimum`."""
        kinds = self.kinds
        if minimum == 1:
            self.depth += 1
            if self.depth > MAX_NESTING:
                self.too_deep()
        first = self.position
        height = self.height
        self.height = 0
        left = self.operand()
        kind = kinds[self.position]
        level = _LEVELS.get(kind, 0)
        while level >= minimum:
            operator = self.position
            self.position = operator + 1
            right = self.expression(level + 1)
            self.height += 1
            if kind in FOREIGN_LOGIC:
                meant = FOREIGN_LOGIC[kind]
                self.report_token(operator, f"CSL has no '{kind}'; use '{meant}'")
                kind = meant
            left = Binary(self.starts[first], self.ends[self.position - 1], kind, left, right, self.starts[operator])
            kind = kinds[self.position]
            following = _LEVELS.get(kind, 0)
            if level == COMPARISON == following:
                self.report_token(
                    self.position, f"comparisons cannot be chained; write 'a {left.operator} b and b {kind} c'"
                )
            level = following
        self.height += 1
        if self.height > _MAX_PARSED_HEIGHT:
            self.too_high(first)
        if self.height < height:
            self.height = height
        if minimum == 1:
            self.depth -= 1
        return left

    def operand(self) -> Expression:
        """Parse an operand with its prefixes and suffixes."""
        token = self.position
        kind = self.kinds[token]
        if kind == NAME:
            if self.kinds[token + 1] == ":" and self.kinds[token + 2] == "{":
                self.position = token + 2
                return self.block(self.texts[token], token)
            node: Expression
            if self.kinds[token + 1] in _STRUCT_KINDS and self.texts[token] == "packed":
                node = self.struct_type()
            else:
                self.position = token + 1
                node = Name(self.starts[token], self.ends[token], self.texts[token])
        else:
            handler = _PRIMARIES.get(kind)
            if handler is None:
                handler = _UNSUFFIXED.get(kind)
                if handler is not None:
                    return handler(self)
                if kind in _PREFIXES:
                    return self.prefixed()
                self.no_operand()
            node = handler(self)
        kind = self.kinds[self.position]
        if kind in _SUFFIX_STARTS:
            if kind != "{":
                node = self.suffixed(node, token)
            if self.kinds[self.position] == "{" and not isinstance(node, _NO_TYPE):
                return self.aggregate(node, self.starts[token])
        return node

    def no_operand(self) -> NoReturn:
        token = self.position
        kind = self.kinds[token]
        before = self.kinds[token - 1] if token else ""
        if kind == ".":
            name = self.texts[token + 1]
            self.fail(
                token,
                f"'.{name}' has nothing on its left; a field is given in '.{{ .{name} = value }}', an enum's element is"
                f" 'type.{name}'",
            )
        if before == "-" and kind in (";", ")") and token >= 2 and self.kinds[token - 2] == "-":
            place = self.starts[token - 2]
            self.report(place, place + 2, "CSL has no '--'; to count down write 'x -= 1'")
            raise _Abandoned
        if kind == "anytype":
            self.fail(token, "'anytype' is the type of a function's parameter and nothing else")
        if kind in ("for", "while"):
            self.fail(token, f"'{kind}' is a statement and has no value")
        self.fail_expected("an expression")

    def prefixed(self) -> Expression:
        """Parse any number of `- ! ~ &` and their operand."""
        kinds = self.kinds
        first = token = self.position
        while kinds[token] in _PREFIXES:
            token += 1
        self.position = token
        node = self.operand()
        self.height += token - first
        end = self.ends[self.position - 1]
        while token > first:
            token -= 1
            node = Unary(self.starts[token], end, kinds[token], node)
        return node

    def suffixed(self, node: Expression, first: int) -> Expression:
        """Parse calls, indices, fields and dereferences behind `node`, which begins at token `first`."""
        kinds = self.kinds
        start = self.starts[first]
        while True:
            token = self.position
            kind = kinds[token]
            if kind == ".":
                name = token + 1
                if kinds[name] != NAME and not (kinds[name] in KEYWORDS and not self.is_on_new_line(name)):
                    self.position = name
                    self.fail_expected("the name of a field after '.'")
                self.position = token + 2
                node = Field(start, self.ends[name], node, self.texts[name], self.starts[name])
            elif kind == "(":
                arguments = self.expressions(")")
                node = Call(start, self.ends[self.position - 1], node, arguments)
            elif kind == "[":
                indices = self.expressions("]")
                if not indices:
                    self.report(
                        self.starts[token], self.ends[self.position - 1], "an index is missing between '[' and ']'"
                    )
                node = Index(start, self.ends[self.position - 1], node, indices)
            elif kind == ".*":
                self.position = token + 1
                node = Dereference(start, self.ends[token], node)
            else:
                break
            self.height += 1
        return node

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

    def malformed_number(self) -> NoReturn:
        token = self.position
        text = self.texts[token]
        kind = {"0x": "a hexadecimal number", "0b": "a binary number", "0o": "an octal number"}.get(text[:2].lower())
        if kind is None:
            self.fail(token, f"'{text[:30]}' is not a number; names begin with a letter or '_'")
        self.fail(token, f"'{text[:30]}' is not {kind}")

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

    def builtin(self) -> Expression:
        token = self.position
        self.position = token + 1
        name = self.texts[token][1:]
        if self.kinds[token + 1] != "(":
            self.fail(token, f"'@{name}' is a builtin and can only be called: '@{name}(...)'")
        arguments = self.expressions(")")
        return Builtin(self.starts[token], self.ends[self.position - 1], name, arguments)

    def parentheses(self) -> Expression:
        opening = self.position
        self.position = opening + 1
        expression = self.expression()
        if self.kinds[self.position] != ")":
            self.unclosed(opening)
        self.position += 1
        return expression

    def dotted(self) -> Expression:
        if self.kinds[self.position + 1] != "{":
            self.no_operand()
        start = self.starts[self.position]
        self.position += 1
        return self.aggregate(None, start)

    def aggregate(self, type: Expression | None, start: int) -> Aggregate:
        """Parse the current `{ ... }`, of fields or of elements."""
        kinds = self.kinds
        opening = self.position
        self.position = opening + 1
        members: list[FieldValue] = []
        elements: list[Expression] = []
        mixed = None
        while kinds[self.position] != "}":
            token = self.position
            name = token + 1
            if (
                kinds[token] == "."
                and (kinds[name] == NAME or kinds[name] in KEYWORDS)
                and kinds[name + 1] in ("=", ":")
            ):
                if kinds[name + 1] == ":":
                    self.fail(name + 1, f"a field's value follows '=': '.{self.texts[name]} = value'")
                self.position = token + 3
                value = self.expression()
                members.append(FieldValue(self.starts[token], self.ends[self.position - 1], self.texts[name], value))
            else:
                elements.append(self.expression())
            if members and elements and mixed is None:
                mixed = token
            kind = kinds[self.position]
            if kind == ",":
                self.position += 1
            elif kind != "}":
                self.broken_list(opening, "}")
        self.position += 1
        self.height += 1
        if mixed is not None:
            self.report_token(mixed, "either all values between the braces have names, or none has")
        return Aggregate(start, self.ends[self.position - 1], type, members, elements)

    def tensor_access(self) -> Expression:
        kinds = self.kinds
        first = self.position
        self.position = first + 1
        variables = [self.declared_name("an induction variable")]
        while kinds[self.position] == ",":
            self.position += 1
            variables.append(self.declared_name("an induction variable"))
        self.expect("|", "after the induction variables")
        if kinds[self.position] != "{":
            self.fail_expected("'{' and the extents of a tensor access '|i|{n} -> array[i]'")
        extents = self.expressions("}")
        self.expect("->", "after the extents of a tensor access")
        access = self.expression()
        if not isinstance(access, Index):
            self.report(access.start, access.end, "a tensor access goes over elements: 'array[...]' must follow '->'")
            raise _Abandoned
        return TensorAccess(
            self.starts[first], self.ends[self.position - 1], variables, extents, access.base, access.indices
        )

    def brace_expression(self) -> Expression:
        kinds = self.kinds
        first = self.position
        if kinds[first + 1] == "." and kinds[first + 2] == NAME:
            self.missing_dot(first)
        if kinds[first + 1] in (INTEGER, FLOAT, STRING, CHARACTER) and kinds[first + 2] in (",", "}"):
            self.fail(first, "a '.' or a type is missing before '{': values are written '.{1, 2}' or '[2]type{1, 2}'")
        return self.block(None)

    def if_expression(self) -> Expression:
        first = self.position
        branches, otherwise = self.branches(self.expression)
        self.height += 1
        if isinstance(otherwise, If):
            # It stood in parentheses, which are not kept.
            branches += otherwise.branches
            otherwise = otherwise.otherwise
        return If(self.starts[first], self.ends[self.position - 1], branches, otherwise)

    def switch(self) -> Switch:
        kinds = self.kinds
        first = self.position
        self.position = first + 1
        subject = self.parenthesized("after 'switch'")
        if kinds[self.position] != "{":
            self.fail_expected("'{' to begin the branches of the 'switch'")
        branches = self.items("}", self.switch_branch)
        if not branches:
            self.report_token(first, "a 'switch' needs at least one branch 'value => expression'")
        self.height += 1
        return Switch(self.starts[first], self.ends[self.position - 1], subject, branches)

    def switch_branch(self) -> SwitchBranch:
        kinds = self.kinds
        first = self.position
        values: list[Expression] = []
        if kinds[first] == "else":
            self.position = first + 1
        else:
            values.append(self.expression())
            while kinds[self.position] == ",":
                self.position += 1
                if kinds[self.position] == "=>":
                    break
                values.append(self.expression())
        if kinds[self.position] == ":":
            self.fail(self.position, "a branch of a 'switch' is written 'value => expression'")
        self.expect("=>", "after the values of a branch")
        body: Statement
        if kinds[self.position] in ("for", "while", "inline") or (self.is_label() and kinds[self.position + 2] != "{"):
            body = self.statement()
        else:
            body = self.expression()
            if kinds[self.position] in ASSIGNMENTS:
                body = self.assignment(body)
        if kinds[self.position] == ";":
            self.fail(self.position, "the branches of a 'switch' are separated by ',', not ';'")
        return SwitchBranch(self.starts[first], self.ends[self.position - 1], values, body)

    def return_(self) -> Return:
        token = self.position
        self.position = token + 1
        value = None if self.kinds[self.position] in _NO_VALUE else self.expression()
        return Return(self.starts[token], self.ends[self.position - 1], value)

    def label_reference(self) -> str | None:
        """Parse `:label` after `break` and `continue`."""
        if self.kinds[self.position] != ":":
            return None
        self.position += 1
        return self.expect_name("a label")

    def break_(self) -> Break:
        token = self.position
        self.position = token + 1
        label = self.label_reference()
        value = None
        if label is not None and self.kinds[self.position] not in _NO_VALUE:
            value = self.expression()
        return Break(self.starts[token], self.ends[self.position - 1], label, value)

    def continue_(self) -> Continue:
        token = self.position
        self.position = token + 1
        label = self.label_reference()
        return Continue(self.starts[token], self.ends[self.position - 1], label)

    def comptime(self) -> Expression:
        token = self.position
        self.position = token + 1
        operand = self.expression()
        return Comptime(self.starts[token], self.ends[self.position - 1], operand)

    def asm(self) -> Expression:
        kinds = self.kinds
        first = self.position
        self.position = first + 1
        is_volatile = kinds[self.position] == NAME and self.texts[self.position] == "volatile"
        if is_volatile:
            self.position += 1
        opening = self.position
        self.expect("(", "after 'asm'")
        code = self.expression()
        if kinds[self.position] == ",":
            self.position += 1
        outputs: list[AsmOperand] = []
        inputs: list[AsmOperand] = []
        clobbers: list[String] = []
        for operands in (outputs, inputs):
            if kinds[self.position] == ":":
                self.position += 1
                while kinds[self.position] == "[":
                    operands.append(self.asm_operand())
                    if kinds[self.position] == ",":
                        self.position += 1
        if kinds[self.position] == ":":
            self.position += 1
            while kinds[self.position] == STRING:
                clobbers.append(self.string())
                if kinds[self.position] == ",":
                    self.position += 1
        if kinds[self.position] != ")":
            self.fail_expected("')' or ':' and the next part of 'asm'", self.note(opening, "the '(' is here"))
        self.position += 1
        self.height += 1
        return Asm(self.starts[first], self.ends[self.position - 1], is_volatile, code, outputs, inputs, clobbers)

    def asm_operand(self) -> AsmOperand:
        first = self.position
        self.position = first + 1
        name = self.expect_name("an operand of 'asm'")
        self.expect("]", "after the name of an operand of 'asm'")
        constraint = self.string()
        expression = self.parenthesized("after the constraint of an operand of 'asm'")
        return AsmOperand(self.starts[first], self.ends[self.position - 1], name, constraint, expression)

    # Types

    def type(self) -> Expression:
        """Parse a type where only a type can be: braces behind it begin a body."""
        kinds = self.kinds
        token = self.position
        kind = kinds[token]
        is_packed = kinds[token + 1] in _STRUCT_KINDS and self.texts[token] == "packed"
        if kind == NAME and not is_packed:
            self.position = token + 1
            node: Expression = Name(self.starts[token], self.ends[token], self.texts[token])
            return self.suffixed(node, token) if kinds[token + 1] in _SUFFIX_STARTS else node
        self.depth += 1
        if self.depth > MAX_NESTING:
            self.too_deep()
        height = self.height
        self.height = 0
        handler = _TYPE_CONSTRUCTORS.get(kind)
        if is_packed:
            node = self.suffixed(self.struct_type(), token)
        elif handler is not None:
            node = handler(self)
        else:
            handler = _PRIMARIES.get(kind)
            if handler is None:
                if kind == "anytype":
                    self.no_operand()
                self.fail_expected("a type")
            node = self.suffixed(handler(self), token)
        self.height += 2
        if self.height > _MAX_PARSED_HEIGHT:
            self.too_high(token)
        self.height = max(self.height, height)
        self.depth -= 1
        return node

    def type_expression(self) -> Expression:
        """Parse a type constructor within an expression; `{` after it begins a value of the type."""
        start = self.starts[self.position]
        node = self.type()
        return self.aggregate(node, start) if self.kinds[self.position] == "{" else node

    def if_type(self) -> Expression:
        """Parse an `if` between types (Generics, Computing With Types)."""
        first = self.position
        branches, otherwise = self.branches(self.type)
        if otherwise is None:
            self.fail(first, "an 'if' that chooses a type needs an 'else' with the other type")
        return If(self.starts[first], self.ends[self.position - 1], branches, otherwise)

    def comptime_type(self) -> Expression:
        token = self.position
        self.position = token + 1
        operand = self.type()
        return Comptime(self.starts[token], operand.end, operand)

    def pointer_type(self) -> Expression:
        token = self.position
        self.position = token + 1
        is_const = self.is_const()
        pointee = self.type()
        return PointerType(self.starts[token], self.ends[self.position - 1], is_const, pointee)

    def is_const(self) -> bool:
        if self.kinds[self.position] != "const":
            return False
        self.position += 1
        return True

    def array_type(self) -> Expression:
        kinds = self.kinds
        token = self.position
        if kinds[token + 1] == "*" and kinds[token + 2] == "]":
            self.position = token + 3
            is_const = self.is_const()
            element = self.type()
            return ManyPointerType(self.starts[token], self.ends[self.position - 1], is_const, element)
        dimensions = self.expressions("]")
        if not dimensions:
            self.report(
                self.starts[token],
                self.ends[self.position - 1],
                "an array's size is missing: '[n]type'; a pointer to any number of elements is '[*]type'",
            )
        if kinds[self.position] in (";", ",", ")", "}"):
            self.fail(
                self.position,
                f"expected the type of the elements after ']', found {self.describe(self.position)}; an array's value"
                " is written '[2]i16{1, 2}'",
            )
        element = self.type()
        return ArrayType(self.starts[token], self.ends[self.position - 1], dimensions, element)

    def function_type(self) -> Expression:
        token = self.position
        keyword = self.kinds[token]
        self.position = token + 1
        if self.kinds[self.position] != "(":
            if self.kinds[self.position] == NAME:
                self.fail(token, f"a '{keyword}' cannot be declared within an expression")
            self.fail_expected(f"'(' after '{keyword}'")
        parameters = self.items(")", self.function_type_parameter)
        result = self.type()
        return FunctionType(self.starts[token], self.ends[self.position - 1], keyword, parameters, result)

    def function_type_parameter(self) -> Expression:
        """Parse the type of a parameter. A name before it says what it is for, as in a declaration, and is no more."""
        if self.is_label():
            self.position += 2
        return self.type()

    def struct_type(self) -> Expression:
        """Parse a struct or union type, with the word before it that gives its layout in memory."""
        kinds = self.kinds
        token = self.position
        layout = "" if kinds[token] in _STRUCT_KINDS else self.texts[token]
        keyword = kinds[token + 1] if layout else kinds[token]
        if keyword not in _STRUCT_KINDS:
            self.no_operand()
        self.position += 2 if layout else 1
        if layout == "packed" and kinds[self.position] == "(":
            self.fail(self.position, f"the integer type of a packed {keyword} follows from its fields; leave it out")
        if kinds[self.position] != "{":
            self.fail_expected(f"'{{' after '{keyword}'")
        members = self.items("}", self.field_declaration)
        self.height += 1
        return StructType(self.starts[token], self.ends[self.position - 1], layout, keyword, members)

    def field_declaration(self) -> FieldDeclaration:
        token = self.position
        if self.kinds[token] == "." and self.kinds[token + 1] == NAME:
            self.fail(token, "the fields of a struct type are declared 'name: type', without '.'")
        name = self.expect_name("a field")
        if self.kinds[self.position] != ":":
            self.fail_expected(f"':' and a type after the field '{name}'")
        self.position += 1
        type = self.type()
        return FieldDeclaration(self.starts[token], self.ends[self.position - 1], name, type)

    def enum_type(self) -> Expression:
        token = self.position
        self.position = token + 1
        underlying = None
        if self.kinds[self.position] == "(":
            opening = self.position
            self.position += 1
            underlying = self.type()
            if self.kinds[self.position] != ")":
                self.unclosed(opening)
            self.position += 1
        if self.kinds[self.position] != "{":
            self.fail_expected("'{' to begin the elements of the 'enum'")
        members = self.items("}", self.enum_member)
        self.height += 1
        return EnumType(self.starts[token], self.ends[self.position - 1], underlying, members)

    def enum_member(self) -> EnumMember:
        token = self.position
        name = self.expect_name("an enum's element")
        value = None
        if self.kinds[self.position] == "=":
            self.position += 1
            value = self.expression()
        return EnumMember(self.starts[token], self.ends[self.position - 1], name, value)


_Handler: TypeAlias = Callable[[Parser], Expression]

_STATEMENTS: dict[str, Callable[[Parser], Statement]] = {
    "{": Parser.block_statement,
    "comptime": Parser.comptime_statement,
    "const": lambda parser: parser.variable("", False),
    "for": Parser.for_statement,
    "if": Parser.if_statement,
    "inline": Parser.inline_statement,
    "switch": Parser.switch,
    "var": lambda parser: parser.variable("", False),
    "while": Parser.while_statement,
}
_PRIMARIES: dict[str, _Handler] = {
    "(": Parser.parentheses,
    ".": Parser.dotted,
    BUILTIN: Parser.builtin,
    CHARACTER: Parser.character,
    FLOAT: Parser.float,
    INTEGER: Parser.integer,
    STRING: Parser.string,
    "enum": Parser.enum_type,
    "extern": Parser.struct_type,
    "struct": Parser.struct_type,
    "union": Parser.struct_type,
}
_TYPE_CONSTRUCTORS: dict[str, _Handler] = {
    "*": Parser.pointer_type,
    "[": Parser.array_type,
    "fn": Parser.function_type,
    "task": Parser.function_type,
    "if": Parser.if_type,
    "switch": Parser.switch,
    "comptime": Parser.comptime_type,
}
# Nothing can be called, indexed or dereferenced behind these: they take in all that follows, or end in `}`.
_UNSUFFIXED: dict[str, _Handler] = {
    "*": Parser.type_expression,
    "[": Parser.type_expression,
    "asm": Parser.asm,
    "break": Parser.break_,
    "comptime": Parser.comptime,
    "continue": Parser.continue_,
    "fn": Parser.type_expression,
    "if": Parser.if_expression,
    "return": Parser.return_,
    "switch": Parser.switch,
    "task": Parser.type_expression,
    "{": Parser.brace_expression,
    "|": Parser.tensor_access,
}
_STRUCT_KINDS = frozenset(("struct", "union"))
_SUFFIX_STARTS = frozenset((".", "(", "[", ".*", "{"))
_NO_VALUE = frozenset((";", "=>", ",", ")", "]", "}", "else", END))


@deep_nesting()
def parse(text: str, path: str) -> File:
    """Parse the text of a CSL file; `path` is the file's name in messages.

    Raises CslError with every mistake.
    """
    parser = Parser(Source(path, text))
    file = parser.file()
    if parser.diagnostics:
        # Here, as only errors need xDSL, which takes long to import.
        from .errors import CslError

        raise CslError(sorted(parser.diagnostics, key=lambda diagnostic: diagnostic.start))
    return file
