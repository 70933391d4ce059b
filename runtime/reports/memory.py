"""Memory maps of PE programs: what their variables, their code and their calls take of the memory of a PE.

Variables are exact. Code and stack are estimates, from the instructions of the tables: the machine's own are not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ... import targets
from ...diagnostics.records import record
from ...targets.model import Target
from ..distinct import distinct
from ..fabric.classes import words_in_use
from ..fabric.stack import bytes_of_calls
from ..tables.format import NONE, Tables
from ..tables.instructions import BITS, CONTROL_NUMBER, KINDS

MAX_LISTED = 20
"""Variables of a program that the text names; the rest is counted."""

_CALL, _TICK = CONTROL_NUMBER["call"], CONTROL_NUMBER["tick"]


@record
class Variable:
    """A variable with its bytes, and where the source declares it: `file:line:column`, or None."""

    name: str
    bytes: int
    location: str | None


@record
class ProgramMemory:
    """What a PE program takes of the memory of each of its PEs, in bytes."""

    program: str
    pes: int
    memory: int
    """Bytes that a PE has."""
    variables: tuple[Variable, ...]
    """The largest first."""
    padding: int
    """Between variables, for their alignment."""
    code_estimate: int
    stack_estimate: int
    """Of the calls that are open at the same time."""
    is_recursive: bool
    """True if functions call themselves: then no number of calls is the largest."""

    @property
    def data(self) -> int:
        return sum(variable.bytes for variable in self.variables) + self.padding

    @property
    def free(self) -> int:
        """Bytes that are left; below 0 if the estimates are more than there is."""
        return self.memory - self.data - self.code_estimate - self.stack_estimate

    def as_json(self) -> dict[str, Any]:
        """Return the same as JSON, with the sums."""
        return {**asdict(self), "data": self.data, "free": self.free}


def memory_of(tables: Tables) -> list[ProgramMemory]:
    """Return the memory map of each PE program."""
    target = targets.get(tables.strings[int(tables["program"][0]["target"])])
    return [_Program(tables, target, number).memory() for number in range(len(tables["classes"]))]


def text_of(programs: Sequence[ProgramMemory]) -> str:
    """Return memory maps as text, a paragraph for each program."""
    return "\n\n".join(map(_paragraph, programs))


def _paragraph(found: ProgramMemory) -> str:
    rows = [(v.name, v.bytes, v.location or "") for v in found.variables[:MAX_LISTED]]
    others = found.variables[MAX_LISTED:]
    if others:
        rows.append((f"{len(others)} others", sum(variable.bytes for variable in others), ""))
    if found.padding:
        rows.append(("alignment", found.padding, ""))
    calls = "calls of functions that call themselves take what is free" if found.is_recursive else ""
    sums = [
        ("data", found.data, ""), ("code, estimated", found.code_estimate, ""),
        ("stack, estimated", found.stack_estimate, calls),
        ("free" if found.free >= 0 else "too much", abs(found.free), ""),
    ]  # fmt: skip
    width = max(len(name) for name, _, _ in [*rows, *sums]) + 2
    lines = [f"{found.program}, on {found.pes:,} PE{'' if found.pes == 1 else 's'} of {found.memory:,} bytes:"]
    lines += [f"  {name:<{width}}{size:>8,}" for name, size, _ in sums[:1]]
    lines += [f"    {name:<{width - 2}}{size:>8,}  {where}".rstrip() for name, size, where in rows]
    lines += [f"  {name:<{width}}{size:>8,}  {where}".rstrip() for name, size, where in sums[1:]]
    return "\n".join(lines)


class _Program:
    """One class of PEs in the tables."""

    def __init__(self, tables: Tables, target: Target, number: int) -> None:
        self.tables = tables
        self.target = target
        self.number = number
        self.row = tables["classes"][number]
        self.called = bytes_of_calls(tables, target)
        self.callees: dict[int, list[int]] = {}
        """The uses of bodies that each use calls."""
        self.is_recursive = False

    def memory(self) -> ProgramMemory:
        variables = self._variables()
        data = 2 * words_in_use(int(self.row["words"]))
        roots = self._roots()
        for use in roots:
            self._find_callees(use)
        depths: dict[int, int] = {}
        stack = max((self._stack(use, depths, set()) for use in roots), default=0)
        return ProgramMemory(
            self._string(self.row["name"]), self._pes(), self.target.memory_bytes, tuple(variables),
            max(0, data - sum(variable.bytes for variable in variables)), self._code(), stack, self.is_recursive,
        )  # fmt: skip

    def _string(self, row: Any) -> str:
        return self.tables.strings[int(row)]

    def _pes(self) -> int:
        first, count = int(self.row["regions"]), int(self.row["region_count"])
        regions = self.tables["regions"][first : first + count]
        return int(np.sum(regions["columns"].astype(np.int64) * regions["rows"]))

    def _variables(self) -> list[Variable]:
        first, count = int(self.row["buffers"]), int(self.row["buffer_count"])
        found: list[Variable] = []
        for row in self.tables["buffers"][first : first + count]:
            size = int(row["elements"]) * BITS[KINDS[int(row["kind"])]] // 8
            where = self._string(row["where"]) or None
            found.append(Variable(self._string(row["name"]), size + size % 2, where))
        return sorted(found, key=lambda variable: -variable.bytes)

    def _roots(self) -> list[int]:
        """Return the uses of the bodies that run without a call: those of tasks and of functions that are launched."""
        first, count = int(self.row["tasks"]), int(self.row["task_count"])
        tasks = self.tables["tasks"][first : first + count]["use"].tolist()
        starts = self.tables["starts"]
        return [use for use in [*tasks, *starts["use"][starts["owner"] == self.number].tolist()] if use != NONE]

    def _instructions(self, use: int) -> Any:
        body = self.tables["bodies"][self.tables["uses"]["body"][use]]
        first = int(body["code"])
        return self.tables["code"][first : first + int(body["length"])]

    def _find_callees(self, use: int) -> None:
        pending = [use]
        while pending:
            use = pending.pop()
            if use in self.callees:
                continue
            row = self.tables["uses"][use]
            body = self.tables["bodies"][row["body"]]
            slots = int(row["rows"]) + int(body["numbers"]) + int(body["descriptors"])
            code = self._instructions(use)
            called = distinct(code["a"][code["op"] == _CALL]).astype(np.int64)
            self.callees[use] = [int(self.tables["rows"][slots + slot]) for slot in called.tolist()]
            pending += self.callees[use]

    def _stack(self, use: int, depths: dict[int, int], around: set[int]) -> int:
        """Return the bytes of the calls that are open at once below a use of a body; those of a circle count once."""
        if use in around:
            self.is_recursive = True
            return 0
        if use not in depths:
            around.add(use)
            inner = (self._call(each) + self._stack(each, depths, around) for each in self.callees[use])
            depths[use] = max(inner, default=0)
            around.discard(use)
        return depths[use]

    def _call(self, use: int) -> int:
        return int(self.called[self.tables["uses"]["body"][use]])

    def _code(self) -> int:
        count = sum(int(np.count_nonzero(self._instructions(use)["op"] != _TICK)) for use in self.callees)
        return self.target.instruction_bytes * count
