"""Wavelets on links: from what output queues have sent and the routes of their colors, when statistics are read.

A link is a port by which a router sends: to its neighbor, or down the ramp to its PE.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...targets.wavelets import PORTS
from ..fabric.model import NOWHERE, Fabric
from ..fabric.routers import routers_of
from ..fabric.routes import EAST, NORTH, OPPOSITE, RAMP, SOUTH, STEP, WEST
from .counts import Counts

Array: TypeAlias = NDArray[Any]

LINK: np.dtype[Any] = np.dtype([("pe", "<u4"), ("port", "u1"), ("color", "<u4"), ("wavelets", "<u8")])
"""Wavelets of a color, by its row, that have left the router of a PE by a port, by its place in
`targets.wavelets.PORTS`."""


def links_of(fabric: Fabric, counts: Counts) -> Array:
    """Return the links that wavelets have taken, LINK [n], by color, PE and port."""
    found: dict[int, Array] = {}
    for color, (sent, ignored) in _sent(fabric, counts).items():
        found[color] = _carried(fabric, color, sent, ignored)
    for number, switched in enumerate(fabric.switched):
        found[switched.color] = counts.routers[number]
    for number, network in enumerate(fabric.tables["networks"]):
        found[int(network["color"])] = counts.messages[number]
    parts = [np.zeros(0, LINK)]
    for color, carried in sorted(found.items()):
        pe, port = np.nonzero(carried)
        links = np.zeros(len(pe), LINK)
        links["pe"], links["port"], links["color"], links["wavelets"] = pe, port, color, carried[pe, port]
        parts.append(links)
    return np.concatenate(parts)


def _sent(fabric: Fabric, counts: Counts) -> dict[int, tuple[Array, Array]]:
    """Return for each color with static routes what PEs have sent, and what of that is not for compute engines."""
    others = {switched.color for switched in fabric.switched} | set(fabric.tables["networks"]["color"].tolist())
    found: dict[int, tuple[Array, Array]] = {}
    for cls, places in enumerate(counts.layout.places):
        for place, (_, queue) in enumerate(places):
            cells = counts.cells[counts.layout.cells(cls, place)]
            if not cells["sent"].any():
                continue
            colors = fabric.colors_of(queue)
            for color in set(colors[cells["sent"] > 0].tolist()) - others - {NOWHERE}:
                mine = colors == color
                pes = fabric.units(cls)[mine]
                shape = fabric.width * fabric.height
                sent, ignored = found.setdefault(color, (np.zeros(shape, np.uint64), np.zeros(shape, np.uint64)))
                sent[pes] += cells["sent"][mine]
                ignored[pes] += cells["ignored"][mine]
    return found


def _carried(fabric: Fabric, color: int, sent: Array, ignored: Array) -> Array:
    """Return what the links of a color have carried, [P, ports], by following all wavelets router by router."""
    routers = routers_of(fabric.tables, color)
    receive, transmit = routers.receive.reshape(-1), routers.transmit.reshape(-1)
    width, height = fabric.width, fabric.height
    carried = np.zeros((len(sent), len(PORTS)), np.uint64)
    place = np.flatnonzero(sent)
    port = np.full(len(place), RAMP, np.int64)
    count, without = sent[place], ignored[place]
    while len(place):
        accepted = (receive[place] >> port) & 1 == 1
        place, port, count, without = (values[accepted] for values in (place, port, count, without))
        ramp = transmit[place] & 1 == 1
        np.add.at(carried[:, RAMP], place[ramp], (count - without)[ramp])
        following: list[tuple[Array, ...]] = []
        for out in (NORTH, EAST, SOUTH, WEST):
            goes = ((transmit[place] >> out) & 1 == 1) & (port != out)
            np.add.at(carried[:, out], place[goes], count[goes])
            rows, columns = STEP[out]
            y, x = np.divmod(place, width)
            inside = goes & (y + rows >= 0) & (y + rows < height) & (x + columns >= 0) & (x + columns < width)
            there = place[inside] + rows * width + columns
            following.append((there, np.full(len(there), OPPOSITE[out]), count[inside], without[inside]))
        place, port, count, without = _joined(following)
    return carried


def _joined(parts: list[tuple[Array, ...]]) -> tuple[Array, ...]:
    """Return wavelets on their way, those that come to one port of a router together."""
    place, port, count, without = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    keys, which = np.unique(place * len(PORTS) + port, return_inverse=True)
    sums = np.zeros((2, len(keys)), np.uint64)
    np.add.at(sums[0], which, count)
    np.add.at(sums[1], which, without)
    return keys // len(PORTS), keys % len(PORTS), sums[0], sums[1]
