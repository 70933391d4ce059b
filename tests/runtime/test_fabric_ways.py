"""Ways that are computed from routes on loading, against a walk router by router."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import assume, given, settings

from loomir import targets
from loomir.diagnostics.errors import LoomError
from loomir.runtime.fabric.connect import fabric_of
from loomir.runtime.fabric.model import LEAVES, LOST, PARTLY_UNREAD, SWALLOWED, UNROUTED, Fabric
from loomir.runtime.tables.format import INPUT, OUTPUT
from loomir.targets.wavelets import PORTS

from ..searches import examples
from .random_fabrics import RandomFabric, random_fabrics
from .router_walk import Circle, Meeting, route

TIMING = targets.get("wse3").timing


def walks(case: RandomFabric) -> dict[int, dict[tuple[int, int], tuple[list, list, list]]]:
    """Return for each output queue and PE where wavelets arrive, with latency, are lost, and leave the grid."""
    found: dict[int, dict[tuple[int, int], tuple[list, list, list]]] = {}
    for queue, (_, direction, colors) in enumerate(case.queues):
        if direction == OUTPUT:
            found[queue] = {
                place: route(case.routes[color], case.height, case.width, place, TIMING)
                for place, color in colors.items()
            }
    return found


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(random_fabrics())
def test_ways_are_those_of_a_walk(case: RandomFabric) -> None:
    try:
        expected = walks(case)
    except Circle:
        with pytest.raises(LoomError, match="loops through PE"):
            fabric_of(case.tables())
        return
    except Meeting:
        assume(False)
        raise
    fabric = fabric_of(case.tables())
    senders: Counter[tuple[int, tuple[int, int]]] = Counter()
    counted = set()
    for queue, (_, direction, colors) in enumerate(case.queues):
        flags = fabric.flags_of(queue)
        if direction == INPUT:
            for place, color in colors.items():
                reached = "ramp" in case.routes[color].get(place, (set(), set()))[1]
                assert bool(flags[unit_of(fabric, place)] & UNROUTED) != reached
            continue
        for place, color in colors.items():
            received, lost, left = expected[queue][place]
            pe, unit = place[0] * case.width + place[1], unit_of(fabric, place)
            ways = [
                (to, latency + TIMING.ramp, PORTS.index(port), reader)
                for to, latency, port in received
                for reader in case.serving(to, INPUT, color)
            ]
            got = [
                (
                    divmod(pe + int(way["offset"]), case.width),
                    *(int(way[name]) for name in ("latency", "port", "queue")),
                )
                for way in fabric.ways_of(queue, unit)
            ]
            assert sorted(got) == sorted(ways)
            if (place, color) not in counted:
                counted.add((place, color))
                senders.update((reader, to) for to, *_, reader in ways)
            unread = [to for to, *_ in received if not case.serving(to, INPUT, color)]
            vain = unread if not ways else []
            ends = place in case.routes[color]
            is_lost = any(at != place or ends for at in lost) or any(to != place for to in vain)
            assert bool(flags[unit] & LOST) == is_lost
            assert bool(flags[unit] & SWALLOWED) == (place in vain or (place in lost and not ends))
            assert bool(flags[unit] & LEAVES) == bool(left)
            assert bool(flags[unit] & PARTLY_UNREAD) == bool(ways and unread)
    for queue, (_, direction, _) in enumerate(case.queues):
        if direction == INPUT:
            most = max((count for (reader, _), count in senders.items() if reader == queue), default=0)
            assert fabric.senders[queue] == most


def unit_of(fabric: Fabric, place: tuple[int, int]) -> int:
    return int(fabric.pe_unit[place[0] * fabric.width + place[1]])
