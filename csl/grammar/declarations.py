"""Files and declarations, and how reading goes on behind a malformed one."""

from __future__ import annotations

from typing import NoReturn

from ..lexer import BUILTIN, END, NAME, words
from ..syntax import AnyType, ComptimeBlock, Declaration, Expression, File, Function, Layout, Parameter, Variable
from .cursor import HOW_TO_DECLARE, STATEMENT_STARTS, Abandoned, LeftOpen, TooMany
from .statements import Statements

# Names anywhere else.
ATTRIBUTES = ("align", "linksection", "linkname")
DECLARATION_STARTS = words("const var param fn task layout comptime export extern inline noinline")


class Declarations(Statements):
    """Parses files and declarations."""

    __slots__ = ()

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
                except Abandoned:
                    self.skip_to_declaration()
                except LeftOpen:
                    pass
                self.depth = 0
                self.height = 0
        except TooMany:
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
            raise Abandoned
        if kind == "}":
            if self.is_brace_missing:
                # One more or less was reported already.
                raise Abandoned
            self.fail(token, "this '}' has no matching '{'")
        self.fail_malformed(token)
        if kind == NAME and self.kinds[token + 1] == NAME:
            name = self.texts[token + 1]
            remedy = HOW_TO_DECLARE
            if self.texts[token] == "color":
                remedy = f"a color is 'const {name} = @get_color(0)', or 'param {name}: color' if the layout gives it"
            self.fail(token, f"{self.describe(token)} does not begin a declaration; {remedy}")
        if kind in STATEMENT_STARTS or kind in (BUILTIN, NAME, "{"):
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
            raise Abandoned
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
