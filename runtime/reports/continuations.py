"""Reachability: the queues that a PE may still use once what it waits for has come.

It reads the bodies of a class and errs on the side of too many: a branch counts as taken, a loop as repeated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..tables.format import FIFO_END, MEMORY_WALK, NONE, Tables
from ..tables.instructions import CONTROL, CONTROL_NUMBER, FRAME_DESCRIPTOR, NO_REGISTER, SLOTS, STATIC_DESCRIPTOR

JUMPS = frozenset(CONTROL_NUMBER[name] for name in ("jump", "branch_false", "branch_true", "for_test"))
ENDS = frozenset(CONTROL_NUMBER[name] for name in ("jump", "return", "end", "fail"))
"""Instructions that the next one does not follow."""


class Reached(NamedTuple):
    """What some code may name: rows of the tables."""

    tasks: frozenset[int]
    queues: frozenset[int]


class _Use:
    """A body with the rows it works with."""

    def __init__(self, tables: Tables, row: int) -> None:
        use = tables["uses"][row]
        body = tables["bodies"][int(use["body"])]
        first, length = int(body["code"]), int(body["length"])
        self.code: list[tuple[int, int, int, int]] = tables["code"][first : first + length].tolist()
        before = int(use["rows"]) + int(body["numbers"])
        after = before + int(body["descriptors"])
        self.descriptors: list[int] = tables["rows"][before:after].tolist()
        self.slots: list[int] = tables["rows"][after : after + int(body["slots"])].tolist()
        first = int(body["slot_kinds"])
        self._slot_kinds: list[int] = tables["slot_kinds"][first : first + len(self.slots)].tolist()

    @cached_property
    def callees(self) -> list[int]:
        """The uses that it calls."""
        return [row for row, kind in zip(self.slots, self._slot_kinds, strict=True) if SLOTS[kind] == "use"]

    @cached_property
    def sources(self) -> dict[int, list[int]]:
        """For each frame descriptor the numbers of the instructions that make it."""
        found: dict[int, list[int]] = {}
        for number, (op, a, _, _) in enumerate(self.code):
            if op in (CONTROL_NUMBER["descriptor"], CONTROL_NUMBER["read_register"]):
                found.setdefault(a, []).append(number)
        return found

    def behind(self, pc: int) -> set[int]:
        """Return the instructions that may run after one of them."""
        found: set[int] = set()
        pending = self._following(pc)
        while pending:
            here = pending.pop()
            if here not in found and here < len(self.code):
                found.add(here)
                pending += self._following(here)
        return found

    def _following(self, pc: int) -> list[int]:
        op, _, b, c = self.code[pc]
        found = [] if op in ENDS else [pc + 1]
        return [*found, b | c << 16] if op in JUMPS else found


class Continuations:
    """What PEs of one class may use after a point of their program."""

    def __init__(self, tables: Tables, owner: int) -> None:
        self._tables = tables
        tasks, starts = tables["tasks"], tables["starts"]
        roots = [*tasks["use"][tasks["owner"] == owner], *starts["use"][starts["owner"] == owner]]
        self._uses: dict[int, _Use] = {}
        self._callers: dict[int, list[tuple[int, int]]] = {}
        pending = [int(row) for row in roots if row != NONE]
        while pending:
            row = pending.pop()
            if row in self._uses:
                continue
            use = self._uses[row] = _Use(tables, row)
            for pc, (op, a, _, _) in enumerate(use.code):
                if op == CONTROL_NUMBER["call"]:
                    self._callers.setdefault(use.slots[a], []).append((row, pc))
            pending += use.callees

    def after(self, use: int, pc: int) -> Reached:
        """Return what may be used behind an instruction of a use, in tasks that follow too."""
        pending, seen = [(use, pc)], {(use, pc)}
        points: set[tuple[int, int]] = set()
        while pending:
            row, here = pending.pop()
            if row not in self._uses:
                continue
            points |= {(row, following) for following in self._uses[row].behind(here)}
            for caller in self._callers.get(row, ()):
                if caller not in seen:
                    seen.add(caller)
                    pending.append(caller)
        return self._closure(points)

    def of(self, tasks: Iterable[int]) -> Reached:
        """Return what some tasks, and what follows them, may use."""
        return self._closure(point for task in tasks for point in self._body_of(task))

    def _body_of(self, task: int) -> Iterator[tuple[int, int]]:
        row = int(self._tables["tasks"]["use"][task])
        if row in self._uses:
            yield from self._whole(row)

    def _whole(self, row: int) -> Iterator[tuple[int, int]]:
        yield from ((row, pc) for pc in range(len(self._uses[row].code)))

    @cached_property
    def _loads(self) -> list[tuple[int, int]]:
        """The instructions that load data structure registers."""
        load = CONTROL_NUMBER["load_register"]
        return [(row, pc) for row, use in self._uses.items() for pc, code in enumerate(use.code) if code[0] == load]

    def _closure(self, points: Iterable[tuple[int, int]]) -> Reached:
        """Return what instructions name, with those of bodies that they call or start."""
        tasks: set[int] = set()
        queues: set[int] = set()
        pending = list(points)
        seen: set[tuple[int, int]] = set()
        while pending:
            point = pending.pop()
            if point in seen:
                continue
            seen.add(point)
            row, pc = point
            use = self._uses[row]
            op, a, b, c = use.code[pc]
            named: list[int] = []
            descriptors: list[int] = []
            match CONTROL[op] if op < len(CONTROL) else "":
                case "call":
                    pending += self._whole(use.slots[a])
                case "activate" | "block" | "unblock":
                    named = [use.slots[a]]
                case "apply":
                    record = self._tables["operations"][use.slots[a]]
                    named = _completions(record)
                    descriptors = [int(record["destination"]), *record["sources"].tolist()]
                case "load_register":
                    named = _completions(self._tables["register_loads"][use.slots[c]])
                    descriptors = [a]
                case "read_register":
                    pending += self._loads
                case "descriptor":
                    descriptors = [b]
                case _:
                    pass
            for task in named:
                if task not in tasks:
                    tasks.add(task)
                    pending += self._body_of(task)
            for operand in descriptors:
                if operand == NO_REGISTER or operand < STATIC_DESCRIPTOR:
                    continue
                if operand >= FRAME_DESCRIPTOR:
                    pending += [(row, source) for source in use.sources.get(operand - FRAME_DESCRIPTOR, ())]
                    continue
                record = self._tables["descriptors"][use.descriptors[operand - STATIC_DESCRIPTOR]]
                if record["type"] not in (MEMORY_WALK, FIFO_END):
                    queues.add(int(record["row"]))
        return Reached(frozenset(tasks), frozenset(queues))


def _completions(record: Any) -> list[int]:
    """Return the tasks that the end of an operation activates or unblocks."""
    fields = ("activate", "unblock", "control_activate", "control_unblock")
    return [int(record[name]) for name in fields if record[name] != NONE]


def completions_of(tables: Tables, operation: int, settings: int) -> list[int]:
    """Return the tasks that the end of an asynchronous operation activates or unblocks, run as `settings` say."""
    return _completions(tables["operations"][operation] if settings == NONE else tables["register_loads"][settings])


def read_by(tables: Tables, tasks: Iterable[int]) -> frozenset[int]:
    """Return the input queues whose wavelets start one of some tasks."""
    found: list[int] = np.asarray(tables["tasks"]["queue"])[sorted(tasks)].tolist()
    return frozenset(row for row in found if row != NONE)
