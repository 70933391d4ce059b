"""The arithmetic of a TPipe, against a model that counts credits one by one."""

from __future__ import annotations

import pytest

from loomir.operations import pipe_protocol


@pytest.mark.parametrize(("slots", "period"), [(1, 1), (2, 2), (3, 1), (4, 2), (5, 2), (8, 4)])
def test_sync_period(slots: int, period: int) -> None:
    """PTO-024"""
    assert pipe_protocol.sync_period(slots) == period


def test_slots_are_used_in_turn() -> None:
    """PTO-009"""
    assert [pipe_protocol.slot_of(push, 3) for push in range(7)] == [0, 1, 2, 0, 1, 2, 0]


def test_not_every_push_waits() -> None:
    """PTO-006, PTO-028: with 8 slots, every fourth push from the ninth on."""
    assert [push for push in range(24) if pipe_protocol.push_waits(push, 8)] == [8, 12, 16, 20]


def overwritten(slots: int, pushes: int) -> int | None:
    """The first push that overwrites a slot before it is read, if nothing is read that need not be.

    The producer runs as far ahead as the credits let it; the consumer takes a tile only when the producer waits.
    """
    credits = taken = 0
    for push in range(pushes):
        if pipe_protocol.push_waits(push, slots):
            while not credits:
                credits += pipe_protocol.pop_frees(taken, slots)
                taken += 1
            credits -= 1
        if push - taken >= slots:
            return push
    return None


@pytest.mark.parametrize("slots", range(1, 17))
def test_unsafe_depths_overwrite_and_others_do_not(slots: int) -> None:
    """PTO-023, PTO-028: sparse waiting is safe exactly where the period divides the number of slots."""
    assert pipe_protocol.unsafe_push(slots) == overwritten(slots, 6 * slots)


def test_flags_of_a_pipe() -> None:
    assert [
        pipe_protocol.flag_count(direction) for direction in (pipe_protocol.C2V, pipe_protocol.V2C, pipe_protocol.BOTH)
    ] == [2, 2, 4]
