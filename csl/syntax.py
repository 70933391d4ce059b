"""Syntax tree of a CSL file as it was written: nothing is resolved, evaluated or checked here.

Every node has `start` and `end`, character offsets into the text of its file. Parentheses are not nodes; their
characters belong to no node but the enclosing one. Types are expressions, as in the language: `i16` is a `Name`.
Nodes compare by identity, because CSL tells types apart by the place where they were written; `equal` compares
trees. No tree that the parser returns is higher than `MAX_HEIGHT`, so within `deep_nesting` a walk over it may be
recursive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from inspect import get_annotations
from typing import ClassVar, TypeAlias, cast

from .source import Source

MAX_HEIGHT = 1500


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """A piece of the text from offset `start` up to `end`.

    `fields` names the attributes that say what was written, in order; the others say where.
    """

    start: int
    end: int
    fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        written = get_annotations(cls)
        cls.fields = tuple(name for name in written if not name.endswith("_start"))

    def __repr__(self) -> str:
        return _shown(self, 0)


class Expression(Node):
    """Anything that yields a value, `void` included."""

    __slots__ = ()


# Literals and names


@dataclass(slots=True, eq=False, repr=False)
class Integer(Expression):
    """`12`, `0xff`, `0b1`, `'a'`: `text` is how it was written, or empty."""

    value: int
    text: str = ""


@dataclass(slots=True, eq=False, repr=False)
class Float(Expression):
    """`1.5`: `text` is how it was written, or empty."""

    value: float
    text: str = ""


@dataclass(slots=True, eq=False, repr=False)
class String(Expression):
    """`"text"`: CSL strings are bytes; text outside escapes is UTF-8."""

    value: bytes


@dataclass(slots=True, eq=False, repr=False)
class Name(Expression):
    """An identifier in use: a variable, a type, `true`, `_`."""

    name: str


# Operators and suffixes


@dataclass(slots=True, eq=False, repr=False)
class Builtin(Expression):
    """`@name(arguments)`; `name` is without the `@`."""

    name: str
    arguments: list[Expression]


@dataclass(slots=True, eq=False, repr=False)
class Call(Expression):
    """`function(arguments)`."""

    function: Expression
    arguments: list[Expression]


@dataclass(slots=True, eq=False, repr=False)
class Index(Expression):
    """`base[indices]`."""

    base: Expression
    indices: list[Expression]


@dataclass(slots=True, eq=False, repr=False)
class Field(Expression):
    """`base.name`."""

    base: Expression
    name: str
    name_start: int


@dataclass(slots=True, eq=False, repr=False)
class Dereference(Expression):
    """`pointer.*`."""

    pointer: Expression


@dataclass(slots=True, eq=False, repr=False)
class Unary(Expression):
    """`-x`, `!x`, `~x`, `&x`."""

    operator: str
    operand: Expression


@dataclass(slots=True, eq=False, repr=False)
class Binary(Expression):
    """`left operator right`."""

    operator: str
    left: Expression
    right: Expression
    operator_start: int


# Values of structs, tuples and arrays


@dataclass(slots=True, eq=False, repr=False)
class FieldValue(Node):
    """`.name = value` between the braces of an aggregate."""

    name: str
    value: Expression


@dataclass(slots=True, eq=False, repr=False)
class Aggregate(Expression):
    """`.{ .a = 1 }`, `.{ 1, 2 }`, `point { .x = 1 }`, `[2]i16 { 1, 2 }`.

    `type` is None after a dot. Of `members` and `elements` at most one has members.
    """

    type: Expression | None
    members: list[FieldValue]
    elements: list[Expression]


@dataclass(slots=True, eq=False, repr=False)
class TensorAccess(Expression):
    """`|i, j|{4, 5} -> base[i, j + 1]`."""

    variables: list[Name]
    extents: list[Expression]
    base: Expression
    indices: list[Expression]


# Types


@dataclass(slots=True, eq=False, repr=False)
class PointerType(Expression):
    """`*T`, `*const T`."""

    is_const: bool
    pointee: Expression


@dataclass(slots=True, eq=False, repr=False)
class ManyPointerType(Expression):
    """`[*]T`, `[*]const T`: a pointer to an unknown number of elements."""

    is_const: bool
    element: Expression


@dataclass(slots=True, eq=False, repr=False)
class ArrayType(Expression):
    """`[n, m]T`."""

    dimensions: list[Expression]
    element: Expression


@dataclass(slots=True, eq=False, repr=False)
class FunctionType(Expression):
    """`fn(i16, f32) void`, `task() void`."""

    keyword: str
    parameters: list[Expression]
    result: Expression


@dataclass(slots=True, eq=False, repr=False)
class FieldDeclaration(Node):
    """`name: type` in a struct or union type."""

    name: str
    type: Expression


@dataclass(slots=True, eq=False, repr=False)
class StructType(Expression):
    """`struct { a: i16, b: f32 }`, or a `union`: a new type at each place in the text.

    `layout` is the word before it, `extern` or `packed`, or empty.
    """

    layout: str
    keyword: str
    members: list[FieldDeclaration]


@dataclass(slots=True, eq=False, repr=False)
class EnumMember(Node):
    """`name` or `name = value` in an enum type."""

    name: str
    value: Expression | None


@dataclass(slots=True, eq=False, repr=False)
class EnumType(Expression):
    """`enum(u16) { a, b = 4 }`; `underlying` is None where the parentheses are left out."""

    underlying: Expression | None
    members: list[EnumMember]


class AnyType(Expression):
    """`anytype`, only ever the type of a parameter."""

    __slots__ = ()


# Control flow: all of it may be used as an expression, except the loops.


@dataclass(slots=True, eq=False, repr=False)
class Block(Expression):
    """`{ ... }`, `label: { ... }`; `{}` is the void value."""

    label: str | None
    statements: list[Statement]


@dataclass(slots=True, eq=False, repr=False)
class IfBranch(Node):
    """`if (condition) body`, one link of a chain."""

    condition: Expression
    body: Statement


@dataclass(slots=True, eq=False, repr=False)
class If(Expression):
    """`if (a) x else if (b) y else z`: the whole chain is one node, with `otherwise` its last `else`.

    As a statement its bodies are statements, within an expression they are expressions.
    """

    branches: list[IfBranch]
    otherwise: Statement | None


@dataclass(slots=True, eq=False, repr=False)
class SwitchBranch(Node):
    """`1, 2 => body`; `values` is empty for `else => body`."""

    values: list[Expression]
    body: Statement


@dataclass(slots=True, eq=False, repr=False)
class Switch(Expression):
    """`switch (subject) { branches }`."""

    subject: Expression
    branches: list[SwitchBranch]


@dataclass(slots=True, eq=False, repr=False)
class Return(Expression):
    """`return`, `return value`."""

    value: Expression | None


@dataclass(slots=True, eq=False, repr=False)
class Break(Expression):
    """`break`, `break :label`, `break :label value`."""

    label: str | None
    value: Expression | None


@dataclass(slots=True, eq=False, repr=False)
class Continue(Expression):
    """`continue`, `continue :label`."""

    label: str | None


@dataclass(slots=True, eq=False, repr=False)
class Comptime(Expression):
    """`comptime operand`: evaluated while compiling. As a statement the operand may be a loop or an assignment."""

    operand: Statement


@dataclass(slots=True, eq=False, repr=False)
class AsmOperand(Node):
    """`[name] "constraint" (expression)`."""

    name: str
    constraint: String
    expression: Expression


@dataclass(slots=True, eq=False, repr=False)
class Asm(Expression):
    """`asm volatile (code : outputs : inputs : clobbers)`."""

    is_volatile: bool
    code: Expression
    outputs: list[AsmOperand]
    inputs: list[AsmOperand]
    clobbers: list[String]


# Statements that are not expressions


@dataclass(slots=True, eq=False, repr=False)
class Assign(Node):
    """`target = value`, `target += value`; `operator` is as written, `target` may be the name `_`."""

    operator: str
    target: Expression
    value: Expression


@dataclass(slots=True, eq=False, repr=False)
class For(Node):
    """`label: inline for (iterable) |element, index| body`."""

    label: str | None
    iterable: Expression
    element: Name
    index: Name | None
    body: Statement
    is_inline: bool = False
    """True if its iterations are repeated one after the other at compile time."""


@dataclass(slots=True, eq=False, repr=False)
class While(Node):
    """`label: while (condition) : (update) body`."""

    label: str | None
    condition: Expression
    update: Assign | Expression | None
    body: Statement


# Declarations


@dataclass(slots=True, eq=False, repr=False)
class Variable(Node):
    """`const name: type align(n) linksection(s) linkname(s) = value;`, likewise `var` and `param`.

    `storage` is "export", "extern" or empty.
    """

    kind: str
    name: str
    type: Expression | None
    value: Expression | None
    storage: str = ""
    is_comptime: bool = False
    alignment: Expression | None = None
    link_section: Expression | None = None
    link_name: Expression | None = None
    name_start: int = 0


@dataclass(slots=True, eq=False, repr=False)
class Parameter(Node):
    """`name: type`, `comptime name: type`, `name: anytype`; `name` is None in an `extern fn` that gives types only."""

    name: str | None
    type: Expression
    is_comptime: bool


@dataclass(slots=True, eq=False, repr=False)
class Function(Node):
    """`fn name(parameters) result { ... }`, likewise `task`; `body` is None for an `extern fn`.

    `storage` is "export", "extern" or empty, `inlining` "inline", "noinline" or empty. `result` is None where it is
    left out, which the language reference's examples do once, for an exported function.
    """

    keyword: str
    name: str
    parameters: list[Parameter]
    result: Expression | None
    body: Block | None
    storage: str = ""
    inlining: str = ""
    alignment: Expression | None = None
    link_section: Expression | None = None
    link_name: Expression | None = None
    name_start: int = 0


@dataclass(slots=True, eq=False, repr=False)
class ComptimeBlock(Node):
    """`comptime { ... }` outside functions."""

    body: Block


@dataclass(slots=True, eq=False, repr=False)
class Layout(Node):
    """`layout { ... }`."""

    body: Block


@dataclass(slots=True, eq=False, repr=False)
class File(Node):
    """A whole file."""

    declarations: list[Declaration]
    source: Source


File.fields = ("declarations",)

Statement: TypeAlias = Expression | Assign | For | While | Variable
Declaration: TypeAlias = Variable | Function | ComptimeBlock | Layout


def _shown(value: object, depth: int) -> str:
    """Return a node as its constructor call without offsets, down to a limited depth."""
    if isinstance(value, Node):
        fields = [_shown(getattr(value, name), depth + 1) for name in value.fields] if depth < 20 else ["..."]
        return f"{type(value).__name__}({', '.join(fields)})"
    if isinstance(value, list):
        return f"[{', '.join(_shown(item, depth) for item in cast('list[object]', value))}]"
    return repr(value)


def children(node: Node) -> Iterator[Node]:
    """Yield the children of `node`, in the order of `fields`."""
    for name in node.fields:
        value: object = getattr(node, name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, list):
            yield from (item for item in cast("list[object]", value) if isinstance(item, Node))


def walk(node: Node) -> Iterator[Node]:
    """Yield `node` and all its descendants in preorder."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(list(children(node))))


def equal(left: Node, right: Node) -> bool:
    """Return True if two trees are equal but for their offsets."""
    pending: list[tuple[object, object]] = [(left, right)]
    while pending:
        one, other = pending.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, Node):
            pending.extend((getattr(one, name), getattr(other, name)) for name in one.fields)
        elif isinstance(one, list) and isinstance(other, list):
            members, others = cast("list[object]", one), cast("list[object]", other)
            if len(members) != len(others):
                return False
            pending.extend(zip(members, others, strict=True))
        elif one != other:
            return False
    return True
