"""Comparison of a `Fabric` with what the first engine has made of the same program."""

from __future__ import annotations

import numpy as np

from loomir.runtime.fabric.model import LOST, NOWHERE, SWALLOWED, UNROUTED, Fabric
from loomir.runtime.warps.fabric import arrivals
from loomir.runtime.warps.machine import WarpMachine
from loomir.runtime.warps.units import intersect, rectangle


def compare(machine: WarpMachine, fabric: Fabric) -> None:
    tables = fabric.tables
    names = [tables.strings[int(name)] for name in tables["queues"]["name"]]
    rows = {(int(owner), names[row]): row for row, owner in enumerate(tables["queues"]["owner"])}
    colors = list(machine.colors)
    streams = {colors[stream.color]: stream for stream in fabric.host_outputs}
    assert set(streams) == set(machine.host_outputs)
    for name, output in machine.host_outputs.items():
        assert (streams[name].connected.reshape(output.connected.shape) == output.connected).all()
        for sink in output.sinks:
            owner = machine.classes.index(sink.cls)
            mine = [row for row in np.unique(streams[name].queues) if row >= 0 and fabric.queue_class[row] == owner]
            (rows[owner, sink.name],) = map(int, mine)
            assert fabric.senders[mine[0]] == sink.senders
            assert fabric.room[mine[0]] == sink.room
    compare_switches(machine, fabric, rows)
    compare_host_inputs(machine, fabric, rows)
    for row, network in enumerate(machine.networks.values()):
        readers = {}
        for (y, x), queue in network.readers.items():
            readers[y * machine.width + x] = rows[machine.classes.index(queue.cls), queue.name]
        found = fabric.network_readers[row]
        assert {pe: int(found[pe]) for pe in np.flatnonzero(found >= 0).tolist()} == readers
    for number, cls in enumerate(machine.classes):
        assert fabric.words[number] == cls.memory.words
        pes = fabric.units(number).tolist()
        places = cls.placement.local(np.stack(np.divmod(pes, machine.width), 1)).tolist()
        for queue in cls.inputs.values():
            row = rows[number, queue.name]
            assert fabric.senders[row] == queue.senders
            assert fabric.room[row] == queue.room
            assert network_of(fabric, row) == (None if queue.network is None else queue.network.color.name)
            assert fabric.colorless[row] == queue.colorless
            unrouted = np.zeros(cls.shape, np.bool_) if queue.unrouted is None else queue.unrouted
            assert [bool(flags & UNROUTED) for flags in fabric.flags_of(row)] == [unrouted[y, x] for y, x in places]
            assert fabric.colors_of(row).tolist() == [queue.colors[y, x] for y, x in places]
        for queue in cls.outputs.values():
            row = rows[number, queue.name]
            assert network_of(fabric, row) == (None if queue.network is None else queue.network.color.name)
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
                    for receivers, _, time, _ in arrivals(delivery, sender, np.zeros((1, 1, 1)), 0):
                        cells = [values.ravel() for values in np.broadcast_arrays(*receivers.cells(), time)]
                        for row_there, column_there, latency in zip(*(each.tolist() for each in cells), strict=True):
                            to = delivery.receiver.cls.grid_position(row_there, column_there)
                            reader = rows[owner, delivery.receiver.name]
                            expected.append((to[1] * machine.width + to[0], reader, latency))
                ways = fabric.ways_of(row, unit)
                found = [(pe + int(way["offset"]), int(way["queue"]), int(way["latency"])) for way in ways]
                assert sorted(found) == sorted(expected)


def network_of(fabric: Fabric, queue: int) -> str | None:
    row = int(fabric.network[queue])
    if row == NOWHERE:
        return None
    return fabric.tables.strings[int(fabric.tables["colors"]["name"][fabric.tables["networks"]["color"][row]])]


def readers_of(layers: np.ndarray) -> set[tuple[int, int]]:
    """Return (queue, PE) of all readers in layers."""
    return {(int(layer[pe]), pe) for layer in layers for pe in np.flatnonzero(layer >= 0).tolist()}


def from_masks(machine: WarpMachine, rows: dict, readers: list) -> set[tuple[int, int]]:
    """Return (queue, PE) of queues with masks of the grid."""
    return {
        (rows[machine.classes.index(queue.cls), queue.name], pe)
        for queue, mask in readers
        for pe in np.flatnonzero(mask).tolist()
    }


def compare_switches(machine: WarpMachine, fabric: Fabric, rows: dict) -> None:
    switched = {list(machine.colors)[color.color]: color for color in fabric.switched}
    assert set(switched) == set(machine.switched)
    for name, color in machine.switched.items():
        mine = switched[name]
        shape = color.position.shape
        for field in ("receive", "transmit"):
            ports = np.where(color.valid, getattr(color, field), 0)
            assert (getattr(mine, field).reshape(4, *shape) == ports).all()
        assert (mine.valid.reshape(4, *shape) == color.valid).all()
        for field, values in (
            ("ring", color.ring), ("pop_mode", color.pop_mode), ("current", color.position),
            ("senders", color.senders), ("live", color._live),
        ):  # fmt: skip
            assert (getattr(mine, field).reshape(shape) == values).all()
        crowded = np.zeros((4, *shape), np.bool_) if color._crowded is None else color._crowded
        assert (mine.crowded.reshape(4, *shape) == crowded).all()
        assert readers_of(mine.readers) == from_masks(machine, rows, color.readers)


def compare_host_inputs(machine: WarpMachine, fabric: Fabric, rows: dict) -> None:
    streams = {list(machine.colors)[stream.color]: stream for stream in fabric.host_inputs}
    assert set(streams) == set(machine.host_inputs)
    for name, stream in machine.host_inputs.items():
        assert (streams[name].connected.reshape(stream.connected.shape) == stream.connected).all()
        readers = [(queue, queue.cls.placement.on_grid(mask)) for queue, mask in stream.readers]
        assert readers_of(streams[name].queues) == from_masks(machine, rows, readers)
