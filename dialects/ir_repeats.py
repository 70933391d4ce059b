"""Operations that a text repeats, read once: one that differs from an earlier one in names alone is made like that.

Knows no dialect. What parses an operation depends on its text, the types of its operands and the dialects around it;
one that looks at how its operands were computed says so, and is read each time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Attribute, Operation, SSAValue

from ..diagnostics.records import record

_NAME = re.compile(r"(%(?:[0-9]++|[a-zA-Z$._-][a-zA-Z0-9$._-]*+))", re.ASCII)

_NEXT = r"(?=%[\w$.-]++(?::\d++)?\s*+[,=]|[a-z]\w*+\.\w|return\b|\})"
_LINES = re.compile(
    rf"(?P<operation>[^\n\"/^]{{0,2000}}+(?:\n\s*+(?!{_NEXT})[^\n\"/^]{{0,2000}}+){{0,20}}+)\n\s*+{_NEXT}", re.ASCII
)
"""Lines without strings, comments and successors, up to one that begins another operation or ends a region. Limits keep
the search in a text of one line linear."""


@record
class Lines:
    """The lines of an operation: their end in the text, the names in them, and what two repetitions have in common."""

    end: int
    names: Sequence[str]
    """Each once, without `%`."""
    key: object


@record
class _Known:
    """An operation that has been read: its operands as names of its lines, with their places in these."""

    kind: type[Operation]
    operands: Sequence[tuple[int, int, Attribute]]
    result_types: Sequence[Attribute]
    results: Sequence[tuple[int, int]]
    """The names of its results, with the number of those of each."""
    properties: Mapping[str, Attribute]
    attributes: Mapping[str, Attribute]


class Repetitions:
    """The operations of a text that have been read, by their lines."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[object, _Known] = {}

    def lines_at(self, position: int, dialects: Sequence[str]) -> Lines | None:
        """Return the lines of the operation at a position; None if the operation may not end with them."""
        match = _LINES.match(self._text, position)
        if match is None:
            return None
        parts = _NAME.split(match["operation"])
        names = [name[1:] for name in parts[1::2]]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        order = None if len(numbers) == len(names) else tuple(map(numbers.__getitem__, names))
        return Lines(match.end(), list(numbers), (tuple(parts[0::2]), order, tuple(dialects)))

    def operation(
        self, lines: Lines, values: Mapping[str, Sequence[SSAValue]]
    ) -> tuple[Operation, Sequence[tuple[str, int]]] | None:
        """Return the operation of a lines that have been read before, and the names of its results; None for others."""
        known = self._known.get(lines.key)
        if known is None:
            return None
        operands: list[SSAValue] = []
        for name, place, type in known.operands:
            defined = values.get(lines.names[name], ())
            if place >= len(defined) or (found := defined[place]).type != type:
                return None
            operands.append(found)
        op = known.kind.create(
            operands=operands,
            result_types=known.result_types,
            properties=known.properties,
            attributes=known.attributes,
        )
        return op, [(lines.names[name], size) for name, size in known.results]

    def note(self, lines: Lines, op: Operation, values: Mapping[str, Sequence[SSAValue]]) -> None:
        """Remember the operation that has been read from lines, if their names are all operands and results."""
        if op.regions or op.successors or not isinstance(op.location, UnknownLoc):
            return
        results: list[tuple[int, int]] = []
        numbers = {name: number for number, name in enumerate(lines.names)}
        places: dict[SSAValue, tuple[int, int]] = {}
        for name, number in numbers.items():
            defined = values.get(name, ())
            if defined and defined[0].owner is op:
                results.append((number, len(defined)))
            else:
                places.update({value: (number, place) for place, value in enumerate(defined)})
        if sum(size for _, size in results) not in (0, len(op.results)):
            return
        operands: list[tuple[int, int, Attribute]] = []
        for operand in op.operands:
            if operand not in places:
                return
            operands.append((*places[operand], operand.type))
        if {number for number, _, _ in operands} | {number for number, _ in results} != set(range(len(lines.names))):
            return
        self._known[lines.key] = _Known(
            type(op), operands, [result.type for result in op.results], results, dict(op.properties),
            dict(op.attributes),
        )  # fmt: skip
