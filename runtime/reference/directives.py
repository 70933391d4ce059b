"""Collective directives: the PEs of a row or column have to call the same ones, in the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...targets.wavelets import WORD_BITS
from ..findings import Code
from .pes import PE

if TYPE_CHECKING:
    from .machine import Machine


class Call(NamedTuple):
    """A call of a directive: its name and axis, root << 16 | count, its row, and the PE that made it."""

    name: int
    arguments: int
    row: int
    pe: int


class Directives:
    """The calls of each row and column, by number, as the first PE made them that got there."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._made: dict[tuple[int, int], int] = {}
        self._calls: dict[tuple[int, int], list[Call]] = {}

    def call(self, pe: PE, number: int, root: int, count: int, where: int) -> None:
        """Note the call of a directive, by its row; find that another PE of the line has called another."""
        row = self._machine.program["directives"][number]
        place = self._made.get((row.axis, pe.number), 0)
        self._made[row.axis, pe.number] = place + 1
        line = pe.x if row.axis else pe.y
        calls = self._calls.setdefault((row.axis, line), [])
        mine = Call(row.name, root << WORD_BITS | count, number, pe.number)
        if place == len(calls):
            calls.append(mine)
            return
        first = calls[place]
        if (mine.name, mine.arguments) != (first.name, first.arguments):
            self._machine.fail(
                pe, Code.DIRECTIVES_DIFFER, where, place, number, mine.arguments, first.row, first.arguments, first.pe
            )
