"""Warps (units in lockstep), divergence and reconvergence, and the instructions that run them.

A warp is a set of units of one class at one program point. Its state is explicit: program counter, value slots and
unit set. Code is a flat list of closures; one returns None to go on, a
program counter to jump, or FINISHED or SUSPENDED. Where units part ways, each part runs as a warp of its own up to
the point where their ways join; a part that has to wait is left behind there and finishes alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from struct import pack
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .units import Rectangle, UnitSet, assemble, every, from_mask, locate, some, union

if TYPE_CHECKING:
    from .unit_class import UnitClass

_PLAIN = (int, float, bool)
REACHED = 0
FINISHED = -1
SUSPENDED = -2

Instruction: TypeAlias = "Callable[[Warp], int | None]"


@dataclass(eq=False)
class Code:
    """A compiled task or function: its instructions, the initial slots and where its arguments go."""

    name: str
    where: str | None
    """Source location of the task or function."""
    instructions: list[Instruction] = field(default_factory=list[Instruction])
    template: list[Any] = field(default_factory=list[Any])
    dtypes: list[np.dtype[Any] | None] = field(default_factory=list["np.dtype[Any] | None"])
    variable: list[int] = field(default_factory=list[int])
    """Slots that are not constant."""
    arguments: list[int] = field(default_factory=list[int])
    argument_kinds: list[str] = field(default_factory=list[str])


class Warp:
    """Units at one program point."""

    __slots__ = ("cls", "code", "pc", "slots", "stop", "units")

    def __init__(self, cls: UnitClass, code: Code, units: UnitSet, slots: list[Any]):
        self.cls = cls
        self.code = code
        self.units: UnitSet = units
        self.slots: list[Any] = slots
        self.pc = 0
        self.stop = -1

    def part(self, units: UnitSet) -> Warp:
        """Return a warp of a subset of the units, with their share of every value."""
        outer = self.units
        slots = self.slots.copy()
        if outer is not units:
            index = locate(outer, units)
            for slot in self.code.variable:
                value = slots[slot]
                if type(value) is np.ndarray:
                    share = value[index]
                    # Generated code wants the values of a single unit as numbers.
                    slots[slot] = share.item() if units.count == 1 else share
                elif value is not None and type(value) not in _PLAIN:
                    slots[slot] = restrict(outer, units, value)
        warp = Warp(self.cls, self.code, units, slots)
        warp.pc = self.pc
        return warp

    def shrink(self, units: UnitSet) -> None:
        """Shrink the warp to a subset of its units."""
        if units is not self.units:
            smaller = self.part(units)
            self.units, self.slots = units, smaller.slots


def restrict(outer: UnitSet, inner: UnitSet, value: Any) -> Any:
    """Return a slot's value restricted to a subset; values know how if they are neither numbers nor arrays."""
    if type(value) is np.ndarray:
        return value[locate(outer, inner)]
    method = getattr(value, "restrict", None)
    return value if method is None else method(outer, inner)


def run(warp: Warp) -> int:
    """Run a warp until it reaches its stop, finishes or is suspended."""
    instructions = warp.code.instructions
    pc, stop = warp.pc, warp.stop
    while pc != stop:
        following = instructions[pc](warp)
        if following is None:
            pc += 1
        elif following >= 0:
            pc = following
        else:
            return following
    warp.pc = pc
    return REACHED


def diverge(warp: Warp, ways: Sequence[tuple[int, UnitSet]], join: int, results: Sequence[int] | None) -> int:
    """Run parts of a warp from different program points to `join` and put them together again.

    A way is a program counter, and the units that go it.

    `results` are the slots that the parts may have changed and that are read after the join; None means any. Parts
    that wait are left behind. Returns `join`, or SUSPENDED when no unit got there.
    """
    arrived: list[Warp] = []
    for start, units in ways:
        part = warp.part(units)
        part.pc, part.stop = start, join
        if run(part) == REACHED:
            arrived.append(part)
    return rejoin(warp, arrived, join, results)


def rejoin(warp: Warp, arrived: Sequence[Warp], join: int, results: Sequence[int] | None) -> int:
    """Make a warp the union of the parts of it that arrived at `join`.

    `results` as for `diverge`. Returns `join`, or SUSPENDED when no unit got there.
    """
    if not arrived:
        return SUSPENDED
    if sum(part.units.count for part in arrived) != warp.units.count:
        warp.shrink(union([part.units for part in arrived]))
    units = warp.units
    for slot in range(len(warp.slots)) if results is None else results:
        parts = [(part.units, part.slots[slot]) for part in arrived]
        warp.slots[slot] = merged(units, parts, warp.code.dtypes[slot])
    return join


def merged(units: UnitSet, parts: list[tuple[UnitSet, Any]], dtype: np.dtype[Any] | None) -> Any:
    """Return one value for a set from the values of its parts; numbers that agree stay a number.

    `dtype` is the numpy type of a scalar, None for a value that puts itself together.
    """
    first = parts[0][1]
    if len(parts) == 1:
        return first
    if type(first) is not np.ndarray and all(
        value is first or (type(value) is not np.ndarray and type(value) is type(first) and same(value, first))
        for _, value in parts
    ):
        return first
    if any(value is None for _, value in parts):
        # Generated code sets only what is read later, so nobody reads this.
        return None
    if dtype is not None:
        return assemble(units, parts, dtype)
    method = getattr(first, "merge", None)
    return first if method is None else method(units, parts)


def same(a: Any, b: Any) -> bool:
    """Return True if two values are equal to the bit: 0.0 is not -0.0, nor one NaN another."""
    if isinstance(a, float):
        return pack("d", a) == pack("d", b)
    return bool(a == b)


@dataclass
class LoopTest:
    """The test of a loop: goes on into the body or leaves, unit by unit where they differ.

    `test(warp)` gives the condition, `enter` and `leave` copy loop values, `body` and `exit` are program counters
    and `head` is the one of this instruction. `results` are the slots written by `leave`.
    """

    test: Callable[[Warp], Any]
    enter: Callable[[Warp], None]
    leave: Callable[[Warp], None]
    head: int
    results: list[int]
    count_step: Callable[[Warp, str | None], None]
    where: str | None
    """Source location of the loop."""
    body: int = 0
    exit: int = 0

    def __call__(self, warp: Warp) -> int:
        condition = self.test(warp)
        if type(condition) is np.ndarray:
            if every(condition):
                condition = True
            elif not some(condition):
                condition = False
            else:
                return self._part(warp, condition)
        if condition:
            self.count_step(warp, self.where)
            self.enter(warp)
            return self.body
        self.leave(warp)
        return self.exit

    def _part(self, warp: Warp, condition: Any) -> int:
        done: list[Warp] = []
        running: list[Warp] = []

        def sort(part: Warp, condition: Any) -> None:
            for units in from_mask(part.units, ~condition):
                leaving = part.part(units)
                self.leave(leaving)
                done.append(leaving)
            for units in from_mask(part.units, condition):
                running.append(part.part(units))

        sort(warp, condition)
        while running:
            part = running.pop()
            self.count_step(part, self.where)
            self.enter(part)
            part.pc, part.stop = self.body, self.head
            if run(part) != REACHED:
                continue
            condition = self.test(part)
            if type(condition) is not np.ndarray:
                condition = np.full(part.units.shape, condition)
            sort(part, condition)
        return rejoin(warp, done, self.exit, self.results)


def gather(warps: list[Warp]) -> list[Warp]:
    """Join warps of one class at one program point, where their units form a rectangle."""
    if len(warps) == 1:
        return warps
    units = union([warp.units for warp in warps])
    if not isinstance(units, Rectangle):
        return warps
    first = warps[0]
    slots = first.slots.copy()
    for slot in first.code.variable:
        parts = [(warp.units, warp.slots[slot]) for warp in warps]
        if all(value is parts[0][1] for _, value in parts):
            continue
        slots[slot] = None if any(value is None for _, value in parts) else merged(
            units, parts, first.code.dtypes[slot]
        )  # fmt: skip
    joined = Warp(first.cls, first.code, units, slots)
    joined.pc = first.pc
    return [joined]
