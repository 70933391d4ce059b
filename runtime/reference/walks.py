"""Walks of operations over memory: which addresses are allowed, and what is said of those that are not meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..findings import Code
from ..tables.format import NONE
from .descriptors import Walk
from .pes import Issue
from .variables import Variable

if TYPE_CHECKING:
    from .machine import Machine


def check_walk(machine: Machine, issue: Issue, walk: Walk, low: int, high: int) -> None:
    """Check the elements `low` to `high` of a walk before they are touched.

    It is an error that they leave memory, and a warning that they leave the variable of the walk (DSD-171): the machine
    goes on into what is next to it.
    """
    if low >= high:
        return
    pe, number = issue.pe, issue.operation.number
    if walk.width == 2 and walk.address & 1:
        machine.warn_of(issue, Code.ODD_WALK, walk.address, number)
    words = list(walk.words(low, high))
    start, end = min(words), max(words) + walk.width
    if start < 0 or end > pe.cls.words:
        word = start if start < 0 else end - 1
        machine.fail_of(
            issue, Code.WALK_OUTSIDE_MEMORY, issue.operation.number, word, NONE if walk.buffer is None else walk.buffer
        )
    variable = _variable(machine, issue, walk)
    word = start if start < variable.start else end - walk.width
    if start < variable.start or end > variable.end:
        machine.warn_of(issue, Code.WALK_LEAVES_BUFFER, number, word, variable.buffer, walk.width)


def is_inside(machine: Machine, issue: Issue, walk: Walk, low: int, high: int) -> bool:
    """Return True if the elements `low` to `high` of a walk are in its variable."""
    words, variable = list(walk.words(low, high)), _variable(machine, issue, walk)
    return not words or (variable.start <= min(words) and max(words) + walk.width <= variable.end)


def _variable(machine: Machine, issue: Issue, walk: Walk) -> Variable:
    if walk.buffer is None:
        return issue.pe.cls.variables.around(walk.address)
    return machine.variable(walk.buffer)
