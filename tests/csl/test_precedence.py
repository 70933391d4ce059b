"""Operators bind as the table of the grammar says, whether parentheses say so too or not."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.csl import syntax
from loomir.csl.printer import print_expression
from loomir.csl.syntax import Binary, Builtin, Call, Dereference, Expression, Field, Index, Integer, Name, String, Unary

from ..searches import examples
from .csl_trees import atoms, expression, operators

# From the tightest to the loosest; written out again, not taken from the parser.
LEVELS = [
    ["*", "/", "%"],
    ["+", "-"],
    ["<<", ">>"],
    ["&", "^", "|"],
    ["==", "!=", "<", ">", "<=", ">="],
    ["and"],
    ["or"],
]
BINDING = {operator: -number for number, level in enumerate(LEVELS) for operator in level}
PREFIX, SUFFIX = 1, 2

operations = st.recursive(atoms, operators, max_leaves=12)


def binding(node: Expression) -> int:
    match node:
        case Binary():
            return BINDING[node.operator]
        case Unary():
            return PREFIX
        case _:
            return SUFFIX


def written(node: Expression, draw_redundant: st.DataObject | None, fully: bool) -> str:
    """Return the expression as text: with all parentheses, or with those needed and others that hypothesis chooses."""

    def inner(child: Expression, least: int) -> str:
        text = written(child, draw_redundant, fully)
        needed = binding(child) < least
        more = fully or (draw_redundant is not None and draw_redundant.draw(st.booleans()))
        return f"({text})" if needed or more else text

    def listed(children: list[Expression]) -> str:
        return ", ".join(inner(child, -100) for child in children)

    match node:
        case Binary():
            level = BINDING[node.operator]
            does_chain = node.operator not in LEVELS[4]
            # A space on each side, so that `a - -b` and `a & &b` stay two operators.
            return (
                f"{inner(node.left, level if does_chain else level + 1)} {node.operator} {inner(node.right, level + 1)}"
            )
        case Unary():
            return f"{node.operator} {inner(node.operand, PREFIX)}"
        case Call():
            return f"{inner(node.function, SUFFIX)}({listed(node.arguments)})"
        case Index():
            return f"{inner(node.base, SUFFIX)}[{listed(node.indices)}]"
        case Field():
            return f"{inner(node.base, SUFFIX)} .{node.name}"
        case Dereference():
            return f"{inner(node.pointer, SUFFIX)} .*"
        case Builtin():
            return f"@{node.name}({listed(node.arguments)})"
        case Name():
            return node.name
        case Integer() | syntax.Float():
            return node.text
        case String():
            return '"' + "".join(f"\\x{byte:02x}" for byte in node.value) + '"'
        case _:
            raise AssertionError(node)


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(operations, st.data())
def test_redundant_parentheses_change_nothing(node: Expression, data: st.DataObject) -> None:
    for text in (written(node, None, True), written(node, None, False), written(node, data, False)):
        assert syntax.equal(expression(text), node), text


@settings(max_examples=examples(100))
@given(operations)
def test_the_printer_writes_only_parentheses_that_are_needed(node: Expression) -> None:
    text = print_expression(node)
    assert syntax.equal(expression(text), node)
    assert parentheses(text) == parentheses(written(node, None, False))


def parentheses(text: str) -> int:
    return re.sub(r'"([^"\\]|\\.)*"', "", text).count("(")


def test_every_two_operators_bind_as_the_table_says() -> None:
    for first, tighter in BINDING.items():
        for second, other in BINDING.items():
            if first in LEVELS[4] and second in LEVELS[4]:
                continue
            tree = expression(f"a {first} b {second} c")
            left_first = tighter >= other
            expected = f"(a {first} b) {second} c" if left_first else f"a {first} (b {second} c)"
            assert syntax.equal(tree, expression(expected)), expected
