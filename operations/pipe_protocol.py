"""The arithmetic of a TPipe: which push waits, which pop frees, which slot and flags are used.

Pure functions of numbers. Indices count from 0 over the life of a pipe. Sources: rules PTO-009, PTO-023, PTO-024 and
the public headers of the instruction set.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

Behavior: TypeAlias = Literal["ideal", "a2a3", "a5"]
"""How pipes behave: as the documents promise, each push waiting for its own slot, or as on a generation of chips."""

C2V = 1
"""Bit of a direction mask: from the cube core to the vector cores."""

V2C = 2
"""Bit of a direction mask: from the vector cores to the cube core."""

BOTH = C2V | V2C
"""Mask of a pipe with a ring in each direction."""

NO_SPLIT, UP_DOWN, LEFT_RIGHT, UP_DOWN_ODD, LEFT_RIGHT_ODD = range(5)
"""How a tile of the cube core is shared among two vector cores (PTO-025 to PTO-027); the odd ones give the first
core one row or column more."""

SIGNAL_BYTES = 4
"""What a control signal takes of a slot: one word, 1 if it is true (PTO-021)."""


def sync_period(slot_num: int) -> int:
    """After how many tiles a pop frees slots and a push waits for them (PTO-024)."""
    return slot_num if slot_num <= 2 else slot_num // 2


def credit_period(slot_num: int, behavior: Behavior) -> int:
    """After how many tiles slots are freed and waited for, by the behavior of the pipe."""
    return 1 if behavior == "ideal" else sync_period(slot_num)


def seeded_credits(slot_num: int, behavior: Behavior) -> int:
    """How many times slots count as freed before anything was put in: on a5 the pipe begins so."""
    return sync_period(slot_num) if behavior == "a5" else 0


def slot_of(index: int, slot_num: int) -> int:
    """The slot of tile number `index` (PTO-009)."""
    return index % slot_num


def push_waits(index: int, slot_num: int, period: int | None = None) -> bool:
    """Whether push number `index` first waits for free slots (PTO-006, PTO-028).

    Here and below `period` is that of the pipe's waits and frees, if it is not the one of the chips (PTO-024).
    """
    return index >= slot_num and index % _period(slot_num, period) == 0


def pop_frees(index: int, slot_num: int, period: int | None = None) -> bool:
    """Whether pop number `index`, once its tile is done with, tells of free slots."""
    return (index + 1) % _period(slot_num, period) == 0


def unsafe_push(slot_num: int, period: int | None = None) -> int | None:
    """The first push that may overwrite a slot nobody has read, None if there is none.

    The pushes from `slot_num` to the next that waits reuse slots unasked, which happens exactly where the period does
    not divide the number of slots.
    """
    return None if slot_num % _period(slot_num, period) == 0 else slot_num


def waits(pushes: int, slot_num: int, period: int | None = None) -> int:
    """How many of the first `pushes` pushes wait for free slots."""
    every = _period(slot_num, period)
    return max(0, -(-pushes // every) - -(-slot_num // every))


def pending_free_credits(pushes: int, slot_num: int, period: int | None = None) -> int:
    """How many times slots have been freed that no push has waited for, once all `pushes` entries are done with.

    A producer waits for these at its end, so that the next kernel finds its flags as they were.
    """
    return pushes // _period(slot_num, period) - waits(pushes, slot_num, period)


def _period(slot_num: int, period: int | None) -> int:
    return sync_period(slot_num) if period is None else period


def flag_count(direction: int) -> int:
    """How many flags a pipe takes: data and free, for each direction."""
    return 4 if direction == BOTH else 2


def default_slot_num(direction: int) -> int:
    """The number of slots of a front-end pipe that states none."""
    return 4 if direction == BOTH else 8


def splits_rows(split: int) -> bool:
    """Whether the vector cores get rows of the tile."""
    return split in (UP_DOWN, UP_DOWN_ODD)


def is_odd(split: int) -> bool:
    """Whether the first vector core gets one row or column more."""
    return split in (UP_DOWN_ODD, LEFT_RIGHT_ODD)
