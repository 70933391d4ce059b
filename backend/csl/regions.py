"""Loops and conditions of a layout over regions of PEs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr

from ...csl.syntax import Expression, Statement
from ...dialects.machine.region import RegionAttr
from ...dialects.machine.region_overlap import first_common
from . import tree

Rectangle = tuple[range, range]
Body = Callable[[Expression, Expression, Rectangle], list[Statement]]

X, Y = "x", "y"
"""The loops' variables."""


def resolved(placement: ArrayAttr[RegionAttr], size: tuple[int, int]) -> list[Rectangle]:
    """Return the regions of a placement that contain PEs of a rectangle of this size (width, height)."""
    regions = [region.resolve(*size) for region in placement]
    return [(columns, rows) for columns, rows in regions if columns and rows]


def over(regions: Sequence[Rectangle], body: Body) -> list[Statement]:
    """Return statements that run `body` once for each PE of the regions, also if regions share PEs."""
    statements: list[Statement] = []
    for position, region in enumerate(regions):
        columns, rows = region
        x = tree.integer(columns[0]) if len(columns) == 1 else tree.name(X)
        y = tree.integer(rows[0]) if len(rows) == 1 else tree.name(Y)
        inner = body(x, y, region)
        before: list[Expression] = [
            tree.unary("!", inside(other, x, y, region)) for other in regions[:position] if meet(other, region)
        ]
        if (test := tree.conjunction(before)) is not None:
            inner = [cast(Statement, tree.branch(test, inner, []))]
        statements.extend(_loop(X, columns, _loop(Y, rows, inner)))
    return statements


def _loop(variable: str, indices: range, body: list[Statement]) -> list[Statement]:
    if len(indices) == 1:
        return body
    first, end, step = (tree.integer(number) for number in (indices[0], indices[-1] + 1, indices.step))
    return [tree.repeat(variable, tree.name("i16"), first, end, step, body)]


def meet(one: Rectangle, other: Rectangle) -> bool:
    """Return True if two regions share a PE."""
    return all(first_common(a, b) is not None for a, b in zip(one, other, strict=True))


def covers(one: Rectangle, other: Rectangle) -> bool:
    """Return True if every PE of `other` is surely in `one`; may be False for unusual steps though it is."""
    return all(_covers(a, b) for a, b in zip(one, other, strict=True))


def _covers(one: range, other: range) -> bool:
    return other[0] in one and other[-1] in one and (len(other) < 2 or other.step % one.step == 0)


def inside(region: Rectangle, x: Expression, y: Expression, known: Rectangle) -> Expression:
    """Return the condition that the PE (x, y) of the region `known` is in `region`."""
    tests: list[Expression] = []
    for indices, coordinate, among in zip(region, (x, y), known, strict=True):
        tests.extend(_tests(indices, coordinate, among))
    return tree.conjunction(tests) or tree.name("true")


def _tests(indices: range, coordinate: Expression, among: range) -> Iterable[Expression]:
    if _covers(indices, among):
        return
    if len(indices) == 1:
        yield tree.binary("==", coordinate, tree.integer(indices[0]))
        return
    # On the grid of the step, the first and the last need no test unless a step before or after them is within.
    if among[0] <= indices[0] - indices.step:
        yield tree.binary(">=", coordinate, tree.integer(indices[0]))
    if among[-1] >= indices[-1] + indices.step:
        yield tree.binary("<=", coordinate, tree.integer(indices[-1]))
    if indices.step > 1 and among.step % indices.step:
        remainder = tree.binary("%", coordinate, tree.integer(indices.step))
        yield tree.binary("==", remainder, tree.integer(indices[0] % indices.step))
    elif indices.step > 1 and (among[0] - indices[0]) % indices.step:
        # No PE of `among` is on the grid of `indices`.
        yield tree.name("false")
