# pyright: strict
# ruff: noqa: RUF023  (slots stand in the order in which they are written, which `fields` repeats)
"""The tree of a CSL file, as it was written: nothing is resolved, evaluated or checked here.

Every node has `start` and `end`, character offsets into the text of its file. Parentheses are not nodes; their
characters belong to no node but the enclosing one. Types are expressions, as in the language: `i16` is a `Name`.
Nodes compare by identity, because CSL tells types apart by the place where they were written; `equal` compares
trees. No tree that the parser returns is higher than `MAXIMUM_HEIGHT`, so a walk over it may be recursive.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, TypeAlias

from .source import Source

MAXIMUM_HEIGHT = 300


class Node:
    """A piece of the text from offset `start` up to `end`.

    `fields` names the attributes that say what was written, in order; the other slots say where.
    """

    __slots__ = ("end", "start")
    fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        slots: tuple[str, ...] = cls.__dict__["__slots__"]
        cls.fields = tuple(name for name in slots if not name.endswith("_start"))

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return _shown(self, 0)


class Expression(Node):
    """Anything that yields a value, `void` included."""

    __slots__ = ()


# Literals and names


class Integer(Expression):
    """`12`, `0xff`, `0b1`, `'a'`: `text` is how it was written, or empty."""

    __slots__ = ("value", "text")

    def __init__(self, start: int, end: int, value: int, text: str = "") -> None:
        self.start = start
        self.end = end
        self.value = value
        self.text = text


class Float(Expression):
    """`1.5`: `text` is how it was written, or empty."""

    __slots__ = ("value", "text")

    def __init__(self, start: int, end: int, value: float, text: str = "") -> None:
        self.start = start
        self.end = end
        self.value = value
        self.text = text


class String(Expression):
    """`"text"`: CSL strings are bytes; text outside escapes is UTF-8."""

    __slots__ = ("value",)

    def __init__(self, start: int, end: int, value: bytes) -> None:
        self.start = start
        self.end = end
        self.value = value


class Name(Expression):
    """An identifier in use: a variable, a type, `true`, `_`."""

    __slots__ = ("name",)

    def __init__(self, start: int, end: int, name: str) -> None:
        self.start = start
        self.end = end
        self.name = name


# Operators and suffixes


class Builtin(Expression):
    """`@name(arguments)`; `name` is without the `@`."""

    __slots__ = ("name", "arguments")

    def __init__(self, start: int, end: int, name: str, arguments: list[Expression]) -> None:
        self.start = start
        self.end = end
        self.name = name
        self.arguments = arguments


class Call(Expression):
    """`function(arguments)`."""

    __slots__ = ("function", "arguments")

    def __init__(self, start: int, end: int, function: Expression, arguments: list[Expression]) -> None:
        self.start = start
        self.end = end
        self.function = function
        self.arguments = arguments


class Index(Expression):
    """`base[indices]`."""

    __slots__ = ("base", "indices")

    def __init__(self, start: int, end: int, base: Expression, indices: list[Expression]) -> None:
        self.start = start
        self.end = end
        self.base = base
        self.indices = indices


class Field(Expression):
    """`base.name`."""

    __slots__ = ("base", "name", "name_start")

    def __init__(self, start: int, end: int, base: Expression, name: str, name_start: int) -> None:
        self.start = start
        self.end = end
        self.base = base
        self.name = name
        self.name_start = name_start


class Dereference(Expression):
    """`pointer.*`."""

    __slots__ = ("pointer",)

    def __init__(self, start: int, end: int, pointer: Expression) -> None:
        self.start = start
        self.end = end
        self.pointer = pointer


class Unary(Expression):
    """`-x`, `!x`, `~x`, `&x`."""

    __slots__ = ("operator", "operand")

    def __init__(self, start: int, end: int, operator: str, operand: Expression) -> None:
        self.start = start
        self.end = end
        self.operator = operator
        self.operand = operand


class Binary(Expression):
    """`left operator right`."""

    __slots__ = ("operator", "left", "right", "operator_start")

    def __init__(
        self, start: int, end: int, operator: str, left: Expression, right: Expression, operator_start: int
    ) -> None:
        self.start = start
        self.end = end
        self.operator = operator
        self.left = left
        self.right = right
        self.operator_start = operator_start


# Values of structs, tuples and arrays


class FieldValue(Node):
    """`.name = value` between the braces of an aggregate."""

    __slots__ = ("name", "value")

    def __init__(self, start: int, end: int, name: str, value: Expression) -> None:
        self.start = start
        self.end = end
        self.name = name
        self.value = value


class Aggregate(Expression):
    """`.{ .a = 1 }`, `.{ 1, 2 }`, `point { .x = 1 }`, `[2]i16 { 1, 2 }`.

    `type` is None after a dot. Of `members` and `elements` at most one has members.
    """

    __slots__ = ("type", "members", "elements")

    def __init__(
        self, start: int, end: int, type: Expression | None, members: list[FieldValue], elements: list[Expression]
    ) -> None:
        self.start = start
        self.end = end
        self.type = type
        self.members = members
        self.elements = elements


class TensorAccess(Expression):
    """`|i, j|{4, 5} -> base[i, j + 1]`."""

    __slots__ = ("variables", "extents", "base", "indices")

    def __init__(
        self,
        start: int,
        end: int,
        variables: list[Name],
        extents: list[Expression],
        base: Expression,
        indices: list[Expression],
    ) -> None:
        self.start = start
        self.end = end
        self.variables = variables
        self.extents = extents
        self.base = base
        self.indices = indices


# Types


class PointerType(Expression):
    """`*T`, `*const T`."""

    __slots__ = ("is_const", "pointee")

    def __init__(self, start: int, end: int, is_const: bool, pointee: Expression) -> None:
        self.start = start
        self.end = end
        self.is_const = is_const
        self.pointee = pointee


class ManyPointerType(Expression):
    """`[*]T`, `[*]const T`: a pointer to an unknown number of elements."""

    __slots__ = ("is_const", "element")

    def __init__(self, start: int, end: int, is_const: bool, element: Expression) -> None:
        self.start = start
        self.end = end
        self.is_const = is_const
        self.element = element


class ArrayType(Expression):
    """`[n, m]T`."""

    __slots__ = ("dimensions", "element")

    def __init__(self, start: int, end: int, dimensions: list[Expression], element: Expression) -> None:
        self.start = start
        self.end = end
        self.dimensions = dimensions
        self.element = element


class FunctionType(Expression):
    """`fn(i16, f32) void`, `task() void`."""

    __slots__ = ("keyword", "parameters", "result")

    def __init__(self, start: int, end: int, keyword: str, parameters: list[Expression], result: Expression) -> None:
        self.start = start
        self.end = end
        self.keyword = keyword
        self.parameters = parameters
        self.result = result


class FieldDeclaration(Node):
    """`name: type` in a struct or union type."""

    __slots__ = ("name", "type")

    def __init__(self, start: int, end: int, name: str, type: Expression) -> None:
        self.start = start
        self.end = end
        self.name = name
        self.type = type


class StructType(Expression):
    """`struct { a: i16, b: f32 }`, or a `union`: a new type at each place in the text.

    `layout` is the word before it, `extern` or `packed`, or empty.
    """

    __slots__ = ("layout", "keyword", "members")

    def __init__(self, start: int, end: int, layout: str, keyword: str, members: list[FieldDeclaration]) -> None:
        self.start = start
        self.end = end
        self.layout = layout
        self.keyword = keyword
        self.members = members


class EnumMember(Node):
    """`name` or `name = value` in an enum type."""

    __slots__ = ("name", "value")

    def __init__(self, start: int, end: int, name: str, value: Expression | None) -> None:
        self.start = start
        self.end = end
        self.name = name
        self.value = value


class EnumType(Expression):
    """`enum(u16) { a, b = 4 }`; `underlying` is None where the parentheses are left out."""

    __slots__ = ("underlying", "members")

    def __init__(self, start: int, end: int, underlying: Expression | None, members: list[EnumMember]) -> None:
        self.start = start
        self.end = end
        self.underlying = underlying
        self.members = members


class AnyType(Expression):
    """`anytype`, only ever the type of a parameter."""

    __slots__ = ()


# Control flow: all of it may stand where an expression does, except the loops.


class Block(Expression):
    """`{ ... }`, `label: { ... }`; `{}` is the void value."""

    __slots__ = ("label", "statements")

    def __init__(self, start: int, end: int, label: str | None, statements: list[Statement]) -> None:
        self.start = start
        self.end = end
        self.label = label
        self.statements = statements


class IfBranch(Node):
    """`if (condition) body`, one link of a chain."""

    __slots__ = ("condition", "body")

    def __init__(self, start: int, end: int, condition: Expression, body: Statement) -> None:
        self.start = start
        self.end = end
        self.condition = condition
        self.body = body


class If(Expression):
    """`if (a) x else if (b) y else z`: the whole chain is one node, with `otherwise` its last `else`.

    As a statement its bodies are statements, within an expression they are expressions.
    """

    __slots__ = ("branches", "otherwise")

    def __init__(self, start: int, end: int, branches: list[IfBranch], otherwise: Statement | None) -> None:
        self.start = start
        self.end = end
        self.branches = branches
        self.otherwise = otherwise


class SwitchBranch(Node):
    """`1, 2 => body`; `values` is empty for `else => body`."""

    __slots__ = ("values", "body")

    def __init__(self, start: int, end: int, values: list[Expression], body: Statement) -> None:
        self.start = start
        self.end = end
        self.values = values
        self.body = body


class Switch(Expression):
    """`switch (subject) { branches }`."""

    __slots__ = ("subject", "branches")

    def __init__(self, start: int, end: int, subject: Expression, branches: list[SwitchBranch]) -> None:
        self.start = start
        self.end = end
        self.subject = subject
        self.branches = branches


class Return(Expression):
    """`return`, `return value`."""

    __slots__ = ("value",)

    def __init__(self, start: int, end: int, value: Expression | None) -> None:
        self.start = start
        self.end = end
        self.value = value


class Break(Expression):
    """`break`, `break :label`, `break :label value`."""

    __slots__ = ("label", "value")

    def __init__(self, start: int, end: int, label: str | None, value: Expression | None) -> None:
        self.start = start
        self.end = end
        self.label = label
        self.value = value


class Continue(Expression):
    """`continue`, `continue :label`."""

    __slots__ = ("label",)

    def __init__(self, start: int, end: int, label: str | None) -> None:
        self.start = start
        self.end = end
        self.label = label


class Comptime(Expression):
    """`comptime operand`: evaluated while compiling. As a statement the operand may be a loop or an assignment."""

    __slots__ = ("operand",)

    def __init__(self, start: int, end: int, operand: Statement) -> None:
        self.start = start
        self.end = end
        self.operand = operand


class AsmOperand(Node):
    """`[name] "constraint" (expression)`."""

    __slots__ = ("name", "constraint", "expression")

    def __init__(self, start: int, end: int, name: str, constraint: String, expression: Expression) -> None:
        self.start = start
        self.end = end
        self.name = name
        self.constraint = constraint
        self.expression = expression


class Asm(Expression):
    """`asm volatile (code : outputs : inputs : clobbers)`."""

    __slots__ = ("is_volatile", "code", "outputs", "inputs", "clobbers")

    def __init__(
        self,
        start: int,
        end: int,
        is_volatile: bool,
        code: Expression,
        outputs: list[AsmOperand],
        inputs: list[AsmOperand],
        clobbers: list[String],
    ) -> None:
        self.start = start
        self.end = end
        self.is_volatile = is_volatile
        self.code = code
        self.outputs = outputs
        self.inputs = inputs
        self.clobbers = clobbers


# Statements that are not expressions


class Assign(Node):
    """`target = value`, `target += value`; `operator` is as written, `target` may be the name `_`."""

    __slots__ = ("operator", "target", "value")

    def __init__(self, start: int, end: int, operator: str, target: Expression, value: Expression) -> None:
        self.start = start
        self.end = end
        self.operator = operator
        self.target = target
        self.value = value


class For(Node):
    """`label: for (iterable) |element, index| body`."""

    __slots__ = ("label", "iterable", "element", "index", "body")

    def __init__(
        self,
        start: int,
        end: int,
        label: str | None,
        iterable: Expression,
        element: Name,
        index: Name | None,
        body: Statement,
    ) -> None:
        self.start = start
        self.end = end
        self.label = label
        self.iterable = iterable
        self.element = element
        self.index = index
        self.body = body


class While(Node):
    """`label: while (condition) : (update) body`."""

    __slots__ = ("label", "condition", "update", "body")

    def __init__(
        self,
        start: int,
        end: int,
        label: str | None,
        condition: Expression,
        update: Assign | Expression | None,
        body: Statement,
    ) -> None:
        self.start = start
        self.end = end
        self.label = label
        self.condition = condition
        self.update = update
        self.body = body


# Declarations


class Variable(Node):
    """`const name: type align(n) linksection(s) linkname(s) = value;`, likewise `var` and `param`.

    `storage` is "export", "extern" or empty.
    """

    __slots__ = (
        "kind",
        "name",
        "type",
        "value",
        "storage",
        "is_comptime",
        "alignment",
        "link_section",
        "link_name",
        "name_start",
    )

    def __init__(
        self,
        start: int,
        end: int,
        kind: str,
        name: str,
        type: Expression | None,
        value: Expression | None,
        storage: str = "",
        is_comptime: bool = False,
        alignment: Expression | None = None,
        link_section: Expression | None = None,
        link_name: Expression | None = None,
        name_start: int = 0,
    ) -> None:
        self.start = start
        self.end = end
        self.kind = kind
        self.name = name
        self.type = type
        self.value = value
        self.storage = storage
        self.is_comptime = is_comptime
        self.alignment = alignment
        self.link_section = link_section
        self.link_name = link_name
        self.name_start = name_start


class Parameter(Node):
    """`name: type`, `comptime name: type`, `name: anytype`; `name` is None in an `extern fn` that gives types only."""

    __slots__ = ("name", "type", "is_comptime")

    def __init__(self, start: int, end: int, name: str | None, type: Expression, is_comptime: bool) -> None:
        self.start = start
        self.end = end
        self.name = name
        self.type = type
        self.is_comptime = is_comptime


class Function(Node):
    """`fn name(parameters) result { ... }`, likewise `task`; `body` is None for an `extern fn`.

    `storage` is "export", "extern" or empty, `inlining` "inline", "noinline" or empty. `result` is None where it is
    left out, which the language reference's examples do once, for an exported function.
    """

    __slots__ = (
        "keyword",
        "name",
        "parameters",
        "result",
        "body",
        "storage",
        "inlining",
        "alignment",
        "link_section",
        "link_name",
        "name_start",
    )

    def __init__(
        self,
        start: int,
        end: int,
        keyword: str,
        name: str,
        parameters: list[Parameter],
        result: Expression | None,
        body: Block | None,
        storage: str = "",
        inlining: str = "",
        alignment: Expression | None = None,
        link_section: Expression | None = None,
        link_name: Expression | None = None,
        name_start: int = 0,
    ) -> None:
        self.start = start
        self.end = end
        self.keyword = keyword
        self.name = name
        self.parameters = parameters
        self.result = result
        self.body = body
        self.storage = storage
        self.inlining = inlining
        self.alignment = alignment
        self.link_section = link_section
        self.link_name = link_name
        self.name_start = name_start


class ComptimeBlock(Node):
    """`comptime { ... }` outside functions."""

    __slots__ = ("body",)

    def __init__(self, start: int, end: int, body: Block) -> None:
        self.start = start
        self.end = end
        self.body = body


class Layout(Node):
    """`layout { ... }`."""

    __slots__ = ("body",)

    def __init__(self, start: int, end: int, body: Block) -> None:
        self.start = start
        self.end = end
        self.body = body


class File(Node):
    """A whole file."""

    __slots__ = ("declarations", "source")

    def __init__(self, start: int, end: int, declarations: list[Declaration], source: Source) -> None:
        self.start = start
        self.end = end
        self.declarations = declarations
        self.source = source


File.fields = ("declarations",)

Statement: TypeAlias = Expression | Assign | For | While | Variable
Declaration: TypeAlias = Variable | Function | ComptimeBlock | Layout


def _shown(value: object, depth: int) -> str:
    """A node as its constructor would be called without offsets; what lies deep is left out."""
    if isinstance(value, Node):
        fields = [_shown(getattr(value, name), depth + 1) for name in value.fields] if depth < 20 else ["..."]
        return f"{type(value).__name__}({', '.join(fields)})"
    if isinstance(value, list):
        items: list[object] = value  # pyright: ignore[reportUnknownVariableType]
        return f"[{', '.join(_shown(item, depth) for item in items)}]"
    return repr(value)


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below `node`, in the order of `fields`."""
    for name in node.fields:
        value: object = getattr(node, name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, list):
            yield from (item for item in value if isinstance(item, Node))  # pyright: ignore[reportUnknownVariableType]


def walk(node: Node) -> Iterator[Node]:
    """`node` and all nodes below it, each before those below it."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(list(children(node))))


def equal(left: Node, right: Node) -> bool:
    """Whether two trees say the same, wherever they stand in their texts."""
    pending: list[tuple[object, object]] = [(left, right)]
    while pending:
        one, other = pending.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, Node):
            pending.extend((getattr(one, name), getattr(other, name)) for name in one.fields)
        elif isinstance(one, list) and isinstance(other, list):
            members: list[object] = one  # pyright: ignore[reportUnknownVariableType]
            others: list[object] = other  # pyright: ignore[reportUnknownVariableType]
            if len(members) != len(others):
                return False
            pending.extend(zip(members, others, strict=True))
        elif one != other:
            return False
    return True
