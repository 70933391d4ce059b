"""The routers of a color, as grids: its routes painted one over the other, and what their switches can change."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...targets.model import Timing
from ...targets.wavelets import PORTS, SWITCH_POSITIONS
from ..tables.format import NONE, Tables
from .classes import areas_of, paint
from .model import SwitchedColor
from .routes import EAST, NORTH, OPPOSITE, RAMP, SOUTH, STEP, WEST, Routers

Array: TypeAlias = NDArray[Any]


def routers_of(tables: Tables, color: int) -> Routers:
    """Return the routers of a color, with switches at position 0."""
    program, record = tables["program"][0], tables["colors"][color]
    shape = int(program["height"]), int(program["width"])
    receive, transmit = np.zeros((2, *shape), np.uint8)
    for route in tables["routes"][tables["routes"]["color"] == color]:
        areas = areas_of(tables, route)
        paint(receive, areas, route["receive"])
        paint(transmit, areas, route["transmit"])
    label, where = (tables.strings[int(record[name])] for name in ("label", "where"))
    return Routers(receive, transmit, label, where or None)


_COUNT = np.array([mask.bit_count() for mask in range(32)], np.uint8)


def switched_color(tables: Tables, color: int, senders: Array, readers: Array, timing: Timing) -> SwitchedColor:
    """Return the routers of a color that switches or programs change, and how many queues of each PE send it."""
    program = tables["program"][0]
    shape = int(program["height"]), int(program["width"])
    receive, transmit, valid, sets = np.zeros((4, SWITCH_POSITIONS, *shape), np.uint8)
    ring, pop_mode, current, teardown = np.zeros((4, *shape), np.uint8)
    valid[0] = 1
    route: Any
    for route in tables["routes"][tables["routes"]["color"] == color]:
        areas = areas_of(tables, route)
        switch: Any = None if route["switch"] == NONE else tables["switches"][route["switch"]]
        for position in range(SWITCH_POSITIONS):
            taken = route["receive"] if switch is None else switch["receive"][position]
            sent = route["transmit"] if switch is None else switch["transmit"][position]
            is_valid = position == 0 if switch is None else switch["valid"] >> position & 1
            paint(valid[position], areas, int(is_valid))
            paint(receive[position], areas, taken if is_valid else 0)
            paint(transmit[position], areas, sent if is_valid else 0)
            paint(sets[position], areas, 0 if switch is None else switch["sets"][position])
        for grid, name in ((ring, "ring"), (pop_mode, "pop_mode"), (current, "current")):
            paint(grid, areas, 0 if switch is None else switch[name])
        paint(teardown, areas, route["teardown"])
    live, crowded = _meetings(receive, transmit, valid, senders.reshape(shape))
    changes = bool(tables["colors"]["changes"][color])
    if changes:
        crowded[:] = 1  # routes change at a time, so time decides everywhere
    held = _held(receive, transmit, timing, may_turn=changes).reshape(len(PORTS), -1)
    receive, transmit, valid, crowded, sets = (
        grid.reshape(SWITCH_POSITIONS, -1) for grid in (receive, transmit, valid, crowded, sets)
    )
    ring, pop_mode, current, live, teardown = (grid.reshape(-1) for grid in (ring, pop_mode, current, live, teardown))
    return SwitchedColor(
        color, receive, transmit, valid, ring, pop_mode, current, senders, live, crowded, held, sets, teardown, changes,
        readers,
    )  # fmt: skip


def _held(receive: Array, transmit: Array, timing: Timing, *, may_turn: bool) -> Array:
    """Return how many wavelets the link to each port of each router holds.

    It holds what is on it there and back; so one that some wavelets turn to come by, or `may_turn`, holds more.
    """
    height, width = receive.shape[1:]
    found = np.zeros((len(PORTS), height, width), np.uint16)
    for out in (NORTH, EAST, SOUTH, WEST):
        dy, dx = STEP[out]
        straight = np.uint8(1 << RAMP | 1 << OPPOSITE[out])
        come = np.bitwise_or.reduce(np.where(transmit >> out & 1 == 1, receive, 0), axis=0)
        turns = np.ones_like(come) if may_turn else come & ~straight
        words = np.where(turns, timing.turn, 0) + max(timing.link_words, 2 * timing.hop)
        found[OPPOSITE[out], max(dy, 0) : height + min(dy, 0), max(dx, 0) : width + min(dx, 0)] = words[
            max(-dy, 0) : height + min(-dy, 0), max(-dx, 0) : width + min(-dx, 0)
        ]
    return found


def _meetings(receive: Array, transmit: Array, valid: Array, senders: Array) -> tuple[Array, Array]:
    """Return the ports of each router that can bring wavelets, and where several can at once."""
    sends = np.bitwise_or.reduce(np.where(valid == 1, transmit, 0), axis=0)
    live = np.where(senders > 0, 1 << RAMP, 0).astype(np.uint8)
    height, width = live.shape
    for out in (NORTH, EAST, SOUTH, WEST):
        dy, dx = STEP[out]
        here = ((sends >> out) & 1).astype(np.uint8)
        reached = live[max(dy, 0) : height + min(dy, 0), max(dx, 0) : width + min(dx, 0)]
        reached |= here[max(-dy, 0) : height + min(-dy, 0), max(-dx, 0) : width + min(-dx, 0)] << OPPOSITE[out]
    taken = receive & live
    from_ramp = (taken & 1 == 1) & (senders > 1)
    crowded = (valid == 1) & ((_COUNT[taken] > 1) | from_ramp)
    return live, crowded.astype(np.uint8)
