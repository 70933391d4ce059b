"""What is computed from routes on loading, against a walk router by router and against the first engine."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from loomir import targets
from loomir.diagnostics.errors import LoomError
from loomir.runtime.fabric.connect import fabric_of
from loomir.runtime.fabric.model import LOST, PARTLY_UNREAD, SWALLOWED, UNROUTED, Fabric
from loomir.runtime.tables.format import INPUT, OUTPUT
from loomir.runtime.warnings import Warnings
from loomir.runtime.warps.fabric import arrivals
from loomir.runtime.warps.machine import WarpMachine, load
from loomir.runtime.warps.units import intersect, rectangle

from ..searches import examples
from .flow_modules import parse
from .random_fabrics import RandomFabric, random_fabrics
from .router_walk import Circle, Meeting, route

TIMING = targets.get("wse3").timing


def walks(case: RandomFabric) -> dict[int, dict[tuple[int, int], tuple[list, list]]]:
    """Return for each output queue and PE where wavelets arrive, with latency, and where they are lost."""
    found: dict[int, dict[tuple[int, int], tuple[list, list]]] = {}
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
            received, lost = expected[queue][place]
            pe, unit = place[0] * case.width + place[1], unit_of(fabric, place)
            ways = [
                (to, latency + TIMING.ramp, reader)
                for to, latency in received
                for reader in case.serving(to, INPUT, color)
            ]
            got = [
                (divmod(pe + int(way["offset"]), case.width), int(way["latency"]), int(way["queue"]))
                for way in fabric.ways_of(queue, unit)
            ]
            assert sorted(got) == sorted(ways)
            if (place, color) not in counted:
                counted.add((place, color))
                senders.update((reader, to) for to, _, reader in ways)
            unread = [to for to, _ in received if not case.serving(to, INPUT, color)]
            vain = unread if not ways else []
            ends = place in case.routes[color]
            is_lost = any(at != place or ends for at in lost) or any(to != place for to in vain)
            assert bool(flags[unit] & LOST) == is_lost
            assert bool(flags[unit] & SWALLOWED) == (place in vain or (place in lost and not ends))
            assert bool(flags[unit] & PARTLY_UNREAD) == bool(ways and unread)
    for queue, (_, direction, _) in enumerate(case.queues):
        if direction == INPUT:
            most = max((count for (reader, _), count in senders.items() if reader == queue), default=0)
            assert fabric.senders[queue] == most


def unit_of(fabric: Fabric, place: tuple[int, int]) -> int:
    return int(fabric.pe_unit[place[0] * fabric.width + place[1]])


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(random_fabrics(), st.sampled_from([1, 2, 16]))
def test_fabrics_are_those_of_the_first_engine(case: RandomFabric, displacements: int) -> None:
    """Ways in their order, who comes first at each receiver, what is lost, and what queues hold."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("loomir.runtime.fabric.deliveries.MAX_DISPLACEMENTS", displacements)
        check(case)


def check(case: RandomFabric) -> None:
    try:
        machine = load(parse(case.flow(), verify=False), Warnings())
    except LoomError as error:
        with pytest.raises(LoomError) as other:
            fabric_of(case.tables())
        assert str(other.value) == str(error)
        return
    compare(machine, fabric_of(case.tables()))


def compare(machine: WarpMachine, fabric: Fabric) -> None:
    tables = fabric.tables
    names = [tables.strings[int(name)] for name in tables["queues"]["name"]]
    rows = {(int(owner), names[row]): row for row, owner in enumerate(tables["queues"]["owner"])}
    ties: dict[tuple[int, int], list] = {}
    for number, cls in enumerate(machine.classes):
        assert fabric.words[number] == cls.memory.words
        pes = fabric.units(number).tolist()
        places = cls.placement.local(np.stack(np.divmod(pes, machine.width), 1)).tolist()
        for queue in cls.inputs.values():
            row = rows[number, queue.name]
            assert fabric.senders[row] == queue.senders
            assert fabric.room[row] == queue.room
            assert fabric.colorless[row] == queue.colorless
            unrouted = np.zeros(cls.shape, np.bool_) if queue.unrouted is None else queue.unrouted
            assert [bool(flags & UNROUTED) for flags in fabric.flags_of(row)] == [unrouted[y, x] for y, x in places]
            assert fabric.colors_of(row).tolist() == [queue.colors[y, x] for y, x in places]
        for queue in cls.outputs.values():
            row = rows[number, queue.name]
            assert fabric.room[row] == queue.room
            assert fabric.colorless[row] == queue.colorless
            flags = fabric.flags_of(row)
            for mask, flag in ((queue.lost, LOST), (queue.swallowed, SWALLOWED)):
                marked = np.zeros(cls.shape, np.bool_) if mask is None else mask
                assert [bool(each & flag) for each in flags] == [marked[y, x] for y, x in places]
            lost_at = {tuple(places[unit]): pe for at, unit, pe in fabric.lost.tolist() if at == row}
            assert lost_at == {unit: y * machine.width + x for unit, (y, x) in queue.lost_at.items()}
            unread = [(tuple(places[unit]), pe) for at, unit, pe in fabric.unread.tolist() if at == row]
            assert sorted(unread) == sorted(
                (unit, y * machine.width + x) for unit, (y, x) in zip(queue.unread_from, queue.unread_at, strict=True)
            )
            for unit, (pe, (y, x)) in enumerate(zip(pes, places, strict=True)):
                sender = rectangle(range(y, y + 1), range(x, x + 1))
                expected = []
                for delivery in queue.deliveries:
                    if intersect(sender, delivery.source) is None:
                        continue
                    owner = machine.classes.index(delivery.receiver.cls)
                    for receivers, _, time, origin in arrivals(delivery, sender, np.zeros((1, 1, 1)), 0):
                        cells = [values.ravel() for values in np.broadcast_arrays(*receivers.cells(), time, origin)]
                        for row_there, column_there, latency, tie in zip(
                            *(each.tolist() for each in cells), strict=True
                        ):
                            to = delivery.receiver.cls.grid_position(row_there, column_there)
                            reader = rows[owner, delivery.receiver.name]
                            expected.append((to[1] * machine.width + to[0], reader, latency))
                            ties.setdefault(expected[-1][:2], []).append((pe, row, latency, tie))
                ways = fabric.ways_of(row, unit)
                found = [(pe + int(way["offset"]), int(way["queue"]), int(way["latency"])) for way in ways]
                assert found == expected
    others: dict[tuple[int, int], list] = {}
    for number in range(len(machine.classes)):
        for unit, pe in enumerate(fabric.units(number).tolist()):
            for row in [row for (owner, _), row in rows.items() if owner == number]:
                for way in fabric.ways_of(row, unit):
                    to = pe + int(way["offset"]), int(way["queue"])
                    others.setdefault(to, []).append((pe, row, int(way["latency"]), int(way["origin"])))
    assert set(others) == set(ties)
    for to in ties:
        assert in_order(others[to]) == in_order(ties[to])


def in_order(senders: list) -> list:
    """Return the senders of a receiver, first to last."""
    return [each[:3] for each in sorted(senders, key=lambda one: one[3])]
