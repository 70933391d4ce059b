"""Wavelets held at switches: which router holds up a color, and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...targets.wavelets import PORTS, SWITCH_POSITIONS
from .. import wait_sentences
from ..fabric.model import NOWHERE, SwitchedColor
from .places import Names
from .rest import Rest


def taken_ports(color: SwitchedColor, position: int, pe: int) -> list[str]:
    """Return the ports that a router takes a color from with its switch at a position."""
    mask = int(color.receive[position, pe])
    return [name for port, name in enumerate(PORTS) if mask >> port & 1]


def closed_switch(names: Names, rest: Rest, row: int) -> str | None:
    """Return which router holds up a color because of its switch, and what to do; None if there is none."""
    color = next((color for color in names.fabric.switched if color.color == row), None)
    for _, pe, port, position, count in _waiting(rest, row):
        if color is None or color.receive[position, pe] >> port & 1:
            continue
        opened = [at for at in range(SWITCH_POSITIONS) if color.valid[at, pe] and color.receive[at, pe] >> port & 1]
        return wait_sentences.closed_switch(
            names.pe(pe), names.color(row), count, PORTS[port], position, taken_ports(color, position, pe), opened
        )
    return None


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


def _waiting(rest: Rest, row: int) -> list[tuple[int, int, int, int, int]]:
    """Return the wavelets of a color that wait at routers: color, PE, port, position of the switch, and count."""
    records = rest.at_routers[rest.at_routers["color"] == row]
    found: list[Any] = np.sort(records, order=["pe", "port"]).tolist()
    return found
