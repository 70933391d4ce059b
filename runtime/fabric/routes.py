"""Static routes: where the wavelets of a color go, for all routers at once.

Routers are numbered like their PEs, y * width + x. Ports are bits, by their place in `targets.wavelets.PORTS`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...diagnostics.errors import LoomError
from ...diagnostics.records import record
from ...targets.model import Timing
from ...targets.wavelets import PORTS
from ..distinct import distinct

Array: TypeAlias = NDArray[Any]

RAMP, NORTH, EAST, SOUTH, WEST = range(len(PORTS))
OPPOSITE = {NORTH: SOUTH, SOUTH: NORTH, EAST: WEST, WEST: EAST}
STEP = {NORTH: (-1, 0), SOUTH: (1, 0), EAST: (0, 1), WEST: (0, -1)}
"""Rows and columns to the neighbor at each port."""


@record
class Routers:
    """The routers of a color: the ports that each takes it from and sends it to, [height, width]."""

    receive: Array
    transmit: Array
    label: str
    """The color's name in messages."""
    where: str | None


@record
class Paths:
    """Where wavelets of a color go: one element for each pair of a PE that sends and one that receives."""

    source: Array
    target: Array
    latency: Array
    """Cycles from the sender's router to the receiver's queue."""
    port: Array
    """Port at which they come to the receiver's router."""
    back: Array
    """Cycles of a credit from the receiver to the sender."""
    words: Array
    """Wavelets that the links hold."""
    lost: Array
    """Senders some of whose wavelets reach no ramp at the end of a path, or no path at all..."""
    lost_at: Array
    """... and the router at which they are lost."""
    left: Array
    """Senders some of whose wavelets leave the grid..."""
    left_at: Array
    """... and the router at which they do."""


def trace(routers: Routers, senders: Array, timing: Timing) -> Paths:
    """Follow the wavelets of some PEs, given in order, through the routers of a color.

    Raises LoomError if a route runs in a circle.
    """
    height, width = routers.receive.shape
    receive, transmit = routers.receive.reshape(-1), routers.transmit.reshape(-1)
    source = place = senders.astype(np.int64)
    port = np.full(len(place), RAMP, np.uint8)
    latency = np.zeros(len(place), np.int64)
    pairs: list[tuple[Array, ...]] = []
    lost: list[tuple[Array, Array]] = []
    left: list[tuple[Array, Array]] = []
    hops = 0
    crowd = 2 * len(place) + 64
    while len(place):
        accepted = (receive[place] >> port) & 1 == 1
        if not accepted.all():
            lost.append((source[~accepted], place[~accepted]))
            source, place, port, latency = (v[accepted] for v in (source, place, port, latency))
        outputs = transmit[place]
        ramp = outputs & 1 == 1
        if ramp.any():
            arrived = latency[ramp]
            back = np.full(len(arrived), max(hops, 1) * timing.hop, np.int64)
            words = hops * timing.link_words + arrived - hops * timing.hop
            pairs.append((source[ramp], place[ramp], arrived + timing.ramp, port[ramp], back, words))
        following: list[tuple[Array, Array, Array, Array]] = []
        stays = ~ramp
        for out in (NORTH, EAST, SOUTH, WEST):
            goes = ((outputs >> out) & 1 == 1) & (port != out)
            if not goes.any():
                continue
            stays &= ~goes
            here, whose, came_by = place[goes], source[goes], port[goes]
            turned = (came_by != RAMP) & (came_by != OPPOSITE[out])
            cost = latency[goes] + timing.hop + timing.turn * turned
            inside = _has_neighbor(here, out, width, height)
            if not inside.all():
                left.append((whose[~inside], here[~inside]))
                here, whose, cost = here[inside], whose[inside], cost[inside]
            rows, columns = STEP[out]
            following.append(
                (whose, here + (rows * width + columns), np.full(len(here), OPPOSITE[out], np.uint8), cost)
            )
        if stays.any():
            lost.append((source[stays], place[stays]))
        if not following:
            break
        source, place, port, latency = (np.concatenate(parts) for parts in zip(*following, strict=True))
        hops += 1
        # Copies of a wavelet that meet on one link would double, and double again, as long as they run.
        doubled = False
        if len(place) > crowd:
            crowd = 2 * len(place)
            doubled = len(distinct((source * (width * height) + place) * 5 + port)) < len(place)
        if doubled or hops > 4 * width * height:
            y, x = divmod(int(place[0]), width)
            raise LoomError(f"the route of color {routers.label} loops through PE ({x}, {y}); end it at a ramp",
                            routers.where)  # fmt: skip
    nothing = np.zeros(0, np.int64)
    joined = [np.concatenate(parts) for parts in zip(*pairs, strict=True)] if pairs else [nothing] * 6
    ends = (
        [np.concatenate(parts) for parts in zip(*some, strict=True)] if some else [nothing] * 2 for some in (lost, left)
    )
    return Paths(*joined, *next(ends), *next(ends))


def _has_neighbor(places: Array, port: int, width: int, height: int) -> Array:
    if port == NORTH:
        return places >= width
    if port == SOUTH:
        return places < (height - 1) * width
    columns = places % width
    return columns < width - 1 if port == EAST else columns > 0
