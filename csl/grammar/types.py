"""Types: pointers, arrays, functions, structs and enums."""

from __future__ import annotations

from collections.abc import Callable

from ..lexer import NAME
from ..syntax import (
    ArrayType,
    Comptime,
    EnumMember,
    EnumType,
    Expression,
    FieldDeclaration,
    FunctionType,
    If,
    ManyPointerType,
    Name,
    PointerType,
    StructType,
)
from .cursor import MAX_NESTING, MAX_PARSED_HEIGHT, STRUCT_KINDS
from .literals import Literals

SUFFIX_STARTS = frozenset((".", "(", "[", ".*", "{"))


class Types(Literals):
    """Parses types."""

    __slots__ = ()

    def type(self) -> Expression:
        """Parse a type where only a type can be: braces behind it begin a body."""
        kinds = self.kinds
        token = self.position
        kind = kinds[token]
        is_packed = kinds[token + 1] in STRUCT_KINDS and self.texts[token] == "packed"
        if kind == NAME and not is_packed:
            self.position = token + 1
            node: Expression = Name(self.starts[token], self.ends[token], self.texts[token])
            return self.suffixed(node, token) if kinds[token + 1] in SUFFIX_STARTS else node
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
            primary = self.primary()
            if primary is None:
                if kind == "anytype":
                    self.no_operand()
                self.fail_expected("a type")
            node = self.suffixed(primary, token)
        self.height += 2
        if self.height > MAX_PARSED_HEIGHT:
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
        """Parse the type of a parameter; a name before it is skipped."""
        if self.is_label():
            self.position += 2
        return self.type()

    def struct_type(self) -> Expression:
        """Parse a struct or union type, with the word before it that gives its layout in memory."""
        kinds = self.kinds
        token = self.position
        layout = "" if kinds[token] in STRUCT_KINDS else self.texts[token]
        keyword = kinds[token + 1] if layout else kinds[token]
        if keyword not in STRUCT_KINDS:
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


_TYPE_CONSTRUCTORS: dict[str, Callable[[Types], Expression]] = {
    "*": Types.pointer_type,
    "[": Types.array_type,
    "fn": Types.function_type,
    "task": Types.function_type,
    "if": Types.if_type,
    "switch": lambda parser: parser.switch(),
    "comptime": Types.comptime_type,
}
