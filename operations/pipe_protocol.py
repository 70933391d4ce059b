"""Credit protocol of a TPipe: the pushes that wait, the pops that free, the slot of each entry, and flags.

Pure functions of numbers. Indices count from 0 over the life of a pipe. Sources: rules PTO-009, PTO-023, PTO-024 and
the public headers of the instruction set.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

Behavior: TypeAlias = Literal["ideal", "a2a3", "a5"]
"""How pipes behave: as documented, each push waiting for its own slot, or as on a generation of chips."""

C2V = 1
"""Bit of a direction mask: from the cube core to the vector cores."""

V2C = 2
"""Bit of a direction mask: from the vector cores to the cube core."""

BOTH = C2V | V2C
"""Mask of a pipe with a ring in each direction."""

NO_SPLIT, UP_DOWN, LEFT_RIGHT, UP_DOWN_ODD, LEFT_RIGHT_ODD = range(5)
"""How a tile of the cube core is split between two vector cores (PTO-025 to PTO-027); the odd splits assign the first
core one more row or column."""

SIGNAL_BYTES = 4
"""The bytes of a control signal in a slot: one word, 1 if it is true (PTO-021)."""


def sync_period(slot_num: int) -> int:
    """Return the sync period: the number of entries after which a credit is returned and waited for (PTO-024)."""
    return slot_num if slot_num <= 2 else slot_num // 2


def credit_period(slot_num: int, behavior: Behavior) -> int:
    """Return the number of entries after which a credit is returned and waited for, by the behavior of the pipe."""
    return 1 if behavior == "ideal" else sync_period(slot_num)


def seeded_credits(slot_num: int, behavior: Behavior, *, whole: bool, local: bool) -> int:
    """Return the credits that exist before the first push, which only pipes of a5 have.

    There a pipe whose entries are `whole`, not split between vector cores, and whose slots are `local`, in the
    consumer's memory, has none since August 2026 (`uses_local_no_split_credit_protocol` of the public headers).
    """
    return sync_period(slot_num) if behavior == "a5" and not (whole and local) else 0


def slot_of(index: int, slot_num: int) -> int:
    """Return the slot of entry `index` (PTO-009)."""
    return index % slot_num


def push_waits(index: int, slot_num: int, period: int | None = None) -> bool:
    """Return True if push `index` waits for a credit (PTO-006, PTO-028).

    Here and below `period` is the sync period, if it is not that of the chips (PTO-024).
    """
    return index >= slot_num and index % _period(slot_num, period) == 0


def pop_frees(index: int, slot_num: int, period: int | None = None) -> bool:
    """Return True if the free of entry `index` returns a credit."""
    return (index + 1) % _period(slot_num, period) == 0


def unsafe_push(slot_num: int, period: int | None = None) -> int | None:
    """Return the first push that may overwrite a slot in use, None if there is none.

    The pushes from `slot_num` to the next that waits reuse slots without a credit, which happens exactly if the period
    does not divide the number of slots.
    """
    return None if slot_num % _period(slot_num, period) == 0 else slot_num


def waits(pushes: int, slot_num: int, period: int | None = None) -> int:
    """Return how many of the first `pushes` pushes wait for a credit."""
    every = _period(slot_num, period)
    return max(0, -(-pushes // every) - -(-slot_num // every))


def pending_free_credits(pushes: int, slot_num: int, period: int | None = None) -> int:
    """Return the credits that no push has waited for once all `pushes` entries are freed.

    A producer waits for these at its end, so that the next kernel finds its flags unchanged.
    """
    return pushes // _period(slot_num, period) - waits(pushes, slot_num, period)


def _period(slot_num: int, period: int | None) -> int:
    return sync_period(slot_num) if period is None else period


def flag_count(direction: int) -> int:
    """Return the number of flags of a pipe: data and free, for each direction."""
    return 4 if direction == BOTH else 2


def default_slot_num(direction: int) -> int:
    """Return the number of slots of a front-end pipe that does not set it."""
    return 4 if direction == BOTH else 8


def splits_rows(split: int) -> bool:
    """Return True if a split divides the rows of the tile."""
    return split in (UP_DOWN, UP_DOWN_ODD)


def is_odd(split: int) -> bool:
    """Return True if the first vector core gets one more row or column."""
    return split in (UP_DOWN_ODD, LEFT_RIGHT_ODD)
