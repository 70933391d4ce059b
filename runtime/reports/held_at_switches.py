"""Wavelets held at switches: which router holds up a color, and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...targets.wavelets import PORTS, SWITCH_POSITIONS
from .. import wait_sentences
from ..fabric.model import NOWHERE
from .places import Names
from .rest import IN_TEARDOWN, Rest


def port_names(mask: int) -> list[str]:
    """Return the names of ports that are given as bits."""
    return [name for port, name in enumerate(PORTS) if mask >> port & 1]


def closed_switch(names: Names, rest: Rest, row: int) -> str | None:
    """Return which router holds up a color because of its switch, and what to do; None if there is none."""
    color = next((color for color in names.fabric.switched if color.color == row), None)
    for _, pe, port, position, taken, count in _waiting(rest, row):
        if color is None or taken >> port & 1:
            continue
        if position == IN_TEARDOWN:
            return wait_sentences.torn_down(names.pe(pe), names.color(row), count, PORTS[port])
        if not has_switch(names, row, pe):
            return wait_sentences.other_route(names.pe(pe), names.color(row), count, PORTS[port], port_names(taken))
        opened = [at for at in range(SWITCH_POSITIONS) if color.valid[at, pe] and color.receive[at, pe] >> port & 1]
        return wait_sentences.closed_switch(
            names.pe(pe), names.color(row), count, PORTS[port], position, port_names(taken), opened
        )
    return None


def has_switch(names: Names, row: int, pe: int) -> bool:
    """Return True if a color has several positions at the router of a PE, as the program begins."""
    colors = (color for color in names.fabric.switched if color.color == row)
    return any(np.count_nonzero(color.valid[:, pe]) > 1 for color in colors)


def full_queues(names: Names, rest: Rest, row: int) -> list[tuple[int, int]]:
    """Return the input queues, and their PEs, that a router has wavelets of a color for and no room in."""
    color = next((color for color in names.fabric.switched if color.color == row), None)
    if color is None:
        return []
    found: list[tuple[int, int]] = []
    held = rest.in_queues()
    for pe in dict.fromkeys(pe for _, pe, *_ in _waiting(rest, row)):
        readers = [queue for queue in color.readers[:, pe].tolist() if queue != NOWHERE]
        found += [(queue, pe) for queue in readers if held.get((queue, pe), (0, 0))[0] >= names.fabric.room[queue]]
    return found


def _waiting(rest: Rest, row: int) -> list[tuple[int, int, int, int, int, int]]:
    """Return the wavelets of a color that wait at routers, as records of `AT_ROUTER`."""
    records = rest.at_routers[rest.at_routers["color"] == row]
    found: list[Any] = np.sort(records, order=["pe", "port"]).tolist()
    return found
