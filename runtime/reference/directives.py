"""Collective directives: the PEs of a row or column have to call the same ones, in the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...targets.wavelets import WORD_BITS
from ..findings import Code
from .pes import PE

if TYPE_CHECKING:
    from .machine import Machine


class Call(NamedTuple):
    """A call of a directive: its cycle, the PE that made it, its name, root << 16 | count, its row, and the finding if
    it is an error."""

    cycle: int
    pe: int
    name: int
    arguments: int
    row: int
    finding: Any


class Directives:
    """The calls of each row and column, by number: all of one number have to be those of the first, by cycle and PE."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._made: dict[tuple[int, int], int] = {}
        self._calls: dict[tuple[int, int, int], list[Call]] = {}
        self._open: set[tuple[int, int, int]] = set()
        """Those with calls that have not been compared yet."""

    def call(self, pe: PE, number: int, root: int, count: int, where: int) -> None:
        """Note the call of a directive, by its row."""
        row = self._machine.program["directives"][number]
        place = self._made.get((row.axis, pe.number), 0)
        self._made[row.axis, pe.number] = place + 1
        line = row.axis, pe.x if row.axis else pe.y, place
        arguments = root << WORD_BITS | count
        finding = self._machine.finding(pe, Code.DIRECTIVES_DIFFER, where, place, number, arguments)
        calls = self._calls.setdefault(line, [])
        calls.append(Call(pe.now, pe.number, row.name, arguments, number, finding))
        if len({(call.name, call.arguments) for call in calls}) > 1:
            self._open.add(line)
            self._compare(calls)

    def rest(self, until: int) -> None:
        """Find the first calls that differ when all has happened up to a cycle."""
        for line in self._open:
            self._compare(self._calls[line], until)

    def _compare(self, calls: list[Call], until: int | None = None) -> None:
        first, *others = sorted(calls, key=lambda call: (call.cycle, call.pe))
        for call in others:
            if (call.name, call.arguments) == (first.name, first.arguments):
                continue
            if until is None:
                self._machine.until = min(self._machine.until, call.cycle)
            elif call.cycle <= until:
                call.finding["values"][3:] = first.row, first.arguments, first.pe
                self._machine.note_error(call.finding)
            return
