"""Short forms of syntax trees, and random ones, for the tests of the CSL front end."""

from __future__ import annotations

from hypothesis import strategies as st

from loomir.csl import parse, syntax
from loomir.csl.syntax import (
    Aggregate,
    ArrayType,
    Assign,
    Binary,
    Block,
    Break,
    Builtin,
    Call,
    Comptime,
    ComptimeBlock,
    Continue,
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
    Node,
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
)


def shape(value: object) -> str:
    """Return a tree as nested parentheses: `a + 1` is `(Binary + a 1)`; what is absent is `-`."""
    match value:
        case Name():
            return value.name
        case Integer() | Float():
            return value.text
        case Node():
            return " ".join([f"({type(value).__name__}", *(shape(getattr(value, name)) for name in value.fields)]) + ")"
        case list():
            return f"[{' '.join(map(shape, value))}]"
        case None | "" | False:
            return "-"
        case True:
            return "yes"
        case _:
            return str(value)


def expression(text: str) -> Expression:
    """Return the tree of an expression."""
    (declaration,) = parse(f"const it = {text};", "a.csl").declarations
    assert isinstance(declaration, Variable)
    assert declaration.value is not None
    return declaration.value


def statement(text: str) -> Statement:
    """Return the tree of a statement in a function."""
    (function,) = parse(f"fn f() void {{ {text} }}", "a.csl").declarations
    assert isinstance(function, Function)
    assert function.body is not None
    (node,) = function.body.statements
    return node


# Random trees. Offsets are 0: the trees are printed, never pointed at.

NAMES = st.sampled_from(["a", "b", "u16", "_x", "align", "volatile"])
OPERATORS = ["or", "and", "==", "!=", "<", ">=", "&", "^", "|", "<<", ">>", "+", "-", "*", "/", "%"]
names = NAMES.map(lambda name: Name(0, 0, name))
integers = st.sampled_from(["0", "7", "0xff", "0b1", "1_000", "'a'"]).map(
    lambda text: Integer(0, 0, 97 if text == "'a'" else int(text, 0), text)
)
floats = st.sampled_from(["1.5", "2e8", "0.25"]).map(lambda text: Float(0, 0, float(text), text))
strings = st.binary(max_size=6).map(lambda value: String(0, 0, value))
labels = st.none() | st.sampled_from(["l", "m"])


def operators(operands: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    """Operators and suffixes over `operands`."""
    return st.one_of(
        st.builds(
            lambda operator, left, right: Binary(0, 0, operator, left, right, 0),
            st.sampled_from(OPERATORS),
            operands,
            operands,
        ),
        st.builds(lambda operator, operand: Unary(0, 0, operator, operand), st.sampled_from("-!~&"), operands),
        st.builds(
            lambda function, arguments: Call(0, 0, function, arguments), operands, st.lists(operands, max_size=3)
        ),
        st.builds(
            lambda base, indices: Index(0, 0, base, indices), operands, st.lists(operands, min_size=1, max_size=2)
        ),
        st.builds(lambda base, name: Field(0, 0, base, name, 0), operands, NAMES),
        st.builds(lambda pointer: Dereference(0, 0, pointer), operands),
        st.builds(
            lambda name, arguments: Builtin(0, 0, name, arguments),
            st.sampled_from(["as", "get_dsd"]),
            st.lists(operands, max_size=3),
        ),
    )


def _types(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.one_of(
        st.builds(lambda const, to: PointerType(0, 0, const, to), st.booleans(), inner),
        st.builds(lambda const, to: ManyPointerType(0, 0, const, to), st.booleans(), inner),
        st.builds(lambda sizes, to: ArrayType(0, 0, sizes, to), st.lists(inner, min_size=1, max_size=2), inner),
        st.builds(
            lambda keyword, parameters, result: FunctionType(0, 0, keyword, parameters, result),
            st.sampled_from(["fn", "task"]),
            st.lists(inner, max_size=2),
            inner,
        ),
        st.builds(
            lambda layout, keyword, members: StructType(0, 0, layout, keyword, members),
            st.sampled_from(["", "extern", "packed"]),
            st.sampled_from(["struct", "union"]),
            st.lists(st.builds(lambda name, type: FieldDeclaration(0, 0, name, type), NAMES, inner), max_size=2),
        ),
        st.builds(
            lambda type, members: EnumType(0, 0, type, members),
            st.none() | inner,
            st.lists(
                st.builds(lambda name, value: EnumMember(0, 0, name, value), NAMES, st.none() | inner), max_size=2
            ),
        ),
    )


def _if(branches: list[IfBranch], otherwise: Statement | None) -> If:
    """Build the tree as the parser does: a chain is one node."""
    return (
        If(0, 0, branches + otherwise.branches, otherwise.otherwise)
        if isinstance(otherwise, If)
        else If(0, 0, branches, otherwise)
    )


def _values(
    inner: st.SearchStrategy[Expression], statements: st.SearchStrategy[Statement]
) -> st.SearchStrategy[Expression]:
    branch = st.builds(lambda condition, body: IfBranch(0, 0, condition, body), inner, inner)
    members = st.lists(st.builds(lambda name, value: FieldValue(0, 0, name, value), NAMES, inner), max_size=2)
    elements = st.lists(inner, max_size=2)
    types = st.none() | inner.filter(lambda node: not isinstance(node, Integer | Float | String))
    case = st.builds(
        lambda values, body: SwitchBranch(0, 0, values, body), st.lists(inner, max_size=2), inner | assignments(inner)
    )
    return st.one_of(
        st.builds(lambda type, members: Aggregate(0, 0, type, members, []), types, members),
        st.builds(lambda type, elements: Aggregate(0, 0, type, [], elements), types, elements),
        st.builds(_if, st.lists(branch, min_size=1, max_size=2), st.none() | inner),
        st.builds(lambda subject, cases: Switch(0, 0, subject, cases), inner, st.lists(case, min_size=1, max_size=2)),
        st.builds(lambda value: Return(0, 0, value), st.none() | inner),
        st.builds(lambda label, value: Break(0, 0, label, value if label else None), labels, st.none() | inner),
        st.builds(lambda label: Continue(0, 0, label), labels),
        st.builds(lambda operand: Comptime(0, 0, operand), inner),
        st.builds(
            lambda variables, extents, base, indices: TensorAccess(0, 0, variables, extents, base, indices),
            st.lists(names, min_size=1, max_size=2),
            st.lists(inner, min_size=1, max_size=2),
            inner,
            st.lists(inner, min_size=1, max_size=2),
        ),
        st.builds(lambda label, body: Block(0, 0, label, body), labels, st.lists(statements, max_size=2)),
    )


def assignments(values: st.SearchStrategy[Expression]) -> st.SearchStrategy[Assign]:
    return st.builds(
        lambda operator, target, value: Assign(0, 0, operator, target, value),
        st.sampled_from(["=", "+=", "<<=", "|="]),
        names | st.builds(lambda base, name: Field(0, 0, base, name, 0), names, NAMES),
        values,
    )


def _is_open(node: Node) -> bool:
    """Return True if the statement ends in an `if` without `else`, which would take an `else` that follows it."""
    match node:
        case If():
            return node.otherwise is None or _is_open(node.otherwise)
        case For() | While():
            return _is_open(node.body)
        case Comptime():
            return _is_open(node.operand)
        case _:
            return False


def _statements(
    inner: st.SearchStrategy[Expression], bodies: st.SearchStrategy[Statement]
) -> st.SearchStrategy[Statement]:
    governed = bodies.filter(lambda node: not isinstance(node, Variable))
    branch = st.builds(
        lambda condition, body: IfBranch(0, 0, condition, body), inner, governed.filter(lambda node: not _is_open(node))
    )
    return st.one_of(
        assignments(inner),
        st.builds(lambda name, arguments: Builtin(0, 0, name, arguments), NAMES, st.lists(inner, max_size=2)),
        st.builds(lambda value: Return(0, 0, value), st.none() | inner),
        st.builds(_if, st.lists(branch, min_size=1, max_size=2), st.none() | governed),
        st.builds(
            lambda label, iterable, element, index, body, is_inline: For(
                0, 0, label, iterable, element, index, body, is_inline
            ),
            labels,
            inner,
            names,
            st.none() | names,
            bodies,
            st.booleans(),
        ),
        st.builds(
            lambda label, condition, update, body: While(0, 0, label, condition, update, body),
            labels,
            inner,
            st.none() | assignments(inner),
            bodies,
        ),
        st.builds(lambda body: Block(0, 0, "l", body), st.lists(bodies, max_size=2)),
        st.builds(lambda operand: Comptime(0, 0, operand), governed),
        st.builds(
            lambda kind, name, type, value, comptime: Variable(0, 0, kind, name, type, value, is_comptime=comptime),
            st.sampled_from(["const", "var"]),
            NAMES,
            st.none() | inner,
            inner,
            st.booleans(),
        ),
    )


def _grow(
    leaves: st.SearchStrategy[Expression], levels: int
) -> tuple[st.SearchStrategy[Expression], st.SearchStrategy[Statement]]:
    expressions = leaves
    statements: st.SearchStrategy[Statement] = assignments(leaves)
    for _ in range(levels):
        deeper = leaves | operators(expressions) | _types(expressions) | _values(expressions, statements)
        statements = assignments(deeper) | _statements(deeper, statements)
        expressions = deeper
    return expressions, statements


atoms: st.SearchStrategy[Expression] = names | integers | floats | strings
expressions, statements = _grow(atoms, 2)

_parameters = st.lists(
    st.builds(
        lambda name, type, comptime: Parameter(0, 0, name, type, comptime),
        NAMES,
        expressions | st.just(syntax.AnyType(0, 0)),
        st.booleans(),
    ),
    max_size=2,
)
_blocks = st.builds(lambda body: Block(0, 0, None, body), st.lists(statements, max_size=3))
declarations: st.SearchStrategy[syntax.Declaration] = st.one_of(
    st.builds(
        lambda kind, name, type, value, storage, align, section, link: Variable(
            0, 0, kind, name, type, value, storage, False, align, section, link
        ),
        st.sampled_from(["const", "var"]),
        NAMES,
        st.none() | expressions,
        expressions,
        st.sampled_from(["", "export"]),
        *[st.none() | atoms] * 3,
    ),
    st.builds(
        lambda keyword, name, parameters, result, body, inlining, link: Function(
            0, 0, keyword, name, parameters, result, body, "", inlining, None, None, link
        ),
        st.sampled_from(["fn", "task"]),
        NAMES,
        _parameters,
        st.none() | expressions,
        _blocks,
        st.sampled_from(["", "inline", "noinline"]),
        st.none() | atoms,
    ),
    st.builds(
        lambda name, parameters, result: Function(0, 0, "fn", name, parameters, result, None, "extern"),
        NAMES,
        _parameters,
        expressions,
    ),
    st.builds(lambda body: ComptimeBlock(0, 0, body), _blocks),
    st.builds(lambda body: Layout(0, 0, body), _blocks),
)


def file_of(nodes: list[syntax.Declaration]) -> File:
    return File(0, 0, nodes, parse("", "a.csl").source)
