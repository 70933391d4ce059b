"""The routers of a color, as grids: its routes painted one over the other, and what their switches can change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...diagnostics.records import record
from ...targets.model import Timing
from ...targets.wavelets import FILTER_NUMBERS, PORTS, SWITCH_POSITIONS
from ..tables.format import NONE, Tables
from .classes import areas_of, paint
from .model import NOWHERE, SwitchedColor
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


class Ends(NamedTuple):
    """A color whose wavelets go from router to router, and where its ways begin and end."""

    color: int
    senders: Array
    """[P] how many output queues of the PE send it."""
    readers: Array
    """int32 [layers, P] input queues that read it."""


def colors_by_router(tables: Tables) -> set[int]:
    """Return the colors whose wavelets go from router to router.

    They have switches, filters, swaps or are the others of these, or programs change their routes.
    """
    routes, numbers = tables["routes"], tables["colors"]["number"].tolist()
    swapping = set(routes["color"][routes["swap"] != 0].tolist())
    found = set(routes["color"][(routes["switch"] != NONE) | (routes["filter"] != NONE)].tolist()) | swapping
    found |= set(np.flatnonzero(tables["colors"]["changes"]).tolist())
    others = {numbers[color] ^ 1 for color in swapping}
    return found | {color for color, number in enumerate(numbers) if number in others}


@record
class _Grids:
    """The routes of a color at each router, as arrays [height, width] or lists of such."""

    receive: Array
    transmit: Array
    valid: Array
    ring: Array
    pop_mode: Array
    current: Array
    swap: Array
    sets: Array
    teardown: Array
    senders: Array
    changes: bool


def switched_colors(tables: Tables, ends: Sequence[Ends], timing: Timing) -> tuple[SwitchedColor, ...]:
    """Return the routers of colors whose wavelets go from router to router."""
    program = tables["program"][0]
    shape = int(program["height"]), int(program["width"])
    numbers: list[int] = tables["colors"]["number"].tolist()
    grids = {end.color: _grids(tables, end, shape) for end in ends}
    by_number = {numbers[color]: color for color in grids}
    found: list[SwitchedColor] = []
    for color, _, readers in ends:
        own = grids[color]
        other_color = by_number.get(numbers[color] ^ 1, NOWHERE)
        other = grids.get(other_color)
        swaps = bool(own.swap.any()) or (other is not None and bool(other.swap.any()))
        live, crowded = _meetings(own, other)
        if own.changes or (swaps and other is not None and other.changes):
            crowded[:] = 1  # routes change at a time, so time decides everywhere
        held = _held(own, other, timing).reshape(len(PORTS), -1)
        receive, transmit, valid, crowded, sets = (
            grid.reshape(SWITCH_POSITIONS, -1) for grid in (own.receive, own.transmit, own.valid, crowded, own.sets)
        )
        ring, pop_mode, current, senders, live, teardown = (
            grid.reshape(-1) for grid in (own.ring, own.pop_mode, own.current, own.senders, live, own.teardown)
        )
        swap = own.swap.reshape(-1) if swaps else np.zeros(0, np.uint8)
        kind, flags, values = _filters(tables, color, shape)
        found.append(
            SwitchedColor(
                color, receive, transmit, valid, ring, pop_mode, current, senders, live, crowded, held, sets,
                teardown, own.changes, readers, other_color if swaps else NOWHERE, swap, kind, flags, values,
            )
        )  # fmt: skip
    return tuple(found)


def _grids(tables: Tables, ends: Ends, shape: tuple[int, int]) -> _Grids:
    receive, transmit, valid, sets = np.zeros((4, SWITCH_POSITIONS, *shape), np.uint8)
    ring, pop_mode, current, teardown, swap = np.zeros((5, *shape), np.uint8)
    valid[0] = 1
    route: Any
    for route in tables["routes"][tables["routes"]["color"] == ends.color]:
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
        paint(swap, areas, route["swap"])
    return _Grids(
        receive, transmit, valid, ring, pop_mode, current, swap, sets, teardown, ends.senders.reshape(shape),
        bool(tables["colors"]["changes"][ends.color]),
    )  # fmt: skip


def _filters(tables: Tables, color: int, shape: tuple[int, int]) -> tuple[Array, Array, Array]:
    """Return kinds, flags and numbers of the filters of a color; nothing if it has none."""
    routes = tables["routes"][tables["routes"]["color"] == color]
    if bool((routes["filter"] == NONE).all()):
        return np.zeros(0, np.uint8), np.zeros(0, np.uint8), np.zeros((len(FILTER_NUMBERS), 0), np.int32)
    kind, flags = np.zeros((2, *shape), np.uint8)
    numbers = np.full((len(FILTER_NUMBERS), *shape), NOWHERE, np.int32)
    route: Any
    for route in routes:
        areas = areas_of(tables, route)
        filter: Any = None if route["filter"] == NONE else tables["filters"][route["filter"]]
        paint(kind, areas, 0 if filter is None else filter["kind"])
        paint(flags, areas, 0 if filter is None else filter["flags"])
        mine = np.zeros(shape, np.bool_)
        paint(mine, areas, 1)
        for place in range(len(FILTER_NUMBERS)):
            first, count = (0, 0) if filter is None else (filter["values"][place], filter["counts"][place])
            numbers[place][mine] = tables["column_values"][first : first + count] if count else NOWHERE
    return kind.reshape(-1), flags.reshape(-1), numbers.reshape(len(FILTER_NUMBERS), -1)


def _shifted(grid: Array, out: int) -> Array:
    """Return for each router what a grid says of its neighbor that is on the other side of its port `out`."""
    dy, dx = STEP[out]
    height, width = grid.shape
    found = np.zeros_like(grid)
    found[max(dy, 0) : height + min(dy, 0), max(dx, 0) : width + min(dx, 0)] = grid[
        max(-dy, 0) : height + min(-dy, 0), max(-dx, 0) : width + min(-dx, 0)
    ]
    return found


def _coming(swap: Array, port: int, own: Array, other: Array | None) -> Array:
    """Return of what comes to a port that which a router takes: of its own color, or of the one that it swaps with."""
    swapped = swap >> port & 1 == 1
    return np.where(swapped, np.zeros_like(own) if other is None else other, own)


def _held(own: _Grids, other: _Grids | None, timing: Timing) -> Array:
    """Return how many wavelets the link to each port of each router holds.

    It holds what is on it there and back; so one that some wavelets turn to come by, or may, holds more.
    """
    found = np.zeros((len(PORTS), *own.swap.shape), np.uint16)

    def words(grids: _Grids, out: int) -> Array:
        straight = np.uint8(1 << RAMP | 1 << OPPOSITE[out])
        come = np.bitwise_or.reduce(np.where(grids.transmit >> out & 1 == 1, grids.receive, 0), axis=0)
        turns = np.ones_like(come) if grids.changes else come & ~straight
        held = np.where(turns, timing.turn, 0) + max(timing.link_words, 2 * timing.hop)
        return _shifted(held.astype(np.uint16), out)

    for out in (NORTH, EAST, SOUTH, WEST):
        of_other = None if other is None else words(other, out)
        found[OPPOSITE[out]] = _coming(own.swap, OPPOSITE[out], words(own, out), of_other)
    return found


def _meetings(own: _Grids, other: _Grids | None) -> tuple[Array, Array]:
    """Return the ports of each router that can bring wavelets, and where several can at once."""

    def sends(grids: _Grids, out: int) -> Array:
        every = np.bitwise_or.reduce(np.where(grids.valid == 1, grids.transmit, 0), axis=0)
        return _shifted(every >> out & 1, out)

    senders = _coming(own.swap, RAMP, own.senders, None if other is None else other.senders)
    live = np.where(senders > 0, 1 << RAMP, 0).astype(np.uint8)
    for out in (NORTH, EAST, SOUTH, WEST):
        of_other = None if other is None else sends(other, out)
        live |= _coming(own.swap, OPPOSITE[out], sends(own, out), of_other).astype(np.uint8) << OPPOSITE[out]
    taken = own.receive & live
    from_ramp = (taken & 1 == 1) & (senders > 1)
    crowded = (own.valid == 1) & ((_COUNT[taken] > 1) | from_ramp)
    return live, crowded.astype(np.uint8)
