"""Expressions, by precedence climbing."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from ..lexer import BUILTIN, CHARACTER, FLOAT, INTEGER, KEYWORDS, NAME, STRING
from ..syntax import (
    Aggregate,
    Binary,
    Builtin,
    Call,
    Dereference,
    Expression,
    Field,
    FieldValue,
    Float,
    Index,
    Integer,
    Name,
    String,
    TensorAccess,
    Unary,
)
from .control import Control
from .cursor import MAX_NESTING, MAX_PARSED_HEIGHT, STRUCT_KINDS, Abandoned
from .types import SUFFIX_STARTS

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
# Operators of C, with the CSL operator that is meant.
FOREIGN_LOGIC = {"&&": "and", "||": "or"}
_LEVELS = PRECEDENCE | {c: PRECEDENCE[csl] for c, csl in FOREIGN_LOGIC.items()}
_PREFIXES = frozenset("-!~&")
_NO_TYPE = (Integer, Float, String)


class Expressions(Control):
    """Parses expressions."""

    __slots__ = ()

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
        if self.height > MAX_PARSED_HEIGHT:
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
            if self.kinds[token + 1] in STRUCT_KINDS and self.texts[token] == "packed":
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
        if kind in SUFFIX_STARTS:
            if kind != "{":
                node = self.suffixed(node, token)
            if self.kinds[self.position] == "{" and not isinstance(node, _NO_TYPE):
                return self.aggregate(node, self.starts[token])
        return node

    def primary(self) -> Expression | None:
        handler = _PRIMARIES.get(self.kinds[self.position])
        return None if handler is None else handler(self)

    def no_operand(self) -> NoReturn:
        token = self.position
        kind = self.kinds[token]
        before = self.kinds[token - 1] if token else ""
        if kind == ".":
            name = self.texts[token + 1]
            if self.kinds[token + 1] == INTEGER:
                self.report(self.starts[token], self.ends[token + 1], f"a digit comes before the point: '0.{name}'")
                raise Abandoned
            self.fail(
                token,
                f"'.{name}' has nothing on its left; a field is given in '.{{ .{name} = value }}', an enum's element is"
                f" 'type.{name}'",
            )
        if before == "-" and kind in (";", ")") and token >= 2 and self.kinds[token - 2] == "-":
            place = self.starts[token - 2]
            self.report(place, place + 2, "CSL has no '--'; to count down write 'x -= 1'")
            raise Abandoned
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
                    if kinds[name - 2] == INTEGER:
                        number = f"{self.texts[name - 2]}.0"
                        self.report(start, self.ends[token], f"a digit follows the point: '{number}'")
                        raise Abandoned
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

    def builtin(self) -> Expression:
        token = self.position
        self.position = token + 1
        name = self.texts[token][1:]
        if self.kinds[token + 1] != "(":
            self.fail(token, f"'@{name}' is a builtin and can only be called: '@{name}(...)'")
        arguments = self.expressions(")")
        return Builtin(self.starts[token], self.ends[self.position - 1], name, arguments)

    def parentheses(self) -> Expression:
        return self.parenthesized("around an expression")

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
            raise Abandoned
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

    def missing_dot(self, brace: int) -> NoReturn:
        self.fail(brace, "a '.' is missing before '{': a struct is written '.{ .field = value }'")


_PRIMARIES: dict[str, Callable[[Expressions], Expression]] = {
    "(": Expressions.parentheses,
    ".": Expressions.dotted,
    BUILTIN: Expressions.builtin,
    CHARACTER: Expressions.character,
    FLOAT: Expressions.float,
    INTEGER: Expressions.integer,
    STRING: Expressions.string,
    "enum": Expressions.enum_type,
    "extern": Expressions.struct_type,
    "struct": Expressions.struct_type,
    "union": Expressions.struct_type,
}
# Nothing can be called, indexed or dereferenced behind these: they take in all that follows, or end in `}`.
_UNSUFFIXED: dict[str, Callable[[Expressions], Expression]] = {
    "*": Expressions.type_expression,
    "[": Expressions.type_expression,
    "asm": Expressions.asm,
    "break": Expressions.break_,
    "comptime": Expressions.comptime,
    "continue": Expressions.continue_,
    "fn": Expressions.type_expression,
    "if": Expressions.if_expression,
    "return": Expressions.return_,
    "switch": Expressions.switch,
    "task": Expressions.type_expression,
    "{": Expressions.brace_expression,
    "|": Expressions.tensor_access,
}
