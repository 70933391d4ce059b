"""Comparison of the collective directives that the units of a row or column call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from ...diagnostics.errors import LoomError

Call = tuple[str, int, int]
"""Directive, root and count."""


class Directives:
    """The calls of each row and column, by number, as the first unit made them that got there."""

    def __init__(self, unit_name: Callable[[int, int], str]) -> None:
        self._name = unit_name
        self._made: Counter[tuple[str, tuple[int, int]]] = Counter()
        self._calls: dict[tuple[str, int], list[tuple[Call, tuple[int, int]]]] = {}

    def call(self, axis: str, place: tuple[int, int], call: Call, where: str | None) -> None:
        """Take note of a call of the unit at (x, y); raise LoomError if another one of its line called another."""
        number = self._made[axis, place]
        self._made[axis, place] = number + 1
        calls = self._calls.setdefault((axis, place[1] if axis == "x" else place[0]), [])
        if number == len(calls):
            calls.append((call, place))
            return
        first, other = calls[number]
        if call == first:
            return
        line = "row" if axis == "x" else "column"
        raise LoomError(
            f"directive {number + 1} of a {line} is {_words(call)} on {self._name(*place)}, but {_words(first)} on "
            f"{self._name(*other)}; call the same directives with the same root and count, in the same order, on all "
            f"PEs of the {line}", where,
        )  # fmt: skip


def _words(call: Call) -> str:
    directive, root, count = call
    return f"{directive} with root {root} and count {count}"
