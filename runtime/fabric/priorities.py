"""Priorities: which levels the operations of each class have that share the datapaths of its PEs, and which of its
microthreads may be blocked.

Those are the operations on queues and FIFOs. Where all of a class have one level, and it blocks no microthread, nothing
holds up another.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ...targets.model import LEVELS, Target
from ..tables.format import (
    CLASS_MAIN_THREAD_CHANGES,
    LOAD_ASYNC,
    MAIN_THREAD_BITS,
    MAIN_THREAD_SHIFT,
    MEMORY_WALK,
    NO_MICROTHREAD,
    NONE,
    Tables,
)
from ..tables.instructions import (
    CONTROL_NUMBER,
    FRAME_DESCRIPTOR,
    NO_REGISTER,
    PRIORITIES,
    SLOT,
    STATIC_DESCRIPTOR,
)
from .model import Array

MAIN_LEVELS = (1 << len(LEVELS)) - 1 & ~1
"""The levels, as bits, that the operations can have for which tasks wait: all but the lowest."""


def priority_levels(target: Target) -> tuple[int, ...]:
    """Return the level of each of `PRIORITIES`, as a place in `LEVELS`."""
    return tuple(LEVELS.index(name or target.default_priority) for name in PRIORITIES)


def main_levels(tables: Tables, target: Target) -> Array:
    """Return the level of the operations for which the tasks of each class wait, uint8 [classes]."""
    given = tables["classes"]["flags"] >> MAIN_THREAD_SHIFT & (1 << MAIN_THREAD_BITS) - 1
    return np.where(given == 0, LEVELS.index(target.main_thread_priority), given.astype(np.int64) - 1).astype(np.uint8)


def levels_of(tables: Tables, target: Target) -> Array:
    """Return the levels of the operations of each class as bits, uint8 [classes]; 0 if they are all alike."""
    finder = _Finder(tables, target)
    found = np.array([finder.of_class(number) for number in range(len(tables["classes"]))], np.uint8)
    return np.where(found & (found - np.uint8(1)), found, np.uint8(0)).astype(np.uint8)


def blockable_microthreads(tables: Tables, target: Target) -> Array:
    """Return the microthreads that the code of each class, or its start, may block, as bits, uint32 [classes]."""
    found = [0] * len(tables["classes"])
    for owner, number in tables["blocked_microthreads"][["owner", "number"]].tolist():
        found[owner] |= 1 << number
    if bool((tables["code"]["op"] == CONTROL_NUMBER["block_microthread"]).any()):
        finder = _Finder(tables, target)
        found = [before | finder.blocked_by(number) for number, before in enumerate(found)]
    return np.array(found, np.uint32)


class _Instruction(NamedTuple):
    op: int
    a: int
    b: int
    c: int


class _Finder:
    """Walks the code of classes."""

    def __init__(self, tables: Tables, target: Target) -> None:
        self._tables = tables
        self._levels = priority_levels(target)
        changes = (tables["classes"]["flags"] & CLASS_MAIN_THREAD_CHANGES).any()
        # Whatever a program makes of it: each level that it can have.
        self._main = [
            MAIN_LEVELS | 1 << level if changes else 1 << level for level in main_levels(tables, target).tolist()
        ]
        self._numbers = {
            name: CONTROL_NUMBER[name]
            for name in ("descriptor", "read_register", "load_register", "apply", "block_microthread")
        }
        self._code: dict[int, list[_Instruction]] = {}
        self._is_stream = (tables["descriptors"]["type"] != MEMORY_WALK).tolist()
        # As lists: a number out of one takes a fraction of the time of one out of an array.
        self._rows: list[int] = tables["rows"].tolist()
        self._of_uses: list[tuple[int, int]] = tables["uses"][["body", "rows"]].tolist()
        self._of_bodies: list[tuple[int, int, int, int]] = tables["bodies"][
            ["numbers", "descriptors", "slots", "slot_kinds"]
        ].tolist()
        self._operations: list[tuple[int, list[int], int, int]] = tables["operations"][
            ["destination", "sources", "microthread", "priority"]
        ].tolist()
        self._slot_kinds: list[int] = tables["slot_kinds"].tolist()
        self._microthreads = target.microthreads

    def of_class(self, number: int) -> int:
        """Return the levels of a class as bits."""
        uses = self._uses(number)
        # What a register holds may have been put there by any code of the class.
        in_registers = any(self._loads_stream(use, in_registers=False) for use in uses)
        levels = 0
        for use in uses:
            levels |= self._of_use(use, in_registers, self._main[number])
        return levels

    def blocked_by(self, number: int) -> int:
        """Return the microthreads that the code of a class may block, as bits: all where it computes which."""
        found = 0
        for use in self._uses(number):
            body, first = self._of_uses[use]
            for op, register, _, _ in self._instructions(body):
                if op != self._numbers["block_microthread"]:
                    continue
                if register >= self._of_bodies[body][0]:
                    return (1 << self._microthreads) - 1
                microthread = int(self._tables["numbers"][self._rows[first + register]])
                found |= 1 << microthread if 0 <= microthread < self._microthreads else 0
        return found

    def _uses(self, number: int) -> list[int]:
        tasks, starts = self._tables["tasks"], self._tables["starts"]
        pending: list[int] = [
            *tasks["use"][tasks["owner"] == number].tolist(), *starts["use"][starts["owner"] == number].tolist(),
        ]  # fmt: skip
        found: dict[int, None] = {}
        while pending:
            use = pending.pop()
            if use != NONE and use not in found:
                found[use] = None
                pending.extend(self._slots(use, "use"))
        return list(found)

    def _parts(self, use: int) -> tuple[int, list[int], list[int]]:
        """Return the body of a use, its static descriptors and the rows of its slots."""
        number, first = self._of_uses[use]
        numbers, descriptors, slots, _ = self._of_bodies[number]
        first += numbers
        behind = first + descriptors
        return number, self._rows[first:behind], self._rows[behind : behind + slots]

    def _slots(self, use: int, kind: str) -> Iterable[int]:
        number, _, slots = self._parts(use)
        first = self._of_bodies[number][-1]
        kinds = self._slot_kinds[first : first + len(slots)]
        return [row for row, its in zip(slots, kinds, strict=True) if its == SLOT[kind]]

    def _instructions(self, number: int) -> list[_Instruction]:
        """Return the instructions of a body that make or use descriptors."""
        found = self._code.get(number)
        if found is None:
            body = self._tables["bodies"][number]
            code = self._tables["code"][int(body["code"]) : int(body["code"]) + int(body["length"])]
            kept = code[np.isin(code["op"], list(self._numbers.values()))]
            found = self._code[number] = [_Instruction(*row) for row in kept.tolist()]
        return found

    def _streams(self, use: int, *, in_registers: bool) -> set[int]:
        """Return the descriptors, as operands, that may be a queue or a FIFO."""
        number, descriptors, _ = self._parts(use)
        found = {STATIC_DESCRIPTOR + place for place, row in enumerate(descriptors) if self._is_stream[row]}
        before = -1
        while len(found) > before:
            before = len(found)
            for op, a, b, _ in self._instructions(number):
                copies = op == self._numbers["descriptor"] and b in found
                if copies or (in_registers and op == self._numbers["read_register"]):
                    found.add(a | FRAME_DESCRIPTOR)
        return found

    def _loads_stream(self, use: int, *, in_registers: bool) -> bool:
        streams = self._streams(use, in_registers=in_registers)
        number, _, _ = self._parts(use)
        return any(op == self._numbers["load_register"] and a in streams for op, a, _, _ in self._instructions(number))

    def _of_use(self, use: int, in_registers: bool, main: int) -> int:
        streams = self._streams(use, in_registers=in_registers)
        number, _, slots = self._parts(use)
        levels = 0
        for op, a, _, _ in self._instructions(number):
            if op != self._numbers["apply"]:
                continue
            destination, sources, microthread, priority = self._operations[slots[a]]
            if microthread != NO_MICROTHREAD:
                levels |= 1 << self._levels[priority]
            elif ({destination, *sources} - {NO_REGISTER}) & streams:
                levels |= main
        for load in self._slots(use, "register_load"):
            row = self._tables["register_loads"][load]
            if int(row["flags"]) & LOAD_ASYNC:
                levels |= 1 << self._levels[int(row["priority"])]
        return levels
