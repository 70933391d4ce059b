"""Loops and conditions over regions, executed, against the PEs that the regions hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from operator import add, and_, eq, ge, le, mod, or_

from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.backend.csl import tree
from loomir.backend.csl.regions import Rectangle, covers, inside, meet, over
from loomir.csl import syntax
from loomir.csl.syntax import Expression, Statement

from ...searches import examples

OPERATORS = {"==": eq, ">=": ge, "<=": le, "%": mod, "+": add, "and": and_, "or": or_}
SIDE = 7


def evaluate(node: Expression, names: Mapping[str, int]) -> int:
    match node:
        case syntax.Integer():
            return node.value
        case syntax.Name(name="true" | "false"):
            return node.name == "true"
        case syntax.Name():
            return names[node.name]
        case syntax.Unary(operator="!"):
            return not evaluate(node.operand, names)
        case syntax.Binary():
            return OPERATORS[node.operator](evaluate(node.left, names), evaluate(node.right, names))
        case _:
            raise AssertionError(node)


def execute(statements: list[Statement], names: Mapping[str, int], visited: list[tuple[int, int]]) -> None:
    """Run loops and branches; `@visit(x, y)` notes its arguments."""
    for statement in statements:
        match statement:
            case syntax.For(iterable=syntax.Builtin(name="range", arguments=[_, *bounds]), body=syntax.Block() as body):
                numbers = [evaluate(bound, names) for bound in bounds]
                for index in range(*numbers):
                    execute(body.statements, {**names, statement.element.name: index}, visited)
            case syntax.If(branches=[syntax.IfBranch(condition=condition, body=syntax.Block() as body)]):
                if evaluate(condition, names):
                    execute(body.statements, names, visited)
            case syntax.Builtin(name="visit", arguments=[x, y]):
                visited.append((evaluate(x, names), evaluate(y, names)))
            case _:
                raise AssertionError(statement)


def pes(region: Rectangle) -> set[tuple[int, int]]:
    return {(x, y) for x in region[0] for y in region[1]}


@st.composite
def ranges(draw) -> range:
    start = draw(st.integers(0, SIDE - 1))
    return range(start, draw(st.integers(start + 1, SIDE)), draw(st.integers(1, 4)))


regions = st.tuples(ranges(), ranges())


@settings(max_examples=examples(150), derandomize=True)
@given(st.lists(regions, min_size=1, max_size=4))
def test_each_pe_of_overlapping_regions_is_visited_once(placement: list[Rectangle]) -> None:
    statements = over(placement, lambda x, y, region: [tree.builtin("visit", x, y)])
    visited: list[tuple[int, int]] = []
    execute(statements, {}, visited)
    assert Counter(visited) == Counter(set().union(*map(pes, placement)))


@settings(max_examples=examples(300), derandomize=True)
@given(regions, regions)
def test_conditions(region: Rectangle, known: Rectangle) -> None:
    condition = inside(region, tree.name("x"), tree.name("y"), known)
    for x, y in pes(known):
        assert bool(evaluate(condition, {"x": x, "y": y})) == ((x, y) in pes(region))
    assert meet(region, known) == bool(pes(region) & pes(known))
    if covers(region, known):
        assert pes(known) <= pes(region)
